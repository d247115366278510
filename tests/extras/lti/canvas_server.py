"""Canvas as its REST API is documented, with one course and one assignment."""

from __future__ import annotations

import re
from typing import Any

from tests.extras.lti.server import LmsServer, Reply, Request

TOKEN = "7~secret-of-canvas"
UNAUTHORIZED = {
    "status": "unauthorized",
    "errors": [{"message": "user not authorized to perform that action"}],
}


class CanvasServer(LmsServer):
    """``scores`` and ``comments`` by user; lists come in pages of one."""

    def __init__(self) -> None:
        super().__init__()
        self.assignment = {
            "id": 44, "course_id": 7, "points_possible": 10.0, "published": True,
            "grading_type": "points", "anonymize_students": False,
        }  # fmt: skip
        self.users: dict[str, dict[str, Any]] = {}
        self.scores: dict[str, float | None] = {}
        self.excused: set[str] = set()
        self.comments: dict[str, list[str]] = {}
        self.hand_ins: dict[str, tuple[str, dict[str, bytes]]] = {}
        self.uploads: dict[int, tuple[str, bytes]] = {}

    def enrol(self, key: str, name: str, **more: str) -> None:
        self.users[key] = {"id": int(key), "name": name, **more}
        self.scores[key] = None

    def answer(self, request: Request) -> Any:
        path = request.path
        if path.startswith("/files/"):
            user, name = path.split("/")[2:]
            return Reply(200, self.hand_ins[user][1][name])
        if path == "/upload":
            number = len(self.uploads) + 1
            self.uploads[number] = request.files["file"]
            return {"id": number, "url": f"{self.url}/made"}
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            error = {"errors": [{"message": "Invalid access token."}]}
            raise Reply(401, error, WWW_Authenticate='Bearer realm="canvas-lms"')
        course = "/api/v1/courses/7"
        if path == f"{course}/search_users":
            return self._page(request, list(self.users.values()))
        if path == f"{course}/assignments/44":
            return self.assignment
        if path == f"{course}/assignments/44/submissions":
            return self._page(request, [self._submission(key) for key in self.users])
        match = re.fullmatch(
            rf"{course}/assignments/44/submissions/(\d+)(/comments/files)?", path
        )
        if not match or match[1] not in self.users:
            error = {"errors": [{"message": "The specified resource does not exist."}]}
            raise Reply(404, error)
        if match[2]:
            return {"upload_url": f"{self.url}/upload", "upload_params": {"key": "k"}}
        return self._edit(match[1], request.fields)

    def _edit(self, key: str, fields: dict[str, str]) -> dict[str, Any]:
        if "submission[posted_grade]" in fields:
            self.scores[key] = float(fields["submission[posted_grade]"])
        for name in ("comment[text_comment]", "comment[file_ids][]"):
            if name in fields:
                self.comments.setdefault(key, []).append(fields[name])
        return self._submission(key)

    def _submission(self, key: str) -> dict[str, Any]:
        time, files = self.hand_ins.get(key, (None, {}))
        return {
            "assignment_id": 44, "user_id": int(key), "user": self.users[key],
            "score": self.scores[key], "entered_score": self.scores[key],
            "excused": key in self.excused, "submitted_at": time,
            "attachments": [
                {
                    "id": 1, "display_name": name, "size": len(data),
                    "url": f"{self.url}/files/{key}/{name}",
                }
                for name, data in files.items()
            ],
        }  # fmt: skip

    def _page(self, request: Request, entries: list[Any]) -> Reply:
        page = int(request.fields.get("page", 1))
        link = f'<{self.url}{request.path}?page={page + 1}>; rel="next"'
        more = {"Link": link} if page < len(entries) else {}
        return Reply(200, entries[page - 1 : page], **more)
