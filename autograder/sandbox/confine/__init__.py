"""Confinement of one process, by the system calls that isolate it.

A supervisor calls `fork(level)`. The child calls `enter(level, policy, room)`,
and then sees little more than the interpreter and a private working directory.

Levels, strongest first:

``namespaces``       root: own mounts, network, process table and user id
``user-namespaces``  the same, built by an ordinary user in a user namespace
``landlock``         Landlock for files and signals, seccomp for the rest
``bwrap``            a cold kernel in bubblewrap, with privileges of its own
``none``             resource limits only

Only the standard library is imported: bubblewrap hides most of the project.
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
