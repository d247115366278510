"""How unsure a model is about a text."""

from __future__ import annotations

import torch.nn.functional as F

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.sequence_reversal.exercises._inputs import PAD, padded


def _batches(lengths: tuple[tuple[int, ...], ...], vocabulary: int, sure: float = 3.0, gaps: int = 0) -> Maker:
    """Batches with rows of these numbers of labels, each easier than the last, beginning anew after five.

    With ``gaps``, every so many places there is PAD between labels, too.
    """

    def make_inputs(draw: Draw) -> Inputs:
        inputs: Inputs = {}
        for n, rows in enumerate(lengths):
            label_rows = [draw.ids(1, vocabulary, length).tolist() for length in rows]
            labels = padded(label_rows, width=2)
            if gaps:
                labels[:, 1::gaps] = PAD
            logits = draw.tensor(*labels.shape, vocabulary, scale=sure)
            easier = 1.5 * (n % 5) * F.one_hot(labels, vocabulary).float()
            inputs |= {f"logits {n}": logits + easier, f"labels {n}": labels}
        return inputs

    return make_inputs


_ADDED = "total += float(masked_loss(logits, labels)) * real"
_RESULT = "return total / count, math.exp(total / count)"

CASES = [
    case("one_batch", "one batch without padding", _batches(((4, 4, 4),), 6),
         "The mean of -log p over all labels, and e to the power of that."),
    case("padding", "two batches, rows with 7, 0, 2 and 1 labels, and with 5 and 3",
         _batches(((7, 0, 2, 1), (5, 3)), 9),
         "PAD is not a token: leave it out of both the sum and the count. A row that holds nothing else does not affect "
         "the others."),
    case("batches", "three batches of very different sizes", _batches(((8, 8, 6, 7), (1,), (2, 1)), 8),
         "All real tokens of all batches count equally."),
    case("only_padding", "three batches, one of nothing but padding", _batches(((4, 2), (0, 0, 0), (3,)), 9),
         "A batch without a real label contributes nothing, neither to the sum nor to the count."),
    case("gaps", "two batches, with PAD between labels", _batches(((7, 5), (4, 8, 6)), 8, gaps=3),
         "A label that is not PAD counts, wherever it is."),
    case("unsure", "two batches of a model that is often wrong and sure of it", _batches(((3, 1), (6, 5, 2)), 7, sure=8.0),
         "Take the exponential last, of the mean loss."),
    case("hopeless", "a model that is nearly always wrong, and very sure", _batches(((4, 1), (6,)), 7, sure=70.0),
         "The loss of a token may be large: it is not capped at 20 nats."),
    case("many", "25 batches", _batches(((2, 9), (5, 0), (1, 1, 3), (10, 4, 4, 2), (6,), *((3, 1), (2,)) * 10), 13),
         "The same again, with more batches.", hidden_only=True),
]

