"""The share of the anti-diagonal."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from autograder.authoring.contract import Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification


def _map(lengths: tuple[int, ...], width: int, chance: float, top: float = 4.0, places: int | None = None) -> Maker:
    """Weights whose largest entry lies on the anti-diagonal with the given chance.

    There are so many steps as ``width``, and ``places`` in the source, or one more than
    steps. The score of the largest one is ``top``; the others' lie between -1 and 1.

    Along the other axis the largest ones lie there a different number of times.
    """

    long = width + 1 if places is None else places

    def make_inputs(draw: Draw) -> Inputs:
        sizes = torch.tensor(lengths)
        order = torch.argsort(draw.tensor(len(lengths), scale=500.0))
        sizes = sizes[order]
        steps = torch.arange(width)
        anti = (sizes[:, None] - 1 - steps) % min(width, long)  # (B, Lt), wraps at the end
        real = steps < sizes[:, None]  # (B, Lt)
        while True:
            elsewhere = draw.ids(0, long, len(lengths), width)
            hit = draw.flags(len(lengths), width, chance=chance)
            hit[0, 0], hit[-1, 1] = True, False
            place = torch.where(hit, anti, elsewhere)
            scores = draw.tensor(len(lengths), width, long, scale=1.0)
            scores.scatter_(-1, place.unsqueeze(-1), top)
            weights = scores.softmax(-1)  # (B, Lt, Ls)
            right = (weights.argmax(2) == anti)[real].sum()
            across = F.pad(weights.argmax(1), (0, width))[:, :width]
            if right != (across == anti)[real].sum():
                return {"weights": weights, "lengths": sizes}

    return make_inputs


_HITS = "(weights.argmax(dim=-1) == wanted)[wanted >= 0]"

CASES = [
    case("four_rows", "4 rows of different lengths", _map((5, 2, 7, 3), 9, 0.7),
         "Take the shortest row and mark, step by step, where it should look."),
    case("one_head", "the attention map of one head, sliced out of three",
         lambda draw: {**_map((3, 6, 4, 2), 8, 0.6)(draw), "head": "yes"},
         "A slice of a tensor need not be contiguous in memory."),
    case("mostly_elsewhere", "6 rows that mostly look elsewhere, and as many steps as source positions",
         _map((4, 6, 5, 6, 2, 3), 8, 0.3, places=8),
         "Step t belongs to symbol n - 1 - t, with its own n in each row."),
    case("equal_lengths", "3 rows of equal length", _map((6, 6, 6), 11, 0.6),
         "Padding comes after EOS: the last symbol is not in the last column."),
    case("flat", "4 rows whose largest weights are small", _map((5, 3, 6, 4), 8, 0.6, top=1.5),
         "What counts is the largest weight of each step, however small it is."),
    case("many", "12 rows, and more steps than source positions",
         _map((1, 9, 3, 8, 2, 2, 7, 5, 4, 6, 3, 9), 12, 0.8, places=10),
         "Does your code depend on the sizes?", hidden_only=True),
]

MISTAKES = [
    wrong("diagonal",
          "You look for the diagonal, which is what a copying model would show.",
          "Which symbol should the very first step look at?",
          edit("lengths.unsqueeze(1) - 1 - steps", "torch.where(steps < lengths.unsqueeze(1), steps, -1)")),
    wrong("one_too_far",
          "Your line is one position too far to the right: it starts at EOS.",
          "Counting from 0, what is the position of the last of n symbols?",
          edit(_HITS, "(weights.argmax(dim=-1) == wanted + 1)[wanted >= 0]")),
    wrong("above_one_half",
          "You count a step only if its weight on the anti-diagonal is above one half, but the largest weight may be "
          "smaller.",
          "Three symbols get 0.4, 0.3 and 0.3. Which weight is the largest?",
          edit(_HITS, "(weights.gather(-1, wanted.clamp(min=0).unsqueeze(-1)).squeeze(-1) > 0.5)[wanted >= 0]")),
    wrong("eos_counted",
          "You also count the step that writes EOS, but it belongs to no symbol.",
          "How many steps does a sequence of n symbols have, without EOS?",
          edit("[wanted >= 0]", "[wanted >= -1]"), tests="padding"),
    wrong("padding_counted",
          "You also count padding steps.",
          "How many of the steps of a short row are real?",
          edit("[wanted >= 0]", "")),
    wrong("width_for_length",
          "You measure from the end of the padded row, not from each sequence's last symbol.",
          "Is the last symbol in the same column in every row?",
          edit("lengths.unsqueeze(1) - 1 - steps",
               "torch.where(steps < lengths.unsqueeze(1), weights.size(2) - 1 - steps, -1)")),
    wrong("longest_for_all",
          "You use the length of the longest sequence for all rows.",
          "Where does `lengths` enter your formula, row by row?",
          edit("lengths.unsqueeze(1) - 1 - steps", "(lengths.max() - 1 - steps).expand(len(lengths), -1)")),
    wrong("mean_of_rows",
          "You averaged within each row first and then over rows, but all *steps* should count equally.",
          "How much does one step of a short row contribute to your result?",
          source("""
              def antidiagonal_share(weights, lengths):
                  shares = []
                  for row, n in zip(weights.argmax(-1).tolist(), lengths.tolist()):
                      shares.append(sum(row[t] == n - 1 - t for t in range(n)) / n)
                  return sum(shares) / len(shares)
              """), tests="sequences"),
    wrong("whole_rows",
          "You count sequences whose steps are all right; count single steps instead.",
          "What should the result be if each sequence has one wrong step out of ten?",
          source("""
              def antidiagonal_share(weights, lengths):
                  right = [all(row[t] == n - 1 - t for t in range(n)) for row, n in zip(weights.argmax(-1).tolist(), lengths.tolist())]
                  return sum(right) / len(right)
              """)),
    wrong("wrong_axis",
          "You looked for the largest weight over the steps, not over the source positions.",
          "Which dimension of `(B, Lt, Ls)` is being attended *to*?",
          source("""
              def antidiagonal_share(weights, lengths):
                  hits, count = 0, 0
                  for row, n in zip(weights.argmax(1).tolist(), lengths.tolist()):
                      hits += sum(row[t] == n - 1 - t for t in range(n))
                      count += n
                  return hits / count
              """)),
    wrong("mass",
          "You averaged the weights on the anti-diagonal. The question is how often the *largest* weight is there.",
          "A step gives 0.4 to the right position and less to all others. Does it count in full?",
          edit(_HITS, "weights.gather(-1, wanted.clamp(min=0).unsqueeze(-1))[..., 0][wanted >= 0]")),
    wrong("count",
          "You return the number of hits, not their fraction.",
          "What must you divide by?",
          edit(".double().mean()", ".double().sum()")),
    wrong("percent",
          "Your result is a percentage; it should be a fraction between 0 and 1.",
          "What should the result be if all steps hit?",
          edit(".mean().item()", ".mean().item() * 100")),
    wrong("first_row",
          "You count only the first row of the batch.",
          "Which index of `weights` selects the sentence, and do you use every sentence?",
          edit(_HITS, "(weights.argmax(dim=-1) == wanted)[0][wanted[0] >= 0]")),
    wrong("tensor",
          "You return a tensor instead of a float.",
          "Which method turns a one-element tensor into a Python number?",
          edit(".mean().item()", ".mean()")),
]

ACCEPTED = [
    right("loops", source("""
        def antidiagonal_share(weights, lengths):
            hits = total = 0
            for b in range(weights.size(0)):
                for t in range(int(lengths[b])):
                    hits += int(weights[b, t].argmax()) == int(lengths[b]) - 1 - t
                    total += 1
            return hits / total
        """)),
    right("flipped", source("""
        def antidiagonal_share(weights, lengths):
            right = [w[:n, :].argmax(1).flip(0) == torch.arange(n) for w, n in zip(weights, lengths.tolist())]
            return torch.cat(right).float().mean().item()
        """)),
    right("sums", source("""
        def antidiagonal_share(weights, lengths):
            best = weights.max(dim=2).indices
            t = torch.arange(weights.shape[1])[None]
            real = t < lengths[:, None]
            return ((best + t + 1 == lengths[:, None]) & real).sum().item() / real.sum().item()
        """)),
]

EXERCISE = Specification(
    contract=Contract(ways=(), sizes=special(one_row=_map((7,), 9, 0.5))),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
