"""Limit what a page says about checks while students may still hand in again."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import replace

from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.api import Gradebook, MissingEntry
from traitlets import Enum

from autograder.checks.aspects import by_aspect
from autograder.grading.judge.verdict import Verdict
from autograder.grading.metadata import GradingMetadata
from autograder.grading.settings import Processed, Resources


class Tell(Preprocessor):
    """Until the student's deadline, shows only what the setting ``tell`` allows.

    Afterwards, and with "panels", everything is shown. It runs before ``Scores``.
    """

    enabled = True
    tell = Enum(
        ("points", "cases", "panels"), "panels",
        help="What feedback tells before the deadline: the points of each exercise; "
        "also aspects and which cases passed; also the named mistake.",
    ).tag(config=True)  # fmt: skip

    def preprocess(self, nb: NotebookNode, resources: Resources) -> Processed:
        """Before the deadline, trim the verdicts, and show them as short texts."""
        if self.tell == "panels" or _is_over(resources["nbgrader"]):
            return nb, resources
        metadata = GradingMetadata.of_run(nb, resources)
        metadata.checks = checks = {
            name: self._trim(verdict) for name, verdict in metadata.checks.items()
        }
        for cell in nb.cells:
            verdict = checks.get(cell.metadata.get("nbgrader", {}).get("grade_id"))
            if verdict is not None and cell.cell_type == "code":
                cell.outputs = [new_output("stream", text=_short(verdict))]
        return nb, resources

    def _trim(self, verdict: Verdict) -> Verdict:
        """A copy of a verdict that holds only what the setting ``tell`` allows."""
        verdict = replace(verdict, says="", note="", panel="")
        if self.tell == "points":
            verdict = replace(verdict, cases=(), aspects={})
        return verdict


def _short(verdict: Verdict) -> str:
    """A trimmed verdict as text, in place of the panel."""
    lines = [f"{verdict.points:g} of {verdict.max_points:g} points"]
    if lost := by_aspect(verdict.aspects):
        lines.append(lost)
    for case in verdict.cases:
        hidden = " (hidden)" if case.hidden else ""
        lines.append(f"{case.sign} {case.title}{hidden}")
    return "\n".join([*lines, "After the deadline, this page says what happened."])


def _is_over(names: Mapping[str, str]) -> bool:
    """Return whether the student's deadline has passed, given nbgrader's resources."""
    with Gradebook(names["db_url"]) as book:
        try:
            due = book.find_submission(names["assignment"], names["student"]).duedate
        except MissingEntry:
            return False
    moment = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
    return due is not None and moment > due
