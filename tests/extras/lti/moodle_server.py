"""Moodle's web service as it is documented, with one course and one assignment."""

from __future__ import annotations

import re
from typing import Any

from tests.extras.lti.server import LmsServer, Reply, Request

FILES = "/webservice/pluginfile.php"
TOKEN = "0123456789abcdef-of-moodle"


def fault(code: str, message: str = "Something is wrong") -> Reply:
    """Moodle answers an error with status 200."""
    return Reply(
        200, {"exception": "moodle_exception", "errorcode": code, "message": message}
    )


class MoodleServer(LmsServer):
    """``scores``, ``comments`` and ``pages`` by user; ``locked`` keep their grade."""

    def __init__(self) -> None:
        super().__init__()
        self.assignment: dict[str, Any] = {
            "id": 5, "cmid": 31, "name": "Numbers", "grade": 10, "blindmarking": 0,
            "revealidentities": 0, "markingworkflow": 0,
        }  # fmt: skip
        self.users: dict[str, dict[str, Any]] = {}
        self.scores: dict[str, str] = {}
        self.comments: dict[str, str] = {}
        self.states: dict[str, str] = {}
        self.drafts: dict[str, tuple[str, bytes]] = {}
        self.pages: dict[str, tuple[str, bytes]] = {}
        self.locked: set[str] = set()
        self.hand_ins: dict[str, tuple[str, int, dict[str, bytes]]] = {}

    def enrol(self, key: str, name: str, **more: str) -> None:
        self.users[key] = {"id": int(key), "fullname": name, **more}

    def answer(self, request: Request) -> Any:
        fields = request.fields
        if fields.get("wstoken", fields.get("token")) != TOKEN:
            return fault("invalidtoken", "Invalid token - token not found")
        if request.path == "/webservice/upload.php":
            number = str(len(self.drafts) + 900)
            self.drafts[number] = request.files["file_1"]
            return [{"itemid": number, "filename": request.files["file_1"][0]}]
        if request.path.startswith(f"{FILES}/"):
            user, name = request.path.split("/")[3:]
            return Reply(200, self.hand_ins[user][2][name])
        return getattr(self, fields["wsfunction"])(fields)

    def mod_assign_get_assignments(self, fields: dict[str, str]) -> Any:
        courses = {"8": [{"id": 8, "assignments": [self.assignment]}]}
        return {"courses": courses.get(fields["courseids[0]"], []), "warnings": []}

    def core_enrol_get_enrolled_users(self, fields: dict[str, str]) -> Any:
        assert fields["courseid"] == "8"
        return list(self.users.values())

    def mod_assign_get_grades(self, fields: dict[str, str]) -> Any:
        assert fields["assignmentids[0]"] == "5"
        grades = [
            {"userid": int(key), "attemptnumber": 0, "grade": grade}
            for key, grade in self.scores.items()
        ]
        return {"assignments": [{"assignmentid": 5, "grades": grades}], "warnings": []}

    def mod_assign_get_submissions(self, fields: dict[str, str]) -> Any:
        assert fields["assignmentids[0]"] == "5"
        entries = [
            {
                "userid": int(key), "status": status, "timemodified": time,
                "attemptnumber": 0, "plugins": [
                    {"type": "onlinetext", "name": "Online text"},
                    {"type": "file", "fileareas": [{"files": [
                        {"filename": name, "filepath": "/", "filesize": len(data),
                         "fileurl": f"{self.url}{FILES}/{key}/{name}"}
                        for name, data in files.items()
                    ]}]},
                ],
            }
            for key, (status, time, files) in self.hand_ins.items()
        ]  # fmt: skip
        return {"assignments": [{"assignmentid": 5, "submissions": entries}]}

    def mod_assign_save_grade(self, fields: dict[str, str]) -> Any:
        key = fields["userid"]
        assert fields["assignmentid"] == "5" and fields["attemptnumber"] == "-1"
        if key not in self.users:
            return fault("usernotenrolled", "The user is not enrolled in this course")
        if key not in self.locked:
            self.scores[key] = f"{float(fields['grade']):.5f}"
        # What is missing is emptied, as Moodle's own plugins do it.
        text = "plugindata[assignfeedbackcomments_editor][text]"
        self.comments[key] = fields.get(text, "")
        self.states[key] = fields["workflowstate"]
        if draft := fields.get("plugindata[files_filemanager]"):
            self.pages[key] = self.drafts[draft]
        assert all(re.fullmatch(r"[\w\[\]]+", name) for name in fields)
        return None
