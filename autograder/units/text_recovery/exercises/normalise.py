"""Lower case, no signs."""

from __future__ import annotations

import json

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Specification
from autograder.units.text_recovery.exercises._inputs import (
    natural_sentences,
    plain_sentences,
    some_of,
    words_of,
)

TAILS = ("don't", "half-past", "o'clock", "well-known", "can't", "she's", "mother-in-law")


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
    names = some_of(draw, ("Élodie", "Jürgen", "Øystein", "Łukasz", "Señor", "Çelik"), 3)
    n, m = (int(i) for i in draw.ids(2, 99, 2))
    rows = [
        f"{names[0]} has {n} CAFÉS, {names[1]} {m}.",
        f"«{names[2]}» – {m}nd!",
        f"Die Straße {n} IST groß.",
        f"Ein ﬁnaler Ｚug, {m}",  # letters that others could be put in place of
    ]
    return {"sentences": json.dumps(rows, ensure_ascii=False)}


CASES = [
    case("plain", "plain sentences", _plain,
         "Lower-case everything; keep the words, with one space between them."),
    case("inside", "apostrophes and hyphens, inside words and around them", _inside_words,
         "`don't` and `well-known` are one word each; quotes and dashes are none."),
    case("crowded", "signs without spaces, and spaces without words", _crowded,
         "A sign between two words separates them, even where no space stands."),
    case("letters", "letters of other languages, and digits", _other_letters,
         r"`\w` knows é, ü and ß; `a-z` does not."),
]

MISTAKES = [
    wrong("other_forms",
          "Letters are replaced by others that mean the same, like the ligature `ﬁ` by two letters.",
          "Which words does the sentence hold, letter by letter?",
          edit("sentence.lower()", "__import__('unicodedata').normalize('NFKC', sentence).lower()")),
    wrong("upper_case_left",
          "The words are still in their old case.",
          "What turns `Anna` into `anna`?",
          edit("sentence.lower()", "sentence")),
    wrong("apostrophes_split",
          "Apostrophes and hyphens cut words in two: `don't` has become `don t`.",
          "Which signs may stand inside a word?",
          edit('r"\\w+(?:[\'-]\\w+)*"', r'r"\w+"')),
    wrong("apostrophes_lost",
          "Signs are deleted rather than taken as borders: `don't` has become `dont`, and `yes,no` one word.",
          "What should stand where a comma stood?",
          source("""
              def normalise(sentence):
                  kept = ''.join(c for c in sentence.lower() if c.isalnum() or c.isspace())
                  return ' '.join(kept.split())
              """)),
    wrong("punctuation_deleted",
          "The signs of a list are deleted: `don't` has become `dont`, `yes,no` one word, and a sign that is not in "
          "the list stays.",
          "What should stand where a comma stood, and can a list hold all signs?",
          source("""
              import string
              def normalise(sentence):
                  table = str.maketrans('', '', string.punctuation + '«»–')
                  return ' '.join(sentence.lower().translate(table).split())
              """)),
    wrong("signs_kept",
          "Only the case has changed: the signs are still there.",
          "What is to become of commas and full stops?",
          source("""
              def normalise(sentence):
                  return ' '.join(sentence.lower().split())
              """)),
    wrong("spaces_doubled",
          "Signs became spaces, but several spaces in a row stayed.",
          "What does `' '.join(text.split())` do to spaces?",
          source(r"""
                     def normalise(sentence):
                         return re.sub(r"[^\w'-]", ' ', sentence.lower())
                     """)),
    wrong("quotes_stay",
          "Apostrophes and hyphens stay everywhere, also as quotation marks and dashes.",
          "What stands on both sides of the apostrophe in `don't`, and of the one in `'hello'`?",
          source(r"""
                     def normalise(sentence):
                         return ' '.join(re.findall(r"[\w'-]+", sentence.lower()))
                     """)),
    wrong("ends_stripped_only",
          "Signs are stripped from the ends of words; those between two words without a space are still there.",
          "What becomes of `yes,no`?",
          source("""
              import string
              def normalise(sentence):
                  words = (w.strip(string.punctuation + '«»–') for w in sentence.lower().split())
                  return ' '.join(w for w in words if w)
              """)),
    wrong("ascii_only",
          "Letters outside a-z are taken for signs.",
          "Is é a letter? Does your pattern know?",
          edit(r"\w+(?:['-]\w+)*", "[a-z0-9]+(?:['-][a-z0-9]+)*")),
    wrong("digits_lost",
          "Numbers have disappeared.",
          "Are digits part of words here?",
          edit(r"\w+(?:['-]\w+)*", r"[^\W\d]+(?:['-][^\W\d]+)*")),
    wrong("no_apostrophe_at_digits",
          "An apostrophe beside a digit cuts the word: `80's` has become `80 s`.",
          "What may stand on both sides of an apostrophe: letters only?",
          edit(r"(?:['-]\w+)*", r"(?:(?:-|(?<=[^\W\d])'(?=[^\W\d]))\w+)*")),
    wrong("comma_in_numbers",
          "A comma between digits stays: `1,000` is one word for you.",
          "Which two signs may stand inside a word?",
          edit(r"(?:['-]\w+)*", r"(?:['-]\w+|,\d+)*")),
    wrong("dashes_join",
          "A dash `–` between two words joins them, as a hyphen `-` does.",
          "Which two signs may stand inside a word?",
          edit("['-]", "['–-]")),
    wrong("one_inner_sign",
          "A second hyphen or apostrophe in a word cuts it.",
          "`mother-in-law` is one word. How many hyphens may a word have?",
          edit(r"(?:['-]\w+)*", r"(?:['-]\w+)?")),
    wrong("a_list",
          "A list of words comes back, not a text.",
          "How do you make one text of several words?",
          source(r"""
                     def normalise(sentence):
                         return re.findall(r"\w+(?:['-]\w+)*", sentence.lower())
                     """)),
    wrong("letter_used_up",
          "A single letter between two signs keeps only one of them: `rock-n-roll` falls apart.",
          "Does a sign share its neighbours with the next one?",
          source(r"""
                     def normalise(sentence):
                         marked = re.sub(r"(\w)(['-])(\w)", r"\1\0\2\3", sentence.lower())
                         kept = re.sub(r"(?<!\0)['-]|[^\w\0'-]", " ", marked)
                         return " ".join(kept.replace("\0", "").split())
                     """)),
]

ACCEPTED = [
    right("substitute", source(r"""
        def normalise(sentence):
            text = re.sub(r"[^\w'-]", ' ', sentence.lower())
            text = re.sub(r"(?<!\w)['-]|['-](?!\w)", ' ', text)
            text = re.sub(r"(?<!\w)['-]|['-](?!\w)", ' ', text)
            return ' '.join(text.split())
        """)),
    right("by_hand", source("""
        def normalise(sentence):
            s, out = sentence.lower(), []
            for i, c in enumerate(s):
                inner = c in "'-" and 0 < i < len(s) - 1
                inner = inner and s[i - 1].isalnum() and s[i + 1].isalnum()
                out.append(c if c.isalnum() or inner else ' ')
            return ' '.join(''.join(out).split())
        """)),
    right("finditer", source(r"""
        def normalise(sentence):
            found = re.finditer(r"\w+([-']\w+)*", sentence)
            return ' '.join(m.group() for m in found).lower()
        """)),
]

EXERCISE = Specification(
    name="text_recovery/normalise", title="Lower case, no signs", target="normalise", precise=False,
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
