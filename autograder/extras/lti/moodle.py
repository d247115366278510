"""An assignment in Moodle, through its web service with a token."""

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

# Errors that concern the token or the service, not a single student.
_CLOSED = {
    "invalidtoken": "does not accept the token: it has expired or was deleted; make a "
    "new one (docs/lms.md)",
    "accessexception": "does not let the token use a function: add it to the service "
    "(docs/lms.md lists them)",
    "servicenotavailable": "has no such web service; turn it on (docs/lms.md)",
    "enablewsdescription": "has its web services turned off (docs/lms.md)",
    "sitemaintenance": "is in maintenance",
}  # fmt: skip
_COMMENTS, _FILES = "assignfeedbackcomments_editor", "files_filemanager"
_HTTP = "HTTP"  # our code for an HTTP error, which is not an answer of Moodle's API
_STAFF = ("editingteacher", "teacher", "manager", "coursecreator")
_PLAIN = 2  # Moodle's text format without any markup


class _FaultError(Exception):
    """Moodle's API answered with an error, which has a code."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


class MoodleAssignment:
    """One assignment of a course in Moodle.

    Raises:
        CourseError: it cannot be reached, or cannot receive the gradebook's points.
    """

    lms = "Moodle"
    has_lms_ids = True

    def __init__(self, settings: LmsSettings, unit: str, max_points: float) -> None:
        """Find the assignment in Moodle; refuse one that cannot take the points."""
        self._session = web.PatientSession()
        self._url = settings.address("url")
        self._token = settings.secret("token")
        self._course = settings.text("course")
        name = settings.of_unit("assignments", unit)
        self.address = f"moodle {self._url}/course {self._course}/assignment {name}"
        self._there = self._find(name)
        self._refuse(max_points)

    def _find(self, name: str) -> Mapping[str, Any]:
        """Find the API's entry for the assignment with ``?id=NAME`` in its address.

        Raises:
            CourseError: there is none, or the token's owner may not see it.
        """
        with self._translating_errors():
            reply = self._call("mod_assign_get_assignments", courseids=[self._course])
            courses = reply["courses"]
            listed = [a for course in courses for a in course["assignments"]]
            matches = [a for a in listed if str(a["cmid"]) == name]
        if matches:
            return dict(matches[0])
        names = ", ".join(f"{a['cmid']} ({web.shorten(a['name'])})" for a in listed)
        raise CourseError(
            f"Moodle has no assignment {name} in course {self._course}, or the token's "
            f"owner may not see it; there are {names or 'none'}"
        )

    def _refuse(self, max_points: float) -> None:
        """Raise CourseError unless Moodle can receive the gradebook's points."""
        there = self._there
        if there.get("blindmarking") and not there.get("revealidentities"):
            problem = "hides who is who: reveal the identities"
        elif float(there["grade"]) <= 0:
            problem = "does not grade it with points: set Grade > Type to Point"
        elif abs(float(there["grade"]) - max_points) > 1e-6:
            problem = (
                f"has {there['grade']} points for it, the gradebook {max_points:g}: "
                "change it in Moodle"
            )
        else:
            return
        raise CourseError(f"Moodle {problem}, and run the same command again")

    def read_people(self) -> list[LmsMember]:
        """The students that Moodle shows to the token's owner."""
        with self._translating_errors():
            users = self._call("core_enrol_get_enrolled_users", courseid=self._course)
            return [_member(user) for user in users if not _is_staff(user)]

    def read_standings(self) -> dict[str, LmsStanding]:
        """Map students' ids to grades of their last attempts; Moodle's -1 is none."""
        with self._translating_errors():
            grades = self._list("mod_assign_get_grades", "grades")
            latest = sorted(grades, key=lambda grade: int(grade["attemptnumber"]))
            scores = {str(g["userid"]): float(g["grade"] or -1) for g in latest}
        return {
            user: LmsStanding(None if score < 0 else score)
            for user, score in scores.items()
        }

    def send(self, key: str, mark: SentMark) -> None:
        """Set the grade of a student's latest attempt, and its comment."""
        text = {"text": mark.comment, "format": _PLAIN}
        self._save(key, f"{mark.score:.10g}", {_COMMENTS: text})

    def attach(self, key: str, page: Path, score: float | None, comment: str) -> None:
        """Make a page the feedback file of a student.

        Score and comment are sent again, as Moodle would delete them otherwise.

        Raises:
            GradeRefusedError: there is no score yet, or Moodle refuses the request.
            CourseError: any other error of Moodle or the network.
        """
        if score is None:
            raise web.GradeRefusedError("send the grade first: autograder grades")
        with self._translating_errors(of_student=True):
            with open(page, "rb") as file:
                reply = self._post(
                    "webservice/upload.php", {"filearea": "draft", "itemid": 0},
                    {"file_1": (page.name, file, "text/html")},
                )  # fmt: skip
            draft = reply[0]["itemid"]
        text = {"text": comment, "format": _PLAIN}
        self._save(key, f"{score:.10g}", {_COMMENTS: text, _FILES: draft})

    def _save(self, key: str, grade: str, plugins: Mapping[str, Any]) -> None:
        """Set grade and feedback of a student's latest attempt (-1 for Moodle)."""
        state = "readyforrelease" if self._there.get("markingworkflow") else ""
        with self._translating_errors(of_student=True):
            self._call(
                "mod_assign_save_grade", assignmentid=self._there["id"], userid=key,
                grade=grade, attemptnumber=-1, addattempt=0, workflowstate=state,
                applytoall=0, plugindata=plugins,
            )  # fmt: skip

    def read_hand_ins(self) -> Iterator[FetchedHandIn]:
        """Yield the students' final submissions, but no drafts."""
        with self._translating_errors():
            entries = self._list("mod_assign_get_submissions", "submissions")
            people = {person.key: person for person in self.read_people()}
        for entry in entries:
            key = str(entry["userid"])
            if entry["status"] == "submitted" and key != "0":  # 0: a group
                moment = entry["timemodified"]
                time = datetime.datetime.fromtimestamp(moment, datetime.UTC)
                files = tuple(_files(entry))
                yield FetchedHandIn(people.get(key, LmsMember(key)), time, files)

    def open_file(self, file: RemoteFile) -> Any:
        """Start to download a file; the token is not in its URL, which is logged."""
        if web.host(file.url) != web.host(self._url):
            raise CourseError(f"Moodle names a file elsewhere: {web.host(file.url)}")
        return self._session.post(
            file.url, data={"token": self._token}, stream=True, allow_redirects=False
        )

    def _list(self, function: str, kind: str) -> list[Any]:
        """Call an API function that lists the assignment's grades or submissions."""
        reply = self._call(function, assignmentids=[self._there["id"]])
        return [entry for part in reply["assignments"] for entry in part[kind]]

    def _call(self, function: str, **arguments: Any) -> Any:
        """Call a function of the web service. Raises _FaultError."""
        fields = {"wsfunction": function, "moodlewsrestformat": "json"}
        fields |= dict(_flat(arguments))
        return self._post("webservice/rest/server.php", fields)

    def _post(self, path: str, fields: Mapping[str, Any], files: Any = None) -> Any:
        """Send a request with the token, and return the JSON reply.

        Raises:
            _FaultError: Moodle answers with an error.
        """
        token = "wstoken" if files is None else "token"
        response = self._session.post(
            f"{self._url}/{path}", data={**fields, token: self._token}, files=files,
            allow_redirects=False,
        )  # fmt: skip
        if response.status_code != 200:
            raise _FaultError(_HTTP, f"status {response.status_code}")
        reply = response.json()
        if isinstance(reply, dict) and ("exception" in reply or "errorcode" in reply):
            text = reply.get("message") or reply.get("error") or ""
            raise _FaultError(str(reply.get("errorcode", "")), web.shorten(text))
        return reply

    @contextlib.contextmanager
    def _translating_errors(self, of_student: bool = False) -> Iterator[None]:
        """Translate errors of Moodle and the network in a ``with`` block.

        Raises:
            GradeRefusedError: Moodle refuses a request about one student
                (``of_student``).
            CourseError: any other error.
        """
        with web.network("Moodle"):
            try:
                yield
            except _FaultError as error:
                reply = f"{web.shorten(error)} ({web.shorten(error.code)})"
                if error.code in _CLOSED:
                    raise CourseError(f"Moodle {_CLOSED[error.code]}") from None
                if of_student and error.code != _HTTP:
                    raise web.GradeRefusedError(f"Moodle: {reply}") from None
                raise CourseError(f"Moodle refuses: {reply}") from None


def _member(user: Mapping[str, Any]) -> LmsMember:
    fields = ("fullname", "email", "idnumber", "username", "firstname", "lastname")
    return LmsMember(str(user["id"]), *(user.get(field) or "" for field in fields))


def _is_staff(user: Mapping[str, Any]) -> bool:
    """Whether a user has one of Moodle's roles for teachers."""
    return any(role.get("shortname") in _STAFF for role in user.get("roles", []))


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Flatten arguments to form fields: ``{"ids": [7]}`` becomes ``ids[0]=7``."""
    if isinstance(value, list):
        value = dict(enumerate(value))
    if not isinstance(value, Mapping):
        yield name, value
        return
    for key, inner in value.items():
        yield from _flat(inner, f"{name}[{key}]" if name else str(key))


def _files(entry: Mapping[str, Any]) -> Iterator[RemoteFile]:
    """Yield the files of a submission, which Moodle's API lists by plugin."""
    for plugin in entry.get("plugins", []):
        areas = plugin.get("fileareas", []) if plugin.get("type") == "file" else []
        for file in (f for area in areas for f in area.get("files", [])):
            path = f"{file.get('filepath', '/')}{file['filename']}"
            yield RemoteFile(path.strip("/"), file["fileurl"], int(file["filesize"]))
