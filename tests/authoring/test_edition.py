"""An edition gives some exercises, and shares out their points among the others."""

from __future__ import annotations

from fractions import Fraction

import nbformat
import pytest

from autograder.authoring import budget, edition, notebook, numbers
from autograder.authoring.adopt import adopt, fingerprint
from autograder.authoring.last_build import record
from autograder.course import Unit, find_unit, manifest, units
from autograder.course.errors import CourseError
from autograder.course.files import write
from tests.tiny_course import as_text, autograde, data, hand_in, make_course, points

TEXT = """# %% [markdown]
# # 1 · Numbers
#
# *About 1 hour · short path about ½: exercises 1.1*
#
# *Two exercises and one written question · 100 points.* The short path carries the
# story: read the rest, and come back to it.

# %%
import math

# %% [markdown]
# ### Exercise 1.1 - twice
#
# *time ~10 min · 60 points*

# %% exercise="numbers/double"
def double(x):
    ### BEGIN SOLUTION
    return math.fsum([x, x])
    ### END SOLUTION

# %% check="numbers/double" points=60
check("numbers/double", double)

# %% [markdown]
# ### Exercise 1.2 - four times
#
# *time ~20 min · 35 points*

# %% exercise="numbers/fourfold"
def fourfold(x):
    ### BEGIN SOLUTION
    return double(double(x))
    ### END SOLUTION

# %% check="numbers/fourfold" points=35
check("numbers/fourfold", fourfold)

# %% [markdown]
# Why? (5 points)

# %% [markdown] written="numbers/why" points=5
# *Your answer here*
"""
GIVEN = ("numbers/double",)


@pytest.fixture
def unit(tmp_path):
    """A unit of two exercises and a question, as its author writes it."""
    as_text(tmp_path)
    tiny_unit = Unit("01", "numbers", tmp_path)
    write(tiny_unit.text, TEXT)
    write(
        tiny_unit.folder / "unit.toml",
        'path = ["double"]\n[keys]\nfourfold=["double"]\n',
    )
    return tiny_unit


def cells_of(unit, giveaways=GIVEN):
    return edition.apply(unit, notebook.read(unit), giveaways)


def test_what_is_given_is_solved_says_so_and_has_no_check(unit):
    book = nbformat.reads(notebook.to_source(unit, cells_of(unit)), as_version=4)
    code = [cell for cell in book.cells if cell.cell_type == "code"][2:]
    assert code[0].source.startswith("# Given") and "fsum([x, x])" in code[0].source
    assert "###" not in code[0].source and "nbgrader" not in code[0].metadata
    assert [cell.source.count("check(") for cell in code] == [0, 0, 1]
    text = "\n".join(cell.source for cell in book.cells)
    assert "*time ~10 min · given: solved below, no points*" in text
    assert "*time ~20 min · 95 points*" in text and "Why? (5 points)" in text


def test_the_head_tells_what_there_is_to_do(unit):
    head = " ".join(cells_of(unit)[0].text.split())
    assert "given, solved and without points: exercises 1.1*" in head
    assert "*1 exercise and one written question" in head
    assert "short path" not in head


def test_without_anything_given_nothing_changes(unit):
    assert cells_of(unit, ()) == notebook.read(unit)
    built = notebook.to_source(unit, cells_of(unit, ()))
    assert built == notebook.to_source(unit, notebook.read(unit))


def test_points_of_the_others_sum_to_what_questions_leave(unit):
    graded = [cell for cell in cells_of(unit) if cell.points]
    assert [(c.name, c.points) for c in graded] == [
        ("numbers/fourfold", 95),
        ("numbers/why", 5),
    ]


@pytest.mark.parametrize(
    ("points", "total", "shares"),
    [
        ([1, 1, 1], 100, [34, 33, 33]),
        ([6, 7, 7, 18, 14], 96, [11, 13, 13, 33, 26]),
        ([2.5, 7.5], 100, [25, 75]),
        ([1, 2], 97.5, [32.5, 65]),
        ([3], 94, [94]),
    ],
)
def test_points_are_scaled_to_whole_ones_that_sum_exactly(points, total, shares):
    scaled = edition.scale_points(points, total)
    assert scaled == shares and sum(map(Fraction, scaled)) == Fraction(total)


def test_a_source_remembers_its_edition(unit):
    assert edition.read_given(unit) == ()
    write(unit.source, notebook.to_source(unit, cells_of(unit)))
    assert edition.read_given(unit) == GIVEN
    assert edition.read(unit) == cells_of(unit)


