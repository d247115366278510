"""Commands on a course take the one that they are started in, or another."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from autograder.cli.arguments import CommandSet, option


@pytest.fixture
def parser():
    counting = CommandSet()

    @counting.graded("count", "counts", option("--most", "of all", type=int))
    def count(unit, root, options):
        assert (unit, root) == ("06_text_recovery", options.course)
        return options.most

    made = argparse.ArgumentParser()
    counting.add(made.add_subparsers())
    return made


def test_a_command_has_a_unit_and_a_course_and_what_it_adds(parser, course):
    options = parser.parse_args(["count", "06", f"--course={course}", "--most", "5"])
    assert (options.unit, options.course, options.most) == ("06", course, 5)
    assert options.run(options) == 5


def test_the_course_is_here_unless_it_is_said(parser):
    assert parser.parse_args(["count", "02"]).course == Path()


def test_no_unit_is_a_slip_of_the_pen(parser, capsys):
    with pytest.raises(SystemExit):
        parser.parse_args(["count"])
    assert "UNIT" in capsys.readouterr().err
