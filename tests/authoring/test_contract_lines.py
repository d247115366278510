"""Each line of an exercise's contract is tested by something that says so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from autograder.authoring.catalogue import specification, specifications
from autograder.authoring.contract_lines import (
    describe_wrong_links,
    find_lines,
    list_links,
    read_contracts,
)
from autograder.authoring.notation import edit, wrong
from autograder.authoring.notebook import Cell, read
from autograder.authoring.specification import Specification
from autograder.course import units

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
    contracts = read_contracts(cells)
    untested = {e.name: list_untested(e, contracts[e.name][1]) for e in exercises}
    assert not any(untested.values()), untested
    assert any(lines for _, lines in contracts.values())


def list_untested(exercise: Specification, lines: list[str]) -> list[str]:
    """The lines of an exercise's contract that nothing is said to test."""
    tested = {
        line for _, words in list_links(exercise) for line in find_lines(words, lines)
    }
    forbidden = [name.split(".") for name in exercise.ready_made]
    endings = {".".join(n[-count:]) for n in forbidden for count in (1, 2, len(n))}
    return [
        line
        for line in lines
        if line not in tested and not any(f"`{ending}`" in line for ending in endings)
    ]


def test_a_contract_is_the_folded_lines_and_the_errors_that_docstrings_promise():
    assert read_contracts(CELLS) == {"tiny/double": (CELLS[0], LINES)}


def _testing(exercise, words, ready_made=()):
    mistake = wrong("cased", "Says.", "Asks?", edit("2", "3"), tests=words)
    return replace(exercise, mutants=[mistake], ready_made=ready_made)


def test_words_of_a_line_say_what_tests_it(tiny_exercise):
    linked = _testing(tiny_exercise, "no gaps; Case", ["torch.nn.F.softmax"])
    assert not [*describe_wrong_links(linked, LINES)]
    assert list_untested(linked, LINES) == ["ValueError"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("no holes", "no line of its contract; use words that are"),
        ("a", "4 lines of its contract; add words"),
    ],
)
def test_words_of_no_line_or_of_several_are_refused(tiny_exercise, words, says):
    assert [*describe_wrong_links(_testing(tiny_exercise, words), LINES)] == [
        f'mutant cased tests "{words}", which is in {says}'
    ]


def test_what_tests_a_contract_that_is_not_there_is_refused(tiny_exercise):
    (fault,) = describe_wrong_links(_testing(tiny_exercise, "no gaps"), [])
    assert fault.startswith(
        'mutant cased tests "no gaps", but tiny/double has no contract; fold one'
    )


def test_a_promised_error_is_a_line_by_itself():
    tests = [m.tests for m in specification("positional_encoding/sinusoid").mutants]
    assert "ValueError" in tests
