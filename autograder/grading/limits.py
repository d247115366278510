"""The size limits of submissions, as settings in ``nbgrader_config.py``."""

from __future__ import annotations

from traitlets import Integer
from traitlets.config import Configurable

from autograder.grading.intake import SizeLimits


class LimitedIntake(Configurable):
    """A base class with the settings of size limits, for classes that take hand-ins."""

    largest_notebook = Integer(
        SizeLimits.notebook,
        help="Larger notebooks are read without their outputs, and refused if they are "
        "still larger (bytes).",
    ).tag(config=True)
    largest_saved = Integer(
        SizeLimits.saved,
        help="Notebooks larger with their outputs are refused (bytes).",
    ).tag(config=True)
    largest_file = Integer(
        SizeLimits.file, help="Larger files beside the notebook are left out (bytes)."
    ).tag(config=True)
    largest_total = Integer(
        SizeLimits.total, help="Files beyond this sum are left out (bytes)."
    ).tag(config=True)
    most_files = Integer(SizeLimits.files, help="Further files are left out.").tag(
        config=True
    )

    @property
    def limits(self) -> SizeLimits:
        """The limits that these settings define."""
        return SizeLimits(
            self.largest_file, self.largest_total, self.most_files,
            notebook=self.largest_notebook, saved=self.largest_saved,
        )  # fmt: skip
