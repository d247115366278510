"""Run students' programs in sandboxes, since the build does not trust them.

A mistake may be a student's own program (``autograder unnamed --adopt``). Only
tensors and texts come back from its sandbox.
"""

from __future__ import annotations

import tempfile
import weakref
from typing import TYPE_CHECKING, Any

from autograder.authoring.specification import Specification
from autograder.checks.exercise import RAISED, Answers
from autograder.checks.observe import observe
from autograder.checks.probes import find
from autograder.checks.wire import Limits, WireError, receive, send, within
from autograder.checks.words import CHANNEL
from autograder.course import find_unit, manifest
from autograder.course.errors import CourseError
from autograder.root import CONTENT, PACKAGE

if TYPE_CHECKING:
    import socket

    from autograder.sandbox.confine import Policy

_CPU_SECONDS = 60.0  # of a program, for all its answers together
_SECONDS = 60.0  # to start the sandbox, and again for each answer
_LOST = "the program gave no readable answer"
_SOLUTIONS = CONTENT / "solutions"
_NAMES = """\
import {package}.solutions.{unit} as _solutions
globals().update((n, v) for n, v in vars(_solutions).items() if n[:2] != "__")
for _name in {targets!r}:
    globals().pop(_name, None)"""
_SERVE = """\
import os, socket
from autograder.checks.observe import observe
from autograder.checks.probes import find
from autograder.checks.wire import receive, send
with socket.socket(fileno=os.dup(int(os.environ[{channel!r}]))) as channel:
    channel.setblocking(True)
    while True:
        inputs = receive(channel)[1]
        answer = tuple(map(globals().get, {targets!r}))
        answer = answer if len(answer) > 1 else answer[0]
        send(channel, "answer", observe(find({name!r}), answer, inputs))"""


def observe_answer(
    specification: Specification, answer: object, inputs: Answers
) -> Answers:
    """Compute an object's answers to inputs; a student's program runs in its sandbox.

    Raises:
        CourseError: this machine cannot create a sandbox.
    """
    if isinstance(answer, ConfinedProgram):
        return answer.answer(inputs)
    return observe(find(specification.name), answer, inputs)


class ConfinedProgram:
    """A student's program in place of an exercise's solution, in a separate sandbox.

    Args:
        code: the program, which can use the names that the unit's solutions use.
    """

    def __init__(self, specification: Specification, code: str) -> None:
        self._specification, self._code = specification, code
        self._channel: socket.socket | None = None
        self._is_lost = False

    def answer(self, inputs: Answers) -> Answers:
        """Ask the program for its answers; {"raised": message} if none come."""
        try:
            if self._is_lost:
                raise WireError(_LOST)
            channel = self._channel = self._channel or self._start()
            send(channel, "ask", inputs, within(_SECONDS))
            return receive(channel, Limits(), within(_SECONDS))[1]
        except WireError:
            self._is_lost = True  # else a late answer would pass for the next one
            return {RAISED: _LOST}

    def _start(self) -> socket.socket:
        """Execute the program in a new sandbox; return the socket to send it inputs."""
        from jupyter_client.manager import KernelManager

        from autograder.sandbox.confine import ConfinementError
        from autograder.sandbox.provisioner import SandboxProvisioner, in_sandbox

        task, folder = self._specification, tempfile.TemporaryDirectory()
        manager = KernelManager(kernel_name="python3")
        assert manager.kernel_spec
        manager.kernel_spec.metadata |= in_sandbox(self._policy())
        try:
            manager.start_kernel(cwd=folder.name)
        except ConfinementError as error:
            raise CourseError(
                f"{task.name} has a mistake that is a student's program, and this "
                f"machine cannot create a sandbox for it: {error}"
            ) from None
        client = manager.blocking_client()
        client.start_channels()
        weakref.finalize(self, _end, manager, client, folder)
        client.wait_for_ready(timeout=_SECONDS)
        names = _NAMES.format(package=PACKAGE, unit=task.unit, targets=task.targets)
        serve = _SERVE.format(channel=CHANNEL, name=task.name, targets=task.targets)
        # The unit's names without the solution; the program; a loop that answers.
        for code in (names, self._code, serve):
            client.execute(code, silent=True, stop_on_error=False)
        sandbox = manager.provisioner
        assert isinstance(sandbox, SandboxProvisioner) and sandbox.judge_socket
        return sandbox.judge_socket

    def _policy(self) -> Policy:
        """Return the sandbox's limits: its CPU time, and which files it may read."""
        from autograder.sandbox.confine import Policy

        shipped = manifest.read(find_unit(self._specification.unit)).ships
        readable = (*_SOLUTIONS.glob("*.py"), *shipped)
        return Policy(notebook_seconds=_CPU_SECONDS, readable=tuple(map(str, readable)))


def _end(
    manager: Any, client: Any, folder: tempfile.TemporaryDirectory[str]
) -> None:  # fmt: skip
    """Shut a program's sandbox down, and delete its folder."""
    client.stop_channels()
    manager.shutdown_kernel(now=True)
    manager.cleanup_resources()
    folder.cleanup()
