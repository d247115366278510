"""Byte-pair encoding: learn the merges."""

from __future__ import annotations

import json

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Specification
from transformer_course.text_recovery.exercises._inputs import (
    WORDS,
    natural_sentences,
    some_of,
    words_of,
)


def _counts(draw: Draw, count: int, top: int, merges: int, low: int = 1, tie: bool = False) -> Inputs:
    """Words with their counts; one pair in them occurs exactly twice."""
    words = some_of(draw, WORDS, count)
    numbers = draw.ids(low, top, count).tolist()
    counts = dict(zip(words, numbers, strict=True)) | {"YZ": 2, "I": top}
    counts |= _tie(draw, 700) if tie else {}
    return {"counts": json.dumps(counts), "num_merges": torch.tensor(merges)}


def _tie(draw: Draw, count: int) -> dict[str, int]:
    """After a merge, two pairs with the same count, of letters that no other word has.

    As a pair, the second one is the smaller one; as joined text, the first one is.
    """
    first, second, third = sorted(some_of(draw, "fghjquvxyz", 3))
    merged = first + second  # after which (merged, first) and (first, third) are a tie
    return {merged: 3 * count, merged + first: count, first + third: count}


def _real_counts(draw: Draw, merges: int) -> Inputs:
    counts: dict[str, int] = {}
    for word in words_of(natural_sentences(draw, 60)):
        counts["▁" + word] = counts.get("▁" + word, 0) + 1
    # A pair that occurs twice in a word wins, unless each word counts it once.
    counts |= {"▁banana": 500, "QX": 700}
    return {"counts": json.dumps(counts), "num_merges": torch.tensor(merges)}


def _ties(draw: Draw) -> Inputs:
    """Words with many pairs of the same count, so that the order of ties matters."""
    letters = some_of(draw, "abcdeiklmn", 8)
    words = ["".join(letters[i : i + 2]) for i in range(0, 8, 2)]
    counts = dict.fromkeys(words, 5) | {words[0] + words[1]: 3, letters[6] * 3: 4}
    counts |= _tie(draw, 7)
    return {"counts": json.dumps(counts), "num_merges": torch.tensor(8)}


CASES = [
    case("few", "sixteen words", lambda draw: _counts(draw, 12, 9, 10, tie=True),
         "Count pairs within words, weighted by the words' counts."),
    case("ties", "pairs with equal counts", _ties,
         "Of several equally frequent pairs, the alphabetically first is merged."),
    case("stop", "more merges than there are pairs", lambda draw: _counts(draw, 6, 3, 99),
         "Stop once no pair occurs at least twice."),
    case("to_the_end", "merges until no pair is left", lambda draw: _counts(draw, 5, 9, 99, low=2),
         "In the end each word is one symbol, so no pair is left to merge."),
    case("real", "the words of 60 sentences, and two frequent ones", lambda draw: _real_counts(draw, 120),
         "After each merge, the pairs are counted again."),
    case("more", "other words", lambda draw: _counts(draw, 19, 30, 25, tie=True),
         "The same for other words.", hidden_only=True),
]

