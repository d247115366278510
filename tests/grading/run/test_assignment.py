"""What is to be graded is read once, and each result depends on all of it."""

from dataclasses import replace

import pytest
from jsonschema import ValidationError
from nbformat.v4 import new_code_cell
from traitlets.config import Config

from autograder.course import find_unit
from autograder.course.errors import CourseError
from autograder.grading.checks import reference_metadata
from autograder.grading.intake import DEFAULTS
from autograder.grading.run.assignment import Assignment, identity, load
from tests import tiny_course as tiny
from tests.grading.intake.released import RELEASE
from tests.tiny_course import UNIT, graded


def loaded(root, **changes) -> Assignment:
    arguments = {
        "name": UNIT, "root": root, "source": root / "source", "pattern": "*",
        "release": root / "release", "exempt": (), "stages": (), "config": Config(),
        "limits": DEFAULTS, "ignored": (),
    }  # fmt: skip
    return load(**arguments | changes)


@pytest.fixture
def root(tmp_path):
    """A course of one notebook, as the build leaves it; nobody has released it."""
    for step, notebook in (("source", tiny.source_notebook()), ("release", RELEASE)):
        (tmp_path / step).mkdir()
        (tmp_path / step / f"{UNIT}.ipynb").write_bytes(tiny.data(notebook))
    (tmp_path / "source" / "data").mkdir()
    (tmp_path / "source" / "data" / "words.txt").write_text("course")
    (tmp_path / "source" / "model.bin").write_text("course")
    return tmp_path


@pytest.fixture
def folder(tmp_path):
    """What a student has handed in."""
    submission = tmp_path / "submitted" / "ada" / UNIT
    submission.mkdir(parents=True)
    (submission / f"{UNIT}.ipynb").write_bytes(tiny.data(tiny.solve_release(RELEASE)))
    (submission / "model.bin").write_text("student")
    (submission / "timestamp.txt").write_text("2026-11-01 12:00:00 UTC")
    return submission


def test_the_courses_files_replace_the_students_but_for_those_exempt(root, folder):
    (task,) = loaded(root).submission("ada", folder, final=True).tasks
    assert task.files["model.bin"] == task.files["data/words.txt"] == b"course"
    exempt = loaded(root, exempt=("model.bin",))
    (task,) = exempt.submission("ada", folder, final=True).tasks
    assert task.files["model.bin"] == b"student"
    assert "timestamp.txt" not in task.files


def test_the_metadata_of_the_courses_cells_are_looked_at_when_it_is_read(root):
    path = root / "source" / f"{UNIT}.ipynb"
    source = tiny.source_notebook()
    tiny.cell(source, "numbers-double").metadata.nbgrader.points = -1.0
    path.write_bytes(tiny.data(source))
    with pytest.raises(ValidationError, match="may be corrupted"):
        loaded(root)


def test_no_file_of_a_student_stands_in_the_way_of_the_courses(root, folder):
    (folder / "data").write_text("a file where the course has a folder")
    (folder / "model.bin").unlink()
    (folder / "model.bin").mkdir()
    (folder / "model.bin" / "deep.txt").write_text("a folder where it has a file")
    (folder / "database").write_text("mine")
    (task,) = loaded(root).submission("ada", folder, final=True).tasks
    course_files = {"database", f"{UNIT}.ipynb"}
    assert set(task.files) == {"data/words.txt", "model.bin"} | course_files


def test_a_submission_has_its_time_and_what_is_published_with_it(root, folder):
    submission = loaded(root).submission("ada", folder, final=False)
    assert str(submission.stamp) == "2026-11-01 12:00:00"
    assert submission.beside == {"timestamp.txt": b"2026-11-01 12:00:00 UTC"}
    assert not submission.tasks[0].final and not submission.tasks[0].refused


def test_what_cannot_be_graded_is_a_task_with_its_reason(root, tmp_path):
    (task,) = loaded(root).submission("ada", tmp_path / "no", final=True).tasks
    assert task.refused and task.submission is None


def test_a_result_depends_on_everything_that_it_was_made_of(root, folder):
    course = loaded(root)
    (task,) = course.submission("ada", folder, final=True).tasks
    digests = [
        course.digest(replace(task, source="{}")),
        course.digest(replace(task, release="{}")),
        course.digest(replace(task, submission=b"{}")),
        course.digest(replace(task, files={**task.files, "x": b"1"})),
        course.digest(replace(task, refused="no")),
        course.digest(task, "extra time"),
        replace(course, depends=("references",)).digest(task),
    ]
    assert len({course.digest(task), *digests}) == len(digests) + 1
    assert course.digest(replace(task)) == course.digest(task)


def test_no_two_submissions_have_one_identity():
    names = [("a", "b", "c"), ("ab", "", "c"), ("a", "b", "d"), ("a", "c", "c")]
    identities = {
        identity(*name, data) for name in names for data in (None, b"1", b"2")
    }
    assert len(identities) == 3 * len(names)
    assert identity("a", "b", "c", b"1") == identity("a", "b", "c", b"1")


def test_what_a_course_lacks_is_said(root, tmp_path):
    with pytest.raises(CourseError, match="there is no notebook"):
        loaded(root, pattern="02_*")
    (root / "release" / f"{UNIT}.ipynb").unlink()
    with pytest.raises(CourseError, match="No such file"):
        loaded(root)


def test_a_source_of_another_build_is_refused_with_what_helps(root, monkeypatch):
    """Its copy on a shared machine is older than the checks: nobody can be graded."""
    unit = find_unit("attention")
    cell = graded(
        new_code_cell('check("attention/softmax", f)'), "attention-softmax", 5
    )
    monkeypatch.setattr(
        reference_metadata,
        "entries",
        lambda unit: {"attention/softmax": {"points": 6.0}},
    )
    for step in ("source", "release"):
        path = root / step / f"{UNIT}.ipynb"
        path.write_bytes(tiny.data(tiny.source_of([cell])))
    with pytest.raises(CourseError) as refused:
        loaded(root, name=unit.label).refuse_mismatch(NoBook())
    message = str(refused.value)
    assert "attention-softmax has 5 points in source/02_attention/" in message
    assert "autograder exchange" in message
    assert 'nbgrader generate_assignment "02_attention" --force' in message
    with pytest.raises(LookupError):  # its own points: on to the gradebook
        loaded(root, name="02_mine").refuse_mismatch(NoBook())


class NoBook:
    def find_notebook(self, *names):
        raise LookupError
