"""Grading one notebook is a function, which leaves nothing behind."""

from autograder.grading.grade import grade
from autograder.grading.task import Task
from tests.tiny_course import UNIT, RunHere, good


def test_grading_one_submission_is_a_function_without_gradebook(course):
    text = {
        step: (course / step / UNIT / f"{UNIT}.ipynb").read_text()
        for step in ("source", "release")
    }
    task = Task(
        "ada",
        UNIT,
        UNIT,
        text["source"],
        text["release"],
        good(course),
        {"data/x.txt": b"1"},
        str(course / "work"),
        preprocessors=(RunHere,),
    )
    (course / "gradebook.db").unlink()
    graded = grade(task)
    assert not graded.metadata.refused and len(graded.notebook.cells) == 7
    assert not (course / "work").exists()
