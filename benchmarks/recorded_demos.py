"""Record what unit 8's demonstrations print: ``python benchmarks/recorded_demos.py``.

It needs both published models (``transformer_course.library.published`` says what to
install), and executes those cells on the unit's solutions that can show a record.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import sys
import time
from collections.abc import Callable
from typing import Any
from unittest import mock

from autograder.course import units
from transformer_course.assistant.library import pictures
from transformer_course.assistant.library.recorded import RECORDED
from transformer_course.solutions import assistant

_RECORD = re.compile(r'recorded\.show\("(.+?)"\)')


def record(text: str) -> dict[str, list[str]]:
    """What each demonstration of a notebook's text prints, by its record's name."""
    printed: dict[str, list[str]] = {}

    def demo(function: Callable[[], Any]) -> Callable[[], Any]:
        source = text[text.index(f"def {function.__name__}(") :]
        names = _RECORD.findall(source.partition("\n# %%")[0])
        if names or function.__name__ == "a_chat_model_to_work_on":
            started, output = time.process_time(), io.StringIO()
            figures = mock.patch.object(pictures, "show")
            with figures, contextlib.redirect_stdout(output):
                function()
            seconds = time.process_time() - started
            print(f"{function.__name__}: {seconds:.0f} CPU s", file=sys.stderr)
            printed.update(dict.fromkeys(names, output.getvalue().splitlines()))
        return function

    names = dict(vars(assistant))
    for cell in re.split(r"^# %%(?! (?:exercise|check)=).*$", text, flags=re.M):
        if "check.summary" in cell:
            continue
        plain = re.split(r"^# %% (?:exercise|check)=.*$", cell, flags=re.M)[0]
        tree = ast.parse(plain)
        exec(compile(tree, "08_assistant.py", "exec"), names)
        names |= {"demo": demo, "USE_MY_OWN": False}
    return printed


if __name__ == "__main__":
    (unit,) = [unit for unit in units() if unit.name == "assistant"]
    records = record(unit.text.read_text("utf-8"))
    text = json.dumps(records, indent=2, ensure_ascii=False)
    RECORDED.write_text(f"{text}\n", encoding="utf-8")
