"""Results for Gradescope have what is known, and no zero for what waits."""

import json

from autograder import cli
from autograder.extras.gradescope.commands import GRADES
from tests.classroom.students import BOOK


def test_results_add_up_and_leave_waiting_ones_open(tmp_path):
    GRADES["gradescope"](BOOK, tmp_path)
    paths = tmp_path.glob("*/results.json")
    results = {path.parent.name: json.loads(path.read_text()) for path in paths}
    assert results["ada"]["score"] == 7.5
    assert "1.5 points off" in results["ada"]["output"]
    code, essay = results["bob"]["tests"]
    assert "score" not in results["bob"] and "score" not in essay
    assert (code["score"], code["max_score"]) == (6.0, 6.0)
    assert "not graded yet" in essay["output"]
    assert results["eve"]["tests"][0]["output"] == "You forgot the scaling."


def test_the_command_writes_a_folder_for_each_student(graded):
    command = ["grades", "01", "--course", str(graded), "--format", "gradescope"]
    assert cli.main([*command, "--zero-refused"]) == 0
    assert (graded / "reports" / "01_numbers-gradescope" / "bob").is_dir()
