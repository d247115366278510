"""The repository that publishes the student kit, and the cells that link to it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.authoring import assistants
from autograder.checks.installed import wheel_name
from autograder.checks.words import ATTEMPTS
from autograder.course import ROOT, Unit, records_attempts, settings
from autograder.course.errors import UsageError
from autograder.course.notebooks import BADGE, FINDER

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
    """A branch of the public GitHub repository from which students get the kit.

    Args:
        notice: the text at the top of each notebook, on AI assistants and recorded
            attempts. A web address replaces ``{advice}``.
        placeholder: whether the owner is not a real account yet.
    """

    owner: str
    repository: str
    branch: str
    notice: str = ""
    placeholder: bool = False

    def file(self, name: str) -> str:
        """The address of a file of the kit."""
        path = f"{self.owner}/{self.repository}/{self.branch}"
        return f"https://raw.githubusercontent.com/{path}/{name}"

    def notebook(self, unit: Unit) -> str:
        """The address at which Colab opens a unit's release notebook."""
        path = f"{self.owner}/{self.repository}/blob/{self.branch}"
        return f"{_COLAB}/github/{path}/notebooks/{unit.label}.ipynb"

    def badge(self, unit: Unit) -> str:
        """The Markdown badge that opens a unit's release notebook in Colab."""
        picture = f"{_COLAB}/assets/colab-badge.svg"
        return f"[![Open in Colab]({picture})]({self.notebook(unit)})"

    @property
    def is_public(self) -> bool:
        """Whether the owner is a real account, so that the addresses work."""
        return not self.placeholder

    @property
    def address(self) -> str:
        """The address of the repository."""
        return f"https://github.com/{self.owner}/{self.repository}"

    @property
    def advice(self) -> str:
        """The address of the section of student.md about AI assistants."""
        folder = ".."
        if self.is_public:
            folder = f"{self.address}/blob/{self.branch}"
        return f"{folder}/student.md#ai-assistants"

    def generated_cells(self, unit: Unit, version: str = "") -> dict[str, str]:
        """Map the ids of two generated cells, the badge and the set-up, to their text.

        Args:
            version: the version of the kit's wheel that the notebook needs; none for a
                release, from which the kit is made.
        """
        head = f"{self.badge(unit)} {self.notice.format(advice=self.advice)}"
        source = f"-r {self.file(CHECKS)}"
        # Without an address, the wheel lies in the folder above the notebooks.
        if version and not self.is_public:
            source = f"../{wheel_name(version)}"
        arguments = f'{int(unit.number)}, "{version}"' if version else int(unit.number)
        code = _CELL.read_text(encoding="utf-8").rstrip("\n")
        return {BADGE: head, FINDER: code.format(source=source, arguments=arguments)}


def published(root: Path = ROOT, owner: str = "") -> Repository:
    """Return the repository that ``[colab]`` in course.toml names.

    Args:
        owner: a GitHub account to use instead of the one in course.toml.
    """
    notice = f"{assistants.policy(root).notice} [Details]({{advice}})"
    if records_attempts(root):
        notice += f"\n\n{_ATTEMPTS}"
    repository = Repository(**settings(root)["colab"], notice=notice)
    if not owner:
        return repository
    if not re.fullmatch(r"[A-Za-z0-9](-?[A-Za-z0-9]){0,38}", owner):
        raise UsageError(
            f'"{owner}" is not a GitHub account; write only its name, like OWNER=ada-l'
        )
    return replace(repository, owner=owner, placeholder=False)
