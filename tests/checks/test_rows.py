"""Which cases are told together, and whose words are marked up."""

from dataclasses import replace

from autograder.checks.exercise import RAISED, CaseResult, CheckResult, Finding
from autograder.checks.panel import as_html
from autograder.checks.rows import inline, rows


def test_text_of_a_sentence_is_escaped_but_for_code_and_emphasis():
    text = inline("Use `a*b*c` in the *next* step, where x <b> y.")
    assert text == (
        "Use <code>a*b*c</code> in the <em>next</em> step, where x &lt;b&gt; y."
    )


def test_cases_that_fail_in_the_same_way_are_one_row(doubling):
    def list_rows(*problems: tuple[str, str]) -> list[str]:
        results = tuple(
            CaseResult(
                replace(doubling.cases[0], name=f"c{place}", title=f"case {place}"),
                {}, (Finding(name, problem),), float(not problem),
            )
            for place, (name, problem) in enumerate(problems)
        )  # fmt: skip
        verdict = CheckResult("u/e", "E", 0.0, 4.0, results)
        html = as_html(verdict)
        assert html.count("<details") == html.count("</details>") > 0
        return [row.title for row in rows(verdict)]

    wrong, misshapen, fine = ("out", "values"), ("out", "shape"), ("out", "")
    assert list_rows(wrong, wrong, fine, wrong, fine) == [
        "3 cases fail in the same way (first: case 0)", "2 other cases pass",
    ]  # fmt: skip
    assert list_rows(wrong, misshapen, fine) == ["case 0", "case 1", "case 2"]
    relabelled = ("out · with other numbers", "values")
    first, *_ = list_rows(wrong, relabelled)
    assert first == "2 cases fail in the same way (first: case 0)"


def test_errors_are_alike_if_they_arise_in_the_same_line(doubling):
    def list_rows(*messages: str) -> list[str]:
        named = [(replace(doubling.cases[0], name=error), error) for error in messages]
        results = tuple(
            CaseResult(case, {}, (Finding("", RAISED, error),), 0.0)
            for case, error in named
        )
        return [row.title for row in rows(CheckResult("u/e", "E", 0.0, 4.0, results))]

    sizes = [f"RuntimeError: sizes {n} and 3\nin your line 2: q @ k" for n in (5, 7)]
    (row,) = list_rows(*sizes)
    assert row == "2 cases fail in the same way (first: plain)"
    lists = [f"expected x to be a tensor, got a list of {n}" for n in (4, 7)]
    assert len(list_rows(*lists)) == 1
    assert len(list_rows(*sizes, "RuntimeError: sizes\nin your line 3: q + k")) == 2
