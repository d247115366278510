"""Record what the chat model says in each unit: ``python assets/chat_answers.py 02``.

Without numbers: in all units. It needs SmolLM2-135M-Instruct
(``transformer_course.library.published`` says what to install), and executes the cells
that call ``chat.ask`` on the names of the unit's solutions.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
import sys
from collections.abc import Mapping
from typing import Any
from unittest import mock

from autograder.course import Unit, units
from transformer_course.library import chat
from transformer_course.library.published import PublishedModel, fetch

Answers = dict[str, dict[str, str]]


def record(unit: Unit, model: PublishedModel) -> Answers:
    """The answers of a unit's demonstrations, by question and label."""
    answers: Answers = {}

    def ask(question: str, runs: chat.Runs) -> None:
        answers.setdefault(question, {}).update(chat.answer(model, question, runs))

    cells = re.split(r"^# %%.*$", unit.text.read_text("utf-8"), flags=re.MULTILINE)
    calling = [cell for cell in cells if "\n    chat.ask(" in cell]
    names = _names(unit, cells) if calling else {}
    with mock.patch.object(chat, "ask", ask):
        for cell in calling:
            exec(compile(cell, unit.text.name, "exec"), names)
    return answers


def _names(unit: Unit, cells: list[str]) -> dict[str, Any]:
    """The names of a unit's solutions, and what its notebook imports."""
    solutions = importlib.import_module(f"transformer_course.solutions.{unit.name}")
    imports = [
        node
        for cell in cells
        for node in ast.parse(cell).body
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    names = dict(vars(solutions))
    code = compile(ast.Module(imports, []), unit.text.name, "exec")
    exec(code, names)
    return names | {"demo": lambda function: function()}


def write(answers: Mapping[str, Mapping[str, str]]) -> None:
    """Write answers beside those that are recorded already."""
    recorded: Answers = json.loads(chat.RECORDED.read_text("utf-8"))
    for question, by_label in answers.items():
        recorded.setdefault(question, {}).update(by_label)
    text = json.dumps(recorded, indent=2, ensure_ascii=False, sort_keys=True)
    chat.RECORDED.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    for unit in units():
        if unit.number in (sys.argv[1:] or [unit.number]):
            write(record(unit, fetch("smollm2")))
