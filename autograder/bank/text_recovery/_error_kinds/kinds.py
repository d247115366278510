"""Mistakes in telling the kinds apart."""

from __future__ import annotations

from autograder.bank.text_recovery._error_kinds.lines import DIFFER, FUNCTION, SIGN
from autograder.oracle.specification import Edit, Mutant, Way

_CASE = "if both and there[0] == there[1]:"
_FORM = "if both and lemma(there[0]) == lemma(there[1]):"
_LOWER = "side.lower() for side in pair if side is not None"
_FIRST_LETTER = "there[0][0] == there[1][0]"

KINDS = [
    Mutant(
        name="sign_by_first_character",
        says="A word that begins with a sign, like `'s`, counts as a sign.",
        asks="Of which characters of a side does the table speak?",
        ways=[Way(edits=[
            Edit("any(c.isalnum() for side in there for c in side)",
                 "any(side[0].isalnum() for side in there)"),
        ])],
    ),
    Mutant(
        name="equal_pairs_count",
        says="Pairs of equal words count as mistakes of case.",
        asks="Which pairs are no mistakes at all?",
        ways=[Way(edits=[Edit(DIFFER, "if True")])],
    ),
    Mutant(
        name="no_case",
        says="Mistakes of case are counted as something else.",
        asks="Which pairs are equal in lower case?",
        ways=[Way(edits=[Edit(_CASE, "if False:")])],
    ),
    Mutant(
        name="case_no_mistake",
        says="Mistakes of case are not counted at all.",
        asks="Is `The` the same as `the` to a reader?",
        ways=[Way(edits=[
            Edit(DIFFER, "if (pair[0] or '').lower() != (pair[1] or '').lower()"),
        ])],
    ),
    Mutant(
        name="first_letter",
        says="Two words that begin with the same letter count as a mistake of case.",
        asks="What must be equal in `The` and `the` for it to be the same word?",
        ways=[Way(edits=[Edit("there[0] == there[1]", _FIRST_LETTER)])],
    ),
    Mutant(
        name="capitals_by_word",
        says="Only a capital at the start of a word counts as a mistake of case: `THE` for "
        "`the` does not.",
        asks="What are `THE` and `the` in lower case?",
        ways=[Way(edits=[
            Edit(_CASE, "if both and pair[0] in (pair[1].capitalize(), pair[1].title()) + "
                 "(pair[1].lower(),) * (pair[1] in (pair[0].capitalize(), pair[0].title())):"),
        ])],
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
        name="case_of_letters_only",
        says="Case is asked for words of letters only: `7B` for `7b` and `Don't` for "
        "`don't` do not count.",
        asks="What does `isalpha` say about `7b`, and does the table ask for it?",
        ways=[Way(edits=[Edit(_CASE, _CASE[:-1] + " and there[0].isalpha():")])],
    ),
    Mutant(
        name="casefold",
        says="You compare with `casefold`, which changes more than the case: `straße` "
        "and `STRASSE` count as equal.",
        asks="What is `'ß'.lower()`, and what is `'ß'.casefold()`?",
        ways=[Way(edits=[
            Edit(_LOWER, "side.casefold() for side in pair if side is not None"),
        ])],
    ),
    Mutant(
        name="inside_function_words",
        says="What stands *inside* a function word counts as one: `he`, for it stands "
        "in `the`.",
        asks="What does `in` ask of a text, and what of a set?",
        ways=[Way(edits=[
            Edit(FUNCTION, "if all(side in ' '.join(function_words) for side in there):"),
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
            Edit(SIGN,
                 "if any(not any(c.isalnum() for c in side) for side in there):"),
        ])],
    ),
    Mutant(
        name="few_signs",
        says="Only some signs are known to your code.",
        asks="Is a dash a sign, or three dots?",
        ways=[
            Way(edits=[
                Edit(SIGN, 'if all(side in (".", ",", "!", "?") for side in there):'),
            ]),
        ],
    ),
    Mutant(
        name="signs_of_the_keyboard",
        says="Only the signs of a keyboard count, as `string.punctuation` holds them: "
        "`…` and `—` are words to you.",
        asks="What does the table ask of a sign: to stand in a list, or something else?",
        ways=[Way(edits=[
            Edit("not any(c.isalnum() for",
                 "all(c.isascii() and not c.isalnum() for"),
        ])],
    ),
    Mutant(
        name="underscore_is_a_letter",
        says="The underscore counts as a letter.",
        asks="What does `\\w` stand for, besides letters and digits?",
        ways=[Way(edits=[
            Edit("any(c.isalnum() for side in there for c in side)",
                 'any(c.isalnum() or c == "_" for side in there for c in side)'),
        ])],
    ),
    Mutant(
        name="single_characters",
        says="Only single characters count as signs.",
        asks="Of which kind are three dots?",
        ways=[Way(edits=[
            Edit(SIGN,
                 "if all(len(side) == 1 and not side.isalnum() for side in there):"),
        ])],
    ),
    Mutant(
        name="letters_from_a_to_z",
        says="A word without any letter from a to z, like `é`, counts as a sign.",
        asks="Does `isalnum` know letters of other languages?",
        ways=[Way(edits=[Edit("c.isalnum()", "c.isalnum() and c.isascii()")])],
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
            Edit(SIGN,
                 "if all(any(not c.isalnum() for c in side) for side in there):"),
        ])],
    ),
    Mutant(
        name="form_first",
        says="The form is looked at before the function words: `(is, was)` counts "
        "as a mistake of form.",
        asks="Which row of the table comes first?",
        ways=[Way(edits=[
            Edit(FUNCTION,
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
]
