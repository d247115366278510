"""The protocol between sandbox and judge: named tensors and texts over a socket.

A message is four bytes (the header's length, big endian), a JSON header, and
the raw bytes of its tensors. The reader trusts nothing and checks every size.
"""

from __future__ import annotations

import itertools
import json
import math
import select
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from autograder.checks.exercise import Answers, Other, Value

_DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
        torch.float16, torch.bfloat16, torch.float32, torch.float64,
    )
}  # fmt: skip
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}


class WireError(Exception):
    """The other side sent something that is not a message, or nothing in time."""


@dataclass(frozen=True)
class Limits:
    """The limits on a message, beyond which it is refused.

    ``header`` and ``data`` (all tensors together) are in bytes, ``entries`` is the
    number of values, and ``rank`` the number of a tensor's dimensions.
    """

    header: int = 1 << 20
    data: int = 1 << 26
    entries: int = 1024
    rank: int = 8


# Waits until a channel is ready for an event of `select.poll`; may raise WireError.
Wait = Callable[[socket.socket, int], None]


def within(seconds: float) -> Wait:
    """Make a function that waits for a socket, and raises WireError at a deadline.

    The deadline is this many seconds from now, for all waits together.
    """
    deadline = time.monotonic() + seconds

    def wait(channel: socket.socket, event: int) -> None:
        poll = select.poll()
        poll.register(channel, event)
        remaining = max(deadline - time.monotonic(), 0.0)
        milliseconds = remaining * 1000 if math.isfinite(remaining) else None
        _require(bool(poll.poll(milliseconds)), "too slow")

    return wait


patiently = within(math.inf)


@dataclass(frozen=True)
class Packed:
    """Named values in the form in which they are sent: JSON, and the tensors' bytes."""

    entries: str
    data: bytes


def packed(values: Answers) -> Packed:
    """Prepare values for sending, for callers that send them more than once."""
    entries = [_entry(name, value) for name, value in values.items()]
    data = b"".join(_bytes(v) for v in values.values() if isinstance(v, torch.Tensor))
    return Packed(json.dumps(entries), data)


def send(
    channel: socket.socket,
    kind: str,
    values: Answers | Packed | None = None,
    wait: Wait = patiently,
) -> None:
    """Send one message: its kind, and named values.

    Raises:
        WireError: the connection is closed, or `wait` raises it.
    """
    sent = values if isinstance(values, Packed) else packed(values or {})
    text = f'{{"kind": {json.dumps(kind)}, "values": {sent.entries}}}'
    header = text.encode()
    unsent = memoryview(len(header).to_bytes(4, "big") + header + sent.data)
    try:
        while unsent:
            try:
                unsent = unsent[channel.send(unsent[: 1 << 20], socket.MSG_DONTWAIT) :]
            except BlockingIOError:
                wait(channel, select.POLLOUT)
    except OSError as error:
        raise WireError(f"not sent: {type(error).__name__}") from error


def _entry(name: str, value: Value) -> dict[str, Any]:
    """Describe a value for the header: a tensor by dtype and shape, a text in full."""
    value = as_received(value)
    if isinstance(value, str):
        return {"name": name, "text": value}
    if isinstance(value, Other):
        return {"name": name, "other": value.kind}
    return {"name": name, "dtype": _NAMES[value.dtype], "shape": list(value.shape)}


def as_received(value: Value) -> Value:
    """Return a value, or an `Other` in place of a tensor whose dtype cannot be sent."""
    if isinstance(value, torch.Tensor) and value.dtype not in _NAMES:
        return Other(f"{value.dtype} tensor".removeprefix("torch."))
    return value


def _bytes(tensor: torch.Tensor) -> bytes:
    """The entries of a tensor; none if its dtype cannot be sent."""
    if tensor.dtype not in _NAMES:
        return b""
    if tensor.dtype == torch.bfloat16:  # which NumPy does not know
        tensor = tensor.view(torch.int16)
    return tensor.numpy().tobytes()


def receive(
    channel: socket.socket, limits: Limits | None = None, wait: Wait = patiently
) -> tuple[str, dict[str, Value]]:
    """Receive one message: its kind and its values.

    Raises:
        WireError: no valid message within the limits arrives in time.
    """
    limits, read = limits or Limits(), partial(_read, channel, wait)
    try:
        wait(channel, select.POLLIN)  # checks the time even if messages never stop
        length = int.from_bytes(read(4), "big")
        _require(0 < length <= limits.header, "header too long")
        header = json.loads(read(length))
        kind, entries = header["kind"], header["values"]
        _require(isinstance(kind, str) and isinstance(entries, list), "bad header")
        _require(len(entries) <= limits.entries, "too many values")
        sizes = [_size(entry, limits) for entry in entries]
        _require(sum(sizes) <= limits.data, "too many numbers")
        data = read(sum(sizes))
        offsets = itertools.accumulate(sizes)
        return kind, {
            entry["name"]: _value(entry, data[end - size : end])
            for entry, size, end in zip(entries, sizes, offsets, strict=True)
        }
    except (OSError, ValueError, TypeError, KeyError, RuntimeError) as error:
        raise WireError(f"not a message: {type(error).__name__}") from error


def _require(condition: bool, reason: str) -> None:
    if not condition:
        raise WireError(reason)


def _size(entry: dict[str, Any], limits: Limits) -> int:
    """The bytes that a value takes after the header, from its checked description."""
    _require(isinstance(entry, dict) and isinstance(entry["name"], str), "bad value")
    texts = [entry[kind] for kind in ("text", "other") if kind in entry]
    _require(all(isinstance(text, str) for text in texts), "bad text")
    if "dtype" not in entry:
        _require(bool(texts), "bad value")
        return 0
    shape, width = entry["shape"], _DTYPES[entry["dtype"]].itemsize  # in bytes
    _require(isinstance(shape, list) and len(shape) <= limits.rank, "bad shape")
    numbers, span = 1, 1
    for n in shape:
        # `type(n) is int`: True and False are ints to isinstance.
        if type(n) is not int or not 0 <= n <= limits.data:
            raise WireError("bad shape")
        numbers *= n
        # An empty tensor may have huge other sides: what is computed from it is not
        # empty, so its sides count as if each 0 were a 1.
        span *= n or 1
    _require(span <= limits.data, "bad shape")
    return numbers * width


def _value(entry: dict[str, Any], data: bytearray) -> Value:
    """Build a value; a tensor shares the memory of its bytes, and is writable."""
    if "text" in entry:
        return _writable(entry["text"])
    if "dtype" not in entry:
        return Other(_writable(entry["other"]))
    dtype = _DTYPES[entry["dtype"]]
    if not data:
        return torch.zeros(entry["shape"], dtype=dtype)
    if dtype == torch.bool:
        _require(not data.strip(b"\0\1"), "a boolean is neither 0 nor 1")
    return torch.frombuffer(data, dtype=dtype).reshape(entry["shape"])


def _writable(text: str) -> str:
    """Replace lone surrogates in a text: JSON can express them, but UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode()


def _read(channel: socket.socket, wait: Wait, size: int) -> bytearray:
    """Read exactly this many bytes."""
    parts = bytearray()
    while len(parts) < size:
        most = min(size - len(parts), 1 << 20)
        try:
            part = channel.recv(most, socket.MSG_DONTWAIT)
        except BlockingIOError:
            wait(channel, select.POLLIN)
            continue
        _require(bool(part), "closed")
        parts += part
    return parts
