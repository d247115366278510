"""Build the website: the released notebooks, with outputs from the solutions.

Each page shows the exercises' stubs, but outputs of correct code; the course's
docs follow. Sphinx builds the site with MyST-NB. It loads nothing from other
servers, so the folder also works locally.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from tqdm import tqdm

from autograder.authoring.edition import read
from autograder.authoring.notebook import without_markers
from autograder.checks.words import ALL_SOLVED
from autograder.course import ROOT, Unit, grade_ids, notebooks, settings
from autograder.course.errors import CourseError
from autograder.course.files import write
from autograder.extras.website import equation_page, footer, front_page
from autograder.grading.rendering.equations import font_rules

_CONF = """\
project = title = {title}
html_title = title
html_theme = "sphinx_book_theme"
extensions = ["myst_nb", "autograder.extras.website.sphinx_math"]
html_extra_path = ["extra"]
html_math_renderer = "mathml"
highlight_language = "text"  # commands are not Python
html_static_path = ["_static"]
html_css_files = ["course.css"]
html_js_files = ["search.js"]
html_copy_source = html_show_sourcelink = html_use_index = False
html_show_sphinx = html_show_copyright = False
html_theme_options = {
    "use_download_button": False, "navbar_persistent": [],
    "footer_content_items": ["extra-footer"], "extra_footer": {footer},
    "secondary_sidebar_items": {"**": ["page-toc"], "index": [], "docs/more": []},
}
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 4
nb_execution_mode = "off"  # the notebooks come with their outputs
nb_ipywidgets_js = {}  # these would come from elsewhere
nb_render_markdown_format = "myst"
nb_code_prompt_show = "Show the code"
nb_code_prompt_hide = "Hide the code"
suppress_warnings = ["myst.header", "myst.xref_missing", "misc.highlighting_failure",
    "mystnb.unknown_mime_type"]
"""
_TEMPLATES = Path(__file__).parent / "templates"
_GUIDES = ("student", "instructor", "ta", "admin")  # others have a page of their own
_ELSEWHERE = re.compile(r"\[([^\[\]]+)\]\(\.\./(?!assets/)[^)]*\)")  # not on the site
_FILE = re.compile(r"\[\w+\.md\]\((\w+\.md(?:#[\w-]+)?)\)")  # shown by its title
_PREDICTION = "**Predict first.**"  # the next result is folded
_BLANK = "> *Your prediction"  # a cell to write in, which the website leaves out
_FOLDED = {"code_prompt_show": "Show the result", "code_prompt_hide": "Hide the result"}
_NO_PAGES = shutil.ignore_patterns(".*", "_sources")  # what Sphinx leaves, of no use
_LAST = "## Where you stand"  # left out, since readers of the website have no points


def build(units: Sequence[Unit], folder: Path) -> Path:
    """Build the website of ``units``, replacing ``folder``; return its first page.

    Raises:
        CourseError: a notebook fails, or Sphinx is missing or reports a problem.
    """
    _refuse_without_sphinx()
    with tempfile.TemporaryDirectory() as name:
        texts, pages = Path(name) / "texts", Path(name) / "pages"
        conf = _CONF.replace("{title}", repr(settings()["title"]))
        write(texts / "conf.py", conf.replace("{footer}", repr(footer.html())))
        write(texts / "_static" / "search.js", _template("search.js"))
        write(texts / "_static" / "course.css", font_rules() + _template("course.css"))
        docs = _write_docs(texts)
        write(texts / "index.md", front_page.text(units, docs))
        write(texts / "equations.md", equation_page.page(list(map(_texts, units))))
        for unit in tqdm(units, "run the notebooks", unit="unit"):
            write(texts / f"{unit.label}.ipynb", _page(unit))
        _sphinx(texts, pages)
        for unit in units:
            write(pages / "notebooks" / unit.release.name, unit.release.read_bytes())
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(pages, folder, ignore=_NO_PAGES)
    return folder / "index.html"


def _template(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _refuse_without_sphinx() -> None:
    """Raise CourseError for missing packages before the notebooks are executed."""
    needed = ("sphinx", "myst_nb", "sphinx_book_theme")
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        raise CourseError(
            f"the website needs more packages: pip install {' '.join(missing)}"
        )


def _write_docs(texts: Path) -> list[str]:
    """Write docs and pictures into ``texts``; return the pages that the index lists."""
    (texts / "extra").mkdir()
    for path in (ROOT / "assets").glob("*.png"):
        # Markdown refers to the first copy, and HTML within Markdown to the second.
        for folder in (texts, texts / "extra"):
            write(folder / "assets" / path.name, path.read_bytes())
    names = sorted(path.stem for path in (ROOT / "docs").glob("*.md"))
    for name in names:
        text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
        text = _FILE.sub(r"[](\1)", _ELSEWHERE.sub(r"\1", text))
        write(texts / "docs" / f"{name}.md", text)
    pages = [name for name in _GUIDES if name in names]
    if further := [name for name in names if name not in _GUIDES]:
        listing = _template("more.md").format(docs="\n".join(further))
        write(texts / "docs" / "more.md", listing)
        pages.append("more")
    return pages


def _texts(unit: Unit) -> tuple[Unit, str, list[NotebookNode]]:
    """Return a unit, its title and the cells of its release without written answers."""
    cells = notebooks.read(unit.release).cells
    title = cells[0].source.partition("\n")[0].lstrip("# ")
    return unit, title, [cell for cell in cells if not _is_markdown_answer(cell)]


def _page(unit: Unit) -> str:
    """Write a unit's released notebook as JSON, with the outputs of correct code."""
    book = notebooks.read(unit.release)
    book.cells = [c for c in book.cells if not _is_markdown_answer(c)]
    stubs = _fill_in(book, unit)
    _execute(book, unit)
    for cell in book.cells:
        if cell.id in stubs:
            cell.source, cell.outputs = stubs[cell.id], []
    book.cells = list(_readable(book.cells))
    first = book.cells[0]
    title, _, body = first.source.partition("\n")
    links = f'<div class="links">\n\n{front_page.links(unit)}\n\n</div>'
    first.source = f"{title}\n\n{links}\n{body}"
    return str(nbformat.writes(book))


