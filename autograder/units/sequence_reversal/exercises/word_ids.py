"""Ids for words."""

from __future__ import annotations

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification

_WORDS = ("the", "The", "cat", "dog,", "dog", "sees", "a", "tree.", "and", "über", "it")


def _sentences(*sizes: int, gaps: tuple[str, ...] = (" ",), around: str = "", last: str = "owl") -> Maker:
    def inputs(draw: Draw) -> Inputs:
        lines = []
        for size in sizes:
            words = [_WORDS[int(i)] for i in draw.ids(0, len(_WORDS), size)]
            line = words[0]
            for word in words[1:]:
                line += gaps[int(draw.ids(0, len(gaps)))] + word
            lines.append(line)
        lines[0] += " the cat The the"  # a word again, as it was and capitalised
        # Words that the first sentence does not have, one capitalised at the beginning.
        lines[-1] = f"Some {lines[-1]} {last}"
        return {"sentences": "\n".join(around + line + around for line in lines)}

    return inputs


_NEW = "ids.setdefault(word, FIRST + len(ids))"

CASES = [
    case("three", "three sentences", _sentences(4, 6, 3),
         "Follow the counter through the first sentence by hand."),
    case("gaps", "odd spaces between the words, and around them",
         _sentences(*(5, 4), gaps=(" ", "   ", "\t", " \r ", "\f", "\u2003"), around=" ", last="owl - 7"),
         "White space is more than a single space."),
    case("many", "six sentences", _sentences(2, 7, 5, 8, 3, 6, last="m² owl - 7 m2"),
         "Does your code depend on the number of sentences?", hidden_only=True),
]

