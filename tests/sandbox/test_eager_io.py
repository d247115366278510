"""Messages are handled as they come, and answered when that is done."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

import pytest
import zmq

from autograder.sandbox.eager_io import PromptPublisher, PromptStream

heard: ContextVar[str] = ContextVar("heard", default="nothing")


class Kernel:
    """Handles messages by what they say; `seen` is what happened, in order."""

    def __init__(self, client: zmq.Socket[bytes], server: zmq.Socket[bytes]) -> None:
        self.client, self.seen, self.aborting = client, list[str](), False
        self.early = False  # whether the last answer left before it was flushed
        self.lock, self.go_on = asyncio.Lock(), asyncio.Event()
        self.stream = PromptStream(server, self.handle, lambda: not self.aborting)
        self.stream.on_recv(lambda _: None)

    async def handle(self, message: list[zmq.Frame]) -> None:
        word = message[-1].bytes.decode()
        async with self.lock:
            self.seen.append("left out" if self.aborting else word)
            if word == "wait":
                await self.go_on.wait()
                self.seen.append("waited")
            if word == "fail":
                self.aborting = True
                self.stream.flush()
                asyncio.get_running_loop().call_soon(self.abort_no_more)
            if word == "recall":
                self.seen.append(heard.get())
            heard.set(word)
            self.stream.send_multipart([*message[:1], b"did " + word.encode()])
            self.early = bool(self.client.poll(0))
        self.stream.flush(zmq.POLLOUT)

    def abort_no_more(self) -> None:
        self.aborting = False

    async def until(self, count: int) -> list[str]:
        """What has happened, when so much has."""
        async with asyncio.timeout(20):
            while len(self.seen) < count:
                await asyncio.sleep(0.001)
        return self.seen

    def answers(self, count: int) -> list[str]:
        return [self.client.recv().decode() for _ in range(count)]


def with_kernel(body: Callable[[Kernel], Any]) -> None:
    async def run_body() -> None:
        with zmq.Context() as context:
            server, client = context.socket(zmq.ROUTER), context.socket(zmq.DEALER)
            with server, client:
                client.rcvtimeo = 20_000
                server.bind("inproc://prompt")
                client.connect("inproc://prompt")
                kernel = Kernel(client, server)
                await body(kernel)
                kernel.stream.close()

    asyncio.run(run_body())


def test_one_after_the_other_and_each_is_answered():
    async def body(kernel):
        for word in (b"one", b"two", b"three"):
            kernel.client.send(word)
        assert await kernel.until(3) == ["one", "two", "three"]
        assert kernel.answers(3) == ["did one", "did two", "did three"]

    with_kernel(body)


def test_an_answer_leaves_when_it_is_flushed():
    async def body(kernel):
        kernel.client.send(b"one")
        await kernel.until(1)
        assert not kernel.early and kernel.answers(1) == ["did one"]

    with_kernel(body)


def test_what_waits_goes_on_later_and_nothing_overtakes_it():
    async def body(kernel):
        for word in (b"wait", b"next"):
            kernel.client.send(word)
        await kernel.until(1)
        await asyncio.sleep(0.01)
        assert kernel.seen == ["wait"], "and the event loop has turned meanwhile"
        kernel.go_on.set()
        assert await kernel.until(3) == ["wait", "waited", "next"]
        assert kernel.answers(2) == ["did wait", "did next"]
        kernel.client.send(b"last")
        assert (await kernel.until(4))[-1] == "last"

    with_kernel(body)


def test_what_is_in_line_at_an_error_is_left_out_and_what_comes_later_is_not():
    async def body(kernel):
        for word in (b"fail", b"behind"):
            kernel.client.send(word)
        assert await kernel.until(2) == ["fail", "left out"]
        kernel.client.send(b"later")
        assert (await kernel.until(3))[-1] == "later"

    with_kernel(body)


def test_a_context_variable_is_there_in_the_next_cell():
    async def body(kernel):
        kernel.go_on.set()
        for word in (b"wait", b"recall"):
            kernel.client.send(word)
        assert (await kernel.until(4))[-1] == "wait"

    with_kernel(body)


@pytest.fixture
def publisher() -> Iterator[PromptPublisher]:
    with zmq.Context() as context, context.socket(zmq.XPUB) as socket:
        socket.bind("inproc://outputs")
        prompt_publisher = PromptPublisher(socket)
        prompt_publisher.start()
        yield prompt_publisher
        prompt_publisher.stop()


def test_outputs_of_all_threads_are_sent_by_one_in_their_order(publisher):
    calls: list[tuple[int, str]] = []
    end = threading.Event()

    def note(number):
        calls.append((number, threading.current_thread().name))

    for number in range(100):
        publisher.schedule(lambda n=number: note(n))
    publisher.schedule(end.set)
    assert end.wait(20)
    assert calls == [(number, "IOPub") for number in range(100)]


def test_without_its_thread_as_in_a_fork_it_is_done_at_once(publisher):
    publisher.stop()
    calls: list[int] = []
    publisher.schedule(lambda: calls.append(1))
    assert calls == [1]
