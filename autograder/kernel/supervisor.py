"""One process per box: starts the kernel, watches its limits, cleans up, reports.

It is forked from the warm server and holds the client's connection. It ends the box
when the client asks, when the client or the server is gone, and when the box has used
up its CPU time, memory or disk; it leaves no process and no directory behind.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import json
import os
import random
import select
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autograder.kernel import bwrap, confine, inside, kit
from autograder.kernel.confine import MB, ConfinementError, Policy, Room
from autograder.kernel.held import held_mb, mapped_mb, share_fairly
from autograder.kernel.processes import (
    collected_seconds,
    cpu_seconds,
    descendants,
    end_all_children,
    resident_mb,
)

WATCH_SECONDS = 0.25
START_SECONDS = 60.0


def supervise(
    request: dict[str, Any], client: socket.socket, channel: int, life: int, level: str
) -> None:
    """Run one kernel from start to end; never raises.

    `client` carries signals in and {"started"} or {"error"}, then the usage, out, each
    with the name of the box's slot; `life` reads as ended when the server is gone;
    `channel` is the judge's socket.
    """
    slot = Path(request["slot"])
    try:
        policy = Policy(**request["policy"])
        room = room_for(policy, slot, request["submission"])
        box = _start(request, policy, room, channel, level)
        _tell(client, {"slot": slot.name, "level": level, "pid": os.getpid()})
        last_words = Watch(box, policy, room, level).until_end(client, life)
    except Exception as error:
        last_words = {"error": str(error) or type(error).__name__}
    end_all_children()
    remove_tree(slot)
    if os.getuid() == 0:
        _remove_semaphores(confine.slot_uid(os.getpid()))
    _tell(client, {"slot": slot.name, **last_words})


def room_for(policy: Policy, slot: Path, submission: str | Path | None) -> Room:
    """What a box of this supervisor sees. Raises nothing; missing paths are skipped."""
    visible = (*kit.interpreter_paths(), *policy.readable)
    hidden = (str(kit.PACKAGE), *policy.hidden)
    uid = confine.slot_uid(os.getpid())
    place = None if submission is None else Path(submission)
    return Room(slot, place, visible, hidden, kit.kit_paths(), uid)


def _tell(client: socket.socket, message: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):  # the client is gone; there is nobody to tell
        client.send(json.dumps(message).encode())


# ------------------------------------------------------------------ starting


def _start(
    request: dict[str, Any],
    policy: Policy,
    room: Room,
    channel: int,
    level: str,
) -> int:
    """Fork the kernel and wait until its walls stand. Raises ConfinementError."""
    if level == "none" and not policy.allow_unconfined:
        raise ConfinementError(
            "no confinement works here; only allow_unconfined would run submissions"
        )
    listeners = _listen(request["connection"])
    ready, status = os.pipe()
    box = confine.fork(level)
    if box == 0:
        keep = [*listeners, channel, status]
        _run_kernel(request, policy, room, level, keep)
    for fd in (*listeners, channel, status):
        os.close(fd)
    answer = _read_all(ready)
    if answer != b"ok":
        reason = answer.decode(errors="replace") or "the box did not come up"
        raise ConfinementError(reason)
    return box


def _listen(connection: dict[str, Any]) -> list[int]:
    """Bind the kernel's sockets where the client expects them."""
    listeners = []
    for name in inside.CHANNELS:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(f"{connection['ip']}-{connection[f'{name}_port']}")
        listener.listen(8)
        listener.setblocking(False)
        listeners.append(listener.detach())
    return listeners


def _read_all(fd: int) -> bytes:
    """What the kernel says of its walls: "ok", a reason, or nothing within a minute."""
    with open(fd, "rb") as file:
        return file.read() if select.select([fd], [], [], START_SECONDS)[0] else b""


def _run_kernel(
    request: dict[str, Any], policy: Policy, room: Room, level: str, keep: list[int]
) -> None:
    """In the child: close in, then be the kernel. Does not return."""
    *listeners, channel, status = keep
    try:
        os.setsid()
        _close_all_but(keep)
        os.set_inheritable(channel, False)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        home = room.home(level)
        variables = inside.environment(home, channel, request["environment"])
        variables["PYTHONPATH"] = str(kit.PACKAGE.parent)
        if level == "bwrap":
            _become_cold(request, policy, room, keep, variables)
        confine.enter(level, policy, room)
        os.environ.clear()
        os.environ.update(variables)
        os.write(status, b"ok")
        os.close(status)
        status = -1
        _freshen()
        inside.run(request["connection"], listeners, request["arguments"], level)
    except BaseException as error:
        if status >= 0:
            os.write(status, f"{type(error).__name__}: {error}".encode())
    finally:
        os._exit(1 if status >= 0 else 0)


def _become_cold(
    request: dict[str, Any],
    policy: Policy,
    room: Room,
    keep: list[int],
    variables: dict[str, str],
) -> None:
    """Replace this process by bubblewrap with a fresh interpreter inside."""
    *listeners, _, status = keep
    for fd in keep:
        os.set_inheritable(fd, True)
    task = {
        "policy": dataclasses.asdict(policy),
        "connection": request["connection"],
        "arguments": request["arguments"],
        "listeners": listeners,
        "status": status,
    }
    command = bwrap.command(policy, room, "inside.py")
    os.execve(command[0], command, {**variables, "AUTOGRADER_COLD": json.dumps(task)})


