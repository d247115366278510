"""The zip for Gradescope, run in folders laid out as Gradescope's, without network."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from autograder.course import find_unit
from autograder.extras.gradescope import archive

UNIT = find_unit("attention")


@pytest.fixture(scope="module")
def packed(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("dist") / "02.zip"
    return archive.build(UNIT, path, "points")


def unpack(path: Path, folder: Path) -> None:
    """As Gradescope's unzip does it: with the modes of the members."""
    with zipfile.ZipFile(path) as file:
        for info in file.infolist():
            target = Path(file.extract(info, folder))
            target.chmod(stat.S_IMODE(info.external_attr >> 16))


def test_it_holds_what_gradescope_asks_for_and_no_other_unit_s_secrets(packed):
    with zipfile.ZipFile(packed) as file:
        names = set(file.namelist())
        for script in ("setup.sh", "run_autograder"):
            assert file.getinfo(script).external_attr >> 16 & 0o111, script
            text = file.read(script).decode()
            assert text.startswith("#!/usr/bin/env bash") and "{" not in (
                text.replace("${", "")
            )
    hidden = [n for n in names if n.startswith("transformer_course/references/hidden/")]
    assert [n for n in hidden if n.endswith("safetensors")] == [
        "transformer_course/references/hidden/attention.safetensors"
    ]
    assert f"source/{UNIT.label}/{UNIT.label}.ipynb" in names
    assert not [n for n in names if "__pycache__" in n or n.startswith("submitted")]


@pytest.mark.parametrize("script", ["setup.sh", "run_autograder"])
def test_the_scripts_are_ones_that_bash_can_read(packed, tmp_path, script):
    unpack(packed, tmp_path)
    subprocess.run(["bash", "-n", tmp_path / script], check=True)


@pytest.mark.long
@pytest.mark.slow
def test_a_hand_in_ends_in_results(packed, tmp_path):
    root = tmp_path / "autograder"
    unpack(packed, root / "source")
    shutil.copy2(root / "source" / "run_autograder", root / "run_autograder")
    (root / "environment").symlink_to(sys.prefix)  # what setup.sh makes
    (root / "submission").mkdir()
    (root / "submission_metadata.json").write_text("{}")
    handed_in = root / "submission" / "my attention (1).ipynb"
    handed_in.write_bytes(UNIT.source.read_bytes())
    command = [str(root / "run_autograder")]
    if os.geteuid() == 0 and shutil.which("unshare"):
        command = ["unshare", "--net", *command]
    process = subprocess.run(
        command,
        cwd="/",
        env={"PATH": os.environ["PATH"], "HOME": "/root"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    results = json.loads((root / "results" / "results.json").read_text())
    scored = [test for test in results["tests"] if "score" in test]
    assert sum(test["score"] for test in scored) == 96
    assert "score" not in results, "a person has yet to read four points"
    assert {test["visibility"] for test in scored} == {"visible"}
    assert not any(test["output"] for test in scored), "points only"
    later = [t for t in results["tests"] if t.get("visibility") == "after_due_date"]
    assert len(later) == len(scored) and all("✓" in test["output"] for test in later)
    if os.geteuid() == 0:
        secret = root / "source" / "transformer_course" / "references" / "hidden"
        assert stat.S_IMODE(secret.stat().st_mode) & 0o077 == 0
