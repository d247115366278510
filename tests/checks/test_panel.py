"""A verdict as a panel: small, complete, and silent on what is hidden."""

import re
from dataclasses import replace

import torch

from autograder import check
from autograder.checks import references
from autograder.checks.boxes import DARK_ORANGE, ORANGE, visible_words
from autograder.checks.compare import compare, judge
from autograder.checks.diagnostics.symptoms import SEEN
from autograder.checks.exercise import (
    RAISED,
    Case,
    CaseResult,
    CheckResult,
    Finding,
    Mistake,
)
from autograder.checks.next_step import Link, NextStep
from autograder.checks.panel import WORDS, as_html, as_text, draw_pictures
from tests.checks.scaled import NAME, unscaled
from tests.conftest import row
from transformer_course.solutions import attention


def test_a_panel_needs_nothing_of_the_program_that_shows_it():
    """JupyterLab, Colab, VS Code: no script, no style sheet, no file."""
    html = check(NAME, unscaled)._repr_html_() + check.summary()._repr_html_()
    markup = html.replace("http://www.w3.org/2000/svg", "")
    foreign = r"<(?:script|style|link|img)|<[^>]* (?:class|on\w+)="
    assert (
        not re.findall(foreign, markup)
        and "var(--" not in markup
        and "http" not in markup
    )


def test_a_right_answer_is_one_line_that_opens():
    verdict = check(NAME, attention.scaled_dot_product_attention)
    count = len({result.case.name for result in verdict.results})
    message = f"All {count} cases pass. Next: Exercise 2.5."
    follows = NextStep(Link("Exercise 2.5", "a.ipynb#cell-id=b"))
    panel = replace(verdict, next_step=follows)
    first, *details = str(panel).splitlines()
    assert first.endswith("28 of 28 points") and details == [f"  ✓ {message}"]
    html = panel._repr_html_()
    summary, inside = html.split("</summary>")
    assert html.count("<details") == 1 and f"All {count} cases pass." in summary
    assert '<a href="a.ipynb#cell-id=b"' in summary and verdict.title not in summary
    assert inside.count("✓") == count


def test_a_student_s_code_is_shown_letter_by_letter(doubling):
    error = "ValueError: 10**7 or *more*\nin your line 2: x = zeros(10**7, 10**6) < `a`"
    result = CaseResult(doubling.cases[0], {}, (Finding("", RAISED, error),), 0.0)
    html = as_html(CheckResult("u/e", "E", 0.0, 4.0, (result,)))
    assert "10**7 or *more*" in html and "<em>" not in html
    assert "<code>x = zeros(10**7, 10**6) &lt; `a`</code>" in html
    text = Finding("words", "values", "expected 'a*b*c', yours 'a*c*b'")
    result = replace(result, findings=(text,))
    html = as_html(CheckResult("u/e", "E", 0.0, 4.0, (result,)))
    assert "expected &#x27;a*b*c&#x27;, yours &#x27;a*c*b&#x27;" in html


def test_hidden_cases_show_neither_inputs_nor_numbers():
    """Also where the visible cases pass, so that the hidden one is the one on show."""
    stored = references.load("attention", "hidden")[NAME]
    secret = stored.cases[0].inputs["q"]

    def wrong_on_the_secret_case(q, *rest, **options):
        output, weights = attention.scaled_dot_product_attention(q, *rest, **options)
        is_secret = q.shape == secret.shape and q.detach().equal(secret)
        return output + (0.123 if is_secret else 0), weights

    verdict = check.hidden(NAME, wrong_on_the_secret_case)
    assert 0 < verdict.points < verdict.max_points
    text = str(verdict) + verdict._repr_html_()
    assert "(hidden)" in text and "output: wrong values" in text
    assert "expected" not in text and "svg" not in text


def test_a_panel_stays_small_and_keeps_its_first_picture():
    def zeros(q, k, v, mask=None):
        lead = q.shape[:-1]
        return torch.zeros(*lead, v.size(-1)), torch.zeros(*lead, k.size(-2))

    html = check(NAME, zeros)._repr_html_()
    assert html.count("<details") > 5 and "<svg" in html
    assert len(html.encode()) < 60 * 1024


def test_a_panel_has_few_words_before_anything_is_unfolded(monkeypatch):
    def over_the_second(q, k, v, mask=None):
        """Wrong in most cases, in several ways."""
        scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = scores.softmax(1)
        return weights @ v, weights

    verdict = check(NAME, over_the_second)
    html = as_html(verdict)
    assert 60 < visible_words(html) <= WORDS and "the other cases</summary>" in html
    monkeypatch.setattr("autograder.checks.panel.WORDS", 1000)
    everything = as_html(verdict)
    assert visible_words(everything) > WORDS
    assert set(re.findall(r"\w+", html)) >= set(re.findall(r"\w+", everything))


def test_the_smallest_input_that_fails_comes_first_and_the_cases_are_folded(doubling):
    x, wrong = row(1.0), row(7.0)
    case = Case("small 1", "", "", {"x": x}, {"twice": 2 * x})
    verdict = judge(doubling, doubling.cases, lambda case: {"twice": row(7, 7, 7)})
    smallest = compare(case, {"twice": wrong})
    verdict = replace(verdict, smallest=smallest, mistake=None)
    html, text = as_html(verdict), as_text(verdict)
    evidence = html.partition("<details")[0]
    assert "x = [1.0]" in evidence and ">2<" in evidence and ">7<" in evidence
    assert "Work out a small input by hand" in evidence
    assert "<details open" not in " ".join(re.findall("<details[^>]*>", html))
    assert text.index("x = [1.0]") < text.index("✗")
    named = replace(verdict, mistake=Mistake("m", "You did m.", "Did you?"), sure=True)
    lead = as_html(named).partition("<details")[0]
    assert "by hand" not in lead, "the mistake's question is the hint"


