"""A cheapest alignment of output and original."""

from __future__ import annotations

import json

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Specification
from transformer_course.text_recovery.exercises._inputs import (
    WORDS,
    natural_sentences,
    some_of,
)


def _changed(draw: Draw, rows: int, changes: int) -> Inputs:
    """Sentences, and what is left of them after some drawn changes."""
    found = []
    for sentence in natural_sentences(draw, rows):
        original, output = sentence.split(), sentence.split()
        for _ in range(changes):
            place, kind = (int(draw.ids(0, n, 1)) for n in (len(output), 3))
            if kind == 0:
                output[place] = output[place].upper()
            elif kind == 1 and len(output) > 1:
                del output[place]
            else:
                output.insert(place, ["the", "a", "was"][int(draw.ids(0, 3, 1))])
        found.append([output, original])
    return {"rows": json.dumps([*found, *_tempting(draw)])}


def _tempting(draw: Draw) -> list[list[list[str]]]:
    """Changes that are paired otherwise as soon as not each of them costs 1.

    Whatever is drawn, they tell words that are compared in lower case, taken out or
    put in for nothing, matched in long stretches, or left out at the start.
    """
    first, second = (text.split() for text in natural_sentences(draw, 2))
    a, b, same = some_of(draw, WORDS, 3)
    moved = [[*first[:2], a, b, same, *first[2:]], [*first[:2], same, a.upper(), b.upper(), *first[2:]]]
    return [moved, moved[::-1], [["so", *second], second]]


def _few_words(draw: Draw, *lengths: tuple[int, int], same: int = 2) -> Inputs:
    """Texts of three different words: nearly every cell has several ways in."""

    def text(length: int) -> list[str]:
        return ["abc"[int(i)] for i in draw.ids(0, 3, length)]

    twice = text(same)
    rows = [[text(n), text(m)] for n, m in lengths]
    return {"rows": json.dumps([*rows, [twice, twice]])}


def _shifted(draw: Draw) -> Inputs:
    """Words too many or too few at an end: place by place, all would be wrong.

    In the last two rows, five stand at one end for five that are gone at the other.
    """
    long = " ".join(natural_sentences(draw, 4)).split()
    own, other = ([w] * 5 for w in some_of(draw, WORDS, 2))
    turned = [[*long, *own], [*other, *long]]
    rows = [turned, turned[::-1]]
    for n, sentence in enumerate(natural_sentences(draw, 6)):
        words = sentence.split()
        extra = ["so"] * (1 + n % 3)
        rows.append([[*extra, *words], words] if n % 2 else [words, [*extra, *words]])
    return {"rows": json.dumps(rows)}


def _one_is_long(draw: Draw) -> Inputs:
    """More changes than a byte can count, of a short text on either side."""
    words = " ".join(natural_sentences(draw, 60)).split()[:270]
    few = some_of(draw, WORDS, 3)
    return {"rows": json.dumps([[words, few], [few, words]])}


_SAME = "cost[i - 1][j - 1] + (own != right),"
_LEFT = "pairs.append((output[i], None))"
_RIGHT = "pairs.append((None, original[j]))"


def _by(cost: str) -> str:
    """A solution by recursion whose last step has this cost; smallest first."""
    return f"""
        def align(output, original):
            import functools

            @functools.cache
            def best(i, j):
                if not i or not j:
                    return (i + j, [*((a, None) for a in output[:i]),
                                    *((None, b) for b in original[:j])])
                a, b = output[i - 1], original[j - 1]
                ways = []
                for di, dj, pair in ((1, 1, (a, b)), (1, 0, (a, None)), (0, 1, (None, b))):
                    before, pairs = best(i - di, j - dj)
                    ways.append((before + {cost}, [*pairs, pair]))
                return min(ways, key=lambda way: way[0])

            return best(len(output), len(original))[1]
        """


CASES = [
    case("sentences", "sentences with one or two changes",
         lambda draw: {
             "rows": json.dumps(
                 json.loads(_changed(draw, 14, 1)["rows"])
                 + json.loads(_changed(draw, 14, 2)["rows"])
             )
         },
         "Equal words should find each other; each change costs 1.", tells=("border_of_zeros",)),
    case("shifted", "extra or missing words at the start", _shifted,
         "After a missing word, the positions no longer agree."),
    case("few_words", "texts of three different words",
         lambda draw: _few_words(draw, *((5, 4), (3, 6), (7, 7), (6, 2), (8, 5), (1, 4), (9, 9)) * 3),
         "Return an alignment with the fewest possible changes."),
    case("empty", "an empty output, an empty original, both",
         lambda draw: _few_words(draw, (0, 3), (4, 0), (0, 0), same=4),
         "If one text is empty, all tokens of the other are missing or extra."),
    case("one_is_long", "a text of hundreds of tokens and a short one", _one_is_long,
         "How large can the numbers in your table become, and how deep can a recursion go?"),
    case("long", "longer texts, many changes", lambda draw: _changed(draw, 40, 6),
         "The same for more changes.", hidden_only=True, tells=("border_of_zeros",)),
]

