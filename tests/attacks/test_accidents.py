"""Every honest accident ends in full points."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import pytest

from tests.attacks.accident import Accident
from tests.attacks.accidents import ACCIDENTS
from tests.attacks.batches import batches, faults, names
from tests.attacks.course import Course
from tests.attacks.leaking import scripts
from tests.attacks.material import INSIDE, JUDGED, POINTS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sandboxes need Linux")

FULL = {name: POINTS[name] for name in (*JUDGED, INSIDE)}


def chosen() -> list[Accident]:
    """A few for every day; all of them are slow."""
    names = {
        "warnings",
        "a copied answer",
        "saved by Colab as 4.0",
        "metadata lost",
        "a second download",
        "packages installed",
    }
    return [accident for accident in ACCIDENTS if accident.name in names]


def befallen(pristine: Course, root, accidents: Sequence[Accident]) -> list[str]:
    """What the accidents cost, or left behind."""
    course = pristine.copy_to(root)
    for accident in accidents:
        accident.hand_in(course.release(), course.folder(accident.student))
    effects = course.grade().told()
    scores = course.scores()
    for accident in accidents:
        earned = {n: scores.get(accident.student, {}).get(n) for n in FULL}
        if earned != FULL:
            effects.append(f"{accident.name}: earned {earned}")
        page = course.feedback(accident.student)
        if not page or scripts(page) or "could not be graded" in page:
            effects.append(f"{accident.name}: feedback {scripts(page)}")
        if "Ada L" in course.graded(accident.student):
            effects.append(f"{accident.name}: a name is still in it")
    return effects + faults(course)


@pytest.mark.parametrize("accidents", batches(chosen()), ids=names)
def test_common_accidents_cost_nothing(accidents, pristine, tmp_path):
    assert befallen(pristine, tmp_path / "course", accidents) == []


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("accidents", batches(ACCIDENTS), ids=names)
def test_no_accident_of_the_bank_costs_anything(accidents, pristine, tmp_path):
    assert befallen(pristine, tmp_path / "course", accidents) == []


def test_the_bank_is_wide_and_its_names_are_unique():
    assert len(ACCIDENTS) >= 25
    assert len({accident.student for accident in ACCIDENTS}) == len(ACCIDENTS)