def test_two_mistakes_in_many_words_leave_no_case_open(doubling):
    verdict = judge(doubling, doubling.cases, lambda case: {"twice": row(7, 7, 7)})
    mistake = Mistake("m", "You did this. " * 25, "Did you do that? " * 8)
    html = as_html(replace(verdict, mistake=mistake))
    assert visible_words(html) <= WORDS and "<details open" not in html


def test_where_points_were_lost_is_folded():
    def blind_to_masks(q, k, v, mask=None):
        return attention.scaled_dot_product_attention(q, k, v)

    html = as_html(check(NAME, blind_to_masks))
    summary, inside = html.split("Points lost</summary>")
    assert "for masks" not in summary and "for masks" in inside
    assert summary.rpartition("<details")[2].count("open") == 0


def test_pictures_are_the_same_under_another_explanation():
    verdict = check(NAME, unscaled)
    assert verdict.mistake is not None
    unnamed = replace(verdict, mistake=None)
    for explained in (verdict, unnamed):
        assert as_html(explained, draw_pictures(unnamed)) == as_html(explained)


def test_a_case_is_listed_once_by_a_drawing_that_failed(doubling):
    visible = doubling.cases[0]
    right = CaseResult(visible, {}, (), 1.0)
    wrong = CaseResult(visible, {}, (Finding("twice", "shape", "3 instead of 2"),), 0.0)
    verdict = CheckResult("u/e", "E", 0.0, 4.0, (right, wrong))
    assert as_text(verdict).splitlines()[1:] == [
        "  ✗ plain",
        "      twice: 3 instead of 2",
        "      No known mistake fits. Work out a small input by hand, and compare each "
        "step with your code.",
    ]


def test_of_many_findings_two_are_told_and_the_others_named(doubling):
    findings = tuple(Finding(name, "values", f"{name} differs") for name in "abcd")
    result = CaseResult(doubling.cases[0], {}, findings, 0.0)
    text = as_text(CheckResult("u/e", "E", 0.0, 4.0, (result,)))
    assert "a: a differs" in text and "b: b differs" in text
    assert "c differs" not in text and "also wrong: c; d" in text


def test_the_hint_of_a_property_is_told_where_nothing_else_is_wrong(doubling):
    usual = doubling.cases[0]
    general = replace(usual, name="views", hint="Other memory.", says="All but views.")
    wrong = (Finding("twice", "shape", "3 instead of 2"),)

    def render_text(credit: float) -> str:
        results = (
            CaseResult(usual, {}, () if credit else wrong, credit),
            CaseResult(general, {}, wrong, 0.0),
        )
        return as_text(CheckResult("u/e", "E", 0.0, 4.0, results))

    assert "Other memory." in render_text(1.0)
    assert "Other memory." not in render_text(0.0)


def test_lines_of_an_error_are_no_lines_of_the_verdict():
    forged = "ValueError: no\nE: 4 of 4 points\n  ✓ a case"
    case = references.load("attention")[NAME].cases[0]
    result = CaseResult(case, {}, (Finding("", RAISED, forged),), 0.0)
    text = as_text(CheckResult("u/e", "E", 0.0, 4.0, (result,)))
    first, *later_lines = text.splitlines()
    assert first == "E: 0 of 4 points" and later_lines[0].startswith("  ✗ ")
    assert all(line.startswith("      ") for line in later_lines[1:])


def test_a_hint_says_what_sets_a_case_apart(doubling):
    usual = doubling.cases[0]
    cases = [replace(usual, name=n, title=n, hint=f"Only {n}?") for n in "abcd"]

    def list_hints(*wrong: str, mistake: Mistake | None = None) -> list[str]:
        findings = {n: (Finding(n, "values", n),) for n in wrong}  # each in its own way
        results = tuple(
            CaseResult(c, {}, findings.get(c.name, ()), float(c.name not in findings))
            for c in cases
        )
        text = as_text(CheckResult("u/e", "E", 0.0, 4.0, results, mistake))
        return [c.name for c in cases if c.hint in text]

    assert list_hints("b", "d") == ["b", "d"]
    assert list_hints("b", "c", "d") == [], "what they share is no hint of b's"
    diagnosis = Mistake(SEEN, "The dtype is float64.", "Why?")
    assert list_hints("b", "d", mistake=diagnosis) == ["b", "d"]
    assert list_hints("b", "c", "d", mistake=diagnosis) == []


def test_what_earns_some_of_the_points_is_progress_and_no_failure():
    case = Case("m", "fresh", "", {}, {}, measure="exact_match")
    for share, sign in ((0.0, "✗"), (0.6, "◐"), (1.0, "✓")):
        result = CaseResult(case, {}, (Finding("m", "", "60 of 100"),), share)
        verdict = CheckResult("u/e", "E", 4 * share, 4.0, (result,))
        html, text = as_html(verdict), as_text(verdict)
        signs = {mark for mark in "✗◐✓" if mark in html or mark in text}
        assert signs == {sign}
        assert (ORANGE in html or DARK_ORANGE in html) == (sign == "✗")