MISTAKES = [
    wrong("place_by_place",
          "You compare position by position: after one missing word, everything counts as wrong.",
          "Which word does the third one meet if the second is missing?",
          source("""
              def align(output, original):
                  from itertools import zip_longest
                  return list(zip_longest(output, original))
              """)),
    wrong("never_replaced",
          "A wrong word is never paired with the correct one: you delete one and insert the other, at a cost of two.",
          "What does the pair `(sleeps, slept)` cost?",
          edit(_SAME, "cost[i - 1][j - 1] + 2 * (own != right),",
               "cost[i - 1][j - 1] + (output[i - 1] != original[j - 1])",
               "cost[i - 1][j - 1] and output[i - 1] == original[j - 1]")),
    wrong("greedy",
          "You go from left to right and take the first match; a later token may need that word.",
          "Two alignments are equally good so far. Can you tell in advance which one will turn out better?",
          source("""
              def align(output, original):
                  pairs, j = [], 0
                  for word in output:
                      if word in original[j:]:
                          k = j + list(original[j:]).index(word)
                          pairs += [(None, b) for b in original[j:k]]
                          pairs.append((word, word))
                          j = k + 1
                      else:
                          pairs.append((word, None))
                  return pairs + [(None, b) for b in original[j:]]
              """)),
    wrong("difflib",
          "`SequenceMatcher` looks for long equal stretches, not for the fewest changes.",
          "Can one long match cost more elsewhere than it saves?",
          source("""
              def align(output, original):
                  from difflib import SequenceMatcher
                  from itertools import zip_longest
                  pairs = []
                  matcher = SequenceMatcher(None, output, original, autojunk=False)
                  for _, a, b, c, d in matcher.get_opcodes():
                      pairs += zip_longest(output[a:b], original[c:d])
                  return pairs
              """)),
    wrong("left_over_in_a_block",
          "Where a block of your `SequenceMatcher` has more tokens on one side than on the other, `zip` drops those "
          "that are left over.",
          "How many tokens of `a b c` occur in `zip('abc', 'xy')`, and which function fills up with `None`?",
          source("""
              def align(output, original):
                  from difflib import SequenceMatcher
                  from itertools import zip_longest
                  pairs = []
                  for tag, a, b, c, d in SequenceMatcher(None, output, original, autojunk=False).get_opcodes():
                      fill = zip if tag == "replace" else zip_longest
                      pairs += fill(output[a:b], original[c:d])
                  return pairs
              """)),
    wrong("equal_is_not_better",
          "A pair of equal words costs as much as a wrong one, so any two words are paired.",
          "What does the pair `(cake, the)` cost, and what `(cake, cake)`?",
          edit(_SAME, "cost[i - 1][j - 1] + 1,", "(output[i - 1] != original[j - 1])", "1")),
    wrong("taking_out_is_free",
          "An extra word costs nothing.",
          "What does the pair `(the, None)` cost?",
          source(_by("(pair[1] is not None and pair[0] != pair[1])"))),
    wrong("putting_in_is_free",
          "A missing word costs nothing.",
          "What does the pair `(None, the)` cost?",
          source(_by("(pair[0] is not None and pair[0] != pair[1])"))),
    wrong("gaps_are_dear",
          "Missing and extra words cost 2 each in your table.",
          "How many pairs differ in each of the two ways that you compare?",
          source(_by("(0 if pair[0] == pair[1] else 2 if None in pair else 1)"))),
    wrong("case_is_ignored",
          "`The` and `the` count as equal.",
          "Which kind of mistake could never be found then?",
          source(_by("(str(pair[0]).lower() != str(pair[1]).lower()) - (di + dj == 1) / 64"))),
    wrong("reversed",
          "Your pairs are in reverse order.",
          "From which end did you walk back, and what has to happen to the list?",
          edit("return pairs[::-1]", "return pairs")),
    wrong("exchanged",
          "Output and original are swapped in your pairs.",
          "Which side comes first?",
          edit("return pairs[::-1]", "return [(b, a) for a, b in pairs[::-1]]")),
    wrong("differences_only",
          "Pairs of equal words are missing.",
          "In how many pairs does each token occur?",
          edit("return pairs[::-1]", "return [p for p in pairs[::-1] if p[0] != p[1]]")),
    wrong("missing_left_out",
          "Words of the original that are missing in the output occur in no pair.",
          "Where should a missing word show up?",
          edit(_RIGHT, "pass")),
    wrong("extra_left_out",
          "Extra words of the output occur in no pair.",
          "Where should an extra word show up?",
          edit(_LEFT, "pass")),
    wrong("start_left_out",
          "The walk ends as soon as one of the texts is used up: the start of the other one is missing.",
          "What is left when you reach the edge of the table?",
          edit("while i or j:", "while i and j:")),
    wrong("empty_texts",
          "You mark missing tokens with empty strings `\"\"` instead of `None`.",
          "How would you tell a missing token from an empty one?",
          edit(_LEFT, 'pairs.append((output[i], ""))', _RIGHT, 'pairs.append(("", original[j]))')),
    wrong("number",
          "You return the number of changes, not the alignment.",
          "What does the signature promise?",
          edit("return pairs[::-1]", "return cost[-1][-1]")),
    wrong("one_byte_per_cost",
          "Your table stores each cost in one byte, which ends at 255: longer texts fail.",
          "How many changes turn 300 tokens into none?",
          source("""
              def align(output, original):
                  cost = [bytearray(i + j for j in range(len(original) + 1)) for i in range(len(output) + 1)]
                  for i, own in enumerate(output, 1):
                      for j, right in enumerate(original, 1):
                          cost[i][j] = min(cost[i - 1][j - 1] + (own != right), cost[i - 1][j] + 1,
                                           cost[i][j - 1] + 1)
                  pairs, i, j = [], len(output), len(original)
                  while i or j:
                      if i and j and cost[i][j] == cost[i - 1][j - 1] + (output[i - 1] != original[j - 1]):
                          i, j = i - 1, j - 1
                          pairs.append((output[i], original[j]))
                      elif i and cost[i][j] == cost[i - 1][j] + 1:
                          i -= 1
                          pairs.append((output[i], None))
                      else:
                          j -= 1
                          pairs.append((None, original[j]))
                  return pairs[::-1]
              """)),
    wrong("border_of_zeros",
          "The first row and column of your table are zeros: words at the start cost nothing there.",
          "What does it cost to turn three words into none?",
          edit("[[i + j for j in", "[[0 for j in",
               "elif i and cost[i][j] == cost[i - 1][j] + 1:",
               "elif i and (not j or cost[i][j] == cost[i - 1][j] + 1):")),
]

