"""A verdict as a record: what is told of it, cut to what can be kept."""

from __future__ import annotations

import json

from autograder.grading.judge.told import of_verdict
from autograder.student.compare import judge
from autograder.student.exercise import Case, Exercise

ORIGINALS = [f"The baker sold {i} warm cakes in Rome." for i in range(20)]


def test_a_record_keeps_what_was_measured_on_fresh_sentences_only():
    texts = json.dumps(ORIGINALS)
    cases = [
        Case(
            "c",
            "fresh",
            "",
            {},
            {"bleu": texts},
            hidden=hidden,
            measure="bleu",
            scale=((0, 0), (99, 1)),
        )
        for hidden in (False, True)
    ]
    answers = {False: {"bleu": texts}, True: {"bleu": texts.lower()}}
    exercise = Exercise("text_recovery/model", "", 12, tuple(cases))
    verdict = judge(exercise, cases, lambda case: answers[case.hidden])
    scores = of_verdict(verdict).scores
    assert 10 < scores["bleu"] < 99 and scores["case"] == 0.0
    assert "inflection" not in scores, "nothing asked for it"
    assert json.loads(json.dumps(of_verdict(verdict).to_json()))["scores"] == scores
