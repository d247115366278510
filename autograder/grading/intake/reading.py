"""Read a notebook's cells from untrusted bytes."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.grading.intake.common import DEFAULTS, RefusedError, SizeLimits

Json = dict[str, Any]  # a JSON object from an untrusted file

_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_PARTS = 4 << 20  # lists and objects of a notebook; twice as many commas
_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*")


@dataclass(frozen=True)
class StudentCell:
    """The parts of a student's cell that are kept; all else in the cell is dropped.

    Attributes:
        kind: "code", "markdown" or "raw".
        grade_id: the id by which nbgrader names the cell, "" for none.
        ids: the cell's own id, and the one that Colab stores in its metadata.
        attachments: pictures as base64 text, by name and MIME type.
    """

    kind: str
    source: str
    grade_id: str = ""
    ids: tuple[str, ...] = ()
    attachments: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class StudentNotebook:
    """A student's notebook.

    Attributes:
        language: of the kernel, in lower case; "" if the file does not say it.
        personal: whether Colab has stored a user's name in a cell.
        is_cut: whether the file ends, or is damaged, after these cells.
    """

    cells: tuple[StudentCell, ...]
    language: str = ""
    personal: bool = False
    is_cut: bool = False


def read(data: bytes, limits: SizeLimits = DEFAULTS) -> StudentNotebook:
    """Read the cells of an untrusted notebook of any format version, even if damaged.

    Raises:
        RefusedError: too large, nested too deeply, or not a notebook.
    """
    document, is_cut = _json(data, limits)
    raw = _raw_cells(document)
    if raw is None:
        raise RefusedError("it is not a notebook")
    if len(raw) > limits.cells:
        raise RefusedError(f"it has more than {limits.cells} cells")
    cells = [cell for cell in map(_cell, raw) if cell]
    if sum(len(cell.source) for cell in cells) > limits.text_characters:
        raise RefusedError(
            f"it holds more than {limits.text_characters} characters of text"
        )
    metadata = _dict(document.get("metadata"))
    kernel = _dict(metadata.get("kernelspec"))
    language = _text(_dict(metadata.get("language_info")).get("name"))
    language = language or _text(kernel.get("language"))
    personal = _is_personal(raw)
    return StudentNotebook(tuple(cells), language.lower(), personal, is_cut)


def _json(data: bytes, limits: SizeLimits) -> tuple[Json, bool]:
    """Parse a notebook's JSON; also return whether the file is cut off."""
    if len(data) > limits.notebook:
        raise RefusedError(f"it is larger than {limits.notebook >> 20} MB")
    if not data.strip():
        raise RefusedError("it is empty")
    refuse_many_parts(data)
    text = data.decode(json.detect_encoding(data), "replace")
    try:
        return _dict(_DECODER.decode(text)), False
    except RecursionError:
        raise RefusedError("it is nested too deeply") from None
    except ValueError:
        if cells := _whole_cells(text, limits.cells):
            return {"cells": cells}, True
        raise RefusedError("it is damaged or incomplete") from None
    except MemoryError:
        raise RefusedError("it is damaged or incomplete") from None


# Python refuses to parse integers of thousands of digits; their value is not used.
_DECODER = json.JSONDecoder(parse_int=lambda digits: int(digits[:18]))
_CELLS = re.compile(r'(?<!\\)"cells"\s*:\s*\[')
_BETWEEN = re.compile(r"[\s,]*")


def _whole_cells(text: str, most: int) -> list[Json]:
    """The complete cells of a notebook, before the point where its file is damaged.

    At most ``most`` + 1 cells are read, which is enough to refuse the notebook.
    """
    cells: list[Json] = []
    start = _CELLS.search(text)
    at = start.end() if start else len(text)
    with contextlib.suppress(ValueError, RecursionError, MemoryError):
        while len(cells) <= most and (between := _BETWEEN.match(text, at)):
            cell, at = _DECODER.raw_decode(text, between.end())
            cells.append(_dict(cell))
    return cells


def refuse_many_parts(data: bytes) -> None:
    """Check that parsing a notebook takes at most some hundred megabytes.

    Raises:
        RefusedError: it holds too many lists, objects or texts.
    """
    if data.count(b"[") + data.count(b"{") > _PARTS or data.count(b",") > 2 * _PARTS:
        raise RefusedError("it has too many parts; clear its outputs and hand in again")


def _raw_cells(document: Json) -> list[Any] | None:
    """The cells of a notebook, also of nbformat 3; None if it has no list of cells."""
    cells = document.get("cells")
    if not isinstance(cells, list) and isinstance(document.get("worksheets"), list):
        sheets = [_dict(sheet).get("cells") for sheet in document["worksheets"]]
        cells = [cell for sheet in sheets if isinstance(sheet, list) for cell in sheet]
    return cells if isinstance(cells, list) else None


def _cell(raw: object) -> StudentCell | None:
    """Read one cell, of any format version; None if it is not a cell."""
    if not isinstance(raw, dict):
        return None
    metadata = _dict(raw.get("metadata"))
    kind = raw.get("cell_type")
    source = _text(raw.get("source", raw.get("input")))
    if kind == "heading":  # nbformat 3
        kind, level = "markdown", raw.get("level")
        # The level is untrusted: anything but 1 to 6 counts as 1.
        marks = next((n for n in range(1, 7) if n == level), 1)
        source = "#" * marks + " " + source
    ids = [_text(raw.get("id")), _text(metadata.get("id"))]
    return StudentCell(
        kind if kind in ("code", "markdown") else "raw",
        source,
        _text(_dict(metadata.get("nbgrader")).get("grade_id")),
        tuple(identifier for identifier in ids if identifier),
        _attachments(raw.get("attachments")),
    )


def _dict(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    """A string, or a list of lines, as text that can be encoded in UTF-8."""
    if isinstance(value, list):
        value = "".join(line for line in value if isinstance(line, str))
    if not isinstance(value, str):
        return ""
    value = re.sub("\r\n?", "\n", value).replace("\x00", "")
    return value.encode("utf-8", "replace").decode("utf-8")


def _attachments(value: object) -> dict[str, dict[str, str]]:
    """The pictures attached to a cell: name -> MIME type -> base64 text."""
    pictures = {}
    for name, bundle in _dict(value).items():
        for kind, data in _dict(bundle).items():
            if kind in _PICTURES and _BASE64.fullmatch(_text(data)):
                pictures[_text(name)] = {kind: _text(data)}
    return pictures


def _is_personal(raw: list[Any]) -> bool:
    """Whether Colab stored a user's name in any cell."""
    metadata = (_dict(_dict(cell).get("metadata")) for cell in raw)
    return any(_dict(data.get("executionInfo")).get("user") for data in metadata)
