"""Huge pages for the server's memory, which make its forks cheaper.

Without them, a fork copies a table with an entry for every 4 kB of memory.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path

from autograder.sandbox.confine.system import LIBC

_SIZE = Path("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size")
_COLLAPSE = 25  # MADV_COLLAPSE, since Linux 6.1


def collapse() -> None:
    """Move what the calling process has written into huge pages, if the system can."""
    try:
        size = int(_SIZE.read_text())
        areas = list(_find_private_areas(Path("/proc/self/maps").read_text()))
    except (OSError, ValueError):  # a system without large pages
        return
    for first, last in areas:
        start, end = -(-first // size) * size, last // size * size
        if start < end:
            place, length = ctypes.c_void_p(start), ctypes.c_size_t(end - start)
            LIBC.madvise(place, length, _COLLAPSE)


def _find_private_areas(maps: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each private area in /proc/PID/maps: no file, no stack."""
    for line in maps.splitlines():
        place, modes, _, _, _, *name = line.split(maxsplit=5)
        if modes == "rw-p" and name in ([], ["[heap]"]):
            first, last = (int(end, 16) for end in place.split("-"))
            yield first, last
