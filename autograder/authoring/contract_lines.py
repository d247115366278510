"""The lines of an exercise's contract, and what tests each of them.

The lines are those of the folded contract above an exercise, and the errors that its
docstrings promise. A mistake, case or accepted solution names its line by some of its
words, or several lines: ``wrong(..., tests="its memory; same dtype")``. Functions in
`ready_made` test the line that forbids them.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from autograder.authoring.notebook import Cell
from autograder.course.errors import Faults

if TYPE_CHECKING:  # contracts are read without torch
    from autograder.authoring.specification import Specification

_NAMES = re.compile(r"^(\w+(?:, \w+)*):", re.MULTILINE)
_DOCUMENTED = (ast.FunctionDef, ast.ClassDef)
_ITEM = re.compile(r"^- ", re.MULTILINE)


def read_contracts(cells: Sequence[Cell]) -> dict[str, tuple[Cell, list[str]]]:
    """The text above each exercise and the lines of its contract, by its name."""
    contracts, text = {}, cells[0]
    for cell in cells:
        if cell.role == "exercise":
            lines = [*_list_folded(text), *_list_errors(cell.text)]
            contracts[cell.name] = (text, lines)
        elif cell.kind == "markdown":
            text = cell
    return contracts


def refuse_wrong_links(
    exercises: Sequence[Specification], cells: Sequence[Cell]
) -> None:
    """Check that what is said to test a line names one line of the contract.

    Raises:
        CourseError: with the place of each exercise's text and what is wrong.
    """
    contracts = read_contracts(cells)
    Faults(
        f"{contracts[exercise.name][0].location}: {tester} in {exercise.name} tests "
        f'"{words}", which {_count(words, contracts[exercise.name][1])}'
        for exercise in exercises
        for tester, words in _links(exercise)
        if len(_matches(words, contracts[exercise.name][1])) != 1
    ).refuse()


def _count(words: str, lines: Sequence[str]) -> str:
    number = len(_matches(words, lines))
    return f"is in {number} lines of its contract; add words" if number else (
        "is in no line of its contract; use words that are"
    )  # fmt: skip


def list_untested(exercise: Specification, lines: Sequence[str]) -> list[str]:
    """The lines of an exercise's contract that nothing is said to test."""
    tested = {line for _, words in _links(exercise) for line in _matches(words, lines)}
    forbidden = [name.rsplit(".", 2) for name in exercise.ready_made]
    endings = {ending for parts in forbidden for ending in (parts[-1], ".".join(parts))}
    endings |= {".".join(parts[-2:]) for parts in forbidden}
    return [
        line
        for line in lines
        if line not in tested and not any(f"`{ending}`" in line for ending in endings)
    ]


def _links(exercise: Specification) -> Iterator[tuple[str, str]]:
    """What tests a line of the contract, and its words."""
    testers = [(exercise.target, exercise.tests)]
    testers += [(mutant.name, mutant.tests) for mutant in exercise.mutants]
    testers += [(kind.name, kind.tests) for kind in exercise.cases]
    testers += [(variant.name, variant.tests) for variant in exercise.accepted]
    for name, tests in testers:
        yield from ((name, words) for words in tests.split("; ") if words)


def _matches(words: str, lines: Sequence[str]) -> list[str]:
    """The lines with these words; a line that is nothing else goes before others."""
    return [line for line in lines if line == words] or [
        line for line in lines if words in line
    ]


def _list_folded(cell: Cell) -> list[str]:
    """The lines of the folded contracts in a cell's text, in order."""
    folded = re.compile(
        rf"<summary>{cell.words.contract}</summary>\n(.*?)</details>", re.DOTALL
    )
    parts = folded.findall(cell.text)
    items = [item for part in parts for item in _ITEM.split(part)[1:]]
    return [" ".join(item.split()) for item in items]


def _list_errors(code: str) -> list[str]:
    """The errors that the docstrings of an exercise's cell promise, each once."""
    texts = [
        ast.get_docstring(node) or ""
        for node in ast.walk(ast.parse(code))
        if isinstance(node, _DOCUMENTED)
    ]
    return list(dict.fromkeys(error for text in texts for error in _raised(text)))


def _raised(docstring: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", docstring):
        title, _, items = paragraph.partition(":\n")
        if title == "Raises":
            for names in _NAMES.findall(textwrap.dedent(items)):
                yield from names.split(", ")
