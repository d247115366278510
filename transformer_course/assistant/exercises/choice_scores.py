"""Cases and mistakes for an exercise: score a question's choices in three ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from autograder.authoring.common import common
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification


def _draw_log_p(draw: Draw, N: int, T: int) -> torch.Tensor:
    """Draw random log-probabilities (N, T), which are negative."""
    return -draw.tensor(N, T).exp()


def _draw_mask(*lengths: int) -> Callable[..., torch.Tensor]:
    """Make a function that draws a Boolean mask of real tokens, with a row per choice.

    The numbers of tokens in the rows are ``lengths`` in random order.
    """

    def draw_mask(draw: Draw) -> torch.Tensor:
        order = draw.tensor(len(lengths)).argsort()
        return torch.arange(max(lengths)) < torch.tensor(lengths)[order][:, None]

    return draw_mask


def _draw_padded(value: float) -> Callable[..., torch.Tensor]:
    """Make a function that draws log-probabilities of choices with 4, 2 and 1 tokens, padded with ``value``."""

    def draw_padded(draw: Draw) -> torch.Tensor:
        log_p = _draw_log_p(draw, 3, 4)
        return log_p.masked_fill(torch.arange(4) >= torch.tensor([[4], [2], [1]]), value)

    return draw_padded


_ANY: dict[str, Any] = {"log_p": _draw_log_p, "alone": _draw_log_p}
_CLEAN = "log_p, alone = (x.masked_fill(~real, 0) for x in (log_p, alone))  # (N, T)"
_SUMS = "sums = log_p.sum(dim=1)  # (N,)"
_MEANS = "sums / real.sum(dim=1)"
_GAINS = "sums - alone.sum(dim=1)"
_RESULT = "return sums, sums / real.sum(dim=1), sums - alone.sum(dim=1)"
_SHORT = torch.arange(4) < torch.tensor([[4], [2], [1]])

CASES = [
    case("lengths", "4 choices of 5, 3, 2 and 1 tokens", sizes(N=4, T=5, real=_draw_mask(5, 3, 2, 1), **_ANY),
         "Compute one choice by hand: add the log-probabilities of its own tokens."),
    case("equal_lengths", "3 choices of 4 tokens", sizes(N=3, T=4, real=_draw_mask(4, 4, 4), **_ANY),
         "With equal lengths, the means are the sums divided by the same number."),
    case("long", "a choice of 9 tokens, and five of one", sizes(N=6, T=9, real=_draw_mask(9, 1, 1, 1, 1, 1), **_ANY),
         "Each choice is divided by its own number of tokens."),
    case("infinite", "padding with a log-probability of minus infinity",
         sizes(N=3, T=4, real=_SHORT, log_p=_draw_padded(-torch.inf), alone=_draw_padded(-torch.inf)),
         "What is 0 times infinity?", tests="even infinity or NaN", aspect="limits"),
    case("nan", "padding with NaN",
         sizes(N=3, T=4, real=_SHORT, log_p=_draw_padded(torch.nan), alone=_draw_padded(torch.nan)),
         "As above.", hidden_only=True, tests="even infinity or NaN", aspect="limits"),
    case("larger", "7 choices of up to 11 tokens", sizes(N=7, T=11, real=_draw_mask(11, 8, 8, 5, 3, 2, 1), **_ANY),
         "As above.", hidden_only=True),
]

MISTAKES = [
    wrong("padding_counts", "What comes after the end of a choice counts.",
          "How many of the T numbers in a row belong to a choice of one token?",
          edit(_CLEAN, "pass"),
          edit("for x in (log_p, alone))", "for x in (log_p, alone)); alone = alone + 0.5 * (~real)",
               name="in_the_gain_only")),
    wrong("multiplied_mask", "You multiply by the mask, so that minus infinity or NaN in the padding becomes NaN.",
          "What is 0 times infinity, and which function *replaces* entries?",
          edit("x.masked_fill(~real, 0)", "x * real"), tests="even infinity or NaN"),
    wrong("divided_by_the_width",
          "You divide by the width of the batch, or by the mean length, instead of by each choice's own length.",
          "By what do you divide the sum of a choice of one token?",
          edit(_MEANS, "sums / real.size(1)"),
          edit(_MEANS, "sums / real.sum(dim=1).float().mean()", name="mean_length")),
    wrong("wrong_root", "You divide by the square root of the length, or by the length plus one.",
          "What is the mean of two numbers?",
          edit(_MEANS, "sums / real.sum(dim=1).sqrt()"),
          edit(_MEANS, "sums / (real.sum(dim=1) + 1)", name="plus_one")),
    wrong("probabilities", "You return probabilities instead of their logarithms.",
          "What is the logarithm of a product?",
          edit(_RESULT, "return sums.exp(), (sums / real.sum(dim=1)).exp(), (sums - alone.sum(dim=1)).exp()")),
    wrong("sum_of_probabilities",
          "You add probabilities; the probability of a choice is the *product* of those of its tokens.",
          "Two tokens have probability 1/2 each. What is the probability of both?",
          edit(_SUMS, "sums = (log_p.exp() * real).sum(dim=1).log()")),
    wrong("sign", "Your scores have the opposite sign, so the best choice has the lowest one.",
          "Is a log-probability positive or negative?",
          edit(_RESULT, "return -sums, -sums / real.sum(dim=1), alone.sum(dim=1) - sums")),
    wrong("gain_inverted", "You subtract what the choice has with the question from what it has without it.",
          "A question makes its answer more probable. What sign should the gain have?",
          edit(_GAINS, "alone.sum(dim=1) - sums")),
    wrong("ratio", "You divide the two sums; the logarithm of a quotient is a difference.",
          "What is log(a / b), if log a and log b are known?",
          edit(_GAINS, "sums / alone.sum(dim=1)")),
    wrong("gain_per_token", "You divide the gain by the number of tokens as well.",
          "Which of the three scores does the docstring divide by the length?",
          edit(_GAINS, "(sums - alone.sum(dim=1)) / real.sum(dim=1)")),
    wrong("last_token", "You look at one token of each choice, the first or the last, instead of at all.",
          "Which tokens have to be written for a choice to be given?",
          edit(_SUMS, "sums = log_p[:, 0]"),
          edit(_SUMS, "sums = log_p.gather(1, real.sum(1, keepdim=True) - 1)[:, 0]", name="last_of_each")),
    wrong("normalised_over_choices", "You normalise over the choices, for which nobody asked.",
          "What do the exponentials of your sums add up to?",
          edit(_SUMS, "sums = log_p.sum(dim=1).log_softmax(0)")),
    wrong("order", "You return sums and means in the wrong order.",
          "Which of them does the docstring list first?",
          edit(_RESULT, "return sums / real.sum(dim=1), sums, sums - alone.sum(dim=1)")),
    wrong("argument_changed", "Your function modifies one of its arguments.",
          "Which of your operations ends in an underscore or assigns to an index?",
          edit("x.masked_fill(~real, 0)", "x.masked_fill_(~real, 0)"), tests="is modified"),
    common("nothing_returned", edit(_RESULT, "pass")),
]

ACCEPTED = [
    right("where", source("""
        def choice_scores(log_p, alone, real):
            after = torch.where(real, log_p, torch.zeros_like(log_p)).sum(-1)
            before = torch.where(real, alone, torch.zeros_like(alone)).sum(-1)
            return after, after / real.sum(-1), after - before
        """)),
    right("rows", source("""
        def choice_scores(log_p, alone, real):
            sums = torch.stack([row[mask].sum() for row, mask in zip(log_p, real)])
            means = torch.stack([row[mask].mean() for row, mask in zip(log_p, real)])
            before = torch.stack([row[mask].sum() for row, mask in zip(alone, real)])
            return sums, means, sums - before
        """)),
    right("nansum", source("""
        def choice_scores(log_p, alone, real):
            kept = log_p.masked_fill(~real, torch.nan)
            gains = (log_p - alone).masked_fill(~real, torch.nan)
            return kept.nansum(1), kept.nanmean(1), gains.nansum(1)
        """)),
]

EXERCISE = Specification(
    results="sums, means, gains", gradients=False, fixed="N T", cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
