"""What a course has released, as its files and its gradebook have it."""

from pathlib import Path

from nbgrader.api import Gradebook

from tests.tiny_course import UNIT


def in_book(root) -> dict[str, float]:
    with Gradebook(f"sqlite:///{root}/gradebook.db", "tiny") as book:
        notebook = book.find_notebook(UNIT, UNIT)
        return {cell.name: cell.max_score for cell in notebook.grade_cells}


def release_text(root) -> str:
    return (root / "release" / UNIT / f"{UNIT}.ipynb").read_text()


def find_leftovers(root) -> list[Path]:
    return [path for path in root.rglob("*") if path.suffix in (".part", ".old")]
