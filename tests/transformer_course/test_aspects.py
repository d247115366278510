"""Each label that a probe can give has an aspect, and each declared one is given."""

import functools
from collections.abc import Iterator
from fnmatch import fnmatchcase

import pytest

from autograder.authoring.catalogue import specifications
from autograder.checks.exercise import RAISED
from autograder.checks.naming import PATTERN
from autograder.checks.prices import PRICES
from autograder.checks.probes import OWN, find
from autograder.checks.probes.default import DEFAULT
from autograder.checks.properties import CHANGED_LATER, what_was_seen
from autograder.checks.references import load
from autograder.course import units

UNITS = [unit.name for unit in units()]
# What no probe of an exercise says: an error, the short form of wrong answers, and what
# a general property adds.
NO_LABELS = {RAISED, PATTERN, CHANGED_LATER}


@functools.cache
def stored(unit: str, kind: str):
    """The exercises of a unit, read once."""
    return load(unit, kind)


def cases(unit: str, name: str):
    """The stored cases of an exercise."""
    return [c for kind in ("public", "hidden") for c in stored(unit, kind)[name].cases]


def labels(unit: str, name: str) -> Iterator[str]:
    """What the probe of an exercise reports of right and of wrong answers.

    In turn it is tried as a general property, too; other properties have labels of
    their own.
    """
    for case in cases(unit, name):
        if not case.says or case.name == "property_sequence":
            for answers in (case.expected, *case.mistakes.values()):
                yield from (what_was_seen(label)[0] for label in answers)


@pytest.mark.parametrize("unit", UNITS)
def test_every_label_has_a_declared_aspect(unit):
    for task in specifications(unit):
        reported_labels = set(labels(unit, task.name)) - NO_LABELS
        assert reported_labels, task.name
        for label in reported_labels:
            aspect = find(task.name).aspect(label)  # or it raises, with the label
            assert aspect in {OWN, *PRICES, *task.part_names}, (task.name, label)


@pytest.mark.parametrize("unit", UNITS)
def test_every_declared_name_is_reported_and_every_part_weighs_something(unit):
    for task in specifications(unit):
        reported_labels, reports = set(labels(unit, task.name)), find(task.name).reports
        if find(task.name) is DEFAULT:  # which declares what most exercises report
            assert set(task.part_names) <= reported_labels, task.name
            continue
        for name in (name for names in reports.values() for name in names):
            assert any(fnmatchcase(label, name) for label in reported_labels), (
                task.name,
                name,
            )
        parts = reports.keys() - {OWN, *PRICES}
        assert parts == set(task.part_names), task.name


@pytest.mark.parametrize("unit", UNITS)
def test_the_cases_of_a_property_count_for_its_aspect(unit):
    aspects = {
        case.name: {case.aspect_of(label) for label in case.expected}
        for task in specifications(unit)
        for case in cases(unit, task.name)
        if case.says
    }
    small = {aspect for aspect, price in PRICES.items() if price.small}
    assert aspects.pop("property_sequence") - small == {"calls"}
    for case_aspects in aspects.values():
        assert len(case_aspects) == 1 and case_aspects <= PRICES.keys()
    assert aspects.get("property_gradient", {"gradients"}) == {"gradients"}


def test_recorded_gradients_cost_what_learns_wherever_they_are_looked_at():
    looked_at = {
        task.name: {find(task.name).aspect(label) for label in gradient_labels}
        for unit in UNITS
        for task in specifications(unit)
        if (gradient_labels := [n for n in labels(unit, task.name) if _records(n)])
    }
    assert looked_at.keys() == {
        "sequence_reversal/greedy_decode",
        "sequence_reversal/greedy_sequence",
        "text_recovery/beam_search",
    }
    assert all(aspects == {"learning"} for aspects in looked_at.values())


def _records(label: str) -> bool:
    return "gradients" in label and "recorded" in label and "afterwards" not in label
