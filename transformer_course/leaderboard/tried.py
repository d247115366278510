"""A summary of what a class has tried in its projects, and of what helped.

It is computed from the untrusted logs of training runs that students hand in.
Each student counts once for each change, with the median of their runs.
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

Difference = tuple[float, float, float]  # BLEU gained, and the ends of its interval
_MOST = 30  # changes that are shown, and changes that count for one student
_ROWS = 60  # runs that are shown for a log
_TOGETHER = {"beam", "alpha"}  # settings that count as a single change
_LEFT, _WIDTH = 360, 400  # position and length of the axis in the picture


@dataclass(frozen=True)
class TriedChange:
    """A change of one setting in a task, and each student's difference in BLEU.

    Args:
        name: the change, such as "num_heads: 4 → 8".
        task: the corpus and the level, as in "embedded, level 2", or "own corpora".
        differences: by student, the BLEU gained and the ends of its 95% interval.
    """

    name: str
    task: str
    differences: tuple[Difference, ...]

    @property
    def label(self) -> str:
        """The change and its task in one line."""
        return f"{self.name} · {self.task.removeprefix('embedded, ')}"

    @property
    def helped(self) -> int:
        """The number of students whose interval is above zero."""
        return sum(low > 0 for _, low, _ in self.differences)

    @property
    def hurt(self) -> int:
        """The number of students whose interval is below zero."""
        return sum(high < 0 for _, _, high in self.differences)

    @property
    def unclear(self) -> int:
        """The number of students whose interval contains zero."""
        return len(self.differences) - self.helped - self.hurt

    @property
    def median(self) -> Difference:
        """The median of the differences, and the medians of the intervals' ends."""
        return _take_medians(self.differences)


@dataclass(frozen=True)
class Tried:
    """A summary of the logs of a class.

    Attributes:
        changes: the changes of a setting; that which most students tried comes first.
        students: the number of students with a logged run.
        runs: the number of logged runs.
        several: how many runs are left out because they change several settings.
        short: how many runs are left out because they are too short to say anything.
        remarks: what could not be read, by student; for the instructor only.
        logs: the logs with a run, by student; for the graders only.
    """

    changes: tuple[TriedChange, ...] = ()
    students: int = 0
    runs: int = 0
    several: int = 0
    short: int = 0
    remarks: tuple[str, ...] = ()
    logs: tuple[tuple[str, RunLog], ...] = ()


def read(unit: str, root: Path) -> Tried:
    """Read and sum up the logs that were handed in with an assignment's submissions."""
    logs, remarks = {}, []
    for student, folder in folders(unit, root).items():
        path = folder / run_log.FILE
        # A link could lead to a file outside the submission.
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
    """Sum up the logs of a class.

    ``changes`` covers only runs that are long enough and make a single change, and
    the first `_MOST` changes of each student.
    """
    runs = [run for log in logs.values() for run in log.runs]
    medians: dict[tuple[str, str], list[Difference]] = defaultdict(list)
    for log in logs.values():
        for change, differences in islice(_group_by_change(log.runs).items(), _MOST):
            medians[change].append(_take_medians(differences))
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
    """Group a student's differences in BLEU by change and task.

    The keys are pairs such as ("num_heads: 4 → 8", "embedded, level 2"). Only runs
    that are long enough and make a single change count.
    """
    differences: dict[tuple[str, str], list[Difference]] = defaultdict(list)
    for run in runs:
        if run.difference and not run.too_short and len(_list_changes(run)) == 1:
            (name,) = _list_changes(run)
            before, after = run.changed[name]
            task = run.task if run.corpus == "embedded" else "own corpora"
            differences[f"{name}: {before} → {after}", task].append(run.difference)
    return differences


def _list_changes(run: LoggedRun) -> list[str]:
    """List the settings that a run changes; "beam" and "alpha" together count as one.

    If both are changed, only the first of them is listed.
    """
    separate = [name for name in run.changed if name not in _TOGETHER]
    return separate + [name for name in run.changed if name in _TOGETHER][:1]


def _take_medians(differences: Sequence[Difference]) -> Difference:
    """The medians of the values, of the lower ends, and of the upper ends."""
    value, low, high = (median(column) for column in zip(*differences, strict=True))
    return value, low, high


def as_csv(tried: Tried) -> str:
    """All changes of a setting that students tried, as CSV: a row for each."""
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
    """Return a page without scripts about the changes that most students tried.

    It has a table of at most `_MOST` of them, and a picture of their effect on BLEU.
    """
    changes = tried.changes[:_MOST]
    end = axis_end(changes)  # the axis of the picture is from -end to end
    x = functools.partial(x_coordinate, end=end)  # a difference's place in the picture
    return page.render(
        "tried.html.j2",
        unit,
        folder=TEMPLATES,
        tried=tried,
        changes=changes,
        end=end,
        x=x,
    )


def axis_end(changes: Sequence[TriedChange]) -> float:
    """Return the end of the plot's axis in BLEU, from 1 to 100.

    It is the largest absolute value of the medians and their intervals' ends.
    """
    distances = [abs(end) for change in changes for end in change.median]
    return max(1.0, min(100.0, max(distances, default=1.0)))


def x_coordinate(value: float, end: float) -> float:
    """The x-coordinate of a difference on an axis from ``-end`` to ``end``, clamped."""
    share = max(-1.0, min(1.0, value / end))
    return round(_LEFT + _WIDTH * (1 + share) / 2, 1)


def write(unit: str, root: Path) -> tuple[list[Path], Tried]:
    """Write a summary of a class's logs to the course's reports.

    A separate page shows all logs to the graders. Return all paths, and the summary.
    """
    tried, reports = read(unit, root), root / "reports"
    path, logs = reports / f"{unit}-tried.html", reports / f"{unit}-logs.html"
    paths = page.write_both(path, as_html(unit, tried), as_csv(tried))
    page.write(
        logs, "logs.html.j2", unit, folder=TEMPLATES, logs=tried.logs, most=_ROWS
    )
    return [*paths, logs], tried
