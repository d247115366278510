"""Errors that a person reads, and a list of all public errors of the engine.

    CourseError                    course/errors.py: one line that says what to do
        UsageError                 course/errors.py: an invalid command line
        NoGradebookError           classroom/gradebook.py
        NothingGradedError         classroom/gradebook.py
        UnreadableError            grading/intake/common.py
        GradebookError             grading/gradebook/book.py
        SetupError                 grading/workers/parallel.py: nothing can be graded
        GradingInfrastructureError grading/faults.py: the submission is graded again
        NotGradedError             extras/watch/watch.py: the next round tries again

The following errors are caught and turned into other messages. About a submission, a
check or a student's object:

    RefusedError                   grading/intake/common.py: the student reads why
    WrongAnswerError               checks/exercise.py: the object cannot be observed
    RejectedAnswerError            checks/measures.py: answers that earn no points
    ByHandError                    checks/properties/learning.py: not PyTorch's dropout
    TooLongError                   checks/time_limit.py: code that does not end
    CannotTraceError               checks/tracing.py
    NotListedError                 extras/questions/listing.py
    GradeRefusedError              extras/lti/web.py: one student's grade
    NothingObservedError           extras/questions/observations.py
    NotPlacedError                 classroom/lms/archive.py: a file or an archive

About processes, sandboxes and files:

    ConnectionLostError            grading/ipc.py
        ConnectionTimeoutError     grading/ipc.py
    WireError                      checks/wire.py: no message, or nothing in time
    ExcessError                    sandbox/messages.py: more than a kernel sends
    ConfinementError               sandbox/confine/policy.py: no student code may run
        NotStartedError            sandbox/client.py
        NoRoomError                sandbox/slot.py: the disk is full
    UnfitError                     sandbox/fork_server.py: it must not fork
    WorkerDiedError                grading/workers/parallel.py
    GradingFaultError              grading/workers/reply.py: raised in a worker
    NoSandboxError                 grading/workers/cluster.py: a machine cannot grade
    ReferenceFileError             checks/references.py
    BrokenCatalogueError           checks/language.py
    ProgressFileError              checks/progress.py
"""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path


class CourseError(Exception):
    """Bad input or a broken course: the text says in one line what to do about it."""


class UsageError(CourseError):
    """An invalid command line, such as a wrong option's value or an unknown unit."""


class Faults(list[str]):
    """A list of faults to report together; each takes one line or more."""

    @contextlib.contextmanager
    def collect(self) -> Iterator[None]:
        """Add the message of a CourseError in the ``with`` block, and go on after it.

        Raises:
            UsageError: the command line is wrong, so this is not a fault in a file.
        """
        try:
            yield
        except UsageError:
            raise
        except CourseError as error:
            self += str(error).splitlines()

    def refuse(self) -> None:
        """Raise a CourseError that lists each fault once, if there are any."""
        if self:
            raise CourseError("\n".join(dict.fromkeys(self)))


def list_matches(name: str, matches: Iterable[str]) -> str:
    """Say what an ambiguous name may stand for: '"mask" may be a-mask or b-mask'."""
    return f'"{name}" may be {" or ".join(matches)}'


def list_present(names: Sequence[str]) -> str:
    """Say which names exist: "there are 01_first, 02_second"."""
    verb = "is" if len(names) == 1 else "are"
    return f"there {verb} {', '.join(names) or 'none'}"


def describe_fault(
    error: Exception, root: Path, within: Path | None = None, otherwise: str = ""
) -> str:
    """Describe an unexpected error in one line: where it was raised, and what it is.

    Args:
        root: the course folder, to which file names are relative.
        within: the folder of the file to name; by default, the course folder.
        otherwise: the file to name if the traceback has none in that folder.
    """
    if isinstance(error, CourseError):
        return str(error)
    places = [(f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__)]
    text = str(error)
    if isinstance(error, SyntaxError) and error.filename:
        text = error.msg
        places.append((error.filename, error.lineno))
    first = next(iter(text.splitlines()), "")
    message = f"{type(error).__name__}: {first}".removesuffix(": ")
    for name, line in reversed(places):
        if Path(name).is_relative_to(within or root):
            return f"{Path(name).relative_to(root)}:{line}: {message}"
    return f"{otherwise}: {message}" if otherwise else message
