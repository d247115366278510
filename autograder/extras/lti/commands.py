"""LMS commands, and LMSs for ``--to`` (grades, feedback) and ``--from`` (collect)."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from autograder.classroom.classbook import Classbook
from autograder.classroom.services import Delivery, Service
from autograder.cli.arguments import COURSE, CommandSet, option

COMMANDS = CommandSet("instructor")


@COMMANDS.command(
    "lti-key", "print the course's public key for an LMS; make it if there is none",
    COURSE,
)  # fmt: skip
def _lti_key(options: Namespace) -> int:
    from autograder.extras.lti import keys

    as_json, as_pem = keys.create(options.course)
    print(f"Canvas, Public JWK:\n{as_json}\n\nMoodle, Public key:\n{as_pem}", end="")
    return 0


def _canvas(root: Path, unit: str, max_points: float) -> Any:
    from autograder.extras.lti import canvas, settings

    return canvas.CanvasAssignment(settings.read(root, "canvas"), unit, max_points)


def _moodle(root: Path, unit: str, max_points: float) -> Any:
    from autograder.extras.lti import moodle, settings

    return moodle.MoodleAssignment(settings.read(root, "moodle"), unit, max_points)


def _advantage(root: Path, unit: str, max_points: float) -> Any:
    from autograder.extras.lti import advantage, settings

    lti = settings.read(root, "lti")
    return advantage.AdvantageAssignment(lti, root, unit, max_points)


Opening = Callable[[Path, str, float], Any]


def _send_grades(
    opening: Opening, book: Classbook, root: Path, is_trial: bool, may_lower: bool
) -> Delivery:
    """Send grades to the unit's assignment in an LMS, which ``opening`` opens."""
    from autograder.extras.lti import sending

    assignment = opening(root, book.unit, book.max_points)
    return sending.send(book, root, assignment, is_trial, may_lower)


def _fetch(opening: Opening, unit: str, root: Path, folder: Path) -> list[str]:
    from autograder.extras.lti import fetching

    return fetching.fetch(opening(root, unit, _max_points(unit, root)), folder)


def _send_feedback(opening: Opening, unit: str, root: Path, is_trial: bool) -> Delivery:
    from autograder.extras.lti import returning

    assignment = opening(root, unit, _max_points(unit, root))
    return returning.send(unit, root, assignment, is_trial)


def _max_points(unit: str, root: Path) -> float:
    from autograder.classroom import gradebook

    return sum(item.max_points for item in gradebook.list_items(unit, root))


def _service(opening: Opening, takes_files: bool) -> Service:
    """The service of an LMS: grades, and hand-ins and feedback if it takes files."""
    return Service(
        partial(_send_grades, opening),
        partial(_fetch, opening) if takes_files else None,
        partial(_send_feedback, opening) if takes_files else None,
    )


_OPENINGS: dict[str, Opening] = {
    "lti": _advantage, "canvas": _canvas, "moodle": _moodle,
}  # fmt: skip
SERVICES = {
    name: _service(opening, name != "lti") for name, opening in _OPENINGS.items()
}


@COMMANDS.graded(
    "lms-roster", "write the students of an LMS's course as a roster",
    option("service", None, choices=tuple(_OPENINGS)),
)  # fmt: skip
def _lms_roster(unit: str, root: Path, options: Namespace) -> int:
    """Write the members of the LMS's course as a CSV file with a roster's columns."""
    from autograder.course.files import write
    from autograder.extras.lti import class_list

    opening = _OPENINGS[options.service]
    assignment = opening(root, unit, _max_points(unit, root))
    path = root / "reports" / f"roster-{options.service}.csv"
    write(path, class_list.as_roster(assignment.read_people()))
    print(path)
    return 0
