"""A course that is installed, not checked out, is hidden like any other."""

import json
import os
import shutil
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from autograder.root import CONTENT, ENGINE, FILE, ROOT, VARIABLE
from tests.sandbox.conftest import NOBODY, command_as, linux, run_json

pytestmark = [linux, pytest.mark.slow]

HERE = Path(__file__).parent
OTHER = NOBODY if os.getuid() == 0 else os.getuid()
ENTRY = "[jupyter_client.kernel_provisioners]\nautograder-sandbox = {}:{}\n"
PROVISIONER = ("autograder.sandbox.provisioner", "SandboxProvisioner")


@pytest.fixture(scope="module")
def environment() -> Iterator[Path]:
    """A virtual environment with copies of engine and course, as from a wheel."""
    with tempfile.TemporaryDirectory(prefix="installed-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        venv.create(folder, symlinks=True)
        (site,) = folder.glob("lib/python*/site-packages")
        for package in (ENGINE, CONTENT):
            shutil.copytree(package, site / package.name)
        (site / "more.pth").write_text(str(Path(torch.__file__).parents[1]))
        files = [path.relative_to(site) for path in site.rglob("*") if path.is_file()]
        about = site / "transformer_course-1.0.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Name: transformer-course\nVersion: 1.0.0\n")
        (about / "RECORD").write_text("".join(f"{path},,\n" for path in files))
        (about / "entry_points.txt").write_text(ENTRY.format(*PROVISIONER))
        yield folder


def write_course(folder: Path, package: str) -> Path:
    """Make a course's folder with a submission, that anybody can read."""
    (folder / "submission").mkdir(parents=True)
    if package == CONTENT.name:
        shutil.copy(ROOT / FILE, folder)
    else:
        (folder / FILE).write_text(f'package = "{package}"\n')
        (folder / package).mkdir()
        (folder / package / "__init__.py").touch()
    return folder


@pytest.mark.parametrize(
    ("user", "level", "package"),
    [
        (0, "namespaces", CONTENT.name),
        (0, "namespaces", "arithmetic"),
        (OTHER, "user-namespaces", "arithmetic"),
        (OTHER, "landlock", "arithmetic"),
        (OTHER, "bwrap", "arithmetic"),
    ],
)
def test_no_exercise_and_no_answer_can_be_read(environment, user, level, package):
    """Nor where the installed course is not the one that is graded."""
    if level == "bwrap" and not shutil.which("bwrap"):
        pytest.skip("needs bubblewrap: apt-get install bubblewrap")
    course = environment / f"{package}-{level}"
    submission = write_course(course, package) / "submission"
    python = str(environment / "bin" / "python")
    command = [python, str(HERE / "search.py"), str(submission), level]
    variables = ["env", "-C", str(course), f"{VARIABLE}={course}"]
    report = run_json(command_as(user, [*variables, *command]), 180)
    if report["level"] == "none":
        pytest.skip(f"{level} does not work on this machine")
    assert Path(report["engine"]).is_relative_to(environment)
    head, _, seen = report["printed"].partition("SEEN")
    assert "SECRETS 0" not in head and "PROBES True" in head, report["printed"]
    assert [name for name, places in json.loads(seen).items() if places] == []
    assert report["level"] == level and len(json.loads(seen)) == 7
