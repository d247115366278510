"""Softmax that survives."""

from __future__ import annotations

import torch

from autograder.bank.inputs import open_mask
from autograder.oracle.draw import Draw
from autograder.oracle.promise import Promise, special
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Inputs,
    Maker,
    Mutant,
    Specification,
    Way,
)


def _rows(*shape: int, scale: float = 3.0, offsets: tuple[float, ...] = ()) -> Maker:
    """Rows for softmax; ``offsets`` move the items of the first dimension apart."""

    def inputs(draw: Draw) -> Inputs:
        x = draw.tensor(*shape, scale=scale)
        if offsets:
            x = x + torch.tensor(offsets).reshape(-1, *[1] * (len(shape) - 1))
        return {"x": x}

    return inputs


def _rows_apart(draw: Draw) -> Inputs:
    """Rows far apart; in each of them, two numbers tower above the others."""
    x = _rows(3, 2, 6, offsets=(1000.0, 0.0, -1000.0))(draw)["x"]
    x[:, 1] -= 500.0  # rows of one matrix are as far apart as matrices
    first = int(draw.ids(0, 5))
    x[..., first : first + 2] += 300.0
    return {"x": x}


def _rows_with_pull(draw: Draw) -> Inputs:
    return {"x": draw.tensor(2, 3, 5), "pull": draw.tensor(2, 3, 5)}


def _rows_with_holes(draw: Draw) -> Inputs:
    return {"x": _holes(draw.tensor(3, 4, 6), open_mask(draw, 3, 4, 6))}


