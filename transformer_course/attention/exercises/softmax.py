"""Cases and mistakes for an exercise: a numerically stable softmax."""

from __future__ import annotations

from collections.abc import Callable

import torch

from autograder.authoring.common import common
from autograder.authoring.contract import Contract, special_sizes
from autograder.authoring.draw import Draw
from autograder.authoring.inputs import open_mask
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification


def _draw_apart(*shape: int, offsets: tuple[float, ...]) -> Callable[[Draw], torch.Tensor]:
    """Make a function that draws numbers near a different offset for each index of the first dimension."""
    return lambda draw: draw.tensor(*shape, scale=3.0) + torch.tensor(offsets).reshape(-1, *[1] * (len(shape) - 1))


def _draw_towers(draw: Draw) -> torch.Tensor:
    """Rows with very different means, in each of which some numbers are much larger than the others."""
    x = _draw_apart(3, 2, 6, offsets=(1000.0, 0.0, -1000.0))(draw) + 300.0 * open_mask(draw, 3, 2, 6)
    return x - torch.tensor([0.0, 500.0]).reshape(1, 2, 1)


def _draw_holes(draw: Draw) -> torch.Tensor:
    """Draw rows in which some entries are -inf; the rest of the last matrix is near -2000.

    A solution that replaces -inf by a constant such as -1000 therefore gives the masked
    entries of that matrix the largest weights.
    """
    x = _draw_apart(3, 4, 6, offsets=(0.0, 0.0, -2000.0))(draw)
    return x.masked_fill(~open_mask(draw, 3, 4, 6), -torch.inf)


CASES = [
    case("small", "3 rows of 5 small numbers", sizes(batch=(3,), L=5),
         "Work out one row on paper: the exponentials, their sum, the fractions."),
    case("large", "rows near 600 and near 300", sizes(x=_draw_apart(2, 3, 4, offsets=(600.0, 300.0))),
         "e^89 is too large for float32. Choose the constant so that no exponent is positive.", atol=2e-4),
    case("apart", "near 1000, near 0 and near -1000 in one tensor", sizes(x=_draw_towers),
         "Each row needs its own constant.", atol=2e-4),
    case("holes", "some entries are -inf", sizes(x=_draw_holes),
         "An entry of -inf gets weight 0 and must not affect the others.", atol=2e-4, tests="weight"),
    case("heads", "four dimensions", sizes(batch=(2, 3, 5), L=7, scale=8.0),
         "Only the last dimension is summed over.", hidden_only=True),
]

_MAX = "x.amax(dim=-1, keepdim=True)"
_SUM = "powers.sum(dim=-1, keepdim=True)"
_SHIFTED = f"(x - {_MAX})"
_POWERS = f"{_SHIFTED}.exp()"
_WEIGHTS = f"powers / {_SUM}"

