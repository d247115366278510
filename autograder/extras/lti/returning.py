"""Attach feedback pages to submissions in an LMS, each page only once."""

from __future__ import annotations

from pathlib import Path

from autograder.classroom import feedback_archive, gradebook
from autograder.classroom.services import Delivery
from autograder.course.errors import CourseError
from autograder.course.printable import printable
from autograder.extras.lti import sending
from autograder.extras.lti.assignment import FileAssignment, LmsStanding
from autograder.extras.lti.journal import Journal, digest
from autograder.extras.lti.web import GradeRefusedError


def send(unit: str, root: Path, assignment: FileAssignment, is_trial: bool) -> Delivery:
    """Attach the students' feedback pages that the LMS has not accepted yet.

    In a trial, this only reports what would be attached.

    Raises:
        CourseError: there are no pages, or the LMS cannot be read.
    """
    pages, remarks = feedback_archive.pages(unit, root)
    if not pages:
        raise CourseError(f"no feedback yet; run: nbgrader generate_feedback {unit}")
    book = gradebook.read(unit, root)
    by_id = {submission.student.id: submission for submission in book.submissions}
    people = sending.match(book.submissions, assignment)
    standings = assignment.read_standings() or {}
    journal = Journal(root, unit, assignment.address)
    accepted = journal.read()
    lines, stop, count = list(remarks), "", 0
    for student, page in sorted(pages.items()):
        name = digest(page.read_bytes())
        if student not in by_id or accepted.get(student, {}).get("page") == name:
            continue
        if student not in people:
            lines.append(f"{printable(student)}: not in the LMS")
        # After an error that concerns all students, no more pages are sent.
        elif not is_trial and not stop:
            key = people[student].key
            score = standings.get(key, LmsStanding()).score
            text = sending.comment(book, by_id[student])
            try:
                assignment.attach(key, page, score, text)
                journal.accept(student, page=name)
                count += 1
            except GradeRefusedError as reason:
                lines.append(f"{printable(student)}: {reason}")
            except CourseError as error:
                stop = str(error)
        else:
            count += is_trial
    verb = "would be attached" if is_trial else "attached"
    sums = f"{count} of {len(pages)} pages {verb}"
    lines += [stop] if stop else []
    return Delivery((*lines, sums), not lines)
