"""Each line of an exercise's contract is tested by something."""

from __future__ import annotations

import pytest

from autograder.authoring.catalogue import specification
from autograder.authoring.notebook import read
from autograder.course import units
from tests.authoring.sentences import documented, gaps, stated, table

CODE = '''
def helper(seed: int) -> int:
    """Not what is checked.

    Args:
        seed: any.
    """


class Count:
    """How many rows there are: see the text.

    Args:
        size, width: whole numbers, the
            larger one: first.
    """

    def forward(self, rows: Tensor) -> int:
        """Count them.

        Args:
            rows: (L, d), any
                numbers.

        Returns:
            L: it is never negative.

        Raises:
            ValueError: no rows.
        """

    def again(self, rows: Tensor) -> int:
        """Count them again.

        Args:
            rows: the same.
        """
'''


@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.name)
def test_each_line_of_a_contract_is_tested(unit):
    rows, wrong, text = dict(table(unit.name)), {}, ""
    for cell in read(unit):
        if cell.role == "exercise":
            exercise = specification(cell.name)
            names = documented(cell.text, exercise.target)
            own = rows.pop(cell.name.split("/")[1], {})
            wrong[cell.name] = gaps(names, own, exercise, stated(text))
        text = cell.text
    assert len(wrong) >= 2
    assert not any(wrong.values()), wrong
    assert not rows, "no such exercise"


def test_the_target_s_arguments_results_and_errors_are_its_contract():
    names = ["size", "width", "rows", "returns", "ValueError"]
    assert documented(CODE, "Count") == names


def test_prose_is_no_contract():
    edited = CODE.replace("see the text", "read this").replace("any\n", "some\n")
    assert edited != CODE
    assert documented(edited, "Count") == documented(CODE, "Count")


def test_the_items_of_a_folded_contract_are_its_lines():
    text = """Before it: - no item.

<details><summary>Contract</summary>

- Ids start at `FIRST`
  and have no gaps.
- Case matters.

</details>
<details><summary>Hint 1</summary>

- Not a line.

</details>"""
    assert stated(text) == ["Ids start at `FIRST` and have no gaps.", "Case matters."]


EXERCISE = specification("attention/masks")


def test_rows_in_words_are_the_lines_of_the_folded_contract():
    rows = {"length": "upper", "No row is empty.": "no_self", "Old line.": "upper"}
    lines = ["No row is empty.", "New line."]
    says = ["no row for: New line.", "not in the contract: Old line."]
    assert gaps(["length"], rows, EXERCISE, lines) == says
    assert gaps(["length"], rows, EXERCISE) == []


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ({"length": "upper"}, []),
        ({"length, returns": "upper"}, ["not documented: returns"]),
        ({"length": "upper_strict long loops property_sequence"}, []),
        ({"length": "upper", "no row is empty": "no_self"}, []),
        ({}, ["no row for: length"]),
        ({"no row is empty": "no_self"}, ["no row for: length"]),
        ({"length": "uper"}, ["names what is not there, uper: length"]),
        (
            {"length": "upper", "no row is empty": ""},
            ["nothing tests: no row is empty"],
        ),
    ],
)
def test_what_is_wrong_with_a_table_is_said(rows, says):
    assert gaps(["length"], rows, EXERCISE) == says
