"""Byte-pair encoding: use the merges."""

from __future__ import annotations

import json

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Specification
from transformer_course.text_recovery.exercises._inputs import WORDS, some_of


def _segment_inputs(draw: Draw, count: int, merges: int) -> Inputs:
    from transformer_course.solutions.text_recovery import learn_merges

    words = some_of(draw, WORDS, count)
    counts = dict(zip(words, draw.ids(1, 9, count).tolist(), strict=True))
    unseen = [w for w in WORDS if w not in words][:6]
    learnt = learn_merges(counts, merges)
    a, b, c = some_of(draw, "fghjquvxy", 3)  # not in any of the words
    learnt += [(b, c), (a, b)]  # neither the leftmost pair first nor the longest symbol
    extra_words = [a + b + c, a + b, "zxß", "a", "aaaaa", "Lower", "NEWEST"]
    return {"merges": json.dumps(learnt), "words": json.dumps([*words, *unseen, *extra_words])}


def _order_matters(draw: Draw) -> Inputs:
    a, b, c, d = some_of(draw, "abcdefgh", 4)
    merges = [(b, c), (a, b), (a, b + c), (c, d), (b + c, d), (d, a)]
    words = [a + b + c, a + b + c + d, b + c + d, a + b + d + a + b + c, c + d + a, d + d, d + a]
    # (a, b + c) makes a word that the merges before it keep from being made.
    words += ["".join(some_of(draw, [a, b, c, d, a, b, c], 7)) for _ in range(5)]
    merges += [(a, b + d), (d, c)]
    words += [a + b + d, d + c, a + b + d + c]
    return {"merges": json.dumps(merges), "words": json.dumps(words)}


def _ends_of_symbols(draw: Draw) -> Inputs:
    """Words in which a later pair occurs at the ends of symbols that an earlier merge made."""
    a, b, c, d = some_of(draw, "abcdefgh", 4)
    words = [a + b + c, d + a + b + c, a + b, a + b + c + d + a + b]
    words += [f"{a}.{b}{c}{b}", f"{a}({b})", f"{d}\\1"]  # signs are symbols, too
    merges = [(b, c), (a, b), (d, a), (".", b), ("(", b), ("\\", "1")]
    return {"merges": json.dumps(merges), "words": json.dumps(words)}


def _long(draw: Draw) -> Inputs:
    """Long words, and 300 merges of which only the last ones apply."""
    letters = some_of(draw, "abcdefgh", 5)
    a, b, c, d, e = letters
    alphabet = "ijklmnopqrstuvwxyz"
    merges = some_of(draw, [(x, y) for x in alphabet for y in alphabet], 295)
    merges += [(b, c), (a, b), (d, d), (e, d + d), (a + b, a + b)]
    longs = ["".join(letters[i] for i in draw.ids(0, 5, n).tolist()) for n in (40, 150)]
    words = [*longs, a + b + c + "ij" + d + d, e + d + d + (a + b) * 35 + d + d]
    return {"merges": json.dumps(merges), "words": json.dumps(words)}


CASES = [
    case("known", "words old and new", lambda draw: _segment_inputs(draw, 14, 12),
         "Start with characters; apply every merge wherever it fits."),
    case("order", "merges that compete", _order_matters,
         "The merges apply in the order in which they were learnt."),
    case("ends", "pairs at the ends of longer symbols", _ends_of_symbols,
         "A pair is two whole symbols, not the end of one and the start of another."),
    case("many", "many merges", lambda draw: _segment_inputs(draw, 18, 40),
         "Frequent words end up whole; new ones are cut into known parts."),
    case("long", "hundreds of merges, and long words", _long,
         "All merges apply, however many there are, and to the whole word."),
    case("others", "other words", lambda draw: _segment_inputs(draw, 10, 20),
         "The same for other words.", hidden_only=True),
]

