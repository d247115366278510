"""A large class: do memory and seconds stay flat, is the book right, is anything left?

    python benchmarks/large_class.py                         # 1,000 of unit 1
    python benchmarks/large_class.py --submissions 100 --unit 02
    python benchmarks/large_class.py --unit 04 --only felix  # nothing solved: quick

The sample class's submissions, over and over, are graded by one `nbgrader autograde`.
It is watched from outside: when each notebook is published, and the memory (PSS) of the
command and all of its processes. Afterwards all copies of a submission must have the
same scores in the gradebook, those that the same submission has in a class of a dozen
graded one after the other; the report must tell as many people and points; and no
process and no temporary file may be left.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from autograder.classroom import gradebook, sample
from autograder.course import ROOT, Unit, find_unit, graded_notebooks
from autograder.course.errors import CourseError
from autograder.grading.workers.parallel import usable_cores
from benchmarks.grading import write_course
from benchmarks.tables import table
from benchmarks.watch import ROLES, Watched, watched

EVERY = 2.0  # seconds between two looks


def main() -> None:
    """Grade, watch and compare; exit with 1 if something is wrong."""
    options = _options()
    unit, made = options.unit, sample.submissions(options.unit)
    if unknown := set(options.only) - set(made):
        sys.exit(f"no {sorted(unknown)[0]} in the sample class: {' '.join(made)}")
    made = {name: made[name] for name in options.only or made}
    names = list(made)
    class_ = {
        f"{n:05}-{names[n % len(names)]}": made[names[n % len(names)]]
        for n in range(options.submissions)
    }
    with tempfile.TemporaryDirectory(prefix="large-class-") as folder:
        small, large = Path(folder) / "small", Path(folder) / "large"
        _course(unit, {f"0-{name}": data for name, data in made.items()}, small)
        _nbgrader(small, unit, 1)
        _course(unit, class_, large)
        looks = _watched(large, unit, options)
        problems = _other_scores(unit, small, large) + _left(large)
        problems += _other_report(unit, large, len(class_))
        _print(unit, large, looks)
    print(
        "\n".join(problems) or "Every score and the report are right; nothing is left."
    )
    sys.exit(bool(problems))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--unit", default="positional_encoding")
    parser.add_argument("--submissions", type=int, default=1000, metavar="N")
    parser.add_argument("--jobs", type=int, default=usable_cores(), metavar="N")
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="STUDENT", help="of the sample class"
    )
    options = parser.parse_args()
    try:
        options.unit = find_unit(options.unit)
    except CourseError as error:
        parser.error(str(error))
    if options.submissions < 20:
        parser.error("--submissions: at least 20, to be told by tenths")
    return options


def _course(unit: Unit, class_: dict[str, bytes], root: Path) -> None:
    write_course(unit, class_, root, (ROOT / "nbgrader_config.py").read_text())
    (root / "tmp").mkdir()
    _nbgrader(root, unit, None)


def _nbgrader(
    root: Path, unit: Unit, jobs: int | None,
    look: Callable[[Mapping[str, float]], None] = lambda _: None,
) -> Watched:  # fmt: skip
    """Grade with so many jobs; with None, make the release."""
    command = ["autograde", f"--Autograde.jobs={jobs}"] if jobs else [
        "generate_assignment"
    ]  # fmt: skip
    return watched(
        [sys.executable, "-m", "nbgrader", command[0], unit.label, *command[1:]],
        root, os.environ | {"TMPDIR": str(root / "tmp")}, EVERY, look,
    )  # fmt: skip


# --- watching ------------------------------------------------------------------------


@dataclass(frozen=True)
class Look:
    """Seconds so far, notebooks published, megabytes of each role."""

    seconds: float
    done: int
    memory: dict[str, float]


def _watched(root: Path, unit: Unit, options: argparse.Namespace) -> list[Look]:
    looks: list[Look] = []
    started = time.monotonic()
    with tqdm(total=options.submissions, desc=unit.label) as bar:

        def look(memory: Mapping[str, float]) -> None:
            done = len(graded_notebooks(unit.label, root))
            looks.append(Look(time.monotonic() - started, done, dict(memory)))
            bar.update(done - bar.n)

        _nbgrader(root, unit, options.jobs, look)
    return looks


def _print(unit: Unit, root: Path, looks: Sequence[Look]) -> None:
    """Seconds and memory by tenths of the class, the first and the last apart."""
    stamps = sorted(
        p.stat().st_mtime for p in graded_notebooks(unit.label, root).values()
    )
    share = max(1, len(stamps) // 10)
    print(
        f"\n{unit.label}, {len(stamps)} submissions, {looks[-1].seconds:.0f} s in all"
    )
    print("Seconds each, and the most megabytes at a moment:\n")
    rows = []
    for first in range(share, len(stamps) - share + 1, share):
        last = min(first + share, len(stamps) - 1)
        each = (stamps[last] - stamps[first]) / (last - first)
        during = [look for look in looks if first <= look.done < first + share]
        most = [max((o.memory[role] for o in during), default=0) for role in ROLES]
        whole = max((sum(o.memory.values()) for o in during), default=0)
        sizes = [f"{size:.0f}" for size in (*most, whole)]
        rows.append([f"{first} to {first + share}", f"{each:.3f}", *sizes])
    print(table(["submissions", "seconds", *ROLES, "in all"], rows))


# --- afterwards ----------------------------------------------------------------------


def _other_scores(unit: Unit, small: Path, large: Path) -> list[str]:
    expected = {
        submission.student.id.partition("-")[2]: submission.points
        for submission in gradebook.read(unit.label, small).submissions
    }
    found = gradebook.read(unit.label, large).submissions
    return [
        f"{one.student.id}: {one.points} instead of {wanted}"
        for one in found
        if one.points != (wanted := expected[one.student.id.partition("-")[2]])
    ]


def _other_report(unit: Unit, root: Path, submissions: int) -> list[str]:
    program = [Path(sys.executable).with_name("autograder"), "report", unit.label]
    subprocess.run(program, cwd=root, check=True, stdout=subprocess.DEVNULL)
    with (root / "reports" / f"{unit.label}.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    told = sum(float(row["score"]) for row in rows)
    scores = [one.score for one in gradebook.read(unit.label, root).submissions]
    if len(rows) != submissions or abs(told - sum(scores)) > 0.01 * submissions:
        return [f"the report tells {len(rows)} people and {told} points"]
    return []


def _left(root: Path) -> list[str]:
    here = str(root)
    processes = [
        f"left: process {process.pid} {' '.join(process.cmdline())[:80]}"
        for process in psutil.process_iter()
        if _belongs(process, here)
    ]
    files = [path for path in (root / "tmp").rglob("*") if path.is_file()]
    files += [*root.glob(".autograder/work-*/*"), *root.rglob("*.part")]
    return processes + [f"left: {path}" for path in files]


def _belongs(process: psutil.Process, folder: str) -> bool:
    try:
        return folder in (process.cwd(), process.environ().get("TMPDIR", ""))
    except psutil.Error:
        return False


if __name__ == "__main__":
    main()
