"""A graded course, and servers that answer like Canvas and Moodle."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.classroom.classbook import (
    Classbook,
    HandMark,
    Item,
    Student,
    Submission,
)
from autograder.extras.lti import settings, web
from autograder.extras.lti.canvas import CanvasAssignment
from autograder.extras.lti.moodle import MoodleAssignment
from tests.classroom.conftest import graded, graded_once
from tests.classroom.lms.conftest import course
from tests.extras.lti.canvas_server import TOKEN as CANVAS_TOKEN
from tests.extras.lti.canvas_server import CanvasServer
from tests.extras.lti.moodle_server import TOKEN as MOODLE_TOKEN
from tests.extras.lti.moodle_server import MoodleServer

__all__ = ["course", "graded", "graded_once"]

CANVAS = 'url = "{}"\ncourse = 7\ntoken = "{}"\nassignments.01_numbers = 44\n'
MOODLE = 'url = "{}"\ncourse = 8\ntoken = "{}"\nassignments.01_numbers = 31\n'


def configure(root: Path, name: str, text: str, mode: int = 0o600) -> Path:
    """Write a course's settings for an LMS."""
    path = root / ".autograder" / "lms.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"[{name}]\n{text}")
    path.chmod(mode)
    return path


@pytest.fixture(autouse=True)
def pauses(monkeypatch) -> list[float]:
    """The pauses that were asked for; nobody waits."""
    waited: list[float] = []
    monkeypatch.setattr(
        web.PatientSession, "wait", lambda session, seconds: waited.append(seconds)
    )
    return waited


UNIT = "01_numbers"


def make_book(ada=9.5, bob: float | None = 4.0, silent=0.0, **more) -> Classbook:
    """A class of three, with scores of 10 points; None: an answer waits."""
    ada_lovelace = Student("ada", "Ada", "Lovelace", "ada@uni.example", "501")
    mark = HandMark(comment="Well argued.")
    return Classbook(
        UNIT,
        (Item("code", 6.0), Item("why", 4.0, True)),
        (
            Submission(ada_lovelace, {"code": ada, "why": 0.0}, marks={"why": mark}),
            Submission(
                Student("bob", "Bob", "Ross"), {"code": bob, "why": 0.0}, **more
            ),
            Submission(Student("silent"), {"code": silent, "why": 0.0}),
        ),
    )


@pytest.fixture
def canvas(tmp_path):
    """Canvas with a class of three; a course in ``tmp_path`` knows its address."""
    pytest.importorskip("canvasapi", reason="pip install .[lti] to talk to Canvas")
    with CanvasServer() as server:
        server.enrol("501", "Ada Lovelace", email="ada@uni.example")
        server.enrol("502", "Bob Ross")
        server.enrol("503", "Silent Student", sis_user_id="silent")
        configure(tmp_path, "canvas", CANVAS.format(server.url, CANVAS_TOKEN))
        yield server


@pytest.fixture
def moodle(tmp_path):
    """Moodle with a class of three; a course in ``tmp_path`` knows its address."""
    with MoodleServer() as server:
        server.enrol("501", "Ada Lovelace", email="ada@uni.example")
        server.enrol("502", "Bob Ross")
        server.enrol("503", "Silent Student", username="silent")
        configure(tmp_path, "moodle", MOODLE.format(server.url, MOODLE_TOKEN))
        yield server


def open_canvas(root: Path, max_points: float = 10.0) -> CanvasAssignment:
    return CanvasAssignment(settings.read(root, "canvas"), UNIT, max_points)


def open_moodle(root: Path, max_points: float = 10.0) -> MoodleAssignment:
    return MoodleAssignment(settings.read(root, "moodle"), UNIT, max_points)
