"""What arrives is graded, and its feedback given back, by itself."""
