"""Read before a course's own nbgrader_config.py: pip puts it into the environment.

See pyproject.toml (data-files) and the module that it calls.
"""

from pathlib import Path

from autograder.course import config_errors, terminal

terminal.settle()
config_errors.refuse()
config_errors.warn(Path(__file__))
