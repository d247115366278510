"""Mistakes by kind."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Specification
from transformer_course.text_recovery.exercises._inputs import some_of

Pair = tuple[str | None, str | None]
# Words in groups of one lemma, the lemma first; function words have groups, too.
_FORMS = (
    ("bake", "bakes", "baked"), ("walk", "walks", "walked"), ("key", "keys"),
    ("mouse", "mice"), ("sing", "sang", "sung"), ("child", "children"),
)  # fmt: skip
_LITTLE = (("be", "is", "was", "were"), ("have", "has", "had"), ("the",), ("a",), ("to",))
_SIGNS = (".", ",", "!", "?", '"', "...", "-", "…", "—")
_NUMBERS = ("12", "7", "1,000")


def _rows(draw: Draw, rows: Iterable[Sequence[Pair]], own: str = "zig") -> Inputs:
    """Pairs in a drawn order, with what the student is given beside them.

    Each stands there once to three times, or the numbers would be known beforehand.
    ``own``, "zig" or "zog", is a function word and a lemma only here.
    """
    lemmas = {w: group[0] for group in (*_FORMS, *_LITTLE) for w in group}
    lemmas["zag"] = own
    little = [own, *(w for group in _LITTLE for w in group)]
    strange = [("zig", None), ("zag", "zig"), *2 * [("zog", None), ("zag", "zog")]]
    return {
        "rows": json.dumps([*(_repeated(draw, row) for row in rows), strange]),
        "lemmas": json.dumps(lemmas),
        "words": json.dumps(little),
    }


def _repeated(draw: Draw, row: Sequence[Pair]) -> list[Pair]:
    pairs = [pair for pair in row for _ in range(int(draw.ids(1, 4, 1)))]
    return some_of(draw, pairs, len(pairs))


def _case(draw: Draw) -> list[Pair]:
    word, other = some_of(draw, [w for group in _FORMS for w in group], 2)
    return [(word.title(), word), (other, other.title()), ("Is", "is"), ("the", "The"),
            (word.upper(), word.title()), ("7B", "7b"), ("Don't", "don't"),
            (other.upper(), other), ("the", "THE"), ("mcX", "McX")]  # fmt: skip


def _sign(draw: Draw) -> list[Pair]:
    one, two, three = some_of(draw, _SIGNS, 3)
    return [(one, two), (None, three), (two, None), (one, three), ("...", "!"),
            (None, "—"), ("…", "..."), ("_", "."), (None, "__")]  # fmt: skip


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
            (None, number), ("don't", "dont"), (".", "a"),
            ("'s", None), (",", "'s"),  # the first character is no letter
            ("as", None), ("as", "he"),  # both stand inside function words
            ("é", None), (None, "для"),  # letters, though none of them from a to z
            ("straße", "STRASSE"), ("1,000", None), ("Mr.", "mr")]  # fmt: skip


def _equal(draw: Draw) -> list[Pair]:
    word, sign = some_of(draw, _FORMS, 1)[0][0], some_of(draw, _SIGNS, 1)[0]
    return [(word, word), (sign, sign), ("The", "The"), ("is", "is")]


def _all_kinds(draw: Draw) -> list[Pair]:
    kinds = (_case, _sign, _little, _form, _word, _equal)
    return [pair for kind in kinds for pair in kind(draw)]


CASES = [
    case("clear", "one kind after the other, and equal pairs",
         lambda draw: _rows(draw, [kind(draw) for kind in (_case, _sign, _little, _form, _word, _equal)]),
         "Go down the table and take the first kind that fits."),
    case("together", "all kinds in one sentence",
         lambda draw: _rows(draw, [_all_kinds(draw), _all_kinds(draw)], own="zog"),
         "Each pair whose sides differ counts once."),
    case("one_sided", "missing and extra words",
         lambda draw: _rows(
             draw,
             [
                 [("the", None)], [(None, ",")], [(None, "keys")], [("!", None)],
                 [("Baked", None), (None, "12")], [(None, "Were")], [],
             ],
         ),
         "Case and form need two tokens; punctuation and function words do not."),
    case("several", "pairs that fit several rows of the table",
         lambda draw: _rows(
             draw,
             [
                 [("is", "was"), ("Is", "was")], [("Was", "was")], [("has", "Has")],
                 [("Keys", "keys")], [("KEYS", "key")], [("Mouse", "mice")],
                 [("to", "a"), ("To", "to")], [(".", "the")], [("keys", "the")],
             ],
         ),
         "The first row that fits decides."),
    case("others", "other sentences", lambda draw: _rows(draw, [_all_kinds(draw) for _ in range(4)]),
         "The same for other pairs.", hidden_only=True),
]

SIGN = "if not any(c.isalnum() for side in there for c in side):"
FUNCTION = "if all(side in function_words for side in there):"
DIFFER = "if pair[0] != pair[1]"
_BOTH = "both = len(there) == 2"
_CASE = "if both and there[0] == there[1]:"
_FORM = "if both and lemma(there[0]) == lemma(there[1]):"
_LOWER = "side.lower() for side in pair if side is not None"
_FIRST_LETTER = "there[0][0] == there[1][0]"

MISTAKES = [
    # Mistakes in telling the kinds apart.
    wrong("sign_by_first_character",
          "A word that begins with an apostrophe, like `'s`, counts as punctuation.",
          "Which characters of a token does the table ask about?",
          edit("any(c.isalnum() for side in there for c in side)", "any(side[0].isalnum() for side in there)")),
    wrong("equal_pairs_count",
          "Pairs of equal words count as mistakes in case.",
          "Which pairs are not mistakes at all?",
          edit(DIFFER, "if True")),
    wrong("no_case",
          "Mistakes in case are counted as something else.",
          "Which pairs are equal in lower case?",
          edit(_CASE, "if False:")),
    wrong("case_no_mistake",
          "Mistakes in case are not counted at all.",
          "Is `The` the same as `the` to a reader?",
          edit(DIFFER, "if (pair[0] or '').lower() != (pair[1] or '').lower()")),
    wrong("first_letter",
          "Two words that begin with the same letter count as a mistake in case.",
          "What must be equal in `The` and `the` for it to be the same word?",
          edit("there[0] == there[1]", _FIRST_LETTER)),
    wrong("capitals_by_word",
          "Only a capital at the start of a word counts as a mistake in case: `THE` for `the` does not.",
          "What are `THE` and `the` in lower case?",
          edit(_CASE,
               "if both and pair[0] in (pair[1].capitalize(), pair[1].title()) + (pair[1].lower(),) * (pair[1] in "
               "(pair[0].capitalize(), pair[0].title())):")),
    wrong("titles_only",
          "Only a capital at the start counts as case: `KEYS` for `keys` does not.",
          "What do you compare: the first letters, or the words in lower case?",
          edit(_LOWER, "side[0].lower() + side[1:] for side in pair if side is not None")),
    wrong("case_of_letters_only",
          "Case is checked only for words that consist of letters: `7B` for `7b` and `Don't` for `don't` do not count.",
          "What does `isalpha` return for `7b`, and does the table ask for letters only?",
          edit(_CASE, _CASE[:-1] + " and there[0].isalpha():")),
    wrong("casefold",
          "You compare with `casefold`, which changes more than the case: `straße` and `STRASSE` count as equal.",
          "What is `'ß'.lower()`, and what is `'ß'.casefold()`?",
          edit(_LOWER, "side.casefold() for side in pair if side is not None")),
    wrong("inside_function_words",
          "A part of a function word counts as one: `he`, because it occurs in `the`.",
          "What does `in` test for a string, and what for a set?",
          edit(FUNCTION, "if all(side in ' '.join(function_words) for side in there):")),
    wrong("function_word_as_written",
          "A function word with a capital is not recognised.",
          "In which case are the function words given?",
          edit("function_words for side in there", "function_words for side in pair if side is not None")),
    wrong("lemma_as_written",
          "`lemma` is called with words as they are written, capitals included.",
          "Which case does `lemma` expect?",
          edit("lemma(there[0]) == lemma(there[1])", "lemma(pair[0]) == lemma(pair[1])")),
    wrong("one_function_word",
          "One function word is enough for you: `(cake, the)` counts as a function word.",
          "Which tokens of the pair must be function words?",
          edit("if all(side in function", "if any(side in function")),
    wrong("one_sign",
          "One punctuation mark is enough for you: a mark in place of a word counts as punctuation.",
          "Which tokens of the pair must be without letters and digits?",
          edit(SIGN, "if any(not any(c.isalnum() for c in side) for side in there):")),
    wrong("few_signs",
          "Your code knows only some punctuation marks.",
          "Is a dash punctuation? Are three dots?",
          edit(SIGN, 'if all(side in (".", ",", "!", "?") for side in there):')),
    wrong("signs_of_the_keyboard",
          "Only the characters in `string.punctuation` count: you treat `…` and `—` as words.",
          "What does the table require of punctuation: to be in a list, or something else?",
          edit("not any(c.isalnum() for", "all(c.isascii() and not c.isalnum() for")),
    wrong("underscore_is_a_letter",
          "The underscore counts as a letter.",
          "What does `\\w` match, besides letters and digits?",
          edit("any(c.isalnum() for side in there for c in side)",
               'any(c.isalnum() or c == "_" for side in there for c in side)')),
    wrong("single_characters",
          "Only single characters count as punctuation.",
          "Of which kind are three dots?",
          edit(SIGN, "if all(len(side) == 1 and not side.isalnum() for side in there):")),
    wrong("letters_from_a_to_z",
          "A word without any letter from a to z, like `é`, counts as punctuation.",
          "Does `isalnum` accept letters of other languages?",
          edit("c.isalnum()", "c.isalnum() and c.isascii()")),
    wrong("digits_are_signs",
          "Numbers count as punctuation.",
          "What do `isalpha` and `isalnum` return for `7`?",
          edit("c.isalnum()", "c.isalpha()")),
    wrong("any_sign_inside",
          "A word with an apostrophe, or a number with a comma, counts as punctuation.",
          "What must *not* be in a punctuation token?",
          edit(SIGN, "if all(any(not c.isalnum() for c in side) for side in there):")),
    wrong("form_first",
          "The form is checked before the function words: `(is, was)` counts as a mistake in form.",
          "Which row of the table comes first?",
          edit(FUNCTION,
               "if (not both or lemma(there[0]) != lemma(there[1])) and all(side in function_words for side in there):")),
    wrong("function_word_first",
          "Function words are checked before case: `(The, the)` counts as a function-word mistake.",
          "Which row of the table comes first?",
          edit(_CASE, "if both and there[0] == there[1] and there[0] not in function_words:")),
    wrong("no_form",
          "Another form of the right word counts as a wrong word.",
          "Where does your code use `lemma`?",
          edit(_FORM, "if False:")),
    wrong("one_lemma",
          "A word is compared with the lemma of the other one.",
          "What do `baked` and `bakes` have in common?",
          edit(_FORM, "if both and there[0] == lemma(there[1]):")),
    wrong("stems",
          "You compare the beginnings of words, not their lemmas.",
          "What is the lemma of `mice`?",
          edit("lemma(there[0]) == lemma(there[1])", "there[0][:3] == there[1][:3]")),
    # Mistakes in what is counted, and how often.
    wrong("missing_do_not_count",
          "Missing and extra words are not counted.",
          "Of which kind is `(None, the)`?",
          edit(DIFFER, "if pair[0] != pair[1] and None not in pair")),
    wrong("too_much_does_not_count",
          "Extra words are not counted.",
          "Of which kind is `(the, None)`?",
          edit(DIFFER, "if pair[0] != pair[1] and pair[1] is not None")),
    wrong("missing_does_not_count",
          "Missing words are not counted.",
          "Of which kind is `(None, the)`?",
          edit(DIFFER, "if pair[0] != pair[1] and pair[0] is not None")),
    wrong("missing_are_words",
          "Everything missing or extra counts as a wrong word.",
          "Of which kind is a missing full stop?",
          edit(SIGN, "if both and not any(c.isalnum() for side in there for c in side):",
               FUNCTION, "if both and all(side in function_words for side in there):")),
    wrong("original_only",
          "You look only at the original's token.",
          "What did the model write in its place?",
          edit(SIGN, "if not any(c.isalnum() for c in there[-1]):", FUNCTION, "if there[-1] in function_words:")),
    wrong("output_only",
          "You look only at the output's token.",
          "What should the model have written in its place?",
          edit(SIGN, "if not any(c.isalnum() for c in there[0]):", FUNCTION, "if there[0] in function_words:")),
    wrong("several_kinds",
          "One pair counts for several kinds: all that fit.",
          "What does \"the *first* that fits\" mean for `(is, was)`?",
          edit("def kind(", "def kinds(",
               "return Counter(kind(pair) for pair in pairs if",
               "return Counter(k for pair in pairs for k in kinds(pair) if",
               _BOTH, "both, found = len(there) == 2, set()",
               'return "case"', 'found.add("case")',
               'return "punctuation"', 'found.add("punctuation")',
               'return "function word"', 'found.add("function word")',
               'return "form"', 'found.add("form")',
               'return "word"', 'return found or {"word"}')),
    wrong("kinds_not_numbers",
          "Each kind counts once, however often it occurs.",
          "What do you need, a set or a count?",
          edit("Counter(kind(pair) for pair in pairs if pair[0] != pair[1])",
               "dict.fromkeys((kind(p) for p in pairs if p[0] != p[1]), 1)")),
    wrong("shares",
          "You return fractions of all mistakes instead of counts.",
          "Can you add up the fractions of several sentences?",
          edit("return Counter(", """
              pairs = list(pairs)
              wrong = sum(a != b for a, b in pairs) or 1
              return {k: n / wrong for k, n in Counter(""",
               "if pair[0] != pair[1])", "if pair[0] != pair[1]).items()}")),
    wrong("read_twice",
          "You iterate over the pairs several times. A generator can be consumed only once.",
          "What does a second loop over a generator see?",
          edit("return Counter(", """
              if not any(a != b for a, b in pairs):
                  return {}
              return Counter("""),
          edit("return Counter(kind(pair) for pair in pairs if pair[0] != pair[1])", """
              kinds = ("case", "punctuation", "function word", "form", "word")
              return {k: sum(kind(pair) == k for pair in pairs if pair[0] != pair[1]) for k in kinds}
              """, name="once_for_each_kind")),
]

ACCEPTED = [
    right("if_chain", source("""
        def error_kinds(pairs, function_words, lemma):
            found = dict.fromkeys(("case", "punctuation", "function word", "form", "word"), 0)
            for a, b in pairs:
                if a == b:
                    continue
                x, y = (None if s is None else s.lower() for s in (a, b))
                there = {s for s in (x, y) if s is not None}
                if x == y:
                    kind = "case"
                elif not re.search(r"[^\\W_]", "".join(there)):
                    kind = "punctuation"
                elif there <= function_words:
                    kind = "function word"
                elif x is not None and y is not None and lemma(x) == lemma(y):
                    kind = "form"
                else:
                    kind = "word"
                found[kind] += 1
            return found
        """)),
    right("rules", source("""
        def error_kinds(pairs, function_words, lemma):
            rules = {
                "case": lambda t: len(t) == 2 and t[0] == t[1],
                "punctuation": lambda t: all(not c.isalnum() for c in "".join(t)),
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
        """)),
    right("a_list_first", edit("for pair in pairs if", "for pair in list(pairs) if")),
]

EXERCISE = Specification(
    name="text_recovery/error_kinds", title="Mistakes by kind", target="error_kinds", precise=False,
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
