"""A student's folder in ``autograded/``: the earlier results, and the new ones.

The notebook is written last and renamed into place, so that it is complete or
unchanged. It contains a digest of everything it was made from, and the recorded scores.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.course import notebooks
from autograder.course.access import refuse_closed
from autograder.course.errors import CourseError
from autograder.course.files import folder_locked, write
from autograder.grading.intake import OF_NBGRADER
from autograder.grading.metadata import GradingMetadata


class GradedFolder:
    """One student's folder of results, for all notebooks of an assignment."""

    def __init__(self, path: Path):
        self.path = path

    @contextlib.contextmanager
    def locked(self, wait: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Lock the folder, so that other runs wait before they grade the submission.

        Args:
            wait: called before we wait for another run, however long that takes.

        Raises:
            CourseError: nothing can be written there.
        """
        refuse_closed(self.path)
        with folder_locked(self.path, wait):
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
        self, name: str, notebook: NotebookNode, beside: Mapping[str, bytes],
        notebook_names: Collection[str],
    ) -> None:  # fmt: skip
        """Write a new graded notebook, after the files that belong to it.

        Args:
            beside: contents of `OF_NBGRADER` files, by name; any not given is removed.
            notebook_names: the notebooks that the folder may hold, by name.

        Raises:
            CourseError: it cannot be written.
        """
        for path in (self.path / name for name in OF_NBGRADER):
            if path.name in beside:
                write(path, beside[path.name])
            else:
                path.unlink(missing_ok=True)
        expected = {*OF_NBGRADER, *(f"{stem}.ipynb" for stem in notebook_names)}
        for path in self.path.iterdir():  # of another grader, or a run that was cut off
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path.name not in expected and path.suffix != ".ipynb":
                path.unlink()
        # Not validated by nbformat, which would only log problems: the notebook is the
        # course's, rebuilt, and outputs were checked as they arrived.
        write(self.path / f"{name}.ipynb", nbformat.v4.writes(notebook))
