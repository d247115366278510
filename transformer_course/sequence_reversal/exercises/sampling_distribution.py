"""Cases and mistakes for an exercise: probabilities for sampling.

A solution computes them from logits, the temperature, top_k and top_p.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from autograder.authoring.contract import OF_TABLES, Contract
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification


def _draw_logits(*shape: int, shift: float = 0.0, forbidden: int = 0) -> Callable[[Draw], torch.Tensor]:
    """Make a function that draws logits near ``shift``, of which ``forbidden`` in each row are -inf."""

    def draw_logits(draw: Draw) -> torch.Tensor:
        logits = draw.tensor(*shape, scale=3.0) + shift
        logits[..., 3 : 3 + forbidden] = -math.inf
        return logits

    return draw_logits


CASES = [
    case("plain", "no sampling parameter is set", sizes(batch=(2,), V=7),
         "Without any parameter, the result is the softmax of each row."),
    case("cold", "temperature 0.4", sizes(batch=(3,), V=6, temperature=0.4),
         "Divide the logits by the temperature, before the softmax."),
    case("top_k", "top_k = 3 of 8, logits far below zero", sizes(logits=_draw_logits(6, 8, shift=-128.0), top_k=3),
         "The three largest logits of each row stay; all others get probability 0."),
    case("top_p", "top_p = 0.6, logits far below zero", sizes(logits=_draw_logits(4, 9, shift=-128.0), top_p=0.6),
         "A token stays if the sum of the more probable ones is still below top_p."),
    case("one_is_enough", "a top_p that one token reaches alone", sizes(batch=(1,), V=6, scale=5.0, top_p=0.2),
         "At least one token always stays."),
    case("all_together", "temperature 2, top_k = 6 and top_p, three dimensions",
         sizes(batch=(2, 3), V=10, scale=4.0, temperature=2.0, top_k=6, top_p=0.7),
         "First the temperature, then top_k, then top_p on what top_k has left."),
    case("one_token", "top_k = 1", sizes(batch=(3,), V=6, top_k=1),
         "One token stays: nothing is left to chance."),
    case("wide_k", "top_k larger than the vocabulary", sizes(batch=(2,), V=5, top_k=9),
         "If there are fewer than top_k tokens, all of them stay.", aspect="limits"),
    case("forbidden", "forbidden tokens, whose logit is -inf",
         sizes(logits=_draw_logits(2, 9, forbidden=4), temperature=1.5, top_p=0.7),
         "A token with logit -inf has probability 0, whatever the parameters say."),
    case("forbidden_k", "forbidden tokens, and top_k = 3 of 8",
         sizes(logits=_draw_logits(2, 8, forbidden=2), top_k=3),
         "Replace what is cut off with -inf; 0 times -inf is NaN."),
    case("forbidden_hot", "forbidden tokens at temperature 20",
         sizes(logits=_draw_logits(2, 7, forbidden=2), temperature=20.0),
         "However high the temperature, a token with logit -inf has probability 0."),
    case("ends_of_the_dials", "temperature 0.01, and a top_p just below 1",
         sizes(logits=lambda draw: draw.tensor(2, 7, scale=4.0) / 100, temperature=0.01, top_p=0.995),
         "A parameter close to its limit is not at its limit.", aspect="limits"),
    case("all_of_it", "a top_p of 1", sizes(batch=(2,), V=7, scale=4.0, top_p=1.0),
         "A top_p of 1 drops no token, however improbable.", aspect="limits"),
    case("very_cold", "temperature 0.000001, logits far below zero, top_k and top_p",
         sizes(logits=_draw_logits(1, 6, shift=-128.0), temperature=1e-6, top_k=3, top_p=0.5),
         "A logit of -inf is below all others, however low the temperature.", aspect="limits"),
    case("one_row", "a single row without a batch, huge logits, top_k = 11 of 16",
         sizes(V=16, scale=400.0, temperature=0.7, top_k=11),
         "Count dimensions from the end, and leave the softmax to PyTorch.", hidden_only=True),
    case("hot", "temperature 3, top_k = 13 of 24 and top_p",
         sizes(batch=(3, 2), V=24, scale=6.0, temperature=3.0, top_k=13, top_p=0.6),
         "The same again, with other numbers.", hidden_only=True),
]

_DIVIDED = "return logits / temperature"
_LEAST = "scores.topk(min(top_k, scores.size(-1)), dim=-1).values[..., -1:]"
_CUT_K = "return scores.masked_fill(scores < least, -math.inf)"
_CUT_P = "return scores.masked_fill(dropped, -math.inf)"
_SORTED = "scores.softmax(dim=-1).sort(dim=-1, descending=True)"
_BROUGHT_BACK = "dropped.scatter(-1, indices, before >= top_p)"
_ALL_P = "scores = keep_top_p(scores, top_p)"
_LAST = "return scores.softmax(dim=-1)"

MISTAKES = [
    # Mistakes in the temperature.
    wrong("temperature_ignored", "The temperature has no effect.",
          "Where does your code use `temperature`?",
          edit(_DIVIDED, "return logits + 0.0"),
          edit(_DIVIDED, "return logits + 0.0",
               _LAST, """
              chances = scores.softmax(dim=-1) / temperature
              return chances / chances.sum(dim=-1, keepdim=True)
              """, name="after_the_softmax")),
    wrong("multiplied", "The logits are multiplied by the temperature, so a high one makes the text cautious.",
          "What should become of the probabilities as the temperature falls to 0?",
          edit(_DIVIDED, "return logits * temperature")),
    wrong("divided_probabilities", "The temperature divides the probabilities, not the logits.",
          "What is inside the exponential of a softmax with a temperature?",
          edit(_DIVIDED, "return logits + 0.0", _LAST, "return scores.softmax(dim=-1) / temperature")),
    wrong("softmax_twice", "Softmax is applied twice, the second time to probabilities.",
          "What goes into the last softmax?",
          edit(_DIVIDED, "return (logits / temperature).softmax(dim=-1)")),
    wrong("temperature_bounded", "A temperature below 0.05 is treated as 0.05.",
          "Which temperatures does the docstring allow?",
          edit(_DIVIDED, "return logits / max(temperature, 0.05)")),
    # Mistakes in `top_k`, and in how tokens are cut off.
    wrong("k_ignored", "`top_k` has no effect, or none where it is 1.",
          "How many tokens should have a probability above 0, and which values does your condition leave out?",
          edit("if top_k is not None:", "if False:"),
          edit("if top_k is not None:", "if top_k is not None and top_k > 1:", name="one_is_none")),
    wrong("one_too_few", "One token fewer than `top_k` stays, or one more.",
          "Does the k-th largest itself stay, and how many tokens have a probability above 0 for `top_k = 3`?",
          edit("scores < least", "scores <= least"),
          edit("min(top_k, scores.size(-1))", "min(top_k + 1, scores.size(-1))", name="one_too_many")),
    wrong("k_least", "The k *least* probable tokens stay.",
          "At which end of the sorted row are the probable tokens?",
          edit("dim=-1).values[", "dim=-1, largest=False).values[", "scores < least", "scores > least")),
    wrong("k_of_all_rows", "You use one `top_k` threshold for the whole batch instead of one per row.",
          "Which dimension does your `topk` run over, and is the k-th largest logit the same in every row?",
          edit(_LEAST, "scores.flatten().topk(min(top_k, scores.size(-1))).values[-1]"),
          edit(_LEAST, "scores.topk(min(top_k, scores.size(-1)), dim=-1).values.min()", name="least_of_all_rows"),
          edit(_LEAST, "scores.reshape(-1, scores.size(-1))[0].topk(min(top_k, scores.size(-1))).values[-1]",
               name="k_of_the_first_row")),
    wrong("second_dimension",
          "You take the k-th largest logit along dimension 1, but the vocabulary is the *last* dimension.",
          "Which index means the last dimension, however many come before it?",
          edit(_LEAST, "scores.topk(min(top_k, scores.size(-1)), dim=-1).values[:, -1].unsqueeze(-1)"),
          edit(_LEAST, "scores.topk(min(top_k, scores.size(-1)), dim=-1).values[:, -1, None]", name="none_for_new")),
    wrong("k_of_a_table",
          "Your `keep_top_k` works only on two dimensions, and it fails if `top_k` is larger than the vocabulary.",
          "Which index means the last dimension, and what should `top_k = 50` mean for 14 tokens?",
          edit(_LEAST, "scores.topk(top_k, dim=-1).values[:, -1].unsqueeze(-1)"), tests="may exceed"),
    wrong("k_must_fit", "Your code fails if `top_k` is larger than the vocabulary.",
          "What should `top_k = 50` mean for 14 tokens?",
          edit("min(top_k, scores.size(-1))", "top_k"), tests="tokens"),
    wrong("zeros_before_softmax", "A token that is cut off gets the logit 0, not the probability 0.",
          "What is e to the power of 0?",
          edit(_CUT_K, "return scores.masked_fill(scores < least, 0.0)",
               _CUT_P, "return scores.masked_fill(dropped, 0.0)"),
          edit(_CUT_K, "return scores.masked_fill(scores < least, 0.0)", name="k_zeros_before_softmax"),
          edit(_CUT_P, "return scores.masked_fill(dropped, 0.0)", name="p_zeros_before_softmax")),
    wrong("small_for_infinite",
          "A very negative number takes the place of minus infinity: at a low temperature other logits are lower "
          "still, and at a high one its probability is not 0.",
          "Which number stays below all others, whatever you divide it by?",
          edit(_CUT_K, "return scores.masked_fill(scores < least, -1e4)"),
          edit(_CUT_P, "return scores.masked_fill(dropped, -1e4)", name="p_small_for_infinite"),
          edit(_DIVIDED, "return logits.clamp(min=-1e2) / temperature", name="finite_infinity")),
    wrong("k_times_zero",
          "Logits that `top_k` cuts off are multiplied by 0, so the logit -inf of a forbidden token becomes NaN.",
          "What is `0 * -math.inf`?",
          edit(_CUT_K, "return scores * (scores >= least) - 1e30 * (scores < least)")),
    wrong("not_scaled_back", "The remaining probabilities do not sum to 1: they were not renormalised.",
          "What do the probabilities of a row sum to in your result?",
          edit(_LAST, "return (logits / temperature).softmax(dim=-1).masked_fill(scores == -math.inf, 0.0)")),
    # Mistakes in `top_p`.
    wrong("p_ignored", "`top_p` has no effect.",
          "How many tokens should stay?",
          edit("if top_p is not None:", "if False:")),
    wrong("either_dial", "If `top_k` is given, `top_p` is ignored.",
          "What should happen if both are given?",
          edit("if top_p is not None:", "if top_p is not None and top_k is None:")),
    wrong("crossing_dropped", "The token that brings the sum up to `top_p` is dropped, so the rest sums to less.",
          "0.5, 0.3, 0.15, 0.05 and `top_p` 0.6: is 0.5 alone enough?",
          edit("before >= top_p", "probabilities.cumsum(dim=-1) >= top_p"),
          edit("before >= top_p", "probabilities.cumsum(dim=-1) > top_p", name="all_above_p_dropped"),
          edit("before >= top_p", "(probabilities.cumsum(dim=-1) >= top_p) & (before > 0)",
               name="crossing_dropped_but_never_all"),
          edit("before >= top_p", "(probabilities.cumsum(dim=-1) > top_p) & (before > 0)", name="above_p_dropped"),
          tests="always"),
    wrong("one_more_than_needed", "One token too many stays: the sum had reached `top_p` without it.",
          "Is your set of tokens the smallest possible one?",
          edit("before >= top_p", "(before.roll(1, -1) >= top_p) & (before > 0)")),
    wrong("p_as_threshold",
          "Each token's own probability decides whether it stays, not the sum of the more probable ones.",
          "Which tokens' probabilities should sum to `top_p`?",
          edit("before >= top_p", "(probabilities < top_p) & (before > 0)"),
          edit("before >= top_p", "(probabilities < 1 - top_p) & (before > 0)", name="one_minus_p")),
    wrong("not_brought_back",
          "You chose the tokens to drop in the sorted row, but dropped others in the unsorted one: the indices of the "
          "sort are missing, or used where their inverse is needed.",
          "Token 0 of the sorted row: which token of the vocabulary is it? And do you read at the indices, or write?",
          edit(_BROUGHT_BACK, "dropped | (before >= top_p)"),
          edit(_BROUGHT_BACK, "(before >= top_p).gather(-1, indices)", name="gathered_by_places")),
    wrong("least_probable_first", "The unlikely tokens stay, and the most probable ones are dropped.",
          "In which order do you sort, and at which end of the sorted row do tokens stay?",
          edit(_SORTED, "scores.softmax(dim=-1).sort(dim=-1)")),
    wrong("p_of_all", "`top_p` uses other probabilities than those that the temperature and `top_k` leave.",
          "In which order are the three parameters applied, and which probabilities sum to 1 after `top_k`?",
          edit(_ALL_P, "scores = scores.where(keep_top_p(logits / temperature, top_p) > -math.inf, -math.inf)"),
          edit(_ALL_P, "scores = keep_top_p(scores * temperature, top_p) / temperature", name="p_before_temperature"),
          tests="probabilities"),
    wrong("nearly_all",
          "A `top_p` of almost 1 is confused with 1: improbable tokens are dropped at 1, or all of them stay below it.",
          "What share of the probability must stay, and from which `top_p` on may no token be dropped?",
          edit(_ALL_P, "scores = keep_top_p(scores, min(top_p, 0.999))", name="nearly_all_is_the_end"),
          edit("if top_p is not None:", "if top_p is not None and top_p < 0.99:", name="nearly_all_is_all")),
    # Mistakes in what comes back, and in what is accepted.
    wrong("sorted_result", "The probabilities come back sorted, so nothing shows which token each one belongs to.",
          "Which token's probability is in column 0?",
          edit(_LAST, "return scores.softmax(dim=-1).sort(dim=-1, descending=True).values")),
    wrong("logits_returned", "You return logits or logarithms, not probabilities.",
          "Can a probability be negative, and what do the rows of your result sum to?",
          edit(_LAST, "return scores"),
          edit(_LAST, "return scores.log_softmax(dim=-1)", name="logarithms")),
    wrong("over_rows", "The last softmax runs over a dimension other than the vocabulary.",
          "Which dimension has one entry for each token?",
          edit(_LAST, "return scores.softmax(dim=0)")),
    wrong("overflow", "You take the exponential of the raw logits, so large ones overflow.",
          "What did you subtract in unit 2 before `exp`?",
          edit(_LAST, "return scores.exp() / scores.exp().sum(dim=-1, keepdim=True)")),
    wrong("logits_changed", "You changed the logits that you were given.",
          "Which of your operations work in place?",
          edit(_DIVIDED, "return logits.div_(temperature)"), tests="modified"),
    wrong("zero_temperature_accepted", "A temperature of 0, or a negative one, is not refused.",
          "What does a division by 0 give, and which token would be the most probable one below 0?",
          edit("if temperature <= 0:", "if False:"),
          edit("if temperature <= 0:", "if temperature < 0:", name="only_negative_refused"),
          edit("if temperature <= 0:", "if temperature == 0:", name="only_zero_refused"),
          tests="ValueError; temperature of 0"),
    wrong("forbidden_may_come", "A token whose logit is -inf gets a probability above 0, so it may be sampled one day.",
          "What is added to the probabilities, and is that exactly 0?",
          edit(_LAST, """
              chances = scores.softmax(dim=-1) + 1e-9
              return chances / chances.sum(dim=-1, keepdim=True)
              """), tests="probability"),
    wrong("drawn", "You choose a token, by chance or the most probable one, instead of returning the probabilities.",
          "Should your function give the same answer twice, and how many tokens can be sampled if no parameter is set?",
          edit(_LAST, """
              rows = scores.softmax(dim=-1).reshape(-1, scores.size(-1))
              return F.one_hot(torch.multinomial(rows, 1), scores.size(-1)).view(scores.shape).to(scores.dtype)
              """),
          edit(_LAST, "return F.one_hot(scores.argmax(dim=-1), scores.size(-1)).to(scores.dtype)",
               name="most_probable")),
]

ACCEPTED = [
    right("probabilities", source("""
        def sampling_distribution(logits, temperature=1.0, top_k=None, top_p=None):
            if not temperature > 0:
                raise ValueError("no such temperature")
            chances = torch.softmax(logits / temperature, dim=-1)
            if top_k is not None:
                rank = chances.argsort(dim=-1, descending=True).argsort(dim=-1)
                chances = F.normalize(chances * (rank < top_k), p=1, dim=-1)
            if top_p is not None:
                probabilities, indices = chances.sort(dim=-1, descending=True)
                stays = probabilities.cumsum(dim=-1) - probabilities < top_p
                stays = stays.gather(-1, indices.argsort(dim=-1))
                chances = F.normalize(chances * stays, p=1, dim=-1)
            return chances
        """)),
    right("row_by_row", source("""
        def sampling_distribution(logits, temperature=1.0, top_k=None, top_p=None):
            if temperature <= 0:
                raise ValueError(temperature)
            rows = []
            for row in (logits / temperature).reshape(-1, logits.size(-1)):
                order = row.argsort(descending=True).tolist()[:top_k]
                kept = torch.full_like(row, -math.inf)
                kept[order] = row[order]
                probabilities, total = kept.softmax(0), 0.0
                for place in order:
                    if top_p is not None and total >= top_p:
                        kept[place] = -math.inf
                    total += float(probabilities[place])
                rows.append(kept.softmax(0))
            return torch.stack(rows).view(logits.shape)
        """)),
    right("shifted_mask", source("""
        def sampling_distribution(logits, temperature=1.0, top_k=None, top_p=None):
            if temperature <= 0:
                raise ValueError("the temperature must be positive")
            ordered, indices = (logits / temperature).sort(dim=-1, descending=True)
            if top_k is not None:
                ordered = torch.cat((ordered[..., :top_k], torch.full_like(ordered[..., top_k:], -math.inf)), dim=-1)
            if top_p is not None:
                before = F.pad(ordered.softmax(-1).cumsum(-1)[..., :-1], (1, 0))
                ordered = ordered.masked_fill(before >= top_p, -math.inf)
            return torch.zeros_like(ordered).scatter(-1, indices, ordered.softmax(-1))
        """)),
    right("k_by_sort", edit(_LEAST, "scores.sort(dim=-1, descending=True).values[..., :top_k][..., -1:]")),
]

EXERCISE = Specification(
    tells={
        "hot": "one_too_many",
        "one_is_enough": "softmax_twice",
        "one_row": "sorted_result",
        "one_token": "k_of_the_first_row",
        "very_cold": "gathered_by_places",
        "wide_k": "k_of_the_first_row",
    },
    helpers=("with_temperature", "keep_top_k", "keep_top_p"),
    contract=Contract(arguments="logits: B V", ways=OF_TABLES, typed=False),
    results="probabilities", fixed="V", gradients=False, cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
