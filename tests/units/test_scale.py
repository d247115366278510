"""What BLEU is worth grows without steps, and the sentences are fresh ones."""

from __future__ import annotations

import itertools
import json

import pytest

from autograder.authoring.cases import fresh_cases
from autograder.checks.measures import credit
from autograder.library import corpora
from autograder.library.pipeline import damage
from autograder.units.text_recovery.library import scale
from autograder.units.text_recovery.library.scale import EMBEDDED, Marks
from tests.units.handed_in import CASE, TASK


@pytest.mark.parametrize("marks", EMBEDDED.values(), ids=EMBEDDED)
def test_points_grow_without_steps(marks):
    shares = [credit(bleu / 10, marks.scale()) for bleu in range(1001)]
    assert shares == sorted(shares) and shares[-1] == 13 / 12
    assert max(b - a for a, b in itertools.pairwise(shares)) < 0.03
    assert credit(max(marks.copy, marks.rule), marks.scale()) == 0.0
    assert credit(marks.inserter, marks.scale()) == pytest.approx(0.5)
    assert credit(marks.full, marks.scale()) == pytest.approx(1.0)
    assert credit(marks.reference, marks.scale()) == pytest.approx(1.0)


def test_where_the_reference_is_an_estimate_nothing_is_worth_more_than_all_points():
    train = [(f"cat {i} sat", f"The cat {i} sat on a mat.") for i in range(50)]
    test = [(f"dog {i} sat", f"The dog {i} sat on a mat.") for i in range(50)]
    marks = scale.of_own(train, test)
    assert marks.copy < marks.rule < marks.inserter < marks.full < marks.reference
    assert credit(100.0, marks.scale()) == 1.0
    assert marks.reference == pytest.approx(
        marks.inserter + 0.25 * (100 - marks.inserter)
    )


def test_a_baseline_that_knows_nothing_leaves_a_scale():
    marks = Marks(copy=10.0, rule=12.0, inserter=3.0, reference=34.0, measured=False)
    values = [value for value, _ in marks.scale()]
    assert values == sorted(set(values)) and values[0] == 12.0


def test_fresh_sentences_are_none_of_the_training_data():
    known = {damage(text, 2) for text in corpora.embedded()["train"]}
    originals = json.loads(str(CASE.inputs["originals"]))
    assert len(originals) == 1000
    assert not any(damage(text, 2) in known for text in originals)


def test_another_submission_gets_other_sentences():
    other = fresh_cases(TASK, "another secret")[0]
    assert other.inputs["originals"] != CASE.inputs["originals"]
