"""Equations of the website are MathML, inline and on lines of their own."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

nodes = pytest.importorskip("docutils.nodes", reason="comes with '.[site]'")


@pytest.fixture
def render_math():
    """What the extension draws of a node, as Sphinx would ask it."""
    from autograder.extras.website import sphinx_math

    offered = {}
    app = SimpleNamespace(
        add_html_math_renderer=lambda name, inline, block: offered.update(
            {name: (inline[0], block[0])}
        )
    )
    assert sphinx_math.setup(app)["parallel_read_safe"]

    def draw(node, block: bool) -> str:
        translator = SimpleNamespace(body=[])
        with pytest.raises(nodes.SkipNode):  # Sphinx draws nothing more of it
            offered["mathml"][block](translator, node)
        return "".join(translator.body)

    return draw


def test_an_equation_stands_in_its_line_or_on_its_own(render_math):
    inline = render_math(nodes.math("", "x^2"), block=False)
    assert inline.startswith("<math") and 'display="inline"' in inline
    block = render_math(nodes.math_block("", "x^2"), block=True)
    assert block.startswith("<div") and 'display="block"' in block


def test_no_equation_needs_a_script_or_is_markup_of_its_own(render_math):
    for text in ("x < y", "<script>", r"\frac{"):
        markup = render_math(nodes.math("", text), block=False)
        assert "<script" not in markup
