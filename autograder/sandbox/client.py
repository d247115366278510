"""The trusted side of sandboxes: it starts the warm server and requests kernels.

The warm server imports what notebooks need once, so that kernels start quickly.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import json
import logging
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, Any

from autograder.sandbox import fonts, kit, launch, logs
from autograder.sandbox.confine import ConfinementError, Policy
from autograder.sandbox.ending import EndReason
from autograder.sandbox.inside import ALIKE, BACKEND
from autograder.sandbox.request import Request
from autograder.sandbox.sandboxed import SandboxedProcess, readable
from autograder.sandbox.slot import NoRoomError, remove_tree

log = logging.getLogger(__name__)

SERVER_VARIABLE = "AUTOGRADER_SANDBOX_SERVER"
START_SECONDS = 120.0
_MAX_BYTES = 60  # bytes of the path in which the directory is made
_SILENT = f"it said nothing; {launch.AGAIN}"
_lock = threading.Lock()
_servers: list[subprocess.Popen[bytes]] = []  # kept: their open input keeps them alive
_begun: list[tuple[Path, subprocess.Popen[bytes]]] = []  # started, not awaited yet


class NotStartedError(ConfinementError):
    """The warm server did not start, so it is unknown what confinement is possible."""


def preload(level: str = "") -> None:
    """Start the warm server in the background, unless one runs or is starting.

    `level` is the only confinement level that the server tries; "" lets it try all.
    """
    if _lock.acquire(blocking=False):  # otherwise another thread is starting one
        try:
            if not _find_run_directory() and not _begun:
                _begun.append(_begin_server(level))
        finally:
            _lock.release()


def run_directory(level: str = "") -> Path:
    """Return the warm server's directory, and start the server if none runs.

    `level` is the only confinement to try; "" for all. Raises ConfinementError.
    """
    with _lock:
        run = _find_run_directory()
        if run is None:
            run = _await_greeting(*(_begun.pop() if _begun else _begin_server(level)))
            os.environ[SERVER_VARIABLE] = str(run)
        return run


def _find_run_directory() -> Path | None:
    """Find the directory of a server that listens; None if there is none."""
    text = os.environ.get(SERVER_VARIABLE)
    return Path(text) if text and _has_listener(Path(text)) else None


def start_sandbox(request: Request, channel: socket.socket) -> SandboxedProcess:
    """Request a kernel; return once it is confined. Raises ConfinementError.

    The kernel gets `channel`, its end of the socket to the judge.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect(str(run_directory() / "requests"))
    imports, text = request["policy"]["imports"], json.dumps(request).encode()
    connection.send(json.dumps(imports).encode())  # the server itself reads only this
    socket.send_fds(connection, [text], [channel.fileno()])
    answer = connection.recv(1 << 16) if readable(connection, START_SECONDS) else b""
    reply = json.loads(answer) if answer else {"error": "the server gave no answer"}
    if "error" not in reply and reply["slot"] != Path(request["slot"]).name:
        reply = {"error": "the server answered another request"}
    if "error" in reply:
        connection.close()
        full = reply.get("ended") == EndReason.HOST_DISK
        raise (NoRoomError if full else ConfinementError)(reply["error"])
    return SandboxedProcess(connection, reply)


