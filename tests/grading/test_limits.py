"""What is taken of a submission is set in ``nbgrader_config.py``."""

from tests import tiny_course as tiny
from tests.tiny_course import UNIT, autograde, hand_in, points


def test_a_notebook_with_vast_outputs_is_graded_or_refused_with_a_remedy(course):
    saved = tiny.solve_release(tiny.read(course, "release"))
    saved.metadata["widgets"] = "x" * 200_000
    hand_in(course, "ada", tiny.data(saved))
    result = autograde(course, largest_notebook=100_000)
    assert result["success"] and "its saved outputs were left out" in result["log"]
    assert points(course) == {"ada": [2.0, 4.0, None]}
    result = autograde(course, largest_notebook=100_000, largest_saved=150_000)
    assert (
        f"ada: refused: {UNIT}.ipynb is larger than 0 MB; Edit > Clear Outputs of All "
        "Cells, save, hand in again"
    ) in result["log"]
