"""Cases and mistakes for an exercise: the perplexity of a text under a model."""

from __future__ import annotations

import torch.nn.functional as F

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.sequence_reversal.exercises._inputs import PAD, draw_labels


def _draw_batches(*lengths: tuple[int, ...], vocabulary: int, sure: float = 3.0, gaps: int = 0) -> Maker:
    """Make a function that draws batches of logits and labels.

    ``lengths`` are the numbers of labels in each batch's rows, and ``sure`` is the
    scale of the logits. Every ``gaps``-th label is PAD; 0 means none.
    """

    def make_inputs(draw: Draw) -> Inputs:
        inputs: Inputs = {}
        for n, rows in enumerate(lengths):
            labels = draw_labels(draw, rows, vocabulary)
            labels = F.pad(labels, (0, int(not any(rows))), value=PAD)  # at least one column
            if gaps:
                labels[:, 1::gaps] = PAD
            inputs |= {f"logits {n}": draw.tensor(*labels.shape, vocabulary, scale=sure), f"labels {n}": labels}
        return inputs

    return make_inputs


_MEAN = "masked_loss(logits, labels)"
_ADDED = f"total += float({_MEAN}) * real"
_REAL = "real = int((labels != PAD).sum())"
_COUNTED = "count += real"
_POWER = "math.exp(total / count)"
_RESULT = f"return total / count, {_POWER}"

CASES = [
    case("one_batch", "one batch without padding", _draw_batches((4, 4, 4), vocabulary=6),
         "The mean of -log p over all labels, and e to the power of that."),
    case("padding", "two batches, rows with 7, 0, 2 and 1 labels, and with 5 and 3",
         _draw_batches((7, 0, 2, 1), (5, 3), vocabulary=9),
         "PAD is not a token: leave it out of both the sum and the count. A row of nothing else does not affect the "
         "others."),
    case("batches", "three batches of very different sizes", _draw_batches((8, 8, 6, 7), (1,), (2, 1), vocabulary=8),
         "All real tokens of all batches count equally."),
    case("only_padding", "three batches, one of nothing but padding", _draw_batches((4, 2), (0, 0, 0), (3,), vocabulary=9),
         "A batch without a real label contributes nothing, neither to the sum nor to the count.", aspect="limits"),
    case("gaps", "two batches, with PAD between labels", _draw_batches((7, 5), (4, 8, 6), vocabulary=8, gaps=3),
         "A label that is not PAD counts, wherever it is."),
    case("unsure", "two batches of a model that is often wrong and sure of it",
         _draw_batches((3, 1), (6, 5, 2), vocabulary=7, sure=8.0),
         "Take the exponential last, of the mean loss."),
    case("hopeless", "a model that is nearly always wrong, and very sure",
         _draw_batches((4, 1), (6,), vocabulary=7, sure=70.0),
         "The loss of a token may be large: it is not capped at 20 nats."),
    case("many", "25 batches",
         _draw_batches((2, 9), (5, 0), (1, 1, 3), (10, 4, 4, 2), (6,), *((3, 1), (2,)) * 10, vocabulary=13),
         "The same again, with more batches.", hidden_only=True),
]

