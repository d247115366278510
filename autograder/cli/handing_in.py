"""Commands before and while grading: a shared machine, what is handed in, time."""

from __future__ import annotations

import argparse
from datetime import timedelta
from pathlib import Path

from autograder.cli.arguments import Commands, add_graded
from autograder.course.errors import CourseError
from autograder.course.files import refuse_full, write

_LONGEST_EXTENSION = 1000  # days
_LONGEST_WAIT = 86_400.0  # seconds between two looks of a watch


def add(commands: Commands) -> None:
    """Add the commands to an argument parser's."""
    _add_exchange(commands)
    _add_collect(commands)
    _add_watch(commands)
    _add_hosted(commands)
    _add_extend(commands)
    _add_solutions(commands)


def _add_exchange(commands: Commands) -> None:
    text = "set up a machine that graders and students share (root; see docs/ta.md)"
    command = commands.add_parser("exchange", help=text, description=text)
    command.add_argument(
        "--graders", nargs="+", default=[], metavar="ACCOUNT",
        help="instructors and assistants, by their logins",
    )  # fmt: skip
    command.add_argument(
        "--folder", type=Path, default=Path("/srv/nbgrader"),
        help="for the exchange and the course; default: %(default)s",
    )  # fmt: skip
    command.add_argument(
        "--config", type=Path, default=Path("/etc/jupyter"), metavar="FOLDER",
        help="where nbgrader's settings go; default: %(default)s",
    )  # fmt: skip
    command.add_argument(
        "--group", default="nbgraders", help="of the graders; default: %(default)s"
    )
    command.add_argument(
        "--course",
        dest="name",
        default="transformer",
        metavar="NAME",
        help="the course's name; default: %(default)s",
    )  # elsewhere ``course`` is a folder
    command.set_defaults(run=_exchange)


def _add_collect(commands: Commands) -> None:
    collect = add_graded(
        commands, "collect", _collect, "store the submissions of an LMS's archive"
    )
    collect.add_argument(
        "archives",
        nargs="+",
        type=Path,
        metavar="ZIP",
        help="an archive, or its unpacked folder",
    )
    collect.add_argument(
        "--roster", type=Path, metavar="CSV", help="the students, for the gradebook"
    )
    collect.add_argument(
        "--worksheet",
        type=Path,
        metavar="CSV",
        help="Moodle's grading worksheet, for blind marking",
    )
    collect.add_argument(
        "--lms", default="", metavar="NAME", help="if it cannot be recognised"
    )
    collect.add_argument(
        "--timezone", default="", metavar="ZONE",
        help='the LMS\'s, like "Europe/Berlin"; default: this computer\'s',
    )  # fmt: skip
    collect.add_argument(
        "--replace",
        action="store_true",
        help="prefer the archive where it is unclear which is newer",
    )


def _add_watch(commands: Commands) -> None:
    watch = add_graded(commands, "watch", _watch, "grade each hand-in as it arrives")
    watch.add_argument(
        "--exchange", action="store_true",
        help="collect from nbgrader's exchange and release feedback to it",
    )  # fmt: skip
    watch.add_argument(
        "--tell", choices=("points", "cases", "panels"), default="points",
        help="what feedback shows before the deadline; afterwards, everything",
    )  # fmt: skip
    watch.add_argument(
        "--per-hour", type=int, default=6, metavar="N",
        help="grade each student at most N times an hour; default: 6",
    )  # fmt: skip
    watch.add_argument(
        "--every", type=float, default=10.0, metavar="N",
        help="look for hand-ins every N seconds; default: 10",
    )  # fmt: skip
    watch.add_argument(
        "--once", action="store_true", help="run one round only, as for cron"
    )


def _add_hosted(commands: Commands) -> None:
    hosted = add_graded(
        commands, "hosted", _hosted, "grade one submission for a hosted service"
    )
    hosted.add_argument(
        "--submission", type=Path, required=True, metavar="FOLDER",
        help="what a student handed in",
    )  # fmt: skip
    hosted.add_argument(
        "--results", type=Path, required=True, metavar="FILE",
        help="where to write the result",
    )  # fmt: skip
    hosted.add_argument(
        "--format", default="gradescope", metavar="NAME",
        help="gradescope, prairielearn or text",
    )  # fmt: skip
    hosted.add_argument(
        "--tell", default="points", metavar="WHAT",
        help="what the student sees: points, cases or panels",
    )  # fmt: skip
    hosted.add_argument(
        "--unconfined", action="store_true",
        help="run even if no isolation works, in a temporary container",
    )  # fmt: skip


def _add_extend(commands: Commands) -> None:
    extend = add_graded(commands, "extend", _extend, "extend the deadline of students")
    extend.add_argument(
        "students", nargs="*", metavar="STUDENT", help="default: list all extensions"
    )
    extend.add_argument(
        "--days", type=float, metavar="N",
        help="days after the deadline, replacing any extension; 0: none",
    )  # fmt: skip
    extend.add_argument(
        "--hours", type=float, metavar="N", help="hours, in addition to the days"
    )
    extend.add_argument(
        "--until", default="", metavar="TIME",
        help='like "2026-12-03 23:59 Europe/Berlin", in place of days and hours',
    )  # fmt: skip


