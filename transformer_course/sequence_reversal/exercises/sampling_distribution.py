"""From logits to the probabilities that a token is drawn from."""

from __future__ import annotations

import math

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, right, source, wrong
from autograder.authoring.specification import (
    Edit,
    Inputs,
    Maker,
    Specification,
    Variant,
)
from autograder.authoring.variants import apply_edit, clean


def _logits(
    *shape: int,
    temperature: float | None = None,
    top_k: int | None = None,
    share: int | None = None,
    forbidden: int = 0,
    scale: float = 3.0,
    shift: float = 0.0,
) -> Maker:
    """Logits without ties, and the sampling parameters.

    With ``share``, top_p is chosen so that ``share`` tokens of row 0 are kept. It is in the middle of the last such
    token's probability, so that rounding decides nothing. In the other rows, where it keeps different numbers of
    tokens, it is as far from each cumulative probability. Rows differ in their mean and in their sharpness, so that a
    threshold computed from one row fails in all others.
    """

    def make_inputs(draw: Draw) -> Inputs:
        logits = _without_ties(draw, shape, scale) * _sharpness(draw, shape)
        logits += shift - 2 * scale * _ranks(draw, shape)
        if forbidden:
            logits[..., :forbidden] = -math.inf
            logits = logits.roll(3, dims=-1)
        inputs: Inputs = {"logits": logits, "other": _without_ties(draw, shape, scale)}
        if temperature is not None:
            inputs["temperature"] = torch.tensor(temperature)
        if top_k is not None:
            inputs["top_k"] = torch.tensor(top_k)
        if share is not None:
            inputs["top_p"] = torch.tensor(_safe_share(logits, temperature, top_k, share))
        return inputs

    return make_inputs


def _without_ties(draw: Draw, shape: tuple[int, ...], scale: float) -> torch.Tensor:
    """Numbers of which no two in a row are closer than a sixteenth."""
    size = shape[-1]
    rows = math.prod(shape[:-1])
    grid = torch.stack([draw.ids(0, 10**6, size).argsort() for _ in range(rows)])
    step = 2 * scale / size
    noise = draw.tensor(rows, size, scale=step / 4)
    return (grid * step - scale + noise).view(shape)


def _sharpness(draw: Draw, shape: tuple[int, ...]) -> torch.Tensor:
    """(..., 1): from row to row, in any order, evenly from 1 down to almost 0.4."""
    return 1 - 0.6 * _ranks(draw, shape) / math.prod(shape[:-1])


def _ranks(draw: Draw, shape: tuple[int, ...]) -> torch.Tensor:
    """(..., 1): 0, 1, 2 and so on, in any order, one for each row."""
    return draw.ids(0, 10**6, math.prod(shape[:-1])).argsort().view(*shape[:-1], 1)


def _safe_share(logits: torch.Tensor, temperature: float | None, top_k: int | None, share: int) -> float:
    """A top_p that keeps ``share`` tokens of the first row, far from every border."""
    scores = logits.double().flatten(0, -2) / (temperature or 1.0)
    if top_k is not None:
        least = scores.topk(top_k).values[:, -1:]
        scores = scores.masked_fill(scores < least, -math.inf)
    sums = scores.softmax(-1).sort(descending=True).values.cumsum(-1)  # (rows, V)
    low = sums[0, share - 2] if share > 1 else torch.tensor(0.0)
    between = torch.linspace(float(low), float(sums[0, share - 1]), 101)[5:-5]
    gaps = (between[:, None, None] - sums).abs().flatten(1).amin(1)
    return round(float(between[gaps.argmax()]), 4)


