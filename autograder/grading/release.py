"""Replace the students' version of an assignment only once a new one is complete.

nbgrader removes the old release first, so that a later failure leaves none. The
subclasses here write the new one beside it. Feedback pages are also made here.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.converters import (
    BaseConverter,
    GenerateAssignment,
    GenerateFeedback,
    NbGraderException,
)
from nbgrader.exchange.default import ExchangeReleaseAssignment
from nbgrader.preprocessors import SaveCells
from traitlets import default

from autograder.course import access, files, notebooks
from autograder.course.errors import CourseError
from autograder.course.notebooks import read_valid_text
from autograder.grading import dates, sentences
from autograder.grading.gradebook import book, changes, damage, hand_log
from autograder.grading.gradebook.book import GradebookHandle
from autograder.grading.gradebook.other_cells import CourseCells
from autograder.grading.gradebook.other_points import points_of_folder, refuse_mixture
from autograder.grading.gradebook.register_assignment import register

PATIENCE = 60.0  # seconds that a locked gradebook is waited for


class CourseGenerate(GenerateAssignment):  # type: ignore[misc]
    """nbgrader's converter that makes a release, the students' version of notebooks.

    The old release stays until the new one is complete.
    """

    _beside = False  # whether paths are in the folder of the unfinished release
    _refused = ""

    @default("preprocessors")
    def _stages(self) -> list[type]:
        stages = GenerateAssignment.preprocessors.default_args[0]
        return [CourseCells if stage is SaveCells else stage for stage in stages]

    def init_notebooks(self) -> None:
        """Find the notebooks.

        Raises:
            NbGraderException: nbgrader cannot use the path of the course.
        """
        _refuse_path(self)
        super().init_notebooks()

    @property
    def _output_directory(self) -> str:
        plain = super()._output_directory
        return f"{plain}.part" if self._beside else plain

    def convert_notebooks(self) -> None:
        """Make the releases.

        Raises:
            NbGraderException: a source is damaged, or one release cannot be made.
        """
        try:
            access.refuse_full(Path(self.coursedir.root))
            if not self.no_database:
                access.require_access(*book.book_files(self.coursedir.db_url))
                damage.refuse_damaged(self.coursedir.db_url)
            for source in itertools.chain(*self.assignments.values()):
                read_valid_text(Path(source))
            super().convert_notebooks()
        except CourseError as error:
            self._refuse(error)
        finally:
            # The folder of unfinished releases, with all that was not moved into place.
            _, part = self._places(".", ".")
            self._beside = False
            shutil.rmtree(part, ignore_errors=True)
        if self._refused:
            raise NbGraderException(self._refused)

    def _places(self, assignment_id: str, student_id: str) -> tuple[Path, Path]:
        """Return the folder of a release, and the temporary one in which it is made.

        This also makes nbgrader write into the temporary folder from then on.
        """
        self._beside = False
        release = Path(self._format_dest(assignment_id, student_id))
        self._beside = True
        return release, Path(self._format_dest(assignment_id, student_id))

    def _refuse(self, error: CourseError) -> None:
        """Log the error in one line, in place of nbgrader's traceback."""
        self._refused = str(error)
        self.log.error(self._refused)

    def init_destination(self, assignment_id: str, student_id: str) -> bool:
        """Begin with a copy of the old release; False if no new one is to be made.

        An old release that is kept is added to the gradebook.
        """
        release, part = self._places(assignment_id, student_id)
        shutil.rmtree(part, ignore_errors=True)
        try:
            if release.is_dir():
                shutil.copytree(release, part)
            # nbgrader looks into the copy to decide whether to make a new release.
            begins = bool(super().init_destination(assignment_id, student_id))
        except OSError as error:
            if self.force or not release.is_dir():
                reason = error.strerror or "something in release/ cannot be read"
                self._refuse(CourseError(f"{part} cannot be written: {reason}"))
                return False
            begins = False  # as there is a release
        if not begins and not self.no_database:
            self._enter(assignment_id, release)
        return begins and self._may_replace(release)

    def _may_replace(self, release: Path) -> bool:
        """Whether the old release can be replaced; if not, the reason is logged."""
        try:
            access.refuse_full(release)
            access.require_access(release, release.parent)
        except CourseError as error:
            self._refuse(error)
            return False
        return True

    def set_permissions(self, assignment_id: str, student_id: str) -> None:
        """Move the new release into place, then set nbgrader's permissions there.

        If a step fails, nbgrader removes only the new release, never the old one.
        """
        files.replace_folder(*self._places(assignment_id, student_id))
        self._beside = False
        super().set_permissions(assignment_id, student_id)

    def _enter(self, assignment: str, release: Path) -> None:
        """Add an existing release to the gradebook."""
        book = GradebookHandle(
            self.coursedir.db_url, self.coursedir.course_id, PATIENCE, self.log
        )
        try:
            paths = [Path(path) for path in self.notebooks]
            pairs = {
                p.stem: (read_valid_text(p), read_valid_text(release / p.name))
                for p in paths
            }
            if book.use(lambda book: register(book, assignment, pairs, self.config)):
                self.log.info(f"{release} is up to date; it is now in the gradebook")
        except CourseError as error:
            self._refuse(error)
        finally:
            book.close()


