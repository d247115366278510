"""Cases and mistakes for an exercise: paired bootstrap resampling (Koehn 2004)."""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Specification


def _draw_systems(draw: Draw, sentences: int, resamples: int, better: int = 1) -> Inputs:
    """Draw the counts (matches, total, length) of each sentence for two systems.

    The second is a little better, which only a paired comparison can show.
    """
    total = draw.ids(4, 30, sentences)
    hard = (total.double() * draw.ids(2, 10, sentences) / 10).long()
    second = (hard + draw.ids(0, 2 + better, sentences)).clamp(max=total)
    length = total + draw.ids(0, 4, sentences)
    return {
        "first": torch.stack([hard, total, length], dim=1),
        "second": torch.stack([second, total, length], dim=1),
        "seed": torch.tensor(int(draw.ids(0, 10_000, 1))),
        "resamples": torch.tensor(resamples),
    }


def _draw_ties(draw: Draw) -> Inputs:
    """Two systems that differ in only two of twelve sentences, which many resamples miss."""
    inputs = _draw_systems(draw, 12, 200)
    inputs["second"] = inputs["first"].clone()
    inputs["second"][5, 0] = inputs["first"][5, 0] - 1
    inputs["first"][3, 0] -= 1
    return inputs


CASES = [
    case("two", "30 sentences, 200 resamples", lambda draw: _draw_systems(draw, 30, 200),
         "Draw sentences with replacement; score both systems on the same ones."),
    case("hundred", "13 sentences, 100 resamples", lambda draw: _draw_systems(draw, 13, 100, better=0),
         "The interval contains 95 % of the differences: cut off 2.5 % at each end."),
    case("ties", "systems that differ in two sentences", _draw_ties,
         "A resample in which both are equally good is not a win.", aspect="limits"),
    case("default", "default number of resamples", lambda draw: _draw_systems(draw, 17, 0),
         "By default there are 1,000 resamples."),
    case("few", "fewer than 40 resamples", lambda draw: _draw_systems(draw, 21, 30),
         "With fewer than 40 resamples, nothing is cut off.", aspect="limits"),
    case("other", "other systems", lambda draw: _draw_systems(draw, 25, 400, better=2),
         "The same for other systems.", hidden_only=True),
]

_DRAW = "rows = rng.choices(range(n), k=n)"
_BOTH = "differences.append(score(second[rows].sum(0)) - score(first[rows].sum(0)))"
_TAIL = "tail = resamples // 40"
_ENDS = "return differences[tail], differences[-1 - tail], wins"

