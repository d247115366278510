"""Relay messages between a sandbox's sockets and their client, in the supervisor."""

from __future__ import annotations

import contextlib
import select
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from autograder.sandbox.confine import MB, Policy
from autograder.sandbox.messages import ExcessError, Messages

_CHUNK = 1 << 16
_ANYTHING = select.POLLIN | select.POLLHUP | select.POLLERR


class Door(NamedTuple):
    """The paths of two sockets that a relay connects.

    A client connects to `outer`, and the kernel listens at `inner`. If `drops`,
    overlong messages of the kernel are dropped instead of ending the sandbox.
    """

    outer: str
    inner: str
    drops: bool


@dataclass
class _Lane:
    """One direction of a connection, with what its receiver has not taken yet."""

    source: socket.socket
    target: socket.socket
    messages: Messages | None  # None: from the client, which is trusted
    waiting: memoryview = field(default_factory=lambda: memoryview(b""))

    def receive(self) -> bool:
        """Receive data; return whether the source is open. Raises ExcessError."""
        data = self.source.recv(_CHUNK)
        passed = self.messages.take(data) if self.messages and data else data
        self.waiting = memoryview(passed)
        return bool(data)

    def send(self) -> None:
        """Pass on as much as the receiver has room for."""
        with contextlib.suppress(BlockingIOError):
            self.waiting = self.waiting[self.target.send(self.waiting) :]


class Relay:
    """Passes messages between a sandbox and its client, within the limits of a policy.

    `excess` says which limit was exceeded; from then on, nothing is passed on.
    """

    def __init__(self, doors: list[Door], policy: Policy) -> None:
        """Listen for clients at the outer path of each door."""
        self.excess = ""
        self._policy, self._arrived = policy, 0
        # `_wanted` holds the events for which `_ready` is registered, by descriptor.
        self._ready, self._wanted = select.poll(), dict[int, int]()
        self._pairs: dict[int, tuple[_Lane, _Lane]] = {}  # by descriptor, of both ends
        self._doors: dict[int, tuple[socket.socket, Door]] = {}
        for door in doors:
            listener = listen(door.outer)
            self._doors[listener.fileno()] = listener, door
            self._want(listener.fileno(), select.POLLIN)

    def turn(self, descriptors: list[int], seconds: float) -> set[int]:
        """Wait for messages and relay them; return the descriptors that can be read."""
        for fd in descriptors:
            self._want(fd, select.POLLIN)
        ready = dict(self._ready.poll(seconds * 1000))
        try:
            # Each pair once, even if both of its ends are ready.
            pairs = {id(p): p for fd, p in self._pairs.items() if fd in ready}
            for pair in pairs.values():
                self._serve(pair, ready)
            for fd in ready.keys() & self._doors.keys():
                self._open(*self._doors[fd])
        except ExcessError as error:
            self.excess = str(error)
            self._close()
        return ready.keys() & descriptors

    def _want(self, fd: int, events: int) -> None:
        """Watch a descriptor for these events; without events, stop watching it."""
        if events == self._wanted.get(fd, 0):
            return
        if events:
            self._ready.register(fd, events)
            self._wanted[fd] = events
        else:
            self._ready.unregister(fd)
            del self._wanted[fd]

    def _serve(self, pair: tuple[_Lane, _Lane], ready: Mapping[int, int]) -> None:
        """Relay data in both directions; close the connection if one end is closed.

        `ready` maps descriptors to the events that were polled for them.
        """
        try:
            # A list, so that both directions are served even if one has closed.
            going = all([_move(lane, ready) for lane in pair])
        except OSError:
            going = False
        if going:
            self._await(pair)
            return
        for lane in pair:
            self._want(lane.source.fileno(), 0)
            del self._pairs[lane.source.fileno()]
            lane.source.close()

    def _await(self, pair: tuple[_Lane, _Lane]) -> None:
        """Choose the events of a connection for which `turn` waits next.

        Nothing more is read from an end until all that it has sent has been passed on.
        """
        for lane, opposite in (pair, pair[::-1]):
            reads = 0 if lane.waiting else select.POLLIN
            writes = select.POLLOUT if opposite.waiting else 0
            self._want(lane.source.fileno(), reads | writes)

    def _close(self) -> None:
        """Close all connections, and accept no more."""
        sockets = [listener for listener, _ in self._doors.values()]
        sockets += [lane.source for pair in self._pairs.values() for lane in pair]
        for sock in sockets:
            if sock.fileno() >= 0:  # each pair is listed under both of its ends
                self._want(sock.fileno(), 0)
                sock.close()
        self._doors, self._pairs = {}, {}

    def _open(self, listener: socket.socket, door: Door) -> None:
        """Accept a client, and connect it to the kernel."""
        client, _ = listener.accept()
        kernel = socket.socket(socket.AF_UNIX)
        for end in (client, kernel):
            end.setblocking(False)  # else a sandbox could make us wait for ever
        try:
            kernel.connect(door.inner)
        except OSError:  # it has ended, or too many are waiting
            client.close()
            kernel.close()
            return
        most = self._policy.message_mb * MB
        messages = Messages(most, self._count, drops=door.drops)
        pair = _Lane(client, kernel, None), _Lane(kernel, client, messages)
        for end in (client, kernel):
            self._pairs[end.fileno()] = pair
        self._await(pair)

    def _count(self, size: int) -> None:
        """Count the sandbox's bytes; raises ExcessError above the limit for all."""
        self._arrived += size
        if self._arrived > self._policy.messages_mb * MB:
            raise ExcessError("sent too many messages")


def _move(lane: _Lane, ready: Mapping[int, int]) -> bool:
    """Move data along a lane; return False if its source was closed.

    `ready` maps descriptors to the events that were polled for them.
    """
    going = True
    if not lane.waiting and ready.get(lane.source.fileno(), 0) & _ANYTHING:
        going = lane.receive()
    if lane.waiting:
        lane.send()
    return going


def listen(path: str) -> socket.socket:
    """Create a socket at a path, to which others on this machine can connect."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(8)
    return listener
