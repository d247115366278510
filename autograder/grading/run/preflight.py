"""Check the resource limits of the shell, before grading begins."""

from __future__ import annotations

import contextlib
import os
import resource

from autograder.course.errors import CourseError
from autograder.sandbox.confine.limits import count_account_threads

_FILES = 64  # for sockets, pipes, the gradebook; and as many for each job
# For the command itself, the server, the judge and a sandbox; as many for each job.
_THREADS = 24


def check_ulimits(jobs: int) -> None:
    """Check that the shell's limits allow grading ``jobs`` submissions at once.

    The limit of open files is raised if it can be.

    Raises:
        CourseError: a limit is too low; the text says which one to raise.
    """
    _refuse_few_files(_FILES * (jobs + 1))
    if os.geteuid():  # nothing is counted for root
        _refuse_few_threads(_THREADS * (jobs + 1))


def _refuse_few_files(needed: int) -> None:
    """Raise the limit of open files to ``needed``, or as far as the hard limit allows.

    Raises:
        CourseError: fewer than `_FILES` open files are allowed, even so.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard == resource.RLIM_INFINITY or hard > soft:
        raised = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
            soft = raised
    if soft < _FILES:
        raise CourseError(
            f"this shell allows {soft} open files, which is too few; run: "
            f"ulimit -n {needed}"
        )


def _refuse_few_threads(needed: int) -> None:
    """Raise a CourseError if fewer processes and threads are left than needed."""
    most, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    if most == resource.RLIM_INFINITY or most >= needed + (
        used := count_account_threads()
    ):
        return
    raise CourseError(
        f"this account may have {most} processes and threads and has {used}; grading "
        f"needs {needed} more: run ulimit -u {used + needed}, or end some"
    )
