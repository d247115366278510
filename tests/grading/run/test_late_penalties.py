"""A deadline that is set or moved after grading counts with the next run."""

import pytest
from nbgrader.api import Gradebook

from autograder.classroom import gradebook as classbook
from autograder.grading.scores import LatePenalties, SaveVerdicts
from tests import tiny_course as tiny
from tests.classroom.conftest import HourlyPenalty, autograde
from tests.tiny_course import UNIT, hand_in


@pytest.fixture(scope="module")
def graded_once(shared_course):
    """Ada and Bob are graded, and nothing is known of any deadline."""
    for student, hour in (("ada", "01"), ("bob", "03")):
        folder = hand_in(shared_course, student, tiny.good(shared_course))
        (folder / "timestamp.txt").write_text(f"2020-01-01 {hour}:30:00 UTC")
    assert autograde(shared_course)["success"]
    return shared_course


def regrade(root) -> dict:
    return autograde(root, force=False)


def due(root, time: str) -> None:
    with Gradebook(f"sqlite:///{root}/gradebook.db", "tiny") as book:
        book.update_or_create_assignment(UNIT, duedate=f"2020-01-01 {time} UTC")


def penalties(root) -> dict[str, float]:
    return {s.student.id: s.penalty for s in classbook.read(UNIT, root).submissions}


def notebooks(root) -> list[bytes]:
    return [path.read_bytes() for path in sorted(root.glob("autograded/*/*/*.ipynb"))]


def test_a_deadline_of_afterwards_takes_and_gives_points_and_runs_nothing(graded):
    before, path = notebooks(graded), graded / f"autograded/bob/{UNIT}/{UNIT}.ipynb"
    time = path.stat().st_mtime_ns
    due(graded, "02:00")
    log = " ".join(regrade(graded)["log"].split())
    assert penalties(graded) == {"ada": 0, "bob": 2}
    assert "bob late penalty 0 2" in log and log.endswith("2 up to date")
    assert path.stat().st_mtime_ns > time, "his page is out of date"
    due(graded, "04:00")
    assert "bob late penalty 2 0" in " ".join(regrade(graded)["log"].split())
    assert penalties(graded) == {"ada": 0, "bob": 0}
    assert notebooks(graded) == before
    time = path.stat().st_mtime_ns
    assert "have changed" not in regrade(graded)["log"]
    assert path.stat().st_mtime_ns == time


def test_points_by_hand_count_in_a_penalty_that_is_a_share(graded, monkeypatch):
    monkeypatch.setattr(
        HourlyPenalty, "late_submission_penalty", lambda self, _, score, late: score / 2
    )
    due(graded, "02:00")
    regrade(graded)
    assert penalties(graded)["bob"] == 3
    with Gradebook(f"sqlite:///{graded}/gradebook.db", "tiny") as book:
        grade = book.find_grade("numbers-why", UNIT, UNIT, "bob")
        grade.manual_score, grade.needs_manual_grade = 4.0, False
        book.db.commit()
    regrade(graded)
    assert penalties(graded) == {"ada": 0, "bob": 5}


def test_a_policy_that_fails_needs_a_person_and_costs_nobody_else(graded, monkeypatch):
    def fail(self, student, score, late):
        if student == "ada":
            raise ZeroDivisionError
        return 1.0

    monkeypatch.setattr(HourlyPenalty, "late_submission_penalty", fail)
    due(graded, "00:00")
    run = regrade(graded)
    assert not run["success"] and "ada: undecided: the late policy" in run["log"]
    assert penalties(graded) == {"ada": 0, "bob": 1}


def test_lateness_is_one_line_in_hours_and_days(course):
    folder = hand_in(course, "alan", tiny.good(course))
    (folder / "timestamp.txt").write_text("2020-01-02 13:01:00 UTC")
    due(course, "02:00")
    stages = [tiny.RunHere, SaveVerdicts, LatePenalties]
    log = tiny.autograde(course, autograde_preprocessors=stages)["log"]
    assert log.count(" late") == 1 and "alan: 1 day 11 hours late\n" in log
