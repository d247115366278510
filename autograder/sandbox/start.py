"""Start a kernel in its sandbox: make the sockets, confine a fork, run the kernel."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import importlib
import json
import os
import select
import signal
import sys
import tempfile
from dataclasses import dataclass
from typing import Any

from autograder.sandbox import bwrap, confine, inside, kit
from autograder.sandbox.cgroup import Group
from autograder.sandbox.confine import ConfinementError, Policy, Room
from autograder.sandbox.relay import Door, listen
from autograder.sandbox.request import Request

START_SECONDS = 60.0


@dataclass(frozen=True)
class Plan:
    """All that is known about a sandbox before it is started."""

    request: Request
    policy: Policy
    room: Room
    level: str
    group: Group | None

    def doors(self) -> list[Door]:
        """List, for each channel of the kernel, the sockets that a relay connects.

        Only outputs (iopub) are dropped if they are too large.
        """
        connection = self.request["connection"]
        inner = self.room.slot / "k"
        ports = {name: connection[f"{name}_port"] for name in inside.CHANNELS}
        return [
            Door(f"{connection['ip']}-{port}", f"{inner}-{port}", name == "iopub")
            for name, port in ports.items()
        ]


def start(plan: Plan, channel: int) -> int:
    """Fork the kernel, and wait until it is confined; return its process id.

    `channel` is the kernel's socket to the judge. Raises ConfinementError.
    """
    if plan.level == "none" and not plan.policy.allow_unconfined:
        raise ConfinementError(
            "no confinement works here; only allow_unconfined would run submissions"
        )
    sockets = [listen(door.inner) for door in plan.doors()]
    for sock in sockets:
        sock.setblocking(False)
    listeners = [sock.detach() for sock in sockets]
    ready, status = os.pipe()
    sandbox = confine.fork(plan.level)
    if sandbox == 0:
        _run_kernel(plan, [*listeners, channel, status])
    for fd in (*listeners, channel, status):
        os.close(fd)
    answer = _read_all(ready)
    if answer != b"ok":
        reason = answer.decode(errors="replace") or "the sandbox did not come up"
        raise ConfinementError(reason)
    return sandbox


def _read_all(fd: int) -> bytes:
    """Read the kernel's report: "ok", an error, or b"" if none comes in a minute."""
    with open(fd, "rb") as file:
        return file.read() if select.select([fd], [], [], START_SECONDS)[0] else b""


def _run_kernel(plan: Plan, keep: list[int]) -> None:
    """Confine this process, a fork, and run the kernel. Does not return.

    `keep` are the descriptors to keep open; "ok" or an error goes to the last.
    """
    *listeners, channel, status = keep
    request, level = plan.request, plan.level
    try:
        os.setsid()
        if plan.group:
            plan.group.enter()
        _close_all_but(keep)
        os.set_inheritable(channel, False)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        home = plan.room.home(level)
        variables = inside.environment(home, channel, request["environment"])
        variables |= kit.environment()
        if level == "bwrap":
            _become_cold(plan, keep, variables)
        confine.enter(level, plan.policy, plan.room)
        os.environ.clear()
        os.environ.update(variables)
        os.write(status, b"ok")
        os.close(status)
        status = -1  # errors from here on are the kernel's, and are not reported
        _freshen(plan.policy.seed)
        inside.run(request["connection"], listeners, request["arguments"], level)
    except BaseException as error:
        if status >= 0:
            os.write(status, f"{type(error).__name__}: {error}".encode())
    finally:
        os._exit(1 if status >= 0 else 0)


def _become_cold(plan: Plan, keep: list[int], variables: dict[str, str]) -> None:
    """Replace this process with bubblewrap, with a fresh interpreter for the kernel.

    `keep` are the descriptors that stay open, `variables` the kernel's environment.
    """
    *listeners, _, status = keep
    for fd in keep:
        os.set_inheritable(fd, True)
    task: dict[str, Any] = {
        "policy": dataclasses.asdict(plan.policy),
        "connection": plan.request["connection"],
        "arguments": plan.request["arguments"],
        "listeners": listeners, "status": status,
    }  # fmt: skip
    command = bwrap.command(plan.policy, plan.room, "inside")
    os.execve(command[0], command, {**variables, "AUTOGRADER_COLD": json.dumps(task)})


def _close_all_but(keep: list[int]) -> None:
    """Close all inherited descriptors but `keep`; 0 to 2 then lead to /dev/null."""
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) not in keep:
            with contextlib.suppress(OSError):  # the handle of the listing itself
                os.close(int(name))


def _freshen(seed: str) -> None:
    """Seed a forked kernel's random generators, and reset other inherited state."""
    inside.seed_generators(seed)
    gc.collect()  # so that the next one does not depend on earlier sandboxes
    sys.path_importer_cache.clear()
    importlib.invalidate_caches()
    sys.path[:] = ["", *(path for path in sys.path if os.path.exists(path))]
    sys.argv = [sys.executable]
    tempfile.tempdir = None