CASES = [
    case("plain", "no sampling parameter is set", _logits(2, 7),
         "Without any parameter, the result is the softmax of each row."),
    case("last_position", "the logits of the last position, sliced out of all of them",
         lambda draw: {**_logits(3, 8, temperature=0.8, top_k=5)(draw), "last": "yes"},
         "A slice of a tensor need not be contiguous in memory."),
    case("cold", "temperature 0.4", _logits(3, 6, temperature=0.4),
         "Divide the logits by the temperature, before the softmax."),
    case("top_k", "top_k = 3 of 8, logits far below zero", _logits(6, 8, top_k=3, shift=-128.0),
         "The three largest logits of each row stay; all others get probability 0."),
    case("top_p", "top_p, rows of different sharpness, logits far below zero", _logits(4, 9, share=3, shift=-128.0),
         "A token stays if the sum of the more probable ones is still below top_p."),
    case("one_is_enough", "a top_p that one token reaches alone", _logits(1, 6, share=1, scale=5.0),
         "At least one token always stays."),
    case("all_together", "temperature 2, top_k = 6 and top_p, three dimensions",
         _logits(2, 3, 10, temperature=2.0, top_k=6, share=4),
         "First the temperature, then top_k, then top_p on what top_k has left."),
    case("one_token", "top_k = 1", _logits(3, 6, top_k=1),
         "One token stays: nothing is left to chance."),
    case("wide_k", "top_k larger than the vocabulary", _logits(2, 5, top_k=9),
         "If there are fewer than top_k tokens, all of them stay."),
    case("forbidden", "forbidden tokens, whose logit is -inf", _logits(2, 9, temperature=1.5, share=3, forbidden=4),
         "A token with logit -inf has probability 0, whatever the parameters say."),
    case("forbidden_k", "forbidden tokens, and top_k = 3 of 8", _logits(2, 8, top_k=3, forbidden=2),
         "Replace what is cut off with -inf; 0 times -inf is NaN."),
    case("forbidden_hot", "forbidden tokens at temperature 20", _logits(2, 7, temperature=20.0, forbidden=2),
         "However high the temperature, a token with logit -inf has probability 0."),
    case("ends_of_the_dials", "temperature 0.01, and a top_p just below 1",
         _logits(2, 7, temperature=0.01, share=6, scale=0.04),
         "A parameter close to its limit is not at its limit."),
    case("all_of_it", "a top_p of 1", lambda draw: {**_logits(2, 7, scale=4.0)(draw), "top_p": torch.tensor(1.0)},
         "A top_p of 1 drops no token, however improbable."),
    case("very_cold", "temperature 0.000001, logits far below zero, top_k and top_p",
         _logits(1, 6, temperature=1e-6, top_k=3, share=1, shift=-128.0),
         "A logit of -inf is below all others, however low the temperature."),
    case("one_row", "a single row without a batch, huge logits, top_k = 11 of 16",
         _logits(16, temperature=0.7, top_k=11, scale=400.0),
         "Count dimensions from the end, and leave the softmax to PyTorch.",
         hidden_only=True),
    case("hot", "temperature 3, top_k = 13 of 24 and top_p", _logits(3, 2, 24, temperature=3.0, top_k=13, share=6),
         "The same again, with other numbers.", hidden_only=True),
]

# The solution's four functions in one, which the mistakes below are made of.
_WHOLE = clean("""
    def sampling_distribution(logits, temperature=1.0, top_k=None, top_p=None):
        if temperature <= 0:
            raise ValueError(f"the temperature must be above 0, not {temperature}")
        scores = logits / temperature  # (..., V)
        if top_k is not None:
            least = scores.topk(min(top_k, scores.size(-1)), dim=-1).values[..., -1:]
            scores = scores.masked_fill(scores < least, -math.inf)
        if top_p is not None:
            probabilities, indices = scores.softmax(dim=-1).sort(dim=-1, descending=True)
            before = probabilities.cumsum(dim=-1) - probabilities
            dropped = torch.zeros_like(before, dtype=torch.bool)
            dropped = dropped.scatter(-1, indices, before >= top_p)
            scores = scores.masked_fill(dropped, -math.inf)
        return scores.softmax(dim=-1)
    """)


def edit(old: str, new: str, *more: str, name: str = "") -> Variant:
    """Like the notation's ``edit``, but on the four functions as one text."""
    texts, code = (old, new, *more), _WHOLE
    for pair in zip(texts[::2], texts[1::2], strict=True):
        code = apply_edit(code, Edit(*pair))
    return source(code, name=name)


DIVIDED = "scores = logits / temperature  # (..., V)"
LEAST = "least = scores.topk(min(top_k, scores.size(-1)), dim=-1).values[..., -1:]"
LAST = "return scores.softmax(dim=-1)"
_CUT = "scores = scores.masked_fill(scores < least, -math.inf)"
_SORTED = "probabilities, indices = scores.softmax(dim=-1).sort(dim=-1, descending=True)"

