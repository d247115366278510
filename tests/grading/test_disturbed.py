"""On a bad day each student gets what they would get on a good one, or nothing yet."""

import contextlib
import os
import shutil
import sqlite3
from pathlib import Path

import psutil
import pytest

from autograder.grading import converter
from autograder.grading.cells import sandboxed_execute
from autograder.grading.cells.prompt_client import PromptClient
from autograder.grading.execute import JudgedExecute
from autograder.grading.judge.exchange import Exchange
from autograder.grading.run import assignment
from autograder.sandbox.ending import EndReason
from autograder.sandbox.meter import Budget
from autograder.sandbox.sandboxed import SandboxedProcess
from autograder.sandbox.slot import full_disk_message
from tests.grading import judged_course as judged
from tests.grading.disturb import processes
from tests.grading.judged_course import (
    RIGHT,
    UNDIVIDED,
    WRONG,
    autograde,
    hand_in,
    outputs,
)
from tests.sandbox.conftest import linux

pytestmark = linux
PATIENCE = 5.0  # seconds: a judge that is only slow, on a busy machine, is not given up


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    root = tmp_path_factory.mktemp("judged")
    judged.make_course(root)
    return root


@pytest.fixture
def course(empty, tmp_path, monkeypatch):
    """A course in which nobody has handed in anything, and a judge that has started.

    What goes wrong meets submissions, not the course's own solution before them.
    """
    monkeypatch.setattr(converter, "rehearse", lambda *_: None)
    root = tmp_path / "course"
    shutil.copytree(empty, root)
    assert converter.install()
    JudgedExecute().judge.wait()
    return root


def points(root) -> dict[str, list[float | None]]:
    question = (
        "select s.student_id, g.auto_score from grade g "
        "join submitted_notebook n on g.notebook_id = n.id "
        "join submitted_assignment s on n.assignment_id = s.id "
        "join base_cell b on g.cell_id = b.id order by s.student_id, b.name desc"
    )
    scores: dict[str, list[float | None]] = {}
    with contextlib.closing(sqlite3.connect(root / "gradebook.db")) as book:
        for student, score in book.execute(question):
            scores.setdefault(student, []).append(score)
    return scores


def hand_in_two(course) -> None:
    """The first of whom meets what goes wrong."""
    hand_in(course, "ada")
    hand_in(course, "bob", softmax=UNDIVIDED)


TWO = {"ada": RIGHT, "bob": WRONG}


@pytest.fixture
def once_asked(monkeypatch):
    """Has something happen once, when the sandbox has been asked for the first time."""

    def have(happen):
        ask, asked_before = Exchange.ask, []

        def ask_and_more(self, *arguments):
            ask(self, *arguments)
            if not asked_before:
                asked_before.append(True)
                happen()

        monkeypatch.setattr(Exchange, "ask", ask_and_more)

    return have


def judge_process() -> psutil.Process:
    return psutil.Process(JudgedExecute._judge._process.pid)


# --- faults of ours -------------------------------------------------------------------


@pytest.mark.slow  # as one that is stopped twice (below), or a sandbox that is killed
@pytest.mark.parametrize("begins", [True, False])
def test_a_judge_that_is_stopped_costs_nobody_anything(course, once_asked, begins):
    """Before it is asked, and while it judges."""
    hand_in_two(course)
    if begins:
        judge_process().suspend()
    else:
        once_asked(lambda: judge_process().suspend())
    result = autograde(course, judge_seconds=PATIENCE)
    assert result["success"] and result["log"].count("graded again") == 1
    assert points(course) == TWO


@pytest.mark.parametrize(
    "role",
    [  # a judge that is stopped ends as one that is killed
        "sandbox",
        *(
            pytest.param(role, marks=pytest.mark.slow)
            for role in ("judge", "sandbox server", "branch", "supervisor")
        ),
    ],
)
def test_who_is_killed_in_the_midst_of_a_check_costs_nobody_anything(
    course, once_asked, role
):
    hand_in_two(course)
    once_asked(lambda: [p.kill() for p in processes(os.getpid(), role)])
    result = autograde(course)
    lost = role != "branch"  # which sandboxes that are there do without
    assert result["success"] and result["log"].count("graded again") == lost
    assert points(course) == TWO


def test_output_that_does_not_come_costs_nobody_anything(course, monkeypatch):
    hand_in_two(course)
    messages, lost = PromptClient.messages, []

    def lose_idle_messages(self, seconds):
        received = messages(self, seconds)
        idle_messages = [
            message
            for message in received
            if message[0]["content"].get("execution_state") == "idle"
            and message[0]["parent_header"]["msg_type"] == "execute_request"
        ]
        if idle_messages and not lost:
            lost.extend(idle_messages)
            received.remove(idle_messages[0])
        return received

    monkeypatch.setattr(PromptClient, "messages", lose_idle_messages)
    result = autograde(course, iopub_timeout=1)
    assert lost and result["log"].count("graded again") == 1
    assert result["success"] and points(course) == TWO