MISTAKES = [
    wrong("counts_ignored",
          "Every word counts once, however often it occurs.",
          "A pair is in a word that occurs 6 times. How often does the pair occur?",
          edit("sign * counts[word]", "sign")),
    wrong("ties_last",
          "Of several pairs with the same count, the alphabetically last is merged.",
          "What does `max` prefer when the first part of the key is equal?",
          edit("best = min(pairs, key=lambda pair: (-pairs[pair], pair), default=None)",
               "best = max(pairs, key=lambda pair: (pairs[pair], pair), default=None)"), tests="smallest"),
    wrong("ties_first_met",
          "Of several pairs with the same count, the first one encountered is merged.",
          "If two pairs have the same count, which one does your code merge, and which one does the contract ask for?",
          source("""
              def learn_merges(counts, num_merges):
                  words, merges = {w: list(w) for w in counts}, []
                  for _ in range(num_merges):
                      pairs = Counter()
                      for w, s in words.items():
                          for p in zip(s, s[1:]):
                              pairs[p] += counts[w]
                      if not pairs or pairs.most_common(1)[0][1] < 2:
                          break
                      best = pairs.most_common(1)[0][0]
                      merges.append(best)
                      words = {w: merge_pair(s, best) for w, s in words.items()}
                  return merges
              """)),
    wrong("rarest",
          "The rarest pair is merged.",
          "Which pair deserves a symbol of its own?",
          edit("(-pairs[pair], pair)", "(pairs[pair] < 2, pairs[pair], pair)")),
    wrong("never_stops",
          "Pairs that occur only once are merged as well.",
          "When should learning stop early?",
          edit("pairs[best] < 2:", "pairs[best] < 1:")),
    wrong("stops_early",
          "Learning stops too early: a pair that occurs twice may still be merged.",
          'Is it "less than twice" or "twice or less"?',
          edit("pairs[best] < 2:", "pairs[best] <= 2:")),
    wrong("counted_once",
          "The pairs are counted only once, at the beginning.",
          "Which pairs exist after the first merge that did not exist before?",
          source("""
              def learn_merges(counts, num_merges):
                  pairs = Counter()
                  for w in counts:
                      for p in zip(w, w[1:]):
                          pairs[p] += counts[w]
                  kept = [p for p in pairs if pairs[p] >= 2]
                  return sorted(kept, key=lambda p: (-pairs[p], p))[:num_merges]
              """)),
    wrong("one_too_many",
          "One merge too many is learnt.",
          "How long may the list be?",
          edit("tqdm(range(num_merges)", "tqdm(range(num_merges + 1)")),
    wrong("one_at_least",
          "One merge is learnt even for `num_merges` = 0.",
          "When does your loop look at `num_merges` for the first time?",
          edit("tqdm(range(num_merges)", "tqdm(range(max(num_merges, 1))")),
    wrong("one_too_few",
          "One merge too few is learnt.",
          "How long should the list be?",
          edit("tqdm(range(num_merges)", "tqdm(range(num_merges - 1)")),
    wrong("across_words",
          "Pairs are counted across word boundaries.",
          "Do the last letter of one word and the first letter of the next form a pair?",
          source("""
              def learn_merges(counts, num_merges):
                  symbols, merges = [c for w in counts for _ in range(counts[w]) for c in w], []
                  for _ in range(num_merges):
                      pairs = Counter(zip(symbols, symbols[1:]))
                      if not pairs:
                          break
                      best = min(pairs, key=lambda p: (-pairs[p], p))
                      if pairs[best] < 2:
                          break
                      merges.append(best)
                      symbols = merge_pair(symbols, best)
                  return merges
              """)),
    wrong("joined",
          "You return the merged symbols instead of the pairs: `es`, not `(e, s)`.",
          "Can you tell from `ab` alone which two symbols it was made of?",
          edit("    return merges", "    return [a + b for a, b in merges]")),
    wrong("each_pair_once",
          "A pair counts once per word, even where it occurs there several times.",
          "How often does `(n, a)` occur in banana?",
          source("""
              def learn_merges(counts, num_merges):
                  words, merges = {w: list(w) for w in counts}, []
                  for _ in range(num_merges):
                      pairs = Counter()
                      for w, s in words.items():
                          for p in set(zip(s, s[1:])):
                              pairs[p] += counts[w]
                      best = min(pairs, key=lambda pair: (-pairs[pair], pair), default=None)
                      if best is None or pairs[best] < 2:
                          break
                      merges.append(best)
                      words = {w: merge_pair(s, best) for w, s in words.items()}
                  return merges
              """), tests="occurrence"),
    wrong("lists",
          "The pairs are lists, not tuples. Only tuples can be keys of a dict.",
          "What does the line that begins with `def` promise?",
          edit("merges.append(best)", "merges.append(list(best))")),
    wrong("ties_by_letters",
          "Ties are broken by the joined letters of a pair, not by the pair itself.",
          'Which is the smaller one in Python, `("a", "c")` or `("ab", "a")`?',
          edit("(-pairs[pair], pair)", "(-pairs[pair], pair[0] + pair[1])")),
]

ACCEPTED = [
    right("plain", source("""
        def learn_merges(counts, num_merges):
            words, merges = {w: list(w) for w in counts}, []
            for _ in range(num_merges):
                pairs = Counter()
                for w, s in words.items():
                    for p in zip(s, s[1:]):
                        pairs[p] += counts[w]
                if not pairs:
                    break
                best = min(pairs, key=lambda p: (-pairs[p], p))
                if pairs[best] < 2:
                    break
                merges.append(best)
                words = {w: merge_pair(s, best) for w, s in words.items()}
            return merges
        """)),
    right("sorted_keys", source("""
        def learn_merges(counts, num_merges):
            rows, found = [[list(w), n] for w, n in counts.items()], []
            while len(found) < num_merges:
                table = {}
                for s, n in rows:
                    for i in range(len(s) - 1):
                        table[s[i], s[i + 1]] = table.get((s[i], s[i + 1]), 0) + n
                best = max(sorted(table), key=table.get, default=None)
                if best is None or table[best] == 1:
                    return found
                found += [best]
                for row in rows:
                    row[0] = merge_pair(row[0], best)
            return found
        """)),
]

EXERCISE = Specification(
    precise=False,
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
