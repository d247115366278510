"""What a student reads of a graded notebook: scores, panels, and nobody's scripts.

nbgrader's ``generate_feedback`` runs the preprocessors of this file and writes the page
with ``FeedbackExporter``. ``CleanOutputs`` also runs at the end of grading, and
``markdown2html`` is the formgrader's filter too, so that an instructor's browser gets
nothing else.

HTML is sanitised by nh3, the Python face of the Rust library ammonia: it parses as
browsers do, knows MathML and style properties, and is kept up; bleach, which nbconvert
has, is no longer developed. Equations become MathML by latex2mathml, which browsers
draw without any script or font from elsewhere.
"""

from __future__ import annotations

import base64
import binascii
import copy
import html
import itertools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import latex2mathml.converter
import nh3
from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.exporters import HTMLExporter
from nbconvert.filters import strip_ansi
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from nbgrader.api import Gradebook, SubmittedNotebook
from nbgrader.preprocessors import ClearHiddenTests, GetGrades
from nbgrader.utils import is_grade, is_solution
from pygments.formatters import HtmlFormatter
from traitlets import List
from traitlets.config import Config

KEY = "autograder"
TEMPLATES = Path(__file__).parent / "templates"

# --- sanitising ----------------------------------------------------------------------


def _words(text: str) -> set[str]:
    return set(text.split())


_MATH = _words(
    """math mrow mi mn mo ms mtext mspace mfrac msqrt mroot msub msup msubsup munder
    mover munderover mtable mtr mtd mstyle mpadded mphantom"""
)
_MATH_ATTRIBUTES = _words(
    """display mathvariant stretchy fence separator form accent accentunder columnalign
    rowspacing columnspacing linethickness displaystyle scriptlevel width height depth
    lspace rspace minsize maxsize movablelimits largeop symmetric"""
)
_ATTRIBUTES = {
    "*": {"style", "title", "dir", "lang"},
    "a": {"href"},
    "img": {"src", "alt", "width", "height"},
    "details": {"open"},
    "ol": {"start"},
    **{cell: {"colspan", "rowspan", "align"} for cell in ("td", "th")},
    **{tag: _MATH_ATTRIBUTES for tag in _MATH},
}
_STYLES = _words(
    """color background-color font-size font-style font-weight font-family text-align
    text-decoration white-space width height max-width max-height min-width min-height
    margin margin-left margin-right margin-top margin-bottom padding padding-left
    padding-right padding-top padding-bottom border border-left border-right border-top
    border-bottom border-color border-radius border-collapse display vertical-align
    line-height opacity"""
)
_PICTURE = re.compile(
    r"data:image/(?:png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=\s]+"
)
_LINK = re.compile(r"(?:https?://|mailto:|#)", re.IGNORECASE)


def _attribute(tag: str, name: str, value: str) -> str | None:
    if name == "src":
        return value if _PICTURE.fullmatch(value) else None
    if name == "href":
        return value if _LINK.match(value) else None
    if name == "style" and re.search(r"[\\(@<]", re.sub(r"rgba?\(", "", value)):
        return None
    return value


_CLEANER = nh3.Cleaner(
    tags=(nh3.ALLOWED_TAGS - {"area", "map", "nav"}) | _MATH,
    clean_content_tags={"script", "style", "iframe", "object", "template", "noscript"},
    attributes=_ATTRIBUTES,
    attribute_filter=_attribute,
    filter_style_properties=_STYLES,
    url_schemes={"http", "https", "mailto", "data"},
)


def clean_html(text: str) -> str:
    """HTML of anybody as harmless HTML: no script, no request, no form, no frame."""
    return _CLEANER.clean(text)


# --- markdown and equations ----------------------------------------------------------

_LONGEST_EQUATION, _LONGEST_TEXT = 2000, 50_000
_MOST_ENVIRONMENTS = 100  # the search for the end of each reads all that follows


def equation(tex: str, display: bool = False) -> str:
    """An equation as MathML; one that cannot be read stays as it was written."""
    delimiter = "$$" if display else "$"
    plain = f"<code>{html.escape(delimiter + tex + delimiter)}</code>"
    if len(tex) > _LONGEST_EQUATION:
        return plain
    # latex2mathml knows `split`, which is the same inside an equation.
    tex = re.sub(r"\\(begin|end)\{aligned\}", r"\\\1{split}", tex.strip())
    try:
        kind = "block" if display else "inline"
        return latex2mathml.converter.convert(tex, display=kind)
    except Exception:  # its errors have no common class, and some are IndexError
        return plain


class _Renderer(IPythonRenderer):
    """nbconvert's markdown with equations as MathML and no anchors."""

    def block_math(self, body: str) -> str:
        return equation(body, display=True)

    def latex_environment(self, name: str, body: str) -> str:
        return equation(f"\\begin{{{name}}}{body}\\end{{{name}}}", display=True)

    def inline_math(self, body: str) -> str:
        return equation(body)

    def _embed_image_or_attachment(self, src: str) -> str:
        name = src.removeprefix("attachment:")
        for kind, data in self.attachments.get(name, {}).items():
            return f"data:{kind};base64,{data}"
        return src


