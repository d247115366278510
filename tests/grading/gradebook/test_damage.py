"""A damaged gradebook ends every command in one line, and stays as it is."""

import logging
import random

import pytest

from autograder.grading import release
from autograder.grading.gradebook import damage
from autograder.grading.gradebook.book import GradebookError, GradebookHandle
from tests import tiny_course as tiny
from tests.tiny_course import UNIT, good, gradebook, hand_in


@pytest.mark.parametrize("start", [0, 5_000])
def test_a_damaged_gradebook_is_one_line_and_stays(course, start):
    """Random bytes, from its beginning or further on."""
    damage.install()
    path = course / "gradebook.db"
    content = path.read_bytes()
    noise = random.Random(0).randbytes(len(content))
    path.write_bytes(content[:start] + noise[start:])
    log = logging.getLogger("test")
    patient = GradebookHandle(f"sqlite:///{path}", "tiny", 3600.0, log)
    with pytest.raises(GradebookError, match=r"gradebook\.db is damaged \(") as refusal:
        patient.use(lambda book: book.update_or_create_student("ada"))
    assert "\n" not in str(refusal.value)
    with pytest.raises(GradebookError, match="is damaged"):
        gradebook(course)
    assert path.read_bytes() == content[:start] + noise[start:]


def test_commands_of_nbgrader_refuse_a_damaged_gradebook_in_one_line(course):
    release.install()
    (course / "gradebook.db").write_bytes(random.Random(0).randbytes(100_000))
    hand_in(course, "ada", b"{}")
    (course / "autograded" / "ada" / UNIT).mkdir(parents=True)
    (course / "autograded" / "ada" / UNIT / f"{UNIT}.ipynb").write_bytes(good(course))
    for command in (
        ["generate_assignment"],
        ["autograde", "ada"],
        ["generate_feedback"],
    ):
        result = tiny.run_nbgrader(course, command[0], UNIT, *command[1:])
        assert not result["success"] and "Traceback" not in result["log"]
        assert result["log"].count("is damaged (file is not a database)") == 1
