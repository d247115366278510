"""Cases and mistakes for an exercise: which inputs does each output depend on?"""

from __future__ import annotations

import torch

from autograder.authoring.contract import Contract, special_sizes
from autograder.authoring.draw import Draw
from autograder.authoring.inputs import open_mask
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification


def _draw_layer(
    kind: str, length: int, d: int, size: float = 1.0, rest: float = 0.0, apart: bool = False, x: str = "random"
) -> Maker:
    """Make a function that draws vectors, and a layer that mixes their positions.

    Args:
        kind: the layer's name in the probe's `_make_layer`.
        size: the absolute weight of a position that influences an output.
        rest: an absolute weight that every position has in addition.
        apart: whether each feature has influences of its own.
        x: "random" vectors, "equal" ones (one vector at all positions), or "flat"
            ones (each is all zeros or all ones).
    """

    def make_inputs(draw: Draw) -> Inputs:
        signs = draw.flags(d, length, length, chance=0.5) * 2.0 - 1.0
        influences = draw.flags(d if apart else 1, length, length, chance=0.3)
        vectors = {
            "random": draw.tensor(length, d),
            "equal": draw.tensor(1, d).repeat(length, 1),
            "flat": draw.ids(0, 2, length, 1).float().repeat(1, d),
        }[x]
        return {"x": vectors, "layer": kind, "table": signs * (influences * size + rest)}

    return make_inputs


def _draw_masked_layer(length: int, d: int) -> Maker:
    """Make a function that draws vectors and attention with a random mask.

    A position still influences its own output, through its query.
    """
    return lambda draw: {
        "x": draw.tensor(length, d), "layer": "masked attention", "table": open_mask(draw, length, length)
    }


def _draw_one_feature_of_many(draw: Draw) -> Inputs:
    """Draw vectors, and a layer of which only one of 256 features depends on them.

    The mean change over all features is below the limit at which a change counts.
    """
    table = torch.zeros(256, 4, 4)
    table[int(draw.ids(0, 256))] = draw.flags(4, 4, chance=0.5) * 0.00015
    return {"x": draw.tensor(4, 256) + 3, "layer": _MIXTURE, "table": table}


_MIXTURE = "a mixture of positions"

CASES = [
    case("masked", "an attention layer with a mask", _draw_masked_layer(5, 4),
         "Output i must move for those inputs j that its mask allows; its own input is also its query."),
    case("mixture", "a layer that treats each feature differently", _draw_layer(_MIXTURE, 4, 3, apart=True, x="flat"),
         "Change all features of a position, and look at all features of the outputs."),
    case("faint", "a layer with faint influences", _draw_layer(_MIXTURE, 6, 4, size=0.0005),
         "A small movement is still a movement: the limit is 1e-6."),
    case("below", "a layer with movements below the limit", _draw_layer(_MIXTURE, 12, 2, rest=2.0**-24, x="equal"),
         "A movement of up to 1e-6 counts as none: it may be rounding."),
    # Powers of two, which no rounding of such outputs removes; `isclose` allows 0.01 beside 1000.
    case("far", "a layer with outputs near 1000 and one extra feature",
         _draw_layer("a wider mixture", 4, 3, size=2.0**-7, apart=True),
         "Outputs may have more features than inputs, and the limit does not grow with the size of the output."),
    case("stairs", "a layer that rounds its inputs", _draw_layer("stairs", 12, 2),
         "Change an input and run the layer again: does the output move?"),
    case("norm", "a layer that begins with a LayerNorm", _draw_layer("a mixture behind a norm", 10, 6, apart=True),
         "Change every feature of a position, each by a different amount: a norm removes what they have in common."),
    case("wide", "another attention layer", _draw_masked_layer(7, 3),
         "The matrix has one row and one column per position.", hidden_only=True, open=True),
]

_PUSH = "changed[j] += push"
_MOVEMENT = "(layer(changed) - before)"
_MOVED = f"({_MOVEMENT}.abs() > 1e-6).any(dim=-1)"
_RESULT = "torch.stack(columns, dim=1)"

