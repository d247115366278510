"""A hand-in of unit 2, made with the kit of version 1.0, is graded by today's course.

Within a term, ids of exercises and cells stay what they are. Between terms an exercise
may go; then its cells run like a student's own, and earn nothing.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.course import ROOT
from autograder.grading import converter
from tests import tiny_course as tiny
from tests.grading.judged_course import STAGES
from tests.tiny_course import cell, run_nbgrader

UNIT = "02_attention"
KEPT = Path(__file__).parent / "kept" / f"{UNIT}.ipynb"
UNSTABLE, BLANK = "attention-softmax", "attention-who_sees_whom"


@pytest.fixture(scope="module")
def scores(tmp_path_factory) -> dict[str, tuple[float, float]]:
    """What each cell of the kept hand-in earns today, and what it is worth."""
    root = tmp_path_factory.mktemp("term")
    source = ROOT / "source" / UNIT / f"{UNIT}.ipynb"
    tiny.make_course(root, UNIT, nbformat.read(source, as_version=4))
    folder = root / "submitted" / "ada" / UNIT
    folder.mkdir(parents=True)
    (folder / f"{UNIT}.ipynb").write_bytes(KEPT.read_bytes())
    config = tiny.Config()
    config.Autograde.autograde_preprocessors = STAGES
    assert converter.install()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(converter, "rehearse", lambda *_: None)
        run_nbgrader(root, "autograde", UNIT, "*", config=config)
    with Gradebook(f"sqlite:///{root}/gradebook.db") as book:
        graded = book.find_submission(UNIT, "ada").notebooks[0].grades
        return {grade.name: (grade.score, grade.max_score) for grade in graded}


def test_every_right_answer_of_a_kept_hand_in_has_all_its_points(scores):
    notebook = nbformat.read(KEPT, as_version=4)
    checked = [
        c.metadata.nbgrader.grade_id for c in notebook.cells
        if c.metadata.get("nbgrader", {}).get("grade") and c.cell_type == "code"
    ]  # fmt: skip
    right = {name for name in checked if name in scores} - {UNSTABLE, BLANK}
    assert len(right) >= 3
    assert {name: scores[name][0] for name in right} == {
        name: scores[name][1] for name in right
    }


def test_a_kept_wrong_answer_earns_some_points_and_a_blank_one_none(scores):
    earned, most = scores[UNSTABLE]
    assert 0 < earned < most
    assert scores[BLANK][0] == 0
    assert cell(nbformat.read(KEPT, as_version=4), f"{BLANK}-answer").source
