"""From logits to the probabilities that a token is drawn from."""

from __future__ import annotations

import math

import torch

from autograder.oracle.draw import Draw
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


def _dials(
    *shape: int,
    temperature: float | None = None,
    top_k: int | None = None,
    share: int | None = None,
    forbidden: int = 0,
    scale: float = 3.0,
) -> Maker:
    """Logits without ties, and the dials.

    ``share`` is how many tokens top-p should keep in row 0. It lies in the middle of
    the last one's probability, so that rounding decides nothing there; other rows get
    another number of tokens, and are as far from a border.
    """

    def inputs(draw: Draw) -> Inputs:
        logits = _without_ties(draw, shape, scale)
        if forbidden:
            logits[..., :forbidden] = -math.inf
            logits = logits.roll(3, dims=-1)
        made: Inputs = {"logits": logits, "other": _without_ties(draw, shape, scale)}
        if temperature is not None:
            made["temperature"] = torch.tensor(temperature)
        if top_k is not None:
            made["top_k"] = torch.tensor(top_k)
        if share is not None:
            made["top_p"] = torch.tensor(_safe_share(logits, temperature, top_k, share))
        return made

    return inputs


def _without_ties(draw: Draw, shape: tuple[int, ...], scale: float) -> torch.Tensor:
    """Numbers of which no two in a row are closer than a sixteenth."""
    size = shape[-1]
    rows = math.prod(shape[:-1])
    grid = torch.stack([draw.ids(0, 10**6, size).argsort() for _ in range(rows)])
    step = 2 * scale / size
    noise = draw.tensor(rows, size, scale=step / 4)
    return (grid * step - scale + noise).view(shape)


def _safe_share(
    logits: torch.Tensor, temperature: float | None, top_k: int | None, share: int
) -> float:
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


_DIVIDED = "scores = logits / temperature  # (..., V)"
_LEAST = "least = scores.topk(min(top_k, scores.size(-1)), dim=-1).values[..., -1:]"
_CUT = "scores = scores.masked_fill(scores < least, -math.inf)"
_SORTED = (
    "shares, places = scores.softmax(dim=-1).sort(dim=-1, descending=True)"
)
_BEFORE = "before = shares.cumsum(dim=-1) - shares"
_LAST = "return scores.softmax(dim=-1)"

