"""Error carried forward is no key: nothing is earned by what was left out.

Unit 1's first exercises, some of which the course's version of another one answers.
"""

from __future__ import annotations

import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell

from autograder.authoring.catalogue import specification
from autograder.authoring.variants import solution_source
from autograder.grading import converter
from autograder.grading.checks import reference_metadata
from tests.grading import judged_course as judged
from tests.tiny_course import cell, graded, run_nbgrader, source_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sandboxes are Linux's")

UNIT = "positional_encoding"
NAMES = ("embed", "table_by_loops", "sinusoid", "module", "shift_matrix")
POINTS = {
    name: reference_metadata.entries(UNIT)[f"{UNIT}/{name}"]["points"] for name in NAMES
}
RIGHT = {
    name: solution_source(specification(f"positional_encoding/{name}"))
    for name in POINTS
}
TARGETS = {name: specification(f"positional_encoding/{name}").target for name in POINTS}
STUBS = {
    name: f"def {target}(*_, **__):\n    raise NotImplementedError"
    for name, target in TARGETS.items()
}
LOOK_UP = """def sinusoid(positions, d_model):
    if d_model % 2:
        raise ValueError
    table = table_by_loops(int(positions.max()) + 1, d_model)
    return table[positions.long()]"""
BY_ATAN2 = """def sinusoid(positions, d_model):
    if d_model % 2:
        raise ValueError
    start, step = table_by_loops(2, d_model).view(2, -1, 2)
    frequencies = torch.atan2(step[:, 0], step[:, 1]) - torch.atan2(*start[0])
    angles = positions.unsqueeze(-1) * frequencies
    return torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)"""
ZEROS = (
    "def table_by_loops(max_len, d_model):\n    return torch.zeros(max_len, d_model)"
)
RAISES = "def table_by_loops(max_len, d_model):\n    raise ValueError"
NOTHING = "def table_by_loops(max_len, d_model):\n    return None"
# Right but for its dtype, which spoils that of a row.
WIDE = RIGHT["table_by_loops"].replace(
    "torch.zeros(max_len, d_model)", "torch.zeros(max_len, d_model).double()"
)
# Keeps what is in place for another check, in a sandbox that goes on to the next one.
KEEPS = RIGHT["module"].replace(
    "        return x +",
    "        sinusoid(KEPT.append(sinusoid) or torch.arange(2), 4)  # embed"
    "\n        return x +",
)
FROM_KEPT = """KEPT = globals().setdefault('KEPT', [])
def shift_matrix(k, d_model):
    sinusoid = KEPT[-1]  # and embed stands here, so that there is a second try
    sin, cos = sinusoid(torch.tensor(float(k)), d_model).view(-1, 2).unbind(-1)
    return torch.block_diag(*torch.stack((cos, sin, -sin, cos), -1).view(-1, 2, 2))"""
HANDED_IN = {
    "look-up": {"sinusoid": LOOK_UP},
    "atan2": {"sinusoid": BY_ATAN2},
    "zeros": {"sinusoid": LOOK_UP, "table_by_loops": ZEROS},
    "raises": {"sinusoid": BY_ATAN2, "table_by_loops": RAISES},
    "nothing": {"sinusoid": BY_ATAN2, "table_by_loops": NOTHING},
    "honest": {"sinusoid": BY_ATAN2, "table_by_loops": WIDE},
    "keeps": {"module": f"KEPT = []\n{KEEPS}", "shift_matrix": FROM_KEPT},
    "right": RIGHT,
}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    root = tmp_path_factory.mktemp("keys")
    cells = [
        new_code_cell(
            "import math\nimport torch\nfrom jaxtyping import Bool, Float, Int, Real\n"
            "from torch import Tensor, nn\n"
            "from autograder import check",
            id="imports",
        )
    ]
    for name, points in POINTS.items():
        check = f'check("positional_encoding/{name}", {TARGETS[name]})'
        solved = f"### BEGIN SOLUTION\n{RIGHT[name]}\n### END SOLUTION"
        answer = new_code_cell(solved)
        cells.append(graded(answer, f"{name}-answer", None, True))
        cells.append(graded(new_code_cell(check), name, points))
    path = root / "source" / judged.UNIT / f"{judged.UNIT}.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(source_of(cells), path)
    assert run_nbgrader(root, "generate_assignment", judged.UNIT)["success"]
    for student, answers in HANDED_IN.items():
        notebook = nbformat.read(
            root / "release" / judged.UNIT / path.name, as_version=4
        )
        for name in POINTS:
            source = (STUBS | answers)[name]
            cell(notebook, f"{name}-answer").source = source
        folder = root / "submitted" / student / judged.UNIT
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / path.name)
    assert converter.install()
    assert judged.autograde(root)["success"]
    return root


def record(course, student, name):
    path = course / "autograded" / student / judged.UNIT / f"{judged.UNIT}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    return notebook.metadata.autograder["checks"][name]


@pytest.mark.parametrize("student", ["look-up", "atan2", "zeros", "raises", "nothing"])
def test_a_table_that_was_not_made_answers_nothing(course, student):
    row = record(course, student, "sinusoid")
    assert row["points"] == 0 and row["given"] == []
    assert "Not tried with the course's version of The sinusoid table" in row["note"]
    assert "solve most of it first" in judged.outputs(course, student, "sinusoid")


def test_a_table_that_is_mostly_right_is_put_in_place(course):
    table = record(course, "honest", "table_by_loops")
    assert 0.5 <= table["points"] / POINTS["table_by_loops"] < 1
    row = record(course, "honest", "sinusoid")
    assert row["given"] == [f"{UNIT}/table_by_loops"]
    assert 0 < row["points"] <= POINTS["sinusoid"]


def test_what_another_check_has_kept_is_gone(course):
    earlier = record(course, "keeps", "module")
    assert earlier["points"] == POINTS["module"] and len(earlier["given"]) == 2
    row = record(course, "keeps", "shift_matrix")
    assert row["points"] == 0


def test_nothing_is_said_to_who_is_right(course):
    for name, points in POINTS.items():
        row = record(course, "right", name)
        assert (row["points"], row["note"]) == (points, "")
