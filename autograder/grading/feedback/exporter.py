"""Export the feedback page, without scripts or requests, whatever a notebook holds."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.exporters import HTMLExporter
from nbconvert.exporters.templateexporter import TemplateExporter
from nbformat import NotebookNode
from pygments.formatters import HtmlFormatter
from traitlets.config import Config

from autograder.course.language import language
from autograder.grading.feedback.outputs import is_verdict
from autograder.grading.rendering import Page
from autograder.grading.rendering.equations import font_rules

TEMPLATES = Path(__file__).parents[1] / "templates"


@pass_context
def markdown2html(context: Context, source: str) -> str:
    """Render Markdown as safe HTML: a filter for ``c.HTMLExporter.filters``."""
    attachments = context.get("cell", {}).get("attachments")
    return Page().render("markdown", source, attachments=attachments)


class FeedbackExporter(HTMLExporter):
    """Exports a page without scripts or requests, whatever HTMLExporter's settings."""

    def __init__(self, config: Config | None = None, **options: Any):
        """Use the course's own template, whatever the settings say."""
        ours = {
            "template_name": "course_feedback",
            "extra_template_basedirs": [str(TEMPLATES)],
        }
        config = copy.deepcopy(config) if config else Config()
        config.merge({"FeedbackExporter": ours})
        self._page = Page()
        super().__init__(config=config, **options)  # type: ignore[no-untyped-call]

    def default_filters(self) -> Iterator[tuple[str, Any]]:
        """Yield (name, function) of nbconvert's filters and of our template's own."""
        from autograder.checks.rows import inline  # imports PyTorch

        yield from super().default_filters()  # type: ignore[no-untyped-call]
        yield "draw_text", self._text
        # No `_next` here: outputs belong to the same cell as the code before them.
        yield "draw_code", lambda cell: self._next().render("code", cell.source)
        yield "draw_terminal", lambda text: self._page.render("terminal", text)
        yield "draw_comment", lambda text: self._next().render("markdown", text)
        yield "is_judged", lambda cell: any(map(is_verdict, cell.outputs))
        yield "inline", inline
        yield "number", lambda value: f"{round(float(value), 2):g}"

    def from_notebook_node(
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **options: Any
    ) -> tuple[Any, dict[str, Any]]:
        """Export a notebook as a page; return its HTML and the resources."""
        self._page = Page()
        # Not HTMLExporter's method, which parses the page again and changes it.
        page, resources = TemplateExporter.from_notebook_node(
            self, nb, self._init_resources(resources), **options
        )
        # The font is large, so only pages with an equation carry it.
        if "<math" in page:
            page = page.replace("<style>", f"<style>\n{font_rules()}", 1)
        return page, resources

    def _text(self, cell: NotebookNode) -> str:
        """Render the Markdown of the next cell."""
        attachments = cell.get("attachments")
        return self._next().render("markdown", cell.source, attachments=attachments)

    def _next(self) -> Page:
        """Return the page's renderer, and let the next cell take its own share of the
        page.
        """
        self._page.next_cell()
        return self._page

    def _init_resources(self, resources: dict[str, Any] | None) -> dict[str, Any]:
        """Add the course's language and the styles of code to nbconvert's resources."""
        extended: dict[str, Any]
        extended = super()._init_resources(resources)  # type: ignore[no-untyped-call]
        extended["language"] = language()
        extended["code_styles"] = {
            "light": HtmlFormatter(style="default").get_style_defs(".highlight"),
            "dark": HtmlFormatter(style="github-dark").get_style_defs(".highlight"),
        }
        return extended
