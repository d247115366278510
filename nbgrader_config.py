"""nbgrader's settings for this course."""

c = get_config()  # noqa: F821

c.CourseDirectory.course_id = "transformer"
c.ClearSolutions.code_stub = {
    "python": "raise NotImplementedError  # your code here"
}
c.ClearSolutions.begin_solution_delimeter = "### BEGIN SOLUTION"
c.ClearSolutions.end_solution_delimeter = "### END SOLUTION"
