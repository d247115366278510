"""A sandbox that serves an object or misbehaves, and a judge that asks it."""

import contextlib
import threading

from autograder.checks.wire import WireError, receive, send, within
from autograder.grading.judge.exchange import Seconds
from autograder.grading.judge.judging import decide, hide_stub
from autograder.grading.judge.naming import name_mistake
from autograder.grading.judge.preparing import prepare_check
from autograder.grading.judge.questioning import SandboxClient
from autograder.sandbox.meter import Meter

NAME = "attention/softmax"
OTHER = "attention/scaled_dot_product"
TICKET = "t1"


def ask_sandbox(channel, seconds=30.0, stop=None, most=60.0):
    """The sandbox at the other end of a channel, and whether it has begun to answer."""
    client = SandboxClient(channel, TICKET, Meter(None), Seconds(seconds, most), stop)
    client.await_ready()
    return client


def judged(channel, seed="abc", seconds=30.0):
    """The verdict as it is shown, on what answers there."""
    check = prepare_check(NAME, seed)
    verdict = decide(check, ask_sandbox(channel, seconds))
    if not verdict.passed and verdict.results:
        verdict = name_mistake(check.exercise, check.task, verdict)
    return hide_stub(verdict)


def hostile(theirs, behaviour):
    threading.Thread(target=behaviour, args=(theirs,), daemon=True).start()


def answering(reply):
    """A sandbox that gives the same reply to every question."""

    def behave(channel):
        send(channel, f"ready {TICKET}")
        number = 0
        with contextlib.suppress(WireError, OSError):
            while receive(channel, wait=within(30))[0].startswith("ask"):
                reply(channel, f"answer {TICKET} {number}")
                number += 1

    return behave
