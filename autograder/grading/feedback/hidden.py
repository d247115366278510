"""Remove hidden tests from a page, and traceback frames outside the student's cells."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from nbgrader.preprocessors import ClearHiddenTests
from nbgrader.utils import is_grade, is_solution
from traitlets import List, Unicode

from autograder.grading.feedback.outputs import is_verdict
from autograder.grading.rendering import Page
from autograder.grading.settings import Processed, Resources

_COLOUR = r"(?:\x1b\[[0-9;]*m)*"  # tracebacks have codes between and inside words


class HideTests(ClearHiddenTests):  # type: ignore[misc]
    """Remove hidden tests from grade cells, and their lines from all outputs."""

    # nbgrader's class removes this option, and nbconvert would warn about it.
    display_data_priority = List(Unicode()).tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: Resources) -> Processed:
        """Remove hidden tests from a notebook, also where outputs quote their lines."""
        tests = [cell for cell in nb.cells if is_grade(cell) and not is_solution(cell)]
        self._lines = [line for cell in tests for line in self._find_hidden_lines(cell)]
        for cell in tests:
            self._remove_hidden_test_region(cell)
        for cell in nb.cells:
            if cell.cell_type == "code" and self._lines:
                cell.outputs = [self._redact(output) for output in cell.outputs]
        return nb, resources

    def _find_hidden_lines(self, cell: NotebookNode) -> Iterator[str]:
        """Yield the stripped lines of hidden tests with at least 12 characters.

        Shorter ones are left out, as they would also be found in harmless outputs.
        """
        inside = False
        for line in cell.source.split("\n"):
            inside = inside and self.end_test_delimeter not in line
            if inside and len(line.strip()) >= 12:
                yield line.strip()
            inside = inside or self.begin_test_delimeter in line

    def _redact(self, value: Any) -> Any:
        """Replace the lines of hidden tests in an output, unless it is a verdict."""
        if isinstance(value, str):
            for line in self._lines:
                for form in (line, html.escape(line), html.escape(line, quote=False)):
                    value = value.replace(form, "[hidden test]")
                if "\x1b" in value:
                    coloured = _COLOUR.join(map(re.escape, line))
                    value = re.sub(coloured, "[hidden test]", value)
            return value
        if isinstance(value, list):
            return [self._redact(item) for item in value]
        if isinstance(value, dict) and not is_verdict(NotebookNode(value)):
            return NotebookNode({k: self._redact(v) for k, v in value.items()})
        return value


class TrimTracebacks(Preprocessor):
    """Keep only the frames of a traceback that are in the student's own cells."""

    enabled = True

    def preprocess(self, nb: NotebookNode, resources: Resources) -> Processed:
        """Cut each traceback to the frames in the student's cells and the message."""
        cell_numbers = [
            str(cell.get("execution_count"))
            for cell in nb.cells
            if cell.cell_type == "code" and not is_grade(cell)
        ]
        page = Page()
        for cell in nb.cells:
            page.next_cell()
            for output in cell.get("outputs", []):
                if output.output_type == "error":
                    text, message = "\n".join(output.traceback), output.ename
                    message += f": {output.evalue}" if output.evalue else ""
                    text = page.trim_traceback(text, cell_numbers, message)
                    output.traceback = [text]
        return nb, resources
