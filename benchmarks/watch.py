"""Who takes the time and the memory of a command that grades: its processes by role.

- the grader: the command itself; reads, records and publishes;
- the workers: one a job, where there are several jobs; they rebuild, run cells, clean
  outputs (with one job the grader does that);
- the judges: draw, decide, name mistakes;
- the sandboxes: the server that they are forked from, and students' processes.
"""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

GRADER, WORKERS, JUDGES, SANDBOXES = ROLES = (
    "grader",
    "workers",
    "judges",
    "sandboxes",
)


@dataclass
class Watched:
    """What a command took.

    Attributes:
        seconds: from its start to its end.
        cpu: seconds of CPU time by role, of processes that have ended, too.
        megabytes: the most at one moment by role; what is shared counts once (PSS).
        most: the most at one moment, of all roles together.
    """

    seconds: float = 0.0
    cpu: dict[str, float] = field(default_factory=lambda: dict.fromkeys(ROLES, 0.0))
    megabytes: dict[str, float] = field(
        default_factory=lambda: dict.fromkeys(ROLES, 0.0)
    )
    most: float = 0.0


def watched(
    program: Sequence[str | Path], folder: Path, environment: Mapping[str, str],
    every: float = 1.0, look: Callable[[Mapping[str, float]], None] = lambda _: None,
) -> Watched:  # fmt: skip
    """Run a program as a user would, and watch it from outside.

    Args:
        every: seconds between two looks at its processes.
        look: called after each of them, with the megabytes of each role.

    Raises:
        SystemExit: it failed; with its output.
    """
    found, started = Watched(), time.monotonic()
    before = psutil.Process().cpu_times()
    with (folder / "command.log").open("w+") as log:
        command = subprocess.Popen(
            program, cwd=folder, env=dict(environment), stdout=log, stderr=log
        )
        living: dict[int, tuple[str, float]] = {}
        while _still_runs(command, every):
            memory, cpu = _look(command.pid)
            living |= cpu  # who has ended since is kept with what was seen last
            for role in ROLES:
                found.megabytes[role] = max(found.megabytes[role], memory[role])
            found.most = max(found.most, sum(memory.values()))
            look(memory)
        found.seconds = time.monotonic() - started
        log.seek(0)
        if command.returncode:
            raise SystemExit(log.read())
    after = psutil.Process().cpu_times()
    whole = sum(
        getattr(after, name) - getattr(before, name)
        for name in ("children_user", "children_system")
    )
    for role, seconds in living.values():
        found.cpu[role] += seconds
    found.cpu[SANDBOXES] = whole - sum(found.cpu.values())
    return found


def _still_runs(command: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        command.wait(seconds)
    except subprocess.TimeoutExpired:
        return True
    return False


def _look(command: int) -> tuple[dict[str, float], dict[int, tuple[str, float]]]:
    """Memory by role; role and CPU time so far of the processes that stay.

    Sandboxes come and go: theirs is what is left of the whole.
    """
    memory = dict.fromkeys(ROLES, 0.0)
    cpu: dict[int, tuple[str, float]] = {}
    with contextlib.suppress(psutil.Error):  # it has just ended
        for role, process in _by_role(psutil.Process(command), GRADER):
            with contextlib.suppress(psutil.Error):
                memory[role] += process.memory_full_info().pss / 2**20
                times = process.cpu_times()
                seconds = times.user + times.system
                if role == JUDGES:  # what decodes models for it has ended
                    seconds += times.children_user + times.children_system
                if role != SANDBOXES:
                    cpu[process.pid] = role, seconds
    return memory, cpu


def _by_role(
    process: psutil.Process, role: str
) -> Iterator[tuple[str, psutil.Process]]:
    """A process and all below it."""
    yield role, process
    for child in process.children():
        try:
            if child.status() != psutil.STATUS_ZOMBIE:  # it tells its name no more
                yield from _by_role(child, _role(child, role))
        except psutil.Error:
            continue


def _role(process: psutil.Process, parents: str) -> str:
    """What a process is, from how it was started; a fork looks as its parent does."""
    if parents in (JUDGES, SANDBOXES):
        return parents
    line = " ".join(process.cmdline())
    if "autograder.sandbox.fork_server" in line:
        return SANDBOXES
    if "autograder.grading.judge.judging" in line:
        return JUDGES
    if "autograder.grading.workers.worker" in line:
        # The process that workers are forked from, a worker, and then its judge.
        above = " ".join(process.parent().parent().cmdline())
        return JUDGES if "autograder.grading.workers.worker" in above else WORKERS
    return parents
