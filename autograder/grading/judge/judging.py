"""The judge process: it knows the answers, and takes the student's by value.

Started by `kernel/launch.py`, it serves the grading process (`judge.py`) at the other
end of the socket that its argument names. It is handed the trusted end of a kernel's
channel, questions the box, on cases that it draws and whose right answers it computes,
and sends back a verdict. What the box sends is decoded here, away from the gradebook;
what is right never enters the box.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import math
import random
import socket
import sys
import time
import traceback
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import torch

from autograder.bank import specification, specifications
from autograder.grading.judge import in_place
from autograder.grading.judge.handle import Seconds
from autograder.grading.judge.naming import named
from autograder.grading.judge.questioning import Respondent
from autograder.grading.judge.told import Told, for_a_person, told
from autograder.grading.line import Line, LineError, Message
from autograder.kernel.launch import imported
from autograder.kernel.meter import Meter
from autograder.oracle.cases import fresh_cases
from autograder.oracle.specification import Specification
from autograder.student import references
from autograder.student.check import without_stub
from autograder.student.compare import judge
from autograder.student.exercise import AFTERWARDS, RAISED, Case, Verdict
from autograder.student.exercise import Exercise as Visible
from autograder.student.observe import UNSOLVED
from autograder.student.otherside import OtherSide
from autograder.student.panel import pictures
from autograder.student.wire import Packed, packed

_REPLY_SECONDS = 600.0  # for the grading process to take a reply
_BY_HAND = 4  # numbers that a person might compute
_FULL = 100  # of Python's collections, every so many go through all that there is


def main() -> None:
    """Serve the grading process that has started this one."""
    control = socket.socket(fileno=int(sys.argv[1]))
    imported()
    with contextlib.suppress(LineError):  # who has started this one is gone already
        Line(control).put({"state": "started"}, _REPLY_SECONDS)
        serve(control)


def serve(control: socket.socket) -> None:
    """Judge what is asked for, until the control socket closes.

    What is kept here is kept for long: Python would go through all of it once in each
    submission, for 40 ms.
    """
    gc.set_threshold(*gc.get_threshold()[:2], _FULL)
    line = Line(control)
    with contextlib.suppress(LineError):
        while True:
            message, _ = line.get(math.inf)
            if "expect" in message:
                _expect(message["expect"])
            if "prepare" in message:  # else a late "over" of what was decided already
                _answer(message, line)


def _expect(unit: str) -> None:
    """Have a unit's exercises and visible cases at hand, while nobody waits for it."""
    with contextlib.suppress(Exception):  # who asks for one of them is told
        specifications(unit)
        _visible(unit)


def _answer(message: Message, line: Line) -> None:
    """One exchange; see `judge.py`."""
    names = {key: message[key] for key in ("id", "exercise", "submission")}

    def say(state: str, **more: object) -> None:
        line.put({**names, "state": state, **more}, _REPLY_SECONDS)

    given = message["prepare"].pop("given")
    limits = Seconds(**message["prepare"].pop("seconds"))
    check = prepared(message["exercise"], **message["prepare"])
    say("prepared", code=in_place.course_version(given))
    message, descriptors = line.get(math.inf)
    started = time.monotonic()
    with socket.socket(fileno=descriptors[0]) as channel:
        meter = Meter(message["ask"]["supervisor"])
        ticket = message["ask"]["ticket"]
        box = Respondent(channel, ticket, meter, limits, line, lambda: say("ready"))
        if box.await_ready():
            say("ready")
        verdict, more, drawn = None, False, dict[str, str]()
        try:
            verdict = decide(check, box)
            seen = shown(check, verdict)
            drawn = {} if given else pictures(seen)  # `in_place` shows none
            final = told(seen, names["submission"], drawn)
            more = box.heard and not (seen.passed or seen.note or box.late)
        except Exception:  # a fault of ours, over whatever the box has answered
            traceback.print_exc()
            box.done()
            final = for_a_person(check.exercise, names["submission"])
    seconds = round(time.monotonic() - started, 3)

    def tell(state: str, final: Told, more: bool) -> None:
        final = in_place.given(final, given) if given else final
        record = replace(final.record, seconds=seconds)
        say(state, record=record.to_json(), panel=final.panel,
            complete=box.complete, hindered=box.hindered, took=box.took,
            more=more)  # fmt: skip

    tell("decided", final, more)
    if not (verdict and more):
        return
    try:
        verdict = named(check.exercise, check.task, verdict)
        final = told(shown(check, verdict), names["submission"], drawn)
    except Exception:  # the verdict stands without the mistake's name
        traceback.print_exc()
    tell("named", final, False)


