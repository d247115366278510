"""Exchange of a kernel's messages with little overhead, as it has only one client.

ipykernel's tasks and turns of the event loop are left out. They are not needed
if a client sends a cell only when the one before has ended.
"""

from __future__ import annotations

import asyncio
import os
import types
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Sequence
from contextvars import copy_context
from functools import partial
from typing import Any

import zmq
from ipykernel.iostream import IOPubThread
from tornado.ioloop import IOLoop
from zmq.eventloop.zmqstream import ZMQStream

_SOON = 0.001  # seconds
Handler = Callable[[list[zmq.Frame]], Coroutine[Any, Any, None]]


class PromptStream(ZMQStream):
    """A stream that handles each message of a socket on arrival.

    Answers are kept until `flush` sends them.

    Args:
        may_go_on: returns whether the kernel can take another message now.
    """

    def __init__(
        self, socket: zmq.Socket[bytes], handler: Handler, may_go_on: Callable[[], bool]
    ) -> None:
        super().__init__(socket)
        self._handler, self._may_go_on = handler, may_go_on
        self._answers: list[Sequence[Any]] = []
        self._line: deque[list[zmq.Frame]] = deque()  # received, not handled
        # Keeps a cell's context variables for the next one.
        self._context = copy_context()

    def send_multipart(self, msg: Sequence[Any], *_: Any, **__: Any) -> None:
        """Keep an answer until it is flushed, so that no interrupt cuts it in two."""
        self._answers.append(msg)

    def flush(self, flag: int = 0, *_: Any) -> None:  # type: ignore[override]
        """Send all answers if `flag` is POLLOUT, else receive all waiting messages.

        Receiving lets a kernel find the messages that it must skip after an error.
        """
        if flag & zmq.POLLOUT:
            answers, self._answers = self._answers, []
            for answer in answers:
                self.socket.send_multipart(answer)
        else:
            while self._readable():
                self._line.append(self.socket.recv_multipart(copy=False))

    def _readable(self) -> bool:
        return bool(self.socket.poll(0, zmq.POLLIN))

    def _handle_events(self, *_: Any) -> None:
        """Handle the messages that have come, as long as the kernel may go on."""
        while self._line:
            self._handle(self._line.popleft())
        while self._may_go_on():
            if not self._readable():
                return
            self._handle(self.socket.recv_multipart(copy=False))
            while self._line:
                self._handle(self._line.popleft())
        # The kernel still skips messages after an error: look again soon.
        self.io_loop.call_later(_SOON, self._handle_events)

    def _handle(self, message: list[zmq.Frame]) -> None:
        """Run the handler on a message; continue as a task if it awaits something."""
        coroutine = self._handler(message)
        try:
            waits = self._context.run(coroutine.send, None)
        except StopIteration:
            return
        loop = asyncio.get_running_loop()
        task = loop.create_task(_finish(coroutine, waits), context=self._context)
        # Messages that came during a task are not signalled.
        task.add_done_callback(lambda _: self.io_loop.add_callback(self._handle_events))


async def _finish(coroutine: Coroutine[Any, Any, None], waits: Any) -> None:
    """Run a coroutine to its end; ``waits`` is what it awaits at present."""
    await _steps(coroutine, waits)


@types.coroutine
def _steps(
    coroutine: Coroutine[Any, Any, None], waits: Any
) -> Generator[Any, Any, None]:
    """Yield what a coroutine awaits, and resume it, until it ends.

    The coroutine has been started already, and ``waits`` is what it awaits first.
    """
    while True:
        try:
            yield waits
        except BaseException as error:  # it was cancelled
            step = partial(coroutine.throw, error)
        else:
            step = partial(coroutine.send, None)
        try:
            waits = step()
        except StopIteration:
            return


class PromptPublisher(IOPubThread):
    """The thread that sends outputs, woken by an eventfd instead of a message."""

    def _setup_event_pipe(self) -> None:
        self._bell = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self.io_loop.add_handler(self._bell, self._rung, IOLoop.READ)

    def _rung(self, *_: object) -> None:
        """Call the functions that `schedule` has queued, and reset the eventfd."""
        os.eventfd_read(self._bell)
        self._handle_event(None)  # type: ignore[no-untyped-call]

    def schedule(self, f: Callable[[], object]) -> None:
        """Run a function in the thread, or at once in a fork, which has no thread."""
        if self.thread.is_alive():
            self._events.append(f)
            os.eventfd_write(self._bell, 1)
        else:
            f()
