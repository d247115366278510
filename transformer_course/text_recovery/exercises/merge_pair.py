"""Cases and mistakes for an exercise: merge a pair of symbols where it occurs."""

from __future__ import annotations

import json

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Specification
from transformer_course.text_recovery.exercises._inputs import draw_some


def _draw_rows(draw: Draw, longest: int, signs: bool = False) -> Inputs:
    """Draw random lists of two letters, and add hand-written lists; each comes with a pair to merge.

    With ``signs``, some lists contain punctuation that has a meaning in regular expressions.
    """
    rows = []
    for length in (3, longest, longest + 2):
        letters = ["ab"[int(i)] for i in draw.ids(0, 2, length)]
        rows += [[letters, ["a", "b"]], [letters, ["a", "a"]], [letters, ["b", "a"]]]
    rows.append([["ab", "a", "b", "ab"], ["ab", "ab"]])
    rows.append([list("x" + "ab" * 3), ["a", "b"]])
    rows.append([list("aaaaa"), ["a", "a"]])
    rows.append([["a", "b", "ab", "abc"], ["a", "bc"]])
    rows.append([["xa", "b", "a", "bx", "a", "b"], ["a", "b"]])  # parts of symbols do not count
    rows.append([["a", "bc", "ab", "c", "abc"], ["ab", "c"]])  # the same letters
    if signs:  # each is a symbol like any other
        rows.append([list("a.babb.b"), [".", "b"]])
        rows.append([list("a(b)*(b"), ["(", "b"]])
        rows.append([list("a\\1b\\1"), ["\\", "1"]])
    return {"rows": json.dumps(rows)}


def _draw_shortest(draw: Draw) -> Inputs:
    """Lists of no, one and two symbols."""
    a, b, c = draw_some(draw, "defghijk", 3)
    rows: tuple[list[str], ...] = ([], [a], [b], [a + b], [a, b], [b, a], [a, a], [c, c], [b, c])
    return {"rows": json.dumps([[row, [a, b]] for row in rows])}


CASES = [
    case("short", "three to six symbols", lambda draw: _draw_rows(draw, 4),
         "Wherever the two symbols are neighbours, they become one."),
    case("long", "up to fourteen symbols, punctuation among them", lambda draw: _draw_rows(draw, 12, signs=True),
         "Merge from left to right; a merged symbol is used up."),
    case("least", "two symbols, one, and none", _draw_shortest,
         "A list of fewer than two symbols has no pair: return a copy of it.", aspect="limits"),
    case("longer", "lists of more than a hundred symbols", lambda draw: _draw_rows(draw, 130),
         "The same for longer lists.", hidden_only=True),
]

_MATCHES = "tuple(symbols[i : i + 2]) == pair"
_START = "merged, i = [], 0"

