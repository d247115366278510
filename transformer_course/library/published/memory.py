"""Check, before a model is loaded, that there is enough memory for it."""

from __future__ import annotations

import contextlib
from pathlib import Path

from transformer_course.library.published.catalogue import Listing, PublishedModelError

_SYSTEM = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")  # a container's own limit


def require_memory(listing: Listing) -> None:
    """Raise PublishedModelError if too little memory seems free for a model."""
    free = available()
    if free is not None and free < listing.memory:
        raise PublishedModelError(
            f"{describe_shortage(listing)}; {free / 1e9:.1f} GB is free"
        )


def describe_shortage(listing: Listing) -> str:
    """The message for a model that needs more memory than is available."""
    return (
        f"{listing.title} takes {listing.memory / 1e9:.1f} GB of memory: close other "
        "notebooks and run this again"
    )


def available() -> int | None:
    """Bytes of memory that are still available to a process; None if unknown."""
    bounds = []
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = _SYSTEM.read_text().splitlines()
        line = next(line for line in lines if line[:13] == "MemAvailable:")
        bounds.append(1024 * int(line.split()[1]))
    with contextlib.suppress(OSError, ValueError):  # "max": no limit
        limit = int((_GROUP / "memory.max").read_text())
        bounds.append(limit - int((_GROUP / "memory.current").read_text()))
    return min(bounds, default=None)
