"""The judge: a process that knows the answers, and takes the student's by value.

It is started by the grading process (``Judge``), which hands it the trusted end of a
kernel's channel and the name of an exercise, and gets back a verdict record and a
panel. What the box sends is decoded here, away from the gradebook; what is right never
enters the box.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import json
import os
import socket
import subprocess
import sys
import time
from dataclasses import replace

from autograder.bank import evaluate
from autograder.errors import CourseError
from autograder.grading.record import Record, of_verdict
from autograder.student import references
from autograder.student.check import without_stub
from autograder.student.compare import judge
from autograder.student.exercise import RAISED, Answers, Case, Exercise, Verdict
from autograder.student.panel import as_html
from autograder.student.wire import Limits, WireError, receive, send

NO_ANSWER = "the check got no readable answer from the notebook"
_CONTROL = 65536  # bytes of one control message at most


class Judge:
    """The grading process's handle on a judge process.

    Args:
        secret: the course's secret; fresh inputs are drawn from it.
        answer_seconds: how long one case may take in the student's process.
    """

    def __init__(self, secret: bytes, answer_seconds: float = 20.0):
        self._secret, self._answer_seconds = secret, answer_seconds
        self._process: subprocess.Popen | None = None
        self._control: socket.socket | None = None

    def ask(self, exercise: str, ticket: str, key: str, channel: socket.socket) -> None:
        """Begin to judge an exercise of the submission ``key`` over a channel."""
        self._start()
        seed = hmac.new(self._secret, f"{key}/{exercise}".encode(), hashlib.sha256)
        request = {
            "exercise": exercise, "ticket": ticket, "seed": seed.hexdigest(),
            "seconds": self._answer_seconds,
        }  # fmt: skip
        data = json.dumps(request).encode()
        socket.send_fds(self._control, [data], [channel.fileno()])

    def verdict(self, patience: float) -> tuple[Record, str] | None:
        """The record and the panel, or None if they take longer (seconds)."""
        self._control.settimeout(patience)
        try:
            data = self._control.recv(1 << 24)
        except TimeoutError:
            return None
        if not data:
            self.close()
            raise CourseError("the judge process died; run autograde again")
        reply = json.loads(data)
        return Record.from_json(reply["record"]), reply["panel"]

    def over(self) -> None:
        """Tell the judge that the cell has ended: no answer will come any more."""
        self._control.send(b"{}")

    def close(self) -> None:
        """End the judge process."""
        if self._process:
            self._control.close()
            self._process.kill()
            self._process.wait()
            self._process = None

    def _start(self) -> None:
        if self._process:
            return
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (ours, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24)
        self._control = ours
        self._process = subprocess.Popen(
            [sys.executable, "-m", "autograder.grading.judge", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            stdin=subprocess.DEVNULL,
        )
        theirs.close()


def main() -> None:
    """Serve the grading process until it closes the control socket."""
    control = socket.socket(fileno=int(sys.argv[1]))
    while True:
        data, descriptors, _, _ = socket.recv_fds(control, _CONTROL, 1)
        if not data:
            return
        request = json.loads(data)
        if request:  # {} is a late "over" of a request that had ended already
            with socket.socket(fileno=descriptors[0]) as channel:
                control.send(_reply(request, channel, control))


def _reply(request: dict, channel: socket.socket, stop: socket.socket) -> bytes:
    started = time.monotonic()
    verdict = decide(request, channel, stop)
    record = of_verdict(verdict, round(time.monotonic() - started, 3))
    return json.dumps({"record": record.to_json(), "panel": as_html(verdict)}).encode()


def decide(
    request: dict, channel: socket.socket, stop: socket.socket | None = None
) -> Verdict:
    """Question the box on one exercise: stored visible, stored hidden, fresh cases."""
    name = request["exercise"]
    exercise, cases = _cases(name, request["seed"])
    box = _Box(channel, stop, Limits(seconds=request["seconds"]))
    box.await_ready(request["ticket"])
    verdict = without_stub(judge(exercise, cases, box.ask))
    box.done()
    if not box.heard:
        return replace(verdict, results=(), note="The check did not run.", points=0.0)
    return verdict


def _cases(name: str, seed: str) -> tuple[Exercise, list[Case]]:
    unit = name.split("/")[0]
    stored = [_stored(unit, kind)[name] for kind in ("public", "hidden")]
    task = {task.name: task for task in evaluate.tasks(unit)}[name]
    fresh = evaluate.fresh_cases(task, seed)
    return stored[0], [*stored[0].cases, *stored[1].cases, *fresh]


_stored = functools.cache(references.load)


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
