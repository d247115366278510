"""The command ``autograder watch``, which grades hand-ins as they arrive."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from autograder.cli.arguments import CommandSet, flag, option
from autograder.course.errors import UsageError

COMMANDS = CommandSet("teaching assistant")
_LONGEST_WAIT = 86_400.0  # seconds between two looks


@COMMANDS.graded(
    "watch", "grade each hand-in as it arrives",
    flag("--exchange", "collect from nbgrader's exchange and release feedback to it"),
    option("--tell", "what feedback shows before the deadline; afterwards, everything",
           choices=("points", "cases", "panels"), default="points"),
    option("--per-hour", "grade each student at most N times an hour; default: 6", "N",
           type=int, default=6),
    option("--every", "look for hand-ins every N seconds; default: 10", "N",
           type=float, default=10.0),
    flag("--once", "run one round only, as for cron"),
)  # fmt: skip
def _watch(unit: str, root: Path, options: Namespace) -> int:
    """Grade hand-ins as they arrive, until Ctrl-C or for a single round."""
    from autograder.extras.watch import watch

    if options.per_hour < 1 or not 0 < options.every < _LONGEST_WAIT:
        raise UsageError("--per-hour must be at least 1, --every some seconds")
    root = root.resolve()
    steps = watch.Commands(unit, root, options.exchange, options.tell)
    watcher = watch.Watch(unit, root, steps, options.per_hour)
    try:
        return watch.run(watcher, options.every, options.once)
    except KeyboardInterrupt:
        return 0
