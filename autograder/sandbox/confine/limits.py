"""Set the limits of a process, and give up its privileges."""

from __future__ import annotations

import contextlib
import os
import resource
import struct
from pathlib import Path

from autograder.sandbox.confine.policy import MB, Policy
from autograder.sandbox.confine.system import (
    NR_CAPSET,
    PR_CAPBSET_DROP,
    PR_SET_DUMPABLE,
    PR_SET_NO_NEW_PRIVS,
    prctl,
    syscall,
)


def set_limits(level: str, policy: Policy) -> None:
    """Set the limits of the calling process, such as its memory and its open files.

    Too large an allocation then raises MemoryError instead of ending the kernel.
    The limit on memory comes on top of what the process already has.
    """
    status = Path("/proc/self/status").read_text()
    data_bytes = int(status.split("VmData:")[1].split()[0]) * 1024
    processes = policy.processes + _shared_count(level)
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_DATA: data_bytes + policy.memory_mb * MB,
        resource.RLIMIT_FSIZE: policy.file_mb * MB,
        resource.RLIMIT_NOFILE: policy.open_files,
        resource.RLIMIT_NPROC: processes,
    }
    for name, value in limits.items():
        _, most = resource.getrlimit(name)
        value = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(name, (value, value))
    with open("/proc/self/oom_score_adj", "w") as score:
        score.write("1000")  # if the machine runs out, the sandbox goes first


def _shared_count(level: str) -> int:
    """The number of threads outside the sandbox that count against its limit."""
    alone = os.getuid() == 0 or level in ("user-namespaces", "bwrap")
    return 0 if alone else count_account_threads()


def count_account_threads() -> int:
    """The number of threads of this account, which RLIMIT_NPROC limits."""
    count = 0
    with contextlib.suppress(OSError):  # where there is no /proc
        for entry in os.scandir("/proc"):
            with contextlib.suppress(OSError):  # it has just ended
                if entry.name.isdigit() and entry.stat().st_uid == os.getuid():
                    count += len(os.listdir(f"/proc/{entry.name}/task"))
    return count


def drop_privileges(uid: int) -> None:
    """Give up all capabilities for good, and become `uid` if we are root."""
    if os.getuid() == 0:
        for capability in range(64):
            try:
                prctl(PR_CAPBSET_DROP, capability)
            except OSError:
                break  # the first number that this kernel does not know
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    # The header of capset's version 3 for this process, and empty sets.
    version_3 = struct.pack("Ii", 0x20080522, 0)
    syscall(NR_CAPSET, "capset", version_3, bytes(24))
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    prctl(PR_SET_DUMPABLE, 1)  # changing the user has hidden /proc/self from its owner
