"""Numbers for words."""

from __future__ import annotations

from autograder.oracle.draw import Draw
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Inputs,
    Maker,
    Mutant,
    Specification,
    Way,
)

_WORDS = ("the", "The", "cat", "dog,", "dog", "sees", "a", "tree.", "and", "über", "it")


def _sentences(
    *sizes: int, gaps: tuple[str, ...] = (" ",), around: str = "", last: str = "owl"
) -> Maker:
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

EXERCISE = Specification(
    name="sequence_reversal/word_ids",
    title="Numbers for words",
    target="word_ids",
    precise=False,
    cases=[
        CaseKind(
            name="three",
            title="three sentences",
            inputs=_sentences(4, 6, 3),
            hint="Follow the counter through the first sentence by hand.",
        ),
        CaseKind(
            name="gaps",
            title="odd spaces between the words, and around them",
            inputs=_sentences(
                *(5, 4),
                gaps=(" ", "   ", "\t", " \r ", "\f", "\u2003"),
                around=" ",
                last="owl - 7",
            ),
            hint="White space is more than a single blank.",
        ),
        CaseKind(
            name="many",
            title="six sentences",
            inputs=_sentences(2, 7, 5, 8, 3, 6, last="m² owl - 7 m2"),
            hint="As above.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="from_zero",
            says="Your ids start at 0, where the special tokens live.",
            asks="Which ids are taken already?",
            ways=[Way(edits=[Edit("FIRST + len(ids)", "len(ids)")])],
        ),
        Mutant(
            name="from_one",
            says="Your ids start at 1, so the first words share their ids with BOS, "
            "EOS and UNK.",
            asks="What is `FIRST`?",
            ways=[Way(edits=[Edit("FIRST + len(ids)", "1 + len(ids)")])],
        ),
        Mutant(
            name="from_five",
            says="Your ids start one too late.",
            asks="How many words does the dictionary hold when the first one arrives?",
            ways=[Way(edits=[Edit("FIRST + len(ids)", "FIRST + 1 + len(ids)")])],
        ),
        Mutant(
            name="beginnings_made_small",
            says="The first letter of each sentence became small: `Some` is now `some`.",
            asks="Do upper and lower case differ, also at the beginning of a sentence?",
            ways=[Way(edits=[
                Edit("sentence.split()", "(sentence.lstrip()[:1].lower() + sentence.lstrip()[1:]).split()"),
            ])],
        ),
        Mutant(
            name="texts_for_ids",
            says="Your ids are texts, `'4'` instead of `4`.",
            asks="Which type does the docstring ask for?",
            ways=[Way(edits=[Edit("FIRST + len(ids)", "str(FIRST + len(ids))")])],
        ),
        Mutant(
            name="made_alike",
            says="Words that look alike get one id, `m²` and `m2` for example.",
            asks="Are they the same word, letter by letter?",
            ways=[Way(edits=[Edit("sentence.split()", "__import__('unicodedata').normalize('NFKC', sentence).split()")])],
        ),
        Mutant(
            name="repeats_counted",
            says="The counter goes on when a word is repeated, so your ids have gaps.",
            asks="What should happen to the counter when a known word comes again?",
            ways=[Way(source="""
                def word_ids(sentences):
                    ids = {}
                    words = [w for s in sentences for w in s.split()]
                    for number, word in enumerate(words):
                        ids.setdefault(word, FIRST + number)
                    return ids
                """)],
        ),
        Mutant(
            name="last_wins",
            says="A repeated word gets a new id each time, so its first one is lost.",
            asks="What does `ids[word] = ...` do with a word that is known already?",
            ways=[Way(edits=[Edit(_NEW, "ids[word] = FIRST + len(ids)")])],
        ),
        Mutant(
            name="alphabetical",
            says="Your words are numbered in alphabetical order; the order of "
            "appearance is asked for.",
            asks="Which word of the first sentence should have the id 4?",
            ways=[Way(source="""
                def word_ids(sentences):
                    words = sorted({w for s in sentences for w in s.split()})
                    return {w: FIRST + i for i, w in enumerate(words)}
                """)],
        ),
        Mutant(
            name="most_frequent",
            says="Your words are numbered by how often they occur; the order of "
            "appearance is asked for.",
            asks="Which word of the first sentence should have the id 4?",
            ways=[Way(source="""
                def word_ids(sentences):
                    from collections import Counter
                    words = Counter(w for s in sentences for w in s.split())
                    return {w: FIRST + i for i, (w, _) in enumerate(sorted(words.items(), key=lambda p: (-p[1], p[0])))}
                """)],
        ),
        Mutant(
            name="lower_case",
            says="You made all words lower case, so `The` and `the` became one.",
            asks="Should the model be able to write a capital letter?",
            ways=[Way(edits=[Edit("sentence.split()", "sentence.lower().split()")])],
        ),
        Mutant(
            name="punctuation",
            says="You removed punctuation, so `dog,` and `dog` became one word.",
            asks="To which word does a comma belong here?",
            ways=[Way(edits=[
                Edit("for word in sentence.split():",
                     "for word in sentence.replace(',', '').replace('.', '').split():"),
            ])],
        ),
        Mutant(
            name="signs_left_out",
            says="Words without a letter, such as `7` or `-`, have no id.",
            asks="What separates words here, and what makes no difference?",
            ways=[
                Way(edits=[
                    Edit("sentence.split()", "(w for w in sentence.split() if any(map(str.isalpha, w)))"),
                ]),
            ],
        ),
        Mutant(
            name="characters",
            says="You numbered characters, not words.",
            asks="What does a loop over a string give?",
            ways=[Way(edits=[Edit("sentence.split()", "sentence")])],
        ),
        Mutant(
            name="blanks_only",
            says="You split at single blanks. Several blanks or a tab then give empty "
            "or joined words.",
            asks="What is `'a  b'.split(' ')`, and what `'a  b'.split()`?",
            ways=[Way(edits=[Edit("sentence.split()", "sentence.split(' ')")])],
        ),
        Mutant(
            name="sentences",
            says="You numbered whole sentences.",
            asks="Which method cuts a sentence into words?",
            ways=[Way(edits=[Edit("sentence.split()", "[sentence]")])],
        ),
        Mutant(
            name="first_sentence",
            says="Only the words of the first sentence have ids.",
            asks="When does your function return?",
            ways=[Way(edits=[Edit("    return ids", "        return ids")])],
        ),
        Mutant(
            name="from_ids",
            says="Your dictionary goes from ids to words; the other direction is asked "
            "for.",
            asks="With what will you look up the word `cat`?",
            ways=[Way(edits=[
                Edit("    return ids", "    return {i: w for w, i in ids.items()}"),
            ])],
        ),

        Mutant(
            name="empty_word",
            says="An empty word has an id: where a sentence begins or ends with white "
            "space, nothing stands before or behind it.",
            asks='What does `re.split(r"\\s+", " a b")` give?',
            ways=[Way(source="""
                def word_ids(sentences):
                    import re
                    ids = {}
                    for sentence in sentences:
                        for word in re.split(r"\\s+", sentence):
                            ids.setdefault(word, FIRST + len(ids))
                    return ids
                """)],
        ),
    ],
    accepted=[
        Accepted(name="from_keys", source="""
            def word_ids(sentences):
                words = dict.fromkeys(' '.join(sentences).split())
                return {word: FIRST + i for i, word in enumerate(words)}
            """),
        Accepted(name="counter", source="""
            def word_ids(sentences):
                ids, number = {}, 4
                for s in sentences:
                    for w in s.split():
                        if w not in ids:
                            ids[w] = number
                            number += 1
                return ids
            """),
    ],
)
