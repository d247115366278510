"""One submission is graded at once, or it is said why not."""

from __future__ import annotations

import pytest

from autograder.classroom.classbook import Classbook, Student, Submission
from autograder.course.errors import CourseError
from autograder.extras.hosted import hosted


def test_a_course_that_cannot_grade_says_why_and_is_no_zero(tmp_path):
    """Here, a course without its nbgrader_config.py."""
    (tmp_path / "a.ipynb").write_text("{}")
    with pytest.raises(CourseError, match=r"nbgrader_config\.py"):
        hosted.grade("01_numbers", tmp_path, tmp_path)


def test_a_student_learns_which_file_was_left_out(tmp_path, monkeypatch):
    """Grading itself never sees the file, and so cannot report it."""
    course, handed_in = tmp_path / "course", tmp_path / "handed_in"
    for step in ("source", "release"):
        (course / step / "01_numbers").mkdir(parents=True)
    (course / "nbgrader_config.py").touch()
    handed_in.mkdir()
    (handed_in / "a.ipynb").write_text("{}")
    (handed_in / "data.csv").symlink_to("/etc/passwd")
    graded = Submission(
        Student("student"), {}, repairs=(("kind", "A cell was moved."),)
    )
    book = Classbook("01_numbers", (), (graded,))
    monkeypatch.setattr(hosted.child, "nbgrader", lambda *_, **__: None)
    monkeypatch.setattr(hosted.gradebook, "read", lambda *_: book)
    (submission,) = hosted.grade("01_numbers", handed_in, course).submissions
    assert [sentence for _, sentence in submission.repairs] == [
        "Left out: data.csv (is a link).",
        "A cell was moved.",
    ]


def test_what_cannot_be_taken_is_refused_before_anything_runs(tmp_path):
    course = tmp_path / "course"
    for step in ("source", "release"):
        (course / step / "01_numbers").mkdir(parents=True)
    (course / "nbgrader_config.py").write_text("raise SystemExit('it was run')")
    with pytest.raises(CourseError, match="nowhere"):
        hosted.grade("01_numbers", tmp_path / "nowhere", course)
