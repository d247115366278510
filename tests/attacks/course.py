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
import hashlib
import json
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import nbformat

from autograder.course import ROOT
from autograder.grading.metadata import KEY
from tests.attacks.material import (
    CANARY,
    COMPANIONS,
    LIMITS,
    NOTEBOOK,
    SOLUTIONS,
    UNIT,
    Notebook,
    answered,
    read,
    source_notebook,
)
from tests.attacks.traces import Traces, listening, scratch_folder
from tests.tiny_course import data as as_file


@dataclass
class Course:
    """A course folder. ``stock`` leaves nbgrader as it comes, for comparison."""

    root: Path
    stock: bool = False
    seconds: float = 600.0  # for one command, also beside others
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
        with listening() as calls, scratch_folder() as scratch:
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
        scores_by_student: dict[str, dict[str, float | None]] = {}
        for student, name, score in self.query(
            """select s.student_id, b.name, g.auto_score from grade g
            join submitted_notebook n on g.notebook_id = n.id
            join submitted_assignment s on n.assignment_id = s.id
            join base_cell b on g.cell_id = b.id"""
        ):
            scores_by_student.setdefault(student, {})[name] = score
        return scores_by_student

    def query(self, sql: str) -> list[tuple]:
        with contextlib.closing(sqlite3.connect(self.root / "gradebook.db")) as book:
            return book.execute(sql).fetchall()

    def graded(self, student: str) -> str:
        return read(self.root / "autograded" / student / UNIT / NOTEBOOK)

    def feedback(self, student: str) -> str:
        return read(self.root / "feedback" / student / UNIT / f"{UNIT}.html")

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
        outputs_only = [{**cell, "source": "", "attachments": ""} for cell in cells]
        return json.dumps([outputs_only, notebook.get("metadata")], ensure_ascii=False)

    def repairs(self, student: str) -> list[str]:
        """The kinds of repairs that a graded notebook tells of."""
        metadata = json.loads(self.graded(student))["metadata"]
        return [repair["kind"] for repair in metadata[KEY]["repairs"]]


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
    """Run a command; its status (-1: too slow) and the most memory it held, in MB.

    0 if that is no more than we hold ourselves: on Linux a new process has the memory
    of the one that started it on its account.
    """
    ours = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    environment = {k: v for k, v in os.environ.items() if "AUTOGRADER" not in k}
    environment |= {
        "AUTOGRADER_COURSE": str(ROOT),  # also where the engine is installed elsewhere
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
    most = ended[2].ru_maxrss
    return -1 if late else started.returncode, most >> 10 if most > ours else 0
