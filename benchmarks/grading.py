"""What grading costs: plain nbgrader, this course's grading, and the floor.

``make benchmark`` or ``python benchmarks/grading.py`` measures all units, and
prints tables in Markdown, as they stand in docs/scale.md (on two quiet cores). The same
submissions are graded by each in turn:

- plain nbgrader: its own converter and settings, one submission after the other;
- otter-grader's ``otter run``, with one test file for each exercise that runs the
  visible check (``pip install '.[benchmark]'``). It brings no gradebook and no sandbox;
- ours, with one job and with one for each usable core: sandbox, judge and repair
  included. Demonstrations are left out, as is the default;
- if asked for (``--also``): ours with demonstrations, and with two Dask workers on this
  machine, for what the way over a network costs (their CPU is not counted);
- the floor: the students' code cells and all tests, hidden ones, too (see floor.py).

A further submission's seconds, and its CPU (of all processes), are the difference
between a large and a small class, whole commands both: submissions are published in the
order of the students, so that the times between them tell nothing of grading several at
once. The rest is what a command costs once. PyTorch has one thread in all of them, so
that two runs on a quiet machine give the same figures within a tenth.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib.util
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
if importlib.util.find_spec("nbgrader") is None:
    sys.exit(
        f"{sys.executable} has no nbgrader: run `make setup`, then "
        "`.venv/bin/python benchmarks/grading.py`"
    )

from autograder.classroom import sample
from autograder.course import ROOT, Unit, find_unit, graded_notebooks, units
from autograder.course.errors import CourseError
from autograder.course.files import write
from autograder.grading.workers.parallel import usable_cores
from autograder.sandbox.inside import THREADS
from benchmarks.floor import floor
from benchmarks.tables import FLOOR, ONE, OTTER, PLAIN, Checks, Cost, Costs, tables
from benchmarks.watch import Watched, watched

STOCK = """c = get_config()
c.CourseDirectory.course_id = "plain"
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError"}
"""
STUDENTS, FEW = 4, {"05": 2, "06": 2}  # fewer where a submission takes long


def main() -> None:
    """Measure all ways of grading, one unit after the other, and print the tables."""
    options = _options()
    found: dict[str, Costs] = {}
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        for unit in options.unit:
            class_ = sample_class(unit, options.students)
            print(f"{unit.label}, {len(class_)} students", file=sys.stderr, flush=True)
            costs = found[unit.number] = {}
            for name, cost in measured(unit, class_, Path(folder), options):
                costs[name] = cost
                line = f"  {name:16} {cost.wall:7.3f} s  CPU {cost.all_cpu:7.3f} s"
                print(line, file=sys.stderr, flush=True)
    print(tables(found))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    everything = [unit.name for unit in units()]
    parser.add_argument("--unit", nargs="+", default=everything)
    parser.add_argument("--students", type=int, metavar="N", help="of the sample class")
    parser.add_argument("--copies", type=int, default=3, metavar="N", help="for ours")
    parser.add_argument("--jobs", type=int, default=usable_cores(), metavar="N")
    parser.add_argument("--also", nargs="+", default=[], choices=("demos", "dask"))
    parser.add_argument(
        "--leave-out", nargs="+", default=[], choices=("plain", "otter", "floor")
    )
    options = parser.parse_args()
    if options.students is not None and options.students < 2:
        parser.error("--students: at least 2, for a class that is larger than another")
    if options.copies < 2:
        parser.error("--copies: at least 2, for a class that is larger than another")
    try:
        options.unit = [find_unit(name) for name in options.unit]
    except CourseError as error:
        parser.error(str(error))
    return options


def sample_class(unit: Unit, students: int | None) -> dict[str, bytes]:
    """The first so many students of the sample class, or as many as a unit allows."""
    made = sample.submissions(unit)
    made.pop("isaac")  # ends its own process, and with it the floor's
    return dict(list(made.items())[: students or FEW.get(unit.number, STUDENTS)])


def measured(
    unit: Unit, class_: dict[str, bytes], folder: Path, options: argparse.Namespace
) -> Iterator[tuple[str, Cost]]:
    """Yield the name and the cost of each way of grading a class."""
    if "plain" not in options.leave_out:
        stock = Course.released(unit, STOCK, folder / "plain")
        yield PLAIN, stock.further(dict(list(class_.items())[:1]), class_)
        shutil.rmtree(stock.root)
    if "otter" not in options.leave_out and not sample.beside(unit):
        if importlib.util.find_spec("otter"):
            yield OTTER, otter(unit, class_, folder / "otter")
        else:
            print("no otter-grader here: pip install '.[benchmark]'", file=sys.stderr)
    settings = (ROOT / "nbgrader_config.py").read_text()
    ours = Course.released(unit, settings, folder / "ours")
    more = {f"{n}-{who}": data for n in range(options.copies)
            for who, data in class_.items()}  # fmt: skip
    jobs = f"--Autograde.jobs={options.jobs}"
    yield ONE, ours.further(class_, more, "--Autograde.jobs=1")
    if options.jobs > 1:
        yield f"{options.jobs} jobs", ours.further(class_, more, jobs)
    if "demos" in options.also:
        shown = "--JudgedExecute.demonstrations=True"
        yield "with demonstrations", ours.further(class_, more, jobs, shown)
    if "dask" in options.also:
        with dask_workers(2, folder) as address:
            flag = f"--Autograde.scheduler={address}"
            ours.graded(class_, flag)  # they start
            yield "2 Dask workers", ours.further(class_, more, flag)
    shutil.rmtree(ours.root)
    if "floor" not in options.leave_out:
        wall, cpu = floor(unit, class_)
        yield FLOOR, Cost(wall, {FLOOR: cpu})


# --- through nbgrader's command ------------------------------------------------------


@dataclass(frozen=True)
class Course:
    """A folder with one released unit, to be graded over and over by one Python."""

    unit: Unit
    root: Path
    python: str = sys.executable

    @classmethod
    def released(
        cls, unit: Unit, settings: str, root: Path, python: str = sys.executable
    ) -> Course:
        """Make one, with the release that a class has been given."""
        write_course(unit, {}, root, settings)
        _run(root, python, "-m", "nbgrader", "generate_assignment", unit.label)
        return cls(unit, root, python)

    def graded(
        self, class_: dict[str, bytes], *flags: str
    ) -> tuple[Watched, Checks | None]:
        """What a real ``nbgrader autograde`` of a class takes, and its checks."""
        copy = self.root.with_name(f"{self.root.name}-graded")
        shutil.copytree(self.root, copy)
        sample.hand_in(self.unit, copy, class_)
        words = ("-m", "nbgrader", "autograde", self.unit.label)
        program = [self.python, *words, *flags]
        found = watched(program, copy, _environment())
        notebooks = list(graded_notebooks(self.unit.label, copy).values())
        if len(notebooks) != len(class_):
            raise SystemExit(f"{len(notebooks)} of {len(class_)} were graded")
        checks = _checks(notebooks)
        shutil.rmtree(copy)
        return found, checks

    def further(
        self, small: dict[str, bytes], large: dict[str, bytes], *flags: str
    ) -> Cost:
        """The cost of a further submission, from a small class to a large one."""
        first, _ = self.graded(small, *flags)
        whole, checks = self.graded(large, *flags)
        more = len(large) - len(small)
        each = (whole.seconds - first.seconds) / more
        cpu = {r: (whole.cpu[r] - first.cpu[r]) / more for r in whole.cpu}
        return Cost(
            each, cpu,
            first.seconds - len(small) * each, whole, first, checks,
        )  # fmt: skip


def _checks(notebooks: Sequence[Path]) -> Checks | None:
    """Seconds that a submission of ours spends in checks, and in the longest."""
    seconds: dict[str, float] = {}
    for path in notebooks:
        about = json.loads(path.read_bytes())["metadata"].get("autograder", {})
        for check in about.get("checks", {}).values():
            name = check["exercise"]
            seconds[name] = seconds.get(name, 0.0) + check["seconds"] / len(notebooks)
    if not seconds:
        return None
    longest = max(seconds, key=lambda name: seconds[name])
    return Checks(sum(seconds.values()), longest, seconds[longest])


def write_course(
    unit: Unit, class_: dict[str, bytes], root: Path, settings: str
) -> None:
    """A course folder with one unit's source and what a class has handed in."""
    write(root / "nbgrader_config.py", settings.encode())
    write(root / "source" / unit.label / unit.source.name, unit.source.read_bytes())
    sample.hand_in(unit, root, class_)