@dataclass(frozen=True)
class Prepared:
    """A check that is ready to be asked for.

    Attributes:
        own: what nobody else is asked is drawn from it.
        shared: what others are asked, too, is drawn from it; nothing without it.
    """

    exercise: Visible
    task: Specification
    own: str
    shared: str = ""

    @property
    def fresh(self) -> tuple[Case, ...]:
        """Cases that do not ship, with the right answers; they take a while to draw.

        The stored hidden cases stay here: whatever enters the box could be printed by
        the student's code. Where answers are many numbers that are computed, a few
        drawings serve all submissions: to know inputs of theirs is to know no answers.
        Where we play a side, feedback tells which words were right; where a model is
        measured, inputs are read by people; a mask or a list of words can be filled in
        by hand, or by feedback: these are drawn for each submission.
        """
        if self.shared and _is_computed(self.task.name):
            return _fresh_for_several(self.task.name, self.shared)
        return _fresh(self.task.name, self.own)

    @property
    def cases(self) -> tuple[Case, ...]:
        """The visible cases, then the fresh ones."""
        return (*self.exercise.cases, *self.fresh)

    def side(self, case: Case) -> OtherSide:
        """What we play of a case; what is drawn for it, nobody can know before."""
        draw = random.Random(f"{self.own} {case.name} {case.hidden}")
        return self.task.side.in_grading(case.inputs, draw)

    def shown(self, case: Case) -> Packed | None:
        """The whole case where we play nothing: put together once for all boxes."""
        if self.task.side is not OtherSide:
            return None
        if case not in _packed:
            _packed[case] = packed(case.inputs)
        return _packed[case]


def prepared(name: str, own: str, shared: str = "") -> Prepared:
    """Have all that a check takes at hand; see Prepared."""
    unit = name.split("/")[0]
    return Prepared(_visible(unit)[name], specification(name), own, shared)


def decide(check: Prepared, box: Respondent) -> Verdict:
    """Question the box on one exercise: on the visible cases first.

    A stub says there what it is, and nothing is drawn for it.
    """
    cases = check.exercise.cases
    answers = [box.ask(check.side(case), check.shown(case)) for case in cases]
    if any(answer.get(RAISED) != UNSOLVED for answer in answers):
        cases = check.cases
        answers += [box.ask(check.side(c), check.shown(c)) for c in check.fresh]
    box.done()
    given = iter(answers)
    verdict = judge(check.exercise, cases, lambda case: next(given))
    if not box.heard:
        return replace(verdict, results=(), note="The check did not run.", points=0.0)
    return replace(verdict, mistake=box.late, sure=True) if box.late else verdict


def shown(check: Prepared, verdict: Verdict) -> Verdict:
    """The verdict as it is shown."""
    return verdict if verdict.note else without_stub(verdict)


_visible = functools.cache(references.load)
_packed = WeakKeyDictionary[Case, Packed]()  # of cases that are there anyway


@functools.cache
def _is_computed(name: str) -> bool:
    """Whether what is right follows from inputs that the box is given whole.

    And whether most cases have more numbers for an answer than a person writes down.
    """
    exercise, task = _visible(name.split("/")[0])[name], specification(name)
    if task.side is not OtherSide or any(kind.measure for kind in task.cases):
        return False
    closed = [case for case in exercise.cases if not case.open]
    return 2 * sum(map(_has_many_numbers, closed)) > len(closed)


def _has_many_numbers(case: Case) -> bool:
    """Whether an answer is made of many numbers that are not counts."""
    return any(
        isinstance(value, torch.Tensor)
        and value.is_floating_point()
        and int((value != value.round()).sum()) > _BY_HAND
        for name, value in case.expected.items()
        if not name.endswith(AFTERWARDS)
    )


@functools.lru_cache(maxsize=24)  # more than the exercises of one submission
def _fresh(name: str, seed: str) -> tuple[Case, ...]:
    return tuple(fresh_cases(specification(name), seed))


@functools.lru_cache(maxsize=128)  # more than all that a unit's exercises have
def _fresh_for_several(name: str, seed: str) -> tuple[Case, ...]:
    return tuple(fresh_cases(specification(name), seed))
