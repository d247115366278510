"""The preprocessing pipeline: words in lower case, function words, lemmas."""

from __future__ import annotations

import json
from collections.abc import Sequence

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Specification
from transformer_course.library.corpora import closed_class
from transformer_course.text_recovery.exercises._inputs import (
    natural_sentences,
    normal_text,
    plain_sentences,
    some_of,
    words_of,
)

TAILS = ("don't", "half-past", "o'clock", "well-known", "can't", "she's", "mother-in-law")


def _one_level(sentences: Sequence[str]) -> Inputs:
    """Level 1 needs no function words and no lemmas."""
    return {
        "sentences": json.dumps(sentences, ensure_ascii=False),
        "levels": "[1]", "dropped": '["the", "is"]', "lemmas": '{"is": "be"}',
    }  # fmt: skip


def _plain(draw: Draw) -> Inputs:
    count = int(draw.ids(2, 99, 1))
    return _one_level([*plain_sentences(draw, 4), f"There are {count} of them!"])


def _inside_words(draw: Draw) -> Inputs:
    words = words_of(natural_sentences(draw, 6))
    first, second, third = some_of(draw, TAILS, 3)
    a, b, c, d = (words[int(i)] for i in draw.ids(0, len(words), 4))
    return _one_level([
        f"'{a} {first.upper()} {b}'",
        f"{second.title()}, {c} - {d} -- {third}?",
        f"\"{d}'s {a}\" ({first}) '{c}'",
        f"-{b}- {third}' '{second}",
        f"{a} {b}-in-{c}'s {d}",
        f"{a}-n-{b}, {c}-o'-{d}",  # one letter, with a mark on either side
    ])  # fmt: skip


def _crowded(draw: Draw) -> Inputs:
    words = words_of(natural_sentences(draw, 6))
    a, b, c, d = (words[int(i)] for i in draw.ids(0, len(words), 4))
    n, m = (int(i) for i in draw.ids(10, 99, 2))
    return _one_level([
        f"{a}{n % 9}.{n} {b}, Covid-{n} {c}’s {d}-{n}{a}",
        f"{a},{b};{c}/{d}",
        f"  {a}   {b} \n{c}...{d}!",
        f"{a}:{n}%{b}&{c}",
        f"{n}'s {a}, {m}'{b}",
        "?!",
        f"{a}--{b}'-{c}",
        f"{n},{m} {a}, {c}–{d}",  # marks that look as if they belonged to a word
    ])  # fmt: skip


def _other_letters(draw: Draw) -> Inputs:
    names = some_of(draw, ("Élodie", "Jürgen", "Øystein", "Łukasz", "Señor", "Çelik"), 3)
    n, m = (int(i) for i in draw.ids(2, 99, 2))
    return _one_level([
        f"{names[0]} has {n} CAFÉS, {names[1]} {m}.",
        f"«{names[2]}» – {m}nd!",
        f"Die Straße {n} IST groß.",
        f"Ein ﬁnaler Ｚug, {m}",  # letters that others could be put in place of
    ])  # fmt: skip


def _texts(draw: Draw, levels: Sequence[int], articles: bool = True) -> Inputs:
    """Sentences with repeated words; lemmas of function words as well, as traps.

    Without ``articles``, they are no function words here.
    """
    sentences = natural_sentences(draw, 5)
    texts = [normal_text(t) for t in sentences]
    first = texts[0].split()
    sentences[0] = " ".join([*first, *first[:2], "The", "the", first[-1]]) + "!"
    words = list(dict.fromkeys(" ".join(texts).split()))
    dropped = [w for w in words if w in closed_class()] + ["the", "is", "a", "in"]
    dropped = list(dict.fromkeys(dropped))
    if not articles:
        dropped = [w for w in dropped if w not in ("the", "a", "an")]
    lemmas = {word: f"{word[:3]}E" for word in words if len(word) > 4}
    lemmas |= {"is": "be", "was": "be", "the": "teh", "had": "have", "ox": "oxen", "inn": "Inn"}
    content = [w for w in words if w not in (*dropped, "the", "a", "an")]
    lemmas[content[0]] = "the"  # a lemma that looks like a function word must stay
    own = content[-1]  # a function word here, whatever the course's list says
    dropped.append(own)
    inner = f"Theatre, isa {content[1]} bathe inn check-in don't off-the-peg a-{own} off ox."
    return {
        "sentences": json.dumps([*sentences, inner, f"{own.title()} he's at {content[0]}.", "The is: a"]),
        "dropped": json.dumps(dropped),
        "lemmas": json.dumps(lemmas),
        "levels": json.dumps(list(levels)),
    }


