"""A loss that ignores padding."""

from __future__ import annotations

import torch

from autograder.bank.sequence_reversal._inputs import FIRST, PAD, padded
from autograder.oracle.draw import Draw
from autograder.oracle.promise import Promise, special
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


def _scores(
    lengths: tuple[int, ...],
    vocabulary: int,
    scale: float = 3.0,
    gaps: int = 0,
    view: bool = False,
) -> Maker:
    """Logits and labels; labels hold every special token but PAD before they end.

    With ``gaps``, each that many places there is PAD in the longest row, too.
    """

    def inputs(draw: Draw) -> Inputs:
        rows = [draw.ids(1, vocabulary, n).tolist() for n in lengths]
        max(rows, key=len)[: FIRST - 1] = range(1, FIRST)
        labels = padded(rows)
        if gaps:
            labels[max(range(len(rows)), key=lambda i: len(rows[i])), ::gaps] = PAD
        logits = draw.tensor(*labels.shape, vocabulary, scale=scale)
        seen = {"view": torch.tensor(True)} if view else {}
        return {"logits": logits, "labels": labels, **seen}

    return inputs


def _dear_padding(draw: Draw) -> Inputs:
    """Most places are padding: it costs more than a label, or the means might agree."""
    inputs = _scores((2, 6, 70, 3, 1), 19)(draw)
    inputs["logits"][..., PAD] -= 4
    return inputs


_LOSS = "F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD)"

