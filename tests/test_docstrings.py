"""What a docstring says is raised has the name of an exception that exists."""

import ast
import builtins
import inspect
import re

from autograder.course import ROOT

TREES = {
    path: ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "autograder").rglob("*.py"))
    if "solutions" not in path.parts
}
RAISED = re.compile(r"^    (\w+(?:, \w+)*): ", re.MULTILINE)
OTHER_SECTION = re.compile(r"\n(?:Args|Attributes|Returns|Yields):\n")


def find_class_names() -> set[str]:
    """The classes of the package, what it imports, and Python's own."""
    classes = set(dir(builtins))
    for node in (node for tree in TREES.values() for node in ast.walk(tree)):
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
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for name in raised(inspect.cleandoc(ast.get_docstring(node) or ""))
    ]
    assert len(exceptions) > 200
    names = find_class_names()
    assert [(file, name) for file, name in exceptions if name not in names] == []
