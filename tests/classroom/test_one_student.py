"""``autograder show``: what one student's unit looks like, in a terminal."""

from __future__ import annotations

import shutil

import pytest

from autograder import cli
from tests import tiny_course as tiny
from tests.classroom.conftest import WHOLE
from tests.tiny_course import hand_in


def show(root, capsys, *asked: str) -> tuple[int, str]:
    status = cli.main(["show", *asked, "--course", str(root)])
    said = capsys.readouterr()
    return status, said.out + said.err


def test_each_exercise_has_a_line_with_its_points(graded, capsys):
    status, said = show(graded, capsys, "01", "bob")
    assert status == 0 and "Bob Ross (bob): 4 of 10 points" in said
    lines = [" ".join(line.split()) for line in said.splitlines()]
    assert "numbers-double 0 of 2" in lines and "numbers-triple 4 of 4" in lines
    assert "numbers-why - of 4" in lines
    assert "waiting for a person: 1 written answer" in lines


def test_a_name_is_enough_where_only_one_has_it(graded, capsys):
    assert WHOLE in show(graded, capsys, "01", "ada lovelace")[1]
    assert WHOLE in show(graded, capsys, "01", "Lovelace")[1]


def test_a_refused_and_a_newer_hand_in_are_said(graded, capsys):
    refused = show(graded, capsys, "01", "cut")[1].splitlines()
    assert refused[1].startswith("could not be graded: the notebook")
    assert len(refused) == 2  # no row of zeros
    hand_in(graded, "bob", tiny.data(tiny.solved(tiny.read(graded, "release"))))
    said = show(graded, capsys, "01", "bob")[1]
    assert "handed in, but not graded: bob; run: nbgrader autograde" in said


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (["01", "xavier"], 'nobody is called "xavier" in the gradebook'),
        (["01", "never"], "never has no graded submission of 01_numbers"),
        (["07", "bob"], 'no assignment "07"; there are 01_numbers'),
    ],
)
def test_whoever_is_not_there_is_said_in_a_line(graded, capsys, asked, says):
    status, said = show(graded, capsys, *asked)
    assert status == 1 and said.strip().splitlines() == [f"autograder: {says}"]


def test_whose_hand_in_was_put_away_has_nothing_that_waits(graded, capsys):
    shutil.rmtree(graded / "submitted" / "bob")
    status, said = show(graded, capsys, "01", "bob")
    assert status == 0 and "not graded" not in said
