"""What grading costs: plain nbgrader, this course's grading, and the floor.

Run by ``make benchmark`` or ``python benchmarks/grading.py [--quick]``. The same class
is graded by each in turn, round after round, so that a busy machine is unjust to none:

- plain nbgrader: its own converter and settings, one submission after the other;
- ours, with one job and with one for each usable core: box, judge and repair included.
  Demonstrations are left out, as is the default; once they run, for comparison;
- the floor: the students' code cells run by ``exec`` in a process forked from one that
  has imported everything, without demonstrations. No Jupyter, no box, no judge, no
  gradebook.

A further submission's seconds are those between the first published notebook and the
last; its CPU is the difference between a class and a single submission, all processes
counted. What a command costs once is given beside it.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.build.notebook import write
from autograder.classroom import sample
from autograder.course import ROOT, Unit, find_unit
from autograder.grading.parallel import usable_cores
from autograder.kernel.inside import THREADS
from autograder.student.demo import LEFT_OUT

STOCK = """c = get_config()
c.CourseDirectory.course_id = "plain"
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError"}
"""
PLAIN, FLOOR = "plain nbgrader", "the floor"


@dataclass(frozen=True)
class Cost:
    """Seconds of a further submission, its CPU, and what the command takes once."""

    wall: float
    cpu: float
    once: float = 0.0


def main() -> None:
    options = _options()
    for name in options.unit:
        benchmark(find_unit(name), options)


def benchmark(unit: Unit, options: argparse.Namespace) -> None:
    """Measure all ways of grading a class of one unit, and print them."""
    print(f"\n{unit.label}, {options.submissions} submissions", flush=True)
    made = sample.submissions(unit)
    made.pop("isaac")  # ends its own process, and with it the floor's
    students = list(made.items())
    class_ = {
        f"{number:03}-{students[number % len(students)][0]}":
        students[number % len(students)][1]
        for number in range(options.submissions)
    }  # fmt: skip
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
    parser.add_argument("--submissions", type=int, default=12, metavar="N")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument("--jobs", type=int, default=usable_cores(), metavar="N")
    parser.add_argument("--quick", action="store_true", help="one round of six")
    parser.add_argument("--no-plain", action="store_true", help="leave nbgrader out")
    options = parser.parse_args()
    if options.quick:
        options.submissions, options.rounds = 6, 1
    return options


def measured(
    unit: Unit, class_: dict[str, bytes], folder: Path, options: argparse.Namespace
):
    """Yield the name and the cost of each way of grading a class."""
    ours = (ROOT / "nbgrader_config.py").read_text()
    if not options.no_plain:
        yield PLAIN, commands(unit, class_, folder, STOCK, ())
    for jobs in sorted({1, options.jobs}):
        flags = (f"--Autograde.jobs={jobs}",)
        yield f"ours, {jobs} jobs", commands(unit, class_, folder, ours, flags)
    shown = (*flags, "--JudgedExecute.demonstrations=True")
    yield f"{jobs} jobs, demos", commands(unit, class_, folder, ours, shown)
    yield FLOOR, floor(class_)


# --- through nbgrader's command ------------------------------------------------------


def commands(
    unit: Unit, class_: dict[str, bytes], folder: Path, settings: str, flags: Sequence
) -> Cost:
    """The cost of a real ``nbgrader autograde``, of the class and of one submission."""
    first = dict(list(class_.items())[:1])
    _, once, cpu_of_one = _command(unit, first, folder / "one", settings, flags)
    wall, _, cpu = _command(unit, class_, folder / "all", settings, flags)
    further = len(class_) - 1
    return Cost(wall / further, (cpu - cpu_of_one) / further, once)


def _command(
    unit: Unit, class_: dict[str, bytes], root: Path, settings: str, flags: Sequence
) -> tuple[float, float, float]:
    """Seconds from the first to the last notebook, of the whole, and of CPU."""
    _course(unit, class_, root, settings)
    _nbgrader(root, "generate_assignment", unit.label)
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    _nbgrader(root, "autograde", unit.label, *flags)
    whole, after = time.monotonic() - started, resource.getrusage(
        resource.RUSAGE_CHILDREN
    )  # fmt: skip
    stamps = [p.stat().st_mtime for p in root.glob("autograded/*/*/*.ipynb")]
    if len(stamps) != len(class_):
        raise SystemExit(f"{len(stamps)} of {len(class_)} notebooks were graded")
    shutil.rmtree(root)
    return max(stamps) - min(stamps), whole, _cpu(after) - _cpu(before)


def _course(unit: Unit, class_: dict[str, bytes], root: Path, settings: str) -> None:
    write(root / "nbgrader_config.py", settings.encode())
    write(root / "source" / unit.label / unit.source.name, unit.source.read_bytes())
    for student, data in class_.items():
        write(root / "submitted" / student / unit.label / unit.source.name, data)


def _nbgrader(root: Path, command: str, *arguments: str) -> None:
    environment = {k: v for k, v in os.environ.items() if k not in THREADS}
    program = [sys.executable, "-m", "nbgrader", command, *arguments]
    with (root / f"{command}.log").open("w") as log:
        done = subprocess.run(
            program, cwd=root, env=environment, stdout=log, stderr=log, check=False
        )
    if done.returncode:
        raise SystemExit((root / f"{command}.log").read_text())


def _cpu(usage: resource.struct_rusage) -> float:
    return usage.ru_utime + usage.ru_stime


# --- the floor -----------------------------------------------------------------------


def floor(class_: dict[str, bytes]) -> Cost:
    """The mean cost of running the code alone, in forks of a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        for student, data in class_.items():
            write(Path(folder) / f"{student}.ipynb", data)
        text = subprocess.run(
            [sys.executable, __file__, "floor", folder],
            env=os.environ | THREADS | {LEFT_OUT: "1"},
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
        ).stdout  # fmt: skip
    costs = [Cost(*pair) for pair in json.loads(text)]
    return Cost(
        statistics.mean(cost.wall for cost in costs),
        statistics.mean(cost.cpu for cost in costs),
    )


def _serve_floor(folder: Path) -> None:
    """Print the seconds and the CPU of each notebook, as JSON."""
    from autograder.kernel import zygote

    zygote.preload()
    costs = []
    for path in sorted(folder.iterdir()):
        cells = json.loads(path.read_bytes())["cells"]
        code = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
        started = time.monotonic()
        child = os.fork()
        if child == 0:
            with contextlib.redirect_stderr(io.StringIO()):
                _run_cells(code)
            os._exit(0)
        usage = os.wait4(child, 0)[2]
        costs.append((time.monotonic() - started, _cpu(usage)))
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
    once = f"  one submission alone {cost.once:6.2f} s" if cost.once else ""
    return f"{name:16} {cost.wall:7.3f} s  CPU {cost.cpu:7.3f} s{once}"


def report(costs: dict[str, Cost]) -> None:
    """Print medians and ratios."""
    print("\nA further submission (medians of the rounds):")
    for name, cost in costs.items():
        print(f"  {_row(name, cost)}")
    for name, cost in costs.items():
        if name not in (PLAIN, FLOOR):
            print(f"{name}: CPU {cost.cpu / costs[FLOOR].cpu:.2f} times the floor's")
            if PLAIN in costs:
                times = costs[PLAIN].wall / cost.wall
                print(f"{name}: {times:.1f} times as fast as plain nbgrader")


if __name__ == "__main__":
    if sys.argv[1:2] == ["floor"]:
        _serve_floor(Path(sys.argv[2]))
    else:
        main()
