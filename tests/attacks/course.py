"""A course to attack: two judged exercises, a cell of plain asserts, code to be read.

``Course.make`` releases it, ``hand_in`` fills ``submitted/``, ``grade`` runs the real
commands and ``Traces`` is everything that a run may have changed where it should not.

What the course promises: a check that the judge decides cannot be earned without
solving it. A cell of plain asserts ("decided inside") promises less: its score is what
the student's own process says, and its hidden lines can be read by code that runs
beside them, so attacks are not counted there. It still cannot earn more than its
points, and it cannot touch anything else.
"""

from __future__ import annotations

import contextlib
import copy
import ctypes
import hashlib
import html.parser
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.course import ROOT
from autograder.grading.task import KEY
from autograder.student import references
from tests.tiny_course import answer_cell, graded, source_of, test_cell
from tests.tiny_course import data as as_file

UNIT = "02_attention"  # its own solutions are not among those that a box may read
NOTEBOOK = f"{UNIT}.ipynb"
PORT = 47113  # where the course listens for whatever gets out of a box
CANARY = "CANARY-7f31"  # in the course's files, its environment and a hidden assert
SCORES, MASK, INSIDE, READ = (
    "attention-scores",
    "attention-causal_mask",
    "inside-double",
    "essay",
)
POINTS = {SCORES: 5.0, MASK: 6.0, INSIDE: 2.0, READ: 3.0}
JUDGED = (SCORES, MASK)
SOLUTIONS = {
    SCORES: "def dot_product_scores(q, k):\n    return q @ k.T",
    MASK: "def causal_mask(length):\n"
    "    return torch.ones(length, length, dtype=torch.bool).tril()",
    INSIDE: "def double(x):\n    return 2 * x",
    READ: "# I would plot the weights of each head, and look at a few rows.",
}
COMPANIONS = ("aaron", "zoe")  # solved, graded before and after every attacker

# Small limits, so that attacks which use all of them take seconds.
LIMITS = """
c.JudgedExecute.timeout = 12
c.JudgedExecute.iopub_timeout = 2
c.JudgedExecute.notebook_seconds = 40
c.JudgedExecute.answer_seconds = 6
c.JudgedExecute.memory_mb = 600
c.JudgedExecute.disk_mb = 160
c.JudgedExecute.file_mb = 16
c.JudgedExecute.processes = 64
c.Exchange.root = "exchange"
"""

Notebook = nbformat.NotebookNode
Answers = Mapping[str, str]


def source_notebook() -> Notebook:
    """The instructor's notebook; the judged exercises are those of the real unit 02."""
    real = nbformat.read(ROOT / "source" / UNIT / NOTEBOOK, as_version=4)
    wanted = [name + end for name in JUDGED for end in ("-answer", "")]
    judged = {grade_id(cell): cell for cell in real.cells}
    cells = [
        new_markdown_cell("# Two exercises of attention", id="title"),
        new_code_cell(
            "import math\nimport torch\nfrom torch import Tensor\n"
            "from autograder import check",
            id="imports",
        ),
        *(judged[name] for name in wanted),
        answer_cell(SOLUTIONS[INSIDE], f"{INSIDE}-answer"),
        test_cell(
            "assert double(2) == 4",
            f"assert double(-3) == -6  # {CANARY}-assert",
            INSIDE,
            POINTS[INSIDE],
        ),
        graded(
            new_code_cell("# How would you look at a head?"), READ, POINTS[READ], True
        ),
        new_markdown_cell("The end.", id="end"),
    ]
    return source_of(cells)


def grade_id(cell: Mapping) -> str:
    return cell["metadata"].get("nbgrader", {}).get("grade_id", "")


def answered(release: Notebook, answers: Answers) -> Notebook:
    """A copy of the released notebook with some answers in their cells."""
    notebook = copy.deepcopy(release)
    for cell in notebook.cells:
        name = grade_id(cell)
        if name.removesuffix("-answer") in answers and (
            name.endswith("-answer") or name == READ
        ):
            cell.source = answers[name.removesuffix("-answer")]
    return notebook


