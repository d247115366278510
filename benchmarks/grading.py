"""What grading costs: plain nbgrader, this course's grading, and the floor.

Run by ``make benchmark`` or ``python benchmarks/grading.py [--quick]``. The same class
is graded by each in turn, round after round, so that a busy machine is unjust to none:

- plain nbgrader: its own converter and settings, one submission after the other;
- otter-grader's ``otter run``, one submission after the other, with one test file for
  each exercise that runs the visible check (``pip install '.[benchmark]'``). It brings
  no gradebook and no box;
- ours, with one job and with one for each usable core: box, judge and repair included.
  Demonstrations are left out, as is the default; once they run, for comparison;
- ours with two Dask workers on this machine, for what the way over a network costs
  (their CPU is not counted);
- the floor: the students' code cells and all tests, hidden ones, too, run by ``exec``
  in a process forked from one that has imported everything, without demonstrations. No
  Jupyter, no box, no judge, no gradebook.

A further submission's seconds, and its CPU (of all processes), are the difference
between a large and a small class, whole commands both: submissions are published in the
order of the students, so that the times between them tell nothing of grading several at
once. For nbgrader that is the class and its first student; for ours, which start more
processes, five times the class and the class. What a command costs once is given beside
it (otter-grader's grades one submission: its figure is that of the command).
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import gc
import importlib.util
import io
import json
import math
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import nbformat

from autograder.classroom import sample
from autograder.course import ROOT, Unit, find_unit, graded_notebooks
from autograder.course.errors import CourseError
from autograder.course.files import write
from autograder.grading.intake import rebuild
from autograder.grading.parallel import usable_cores
from autograder.kernel.inside import THREADS
from autograder.student.demo import LEFT_OUT

STOCK = """c = get_config()
c.CourseDirectory.course_id = "plain"
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError"}
"""
PLAIN, OTTER, FLOOR = "plain nbgrader", "otter run", "the floor"


@dataclass(frozen=True)
class Cost:
    """Seconds of a further submission, its CPU, and what the command takes once."""

    wall: float
    cpu: float
    once: float = 0.0


def main() -> None:
    options = _options()
    for unit in options.unit:
        benchmark(unit, options)


def benchmark(unit: Unit, options: argparse.Namespace) -> None:
    """Measure all ways of grading a class of one unit, and print them."""
    made = sample.submissions(unit)
    made.pop("isaac")  # ends its own process, and with it the floor's
    class_ = dict(list(made.items())[: options.students])
    print(f"\n{unit.label}, {len(class_)} students", flush=True)
    costs: dict[str, list[Cost]] = {}
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        for round_ in range(options.rounds):
            for name, cost in measured(unit, class_, Path(folder), options):
                costs.setdefault(name, []).append(cost)
                print(f"round {round_ + 1}: {_row(name, cost)}", flush=True)
    report({name: _median(found) for name, found in costs.items()})


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--unit", nargs="+", default=["attention"])
    parser.add_argument("--students", type=int, metavar="N", help="default: all 14")
    parser.add_argument("--copies", type=int, default=5, metavar="N", help="for ours")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument("--jobs", type=int, default=usable_cores(), metavar="N")
    parser.add_argument("--quick", action="store_true", help="one round, six students")
    parser.add_argument(
        "--leave-out",
        nargs="+",
        default=[],
        choices=("plain", "otter", "demos", "dask"),
    )
    options = parser.parse_args()
    try:
        options.unit = [find_unit(name) for name in options.unit]
    except CourseError as error:
        parser.error(str(error))
    if options.quick:
        options.students, options.rounds = 6, 1
    return options


def measured(
    unit: Unit, class_: dict[str, bytes], folder: Path, options: argparse.Namespace
) -> Iterator[tuple[str, Cost]]:
    """Yield the name and the cost of each way of grading a class."""
    ours = (ROOT / "nbgrader_config.py").read_text()
    jobs = f"--Autograde.jobs={options.jobs}"
    more = {f"{n}-{who}": data for n in range(options.copies)
            for who, data in class_.items()}  # fmt: skip
    if "plain" not in options.leave_out:
        first = dict(list(class_.items())[:1])
        yield PLAIN, commands(unit, first, class_, folder, STOCK)
    if "otter" not in options.leave_out:
        if sample.beside(unit):
            print("otter run takes a notebook alone; this unit hands in a model, too")
        elif importlib.util.find_spec("otter"):
            yield OTTER, otter(unit, class_, folder)
        else:
            print("no otter-grader here: pip install '.[benchmark]'")
    yield "1 job", commands(unit, class_, more, folder, ours, "--Autograde.jobs=1")
    if options.jobs > 1:
        yield f"{options.jobs} jobs", commands(unit, class_, more, folder, ours, jobs)
    if "demos" not in options.leave_out:
        shown = "--JudgedExecute.demonstrations=True"
        cost = commands(unit, class_, more, folder, ours, jobs, shown)
        yield f"{options.jobs} jobs, demos", cost
    if "dask" not in options.leave_out:
        if importlib.util.find_spec("distributed"):
            with dask_workers(2, folder) as address:
                flag = f"--Autograde.scheduler={address}"
                _command(unit, class_, folder / "first", ours, [flag])  # they start
                cost = commands(unit, class_, more, folder, ours, flag)
            yield "2 Dask workers", replace(cost, cpu=math.nan)
        else:
            print("no Dask here: pip install '.[cluster]'")
    yield FLOOR, floor(unit, class_)


# --- through nbgrader's command ------------------------------------------------------


def commands(
    unit: Unit, small: dict[str, bytes], large: dict[str, bytes], folder: Path,
    settings: str, *flags: str,
) -> Cost:  # fmt: skip
    """The cost of a real ``nbgrader autograde``, from a small class to a large one."""
    first, cpu_of_first = _command(unit, small, folder / "small", settings, flags)
    whole, cpu = _command(unit, large, folder / "large", settings, flags)
    further = len(large) - len(small)
    each = (whole - first) / further
    return Cost(each, (cpu - cpu_of_first) / further, first - len(small) * each)


def _command(
    unit: Unit, class_: dict[str, bytes], root: Path, settings: str, flags: Sequence
) -> tuple[float, float]:
    """Seconds and CPU of grading a class."""
    write_course(unit, class_, root, settings)
    _nbgrader(root, "generate_assignment", unit.label)
    before, started = _children_cpu(), time.monotonic()
    _nbgrader(root, "autograde", unit.label, *flags)
    whole, cpu = time.monotonic() - started, _children_cpu() - before
    graded = len(graded_notebooks(unit.label, root))
    if graded != len(class_):
        raise SystemExit(f"{graded} of {len(class_)} notebooks were graded")
    shutil.rmtree(root)
    return whole, cpu


def write_course(
    unit: Unit, class_: dict[str, bytes], root: Path, settings: str
) -> None:
    """A course folder with one unit's source and what a class has handed in."""
    write(root / "nbgrader_config.py", settings.encode())
    write(root / "source" / unit.label / unit.source.name, unit.source.read_bytes())
    sample.hand_in(unit, root, class_)


