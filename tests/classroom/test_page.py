"""Pages believe no text, and say so where a value is missing."""

from __future__ import annotations

import pytest
from jinja2 import UndefinedError

from autograder.classroom import page
from transformer_course.leaderboard import TEMPLATES
from transformer_course.leaderboard.leaderboard import Entry


def test_what_checks_say_keeps_its_code_and_its_emphasis():
    text = page.code("Use `a*b*c` and the *future* <b>, 2 * 3 * 4")
    assert text == (
        "Use <code>a*b*c</code> and the <em>future</em> &lt;b&gt;, 2 * 3 * 4"
    )


def test_what_is_put_into_a_template_stays_text():
    html = page.render(
        "leaderboard.html.j2",
        "06_<unit>",
        folder=TEMPLATES,
        boards=[("<b>", [Entry("<script>x</script>", 12.5, {"case": 0.25})])],
        abilities=["case"],
    )
    assert "<script" not in html and "&lt;script&gt;x" in html
    assert "06_&lt;unit&gt;" in html and "12.5" in html and "25%" in html


def test_a_value_that_is_missing_is_no_empty_page():
    with pytest.raises(UndefinedError, match="boards"):
        page.render("leaderboard.html.j2", "06_text_recovery", folder=TEMPLATES)
