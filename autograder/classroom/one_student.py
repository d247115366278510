"""Describe one student's results in a unit, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from autograder.classroom.classbook import Classbook, Student, Submission
from autograder.course.errors import CourseError
from autograder.course.printable import printable
from autograder.grading.dates import how_late
from autograder.grading.provenance import describe
from autograder.grading.titles import title


def find(book: Classbook, student: str) -> Submission:
    """Find a student's submission by the id, or by a name that only one student has.

    Raises:
        CourseError: not exactly one student matches, or nothing is graded.
    """
    graded = {submission.student.id: submission for submission in book.submissions}
    everybody = [*(s.student for s in book.submissions), *book.absent]
    matches = [person for person in everybody if person.id == student] or [
        person for person in everybody if _is_called(person, student)
    ]
    if len(matches) > 1:
        listed = "; ".join(
            person.full if person.id in graded else f"{person.full}, not graded"
            for person in matches
        )
        raise CourseError(f'several are called "{student}"; give the id: {listed}')
    if not matches:
        raise CourseError(f'nobody is called "{student}" in the gradebook')
    if matches[0].id not in graded:
        raise CourseError(f"{matches[0].full} has no graded submission of {book.unit}")
    return graded[matches[0].id]


def _is_called(student: Student, name: str) -> bool:
    """Return whether a name is a student's full name or a word of it, in any case."""
    full_name = student.name.casefold()
    return name.casefold() in (full_name, *full_name.split())


def describe_results(book: Classbook, submission: Submission) -> Iterator[str]:
    """Yield a summary, then a line for each exercise and what went wrong in it."""
    points_so_far = f"{submission.graded_points:g} of {book.max_points:g} points"
    yield f"{submission.student.full}: {points_so_far}"
    if submission.waiting:
        answers = "written answer" + "s" * (len(submission.waiting) > 1)
        yield f"waiting for a person: {len(submission.waiting)} {answers}"
    if submission.called_late:
        # An LMS may call a submission late without a time.
        late = how_late(submission.late) or how_late(1)
        penalty = submission.penalty
        yield f"{late}; {penalty:g} points off" if penalty else late
    if submission.refused:
        yield f"could not be graded: {submission.refused}"
        return
    for _, sentence in submission.repairs:
        yield f"put right: {printable(sentence)}"
    width = max(len(title(book.unit, e.name)) for e in book.exercises)
    for exercise in book.exercises:
        points = submission.points[exercise.name]
        score = "-" if points is None else f"{points:g}"
        name = title(book.unit, exercise.name)
        mark = submission.marks.get(exercise.name)
        by_hand = f"  {mark.about_points}".rstrip() if mark else ""
        yield f"  {name:<{width}}  {score:>5} of {exercise.max_points:g}{by_hand}"
        if mark and mark.comment:
            yield f"      comment: {printable(mark.comment)}"
        record = submission.records.get(exercise.name)
        if record is None or record.points >= record.max_points:
            continue
        if sentence := record.says or record.note:
            mistake = f" [{record.mistake}]" if record.mistake else ""
            yield f"      {sentence}{mistake}"
        if record.lost:
            yield f"      {record.lost}"
        failed = [case.title for case in record.cases if case.problem]
        if failed:
            surplus = f" and {len(failed) - 3} more" * (len(failed) > 3)
            yield f"      failed: {'; '.join(failed[:3])}{surplus}"
    yield from describe_grading(submission)


def describe_grading(submission: Submission) -> Iterator[str]:
    """Yield when, with what and in which isolation each notebook was graded."""
    level = f"sandbox {submission.level}" if submission.level else "no code ran"
    for provenance in submission.provenance:
        yield f"graded {describe(provenance)}, {level}"
