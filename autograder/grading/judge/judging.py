"""The judge process: it knows the answers, and takes the student's by value.

Started by `kernel/launch.py`, it serves the grading process (`handle.py`) at the other
end of the socket that its argument names. It is handed the trusted end of a kernel's
channel, questions the box, on cases that it draws and whose right answers it computes,
and sends back a verdict. What the box sends is decoded here, away from the gradebook;
what is right never enters the box.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import math
import socket
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from autograder.checks.check import without_stub
from autograder.checks.compare import judge
from autograder.checks.exercise import Verdict, is_stub
from autograder.checks.panel import pictures
from autograder.grading.ipc import Connection, ConnectionLostError, Message
from autograder.grading.judge import reference_substitution
from autograder.grading.judge.exchange import Seconds
from autograder.grading.judge.naming import named
from autograder.grading.judge.preparing import Prepared, expect, prepared
from autograder.grading.judge.questioning import BoxClient
from autograder.grading.judge.told import Told, for_a_person, told
from autograder.sandbox import logs
from autograder.sandbox.launch import imported
from autograder.sandbox.meter import Meter

log = logging.getLogger(__name__)

_REPLY_SECONDS = 600.0  # for the grading process to take a reply
_FULL = 100  # of Python's collections, every so many go through all that there is


def main() -> None:
    """Serve the grading process that has started this one."""
    control = socket.socket(fileno=int(sys.argv[1]))
    imported()
    with contextlib.suppress(ConnectionLostError):  # we were started in vain
        Connection(control).put({"state": "started"}, _REPLY_SECONDS)
        serve(control)


def serve(control: socket.socket) -> None:
    """Judge what is asked for, until the control socket closes.

    What is kept here is kept for long: Python would go through all of it once in each
    submission, for 40 ms.
    """
    logs.name_process("judge")
    gc.set_threshold(*gc.get_threshold()[:2], _FULL)
    line = Connection(control)
    with contextlib.suppress(ConnectionLostError):
        while True:
            message, _ = line.get(math.inf)
            if "expect" in message:
                expect(message["expect"])
            if "prepare" in message:  # else a late "over" of what was decided already
                with logs.about(f"{message['exercise']} of {message['submission']}"):
                    _answer(message, line)


def _answer(message: Message, line: Connection) -> None:
    """One exchange; see `exchange.py`."""
    names = {key: message[key] for key in ("id", "exercise", "submission")}
    request = message["prepare"]
    given, limits = request.pop("given"), Seconds(**request.pop("seconds"))
    log.debug("asked with %s", request)
    check = prepared(message["exercise"], **request)

    def say(state: str, **more: object) -> None:
        line.put({**names, "state": state, **more}, _REPLY_SECONDS)

    say("prepared", code=reference_substitution.course_version(given))
    message, descriptors = line.get(math.inf)
    started = time.monotonic()
    with socket.socket(fileno=descriptors[0]) as channel:
        meter = Meter(message["ask"]["supervisor"])
        ticket = message["ask"]["ticket"]
        box = BoxClient(channel, ticket, meter, limits, line, lambda: say("ready"))
        if box.await_ready():
            say("ready")
        found = _decided(check, box, names["submission"], draws=not given)
    seconds = round(time.monotonic() - started, 3)
    log.debug("decided in %s s: %s", seconds, found.told.record)

    def tell(state: str, final: Told, more: bool) -> None:
        final = reference_substitution.given(final, given) if given else final
        record = replace(final.record, seconds=seconds)
        say(state, record=record.to_json(), panel=final.panel,
            complete=box.complete, hindered=box.hindered, took=box.took,
            more=more)  # fmt: skip

    tell("decided", found.told, found.unnamed is not None)
    if found.unnamed is not None:
        tell("named", _named(check, found, found.unnamed, names["submission"]), False)


@dataclass(frozen=True)
class _Decided:
    """What is told of a verdict, the pictures in that; the verdict to find a name for.

    There is none for what is right, has ended too early, or was our fault.
    """

    told: Told
    drawn: Mapping[str, str] = field(default_factory=dict)
    unnamed: Verdict | None = None


def _decided(check: Prepared, box: BoxClient, submission: str, draws: bool) -> _Decided:
    try:
        verdict = decide(check, box)
        seen = shown(verdict)
        drawn = pictures(seen) if draws else {}
        more = box.heard and not (seen.passed or seen.note or box.late)
        final = told(seen, submission, drawn)
        return _Decided(final, drawn, verdict if more else None)
    except Exception:  # a fault of ours, over whatever the box has answered
        log.exception("not judged")
        box.done()
        return _Decided(for_a_person(check.exercise, submission))


def _named(check: Prepared, found: _Decided, verdict: Verdict, submission: str) -> Told:
    try:
        verdict = named(check.exercise, check.task, verdict)
        return told(shown(verdict), submission, found.drawn)
    except Exception:  # the verdict stands without the mistake's name
        log.exception("the mistake was not named")
        return found.told


def decide(check: Prepared, box: BoxClient) -> Verdict:
    """Question the box on one exercise: on the visible cases first.

    A stub says there what it is, and nothing is drawn for it.
    """
    cases = check.exercise.cases
    answers = [box.ask(check.side(case), check.shown(case)) for case in cases]
    if not all(map(is_stub, answers)):
        cases = check.cases
        answers += [box.ask(check.side(c), check.shown(c)) for c in check.fresh]
    box.done()
    for case, answer in zip(cases, answers, strict=False):
        log.debug("case %s: the sandbox said %s", case.name, answer)
    given = iter(answers)
    verdict = judge(check.exercise, cases, lambda case: next(given))
    if not box.heard:
        return replace(verdict, results=(), note="The check did not run.", points=0.0)
    return replace(verdict, mistake=box.late, sure=True) if box.late else verdict


def shown(verdict: Verdict) -> Verdict:
    """The verdict as it is shown."""
    return verdict if verdict.note else without_stub(verdict)
