"""Read a unit's notebook in ``notebooks/``; write it as nbgrader's source notebook."""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jupytext
import nbformat

from autograder.authoring.colab import published
from autograder.course import Unit, grade_ids
from autograder.course.errors import CourseError, Faults
from autograder.course.language import ENGLISH, WORDINGS, Wording, wording
from autograder.course.notebooks import BADGE, FINDER

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
BEGIN_HIDDEN, END_HIDDEN = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"
ROLES = ("exercise", "check", "written")
EDITION = "edition"  # key of a source notebook's metadata about given exercises
SPACING = ("lines_to_next_cell", "lines_to_end_of_cell_marker")  # Jupytext's metadata
TITLE = "# @title "  # Colab shows it in place of a folded cell's code
# Metadata that folds a cell's code in JupyterLab and Notebook, Colab, and the website.
FOLDED = {
    "cellView": "form",
    "jupyter": {"source_hidden": True},
    "tags": ["hide-input"],
}
KERNEL = {
    "display_name": "Python 3 (ipykernel)",
    "language": "python",
    "name": "python3",
}


@dataclass(frozen=True)
class Cell:
    """A cell of a notebook in ``notebooks/``.

    Args:
        kind: "code" or "markdown".
        location: where the cell begins, as "file:line".
        role: "exercise", "check" or "written"; "" for any other cell.
        name: the exercise or question, as "unit/name"; "" without a role.
        is_given: whether students are given the solution, and earn no points.
        folded: whether the cell draws or trains, and is not meant to be read.
        words: the terms that the build looks for in the notebook's language.
    """

    kind: str
    text: str
    location: str
    role: str = ""
    name: str = ""
    points: float = 0.0
    is_given: bool = False
    folded: bool = False
    words: Wording = WORDINGS[ENGLISH]

    @property
    def grade_id(self) -> str:
        of_cell = grade_ids.of_answer if self.role == "exercise" else grade_ids.of_check
        return of_cell(self.name)

    def locate(self, start: int) -> str:
        """Format a position in the cell's text as "file:line"."""
        name, _, first = self.location.rpartition(":")
        return f"{name}:{int(first) + 1 + self.text.count(chr(10), 0, start)}"


def read(unit: Unit) -> list[Cell]:
    """Read a unit's notebook, in the course's language if there is a translation.

    Raises:
        CourseError: with file and line of every fault.
    """
    return parse(unit.text.read_text(encoding="utf-8"), unit)


def parse(text: str, unit: Unit, file: Path | None = None) -> list[Cell]:
    """Parse the text of a notebook like ``notebooks/NN_unit.py``; raises as `read`.

    Args:
        file: the file that holds the text, if it is not ``unit.text``.
    """
    faults = Faults()
    cells = parse_leniently(text, unit, faults, file)
    with faults.collect():
        refuse_wrong_sum(cells)
    faults.refuse()
    return cells


def parse_leniently(
    text: str, unit: Unit, faults: Faults, file: Path | None = None
) -> list[Cell]:
    """Parse the cells of a text as far as possible; add what is wrong to ``faults``.

    Raises:
        CourseError: no cell can be read.
    """
    lines = [
        number
        for number, line in enumerate(text.splitlines(), 1)
        if re.match(r"# %%( |$)", line)
    ]
    place = (file or unit.text).relative_to(unit.root).as_posix()
    notebook = jupytext.reads(text, fmt="py:percent")
    if len(lines) != len(notebook.cells):
        raise CourseError(
            f"{place}:1: text before the first `# %%`, or a malformed marker; "
            "begin each cell with `# %%`"
        )
    words = wording(text, unit.root)
    cells = [
        replace(_cell(raw, f"{place}:{line}", unit, faults), words=words)
        for raw, line in zip(notebook.cells, lines, strict=True)
    ]
    faults += _describe_pairs(cells)
    return cells


