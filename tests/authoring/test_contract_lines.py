"""Each line of an exercise's contract is tested by something that says so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from autograder.authoring.catalogue import specification, specifications
from autograder.authoring.contract_lines import (
    list_untested,
    read_contracts,
    refuse_wrong_links,
)
from autograder.authoring.notation import edit, wrong
from autograder.authoring.notebook import Cell, read
from autograder.course import units
from autograder.course.errors import CourseError

TEXT = """Before it: - no item.

<details><summary>Contract</summary>

- Ids start at `FIRST`
  and have no gaps.
- Case matters.
- `F.softmax` is not allowed.

</details>
<details><summary>Hint 1</summary>

- Not a line.

</details>"""
CODE = '''
def double(x):
    """Twice x.

    Args:
        x: any numbers.

    Raises:
        ValueError: there are none.
    """
'''
LINES = [
    "Ids start at `FIRST` and have no gaps.",
    "Case matters.",
    "`F.softmax` is not allowed.",
    "ValueError",
]
CELLS = [
    Cell("markdown", TEXT, "99_doubling.py:5"),
    Cell("code", CODE, "99_doubling.py:30", "exercise", "tiny/double"),
]


@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.name)
def test_each_line_of_a_contract_is_tested(unit):
    cells, exercises = read(unit), specifications(unit.name)
    refuse_wrong_links(exercises, cells)
    contracts = read_contracts(cells)
    untested = {e.name: list_untested(e, contracts[e.name][1]) for e in exercises}
    assert not any(untested.values()), untested
    assert any(lines for _, lines in contracts.values())


def test_a_contract_is_the_folded_lines_and_the_errors_that_docstrings_promise():
    assert read_contracts(CELLS) == {"tiny/double": (CELLS[0], LINES)}


def _testing(exercise, words, ready_made=()):
    mistake = wrong("cased", "Says.", "Asks?", edit("2", "3"), tests=words)
    return replace(exercise, mutants=[mistake], ready_made=ready_made)


def test_words_of_a_line_say_what_tests_it(tiny_exercise):
    linked = _testing(tiny_exercise, "no gaps; Case", ["torch.nn.F.softmax"])
    refuse_wrong_links([linked], CELLS)
    assert list_untested(linked, LINES) == ["ValueError"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("no holes", 'cased in tiny/double tests "no holes", which is in no line'),
        ("a", 'tests "a", which is in 4 lines of its contract'),
    ],
)
def test_words_of_no_line_or_of_several_are_refused(tiny_exercise, words, says):
    with pytest.raises(CourseError, match=f"99_doubling.py:5: .*{says}"):
        refuse_wrong_links([_testing(tiny_exercise, words)], CELLS)


def test_a_promised_error_is_a_line_by_itself():
    tests = [m.tests for m in specification("positional_encoding/sinusoid").mutants]
    assert "ValueError" in tests
