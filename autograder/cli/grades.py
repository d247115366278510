"""Commands after grading: reports, grades for LMSs, feedback, what a person decides."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from autograder.cli.arguments import Commands, add_course, add_graded
from autograder.course.errors import CourseError
from autograder.course.files import write


def add(commands: Commands) -> None:
    """Add the commands to an argument parser's."""
    _add_report(commands)
    show = add_graded(
        commands, "show", _show, "show one student's points, mistakes and repairs"
    )
    show.add_argument("student", metavar="STUDENT", help="an id or a name")
    _add_grades(commands)
    _add_written(commands)
    _add_regrade(commands)
    add_graded(commands, "feedback", _feedback, "pack feedback pages for the LMS")
    add_graded(commands, "leaderboard", _leaderboard, "rank models, and sum up logs")


def _add_report(commands: Commands) -> None:
    text = "write the class report of a unit, or of the course so far"
    report = commands.add_parser("report", help=text, description=text)
    report.add_argument(
        "unit", metavar="UNIT", nargs="?", help='like "02"; not with --all'
    )
    add_course(report)
    report.set_defaults(run=_report)
    report.add_argument(
        "--all", action="store_true", help="all students over all units"
    )
    report.add_argument(
        "--weight", action="append", default=[], metavar="UNIT=N",
        help="with --all: the weight of a unit, like 06=3; default: 1",
    )  # fmt: skip
    report.add_argument(
        "--drop", type=int, default=0, metavar="N",
        help="with --all: ignore each student's N lowest units",
    )  # fmt: skip
    report.add_argument(
        "--before", type=Path, metavar="CSV",
        help="compare with an earlier term's shareable table of the unit",
    )  # fmt: skip
    report.add_argument(
        "--shareable", action="store_true", help="write an anonymous report of the unit"
    )
    report.add_argument("--output", type=Path, metavar="FILE", help="default: reports/")


def _add_grades(commands: Commands) -> None:
    grades = add_graded(commands, "grades", _grades, "write grades for an LMS")
    formats = ("canvas", "moodle", "gradescope")
    grades.add_argument("--format", required=True, choices=formats)
    grades.add_argument(
        "--into", type=Path, metavar="CSV",
        help="Canvas's exported gradebook, or Moodle's grading worksheet",
    )  # fmt: skip
    grades.add_argument(
        "--zero-refused", action="store_true",
        help="export refused work as zero instead of leaving it out (status 1)",
    )  # fmt: skip
    grades.add_argument(
        "--column", default="", metavar="TITLE", help="the column in Canvas's CSV"
    )
    grades.add_argument("--output", type=Path, metavar="PATH", help="default: reports/")


def _add_written(commands: Commands) -> None:
    written = add_graded(
        commands, "written", _written, "list written answers, or record their marks"
    )
    written.add_argument(
        "--from", dest="tables", action="append", default=[], type=Path, metavar="CSV",
        help="record the points and comments of this table",
    )  # fmt: skip


def _add_regrade(commands: Commands) -> None:
    regrade = add_graded(
        commands,
        "regrade",
        _regrade,
        "grade a submission again for an appeal, or preview a change",
    )
    regrade.add_argument("student", metavar="STUDENT", nargs="?", default="")
    regrade.add_argument(
        "exercise", metavar="EXERCISE", nargs="?", default="", help='like "softmax"'
    )
    regrade.add_argument(
        "--preview", action="store_true",
        help="list the scores that a corrected check would change; write nothing",
    )  # fmt: skip
    regrade.add_argument(
        "--says", default="", help="the student's statement, to record"
    )
    regrade.add_argument(
        "--answer", default="", help="your answer, to add to the record"
    )


