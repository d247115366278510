"""Where the student kit is published, and how each notebook begins because of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.authoring import assistants
from autograder.checks.words import ATTEMPTS
from autograder.course import ROOT, Unit, records_attempts, settings
from autograder.course.errors import UsageError

PLACEHOLDER = "transformer-course"  # an owner that is nobody's
DISTRIBUTION = "transformer-course-student"  # `autograder` is a stranger's on PyPI
CHECKS = "checks.txt"  # a requirements file that names the kit's wheel

_COLAB = "https://colab.research.google.com"
_ATTEMPTS = f"""\
**This course records attempts.** Each check adds a line to the file `{ATTEMPTS}` beside
this notebook: the time, the exercise, your share of its points and the name of the
mistake, never your code. `check.summary()` stores the list in the notebook, so your
teachers can see it once you hand in. It does not count for points. You may delete the
file at any time (`check.reset()` does it)."""
_CELL = Path(__file__).parent / "templates" / "find_checks.py.txt"


@dataclass(frozen=True)
class Repository:
    """A branch of a public GitHub repository, and what its notebooks say first.

    ``notice`` is the course's word on AI assistants, below each notebook's badge.
    """

    owner: str
    repository: str
    branch: str
    notice: str = ""

    def file(self, name: str) -> str:
        """The address of a file of the kit."""
        path = f"{self.owner}/{self.repository}/{self.branch}"
        return f"https://raw.githubusercontent.com/{path}/{name}"

    def notebook(self, unit: Unit) -> str:
        """Where Colab opens a unit's release notebook."""
        path = f"{self.owner}/{self.repository}/blob/{self.branch}"
        return f"{_COLAB}/github/{path}/notebooks/{unit.label}.ipynb"

    def badge(self, unit: Unit) -> str:
        """The Markdown badge that opens a unit's release notebook in Colab."""
        picture = f"{_COLAB}/assets/colab-badge.svg"
        return f"[![Open in Colab]({picture})]({self.notebook(unit)})"

    def first_cells(self, unit: Unit) -> tuple[str, str]:
        """How a notebook begins: the badge, and the code that finds the checks.

        Below the badge is the notice.
        """
        cell = _CELL.read_text(encoding="utf-8").rstrip("\n")
        code = cell.format(
            latest=self.file(CHECKS),
            checks=CHECKS,
            number=int(unit.number),
            distribution=DISTRIBUTION,
            wheel=DISTRIBUTION.replace("-", "_"),
        )
        return f"{self.badge(unit)}\n\n{self.notice}", code


def published(root: Path = ROOT, owner: str = "") -> Repository:
    """Where ``[tool.autograder.colab]`` says that the kit is, or another owner's.

    Raises:
        CourseError: GitHub allows no such owner, or there is no such policy.
    """
    notice = assistants.policy(root).notice
    if records_attempts(root):
        notice += f"\n\n{_ATTEMPTS}"
    told = Repository(**settings(root)["colab"], notice=notice)
    if not owner:
        return told
    if not re.fullmatch(r"[A-Za-z0-9](-?[A-Za-z0-9]){0,38}", owner):
        raise UsageError(
            f'"{owner}" is not a GitHub account; write only its name, like OWNER=ada-l'
        )
    return replace(told, owner=owner)
