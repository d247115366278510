"""A demonstration from end to end: release, sample class, grading, feedback, report."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from tqdm import tqdm

from autograder import course
from autograder.authoring import translations
from autograder.authoring.course import build, is_built
from autograder.classroom import feedback_archive, gradebook, report, sample
from autograder.classroom.classbook import Classbook, Submission
from autograder.course import ROOT, Unit, child, manifest
from autograder.course.errors import CourseError
from autograder.course.files import write
from autograder.course.printable import format_count
from autograder.root import CONTENT, ENGINE


def default_units() -> list[Unit]:
    """Return the units of a demonstration for which none are named.

    They are those whose manifest says ``demo``, or else the first unit.
    """
    all_units = course.units()
    return [unit for unit in all_units if manifest.read(unit).demo] or all_units[:1]


def run(units: Sequence[Unit], root: Path) -> None:
    """Let a sample class hand in units, grade its work, and print the points.

    Units that have not changed are not built or handed in again.

    Raises:
        CourseError: a step failed; the text says which, and where its output is.
    """
    root.mkdir(exist_ok=True)
    # If the demo has not been run yet, the committed products count as up to date.
    marks = {unit: root / ".autograder" / f"current-{unit.label}" for unit in units}
    digests = {
        u: mark.read_text() if mark.is_file() else "" for u, mark in marks.items()
    }
    digest = _digest()
    stale = [u for u in units if digests[u] not in ("", digest) or not is_built(u)]
    for unit in tqdm(stale, "build", unit="unit"):
        build(unit)
    if stale:
        translations.install(ROOT)
    digest = _digest()
    # Only now, as building writes solutions, which the digest covers.
    current = {unit for unit in units if digests[unit] == digest}
    for unit in tqdm(units, "sample class", unit="unit"):
        write(root / "source" / unit.label / unit.source.name, unit.source.read_bytes())
        if unit not in current:
            sample.hand_in(unit, root)
    write(root / "nbgrader_config.py", (ROOT / "nbgrader_config.py").read_bytes())
    for unit in units:
        if not (root / "release" / unit.label).is_dir():
            nbgrader(root, "generate_assignment", unit.label)
        elif unit not in current:  # the release is that of an older version
            nbgrader(root, "generate_assignment", unit.label, "--force")
        nbgrader(root, "autograde", unit.label)
        # Remarks say that pages are missing or older than the grades.
        if feedback_archive.pages(unit.label, root)[1]:
            nbgrader(root, "generate_feedback", unit.label)
    for unit in units:
        write(marks[unit], digest)
        print(f"\n{as_text(gradebook.read(unit.label, root))}")
    print("\nWhich mistake cost whom how many points:")
    for unit in units:
        page = root / "reports" / f"{unit.label}.html"
        print("  report:   ", report.make(unit.label, root, page)[0])
    print(f"  feedback:  {root / 'feedback'}\n  gradebook: {root / 'gradebook.db'}")


def _digest() -> str:
    """Return a digest of the Python files of the engine, the course and its notebooks.

    If it has changed since the last run, the demonstration's steps are repeated.
    """
    code = hashlib.sha256()
    for folder in (ENGINE, CONTENT, ROOT / "notebooks"):
        for path in sorted(folder.rglob("*.py")):
            code.update(path.read_bytes())
    return code.hexdigest()


def nbgrader(root: Path, command: str, assignment: str, *flags: str) -> None:
    """Run a real ``nbgrader`` command in a course folder.

    Raises:
        CourseError: it failed; the text names the file with its output.
    """
    arguments = (command, assignment, *flags)
    print("nbgrader", *arguments, flush=True)
    log = root / f"{command}.log"
    with log.open("w") as output:
        # Grading shows its progress on stderr.
        errors = None if command == "autograde" else output
        process = child.nbgrader(root, *arguments, stdout=output, stderr=errors)
    if process.returncode:
        raise CourseError(f"`nbgrader {command} {assignment}` failed; see {log}")


def as_text(book: Classbook) -> str:
    """Return a heading, and for each student the points and what to know about them."""
    rows = book.submissions
    names = [exercise.name for exercise in book.exercises if not exercise.written]
    width = max(len(row.student.id) for row in rows)
    most = max(sum(r.max_points for r in row.records.values()) for row in rows)
    lines = [
        f"{book.unit}: {format_count(len(rows), 'student')}, "
        f"{format_count(len(names), 'exercise')}, {most:g} points"
    ]
    for row in rows:
        points = sum(record.points for record in row.records.values())
        remarks = "; ".join(_remarks(names, row))
        lines.append(f"  {row.student.id:<{width}}  {points:>5g}   {remarks}".rstrip())
    return "\n".join(lines)


def _remarks(names: Sequence[str], row: Submission) -> Iterator[str]:
    """Yield what to know about a student: lost points, missing verdicts, repairs."""
    missing = sum(name not in row.records for name in names)
    lost = [r for r in row.records.values() if r.points < r.max_points]
    named = sum(bool(record.mistake) for record in lost)
    if lost:
        yield f"{format_count(len(lost), 'exercise')} below full points, {named} named"
    if missing:
        yield f"{missing} not graded"
    yield from (sentence for _, sentence in row.repairs)
