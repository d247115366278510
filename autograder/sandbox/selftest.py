"""A test that a sandbox denies what it must, by attacks from inside.

`failures(level)` reports what goes wrong in a throw-away sandbox; `probe`
returns the strongest level of confinement at which nothing does.
"""

from __future__ import annotations

import dataclasses
import json
import os
import resource
import select
import signal
import socket
import stat
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autograder.sandbox import bwrap, confine, kit

REPORT_SECONDS = 60.0
SMALL = confine.Policy(
    memory_mb=256, processes=12, file_mb=1, disk_mb=8, files=64, notebook_seconds=20
)


View = Callable[[Path, Path], confine.Room]
Targets = dict[str, Any]  # paths, ports and process ids that the attacks aim at


def probe(view: View, wanted: str = "") -> tuple[str, dict[str, list[str]]]:
    """Return the strongest level that works, and what goes wrong at each level tried.

    Args:
        view: maps a sandbox's slot and submission to the room of a real kernel.
        wanted: the only level to try; "" for all of them.
    """
    reasons: dict[str, list[str]] = {}
    levels = (wanted,) if wanted else confine.LEVELS
    for level in (level for level in levels if level != "none"):
        reasons[level] = failures(level, view)
        if not reasons[level]:
            return level, reasons
    return "none", reasons


def failures(level: str, view: View) -> list[str]:
    """List what goes wrong in a sandbox at `level`; empty if it denies all it must."""
    if level == "namespaces" and os.getuid() != 0:
        return ["needs root"]
    if level == "user-namespaces" and os.getuid() == 0:
        return ["root's processes cannot be counted"]
    with tempfile.TemporaryDirectory(prefix="ag-probe-") as folder:
        os.chmod(folder, 0o755)
        with Canaries(Path(folder)) as canaries:
            report = _run_sandbox(level, view, canaries)
            return report + canaries.list_damage()


class Canaries:
    """Things outside the sandbox that must stay out of reach and unharmed."""

    def __init__(self, folder: Path) -> None:
        """Create what the attacks aim at: a file, four sockets and a process."""
        self.folder = folder
        self.secret = folder / "secret"
        self.secret.write_text("canary")
        self.secret.chmod(0o644)
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", 0))
        self.abstract = socket.socket(socket.AF_UNIX)
        self.name = f"ag-probe-{os.getpid()}"
        self.abstract.bind("\0" + self.name)
        self.abstract.listen()
        # A socket at a path, to which anybody may send datagrams.
        self.letters = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.letters.bind(str(folder / "letters"))
        (folder / "letters").chmod(0o666)
        self.bird = subprocess.Popen(["/bin/sleep", "60"])  # a process to be killed

    def __enter__(self) -> Canaries:
        return self

    def __exit__(self, *_: object) -> None:
        for sock in (self.tcp, self.udp, self.abstract, self.letters):
            sock.close()
        self.bird.kill()
        self.bird.wait()

    def targets(self, level: str) -> Targets:
        """The data that the attacks get: more than a student could find out."""
        return {
            "level": level,
            "secret": str(self.secret),
            "tcp": self.tcp.getsockname()[1],
            "udp": self.udp.getsockname()[1],
            "abstract": self.name,
            "letters": str(self.folder / "letters"),
            "bird": self.bird.pid,
            "policy": dataclasses.asdict(SMALL),
        }

    def list_damage(self) -> list[str]:
        """Describe what attacks have done to the file, the sockets and the process."""
        findings = []
        if stat.S_IMODE(self.secret.stat().st_mode) != 0o644:
            findings.append("changed the mode of a file outside")
        if select.select([self.udp, self.letters], [], [], 0)[0]:
            findings.append("sent a datagram")
        if self.bird.poll() is not None:
            findings.append("killed a process outside")
        return findings


def _run_sandbox(level: str, view: View, canaries: Canaries) -> list[str]:
    """Fork a supervisor, let it run the attacks in a sandbox, and read its report."""
    slot, submission = canaries.folder / "slot", canaries.folder / "submission"
    slot.mkdir()
    slot.chmod(0o711)
    submission.mkdir()
    (submission / "notes.txt").write_text("mine")
    (submission / "link").symlink_to("/etc/passwd")
    reader, writer = os.pipe()
    supervisor = os.fork()
    if supervisor == 0:
        try:
            _supervise(level, view(slot, submission), canaries.targets(level), writer)
        finally:
            os._exit(1)
    os.close(writer)
    try:
        return _read_report(reader)
    finally:
        os.kill(supervisor, signal.SIGKILL)
        os.waitpid(supervisor, 0)
        os.close(reader)


def _read_report(reader: int) -> list[str]:
    """The findings that the sandbox reports, or why it does not report."""
    if not select.select([reader], [], [], REPORT_SECONDS)[0]:
        return ["the sandbox did not answer"]
    text = os.read(reader, 1 << 16)
    return json.loads(text) if text else ["the sandbox did not come up"]


def _supervise(level: str, room: confine.Room, targets: Targets, report: int) -> None:
    """Fork a sandbox that runs the attacks; write errors to the pipe `report`."""
    room = dataclasses.replace(room, uid=confine.slot_uid(os.getpid()))
    try:
        sandbox = confine.fork(level)
        if sandbox == 0:
            _attack(level, room, targets, report)
            os._exit(0)
        os.waitpid(sandbox, 0)
    except (OSError, confine.ConfinementError) as error:
        os.write(report, json.dumps([str(error)]).encode())


