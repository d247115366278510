"""Cases and mistakes for an exercise: learn the merges of byte-pair encoding."""

from __future__ import annotations

import itertools
import json
from collections import Counter

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Specification, Variant
from transformer_course.text_recovery.exercises._inputs import (
    WORDS,
    draw_sentences,
    draw_some,
    list_words,
)


def _draw_counts(draw: Draw, count: int, merges: int, below: int = 9, least: int = 1) -> Inputs:
    """Random words, each with a count from ``least`` to ``below`` - 1, and the number of merges to learn."""
    numbers = draw.ids(least, below, count).tolist()
    counts = dict(zip(draw_some(draw, WORDS, count), numbers, strict=True))
    return {"counts": json.dumps(counts), "num_merges": torch.tensor(merges)}


def _draw_untied(draw: Draw, words: list[str], merges: int, least: int) -> Inputs:
    """Draw counts of words such that no two pairs ever tie as the next to be merged.

    The number of merges to learn is between ``least`` and ``merges``.
    """
    untied = 0
    while untied < least:
        # Counts are small because some solutions repeat each word as often as it occurs.
        numbers = draw.ids(2, 40, len(words)).tolist()
        counts = dict(zip(words, numbers, strict=True))
        untied = _count_merges_before_tie(counts, merges)
    return {"counts": json.dumps(counts), "num_merges": torch.tensor(untied)}


def _count_merges_before_tie(counts: dict[str, int], most: int) -> int:
    """Count the merges before two pairs tie as the most frequent, at most ``most``."""
    words = {word: list(word) for word in counts}
    for done in range(most):
        pairs: Counter[tuple[str, str]] = Counter()
        for word, symbols in words.items():
            for pair in itertools.pairwise(symbols):
                pairs[pair] += counts[word]
        (best, first), (_, second) = pairs.most_common(2)
        if first == second:
            return done
        words = {word: _merged(symbols, best) for word, symbols in words.items()}
    return most


def _merged(symbols: list[str], pair: tuple[str, str]) -> list[str]:
    """Merge a pair of adjacent symbols wherever it occurs, from left to right."""
    merged: list[str] = []
    for symbol in symbols:
        if merged and (merged[-1], symbol) == pair:
            merged[-1] += symbol
        else:
            merged.append(symbol)
    return merged


def _draw_real_words(draw: Draw) -> list[str]:
    """The distinct words of natural sentences, in order, each with the mark of a word's start."""
    return sorted({f"▁{word}" for word in list_words(draw_sentences(draw, 60))})


def _draw_ties(draw: Draw) -> Inputs:
    """Draw words with many pairs of the same count, so that the order of ties matters.

    For example, (a, c) is smaller than (ab, a) as a pair, but not as joined text.
    """
    letters = draw_some(draw, "abcdefghiklmn", 10)
    a, b, c = sorted(letters[:3])
    counts = {letters[i] + letters[i + 1]: 5 for i in range(3, 9, 2)} | {letters[9] * 3: 4}
    counts |= {a + b: 21, a + b + a: 7, a + c: 7}
    return {"counts": json.dumps(counts), "num_merges": torch.tensor(8)}


CASES = [
    case("few", "sixteen words", lambda draw: _draw_untied(draw, draw_some(draw, WORDS, 16), 10, least=4),
         "Count pairs within words, weighted by the words' counts."),
    case("ties", "pairs with equal counts", _draw_ties,
         "Of several equally frequent pairs, the alphabetically first is merged.", aspect="limits"),
    case("stop", "more merges than there are pairs", lambda draw: _draw_counts(draw, 6, 99, below=3),
         "Stop once no pair occurs at least twice.", aspect="limits"),
    case("to_the_end", "merges until no pair is left", lambda draw: _draw_counts(draw, 5, 99, least=2),
         "In the end each word is one symbol, so no pair is left to merge.", aspect="limits"),
    case("real", "the words of 60 sentences", lambda draw: _draw_untied(draw, _draw_real_words(draw), 120, least=20),
         "After each merge, the pairs are counted again."),
    case("more", "other words", lambda draw: _draw_untied(draw, draw_some(draw, WORDS, 19), 25, least=5),
         "The same for other words.", hidden_only=True),
]

_PLAIN = """
    def learn_merges(counts, num_merges):
        words, merges = {w: list(w) for w in counts}, []
        for _ in range(num_merges):
            pairs = Counter()
            for w, s in words.items():
                for p in zip(s, s[1:]):
                    pairs[p] += counts[w]
            best = min(pairs, key=lambda p: (-pairs[p], p), default=None)
            if best is None or pairs[best] < 2:
                break
            merges.append(best)
            words = {w: merge_pair(s, best) for w, s in words.items()}
        return merges
    """


def _edit_plain(old: str, new: str, name: str = "") -> Variant:
    """Return a mistake: the simple solution `_PLAIN` with ``new`` in place of ``old``."""
    return source(_PLAIN.replace(old, new), name=name)


_BEST = "best = min(pairs, key=lambda pair: (-pairs[pair], pair), default=None)"