MISTAKES = [
    wrong("unpaired",
          "The two systems are scored on different sentences: the difference comes mostly from the sentences.",
          "What makes the bootstrap *paired*?",
          edit("score(second[rows]", "score(second[rng.choices(range(n), k=n)]"),
          edit("score(first[rows]", "score(first[rng.choices(range(n), k=n)]", name="second_drawn_first"),
          tests="scored"),
    wrong("without_replacement", "No sentence occurs twice in a resample: you draw without replacement, or not at all.",
          "How can a resample of n sentences differ from the test set, and from the next resample?",
          edit("rng.choices(range(n), k=n)", "rng.sample(range(n), k=n)"),
          edit(_DRAW, "rows = list(range(n))", name="no_resampling")),
    wrong("drawn_twice_counts_once",
          "A sentence that is drawn several times counts only once, so you score only a part of the test set.",
          "What do a set and a boolean mask forget?",
          edit(_DRAW, "rows = sorted(set(rng.choices(range(n), k=n)))"), tests="sum of the drawn"),
    wrong("centred", "You subtract the difference on the whole test set, so your interval lies around 0.",
          "If the second system is always better by 1, which interval should you get?",
          edit("differences.sort()", "whole = score(second.sum(0)) - score(first.sum(0)); "
               "differences = sorted(d - whole for d in differences)"), tests="The ends"),
    wrong("mean_of_sentences",
          "`score` is called with something other than the sum of the drawn rows: with their mean, or with each row "
          "alone. BLEU belongs to a corpus.",
          "What are the counts of a corpus, and when do you call `score`?",
          edit(_BOTH, """
              differences.append(sum(score(second[i]) - score(first[i]) for i in rows) / n)
              """),
          edit("second[rows].sum(0)", "second[rows].double().mean(0)", "first[rows].sum(0)",
               "first[rows].double().mean(0)", name="mean_of_rows"), tests="tensor"),
    wrong("sign", "The sign is wrong: a positive difference should mean that the second system is better.",
          "Which score is subtracted from which?",
          edit("differences.sort()", "differences = sorted(-d for d in differences)"),
          edit(_ENDS, "return -differences[-1 - tail], -differences[tail], wins", name="sign_of_the_ends")),
    wrong("second_only", "Only the second system is scored; this is its own interval, not that of the difference.",
          "Where do you use `first`?",
          edit(_BOTH, "differences.append(score(second[rows].sum(0)))")),
    wrong("wins_of_the_first", "You count the resamples in which the *first* system is better.",
          "Which sign does a win of the second system have?",
          edit("d > 0", "d < 0")),
    wrong("ties_are_wins", "Ties are counted as wins of the second system, or as half of one.",
          "In how many resamples is the second system better, and is a difference of 0 one of them?",
          edit("d > 0", "d >= 0"),
          edit("d > 0", "(d > 0) + 0.5 * (d == 0)", name="half_wins"), tests="A tie is not a win."),
    wrong("number_of_wins", "You return the number of wins; return the fraction of resamples won.",
          "What do you divide by?",
          edit(") / resamples", ")")),
    wrong("another_share",
          "Your interval does not contain 95 % of the differences: you cut off 5 % at each end, or nothing.",
          "How much of the 5 % belongs to each end?",
          edit(_TAIL, "tail = resamples // 20", name="ninety_percent"),
          edit(_TAIL, "tail = 0", name="smallest_and_largest"), tests="differences"),
    wrong("unsorted", "The differences are not sorted from the smallest to the largest.",
          "Which differences are at the two ends of the interval, and in which order did you sort?",
          edit("differences.sort()", ""),
          edit("differences.sort()", "differences.sort(key=abs)", name="sorted_by_size"),
          edit("differences.sort()", "differences.sort(reverse=True)", name="descending")),
    wrong("one_off", "The upper end is off by one, at least if `resamples` is a multiple of 40.",
          "Which index gives the last entry: `-1` or `-0`?",
          edit("differences[-1 - tail]", "differences[min(resamples - tail, resamples - 1)]"),
          edit("differences[-1 - tail]", "differences[-tail]", name="minus_tail"),
          edit("differences[-1 - tail]", "differences[-resamples // 40]", name="rounded_up")),
    wrong("not_two_entries",
          "Your ends are computed, as quantiles between two entries or from mean and deviation; the contract asks for "
          "two entries of the sorted differences.",
          "Which entries of the sorted list does the contract name?",
          edit(_ENDS, """
              values = torch.tensor(differences, dtype=torch.float64)
              low, high = torch.quantile(values, torch.tensor([0.025, 0.975], dtype=torch.float64)).tolist()
              return low, high, wins
              """, name="interpolated"),
          edit(_ENDS, """
              values = torch.tensor(differences, dtype=torch.float64)
              middle, spread = float(values.mean()), float(values.std())
              return middle - 1.96 * spread, middle + 1.96 * spread, wins
              """, name="normal_interval")),
    wrong("own_generator", "The indices do not come from `rng`.",
          "What does `rng` guarantee to someone who repeats your test?",
          edit(_DRAW, "rows = random.Random(len(differences)).choices(range(n), k=n)"),
          tests="`rng.choices(range(n), k=n)`"),
    wrong("drawn_one_by_one",
          "You draw from `rng` in a different way than one `rng.choices` per resample, so its samples differ.",
          "How often may `rng` be called for a resample of n sentences?",
          edit(_DRAW, "rows = [rng.randrange(n) for _ in range(n)]"),
          tests="`rng.choices(range(n), k=n)`"),
    wrong("half_of_the_sentences", "Resamples have fewer sentences than the test set.",
          "How many sentences does a resample have?",
          edit("k=n)", "k=n // 2)")),
    wrong("always_a_thousand", "You always draw 1,000 resamples.",
          "Where do you use the argument?",
          edit("n, differences = len(first), []", "n, differences, resamples = len(first), [], 1000")),
    wrong("rows_changed", "You have modified a tensor of counts.",
          "Which of your steps modifies an argument?",
          edit("differences.sort()", """
              differences.sort()
              second -= first
              """), tests="modified"),
]

ACCEPTED = [
    right("comprehension", source("""
        def paired_bootstrap(first, second, score, rng, resamples=1000):
            draws = [rng.choices(range(len(first)), k=len(first)) for _ in range(resamples)]
            found = sorted(score(second[torch.tensor(d)].sum(dim=0)) - score(first[torch.tensor(d)].sum(dim=0))
                           for d in draws)
            cut = int(0.025 * resamples)
            return found[cut], found[resamples - 1 - cut], len([d for d in found if d > 0]) / resamples
        """)),
    right("how_often_each", source("""
        def paired_bootstrap(first, second, score, rng, resamples=1000):
            n, differences = len(first), []
            for _ in range(resamples):
                times = torch.bincount(torch.tensor(rng.choices(range(n), k=n)), minlength=n)
                a, b = (times[:, None] * first).sum(0), (times[:, None] * second).sum(0)
                differences.append(score(b) - score(a))
            ordered = sorted(differences)
            cut = resamples // 40
            return ordered[cut], ordered[::-1][cut], sum(x > 0 for x in ordered) / len(ordered)
        """)),
    right("row_by_row", source("""
        def paired_bootstrap(first, second, score, rng, resamples=1000):
            differences, wins = [], 0
            for _ in range(resamples):
                rows = rng.choices(range(len(first)), k=len(first))
                a, b = torch.zeros_like(first[0]), torch.zeros_like(second[0])
                for i in rows:
                    a, b = a + first[i], b + second[i]
                differences.append(score(b) - score(a))
                wins += score(b) > score(a)
            differences.sort()
            return differences[resamples // 40], differences[-(resamples // 40 + 1)], wins / resamples
        """)),
]

EXERCISE = Specification(cases=CASES, mutants=MISTAKES, accepted=ACCEPTED)