EXERCISE = Specification(
    name="sequence_reversal/sampling_distribution",
    title="From logits to chances",
    target="sampling_distribution",
    cases=[
        CaseKind(
            name="plain",
            title="no dial is turned",
            inputs=_dials(2, 7),
            hint="Without any dial it is the softmax of each row.",
        ),
        CaseKind(
            name="cold",
            title="temperature 0.4",
            inputs=_dials(3, 6, temperature=0.4),
            hint="Divide the logits by the temperature, before the softmax.",
        ),
        CaseKind(
            name="top_k",
            title="top_k = 3 of 8",
            inputs=_dials(2, 8, top_k=3),
            hint="The three largest logits of each row stay, the rest gets exactly 0.",
        ),
        CaseKind(
            name="top_p",
            title="top_p, rows of different sharpness",
            inputs=_dials(4, 9, share=3),
            hint="A token stays if the sum of the more probable ones is still below "
            "top_p.",
        ),
        CaseKind(
            name="one_is_enough",
            title="a top_p that one token reaches alone",
            inputs=_dials(1, 6, share=1, scale=5.0),
            hint="At least one token always stays.",
        ),
        CaseKind(
            name="all_together",
            title="temperature 2, top_k = 6 and top_p, three dimensions",
            inputs=_dials(2, 3, 10, temperature=2.0, top_k=6, share=4),
            hint="First the temperature, then top_k, then top_p of what top_k left.",
        ),
        CaseKind(
            name="wide_k",
            title="top_k beyond the vocabulary",
            inputs=_dials(2, 5, top_k=9),
            hint="If there are fewer than top_k tokens, all of them stay.",
        ),
        CaseKind(
            name="forbidden",
            title="forbidden tokens, whose logit is -inf",
            inputs=_dials(2, 9, temperature=1.5, share=3, forbidden=4),
            hint="A token with the logit -inf has the probability 0, whatever the "
            "dials say.",
        ),
        CaseKind(
            name="forbidden_hot",
            title="forbidden tokens at temperature 20",
            inputs=_dials(2, 7, temperature=20.0, forbidden=2),
            hint="However hot it is: a token with the logit -inf has the probability 0.",
        ),
        CaseKind(
            name="one_row",
            title="a single row without a batch, huge logits",
            inputs=_dials(12, temperature=0.7, top_k=5, scale=400.0),
            hint="Count dimensions from the end, and leave the softmax to PyTorch.",
            hidden_only=True,
        ),
        CaseKind(
            name="hot",
            title="temperature 3 and top_p",
            inputs=_dials(3, 2, 11, temperature=3.0, share=6),
            hint="As above, for other numbers.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="temperature_ignored",
            says="The temperature has no effect.",
            asks="Where in your code does `temperature` stand?",
            ways=[
                Way(edits=[Edit(_DIVIDED, "scores = logits + 0.0")]),
                Way(name="after_the_softmax", edits=[
                    Edit(_DIVIDED, "scores = logits + 0.0"),
                    Edit(_LAST, """
                        chances = scores.softmax(dim=-1) / temperature
                        return chances / chances.sum(dim=-1, keepdim=True)
                        """),
                ]),
            ],
        ),
        Mutant(
            name="multiplied",
            says="The logits are multiplied by the temperature: a high one makes the "
            "text cautious.",
            asks="What should become of the probabilities as the temperature falls to "
            "0?",
            ways=[Way(edits=[Edit("logits / temperature", "logits * temperature")])],
        ),
        Mutant(
            name="divided_probabilities",
            says="The temperature divides probabilities, not logits.",
            asks="What stands inside the exponential of a softmax with a temperature?",
            ways=[Way(edits=[
                Edit(_DIVIDED, "scores = logits + 0.0"),
                Edit(_LAST, "return scores.softmax(dim=-1) / temperature"),
            ])],
        ),
        Mutant(
            name="softmax_twice",
            says="Softmax is applied twice: the second time to probabilities.",
            asks="What goes into the last softmax?",
            ways=[Way(edits=[
                Edit(_DIVIDED, "scores = (logits / temperature).softmax(dim=-1)"),
            ])],
        ),
        Mutant(
            name="k_ignored",
            says="`top_k` has no effect.",
            asks="How many tokens should have a probability above 0?",
            ways=[Way(edits=[Edit("if top_k is not None:", "if False:")])],
        ),
        Mutant(
            name="one_too_few",
            says="One token fewer than `top_k` stays.",
            asks="Does the k-th largest itself stay?",
            ways=[Way(edits=[Edit("scores < least", "scores <= least")])],
        ),
        Mutant(
            name="one_too_many",
            says="One token more than `top_k` stays.",
            asks="How many tokens have a probability above 0 for `top_k = 3`?",
            ways=[Way(edits=[
                Edit("min(top_k, scores.size(-1))", "min(top_k + 1, scores.size(-1))"),
            ])],
        ),
        Mutant(
            name="k_least",
            says="The k *least* probable tokens stay.",
            asks="Which end of the sorted row is the probable one?",
            ways=[Way(edits=[
                Edit(_LEAST, "least = scores.topk(min(top_k, scores.size(-1)), dim=-1, largest=False).values[..., -1:]"),
                Edit(_CUT, "scores = scores.masked_fill(scores > least, -math.inf)"),
            ])],
        ),
        Mutant(
            name="k_of_all_rows",
            says="The border of `top_k` is one for the whole batch: it is not looked "
            "for in each row.",
            asks="Which dimension does your `topk` run over?",
            ways=[Way(edits=[
                Edit(_LEAST, "least = scores.flatten().topk(min(top_k, scores.size(-1))).values[-1]"),
            ])],
        ),
        Mutant(
            name="k_of_the_first_row",
            says="The border of `top_k` is found in the first row and used for all.",
            asks="Is the k-th largest number the same in each row?",
            ways=[Way(edits=[
                Edit(_LEAST, "least = scores.reshape(-1, scores.size(-1))[0].topk(min(top_k, scores.size(-1))).values[-1]"),
            ])],
        ),
        Mutant(
            name="k_must_fit",
            says="It fails if `top_k` is larger than the vocabulary.",
            asks="What should `top_k = 50` mean for 14 tokens?",
            ways=[Way(edits=[Edit("min(top_k, scores.size(-1))", "top_k")])],
        ),
        Mutant(
            name="zeros_before_softmax",
            says="What is cut off gets the logit 0, not the probability 0.",
            asks="What is e to the power of 0?",
            ways=[
                Way(edits=[
                    Edit(_CUT, "scores = scores.masked_fill(scores < least, 0.0)"),
                    Edit("scores = scores.masked_fill(dropped, -math.inf)",
                         "scores = scores.masked_fill(dropped, 0.0)"),
                ]),
                Way(name="only_of_top_k", edits=[
                    Edit(_CUT, "scores = scores.masked_fill(scores < least, 0.0)"),
                ]),
                Way(name="only_of_top_p", edits=[
                    Edit("scores = scores.masked_fill(dropped, -math.inf)",
                         "scores = scores.masked_fill(dropped, 0.0)"),
                ]),
            ],
        ),
        Mutant(
            name="not_scaled_back",
            says="What is left does not sum to 1: it was cut off and not scaled up "
            "again.",
            asks="What do the probabilities of a row sum to in your answer?",
            ways=[Way(edits=[
                Edit(_DIVIDED, """
                    scores = logits / temperature  # (..., V)
                    whole = scores.softmax(dim=-1)
                    """),
                Edit(_LAST, "return whole.masked_fill(scores == -math.inf, 0.0)"),
            ])],
        ),
        Mutant(
            name="p_ignored",
            says="`top_p` has no effect.",
            asks="How many tokens should stay?",
            ways=[Way(edits=[Edit("if top_p is not None:", "if False:")])],
        ),
        Mutant(
            name="crossing_dropped",
            says="The token with which the sum reaches `top_p` is dropped: what stays "
            "has less than `top_p`.",
            asks="0.5, 0.3, 0.15, 0.05 and `top_p` 0.6: is 0.5 alone enough?",
            ways=[
                Way(edits=[Edit("before >= top_p", "(before + shares) >= top_p")]),
                Way(name="but_never_all", edits=[
                    Edit("before >= top_p", "((before + shares) >= top_p) & (before > 0)"),
                ]),
            ],
        ),
        Mutant(
            name="one_more_than_needed",
            says="One token more than needed stays: the sum had reached `top_p` "
            "without it.",
            asks="Is your set the smallest one?",
            ways=[Way(edits=[
                Edit("before >= top_p", "(before.roll(1, -1) >= top_p) & (before > 0)"),
            ])],
        ),
        Mutant(
            name="p_as_threshold",
            says="`top_p` is taken as a border for each token's own probability, not "
            "for their sum.",
            asks="Whose probabilities are to sum to `top_p`?",
            ways=[
                Way(edits=[Edit("before >= top_p", "(shares < top_p) & (before > 0)")]),
            ],
        ),
        Mutant(
            name="one_minus_p",
            says="Tokens less probable than 1 - `top_p` are dropped, each by itself.",
            asks="Whose probabilities are to sum to `top_p`?",
            ways=[Way(edits=[
                Edit("before >= top_p", "(shares < 1 - top_p) & (before > 0)"),
            ])],
        ),
        Mutant(
            name="not_brought_back",
            says="What is dropped was found in the sorted row and then cut off in the "
            "unsorted one.",
            asks="Token 0 of the sorted row: which token of the vocabulary is it?",
            ways=[Way(edits=[
                Edit("dropped = dropped.scatter(-1, places, before >= top_p)",
                     "dropped = dropped | (before >= top_p)"),
            ])],
        ),
        Mutant(
            name="gathered_by_places",
            says="What is dropped is brought back with the places of the sort; that needs "
            "their inverse.",
            asks="`gather` reads from places, `scatter` writes to them: which do you "
            "need?",
            ways=[Way(edits=[
                Edit("dropped = dropped.scatter(-1, places, before >= top_p)",
                     "dropped = (before >= top_p).gather(-1, places)"),
            ])],
        ),
        Mutant(
            name="sorted_result",
            says="The probabilities come back sorted: nobody knows any more which "
            "token each belongs to.",
            asks="Whose probability stands in column 0?",
            ways=[Way(edits=[
                Edit(_LAST, "return scores.softmax(dim=-1).sort(dim=-1, descending=True).values"),
            ])],
        ),
        Mutant(
            name="least_probable_first",
            says="The row is sorted with the least probable first: the unlikely tokens "
            "stay.",
            asks="At which end does the smallest set of most probable tokens begin?",
            ways=[Way(edits=[
                Edit(_SORTED, "shares, places = scores.softmax(dim=-1).sort(dim=-1)"),
            ])],
        ),
        Mutant(
            name="p_before_temperature",
            says="`top_p` looks at the probabilities before the temperature.",
            asks="In which order come the three dials?",
            ways=[Way(edits=[
                Edit("scores.softmax(dim=-1).sort(", "(scores * temperature).softmax(dim=-1).sort("),
            ])],
        ),
        Mutant(
            name="p_of_all",
            says="`top_p` counts the probability that `top_k` has cut off, too.",
            asks="Which probabilities sum to 1 after `top_k`?",
            ways=[Way(edits=[
                Edit("scores.softmax(dim=-1).sort(", "(logits / temperature).softmax(dim=-1).sort("),
            ])],
        ),
        Mutant(
            name="either_dial",
            says="If `top_k` is given, `top_p` is not looked at.",
            asks="What if both are given?",
            ways=[Way(edits=[
                Edit("if top_p is not None:", "if top_p is not None and top_k is None:"),
            ])],
        ),
        Mutant(
            name="logits_returned",
            says="Logits come back, not probabilities.",
            asks="What do your numbers sum to?",
            ways=[Way(edits=[Edit(_LAST, "return scores")])],
        ),
        Mutant(
            name="logarithms",
            says="Logarithms of probabilities come back.",
            asks="Can a probability be negative?",
            ways=[Way(edits=[Edit(_LAST, "return scores.log_softmax(dim=-1)")])],
        ),
        Mutant(
            name="over_rows",
            says="The last softmax runs over another dimension than the vocabulary.",
            asks="Which dimension has one entry for each token?",
            ways=[Way(edits=[Edit(_LAST, "return scores.softmax(dim=0)")])],
        ),
        Mutant(
            name="overflow",
            says="The exponential is taken of the bare logits: large ones overflow.",
            asks="What did you subtract in unit 2 before `exp`?",
            ways=[Way(edits=[
                Edit(_LAST, """
                    powers = scores.exp()
                    return powers / powers.sum(dim=-1, keepdim=True)
                    """),
            ])],
        ),
        Mutant(
            name="logits_changed",
            says="The logits that you were given have changed.",
            asks="Which of your operations write into their tensor?",
            ways=[Way(edits=[Edit(_DIVIDED, "scores = logits.div_(temperature)")])],
        ),
        Mutant(
            name="zero_temperature_accepted",
            says="A temperature of 0, or a negative one, is not refused.",
            asks="What does a division by 0 give?",
            ways=[
                Way(edits=[Edit("if temperature <= 0:", "if False:")]),
                Way(name="only_negative_refused", edits=[
                    Edit("if temperature <= 0:", "if temperature < 0:"),
                ]),
                Way(name="only_zero_refused", edits=[
                    Edit("if temperature <= 0:", "if temperature == 0:"),
                ]),
            ],
        ),
        Mutant(
            name="forbidden_may_come",
            says="A token whose logit is -inf gets a probability above 0: it may be drawn "
            "some day.",
            asks="What is added to the probabilities, and is that exactly 0?",
            ways=[Way(edits=[
                Edit(_LAST, """
                    chances = scores.softmax(dim=-1) + 1e-9
                    return chances / chances.sum(dim=-1, keepdim=True)
                    """),
            ])],
        ),
        Mutant(
            name="finite_infinity",
            says="A number like -100 stands for minus infinity: where it is hot, forbidden "
            "tokens come to life.",
            asks="What is -100 divided by a temperature of 20, and its exponential?",
            ways=[Way(edits=[
                Edit(_DIVIDED, "scores = logits.clamp(min=-1e2) / temperature"),
            ])],
        ),
        Mutant(
            name="drawn",
            says="A token is drawn already; its probabilities were asked for.",
            asks="Should your function give the same answer twice?",
            ways=[Way(edits=[
                Edit(_LAST, """
                    chances = scores.softmax(dim=-1)
                    rows = chances.reshape(-1, chances.size(-1))
                    drawn = torch.multinomial(rows, 1).view(chances.shape[:-1])
                    return F.one_hot(drawn, chances.size(-1)).to(chances.dtype)
                    """),
            ])],
        ),
        Mutant(
            name="most_probable",
            says="All the probability goes to the most probable token: that is greedy "
            "decoding.",
            asks="How many tokens may be drawn if no dial is turned?",
            ways=[Way(edits=[
                Edit(_LAST, "return F.one_hot(scores.argmax(dim=-1), scores.size(-1)).to(scores.dtype)"),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="probabilities", source="""
            def sampling_distribution(logits, temperature=1.0, top_k=None, top_p=None):
                if not temperature > 0:
                    raise ValueError("no such temperature")
                chances = torch.softmax(logits / temperature, dim=-1)
                if top_k is not None:
                    rank = chances.argsort(dim=-1, descending=True).argsort(dim=-1)
                    chances = chances * (rank < top_k)
                    chances = chances / chances.sum(dim=-1, keepdim=True)
                if top_p is not None:
                    shares, places = chances.sort(dim=-1, descending=True)
                    stays = shares.cumsum(dim=-1) - shares < top_p
                    stays = stays.gather(-1, places.argsort(dim=-1))
                    chances = chances * stays
                    chances = chances / chances.sum(dim=-1, keepdim=True)
                return chances
            """),
        Accepted(name="row_by_row", source="""
            def sampling_distribution(logits, temperature=1.0, top_k=None, top_p=None):
                if temperature <= 0:
                    raise ValueError(temperature)
                rows = []
                for row in logits.reshape(-1, logits.size(-1)):
                    row = row / temperature
                    order = row.argsort(descending=True).tolist()
                    if top_k is not None:
                        order = order[:top_k]
                    kept = torch.full_like(row, -math.inf)
                    kept[order] = row[order]
                    if top_p is not None:
                        shares, total, chosen = kept.softmax(0), 0.0, []
                        for place in order:
                            if total >= top_p:
                                break
                            chosen.append(place)
                            total += float(shares[place])
                        again = torch.full_like(row, -math.inf)
                        again[chosen] = row[chosen]
                        kept = again
                    rows.append(kept.softmax(0))
                return torch.stack(rows).view(logits.shape)
            """),
        Accepted(name="shifted_mask", source="""
            def sampling_distribution(logits, temperature=1.0, top_k=None, top_p=None):
                if temperature <= 0:
                    raise ValueError("the temperature must be positive")
                ordered, places = (logits / temperature).sort(dim=-1, descending=True)
                if top_k is not None:
                    ordered = torch.cat((
                        ordered[..., :top_k],
                        torch.full_like(ordered[..., top_k:], -math.inf)), dim=-1)
                if top_p is not None:
                    over = ordered.softmax(-1).cumsum(-1) >= top_p
                    over = torch.cat((torch.zeros_like(over[..., :1]), over[..., :-1]), -1)
                    ordered = ordered.masked_fill(over, -math.inf)
                return torch.zeros_like(ordered).scatter(-1, places, ordered.softmax(-1))
            """),
        Accepted(name="k_by_sort", edits=[
            Edit(_LEAST, "least = scores.sort(dim=-1, descending=True).values[..., :top_k][..., -1:]"),
        ]),
    ],
)
