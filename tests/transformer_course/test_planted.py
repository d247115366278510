"""What a case tells by construction, and so in every drawing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from autograder.authoring.answers import (
    build_variants,
    expected_answers,
    mistaken_answers,
)
from autograder.authoring.catalogue import specification
from autograder.authoring.draw import Draw
from autograder.authoring.specification import Inputs
from autograder.authoring.variants import build_object
from transformer_course.text_recovery.exercises.beam_search import COUNT
from transformer_course.text_recovery.exercises.learn_merges import _real_counts

_SEARCHES = {
    "small": "first_end_wins ended_stay_live last_end_wins small_steps_lost",
    "wide": "first_end_wins ended_stay_live last_end_wins small_steps_lost "
    "length_off_by_one",
    "no_norm": "small_steps_lost per_prefix",
    "half": "small_steps_lost length_off_by_one",
    "defaults": "length_off_by_one",
    "specials": "small_steps_lost length_off_by_one stops_by_raw_score",
    "other": "first_end_wins ended_stay_live small_steps_lost length_off_by_one",
    "long": "narrow_beam ended_stay_live last_end_wins small_steps_lost",
}


def _planted(case: str) -> Callable[[Draw], Inputs]:
    """A case of the beam search with its planted sentences only."""
    kinds = {
        kind.name: kind for kind in specification("text_recovery/beam_search").cases
    }

    def inputs(draw: Draw) -> Inputs:
        made = dict(kinds[case].inputs(draw))
        source, others = made["source"], len(made["places"]) - COUNT
        return made | {"source": source[source[:, 0] - 4 >= others]}

    return inputs


_TOLD = [
    *(("beam_search", _planted(case), names) for case, names in _SEARCHES.items()),
    ("learn_merges", lambda draw: _real_counts(draw, 60), "each_pair_once"),
]


@pytest.mark.parametrize(("exercise", "inputs", "names"), _TOLD)
def test_whatever_is_drawn_these_mistakes_are_told(
    exercise: str, inputs: Callable[[Draw], Inputs], names: str
) -> None:
    task = specification(f"text_recovery/{exercise}")
    wrong, reference = build_variants(task, names.split()), build_object(task)
    for n in range(4):
        made = inputs(Draw(f"planted {n}"))
        right = {k: str(v) for k, v in expected_answers(task, reference, made).items()}
        for name, given in mistaken_answers(task, wrong, made).items():
            assert {k: str(v) for k, v in given.items()} != right, name
