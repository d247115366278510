"""Where submissions are graded: here, in other processes, on other machines."""