def markdown(source: str, attachments: Mapping | None = None) -> str:
    """Markdown of anybody as harmless HTML with equations."""
    environments = source.count("\\begin")
    if len(source) > _LONGEST_TEXT or environments > _MOST_ENVIRONMENTS:
        return f"<pre>{html.escape(source)}</pre>"
    renderer = _Renderer(
        escape=False, exclude_anchor_links=True, attachments=dict(attachments or {})
    )
    try:
        rendered = MarkdownWithMath(renderer=renderer).render(source)
    except Exception:  # text that a parser of anybody's text cannot bear
        rendered = f"<pre>{html.escape(source)}</pre>"
    return clean_html(rendered)


@pass_context
def markdown2html(context: Context, source: str) -> str:
    """The template filter of this name, for ``c.HTMLExporter.filters``."""
    return markdown(source, context.get("cell", {}).get("attachments"))


# --- outputs -------------------------------------------------------------------------

_RASTER = ("image/png", "image/jpeg", "image/gif", "image/webp")
_NOTHING = {"text/plain": "[an output that cannot be shown here]"}


class CleanOutputs(Preprocessor):
    """Sanitise all outputs but the verdicts that the trusted side put there.

    Only a check that was decided outside has such an output: its marker is not enough,
    since a student's output could carry one.
    """

    enabled = True

    def preprocess(self, nb: NotebookNode, resources: dict):
        checks = nb.metadata.get(KEY, {}).get("checks", {})
        for cell in nb.cells:
            if cell.cell_type == "code":
                trusted = _is_outside(cell, checks)
                cell.outputs = [clean_output(o, trusted) for o in cell.outputs]
        return nb, resources


def _is_outside(cell: NotebookNode, checks: Mapping) -> bool:
    grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
    return is_grade(cell) and checks.get(grade_id, {}).get("decided") == "outside"


def is_verdict(output: NotebookNode) -> bool:
    """Whether an output that passed ``CleanOutputs`` is a verdict."""
    return output.get("metadata", {}).get(KEY) == "verdict"


def clean_output(output: NotebookNode, trusted: bool = False) -> NotebookNode:
    """An output without anything that a browser would run or fetch."""
    if trusted and is_verdict(output):
        return output
    output = copy.deepcopy(output)
    if output.output_type == "stream":
        output.text = _string(output.get("text"))
    elif output.output_type == "error":
        output.traceback = [_string(line) for line in output.get("traceback", [])]
        output.ename, output.evalue = map(_string, (output.ename, output.evalue))
    else:
        data = dict(_clean_data(output.get("data", {})))
        output.data = NotebookNode(data or _NOTHING)
        output.metadata = NotebookNode()
    return output


def _string(value: object) -> str:
    if isinstance(value, list):
        value = "".join(map(_string, value))
    text = value if isinstance(value, str) else ""
    return text.encode("utf-8", "replace").decode()  # no file holds half a character


