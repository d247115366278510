"""Perplexity with a sliding window."""

from __future__ import annotations

from autograder.bank.since_2017._inputs import whole
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


def _text(
    length: int, vocabulary: int, window: int, stride: int, num_bytes: int,
    scale: float = 2.0,
) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        sizes = whole(window=window, stride=stride, num_bytes=num_bytes)
        return sizes | {
            "ids": draw.ids(0, vocabulary, length),
            "table": draw.tensor(vocabulary, vocabulary, scale=scale),
        }

    return inputs


_NEW = "total += prices[-(end - scored) :].sum().item()"
_PRICES = 'prices = F.cross_entropy(logits[:-1], seen[1:], reduction="none")'
_RETURN = "return math.exp(total / (len(ids) - 1)), total / math.log(2) / num_bytes"

EXERCISE = Specification(
    name="since_2017/sliding_perplexity",
    title="Perplexity",
    target="sliding_perplexity",
    aspects={"windows": 2.0, "bits per byte": 4.0},  # beside the perplexity
    cases=[
        CaseKind(
            name="overlapping",
            title="11 tokens, window 6, stride 4",
            inputs=_text(11, 9, 6, 4, 25),
            hint="Compare with the picture: the third window has three tokens, one of them new.",
        ),
        CaseKind(
            name="one_window",
            title="7 tokens in one window",
            inputs=_text(7, 8, 12, 5, 19),
            hint="A window that holds the whole text is the only one.",
        ),
        CaseKind(
            name="by_one",
            title="8 tokens, window 4, stride 1",
            inputs=_text(8, 6, 4, 1, 30),
            hint="Each later window has one new token.",
        ),
        CaseKind(
            name="exact",
            title="13 tokens, window 5, stride 4",
            inputs=_text(13, 7, 5, 4, 40),
            hint="The last window ends with the text, and no other follows.",
        ),
        CaseKind(
            name="hopeless",
            title="a model that is nearly always wrong, and very sure",
            # Prices of up to 72 nats: float32 still knows such a probability.
            inputs=_text(9, 8, 5, 3, 31, scale=12.0),
            hint="A price may be large: nothing stops it at 20 nats.",
            tells=("bounded_prices",),
        ),
        CaseKind(
            name="long",
            title="30 tokens, window 9, stride 5",
            inputs=_text(30, 10, 9, 5, 77),
            hint="As above.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="all_counted",
            says="Tokens that an earlier window has counted are counted again.",
            asks="How many tokens of the second window are new?",
            ways=[
                Way(edits=[Edit(_NEW, "total += prices.sum().item()")]),
            ],
        ),
        Mutant(
            name="mean_of_windows",
            says="You average the windows' means: short windows weigh as much as long ones.",
            asks="Does every token weigh the same?",
            ways=[Way(source="""
                def sliding_perplexity(model, ids, window, stride, num_bytes):
                    means, total, scored = [], 0.0, 1
                    for begin in range(0, len(ids), stride):
                        end = min(begin + window, len(ids))
                        seen = ids[begin:end]
                        logits = model(seen[None])[0]
                        prices = F.cross_entropy(logits[:-1], seen[1:], reduction="none")
                        new = prices[-(end - scored):]
                        means.append(new.mean().item())
                        total, scored = total + new.sum().item(), end
                        if end == len(ids):
                            break
                    return math.exp(sum(means) / len(means)), total / math.log(2) / num_bytes
                """)],
        ),
        Mutant(
            name="mean_of_perplexities",
            says="You average perplexities; the mean belongs into the exponent.",
            asks="Is the mean of $e^a$ and $e^b$ the same as $e$ to the mean of $a$ and $b$?",
            ways=[Way(source="""
                def sliding_perplexity(model, ids, window, stride, num_bytes):
                    every, scored = [], 1
                    for begin in range(0, len(ids), stride):
                        end = min(begin + window, len(ids))
                        seen = ids[begin:end]
                        logits = model(seen[None])[0]
                        prices = F.cross_entropy(logits[:-1], seen[1:], reduction="none")
                        every += prices[-(end - scored):].tolist()
                        scored = end
                        if end == len(ids):
                            break
                    return sum(map(math.exp, every)) / len(every), sum(every) / math.log(2) / num_bytes
                """)],
        ),
        Mutant(
            name="no_overlap",
            says="Your windows do not overlap: each starts where the one before ended.",
            asks="What is `stride` for?",
            ways=[Way(edits=[Edit("range(0, len(ids), stride)", "range(0, len(ids), window)")])],
        ),
        Mutant(
            name="goes_on",
            says="You go on after the window that reaches the end of the text.",
            asks="Which window is the last one?",
            ways=[Way(edits=[
                Edit("if end == len(ids):", "if False:"),
                Edit(_NEW, "total += prices[len(prices) - (end - scored) :].sum().item()")])],
        ),
        Mutant(
            name="last_window_dropped",
            says="The last, shorter window is left out: the end of the text is not counted.",
            asks="Is each token but the first counted?",
            ways=[Way(edits=[
                Edit("seen = ids[begin:end]  # (n,)", """
                    seen = ids[begin:end]
                    if 0 < begin and end - begin < window:
                        break
                    """)])],
        ),
        Mutant(
            name="last_window_moved",
            says="Your last window is moved back so that it is full.",
            asks="Where does each window start?",
            ways=[Way(edits=[Edit("seen = ids[begin:end]", "seen = ids[max(0, end - window):end]")])],
        ),
        Mutant(
            name="not_shifted",
            says="Each position is asked for its own token, not for the next one.",
            asks="What is the logit of position t an opinion on?",
            ways=[Way(edits=[
                Edit(_PRICES, 'prices = F.cross_entropy(logits, seen, reduction="none")')])],
        ),
        Mutant(
            name="shifted_the_wrong_way",
            says="Each position is asked for the token *before* it.",
            asks="Which logits belong to `seen[1:]`: those without the last, or those without the first?",
            ways=[Way(edits=[Edit("F.cross_entropy(logits[:-1], seen[1:]", "F.cross_entropy(logits[1:], seen[:-1]")])],
        ),
        Mutant(
            name="divided_by_length",
            says="You divide by the number of tokens, though one fewer is predicted.",
            asks="Which token is never predicted?",
            ways=[Way(edits=[Edit("total / (len(ids) - 1)", "total / len(ids)")])],
        ),
        Mutant(
            name="perplexity_of_bytes",
            says="You divide by the number of bytes in the perplexity, too.",
            asks="Perplexity is per what?",
            ways=[Way(edits=[Edit("total / (len(ids) - 1)", "total / num_bytes")])],
        ),
        Mutant(
            name="no_exponential",
            says="You return the mean price; the perplexity is $e$ to the power of it.",
            asks="What is the perplexity of a model that is always sure and right?",
            ways=[Way(edits=[Edit("math.exp(total / (len(ids) - 1))", "total / (len(ids) - 1)")])],
        ),
        Mutant(
            name="power_of_two",
            says="You take 2 to the power of a price that is in nats.",
            asks="Which logarithm does `cross_entropy` use?",
            ways=[Way(edits=[Edit("math.exp(total / (len(ids) - 1))", "2 ** (total / (len(ids) - 1))")])],
        ),
        Mutant(
            name="nats_per_byte",
            says="Your second number is in nats, not in bits.",
            asks="How many nats are a bit?",
            ways=[Way(edits=[Edit("total / math.log(2) / num_bytes", "total / num_bytes")])],
        ),
        Mutant(
            name="bits_multiplied",
            says="You multiply by $\\log 2$; a nat is *more* than a bit.",
            asks="How many nats are a bit?",
            ways=[Way(edits=[Edit("total / math.log(2) / num_bytes", "total * math.log(2) / num_bytes")])],
        ),
        Mutant(
            name="bits_per_token",
            says="Your second number is per token, not per byte.",
            asks="What is `num_bytes` for?",
            ways=[Way(edits=[Edit("total / math.log(2) / num_bytes", "total / math.log(2) / (len(ids) - 1)")])],
        ),
        Mutant(
            name="pair_swapped",
            says="The pair is in the wrong order: first the perplexity, then the bits per byte.",
            asks="What does the docstring return first?",
            ways=[Way(edits=[Edit(_RETURN, "return total / math.log(2) / num_bytes, math.exp(total / (len(ids) - 1))")])],
        ),
        Mutant(
            name="tensors",
            says="You return tensors; floats are asked for.",
            asks="What does `.item()` do?",
            ways=[Way(edits=[Edit(_RETURN, "return torch.tensor(math.exp(total / (len(ids) - 1))), torch.tensor(total / math.log(2) / num_bytes)")])],
        ),
        Mutant(
            name="probabilities",
            says="You take the model's answers for probabilities: they are logits.",
            asks="What does `cross_entropy` expect, and what does a plain logarithm?",
            ways=[Way(edits=[Edit(_PRICES, "prices = -logits[:-1].softmax(-1).gather(1, seen[1:, None])[:, 0]")])],
        ),
        Mutant(
            name="one_token_more_seen",
            says="Your windows have one token too many or too few.",
            asks="How many tokens may the model see at most?",
            ways=[Way(edits=[Edit("min(begin + window, len(ids))", "min(begin + window + 1, len(ids))")])],
        ),
        Mutant(
            name="bounded_prices",
            says="No token costs more than about 20 nats: a small number is added to "
            "its probability.",
            asks="Which function gives the logarithm of a softmax without that?",
            ways=[Way(edits=[
                Edit(_PRICES, "prices = -(logits[:-1].softmax(-1) + 1e-9).gather(1, seen[1:, None])[:, 0].log()"),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="labels_ignored", source="""
            def sliding_perplexity(model, ids, window, stride, num_bytes):
                n, nll, previous = ids.size(0), [], 1
                for start in range(0, n, stride):
                    stop = min(start + window, n)
                    labels = ids[start:stop].clone()
                    labels[: previous - start] = -100
                    with torch.inference_mode():
                        logits = model(ids[None, start:stop])
                    nll.append(F.cross_entropy(logits[0, :-1], labels[1:], ignore_index=-100, reduction="sum"))
                    previous = stop
                    if stop == n:
                        break
                whole = torch.stack(nll).sum()
                return float(torch.exp(whole / (n - 1))), float(whole / num_bytes / torch.log(torch.tensor(2.0)))
            """),
        Accepted(name="while_loop", source="""
            def sliding_perplexity(model, ids, window, stride, num_bytes):
                price, begin = {}, 0
                while True:
                    seen = ids[begin : begin + window]
                    log_p = model(seen.reshape(1, -1))[0].detach().log_softmax(-1)
                    for i in range(1, len(seen)):
                        price.setdefault(begin + i, -log_p[i - 1, seen[i]].item())
                    if begin + window >= len(ids):
                        break
                    begin += stride
                total = sum(price.values())
                return math.exp(total / len(price)), total / (num_bytes * math.log(2))
            """),
        Accepted(name="base_two", edits=[
            Edit("math.exp(total / (len(ids) - 1))", "2.0 ** (total / math.log(2) / (len(ids) - 1))")]),
    ],
)
