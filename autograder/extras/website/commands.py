"""The command ``autograder site``, which builds the course's website."""

from __future__ import annotations

from argparse import Namespace

from autograder.cli.arguments import UNITS, CommandSet, chosen_units
from autograder.course import ROOT

COMMANDS = CommandSet("instructor")


@COMMANDS.command("site", "make the website, in dist/site/; needs '.[site]'", UNITS)
def _site(options: Namespace) -> int:
    from autograder.extras.website import website

    print(website.build(chosen_units(options), ROOT / "dist" / "site"))
    return 0
