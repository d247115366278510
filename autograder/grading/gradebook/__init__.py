"""nbgrader's gradebook: reading from it, and writing results into it."""
