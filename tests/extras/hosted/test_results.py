"""What services that grade on hand-in are told, and what students learn by it."""

from __future__ import annotations

import html
import json
from dataclasses import replace

import pytest

from autograder.classroom.classbook import Classbook, Item, Student, Submission
from autograder.extras.hosted import results
from autograder.grading.judge.verdict import CaseVerdict, Verdict

RECORD = Verdict(
    "n/double",
    1.0,
    2.0,
    "tripled",
    "You tripled.",
    cases=(
        CaseVerdict("a", "a vector", "", False),
        CaseVerdict("b", "negative numbers", "values", True),
    ),
    aspects={"values": [0.5, 1.2], "calls": [0.5, 0.8]},
    panel="You tripled.\nAsk yourself: How many are two?\n✓ a vector\n✗ negative "
    "numbers (hidden)\n    twice: wrong values",
)
ASPECTS = "Points lost: 0.7 of 1.2 for values, 0.3 of 0.8 for repeated calls."


@pytest.fixture
def book():
    exercises = (Item("n-double", 2.0), Item("n-why", 4.0, written=True))
    submission = Submission(
        Student("ada"), {"n-double": 1.0, "n-why": None}, records={"n-double": RECORD}
    )
    return Classbook("01_numbers", exercises, (submission,))


def report_tests(book, tell):
    (submission,) = book.submissions
    return json.loads(results.gradescope(book, submission, tell))["tests"]


def test_points_only_until_the_deadline(book):
    current, later, written = report_tests(book, "points")
    assert (current["score"], current["max_score"], current["output"]) == (1, 2, "")
    assert later["visibility"] == "after_due_date" and "You tripled." in later["output"]
    assert "score" not in later and "not graded yet" in written["output"]


def test_cases_tell_which_passed_and_panels_why(book):
    current, later, _ = report_tests(book, "cases")
    assert current["output"] == f"{ASPECTS}\n✓ a vector\n✗ negative numbers (hidden)"
    assert later["output"] == RECORD.panel
    current, written = report_tests(book, "panels")
    assert current["output"] == RECORD.panel and "output" in written


def test_a_check_that_stopped_says_why(book):
    stopped = replace(RECORD, note="It took too long.", says="", panel="", cases=())
    (submission,) = book.submissions
    stopped_submission = replace(submission, records={"n-double": stopped})
    assert results.reveal(book.exercises[0], stopped_submission, "panels") == [
        stopped.note,
        ASPECTS,
    ]


def test_prairielearn_gets_a_share(book):
    (submission,) = book.submissions
    report = json.loads(results.prairielearn(book, submission, "points"))
    assert report["score"] == pytest.approx(1 / 6) and report["gradable"]
    assert [t["points"] for t in report["tests"]] == [1, 0]


def test_nobody_s_words_are_more_than_text_in_a_table(book):
    note = "E: </table><h1>6 of 6 points</h1> \\| 6 [paid](http://x.example) `a`"
    stopped = replace(RECORD, note=note, says="", panel="", cases=())
    (submission,) = book.submissions
    stopped_submission = replace(submission, records={"n-double": stopped})
    table = results.text(book, stopped_submission, "panels")
    (row,) = [line for line in table.splitlines() if "n-double" in line]
    assert row.count("|") == 4 and not set("<[\\") & set(row.replace("<br>", ""))
    assert html.unescape(row).count(note) == 1


@pytest.mark.parametrize("end", ["\r", "\n", "\x0b", "\x85", "\u2028"])
def test_nobody_s_words_begin_a_row_of_a_table(book, end):
    forged = f"E: no{end}| n-why | 4 of 4 | |"
    stopped = replace(RECORD, note=forged, says=forged, panel="", cases=())
    (submission,) = book.submissions
    stopped_submission = replace(submission, records={"n-double": stopped})
    before = results.text(book, submission, "panels").splitlines()
    assert len(results.text(book, stopped_submission, "panels").splitlines()) == len(
        before
    )


def test_a_hosted_ci_gets_a_table(book):
    (submission,) = book.submissions
    table = results.text(book, submission, "panels")
    assert "**1 of 6 points**" in table
    assert "| n-double | 1 of 2 | You tripled." in table
    assert "not graded yet of 4" in table
