"""Who sees whom."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from autograder.bank.attention._who_sees_whom import MOVED
from autograder.bank.attention._who_sees_whom.accepted import ACCEPTED
from autograder.bank.attention._who_sees_whom.runs import RUNS
from autograder.bank.inputs import open_mask
from autograder.oracle.draw import Draw
from autograder.oracle.promise import Promise, special
from autograder.oracle.specification import (
    CaseKind,
    Edit,
    Inputs,
    Maker,
    Mutant,
    Specification,
    Way,
)


def _mixture(length: int, d: int) -> Maker:
    """A layer that mixes positions, and many pairs have no influence.

    One output sees nobody, one input is seen by nobody; one is zero, sees itself, and
    its influence on another one moves two features by opposite amounts. That one
    consists of ones, and sees itself, too.
    """

    def inputs(draw: Draw) -> Inputs:
        numbers = draw.tensor(d, length, length, scale=1.0)
        table = numbers + 0.5 * numbers.sign()
        table *= draw.flags(d, length, length, chance=0.3)
        turn = int(draw.ids(0, length))
        blind, unseen, i, j = ((turn + n) % length for n in range(4))
        table[:, i, j] = 0.0
        table[:2, i, j] = torch.tensor([0.75, -0.75])
        table[0, j, j] = 0.75
        table[:, blind], table[:, :, unseen] = 0.0, 0.0
        x = draw.tensor(length, d)
        table[0, i, i] = 0.75
        x[j], x[i] = 0.0, 1.0
        return {
            "x": x,
            "layer": "a mixture of positions",
            "table": table,
        }

    return inputs


def _faint(length: int, d: int) -> Maker:
    """A layer whose influences are faint; each one is of all features on all.

    A random change may leave one feature nearly as it was, but not all of them. One
    output sees nobody; another moves down in all features.
    """

    def inputs(draw: Draw) -> Inputs:
        signs = draw.flags(d, length, length, chance=0.5) * 2.0 - 1.0
        seen = draw.flags(length, length, chance=0.3)
        turn = int(draw.ids(0, length))
        down = (turn + 1) % length
        seen[turn], seen[down, turn], signs[:, down, turn] = False, True, -1.0
        x = draw.tensor(length, d)
        return {
            "x": x,
            "layer": "a mixture of positions",
            "table": signs * seen * 0.0005,
        }

    return inputs


def _below_the_limit(length: int, d: int) -> Maker:
    """A layer in which some influences are real, and others below the limit of 1e-6.

    All positions hold the same: another one's vector in its place changes nothing.
    """

    def inputs(draw: Draw) -> Inputs:
        strong = draw.flags(length, length, chance=0.4)
        strong[int(draw.ids(0, length))] = False  # an output that hardly moves
        signs = draw.flags(d, length, length, chance=0.5) * 2.0 - 1.0
        return {
            "x": draw.tensor(1, d).repeat(length, 1),
            "layer": "a mixture of positions",
            "table": signs * (strong + 2.0**-24),
        }

    return inputs


def _far_from_zero(length: int, d: int) -> Maker:
    """A layer with more features than its input, whose outputs are near 1000.

    The influences are powers of two, which no rounding of such outputs takes away, and
    still below what `isclose` allows beside 1000, which is 0.01. The first feature moves
    nothing, one influence is of the last feature alone, another one is all downwards.
    """

    def inputs(draw: Draw) -> Inputs:
        signs = (draw.flags(d, length, length, chance=0.5) * 1.0 - 0.5) / 128
        table = signs * draw.flags(length, length, chance=0.5)
        turn = int(draw.ids(0, length))
        down = (turn + 1) % length
        table[:-1, turn, turn], table[-1, turn, turn] = 0.0, 1 / 256
        table[:, down, turn] = -1 / 256
        return {"x": draw.tensor(length, d), "layer": "a wider mixture", "table": table}

    return inputs


def _masked_layer(length: int, d: int) -> Maker:
    """Attention with a mask.

    Some influence is so faint that a coarse limit misses it; each one moves all
    features, and some upwards.
    """

    def inputs(draw: Draw) -> Inputs:
        while True:
            x, keep = draw.tensor(length, d, scale=1.0), open_mask(draw, length, length)
            pushed = x + torch.eye(length).unsqueeze(-1)  # (j, i, d): input j by 1
            before = F.scaled_dot_product_attention(x, x, x, keep)
            after = F.scaled_dot_product_attention(pushed, pushed, pushed, keep)
            moves = (after - before).flatten(0, 1)  # (L * L, d)
            moves = moves[moves.abs().amax(-1) > 1e-6]  # also a query that was pushed
            faint = moves.abs().amax(-1).min() < 0.08
            if faint and moves.abs().min() > 1e-3 and moves.amax(-1).min() > 1e-3:
                return {"x": x, "layer": "masked attention", "table": keep}

    return inputs


def _one_feature_of_many(draw: Draw) -> Inputs:
    """One feature of 256 moves, by so little that the mean of all is below the limit."""
    table = torch.zeros(256, 4, 4)
    seen = draw.flags(4, 4, chance=0.4)
    seen[0, 1] = True
    table[int(draw.ids(0, 256))] = seen * 0.00015
    return {
        "x": draw.tensor(4, 256), "layer": "a mixture of positions", "table": table
    }  # fmt: skip


def _stairs(length: int, d: int) -> Maker:
    """A layer that rounds what it reads: its outputs move, and no gradient says so."""

    def inputs(draw: Draw) -> Inputs:
        signs = draw.flags(d, length, length, chance=0.5) * 2.0 - 1.0
        seen = draw.flags(length, length, chance=0.4)
        turn = int(draw.ids(0, length))
        seen[turn], seen[turn - 1, turn] = False, True
        return {
            "x": draw.tensor(length, d),
            "layer": "stairs",
            "table": signs * seen,
        }

    return inputs


def _one_position(draw: Draw) -> Inputs:
    """It sees itself, by one of its features."""
    table = torch.zeros(3, 1, 1)
    table[int(draw.ids(0, 3))] = 0.75
    return {"x": draw.tensor(1, 3), "layer": "a mixture of positions", "table": table}


EXERCISE = Specification(
    name="attention/who_sees_whom",
    title="Who sees whom",
    target="who_sees_whom",
    promise=Promise(
        ways=(),
        sizes=special(
            one_position=_one_position,
            equal_sizes=_mixture(4, 4),
            one_feature_of_many=_one_feature_of_many,
        ),
    ),
    cases=[
        CaseKind(
            name="masked",
            title="an attention layer with a mask",
            inputs=_masked_layer(5, 4),
            hint="Output i must move exactly for the inputs j that its mask leaves "
            "open.",
        ),
        CaseKind(
            name="mixture",
            title="a layer that treats each feature differently",
            inputs=_mixture(4, 3),
            hint="Change all features of a position, and look at all features of the "
            "outputs.",
        ),
        CaseKind(
            name="faint",
            title="a layer with faint influences",
            inputs=_faint(6, 4),
            hint="A small movement is a movement, too: the limit is 1e-6.",
        ),
        CaseKind(
            name="below",
            title="a layer with movements below the limit",
            inputs=_below_the_limit(5, 3),
            hint="Up to 1e-6 a movement counts as none: it may be rounding.",
        ),
        CaseKind(
            name="far",
            title="a layer with outputs near 1000, and one feature more",
            inputs=_far_from_zero(4, 3),
            hint="Outputs may have another size than inputs, and how far they move is "
            "not to be measured by how large they are.",
        ),
        CaseKind(
            name="stairs",
            title="a layer that rounds its inputs",
            inputs=_stairs(5, 4),
            hint="Change an input and run the layer again: does the output move?",
        ),
        CaseKind(
            name="wide",
            title="another attention layer",
            inputs=_masked_layer(7, 3),
            hint="The matrix has one row and one column a position.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="transposed",
            says="Your matrix is turned: rows should be outputs, columns the inputs "
            "that were changed.",
            asks="One run changes one input `j`. Is its finding a row or a column?",
            ways=[Way(edits=[Edit("dim=1)", "dim=0)")])],
        ),
        Mutant(
            name="relative_limit",
            says="Your limit grows with the outputs: `allclose` and `isclose` allow more "
            "where numbers are large.",
            asks="What are `rtol` and `atol`, and which of them does the text give?",
            ways=[Way(edits=[
                Edit(MOVED, "(~torch.isclose(layer(changed), before, atol=1e-6)).any(-1)"),
            ])],
        ),
        Mutant(
            name="accumulated",
            says="You never restored what you changed, and you changed `x` itself: "
            "from one step to the next, changes pile up.",
            asks="What is `x` after the loop? What does `clone` do?",
            ways=[Way(edits=[Edit("x.clone()", "x")])],
        ),
        Mutant(
            name="accumulated_copy",
            says="You made a copy once, before the loop, so the changes of earlier "
            "steps are still in it.",
            asks="Where must the fresh copy be made?",
            ways=[Way(edits=[
                Edit(
                    "columns = []",
                    """
                    columns = []
                    changed = x.clone()
                    """,
                ),
                Edit("        changed = x.clone()", ""),
            ])],
        ),
        Mutant(
            name="compared_with_input",
            says="You compared with the *input*, not with the output from before.",
            asks="Which two runs of the layer must be compared?",
            ways=[Way(edits=[Edit("- before)", "- x)")])],
        ),
        Mutant(
            name="not_compared",
            says="According to your matrix, everybody sees everybody. Perhaps you "
            "compared with nothing, not with the output from before.",
            asks="Which two runs of the layer must be compared?",
            ways=[
                Way(edits=[Edit("layer(changed) - before", "layer(changed)")]),
                Way(name="added_for_compared", edits=[
                    Edit("layer(changed) - before", "layer(changed) + before"),
                ]),
            ],
        ),
        Mutant(
            name="set_to_zero",
            says="You set a position to zero, or multiply it. If it was zero before, "
            "nothing has changed, and you conclude that nobody sees it.",
            asks="Which change is a change for any input?",
            ways=[
                Way(edits=[Edit("changed[j] += 1.0", "changed[j] = 0.0")]),
                Way(name="doubled", edits=[
                    Edit("changed[j] += 1.0", "changed[j] *= 2.0"),
                ]),
            ],
        ),
        Mutant(
            name="set_to_one",
            says="You set a position to a fixed value. If it held just that before, "
            "nothing has changed.",
            asks="Which change is a change for any input?",
            ways=[Way(edits=[Edit("changed[j] += 1.0", "changed[j] = 1.0")])],
        ),
        Mutant(
            name="neighbours_vector",
            says="You put another position's vector in its place. If the two are alike, "
            "nothing has changed.",
            asks="Which change is a change for any input?",
            ways=[Way(edits=[Edit("changed[j] += 1.0", "changed[j] = x[j - 1]")])],
        ),
        Mutant(
            name="hardly_changed",
            says="Faint influences are overlooked: you change a position by very "
            "little, or your limit is far too high.",
            asks="How much does the text say to change, and what counts as a movement?",
            ways=[Way(edits=[Edit("changed[j] += 1.0", "changed[j] += 1e-3")])],
        ),
        Mutant(
            name="limit_of_a_thousandth",
            says="Faint influences are overlooked: your limit is too high.",
            asks="The text says what counts as a movement. How far may rounding go?",
            ways=[Way(edits=[Edit("1e-6", "1e-3")])],
        ),
        Mutant(
            name="one_feature_changed",
            says="You changed the first feature only. A layer may listen to another "
            "one.",
            asks="Which features of position `j` are to change?",
            ways=[Way(edits=[Edit("changed[j] += 1.0", "changed[j, 0] += 1.0")])],
        ),
        Mutant(
            name="one_feature_read",
            says="You looked at the first feature of the outputs only.",
            asks="Must all features move, or is one enough?",
            ways=[Way(edits=[
                Edit(MOVED, "(layer(changed) - before).abs()[:, 0] > 1e-6"),
            ])],
        ),
        Mutant(
            name="as_many_as_inputs",
            says="You looked at as many features of an output as an input has.",
            asks="Must an output have the size of an input?",
            ways=[Way(edits=[
                Edit("(layer(changed) - before).abs()",
                     "(layer(changed) - before)[:, : x.size(1)].abs()"),
            ])],
        ),
        Mutant(
            name="all_features",
            says="You asked that *all* features of an output move. One is enough.",
            asks="What is the difference between `any` and `all`?",
            ways=[Way(edits=[Edit(".any(dim=-1)", ".all(dim=-1)")])],
        ),
        Mutant(
            name="coarse",
            says="Your limit is too coarse: faint influences are overlooked.",
            asks="Which limit does the text give?",
            ways=[Way(edits=[Edit("1e-6", "0.1")])],
        ),
        Mutant(
            name="signed",
            says="You look for movements in one direction only: a *decrease* goes "
            "unnoticed.",
            asks="What does `abs` do?",
            ways=[Way(edits=[Edit(".abs()", "")])],
        ),
        Mutant(
            name="summed_up",
            says="You summed over the features before you took the absolute value, so "
            "movements in opposite directions cancel.",
            asks="What is the sum of +1 and -1, and did nothing move?",
            ways=[Way(edits=[
                Edit(MOVED, "(layer(changed) - before).sum(-1).abs() > 1e-6"),
            ])],
        ),
        Mutant(
            name="everything_changed",
            says="You changed all positions at once, so every output moves that sees "
            "anyone.",
            asks="Which position is to change in step `j`?",
            ways=[Way(edits=[Edit("changed[j] += 1.0", "changed += 1.0")])],
        ),
        Mutant(
            name="inverted",
            says="Your matrix is inverted: `True` stands where nothing moved.",
            asks="In which direction does your comparison point?",
            ways=[Way(edits=[Edit("> 1e-6", "<= 1e-6")])],
        ),
        Mutant(
            name="amounts",
            says="You returned how *much* the outputs moved. The question is whether "
            "they did.",
            asks="What type should the matrix have?",
            ways=[Way(edits=[
                Edit(MOVED, "(layer(changed) - before).abs().amax(dim=-1)"),
            ])],
        ),
        Mutant(
            name="numbers",
            says="The places are right, but the matrix holds numbers, not booleans.",
            asks="What type does a comparison have, and what type your matrix?",
            ways=[Way(edits=[
                Edit("torch.stack(columns, dim=1)",
                     "torch.stack(columns, dim=1).float()"),
            ])],
        ),
        Mutant(
            name="three_dimensions",
            says="You kept the features apart. One answer for each pair of positions "
            "is wanted.",
            asks="Over which dimension must `any` run?",
            ways=[Way(edits=[Edit(".any(dim=-1)", "")])],
        ),
        Mutant(
            name="one_number",
            says="You asked whether *anything* moved at all; the answers for single "
            "positions are lost.",
            asks="Over which dimension must `any` run, and over which must it not?",
            ways=[Way(edits=[Edit(".any(dim=-1)", ".any().expand(len(x))")])],
        ),
        Mutant(
            name="positions_swapped",
            says="You changed features where positions were meant: the index stands in "
            "the second place.",
            asks="`x` has shape `(L, d)`. Where does the index of the position go?",
            ways=[Way(edits=[
                Edit("changed[j] += 1.0", "changed[:, j % x.size(1)] += 1.0"),
            ])],
        ),
        Mutant(
            name="self_forgotten",
            says="Your matrix says that no position sees itself: you skipped the case "
            "`i = j`.",
            asks="Does an output move when its own input changes?",
            ways=[Way(edits=[
                Edit("torch.stack(columns, dim=1)",
                     "torch.stack(columns, dim=1) & ~torch.eye(len(x)).bool()"),
            ])],
        ),
        *RUNS,
    ],
    accepted=ACCEPTED,
)
