"""The class report: what a unit's grades say, as one page and as a table.

``overview`` computes everything; the template only lays it out. The shareable overview
is made without names in the first place: what it does not hold, no page can show.
"""

from autograder.classroom.report.items import with_before
from autograder.classroom.report.overview import overview
from autograder.classroom.report.pages import as_csv, as_html, make, write

__all__ = ["as_csv", "as_html", "make", "overview", "with_before", "write"]
