"""The contract of each exercise, and what tests it.

``transformer_course/UNIT/sentences.toml`` has a table for each exercise, with a row for
each line of its contract. A row is named after an argument, an error or ``returns``, as
the target's docstrings document them; what only the instruction says is a row in words.
The value names what tests the line: a mutant, or one of its ways, that breaks it; an
accepted solution that uses what it allows; a case that looks at it. Where the
instruction has a folded contract, the rows in words are exactly its lines; all other
prose of instructions and docstrings is free.

    [softmax]
    x = "property_sizes hidden_nan"
    returns = "not_divided"
    "`x` is not modified" = "in_place in_place_all"
"""

from __future__ import annotations

import ast
import re
import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence

from autograder.authoring.cases import all_kinds
from autograder.authoring.specification import Specification
from autograder.course import ROOT
from autograder.course.language import wording

Table = Mapping[str, Mapping[str, str]]  # by exercise and line of its contract
RETURNS = "returns"

_NAMES = re.compile(r"^(\w+(?:, \w+)*):", re.MULTILINE)
_DOCUMENTED = (ast.FunctionDef, ast.ClassDef)
_FOLDED = re.compile(
    rf"<summary>{wording().contract}</summary>\n(.*?)</details>", re.DOTALL
)
_ITEM = re.compile(r"^- ", re.MULTILINE)


def documented(code: str, target: str) -> list[str]:
    """The arguments, results and errors that a cell documents, each once, in order.

    Args:
        code: an exercise's cell.
        target: the functions or classes that are checked; only their docstrings count,
            and those of their methods.
    """
    nodes = [
        node
        for root in ast.parse(code).body
        if isinstance(root, _DOCUMENTED) and root.name in target.split(", ")
        for node in ast.walk(root)
        if isinstance(node, _DOCUMENTED)
    ]
    texts = [ast.get_docstring(node) or "" for node in nodes]
    return list(dict.fromkeys(name for text in texts for name in _sections(text)))


def _sections(docstring: str) -> Iterator[str]:
    """The names in a docstring's Args, Returns and Raises."""
    for paragraph in re.split(r"\n\s*\n", docstring):
        title, _, items = paragraph.partition(":\n")
        if title == "Returns":
            yield RETURNS
        elif title in ("Args", "Raises"):
            for names in _NAMES.findall(textwrap.dedent(items)):
                yield from names.split(", ")


def stated(text: str) -> list[str]:
    """The lines of the folded contracts in a markdown text, in order."""
    items = [item for part in _FOLDED.findall(text) for item in _ITEM.split(part)[1:]]
    return [" ".join(item.split()) for item in items]


def table(unit: str) -> Table:
    """A unit's table; empty where there is none.

    Raises:
        tomllib.TOMLDecodeError: it cannot be read.
    """
    path = ROOT / "transformer_course" / unit / "sentences.toml"
    return tomllib.loads(path.read_text("utf-8")) if path.is_file() else {}


def gaps(
    names: Sequence[str],
    rows: Mapping[str, str],
    exercise: Specification,
    lines: Sequence[str] = (),
) -> list[str]:
    """What is wrong with an exercise's rows, in words; empty if nothing is.

    Args:
        names: what `documented` found.
        rows: the exercise's part of the table.
        exercise: whose mutants, accepted solutions and cases the rows name.
        lines: what `stated` found; none where the instruction has no folded contract.
    """
    known = _testers(exercise)
    covered = [name for line in rows for name in _named(line)]
    in_words = [line for line in rows if not _named(line)] if lines else []
    found = [f"no row for: {name}" for name in names if name not in covered]
    found += [f"not documented: {name}" for name in covered if name not in names]
    found += [f"no row for: {line}" for line in lines if line not in in_words]
    found += [f"not in the contract: {line}" for line in in_words if line not in lines]
    for line, tests in rows.items():
        if not tests.split():
            found.append(f"nothing tests: {line}")
        found += [
            f"names what is not there, {test}: {line}"
            for test in tests.split()
            if test not in known
        ]
    return found


def _named(line: str) -> list[str]:
    """The arguments, results or errors that a row is named after; none if in words."""
    names = line.split(", ")
    return names if all(name.isidentifier() for name in names) else []


def _testers(exercise: Specification) -> set[str]:
    """What a row may name."""
    ways = {way.name for mutant in exercise.mutants for way in mutant.variants}
    accepted = {solution.name for solution in exercise.accepted}
    kinds = {kind.name for kind in all_kinds(exercise)}
    return ways | accepted | kinds | set(exercise.ready_made)
