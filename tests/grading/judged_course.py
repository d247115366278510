"""A course of one notebook with two judged checks, and submissions of all sorts."""

from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell
from traitlets.config import Config

from tests import tiny_course as tiny
from tests.tiny_course import answer_cell, cell, graded, run_nbgrader, source_of

UNIT = "02_judged"
SCORES = (
    "def dot_product_scores(q, k):\n"
    "    return q @ k.transpose(-2, -1) / q.size(-1) ** 0.5"
)
CAUSAL = (
    "def causal_mask(length):\n"
    "    return torch.ones(length, length, dtype=torch.bool).tril()"
)
TRANSPOSED = SCORES.replace("q @ k.transpose", "k @ q.transpose")
RIGHT, WRONG = [5.0, 6.0], [0.0, 6.0]
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
        answer_cell(SCORES, "scores-answer"),
        checked("attention/scores", "dot_product_scores", "scores", 5.0),
        answer_cell(CAUSAL, "causal-answer"),
        checked("attention/causal_mask", "causal_mask", "causal", 6.0),
    ]
    return source_of(cells)


def make_course(root: Path) -> None:
    tiny.make_course(root, UNIT, source_notebook())


def hand_in(
    root: Path, student: str, scores: str = SCORES, causal: str = CAUSAL
) -> None:
    submit(root, student, {"scores-answer": scores, "causal-answer": causal})


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
