"""Mutation testing of the checks, as ``autograder validity`` reports it."""

import pytest

from autograder.cli import main
from autograder.course import units
from autograder.validity import measure, total, uneven
from tests.conftest import by_cost

LEAST = {"01": (40, 18), "02": (60, 25), "03": (45, 18), "04": (50, 18),
         "05": (45, 15), "06": (50, 20)}  # wrong variants and right styles  # fmt: skip


@pytest.mark.parametrize("unit", by_cost(first_slow="05"))
def test_wrong_variants_are_caught_and_named_and_right_styles_accepted(unit):
    rows = list(measure(unit.name))
    whole, (wrong, right) = total(rows), LEAST[unit.number]
    failures = [line for row in rows for line in row.failures]
    assert whole.wrong >= wrong and whole.right >= right
    assert whole.caught == whole.wrong, failures
    assert whole.accepted == whole.right, failures
    assert whole.named >= 0.95 * whole.wrong, failures
    for row in rows:
        assert row.wrong >= 3 and row.right >= 1, f"{row.name} is hardly tested"


@pytest.mark.slow
@pytest.mark.parametrize("unit", units()[:5], ids=lambda unit: unit.label)
def test_a_mistake_costs_the_same_whatever_is_drawn(unit):
    assert list(uneven(unit.name, draws=6)) == []


def test_variants_have_distinct_names_and_something_to_say():
    from autograder.bank import evaluate

    for unit in units():
        for task in evaluate.tasks(unit.name):
            names = [variant.name for variant in (*task.wrong, *task.right)]
            assert len(set(names)) == len(names), task.name
            named = {wrong.name for wrong in evaluate.named(task)}
            for wrong in task.wrong:
                assert wrong.like in named if wrong.like else wrong.says and wrong.asks


def test_the_command_prints_a_row_an_exercise_and_a_total(capsys):
    assert main(["validity", units()[0].name]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "wrong caught" in lines[0] and lines[-1].startswith("total")


def test_an_unknown_unit_is_a_plain_error(capsys):
    assert main(["validity", "no_such_unit"]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "there are 01_positional_encoding" in error
