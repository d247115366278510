"""What students read: their scores and panels, and nobody's scripts or secrets."""

import base64
import re

import pytest
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode, v4
from nbgrader.api import Gradebook
from nbgrader.preprocessors import AssignLatePenalties, CheckCellMetadata
from nbgrader.preprocessors import SaveAutoGrades as Save
from traitlets.config import Config

from autograder.checks.exercise import CheckResult
from autograder.checks.panel import as_html
from autograder.grading import feedback
from autograder.grading.feedback import exporter
from autograder.grading.intake import RefusedError
from autograder.grading.judge.verdict import CaseVerdict, Verdict
from autograder.grading.metadata import GradingMetadata
from autograder.grading.rendering.page import Allowance, Page
from tests import tiny_course as tiny
from tests.grading.hostile import HOSTILE, dangers
from tests.tiny_course import UNIT, RunHere, hand_in, run_nbgrader

PANEL = as_html(CheckResult("numbers/double", "Doubling", 2.0, 2.0, note="a panel")) + (
    '<svg width="9" height="9" viewBox="0 0 9 9"><rect width="4" height="4"/></svg>'
)
PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
FEEDBACK = "autograder.grading.feedback."
OURS = {"autograder": "verdict"}
HIDDEN = "assert double(-3) == -6"


class Stranger(Preprocessor):
    """Puts outputs of a student, and a verdict of ours, into the executed notebook."""

    enabled = True
    outputs: dict = {}  # noqa: RUF012  (by student)
    aspects: dict = {}  # noqa: RUF012

    def preprocess(self, nb, resources):
        student = resources["nbgrader"]["student"]
        answer = tiny.cell(nb, "numbers-double-answer")
        answer.outputs = [NotebookNode(o) for o in Stranger.outputs.get(student, ())]
        data = {"text/html": PANEL, "text/plain": "2.0"}
        marked = v4.new_output("execute_result", data, metadata=OURS)
        tiny.cell(nb, "numbers-double").outputs = [marked]
        outside = Verdict("numbers/double", 2.0, 2.0)
        aspects = Stranger.aspects.get(student, {})
        inside = Verdict("triple", 3.0, 3.0, decided="inside", aspects=aspects)
        checks = {"numbers-double": outside, "numbers-triple": inside}
        GradingMetadata.of_run(nb, resources).checks = checks
        return nb, resources


def grade(root) -> None:
    config = Config()
    config.Autograde.autograde_preprocessors = [
        *(RunHere, Stranger, f"{FEEDBACK}CleanOutputs"),
        *(Save, AssignLatePenalties, CheckCellMetadata),
    ]
    result = run_nbgrader(root, "autograde", UNIT, "*", config=config)
    assert "Traceback" not in result.get("log", result.get("error")), result


def make_pages(root) -> dict[str, str]:
    """The feedback pages by student, by way of nbgrader's own steps."""
    config = Config()
    config.GenerateFeedback.exporter_class = f"{FEEDBACK}FeedbackExporter"
    names = ("Scores", "CleanOutputs", "HideTests", "TrimTracebacks")
    config.GenerateFeedback.preprocessors = [FEEDBACK + name for name in names]
    result = run_nbgrader(root, "generate_feedback", UNIT, config=config)
    assert result["success"], result
    return {p.parts[-3]: p.read_text() for p in root.glob("feedback/*/*/*.html")}


def page(root, submission, outputs=()) -> str:
    hand_in(root, "ada", tiny.data(submission))
    Stranger.outputs = {"ada": outputs}
    grade(root)
    return make_pages(root)["ada"]


def solve_release(root, **answers):
    return tiny.solve_release(tiny.read(root, "release"), **answers)


def display(**data) -> dict:
    named = {kind.replace("__", "+").replace("_", "/"): v for kind, v in data.items()}
    return v4.new_output("display_data", named)


def odd_outputs() -> list:
    """Outputs that would run or fetch something, in every kind."""
    kinds = ("text_html", "text_markdown", "text_latex", "image_svg__xml")
    outputs = [display(**{kind: text}) for kind in kinds for text in HOSTILE]
    script = '"><script>alert(1)</script>'
    widget = {"application/vnd.jupyter.widget-view+json": {"model_id": "x"}}
    picture = v4.new_output("display_data", {"image/png": script})
    picture["metadata"] = {"image/png": {"width": script}}
    return [
        *outputs,
        display(application_javascript="alert(1)"),
        v4.new_output("display_data", widget),
        picture,
        v4.new_output("stream", text="<script>alert(1)</script>\x1b[31m<b>"),
        v4.new_output(
            "error", ename="<script>", evalue="<img src=x onerror=a>",
            traceback=["<script>alert(1)</script>"],
        ),
    ]  # fmt: skip


