"""The command ``autograder similarity``, which lists pairs of similar solutions."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from autograder.cli.arguments import CommandSet
from autograder.course.files import write

COMMANDS = CommandSet("instructor")


@COMMANDS.graded("similarity", "list pairs of similar solutions")
def _similarity(unit: str, root: Path, _: Namespace) -> int:
    from autograder.classroom.answers import read
    from autograder.extras.similarity import similarity

    answers = read(unit, root)
    release_code = similarity.released(unit, root)
    comparison = similarity.compare(answers, release_code)
    path = root / "reports" / f"{unit}-similarity.html"
    write(path, similarity.as_html(unit, comparison, answers, release_code))
    print(similarity.as_text(unit, comparison), f"side by side: {path}", sep="\n\n")
    return 0