MISTAKES = [
    # Mistakes in what is subtracted first.
    wrong("naive",
          "This is right on paper, but nothing keeps the exponents small: large scores overflow, and `inf / inf` is "
          "`nan`.",
          "Which constant could you subtract from a row so that no exponent is positive?",
          edit(_POWERS, "x.exp()")),
    wrong("added", "You *added* the maximum of the row, which pushes the exponents up.",
          "With which sign does the largest exponent become zero?",
          edit(_SHIFTED, f"(x + {_MAX})")),
    wrong("one_maximum",
          "You subtracted the same number from several rows. A row far below it underflows to zeros, and `0 / 0` is "
          "`nan`.",
          "How many row maxima does a tensor with three rows have?",
          edit(_MAX, "x.max()"),
          edit(_MAX, "x.flatten(-2).amax(-1)[..., None, None]", name="one_maximum_for_each_matrix")),
    wrong("maximum_of_columns",
          "You took the maximum along the wrong dimension, so the entries of one row are not all shifted by the same "
          "number.",
          "Which dimension holds the weights of one query?",
          edit(_MAX, "x.amax(dim=0, keepdim=True)"),
          edit(_MAX, "x.amax(dim=-2, keepdim=True)", name="maximum_of_sequence")),
    wrong("minimum",
          "You subtracted only the minimum or the mean of the row, so the largest exponent can still be far above "
          "zero.",
          "What is the largest exponent after you subtract the minimum, or the mean, of (0, 0, 0, 900)?",
          edit(_MAX, "x.amin(dim=-1, keepdim=True)"),
          edit(_MAX, "x.mean(dim=-1, keepdim=True)", name="average")),
    wrong("absolute_maximum",
          "You subtracted the largest absolute value. In a row of large negative scores that pushes every exponent "
          "far down: all powers become zero, and `0 / 0` is `nan`.",
          "For the row (-1000, -1001): which constant makes its largest exponent exactly zero?",
          edit(_MAX, "x.abs().amax(dim=-1, keepdim=True)")),
    wrong("divided_by_maximum",
          "You divided by the maximum. That keeps the exponents small, but it changes the weights: only an *added* "
          "constant cancels in the fraction.",
          "Does softmax of (1, 2) equal softmax of (100, 200)?",
          edit(_SHIFTED, f"(x / {_MAX})")),
    wrong("clamped", "You clamped the scores, so all scores beyond the limit look equal.",
          "Should scores of 100 and 200 get the same weight?",
          edit(_SHIFTED, "x.clamp(-80, 80)"),
          edit(_SHIFTED, "x.clamp(max=80)", name="clamped_above")),
    # Mistakes in the dimension that is summed up.
    wrong("no_keepdim", "A sum or a maximum lost its dimension: `(B, L)` and `(B,)` do not line up row by row.",
          "What shape lines each row up with its own sum or maximum?",
          edit(_SUM, "powers.sum(dim=-1)")),
    wrong("max_tuple",
          "`max` along a dimension returns two tensors, values and indices, and you used the pair as if it were one.",
          "What does `print(x.max(dim=-1))` show?",
          edit(_MAX, "x.max(dim=-1, keepdim=True)")),
    wrong("rows_together",
          "You divided by the sum of the whole tensor: all entries together sum to one, instead of each row.",
          "What should the weights of one query sum to?",
          edit(_SUM, "powers.sum()")),
    wrong("columns", "Your *columns* sum to one: the softmax runs over the queries instead of the keys.",
          "Over which dimension should each softmax sum, and over which does yours?",
          edit(_MAX, "x.amax(dim=-2, keepdim=True)", _SUM, "powers.sum(dim=-2, keepdim=True)")),
    wrong("counted_from_the_front",
          "You normalised along dimension 0 or 1, which is the last one for some shapes only.",
          "Which index refers to the last dimension of any tensor?",
          edit(_MAX, "x.amax(dim=1, keepdim=True)", _SUM, "powers.sum(dim=1, keepdim=True)"),
          edit(_MAX, "x.amax(dim=0, keepdim=True)", _SUM, "powers.sum(dim=0, keepdim=True)", name="first_dimension")),
    # Mistakes in the powers and in their shares.
    wrong("no_exponential", "There is no exponential: you shifted the scores and divided by their sum.",
          "Are your weights all positive?",
          edit(_POWERS, _SHIFTED)),
    wrong("not_divided", "The division is missing: your rows do not sum to one.",
          "What turns the powers into weights?",
          edit(_WEIGHTS, "powers")),
    wrong("base_two", "The base of your powers is not `e`.",
          "Which function computes powers of `e`?",
          edit(".exp()", ".exp2()")),
    wrong("logarithms", "You return the logarithms of the weights, as `log_softmax` does.",
          "Can a weight be negative?",
          edit(_WEIGHTS, f"({_WEIGHTS}).log()")),
    wrong("sigmoids",
          "You squashed each score on its own (a sigmoid), so the scores do not compete and the weights do not sum to "
          "one.",
          "If all scores are large, what should happen to the weights?",
          edit(_POWERS, "x.sigmoid()", f" / {_SUM}", "")),
    common("twice", edit(f"return {_WEIGHTS}", f"""
        once = ({_WEIGHTS}).exp()
        return once / once.sum(dim=-1, keepdim=True)
        """)),
    wrong("small_constant", "A small constant in the denominator makes your rows sum to a little less than one.",
          "After the shift, what is the smallest value that the sum can have?",
          edit(_SUM, f"({_SUM} + 1e-3)"),
          edit(_SUM, f"({_SUM} + 1e-6)", name="a_millionth_in_the_sum"),
          edit(_SUM, f"({_SUM} + 1e-8)", name="even_less_in_the_sum"), tests="different"),
    wrong("hidden_nan",
          "You replaced `nan` by zero at the end. That silences the alarm, but those rows no longer sum to one.",
          "What weight should the largest score of such a row get?",
          edit(_POWERS, "x.exp()", _WEIGHTS, f"({_WEIGHTS}).nan_to_num(0.0)")),
    wrong("exponents_cut_off",
          "Exponents below a bound are clamped, so entries that should get (nearly) nothing get some weight.",
          "Can an exponent be too small for `exp`, and what does it return then?",
          edit(_POWERS, f"{_SHIFTED}.clamp(min=-20).exp()"),
          edit(_POWERS, f"{_SHIFTED}.clamp(min=-20).exp() * (x > -math.inf)", name="small_shares_cut_off")),
    wrong("holes_by_a_number", "You replaced `-inf` by a number whose power is not always zero.",
          "What is smaller than every number, and what is `exp` of it?",
          edit(_POWERS, f"torch.nan_to_num({_SHIFTED}, neginf=-25.0).exp()"),
          edit(f"powers = {_POWERS}", f"""
              x = x.masked_fill(x == -math.inf, -1000.0)
              powers = {_POWERS}
              """, name="holes_by_minus_a_thousand")),
    # Mistakes in what comes back, and in what is changed on the way.
    wrong("in_place", "Your function modifies `x` itself.",
          "Which of your operations work in place, as `x -= m` and `x.exp_()` do?",
          edit(f"powers = {_POWERS}", f"""
              x -= {_MAX}
              powers = x.exp()
              """),
          edit(f"powers = {_POWERS}", f"powers = x.sub_({_MAX}).exp_()", name="in_place_all"), tests="modified"),
    wrong("no_gradient", "No gradient reaches `x`: the graph is cut by `detach`, `no_grad`, `item` or NumPy.",
          "Could a network learn through this function?",
          edit(_POWERS, f"{_SHIFTED}.detach().exp()")),
    wrong("through_logarithms", "The gradient of your weights is `nan` where a power is zero.",
          "What is the derivative of the logarithm at zero?",
          edit(_WEIGHTS, f"(powers.log() - {_SUM}.log()).exp()")),
    wrong("other_dtype", "The weights do not come back in the dtype of `x`.",
          "Which of your steps sets a dtype? Is more precision a cure for overflow?",
          edit("x - x.amax", "x.double() - x.amax"),
          edit(_POWERS, f"{_POWERS}.float()", name="in_float32"), tests="result"),
]

