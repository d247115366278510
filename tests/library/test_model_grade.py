"""The model's grade: fresh sentences, in time, and not for what everybody has."""

from __future__ import annotations

import itertools
import json
import time

import pytest
import torch

from autograder.authoring.cases import fresh_cases
from autograder.authoring.variants import build_object
from autograder.checks.measures import credit, value_of
from autograder.library import corpora
from autograder.library.abilities import left
from autograder.units.text_recovery.exercises.model import EXERCISE, SCALE

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def case():
    torch.set_num_threads(1)
    return fresh_cases(EXERCISE, "a secret of this test")[0]


def answers(variant: str | None, case) -> dict:
    mutants = {m.name: m.ways[0] for m in EXERCISE.mutants}
    made = build_object(EXERCISE, mutants.get(variant))
    texts = made(json.loads(case.inputs["sources"]))
    return {"bleu": json.dumps(texts[::-1] if variant == "reversed" else texts)}


def test_the_originals_never_enter_the_box(case):
    sources = json.loads(case.inputs["sources"])
    originals = json.loads(case.expected["bleu"])
    assert list(case.inputs) == ["sources"] and len(sources) == 1000
    assert sources == [left(text) for text in originals]


def test_fresh_sentences_are_none_of_the_training_data(case):
    known = {left(text) for text in corpora.embedded()["train"]}
    assert not any(source in known for source in json.loads(case.inputs["sources"]))


def test_another_submission_gets_other_sentences(case):
    other = fresh_cases(EXERCISE, "another secret")[0]
    assert other.inputs["sources"] != case.inputs["sources"]


def test_the_reference_gets_every_point_within_a_minute(case):
    started = time.process_time()
    given = answers(None, case)
    assert time.process_time() - started < 60
    assert 1.0 <= credit(value_of("bleu", case.expected, given), SCALE) < 1.05


@pytest.mark.parametrize("variant", ["copy", "rule", "empty", "shipped", "reversed"])
def test_what_earns_nothing(case, variant):
    value = value_of("bleu", case.expected, answers(variant, case))
    assert credit(value, SCALE) == 0.0


def test_points_grow_without_steps():
    shares = [credit(bleu, SCALE) for bleu in range(101)]
    assert shares == sorted(shares) and shares[14] == 0.0 and shares[91] == 1.0
    assert shares[97] == 1.0 < shares[98] and shares[100] == 13 / 12
    assert max(b - a for a, b in itertools.pairwise(shares)) < 0.03
