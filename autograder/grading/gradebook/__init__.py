"""nbgrader's gradebook: who writes what into it, and when."""
