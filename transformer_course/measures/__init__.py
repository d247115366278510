"""Measures of trained models, such as "recovery", which cases refer to by module name.

Each module defines ``MEASURE``, an `autograder.checks.measures.Measure`.
"""
