"""The tests' one small course: exercises and a question; ways to hand it in.

``make_course`` lays it out as the build leaves it, ``as_text`` one of its units as an
author writes it, ``source_of`` any unit of a test's own cells.
"""

from __future__ import annotations

import contextlib
import copy
import io
import json
import shutil
from pathlib import Path

import nbformat
from nbconvert.preprocessors import Preprocessor
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.api import Gradebook
from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    SaveAutoGrades,
)
from traitlets.config import Config

from autograder.course import ROOT, Unit

UNIT = "01_numbers"
STUB = "raise NotImplementedError  # your code here"
DOUBLE = "def double(x):\n    return 2 * x"
TRIPLE = "def triple(x):\n    return 3 * x"
WORDS = "Because adding a number to itself doubles it."


def graded(cell, grade_id: str, points: float | None = None, solution: bool = False):
    cell.id = grade_id
    cell.metadata["nbgrader"] = {
        "grade": points is not None,
        "grade_id": grade_id,
        "schema_version": 3,
        "locked": not solution,
        "solution": solution,
        "task": False,
    }
    if points is not None:
        cell.metadata["nbgrader"]["points"] = points
    return cell


def answer_cell(code: str, grade_id: str):
    body = code.replace("    return", "    ### BEGIN SOLUTION\n    return")
    return graded(new_code_cell(f"{body}\n    ### END SOLUTION"), grade_id, None, True)


def test_cell(code: str, hidden: str, grade_id: str, points: float):
    text = f"{code}\n### BEGIN HIDDEN TESTS\n{hidden}\n### END HIDDEN TESTS"
    return graded(new_code_cell(text), grade_id, points)


def source_notebook() -> nbformat.NotebookNode:
    """The instructor's notebook: six points for code, four for words."""
    cells = [
        new_markdown_cell("# Numbers\n\nWe double, then we triple.", id="numbers-1"),
        new_code_cell("import math", id="numbers-2"),
        answer_cell(DOUBLE, "numbers-double-answer"),
        test_cell(
            "assert double(2) == 4", "assert double(-3) == -6", "numbers-double", 2.0
        ),
        answer_cell(TRIPLE, "numbers-triple-answer"),
        test_cell(
            "assert triple(2) == 6", "assert triple(-3) == -9", "numbers-triple", 4.0
        ),
        graded(new_markdown_cell("Why is `x + x` double?"), "numbers-why", 4.0, True),
    ]
    return source_of(cells)


def source_of(cells: list) -> nbformat.NotebookNode:
    """A notebook of these cells, as the build writes one."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def run_nbgrader(root: Path, method: str, *arguments, **options) -> dict:
    """Call a method of nbgrader's API on a course, as the formgrader does."""
    from nbgrader.apps import NbGraderAPI

    config = Config()
    config.CourseDirectory.root = str(root)
    config.CourseDirectory.course_id = "tiny"
    config.ClearSolutions.code_stub = {"python": STUB}
    config.Autograde.jobs = 1
    config.CourseAutograde.calm_seconds = 0.0
    config.merge(options.pop("config", {}))
    with contextlib.redirect_stderr(io.StringIO()):
        return getattr(NbGraderAPI(config=config), method)(*arguments, **options)


def make_course(
    root: Path, unit: str = UNIT, notebook: nbformat.NotebookNode | None = None
) -> None:
    """Source, release and gradebook of the tiny course, or of another notebook."""
    path = root / "source" / unit / f"{unit}.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(notebook or source_notebook(), path)
    result = run_nbgrader(root, "generate_assignment", unit)
    assert result["success"], result


def read(root: Path, step: str, student: str = ".") -> nbformat.NotebookNode:
    return nbformat.read(root / step / student / UNIT / f"{UNIT}.ipynb", as_version=4)


def cell(notebook, grade_id: str):
    matching = [
        c
        for c in notebook.cells
        if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id
    ]
    return matching[0]


