"""Where a notebook runs, for cells that take long."""

from __future__ import annotations

import os

from autograder.student.agent import CHANNEL


def being_graded() -> bool:
    """Whether the notebook is being graded: then nothing is trained."""
    return CHANNEL in os.environ
