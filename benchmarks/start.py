"""What a run of grading costs beside the submissions: a class of one, nothing new.

``python benchmarks/start.py --unit attention`` runs whole commands in turn, round after
round, so that a busy machine is unjust to none:

- plain nbgrader: a class of one, and of three; what their difference leaves is what its
  start takes alone;
- ours: a class of one, with one job and with all cores; then the same command again,
  which finds nothing new.

Printed are medians of the rounds, and each beside plain nbgrader's start. This course's
environment spares nbgrader half of its own import (docs/scale.md, "What keeps it
fast"). ``--plain`` tells what it takes elsewhere: the Python of another environment, a
new one in which there was nothing but ``pip install .``.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from autograder.classroom import sample
from autograder.course import ROOT, Unit, find_unit
from autograder.sandbox.inside import THREADS
from benchmarks.grading import STOCK, Course
from benchmarks.watch import Watched, watched

START = "plain nbgrader, its start alone"

Cost = tuple[float, float]  # seconds, and seconds of CPU


def main() -> None:
    """Measure, and print a line for each command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--unit", default="attention")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--plain", default=sys.executable, metavar="PYTHON",
        help="the Python that plain nbgrader runs with (default: this one)",
    )  # fmt: skip
    options = parser.parse_args()
    unit = find_unit(options.unit)
    costs: dict[str, list[Cost]] = {}
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory(prefix="start-") as folder:
            for name, cost in measured(unit, Path(folder), options.plain):
                costs.setdefault(name, []).append(cost)
    medians = {name: [*map(statistics.median, zip(*found, strict=True))]
               for name, found in costs.items()}  # fmt: skip
    for name, (seconds, cpu) in medians.items():
        times = seconds / medians[START][0]
        print(f"{name:34} {seconds:6.2f} s  CPU {cpu:6.2f} s  {times:5.2f} times")


def measured(unit: Unit, folder: Path, python: str) -> Iterator[tuple[str, Cost]]:
    """The cost of each command, once; ``python`` is plain nbgrader's."""
    data = sample.submissions(unit)["ada"]
    one, three = ({f"{n}-ada": data for n in range(size)} for size in (1, 3))
    plain = Course.released(unit, STOCK, folder / "plain", python)
    small, large = (_cost(plain.graded(class_)[0]) for class_ in (one, three))
    yield "plain nbgrader, one submission", small
    seconds, cpu = (a - (b - a) / 2 for a, b in zip(small, large, strict=True))
    yield START, (seconds, cpu)
    settings = (ROOT / "nbgrader_config.py").read_text()
    for jobs, name in ((1, "one job"), (0, "all cores")):
        ours = Course.released(unit, settings, folder / f"ours-{jobs}")
        sample.hand_in(unit, ours.root, one)
        for what in ("one submission", "nothing new"):
            yield f"ours, {name}, {what}", _cost(_graded(ours, jobs))


def _graded(course: Course, jobs: int) -> Watched:
    words = ("autograde", course.unit.label, f"--Autograde.jobs={jobs}")
    environment = {k: v for k, v in os.environ.items() if k not in THREADS}
    return watched([sys.executable, "-m", "nbgrader", *words], course.root, environment)


def _cost(found: Watched) -> Cost:
    return found.seconds, sum(found.cpu.values())


if __name__ == "__main__":
    main()
