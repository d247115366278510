"""Scores are sent once, never lowered unasked, and a cut-off run continues."""

from dataclasses import replace

import pytest

from autograder.course.errors import CourseError
from autograder.extras.lti import sending
from autograder.extras.lti.assignment import LmsMember, LmsStanding
from autograder.extras.lti.journal import Journal
from autograder.extras.lti.web import GradeRefusedError
from tests.extras.lti.conftest import UNIT, make_book

PEOPLE = (
    LmsMember("501", "Ada L.", "ADA@uni.example"),
    LmsMember("502", "Ross, Bob", login="bob"),
    LmsMember("503", number="silent"),
)


class Gradebook:
    """An LMS in memory."""

    lms, address, has_lms_ids = "an LMS", "an address", True

    def __init__(self, people=PEOPLE, **scores: float) -> None:
        self.people = people
        self.scores = {key.removeprefix("u"): score for key, score in scores.items()}
        self.untouched: dict[str, str] = {}
        self.sent: list[tuple[str, float, str]] = []
        self.fails: dict[str, Exception] = {}
        self.ignores: set[str] = set()
        self.tells = True

    def read_people(self):
        return self.people

    def read_standings(self):
        standings = {key: LmsStanding(score) for key, score in self.scores.items()}
        standings |= {
            key: LmsStanding(None, why) for key, why in self.untouched.items()
        }
        return standings if self.tells else None

    def send(self, key, mark):
        if key in self.fails:
            raise self.fails[key]
        self.sent.append((key, mark.score, mark.comment))
        if key not in self.ignores:
            self.scores[key] = mark.score


def send(lms, root, book=None, is_trial=False, may_lower=False):
    return sending.send(book or make_book(), root, lms, is_trial, may_lower)


def keys(lms) -> list[str]:
    return [key for key, *_ in lms.sent]


def test_each_score_is_sent_once_with_its_comment(tmp_path):
    lms = Gradebook()
    delivery = send(lms, tmp_path)
    assert lms.scores == {"501": 9.5, "502": 4.0, "503": 0.0}
    assert lms.sent[0][2] == "01_numbers: 9.5 of 10 points.\nwhy: Well argued."
    assert delivery.is_complete and delivery.lines[-1] == "3 sent"
    again = send(lms, tmp_path)
    assert len(lms.sent) == 3 and again.lines == ("3 same",) and again.is_complete


def test_only_what_changed_is_sent_again(tmp_path):
    lms = Gradebook()
    send(lms, tmp_path)
    delivery = send(lms, tmp_path, make_book(bob=5.5))
    assert keys(lms)[3:] == ["502"]
    assert delivery.lines[-1] == "2 same, 1 sent"
    row = next(line for line in delivery.lines if line.startswith("bob"))
    assert row.split() == ["bob", "sent", "4", "5.5"]


def test_a_comment_that_changed_is_sent_with_the_same_score(tmp_path):
    lms, book = Gradebook(), make_book()
    send(lms, tmp_path)
    ada = replace(book.submissions[0], marks={})
    send(lms, tmp_path, replace(book, submissions=(ada, *book.submissions[1:])))
    assert lms.sent[3:] == [("501", 9.5, "01_numbers: 9.5 of 10 points.")]


def test_a_late_penalty_is_in_score_and_comment(tmp_path):
    lms = Gradebook()
    send(lms, tmp_path, make_book(bob=4.0, penalty=1.5))
    assert lms.sent[1][1] == 2.5
    assert "2.5 of 10 points.\n1.5 points off for lateness." in lms.sent[1][2]


