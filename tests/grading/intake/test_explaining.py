"""What is wrong with a hand-in is called what it is: another unit's, a conflict."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell

from autograder.grading import intake
from autograder.grading.intake import File, RefusedError
from autograder.grading.intake.explaining import owner
from tests.grading.intake.released import RELEASE
from tests.tiny_course import UNIT, data, graded, solve_release

NAME = f"{UNIT}.ipynb"


@pytest.mark.parametrize("name", ["b.ipynb", NAME])
def test_a_notebook_of_another_unit_is_called_by_its_unit(tmp_path, name):
    """Also one that has the usual name, and defines a name of this unit."""
    source = tmp_path / "source" / "07_words" / "07_words.ipynb"
    source.parent.mkdir(parents=True)
    marks = [
        graded(new_code_cell("check()"), grade_id, 2.0)
        for grade_id in ("words-count", "words-sort")
    ]
    helper = new_code_cell("def double(x):\n    return x + x")
    source.write_bytes(data(nbformat.v4.new_notebook(cells=[helper, *marks])))
    files = {name: File(source.read_bytes()), "a.ipynb": File(b'{"cells": []}')}
    with pytest.raises(RefusedError) as refused:
        intake.find_notebook(
            files, NAME, RELEASE, course_ids=lambda: intake.grade_ids(tmp_path)
        )
    reason = f"\"{name}\" is unit 7's notebook (07_words), not this unit's"
    assert str(refused.value) == reason


def test_a_damaged_source_hides_no_other(tmp_path):
    texts = {"01_a": b"{", "02_b": b"[]", "03_c": data({"cells": []})}
    for label, text in texts.items():
        (tmp_path / "source" / label).mkdir(parents=True)
        (tmp_path / "source" / label / f"{label}.ipynb").write_bytes(text)
    assert dict(intake.grade_ids(tmp_path)) == {"03_c": frozenset()}


@pytest.mark.parametrize(
    ("ids", "unit"),
    [
        ({"a-1", "b-1", "b-2"}, "unit 2's notebook (02_b)"),
        ({"c-1"}, "the notebook of quiz"),
        ({"x-1"}, ""),
        (set(), ""),
    ],
)
def test_it_is_the_unit_with_most_of_its_cells(ids, unit):
    cell_ids = {"01_a": {"a-1"}, "02_b": {"b-1", "b-2"}, "quiz": {"c-1"}}
    assert owner(ids, cell_ids) == unit


def test_a_merge_conflict_and_a_script_are_called_what_they_are():
    complete = data(solve_release(RELEASE))
    start = complete.index(b"numbers-triple")
    conflict = complete[:start] + b"\n<<<<<<< HEAD\n" + complete[start:]
    _, repairs = intake.find_notebook({NAME: File(conflict)}, NAME, RELEASE)
    assert "has a merge conflict (<<<<<<<) after its first 4 cells" in repairs[0].says
    with pytest.raises(RefusedError, match=r'hand in the \.ipynb, not "mine\.py"'):
        intake.find_notebook({"mine.py": File(b"x = 1")}, NAME, RELEASE)
