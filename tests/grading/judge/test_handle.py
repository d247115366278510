"""The judge as a process: it answers, is replaced, and outlives no grader."""

import os
import signal
import socket
import subprocess
import time
from types import SimpleNamespace

import pytest

from autograder.course.errors import CourseError
from autograder.grading.faults import GradingInfrastructureError
from autograder.grading.ipc import Connection
from autograder.grading.judge.exchange import Question
from autograder.grading.judge.handle import DRAWINGS, Judge
from autograder.sandbox.inside import ALIKE
from tests.grading.sandbox_and_judge import NAME, OTHER, TICKET
from transformer_course.solutions import attention


def exchange(process, channel, ticket=TICKET, submission="ada"):
    question = Question(NAME, submission, "key")
    with process.exchange(question) as exchange_handle:
        exchange_handle.ask(channel, None, ticket)
        while not exchange_handle.verdict:
            exchange_handle.look()
            time.sleep(0.01)
        return exchange_handle, exchange_handle.await_mistake()


def test_the_judge_process_answers_and_outlives_requests_but_not_its_grader(
    judge, pair, sandbox
):
    for ticket in ("t1", "t2"):
        channel = sandbox(lambda: attention.stable_softmax, ticket)
        client, finished = exchange(judge, channel, ticket)
        assert finished.verdict.points == finished.verdict.max_points
        assert client.complete and "points" in finished.html
        assert finished.verdict.submission == "ada"
    pid = judge._process.pid
    with judge.exchange(Question(NAME, "ada", "key")) as silent:
        silent.ask(pair[0], None, "t3")
        verdict = silent.settle().verdict
    assert verdict.points == 0 and "did not run" in verdict.note
    assert not silent.complete and judge._process.pid == pid
    process = judge._process
    judge._line.close()
    process.wait(60)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_judge_that_has_preloaded_a_unit_answers_as_any(judge, sandbox):
    for unit in ("attention", "of_no_course"):
        judge.preload(unit)
    channel = sandbox(lambda: attention.stable_softmax)
    verdict = exchange(judge, channel)[1].verdict
    assert verdict.points == verdict.max_points


def test_a_judge_starts_as_all_do_whatever_the_shell_says(monkeypatch):
    """MKL has a variable of its own: with 64 threads a check took twice as long."""
    started = []

    def start(*_, env, **__):
        started.append(env)
        raise InterruptedError

    monkeypatch.setenv("MKL_NUM_THREADS", "64")
    monkeypatch.setenv("PYTHONHASHSEED", "random")
    monkeypatch.setattr(subprocess, "Popen", start)
    with pytest.raises(InterruptedError):
        Judge(b"secret").preload()
    assert ALIKE.items() <= started[0].items()
    assert ALIKE["MKL_NUM_THREADS"] == "1" and ALIKE["PYTHONHASHSEED"] == "0"


def test_a_judge_that_is_stopped_while_it_starts_is_ended(judge, monkeypatch):
    monkeypatch.setattr("autograder.grading.judge.handle.START_SECONDS", 0.3)
    judge.preload()
    stopped = judge._process.pid
    os.kill(stopped, signal.SIGSTOP)
    with pytest.raises(CourseError, match="the judge process does not start"):
        judge.wait()
    with pytest.raises(ProcessLookupError):
        os.kill(stopped, 0)


def test_a_class_is_asked_few_drawings_and_each_submission_always_the_same():
    judge, keys = Judge(b"of the course"), [f"key {n}" for n in range(60)]
    seeds = [judge._seeds(Question(NAME, "ada", key)) for key in keys]
    assert len({s["own"] for s in seeds}) == len(keys)
    assert len({s["shared"] for s in seeds}) == DRAWINGS
    assert seeds == [judge._seeds(Question(NAME, "bob", key)) for key in keys]
    differing = [judge._seeds(Question(OTHER, "ada", key)) for key in keys]
    of_another = [Judge(b"another")._seeds(Question(NAME, "ada", k)) for k in keys]
    for seeds_of_others in (differing, of_another):
        assert not {s["shared"] for s in seeds_of_others} & {s["shared"] for s in seeds}


def test_a_judge_that_is_left_or_stopped_decides_nothing_and_is_replaced(
    judge, pair, sandbox
):
    judge.wait()
    pid = judge._process.pid
    with (
        pytest.raises(KeyboardInterrupt),
        judge.exchange(Question(OTHER, "bob", "key")) as abandoned,
    ):
        abandoned.ask(pair[0], None, "t0")
        raise KeyboardInterrupt
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    channel = sandbox(lambda: attention.stable_softmax)
    verdict = exchange(judge, channel)[1].verdict
    assert verdict.exercise == NAME and verdict.points == verdict.max_points
    stopped = judge._process.pid
    os.kill(stopped, signal.SIGSTOP)
    judge.patience = 0.3
    with (
        pytest.raises(GradingInfrastructureError),
        judge.exchange(Question(OTHER, "bob", "key")),
    ):
        raise AssertionError("it was not prepared")
    judge.patience = 120.0
    channel = sandbox(lambda: attention.stable_softmax)
    assert exchange(judge, channel)[1].verdict.exercise == NAME
    assert judge._process.pid != stopped


@pytest.mark.parametrize(
    "strange",
    [
        {"id": "of another exchange"},
        {"exercise": OTHER},
        {"submission": "bob"},
        {"state": "decided"},
        {},
    ],
)
def test_a_reply_that_does_not_match_is_not_taken(judge, monkeypatch, strange):
    ours, theirs = socket.socketpair()
    with theirs:
        process = SimpleNamespace(kill=lambda: None, wait=lambda: None)
        judge._line, judge._process, judge._greeted = Connection(ours), process, True
        monkeypatch.setattr("secrets.token_hex", lambda size: "the id")
        right = {"id": "the id", "exercise": NAME, "submission": "ada"}
        reply = {**right, "state": "prepared", **strange}
        Connection(theirs).send(reply if strange else {}, 5.0)
        refused = pytest.raises(GradingInfrastructureError, match="another question")
        with refused, judge.exchange(Question(NAME, "ada", "key")):
            raise AssertionError("it was taken")
        assert judge._process is None