def _environment() -> dict[str, str]:
    """One thread for all; plain nbgrader starts `alembic`, which lies beside Python."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return {**os.environ, **THREADS, "PATH": path}


def _run(folder: Path, *program: str | Path) -> None:
    """Run a program as a user would; stop with its output if it fails."""
    done = subprocess.run(
        program, cwd=folder, env=_environment(), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)


@contextlib.contextmanager
def dask_workers(number: int, folder: Path) -> Iterator[str]:
    """The address of a scheduler with so many worker processes, while it is open."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=number, threads_per_worker=1, processes=True, dashboard_address=None,
        local_directory=str(folder), silence_logs=50,
    ) as cluster:  # fmt: skip
        yield cluster.scheduler_address


# --- through otter-grader ------------------------------------------------------------

_OTTER_TEST = """OK_FORMAT = True
test = {{"name": {name!r}, "points": 1, "suites": [{{
    "type": "doctest", "scored": True, "setup": "", "teardown": "",
    "cases": [{{"code": {code!r}, "hidden": False}}],
}}]}}
"""


def otter(unit: Unit, class_: dict[str, bytes], course: Path) -> Cost:
    """The cost of ``otter run`` for the first submission: the command grades one."""
    calls, (student, data) = _calls(unit), next(iter(class_.items()))
    program = Path(sys.executable).with_name("otter")
    for number, call in enumerate(calls):
        test = _OTTER_TEST.format(name=f"q{number}", code=f">>> {call}.passed\nTrue")
        write(course / "tests" / f"q{number}.py", test.encode())
    write(course / f"{student}.ipynb", data)
    (course / student).mkdir()
    _run(course, program, "generate", "-t", "tests")
    before, started = _children_cpu(), time.monotonic()
    _run(course, program, "run", "-a", "autograder.zip", "--no-logo", "-o", student,
         f"{student}.ipynb")  # fmt: skip
    seconds, cpu = time.monotonic() - started, _children_cpu() - before
    graded = json.loads((course / student / "results.json").read_text())["tests"]
    if sum("max_score" in test for test in graded) != len(calls):
        raise SystemExit(f"otter-grader graded {len(graded)} of {len(calls)} tests")
    shutil.rmtree(course)
    return Cost(seconds, {OTTER: cpu})


def _children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _calls(unit: Unit) -> list[str]:
    """The visible checks of a unit, as its notebook calls them."""
    cells = json.loads(unit.release.read_bytes())["cells"]
    graded = [c for c in cells if c["metadata"].get("nbgrader", {}).get("locked")]
    nodes = [node for c in graded for node in ast.parse("".join(c["source"])).body]
    return [ast.unparse(node) for node in nodes]


if __name__ == "__main__":
    main()
