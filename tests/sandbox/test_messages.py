"""Messages are counted as they arrive, and passed on whole or not at all."""

import random

import pytest

from autograder.sandbox.messages import ExcessError, Messages

GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00NULL" + bytes(48)
MORE, LONG, COMMAND = 1, 2, 4


def part(body: bytes, flags: int = 0) -> bytes:
    """A part as the protocol frames it."""
    if len(body) < 256:
        return bytes([flags, len(body)]) + body
    return bytes([flags | LONG]) + len(body).to_bytes(8, "big") + body


def announced(size: int, flags: int = 0) -> bytes:
    return bytes([flags | LONG]) + size.to_bytes(8, "big")


def reader(most: int = 10_000, *, drops: bool = False) -> Messages:
    messages = Messages(most, lambda size: None, drops=drops)
    assert messages.take(GREETING) == GREETING
    return messages


def test_the_greeting_goes_through_in_steps_since_each_side_waits_for_the_other():
    messages = Messages(100, lambda size: None, drops=False)
    steps = [GREETING[:10], GREETING[10:11], GREETING[11:]]
    assert [messages.take(step) for step in steps] == steps


@pytest.mark.parametrize(
    "start", [b"\x01\x00", b"\xff" + bytes(9), b"\xff" + bytes(8) + b"\x7f\x01"]
)
def test_protocols_that_frame_otherwise_are_refused(start):
    with pytest.raises(ExcessError, match="protocol"):
        Messages(100, lambda size: None, drops=False).take(start)


@pytest.mark.parametrize("seed", range(20))
def test_messages_arrive_as_they_were_however_they_are_cut(seed):
    dice = random.Random(seed)
    stream = b"".join(
        part(dice.randbytes(dice.choice([0, 1, 255, 256, 900])), flags)
        for _ in range(30)
        for flags in [*[MORE] * dice.randrange(4), COMMAND, 0]
    )
    messages, passed, remaining = reader(), b"", stream
    while remaining:
        size = dice.choice([1, 2, 7, 400])
        passed += messages.take(remaining[:size])
        remaining = remaining[size:]
    assert passed == stream


def test_nothing_of_a_message_is_passed_before_it_is_whole():
    messages = reader()
    assert messages.take(part(b"a" * 300, MORE)) == b""
    assert messages.take(part(b"b")) == part(b"a" * 300, MORE) + part(b"b")


def test_a_message_is_refused_by_what_it_announces():
    with pytest.raises(ExcessError, match="too large"):
        reader().take(announced(10_000))
    with pytest.raises(ExcessError, match="too large"):
        reader().take(announced(1 << 63))
    with pytest.raises(ExcessError, match="command"):
        reader().take(announced(1 << 40, COMMAND))


@pytest.mark.parametrize("size", [0, 200])
def test_many_small_parts_are_as_large_as_a_large_one(size):
    messages = reader()
    with pytest.raises(ExcessError, match="too large"):
        for _ in range(100):
            messages.take(part(bytes(size), MORE))


def test_a_large_message_is_left_out_where_that_harms_nobody():
    messages = reader(drops=True)
    assert messages.take(part(b"before")) == part(b"before")
    assert messages.take(part(bytes(9_000), MORE) + part(bytes(9_000), MORE)) == b""
    assert messages.take(part(b"its end") + part(b"behind")) == part(b"behind")


def test_all_that_arrives_is_counted():
    arrived: list[int] = []
    messages = Messages(600, arrived.append, drops=True)
    messages.take(GREETING)
    messages.take(part(bytes(5_000)))
    assert sum(arrived) == 64 + 9 + 5_000
