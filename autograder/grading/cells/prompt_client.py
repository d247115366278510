"""A kernel client that is ready as soon as its kernel, and reads without delays.

Jupyter's own client has five sockets, a thread for one of them, and an event loop. For
a short cell, these took more than half of the time that was spent outside the kernel.
"""

from __future__ import annotations

import contextlib
import datetime
import hmac
import json
import math
import time
from collections.abc import Mapping
from queue import Empty
from typing import Any

import zmq
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.channels import ZMQSocketChannel
from jupyter_client.session import DELIM
from traitlets import Instance, Type

KernelMessage = dict[str, Any]

_LARGEST_MESSAGE = 16 << 20  # bytes; a larger one ends the kernel's connection
_MESSAGES_WAITING = 32
_PARTS = ("header", "parent_header", "metadata", "content")


class PromptChannel(ZMQSocketChannel):
    """A channel that reads messages with less work than Jupyter's own."""

    def _recv(self, **options: Any) -> KernelMessage:
        """Read the next message, without the slow parts of Jupyter's session.

        Repetitions are not detected: a sandbox has the key and could sign them anew.

        Raises:
            ValueError, TypeError, LookupError: it is not a valid message.
        """
        assert self.socket
        frames: list[Any] = self.socket.recv_multipart(**options)
        signature, *packed = frames[frames.index(DELIM) + 1 :]
        if not hmac.compare_digest(signature, self.session.sign(packed[: len(_PARTS)])):
            raise ValueError("a message with another kernel's signature")
        message = {n: json.loads(p) for n, p in zip(_PARTS, packed, strict=False)}
        header = message["header"]
        # nbclient uses its own time for a message without a valid date.
        with contextlib.suppress(ValueError, TypeError, LookupError):
            header["date"] = datetime.datetime.fromisoformat(header["date"])
        return message | {
            "msg_id": header["msg_id"], "msg_type": header["msg_type"],
            "buffers": packed[len(_PARTS) :],
        }  # fmt: skip


class PromptClient(AsyncKernelClient):
    """A kernel client with two channels: requests with their replies, and output."""

    # All three work without an event loop.
    context = Instance(zmq.Context, ())  # type: ignore[assignment]
    shell_channel_class = Type(PromptChannel)  # type: ignore[assignment]
    iopub_channel_class = Type(PromptChannel)  # type: ignore[assignment]

    _poller: zmq.Poller | None = None

    def start_channels(self, *_: bool, **__: bool) -> None:
        """Connect both channels; there is none for input and none for a heartbeat."""
        self.context.setsockopt(zmq.MAXMSGSIZE, _LARGEST_MESSAGE)
        self.context.setsockopt(zmq.RCVHWM, _MESSAGES_WAITING)
        self._poller = zmq.Poller()
        for channel in (self.iopub_channel, self.shell_channel):
            self._poller.register(channel.socket, zmq.POLLIN)

    def stop_channels(self) -> None:
        """Close the channels."""
        for channel in (self._iopub_channel, self._shell_channel):
            if channel:
                channel.close()
        self.context.destroy(linger=0)

    def messages(self, seconds: float) -> list[tuple[KernelMessage, bool]]:
        """Read at most one message per channel, as pairs (message, whether a reply).

        It waits up to ``seconds``. A flood of output cannot hide a reply.
        """
        assert self._poller
        ready = dict(self._poller.poll(math.ceil(seconds * 1000)))
        return [
            (channel._recv(), channel is self.shell_channel)
            for channel in (self.iopub_channel, self.shell_channel)
            if channel.socket in ready
        ]

    async def wait_for_ready(self, timeout: float | None = None) -> None:
        """Request the kernel's info until both a reply and output have arrived.

        Raises:
            RuntimeError: the kernel died, or takes longer than ``timeout`` seconds.
        """
        deadline = time.monotonic() + (math.inf if timeout is None else timeout)
        while not self._answered(self.kernel_info(), deadline):
            if not await self.is_alive():
                raise RuntimeError("Kernel died before replying to kernel_info")
            if time.monotonic() > deadline:
                raise RuntimeError(f"Kernel didn't respond in {timeout} seconds")

    def _answered(self, request: str, deadline: float) -> bool:
        """Return whether the kernel answers a request on both channels in time."""
        try:
            state = ""
            while state != "idle" and time.monotonic() < deadline:
                message = self.iopub_channel.get_msg(timeout=0.2)
                if is_about(message, request):
                    state = message["content"].get("execution_state", "")
            while state == "idle" and time.monotonic() < deadline:
                message = self.shell_channel.get_msg(timeout=1)
                if is_about(message, request):
                    self._handle_kernel_info_reply(message)
                    return True
        # Output sent before we had subscribed is lost: the caller asks again.
        except Empty:
            pass
        return False


def is_about(message: Mapping[str, Any], request: str) -> bool:
    """Whether a message belongs to the request with this id."""
    return bool(message["parent_header"].get("msg_id") == request)
