"""An assignment in Canvas, through its REST API with an access token."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from autograder.course.errors import CourseError
from autograder.extras.lti import web
from autograder.extras.lti.assignment import LmsMember, LmsStanding, SentMark
from autograder.extras.lti.fetching import FetchedHandIn, RemoteFile
from autograder.extras.lti.settings import LmsSettings

_PAGE = 100  # entries of a list per request
_GRADED = ("points", "percent", "letter_grade", "gpa_scale")


class CanvasAssignment:
    """One assignment of a course in Canvas.

    Raises:
        CourseError: it cannot be reached, or cannot receive the gradebook's points.
    """

    lms = "Canvas"
    has_lms_ids = True

    def __init__(self, settings: LmsSettings, unit: str, max_points: float) -> None:
        """Find the assignment in Canvas; refuse one that cannot take the points."""
        try:
            from canvasapi.course import Course
            from canvasapi.requester import Requester
        except ImportError:
            raise web.missing("canvasapi") from None
        url = settings.address("url")
        requester = Requester(url, settings.secret("token"))
        # The library's own session has no timeout and does not retry.
        requester._session = self._session = web.PatientSession()
        number = settings.text("course")
        self._course = Course(requester, {"id": number})
        name = settings.of_unit("assignments", unit)
        self.address = f"canvas {url}/courses/{number}/assignments/{name}"
        with self._translating_errors():
            self._assignment = self._course.get_assignment(name)
        self._refuse(max_points)

    def _refuse(self, max_points: float) -> None:
        """Raise CourseError unless the assignment can take the gradebook's points."""
        there = self._assignment
        possible = getattr(there, "points_possible", None) or 0.0
        if getattr(there, "anonymize_students", False):
            problem = "hides who is who: turn anonymous grading off"
        elif getattr(there, "grading_type", "points") not in _GRADED:
            problem = 'does not grade it with points: set "Display Grade as" to Points'
        elif not getattr(there, "published", True):
            problem = "has not published it: publish it"
        elif abs(possible - max_points) > 1e-6:
            problem = (
                f"has {possible:g} points for it, the gradebook {max_points:g}: change "
                "it in Canvas"
            )
        else:
            return
        raise CourseError(f"Canvas {problem}, and run the same command again")

    def read_people(self) -> list[LmsMember]:
        """The students of the course, with their institution's ids."""
        with self._translating_errors():
            users = self._course.get_users(
                enrollment_type=["student"], include=["email"], per_page=_PAGE
            )
            return [_member(vars(user)) for user in users]

    def read_standings(self) -> dict[str, LmsStanding]:
        """Map students' ids to scores before Canvas's own deductions for lateness."""
        with self._translating_errors():
            return {
                str(entry.user_id): _standing(entry)
                for entry in self._assignment.get_submissions(per_page=_PAGE)
            }

    def send(self, key: str, mark: SentMark) -> None:
        """Set a student's grade, and add a comment."""
        with self._translating_errors(of_student=True):
            self._submission(key).edit(
                submission={"posted_grade": f"{mark.score:.10g}"},
                comment={"text_comment": mark.comment},
            )

    def attach(self, key: str, page: Path, score: float | None, comment: str) -> None:
        """Attach a page to a new comment on a student's submission."""
        with self._translating_errors(of_student=True):
            is_uploaded, reply = self._submission(key).upload_comment(page)
        if not is_uploaded:
            raise web.GradeRefusedError(f"Canvas: {web.shorten(reply)}")

    def read_hand_ins(self) -> Iterator[FetchedHandIn]:
        """The latest attempt of each student who has handed in."""
        with self._translating_errors():
            entries = list(
                self._assignment.get_submissions(include=["user"], per_page=_PAGE)
            )
        for entry in entries:
            if entry.submitted_at:
                person = _member({"id": entry.user_id, **getattr(entry, "user", {})})
                time = datetime.datetime.fromisoformat(entry.submitted_at)
                files = tuple(
                    RemoteFile(file.display_name, file.url, file.size)
                    for file in entry.attachments
                )
                yield FetchedHandIn(person, time.astimezone(datetime.UTC), files)

    def open_file(self, file: RemoteFile) -> Any:
        """Start to download a file; its URL contains a key, so no token is sent."""
        return self._session.get(file.url, stream=True)

    def _submission(self, key: str) -> Any:
        from canvasapi.submission import Submission

        ids = {"course_id": self._course.id, "assignment_id": self._assignment.id}
        return Submission(self._course._requester, {**ids, "user_id": key})

    @contextlib.contextmanager
    def _translating_errors(self, of_student: bool = False) -> Iterator[None]:
        """Translate errors of Canvas, in a ``with`` block that sends requests.

        Raises:
            GradeRefusedError: Canvas refuses, and the requests are about one student.
            CourseError: any other error of Canvas or the network.
        """
        from canvasapi import exceptions

        with web.network("Canvas"):
            try:
                yield
            except exceptions.InvalidAccessToken:
                raise CourseError(
                    "Canvas does not accept the token: it has expired or was deleted; "
                    "make a new one (Account > Settings > New Access Token)"
                ) from None
            except exceptions.CanvasException as error:
                text = f"Canvas: {web.shorten(_message(error))}"
                # This class itself stands for a fault of Canvas, which has no other.
                is_fault = type(error) is exceptions.CanvasException
                if of_student and not is_fault:
                    raise web.GradeRefusedError(text) from None
                if isinstance(error, exceptions.ResourceDoesNotExist):
                    text = (
                        "Canvas has no such course or assignment, or the token's owner "
                        "may not see it"
                    )
                raise CourseError(text) from None


def _member(user: Mapping[str, Any]) -> LmsMember:
    """Convert a user of Canvas's API; fields hidden from the token's owner are ""."""
    last, _, first = (user.get("sortable_name") or "").partition(", ")
    return LmsMember(
        str(user["id"]), user.get("name") or "", user.get("email") or "",
        user.get("sis_user_id") or "", user.get("login_id") or "", first, last,
    )  # fmt: skip


def _standing(entry: Any) -> LmsStanding:
    """A student's score without deductions for lateness, or why to send none."""
    if getattr(entry, "excused", False):
        return LmsStanding(reason_to_skip="excused in Canvas")
    score = getattr(entry, "entered_score", None)
    if score is None and entry.score is not None:
        score = entry.score + (getattr(entry, "points_deducted", None) or 0.0)
    return LmsStanding(score)


def _message(error: Any) -> str:
    """The message in an error of Canvas, which may have one of several forms."""
    message = error.message
    if isinstance(message, tuple):  # ("Something went wrong. ", the whole answer)
        message = message[-1].get("message") or message[-1].get("status") or message
    if isinstance(message, list) and message and isinstance(message[0], dict):
        message = message[0].get("message", message)
    return str(message)