MISTAKES = [
    wrong("first_only", "Only the first occurrence is merged.",
          "How often may the pair occur in a word?",
          edit(_MATCHES, f"{_MATCHES} and len(merged) == i")),
    wrong("signs_as_rules",
          "`re.sub` interprets some characters: signs like `.` and `(` in its pattern, a backslash in its replacement.",
          "What does `.` match in `re.sub`, and what is it in a word?",
          source(r"""
              import re
              def merge_pair(symbols, pair):
                  pattern = re.compile(r"(?<!\S)" + " ".join(pair) + r"(?!\S)")
                  return pattern.sub("".join(pair), " ".join(symbols)).split()
              """),
          source(r"""
              import re
              def merge_pair(symbols, pair):
                  pattern = re.compile(r"(?<!\S)" + re.escape(" ".join(pair)) + r"(?!\S)")
                  return pattern.sub("".join(pair), " ".join(symbols)).split()
              """, name="backslash_as_rule")),
    wrong("used_twice", "A symbol is used twice: when it has been merged, it remains, or is merged once more.",
          "How far must the index move after a merge?",
          edit("i += width", "i += 1", name="second_kept"),
          edit("i += width", f"i += 1 if {_MATCHES} == tuple(symbols[i + 1 : i + 3]) else width",
               name="overlapping")),
    wrong("at_the_end", "The end of the list goes wrong: its last symbol is lost, or its last two are never merged.",
          "Where does your loop over the list end? For a list of two symbols, how often does it run?",
          edit("while i < len(symbols):", "while i < len(symbols) - 1:", name="last_lost"),
          edit(_MATCHES, f"i + 2 < len(symbols) and {_MATCHES}", name="end_not_merged")),
    wrong("from_the_right", "The pair is merged from right to left: `a a a` gives `a aa`.",
          "At which end should the loop begin?",
          edit(_START, "symbols, pair, merged, i = symbols[::-1], pair[::-1], [], 0",
               '"".join(symbols[i : i + width])', '"".join(symbols[i : i + width][::-1])',
               "return merged", "return merged[::-1]"), tests="merged"),
    wrong("joined_text",
          "You search in a joined text, where the borders of symbols are lost: letters merge that were not two "
          "neighbouring symbols.",
          "Where does a symbol begin in your text? Are `ab`, `c` and `a`, `bc` the same pair?",
          source("""
              import re
              def merge_pair(symbols, pair):
                  return re.findall(re.escape(''.join(pair)) + '|.', ''.join(symbols))
              """, name="no_borders"),
          source("""
              def merge_pair(symbols, pair):
                  merged = ' '.join(symbols).replace(' '.join(pair), ''.join(pair)).split()
                  return merged
              """, name="between_spaces")),
    wrong("joined_pair", "You compare the joined symbols, so `ab`, `c` passes for the pair `a`, `bc`.",
          "Are `ab`, `c` and `a`, `bc` the same pair? Which two comparisons tell them apart?",
          edit(_MATCHES, '"".join(symbols[i : i + 2]) == "".join(pair)')),
    wrong("unchanged", "Nothing is merged; perhaps a list is compared with a tuple.",
          "What is `['a', 'b'] == ('a', 'b')`?",
          edit(_MATCHES, "symbols[i : i + 2] == pair")),
    wrong("again_and_again", "The merged symbol is merged again with what follows: `a a a a` has become one symbol.",
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
    wrong("in_place", "You have modified the argument.",
          "Who else may hold that list? If you copy it, do you do so before the first change?",
          edit("return merged", """
              symbols[:] = merged
              return symbols
              """),
          edit("return merged", """
              symbols[:] = merged
              return merged
              """, name="changed_and_copied"),
          source("""
              def merge_pair(symbols, pair):
                  i = 0
                  while i < len(symbols) - 1:
                      if (symbols[i], symbols[i + 1]) == pair:
                          symbols[i:i + 2] = [pair[0] + pair[1]]
                          i += 1
                      i += 1
                  return symbols
              """, name="in_place_and_one_skipped"), tests="modified"),
    wrong("either_order", "The pair is merged in both orders.",
          "Is `b a` the pair `(a, b)`?",
          edit(_MATCHES, "tuple(symbols[i : i + 2]) in (pair, pair[::-1])")),
    wrong("any_of_the_pair",
          "You merge any two neighbours that both occur in the pair: for `(a, b)`, also `b a` and `a a`.",
          "What does `s in pair` ask about a symbol, and where in the pair should it be?",
          edit(_MATCHES, "i + 1 < len(symbols) and set(symbols[i : i + 2]) <= set(pair)"),
          edit(_MATCHES, "i + 1 < len(symbols) and set(symbols[i : i + 2]) <= set(pair)",
               '"".join(symbols[i : i + width])', '"".join(pair) if width == 2 else symbols[i]', name="pair_appended")),
    wrong("same_list", "If nothing is merged, you return the argument itself, not a new list.",
          "What happens if the caller then changes the result?",
          edit("return merged", "return merged if len(merged) < len(symbols) else symbols")),
    wrong("empty_fails", "Your function fails on an empty list.",
          "What is the first symbol of an empty list?",
          edit(_START, "first, merged, i = symbols[0], [], 0")),
    wrong("empty_string", "For an empty list, you return a list with an empty string in it.",
          'What is `"".split(" ")`, and what is `"".split()`?',
          edit("return merged", 'return " ".join(merged).split(" ")')),
    wrong("tuple", "You return a tuple instead of a list.",
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

EXERCISE = Specification(precise=False, cases=CASES, mutants=MISTAKES, accepted=ACCEPTED)
