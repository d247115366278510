"""A hand-written notebook is read strictly, and becomes a valid source."""

import nbformat
import pytest

from autograder.authoring import notebook
from autograder.course.errors import CourseError
from tests.tiny_course import TEXT, as_text


def read_refusal(tmp_path, old: str, new: str) -> str:
    assert TEXT.count(old) >= 1
    with pytest.raises(CourseError) as caught:
        notebook.read(as_text(tmp_path, TEXT.replace(old, new)))
    return str(caught.value)


def test_a_good_notebook_becomes_a_valid_source(tmp_path):
    unit = as_text(tmp_path)
    cells = notebook.read(unit)
    source = nbformat.reads(notebook.to_source(unit, cells), as_version=4)
    graded = [c.metadata.nbgrader for c in source.cells if "nbgrader" in c.metadata]
    ids = [c.grade_id for c in graded]
    assert ids == ["tiny-double-answer", "tiny-double", "tiny-why"]
    assert sum(c.get("points", 0) for c in graded) == 100
    assert not any("jupytext" in str(c.metadata) for c in source.cells)
    (check,) = (c for c in source.cells if c.source.startswith("check("))
    assert check.source.splitlines()[1:] == [
        "### BEGIN HIDDEN TESTS",
        'check.hidden("tiny/double", double)',
        "### END HIDDEN TESTS",
    ]


PLUMBING = "# %% folded=true\n# @title Draw it\ndrawn = 1\n\n"


def test_a_folded_cell_is_folded_in_every_kind_of_notebook(tmp_path):
    text = TEXT.replace("# %% exercise", f"{PLUMBING}# %% exercise", 1)
    unit = as_text(tmp_path, text)
    source = notebook.to_source(unit, notebook.read(unit))
    (cell,) = (
        cell
        for cell in nbformat.reads(source, as_version=4).cells
        if cell.source == "# @title Draw it\ndrawn = 1"
    )
    assert cell.metadata == {
        "cellView": "form", "jupyter": {"source_hidden": True}, "tags": ["hide-input"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# %% exercise", "# %% folded=true\ndrawn = 1\n\n# %% exercise"),
        ('exercise="tiny/double"', 'exercise="tiny/double" folded=true'),
    ],
)
def test_a_folded_cell_says_what_it_does_and_is_no_exercise(tmp_path, old, new):
    assert "a folded cell begins with" in read_refusal(tmp_path, old, new)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('exercise="tiny/double"', "exercise=tiny/double", ":9: cannot read"),
        ('exercise="tiny/double"', 'exercize="tiny/double"', ":9: cannot read"),
        ('exercise="tiny/double"', 'exercise="other/double"', ':9: "other/double"'),
        ("points=95", "points='many'", ":17: points must be a number"),
        ("points=95", "", ":17: check and written cells"),
        ("points=95", "points=90", ":20: points sum to 95"),
        ("    ### END SOLUTION\n", "", ":9: ### BEGIN SOLUTION"),
        ("    ### BEGIN SOLUTION\n", "", ":9: ### BEGIN SOLUTION"),
        ('check("tiny/double", double)', "assert double(1) == 2", ":17: a check"),
        ('check("tiny/double", double)', "check(double)", ":17: a check cell"),
        (
            'check("tiny/double", double)\n',
            'check("tiny/double", double)\nprint(double)\n',
            ":17: a check cell",
        ),
        (
            'check("tiny/double", double)\n',
            'check("tiny/double", double)\n### BEGIN HIDDEN TESTS\n',
            "the build adds the hidden part",
        ),
        ('written="tiny/why"', 'written="tiny/double"', "used twice"),
        ("# %% [markdown]\n", "lost = 1\n\n# %% [markdown]\n", ":1: text before"),
        ('check="tiny/double"', 'check="tiny/treble"', ":17: a check cell"),
    ],
)
def test_faults_are_refused_with_file_and_line(tmp_path, old, new, message):
    text = read_refusal(tmp_path, old, new)
    assert text.startswith("notebooks/99_tiny.py:") and message in text


def test_all_faults_are_reported_together(tmp_path):
    text = TEXT.replace("points=95", "points='many'").replace("tiny/why", "tiny/W")
    with pytest.raises(CourseError) as refusal:
        notebook.read(as_text(tmp_path, text.replace("### END SOLUTION", "")))
    assert [line.partition(": ")[0] for line in str(refusal.value).splitlines()] == [
        f"notebooks/99_tiny.py:{line}" for line in (9, 17, 20, 20)
    ]


def test_an_exercise_without_check_is_refused(tmp_path):
    with pytest.raises(CourseError, match="needs both an exercise and a check"):
        text = TEXT.replace("double", "lone")
        body = text[text.index("# %% exercise") : text.index("# %% check")]
        notebook.read(as_text(tmp_path, TEXT + body))
