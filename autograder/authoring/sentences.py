"""What an exercise's text asks for, sentence by sentence, and what tests it.

``autograder/bank/UNIT/sentences.toml`` has a table for each exercise: how a sentence
begins, and what tests it, by names of the exercise's specification. A mutant, or one of
its ways, breaks the sentence, and is caught; an accepted solution uses what it allows;
a case looks at what it promises. A stroke: it explains, and asks for nothing.

    [softmax]
    "Leave the input as it was" = "in_place in_place_all"
"""

from __future__ import annotations

import ast
import re
import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from autograder.authoring.notebook import Cell
from autograder.course import ROOT
from autograder.oracle.cases import all_kinds
from autograder.oracle.specification import Specification

Table = Mapping[str, Mapping[str, str]]  # by exercise and beginning of a sentence
EXPLAINS = "-"

_HEADING = re.compile(r"^#+ (?:Exercise|.*Exercise) .*$", re.MULTILINE)
_BLOCK = re.compile(r"```.*?```|^\|.*\|$|^\$\$.*?\$\$", re.DOTALL | re.MULTILINE)
_LABEL = re.compile(r"^\*\*[^*]+\.\*\* ")
_SKIPPED = ("*time ", "**Why it matters.**")
_PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\s*(?:- |\d+\. ))")
_SENTENCE = re.compile(r"(?<=[.!?])[)*]*\s+(?=[A-Z`*(\"$])")
_SECTIONS = ("Args", "Returns", "Raises")


def asked(cells: Sequence[Cell]) -> dict[str, list[str]]:
    """By exercise, the sentences of its instruction and of its docstrings, in order."""
    found, text = {}, ""
    for cell in cells:
        if cell.kind == "markdown" and _HEADING.search(cell.text):
            text = _HEADING.split(cell.text)[-1]
        elif cell.role == "exercise":
            own = [*_instruction(text), *_promises(cell.text)]
            found[cell.name.split("/")[1]] = list(dict.fromkeys(own))
    return found


def _instruction(text: str) -> Iterator[str]:
    """The sentences of an exercise's text, without why, hints, tables and formulas."""
    for paragraph in _PARAGRAPH.split(_BLOCK.sub("\n", text.split("<details>")[0])):
        words = " ".join(paragraph.split())
        if words and not words.startswith(_SKIPPED):
            yield from _SENTENCE.split(_LABEL.sub("", words.removeprefix("- ")))


def _promises(code: str) -> Iterator[str]:
    """The sentences of a cell's docstrings; what is said of one argument is one."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    for node in ast.walk(ast.parse(code)):
        text = (ast.get_docstring(node) or "") if isinstance(node, kinds) else ""
        for paragraph in re.split(r"\n\s*\n", text):
            title, _, items = paragraph.partition(":\n")
            if title in _SECTIONS:
                yield from _items(title, textwrap.dedent(items))
            elif paragraph:
                yield from _SENTENCE.split(" ".join(paragraph.split()))


def _items(title: str, text: str) -> Iterator[str]:
    """Arguments, errors or results, of which further lines are indented; or a text."""
    is_list = title != "Returns" or "\n " in text
    for item in re.split(r"\n(?=\S)", text) if is_list else [text]:
        yield " ".join(item.split())


def table(unit: str) -> Table | None:
    """A unit's table; None where there is none yet.

    Raises:
        tomllib.TOMLDecodeError: it cannot be read.
    """
    path = _path(unit)
    return tomllib.loads(path.read_text("utf-8")) if path.is_file() else None


def _path(unit: str) -> Path:
    return ROOT / "autograder" / "bank" / unit / "sentences.toml"


def gaps(
    sentences: Sequence[str], rows: Mapping[str, str], exercise: Specification
) -> list[str]:
    """What is wrong with an exercise's rows, in words; nothing if each has its own.

    Args:
        sentences: what `asked` found.
        rows: the exercise's part of the table.
        exercise: whose mutants, accepted solutions and cases the rows name.
    """
    known = _names(exercise)
    found = []
    for sentence in sentences:
        own = [start for start in rows if sentence.startswith(start)]
        if len(own) != 1:
            found.append(f"{len(own)} rows begin like: {sentence}")
    for start, tests in rows.items():
        if not any(sentence.startswith(start) for sentence in sentences):
            found.append(f"no sentence begins like the row: {start}")
        unknown = set(tests.split()) - known - {EXPLAINS}
        if unknown or not tests.split():
            listed = ", ".join(sorted(unknown)) or "nothing"
            found.append(f"names what is not there, {listed}: {start}")
    return found


def _names(exercise: Specification) -> set[str]:
    """What a row may name."""
    ways = {way.name for mutant in exercise.mutants for way in mutant.ways}
    accepted = {solution.name for solution in exercise.accepted}
    return ways | accepted | {kind.name for kind in all_kinds(exercise)}