@pytest.mark.parametrize(
    "is_repeated", [pytest.param(False, marks=pytest.mark.slow), True]
)
def test_a_host_s_full_disk_costs_nobody_anything(course, monkeypatch, is_repeated):
    """Whatever a sandbox has missed is seen when it has ended, at the latest."""
    hand_in_two(course)
    last_words, reasons = SandboxedProcess._last_words, []

    def full(self, answer):
        words = last_words(self, answer)
        if not reasons or is_repeated:
            reasons.append(words["reason"])
            words["reason"] = full_disk_message(Path("/scratch/server/slot"))
            words["ended"] = EndReason.HOST_DISK
        return words

    monkeypatch.setattr(SandboxedProcess, "_last_words", full)
    result = autograde(course)
    assert "there is no room in /scratch; make some" in result["log"]
    assert result["success"] is not is_repeated
    nothing = {student: [None, None] for student in TWO}
    assert points(course) == (nothing if is_repeated else TWO)


def test_who_cannot_be_decided_twice_needs_a_person_and_has_no_score(
    course, monkeypatch
):
    hand_in_two(course)
    hand_in(course, "cyd")
    ask = Exchange.ask

    def ask_and_stop(self, *arguments):
        ask(self, *arguments)
        if self._names["submission"] == bobs:
            judge_process().suspend()

    path = course / "submitted" / "bob" / judged.UNIT / f"{judged.UNIT}.ipynb"
    bobs = assignment.identity("bob", judged.UNIT, judged.UNIT, path.read_bytes())
    monkeypatch.setattr(Exchange, "ask", ask_and_stop)
    result = autograde(course, judge_seconds=PATIENCE)
    assert not result["success"] and "Needs a person: bob: undecided" in result["log"]
    assert points(course) == {"ada": RIGHT, "bob": [None, None], "cyd": RIGHT}


# --- what is the student's -----------------------------------------------------------


def test_who_ends_the_own_process_loses_that_cell_and_no_other(course):
    crash = "import ctypes\nctypes.string_at(0)"
    hand_in(course, "bob", softmax=f"{judged.SOFTMAX}\n{crash}")
    exits = "import os\nos._exit(1)"
    hand_in(course, "cyd", f"{judged.SOFTMAX}\nprint('before')", exits)
    result = autograde(course)
    assert result["success"] and "Kernel died" not in result["log"]
    assert points(course) == {"bob": WRONG, "cyd": [14.0, 0.0]}
    assert "before" in outputs(course, "cyd", "softmax-answer")
    assert "ended its process: exited" in outputs(course, "cyd", "sees-answer")
    assert "ended its process: signal 11" in outputs(course, "bob", "softmax-answer")


def test_a_cell_that_sleeps_or_never_ends_loses_itself_and_no_other(
    course, monkeypatch
):
    monkeypatch.setattr(sandboxed_execute, "_TO_END", Budget(cpu=1.0, clock=2.0))
    hand_in(course, "ada", softmax=f"import time\ntime.sleep(600)\n{judged.SOFTMAX}")
    deaf = "import signal\nsignal.signal(2, signal.SIG_IGN)\nwhile True: pass"
    hand_in(course, "bob", softmax=deaf)
    late = judged.SOFTMAX.replace("return", "while True: pass\n    return")
    hand_in(course, "cyd", softmax=late)
    autograde(course, timeout=1, answer_seconds=0.5)
    assert points(course) == dict.fromkeys(("ada", "bob", "cyd"), WRONG)
    assert "CellTimeoutError" in outputs(course, "ada", "softmax-answer")
    assert "ended its process" in outputs(course, "bob", "softmax-answer")
    assert "an answer took longer than" in outputs(course, "cyd", "softmax")


def test_a_notebook_holds_its_grader_no_longer_than_its_limits_say(course, monkeypatch):
    """A cell that sleeps is not waited for: this test would not end in time."""
    monkeypatch.setattr(sandboxed_execute, "_TO_END", Budget(cpu=0.5, clock=1.0))
    slow = "import time\n" + judged.SOFTMAX.replace(
        "return", "time.sleep(0.5)\n    return"
    )
    hand_in(course, "ada", softmax=slow)
    sleeps = f"import time\n{judged.SEES}\ntime.sleep(3600)"
    hand_in(course, "bob", softmax=slow, sees=sleeps)
    limits = {"answer_seconds": 10.0, "check_seconds": 1.0, "notebook_seconds": 3.0}
    autograde(course, **limits)
    scores = points(course)
    assert scores["ada"][0] < 14.0 and scores["ada"][1] == 8.0
    output = outputs(course, "ada", "softmax")
    assert "together took longer than 2 seconds" in output and "wait for?" in output
    assert "it has used up its time" in outputs(course, "bob", "sees")


FLOOD = """
import os, threading
def _flood():
    while True:
        os.write(int(os.environ["AUTOGRADER_CHANNEL_FD"]), os.urandom(1 << 12))
threading.Thread(target=_flood, daemon=True).start()
"""


def test_junk_on_the_judges_channel_costs_its_own_submission_only(course):
    hand_in(course, "ada", softmax=f"{judged.SOFTMAX}\n{FLOOD}")
    hand_in(course, "bob")
    autograde(course, timeout=10)
    scores = points(course)
    assert scores["bob"] == RIGHT and scores["ada"][0] == 0.0


def test_the_judge_outlives_a_class(course):
    hand_in_two(course)
    before = judge_process().pid
    assert autograde(course)["success"]
    assert judge_process().pid == before
    assert points(course) == TWO
