"""Cases and mistakes for an exercise: a loss that ignores padding."""

from __future__ import annotations

from typing import Any

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification
from transformer_course.sequence_reversal.exercises._inputs import draw_labels


def _draw_rows(*lengths: int, V: int, **options: Any) -> Any:
    """Return the sizes from which the build draws a batch of logits and labels.

    ``lengths`` are the numbers of labels in the rows; ``options`` are for `sizes`.
    """

    def draw_padded(draw: Draw) -> Any:
        return draw_labels(draw, lengths, V)

    return sizes(B=len(lengths), L=max(lengths), V=V, labels=draw_padded, **options)


_LABELS = "labels.flatten()"
_LOSS = "F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD)"
_PADDED = ", ignore_index=PAD)"

CASES = [
    case("gaps", "PAD before, between and after labels", sizes(B=4, L=5, V=7, below=7),
         "All labels other than PAD count, wherever they are."),
    case("three_rows", "rows with 5, 2 and 1 labels", _draw_rows(5, 2, 1, V=7),
         "Compute the loss of one label by hand, then average over the real labels only."),
    case("no_padding", "no padding at all", _draw_rows(4, 4, V=9),
         "Without padding the loss is the plain mean over all positions."),
    case("mostly_padding", "mostly padding, and one row of nothing else", _draw_rows(8, 1, 0, 1, V=6),
         "All real labels count equally, in short rows and in long ones."),
    case("huge", "huge logits", _draw_rows(3, 5, 2, V=8, scale=300.0),
         "The logarithm of a softmax needs the same care as the softmax of unit 2.", atol=1e-3),
    case("large_vocabulary", "a large vocabulary, and a row of 70 labels", _draw_rows(2, 6, 70, 3, 1, V=19),
         "The same again, with more classes and more columns.", hidden_only=True),
]

