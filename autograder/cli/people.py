"""Commands for those who teach: collecting, grades, reports, shared machines."""

from __future__ import annotations

import argparse
from datetime import date, timedelta
from pathlib import Path

from autograder.cli.terms import Commands, Run
from autograder.course.errors import CourseError
from autograder.course.files import write


def add(commands: Commands) -> None:
    """Add the commands to an argument parser's."""
    _add_exchange(commands)
    text = "write the class report of a unit, or of the course so far"
    report = commands.add_parser("report", help=text, description=text)
    report.add_argument("unit", metavar="UNIT", nargs="?", help='like "02"; or --all')
    _add_course(report)
    report.set_defaults(run=_report)
    report.add_argument("--all", action="store_true", help="everybody over all units")
    report.add_argument(
        "--weight", action="append", default=[], metavar="UNIT=N",
        help="with --all: how much a unit counts, like 06=3; else 1",
    )  # fmt: skip
    report.add_argument(
        "--drop", type=int, default=0, metavar="N",
        help="with --all: a student's worst units, which do not count",
    )  # fmt: skip
    report.add_argument(
        "--before", type=Path, metavar="CSV",
        help="an earlier term's table of report --shareable, to compare with",
    )  # fmt: skip
    report.add_argument("--shareable", action="store_true", help="name no student")
    report.add_argument("--output", type=Path, metavar="FILE", help="default: reports/")
    _add_graded(commands, "similarity", _similarity, "list solutions that are alike")
    grades = _add_graded(commands, "grades", _grades, "write grades for an LMS")
    formats = ("canvas", "moodle", "gradescope")
    grades.add_argument("--format", required=True, choices=formats)
    grades.add_argument(
        "--into", type=Path, metavar="CSV",
        help="Canvas's exported gradebook, or Moodle's grading worksheet",
    )  # fmt: skip
    grades.add_argument("--column", default="", metavar="TITLE", help="of Canvas's CSV")
    grades.add_argument("--output", type=Path, metavar="PATH", help="default: reports/")
    collect = _add_graded(commands, "collect", _collect, "place an LMS's archives")
    collect.add_argument(
        "archives", nargs="+", type=Path, metavar="ZIP", help="or a folder: it unpacked"
    )
    collect.add_argument(
        "--roster", type=Path, metavar="CSV", help="who is who; the gradebook keeps it"
    )
    collect.add_argument(
        "--worksheet", type=Path, metavar="CSV", help="Moodle's, for hidden identities"
    )
    collect.add_argument(
        "--lms", default="", metavar="NAME", help="if the archives do not tell"
    )
    collect.add_argument(
        "--timezone", default="", metavar="ZONE",
        help='of the LMS, like "Europe/Berlin"; default: this computer\'s',
    )  # fmt: skip
    collect.add_argument(
        "--replace", action="store_true", help="where it is unclear which is newer"
    )
    solutions = _add_graded(
        commands, "solutions", _solutions, "hand out a unit with its solutions"
    )
    solutions.add_argument(
        "--anyway", action="store_true", help="also while somebody may hand in"
    )
    written = _add_graded(commands, "written", _written, "list answers in words")
    written.add_argument(
        "--from", dest="tables", action="append", default=[], type=Path, metavar="CSV",
        help="a table that was filled in: its points and comments are recorded",
    )  # fmt: skip
    regrade = _add_graded(commands, "regrade", _regrade, "look at a grade again")
    regrade.add_argument("student", metavar="STUDENT")
    regrade.add_argument("exercise", metavar="EXERCISE", help='like "softmax"')
    regrade.add_argument("--says", default="", help="what the student says")
    regrade.add_argument("--answer", default="", help="adds your answer to the request")
    watch = _add_graded(commands, "watch", _watch, "grade what arrives, on hand-in")
    watch.add_argument(
        "--exchange", action="store_true",
        help="collect from nbgrader's exchange, and release feedback to it",
    )  # fmt: skip
    watch.add_argument(
        "--tell", choices=("points", "cases", "panels"), default="points",
        help="what feedback tells before the deadline; afterwards, all",
    )  # fmt: skip
    watch.add_argument("--per-hour", type=int, default=6, help="gradings of a student")
    watch.add_argument("--every", type=float, default=10.0, help="seconds")
    watch.add_argument("--once", action="store_true", help="one round, as for cron")
    hosted = _add_graded(
        commands, "hosted", _hosted, "grade one submission for a service"
    )
    hosted.add_argument("--submission", type=Path, required=True, metavar="FOLDER")
    hosted.add_argument("--results", type=Path, required=True, metavar="FILE")
    hosted.add_argument(
        "--format", default="gradescope", metavar="NAME",
        help="gradescope, prairielearn or text",
    )  # fmt: skip
    hosted.add_argument(
        "--tell", default="points", metavar="WHAT",
        help="what a student learns: points, cases or panels",
    )  # fmt: skip
    hosted.add_argument(
        "--unconfined", action="store_true",
        help="also where no isolation works: in a container that is thrown away",
    )  # fmt: skip
    _add_graded(commands, "feedback", _feedback, "pack feedback pages for the LMS")
    extend = _add_graded(commands, "extend", _extend, "give students more time")
    extend.add_argument("students", nargs="*", metavar="STUDENT", help="none: list all")
    extend.add_argument("--days", type=float, default=0.0, help="after the deadline")
    extend.add_argument("--hours", type=float, default=0.0, help="after the deadline")
    extend.add_argument(
        "--until", default="", metavar="TIME",
        help='like "2026-12-03 23:59 Europe/Berlin", in place of days and hours',
    )  # fmt: skip
    _add_graded(commands, "leaderboard", _leaderboard, "rank a unit's models")


