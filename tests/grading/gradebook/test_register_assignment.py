"""An assignment enters the gradebook by itself, if its release is the source's."""

from nbgrader.api import Gradebook
from traitlets.config import Config

from autograder.grading.gradebook.book import Gradebook as CourseBook
from autograder.grading.gradebook.register_assignment import register
from tests.grading.releases import find_leftovers, in_book, release_text
from tests.tiny_course import UNIT, autograde, good, hand_in, points, run_nbgrader


def test_an_assignment_enters_the_gradebook_when_graded_and_a_due_date_stays(clone):
    with Gradebook(f"sqlite:///{clone}/gradebook.db", "tiny") as book:
        book.add_assignment(UNIT, duedate="2026-11-30 23:59:00 UTC")
    hand_in(clone, "ada", good(clone))
    assert autograde(clone)["success"]
    assert points(clone) == {"ada": [2.0, 4.0, None]}
    assert sum(in_book(clone).values()) == 10
    with Gradebook(f"sqlite:///{clone}/gradebook.db", "tiny") as book:
        assert str(book.find_assignment(UNIT).duedate) == "2026-11-30 23:59:00"


def test_a_release_of_another_source_is_not_entered(clone):
    path = clone / "source" / UNIT / f"{UNIT}.ipynb"
    path.write_text(path.read_text().replace("assert double(2)", "assert double(9)"))
    hand_in(clone, "ada", good(clone))
    refusal = autograde(clone)
    assert not refusal["success"] and "does not match its source" in refusal["log"]
    assert f'generate_assignment "{UNIT}" --force' in refusal["log"]
    run = run_nbgrader(clone, "generate_assignment", UNIT, force=True)
    assert run["success"] and not find_leftovers(clone)
    assert "assert double(9)" in release_text(clone)


def test_what_the_gradebook_knows_is_left_alone(course):
    before = in_book(course)
    book = CourseBook(f"sqlite:///{course}/gradebook.db", "tiny")
    try:
        assert not register(book, UNIT, {UNIT: ("no notebook", "")}, Config())
    finally:
        book.dispose()
    assert in_book(course) == before
