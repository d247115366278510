"""Commands before and while grading: a shared machine, what is handed in, time."""

from __future__ import annotations

from argparse import Namespace
from datetime import timedelta
from pathlib import Path

from autograder.cli.arguments import CommandSet, flag, option
from autograder.course import settings
from autograder.course.access import refuse_full
from autograder.course.errors import CourseError, UsageError
from autograder.course.files import write

COMMANDS = CommandSet()
_LONGEST_EXTENSION = 1000  # days
_LONGEST_WAIT = 86_400.0  # seconds between two looks of a watch


@COMMANDS.command(
    "exchange",
    "set up a machine that graders and students share (root; see docs/ta.md)",
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


@COMMANDS.graded(
    "collect", "store the submissions of an LMS's archive",
    option("archives", "an archive, or its unpacked folder", "ZIP",
           nargs="+", type=Path),
    option("--roster", "the students, for the gradebook", "CSV", type=Path),
    option("--worksheet",
           "Moodle's grading worksheet, for blind marking and for namesakes", "CSV",
           type=Path),
    option("--lms", "if it cannot be recognised", "NAME", default=""),
    option("--timezone",
           'the LMS\'s, like "Europe/Berlin"; default: this computer\'s',
           "ZONE", default=""),
    flag("--replace", "prefer the archive where it is unclear which is newer"),
)  # fmt: skip
def _collect(unit: str, root: Path, options: Namespace) -> int:
    from autograder.classroom import gradebook
    from autograder.classroom.lms import layouts, place, roster

    refuse_full(root)
    if options.lms and options.lms.lower() not in layouts.NAMES:
        raise UsageError(f"--lms must be one of {', '.join(layouts.NAMES)}")
    known = roster.of_course(root, options.roster)
    if options.roster:
        roster.keep(known, root)
    if options.worksheet:
        known = known.with_worksheet(options.worksheet)
    collection = place.Collection(
        unit, root, known, layouts.to_utc(options.timezone), options.lms.lower(),
        options.replace, gradebook.due(root, unit),
    )  # fmt: skip
    outcomes = list(collection.place(options.archives))
    print(place.as_text(outcomes))
    return 1 if any(outcome.needs_person for outcome in outcomes) else 0


@COMMANDS.graded(
    "watch", "grade each hand-in as it arrives",
    flag("--exchange",
         "collect from nbgrader's exchange and release feedback to it"),
    option("--tell",
           "what feedback shows before the deadline; afterwards, everything",
           choices=("points", "cases", "panels"), default="points"),
    option("--per-hour", "grade each student at most N times an hour; default: 6", "N",
           type=int, default=6),
    option("--every", "look for hand-ins every N seconds; default: 10", "N",
           type=float, default=10.0),
    flag("--once", "run one round only, as for cron"),
)  # fmt: skip
def _watch(unit: str, root: Path, options: Namespace) -> int:
    from autograder.classroom import watch

    if options.per_hour < 1 or not 0 < options.every < _LONGEST_WAIT:
        raise UsageError("--per-hour must be at least 1, --every some seconds")
    root = root.resolve()
    steps = watch.Commands(unit, root, options.exchange, options.tell)
    one = watch.Watch(unit, root, steps, options.per_hour)
    try:
        return watch.run(one, options.every, options.once)
    except KeyboardInterrupt:
        return 0


@COMMANDS.graded(
    "hosted", "grade one submission for a hosted service",
    option("--submission", "what a student handed in", "FOLDER",
           type=Path, required=True),
    option("--results", "where to write the result", "FILE", type=Path, required=True),
    option("--format", "gradescope, prairielearn or text", "NAME",
           default="gradescope"),
    option("--tell", "what the student sees: points, cases or panels", "WHAT",
           default="points"),
    flag("--unconfined", "run even if no isolation works, in a temporary container"),
)  # fmt: skip
def _hosted(unit: str, root: Path, options: Namespace) -> int:
    from autograder.classroom import hosted, results

    if options.format not in results.FORMATS:
        raise UsageError(f"--format must be one of {', '.join(results.FORMATS)}")
    if options.tell not in results.TELL:
        raise UsageError(f"--tell must be one of {', '.join(results.TELL)}")
    book = hosted.grade(unit, options.submission, root, options.unconfined)
    (submission,) = book.submissions
    text = results.FORMATS[options.format](book, submission, options.tell)
    write(options.results, text)
    print(f"{submission.known:g} of {book.max_points:g} points: {options.results}")
    return 0


@COMMANDS.graded(
    "extend", "extend the deadline of students",
    option("students", "default: list all extensions", "STUDENT", nargs="*"),
    option("--days", "days after the deadline, replacing any extension; 0: none", "N",
           type=float),
    option("--hours", "hours, in addition to the days", "N", type=float),
    option("--until",
           'like "2026-12-03 23:59 Europe/Berlin", in place of days and hours',
           "TIME", default=""),
)  # fmt: skip
def _extend(unit: str, root: Path, options: Namespace) -> int:
    from autograder.classroom import gradebook
    from autograder.grading.dates import in_words
    from autograder.grading.gradebook import extensions

    extra = _extra(unit, root, options)
    if bool(options.students) != (extra is not None):
        raise UsageError(
            "say how much: --days, --hours or --until; --days 0 takes it back"
            if options.students
            else "say who: autograder extend UNIT STUDENT --days N"
        )
    for student in options.students:
        extensions.grant(root, unit, student, extra or timedelta())
    for student, time in sorted(extensions.granted(root, unit).items()):
        more = in_words(time.total_seconds())
        print(f"{student}: {more} after the deadline" if more else f"{student}: none")
    granted = options.students if extra else ()
    unknown = sorted({*granted} - gradebook.known_ids(root))
    for student in unknown:
        print(f"{student} is in neither the gradebook nor submitted/; is that a typo?")
    if options.students:
        print(f"it takes effect with the next run: nbgrader autograde {unit}")
    return 1 if unknown else 0


def _extra(unit: str, root: Path, options: Namespace) -> timedelta | None:
    """The time that is asked for; None if nothing was said."""
    from autograder.classroom import gradebook
    from autograder.grading.dates import due_date

    plain = options.days is not None or options.hours is not None
    if not options.until and not plain:
        return None
    if options.until and plain:
        raise UsageError("give --until, or --days and --hours")
    if options.until:
        due = gradebook.due(root, unit)
        if due is None:
            raise CourseError(f"{unit} has no deadline yet; give --days or --hours")
        extra = due_date(options.until) - due
    else:
        days, hours = options.days or 0.0, options.hours or 0.0
        if not abs(days) + abs(hours) / 24 < _LONGEST_EXTENSION:  # nor is it a number
            raise UsageError(
                f"an extension must be shorter than {_LONGEST_EXTENSION} days"
            )
        extra = timedelta(days=days, hours=hours)
    if extra < timedelta():
        raise UsageError("an extension cannot end before the deadline")
    return extra


@COMMANDS.graded(
    "solutions", "write a unit's notebook with its solutions",
    flag("--now", "before the last deadline, or without any"),
)  # fmt: skip
def _solutions(unit: str, root: Path, options: Namespace) -> int:
    from autograder.classroom import gradebook
    from autograder.classroom.publishing import solved
    from autograder.course import find_unit
    from autograder.grading.gradebook import extensions

    last = gradebook.due(root, unit)
    if last:
        last += max(extensions.granted(root, unit).values(), default=timedelta())
    if not options.now:
        solved.refuse_early(unit, last)
    path = root / "solutions" / f"{unit}.ipynb"
    print(solved.release(find_unit(unit), path))
    return 0
