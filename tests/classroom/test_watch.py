"""``autograder watch``: what arrives is graded once, and at a bounded rate."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder import cli
from autograder.classroom import watch
from autograder.classroom.watch import HOUR, Watch
from autograder.course import find_unit
from autograder.course.errors import CourseError
from tests.accounts import checkout

UNIT = "01_numbers"


class World:
    """Notes what a round asks for; ``fails`` on whom to stop."""

    def __init__(self):
        self.asked, self.fails = [], ""

    def collect(self):
        self.asked.append("collect")

    def grade(self, waiting):
        self.asked.append(("grade", *waiting))

    def give_back(self, student):
        if student == self.fails:
            raise CourseError("killed")
        self.asked.append(student)


@pytest.fixture
def world():
    return World()


@pytest.fixture
def now():
    return [1_000_000.0]


@pytest.fixture
def watched(tmp_path, world, now):
    return Watch(UNIT, tmp_path, world, per_hour=2, clock=lambda: now[0])


def hand_in(root: Path, student: str, text: str) -> None:
    folder = root / "submitted" / student / UNIT
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "a.ipynb").write_text(text)


def test_what_is_new_is_graded_once(watched, world, tmp_path):
    assert watched.round() == []
    hand_in(tmp_path, "ada", "1")
    hand_in(tmp_path, "bob", "1")
    assert watched.round() == ["ada", "bob"]
    assert watched.round() == []
    assert world.asked == ["collect", "collect", ("grade",), "ada", "bob", "collect"]
    hand_in(tmp_path, "bob", "22")
    assert watched.round() == ["bob"]


def test_who_hands_in_too_often_waits_and_is_not_forgotten(watched, tmp_path, now):
    for text in ("1", "22"):
        hand_in(tmp_path, "ada", text)
        assert watched.round() == ["ada"]
    hand_in(tmp_path, "ada", "333")
    hand_in(tmp_path, "bob", "1")
    assert watched.round() == ["bob"]
    assert watched.steps.asked[-2:] == [("grade", "ada"), "bob"]
    now[0] += HOUR + 1
    assert watched.round() == ["ada"]


def test_a_killed_watch_goes_on_where_it_stopped(watched, world, tmp_path, now):
    hand_in(tmp_path, "ada", "1")
    hand_in(tmp_path, "bob", "1")
    world.fails = "bob"
    with pytest.raises(CourseError):
        watched.round()
    again = World()
    restarted = Watch(UNIT, tmp_path, again, 2, lambda: now[0])
    assert restarted.round() == ["bob"]


def test_there_is_one_watch_of_an_assignment(tmp_path):
    with (
        watch.alone(tmp_path, UNIT),
        pytest.raises(CourseError, match="watched already"),
        watch.alone(tmp_path, UNIT),
    ):
        pass


def test_a_round_that_fails_is_told_and_the_next_is_tried(watched, tmp_path, capsys):
    hand_in(tmp_path, "ada", "1")
    watched.steps.fails = "ada"
    assert watch.run(watched, 0, once=True) == 1
    assert "killed" in capsys.readouterr().err
    watched.steps.fails = ""
    assert watch.run(watched, 0, once=True) == 0


@pytest.mark.slow
def test_from_submit_to_feedback_in_the_exchange_that_tells_points_only(tmp_path):
    unit = find_unit("attention")
    clone, desk = checkout(tmp_path / "course"), tmp_path / "desk"
    settings = tmp_path / "jupyter" / "nbgrader_config.py"
    settings.parent.mkdir()
    settings.write_text(
        f"c = get_config()\nc.Exchange.root = {str(tmp_path / 'exchange')!r}\n"
        'c.CourseDirectory.course_id = "transformer"\n'
    )
    (desk / unit.label).mkdir(parents=True)
    (desk / unit.label / unit.release.name).write_bytes(unit.release.read_bytes())

    def run(folder: Path, *command: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=folder,
            text=True,
            check=False,
            env=os.environ
            | {"PYTHONPATH": str(clone), "JUPYTER_CONFIG_PATH": str(settings.parent)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    watched = ("autograder", "watch", "02", "--once", "--exchange")
    run(clone, "nbgrader", "release_assignment", unit.label)
    run(desk, "nbgrader", "submit", unit.label)
    (student,) = (p.name for p in (tmp_path / "exchange").glob("*/inbound/*"))
    student = student.partition("+")[0]
    assert f" {student}\n" in run(clone, *watched)
    (page,) = (tmp_path / "exchange" / "transformer" / "feedback").glob("*.html")
    text = page.read_text()
    assert "After the deadline, this page says" in text
    assert "Not solved yet" not in text
    assert f" {student}\n" not in run(clone, *watched), "nothing is new"


def test_its_options_are_said(capsys):
    with pytest.raises(SystemExit):
        cli.main(["watch", "--help"])
    assert "--per-hour" in capsys.readouterr().out
