"""What a sandbox costs beside its cells: CPU time and page faults of small notebooks.

``python benchmarks/sandboxes.py`` runs each of some notebooks in a number of sandboxes,
one after the other, and prints a line for each: CPU milliseconds of a sandbox and its
supervisor (what has ended below the warm server), those of the server itself, page
faults, and seconds until a sandbox was ready and until it was gone. Checks are not in
it.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbgrader.utils import is_grade, is_solution

from autograder.checks.words import LEFT_OUT
from autograder.course import find_unit
from autograder.grading.cells.prompt_client import PromptClient
from autograder.sandbox import client
from autograder.sandbox.confine import Policy
from autograder.sandbox.warm import select_on_demand

ERROR = "import torch\ntorch.nn.Linear(3, 4)(torch.ones(2, 2))"
NOTEBOOKS = {
    "nothing": [],
    "40 lines": ["x = 1"] * 40,
    "40 prints": ["print(1)"] * 40,
    "5 errors": ["1 / 0"] * 5,
    "PyTorch's error": [ERROR],
    "a figure": ["import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"],
}
TICK = 1000 / os.sysconf("SC_CLK_TCK")  # milliseconds
FIELDS = {
    "server": (11, 12),
    "sandbox": (13, 14),
    "faults": (8,),
}  # of stat, see proc(5)


def main() -> None:
    """Measure, and print a line for each notebook."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--unit", nargs="*", default=["02"], help="solved, too")
    parser.add_argument("--sandboxes", type=int, default=10, metavar="N")
    options = parser.parse_args()
    os.environ["JUPYTER_DEFAULT_PROVISIONER_NAME"] = "autograder-sandbox"
    os.environ[LEFT_OUT] = "1"
    notebooks = NOTEBOOKS | {f"unit {name}": solved(name) for name in options.unit}
    with tempfile.TemporaryDirectory() as folder:
        for name, cells in notebooks.items():
            print(
                f"{name:<16}", asyncio.run(measured(cells, folder, options.sandboxes))
            )


def solved(unit: str) -> list[str]:
    """A unit's cells as the course solves them, without checks and demonstrations."""
    notebook = nbformat.read(find_unit(unit).source, as_version=4)
    return [
        cell.source
        for cell in notebook.cells
        if cell.cell_type == "code"
        and (is_solution(cell) or not is_grade(cell))
        and not cell.source.startswith("@demo")
    ]


async def measured(cells: list[str], folder: str, sandboxes: int) -> str:
    """What one of a number of sandboxes took, after those that warm up a server."""
    os.environ["AUTOGRADER_SANDBOX_POLICY"] = Policy(
        imports=tuple(select_on_demand(cells))
    ).to_json()
    for _ in range(3):
        await run([], folder)
    server = client._servers[0].pid
    before, waits = spent(server), [0.0, 0.0]
    for _ in range(sandboxes):
        waits = [a + b for a, b in zip(waits, await run(cells, folder), strict=True)]
    await asyncio.sleep(1.5)  # a server collects its children once a second
    after = spent(server)
    each = {name: (after[name] - before[name]) / sandboxes for name in FIELDS}
    ready, gone = (1000 * seconds / sandboxes for seconds in waits)
    return (
        f"sandbox {each['sandbox'] * TICK:6.0f} ms  "
        f"server {each['server'] * TICK:4.0f} ms  "
        f"faults {each['faults']:6.0f}  ready after {ready:4.0f} ms, "
        f"gone after {gone:3.0f}"
    )


async def run(cells: list[str], folder: str) -> tuple[float, float]:
    """Run cells in a sandbox; seconds until it was ready, and until it was gone."""
    manager, started = AsyncKernelManager(), time.monotonic()
    manager.client_class = f"{PromptClient.__module__}.{PromptClient.__name__}"
    await manager.start_kernel(cwd=folder)
    kernel = manager.client()
    kernel.start_channels()
    await kernel.wait_for_ready(timeout=60)
    ready = time.monotonic() - started
    for cell in cells:
        await kernel.execute_interactive(
            cell, timeout=60, allow_stdin=False, stop_on_error=False,
            output_hook=lambda _: None,
        )  # fmt: skip
    ended = time.monotonic()
    await manager.shutdown_kernel(now=True)
    kernel.stop_channels()
    return ready, time.monotonic() - ended


def spent(server: int) -> dict[str, int]:
    """CPU ticks of the server and of what it has collected, and the latter's faults."""
    fields = Path(f"/proc/{server}/stat").read_text().rpartition(")")[2].split()
    return {name: sum(int(fields[n]) for n in at) for name, at in FIELDS.items()}


if __name__ == "__main__":
    main()
