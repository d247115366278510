"""The levels of the pipeline."""

from __future__ import annotations

import json
from collections.abc import Sequence

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Specification
from autograder.units.text_recovery.exercises._inputs import (
    closed_class,
    natural_sentences,
    normal_text,
)


def _texts(draw: Draw, levels: Sequence[int], articles: bool = True) -> Inputs:
    """Texts with repeated words; lemmas of function words as well, as traps.

    Without ``articles``, they are no function words here.
    """
    texts = [normal_text(t) for t in natural_sentences(draw, 5)]
    first = texts[0].split()
    texts[0] = " ".join([*first, *first[:2], "the", "the", first[-1]])
    words = list(dict.fromkeys(" ".join(texts).split()))
    dropped = [w for w in words if w in closed_class()] + ["the", "is", "a", "in"]
    dropped = list(dict.fromkeys(dropped))
    if not articles:
        dropped = [w for w in dropped if w not in ("the", "a", "an")]
    lemmas = {word: f"{word[:3]}e" for word in words if len(word) > 4}
    lemmas |= {"is": "be", "was": "be", "the": "teh", "had": "have", "ox": "oxen", "inn": "Inn"}
    content = [w for w in words if w not in (*dropped, "the", "a", "an")]
    lemmas[content[0]] = "the"  # a lemma that looks like a function word must stay
    own = content[-1]  # a function word here, whatever the course's list says
    dropped.append(own)
    inner = f"theatre isa {content[1]} bathe inn check-in don't off-the-peg a-{own} off ox"
    return {
        "texts": json.dumps([*texts, inner, f"{own} he's at {content[0]}", "the is a"]),
        "dropped": json.dumps(dropped),
        "lemmas": json.dumps(lemmas),
        "levels": json.dumps(list(levels)),
    }


CASES = [
    case("two", "level 2, articles are no function words", lambda draw: _texts(draw, [2], articles=False),
         "Level 2 drops function words, whole words only; everything else stays."),
    case("three", "level 3", lambda draw: _texts(draw, [3]),
         "Level 3 drops function words first and then takes lemmas of what is left."),
    case("all", "all levels", lambda draw: _texts(draw, [1, 2, 3]),
         "Level 1 changes nothing; each level does all that the one before does."),
    case("again", "other texts", lambda draw: _texts(draw, [3, 1, 2]),
         "The levels do not depend on each other's calls.", hidden_only=True),
]

MISTAKES = [
    wrong("lemmas_first",
          "Lemmas are taken before function words are dropped: `was` becomes `be`, and may escape.",
          "Is the list of function words a list of lemmas?",
          source("""
              def eliminate(text, level, function_words, lemma):
                  words = text.split()
                  if level >= 3:
                      words = [lemma(w) for w in words]
                  if level >= 2:
                      words = [w for w in words if w not in function_words]
                  return ' '.join(words)
              """)),
    wrong("lemmas_made_small",
          "What `lemma` gives is written in small letters, whatever it is.",
          "Whose word on capitals counts: yours, or that of `lemma`?",
          edit("lemma(word) for", "lemma(word).lower() for")),
    wrong("level_1_drops",
          "Level 1 drops function words already.",
          "What does level 1 do to a normalised text?",
          edit("if level >= 2:", "if level >= 1:")),
    wrong("level_3_keeps",
          "Level 3 takes lemmas, but the function words are still there.",
          "Level 3 does everything that level 2 does. Does yours?",
          edit("if level >= 2:", "if level == 2:")),
    wrong("level_2_lemmas",
          "Level 2 takes lemmas already.",
          "From which level on are words cut to their dictionary form?",
          edit("if level >= 3:", "if level >= 2:")),
    wrong("no_lemmas",
          "Level 3 gives what level 2 gives: the lemmas are missing.",
          "Who calls `lemma`, and what becomes of its result?",
          edit("words = [lemma(word) for word in words]", "[lemma(word) for word in words]")),
    wrong("inverted",
          "The function words are kept and all others dropped.",
          "Which words carry the meaning?",
          edit("word not in function_words", "word in function_words")),
    wrong("sets",
          "Each word is left once, or in another order: a set forgets both.",
          "What does `set` do to `the boy saw the boy`?",
          source("""
              def eliminate(text, level, function_words, lemma):
                  words = list(dict.fromkeys(text.split()))
                  if level >= 2:
                      words = [w for w in words if w not in function_words]
                  if level >= 3:
                      words = [lemma(w) for w in words]
                  return ' '.join(words)
              """)),
    wrong("replaced_inside",
          "Function words are cut out of the text wherever their letters stand: `theatre` has lost its `the`.",
          "What does `text.replace` know about words?",
          source("""
              def eliminate(text, level, function_words, lemma):
                  if level >= 2:
                      for word in sorted(function_words):
                          text = text.replace(word, '')
                  words = text.split()
                  if level >= 3:
                      words = [lemma(w) for w in words]
                  return ' '.join(words)
              """)),
    wrong("own_articles",
          "Articles are dropped, whether they are in `function_words` or not.",
          "Who says which words are to be dropped?",
          edit("word not in function_words", "word not in {'the', 'a', 'an', *function_words}")),
    wrong("lemma_dropped",
          "Words are dropped by their lemma: a word whose lemma looks like a function word is lost.",
          "Which form of a word decides whether it is dropped?",
          edit("word not in function_words", "lemma(word) not in function_words and word not in function_words")),
    wrong("removed_while_walking",
          "Of two function words in a row one stays: the list shrinks while you walk along it.",
          "What is the next word, after one was removed?",
          source("""
              def eliminate(text, level, function_words, lemma):
                  words = text.split()
                  if level >= 2:
                      for w in words:
                          if w in function_words:
                              words.remove(w)
                  if level >= 3:
                      words = [lemma(w) for w in words]
                  return ' '.join(words)
              """)),
    wrong("unchanged",
          "The text comes back as it was, at every level.",
          "Which line changes it?",
          source("""
              def eliminate(text, level, function_words, lemma):
                  return text
              """)),
    wrong("glued",
          "The words are joined without spaces.",
          "What stands between two words?",
          edit('" ".join(words)', '"".join(words)')),
]

ACCEPTED = [
    right("one_pass", source("""
        def eliminate(text, level, function_words, lemma):
            kept = []
            for w in text.split(' '):
                if level > 1 and w in function_words:
                    continue
                kept.append(lemma(w) if level == 3 else w)
            return ' '.join(kept)
        """)),
    right("early_return", source("""
        def eliminate(text, level, function_words, lemma):
            if level == 1:
                return text
            words = filter(lambda w: w not in function_words, text.split())
            return ' '.join(map(lemma, words) if level == 3 else words)
        """)),
    right("recursive", source("""
        def eliminate(text, level, function_words, lemma):
            if level == 3:
                rest = eliminate(text, 2, function_words, lemma)
                return ' '.join(lemma(w) for w in rest.split())
            if level == 2:
                return ' '.join(w for w in text.split() if w not in function_words)
            return text
        """)),
]

EXERCISE = Specification(
    name="text_recovery/eliminate", title="The levels of the pipeline", target="eliminate", precise=False,
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
