"""Cases and mistakes for an exercise: accept or replace guesses of a cheap model."""

from __future__ import annotations

from typing import Any

import torch

from autograder.authoring.common import common
from autograder.authoring.contract import Contract
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification


def _draw_distribution(draw: Draw, batch: tuple[int, ...], V: int) -> torch.Tensor:
    """Random distributions over a vocabulary, (..., V)."""
    return draw.tensor(*batch, V).softmax(-1)


def _draw_one_token(draw: Draw, batch: tuple[int, ...], V: int) -> torch.Tensor:
    """Distributions with probability 1 for one token."""
    return torch.eye(V)[draw.ids(0, V, *batch)]


def _draw_without_two(draw: Draw, batch: tuple[int, ...], V: int) -> torch.Tensor:
    """Distributions in which the first two tokens are impossible."""
    weights = _draw_distribution(draw, batch, V).clone()
    weights[..., :2] = 0
    return weights / weights.sum(-1, keepdim=True)


_ACCEPT = "accept = torch.where(q > 0, p / q, 1.0).clamp(max=1)  # (*batch, V)"
_EXCESS = "excess = (p - q).clamp(min=0)  # (*batch, V)"
_TOTAL = "total = excess.sum(dim=-1, keepdim=True)  # (*batch, 1)"
_RESULT = "return accept, torch.where(total > 0, excess / total, p)"

_EQUAL = torch.tensor([[0.5, 0.25, 0.125, 0.125], [0.0, 0.25, 0.25, 0.5]])


def _draw_equal_row(draw: Draw) -> torch.Tensor:
    """Draw two distributions over 4 tokens, the first of which is fixed.

    If p and q are both drawn like this, only their first rows are equal.
    """
    return torch.stack([_EQUAL[0], _draw_distribution(draw, (), 4)])


_ANY: dict[str, Any] = {"p": _draw_distribution, "q": _draw_distribution}
CASES = [
    case("rows", "3 pairs of distributions over 5 tokens", sizes(batch=(3,), V=5, **_ANY),
         "Take one token: is p or q larger there, and with which probability is a guess of it kept?"),
    case("single", "a single pair, over 7 tokens, two of which p rules out",
         sizes(batch=(), V=7, p=_draw_without_two, q=_draw_distribution),
         "The vocabulary is the last dimension.", tests="leading dimensions"),
    case("certain", "a guesser that is certain", sizes(batch=(4,), V=6, p=_draw_distribution, q=_draw_one_token),
         "The guess is kept with the probability p that the large model gives it; what is never guessed has 1.",
         tests="never guesses"),
    case("impossible", "tokens that neither model ever writes",
         sizes(batch=(3,), V=7, p=_draw_without_two, q=_draw_without_two),
         "Divide by q only where it is not zero: 0 / 0 is NaN.", tests="never guesses", aspect="limits"),
    case("no_excess", "two equal distributions", sizes(batch=(2,), V=4, p=_EQUAL, q=_EQUAL),
         "Nothing is ever rejected, so there is no excess to divide by.", open=True, tests="are equal", aspect="limits"),
    case("one_equal", "two pairs, of which one is equal", sizes(batch=(2,), V=4, p=_draw_equal_row, q=_draw_equal_row),
         "Each pair has its own excess.", tests="are equal", aspect="limits"),
    case("larger", "2 x 4 pairs over 11 tokens", sizes(batch=(2, 4), V=11, p=_draw_without_two, q=_draw_distribution),
         "As above.", hidden_only=True),
]

