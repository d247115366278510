"""Run in the sandbox: call the student's code as the judge asks, and report."""

from __future__ import annotations

import contextlib
import io
import os
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from autograder.checks.exercise import RAISED, Answers
from autograder.checks.global_state import reset, restored
from autograder.checks.interactor import Ask, make_ask
from autograder.checks.language import template
from autograder.checks.observe import describe_error, observe
from autograder.checks.probes import Report, find
from autograder.checks.smallest import BRIEFLY, observe_briefly
from autograder.checks.wire import receive, send
from autograder.checks.words import CHANNEL


def serve(name: str, ticket: str, get: Callable[[], object]) -> None:
    """Answer the judge's questions on one exercise, until the judge says it is done.

    The judge does not trust the sandbox, and alone knows the right answers.

    Args:
        ticket: identifies this call in every message.
        get: returns the student's object.
    """
    # A copy: leaving the context closes it, and later exercises need the original.
    fileno = os.dup(int(os.environ[CHANNEL]))
    # What a notebook may have set (seeds, a default dtype) is reset for each question.
    with socket.socket(fileno=fileno) as channel, restored():
        channel.setblocking(True)
        send(channel, f"ready {ticket}")
        number = 0
        while (message := receive(channel))[0] != f"done {ticket}":
            call = f"{ticket} {number}"
            ways = {f"ask {call}": observe, f"{BRIEFLY} {call}": observe_briefly}
            # A message with another ticket or number is not for this call: ignore it.
            if way := ways.get(message[0]):
                with reset():
                    answer = _answer(
                        name, get, message[1], _make_ask(channel, call), way
                    )
                send(channel, f"answer {call}", answer)
                number += 1


@contextlib.contextmanager
def in_place(
    code: str, names: dict[str, Any], answers: Sequence[str] = ()
) -> Iterator[None]:
    """Run ``code`` in a namespace, and restore the namespace when the context ends.

    Grading uses this to try an exercise again with right versions of earlier ones.

    Args:
        answers: the source of the student's cells to run again after ``code``, so
            that their classes inherit from its classes.
    """
    before = dict(names)
    try:
        exec(compile(code, "<given>", "exec", dont_inherit=True), names)
        for answer in answers:
            _run_again(answer, names)
        yield
    finally:
        for name in names.keys() - before.keys():
            del names[name]
        names.update(before)


def _run_again(answer: str, names: dict[str, Any]) -> None:
    """Run a cell's source in a namespace again, silently, up to the first error."""
    silent = contextlib.redirect_stdout(io.StringIO())
    with restored(), silent, contextlib.suppress(Exception, SystemExit):
        exec(compile(_plain(answer), "<answer>", "exec", dont_inherit=True), names)


def _plain(cell: str) -> str:
    """Return a cell's source as plain Python, with IPython's magics translated."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module else None
    return str(shell.transform_cell(cell)) if shell else cell


def _make_ask(channel: socket.socket, call: str) -> Ask:
    """Build the function that asks the judge a probe's question and returns the reply.

    ``call`` identifies the judge's request to which the question belongs.
    """

    def exchange(question: Answers) -> Answers:
        send(channel, f"question {call}", question)
        kind, answers = receive(channel)
        return answers if kind == f"reply {call}" else {RAISED: "nobody answers"}

    return make_ask(exchange)


def _answer(
    name: str,
    get: Callable[[], object],
    inputs: Answers,
    ask: Ask,
    observe_answer: Callable[[Report, object, Answers], Answers],
) -> Answers:
    """Return what the exercise's probe reports of the object that ``get`` returns.

    An error of ``get`` is reported as ``{"raised": message}``.
    """
    try:
        answer = get()
    except NameError as error:
        message = template("`{name}` is not defined: its cell has stopped early")
        return {RAISED: message.format(name=error.name)}
    except Exception as error:
        return {RAISED: describe_error(error)}
    probe = find(name)
    return observe_answer(lambda t, copies: probe.play(t, copies, ask), answer, inputs)
