"""Names say what they hold, and functions are called by what they do."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.root import CONTENT, ENGINE

TESTS = Path(__file__).parent

# Words that could stand for anything.
EMPTY = re.findall(
    r"\w+",
    """
    found told own says said made given kept shown drawn known seen left taken held
    asked meant gone done put one other others more less much few same such some any
    this that it its here there now then again anew whole rest lone thing things
    stuff what which why how who where when both each another ends way ways so too
    only even yet once
    """,
)
# Participles, in place of verbs with their objects.
PARTICIPLES = re.findall(
    r"\w+",
    """
    told said made given kept shown drawn known seen left taken held asked meant
    gone done found opened closed written named observed solved measured sent
    changed recorded reworded marked noted called looked used moved followed blamed
    refused placed listed ordered counted merged joined cut dropped hidden gathered
    stored printed started installed built tried wanted fitting
    """,
)


@functools.cache
def names(folder: Path) -> tuple[tuple[str, str], ...]:
    """The functions, parameters and variables of a package: kind and name."""
    return tuple(find_names(folder))


def find_names(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*.py")):
        if path.is_relative_to(CONTENT / "solutions"):  # built from the notebooks
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    yield "function", node.name
                    listed = (
                        node.args.posonlyargs,
                        node.args.args,
                        node.args.kwonlyargs,
                    )
                    yield from (("variable", a.arg) for part in listed for a in part)
                case ast.Name(name, ast.Store()):
                    yield "variable", name


@pytest.mark.parametrize(
    ("package", "share"), [(ENGINE, 0.01), (CONTENT, 0.01), (TESTS, 0.02)]
)
def test_few_names_could_stand_for_anything(package, share):
    listed = [(kind, name.strip("_")) for kind, name in names(package)]
    empty = sorted(name for _, name in listed if name in EMPTY)
    assert len(empty) <= share * len(listed), empty


@pytest.mark.parametrize("package", [ENGINE, CONTENT, TESTS], ids=lambda p: p.name)
def test_functions_are_called_by_what_they_do(package):
    functions = [name.strip("_") for kind, name in names(package) if kind == "function"]
    participles = [n for n in functions if n.partition("_")[0] in PARTICIPLES]
    assert len(participles) <= 0.005 * len(functions), sorted(participles)
