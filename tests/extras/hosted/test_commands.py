"""``autograder hosted`` says in a line what it cannot be asked."""

import pytest

from autograder import cli


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (["--format", "moodle"], "--format must be one of gradescope, prairielearn"),
        (["--tell", "all"], "--tell must be one of points, cases, panels"),
    ],
)
def test_what_a_service_cannot_be_told_is_said_in_a_line(
    course, tmp_path, capsys, asked, says
):
    where = ["--submission", str(tmp_path), "--results", str(tmp_path / "r")]
    asked = ["hosted", "06", *where, *asked, "--course", str(course)]
    assert cli.main(asked) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert says in line
    assert not (tmp_path / "r").exists()