class CoursePages(GenerateFeedback):  # type: ignore[misc]
    """nbgrader's converter that makes feedback pages, with checks before it begins.

    nbgrader removes an old page before it writes the new one, which may then fail.
    """

    def init_notebooks(self) -> None:
        """Find the notebooks.

        Raises:
            NbGraderException: the graded notebooks cannot be read, for example.
        """
        _refuse_path(self)
        graded = Path(self.coursedir.format_path(self._input_directory, ".", "."))
        with _report_errors(self):
            access.refuse_unreadable(graded)
        super().init_notebooks()

    def convert_notebooks(self) -> None:
        """Make the pages.

        Raises:
            NbGraderException: a page cannot be made.
        """
        self._missed: list[str] = []
        course, unit = self.coursedir, self.coursedir.assignment_id
        root = Path(course.root)
        with _report_errors(self):
            self._changed = [c for c in changes.read(root, unit) if c.is_told]
            self._sentences = sentences.read(root, unit)
            source = course.format_path(course.source_directory, ".", unit)
            self._points = points_of_folder(unit, Path(source))
            pages = Path(course.format_path(self._output_directory, ".", "."))
            access.refuse_full(root, pages)
            access.require_access(pages)
            damage.refuse_damaged(course.db_url)
        try:
            super().convert_notebooks()
        except KeyboardInterrupt:
            raise SystemExit(130) from None  # it has been logged
        if self._missed:
            raise NbGraderException(f"{len(self._missed)} students have no new page")

    def init_destination(self, assignment_id: str, student_id: str) -> bool:
        """Begin a page as nbgrader does; False if none can be made or is needed."""
        page = Path(self._format_dest(assignment_id, student_id))
        graded = Path(self._format_source(assignment_id, student_id))
        try:
            access.require_access(page, page.parent)
            points = points_of_folder(assignment_id, graded)
            refuse_mixture(assignment_id, student_id, self._points, points)
        except CourseError as error:
            self._log_missing_page(student_id, str(error))
            return False
        return bool(super().init_destination(assignment_id, student_id))

    def init_single_notebook_resources(self, notebook_filename: str) -> dict[str, Any]:
        """Add "changes" and "sentences" to nbgrader's resources.

        They are the student's changed scores, and teachers' sentences on wrong answers.
        """
        resources: dict[str, Any]
        resources = super().init_single_notebook_resources(notebook_filename)
        student = resources["nbgrader"]["student"]
        changed = [change for change in self._changed if change.student == student]
        return resources | {"changes": changed, "sentences": self._sentences}

    def convert_single_notebook(self, notebook_filename: str) -> None:
        """Write a student's page; if that fails, report it in a line and go on."""
        try:
            super().convert_single_notebook(notebook_filename)
        except OSError as error:
            student, unit = Path(notebook_filename).parts[-3:-1]
            place = self._format_dest(unit, student)
            shutil.rmtree(place, ignore_errors=True)  # an incomplete page
            self._log_missing_page(
                student, f"{place}: {error.strerror}; run the same command again"
            )

    def _log_missing_page(self, student: str, reason: str) -> None:
        """Log why a student gets no new page, and remember that one is missing."""
        self.log.error("%s: no new page: %s", student, reason)
        self._missed.append(student)


class CourseRelease(ExchangeReleaseAssignment):  # type: ignore[misc]
    """nbgrader's release into the exchange; the old one stays until all is copied.

    The notebooks that students fetch say below their title when they are due.
    """

    dest_path: str

    def copy_files(self) -> None:
        """Copy the release, add the due date, then replace the old one."""
        place = Path(self.dest_path)
        if place.is_dir() and not self.force:
            super().copy_files()  # which logs that it exists
            return
        part = place.with_name(f".{place.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        self.dest_path = str(part)
        try:
            super().copy_files()
            if due := dates.find_due_date(self.coursedir):
                for path in sorted(part.glob("*.ipynb")):
                    notebook = notebooks.read(path)
                    dates.add_due_line(notebook, due)
                    path.write_text(f"{nbformat.writes(notebook)}\n", encoding="utf-8")
            files.replace_folder(place, part)
        finally:
            shutil.rmtree(part, ignore_errors=True)
            self.dest_path = str(place)


def _refuse_path(converter: BaseConverter) -> None:
    with _report_errors(converter):
        access.refuse_path(Path(converter.coursedir.root))


@contextlib.contextmanager
def _report_errors(converter: BaseConverter) -> Iterator[None]:
    """Turn a CourseError in a ``with`` block into a log line and an NbGraderException.

    nbgrader's commands then end without a traceback.
    """
    try:
        yield
    except CourseError as error:
        converter.log.error(str(error))
        raise NbGraderException(str(error)) from None


def install() -> None:
    """Make nbgrader's commands and the formgrader use the classes of this module.

    The environment's programs are added to PATH, as nbgrader needs ``alembic``.
    """
    from nbgrader.apps import api, generateassignmentapp, generatefeedbackapp

    programs = str(Path(sys.executable).parent)
    before = os.environ.get("PATH", "")
    if programs not in before.split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join(filter(None, (programs, before)))
    book.install()
    damage.install()
    hand_log.install()
    api.GenerateAssignment = generateassignmentapp.GenerateAssignment = CourseGenerate
    api.GenerateFeedback = generatefeedbackapp.GenerateFeedback = CoursePages
