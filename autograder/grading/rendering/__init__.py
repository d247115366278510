"""Render untrusted text as HTML, in a process that may be killed.

The third-party parsers that get what students wrote run there, within limits
for each cell and page (`page`). Text beyond a limit is shown as it was written.
"""

from autograder.grading.rendering.page import Page

__all__ = ["Page"]
