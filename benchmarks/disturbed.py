"""Whether a class gets the same grades on a bad day: prints how many cells differ.

``python benchmarks/disturbed.py --unit attention`` grades the sample class

- quiet: undisturbed, with one job for each core; what the others are compared with;
- busy: beside eight processes that compute all the time;
- stopped: while processes of all kinds (judge, worker, fork server, sandbox server,
  branch, supervisor, sandbox) are stopped at random for up to a minute, and continued;
- killed: while one process of each kind is killed at a random moment;
- jobs: with 1, 2 and 4 jobs, and with two Dask workers.

The goal is 0. Seeds are fixed: ``--seeds`` gives others. The exit status is that of the
comparison; a command that ends with a status of its own is told.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext as nothing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from autograder.classroom import sample
from autograder.course import Unit, find_unit
from autograder.grading.secret import course_secret
from autograder.grading.workers.parallel import usable_cores
from benchmarks.grading import dask_workers, write_course
from tests.grading.disturb import disturbed, kill_each, stop_at_random

SCENARIOS = ("busy", "stopped", "killed", "jobs")
BUSY = "import time\nend = time.time() + 7200\nwhile time.time() < end: pass"
SCORES = """
select s.student_id, b.name, g.auto_score from grade g
join submitted_notebook n on g.notebook_id = n.id
join submitted_assignment s on n.assignment_id = s.id
join base_cell b on g.cell_id = b.id
"""

Scores = dict[tuple[str, str], float | None]


def main() -> int:
    """Compare; whoever ends this early (`timeout`, say) ends what it has started."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    options = _options()
    return sum(compare(find_unit(name), options) for name in options.unit) > 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--unit", nargs="+", default=["attention"])
    parser.add_argument("--students", type=int, metavar="N", help="default: all")
    parser.add_argument("--scenarios", nargs="+", choices=SCENARIOS, default=SCENARIOS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--busy", type=int, default=8, metavar="PROCESSES")
    parser.add_argument("--stops", type=float, default=60.0, metavar="SECONDS")
    parser.add_argument("--pause", type=float, default=5.0, metavar="SECONDS",
                        help="at most, between two stops")  # fmt: skip
    parser.add_argument("--kills", type=float, default=3.0, metavar="SECONDS",
                        help="at most, until one of a kind is killed")  # fmt: skip
    return parser.parse_args()


def compare(unit: Unit, options: argparse.Namespace) -> int:
    """Grade a unit's class in all scenarios; how many cells differ from a quiet day."""
    class_ = dict(list(sample.submissions(unit).items())[: options.students])
    with tempfile.TemporaryDirectory(prefix="disturbed-") as folder:
        pristine = Path(folder) / "pristine"
        pristine.mkdir()
        settings = Path("nbgrader_config.py").read_text()
        write_course(unit, class_, pristine, settings)
        course_secret(pristine)  # the same questions in all runs
        _nbgrader(pristine, "generate_assignment", unit.label).wait()
        run = _Runs(unit, pristine, options)
        expected = run.scores("quiet", f"--Autograde.jobs={usable_cores()}")
        print(f"{unit.label}: {len(class_)} students, {len(expected)} cells")
        differ = 0
        for scenario in options.scenarios:
            for name, found in getattr(run, scenario)():
                cells = [c for c in expected if found.get(c, -1) != expected[c]]
                print(f"  {name}: {len(cells)} cells differ", *cells[:5], flush=True)
                differ += len(cells)
        return differ


class _Runs:
    """Ways to grade one class, each in a course folder of its own."""

    def __init__(self, unit: Unit, pristine: Path, options: argparse.Namespace):
        self.unit, self.pristine, self.options = unit, pristine, options
        self.root = pristine.with_name("course")

    def busy(self) -> Iterator[tuple[str, Scores]]:
        with _busy(self.options.busy):
            yield f"beside {self.options.busy} processes", self.scores("busy")

    def stopped(self) -> Iterator[tuple[str, Scores]]:
        longest, pause = self.options.stops, self.options.pause
        for seed in self.options.seeds:
            how = (stop_at_random, seed, longest, pause)
            yield f"stopped, seed {seed}", self.scores("stopped", how=how)

    def killed(self) -> Iterator[tuple[str, Scores]]:
        for seed in self.options.seeds:
            how = (kill_each, seed, self.options.kills)
            yield f"killed, seed {seed}", self.scores("killed", how=how)

    def jobs(self) -> Iterator[tuple[str, Scores]]:
        for number in (1, 2, 4):
            flag = f"--Autograde.jobs={number}"
            yield f"{number} jobs", self.scores("jobs", flag)
        with dask_workers(2, self.pristine.with_name("dask")) as address:
            flag = f"--CourseAutograde.scheduler={address}"
            yield "2 Dask workers", self.scores("dask", flag)

    def scores(self, name: str, *flags: str, how: tuple = ()) -> Scores:
        """Grade in a fresh folder, disturbed in some way; the scores."""
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(self.pristine, self.root)
        started, done = time.monotonic(), []
        command = _nbgrader(self.root, "autograde", self.unit.label, *flags)
        try:
            with disturbed(command.pid, *how) if how else nothing(done) as done:
                command.wait()
        finally:
            command.kill()
            command.wait()
        seconds = time.monotonic() - started
        print(f"  ({name}: {seconds:.0f} s, status {command.returncode}",
              *(["; " + ", ".join(done)] if done else []), ")")  # fmt: skip
        with contextlib.closing(sqlite3.connect(self.root / "gradebook.db")) as book:
            return {(who, cell): score for who, cell, score in book.execute(SCORES)}


def _nbgrader(root: Path, *words: str) -> subprocess.Popen[bytes]:
    program = Path(sys.executable).with_name("nbgrader")
    with (root / f"{words[0]}.log").open("w") as log:
        return subprocess.Popen(
            [program, *words], cwd=root, stdout=log, stderr=subprocess.STDOUT
        )


@contextlib.contextmanager
def _busy(number: int) -> Iterator[None]:
    command = [sys.executable, "-c", BUSY]
    started = [subprocess.Popen(command) for _ in range(number)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


if __name__ == "__main__":
    sys.exit(main())
