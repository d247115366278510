"""What the course says to AI assistants, and to students about them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from autograder.course import ROOT, settings
from autograder.course.errors import CourseError

# Where the common assistants look for the rules of a repository.
FILES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".github/copilot-instructions.md")


@dataclass(frozen=True)
class AssistantPolicy:
    """One of the policies: what the notebook's head says, and what assistants read."""

    notice: str
    rules: str


_TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
POLICIES = {
    name: AssistantPolicy(
        own["notice"],
        f"{_TEXTS['head']}{own['rules']}{_TEXTS['always']}",
    )
    for name, own in _TEXTS["policies"].items()
}


def policy(root: Path = ROOT) -> AssistantPolicy:
    """The policy that ``assistants`` in course.toml names.

    Raises:
        CourseError: there is no such policy.
    """
    name = settings(root).get("assistants", "tutor")
    if name not in POLICIES:
        known = ", ".join(f'"{one}"' for one in POLICIES)
        raise CourseError(f"course.toml: assistants is {name!r}; choose one of {known}")
    return POLICIES[name]
