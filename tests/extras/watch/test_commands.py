"""``autograder watch`` says in a line what it cannot be asked."""

import pytest

from autograder import cli


@pytest.mark.parametrize("options", [["--per-hour", "0"], ["--every", "0"]])
def test_a_rate_that_cannot_be_is_wrong_usage(course, capsys, options):
    assert cli.main(["watch", "06", *options, "--course", str(course)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