def _nbgrader(root: Path, *arguments: str) -> None:
    _run(root, sys.executable, "-m", "nbgrader", *arguments)


def _run(folder: Path, *program: str | Path) -> None:
    """Run a program as a user would; stop with its output if it fails."""
    environment = {k: v for k, v in os.environ.items() if k not in THREADS}
    done = subprocess.run(
        program, cwd=folder, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)


def _children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


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


def otter(unit: Unit, class_: dict[str, bytes], folder: Path) -> Cost:
    """The cost of ``otter run`` for each of at most four submissions."""
    course, calls, costs = folder / "otter", _calls(unit), []
    program = Path(sys.executable).with_name("otter")
    for number, call in enumerate(calls):
        test = _OTTER_TEST.format(name=f"q{number}", code=f">>> {call}.passed\nTrue")
        write(course / "tests" / f"q{number}.py", test.encode())
    _run(course, program, "generate", "-t", "tests")
    run = (program, "run", "-a", "autograder.zip", "--no-logo")
    for student, data in list(class_.items())[:4]:
        write(course / f"{student}.ipynb", data)
        out = course / student
        out.mkdir()
        before, started = _children_cpu(), time.monotonic()
        _run(course, *run, "-o", student, f"{student}.ipynb")
        seconds, cpu = time.monotonic() - started, _children_cpu() - before
        costs.append(Cost(seconds, cpu))
        graded = json.loads((out / "results.json").read_text())["tests"]
        if sum("max_score" in test for test in graded) != len(calls):
            raise SystemExit(f"otter-grader graded {len(graded)} of {len(calls)} tests")
    shutil.rmtree(course)
    return _median(costs)


