"""Due dates: read with their time zones or refused, and written into notebooks."""

import datetime
import time

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader import utils
from nbgrader.api import Gradebook, SubmittedAssignment

from autograder.course.errors import CourseError
from autograder.grading import dates

EPOCH = datetime.datetime(2026, 11, 30, 10)


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2026-11-30 23:59 Europe/Berlin", "2026-11-30 22:59"),
        ("2026-07-30 23:59 Europe/Berlin", "2026-07-30 21:59"),
        ("2026-11-30 23:59 +01:00", "2026-11-30 22:59"),
        ("2026-11-30 23:59 +0100", "2026-11-30 22:59"),
        ("2026-11-30T23:59-05:00", "2026-12-01 04:59"),
        ("2026-11-30 23:59:30 UTC", "2026-11-30 23:59:30"),
    ],
)
def test_a_due_date_is_kept_in_utc(text, utc):
    assert dates.due_date(text) == datetime.datetime.fromisoformat(utc)


EXAMPLE, CANNOT = '"{} Europe/Berlin"', "cannot read the due date"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2026-11-30 23:59", EXAMPLE), ("2026-11-30T23:59:30", EXAMPLE), ("", CANNOT),
        ("tomorrow", CANNOT), ("30.11.2026", CANNOT), ("2026-13-01 10:00 UTC", CANNOT),
        ("2026-11-30 CEST", CANNOT),
    ],
)  # fmt: skip
def test_a_date_without_zone_and_what_is_no_date_are_refused(text, message):
    with pytest.raises(CourseError, match=message.format(text)):
        dates.due_date(text)


@pytest.mark.parametrize(
    ("seconds", "message"),
    [
        (0, ""), (-5, ""), (1.0, "late, unknown by how much"), (2, "1 minute late"),
        (7500, "2 hours 5 minutes late"),
    ],
)  # fmt: skip
def test_a_second_is_what_an_lms_without_times_calls_late(seconds, message):
    assert dates.how_late(seconds) == message


def test_nbgraders_gradebook_reads_offsets_once_installed(tmp_path, monkeypatch):
    monkeypatch.setattr(utils, "parse_utc", utils.parse_utc)  # put back afterwards
    dates.install()
    dates.install()
    noon = datetime.datetime(2026, 11, 30, 11)
    with Gradebook(f"sqlite:///{tmp_path}/gradebook.db", "tiny") as book:
        for text in ("2026-11-30 12:00 +01:00", "2026-11-30T12:00 +0100"):
            book.update_or_create_assignment("unit", duedate=text)
            assert book.find_assignment("unit").duedate == noon
        book.update_or_create_assignment("unit", duedate="30 Nov 2026, 11am")
        assert book.find_assignment("unit").duedate == noon, "nbgrader reads the rest"


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader's own way
def test_an_extension_waits_for_a_deadline(tmp_path, monkeypatch):
    monkeypatch.setattr(utils, "parse_utc", utils.parse_utc)  # put back afterwards
    monkeypatch.setattr(SubmittedAssignment, "duedate", SubmittedAssignment.duedate)
    dates.install()
    handed_in, hour = "2026-11-30 12:00 UTC", datetime.timedelta(hours=1)
    with Gradebook(f"sqlite:///{tmp_path}/gradebook.db", "tiny") as book:
        book.add_assignment("unit")
        book.add_student("ada")
        ada = book.add_submission("unit", "ada", timestamp=handed_in, extension=hour)
        assert ada.duedate is None and ada.total_seconds_late == 0
        book.update_or_create_assignment("unit", duedate="2026-11-30 10:30 UTC")
        assert book.find_submission("unit", "ada").total_seconds_late == 30 * 60


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader's own way
def test_nothing_is_late_within_the_grace(tmp_path, monkeypatch):
    monkeypatch.setattr(utils, "parse_utc", utils.parse_utc)  # put back afterwards
    monkeypatch.setattr(SubmittedAssignment, "duedate", SubmittedAssignment.duedate)
    monkeypatch.setattr(dates, "_grace", dates.last_moment(EPOCH) - EPOCH)
    dates.install(grace_minutes=10)
    with Gradebook(f"sqlite:///{tmp_path}/gradebook.db", "tiny") as book:
        book.add_assignment("unit", duedate="2026-11-30 10:00 UTC")
        for student, minute, late in (("ada", 10, 0), ("bob", 11, 60)):
            book.add_student(student)
            time = f"2026-11-30 10:{minute} UTC"
            entry = book.add_submission("unit", student, timestamp=time)
            assert entry.total_seconds_late == late
    hour = datetime.timedelta(hours=1)
    assert dates.last_moment(EPOCH, hour) == EPOCH + hour * 7 / 6


@pytest.fixture
def berlin(monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_a_notebook_says_below_its_title_when_it_is_due_in_local_time(berlin, tmp_path):
    cells = [new_code_cell("# no title"), new_markdown_cell("# 2 Attention\n\nText.")]
    notebook = new_notebook(cells=[*cells, new_markdown_cell("# More")])
    untitled = new_notebook(cells=[new_markdown_cell("Text.")])
    for titled in (notebook, untitled):
        dates.add_due_line(titled, datetime.datetime(2026, 11, 30, 22, 59))
    sources = [cell.source for cell in notebook.cells]
    line = "**Due Monday, 30 November 2026, 23:59 CET**"
    assert sources == ["# no title", f"# 2 Attention\n\n{line}\n\nText.", "# More"]
    assert untitled.cells[0].source == "Text."
    nbformat.write(notebook, tmp_path / "a.ipynb")
    assert f"**Due {dates.read_due(tmp_path / 'a.ipynb')}**" == line
