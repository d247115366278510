"""The warm server: imports what notebooks import, then forks a supervisor per kernel.

Started by `client.py` as ``python -m autograder.kernel.zygote`` with an empty
environment, one line of JSON on its standard input, and that input kept open: its end
is the server's end, and the end of every kernel. It holds no secret (what it has
imported, every kernel can read), has one thread (a fork copies only one), and never
touches CUDA (a context does not survive a fork).
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

from autograder.kernel import confine, kit, selftest, supervisor
from autograder.kernel.cgroup import Hierarchy
from autograder.kernel.confine import Policy
from autograder.kernel.processes import end_all_children
from autograder.kernel.slot import remove_tree

# What the first cells of a notebook import, and what those imports leave for later:
# the first optimiser imports torch._dynamo, the first kernel its debugger. Not
# matplotlib_inline: it looks for a kernel when it is imported, and here is none.
WARM = (
    *("numpy", "pandas", "pandas.io.formats.html", "seaborn", "tqdm", "ipywidgets"),
    *("torch", "torch._dynamo", "torch.utils.data", "torch.testing"),
    *("torch.multiprocessing", "multiprocessing.queues", "sqlite3"),
    *("matplotlib.pyplot", "matplotlib.font_manager"),
    *("matplotlib.backends.backend_agg", "encodings.utf_16_be"),
    *("PIL.PngImagePlugin", "PIL.BmpImagePlugin", "PIL.GifImagePlugin"),
    *("PIL.JpegImagePlugin", "PIL.PpmImagePlugin", "IPython.core.pylabtools"),
    *("ipykernel.kernelapp", "ipykernel.debugger", "tornado.platform.asyncio"),
    *("IPython", "IPython.core.completerlib", "IPython.core.debugger", "jedi"),
    *("IPython.core.logger", "IPython.core.oinspect", "IPython.utils.timing"),
    *("IPython.core.magics.execution", "IPython.core.magics.ast_mod"),
    *("IPython.extensions.storemagic", "IPython.utils.wildcard", "asttokens"),
    *("executing", "executing.executing", "pexpect", "pdb", "faulthandler"),
)
LARGEST_REQUEST = 1 << 16


class UnfitError(RuntimeError):
    """The server must not fork kernels from the state that it is in."""


def preload(names: tuple[str, ...] = WARM) -> list[str]:
    """Import `names` and the student's kit; what is not installed is left out.

    Returns what is wrong with modules of the kit: a unit in the making must not keep
    the others from being graded.
    """
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
    student = importlib.import_module("autograder").__path__[0] + "/student"
    broken: list[str] = []
    for module in pkgutil.walk_packages(
        [student], "autograder.student.", broken.append
    ):
        try:
            importlib.import_module(module.name)
        except Exception as error:
            broken.append(f"{module.name}: {error}")
    return broken


def check_fitness() -> None:
    """Raises UnfitError over a second thread or a module that ships to nobody."""
    if (threads := len(os.listdir("/proc/self/task"))) != 1:
        raise UnfitError(f"an import started {threads - 1} threads")
    ours = [kit.PACKAGE / "kernel", *map(Path, kit.kit_paths())]
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not name.startswith("autograder.") or not isinstance(file, str):
            continue
        if not any(map(Path(file).is_relative_to, ours)):
            raise UnfitError(f"{name} was imported; students do not get it")


class Server:
    """Accepts requests until its own standard input ends."""

    def __init__(self, run: Path, level: str, life: int, groups: Path | None) -> None:
        self.run, self.level, self.life, self.groups = run, level, life, groups
        self.alive, self.alive_end = os.pipe()  # kernels see our death as its end
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(str(run / "zygote"))
        self.listener.listen(64)

    def serve(self) -> None:
        """Fork a supervisor for each connection."""
        while True:
            doors: list[socket.socket | int] = [self.listener, self.life]
            ready, _, _ = select.select(doors, [], [], 1.0)
            _has_children()
            if self.life in ready:
                return
            if self.listener in ready:
                client, _ = self.listener.accept()
                if os.fork() == 0:
                    self._become_supervisor(client)
                client.close()

    def _become_supervisor(self, client: socket.socket) -> None:
        try:
            self.listener.close()
            os.close(self.life)
            os.close(self.alive_end)
            text, fds, _, _ = socket.recv_fds(client, LARGEST_REQUEST, 1)
            if text:
                request = json.loads(text)
                level = self._level_for(request["policy"]["level"])
                supervisor.supervise(
                    request, client, fds[0], self.alive, level, self.groups
                )
        finally:
            os._exit(0)

    def _level_for(self, wanted: str) -> str:
        """The level asked for if it works here, else ``none``."""
        if wanted in ("", self.level, "none"):
            return wanted or self.level
        return "none" if selftest.failures(wanted, _view) else wanted

    def close(self) -> None:
        """Let the supervisors end their kernels, end what is left, remove all."""
        os.close(self.alive_end)
        patience = time.monotonic() + 10
        while _has_children() and time.monotonic() < patience:
            time.sleep(0.005)
        end_all_children()
        remove_tree(self.run)


def _has_children() -> bool:
    """Collect those that have ended; whether any is left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _view(slot: Path, submission: Path) -> confine.Room:
    return supervisor.room_for(Policy(), slot, submission)


def main() -> None:
    """Test the walls, warm up, say so on standard output, and serve."""
    life, answer = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    settings = json.loads(_read_line(life))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.umask(0o077)
    confine.adopt_orphans()
    try:
        server, greeting = _prepare(settings, life)
    except Exception as error:
        os.write(answer, json.dumps({"error": str(error)}).encode() + b"\n")
        return
    try:
        os.write(answer, json.dumps(greeting).encode() + b"\n")
        os.close(answer)
        server.serve()
    finally:
        server.close()


def _prepare(settings: dict[str, Any], life: int) -> tuple[Server, dict[str, Any]]:
    """Everything before the first request. Raises UnfitError and what imports raise."""
    level, reasons = selftest.probe(_view, settings["level"])
    broken = preload() if level != "bwrap" else []
    check_fitness()
    groups = Hierarchy().place()
    server = Server(Path(settings["run"]), level, life, groups)
    gc.collect()
    gc.freeze()
    greeting = {"level": level, "reasons": reasons, "broken": broken}
    return server, {**greeting, "grouped": groups is not None}


def _read_line(fd: int) -> bytes:
    """One line, and not a byte of what follows."""
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(fd, 1)
        if not byte:
            raise EOFError("the client ended before it said anything")
        line += byte
    return line


if __name__ == "__main__":
    main()
