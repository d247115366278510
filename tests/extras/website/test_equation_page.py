"""The page of equations has each equation of a unit once, and no code."""

from __future__ import annotations

from nbformat import v4

from autograder.course import units
from autograder.extras.website import equation_page

TEXT = """\
$$\\frac{a}
{b}$$
Costs \\$5, and `$HOME` is no equation, but $x_1$ is, and so are $y$ and $x_1$.
```text
$z$
```
"""


def test_each_equation_is_there_once_and_code_is_not():
    unit = units()[0]
    cells = [v4.new_markdown_cell(TEXT), v4.new_code_cell("'$w$'")]
    text = equation_page.page([(unit, "1 · First", cells)])
    assert f"## [1 · First]({unit.label})" in text
    assert "$$\n\\frac{a} {b}\n$$" in text and "$x_1$ &emsp; $y$" in text
    assert text.count("x_1") == 1
    assert not any(name in text for name in ("HOME", "5", "$z$", "$w$"))


def test_a_unit_without_equations_has_no_heading():
    cells = [v4.new_markdown_cell("None.")]
    assert "##" not in equation_page.page([(units()[0], "1 · First", cells)])
