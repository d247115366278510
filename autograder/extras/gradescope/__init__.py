"""Gradescope: the zip for its autograder, and results of grading done elsewhere."""

BUILDS_ON = ("hosted",)
