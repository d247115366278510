"""What is installed is what a notebook needs, or it is said what is not."""

import pytest

from autograder.checks import installed


def name(version):
    return f"transformer_course_student-{version}-py3-none-any.whl"


def test_in_the_course_s_own_folder_nothing_is_compared():
    assert installed.needs(97, name("98.5")) == ""


@pytest.mark.parametrize(
    ("unit", "beside", "says"),
    [
        (3, "", ""),
        (3, "3.14", ""),
        (2, "3.14", ""),
        (4, "", "go up to unit 3, and this is unit 4"),
        (4, "4.16", "go up to unit 3, and this is unit 4"),
        (3, "3.15", "Version 3.14 of the checks is installed, not 3.15"),
        (3, "10.15", "Version 3.14 of the checks is installed, not 10.15"),
        # An older folder, beside which somebody has installed newer checks.
        (2, "2.15", ""),
    ],
)
def test_of_a_kit_it_is_the_unit_that_counts_and_then_the_folder_s_wheel(
    monkeypatch, unit, beside, says
):
    monkeypatch.setattr(installed, "VERSION", "3.14")
    found = installed.needs(unit, name(beside) if beside else "")
    assert says in found and bool(found) == bool(says)
