"""Merge one pair."""

from __future__ import annotations

import json

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Specification
from transformer_course.text_recovery.exercises._inputs import some_of


def _rows(draw: Draw, longest: int, signs: bool = False) -> Inputs:
    rows = []
    for length in (3, longest, longest + 2):
        letters = ["ab"[int(i)] for i in draw.ids(0, 2, length)]
        rows += [[letters, ["a", "b"]], [letters, ["a", "a"]], [letters, ["b", "a"]]]
    rows.append([["ab", "a", "b", "ab"], ["ab", "ab"]])
    rows.append([list("x" + "ab" * 3), ["a", "b"]])
    rows.append([list("aaaaa"), ["a", "a"]])
    rows.append([["a", "b", "ab", "abc"], ["a", "bc"]])
    rows.append([["xa", "b", "a", "bx", "a", "b"], ["a", "b"]])  # ends are no symbols
    rows.append([["a", "bc", "ab", "c", "abc"], ["ab", "c"]])  # the same letters
    rows.append([["A", "b", "a", "b", "a", "B"], ["a", "b"]])
    if signs:  # each is a symbol like any other
        rows.append([list("a.babb.b"), [".", "b"]])
        rows.append([list("a(b)*(b"), ["(", "b"]])
        rows.append([list("a\\1b\\1"), ["\\", "1"]])
    return {"rows": json.dumps(rows)}


def _least(draw: Draw) -> Inputs:
    """Lists of no symbol, of one symbol, and of two."""
    a, b, c = some_of(draw, "defghijk", 3)
    rows: tuple[list[str], ...] = ([], [a], [b], [a + b], [a, b], [b, a], [a, a], [c, c], [b, c])
    return {"rows": json.dumps([[row, [a, b]] for row in rows])}


CASES = [
    case("short", "three to six symbols", lambda draw: _rows(draw, 4),
         "Wherever the two symbols are neighbours, they become one."),
    case("long", "up to fourteen symbols, punctuation among them", lambda draw: _rows(draw, 12, signs=True),
         "Merge from left to right; a merged symbol is used up."),
    case("least", "two symbols, one, and none", _least,
         "A list of fewer than two symbols has no pair: return a copy of it."),
    case("longer", "lists of more than a hundred symbols", lambda draw: _rows(draw, 130),
         "The same for longer lists.", hidden_only=True),
]

