"""What a run may have changed where it should not."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import re
import signal
import socket
import sqlite3
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.attacks.material import NOTEBOOK, POINTS, PORT, UNIT, read

if TYPE_CHECKING:  # whose runs leave them
    from tests.attacks.course import Course


@dataclass
class Traces:
    """Everything beside the scores that a run may change; "" or empty is as it should.

    Attributes:
        files: what was changed, added or removed in the course folder.
        rows: what is odd in the gradebook.
        scratch: what is left of temporary files.
        processes: what still runs.
        calls: what reached the listener of the course.
    """

    course: Course
    kept: dict[str, str]
    children: set[int]
    files: list[str] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)
    scratch: list[str] = field(default_factory=list)
    processes: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)

    @classmethod
    def before(cls, course: Course) -> Traces:
        _adopt_orphans()
        return cls(course, _digests(course.root), set(_children()))

    def after(self, course: Course, calls: list[str], scratch: Path) -> None:
        self.processes = _survivors(self.children)
        self.scratch = sorted(str(p.relative_to(scratch)) for p in scratch.rglob("*"))
        self.scratch += [str(p) for p in Path("/dev/shm").glob("left-*")]  # seams.py
        self.files = sorted(_strange_files(course, self.kept))
        self.rows = list(_strange_rows(course))
        self.calls = list(calls)

    def told(self) -> list[str]:
        """All of it, for an assertion's message."""
        names = ("files", "rows", "scratch", "processes", "calls")
        return [f"{n}: {v}" for n in names for v in getattr(self, n)]


def _digests(root: Path) -> dict[str, str]:
    """The regular files and links below a folder; pipes and the like by their kind."""
    digests = {}
    for folder, folders, names in os.walk(root):
        for name in [*names, *(f for f in folders if (Path(folder) / f).is_symlink())]:
            path = Path(folder, name)
            digests[str(path.relative_to(root))] = _digest(path)
    return digests


def _digest(path: Path) -> str:
    if path.is_symlink():
        return os.readlink(path)
    if not path.is_file() or path.stat().st_size > 30 << 20:
        return "special"
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _strange_files(course: Course, before: Mapping[str, str]) -> Iterator[str]:
    after = _digests(course.root)
    written = re.compile(
        rf"(autograded/[^/]+/{UNIT}/({NOTEBOOK}|timestamp.txt|submission_secret.txt)"
        rf"|feedback/[^/]+/{UNIT}/({UNIT}.html|timestamp.txt|submission_secret.txt)"
        rf"|\.autograder/(scores|rehearsed)/{UNIT}.json|changes/{UNIT}.csv"
        r"|gradebook.db|\.nbgrader.log)"
    )
    for name in before.keys() | after.keys():
        if before.get(name) != after.get(name) and not written.fullmatch(name):
            yield name
    students = set(os.listdir(course.root / "submitted"))
    for step in ("autograded", "feedback"):
        if (course.root / step).is_dir():
            yield from set(os.listdir(course.root / step)) - students
    for work in (course.root / ".autograder").glob("work/*"):
        yield str(work.relative_to(course.root))


def _strange_rows(course: Course) -> Iterator[str]:
    students = set(os.listdir(course.root / "submitted"))
    try:
        registered = {name for (name,) in course.query("select id from student")}
        if registered != students:
            yield f"students {registered ^ students}"
        counts = {
            "submitted_assignment": len(students),
            "submitted_notebook": len(students),
            "grade": len(students) * len(POINTS),
            "assignment": 1,
            "notebook": 1,
            "grade_cells": len(POINTS),
        }
        for table, count in counts.items():
            (count_in_table,) = course.query(f"select count(*) from {table}")[0]
            if count_in_table != count:
                yield f"{count_in_table} rows in {table} instead of {count}"
        for name in ("manual_score", "extra_credit"):
            odd = f"select count(*) from grade where coalesce({name}, 0) != 0"
            if course.query(odd) != [(0,)]:
                yield name
        kinds = "select name from sqlite_master where type in ('trigger', 'view')"
        yield from (name for (name,) in course.query(kinds))
        most = "select name, max_score from grade_cells join base_cell using (id)"
        if dict(course.query(most)) != POINTS:
            yield "points of a cell"
    except sqlite3.Error as error:
        yield f"the gradebook cannot be read: {error}"


def _adopt_orphans() -> None:
    """Whatever a run leaves running becomes our child, so that it can be told."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)


def _children() -> Iterator[int]:
    for task in os.listdir("/proc/self/task"):
        with contextlib.suppress(OSError):
            yield from map(
                int, Path(f"/proc/self/task/{task}/children").read_text().split()
            )


def _survivors(before: set[int], patience: float = 60.0) -> list[str]:
    """Processes of the run that do not end by themselves; they are ended here."""
    deadline = time.monotonic() + patience
    while True:
        survivors = [pid for pid in _children() if pid not in before]
        survivors = [pid for pid in survivors if os.waitpid(pid, os.WNOHANG)[0] == 0]
        if not survivors:
            return []
        if time.monotonic() > deadline:
            commands = [
                read(Path(f"/proc/{p}/cmdline")).replace("\0", " ") for p in survivors
            ]
            for pid in survivors:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            return commands
        time.sleep(0.05)


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """A temporary folder of the run's own, with a short path for its sockets."""
    before = tempfile.tempdir
    with tempfile.TemporaryDirectory(prefix="at", dir="/tmp") as folder:
        os.chmod(folder, 0o711)
        tempfile.tempdir = folder
        try:
            yield Path(folder)
        finally:
            tempfile.tempdir = before


@contextlib.contextmanager
def listening() -> Iterator[list[str]]:
    """What connects to the course's port, while this lasts."""
    calls: list[str] = []
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        server.bind(("127.0.0.1", PORT))
        server.listen(8)
        server.settimeout(0.2)
        over = threading.Event()

        def listen() -> None:
            while not over.is_set():
                with contextlib.suppress(OSError):
                    connection, _ = server.accept()
                    calls.append("somebody called")
                    connection.close()

        thread = threading.Thread(target=listen)
        thread.start()
        try:
            yield calls
        finally:
            over.set()
            thread.join()
