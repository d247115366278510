"""Start child processes, limit a process's memory, and end it with its parent."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG = 1


def environment(variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment and import path, with these variables added."""
    paths = [path or os.getcwd() for path in sys.path]
    return {**os.environ, **(variables or {}), "PYTHONPATH": os.pathsep.join(paths)}


def start(
    command: Sequence[str], variables: Mapping[str, str] | None = None,
    stdout: int | None = None,
) -> tuple[subprocess.Popen[bytes], socket.socket]:  # fmt: skip
    """Start a child process; return it, and this process's end of a socket pair.

    Args:
        command: the command line, to which the file descriptor of the child's end
            is added.
        variables: environment variables, in addition to those of this process.
    """
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [*command, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env=environment(variables),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            start_new_session=True,  # Ctrl-C is for us to handle
        )
    return process, ours


def nbgrader(
    folder: Path, *arguments: str, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run an nbgrader command in a course folder; `options` go to `subprocess.run`."""
    command = [sys.executable, "-m", "nbgrader", *arguments]
    return subprocess.run(command, cwd=folder, text=True, check=False, **options)


def end_with_parent() -> None:
    """Ask the kernel to kill this process when its parent ends (Linux only)."""
    import ctypes  # nothing else here needs it

    with contextlib.suppress(OSError, AttributeError):  # no Linux
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def limit(data: int) -> None:
    """Limit this process's private memory to ``data`` bytes, if the system can."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (data, data))
