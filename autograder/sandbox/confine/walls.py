"""Confine the calling process, step by step, so that nothing can be undone."""

from __future__ import annotations

import fcntl
import os
import socket
import struct
from collections.abc import Callable
from pathlib import Path

from autograder.sandbox.confine import landlock
from autograder.sandbox.confine.home import furnish
from autograder.sandbox.confine.limits import drop_privileges, set_limits
from autograder.sandbox.confine.policy import FIRST_UID, HOME, NAMESPACES, Policy, Room
from autograder.sandbox.confine.seccomp import refuse_calls
from autograder.sandbox.confine.system import (
    LIBC,
    NEWCGROUP,
    NEWIPC,
    NEWNET,
    NEWNS,
    NEWPID,
    NEWUSER,
    NEWUTS,
    PR_SET_CHILD_SUBREAPER,
    PR_SET_PDEATHSIG,
    check,
    mount,
    prctl,
    unshare,
)
from autograder.sandbox.confine.view import build_root


def fork(level: str) -> int:
    """Fork the sandbox's first process; return its pid, or 0 in the child.

    The level of isolation also applies to later children of the calling process, which
    should therefore do nothing else. Raises OSError.
    """
    if level == "user-namespaces":
        uid, gid = os.getuid(), os.getgid()
        unshare(NEWUSER | NEWPID)
        # Linux demands this before an ordinary user may map a group.
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    elif level == "namespaces":
        unshare(NEWPID)
    else:
        adopt_orphans()
    return os.fork()


def adopt_orphans() -> None:
    """Make the calling process the parent of all that its children leave behind."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)


def slot_uid(supervisor: int) -> int:
    """The user id in a sandbox: one per supervisor pid if we are root, else our own."""
    return FIRST_UID + supervisor if os.getuid() == 0 else os.getuid()


def enter(level: str, policy: Policy, room: Room) -> None:
    """Confine the calling process, and change to its private working directory.

    `level` is one of `policy.LEVELS`.

    Raises:
        OSError, ConfinementError: it is not confined, and may run no student code.
    """
    os.umask(0o022)
    if level in NAMESPACES:
        unshare(NEWNS | NEWNET | NEWIPC | NEWUTS | NEWCGROUP)
        _loopback_up()
        socket.sethostname("sandbox")
        build_root(policy, room)
    else:
        furnish(policy, room, room.home(level))
    set_limits(level, policy)
    if level != "none" or os.getuid() == 0:  # as root it could read hidden references
        drop_privileges(room.uid)
    # Die with the supervisor; set only now, as a change of user resets it.
    prctl(PR_SET_PDEATHSIG, 9)
    if level == "landlock":
        landlock.restrict(room)
    if level != "none":
        refuse_calls(level)
    os.chdir(room.home(level) / "work")


def _loopback_up() -> None:
    """Bring up the loopback interface, since ipykernel and tutorials use 127.0.0.1."""
    siocsifflags, up_and_running = 0x8914, 0x41
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as anything:
        request = struct.pack("16sH14x", b"lo", up_and_running)
        fcntl.ioctl(anything, siocsifflags, request)


def forbidden_calls() -> list[str]:
    """Names of calls that should be refused in a sandbox but were not (self-test)."""
    ptrace_me = 0
    calls = {
        "ptrace": lambda: check(LIBC.ptrace(ptrace_me, 0, None, None), "ptrace"),
        "unshare": lambda: unshare(NEWUSER),
        "mount": lambda: mount("none", HOME, "tmpfs", 0),
    }
    return [name for name, call in calls.items() if _succeeds(call)]


def _succeeds(call: Callable[[], object]) -> bool:
    """Whether a system call is carried out, rather than refused with an error."""
    try:
        call()
    except OSError:
        return False
    return True
