"""A verdict as a record: what is told of it, cut to what can be kept."""

import json

from autograder.checks.compare import judge
from autograder.checks.exercise import RAISED, Case, Exercise
from autograder.grading.judge.rendered import verdict_of

RAISES = Case("c", "a vector", "", {}, {"twice": "4"})


def test_a_record_keeps_what_was_measured_on_fresh_sentences_only():
    cases = [
        Case(
            "c",
            "fresh",
            "",
            {},
            {},
            hidden=hidden,
            measure="recovery",
            scale=((0, 0), (100, 1)),
        )
        for hidden in (False, True)
    ]
    answers = {
        hidden: {"recovery": json.dumps(numbers | {"says": "BLEU"})}
        for hidden, numbers in (
            (False, {"recovery": 100.0, "bleu": 99.0}),
            (True, {"recovery": 20.0, "bleu": 40.0, "case": 0.0}),
        )
    }
    exercise = Exercise("text_recovery/model", "", 12, tuple(cases))
    verdict = judge(exercise, cases, lambda case: answers[case.hidden])
    scores = verdict_of(verdict).scores
    assert scores == {"recovery": 20.0, "bleu": 40.0, "case": 0.0}
    assert json.loads(json.dumps(verdict_of(verdict).to_json()))["scores"] == scores


def test_of_an_error_that_all_cases_end_in_the_first_line_is_noted_in_short():
    def note(message):
        exercise = Exercise("u/e", "", 2, (RAISES,))
        answers = {RAISED: message}
        return verdict_of(judge(exercise, [RAISES], lambda case: answers)).note

    assert note("ValueError: no\r- 2 points\nin your line 1: f()") == "ValueError: no"
    assert len(note("E" * 5000)) < 400
