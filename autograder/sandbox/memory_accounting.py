"""Measurement of the memory that a sandbox holds, and fair shares of the CPUs.

Without control groups, its memory is the sum over its processes. Page tables
and the buffers of sockets, which the system holds for them, count as well.
"""

from __future__ import annotations

import contextlib
import math
import os
from pathlib import Path

from autograder.sandbox.processes import (
    proportional_mb,
    read_proc,
    resident_mb,
    sum_fields,
)

_SHARED = "/dev/zero (deleted)"  # the name of a shared anonymous mapping
_FREE_SOCKETS = 64  # not counted: as many as ordinary programs may open
_KINDS = ("tcp", "tcp6", "udp", "udp6")
_STEP = 1.25  # one step of niceness is a quarter less of a CPU


def total_mb(pids: list[int], limit: float, warm_mb: float) -> float:
    """Return the memory that processes hold, in MB.

    If it is below ``limit``, shared pages count for each process, which is faster.

    Args:
        limit: MB that the processes may hold beyond what the warm server gave them.
        warm_mb: MB that the first process had mapped before it ran student code.
    """
    rough = resident_mb(pids) + page_tables_mb(pids)
    # An exact count is slow: only if much is mapped, or many files are open.
    hidden = waiting = queues_mb(pids)
    open_files = sum_fields(pids, "status", "FDSize:")
    if mapped_mb(pids) - len(pids) * warm_mb > limit / 2 or open_files > 256:
        hidden = shared_anonymous_mb(pids) + max(sockets_mb(pids), waiting)
    if rough + hidden < limit:
        return rough + hidden
    return proportional_mb(pids) + page_tables_mb(pids) + hidden


def page_tables_mb(pids: list[int]) -> float:
    """The memory of page tables in MB."""
    return sum_fields(pids, "status", "VmPTE:") / 1024


def mapped_mb(pids: list[int]) -> float:
    """The mapped memory in MB, including files and reserved address space."""
    return sum_fields(pids, "status", "VmSize:") / 1024


def shared_anonymous_mb(pids: list[int]) -> float:
    """Return the size of the shared anonymous memory that is mapped, in MB.

    All of it counts, since it may exist without being resident in any process.
    """
    sizes: dict[str, int] = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            for line in read_proc(f"/proc/{pid}/maps").split("\n"):
                if line.endswith(_SHARED):
                    place, _, _, device, inode = line.split()[:5]
                    first, last = (int(end, 16) for end in place.split("-"))
                    key = f"{device} {inode} {place}"
                    sizes[key] = max(sizes.get(key, 0), last - first)
    return sum(sizes.values()) / (1 << 20)


def sockets_mb(pids: list[int]) -> float:
    """Return the most that the buffers of sockets may hold, in MB.

    The first `_FREE_SOCKETS` sockets are not counted.
    """
    sockets: set[str] = set()
    for pid in pids:
        with contextlib.suppress(OSError):
            for entry in os.scandir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    name = os.readlink(entry.path)
                    if name.startswith("socket:"):
                        sockets.add(name)
    most = int(Path("/proc/sys/net/core/wmem_max").read_text())
    return max(len(sockets) - _FREE_SOCKETS, 0) * 2 * most / (1 << 20)


def queues_mb(pids: list[int]) -> float:
    """Return how much was sent over the sandbox's network but not read yet, in MB.

    If the sandbox shares our network, the result is 0.
    """
    for pid in pids:  # they share one network, so the first that still exists will do
        with contextlib.suppress(OSError):
            theirs, ours = (os.stat(f"/proc/{p}/ns/net").st_ino for p in (pid, "self"))
            if theirs == ours:
                return 0.0
            kinds = _find_kinds_in_use(pid)
            return sum(_count_queued_bytes(pid, kind) for kind in kinds) / (1 << 20)
    return 0.0


def _find_kinds_in_use(pid: int) -> list[str]:
    """List the kinds of sockets ("tcp") that a process's network has several of."""
    kinds = []
    for file in ("sockstat", "sockstat6"):
        with contextlib.suppress(OSError):  # there may be no IPv6
            for line in Path(f"/proc/{pid}/net/{file}").read_text().splitlines():
                kind, _, counts = line.lower().partition(": inuse ")
                if kind in _KINDS and int(counts.split()[0]) > 1:
                    kinds.append(kind)
    return kinds


def _count_queued_bytes(pid: int, kind: str) -> int:
    """The bytes queued in all sockets of a kind, like "tcp", on a process's network."""
    lines = Path(f"/proc/{pid}/net/{kind}").read_text().splitlines()[1:]
    queues = (line.split()[4].split(":") for line in lines)  # "sent:received", in hex
    return sum(int(size, 16) for queue in queues for size in queue)


def share_fairly(pids: list[int]) -> None:
    """Raise the niceness of busy threads, so that together they weigh as much as one.

    It is only ever raised, as we may not be allowed to lower it again.
    """
    busy = [task for pid in pids for task in _find_running_tasks(pid)]
    if len(busy) < 3:
        return
    # So many steps that each of n busy threads weighs as much as one n-th.
    nice = min(round(math.log(len(busy)) / math.log(_STEP)), 19)
    for task in busy:
        with contextlib.suppress(OSError):
            if os.getpriority(os.PRIO_PROCESS, task) < nice:
                os.setpriority(os.PRIO_PROCESS, task, nice)


def _find_running_tasks(pid: int) -> list[int]:
    """Find the threads of a process that run, or would run if a CPU were free."""
    tasks = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            text = read_proc(f"/proc/{pid}/task/{task}/stat")
            if text.rpartition(")")[2].split()[0] == "R":
                tasks.append(int(task))
    return tasks
