"""The website's first page: the course, doors for its readers, pictures and units."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from autograder.authoring import budget
from autograder.authoring.colab import published
from autograder.authoring.edition import read
from autograder.course import ROOT, Unit, manifest, settings
from autograder.course.errors import CourseError
from autograder.course.printable import format_count
from autograder.root import CONTENT

_TEMPLATE = Path(__file__).parent / "templates" / "index.md"
_PICTURE = re.compile(r"<picture>.*?</picture>", re.DOTALL)
_DOORS = {
    "Learn": "Read here; solve the exercises in Colab or on your own computer.",
    "Teach": "Hand out the notebooks, and see at a glance where a class is in trouble.",
    "Grade": "Collect, read the written answers, and return feedback.",
}
_FIGURE = "<figure>\n<figcaption>{}</figcaption>\n<div>{}</div>\n</figure>"


def text(units: Sequence[Unit], docs: Sequence[str]) -> str:
    """The Markdown of the first page; ``docs`` are the names of the guides' pages."""
    pages = [unit.label for unit in units]
    doors = [("Learn", pages[0]), ("Teach", "docs/instructor"), ("Grade", "docs/ta")]
    about = settings()
    pictures = {"What you will have built": _drawing(), "What a check says": _picture()}
    return _TEMPLATE.read_text(encoding="utf-8").format(
        title=about["title"],
        about=about["about"].strip(),
        pictures="\n".join(
            _FIGURE.format(caption, picture)
            for caption, picture in pictures.items()
            if picture
        ),
        doors="\n".join(
            f'<a href="{page}.html"><strong>{door}</strong>{_DOORS[door]}</a>'
            for door, page in doors
            if page in pages or page.removeprefix("docs/") in docs
        ),
        units="\n".join(map(_describe, units)),
        pages="\n".join(pages),
        docs="\n".join(f"docs/{name}" for name in docs),
    )


def links(unit: Unit) -> str:
    """Markdown with the links that open a unit's notebook in Colab and download it."""
    download = f'<a href="notebooks/{unit.release.name}" download>Download</a>'
    colab = published(unit.root).notebook(unit)
    return f"[Open in Colab]({colab})<span> · </span>{download}"


def _drawing() -> str:
    """The SVG that ``drawing`` in course.toml names; "" if it names none.

    Raises:
        CourseError: there is no such drawing.
    """
    if not (name := settings().get("drawing")):
        return ""
    path = CONTENT / "drawings" / f"{name}.svg"
    if not path.is_file():
        raise CourseError(f'course.toml: drawing = "{name}", but there is no {path}')
    # An empty line would end the HTML within Markdown.
    return re.sub(r"\n\s*\n", "\n", path.read_text(encoding="utf-8"))


def _picture() -> str:
    """Return the first ``<picture>`` of README.md as HTML; "" if there is none."""
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8") if readme.is_file() else ""
    if not (match := _PICTURE.search(text)):
        return ""
    values = dict(re.findall(r'\b(alt|src|srcset)="([^"]*)"', match[0]))
    return "\n".join(
        f'<img class="only-{theme}" alt="{values["alt"]}" src="{values[source]}">'
        for theme, source in (("light", "src"), ("dark", "srcset"))
    )


def _describe(unit: Unit) -> str:
    """Markdown with a unit's title, what students build in it, its size and links."""
    cells = read(unit)
    title = cells[0].text.partition("\n")[0].lstrip("# ")
    count = sum(cell.role == "check" and not cell.is_given for cell in cells)
    size = f"{format_count(count, 'exercise')} · {budget.stated_time(cells)}"
    return f"""\
<div>

**[{title}]({unit.label})**

{manifest.read(unit).summary}

{size}<br>{links(unit)}

</div>"""
