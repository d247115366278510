"""Make the student's directories, and copy a submission into them."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from autograder.sandbox.confine.policy import MB, ConfinementError, Policy, Room


def furnish(policy: Policy, room: Room, home: Path) -> None:
    """Make the student's directories, and copy the submission into them.

    Raises ConfinementError if the submission is too large for the sandbox.
    """
    home.mkdir(parents=True, mode=0o700, exist_ok=True)
    for name in ("work", "tmp", "cache", "ipython", "matplotlib"):
        (home / name).mkdir(exist_ok=True)
    if room.submission is not None:
        copy_submission(room.submission, home / "work", policy)
    if room.uid != os.getuid():
        for path in [home, *home.rglob("*")]:
            os.chown(path, room.uid, room.uid, follow_symlinks=False)


def copy_submission(source: Path, target: Path, policy: Policy) -> None:
    """Copy regular files and directories; links, pipes and devices stay outside.

    Raises ConfinementError if they take more than half of what `policy` allows.
    """
    remaining_bytes, remaining_files = policy.disk_mb * MB // 2, policy.files // 2
    for folder, folders, names, handle in os.fwalk(source, follow_symlinks=False):
        folders.sort()  # listings depend on the order of creation
        place = target / Path(folder).relative_to(source)
        place.mkdir(exist_ok=True)
        remaining_files -= 1 + len(names)
        if remaining_files < 0:
            raise ConfinementError("the submission is too large for its sandbox")
        for name in sorted(names):
            remaining_bytes -= _copy_regular(
                handle, name, place / name, remaining_bytes
            )


def _copy_regular(folder: int, name: str, target: Path, most: int) -> int:
    """Copy one file if it is a regular one; return its size in bytes."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        source = open(os.open(name, flags, dir_fd=folder), "rb")  # noqa: SIM115
    except OSError:
        return 0
    with source:
        status = os.fstat(source.fileno())
        if not stat.S_ISREG(status.st_mode):
            return 0
        if status.st_size > most:
            raise ConfinementError("the submission is too large for its sandbox")
        with open(target, "wb") as copy:
            shutil.copyfileobj(source, copy)
        return status.st_size
