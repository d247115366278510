"""Where the CPU time of judging goes: an exercise's drawing, the judge, the sandbox.

``python benchmarks/stages.py --unit attention encoder_decoder`` has the notebook's
solution of each exercise judged, as in grading, by a judge and a sandbox that are two
threads of one process, so that the time of each is its own thread's and a busy machine
is unjust to none. Neither Jupyter nor the walls of a sandbox are in it.
"""

from __future__ import annotations

import argparse
import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import torch

from autograder.authoring.cases import fresh_cases
from autograder.authoring.catalogue import specifications
from autograder.authoring.specification import Specification
from autograder.authoring.variants import build_object
from autograder.checks import agent
from autograder.course import find_unit
from autograder.grading.judge.exchange import Seconds
from autograder.grading.judge.judging import decide
from autograder.grading.judge.preparing import prepare_check
from autograder.grading.judge.questioning import SandboxClient
from autograder.sandbox.meter import Meter

TICKET, SECONDS = "t", 60.0
HEADS = ("drawing", "judge", "sandbox")


def main() -> None:
    """Measure, and print a line for each exercise and for each unit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--unit", nargs="+", default=["attention", "encoder_decoder"])
    options = parser.parse_args()
    torch.set_num_threads(1)
    for unit in (find_unit(name).name for name in options.unit):
        total = [0.0, 0.0, 0.0]
        for exercise in specifications(unit):
            judged(exercise, "first")  # what only a first call takes
            drawing = spent(lambda one=exercise: fresh_cases(one, "second"))
            found = (drawing, *judged(exercise, "second"))
            total = [a + b for a, b in zip(total, found, strict=True)]
            print_row(exercise.name, found)
        print_row(f"{unit}, all", total)


def judged(exercise: Specification, seed: str) -> tuple[float, float]:
    """CPU seconds of the judge, which draws, asks and decides, and of the sandbox."""
    ours, theirs = socket.socketpair()
    answer, sandbox = build_object(exercise), []
    with ours, theirs:
        os.environ[agent.CHANNEL] = str(theirs.fileno())

        def serve() -> None:
            agent.serve(exercise.name, TICKET, lambda: answer)

        thread = threading.Thread(target=lambda: sandbox.append(spent(serve)))
        thread.start()
        check = prepare_check(exercise.name, seed)
        asked = SandboxClient(ours, TICKET, Meter(None), Seconds(SECONDS))
        asked.await_ready()
        judge = spent(lambda: decide(check, asked))
        thread.join()
    return judge, sandbox[0]


def spent(work: Callable[[], object]) -> float:
    """CPU seconds of this thread."""
    started = time.thread_time()
    work()
    return time.thread_time() - started


def print_row(name: str, seconds: tuple[float, ...] | list[float]) -> None:
    """A line with milliseconds."""
    cells = (f"{h} {1000 * s:6.0f} ms" for h, s in zip(HEADS, seconds, strict=True))
    print(f"{name:<44}", *cells, sep="  ", flush=True)


if __name__ == "__main__":
    main()
