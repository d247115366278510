"""A release has nothing of what is asked for."""

import nbformat
import pytest

from autograder.authoring import notebook, release
from autograder.course.errors import CourseError
from tests.tiny_course import TEXT, as_text


def test_the_release_has_neither_solutions_nor_hidden_tests(tmp_path):
    unit = as_text(tmp_path)
    cells = notebook.read(unit)
    released = release.generate(unit, notebook.to_source(unit, cells))
    release.refuse_leaks(cells, released)
    assert "raise NotImplementedError" in released
    assert "check.hidden" not in released and "HIDDEN" not in released
    assert "fsum" not in released


def test_a_solution_that_leaks_into_prose_is_refused(tmp_path):
    leak = "# # 9 · Tiny\n#\n# Try `doubled_number = math.fsum([x, x])`.\n"
    unit = as_text(tmp_path, TEXT.replace("# # 9 · Tiny\n", leak))
    cells = notebook.read(unit)
    released = release.generate(unit, notebook.to_source(unit, cells))
    with pytest.raises(CourseError, match=r"99_tiny.py:11: the release shows"):
        release.refuse_leaks(cells, released)


OPENING = """\
# %% folded=true
# @title The machine
from autograder import drawing

drawing("machine", "", "It runs.")

# %%
import math
"""


def test_a_release_shows_its_first_drawing_before_anything_runs(tmp_path):
    unit = as_text(tmp_path, TEXT.replace("# %%\nimport math\n", OPENING))
    drawings = unit.package / "drawings"
    drawings.mkdir(parents=True)
    (drawings / "machine.svg").write_text('<svg aria-label="A wheel."></svg>\n')
    released = release.generate(unit, notebook.to_source(unit, notebook.read(unit)))
    cells = nbformat.reads(released, as_version=4).cells
    (output,) = (output for cell in cells for output in cell.get("outputs", ()))
    assert output["data"]["text/plain"] == "It runs. A wheel."
    assert "<img" in output["data"]["text/html"]
