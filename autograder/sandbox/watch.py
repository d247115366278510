"""Watch the limits of one sandbox while it runs, and find out why it has ended."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import socket
import time
from pathlib import Path

from autograder.sandbox.confine import MB, ON_HOSTS_DISK
from autograder.sandbox.ending import EndReason
from autograder.sandbox.memory_accounting import mapped_mb, share_fairly, total_mb
from autograder.sandbox.processes import (
    collected_seconds,
    cpu_seconds,
    descendants,
    resident_mb,
)
from autograder.sandbox.relay import Relay
from autograder.sandbox.request import Usage
from autograder.sandbox.slot import full_disk_message, lacks_room, tree_size
from autograder.sandbox.start import Plan

WATCH_SECONDS = 0.25
_FIRST = "1000"  # the score of processes that the kernel kills first if memory runs out


class Watchdog:
    """Waits until a sandbox ends, or kills it at a limit, and tells the reason."""

    def __init__(self, sandbox: int, plan: Plan, relay: Relay) -> None:
        self.sandbox, self.relay = sandbox, relay
        self.policy, self.room, self.level = plan.policy, plan.room, plan.level
        self.group = plan.group
        self.ended: EndReason | None = None  # by us
        self.explanation = ""
        self.next_look = time.monotonic() + WATCH_SECONDS
        self.cpu = (0.0, 0.0)
        # What the process has from the warm server, before it runs student code.
        self.warm_mb, self.mapped_mb = resident_mb([sandbox]), mapped_mb([sandbox])

    def watch_until_end(self, client: socket.socket, lifeline: int) -> Usage:
        """Pass on signals and check limits until the kernel ends; return its usage.

        If `client` closes or `lifeline` becomes readable, the sandbox is killed.
        """
        # When a child ends, a byte in this pipe ends the wait in `turn`.
        reader, writer = os.pipe2(os.O_NONBLOCK)
        signal.set_wakeup_fd(writer)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        events = [client.fileno(), lifeline, reader]
        while True:
            pid, status, used = os.wait4(self.sandbox, os.WNOHANG)
            if pid:
                return self._usage(status, used)
            ready = self.relay.turn(events, WATCH_SECONDS)
            if lifeline in ready:
                self._kill(EndReason.SERVER_GONE)
            if client.fileno() in ready:
                self._obey(client.recv(1 << 16))
            if reader in ready:
                os.read(reader, 1 << 10)
                _reap_others(self.sandbox)
            if self.relay.excess:
                self._kill(EndReason.MESSAGES, f"it {self.relay.excess}")
            if time.monotonic() > self.next_look:
                self._check_limits()

    def _obey(self, message: bytes) -> None:
        """Pass on the signal that the client has sent, or kill the sandbox.

        `message` is JSON with the number of a "signal", or empty if the client is gone.
        """
        number = json.loads(message)["signal"] if message else signal.SIGKILL
        if number in (signal.SIGKILL, signal.SIGTERM):
            self._kill(EndReason.KILLED)
        else:
            os.killpg(self.sandbox, number)

    def _check_limits(self) -> None:
        """Kill the sandbox if it exceeds a limit on CPU time, memory or disk space.

        Its busy threads also get a lower priority.
        """
        self.next_look = time.monotonic() + WATCH_SECONDS
        pids = list(descendants(os.getpid()))
        share_fairly(pids)
        _raise_oom_score(pids)
        used = cpu_seconds(pids)
        if sum(used) + collected_seconds(os.getpid()) > self.policy.notebook_seconds:
            self._kill(EndReason.CPU_TIME)
        elif self.group is None and self._holds_too_much(pids):
            self._kill(EndReason.MEMORY)
        elif (full := self._full_disk()) is EndReason.HOST_DISK:
            self._kill(full, full_disk_message(self.room.slot))
        elif full:
            self._kill(full)

    def _holds_too_much(self, pids: list[int]) -> bool:
        """Return whether the sandbox holds more memory than its policy allows.

        A quarter more is tolerated; what came from the warm server does not count.
        """
        used_mb = total_mb(pids, self.policy.memory_mb, self.mapped_mb)
        return used_mb > self.policy.memory_mb * 1.25 + self.warm_mb

    def _full_disk(self) -> EndReason | None:
        """Return why the sandbox may write no more to the host's disk, or None.

        It has exceeded its policy (DISK), or the disk itself is full (HOST_DISK).
        """
        if self.level not in ON_HOSTS_DISK:
            return None
        try:
            home, most = self.room.home(self.level), self.policy.files
            size, files = tree_size(home, most)
        except OSError:
            return EndReason.DISK
        remaining_bytes = self.policy.disk_mb * MB - size
        if remaining_bytes < 0 or files > most:
            return EndReason.DISK
        needed = min(remaining_bytes, self.policy.file_mb * MB)
        return EndReason.HOST_DISK if lacks_room(self.room.slot, needed) else None

    def _kill(self, reason: EndReason, explanation: str = "") -> None:
        """Kill the sandbox, and store the reason if it is the first one.

        An `explanation` replaces the reason's own words.
        """
        if self.ended is None:
            self.ended, self.explanation = reason, explanation or reason
        # Once its processes are gone, nothing says how much they used.
        self.cpu = cpu_seconds(descendants(os.getpid()))
        os.kill(self.sandbox, signal.SIGKILL)

    def _usage(self, status: int, used: resource.struct_rusage) -> Usage:
        """Return the usage of a sandbox that has ended, and why it ended.

        `status` and `used` are what `wait4` has returned for its first process.
        """
        code = os.waitstatus_to_exitcode(status)
        ended, explanation = EndReason.EXITED, str(EndReason.EXITED)
        if self._full_disk() is EndReason.HOST_DISK:  # since the last look
            self.ended = EndReason.HOST_DISK
            self.explanation = full_disk_message(self.room.slot)
        if self.ended:
            ended, explanation = self.ended, self.explanation
        elif self.group and self.group.was_too_large():
            ended, explanation = EndReason.MEMORY, str(EndReason.MEMORY)
        elif code < 0:
            ended, explanation = EndReason.SIGNAL, f"{EndReason.SIGNAL} {-code}"
        return {
            "exit": code,
            "ended": ended,
            "reason": explanation,
            "utime": max(used.ru_utime, self.cpu[0]),
            "stime": max(used.ru_stime, self.cpu[1]),
            "maxrss_mb": used.ru_maxrss / 1024,
            "grouped": self.group is not None,
        }


def _raise_oom_score(pids: list[int]) -> None:
    """Make the kernel kill these processes first if memory runs out."""
    for pid in pids:
        with contextlib.suppress(OSError):  # it has just ended
            Path(f"/proc/{pid}/oom_score_adj").write_text(_FIRST)


def _reap_others(sandbox: int) -> None:
    """Collect ended children except the sandbox's first process, left to `wait4`."""
    while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        if ended.si_pid == sandbox:
            return
        os.waitpid(ended.si_pid, 0)
