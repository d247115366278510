"""Commands for authors and instructors: write, build, try and publish the course."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from datetime import date
from itertools import groupby
from pathlib import Path
from shlex import quote

from autograder.cli.arguments import UNIT, UNITS, CommandSet, chosen_units, flag, option
from autograder.course import ROOT, find_unit, units
from autograder.course.errors import UsageError, list_present
from autograder.course.files import write

COMMANDS = CommandSet()
_EDITION = (
    option("--edition",
           '"short": exercises off the short path are given: solved, without points; '
           '"full": nothing is; default: as it was built the last time',
           "NAME", default=""),
    option("--given",
           'more exercises to give, like "greedy_sequence,greedy_decode" or "5.6,5.7"',
           "NAMES", default=""),
)  # fmt: skip


@COMMANDS.command(
    "build", "build source, release, solutions and references", UNITS,
    option("--jobs",
           "units built at once, each in a process of its own; default: as many as "
           "there are usable cores",
           "N", type=int, default=0),
    *_EDITION,
)  # fmt: skip
def _build(options: Namespace) -> int:
    """Build the chosen units; a fault in one does not stop the others."""
    from autograder.cli.building import build_units

    build_units(chosen_units(options), options)
    return 0


@COMMANDS.command("adopt", "bring edits of source/ back into notebooks/", UNITS)
def _adopt(options: Namespace) -> int:
    """Write the changes made in ``source/`` into the notebooks' texts."""
    from autograder.authoring.adopt import adopt

    for unit in chosen_units(options):
        text = str(unit.text.relative_to(unit.root))
        print(f"{unit.label}: {text if adopt(unit) else 'no edit to adopt'}")
    return 0


@COMMANDS.command(
    "init", "start a course of your own, with one solved exercise, in a new folder",
    option("folder", None, "FOLDER", type=Path),
    option("--title", "of the course; default: the folder's name", "TEXT", default=""),
)  # fmt: skip
def _init(options: Namespace) -> int:
    """Start a course in a new folder, and print its files and the next command."""
    from autograder.authoring.start_course import start

    for path in start(options.folder, options.title):
        print(path)
    print(f"cd {quote(str(options.folder))} && autograder demo")
    return 0


@COMMANDS.command(
    "new-unit", "write the notebook of a new unit, still without exercises",
    option("name", 'like "convolution" or "05_convolution"', "NAME"),
)  # fmt: skip
def _new_unit(options: Namespace) -> int:
    """Write the notebook of a new unit, and print the command that comes next."""
    from autograder.authoring.start_course import start_unit

    path = start_unit(options.name, ROOT)
    print(path.relative_to(ROOT))
    print(f"Begin its first exercise with: autograder new-exercise {path.stem} NAME")
    return 0


@COMMANDS.command(
    "new-exercise", "write the skeleton of an exercise: cells, cases, mistakes", UNIT,
    option("name", 'like "favourite_key"', "NAME"),
)  # fmt: skip
def _new_exercise(options: Namespace) -> int:
    """Write the skeleton of an exercise, and say what to do with it."""
    from autograder.authoring.new_exercise import MARK, create

    unit = find_unit(options.unit)
    for path in create(unit, options.name):
        print(path.relative_to(unit.root))
    print(
        f"Fill in every {MARK}, and let the points of the unit sum to 100; then run: "
        f"autograder build {unit.number}"
    )
    return 0


@COMMANDS.command(
    "new-course", "copy the course with some of its units, into a new folder",
    option("folder", None, "FOLDER", type=Path),
    option("--units", 'like "01,02,03"', required=True),
)  # fmt: skip
def _new_course(options: Namespace) -> int:
    """Copy the course, with the chosen units only, into a new folder."""
    from autograder.authoring.new_course import create

    chosen = [find_unit(name.strip()) for name in options.units.split(",")]
    left_out = create(chosen, ROOT, options.folder)
    print(f"{options.folder}: {', '.join(unit.label for unit in chosen)}")
    print(f"left out: {len(left_out)} tests and benchmarks of other units")
    print("committed; `git log` names the commit that it was copied from")
    print(f"cd {quote(str(options.folder))} && make demo && make test")
    return 0


@COMMANDS.command(
    "validity", "run all mutants and accepted solutions against the checks", UNITS,
    option("--exercise",
           'only this exercise, like "attention/softmax"; can be repeated',
           "NAME", action="append", dest="exercises", default=[]),
    flag("--generated",
         "instead make mutants by rule, and list those that no case catches"),
)  # fmt: skip
def _validity(options: Namespace) -> int:
    """Run the checks on known wrong and right programs.

    Return 0 if all are judged correctly, and 95 % of the mistakes are named.
    """
    from autograder.authoring.catalogue import specification
    from autograder.authoring.verify import measure, total
    from autograder.checks.references import load

    if options.generated:
        return _list_survivors(_choose_exercises(options))
    rows = []
    chosen = _choose_exercises(options)
    for unit, names in groupby(chosen, lambda name: name.split("/")[0]):
        # Inputs drawn for the notebooks, which students see, and hidden ones.
        drawings = [load(unit), load(unit, "hidden")]
        for row in measure(map(specification, names), drawings):
            rows.append(row)
            print(row, *(f"    {line}" for line in row.failures), sep="\n", flush=True)
    overall = total(rows)
    print(overall)
    # Each wrong program must fail, and nearly all get the name of their mistake.
    sound = overall.caught == overall.mutants and overall.accepted == overall.solutions
    return 0 if sound and overall.named >= 0.95 * overall.mutants else 1


