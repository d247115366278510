"""A client is ready when both the reply and the output of its question have come."""

import asyncio
import datetime
from queue import Empty

import pytest
import zmq
from jupyter_client.session import DELIM, Session

from autograder.grading.cells.prompt_client import PromptChannel, PromptClient


class Lines:
    """A channel on which the test says what comes."""

    def __init__(self, messages):
        self.messages = list(messages)

    def get_msg(self, timeout):
        if not self.messages:
            raise Empty
        return self.messages.pop(0)


class Scripted(PromptClient):
    """Hears what the test says, without any kernel."""

    iopub_channel = shell_channel = None

    def __init__(self, *, shown=(), replies=(), alive=True):
        self.iopub_channel, self.shell_channel = Lines(shown), Lines(replies)
        self.alive, self.asked = alive, 0

    def kernel_info(self):
        self.asked += 1
        return f"question {self.asked}"

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
    outputs, replies = [about(7, execution_state="idle")], [about(1)]
    with pytest.raises(RuntimeError, match="died before replying"):
        ready(Scripted(shown=outputs, replies=replies, alive=False))


def test_who_hears_nothing_asks_again():
    states = [about(1, execution_state="busy"), about(2, execution_state="idle")]
    client = Scripted(shown=states, replies=[about(2)])
    client.kernel_info()  # a question whose end nobody heard
    ready(client)
    assert client.asked == 2


def test_a_kernel_that_has_died_is_told_from_one_that_is_slow():
    with pytest.raises(RuntimeError, match="died before replying"):
        ready(Scripted(alive=False))
    with pytest.raises(RuntimeError, match=r"didn.t respond in 0\.0 seconds"):
        ready(Scripted(), seconds=0.0)


@pytest.fixture
def wired():
    """A client on two sockets, and their other ends: output, and replies."""
    client, session = PromptClient(), Session(key=b"key")
    with client.context as context:
        peers = []
        client._poller = zmq.Poller()
        for name in ("iopub", "shell"):
            ours, end = context.socket(zmq.PAIR), context.socket(zmq.PAIR)
            ours.bind(f"inproc://{name}")
            end.connect(f"inproc://{name}")
            setattr(client, f"_{name}_channel", PromptChannel(ours, session))
            client._poller.register(ours, zmq.POLLIN)
            peers.append(end)
        yield client, session, *peers
        for end in peers:
            end.close(linger=0)
        client.stop_channels()


def test_nothing_comes_but_in_time(wired):
    client, *_ = wired
    assert client.messages(0.01) == []


def test_a_flood_of_output_hides_no_reply(wired):
    client, session, output, replies = wired
    for number in range(3):
        session.send(output, "stream", {"text": str(number)})
    session.send(replies, "execute_reply", {"status": "ok"})
    messages = client.messages(5.0)
    assert [(m["content"], reply) for m, reply in messages] == [
        ({"text": "0"}, False),
        ({"status": "ok"}, True),
    ]


def test_a_message_is_read_as_jupyter_reads_it(wired):
    client, session, output, _ = wired
    header = session.msg_header("execute_request")
    content = {"text": "2026-11-23T05:00:00Z", "n": [1, None]}
    session.send(output, "stream", content, header, buffers=[b"bytes"])
    (message, _), *_ = client.messages(5.0)
    assert message["msg_type"] == message["header"]["msg_type"] == "stream"
    assert message["parent_header"]["msg_id"] == header["msg_id"]
    assert message["content"] == content  # a text is no date
    assert message["buffers"] == [b"bytes"]
    age = datetime.datetime.now(datetime.UTC) - message["header"]["date"]
    assert abs(age) < datetime.timedelta(hours=1)


def test_a_message_with_another_key_is_none(wired):
    client, _, output, _ = wired
    Session(key=b"another").send(output, "stream", {"text": "x"})
    with pytest.raises(ValueError, match="another kernel"):
        client.messages(5.0)


@pytest.mark.parametrize("parts", [[], [b"x"], [DELIM], [DELIM, b"x", b"{}"]])
def test_what_is_no_message_is_refused(wired, parts):
    client, _, output, _ = wired
    output.send_multipart(parts or [b""])
    with pytest.raises((ValueError, TypeError, LookupError)):
        client.messages(5.0)