def everyday(root) -> tuple[NotebookNode, list]:
    """Folded words, pictures, and outputs that pretend to be ours."""
    words = "<details><summary>Hint</summary>\n\ninside\n\n</details>\n\n"
    submission = solve_release(root, words=f"{words}![mine](attachment:a.png)")
    tiny.cell(submission, "numbers-why").attachments = {"a.png": {"image/png": PIXEL}}
    paint = '<div style="margin-top:-900px;height:9000px">100 of 100 points</div>'
    forged = display(text_html="<script>alert(1)</script><b>99 of 99</b>")
    forged["metadata"] = OURS
    picture = display(image_png=PIXEL, text_plain="<Figure>")
    return submission, [picture, forged, display(text_html=paint)]


@pytest.fixture(scope="module")
def graded(shared_course):
    """A class of which each hands in something else, graded once; and its pages."""
    root = shared_course
    with Gradebook(f"sqlite:///{root}/gradebook.db", "tiny") as book:
        book.update_or_create_assignment(UNIT, duedate="2020-01-01 00:00:00 UTC")
    release = tiny.read(root, "release")
    stub = tiny.cell(release, "numbers-triple-answer").source
    question = tiny.cell(release, "numbers-why").source
    usual, outputs = everyday(root)
    copied, without_triple = solve_release(root), solve_release(root, triple=stub)
    copied.cells.append(tiny.cell(copied, "numbers-double-answer"))
    without_triple.cells.append(v4.new_code_cell("mine = 4711"))
    marked = "### BEGIN HIDDEN TESTS\ndef double(x):\n    return 2 * x"
    hand_ins = {
        "everyday": usual,
        "full": solve_release(root),
        "wrong": solve_release(root, triple="def triple(x):\n    return x"),
        "late": copied,
        "refused": without_triple,
        "hostile": solve_release(root, words="\n\n".join(HOSTILE)),
        "prints": solve_release(root),
        "marks": solve_release(root, double=marked),
        "untried": solve_release(root, words=question),
    }
    for student, notebook in hand_ins.items():
        hand_in(root, student, tiny.data(notebook))
    hand_in(root, "broken", b'{"cells": [')
    stamp = root / "submitted" / "late" / UNIT / "timestamp.txt"
    stamp.write_text("2020-01-01 02:05:00 UTC")
    stamp.with_name("evil.html").write_text("<script>alert(1)</script>")
    printed = [
        v4.new_output("stream", text=f"found: {HIDDEN}"),
        v4.new_output("stream", text=HIDDEN.replace(" ", " \x1b[39m\x1b[32m")),
        display(text_html=f"<b>{HIDDEN}</b>"),
        v4.new_output("error", ename="E", evalue=HIDDEN, traceback=[HIDDEN]),
    ]
    lost = {"values": [1.0, 3.0], "calls": [0.0, 1.0]}
    Stranger.outputs = {
        "everyday": outputs,
        "hostile": odd_outputs(),
        "prints": printed,
    }
    Stranger.aspects = {"wrong": lost, "full": lost}
    run = RunHere.preprocess

    def refuse_one(self, nb, resources):
        if resources["nbgrader"]["student"] == "refused":
            raise RefusedError("it used up all memory")
        return run(self, nb, resources)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunHere, "preprocess", refuse_one)
        grade(root)
    with Gradebook(f"sqlite:///{root}/gradebook.db", "tiny") as book:
        names = "numbers-why", UNIT, UNIT, "full"
        book.find_grade(*names).manual_score = 3.5
        comment = "Nice: $x^2$ <script>alert(1)</script>"
        book.find_comment(*names).manual_comment = comment
        book.db.commit()
    return root, make_pages(root)


@pytest.fixture(scope="module")
def pages(graded):
    return graded[1]


# --- what it says --------------------------------------------------------------------


def test_a_page_shows_scores_and_says_what_is_not_graded_yet(pages):
    html = pages["everyday"]
    assert "2 of 2 points" in html and "not graded yet (of 4)" in html
    assert "4 of these points are not graded yet" in html


def test_a_written_answer_shows_its_points_once_it_is_graded(pages):
    html = pages["full"]
    assert "3.5 of 4 points" in html and "not graded yet" not in html
    assert "Comment:" in html and "<msup>" in html and dangers(html) == []
    assert html.count("font/woff2") == 1


def test_repairs_and_lateness_stand_at_the_top(pages):
    top = pages["late"][: pages["late"].index("<table")]
    assert "Handed in 2 hours 5 minutes late" in top
    assert "Your copied cell of numbers-double was ignored." in top