CASES = [
    case("plain", "plain sentences, level 1", _plain,
         "Lower-case everything; keep the words, with one space between them."),
    case("inside", "apostrophes and hyphens, inside words and around them", _inside_words,
         "`don't` and `well-known` are one word each; quotes and dashes belong to no word."),
    case("crowded", "punctuation without spaces, and spaces without words", _crowded,
         "A punctuation mark between two words separates them, even without a space."),
    case("letters", "letters of other languages, and digits", _other_letters,
         r"`\w` knows é, ü and ß; `a-z` does not."),
    case("two", "level 2; here articles are not function words", lambda draw: _texts(draw, [2], articles=False),
         "Level 2 drops only whole words that are function words; everything else stays."),
    case("three", "level 3", lambda draw: _texts(draw, [3]),
         "Level 3 drops function words first and then takes the lemmas of the rest."),
    case("all", "all levels", lambda draw: _texts(draw, [1, 2, 3]),
         "Each level does everything that the level before it does, and more."),
    case("again", "other sentences", lambda draw: _texts(draw, [3, 1, 2]),
         "A call at one level must not affect a call at another.", hidden_only=True),
]

_FIND = r"""words = re.findall(r"\w+(?:['-]\w+)*", sentence.lower())"""
_PATTERN = r"\w+(?:['-]\w+)*"
_DROP = "words = [word for word in words if word not in function_words]"

