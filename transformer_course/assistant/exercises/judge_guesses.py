"""Cases and mistakes for an exercise: count the accepted guesses of a cheap model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from autograder.authoring.common import common
from autograder.authoring.contract import Contract
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification


def _draw_probabilities(rows: int = 0) -> Callable[..., torch.Tensor]:
    """Make a function that draws random distributions for k + `rows` positions."""
    return lambda draw, k, V: draw.tensor(k + rows, V).softmax(-1)


def _draw_uniforms(low: float, high: float) -> Callable[..., torch.Tensor]:
    """Make a function that draws k random numbers between low and high."""

    def draw_numbers(draw: Draw, k: int) -> torch.Tensor:
        return low + (high - low) * (draw.tensor(k, scale=1.0) + 1) / 2

    return draw_numbers


def _draw_one_rejected(draw: Draw, k: int) -> torch.Tensor:
    """Draw k random numbers that reject hardly any guess but the second."""
    numbers = _draw_uniforms(0.0, 0.001)(draw, k)
    numbers[1] = 0.999
    return numbers


def _draw_rare(draw: Draw, k: int, V: int) -> torch.Tensor:
    """Distributions of a large model, in which token 0 is improbable at position 1."""
    logits = draw.tensor(k + 1, V)
    logits[1, 0] = -6
    return logits.softmax(-1)


_LIKELY = torch.tensor([2, 0, 5, 3])


def _draw_peaked(height: float, rows: int = 0) -> Callable[..., torch.Tensor]:
    """Make a function that draws a distribution for each token of `_LIKELY`.

    ``height`` is added to the logit of this token. Then come ``rows`` further
    distributions, in which no token is preferred.
    """

    def draw_distributions(draw: Draw) -> torch.Tensor:
        logits = draw.tensor(4 + rows, 6, scale=0.5)
        logits[torch.arange(4), _LIKELY] += height
        return logits.softmax(-1)

    return draw_distributions


_ANY: dict[str, Any] = {
    "p": _draw_probabilities(1), "q": _draw_probabilities(), "guesses": lambda draw, k, V: draw.ids(0, V, k),
}
_CHANCES = "chances = accept.gather(-1, guesses[:, None])[:, 0]  # (k,)"
_REJECTED = "rejected = (uniforms >= chances).nonzero()[:, 0]  # positions"
_ALL = "return torch.tensor(len(guesses)), p[-1]"
_RESULT = "return rejected[0], residual[rejected[0]]"
_ZERO_SECOND: dict[str, Any] = {
    "guesses": lambda draw, k, V: torch.cat((draw.ids(1, V, 1), torch.zeros(1).long(), draw.ids(1, V, k - 2))),
}

CASES = [
    case("some", "5 guesses over 6 tokens", sizes(k=5, V=6, uniforms=_draw_uniforms(0.0, 1.0), **_ANY),
         "Walk from the first guess: the first whose random number is not below its acceptance probability ends it."),
    case("first", "a guess that is rejected at once", sizes(k=4, V=7, uniforms=_draw_uniforms(0.97, 0.999), **_ANY),
         "If the first guess is rejected, none is kept."),
    case("all", "random numbers so small that all is kept",
         sizes(k=3, V=5, uniforms=_draw_uniforms(0.0, 0.001), **_ANY),
         "If all guesses are kept, the last row of p gives one more token."),
    case("later", "a rejection, and guesses after it that would be kept",
         sizes(k=6, V=8, uniforms=_draw_one_rejected, p=_draw_rare, q=_draw_probabilities(), **_ZERO_SECOND),
         "What follows a rejected guess was written for a text that no longer exists."),
    case("likely", "guesses that the large model finds most probable",
         sizes(k=4, V=6, uniforms=_draw_one_rejected, guesses=lambda draw: _LIKELY.clone(), p=_draw_peaked(1.5, 1),
               q=_draw_peaked(5.0)),
         "Even the most probable token is rejected if it is guessed too often."),
    case("long", "9 guesses over 13 tokens", sizes(k=9, V=13, uniforms=_draw_uniforms(0.0, 0.4), **_ANY),
         "As above.", hidden_only=True),
    case("certain", "a guesser that is certain",
         sizes(k=4, V=6, uniforms=_draw_uniforms(0.0, 0.1), p=_draw_probabilities(1),
               guesses=lambda draw: torch.tensor([2, 0, 5, 3]), q=lambda draw: torch.eye(6)[[2, 0, 5, 3]]),
         "As above.", hidden_only=True),
]

MISTAKES = [
    wrong("beyond_the_rejection",
          "You count guesses after a rejected one, which were made for a text that no longer exists.",
          "The second of six guesses is rejected. How many can be kept at most?",
          edit(_RESULT, "return len(guesses) - len(rejected), residual[rejected[0]]"),
          edit(_RESULT, "return len(guesses) - len(rejected), residual[len(guesses) - len(rejected)]",
               name="row_of_the_count"), tests="after a rejected"),
    wrong("last_rejection", "You stop at the last rejected guess, not at the first.",
          "Which of several rejected guesses ends the text?",
          edit(_RESULT, "return int(rejected[-1]), residual[rejected[-1]]")),
    wrong("sample_from_p", "After a rejection, you return p; the kept guesses already hold a part of it.",
          "Which of the two results of `accept_rule` have you not used?",
          edit(_RESULT, "return int(rejected[0]), p[rejected[0]]")),
    wrong("position_off", "You return the distribution of a neighbouring position.",
          "Which row of p judges the guess with the index 0?",
          edit(_RESULT, "return int(rejected[0]), residual[rejected[0] - 1]"),
          edit(_RESULT, "return int(rejected[0]), p[rejected[0] + 1]", name="p_after_the_guess")),
    wrong("shifted_rows", "You compare each guess with the row of p that comes *after* it.",
          "Row 0 of p is the large model's distribution before any guess. Which guess does it judge?",
          edit("accept_rule(p[:-1], q)", "accept_rule(p[1:], q)"), tests="judges guess"),
    wrong("all_kept", "If all guesses are kept, you return a distribution other than the last row of p.",
          "How many rows has p, and which of them has not been used by any guess?",
          edit(_ALL, "return len(guesses), residual[-1]"),
          edit(_ALL, "return len(guesses), p[-2]", name="row_before"),
          edit(_ALL, "return len(guesses), q[-1]", name="cheap_row")),
    wrong("only_the_best",
          "You keep a guess exactly if it is the large model's most probable token, which is right for greedy "
          "decoding only.",
          "Which of your lines uses the random numbers?",
          edit(_REJECTED, "rejected = (guesses != p[:-1].argmax(-1)).nonzero()[:, 0]")),
    wrong("comparison_inverted",
          "Your comparison is inverted: a guess is kept if its random number is *below* its acceptance probability.",
          "How often is a number between 0 and 1 below 0.9?",
          edit("uniforms >= chances", "uniforms < chances")),
    wrong("compared_with_p",
          "You compare the random number with p of the guess instead of with its acceptance probability.",
          "With which probability is a guess kept that p and q find equally probable?",
          edit(_CHANCES, "chances = p[:-1].gather(-1, guesses[:, None])[:, 0]")),
    wrong("guess_ignored", "You use the acceptance probability of a different token than the one that was guessed.",
          "What does `gather` need to know to find the guess of each row?",
          edit(_CHANCES, "chances = accept.amax(-1)"),
          edit(_CHANCES, "chances = accept.mean(-1)", name="mean_of_all"),
          edit(_CHANCES, "chances = accept[:, guesses[0]]", name="always_the_first_guess")),
    wrong("one_more",
          "Your number includes the token that is yet to be sampled, or leaves out the last guess that is kept.",
          "The first guess is rejected. How many guesses are kept?",
          edit(_RESULT, "return int(rejected[0]) + 1, residual[rejected[0]]"),
          edit(_ALL, "return len(guesses) + 1, p[-1]", name="one_more_if_all")),
    wrong("all_or_none", "One rejected guess costs all guesses: those before it are kept.",
          "The third guess is rejected. Was anything wrong with the first two?",
          edit(_RESULT, "return 0, residual[0]")),
    common("nothing_returned", edit(_RESULT, "pass")),
]

ACCEPTED = [
    right("loop", source("""
        def judge_guesses(p, q, guesses, uniforms):
            accept, residual = accept_rule(p[:-1], q)
            for i, token in enumerate(guesses):
                if uniforms[i] >= accept[i, token]:
                    return i, residual[i]
            return len(guesses), p[-1]
        """), tests="Python integer"),
    right("by_products", source("""
        def judge_guesses(p, q, guesses, uniforms):
            accept, residual = accept_rule(p[:-1], q)
            kept = uniforms < accept[torch.arange(len(guesses)), guesses]
            count = int(kept.long().cumprod(0).sum())
            return count, torch.cat((residual, p[-1:]))[count]
        """)),
    right("without_the_rule", source("""
        def judge_guesses(p, q, guesses, uniforms):
            for i, token in enumerate(guesses.tolist()):
                if uniforms[i] * q[i, token] >= p[i, token]:
                    excess = (p[i] - q[i]).clamp(min=0)
                    return torch.tensor(i), excess / excess.sum()
            return torch.tensor(len(guesses)), p[-1]
        """)),
]


def _are_distributions(inputs: Mapping[str, Any]) -> bool:
    """Whether each row of p and q sums to 1, and p has one more row than q."""
    p, q = inputs["p"], inputs["q"]
    sums = torch.cat((p.sum(dim=-1), q.sum(dim=-1)))
    return len(p) == len(q) + 1 and torch.allclose(sums, torch.ones_like(sums), atol=1e-5)


EXERCISE = Specification(
    tells={"certain": "last_rejection", "first": "always_the_first_guess"},
    results="count, distribution", gradients=False, fixed="k V", contract=Contract(ways=()),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED, is_possible=_are_distributions,
)
