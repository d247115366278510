"""Find the extras that connect to LMSs over the network, without files to upload."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from autograder import seams
from autograder.classroom.classbook import Classbook


@dataclass(frozen=True)
class Delivery:
    """The lines to print after sending to an LMS, and whether all went well."""

    lines: tuple[str, ...]
    is_complete: bool


@dataclass(frozen=True)
class Service:
    """An LMS that is reached over the network.

    Attributes:
        send_grades: called with the class book, the course folder, whether to send
            nothing (a dry run), and whether a score in the LMS may become lower.
        fetch: called with an assignment, the course folder and a target folder;
            downloads submissions there for ``autograder collect``, and returns
            remarks. None if that is impossible.
        send_feedback: called with an assignment, the course folder, and whether to
            send nothing. None if that is impossible.
    """

    send_grades: Callable[[Classbook, Path, bool, bool], Delivery]
    fetch: Callable[[str, Path, Path], list[str]] | None = None
    send_feedback: Callable[[str, Path, bool], Delivery] | None = None


@functools.cache
def all_services() -> dict[str, Service]:
    """Return the services of all extras, by the names that users give to commands."""
    modules = seams.modules("commands")
    return {
        name: service
        for module in modules
        for name, service in getattr(module, "SERVICES", {}).items()
    }


def names_supporting(action: str) -> tuple[str, ...]:
    """The names of the services that support an action, such as "fetch"."""
    services = all_services()
    return tuple(name for name in services if getattr(services[name], action))
