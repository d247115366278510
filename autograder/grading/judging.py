"""The judge process: it knows the answers, and takes the student's by value.

``python -m autograder.grading.judging FD`` serves the grading process (`judge.py`) at
the other end of the socket FD. It draws the cases of an exercise and computes what is
right; then it is handed the trusted end of a kernel's channel, questions the box, and
sends back a verdict. What the box sends is decoded here, away from the gradebook; what
is right never enters the box.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import math
import random
import select
import signal
import socket
import sys
import time
import traceback
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType

from autograder.bank import specification
from autograder.course import units
from autograder.grading.line import Line, LineError, Message
from autograder.grading.record import Record, of_verdict
from autograder.kernel.meter import LOOK_SECONDS, Budget, Meter, Span
from autograder.oracle import answers
from autograder.oracle.cases import fresh_cases
from autograder.oracle.specification import Specification
from autograder.student import references
from autograder.student.check import without_stub
from autograder.student.compare import blame, diagnose, gives_all, judge
from autograder.student.exercise import RAISED, Answers, Case, CaseResult, Verdict
from autograder.student.exercise import Exercise as Visible
from autograder.student.otherside import OtherSide, concluded, reply
from autograder.student.panel import as_html
from autograder.student.probes import find
from autograder.student.wire import WireError, receive, send

NO_ANSWER = "the check got no readable answer from the notebook"
FOR_A_PERSON = "This check could not be decided: a person looks at it."
TOO_MANY = "the check was asked more than it answers"
MOST_QUESTIONS = 50_000  # that a box may ask during one check
TOO_SLOW = "an answer took longer than {:.0f} seconds of {}"
NAMING_SECONDS = 60.0  # of CPU time, to find the mistake after the verdict
CLOCK = 2.0  # times the CPU time: what an answer may take with its pauses
_STRAYS = 4  # messages of an interrupted call that are passed over
_REPLY_SECONDS = 600.0  # for the grading process to take a reply


def main() -> None:
    """Serve the grading process that has started this one."""
    control = socket.socket(fileno=int(sys.argv[1]))
    Line(control).put({"state": "started"}, _REPLY_SECONDS)
    serve(control)


def serve(control: socket.socket) -> None:
    """Judge what is asked for, until the control socket closes."""
    line = Line(control)
    with contextlib.suppress(LineError):
        while True:
            message, _ = line.get(math.inf)
            if "prepare" in message:  # else a late "over" of what was decided already
                _answer(message, line)


def _answer(message: Message, line: Line) -> None:
    """One exchange; see `judge.py`."""
    names = {key: message[key] for key in ("id", "exercise", "submission")}

    def say(state: str, **more: object) -> None:
        line.put({**names, "state": state, **more}, _REPLY_SECONDS)

    check = prepared(message["exercise"], **message["prepare"])
    say("prepared")
    message, descriptors = line.get(math.inf)
    started = time.monotonic()
    with socket.socket(fileno=descriptors[0]) as channel:
        meter = Meter(message["ask"]["supervisor"])
        box = Box(channel, message["ask"]["ticket"], meter, check.seconds, line)
        if box.await_ready():
            say("ready")
        try:
            verdict = decide(check, box)
            shown = told(check, verdict, names["submission"])
        except Exception:  # a fault of ours, over whatever the box has answered
            traceback.print_exc()
            box.done()
            verdict, shown = None, for_a_person(check, names["submission"])
    seconds = round(time.monotonic() - started, 3)

    def tell(state: str, shown: Told, more: bool) -> None:
        record = replace(shown.record, seconds=seconds)
        say(state, record=record.to_json(), panel=shown.panel,
            complete=box.complete, hindered=box.hindered, more=more)  # fmt: skip

    unnamed = verdict is not None and box.heard and not verdict.passed
    tell("decided", shown, unnamed)
    if unnamed:
        try:
            shown = told(check, named(check, verdict), names["submission"])
        except Exception:  # the verdict stands without the mistake's name
            traceback.print_exc()
        tell("named", shown, False)


@dataclass(frozen=True)
class Told:
    """What is told of a verdict: a record, and the verdict as HTML."""

    record: Record
    panel: str


def told(check: Prepared, verdict: Verdict, submission: str) -> Told:
    """A verdict as it is kept and shown."""
    shown = conclude(check, verdict)
    return Told(of_verdict(shown, submission), as_html(shown))


def for_a_person(check: Prepared, submission: str) -> Told:
    """What is told of a check that nobody has decided: no points yet, and no zero."""
    exercise = check.exercise
    verdict = Verdict(
        exercise.name, exercise.title, 0.0, exercise.points, note=FOR_A_PERSON
    )
    record = replace(of_verdict(verdict, submission), decided="person")
    return Told(record, as_html(verdict))


@dataclass(frozen=True)
class Prepared:
    """A check with its cases, and what is right in each."""

    exercise: Visible
    task: Specification
    cases: tuple[Case, ...]
    failed: dict[str, str]
    seconds: float
    seed: str

    def side(self, case: Case) -> OtherSide:
        """What we play of a case; what is drawn for it, nobody can know before."""
        draw = random.Random(f"{self.seed} {case.name} {case.hidden}")
        return find(self.exercise.name).other(case.inputs, draw)


def prepared(
    name: str, seed: str, seconds: float, failed: Sequence[str] = ()
) -> Prepared:
    """Draw the fresh cases of an exercise, beside the visible ones.

    The stored hidden cases stay here: whatever enters the box could be printed by the
    student's code, and fresh inputs are of no use to anybody afterwards.

    Args:
        seconds: CPU time that one answer may take.
        failed: exercises that the submission is known to fail.
    """
    unit = name.split("/")[0]
    exercise = _visible(unit)[name]
    task = specification(name)
    cases = (*exercise.cases, *fresh_cases(task, seed))
    titles = {other: _visible(unit)[other].title for other in failed}
    return Prepared(exercise, task, cases, titles, seconds, seed)


def decide(check: Prepared, box: Box) -> Verdict:
    """Question the box on one exercise."""
    verdict = judge(check.exercise, check.cases, lambda case: box.ask(check.side(case)))
    box.done()
    if not box.heard:
        return replace(verdict, results=(), note="The check did not run.", points=0.0)
    return verdict


def conclude(check: Prepared, verdict: Verdict) -> Verdict:
    """The verdict as it is shown."""
    if verdict.passed or verdict.note:
        return verdict
    return without_stub(blame(verdict, check.exercise, check.failed))


# --- the box --------------------------------------------------------------------------


class Box:
    """The student's process, as far as the judge can tell.

    Args:
        ticket: of the call in the box that is to answer.
        seconds: CPU time that one answer may take.
        stop: ends the wait as soon as there is something to read on it.
    """

    def __init__(
        self, channel: socket.socket, ticket: str, meter: Meter, seconds: float,
        stop: Line | None = None,
    ):  # fmt: skip
        self._channel, self._ticket, self._stop = channel, ticket, stop
        self._meter, self._budget = meter, Budget(seconds, CLOCK * seconds)
        self._number, self._questions, self._lost = 0, 0, ""
        self.heard = self.complete = self.hindered = False

    def await_ready(self) -> bool:
        """Whether our call in the box begins; the grading process bounds the wait."""
        never = Span(self._meter, Budget(math.inf, math.inf))
        self.heard = self._until((f"ready {self._ticket}",), never) is not None
        return self.heard

    def ask(self, side: OtherSide) -> Answers:
        """The answers to a case; once an answer is missing, none is asked for.

        Meanwhile the box may ask, too: we play the other side of its probe.
        """
        call = f"{self._ticket} {self._number}"
        span = Span(self._meter, self._budget)
        kinds = (f"answer {call}", f"question {call}")
        asked = self._send(f"ask {call}", side.shown(), span)
        while asked and (found := self._until(kinds, span)):
            if found[0] == kinds[0]:
                self._number += 1
                return concluded(side, found[1])
            self._questions += 1
            if self._questions > MOST_QUESTIONS:
                self._lost = TOO_MANY
            asked = self._send(f"reply {call}", reply(side, found[1]), span)
        return {RAISED: self._lost}

    def done(self) -> None:
        """Let the notebook go on."""
        span = Span(self._meter, self._budget)
        self.complete = self._send(f"done {self._ticket}", {}, span)

    def _send(self, kind: str, values: Answers, span: Span) -> bool:
        """Whether a box that still answers has taken a message."""
        if not self._lost:
            self._try(lambda: send(self._channel, kind, values, self._waiting(span)))
        return not self._lost

    def _until(self, kinds: tuple[str, ...], span: Span) -> tuple[str, Answers] | None:
        """A message of these kinds, past some of an interrupted call; None: lost."""
        for _ in range(_STRAYS):
            wait = self._waiting(span)
            found = self._try(lambda wait=wait: receive(self._channel, wait=wait))
            if found is None:
                return None
            if found[0] in kinds:
                return found
        self._lost = NO_ANSWER
        return None

    def _try(self, action):
        try:
            return None if self._lost else action()
        except WireError:
            self._lost = self._lost or NO_ANSWER
            return None

    def _waiting(self, span: Span):
        """Waits for the channel, as long as the answer may take."""

        def wait(channel: socket.socket, event: int) -> None:
            poll = select.poll()
            poll.register(channel, event)
            if self._stop:
                poll.register(self._stop, select.POLLIN)
            while not (found := dict(poll.poll(LOOK_SECONDS * 1000))):
                self._refuse_late(span)
            if self._stop and self._stop.fileno() in found:
                raise WireError("stopped")
            self._refuse_late(span)  # messages without end are late, too

        return wait

    def _refuse_late(self, span: Span) -> None:
        if over := span.over():
            self._lost = TOO_SLOW.format(self._budget.cpu, over)
            self.hindered = over == "time" and span.busy
            raise WireError("too slow")


# --- the mistake ----------------------------------------------------------------------


def named(check: Prepared, verdict: Verdict) -> Verdict:
    """The verdict with its mistake named: the fresh cases get to know mistakes, too.

    What is not found in some CPU time is just not named.
    """
    with _at_most(NAMING_SECONDS):
        return _diagnosed(check, verdict)
    return verdict


class _Spent(BaseException):
    """The budget is used up; nothing that runs an answer takes this for its own."""


@contextlib.contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Leave the block when it has used so many seconds of CPU time."""

    def end(number: int, frame: FrameType | None) -> None:
        raise _Spent

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    except _Spent:
        return
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def _diagnosed(check: Prepared, verdict: Verdict) -> Verdict:
    """The verdict with the mistake that its answers show.

    Computing the answers of mistakes is what costs time, so it is done for those
    mistakes only that give all answers to the visible cases. If none of them proves
    right, the visible cases, whose mistakes' answers are stored, say what is likely;
    and only if these are all right and hidden ones are wrong, all mistakes are tried.
    """
    exercise, task = check.exercise, check.task
    names = [n for n in exercise.mistakes if gives_all(verdict.results, n)]
    found = diagnose(exercise, _with_answers(verdict, task, names))
    if not found[1]:
        wrong = [r.case for r in verdict.results if any(f.problem for f in r.findings)]
        ordinary = [case for case in wrong if not case.says]
        if not ordinary:
            found = diagnose(exercise, verdict.results)
        elif all(case.hidden for case in ordinary):
            found = diagnose(exercise, _with_answers(verdict, task, exercise.mistakes))
        else:
            found = diagnose(exercise, verdict.results)[0], False
    return replace(verdict, mistake=found[0], sure=found[1])


def _with_answers(
    verdict: Verdict, task: Specification, names: Collection[str]
) -> list[CaseResult]:
    """The results, with these mistakes' answers in the fresh cases, too.

    Not in those that are measured: how good a model is says the number, and to run
    mistaken models takes long. Cases of properties say themselves what was seen.
    """
    objects = answers.mistaken_objects(task, names)
    return [
        r if r.case.mistakes or r.case.measure or r.case.says else replace(
            r, case=replace(
                r.case,
                mistakes=answers.mistaken_answers(task, objects, r.case.inputs),
            ),
        )
        for r in verdict.results
    ]  # fmt: skip


_visible = functools.cache(references.load)


def fingerprint(unit: str) -> str:
    """A digest of what a unit's verdicts depend on: all but other units' own files."""
    package = Path(references.__file__).parents[1]
    others = {other.name for other in units()} - {unit}
    digest = hashlib.sha256()
    for room in ("bank", "oracle", "references/public", "solutions", "student"):
        for path in sorted((package / room).rglob("*.*")):
            its = {path.stem, path.parent.name}
            if others.isdisjoint(its) and path.suffix != ".pyc":
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


if __name__ == "__main__":
    main()
