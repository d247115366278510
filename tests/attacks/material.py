"""What the course that is attacked consists of, and how it is handed in."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.course import ROOT
from tests.tiny_course import answer_cell, graded, source_of, test_cell
from tests.tiny_course import data as as_file

UNIT = "02_attention"  # its own solutions are not among those that a sandbox may read
NOTEBOOK = f"{UNIT}.ipynb"
PORT = 47113  # where the course listens for whatever gets out of a sandbox
CANARY = "CANARY-7f31"  # in the course's files, its environment and a hidden assert
SOFTMAX, SEES, INSIDE, READ = (
    "attention-softmax",
    "attention-who_sees_whom",
    "inside-double",
    "essay",
)
POINTS = {SOFTMAX: 14.0, SEES: 8.0, INSIDE: 2.0, READ: 3.0}
JUDGED = (SOFTMAX, SEES)
SOLUTIONS = {
    SOFTMAX: "def stable_softmax(x):\n"
    "    powers = (x - x.amax(-1, keepdim=True)).exp()\n"
    "    return powers / powers.sum(-1, keepdim=True)",
    SEES: "def who_sees_whom(layer, x):\n"
    "    before, push = layer(x), torch.linspace(0.5, 1, x.size(-1))\n"
    "    columns = []\n"
    "    for j in range(len(x)):\n"
    "        changed = x.clone()\n"
    "        changed[j] += push\n"
    "        columns.append(((layer(changed) - before).abs() > 1e-6).any(-1))\n"
    "    return torch.stack(columns, dim=1)",
    INSIDE: "def double(x):\n    return 2 * x",
    READ: "# I would plot the weights of each head, and look at a few rows.",
}
COMPANIONS = ("aaron", "zoe")  # solved, graded before and after every attacker
# Small limits, so that attacks which use all of them take seconds.
LIMITS = """
c.JudgedExecute.timeout = 12
c.JudgedExecute.iopub_timeout = 2
c.JudgedExecute.notebook_seconds = 40
c.JudgedExecute.answer_seconds = 6
c.JudgedExecute.memory_mb = 600
c.JudgedExecute.disk_mb = 160
c.JudgedExecute.file_mb = 16
c.JudgedExecute.processes = 64
c.Exchange.root = "exchange"
"""
Notebook = nbformat.NotebookNode
Answers = Mapping[str, str]


def source_notebook() -> Notebook:
    """The instructor's notebook; the judged exercises are those of the real unit 02."""
    real = nbformat.read(ROOT / "source" / UNIT / NOTEBOOK, as_version=4)
    wanted = [name + end for name in JUDGED for end in ("-answer", "")]
    judged = {grade_id(cell): cell for cell in real.cells}
    cells = [
        new_markdown_cell("# Two exercises of attention", id="title"),
        new_code_cell(
            "import math\nfrom collections.abc import Callable\n"
            "import torch\nfrom jaxtyping import Bool, Float\n"
            "from torch import Tensor\n"
            "from autograder import check",
            id="imports",
        ),
        *(judged[name] for name in wanted),
        answer_cell(SOLUTIONS[INSIDE], f"{INSIDE}-answer"),
        test_cell(
            "assert double(2) == 4",
            f"assert double(-3) == -6  # {CANARY}-assert",
            INSIDE,
            POINTS[INSIDE],
        ),
        graded(
            new_code_cell("# How would you look at a head?"), READ, POINTS[READ], True
        ),
        new_markdown_cell("The end.", id="end"),
    ]
    return source_of(cells)


def grade_id(cell: Mapping) -> str:
    return cell["metadata"].get("nbgrader", {}).get("grade_id", "")


def answered(release: Notebook, answers: Answers) -> Notebook:
    """A copy of the released notebook with some answers in their cells."""
    notebook = copy.deepcopy(release)
    for cell in notebook.cells:
        name = grade_id(cell)
        if name.removesuffix("-answer") in answers and (
            name.endswith("-answer") or name == READ
        ):
            cell.source = answers[name.removesuffix("-answer")]
    return notebook


class Submission(Protocol):
    """What attacks and accidents have in common.

    Attributes:
        before, after: code of a cell in front of all exercises, and of a last one.
        change: edits the notebook; ``data`` edits or replaces its file.
        files: other files, by relative path; ``folder`` edits the folder at last.
    """

    before: str
    after: str
    change: Callable[[Notebook], None] | None
    data: Callable[[bytes], bytes] | None
    files: Mapping[str, bytes]
    folder: Callable[[Path], None] | None


def write_submission(submission: Submission, notebook: Notebook, path: Path) -> None:
    """Write a notebook to its path, with all that a submission does to it."""
    if submission.before:
        notebook.cells.insert(2, new_code_cell(submission.before))
    if submission.after:
        notebook.cells.append(new_code_cell(submission.after))
    if submission.change:
        submission.change(notebook)
    data = as_file(notebook)
    path.write_bytes(submission.data(data) if submission.data else data)
    for name, content in submission.files.items():
        (path.parent / name).parent.mkdir(parents=True, exist_ok=True)
        (path.parent / name).write_bytes(content)
    if submission.folder:
        submission.folder(path.parent)


def read(path: Path) -> str:
    return path.read_text("utf-8", "replace") if path.is_file() else ""
