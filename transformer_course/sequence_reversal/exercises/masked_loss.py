"""A loss that ignores padding."""

from __future__ import annotations

import torch

from autograder.authoring.contract import Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.sequence_reversal.exercises._inputs import FIRST, PAD, padded


def _scores(lengths: tuple[int, ...], vocabulary: int, scale: float = 3.0, gaps: int = 0, view: bool = False) -> Maker:
    """Logits and labels; labels hold every special token but PAD before they end.

    With ``gaps``, every so many places the longest row has PAD, too.
    """

    def make_inputs(draw: Draw) -> Inputs:
        rows = [draw.ids(1, vocabulary, n).tolist() for n in lengths]
        max(rows, key=len)[: FIRST - 1] = range(1, FIRST)
        labels = padded(rows)
        if gaps:
            labels[max(range(len(rows)), key=lambda i: len(rows[i])), ::gaps] = PAD
        logits = draw.tensor(*labels.shape, vocabulary, scale=scale)
        options = {"view": torch.tensor(True)} if view else {}
        return {"logits": logits, "labels": labels, **options}

    return make_inputs


def _dear_padding(draw: Draw) -> Inputs:
    """Mostly padding, with a larger loss than the labels, so that a mean over all differs."""
    inputs = _scores((2, 6, 70, 3, 1), 19)(draw)
    inputs["logits"][..., PAD] -= 4
    return inputs


_LOSS = "F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD)"

CASES = [
    case("three_rows", "rows with 5, 2 and 1 labels", _scores((5, 2, 1), 7),
         "Compute the loss of one label by hand, then average over the real labels only."),
    case("no_padding", "no padding at all", _scores((4, 4), 9),
         "Without padding the loss is the plain mean over all positions."),
    case("mostly_padding", "mostly padding, and one row of nothing else", _scores((8, 1, 0, 1), 6),
         "All real labels count equally, in short rows and in long ones."),
    case("gaps", "PAD before, between and after labels, in a slice of a tensor",
         _scores((3, 8, 5), 7, gaps=3, view=True),
         "All labels other than PAD count, wherever they are; and labels are a view of the target."),
    case("huge", "huge logits", _scores((3, 5, 2), 8, scale=300.0),
         "The logarithm of a softmax needs the same care as the softmax of unit 2.", atol=1e-3),
    case("large_vocabulary", "a large vocabulary, and a row of 70 labels", _dear_padding,
         "The same again, with more classes and more columns.", hidden_only=True),
]

