"""Record what unit 9 measures: ``python benchmarks/look_inside_results.py``.

It needs SmolLM2-135M-Instruct (``transformer_course.library.published`` says what to
install), and executes the notebook's cells on the names of the unit's solutions.
"""

from __future__ import annotations

import importlib
import json
import re

from autograder.course import find_unit
from transformer_course.look_inside.library import results


def record() -> None:
    """Execute all cells but exercises and checks, and write what they measured."""
    unit = find_unit("look_inside")
    names = dict(
        vars(importlib.import_module("transformer_course.solutions.look_inside"))
    )
    parts = re.split(r"^# %%(.*)$", unit.text.read_text("utf-8"), flags=re.MULTILINE)
    for title, cell in zip(parts[1::2], parts[2::2], strict=True):
        if not re.search(r"markdown|exercise=|check=", title) and "summary" not in cell:
            exec(compile(cell, unit.text.name, "exec"), names)
    measured = json.loads(
        json.dumps(results.MEASURED), parse_float=lambda text: round(float(text), 3)
    )
    text = json.dumps(measured, indent=1, ensure_ascii=False)
    text = re.sub(r"\n\s+(?=[-\d\"\]])(?!\"\w+\":)", " ", text)  # a list on one line
    results.RECORDED.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    record()
