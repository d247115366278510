"""Gradescope: the zip of its autograder, and results that were graded elsewhere."""

BUILDS_ON = ("hosted",)