MISTAKES = [
    wrong("padding_counts",
          "Padding counts: the loss of predicting PAD is part of your mean.",
          "Which labels of the second row are real?",
          edit(", ignore_index=PAD", "")),
    wrong("divided_by_all",
          "Padding is left out of the sum but not of the count: you divided by all positions.",
          "How many losses did you add up, and by how many did you divide?",
          edit(_LOSS,
               "F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD, reduction='none').mean()")),
    wrong("zeroed_logits",
          "You set the logits at padding to zero. That does not make the loss zero: it makes all tokens equally "
          "likely.",
          "What is the cross-entropy of a uniform distribution over `V` tokens?",
          edit(_LOSS, "F.cross_entropy((logits * (labels != PAD)[..., None]).flatten(0, 1), labels.flatten())")),
    wrong("mean_of_rows",
          "You averaged within each row first and then over rows, so a token in a short row counts more than one in a "
          "long row.",
          "One row has 1 label, another has 9. What fraction of the loss should the single label contribute?",
          edit(_LOSS, "torch.stack([F.cross_entropy(x, y, ignore_index=PAD) for x, y in zip(logits, labels)]).mean()"),
          tests="weight"),
    wrong("mean_of_filled_rows",
          "You averaged within each row that has labels and then over these rows, so a token in a short row counts "
          "more than one in a long row.",
          "One row has 1 label, another has 9. What fraction of the loss should the single label contribute?",
          edit(_LOSS,
               "torch.stack([F.cross_entropy(x, y, ignore_index=PAD) for x, y in zip(logits, labels) if y.any()]).mean()")),
    wrong("mean_of_rows_by_hand",
          "You averaged within each row first and then over rows, so a token in a short row counts more than one in a "
          "long row, and a row without a real label makes everything NaN.",
          "One row has 1 label, another has 9. What fraction of the loss should the single label contribute?",
          edit(f"return {_LOSS}", """
              real = labels != PAD
              nats = F.cross_entropy(logits.mT, labels, reduction="none") * real
              return (nats.sum(dim=1) / real.sum(dim=1)).mean()
              """)),
    wrong("empty_row_is_nan",
          "A row without a real label makes the whole loss NaN.",
          "What is the mean of no numbers, and what is 0 times that?",
          edit(_LOSS,
               "sum(F.cross_entropy(x, y, ignore_index=PAD) * (y != PAD).sum() for x, y in zip(logits, labels)) / (labels != PAD).sum()"),
          tests="no real token"),
    wrong("mean_of_columns",
          "You averaged the rows at each position first and then the positions, so positions where most rows have "
          "ended count too much.",
          "Do all real tokens of the batch count equally in your loss?",
          edit(_LOSS,
               "torch.stack([F.cross_entropy(logits[:, t], labels[:, t], ignore_index=PAD) for t in range(labels.size(1)) if (labels[:, t] != PAD).any()]).mean()")),
    wrong("sum",
          "You added up the losses and did not divide, so the loss grows with the batch.",
          "Does the task ask for a sum or a mean?",
          edit("ignore_index=PAD)", "ignore_index=PAD, reduction='sum')")),
    wrong("sum_over_batch",
          "You divided by the number of rows, not of tokens.",
          "What should the mean be taken over?",
          edit("ignore_index=PAD)", "ignore_index=PAD, reduction='sum') / len(labels)")),
    wrong("softmax_first",
          "Softmax is applied twice: `F.cross_entropy` takes logits and applies its own.",
          "What does `F.cross_entropy` expect: probabilities or logits?",
          edit("logits.flatten(0, 1)", "logits.softmax(-1).flatten(0, 1)")),
    wrong("no_softmax",
          "You treat the logits themselves as log-probabilities.",
          "What do the exponentials of log-probabilities sum to? And those of your logits?",
          edit("F.cross_entropy(", "F.nll_loss(")),
    wrong("log_missing",
          "Your loss is a mean of negative probabilities: the logarithm is missing.",
          "Can your loss ever be larger than zero?",
          edit(_LOSS, "F.nll_loss(logits.softmax(-1).flatten(0, 1), labels.flatten(), ignore_index=PAD)")),
    wrong("sign",
          "The sign is wrong: your loss becomes smaller as the model gets worse.",
          r"Is $\log p$ positive or negative?",
          edit("return F", "return -F")),
    wrong("reshaped_classes",
          "You moved the classes to dimension 1 with `view` or `reshape`, which scrambles the entries.",
          "Which operation moves a dimension without mixing the entries?",
          edit(_LOSS,
               "F.cross_entropy(logits.reshape(logits.size(0), logits.size(2), logits.size(1)), labels, ignore_index=PAD)")),
    wrong("transposed_flat",
          "Logits and labels are flattened in different orders, so most labels meet the logits of a different "
          "position.",
          "Which label belongs to row 1 of your flat logits?",
          edit("labels.flatten()", "labels.T.flatten()")),
    wrong("classes_in_the_middle",
          "`F.cross_entropy` expects the classes in dimension 1, where your logits have the positions.",
          "In which dimension are the classes of `(B, L, V)`?",
          edit(_LOSS, "F.cross_entropy(logits, labels, ignore_index=PAD)")),
    wrong("softmax_over_positions",
          "Your probabilities sum to one over positions, not over tokens.",
          "Which dimension holds the vocabulary?",
          edit(_LOSS, "F.nll_loss(logits.log_softmax(1).flatten(0, 1), labels.flatten(), ignore_index=PAD)")),
    wrong("softmax_by_hand",
          "Your softmax overflows for huge logits.",
          "What is `exp(300)` in float32?",
          edit(_LOSS,
               "F.nll_loss((logits.exp() / logits.exp().sum(-1, keepdim=True)).log().flatten(0, 1), labels.flatten(), ignore_index=PAD)")),
    wrong("epsilon",
          "A small number is added inside the logarithm. It hides both the loss and the gradient of very wrong "
          "answers.",
          "With your code, what is the largest loss of a token, and what should it be for a logit difference of 300?",
          edit(_LOSS,
               "F.nll_loss((logits.softmax(-1) + 1e-8).log().flatten(0, 1), labels.flatten(), ignore_index=PAD)")),
    wrong("base_two",
          "You used the base-2 logarithm instead of the natural one.",
          "By which factor is your loss too large?",
          edit("return F", "return 1 / math.log(2) * F")),
    wrong("smoothed",
          "Label smoothing is on: the right token gets less than the full weight.",
          "With your code, what is the loss of a model that is right and certain?",
          edit("ignore_index=PAD)", "ignore_index=PAD, label_smoothing=0.1)")),
    wrong("eos_ignored",
          "You ignore EOS instead of PAD.",
          "What is the id of padding, and how would the model learn to stop?",
          edit("ignore_index=PAD", "ignore_index=EOS")),
    wrong("specials_ignored",
          "You ignore all special tokens, even EOS, so the model is never taught to stop.",
          "Which of the special tokens stands for no token at all?",
          edit(_LOSS, "F.cross_entropy(logits[labels >= FIRST], labels[labels >= FIRST])"),
          edit("return ", "labels = labels * (labels >= FIRST); return ", name="specials_are_padding")),
    wrong("detached",
          "No gradient reaches the logits.",
          "What do `detach`, `item` and `torch.no_grad` do to a gradient?",
          edit(_LOSS, "F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD).detach()")),
    wrong("number",
          "Your loss is a Python number; it has forgotten where it came from.",
          "What would you call `backward` on?",
          edit(_LOSS, "F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD).item()")),
    wrong("not_reduced",
          "You return one loss per position instead of a single number.",
          "What remains to be done with the losses of the real labels?",
          edit("ignore_index=PAD)", "ignore_index=PAD, reduction='none')"), tests="gradients"),
    wrong("perplexity",
          "This is the perplexity, the exponential of the loss.",
          "What is the loss of a model that is always right and certain: 0 or 1?",
          edit(_LOSS, "F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD).exp()")),
    wrong("until_the_first_pad",
          "Each row counts only up to its first PAD.",
          "Does a label after a PAD have to be padding?",
          edit(_LOSS, "F.cross_entropy(logits[labels.cumprod(1) > 0], labels[labels.cumprod(1) > 0])")),
    wrong("view",
          "Your code fails for labels that are a slice of another tensor, such as `target[:, 1:]`.",
          "Which operation needs contiguous memory, and which one does the same without it?",
          edit("labels.flatten()", "labels.view(-1)")),
]

