"""Points by aspect in a line, those that are worth most first."""

from autograder.checks.aspects import by_aspect


def test_aspects_are_listed_by_their_worth_and_then_by_name():
    points = {"mode": (0.0, 1.0), "values": (2.5, 4.0), "calls": (1 / 3, 1.0)}
    assert by_aspect(points) == "values 2.5 of 4 · calls 0.333 of 1 · mode 0 of 1"


def test_a_single_aspect_says_nothing_that_the_points_do_not():
    assert by_aspect({"values": (2.5, 4.0)}) == by_aspect({}) == ""
