"""Notes on each collected submission, for later collections, reports and feedback."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from pathlib import Path

from autograder.course import files


@dataclass(frozen=True)
class Note:
    """What an LMS's archive says about a submission that was collected.

    Attributes:
        kind: where ``time`` (in ISO format) is from: "lms", "zip" for a file in the
            archive, or "" if it is unknown.
        origin: the name of the submission's first file in the archive.
        late: whether the LMS calls it late.
        claimant: the person who handed it in, as the LMS identifies them.
    """

    kind: str = ""
    time: str = ""
    lms: str = ""
    origin: str = ""
    late: bool = False
    attempts: int = 1
    claimant: str = ""


def read(root: Path, unit: str) -> dict[str, Note]:
    """Read the notes on an assignment, by student; none if nothing was collected.

    Raises:
        CourseError: the file of the notes cannot be read.
    """
    noted = files.read_json_state(_path(root, unit))
    names = {field.name for field in fields(Note)}
    # Fields that another version of the engine has written are ignored.
    return {
        student: Note(**{k: v for k, v in note.items() if k in names})
        for student, note in noted.items()
    }


def write(root: Path, unit: str, student: str, note: Note) -> None:
    """Store the note on a student's submission in place of an older one."""
    with files.changing_json_state(_path(root, unit)) as notes:
        notes[student] = asdict(note)


def _path(root: Path, unit: str) -> Path:
    return root / ".autograder" / "collected" / f"{unit}.json"
