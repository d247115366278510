"""Pack feedback pages into zips for LMSs, under the names that each LMS expects.

Canvas finds the student by the numbers of the student and of the submitted
file, between underscores; Moodle by the name's start,
``Full Name_1234567_assignsubmission_file_``. For all others, a name begins with
the student's name and id.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from pathlib import Path

from autograder.classroom import collection_log
from autograder.classroom.classbook import Student
from autograder.classroom.collection_log import Note
from autograder.classroom.gradebook import students
from autograder.course import graded_notebooks
from autograder.course.errors import CourseError
from autograder.course.files import replacing

_CANVAS = re.compile(r"(?P<head>[^/]*?_\d+_\d+)_[^/]+")
_MOODLE = re.compile(r"(?P<head>[^/]+?_\d+)_assignsubmission_[^/]*(?:/.*)?")


def write(unit: str, root: Path, folder: Path) -> tuple[tuple[Path, ...], list[str]]:
    """Pack feedback pages into a zip for each LMS, ``FOLDER/UNIT-feedback-LMS.zip``.

    Returns:
        The zips' paths, and remarks on pages that are missing or outdated.

    Raises:
        CourseError: there is no feedback yet, or a zip cannot be written.
    """
    files, remarks = pages(unit, root)
    if not files:
        raise CourseError(f"no feedback yet; run: nbgrader generate_feedback {unit}")
    target = folder / f"{unit}-feedback"
    return pack(unit, root, files, target, f"{unit}.html"), remarks


def pages(unit: str, root: Path) -> tuple[dict[str, Path], list[str]]:
    """Map students' ids to their feedback pages; also return remarks on faulty ones.

    A remark is a line about pages that are missing or older than the grades.
    """
    paths = sorted((root / "feedback").glob(f"*/{unit}/*.html"))
    by_student = {path.parts[-3]: path for path in paths}
    graded = graded_notebooks(unit, root)
    without = [student for student in graded if student not in by_student]
    stale = [
        student for student, page in by_student.items()
        if student in graded
        and page.stat().st_mtime < graded[student].stat().st_mtime
    ]  # fmt: skip
    return by_student, [
        f"{fault}: {', '.join(students)}; run: nbgrader generate_feedback {unit}"
        for fault, students in (
            ("older than the grades", stale),
            ("graded, and without a page", without),
        )
        if students
    ]


def pack(
    unit: str, root: Path, files: Mapping[str, Path], target: Path, called: str
) -> tuple[Path, ...]:
    """Pack one file for each student into zips for LMSs; return the zips' paths.

    They are ``TARGET-canvas.zip``, ``TARGET-moodle.zip`` and, for all other
    students, ``TARGET-pages.zip``. No empty zip is written.

    Args:
        files: the file of each student, by id.
        called: how each file's name in a zip ends, like "02_attention.html".
    """
    notes = collection_log.read(root, unit)
    by_id = {student.id: student for student in students(root)}
    zips: dict[str, dict[str, Path]] = {}
    for student, path in files.items():
        note = notes.get(student, Note())
        lms, name = name_for(note, by_id.get(student, Student(student)), called)
        members = zips.setdefault(lms, {})
        while name in members:  # the ids differ only in letters that were replaced
            name = f"_{name}"
        members[name] = path
    paths = {lms: target.with_name(f"{target.name}-{lms}.zip") for lms in sorted(zips)}
    for lms, path in paths.items():
        with replacing(path) as part, zipfile.ZipFile(part, "w") as file:
            for name, page in sorted(zips[lms].items()):
                info = zipfile.ZipInfo(name)  # no time, so equal pages give equal zips
                info.external_attr = 0o644 << 16
                file.writestr(info, page.read_bytes(), zipfile.ZIP_DEFLATED)
    return tuple(paths.values())


def name_for(note: Note, student: Student, called: str) -> tuple[str, str]:
    """Choose the zip for a student's file, and the name of the file in that zip.

    The zips are "canvas", "moodle" and "pages"; names end with ``called``.
    """
    if note.lms == "Canvas" and (match := _CANVAS.fullmatch(note.origin)):
        return "canvas", f"{match['head']}_{called}"
    if note.lms == "Moodle" and (match := _MOODLE.fullmatch(note.origin)):
        return "moodle", f"{match['head']}_assignsubmission_file_{called}"
    full = f"{student.last_name} {student.first_name} {student.id}".strip()
    plain = re.sub(r"[^\w@.+-]+", "_", full)  # no letter allowed in an id is replaced
    return "pages", f"{plain}_{called}"