MISTAKES = [
    wrong("from_zero",
          "Your ids start at 0, but the first ids belong to the special tokens.",
          "Which ids are already taken?",
          edit("FIRST + len(ids)", "len(ids)")),
    wrong("from_one",
          "Your ids start at 1, so the first words share their ids with BOS, EOS and UNK.",
          "What is `FIRST`?",
          edit("FIRST + len(ids)", "1 + len(ids)")),
    wrong("from_five",
          "Your ids start one too high.",
          "How many words does the dictionary hold when the first one arrives?",
          edit("FIRST + len(ids)", "FIRST + 1 + len(ids)")),
    wrong("beginnings_made_small",
          "You lower-cased the first letter of each sentence: `Some` is now `some`.",
          "Do upper and lower case matter even at the beginning of a sentence?",
          edit("sentence.split()", "(sentence.lstrip()[:1].lower() + sentence.lstrip()[1:]).split()")),
    wrong("texts_for_ids",
          "Your ids are strings, `'4'` instead of `4`.",
          "Which type does the docstring ask for?",
          edit("FIRST + len(ids)", "str(FIRST + len(ids))")),
    wrong("made_alike",
          "Words that look alike share an id, for example `m²` and `m2`.",
          "Are they the same word, letter by letter?",
          edit("sentence.split()", "__import__('unicodedata').normalize('NFKC', sentence).split()")),
    wrong("repeats_counted",
          "The counter also advances when a word is repeated, so your ids have gaps.",
          "What should the counter do when a known word appears again?",
          source("""
              def word_ids(sentences):
                  ids = {}
                  words = [w for s in sentences for w in s.split()]
                  for number, word in enumerate(words):
                      ids.setdefault(word, FIRST + number)
                  return ids
              """)),
    wrong("last_wins",
          "A repeated word gets a new id each time, so its first id is lost.",
          "What does `ids[word] = ...` do to a word that is already known?",
          edit(_NEW, "ids[word] = FIRST + len(ids)")),
    wrong("alphabetical",
          "Your words are numbered in alphabetical order instead of in order of appearance.",
          "Which word of the first sentence should have the id 4?",
          source("""
              def word_ids(sentences):
                  words = sorted({w for s in sentences for w in s.split()})
                  return {w: FIRST + i for i, w in enumerate(words)}
              """)),
    wrong("alphabetical_in_lower_case",
          "Two slips at once: your words are in lower case, and numbered in alphabetical order.",
          "Are `The` and `the` the same word? Which word of the first sentence should have the id 4?",
          source("""
              def word_ids(sentences):
                  words = sorted({w for s in sentences for w in s.lower().split()})
                  return {w: FIRST + i for i, w in enumerate(words)}
              """)),
    wrong("most_frequent",
          "Your words are numbered by frequency instead of in order of appearance.",
          "Which word of the first sentence should have the id 4?",
          source("""
              def word_ids(sentences):
                  from collections import Counter
                  words = Counter(word for sentence in sentences for word in sentence.split())
                  return {word: FIRST + i for i, (word, _) in enumerate(words.most_common())}
              """)),
    wrong("most_frequent_sorted",
          "Your words are numbered by frequency, and alphabetically where that is equal, instead of in order of "
          "appearance.",
          "Which word of the first sentence should have the id 4?",
          source("""
              def word_ids(sentences):
                  from collections import Counter
                  words = Counter(word for sentence in sentences for word in sentence.split())
                  order = sorted(words.items(), key=lambda p: (-p[1], p[0]))
                  return {word: FIRST + i for i, (word, _) in enumerate(order)}
              """)),
    wrong("lower_case",
          "You lower-cased all words, so `The` and `the` became one.",
          "Should the model be able to write a capital letter?",
          edit("sentence.split()", "sentence.lower().split()")),
    wrong("punctuation",
          "You removed punctuation, so `dog,` and `dog` became one word.",
          "Which word does a comma belong to here?",
          edit("for word in sentence.split():", "for word in sentence.replace(',', '').replace('.', '').split():")),
    wrong("signs_left_out",
          "Words without a letter, such as `7` or `-`, get no id.",
          "What makes something a word here?",
          edit("sentence.split()", "(w for w in sentence.split() if any(map(str.isalpha, w)))")),
    wrong("characters",
          "You numbered characters, not words.",
          "What does a loop over a string give?",
          edit("sentence.split()", "sentence")),
    wrong("blanks_only",
          "You split at single spaces, so several spaces or a tab give empty or joined words.",
          "What is `'a  b'.split(' ')`, and what is `'a  b'.split()`?",
          edit("sentence.split()", "sentence.split(' ')")),
    wrong("sentences",
          "You numbered whole sentences.",
          "Which method splits a sentence into words?",
          edit("sentence.split()", "[sentence]")),
    wrong("first_sentence",
          "Only the words of the first sentence get ids.",
          "When does your function return?",
          edit("    return ids", "        return ids")),
    wrong("from_ids",
          "Your dictionary maps ids to words; it should map words to ids.",
          "With which key would you look up the word `cat`?",
          edit("    return ids", "    return {i: w for w, i in ids.items()}")),
    wrong("empty_word",
          "The empty word has an id: it appears where a sentence begins or ends with white space.",
          'What does `re.split(r"\\s+", " a b")` give?',
          source("""
              def word_ids(sentences):
                  import re
                  ids = {}
                  for sentence in sentences:
                      for word in re.split(r"\\s+", sentence):
                          ids.setdefault(word, FIRST + len(ids))
                  return ids
              """)),
]

ACCEPTED = [
    right("from_keys", source("""
        def word_ids(sentences):
            words = dict.fromkeys(' '.join(sentences).split())
            return {word: FIRST + i for i, word in enumerate(words)}
        """)),
    right("counter", source("""
        def word_ids(sentences):
            ids, number = {}, 4
            for s in sentences:
                for w in s.split():
                    if w not in ids:
                        ids[w] = number
                        number += 1
            return ids
        """)),
]

EXERCISE = Specification(
    name="sequence_reversal/word_ids", title="Ids for words", target="word_ids", precise=False,
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
