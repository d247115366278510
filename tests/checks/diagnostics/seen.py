"""Answers to cases that no known mistake explains, compared with what is right."""

from __future__ import annotations

from autograder.checks.compare import compare
from autograder.checks.exercise import Answers, Case, CaseResult


def judged(*pairs: tuple[Answers, Answers], hidden: bool = False) -> list[CaseResult]:
    """For each pair, expected answers and given ones, the result of its own case."""
    return [
        compare(Case(str(n), f"case {n}", "", {}, right, hidden=hidden), answer)
        for n, (right, answer) in enumerate(pairs)
    ]