ACCEPTED = [
    right("by_recursion", source(_by("(pair[0] != pair[1])"))),
    right("gaps_first", source("""
        def align(output, original):
            n, m = len(output), len(original)
            d = [[0] * (m + 1) for _ in range(n + 1)]
            came = [[None] * (m + 1) for _ in range(n + 1)]
            for i in range(n + 1):
                for j in range(m + 1):
                    options = []
                    if i:
                        options.append((d[i - 1][j] + 1, 1, 0))
                    if j:
                        options.append((d[i][j - 1] + 1, 0, 1))
                    if i and j:
                        wrong = int(output[i - 1] != original[j - 1])
                        options.append((d[i - 1][j - 1] + wrong, 1, 1))
                    if options:
                        d[i][j], *came[i][j] = min(options, key=lambda o: o[0])
            pairs = []
            while (n, m) != (0, 0):
                a, b = came[n][m]
                pairs.insert(0, (output[n - 1] if a else None,
                                 original[m - 1] if b else None))
                n, m = n - a, m - b
            return pairs
        """)),
    right("forward", source("""
        def align(output, original):
            rows = [[[None, b] for b in original[:j]] for j in range(len(original) + 1)]
            price = list(range(len(original) + 1))
            for i, a in enumerate(output, 1):
                new, fee = [[*rows[0], [a, None]]], [i]
                for j, b in enumerate(original, 1):
                    ways = [(fee[j - 1] + 1, new[j - 1], [None, b]),
                            (price[j] + 1, rows[j], [a, None]),
                            (price[j - 1] + (a != b), rows[j - 1], [a, b])]
                    cost, before, last = min(ways, key=lambda way: way[0])
                    fee.append(cost)
                    new.append([*before, last])
                rows, price = new, fee
            return rows[-1]
        """)),
    right("with_a_tensor", source("""
        def align(output, original):
            n, m = len(output), len(original)
            cost = torch.zeros(n + 1, m + 1, dtype=torch.long)
            cost[:, 0], cost[0] = torch.arange(n + 1), torch.arange(m + 1)
            for i in range(1, n + 1):
                for j in range(1, m + 1):
                    cost[i, j] = min(cost[i - 1, j] + 1, cost[i, j - 1] + 1,
                                     cost[i - 1, j - 1] + (output[i - 1] != original[j - 1]))
            back = []
            while n or m:
                if m and cost[n, m] == cost[n, m - 1] + 1:
                    m -= 1
                    back.append((None, original[m]))
                elif n and cost[n, m] == cost[n - 1, m] + 1:
                    n -= 1
                    back.append((output[n], None))
                else:
                    n, m = n - 1, m - 1
                    back.append((output[n], original[m]))
            return tuple(reversed(back))
        """)),
]

EXERCISE = Specification(
    name="text_recovery/align", title="Align output and original", target="align", precise=False,
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
