"""Render untrusted text as HTML, in a process that may be killed.

Sanitising, highlighting, Markdown, equations and the colours of a terminal are left to
third-party parsers, which get what students wrote. They run in `process`, with limits
on the seconds and characters of each cell and each page (`page`). Text that exceeds a
limit is shown as it was written, cut, with a line that says so.
"""

from autograder.grading.rendering.page import Page

__all__ = ["Page"]
