"""What leaves the judge: a verdict and its evidence, cut to what can be kept."""

import json

import torch

from autograder.checks.compare import compare, judge
from autograder.checks.exercise import RAISED, Case, Exercise, Other
from autograder.grading.judge.rendered import evidence_of, value_as_text, verdict_of
from autograder.grading.judge.verdict import CaseEvidence

RAISES = Case("c", "a vector", "", {}, {"twice": "4"})


def test_a_record_keeps_what_was_measured_on_fresh_sentences_only():
    measure = {"measure": "recovery", "scale": ((0, 0), (100, 1))}
    cases = [
        Case("c", "fresh", "", {}, {}, hidden=hidden, **measure)
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


def evidence(answers):
    inputs, expected = {"x": torch.arange(3.0)}, {"y": torch.zeros(3)}
    case = Case("small", "a small case", "", inputs, expected)
    return evidence_of(compare(case, answers))


def test_a_wrong_result_stands_beside_the_expected_one():
    case = evidence({"y": torch.tensor([0.0, 0.0, 2.5])})
    (pair,) = case.comparisons
    assert case.inputs == {"x": "float32, shape (3,)\n[0. 1. 2.]"} and case.credit == 0
    assert pair.answer == "float32, shape (3,)\n[0.  0.  2.5]"
    assert "1 of 3 numbers differ" in pair.difference
    assert CaseEvidence.from_json(case.to_json()) == case


def test_inputs_of_several_calls_are_named_by_what_each_call_is_for():
    parts = [
        {"way": "probe", "inputs": "0/", "label": "at first"},
        {"way": "probe", "inputs": "1/", "label": "with other numbers"},
        {"way": "probe", "inputs": "0/", "label": "again at the end"},
    ]
    inputs = {"property": json.dumps({"call": {}, "parts": parts})}
    inputs |= {f"{n}/x": torch.arange(3.0) for n in range(3)}
    case = Case("calls", "several in turn", "", inputs, {"y": torch.zeros(3)})
    result = evidence_of(compare(case, {"y": torch.zeros(3)}))
    assert list(result.inputs) == ["x, at first", "x, with other numbers", "2/x"]


def test_evidence_is_short_and_printable_whatever_a_student_says():
    (pair,) = evidence({RAISED: "no\x1b[31m\u2028" + "x" * 9999}).comparisons
    assert pair.answer == "an error" and len(pair.difference) < 1600
    assert all(line.isprintable() for line in pair.difference.splitlines())
    assert value_as_text(Other("a\x1b")) == "of type a?" and value_as_text(None) == ""
    text = value_as_text(torch.zeros(100, 100, dtype=torch.bfloat16))
    assert text.startswith("bfloat16, shape (100, 100)") and len(text) < 200
