"""Read from /proc the descendants of processes, their CPU time and their memory."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_USER = 11  # the first of utime, stime, cutime, cstime among the fields of stat


def read_proc(path: str) -> str:
    """Read a file of /proc as text. Raises OSError.

    A sandbox chooses some names in it. What is not ASCII is replaced, and lines
    must be split at line feeds alone.
    """
    with open(path, "rb", buffering=0) as file:
        return file.read().decode("ascii", "replace")


def descendants(pid: int) -> Iterator[int]:
    """Processes below `pid`, those of inner process namespaces included."""
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            children = read_proc(f"/proc/{pid}/task/{task}/children")
            for child in map(int, children.split()):
                yield child
                yield from descendants(child)
    except OSError:
        return  # it has just ended


def _stat(pid: int) -> list[str]:
    """The fields of a process after its name, its state first; [] once it is gone."""
    try:
        text = read_proc(f"/proc/{pid}/stat")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def is_stopped(pid: int) -> bool:
    """Whether a signal has stopped the process."""
    return _stat(pid)[:1] == ["T"]


def cpu_seconds(pids: Iterable[int]) -> tuple[float, float]:
    """User and system time of `pids` and of the children they have collected."""
    user = system = 0
    for pid in pids:
        if fields := _stat(pid):
            times = [int(field) for field in fields[_USER : _USER + 4]]
            user += times[0] + times[2]
            system += times[1] + times[3]
    return user / _TICKS, system / _TICKS


def collected_seconds(pid: int) -> float:
    """CPU time of the children that a process has collected."""
    fields = _stat(pid)
    return sum(map(int, fields[_USER + 2 : _USER + 4])) / _TICKS


def waiting_seconds(pids: Iterable[int]) -> dict[tuple[int, str], float]:
    """Seconds that each thread of `pids` was ready to run while no CPU was free."""
    seconds = {}
    for pid in pids:
        with contextlib.suppress(OSError):  # it has just ended
            for task in os.listdir(f"/proc/{pid}/task"):
                text = read_proc(f"/proc/{pid}/task/{task}/schedstat")
                seconds[pid, task] = int(text.split()[1]) / 1e9
    return seconds


def resident_mb(pids: list[int]) -> float:
    """Memory without files, in MB; pages shared between processes count for each."""
    return sum_fields(pids, "status", "RssAnon:", "RssShmem:") / 1024


def proportional_mb(pids: list[int]) -> float:
    """Like `resident_mb`, but shared pages are divided among those who share them."""
    return sum_fields(pids, "smaps_rollup", "Pss_Anon:", "Pss_Shmem:") / 1024


def sum_fields(pids: list[int], file: str, *fields: str) -> int:
    """Sum the numbers of some fields of a file in /proc over all processes."""
    total = 0
    for pid in pids:
        try:
            lines = read_proc(f"/proc/{pid}/{file}").split("\n")
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith(fields))
    return total


def end_all_children() -> None:
    """Kill all descendants until none is left; orphans have become our children."""
    while pids := list(descendants(os.getpid())):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if not collect_children():
            return
        time.sleep(0.001)


def collect_children() -> bool:
    """Collect the children that have ended; return whether any is left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def await_calm(seconds: float) -> None:
    """Wait until CPUs are free half of the time, or until `seconds` have passed."""
    deadline = time.monotonic() + seconds
    while _pressure() > 50.0 and time.monotonic() < deadline:
        time.sleep(1.0)


def _pressure() -> float:
    """Percent of the last ten seconds in which something waited for a CPU."""
    try:
        line = Path("/proc/pressure/cpu").read_text().splitlines()[0]
    except OSError:
        return 0.0
    return float(line.split("avg10=")[1].split()[0])