MISTAKES = [
    wrong("padding_counts", "Padding counts: the loss of predicting PAD is part of your mean.",
          "Which labels of the second row are real?",
          edit(_PADDED, ")")),
    wrong("divided_wrongly", "The losses are added up, but not divided by the number of real tokens.",
          "How many losses did you add up, and by how many did you divide?",
          edit(_PADDED, ", ignore_index=PAD, reduction='none').mean()"),
          edit(_PADDED, ", ignore_index=PAD, reduction='sum')", name="sum"),
          edit(_PADDED, ", ignore_index=PAD, reduction='sum') / len(labels)", name="divided_by_rows")),
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
          edit(f"return {_LOSS}", """
              losses = [F.cross_entropy(x, y, ignore_index=PAD) for x, y in zip(logits, labels) if y.any()]
              return torch.stack(losses).mean()
              """, name="mean_of_filled_rows"),
          edit(f"return {_LOSS}", """
              real = labels != PAD
              nats = F.cross_entropy(logits.mT, labels, reduction="none") * real
              return (nats.sum(dim=1) / real.sum(dim=1)).mean()
              """, name="mean_of_rows_by_hand"),
          edit(f"return {_LOSS}", """
              real = labels != PAD
              nats = F.cross_entropy(logits.mT, labels, reduction="none") * real
              return (nats.sum(dim=1) / real.sum(dim=1).clamp(min=1)).mean()
              """, name="empty_rows_count_as_zero"), tests="weight"),
    wrong("empty_row_is_nan", "A row without a real label makes the whole loss NaN.",
          "What is the mean of no numbers, and what is 0 times that?",
          edit(f"return {_LOSS}", """
              real = (labels != PAD).sum(dim=1)
              means = [F.cross_entropy(x, y, ignore_index=PAD) for x, y in zip(logits, labels)]
              return (torch.stack(means) * real).sum() / real.sum()
              """), tests="no real token"),
    wrong("mean_of_columns",
          "You averaged the rows at each position first and then the positions, so positions where most rows have "
          "ended count too much.",
          "Do all real tokens of the batch count equally in your loss?",
          edit(f"return {_LOSS}", """
              pairs = zip(logits.unbind(1), labels.unbind(1))
              return torch.stack([F.cross_entropy(x, y, ignore_index=PAD) for x, y in pairs if y.any()]).mean()
              """)),
    wrong("softmax_first", "Softmax is applied twice: `F.cross_entropy` takes logits and applies its own.",
          "What does `F.cross_entropy` expect: probabilities or logits?",
          edit("logits.flatten(0, 1)", "logits.softmax(-1).flatten(0, 1)")),
    wrong("no_softmax", "You treat the logits themselves as log-probabilities.",
          "What do the exponentials of log-probabilities sum to? And those of your logits?",
          edit("F.cross_entropy(", "F.nll_loss(")),
    wrong("log_missing", "Your loss is a mean of negative probabilities: the logarithm is missing.",
          "Can your loss ever be larger than zero?",
          edit("F.cross_entropy(logits", "F.nll_loss(logits.softmax(-1)")),
    wrong("sign", "The sign is wrong: your loss becomes smaller as the model gets worse.",
          r"Is $\log p$ positive or negative?",
          edit("return F", "return -F")),
    wrong("misaligned",
          "Most labels meet the logits of a different position: a `view` or `reshape` scrambled the entries, or logits "
          "and labels are flattened in different orders.",
          "Which operation moves a dimension without mixing the entries, and which label belongs to row 1 of your flat "
          "logits?",
          edit("logits.flatten(0, 1), labels.flatten()", "logits.reshape(len(logits), logits.size(2), -1), labels"),
          edit(_LABELS, "labels.T.flatten()", name="transposed_flat")),
    wrong("classes_in_the_middle",
          "`F.cross_entropy` expects the classes in dimension 1, where your logits have the positions.",
          "In which dimension are the classes of `(B, L, V)`?",
          edit("logits.flatten(0, 1), labels.flatten()", "logits, labels")),
    wrong("softmax_over_positions", "Your probabilities sum to one over positions, not over tokens.",
          "Which dimension holds the vocabulary?",
          edit("F.cross_entropy(logits", "F.nll_loss(logits.log_softmax(1)")),
    wrong("softmax_by_hand", "Your softmax overflows for huge logits.",
          "What is `exp(300)` in float32?",
          edit("F.cross_entropy(logits", "F.nll_loss((logits.exp() / logits.exp().sum(-1, keepdim=True)).log()")),
    wrong("epsilon",
          "A small number is added inside the logarithm. It hides both the loss and the gradient of very wrong "
          "answers.",
          "With your code, what is the largest loss of a token, and what should it be for a logit difference of 300?",
          edit("F.cross_entropy(logits", "F.nll_loss((logits.softmax(-1) + 1e-8).log()")),
    wrong("base_two", "You used the base-2 logarithm instead of the natural one.",
          "By which factor is your loss too large?",
          edit("return F", "return 1 / math.log(2) * F")),
    wrong("eos_ignored",
          "You ignore EOS, so the model is never taught to stop. Of the special tokens only PAD stands for no token.",
          "What is the id of padding, and which labels do you leave out?",
          edit("=PAD", "=EOS"),
          edit(_LOSS, "F.cross_entropy(logits[labels >= FIRST], labels[labels >= FIRST])", name="specials_ignored"),
          edit("return ", "labels = labels * (labels >= FIRST); return ", name="specials_are_padding")),
    wrong("detached", "No gradient reaches the logits: there is a `detach`, an `item` or a `no_grad` on the way.",
          "What would you call `backward` on, and does it remember where it came from?",
          edit(_PADDED, ", ignore_index=PAD).detach()"),
          edit(_PADDED, ", ignore_index=PAD).item()", name="number")),
    wrong("not_reduced", "You return one loss per position instead of a single number.",
          "What remains to be done with the losses of the real labels?",
          edit(_PADDED, ", ignore_index=PAD, reduction='none')"), tests="gradients"),
    wrong("perplexity", "This is the perplexity, the exponential of the loss.",
          "What is the loss of a model that is always right and certain: 0 or 1?",
          edit(_PADDED, ", ignore_index=PAD).exp()")),
    wrong("until_the_first_pad", "Each row counts only up to its first PAD.",
          "Does a label after a PAD have to be padding?",
          edit(_LABELS, "(labels * (labels.cumprod(1) > 0)).flatten()")),
    wrong("view", "Your code fails for labels that are a slice of another tensor, such as `target[:, 1:]`.",
          "Which operation needs contiguous memory, and which one does the same without it?",
          edit(_LABELS, "labels.view(-1)")),
]

ACCEPTED = [
    right("transposed", edit(_LOSS, "F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=PAD)")),
    right("selected", edit(_LOSS, "F.cross_entropy(logits[labels != PAD], labels[labels != PAD])")),
    right("by_hand", source("""
        def masked_loss(logits, labels):
            price = torch.logsumexp(logits, -1) - logits.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
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
]

EXERCISE = Specification(
    tells={
        "large_vocabulary": "mean_of_columns",
        "property_sizes": "mean_of_rows mean_of_filled_rows mean_of_rows_by_hand mean_of_columns",
    },
    results="the loss", fixed="V", cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
