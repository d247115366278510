"""The command ``autograder translate``, which updates the files for translators."""

from __future__ import annotations

from argparse import Namespace

from autograder.cli.arguments import UNITS, CommandSet, chosen_units, option
from autograder.course import ROOT
from autograder.course.printable import format_count

COMMANDS = CommandSet("author")


@COMMANDS.command(
    "translate", "bring the files for translators up to the sentences of today",
    option("language", 'its code, like "de"', "LANGUAGE"),
    UNITS,
)  # fmt: skip
def _translate(options: Namespace) -> int:
    """Update a language's files for the engine and the chosen units."""
    from autograder.authoring.translations import install
    from autograder.extras.translation.update import update

    for unit in (None, *chosen_units(options)):
        catalogue = update(options.language, unit)
        path = catalogue.path.relative_to(ROOT)
        sentences = format_count(catalogue.sentences, "sentence")
        print(f"{path}: {sentences}, {catalogue.missing} to translate")
    for path in install():
        print(path.relative_to(ROOT))
    return 0
