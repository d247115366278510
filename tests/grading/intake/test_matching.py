"""Which of the files is the notebook."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.grading import intake
from autograder.grading.intake import File, RefusedError
from autograder.grading.intake.matching import same_text
from tests.grading.intake.released import RELEASE
from tests.tiny_course import UNIT, cell, data, solve_release

NAME = f"{UNIT}.ipynb"


def other_unit() -> bytes:
    cells = [new_markdown_cell("# Letters"), new_code_cell("import string")]
    return data(nbformat.v4.new_notebook(cells=cells))


@pytest.mark.parametrize(
    "name",
    [f"Copy of {NAME}", "sub/a.ipynb", "01_numbers.ipynb.txt", "01_numbers.json"],
)
def test_a_renamed_notebook_is_found_by_content_and_told(name):
    files = {name: File(data(solve_release(RELEASE))), "b.ipynb": File(other_unit())}
    path, repairs = intake.find_notebook(files, NAME, RELEASE)
    assert path == name and [r.kind for r in repairs] == ["renamed"]


def test_of_two_notebooks_the_one_with_more_answers_counts_then_the_newer():
    stub = cell(RELEASE, "numbers-double-answer").source
    complete = data(solve_release(RELEASE))
    files = {NAME: File(data(solve_release(RELEASE, double=stub)), 9.0)}
    files |= {"a.ipynb": File(complete, 1), "b.ipynb": File(complete, 2)}
    path, repairs = intake.find_notebook(files, NAME, RELEASE)
    assert path == "b.ipynb"
    assert [r.kind for r in repairs] == ["renamed", "several notebooks"]


def test_of_a_notebook_that_is_cut_off_the_whole_cells_are_found_and_told():
    complete = data(solve_release(RELEASE))
    files = {NAME: File(complete[: complete.index(b"numbers-triple")])}
    path, repairs = intake.find_notebook(files, NAME, RELEASE)
    assert path == NAME and [r.kind for r in repairs] == ["cut off"]
    assert "damaged after its first 4 cells" in repairs[0].says
    files = {NAME: File(complete[: complete.index(b"numbers-2")])}
    with pytest.raises(RefusedError, match="damaged or incomplete"):
        intake.find_notebook(files, NAME, RELEASE)


def test_a_broken_notebook_beside_a_good_one_does_no_harm():
    files = {NAME: File(b"{broken"), "a.ipynb": File(data(solve_release(RELEASE)))}
    assert intake.find_notebook(files, NAME, RELEASE)[0] == "a.ipynb"


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "there is no notebook"),
        ({"notes.txt": File(b"hello")}, "there is no notebook"),
        ({"b.ipynb": File(other_unit())}, "no notebook of this unit"),
        ({NAME: File(b"{broken")}, "incomplete"),
    ],
)
def test_without_a_notebook_of_the_unit_there_is_a_plain_reason(files, reason):
    with pytest.raises(RefusedError, match=reason):
        intake.find_notebook(files, NAME, RELEASE)


def test_imports_under_the_names_of_an_earlier_version_are_no_change():
    earlier = (
        "import math\nfrom autograder.library.attention_maps import maps_of\n"
        "from autograder.units.attention.library import pictures\n\nprint(math.pi)\n"
    )
    today = (
        "import math\nfrom transformer_course.attention.library import pictures\n"
        "from transformer_course.library.attention_maps import maps_of\n"
        "print(math.pi)\n"
    )
    assert same_text(earlier, today)
    assert not same_text(earlier, today.replace("math.pi", "math.e"))
    assert not same_text("print(1)\nprint(2)\n", "print(2)\nprint(1)\n")
