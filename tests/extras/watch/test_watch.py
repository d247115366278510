"""``autograder watch``: what arrives is graded once, and at a bounded rate."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from autograder import cli
from autograder.classroom import sample
from autograder.course import find_unit
from autograder.course.errors import CourseError
from autograder.extras.watch import watch
from autograder.extras.watch.watch import HOUR, Watch
from autograder.sandbox import logs
from tests import tiny_course as tiny
from tests.classroom.conftest import autograde
from tests.clone import checkout

UNIT = "01_numbers"


class World:
    """Notes what a round asks for; ``fails`` on whom to stop, ``with_`` what."""

    def __init__(self):
        self.asked, self.fails, self.with_ = [], "", CourseError

    def collect(self):
        self.asked.append("collect")

    def grade(self, waiting):
        self.asked.append(("grade", *waiting))

    def give_back(self, student):
        if student == self.fails:
            raise self.with_("killed")
        self.asked.append(student)


@pytest.fixture
def world():
    return World()


@pytest.fixture
def clock():
    return [1_000_000.0]


@pytest.fixture
def watched(tmp_path, world, clock):
    return Watch(UNIT, tmp_path, world, per_hour=2, clock=lambda: clock[0])


def hand_in(root: Path, student: str, text: str) -> None:
    folder = root / "submitted" / student / UNIT
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "a.ipynb").write_text(text)


def test_what_is_new_is_graded_once(watched, world, tmp_path):
    assert list(watched.round()) == []
    hand_in(tmp_path, "ada", "1")
    hand_in(tmp_path, "bob", "1")
    assert list(watched.round()) == ["ada", "bob"]
    assert list(watched.round()) == []
    assert world.asked == ["collect", "collect", ("grade",), "ada", "bob", "collect"]
    hand_in(tmp_path, "bob", "22")
    assert list(watched.round()) == ["bob"]


def test_who_hands_in_too_often_waits_and_is_not_forgotten(watched, tmp_path, clock):
    for text in ("1", "22"):
        hand_in(tmp_path, "ada", text)
        assert list(watched.round()) == ["ada"]
    hand_in(tmp_path, "ada", "333")
    hand_in(tmp_path, "bob", "1")
    assert list(watched.round()) == ["bob"]
    assert watched.steps.asked[-2:] == [("grade", "ada"), "bob"]
    clock[0] += HOUR + 1
    assert list(watched.round()) == ["ada"]


def test_a_killed_watch_goes_on_where_it_stopped(watched, world, tmp_path, clock):
    hand_in(tmp_path, "ada", "1")
    hand_in(tmp_path, "bob", "1")
    assert next(watched.round()) == "ada", "and nobody asks for the next one"
    restarted = Watch(UNIT, tmp_path, World(), 2, lambda: clock[0])
    assert list(restarted.round()) == ["bob"]


def test_one_whose_feedback_fails_keeps_nobody_waiting(watched, world, tmp_path):
    hand_in(tmp_path, "ada", "1")
    hand_in(tmp_path, "bob", "1")
    world.fails = "ada"
    with pytest.raises(CourseError, match="killed"):
        list(watched.round())
    world.fails = ""
    assert list(watched.round()) == ["ada"], "bob has his"


def test_a_failure_to_collect_is_said_though_grading_fails_too(
    watched, world, tmp_path, monkeypatch
):
    def fail(*waiting):
        raise CourseError("no grade" if waiting else "no exchange")

    hand_in(tmp_path, "ada", "1")
    monkeypatch.setattr(world, "collect", fail)
    monkeypatch.setattr(world, "grade", fail)
    with pytest.raises(CourseError, match="no exchange; no grade"):
        list(watched.round())


def test_who_cannot_be_graded_is_tried_no_more_often_than_others(
    watched, world, tmp_path, clock
):
    hand_in(tmp_path, "eve", "1")
    world.fails, world.with_ = "eve", watch.NotGradedError
    for _ in range(2):
        with pytest.raises(CourseError, match="killed"):
            list(watched.round())
    tried = len(world.asked)
    assert list(watched.round()) == [] and world.asked[tried:] == ["collect"]
    clock[0] += HOUR + 1
    world.fails = ""
    assert list(watched.round()) == ["eve"], "and is not forgotten"


def test_a_clock_that_was_wrong_holds_nobody(watched, tmp_path, clock):
    clock[0] += 1_000 * HOUR
    for text in ("1", "22"):
        hand_in(tmp_path, "ada", text)
        assert list(watched.round()) == ["ada"]
    clock[0] -= 1_000 * HOUR
    hand_in(tmp_path, "ada", "333")
    assert list(watched.round()) == ["ada"]


def test_there_is_one_watch_of_an_assignment(tmp_path):
    with (
        watch.alone(tmp_path, UNIT),
        pytest.raises(CourseError, match="already watched"),
        watch.alone(tmp_path, UNIT),
    ):
        pass


def test_a_round_that_fails_is_told_and_the_next_is_tried(watched, tmp_path, capsys):
    hand_in(tmp_path, "ada", "1")
    watched.steps.fails = "ada"
    assert watch.run(watched, 0, single_round=True) == 1
    assert "killed" in capsys.readouterr().err
    watched.steps.fails = ""
    assert watch.run(watched, 0, single_round=True) == 0


def test_what_could_not_be_graded_is_not_done(tmp_path, monkeypatch):
    """Old results lie there: a run that failed has to be told from one that graded."""
    graded, works = tmp_path / "autograded", {"all": False, "ada": False}

    def graded_by(_commands, *options):
        if not options and works["all"]:
            (graded / "bob" / UNIT / f"{UNIT}.ipynb").write_text("new")
        return works["ada"] if options == ("--student=ada",) else False

    monkeypatch.setattr(watch, "is_graded", lambda *about: not about[-1])
    monkeypatch.setattr(watch.Commands, "_autograde", graded_by)
    monkeypatch.setattr(watch.Commands, "_ask", lambda *_, **__: None)
    watched = Watch(UNIT, tmp_path, watch.Commands(UNIT, tmp_path))
    for student in ("ada", "bob"):
        hand_in(tmp_path, student, "1")
        (graded / student / UNIT).mkdir(parents=True)
        path = graded / student / UNIT / f"{UNIT}.ipynb"
        path.write_text("old")
        os.utime(path, (0, 0))
    with pytest.raises(CourseError, match="nothing of 01_numbers was graded"):
        list(watched.round())
    works["all"] = True
    graded_students = []
    with pytest.raises(CourseError, match="ada was not graded"):
        graded_students.extend(watched.round())
    hand_in(tmp_path, "bob", "22")
    works["ada"] = True
    assert list(watched.round()) == ["ada", "bob"], "both are handed back in the end"


def test_a_run_that_says_all_is_well_and_graded_nobody_forgets_nobody(
    graded, monkeypatch
):
    """Whatever the reason: here, the settings of the course leave everybody out."""
    ran = []
    monkeypatch.setattr(
        watch.Commands, "_autograde", lambda _, *options: ran.append(options) or True
    )
    monkeypatch.setattr(watch.Commands, "_ask", lambda *_, **__: None)
    watched = Watch(UNIT, graded, watch.Commands(UNIT, graded))
    assert set(watched.round()) == {"bob", "cut", "quux-4711", "silent"}
    release = tiny.read(graded, "release")
    tiny.hand_in(graded, "bob", tiny.data(tiny.solve_release(release)))
    tiny.hand_in(graded, "new", tiny.data(tiny.solve_release(release)))
    for _ in range(2):
        with pytest.raises(CourseError, match=r"bob was not graded.*new was not"):
            list(watched.round())
    autograde(graded)
    assert list(watched.round()) == ["bob", "new"]


def test_who_waits_is_told_apart_from_others_with_a_comma_in_the_name(
    tmp_path, monkeypatch
):
    options_passed = []
    monkeypatch.setattr(
        watch.Commands,
        "_autograde",
        lambda _, *options: options_passed.append(options) or True,
    )
    watch.Commands(UNIT, tmp_path).grade(["ada,bob", "eve"])
    assert options_passed == [
        ("--Autograde.waiting=ada,bob", "--Autograde.waiting=eve")
    ]


@dataclass
class Exchange:
    """A clone of the course, an exchange, and a student who has handed in."""

    folder: Path
    clone: Path
    student: str = ""

    def start(self, directory: Path, *command: str) -> subprocess.Popen:
        settings = {"JUPYTER_CONFIG_PATH": str(self.folder / "jupyter")}
        return subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=directory,
            text=True,
            env=os.environ | settings | {"PYTHONPATH": str(self.clone)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def run(self, directory: Path, *command: str) -> str:
        started = self.start(directory, *command)
        output, _ = started.communicate()
        assert started.returncode == 0, output
        return output

    @property
    def pages(self) -> list[Path]:
        return list((self.folder / "exchange/transformer/feedback").glob("*.html"))


@pytest.fixture
def exchange(tmp_path) -> Exchange:
    unit, desk = find_unit("attention"), tmp_path / "desk"
    running = Exchange(tmp_path, checkout(tmp_path / "course"))
    (tmp_path / "jupyter").mkdir()
    (tmp_path / "jupyter" / "nbgrader_config.py").write_text(
        f"c = get_config()\nc.Exchange.root = {str(tmp_path / 'exchange')!r}\n"
        'c.CourseDirectory.course_id = "transformer"\n'
    )
    (desk / unit.label).mkdir(parents=True)
    answers = sample.submissions(unit)["alan"]  # some of them wrong
    (desk / unit.label / unit.release.name).write_bytes(answers)
    running.run(running.clone, "nbgrader", "release_assignment", unit.label)
    running.run(desk, "nbgrader", "submit", unit.label)
    (folder,) = (tmp_path / "exchange").glob("*/inbound/*")
    running.student = folder.name.partition("+")[0]
    return running


WATCH = ("autograder", "watch", "02", "--exchange")


@pytest.mark.long
@pytest.mark.slow
def test_from_submit_to_feedback_in_the_exchange_that_tells_points_only(exchange):
    first_output = exchange.run(exchange.clone, *WATCH, "--once")
    assert f" {exchange.student}\n" in first_output
    (page,) = exchange.pages
    assert "After the deadline, this page says" in page.read_text()
    assert "Not solved yet" not in page.read_text()
    second_output = exchange.run(exchange.clone, *WATCH, "--once")
    assert f" {exchange.student}\n" not in second_output, "nothing is new"


@pytest.mark.long
@pytest.mark.slow
def test_a_watch_that_is_killed_while_it_grades_gives_feedback_when_restarted(exchange):
    killed = exchange.start(exchange.clone, *WATCH)
    assert killed.stdout.readline(), "nbgrader's first line: it grades"
    killed.kill()
    killed.wait()
    assert not exchange.pages
    output = exchange.run(exchange.clone, *WATCH, "--once")
    assert f" {exchange.student}\n" in output and len(exchange.pages) == 1


@pytest.mark.parametrize("options", [[], ["--verbose"]])
def test_a_round_without_work_is_silent_for_cron_and_told_when_asked(
    tmp_path, capsys, options, monkeypatch
):
    course = tmp_path / "course"
    tiny.make_course(course)
    monkeypatch.setattr(logs._LOG, "level", logs._LOG.level)  # put back afterwards
    words = ["watch", "01", "--once", *options, "--course", str(course)]
    assert cli.main(words) == 0
    line = f"{UNIT}: nothing to grade in {course}/submitted\n" if options else ""
    assert capsys.readouterr().out == line


def test_with_the_exchange_its_inbox_is_the_place(tmp_path):
    config = 'c = get_config()\nc.Exchange.root = "/srv/exchange"\n'
    text = f'{config}c.CourseDirectory.course_id = "tiny"\n'
    (tmp_path / "nbgrader_config.py").write_text(text)
    place = watch.Commands(UNIT, tmp_path, exchange=True).place
    assert str(place) == "/srv/exchange/tiny/inbound"


def test_its_options_are_said(capsys):
    with pytest.raises(SystemExit):
        cli.main(["watch", "--help"])
    assert "--per-hour" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--every=-1", "--every=nan", "--per-hour=0"])
def test_a_pace_that_cannot_be_is_refused_in_a_line(tmp_path, capsys, option):
    source = tmp_path / "source" / "02_unit" / "02_unit.ipynb"
    source.parent.mkdir(parents=True)
    source.touch()
    assert cli.main(["watch", "02", f"--course={tmp_path}", option]) == 2
    assert "--per-hour must be at least 1" in capsys.readouterr().err


def test_what_cannot_be_collected_holds_nobody_who_is_there(watched, world, tmp_path):
    def refuse_collection():
        raise CourseError("eve: Permission denied")

    world.collect = refuse_collection
    hand_in(tmp_path, "ada", "1")
    finished = []
    with pytest.raises(CourseError, match="Permission denied"):
        finished.extend(iter(watched.round()))
    assert "ada" in world.asked and "ada" in watched._read_records()