def _report(options: argparse.Namespace) -> int:
    from autograder.classroom import gradebook, page, progress, report

    if bool(options.unit) == options.all:
        raise CourseError("give a unit, or --all")
    if options.all and (options.shareable or options.before):
        raise CourseError(
            "--shareable and --before are only for the report of one unit"
        )
    if options.unit and (options.weight or options.drop):
        raise CourseError("--weight and --drop need --all")
    if options.all:
        known = sorted({p.parent.name for p in options.course.glob("source/*/*.ipynb")})
        weights = progress.parse_weights(options.weight, known)
        path = options.output or options.course / "reports" / "course.html"
        made = progress.make(options.course, path, weights, options.drop, page.today())
        print(*made, sep="\n")
        return 0
    unit = gradebook.find_assignment(options.unit, options.course)
    name = f"{unit}-shareable.html" if options.shareable else f"{unit}.html"
    path = options.output or options.course / "reports" / name
    named = not options.shareable
    made = report.make(unit, options.course, path, named, options.before)
    print(*_not_graded(unit, options.course), *made, sep="\n")
    return 0


def _not_graded(unit: str, root: Path) -> list[str]:
    from autograder.classroom import gradebook, ungraded

    found = ungraded.ungraded(gradebook.read(unit, root), root)
    return ungraded.remark(found, unit)


def _show(options: argparse.Namespace) -> int:
    from autograder.classroom import gradebook, one_student, ungraded

    unit = gradebook.find_assignment(options.unit, options.course)
    book = gradebook.read(unit, options.course)
    one = one_student.find(book, options.student)
    print(one_student.as_text(book, one))
    found = ungraded.ungraded(book, options.course, only=one.student.id)
    for line in ungraded.remark(found, unit):
        print(line)
    return 0


def _grades(options: argparse.Namespace) -> int:
    from autograder.classroom import exports, gradebook, ungraded
    from autograder.course import sheet

    unit = gradebook.find_assignment(options.unit, options.course)
    book = gradebook.read(unit, options.course)
    base = options.course / "reports" / f"{unit}-{options.format}"
    new = ungraded.remark(ungraded.ungraded(book, options.course), unit)
    if not options.zero_refused:
        new += exports.refused(book)
        book = replace(book, submissions=book.accepted)
    if options.format == "gradescope":
        folder = options.output or base
        print(*exports.write_gradescope(book, folder), *new, folder, sep="\n")
        return 1 if new else 0
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
    print(*made.remarks, *new, path, sep="\n")
    if made.missing:
        print(f"graded, but not in {options.into}: {', '.join(made.missing)}")
    return 1 if made.missing or new else 0


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
    from autograder.classroom import gradebook, page, requests

    unit = gradebook.find_assignment(options.unit, options.course)
    if options.preview == bool(options.student) or (
        bool(options.student) != bool(options.exercise)
    ):
        raise CourseError("give STUDENT and EXERCISE, or only --preview")
    if options.preview:
        return _preview(unit, options.course)
    about = (unit, options.course, options.student, options.exercise)
    today = page.today()
    if options.answer:
        print(requests.answer(*about, options.answer, today))
    else:
        print(requests.look_again(*about, options.says, today))
    return 0


def _preview(unit: str, root: Path) -> int:
    from autograder.classroom import preview
    from autograder.grading.gradebook import changes

    found, well = preview.preview(unit, root)
    if found:
        print(*changes.lines(found), sep="\n")
        print(f"nothing has been written; to apply this: nbgrader autograde {unit}")
    else:
        print("no score would change" if well else "no change found; see above")
    return 0 if well else 1


def _feedback(options: argparse.Namespace) -> int:
    from autograder.classroom import feedback_archive, gradebook

    unit = gradebook.find_assignment(options.unit, options.course)
    made = feedback_archive.write(unit, options.course, options.course / "reports")
    remarks = (*made.remarks, *_not_graded(unit, options.course))
    print(*made.paths, *remarks, sep="\n")
    return 1 if remarks else 0


def _leaderboard(options: argparse.Namespace) -> int:
    from autograder.classroom import gradebook, leaderboard, tried

    unit = gradebook.find_assignment(options.unit, options.course)
    boards = leaderboard.write(unit, options.course)
    paths, found = tried.write(unit, options.course)
    print(*boards, *paths, *found.remarks, sep="\n")
    return 0
