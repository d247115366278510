"""Process an untrusted file in a separate process with limits."""

from __future__ import annotations

import json
import os
import resource
import signal
import traceback
from collections.abc import Callable
from pathlib import Path

import torch

from autograder.checks.exercise import WrongAnswerError
from autograder.course import child


def run_in_limited_fork(
    work: Callable[[], object], seconds: int, megabytes: int
) -> object:
    """Call a function in a fork of this process, and return its result, sent as JSON.

    This is for work on untrusted files, which could crash this process.

    Args:
        seconds: the limit on CPU time.
        megabytes: the limit on address space, beyond what this process uses.

    Raises:
        WrongAnswerError: the function raised it, exceeded the CPU time, or crashed
            with SIGABRT, SIGSEGV or SIGBUS.
        RuntimeError: the process ended without a result for any other reason, such
            as a different exception.
    """
    parent = os.getpid()
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reading)
            _limit_process(seconds, megabytes, parent)
            with open(writing, "w", encoding="utf-8") as pipe:
                json.dump(_report_outcome(work), pipe)
            # This ends the process at once, so `finally` is reached only on errors.
            os._exit(0)
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(1)
    os.close(writing)
    with open(reading, encoding="utf-8") as pipe:
        text = pipe.read()
    ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if ended in (-signal.SIGXCPU, -signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS):
        raise WrongAnswerError(
            f"its process was ended: {signal.strsignal(-ended)} (at most {seconds} "
            f"seconds of CPU time, {megabytes} MB)"
        )
    if ended:
        raise RuntimeError(f"a process of ours has ended with {ended}")
    outcome = json.loads(text)
    if "wrong" in outcome:
        raise WrongAnswerError(outcome["wrong"])
    return outcome["made"]


def _report_outcome(work: Callable[[], object]) -> dict[str, object]:
    """Call a function, and return {"made": its result}.

    If it raises a WrongAnswerError, return {"wrong": the error's text} instead.
    """
    try:
        return {"made": work()}
    except WrongAnswerError as error:
        return {"wrong": str(error)}


def _limit_process(seconds: int, megabytes: int, parent: int) -> None:
    """Limit this process's CPU time and address space, and end it with its parent.

    Outside Linux, only the CPU time is limited. ``parent`` is a process id.
    """
    child.end_with_parent()
    if os.getppid() != parent:  # the parent ended before the line above
        os._exit(1)
    torch.set_num_threads(1)  # a fork does not inherit PyTorch's worker threads
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    statm = Path("/proc/self/statm")
    if statm.exists():
        current = int(statm.read_text().split()[0]) * resource.getpagesize()
        most = current + megabytes * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
