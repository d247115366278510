"""The sandbox's end of a check answers who has its ticket, and nobody else."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest
import torch

from autograder.checks import agent
from autograder.checks.exercise import RAISED
from autograder.checks.smallest import BRIEFLY
from autograder.checks.wire import receive, send, within

TICKET = "t7"
INPUTS = {"x": torch.tensor([1.0, -2.0, 3.0])}


@pytest.fixture
def asking(tiny_exercise, monkeypatch) -> Iterator:
    """Starts a sandbox that has the value of ``get``; returns the judge's end."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        monkeypatch.setenv(agent.CHANNEL, str(theirs.fileno()))
        sandboxes = []

        def start(get) -> socket.socket:
            call = (tiny_exercise.name, TICKET, get)
            sandbox = threading.Thread(target=agent.serve, args=call, daemon=True)
            sandboxes.append(sandbox)
            sandbox.start()
            assert receive(ours, wait=within(60))[0] == f"ready {TICKET}"
            return ours

        yield start
        send(ours, f"done {TICKET}")
        sandboxes[0].join(60)
        assert not sandboxes[0].is_alive()


def answer(channel: socket.socket, number: int = 0) -> dict:
    send(channel, f"ask {TICKET} {number}", INPUTS)
    kind, answers = receive(channel, wait=within(60))
    assert kind == f"answer {TICKET} {number}"
    return dict(answers)


def test_what_the_probe_reports_of_the_object_is_the_answer(asking):
    channel = asking(lambda: lambda x: 2 * x)
    assert answer(channel)["twice"].equal(2 * INPUTS["x"])


def test_every_question_is_asked_of_the_object_as_it_is_then(asking):
    values = iter([lambda x: x, lambda x: 3 * x])
    channel = asking(lambda: next(values))
    assert answer(channel, 0)["twice"].equal(INPUTS["x"])
    assert answer(channel, 1)["twice"].equal(3 * INPUTS["x"])


def test_a_small_case_is_asked_for_in_the_same_way(asking):
    channel = asking(lambda: lambda x: 2 * x)
    send(channel, f"{BRIEFLY} {TICKET} 0", INPUTS)
    kind, answers = receive(channel, wait=within(60))
    assert kind == f"answer {TICKET} 0" and answers["twice"].equal(2 * INPUTS["x"])


@pytest.mark.parametrize("call", ["t6 0", f"{TICKET} 1", TICKET])
def test_a_question_of_another_call_is_passed_over(asking, call):
    channel = asking(lambda: lambda x: x)
    send(channel, f"ask {call}", {"x": torch.zeros(3)})
    assert answer(channel)["twice"].equal(INPUTS["x"])


def test_a_name_that_is_not_there_and_an_error_are_answers(asking):
    def get():
        raise next(errors)

    errors = iter([NameError("no", name="double"), ValueError("no luck")])
    channel = asking(get)
    message = "`double` is not defined: its cell has stopped early"
    assert answer(channel, 0)[RAISED] == message
    assert answer(channel, 1)[RAISED].startswith("ValueError: no luck")


def test_names_are_what_they_were_after_given_code_that_fails():
    names = {"replaced": 1}
    code = "replaced = new = 2; 1 / 0"
    with pytest.raises(ZeroDivisionError), agent.in_place(code, names):
        pass
    assert names["replaced"] == 1 and "new" not in names


def test_names_are_what_they_were_once_given_code_is_no_longer_in_place():
    names = {"kept": 1, "replaced": 2}
    with agent.in_place("import math\nreplaced = new = math.pi", names):
        assert names["new"] == names["replaced"] > 3.0 and names["kept"] == 1
        names["replaced"] = None
    assert names == {"kept": 1, "replaced": 2}