ACCEPTED = [
    right("transposed", edit(_LOSS, "F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=PAD)")),
    right("selected", edit(_LOSS, "F.cross_entropy(logits[labels != PAD], labels[labels != PAD])")),
    right("by_hand", source("""
        def masked_loss(logits, labels):
            price = torch.logsumexp(logits, -1) - logits.gather(
                -1, labels.unsqueeze(-1)).squeeze(-1)
            real = (labels != PAD).to(price.dtype)
            return (price * real).sum() / real.sum()
        """)),
    right("loops", source("""
        def masked_loss(logits, labels):
            total, count = 0.0, 0
            for row, wanted in zip(logits, labels):
                for scores, label in zip(row, wanted):
                    if label != PAD:
                        total = total - F.log_softmax(scores, dim=0)[label]
                        count += 1
            return total / count
        """)),
    right("one_hot",
          edit(_LOSS,
               "-(F.log_softmax(logits, -1) * F.one_hot(labels, logits.size(-1)))[labels != PAD].sum(-1).mean()")),
    right("weights", source("""
        def masked_loss(logits, labels):
            weight = torch.ones(logits.size(-1), dtype=logits.dtype)
            weight[PAD] = 0
            return F.cross_entropy(logits.reshape(-1, logits.size(-1)), labels.reshape(-1), weight=weight)
        """)),
    right("module", edit(_LOSS, "nn.CrossEntropyLoss(ignore_index=0)(logits.permute(0, 2, 1), labels)")),
]

EXERCISE = Specification(
    contract=Contract(ways=(), sizes=special(one_row=_scores((6,), 7), one_label_each=_scores((1, 1, 1, 1), 8))),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
