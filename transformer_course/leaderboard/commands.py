"""The command ``autograder leaderboard``."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from autograder.cli.arguments import CommandSet

COMMANDS = CommandSet("this course")


@COMMANDS.graded("leaderboard", "rank models, and sum up logs")
def _leaderboard(unit: str, root: Path, _: Namespace) -> int:
    """Write a unit's leaderboards and a summary of its class's logs; print paths."""
    from transformer_course.leaderboard import leaderboard, tried

    leaderboard.require_leaderboard(unit, root)
    boards = leaderboard.write(unit, root)
    paths, attempts = tried.write(unit, root)
    print(*boards, *paths, *attempts.remarks, sep="\n")
    return 0
