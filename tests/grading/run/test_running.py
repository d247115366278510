"""Running again: nothing is graded twice, and nothing that was graded is lost."""

import os
import shutil
import signal

import pytest
from nbgrader.api import Gradebook

from autograder.course.errors import CourseError
from autograder.grading.gradebook.book import Session
from autograder.grading.run import graded_folder, persist
from autograder.grading.workers import inline
from tests import tiny_course as tiny
from tests.tiny_course import (
    UNIT,
    autograde,
    good,
    gradebook,
    graded_students,
    hand_in,
    points,
)


def test_a_second_run_grades_nothing_and_still_tells_of_the_refused(course):
    hand_in(course, "ada", good(course))
    hand_in(course, "bad", b"{")
    autograde(course)
    before = gradebook(course)
    result = autograde(course)
    assert graded_students() == [] and gradebook(course) == before
    assert not result["success"] and "1 up to date, 1 refused" in result["log"]


def test_force_student_and_exclusion_choose_who_is_graded(course):
    for student in ("ada", "bob", "cyd"):
        hand_in(course, student, good(course))
    autograde(course, student="b*")
    assert graded_students() == ["bob"]
    autograde(course)
    assert graded_students() == ["ada", "cyd"]
    autograde(course, student="ada", force=True)
    assert graded_students() == ["ada"]


def test_a_changed_submission_or_a_restored_gradebook_is_graded_again(course):
    hand_in(course, "ada", good(course))
    hand_in(course, "bob", good(course))
    shutil.copy(course / "gradebook.db", course / "backup.db")
    autograde(course)
    hand_in(course, "ada", good(course, double="def double(x):\n    return 0"))
    autograde(course)
    assert graded_students() == ["ada"]
    shutil.copy(course / "backup.db", course / "gradebook.db")
    autograde(course)
    assert graded_students() == ["ada", "bob"]
    assert points(course) == {"ada": [0.0, 4.0, None], "bob": [2.0, 4.0, None]}


def read_by_a_person(course) -> None:
    with Gradebook(f"sqlite:///{course}/gradebook.db", "tiny") as book:
        grade = book.find_grade("numbers-why", UNIT, UNIT, "ada")
        grade.manual_score, grade.needs_manual_grade = 3.0, False
        book.db.commit()


def test_scores_given_by_hand_survive_grading_again(course):
    hand_in(course, "ada", good(course))
    autograde(course)
    read_by_a_person(course)
    autograde(course)
    assert graded_students() == []
    autograde(course, force=True)
    assert gradebook(course)["ada"][1]["numbers-why"] == (None, 3.0, True)


def test_points_by_hand_are_of_the_answer_that_was_read(course):
    hand_in(course, "ada", good(course))
    autograde(course)
    read_by_a_person(course)
    hand_in(course, "ada", good(course, double="def double(x):\n    return x + x"))
    autograde(course)
    assert gradebook(course)["ada"][1]["numbers-why"][1] == 3.0, "the same answer"
    hand_in(course, "ada", good(course)[:100])
    autograde(course)
    assert gradebook(course)["ada"][1]["numbers-why"][1] == 3.0, "it is refused"
    hand_in(course, "ada", good(course))
    autograde(course)
    read_by_a_person(course)
    hand_in(course, "ada", good(course, words="Because I say so."))
    log = autograde(course)["log"]
    assert "a new answer to numbers-why waits for a person; 3 points by hand" in log
    assert gradebook(course)["ada"][1]["numbers-why"] == (None, None, True)


class _Moments:
    """Kills this process at the n-th moment that matters."""

    def __init__(self, fatal: int):
        self.left = fatal

    def pass_(self) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, function):
        def wrapped(*arguments, **options):
            self.pass_()
            result = function(*arguments, **options)
            self.pass_()
            return result

        return wrapped


def _killed_run(course, fatal: int) -> bool:
    """Grade in a forked process that is killed at a moment; whether it was."""
    child = os.fork()
    if child == 0:
        moments = _Moments(fatal)
        for owner, name in (
            (Session, "flush"),
            (Session, "finish"),
            (graded_folder, "write"),
            (inline, "grade"),
        ):
            setattr(owner, name, moments.around(getattr(owner, name)))
        autograde(course)
        os._exit(0)
    return os.waitpid(child, 0)[1] != 0


@pytest.mark.slow
def test_killed_at_any_moment_a_plain_run_ends_in_the_same_gradebook(course, tmp_path):
    hand_in(course, "ada", good(course))
    hand_in(course, "bob", good(course)[:300])
    undisturbed = tmp_path / "undisturbed"
    shutil.copytree(course, undisturbed)
    autograde(undisturbed)
    expected, fatal, killed = gradebook(undisturbed), 1, True
    while killed:
        root = tmp_path / f"killed-{fatal}"
        shutil.copytree(course, root)
        killed = _killed_run(root, fatal)
        autograde(root)
        assert gradebook(root) == expected, fatal
        leftovers = [p.name for p in root.rglob("*.part")]
        leftovers += list((root / ".autograder").glob("work-*/*"))
        assert leftovers == [], fatal
        shutil.rmtree(root)
        fatal += 3
    assert fatal > 20


def test_a_killed_regrade_leaves_the_old_result_whole(course, tmp_path):
    hand_in(course, "ada", good(course))
    autograde(course)
    old = gradebook(course), tiny.read(course, "autograded", "ada")
    hand_in(course, "ada", good(course, double="def double(x):\n    return 0"))
    assert _killed_run(course, 2)
    assert (gradebook(course), tiny.read(course, "autograded", "ada")) == old


def test_ctrl_c_stops_cleanly_and_keeps_what_was_graded(course, monkeypatch):
    hand_in(course, "ada", good(course))
    hand_in(course, "bob", good(course))
    grade = inline.grade

    def interrupted(task):
        if task.student == "bob":
            raise KeyboardInterrupt
        return grade(task)

    monkeypatch.setattr(inline, "grade", interrupted)
    result = autograde(course)
    assert "Stopped." in result["log"] and "SystemExit: 130" in result["error"]
    assert points(course) == {"ada": [2.0, 4.0, None]}


def test_a_disk_that_fills_ends_the_run_and_the_same_command_goes_on(
    course, monkeypatch
):
    """Nobody is graded in vain: the others would not fit, either."""
    for student in ("ada", "bob", "cyd"):
        hand_in(course, student, good(course))
    autograde(course, student="ada")

    def full(*_):
        raise CourseError("the disk of autograded has 0 MB left; make room")

    with monkeypatch.context() as patch:
        patch.setattr(graded_folder, "write", full)
        patch.setattr(persist, "refuse_full", full)
        result = autograde(course)
    assert not result["success"] and result["log"].count("make room") == 1
    assert graded_students() == ["bob"]
    assert autograde(course)["success"] and graded_students() == ["bob", "cyd"]
    assert points(course) == {s: [2.0, 4.0, None] for s in ("ada", "bob", "cyd")}
