"""Commands to collect submissions, extend deadlines, and write solutions."""

from __future__ import annotations

import tempfile
from argparse import Namespace
from datetime import datetime, timedelta
from pathlib import Path

from autograder.classroom import services
from autograder.cli.arguments import CommandSet, flag, option
from autograder.course.access import refuse_full
from autograder.course.errors import CourseError, UsageError
from autograder.course.files import write
from autograder.course.printable import format_count

COMMANDS = CommandSet()
_LONGEST_EXTENSION = 1000  # days


@COMMANDS.graded(
    "collect", "store the submissions of an LMS's archive, or of the LMS itself",
    option("archives", "an archive, or its unpacked folder", "ZIP",
           nargs="*", type=Path),
    option("--from", "fetch them over the network: docs/lms.md", dest="service",
           default="", choices=services.names_supporting("fetch")),
    option("--roster", "the students, for the gradebook", "CSV", type=Path),
    option("--worksheet",
           "Moodle's grading worksheet: when each student handed in; also for blind "
           "marking and for namesakes", "CSV", type=Path),
    option("--lms", "if it cannot be recognised", "NAME", default=""),
    option("--timezone",
           'the LMS\'s, like "Europe/Berlin"; default: this computer\'s',
           "ZONE", default=""),
    flag("--replace", "prefer the archive where it is unclear which is newer"),
)  # fmt: skip
def _collect(unit: str, root: Path, options: Namespace) -> int:
    """Store the roster, if one is given, and the submissions from archives or an LMS.

    Returns 1 if a person must look at a submission, else 0.
    """
    from autograder.classroom import gradebook
    from autograder.classroom.lms import layouts, place, roster, stored_roster
    from autograder.grading.dates import last_moment

    if options.archives and options.service:
        raise UsageError("give an archive, or --from")
    if not (options.archives or options.service or options.roster):
        raise UsageError("give an archive, or --from, or only --roster to store it")
    refuse_full(root)
    names = [layout.lms.lower() for layout in layouts.all_layouts()]
    if options.lms and options.lms.lower() not in names:
        raise UsageError(f"--lms must be one of {', '.join(names)}")
    if options.roster:
        class_roster = roster.from_csv(options.roster)
        stored_roster.keep(class_roster, root)
    else:
        class_roster = stored_roster.read(root)
    if not (options.archives or options.service):
        print(f"the roster is stored: {format_count(len(class_roster.entries), 'row')}")
        return 0
    if options.worksheet:
        class_roster = class_roster.with_worksheet(options.worksheet)
    due = gradebook.due_dates(root).get(unit)
    zone, is_local = layouts.to_utc(options.timezone), False  # is a local time read?

    # Also notes that a local time was read, which is reported at the end.
    def utc(local: datetime) -> datetime:
        nonlocal is_local
        is_local = True
        return zone(local)

    collection = place.Collection(
        unit, root, class_roster, utc, options.lms.lower(),
        options.replace, last_moment(due) if due else None,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        remarks: list[str] = []
        if options.service:
            fetch = services.all_services()[options.service].fetch
            assert fetch
            remarks = fetch(unit, root, Path(folder))
        outcomes = list(collection.place(options.archives or [Path(folder)]))
    print(*remarks, place.as_text(outcomes), sep="\n")
    if is_local and not options.timezone:
        local_zone = f"{datetime.now().astimezone():%Z}"
        print(
            f"times were read in this computer's zone, {local_zone}; if the LMS has a "
            "different one, collect again with --timezone and --replace"
        )
    return 1 if remarks or any(outcome.needs_person for outcome in outcomes) else 0


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
    """Grant extensions of a unit's deadline, then list all extensions of the unit.

    Returns 1 if a student is unknown, else 0.
    """
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
        duration = in_words(time.total_seconds())
        print(f"{student}: {f'{duration} after the deadline' if duration else 'none'}")
    granted = options.students if extra else ()
    unknown = sorted({*granted} - gradebook.list_student_ids(root))
    for student in unknown:
        print(
            f"{student} is in neither the gradebook nor submitted/; if that is a typo: "
            f"autograder extend {unit} {student} --days 0"
        )
    if options.students:
        print(f"it takes effect with the next run: nbgrader autograde {unit}")
    return 1 if unknown else 0


def _extra(unit: str, root: Path, options: Namespace) -> timedelta | None:
    """The extension that the options ask for; None if they ask for none."""
    from autograder.classroom import gradebook
    from autograder.grading.dates import due_date

    plain = options.days is not None or options.hours is not None
    if not options.until and not plain:
        return None
    if options.until and plain:
        raise UsageError("give --until, or --days and --hours")
    if options.until:
        due = gradebook.due_dates(root).get(unit)
        if due is None:
            raise CourseError(f"{unit} has no deadline yet; give --days or --hours")
        extra = due_date(options.until) - due
    else:
        days, hours = options.days or 0.0, options.hours or 0.0
        if not abs(days) + abs(hours) / 24 < _LONGEST_EXTENSION:  # also for nan
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
    """Write a unit's notebook with solutions, once nobody may hand in any more."""
    from autograder.classroom import gradebook
    from autograder.classroom.publishing import solved
    from autograder.course import find_unit
    from autograder.grading.dates import last_moment
    from autograder.grading.gradebook import extensions

    last = gradebook.due_dates(root).get(unit)
    if last:
        longest = max(extensions.granted(root, unit).values(), default=None)
        last = last_moment(last, longest)
    if not options.now:
        solved.refuse_early(unit, last)
    path = root / "solutions" / f"{unit}.ipynb"
    write(path, solved.notebook_with_solutions(find_unit(unit)))
    print(path)
    return 0
