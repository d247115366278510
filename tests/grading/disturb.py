"""Stop and kill the processes of a grading command, as a bad day would."""

import contextlib
import random
import threading
import time
from collections.abc import Callable, Iterator

import psutil

ROLES = (
    "judge", "worker", "fork server", "sandbox server", "branch", "supervisor",
    "sandbox",
)  # fmt: skip
_KINDS = {
    "autograder.grading.judge.judging": ("judge",),
    "autograder.grading.workers.worker": ("fork server", "worker", "judge"),
    "autograder.sandbox.fork_server": (
        "sandbox server",
        "branch",
        "supervisor",
        "sandbox",
    ),
}  # by what was started, and by how often it was forked since
_GONE = (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess)


def processes(command: int, role: str) -> list[psutil.Process]:
    """The processes that have a role for a command."""
    try:
        family = psutil.Process(command).children(recursive=True)
    except _GONE:
        return []
    return [process for process in family if _role(process) == role]


def _role(process: psutil.Process) -> str:
    with contextlib.suppress(*_GONE):
        kind = _kind(process)
        forks, parent = 0, process.parent()
        while kind and parent and _kind(parent) == kind:
            forks, parent = forks + 1, parent.parent()
        roles = _KINDS.get(kind, ())
        return roles[forks] if forks < len(roles) else ""
    return ""


def _kind(process: psutil.Process) -> str:
    words = process.cmdline()
    return next((word for word in words if word in _KINDS), "")


def stop_at_random(
    command: int, over: threading.Event, seed: int, longest: float, pause: float
) -> list[str]:
    """Stop a process of a random role, for a random time, again and again.

    Args:
        longest: seconds that a stop takes at most; between two of them ``pause``.

    Returns:
        What was stopped, and for how long.
    """
    draw, stops = random.Random(seed), []
    while not over.wait(draw.uniform(0.0, pause)):
        role = draw.choice(ROLES)
        candidates = processes(command, role)
        if not candidates:
            continue
        process, seconds = draw.choice(candidates), draw.uniform(0.0, longest)
        with contextlib.suppress(*_GONE):
            process.suspend()
            stops.append(f"{role} {seconds:.0f} s")
        over.wait(seconds)
        with contextlib.suppress(*_GONE):
            process.resume()
    return stops


def kill_each(
    command: int, over: threading.Event, seed: int, within: float, *roles: str
) -> list[str]:
    """Kill one process of each role, each at a random moment of its life.

    Args:
        within: seconds after which, at most, one of a role is killed.
    """
    draw, kills = random.Random(seed), []
    for role in draw.sample(roles or ROLES, len(roles or ROLES)):
        while not over.is_set() and not processes(command, role):
            time.sleep(0.01)
        over.wait(draw.uniform(0.0, within))
        for _ in range(200):
            if over.is_set():
                break
            if candidates := processes(command, role):
                with contextlib.suppress(*_GONE):
                    draw.choice(candidates).kill()
                    kills.append(role)
                break
            time.sleep(0.01)
    return kills


@contextlib.contextmanager
def disturbed(
    command: int, disturbance: Callable[..., list[str]], *arguments: object
) -> Iterator[list[str]]:
    """Disturb a command until the block ends; the list says then what was done."""
    over, disturbances = threading.Event(), []
    thread = threading.Thread(
        target=lambda: disturbances.extend(disturbance(command, over, *arguments)),
        daemon=True,
    )
    thread.start()
    try:
        yield disturbances
    finally:
        over.set()
        thread.join()
