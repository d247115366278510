"""The feedback page of a graded notebook: scores and panels, and no scripts.

nbgrader's ``generate_feedback`` runs the preprocessors of this package and
writes the page with ``FeedbackExporter``. ``CleanOutputs`` and
``markdown2html`` also keep scripts out of an instructor's browser.
"""

from autograder.grading.feedback.exporter import FeedbackExporter, markdown2html
from autograder.grading.feedback.hidden import HideTests, TrimTracebacks
from autograder.grading.feedback.outputs import CleanOutputs
from autograder.grading.feedback.summary import Scores
from autograder.grading.feedback.tell import Tell

__all__ = [
    "CleanOutputs",
    "FeedbackExporter",
    "HideTests",
    "Scores",
    "Tell",
    "TrimTracebacks",
    "markdown2html",
]
