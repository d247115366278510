"""Evidence is text: short, printable, and exact enough to follow a verdict."""

from __future__ import annotations

import json

import torch

from autograder.checks.compare import compare
from autograder.checks.exercise import RAISED, Case, Other
from autograder.grading.judge.evidence import as_text, evidence_of
from autograder.grading.judge.verdict import CaseEvidence


def evidence(answers):
    inputs, expected = {"x": torch.arange(3.0)}, {"y": torch.zeros(3)}
    case = Case("small", "a small case", "", inputs, expected)
    (evidence,) = evidence_of([compare(case, answers)])
    return evidence


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
    (result,) = evidence_of([compare(case, {"y": torch.zeros(3)})])
    assert list(result.inputs) == ["x, at first", "x, with other numbers", "2/x"]


def test_what_a_student_says_is_one_printable_text():
    (pair,) = evidence({RAISED: "no\x1b[31m\u2028" + "x" * 9999}).comparisons
    assert pair.answer == "an error" and len(pair.difference) < 1600
    assert all(line.isprintable() for line in pair.difference.splitlines())
    assert as_text(Other("a\x1b")) == "of type a?" and as_text(None) == ""


def test_a_large_tensor_is_cut():
    text = as_text(torch.zeros(100, 100, dtype=torch.bfloat16))
    assert text.startswith("bfloat16, shape (100, 100)") and len(text) < 200
