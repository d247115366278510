"""What BLEU is worth grows without steps, and the sentences are fresh ones."""

from __future__ import annotations

import itertools
import json

import pytest

from autograder.authoring.cases import fresh_cases
from autograder.checks.measures import credit
from tests.transformer_course.handed_in import TASK, originals
from transformer_course.library import corpora
from transformer_course.library.pipeline import damage
from transformer_course.text_recovery.library import scale
from transformer_course.text_recovery.library.scale import EMBEDDED

MEASURED = {2: (90.8, 95.5), 3: (82.0, 87.8)}  # BLEU of baseline and reference


@pytest.mark.parametrize("marks", EMBEDDED.values(), ids=EMBEDDED)
def test_points_grow_without_steps(marks):
    shares = [credit(bleu / 100, marks.scale()) for bleu in range(10_001)]
    assert shares == sorted(shares)
    assert max(b - a for a, b in itertools.pairwise(shares)) < 0.003
    assert credit(max(marks.copy, marks.rule), marks.scale()) == 0.0
    assert credit(marks.inserter, marks.scale()) == pytest.approx(1 / 6)


@pytest.mark.parametrize("level", [2, 3])
def test_the_runs_that_are_given_earn_a_third_and_two_thirds(level):
    """On the means of several test sets; docs/recovery_grade.md has them."""
    baseline, reference = MEASURED[level]
    scale = EMBEDDED[level].scale()
    assert credit(baseline, scale) == pytest.approx(1 / 3, abs=0.03)
    assert credit(reference, scale) == pytest.approx(2 / 3, abs=0.07)
    full, share = EMBEDDED[level].full
    assert share == 1 and full > reference + 1
    assert credit(100.0, scale) == 13 / 12


def test_level_1_is_too_easy_for_all_points():
    assert EMBEDDED[1].full[1] == credit(100.0, EMBEDDED[1].scale()) == 2 / 3


def test_nothing_on_a_corpus_of_ones_own_is_worth_more_than_all_points():
    train = [(f"cat {i} sat", f"The cat {i} sat on a mat.") for i in range(50)]
    test = [(f"dog {i} sat", f"The dog {i} sat on a mat.") for i in range(50)]
    marks = scale.marks_of_own_corpus(train, test)
    full, share = marks.full
    assert marks.copy < marks.rule < marks.inserter < full < 100 and share == 1
    assert credit(100.0, marks.scale()) == 1.0
    assert credit(marks.inserter, marks.scale()) == 0.5


def test_a_baseline_that_knows_nothing_leaves_a_scale():
    pairs = [(f"a{i} b{i}", f"x{i} y{i} z{i} w{i}") for i in range(40)]
    values = [value for value, _ in scale.marks_of_own_corpus(pairs, pairs).scale()]
    assert values == sorted(set(values)) and values[1] == values[0] + 2


def test_another_submission_gets_other_sentences_and_none_of_the_training_data():
    fresh = fresh_cases(TASK, "another secret")[0]
    texts = json.loads(str(fresh.inputs["originals"]))
    assert len(texts) == 1000 and texts[-len(originals()) :] != originals()
    damaged = {damage(text, 2) for text in corpora.embedded()["train"]}
    assert not any(damage(text, 2) in damaged for text in (*texts, *originals()))
