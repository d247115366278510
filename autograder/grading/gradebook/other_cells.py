"""Add and remove exercises of an assignment that already has submissions.

nbgrader refuses this. Here, removed exercises lose their points and comments.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from nbformat import NotebookNode
from nbgrader import api
from nbgrader.preprocessors import SaveCells

Cells = Mapping[str, dict[str, Any]]  # nbgrader's fields of a cell, by grade id


class CourseCells(SaveCells):  # type: ignore[misc]
    """nbgrader's step that enters a source's cells into the gradebook.

    Unlike nbgrader's own, it can add and remove cells when there are submissions.
    """

    def _create_notebook(self, nb: NotebookNode) -> None:
        """Enter a notebook, after adding and removing cells if it has submissions."""
        ids = (self.notebook_id, self.assignment_id)
        with contextlib.suppress(api.MissingEntry):
            notebook = self.gradebook.find_notebook(*ids)
            if notebook.submissions:
                self._remove_cells(notebook)
                self._add_cells(notebook)
        super()._create_notebook(nb)

    def _kinds(self, notebook: api.Notebook) -> Iterator[tuple[str, Any, Cells]]:
        """Yield each kind of cell: its name, the gradebook's cells, the source's cells.

        The name is the one that nbgrader uses, such as "grade_cell".
        """
        yield "grade_cell", notebook.grade_cells, self.new_grade_cells
        yield "solution_cell", notebook.solution_cells, self.new_solution_cells
        yield "task_cell", notebook.task_cells, self.new_task_cells
        yield "source_cell", notebook.source_cells, self.new_source_cells

    def _remove_cells(self, notebook: api.Notebook) -> None:
        """Remove the cells that the source leaves out, and all that depends on them."""
        session, removed = self.gradebook.db, set[str]()
        for kind, cells, in_source in self._kinds(notebook):
            for cell in [cell for cell in cells if cell.name not in in_source]:
                if kind != "source_cell":
                    for row in (api.Grade, api.Comment):
                        session.query(row).filter(row.cell_id == cell.id).delete()
                if kind in ("grade_cell", "task_cell"):
                    removed.add(cell.name)
                session.delete(cell)
        session.commit()
        session.expire_all()
        if removed:
            self.log.warning(
                f"{self.assignment_id}: no longer graded, and without points from now "
                f"on: {', '.join(sorted(removed))}"
            )

    def _add_cells(self, notebook: api.Notebook) -> None:
        """Add the cells that the gradebook lacks, with rows for each submission."""
        rows = {
            "grade_cell": (api.Grade,), "solution_cell": (api.Comment,),
            "task_cell": (api.Grade, api.Comment), "source_cell": (),
        }  # fmt: skip
        ids = (self.notebook_id, self.assignment_id)
        for kind, cells, in_source in self._kinds(notebook):
            enter = getattr(self.gradebook, f"update_or_create_{kind}")
            for name in in_source.keys() - {cell.name for cell in cells}:
                cell = enter(name, *ids, **in_source[name])
                for row in rows[kind]:
                    for submitted in notebook.submissions:
                        self.gradebook.db.add(row(cell_id=cell.id, notebook=submitted))
        self.gradebook.db.commit()
