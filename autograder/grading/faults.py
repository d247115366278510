"""Errors that prevent a verdict without being the student's fault."""

from __future__ import annotations

from autograder.course.errors import CourseError


class GradingInfrastructureError(CourseError):
    """A fault of the grader or of the machine: the submission is graded again, alone.

    It never affects a score: a submission that fails a second time needs a person.
    """
