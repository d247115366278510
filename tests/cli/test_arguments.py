"""Commands on a course take the one that they are started in, or another."""

from __future__ import annotations

import argparse

import pytest

from autograder import cli
from autograder.classroom import gradebook
from autograder.cli.arguments import CommandSet, option


@pytest.fixture
def parser():
    counting = CommandSet()

    @counting.graded("count", "counts", option("--most", "of all", type=int))
    def count(unit, root, options):
        assert (unit, root) == ("06_text_recovery", options.course)
        return options.most

    root_parser = argparse.ArgumentParser()
    counting.add(root_parser.add_subparsers())
    return root_parser


def test_a_command_has_a_unit_and_a_course_and_what_it_adds(parser, course):
    options = parser.parse_args(["count", "06", f"--course={course}", "--most", "5"])
    assert (options.unit, options.course, options.most) == ("06", course, 5)
    assert options.run(options) == 5


@pytest.mark.parametrize("location", ["course", "elsewhere"])
def test_the_course_is_here_or_the_one_that_nbgrader_knows(
    course, tmp_path, monkeypatch, capsys, location
):
    settings, folder = tmp_path / "etc", tmp_path / location
    settings.mkdir()
    folder.mkdir(exist_ok=True)
    (settings / "nbgrader_config.py").write_text(
        f"c = get_config()\nc.CourseDirectory.root = {str(course)!r}\n"
    )
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(settings))
    monkeypatch.chdir(course if location == "course" else folder)
    assert cli.main(["extend", "06", "ada", "--days", "1"]) == 1  # who is that?
    assert "ada: 1 day after the deadline" in capsys.readouterr().out
    assert (course / ".autograder" / "extensions.json").is_file()


def test_a_course_that_is_named_wins_over_the_machine_s(tmp_path, monkeypatch):
    settings = tmp_path / "etc" / "nbgrader_config.py"
    settings.parent.mkdir()
    settings.write_text("c = get_config()\nc.CourseDirectory.root = '/srv/other'\n")
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(settings.parent))
    monkeypatch.chdir(settings.parent.parent)
    root = tmp_path / "mine"
    root.mkdir()
    assert gradebook.database_of(root)[0] == f"sqlite:///{root}/gradebook.db"


def test_no_unit_is_a_slip_of_the_pen(parser, capsys):
    with pytest.raises(SystemExit):
        parser.parse_args(["count"])
    assert "UNIT" in capsys.readouterr().err


def test_a_course_without_a_unit_says_what_to_write(monkeypatch, capsys):
    monkeypatch.setattr("autograder.cli.arguments.units", lambda: [])
    assert cli.main(["build"]) == 1
    message = capsys.readouterr().err
    assert "has no unit: write notebooks/01_NAME.py there" in message


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("shwo 02 ada", "'shwo' (did you mean show?); see autograder --help"),
        ("grades 02 --format canvass", "(did you mean canvas?)"),
        ("report 02 --sharable", "(did you mean --shareable?); see autograder report"),
        ("report 02 --xyz", "unrecognized arguments: --xyz; see"),
    ],
)
def test_a_word_that_is_misspelt_is_named_beside_the_closest(capsys, line, meant):
    with pytest.raises(SystemExit) as end:
        cli.main(line.split())
    (said,) = capsys.readouterr().err.splitlines()
    assert end.value.code == 2 and meant in said
