"""A kernel provisioner, by which Jupyter starts kernels in sandboxes.

A kernel spec or ``JUPYTER_DEFAULT_PROVISIONER_NAME`` chooses its entry point,
``autograder-sandbox``. The limits come from the spec (`in_sandbox`), or else
from ``AUTOGRADER_SANDBOX_POLICY``: `Policy.to_json()`.
"""

from __future__ import annotations

import asyncio
import dataclasses
import os
import secrets
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from traitlets import Unicode

from autograder.sandbox import client
from autograder.sandbox.confine import ConfinementError, Policy
from autograder.sandbox.inside import CHANNEL_VARIABLE, CHANNELS
from autograder.sandbox.request import Request, Usage
from autograder.sandbox.sandboxed import SandboxedProcess

# The client's variables that a kernel may see.
PASSED_ON = ("NBGRADER_EXECUTION", "AUTOGRADER_LEAVES_OUT_DEMONSTRATIONS")


def in_sandbox(policy: Policy) -> dict[str, Any]:
    """The metadata of a kernel spec whose kernels start in a sandbox, with a policy."""
    limits = {"sandbox_policy": policy.to_json()}
    entry = {"provisioner_name": "autograder-sandbox", "config": limits}
    return {"kernel_provisioner": entry}


class SandboxProvisioner(LocalProvisioner):
    """A provisioner that starts one kernel in one sandbox.

    `judge_socket` is the trusted end of a socket pair; the kernel finds the number
    of its own end in ``AUTOGRADER_CHANNEL_FD``.
    """

    sandbox_policy = Unicode("", help="The policy as JSON; else the environment's.")
    judge_socket: socket.socket | None = None
    level: str = "none"
    policy: Policy
    _slot: Path | None = None
    _sandbox: SandboxedProcess | None = None
    _channel: socket.socket | None = None  # the sandbox's end
    _arguments: list[str]

    @property
    def usage(self) -> Usage | None:
        """What the kernel used; None while it runs."""
        return self._sandbox.usage if self._sandbox else None

    @property
    def supervisor(self) -> int | None:
        """The process that watches the sandbox; None where there is none."""
        return self._sandbox.supervisor if self._sandbox else None

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        """Read the kernel's policy, and open its channel to the judge."""
        if self.sandbox_policy:
            self.policy = Policy.from_json(self.sandbox_policy)
        else:
            self.policy = client.policy_from_environment()
        self.judge_socket, self._channel = socket.socketpair()
        self._arguments = list(kwargs.get("extra_arguments", ()))
        if sys.platform == "linux":
            level = self.policy.level
            if self._slot is None:  # a restart keeps its address
                run = await asyncio.to_thread(client.run_directory, level)
                self._slot = run / secrets.token_hex(8)  # short enough for sockets
            self._slot.mkdir(mode=0o711)
            manager: Any = self.parent
            # With "ipc", sockets are files, and the "ports" are numbers in their names.
            manager.transport, manager.cache_ports = "ipc", False
            manager.ip = str(self._slot / "s")
            manager.connection_file = str(self._slot / "c.json")
            for port, name in enumerate(CHANNELS, start=1):
                setattr(manager, f"{name}_port", port)
        return await super().pre_launch(**kwargs)

    async def launch_kernel(
        self, cmd: list[str], **kwargs: Any
    ) -> KernelConnectionInfo:
        """Start the kernel; returns its connection info. Raises ConfinementError."""
        assert self._channel, "pre_launch comes first"
        if sys.platform == "linux":
            request = self._request(kwargs.get("cwd"))
            self._sandbox = await asyncio.to_thread(
                client.start_sandbox, request, self._channel
            )
            self.process = cast("subprocess.Popen[bytes]", self._sandbox)
            self.level = self._sandbox.level
        else:
            await self._launch_plain(cmd, kwargs, self._channel.fileno())
        self._channel.close()
        return self.connection_info

    def _request(self, cwd: str | None) -> Request:
        """The request for a sandbox, as plain values; `cwd` holds the submission."""
        connection: dict[str, Any] = dict(self.connection_info)
        key = connection["key"]
        connection["key"] = key.decode() if isinstance(key, bytes) else key
        return {
            "policy": dataclasses.asdict(self.policy),
            "slot": str(self._slot),
            "submission": os.path.abspath(cwd) if cwd else None,
            "connection": connection,
            "arguments": self._arguments,
            "environment": {k: os.environ[k] for k in PASSED_ON if k in os.environ},
        }

    async def _launch_plain(
        self, cmd: list[str], kwargs: dict[str, Any], channel: int
    ) -> None:
        """Start a kernel without a sandbox, if the policy allows it."""
        if not self.policy.allow_unconfined:
            raise ConfinementError("kernels can be confined on Linux only")
        client.log.warning("SUBMISSIONS ARE NOT CONFINED on %s", sys.platform)
        kwargs["env"] = {**kwargs["env"], CHANNEL_VARIABLE: str(channel)}
        await super().launch_kernel(cmd, pass_fds=(channel,), **kwargs)

    async def send_signal(self, signum: int) -> None:
        """Signal the kernel and its children."""
        if self._sandbox:
            self._sandbox.send_signal(signum)
        else:
            await super().send_signal(signum)

    async def kill(self, restart: bool = False) -> None:
        """End the sandbox and wait until it is gone, which takes milliseconds."""
        if self._sandbox is None:
            return await super().kill(restart)
        self._sandbox.kill()
        await self.wait()

    terminate = kill

    async def wait(self) -> int | None:
        """Wait until the kernel has ended; return its exit status."""
        if self._sandbox is None:
            return await super().wait()
        while (status := self._sandbox.poll()) is None:
            await asyncio.sleep(0.002)
        self.process = None
        return status

    async def shutdown_requested(self, restart: bool = False) -> None:
        """Kill the sandbox at once, because nothing in it needs a clean shutdown."""
        if self._sandbox:
            await self.kill(restart)

    async def cleanup(self, restart: bool = False) -> None:
        """Close the judge's channel; the supervisor has removed the slot."""
        for end in (self.judge_socket, self._channel):
            if end is not None:
                end.close()
        await super().cleanup(restart)
