"""The sample class is of every kind, and the same each time."""

import json

import pytest

from autograder.classroom import sample
from autograder.course import find_unit, units
from tests.classroom.students import FULL, MISTAKEN


@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_every_unit_has_a_class_of_every_kind(unit):
    made = sample.submissions(unit)
    assert len(made) >= 14 and FULL | MISTAKEN | {"felix", "henri", "isaac"} == set(
        made
    )
    assert all(json.loads(data)["cells"] for data in made.values())
    assert len(set(made.values())) >= 12, "submissions should differ"
    colab = json.loads(made["niels"])
    assert colab["nbformat_minor"] == 0 and "colab" in colab["metadata"]


def answers(notebook: bytes) -> dict[str, str]:
    """The code of the exercises' cells by their ids."""
    return {
        cell["id"]: "".join(cell["source"])
        for cell in json.loads(notebook)["cells"]
        if cell["metadata"].get("nbgrader", {}).get("solution")
    }


def test_mistaken_students_have_several_exercises_wrong_and_others_right():
    made = sample.submissions(find_unit("attention"))
    solved = answers(made["ada"])
    for student in MISTAKEN:
        given = answers(made[student])
        wrong = [cell for cell, code in solved.items() if given[cell] != code]
        assert 3 <= len(wrong) < len(solved), student


def test_the_sample_class_is_the_same_each_time():
    unit = units()[0]
    assert sample.submissions(unit) == sample.submissions(unit)
