"""What is installed is what a notebook needs, or it is said what is not."""

import sys
import types

import pytest

from autograder.checks import installed


def test_in_the_course_s_own_folder_nothing_is_compared():
    assert installed.needs(97, "98.270101.5") == ""


@pytest.mark.parametrize(
    ("unit", "needed", "message"),
    [
        (3, "", ""),
        (3, "3.261128.930", ""),
        (3, "3.261128.929", ""),
        (3, "3.261127.2359", ""),
        (4, "", "go up to unit 3, and this is unit 4"),
        (4, "4.261001.0", "go up to unit 3, and this is unit 4"),
        (3, "3.261128.1000", "needs version 3.261128.1000 of the checks, but version"),
        (3, "3.270101.0", "but version 3.261128.930 is installed"),
        # An older folder, beside which somebody has installed newer checks.
        (2, "2.261201.0", ""),
        # A notebook of an earlier kit hands over the name of the wheel beside it.
        (3, "transformer_course_student-3.154406010633487-py3-none-any.whl", ""),
    ],
)
def test_of_a_kit_it_is_the_unit_that_counts_and_then_the_day_and_the_minute(
    monkeypatch, unit, needed, message
):
    monkeypatch.setattr(installed, "VERSION", "3.261128.930")
    problem = installed.needs(unit, needed)
    assert message in problem and bool(problem) == bool(message)


def test_in_colab_it_says_how_a_session_is_restarted(monkeypatch):
    monkeypatch.setitem(sys.modules, "google.colab", types.ModuleType("google.colab"))
    monkeypatch.setattr(installed, "VERSION", "3.261128.930")
    monkeypatch.setattr(installed, "LATEST", "https://x.org/checks.txt")
    with pytest.raises(ImportError, match="Runtime > Restart session"):
        installed.require_checks(3, "3.261129.0")


def test_a_page_gets_its_rules_only_where_a_person_reads_it(monkeypatch):
    pages = []
    monkeypatch.setattr("IPython.display.display", lambda html: pages.append(html.data))
    installed.require_checks(3)
    monkeypatch.setattr(installed, "is_attended", lambda: True)
    installed.require_checks(3)
    (style,) = pages
    assert style.startswith("<style>") and "max-width" in style