def _holes(x: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
    return x.masked_fill(~keep, float("-inf"))


_MAX = "x.amax(dim=-1, keepdim=True)"
_SUM = "powers.sum(dim=-1, keepdim=True)"
_POWERS = "(x - x.amax(dim=-1, keepdim=True)).exp()"

EXERCISE = Specification(
    name="attention/softmax",
    title="Softmax that survives",
    target="stable_softmax",
    promise=Promise(
        arguments="x: B h M L",
        results="weights: B h M L",
        on=("heads",),
        sizes=special(
            one_number=_rows(2, 3, 1), one_row=_rows(1, 5), equal_sizes=_rows(3, 3, 3)
        ),
    ),
    cases=[
        CaseKind(
            name="small",
            title="3 rows of 5 small numbers",
            inputs=_rows(3, 5),
            hint="Take a row on paper: exponentials, their sum, the fractions.",
        ),
        CaseKind(
            name="large",
            title="rows near 600 and near 300",
            inputs=_rows(2, 3, 4, offsets=(600.0, 300.0)),
            hint="e^89 is too large for float32. Choose the constant such that no "
            "exponent is positive.",
            atol=2e-4,
        ),
        CaseKind(
            name="apart",
            title="near 1000, near 0 and near -1000 in one tensor",
            inputs=_rows_apart,
            hint="Each row needs a constant of its own.",
            atol=2e-4,
        ),
        CaseKind(
            name="holes",
            title="some entries are -inf",
            inputs=_rows_with_holes,
            hint="An entry of -inf gets the weight 0 and must not disturb the others.",
        ),
        CaseKind(
            name="gradient",
            title="the gradient of a weighted sum",
            inputs=_rows_with_pull,
            hint="The gradient must find its way back to x: no detach, no numpy, no "
            "item().",
        ),
        CaseKind(
            name="heads",
            title="four dimensions",
            inputs=_rows(2, 3, 5, 7, scale=8.0),
            hint="Only the last dimension is summed over.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="naive",
            says="On paper this is right, but nothing keeps the exponents small: large "
            "numbers overflow, and `inf / inf` is `nan`.",
            asks="Which constant could you subtract from a row so that no exponent is "
            "positive?",
            ways=[
                Way(edits=[Edit(_POWERS, "x.exp()")]),
                Way(name="naive_e", edits=[Edit(_POWERS, "torch.pow(math.e, x)")]),
            ],
        ),
        Mutant(
            name="added",
            says="You *added* the largest number of the row. That pushes exponents up.",
            asks="With which sign does the largest exponent become zero?",
            ways=[Way(edits=[
                Edit("x - x.amax(dim=-1, keepdim=True)",
                     "x + x.amax(dim=-1, keepdim=True)"),
            ])],
        ),
        Mutant(
            name="one_maximum",
            says="You subtracted the maximum of the whole tensor. A row that lies far "
            "below it underflows to zeros, and `0 / 0` is `nan`.",
            asks="How many numbers must be subtracted from a tensor with three rows?",
            ways=[Way(edits=[Edit(_MAX, "x.max()")])],
        ),
        Mutant(
            name="maximum_of_columns",
            says="You took the maximum along another dimension, so a row's own largest "
            "number may remain far from zero.",
            asks="Which dimension do the shares of one query run along?",
            ways=[Way(edits=[Edit(_MAX, "x.amax(dim=0, keepdim=True)")])],
        ),
        Mutant(
            name="maximum_of_sequence",
            says="You took the maximum over the rows (dimension -2), not within each "
            "row.",
            asks="Which dimension do the shares of one query run along?",
            ways=[Way(edits=[Edit(_MAX, "x.amax(dim=-2, keepdim=True)")])],
        ),
        Mutant(
            name="minimum",
            says="You subtracted too little, the smallest number of the row or its "
            "mean: the largest exponent may still be far above zero.",
            asks="What is the largest exponent after you subtract the minimum, or the "
            "mean, of (0, 0, 0, 900)?",
            ways=[
                Way(edits=[Edit(_MAX, "x.amin(dim=-1, keepdim=True)")]),
                Way(name="average", edits=[Edit(_MAX, "x.mean(dim=-1, keepdim=True)")]),
            ],
        ),
        Mutant(
            name="absolute_maximum",
            says="You subtracted the largest absolute value. In a row of large "
            "negative numbers that pushes every exponent down, all powers become zero, "
            "and `0 / 0` is `nan`.",
            asks="For the row (-1000, -1001): which constant makes its largest "
            "exponent exactly zero?",
            ways=[Way(edits=[Edit(_MAX, "x.abs().amax(dim=-1, keepdim=True)")])],
        ),
        Mutant(
            name="divided_by_maximum",
            says="You divided by the maximum. That keeps exponents small, but it "
            "changes the shares: only *adding* a constant cancels in the fraction.",
            asks="Does softmax of (1, 2) equal softmax of (100, 200)?",
            ways=[Way(edits=[
                Edit("x - x.amax(dim=-1, keepdim=True)",
                     "x / x.amax(dim=-1, keepdim=True)"),
            ])],
        ),
        Mutant(
            name="clamped",
            says="You cut large numbers off. Then numbers beyond the limit all look "
            "equal.",
            asks="Two scores, 100 and 200: may they get the same share?",
            ways=[
                Way(edits=[
                    Edit("(x - x.amax(dim=-1, keepdim=True))", "x.clamp(-80, 80)"),
                ]),
            ],
        ),
        Mutant(
            name="clamped_above",
            says="You cut off what is too large, and nothing else: a row far below zero "
            "still underflows to zeros.",
            asks="What is the sum of a row whose powers are all zero?",
            ways=[Way(edits=[
                Edit("(x - x.amax(dim=-1, keepdim=True))", "x.clamp(max=80)"),
            ])],
        ),
        Mutant(
            name="no_keepdim",
            says="A sum or a maximum lost its dimension: `(B, L)` and `(B,)` do not "
            "line up row by row.",
            asks="What shape must they have so that each row meets its own?",
            ways=[
                Way(edits=[Edit(_SUM, "powers.sum(dim=-1)")]),
                Way(name="maximum_without_dimension", edits=[
                    Edit(_MAX, "x.amax(dim=-1)"),
                ]),
            ],
        ),
        Mutant(
            name="max_tuple",
            says="`max` along a dimension gives two things, the numbers and their "
            "places. You used both together.",
            asks="What does `print(x.max(dim=-1))` show?",
            ways=[Way(edits=[Edit(_MAX, "x.max(dim=-1, keepdim=True)")])],
        ),
        Mutant(
            name="rows_together",
            says="You divided by the sum of the whole tensor: all numbers together sum "
            "to one, instead of each row.",
            asks="What should the weights of one query sum to?",
            ways=[Way(edits=[Edit(_SUM, "powers.sum()")])],
        ),
        Mutant(
            name="columns",
            says="Your *columns* sum to one. The softmax ran over queries, not over "
            "keys.",
            asks="Which dimension is the last one?",
            ways=[Way(edits=[
                Edit(_MAX, "x.amax(dim=-2, keepdim=True)"),
                Edit(_SUM, "powers.sum(dim=-2, keepdim=True)"),
            ])],
        ),
        Mutant(
            name="first_dimension",
            says="You normalised along the first dimension, so the sentences of a "
            "batch share one cake.",
            asks="May one sentence's weights depend on its neighbour in the batch?",
            ways=[Way(edits=[
                Edit(_MAX, "x.amax(dim=0, keepdim=True)"),
                Edit(_SUM, "powers.sum(dim=0, keepdim=True)"),
            ])],
        ),
        Mutant(
            name="implicit_dimension",
            says="You normalised along dimension 1. That is the last one for a matrix, "
            "but not for a batch.",
            asks="Which index names the last dimension of any tensor?",
            ways=[Way(edits=[
                Edit(_MAX, "x.amax(dim=1, keepdim=True)"),
                Edit(_SUM, "powers.sum(dim=1, keepdim=True)"),
            ])],
        ),
        Mutant(
            name="no_exponential",
            says="There is no exponential: you shifted the numbers and divided by "
            "their sum.",
            asks="Are your shares all positive?",
            ways=[Way(edits=[Edit(_POWERS, "(x - x.amax(dim=-1, keepdim=True))")])],
        ),
        Mutant(
            name="not_divided",
            says="The division is missing: your rows do not sum to one.",
            asks="What turns powers into shares?",
            ways=[Way(edits=[
                Edit("powers / powers.sum(dim=-1, keepdim=True)", "powers"),
            ])],
        ),
        Mutant(
            name="base_two",
            says="Your powers have another base than `e`.",
            asks="Which function gives powers of e?",
            ways=[Way(edits=[Edit(".exp()", ".exp2()")])],
        ),
        Mutant(
            name="logarithms",
            says="These are logarithms of the shares, as `log_softmax` gives them.",
            asks="Can a share be negative?",
            ways=[
                Way(edits=[
                    Edit("powers / powers.sum(dim=-1, keepdim=True)",
                         "(powers / powers.sum(dim=-1, keepdim=True)).log()"),
                ]),
            ],
        ),
        Mutant(
            name="sigmoids",
            says="You squashed each number for itself (a sigmoid). The numbers do not "
            "compete, and do not sum to one.",
            asks="If all scores are large, what should happen to the shares?",
            ways=[Way(edits=[
                Edit(_POWERS, "x.sigmoid()"),
                Edit(" / powers.sum(dim=-1, keepdim=True)", ""),
            ])],
        ),
        Mutant(
            name="twice",
            says="Your shares are much too even: softmax was applied twice.",
            asks="What does softmax make of numbers that all lie between 0 and 1?",
            ways=[Way(edits=[
                Edit("powers / powers.sum(dim=-1, keepdim=True)",
                     "(powers / powers.sum(dim=-1, keepdim=True)).softmax(-1)"),
            ])],
        ),
        Mutant(
            name="padded_sum",
            says="A constant in the denominator makes your rows sum to less than one.",
            asks="After the shift, how large is the sum at least? Can it still be "
            "zero?",
            ways=[Way(edits=[Edit(_SUM, "(powers.sum(dim=-1, keepdim=True) + 1.0)")])],
        ),
        Mutant(
            name="small_constant",
            says="A small constant in the denominator makes your rows sum to a little "
            "less than one.",
            asks="After the shift, how large is the sum at least? Can it still be "
            "zero?",
            ways=[Way(edits=[Edit(_SUM, "(powers.sum(dim=-1, keepdim=True) + 1e-3)")])],
        ),
        Mutant(
            name="hidden_nan",
            says="You turned `nan` into zero at the end. The alarm is silent now, but "
            "those rows no longer sum to one.",
            asks="Which weights does the largest number of such a row deserve?",
            ways=[Way(edits=[
                Edit(_POWERS, "x.exp()"),
                Edit("powers / powers.sum(dim=-1, keepdim=True)",
                     "(powers / powers.sum(dim=-1, keepdim=True)).nan_to_num(0.0)"),
            ])],
        ),
        Mutant(
            name="in_place",
            says="The weights are right, but `x` itself was changed on the way.",
            asks="What is the difference between `x = x - m` and `x -= m`?",
            ways=[Way(source="""
                def stable_softmax(x):
                    x -= x.amax(dim=-1, keepdim=True)
                    powers = x.exp()
                    return powers / powers.sum(dim=-1, keepdim=True)
                """)],
        ),
        Mutant(
            name="in_place_all",
            says="You worked in place: `x` itself now holds the weights, and the "
            "scores are lost.",
            asks="Which of your calls end in an underscore?",
            ways=[Way(source="""
                def stable_softmax(x):
                    x.sub_(x.amax(dim=-1, keepdim=True)).exp_()
                    return x.div_(x.sum(dim=-1, keepdim=True))
                """)],
        ),
        Mutant(
            name="no_gradient",
            says="The weights are right, but no gradient comes back: the way to `x` "
            "was cut, by `detach`, `no_grad`, `item` or numpy.",
            asks="Could a network learn through this function?",
            ways=[
                Way(edits=[
                    Edit(_POWERS, "(x - x.amax(dim=-1, keepdim=True)).detach().exp()"),
                ]),
                Way(name="numpy", source="""
                    def stable_softmax(x):
                        a = x.detach().numpy()
                        powers = (torch.from_numpy(a - a.max(axis=-1, keepdims=True))).exp()
                        return powers / powers.sum(dim=-1, keepdim=True)
                    """),
            ],
        ),
        Mutant(
            name="double",
            says="The numbers are right, but they come back as float64: the type "
            "changed on the way.",
            asks="Which of your calls changes the type? Is more precision a cure for "
            "overflow?",
            ways=[Way(edits=[Edit("x - x.amax", "x.double() - x.amax")])],
        ),
        Mutant(
            name="pytorchs_own",
            says="You called PyTorch's own softmax. Here you open the box: `exp`, `sum` "
            "and a good choice of the constant.",
            asks="Which three steps does the formula have?",
            ways=[
                Way(source="""
                    def stable_softmax(x):
                        return torch.softmax(x, dim=-1)
                    """),
                Way(name="pytorchs_method", source="""
                    def stable_softmax(x):
                        return x.softmax(-1)
                    """),
                Way(name="pytorchs_logarithm", source="""
                    def stable_softmax(x):
                        return F.log_softmax(x, dim=-1).exp()
                    """),
            ],
        ),
        Mutant(
            name="exponents_cut_off",
            says="Small exponents are cut off, so an entry of `-inf` still gets a share.",
            asks="What is `exp` of the smallest exponent that you let through?",
            ways=[
                Way(edits=[
                    Edit(_POWERS, "(x - x.amax(dim=-1, keepdim=True)).clamp(min=-20).exp()"),
                ]),
                Way(name="holes_filled", edits=[
                    Edit(_POWERS,
                         "torch.nan_to_num(x - x.amax(dim=-1, keepdim=True), neginf=-25.0).exp()"),
                ]),
            ],
        ),
        Mutant(
            name="one_constant_for_each_matrix",
            says="You subtract one number for each matrix. Its rows may lie far apart, "
            "too.",
            asks="Over which dimension do you look for the largest number?",
            ways=[Way(edits=[
                Edit(_POWERS,
                     "(x - x.flatten(-2).amax(-1)[..., None, None]).exp()"),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="max_values", edits=[
            Edit(_MAX, "x.max(dim=-1, keepdim=True).values"),
        ]),
        Accepted(name="max_detached", edits=[
            Edit(_MAX, "x.amax(dim=-1, keepdim=True).detach()"),
        ]),
        Accepted(name="logsumexp", source="""
            def stable_softmax(x):
                return (x - torch.logsumexp(x, dim=-1, keepdim=True)).exp()
            """),
        Accepted(name="double_and_back", source="""
            def stable_softmax(x):
                y = x.double() - x.double().max(-1, keepdim=True)[0]
                powers = y.exp()
                return (powers / powers.sum(-1, keepdim=True)).to(x.dtype)
            """),
        Accepted(name="loop", source="""
            def stable_softmax(x):
                rows = []
                for row in x.reshape(-1, x.shape[-1]):
                    powers = torch.exp(row - row.max())
                    rows.append(powers / powers.sum())
                return torch.stack(rows).reshape(x.shape)
            """),
        Accepted(name="unsqueeze", source="""
            def stable_softmax(x):
                top, _ = torch.max(x, dim=-1)
                e = torch.exp(x - top.unsqueeze(-1))
                return e / e.sum(-1).unsqueeze(-1)
            """),
        Accepted(name="in_place_on_own", source="""
            def stable_softmax(x):
                y = x - x.amax(-1, keepdim=True)
                y = y.exp()
                return y / y.sum(-1, keepdim=True)
            """),
        Accepted(name="sigmoid_of_differences", source="""
            def stable_softmax(x):
                differences = (x.unsqueeze(-2) - x.unsqueeze(-1)).nan_to_num(nan=0.0)
                differences = differences.clamp(max=80.0)
                weights = 1 / differences.exp().sum(-1)
                return torch.where(x == -math.inf, torch.zeros_like(x), weights)
            """),
    ],
)
