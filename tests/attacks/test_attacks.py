"""Every attack ends in nothing, and nobody else notices."""

from __future__ import annotations

import sys

import pytest

from tests.attacks.attack import DESIGN
from tests.attacks.bank import BANK
from tests.attacks.batches import attacked, batches, names, objections
from tests.attacks.material import COMPANIONS
from tests.attacks.seams import SEAMS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sandboxes need Linux")


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("attacks", batches(BANK), ids=names)
def test_no_attack_of_the_bank_gains_anything(attacks, pristine, undisturbed, tmp_path):
    course, traces = attacked(pristine, tmp_path / "course", attacks)
    assert objections(course, traces, attacks, undisturbed) == []


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_who_floods_the_judge_shifts_nobodys_verdict(
    jobs, pristine, undisturbed, tmp_path
):
    floods = [attack for attack in SEAMS if attack.group == DESIGN]
    course = pristine.copy_to(tmp_path / "course")
    with open(course.root / "nbgrader_config.py", "a") as settings:
        settings.write(f"c.Autograde.jobs = {jobs}\n")
    course, traces = attacked(course, tmp_path / "run", floods)
    assert objections(course, traces, floods, undisturbed) == []


def test_the_bank_is_wide_and_its_names_are_unique():
    assert len(BANK) >= 75
    assert len({attack.student for attack in BANK}) == len(BANK)
    assert len({attack.group for attack in BANK}) == 9
    assert all(COMPANIONS[0] < attack.student < COMPANIONS[1] for attack in BANK)