MISTAKES = [
    wrong("ratio_inverted",
          "Your ratio is inverted: guesses that the large model likes *less* than the cheap one are always kept.",
          "The cheap model guesses a token far too often. Should more or fewer of these guesses be kept?",
          edit("p / q, 1.0", "q / p, 1.0")),
    wrong("impossible_kept", "A guess is kept although p rules it out.",
          "Which of the two divisors may be 0, and what is p / q where p is 0?",
          edit("torch.where(q > 0,", "torch.where(p > 0,"), tests="rules out"),
    wrong("above_one", "Some acceptance probabilities are above 1.",
          "What is p / q where the large model likes a token twice as much as the cheap one?",
          edit(".clamp(max=1)", "")),
    wrong("all_or_nothing", "You always keep a token where p is at least q, and never where it is smaller.",
          "With which probability should a guess be kept that q makes twice as often as p?",
          edit(_ACCEPT, "accept = (p >= q).to(p)")),
    wrong("other_probability", "You return p, q or the smaller of the two as the acceptance probability; divide by q.",
          "The guess has been made already. What does q tell about it that p alone does not?",
          edit(_ACCEPT, "accept = torch.minimum(p, q)"),
          edit(_ACCEPT, "accept = p.clone()", name="p_itself")),
    wrong("sample_from_p",
          "A rejected guess is replaced by a sample from p, so that tokens which q guesses often are written too "
          "often.",
          "A token that q never guesses can only come from the replacement. How often should it be written, and how "
          "often is something rejected?",
          edit("excess / total, p)", "p, p)")),
    wrong("not_normalised", "Your replacements do not sum to 1.",
          "How much probability is left in the excess of p over q?",
          edit("excess / total", "excess")),
    wrong("wrong_excess",
          "You take the excess of q over p, or the differences without their signs; the replacement makes up for what "
          "q guesses *too rarely*.",
          "Which tokens are still missing once all kept guesses are counted?",
          edit(_EXCESS, "excess = (q - p).clamp(min=0)"),
          edit(_EXCESS, "excess = (p - q).abs()", name="absolute")),
    wrong("negative", "Your replacement has negative entries where q is larger than p.",
          "What does max(0, p - q) do to a negative difference?",
          edit("excess / total, p)", "(p - q) / total, p)")),
    wrong("softmax_of_the_excess",
          "You normalise the excess with a softmax, which gives every token a part of the replacement.",
          "What should the replacement be where q is larger than p, and what does softmax make of 0?",
          edit("excess / total", "excess.softmax(dim=-1)")),
    wrong("wrong_dimension",
          "Your sum mixes rows of the batch; divide each row by its own sum over the vocabulary.",
          "Which dimension holds the tokens?",
          edit("sum(dim=-1, keepdim=True)", "sum(dim=0, keepdim=True)"),
          edit("sum(dim=-1, keepdim=True)", "sum()", name="over_everything"), tests="leading dimensions"),
    wrong("zero_guesses",
          "Not every token that q never guesses gets an acceptance probability of 1.",
          "What does your code give where q is 0, and what does it give where p is 0 as well?",
          edit(_ACCEPT, "accept = (p / q).clamp(max=1)"),
          edit(_ACCEPT, "accept = (p / (q + 1e-9)).clamp(max=1)", name="epsilon"),
          edit("p / q, 1.0", "p / q, 0.0", name="zero_there"), tests="never guesses"),
    wrong("equal_divided", "Where p and q are equal, the excess is zero, and you divide by it or return zeros.",
          "What is 0 / 0, and what does the contract say about two equal rows?",
          edit("torch.where(total > 0, excess / total, p)", "excess / total"),
          edit("excess / total, p)", "excess / total, 0.0)", name="zeros"),
          edit("torch.where(total > 0, excess / total, p)", "p if excess.sum() == 0 else excess / total",
               name="only_if_all_are_equal"),
          edit(_TOTAL, "total = excess.sum(dim=-1, keepdim=True).clamp(min=1e-9)",
               "torch.where(total > 0, excess / total, p)", "excess / total", name="clamped"), tests="are equal"),
    wrong("results_in_reverse", "You return the replacement first.",
          "Which of the two does the docstring list first?",
          edit(_RESULT, "return torch.where(total > 0, excess / total, p), accept")),
    wrong("argument_changed", "Your function modifies p or q.",
          "Which of your operations ends in an underscore or assigns to an index?",
          edit(_EXCESS, "excess = p.sub_(q).clamp(min=0)"), tests="is modified"),
    common("nothing_returned", edit(_RESULT, "pass")),
]

ACCEPTED = [
    right("by_the_minimum", source("""
        def accept_rule(p, q):
            kept = torch.minimum(p, q)
            accept = torch.where(q == 0, torch.ones_like(p), kept / q)
            rest = p - kept
            mass = rest.sum(-1, keepdim=True)
            return accept, torch.where(mass == 0, p, rest / mass)
        """)),
    right("nan_to_num", source("""
        def accept_rule(p, q):
            accept = (p / q).nan_to_num(nan=1.0, posinf=1.0).clamp(max=1)
            excess = F.relu(p - q)
            total = excess.sum(-1, keepdim=True)
            residual = excess / total
            return accept, torch.where(residual.isnan(), p, residual)
        """)),
    right("in_place", source("""
        def accept_rule(p, q):
            accept = torch.ones_like(p)
            guessed = q > 0
            accept[guessed] = torch.clamp(p[guessed] / q[guessed], max=1)
            residual = F.normalize((p - q).clamp(min=0), p=1, dim=-1, eps=0.0).nan_to_num(0.0)
            equal = (residual.sum(-1, keepdim=True) == 0).to(p)
            return accept, residual + equal * p
        """)),
]

EXERCISE = Specification(
    results="accept, residual", gradients=False, fixed="V", contract=Contract(ways=("spread",)),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
