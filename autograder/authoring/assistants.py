"""The course's policies on AI assistants: rules for them, and a notice for students."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from autograder.course import ROOT, settings
from autograder.course.errors import CourseError

# The files in which common assistants look for a repository's rules.
FILES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".github/copilot-instructions.md")


@dataclass(frozen=True)
class AssistantPolicy:
    """A policy: the notice at the top of notebooks, and the rules for assistants."""

    notice: str
    rules: str


_TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
POLICIES = {
    name: AssistantPolicy(
        texts["notice"],
        f"{_TEXTS['head']}{texts['rules']}{_TEXTS['always']}",
    )
    for name, texts in _TEXTS["policies"].items()
}


def policy(root: Path = ROOT) -> AssistantPolicy:
    """Return the policy on AI assistants that course.toml names, by default "tutor"."""
    name = settings(root).get("assistants", "tutor")
    if name not in POLICIES:
        choices = ", ".join(f'"{choice}"' for choice in POLICIES)
        message = f"course.toml: assistants is {name!r}; choose one of {choices}"
        raise CourseError(message)
    return POLICIES[name]
