"""How submissions fared, in words that a person reads after a run."""

from autograder.grading.intake import Repair
from autograder.grading.outcome import Outcome, changes, outcome, summary

KNOWN = {"repairs": [], "refused": "", "scores": {"double": 2.0, "triple": 3.0}}


def test_a_run_is_counted_in_a_fixed_order_without_zeros():
    fared = [
        Outcome("ada", "refused"),
        Outcome("bob", "graded"),
        Outcome("cyd", "graded"),
    ]
    assert summary(fared) == "2 graded, 1 refused"
    assert summary([]) == "nothing to do"


def test_a_reason_makes_it_refused_whatever_came_of_the_run():
    fared = outcome("ada", "graded", {**KNOWN, "refused": "no notebook"}, {})
    assert (fared.status, fared.needs_person) == ("refused", True)
    assert str(fared) == "ada: refused: no notebook"


def test_repairs_are_told_behind_the_reason():
    fared = Outcome("ada", "graded", repairs=(Repair("name", "It was renamed."),))
    assert str(fared) == "ada: graded; put right: It was renamed."


def test_only_scores_that_were_there_before_can_change():
    before = {"scores": {"double": 1.0, "why": None}}
    fared = outcome("ada", "graded", KNOWN, before)
    assert fared.changes == {"double": (1.0, 2.0)}
    assert changes([fared, Outcome("bob", "graded")]) == [
        "student  graded cell  before  after",
        "ada      double            1      2",
    ]
    assert changes([Outcome("bob", "graded")]) == []
