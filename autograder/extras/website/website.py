"""The course as a website: the released notebooks, run once, without any solution.

Sphinx with MyST-NB and the book theme, which is what Jupyter Book 1 consists of. A page
fetches nothing from elsewhere: equations are MathML, pictures and fonts lie beside it,
and the search runs in the browser, so that the folder works from a disk, too.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import nbformat
from tqdm import tqdm

from autograder.authoring.colab import published
from autograder.authoring.edition import read
from autograder.course import Unit, notebooks, settings
from autograder.course.errors import CourseError
from autograder.course.files import write

_CONF = """\
project = title = {title}
html_title = title
html_theme = "sphinx_book_theme"
extensions = ["myst_nb", "autograder.extras.website.sphinx_math"]
exclude_patterns = ["_build"]
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["course.css"]
html_copy_source = html_show_sourcelink = False
html_show_sphinx = html_show_copyright = False
html_theme_options = {
    "use_download_button": False, "home_page_in_toc": True,
    "footer_content_items": [], "navbar_persistent": [],
}
myst_enable_extensions = ["dollarmath", "amsmath"]
nb_execution_mode = "off"  # the notebooks come with their outputs
nb_ipywidgets_js = {}  # these would come from elsewhere
nb_render_markdown_format = "myst"
suppress_warnings = ["myst.header", "mystnb.unknown_mime_type"]
"""
_STYLE = """\
.bd-main .bd-content .bd-article-container { max-width: 52em; }  /* 88 columns */
details { margin-bottom: 0.5em; }
"""
_INDEX = """\
# {title}

{about}
On this site you read; to work, open a unit in Colab or download its notebook.

| unit | exercises | work on it |
|---|---|---|
{rows}

```{{toctree}}
:hidden:

{pages}
```
"""


def build(units: Sequence[Unit], folder: Path) -> Path:
    """Make the website of ``units``; replaces ``folder`` whole; its first page.

    Raises:
        CourseError: a notebook does not run to its end, or Sphinx is not there or
            finds something wrong.
    """
    _refuse_without_sphinx()
    with tempfile.TemporaryDirectory() as name:
        texts, pages = Path(name) / "texts", Path(name) / "pages"
        write(texts / "conf.py", _CONF.replace("{title}", repr(settings()["title"])))
        write(texts / "_static" / "course.css", _STYLE)
        write(texts / "index.md", _index(units))
        for unit in tqdm(units, "run the notebooks", unit="unit"):
            write(texts / f"{unit.label}.ipynb", _page(unit))
        _sphinx(texts, pages)
        for unit in units:
            write(pages / "notebooks" / unit.release.name, unit.release.read_bytes())
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(pages, folder, ignore=shutil.ignore_patterns(".*"))
    return folder / "index.html"


def _refuse_without_sphinx() -> None:
    """Say what is missing before notebooks are run for half a minute."""
    needed = ("sphinx", "myst_nb", "sphinx_book_theme")
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        raise CourseError(
            f"the website needs {', '.join(missing)}: pip install '.[site]'"
        )


def _index(units: Sequence[Unit]) -> str:
    rows = []
    for unit in units:
        cells = read(unit)
        title = cells[0].text.splitlines()[0].lstrip("# ")
        exercises = sum(cell.role == "check" and not cell.is_given for cell in cells)
        rows.append(f"| [{title}]({unit.label}) | {exercises} | {_links(unit)} |")
    pages = "\n".join(unit.label for unit in units)
    about = settings()
    return _INDEX.format(
        title=about["title"],
        about=about["about"].strip(),
        rows="\n".join(rows),
        pages=pages,
    )


def _links(unit: Unit) -> str:
    download = f'<a href="notebooks/{unit.release.name}" download>Download</a>'
    return f"[Open in Colab]({published(unit.root).notebook(unit)}) · {download}"


def _page(unit: Unit) -> str:
    """The release with the outputs of a run, except those of unsolved checks."""
    book = notebooks.read(unit.release)
    _execute(book, unit)
    for cell in book.cells:
        if cell.metadata.get("nbgrader", {}).get("grade") and "outputs" in cell:
            cell.outputs = []  # "not solved yet", every one of them
    book.cells = [cell for cell in book.cells if cell.id not in notebooks.GENERATED]
    first = book.cells[0]
    title, _, body = first.source.partition("\n")
    first.source = f"{title}\n\n{_links(unit)}\n{body}"
    text: str = nbformat.writes(book)
    return text


def _execute(book: nbformat.NotebookNode, unit: Unit) -> None:
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            book, timeout=600, resources={"metadata": {"path": folder}}
        )
        try:
            client.execute()
        except CellExecutionError as error:
            raise CourseError(f"{unit.label} does not run: {error}") from error


def _sphinx(texts: Path, pages: Path) -> None:
    process = subprocess.run(
        [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going",
         texts, pages],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if process.returncode:
        raise CourseError(f"Sphinx reports an error:\n{process.stderr}")
