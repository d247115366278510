"""Walls around one process; nothing else of this project makes system calls.

A supervisor calls `fork(level)`; the child calls `enter(level, policy, room)` and from
then on sees the interpreter, a private working directory and nothing else. Everything
is ordered so that what is given up cannot be had back: namespaces, file system, limits,
user and capabilities, then Landlock and the system-call filter.

Levels, strongest first:

``namespaces``       root: own mounts, network, process table and user id
``user-namespaces``  the same walls built by an ordinary user in a user namespace
``landlock``         Landlock for files and signals, seccomp for the rest; no mounts
``bwrap``            a cold kernel below bubblewrap, which brings its own privileges
``none``             resource limits only

Standard library only, and no import of the rest of the package: below bubblewrap this
folder is all that is there of it.
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
