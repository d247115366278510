"""Build units for `autograder build`: several at once, each in a separate process."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
import threading
from argparse import Namespace
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

from autograder.course import ROOT, Unit
from autograder.course.errors import Faults, UsageError
from autograder.course.printable import format_count
from autograder.sandbox import logs

# Lines that the build of a unit prints: to stdout, and to stderr; and its faults.
Outcome = tuple[list[str], list[str], list[str]]


def build_units(units: Sequence[Unit], options: Namespace) -> None:
    """Build units in the chosen edition, and print what has changed.

    The edition decides which exercises are given, so that the notebook contains
    their solutions.

    Args:
        options: the values of ``--edition``, ``--given`` and perhaps ``--jobs``.

    Raises:
        CourseError: some units have faults; the message lists all of them.
        UsageError: an option has an invalid value.
    """
    from autograder.authoring.translations import install
    from autograder.grading.workers.parallel import usable_cores

    if (jobs := getattr(options, "jobs", 1)) < 0:
        raise UsageError("--jobs must be 0 or more")
    jobs = min(jobs or usable_cores(), len(units))
    edition = options.edition, options.given
    outcomes = (
        _build_in_processes(units, edition, jobs)
        if jobs > 1
        else (_build(unit, *edition) for unit in units)
    )
    faults = Faults()
    for lines, remarks, unit_faults in outcomes:
        for line in lines:
            print(line, flush=True)
        for remark in remarks:
            print(remark, file=sys.stderr)
        faults += unit_faults
    with faults.collect():
        for path in install(ROOT):
            print(path.relative_to(ROOT))
    faults.refuse()


def _build_in_processes(
    units: Sequence[Unit], edition: tuple[str, str], jobs: int
) -> Iterator[Outcome]:
    """Build units, ``jobs`` of them at once, and yield their outcomes in order.

    ``edition`` holds the last two arguments of `_build`.
    """
    from autograder.authoring.course import changes_solutions

    is_verbose = logging.getLogger("autograder").isEnabledFor(logging.DEBUG)
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, context, _begin_process, (is_verbose,))
    try:
        futures = {}
        for unit in sorted(units, key=lambda unit: unit.number):
            is_changing = changes_solutions(unit)
            futures[unit] = pool.submit(_build, unit, *edition)
            if is_changing:  # the later units import its solutions
                wait([futures[unit]])
        yield from (futures[unit].result() for unit in units)
    except BrokenProcessPool:
        yield [], [], ["a process that built units died; build them with --jobs=1"]
    except BaseException:
        for process in multiprocessing.active_children():
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _begin_process(is_verbose: bool) -> None:
    """Let a worker process ignore Ctrl-C, and end when the main process has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if is_verbose:
        logs.begin("build", debug=True)


def _end_with_parent() -> None:
    """Wait until the main process has ended, or was killed; then end this process."""
    parent = multiprocessing.parent_process()
    assert parent
    parent.join()
    os._exit(1)


def _build(unit: Unit, edition_name: str, given: str) -> Outcome:
    """Build a unit in an edition, and describe what changed.

    Args:
        edition_name: "full", "short", or "" for the edition that was built last.
        given: exercises to hand out solved, separated by commas.

    Returns:
        Lines to print to stdout, lines for stderr, and the unit's faults.
    """
    from autograder.authoring import edition
    from autograder.authoring.course import build
    from autograder.authoring.translations import coverage

    lines, remarks, faults = list[str](), list[str](), Faults()
    with faults.collect():
        given_names = None
        if edition_name or given:
            names = [name.strip() for name in given.split(",") if name.strip()]
            given_names = edition.select_given(
                unit, edition_name or edition.NAMES[0], names
            )
        changed, reason = build(unit, given_names)
        listed = ", ".join(str(p.relative_to(unit.root)) for p in changed)
        lines.append(f"{name_edition(unit)}: {listed or 'up to date'}")
        lines += [f"    {line}" for line in reason.splitlines()]
        if summary := coverage(unit):
            lines.append(f"{unit.label}: {summary}")
        remarks += [
            f"{unit.label}: {key} is given, and its solution also solves {exercise}"
            for key, exercise in edition.find_giveaways(unit, edition.read_given(unit))
        ]
    return lines, remarks, faults


def name_edition(unit: Unit) -> str:
    """A unit's label, with the number of exercises that are given, if any are."""
    from autograder.authoring.edition import read_given

    count = len(read_given(unit))
    remark = f" ({format_count(count, 'exercise')} given)" if count else ""
    return f"{unit.label}{remark}"
