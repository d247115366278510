"""A class for every day: an attack of each group, and honest accidents beside them.

All others are slow, in batches of their own. Two runs would cost the start of every
process twice.
"""

from __future__ import annotations

import sys

import pytest

from tests.attacks.accidents import ACCIDENTS
from tests.attacks.attack import Attack
from tests.attacks.bank import BANK
from tests.attacks.batches import hand_in_accidents, losses, objections
from tests.attacks.material import INSIDE, POINTS, SEES, SOFTMAX, SOLUTIONS
from tests.attacks.ready_made import CODE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sandboxes need Linux")

ONE_OF_EACH_GROUP = {
    "input transformer", "comparison replaced", "course folder searched",
    "process that outlives", "parent stopped", "script in an output", "huge tensor",
    "a pipe", "verdict panel overwritten",
}  # fmt: skip
COMMON = {
    "warnings", "a copied answer", "saved by Colab as 4.0", "metadata lost",
    "a second download", "packages installed",
}  # fmt: skip
(THEIRS,) = CODE["attention/who_sees_whom"]
READY_MADE = Attack("", "ready made", answers={**SOLUTIONS, SEES: THEIRS})


def test_an_attack_of_each_group_gains_nothing_and_accidents_cost_nothing(
    pristine, tmp_path
):
    attacks = [attack for attack in BANK if attack.name in ONE_OF_EACH_GROUP]
    accidents = [accident for accident in ACCIDENTS if accident.name in COMMON]
    assert len(attacks) == len({attack.group for attack in attacks}) == 9
    assert len(accidents) == len(COMMON)
    course = pristine.copy_to(tmp_path / "course")
    course.hand_in_companions()
    for attack in (*attacks, READY_MADE):
        attack.hand_in(course.release(), course.folder(attack.student))
    hand_in_accidents(course, accidents)
    traces = course.grade()
    assert objections(course, traces, attacks) == []
    assert losses(course, accidents) == []
    scores = course.scores()[READY_MADE.student]
    full = {SOFTMAX: POINTS[SOFTMAX], SEES: 0.0, INSIDE: POINTS[INSIDE]}
    assert {name: scores[name] for name in full} == full
    page = course.feedback(READY_MADE.student)
    assert "checks.probes.moving</code> is what this exercise asks you to write" in page
