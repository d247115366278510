"""The command ``autograder exchange``, which sets up a shared machine."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from autograder.cli.arguments import CommandSet, option
from autograder.course import settings

COMMANDS = CommandSet("instructor")


@COMMANDS.command(
    "exchange",
    "set up a machine that graders and students share (root; docs/admin.md)",
    option("--graders", "instructors and assistants, by their logins", "ACCOUNT",
           nargs="+", default=[]),
    option("--folder", "for the exchange and the course; default: %(default)s",
           type=Path, default=Path("/srv/nbgrader")),
    option("--config", "where nbgrader's settings go; default: %(default)s", "FOLDER",
           type=Path, default=Path("/etc/jupyter")),
    option("--group", "of the graders; default: %(default)s", default="nbgraders"),
    # Elsewhere ``course`` is a folder.
    option("--course", "the course's name; default: %(default)s", "NAME",
           dest="name", default=settings()["course_id"]),
)  # fmt: skip
def _exchange(options: Namespace) -> int:
    """Set up the exchange and the course for several accounts; only root can."""
    from autograder.extras.shared_machine.shared_machine import Classroom, set_up

    room = Classroom(
        options.graders, options.folder.absolute(), options.config.absolute(),
        options.group, options.name,
    )  # fmt: skip
    set_up(room)
    listed = ", ".join(options.graders)
    print(f"exchange: {room.exchange}\ncourse:   {room.course}, for {listed}")
    print(f"{listed}: log out and in to join the group {options.group}")
    return 0
