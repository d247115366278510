"""A kernel's client that is ready as soon as the kernel is."""

from __future__ import annotations

import math
import time
from queue import Empty
from typing import Any

from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.channels import AsyncZMQSocketChannel
from traitlets import Type


class PromptChannel(AsyncZMQSocketChannel):
    """A channel whose message comes in one step: the original waits, and then asks."""

    async def get_msg(  # type: ignore[override]  # as the original
        self, timeout: float | None = None
    ) -> dict[str, Any]:
        """The next message; Empty if none comes within some seconds."""
        if timeout is not None:
            return await super().get_msg(timeout)
        return await self._recv()


class PromptClient(AsyncKernelClient):
    """A client that is ready once the kernel is: the original waits 0.2 s more."""

    shell_channel_class = Type(PromptChannel)
    iopub_channel_class = Type(PromptChannel)

    async def wait_for_ready(self, timeout: float | None = None) -> None:
        """Ask the kernel for its info until its reply and its output have come.

        Raises:
            RuntimeError: it has died, or takes longer (seconds).
        """
        deadline = time.monotonic() + (math.inf if timeout is None else timeout)
        while not await self._answered(self.kernel_info(), deadline):
            if not await self.is_alive():
                raise RuntimeError("Kernel died before replying to kernel_info")
            if time.monotonic() > deadline:
                raise RuntimeError(f"Kernel didn't respond in {timeout} seconds")

    async def _answered(self, request: str, deadline: float) -> bool:
        """Whether the end of a request shows on iopub, so that we are subscribed.

        Other messages may come without end: the deadline holds for them, too.
        """
        try:
            state = ""
            while state != "idle" and time.monotonic() < deadline:
                message = await self.get_iopub_msg(timeout=0.2)
                if message["parent_header"].get("msg_id") == request:
                    state = message["content"].get("execution_state", "")
            while state == "idle" and time.monotonic() < deadline:
                message = await self.get_shell_msg(timeout=1)
                if message["parent_header"].get("msg_id") == request:
                    self._handle_kernel_info_reply(message)
                    return True
        except Empty:
            pass
        return False
