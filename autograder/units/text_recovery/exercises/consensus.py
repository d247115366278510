"""The text that agrees best with the others."""

from __future__ import annotations

import json
from collections.abc import Sequence

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Specification
from autograder.units.text_recovery.exercises._inputs import natural_sentences, some_of


def _lists(draw: Draw, sizes: Sequence[int], pool: int, below_zero: bool = False) -> Inputs:
    """Lists of these sizes, from a pool of texts; a similarity for each ordered pair.

    Texts are drawn with repetition where a list is longer than half of the pool. How much
    a text is like itself differs from text to text. No two sums are equal by chance.
    They lie between 0 and 1, or far ``below_zero``.
    """
    texts = natural_sentences(draw, pool)
    shift, unit = (-3000, 1) if below_zero else (0, 1024)
    table = {a: {b: int(draw.ids(0, 90, 1)) + 2.0 ** -(i + 1) + shift for b in texts} for i, a in enumerate(texts)}
    for text in texts:
        table[text][text] += int(draw.ids(90, 900, 1))
    table = {a: {b: n / unit for b, n in row.items()} for a, row in table.items()}
    lists = [
        [texts[int(i)] for i in draw.ids(0, pool, size)] if 2 * size > pool else some_of(draw, texts, size)
        for size in sizes
    ]
    return {"lists": json.dumps(lists), "table": json.dumps(table)}


def _ties(draw: Draw) -> Inputs:
    """All texts are equally good, or the best two are."""
    texts = natural_sentences(draw, 4)
    level = int(draw.ids(20, 80, 1))
    table = {a: {b: level for b in texts} for a in texts}
    one, two, three, four = texts
    table[two][one] = table[three][one] = level + 8
    lists = [[one, two], [four, two, three, one], [one, four], [three, two, one]]
    # The first one's mean is exactly 0, which is more than -1.
    table[four][one], table[one][four] = 0, -1
    lists.append([four, one])
    return {"lists": json.dumps(lists), "table": json.dumps(table)}


_OTHERS = "[*texts[:i], *texts[i + 1 :]]"
_SUM = "sum(similarity(texts[i], other) for other in others)"
_BEST = "texts[max(range(len(texts)), key=agreement)]"

CASES = [
    case("different", "five texts, all different", lambda draw: _lists(draw, (3, 5, 4, 6) * 5, 12) | {"turned": "too"},
         "Compare each text with all others, as the first argument."),
    case("twins", "texts that were drawn more than once", lambda draw: _lists(draw, (3, 5, 7, 4, 6) * 6, 4),
         "A twin at another place is one of the others, and counts each time."),
    case("alone", "a single text", lambda draw: _lists(draw, (1, 1, 2, 3, 3) * 6, 8),
         "Who is alone agrees with nobody, and is the answer all the same."),
    case("ties", "texts that are equally good", _ties,
         "Of equally good texts the first in the list wins."),
    case("below_zero", "similarities below zero", lambda draw: _lists(draw, (3, 5, 4, 6) * 6, 5, below_zero=True),
         "A similarity is any number: compare the scores as they are.", tells=("twins_left_out", "same_object")),
    case("many", "a dozen texts, and more", lambda draw: _lists(draw, (8, 12, 24) * 20, 6),
         "The same for longer lists.", hidden_only=True),
]

