"""Replacements for what does not work in Python and PyTorch at level ``landlock``.

There, a sandbox has neither ordinary sockets nor /dev/shm. So semaphores are
pipes, shared memory is files, and tensors are sent to other processes by value.
"""

from __future__ import annotations

import contextlib
import functools
import os
import select
import subprocess
import threading
import time
from fcntl import ioctl
from pathlib import Path
from termios import FIONREAD
from typing import Any

_MOST = 32767  # fits into a pipe, and is the maximum on other systems


def install(folder: Path) -> None:
    """Install all replacements in this process; shared memory is files in `folder`."""
    from ipykernel.iostream import IOPubThread

    IOPubThread._setup_pipe_in = _no_pipe  # type: ignore[method-assign]
    _make_semaphores_of_pipes()
    _share_memory_in(folder)
    _send_tensors_by_value()


def _no_pipe(thread: Any) -> None:
    """Do not open the pipe for what forked processes print, because it needs a socket.

    This replaces a method of ipykernel's `IOPubThread`, which is given as ``thread``.
    """
    thread._pipe_flag = False


def run_commands_by_pipe(shell: Any) -> None:
    """Make ``!command`` work without a terminal."""
    shell.system = functools.partial(_system_by_pipe, shell)


def _system_by_pipe(shell: Any, command: str) -> None:
    """Run a shell command, and print its output as it comes."""
    line = shell.var_expand(command, depth=1)
    with subprocess.Popen(
        line, shell=True, text=True, errors="replace", stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:  # fmt: skip
        for text in process.stdout or ():
            print(text, end="", flush=True)
    shell.user_ns["_exit_code"] = process.returncode


def _send_tensors_by_value() -> None:
    """Make DataLoader workers send tensors through their pipe.

    PyTorch passes file descriptors through a socket, which this sandbox does not have.
    """
    from multiprocessing.reduction import ForkingPickler

    import torch
    import torch.multiprocessing  # registers its own reducers first

    reducers = ForkingPickler._extra_reducers  # type: ignore[attr-defined]
    for kind in [kind for kind in reducers if kind.__module__.startswith("torch")]:
        del reducers[kind]
    # Used when a worker assembles a batch, which is sent by value all the same.
    plain = classmethod(lambda kind, size: kind(size))
    torch.UntypedStorage._new_using_fd_cpu = plain  # type: ignore[assignment]


def _make_semaphores_of_pipes() -> None:
    from multiprocessing import synchronize

    synchronize._multiprocessing.SemLock = PipeSemaphore  # type: ignore[attr-defined]
    synchronize.SEM_VALUE_MAX = _MOST  # type: ignore[attr-defined]


def _share_memory_in(folder: Path) -> None:
    """Make shared memory of files in `folder`, as /dev/shm is out of reach."""
    from multiprocessing import heap, shared_memory

    def open_shared(path: str, flags: int, mode: int = 0o600) -> int:
        return os.open(folder / path.lstrip("/"), flags, mode)

    def unlink_shared(path: str) -> None:
        os.unlink(folder / path.lstrip("/"))

    place = shared_memory._posixshmem  # type: ignore[attr-defined]
    place.shm_open, place.shm_unlink = open_shared, unlink_shared
    # Without /dev/shm here, `multiprocessing` takes its temporary folder.
    heap.Arena._dir_candidates = []  # type: ignore[attr-defined]


class PipeSemaphore:
    """A replacement for `_multiprocessing.SemLock`, for processes that are forked.

    Each byte in the pipe allows one acquisition.
    """

    SEM_VALUE_MAX = _MOST
    name = None  # others cannot find it

    def __init__(
        self, kind: int, value: int, maxvalue: int, name: str, unlink: bool
    ) -> None:
        """Create a semaphore for ``value`` acquisitions; arguments as of `SemLock`."""
        self.kind, self.maxvalue = kind, maxvalue
        self._source, self._target = os.pipe()
        self.handle = self._source
        os.set_blocking(self._source, False)
        os.write(self._target, bytes(value))
        self._held = 0  # by this process
        self._owner = 0

    def __del__(self) -> None:
        for end in (self._source, self._target):
            with contextlib.suppress(OSError):
                os.close(end)

    def acquire(self, block: bool = True, timeout: float | None = None) -> bool:
        """Acquire the semaphore, waiting if need be; return whether that succeeded."""
        if self._is_recursive() and self._is_mine():
            self._held += 1
            return True
        wait = None if block else 0.0
        if block and timeout is not None:
            wait = max(timeout, 0.0)
        if not self._take(wait):
            return False
        self._held += 1
        self._owner = threading.get_ident()
        return True

    def _take(self, wait: float | None) -> bool:
        """Read a byte from the pipe within `wait` seconds; return if there was one."""
        deadline = None if wait is None else time.monotonic() + wait
        while True:
            with contextlib.suppress(BlockingIOError):
                return bool(os.read(self._source, 1))
            remaining = None if deadline is None else deadline - time.monotonic()
            if remaining is not None and remaining <= 0:
                return False
            poll = select.poll()
            poll.register(self._source, select.POLLIN)
            poll.poll(None if remaining is None else remaining * 1000)

    def release(self) -> None:
        """Release the semaphore.

        Raises AssertionError or ValueError, like those of `multiprocessing`.
        """
        if self._is_recursive():
            if not self._is_mine():
                raise AssertionError(
                    "attempt to release recursive lock not owned by thread"
                )
            if self._held > 1:
                self._held -= 1
                return
        elif self._get_value() >= self.maxvalue:
            raise ValueError("semaphore or lock released too many times")
        os.write(self._target, b"x")
        self._held -= 1

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def _is_recursive(self) -> bool:
        return self.kind == 0  # the number of a recursive lock in `multiprocessing`

    def _count(self) -> int:
        return self._held

    def _is_mine(self) -> bool:
        return self._held > 0 and self._owner == threading.get_ident()

    def _get_value(self) -> int:
        return int.from_bytes(ioctl(self._source, FIONREAD, bytes(4)), "little")

    def _is_zero(self) -> bool:
        return self._get_value() == 0

    def _after_fork(self) -> None:
        self._held = 0
