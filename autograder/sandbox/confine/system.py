"""System calls that the C library or Python does not offer, and their numbers."""

from __future__ import annotations

import ctypes
import os
import platform

LIBC = ctypes.CDLL(None, use_errno=True)
X86 = platform.machine() == "x86_64"

# Numbers for calls that the C library does not wrap; above 423 all machines agree.
NR_CAPSET = 126 if X86 else 91
NR_PIVOT_ROOT = 155 if X86 else 41
NR_MOUNT_SETATTR = 442
NR_LANDLOCK_CREATE, NR_LANDLOCK_ADD, NR_LANDLOCK_RESTRICT = 444, 445, 446

NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x20000, 0x2000000, 0x4000000, 0x8000000
NEWUSER, NEWPID, NEWNET, NEWTIME = 0x10000000, 0x20000000, 0x40000000, 0x80
NEW_ANY = NEWNS | NEWCGROUP | NEWUTS | NEWIPC | NEWUSER | NEWPID | NEWNET | NEWTIME

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
MNT_DETACH, AT_FDCWD, AT_RECURSIVE = 2, -100, 0x8000

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP = 1, 4, 22
PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 24, 36, 38


def check(result: int, action: str) -> int:
    """Turn the C library's -1 into an OSError that names the action that failed."""
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{action}: {os.strerror(number)}")
    return result


def syscall(number: int, action: str, *args: int | bytes | None) -> int:
    """Make a system call by its number. Raises OSError, which names the `action`."""
    longs = [ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args]
    return check(LIBC.syscall(ctypes.c_long(number), *longs), action)


def prctl(option: int, *args: int | bytes) -> int:
    """Change an attribute of the calling process. Raises OSError."""
    longs = [ctypes.c_ulong(arg) if isinstance(arg, int) else arg for arg in args]
    longs += [ctypes.c_ulong(0)] * (4 - len(longs))
    return check(LIBC.prctl(option, *longs), f"prctl {option}")


def unshare(flags: int) -> None:
    """Leave the host's namespaces that `flags` name. Raises OSError."""
    check(LIBC.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    """Call mount(2); an empty `kind` or `data` is passed as NULL. Raises OSError."""
    args = (os.fsencode(source), os.fsencode(target), kind.encode() or None)
    result = LIBC.mount(*args, ctypes.c_ulong(flags), data.encode() or None)
    check(result, f"mount {target}")
