"""Results for Gradescope have what is known, and no zero for what waits."""

import json

from autograder import cli
from autograder.classroom.classbook import Classbook, Item, Student, Submission
from autograder.extras.gradescope import grades
from autograder.grading.judge.verdict import Verdict

EXERCISES = (Item("code", 6.0), Item("essay", 4.0, True))


def submission(student: str, code=6.0, essay=3.0, **fields) -> Submission:
    message = "You forgot the scaling."
    records = {"code": Verdict("u/code", code, 6.0, "unscaled" * (code < 6), message)}
    points = {"code": code, "essay": essay}
    return Submission(Student(student), points, records=records, **fields)


BOOK = Classbook(
    "02_attention",
    EXERCISES,
    (
        submission("ada", penalty=1.5),
        submission("bob", essay=None),
        submission("eve", 2.0),
    ),
)


def test_results_add_up_and_leave_waiting_ones_open(tmp_path):
    grades.write(BOOK, tmp_path)
    paths = tmp_path.glob("*/results.json")
    results = {path.parent.name: json.loads(path.read_text()) for path in paths}
    assert (
        results["ada"]["score"] == 7.5 and "1.5 points off" in results["ada"]["output"]
    )
    code, essay = results["bob"]["tests"]
    assert "score" not in results["bob"] and "score" not in essay
    assert (code["score"], code["max_score"]) == (6.0, 6.0)
    assert "not graded yet" in essay["output"]
    assert results["eve"]["tests"][0]["output"] == "You forgot the scaling."


def test_the_command_writes_a_folder_for_each_student(graded):
    command = ["grades", "01", "--course", str(graded), "--format", "gradescope"]
    assert cli.main([*command, "--zero-refused"]) == 0
    assert (graded / "reports" / "01_numbers-gradescope" / "bob").is_dir()