class Submission(Protocol):
    """What attacks and accidents have in common.

    Attributes:
        before, after: code of a cell in front of all exercises, and of a last one.
        change: edits the notebook; ``data`` edits or replaces its file.
        files: other files, by relative path; ``folder`` edits the folder at last.
    """

    before: str
    after: str
    change: Callable[[Notebook], None] | None
    data: Callable[[bytes], bytes] | None
    files: Mapping[str, bytes]
    folder: Callable[[Path], None] | None


def write_submission(one: Submission, notebook: Notebook, path: Path) -> None:
    """Write a notebook to its path, with all that a submission does to it."""
    if one.before:
        notebook.cells.insert(2, new_code_cell(one.before))
    if one.after:
        notebook.cells.append(new_code_cell(one.after))
    if one.change:
        one.change(notebook)
    data = as_file(notebook)
    path.write_bytes(one.data(data) if one.data else data)
    for name, content in one.files.items():
        (path.parent / name).parent.mkdir(parents=True, exist_ok=True)
        (path.parent / name).write_bytes(content)
    if one.folder:
        one.folder(path.parent)


# --- the course ----------------------------------------------------------------------


@dataclass
class Course:
    """A course folder. ``stock`` leaves nbgrader as it comes, for comparison."""

    root: Path
    stock: bool = False
    seconds: float = 300.0  # for one command
    log: str = ""
    status: int = 0
    peak_mb: int = 0  # memory of the largest process of all commands

    @classmethod
    def make(cls, root: Path, stock: bool = False) -> Course:
        """Source, release, gradebook, secret and canaries, in an empty folder."""
        course = cls(root, stock)
        (root / "source" / UNIT).mkdir(parents=True)
        nbformat.write(source_notebook(), root / "source" / UNIT / NOTEBOOK)
        (root / "nbgrader_config.py").write_text(_settings(stock))
        (root / "roster.csv").write_text(f"{CANARY}-file\n")
        (root / ".autograder").mkdir(mode=0o700)
        # Always the same, so that two runs give the same feedback.
        secret = root / ".autograder" / "secret"
        secret.write_text(hashlib.sha256(CANARY.encode()).hexdigest())
        secret.chmod(0o600)
        course.run("generate_assignment", UNIT)
        if course.status:
            raise AssertionError(course.log)
        return course

    def copy_to(self, root: Path) -> Course:
        shutil.copytree(self.root, root, symlinks=True)
        return Course(root, self.stock)

    def release(self) -> Notebook:
        return nbformat.read(self.root / "release" / UNIT / NOTEBOOK, as_version=4)

    def folder(self, student: str) -> Path:
        folder = self.root / "submitted" / student / UNIT
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def hand_in_companions(self) -> None:
        for student in COMPANIONS:
            data = as_file(answered(self.release(), SOLUTIONS))
            (self.folder(student) / NOTEBOOK).write_bytes(data)

    def run(self, *command: str) -> None:
        """Run a real ``nbgrader`` command; its log is added, its status kept."""
        program = Path(sys.executable).with_name("nbgrader")
        with tempfile.TemporaryFile("w+", errors="replace") as log:
            self.status, peak = _run_bounded(
                [str(program), *command], self.root, log, self.seconds
            )
            self.peak_mb = max(self.peak_mb, peak)
            log.seek(0)
            self.log += log.read()[-200_000:]

    def grade(self, pages: bool = True) -> Traces:
        """``autograde`` and ``generate_feedback``, and what they left behind.

        ``pages``: whether feedback is of interest, which takes seconds.
        """
        traces = Traces.before(self)
        with _listening() as calls, _scratch() as scratch:
            self.run("autograde", UNIT)
            graded = self.status
            if pages:
                self.run("generate_feedback", UNIT)
            self.status = graded
            traces.after(self, calls, scratch)
        return traces

    # What came of it

    def scores(self) -> dict[str, dict[str, float | None]]:
        """The automatic scores: student -> grade id -> points."""
        found: dict[str, dict[str, float | None]] = {}
        for student, name, score in self.query(
            """select s.student_id, b.name, g.auto_score from grade g
            join submitted_notebook n on g.notebook_id = n.id
            join submitted_assignment s on n.assignment_id = s.id
            join base_cell b on g.cell_id = b.id"""
        ):
            found.setdefault(student, {})[name] = score
        return found

    def query(self, sql: str) -> list[tuple]:
        with contextlib.closing(sqlite3.connect(self.root / "gradebook.db")) as book:
            return book.execute(sql).fetchall()

    def graded(self, student: str) -> str:
        return _read(self.root / "autograded" / student / UNIT / NOTEBOOK)

    def feedback(self, student: str) -> str:
        return _read(self.root / "feedback" / student / UNIT / f"{UNIT}.html")

    def nameless_feedback(self, student: str) -> str:
        """A student's page without the name on it, to be compared with others'."""
        return self.feedback(student).replace(student, "")

    def outputs(self, student: str) -> str:
        """All that the notebook printed or showed, and all metadata, as one text."""
        try:
            notebook = json.loads(self.graded(student) or "{}")
        except ValueError:
            return self.graded(student)
        cells = notebook.get("cells", [])
        shown = [{**cell, "source": "", "attachments": ""} for cell in cells]
        return json.dumps([shown, notebook.get("metadata")], ensure_ascii=False)

    def repairs(self, student: str) -> list[str]:
        """The kinds of repairs that a graded notebook tells of."""
        metadata = json.loads(self.graded(student))["metadata"]
        return [repair["kind"] for repair in metadata[KEY]["repairs"]]


