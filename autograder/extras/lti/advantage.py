"""An assignment in any LMS with LTI 1.3, through its Assignment and Grade Services.

The specifications are LTI Advantage's "Assignment and Grade Services" 2.0 and "Names
and Role Provisioning Services" 2.0, and the 1EdTech Security Framework 1.0, section
4.1.
"""

from __future__ import annotations

import contextlib
import datetime
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograder.course.errors import CourseError
from autograder.extras.lti import keys, launches, web
from autograder.extras.lti.assignment import LmsMember, LmsStanding, SentMark
from autograder.extras.lti.settings import LmsSettings

_SCOPE = "https://purl.imsglobal.org/spec/lti-ags/scope"
_SCOPES = [f"{_SCOPE}/{name}" for name in ("lineitem", "result.readonly", "score")]
_CANVAS = "https://canvas.instructure.com/lti/submission"
_EARLY = 60.0  # seconds before its expiry at which a token is renewed


class AdvantageAssignment:
    """A unit's line item (gradebook column) in an LMS course that uses LTI 1.3.

    A missing line item is created with the first score.

    Raises:
        CourseError: a setting is missing, or the LMS cannot be reached or refuses.
    """

    lms = "the LMS"
    has_lms_ids = False

    def __init__(
        self, settings: LmsSettings, root: Path, unit: str, max_points: float
    ) -> None:
        """Connect to the LMS, and find the unit's line item, if there is one."""
        self._unit, self._max_points = unit, max_points
        course = launches.find(root, settings)
        self._users = course.users
        self._token_url = settings.address("token_url")
        connector = _connector(_registration(settings, root, self._token_url))
        from pylti1p3.assignments_grades import AssignmentsGradesService
        from pylti1p3.names_roles import NamesRolesProvisioningService

        scopes: Any = list(course.scopes or _SCOPES)
        self._grades = AssignmentsGradesService(
            connector, {"lineitems": course.lineitems, "scope": scopes}
        )
        self._names = NamesRolesProvisioningService(
            connector, {"context_memberships_url": course.memberships}
        )
        self._label = settings.of_unit("assignments", unit, unit)
        self.address = f"lti {course.lineitems} {self._label}"
        with self._translating_errors():
            self._item = self._grades.find_lineitem_satisfying(self._is_meant)

    def _is_meant(self, item: Any) -> bool:
        return self._unit in (item.get("tag"), item.get("resourceId")) or (
            item.get("label") == self._label
        )

    def read_people(self) -> list[LmsMember]:
        """List the course's students; ``login`` is the name on the JupyterHub."""
        with self._translating_errors():
            members = list(self._names.get_members())
            return [
                LmsMember(
                    str(member["user_id"]), _name(member), member.get("email") or "",
                    member.get("lis_person_sourcedid") or "",
                    self._users.get(str(member["user_id"]), ""),
                    member.get("given_name") or "", member.get("family_name") or "",
                )
                for member in members
                if member.get("status", "Active") == "Active" and _is_learner(member)
            ]  # fmt: skip

    def read_standings(self) -> dict[str, LmsStanding] | None:
        """Map students' LMS ids to their scores, converted to the gradebook's points.

        Return None if the LMS does not let this tool read them.
        """
        if not self._grades.can_read_grades():
            return None
        if self._item is None:
            return {}
        with self._translating_errors():
            return {
                str(result["userId"]): LmsStanding(self._points(result))
                for result in self._grades.get_grades(self._item)
            }

    def _points(self, result: Any) -> float | None:
        """Convert the LMS's result to the gradebook's points; None without a score."""
        score = result.get("resultScore")
        most = result.get("resultMaximum") or 1.0
        return None if score is None else score / most * self._max_points

    def send(self, key: str, mark: SentMark) -> None:
        """Send the grade of the student whose LMS id is ``key``.

        Errors are those of `OnlineAssignment.send`.
        """
        from pylti1p3.grade import Grade
        from pylti1p3.lineitem import LineItem

        if self._item is None:
            item = LineItem().set_label(self._label).set_tag(self._unit)
            item.set_resource_id(self._unit).set_score_maximum(self._max_points)
            with self._translating_errors():
                self._item = self._grades.create_lineitem(item)
        now = datetime.datetime.now(datetime.UTC)
        # Otherwise Canvas, and no other LMS, would count each score as a new hand-in.
        extra: dict[str, Any] = {_CANVAS: {"new_submission": False}}
        if mark.handed_in:
            handed_in = mark.handed_in.replace(tzinfo=datetime.UTC)
            extra["submission"] = {"submittedAt": _stamp(handed_in)}
        grade = (
            Grade()
            .set_user_id(key)
            .set_score_given(mark.score)
            .set_score_maximum(mark.max_points)
            .set_comment(mark.comment)
            .set_timestamp(_stamp(now))
            .set_activity_progress("Completed")
            .set_grading_progress("FullyGraded")
            .set_extra_claims(extra)
        )
        with self._translating_errors(of_student=True):
            self._grades.put_grade(grade, self._item)

    @contextlib.contextmanager
    def _translating_errors(self, of_student: bool = False) -> Iterator[None]:
        """Translate errors of the LMS, in a ``with`` block that sends requests.

        Raises:
            GradeRefusedError: the LMS refuses, and the requests are about one student.
            CourseError: any other error of the LMS or the network.
        """
        from pylti1p3.exception import LtiException, LtiServiceException

        with web.network("the LMS"):
            try:
                yield
            except LtiServiceException as error:
                response = error.response
                reply = f"{response.status_code} {web.shorten(response.text)}"
                if response.url.startswith(self._token_url):
                    raise CourseError(
                        f"the LMS gives us no token: {reply}; are client_id, token_url "
                        "and the public key the same on both sides?"
                    ) from None
                # These are not about a student: access is denied, or the LMS fails.
                if of_student and response.status_code not in (401, 500, 502):
                    raise web.GradeRefusedError(f"the LMS: {reply}") from None
                raise CourseError(f"the LMS refuses: {reply}") from None
            except LtiException as error:
                raise CourseError(f"the LMS: {web.shorten(error)}") from None