MISTAKES = [
    wrong("counts_ignored", "Every word counts once, however often it occurs.",
          "A pair is in a word that occurs 6 times. How often does the pair occur?",
          edit("sign * counts[word]", "sign")),
    wrong("ties",
          "Of several pairs with the same count, another one is merged than the smallest: the first that was met, or "
          "the alphabetically last.",
          "If two pairs have the same count, which one does your code merge, and which one does the contract ask for?",
          edit(_BEST, "best = max(pairs, key=lambda pair: (pairs[pair], pair), default=None)", name="ties_last"),
          _edit_plain("min(pairs, key=lambda p: (-pairs[p], p), default", "max(pairs, key=pairs.get, default",
                      name="ties_first_met"), tests="smallest"),
    wrong("rarest", "The rarest pair is merged.",
          "Which pair deserves a symbol of its own?",
          edit("(-pairs[pair], pair)", "(pairs[pair] < 2, pairs[pair], pair)")),
    wrong("stop",
          "Learning stops too early or too late: a pair that occurs twice should still be merged, and one that occurs "
          "once should not.",
          'Is it "less than twice" or "twice or less"?',
          edit("pairs[best] < 2:", "pairs[best] < 1:", name="never_stops"),
          edit("pairs[best] < 2:", "pairs[best] <= 2:", name="stops_early")),
    wrong("stops_by_kinds",
          "Your stopping condition uses the number of *different* pairs, not how often the most frequent one occurs.",
          "What does `len` of your counter count? Which number has to be at least 2?",
          _edit_plain("best is None or pairs[best] < 2", "len(pairs) < 2")),
    wrong("counts_pile_up",
          "Pairs keep counts from before a merge: the counter is not emptied before you count again, or neighbours that "
          "the merge has separated are not subtracted.",
          "Which pairs no longer occur after a merge, and where do their counts go down?",
          _edit_plain("for _ in range(num_merges):\n            pairs = Counter()",
                      "pairs = Counter()\n        for _ in range(num_merges):"),
          source("""
              def learn_merges(counts, num_merges):
                  words, pairs, merges = {w: list(w) for w in counts}, Counter(), []
                  for w, n in counts.items():
                      for p in zip(w, w[1:]):
                          pairs[p] += n
                  while len(merges) < num_merges and pairs:
                      best = min(pairs, key=lambda p: (-pairs[p], p))
                      if pairs.pop(best) < 2:
                          break
                      merges.append(best)
                      words = {w: merge_pair(s, best) for w, s in words.items()}
                      for w, s in words.items():
                          for p in zip(s, s[1:]):
                              if "".join(best) in p:
                                  pairs[p] += counts[w]
                  return merges
              """, name="only_new_pairs_counted")),
    wrong("counted_once", "The pairs are counted only once, at the beginning.",
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
    wrong("number_of_merges", "You learn another number of merges than `num_merges`, although there are more pairs.",
          "How many rounds does your loop have, and how many for `num_merges` = 0?",
          edit("tqdm(range(num_merges)", "tqdm(range(num_merges + 1)", name="one_too_many"),
          edit("tqdm(range(num_merges)", "tqdm(range(max(num_merges, 1))", name="one_at_least"),
          edit("tqdm(range(num_merges)", "tqdm(range(num_merges - 1)", name="one_too_few")),
    wrong("end_marked",
          "A mark that no word contains, like `</w>`, is added to the end of each word and becomes part of merges.",
          "A word is a string of characters. What else is in your lists of symbols at the beginning?",
          edit("word: list(word) for", 'word: [*word, "</w>"] for', name="end_symbol"),
          edit("word: list(word) for", 'word: [*word[:-1], word[-1] + "</w>"] for', name="end_of_the_last_letter")),
    wrong("across_words", "Pairs are counted across word boundaries.",
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
    wrong("joined", "You return the merged symbols instead of the pairs: `es`, not `(e, s)`.",
          "Can you tell from `ab` alone which two symbols it was made of?",
          edit("    return merges", "    return [a + b for a, b in merges]")),
    wrong("each_pair_once", "A pair counts once per word, even where it occurs there several times.",
          "How often does `(n, a)` occur in banana?",
          edit("in zip(words[word], words[word][1:], strict=False)", "in set(zip(words[word], words[word][1:]))"),
          tests="occurrence"),
    wrong("overlaps_once", "Occurrences that share a symbol count once: `a a a` contains the pair `(a, a)` twice.",
          "How many neighbours in `a a a` are an a and an a?",
          _edit_plain("for p in zip(s, s[1:]):\n                    pairs[p] += counts[w]", """
                last = None
                for p in zip(s, s[1:]):
                    last = None if p == last and p[0] == p[1] else p
                    pairs[p] += counts[w] * (last is not None)"""), tests="occurrence"),
    wrong("lists", "The pairs are lists, not tuples. Only tuples can be keys of a dict.",
          "What does the line that begins with `def` promise?",
          edit("merges.append(best)", "merges.append(list(best))")),
    wrong("ties_by_letters", "Ties are broken by the joined letters of a pair, not by the pair itself.",
          'Which is the smaller one in Python, `("a", "c")` or `("ab", "a")`?',
          edit("(-pairs[pair], pair)", "(-pairs[pair], pair[0] + pair[1])")),
]

ACCEPTED = [
    right("plain", source(_PLAIN)),
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
    tells={"more": "across_words each_pair_once"},
    precise=False, cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
