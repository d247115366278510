"""The judge: a process that knows the answers, and takes the student's by value.

It is started by the grading process (``Judge``), which hands it the trusted end of a
kernel's channel and the name of an exercise, and gets back a verdict record and a
panel. What the box sends is decoded here, away from the gradebook; what is right never
enters the box.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import hmac
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from autograder.bank import evaluate
from autograder.bank.vocabulary import Task
from autograder.course import units
from autograder.errors import CourseError
from autograder.grading.record import Record, of_verdict
from autograder.student import references
from autograder.student.check import without_stub
from autograder.student.compare import blame, diagnose, gives_all, judge
from autograder.student.exercise import RAISED, Answers, Case, CaseResult, Verdict
from autograder.student.panel import as_html
from autograder.student.wire import Limits, WireError, receive, send

NO_ANSWER = "the check got no readable answer from the notebook"


class Judge:
    """The grading process's handle on a judge process.

    Args:
        secret: the course's secret; fresh inputs are drawn from it.
        answer_seconds: how long one case may take in the student's process.
    """

    def __init__(self, secret: bytes, answer_seconds: float = 20.0):
        self.secret, self.answer_seconds = secret, answer_seconds
        self._process: subprocess.Popen | _Fork | None = None
        self._control: socket.socket | None = None

    def ask(
        self, exercise: str, ticket: str, key: str, channel: socket.socket,
        failed: Sequence[str] = (),
    ) -> None:  # fmt: skip
        """Begin to judge an exercise of the submission ``key`` over a channel.

        ``failed`` names exercises that this submission is known to fail.
        """
        self.start()
        seed = hmac.new(self.secret, f"{key}/{exercise}".encode(), hashlib.sha256)
        request = {
            "exercise": exercise, "ticket": ticket, "seed": seed.hexdigest(),
            "seconds": self.answer_seconds, "failed": list(failed),
        }  # fmt: skip
        _put(self._control, request, [channel.fileno()])

    def verdict(self, patience: float) -> tuple[Record, str] | None:
        """The record and the panel, or None if they take longer (seconds)."""
        if not select.select([self._control], [], [], patience)[0]:
            return None
        reply, _ = _get(self._control)
        if reply is None:
            self.close()
            raise CourseError("the judge process died; run autograde again")
        return Record.from_json(reply["record"]), reply["panel"]

    def over(self) -> None:
        """Tell the judge that the cell has ended: no answer will come any more."""
        _put(self._control, {})

    def close(self) -> None:
        """End the judge process."""
        if self._process:
            self._control.close()
            self._process.kill()
            self._process.wait()
            self._process = None

    def fork(self) -> None:
        """Start the judge process as a fork of this one, which costs milliseconds.

        Only while this process has one thread, and nothing open that a judge should
        not have but by number: its copies are closed.
        """
        self._control, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            try:
                os.closerange(3, theirs.fileno())
                os.closerange(theirs.fileno() + 1, os.sysconf("SC_OPEN_MAX"))
                serve(theirs)
            finally:
                os._exit(0)
        self._process = _Fork(pid)
        theirs.close()

    def start(self) -> None:
        """Have the process running, and its imports done: a cell's clock is not ours.

        Raises:
            CourseError: it does not start.
        """
        if self._process:
            return
        ours, theirs = socket.socketpair()
        self._control = ours
        self._process = subprocess.Popen(
            [sys.executable, "-m", "autograder.grading.judge", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            stdin=subprocess.DEVNULL,
        )
        theirs.close()
        atexit.register(self.close)
        if _get(self._control)[0] is None:
            self.close()
            raise CourseError("the judge process does not start; see its error above")


class _Fork:
    """A forked child, ended as a `subprocess.Popen` is."""

    def __init__(self, pid: int):
        self._pid = pid

    def kill(self) -> None:
        os.kill(self._pid, signal.SIGKILL)

    def wait(self) -> None:
        os.waitpid(self._pid, 0)


def _put(
    control: socket.socket, message: dict, descriptors: Sequence[int] = ()
) -> None:
    data = json.dumps(message).encode()
    socket.send_fds(control, [len(data).to_bytes(4, "big")], descriptors)
    control.sendall(data)


def _get(control: socket.socket) -> tuple[dict | None, list[int]]:
    """The next control message, None at the end; both ends of it are ours."""
    head, descriptors, _, _ = socket.recv_fds(control, 4, 1)
    if len(head) < 4:
        return None, descriptors
    data = control.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL)
    return json.loads(data), descriptors


def main() -> None:
    """Serve the grading process that has started this one."""
    control = socket.socket(fileno=int(sys.argv[1]))
    _put(control, {"ready": True})
    serve(control)


def serve(control: socket.socket) -> None:
    """Judge what is asked for, until the control socket closes."""
    while (message := _get(control))[0] is not None:
        request, descriptors = message
        if request:  # {} is a late "over" of a request that had ended already
            with socket.socket(fileno=descriptors[0]) as channel:
                _put(control, _reply(request, channel, control))


def _reply(request: dict, channel: socket.socket, stop: socket.socket) -> dict:
    started = time.monotonic()
    verdict = decide(request, channel, stop)
    record = of_verdict(verdict, round(time.monotonic() - started, 3))
    return {"record": record.to_json(), "panel": as_html(verdict)}


def decide(
    request: dict, channel: socket.socket, stop: socket.socket | None = None
) -> Verdict:
    """Question the box on one exercise, on the visible cases and on fresh ones.

    The stored hidden cases stay here: whatever enters the box could be printed by the
    student's code, and fresh inputs are of no use to anybody afterwards.
    """
    name = request["exercise"]
    unit = name.split("/")[0]
    exercise = _visible(unit)[name]
    task = {task.name: task for task in evaluate.tasks(unit)}[name]
    cases = [*exercise.cases, *evaluate.fresh_cases(task, request["seed"])]
    box = _Box(channel, stop, Limits(seconds=request["seconds"]))
    box.await_ready(request["ticket"])
    verdict = judge(exercise, cases, box.ask)
    box.done()
    if not box.heard:
        return replace(verdict, results=(), note="The check did not run.", points=0.0)
    if verdict.passed:
        return verdict
    titles = {name: e.title for name, e in _visible(unit).items()}
    failed = {name: titles[name] for name in request["failed"]}
    return without_stub(blame(_diagnosed(verdict, task), exercise, failed))


def _diagnosed(verdict: Verdict, task: Task) -> Verdict:
    """The verdict with its mistake named: the fresh cases get to know mistakes, too.

    Computing their answers is what costs time, so it is done for those mistakes only
    that give all answers to the visible cases. If none of them proves right, the
    visible cases, whose mistakes' answers are stored, say what is likely; and only if
    these are all right and hidden ones are wrong, all mistakes are tried. Of what is
    measured no mistake is asked: how good a model is says the number.
    """
    exercise = _visible(task.name.split("/")[0])[task.name]
    names = [n for n in exercise.mistakes if gives_all(verdict.results, n)]
    found = diagnose(exercise, _with_answers(verdict, task, names))
    if not found[1]:
        wrong = [r for r in verdict.results if any(f.problem for f in r.findings)]
        if all(r.case.hidden for r in wrong):
            found = diagnose(exercise, _with_answers(verdict, task, exercise.mistakes))
        else:
            found = diagnose(exercise, verdict.results)[0], False
    return replace(verdict, mistake=found[0], sure=found[1])


def _with_answers(
    verdict: Verdict, task: Task, names: Collection[str]
) -> list[CaseResult]:
    """The results, with these mistakes' answers in the fresh cases, too.

    Not in those that are measured: how good a model is says the number, and to run
    mistaken models takes long.
    """
    objects = evaluate.mistaken_objects(task, names)
    return [
        r if r.case.mistakes or r.case.measure else replace(
            r, case=replace(
                r.case,
                mistakes=evaluate.mistaken_answers(task, objects, r.case.inputs),
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
    for room in ("bank", "references/public", "solutions", "student"):
        for path in sorted((package / room).rglob("*.*")):
            if path.stem not in others and path.suffix != ".pyc":
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


class _Box:
    """The student's process, as far as the judge can tell."""

    def __init__(
        self, channel: socket.socket, stop: socket.socket | None, limits: Limits
    ):
        self._channel, self._stop, self._limits = channel, stop, limits
        self._lost = False
        self.heard = False

    def await_ready(self, ticket: str) -> None:
        """Wait for the start of our request, past the rest of an interrupted one."""
        limits = replace(self._limits, seconds=3600.0)  # `stop` ends it, in time
        while not self._lost and not self.heard:
            kind, values = self._receive(limits)
            self.heard = kind == "ready" and values.get("ticket") == ticket

    def ask(self, case: Case) -> Answers:
        """The answers to a case; once an answer is missing, none is asked for."""
        if not self._lost:
            self._send("ask", case.inputs)
            kind, answers = self._receive(self._limits)
            if kind == "answer":
                return answers
            self._lost = True
        return {RAISED: NO_ANSWER}

    def done(self) -> None:
        """Let the notebook go on."""
        self._send("done", {})

    def _send(self, kind: str, values: Answers) -> None:
        try:
            # A box that does not read must not hold the judge.
            self._channel.settimeout(self._limits.seconds)
            send(self._channel, kind, values)
        except OSError:
            self._lost = True

    def _receive(self, limits: Limits) -> tuple[str, Answers]:
        try:
            return receive(self._channel, limits, self._stop)
        except WireError:
            self._lost = True
            return "", {}


if __name__ == "__main__":
    main()
