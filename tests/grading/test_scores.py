"""nbgrader's rule for plain asserts, without what is unjust or loose in it."""

from dataclasses import replace

import pytest
from nbformat.v4 import new_code_cell, new_output

from autograder.classroom import gradebook
from autograder.grading import converter
from autograder.grading.checks import reference_metadata
from autograder.grading.gradebook import changes
from autograder.grading.judge.verdict import Verdict
from autograder.grading.metadata import GradingMetadata
from autograder.grading.scores import SaveVerdicts, most_points, unjudged_score
from autograder.grading.task import identity
from tests import tiny_course as tiny
from tests.grading import judged_course as judged
from tests.grading.judged_course import checked
from tests.tiny_course import RunHere, answer_cell, graded, source_of

STDERR = new_output("stream", name="stderr", text="a warning")
ERROR = new_output("error", ename="AssertionError", evalue="", traceback=[])


def value(text: str):
    return new_output("execute_result", {"text/plain": text})


def cell(*outputs, solution: bool = False):
    check_cell = graded(new_code_cell("assert f(2) == 4"), "u-e", 2.0, solution)
    check_cell.outputs = list(outputs)
    return check_cell


@pytest.mark.parametrize(
    ("outputs", "score"),
    [
        ([], 2.0),
        ([STDERR], 2.0),
        ([ERROR], 0.0),
        ([value("2"), ERROR], 0.0),
        ([value("0.5")], 0.5),
        ([STDERR, value("0.5")], 0.5),
        ([value("3")], 0.0),
        ([value("-1")], 0.0),
        ([value("nan")], 0.0),
        ([value("inf")], 0.0),
        ([value("'well done'")], 2.0),
        ([new_output("execute_result", {"text/html": "2"})], 0.0),
    ],
)
def test_a_cell_of_asserts_earns_what_it_can_be_worth(outputs, score):
    assert unjudged_score(cell(*outputs)) == score


def test_a_graded_answer_that_was_filled_in_waits_for_a_person():
    assert unjudged_score(cell(solution=True)) is None


def test_a_check_can_give_its_points_and_a_bonus(monkeypatch):
    monkeypatch.setattr(reference_metadata, "largest_share", lambda exercise: 1.25)
    assert most_points("u/e", cell()) == 2.5


class Verdicts(RunHere):
    """Stands for the judge, which decides a check, fails on it, or mixes things up."""

    decided = "outside"
    mixed_up: dict = {  # noqa: RUF012
        "bob": {"exercise": "attention/who_sees_whom"},
        "cyd": {"submission": "ada"},
        "dan": {"points": 6.0},
        "eve": {"points": -1.0},
    }

    def preprocess(self, nb, resources):
        name, submission = "attention/softmax", identity(resources)
        points = 5.0 if Verdicts.decided == "outside" else 0.0
        verdict = Verdict(name, points, 5.0, submission=submission)
        verdict = replace(verdict, decided=Verdicts.decided, fault="softmax.py:1: E")
        change = Verdicts.mixed_up.get(resources["nbgrader"]["student"], {})
        checks = {"scores": replace(verdict, **change)}
        GradingMetadata.of_run(nb, resources).checks = checks
        return nb, resources


@pytest.fixture
def course(tmp_path):
    cells = [
        new_code_cell("def check(*_): ...", id="imports"),
        answer_cell("def scores(q):\n    return q", "scores-answer"),
        checked("attention/softmax", "scores", "scores", 5.0),
    ]
    tiny.make_course(tmp_path, judged.UNIT, source_of(cells))
    judged.submit(tmp_path, "ada", {"scores-answer": "scores = 1"})
    assert converter.install()
    return tmp_path


def grade(course, decided, monkeypatch) -> tuple[str, float | None]:
    monkeypatch.setattr(Verdicts, "decided", decided)
    log = judged.autograde(course, [Verdicts, SaveVerdicts])["log"]
    (submission,) = gradebook.read(judged.UNIT, course).submissions
    return log, submission.points["scores"]


def submit_again(course, code: str) -> None:
    (path,) = (course / "submitted").glob("*/*/*.ipynb")
    path.write_text(path.read_text().replace("scores = ", f"{code}scores = "))


def test_a_check_that_the_judge_fails_on_keeps_its_score(course, monkeypatch):
    assert grade(course, "outside", monkeypatch)[1] == 5.0
    submit_again(course, "x = ")
    log, score = grade(course, "person", monkeypatch)
    assert score == 5.0
    assert "no verdict on scores, which keeps its 5 points" in log
    assert "the judge failed on attention/softmax: softmax.py:1: E" in log
    log, score = grade(course, "outside", monkeypatch)
    assert "02_judged: 1 graded" in log, "the same command tries again"
    assert changes.read(course, judged.UNIT) == []


def test_a_score_that_comes_at_last_is_noted_as_a_change(course, monkeypatch):
    log, score = grade(course, "person", monkeypatch)
    assert score is None and "no verdict on scores, which has no score yet" in log
    assert grade(course, "outside", monkeypatch)[1] == 5.0
    (change,) = changes.read(course, judged.UNIT)
    assert (change.before, change.after, change.why) == ("", "5", changes.DECIDED)


def test_the_gradebook_takes_no_verdict_of_another_check(course):
    for student in Verdicts.mixed_up:
        judged.submit(course, student, {"scores-answer": "scores = 1"})
    result = judged.autograde(course, [Verdicts, SaveVerdicts])
    assert not result["success"]
    for student in Verdicts.mixed_up:
        assert f"Needs a person: {student}: undecided" in result["log"]
    submissions = gradebook.read(judged.UNIT, course).submissions
    scores = {s.student.id: s.points["scores"] for s in submissions}
    assert scores == {"ada": 5.0, **dict.fromkeys(Verdicts.mixed_up)}
