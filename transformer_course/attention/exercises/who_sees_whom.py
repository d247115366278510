"""Who sees whom."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from autograder.authoring.contract import Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.inputs import open_mask
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification


def _mixture(length: int, d: int) -> Maker:
    """A layer that mixes positions, in which many pairs have no influence on each other.

    One output sees no position, and one input is seen by none. Position j is zero and sees itself; its influence on
    position i moves two features by opposite amounts. Position i consists of ones and sees itself, too; it influences
    position j by a single feature.
    """

    def make_inputs(draw: Draw) -> Inputs:
        numbers = draw.tensor(d, length, length, scale=1.0)
        table = numbers + 0.5 * numbers.sign()
        table *= draw.flags(d, length, length, chance=0.3)
        turn = int(draw.ids(0, length))
        blind, unseen, i, j = ((turn + n) % length for n in range(4))
        table[:, i, j] = 0.0
        table[:2, i, j] = torch.tensor([0.75, -1.5])  # of features pushed by 1 and 0.5
        table[0, j, j] = 0.75
        table[:, j, i], table[2, j, i] = 0.0, 0.75  # by input i's feature 1 alone
        table[:, blind], table[:, :, unseen] = 0.0, 0.0
        x = draw.tensor(length, d)
        table[0, i, i] = 0.75
        x[j], x[i] = 0.0, 1.0
        return {"x": x, "layer": "a mixture of positions", "table": table}

    return make_inputs


def _faint(length: int, d: int) -> Maker:
    """A layer whose influences are faint; in each, all features act on all features.

    A random change may leave one feature nearly as it was, but not all of them. One output sees no position, and one
    moves down in all features.
    """

    def make_inputs(draw: Draw) -> Inputs:
        signs = draw.flags(d, length, length, chance=0.5) * 2.0 - 1.0
        influences = draw.flags(length, length, chance=0.3)
        turn = int(draw.ids(0, length))
        down = (turn + 1) % length
        influences[turn], influences[down, turn], signs[:, down, turn] = False, True, -1.0
        x = draw.tensor(length, d)
        return {"x": x, "layer": "a mixture of positions", "table": signs * influences * 0.0005}

    return make_inputs


def _below_the_limit(length: int, d: int) -> Maker:
    """A layer in which some influences are real, and others below the limit of 1e-6.

    All positions hold the same vector, so exchanging two of them changes nothing.
    """

    def make_inputs(draw: Draw) -> Inputs:
        strong = draw.flags(length, length, chance=0.4)
        strong[int(draw.ids(0, length))] = False  # an output that hardly moves
        signs = draw.flags(d, length, length, chance=0.5) * 2.0 - 1.0
        return {
            "x": draw.tensor(1, d).repeat(length, 1),
            "layer": "a mixture of positions",
            "table": signs * (strong + 2.0**-24),
        }

    return make_inputs


def _far_from_zero(length: int, d: int) -> Maker:
    """A layer with more features than its input, whose outputs are near 1000.

    The influences are powers of two, which no rounding of such outputs removes. They are below 0.01, which `isclose`
    allows beside 1000. The first feature moves nothing, one influence is of the last feature alone, and one moves all
    features down.
    """

    def make_inputs(draw: Draw) -> Inputs:
        signs = (draw.flags(d, length, length, chance=0.5) * 1.0 - 0.5) / 128
        table = signs * draw.flags(length, length, chance=0.5)
        turn = int(draw.ids(0, length))
        down = (turn + 1) % length
        table[:-1, turn, turn], table[-1, turn, turn] = 0.0, 1 / 256
        table[:, down, turn] = -1 / 256
        return {"x": draw.tensor(length, d), "layer": "a wider mixture", "table": table}

    return make_inputs


def _masked_layer(length: int, d: int) -> Maker:
    """Attention with a mask.

    Some influences are so faint that a coarse limit misses them. Each one moves all features, and some of these
    upwards.
    """

    def make_inputs(draw: Draw) -> Inputs:
        while True:
            x, keep = draw.tensor(length, d, scale=1.0), open_mask(draw, length, length)
            pushed = x + torch.eye(length).unsqueeze(-1) * torch.linspace(0.5, 1, d)  # (j, i, d)
            before = F.scaled_dot_product_attention(x, x, x, keep)
            after = F.scaled_dot_product_attention(pushed, pushed, pushed, keep)
            moves = (after - before).flatten(0, 1)  # (L * L, d)
            moves = moves[moves.abs().amax(-1) > 1e-6]  # also a query that was pushed
            faint = moves.abs().amax(-1).min() < 0.08
            if faint and moves.abs().min() > 1e-3 and moves.amax(-1).min() > 1e-3:
                return {"x": x, "layer": "masked attention", "table": keep}

    return make_inputs


def _behind_a_norm(length: int, d: int) -> Maker:
    """A layer that begins with a norm, which removes what all features have in common.

    One influence moves all features down, and the effects of a second one on the features sum to zero.
    """

    def make_inputs(draw: Draw) -> Inputs:
        signs = draw.flags(d, length, length, chance=0.5) * 1.0 - 0.5
        influences = draw.flags(length, length, chance=0.5)
        turn, x = int(draw.ids(0, length)), draw.tensor(length, d)
        influences[turn], influences[turn - 1, turn], influences[turn - 1, turn - 2] = False, True, True
        before, after = (F.layer_norm(row, (d,)) for row in (x[turn], x[turn] + torch.linspace(0.5, 1, d)))
        signs[:, turn - 1, turn], signs[:, turn - 1, turn - 2] = -0.5 * (after - before).sign(), 0.5
        return {"x": x, "layer": "a mixture behind a norm", "table": signs * influences}

    return make_inputs


def _one_feature_of_many(draw: Draw) -> Inputs:
    """One feature of 256 moves, by so little that the mean of all is below the limit."""
    table = torch.zeros(256, 4, 4)
    influences = draw.flags(4, 4, chance=0.4)
    influences[0, 1] = True
    table[int(draw.ids(0, 256))] = influences * 0.00015
    return {
        "x": draw.tensor(4, 256), "layer": "a mixture of positions", "table": table
    }  # fmt: skip


def _stairs(length: int, d: int) -> Maker:
    """A layer that rounds what it reads: its outputs move, and no gradient says so.

    The changes that one input makes to all features sum to zero.
    """

    def make_inputs(draw: Draw) -> Inputs:
        table = draw.flags(d, length, length, chance=0.5) * 2.0 - 1.0
        table *= draw.flags(length, length, chance=0.4)
        turn, x = int(draw.ids(0, length)), draw.tensor(length, d)
        steps = (16 * (x[turn] + torch.linspace(0.5, 1, d))).floor() - (16 * x[turn]).floor()
        table[:, turn], table[:, turn - 1, turn] = 0.0, torch.tensor([1.0, -1.0]).repeat(d // 2) / steps
        return {"x": x, "layer": "stairs", "table": table}

    return make_inputs


def _one_position(draw: Draw) -> Inputs:
    """One position, which sees itself by one of its features."""
    table = torch.zeros(3, 1, 1)
    table[int(draw.ids(0, 3))] = 0.75
    return {"x": draw.tensor(1, 3), "layer": "a mixture of positions", "table": table}


CASES = [
    case("masked", "an attention layer with a mask", _masked_layer(5, 4),
         "Output i must move for exactly those inputs j that its mask allows."),
    case("mixture", "a layer that treats each feature differently", _mixture(4, 3),
         "Change all features of a position, and look at all features of the outputs."),
    case("faint", "a layer with faint influences", _faint(6, 4),
         "A small movement is still a movement: the limit is 1e-6."),
    case("below", "a layer with movements below the limit", _below_the_limit(5, 3),
         "A movement of up to 1e-6 counts as none: it may be rounding."),
    case("far", "a layer with outputs near 1000 and one extra feature", _far_from_zero(4, 3),
         "Outputs may have more features than inputs, and the limit does not grow with the size of the output."),
    case("stairs", "a layer that rounds its inputs", _stairs(5, 4),
         "Change an input and run the layer again: does the output move?"),
    case("norm", "a layer that begins with a LayerNorm", _behind_a_norm(5, 6),
         "Change every feature of a position, each by a different amount: a norm removes what they have in common."),
    case("wide", "another attention layer", _masked_layer(7, 3),
         "The matrix has one row and one column per position.", hidden_only=True),
]

MOVED = "((layer(changed) - before).abs() > 1e-6).any(dim=-1)"

MISTAKES = [
    wrong("transposed",
          "Your matrix is transposed: rows should be outputs, columns the inputs that were changed.",
          "One run changes one input `j`. Does it fill a row or a column?",
          edit("dim=1)", "dim=0)")),
    wrong("relative_limit",
          "Your limit grows with the outputs: `allclose` and `isclose` allow more where values are large.",
          "What are `rtol` and `atol`, and which of them does the exercise give?",
          edit(MOVED, "(~torch.isclose(layer(changed), before, atol=1e-6)).any(-1)")),
    wrong("accumulated",
          "You changed `x` itself and never restored it, so the changes pile up from step to step.",
          "What is `x` after the loop? What does `clone` do?",
          edit("x.clone()", "x"), tests="modified"),
    wrong("accumulated_copy",
          "You made only one copy, before the loop, so the changes of earlier steps are still in it.",
          "Where should each fresh copy be made?",
          edit("columns = []", """
              columns = []
              changed = x.clone()
              """,
               "        changed = x.clone()", "")),
    wrong("compared_with_input",
          "You compared with the *input*, not with the original output.",
          "Which two runs of the layer must be compared?",
          edit("- before)", "- x)")),
    wrong("not_compared",
          "According to your matrix, every position sees every other. Perhaps you did not compare with the original "
          "output.",
          "Which two runs of the layer must be compared?",
          edit("layer(changed) - before", "layer(changed)")),
    wrong("set_to_zero",
          "You set a position to zero, or scaled it. If it was zero before, nothing changes, and you conclude that no "
          "output depends on it.",
          "Which operation changes a vector, whatever it contains?",
          edit("changed[j] += push", "changed[j] = 0.0")),
    wrong("set_to_one",
          "You set a position to a fixed value. If it already had that value, nothing changes.",
          "Which operation changes a vector, whatever it contains?",
          edit("changed[j] += push", "changed[j] = 1.0")),
    wrong("neighbours_vector",
          "You replaced a position's vector by that of another position. If the two are equal, nothing changes.",
          "Which operation changes a vector, whatever it contains?",
          edit("changed[j] += push", "changed[j] = x[j - 1]")),
    wrong("hardly_changed",
          "Faint influences are missed: you change a position by too little, or your limit is far too high.",
          "By how much should you change a position, and what counts as a movement?",
          edit("changed[j] += push", "changed[j] += 1e-3")),
    wrong("limit_of_a_thousandth",
          "Faint influences are missed: your limit is too high.",
          "What counts as a movement, according to the exercise?",
          edit("1e-6", "1e-3")),
    wrong("one_feature_changed",
          "You do not change every feature of position `j`, but a layer may depend on any of them.",
          "Which features of position `j` should change?",
          edit("changed[j] += push", "changed[j, 0] += 1.0")),
    wrong("even_push",
          "You add the same amount to every feature. A norm subtracts the mean, so it removes your change, and the layer "
          "looks blind although it is not.",
          "Which change of a vector does a LayerNorm not undo?",
          edit("changed[j] += push", "changed[j] += 1.0"), tests="different"),
    wrong("one_feature_read",
          "You looked only at the first feature of the outputs.",
          "Must all features move, or is one enough?",
          edit(MOVED, "(layer(changed) - before).abs()[:, 0] > 1e-6"), tests="features changes"),
    wrong("as_many_as_inputs",
          "You looked at only as many features of an output as an input has.",
          "Must an output have as many features as an input?",
          edit("(layer(changed) - before).abs()", "(layer(changed) - before)[:, : x.size(1)].abs()"), tests="number"),
    wrong("all_features",
          "You required *all* features of an output to move, but one is enough.",
          "What is the difference between `any` and `all`?",
          edit(".any(dim=-1)", ".all(dim=-1)")),
    wrong("coarse",
          "Faint influences are missed: your limit is too coarse.",
          "Which limit does the exercise give?",
          edit("1e-6", "0.1")),
    wrong("signed",
          "You look for movements in one direction only: a *decrease* goes unnoticed.",
          "Is -5 greater than 1e-6?",
          edit(".abs()", "")),
    wrong("summed_up",
          "You summed over the features before taking the absolute value, so movements in opposite directions cancel.",
          "What is the sum of +1 and -1, and did nothing move?",
          edit(MOVED, "(layer(changed) - before).sum(-1).abs() > 1e-6")),
    wrong("everything_changed",
          "You changed all positions at once, so every output that depends on any input moves.",
          "Which position should change in step `j`?",
          edit("changed[j] += push", "changed += 1.0")),
    wrong("inverted",
          "Your matrix is inverted: it is `True` where nothing moved.",
          "In which direction does your comparison point?",
          edit("> 1e-6", "<= 1e-6")),
    wrong("amounts",
          "You returned how *much* the outputs moved, not whether they did.",
          "What dtype should the matrix have?",
          edit(MOVED, "(layer(changed) - before).abs().amax(dim=-1)"), tests="boolean"),
    wrong("numbers",
          "The matrix holds numbers instead of booleans.",
          "What is the dtype of a comparison, and what is the dtype of your matrix?",
          edit("torch.stack(columns, dim=1)", "torch.stack(columns, dim=1).float()")),
    wrong("three_dimensions",
          "You kept the features separate instead of giving one answer per pair of positions.",
          "Over which dimension must `any` run?",
          edit(".any(dim=-1)", "")),
    wrong("one_number",
          "You asked whether *anything* moved at all, so the answers for single positions are lost.",
          "Over which dimension must `any` run, and over which must it not?",
          edit(".any(dim=-1)", ".any().expand(len(x))")),
    wrong("zero_push",
          "You add nothing to one of the features, so an influence of this feature alone goes unnoticed.",
          "With an odd number of features, what is in the middle of your `linspace`?",
          edit("torch.linspace(0.5, 1, x.size(-1))", "torch.linspace(-1, 1, x.size(-1))")),
    wrong("positions_swapped",
          "You changed features instead of positions: your index is in the wrong dimension.",
          "`x` has shape `(L, d)`. Where does the index of the position go?",
          edit("changed[j] += push", "changed[:, j % x.size(1)] += 1.0")),
    wrong("self_forgotten",
          "Your matrix says that no position sees itself: you skipped the case `i = j`.",
          "Does an output move when its own input changes?",
          edit("torch.stack(columns, dim=1)", "torch.stack(columns, dim=1) & ~torch.eye(len(x)).bool()")),
    # Mistakes in what is changed, what is run, and what is left behind.
    wrong("x_left_changed",
          "`x` is different afterwards.",
          "Did you restore *exactly* what you changed? A copy is safer.",
          edit("changed = x.clone()", "changed = x",
               "return torch.stack", """
              x[0] += 1.0
              return torch.stack
              """,
               "columns.append(((layer(changed) - before).abs() > 1e-6).any(dim=-1))", """
              moved = ((layer(changed) - before).abs() > 1e-6).any(dim=-1)
              columns.append(moved)
              changed[j] -= push
              """)),
    wrong("no_limit",
          "Changes below the limit count: you accept every movement, however small, or you change a position by far "
          "more than 1.",
          "Which limit does the exercise give, and by how much should you change a position?",
          edit("> 1e-6", "> 0")),
    wrong("by_gradient",
          "You use the gradient. For an output that moves in steps it is zero, although the output does move.",
          "What does the exercise ask you to change, and what to run again?",
          source("""
              def who_sees_whom(layer, x):
                  jacobian = torch.autograd.functional.jacobian(layer, x)
                  return (jacobian.abs() > 1e-6).any(dim=3).any(dim=1)
              """)),
    wrong("mean_of_features",
          "You compare the mean over the features with the limit, so one moving feature among many constant ones is "
          "missed.",
          "In how many features must an output move?",
          edit(MOVED, "((layer(changed) - before).abs().mean(-1) > 1e-6)")),
    wrong("squeezed",
          "For a single position, your matrix loses its dimensions.",
          "What shape does the docstring promise for `L = 1`?",
          edit("torch.stack(columns, dim=1)", "torch.stack(columns, dim=1).squeeze()")),
    wrong("on_x_itself",
          "You change `x` itself and then undo the change. While the layer runs, the caller's `x` is modified.",
          "Where is the copy that the exercise asks for?",
          source("""
              def who_sees_whom(layer, x):
                  before, columns, push = layer(x), [], 0.5 + torch.arange(x.size(-1)) % 3 / 4
                  for j in range(len(x)):
                      x[j] += push
                      columns.append(((layer(x) - before).abs() > 1e-6).any(dim=-1))
                      x[j] -= push
                  return torch.stack(columns, dim=1)
              """),
          source("""
              def who_sees_whom(layer, x):
                  before, columns, push = layer(x), [], 0.5 + torch.arange(x.size(-1)) % 3 / 4
                  for j in range(len(x)):
                      x.data[j] += push
                      columns.append(((layer(x) - before).abs() > 1e-6).any(dim=-1))
                      x.data[j] -= push
                  return torch.stack(columns, dim=1)
              """, name="on_the_data_of_x")),
]

ACCEPTED = [
    right("noise", edit("changed[j] += push", "changed[j] = torch.randn(x.size(1))")),
    right("subtract", edit("changed[j] += push", "changed[j] -= 0.7 * push")),
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
    right("norms", edit(MOVED, "(layer(changed) - before).norm(dim=-1) > 1e-6")),
    right("isclose", edit(MOVED, "(~torch.isclose(layer(changed), before, rtol=0, atol=1e-6)).any(-1)")),
    right("one_hot_rows", source("""
        def who_sees_whom(layer, x):
            L = x.shape[0]
            bumps = torch.eye(L).to(x).unsqueeze(-1) * torch.linspace(0.1, 1, x.shape[1])
            moved = torch.stack([layer(x + bump) - layer(x) for bump in bumps])
            return (moved.abs().amax(-1) > 1e-6).T
        """)),
    right("small_steps", edit("changed[j] += push", "changed[j] += 0.2 * push")),
]

EXERCISE = Specification(
    contract=Contract(
        ways=(),
        sizes=special(one_position=_one_position, equal_sizes=_mixture(4, 4), one_feature_of_many=_one_feature_of_many),
    ),
    ready_made=("autograder.checks.probes.moving",),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
