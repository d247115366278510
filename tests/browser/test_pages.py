"""Pages of ours in both themes, on a laptop and a phone: nothing runs off the side."""

from __future__ import annotations

import pytest
import torch

from autograder.classroom import page as pages
from autograder.classroom import progress, report
from autograder.classroom.classbook import Classbook, Exercise, Student, Submission
from autograder.grading.record import CaseRecord, Record
from autograder.student.check import Check
from autograder.student.references import load

pytestmark = pytest.mark.slow
NAMES = ("Ada Lovelace", "Alan Turing", "Emmy Noether", "Grace Hopper", "Maryam Mirz")


def summary() -> str:
    """What a student sees who has one exercise right and one wrong."""
    check = Check()
    check("attention/softmax", lambda scores, dim=-1: torch.softmax(scores, dim))
    check("attention/causal_mask", lambda n, *_: torch.ones(n, n).bool().triu())
    themes = "body { background: Canvas; color: CanvasText }"
    shown = check.summary()
    assert shown is not None
    return f"<style>:root {{ color-scheme: light dark }} {themes}</style>" + (
        shown._repr_html_()
    )


def book(unit: str = "02_attention") -> Classbook:
    exercises = [
        (name.replace("/", "-"), e.points) for name, e in load("attention").items()
    ]
    taken = []
    for place, name in enumerate(NAMES):
        first, last = name.split()
        points = {e: most * (n % 5 != place) for n, (e, most) in enumerate(exercises)}
        records = {
            e: Record(
                e.replace("-", "/", 1),
                points[e],
                most,
                cases=(
                    CaseRecord(
                        "a", "a batch of 3", "" if points[e] else "values", False
                    ),
                ),
            )
            for e, most in exercises
        }
        who = Student(first.lower(), first, last)
        taken.append(Submission(who, points, records=records, late=90_000.0 * place))
    return Classbook(unit, tuple(Exercise(*e) for e in exercises), tuple(taken))


def course() -> str:
    told = progress.progress([book(), book("03_multi_head_attention")], {}, drop=1)
    return pages.render("progress.html.j2", "course", told=told, today="today")


PAGES = {
    "student_summary": summary,
    "instructor_report": lambda: report.as_html(report.overview(book()), "today"),
    "instructor_course": course,
}


@pytest.mark.parametrize("width", [1240, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits(page, picture, name, theme, width):
    page.set_viewport_size({"width": width, "height": 860})
    page.emulate_media(color_scheme=theme)
    page.set_content(PAGES[name]())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if (theme, width) == ("light", 1240) and name != "instructor_report":
        picture(page, name, 620)
