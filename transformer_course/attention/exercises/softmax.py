"""A stable softmax."""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.contract import Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.inputs import open_mask
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification


def _rows(*shape: int, scale: float = 3.0, offsets: tuple[float, ...] = ()) -> Maker:
    """Rows for softmax; ``offsets`` move the items of the first dimension apart."""

    def make_inputs(draw: Draw) -> Inputs:
        x = draw.tensor(*shape, scale=scale)
        if offsets:
            x = x + torch.tensor(offsets).reshape(-1, *[1] * (len(shape) - 1))
        return {"x": x}

    return make_inputs


def _rows_apart(draw: Draw) -> Inputs:
    """Rows far apart; in each of them, two numbers tower above the others."""
    x = _rows(3, 2, 6, offsets=(1000.0, 0.0, -1000.0))(draw)["x"]
    x[:, 1] -= 500.0  # rows of one matrix are as far apart as matrices
    first = int(draw.ids(0, 5))
    x[..., first : first + 2] += 300.0
    return {"x": x}


def _rows_with_pull(draw: Draw) -> Inputs:
    """One number lies so far below the others of its row that its exponential is zero."""
    x = draw.tensor(2, 3, 5)
    x[1, int(draw.ids(0, 3)), int(draw.ids(0, 5))] -= 200.0
    return {"x": x, "pull": draw.tensor(2, 3, 5)}


def _rows_with_holes(draw: Draw) -> Inputs:
    return {"x": _holes(draw.tensor(3, 4, 6), open_mask(draw, 3, 4, 6))}


