"""What a box holds in all: memory that no process shows, and the CPUs that it takes.

Where a machine gives no control groups, the sum over a box's processes is the only
count there is. What is resident is not all of it: shared memory that was let go of
(MADV_DONTNEED) stays, page tables are the kernel's, and so are the buffers of sockets.
"""

from __future__ import annotations

import contextlib
import math
import os
from pathlib import Path

from autograder.kernel.processes import proportional_mb, resident_mb

_SHARED = "/dev/zero (deleted)"  # how a shared anonymous mapping is called
_FREE_SOCKETS = 64  # the kernel's own, and what else an ordinary program opens
_STEP = 1.25  # one step of niceness is a quarter less of a CPU


def held_mb(pids: list[int], limit: float, warm_mb: float) -> float:
    """Memory of all the processes, in MB; counted exactly when a rough count alarms.

    Args:
        limit: MB that they may hold beyond what was warm.
        warm_mb: what the first of them mapped before it ran anything of a student's.
    """
    rough = resident_mb(pids) + page_tables_mb(pids)
    hidden = 0.0
    if _mapped_mb(pids) - len(pids) * warm_mb > limit / 2 or _fds(pids) > 256:
        hidden = let_go_mb(pids) + sockets_mb(pids)
    if rough + hidden < limit:
        return rough + hidden
    return proportional_mb(pids) + page_tables_mb(pids) + hidden


def page_tables_mb(pids: list[int]) -> float:
    """Page tables."""
    return _status_kb(pids, "VmPTE:") / 1024


def _mapped_mb(pids: list[int]) -> float:
    return _status_kb(pids, "VmSize:") / 1024


def mapped_mb(pid: int) -> float:
    """All that a process has mapped, files and reserved addresses included."""
    return _mapped_mb([pid])


def _fds(pids: list[int]) -> int:
    return _status_kb(pids, "FDSize:")


def _status_kb(pids: list[int], field: str) -> int:
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):  # it has just ended
            for line in Path(f"/proc/{pid}/status").read_text().splitlines():
                if line.startswith(field):
                    total += int(line.split()[1])
    return total


def let_go_mb(pids: list[int]) -> float:
    """Shared anonymous memory, as much as is mapped: it may be there without a page.

    What several processes map is counted once.
    """
    sizes: dict[str, int] = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
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


def share_fairly(pids: list[int]) -> None:
    """See that a box's busy threads together weigh about as much as one.

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
            text = Path(f"/proc/{pid}/task/{task}/stat").read_text()
            if text.rpartition(")")[2].split()[0] == "R":
                found.append(int(task))
    return found
