"""``autograder watch`` says in a line what it cannot be asked."""

import pytest

from autograder import cli


@pytest.mark.parametrize("asked", [["--per-hour", "0"], ["--every", "0"]])
def test_a_rate_that_cannot_be_is_wrong_usage(course, capsys, asked):
    assert cli.main(["watch", "06", *asked, "--course", str(course)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
