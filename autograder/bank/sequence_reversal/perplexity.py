"""How unsure a model is about a text."""

from __future__ import annotations

import torch.nn.functional as F

from autograder.bank.sequence_reversal._inputs import PAD, padded
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


def _batches(
    lengths: tuple[tuple[int, ...], ...],
    vocabulary: int,
    sure: float = 3.0,
    gaps: int = 0,
) -> Maker:
    """Batches of rows with so many real labels; of five, each is easier than the last.

    With ``gaps``, each that many places there is PAD between labels, too.
    """

    def inputs(draw: Draw) -> Inputs:
        made: Inputs = {}
        for n, rows in enumerate(lengths):
            made_of = [draw.ids(1, vocabulary, length).tolist() for length in rows]
            labels = padded(made_of, width=2)
            if gaps:
                labels[:, 1::gaps] = PAD
            logits = draw.tensor(*labels.shape, vocabulary, scale=sure)
            easier = 1.5 * (n % 5) * F.one_hot(labels, vocabulary).float()
            made |= {f"logits {n}": logits + easier, f"labels {n}": labels}
        return made

    return inputs


_ADDED = "total += float(masked_loss(logits, labels)) * real"
_RESULT = "return total / count, math.exp(total / count)"

EXERCISE = Specification(
    name="sequence_reversal/perplexity",
    title="Perplexity",
    target="perplexity",
    aspects={"perplexity": 3.0},  # one of two results
    cases=[
        CaseKind(
            name="one_batch",
            title="one batch without padding",
            inputs=_batches(((4, 4, 4),), 6),
            hint="The mean of -log p over all labels, and e to the power of it.",
        ),
        CaseKind(
            name="padding",
            title="two batches, rows with 7, 0, 2 and 1 labels, and with 5 and 3",
            inputs=_batches(((7, 0, 2, 1), (5, 3)), 9),
            hint="PAD is no token: neither its price nor its place counts. A row of "
            "nothing else takes nothing from the others.",
        ),
        CaseKind(
            name="batches",
            title="three batches of very different sizes",
            inputs=_batches(((8, 8, 6, 7), (1,), (2, 1)), 8),
            hint="All real tokens of all batches weigh the same.",
        ),
        CaseKind(
            name="only_padding",
            title="three batches, one of nothing but padding",
            inputs=_batches(((4, 2), (0, 0, 0), (3,)), 9),
            hint="A batch without a real label adds nothing, neither to the sum nor to "
            "the count.",
        ),
        CaseKind(
            name="gaps",
            title="two batches, PAD between labels, too",
            inputs=_batches(((7, 5), (4, 8, 6)), 8, gaps=3),
            hint="A label that is not PAD counts, wherever it stands.",
        ),
        CaseKind(
            name="unsure",
            title="two batches, of a model that is often wrong and sure",
            inputs=_batches(((3, 1), (6, 5, 2)), 7, sure=8.0),
            hint="The exponential comes last: it is one of the mean price.",
        ),
        CaseKind(
            name="hopeless",
            title="a model that is nearly always wrong, and very sure",
            inputs=_batches(((4, 1), (6,)), 7, sure=70.0),
            hint="A price may be large: nothing stops it at 20 nats.",
        ),
        CaseKind(
            name="many",
            title="25 batches",
            inputs=_batches(
                ((2, 9), (5, 0), (1, 1, 3), (10, 4, 4, 2), (6,), *((3, 1), (2,)) * 10), 13
            ),
            hint="As above, with more batches.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="mean_of_batches",
            says="You averaged the batches' means. A token of a small batch weighs more "
            "than one of a large batch.",
            asks="How many tokens does each of the means stand for?",
            ways=[Way(edits=[
                Edit(_ADDED, "total += float(masked_loss(logits, labels))"),
                Edit("count += real", "count += 1"),
            ])],
        ),
        Mutant(
            name="mean_of_all_batches",
            says="You averaged the batches' means, and one without a real label has none: it "
            "is NaN.",
            asks="How many tokens does each of the means stand for?",
            ways=[Way(edits=[
                Edit("if real:", "if True:"),
                Edit(_ADDED, "total += float(masked_loss(logits, labels))"),
                Edit("count += real", "count += 1"),
            ])],
        ),
        Mutant(
            name="nan_of_an_empty_batch",
            says="A batch without a real label makes all of it NaN: its mean is a division of "
            "zero by zero, and NaN times 0 is NaN.",
            asks="What should such a batch add?",
            ways=[Way(edits=[Edit("if real:", "if True:")])],
        ),
        Mutant(
            name="mean_of_rows",
            says="You averaged over rows: a token of a short row weighs more than one "
            "of a long row.",
            asks="The mean over what is asked for?",
            ways=[Way(edits=[
                Edit(_ADDED, "total += float(sum(masked_loss(x[None], y[None]) for x, y in zip(logits, labels)))"),
                Edit("count += real", "count += len(labels)"),
            ])],
        ),
        Mutant(
            name="weighted_by_rows",
            says="Each batch's mean is weighted with its number of rows, not of real "
            "tokens.",
            asks="What does the mean of a batch have to be multiplied by to give its "
            "sum?",
            ways=[Way(edits=[
                Edit("real = int((labels != PAD).sum())", "real = len(labels)"),
            ])],
        ),
        Mutant(
            name="weighted_by_places",
            says="Each batch's mean is weighted with all its places, padding too.",
            asks="How many labels of a padded batch are real?",
            ways=[Way(edits=[
                Edit("real = int((labels != PAD).sum())", "real = labels.numel()"),
            ])],
        ),
        Mutant(
            name="padding_counts",
            says="Padding counts: its price is in your mean.",
            asks="Which labels are tokens?",
            ways=[Way(edits=[
                Edit("real = int((labels != PAD).sum())", "real = labels.numel()"),
                Edit("masked_loss(logits, labels)",
                     "F.cross_entropy(logits.flatten(0, 1), labels.flatten())"),
            ])],
        ),
        Mutant(
            name="until_the_first_pad",
            says="What stands behind a PAD does not count, though it is a real token.",
            asks="Which labels does the docstring leave out?",
            ways=[
                Way(edits=[
                    Edit("real = int((labels != PAD).sum())", """
                        labels = labels.masked_fill((labels == PAD).cumsum(1) > 0, PAD)
                        real = int((labels != PAD).sum())
                        """),
                    Edit(_ADDED, "total += float(masked_loss(logits, labels)) * real if real else 0.0"),
                ]),
            ],
        ),
        Mutant(
            name="empty_row_skips_batch",
            says="A batch in which one row is empty is left out as a whole.",
            asks="Whose tokens do you leave out with that row?",
            ways=[Way(edits=[
                Edit("for logits, labels in batches:", """
                    for logits, labels in batches:
                        if (labels == PAD).all(dim=1).any():
                            continue
                    """),
            ])],
        ),
        Mutant(
            name="as_many_as_real",
            says="In each row you took as many of the first places as it has real "
            "tokens.",
            asks="Which labels does the docstring leave out?",
            ways=[Way(source="""
                def perplexity(batches):
                    total, count = 0.0, 0
                    for logits, labels in batches:
                        for scores, row in zip(logits, labels, strict=True):
                            real = int((row != PAD).sum())
                            total += float(F.cross_entropy(scores[:real], row[:real], reduction="sum"))
                            count += real
                    return total / count, math.exp(total / count)
                """)],
        ),
        Mutant(
            name="divided_by_places",
            says="The prices of real tokens are added up, but divided by all places.",
            asks="By how many tokens do you divide?",
            ways=[Way(edits=[Edit("count += real", "count += labels.numel()")])],
        ),
        Mutant(
            name="mean_of_exponentials",
            says="You took the mean of the batches' perplexities. The exponential of a "
            "mean is not the mean of the exponentials.",
            asks="In which order come mean and exponential in the formula?",
            ways=[Way(edits=[
                Edit("total, count = 0.0, 0", "total, count, powers = 0.0, 0, 0.0"),
                Edit(_ADDED, """
                    total += float(masked_loss(logits, labels)) * real
                    powers += math.exp(float(masked_loss(logits, labels))) * real
                    """),
                Edit(_RESULT, "return total / count, powers / count"),
            ])],
        ),
        Mutant(
            name="mean_of_token_exponentials",
            says="You took the exponential of each token's price, and then the mean.",
            asks="In which order come mean and exponential in the formula?",
            ways=[Way(edits=[
                Edit("total, count = 0.0, 0", "total, count, powers = 0.0, 0, 0.0"),
                Edit(_ADDED, """
                    price = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD, reduction="none")
                    total += float(price.sum())
                    powers += float(price.exp().sum()) - (labels == PAD).sum().item()
                    """),
                Edit(_RESULT, "return total / count, powers / count"),
            ])],
        ),
        Mutant(
            name="sum_not_mean",
            says="The first number is a sum, not a mean.",
            asks="The price of how many tokens is it?",
            ways=[Way(edits=[Edit(_RESULT, "return total, math.exp(total / count)")])],
        ),
        Mutant(
            name="both_of_the_sum",
            says="Both numbers are of the sum of all prices, not of their mean.",
            asks="The price of how many tokens is it?",
            ways=[Way(edits=[
                Edit(_RESULT, "return total, float(torch.tensor(total).exp())"),
            ])],
        ),
        Mutant(
            name="bits",
            says="The first number is in bits: the logarithm to base 2.",
            asks="Which logarithm has its unit called nats?",
            ways=[Way(edits=[
                Edit(_RESULT, "return total / count / math.log(2), math.exp(total / count)"),
            ])],
        ),
        Mutant(
            name="two_to_the_nats",
            says="The perplexity is 2 to the power of nats: base and logarithm do not "
            "fit each other.",
            asks="Which power undoes the natural logarithm?",
            ways=[Way(edits=[Edit("math.exp(total / count)", "2 ** (total / count)")])],
        ),
        Mutant(
            name="swapped",
            says="The two numbers are swapped.",
            asks="Which one comes first?",
            ways=[Way(edits=[
                Edit(_RESULT, "return math.exp(total / count), total / count"),
            ])],
        ),
        Mutant(
            name="only_nats",
            says="Only the mean price comes back; its exponential is missing.",
            asks="How many numbers are asked for?",
            ways=[Way(edits=[Edit(_RESULT, "return total / count")])],
        ),
        Mutant(
            name="no_exponential",
            says="The second number is the same as the first: the exponential is "
            "missing.",
            asks="What is the perplexity of a die with six sides?",
            ways=[Way(edits=[Edit("math.exp(total / count)", "total / count")])],
        ),
        Mutant(
            name="sign",
            says="The sign is wrong: a good model gets a large perplexity.",
            asks="Is the logarithm of a probability positive or negative?",
            ways=[Way(edits=[
                Edit(_RESULT, "return -total / count, math.exp(-total / count)"),
            ])],
        ),
        Mutant(
            name="sign_in_the_power",
            says="The power has the wrong sign: that is a mean probability, below 1.",
            asks="How small can a perplexity be?",
            ways=[Way(edits=[
                Edit(_RESULT, "return total / count, math.exp(-total / count)"),
            ])],
        ),
        Mutant(
            name="last_batch",
            says="Only the last batch counts.",
            asks="What becomes of `total` when the next batch comes?",
            ways=[Way(edits=[
                Edit(_ADDED, "total = float(masked_loss(logits, labels)) * real"),
                Edit("count += real", "count = real"),
            ])],
        ),
        Mutant(
            name="first_batch",
            says="Only the first batch counts.",
            asks="How often does your loop run?",
            ways=[Way(edits=[
                Edit("count += real", """
                    count += real
                    break
                    """),
            ])],
        ),
        Mutant(
            name="twice_through",
            says="The batches are gone through twice. A generator is empty the second "
            "time.",
            asks="What does a second `for` find in a generator?",
            ways=[Way(edits=[
                Edit("for logits, labels in batches:", """
                    count = sum(int((labels != PAD).sum()) for _, labels in batches)
                    for logits, labels in batches:
                    """),
                Edit("count += real", "pass"),
            ])],
        ),
        Mutant(
            name="probabilities",
            says="The price is 1 - p, or -p, not -log p.",
            asks="What does a token cost that had the probability 0.001?",
            ways=[Way(edits=[
                Edit("float(masked_loss(logits, labels))",
                     "float(F.nll_loss(logits.softmax(-1).flatten(0, 1), labels.flatten(), ignore_index=PAD))"),
            ])],
        ),
        Mutant(
            name="greedy_price",
            says="You measured the price of the model's favourite token, not of the one "
            "that the text has.",
            asks="Where do the labels come into your price?",
            ways=[Way(edits=[
                Edit("masked_loss(logits, labels)",
                     "masked_loss(logits, logits[..., 1:].argmax(-1).add(1).masked_fill(labels == PAD, PAD))"),
            ])],
        ),
        Mutant(
            name="tensors",
            says="Tensors come back, not floats.",
            asks="Which method turns a tensor of one number into a float?",
            ways=[Way(edits=[
                Edit(_RESULT, "return torch.tensor(total / count), torch.tensor(total / count).exp()"),
            ])],
        ),
        Mutant(
            name="bounded",
            says="Your perplexity never exceeds e to the power of 20.",
            asks="How unsure may a model be?",
            ways=[Way(edits=[
                Edit("math.exp(total / count)", "math.exp(min(total / count, 20.0))"),
            ])],
        ),
        Mutant(
            name="bounded_prices",
            says="No token costs more than about 20 nats: a small number is added to "
            "its probability, or takes its place.",
            asks="Which function gives the logarithm of a softmax without that?",
            ways=[Way(edits=[
                Edit(_ADDED, "total -= float((logits.softmax(-1) + 1e-9).gather(-1, labels[..., None])[labels != PAD].log().sum())"),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="collected", source="""
            def perplexity(batches):
                prices = []
                for logits, labels in batches:
                    real = labels != PAD
                    price = F.cross_entropy(logits[real], labels[real], reduction="none")
                    prices.append(price)
                nats = torch.cat(prices).double().mean()
                return nats.item(), nats.exp().item()
            """),
        Accepted(name="by_hand", source="""
            def perplexity(batches):
                total, count = 0, 0
                for logits, labels in batches:
                    log_p = logits.log_softmax(-1).gather(-1, labels.unsqueeze(-1)).squeeze(-1)
                    total -= log_p[labels != PAD].sum().item()
                    count += (labels != PAD).sum().item()
                nats = total / count
                return [nats, math.e ** nats]
            """),
        Accepted(name="summed", edits=[
            Edit(_ADDED, 'total += F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD, reduction="sum").item()'),
        ]),
    ],
)
