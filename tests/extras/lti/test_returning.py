"""Pages are attached once, and again when they have changed."""

import pytest

from autograder.classroom import gradebook
from autograder.course.errors import CourseError
from autograder.extras.lti import returning
from autograder.extras.lti.assignment import LmsMember, LmsStanding
from autograder.extras.lti.web import GradeRefusedError
from tests.extras.lti.conftest import UNIT, make_book


class Pages:
    """An LMS in memory that takes pages."""

    lms, address, has_lms_ids = "an LMS", "an address", True

    def __init__(self) -> None:
        self.people = [LmsMember("501"), LmsMember("502", login="bob")]
        self.attached: list[tuple[str, str, float | None, str]] = []
        self.fails: dict[str, Exception] = {}

    def read_people(self):
        return self.people

    def read_standings(self):
        return {"501": LmsStanding(9.0)}

    def attach(self, key, page, score, comment):
        if key in self.fails:
            raise self.fails[key]
        self.attached.append((key, page.read_text(), score, comment))


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A course with feedback pages of two students."""
    for student in ("ada", "bob"):
        page = tmp_path / "feedback" / student / UNIT / f"{UNIT}.html"
        page.parent.mkdir(parents=True)
        page.write_text(student)
    monkeypatch.setattr(gradebook, "read", lambda unit, root: make_book())
    return tmp_path


def send(lms, root, is_trial=False):
    return returning.send(UNIT, root, lms, is_trial)


def test_a_page_is_attached_once_beside_what_the_lms_has(root):
    lms = Pages()
    assert send(lms, root).lines == ("2 of 2 pages attached",)
    ada, bob = lms.attached
    assert ada[:3] == ("501", "ada", 9.0) and bob[:3] == ("502", "bob", None)
    assert ada[3] == "01_numbers: 9.5 of 10 points.\nwhy: Well argued."
    again = send(lms, root)
    assert again.is_complete and again.lines == ("0 of 2 pages attached",)
    assert len(lms.attached) == 2


def test_a_page_that_changed_is_attached_again(root):
    lms = Pages()
    send(lms, root)
    (root / "feedback" / "bob" / UNIT / f"{UNIT}.html").write_text("bob, again")
    send(lms, root)
    assert [page for _, page, *_ in lms.attached] == ["ada", "bob", "bob, again"]


def test_a_dry_run_attaches_nothing(root):
    lms = Pages()
    assert send(lms, root, is_trial=True).lines == ("2 of 2 pages would be attached",)
    assert not lms.attached
    send(lms, root)
    assert len(lms.attached) == 2


def test_who_is_refused_or_gone_is_named(root):
    lms = Pages()
    lms.people.pop()
    lms.fails["501"] = GradeRefusedError("quota exceeded")
    delivery = send(lms, root)
    assert not delivery.is_complete
    assert delivery.lines[:2] == ("ada: quota exceeded", "bob: not in the LMS")


def test_a_run_that_was_cut_off_continues(root):
    lms = Pages()
    lms.fails["502"] = CourseError("the network is gone")
    delivery = send(lms, root)
    assert delivery.lines == ("the network is gone", "1 of 2 pages attached")
    lms.fails.clear()
    assert send(lms, root).is_complete
    assert [key for key, *_ in lms.attached] == ["501", "502"]


def test_without_pages_the_command_that_makes_them_is_named(tmp_path):
    with pytest.raises(CourseError, match="nbgrader generate_feedback"):
        send(Pages(), tmp_path)
