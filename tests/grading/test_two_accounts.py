"""Two people grade in one folder: what is shared goes on, what is closed is said."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.course import ROOT
from autograder.grading import converter
from tests.sandbox.conftest import NOBODY, command_as, linux
from tests.tiny_course import UNIT, autograde, good, gradebook, hand_in, points

pytestmark = [
    linux,
    pytest.mark.skipif(os.geteuid() != 0, reason="being two accounts needs root"),
    pytest.mark.timeout(120),
]

# Quick, and without sandboxes: it is about files.
CONFIG = """
from autograder.grading import converter, dates, release
c = get_config()
converter.install(), dates.install(), release.install()
c.CourseDirectory.course_id = "tiny"
c.Autograde.jobs = 1
c.Autograde.autograde_preprocessors = [
    "tests.tiny_course.RunHere",
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
]
"""


@pytest.fixture
def open_course(pristine) -> Iterator[Path]:
    """The tiny course with two submissions, where others can reach it."""
    with tempfile.TemporaryDirectory(prefix="course-", dir="/tmp") as name:
        root = Path(name) / "course"
        shutil.copytree(pristine, root)
        Path(name).chmod(0o755)
        (root / "nbgrader_config.py").write_text(CONFIG)
        for student in ("ada", "bob"):
            folder = hand_in(root, student, good(root))
            (folder / "timestamp.txt").write_text("2026-11-01 12:00:00 UTC")
        yield root


def run(user: int, root: Path, *command: str) -> tuple[int, str]:
    """A command of nbgrader as one account; its status, and what it said."""
    process = subprocess.run(
        command_as(user, [sys.executable, "-m", "nbgrader", *command]),
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(ROOT), "HOME": "/nonexistent"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=100,
    )
    lines = process.stdout.splitlines(keepends=True)  # Jupyter's of a home that is none
    return process.returncode, "".join(line for line in lines if "App |" in line)


def share(root: Path) -> None:
    """Give a course to a group, as docs/admin.md says that a set-up does."""
    for path in (root, *root.rglob("*")):
        os.chown(path, -1, NOBODY)
        path.chmod(0o2770 if path.is_dir() else 0o660)


def autograde_as(user: int, root: Path) -> str:
    """What the log of grading everybody says, in a copy of this process."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            os.write(writer, autograde(root, force=True)["log"].encode())
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader) as log:
        text = log.read()
    os.waitpid(child, 0)
    return text


def test_what_is_closed_is_one_line_and_nothing_is_changed(open_course):
    assert converter.install()
    assert autograde(open_course)["success"]
    before = gradebook(open_course)
    share(open_course)
    secret = (open_course / ".autograder" / "secret").read_bytes()
    for closed in ("autograded", "gradebook.db", ".autograder/secret"):
        usual_mode = (open_course / closed).stat().st_mode
        (open_course / closed).chmod(0o700)
        log = autograde_as(NOBODY, open_course)
        assert f"{closed} is closed to" in log and "root" in log
        assert log.count("\n") == 1
        assert gradebook(open_course) == before
        assert (open_course / ".autograder" / "secret").read_bytes() == secret
        (open_course / closed).chmod(usual_mode)


@pytest.mark.slow
def test_one_student_s_closed_result_is_nobody_else_s_affair(open_course):
    assert run(0, open_course, "autograde", UNIT)[0] == 0
    share(open_course)
    (open_course / "autograded" / "ada" / UNIT).chmod(0o700)
    status, output = run(NOBODY, open_course, "autograde", UNIT, "--force")
    assert status == 1 and "Needs a person: ada" in output and "1 graded" in output
    assert "Traceback" not in output
    assert points(open_course) == {s: [2.0, 4.0, None] for s in ("ada", "bob")}


@pytest.mark.slow
def test_who_shares_a_folder_grades_what_the_other_graded_and_back(open_course):
    """What did not change, a time of handing in, stays the other one's file."""
    assert run(0, open_course, "autograde", UNIT)[0] == 0
    share(open_course)
    for user in (NOBODY, 0):
        for command in (["autograde", UNIT, "--force"], ["generate_feedback", UNIT]):
            status, output = run(user, open_course, *command)
            assert status == 0, output
    assert points(open_course) == {s: [2.0, 4.0, None] for s in ("ada", "bob")}
