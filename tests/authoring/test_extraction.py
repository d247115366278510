"""Every sentence that a student may read is one that a translator is given."""

import ast
import re
from pathlib import Path

import pytest

from autograder.authoring import extraction
from autograder.authoring.extraction import of_engine, of_file
from autograder.course import ROOT

CHECKS = ROOT / "autograder" / "checks"
# Whose texts a student reads; what else is said there is reported by probes.
SPEAKING = [
    *(CHECKS / f"{name}.py" for name in (
        "aspects", "check", "compare", "contents", "demo", "display", "earlier",
        "installed", "naming", "observe", "overview", "panel", "patience", "pictures",
        "progress", "renamed", "rows", "scorecard", "several", "summary",
    )),
    *sorted((CHECKS / "diagnostics").glob("*.py")),
]  # fmt: skip
MARKS = {*extraction.MARKS, "re.compile", "ValueError", "TypeError"}
# Names of answers, or parts of them: compared, and translated where they are shown.
NAMES = {
    "at first", "for inputs as usual", "in eval mode", "of the first module",
    "of a look at what it holds", "in your line ", "the same", "with ", "after ",
    "example by ", "for ", "in ", "of a ", "gradient of", "gradient of ", "start of",
    "start of ", "kind of ", "second call", "parameters that are missing",
    "other parameters", "no message", "other names", "no error", "in training mode",
    "ended by ", "%pip install ",
}  # fmt: skip
SENTENCE = re.compile(r"[A-Za-z]{2,},? [a-z]{2,}")
STYLE = re.compile(r"[<>;]|\.\*|\dpx|\w+=\"")


def unmarked(code: str) -> list[str]:
    """The texts of a module that read like sentences and that no mark surrounds."""
    tree, apart = ast.parse(code), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            apart.add(id(node.value))  # a docstring
        if isinstance(node, ast.Call) and ast.unparse(node.func) in MARKS:
            apart |= {id(inner) for inner in ast.walk(node)}
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and id(node) not in apart
        if isinstance(node.value, str) and SENTENCE.search(node.value)
    ]
    return [t for t in texts if t not in NAMES and not STYLE.search(t)]


@pytest.mark.parametrize("path", SPEAKING, ids=lambda path: path.stem)
def test_no_sentence_is_without_its_mark(path):
    assert unmarked(path.read_text(encoding="utf-8")) == []


def test_a_forgotten_mark_is_found():
    assert unmarked('"""Say it."""\ntold = f"All {n} cases pass."\n') == [
        " cases pass."
    ]
    assert unmarked('_("All cases pass.")\ntranslatable("Run it again.")\n') == []


def test_marks_and_what_probes_report_are_extracted(tmp_path):
    (tmp_path / "panel.py").write_text(
        '"""Not this."""\n_("Next: {x}.")\nplural("a case", "{n} cases", n)\n'
        'template("in line {n}")\nother("not this one")\n'
    )
    messages = list(of_file(tmp_path / "panel.py", tmp_path))
    assert [(m.text, m.many, m.raised) for m in messages] == [
        ("Next: {x}.", "", False), ("a case", "{n} cases", False),
        ("in line {n}", "", True),
    ]  # fmt: skip
    (tmp_path / "probes").mkdir()
    (tmp_path / "probes" / "e.py").write_text(
        '"""Not this."""\n@probe("u/e", results="not these; names")\n'
        'def e(x):\n    return {f"gradient of {x}": "no numbers"}\n'
        'def f(x):\n    return {"cpu": f"{x.y} of {x.z}"}\n'
    )
    messages = list(of_file(tmp_path / "probes" / "e.py", tmp_path))
    assert sorted((m.text, m.raised) for m in messages) == [
        ("gradient of {x}", True), ("no numbers", False),
        ("{value} of {value2}", True),
    ]  # fmt: skip


def test_a_text_is_given_once_with_its_place():
    messages = of_engine()
    assert len({(m.text, m.raised) for m in messages}) == len(messages)
    assert next(m.location for m in messages if m.text == "Perhaps: {says}") == (
        "checks/panel.py"
    )
    assert all(Path(ROOT / "autograder" / m.location).is_file() for m in messages)