MISTAKES = [
    # Mistakes in what a word is.
    wrong("other_forms",
          "Some letters are replaced by equivalent ones, like the ligature `ﬁ` by two letters.",
          "Which letters does the sentence contain, one by one?",
          edit("sentence.lower()", "__import__('unicodedata').normalize('NFKC', sentence).lower()")),
    wrong("upper_case_left",
          "The words still have their capitals.",
          "What turns `Anna` into `anna`?",
          edit("sentence.lower()", "sentence")),
    wrong("apostrophes_split",
          "Apostrophes and hyphens cut words in two: `don't` has become `don t`.",
          "Which marks may occur inside a word?",
          edit(_PATTERN, r"\w+")),
    wrong("apostrophes_lost",
          "Punctuation is deleted instead of separating words: `don't` has become `dont`, and `yes,no` `yesno`.",
          "What should replace a comma between two words?",
          edit(_FIND,
               "words = ''.join(c for c in sentence.lower() if c.isalnum() or c.isspace()).split()")),
    wrong("punctuation_deleted",
          "The marks in a fixed list are deleted: `don't` has become `dont` and `yes,no` has become `yesno`, and marks "
          "outside the list remain.",
          "What should replace a comma, and can a list contain every mark?",
          edit(_FIND, """
              import string
              table = str.maketrans('', '', string.punctuation + '«»–')
              words = sentence.lower().translate(table).split()
              """)),
    wrong("marks_deleted",
          "Marks are deleted instead of separating words: `yes,no` has become `yesno`.",
          "What should replace a comma between two words?",
          edit(_FIND, r"""
              words = [word.strip("'-") for word in re.sub(r"[^\w\s'-]", "", sentence.lower()).split()]
              words = [word for word in words if word]
              """)),
    wrong("signs_kept",
          "Only the case has changed; the punctuation is still there.",
          "What should happen to commas and full stops?",
          edit(_FIND, "words = sentence.lower().split()")),
    wrong("spaces_doubled",
          "Punctuation became spaces, but repeated spaces remain.",
          "What does `' '.join(text.split())` do to spaces?",
          edit(_FIND, r"""words = re.sub(r"[^\w'-]", ' ', sentence.lower()).split(' ')""")),
    wrong("quotes_stay",
          "Apostrophes and hyphens stay everywhere, also as quotation marks and dashes.",
          "What surrounds the apostrophe in `don't`, and what surrounds those in `'hello'`?",
          edit(_PATTERN, r"[\w'-]+")),
    wrong("ends_stripped_only",
          "Punctuation is stripped from the ends of words; between two words without a space it remains.",
          "What becomes of `yes,no`?",
          edit(_FIND, """
              import string
              words = [w.strip(string.punctuation + '«»–') for w in sentence.lower().split()]
              words = [w for w in words if w]
              """)),
    wrong("ascii_only",
          "Letters outside a-z are treated as punctuation.",
          "Is é a letter? Does your pattern match it?",
          edit(_PATTERN, "[a-z0-9]+(?:['-][a-z0-9]+)*")),
    wrong("digits_lost",
          "Numbers have disappeared.",
          "Are digits part of words here?",
          edit(_PATTERN, r"[^\W\d]+(?:['-][^\W\d]+)*")),
    wrong("no_apostrophe_at_digits",
          "An apostrophe beside a digit cuts the word: `80's` has become `80 s`.",
          "What may surround an apostrophe: letters only?",
          edit(r"(?:['-]\w+)*", r"(?:(?:-|(?<=[^\W\d])'(?=[^\W\d]))\w+)*")),
    wrong("comma_in_numbers",
          "A comma between digits stays: `1,000` is one word for you.",
          "Which two marks may occur inside a word?",
          edit(r"(?:['-]\w+)*", r"(?:['-]\w+|,\d+)*")),
    wrong("dashes_join",
          "A dash `–` between two words joins them, as a hyphen `-` does.",
          "Which two marks may occur inside a word?",
          edit("['-]", "['–-]")),
    wrong("one_inner_sign",
          "A second hyphen or apostrophe in a word cuts it.",
          "`mother-in-law` is one word. How many hyphens may a word have?",
          edit(r"(?:['-]\w+)*", r"(?:['-]\w+)?")),
    wrong("letter_used_up",
          "Around a single letter, only one of the two marks is kept: `rock-n-roll` falls apart.",
          "Can one letter be the neighbour of two marks?",
          edit(_FIND, r"""
              marked = re.sub(r"(\w)(['-])(\w)", r"\1\0\2\3", sentence.lower())
              words = re.sub(r"(?<!\0)['-]|[^\w\0'-]", " ", marked).replace("\0", "").split()
              """)),
    wrong("a_list",
          "You return a list of words, not a string.",
          "How do you join several words into one string?",
          edit('return " ".join(words)', "return words")),
    wrong("glued",
          "The words are joined without spaces.",
          "What separates two words?",
          edit('" ".join(words)', '"".join(words)')),
    # Mistakes in the levels.
    wrong("lemmas_first",
          "Lemmas are taken before function words are dropped: `was` becomes `be`, which may not be in the list.",
          "Is the list of function words a list of lemmas?",
          edit("if level >= 2:", """
              if level >= 3:
                  words = [lemma(w) for w in words]
              if level >= 2:""",
               "if level >= 3:\n    words = [lemma(word) for word in words]\n", "")),
    wrong("lemmas_made_small",
          "You lower-case the result of `lemma`; it should stay as it is.",
          "Who decides on the capitals of a lemma: your code, or `lemma`?",
          edit("lemma(word) for", "lemma(word).lower() for")),
    wrong("level_1_drops",
          "Level 1 already drops function words.",
          "Which stages does level 1 have?",
          edit("if level >= 2:", "if level >= 1:")),
    wrong("level_3_keeps",
          "Level 3 takes lemmas, but the function words are still there.",
          "Level 3 does everything that level 2 does. Does yours?",
          edit("if level >= 2:", "if level == 2:")),
    wrong("level_2_lemmas",
          "Level 2 already takes lemmas.",
          "From which level on are words replaced by their lemmas?",
          edit("if level >= 3:", "if level >= 2:")),
    wrong("no_lemmas",
          "Level 3 returns the same as level 2: the lemmas are missing.",
          "Where do you call `lemma`, and what do you do with its result?",
          edit("words = [lemma(word) for word in words]", "[lemma(word) for word in words]")),
    wrong("inverted",
          "The function words are kept and all others dropped.",
          "Which words carry the meaning?",
          edit("word not in function_words", "word in function_words")),
    wrong("sets",
          "Each word of a sentence is kept only once, however often it occurs.",
          "Which words of `the boy saw the boy` does your code keep?",
          edit(_FIND, rf"""words = list(dict.fromkeys(re.findall(r"{_PATTERN}", sentence.lower())))""")),
    wrong("replaced_inside",
          "Function words are cut out of the text wherever their letters occur: `theatre` has lost its `the`.",
          "How does your replacement know where a word begins and ends?",
          edit(_DROP, """
              text = ' '.join(words)
              for word in sorted(function_words):
                  text = text.replace(word, '')
              words = text.split()
              """)),
    wrong("own_articles",
          "Articles are dropped, whether they are in `function_words` or not.",
          "Which words are to be dropped, and where do you learn that?",
          edit("word not in function_words", "word not in {'the', 'a', 'an', *function_words}")),
    wrong("lemma_dropped",
          "Words are dropped by their lemma: a word whose lemma looks like a function word is lost.",
          "Which form of a word decides whether it is dropped?",
          edit("word not in function_words", "lemma(word) not in function_words and word not in function_words")),
    wrong("removed_while_walking",
          "Of two function words in a row, one stays: the list shrinks while you iterate over it.",
          "Which word comes next after one was removed?",
          edit(_DROP, """
              for w in words:
                  if w in function_words:
                      words.remove(w)
              """)),
]

