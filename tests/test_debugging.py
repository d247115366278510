"""docs/debugging.md: its code runs, and its table names files that log."""

from __future__ import annotations

import re
import subprocess
import sys

from autograder.course import ROOT

TEXT = (ROOT / "docs" / "debugging.md").read_text(encoding="utf-8")


def test_a_question_of_the_judge_can_be_replayed():
    """The wrong axis is told by its name, on visible and on fresh cases."""
    code = TEXT.split("## Replay a judge's question")[1]
    (block,) = re.findall(r"^```python\n(.*?)^```$", code, re.DOTALL | re.MULTILINE)
    output = subprocess.run(
        [sys.executable, "-c", block], capture_output=True, text=True, check=True
    ).stdout
    assert output.startswith("A stable softmax: 0 of 14 points\n")
    assert "four dimensions (hidden)" in output


def test_the_line_to_stop_at_is_in_the_student_s_code():
    block = TEXT.split("## Replay a judge's question")[1].split("```")[1]
    (line,) = re.findall(r'-c "b (\d+)" -c c replay.py', TEXT)
    assert "return" in block.splitlines()[int(line)]  # "python" is the line before


def test_the_line_of_the_breakpoint_asks_the_sandbox():
    path, line = re.findall(r"(autograder/\S+\.py):(\d+)", TEXT)[0]
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    call = "self._ask(exchange, cell, check, index, answers)"
    assert lines[int(line) - 1].strip() == call


def test_each_process_of_the_table_is_named_by_its_file():
    rows = re.findall(r"^\| (`.*`) \| `(\S+)` \|", TEXT, re.MULTILINE)
    assert len(rows) == 6
    for names, file in rows:
        code = (ROOT / "autograder" / file).read_text(encoding="utf-8")
        for name in re.findall(r"`([^`]+)`", names):
            assert name == "nbgrader" or f'logs.name_process("{name}")' in code
