"""The levels of the pipeline."""

from __future__ import annotations

import json
from collections.abc import Sequence

from autograder.bank.text_recovery._inputs import (
    closed_class,
    natural_sentences,
    normal_text,
)
from autograder.oracle.draw import Draw
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Inputs,
    Mutant,
    Specification,
    Way,
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


EXERCISE = Specification(
    name="text_recovery/eliminate",
    title="The levels of the pipeline",
    target="eliminate",
    precise=False,
    cases=[
        CaseKind(
            name="two",
            title="level 2, articles are no function words",
            inputs=lambda draw: _texts(draw, [2], articles=False),
            hint="Level 2 drops function words, whole words only; everything else "
            "stays.",
        ),
        CaseKind(
            name="three",
            title="level 3",
            inputs=lambda draw: _texts(draw, [3]),
            hint="Level 3 drops function words first and then takes lemmas of what is "
            "left.",
        ),
        CaseKind(
            name="all",
            title="all levels",
            inputs=lambda draw: _texts(draw, [1, 2, 3]),
            hint="Level 1 changes nothing; each level does all that the one before "
            "does.",
        ),
        CaseKind(
            name="again",
            title="other texts",
            inputs=lambda draw: _texts(draw, [3, 1, 2]),
            hint="The levels do not depend on each other's calls.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="lemmas_first",
            says="Lemmas are taken before function words are dropped: `was` becomes "
            "`be`, and may escape.",
            asks="Is the list of function words a list of lemmas?",
            ways=[Way(source="""
                def eliminate(text, level, function_words, lemma):
                    words = text.split()
                    if level >= 3:
                        words = [lemma(w) for w in words]
                    if level >= 2:
                        words = [w for w in words if w not in function_words]
                    return ' '.join(words)
                """)],
        ),
        Mutant(
            name="lemmas_made_small",
            says="What `lemma` gives is written in small letters, whatever it is.",
            asks="Whose word on capitals counts: yours, or that of `lemma`?",
            ways=[Way(edits=[Edit("lemma(word) for", "lemma(word).lower() for")])],
        ),
        Mutant(
            name="level_1_drops",
            says="Level 1 drops function words already.",
            asks="What does level 1 do to a normalised text?",
            ways=[Way(edits=[Edit("if level >= 2:", "if level >= 1:")])],
        ),
        Mutant(
            name="level_3_keeps",
            says="Level 3 takes lemmas, but the function words are still there.",
            asks="Level 3 does everything that level 2 does. Does yours?",
            ways=[Way(edits=[Edit("if level >= 2:", "if level == 2:")])],
        ),
        Mutant(
            name="level_2_lemmas",
            says="Level 2 takes lemmas already.",
            asks="From which level on are words cut to their dictionary form?",
            ways=[Way(edits=[Edit("if level >= 3:", "if level >= 2:")])],
        ),
        Mutant(
            name="no_lemmas",
            says="Level 3 gives what level 2 gives: the lemmas are missing.",
            asks="Who calls `lemma`, and what becomes of its result?",
            ways=[Way(edits=[
                Edit("words = [lemma(word) for word in words]",
                     "[lemma(word) for word in words]"),
            ])],
        ),
        Mutant(
            name="inverted",
            says="The function words are kept and all others dropped.",
            asks="Which words carry the meaning?",
            ways=[Way(edits=[
                Edit("word not in function_words", "word in function_words"),
            ])],
        ),
        Mutant(
            name="sets",
            says="Each word is left once, or in another order: a set forgets both.",
            asks="What does `set` do to `the boy saw the boy`?",
            ways=[Way(source="""
                def eliminate(text, level, function_words, lemma):
                    words = list(dict.fromkeys(text.split()))
                    if level >= 2:
                        words = [w for w in words if w not in function_words]
                    if level >= 3:
                        words = [lemma(w) for w in words]
                    return ' '.join(words)
                """)],
        ),
        Mutant(
            name="replaced_inside",
            says="Function words are cut out of the text wherever their letters stand: "
            "`theatre` has lost its `the`.",
            asks="What does `text.replace` know about words?",
            ways=[Way(source="""
                def eliminate(text, level, function_words, lemma):
                    if level >= 2:
                        for word in sorted(function_words):
                            text = text.replace(word, '')
                    words = text.split()
                    if level >= 3:
                        words = [lemma(w) for w in words]
                    return ' '.join(words)
                """)],
        ),
        Mutant(
            name="own_articles",
            says="Articles are dropped, whether they are in `function_words` or not.",
            asks="Who says which words are to be dropped?",
            ways=[Way(edits=[
                Edit("word not in function_words",
                     "word not in {'the', 'a', 'an', *function_words}"),
            ])],
        ),
        Mutant(
            name="lemma_dropped",
            says="Words are dropped by their lemma: a word whose lemma looks like a "
            "function word is lost.",
            asks="Which form of a word decides whether it is dropped?",
            ways=[Way(edits=[
                Edit("word not in function_words",
                     "lemma(word) not in function_words and word not in function_words"),
            ])],
        ),
        Mutant(
            name="removed_while_walking",
            says="Of two function words in a row one stays: the list shrinks while you "
            "walk along it.",
            asks="What is the next word, after one was removed?",
            ways=[Way(source="""
                def eliminate(text, level, function_words, lemma):
                    words = text.split()
                    if level >= 2:
                        for w in words:
                            if w in function_words:
                                words.remove(w)
                    if level >= 3:
                        words = [lemma(w) for w in words]
                    return ' '.join(words)
                """)],
        ),
        Mutant(
            name="unchanged",
            says="The text comes back as it was, at every level.",
            asks="Which line changes it?",
            ways=[Way(source="""
                def eliminate(text, level, function_words, lemma):
                    return text
                """)],
        ),
        Mutant(
            name="glued",
            says="The words are joined without spaces.",
            asks="What stands between two words?",
            ways=[Way(edits=[Edit('" ".join(words)', '"".join(words)')])],
        ),
    ],
    accepted=[
        Accepted(name="one_pass", source="""
            def eliminate(text, level, function_words, lemma):
                kept = []
                for w in text.split(' '):
                    if level > 1 and w in function_words:
                        continue
                    kept.append(lemma(w) if level == 3 else w)
                return ' '.join(kept)
            """),
        Accepted(name="early_return", source="""
            def eliminate(text, level, function_words, lemma):
                if level == 1:
                    return text
                words = filter(lambda w: w not in function_words, text.split())
                return ' '.join(map(lemma, words) if level == 3 else words)
            """),
        Accepted(name="recursive", source="""
            def eliminate(text, level, function_words, lemma):
                if level == 3:
                    rest = eliminate(text, 2, function_words, lemma)
                    return ' '.join(lemma(w) for w in rest.split())
                if level == 2:
                    return ' '.join(w for w in text.split() if w not in function_words)
                return text
            """),
    ],
)
