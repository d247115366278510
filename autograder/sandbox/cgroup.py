"""A control group (version 2) for each sandbox, on machines that allow it.

It lets Linux measure all that a sandbox holds, and end it alone. Without root,
it takes a delegated unit: `systemd-run --user --scope -p Delegate=yes`.
"""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from pathlib import Path

from autograder.sandbox.confine import MB, Policy

_NEEDED = {"memory", "pids"}
_TAKEN = _NEEDED | {"cpu"}
_GRADERS = "graders"  # the group of the processes that start sandboxes
_PREFIX = "autograder-sandbox-"
_OLD_SECONDS = 120.0  # a younger group may be empty, as its sandbox is starting
_SPARE = 1.25  # an allocation should fail in Python before the kernel ends the sandbox
_END_SECONDS = 5.0


@dataclass(frozen=True)
class Hierarchy:
    """The machine's control groups, as two files in /proc describe them."""

    mounts: Path = Path("/proc/self/mountinfo")
    membership: Path = Path("/proc/self/cgroup")

    def place(self) -> Path | None:
        """Find and prepare the group for those of sandboxes; None if there is none."""
        for folder in self._candidates():
            with contextlib.suppress(OSError):
                if set(_words(folder / "cgroup.controllers")) >= _NEEDED:
                    _enable_controllers(folder)
                    _sweep(folder)
                    return folder
        return None

    def _candidates(self) -> list[Path]:
        """The groups in which we may make groups, if the controllers allow it."""
        top = self._mount_point()
        if top is None:
            return []
        name = self._group_name()
        # The real top is not a group itself, and may hold processes as well.
        if os.getuid() == 0 and not (top / "cgroup.type").exists():
            return [top]
        group = top / name
        if group.name == _GRADERS:  # moved there by another grader
            return [group.parent]
        in_container = os.getuid() == 0 and not name
        return [group] if in_container or _is_delegated(group) else []

    def _mount_point(self) -> Path | None:
        """Where control groups (version 2) are mounted; None if nowhere."""
        with contextlib.suppress(OSError):
            for line in self.mounts.read_text().splitlines():
                mount, _, kind = line.partition(" - ")
                if kind.startswith("cgroup2 "):
                    return Path(mount.split()[4])
        return None

    def _group_name(self) -> str:
        """Our group's path below the mount, "" for the mount itself."""
        for line in self.membership.read_text().splitlines():
            if line.startswith("0::"):
                return line[3:].strip("/")
        return ""


def _is_delegated(folder: Path) -> bool:
    """Whether systemd lets us manage the groups below this one."""
    for name in ("user.delegate", "trusted.delegate"):
        with contextlib.suppress(OSError):
            return os.getxattr(folder, name) == b"1"
    return False


def _words(file: Path) -> list[str]:
    return file.read_text().split()


def _enable_controllers(folder: Path) -> None:
    """Enable the controllers that we need for a group's children. Raises OSError."""
    offered = set(_words(folder / "cgroup.controllers")) & _TAKEN
    enabled = set(_words(folder / "cgroup.subtree_control"))
    if not (wanted := offered - enabled):
        return
    order = " ".join(f"+{name}" for name in sorted(wanted))
    try:
        (folder / "cgroup.subtree_control").write_text(order)
    except OSError:  # refused while the group itself holds processes
        _move_processes(folder)
        (folder / "cgroup.subtree_control").write_text(order)


def _move_processes(folder: Path) -> None:
    """Move a group's processes into a child, as a group with children can hold none."""
    below = folder / _GRADERS
    below.mkdir(exist_ok=True)
    for process in _words(folder / "cgroup.procs"):
        with contextlib.suppress(ProcessLookupError):
            (below / "cgroup.procs").write_text(process)


def _sweep(folder: Path) -> None:
    """Remove old control groups in `folder` that killed supervisors left behind."""
    for group in folder.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):  # not empty: it is another grader's
            if time.time() - group.stat().st_mtime > _OLD_SECONDS:
                group.rmdir()


class Group:
    """The control group of one sandbox, which limits its memory and its processes.

    Raises OSError if it cannot be made.
    """

    def __init__(self, place: Path, name: str, policy: Policy) -> None:
        """Create the group below `place`, and set the limits of the policy."""
        self.folder = place / f"{_PREFIX}{name}"
        self.folder.mkdir()
        # What the sandbox writes counts, too, as its disk may be in memory.
        memory = int(policy.memory_mb * _SPARE + policy.disk_mb) * MB
        self._set("memory.max", memory)
        self._set("memory.oom.group", 1)
        self._set("pids.max", policy.processes)
        for file, value in (("memory.swap.max", 0), ("cpu.weight", 100)):
            if (self.folder / file).exists():  # else no swap, or no such controller
                self._set(file, value)

    def _set(self, name: str, value: int) -> None:
        (self.folder / name).write_text(str(value))

    def enter(self) -> None:
        """Move the calling process into the group, and so all that it starts."""
        (self.folder / "cgroup.procs").write_text("0")

    def was_too_large(self) -> bool:
        """Whether the kernel has killed a process of the group to free memory."""
        with contextlib.suppress(OSError):
            words = _words(self.folder / "memory.events")
            counts = dict(zip(words[::2], map(int, words[1::2]), strict=True))
            return counts.get("oom_kill", 0) > 0
        return False

    def remove(self) -> None:
        """Kill what is left in the group, and remove it."""
        with contextlib.suppress(OSError):
            (self.folder / "cgroup.kill").write_text("1")
        deadline = time.monotonic() + _END_SECONDS
        while self.folder.exists() and time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                self.folder.rmdir()
                return
            time.sleep(0.005)