MISTAKES = [
    wrong("transposed", "Your matrix is transposed: rows should be outputs, columns the inputs that were changed.",
          "One run changes one input `j`. Does it fill a row or a column?",
          edit("dim=1)", "dim=0)")),
    # Mistakes in what is changed.
    wrong("accumulated",
          "The changes of earlier steps are still there: you never restored `x`, or made one copy for all steps.",
          "What is `x`, or your copy, after the loop? Where should each fresh copy be made?",
          edit("x.clone()", "x"),
          edit("columns = []", "columns, changed = [], x.clone()", "        changed = x.clone()\n", "",
               name="accumulated_copy"), tests="modified"),
    wrong("set_to_zero",
          "You set a position to a fixed value, or to the vector of another position. If it was that before, nothing "
          "changes, and you conclude that no output depends on it.",
          "Which operation changes a vector, whatever it contains?",
          edit(_PUSH, "changed[j] = 0.0"),
          edit(_PUSH, "changed[j] = 1.0", name="set_to_one"),
          edit(_PUSH, "changed[j] = x[j - 1]", name="neighbours_vector")),
    wrong("one_feature_changed",
          "You add nothing to some feature, so an influence of this feature alone goes unnoticed.",
          "Which features of position `j` should change? With an odd number, what is in the middle of a `linspace`?",
          edit(_PUSH, "changed[j, 0] += 1.0"),
          edit("torch.linspace(0.5, 1, x.size(-1))", "torch.linspace(-1, 1, x.size(-1))", name="zero_push"),
          edit("torch.linspace(0.5, 1, x.size(-1))", "torch.linspace(0, 1, x.size(-1))", name="first_push_zero")),
    wrong("even_push",
          "You add the same amount to every feature. A norm subtracts the mean, so it removes your change, and the "
          "layer looks blind although it is not.",
          "Which change of a vector does a LayerNorm not undo?",
          edit(_PUSH, "changed[j] += 1.0"), tests="different"),
    wrong("everything_changed", "You changed all positions at once, so every output that depends on any input moves.",
          "Which position should change in step `j`?",
          edit(_PUSH, "changed += 1.0")),
    wrong("positions_swapped", "You changed features instead of positions: your index is in the wrong dimension.",
          "`x` has shape `(L, d)`. Where does the index of the position go?",
          edit(_PUSH, "changed[:, j % x.size(1)] += 1.0")),
    wrong("on_x_itself", "You change `x` itself, if only while the layer runs.",
          "Where is the copy that the exercise asks for? Did you restore *exactly* what you changed?",
          edit("changed = x.clone()", "changed = x", _MOVED, f"{_MOVED}); changed[j].sub_(push"),
          edit("changed = x.clone()", "changed = x.data", _MOVED, f"{_MOVED}); changed[j].sub_(push",
               name="on_the_data_of_x"),
          edit(f"return {_RESULT}", f"x[0] += 1.0\nreturn {_RESULT}", name="x_left_changed")),
    # Mistakes in what is compared, and with which limit.
    wrong("compared_with_input", "You did not compare with the original *output*.",
          "Which two runs of the layer must be compared?",
          edit("- before)", "- x)"),
          edit(_MOVEMENT, "layer(changed)", name="not_compared")),
    wrong("relative_limit",
          "Your limit grows with the outputs: `allclose` and `isclose` allow more where values are large.",
          "What are `rtol` and `atol`, and which of them does the exercise give?",
          edit(_MOVED, "(~torch.isclose(layer(changed), before, atol=1e-6)).any(-1)")),
    wrong("hardly_changed",
          "Faint influences are missed: you change a position by too little, or your limit is far too high.",
          "By how much should you change a position, and what counts as a movement?",
          edit(_PUSH, "changed[j] += 1e-3"),
          edit("1e-6", "1e-3", name="limit_of_a_thousandth"),
          edit("1e-6", "0.1", name="coarse")),
    wrong("no_limit",
          "Changes below the limit count: you accept every movement, however small, or you change a position by far "
          "more than 1.",
          "Which limit does the exercise give, and by how much should you change a position?",
          edit("> 1e-6", "> 0")),
    wrong("one_feature_read", "You looked only at some features of the outputs.",
          "Must all features move, or is one enough? Must an output have as many features as an input?",
          edit(f"{_MOVEMENT}.abs()", f"{_MOVEMENT}.abs()[:, :1]"),
          edit(f"{_MOVEMENT}.abs()", f"{_MOVEMENT}.abs()[:, : x.size(1)]", name="as_many_as_inputs"),
          tests="features changes; number"),
    wrong("all_features", "You required *all* features of an output to move, but one is enough.",
          "What is the difference between `any` and `all`?",
          edit(".any(dim=-1)", ".all(dim=-1)")),
    wrong("signed", "You look for movements in one direction only: a *decrease* goes unnoticed.",
          "Is -5 greater than 1e-6?",
          edit(".abs()", ""),
          edit(".abs()", "", "linspace(0.5, 1,", "linspace(0.1, 1,", name="signed_small_push")),
    wrong("summed_up",
          "You combine the features before you compare them with the limit: movements in opposite directions cancel in "
          "a sum, and in a mean one moving feature is lost among many constant ones.",
          "In how many features must an output move?",
          edit(_MOVED, f"{_MOVEMENT}.sum(-1).abs() > 1e-6"),
          edit(_MOVED, f"{_MOVEMENT}.abs().mean(-1) > 1e-6", name="mean_of_features")),
    wrong("by_gradient",
          "You use the gradient. For an output that moves in steps it is zero, although the output does move.",
          "What does the exercise ask you to change, and what to run again?",
          source("""
              def who_sees_whom(layer, x):
                  jacobian = torch.autograd.functional.jacobian(layer, x)
                  return (jacobian.abs() > 1e-6).any(dim=3).any(dim=1)
              """)),
    # Mistakes in the matrix.
    wrong("inverted", "Your matrix is inverted: it is `True` where nothing moved.",
          "In which direction does your comparison point?",
          edit("> 1e-6", "<= 1e-6")),
    wrong("amounts", "The matrix holds numbers instead of booleans.",
          "What is the dtype of a comparison, and what is the dtype of your matrix?",
          edit(_MOVED, f"{_MOVEMENT}.abs().amax(dim=-1)"),
          edit(_RESULT, f"{_RESULT}.float()", name="numbers"), tests="boolean"),
    wrong("three_dimensions",
          "There is not one answer per pair of positions: features are kept separate, or positions are not.",
          "Over which dimension must `any` run, and over which must it not?",
          edit(".any(dim=-1)", ""),
          edit(".any(dim=-1)", ".any().expand(len(x))", name="one_number")),
    wrong("self_forgotten", "Your matrix says that no position sees itself: you skipped the case `i = j`.",
          "Does an output move when its own input changes?",
          edit(_RESULT, f"{_RESULT} & ~torch.eye(len(x)).bool()")),
    wrong("squeezed", "For a single position, your matrix loses its dimensions.",
          "What shape does the docstring promise for `L = 1`?",
          edit(_RESULT, f"{_RESULT}.squeeze()")),
]

