"""The footer of each page: who wrote the course, its licence and its addresses."""

from __future__ import annotations

import html as markup
import tomllib
from collections.abc import Mapping
from importlib import metadata
from typing import Any

from autograder.course import ROOT


def html() -> str:
    """What pyproject.toml states of authors, licence, version and addresses, as HTML.

    The labels of ``[project.urls]`` become those of the links.
    """
    path = ROOT / "pyproject.toml"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    project = tomllib.loads(text).get("project", {})
    words = [
        author["name"] for author in project.get("authors", ()) if "name" in author
    ]
    if version := _version(project):
        words.append(f"version {version}")
    if isinstance(licence := project.get("license"), str):  # it may be a table
        words.append(f"licence: {licence.replace(' AND ', ' and ')}")
    links = [
        f'<a href="{markup.escape(url)}">{markup.escape(label)}</a>'
        for label, url in project.get("urls", {}).items()
    ]
    return " · ".join([*map(markup.escape, words), *links])


def _version(project: Mapping[str, Any]) -> str | None:
    """The stated version, or that of the installed package if a program computes it."""
    if "version" not in project.get("dynamic", ()):
        return project.get("version")
    try:
        return metadata.version(project["name"])
    except metadata.PackageNotFoundError:
        return None
