"""The command line by which bubblewrap isolates a sandbox (level ``bwrap``)."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from autograder.sandbox.confine import HOME, MB, ConfinementError, Policy, Room

HERE = Path(__file__).resolve().parent
_INSIDE = (
    *("__init__.py", "confine", "bwrap.py", "kit.py", "landlock_shims.py"),
    *("app.py", "eager_io.py", "lean_kernel.py"),
)


def command(policy: Policy, room: Room, module: str) -> list[str]:
    """Return the command line that runs `module` of this package in bubblewrap.

    Raises ConfinementError if there is no bubblewrap, or for root.
    """
    program = shutil.which("bwrap")
    if program is None or os.getuid() == 0:
        raise ConfinementError("bubblewrap is missing, or we are root")
    arguments = [program, "--unshare-all", "--die-with-parent", "--cap-drop", "ALL"]
    arguments += ["--proc", "/proc", "--dev", "/dev", "--hostname", "sandbox"]
    for place in ("/dev/shm", "/tmp", HOME):
        arguments += ["--size", str(policy.disk_mb * MB), "--tmpfs", place]
    arguments += _view(room)
    for name in (*_INSIDE, f"{module}.py"):
        arguments += ["--ro-bind", str(HERE / name), str(HERE / name)]
    if room.submission is not None:
        arguments += ["--ro-bind", str(room.submission), "/submission"]
    arguments += ["--remount-ro", "/dev", "--remount-ro", "/", "--"]
    arguments += [sys.executable, "-P", "-m", f"autograder.sandbox.{module}"]
    return arguments


def _view(room: Room) -> list[str]:
    """Arguments that bind what is visible and mask what is hidden, outer ones first."""
    arguments: list[str] = []
    hidden = set(room.hidden)
    for path in sorted({*room.visible, *hidden}, key=lambda p: p.count("/")):
        if path not in hidden:
            arguments += _bind(path)
        # Only what a visible folder would show has to be masked.
        elif any(path.startswith(folder + "/") for folder in room.visible):
            arguments += ["--size", str(MB), "--tmpfs", path]
    for path in room.kit:
        arguments += _bind(path)
    return arguments


def _bind(path: str) -> list[str]:
    """Return the arguments that make a path visible, read-only.

    A symbolic link becomes a new link with the same target.
    """
    if os.path.islink(path):
        return ["--symlink", os.readlink(path), path]
    return ["--ro-bind-try", path, path]
