"""The sample class is of every kind, and the same each time."""

import functools
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.checks import references
from autograder.classroom import sample
from autograder.course import ROOT, Unit, find_unit, graded_notebooks
from autograder.course.files import write
from tests.classroom.students import FULL, MISTAKEN
from tests.conftest import mostly_slow

# One class is made like the other, of a unit's own solutions and mutants.
SAMPLED = mostly_slow(number="02")
submissions = functools.cache(sample.submissions)


@pytest.mark.parametrize("unit", SAMPLED)
def test_every_unit_has_a_class_of_every_kind(unit):
    notebooks = submissions(unit)
    assert len(notebooks) >= 14
    assert FULL | MISTAKEN | {"felix", "henri", "isaac"} == set(notebooks)
    assert all(json.loads(data)["cells"] for data in notebooks.values())
    assert len(set(notebooks.values())) >= 12, "submissions should differ"
    colab = json.loads(notebooks["niels"])
    assert colab["nbformat_minor"] == 0 and "colab" in colab["metadata"]


@pytest.mark.parametrize("unit", SAMPLED)
def test_nobody_hands_in_what_no_student_has(unit):
    solutions = rb"transformer_course.\w+\.exercises"
    notebooks = submissions(unit).items()
    assert not [student for student, data in notebooks if re.search(solutions, data)]


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("unit", SAMPLED)
def test_whoever_has_solved_all_gets_all_points(unit, tmp_path):
    """In whole notebooks, where each answer works with the others of its student."""
    class_ = {student: submissions(unit)[student] for student in FULL}
    assert lost(unit, class_, tmp_path / "course") == {}


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", ["attention", "encoder_decoder"])
def test_an_exercise_that_is_skipped_costs_nothing_else(name, tmp_path):
    unit = find_unit(name)
    notebooks = submissions(unit)
    exercises = references.load(unit.name)
    below = {
        foundation
        for exercise in exercises.values()
        for foundation in exercise.builds_on
    }
    class_ = {
        foundation.split("/")[1]: with_answer(
            notebooks["ada"], foundation, notebooks["felix"]
        )
        for foundation in sorted(below)
    }
    losses = lost(unit, class_, tmp_path / "course")
    assert set(losses) == {f"{student}, {unit.name}/{student}" for student in class_}


def with_answer(notebook: bytes, exercise: str, solved_notebook: bytes) -> bytes:
    """A notebook with another one's answer to an exercise."""
    document, cell_id = json.loads(notebook), f"{exercise.replace('/', '-')}-answer"
    (cell,) = [cell for cell in document["cells"] if cell["id"] == cell_id]
    cell["source"] = answers(solved_notebook)[cell_id]
    return json.dumps(document).encode()


def lost(unit: Unit, class_: dict[str, bytes], root: Path) -> dict[str, str]:
    """Grade a class as ``nbgrader autograde`` does: who has lost what, and why."""
    write(root / "nbgrader_config.py", (ROOT / "nbgrader_config.py").read_bytes())
    write(root / "source" / unit.label / unit.source.name, unit.source.read_bytes())
    sample.hand_in(unit, root, class_)
    for command in ("generate_assignment", "autograde"):
        words = [sys.executable, "-m", "nbgrader", command, unit.label]
        subprocess.run(words, cwd=root, check=True, capture_output=True)
    graded = graded_notebooks(unit.label, root)
    assert len(graded) == len(class_)
    losses = {}
    for student, path in graded.items():
        about = json.loads(path.read_bytes())["metadata"]["autograder"]
        assert about["checks"]
        for check in about["checks"].values():
            if check["points"] < check["max_points"]:
                losses[f"{student}, {check['exercise']}"] = check["panel"]
    return losses


def answers(notebook: bytes) -> dict[str, str]:
    """The code of the exercises' cells by their ids."""
    return {
        cell["id"]: "".join(cell["source"])
        for cell in json.loads(notebook)["cells"]
        if cell["metadata"].get("nbgrader", {}).get("solution")
    }


def test_mistaken_students_have_several_exercises_wrong_and_others_right():
    notebooks = submissions(find_unit("attention"))
    solved = answers(notebooks["ada"])
    for student in MISTAKEN:
        student_answers = answers(notebooks[student])
        wrong = [cell for cell, code in solved.items() if student_answers[cell] != code]
        assert 3 <= len(wrong) < len(solved), student


def test_the_sample_class_is_the_same_each_time():
    unit = find_unit("attention")
    assert sample.submissions(unit) == submissions(unit)
