"""A Sphinx extension for equations as MathML, which browsers render without scripts."""

from __future__ import annotations

from typing import Any

from docutils import nodes

from autograder.grading.rendering.equations import equation


def _inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(equation(node.astext()))
    raise nodes.SkipNode


def _display(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(
        f'<div class="equation">{equation(node.astext(), display=True)}</div>\n'
    )
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, Any]:
    """Register the renderer for ``html_math_renderer = "mathml"``, for Sphinx."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