def solve_release(
    release, double: str = DOUBLE, triple: str = TRIPLE, words: str = WORDS
):
    """A copy of the released notebook with answers."""
    notebook = copy.deepcopy(release)
    cell(notebook, "numbers-double-answer").source = double
    cell(notebook, "numbers-triple-answer").source = triple
    cell(notebook, "numbers-why").source = words
    return notebook


def data(notebook) -> bytes:
    """A notebook as its file, without any validation."""
    return json.dumps(notebook).encode()


def hand_in(
    root: Path, student: str, content: bytes, name: str = f"{UNIT}.ipynb"
) -> Path:
    folder = root / "submitted" / student / UNIT
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    return folder


class RunHere(Preprocessor):
    """Runs trusted test notebooks in this process: quick, and without any kernel."""

    enabled = True
    seen: list = []  # noqa: RUF012

    def preprocess(self, nb, resources):
        RunHere.seen.append((resources["nbgrader"]["student"], resources))
        names: dict = {}
        for number, cell in enumerate(c for c in nb.cells if c.cell_type == "code"):
            cell.execution_count, cell.outputs = number + 1, []
            try:
                exec(cell.source, names)
            except Exception as error:
                text = str(error)
                cell.outputs = [
                    new_output(
                        "error",
                        ename=type(error).__name__,
                        evalue=text,
                        traceback=[f"Cell In[{number + 1}], line 1", text],
                    )
                ]
        return nb, resources


def settings(**options) -> Config:
    config = Config()
    config.Autograde.autograde_preprocessors = [
        RunHere,
        SaveAutoGrades,
        AssignLatePenalties,
        CheckCellMetadata,
    ]
    config.Autograde.update(options)
    return config


def autograde(root, student="*", force=False, **options) -> dict:
    RunHere.seen.clear()
    return run_nbgrader(
        root, "autograde", UNIT, student, force=force, config=settings(**options)
    )


def graded_students() -> list[str]:
    """Whose notebooks were run by the last call."""
    return [student for student, _ in RunHere.seen]


def good(root, **answers) -> bytes:
    return data(solve_release(read(root, "release"), **answers))


def gradebook(root) -> dict:
    """All that the gradebook says of the unit, without its random keys."""
    with Gradebook(f"sqlite:///{root}/gradebook.db", "tiny") as book:
        return {
            s.student_id: (
                s.timestamp,
                {
                    g.name: (g.auto_score, g.manual_score, g.needs_manual_grade)
                    for n in s.notebooks
                    for g in n.grades
                },
                {c.name: c.auto_comment for n in s.notebooks for c in n.comments},
                [n.late_submission_penalty for n in s.notebooks],
            )
            for s in book.assignment_submissions(UNIT)
        }


def points(root) -> dict[str, list[float | None]]:
    return {
        student: [score for score, *_ in grades.values()]
        for student, (_, grades, *_) in gradebook(root).items()
    }


# --- as an author writes it ----------------------------------------------------------

TEXT = '''\
# %% [markdown]
# # 9 · Tiny

# %%
import math
import matplotlib.pyplot as plt
from autograder import check

# %% exercise="tiny/double"
def double(x):
    """Twice x."""
    ### BEGIN SOLUTION
    doubled_number = math.fsum([x, x])
    return doubled_number
    ### END SOLUTION

# %% check="tiny/double" points=95
check("tiny/double", double)

# %% [markdown] written="tiny/why" points=5
# *Your answer here*
'''


def as_text(root: Path, text: str = TEXT) -> Unit:
    """A unit of one exercise and one question, with all that a build of it needs."""
    shutil.copy(ROOT / "course.toml", root)
    shutil.copy(ROOT / "nbgrader_config.py", root)
    (root / "notebooks").mkdir(exist_ok=True)
    unit = Unit("99", "tiny", root)
    unit.text.write_text(text, encoding="utf-8")
    return unit