def _registration(settings: LmsSettings, root: Path, token_url: str) -> Any:
    """The tool's registration with the platform, for its access tokens."""
    try:
        from pylti1p3.registration import Registration
    except ImportError:
        raise web.missing("pylti1p3next") from None
    private, public = keys.read(root)
    registration = Registration().set_client_id(settings.text("client_id"))
    registration.set_auth_token_url(token_url)
    registration.set_auth_audience(settings.text("audience", token_url))
    registration.set_issuer(settings.text("issuer", token_url))
    registration.set_tool_private_key(private)
    return registration.set_tool_public_key(public)


def _connector(registration: Any) -> Any:
    """A connector that caches access tokens in memory until they expire."""
    from pylti1p3.service_connector import ServiceConnector

    class MemoryConnector(ServiceConnector):
        def __init__(self) -> None:
            super().__init__(registration, web.PatientSession())
            self._tokens: dict[str, tuple[str, float]] = {}

        def _get_cached_access_token(self, scope_key: str) -> str | None:
            token, end = self._tokens.get(scope_key, ("", 0.0))
            return token if time.monotonic() < end else None

        def _cache_access_token(
            self, scope_key: str, access_token: str, expires_in: float
        ) -> None:
            end = time.monotonic() + float(expires_in) - _EARLY
            self._tokens[scope_key] = (access_token, end)

    return MemoryConnector()


def _stamp(moment: datetime.datetime) -> str:
    return moment.isoformat(timespec="milliseconds")


def _name(member: Any) -> str:
    names = (member.get("given_name"), member.get("family_name"))
    return member.get("name") or " ".join(filter(None, names))


def _is_learner(member: Any) -> bool:
    """Whether a member is a student, by roles in their short or long form."""
    roles = member.get("roles", [])
    return any(str(role).rpartition("#")[2] in ("Learner", "Student") for role in roles)
