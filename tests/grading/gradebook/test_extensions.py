"""More time for one student, granted before or after handing in."""

import pytest
from nbgrader.api import Gradebook

from autograder import cli
from autograder.classroom import gradebook as classbook
from tests import tiny_course as tiny
from tests.classroom.conftest import autograde
from tests.tiny_course import UNIT, hand_in


@pytest.fixture
def late(course):
    """Ada and Bob handed in 90 minutes late; each hour begun costs a point."""
    with Gradebook(f"sqlite:///{course}/gradebook.db", "tiny") as book:
        book.update_or_create_assignment(UNIT, duedate="2020-01-01 00:00:00 UTC")
    for student in ("ada", "bob"):
        folder = hand_in(course, student, tiny.good(course))
        (folder / "timestamp.txt").write_text("2020-01-01 01:30:00 UTC")
    return course


def extend(root, *arguments: str) -> int:
    return cli.main(["extend", "01", *arguments, "--course", str(root)])


def penalties(root) -> dict[str, float]:
    return {s.student.id: s.penalty for s in classbook.read(UNIT, root).submissions}


def test_an_extension_before_grading_spares_one_student(late, capsys):
    assert extend(late, "ada", "--hours", "2") == 0
    assert "ada: 2 hours after the deadline" in capsys.readouterr().out
    assert autograde(late)["success"]
    assert penalties(late) == {"ada": 0, "bob": 2}


def test_an_extension_afterwards_counts_with_the_next_run_and_can_be_taken_back(late):
    autograde(late)
    assert penalties(late) == {"ada": 2, "bob": 2}
    assert extend(late, "bob", "--until", "2020-01-01 00:45 UTC") == 0
    autograde(late)
    assert penalties(late) == {"ada": 2, "bob": 1}
    assert extend(late, "bob", "--days", "0") == 0
    with Gradebook(f"sqlite:///{late}/gradebook.db", "tiny") as book:
        book.grant_extension(UNIT, "ada", hours=1)  # which stays
    autograde(late)
    assert penalties(late) == {"ada": 1, "bob": 2}


def test_what_cannot_be_is_said_in_a_line(late, course, capsys):
    assert extend(late, "ada", "--until", "2019-12-31 00:00 UTC") == 2
    assert "before the deadline" in capsys.readouterr().err
    assert extend(late, "ada", "--until", "soon") == 2
    (late / ".autograder").mkdir(exist_ok=True)
    (late / ".autograder" / "extensions.json").write_text("{")
    assert extend(late) == 1
    assert "repair or remove it" in capsys.readouterr().err
