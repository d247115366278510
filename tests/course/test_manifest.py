"""A unit says in one file what it needs that others do not."""

import pytest

from autograder.course import Unit, manifest, units
from autograder.course.errors import CourseError
from autograder.root import PACKAGE


@pytest.fixture
def unit(tmp_path):
    """A unit of a course that holds nothing else, with a place for its manifest."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "08_tiny.py").touch()
    tiny_unit = Unit("08", "tiny", tmp_path)
    tiny_unit.folder.mkdir(parents=True)
    return tiny_unit


def test_a_unit_without_one_needs_nothing_of_its_own(unit):
    assert manifest.read(unit) == manifest.Manifest()
    assert manifest.limits(unit.root) == {}


def test_it_says_limits_what_is_handed_in_and_what_ships(unit):
    (unit.root / "model.bin").touch()
    (unit.folder / "unit.toml").write_text(
        "demo = true\n[limits]\ntimeout = 180\nanswer_seconds = 60.5\n"
        '[handed_in]\n"my.bin" = "model.bin"\n[ships]\nfiles = ["model.bin"]\n'
    )
    model = unit.root / "model.bin"
    limits = {"timeout": 180, "answer_seconds": 60.5}
    assert manifest.read(unit) == manifest.Manifest(
        demo=True, limits=limits, handed_in={"my.bin": model}, ships=(model,)
    )
    assert manifest.limits(unit.root) == {"08_tiny": limits}


def test_it_says_the_short_path_and_which_demonstrations_are_beyond_it(unit):
    assert manifest.path_of(unit) == ()
    text = 'path = ["first", "third"]\nbeyond = ["a_figure"]\n'
    (unit.folder / "unit.toml").write_text(text)
    assert manifest.read(unit).beyond == ("a_figure",)
    assert manifest.path_of(unit) == ("tiny/first", "tiny/third")


def test_it_says_which_solutions_give_a_later_answer_away(unit):
    (unit.folder / "unit.toml").write_text('[keys]\nlast = ["first", "second"]\n')
    assert manifest.read(unit).keys == {"last": ("first", "second")}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("demos = true", "nothing is called demos; there are summary, demo, path"),
        ("demo = 3", "demo cannot be 3"),
        ('path = "first"', "path cannot be 'first'"),
        ('[limits]\ntimeout = "180"', "timeout cannot be '180'"),
        ("[limits]\ntimeout = true", "timeout cannot be True"),
        ("[limits]\ntimout = 180", "nothing is called timout"),
        ('[ships]\nfiles = ["gone.bin"]', "there is no file gone.bin"),
        ('[handed_in]\n"my.bin" = 3', "my.bin cannot be 3"),
        ('[keys]\nsecond = "first"', "second cannot be 'first'"),
        ("[limits", "unit.toml"),
    ],
)
def test_a_slip_of_the_pen_is_one_plain_line(unit, text, message):
    (unit.folder / "unit.toml").write_text(text)
    with pytest.raises(CourseError) as error:
        manifest.read(unit)
    assert message in str(error.value) and "\n" not in str(error.value)
    assert f"{PACKAGE}/tiny/unit.toml" in str(error.value)


@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_that_of_every_unit_of_the_course_can_be_read(unit):
    manifest.read(unit)