MISTAKES = [
    wrong("mean_of_batches",
          "You averaged the batch means, so a token in a small batch counts more than one in a large batch.",
          "How many tokens is each of these averages taken over?",
          edit("int((labels != PAD).sum())", "int((labels != PAD).any())"), tests="weight"),
    wrong("mean_with_empty_batches",
          "You averaged the batch means, so a token in a small batch counts more; and a batch without a real label "
          "counts as a mean of 0.",
          "How many tokens is each of these averages taken over?",
          edit(_ADDED, "total += float(masked_loss(logits, labels))", "count += real", "count += 1")),
    wrong("mean_of_all_batches",
          "You averaged the batch means, but a batch without a real label has none: it is NaN.",
          "How many tokens is each of these averages taken over?",
          edit("if real:", "if True:",
               _ADDED, "total += float(masked_loss(logits, labels))",
               "count += real", "count += 1")),
    wrong("nan_of_an_empty_batch",
          "A batch without a real label makes everything NaN: its mean is 0/0, and NaN times 0 is NaN.",
          "What should such a batch contribute?",
          edit("if real:", "if True:")),
    wrong("mean_of_rows",
          "You averaged over rows, so a token in a short row counts more than one in a long row.",
          "What should the mean be taken over?",
          edit(_ADDED, "total += float(sum(masked_loss(x[None], y[None]) for x, y in zip(logits, labels)))",
               "count += real", "count += len(labels)")),
    wrong("weighted_by_rows",
          "Each batch mean is weighted by its number of rows, not of real tokens.",
          "What must the mean of a batch be multiplied by to give its sum?",
          edit("real = int((labels != PAD).sum())", "real = len(labels)")),
    wrong("weighted_by_places",
          "Each batch mean is weighted by all its positions, padding included.",
          "How many labels of a padded batch are real?",
          edit("real = int((labels != PAD).sum())", "real = labels.numel() * bool((labels != PAD).any())")),
    wrong("weighted_by_all_places",
          "Each batch mean is weighted by all its positions, padding included, so a batch without a real label makes "
          "everything NaN.",
          "How many labels of a padded batch are real?",
          edit("real = int((labels != PAD).sum())", "real = labels.numel()")),
    wrong("padding_counts",
          "Padding counts: its loss is part of your mean.",
          "Which labels are real tokens?",
          edit("real = int((labels != PAD).sum())", "real = labels.numel()",
               "masked_loss(logits, labels)", "F.cross_entropy(logits.flatten(0, 1), labels.flatten())")),
    wrong("until_the_first_pad",
          "Tokens that come after a PAD are not counted, even though they are real.",
          "Which labels does the docstring leave out?",
          edit("real = int((labels != PAD).sum())", """
              labels = labels.masked_fill((labels == PAD).cumsum(1) > 0, PAD)
              real = int((labels != PAD).sum())
              """,
               _ADDED, "total += float(masked_loss(logits, labels)) * real if real else 0.0")),
    wrong("empty_row_skips_batch",
          "A batch is skipped as a whole if one of its rows is empty.",
          "Which tokens do you lose together with that row?",
          edit("for logits, labels in batches:", """
              for logits, labels in batches:
                  if (labels == PAD).all(dim=1).any():
                      continue
              """)),
    wrong("as_many_as_real",
          "From each row you took the first n positions, where n is its number of real tokens.",
          "Which labels does the docstring leave out?",
          source("""
              def perplexity(batches):
                  total, count = 0.0, 0
                  for logits, labels in batches:
                      for scores, row in zip(logits, labels, strict=True):
                          real = int((row != PAD).sum())
                          total += float(F.cross_entropy(scores[:real], row[:real], reduction="sum"))
                          count += real
                  return total / count, math.exp(total / count)
              """)),
    wrong("divided_by_places",
          "The losses of the real tokens are added up, but divided by the number of all positions.",
          "How many tokens did you add up, and by how many do you divide?",
          edit("count += real", "count += labels.numel()")),
    wrong("mean_of_exponentials",
          "You took the mean of the batches' perplexities. The exponential of a mean is not the mean of the "
          "exponentials.",
          "In which order do mean and exponential come in the formula?",
          edit("total, count = 0.0, 0", "total, count, powers = 0.0, 0, 0.0",
               _ADDED, """
              total += float(masked_loss(logits, labels)) * real
              powers += math.exp(float(masked_loss(logits, labels))) * real
              """,
               _RESULT, "return total / count, powers / count")),
    wrong("mean_of_token_exponentials",
          "You took the exponential of each token's loss, and then the mean.",
          "In which order do mean and exponential come in the formula?",
          edit("total, count = 0.0, 0", "total, count, powers = 0.0, 0, 0.0",
               _ADDED, """
              price = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD, reduction="none")
              total += float(price.sum())
              powers += float(price.exp().sum()) - (labels == PAD).sum().item()
              """,
               _RESULT, "return total / count, powers / count")),
    wrong("sum_not_mean",
          "The first number is a sum, not a mean.",
          "Is that the loss of one token, or of all of them?",
          edit(_RESULT, "return total, math.exp(total / count)")),
    wrong("both_of_the_sum",
          "Both numbers come from the sum of all losses: it is not divided by the number of tokens.",
          "Where do you divide, and by what? If you count in a second loop: a generator that has been read is empty.",
          edit(_RESULT, "return total, float(torch.tensor(total).exp())")),
    wrong("bits",
          "The first number is in bits: it uses the base-2 logarithm.",
          "Which logarithm gives nats?",
          edit(_RESULT, "return total / count / math.log(2), math.exp(total / count)")),
    wrong("two_to_the_nats",
          "The perplexity is 2 to the power of nats: base and logarithm do not match.",
          "Which power undoes the natural logarithm?",
          edit("math.exp(total / count)", "2 ** (total / count)")),
    wrong("swapped",
          "The two numbers are swapped.",
          "Which one does the docstring name first?",
          edit(_RESULT, "return math.exp(total / count), total / count")),
    wrong("only_nats",
          "You return only the mean loss; its exponential is missing.",
          "How many numbers should you return?",
          edit(_RESULT, "return total / count")),
    wrong("no_exponential",
          "The second number is the same as the first: the exponential is missing.",
          "What is the perplexity of a fair six-sided die?",
          edit("math.exp(total / count)", "total / count")),
    wrong("sign",
          "The sign is wrong: a good model gets a large perplexity.",
          "Is the logarithm of a probability positive or negative?",
          edit(_RESULT, "return -total / count, math.exp(-total / count)")),
    wrong("sign_in_the_power",
          "The exponent has the wrong sign: you get a mean probability, below 1.",
          "How small can a perplexity be?",
          edit(_RESULT, "return total / count, math.exp(-total / count)")),
    wrong("last_batch",
          "Only the last batch counts.",
          "What happens to `total` when the next batch comes?",
          edit(_ADDED, "total = float(masked_loss(logits, labels)) * real", "count += real", "count = real")),
    wrong("first_batch",
          "Only the first batch counts.",
          "How many times does your loop run?",
          edit("count += real", """
              count += real
              break
              """)),
    wrong("twice_through",
          "You go through the batches twice, but a generator is empty the second time.",
          "What does a second `for` find in a generator?",
          edit("for logits, labels in batches:", """
              count = sum(int((labels != PAD).sum()) for _, labels in batches)
              for logits, labels in batches:
              """,
               "count += real", "pass"), tests="generator"),
    wrong("probabilities",
          "The loss of a token is 1 - p or -p, not -log p.",
          "What is the loss of a token with probability 0.001?",
          edit("float(masked_loss(logits, labels))",
               "float(F.nll_loss(logits.softmax(-1).flatten(0, 1), labels.flatten(), ignore_index=PAD))")),
    wrong("greedy_price",
          "You measured the loss of the model's favourite token, not of the one in the text.",
          "Where do the labels enter your loss?",
          edit("masked_loss(logits, labels)",
               "masked_loss(logits, logits[..., 1:].argmax(-1).add(1).masked_fill(labels == PAD, PAD))")),
    wrong("tensors",
          "You return tensors, not floats.",
          "Which method turns a one-element tensor into a float?",
          edit(_RESULT, "return torch.tensor(total / count), torch.tensor(total / count).exp()")),
    wrong("bounded",
          "Your perplexity never exceeds e to the power of 20.",
          "How unsure may a model be?",
          edit("math.exp(total / count)", "math.exp(min(total / count, 20.0))")),
    wrong("bounded_prices",
          "No token has a loss above about 20 nats: a small number is added to its probability, or replaces it.",
          "Which function gives the logarithm of a softmax directly?",
          edit(_ADDED,
               "total -= float((logits.softmax(-1) + 1e-9).gather(-1, labels[..., None])[labels != PAD].log().sum())")),
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
    right("summed",
          edit(_ADDED,
               'total += F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD, reduction="sum").item()')),
]

EXERCISE = Specification(
    aspects={"perplexity": 3.0},  # one of two results
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
