"""LMSs that extras reach over the network, in place of files that a person uploads."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from autograder import seams
from autograder.classroom.classbook import Classbook


@dataclass(frozen=True)
class Delivery:
    """What was sent: lines to print, and whether nothing in them needs a look."""

    lines: tuple[str, ...]
    is_complete: bool


@dataclass(frozen=True)
class Service:
    """An LMS that is reached over the network.

    Attributes:
        send_grades: from a class book and the course folder; then whether to send
            nothing, and whether a score in the LMS may become lower.
        fetch: writes what was handed in of an assignment of a course into a folder, as
            an archive that ``autograder collect`` reads, and returns remarks; None if
            it cannot.
        send_feedback: attaches the feedback pages of an assignment of a course, unless
            the last argument is true; None if it cannot.
    """

    send_grades: Callable[[Classbook, Path, bool, bool], Delivery]
    fetch: Callable[[str, Path, Path], list[str]] | None = None
    send_feedback: Callable[[str, Path, bool], Delivery] | None = None


@functools.cache
def all_services() -> dict[str, Service]:
    """The services of all extras, by name."""
    modules = seams.modules("commands")
    return {
        name: service
        for module in modules
        for name, service in getattr(module, "SERVICES", {}).items()
    }


def that_can(action: str) -> tuple[str, ...]:
    """The names of the services that can do something, like "fetch"."""
    services = all_services()
    return tuple(name for name in services if getattr(services[name], action))
