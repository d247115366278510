"""Mutants of each kind cost what the table says, and the guide prints that table."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

import pytest

from autograder.authoring.cases import fresh_cases
from autograder.authoring.catalogue import specification, specifications
from autograder.authoring.points_by_aspect import price_table
from autograder.authoring.specification import Variant
from autograder.authoring.variants import argument_names, build_object, solution_source
from autograder.checks.compare import judge
from autograder.checks.exercise import Case, CheckResult, Exercise
from autograder.checks.observe import observe
from autograder.checks.prices import FIFTH, HALF, RENAMED_ARGUMENT, TENTH
from autograder.checks.probes import find
from autograder.course import ROOT, units

# By kind: how mutants of it are called in all units, and from where to where they cost.
KINDS = {
    "no gradient": (r"detached|detached_\w+|\w+_detached|no_gradient\w*", HALF, 1.0),
    "a changed argument": (
        r"in_place(_all|_data|_in_eval_mode)?|\w*(argument|ids|rewards|positions|logits|"
        r"advantages|rejected|caller|rows|table)_changed",
        HALF, 1.0,
    ),
    "NaN": (r"overflow|hidden_nan|nan_of_an_empty_batch|empty_row_is_nan", HALF, 1.0),
    "state of an earlier call": (
        r"remembered|hooks_stay|mask_kept|memory_kept|shared_buffers|"
        r"cache_in_the_layer|gradients_add_up|table_grows",
        HALF, 1.0,
    ),
    "a wrong result": (
        r"unscaled|inverted|transposed|sign|first_sentence|heads_reversed|interleaved|"
        r"not_divided|one_off|keys_as_values|wrong_group|backwards|sum|no_mask",
        HALF, 1.0,
    ),
    "dropout and its mode": (r"dropout_always|no_dropout|dropout_missing", FIFTH, 1.0),
    "start values": (
        r"starts_(alike|large)|heads_start_alike|start_not_random", FIFTH, FIFTH
    ),
    "a dtype": (
        r"double|other_dtype|int32|integers|combined_integers|padding_in_integers|"
        r"triangle_in_floats|in_float32_without_a_mask|stays_wide|(zeros|result)_in_float32",
        TENTH, FIFTH,
    ),
    "a name": (r"numbers_not_kept|base_not_kept", TENTH, FIFTH),
    "an unusual input": (
        r"masked_scores_minus_10000|closed_by_a_sum|fill_minus_(hundred|a_million)|"
        r"k_must_fit|temperature_bounded|padding_by_its_row|later_of_equal",
        TENTH, FIFTH,
    ),
    "a result handed out again": (r"matrix_kept|shared", TENTH, FIFTH),
    "a promised error": (
        r"(odd|one|uneven|zero_temperature)_accepted|not_refused|an_assertion|"
        r"only_(negative|zero|too_many)_refused|odd_asserted",
        TENTH, FIFTH,
    ),
}  # fmt: skip
FAST = ("attention/softmax", "attention/masks", "since_2017/grouped_attention")


@functools.lru_cache(maxsize=4)
def prepared(name: str) -> tuple[Exercise, tuple[Case, ...]]:
    """An exercise of 100 points, and fresh cases of it."""
    task = specification(name)
    exercise = Exercise(
        name, task.target, 100.0, (),
        separate=task.separate, arguments=argument_names(task),
    )  # fmt: skip
    return exercise, tuple(fresh_cases(task, "prices"))


def verdict(name: str, variant: Variant) -> CheckResult:
    answer, probe = build_object(specification(name), variant), find(name)
    exercise, cases = prepared(name)
    return judge(exercise, cases, lambda c: observe(probe, answer, dict(c.inputs)))


def of_a_kind(name: str) -> Iterator[tuple[str, Variant]]:
    """The mutants of an exercise whose name tells their kind."""
    for mutant in specification(name).mutants:
        for variant in mutant.variants:
            for kind, (pattern, *_) in KINDS.items():
                if re.fullmatch(pattern, variant.name):
                    yield kind, variant


def mispriced(name: str) -> list[str]:
    """The mutants of an exercise that cost more or less than the table says."""
    wrong = []
    for kind, variant in of_a_kind(name):
        result = verdict(name, variant)
        _, least, most = KINDS[kind]
        lost = 1 - result.points / 100
        if specification(name).separate and kind == "a wrong result":
            least = 0.0
        if not least - 0.001 <= lost <= most + 0.001:
            wrong.append(f"{name}.{variant.name}, {kind}: {lost:.1%} {result.aspects}")
    return wrong


@pytest.mark.parametrize("name", FAST)
def test_a_mutant_costs_the_price_of_its_kind(name):
    assert not mispriced(name)


@pytest.mark.slow
@pytest.mark.parametrize("unit", [unit.name for unit in units()])
def test_all_mutants_of_a_kind_cost_its_price(unit):
    names = [task.name for task in specifications(unit)]
    assert not [line for name in names for line in mispriced(name)]


def test_each_kind_has_mutants():
    names = {
        variant.name
        for unit in units()
        for task in specifications(unit.name)
        for mutant in task.mutants
        for variant in mutant.variants
    }
    for kind, (pattern, *_) in KINDS.items():
        assert any(re.fullmatch(pattern, name) for name in names), kind


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("since_2017/rms_norm", "eps", "epsilon"),
        ("assistant/group_advantages", "eps", "epsilon"),
        ("positional_encoding/embed", "padding_idx", "pad"),
    ],
)
def test_a_renamed_argument_costs_its_price(name, old, new):
    code = re.sub(rf"\b{old}\b", new, solution_source(specification(name)))
    result = verdict(name, Variant(name="renamed", source=code))
    assert result.points == pytest.approx(100 * (1 - RENAMED_ARGUMENT))
    assert result.mistake and f"`{new}` is called `{old}`" in result.mistake.says


def test_the_guide_for_students_prints_the_table():
    guide = (ROOT / "docs" / "student.md").read_text(encoding="utf-8")
    assert price_table() in guide


def test_only_several_tasks_in_one_are_exempt_with_a_reason():
    exempt = {
        task.name: task.separate
        for unit in units()
        for task in specifications(unit.name)
        if task.separate
    }
    assert all(len(reason.split()) > 3 for reason in exempt.values())
    assert exempt.keys() == {
        "attention/masks",
        *(name for unit in units() for name in [f"{unit.name}/bug_clinic"]
          if name in {task.name for task in specifications(unit.name)}),
    }  # fmt: skip