def _close_all_but(keep: list[int]) -> None:
    """Nothing of the server's or the client's stays open in a box."""
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) not in keep:
            with contextlib.suppress(OSError):  # the handle of the listing itself
                os.close(int(name))


def _freshen() -> None:
    """Undo what a fork shares: random state and what imports remember of the host."""
    random.seed()
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed()
    if torch := sys.modules.get("torch"):
        torch.manual_seed(int.from_bytes(os.urandom(7), "little"))
    sys.path_importer_cache.clear()
    importlib.invalidate_caches()
    sys.path[:] = ["", *(path for path in sys.path if os.path.exists(path))]
    sys.argv = [sys.executable]
    tempfile.tempdir = None


# ------------------------------------------------------------------ watching


class Watch:
    """Waits for the end of one box and knows why it came."""

    def __init__(self, box: int, policy: Policy, room: Room, level: str) -> None:
        self.box, self.policy, self.room, self.level = box, policy, room, level
        self.reason = ""
        self.next_look = 0.0
        self.cpu = (0.0, 0.0)
        self.warm_mb, self.mapped_mb = resident_mb([box]), mapped_mb(box)

    def until_end(self, client: socket.socket, life: int) -> dict[str, Any]:
        """Serve signals and check limits until the kernel ends; returns its usage."""
        reader, writer = os.pipe2(os.O_NONBLOCK)
        signal.set_wakeup_fd(writer)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        while not (ended := os.wait4(self.box, os.WNOHANG))[0]:
            ready, _, _ = select.select([client, life, reader], [], [], WATCH_SECONDS)
            if life in ready:
                self._kill("server gone")
            if client in ready:
                self._obey(client.recv(1 << 16))
            if reader in ready:
                os.read(reader, 1 << 10)
                _reap_others(self.box)
            if time.monotonic() > self.next_look:
                self._check_limits()
        return self._usage(*ended[1:])

    def _obey(self, message: bytes) -> None:
        number = json.loads(message)["signal"] if message else signal.SIGKILL
        if number in (signal.SIGKILL, signal.SIGTERM):
            self._kill("killed")
        else:
            os.killpg(self.box, number)

    def _check_limits(self) -> None:
        self.next_look = time.monotonic() + WATCH_SECONDS
        pids = list(descendants(os.getpid()))
        share_fairly(pids)
        used = cpu_seconds(pids)
        if sum(used) + collected_seconds(os.getpid()) > self.policy.notebook_seconds:
            self._kill("CPU time")
        elif self._memory_mb(pids) > self.policy.memory_mb * 1.25 + self.warm_mb:
            self._kill("memory")
        elif self.level in ("landlock", "none") and self._disk_is_full():
            self._kill("disk")

    def _memory_mb(self, pids: list[int]) -> float:
        """All processes together, and what the system holds for them."""
        return held_mb(pids, self.policy.memory_mb, self.mapped_mb)

    def _disk_is_full(self) -> bool:
        try:
            size, files = tree_size(self.room.home(self.level))
        except PermissionError:
            return True
        return size > self.policy.disk_mb * MB or files > self.policy.files

    def _kill(self, reason: str) -> None:
        self.reason = self.reason or reason
        self.cpu = cpu_seconds(descendants(os.getpid()))
        os.kill(self.box, signal.SIGKILL)

    def _usage(self, status: int, used: Any) -> dict[str, Any]:
        """Seconds of CPU, megabytes at the peak (warm pages included), and why.

        Processes whose parent never collected them are known by the last look only.
        """
        code = os.waitstatus_to_exitcode(status)
        reason = "exited" if code >= 0 else f"signal {-code}"
        return {
            "exit": code,
            "reason": self.reason or reason,
            "utime": max(used.ru_utime, self.cpu[0]),
            "stime": max(used.ru_stime, self.cpu[1]),
            "maxrss_mb": used.ru_maxrss / 1024,
        }


def _reap_others(box: int) -> None:
    """Collect daemonised grandchildren, but leave the kernel's end to `wait4`."""
    while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        if ended.si_pid == box:
            return
        os.waitpid(ended.si_pid, 0)


# ------------------------------------------------------------------ the slot on disk


def tree_size(folder: Path) -> tuple[int, int]:
    """Bytes on disk and number of entries below `folder`.

    Raises PermissionError for a folder that was closed to hide its size.
    """
    size = count = 0
    for path, folders, files in os.walk(folder, onerror=_raise_if_closed):
        for name in (*folders, *files):
            with contextlib.suppress(OSError):
                size += os.lstat(os.path.join(path, name)).st_blocks * 512
        count += len(folders) + len(files)
    return size, count


def _raise_if_closed(error: OSError) -> None:
    if isinstance(error, PermissionError):
        raise error


def _remove_semaphores(uid: int) -> None:
    """Without its own mounts a box leaves named memory in the host's /dev/shm."""
    for entry in os.scandir("/dev/shm"):
        if entry.stat(follow_symlinks=False).st_uid == uid:
            os.unlink(entry)


def remove_tree(folder: Path) -> None:
    """Remove a folder whatever modes its content was given."""

    def again(function: Callable[[str], None], path: str, _: object) -> None:
        with contextlib.suppress(OSError):
            for place in (os.path.dirname(path), path):
                if not os.path.islink(place):
                    os.chmod(place, 0o700)
            function(path)

    shutil.rmtree(folder, onerror=again)
    shutil.rmtree(folder, ignore_errors=True)  # what was closed at the first look
