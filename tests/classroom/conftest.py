"""A small graded class, made by the real nbgrader with the course's own converter."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties, CheckCellMetadata
from traitlets.config import Config

from autograder.grading import converter
from autograder.grading.metadata import GradingMetadata
from autograder.grading.scores import SaveVerdicts
from tests import tiny_course as tiny
from tests.tiny_course import UNIT, RunHere, hand_in, run_nbgrader

WHOLE = "quux-4711"  # a student whose name is found nowhere by accident


class RunAndNote(RunHere):
    """Runs the notebook here, and notes what the real one would."""

    def preprocess(self, nb, resources):
        nb, resources = super().preprocess(nb, resources)
        metadata = GradingMetadata.of_run(nb, resources)
        metadata.sandbox = {"level": "namespaces"}
        return nb, resources


class HourlyPenalty(LateSubmissionPlugin):
    """An instructor's own policy: a point for each hour begun."""

    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return float(math.ceil(total_seconds_late / 3600))


@pytest.fixture(scope="session")
def graded_once(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("class") / "course"
    tiny.make_course(root)
    release = tiny.read(root, "release")
    wrong = "def double(x):\n    return x"
    hand_in(root, WHOLE, tiny.data(tiny.solve_release(release)))
    hand_in(root, "bob", tiny.data(tiny.solve_release(release, double=wrong)))
    hand_in(root, "cut", tiny.data(tiny.solve_release(release))[:100])
    hand_in(root, "silent", tiny.data(release))
    with Gradebook(f"sqlite:///{root}/gradebook.db", "tiny") as book:
        names = {"first_name": "Ada", "last_name": "Lovelace"}
        book.add_student(WHOLE, **names, email="ada@uni.example", lms_user_id="501")
        book.add_student("bob", first_name="Bob", last_name="Ross", lms_user_id="502")
        book.add_student("never", first_name="Nie", last_name="Mand", lms_user_id="509")
    autograde(root)
    return root


def autograde(root: Path, student: str = "*", force: bool = True) -> dict:
    """Grade as ``nbgrader autograde`` does, with a point off for each hour late."""
    assert converter.install()
    config = Config()
    config.Autograde.autograde_preprocessors = [
        RunAndNote,
        SaveVerdicts,
        AssignLatePenalties,
        CheckCellMetadata,
    ]
    config.Autograde.jobs = 1
    config.AssignLatePenalties.plugin_class = HourlyPenalty
    return run_nbgrader(root, "autograde", UNIT, student, force, config=config)


@pytest.fixture
def graded(graded_once, tmp_path) -> Path:
    """A copy of the graded course, to be changed at will."""
    root = tmp_path / "course"
    shutil.copytree(graded_once, root)
    return root
