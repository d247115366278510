"""``autograder hosted`` says in a line what it cannot be asked."""

import pytest

from autograder import cli


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "moodle"], "--format must be one of gradescope, prairielearn"),
        (["--tell", "all"], "--tell must be one of points, cases, panels"),
    ],
)
def test_what_a_service_cannot_be_told_is_said_in_a_line(
    course, tmp_path, capsys, arguments, message
):
    paths = ["--submission", str(tmp_path), "--results", str(tmp_path / "r")]
    arguments = ["hosted", "06", *paths, *arguments, "--course", str(course)]
    assert cli.main(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert not (tmp_path / "r").exists()
