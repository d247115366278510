"""Read and write a student's folder of graded notebooks in ``autograded/``.

A notebook is written last and renamed into place: it is complete or unchanged.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.course import notebooks
from autograder.course.access import require_access
from autograder.course.errors import CourseError
from autograder.course.files import folder_locked, write
from autograder.grading.intake import OF_NBGRADER
from autograder.grading.metadata import GradingMetadata


class GradedFolder:
    """One student's folder of results, for all notebooks of an assignment."""

    def __init__(self, path: Path):
        self.path = path

    @contextlib.contextmanager
    def locked(self, before_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Lock the folder, so that other runs wait before they grade the submission.

        Raises:
            CourseError: nothing can be written there.
        """
        require_access(self.path)
        with folder_locked(self.path, before_wait):
            yield

    def read_metadata(self, name: str) -> GradingMetadata:
        """Read the metadata that an earlier run stored; empty if there is none."""
        notebook = self.notebook(name)
        return GradingMetadata.of(notebook) if notebook else GradingMetadata()

    def notebook(self, name: str) -> NotebookNode | None:
        """The notebook that an earlier run graded; None if none can be read."""
        try:
            return notebooks.read(self.path / f"{name}.ipynb")
        except CourseError:
            return None

    def replace(
        self, name: str, notebook: NotebookNode, beside: Mapping[str, bytes]
    ) -> None:
        """Write a graded notebook and nbgrader's files; remove all but other notebooks.

        Args:
            name: the notebook's name, without the suffix.
            beside: the contents of nbgrader's own files, by name.

        Raises:
            CourseError: it cannot be written.
        """
        for path in (self.path / name for name in OF_NBGRADER):
            if path.name in beside:
                write(path, beside[path.name])
            else:
                path.unlink(missing_ok=True)
        for path in self.path.iterdir():  # of another grader, or a run that was cut off
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path.name not in OF_NBGRADER and path.suffix != ".ipynb":
                path.unlink()
        # Not validated by nbformat, which would only log problems: the notebook is the
        # course's, rebuilt, and outputs were checked as they arrived.
        write(self.path / f"{name}.ipynb", nbformat.v4.writes(notebook))
