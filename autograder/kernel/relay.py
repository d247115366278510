"""Between a box's sockets and their client: in the supervisor, which can be lost."""

from __future__ import annotations

import contextlib
import select
import socket
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from autograder.kernel.confine import MB, Policy
from autograder.kernel.messages import ExcessError, Messages

_CHUNK = 1 << 16
_ANYTHING = select.POLLIN | select.POLLHUP | select.POLLERR


class Door(NamedTuple):
    """Where the client connects, where the kernel listens, and whose large messages
    are left out."""

    outer: str
    inner: str
    drops: bool


@dataclass
class _Lane:
    """One direction of a connection, with what its receiver has not taken yet."""

    source: socket.socket
    target: socket.socket
    messages: Messages | None  # None: from the client, who is trusted
    waiting: memoryview = field(default_factory=lambda: memoryview(b""))

    def receive(self) -> bool:
        """Take what has come; whether the connection goes on. Raises ExcessError."""
        data = self.source.recv(_CHUNK)
        passed = self.messages.take(data) if self.messages and data else data
        self.waiting = memoryview(passed)
        return bool(data)

    def send(self) -> None:
        """Pass on what the receiver has room for."""
        with contextlib.suppress(BlockingIOError):
            self.waiting = self.waiting[self.target.send(self.waiting) :]


class Relay:
    """Passes messages between a box and its client, within the limits of a policy.

    `excess` says what was too much; then nothing is passed on any more.
    """

    def __init__(self, doors: list[Door], policy: Policy) -> None:
        self.excess = ""
        self._policy, self._arrived = policy, 0
        self._doors = {_listen(door.outer): door for door in doors}
        self._lanes: list[tuple[_Lane, _Lane]] = []

    def turn(self, others: list[int], seconds: float) -> set[int]:
        """Wait for something to do, and do it; which of `others` can be read.

        Not in a thread beside: who leaves a process table may have none.
        """
        ready = self._poll(others, seconds)
        try:
            for listener, door in self._doors.items():
                if ready.get(listener.fileno()):
                    self._open(listener, door)
            for pair in list(self._lanes):
                self._serve(pair, ready)
        except ExcessError as error:
            self.excess = str(error)
            self._close()
        return {fd for fd in others if ready.get(fd)}

    def _serve(self, pair: tuple[_Lane, _Lane], ready: Mapping[int, int]) -> None:
        try:
            going = all([_move(lane, ready) for lane in pair])
        except OSError:
            going = False
        if not going:
            self._lanes.remove(pair)
            for lane in pair:
                lane.source.close()

    def _close(self) -> None:
        for end in (
            *self._doors,
            *(lane.source for pair in self._lanes for lane in pair),
        ):
            end.close()
        self._doors, self._lanes = {}, []

    def _poll(self, others: list[int], seconds: float) -> Mapping[int, int]:
        wanted: dict[int, int] = defaultdict(int, dict.fromkeys(others, select.POLLIN))
        for listener in self._doors:
            wanted[listener.fileno()] = select.POLLIN
        for lane in (lane for pair in self._lanes for lane in pair):
            if lane.waiting:
                wanted[lane.target.fileno()] |= select.POLLOUT
            else:
                wanted[lane.source.fileno()] |= select.POLLIN
        poll = select.poll()
        for fd, events in wanted.items():
            poll.register(fd, events)
        return dict(poll.poll(seconds * 1000))

    def _open(self, listener: socket.socket, door: Door) -> None:
        client, _ = listener.accept()
        kernel = socket.socket(socket.AF_UNIX)
        for end in (client, kernel):
            end.setblocking(False)  # a box may let who connects to it wait for ever
        try:
            kernel.connect(door.inner)
        except OSError:  # it has ended, or as many wait already as may
            client.close()
            kernel.close()
            return
        most = self._policy.message_mb * MB
        messages = Messages(most, self._count, drops=door.drops)
        there, back = _Lane(client, kernel, None), _Lane(kernel, client, messages)
        self._lanes.append((there, back))

    def _count(self, size: int) -> None:
        self._arrived += size
        if self._arrived > self._policy.messages_mb * MB:
            raise ExcessError("sent too many messages")


def _move(lane: _Lane, ready: Mapping[int, int]) -> bool:
    """Receive or send, whichever a lane waits for; whether it goes on."""
    going = True
    if not lane.waiting and ready.get(lane.source.fileno(), 0) & _ANYTHING:
        going = lane.receive()
    if lane.waiting:
        lane.send()
    return going


def _listen(path: str) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(8)
    return listener
