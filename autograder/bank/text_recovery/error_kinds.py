"""Mistakes by kind."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from autograder.bank.text_recovery._inputs import some_of
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

Pair = tuple[str | None, str | None]

# Words in groups of one lemma, the lemma first; function words have groups, too.
_FORMS = (
    ("bake", "bakes", "baked"), ("walk", "walks", "walked"), ("key", "keys"),
    ("mouse", "mice"), ("sing", "sang", "sung"), ("child", "children"),
)  # fmt: skip
_LITTLE = (("be", "is", "was", "were"), ("have", "has", "had"), ("the",), ("a",), ("to",))
_SIGNS = (".", ",", "!", "?", '"', "...", "-")
_NUMBERS = ("12", "7", "1,000")


def _rows(draw: Draw, rows: Iterable[Sequence[Pair]]) -> Inputs:
    """Pairs in a drawn order, with what the student is given beside them.

    Each stands there once to three times, or the numbers would be known beforehand.
    """
    lemmas = {w: group[0] for group in (*_FORMS, *_LITTLE) for w in group}
    little = [w for group in _LITTLE for w in group]
    return {
        "rows": json.dumps([_repeated(draw, row) for row in rows]),
        "lemmas": json.dumps(lemmas),
        "words": json.dumps(little),
    }


def _repeated(draw: Draw, row: Sequence[Pair]) -> list[Pair]:
    pairs = [pair for pair in row for _ in range(int(draw.ids(1, 4, 1)))]
    return some_of(draw, pairs, len(pairs))


def _case(draw: Draw) -> list[Pair]:
    word, other = some_of(draw, [w for group in _FORMS for w in group], 2)
    return [(word.title(), word), (other, other.title()), ("Is", "is"), ("the", "The"),
            (word.upper(), word.title())]  # fmt: skip


def _sign(draw: Draw) -> list[Pair]:
    one, two, three = some_of(draw, _SIGNS, 3)
    return [(one, two), (None, three), (two, None), (one, three), ("...", "!")]


def _little(draw: Draw) -> list[Pair]:
    one, two, three = some_of(draw, [w for group in _LITTLE for w in group], 3)
    return [(one, two), (None, three), (two.title(), None), ("is", "was"),
            ("Has", "had"), (None, "The"), ("A", "the")]  # fmt: skip


def _form(draw: Draw) -> list[Pair]:
    one, two, three = some_of(draw, _FORMS, 3)
    return [(one[0], one[1]), (two[1].title(), two[0]), (three[0], three[1].title()),
            ("mice", "mouse"), ("baked", "bakes")]  # fmt: skip


def _word(draw: Draw) -> list[Pair]:
    one, two, three = some_of(draw, _FORMS, 3)
    number, other = some_of(draw, _NUMBERS, 2)
    return [(one[0], two[0]), (None, three[1]), (two[1], None), (one[1], "the"),
            ("was", three[0]), (",", one[0]), ("the", "."), (number, other),
            (None, number), ("don't", "dont"), (".", "a")]  # fmt: skip


def _equal(draw: Draw) -> list[Pair]:
    word, sign = some_of(draw, _FORMS, 1)[0][0], some_of(draw, _SIGNS, 1)[0]
    return [(word, word), (sign, sign), ("The", "The"), ("is", "is")]


def _all_kinds(draw: Draw) -> list[Pair]:
    kinds = (_case, _sign, _little, _form, _word, _equal)
    return [pair for kind in kinds for pair in kind(draw)]


_BOTH = "both = len(there) == 2"
_CASE = "if both and there[0] == there[1]:"
_SIGN = "if not any(c.isalnum() for side in there for c in side):"
_FUNCTION = "if all(side in function_words for side in there):"
_FORM = "if both and lemma(there[0]) == lemma(there[1]):"
_LOWER = "side.lower() for side in pair if side is not None"
_DIFFER = "if pair[0] != pair[1]"
_FIRST_LETTER = "there[0][0] == there[1][0]"

EXERCISE = Specification(
    name="text_recovery/error_kinds",
    title="Mistakes by kind",
    target="error_kinds",
    precise=False,
    cases=[
        CaseKind(
            name="clear",
            title="one kind after the other, and equal pairs",
            inputs=lambda draw: _rows(
                draw, [kind(draw) for kind in (_case, _sign, _little, _form, _word, _equal)]
            ),
            hint="Go down the table: the first kind that fits.",
        ),
        CaseKind(
            name="together",
            title="all kinds in one sentence",
            inputs=lambda draw: _rows(draw, [_all_kinds(draw), _all_kinds(draw)]),
            hint="Each pair whose sides differ counts once.",
        ),
        CaseKind(
            name="one_sided",
            title="words that are missing or too much",
            inputs=lambda draw: _rows(
                draw,
                [
                    [("the", None)], [(None, ",")], [(None, "keys")], [("!", None)],
                    [("Baked", None), (None, "12")], [(None, "Were")], [],
                ],
            ),
            hint="Case and form need two sides; signs and function words do not.",
        ),
        CaseKind(
            name="several",
            title="pairs that fit several rows of the table",
            inputs=lambda draw: _rows(
                draw,
                [
                    [("is", "was"), ("Is", "was")], [("Was", "was")], [("has", "Has")],
                    [("Keys", "keys")], [("KEYS", "key")], [("Mouse", "mice")],
                    [("to", "a"), ("To", "to")], [(".", "the")], [("keys", "the")],
                ],
            ),
            hint="The first row that fits decides.",
        ),
        CaseKind(
            name="others",
            title="other sentences",
            inputs=lambda draw: _rows(draw, [_all_kinds(draw) for _ in range(4)]),
            hint="The same for other pairs.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="equal_pairs_count",
            says="Pairs of equal words count as mistakes of case.",
            asks="Which pairs are no mistakes at all?",
            ways=[Way(edits=[Edit(_DIFFER, "if True")])],
        ),
        Mutant(
            name="no_case",
            says="Mistakes of case are counted as something else, or not at all.",
            asks="Which pairs are equal in lower case?",
            ways=[
                Way(edits=[Edit(_CASE, "if False:")]),
                Way(name="case_no_mistake", edits=[
                    Edit(_DIFFER,
                         "if (pair[0] or '').lower() != (pair[1] or '').lower()"),
                ]),
            ],
        ),
        Mutant(
            name="first_letter",
            says="Two words that begin with the same letter count as a mistake of case.",
            asks="What must be equal in `The` and `the` for it to be the same word?",
            ways=[Way(edits=[Edit("there[0] == there[1]", _FIRST_LETTER)])],
        ),
        Mutant(
            name="titles_only",
            says="Only a capital at the start counts as case: `KEYS` for `keys` does not.",
            asks="What do you compare: the first letters, or the words in lower case?",
            ways=[Way(edits=[
                Edit(_LOWER, "side[0].lower() + side[1:] for side in pair if side is not None"),
            ])],
        ),
        Mutant(
            name="function_word_as_written",
            says="A function word with a capital is not recognised.",
            asks="In which case are the function words given?",
            ways=[Way(edits=[
                Edit("function_words for side in there",
                     "function_words for side in pair if side is not None"),
            ])],
        ),
        Mutant(
            name="lemma_as_written",
            says="The lemma is asked for words as they are written, capitals included.",
            asks="Which words does `lemma` know?",
            ways=[Way(edits=[
                Edit("lemma(there[0]) == lemma(there[1])",
                     "lemma(pair[0]) == lemma(pair[1])"),
            ])],
        ),
        Mutant(
            name="one_function_word",
            says="One function word is enough for you: `(cake, the)` counts as a mistake "
            "of function words.",
            asks="Which sides of the pair must be function words?",
            ways=[Way(edits=[Edit("if all(side in function", "if any(side in function")])],
        ),
        Mutant(
            name="one_sign",
            says="One sign is enough for you: a sign in place of a word counts as a "
            "mistake of signs.",
            asks="Which sides of the pair must be without letters and digits?",
            ways=[Way(edits=[
                Edit(_SIGN,
                     "if any(not any(c.isalnum() for c in side) for side in there):"),
            ])],
        ),
        Mutant(
            name="few_signs",
            says="Only some signs are known to your code.",
            asks="Is a dash a sign, or three dots?",
            ways=[
                Way(edits=[
                    Edit(_SIGN, 'if all(side in (".", ",", "!", "?") for side in there):'),
                ]),
            ],
        ),
        Mutant(
            name="single_characters",
            says="Only single characters count as signs.",
            asks="Of which kind are three dots?",
            ways=[Way(edits=[
                Edit(_SIGN,
                     "if all(len(side) == 1 and not side.isalnum() for side in there):"),
            ])],
        ),
        Mutant(
            name="digits_are_signs",
            says="Numbers count as signs.",
            asks="What do `isalpha` and `isalnum` say about `7`?",
            ways=[Way(edits=[Edit("c.isalnum()", "c.isalpha()")])],
        ),
        Mutant(
            name="any_sign_inside",
            says="A word with an apostrophe, or a number with a comma, counts as a sign.",
            asks="What must *not* be in a token that is a sign?",
            ways=[Way(edits=[
                Edit(_SIGN,
                     "if all(any(not c.isalnum() for c in side) for side in there):"),
            ])],
        ),
        Mutant(
            name="form_first",
            says="The form is looked at before the function words: `(is, was)` counts "
            "as a mistake of form.",
            asks="Which row of the table comes first?",
            ways=[Way(edits=[
                Edit(_FUNCTION,
                     "if (not both or lemma(there[0]) != lemma(there[1])) and all(side in function_words for side in there):"),
            ])],
        ),
        Mutant(
            name="function_word_first",
            says="Function words are looked at before the case: `(The, the)` counts as "
            "a mistake of function words.",
            asks="Which row of the table comes first?",
            ways=[Way(edits=[
                Edit(_CASE,
                     "if both and there[0] == there[1] and there[0] not in function_words:"),
            ])],
        ),
        Mutant(
            name="no_form",
            says="Another form of the right word counts as a wrong word.",
            asks="Where does your code use `lemma`?",
            ways=[
                Way(edits=[Edit(_FORM, "if False:")]),
            ],
        ),
        Mutant(
            name="one_lemma",
            says="A word is compared with the lemma of the other one.",
            asks="What have `baked` and `bakes` in common?",
            ways=[
                Way(edits=[Edit(_FORM, "if both and there[0] == lemma(there[1]):")]),
            ],
        ),
        Mutant(
            name="stems",
            says="You compare the beginnings of words, not their lemmas.",
            asks="What is the lemma of `mice`?",
            ways=[Way(edits=[
                Edit("lemma(there[0]) == lemma(there[1])",
                     "there[0][:3] == there[1][:3]"),
            ])],
        ),
        Mutant(
            name="missing_do_not_count",
            says="Words that are missing or too much are not counted.",
            asks="Of which kind is `(None, the)`?",
            ways=[
                Way(edits=[Edit(_DIFFER, "if pair[0] != pair[1] and None not in pair")]),
            ],
        ),
        Mutant(
            name="too_much_does_not_count",
            says="Words that are too much are not counted.",
            asks="Of which kind is `(the, None)`?",
            ways=[Way(edits=[
                Edit(_DIFFER, "if pair[0] != pair[1] and pair[1] is not None"),
            ])],
        ),
        Mutant(
            name="missing_does_not_count",
            says="Words that are missing are not counted.",
            asks="Of which kind is `(None, the)`?",
            ways=[Way(edits=[
                Edit(_DIFFER, "if pair[0] != pair[1] and pair[0] is not None"),
            ])],
        ),
        Mutant(
            name="missing_are_words",
            says="Whatever is missing or too much counts as a wrong word.",
            asks="Is a missing full stop a word?",
            ways=[Way(edits=[
                Edit(_SIGN,
                     "if both and not any(c.isalnum() for side in there for c in side):"),
                Edit(_FUNCTION,
                     "if both and all(side in function_words for side in there):"),
            ])],
        ),
        Mutant(
            name="original_only",
            says="You look at the original's side only.",
            asks="What did the model write in its place?",
            ways=[Way(edits=[
                Edit(_SIGN, "if not any(c.isalnum() for c in there[-1]):"),
                Edit(_FUNCTION, "if there[-1] in function_words:"),
            ])],
        ),
        Mutant(
            name="output_only",
            says="You look at the output's side only.",
            asks="What should the model have written in its place?",
            ways=[Way(edits=[
                Edit(_SIGN, "if not any(c.isalnum() for c in there[0]):"),
                Edit(_FUNCTION, "if there[0] in function_words:"),
            ])],
        ),
        Mutant(
            name="several_kinds",
            says="One pair counts for several kinds: all that fit.",
            asks="What does \"the *first* that fits\" mean for `(is, was)`?",
            ways=[Way(edits=[
                Edit("def kind(", "def kinds("),
                Edit("return Counter(kind(pair) for pair in pairs if",
                     "return Counter(k for pair in pairs for k in kinds(pair) if"),
                Edit(_BOTH, "both, found = len(there) == 2, set()"),
                Edit('return "case"', 'found.add("case")'),
                Edit('return "sign"', 'found.add("sign")'),
                Edit('return "function word"', 'found.add("function word")'),
                Edit('return "form"', 'found.add("form")'),
                Edit('return "word"', 'return found or {"word"}'),
            ])],
        ),
        Mutant(
            name="kinds_not_numbers",
            says="Each kind counts once, however often it occurs.",
            asks="What do you need, a set or a count?",
            ways=[Way(edits=[
                Edit("Counter(kind(pair) for pair in pairs if pair[0] != pair[1])",
                     "dict.fromkeys((kind(p) for p in pairs if p[0] != p[1]), 1)"),
            ])],
        ),
        Mutant(
            name="shares",
            says="Your numbers are shares of all mistakes; counts are asked for.",
            asks="How do shares of several sentences add up?",
            ways=[Way(edits=[
                Edit(
                    "return Counter(",
                    """
                    pairs = list(pairs)
                    wrong = sum(a != b for a, b in pairs) or 1
                    return {k: n / wrong for k, n in Counter(""",
                ),
                Edit("if pair[0] != pair[1])", "if pair[0] != pair[1]).items()}"),
            ])],
        ),
        Mutant(
            name="read_twice",
            says="The pairs are gone through twice. Of a generator, nothing is left the "
            "second time.",
            asks="What does a second loop over a generator see?",
            ways=[Way(edits=[
                Edit(
                    "return Counter(",
                    """
                    if not any(a != b for a, b in pairs):
                        return {}
                    return Counter(""",
                ),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="if_chain", source="""
            def error_kinds(pairs, function_words, lemma):
                found = dict.fromkeys(("case", "sign", "function word", "form", "word"), 0)
                for a, b in pairs:
                    if a == b:
                        continue
                    x, y = (None if s is None else s.lower() for s in (a, b))
                    there = {s for s in (x, y) if s is not None}
                    if x == y:
                        kind = "case"
                    elif not re.search(r"[^\\W_]", "".join(there)):
                        kind = "sign"
                    elif there <= function_words:
                        kind = "function word"
                    elif x is not None and y is not None and lemma(x) == lemma(y):
                        kind = "form"
                    else:
                        kind = "word"
                    found[kind] += 1
                return found
            """),
        Accepted(name="rules", source="""
            def error_kinds(pairs, function_words, lemma):
                rules = {
                    "case": lambda t: len(t) == 2 and t[0] == t[1],
                    "sign": lambda t: all(not c.isalnum() for c in "".join(t)),
                    "function word": lambda t: set(t).issubset(function_words),
                    "form": lambda t: len(t) == 2 and len(set(map(lemma, t))) == 1,
                    "word": lambda t: True,
                }
                counts = defaultdict(int)
                for pair in pairs:
                    if len(set(pair)) == 2:
                        there = [s.lower() for s in pair if s]
                        counts[next(k for k, fits in rules.items() if fits(there))] += 1
                return counts
            """),
        Accepted(name="a_list_first", edits=[
            Edit("for pair in pairs if", "for pair in list(pairs) if"),
        ]),
    ],
)
