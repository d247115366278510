"""An error that nobody expected is one line: where, and what."""

import ast
import re
from pathlib import Path

import pytest

from autograder.course import errors
from autograder.course.errors import CourseError, describe_fault
from autograder.root import ENGINE


def raised(path: Path, code: str) -> Exception:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(code)
    with pytest.raises(Exception) as caught:
        exec(compile(code, str(path), "exec"), {})
    return caught.value


def test_the_innermost_line_of_the_course_is_named(tmp_path):
    error = raised(tmp_path / "units" / "e.py", "import json\n\njson.loads('{')\n")
    assert describe_fault(error, tmp_path).startswith(
        "units/e.py:3: JSONDecodeError: Expecting property name"
    )
    assert describe_fault(error, tmp_path, tmp_path / "other").startswith("JSONDecode")


def test_a_syntax_error_is_where_it_is_written(tmp_path):
    path = tmp_path / "e.py"
    path.write_text("x = (\n")
    with pytest.raises(SyntaxError) as caught:
        compile(path.read_text(), str(path), "exec")
    message = describe_fault(caught.value, tmp_path)
    assert message == "e.py:1: SyntaxError: '(' was never closed"


def test_words_of_several_lines_become_one_and_plain_words_stay(tmp_path):
    error = raised(tmp_path / "e.py", "raise ValueError('one\\ntwo')\n")
    assert describe_fault(error, tmp_path) == "e.py:1: ValueError: one"
    assert describe_fault(CourseError("run it again"), tmp_path) == "run it again"


def exceptions() -> dict[str, tuple[str, str]]:
    """The engine's exceptions: the class each is derived from, and its file."""
    bases: dict[str, tuple[str, str]] = {}
    for path in sorted(ENGINE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and node.name.endswith("Error"):
                place = path.relative_to(ENGINE).as_posix()
                bases[node.name] = (ast.unparse(node.bases[-1]), place)
    return {name: entry for name, entry in bases.items() if not name.startswith("_")}


def test_the_tree_of_exceptions_is_drawn_as_it_is():
    drawing = re.findall(
        r"^( +)(\w+Error)( +\S+\.py)?", errors.__doc__ or "", re.MULTILINE
    )
    parent, drawn_tree, tree = "", {}, exceptions()
    for indent, name, place in drawing:
        parent = name if len(indent) == 4 else parent
        base = parent if len(indent) > 4 else ""
        drawn_tree[name] = (base, place.strip())
    assert drawn_tree == {
        name: (base if base in tree else "", place)
        for name, (base, place) in tree.items()
    }
