"""``--to`` of grades and feedback, ``--from`` of collect, and a key for an LMS."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from autograder.classroom.classbook import Classbook
from autograder.classroom.services import Delivery, Service
from autograder.cli.arguments import COURSE, CommandSet

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
    from autograder.extras.lti import sending

    assignment = opening(root, book.unit, book.max_points)
    return sending.send(book, root, assignment, is_trial, may_lower)


def _fetch(opening: Opening, unit: str, root: Path, folder: Path) -> list[str]:
    from autograder.classroom import gradebook
    from autograder.extras.lti import fetching

    max_points = sum(item.max_points for item in gradebook.list_items(unit, root))
    return fetching.fetch(opening(root, unit, max_points), folder)


def _send_feedback(opening: Opening, unit: str, root: Path, is_trial: bool) -> Delivery:
    from autograder.classroom import gradebook
    from autograder.extras.lti import returning

    max_points = sum(item.max_points for item in gradebook.list_items(unit, root))
    return returning.send(unit, root, opening(root, unit, max_points), is_trial)


def _service(opening: Opening, takes_files: bool) -> Service:
    return Service(
        partial(_send_grades, opening),
        partial(_fetch, opening) if takes_files else None,
        partial(_send_feedback, opening) if takes_files else None,
    )


SERVICES = {
    "lti": _service(_advantage, False),
    "canvas": _service(_canvas, True),
    "moodle": _service(_moodle, True),
}
