"""nbgrader's settings for this course."""

import os

c = get_config()  # noqa: F821

c.CourseDirectory.course_id = "transformer"

# Release: what a student's stub and the markers look like.
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError  # your code here"}
c.ClearSolutions.begin_solution_delimeter = "### BEGIN SOLUTION"
c.ClearSolutions.end_solution_delimeter = "### END SOLUTION"

# Grading: kernels in boxes, verdicts from the judge.
os.environ["JUPYTER_DEFAULT_PROVISIONER_NAME"] = "autograder-box"
c.Autograde.autograde_preprocessors = [
    "nbconvert.preprocessors.ClearMetadataPreprocessor",
    "autograder.grading.execute.JudgedExecute",
    "autograder.grading.scores.SaveVerdicts",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]
c.ExecutePreprocessor.shutdown_kernel = "immediate"
c.ExecutePreprocessor.raise_on_iopub_timeout = False