def _calls(unit: Unit) -> list[str]:
    """The visible checks of a unit, as its notebook calls them."""
    cells = json.loads(unit.release.read_bytes())["cells"]
    graded = [c for c in cells if c["metadata"].get("nbgrader", {}).get("locked")]
    nodes = [node for c in graded for node in ast.parse("".join(c["source"])).body]
    return [ast.unparse(node) for node in nodes]


# --- the floor -----------------------------------------------------------------------


def floor(unit: Unit, class_: dict[str, bytes]) -> Cost:
    """The mean cost of running the code alone, in forks of a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        notebooks = {
            f"{student}.ipynb": _as_graded(unit, data)
            for student, data in class_.items()
        }
        for name, data in (notebooks | sample.beside(unit)).items():
            write(Path(folder) / name, data)
        text = subprocess.run(
            [sys.executable, __file__, "floor", folder],
            cwd=folder,
            env=os.environ | THREADS | {LEFT_OUT: "1"},
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
        ).stdout  # fmt: skip
    costs = [Cost(*pair) for pair in json.loads(text)]
    return Cost(
        statistics.mean(cost.wall for cost in costs),
        statistics.mean(cost.cpu for cost in costs),
    )


def _as_graded(unit: Unit, data: bytes) -> bytes:
    """A submission with all of the instructor's tests, as grading rebuilds it."""
    source, release = (
        nbformat.read(path, as_version=4) for path in (unit.source, unit.release)
    )
    notebook, _ = rebuild(source, release, data)
    return nbformat.writes(notebook).encode()


def _serve_floor(folder: Path) -> None:
    """Print the seconds and the CPU of each notebook, as JSON."""
    from autograder.kernel import zygote

    zygote.preload()
    gc.collect()
    gc.freeze()
    costs = []
    for path in sorted(folder.glob("*.ipynb")):
        cells = json.loads(path.read_bytes())["cells"]
        code = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
        started = time.monotonic()
        child = os.fork()
        if child == 0:
            with contextlib.redirect_stderr(io.StringIO()):
                _run_cells(code)
            os._exit(0)
        usage = os.wait4(child, 0)[2]
        cpu = usage.ru_utime + usage.ru_stime
        costs.append((time.monotonic() - started, cpu))
    print(json.dumps(costs))


def _run_cells(code: Sequence[str]) -> None:
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
    names: dict[str, object] = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()):
        for cell in code:
            with contextlib.suppress(Exception):
                exec(cell, names)
            for number in plt.get_fignums():
                plt.figure(number).savefig(io.BytesIO(), bbox_inches="tight")
            plt.close("all")


# --- what comes out ------------------------------------------------------------------


def _median(costs: Sequence[Cost]) -> Cost:
    return Cost(*(
        statistics.median(getattr(cost, name) for cost in costs)
        for name in ("wall", "cpu", "once")
    ))  # fmt: skip


def _row(name: str, cost: Cost) -> str:
    once = f"  once {cost.once:6.2f} s" if cost.once else ""
    return f"{name:16} {cost.wall:7.3f} s  CPU {cost.cpu:7.3f} s{once}"


def report(costs: dict[str, Cost]) -> None:
    """Print medians and ratios."""
    print("\nA further submission (medians of the rounds):")
    for name, cost in costs.items():
        print(f"  {_row(name, cost)}")
    for name, cost in costs.items():
        if name not in (PLAIN, OTTER, FLOOR):
            if not math.isnan(cost.cpu):
                over = cost.cpu / costs[FLOOR].cpu
                print(f"{name}: CPU {over:.2f} times the floor's")
            for other in (PLAIN, OTTER):
                if other in costs:
                    times = costs[other].wall / cost.wall
                    print(f"{name}: {times:.1f} times as fast as {other}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["floor"]:
        _serve_floor(Path(sys.argv[2]))
    else:
        main()
