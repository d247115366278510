"""Confine one process, by the system calls that isolate it.

A supervisor calls `fork(level)`; the child calls `enter(level, policy, room)` and from
then on sees the interpreter, a private working directory and nothing else. The steps
are ordered so that nothing that was given up can be regained: namespaces, file system,
limits, user and capabilities, then Landlock and the system-call filter.

Levels, strongest first:

``namespaces``       root: own mounts, network, process table and user id
``user-namespaces``  the same, built by an ordinary user in a user namespace
``landlock``         Landlock for files and signals, seccomp for the rest; no mounts
``bwrap``            a cold kernel in bubblewrap, which has privileges of its own
``none``             resource limits only

This package uses the standard library only and imports nothing else of the project,
because inside bubblewrap most of that does not exist.
"""

from autograder.sandbox.confine.policy import (
    HOME,
    LEVELS,
    MB,
    ON_HOSTS_DISK,
    ConfinementError,
    Policy,
    Room,
)
from autograder.sandbox.confine.walls import (
    adopt_orphans,
    enter,
    forbidden_calls,
    fork,
    slot_uid,
)

__all__ = [
    "HOME",
    "LEVELS",
    "MB",
    "ON_HOSTS_DISK",
    "ConfinementError",
    "Policy",
    "Room",
    "adopt_orphans",
    "enter",
    "forbidden_calls",
    "fork",
    "slot_uid",
]
