"""A notebook of another assignment is called by its unit."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell

from autograder.grading import intake
from autograder.grading.intake import File, RefusedError
from autograder.grading.intake.other_units import owner
from tests.grading.intake.released import RELEASE
from tests.tiny_course import UNIT, data, graded

NAME = f"{UNIT}.ipynb"


def test_a_notebook_of_another_unit_is_called_by_its_unit(tmp_path):
    source = tmp_path / "source" / "07_words" / "07_words.ipynb"
    source.parent.mkdir(parents=True)
    mark = graded(new_code_cell("check()"), "words-count", 2.0)
    source.write_bytes(data(nbformat.v4.new_notebook(cells=[mark])))
    files = {"b.ipynb": File(source.read_bytes()), "a.ipynb": File(b'{"cells": []}')}
    with pytest.raises(RefusedError) as refused:
        intake.find_notebook(
            files, NAME, RELEASE, course_ids=lambda: intake.grade_ids(tmp_path)
        )
    assert str(refused.value) == (
        "\"b.ipynb\" is unit 7's notebook (07_words), not this unit's"
    )


def test_one_that_defines_a_name_of_this_unit_is_still_another_unit_s(tmp_path):
    source = tmp_path / "source" / "07_words" / "07_words.ipynb"
    source.parent.mkdir(parents=True)
    marks = [
        graded(new_code_cell("check()"), name, 2.0)
        for name in ("words-count", "words-sort")
    ]
    helper = new_code_cell("def double(x):\n    return x + x")
    source.write_bytes(data(nbformat.v4.new_notebook(cells=[helper, *marks])))
    with pytest.raises(RefusedError, match="is unit 7's notebook"):
        intake.find_notebook(
            {NAME: File(source.read_bytes())}, NAME, RELEASE,
            course_ids=lambda: intake.grade_ids(tmp_path),
        )  # fmt: skip


def test_a_damaged_source_hides_no_other(tmp_path):
    for label, text in {
        "01_a": b"{",
        "02_b": b"[]",
        "03_c": data({"cells": []}),
    }.items():
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
