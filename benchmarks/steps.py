"""Where the CPU of a submission goes, step by step, in the order of its way.

``python benchmarks/steps.py --unit attention`` grades copies of the sample class with
one job, and counts from where each kind of submission has been graded once: the seconds
of the grading process in each step (its own CPU clock, so that it does not count while
it waits for sandbox or judge), those of the judge, and those of the sandboxes.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import psutil

from autograder.course import ROOT, Unit, find_unit, graded_notebooks
from autograder.sandbox.inside import THREADS
from benchmarks.tables import table

REST = "else"
STEPS = ("read", "rebuild", "run", "record", "publish", REST)
COLUMNS = (*STEPS, "grader in all", "judge", "sandbox")


def main() -> None:
    """Measure units, one process for each, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--unit", nargs="+", default=["attention"])
    parser.add_argument("--copies", type=int, default=5, metavar="N")
    parser.add_argument("--inside", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        label, class_size = options.inside
        print(json.dumps(graded(label, int(class_size))))
        return
    rows = []
    for unit in map(find_unit, options.unit):
        found = measured(unit, options.copies)
        cells = [f"{1000 * found[name]:.0f}" for name in COLUMNS]
        rows.append([unit.number.lstrip("0"), *cells])
    print("CPU milliseconds of a further submission, one job:\n")
    print(table(["unit", *COLUMNS], rows))


def measured(unit: Unit, copies: int) -> dict[str, float]:
    """CPU seconds of a further submission, by `COLUMNS`."""
    from autograder.classroom import sample
    from benchmarks.grading import Course, sample_class

    class_ = sample_class(unit, None)
    settings = (ROOT / "nbgrader_config.py").read_text()
    with tempfile.TemporaryDirectory(prefix="steps-") as folder:
        course = Course.released(unit, settings, Path(folder) / "course")
        more = {f"{n}-{who}": data for n in range(copies)
                for who, data in class_.items()}  # fmt: skip
        sample.hand_in(unit, course.root, more)
        done = subprocess.run(
            [sys.executable, __file__, "--inside", unit.label, str(len(class_))],
            cwd=course.root, capture_output=True, text=True, check=False,
            env={k: v for k, v in os.environ.items() if k not in THREADS},
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(done.stdout + done.stderr)
        found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
        graded = list(graded_notebooks(unit.label, course.root).values())
        further = graded[len(class_) :]
        sandboxes = [_sandbox(path) for path in further]
    return found | {"sandbox": sum(sandboxes) / len(sandboxes)}


def _sandbox(path: Path) -> float:
    used = json.loads(path.read_bytes())["metadata"]["autograder"]["sandbox"]
    return float(used["utime"] + used["stime"])


# --- in the process that grades ------------------------------------------------------


class Clock:
    """CPU seconds of this thread, each counted for the innermost step that it is in."""

    def __init__(self) -> None:
        self.inside = [REST]
        self.start()

    def start(self) -> None:
        """Count from here on."""
        self.spent = dict.fromkeys(STEPS, 0.0)
        self._last = time.thread_time()
        self.process = time.process_time()

    def look(self) -> None:
        """Count what was used since the last look."""
        now = time.thread_time()
        self.spent[self.inside[-1]] += now - self._last
        self._last = now

    def step(self, name: str, owner: Any, function: str) -> None:
        """Have a function, wherever it is called from there, count as a step."""
        original: Callable[..., Any] = getattr(owner, function)

        @functools.wraps(original)
        def counted(*given: Any, **named: Any) -> Any:
            self.look()
            self.inside.append(name)
            try:
                return original(*given, **named)
            finally:
                self.look()
                self.inside.pop()

        setattr(owner, function, counted)


def graded(label: str, warm: int) -> dict[str, float]:
    """Grade the course in this folder; seconds of a submission after the first ones."""
    from nbgrader.apps import NbGraderApp

    from autograder.grading import grade
    from autograder.grading.execute import JudgedExecute
    from autograder.grading.gradebook.recording import Recorder
    from autograder.grading.run.assignment import Assignment
    from autograder.grading.run.graded_folder import GradedFolder
    from autograder.grading.run.persist import ResultWriter

    clock, kept, judges = Clock(), [], []
    for step, owner, function in (
        ("read", Assignment, "submission"), ("read", Assignment, "digest"),
        ("read", GradedFolder, "known"), ("rebuild", grade, "_grade"),
        ("run", JudgedExecute, "__call__"), ("record", Recorder, "record"),
        ("publish", GradedFolder, "replace"),
    ):  # fmt: skip
        clock.step(step, owner, function)
    save = ResultWriter.save

    def counted(self: ResultWriter, begun: Any) -> Any:
        found = save(self, begun)
        kept.append(begun.student)
        clock.look()
        judges.append(_judge())
        if len(kept) == warm:
            clock.start()
        return found

    ResultWriter.save = counted  # type: ignore[method-assign]
    NbGraderApp.launch_instance(
        ["autograde", label, "--Autograde.jobs=1", "--log-level=ERROR"]
    )
    clock.look()
    further = len(kept) - warm
    whole = time.process_time() - clock.process  # of all threads
    clock.spent[REST] += whole - sum(clock.spent.values())
    found = {**clock.spent, "grader in all": whole}
    found["judge"] = judges[-1] - judges[warm - 1]
    return {name: seconds / further for name, seconds in found.items()}


def _judge() -> float:
    """CPU seconds of the judge so far, and of what decodes models for it."""
    from autograder.grading.execute import JudgedExecute

    judge = JudgedExecute._judge
    assert judge and isinstance(judge._process, subprocess.Popen)
    times = psutil.Process(judge._process.pid).cpu_times()
    return sum(times[:4])  # user and system, its own and of its children


if __name__ == "__main__":
    main()