def _read(path: Path) -> str:
    return path.read_text("utf-8", "replace") if path.is_file() else ""


def _settings(stock: bool) -> str:
    if not stock:
        return (ROOT / "nbgrader_config.py").read_text() + LIMITS
    stub = "raise NotImplementedError  # your code here"
    return (
        'c = get_config()\nc.CourseDirectory.course_id = "transformer"\n'
        f'c.ClearSolutions.code_stub = {{"python": "{stub}"}}\n'
        "c.Execute.timeout = 6\nc.ExecutePreprocessor.iopub_timeout = 2\n"
    )


def _run_bounded(
    command: list[str], root: Path, log: object, seconds: float
) -> tuple[int, int]:
    """Run a command; its status (-1: too slow) and the most memory it held, in MB."""
    environment = {k: v for k, v in os.environ.items() if "AUTOGRADER" not in k}
    environment |= {
        "COURSE_TOKEN": f"{CANARY}-environment",
        "OMP_NUM_THREADS": "1",
        "TMPDIR": tempfile.gettempdir(),
        "JUPYTER_PLATFORM_DIRS": "1",
    }
    started = subprocess.Popen(
        command,
        cwd=root,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    deadline, late = time.monotonic() + seconds, False
    while not (ended := os.wait4(started.pid, os.WNOHANG))[0]:
        if not late and time.monotonic() > deadline:
            late = True
            os.kill(started.pid, signal.SIGKILL)
        time.sleep(0.05)
    started.returncode = os.waitstatus_to_exitcode(ended[1])
    return -1 if late else started.returncode, ended[2].ru_maxrss >> 10


# --- what must not happen ------------------------------------------------------------


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
    found = {}
    for folder, folders, names in os.walk(root):
        for name in [*names, *(f for f in folders if (Path(folder) / f).is_symlink())]:
            path = Path(folder, name)
            found[str(path.relative_to(root))] = _digest(path)
    return found


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
        known = {name for (name,) in course.query("select id from student")}
        if known != students:
            yield f"students {known ^ students}"
        counts = {
            "submitted_assignment": len(students),
            "submitted_notebook": len(students),
            "grade": len(students) * len(POINTS),
            "assignment": 1,
            "notebook": 1,
            "grade_cells": len(POINTS),
        }
        for table, count in counts.items():
            (found,) = course.query(f"select count(*) from {table}")[0]
            if found != count:
                yield f"{found} rows in {table} instead of {count}"
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


def _survivors(before: set[int], patience: float = 5.0) -> list[str]:
    """Processes of the run that do not end by themselves; they are ended here."""
    deadline = time.monotonic() + patience
    while True:
        left = [pid for pid in _children() if pid not in before]
        left = [pid for pid in left if os.waitpid(pid, os.WNOHANG)[0] == 0]
        if not left:
            return []
        if time.monotonic() > deadline:
            told = [_read(Path(f"/proc/{p}/cmdline")).replace("\0", " ") for p in left]
            for pid in left:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            return told
        time.sleep(0.05)


@contextlib.contextmanager
def _scratch() -> Iterator[Path]:
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
def _listening() -> Iterator[list[str]]:
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


# --- secrets and scripts -------------------------------------------------------------

_STOLEN = re.compile('STOLEN[^\\\\"<]{0,60}')  # attacks print it with what they got


def leaks(course: Course, student: str) -> list[str]:
    """Secrets in a student's autograded notebook or feedback."""
    shown = course.outputs(student)
    page = course.feedback(student)
    found = [name for name, secret in _secrets(course) if secret in shown + page]
    hidden = f"{CANARY}-assert"
    found += ["the hidden assert"] * (hidden in page)
    return found + _STOLEN.findall(shown)[:2]


def _secrets(course: Course) -> Iterator[tuple[str, str]]:
    secret = course.root / ".autograder" / "secret"
    yield "the course's secret", secret.read_text()
    yield "a file of the course", f"{CANARY}-file"
    yield "the environment", f"{CANARY}-environment"
    for case in references.load("attention", "hidden")["attention/scores"].cases:
        if "scores" not in case.expected:  # a general property, in other words
            continue
        row = case.expected["scores"].flatten()[:3].tolist()
        yield "a hidden reference", ", ".join(map(str, row))
        yield "a hidden reference", ", ".join(f"{value:.4f}" for value in row)


_ADDRESSES = (
    "src",
    "srcset",
    "href",
    "action",
    "formaction",
    "data",
    "poster",
    "background",
    "xlink:href",
    "cite",
    "ping",
)
_ACTIVE = {
    "script",
    "iframe",
    "frame",
    "object",
    "embed",
    "applet",
    "base",
    "link",
    "form",
    "portal",
    "animate",
    "set",
    "foreignobject",
}


class _Page(html.parser.HTMLParser):
    """Collects what a browser would run or fetch by itself."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self._style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._style = tag == "style"
        if tag in _ACTIVE:
            self.found.append(f"<{tag}> {dict(attrs)}")
        for name, value in attrs:
            if _objection(tag, name, value or ""):
                self.found.append(f"<{tag} {name}={value!r:.120}>")
        equivalents = [v for n, v in attrs if n == "http-equiv"]
        if tag == "meta" and equivalents not in ([], ["Content-Security-Policy"]):
            self.found.append(f"<meta {equivalents}>")

    def handle_data(self, data: str) -> None:
        if self._style and re.search(r"@import|url\(", data):
            self.found.append(f"style {data:.120}")

    def handle_endtag(self, tag: str) -> None:
        self._style = self._style and tag != "style"


def _objection(tag: str, name: str, value: str) -> bool:
    plain = re.sub(r"[\s\x00-\x1f]", "", value).lower()
    if name.startswith("on") or name == "srcdoc":
        return True
    if name == "style":
        return bool(re.search(r"url\(|expression\(|@import|\\", plain))
    if name in _ADDRESSES:
        if re.match(r"(javascript|vbscript|file|blob):", plain):
            return True
        if plain.startswith("data:"):
            return tag != "img"
        return tag != "a" and not plain.startswith("#")
    return False


def scripts(page: str) -> list[str]:
    """What a page of feedback would run or fetch in a browser."""
    reader = _Page()
    reader.feed(page)
    reader.close()
    return reader.found


def active_outputs(course: Course, student: str) -> list[str]:
    """The same in an autograded notebook, which an instructor opens."""
    notebook = json.loads(course.graded(student) or '{"cells": []}')
    found = []
    for cell in notebook["cells"]:
        count = cell.get("execution_count")
        if not isinstance(count, int | None):
            found.append(f"execution_count {count!r:.80}")
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            for kind in set(data) & {"application/javascript", "image/svg+xml"}:
                found.append(kind)
            text = data.get("text/html", "")
            found += scripts("".join(text) if isinstance(text, list) else text)
    return found
