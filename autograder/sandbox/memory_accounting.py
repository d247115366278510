"""What a sandbox holds in all: memory that no process shows, and CPUs.

Where a machine gives no control groups, the sum over a sandbox's processes is the only
count there is. What is resident is not all of it: shared memory that was let go of
(MADV_DONTNEED) stays, page tables are the kernel's, and so are the buffers of sockets
and what waits in the connections of a sandbox's own network.
"""

from __future__ import annotations

import contextlib
import math
import os
from pathlib import Path

from autograder.sandbox.processes import proportional_mb, resident_mb, summed, told

_SHARED = "/dev/zero (deleted)"  # how a shared anonymous mapping is called
_FREE_SOCKETS = 64  # the kernel's own, and what else an ordinary program opens
_KINDS = ("tcp", "tcp6", "udp", "udp6")
_STEP = 1.25  # one step of niceness is a quarter less of a CPU


def held_mb(pids: list[int], limit: float, warm_mb: float) -> float:
    """Memory of all the processes, in MB; counted exactly when a rough count alarms.

    Args:
        limit: MB that they may hold beyond what was warm.
        warm_mb: what the first of them mapped before it ran anything of a student's.
    """
    rough = resident_mb(pids) + page_tables_mb(pids)
    hidden = waiting = queues_mb(pids)
    open_files = summed(pids, "status", "FDSize:")
    if mapped_mb(pids) - len(pids) * warm_mb > limit / 2 or open_files > 256:
        hidden = let_go_mb(pids) + max(sockets_mb(pids), waiting)
    if rough + hidden < limit:
        return rough + hidden
    return proportional_mb(pids) + page_tables_mb(pids) + hidden


def page_tables_mb(pids: list[int]) -> float:
    """Page tables."""
    return summed(pids, "status", "VmPTE:") / 1024


def mapped_mb(pids: list[int]) -> float:
    """The mapped memory in MB, including files and reserved address space."""
    return summed(pids, "status", "VmSize:") / 1024


def let_go_mb(pids: list[int]) -> float:
    """Shared anonymous memory, as much as is mapped: it may be there without a page.

    What several processes map is counted once.
    """
    sizes: dict[str, int] = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            for line in told(f"/proc/{pid}/maps").split("\n"):
                if line.endswith(_SHARED):
                    place, _, _, device, inode = line.split()[:5]
                    first, last = (int(end, 16) for end in place.split("-"))
                    key = f"{device} {inode} {place}"
                    sizes[key] = max(sizes.get(key, 0), last - first)
    return sum(sizes.values()) / (1 << 20)


def sockets_mb(pids: list[int]) -> float:
    """What the sockets beyond an ordinary number may hold in their buffers."""
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
    """What was sent over a network of the sandbox's own, and not read yet.

    A connection holds up to tens of MB, far more than another socket. On a network that
    is ours, too, others' connections stand in the same list: none is counted there.
    """
    for pid in pids:  # they share one network: the first that is still there tells
        with contextlib.suppress(OSError):
            its, ours = (os.stat(f"/proc/{p}/ns/net").st_ino for p in (pid, "self"))
            if its == ours:
                return 0.0
            return sum(_queued(pid, kind) for kind in _in_use(pid)) / (1 << 20)
    return 0.0


def _in_use(pid: int) -> list[str]:
    """The kinds of sockets that a network has several of; a list costs 5 ms to read.

    One always listens: at it ipykernel hears what forks of a cell print.
    """
    found = []
    for file in ("sockstat", "sockstat6"):
        with contextlib.suppress(OSError):  # there may be no IPv6
            for line in Path(f"/proc/{pid}/net/{file}").read_text().splitlines():
                kind, _, counts = line.lower().partition(": inuse ")
                if kind in _KINDS and int(counts.split()[0]) > 1:
                    found.append(kind)
    return found


def _queued(pid: int, kind: str) -> int:
    lines = Path(f"/proc/{pid}/net/{kind}").read_text().splitlines()[1:]
    ends = (line.split()[4].split(":") for line in lines)  # "sent:received", in hex
    return sum(int(end, 16) for queue in ends for end in queue)


def share_fairly(pids: list[int]) -> None:
    """See that a sandbox's busy threads together weigh about as much as one.

    A process that may not be had back later is only ever made to wait more.
    """
    busy = [task for pid in pids for task in _running(pid)]
    if len(busy) < 3:
        return
    nice = min(round(math.log(len(busy)) / math.log(_STEP)), 19)
    for task in busy:
        with contextlib.suppress(OSError):
            if os.getpriority(os.PRIO_PROCESS, task) < nice:
                os.setpriority(os.PRIO_PROCESS, task, nice)


def _running(pid: int) -> list[int]:
    """The threads of a process that run, or would if there were a CPU."""
    found = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            text = told(f"/proc/{pid}/task/{task}/stat")
            if text.rpartition(")")[2].split()[0] == "R":
                found.append(int(task))
    return found
