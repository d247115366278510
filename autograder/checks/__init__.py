"""The checks: the part of the engine that ships to students.

This package imports only modules that ship with it. `earlier` and two probes look up
the course's solutions by name, but only when they are called.
"""
