"""Explain one verdict for an appeal: the inputs, the expected results, the answers."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.checks.prices import price
from autograder.checks.words import sign
from autograder.classroom import gradebook, one_student, page
from autograder.classroom.classbook import HandMark, Submission
from autograder.course.errors import CourseError
from autograder.course.printable import format_count, printable
from autograder.grading import replay
from autograder.grading.converter import CourseAutograde
from autograder.grading.judge.verdict import CaseEvidence, Verdict
from autograder.grading.provenance import describe, describe_differences
from autograder.grading.titles import title


@dataclass(frozen=True)
class Explanation:
    """A check's verdict that was computed again, together with the recorded one.

    ``check`` is the exercise's grade id, and ``most`` its maximum of points.
    """

    unit: str
    submission: Submission
    check: str
    most: float
    replayed: replay.Replay

    @property
    def title(self) -> str:
        return title(self.unit, self.check)

    @property
    def verdict(self) -> Verdict:
        return self.replayed.verdict

    @property
    def evidence(self) -> Sequence[CaseEvidence]:
        return self.replayed.evidence

    @property
    def code(self) -> str:
        """The student's answer, each line of it printable."""
        return "\n".join(map(printable, self.replayed.code.splitlines()))

    @property
    def mark(self) -> HandMark:
        """The points and the comment that a person gave by hand."""
        return self.submission.marks.get(self.check, HandMark())

    @property
    def score(self) -> str:
        """The points in the gradebook now, in words."""
        points = self.submission.points.get(self.check)
        score = "not graded yet" if points is None else f"{points:g} points"
        return f"{score} of {self.most:g} {self.mark.about_points}".rstrip()

    @property
    def is_same(self) -> bool:
        """Whether the check gives the same points as when it was graded."""
        stored = self.submission.records.get(self.check)
        return stored is not None and stored.points == self.verdict.points

    @property
    def comparison(self) -> str:
        """How the two verdicts compare, in a sentence."""
        stored = self.submission.records.get(self.check)
        again = f"Decided again: {self.verdict.points:g} of {self.most:g} points"
        if self.is_same:
            return f"{again}, as when it was graded."
        before = "nothing was" if stored is None else f"{stored.points:g} points were"
        reason = self.differences or "nothing that was recorded has changed since"
        if self.replayed.id not in self.submission.graded:
            reason = "the files in submitted/ are not those that were graded"
        return f"{again}, but {before} recorded: {reason}."

    @property
    def provenance(self) -> list[str]:
        """When and with which versions each notebook was graded."""
        return [describe(notebook) for notebook in self.submission.provenance]

    @property
    def differences(self) -> str:
        """What has changed since grading: course, programs or machine; "" for none."""
        before, now = self.submission.provenance, self.replayed.provenance
        differences = [describe_differences(notebook, now) for notebook in before]
        return "; ".join(filter(None, differences))

    @property
    def aspects(self) -> dict[str, Sequence[float]]:
        """Map each aspect, in words, to the points earned and the points possible."""
        aspects = self.verdict.aspects.items()
        return {price(name).word or name: points for name, points in aspects}

    @property
    def right(self) -> str:
        """How many cases were right, in words: "3 of 4 cases"."""
        right = sum(case.credit >= 1.0 for case in self.evidence)
        return f"{right} of {format_count(len(self.evidence), 'case')}"

    @property
    def reasons(self) -> list[str]:
        """The verdict's texts: the mistake, the note, and where points were lost."""
        verdict = self.verdict
        return [text for text in (verdict.says, verdict.note, verdict.lost) if text]


def explain(unit: str, root: Path, student: str, exercise: str) -> Explanation:
    """Run one check of a student's stored submission again, in the sandbox.

    Raises:
        CourseError: there is no such answer, or it cannot be graded.
    """
    book = gradebook.read(unit, root)
    submission = one_student.find(book, student)
    item = book.find_exercise(exercise)
    if item.written:
        raise CourseError(f"{item.name} is a written answer: a person grades it")
    app = gradebook.configured(root)
    app.coursedir.assignment_id = unit
    course = app.coursedir
    identity = submission.student.id
    folder = Path(course.format_path(course.submitted_directory, identity, unit))
    if not folder.is_dir():
        raise CourseError(f"nothing to replay: {folder} is not there any more")
    assignment = CourseAutograde(coursedir=course, config=app.config).read_course()
    replayed = replay.replay(assignment, identity, folder, item.name)
    return Explanation(unit, submission, item.name, item.max_points, replayed)


def describe_verdict(explanation: Explanation) -> Iterator[str]:
    """Yield how the answer was graded, its points by aspect, and each tried case."""
    student = explanation.submission.student.full
    yield f"{student}, {explanation.title}: {explanation.score}"
    if explanation.mark.comment:
        yield f"comment: {printable(explanation.mark.comment)}"
    yield from one_student.describe_grading(explanation.submission)
    yield explanation.comparison
    yield from explanation.reasons
    for name, (earned, most) in explanation.aspects.items():
        yield f"  {name}: {round(earned, 2):g} of {round(most, 2):g} points"
    for case in explanation.evidence:
        yield from _case_lines(case)


def _case_lines(case: CaseEvidence) -> Iterator[str]:
    """Describe a case; if it failed, with its inputs and the first wrong result."""
    yield f"{case_sign(case)} {case.title} ({case.aspect}; {origin(case)})"
    if case.credit >= 1.0:
        return
    for name, value in case.inputs.items():
        yield from _labelled(f"input {name}", value)
    wrong = [pair for pair in case.comparisons if pair.difference]
    for pair in wrong[:1]:
        yield textwrap.indent(f"{pair.name}: {pair.difference}".lstrip(": "), "  ")
        yield from _labelled("expected", pair.expected)
        yield from _labelled("answer", pair.answer)
    if len(wrong) > 1:
        yield f"  and {format_count(len(wrong) - 1, 'other result')}: see --html"


def _labelled(label: str, value: str) -> Iterator[str]:
    if value:
        yield textwrap.indent(f"{label}: {value}", "    ")


def case_sign(case: CaseEvidence) -> str:
    """A tick, a cross, or the sign for a case that earns some of its points."""
    return sign(case.credit >= 1.0, 0.0 < case.credit < 1.0)


def origin(case: CaseEvidence) -> str:
    """Where the inputs of a case come from, in words."""
    return "drawn for grading" if case.hidden else "in the notebook, too"


def write_page(path: Path, explanation: Explanation) -> Path:
    """Write the explanation as a page, and return its path."""
    return page.write(
        path, "replay.html.j2", explanation.unit, explanation=explanation,
        sign=case_sign, origin=origin,
    )  # fmt: skip
