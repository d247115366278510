"""A machine that graders and students share, through nbgrader's exchange."""
