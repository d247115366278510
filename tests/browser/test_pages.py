"""Pages of ours in both themes, on a laptop and a phone: nothing runs off the side."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.checks.check import Check
from autograder.checks.references import load
from autograder.classroom import page as pages
from autograder.classroom import progress, report
from autograder.classroom.classbook import Classbook, Item, Student, Submission
from autograder.course import units
from autograder.extras.written import written
from autograder.grading.judge.verdict import CaseVerdict, Verdict
from tests.browser.conftest import SIZE, UNIT
from transformer_course.solutions import attention

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("graded class")]
NAMES = (
    *(
        "Ada Lovelace",
        "Alan Turing",
        "Emmy Noether",
        "Grace Hopper",
        "Sofia Kovalevski",
    ),
    *(
        "Carl Gauss",
        "Dorothy Vaughan",
        "Henri Poincare",
        "Julia Robinson",
        "Kurt Godel",
    ),
)  # in the order of their points


def summary() -> str:
    """What a student sees who has one exercise right and one wrong."""
    check = Check()
    check("attention/softmax", attention.stable_softmax)
    check("attention/by_hand", lambda *lists: lists[:2])
    themes = "body { background: Canvas; color: CanvasText }"
    summary_shown = check.summary()
    assert summary_shown is not None
    return f"<style>:root {{ color-scheme: light dark }} {themes}</style>" + (
        summary_shown._repr_html_()
    )


def book(unit: str = "02_attention") -> Classbook:
    number, _, name = unit.partition("_")
    exercises = [(name.replace("/", "-"), e.points) for name, e in load(name).items()]
    submissions = []
    for place, name in enumerate(NAMES):
        first, last = name.split()
        points = {
            e: most * ((5 * n + 3 * place + int(number)) % 11 >= place)
            for n, (e, most) in enumerate(exercises)
        }
        records = {
            e: Verdict(
                e.replace("-", "/", 1),
                points[e],
                most,
                cases=(
                    CaseVerdict(
                        "a", "a batch of 3", "" if points[e] else "values", False
                    ),
                ),
            )
            for e, most in exercises
        }
        student = Student(first.lower(), first, last)
        submissions.append(
            Submission(student, points, records=records, late=40_000.0 * place)
        )
    return Classbook(unit, tuple(Item(*e) for e in exercises), tuple(submissions))


def course() -> str:
    progress_rows = progress.progress(
        [book(unit.label) for unit in units()[:5]], {}, drop=1
    )
    return pages.render("progress.html.j2", "course", course=progress_rows)


def work_list(root: Path) -> str:
    """What a grader ticks and reads."""
    return written.write_list(UNIT.label, root, root / "reports")[0].read_text()


def feedback(root: Path) -> str:
    """What Alan reads, who made several mistakes."""
    pages = root / "feedback" / "alan" / UNIT.label
    return (pages / f"{UNIT.label}.html").read_text()


PAGES = {
    "student_summary": summary,
    "instructor_report": lambda: report.as_html(report.overview(book())),
    "instructor_course": course,
}
GRADED = {"student_feedback": feedback, "instructor_written": work_list}
PICTURED = {"instructor_report": "#students"}  # where it is not the top
SCREENS = 8  # of a laptop: a page on which most exercises lost points


@pytest.mark.parametrize("width", [1240, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", [*PAGES, *GRADED])
def test_a_page_fits(request, page, picture, name, theme, width):
    if name in PAGES:
        text = PAGES[name]()
    else:
        text = GRADED[name](request.getfixturevalue("graded_class"))
    page.set_viewport_size({"width": width, "height": SIZE["height"]})
    page.emulate_media(color_scheme=theme)
    page.set_content(text)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if name in PICTURED:
        page.evaluate("document.body.style.paddingBottom = '100vh'")  # room to scroll
        page.locator(PICTURED[name]).evaluate("part => part.scrollIntoView()")
    if width == SIZE["width"]:
        picture(page, f"{name}_{theme}", 620, is_ours=True)


def test_a_heat_map_is_sorted_without_a_script(page):
    page.set_content(report.as_html(report.overview(book())))
    read = """rows => rows.map((row, place) => [row.getBoundingClientRect().top,
        place, parseFloat(row.lastElementChild.innerText)])"""
    for button, column in ((".by-0", 1), (".by-1", 2)):
        page.locator(button).check()
        rows = sorted(page.locator(".heat tbody tr").evaluate_all(read))
        assert [row[column] for row in rows] == sorted(row[column] for row in rows)


def test_feedback_is_a_few_screens_long(page, graded_class):
    page.set_content(feedback(graded_class))
    height = page.evaluate("document.documentElement.scrollHeight")
    assert height <= SCREENS * SIZE["height"]


def test_feedback_can_be_read_on_a_phone(page, graded_class):
    page.set_viewport_size({"width": 380, "height": SIZE["height"]})
    page.set_content(feedback(graded_class))
    exercise = page.locator(".rows td:nth-child(2)").first
    assert exercise.evaluate("cell => cell.offsetWidth") >= 200
    assert page.locator(".rows").evaluate("table => table.offsetHeight") <= 1000