MISTAKES = [
    wrong("mean_of_batches",
          "You averaged the batch means, so a token in a small batch counts more than one in a large batch.",
          "How many tokens is each of these averages taken over?",
          edit("(labels != PAD).sum()", "(labels != PAD).any()"),
          edit(_ADDED, f"total += float({_MEAN})", _COUNTED, "count += 1", name="mean_with_empty_batches"),
          edit("if real:", "if True:", _ADDED, f"total += float({_MEAN})", _COUNTED, "count += 1",
               name="mean_of_all_batches"), tests="weight"),
    wrong("nan_of_an_empty_batch",
          "A batch without a real label makes everything NaN: its mean is 0/0, and NaN times 0 is NaN.",
          "What should such a batch contribute?",
          edit("if real:", "if True:")),
    wrong("weighted_by_rows", "You weigh by the number of rows, not of real tokens.",
          "What must a mean be multiplied by to give its sum, and how many tokens does a short row have?",
          edit(_REAL, "real = len(labels)"),
          edit(_ADDED, "total += float(sum(masked_loss(x[None], y[None]) for x, y in zip(logits, labels)))",
               _COUNTED, "count += len(labels)", name="mean_of_rows")),
    wrong("weighted_by_places", "You multiply or divide by the number of all positions, padding included.",
          "How many labels of a padded batch are real?",
          edit(_REAL, "real = labels.numel() * bool((labels != PAD).any())"),
          edit(_REAL, "real = labels.numel()", name="weighted_by_all_places"),
          edit(_COUNTED, "count += labels.numel()", name="divided_by_places")),
    wrong("padding_counts", "Padding counts: its loss is part of your mean.",
          "Which labels are real tokens?",
          edit(_REAL, "real = labels.numel()", _MEAN, "F.cross_entropy(logits.flatten(0, 1), labels.flatten())")),
    wrong("start_of_rows", "You look only at the start of each row, but real tokens may also come after a PAD.",
          "Which labels does the docstring leave out?",
          edit(_REAL, """
              labels = labels.masked_fill((labels == PAD).cumsum(1) > 0, PAD)
              real = int((labels != PAD).sum())
              """, name="until_the_first_pad"),
          edit(_REAL, """
              first = torch.arange(labels.size(1)) < (labels != PAD).sum(1, keepdim=True)
              logits, labels = logits[first][None], labels[first][None]
              real = labels.numel()
              """, _MEAN, "F.cross_entropy(logits[0], labels[0])", name="as_many_as_real")),
    wrong("empty_row_skips_batch", "A batch is skipped as a whole if one of its rows is empty.",
          "Which tokens do you lose together with that row?",
          edit("for logits, labels in batches:", """
              for logits, labels in batches:
                  if (labels == PAD).all(dim=1).any():
                      continue
              """)),
    wrong("mean_of_exponentials",
          "You took the exponential before the mean, of each batch or each token. The exponential of a mean is not the "
          "mean of the exponentials.",
          "In which order do mean and exponential come in the formula?",
          edit("total, count = 0.0, 0", "total, count, powers = 0.0, 0, 0.0",
               _ADDED, """
              total += float(masked_loss(logits, labels)) * real
              powers += math.exp(float(masked_loss(logits, labels))) * real
              """,
               _RESULT, "return total / count, powers / count"),
          edit("total, count = 0.0, 0", "total, count, powers = 0.0, 0, 0.0",
               _ADDED, """
              price = F.cross_entropy(logits[labels != PAD], labels[labels != PAD], reduction="none")
              total += float(price.sum())
              powers += float(price.exp().sum())
              """,
               _RESULT, "return total / count, powers / count", name="mean_of_token_exponentials")),
    wrong("sum_not_mean", "A sum of losses is not divided by the number of tokens.",
          "Is that the loss of one token, or of all of them? If you count in a second loop: a generator that has been "
          "read is empty.",
          edit(_RESULT, f"return total, {_POWER}"),
          edit(_RESULT, "return total, float(torch.tensor(total).exp())", name="both_of_the_sum")),
    wrong("bits",
          "Base 2 and the natural logarithm are mixed up: the first number should be in nats, and the second e to "
          "the power of it.",
          "Which logarithm gives nats, and which power undoes it?",
          edit("return total / count", "return total / count / math.log(2)"),
          edit(_POWER, "2 ** (total / count)", name="two_to_the_nats")),
    wrong("swapped", "The two numbers are swapped.",
          "Which one does the docstring name first?",
          edit(_RESULT, f"return {_POWER}, total / count")),
    wrong("no_exponential", "The exponential of the mean loss is missing.",
          "How many numbers should you return, and what is the perplexity of a fair six-sided die?",
          edit(_POWER, "total / count"),
          edit(_RESULT, "return total / count", name="only_nats")),
    wrong("sign", "The exponent has the wrong sign: you get a mean probability, below 1.",
          "Is the logarithm of a probability positive or negative, and how small can a perplexity be?",
          edit(_RESULT, "return -total / count, math.exp(-total / count)"),
          edit(_POWER, "math.exp(-total / count)", name="sign_in_the_power")),
    wrong("one_of_the_batches", "Only the first or the last batch counts.",
          "How many times does your loop run, and what happens to `total` when the next batch comes?",
          edit(_ADDED, f"total = float({_MEAN}) * real", _COUNTED, "count = real", name="last_batch"),
          edit(_COUNTED, """
              count += real
              break
              """, name="first_batch")),
    wrong("twice_through", "You go through the batches twice, but a generator is empty the second time.",
          "What does a second `for` find in a generator?",
          edit("for logits, labels in batches:", """
              count = sum(int((labels != PAD).sum()) for _, labels in batches)
              for logits, labels in batches:
              """,
               _COUNTED, "pass"), tests="generator"),
    wrong("probabilities", "The loss of a token is 1 - p or -p, not -log p.",
          "What is the loss of a token with probability 0.001?",
          edit(_MEAN, "F.nll_loss(logits.softmax(-1).flatten(0, 1), labels.flatten(), ignore_index=PAD)")),
    wrong("tensors", "You return tensors, not floats.",
          "Which method turns a one-element tensor into a float?",
          edit(_RESULT, "return torch.tensor(total / count), torch.tensor(total / count).exp()")),
    wrong("bounded",
          "Large losses are capped at about 20 nats: the exponent is bounded, or a small number is added to the "
          "probability of a token, or replaces it.",
          "How unsure may a model be, and which function gives the logarithm of a softmax directly?",
          edit(_POWER, "math.exp(min(total / count, 20.0))"),
          edit(_MEAN, "F.nll_loss((logits.softmax(-1) + 1e-9).log().flatten(0, 1), labels.flatten(), ignore_index=PAD)",
               name="bounded_prices")),
]

ACCEPTED = [
    right("collected", source("""
        def perplexity(batches):
            prices = []
            for logits, labels in batches:
                real = labels != PAD
                price = F.cross_entropy(logits[real], labels[real], reduction="none")
                prices.append(price)
            nats = torch.cat(prices).double().mean()
            return nats.item(), nats.exp().item()
        """)),
    right("by_hand", source("""
        def perplexity(batches):
            total, count = 0, 0
            for logits, labels in batches:
                log_p = logits.log_softmax(-1).gather(-1, labels.unsqueeze(-1)).squeeze(-1)
                total -= log_p[labels != PAD].sum().item()
                count += (labels != PAD).sum().item()
            nats = total / count
            return [nats, math.e ** nats]
        """)),
    right("summed", edit(f"float({_MEAN}) * real", """
        F.cross_entropy(logits.mT, labels, ignore_index=PAD, reduction="sum").item()
        """)),
]

EXERCISE = Specification(
    tells={"unsure": "bounded_prices"},
    parts="perplexity",
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
