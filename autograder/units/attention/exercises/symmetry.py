"""Equivariant, invariant, or neither."""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification


def _layers(*names: str, length: int, d: int) -> Maker:
    """Some layers, which come in any order, and a permutation that is not its own inverse."""

    def inputs(draw: Draw) -> Inputs:
        shift = 1 + int(draw.ids(0, 2))
        return {
            "x": draw.tensor(length, d),
            "order": torch.arange(length).roll(shift),
            "layers": ", ".join(names),
            "table": draw.tensor(length, d),
        }

    return inputs


CASES = [
    case("attention", "three layers of attention",
         _layers("bare attention", "attention to x", "attention with positions", length=5, d=7),
         "Run the layer on the shuffled input. Is the result the shuffled output, the same output, or neither?"),
    case("features", "three layers without attention",
         _layers("each position alone", "every feature sorted", "a running sum", length=6, d=3),
         "Compare all positions and all features of the two results."),
    case("faint", "layers of which some are almost symmetric",
         _layers("a faint table", "attention to x and a faint table", "a faint decrease", "each position alone",
                 "large outputs and a faint table", length=5, d=4),
         "A difference of more than 1e-5 counts, however small it looks, and in whichever direction."),
    case("rounding", "symmetric layers that round differently in a new order",
         _layers("large bare attention", "large attention to x", "a running sum", "small rounded outputs", length=7, d=8),
         "Up to 1e-5, a difference is rounding."),
    case("long", "a longer sequence, with as many features as positions",
         _layers("bare attention", "attention to x", "a running sum", length=9, d=9),
         "Positions are dimension 0 of `x`.", hidden_only=True),
]

_ALIKE = "(after - expected).abs().max() <= 1e-5"
_BOTH = """
    if alike(layer(x)[order]):
        return "equivariant"
    return "invariant" if alike(layer(x)) else "neither"
"""

MISTAKES = [
    wrong("exchanged",
          "You exchanged the two names: a layer whose output is shuffled along is *equivariant*, and one whose output "
          "stays the same is *invariant*.",
          "Which of the two words means that nothing varies?",
          edit("if alike(layer(x)[order])", "if alike(layer(x))", "if alike(layer(x)) else", "if alike(layer(x)[order]) else")),
    wrong("never_invariant",
          "Your function never finds an invariant layer.",
          "What is the output of such a layer for the shuffled input?",
          edit('"invariant" if alike(layer(x)) else "neither"', '"neither"')),
    wrong("never_neither",
          "Your function answers *invariant* for a layer that is neither.",
          "Which comparison tells invariant from neither?",
          edit('"invariant" if alike(layer(x)) else "neither"', '"invariant"')),
    wrong("always_equivariant",
          "Your function calls every layer equivariant.",
          "Do you run the layer on the shuffled input?",
          edit("after = layer(x[order])", "after = layer(x)[order]")),
    wrong("never_shuffled",
          "The input was not shuffled.",
          "On which two inputs must the layer run?",
          edit("after = layer(x[order])", "after = layer(x)")),
    wrong("never_equivariant",
          "Your function finds no equivariant layer.",
          "What must the output for the shuffled input be equal to? And does `order` shuffle in the same direction on "
          "both sides of your comparison?",
          edit("layer(x)[order]", "layer(x)[order.argsort()]")),
    wrong("features_shuffled",
          "You shuffled the features, dimension 1, but the positions are dimension 0.",
          "`x` has shape `(L, d)`. Which dimension does `order` belong to?",
          edit("layer(x[order])", "layer(x[:, order % x.size(1)])")),
    wrong("sums_compared",
          "You compared sums or means, in which differences of opposite sign cancel.",
          "Could two outputs exchange their positions without changing their sum?",
          edit(_ALIKE, "(after.sum(0) - expected.sum(0)).abs().max() <= 1e-5")),
    wrong("means_for_invariant",
          "You call a layer invariant if the sums or means over its positions stay the same. All outputs must.",
          "Could two outputs exchange their positions without changing their sum?",
          edit("alike(layer(x)) else", "(after.mean(0) - layer(x).mean(0)).abs().max() <= 1e-5 else")),
    wrong("exactly_equal",
          "You ask for exact equality, but the same sum in a different order rounds differently.",
          "Is 0.1 + 0.2 + 0.3 equal to 0.3 + 0.2 + 0.1 on your computer?",
          edit(_ALIKE, "torch.equal(after, expected)"),
          unsteady=("attention", "rounding", "long")),
    wrong("default_tolerance",
          "You compare with the default tolerances of `allclose`, which call rounding a difference.",
          "How large are `atol` and `rtol` if you do not choose them, and which limit does the contract give?",
          edit(_ALIKE, "torch.allclose(after, expected)"),
          unsteady=("attention", "rounding", "long")),
    wrong("relative_tolerance",
          "Your limit grows with the outputs: between large ones, a difference of more than 1e-5 goes unnoticed.",
          "What does `rtol` do in `allclose`, and what is it if you do not choose it?",
          edit(_ALIKE, "torch.allclose(after, expected, atol=1e-5)")),
    wrong("too_coarse",
          "Small differences go unnoticed: your limit is too high.",
          "Which limit does the contract give?",
          edit("1e-5", "1e-2")),
    wrong("signed",
          "The absolute value is missing: a large negative difference goes unnoticed.",
          "Which is further from zero, 0.1 or -5, and which of them does `max` choose?",
          edit(".abs()", "")),
    wrong("yes_or_no",
          "You returned yes or no, but there are three possible answers.",
          "Which three words does the docstring list?",
          edit(_BOTH, "return alike(layer(x)[order])")),
    wrong("gap_returned",
          "You returned how far the layer is from being equivariant, not one of the "
          "three words.",
          "Which three words does the docstring list?",
          edit(_BOTH, "return (after - layer(x)[order]).abs().max()")),
    wrong("x_shuffled",
          "`x` itself is shuffled on the way.",
          "What does an assignment to `x[...]` do to the caller's tensor?",
          source("""
              def symmetry(layer, x, order):
                  before = layer(x).clone()
                  x[:] = x[order]
                  after = layer(x)
                  if (after - before[order]).abs().max() <= 1e-5:
                      return "equivariant"
                  return "invariant" if (after - before).abs().max() <= 1e-5 else "neither"
              """)),
]

ACCEPTED = [
    right("allclose", edit(_ALIKE, "torch.allclose(after, expected, rtol=0, atol=1e-5)")),
    right("undone", edit("alike(layer(x)[order])", "(after[order.argsort()] - layer(x)).abs().max() <= 1e-5")),
    right("matrix", source("""
        def symmetry(layer, x, order):
            p = torch.eye(len(order))[order]
            before, after = layer(x), layer(p @ x)
            gaps = {
                "equivariant": (after - p @ before).abs().max(),
                "invariant": (after - before).abs().max(),
                "neither": 1e-5,
            }
            return min(gaps, key=gaps.get)
        """)),
    right("three_ifs", source("""
        def symmetry(layer, x, order):
            before = layer(x)
            after = layer(x.index_select(0, order))
            same = bool(torch.all(torch.abs(after - before) < 1e-5))
            moved = bool(torch.all(torch.abs(after - before[order]) < 1e-5))
            if moved:
                return "equivariant"
            if same:
                return "invariant"
            return "neither"
        """)),
]

EXERCISE = Specification(
    name="attention/symmetry", title="Equivariant, invariant, or neither", target="symmetry",
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
