"""Read and write CSV files in the dialects of LMSs and spreadsheets."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.course.errors import CourseError


@dataclass(frozen=True)
class Sheet:
    """A table: the titles of its columns, and rows of as many cells.

    ``comma`` is the character that separates cells in its CSV file.
    """

    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    comma: str = ","

    def index(self, title: str) -> int | None:
        """The index of the column with this title, in upper or lower case, or None."""
        titles = [name.casefold() for name in self.titles]
        return titles.index(title.casefold()) if title.casefold() in titles else None

    def cell(self, row: Sequence[str], title: str) -> str:
        """A row's cell in the column with this title; "" if there is no such column."""
        column = self.index(title)
        return "" if column is None else row[column].strip()


def read(path: Path) -> Sheet:
    """Read a CSV with commas, semicolons or tabs, in UTF-8 or as Excel's UTF-16.

    The separator is the most frequent of these in the first line, the titles. Each row
    is cut or filled up to the number of titles.

    Raises:
        CourseError: the file cannot be read.
    """
    try:
        data = path.read_bytes()
        wide = data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        text = data.decode("utf-16" if wide else "utf-8-sig")
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    except OSError as error:
        raise CourseError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CourseError(f"{path} is not in UTF-8; save it as UTF-8") from None
    first = text.partition("\n")[0]
    comma = max(",;\t", key=first.count)
    try:
        lines = [row for row in csv.reader(io.StringIO(text), delimiter=comma) if row]
    except csv.Error as error:
        raise CourseError(f"{path}: {error}") from None
    if not lines:
        raise CourseError(f"{path} is empty")
    titles = tuple(title.strip() for title in lines[0])
    width = len(titles)
    rows = tuple(tuple((row + [""] * width)[:width]) for row in lines[1:])
    return Sheet(titles, rows, comma)


def as_text(rows: Iterable[Iterable[object]], comma: str = ",") -> str:
    """Format rows as CSV; a line break in a cell does not start a new row."""
    text = io.StringIO()
    lines = (map(_one_cell, row) for row in rows)
    csv.writer(text, delimiter=comma, lineterminator="\n").writerows(lines)
    return text.getvalue()


def _one_cell(value: object) -> object:
    # Python's writer does not quote a single "\r", at which every reader ends a line.
    return re.sub(r"\r\n?", "\n", value) if isinstance(value, str) else value


_FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")  # the last four: full-width


# In countries with a decimal comma, a spreadsheet splits lines at semicolons, even
# within our cells, so that a formula may also follow a semicolon. Dashes and plus signs
# also begin the items of lists; those without a call or a link are left alone.
_RUNS = "(?=[ \"']{0,3}(?:[=@\uff1d\uff20]|[-+\uff0b\uff0d][^;\\t\\n]*[|(!]))"
_SPLIT = re.compile(f"(?<=[;\\t\\n]){_RUNS}")
_MARKED = re.compile(f"(?<=[;\\t\\n])'{_RUNS}")


def harmless(value: object) -> object:
    """Return a cell's value in a form that no spreadsheet takes for a formula.

    A text gets a "'" where a formula could begin, and a float becomes a text.
    """
    if isinstance(value, float):
        return format_points(value)
    if not isinstance(value, str):
        return value
    # A "'" of the text's own before "=" gets a second one: `as_meant` removes one.
    first = "'" if value.lstrip("'").startswith(_FORMULA) else ""
    return first + _SPLIT.sub("'", re.sub(r"\r\n?", "\n", value))


def as_harmless_text(rows: Iterable[Iterable[object]]) -> str:
    """Format rows as CSV in which each cell is `harmless`."""
    return as_text([harmless(value) for value in row] for row in rows)


def as_meant(cell: str) -> str:
    """Undo `harmless`: return the cell's original value."""
    marked = cell.startswith("'") and cell.lstrip("'").startswith(_FORMULA)
    return _MARKED.sub("", cell[marked:])


def format_points(value: float | None) -> str:
    """Format points, rounded to four decimals; return "" for None."""
    return "" if value is None else f"{round(value, 4):.12g}"