MISTAKES = [
    # Mistakes in the temperature.
    wrong("temperature_ignored",
          "The temperature has no effect.",
          "Where does your code use `temperature`?",
          edit(DIVIDED, "scores = logits + 0.0"),
          edit(DIVIDED, "scores = logits + 0.0",
               LAST, """
              chances = scores.softmax(dim=-1) / temperature
              return chances / chances.sum(dim=-1, keepdim=True)
              """, name="after_the_softmax")),
    wrong("multiplied",
          "The logits are multiplied by the temperature, so a high one makes the text cautious.",
          "What should become of the probabilities as the temperature falls to 0?",
          edit("logits / temperature", "logits * temperature")),
    wrong("divided_probabilities",
          "The temperature divides the probabilities, not the logits.",
          "What is inside the exponential of a softmax with a temperature?",
          edit(DIVIDED, "scores = logits + 0.0", LAST, "return scores.softmax(dim=-1) / temperature")),
    wrong("softmax_twice",
          "Softmax is applied twice, the second time to probabilities.",
          "What goes into the last softmax?",
          edit(DIVIDED, "scores = (logits / temperature).softmax(dim=-1)")),
    wrong("temperature_bounded",
          "A temperature below 0.05 is treated as 0.05.",
          "Which temperatures does the docstring allow?",
          edit("logits / temperature", "logits / max(temperature, 0.05)")),
    # Mistakes in `top_k`, and in how tokens are cut off.
    wrong("k_ignored",
          "`top_k` has no effect.",
          "How many tokens should have a probability above 0?",
          edit("if top_k is not None:", "if False:")),
    wrong("one_too_few",
          "One token fewer than `top_k` stays.",
          "Does the k-th largest itself stay?",
          edit("scores < least", "scores <= least")),
    wrong("one_too_many",
          "One token more than `top_k` stays.",
          "How many tokens have a probability above 0 for `top_k = 3`?",
          edit("min(top_k, scores.size(-1))", "min(top_k + 1, scores.size(-1))")),
    wrong("k_least",
          "The k *least* probable tokens stay.",
          "At which end of the sorted row are the probable tokens?",
          edit(LEAST, "least = scores.topk(min(top_k, scores.size(-1)), dim=-1, largest=False).values[..., -1:]",
               _CUT, "scores = scores.masked_fill(scores > least, -math.inf)")),
    wrong("k_of_all_rows",
          "You use one `top_k` threshold for the whole batch instead of one per row.",
          "Which dimension does your `topk` run over?",
          edit(LEAST, "least = scores.flatten().topk(min(top_k, scores.size(-1))).values[-1]")),
    wrong("k_of_the_first_row",
          "The `top_k` threshold of the first row is used for all rows.",
          "Is the k-th largest logit the same in every row?",
          edit(LEAST, "least = scores.reshape(-1, scores.size(-1))[0].topk(min(top_k, scores.size(-1))).values[-1]")),
    wrong("k_must_fit",
          "Your code fails if `top_k` is larger than the vocabulary.",
          "What should `top_k = 50` mean for 14 tokens?",
          edit("min(top_k, scores.size(-1))", "top_k"), tests="tokens"),
    wrong("zeros_before_softmax",
          "A token that is cut off gets the logit 0, not the probability 0.",
          "What is e to the power of 0?",
          edit(_CUT, "scores = scores.masked_fill(scores < least, 0.0)",
               "scores = scores.masked_fill(dropped, -math.inf)", "scores = scores.masked_fill(dropped, 0.0)")),
    wrong("small_for_infinite",
          "A token that `top_k` cuts off gets a very negative logit, but at a low temperature others are lower still, "
          "so the token comes back.",
          "Which number stays below all others, even after the division?",
          edit(_CUT, "scores = scores.masked_fill(scores < least, -1e4)")),
    wrong("p_small_for_infinite",
          "A token that `top_p` cuts off gets a very negative logit, but at a low temperature others are lower still, "
          "so the token comes back.",
          "Which number stays below all others, even after the division?",
          edit("scores = scores.masked_fill(dropped, -math.inf)", "scores = scores.masked_fill(dropped, -1e4)")),
    wrong("k_times_zero",
          "Logits that `top_k` cuts off are multiplied by 0, so the logit -inf of a forbidden token becomes NaN.",
          "What is `0 * -math.inf`?",
          edit(_CUT, "scores = scores * (scores >= least) - 1e30 * (scores < least)")),
    wrong("k_zeros_before_softmax",
          "A token that `top_k` cuts off gets the logit 0, not the probability 0.",
          "What is e to the power of 0?",
          edit(_CUT, "scores = scores.masked_fill(scores < least, 0.0)")),
    wrong("not_scaled_back",
          "The remaining probabilities do not sum to 1: they were not renormalised.",
          "What do the probabilities of a row sum to in your result?",
          edit(DIVIDED, """
              scores = logits / temperature  # (..., V)
              whole = scores.softmax(dim=-1)
              """,
               LAST, "return whole.masked_fill(scores == -math.inf, 0.0)")),
    wrong("one_is_none",
          "`top_k = 1` has no effect.",
          "Which values of `top_k` does your condition leave out?",
          edit("if top_k is not None:", "if top_k is not None and top_k > 1:")),
    # Mistakes in `top_p`.
    wrong("p_ignored",
          "`top_p` has no effect.",
          "How many tokens should stay?",
          edit("if top_p is not None:", "if False:")),
    wrong("crossing_dropped",
          "The token that brings the sum up to `top_p` is dropped, so the rest sums to less than `top_p`.",
          "0.5, 0.3, 0.15, 0.05 and `top_p` 0.6: is 0.5 alone enough?",
          edit("before >= top_p", "(before + probabilities) >= top_p"), tests="always"),
    wrong("all_above_p_dropped",
          "The token that brings the sum above `top_p` is dropped, so the rest sums to less than `top_p`.",
          "0.5, 0.3, 0.15, 0.05 and `top_p` 0.6: is 0.5 alone enough?",
          edit("before >= top_p", "(before + probabilities) > top_p")),
    wrong("crossing_dropped_but_never_all",
          "Unless it comes first, the token that brings the sum up to `top_p` is dropped, so the rest sums to less.",
          "0.5, 0.3, 0.15, 0.05 and `top_p` 0.6: is 0.5 alone enough?",
          edit("before >= top_p", "((before + probabilities) >= top_p) & (before > 0)")),
    wrong("above_p_dropped",
          "Unless it comes first, the token that takes the sum above `top_p` is dropped, so the rest sums to less.",
          "0.5, 0.3, 0.15, 0.05 and `top_p` 0.6: is 0.5 alone enough?",
          edit("before >= top_p", "((before + probabilities) > top_p) & (before > 0)"), unsteady=("all_of_it",)),
    wrong("one_more_than_needed",
          "One token too many stays: the sum had reached `top_p` without it.",
          "Is your set of tokens the smallest possible one?",
          edit("before >= top_p", "(before.roll(1, -1) >= top_p) & (before > 0)")),
    wrong("p_as_threshold",
          "`top_p` is used as a threshold for each token's own probability, not for their sum.",
          "Which tokens' probabilities should sum to `top_p`?",
          edit("before >= top_p", "(probabilities < top_p) & (before > 0)")),
    wrong("one_minus_p",
          "Each token less probable than 1 - `top_p` is dropped, whatever the others are.",
          "Which tokens' probabilities should sum to `top_p`?",
          edit("before >= top_p", "(probabilities < 1 - top_p) & (before > 0)")),
    wrong("not_brought_back",
          "You chose the tokens to drop in the sorted row, but dropped those positions in the unsorted one.",
          "Token 0 of the sorted row: which token of the vocabulary is it?",
          edit("dropped = dropped.scatter(-1, indices, before >= top_p)", "dropped = dropped | (before >= top_p)")),
    wrong("gathered_by_places",
          "The tokens to drop are mapped back with the indices of the sort, but that needs their inverse.",
          "`gather` reads at indices, `scatter` writes to them: which do you need?",
          edit("dropped = dropped.scatter(-1, indices, before >= top_p)",
               "dropped = (before >= top_p).gather(-1, indices)")),
    wrong("sorted_result",
          "The probabilities come back sorted, so nothing shows which token each one belongs to.",
          "Which token's probability is in column 0?",
          edit(LAST, "return scores.softmax(dim=-1).sort(dim=-1, descending=True).values")),
    wrong("least_probable_first",
          "The unlikely tokens stay, and the most probable ones are dropped.",
          "In which order do you sort, and at which end of the sorted row do tokens stay?",
          edit(_SORTED, "probabilities, indices = scores.softmax(dim=-1).sort(dim=-1)")),
    wrong("p_before_temperature",
          "`top_p` uses the probabilities from before the temperature.",
          "In which order are the three parameters applied?",
          edit("scores.softmax(dim=-1).sort(", "(scores * temperature).softmax(dim=-1).sort(")),
    wrong("p_of_all",
          "`top_p` also counts the probability that `top_k` has cut off.",
          "Which probabilities sum to 1 after `top_k`?",
          edit("scores.softmax(dim=-1).sort(", "(logits / temperature).softmax(dim=-1).sort("),
          tests="probabilities"),
    wrong("either_dial",
          "If `top_k` is given, `top_p` is ignored.",
          "What should happen if both are given?",
          edit("if top_p is not None:", "if top_p is not None and top_k is None:")),
    wrong("p_zeros_before_softmax",
          "A token that `top_p` cuts off gets the logit 0, not the probability 0.",
          "What is e to the power of 0?",
          edit("scores = scores.masked_fill(dropped, -math.inf)", "scores = scores.masked_fill(dropped, 0.0)")),
    wrong("nearly_all_is_the_end",
          "With a `top_p` of 1, improbable tokens are dropped.",
          "What share of the probability must stay if `top_p` is 1?",
          edit("if top_p is not None:", """
              if top_p is not None:
                  top_p = min(top_p, 0.999)""")),
    wrong("nearly_all_is_all",
          "A `top_p` close to 1 keeps everything.",
          "From which `top_p` on may no token be dropped?",
          edit("if top_p is not None:", "if top_p is not None and top_p < 0.99:")),
    # Mistakes in what comes back, and in what is accepted.
    wrong("logits_returned",
          "You return logits, not probabilities.",
          "What do the rows of your result sum to?",
          edit(LAST, "return scores")),
    wrong("logarithms",
          "You return logarithms of probabilities.",
          "Can a probability be negative?",
          edit(LAST, "return scores.log_softmax(dim=-1)")),
    wrong("over_rows",
          "The last softmax runs over a dimension other than the vocabulary.",
          "Which dimension has one entry for each token?",
          edit(LAST, "return scores.softmax(dim=0)")),
    wrong("overflow",
          "You take the exponential of the raw logits, so large ones overflow.",
          "What did you subtract in unit 2 before `exp`?",
          edit(LAST, """
              powers = scores.exp()
              return powers / powers.sum(dim=-1, keepdim=True)
              """)),
    wrong("logits_changed",
          "You changed the logits that you were given.",
          "Which of your operations work in place?",
          edit(DIVIDED, "scores = logits.div_(temperature)"), tests="modified"),
    wrong("zero_temperature_accepted",
          "A temperature of 0, or a negative one, is not refused.",
          "What does a division by 0 give?",
          edit("if temperature <= 0:", "if False:"), tests="ValueError"),
    wrong("only_negative_refused",
          "A temperature of 0 is not refused.",
          "What does a division by 0 give?",
          edit("if temperature <= 0:", "if temperature < 0:"), tests="Temperature"),
    wrong("only_zero_refused",
          "A negative temperature is not refused.",
          "Which token would then be the most probable one?",
          edit("if temperature <= 0:", "if temperature == 0:")),
    wrong("forbidden_may_come",
          "A token whose logit is -inf gets a probability above 0, so it may be sampled one day.",
          "What is added to the probabilities, and is that exactly 0?",
          edit(LAST, """
              chances = scores.softmax(dim=-1) + 1e-9
              return chances / chances.sum(dim=-1, keepdim=True)
              """), tests="probability"),
    wrong("finite_infinity",
          "A number like -100 takes the place of minus infinity, so at a high temperature forbidden tokens come to "
          "life.",
          "What is -100 divided by a temperature of 20, and its exponential?",
          edit(DIVIDED, "scores = logits.clamp(min=-1e2) / temperature")),
    wrong("drawn",
          "You sample a token instead of returning the probabilities.",
          "Should your function give the same answer twice?",
          edit(LAST, """
              chances = scores.softmax(dim=-1)
              rows = chances.reshape(-1, chances.size(-1))
              drawn = torch.multinomial(rows, 1).view(chances.shape[:-1])
              return F.one_hot(drawn, chances.size(-1)).to(chances.dtype)
              """)),
    wrong("most_probable",
          "All the probability goes to the most probable token: that is greedy decoding.",
          "How many tokens can be sampled if no parameter is set?",
          edit(LAST, "return F.one_hot(scores.argmax(dim=-1), scores.size(-1)).to(scores.dtype)")),
]

ACCEPTED = [
    right("in_one", source(_WHOLE)),
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
                order = row.argsort(descending=True).tolist()
                if top_k is not None:
                    order = order[:top_k]
                kept = torch.full_like(row, -math.inf)
                kept[order] = row[order]
                if top_p is not None:
                    probabilities, total, chosen = kept.softmax(0), 0.0, []
                    for place in order:
                        if total >= top_p:
                            break
                        chosen.append(place)
                        total += float(probabilities[place])
                    kept = torch.full_like(row, -math.inf)
                    kept[chosen] = row[chosen]
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
    right("k_by_sort", edit(LEAST, "least = scores.sort(dim=-1, descending=True).values[..., :top_k][..., -1:]")),
]

EXERCISE = Specification(
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
