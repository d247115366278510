"""A course of one notebook with two judged checks, and submissions of all sorts."""

from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell
from traitlets.config import Config

from tests import tiny_course as tiny
from tests.tiny_course import answer_cell, cell, graded, run_nbgrader, source_of

UNIT = "02_judged"
SOFTMAX = (
    "def stable_softmax(x):\n"
    "    powers = (x - x.amax(-1, keepdim=True)).exp()\n"
    "    return powers / powers.sum(-1, keepdim=True)"
)
SEES = (
    "def who_sees_whom(layer, x):\n"
    "    before, push = layer(x), torch.linspace(0.5, 1, x.size(-1))\n"
    "    columns = []\n"
    "    for j in range(len(x)):\n"
    "        changed = x.clone()\n"
    "        changed[j] += push\n"
    "        columns.append(((layer(changed) - before).abs() > 1e-6).any(-1))\n"
    "    return torch.stack(columns, dim=1)"
)
UNDIVIDED = SOFTMAX.replace(" / powers.sum(-1, keepdim=True)", "")
RIGHT, WRONG = [14.0, 8.0], [0.0, 8.0]
STAGES = [
    "autograder.grading.execute.JudgedExecute",
    "autograder.grading.scores.SaveVerdicts",
]


def checked(exercise: str, answer: str, grade_id: str, points: float):
    """A cell that checks an answer."""
    return graded(new_code_cell(f'check("{exercise}", {answer})'), grade_id, points)


def source_notebook() -> nbformat.NotebookNode:
    cells = [
        new_code_cell("import torch\nfrom autograder import check", id="imports"),
        answer_cell(SOFTMAX, "softmax-answer"),
        checked("attention/softmax", "stable_softmax", "softmax", 14.0),
        answer_cell(SEES, "sees-answer"),
        checked("attention/who_sees_whom", "who_sees_whom", "sees", 8.0),
    ]
    return source_of(cells)


def make_course(root: Path) -> None:
    tiny.make_course(root, UNIT, source_notebook())


def hand_in(root: Path, student: str, softmax: str = SOFTMAX, sees: str = SEES) -> None:
    submit(root, student, {"softmax-answer": softmax, "sees-answer": sees})


def submit(root: Path, student: str, answers: dict[str, str]) -> None:
    """Hand in the release with these answers, by grade id."""
    path = root / "release" / UNIT / f"{UNIT}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    for grade_id, code in answers.items():
        cell(notebook, grade_id).source = code
    folder = root / "submitted" / student / UNIT
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / path.name)


def autograde(root: Path, stages: list = STAGES, **limits: float) -> dict:
    """Grade all submissions, in this process, with other limits than the usual."""
    config = Config()
    config.Autograde.autograde_preprocessors = stages
    config.JudgedExecute.shutdown_kernel = "immediate"
    config.JudgedExecute.update(limits)
    return run_nbgrader(root, "autograde", UNIT, "*", config=config)


def outputs(root: Path, student: str, grade_id: str) -> str:
    """What a cell of a graded notebook shows, as text."""
    path = root / "autograded" / student / UNIT / f"{UNIT}.ipynb"
    return str(cell(nbformat.read(path, as_version=4), grade_id).outputs)
