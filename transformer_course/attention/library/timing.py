"""Measure the time that a function takes on one thread."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch import Tensor


def fastest(function: Callable[..., object], *arguments: Tensor) -> float:
    """The milliseconds of the fastest of ten calls, after a first one to warm up.

    Only the CPU time of one thread is measured, because other processes and the cost
    of distributing short calls over threads would hide how the work grows.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        function(*arguments)
        times = []
        for _ in range(10):
            start = time.thread_time()
            function(*arguments)
            times.append(time.thread_time() - start)
    finally:
        torch.set_num_threads(threads)
    return 1000 * min(times)