def _cell(
    raw: nbformat.NotebookNode, location: str, unit: Unit, faults: Faults
) -> Cell:
    """Parse one cell of ``notebooks/``; add what is wrong with it to ``faults``."""
    metadata = {k: v for k, v in raw.metadata.items() if k not in SPACING}
    roles = [role for role in ROLES if role in metadata]
    unknown = set(metadata) - {*ROLES, "points", "folded"}
    if unknown or len(roles) > 1:
        listed = ", ".join(sorted(unknown) or roles)
        faults.append(
            f"{location}: cannot read the cell's metadata ({listed}); write one of "
            'exercise="unit/name", check="unit/name" points=N, written="unit/name" '
            "points=N, folded=true"
        )
    role = roles[0] if roles else ""
    points = 0.0
    with faults.collect():
        points = _points(metadata, role, location)
    cell = Cell(
        raw.cell_type, raw.source, location, role,
        str(metadata.get(role, "")), points, folded=bool(metadata.get("folded")),
    )  # fmt: skip
    faults += _describe_faults(cell, unit)
    if cell.role == "check":
        with faults.collect():
            target(cell)
    return cell


def _points(metadata: dict[str, Any], role: str, location: str) -> float:
    """Read the points of a check or of a written answer; other cells have 0."""
    graded = role in ("check", "written")
    if graded != ("points" in metadata):
        raise CourseError(
            f"{location}: check and written cells have points, and no others; "
            + ("write points=N" if graded else "remove the points")
        )
    points = metadata.get("points", 0)
    if not isinstance(points, int | float) or isinstance(points, bool) or points < 0:
        raise CourseError(f"{location}: points must be a number, not {points!r}")
    return float(points)


def _describe_faults(cell: Cell, unit: Unit) -> Iterator[str]:
    """Describe faults in a cell's name, kind, solution markers and title."""
    if cell.role and not re.fullmatch(rf"{unit.name}/[a-z0-9_]+", cell.name):
        name = f"{unit.name}/lower_case_name"
        yield f'{cell.location}: "{cell.name}" should read "{name}"'
    if (cell.kind == "markdown") != (cell.role == "written") and cell.role:
        yield f"{cell.location}: a {cell.role} cell cannot be {cell.kind}"
    marked = BEGIN in cell.text or END in cell.text
    if cell.role == "exercise" and cell.text.count(BEGIN) != cell.text.count(END):
        yield f"{cell.location}: {BEGIN} and {END} do not pair up"
    if (cell.role == "exercise" and not marked) or (marked and not cell.role):
        yield f"{cell.location}: exercise cells, and no others, need {BEGIN}"
    if cell.folded and (cell.role or cell.text.partition(TITLE)[0]):
        yield (
            f'{cell.location}: a folded cell begins with "{TITLE}...", which says what '
            "its code does, and is not an exercise"
        )


_NAMES = r"[A-Za-z_]\w*(?:, [A-Za-z_]\w*)*"


def target(cell: Cell) -> str:
    """Return the name that a check cell checks, or several names joined by ", "."""
    match = re.fullmatch(
        rf'(?:#.*\n)*check\("{cell.name}", ({_NAMES})\)', cell.text.strip()
    )
    if not match:
        raise CourseError(
            f'{cell.location}: a check cell holds check("{cell.name}", target), and '
            "comments above it; the build adds the hidden part"
        )
    return match[1]


def format_hidden_check(name: str, target: str) -> str:
    """Format what the build adds to a check cell: the same check on hidden cases.

    ``name`` is the exercise's; ``target`` is what it checks, as `target` returns it.
    """
    return f'\n{BEGIN_HIDDEN}\ncheck.hidden("{name}", {target})\n{END_HIDDEN}'


