"""What takes long to start is begun in the background, before anybody needs it."""

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
        """Wait until it can be used; start it, if nobody has.

        Raises:
            CourseError: it cannot be started on this machine.
        """


class Stage:
    """A preprocessor of ours that grades.

    Settings may name others of nbconvert's beside it: nothing is asked of those.
    """

    @classmethod
    def warmable(cls, config: Config) -> Warmable | None:
        """What the processes that grade with these settings share, if anything."""
        return None

    @classmethod
    def depends_on(cls, assignment: str) -> str:
        """What verdicts on a unit depend on; if it changes, all are graded again."""
        return ""


def stages(preprocessors: Iterable[Preprocessor]) -> list[type[Stage]]:
    """Those of some preprocessors that are ours."""
    return [kind for kind in map(load_class, preprocessors) if issubclass(kind, Stage)]


def warmables(preprocessors: Iterable[Preprocessor], config: Config) -> list[Warmable]:
    """What the processes that grade with these preprocessors share."""
    shared = (stage.warmable(config) for stage in stages(preprocessors))
    return [warmable for warmable in shared if warmable is not None]