def _clean_data(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The kinds of data that can be shown; those with code in them made harmless."""
    rich = ""
    for kind, read in _READERS.items():
        if not rich and kind in data:
            rich = read(_string(data[kind]))
    if rich.strip():
        yield "text/html", rich
    for kind in _RASTER:
        if kind in data and (picture := _picture(_string(data[kind]))):
            yield kind, picture
    if "text/plain" in data:
        yield "text/plain", _string(data["text/plain"])


def _tex(text: str) -> str:
    stripped = text.strip()
    return equation(stripped.strip("$"), display=stripped.startswith("$$"))


def _drawing(svg: str) -> str:
    """SVG as a picture: browsers run and fetch nothing inside of one."""
    data = base64.b64encode(svg.encode()).decode()
    return f'<img alt="drawing" src="data:image/svg+xml;base64,{data}">'


def _picture(text: str) -> str:
    """Base64 data, written anew; "" if it is none."""
    try:
        return base64.b64encode(base64.b64decode(text)).decode()
    except (binascii.Error, ValueError):
        return ""


_READERS = {
    "text/html": clean_html,
    "text/markdown": markdown,
    "image/svg+xml": _drawing,
    "text/latex": lambda text: clean_html(_tex(text)),
}

# --- what students must not see ------------------------------------------------------


class HideTests(ClearHiddenTests):
    """Remove hidden tests from grade cells, and their lines from what was printed."""

    # nbgrader's class takes this option away, and nbconvert warns of it then.
    display_data_priority = List().tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: dict):
        self._lines = [line for cell in nb.cells for line in self._hidden(cell)]
        for cell in nb.cells:
            if any(True for _ in self._hidden(cell)):
                self._remove_hidden_test_region(cell)
            if cell.cell_type == "code" and self._lines:
                cell.outputs = [self._redacted(output) for output in cell.outputs]
        return nb, resources

    def _hidden(self, cell: NotebookNode) -> Iterator[str]:
        """The lines of a cell of the course that students have not seen."""
        if is_solution(cell) or not is_grade(cell):
            return
        inside = False
        for line in cell.source.split("\n"):
            inside = inside and self.end_test_delimeter not in line
            if inside and len(line.strip()) >= 12:
                yield line.strip()
            inside = inside or self.begin_test_delimeter in line

    def _redacted(self, value: Any) -> Any:
        if isinstance(value, str):
            for line in self._lines:
                for form in (line, html.escape(line), html.escape(line, quote=False)):
                    value = value.replace(form, "[hidden test]")
            return value
        if isinstance(value, list):
            return [self._redacted(item) for item in value]
        if isinstance(value, dict) and not is_verdict(NotebookNode(value)):
            return NotebookNode({k: self._redacted(v) for k, v in value.items()})
        return value


_FRAME = re.compile(
    r"^\s*(?:Cell In\[(\d+)\]|File |<ipython-input-(\d+))", re.MULTILINE
)


class TrimTracebacks(Preprocessor):
    """Keep the frames of a traceback that lie in the student's own cells."""

    enabled = True

    def preprocess(self, nb: NotebookNode, resources: dict):
        own = {
            str(cell.get("execution_count"))
            for cell in nb.cells
            if cell.cell_type == "code" and not is_grade(cell)
        }
        for cell in nb.cells:
            for output in cell.get("outputs", []):
                if output.output_type == "error":
                    output.traceback = list(_trimmed(output, own))
        return nb, resources


def _trimmed(output: NotebookNode, own: set[str]) -> Iterator[str]:
    text = strip_ansi("\n".join(output.traceback))
    starts = [found.start() for found in _FRAME.finditer(text)]
    for start, end in itertools.pairwise([*starts, len(text)]):
        number = _FRAME.match(text, start)
        if (number[1] or number[2]) in own:
            # A frame ends at its blank line; the last is followed by the message.
            yield text[start:end].strip("\n").split("\n\n")[0]
    yield f"{output.ename}: {output.evalue}" if output.evalue else output.ename


# --- scores --------------------------------------------------------------------------


class Scores(GetGrades):
    """nbgrader's GetGrades, which also knows what waits for a teacher, and lateness."""

    def preprocess(self, nb: NotebookNode, resources: dict):
        nb, resources = super().preprocess(nb, resources)
        with Gradebook(self.db_url) as gradebook:
            notebook = gradebook.find_submission_notebook(
                self.notebook_id, self.assignment_id, self.student_id
            )
            resources[KEY] = _summary(nb, notebook)
        return nb, resources

    def _get_score(self, cell: NotebookNode, resources: dict) -> None:
        super()._get_score(cell, resources)
        grade = self.gradebook.find_grade(
            cell.metadata.nbgrader.grade_id,
            self.notebook_id, self.assignment_id, self.student_id,
        )  # fmt: skip
        cell.metadata.nbgrader["waiting"] = (
            grade.auto_score is None and grade.manual_score is None
        )


def _summary(nb: NotebookNode, notebook: SubmittedNotebook) -> dict[str, Any]:
    """What stands at the top of a page."""
    known = nb.metadata.get(KEY, {})
    graded = [cell for cell in nb.cells if "score" in _nbgrader(cell)]
    points = [_nbgrader(c)["points"] for c in graded if _nbgrader(c).get("waiting")]
    return {
        "refused": known.get("refused", ""),
        "repairs": [repair["says"] for repair in known.get("repairs", [])],
        "late": _duration(notebook.assignment.total_seconds_late),
        "penalty": notebook.late_submission_penalty or 0.0,
        "waiting": sum(points),
        "graded": graded,
    }


def _nbgrader(cell: NotebookNode) -> Mapping[str, Any]:
    return cell.metadata.get("nbgrader", {})


def _duration(seconds: float) -> str:
    """A time span in words, "" for none."""
    if seconds <= 0:
        return ""
    minutes = round(seconds / 60) or 1
    parts = (
        (minutes // 1440, "day"),
        (minutes // 60 % 24, "hour"),
        (minutes % 60, "minute"),
    )
    told = [f"{n} {unit}{'s' if n > 1 else ''}" for n, unit in parts if n]
    return " ".join(told[:2])


# --- the page ------------------------------------------------------------------------


class FeedbackExporter(HTMLExporter):
    """A page without any script or request, whatever HTMLExporter is configured to."""

    def __init__(self, config: Config | None = None, **options: Any):
        ours = {
            "template_name": "course_feedback",
            "extra_template_basedirs": [str(TEMPLATES)],
        }
        config = copy.deepcopy(config) if config else Config()
        config.merge({"FeedbackExporter": ours})
        super().__init__(config=config, **options)

    def default_filters(self) -> Iterator[tuple[str, Any]]:
        yield from super().default_filters()
        yield "markdown2html", markdown2html
        yield "cell2html", lambda cell: markdown(cell.source, cell.get("attachments"))
        yield "name_of", lambda cell: _nbgrader(cell)["grade_id"]
        yield "number", lambda value: f"{round(float(value), 2):g}"

    def _init_resources(self, resources: dict) -> dict:
        resources = super()._init_resources(resources)
        resources["code_styles"] = {
            "light": HtmlFormatter(style="default").get_style_defs(".highlight"),
            "dark": HtmlFormatter(style="github-dark").get_style_defs(".highlight"),
        }
        return resources
