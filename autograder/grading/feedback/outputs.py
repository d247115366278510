"""Sanitise outputs: remove everything that a browser would run or fetch."""

from __future__ import annotations

import base64
import binascii
import copy
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from nbgrader.utils import is_grade

from autograder.grading.metadata import KEY, GradingMetadata
from autograder.grading.rendering import Page
from autograder.grading.settings import Processed, Resources

RASTER = ("image/png", "image/jpeg", "image/gif", "image/webp")
_NOTHING = {"text/plain": "[an output that cannot be shown here]"}


class CleanOutputs(Preprocessor):
    """Sanitise all outputs except the verdicts that the grader put there."""

    enabled = True

    def preprocess(self, nb: NotebookNode, resources: Resources) -> Processed:
        """Sanitise all outputs, except the verdict in the cell of a judged check.

        Elsewhere, a student may have marked an output as a verdict.
        """
        checks = GradingMetadata.of_run(nb, resources).checks
        page = Page()
        for cell in nb.cells:
            if cell.cell_type == "code":
                page.next_cell()
                verdict = checks.get(cell.metadata.get("nbgrader", {}).get("grade_id"))
                trusted = is_grade(cell) and verdict and verdict.decided == "outside"
                cell.outputs = [
                    o if trusted and is_verdict(o) else clean_output(o, page)
                    for o in cell.outputs
                ]
        return nb, resources


def is_verdict(output: NotebookNode) -> bool:
    """Whether an output that passed ``CleanOutputs`` is a verdict."""
    return bool(output.get("metadata", {}).get(KEY) == "verdict")


def clean_output(output: NotebookNode, page: Page) -> NotebookNode:
    """A copy of an output, with only what can be shown and with harmless HTML."""
    output = copy.deepcopy(output)
    if output.output_type == "stream":
        output.text = _string(output.get("text"))
    elif output.output_type == "error":
        output.traceback = [_string(line) for line in output.get("traceback", [])]
        output.ename, output.evalue = map(_string, (output.ename, output.evalue))
    else:
        data = dict(_clean_data(output.get("data", {}), page))
        output.data = NotebookNode(data or _NOTHING)
        output.metadata = NotebookNode()
    return output


def _string(value: object) -> str:
    """A string, or a list of strings joined, as valid Unicode; "" for all else."""
    if isinstance(value, list):
        value = "".join(map(_string, value))
    text = value if isinstance(value, str) else ""
    return text.encode("utf-8", "replace").decode()  # no lone surrogates


def _clean_data(data: Mapping[str, Any], page: Page) -> Iterator[tuple[str, str]]:
    """Yield (MIME type, data) for what can be shown, with all HTML made harmless."""
    readers: dict[str, Callable[[str], str]] = {
        "text/html": functools.partial(page.render, "html"),
        "text/markdown": functools.partial(page.render, "markdown"),
        "image/svg+xml": _drawing,
        "text/latex": lambda text: page.render("html", page.render("latex", text)),
    }
    # They are forms of the same output: the first one that is there is shown.
    rich = ""
    for kind, read in readers.items():
        if not rich and kind in data:
            rich = read(_string(data[kind]))
    if rich.strip():
        yield "text/html", rich
    for kind in RASTER:
        if kind in data and (picture := _picture(_string(data[kind]))):
            yield kind, picture
    if "text/plain" in data:
        yield "text/plain", _string(data["text/plain"])


def _drawing(svg: str) -> str:
    """SVG as an image element, in which browsers run and fetch nothing."""
    data = base64.b64encode(svg.encode()).decode()
    return f'<img alt="drawing" src="data:image/svg+xml;base64,{data}">'


def _picture(text: str) -> str:
    """Re-encode base64 data, so that they hold nothing else; "" if they are invalid."""
    try:
        return base64.b64encode(base64.b64decode(text)).decode()
    except (binascii.Error, ValueError):
        return ""
