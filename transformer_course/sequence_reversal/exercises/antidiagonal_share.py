"""Cases and mistakes for an exercise: the share of attention on the anti-diagonal.

A model that reverses a sequence attends to its symbols from last to first.
"""

from __future__ import annotations

import torch

from autograder.authoring.contract import Contract, special_sizes
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification


def _draw_map(*lengths: int, steps: int, places: int, chance: float = 0.6, top: float = 4.0) -> Maker:
    """Make a function that draws attention weights (B, ``steps``, ``places``).

    Args:
        lengths: the number of symbols in each of the B sequences.
        steps, places: the number of decoding steps and of source positions.
        chance: the probability that a step attends most to the anti-diagonal.
        top: the score of the largest weight, before the softmax.
    """

    def make_inputs(draw: Draw) -> Inputs:
        rows = torch.tensor(lengths)
        wanted = (rows[:, None] - 1 - torch.arange(steps)) % min(steps, places)  # (B, Lt)
        shape = wanted.shape
        largest = torch.where(draw.flags(*shape, chance=chance), wanted, draw.ids(0, places, *shape))
        scores = draw.tensor(*shape, places, scale=1.0).scatter(-1, largest.unsqueeze(-1), top)
        return {"weights": scores.softmax(-1), "lengths": rows}

    return make_inputs


_HITS = "(weights.argmax(dim=-1) == wanted)[wanted >= 0]"
_WANTED = "lengths.unsqueeze(1) - 1 - steps"
_ALL_HITS = f"hits = {_HITS}"

CASES = [
    case("four_rows", "4 rows of different lengths", _draw_map(5, 2, 7, 3, steps=9, places=10),
         "Take the shortest row and mark, step by step, where it should look."),
    case("one_head", "the attention map of one head, sliced out of three",
         lambda draw: {**_draw_map(3, 6, 4, 2, steps=8, places=9)(draw), "head": "yes"},
         "A slice of a tensor need not be contiguous in memory."),
    case("mostly_elsewhere", "6 rows that mostly look elsewhere, and as many steps as source positions",
         _draw_map(4, 6, 5, 6, 2, 3, steps=8, places=8, chance=0.3),
         "Step t belongs to symbol n - 1 - t, with its own n in each row."),
    case("equal_lengths", "3 rows of equal length", _draw_map(6, 6, 6, steps=11, places=12),
         "Padding comes after EOS: the last symbol is not in the last column."),
    case("flat", "4 rows whose largest weights are small", _draw_map(5, 3, 6, 4, steps=8, places=9, top=1.5),
         "What counts is the largest weight of each step, however small it is."),
    case("many", "12 rows, and more steps than source positions",
         _draw_map(1, 9, 3, 8, 2, 2, 7, 5, 4, 6, 3, 9, steps=12, places=10, chance=0.8),
         "Does your code depend on the sizes?", hidden_only=True),
]

MISTAKES = [
    wrong("diagonal", "You look for the diagonal, which is what a copying model would show.",
          "Which symbol should the very first step look at?",
          edit(_WANTED, "torch.where(steps < lengths.unsqueeze(1), steps, -1)")),
    wrong("one_too_far", "Your line is one position too far to the right: it starts at EOS.",
          "Counting from 0, what is the position of the last of n symbols?",
          edit(_WANTED, "torch.where(steps < lengths.unsqueeze(1), lengths.unsqueeze(1) - steps, -1)")),
    wrong("eos_counted", "You also count steps that belong to no symbol: that of EOS, or those of padding as well.",
          "How many steps does a sequence of n symbols have, without EOS?",
          edit("[wanted >= 0]", "[wanted >= -1]"),
          edit("[wanted >= 0]", "", name="padding_counted"), tests="padding"),
    wrong("width_for_length",
          "You measure from the end of the padded row, or of the longest one, not from each sequence's last symbol.",
          "Is the last symbol in the same column in every row?",
          edit(_WANTED, "torch.where(steps < lengths.unsqueeze(1), weights.size(2) - 1 - steps, -1)"),
          edit(_WANTED, "torch.where(steps < lengths.unsqueeze(1), weights.size(2) - 2 - steps, -1)",
               name="width_without_eos"),
          edit(_WANTED, "(lengths.max() - 1 - steps).expand(len(lengths), -1)", name="longest_for_all")),
    wrong("mean_of_rows",
          "You averaged within each row first and then over rows, but all *steps* should count equally.",
          "How much does one step of a short row contribute to your result?",
          edit(_HITS, "((weights.argmax(dim=-1) == wanted) & (wanted >= 0)).sum(1).double() / lengths"),
          tests="short or long"),
    wrong("whole_rows", "You count sequences whose steps are all right; count single steps instead.",
          "What should the result be if each sequence has one wrong step out of ten?",
          edit(_HITS, "((weights.argmax(dim=-1) == wanted) | (wanted < 0)).all(1)")),
    wrong("wrong_axis", "You looked for the largest weight over the steps, not over the source positions.",
          "Which dimension of `(B, Lt, Ls)` is being attended *to*?",
          edit(_ALL_HITS, """
              largest = F.pad(weights.argmax(dim=1), (0, weights.size(1)))[:, : weights.size(1)]
              hits = (largest == wanted)[wanted >= 0]
              """)),
    wrong("mass",
          "You looked at the weights on the anti-diagonal themselves. The question is how often the *largest* weight "
          "is there, however small it is.",
          "A step gives 0.4 to the right position and less to all others. Does it count in full?",
          edit(_HITS, "weights.gather(-1, wanted.clamp(min=0).unsqueeze(-1))[..., 0][wanted >= 0]"),
          edit(_HITS, "(weights.gather(-1, wanted.clamp(min=0).unsqueeze(-1)).squeeze(-1) > 0.5)[wanted >= 0]",
               name="above_one_half")),
    wrong("count", "You return the number of hits or a percentage, not a fraction between 0 and 1.",
          "What should the result be if all steps hit?",
          edit(".double().mean()", ".double().sum()"),
          edit(".mean().item()", ".mean().item() * 100", name="percent")),
    wrong("first_row", "You count only the first row of the batch.",
          "Which index of `weights` selects the sentence, and do you use every sentence?",
          edit(_HITS, "(weights.argmax(dim=-1) == wanted)[0][wanted[0] >= 0]")),
    wrong("tensor", "You return a tensor instead of a float.",
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
    tells={"property_sizes": "wrong_axis"},
    contract=Contract(ways=(), sizes=special_sizes(one_row=_draw_map(7, steps=9, places=10, chance=0.5))),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
