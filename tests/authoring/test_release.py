"""A release has nothing of what is asked for."""

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
