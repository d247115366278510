"""Graded notebooks with wrong answers that no mistake names."""

from __future__ import annotations

import json
from pathlib import Path

from autograder.grading.judge.verdict import CaseVerdict, Verdict
from tests.tiny_course import UNIT

SHORT = "def double(x):\n    return x + 3"
LONG = '''def double(x):
    """By adding."""
    y = x  # Eve's note
    return y + 3'''


def failed(answer: str, mistake: str = "", points: float = 0.0) -> Verdict:
    cases = (
        CaseVerdict("small", "a number", "values", False, answer),
        CaseVerdict("large", "another number", "values", True),
    )
    return Verdict(
        "numbers/double",
        points,
        2.0,
        mistake,
        cases=cases,
        panel="✗ a number: 3, not 0",
    )


def answers(root: Path, **submitted: tuple[str, Verdict]) -> None:
    """Have students' graded notebooks hold these answers and verdicts."""
    pattern = root / "autograded" / "bob" / UNIT / f"{UNIT}.ipynb"
    book = json.loads(pattern.read_text())
    for student, (code, verdict) in submitted.items():
        checks = {"numbers-double": verdict.to_json()}
        book["metadata"]["autograder"]["checks"] = checks
        for cell in book["cells"]:
            mark = cell["metadata"].get("nbgrader", {})
            if mark.get("grade_id") == "numbers-double-answer":
                cell["source"] = code
        path = root / "autograded" / student / UNIT / f"{UNIT}.ipynb"
        path.write_text(json.dumps(book))
