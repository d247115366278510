"""Start slow processes in the background, before they are needed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from traitlets.config import Config

from autograder.grading.settings import Preprocessor, load_class


class Warmable(Protocol):
    """A process, or several, that can be started early."""

    def preload(self) -> None:
        """Start in the background, if it has not been started."""

    def wait(self) -> None:
        """Wait until it can be used; start it if it has not been started.

        Raises:
            CourseError: it cannot be started on this machine.
        """


class Stage:
    """The base class of this package's preprocessors that give verdicts.

    Settings may also name other preprocessors of nbconvert, without these methods.
    """

    @classmethod
    def warmable(cls, config: Config) -> Warmable | None:
        """Return a handle on the graders' shared process, or None if none is needed."""
        return None

    @classmethod
    def depends_on(cls, assignment: str) -> str:
        """A digest of what verdicts depend on; if it changes, grading is repeated."""
        return ""


def stages(preprocessors: Iterable[Preprocessor]) -> list[type[Stage]]:
    """The classes of those preprocessors, given as in settings, that are a `Stage`."""
    return [kind for kind in map(load_class, preprocessors) if issubclass(kind, Stage)]


def warmables(preprocessors: Iterable[Preprocessor], config: Config) -> list[Warmable]:
    """Handles on the processes that all graders with these preprocessors share."""
    shared = (stage.warmable(config) for stage in stages(preprocessors))
    return [warmable for warmable in shared if warmable is not None]
