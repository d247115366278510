"""What a docstring says is raised has the name of an exception that exists."""

import ast
import builtins
import functools
import inspect
import re
from pathlib import Path

from autograder.course import ROOT

RAISED = re.compile(r"^    (\w+(?:, \w+)*): ", re.MULTILINE)
OTHER_SECTION = re.compile(r"\n(?:Args|Attributes|Returns|Yields):\n")


@functools.cache
def trees() -> dict[Path, ast.Module]:
    """The modules of the engine, read."""
    paths = sorted((ROOT / "autograder").rglob("*.py"))
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def find_class_names() -> set[str]:
    """The classes of the package, what it imports, and Python's own."""
    classes = set(dir(builtins))
    for node in (node for tree in trees().values() for node in ast.walk(tree)):
        if isinstance(node, ast.ClassDef):
            classes.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            classes |= {alias.name for alias in node.names}
    return classes


def raised(doc: str) -> list[str]:
    section = OTHER_SECTION.split(doc.partition("Raises:\n")[2])[0]
    return [name for names in RAISED.findall(section) for name in names.split(", ")]


def test_what_is_said_to_be_raised_exists():
    exceptions = [
        (path.name, name)
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for name in raised(inspect.cleandoc(ast.get_docstring(node) or ""))
    ]
    assert len(exceptions) > 200
    names = find_class_names()
    assert [(file, name) for file, name in exceptions if name not in names] == []
