"""The floor of grading: students' cells and all tests, and nothing else.

They are run by ``exec`` in a process forked from one that has imported everything,
hidden tests, too, without demonstrations. No Jupyter, no sandbox, no judge, no
gradebook.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import nbformat

from autograder.checks.words import LEFT_OUT
from autograder.classroom import sample
from autograder.course import Unit
from autograder.course.files import write
from autograder.grading.intake import rebuild
from autograder.sandbox.inside import THREADS


def floor(unit: Unit, class_: dict[str, bytes]) -> tuple[float, float]:
    """The mean seconds and CPU seconds of a class's notebooks."""
    with tempfile.TemporaryDirectory() as folder:
        notebooks = {
            f"{student}.ipynb": _as_graded(unit, data)
            for student, data in class_.items()
        }
        for name, data in (notebooks | sample.beside(unit)).items():
            write(Path(folder) / name, data)
        text = subprocess.run(
            [sys.executable, __file__, folder],
            cwd=folder,
            env=os.environ | THREADS | {LEFT_OUT: "1"},
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
        ).stdout  # fmt: skip
    costs = json.loads(text)
    wall, cpu = (sum(column) / len(costs) for column in zip(*costs, strict=True))
    return wall, cpu


def _as_graded(unit: Unit, data: bytes) -> bytes:
    """A submission with all of the instructor's tests, as grading rebuilds it."""
    source, release = (
        nbformat.read(path, as_version=4) for path in (unit.source, unit.release)
    )
    notebook, _ = rebuild(source, release, data)
    text: str = nbformat.writes(notebook)
    return text.encode()


def main(folder: Path) -> None:
    """Print the seconds and the CPU seconds of each notebook, as JSON."""
    from autograder.sandbox import fork_server, warm

    fork_server.preload()
    for modules in warm.ON_DEMAND.values():
        fork_server.import_all(modules)
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


if __name__ == "__main__":
    main(Path(sys.argv[1]))