def _holes(x: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
    return x.masked_fill(~keep, float("-inf"))


CASES = [
    case("small", "3 rows of 5 small numbers", _rows(3, 5),
         "Work out one row on paper: the exponentials, their sum, the fractions."),
    case("large", "rows near 600 and near 300", _rows(2, 3, 4, offsets=(600.0, 300.0)),
         "e^89 is too large for float32. Choose the constant so that no exponent is positive.", atol=2e-4),
    case("apart", "near 1000, near 0 and near -1000 in one tensor", _rows_apart,
         "Each row needs its own constant.", atol=2e-4),
    case("holes", "some entries are -inf", _rows_with_holes,
         "An entry of -inf gets weight 0 and must not affect the others.", tests="weight"),
    case("gradient", "the gradient of a weighted sum", _rows_with_pull,
         "The gradient must reach x: no detach, no NumPy, no item()."),
    case("heads", "four dimensions", _rows(2, 3, 5, 7, scale=8.0),
         "Only the last dimension is summed over.", hidden_only=True),
]

MAX = "x.amax(dim=-1, keepdim=True)"
SUM = "powers.sum(dim=-1, keepdim=True)"
POWERS = "(x - x.amax(dim=-1, keepdim=True)).exp()"

MISTAKES = [
    # Mistakes in what is subtracted first.
    wrong("naive",
          "This is right on paper, but nothing keeps the exponents small: large scores overflow, and `inf / inf` is "
          "`nan`.",
          "Which constant could you subtract from a row so that no exponent is positive?",
          edit(POWERS, "x.exp()")),
    wrong("added",
          "You *added* the maximum of the row, which pushes the exponents up.",
          "With which sign does the largest exponent become zero?",
          edit("x - x.amax(dim=-1, keepdim=True)", "x + x.amax(dim=-1, keepdim=True)")),
    wrong("one_maximum",
          "You subtracted the maximum of the whole tensor. A row far below it underflows to zeros, and `0 / 0` is "
          "`nan`.",
          "How many row maxima does a tensor with three rows have?",
          edit(MAX, "x.max()")),
    wrong("maximum_of_columns",
          "You took the maximum along the wrong dimension, so the entries of one row are not all shifted by the same number.",
          "Which dimension holds the weights of one query?",
          edit(MAX, "x.amax(dim=0, keepdim=True)")),
    wrong("maximum_of_sequence",
          "You took the maximum over the rows (dimension -2), not within each row.",
          "Which dimension holds the weights of one query?",
          edit(MAX, "x.amax(dim=-2, keepdim=True)")),
    wrong("minimum",
          "You subtracted only the minimum or the mean of the row, so the largest "
          "exponent can still be far above zero.",
          "What is the largest exponent after you subtract the minimum, or the mean, of (0, 0, 0, 900)?",
          edit(MAX, "x.amin(dim=-1, keepdim=True)"),
          edit(MAX, "x.mean(dim=-1, keepdim=True)", name="average")),
    wrong("absolute_maximum",
          "You subtracted the largest absolute value. In a row of large negative scores that pushes every exponent "
          "far down: all powers become zero, and `0 / 0` is `nan`.",
          "For the row (-1000, -1001): which constant makes its largest exponent exactly zero?",
          edit(MAX, "x.abs().amax(dim=-1, keepdim=True)")),
    wrong("divided_by_maximum",
          "You divided by the maximum. That keeps the exponents small, but it changes the weights: only an *added* "
          "constant cancels in the fraction.",
          "Does softmax of (1, 2) equal softmax of (100, 200)?",
          edit("x - x.amax(dim=-1, keepdim=True)", "x / x.amax(dim=-1, keepdim=True)")),
    wrong("clamped",
          "You clamped the scores, so all scores beyond the limit look equal.",
          "Should scores of 100 and 200 get the same weight?",
          edit("(x - x.amax(dim=-1, keepdim=True))", "x.clamp(-80, 80)")),
    wrong("clamped_above",
          "You only clamped scores that are too large: a row far below zero still underflows to zeros.",
          "What is the sum of a row whose powers are all zero?",
          edit("(x - x.amax(dim=-1, keepdim=True))", "x.clamp(max=80)")),
    # Mistakes in the dimension that is summed up.
    wrong("no_keepdim",
          "A sum or a maximum lost its dimension: `(B, L)` and `(B,)` do not line up row by row.",
          "What shape lines each row up with its own sum or maximum?",
          edit(SUM, "powers.sum(dim=-1)")),
    wrong("max_tuple",
          "`max` along a dimension returns two tensors, values and indices, and you used the pair as if it were one.",
          "What does `print(x.max(dim=-1))` show?",
          edit(MAX, "x.max(dim=-1, keepdim=True)")),
    wrong("rows_together",
          "You divided by the sum of the whole tensor: all entries together sum to one, instead of each row.",
          "What should the weights of one query sum to?",
          edit(SUM, "powers.sum()")),
    wrong("columns",
          "Your *columns* sum to one: the softmax runs over the queries instead of the keys.",
          "Over which dimension should each softmax sum, and over which does yours?",
          edit(MAX, "x.amax(dim=-2, keepdim=True)", SUM, "powers.sum(dim=-2, keepdim=True)")),
    wrong("first_dimension",
          "You normalised along the first dimension, so the sentences of a batch compete with each other.",
          "Should one sentence's weights depend on its neighbours in the batch?",
          edit(MAX, "x.amax(dim=0, keepdim=True)", SUM, "powers.sum(dim=0, keepdim=True)")),
    wrong("implicit_dimension",
          "You normalised along dimension 1, which is the last one for a matrix but not for a batch.",
          "Which index refers to the last dimension of any tensor?",
          edit(MAX, "x.amax(dim=1, keepdim=True)", SUM, "powers.sum(dim=1, keepdim=True)")),
    # Mistakes in the powers and in their shares.
    wrong("no_exponential",
          "There is no exponential: you shifted the scores and divided by their sum.",
          "Are your weights all positive?",
          edit(POWERS, "(x - x.amax(dim=-1, keepdim=True))")),
    wrong("not_divided",
          "The division is missing: your rows do not sum to one.",
          "What turns the powers into weights?",
          edit("powers / powers.sum(dim=-1, keepdim=True)", "powers")),
    wrong("something_added_below",
          "A small constant is added to the sum, so rows do not sum to exactly one.",
          "Your largest power is 1. Can the sum of a row ever be zero?",
          edit("powers / powers.sum(dim=-1, keepdim=True)", "powers / (powers.sum(dim=-1, keepdim=True) + 1e-8)")),
    wrong("base_two",
          "The base of your powers is not `e`.",
          "Which function computes powers of `e`?",
          edit(".exp()", ".exp2()")),
    wrong("logarithms",
          "You return the logarithms of the weights, as `log_softmax` does.",
          "Can a weight be negative?",
          edit("powers / powers.sum(dim=-1, keepdim=True)", "(powers / powers.sum(dim=-1, keepdim=True)).log()")),
    wrong("sigmoids",
          "You squashed each score on its own (a sigmoid), so the scores do not compete and the weights do not sum to "
          "one.",
          "If all scores are large, what should happen to the weights?",
          edit(POWERS, "x.sigmoid()", " / powers.sum(dim=-1, keepdim=True)", "")),
    common("twice",
           edit("return powers / powers.sum(dim=-1, keepdim=True)", """
               once = powers / powers.sum(dim=-1, keepdim=True)
               return once.exp() / once.exp().sum(dim=-1, keepdim=True)
               """)),
    wrong("small_constant",
          "A small constant in the denominator makes your rows sum to a little less than one.",
          "After the shift, what is the smallest value that the sum can have?",
          edit(SUM, "(powers.sum(dim=-1, keepdim=True) + 1e-3)"), tests="different"),
    wrong("a_millionth_in_the_sum",
          "A small constant in the denominator makes your rows sum to a little less than one.",
          "After the shift, what is the smallest value that the sum can have?",
          edit(SUM, "(powers.sum(dim=-1, keepdim=True) + 1e-6)")),
    wrong("hidden_nan",
          "You replaced `nan` by zero at the end. That silences the alarm, but those rows no longer sum to one.",
          "What weight should the largest score of such a row get?",
          edit(POWERS, "x.exp()",
               "powers / powers.sum(dim=-1, keepdim=True)",
               "(powers / powers.sum(dim=-1, keepdim=True)).nan_to_num(0.0)")),
    # Mistakes in what comes back, and in what is changed on the way.
    wrong("in_place",
          "Your function modifies `x` itself.",
          "What is the difference between `x = x - m` and `x -= m`?",
          source("""
              def stable_softmax(x):
                  x -= x.amax(dim=-1, keepdim=True)
                  powers = x.exp()
                  return powers / powers.sum(dim=-1, keepdim=True)
              """), tests="modified"),
    wrong("in_place_all",
          "You worked in place: `x` itself now holds the weights, and the scores are lost.",
          "Which of your operations work in place?",
          source("""
              def stable_softmax(x):
                  x.sub_(x.amax(dim=-1, keepdim=True)).exp_()
                  return x.div_(x.sum(dim=-1, keepdim=True))
              """)),
    wrong("no_gradient",
          "No gradient reaches `x`: the graph is cut by `detach`, `no_grad`, `item` or "
          "NumPy.",
          "Could a network learn through this function?",
          edit(POWERS, "(x - x.amax(dim=-1, keepdim=True)).detach().exp()")),
    wrong("through_logarithms",
          "The gradient of your weights is `nan` where a power is zero.",
          "What is the derivative of the logarithm at zero?",
          source("""
              def stable_softmax(x):
                  powers = (x - x.amax(dim=-1, keepdim=True)).exp()
                  return (powers.log() - powers.sum(dim=-1, keepdim=True).log()).exp()
              """)),
    wrong("double",
          "The weights come back as float64: the dtype changed on the way.",
          "Which of your calls changes the dtype? Is more precision a cure for overflow?",
          edit("x - x.amax", "x.double() - x.amax"), tests="result"),
    wrong("exponents_cut_off",
          "Small exponents are clamped, so an entry of `-inf` still gets some weight.",
          "What is `exp` of the smallest exponent that you let through?",
          edit(POWERS, "(x - x.amax(dim=-1, keepdim=True)).clamp(min=-20).exp()")),
    wrong("holes_get_a_little",
          "An entry of `-inf` gets a small weight instead of zero.",
          "What is `exp` of what you put in its place?",
          edit(POWERS, "torch.nan_to_num(x - x.amax(dim=-1, keepdim=True), neginf=-25.0).exp()")),
    wrong("holes_by_a_number",
          "You replace `-inf` with a number, but in some rows all finite entries are far below that number.",
          "What is smaller than every number, and what is `exp` of it?",
          source("""
              def stable_softmax(x):
                  x = x.masked_fill(x == -math.inf, -1e9)
                  powers = (x - x.amax(dim=-1, keepdim=True)).exp()
                  return powers / powers.sum(dim=-1, keepdim=True)
              """)),
    wrong("small_shares_cut_off",
          "Exponents below a bound are clamped, so very small weights come out too large.",
          "Can an exponent be too small for `exp`, and what does it return then?",
          edit(POWERS, "(x - x.amax(dim=-1, keepdim=True)).clamp(min=-20).exp() * (x > -math.inf)")),
    wrong("in_float32",
          "The weights come back in float32, whatever the dtype of `x`.",
          "Which of your steps sets a dtype?",
          edit(POWERS, "(x - x.amax(dim=-1, keepdim=True)).exp().float()")),
    wrong("one_constant_for_each_matrix",
          "You subtract one number per matrix, but its rows may be far apart as well.",
          "Over which dimensions do you take the maximum?",
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
    target="stable_softmax",
    contract=Contract(
        typed=True, arguments="x: B h M L", results="weights: B h M L", on=("heads",),
        sizes=special(
            one_number=_rows(2, 3, 1), one_row=_rows(1, 5),
            one_row_without_a_batch=_rows(5, offsets=(0.0, 300.0, 150.0, 299.0, 50.0)), equal_sizes=_rows(3, 3, 3),
            as_many_rows_as_numbers=_rows(4, 4),
        ),
    ),
    ready_made=("torch.softmax", "torch.log_softmax", "F.softmin", "F.scaled_dot_product_attention"),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