def _attack(level: str, room: confine.Room, targets: Targets, report: int) -> None:
    """Confine this process, try all attacks, and write findings to the pipe `report`.

    At level ``bwrap``, the process first restarts itself in bubblewrap.
    """
    try:
        if level == "bwrap" and "report" not in targets:
            command = bwrap.command(SMALL, room, "selftest")
            os.set_inheritable(report, True)
            text = json.dumps({**targets, "report": report})
            variables = {**kit.environment(), "AUTOGRADER_TASK": text}
            os.execve(command[0], command, variables)
        confine.enter(level, SMALL, room)
        answer = attacks(targets)
    except Exception as error:
        answer = [f"{type(error).__name__}: {error}"]
    os.write(report, json.dumps(answer).encode())


# ------------------------------------------------------------------ inside the sandbox


def attacks(targets: Targets) -> list[str]:
    """Try all that a sandbox must deny or allow; return the names of what fails.

    Damage outside cannot be seen from inside; see `Canaries.list_damage`.
    """
    forbidden: dict[str, Callable[[], object]] = {
        "killed a process outside": lambda: _kill(targets["bird"]),
        "read a file outside": lambda: open(targets["secret"]).close(),
        "wrote a file outside": lambda: open(targets["secret"], "a").close(),
        "read /etc/shadow": lambda: open("/etc/shadow").close(),
        "listed a folder outside": lambda: os.listdir(Path(targets["secret"]).parent),
        "connected by TCP": lambda: _connect(("127.0.0.1", targets["tcp"])),
        "connected to a socket outside": lambda: _connect("\0" + targets["abstract"]),
        "wrote a file over the limit": lambda: _big_file(SMALL.file_mb),
        "allocated over the limit": lambda: bytearray(SMALL.memory_mb * 2 << 20),
    }
    findings = [name for name, attack in forbidden.items() if not _denied(attack)]
    _denied(lambda: os.chmod(targets["secret"], 0o777))
    _denied(lambda: _datagram(targets["udp"]))
    _denied(lambda: _letter(targets["letters"]))
    findings += ["left its session"] * _leaves_session()
    findings += _not_allowed() + _too_many(SMALL.processes)
    return findings + [f"called {name}" for name in confine.forbidden_calls()]


def _denied(attack: Callable[[], object]) -> bool:
    """Whether an attack fails, as it should."""
    try:
        attack()
    except (OSError, MemoryError):
        return True
    return False


def _kill(pid: int) -> None:
    if pid == os.getpid():
        raise OSError("that number is ours in here")
    os.kill(pid, signal.SIGKILL)


def _connect(address: str | tuple[str, int]) -> None:
    family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
    with socket.socket(family) as sock:
        sock.settimeout(1)
        sock.connect(address)


def _datagram(port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.sendto(b"out", ("127.0.0.1", port))


def _letter(path: str) -> None:
    """Send a datagram to a path, from sockets that a sandbox may create."""
    for sock in socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM):
        with sock:
            sock.sendto(b"out", path)


def _big_file(file_mb: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with open("big", "wb") as file:
        file.truncate((file_mb << 20) + 1)


def _leaves_session() -> bool:
    """Whether a process can have its own session, and so a large share of the CPUs."""
    child = os.fork()
    if child == 0:
        os.setsid()
        os._exit(os.getsid(0) == os.getpid())
    return os.waitpid(child, 0)[1] != 0


def _too_many(limit: int) -> list[str]:
    """Fork more often than `limit`; list what goes wrong: no refusal, or no fork."""
    reader, writer = os.pipe()
    children = []
    try:
        for _ in range(limit + 64):
            pid = os.fork()
            if pid == 0:
                os.close(writer)
                os.read(reader, 1)
                os._exit(0)
            children.append(pid)
    except OSError:
        return [] if children else ["could not fork at all"]
    finally:
        os.close(writer)
        for pid in children:
            os.waitpid(pid, 0)
    return ["forked over the limit"]


def _not_allowed() -> list[str]:
    """Describe each thing that a student needs but cannot do, like running programs.

    A symbolic link that was copied from the submission is listed, too.
    """
    needs: dict[str, Callable[[], object]] = {
        "write in the working directory": lambda: Path("mine").write_text("x"),
        "read the submission": lambda: open("notes.txt").close(),
        "read the standard library": lambda: open(os.__file__).close(),
        "write to /dev/null": lambda: open("/dev/null", "w").close(),
        "read /dev/urandom": lambda: open("/dev/urandom", "rb").close(),
        "run a program": lambda: subprocess.run(["/bin/true"], check=True),
        "make a pipe of sockets": _pipe_of_sockets,
        "set its own limits": lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),
    }
    missing = [f"cannot {name}" for name, need in needs.items() if _denied(need)]
    return missing + (["a link was copied in"] if os.path.lexists("link") else [])


def _pipe_of_sockets() -> None:
    for end in socket.socketpair():
        end.close()


def _cold() -> None:
    """Try the attacks in this process, which `_attack` has started in bubblewrap."""
    targets = json.loads(os.environ.pop("AUTOGRADER_TASK"))
    room = confine.Room(Path("/"), Path("/submission"), (), (), (), os.getuid())
    _attack("bwrap", room, targets, targets["report"])


if __name__ == "__main__":
    _cold()
