"""Authors may work in JupyterLab: no edit is lost, and no text is spoilt."""

import asyncio
import shutil

import nbformat
import pytest
from jupytext.async_contentsmanager import AsyncTextFileContentsManager

from autograder import cli
from autograder.authoring import adopt, course, last_build, notebook
from autograder.course import ROOT, units
from autograder.course.errors import CourseError
from autograder.course.files import write
from tests.tiny_course import as_text


def in_jupyterlab(unit, root, edit=lambda cells: None) -> str:
    """The hand-written text after it was opened, edited and saved as a notebook."""
    path = root / "notebooks" / unit.text.name
    path.parent.mkdir(exist_ok=True)
    shutil.copy(ROOT / "notebooks" / "jupytext.toml", path.parent)
    if path != unit.text:
        shutil.copy(unit.text, path)
    manager = AsyncTextFileContentsManager(root_dir=str(path.parent))
    filename = path.name
    model = asyncio.run(manager.get(filename, type="notebook"))
    book = model["content"]
    book.metadata["kernelspec"] = notebook.KERNEL
    book.metadata["language_info"] = {"name": "python", "version": "3.12"}
    for cell in book.cells:
        cell.metadata["trusted"] = True
    edit(book.cells)
    asyncio.run(manager.save({"type": "notebook", "content": book}, filename))
    assert not list(path.parent.glob("*.ipynb")), "no notebook beside it"
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_a_text_saved_in_jupyterlab_is_the_same_to_the_byte(unit, tmp_path):
    assert in_jupyterlab(unit, tmp_path) == unit.text.read_text(encoding="utf-8")


def test_an_edit_in_jupyterlab_is_all_that_changes(tmp_path):
    unit = as_text(tmp_path)
    before = unit.text.read_text()

    def edit(cells):
        cells[2].source = cells[2].source.replace("Twice x.", "x, twice.")

    assert in_jupyterlab(unit, tmp_path, edit) == before.replace(
        "Twice x.", "x, twice."
    )


@pytest.fixture
def recorded_unit(tmp_path):
    """A tiny unit whose source notebook was built, and the fingerprint recorded."""
    unit = as_text(tmp_path)
    record_build(unit)
    return unit


def record_build(unit) -> None:
    """What a build does to the source notebook."""
    source = notebook.to_source(unit, notebook.read(unit))
    adopt.refuse_edits(unit, source)
    write(unit.source, source)
    write(last_build.record(unit), adopt.fingerprint(source))


def edit_source(unit, change) -> None:
    """Edit the source notebook as JupyterLab saves it: outputs, kernel, new ids."""
    book = nbformat.read(unit.source, as_version=4)
    change(book.cells)
    for number, cell in enumerate(book.cells):
        cell["id"] = f"new-{number}"
        if cell.cell_type == "code":
            cell.outputs = [nbformat.v4.new_output("stream", text="2\n")]
            cell.metadata["execution"] = {"iopub.status.busy": "now"}
    book.metadata["language_info"] = {"name": "python", "version": "3.12.1"}
    nbformat.write(book, unit.source)


def replaced(number: int, old: str, new: str):
    def change(cells):
        assert old in cells[number].source
        cells[number].source = cells[number].source.replace(old, new)

    return change


def with_other_points(cells):
    cells[5].metadata.nbgrader.points = 90.0
    cells[6].metadata.nbgrader.points = 10.0


def with_a_new_cell(cells):
    cells.insert(4, nbformat.v4.new_markdown_cell("A line.\n\n- and a list"))


def without_the_imports(cells):
    del cells[3]
    cells[3].source = cells[3].source.replace("math.fsum([x, x])", "x + x")


