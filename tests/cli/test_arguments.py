"""Commands on a course take the one that they are started in, or another."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from autograder.cli.arguments import add_graded


@pytest.fixture
def parser():
    made = argparse.ArgumentParser()
    command = add_graded(made.add_subparsers(), "count", lambda options: 7, "counts")
    command.add_argument("--most", type=int, default=3)
    return made


def test_a_command_has_a_unit_and_a_course_and_what_it_adds(parser):
    options = parser.parse_args(["count", "02", "--course", "c", "--most", "5"])
    assert (options.unit, options.course, options.most) == ("02", Path("c"), 5)
    assert options.run(options) == 7


def test_the_course_is_here_unless_it_is_said(parser):
    assert parser.parse_args(["count", "02"]).course == Path()


def test_no_unit_is_a_slip_of_the_pen(parser, capsys):
    with pytest.raises(SystemExit):
        parser.parse_args(["count"])
    assert "UNIT" in capsys.readouterr().err
