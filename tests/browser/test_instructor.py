"""An instructor's morning in the formgrader: scores, a submission, a written answer."""

import os
import shutil
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from tests.browser import desk
from tests.browser.conftest import QUESTION, UNIT, jupyter

PRAISE = "Both results are right; I miss the remedy."


def is_put_to(path: str):
    """Whether a response is that to a change of what lies at a path."""
    return lambda r: path in r.url and r.request.method == "PUT" and r.ok


@pytest.fixture
def course(graded_class, tmp_path):
    """A copy of the graded class, to write into."""
    return Path(shutil.copytree(graded_class, tmp_path / "course"))


@pytest.mark.xdist_group("graded class")
@pytest.mark.slow
def test_scores_are_seen_and_a_written_answer_is_graded(course, page, picture):
    with jupyter(course, dict(os.environ), course.parent / "own") as address:
        desk.open_lab(page, address)
        assert "Formgrader" in desk.menu(page, "Nbgrader")

        page.goto(address.format(f"formgrader/manage_submissions/{UNIT.label}"))
        page.wait_for_selector('tr:has-text("Lovelace")')
        rows = page.locator("tbody tr").all_inner_texts()
        assert "needs manual grading" in rows[0] and "96 / 100" in rows[0]
        assert "Turing" in rows[1] and "96 / 100" not in rows[1]
        picture(page, "instructor_scores", height=400)

        page.goto(address.format(f"formgrader/gradebook/{UNIT.label}/{UNIT.label}"))
        page.locator("tr", has_text="96 / 100").get_by_role("link").click()
        # Fields are marked once their grades have come, and save only from then on.
        score = page.locator(f'input.score.needs_manual_grade[id="{QUESTION}"]')
        comment = page.locator(f'[id="{QUESTION}-comment"][placeholder]')
        score.wait_for()
        comment.wait_for()
        text = page.locator("body").inner_text()
        assert "Points: both results (2)" in text
        assert "share equally" in text
        equation = page.locator("math", has_text="0/0")
        assert equation.bounding_box()["width"] > 10, "drawn, with no network"
        with page.expect_response(is_put_to("/api/grade/")):
            score.press_sequentially("3")
            score.press("Tab")  # leaves the field, which saves it
        with page.expect_response(is_put_to("/api/comment/")):
            comment.press_sequentially(PRAISE)
            comment.press("Tab")
        comment.evaluate("field => field.scrollIntoView({block: 'center'})")
        picture(page, "instructor_written_answer", height=600)

        page.goto(address.format(f"formgrader/manage_submissions/{UNIT.label}"))
        page.locator("tr", has_text="Lovelace").get_by_text("99 / 100").wait_for()

    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        submission_key = (UNIT.label, UNIT.label, "ada")
        grade = gradebook.find_grade(QUESTION, *submission_key)
        assert (grade.manual_score, grade.needs_manual_grade) == (3, False)
        assert gradebook.find_comment(QUESTION, *submission_key).comment == PRAISE
