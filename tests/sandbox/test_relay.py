"""What a sandbox sends is counted: large messages stop before their client."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import zmq

from autograder.sandbox.confine import MB, Policy
from autograder.sandbox.relay import Door, Relay
from tests.sandbox.conftest import linux

pytestmark = linux


class Ends:
    """A kernel's publishing socket behind a relay, and its client's."""

    def __init__(self, folder: Path, policy: Policy, *, drops: bool) -> None:
        door = Door(str(folder / "outer"), str(folder / "inner"), drops)
        self.context = zmq.Context()
        self.context.setsockopt(zmq.LINGER, 0)
        self.relay = Relay([door], policy)
        self.kernel = self.context.socket(zmq.DEALER)
        self.kernel.bind(f"ipc://{door.inner}")
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.over = threading.Event()
        self.thread.start()
        self.client = self.context.socket(zmq.DEALER)
        self.client.connect(f"ipc://{door.outer}")
        self.outer = door.outer

    def _serve(self) -> None:
        while not self.over.is_set() and not self.relay.excess:
            self.relay.turn([], 0.05)

    def heard(self, milliseconds: int = 10_000) -> list[bytes] | None:
        if not self.client.poll(milliseconds):
            return None
        return self.client.recv_multipart()


@pytest.fixture
def peers(tmp_path: Path) -> Iterator[Ends]:
    relay = Ends(tmp_path, Policy(message_mb=1, messages_mb=8), drops=True)
    yield relay
    relay.over.set()
    relay.thread.join()
    relay.context.destroy()


def test_both_sides_speak_as_without_a_relay(peers):
    peers.client.send_multipart([b"question", b"", b"x" * 100_000])
    assert peers.kernel.recv_multipart()[0] == b"question"
    for body in (b"", b"short", bytes(900_000)):
        peers.kernel.send_multipart([b"answer", body])
        assert peers.heard() == [b"answer", body]


def test_a_large_message_does_not_reach_the_client_and_the_next_one_does(peers):
    peers.kernel.send_multipart([bytes(700_000)] * 4)
    peers.kernel.send(b"behind it")
    assert peers.heard() == [b"behind it"]
    assert not peers.relay.excess


def test_too_many_messages_end_the_relay_with_a_word(peers):
    while not peers.relay.excess:
        with contextlib.suppress(zmq.Again):
            peers.kernel.send(bytes(MB), zmq.NOBLOCK)
    assert peers.relay.excess == "sent too many messages"


def test_who_connects_to_a_kernel_that_has_ended_is_turned_away(peers):
    peers.kernel.close()
    with socket.socket(socket.AF_UNIX) as late:
        late.settimeout(10)
        late.connect(peers.outer)
        while late.recv(100):
            pass


def test_a_kernel_that_takes_nobody_in_does_not_hold_the_relay(tmp_path):
    """A sandbox may keep a listening socket and never look at it."""
    door = Door(str(tmp_path / "outer"), str(tmp_path / "inner"), drops=False)
    with contextlib.ExitStack() as stack:
        deaf = stack.enter_context(socket.socket(socket.AF_UNIX))
        deaf.bind(door.inner)
        deaf.listen(1)
        relay = Relay([door], Policy())
        for _ in range(20):
            client = stack.enter_context(socket.socket(socket.AF_UNIX))
            client.setblocking(False)
            client.connect(door.outer)
            relay.turn([], 5.0)  # comes back, whether the kernel takes it or not
        client.setblocking(True)
        assert client.recv(1) == b""  # turned away, as if the kernel had ended
