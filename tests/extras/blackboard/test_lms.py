"""Blackboard's archives have user names, behind a name that may look like one."""

from autograder.classroom.lms.roster import Roster
from tests.classroom.lms.course import ADA, BOB


def test_blackboard_takes_the_last_attempt_and_its_local_time(course):
    path = course.zip(
        ("Week_1_alovelace_attempt_2026-11-20-14-03-59_attention.ipynb", BOB),
        ("Week_1_alovelace_attempt_2026-11-20-15-03-59_attention.ipynb", ADA),
        ("Week_1_alovelace_attempt_2026-11-20-15-03-59.txt", b"Name: Ada"),
        ("Week_1_bodin_attempt_2026-07-20-15-03-59_attention.ipynb", BOB),
    )
    outcomes = course.collect(path)
    assert set(outcomes) == {"ada", "bob"}
    assert "the latest of 2 attempts" in outcomes["ada"].remark
    assert course.notebook("ada") == ADA
    assert course.time("ada") == "2026-11-20 14:03:59", "winter in Berlin"
    assert course.time("bob") == "2026-07-20 13:03:59", "summer in Berlin"


def test_blackboard_without_a_roster_must_not_be_ambiguous(course):
    archive = course.zip(("Week_1_ada_attempt_2026-11-20-14-03-59_a.ipynb", ADA))
    (outcome,) = course.collect(archive, roster=Roster()).values()
    assert outcome.needs_person and "give a roster" in outcome.remark
    plain = course.zip(("Week 1_ada_attempt_2026-11-20-14-03-59_a.ipynb", ADA))
    assert set(course.collect(plain, roster=Roster())) == {"ada"}