EXERCISE = Specification(
    name="sequence_reversal/masked_loss",
    title="A loss that ignores padding",
    target="masked_loss",
    promise=Promise(
        ways=(),
        sizes=special(one_row=_scores((6,), 7), one_label_each=_scores((1, 1, 1, 1), 8)),
    ),
    cases=[
        CaseKind(
            name="three_rows",
            title="rows with 5, 2 and 1 labels",
            inputs=_scores((5, 2, 1), 7),
            hint="Compute the price of one label by hand, then average over real "
            "labels only.",
        ),
        CaseKind(
            name="no_padding",
            title="no padding at all",
            inputs=_scores((4, 4), 9),
            hint="Without padding the loss is the plain mean over all positions.",
        ),
        CaseKind(
            name="mostly_padding",
            title="hardly anything but padding, in one row nothing else",
            inputs=_scores((8, 1, 0, 1), 6),
            hint="All real labels weigh the same, in short rows and in long ones.",
        ),
        CaseKind(
            name="gaps",
            title="PAD before, between and after labels, in a part of a tensor",
            inputs=_scores((3, 8, 5), 7, gaps=3, view=True),
            hint="All labels that are not PAD count, wherever they stand; and `shift` "
            "gives a view of the target.",
        ),
        CaseKind(
            name="huge",
            title="huge logits",
            inputs=_scores((3, 5, 2), 8, scale=300.0),
            hint="The logarithm of a softmax needs the same care as the softmax of "
            "unit 2.",
            atol=1e-3,
        ),
        CaseKind(
            name="large_vocabulary",
            title="a large vocabulary, and a row of 70 labels",
            inputs=_dear_padding,
            hint="As above, with more classes and more columns.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="padding_counts",
            says="Padding counts: the price of saying PAD is in your loss.",
            asks="Which labels of the second row are real?",
            ways=[
                Way(edits=[Edit(", ignore_index=PAD", "")]),
                Way(name="padding_counts_by_hand", edits=[
                    Edit(_LOSS,
                         "-logits.log_softmax(-1).gather(-1, labels[..., None]).mean()"),
                ]),
            ],
        ),
        Mutant(
            name="divided_by_all",
            says="Padding is left out of the sum, but not out of the count: you "
            "divided by all positions.",
            asks="How many prices did you add up, and by how many did you divide?",
            ways=[
                Way(edits=[
                    Edit(_LOSS,
                         "F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD, reduction='none').mean()"),
                ]),
                Way(name="multiplied_mean", edits=[
                    Edit(_LOSS,
                         "(-logits.log_softmax(-1).gather(-1, labels[..., None])[..., 0] * (labels != PAD)).mean()"),
                ]),
            ],
        ),
        Mutant(
            name="zeroed_logits",
            says="You set logits of padding to zero. Zero logits are not a zero loss: "
            "they mean that all tokens are equally likely.",
            asks="What is the cross-entropy of a uniform distribution over `V` tokens?",
            ways=[Way(edits=[
                Edit(_LOSS,
                     "F.cross_entropy((logits * (labels != PAD)[..., None]).flatten(0, 1), labels.flatten())"),
            ])],
        ),
        Mutant(
            name="mean_of_rows",
            says="You averaged each row first and then the rows, so a token of a short "
            "row weighs more than one of a long row.",
            asks="A row has 1 label and another has 9. Which share of the loss should "
            "the single one have?",
            ways=[Way(edits=[
                Edit(_LOSS,
                     "torch.stack([F.cross_entropy(x, y, ignore_index=PAD) for x, y in zip(logits, labels)]).mean()"),
            ])],
        ),
        Mutant(
            name="empty_row_is_nan",
            says="A row without a real label makes the whole loss NaN.",
            asks="What is the mean of no numbers, and what is 0 times that?",
            ways=[Way(edits=[
                Edit(_LOSS,
                     "sum(F.cross_entropy(x, y, ignore_index=PAD) * (y != PAD).sum() for x, y in zip(logits, labels)) / (labels != PAD).sum()"),
            ])],
        ),
        Mutant(
            name="mean_of_columns",
            says="You averaged over each position first, and then over positions. "
            "Places where most rows have ended weigh too much.",
            asks="Do all real tokens of the batch weigh the same in your loss?",
            ways=[Way(edits=[
                Edit(_LOSS,
                     "torch.stack([F.cross_entropy(logits[:, t], labels[:, t], ignore_index=PAD) for t in range(labels.size(1)) if (labels[:, t] != PAD).any()]).mean()"),
            ])],
        ),
        Mutant(
            name="sum",
            says="You added the prices and did not divide. The loss would grow with "
            "the batch.",
            asks="Is a sum or a mean asked for?",
            ways=[Way(edits=[
                Edit("ignore_index=PAD)", "ignore_index=PAD, reduction='sum')"),
            ])],
        ),
        Mutant(
            name="sum_over_batch",
            says="You divided by the number of rows, not of tokens.",
            asks="The mean price per what is asked for?",
            ways=[Way(edits=[
                Edit("ignore_index=PAD)",
                     "ignore_index=PAD, reduction='sum') / len(labels)"),
            ])],
        ),
        Mutant(
            name="softmax_first",
            says="Softmax is applied twice: `F.cross_entropy` takes logits and has its "
            "own.",
            asks="What does `F.cross_entropy` expect: probabilities or logits?",
            ways=[Way(edits=[
                Edit("logits.flatten(0, 1)", "logits.softmax(-1).flatten(0, 1)"),
            ])],
        ),
        Mutant(
            name="no_softmax",
            says="You took the logits themselves for log-probabilities.",
            asks="What do the exponentials of log-probabilities sum to? And those of "
            "your logits?",
            ways=[Way(edits=[Edit("F.cross_entropy(", "F.nll_loss(")])],
        ),
        Mutant(
            name="log_missing",
            says="Your loss is a mean of negative probabilities: the logarithm is "
            "missing.",
            asks="Can your loss ever be larger than zero?",
            ways=[Way(edits=[
                Edit(_LOSS,
                     "F.nll_loss(logits.softmax(-1).flatten(0, 1), labels.flatten(), ignore_index=PAD)"),
            ])],
        ),
        Mutant(
            name="sign",
            says="The sign is wrong: your loss becomes smaller as the model gets "
            "worse.",
            asks=r"Is $\log p$ positive or negative?",
            ways=[Way(edits=[Edit("return F", "return -F")])],
        ),
        Mutant(
            name="reshaped_classes",
            says="You brought the classes to dimension 1 by `view` or `reshape`, which "
            "deals the numbers out anew.",
            asks="What moves a dimension without mixing the numbers?",
            ways=[Way(edits=[
                Edit(_LOSS,
                     "F.cross_entropy(logits.reshape(logits.size(0), logits.size(2), logits.size(1)), labels, ignore_index=PAD)"),
            ])],
        ),
        Mutant(
            name="transposed_flat",
            says="Logits and labels are flattened in different orders, so most labels "
            "meet logits of another place.",
            asks="Which label belongs to row 1 of your flat logits?",
            ways=[Way(edits=[Edit("labels.flatten()", "labels.T.flatten()")])],
        ),
        Mutant(
            name="classes_in_the_middle",
            says="`F.cross_entropy` looks for the classes in dimension 1, where your "
            "logits have the positions.",
            asks="In which dimension are the classes of `(B, L, V)`?",
            ways=[Way(edits=[
                Edit(_LOSS, "F.cross_entropy(logits, labels, ignore_index=PAD)"),
            ])],
        ),
        Mutant(
            name="softmax_over_positions",
            says="Your probabilities sum to one over positions, not over tokens.",
            asks="Which dimension holds the vocabulary?",
            ways=[Way(edits=[
                Edit(_LOSS,
                     "F.nll_loss(logits.log_softmax(1).flatten(0, 1), labels.flatten(), ignore_index=PAD)"),
            ])],
        ),
        Mutant(
            name="softmax_by_hand",
            says="Your softmax overflows for huge logits.",
            asks="What is `exp(300)` in float32?",
            ways=[Way(edits=[
                Edit(_LOSS,
                     "F.nll_loss((logits.exp() / logits.exp().sum(-1, keepdim=True)).log().flatten(0, 1), labels.flatten(), ignore_index=PAD)"),
            ])],
        ),
        Mutant(
            name="epsilon",
            says="A small number is added inside the logarithm. It hides the price of "
            "very wrong answers, and their gradient with it.",
            asks="What is the largest price that your loss can give, and what should "
            "it be for a logit difference of 300?",
            ways=[Way(edits=[
                Edit(_LOSS,
                     "F.nll_loss((logits.softmax(-1) + 1e-8).log().flatten(0, 1), labels.flatten(), ignore_index=PAD)"),
            ])],
        ),
        Mutant(
            name="base_two",
            says="You used the logarithm to base 2; the natural one is asked for.",
            asks="By which factor is your loss too large?",
            ways=[Way(edits=[Edit("return F", "return 1 / math.log(2) * F")])],
        ),
        Mutant(
            name="smoothed",
            says="Label smoothing is on: the right token gets less than the whole "
            "weight.",
            asks="What is the loss of a model that is right and sure, with yours?",
            ways=[Way(edits=[
                Edit("ignore_index=PAD)", "ignore_index=PAD, label_smoothing=0.1)"),
            ])],
        ),
        Mutant(
            name="eos_ignored",
            says="You ignore EOS instead of PAD.",
            asks="Which id has padding, and how would the model learn to stop?",
            ways=[Way(edits=[Edit("ignore_index=PAD", "ignore_index=EOS")])],
        ),
        Mutant(
            name="specials_ignored",
            says="You ignore all special tokens, EOS as well. Then nobody teaches the "
            "model to stop.",
            asks="Which of the special tokens is no token at all?",
            ways=[Way(edits=[
                Edit(_LOSS,
                     "F.cross_entropy(logits[labels >= FIRST], labels[labels >= FIRST])"),
            ])],
        ),
        Mutant(
            name="detached",
            says="The value is right, but no gradient reaches the logits.",
            asks="What do `detach`, `item` and `torch.no_grad` do to a gradient?",
            ways=[Way(edits=[
                Edit(_LOSS,
                     "F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD).detach()"),
            ])],
        ),
        Mutant(
            name="number",
            says="Your loss is a Python number. It has forgotten where it came from.",
            asks="On what would you call `backward`?",
            ways=[Way(edits=[
                Edit(_LOSS,
                     "F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD).item()"),
            ])],
        ),
        Mutant(
            name="not_reduced",
            says="You return one price for each position; a single number is asked "
            "for.",
            asks="What remains to be done with the prices of the real labels?",
            ways=[Way(edits=[
                Edit("ignore_index=PAD)", "ignore_index=PAD, reduction='none')"),
            ])],
        ),
        Mutant(
            name="perplexity",
            says="That is the perplexity, the exponential of the loss.",
            asks="What is the loss of a model that is always right and sure: 0 or 1?",
            ways=[Way(edits=[
                Edit(_LOSS,
                     "F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD).exp()"),
            ])],
        ),
        Mutant(
            name="until_the_first_pad",
            says="A row counts until its first PAD only.",
            asks="Which places count: those before a PAD, or those that are none?",
            ways=[Way(edits=[
                Edit(_LOSS,
                     "F.cross_entropy(logits[labels.cumprod(1) > 0], labels[labels.cumprod(1) > 0])"),
            ])],
        ),
        Mutant(
            name="view",
            says="It fails for labels that are a part of another tensor, as `shift` "
            "gives them.",
            asks="Which operation wants numbers that lie side by side in memory, and "
            "which one does the same without that?",
            ways=[Way(edits=[Edit("labels.flatten()", "labels.view(-1)")])],
        ),
    ],
    accepted=[
        Accepted(name="transposed", edits=[
            Edit(_LOSS,
                 "F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=PAD)"),
        ]),
        Accepted(name="selected", edits=[
            Edit(_LOSS,
                 "F.cross_entropy(logits[labels != PAD], labels[labels != PAD])"),
        ]),
        Accepted(name="by_hand", source="""
            def masked_loss(logits, labels):
                price = torch.logsumexp(logits, -1) - logits.gather(
                    -1, labels.unsqueeze(-1)).squeeze(-1)
                real = (labels != PAD).to(price.dtype)
                return (price * real).sum() / real.sum()
            """),
        Accepted(name="loops", source="""
            def masked_loss(logits, labels):
                total, count = 0.0, 0
                for row, wanted in zip(logits, labels):
                    for scores, label in zip(row, wanted):
                        if label != PAD:
                            total = total - F.log_softmax(scores, dim=0)[label]
                            count += 1
                return total / count
            """),
        Accepted(name="one_hot", edits=[
            Edit(_LOSS,
                 "-(F.log_softmax(logits, -1) * F.one_hot(labels, logits.size(-1)))[labels != PAD].sum(-1).mean()"),
        ]),
        Accepted(name="weights", source="""
            def masked_loss(logits, labels):
                weight = torch.ones(logits.size(-1), dtype=logits.dtype)
                weight[PAD] = 0
                return F.cross_entropy(logits.reshape(-1, logits.size(-1)), labels.reshape(-1), weight=weight)
            """),
        Accepted(name="module", edits=[
            Edit(_LOSS,
                 "nn.CrossEntropyLoss(ignore_index=0)(logits.permute(0, 2, 1), labels)"),
        ]),
    ],
)
