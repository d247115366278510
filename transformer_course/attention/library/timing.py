"""Measure the time that a function takes on one thread."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch import Tensor


def fastest(function: Callable[..., object], *arguments: Tensor) -> float:
    """Return the fastest CPU time in ms of ten calls on one thread, after a warm-up."""
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
