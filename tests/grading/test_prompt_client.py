"""A client is ready when both the reply and the output of its question have come."""

from __future__ import annotations

import asyncio
from queue import Empty

import pytest
import zmq.asyncio
from jupyter_client.session import Session

from autograder.grading.prompt_client import PromptChannel, PromptClient


class Scripted(PromptClient):
    """Hears what the test says, without any kernel."""

    def __init__(self, *, shown=(), replies=(), alive=True):
        self.shown, self.replies, self.alive = list(shown), list(replies), alive
        self.asked = 0

    def kernel_info(self):
        self.asked += 1
        return f"question {self.asked}"

    async def get_iopub_msg(self, timeout):
        return self._next(self.shown)

    async def get_shell_msg(self, timeout):
        return self._next(self.replies)

    def _next(self, messages):
        if not messages:
            raise Empty
        return messages.pop(0)

    async def is_alive(self):
        return self.alive

    def _handle_kernel_info_reply(self, message):
        self.told = message


def about(number: int, **content) -> dict:
    return {"parent_header": {"msg_id": f"question {number}"}, "content": content}


def ready(client, seconds=60.0) -> None:
    asyncio.run(client.wait_for_ready(seconds))


def test_messages_about_something_else_are_passed_over():
    states = [about(7, execution_state="idle"), about(1, execution_state="idle")]
    reply = about(1, status="ok")
    client = Scripted(shown=states, replies=[about(7), reply])
    ready(client)
    assert client.told is reply and client.asked == 1


def test_the_end_of_another_question_makes_nobody_ready():
    shown, replies = [about(7, execution_state="idle")], [about(1)]
    with pytest.raises(RuntimeError, match="died before replying"):
        ready(Scripted(shown=shown, replies=replies, alive=False))


def test_who_hears_nothing_asks_again():
    client = Scripted(shown=[about(2, execution_state="idle")], replies=[about(2)])
    client.shown.insert(0, about(1, execution_state="busy"))
    client.kernel_info()  # a question whose end nobody heard
    ready(client)
    assert client.asked == 2


def test_a_kernel_that_has_died_is_told_from_one_that_is_slow():
    with pytest.raises(RuntimeError, match="died before replying"):
        ready(Scripted(alive=False))
    with pytest.raises(RuntimeError, match=r"didn.t respond in 0\.0 seconds"):
        ready(Scripted(), seconds=0.0)


def test_a_message_comes_in_one_step_and_none_in_time():
    async def body() -> None:
        context, session = zmq.asyncio.Context(), Session(key=b"key")
        with context, context.socket(zmq.PAIR) as ours, context.socket(zmq.PAIR) as end:
            ours.bind("inproc://channel")
            end.connect("inproc://channel")
            channel = PromptChannel(ours, session)
            with pytest.raises(Empty):
                await channel.get_msg(timeout=0.01)
            session.send(end, "status", {"execution_state": "idle"})
            message = await channel.get_msg()
            assert message["content"] == {"execution_state": "idle"}

    asyncio.run(body())