MISTAKES = [
    wrong("longest_first",
          "The word is cut into the longest known symbols. Merging in order can give different symbols.",
          "Do you use the *order* of the merges?",
          source("""
              def segment(word, merges):
                  known, symbols = {s for a, b in merges for s in (a, b, a + b)}, []
                  while word:
                      for n in range(len(word), 0, -1):
                          if n == 1 or word[:n] in known:
                              break
                      symbols.append(word[:n]); word = word[n:]
                  return symbols
              """)),
    wrong("reversed",
          "The merges are applied from the last to the first.",
          "Which merge was learnt first, and why does it come first?",
          edit("for pair in merges:", "for pair in reversed(merges):")),
    wrong("characters",
          "The word stays cut into characters.",
          "What does `merge_pair` return, and where do you keep it?",
          edit("symbols = merge_pair(symbols, pair)", "merge_pair(symbols, pair)")),
    wrong("whole_word",
          "You return the whole word in a list.",
          "What is `list(word)`, and what is `[word]`?",
          edit("symbols = list(word)", "symbols = [word]")),
    wrong("first_merge_only",
          "Only one merge is applied.",
          "What happens after the first merge that fits?",
          edit("symbols = merge_pair(symbols, pair)", """
              before, symbols = symbols, merge_pair(symbols, pair)
              if symbols != before:
                  break
              """)),
    wrong("leftmost_first",
          "The leftmost known pair is merged first, whenever it was learnt.",
          "Two merges fit. Which goes first: the one further left, or the one learnt earlier?",
          source("""
              def segment(word, merges):
                  symbols, known = list(word), set(merges)
                  while True:
                      fits = [i for i in range(len(symbols) - 1)
                              if (symbols[i], symbols[i + 1]) in known]
                      if not fits:
                          return symbols
                      i = fits[0]
                      symbols[i:i + 2] = [symbols[i] + symbols[i + 1]]
              """)),
    wrong("whichever_comes_first",
          "You go through the word from left to right and apply any merge that fits there, again and again, whenever "
          "it was learnt.",
          "Two merges fit. Which goes first: the one further left, or the one learnt earlier?",
          source("""
              def segment(word, merges):
                  symbols, known, found = list(word), set(map(tuple, merges)), True
                  while found:
                      found, merged, i = False, [], 0
                      while i < len(symbols):
                          if tuple(symbols[i : i + 2]) in known:
                              merged.append(symbols[i] + symbols[i + 1])
                              found, i = True, i + 2
                          else:
                              merged.append(symbols[i])
                              i += 1
                      symbols = merged
                  return symbols
              """)),
    wrong("sorted_merges",
          "The merges are applied in alphabetical order.",
          "Does `sorted` or `set` keep the order in which they were learnt?",
          edit("for pair in merges:", "for pair in sorted(merges):")),
    wrong("unknown_characters_lost",
          "Characters that occur in no merge are lost.",
          "What should become of a letter that does not occur in the corpus?",
          edit("symbols = list(word)", "symbols = [c for c in word if any(c in a + b for a, b in merges)]"),
          edit("return symbols", "return [s for s in symbols if any(s in a + b for a, b in merges)]",
               name="unknown_symbols_lost"), tests="character"),
    wrong("last_merge_left_out",
          "The last merge is never applied.",
          "Where does your loop over the merges end?",
          edit("for pair in merges:", "for pair in merges[:-1]:")),
    wrong("first_hundred",
          "Only the first hundred merges are applied.",
          "How many merges may a tokenizer have learnt?",
          edit("for pair in merges:", "for pair in merges[:100]:")),
    wrong("remembered_list",
          "All calls with the same word return the same list object, so a caller that modifies it changes the result "
          "of the next call.",
          "Who else holds the list that you return?",
          source("""
              known = {}

              def segment(word, merges):
                  key = word, tuple(merges)
                  if key not in known:
                      symbols = list(word)
                      for pair in merges:
                          symbols = merge_pair(symbols, pair)
                      known[key] = symbols
                  return known[key]
              """), tests="returns"),
    wrong("whole_words_first",
          "A word that some merge produces stays whole, although earlier merges cut it differently.",
          "May a later merge use symbols that an earlier one has already merged?",
          edit("symbols = list(word)", """
              if any(first + second == word for first, second in merges):
                  return [word]
              symbols = list(word)
              """)),
]

ACCEPTED = [
    right("a_tuple", edit("return symbols", "return tuple(symbols)")),
    right("no_empty_words", edit("symbols = list(word)", "symbols = [word[0], *word[1:]]")),
    right("by_rank", source("""
        def segment(word, merges):
            ranks, symbols = {tuple(m): i for i, m in enumerate(merges)}, list(word)
            while len(symbols) > 1:
                best = min(zip(symbols, symbols[1:]), key=lambda p: ranks.get(p, math.inf))
                if best not in ranks:
                    break
                symbols = merge_pair(symbols, best)
            return symbols
        """)),
    right("reduce", source("""
        from functools import reduce
        def segment(word, merges):
            return reduce(merge_pair, merges, [*word])
        """)),
    right("all_merges", source("""
        def segment(word, merges):
            parts = [c for c in word]
            for first, second in merges:
                parts = merge_pair(parts, (first, second))
            return parts
        """)),
    right("until_nothing_fits", source("""
        def segment(word, merges):
            symbols, before = list(word), None
            while symbols != before:
                before = symbols
                for pair in merges:
                    symbols = merge_pair(symbols, pair)
            return symbols
        """)),
]

EXERCISE = Specification(
    precise=False,
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
