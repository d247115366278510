"""Commands after grading: reports, grades for LMSs, feedback, appeals."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from pathlib import Path

from autograder import seams
from autograder.classroom import services
from autograder.cli.arguments import COURSE, CommandSet, flag, option
from autograder.course.errors import UsageError
from autograder.course.files import write

COMMANDS = CommandSet()
# Formats of extras, by name, with the functions that write grades into a folder.
_IN_FOLDERS = {
    name: write_folder
    for module in seams.modules("commands")
    for name, write_folder in getattr(module, "GRADES", {}).items()
}


@COMMANDS.command(
    "report", "write the class report of a unit, or of the course so far",
    option("unit", 'like "02"; not with --all', "UNIT", nargs="?"),
    COURSE,
    flag("--all", "all students over all units"),
    option("--weight", "with --all: the weight of a unit, like 06=3; default: 1",
           "UNIT=N", action="append", default=[]),
    option("--drop", "with --all: ignore each student's N lowest units", "N",
           type=int, default=0),
    option("--before", "compare with an earlier term's shareable table of the unit",
           "CSV", type=Path),
    flag("--shareable", "write an anonymous report of the unit"),
    option("--output", "default: reports/", "FILE", type=Path),
)  # fmt: skip
def _report(options: Namespace) -> int:
    """Write the report of one unit, or of the course with ``--all``.

    Returns 1 if it is of one unit, and some work in it is ungraded; else 0.
    """
    from autograder.classroom import gradebook, progress, report, ungraded

    if bool(options.unit) == options.all:
        raise UsageError("give a unit, or --all")
    if options.all and (options.shareable or options.before):
        raise UsageError("--shareable and --before are only for the report of one unit")
    if options.unit and (options.weight or options.drop):
        raise UsageError("--weight and --drop need --all")
    if options.all:
        units = gradebook.assignments(options.course)
        weights = progress.parse_weights(options.weight, units)
        path = options.output or options.course / "reports" / "course.html"
        paths = progress.make(options.course, path, weights, options.drop)
        print(*paths, sep="\n")
        return 0
    unit = gradebook.find_assignment(options.unit, options.course)
    name = f"{unit}-shareable.html" if options.shareable else f"{unit}.html"
    path = options.output or options.course / "reports" / name
    named = not options.shareable
    paths = report.make(unit, options.course, path, named, options.before)
    new = ungraded.remark(gradebook.read(unit, options.course), options.course)
    print(*new, *paths, sep="\n")
    return 1 if new else 0


@COMMANDS.graded(
    "show", "show one student's points, mistakes and repairs",
    option("student", "an id or a name", "STUDENT"),
)  # fmt: skip
def _show(unit: str, root: Path, options: Namespace) -> int:
    """Print one student's results.

    Returns 1 if the student has handed in newer work that is not graded, else 0.
    """
    from autograder.classroom import gradebook, one_student, ungraded

    book = gradebook.read(unit, root)
    submission = one_student.find(book, options.student)
    new = ungraded.remark(book, root, only_student=submission.student.id)
    print(*one_student.describe_results(book, submission), *new, sep="\n")
    return 1 if new else 0


@COMMANDS.graded(
    "grades", "write grades for an LMS, or send them",
    option("--format", "write a file", default="",
           choices=("canvas", "moodle", *_IN_FOLDERS)),
    option("--to", "send them over the network: docs/lms.md", default="",
           choices=tuple(services.all_services())),
    flag("--dry-run", "with --to: only list what would be sent"),
    flag("--lower", "with --to: also replace higher or changed scores in the LMS"),
    option("--into", "Canvas's exported gradebook, or Moodle's grading worksheet",
           "CSV", type=Path),
    flag("--zero-refused",
         "export refused work as zero instead of leaving it out (status 1)"),
    option("--column", "the column in Canvas's CSV", "TITLE", default=""),
    option("--output", "default: reports/", "PATH", type=Path),
)  # fmt: skip
def _grades(unit: str, root: Path, options: Namespace) -> int:
    """Write the grades of a unit to a file, or send them to an LMS.

    Returns 1 if some grades are missing or cannot be sent, else 0.
    """
    from autograder.classroom import exports, gradebook, ungraded
    from autograder.course import sheet

    if bool(options.format) == bool(options.to):
        raise UsageError("give --format, or --to")
    if options.format and (options.dry_run or options.lower):
        raise UsageError("--dry-run and --lower need --to")
    if options.to and (options.into or options.column or options.output):
        raise UsageError("--into, --column and --output need --format")
    if options.format == "canvas" and not options.into:
        raise UsageError(
            "Canvas wants its own ids: export its gradebook (Grades > Export) and give "
            "it with --into FILE"
        )
    book = gradebook.read(unit, root)
    base = root / "reports" / f"{unit}-{options.format}"
    new = ungraded.remark(book, root)
    if not options.zero_refused:
        new += exports.describe_refused(book)
        book = replace(book, submissions=book.accepted)
    if options.to:
        service = services.all_services()[options.to]
        sent = service.send_grades(book, root, options.dry_run, options.lower)
        print(*new, *sent.lines, sep="\n")
        return 0 if sent.is_complete and not new else 1
    if options.format in _IN_FOLDERS:
        folder = options.output or base
        remarks = _IN_FOLDERS[options.format](book, folder)
        print(*remarks, *new, folder, sep="\n")
        return 1 if new else 0
    into = sheet.read(options.into) if options.into else None
    if options.format == "moodle":
        export = exports.moodle(book, into)
    else:
        assert into
        export = exports.canvas(book, into, options.column)
    path = options.output or base.with_suffix(".csv")
    write(path, export.text.encode())
    print(*export.remarks, *new, path, sep="\n")
    if export.missing:
        print(f"graded, but not in {options.into}: {', '.join(export.missing)}")
    return 1 if export.missing or new else 0


@COMMANDS.graded(
    "regrade", "grade a submission again for an appeal, or preview a change",
    option("student", None, "STUDENT", nargs="?", default=""),
    option("exercise", 'like "softmax"', "EXERCISE", nargs="?", default=""),
    flag("--preview",
         "list the scores that a corrected check would change; write nothing"),
    flag("--requests",
         "list what students ask for in their notebooks, each graded once more"),
    option("--says", "the student's statement, to record", default=""),
    option("--answer", "your answer, for the record and the student's page",
           default=""),
    option("--points", "with --answer: the exercise's points from now on", "N",
           type=float),
)  # fmt: skip
def _regrade(unit: str, root: Path, options: Namespace) -> int:
    """Handle requests to grade an answer again, or preview what that would change."""
    from autograder.classroom import appeals, page, requests

    modes = (options.preview, options.requests, bool(options.student))
    if sum(modes) != 1 or bool(options.student) != bool(options.exercise):
        raise UsageError("give STUDENT and EXERCISE, or only --preview or --requests")
    if not options.student and (options.says or options.answer):
        raise UsageError("--says and --answer need STUDENT and EXERCISE")
    if options.says and options.answer:
        raise UsageError("give --says to record the request, and later --answer")
    if options.points is not None and not options.answer:
        raise UsageError("--points needs --answer, which tells the student why")
    if options.preview:
        return _preview(unit, root)
    today = page.today()
    if options.requests:
        lines = list(appeals.review(unit, root, today))
        print(*lines or [f"{unit}: no request waits for an answer"], sep="\n")
        return 1 if lines else 0
    about = (unit, root, options.student, options.exercise)
    if options.answer:
        print(requests.answer(*about, options.answer, today, options.points))
        page_of = f"{unit} --student={options.student}"
        print(f"on the student's page after: nbgrader generate_feedback {page_of}")
    else:
        print(requests.record_regrade(*about, options.says, today))
    return 0


@COMMANDS.graded(
    "replay", "explain one verdict: inputs, expected results, answers, points",
    option("student", "an id or a name", "STUDENT"),
    option("exercise", 'like "softmax"', "EXERCISE"),
    option("--html", "also write a page, for an appeal", "FILE", type=Path),
)  # fmt: skip
def _replay(unit: str, root: Path, options: Namespace) -> int:
    """Grade one answer again, and explain the result.

    Returns 0 if the points are those that were recorded before, else 1.
    """
    from autograder.classroom import replay

    explanation = replay.explain(unit, root, options.student, options.exercise)
    print(*replay.describe_verdict(explanation), sep="\n")
    if options.html:
        print(replay.write_page(options.html, explanation))
    return 0 if explanation.is_same else 1


def _preview(unit: str, root: Path) -> int:
    """Print the scores that grading again would change; return an exit status."""
    from autograder.classroom import preview
    from autograder.grading.gradebook import changes

    score_changes, succeeded = preview.preview(unit, root)
    if score_changes:
        print(*changes.lines(score_changes), sep="\n")
        gains = changes.totals(score_changes)
        for head, sign in (("gain", 1), ("lose", -1)):
            students = [f"{s} {g:+g}" for s, g in gains.items() if sign * g > 0]
            print(f"{head}: {', '.join(students) or 'nobody'}")
        apply = "; ".join(
            " ".join(("nbgrader", *command)) for command in preview.commands(unit, root)
        )
        print(f"nothing has been written; to apply this: {apply}")
    else:
        print("no score would change" if succeeded else "no change found; see above")
    return 0 if succeeded else 1


@COMMANDS.graded(
    "feedback", "pack feedback pages for the LMS, or send them",
    option("--to", "send them over the network: docs/lms.md", default="",
           choices=services.names_supporting("send_feedback")),
    flag("--dry-run", "with --to: only list what would be sent"),
)  # fmt: skip
def _feedback(unit: str, root: Path, options: Namespace) -> int:
    """Pack a unit's feedback pages for an LMS, or send them.

    Returns 1 if pages are missing, outdated or not sent, else 0.
    """
    from autograder.classroom import feedback_archive, gradebook, ungraded

    if options.dry_run and not options.to:
        raise UsageError("--dry-run needs --to")
    if options.to:
        send_feedback = services.all_services()[options.to].send_feedback
        assert send_feedback
        sent = send_feedback(unit, root, options.dry_run)
        print(*sent.lines, sep="\n")
        return 0 if sent.is_complete else 1
    paths, remarks = feedback_archive.write(unit, root, root / "reports")
    remarks += ungraded.remark(gradebook.read(unit, root), root)
    print(*paths, *remarks, sep="\n")
    return 1 if remarks else 0