MISTAKES = [
    wrong("with_itself",
          "Each text is compared with itself, too.",
          "At which places of the list stand the *others*?",
          edit(_OTHERS, "texts"),
          source("""
              def consensus(texts, similarity):
                  best, most = None, -math.inf
                  for text in texts:
                      mean = sum(similarity(text, o) for o in texts) / len(texts)
                      if mean > most:
                          best, most = text, mean
                  return best
              """, name="itself_in_the_mean")),
    wrong("twins_left_out",
          "Twins of a text do not count: you leave out all texts that *equal* it, not only the one at its own place.",
          "What does it say about a text that it was drawn three times?",
          edit(_OTHERS, "[o for o in texts if o != texts[i]]"),
          edit(_OTHERS, "[o for o in texts if o is not texts[i]]", name="same_object")),
    wrong("each_once",
          "Each different text counts once, however often it was drawn.",
          "What is lost when a list becomes a set?",
          edit("def agreement", """
              texts = list(dict.fromkeys(texts))

              def agreement""")),
    wrong("others_once",
          "Each different text counts once among the others, however often it was drawn.",
          "What is lost when a list becomes a set?",
          edit(_OTHERS, "dict.fromkeys([*texts[:i], *texts[i + 1 :]])")),
    wrong("exchanged",
          "`similarity` gets its two texts the other way round.",
          "Which text is judged, and which one is it compared with?",
          edit("similarity(texts[i], other)", "similarity(other, texts[i])")),
    wrong("both_ways",
          "You add up the similarity in both directions.",
          "Which of the two texts is the one that is judged?",
          edit("similarity(texts[i], other)", "similarity(texts[i], other) + similarity(other, texts[i])")),
    wrong("least",
          "You chose the text that agrees *least* with the others.",
          "Is a large similarity good or bad?",
          edit("max(range", "min(range")),
    wrong("best_pair",
          "You look at the most similar other text only, not at all of them.",
          "What is the mean of the similarities, and what their largest?",
          edit(_SUM, "max([similarity(texts[i], other) for other in others], default=0)")),
    wrong("worst_pair",
          "You look at the least similar other text only, not at all of them.",
          "What is the mean of the similarities, and what their smallest?",
          edit(_SUM, "min([similarity(texts[i], other) for other in others], default=0)")),
    wrong("last_of_equals",
          "Of equally good texts you take the last one.",
          "What do `>` and `>=` do when two scores are equal?",
          source("""
              def consensus(texts, similarity):
                  best, most = 0, -1.0
                  for i, text in enumerate(texts):
                      score = sum(similarity(text, o)
                                  for j, o in enumerate(texts) if j != i)
                      if score >= most:
                          best, most = i, score
                  return texts[best]
              """)),
    wrong("most_frequent",
          "You take the text that was drawn most often; similarity plays no part.",
          "What would you answer if all texts were different?",
          source("""
              def consensus(texts, similarity):
                  return Counter(texts).most_common(1)[0][0]
              """),
          source("""
              def consensus(texts, similarity):
                  return max(texts, key=texts.count)
              """, name="mode")),
    wrong("compared_with_first",
          "All texts are compared with the first one only.",
          "How many others does each text have?",
          edit(_OTHERS, "[texts[0]] if i else []")),
    wrong("earlier_ones",
          "A text is compared with those before it only.",
          "Which places does your inner loop visit?",
          edit(_OTHERS, "texts[:i]")),
    wrong("later_ones",
          "A text is compared with those behind it only.",
          "Which places does your inner loop visit?",
          edit(_OTHERS, "texts[i + 1 :]")),
    wrong("neighbours",
          "A text is compared with its next neighbour only.",
          "How many others does each text have?",
          edit(_OTHERS, "[texts[(i + 1) % len(texts)]] if len(texts) > 1 else []")),
    wrong("place",
          "You return the place of the text, not the text.",
          "What does the signature promise?",
          edit(_BEST, "max(range(len(texts)), key=agreement)")),
    wrong("score",
          "You return how well the best text agrees, not the text.",
          "What is the difference between `max(...)` and `max(..., key=...)`?",
          edit(_BEST, "max(map(agreement, range(len(texts))))")),
    wrong("starts_at_zero",
          "Your search for the best begins at a number such as 0: where all similarities are below it, the best is "
          "not found.",
          "Which number is below all others?",
          source("""
              def consensus(texts, similarity):
                  best, most = None, 0.0
                  for i, text in enumerate(texts):
                      score = sum(similarity(text, o)
                                  for j, o in enumerate(texts) if j != i)
                      if score > most or len(texts) == 1:
                          best, most = text, score
                  return best
              """),
          source("""
              def consensus(texts, similarity):
                  best, answer = -1.0, texts[0]
                  for i, text in enumerate(texts):
                      values = [similarity(text, o) for j, o in enumerate(texts) if j != i]
                      score = sum(values) / max(len(values), 1)
                      if score > best:
                          best, answer = score, text
                  return answer
              """, name="starts_at_minus_one")),
    wrong("rounded",
          "The scores are rounded before they are compared.",
          "What is left of two similarities between 0 and 1 when they are rounded?",
          edit(_SUM, f"round({_SUM})")),
    wrong("nobody_alone",
          "A single text is refused: your mean divides by zero.",
          "How many others has a text that is alone?",
          edit(_SUM, _SUM + " / len(others)")),
    wrong("first_text",
          "You return the first text, whatever the others say.",
          "Where does your code use `similarity`?",
          source("""
              def consensus(texts, similarity):
                  return texts[0]
              """)),
    wrong("last_text",
          "You return the last text, whatever the others say.",
          "Where does your code use `similarity`?",
          source("""
              def consensus(texts, similarity):
                  return texts[-1]
              """)),
    wrong("list_emptied",
          "Your function takes texts out of the caller's list.",
          "What does the list look like after your call?",
          source("""
              def consensus(texts, similarity):
                  scores, given = [], list(texts)
                  while texts:
                      texts.pop(0)
                      i = len(scores)
                      scores.append(sum(similarity(given[i], o) for j, o
                                        in enumerate(given) if j != i))
                  return given[scores.index(max(scores))]
              """)),
    wrong("zero_is_nothing",
          "A best score of exactly 0 counts as none: a worse text takes its place.",
          "What is `not 0.0`?",
          source("""
              def consensus(texts, similarity):
                  best, answer = None, None
                  for i, text in enumerate(texts):
                      score = sum(similarity(text, o) for j, o in enumerate(texts) if j != i)
                      if not best or score > best:
                          best, answer = score, text
                  return answer
              """)),
    wrong("lists_only",
          "Texts that come as a tuple stop your function.",
          "What is a `Sequence`, besides a list?",
          edit("others = [*texts[:i], *texts[i + 1 :]]", "others = texts[:i] + [] + texts[i + 1 :]")),
]

ACCEPTED = [
    right("loops", source("""
        def consensus(texts, similarity):
            best, most = texts[0], -math.inf
            for i in range(len(texts)):
                total = 0.0
                for j in range(len(texts)):
                    if i != j:
                        total += similarity(texts[i], texts[j])
                if total > most:
                    best, most = texts[i], total
            return best
        """)),
    right("whole_mean", source("""
        def consensus(texts, similarity):
            if len(texts) == 1:
                return texts[0]
            scores = [
                sum(similarity(a, b) for j, b in enumerate(texts) if j != i)
                / (len(texts) - 1)
                for i, a in enumerate(texts)
            ]
            return texts[scores.index(max(scores))]
        """)),
    right("a_matrix", source("""
        def consensus(texts, similarity):
            table = torch.tensor([[similarity(a, b) for b in texts] for a in texts],
                                 dtype=torch.float64)
            return texts[int(table.fill_diagonal_(0.0).sum(1).argmax())]
        """)),
    right("counted", source("""
        def consensus(texts, similarity):
            times = Counter(texts)
            def score(text):
                left = times - Counter([text])
                return sum(n * similarity(text, other) for other, n in left.items())
            return max(times, key=score)
        """)),
]

EXERCISE = Specification(
    name="text_recovery/consensus", title="What most of them agree on", target="consensus", precise=False,
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
