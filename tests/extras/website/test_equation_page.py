"""The page of equations has a section's tall equations once, beside a link to it."""

from __future__ import annotations

from nbformat import v4

from autograder.course import units
from autograder.extras.website import equation_page

TEXT = """\
$$\\frac{a}
{b}$$
## 2. Why divide by $\\sqrt{d}$? `x`
Costs \\$5, and `$HOME` is no equation; $x_1$ is too small to be listed, and $\\sumx$
too, but $1 / \\sqrt{d}$, $\\frac12$ and again $1 / \\sqrt{d}$ are not. $$y = x$$
```text
## $\\sqrt{z}$
```
"""


def list_text() -> str:
    cells = [v4.new_markdown_cell(TEXT), v4.new_code_cell("'$\\sqrt{w}$'")]
    return equation_page.page([(units()[0], "1 · First", cells)])


def test_equations_stand_beside_their_section_and_code_is_none():
    label, text = units()[0].label, list_text()
    assert f"## [1 · First]({label})" in text
    link = f"[2. Why divide by $\\sqrt{{d}}$? `x`]({label}.ipynb#2-why-divide-by--x)"
    before, after = text.split(link)
    assert "$$\n\\frac{a} {b}\n$$" in before
    assert "$$\ny = x\n$$\n\n$1 / \\sqrt{d}$ &emsp; $\\frac12$" in after
    assert not any(name in text for name in ("HOME", "5", "{z}", "{w}"))


def test_an_equation_of_one_line_is_listed_only_if_it_has_a_line_of_its_own():
    text = list_text()
    assert "x_1" not in text and "sumx" not in text and "y = x" in text


def test_a_unit_without_equations_has_no_heading():
    cells = [v4.new_markdown_cell("None.")]
    assert "##" not in equation_page.page([(units()[0], "1 · First", cells)])
