"""The lines of an exercise's contract, and what tests each of them.

A contract is the folded list of requirements above an exercise, with the errors
that its docstrings promise. A mistake, case or accepted solution quotes words
of the lines that it tests: ``wrong(..., tests="its memory; same dtype")``.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from autograder.authoring.notebook import Cell

if TYPE_CHECKING:  # contracts are read without torch
    from autograder.authoring.specification import Specification

_NAMES = re.compile(r"^(\w+(?:, \w+)*):", re.MULTILINE)
_DOCUMENTED = (ast.FunctionDef, ast.ClassDef)
_ITEM = re.compile(r"^- ", re.MULTILINE)


def read_contracts(cells: Sequence[Cell]) -> dict[str, tuple[Cell, list[str]]]:
    """Map each exercise to the cell of its text and the lines of its contract."""
    contracts, text = {}, cells[0]
    for cell in cells:
        if cell.role == "exercise":
            lines = [*_list_folded(text), *_list_errors(cell.text)]
            contracts[cell.name] = (text, lines)
        elif cell.kind == "markdown":
            text = cell
    return contracts


def describe_wrong_links(
    exercise: Specification, lines: Sequence[str]
) -> Iterator[str]:
    """Describe each ``tests`` whose words do not identify one line of a contract.

    Args:
        lines: the lines of the exercise's contract, its list of requirements.
    """
    for tester, words in list_links(exercise):
        count = len(find_lines(words, lines))
        if not lines:
            yield (
                f'{tester} tests "{words}", but {exercise.name} has no contract; fold '
                'one into its text (docs/notation.md), or remove "tests"'
            )
        elif count != 1:
            remedy = "add words" if count else "use words that are"
            number = f"{count} lines" if count else "no line"
            where = f"which is in {number} of its contract"
            yield f'{tester} tests "{words}", {where}; {remedy}'


def list_links(exercise: Specification) -> Iterator[tuple[str, str]]:
    """Yield pairs: a tester, like "mutant flipped", and words of the line it tests."""
    testers = [(exercise.name, exercise.tests)]
    testers += [(f"mutant {mutant.name}", mutant.tests) for mutant in exercise.mutants]
    testers += [(f"case {kind.name}", kind.tests) for kind in exercise.cases]
    testers += [(f"variant {v.name}", v.tests) for v in exercise.accepted]
    for name, tests in testers:
        yield from ((name, words) for words in tests.split("; ") if words)


def find_lines(words: str, lines: Sequence[str]) -> list[str]:
    """The lines that consist of these words, or else those that contain them."""
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
    """The names of the errors in the "Raises" section of a docstring."""
    for paragraph in re.split(r"\n\s*\n", docstring):
        title, _, items = paragraph.partition(":\n")
        if title == "Raises":
            for names in _NAMES.findall(textwrap.dedent(items)):
                yield from names.split(", ")
