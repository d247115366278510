"""What keeps a submission from being decided although it is not its student's doing."""

from __future__ import annotations

from autograder.course.errors import CourseError


class GradingInfrastructureError(CourseError):
    """A fault of ours or of the machine: the submission is to be graded again, alone.

    Never a reason for a score: who cannot be decided the second time needs a person.
    """
