"""Lower case, no signs."""

from __future__ import annotations

import json

from autograder.bank.text_recovery._inputs import (
    natural_sentences,
    plain_sentences,
    some_of,
    words_of,
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

TAILS = (
    "don't",
    "half-past",
    "o'clock",
    "well-known",
    "can't",
    "she's",
    "mother-in-law",
)


def _plain(draw: Draw) -> Inputs:
    count = int(draw.ids(2, 99, 1))
    sentences = [*plain_sentences(draw, 4), f"There are {count} of them!"]
    return {"sentences": json.dumps(sentences)}


def _inside_words(draw: Draw) -> Inputs:
    words = words_of(natural_sentences(draw, 6))
    first, second, third = some_of(draw, TAILS, 3)
    a, b, c, d = (words[int(i)] for i in draw.ids(0, len(words), 4))
    rows = [
        f"'{a} {first.upper()} {b}'",
        f"{second.title()}, {c} - {d} -- {third}?",
        f"\"{d}'s {a}\" ({first}) '{c}'",
        f"-{b}- {third}' '{second}",
        f"{a} {b}-in-{c}'s {d}",
        f"{a}-n-{b}, {c}-o'-{d}",  # one letter, with a sign on either side
    ]
    return {"sentences": json.dumps(rows)}


def _crowded(draw: Draw) -> Inputs:
    words = words_of(natural_sentences(draw, 6))
    a, b, c, d = (words[int(i)] for i in draw.ids(0, len(words), 4))
    n, m = (int(i) for i in draw.ids(10, 99, 2))
    rows = [
        f"{a}{n % 9}.{n} {b}, Covid-{n} {c}’s {d}-{n}{a}",
        f"{a},{b};{c}/{d}",
        f"  {a}   {b} \n{c}...{d}!",
        f"{a}:{n}%{b}&{c}",
        f"{n}'s {a}, {m}'{b}",
        "?!",
        f"{a}--{b}'-{c}",
        f"{n},{m} {a}, {c}–{d}",  # signs that look as if they belonged to a word
    ]
    return {"sentences": json.dumps(rows)}


def _other_letters(draw: Draw) -> Inputs:
    names = some_of(
        draw, ("Élodie", "Jürgen", "Øystein", "Łukasz", "Señor", "Çelik"), 3
    )
    n, m = (int(i) for i in draw.ids(2, 99, 2))
    rows = [
        f"{names[0]} has {n} CAFÉS, {names[1]} {m}.",
        f"«{names[2]}» – {m}nd!",
        f"Die Straße {n} IST groß.",
        f"Ein ﬁnaler Ｚug, {m}",  # letters that others could be put in place of
    ]
    return {"sentences": json.dumps(rows, ensure_ascii=False)}


EXERCISE = Specification(
    name="text_recovery/normalise",
    title="Lower case, no signs",
    target="normalise",
    precise=False,
    cases=[
        CaseKind(
            name="plain",
            title="plain sentences",
            inputs=_plain,
            hint="Lower-case everything; keep the words, with one space between them.",
        ),
        CaseKind(
            name="inside",
            title="apostrophes and hyphens, inside words and around them",
            inputs=_inside_words,
            hint="`don't` and `well-known` are one word each; quotes and dashes are "
            "none.",
        ),
        CaseKind(
            name="crowded",
            title="signs without spaces, and spaces without words",
            inputs=_crowded,
            hint="A sign between two words separates them, even where no space stands.",
        ),
        CaseKind(
            name="letters",
            title="letters of other languages, and digits",
            inputs=_other_letters,
            hint=r"`\w` knows é, ü and ß; `a-z` does not.",
        ),
    ],
    mutants=[
        Mutant(
            name="other_forms",
            says="Letters are replaced by others that mean the same, like the ligature `ﬁ` by "
            "two letters.",
            asks="Which words does the sentence hold, letter by letter?",
            ways=[Way(edits=[
                Edit("sentence.lower()", "__import__('unicodedata').normalize('NFKC', sentence).lower()"),
            ])],
        ),
        Mutant(
            name="upper_case_left",
            says="The words are still in their old case.",
            asks="What turns `Anna` into `anna`?",
            ways=[Way(edits=[Edit("sentence.lower()", "sentence")])],
        ),
        Mutant(
            name="apostrophes_split",
            says="Apostrophes and hyphens cut words in two: `don't` has become `don "
            "t`.",
            asks="Which signs may stand inside a word?",
            ways=[Way(edits=[Edit('r"\\w+(?:[\'-]\\w+)*"', r'r"\w+"')])],
        ),
        Mutant(
            name="apostrophes_lost",
            says="Signs are deleted rather than taken as borders: `don't` has become "
            "`dont`, and `yes,no` one word.",
            asks="What should stand where a comma stood?",
            ways=[
                Way(source="""
                    def normalise(sentence):
                        kept = ''.join(c for c in sentence.lower() if c.isalnum() or c.isspace())
                        return ' '.join(kept.split())
                    """),
            ],
        ),
        Mutant(
            name="punctuation_deleted",
            says="The signs of a list are deleted: `don't` has become `dont`, `yes,no` one "
            "word, and a sign that is not in the list stays.",
            asks="What should stand where a comma stood, and can a list hold all signs?",
            ways=[Way(source="""
                import string
                def normalise(sentence):
                    table = str.maketrans('', '', string.punctuation + '«»–')
                    return ' '.join(sentence.lower().translate(table).split())
                """)],
        ),
        Mutant(
            name="signs_kept",
            says="Only the case has changed: the signs are still there.",
            asks="What is to become of commas and full stops?",
            ways=[Way(source="""
                def normalise(sentence):
                    return ' '.join(sentence.lower().split())
                """)],
        ),
        Mutant(
            name="spaces_doubled",
            says="Signs became spaces, but several spaces in a row stayed.",
            asks="What does `' '.join(text.split())` do to spaces?",
            ways=[Way(source=r"""
                def normalise(sentence):
                    return re.sub(r"[^\w'-]", ' ', sentence.lower())
                """)],
        ),
        Mutant(
            name="quotes_stay",
            says="Apostrophes and hyphens stay everywhere, also as quotation marks and "
            "dashes.",
            asks="What stands on both sides of the apostrophe in `don't`, and of the "
            "one in `'hello'`?",
            ways=[Way(source=r"""
                def normalise(sentence):
                    return ' '.join(re.findall(r"[\w'-]+", sentence.lower()))
                """)],
        ),
        Mutant(
            name="ends_stripped_only",
            says="Signs are stripped from the ends of words; those between two words "
            "without a space are still there.",
            asks="What becomes of `yes,no`?",
            ways=[Way(source="""
                import string
                def normalise(sentence):
                    words = (w.strip(string.punctuation + '«»–') for w in sentence.lower().split())
                    return ' '.join(w for w in words if w)
                """)],
        ),
        Mutant(
            name="ascii_only",
            says="Letters outside a-z are taken for signs.",
            asks="Is é a letter? Does your pattern know?",
            ways=[Way(edits=[Edit(r"\w+(?:['-]\w+)*", "[a-z0-9]+(?:['-][a-z0-9]+)*")])],
        ),
        Mutant(
            name="digits_lost",
            says="Numbers have disappeared.",
            asks="Are digits part of words here?",
            ways=[Way(edits=[Edit(r"\w+(?:['-]\w+)*", r"[^\W\d]+(?:['-][^\W\d]+)*")])],
        ),
        Mutant(
            name="no_apostrophe_at_digits",
            says="An apostrophe beside a digit cuts the word: `80's` has become `80 s`.",
            asks="What may stand on both sides of an apostrophe: letters only?",
            ways=[Way(edits=[
                Edit(r"(?:['-]\w+)*", r"(?:(?:-|(?<=[^\W\d])'(?=[^\W\d]))\w+)*"),
            ])],
        ),
        Mutant(
            name="comma_in_numbers",
            says="A comma between digits stays: `1,000` is one word for you.",
            asks="Which two signs may stand inside a word?",
            ways=[Way(edits=[Edit(r"(?:['-]\w+)*", r"(?:['-]\w+|,\d+)*")])],
        ),
        Mutant(
            name="dashes_join",
            says="A dash `–` between two words joins them, as a hyphen `-` does.",
            asks="Which two signs may stand inside a word?",
            ways=[Way(edits=[Edit("['-]", "['–-]")])],
        ),
        Mutant(
            name="one_inner_sign",
            says="A second hyphen or apostrophe in a word cuts it.",
            asks="`mother-in-law` is one word. How many hyphens may a word have?",
            ways=[Way(edits=[Edit(r"(?:['-]\w+)*", r"(?:['-]\w+)?")])],
        ),
        Mutant(
            name="a_list",
            says="A list of words comes back, not a text.",
            asks="How do you make one text of several words?",
            ways=[Way(source=r"""
                def normalise(sentence):
                    return re.findall(r"\w+(?:['-]\w+)*", sentence.lower())
                """)],
        ),
        Mutant(
            name="letter_used_up",
            says="A single letter between two signs keeps only one of them: `rock-n-roll` "
            "falls apart.",
            asks="Does a sign share its neighbours with the next one?",
            ways=[Way(source=r"""
                def normalise(sentence):
                    marked = re.sub(r"(\w)(['-])(\w)", r"\1\0\2\3", sentence.lower())
                    kept = re.sub(r"(?<!\0)['-]|[^\w\0'-]", " ", marked)
                    return " ".join(kept.replace("\0", "").split())
                """)],
        ),
    ],
    accepted=[
        Accepted(name="substitute", source=r"""
            def normalise(sentence):
                text = re.sub(r"[^\w'-]", ' ', sentence.lower())
                text = re.sub(r"(?<!\w)['-]|['-](?!\w)", ' ', text)
                text = re.sub(r"(?<!\w)['-]|['-](?!\w)", ' ', text)
                return ' '.join(text.split())
            """),
        Accepted(name="by_hand", source="""
            def normalise(sentence):
                s, out = sentence.lower(), []
                for i, c in enumerate(s):
                    inner = c in "'-" and 0 < i < len(s) - 1
                    inner = inner and s[i - 1].isalnum() and s[i + 1].isalnum()
                    out.append(c if c.isalnum() or inner else ' ')
                return ' '.join(''.join(out).split())
            """),
        Accepted(name="finditer", source=r"""
            def normalise(sentence):
                found = re.finditer(r"\w+([-']\w+)*", sentence)
                return ' '.join(m.group() for m in found).lower()
            """),
    ],
)
