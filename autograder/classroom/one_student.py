"""One student's unit for a terminal: exercises, mistakes, repairs."""

from __future__ import annotations

from collections.abc import Iterator

from autograder.classroom.classbook import Classbook, Student, Submission
from autograder.course.errors import CourseError
from autograder.course.printable import printable
from autograder.grading.dates import how_late
from autograder.grading.titles import title


def find(book: Classbook, student: str) -> Submission:
    """A student's submission, by id, or by name where only one has it.

    Raises:
        CourseError: nobody is called so, or several are, or nothing is graded.
    """
    graded = {one.student.id: one for one in book.submissions}
    everybody = [*(one.student for one in book.submissions), *book.absent]
    found = [one for one in everybody if one.id == student] or [
        one for one in everybody if _is_called(one, student)
    ]
    if len(found) > 1:
        listed = "; ".join(
            one.full if one.id in graded else f"{one.full}, not graded" for one in found
        )
        raise CourseError(f'several are called "{student}"; give the id: {listed}')
    if not found:
        raise CourseError(f'nobody is called "{student}" in the gradebook')
    if found[0].id not in graded:
        raise CourseError(f"{found[0].full} has no graded submission of {book.unit}")
    return graded[found[0].id]


def _is_called(student: Student, name: str) -> bool:
    """Whether a name is the whole of a student's, or a word of it."""
    own = student.name.casefold()
    return name.casefold() in (own, *own.split())


def as_text(book: Classbook, one: Submission) -> str:
    """Points and what happened, a line for each exercise and for what lost points."""
    return "\n".join(_lines(book, one))


def _lines(book: Classbook, one: Submission) -> Iterator[str]:
    yield f"{one.student.full}: {one.known:g} of {book.max_points:g} points"
    if one.waiting:
        answers = "written answer" + "s" * (len(one.waiting) > 1)
        yield f"waiting for a person: {len(one.waiting)} {answers}"
    if one.called_late:
        late = how_late(one.late) or how_late(1)  # called so by an LMS, without a time
        yield f"{late}; {one.penalty:g} points off" if one.penalty else late
    if one.refused:
        yield f"could not be graded: {one.refused}"
        return
    for _, says in one.repairs:
        yield f"put right: {printable(says)}"
    width = max(len(title(book.unit, e.name)) for e in book.exercises)
    for exercise in book.exercises:
        points = one.points[exercise.name]
        shown = "-" if points is None else f"{points:g}"
        name, mark = title(book.unit, exercise.name), one.marks.get(exercise.name)
        by_hand = f"  {mark.about_points}".rstrip() if mark else ""
        yield f"  {name:<{width}}  {shown:>5} of {exercise.max_points:g}{by_hand}"
        if mark and mark.comment:
            yield f"      comment: {printable(mark.comment)}"
        record = one.records.get(exercise.name)
        if record is None or record.points >= record.max_points:
            continue
        if says := record.says or record.note:
            mistake = f" [{record.mistake}]" if record.mistake else ""
            yield f"      {says}{mistake}"
        if record.lost:
            yield f"      {record.lost}"
        failed = [case.title for case in record.cases if case.problem]
        if failed:
            more = f" and {len(failed) - 3} more" * (len(failed) > 3)
            yield f"      failed: {'; '.join(failed[:3])}{more}"
