"""Points by aspect in a sentence: what was lost, the largest loss first."""

from autograder.checks.aspects import by_aspect


def test_losses_are_listed_by_their_size_and_then_by_name():
    points = {
        "mode": (0.0, 1.0), "values": (2.5, 4.0), "calls": (1 / 3, 1.0),
        "masks": (3.0, 3.0), "errors": (0.0, 1.0),
    }  # fmt: skip
    assert by_aspect(points) == (
        "Points lost: 1.5 of 4 for values, 1 of 1 for promised errors, "
        "1 of 1 for training and evaluation mode, "
        "0.67 of 1 for repeated calls."
    )


def test_it_says_nothing_that_the_points_do_not():
    assert by_aspect({"values": (2.5, 4.0)}) == by_aspect({}) == ""
    assert by_aspect({"values": (0.0, 4.0), "calls": (0.0, 1.0)}) == ""
    assert by_aspect({"values": (4.0, 4.0), "calls": (1.0, 1.0)}) == ""