def test_a_journal_that_cannot_be_written_loses_no_report(tmp_path, monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise CourseError("the disk is full")

    monkeypatch.setattr(Journal, "accept", refuse)
    lms = Gradebook(u501=9.5)
    delivery = send(lms, tmp_path)
    assert not delivery.is_complete and "the disk is full" in delivery.lines
    assert "1 same, 2 not sent" in delivery.lines


def test_a_dry_run_sends_nothing_and_notes_nothing(tmp_path):
    lms = Gradebook(u502=4.0)
    delivery = send(lms, tmp_path, is_trial=True)
    assert not lms.sent and not Journal(tmp_path, UNIT, lms.address).path.exists()
    assert delivery.lines[-1] == "2 send, 1 same" and delivery.is_complete


def test_a_higher_score_in_the_lms_stays_unless_asked(tmp_path):
    lms = Gradebook(u502=6.0)
    delivery = send(lms, tmp_path)
    assert lms.scores["502"] == 6.0 and not delivery.is_complete
    assert "--lower" in "".join(delivery.lines)
    assert send(lms, tmp_path, may_lower=True).is_complete
    assert lms.scores["502"] == 4.0


@pytest.mark.parametrize("by_hand", [3.0, 8.0])
def test_a_score_that_was_changed_in_the_lms_stays_unless_asked(tmp_path, by_hand):
    lms = Gradebook()
    send(lms, tmp_path)
    lms.scores["502"] = by_hand
    delivery = send(lms, tmp_path)
    assert lms.scores["502"] == by_hand and not delivery.is_complete
    assert "1 changed there" in delivery.lines[-1]
    send(lms, tmp_path, may_lower=True)
    assert lms.scores["502"] == 4.0


@pytest.mark.parametrize("by_hand", [3.0, 8.0])
def test_a_score_that_was_changed_in_the_lms_stays_when_ours_changes_too(
    tmp_path, by_hand
):
    lms = Gradebook()
    send(lms, tmp_path)
    lms.scores["502"] = by_hand
    delivery = send(lms, tmp_path, make_book(bob=5.5))
    assert lms.scores["502"] == by_hand and not delivery.is_complete
    assert "1 changed there" in delivery.lines[-1]
    assert "--lower" in "".join(delivery.lines)
    send(lms, tmp_path, make_book(bob=5.5), may_lower=True)
    assert lms.scores["502"] == 5.5


def test_a_score_that_was_deleted_in_the_lms_is_sent_again(tmp_path):
    lms = Gradebook()
    send(lms, tmp_path)
    del lms.scores["502"]
    assert send(lms, tmp_path).is_complete and lms.scores["502"] == 4.0


def test_a_platform_that_tells_no_scores_is_known_by_the_journal(tmp_path):
    lms = Gradebook()
    lms.tells = False
    send(lms, tmp_path)
    delivery = send(lms, tmp_path, make_book(ada=9.75, bob=3.0))
    assert lms.scores == {"501": 9.75, "502": 4.0, "503": 0.0}
    assert "1 lower" in delivery.lines[-1] and not delivery.is_complete


def test_what_waits_or_is_excused_stays_as_it_is(tmp_path):
    lms = Gradebook()
    lms.untouched["503"] = "excused in Canvas"
    delivery = send(lms, tmp_path, make_book(bob=None))
    assert keys(lms) == ["501"] and delivery.is_complete
    assert delivery.lines[-1] == "1 sent, 1 waiting, 1 excused"


def test_a_student_who_left_the_course_is_named(tmp_path):
    lms = Gradebook(people=PEOPLE[:1])
    delivery = send(lms, tmp_path)
    assert keys(lms) == ["501"] and not delivery.is_complete
    assert "2 not in the LMS" in delivery.lines[-1]
    assert "Bob Ross (bob)" in "".join(delivery.lines)


def test_one_student_who_is_refused_does_not_stop_the_others(tmp_path):
    lms = Gradebook()
    lms.fails["502"] = GradeRefusedError("the assignment is closed")
    delivery = send(lms, tmp_path)
    assert keys(lms) == ["501", "503"] and not delivery.is_complete
    assert any("bob" in line and "is closed" in line for line in delivery.lines)
    del lms.fails["502"]
    assert send(lms, tmp_path).is_complete and keys(lms)[2:] == ["502"]


def test_a_run_that_was_cut_off_continues_where_it_stopped(tmp_path):

    lms = Gradebook()
    lms.fails["502"] = CourseError("the network is gone")
    delivery = send(lms, tmp_path)
    assert keys(lms) == ["501"] and not delivery.is_complete
    assert delivery.lines[-2:] == ("the network is gone", "1 sent, 2 not sent")
    lms.fails.clear()
    assert send(lms, tmp_path).is_complete and keys(lms) == ["501", "502", "503"]


def test_a_score_whose_answer_was_lost_is_not_sent_twice(tmp_path):
    """It arrived; what was lost is that the LMS said so."""
    lms = Gradebook(u501=9.5, u502=4.0, u503=0.0)
    assert send(lms, tmp_path).lines == ("3 same",) and not lms.sent
    accepted = Journal(tmp_path, UNIT, lms.address).read()
    assert set(accepted) == {"ada", "bob", "silent"}


def test_a_score_that_the_lms_accepts_and_ignores_is_reported(tmp_path):
    lms = Gradebook()
    lms.ignores.add("502")
    delivery = send(lms, tmp_path)
    assert not delivery.is_complete and "1 not applied" in delivery.lines[-1]
    assert "still shows nothing" in "".join(delivery.lines)


def test_an_ignored_score_is_sent_again(tmp_path):
    lms = Gradebook()
    lms.ignores.add("502")
    send(lms, tmp_path)
    lms.ignores.clear()
    assert send(lms, tmp_path).is_complete and lms.scores["502"] == 4.0


def test_a_page_that_was_attached_is_no_score(tmp_path):
    lms = Gradebook(u502=4.0)
    for student in ("ada", "bob"):
        Journal(tmp_path, UNIT, lms.address).accept(student, page="p")
    assert send(lms, tmp_path).lines[-1] == "2 sent, 1 same"
    assert Journal(tmp_path, UNIT, lms.address).read()["bob"]["score"] == 4.0


def test_what_an_lms_loses_by_rounding_is_no_change(tmp_path):
    lms = Gradebook()
    send(lms, tmp_path, make_book(ada=9.333))
    lms.scores["501"] = 9.33
    assert send(lms, tmp_path, make_book(ada=9.333)).lines == ("3 same",)


def test_two_students_whom_nothing_tells_apart_get_nothing(tmp_path):
    twins = (*PEOPLE[:1], LmsMember("7", "Bob Ross"), LmsMember("8", "Bob Ross"))
    delivery = send(lms := Gradebook(people=twins), tmp_path)
    assert keys(lms) == ["501"] and not delivery.is_complete
