"""The warm server, which imports what notebooks need and is forked for sandboxes.

It ends when its standard input is closed. It holds no secret, because every
kernel can read its memory. It has one thread and never uses CUDA, because
neither threads nor CUDA survive a fork.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from autograder.sandbox import (
    confine,
    hugepages,
    inside,
    kit,
    logs,
    selftest,
    shipped,
    supervisor,
)
from autograder.sandbox.cgroup import Hierarchy
from autograder.sandbox.confine import Policy
from autograder.sandbox.launch import imported
from autograder.sandbox.processes import collect_children, end_all_children
from autograder.sandbox.slot import remove_tree
from autograder.sandbox.warm import ON_DEMAND, WARM

LARGEST_REQUEST = 1 << 16
_view = functools.partial(supervisor.room_for, Policy())
_MORE = 3  # sandboxes; after so many, a whole class is expected


class UnfitError(RuntimeError):
    """The server must not fork kernels from the state that it is in."""


def import_all(names: Iterable[str]) -> None:
    """Import the named modules; skip those that cannot be imported."""
    for name in names:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def preload() -> list[str]:
    """Import what every notebook needs, and the modules that ship to students.

    Returns a message for each module that ships but cannot be imported.
    """
    import_all(WARM)
    broken: list[str] = []
    lost = set[str]()  # packages that cannot be imported
    with shipped.only_shipped_imports():
        for module in kit.modules(broken.append):
            try:
                if module.rpartition(".")[0] not in lost:
                    importlib.import_module(module)
            except Exception as error:
                lost.add(module)
                broken.append(f"{module}: {shipped.describe(error)}")
    return broken


def ready_to_fork() -> None:
    """Prepare to fork after all imports: refresh caches, enable garbage collection."""
    sys.path_importer_cache.clear()  # listings of folders, as the server sees them
    kit.interpreter_paths()  # cached from here on
    kit.find_courses()
    imported()


def check_fitness() -> None:
    """Raise UnfitError if there is a second thread, or a module that does not ship."""
    if (threads := len(os.listdir("/proc/self/task"))) != 1:
        raise UnfitError(f"an import started {threads - 1} threads")
    for name, module in list(sys.modules.items()):
        file, ours = getattr(module, "__file__", None), name.startswith("autograder.")
        if ours and isinstance(file, str) and not shipped.ships(Path(file)):
            raise UnfitError(f"{name} was imported; students do not get it")


class Server:
    """The warm server, which passes each request for a sandbox to a fork of itself.

    Args:
        run: the folder of its socket, which is removed at the end.
        level: how sandboxes are isolated, one of `confine.LEVELS`.
        lifeline: the descriptor of its standard input, whose end ends the server.
        groups: the control group below which each sandbox gets one; None for none.
    """

    def __init__(self, run: Path, level: str, lifeline: int, groups: Path | None):
        """Open the socket on which requests arrive; arguments as of the class."""
        self.run, self.level, self.lifeline, self.groups = run, level, lifeline, groups
        self.alive, self.alive_end = os.pipe()  # sandboxes read its end if we die
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(str(run / "requests"))
        self.listener.listen(64)
        self.clients: list[socket.socket] = []  # without a request yet
        self.branches: dict[tuple[str, ...], socket.socket] = {}

    def serve(self) -> None:
        """Pass on connections once their requests come, until `lifeline` closes."""
        while True:
            doors: list[socket.socket | int]
            doors = [self.listener, self.lifeline, *self.clients]
            ready, _, _ = select.select(doors, [], [], 1.0)
            collect_children()
            if self.lifeline in ready:
                return
            if self.listener in ready:
                self.clients.append(self.listener.accept()[0])
            for client in [client for client in self.clients if client in ready]:
                self.clients.remove(client)
                with client:
                    # Only a fork reads the request itself: traces of what was ever
                    # in our memory, even if freed, are in all later sandboxes.
                    if imports := client.recv(LARGEST_REQUEST):  # it is still there
                        self._pass_on(client, self._filter_names(json.loads(imports)))

    def _filter_names(self, requested: Sequence[str]) -> tuple[str, ...]:
        """Keep the requested modules that may be imported on demand, in fixed order."""
        if self.level == "bwrap":
            return ()
        allowed = dict.fromkeys(n for modules in ON_DEMAND.values() for n in modules)
        return tuple(name for name in allowed if name in requested)

    def _pass_on(self, client: socket.socket, names: tuple[str, ...]) -> None:
        """Send a connection to the branch with modules `names`; fork it if need be."""
        for _ in range(2):  # the second time with a new branch
            if names not in self.branches:
                self._grow(names)
            try:
                socket.send_fds(self.branches[names], [b"sandbox"], [client.fileno()])
                return
            except OSError:  # it was killed
                self.branches.pop(names).close()

    def _grow(self, names: tuple[str, ...]) -> None:  # fork a branch
        """Fork a branch that imports modules, and then serves requests for them."""
        self.branches[names], door = socket.socketpair(
            socket.AF_UNIX, socket.SOCK_SEQPACKET
        )
        with door:
            if os.fork() == 0:
                try:
                    self._forget()
                    branch = Branch(door, self.alive, self.level, self.groups)
                    branch.serve(names)
                finally:
                    os._exit(0)

    def _forget(self) -> None:
        """Close in a fork what only the server itself needs."""
        for sock in (self.listener, *self.clients, *self.branches.values()):
            sock.close()
        os.close(self.lifeline)
        os.close(self.alive_end)

    def close(self) -> None:
        """Let the supervisors end their sandboxes, kill the rest, remove all files."""
        os.close(self.alive_end)
        for branch in self.branches.values():
            branch.close()
        _await_children()
        remove_tree(self.run)


class Branch:
    """A fork of the server that imports modules, and forks a supervisor per sandbox.

    It ends when the server closes the other end of `door`, where requests arrive.
    """

    def __init__(
        self, door: socket.socket, alive: int, level: str, groups: Path | None
    ) -> None:
        self.door, self.alive, self.level, self.groups = door, alive, level, groups
        self.forked = 0  # sandboxes so far
        self.unfit = ""  # why no sandbox may be forked

    def serve(self, names: tuple[str, ...]) -> None:
        """Import modules, then fork a supervisor for each connection that comes in."""
        confine.adopt_orphans()
        if names:
            self._import(names)
        while True:
            ready, _, _ = select.select([self.door], [], [], 1.0)
            collect_children()
            if ready:
                word, fds, _, _ = socket.recv_fds(self.door, 1 << 10, 1)
                if not word:
                    break
                with socket.socket(fileno=fds[0]) as client:
                    self._begin(client)
        _await_children()

    def _import(self, names: tuple[str, ...]) -> None:  # and check the fitness
        """Import modules, and note if no sandbox may be forked after that."""
        gc.disable()
        import_all(names)
        ready_to_fork()
        try:
            check_fitness()
        except UnfitError as error:
            self.unfit = str(error)

    def _begin(self, client: socket.socket) -> None:  # fork a supervisor
        """Fork a supervisor for a client, or tell it why none may be forked."""
        if self.unfit:
            client.send(json.dumps({"error": self.unfit}).encode())
            return
        self.forked += 1
        if self.forked == _MORE:
            self._settle()
        if os.fork() == 0:
            self._become_supervisor(client)

    def _settle(self) -> None:
        """Format a first traceback and use huge pages, to speed up later sandboxes."""
        if self.level != "bwrap":
            inside.rehearse()
            ready_to_fork()
        hugepages.collapse()

    def _become_supervisor(self, client: socket.socket) -> None:  # in the fork
        """Read the request, and run its sandbox from start to end. Does not return."""
        try:
            self.door.close()
            text, fds, _, _ = socket.recv_fds(client, LARGEST_REQUEST, 1)
            if text:
                request = json.loads(text)
                level = self._level_for(request["policy"]["level"])
                parts = request, client, fds[0], self.alive, level, self.groups
                supervisor.supervise(*parts)
        finally:
            os._exit(0)

    def _level_for(self, wanted: str) -> str:
        """The level asked for if it works here, else ``none``."""
        if wanted in ("", self.level, "none"):
            return wanted or self.level
        return "none" if selftest.failures(wanted, _view) else wanted


def _await_children() -> None:
    """Wait for the children to end by themselves; then end those that are left."""
    deadline = time.monotonic() + 10
    while collect_children() and time.monotonic() < deadline:
        time.sleep(0.005)
    end_all_children()


def main() -> None:
    """Test the confinement, import modules, report on standard output, and serve."""
    lifeline, answer = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1) if logs.shows_debug() else (0, 1, 2):
        os.dup2(null, standard)
    logs.name_process("sandbox server")
    settings = json.loads(_read_line(lifeline))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.umask(0o077)
    confine.adopt_orphans()
    try:
        server, greeting = _prepare(settings, lifeline)
    except Exception as error:
        os.write(answer, json.dumps({"error": str(error)}).encode() + b"\n")
        return
    try:
        os.write(answer, json.dumps(greeting).encode() + b"\n")
        os.close(answer)
        server.serve()
    finally:
        server.close()


def _prepare(settings: dict[str, Any], lifeline: int) -> tuple[Server, dict[str, Any]]:
    """Set up the server; return it, and the greeting that `main` writes to stdout.

    Raises UnfitError and what imports raise.
    """
    level, reasons = selftest.probe(_view, settings["level"])
    run, broken = Path(settings["run"]), []
    if level != "bwrap":
        broken = preload()
        inside.prepare(run / "ipython")
    check_fitness()
    groups = Hierarchy().place()
    server = Server(run, level, lifeline, groups)
    ready_to_fork()
    greeting = {"level": level, "reasons": reasons, "broken": broken}
    return server, {**greeting, "grouped": groups is not None}


def _read_line(fd: int) -> bytes:
    """Read one line, and not a byte of what follows."""
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(fd, 1)
        if not byte:
            raise EOFError("the client ended before it said anything")
        line += byte
    return line
