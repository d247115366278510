"""The judge believes tensors only, and ends in a verdict whatever the box does."""

import contextlib
import os
import socket
import threading
import time

import pytest
import torch

from autograder.bank import evaluate
from autograder.grading.judge import Judge, decide
from autograder.solutions import attention
from autograder.student import agent, references
from autograder.student.exercise import Other
from autograder.student.wire import Limits, WireError, receive, send

NAME = "attention/scores"
REQUEST = {
    "exercise": NAME,
    "ticket": "t1",
    "seed": "abc",
    "seconds": 5.0,
    "failed": [],
}


@pytest.fixture
def ends():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


@pytest.fixture
def box(ends, monkeypatch):
    """Starts a box that serves the given object; returns the judge's end."""
    ours, theirs = ends
    monkeypatch.setenv(agent.CHANNEL, str(theirs.fileno()))

    def start(get, ticket="t1"):
        arguments = (NAME, ticket, get)
        threading.Thread(target=agent.serve, args=arguments, daemon=True).start()
        return ours

    return start


def hostile(theirs, behaviour):
    threading.Thread(target=behaviour, args=(theirs,), daemon=True).start()


def answering(reply):
    """A box that gives the same reply to every question."""

    def behave(channel):
        send(channel, "ready", {"ticket": "t1"})
        with contextlib.suppress(WireError, OSError):
            while receive(channel, Limits(seconds=5))[0] == "ask":
                reply(channel)

    return behave


def test_the_solution_is_worth_all_points(box):
    verdict = decide(REQUEST, box(lambda: attention.dot_product_scores))
    assert verdict.passed and verdict.points == verdict.max_points


def test_fresh_cases_are_asked_beside_the_visible_ones(box):
    verdict = decide(REQUEST, box(lambda: attention.dot_product_scores))
    visible = len(references.load("attention")[NAME].cases)
    hidden = [r.case for r in verdict.results if r.case.hidden]
    assert len(verdict.results) > len(hidden) >= visible
    stored = references.load("attention", "hidden")[NAME].cases
    assert not any(
        case.inputs[key].shape == other.inputs[key].shape
        and case.inputs[key].equal(other.inputs[key])
        for case in hidden for other in stored for key in ("q", "k")
    )  # fmt: skip


def test_what_the_box_is_asked_differs_by_submission(box):
    def drawing(seed):
        request = REQUEST | {"seed": seed}
        results = decide(request, box(lambda: attention.dot_product_scores)).results
        return next(r.case.inputs["q"] for r in results if r.case.hidden)

    assert not drawing("one").equal(drawing("two"))


def test_a_mistake_is_named(box):
    def swapped(q, k):
        return k @ q.transpose(-2, -1)

    verdict = decide(REQUEST, box(lambda: swapped))
    assert verdict.points < verdict.max_points and verdict.mistake


@pytest.mark.parametrize(
    ("answer", "most"),
    [
        (attention.dot_product_scores, 0),  # right
        (lambda q, k: k @ q.transpose(-2, -1), 3),  # one of the named mistakes
        (lambda q, k: q.no_such_method(), 0),  # an error that no mistake makes
    ],
)
def test_only_likely_mistakes_are_computed(box, monkeypatch, answer, most):
    computed = []
    answers = evaluate.mistaken_answers
    monkeypatch.setattr(
        evaluate, "mistaken_answers",
        lambda task, objects, inputs: computed.append(len(objects))
        or answers(task, objects, inputs),
    )  # fmt: skip
    decide(REQUEST, box(lambda: answer))
    assert (
        max(computed, default=0)
        <= most
        < len(references.load("attention")[NAME].mistakes)
    )


def test_who_fails_hidden_cases_only_is_compared_with_all_mistakes(box, monkeypatch):
    asked = []
    monkeypatch.setattr(
        evaluate, "mistaken_objects",
        lambda task, names: asked.append(set(names)) or {},
    )  # fmt: skip
    cases = references.load("attention")[NAME].cases
    seen = {tuple(case.inputs["q"].flatten().tolist()) for case in cases}

    def learnt_by_heart(q, k):
        scores = attention.dot_product_scores(q, k)
        return scores if tuple(q.flatten().tolist()) in seen else scores + 1

    verdict = decide(REQUEST, box(lambda: learnt_by_heart))
    assert verdict.points < verdict.max_points
    assert asked[-1] == set(references.load("attention")[NAME].mistakes)


def test_an_undefined_name_is_reported(box):
    verdict = decide(REQUEST, box(lambda: undefined_name))  # noqa: F821
    assert verdict.points == 0 and "`undefined_name` is not defined" in str(verdict)


def test_a_check_that_never_runs_earns_nothing(ends):
    ends[1].close()
    verdict = decide(REQUEST, ends[0])
    assert verdict.points == 0 and verdict.note == "The check did not run."


def test_an_interrupted_request_does_not_disturb_the_next(box, ends):
    send(ends[1], "ready", {"ticket": "t0"})
    send(ends[1], "answer", {"scores": torch.ones(2, 2)})
    assert decide(REQUEST, box(lambda: attention.dot_product_scores)).passed


@pytest.mark.parametrize(
    "reply",
    [
        lambda c: send(c, "answer", {}),
        lambda c: send(c, "answer", {"scores": "7"}),
        lambda c: send(c, "answer", {"scores": Other("Liar")}),
        lambda c: send(c, "answer", {"scores": torch.zeros(0)}),
        lambda c: send(c, "answer", {"scores": torch.full((4, 5), torch.nan)}),
        lambda c: send(c, "verdict", {"points": torch.tensor(100.0)}),
        lambda c: send(c, "ready", {"ticket": "t1"}),
        lambda c: c.sendall(b"\xff" * 1000),
        lambda c: c.sendall(b"\0\0\0\5hello"),
        lambda c: c.shutdown(socket.SHUT_RDWR),
    ],
)
def test_no_reply_but_the_right_tensors_earns_points(ends, reply):
    hostile(ends[1], answering(reply))
    assert decide(REQUEST | {"seconds": 1.0}, ends[0]).points == 0


def test_a_silent_box_costs_its_own_time_once(ends):
    hostile(ends[1], answering(lambda channel: time.sleep(30)))
    started = time.monotonic()
    verdict = decide(REQUEST | {"seconds": 0.3}, ends[0])
    assert verdict.points == 0 and time.monotonic() - started < 5


def test_the_judge_process_answers_and_outlives_requests(ends, box):
    process = Judge(b"secret")
    try:
        for ticket in ("t1", "t2"):
            channel = box(lambda: attention.dot_product_scores, ticket)
            process.ask(NAME, ticket, "submission", channel)
            record, panel = process.verdict(60)
            assert record.points == record.max_points and "points" in panel
        process.ask(NAME, "t3", "submission", ends[0])
        assert process.verdict(0.2) is None
        process.over()
        record, _ = process.verdict(60)
        assert record.points == 0 and "did not run" in record.note
    finally:
        process.close()


def test_the_judge_process_does_not_survive_its_grader(ends):
    process = Judge(b"secret")
    process.ask(NAME, "t1", "submission", ends[0])
    pid = process._process.pid
    process._control.close()
    process._process.wait(60)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