EDITS = {
    "code": (
        replaced(4, "math.fsum([x, x])", "math.fsum((x, x))"),
        ("math.fsum([x, x])", "math.fsum((x, x))"),
    ),
    "text": (replaced(0, "Tiny", "Small"), ("Tiny", "Small")),
    "points": (
        with_other_points,
        ("points=95", "points=90"),
        ("points=5", "points=10"),
    ),
    "a new cell": (
        with_a_new_cell,
        (
            '# %% exercise="tiny/double"',
            "# %% [markdown]\n# A line.\n#\n# - and a list\n\n"
            '# %% exercise="tiny/double"',
        ),
    ),
    "a cell less": (
        without_the_imports,
        (
            "# %%\nimport math\nimport matplotlib.pyplot as plt\n"
            "from autograder import check\n\n",
            "",
        ),
        ("math.fsum([x, x])", "x + x"),
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_source_stops_the_build_and_is_adopted(recorded_unit, name):
    before = recorded_unit.text.read_text()
    change, *differences = EDITS[name]
    edit_source(recorded_unit, change)
    edited = recorded_unit.source.read_bytes()
    with pytest.raises(
        CourseError, match=r"99_tiny.ipynb was edited .*: autograder ad"
    ):
        record_build(recorded_unit)
    assert recorded_unit.source.read_bytes() == edited
    assert adopt.adopt(recorded_unit)
    expected = before
    for old, new in differences:
        assert old in expected
        expected = expected.replace(old, new)
    assert recorded_unit.text.read_text() == expected
    record_build(recorded_unit)
    assert not adopt.adopt(recorded_unit)


def test_a_source_that_was_only_run_and_saved_is_not_an_edit(recorded_unit):
    edit_source(recorded_unit, lambda cells: None)
    assert not adopt.adopt(recorded_unit)
    record_build(recorded_unit)


def test_the_build_says_so_before_it_starts_to_work(recorded_unit, monkeypatch):
    edit_source(recorded_unit, EDITS["text"][0])
    monkeypatch.setattr(course, "make_files", lambda unit: pytest.fail("it went on"))
    with pytest.raises(CourseError, match="was edited since it was built"):
        course.build(recorded_unit)


def test_edits_on_both_sides_are_refused(recorded_unit):
    edit_source(recorded_unit, EDITS["text"][0])
    recorded_unit.text.write_text(
        recorded_unit.text.read_text().replace("Twice x", "Two x")
    )
    before = recorded_unit.text.read_text()
    for command in (adopt.adopt, record_build):
        with pytest.raises(CourseError, match=r"both .* have changed|was edited"):
            command(recorded_unit)
    assert recorded_unit.text.read_text() == before


def tagged(cells):
    cells[3].metadata["tags"] = ["hide-input"]


def with_a_picture(cells):
    cells[0].attachments = {"cat.png": {"image/png": "iVBORw0KGgo="}}


def without_the_badge(cells):
    del cells[1]


def with_a_misnamed_test(cells):
    cells[5].metadata.nbgrader.grade_id = "cell-8f3a"


def read_only(cells):
    cells[3].metadata["nbgrader"] = {
        "grade": False,
        "solution": False,
        "locked": True,
        "task": False,
        "grade_id": "cell-1",
        "schema_version": 3,
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (tagged, "cannot hold: tags"),
        (with_a_picture, "attachment"),
        (without_the_badge, "restore them"),
        (with_a_misnamed_test, r'99_tiny.py:17: "cell/8f3a" should read "tiny/'),
        (read_only, "read-only"),
        (replaced(5, "END HIDDEN", "END"), "bring the edit over by hand"),
    ],
)
def test_what_the_text_cannot_hold_is_refused_and_nothing_written(
    recorded_unit, change, message
):
    before = recorded_unit.text.read_text()
    edit_source(recorded_unit, change)
    with pytest.raises(CourseError, match=message):
        adopt.adopt(recorded_unit)
    assert recorded_unit.text.read_text() == before
    with pytest.raises(CourseError, match="was edited"):
        record_build(recorded_unit)


def test_the_command_says_what_it_did(capsys):
    assert cli.main(["adopt", "02"]) == 0
    assert capsys.readouterr().out == "02_attention: no edit to adopt\n"
