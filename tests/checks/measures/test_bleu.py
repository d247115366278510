"""Restored texts are worth their BLEU, and a low one is explained."""

from __future__ import annotations

import json

import pytest

from autograder.checks.compare import compare
from autograder.checks.exercise import Case
from autograder.checks.measures import details, measured, value_of
from tests.library.sentences import SENTENCES

ORIGINALS = [f"The baker sold {i} warm cakes in Rome." for i in range(20)]


def test_the_measure_knows_its_scale():
    wanted = json.dumps(SENTENCES * 3)
    assert value_of("bleu", {"bleu": wanted}, {"bleu": wanted}) == pytest.approx(100)
    assert value_of("bleu", {"bleu": wanted}, {"bleu": json.dumps(SENTENCES)}) == 0
    assert value_of("bleu", {"bleu": wanted}, {"bleu": "not JSON"}) == 0


def test_the_shipped_models_answers_earn_nothing():
    wanted = [f"sentence number {i} ." for i in range(100)]
    wrong = range(0, 80, 2)

    def with_errors(word: str, places) -> str:
        return json.dumps(
            [
                f"sentence {word} {i} ." if i in places else t
                for i, t in enumerate(wanted)
            ]
        )

    known = {"bleu": json.dumps(wanted), "copied": with_errors("nr", wrong)}
    assert value_of("bleu", known, {"bleu": with_errors("nr", wrong)}) == 0
    assert (
        "ships with the course"
        in measured("bleu", known, {"bleu": with_errors("nr", range(0, 70, 2))})[1]
    )
    assert value_of("bleu", known, {"bleu": with_errors("nummer", wrong)}) > 30
    assert value_of("bleu", known, {"bleu": with_errors("nr", range(0, 40, 2))}) > 30
    assert value_of("bleu", known, {"bleu": json.dumps(wanted)}) == pytest.approx(100)


def test_details_hold_the_abilities():
    wanted = json.dumps(["Anna baked a cake in the kitchen."])
    found = details("bleu", {"bleu": wanted}, {"bleu": wanted})
    assert found["bleu"] == pytest.approx(100) and found["case"] == 1.0


@pytest.mark.parametrize(
    ("outputs", "says"),
    [
        ([text.lower() for text in ORIGINALS], "lower case"),
        ([text[:9] for text in ORIGINALS], "words on average"),
        ([text + " And" * 9 for text in ORIGINALS], "words on average"),
        (ORIGINALS[::-1], "who restores the order?"),
        ([text.replace("warm", "Warm") for text in ORIGINALS], ""),
    ],
)
def test_a_low_score_says_what_is_wrong_with_the_texts_as_a_whole(outputs, says):
    expected = {"bleu": json.dumps(ORIGINALS)}
    case = Case("c", "fresh", "", {}, expected, measure="bleu", scale=((0, 0), (99, 1)))
    message = compare(case, {"bleu": json.dumps(outputs)}).findings[0].message
    assert "all points from 99 on" in message and says in message
    assert says or message.endswith(" on.")
