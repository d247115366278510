"""A graded submission in the formats of services that grade on hand-in.

``tell`` says what a student sees of an exercise: only points ("points"), also
the cases ("cases"), or the check's panel, which names the mistake ("panels").
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from autograder.classroom.classbook import Classbook, Item, Submission
from autograder.course import sheet
from autograder.grading.judge.verdict import Verdict
from autograder.grading.titles import title

TELL = ("points", "cases", "panels")
Json = dict[str, Any]


def gradescope(book: Classbook, submission: Submission, tell: str) -> str:
    """The text of Gradescope's ``results.json``; ``tell`` is one of `TELL`."""
    tests = [test for e in book.exercises for test in _tests(book, e, submission, tell)]
    results: Json = {
        "output": "\n".join(_remarks(submission)), "visibility": "visible",
        "stdout_visibility": "hidden", "tests": tests,
    }  # fmt: skip
    if submission.score is not None:
        results["score"] = submission.score  # else Gradescope adds up the tests' scores
    return _text(results)


def prairielearn(book: Classbook, submission: Submission, tell: str) -> str:
    """The text of PrairieLearn's ``results.json``; its score is between 0 and 1."""
    tests = [
        {
            "name": title(book.unit, exercise.name),
            "points": submission.points[exercise.name] or 0.0,
            "max_points": exercise.max_points,
            "output": "\n".join(reveal(exercise, submission, tell)),
        }
        for exercise in book.exercises
    ]
    share = submission.graded_points / book.max_points if book.max_points else 0.0
    return _text({
        "gradable": not submission.refused, "score": share, "tests": tests,
        "output": "\n".join(_remarks(submission)),
    })  # fmt: skip


def text(book: Classbook, submission: Submission, tell: str) -> str:
    """A table for the log or the summary page of a hosted CI, in Markdown."""
    lines = [f"**{submission.graded_points:g} of {book.max_points:g} points**", ""]
    lines += [f"> {_plain(remark)}" for remark in _remarks(submission)]
    lines += ["", "| exercise | points | |", "|---|---|---|"]
    for exercise in book.exercises:
        points = submission.points[exercise.name]
        score = "not graded yet" if points is None else f"{points:g}"
        details = "<br>".join(map(_plain, reveal(exercise, submission, tell)))
        name = title(book.unit, exercise.name)
        lines.append(f"| {name} | {score} of {exercise.max_points:g} | {details} |")
    return "\n".join(lines) + "\n"


def _plain(line: str) -> str:
    """Escape a line with a student's text for Markdown: no tag, link or new cell."""
    return re.sub(r"[&<>|\[\\]", lambda found: f"&#{ord(found[0])};", line)


FORMATS = {"gradescope": gradescope, "prairielearn": prairielearn, "text": text}


def reveal(exercise: Item, submission: Submission, tell: str) -> list[str]:
    """List the lines that a student may see about an exercise, besides its points.

    ``tell`` is "points" for none, "cases" for its cases, or "panels" for the panel.
    """
    record = submission.records.get(exercise.name)
    if record is None or tell == "points":
        return []
    return list(_panel(record) if tell == "panels" else _cases(record))


def _tests(
    book: Classbook, exercise: Item, submission: Submission, tell: str
) -> Iterator[Json]:
    """Yield an exercise's entries in Gradescope's list of tests.

    The first is visible at once, and a second may add more after the deadline.
    """
    name, points = title(book.unit, exercise.name), submission.points[exercise.name]
    if points is None:
        most = sheet.format_points(exercise.max_points)
        yield {"name": name, "output": f"not graded yet (of {most})"}
        return
    immediate = "\n".join(reveal(exercise, submission, tell))
    yield {
        "name": name, "score": points, "max_score": exercise.max_points,
        "output": immediate, "visibility": "visible",
    }  # fmt: skip
    later = "\n".join(reveal(exercise, submission, "panels"))
    if later != immediate:
        yield {
            "name": f"{name}: what happened", "output": later,
            "visibility": "after_due_date",
        }  # fmt: skip


def _panel(record: Verdict) -> Iterator[str]:
    """The check's panel as text, which reveals no inputs or values of hidden cases."""
    lost = record.points < record.max_points
    if lost and record.note not in record.panel:
        yield record.note
    if record.panel:
        yield from record.panel.splitlines()
        return
    if lost and record.says:
        yield record.says
    yield from _cases(record)


def _cases(record: Verdict) -> Iterator[str]:
    """A line for each case, and one for the points that were lost, if any."""
    if record.lost:
        yield record.lost
    for case in record.cases:
        hidden = " (hidden)" if case.hidden else ""
        yield f"{case.sign} {case.title}{hidden}"


def _remarks(submission: Submission) -> Iterator[str]:
    """Yield sentences about a whole submission, each only if it applies."""
    if submission.refused:
        yield f"Not graded: {submission.refused}"
    for _, sentence in submission.repairs:
        yield sentence
    if submission.penalty:
        yield f"{sheet.format_points(submission.penalty)} points off for lateness."
    if submission.waiting:
        yield "A teacher has yet to read what you wrote; points will follow."


def _text(value: Json) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
