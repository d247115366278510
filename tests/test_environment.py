"""pyproject.toml, environment.yml and constraints.txt agree."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from autograder.course import ROOT

CONDA_NAMES = {"torch": "pytorch", "matplotlib": "matplotlib-base"}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
REQUIRED = [Requirement(line) for line in PROJECT["dependencies"]]
EXTRA = [
    Requirement(line)
    for lines in PROJECT["optional-dependencies"].values()
    for line in lines
]


def conda() -> dict[str, str]:
    entries = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    plain = [entry for entry in entries if isinstance(entry, str)]
    by_pip = next(entry["pip"] for entry in entries if isinstance(entry, dict))
    plain += [entry for entry in by_pip if not entry.startswith("--")]
    pairs = (entry.partition(" ") for entry in plain)
    return {name: version for name, _, version in pairs}


def pinned() -> dict[str, Version]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pairs = (line.split("==") for line in lines if "==" in line)
    return {name.lower().replace("_", "-"): Version(version) for name, version in pairs}


@pytest.mark.parametrize("required", REQUIRED, ids=str)
def test_conda_asks_for_the_same_ranges(required):
    name = CONDA_NAMES.get(required.name, required.name)
    assert SpecifierSet(conda()[name]) == required.specifier


def test_a_newer_torch_is_welcome():
    (torch,) = (required for required in REQUIRED if required.name == "torch")
    assert {specifier.operator for specifier in torch.specifier} == {">="}
    assert Version("99.0") in torch.specifier and pinned()["torch"] == Version("2.13")


def test_conda_asks_for_nothing_else():
    requirements = {CONDA_NAMES.get(r.name, r.name) for r in REQUIRED}
    assert set(conda()) - requirements == {"python=3.12", "pip"}


@pytest.mark.parametrize("required", REQUIRED + EXTRA, ids=str)
def test_the_pinned_versions_are_in_range(required):
    assert pinned()[required.name.lower()] in required.specifier


def test_nothing_pinned_makes_every_start_of_nbgrader_slow():
    """jsonschema builds a grammar of web addresses when imported, from 4.25 on."""
    assert pinned()["jsonschema"] < Version("4.25")
    assert "rfc3987-syntax" not in pinned()


def test_conda_python_is_one_that_the_project_accepts():
    assert Version("3.12") in SpecifierSet(PROJECT["requires-python"])


@pytest.mark.parametrize(
    ("version", "message", "goes_on"),
    [
        ((3, 10), "needs Python 3.11 or later", False),
        ((3, 11), "", True),
        ((3, 14), "", True),
        ((3, 15), "newer than 3.14", True),
    ],
)
def test_make_refuses_old_pythons_and_warns_of_new_ones(
    tmp_path, version, message, goes_on
):
    """With an interpreter that claims a version, and stops at ``-m venv``."""
    fake = tmp_path / "python"
    fake.write_text(
        f'#!/bin/sh\n[ "$1" = -c ] || {{ echo "asked for $2"; exit 7; }}\n'
        f'exec {sys.executable} -c "import sys; '
        f'sys.version_info = {version}; $(printf \'%s\' "$2")"\n'
    )
    fake.chmod(0o755)
    process = subprocess.run(
        [
            "make",
            "--no-print-directory",
            f"PYTHON={fake}",
            f"VENV={tmp_path}/venv",
            "build",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode != 0 and ("asked for venv" in process.stdout) == goes_on
    assert message in process.stderr and ("Python" in process.stderr) == bool(message)


def set_up(target: str = "setup", **environment: str) -> str:
    """What a target of make would run in a fresh clone."""
    make, python = shutil.which("make"), sys.executable
    if make is None:
        pytest.skip("no make here")
    return subprocess.run(
        [make, "--dry-run", "--what-if=pyproject.toml", f"PYTHON={python}", target],
        cwd=ROOT, env={"PIP_CONFIG_FILE": os.devnull, **environment},
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip


def test_the_set_up_uses_uv_where_it_is_and_pip_where_it_is_not(tmp_path):
    for name in ("sh", "grep"):
        (tmp_path / name).symlink_to(shutil.which(name))
    without = set_up(PATH=str(tmp_path))
    (tmp_path / "uv").write_text("#!/bin/sh\n")
    (tmp_path / "uv").chmod(0o755)
    with_it = set_up(PATH=str(tmp_path))
    assert "uv pip install --python" in with_it and "-m pip" not in with_it
    # uv does not read what pip has been told.
    with_variable = set_up(
        PATH=str(tmp_path), PIP_EXTRA_INDEX_URL="https://example.org"
    )
    for output in (without, with_variable):
        assert "python -m pip install" in output and "uv " not in output
    for output in (with_it, without):
        assert "--constraint constraints.txt --editable .\n" in output


def test_tools_for_tests_are_installed_by_the_commands_that_need_them():
    assert "'.[dev" in set_up("test")
    assert "'.[" not in set_up("demo")


@pytest.mark.skipif(not shutil.which("make"), reason="there is no make")
@pytest.mark.parametrize("place", ["", "here", "elsewhere"])
def test_an_environment_that_was_moved_is_made_again(tmp_path, place):
    """Its programs name the folder that they were made in."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy2(ROOT / name, tmp_path)
    ready = tmp_path / ".venv" / ".ready"
    ready.parent.mkdir()
    locations = {"": "", "here": f"{tmp_path}\n", "elsewhere": "/srv/transformer\n"}
    ready.write_text(locations[place])
    process = subprocess.run(
        ["make", "--dry-run", "setup"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert ("rm -rf .venv" in process.stdout) == (place == "elsewhere")


@pytest.mark.skipif(not shutil.which("make"), reason="there is no make")
def test_the_set_up_says_each_step_and_nothing_else(tmp_path):
    """Eight minutes without a line look like a hang."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy2(ROOT / name, tmp_path)
    fake = tmp_path / "python"
    fake.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo Python 3.12.1\n'
        '[ "$2" = venv ] && mkdir -p "$3/bin" && cp "$0" "$3/bin/python"\nexit 0\n'
    )
    fake.chmod(0o755)
    process = subprocess.run(
        ["make", "--no-print-directory", f"PYTHON={fake}", "UV=", "setup"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    first, second, third = process.stderr.splitlines()
    assert first == "1/2 environment in .venv, of Python 3.12.1"
    assert second.startswith("2/2 packages (") and second.endswith("by pip")
    assert third == "ready; use it with: source .venv/bin/activate"
    assert process.stdout == ""


def test_the_benchmark_says_in_a_line_which_interpreter_it_needs():
    """``-S``: one that has none of the packages."""
    command = [sys.executable, "-S", ROOT / "benchmarks" / "grading.py"]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 1
    (line,) = process.stderr.splitlines()
    assert "has no nbgrader: run `make setup`, then `.venv/bin/python" in line


def test_the_benchmark_finds_the_programs_beside_its_interpreter(monkeypatch):
    from benchmarks.grading import _environment

    monkeypatch.setenv("PATH", "/usr/bin")
    beside = str(Path(sys.executable).parent)
    assert _environment()["PATH"].split(os.pathsep) == [beside, "/usr/bin"]
