"""Who handed in what is not graded is told wherever grades are, and is not absent."""

from __future__ import annotations

import csv
import os

import pytest

from autograder import cli
from autograder.classroom import gradebook, report
from autograder.classroom.ungraded import is_graded, ungraded
from tests import tiny_course as tiny
from tests.classroom.conftest import WHOLE, autograde
from tests.tiny_course import UNIT, hand_in


def students(root) -> tuple[str, ...]:
    return ungraded(gradebook.read(UNIT, root), root)


@pytest.fixture
def two_new(graded):
    """One whose grade is of an older notebook, and one who has none."""
    better = tiny.solve_release(tiny.read(graded, "release"))
    hand_in(graded, "cut", tiny.data(better))
    hand_in(graded, "never", tiny.data(better))
    return graded


def test_a_class_that_is_graded_has_nobody_even_where_it_was_copied(graded):
    assert students(graded) == ()


def test_a_first_hand_in_and_a_newer_one_are_told_until_they_are_graded(two_new):
    assert students(two_new) == ("cut", "never")
    hand_in(two_new, WHOLE, b"{}", name="notes.ipynb")  # the old one counts still
    assert students(two_new) == ("cut", "never")
    autograde(two_new)
    assert students(two_new) == ()


def test_a_result_counts_for_what_was_handed_in_last(two_new):
    def counts(student, failed=False):
        return is_graded(student, UNIT, two_new, failed)

    assert counts("bob") and not counts("cut") and not counts("never")
    assert not counts("bob", failed=True), "what is there is of an earlier run"
    hand_in(two_new, "cut", b"{}")
    autograde(two_new)
    assert counts("cut", failed=True), "a refusal is a result, of status 1"


@pytest.mark.parametrize(
    ("command", "status"),
    [(["report", "01"], 1), (["grades", "01", "--format", "moodle"], 1)],
)
def test_commands_name_them_and_say_what_to_do(two_new, capsys, command, status):
    assert cli.main([*command, "--course", str(two_new)]) == status
    message = (
        "handed in, but not graded: cut, never; run: nbgrader autograde 01_numbers"
    )
    assert message in capsys.readouterr().out.splitlines()


def test_the_report_does_not_call_them_absent(two_new):
    page, _ = report.make(UNIT, two_new, two_new / "a.html")
    text = page.read_text()
    assert "graded as it was before: cut, never" in text
    assert "Without a submission:" not in text


def test_the_course_so_far_waits_for_them(two_new):
    assert cli.main(["report", "--all", "--course", str(two_new)]) == 0
    page = (two_new / "reports" / "course.html").read_text()
    assert '<td class="n">?' in page and "Nie Mand (never)" in page
    with (two_new / "reports" / "course.csv").open() as file:
        waiting = {row["student"]: row["waiting"] for row in csv.DictReader(file)}
    assert (waiting["cut"], waiting["never"]) == ("1", "1")


def test_a_folder_of_an_odd_name_is_told_and_breaks_no_page(graded):
    hand_in(graded, "a\nb", b"")
    hand_in(graded, os.fsdecode(b"\xe9"), b"")
    assert students(graded) == (r"'a\nb'", r"'\udce9'")
    report.make(UNIT, graded, graded / "a.html")
