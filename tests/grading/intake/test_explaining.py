"""What is wrong with a hand-in is called what it is."""

import pytest

from autograder.grading import intake
from autograder.grading.intake import File, RefusedError
from tests.grading.intake.released import RELEASE
from tests.tiny_course import UNIT, data, solve_release

NAME = f"{UNIT}.ipynb"


def test_a_merge_conflict_and_a_script_are_called_what_they_are():
    complete = data(solve_release(RELEASE))
    start = complete.index(b"numbers-triple")
    conflict = complete[:start] + b"\n<<<<<<< HEAD\n" + complete[start:]
    _, repairs = intake.find_notebook({NAME: File(conflict)}, NAME, RELEASE)
    assert "has a merge conflict (<<<<<<<) after its first 4 cells" in repairs[0].says
    with pytest.raises(RefusedError, match=r'hand in the \.ipynb, not "mine\.py"'):
        intake.find_notebook({"mine.py": File(b"x = 1")}, NAME, RELEASE)