ACCEPTED = [
    right("max_detached", edit(_MAX, f"{_MAX}.detach()")),
    right("logsumexp", source("def stable_softmax(x): return (x - torch.logsumexp(x, dim=-1, keepdim=True)).exp()")),
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
    right("sigmoid_of_differences", source("""
        def stable_softmax(x):
            differences = (x.unsqueeze(-2) - x.unsqueeze(-1)).nan_to_num(nan=0.0)
            differences = differences.clamp(max=80.0)
            weights = 1 / differences.exp().sum(-1)
            return torch.where(x == -math.inf, torch.zeros_like(x), weights)
        """)),
]

EXERCISE = Specification(
    target="stable_softmax", results="weights",
    contract=Contract(
        on=("small",),
        sizes=special_sizes(
            one_number=sizes(batch=(2, 3), L=1), one_row=sizes(batch=(1,), L=5), equal_sizes=sizes(batch=(3, 3), L=3),
            one_row_without_a_batch=sizes(x=_draw_apart(5, offsets=(0.0, 300.0, 150.0, 299.0, 50.0))),
            as_many_rows_as_numbers=sizes(batch=(4,), L=4),
        ),
    ),
    ready_made=("torch.softmax", "torch.log_softmax", "F.softmin", "F.scaled_dot_product_attention"),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
