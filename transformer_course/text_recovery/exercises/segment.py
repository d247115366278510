"""Cases and mistakes for an exercise: apply the merges of byte-pair encoding."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Specification
from transformer_course.text_recovery.exercises._inputs import WORDS, draw_some


def _pack_inputs(merges: list[tuple[str, str]], words: list[str]) -> Inputs:
    """The inputs of a case, in which both lists are stored as JSON."""
    return {"merges": json.dumps(merges), "words": json.dumps(words)}


def _draw_learnt(draw: Draw, count: int, merges: int) -> Inputs:
    """Merges learnt from some words, and words to segment: those words, new ones, and some with new characters."""
    from transformer_course.solutions.text_recovery import learn_merges

    words = draw_some(draw, WORDS, len(WORDS))
    counts = dict(zip(words[:count], draw.ids(1, 9, count).tolist(), strict=True))
    new_words = [*words[count:][:6], "zxß", "a", "aaaaa", "Lower", "NEWEST"]
    return _pack_inputs(learn_merges(counts, merges), [*counts, *new_words])


def _draw_competing(draw: Draw, characters: str) -> Inputs:
    """Draw merges of overlapping symbols, and words to segment.

    The words are random ones of two to nine characters, all symbols, and one with the unknown character ß at each end.
    """
    merges, symbols = _draw_merges(draw, characters, [])
    words = _draw_words(draw, characters, [*range(2, 8)] * 4 + [9])
    return _pack_inputs(merges, [*words, *symbols, f"ß{words[-1]}ß"])


def _draw_competing_last(draw: Draw, characters: str) -> Inputs:
    """Long words, and competing merges after 295 merges that never apply."""
    alphabet = "ijklmnopqrstuvwxyz"
    unused = draw_some(draw, [(x, y) for x in alphabet for y in alphabet], 295)
    merges, _ = _draw_merges(draw, characters, unused)
    return _pack_inputs(merges, _draw_words(draw, characters, [150, 90, 7]))


def _draw_merges(
    draw: Draw, characters: str, merges: list[tuple[str, str]]
) -> tuple[list[tuple[str, str]], list[str]]:  # fmt: skip
    """Add eight random merges to ``merges``, in place.

    Returns:
        ``merges``, and a list of the characters and the eight results.
    """
    symbols = list(characters)
    while len(symbols) < len(characters) + 8:
        first, second = (symbols[i] for i in draw.ids(0, len(symbols), 2).tolist())
        if first + second not in symbols:
            merges.append((first, second))
            symbols.append(first + second)
    return merges, symbols


def _draw_words(draw: Draw, characters: str, lengths: list[int]) -> list[str]:
    """One random word of these characters for each length."""
    return ["".join(characters[i] for i in draw.ids(0, len(characters), n).tolist()) for n in lengths]


def _can_be_learnt(inputs: Mapping[str, Any]) -> bool:
    """Return whether each symbol of several characters results from an earlier merge.

    The engine asks this after it has removed merges to make the inputs smaller.
    """
    made = set[str]()
    for first, second in json.loads(inputs["merges"]):
        if any(len(symbol) > 1 and symbol not in made for symbol in (first, second)):
            return False
        made.add(first + second)
    return True


CASES = [
    case("known", "words old and new", lambda draw: _draw_learnt(draw, 14, 12),
         "Start with characters; apply every merge wherever it fits."),
    case("order", "merges that compete", lambda draw: _draw_competing(draw, "abcd"),
         "The merges apply in the order in which they were learnt."),
    case("signs", "punctuation among the letters", lambda draw: _draw_competing(draw, "ab.(\\1"),
         "A pair is two whole symbols, whatever characters they are made of."),
    case("many", "many merges", lambda draw: _draw_learnt(draw, 18, 40),
         "Frequent words end up whole; new ones are cut into known parts."),
    case("long", "hundreds of merges, and long words", lambda draw: _draw_competing_last(draw, "abcde"),
         "All merges apply, however many there are, and to the whole word."),
    case("others", "other words", lambda draw: _draw_learnt(draw, 10, 20),
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
    wrong("another_order",
          "The merges are applied in another order than that in which they were learnt: backwards or sorted.",
          "Which merge was learnt first, and why does it come first?",
          edit("for pair in merges:", "for pair in reversed(merges):", name="reversed"),
          edit("for pair in merges:", "for pair in sorted(merges):", name="sorted_merges")),
    wrong("joined_text",
          "You search a joined text, where the boundaries between symbols are lost: `(a, b)` also joins `xa` and `b`.",
          "Where does a symbol begin in your text? Is `xa`, `b` the pair `(a, b)`?",
          source('''
              def segment(word, merges):
                  text = ' '.join(word)
                  for pair in merges:
                      text = text.replace(' '.join(pair), ''.join(pair))
                  return text.split()
              ''')),
    wrong("characters", "The word stays cut into characters.",
          "What does `merge_pair` return, and where do you keep it?",
          edit("symbols = merge_pair(symbols, pair)", "merge_pair(symbols, pair)")),
    wrong("whole_word", "You return the whole word in a list.",
          "What is `list(word)`, and what is `[word]`?",
          edit("symbols = list(word)", "symbols = [word]")),
    wrong("not_all_merges", "Not all merges are applied: your loop over them ends too early.",
          "What happens after the first merge that fits, or that does not, and which merge is the last one tried?",
          edit("symbols = merge_pair(symbols, pair)", """
              before, symbols = symbols, merge_pair(symbols, pair)
              if symbols != before:
                  break
              """, name="first_merge_only"),
          edit("symbols = merge_pair(symbols, pair)", """
              before, symbols = symbols, merge_pair(symbols, pair)
              if symbols == before:
                  break
              """, name="until_one_does_not_fit"),
          edit("for pair in merges:", "for pair in merges[:-1]:", name="last_merge_left_out"),
          edit("for pair in merges:", "for pair in merges[:100]:", name="first_hundred")),
    wrong("first_place_only", "Each merge is applied only at the first position in the word where it fits.",
          "How often does the pair `(a, b)` occur in `a b c a b`?",
          source("""
              def segment(word, merges):
                  symbols = list(word)
                  for pair in merges:
                      for i in range(len(symbols) - 1):
                          if (symbols[i], symbols[i + 1]) == tuple(pair):
                              symbols[i : i + 2] = ["".join(pair)]
                              break
                  return symbols
              """)),
    wrong("whatever_fits", "You merge whatever pair fits further left, whenever it was learnt.",
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
              """, name="leftmost_first"),
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
              """, name="from_left_to_right")),
    wrong("unknown_characters_lost", "Characters that occur in no merge are lost.",
          "What should become of a letter that does not occur in the corpus?",
          edit("symbols = list(word)", "symbols = [c for c in word if any(c in a + b for a, b in merges)]"),
          edit("return symbols", "return [s for s in symbols if any(s in a + b for a, b in merges)]",
               name="unknown_symbols_lost"), tests="character"),
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
    tells={"others": "from_left_to_right", "signs": "whole_words_first"},
    precise=False, cases=CASES, mutants=MISTAKES, accepted=ACCEPTED, is_possible=_can_be_learnt
)
