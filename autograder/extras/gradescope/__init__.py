"""Gradescope: the zip for its autograder, and result files of grading done locally."""

BUILDS_ON = ("hosted",)
