"""Signs that differ by shape, not by colour alone."""

from __future__ import annotations

from autograder.checks.words import PARTLY, sign
from autograder.grading.judge.verdict import CaseVerdict


def test_what_earns_some_of_its_points_has_a_sign_of_its_own():
    assert [sign(True), sign(False), sign(False, is_partial=True)] == ["✓", "✗", "◐"]


def test_a_case_on_a_page_has_the_sign_of_its_problem():
    signs = [
        CaseVerdict("c", "c", problem, False).sign for problem in ("", "values", PARTLY)
    ]
    assert signs == ["✓", "✗", "◐"]
