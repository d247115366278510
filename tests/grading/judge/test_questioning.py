"""Whatever a sandbox does, asking it ends in a verdict."""

import contextlib
import itertools
import os
import socket
import threading
import time
from types import SimpleNamespace

import pytest
import torch

from autograder.checks.exercise import Other
from autograder.checks.wire import WireError, receive, send, within
from autograder.grading.ipc import Connection
from autograder.grading.judge import judging, questioning
from autograder.grading.judge.exchange import Seconds
from autograder.grading.judge.judging import decide
from autograder.grading.judge.preparing import prepare_check
from autograder.grading.judge.questioning import SandboxClient
from autograder.sandbox import meter
from autograder.sandbox.ending import EndReason
from autograder.sandbox.meter import Meter
from tests.grading.sandbox_and_judge import (
    NAME,
    TICKET,
    answering,
    ask_sandbox,
    hostile,
    judged,
)
from transformer_course.solutions import attention


def test_a_check_that_never_runs_earns_nothing(pair):
    pair[1].close()
    verdict = judged(pair[0])
    assert verdict.points == 0 and verdict.note == "The check did not run."


def test_the_rest_of_an_interrupted_exchange_does_not_disturb_the_next(sandbox, pair):
    ours, theirs = pair
    send(theirs, "ready t0")
    send(theirs, "answer t0 0", {"weights": torch.ones(2, 2)})
    send(ours, "ask t0 1", {"x": torch.ones(2, 2)})
    send(ours, "done t0")
    assert judged(sandbox(lambda: attention.stable_softmax)).passed


@pytest.mark.parametrize(
    "reply",
    [
        lambda c, kind: send(c, kind, {}),
        lambda c, kind: send(c, kind, {"weights": "7"}),
        lambda c, kind: send(c, kind, {"weights": Other("Liar")}),
        lambda c, kind: send(c, kind, {"weights": torch.zeros(0)}),
        lambda c, kind: send(c, kind, {"weights": torch.full((4, 5), torch.nan)}),
        lambda c, kind: send(c, "verdict", {"points": torch.tensor(100.0)}),
        lambda c, kind: send(c, f"ready {TICKET}"),
        lambda c, kind: c.sendall(b"\xff" * 1000),
        lambda c, kind: c.sendall(b"\0\0\0\5hello"),
        lambda c, kind: c.shutdown(socket.SHUT_RDWR),
    ],
)
def test_no_reply_but_the_right_tensors_earns_points(pair, reply):
    hostile(pair[1], answering(reply))
    assert judged(pair[0], seconds=0.5).points == 0


def test_a_silent_sandbox_costs_its_own_time_once(pair):
    asks = []
    hostile(pair[1], answering(lambda channel, kind: asks.append(kind)))
    check, client = prepare_check(NAME, "abc"), ask_sandbox(pair[0], 0.3)
    assert decide(check, client).points == 0
    assert len(asks) <= 1 and not client.complete


def flood(channel):
    """Messages of no exchange, without end."""
    with contextlib.suppress(WireError, OSError):
        while True:
            send(channel, "answer x 0", {"weights": torch.zeros(100)})


def half_messages(channel):
    """A header that is said to come, and then a byte now and then."""
    with contextlib.suppress(OSError):
        channel.sendall(b"\0\2\0\0")
        while True:
            channel.sendall(b"x")
            time.sleep(0.01)


def noise(channel):
    with contextlib.suppress(OSError):
        while True:
            channel.sendall(os.urandom(1 << 16))


@pytest.mark.parametrize("junk", [flood, half_messages, noise])
def test_junk_without_end_ends_with_its_cell_and_earns_nothing(pair, junk):
    hostile(pair[1], junk)
    grader, stop = socket.socketpair()
    with grader, stop:
        end = threading.Timer(0.5, grader.send, [b"the cell has ended"])
        end.start()
        client = ask_sandbox(pair[0], stop=Connection(stop))
        end.join()
        assert not client.heard
        assert decide(prepare_check(NAME, "abc"), client).points == 0
    pair[0].shutdown(socket.SHUT_RDWR)


def test_the_sandbox_waits_for_the_judge_as_long_as_its_cell_lives(sandbox):
    channel = sandbox(lambda: attention.stable_softmax)
    check = prepare_check(NAME, "abc")
    client = ask_sandbox(channel, 0.3)
    time.sleep(0.7)  # longer than any answer may take
    assert decide(check, client).passed


