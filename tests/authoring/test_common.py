"""Mistakes that recur are said once, in the table, and each row is worth its place."""

from collections import Counter

import pytest

from autograder.authoring.catalogue import specifications
from autograder.authoring.common import TABLE, common
from autograder.authoring.notation import edit
from autograder.authoring.specification import Edit
from autograder.course import units


@pytest.mark.whole_course
def test_every_row_is_used_in_several_exercises():
    uses = Counter(
        (mutant.name, mutant.says, mutant.asks)
        for unit in units()
        for exercise in specifications(unit.name)
        for mutant in exercise.mutants
    )
    rows = TABLE.items()
    assert [n for n, row in rows if uses[n, row["says"], row["asks"]] < 2] == []


def test_a_mistake_is_made_by_its_own_change_and_in_other_ways():
    mistake = common("double", edit("a", "b", name="other"), on="x + y")
    assert [variant.name for variant in mistake.variants] == ["double", "other"]
    assert mistake.variants[0].edits == [Edit("x + y", "x + y.double()")]
    assert {"says": mistake.says, "asks": mistake.asks}.items() <= TABLE[
        "double"
    ].items()


def test_what_is_not_in_the_table_is_not_common():
    with pytest.raises(KeyError):
        common("no_such_mistake", edit("a", "b"))
