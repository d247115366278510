"""What a collection noted of each submission, for later ones, reports and feedback."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from pathlib import Path

from autograder.course import files


@dataclass(frozen=True)
class Note:
    """What an archive says of a submission that was placed.

    Attributes:
        kind: "lms" for a time of handing in, "zip" for one that the archive has, "".
        time: that time, in ISO format.
        lms: whose archive it was.
        origin: what its first file was called there.
        late: whether the LMS calls it late.
        attempts: how many there were in the archive.
        claimant: who handed it in, by the LMS.
    """

    kind: str = ""
    time: str = ""
    lms: str = ""
    origin: str = ""
    late: bool = False
    attempts: int = 1
    claimant: str = ""


def read(root: Path, unit: str) -> dict[str, Note]:
    """The notes of an assignment by student; none if nothing was collected.

    Raises:
        CourseError: the file that keeps them cannot be read.
    """
    noted = files.read_json_state(_path(root, unit))
    names = {field.name for field in fields(Note)}
    return {
        student: Note(**{k: v for k, v in note.items() if k in names})
        for student, note in noted.items()
    }


def write(root: Path, unit: str, student: str, note: Note) -> None:
    """Store the note of a student's submission in place of an older one."""
    with files.changing_json_state(_path(root, unit)) as notes:
        notes[student] = asdict(note)


def _path(root: Path, unit: str) -> Path:
    return root / ".autograder" / "collected" / f"{unit}.json"