ACCEPTED = [
    right("chance", edit(_PUSH, "changed[j] -= 0.1 + 0.9 * torch.rand(x.size(1))")),
    right("small_steps", edit(_PUSH, "changed[j] += 0.2 * push")),
    right("isclose", edit(_MOVED, "(~torch.isclose(layer(changed), before, rtol=0, atol=1e-6)).any(-1)")),
    right("fill_a_matrix", source("""
        def who_sees_whom(layer, x):
            before = layer(x)
            matrix = torch.zeros(len(x), len(x), dtype=torch.bool)
            for j in range(len(x)):
                other = x.clone()
                for c in range(x.size(1)):
                    other[j, c] = other[j, c] + 0.5 + c**2 / x.size(1) ** 2
                after = layer(other)
                for i in range(len(x)):
                    matrix[i, j] = bool((after[i] - before[i]).abs().max() > 1e-6)
            return matrix
        """)),
    right("one_hot_rows", source("""
        def who_sees_whom(layer, x):
            L = x.shape[0]
            bumps = torch.eye(L).to(x).unsqueeze(-1) * torch.linspace(0.1, 1, x.shape[1])
            moved = torch.stack([layer(x + bump) - layer(x) for bump in bumps])
            return (moved.norm(dim=-1) > 1e-6).T
        """)),
]

EXERCISE = Specification(
    contract=Contract(
        ways=(),
        sizes=special_sizes(
            one_position=_draw_layer(_MIXTURE, 1, 3, size=0.0, rest=0.75),
            equal_sizes=_draw_layer(_MIXTURE, 4, 4, apart=True),
            one_feature_of_many=_draw_one_feature_of_many,
        ),
    ),
    ready_made=("autograder.checks.probes.moving",),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