def _add_exchange(commands: Commands) -> None:
    text = "share this machine between graders and students (as root; see docs/ta.md)"
    command = commands.add_parser("exchange", help=text, description=text)
    command.add_argument("--graders", nargs="+", default=[], metavar="ACCOUNT")
    command.add_argument("--folder", type=Path, default=Path("/srv/nbgrader"))
    command.add_argument("--config", type=Path, default=Path("/etc/jupyter"))
    command.add_argument("--group", default="nbgraders")
    command.add_argument("--course", default="transformer", help="its name")
    command.set_defaults(run=_exchange)


def _add_graded(
    commands: Commands, name: str, run: Run, text: str
) -> argparse.ArgumentParser:
    """A command on what nbgrader has graded of one unit."""
    command = commands.add_parser(name, help=text, description=text)
    command.add_argument("unit", metavar="UNIT", help='like "attention" or "02"')
    _add_course(command)
    command.set_defaults(run=run)
    return command


def _add_course(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--course", type=Path, default=Path(), metavar="FOLDER",
        help="nbgrader's course folder; default: this one",
    )  # fmt: skip


def _exchange(options: argparse.Namespace) -> int:
    from autograder.classroom.exchange import Classroom, set_up

    room = Classroom(
        options.graders, options.folder.absolute(), options.config.absolute(),
        options.group, options.course,
    )  # fmt: skip
    set_up(room)
    listed = ", ".join(options.graders)
    print(f"exchange: {room.exchange}\ncourse:   {room.course}, for {listed}")
    print(f"{listed}: log out and in once, so that the group {options.group} counts")
    return 0


def _collect(options: argparse.Namespace) -> int:
    from autograder.classroom import gradebook
    from autograder.collect import layouts, place, roster

    unit = gradebook.find_assignment(options.unit, options.course)
    if options.lms and options.lms.lower() not in layouts.NAMES:
        raise CourseError(f"--lms is one of {', '.join(layouts.NAMES)}")
    known = roster.of_course(options.course, options.roster)
    if options.roster:
        roster.keep(known, options.course)
    if options.worksheet:
        known = known.with_worksheet(options.worksheet)
    outcomes = list(
        place.collect(
            unit, options.archives, options.course, known,
            layouts.to_utc(options.timezone), options.lms.lower(), options.replace,
            gradebook.due(options.course, unit),
        )
    )  # fmt: skip
    print(place.as_text(outcomes))
    return 1 if any(outcome.needs_person for outcome in outcomes) else 0


def _solutions(options: argparse.Namespace) -> int:
    from autograder.classroom import gradebook
    from autograder.course import find_unit
    from autograder.grading import extensions
    from autograder.publishing import solved

    unit = gradebook.find_assignment(options.unit, options.course)
    due = None if options.anyway else gradebook.due(options.course, unit)
    if due:
        due += max(
            extensions.granted(options.course, unit).values(), default=timedelta()
        )
    path = options.course / "solutions" / f"{unit}.ipynb"
    print(solved.release(find_unit(unit), path, due))
    return 0


def _written(options: argparse.Namespace) -> int:
    from autograder.classroom import gradebook, written

    unit = gradebook.find_assignment(options.unit, options.course)
    for path in options.tables:
        count = written.take_list(unit, options.course, path)
        print(f"{path}: points for {count}")
    if not options.tables:
        folder = options.course / "reports"
        print(*written.write_list(unit, options.course, folder), sep="\n")
    return 0


def _regrade(options: argparse.Namespace) -> int:
    from autograder.classroom import gradebook, requests

    unit = gradebook.find_assignment(options.unit, options.course)
    about = (unit, options.course, options.student, options.exercise)
    today = f"{date.today():%d %B %Y}"
    if options.answer:
        print(requests.answer(*about, options.answer, today))
    else:
        print(requests.look_again(*about, options.says, today))
    return 0


