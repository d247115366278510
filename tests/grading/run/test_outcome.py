"""How submissions fared, in words that a person reads after a run."""

import logging
from dataclasses import replace

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
    fared = [
        Outcome("ada", "refused"),
        Outcome("bob", "graded"),
        Outcome("cyd", "graded"),
    ]
    assert summary(fared) == "2 graded, 1 refused"
    assert summary([]) == "nothing to do"


def test_a_reason_makes_it_refused_whatever_came_of_the_run():
    fared = outcome_of("ada", "graded", replace(KNOWN, refused="no notebook"))
    assert (fared.status, fared.needs_person) == ("refused", True)
    assert str(fared) == "ada: refused: no notebook"


def test_repairs_are_told_behind_the_reason():
    fared = Outcome("ada", "graded", repairs=(Repair("name", "It was renamed."),))
    assert str(fared) == "ada: graded; put right: It was renamed."


def test_it_says_of_which_submission_it_is():
    assert outcome_of("ada", "up to date", KNOWN).id == "a1"
    assert outcome_of("ada", "undecided", GradingMetadata()).id == ""


def test_no_line_is_made_that_nobody_prints():
    log = logging.getLogger("autograder.tests.bar")
    log.propagate, handler = False, logging.StreamHandler()
    handler.setLevel(logging.INFO)
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    with above_bar(log):
        assert not log.isEnabledFor(logging.DEBUG)
        assert log.isEnabledFor(logging.INFO)
    assert log.level == logging.DEBUG


def test_a_line_that_somebody_above_prints_is_made():
    log = logging.getLogger("autograder.tests.above")
    above = log.parent
    handler = logging.StreamHandler()
    handler.setLevel(logging.DEBUG)
    above.addHandler(handler)
    log.setLevel(logging.DEBUG)
    try:
        with above_bar(log):
            assert log.isEnabledFor(logging.DEBUG)
    finally:
        above.removeHandler(handler)


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
