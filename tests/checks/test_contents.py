"""What ships of a notebook's structure."""

from autograder.checks import contents, installed
from autograder.checks.contents import Contents, ExercisePlace, contents_of
from autograder.course import units


def test_it_is_read_as_it_was_packed(tmp_path, monkeypatch):
    place = ExercisePlace("9.1", "exercise-9-1", ("double", "Doubling"))
    packed = Contents(9, "9 · Tiny", {"tiny/double": place}, ("tiny/double",), (4.0,))
    (tmp_path / "tiny.json").write_text(contents.pack(packed), encoding="utf-8")
    monkeypatch.setattr(contents, "_FOLDER", tmp_path)
    assert contents_of("tiny") == packed
    assert packed.exercise_of("Doubling") == "tiny/double"
    assert packed.exercise_of("halve") == ""
    assert contents_of("none") == Contents()
    contents_of.cache_clear()


def test_units_are_in_the_order_of_the_course():
    assert contents.units() == [unit.name for unit in units()]


def test_a_notebook_that_asks_for_its_checks_is_the_one_that_runs(monkeypatch):
    monkeypatch.setattr(installed, "asked_for", 0)
    assert contents.this_unit() == ""
    assert installed.needs(3) == "" and contents.this_unit() == "multi_head_attention"


def test_a_link_leads_to_a_cell_of_the_notebook_that_runs(monkeypatch):
    place = ExercisePlace("2.5", "exercise-2-5", ())
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    assert place.link.html == "Exercise 2.5"
    monkeypatch.setenv("JPY_SESSION_NAME", "/home/ada/02_attention.ipynb")
    assert place.link.address == "02_attention.ipynb#cell-id=exercise-2-5"
