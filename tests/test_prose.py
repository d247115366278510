"""No decision reads prose: nothing depends on how a sentence is put.

A sentence may be written anew. What something depends on is an enum's member, a key, a
name or a path. So whatever is asked for its beginning or end here is of a kind that is
listed; a new kind asks for a look.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.course import ROOT

PACKAGE = ROOT / "autograder"
# What belongs to single units; and text that is the matter itself, not about something.
CONTENT = ("checks/probes", "authoring/statement_operators.py")
# By what they hold: names and paths; lines of files and code; cells of a table.
NOT_PROSE = {
    *("name", "n", "h", "path", "filename", "other", "url", "platform", "__module__"),
    *("line", "source", "config", "kind", "data", "exercise", "part", "stripped"),
    *("answer", "value", "cell", "dimension", "course_path", "hidden_path"),
    # The notebook's own sentences, which the build compares with a table of them.
    *("sentence", "words"),
}
# Read off what Python says of an error, or off the label of an answer.
READ_BY_DIAGNOSTICS = {
    "checks/diagnostics/errors.py",
    "checks/diagnostics/relations.py",
    "checks/diagnostics/symptoms.py",
    "checks/diagnostics/texts.py",
    "checks/diagnostics/values.py",
}
# What another program prints; there is nothing else to go by.
FOREIGN = {"extras/website/website.py"}


def engine() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        name = str(path.relative_to(PACKAGE))
        if not name.startswith(CONTENT) and name not in READ_BY_DIAGNOSTICS | FOREIGN:
            yield name, ast.parse(path.read_text(encoding="utf-8"))


def subject(node: ast.expr) -> str:
    """The name of what is asked: `name` for `path.name.lower()[1:]`."""
    while True:
        match node:
            case ast.Call(ast.Attribute(value=value)) | ast.Subscript(value=value):
                node = value
            case ast.Call(args=[first, *_]):
                node = first
            case ast.Attribute(attr=name) | ast.Name(id=name):
                return name
            case _:
                return ast.unparse(node)


def find_affix_tests(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Attribute(value, "startswith" | "endswith")):
                yield subject(value)


REASONS = {"reason", "ended", "note", "says", "why", "stopped", "error"}


def compared_with_words(tree: ast.Module) -> Iterator[str]:
    """Reasons that are compared with a text, or searched for one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            texts = [
                side.value
                for side in sides
                if isinstance(side, ast.Constant) and isinstance(side.value, str)
            ]
            names = {
                subject(side) for side in sides if not isinstance(side, ast.Constant)
            }
            if any(texts) and names & REASONS:
                yield ast.unparse(node)


def test_nothing_is_decided_by_how_a_sentence_begins_ends_or_is_put() -> None:
    for name, tree in engine():
        assert set(find_affix_tests(tree)) <= NOT_PROSE, name
        assert list(compared_with_words(tree)) == [], name


@pytest.mark.parametrize(
    "code",
    [
        'reason.startswith("signal")',
        'usage.get("x").reason[3:].endswith("full")',
        'record.note.startswith("Not solved")',
    ],
)
def test_a_sentence_that_is_asked_for_its_beginning_is_found(code: str) -> None:
    assert not set(find_affix_tests(ast.parse(code))) <= NOT_PROSE


@pytest.mark.parametrize(
    "code", ['self.ended == "time"', '"full" in str(error)', 'note != "Not solved yet"']
)
def test_a_reason_that_is_compared_with_a_text_is_found(code: str) -> None:
    assert list(compared_with_words(ast.parse(code)))


def test_what_is_left_out_is_there() -> None:
    for name in READ_BY_DIAGNOSTICS | FOREIGN | set(CONTENT):
        assert (PACKAGE / Path(name)).exists(), name
