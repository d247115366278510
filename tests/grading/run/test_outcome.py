"""How submissions fared, in words that a person reads after a run."""

import logging
from dataclasses import replace

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from autograder.grading.intake import Repair
from autograder.grading.judge.verdict import Verdict
from autograder.grading.metadata import GradingMetadata
from autograder.grading.run.outcome import (
    Outcome,
    above_bar,
    out_of_time,
    outcome_of,
    summary,
)
from autograder.sandbox.ending import EndReason

KNOWN = GradingMetadata(scores={"double": 2.0, "triple": 3.0}, id="a1")


def test_a_run_is_counted_in_a_fixed_order_without_zeros():
    fared = [Outcome("ada", "refused"), *[Outcome("bob", "graded")] * 2]
    assert summary(fared) == "2 graded, 1 refused"
    assert summary([]) == "nothing to do"


def test_a_reason_makes_it_refused_whatever_came_of_the_run():
    fared = outcome_of("ada", "graded", replace(KNOWN, refused="no notebook"))
    assert (fared.status, fared.needs_person) == ("refused", True)
    assert str(fared) == "ada: refused: no notebook"


def test_repairs_are_told_and_of_which_submission_it_is():
    fared = Outcome("ada", "graded", repairs=(Repair("name", "It was renamed."),))
    assert str(fared) == "ada: graded; put right: It was renamed."
    assert outcome_of("ada", "up to date", KNOWN).id == "a1"
    assert outcome_of("ada", "undecided", GradingMetadata()).id == ""


@pytest.mark.parametrize(("level", "name"), [("INFO", "bar"), ("DEBUG", "bar.above")])
def test_a_line_is_made_only_if_somebody_prints_it(level, name):
    log, handler = logging.getLogger("autograder.tests.bar"), logging.StreamHandler()
    log.propagate = False
    handler.setLevel(level)
    log.addHandler(handler)
    inner = logging.getLogger(f"autograder.tests.{name}")
    inner.setLevel(logging.DEBUG)
    with above_bar(inner):
        assert inner.isEnabledFor(logging.DEBUG) == (level == "DEBUG")
        assert inner.isEnabledFor(logging.INFO)
    assert inner.level == logging.DEBUG
    log.removeHandler(handler)


def test_what_did_not_end_in_time_is_named_once():
    timeout = new_output("error", ename="CellTimeoutError", evalue="", traceback=[])
    check = new_code_cell("check()", outputs=[timeout])
    check.metadata["nbgrader"] = {"grade_id": "numbers-double"}
    answer = new_code_cell("while True: pass", outputs=[timeout])
    notebook = new_notebook(cells=[new_code_cell("1"), answer, check])
    late = Verdict("numbers/double", 0.0, 2.0, ended=EndReason.CPU_TIME)
    stub = Verdict("numbers/triple", 0.0, 2.0, ended=EndReason.STUB)
    GradingMetadata({"numbers-double": late, "numbers-triple": stub}).store_in(notebook)
    assert out_of_time(notebook, GradingMetadata.of(notebook)) == [
        "numbers-double",
        "cell 2 (while True: pass)",
    ]
