"""What is read of a graded unit is what nbgrader's gradebook says, and no zero more."""

import shutil

import pytest
from nbgrader.api import Gradebook, Student

from autograder.classroom import gradebook
from autograder.course.errors import CourseError
from tests.classroom.conftest import WHOLE
from tests.tiny_course import UNIT


def by_student(book):
    return {submission.student.id: submission for submission in book.submissions}


def test_points_reasons_and_people_are_read(graded):
    book = gradebook.read(UNIT, graded)
    assert [e.name for e in book.exercises if e.written] == ["numbers-why"]
    assert book.max_points == 10
    submissions = by_student(book)
    assert set(submissions) == {WHOLE, "bob", "cut", "silent"}
    assert [student.id for student in book.absent] == ["never"]
    ada = submissions[WHOLE]
    assert (ada.student.name, ada.student.lms_id) == ("Ada Lovelace", "501")
    assert ada.level == "namespaces" and ada.seconds > 0
    assert ada.records["numbers-double"].decided == "inside"
    assert "cannot be read" in submissions["cut"].refused


def test_a_written_answer_waits_and_is_no_zero(graded):
    ada = by_student(gradebook.read(UNIT, graded))[WHOLE]
    assert ada.points["numbers-why"] is None and ada.waiting == ("numbers-why",)
    assert ada.graded_points == 6 and ada.score is None


def test_a_person_s_points_extra_credit_and_the_penalty_count(graded):
    with Gradebook(f"sqlite:///{graded}/gradebook.db", "tiny") as book:
        grade = book.find_grade("numbers-why", UNIT, UNIT, WHOLE)
        grade.manual_score, grade.extra_credit = 3.0, 0.5
        notebook = book.find_submission_notebook(UNIT, UNIT, WHOLE)
        notebook.late_submission_penalty = 2.0
        book.db.commit()
        exported = book.find_submission(UNIT, WHOLE)
        wanted = max(0.0, exported.score - exported.late_submission_penalty)
    ada = by_student(gradebook.read(UNIT, graded))[WHOLE]
    assert ada.score == wanted == 7.5


def test_an_assignment_is_found_by_its_number_and_by_its_name(graded):
    assert gradebook.find_assignment("01", graded) == UNIT
    assert gradebook.find_assignment("1", graded) == UNIT
    assert gradebook.find_assignment("numbers", graded) == UNIT
    with pytest.raises(CourseError, match='no assignment "nothing"; there is 01_n'):
        gradebook.find_assignment("nothing", graded)
    shutil.copytree(graded / "source" / UNIT, graded / "source" / "11_numbers")
    with pytest.raises(CourseError, match=f'"numbers" may be {UNIT} or 11_numbers'):
        gradebook.find_assignment("numbers", graded)


def test_what_is_missing_is_said(graded, tmp_path):
    with pytest.raises(CourseError, match="is not a course folder"):
        gradebook.find_assignment("01", tmp_path / "nowhere")
    (graded / "gradebook.db").rename(graded / "elsewhere.db")
    with pytest.raises(CourseError, match="there is no gradebook at"):
        gradebook.read(UNIT, graded)
    (graded / "gradebook.db").write_text("this is no database, but text of its length")
    with pytest.raises(CourseError, match=r"gradebook\.db is damaged"):
        gradebook.read(UNIT, graded)


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
def test_a_run_that_enters_students_meanwhile_disturbs_nothing(graded, monkeypatch):
    """Whoever has a submission is known by the time that students are asked for."""
    read_students = Gradebook.students.fget

    def entered(book):
        with Gradebook(f"sqlite:///{graded}/gradebook.db", "tiny") as gradebook:
            if not gradebook.db.query(Student).filter_by(id="new").count():
                gradebook.add_student("new")
                gradebook.add_submission(UNIT, "new")
        return read_students(book)

    monkeypatch.setattr(Gradebook, "students", property(entered))
    assert "new" not in by_student(gradebook.read(UNIT, graded))
    assert "new" in by_student(gradebook.read(UNIT, graded))
