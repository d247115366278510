"""Whether a model has room in memory, before it is read."""

from __future__ import annotations

import contextlib
from pathlib import Path

from transformer_course.library.published.catalogue import Listing, PublishedModelError

_SYSTEM = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")  # a container's own limit


def demand(listing: Listing) -> None:
    """Refuse a model that memory is too small for, where that can be known.

    Raises:
        PublishedModelError: there is too little.
    """
    free = available()
    if free is not None and free < listing.memory:
        raise PublishedModelError(f"{too_little(listing)}; {free / 1e9:.1f} GB is free")


def too_little(listing: Listing) -> str:
    """What to do where a model has no room."""
    return (
        f"{listing.title} takes {listing.memory / 1e9:.1f} GB of memory: close other "
        "notebooks and run this again"
    )


def available() -> int | None:
    """Bytes of memory that a process may still take; None where nothing tells."""
    bounds = []
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = _SYSTEM.read_text().splitlines()
        line = next(line for line in lines if line[:13] == "MemAvailable:")
        bounds.append(1024 * int(line.split()[1]))
    with contextlib.suppress(OSError, ValueError):  # "max": no limit
        limit = int((_GROUP / "memory.max").read_text())
        bounds.append(limit - int((_GROUP / "memory.current").read_text()))
    return min(bounds, default=None)
