"""Render pages that load nothing from a network, run no script, and escape all text."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from autograder.course import files, sheet
from autograder.grading.dates import in_words
from autograder.grading.titles import heading, number, title

_TEMPLATES = Path(__file__).parent / "templates"


def render(
    template: str, unit: str, *, folder: Path = _TEMPLATES, **values: Any
) -> str:
    """Render a template of a folder, or of this package, as HTML; values are escaped.

    If given, ``names`` maps student ids to names for the filter ``person``.
    """
    environment = Environment(
        loader=FileSystemLoader([folder, _TEMPLATES]), autoescape=True,
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    prefix = f"{unit.partition('_')[2]}-"
    environment.filters.update(
        number=lambda value: sheet.format_points(round(float(value), 2)),
        percent=lambda share: f"{share:.0%}",
        time=_time,
        span=in_words,
        heading=heading,
        numbered=lambda name: number(unit, name),
        code=code,
        short=lambda name: title(unit, name).removeprefix(prefix),
        person=lambda student: _person(student, values.get("names", {})),
    )
    environment.globals["today"] = today()
    return environment.get_template(template).render(unit=unit, **values)


def write(path: Path, template: str, unit: str, **values: Any) -> Path:
    """Render a template into a file, and return its path."""
    files.write(path, render(template, unit, **values))
    return path


def write_both(path: Path, html: str, table: str) -> list[Path]:
    """Write a page, and its table as CSV next to it; return both paths."""
    paths = [path, path.with_suffix(".csv")]
    for file, text in zip(paths, (html, table), strict=True):
        files.write(file, text)
    return paths


def today() -> str:
    """The date in the format of pages and records: "02 November 2026"."""
    return f"{datetime.date.today():%d %B %Y}"


def _person(student: str, names: Mapping[str, str]) -> str:
    name = names.get(student, student)
    return student if name == student else f"{name} ({student})"


def _time(seconds: float) -> str:
    """A duration in hours, minutes or seconds."""
    if seconds >= 3600:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 60:.1f} min" if seconds >= 120 else f"{seconds:.3g} s"


def code(text: str) -> Markup:
    """Convert text to HTML, with code between backticks and emphasis in asterisks."""
    parts = re.split(r"(`[^`]+`)", str(escape(text)))  # no emphasis within code
    return Markup("".join(
        f"<code>{part[1:-1]}</code>" if part.startswith("`") and len(part) > 1
        else re.sub(r"\*(\w[^*]*)\*", r"<em>\1</em>", part)
        for part in parts
    ))  # fmt: skip