ACCEPTED = [
    right("substitute", edit(_FIND, r"""
        text = re.sub(r"[^\w'-]", ' ', sentence.lower())
        text = re.sub(r"(?<!\w)['-]|['-](?!\w)", ' ', text)
        text = re.sub(r"(?<!\w)['-]|['-](?!\w)", ' ', text)
        words = text.split()
        """)),
    right("by_hand", edit(_FIND, """
        s, out = sentence.lower(), []
        for i, c in enumerate(s):
            inner = c in "'-" and 0 < i < len(s) - 1
            inner = inner and s[i - 1].isalnum() and s[i + 1].isalnum()
            out.append(c if c.isalnum() or inner else ' ')
        words = ''.join(out).split()
        """)),
    right("one_pass", source(r"""
        def preprocess(sentence, level, function_words, lemma):
            kept = []
            for found in re.finditer(r"\w+([-']\w+)*", sentence):
                w = found.group().lower()
                if level > 1 and w in function_words:
                    continue
                kept.append(lemma(w) if level == 3 else w)
            return ' '.join(kept)
        """)),
    right("recursive", source(r"""
        def preprocess(sentence, level, function_words, lemma):
            if level == 1:
                return ' '.join(re.findall(r"\w+(?:['-]\w+)*", sentence.lower()))
            words = preprocess(sentence, level - 1, function_words, lemma).split()
            if level == 3:
                return ' '.join(map(lemma, words))
            return ' '.join(filter(lambda w: w not in function_words, words))
        """)),
]

EXERCISE = Specification(
    name="text_recovery/pipeline", title="The pipeline", target="preprocess", precise=False,
    ready_made=("transformer_course.library.pipeline.damage",),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