def _add_solutions(commands: Commands) -> None:
    solutions = add_graded(
        commands, "solutions", _solutions, "write a unit's notebook with its solutions"
    )
    solutions.add_argument(
        "--anyway",
        action="store_true",
        help="even while some students can still hand in",
    )


def _exchange(options: argparse.Namespace) -> int:
    from autograder.classroom.shared_machine import Classroom, set_up

    room = Classroom(
        options.graders, options.folder.absolute(), options.config.absolute(),
        options.group, options.name,
    )  # fmt: skip
    set_up(room)
    listed = ", ".join(options.graders)
    print(f"exchange: {room.exchange}\ncourse:   {room.course}, for {listed}")
    print(f"{listed}: log out and in to join the group {options.group}")
    return 0


def _collect(options: argparse.Namespace) -> int:
    from autograder.classroom import gradebook
    from autograder.classroom.lms import layouts, place, roster

    unit = gradebook.find_assignment(options.unit, options.course)
    refuse_full(options.course)
    if options.lms and options.lms.lower() not in layouts.NAMES:
        raise CourseError(f"--lms must be one of {', '.join(layouts.NAMES)}")
    known = roster.of_course(options.course, options.roster)
    if options.roster:
        roster.keep(known, options.course)
    if options.worksheet:
        known = known.with_worksheet(options.worksheet)
    outcomes = list(
        place.collect(
            unit,
            options.archives,
            options.course,
            known,
            layouts.to_utc(options.timezone),
            lms=options.lms.lower(),
            replace=options.replace,
            due=gradebook.due(options.course, unit),
        )
    )
    print(place.as_text(outcomes))
    return 1 if any(outcome.needs_person for outcome in outcomes) else 0


def _watch(options: argparse.Namespace) -> int:
    from autograder.classroom import gradebook, watch

    if options.per_hour < 1 or not 0 < options.every < _LONGEST_WAIT:
        raise CourseError("--per-hour must be at least 1, --every some seconds")
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
        raise CourseError(f"--format must be one of {', '.join(results.FORMATS)}")
    if options.tell not in results.TELL:
        raise CourseError(f"--tell must be one of {', '.join(results.TELL)}")
    book = hosted.grade(unit, options.submission, options.course, options.unconfined)
    (submission,) = book.submissions
    text = results.FORMATS[options.format](book, submission, options.tell)
    write(options.results, text)
    print(f"{submission.known:g} of {book.max_points:g} points: {options.results}")
    return 0


def _extend(options: argparse.Namespace) -> int:
    from autograder.classroom import gradebook
    from autograder.grading.dates import in_words
    from autograder.grading.gradebook import extensions

    unit = gradebook.find_assignment(options.unit, options.course)
    extra = _extra(options, unit)
    if bool(options.students) != (extra is not None):
        raise CourseError(
            "say how much: --days, --hours or --until; --days 0 takes it back"
            if options.students
            else "say who: autograder extend UNIT STUDENT --days N"
        )
    for student in options.students:
        extensions.grant(options.course, unit, student, extra or timedelta())
    for student, time in sorted(extensions.granted(options.course, unit).items()):
        more = in_words(time.total_seconds())
        print(f"{student}: {more} after the deadline" if more else f"{student}: none")
    granted = options.students if extra else ()
    unknown = sorted({*granted} - gradebook.known_ids(options.course))
    for student in unknown:
        print(f"{student} is in neither the gradebook nor submitted/; is that a typo?")
    if options.students:
        print(f"it takes effect with the next run: nbgrader autograde {unit}")
    return 1 if unknown else 0


def _extra(options: argparse.Namespace, unit: str) -> timedelta | None:
    """The time that is asked for; None if nothing was said.

    Raises:
        CourseError: there can be no such time.
    """
    from autograder.classroom import gradebook
    from autograder.grading.dates import due_date

    plain = options.days is not None or options.hours is not None
    if not options.until and not plain:
        return None
    if options.until and plain:
        raise CourseError("give --until, or --days and --hours")
    if options.until:
        due = gradebook.due(options.course, unit)
        if due is None:
            raise CourseError(f"{unit} has no deadline yet; give --days or --hours")
        extra = due_date(options.until) - due
    else:
        days, hours = options.days or 0.0, options.hours or 0.0
        if not abs(days) + abs(hours) / 24 < _LONGEST_EXTENSION:  # nor is it a number
            raise CourseError(
                f"an extension must be shorter than {_LONGEST_EXTENSION} days"
            )
        extra = timedelta(days=days, hours=hours)
    if extra < timedelta():
        raise CourseError("an extension cannot end before the deadline")
    return extra


def _solutions(options: argparse.Namespace) -> int:
    from autograder.classroom import gradebook
    from autograder.classroom.publishing import solved
    from autograder.course import find_unit
    from autograder.grading.gradebook import extensions

    unit = gradebook.find_assignment(options.unit, options.course)
    due = None if options.anyway else gradebook.due(options.course, unit)
    if due:
        due += max(
            extensions.granted(options.course, unit).values(), default=timedelta()
        )
    path = options.course / "solutions" / f"{unit}.ipynb"
    print(solved.release(find_unit(unit), path, due))
    return 0
