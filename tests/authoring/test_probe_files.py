"""A unit whose probes could not be imported in a sandbox is not built."""

import pytest

from autograder.authoring.probe_files import refuse_unfit
from autograder.course import Unit, units
from autograder.course.errors import CourseError
from autograder.root import PACKAGE

PROBES = f"{PACKAGE}/tiny/probes"


@pytest.fixture
def unit(tmp_path):
    unit = Unit("99", "tiny", tmp_path)
    (unit.folder / "probes").mkdir(parents=True)
    return unit


def write(unit: Unit, name: str, code: str) -> None:
    (unit.folder / name).write_text(code)


@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_the_probes_of_this_course_import_what_ships(unit):
    refuse_unfit(unit)


def test_probes_in_a_single_file_are_refused_with_the_place_for_them(unit):
    write(unit, "probes.py", "")
    with pytest.raises(CourseError) as refusal:
        refuse_unfit(unit)
    assert str(refusal.value) == (
        f"{PROBES}.py:1: probes are a package; move this file to {PROBES}/__init__.py"
    )


@pytest.mark.parametrize(
    ("code", "module"),
    [
        ("import autograder.authoring.draw", "autograder.authoring.draw"),
        ("from autograder.authoring.draw import Draw", "autograder.authoring.draw"),
        ("from autograder import authoring", "autograder.authoring"),
        ("def late():\n    import autograder.grading", "autograder.grading"),
        (f"from {PACKAGE}.tiny import exercises", ""),
        ("from ..exercises import e", "..exercises"),
        (
            f"import {PACKAGE}.tiny.exercises.e",
            f"{PACKAGE}.tiny.exercises",
        ),
    ],
)
def test_an_import_of_what_does_not_ship_is_refused_with_its_line(unit, code, module):
    write(unit, "probes/__init__.py", f"import torch\n{code}\n")
    with pytest.raises(CourseError, match=f"{PROBES}/__init__.py:[23]: {module}"):
        refuse_unfit(unit)


def test_what_ships_may_be_imported(unit):
    code = (
        "from autograder.checks.probes import probe\n"
        f"from {PACKAGE} import library\n"
        f"from {PACKAGE}.tiny.probes import other\nfrom . import another\n"
        f"from {PACKAGE}.tiny import library as own\n"
    )
    write(unit, "probes/__init__.py", code)
    refuse_unfit(unit)
