"""Make Linux look like Windows to what ships to students, as far as that can be done.

Python imports this at its start, where the folder is on PYTHONPATH. Modules and
functions that Windows lacks are hidden from the package and from notebooks; packages
for Linux keep theirs. Text files are read and written in cp1252, with "\\r\\n", unless
an encoding is named. What is open, or mapped, can neither be replaced nor removed. The
clock of CPU time ticks 64 times in a second.
"""

import builtins
import io
import os
import signal
import sys
import time
from types import ModuleType

ABSENT = {
    *("curses", "fcntl", "grp", "posix", "pty", "pwd", "readline", "resource"),
    *("syslog", "termios", "tty", "_posixshmem", "_posixsubprocess"),
}
LACKING = {
    "os": "chown chroot fork forkpty getpgid getsid getuid geteuid killpg mkfifo nice "
    "sched_getaffinity setsid sysconf uname",
    "select": "epoll poll POLLIN POLLOUT",
    "signal": "SIGALRM SIGHUP SIGKILL alarm setitimer pthread_sigmask",
    "socket": "AF_UNIX MSG_DONTWAIT SCM_RIGHTS",
    "time": "tzset clock_gettime pthread_getcpuclockid",
}
OURS = ("autograder", "__main__")
for missing in ("SIGALRM", "alarm", "setitimer"):  # nor may anybody use them for us
    delattr(signal, missing)
del os.fork


class Lacking(ModuleType):
    """A module of the standard library without what Windows has not."""

    def __getattr__(self, name: str) -> object:
        module_name = self.__name__
        if name in LACKING[module_name].split():
            raise AttributeError(
                f"module {module_name!r} has no attribute {name!r} on Windows"
            )
        return getattr(sys.modules[module_name], name)


_import = builtins.__import__
_lacking = {name: Lacking(name) for name in LACKING}


def importing(name, globals=None, locals=None, fromlist=(), level=0):
    ours = (globals or {}).get("__name__", "").split(".")[0] in OURS
    if ours and name.split(".")[0] in ABSENT:
        raise ModuleNotFoundError(f"No module named {name!r} on Windows", name=name)
    module = _import(name, globals, locals, fromlist, level)
    if hasattr(sys.modules.get("safetensors"), "serialize_file"):
        _guard(sys.modules["safetensors"], "serialize_file", 1)
    return _lacking.get(name, module) if ours else module


def in_use(path: object) -> bool:
    """Whether this process has a file open, or mapped; a device may be, by many."""
    real = os.path.realpath(path)
    if not os.path.isfile(real):
        return False
    opened = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
    with _open("/proc/self/maps", encoding="utf-8") as maps:
        mapped = any(line.rstrip("\n").endswith(f" {real}") for line in maps)
    return mapped or any(os.path.realpath(link) == real for link in opened)


def _guard(module: ModuleType, name: str, *positions: int) -> None:
    """Have a function refuse paths of files that are in use."""
    function = getattr(module, name)
    if hasattr(function, "guarded"):
        return

    def guarded(*arguments, **options):
        for position in positions:
            if in_use(arguments[position]):
                raise PermissionError(13, "in use, as on Windows", arguments[position])
        return function(*arguments, **options)

    guarded.guarded = True
    setattr(module, name, guarded)


_open = io.open


def opening(
    file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, *rest
):
    if "b" not in mode:
        encoding = "cp1252" if encoding in (None, "locale") else encoding
        written = not mode.startswith("r") and newline is None
        newline = "\r\n" if written else newline
    if mode.startswith("w") and isinstance(file, (str, os.PathLike)) and in_use(file):
        raise PermissionError(13, "in use, as on Windows", file)
    return _open(file, mode, buffering, encoding, errors, newline, *rest)


for name, positions in {"replace": (0, 1), "rename": (0, 1), "unlink": (0,)}.items():
    _guard(os, name, *positions)
_guard(os, "remove", 0)
_process_time = time.process_time
time.process_time = lambda: _process_time() * 64 // 1 / 64
builtins.open = io.open = opening
builtins.__import__ = importing
