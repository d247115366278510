"""nbgrader's release of feedback, under the names that students handed in.

Otherwise, a student who renamed the notebook could not find its page.
"""

from __future__ import annotations

import glob
import os
import shutil
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from nbgrader.exchange.default import ExchangeReleaseFeedback
from nbgrader.utils import notebook_hash

from autograder.course import access
from autograder.course.errors import CourseError
from autograder.grading.intake import SECRET

_MOST_NAMES = 20  # notebooks of one submission for which a page is released


class CourseFeedback(ExchangeReleaseFeedback):  # type: ignore[misc]
    """nbgrader's release of feedback, in which one bad hand-in harms no other student.

    nbgrader's own stops for the whole class if one student's secret is missing.
    """

    src_path: str

    def copy_files(self) -> None:
        """Release the pages of all students; log whose pages cannot be released."""
        unit = self.coursedir.assignment_id
        if not glob.glob(self.src_path):
            self.fail(f"no feedback yet; run: nbgrader generate_feedback {unit}")
        try:
            access.refuse_full(Path(self.dest_path))
            without = list(self._release_all())
        except CourseError as error:
            self.fail(str(error))
        if without:
            self.log.error(
                "%d students get no feedback through the exchange, because their %s "
                "cannot be read; send them the pages in feedback/ (autograder "
                "feedback %s packs them): %s",
                len(without), SECRET, unit, ", ".join(without),
            )  # fmt: skip

    def _release_all(self) -> Iterator[str]:
        """Release all pages; yield each student whose pages cannot be released."""
        for folder in sorted(glob.glob(self.src_path)):
            self.src_path = glob.escape(folder)
            try:
                super().copy_files()
                self._release_under_other_names(Path(folder))
            except (OSError, ValueError, AssertionError) as error:
                # A full disk is not this student's fault, and ends the release.
                access.refuse_full(Path(self.dest_path))
                student = Path(folder).parent.name
                self.log.debug("%s: no place for a page", student, exc_info=error)
                yield student

    def _release_under_other_names(self, folder: Path) -> None:
        """Release a unit's only page under the name of each notebook handed in.

        JupyterLab's Assignment List shows feedback only if each notebook has a page.
        """
        pages = sorted(folder.glob("*.html"))
        excluded = str(self.coursedir.student_id_exclude).split(",")
        if len(pages) != 1 or folder.parent.name in excluded:
            return
        secret = (folder / SECRET).read_text()
        for name in islice(self._names(folder), _MOST_NAMES):
            place = Path(self.dest_path) / notebook_hash(
                secret=secret, notebook_id=name
            )
            part = place.with_name(f"{place.name}-tmp.html")
            shutil.copy(pages[0], part)
            part.replace(place.with_name(f"{place.name}.html"))

    def _names(self, folder: Path) -> Iterator[str]:
        """Yield the names, without suffix, of the notebooks that were handed in."""
        submitted = self.coursedir.format_path(
            self.coursedir.submitted_directory, folder.parent.name, folder.name
        )
        for path in sorted(Path(submitted).glob("*.ipynb")):
            # A name that is not valid Unicode cannot be hashed.
            if path.stem and os.fsencode(path.stem) == path.stem.encode(
                "utf-8", "replace"
            ):
                yield path.stem