def _watch(options: argparse.Namespace) -> int:
    from autograder.classroom import gradebook, watch

    unit = gradebook.find_assignment(options.unit, options.course)
    root = options.course.resolve()
    steps = watch.Commands(unit, root, options.exchange, options.tell)
    one = watch.Watch(unit, root, steps, options.per_hour)
    try:
        return watch.run(one, options.every, options.once)
    except KeyboardInterrupt:
        return 0


def _hosted(options: argparse.Namespace) -> int:
    from autograder.classroom import gradebook, hosted, results

    unit = gradebook.find_assignment(options.unit, options.course)
    if options.format not in results.FORMATS:
        raise CourseError(f"--format is one of {', '.join(results.FORMATS)}")
    if options.tell not in results.TELL:
        raise CourseError(f"--tell is one of {', '.join(results.TELL)}")
    book = hosted.grade(unit, options.submission, options.course, options.unconfined)
    (submission,) = book.submissions
    text = results.FORMATS[options.format](book, submission, options.tell)
    write(options.results, text)
    print(f"{submission.known:g} of {book.max_points:g} points: {options.results}")
    return 0


def _feedback(options: argparse.Namespace) -> int:
    from autograder.classroom import gradebook, handback

    unit = gradebook.find_assignment(options.unit, options.course)
    made = handback.write(unit, options.course, options.course / "reports")
    print(*made.paths, *made.remarks, sep="\n")
    return 1 if made.remarks else 0


def _extend(options: argparse.Namespace) -> int:
    from autograder.classroom import gradebook
    from autograder.grading import extensions
    from autograder.grading.dates import due_date

    unit = gradebook.find_assignment(options.unit, options.course)
    extra = timedelta(days=options.days, hours=options.hours)
    if options.until:
        due = gradebook.due(options.course, unit)
        if due is None:
            raise CourseError(f"{unit} has no deadline yet; give --days or --hours")
        extra = due_date(options.until) - due
    if extra < timedelta():
        raise CourseError("an extension cannot end before the deadline")
    for student in options.students:
        extensions.grant(options.course, unit, student, extra)
    for student, time in sorted(extensions.granted(options.course, unit).items()):
        print(f"{student}: {time} after the deadline" if time else f"{student}: none")
    if options.students:
        print(f"it counts from the next run on: nbgrader autograde {unit}")
    return 0


def _report(options: argparse.Namespace) -> int:
    from autograder.classroom import gradebook, progress, report

    if bool(options.unit) == options.all:
        raise CourseError("say a unit, or --all")
    if options.all:
        known = sorted({p.parent.name for p in options.course.glob("source/*/*.ipynb")})
        weights = progress.parse_weights(options.weight, known)
        path = options.output or options.course / "reports" / "course.html"
        today = f"{date.today():%d %B %Y}"
        made = progress.make(options.course, path, weights, options.drop, today)
        print(*made, sep="\n")
        return 0
    unit = gradebook.find_assignment(options.unit, options.course)
    name = f"{unit}-shareable.html" if options.shareable else f"{unit}.html"
    path = options.output or options.course / "reports" / name
    named = not options.shareable
    made = report.make(unit, options.course, path, named, options.before)
    print(*made, sep="\n")
    return 0


def _similarity(options: argparse.Namespace) -> int:
    from autograder.classroom import gradebook, similarity

    unit = gradebook.find_assignment(options.unit, options.course)
    answers = similarity.read(unit, options.course)
    found = similarity.compare(answers, similarity.released(unit, options.course))
    path = options.course / "reports" / f"{unit}-similarity.html"
    today = f"{date.today():%d %B %Y}"
    write(path, similarity.as_html(unit, found, answers, today))
    print(similarity.as_text(unit, found), f"side by side: {path}", sep="\n\n")
    return 0


def _grades(options: argparse.Namespace) -> int:
    from autograder.classroom import exports, gradebook, sheet

    unit = gradebook.find_assignment(options.unit, options.course)
    book = gradebook.read(unit, options.course)
    base = options.course / "reports" / f"{unit}-{options.format}"
    if options.format == "gradescope":
        folder = options.output or base
        print(*exports.write_gradescope(book, folder), folder, sep="\n")
        return 0
    into = sheet.read(options.into) if options.into else None
    if options.format == "moodle":
        made = exports.moodle(book, into)
    elif into:
        made = exports.canvas(book, into, options.column)
    else:
        raise CourseError(
            "Canvas wants its own ids: export its gradebook (Grades > Export) and give "
            "it with --into FILE"
        )
    path = options.output or base.with_suffix(".csv")
    write(path, made.text.encode())
    print(*made.remarks, path, sep="\n")
    if made.missing:
        print(f"graded, but not in {options.into}: {', '.join(made.missing)}")
    return 1 if made.missing else 0


def _leaderboard(options: argparse.Namespace) -> int:
    from autograder.classroom import gradebook, leaderboard

    unit = gradebook.find_assignment(options.unit, options.course)
    print(*leaderboard.write(unit, options.course), sep="\n")
    return 0