def test_an_edit_of_an_edition_is_not_adopted(unit):
    source = notebook.to_source(unit, cells_of(unit))
    write(record(unit), fingerprint(source))
    write(unit.source, source.replace("Why?", "How?"))
    with pytest.raises(CourseError, match="an edition with given exercises"):
        adopt(unit)


def test_short_gives_what_is_off_the_path_and_more_can_be_named(unit):
    assert edition.select_given(unit, "short") == ("numbers/fourfold",)
    assert edition.select_given(unit, "full") == ()
    for name in ("numbers/double", "double", "1.1"):
        assert edition.select_given(unit, "full", [name]) == GIVEN
    assert len(edition.select_given(unit, "short", ["double"])) == 2


@pytest.mark.parametrize(
    ("name", "names", "message"),
    [
        ("long", [], 'no edition "long"; there are full, short'),
        ("full", ["duble"], 'no exercise "duble" in 01_numbers; try numbers/double'),
    ],
)
def test_a_name_that_is_not_known_is_one_line(unit, name, names, message):
    with pytest.raises(CourseError) as error:
        edition.select_given(unit, name, names)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_something_is_left_to_solve_and_a_short_edition_needs_a_path(unit):
    with pytest.raises(CourseError, match="leave one to solve"):
        cells_of(unit, ("numbers/double", "numbers/fourfold"))
    write(unit.folder / "unit.toml", "")
    with pytest.raises(CourseError, match="has no short path"):
        edition.select_given(unit, "short")


def test_it_says_which_given_solution_answers_what_is_asked(unit):
    assert list(edition.find_giveaways(unit, GIVEN)) == [
        ("numbers/double", "numbers/fourfold")
    ]
    assert not list(edition.find_giveaways(unit, (*GIVEN, "numbers/fourfold")))


def test_it_is_graded_by_the_points_in_its_cells(unit, tmp_path):
    """Released by nbgrader, handed in and graded: 95 points for what is asked."""
    text = notebook.to_source(unit, cells_of(unit))
    asserts = (("check(", "# check("), ("check.hidden(", "# check.hidden("))
    source = nbformat.reads(text, as_version=4)
    del source.cells[1:3]  # the one that looks for the checks
    for cell in source.cells:
        if cell.metadata.get("nbgrader", {}).get("grade") and cell.cell_type == "code":
            cell.source = f"assert fourfold(2) == 8\n{cell.source}"
        for old, new in asserts:
            cell.source = cell.source.replace(old, new)
    root = tmp_path / "course"
    make_course(root, "01_numbers", source)
    release = nbformat.read(
        root / "release" / "01_numbers" / "01_numbers.ipynb", as_version=4
    )
    hand_in(root, "blank", data(release))
    for cell in release.cells:
        if cell.source.startswith("def fourfold"):
            cell.source = "def fourfold(x):\n    return double(double(x))"
    hand_in(root, "solved", data(release))
    assert autograde(root)["success"]
    assert points(root) == {"blank": [0.0, 0.0], "solved": [95.0, 0.0]}


@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_every_unit_has_a_short_edition_of_100_points(unit):
    giveaways = edition.select_given(unit, "short")
    cells = edition.apply(unit, notebook.read(unit), giveaways)
    assert sum(cell.points for cell in cells) == 100
    checks = [c for c in cells if c.role == "check" and not c.is_given]
    assert [cell.name for cell in checks] == list(manifest.path_of(unit))
    assert all(cell.points == int(cell.points) > 0 for cell in checks)
    numbers.refuse_stale([cell for cell in cells if not cell.is_given])
    outline = cells[budget.outline(cells)]
    assert "short path" not in " ".join(outline.text.split())
    assert not list(edition.find_giveaways(unit, giveaways))


def test_an_edition_stays_once_somebody_has_handed_in(tmp_path, monkeypatch):
    from autograder.authoring import course

    monkeypatch.setattr(course.adopt, "refuse_edits", lambda *_: None)
    monkeypatch.setattr(course, "make_files", pytest.fail)
    original = find_unit("02")
    copy = Unit(original.number, original.name, tmp_path)
    write(copy.text, original.text.read_bytes())
    write(copy.root / "course.toml", (original.root / "course.toml").read_bytes())
    write(tmp_path / "submitted" / "ada" / copy.label / "x.ipynb", "{}")
    monkeypatch.setattr(course.edition, "read", lambda unit: [])
    monkeypatch.setattr(course.notebook, "to_source", lambda unit, cells: "")
    with pytest.raises(
        CourseError, match="of 02_attention are in submitted/; for a new"
    ):
        course.build(copy, ["attention/softmax"])
