"""What a mended check would change is told before anything is written."""

from __future__ import annotations

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder import cli
from autograder.classroom import preview
from autograder.course import child
from autograder.root import ENGINE
from tests import tiny_course as tiny
from tests.classroom.conftest import WHOLE
from tests.tiny_course import UNIT

CONFIG = """
c = get_config()
from autograder.grading import converter, release
converter.install()
release.install()
c.CourseDirectory.course_id = "tiny"
c.Autograde.autograde_preprocessors = [
    "tests.classroom.conftest.RunAndNote", "autograder.grading.scores.SaveVerdicts",
]
"""


def stamps(root) -> dict:
    return {p: p.stat().st_mtime_ns for p in root.rglob("*") if p.is_file()}


@pytest.mark.slow
def test_a_preview_lists_what_would_change_and_writes_nothing(graded, capfd):
    (graded / "nbgrader_config.py").write_text(CONFIG)
    (graded / ".autograder" / "scores" / f"{UNIT}.json").unlink()
    with Gradebook(f"sqlite:///{graded}/gradebook.db", "tiny") as book:
        book.find_grade("numbers-double", UNIT, UNIT, "bob").auto_score = 0.5
        book.db.commit()
    before = stamps(graded)
    status = cli.main(["regrade", "01", "--preview", "--course", str(graded)])
    output = capfd.readouterr()
    assert status == 1 and "Needs a person: cut: refused" in output.err
    assert "bob      numbers-double     0.5      0  mended check" in output.out
    assert "nothing has been written; to apply this: nbgrader autograde" in output.out
    assert stamps(graded) == before


def test_a_unit_that_was_never_graded_has_no_preview(tmp_path, graded_once, capsys):
    root = tmp_path / "new"
    (root / "source" / UNIT).mkdir(parents=True)
    path = root / "source" / UNIT / f"{UNIT}.ipynb"
    path.write_bytes((graded_once / path.relative_to(root)).read_bytes())
    assert cli.main(["regrade", "01", "--preview", "--course", str(root)]) == 1
    assert "there is no gradebook" in capsys.readouterr().err


def worth(root, points: float) -> None:
    """Have an exercise worth other points in the source, as a build does."""
    path = root / "source" / UNIT / f"{UNIT}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    tiny.cell(notebook, "numbers-triple").metadata.nbgrader.points = points
    nbformat.write(notebook, path)


@pytest.mark.slow
def test_other_points_are_previewed_with_who_gains_and_who_loses(graded, capfd):
    (graded / "nbgrader_config.py").write_text(CONFIG)
    worth(graded, 5.0)
    before = stamps(graded)
    assert cli.main(["regrade", "01", "--preview", "--course", str(graded)]) == 1
    lines = [" ".join(line.split()) for line in capfd.readouterr().out.splitlines()]
    assert "bob numbers-triple 4 5 other points" in lines
    assert f"gain: bob +1, {WHOLE} +1" in lines and "lose: nobody" in lines
    release = f"nbgrader generate_assignment {UNIT} --force"
    assert lines[-1].endswith(f"apply this: {release}; nbgrader autograde {UNIT}")
    assert stamps(graded) == before


def leave_out_double(root) -> None:
    """Leave an exercise out of the source."""
    path = root / "source" / UNIT / f"{UNIT}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    for name in ("numbers-double", "numbers-double-answer"):
        notebook.cells.remove(tiny.cell(notebook, name))
    nbformat.write(notebook, path)


@pytest.mark.slow
def test_an_exercise_that_is_left_out_is_previewed_applied_and_taken_back(
    graded, capfd
):
    (graded / "nbgrader_config.py").write_text(CONFIG)
    source = graded / "source" / UNIT / f"{UNIT}.ipynb"
    text, before = source.read_text(), points(graded)
    leave_out_double(graded)
    files = stamps(graded)
    assert cli.main(["regrade", "01", "--preview", "--course", str(graded)]) == 1
    output, errors = capfd.readouterr()
    assert "Traceback" not in errors
    assert f"{WHOLE}  numbers-double       2      -  left out" in output
    assert f"lose: {WHOLE} -2" in output and "gain: nobody" in output
    assert stamps(graded) == files and points(graded) == before
    apply(graded)
    assert points(graded)[WHOLE] == {"numbers-triple": 4, "numbers-why": None}
    source.write_text(text)
    apply(graded)
    assert points(graded) == before


def points(root) -> dict[str, dict[str, float | None]]:
    """What each student has by exercise, in the gradebook itself."""
    with Gradebook(f"sqlite:///{root}/gradebook.db", "tiny") as book:
        return {
            submission.student_id: {
                grade.name: None if grade.needs_manual_grade else grade.score
                for grade in submission.notebooks[0].grades
            }
            for submission in book.find_assignment(UNIT).submissions
        }


def apply(root) -> None:
    for command in preview.commands(UNIT, root):
        child.nbgrader(root, *command)


COMMANDS = [["show", "bob"], ["report"], ["grades", "--format=moodle"]]
COMMANDS += [["written"]] * (ENGINE / "extras" / "written").is_dir()


@pytest.mark.parametrize("command", COMMANDS)
def test_no_page_mixes_old_and_new_points(graded, capsys, command):
    worth(graded, 5.0)
    name, *arguments = command
    assert cli.main([name, "01", *arguments, "--course", str(graded)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert f"was graded when {UNIT} had other points or exercises" in line
    assert f"nbgrader generate_assignment {UNIT} --force" in line
