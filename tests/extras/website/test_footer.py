"""The footer says what pyproject.toml states, and nothing else."""

from __future__ import annotations

import pytest

from autograder.extras.website import footer

STATED = """\
[project]
name = "no-such-course"
authors = [{name = "Ada & Alan"}, {email = "x@example.org"}]
version = "2.1"
license = "MIT AND CC-BY-4.0"

[project.urls]
"Report a mistake" = "https://example.org/issues"
"""


@pytest.mark.parametrize(
    ("text", "footer_html"),
    [
        (
            STATED,
            "Ada &amp; Alan · version 2.1 · licence: MIT and CC-BY-4.0 · "
            '<a href="https://example.org/issues">Report a mistake</a>',
        ),
        ('[project]\nname = "no-such-course"\ndynamic = ["version"]\n', ""),
        ('[project]\nname = "x"\nlicense = {file = "LICENSE"}\n', ""),
        ('[project]\nname = "pytest"\ndynamic = ["version"]\n', pytest.__version__),
        ("", ""),
    ],
)
def test_only_what_is_stated_is_said(text, footer_html, tmp_path, monkeypatch):
    monkeypatch.setattr(footer, "ROOT", tmp_path)
    (tmp_path / "pyproject.toml").write_text(text)
    assert footer.html().removeprefix("version ") == footer_html


def test_a_course_without_pyproject_has_no_footer(tmp_path, monkeypatch):
    monkeypatch.setattr(footer, "ROOT", tmp_path)
    assert footer.html() == ""
