"""The sample logs of the project are marked by the rubric that students see."""

from __future__ import annotations

import re

from autograder.course import ROOT
from autograder.extras.written.written import questions

DOC = (ROOT / "docs" / "recovery_logs.md").read_text("utf-8")
_MARKED = re.compile(r"^\| (.+) \((\d+)\) \| (\d+) \|", re.MULTILINE)
_ALL = re.compile(r"^\| \*\*all\*\* \| \*\*(\d+)\*\*", re.MULTILINE)


def _rubric() -> list[tuple[str, float]]:
    prompts = questions("06_text_recovery", ROOT)
    (log,) = (p for p in prompts if p.name.endswith("log"))
    return [(text.rstrip(" ,"), points) for text, points in log.items]


def test_each_log_is_marked_line_by_line_and_the_marks_add_up():
    rubric, samples = _rubric(), DOC.split("\n## ")[1:]
    assert len(samples) == 3
    totals = []
    for sample in samples:
        marks = [
            (text, float(most), int(m)) for text, most, m in _MARKED.findall(sample)
        ]
        assert [(text, most) for text, most, _ in marks] == rubric
        assert all(0 <= mark <= most for _, most, mark in marks)
        (total,) = _ALL.findall(sample)
        assert int(total) == sum(mark for *_, mark in marks)
        totals.append(int(total))
    strong, middling, weak = totals
    assert strong > middling + 3 > weak + 6


def test_the_guide_explains_every_line_of_the_rubric():
    guide = DOC.split("\n## ")[0]
    for text, points in _rubric():
        assert f"| {text} ({points:g}) |" in guide