def _choose_exercises(options: Namespace) -> list[str]:
    """The names of the chosen exercises, or of all in the units if none is chosen."""
    from autograder.authoring.catalogue import specifications

    names: list[str] = options.exercises
    named = [find_unit(name.split("/")[0]) for name in names]
    chosen = chosen_units(options) if options.units else dict.fromkeys(named) or units()
    all_names = [e.name for unit in chosen for e in specifications(unit.name)]
    if unknown := [name for name in names if name not in all_names]:
        raise UsageError(f'no exercise "{unknown[0]}"; {list_present(all_names)}')
    return [name for name in all_names if not names or name in names]


def _list_survivors(names: Sequence[str]) -> int:
    """Make wrong programs by rule, count those that are caught, and list the others.

    Returns 1 if there are others, else 0.
    """
    from autograder.authoring.catalogue import specification
    from autograder.authoring.generated import count

    survivors = 0
    for exercise in map(specification, names):
        mutant_count = count(exercise)
        survivors += len(mutant_count.survivors)
        listed = (f"    {line}" for line in mutant_count.survivors)
        print(mutant_count, *listed, sep="\n", flush=True)
    return 1 if survivors else 0


@COMMANDS.command(
    "demo", "grade a sample class from end to end, in demo/",
    option("units",
           'like "attention" or "02", or "all"; default: the one that shows the way',
           "UNIT", nargs="*"),
)  # fmt: skip
def _demo(options: Namespace) -> int:
    """Grade a sample class in ``demo/``; by default in the units made to show this."""
    from autograder.classroom.demo import default_units, run

    if options.units == ["all"]:
        chosen = units()
    else:
        chosen = chosen_units(options) if options.units else default_units()
    run(chosen, ROOT / "demo")
    return 0


@COMMANDS.command("lab", "open JupyterLab in a student's working copy", UNITS)
def _lab(options: Namespace) -> int:
    from autograder.classroom import lab

    lab.prepare(chosen_units(options), ROOT / "demo")
    return lab.run(ROOT / "demo")


@COMMANDS.command(
    "kit", "write the student repository to publish, in dist/student/", UNITS,
    option("--owner",
           "the GitHub account that publishes it; default: see course.toml",
           "NAME", default=""),
    *_EDITION,
)  # fmt: skip
def _kit(options: Namespace) -> int:
    """Write the folder for students: notebooks up to a unit, the checks, a README."""
    from autograder.authoring.colab import published
    from autograder.classroom.publishing import kit
    from autograder.cli.building import build_units, name_edition

    last = chosen_units(options)[-1] if options.units else kit.first_unit()
    if options.edition or options.given:
        if not options.units:
            raise UsageError("an edition needs a unit: make kit UNIT=05 EDITION=short")
        build_units([last], options)
    folder = ROOT / "dist" / "student"
    repository = published(last.root, options.owner)
    kit.build(last, folder, repository)
    listed = ", ".join(map(name_edition, kit.notebook_units(last)))
    solved = ", ".join(unit.label for unit in kit.solution_units(last)) or "none"
    print(f"{folder}\n  notebooks: {listed}\n  solutions inside: {solved}")
    if not options.units:
        print(f"  {kit.explain_last_unit()}")
    if not repository.is_public:
        print(
            "Colab cannot open it yet: say whose GitHub account publishes it, like "
            f"make kit UNIT={last.number} OWNER=ada-l",
            file=sys.stderr,
        )
    return 0


@COMMANDS.command(
    "mistakes", "print what can go wrong in each exercise, and what to ask", UNITS,
    option("--output", "where to write the pages; default: dist/mistakes", "FOLDER",
           type=Path, default=ROOT / "dist" / "mistakes"),
)  # fmt: skip
def _mistakes(options: Namespace) -> int:
    """Write a page for each unit with its known mistakes, and print the paths."""
    from autograder.classroom import mistakes

    for unit in chosen_units(options):
        path = options.output / f"{unit.label}.html"
        write(path, mistakes.as_html(unit))
        print(path)
    return 0


@COMMANDS.command(
    "new-term", "draw new hidden references, and move old results to terms/"
)
def _new_term(options: Namespace) -> int:
    """Draw new hidden references, and put the last term's results away."""
    from autograder.authoring import term

    for path in term.renew(units()):
        print(f"new: {path.relative_to(ROOT)}")
    folder = term.put_away(ROOT, date.today())
    if folder:
        print(f"the last term's submissions, grades and secret are in {folder}")
    return 0
