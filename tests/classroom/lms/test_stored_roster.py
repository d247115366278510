"""The roster as the course stores it: names, user names and sections."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder import cli
from autograder.classroom import gradebook
from autograder.classroom.lms import roster, stored_roster
from tests.classroom.lms.course import ROSTER, make_clone


@pytest.fixture
def course(tmp_path) -> Path:
    return make_clone(tmp_path / "course", ROSTER)


def test_a_roster_of_less_takes_nothing_away(course):
    stored_roster.keep(roster.from_csv(course / "roster.csv"), course)
    (course / "short.csv").write_text("id,last_name\nada,King\n")
    stored_roster.keep(roster.from_csv(course / "short.csv"), course)
    students = {s.id: s for s in gradebook.students(course)}
    assert students["ada"].name == "Ada King" and students["ada"].lms_id == "12345"
    assert "bob" in students


def test_user_names_are_known_the_next_time(course):
    stored_roster.keep(roster.from_csv(course / "roster.csv"), course)
    assert "alovelace" in stored_roster.read(course).usernames


@pytest.mark.parametrize("title", ["section", "Section", "Groups"])
def test_sections_are_stored_and_stay_when_a_later_roster_has_none(course, title):
    path = course / "sections.csv"
    path.write_text(f'id,Username,{title}\nada,al,"Mon, 10"\nbob,,Tue\n')
    assert collect_roster(course, path) == 0
    path.write_text("id,section\nbob,Wed\neve,\n")
    assert collect_roster(course, path) == 0
    assert stored_roster.sections(course) == {"ada": "Mon, 10", "bob": "Wed"}
    stored_roster.keep(roster.from_csv(course / "roster.csv"), course)
    assert {"al", "alovelace"} & stored_roster.read(course).usernames == {"alovelace"}
    assert stored_roster.sections(course)["ada"] == "Mon, 10"


def collect_roster(root: Path, path: Path) -> int:
    return cli.main(["collect", "01", "--roster", str(path), "--course", str(root)])
