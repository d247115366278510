"""Cross-entropy with label smoothing."""

from __future__ import annotations

import torch

from autograder.bank.text_recovery._inputs import PAD
from autograder.oracle.draw import Draw
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Inputs,
    Mutant,
    Specification,
    Way,
)


def _logits(
    draw: Draw,
    b: int,
    length: int,
    vocab: int,
    smoothing: float | None,
    scale: float = 3.0,
    real: bool = False,
    gaps: bool = False,
) -> Inputs:
    """Logits, a target with padding (or, if ``real``, without), the smoothing.

    With ``gaps`` there is padding before and between the tokens, too, and the target is
    a part of another tensor.
    """
    target, view = draw.ids(1, vocab, b, length), {}
    if not real:
        target[0, -2:] = PAD
        target[-1, 1:] = PAD
    if gaps:
        target[1, ::2] = PAD
        view = {"view": torch.tensor(True)}
    inputs: Inputs = {
        "logits": draw.tensor(b, length, vocab, scale=scale), "target": target, **view
    }  # fmt: skip
    if smoothing is not None:
        inputs["smoothing"] = torch.tensor(smoothing)
    return inputs


EXERCISE = Specification(
    name="text_recovery/smoothed_loss",
    title="Cross-entropy with label smoothing",
    target="smoothed_loss",
    cases=[
        CaseKind(
            name="default",
            title="smoothing as it comes",
            inputs=lambda draw: _logits(draw, 3, 5, 11, None),
            hint="By default a tenth of the probability is spread over the vocabulary.",
        ),
        CaseKind(
            name="none",
            title="smoothing = 0",
            inputs=lambda draw: _logits(draw, 4, 6, 9, 0.0),
            hint="Without smoothing this is plain cross-entropy over the real tokens.",
        ),
        CaseKind(
            name="much",
            title="smoothing = 0.25",
            inputs=lambda draw: _logits(draw, 2, 7, 13, 0.25),
            hint="The target has 1 - smoothing, and its share of the rest as well.",
        ),
        CaseKind(
            name="large",
            title="large logits",
            inputs=lambda draw: _logits(draw, 3, 4, 8, 0.125, scale=150.0),
            hint="Use log_softmax, not the logarithm of a softmax.",
        ),
        CaseKind(
            name="gaps",
            title="PAD before, between and after the tokens, in a part of a tensor",
            inputs=lambda draw: _logits(draw, 3, 6, 7, 0.125, gaps=True),
            hint="A place counts if it is not PAD, wherever it stands.",
        ),
        CaseKind(
            name="one_token",
            title="three sentences of one token",
            inputs=lambda draw: _logits(draw, 3, 1, 6, 0.25, real=True),
            hint="A dimension of size one stays a dimension.",
        ),
        CaseKind(
            name="other",
            title="other sizes",
            inputs=lambda draw: _logits(draw, 5, 3, 17, 0.5),
            hint="The same for other sizes.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="padding_counts",
            says="Padding counts as a token that has to be predicted.",
            asks="Should the loss change when a batch is padded more?",
            ways=[Way(edits=[
                Edit("return loss[target != PAD].mean()", "return loss.mean()"),
            ])],
        ),
        Mutant(
            name="divided_by_all",
            says="Padding adds nothing to the sum, but it counts in the number that "
            "you divide by.",
            asks="By how many tokens is the sum to be divided?",
            ways=[Way(edits=[
                Edit("return loss[target != PAD].mean()",
                     "return (loss * (target != PAD)).mean()"),
            ])],
        ),
        Mutant(
            name="sum",
            says="The losses are added up, not averaged.",
            asks="What happens to the loss of a larger batch?",
            ways=[Way(edits=[
                Edit("return loss[target != PAD].mean()",
                     "return loss[target != PAD].sum()"),
            ])],
        ),
        Mutant(
            name="mean_of_rows",
            says="First the mean of each sentence is taken, then the mean of the "
            "sentences: tokens of short sentences count more.",
            asks="Does every real token have the same weight?",
            ways=[Way(edits=[
                Edit(
                    "return loss[target != PAD].mean()",
                    """
                    real = target != PAD
                    return ((loss * real).sum(1) / real.sum(1)).mean()
                    """,
                ),
            ])],
        ),
        Mutant(
            name="no_smoothing",
            says="Nothing is smoothed: this is plain cross-entropy.",
            asks="Where does your loss depend on `smoothing`?",
            ways=[Way(edits=[
                Edit("loss = -(1 - smoothing) * wanted - smoothing * log_p.mean(dim=-1)",
                     "loss = -wanted"),
            ])],
        ),
        Mutant(
            name="sum_over_vocabulary",
            says="The even part is summed over the vocabulary, not averaged: it weighs "
            "V times too much.",
            asks="Which share does each token get?",
            ways=[Way(edits=[Edit("log_p.mean(dim=-1)", "log_p.sum(dim=-1)")])],
        ),
        Mutant(
            name="others_only",
            says="The share goes to the other V - 1 tokens only, as some write it. "
            "Here each of the V tokens gets smoothing / V, the target as well.",
            asks="By what is the smoothing divided in the formula?",
            ways=[Way(edits=[
                Edit("- smoothing * log_p.mean(dim=-1)",
                     "- smoothing * (log_p.sum(dim=-1) - wanted) / (log_p.size(-1) - 1)"),
            ])],
        ),
        Mutant(
            name="not_on_pad",
            says="PAD gets no share of the smoothing. Some do it so; the formula "
            "above, as PyTorch, gives each of the V tokens the same.",
            asks="Over how many tokens is the smoothing spread?",
            ways=[Way(edits=[
                Edit("log_p.mean(dim=-1)", "log_p[..., 1:].mean(dim=-1)"),
            ])],
        ),
        Mutant(
            name="swapped",
            says="The two weights are exchanged: most of the probability is spread "
            "evenly.",
            asks="Which part should weigh 1 - smoothing?",
            ways=[Way(edits=[
                Edit("-(1 - smoothing) * wanted - smoothing * log_p.mean(dim=-1)",
                     "-smoothing * wanted - (1 - smoothing) * log_p.mean(dim=-1)"),
            ])],
        ),
        Mutant(
            name="weight_one",
            says="The target keeps its whole weight; the smoothing comes on top.",
            asks="Do the weights of all tokens sum to 1?",
            ways=[Way(edits=[Edit("-(1 - smoothing) * wanted", "-wanted")])],
        ),
        Mutant(
            name="sign",
            says="The sign is wrong: training would make the targets less probable.",
            asks="Is a logarithm of a probability positive or negative?",
            ways=[Way(edits=[
                Edit("loss = -(1 - smoothing) * wanted - smoothing",
                     "loss = (1 - smoothing) * wanted + smoothing"),
            ])],
        ),
        Mutant(
            name="log_of_softmax",
            says="For large logits the loss is infinite: a softmax has rounded to 0 "
            "before its logarithm was taken.",
            asks="What is the logarithm of a softmax that underflows, and which "
            "function never computes it?",
            ways=[Way(edits=[
                Edit("logits.log_softmax(dim=-1)", "logits.softmax(dim=-1).log()"),
            ])],
        ),
        Mutant(
            name="softmax_over_places",
            says="The softmax runs over the places, not over the vocabulary.",
            asks="Which dimension holds the vocabulary?",
            ways=[Way(edits=[Edit("log_softmax(dim=-1)", "log_softmax(dim=1)")])],
        ),
        Mutant(
            name="softmax_twice",
            says="The logits went through a softmax before the log-softmax.",
            asks="What does `cross_entropy` expect: logits or probabilities?",
            ways=[Way(edits=[
                Edit("logits.log_softmax(dim=-1)",
                     "logits.softmax(-1).log_softmax(dim=-1)"),
            ])],
        ),
        Mutant(
            name="fixed_smoothing",
            says="The smoothing is 0.1, whatever is asked for.",
            asks="Where is your argument used?",
            ways=[Way(edits=[
                Edit(
                    "log_p = logits",
                    """
                    smoothing = 0.1
                    log_p = logits
                    """,
                ),
            ])],
        ),
        Mutant(
            name="transposed",
            says="Logits and targets were put in line in different orders: each target "
            "meets the logits of another place.",
            asks="Which order has `transpose(...).reshape(...)`, and which has "
            "`flatten`?",
            ways=[Way(source="""
                import torch.nn.functional as F
                def smoothed_loss(logits, target, smoothing=0.1):
                    flat = logits.transpose(0, 1).reshape(-1, logits.size(-1))
                    return F.cross_entropy(flat, target.flatten(), ignore_index=PAD,
                                           label_smoothing=smoothing)
                """)],
        ),
        Mutant(
            name="detached",
            says="The number is right, but it has no gradient: nothing would be "
            "learnt.",
            asks="What does `.item()` or `.detach()` cut off?",
            ways=[Way(edits=[
                Edit("return loss[target != PAD].mean()",
                     "return loss[target != PAD].mean().detach()"),
            ])],
        ),

        Mutant(
            name="until_the_first_pad",
            says="A sentence counts until its first PAD only.",
            asks="Which places does the text leave out: those behind a PAD, or those "
            "that are PAD?",
            ways=[Way(edits=[
                Edit("loss[target != PAD]", "loss[(target != PAD).cumprod(dim=1) > 0]"),
            ])],
        ),

        Mutant(
            name="view",
            says="It fails for a target that is a part of another tensor, as `shift` "
            "gives it.",
            asks="What does the error say about `view`, and which method does it name?",
            ways=[Way(source="""
                import torch.nn.functional as F
                def smoothed_loss(logits, target, smoothing=0.1):
                    return F.cross_entropy(logits.flatten(0, 1), target.view(-1),
                                           ignore_index=PAD, label_smoothing=smoothing)
                """)],
        ),
    ],
    accepted=[
        Accepted(name="torch_cross_entropy", source="""
            import torch.nn.functional as F
            def smoothed_loss(logits, target, smoothing=0.1):
                return F.cross_entropy(logits.flatten(0, 1), target.flatten(),
                                       ignore_index=PAD, label_smoothing=smoothing)
            """),
        Accepted(name="transposed_cross_entropy", source="""
            import torch.nn.functional as F
            def smoothed_loss(logits, target, smoothing=0.1):
                return F.cross_entropy(logits.transpose(1, 2), target, ignore_index=PAD,
                                       label_smoothing=smoothing)
            """),
        Accepted(name="wanted_distribution", source="""
            import torch.nn.functional as F
            def smoothed_loss(logits, target, smoothing=0.1):
                vocab = logits.size(-1)
                q = F.one_hot(target, vocab) * (1 - smoothing) + smoothing / vocab
                each = -(q * F.log_softmax(logits, -1)).sum(-1)
                real = (target != PAD).to(each.dtype)
                return (each * real).sum() / real.sum()
            """),
        Accepted(name="loop", source="""
            def smoothed_loss(logits, target, smoothing=0.1):
                total, count = 0.0, 0
                for rows, ids in zip(logits, target):
                    for row, i in zip(rows, ids):
                        if i != PAD:
                            p = row - row.logsumexp(0)
                            total = total - (1 - smoothing) * p[i] - smoothing * p.mean()
                            count += 1
                return total / count
            """),
    ],
)
