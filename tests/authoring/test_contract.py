"""Special inputs are named by what is special about them."""

import torch

from autograder.authoring.catalogue import specification
from autograder.authoring.contract import Again, combine, masked, special
from autograder.authoring.draw import Draw
from autograder.authoring.inputs import sizes_of

ONE = special(one_row=lambda draw: {"x": draw.tensor(1, 2)})


def kind(shape: str):
    mask = torch.ones(sizes_of(shape, B=2, L=3, Lk=4), dtype=torch.bool)
    return lambda draw: {"x": draw.tensor(2), "option": torch.tensor(True), "m": mask}


def test_kinds_are_named_with_spaces_and_drawn():
    (labelled,) = ONE(Draw("a")).items()
    assert labelled[0] == "one row" and labelled[1]["x"].shape == (1, 2)
    assert not labelled[1]["x"].equal(ONE(Draw("b"))["one row"]["x"])


def test_special_inputs_are_stated_by_their_sizes_like_those_of_a_case():
    softmax = specification("attention/softmax")
    assert softmax.contract.sizes(Draw("a"))["one number"]["x"].shape == (2, 3, 1)


def test_a_mask_is_named_by_its_shape_and_tried_on_what_was_made_for_the_first():
    masks = masked(kind, "B 1 Lk", "L L", "1 Lk")(Draw("a"))
    assert {label: inputs["m"].shape for label, inputs in masks.items()} == {
        "a mask (B, 1, Lk)": (2, 1, 4),
        "a mask (L, L)": (3, 3),
        "a mask (1, Lk)": (1, 4),
    }
    first, *repeats = masks.values()
    assert list(first) == ["x", "option", "m"] and not isinstance(first, Again)
    assert all(
        isinstance(repeat, Again) and list(repeat) == ["m"] for repeat in repeats
    )


def test_both_holds_the_inputs_of_all_parts():
    combined = combine(ONE, masked(kind, "L L"))(Draw("a"))
    assert list(combined) == ["one row", "a mask (L, L)"]