class Clock:
    """The time that a meter sees: it goes on only when somebody adds to it.

    What we compute meanwhile costs the sandbox nothing, however long that takes.
    """

    def __init__(self):
        self.seconds = 0.0
        self.judge_waits = threading.Event()  # since its last message

    def slowly(self, channel, kind):
        """Answer after a quarter of a second, in which the judge waits."""
        self.judge_waits.wait()
        self.seconds += 0.25
        send(channel, kind, {})


@pytest.fixture
def clock(monkeypatch):
    sandbox_clock, client = Clock(), SandboxClient
    time = SimpleNamespace(
        monotonic=lambda: sandbox_clock.seconds, thread_time=lambda: 0.0
    )
    for module in (meter, questioning):
        monkeypatch.setattr(module, "time", time)
    send_message, waiting = client._send, client._waiting

    def note_message(self, *message):
        sandbox_clock.judge_waits.clear()
        return send_message(self, *message)

    def note_wait(self, span):
        wait = waiting(self, span)
        return lambda *event: (sandbox_clock.judge_waits.set(), wait(*event))

    monkeypatch.setattr(client, "_send", note_message)
    monkeypatch.setattr(client, "_waiting", note_wait)
    return sandbox_clock


def test_what_a_sandbox_takes_for_its_answers_is_counted(pair, clock):
    hostile(pair[1], answering(clock.slowly))
    check, client = prepare_check(NAME, "abc"), ask_sandbox(pair[0])
    clock.seconds += 0.5  # which is ours
    decide(check, client)
    assert client.took == pytest.approx(0.25 * len(check.cases))


def test_answers_that_are_each_in_time_are_late_together(pair, clock):
    hostile(pair[1], answering(clock.slowly))
    client = ask_sandbox(pair[0], seconds=30.0, most=0.3)
    verdict = decide(prepare_check(NAME, "abc"), client)
    assert client.late == verdict.mistake and verdict.sure and not client.complete
    assert "together took longer than 0.6 seconds" in verdict.mistake.says
    assert verdict.mistake.asks == "What does your code wait for?"
    assert client.took == pytest.approx(0.75)  # the late answer, and none after it


def test_a_verdict_records_that_its_answers_were_late(pair, clock):
    hostile(pair[1], answering(clock.slowly))
    client = ask_sandbox(pair[0], seconds=30.0, most=0.3)
    names = {"exercise": NAME, "submission": "me"}
    check = prepare_check(NAME, "abc")
    ((final, further),) = judging._verdicts(check, client, names, draws=False)
    assert final.verdict.ended is EndReason.TIME and not further


@pytest.fixture
def work(monkeypatch):
    """The CPU time that questions cost us, as far as anybody looks: each 9 seconds."""
    spent = [0.0]

    def answered(side, question):
        spent[0] += 9.0
        return {}

    monkeypatch.setattr(questioning, "reply", answered)
    monkeypatch.setattr(questioning.time, "thread_time", lambda: spent[0])
    return spent


def asking(questions):
    """A sandbox that asks so many questions before each answer."""

    def behave(channel):
        send(channel, f"ready {TICKET}")
        with contextlib.suppress(WireError, OSError):
            for number in itertools.count():
                if receive(channel, wait=within(5))[0].startswith("done"):
                    return
                for _ in range(questions):
                    send(channel, f"question {TICKET} {number}", {})
                    receive(channel, wait=within(5))
                send(channel, f"answer {TICKET} {number}", {})

    return behave


def test_what_we_work_for_a_sandbox_is_not_its_time(pair, work):
    hostile(pair[1], asking(questions=2))
    client = ask_sandbox(pair[0], seconds=4.0, most=1000.0)
    decide(prepare_check(NAME, "abc"), client)
    assert client.complete and not client.late and work[0] > 200.0


def test_but_we_work_no_longer_for_it_than_it_may_for_all_answers(pair, work):
    hostile(pair[1], asking(questions=1000))
    client = ask_sandbox(pair[0], seconds=5.0, most=60.0)
    verdict = decide(prepare_check(NAME, "abc"), client)
    assert verdict.points == 0
    assert "asked more than a check answers" in verdict.mistake.says
    assert 60.0 < work[0] < 60.0 + 2 * 9.0 and not client.complete


def test_who_waits_for_an_answer_says_so_now_and_then(pair, monkeypatch):
    monkeypatch.setattr(questioning, "_SIGN", 0.0)
    signs = []
    hostile(pair[1], answering(lambda channel, kind: None))
    check, meter = prepare_check(NAME, "abc"), Meter(None)
    sandbox = SandboxClient(
        pair[0], TICKET, meter, Seconds(0.5), waits=lambda: signs.append(1)
    )
    assert sandbox.await_ready() and not signs  # before that, it is the cell's time
    decide(check, sandbox)
    assert len(signs) >= 2