def _only_draws(code: str) -> bool:
    """Return whether code can be hidden: only imports and one call of ``drawing``."""
    try:
        statements = ast.parse(code).body
    except SyntaxError:  # for instance Markdown
        return False
    match [s for s in statements if not isinstance(s, ast.Import | ast.ImportFrom)]:
        case [ast.Expr(ast.Call(ast.Name("drawing")))]:
            return True
    return False


def _readable(cells: Sequence[NotebookNode]) -> Iterator[NotebookNode]:
    """Yield the cells that the website shows, with tags that MyST-NB understands.

    The tags fold a result that readers should predict, and hide code that only draws.
    """
    is_predicted = False
    for cell in cells:
        if cell.source.startswith(_LAST):
            return
        tags = cell.metadata.setdefault("tags", [])
        if _only_draws(cell.source):
            tags.append("remove-input")
        is_predicted = is_predicted or _PREDICTION in cell.source
        if is_predicted and cell.get("outputs"):
            tags.append("hide-output")
            cell.metadata["mystnb"] = _FOLDED
            is_predicted = False
        if cell.id not in notebooks.GENERATED and not cell.source.startswith(_BLANK):
            yield cell


def _is_markdown_answer(cell: NotebookNode) -> bool:
    mark = cell.metadata.get("nbgrader", {})
    return cell.cell_type == "markdown" and bool(mark.get("solution"))


def _fill_in(book: NotebookNode, unit: Unit) -> dict[str, str]:
    """Replace the stubs by the solutions; returns the stubs by cell id."""
    solutions = {
        grade_ids.of_answer(cell.name): without_markers(cell.text)
        for cell in read(unit)
        if cell.role == "exercise"
    }
    stubs = {}
    for cell in book.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        if grade_id in solutions:
            stubs[cell.id], cell.source = cell.source, solutions[grade_id]
    return stubs


def _execute(book: NotebookNode, unit: Unit) -> None:
    """Run a solved notebook to its end, with all of its demonstrations.

    Raises:
        CourseError: a cell raised an error; the message has its file and line.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        client = NotebookClient(
            book, timeout=3600, coalesce_streams=True, resources=resources,
            # Otherwise each kernel warns that it listens on this machine.
            extra_arguments=["--IPKernelApp.log_level=ERROR"],
        )  # fmt: skip
        try:
            client.execute(env={**os.environ, ALL_SOLVED: "1"})
        except CellExecutionError as error:
            message = f"{error.ename}: {error.evalue}".partition("\n")[0]
            raise CourseError(
                f"{_locate_error(book, unit)}: {message}; with all exercises solved, "
                "every cell has to run"
            ) from error


def _locate_error(book: NotebookNode, unit: Unit) -> str:
    """The location of a cell's error in the unit's text: file, and line if known."""
    for cell in (cell for cell in book.cells if cell.cell_type == "code"):
        for error in (o for o in cell.outputs if o.output_type == "error"):
            trace = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(error.traceback))
            frames = rf"In\[{cell.execution_count}\], line (\d+)"
            line = int([0, *re.findall(frames, trace)][-1])
            for written in (c for c in read(unit) if c.text == cell.source):
                name, _, first = written.location.rpartition(":")
                return f"{name}:{int(first) + line}"
    return unit.text.relative_to(unit.root).as_posix()


def _sphinx(texts: Path, pages: Path) -> None:
    """Build the pages from the texts with Sphinx; its warnings count as errors."""
    process = subprocess.run(
        [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going",
         texts, pages],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if process.returncode:
        raise CourseError(f"Sphinx reports an error:\n{process.stderr}")
