"""Foreign text as something to look at, in a process that may be killed over it.

Sanitising, highlighting, markdown, equations and colours of a terminal are other
people's parsers, fed with what strangers wrote. They run in `process`, with seconds and
bytes for each cell and each page (`page`); whatever takes more is shown as it was
written, cut, with a line that says so.
"""

from autograder.grading.rendering.page import Page

__all__ = ["Page"]
