"""Information from LTI launches: an LMS's services, and its users on a JupyterHub.

A launch is a student's way from a course in the LMS to the hub. The hub imports
a copy of this file into its own Python environment (docs/lms.md), so the file
imports nothing of the engine at module level.
"""

from __future__ import annotations

import json
import logging
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.extras.lti.settings import LmsSettings

FILE = Path(".autograder") / "launches.json"
_CLAIM = "https://purl.imsglobal.org/spec"
_GRADES = f"{_CLAIM}/lti-ags/claim/endpoint"
_NAMES = f"{_CLAIM}/lti-nrps/claim/namesroleservice"
_CONTEXT = f"{_CLAIM}/lti/claim/context"


@dataclass(frozen=True)
class LaunchedCourse:
    """The addresses of an LMS course's grade and name services, and its users.

    ``users`` maps the LMS's ids of students to their names on the hub.
    """

    lineitems: str
    memberships: str
    scopes: tuple[str, ...] = ()
    users: dict[str, str] = field(default_factory=dict)


def note_launch(folder: str | Path, authentication: dict[str, Any]) -> None:
    """Record a verified launch: its user, and the addresses of the LMS's services.

    An error is only logged, so that the student can log in nevertheless.

    Args:
        folder: nbgrader's course folder.
        authentication: the argument of ``LTI13Authenticator.post_auth_hook``.
    """
    try:
        _note(Path(folder) / FILE, authentication)
    except Exception as error:  # the student can log in nevertheless
        logging.getLogger("jupyterhub").error("a launch was not noted: %s", error)


def _note(path: Path, authentication: dict[str, Any]) -> None:
    """Add a launch to the file at ``path``, unless it lacks one of the two services.

    The file maps the id of each LMS course to a record with the addresses of the two
    services, and with "users", which maps the users' LMS ids to their names on the hub.
    """
    claims = authentication.get("auth_state") or {}
    grades, names = claims.get(_GRADES) or {}, claims.get(_NAMES) or {}
    if not grades.get("lineitems") or not names.get("context_memberships_url"):
        return
    courses = json.loads(path.read_text("utf-8")) if path.exists() else {}
    context = claims.get(_CONTEXT) or {}
    course = courses.setdefault(str(context.get("id", "")), {"users": {}})
    course |= {
        "title": str(context.get("title", "")),
        "lineitems": grades["lineitems"],
        "memberships": names["context_memberships_url"],
        "scopes": list(grades.get("scope", [])),
    }
    course["users"][str(claims["sub"])] = authentication["name"]
    path.parent.mkdir(exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.write_text(json.dumps(courses, indent=1, sort_keys=True), "utf-8")
    part.replace(path)


def find(root: Path, settings: LmsSettings) -> LaunchedCourse:
    """Find the LMS course: by the addresses in the settings, or else from launches.

    The setting ``context``, an id or a title, chooses among several courses.

    Raises:
        CourseError: the settings are invalid, or do not tell which course is meant.
    """
    from autograder.course.errors import CourseError
    from autograder.course.files import read_json_state

    courses = read_json_state(root / FILE)
    wanted = settings.text("context", "")
    chosen = [c for key, c in courses.items() if wanted in ("", key, c["title"])]
    if "lineitems" in settings.values:
        users = chosen[0]["users"] if len(chosen) == 1 else {}
        lineitems = settings.address("lineitems")
        return LaunchedCourse(lineitems, settings.address("memberships"), (), users)
    if len(chosen) != 1:
        listed = ", ".join(f"{key} ({c['title']})" for key, c in courses.items())
        raise CourseError(
            f"{settings.path}: set context of [lti] to one of {listed}"
            if courses
            else "no launch has been noted yet: open the hub once from the LMS, or set "
            f"lineitems and memberships in {settings.path} (docs/lms.md)"
        )
    course = chosen[0]
    return LaunchedCourse(
        course["lineitems"], course["memberships"], tuple(course["scopes"]),
        course["users"],
    )  # fmt: skip
