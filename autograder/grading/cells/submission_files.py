"""The files beside a notebook, and the course's files that a sandbox may read."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from nbformat import NotebookNode

from autograder.course import manifest, units
from autograder.grading.intake import RefusedError
from autograder.root import CONTENT


def refuse_large(folder: Path, disk_mb: int) -> None:
    """Refuse files that take more than half of a sandbox's disk.

    Raises:
        RefusedError: they take more.
    """
    size = sum(path.stat().st_size for path in files_below(folder)) / (1 << 20)
    if size > disk_mb / 2:
        raise RefusedError(
            f"its files take {size:.0f} MB; at most {disk_mb // 2} MB "
            "are allowed beside a notebook"
        )


def submission_key(nb: NotebookNode, folder: Path) -> str:
    """Return a digest of a notebook's code and of the files beside it.

    The random cases depend on it, so regrading asks the same questions.
    """
    text = json.dumps([cell.source for cell in nb.cells if cell.cell_type == "code"])
    digest = hashlib.sha256(text.encode())
    for path in files_below(folder):
        name = str(path.relative_to(folder)).encode("utf-8", "surrogateescape")
        for part in (name, path.read_bytes()):
            digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()


def files_below(folder: Path) -> list[Path]:
    """All files below a folder, sorted by path."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def earlier_solutions(assignment: str) -> list[str]:
    """The paths of earlier units' solution modules, which a notebook may import."""
    folder = CONTENT / "solutions"
    names = ["__init__", *(u.name for u in units() if u.label < assignment)]
    return [str(folder / f"{name}.py") for name in names]


def shipped(assignment: str) -> list[str]:
    """The paths of the files that students get with a unit, such as a trained model."""
    graded = [unit for unit in units() if unit.label == assignment]
    return [str(path) for unit in graded for path in manifest.read(unit).ships]
