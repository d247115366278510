"""Softmax that survives."""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.inputs import open_mask
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.promise import Promise, special
from autograder.authoring.specification import Inputs, Maker, Specification


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
    """One number lies so far below its row that its power is zero."""
    x = draw.tensor(2, 3, 5)
    x[1, int(draw.ids(0, 3)), int(draw.ids(0, 5))] -= 200.0
    return {"x": x, "pull": draw.tensor(2, 3, 5)}


def _rows_with_holes(draw: Draw) -> Inputs:
    return {"x": _holes(draw.tensor(3, 4, 6), open_mask(draw, 3, 4, 6))}


def _holes(x: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
    return x.masked_fill(~keep, float("-inf"))


CASES = [
    case("small", "3 rows of 5 small numbers", _rows(3, 5),
         "Take a row on paper: exponentials, their sum, the fractions."),
    case("large", "rows near 600 and near 300", _rows(2, 3, 4, offsets=(600.0, 300.0)),
         "e^89 is too large for float32. Choose the constant such that no exponent is positive.", atol=2e-4),
    case("apart", "near 1000, near 0 and near -1000 in one tensor", _rows_apart,
         "Each row needs a constant of its own.", atol=2e-4),
    case("holes", "some entries are -inf", _rows_with_holes,
         "An entry of -inf gets the weight 0 and must not disturb the others."),
    case("gradient", "the gradient of a weighted sum", _rows_with_pull,
         "The gradient must find its way back to x: no detach, no numpy, no item()."),
    case("heads", "four dimensions", _rows(2, 3, 5, 7, scale=8.0),
         "Only the last dimension is summed over.", hidden_only=True),
]

MAX = "x.amax(dim=-1, keepdim=True)"
SUM = "powers.sum(dim=-1, keepdim=True)"
POWERS = "(x - x.amax(dim=-1, keepdim=True)).exp()"

MISTAKES = [
    # Mistakes in what is subtracted first.
    wrong("naive",
          "On paper this is right, but nothing keeps the exponents small: large numbers overflow, and `inf / inf` is "
          "`nan`.",
          "Which constant could you subtract from a row so that no exponent is positive?",
          edit(POWERS, "x.exp()")),
    wrong("added",
          "You *added* the largest number of the row. That pushes exponents up.",
          "With which sign does the largest exponent become zero?",
          edit("x - x.amax(dim=-1, keepdim=True)", "x + x.amax(dim=-1, keepdim=True)")),
    wrong("one_maximum",
          "You subtracted the maximum of the whole tensor. A row that lies far below it underflows to zeros, and "
          "`0 / 0` is `nan`.",
          "How many numbers must be subtracted from a tensor with three rows?",
          edit(MAX, "x.max()")),
    wrong("maximum_of_columns",
          "You took the maximum along another dimension, so a row's own largest number may remain far from zero.",
          "Which dimension do the shares of one query run along?",
          edit(MAX, "x.amax(dim=0, keepdim=True)")),
    wrong("maximum_of_sequence",
          "You took the maximum over the rows (dimension -2), not within each row.",
          "Which dimension do the shares of one query run along?",
          edit(MAX, "x.amax(dim=-2, keepdim=True)")),
    wrong("minimum",
          "You subtracted too little, the smallest number of the row or its mean: the largest exponent may still be "
          "far above zero.",
          "What is the largest exponent after you subtract the minimum, or the mean, of (0, 0, 0, 900)?",
          edit(MAX, "x.amin(dim=-1, keepdim=True)"),
          edit(MAX, "x.mean(dim=-1, keepdim=True)", name="average")),
    wrong("absolute_maximum",
          "You subtracted the largest absolute value. In a row of large negative numbers that pushes every exponent "
          "down, all powers become zero, and `0 / 0` is `nan`.",
          "For the row (-1000, -1001): which constant makes its largest exponent exactly zero?",
          edit(MAX, "x.abs().amax(dim=-1, keepdim=True)")),
    wrong("divided_by_maximum",
          "You divided by the maximum. That keeps exponents small, but it changes the shares: only *adding* a "
          "constant cancels in the fraction.",
          "Does softmax of (1, 2) equal softmax of (100, 200)?",
          edit("x - x.amax(dim=-1, keepdim=True)", "x / x.amax(dim=-1, keepdim=True)")),
    wrong("clamped",
          "You cut large numbers off. Then numbers beyond the limit all look equal.",
          "Two scores, 100 and 200: may they get the same share?",
          edit("(x - x.amax(dim=-1, keepdim=True))", "x.clamp(-80, 80)")),
    wrong("clamped_above",
          "You cut off what is too large, and nothing else: a row far below zero still underflows to zeros.",
          "What is the sum of a row whose powers are all zero?",
          edit("(x - x.amax(dim=-1, keepdim=True))", "x.clamp(max=80)")),
    # Mistakes in the dimension that is summed up.
    wrong("no_keepdim",
          "A sum or a maximum lost its dimension: `(B, L)` and `(B,)` do not line up row by row.",
          "What shape must they have so that each row meets its own?",
          edit(SUM, "powers.sum(dim=-1)")),
    wrong("max_tuple",
          "`max` along a dimension gives two things, the numbers and their places. You used both together.",
          "What does `print(x.max(dim=-1))` show?",
          edit(MAX, "x.max(dim=-1, keepdim=True)")),
    wrong("rows_together",
          "You divided by the sum of the whole tensor: all numbers together sum to one, instead of each row.",
          "What should the weights of one query sum to?",
          edit(SUM, "powers.sum()")),
    wrong("columns",
          "Your *columns* sum to one. The softmax ran over queries, not over keys.",
          "Which dimension is the last one?",
          edit(MAX, "x.amax(dim=-2, keepdim=True)", SUM, "powers.sum(dim=-2, keepdim=True)")),
    wrong("first_dimension",
          "You normalised along the first dimension, so the sentences of a batch share one cake.",
          "May one sentence's weights depend on its neighbour in the batch?",
          edit(MAX, "x.amax(dim=0, keepdim=True)", SUM, "powers.sum(dim=0, keepdim=True)")),
    wrong("implicit_dimension",
          "You normalised along dimension 1. That is the last one for a matrix, but not for a batch.",
          "Which index names the last dimension of any tensor?",
          edit(MAX, "x.amax(dim=1, keepdim=True)", SUM, "powers.sum(dim=1, keepdim=True)")),
    # Mistakes in the powers and in their shares.
    wrong("no_exponential",
          "There is no exponential: you shifted the numbers and divided by their sum.",
          "Are your shares all positive?",
          edit(POWERS, "(x - x.amax(dim=-1, keepdim=True))")),
    wrong("not_divided",
          "The division is missing: your rows do not sum to one.",
          "What turns powers into shares?",
          edit("powers / powers.sum(dim=-1, keepdim=True)", "powers")),
    wrong("something_added_below",
          "Something small is added to the sum, so rows do not sum to one.",
          "Your largest power is 1. Can the sum of a row ever be zero?",
          edit("powers / powers.sum(dim=-1, keepdim=True)", "powers / (powers.sum(dim=-1, keepdim=True) + 1e-8)")),
    wrong("base_two",
          "Your powers have another base than `e`.",
          "Which function gives powers of e?",
          edit(".exp()", ".exp2()")),
    wrong("logarithms",
          "These are logarithms of the shares, as `log_softmax` gives them.",
          "Can a share be negative?",
          edit("powers / powers.sum(dim=-1, keepdim=True)", "(powers / powers.sum(dim=-1, keepdim=True)).log()")),
    wrong("sigmoids",
          "You squashed each number for itself (a sigmoid). The numbers do not compete, and do not sum to one.",
          "If all scores are large, what should happen to the shares?",
          edit(POWERS, "x.sigmoid()", " / powers.sum(dim=-1, keepdim=True)", "")),
    wrong("twice",
          "Your shares are much too even: softmax was applied twice.",
          "What does softmax make of numbers that all lie between 0 and 1?",
          edit("powers / powers.sum(dim=-1, keepdim=True)", "(powers / powers.sum(dim=-1, keepdim=True)).softmax(-1)")),
    wrong("small_constant",
          "A small constant in the denominator makes your rows sum to a little less than one.",
          "After the shift, how large is the sum at least? Can it still be zero?",
          edit(SUM, "(powers.sum(dim=-1, keepdim=True) + 1e-3)")),
    wrong("hidden_nan",
          "You turned `nan` into zero at the end. The alarm is silent now, but those rows no longer sum to one.",
          "Which weights does the largest number of such a row deserve?",
          edit(POWERS, "x.exp()",
               "powers / powers.sum(dim=-1, keepdim=True)",
               "(powers / powers.sum(dim=-1, keepdim=True)).nan_to_num(0.0)")),
    # Mistakes in what comes back, and in what is changed on the way.
    wrong("in_place",
          "The weights are right, but `x` itself was changed on the way.",
          "What is the difference between `x = x - m` and `x -= m`?",
          source("""
              def stable_softmax(x):
                  x -= x.amax(dim=-1, keepdim=True)
                  powers = x.exp()
                  return powers / powers.sum(dim=-1, keepdim=True)
              """)),
    wrong("in_place_all",
          "You worked in place: `x` itself now holds the weights, and the scores are lost.",
          "Which of your calls end in an underscore?",
          source("""
              def stable_softmax(x):
                  x.sub_(x.amax(dim=-1, keepdim=True)).exp_()
                  return x.div_(x.sum(dim=-1, keepdim=True))
              """)),
    wrong("no_gradient",
          "The weights are right, but no gradient comes back: the way to `x` was cut, by `detach`, `no_grad`, `item` "
          "or numpy.",
          "Could a network learn through this function?",
          edit(POWERS, "(x - x.amax(dim=-1, keepdim=True)).detach().exp()"),
          source("""
              def stable_softmax(x):
                  a = x.detach().numpy()
                  powers = (torch.from_numpy(a - a.max(axis=-1, keepdims=True))).exp()
                  return powers / powers.sum(dim=-1, keepdim=True)
              """, name="numpy")),
    wrong("through_logarithms",
          "The weights are right, but their gradient is `nan` where a power is zero.",
          "What is the slope of the logarithm at zero?",
          source("""
              def stable_softmax(x):
                  powers = (x - x.amax(dim=-1, keepdim=True)).exp()
                  return (powers.log() - powers.sum(dim=-1, keepdim=True).log()).exp()
              """)),
    wrong("double",
          "The numbers are right, but they come back as float64: the type changed on the way.",
          "Which of your calls changes the type? Is more precision a cure for overflow?",
          edit("x - x.amax", "x.double() - x.amax")),
    wrong("pytorchs_own",
          "You called PyTorch's own softmax. Here you open the box: `exp`, `sum` and a good choice of the constant.",
          "Which three steps does the formula have?",
          source("""
              def stable_softmax(x):
                  return torch.softmax(x, dim=-1)
              """),
          source("""
              def stable_softmax(x):
                  return x.softmax(-1)
              """, name="pytorchs_method"),
          source("""
              def stable_softmax(x):
                  return F.log_softmax(x, dim=-1).exp()
              """, name="pytorchs_logarithm")),
    wrong("exponents_cut_off",
          "Small exponents are cut off, so an entry of `-inf` still gets a share.",
          "What is `exp` of the smallest exponent that you let through?",
          edit(POWERS, "(x - x.amax(dim=-1, keepdim=True)).clamp(min=-20).exp()")),
    wrong("holes_get_a_little",
          "An entry of `-inf` gets a small share, not none.",
          "What is `exp` of what you put in its place?",
          edit(POWERS, "torch.nan_to_num(x - x.amax(dim=-1, keepdim=True), neginf=-25.0).exp()")),
    wrong("holes_by_a_number",
          "You replace `-inf` by a number that is large and negative. There are rows below it.",
          "What is smaller than every number, and what does `exp` make of it?",
          source("""
              def stable_softmax(x):
                  x = x.masked_fill(x == -math.inf, -1e9)
                  powers = (x - x.amax(dim=-1, keepdim=True)).exp()
                  return powers / powers.sum(dim=-1, keepdim=True)
              """)),
    wrong("small_shares_cut_off",
          "Exponents below a bound are cut off, so very small shares are too large.",
          "Can an exponent be too small for `exp`, and what comes out of it then?",
          edit(POWERS, "(x - x.amax(dim=-1, keepdim=True)).clamp(min=-20).exp() * (x > -math.inf)")),
    wrong("in_float32",
          "The weights come back in float32, whatever the type of `x` was.",
          "Which of your steps names a type?",
          edit(POWERS, "(x - x.amax(dim=-1, keepdim=True)).exp().float()")),
    wrong("one_constant_for_each_matrix",
          "You subtract one number for each matrix. Its rows may lie far apart, too.",
          "Over which dimension do you look for the largest number?",
          edit(POWERS, "(x - x.flatten(-2).amax(-1)[..., None, None]).exp()")),
]

ACCEPTED = [
    right("max_values", edit(MAX, "x.max(dim=-1, keepdim=True).values")),
    right("max_detached", edit(MAX, "x.amax(dim=-1, keepdim=True).detach()")),
    right("logsumexp", source("""
        def stable_softmax(x):
            return (x - torch.logsumexp(x, dim=-1, keepdim=True)).exp()
        """)),
    right("double_and_back", source("""
        def stable_softmax(x):
            y = x.double() - x.double().max(-1, keepdim=True)[0]
            powers = y.exp()
            return (powers / powers.sum(-1, keepdim=True)).to(x.dtype)
        """)),
    right("loop", source("""
        def stable_softmax(x):
            rows = []
            for row in x.reshape(-1, x.shape[-1]):
                powers = torch.exp(row - row.max())
                rows.append(powers / powers.sum())
            return torch.stack(rows).reshape(x.shape)
        """)),
    right("unsqueeze", source("""
        def stable_softmax(x):
            top, _ = torch.max(x, dim=-1)
            e = torch.exp(x - top.unsqueeze(-1))
            return e / e.sum(-1).unsqueeze(-1)
        """)),
    right("in_place_on_own", source("""
        def stable_softmax(x):
            y = x - x.amax(-1, keepdim=True)
            y = y.exp()
            return y / y.sum(-1, keepdim=True)
        """)),
    right("sigmoid_of_differences", source("""
        def stable_softmax(x):
            differences = (x.unsqueeze(-2) - x.unsqueeze(-1)).nan_to_num(nan=0.0)
            differences = differences.clamp(max=80.0)
            weights = 1 / differences.exp().sum(-1)
            return torch.where(x == -math.inf, torch.zeros_like(x), weights)
        """)),
]

EXERCISE = Specification(
    name="attention/softmax", title="Softmax that survives", target="stable_softmax",
    promise=Promise(
        typed=True, arguments="x: B h M L", results="weights: B h M L", on=("heads",),
        sizes=special(
            one_number=_rows(2, 3, 1), one_row=_rows(1, 5),
            one_row_without_a_batch=_rows(5, offsets=(0.0, 300.0, 150.0, 299.0, 50.0)), equal_sizes=_rows(3, 3, 3),
            as_many_rows_as_numbers=_rows(4, 4),
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
