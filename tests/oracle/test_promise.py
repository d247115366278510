"""Special inputs are named by what is special about them."""

from autograder.oracle.draw import Draw
from autograder.oracle.promise import both, masked, special

ONE = special(one_row=lambda draw: {"x": draw.tensor(1, 2)})


def kind(shape: str):
    return lambda draw: {"shape": shape}


def test_kinds_are_named_with_spaces_and_drawn():
    (found,) = ONE(Draw("a")).items()
    assert found[0] == "one row" and found[1]["x"].shape == (1, 2)
    assert not found[1]["x"].equal(ONE(Draw("b"))["one row"]["x"])


def test_a_mask_is_named_by_its_shape():
    found = masked(kind, "B 1 Lk", "L L")(Draw("a"))
    assert found == {
        "a mask (B, 1, Lk)": {"shape": "B 1 Lk"},
        "a mask (L, L)": {"shape": "L L"},
    }


def test_both_holds_the_inputs_of_all_parts():
    found = both(ONE, masked(kind, "L L"))(Draw("a"))
    assert list(found) == ["one row", "a mask (L, L)"]