def test_a_refused_submission_gets_a_page_with_the_reason(pages):
    html = pages["broken"]
    assert "could not be graded:" in html and "it is damaged or incomplete" in html
    assert "<strong>not graded</strong>" in html
    assert "None of your answers could be read" in html
    for absent in ('<summary class="head">your answer', "NotImplementedError"):
        assert absent not in html


def test_of_a_refused_submission_the_student_s_own_answers_are_shown(pages):
    html = pages["refused"]
    assert "it used up all memory" in html and "Below is what could be read" in html
    assert html.count('<details class="cell exercise"') == 2, "in code, in words"
    assert "4711" in html and "NotImplementedError" not in html
    assert "assert" not in html, "nor the course's checks"


def test_panels_details_and_pictures_survive_and_pages_fetch_nothing(pages):
    html = pages["everyday"]
    for part in ("a panel", "border-left:5px solid", "<rect"):
        assert part in html
    assert re.search(r"<svg[^>]*viewbox", html, re.IGNORECASE)
    assert html.count(f"data:image/png;base64,{PIXEL}") == 2
    assert "<details>" in html and "<summary>Hint</summary>" in html
    assert "default-src 'none'" in html
    assert "prefers-color-scheme: dark" in html
    assert dangers(html) == []


# --- nobody's scripts ----------------------------------------------------------------


def test_no_output_of_a_student_runs_or_fetches_anything(graded):
    root, pages = graded
    assert dangers(pages["hostile"]) == []
    assert "an output that cannot be shown" in pages["hostile"]
    notebook = tiny.read(root, "autograded", "hostile")
    for output in tiny.cell(notebook, "numbers-double-answer").outputs:
        kinds = set(output.get("data", {}))
        assert kinds <= {"text/html", "text/plain", "image/png"}
        assert dangers(output.get("data", {}).get("text/html", "")) == []


def test_a_forged_verdict_is_sanitised_and_stays_in_its_frame(pages):
    html = pages["everyday"]
    assert dangers(html) == [] and "99 of 99" in html
    assert "-900px" not in html and "9000px" not in html
    excerpt = html[html.index("100 of 100 points") - 300 :]
    assert '<div class="output frame">' in excerpt
    assert ".frame { overflow: auto; contain: content;" in html


def test_what_is_too_much_to_draw_is_cut_plain_text(course, monkeypatch):
    _, draw = Page.__init__.__defaults__
    allowance = Allowance(cell_characters=100_000)
    monkeypatch.setattr(Page.__init__, "__defaults__", (allowance, draw))
    lines = "\n" * 50_000
    outputs = [
        display(text_html="<div>" * 40_000),
        v4.new_output("error", ename="E", evalue=lines, traceback=[lines]),
        v4.new_output("stream", text="\x1b[" * 300_000),
    ]
    html = page(course, solve_release(course, double="\n " * 4_000), outputs)
    assert "This is shown as plain text" in html and html.count("<div>") < 1_000


# --- nobody's secrets ----------------------------------------------------------------


def test_hidden_tests_are_never_shown_not_even_when_printed(pages):
    html = pages["prints"]
    assert "HIDDEN" not in html and "-3" not in html and "-9" not in html
    assert html.count("[hidden test]") == 4
    html = pages["marks"]  # of a student's own
    assert "BEGIN HIDDEN TESTS" in html and "2 of 2 points" in html


def test_a_hidden_test_of_a_few_letters_is_removed_and_redacts_nothing():
    test = v4.new_code_cell(
        "### BEGIN HIDDEN TESTS\nassert f(2)\n### END HIDDEN TESTS",
        outputs=[v4.new_output("stream", text="assert f(2)")],
    )
    test.metadata["nbgrader"] = {"grade": True, "grade_id": "a", "solution": False}
    nb, _ = feedback.HideTests().preprocess(v4.new_notebook(cells=[test]), {})
    assert nb.cells[0].source == "" and nb.cells[0].outputs[0].text == "assert f(2)"


def test_tracebacks_keep_the_students_frames_and_lose_all_others():
    function_cell = v4.new_code_cell("def f(): ...", execution_count=2)
    test = v4.new_code_cell("assert f()", execution_count=3)
    test.metadata["nbgrader"] = {"grade": True, "grade_id": "a", "solution": False}
    text = [
        "\x1b[31m-----\x1b[39m",
        "ValueError        Traceback (most recent call last)",
        "Cell In[3], line 2\n      1 secret_test(f)\n----> 2 other()\n",
        "Cell In[2], line 1, in f(x)\n----> 1 raise ValueError('no')\n",
        "File /course/autograder/x.py:3, in g()\n      3 ours()\n",
        "ValueError: no",
    ]
    error = v4.new_output("error", ename="ValueError", evalue="no", traceback=text)
    test.outputs = [error]
    nb = v4.new_notebook(cells=[function_cell, test])
    feedback.TrimTracebacks().preprocess(nb, {})
    traceback = "\n".join(test.outputs[0].traceback)
    assert "raise ValueError('no')" in traceback
    assert traceback.endswith("ValueError: no")
    assert not any(word in traceback for word in ("secret_test", "/course/", "ours"))


