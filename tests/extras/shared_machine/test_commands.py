"""On a machine that graders share, commands work in any folder."""

import os

import pytest

from autograder import cli
from autograder.extras.shared_machine.shared_machine import Classroom


@pytest.mark.parametrize("location", ["course", "elsewhere"])
def test_a_command_finds_the_course_of_the_machine_s_settings(
    course, tmp_path, monkeypatch, capsys, location
):
    settings, folder = tmp_path / "etc", tmp_path / location
    settings.mkdir()
    folder.mkdir(exist_ok=True)
    room = Classroom([], tmp_path / "srv", settings, "no-such-group", "transformer")
    (settings / "nbgrader_config.py").write_text(
        f"{room.settings}\nc.CourseDirectory.root = {str(course)!r}\n"
    )
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(settings))
    monkeypatch.setenv("PATH", os.environ["PATH"])  # which those settings change
    monkeypatch.chdir(course if location == "course" else folder)
    assert cli.main(["extend", "06", "ada", "--days", "1"]) == 1  # who is that?
    assert "ada: 1 day after the deadline" in capsys.readouterr().out
    assert (course / ".autograder" / "extensions.json").is_file()
