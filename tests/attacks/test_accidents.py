"""Every honest accident ends in full points."""

from __future__ import annotations

import sys

import pytest

from tests.attacks.accidents import ACCIDENTS
from tests.attacks.batches import batches, faults, hand_in_accidents, losses, names

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sandboxes need Linux")


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("accidents", batches(ACCIDENTS), ids=names)
def test_no_accident_of_the_bank_costs_anything(accidents, pristine, tmp_path):
    course = pristine.copy_to(tmp_path / "course")
    hand_in_accidents(course, accidents)
    assert course.grade().told() == []
    assert losses(course, accidents) + faults(course) == []


def test_the_bank_is_wide_and_its_names_are_unique():
    assert len(ACCIDENTS) >= 25
    assert len({accident.student for accident in ACCIDENTS}) == len(ACCIDENTS)
