"""A new exercise is a skeleton that works, and is not built before it is filled."""

from __future__ import annotations

import pytest

from autograder.authoring import new_exercise, notebook
from autograder.authoring.start_course import start_unit
from autograder.course import Unit
from autograder.course.errors import CourseError
from tests.authoring.doubling import FILES

UNIT = Unit("99", "doubling")


@pytest.fixture
def unit(tmp_path) -> Unit:
    """A unit of one exercise, in a course of its own."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return Unit(UNIT.number, UNIT.name, tmp_path)


def everything(unit: Unit) -> dict[str, str]:
    files = (path for path in unit.root.rglob("*") if path.is_file())
    return {str(p.relative_to(unit.root)): p.read_text("utf-8") for p in files}


def test_it_comes_after_the_last_one_with_the_next_number(unit):
    created = new_exercise.create(unit, "half")
    assert created == [unit.folder / "exercises" / "half.py", unit.text]
    cells = notebook.read(unit)
    assert [c.name for c in cells if c.role == "check"][-1] == "doubling/half"
    [heading] = [c.text for c in cells if "### Exercise 99.2" in c.text]
    assert heading.count("<summary>Hint ") == 3
    assert "2 exercises" in cells[0].text


def test_a_second_one_comes_after_it(unit):
    new_exercise.create(unit, "half")
    new_exercise.create(unit, "a_third")
    text = unit.text.read_text("utf-8")
    assert text.index("99.1") < text.index("99.2") < text.index("99.3")
    assert text.count("from jaxtyping import Float") == 1


def test_it_is_not_built_before_it_is_filled(unit):
    new_exercise.refuse_unfinished(unit)
    new_exercise.create(unit, "half")
    with pytest.raises(CourseError) as refused:
        new_exercise.refuse_unfinished(unit)
    lines = str(refused.value).splitlines()
    files = {line.partition(":")[0] for line in lines}
    assert files == {
        "notebooks/99_doubling.py",
        "transformer_course/doubling/exercises/half.py",
    }
    first = unit.text.read_text("utf-8").splitlines()[int(lines[0].split(":")[1]) - 1]
    assert "TODO: the title" in first and "TODO: the title" in lines[0]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Half", "cannot be the name"),
        ("../half", "cannot be the name"),
        ("", "cannot be the name"),
        ("class", "cannot be the name"),
        ("double", "exercises/double.py already exists"),
    ],
)
def test_a_name_that_cannot_be_or_is_taken_changes_nothing(unit, name, message):
    before = everything(unit)
    with pytest.raises(CourseError, match=message):
        new_exercise.create(unit, name)
    assert everything(unit) == before


def test_the_first_one_of_a_unit_has_all_points(unit):
    begun = start_unit("05_empty", unit.root)
    empty = Unit("05", "empty", unit.root)
    new_exercise.create(empty, "half")
    (check,) = [cell for cell in notebook.read(empty) if cell.role == "check"]
    assert check.points == 100 and "1 exercise" in begun.read_text("utf-8")
