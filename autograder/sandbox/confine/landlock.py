"""Confine files, TCP, abstract sockets and signals by Landlock, a part of Linux.

This is for machines on which a sandbox cannot have mounts of its own.
"""

from __future__ import annotations

import os
import stat
import struct

from autograder.sandbox.confine.policy import ConfinementError, Room
from autograder.sandbox.confine.system import (
    NR_LANDLOCK_ADD,
    NR_LANDLOCK_CREATE,
    NR_LANDLOCK_RESTRICT,
    syscall,
)

_FS_EXECUTE, _FS_WRITE, _FS_READ, _FS_READ_DIR = 1, 2, 4, 8
_FS_TRUNCATE = 1 << 14
_FS_ALL = (1 << 16) - 1
_FS_OF_FILES = _FS_EXECUTE | _FS_WRITE | _FS_READ | _FS_TRUNCATE | 1 << 15
_FS_DEVICES = 1 << 6 | 1 << 11  # making devices: character and block

_READ_ONLY = _FS_EXECUTE | _FS_READ | _FS_READ_DIR
_PROC = ("cpuinfo", "meminfo", "stat", "self/status", "self/stat", "self/statm")


def restrict(room: Room) -> None:
    """Restrict this process: its files, TCP, abstract sockets and signals.

    It keeps access to the paths of `room` and a few others. Needs Linux 6.12.
    """
    # This call only asks for the version.
    abi = syscall(NR_LANDLOCK_CREATE, "Landlock", None, 0, 1)
    if abi < 6:
        raise ConfinementError(f"Landlock ABI {abi} does not confine signals")
    tcp, scoped = 3, 3  # bind and connect; abstract sockets and signals
    ruleset_attributes = struct.pack("QQQ", _FS_ALL, tcp, scoped)
    ruleset = syscall(NR_LANDLOCK_CREATE, "Landlock", ruleset_attributes, 24, 0)
    hidden = {os.path.realpath(path) for path in room.hidden}
    for path in room.visible:
        _allow_around(ruleset, os.path.realpath(path), hidden)
    for path in room.kit:
        _allow(ruleset, path, _READ_ONLY)
    for name in _PROC:
        _allow(ruleset, f"/proc/{name}", _FS_READ)
    _allow(ruleset, "/proc/self/fd", _FS_READ_DIR | _FS_READ)
    for name in ("zero", "random", "urandom"):
        _allow(ruleset, f"/dev/{name}", _FS_READ)
    _allow(ruleset, "/dev/null", _FS_READ | _FS_WRITE | _FS_TRUNCATE)
    _allow(ruleset, str(room.home("landlock")), _FS_ALL & ~_FS_DEVICES)
    syscall(NR_LANDLOCK_RESTRICT, "Landlock", ruleset, 0)
    os.close(ruleset)


def _allow_around(ruleset: int, path: str, hidden: set[str]) -> None:
    """Allow reading `path` and all below it, except `hidden` paths.

    Rules of a Landlock ruleset (a descriptor) can only add permissions. So what is
    beside a hidden path is allowed one by one.
    """
    if path in hidden or os.path.islink(path):
        return
    if not any(
        hidden_path.startswith(path.rstrip("/") + "/") for hidden_path in hidden
    ):
        _allow(ruleset, path, _READ_ONLY)
        return
    _allow(ruleset, path, _FS_READ_DIR)
    for name in os.listdir(path):
        _allow_around(ruleset, os.path.join(path, name), hidden)


def _allow(ruleset: int, path: str, access: int) -> None:
    """Allow access to a path, if it exists, and to all below it.

    `access` is a sum of `_FS_...` bits.
    """
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no permission
    if not stat.S_ISDIR(os.fstat(handle).st_mode):
        access &= _FS_OF_FILES
    rule = struct.pack("=Qi", access, handle)
    syscall(NR_LANDLOCK_ADD, f"Landlock {path}", ruleset, 1, rule, 0)
    os.close(handle)
