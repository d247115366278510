"""What a class has tried in its projects: which changes helped, by the students' logs.

A log is a student's file: it is read as one, and what it says is no more than what the
student measured. Each student counts once for each change, by the median of the runs,
and with no more than the first `_MOST` changes.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median

from autograder.classroom import page
from autograder.classroom.ungraded import folders
from autograder.course import sheet
from autograder.grading.intake.common import RefusedError, UnreadableError
from autograder.grading.intake.files import read_file
from transformer_course.leaderboard import TEMPLATES
from transformer_course.library import run_log
from transformer_course.library.run_log import LoggedRun, RunLog

Difference = tuple[float, float, float]  # BLEU more, and the ends of its interval
_MOST = 30  # changes that are shown, and that count of one student
_ROWS = 60  # runs that are shown of a log
_TOGETHER = {"beam", "alpha"}  # settings of one thing
_LEFT, _WIDTH = 360, 400  # of the picture's axis


@dataclass(frozen=True)
class TriedChange:
    """A change of one setting, and how it changed BLEU for each student in a task."""

    name: str
    task: str
    differences: tuple[Difference, ...]

    @property
    def label(self) -> str:
        """Its name and task, in a line."""
        return f"{self.name} · {self.task.removeprefix('embedded, ')}"

    @property
    def helped(self) -> int:
        """Students whose interval lies above zero."""
        return sum(low > 0 for _, low, _ in self.differences)

    @property
    def hurt(self) -> int:
        """Students whose interval lies below zero."""
        return sum(high < 0 for _, _, high in self.differences)

    @property
    def unclear(self) -> int:
        """Students whose interval holds zero."""
        return len(self.differences) - self.helped - self.hurt

    @property
    def median(self) -> Difference:
        """The median student's difference, and the medians of the intervals' ends."""
        return _median(self.differences)


@dataclass(frozen=True)
class Tried:
    """What all logs of a class say.

    Attributes:
        students: those with a run.
        runs: all that are logged.
        several: runs that change several things at once, and so are not counted.
        short: runs that were too short to say anything, likewise.
        remarks: what could not be read, by student; for the instructor alone.
        logs: those with a run, by student; for who grades them alone.
    """

    changes: tuple[TriedChange, ...] = ()
    students: int = 0
    runs: int = 0
    several: int = 0
    short: int = 0
    remarks: tuple[str, ...] = ()
    logs: tuple[tuple[str, RunLog], ...] = ()


def read(unit: str, root: Path) -> Tried:
    """What the logs beside the submissions of an assignment say."""
    logs, remarks = {}, []
    for student, folder in folders(unit, root).items():
        path = folder / run_log.FILE
        if folder.is_symlink() or folder.parent.is_symlink() or not path.exists():
            continue
        refusal = f"is larger than {run_log.MOST_BYTES >> 20} MB"
        try:
            log = run_log.parse(read_file(path, run_log.MOST_BYTES, refusal).data)
        except (RefusedError, UnreadableError) as error:
            log = RunLog(remarks=(f"{run_log.FILE} {error}",))
        remarks += [f"{student}: {remark}" for remark in log.remarks]
        if log.runs:
            logs[student] = log
    return summary(logs, remarks)


def summary(logs: Mapping[str, RunLog], remarks: Sequence[str] = ()) -> Tried:
    """Sum up logs, which are given by student."""
    runs = [run for log in logs.values() for run in log.runs]
    medians: dict[tuple[str, str], list[Difference]] = defaultdict(list)
    for log in logs.values():
        for change, differences in islice(_group_by_change(log.runs).items(), _MOST):
            medians[change].append(_median(differences))
    changes = (TriedChange(*key, tuple(column)) for key, column in medians.items())
    order = sorted(changes, key=lambda c: (-len(c.differences), -c.median[0], c.name))
    compared = [run for run in runs if run.difference]
    return Tried(
        tuple(order), len(logs), len(runs),
        sum(len(_list_changes(run)) > 1 for run in compared if not run.too_short),
        sum(run.too_short for run in compared), tuple(remarks), tuple(logs.items()),
    )  # fmt: skip


def _group_by_change(
    runs: Iterable[LoggedRun],
) -> dict[tuple[str, str], list[Difference]]:
    """Group a student's differences by what was changed, and in which task."""
    differences: dict[tuple[str, str], list[Difference]] = defaultdict(list)
    for run in runs:
        if run.difference and not run.too_short and len(_list_changes(run)) == 1:
            (name,) = _list_changes(run)
            before, after = run.changed[name]
            task = run.task if run.corpus == "embedded" else "own corpora"
            differences[f"{name}: {before} → {after}", task].append(run.difference)
    return differences


def _list_changes(run: LoggedRun) -> list[str]:
    """List the settings that a run changes; those of one thing count once."""
    separate = [name for name in run.changed if name not in _TOGETHER]
    return separate + [name for name in run.changed if name in _TOGETHER][:1]


def _median(differences: Sequence[Difference]) -> Difference:
    value, low, high = (median(column) for column in zip(*differences, strict=True))
    return value, low, high


def as_csv(tried: Tried) -> str:
    """All changes as CSV."""
    rows: list[list[object]] = [
        ["change", "where", "students", "helped", "unclear", "hurt", "BLEU more", "low",
         "high"]
    ]  # fmt: skip
    for change in tried.changes:
        counts = len(change.differences), change.helped, change.unclear, change.hurt
        numbers = (f"{number:.2f}" for number in change.median)
        rows.append([sheet.harmless(change.name), change.task, *counts, *numbers])
    return sheet.as_text(rows)


def as_html(unit: str, tried: Tried) -> str:
    """The changes as one page without scripts: a table and a picture."""
    changes = tried.changes[:_MOST]
    end = reach(changes)
    x = functools.partial(place, end=end)
    return page.render(
        "tried.html.j2",
        unit,
        folder=TEMPLATES,
        tried=tried,
        changes=changes,
        end=end,
        x=x,
    )


def reach(changes: Sequence[TriedChange]) -> float:
    """The absolute BLEU difference at both ends of the plot's axis."""
    distances = [abs(end) for change in changes for end in change.median]
    return max(1.0, min(100.0, max(distances, default=1.0)))


def place(value: float, end: float) -> float:
    """The x-coordinate of a difference on an axis from ``-end`` to ``end``, clamped."""
    share = max(-1.0, min(1.0, value / end))
    return round(_LEFT + _WIDTH * (1 + share) / 2, 1)


def write(unit: str, root: Path) -> tuple[list[Path], Tried]:
    """Add a class's attempts to the course's reports; return the paths.

    All logs are a page of their own, for who grades them.
    """
    tried, reports = read(unit, root), root / "reports"
    path, logs = reports / f"{unit}-tried.html", reports / f"{unit}-logs.html"
    paths = page.write_both(path, as_html(unit, tried), as_csv(tried))
    page.write(
        logs, "logs.html.j2", unit, folder=TEMPLATES, logs=tried.logs, most=_ROWS
    )
    return [*paths, logs], tried
