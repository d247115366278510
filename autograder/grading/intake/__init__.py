"""Turn what a student handed in into the notebook that is graded.

Nothing here runs student code, follows a link or writes a file. ``take`` reads a
submission's folder, ``find_notebook`` picks the unit's notebook by its content,
``rebuild`` puts the student's answers into the course's own notebook, and
``handed_in`` finds the time of the hand-in. ``Repair``s describe what was corrected.
"""

from autograder.grading.intake.building import rebuild, without_installs
from autograder.grading.intake.common import (
    DEFAULTS,
    OF_NBGRADER,
    SECRET,
    STAMP,
    RefusedError,
    Repair,
    SizeLimits,
    dump_repairs,
    load_repairs,
)
from autograder.grading.intake.explaining import grade_ids
from autograder.grading.intake.files import File, Taken, notebooks_first, take
from autograder.grading.intake.matching import find_notebook, is_unanswered
from autograder.grading.intake.slimming import describe_slimming, read_slim
from autograder.grading.intake.stamp import handed_in, parse_stamp

__all__ = [
    "DEFAULTS", "OF_NBGRADER", "SECRET", "STAMP", "File", "RefusedError", "Repair",
    "SizeLimits", "Taken", "describe_slimming", "dump_repairs", "find_notebook",
    "grade_ids", "handed_in", "is_unanswered", "load_repairs", "notebooks_first",
    "parse_stamp", "read_slim", "rebuild", "take", "without_installs",
]  # fmt: skip