def _has_listener(run: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        try:
            connection.connect(str(run / "requests"))
        except OSError:
            return False
    return True


def scratch() -> Path:
    """Return the folder in which the directories of servers are made.

    Its path is short, because the path of a socket may have 107 bytes at most.
    """
    base = Path(tempfile.gettempdir())
    return base if len(os.fsencode(base)) < _MAX_BYTES else Path("/tmp")


def _begin_server(level: str) -> tuple[Path, subprocess.Popen[bytes]]:
    """Start a server without waiting for it; return its directory and its process."""
    base = scratch()
    remove_abandoned(base)
    run = Path(tempfile.mkdtemp(prefix=f"ag-{os.getuid()}-", dir=base))
    run.chmod(0o711)
    fonts.create_folder(run / fonts.FOLDER)
    with open(run / "lock", "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # held by the server from here on
        server = _spawn(run, lock.fileno())
    _servers.append(server)
    atexit.register(_stop, os.getpid(), server)
    orders, _ = _pipes(server)
    orders.write(json.dumps({"run": str(run), "level": level}).encode() + b"\n")
    orders.flush()
    return run, server


def _await_greeting(run: Path, server: subprocess.Popen[bytes]) -> Path:
    """Wait until a server runs; return its directory. Raises ConfinementError."""
    try:
        _welcome(server)
    except ConfinementError:
        server.kill()
        server.wait()
        remove_tree(run)
        raise
    fonts.save_new_lists(run / fonts.FOLDER)
    return run


def _spawn(run: Path, lock: int) -> subprocess.Popen[bytes]:
    """Start a server process in `run`; it inherits `lock`, a locked descriptor."""
    return subprocess.Popen(
        launch.command("autograder.sandbox.fork_server"),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=None if logs.shows_debug() else subprocess.DEVNULL,
        cwd=run, env=_clean_environment(run), start_new_session=True, pass_fds=(lock,),
    )  # fmt: skip


def _pipes(server: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    """The server's standard input and its standard output."""
    assert server.stdin and server.stdout, "both were asked for"
    return server.stdin, server.stdout


def _clean_environment(run: Path) -> dict[str, str]:
    """The server's environment, which kernels can read: nothing of the client's."""
    return {
        **ALIKE,
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        **kit.environment(*filter(os.path.isdir, sys.path)),
        "MPLBACKEND": BACKEND,  # imported by name only, after the fork
        "MPLCONFIGDIR": str(run / fonts.FOLDER),
    }


def _welcome(server: subprocess.Popen[bytes]) -> None:
    """Await the server's first line, and log its level. Raises NotStartedError."""
    _, answers = _pipes(server)
    line = answers.readline() if readable(answers, START_SECONDS) else b""
    reply: dict[str, Any] = json.loads(line) if line else {"error": _SILENT}
    if "error" in reply:
        raise NotStartedError(f"the warm server did not start: {reply['error']}")
    by = "a control group" if reply["grouped"] else "counts of its processes"
    message = "kernels run at level %s; memory of each is limited by %s"
    log.info(message, reply["level"], by)
    for broken in reply["broken"]:
        log.warning("not imported in advance: %s", broken)
    if reply["level"] == "none":
        reasons = "; ".join(f"{k}: {v}" for k, v in reply["reasons"].items())
        log.warning("SUBMISSIONS CANNOT BE CONFINED on this machine (%s)", reasons)


def _stop(owner: int, server: subprocess.Popen[bytes]) -> None:
    """Stop the server when its client ends, but not when a fork of the client ends."""
    if os.getpid() == owner:
        _pipes(server)[0].close()
        try:
            server.wait(15)
        except subprocess.TimeoutExpired:
            server.kill()


def remove_abandoned(base: Path) -> None:
    """Remove the directories in `base` of servers killed together with their client."""
    for run in base.glob(f"ag-{os.getuid()}-*"):
        with contextlib.suppress(OSError):  # another grader removes it, or it ends
            if run.stat().st_uid == os.getuid() and _is_abandoned(run):
                remove_tree(run)


def _is_abandoned(run: Path) -> bool:
    """Whether no server holds the lock in `run`.

    Without a lock file, only an old `run` is abandoned: a new one may be locked soon.
    """
    try:
        with open(run / "lock", "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    except BlockingIOError:
        return False
    except FileNotFoundError:
        return time.time() - run.stat().st_mtime > START_SECONDS


def policy_from_environment() -> Policy:
    """Return the policy in ``AUTOGRADER_SANDBOX_POLICY``, else the default one.

    Raises ValueError or TypeError if the variable does not hold a policy as JSON.
    """
    text = os.environ.get("AUTOGRADER_SANDBOX_POLICY", "")
    return Policy.from_json(text) if text else Policy()
