"""nbgrader's settings for this course.

Every limit can be set here; `nbgrader autograde --help-all` lists them with their
meaning (JudgedExecute, CourseAutograde).
"""

from autograder.course import manifest, settings, terminal

terminal.settle()  # first: a Ctrl-C while the rest is imported ends in a line, too
from autograder.grading import converter, dates, release  # noqa: E402

c = get_config()  # noqa: F821

c.CourseDirectory.course_id = settings()["course_id"]

# Due dates with their time zones; a list and a collection that no submission stops or
# backdates. Late work: docs/instructor.md, "Late work".
dates.install(grace_minutes=0)
c.LateBudget.days = 0  # late days that each student may spend over the term
c.ExchangeFactory.list = "autograder.grading.listing.CourseList"
c.ExchangeFactory.collect = "autograder.grading.collect.CourseCollect"

# Release: the old one stays until the new one is whole; what a student's stub and the
# markers look like.
release.install()
c.ExchangeFactory.release_assignment = "autograder.grading.release.CourseRelease"
c.ExchangeFactory.release_feedback = (
    "autograder.grading.feedback_release.CourseFeedback"
)
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError  # your code here"}
c.ClearSolutions.begin_solution_delimeter = "### BEGIN SOLUTION"
c.ClearSolutions.end_solution_delimeter = "### END SOLUTION"

# Grading: submissions are repaired or refused one by one, run in sandboxes, and judged
# outside of them; scores come from the judge's records. nbgrader's CheckCellMetadata is
# not among the steps: a rebuilt notebook has the course's metadata, and those are
# looked at once, when the course is read.
converter.install()
c.Autograde.autograde_preprocessors = [
    "autograder.grading.execute.JudgedExecute",
    "autograder.grading.feedback.CleanOutputs",
    "autograder.grading.extra_cells.ExtraVerdicts",
    "autograder.grading.scores.SaveVerdicts",
    "autograder.grading.scores.LatePenalties",
]
c.JudgedExecute.timeout = 60  # seconds of CPU time a cell; see docs/instructor.md
c.JudgedExecute.notebook_seconds = 300
c.JudgedExecute.shutdown_kernel = "immediate"
c.JudgedExecute.unit_limits = manifest.limits()  # of each unit.toml

# Feedback: scores and panels; no hidden test, no script, nothing from the network.
c.GenerateFeedback.preprocessors = [
    "autograder.grading.feedback.Tell",  # c.Tell.tell: what is told before the deadline
    "autograder.grading.feedback.Scores",
    "autograder.grading.feedback.CleanOutputs",
    "autograder.grading.feedback.HideTests",
    "autograder.grading.feedback.TrimTracebacks",
]
c.GenerateFeedback.force = True  # else pages stay as they were before a regrade
c.HTMLExporter.filters = {"markdown2html": "autograder.grading.feedback.markdown2html"}
c.GenerateFeedback.exporter_class = "autograder.grading.feedback.FeedbackExporter"
