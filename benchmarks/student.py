"""What a check costs a student: CPU time beside their own, and bytes of a panel.

``python benchmarks/student.py --unit attention multi_head_attention`` runs the visible
check of each exercise on the notebook's solution, a few times, and takes the median;
the solution's own time is in it. Then it makes the panel of each mistake's first
variant, and takes the largest. Last, in a fresh process, the time from `import torch`
to the first panel.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import torch

from autograder.authoring.catalogue import specifications
from autograder.authoring.specification import Specification
from autograder.authoring.variants import build_object
from autograder.checks.check import Check
from autograder.checks.panel import as_html
from autograder.course import find_unit

MILLISECONDS, KILOBYTES, SECONDS = 50, 60, 0.5  # what a check may take at most
UNITS = ["positional_encoding", "attention", "multi_head_attention", "encoder_decoder"]

_FIRST = """
import time
import torch
started = time.process_time()
from autograder import check
from transformer_course.solutions import attention
check("attention/softmax", attention.stable_softmax)._repr_html_()
print("first panel", time.process_time() - started)
"""


def main() -> None:
    """Measure, and print a line for each exercise and for the whole."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--unit", nargs="+", default=UNITS)
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    spent, sizes = [], []
    units = [find_unit(name).name for name in options.unit]
    for exercise in (e for unit in units for e in specifications(unit)):
        spent.append(milliseconds(exercise, options.times))
        sizes.append(max(kilobytes(exercise), default=0.0))
        print(
            f"{exercise.name:<44} {spent[-1]:7.1f} ms   {sizes[-1]:6.1f} kB", flush=True
        )
    print(f"median {statistics.median(spent):.1f} ms (at most {MILLISECONDS}), "
          f"largest panel {max(sizes):.1f} kB (at most {KILOBYTES})")  # fmt: skip
    first = statistics.median(first_panel() for _ in range(3))
    print(f"first panel {first:.2f} s beyond torch's import (at most {SECONDS})")


def milliseconds(exercise: Specification, times: int) -> float:
    """The median CPU time of a check of the solution, after a first one."""
    check, answer = Check(), build_object(exercise)
    check._verdict(exercise.name, answer, ("public",))
    found = []
    for _ in range(times):
        started = time.process_time()
        as_html(check._verdict(exercise.name, answer, ("public",)))
        found.append(1000 * (time.process_time() - started))
    return statistics.median(found)


def kilobytes(exercise: Specification) -> Iterator[float]:
    """The size of the panel of each mistake's first variant."""
    for mutant in exercise.mutants:
        answer = build_object(exercise, mutant.variants[0])
        verdict = Check()._verdict(exercise.name, answer, ("public",))
        yield len(as_html(verdict).encode()) / 1024


def first_panel() -> float:
    """Seconds of CPU from `import torch` to the first panel, in a fresh process."""
    run = subprocess.run(
        [sys.executable, "-c", _FIRST], capture_output=True, text=True, check=True
    )
    (line,) = (
        line for line in run.stdout.splitlines() if line.startswith("first panel")
    )
    return float(line.split()[-1])


if __name__ == "__main__":
    main()
