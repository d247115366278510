"""Measures of trained models; cases name them (`autograder.checks.measures`)."""
