"""Two known mistakes in one answer are known by sketches of what both answer."""

from __future__ import annotations

from dataclasses import replace

import torch

from autograder.checks.compare import compare
from autograder.checks.exercise import RAISED, Case
from autograder.checks.second_order import SKETCH, WHICH, pairs_that_fit, sketch

X = torch.tensor([1.0, -2.0, 4.0, 0.5])
ANSWERS = {"y": X, "kind": "a float"}


def case(**doubles: dict) -> Case:
    """A case whose pairs are (0, 1), (0, 2), (1, 2), and what each of them answers."""
    sketches = torch.stack([sketch(answers, ("y",)) for answers in doubles.values()])
    pairs = torch.tensor([(0, 1), (0, 2), (1, 2)], dtype=torch.int16)
    stored = {WHICH: pairs, SKETCH: sketches}
    return Case("c", "c", "", {}, {"y": X.abs()}, doubles=stored)


PAIRS = {"a": {"y": 3 * X}, "b": {"y": X + 1}, "c": {RAISED: "ValueError: no"}}


def test_a_sketch_tells_values_places_shapes_dtypes_and_words_apart():
    reference_sketch = sketch(ANSWERS, ANSWERS)
    assert torch.equal(reference_sketch, sketch(dict(ANSWERS), ANSWERS))
    changed_tensors = [X.flip(0), X[None], X.double(), 2 * X, X / 0, None]
    answers = [{**ANSWERS, "y": value} for value in changed_tensors]
    answers += [{**ANSWERS, "kind": "an int"}, {"y": X}]
    for changed_answers in answers:
        changed = sketch(changed_answers, ANSWERS)
        assert not torch.allclose(changed, reference_sketch), changed_answers
    assert sketch({RAISED: "ValueError"}, ANSWERS).isnan().all()


def test_rounding_does_not_matter():
    wide = torch.arange(1000.0).cos()
    near = sketch({"y": wide + 1e-6}, ("y",))
    assert torch.allclose(near, sketch({"y": wide}, ("y",)), atol=1e-3)


def test_the_pair_that_gives_all_answers_fits():
    results = [compare(case(**PAIRS), {"y": 3 * X}) for _ in range(2)]
    assert pairs_that_fit(results) == [(0, 1)]
    assert pairs_that_fit([*results, compare(case(**PAIRS), {"y": X + 1})]) == []


def test_what_raised_in_both_is_no_evidence():
    assert pairs_that_fit([compare(case(**PAIRS), {RAISED: "ValueError: no"})]) == []


def test_cases_without_sketches_and_right_ones_alone_say_nothing():
    bare = replace(case(**PAIRS), doubles={})
    assert pairs_that_fit([compare(bare, {"y": 3 * X})]) == []
    assert pairs_that_fit([compare(case(**PAIRS), {"y": X.abs()})]) == []


def test_all_cases_have_to_show_the_same_variants_of_a_pair():
    """One variant in one case and another one in the next are two programs."""
    pairs = torch.tensor([(0, 1), (0, 1)], dtype=torch.int16)
    rows = [sketch({"y": factor * X}, ("y",)) for factor in (3, 5)]
    results = [
        compare(replace(case(**PAIRS), doubles={WHICH: pairs, SKETCH: torch.stack(s)}),
                {"y": 3 * X})
        for s in (rows, rows[::-1])
    ]  # fmt: skip
    assert pairs_that_fit(results[:1]) == pairs_that_fit(results[1:]) == [(0, 1)]
    assert pairs_that_fit(results) == []