MISTAKES = [
    wrong("first_only",
          "Only the first occurrence is merged.",
          "How often may the pair occur in a word?",
          source("""
              def merge_pair(symbols, pair):
                  for i in range(len(symbols) - 1):
                      if (symbols[i], symbols[i + 1]) == pair:
                          return symbols[:i] + [pair[0] + pair[1]] + symbols[i + 2:]
                  return list(symbols)
              """)),
    wrong("case_ignored",
          "Capitals are treated like lower-case letters: `A b` is merged for the pair `(a, b)`.",
          "Are `A` and `a` the same symbol?",
          source("""
              def merge_pair(symbols, pair):
                  out = []
                  for symbol in symbols:
                      if out and (out[-1] + " " + symbol).lower() == " ".join(pair).lower():
                          out[-1] += symbol
                      else:
                          out.append(symbol)
                  return out
              """)),
    wrong("signs_as_rules",
          "Characters like `.` and `(` are interpreted as regular-expression syntax.",
          "What does `.` match in `re.sub`, and what is it in a word?",
          source(r"""
                     def merge_pair(symbols, pair):
                         pattern = re.compile(r"(?<!\S)" + " ".join(pair) + r"(?!\S)")
                         return pattern.sub("".join(pair), " ".join(symbols)).split()
                     """)),
    wrong("backslash_as_rule",
          "A backslash in the pair is interpreted as an escape in the replacement text of `re.sub`.",
          "What does a backslash before a digit mean in the second argument of `re.sub`?",
          source(r"""
                     def merge_pair(symbols, pair):
                         pattern = re.compile(r"(?<!\S)" + re.escape(" ".join(pair)) + r"(?!\S)")
                         return pattern.sub("".join(pair), " ".join(symbols)).split()
                     """)),
    wrong("overlapping",
          "A symbol is used twice: in `a a a` both pairs are merged.",
          "How far must the index move after a merge?",
          source("""
              def merge_pair(symbols, pair):
                  out, i = [], 0
                  while i < len(symbols):
                      if tuple(symbols[i:i + 2]) == pair:
                          out.append(pair[0] + pair[1])
                          if i + 2 == len(symbols):
                              break
                      elif not (i and tuple(symbols[i - 1:i + 1]) == pair):
                          out.append(symbols[i])
                      i += 1
                  return out
              """)),
    wrong("last_lost",
          "The last symbol is lost when it is not merged.",
          "Where does your loop over the list end?",
          source("""
              def merge_pair(symbols, pair):
                  out, i = [], 0
                  while i < len(symbols) - 1:
                      hit = (symbols[i], symbols[i + 1]) == pair
                      out.append(symbols[i] + symbols[i + 1] if hit else symbols[i])
                      i += 2 if hit else 1
                  return out
              """)),
    wrong("end_not_merged",
          "A pair at the very end of the list is not merged.",
          "For a list of two symbols, how often does your loop run?",
          edit("tuple(symbols[i : i + 2]) == pair", "i + 2 < len(symbols) and tuple(symbols[i : i + 2]) == pair")),
    wrong("second_kept",
          "The pair is merged, but its second symbol also remains.",
          "How far must the index move after a merge?",
          edit("i += width", "i += 1")),
    wrong("from_the_right",
          "The pair is merged from right to left: `a a a` gives `a aa`.",
          "At which end should the loop begin?",
          source("""
              def merge_pair(symbols, pair):
                  out, i = [], len(symbols)
                  while i > 0:
                      width = 2 if tuple(symbols[max(i - 2, 0):i]) == pair else 1
                      out.insert(0, ''.join(symbols[i - width:i]))
                      i -= width
                  return out
              """), tests="merged"),
    wrong("by_text",
          "The symbols are joined and cut again, so their borders are lost, and letters merge that were not two "
          "neighbouring symbols.",
          "Are the symbols `ab`, `c` and the symbols `a`, `bc` the same word? Are they the same pair?",
          source("""
              def merge_pair(symbols, pair):
                  text, new = ''.join(symbols), pair[0] + pair[1]
                  out = []
                  while text:
                      cut = len(new) if text.startswith(new) else 1
                      out.append(text[:cut])
                      text = text[cut:]
                  return out
              """)),
    wrong("unchanged",
          "Nothing is merged; perhaps a list is compared with a tuple.",
          "What is `['a', 'b'] == ('a', 'b')`?",
          edit("tuple(symbols[i : i + 2]) == pair", "symbols[i : i + 2] == pair")),
    wrong("again_and_again",
          "The merged symbol is merged again with what follows: `a a a a` has become one symbol.",
          "May a newly merged symbol take part in the same round?",
          source("""
              def merge_pair(symbols, pair):
                  out = []
                  for s in symbols:
                      if out and out[-1].endswith(pair[0]) and s == pair[1]:
                          out[-1] += s
                      else:
                          out.append(s)
                  return out
              """)),
    wrong("in_place",
          "You have modified the argument.",
          "Who else may hold that list?",
          source("""
              def merge_pair(symbols, pair):
                  i = 0
                  while i < len(symbols) - 1:
                      if (symbols[i], symbols[i + 1]) == pair:
                          symbols[i:i + 2] = [pair[0] + pair[1]]
                      i += 1
                  return symbols
              """), tests="modified"),
    wrong("in_place_and_one_skipped",
          "You have modified the argument. Besides, the index moves too far after a merge.",
          "Who else may hold that list? When two symbols have become one, where is the next one?",
          source("""
              def merge_pair(symbols, pair):
                  i = 0
                  while i < len(symbols) - 1:
                      if (symbols[i], symbols[i + 1]) == pair:
                          symbols[i:i + 2] = [pair[0] + pair[1]]
                          i += 1
                      i += 1
                  return symbols
              """)),
    wrong("either_order",
          "The pair is merged in both orders.",
          "Is `b a` the pair `(a, b)`?",
          edit("tuple(symbols[i : i + 2]) == pair", "tuple(symbols[i : i + 2]) in (pair, pair[::-1])")),
    wrong("same_list",
          "If nothing is merged, you return the argument itself, not a new list.",
          "What happens if the caller then changes the result?",
          edit("return merged", "return merged if len(merged) < len(symbols) else symbols")),
    wrong("changed_and_copied",
          "You return a new list, but you have also modified the argument.",
          "When do you make the copy: before the first change or after the last?",
          source("""
              def merge_pair(symbols, pair):
                  for i, _ in enumerate(symbols):
                      if tuple(symbols[i : i + 2]) == pair:
                          symbols[i:i + 2] = [''.join(pair)]
                  return list(symbols)
              """)),
    wrong("empty_fails",
          "Your function fails on an empty list.",
          "What is the first symbol of an empty list?",
          source("""
              def merge_pair(symbols, pair):
                  out, fresh = [symbols[0]], False
                  for s in symbols[1:]:
                      fresh = not fresh and (out[-1], s) == pair
                      if fresh:
                          out[-1] += s
                      else:
                          out.append(s)
                  return out
              """)),
    wrong("between_spaces",
          "You search for the pair in a joined text: the end of `xa` is taken for the symbol `a`.",
          "Where does a symbol begin in a text that is joined with spaces?",
          source("""
              def merge_pair(symbols, pair):
                  return ' '.join(symbols).replace(' '.join(pair), ''.join(pair)).split()
              """)),
    wrong("tuple",
          "You return a tuple instead of a list.",
          "What does the task say about the result?",
          edit("return merged", "return tuple(merged)")),
]

ACCEPTED = [
    right("while_loop", source("""
        def merge_pair(symbols, pair):
            out, i = [], 0
            while i < len(symbols):
                if i + 1 < len(symbols) and symbols[i] == pair[0] and symbols[i + 1] == pair[1]:
                    out.append(pair[0] + pair[1]); i += 2
                else:
                    out.append(symbols[i]); i += 1
            return out
        """)),
    right("copy_in_place", source("""
        def merge_pair(symbols, pair):
            symbols, i = list(symbols), 0
            while i < len(symbols) - 1:
                if (symbols[i], symbols[i + 1]) == pair:
                    symbols[i:i + 2] = [''.join(pair)]
                i += 1
            return symbols
        """)),
    right("iterator", source("""
        def merge_pair(symbols, pair):
            out, fresh = [], False
            for s in symbols:
                if out and not fresh and (out[-1], s) == pair:
                    out[-1] += s; fresh = True
                else:
                    out.append(s); fresh = False
            return out
        """)),
]

EXERCISE = Specification(
    precise=False,
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
