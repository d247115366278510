"""``autograder lti-key`` and ``lms-roster``, and the LMSs reached over the network.

`SERVICES` are the LMSs to which ``--to`` sends grades. Those that take files also get
feedback in this way, and ``--from`` collects hand-ins from them.
"""

from __future__ import annotations

from argparse import Namespace
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


def _open(lms: str, unit: str, root: Path) -> Any:
    """Connect to a unit's `OnlineAssignment` in the LMS "lti", "canvas" or "moodle"."""
    from autograder.classroom import gradebook
    from autograder.extras.lti import advantage, canvas, moodle, settings

    chosen = settings.read(root, lms)
    max_points = sum(item.max_points for item in gradebook.list_items(unit, root))
    if lms == "lti":
        return advantage.AdvantageAssignment(chosen, root, unit, max_points)
    kind = canvas.CanvasAssignment if lms == "canvas" else moodle.MoodleAssignment
    return kind(chosen, unit, max_points)


def _send_grades(
    lms: str, book: Classbook, root: Path, is_trial: bool, may_lower: bool
) -> Delivery:
    from autograder.extras.lti import sending

    assignment = _open(lms, book.unit, root)
    return sending.send(book, root, assignment, is_trial, may_lower)


def _fetch(lms: str, unit: str, root: Path, folder: Path) -> list[str]:
    from autograder.extras.lti import fetching

    return fetching.fetch(_open(lms, unit, root), folder)


def _send_feedback(lms: str, unit: str, root: Path, is_trial: bool) -> Delivery:
    from autograder.extras.lti import returning

    return returning.send(unit, root, _open(lms, unit, root), is_trial)


SERVICES = {"lti": Service(partial(_send_grades, "lti"))} | {
    lms: Service(
        partial(_send_grades, lms), partial(_fetch, lms), partial(_send_feedback, lms)
    )
    for lms in ("canvas", "moodle")  # which take files
}


@COMMANDS.graded(
    "lms-roster", "write the students of an LMS's course as a roster",
    option("service", None, choices=tuple(SERVICES)),
)  # fmt: skip
def _lms_roster(unit: str, root: Path, options: Namespace) -> int:
    from autograder.course.files import write
    from autograder.extras.lti import class_list

    path = root / "reports" / f"roster-{options.service}.csv"
    people = _open(options.service, unit, root).read_people()
    write(path, class_list.as_roster(people))
    print(path)
    return 0