def test_nothing_but_the_page_is_in_the_feedback_folder(graded):
    names = sorted(p.name for p in (graded[0] / "feedback/late" / UNIT).iterdir())
    assert names == [f"{UNIT}.html", "timestamp.txt"]


def test_the_page_opens_with_a_table_and_folds_what_lost_nothing(pages):
    html = pages["wrong"]
    top = html[: html.index("</table>")]
    assert '<a href="#numbers-triple">numbers-triple</a>' in top
    assert top.index("✓") < top.index("numbers-double") < top.index("✗")
    assert '<details class="cell exercise" id="numbers-double">' in html
    assert '<details class="cell exercise" open id="numbers-triple">' in html
    assert html.count("<details") == html.count("</details>")
    text = html.index("We double, then we triple.")
    assert html.rindex("<details", 0, text) == html.index('<details class="course">')


def test_an_answer_stands_beside_its_check_and_what_was_not_tried_is_a_row(pages):
    html = pages["untried"]
    pair = html[html.index('id="numbers-double"') :]
    assert pair.index("a panel") < pair.index("return") < pair.index("</details>")
    assert html.count('<div class="pair">') == 2
    row = html[html.index('<tr class="untried">') : html.index("</table>")]
    assert "<span>numbers-why</span>" in row and "not tried" in row
    assert ">0 of 4<" in row
    assert "YOUR ANSWER" not in html and "Comment:" not in html


def test_the_table_has_numbers_fixed_widths_and_a_link_to_what_is_next(
    course, pages, monkeypatch
):
    numbers = {"numbers/double": "1.1", "numbers/triple": "1.2"}
    numbers_path = "autograder.grading.checks.reference_metadata.numbers"
    monkeypatch.setattr(numbers_path, lambda unit: numbers if unit == "numbers" else {})
    html = page(course, solve_release(course, triple="def triple(x):\n    return x"))
    top = html[html.index("<body>") : html.index("</table>")]
    link = '<a href="#numbers-triple">1.2 numbers-triple</a>'
    assert f"<p><strong>Next: {link}.</strong></p>" in top
    assert ">1.1 numbers-double</a>" in top
    columns = top.count("<col ") + top.count("<col>")
    row = top[top.rindex("<tr>") :]
    assert columns == row.count("<td") == 4 and "table-layout: fixed" in html
    assert "Next: " not in pages["everyday"]


def test_the_table_says_in_which_aspect_points_were_lost(pages):
    lost = "Points lost: 2 of 3 for values, 1 of 1 for repeated calls."
    assert lost in pages["wrong"][: pages["wrong"].index("</table>")]
    assert "Points lost" not in pages["full"], "all points are there"


@pytest.mark.parametrize("tell", ["points", "cases", "panels"])
def test_a_page_before_the_deadline_tells_what_the_setting_names(tell, monkeypatch):
    monkeypatch.setattr("autograder.grading.feedback.tell._is_over", lambda _: False)
    record = Verdict(
        "n/e", 1.0, 4.0, says="You tripled.", panel="You tripled.",
        cases=(CaseVerdict("a", "a vector", "values", True),),
        aspects={"values": [1.0, 3.0], "calls": [0.0, 1.0]},
    )  # fmt: skip
    notebook = v4.new_notebook()
    GradingMetadata({"e": record}).store_in(notebook)
    notebook.cells = [v4.new_code_cell(metadata={"nbgrader": {"grade_id": "e"}})]
    told, resources = feedback.Tell(tell=tell).preprocess(notebook, {"nbgrader": {}})
    text = str((told.cells, GradingMetadata.of_run(told, resources)))
    assert ("values" in text) == ("a vector" in text) == (tell != "points")
    assert ("You tripled." in text) == (tell == "panels")


def test_a_page_says_its_language(monkeypatch):
    """A screen reader reads a German notebook in German."""
    monkeypatch.setattr(exporter, "language", lambda: "de")
    resources = exporter.FeedbackExporter()._init_resources({})
    assert resources["language"] == "de"
    page = (exporter.TEMPLATES / "course_feedback" / "index.html.j2").read_text("utf-8")
    assert '<html lang="{{ resources.language }}">' in page
