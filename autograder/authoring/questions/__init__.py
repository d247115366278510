"""Questions about each student's own accepted code, decided by running it."""
