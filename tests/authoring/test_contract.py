"""Special inputs are named by what is special about them."""

from autograder.authoring.contract import special_sizes
from autograder.authoring.draw import Draw

ONE = special_sizes(one_row=lambda draw: {"x": draw.tensor(1, 2)})


def test_kinds_are_named_with_spaces_and_drawn():
    (labelled,) = ONE(Draw("a")).items()
    assert labelled[0] == "one row" and labelled[1]["x"].shape == (1, 2)
    assert not labelled[1]["x"].equal(ONE(Draw("b"))["one row"]["x"])
