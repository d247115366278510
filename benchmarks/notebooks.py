"""What each notebook costs: CPU seconds on one core, solved and blank.

    python benchmarks/notebooks.py [UNIT ...]

Prints a row a unit with its budget; the interpreter's start and the imports count, too.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # read when torch is imported

import nbformat
from nbclient import NotebookClient

from autograder.course import find_unit, units

BUDGET = {"01": 60, "02": 60, "03": 90, "04": 90, "05": 120, "06": 300}  # seconds


def cpu_seconds(path: Path) -> float:
    """User and system time of running a notebook in a kernel of its own."""
    before = _children()
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        NotebookClient(notebook, timeout=900, resources=resources).execute()
    return _children() - before


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Measure the named units, or all."""
    print(f"{'unit':<26}{'solved':>9}{'blank':>9}{'budget':>9}")
    for unit in [find_unit(name) for name in sys.argv[1:]] or units():
        solved, blank = map(cpu_seconds, (unit.source, unit.release))
        budget = BUDGET[unit.number]
        print(f"{unit.label:<26}{solved:>7.1f} s{blank:>7.1f} s{budget:>7} s")


if __name__ == "__main__":
    main()
