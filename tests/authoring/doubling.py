"""A unit of one exercise, as its author writes it: files by their names."""

from __future__ import annotations

from pathlib import Path

import nbformat

LABEL = "99_doubling"
FILES = {
    f"notebooks/{LABEL}.py": '''\
# %% [markdown]
# # 99 · Doubling
#
# *About half an hour*
#
# *1 exercise · 100 points*

# %%
import torch
from torch import Tensor

from autograder import check

# %% [markdown]
# ### Exercise 99.1 · Twice
#
# *time ~20 min · difficulty 1/5 · 100 points*

# %% exercise="doubling/double"
def double(x: Tensor) -> Tensor:
    """Twice x, of any shape."""
    ### BEGIN SOLUTION
    doubled_numbers = torch.add(x, x)
    return doubled_numbers
    ### END SOLUTION


# %% check="doubling/double" points=100
check("doubling/double", double)
''',
    "transformer_course/doubling/probes/__init__.py": '''\
"""Probes of a unit about doubling."""

from __future__ import annotations

from typing import Any

from autograder.checks.probes import Inputs, Seen, probe, tensor


@probe("doubling/double", results="twice")
def double(function: Any, inputs: Inputs) -> Seen:
    """What becomes of x."""
    return {"twice": tensor(function(inputs["x"]), "the result")}
''',
    "transformer_course/doubling/exercises/double.py": '''\
"""Twice a tensor."""

from __future__ import annotations

from autograder.authoring.notation import case, edit, right, wrong
from autograder.authoring.specification import Specification

ADDED = "torch.add(x, x)"

EXERCISE = Specification(
    cases=[
        case("matrix", "3 rows and 5 columns", lambda draw: {"x": draw.tensor(3, 5)},
             "Is every number twice as large?"),
    ],
    mutants=[
        wrong("squared", "You squared.", "What is twice three?", edit(ADDED, "x * x")),
        wrong("tripled", "You tripled.", "How often is x?", edit(ADDED, "3 * x")),
        wrong("same", "You returned x.", "Twice what is it?", edit(ADDED, "x.clone()")),
    ],
    accepted=[right("times_two", edit(ADDED, "2 * x"))],
)
''',
    "transformer_course/doubling/unit.toml": """\
demo = true

[limits]
timeout = 45

[handed_in]
"notes.txt" = "transformer_course/doubling/exercises/double.py"
""",
}
ANSWERS = {"ada": "return 2 * x", "bob": "return 3 * x"}  # right, and wrong


def hand_in(course: Path) -> None:
    """Hand in a right and a wrong answer in a course that has built the unit."""
    for student, code in ANSWERS.items():
        release = course / "release" / LABEL / f"{LABEL}.ipynb"
        notebook = nbformat.read(release, as_version=4)
        for cell in notebook.cells:
            if cell.metadata.get("nbgrader", {}).get("solution"):
                cell.source = f"def double(x):\n    {code}"
        folder = course / "submitted" / student / LABEL
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / f"{LABEL}.ipynb")