def _describe_pairs(cells: Sequence[Cell]) -> Iterator[str]:
    """Describe duplicate names, and exercises or checks that are not paired."""
    counts = Counter((cell.grade_id) for cell in cells if cell.role)
    exercises = [cell.name for cell in cells if cell.role == "exercise"]
    checks = [cell.name for cell in cells if cell.role == "check"]
    for cell in cells:
        if cell.role and counts[cell.grade_id] > 1:
            yield f'{cell.location}: "{cell.name}" is used twice'
        is_unpaired = cell.role == "exercise" and cell.name not in checks
        if is_unpaired or (cell.role == "check" and cell.name not in exercises):
            yield f'{cell.location}: "{cell.name}" needs both an exercise and a check'


def refuse_wrong_sum(cells: Sequence[Cell]) -> None:
    """Raise a CourseError if a unit's points do not sum to 100."""
    graded = [cell for cell in cells if cell.points] or cells
    total = sum(cell.points for cell in cells)
    if abs(total - 100) > 1e-9:
        raise CourseError(
            f"{graded[-1].location}: points sum to {total:g}, not to 100; change those "
            "of this cell, or of others"
        )


def without_markers(text: str) -> str:
    """A cell's text without the lines that mark where a solution begins and ends."""
    lines = [line for line in text.splitlines() if line.strip() not in (BEGIN, END)]
    return "\n".join(lines)


def to_source(unit: Unit, cells: list[Cell]) -> str:
    """Generate the text of nbgrader's source notebook, the same for equal cells."""
    included = [cell for cell in cells if not (cell.is_given and cell.role == "check")]
    built = [_nbformat_cell(cell) for cell in included]
    _set_ids(built)
    built[1:1] = _generated(unit)
    notebook = nbformat.v4.new_notebook(
        cells=built,
        metadata={"kernelspec": KERNEL, "language_info": {"name": "python"}},
    )
    if given_names := [c.name for c in cells if c.is_given and c.role == "check"]:
        notebook.metadata[EDITION] = {"given": given_names}
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    nbformat.validate(notebook)
    text: str = nbformat.writes(notebook)
    return f"{text}\n"


def _generated(unit: Unit) -> list[nbformat.NotebookNode]:
    """The cells that the build writes below each notebook's title."""
    texts = published(unit.root).generated_cells(unit)
    badge = nbformat.v4.new_markdown_cell(texts[BADGE], id=BADGE)
    finder = nbformat.v4.new_code_cell(texts[FINDER], id=FINDER)
    finder.metadata.update(copy.deepcopy(FOLDED))
    return [badge, finder]


def _nbformat_cell(cell: Cell) -> nbformat.NotebookNode:
    """Convert a cell to nbformat, with nbgrader's metadata unless ``is_given``."""
    built: nbformat.NotebookNode
    if cell.kind == "markdown":
        built = nbformat.v4.new_markdown_cell(cell.text)
    else:
        built = nbformat.v4.new_code_cell(cell.text)
    if cell.folded:
        built.metadata.update(copy.deepcopy(FOLDED))
    if cell.is_given:
        return built
    if cell.role == "check":
        built.source += format_hidden_check(cell.name, target(cell))
    if cell.role:
        built.metadata["nbgrader"] = {
            "grade": cell.role != "exercise",
            "grade_id": cell.grade_id,
            "locked": cell.role == "check",
            "schema_version": 3,
            "solution": cell.role != "check",
            "task": False,
        }
        if cell.role != "exercise":
            built.metadata["nbgrader"]["points"] = cell.points
    return built


def _set_ids(cells: list[nbformat.NotebookNode]) -> None:
    """Give cells stable ids: the grade id, else the last heading and a count."""
    heading, count, uses = "top", 0, Counter[str]()
    for cell in cells:
        match = re.match(r"#+ (.+)", cell.source)
        if match and cell.cell_type == "markdown":
            heading, count = re.sub(r"[^a-z0-9]+", "-", match[1].lower()).strip("-"), 0
        count += 1
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        # nbformat allows 64 characters.
        identifier = grade_id or f"{heading[:56].strip('-')}-{count}"
        uses[identifier] += 1
        suffix = f"-again{uses[identifier]}" if uses[identifier] > 1 else ""
        cell["id"] = f"{identifier}{suffix}"
