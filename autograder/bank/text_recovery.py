"""Unit 06, text recovery: inputs, wrong variants, right styles."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Sequence
from pathlib import Path

import torch

from autograder.bank.vocabulary import Draw, Right, Setting, Task, Wrong
from autograder.student.exercise import Answers
from autograder.student.recovery import corpora
from autograder.student.recovery.checkpoint import HANDED_IN, SHIPPED

Inputs = dict[str, torch.Tensor | str]
PAD, BOS, EOS, UNK = range(4)

TAILS = (
    "don't",
    "half-past",
    "o'clock",
    "well-known",
    "can't",
    "she's",
    "mother-in-law",
)
WORDS = tuple(
    re.findall(
        r"\w+",
        "low lower lowest slow slower new newer newest wide wider widest bake baker baked "
        "bakes anna banana bandana cocoa mississippi aaaa aaa abab ababab noon",
    )
)


def _sentences(draw: Draw, count: int) -> list[str]:
    """Natural sentences, others in every drawing."""
    return corpora.generate(f"bank {int(draw.ids(0, 2**31, 1))}", count)


def _some(draw: Draw, options: Sequence[str], count: int) -> list[str]:
    """A drawing without repetition."""
    left = list(options)
    return [left.pop(int(draw.ids(0, len(left), 1))) for _ in range(count)]


def _shuffled(draw: Draw, items: list) -> list:
    return _some(draw, items, len(items))


def _words(texts: list[str]) -> list[str]:
    return re.findall(r"[A-Za-z]+", " ".join(texts))


def _normal(text: str) -> str:
    return " ".join(re.findall(r"\w+(?:['-]\w+)*", text.lower()))


# --- 6.1 normalise --------------------------------------------------------------------


def _plain(draw: Draw) -> Inputs:
    return {"sentences": json.dumps(_sentences(draw, 4))}


def _inside_words(draw: Draw) -> Inputs:
    words = _words(_sentences(draw, 6))
    first, second, third = _some(draw, TAILS, 3)
    a, b, c, d = (words[int(i)] for i in draw.ids(0, len(words), 4))
    rows = [
        f"'{a} {first.upper()} {b}'",
        f"{second.title()}, {c} - {d} -- {third}?",
        f"\"{d}'s {a}\" ({first}) '{c}'",
        f"-{b}- {third}' '{second}",
        f"{a} {b}-in-{c}'s {d}",
    ]
    return {"sentences": json.dumps(rows)}


def _crowded(draw: Draw) -> Inputs:
    words = _words(_sentences(draw, 6))
    a, b, c, d = (words[int(i)] for i in draw.ids(0, len(words), 4))
    n = int(draw.ids(10, 99, 1))
    rows = [
        f"{a},{b};{c}/{d}", f"  {a}   {b} \n{c}...{d}!", f"{a}:{n}%{b}&{c}", "?!",
        f"{a}--{b}'-{c}",
    ]  # fmt: skip
    return {"sentences": json.dumps(rows)}


def _other_letters(draw: Draw) -> Inputs:
    names = _some(draw, ("Élodie", "Jürgen", "Øystein", "Łukasz", "Señor", "Çelik"), 3)
    n, m = (int(i) for i in draw.ids(2, 99, 2))
    rows = [f"{names[0]} has {n} CAFÉS, {names[1]} {m}.", f"«{names[2]}» – {m}nd!"]
    return {"sentences": json.dumps(rows, ensure_ascii=False)}


NORMALISE = Task(
    name="text_recovery/normalise",
    title="Lower case, no signs",
    target="normalise",
    precise=False,
    settings=(
        Setting("plain", "plain sentences", _plain,
                "Lower-case everything; keep the words, with one space between them."),
        Setting("inside", "apostrophes and hyphens, inside words and around them",
                _inside_words,
                "`don't` and `well-known` are one word each; quotes and dashes are none."),
        Setting("crowded", "signs without spaces, and spaces without words", _crowded,
                "A sign between two words separates them, even where no space stands."),
        Setting("letters", "letters of other languages, and digits", _other_letters,
                "`\\w` knows é, ü and ß; `a-z` does not.", hidden_only=True),
    ),
    wrong=(
        Wrong("upper_case_left", "The words are still in their old case.",
              "What turns `Anna` into `anna`?",
              edits=(("sentence.lower()", "sentence"),)),
        Wrong("apostrophes_split", "Apostrophes and hyphens cut words in two: `don't` has "
              "become `don t`.",
              "Which signs may stand inside a word?",
              edits=((r"""r"\w+(?:['-]\w+)*\"""".replace('\\"', '"'), r'r"\w+"'),)),
        Wrong("apostrophes_lost", "Signs are deleted rather than taken as borders: "
              "`don't` has become `dont`, and `yes,no` one word.",
              "What should stand where a comma stood?",
              source="def normalise(sentence):\n"
              "    kept = ''.join(c for c in sentence.lower() if c.isalnum() or c.isspace())\n"
              "    return ' '.join(kept.split())\n"),
        Wrong("punctuation_deleted", like="apostrophes_lost",
              source="import string\n"
              "def normalise(sentence):\n"
              "    table = str.maketrans('', '', string.punctuation + '«»–')\n"
              "    return ' '.join(sentence.lower().translate(table).split())\n"),
        Wrong("signs_kept", "Only the case has changed: the signs are still there.",
              "What is to become of commas and full stops?",
              source="def normalise(sentence):\n"
              "    return ' '.join(sentence.lower().split())\n"),
        Wrong("spaces_doubled", "Signs became spaces, but several spaces in a row stayed.",
              "What does `' '.join(text.split())` do to spaces?",
              source="def normalise(sentence):\n"
              "    return re.sub(r\"[^\\w'-]\", ' ', sentence.lower())\n"),
        Wrong("quotes_stay", "Apostrophes and hyphens stay everywhere, also as quotation "
              "marks and dashes.",
              "What stands on both sides of the apostrophe in `don't`, and of the one in "
              "`'hello'`?",
              source="def normalise(sentence):\n"
              "    return ' '.join(re.findall(r\"[\\w'-]+\", sentence.lower()))\n"),
        Wrong("ends_stripped_only", "Signs are stripped from the ends of words; those "
              "between two words without a space are still there.",
              "What becomes of `yes,no`?",
              source="import string\n"
              "def normalise(sentence):\n"
              "    words = (w.strip(string.punctuation + '«»–') for w in sentence.lower().split())\n"
              "    return ' '.join(w for w in words if w)\n"),
        Wrong("ascii_only", "Letters outside a-z are taken for signs.",
              "Is é a letter? Does your pattern know?",
              edits=((r"\w+(?:['-]\w+)*", r"[a-z0-9]+(?:['-][a-z0-9]+)*"),)),
        Wrong("digits_lost", "Numbers have disappeared.",
              "Are digits part of words here?",
              edits=((r"\w+(?:['-]\w+)*", r"[^\W\d]+(?:['-][^\W\d]+)*"),)),
        Wrong("one_inner_sign", "A second hyphen or apostrophe in a word cuts it.",
              "`mother-in-law` is one word. How many hyphens may a word have?",
              edits=((r"(?:['-]\w+)*", r"(?:['-]\w+)?"),)),
        Wrong("a_list", "A list of words comes back, not a text.",
              "How do you make one text of several words?",
              source="def normalise(sentence):\n"
              "    return re.findall(r\"\\w+(?:['-]\\w+)*\", sentence.lower())\n"),
    ),
    right=(
        Right("substitute", "def normalise(sentence):\n"
              "    text = re.sub(r\"[^\\w'-]\", ' ', sentence.lower())\n"
              "    text = re.sub(r\"(?<!\\w)['-]|['-](?!\\w)\", ' ', text)\n"
              "    text = re.sub(r\"(?<!\\w)['-]|['-](?!\\w)\", ' ', text)\n"
              "    return ' '.join(text.split())\n"),
        Right("by_hand", "def normalise(sentence):\n"
              "    s, out = sentence.lower(), []\n"
              "    for i, c in enumerate(s):\n"
              "        inner = c in \"'-\" and 0 < i < len(s) - 1\n"
              "        inner = inner and s[i - 1].isalnum() and s[i + 1].isalnum()\n"
              "        out.append(c if c.isalnum() or inner else ' ')\n"
              "    return ' '.join(''.join(out).split())\n"),
        Right("finditer", "def normalise(sentence):\n"
              "    found = re.finditer(r\"\\w+([-']\\w+)*\", sentence)\n"
              "    return ' '.join(m.group() for m in found).lower()\n"),
    ),
)  # fmt: skip


# --- 6.2 eliminate --------------------------------------------------------------------


def _texts(draw: Draw, levels: Sequence[int]) -> Inputs:
    """Texts with repeated words; lemmas of function words as well, as traps."""
    texts = [_normal(t) for t in _sentences(draw, 5)]
    first = texts[0].split()
    texts[0] = " ".join([*first, *first[:2], "the", "the", first[-1]])
    words = list(dict.fromkeys(" ".join(texts).split()))
    dropped = [w for w in words if w in _closed()] + ["the", "is", "a", "in"]
    dropped = list(dict.fromkeys(dropped))
    lemmas = {word: f"{word[:3]}e" for word in words if len(word) > 4}
    lemmas |= {"is": "be", "was": "be", "the": "teh", "had": "have"}
    content = [w for w in words if w not in dropped]
    lemmas[content[0]] = "the"  # a lemma that looks like a function word must stay
    inner = f"theatre isa {content[1]} bathe inn"
    return {
        "texts": json.dumps([*texts, inner, "the is a"]),
        "dropped": json.dumps(dropped),
        "lemmas": json.dumps(lemmas),
        "levels": json.dumps(list(levels)),
    }


@functools.cache
def _closed() -> frozenset[str]:
    return frozenset(w for words in corpora.function_words().values() for w in words)


ELIMINATE = Task(
    name="text_recovery/eliminate",
    title="The levels of the pipeline",
    target="eliminate",
    precise=False,
    settings=(
        Setting("two", "level 2", lambda draw: _texts(draw, [2]),
                "Level 2 drops function words, whole words only; everything else stays."),
        Setting("three", "level 3", lambda draw: _texts(draw, [3]),
                "Level 3 drops function words first and then takes lemmas of what is left."),
        Setting("all", "all levels", lambda draw: _texts(draw, [1, 2, 3]),
                "Level 1 changes nothing; each level does all that the one before does."),
        Setting("again", "other texts", lambda draw: _texts(draw, [3, 1, 2]),
                "The levels do not depend on each other's calls.", hidden_only=True),
    ),
    wrong=(
        Wrong("lemmas_first", "Lemmas are taken before function words are dropped: `was` "
              "becomes `be`, and may escape.",
              "Is the list of function words a list of lemmas?",
              source="def eliminate(text, level, function_words, lemma):\n"
              "    words = text.split()\n"
              "    if level >= 3:\n        words = [lemma(w) for w in words]\n"
              "    if level >= 2:\n        words = [w for w in words if w not in function_words]\n"
              "    return ' '.join(words)\n"),
        Wrong("level_1_drops", "Level 1 drops function words already.",
              "What does level 1 do to a normalised text?",
              edits=(("if level >= 2:", "if level >= 1:"),)),
        Wrong("level_3_keeps", "Level 3 takes lemmas, but the function words are still there.",
              "Level 3 does everything that level 2 does. Does yours?",
              edits=(("if level >= 2:", "if level == 2:"),)),
        Wrong("level_2_lemmas", "Level 2 takes lemmas already.",
              "From which level on are words cut to their dictionary form?",
              edits=(("if level >= 3:", "if level >= 2:"),)),
        Wrong("no_lemmas", "Level 3 gives what level 2 gives: the lemmas are missing.",
              "Who calls `lemma`, and what becomes of its result?",
              edits=(("words = [lemma(word) for word in words]",
                      "[lemma(word) for word in words]"),)),
        Wrong("inverted", "The function words are kept and all others dropped.",
              "Which words carry the meaning?",
              edits=(("word not in function_words", "word in function_words"),)),
        Wrong("sets", "Each word is left once, or in another order: a set forgets both.",
              "What does `set` do to `the boy saw the boy`?",
              source="def eliminate(text, level, function_words, lemma):\n"
              "    words = list(dict.fromkeys(text.split()))\n"
              "    if level >= 2:\n        words = [w for w in words if w not in function_words]\n"
              "    if level >= 3:\n        words = [lemma(w) for w in words]\n"
              "    return ' '.join(words)\n"),
        Wrong("replaced_inside", "Function words are cut out of the text wherever their "
              "letters stand: `theatre` has lost its `the`.",
              "What does `text.replace` know about words?",
              source="def eliminate(text, level, function_words, lemma):\n"
              "    if level >= 2:\n"
              "        for word in sorted(function_words):\n"
              "            text = text.replace(word, '')\n"
              "    words = text.split()\n"
              "    if level >= 3:\n        words = [lemma(w) for w in words]\n"
              "    return ' '.join(words)\n"),
        Wrong("lemma_dropped", "Words are dropped by their lemma: a word whose lemma looks "
              "like a function word is lost.",
              "Which form of a word decides whether it is dropped?",
              edits=(("word not in function_words", "lemma(word) not in function_words and word not in function_words"),)),
        Wrong("removed_while_walking", "Of two function words in a row one stays: the list "
              "shrinks while you walk along it.",
              "What is the next word, after one was removed?",
              source="def eliminate(text, level, function_words, lemma):\n"
              "    words = text.split()\n"
              "    if level >= 2:\n"
              "        for w in words:\n"
              "            if w in function_words:\n                words.remove(w)\n"
              "    if level >= 3:\n        words = [lemma(w) for w in words]\n"
              "    return ' '.join(words)\n"),
        Wrong("unchanged", "The text comes back as it was, at every level.",
              "Which line changes it?",
              source="def eliminate(text, level, function_words, lemma):\n    return text\n"),
        Wrong("glued", "The words are joined without spaces.",
              "What stands between two words?", edits=(('" ".join(words)', '"".join(words)'),)),
    ),
    right=(
        Right("one_pass", "def eliminate(text, level, function_words, lemma):\n"
              "    kept = []\n"
              "    for w in text.split(' '):\n"
              "        if level > 1 and w in function_words:\n            continue\n"
              "        kept.append(lemma(w) if level == 3 else w)\n"
              "    return ' '.join(kept)\n"),
        Right("early_return", "def eliminate(text, level, function_words, lemma):\n"
              "    if level == 1:\n        return text\n"
              "    words = filter(lambda w: w not in function_words, text.split())\n"
              "    return ' '.join(map(lemma, words) if level == 3 else words)\n"),
        Right("recursive", "def eliminate(text, level, function_words, lemma):\n"
              "    if level == 3:\n"
              "        rest = eliminate(text, 2, function_words, lemma)\n"
              "        return ' '.join(lemma(w) for w in rest.split())\n"
              "    if level == 2:\n"
              "        return ' '.join(w for w in text.split() if w not in function_words)\n"
              "    return text\n"),
    ),
)  # fmt: skip


# --- 6.3 split_pairs ------------------------------------------------------------------


def _pairs(draw: Draw, count: int) -> Inputs:
    """Pairs; some with empty sources, some repeated, some with a repeated source."""
    sentences = _sentences(draw, count)
    pairs = [
        [" ".join(w for w in _normal(s).split() if w not in _closed()), s]
        for s in sentences
    ]
    for place in draw.ids(0, count // 2, 6).tolist():
        pairs.append(list(pairs[place]))
        pairs.append([pairs[place][0], pairs[place][1].upper()])
        pairs.insert(place, ["", "So be it!"])
    return {"pairs": json.dumps(pairs)}


SPLIT_PAIRS = Task(
    name="text_recovery/split_pairs",
    title="Pairs, split by a hash",
    target="split_pairs",
    precise=False,
    settings=(
        Setting("some", "120 pairs", lambda draw: _pairs(draw, 120),
                "The SHA-256 of the source, as a number modulo 20, decides."),
        Setting("many", "300 pairs", lambda draw: _pairs(draw, 300),
                "Empty sources go, repeated pairs are kept once, the order stays."),
        Setting("more", "250 other pairs", lambda draw: _pairs(draw, 250),
                "The same for other texts.", hidden_only=True),
    ),
    wrong=(
        Wrong("by_target", "The target decides the split: two sentences with the same "
              "source can land on both sides.",
              "What does the model get to see at test time, and could it have seen it in "
              "training?",
              edits=(("source.encode()", "target.encode()"),)),
        Wrong("by_both", "Source and target decide together, so equal sources are torn apart.",
              "Which of the two may alone decide?",
              edits=(("source.encode()", "(source + target).encode()"),)),
        Wrong("empty_kept", "Pairs with an empty source are still there.",
              "What could a model recover from nothing?",
              edits=(("        if source:\n", "        if True:\n"),)),
        Wrong("repeats_kept", "Repeated pairs are kept each time.",
              "How do you walk through different pairs only?",
              edits=(("dict.fromkeys(pairs)", "pairs"),)),
        Wrong("sources_once", "Only one pair of each source is left: two targets may share "
              "a source.",
              "What counts as a repeated *pair*?",
              source="def split_pairs(pairs):\n"
              "    splits, seen = {'train': [], 'dev': [], 'test': []}, set()\n"
              "    for source, target in pairs:\n"
              "        if source and source not in seen:\n"
              "            seen.add(source)\n"
              "            n = int(hashlib.sha256(source.encode()).hexdigest(), 16) % 20\n"
              "            splits[{0: 'test', 1: 'dev'}.get(n, 'train')].append((source, target))\n"
              "    return splits\n"),
        Wrong("by_place", "The place in the list decides, not the text: after a change of "
              "order another split comes out.",
              "Which split would the same pair have in a longer list?",
              source="def split_pairs(pairs):\n"
              "    kept = [p for p in dict.fromkeys(pairs) if p[0]]\n"
              "    n = len(kept) // 20\n"
              "    return {'test': kept[:n], 'dev': kept[n:2 * n], 'train': kept[2 * n:]}\n"),
        Wrong("swapped", "Dev and test are exchanged.",
              "Which remainder belongs to test?",
              edits=(('{0: "test", 1: "dev"}', '{1: "test", 0: "dev"}'),)),
        Wrong("modulo_10", "A tenth of the pairs goes to test, not a twentieth.",
              "Modulo which number?",
              edits=(("16) % 20", "16) % 10"),)),
        Wrong("other_hash", "Another hash is used, or another part of it.",
              "Is it SHA-256, and all of its digits as one number?",
              edits=(("hashlib.sha256", "hashlib.md5"),)),
        Wrong("half_hash", "Only some digits of the hash decide.",
              "How long is `hexdigest()`, and how much of it makes the number?", edits=(
            (".hexdigest(), 16)", ".hexdigest()[:8], 16)"),)),
        Wrong("python_hash", "Python's `hash` decides: it gives other numbers in every "
              "session.",
              "Would you find the same test set tomorrow?",
              source="def split_pairs(pairs):\n"
              "    splits = {'train': [], 'dev': [], 'test': []}\n"
              "    for source, target in dict.fromkeys(pairs):\n"
              "        if source:\n"
              "            n = sum(map(ord, source)) % 20\n"
              "            splits[{0: 'test', 1: 'dev'}.get(n, 'train')].append((source, target))\n"
              "    return splits\n"),
        Wrong("misaligned", "Sources and targets were filtered apart from each other: behind "
              "the first empty source no pair belongs together any more.",
              "Compare the tenth pair with the tenth line of the text. Whose target is it?",
              source="def split_pairs(pairs):\n"
              "    splits = {'train': [], 'dev': [], 'test': []}\n"
              "    pairs = list(dict.fromkeys(pairs))\n"
              "    sources = [s for s, _ in pairs if s]\n"
              "    targets = [t for _, t in pairs]\n"
              "    for source, target in zip(sources, targets):\n"
              "        n = int(hashlib.sha256(source.encode()).hexdigest(), 16) % 20\n"
              "        splits[{0: 'test', 1: 'dev'}.get(n, 'train')].append((source, target))\n"
              "    return splits\n"),
        Wrong("reversed", "Pairs are exchanged: the target stands first.",
              "In which order do source and target come?",
              edits=((".append((source, target))", ".append((target, source))"),)),
        Wrong("all_in_train", "Everything is in train.",
              "When is a remainder 0 or 1?",
              edits=(('.get(number, "train")', '.get(str(number), "train")'),)),
        Wrong("sorted", "The order of the pairs has changed.",
              "Does `set` or `sorted` keep an order?",
              edits=(("dict.fromkeys(pairs)", "sorted(set(pairs))"),)),
    ),
    right=(
        Right("seen_set", "def split_pairs(pairs):\n"
              "    train, dev, test, seen = [], [], [], set()\n"
              "    for pair in pairs:\n"
              "        if not pair[0] or pair in seen:\n            continue\n"
              "        seen.add(pair)\n"
              "        r = int(hashlib.sha256(pair[0].encode('utf-8')).hexdigest(), base=16) % 20\n"
              "        (test if r == 0 else dev if r == 1 else train).append(pair)\n"
              "    return dict(train=train, dev=dev, test=test)\n"),
        Right("from_bytes", "def split_pairs(pairs):\n"
              "    def number(s):\n"
              "        return int.from_bytes(hashlib.sha256(bytes(s, 'utf8')).digest(), 'big') % 20\n"
              "    kept = [p for p in dict.fromkeys(pairs) if p[0] != '']\n"
              "    return {'test': [p for p in kept if number(p[0]) == 0],\n"
              "            'dev': [p for p in kept if number(p[0]) == 1],\n"
              "            'train': [p for p in kept if number(p[0]) > 1]}\n"),
        Right("lists", "def split_pairs(pairs):\n"
              "    out = defaultdict(list, train=[], dev=[], test=[])\n"
              "    for i, (s, t) in enumerate(pairs):\n"
              "        if len(s) == 0 or (s, t) in pairs[:i]:\n            continue\n"
              "        n = int(hashlib.sha256(s.encode()).hexdigest(), 16) % 20\n"
              "        out['test' if n == 0 else 'dev' if n == 1 else 'train'].append([s, t])\n"
              "    return out\n"),
    ),
)  # fmt: skip


# --- 6.4 word_tokenizer ---------------------------------------------------------------


def _word_texts(draw: Draw, count: int, min_freq: int | None) -> Inputs:
    texts = _sentences(draw, count)
    # Ties in number, both ways round, so that their order shows.
    rare = _some(draw, ("zebra", "yak", "walrus", "llama", "emu", "gnu"), 4)
    texts += [f"{rare[0]}, {rare[1]} {rare[2]}", f"{rare[1]} {rare[0]} {rare[3]}"]
    new = [*_sentences(draw, 2), f'"{rare[0]} wombat," {texts[0]}', ""]
    row = [BOS, 7, PAD, 9, UNK, BOS, 5, EOS, 8, PAD, EOS, 6]
    inputs = {
        "texts": json.dumps(texts), "new": json.dumps(new),
        "row": torch.tensor(row) + (torch.tensor(row) > 3) * draw.ids(0, 9, 1),
    }  # fmt: skip
    return inputs if min_freq is None else inputs | {"min_freq": torch.tensor(min_freq)}


WORD_TOKENIZER = Task(
    name="text_recovery/word_tokenizer",
    title="A word tokenizer",
    target="WordTokenizer",
    precise=False,
    settings=(
        Setting("default", "min_freq as it comes", lambda draw: _word_texts(draw, 30, None),
                "By default a piece must occur twice."),
        Setting("three", "min_freq = 3", lambda draw: _word_texts(draw, 40, 3),
                "A piece belongs to the vocabulary from `min_freq` occurrences on."),
        Setting("one", "min_freq = 1", lambda draw: _word_texts(draw, 12, 1),
                "With min_freq = 1 every piece of the texts is known."),
        Setting("four", "min_freq = 4", lambda draw: _word_texts(draw, 60, 4),
                "The same with other numbers.", hidden_only=True),
    ),
    wrong=(
        Wrong("more_than", "Pieces that occur exactly `min_freq` times are missing.",
              "Is it `>` or `>=`?", edits=(("count >= min_freq", "count > min_freq"),)),
        Wrong("min_freq_ignored", "Every piece is in the vocabulary, however rare.",
              "Where is `min_freq` used?", edits=(("count >= min_freq", "count >= 1"),)),
        Wrong("no_specials", "The vocabulary does not begin with the four SPECIALS, so real "
              "words have the ids of PAD, BOS, EOS and UNK.",
              "Which word has id 0?",
              edits=(("[*SPECIALS, *ordered]", "[*ordered]"),)),
        Wrong("specials_last", "The SPECIALS stand at the end of the vocabulary.",
              "Which id should PAD have?",
              edits=(("[*SPECIALS, *ordered]", "[*ordered, *SPECIALS]"),)),
        Wrong("alphabetical", "The vocabulary is in alphabetical order only.",
              "Which piece has id 4?", edits=(("(-counts[piece], piece)", "piece"),)),
        Wrong("rarest_first", "The rarest pieces come first.",
              "Which sign turns an order around?",
              edits=(("(-counts[piece], piece)", "(counts[piece], piece)"),)),
        Wrong("ties_by_place", "Pieces of equal frequency stand in the order in which they "
              "were met, not in alphabetical order.",
              "What does the key say about two pieces with the same count?",
              edits=(("(-counts[piece], piece)", "-counts[piece]"),)),
        Wrong("split_at_spaces", "The text is cut at spaces only: signs stick to words, and "
              "`key` and `key.` are two.",
              "Which given function knows what a piece is?",
              source="class WordTokenizer:\n"
              "    def __init__(self, texts, min_freq=2):\n"
              "        counts = Counter(p for t in texts for p in t.split())\n"
              "        known = [p for p, c in counts.items() if c >= min_freq]\n"
              "        self.vocab = [*SPECIALS, *sorted(known, key=lambda p: (-counts[p], p))]\n"
              "        self._ids = {t: i for i, t in enumerate(self.vocab)}\n"
              "    def encode(self, text):\n"
              "        return [self._ids.get(p, UNK) for p in text.split()]\n"
              "    def decode(self, ids):\n"
              "        out = []\n"
              "        for i in ids:\n"
              "            if i == EOS: break\n"
              "            if i not in (PAD, BOS): out.append(self.vocab[i])\n"
              "        return ' '.join(out)\n"),
        Wrong("lower_cased", "The text is lower-cased on the way: capitals can never come "
              "back.",
              "Which half of the task is to recover case?",
              edits=(("for piece in pieces(text))", "for piece in pieces(text.lower()))"),
                     ("for piece in pieces(text)]", "for piece in pieces(text.lower())]"))),
        Wrong("unknown_skipped", "Unknown pieces disappear instead of becoming UNK.",
              "How would the model know that something stood there?",
              edits=(("[self._ids.get(piece, UNK) for piece in pieces(text)]",
                      "[self._ids[piece] for piece in pieces(text) if piece in self._ids]"),)),
        Wrong("unknown_crashes", "An unknown piece raises a KeyError.",
              "What does `dict.get` do that `[...]` does not?",
              edits=(("self._ids.get(piece, UNK)", "self._ids[piece]"),)),
        Wrong("unknown_is_pad", "Unknown pieces become PAD.",
              "What will the model do with padding?",
              edits=(("self._ids.get(piece, UNK)", "self._ids.get(piece, PAD)"),)),
        Wrong("bos_and_eos_added", "`encode` adds BOS and EOS. The batches do that later, so "
              "each would stand there twice.",
              "Who adds the special tokens in this course?",
              edits=(("return [self._ids.get(piece, UNK) for piece in pieces(text)]",
                      "return [BOS] + [self._ids.get(piece, UNK) for piece in pieces(text)] + [EOS]"),)),
        Wrong("runs_past_eos", "`decode` goes on behind the first EOS.",
              "What may follow EOS in a batch, and should anybody read it?",
              edits=(("                break\n", "                continue\n"),)),
        Wrong("eos_shown", "EOS is written into the text.",
              "Should a reader see `<eos>`?",
              edits=(("            if i == EOS:\n                break\n            if i not in (PAD, BOS):\n                tokens.append(self.vocab[i])",
                      "            if i not in (PAD, BOS):\n                tokens.append(self.vocab[i])\n            if i == EOS:\n                break"),)),
        Wrong("padding_shown", "PAD is written into the text.",
              "Which special tokens must leave no trace?",
              edits=(("if i not in (PAD, BOS):", "if i != BOS:"),)),
        Wrong("bos_shown", "BOS is written into the text.",
              "Which special tokens must leave no trace?",
              edits=(("if i not in (PAD, BOS):", "if i not in (PAD,):"),)),
        Wrong("unknown_hidden", "`decode` drops UNK: the reader does not see that a word is "
              "missing.",
              "Which special tokens have to disappear, and which one says something?",
              edits=(("if i not in (PAD, BOS):", "if i not in (PAD, BOS, UNK):"),)),
        Wrong("stops_at_padding", "`decode` stops at PAD.",
              "At which token does a text end?",
              edits=(("if i == EOS:", "if i in (EOS, PAD):"),)),
        Wrong("spaces_between", "The pieces are joined with spaces: `Go , she said .` Every "
              "sign costs BLEU.",
              "What does `glue` do with `▁`?",
              edits=(("return glue(tokens)", 'return " ".join(tokens).replace("▁", "")'),)),
        Wrong("marks_left", "The marks `▁` are still in the text.",
              "Which given function turns pieces into a text?",
              edits=(("return glue(tokens)", 'return "".join(tokens)'),)),
    ),
    right=(
        Right("loops", "class WordTokenizer:\n"
              "    def __init__(self, texts, min_freq=2):\n"
              "        counts = {}\n"
              "        for text in texts:\n"
              "            for p in pieces(text):\n"
              "                counts[p] = counts.get(p, 0) + 1\n"
              "        self.vocab = list(SPECIALS)\n"
              "        for p in sorted(sorted(counts), key=counts.get, reverse=True):\n"
              "            if not counts[p] < min_freq:\n"
              "                self.vocab.append(p)\n"
              "    def __len__(self):\n        return len(self.vocab)\n"
              "    def encode(self, text):\n"
              "        return [self.vocab.index(p) if p in self.vocab else UNK for p in pieces(text)]\n"
              "    def decode(self, ids):\n"
              "        ids = list(ids)\n"
              "        if EOS in ids:\n            ids = ids[:ids.index(EOS)]\n"
              "        return glue(self.vocab[i] for i in ids if i != PAD and i != BOS)\n"),
        Right("takewhile", edits=(
            ("        tokens = []\n        for i in ids:\n            if i == EOS:\n                break\n            if i not in (PAD, BOS):\n                tokens.append(self.vocab[i])\n        return glue(tokens)",
             "        from itertools import takewhile\n        before = takewhile(lambda i: i != EOS, ids)\n        return glue([self.vocab[i] for i in before if i > EOS])"),)),
    ),
)  # fmt: skip


# --- 6.5 merge_pair -------------------------------------------------------------------


def _rows(draw: Draw, longest: int) -> Inputs:
    rows = []
    for length in (*range(1, 4), longest, longest + 2):
        letters = ["ab"[int(i)] for i in draw.ids(0, 2, length)]
        rows += [[letters, ["a", "b"]], [letters, ["a", "a"]], [letters, ["b", "a"]]]
    rows.append([["ab", "a", "b", "ab"], ["ab", "ab"]])
    rows.append([list("x" + "ab" * 3), ["a", "b"]])
    rows.append([list("aaaaa"), ["a", "a"]])
    rows.append([["a", "b", "ab", "abc"], ["a", "bc"]])
    return {"rows": json.dumps(rows)}


MERGE_PAIR = Task(
    name="text_recovery/merge_pair",
    title="Merge one pair",
    target="merge_pair",
    precise=False,
    settings=(
        Setting("short", "up to six symbols", lambda draw: _rows(draw, 4),
                "Wherever the two symbols stand side by side, they become one."),
        Setting("long", "up to fourteen symbols", lambda draw: _rows(draw, 12),
                "From left to right; a symbol that was used is used up."),
        Setting("longer", "longer lists", lambda draw: _rows(draw, 19),
                "The same for longer lists.", hidden_only=True),
    ),
    wrong=(
        Wrong("first_only", "Only the first occurrence is merged.",
              "How often may the pair occur in a word?",
              source="def merge_pair(symbols, pair):\n"
              "    for i in range(len(symbols) - 1):\n"
              "        if (symbols[i], symbols[i + 1]) == pair:\n"
              "            return symbols[:i] + [pair[0] + pair[1]] + symbols[i + 2:]\n"
              "    return list(symbols)\n"),
        Wrong("overlapping", "A symbol is used twice: in `a a a` both places are merged.",
              "By how many places must you move on after a merge?",
              source="def merge_pair(symbols, pair):\n"
              "    out, i = [], 0\n"
              "    while i < len(symbols):\n"
              "        if tuple(symbols[i:i + 2]) == pair:\n"
              "            out.append(pair[0] + pair[1])\n"
              "            if i + 2 == len(symbols):\n                break\n"
              "        elif not (i and tuple(symbols[i - 1:i + 1]) == pair):\n"
              "            out.append(symbols[i])\n"
              "        i += 1\n"
              "    return out\n"),
        Wrong("last_lost", "The last symbol is lost when it is not merged.",
              "Where does the walk along the list end?",
              source="def merge_pair(symbols, pair):\n"
              "    out, i = [], 0\n"
              "    while i < len(symbols) - 1:\n"
              "        hit = (symbols[i], symbols[i + 1]) == pair\n"
              "        out.append(symbols[i] + symbols[i + 1] if hit else symbols[i])\n"
              "        i += 2 if hit else 1\n"
              "    return out\n"),
        Wrong("second_kept", "The merged symbol is there, but its second half is kept, too.",
              "By how many places must you move on after a merge?",
              edits=(("        i += width\n", "        i += 1\n"),)),
        Wrong("from_the_right", "The pair is merged from right to left: `a a a` gives `a aa`.",
              "From which end should the walk begin?",
              source="def merge_pair(symbols, pair):\n"
              "    out, i = [], len(symbols)\n"
              "    while i > 0:\n"
              "        width = 2 if tuple(symbols[max(i - 2, 0):i]) == pair else 1\n"
              "        out.insert(0, ''.join(symbols[i - width:i]))\n"
              "        i -= width\n"
              "    return out\n"),
        Wrong("by_text", "The symbols are joined and cut anew: their own borders are lost, "
              "and letters merge that did not stand in two symbols.",
              "Are the symbols `ab`, `c` and the symbols `a`, `bc` the same word? Are they "
              "the same pair?",
              source="def merge_pair(symbols, pair):\n"
              "    text, new = ''.join(symbols), pair[0] + pair[1]\n"
              "    out = []\n"
              "    while text:\n"
              "        cut = len(new) if text.startswith(new) else 1\n"
              "        out.append(text[:cut])\n"
              "        text = text[cut:]\n"
              "    return out\n"),
        Wrong("joined_text", like="by_text",
              source="def merge_pair(symbols, pair):\n"
              "    new, text, out = ''.join(pair), ''.join(symbols), []\n"
              "    i = 0\n"
              "    while i < len(text):\n"
              "        step = len(new) if text[i:i + len(new)] == new else 1\n"
              "        out.append(text[i:i + step])\n"
              "        i += step\n"
              "    return out\n"),
        Wrong("unchanged", "Nothing is merged: a list is compared with a tuple, perhaps.",
              "What is `['a', 'b'] == ('a', 'b')`?",
              edits=(("tuple(symbols[i : i + 2]) == pair", "symbols[i : i + 2] == pair"),)),
        Wrong("again_and_again", "The merged symbol is merged again with what follows: `a a a a` "
              "has become one.",
              "May a symbol that is new take part in the same round?",
              source="def merge_pair(symbols, pair):\n"
              "    out = []\n"
              "    for s in symbols:\n"
              "        if out and out[-1].endswith(pair[0]) and s == pair[1]:\n"
              "            out[-1] += s\n"
              "        else:\n            out.append(s)\n"
              "    return out\n"),
        Wrong("in_place", "The result is right, but the list that you were given has changed.",
              "Who else may hold that list?",
              source="def merge_pair(symbols, pair):\n"
              "    i = 0\n"
              "    while i < len(symbols) - 1:\n"
              "        if (symbols[i], symbols[i + 1]) == pair:\n"
              "            symbols[i:i + 2] = [pair[0] + pair[1]]\n"
              "        i += 1\n"
              "    return symbols\n"),
        Wrong("either_order", "The pair is merged in both orders.",
              "Is `b a` the pair `(a, b)`?",
              edits=(("tuple(symbols[i : i + 2]) == pair",
                      "tuple(symbols[i : i + 2]) in (pair, pair[::-1])"),)),
    ),
    right=(
        Right("while_loop", "def merge_pair(symbols, pair):\n"
              "    out, i = [], 0\n"
              "    while i < len(symbols):\n"
              "        if i + 1 < len(symbols) and symbols[i] == pair[0] and symbols[i + 1] == pair[1]:\n"
              "            out.append(pair[0] + pair[1]); i += 2\n"
              "        else:\n            out.append(symbols[i]); i += 1\n"
              "    return out\n"),
        Right("copy_in_place", "def merge_pair(symbols, pair):\n"
              "    symbols, i = list(symbols), 0\n"
              "    while i < len(symbols) - 1:\n"
              "        if (symbols[i], symbols[i + 1]) == pair:\n"
              "            symbols[i:i + 2] = [''.join(pair)]\n"
              "        i += 1\n"
              "    return symbols\n"),
        Right("iterator", "def merge_pair(symbols, pair):\n"
              "    out, fresh = [], False\n"
              "    for s in symbols:\n"
              "        if out and not fresh and (out[-1], s) == pair:\n"
              "            out[-1] += s; fresh = True\n"
              "        else:\n            out.append(s); fresh = False\n"
              "    return out\n"),
    ),
)  # fmt: skip


# --- 6.6 learn_merges -----------------------------------------------------------------


def _counts(draw: Draw, count: int, top: int, merges: int) -> Inputs:
    words = _some(draw, WORDS, count)
    numbers = draw.ids(1, top, count).tolist()
    return {
        "counts": json.dumps(dict(zip(words, numbers, strict=True))),
        "num_merges": torch.tensor(merges),
    }


def _real_counts(draw: Draw, merges: int) -> Inputs:
    counts: dict[str, int] = {}
    for word in _words(_sentences(draw, 60)):
        counts["▁" + word] = counts.get("▁" + word, 0) + 1
    return {"counts": json.dumps(counts), "num_merges": torch.tensor(merges)}


def _ties(draw: Draw) -> Inputs:
    """Many pairs with the same count, and few merges among them."""
    letters = _some(draw, "abcdefghij", 8)
    words = ["".join(letters[i : i + 2]) for i in range(0, 8, 2)]
    counts = dict.fromkeys(words, 5) | {words[0] + words[1]: 3, letters[6] * 3: 4}
    return {"counts": json.dumps(counts), "num_merges": torch.tensor(6)}


LEARN_MERGES = Task(
    name="text_recovery/learn_merges",
    title="Byte-pair encoding: learn the merges",
    target="learn_merges",
    precise=False,
    settings=(
        Setting("few", "twelve words", lambda draw: _counts(draw, 12, 9, 10),
                "Count pairs within words, weighted with the words' counts."),
        Setting("ties", "pairs with equal counts", _ties,
                "Of equally frequent pairs the alphabetically first one is merged."),
        Setting("stop", "more merges than there are pairs",
                lambda draw: _counts(draw, 6, 3, 99),
                "Stop when no pair occurs at least twice any more."),
        Setting("real", "the words of 60 sentences", lambda draw: _real_counts(draw, 60),
                "After each merge the pairs are counted anew."),
        Setting("more", "other words", lambda draw: _counts(draw, 19, 30, 25),
                "The same for other words.", hidden_only=True),
    ),
    wrong=(
        Wrong("counts_ignored", "Every word counts once, however often it occurs.",
              "A pair stands in a word that occurs 6 times. How often does the pair occur?",
              edits=(("sign * counts[word]", "sign"),)),
        Wrong("ties_last", "Of several pairs with the same count the alphabetically last one is "
              "merged.",
              "What does `max` prefer when the first part of the key is equal?",
              edits=(("best = min(pairs, key=lambda pair: (-pairs[pair], pair))",
                      "best = max(pairs, key=lambda pair: (pairs[pair], pair))"),)),
        Wrong("ties_first_met", "Of several pairs with the same count the one that was met "
              "first is merged.",
              "Does `most_common` or `max` know the alphabet?",
              source="def learn_merges(counts, num_merges):\n"
              "    words, merges = {w: list(w) for w in counts}, []\n"
              "    for _ in range(num_merges):\n"
              "        pairs = Counter()\n"
              "        for w, s in words.items():\n"
              "            for p in zip(s, s[1:]):\n                pairs[p] += counts[w]\n"
              "        if not pairs or pairs.most_common(1)[0][1] < 2:\n            break\n"
              "        best = pairs.most_common(1)[0][0]\n"
              "        merges.append(best)\n"
              "        words = {w: merge_pair(s, best) for w, s in words.items()}\n"
              "    return merges\n"),
        Wrong("rarest", "The rarest pair is merged.", "Which pair deserves a symbol of its own?",
              edits=(("(-pairs[pair], pair)", "(pairs[pair] < 2, pairs[pair], pair)"),)),
        Wrong("never_stops", "Pairs that occur once are merged, too.",
              "When should learning stop early?",
              edits=(("if pairs[best] < 2:", "if pairs[best] < 1:"),)),
        Wrong("stops_early", "Learning stops too early: a pair that occurs twice may still be "
              "merged.", "Is it \"less than twice\" or \"twice or less\"?",
              edits=(("if pairs[best] < 2:", "if pairs[best] <= 2:"),)),
        Wrong("counted_once", "The pairs are counted only once, at the beginning.",
              "Which pairs exist after the first merge that did not exist before?",
              source="def learn_merges(counts, num_merges):\n"
              "    pairs = Counter()\n"
              "    for w in counts:\n"
              "        for p in zip(w, w[1:]):\n            pairs[p] += counts[w]\n"
              "    kept = [p for p in pairs if pairs[p] >= 2]\n"
              "    return sorted(kept, key=lambda p: (-pairs[p], p))[:num_merges]\n"),
        Wrong("one_too_many", "One merge too many is learnt.",
              "How long may the list be?",
              edits=(("while len(merges) < num_merges", "while len(merges) <= num_merges"),)),
        Wrong("one_too_few", "One merge too few is learnt.", "How long should the list be?",
              edits=(("while len(merges) < num_merges", "while len(merges) < num_merges - 1"),)),
        Wrong("across_words", "Pairs are counted across the borders of words.",
              "Are the last letter of one word and the first of the next a pair?",
              source="def learn_merges(counts, num_merges):\n"
              "    symbols, merges = [c for w in counts for _ in range(counts[w]) for c in w], []\n"
              "    for _ in range(num_merges):\n"
              "        pairs = Counter(zip(symbols, symbols[1:]))\n"
              "        if not pairs:\n            break\n"
              "        best = min(pairs, key=lambda p: (-pairs[p], p))\n"
              "        if pairs[best] < 2:\n            break\n"
              "        merges.append(best)\n"
              "        symbols = merge_pair(symbols, best)\n"
              "    return merges\n"),
        Wrong("joined", "The merged symbols come back instead of the pairs: `es`, not "
              "`(e, s)`.", "Can you tell from `ab` alone which two symbols it was made of?",
              edits=(("    return merges", "    return [a + b for a, b in merges]"),)),
        Wrong("each_pair_once", "A pair counts once in a word, even where it stands there "
              "several times.", "How often does `(n, a)` stand in banana?",
              source="def learn_merges(counts, num_merges):\n"
              "    words, merges = {w: list(w) for w in counts}, []\n"
              "    for _ in range(num_merges):\n"
              "        pairs = Counter()\n"
              "        for w, s in words.items():\n"
              "            for p in set(zip(s, s[1:])):\n                pairs[p] += counts[w]\n"
              "        if not pairs:\n            break\n"
              "        best = min(pairs, key=lambda p: (-pairs[p], p))\n"
              "        if pairs[best] < 2:\n            break\n"
              "        merges.append(best)\n"
              "        words = {w: merge_pair(s, best) for w, s in words.items()}\n"
              "    return merges\n"),
    ),
    right=(
        Right("plain", "def learn_merges(counts, num_merges):\n"
              "    words, merges = {w: list(w) for w in counts}, []\n"
              "    for _ in range(num_merges):\n"
              "        pairs = Counter()\n"
              "        for w, s in words.items():\n"
              "            for p in zip(s, s[1:]):\n                pairs[p] += counts[w]\n"
              "        if not pairs:\n            break\n"
              "        best = min(pairs, key=lambda p: (-pairs[p], p))\n"
              "        if pairs[best] < 2:\n            break\n"
              "        merges.append(best)\n"
              "        words = {w: merge_pair(s, best) for w, s in words.items()}\n"
              "    return merges\n"),
        Right("sorted_keys", "def learn_merges(counts, num_merges):\n"
              "    rows, found = [[list(w), n] for w, n in counts.items()], []\n"
              "    while len(found) < num_merges:\n"
              "        table = {}\n"
              "        for s, n in rows:\n"
              "            for i in range(len(s) - 1):\n"
              "                table[s[i], s[i + 1]] = table.get((s[i], s[i + 1]), 0) + n\n"
              "        best = max(sorted(table), key=table.get, default=None)\n"
              "        if best is None or table[best] == 1:\n            return found\n"
              "        found += [best]\n"
              "        for row in rows:\n            row[0] = merge_pair(row[0], best)\n"
              "    return found\n"),
    ),
)  # fmt: skip


# --- 6.7 segment ----------------------------------------------------------------------


def _segment_inputs(draw: Draw, count: int, merges: int) -> Inputs:
    from autograder.solutions.text_recovery import learn_merges

    words = _some(draw, WORDS, count)
    counts = dict(zip(words, draw.ids(1, 9, count).tolist(), strict=True))
    unseen = [w for w in WORDS if w not in words][:6]
    return {
        "merges": json.dumps(learn_merges(counts, merges)),
        "words": json.dumps([*words, *unseen, "zxq", "a", "aaaaa"]),
    }


def _order_matters(draw: Draw) -> Inputs:
    a, b, c, d = _some(draw, "abcdefgh", 4)
    merges = [(b, c), (a, b), (a, b + c), (c, d), (b + c, d), (d, a)]
    words = [
        a + b + c,
        a + b + c + d,
        b + c + d,
        a + b + d + a + b + c,
        c + d + a,
        d + d,
    ]
    words += ["".join(_some(draw, [a, b, c, d, a, b, c], 7)) for _ in range(5)]
    return {"merges": json.dumps(merges), "words": json.dumps(words)}


SEGMENT = Task(
    name="text_recovery/segment",
    title="Byte-pair encoding: use the merges",
    target="segment",
    precise=False,
    settings=(
        Setting("known", "words old and new", lambda draw: _segment_inputs(draw, 14, 12),
                "Start with characters; apply every merge wherever it fits."),
        Setting("order", "merges that compete", _order_matters,
                "The merges apply in the order in which they were learnt."),
        Setting("many", "many merges", lambda draw: _segment_inputs(draw, 18, 40),
                "Frequent words become whole; new ones fall into known parts."),
        Setting("others", "other words", lambda draw: _segment_inputs(draw, 10, 20),
                "The same for other words.", hidden_only=True),
    ),
    wrong=(
        Wrong("longest_first", "The word is cut into the longest known symbols. Merging in "
              "order can give others.",
              "Do you use the *order* of the merges?",
              source="def segment(word, merges):\n"
              "    known, out = {a + b for a, b in merges}, []\n"
              "    while word:\n"
              "        for n in range(len(word), 0, -1):\n"
              "            if n == 1 or word[:n] in known:\n                break\n"
              "        out.append(word[:n]); word = word[n:]\n"
              "    return out\n"),
        Wrong("reversed", "The merges are applied from the last to the first.",
              "Which merge was learnt first, and why does it come first?",
              edits=(("for pair in merges:", "for pair in reversed(merges):"),)),
        Wrong("characters", "The word stays cut into characters.",
              "What does `merge_pair` return, and who keeps it?",
              edits=(("symbols = merge_pair(symbols, pair)", "merge_pair(symbols, pair)"),)),
        Wrong("whole_word", "The word comes back whole, in a list.",
              "What is `list(word)`, and what is `[word]`?",
              edits=(("symbols = list(word)", "symbols = [word]"),)),
        Wrong("first_merge_only", "Only one merge is applied.",
              "What happens after the first merge that fits?",
              edits=(("symbols = merge_pair(symbols, pair)\n",
                      "before, symbols = symbols, merge_pair(symbols, pair)\n"
                      "        if symbols != before:\n            break\n"),)),
        Wrong("leftmost_first", "The leftmost pair that is known is merged first, whichever "
              "merge it is.",
              "Two merges fit. Which goes first: the one further left, or the one learnt "
              "earlier?",
              source="def segment(word, merges):\n"
              "    symbols, known = list(word), set(merges)\n"
              "    while True:\n"
              "        fits = [i for i in range(len(symbols) - 1)\n"
              "                if (symbols[i], symbols[i + 1]) in known]\n"
              "        if not fits:\n            return symbols\n"
              "        i = fits[0]\n"
              "        symbols[i:i + 2] = [symbols[i] + symbols[i + 1]]\n"),
        Wrong("sorted_merges", "The merges are applied in alphabetical order.",
              "Does `sorted` or `set` keep the order in which they were learnt?",
              edits=(("for pair in merges:", "for pair in sorted(merges):"),)),
        Wrong("unknown_characters_lost", "Characters that no merge knows are lost.",
              "What should become of a letter that the corpus never had?",
              edits=(("symbols = list(word)",
                      "symbols = [c for c in word if any(c in a + b for a, b in merges)]"),)),
        Wrong("last_merge_left_out", "The last merge is never applied.",
              "Where does your walk through the merges end?",
              edits=(("for pair in merges:", "for pair in merges[:-1]:"),)),
    ),
    right=(
        Right("by_rank", "def segment(word, merges):\n"
              "    ranks, symbols = {tuple(m): i for i, m in enumerate(merges)}, list(word)\n"
              "    while len(symbols) > 1:\n"
              "        best = min(zip(symbols, symbols[1:]), key=lambda p: ranks.get(p, math.inf))\n"
              "        if best not in ranks:\n            break\n"
              "        symbols = merge_pair(symbols, best)\n"
              "    return symbols\n"),
        Right("reduce", "from functools import reduce\n"
              "def segment(word, merges):\n"
              "    return reduce(merge_pair, merges, [*word])\n"),
        Right("all_merges", "def segment(word, merges):\n"
              "    parts = [c for c in word]\n"
              "    for first, second in merges:\n"
              "        parts = merge_pair(parts, (first, second))\n"
              "    return parts\n"),
    ),
)  # fmt: skip


# --- 6.8 collate ----------------------------------------------------------------------


def _examples(draw: Draw, sizes: Sequence[tuple[int, int]], max_len: int = 0) -> Inputs:
    examples = [[draw.ids(4, 60, size).tolist() for size in pair] for pair in sizes]
    inputs = {"examples": json.dumps(examples)}
    return inputs | {"max_len": torch.tensor(max_len)} if max_len else inputs


COLLATE = Task(
    name="text_recovery/collate",
    title="A batch for teacher forcing",
    target="collate",
    precise=False,
    settings=(
        Setting("four", "four examples",
                lambda draw: _examples(draw, [(3, 5), (6, 2), (1, 7), (4, 4)]),
                "source: ids and EOS; target_in: BOS and ids; target_out: ids and EOS."),
        Setting("one", "one example", lambda draw: _examples(draw, [(2, 4)]),
                "A batch of one has no padding, but all special tokens."),
        Setting("cut", "max_len = 4",
                lambda draw: _examples(draw, [(9, 3), (2, 8), (4, 5), (3, 4)], 4),
                "At most max_len ids are kept; BOS and EOS come on top."),
        Setting("roomy", "max_len longer than all rows",
                lambda draw: _examples(draw, [(3, 2), (5, 6), (2, 3)], 11),
                "A generous max_len changes nothing."),
        Setting("six", "six examples, one without a target",
                lambda draw: _examples(draw, [(3, 1), (7, 2), (2, 0), (5, 5), (1, 3), (4, 6)]),
                "An empty target still has BOS and EOS.", hidden_only=True),
    ),
    wrong=(
        Wrong("no_shift", "The decoder reads at each place what it should say there: nothing "
              "is shifted.",
              "What may the decoder know when it has to say the first word?",
              edits=(("padded([[BOS, *target] for target in targets])",
                      "padded([[*target, EOS] for target in targets])"),)),
        Wrong("both_begin", "Both begin with BOS: the model learns to say BOS first, and "
              "nothing is shifted.", "What should the first word of `target_out` be?",
              edits=(("padded([[*target, EOS] for target in targets])",
                      "padded([[BOS, *target] for target in targets])"),)),
        Wrong("shifted_back", "`target_in` and `target_out` are exchanged.",
              "Which one begins with BOS?",
              source="def collate(examples, max_len=None):\n"
              "    s = [a[:max_len] for a, _ in examples]\n"
              "    t = [b[:max_len] for _, b in examples]\n"
              "    return (padded([[*a, EOS] for a in s]), padded([[*b, EOS] for b in t]),\n"
              "            padded([[BOS, *b] for b in t]))\n"),
        Wrong("no_eos_in_target", "`target_out` has no EOS: the model never learns to stop.",
              "What should be said after the last word?",
              source="def collate(examples, max_len=None):\n"
              "    s = [a[:max_len] for a, _ in examples]\n"
              "    t = [b[:max_len] for _, b in examples]\n"
              "    whole = padded([[BOS, *b] for b in t])\n"
              "    return padded([[*a, EOS] for a in s]), whole[:, :-1], whole[:, 1:]\n"),
        Wrong("eos_of_longest_lost", "Padding came first and the last column was cut off "
              "then: the longest row lost its EOS, all others kept it.",
              "What stands in the last column: of a short row, and of the longest?",
              source="def collate(examples, max_len=None):\n"
              "    s = [a[:max_len] for a, _ in examples]\n"
              "    t = [b[:max_len] for _, b in examples]\n"
              "    longest = max(map(len, t))\n"
              "    out = padded([[*b, EOS] for b in t])[:, :max(longest, 1)]\n"
              "    return padded([[*a, EOS] for a in s]), padded([[BOS, *b] for b in t])[:, :max(longest, 1)], out\n"),
        Wrong("no_eos_in_source", "The source has no EOS.", "What ends a source?",
              edits=(("[[*source, EOS] for source in sources]",
                      "[[*source] for source in sources]"),)),
        Wrong("bos_in_source", "The source begins with BOS.", "What belongs to a source?",
              edits=(("[[*source, EOS] for source in sources]",
                      "[[BOS, *source, EOS] for source in sources]"),)),
        Wrong("eos_read", "`target_in` holds EOS, too: it is one place longer than "
              "`target_out`.", "Who needs to read EOS in training?",
              edits=(("[[BOS, *target] for target in targets]",
                      "[[BOS, *target, EOS] for target in targets]"),)),
        Wrong("cut_after_eos", "Rows are cut with their special tokens on: long ones lose "
              "EOS.", "Which comes first: cutting, or adding EOS?",
              source="def collate(examples, max_len=None):\n"
              "    s = [[*a, EOS][:max_len] for a, _ in examples]\n"
              "    i = [[BOS, *b][:max_len] for _, b in examples]\n"
              "    o = [[*b, EOS][:max_len] for _, b in examples]\n"
              "    return padded(s), padded(i), padded(o)\n"),
        Wrong("source_cut_only", "Sources are cut, targets are not.",
              "Does `max_len` hold for both?",
              edits=(("[target[:max_len] for _, target in examples]",
                      "[target for _, target in examples]"),)),
        Wrong("not_cut", "`max_len` is ignored.", "Which rows may be longer than `max_len`?",
              edits=(("[target[:max_len] for _, target in examples]",
                      "[target for _, target in examples]"),
                     ("[source[:max_len] for source, _ in examples]",
                      "[source for source, _ in examples]"))),
        Wrong("padded_left", "Rows are padded at the left.",
              "Where should position 0 of every sentence be?",
              source="def collate(examples, max_len=None):\n"
              "    def left(rows):\n"
              "        n = max(map(len, rows))\n"
              "        return torch.tensor([[PAD] * (n - len(r)) + r for r in rows])\n"
              "    s = [a[:max_len] for a, _ in examples]\n"
              "    t = [b[:max_len] for _, b in examples]\n"
              "    return (left([[*a, EOS] for a in s]), left([[BOS, *b] for b in t]),\n"
              "            left([[*b, EOS] for b in t]))\n"),
        Wrong("padded_with_eos", "Rows are filled up with EOS rather than with PAD.",
              "Which token does the loss leave out?",
              source="def collate(examples, max_len=None):\n"
              "    def fill(rows):\n"
              "        n = max(map(len, rows))\n"
              "        return torch.tensor([r + [EOS] * (n - len(r)) for r in rows])\n"
              "    s = [a[:max_len] for a, _ in examples]\n"
              "    t = [b[:max_len] for _, b in examples]\n"
              "    return (fill([[*a, EOS] for a in s]), fill([[BOS, *b] for b in t]),\n"
              "            fill([[*b, EOS] for b in t]))\n"),
        Wrong("bos_is_pad", "BOS has the id of PAD: the first place is masked away.",
              "Which id has BOS?",
              edits=(("[[BOS, *target] for target in targets]",
                      "[[PAD, *target] for target in targets]"),)),
        Wrong("one_length", "Sources and targets are padded to one common length.",
              "Why should a short source be as long as a long target?",
              source="def collate(examples, max_len=None):\n"
              "    s = [[*a[:max_len], EOS] for a, _ in examples]\n"
              "    i = [[BOS, *b[:max_len]] for _, b in examples]\n"
              "    o = [[*b[:max_len], EOS] for _, b in examples]\n"
              "    whole = padded(s + i + o)\n"
              "    n = len(examples)\n"
              "    return whole[:n], whole[n:2 * n], whole[2 * n:]\n"),
    ),
    right=(
        Right("pad_sequence", "from torch.nn.utils.rnn import pad_sequence\n"
              "def collate(examples, max_len=None):\n"
              "    def rows(lists):\n"
              "        return pad_sequence([torch.tensor(r) for r in lists], batch_first=True,\n"
              "                            padding_value=PAD)\n"
              "    sources, targets = zip(*examples)\n"
              "    n = max_len if max_len is not None else 10**9\n"
              "    return (rows([list(s[:n]) + [EOS] for s in sources]),\n"
              "            rows([[BOS] + list(t[:n]) for t in targets]),\n"
              "            rows([list(t[:n]) + [EOS] for t in targets]))\n"),
        Right("fill_zeros", "def collate(examples, max_len=None):\n"
              "    s = [a[:max_len] + [EOS] for a, _ in examples]\n"
              "    t = [[BOS] + b[:max_len] + [EOS] for _, b in examples]\n"
              "    source = torch.zeros(len(s), max(map(len, s)), dtype=torch.long)\n"
              "    ins = torch.full((len(t), max(map(len, t)) - 1), PAD)\n"
              "    outs = ins.clone()\n"
              "    for k, (a, b) in enumerate(zip(s, t)):\n"
              "        source[k, :len(a)] = torch.tensor(a)\n"
              "        ins[k, :len(b) - 1] = torch.tensor(b[:-1])\n"
              "        outs[k, :len(b) - 1] = torch.tensor(b[1:])\n"
              "    return source, ins, outs\n"),
        Right("a_list", edits=(("    return (\n", "    return list((\n"),
                               ("for target in targets]),  # (B, Lt)\n    )",
                                "for target in targets]),  # (B, Lt)\n    ))"))),
    ),
)  # fmt: skip


# --- 6.9 smoothed_loss ----------------------------------------------------------------


def _logits(
    draw: Draw, b: int, length: int, vocab: int, smoothing: float | None,
    scale: float = 3.0,
) -> Inputs:  # fmt: skip
    target = draw.ids(1, vocab, b, length)
    target[0, -2:] = PAD
    target[-1, 1:] = PAD
    inputs = {"logits": draw.tensor(b, length, vocab, scale=scale), "target": target}
    if smoothing is not None:
        inputs["smoothing"] = torch.tensor(smoothing)
    return inputs


SMOOTHED_LOSS = Task(
    name="text_recovery/smoothed_loss",
    title="Cross-entropy with label smoothing",
    target="smoothed_loss",
    settings=(
        Setting("default", "smoothing as it comes",
                lambda draw: _logits(draw, 3, 5, 11, None),
                "By default a tenth of the probability is spread over the vocabulary."),
        Setting("none", "smoothing = 0", lambda draw: _logits(draw, 4, 6, 9, 0.0),
                "Without smoothing this is plain cross-entropy over the real tokens."),
        Setting("much", "smoothing = 0.25", lambda draw: _logits(draw, 2, 7, 13, 0.25),
                "The target has 1 - smoothing, and its share of the rest as well."),
        Setting("large", "large logits",
                lambda draw: _logits(draw, 3, 4, 8, 0.125, scale=150.0),
                "Use log_softmax, not the logarithm of a softmax."),
        Setting("other", "other sizes", lambda draw: _logits(draw, 5, 3, 17, 0.5),
                "The same for other sizes.", hidden_only=True),
    ),
    wrong=(
        Wrong("padding_counts", "Padding counts as a token that has to be predicted.",
              "Should the loss change when a batch is padded more?",
              edits=(("return loss[target != PAD].mean()", "return loss.mean()"),)),
        Wrong("divided_by_all", "Padding adds nothing to the sum, but it counts in the number "
              "that you divide by.",
              "By how many tokens is the sum to be divided?",
              edits=(("return loss[target != PAD].mean()",
                      "return (loss * (target != PAD)).mean()"),)),
        Wrong("sum", "The losses are added up, not averaged.",
              "What happens to the loss of a larger batch?",
              edits=(("return loss[target != PAD].mean()", "return loss[target != PAD].sum()"),)),
        Wrong("mean_of_rows", "First the mean of each sentence is taken, then the mean of the "
              "sentences: tokens of short sentences count more.",
              "Does every real token have the same weight?",
              edits=(("return loss[target != PAD].mean()",
                      "real = target != PAD\n"
                      "    return ((loss * real).sum(1) / real.sum(1)).mean()"),)),
        Wrong("no_smoothing", "Nothing is smoothed: this is plain cross-entropy.",
              "Where does your loss depend on `smoothing`?",
              edits=(("loss = -(1 - smoothing) * wanted - smoothing * log_p.mean(dim=-1)",
                      "loss = -wanted"),)),
        Wrong("sum_over_vocabulary", "The even part is summed over the vocabulary, not "
              "averaged: it weighs V times too much.",
              "Which share does each token get?",
              edits=(("log_p.mean(dim=-1)", "log_p.sum(dim=-1)"),)),
        Wrong("others_only", "The share goes to the other V - 1 tokens only, as some "
              "write it. Here each of the V tokens gets smoothing / V, the target as well.",
              "By what is the smoothing divided in the formula?",
              edits=(("- smoothing * log_p.mean(dim=-1)",
                      "- smoothing * (log_p.sum(dim=-1) - wanted) / (log_p.size(-1) - 1)"),)),
        Wrong("not_on_pad", "PAD gets no share of the smoothing. Some do it so; the formula "
              "above, as PyTorch, gives each of the V tokens the same.",
              "Over how many tokens is the smoothing spread?",
              edits=(("log_p.mean(dim=-1)", "log_p[..., 1:].mean(dim=-1)"),)),
        Wrong("swapped", "The two weights are exchanged: most of the probability is spread "
              "evenly.", "Which part should weigh 1 - smoothing?",
              edits=(("-(1 - smoothing) * wanted - smoothing * log_p.mean(dim=-1)",
                      "-smoothing * wanted - (1 - smoothing) * log_p.mean(dim=-1)"),)),
        Wrong("weight_one", "The target keeps its whole weight; the smoothing comes on top.",
              "Do the weights of all tokens sum to 1?",
              edits=(("-(1 - smoothing) * wanted", "-wanted"),)),
        Wrong("sign", "The sign is wrong: training would make the targets less probable.",
              "Is a logarithm of a probability positive or negative?",
              edits=(("loss = -(1 - smoothing) * wanted - smoothing",
                      "loss = (1 - smoothing) * wanted + smoothing"),)),
        Wrong("log_of_softmax", "For large logits the loss is infinite: a softmax has "
              "rounded to 0 before its logarithm was taken.",
              "What is the logarithm of a softmax that underflows, and which function never "
              "computes it?",
              edits=(("logits.log_softmax(dim=-1)", "logits.softmax(dim=-1).log()"),)),
        Wrong("softmax_over_places", "The softmax runs over the places, not over the "
              "vocabulary.", "Which dimension holds the vocabulary?",
              edits=(("log_softmax(dim=-1)", "log_softmax(dim=1)"),)),
        Wrong("softmax_twice", "The logits went through a softmax before the log-softmax.",
              "What does `cross_entropy` expect: logits or probabilities?",
              edits=(("logits.log_softmax(dim=-1)", "logits.softmax(-1).log_softmax(dim=-1)"),)),
        Wrong("fixed_smoothing", "The smoothing is 0.1, whatever is asked for.",
              "Where is your argument used?",
              edits=(("    log_p = logits", "    smoothing = 0.1\n    log_p = logits"),)),
        Wrong("transposed", "Logits and targets were put in line in different orders: each "
              "target meets the logits of another place.",
              "Which order has `transpose(...).reshape(...)`, and which has `flatten`?",
              source="import torch.nn.functional as F\n"
              "def smoothed_loss(logits, target, smoothing=0.1):\n"
              "    flat = logits.transpose(0, 1).reshape(-1, logits.size(-1))\n"
              "    return F.cross_entropy(flat, target.flatten(), ignore_index=PAD,\n"
              "                           label_smoothing=smoothing)\n"),
        Wrong("detached", "The number is right, but it has no gradient: nothing would be "
              "learnt.", "What does `.item()` or `.detach()` cut off?",
              edits=(("return loss[target != PAD].mean()",
                      "return loss[target != PAD].mean().detach()"),)),
    ),
    right=(
        Right("torch_cross_entropy", "import torch.nn.functional as F\n"
              "def smoothed_loss(logits, target, smoothing=0.1):\n"
              "    return F.cross_entropy(logits.flatten(0, 1), target.flatten(),\n"
              "                           ignore_index=PAD, label_smoothing=smoothing)\n"),
        Right("transposed_cross_entropy", "import torch.nn.functional as F\n"
              "def smoothed_loss(logits, target, smoothing=0.1):\n"
              "    return F.cross_entropy(logits.transpose(1, 2), target, ignore_index=PAD,\n"
              "                           label_smoothing=smoothing)\n"),
        Right("wanted_distribution", "import torch.nn.functional as F\n"
              "def smoothed_loss(logits, target, smoothing=0.1):\n"
              "    vocab = logits.size(-1)\n"
              "    q = F.one_hot(target, vocab) * (1 - smoothing) + smoothing / vocab\n"
              "    each = -(q * F.log_softmax(logits, -1)).sum(-1)\n"
              "    real = (target != PAD).to(each.dtype)\n"
              "    return (each * real).sum() / real.sum()\n"),
        Right("loop", "def smoothed_loss(logits, target, smoothing=0.1):\n"
              "    total, count = 0.0, 0\n"
              "    for rows, ids in zip(logits, target):\n"
              "        for row, i in zip(rows, ids):\n"
              "            if i != PAD:\n"
              "                p = row - row.logsumexp(0)\n"
              "                total = total - (1 - smoothing) * p[i] - smoothing * p.mean()\n"
              "                count += 1\n"
              "    return total / count\n"),
    ),
)  # fmt: skip


# --- 6.10 learning_rate ---------------------------------------------------------------


def _schedule(draw: Draw, warmup: tuple[int, int], total: tuple[int, int]) -> Inputs:
    return {
        "warmup": draw.ids(*warmup, 1)[0],
        "total": draw.ids(*total, 1)[0],
        "peak": draw.ids(1, 40, 1)[0] / 64,
    }


LEARNING_RATE = Task(
    name="text_recovery/learning_rate",
    title="Warm-up and cosine decay",
    target="learning_rate",
    settings=(
        Setting("usual", "a tenth of the steps warms up",
                lambda draw: _schedule(draw, (4, 9), (50, 70)),
                "A straight line up to the peak, then half a cosine down to 0.",
                picture="curves"),
        Setting("no_warmup", "no warm-up", lambda draw: _schedule(draw, (0, 1), (20, 30)),
                "Without warm-up the rate falls from the first step on.", picture="curves"),
        Setting("long_warmup", "most steps warm up",
                lambda draw: _schedule(draw, (25, 30), (35, 40)),
                "The decay takes the steps that are left.", picture="curves"),
        Setting("other", "other numbers", lambda draw: _schedule(draw, (10, 14), (90, 99)),
                "The same for other numbers.", hidden_only=True, picture="curves"),
    ),
    wrong=(
        Wrong("no_peak", "The rate rises to 1, not to `peak`.", "Where do you use `peak`?",
              source="def learning_rate(step, warmup, total, peak):\n"
              "    if step <= warmup:\n        return step / warmup\n"
              "    progress = min(1.0, (step - warmup) / (total - warmup))\n"
              "    return 0.5 * (1 + math.cos(math.pi * progress))\n"),
        Wrong("cosine_over_all", "The cosine runs over all steps, not over those that are left "
              "after the warm-up: the rate jumps.",
              "Which step has progress 0?",
              edits=(("(step - warmup) / (total - warmup)", "step / total"),)),
        Wrong("divided_by_total", "The falling part is divided by `total`: the rate does not "
              "reach 0.", "How many steps does the falling part have?",
              edits=(("/ (total - warmup)", "/ total"),)),
        Wrong("rises_again", "After the last step the rate rises again.",
              "What is the cosine beyond pi?",
              edits=(("min(1.0, (step - warmup) / (total - warmup))",
                      "(step - warmup) / (total - warmup)"),)),
        Wrong("linear", "The rate falls in a straight line.", "Where is the cosine?",
              edits=(("peak * 0.5 * (1 + math.cos(math.pi * progress))",
                      "peak * (1 - progress)"),)),
        Wrong("quarter_cosine", "The cosine is not moved to between 0 and 1: the rate falls as "
              "a quarter of a wave.",
              "At which angle is the cosine 0, and at which is it -1?",
              edits=(("peak * 0.5 * (1 + math.cos(math.pi * progress))",
                      "peak * math.cos(math.pi / 2 * progress)"),)),
        Wrong("negative", "The cosine itself is used: in the second half the rate is negative.",
              "Between which two numbers does a cosine swing?",
              edits=(("0.5 * (1 + math.cos(math.pi * progress))",
                      "math.cos(math.pi * progress)"),)),
        Wrong("twice_the_peak", "The decay starts at twice the peak.",
              "What is 1 + cos 0?", edits=(("peak * 0.5 * (1", "peak * (1"),)),
        Wrong("degrees", "The angle is taken in degrees.", "What does `math.cos` expect?",
              edits=(("math.pi * progress", "180 * progress"),)),
        Wrong("no_warmup", "There is no warm-up.", "What should the first rate be?",
              edits=(("if step <= warmup:", "if False:"),)),
        Wrong("constant_warmup", "During the warm-up the rate is already at its peak.",
              "In proportion to what does it rise?",
              edits=(("return peak * step / warmup", "return peak"),)),
        Wrong("from_zero", "Steps are counted from 0: the first step has rate 0 and learns "
              "nothing.", "Which number has the first step?",
              edits=(("    if step <= warmup:", "    step = step - 1\n    if step < warmup:"),)),
        Wrong("off_by_one", "The step after the warm-up has the wrong rate: the decay begins one "
              "step too late.", "At which step is the progress exactly 0?",
              edits=(("(step - warmup) / (total - warmup)",
                      "(step - warmup - 1) / (total - warmup - 1)"),)),
        Wrong("integer", "The rate is rounded down to whole numbers.",
              "What does `//` do?", edits=(("peak * step / warmup", "peak * (step // warmup)"),)),
    ),
    right=(
        Right("torch", "def learning_rate(step, warmup, total, peak):\n"
              "    if warmup > 0 and step < warmup:\n"
              "        return peak * (step / warmup)\n"
              "    if step >= total:\n        return 0.0\n"
              "    angle = torch.tensor(math.pi * (step - warmup) / (total - warmup))\n"
              "    return peak * (1 + torch.cos(angle)) / 2\n"),
        Right("half_angle", "def learning_rate(step, warmup, total, peak):\n"
              "    if step <= warmup:\n        return step * peak / warmup\n"
              "    if step > total:\n        return 0\n"
              "    return peak * math.cos(math.pi / 2 * (step - warmup) / (total - warmup)) ** 2\n"),
    ),
)  # fmt: skip


# --- 6.11 train_epoch and 6.12 evaluate -------------------------------------------------


def _batches(draw: Draw, sizes: Sequence[tuple[int, int]], vocab: int) -> Inputs:
    """Batches of different sizes, with different shares of padding."""
    inputs: Inputs = {
        "table": draw.tensor(vocab, vocab),
        "batches": torch.tensor(len(sizes)),
    }
    for i, (b, length) in enumerate(sizes):
        out = draw.ids(3, vocab, b, length)
        for row in range(b):
            out[row, length - row % length :] = PAD
        into = torch.cat([torch.full((b, 1), BOS), out[:, :-1]], dim=1)
        inputs |= {
            f"source {i}": draw.ids(3, vocab, b, 4),
            f"target_in {i}": into,
            f"target_out {i}": out,
        }
    return inputs


def _training(draw: Draw, sizes: Sequence[tuple[int, int]], clip: float = 0) -> Inputs:
    inputs = _batches(draw, sizes, 9)
    return inputs | {"clip": torch.tensor(clip)} if clip else inputs


TRAIN_EPOCH = Task(
    name="text_recovery/train_epoch",
    title="One epoch of training",
    target="train_epoch",
    settings=(
        Setting("three", "three batches of different sizes",
                lambda draw: _training(draw, [(4, 5), (1, 2), (3, 7)]),
                "Old gradients go first; the loss is averaged over tokens, not batches."),
        Setting("clip", "gradients that have to be clipped",
                lambda draw: _training(draw, [(3, 6), (2, 3)], 0.125),
                "Clip the norm of the gradient of all parameters together, before the step."),
        Setting("roomy", "a generous clip",
                lambda draw: _training(draw, [(2, 4), (5, 3), (1, 6), (2, 2)], 50.0),
                "A gradient shorter than `clip` stays as it is."),
        Setting("other", "other batches",
                lambda draw: _training(draw, [(6, 4), (2, 8)], 0.5),
                "The same for other batches.", hidden_only=True),
    ),
    wrong=(
        Wrong("no_zero_grad", "Gradients of earlier batches are never forgotten: they add up.",
              "What does `backward` do with gradients that are there already?",
              edits=(("        optimizer.zero_grad()\n", ""),)),
        Wrong("zero_after_backward", "The gradients are forgotten between `backward` and the "
              "step: nothing is learnt from them.",
              "Which gradients does `step` find?",
              edits=(("        optimizer.zero_grad()\n", ""),
                     ("        loss.backward()\n",
                      "        loss.backward()\n        optimizer.zero_grad()\n"))),
        Wrong("step_first", "The optimizer steps before the gradients are computed.",
              "Which gradients does the first step use?",
              edits=(("        optimizer.step()\n", ""),
                     ("        loss.backward()\n",
                      "        optimizer.step()\n        loss.backward()\n"))),
        Wrong("zero_once", "Gradients are forgotten once, before the first batch.",
              "What holds the gradient at the second batch?",
              edits=(("        optimizer.zero_grad()\n", ""),
                     ("    model.train()\n", "    model.train()\n    optimizer.zero_grad()\n"))),
        Wrong("no_clip", "The optimizer uses gradients that are not clipped.",
              "Who uses `clip`, and is it before the step?",
              edits=(("        nn.utils.clip_grad_norm_(model.parameters(), clip)\n", ""),)),
        Wrong("clip_late", like="no_clip",
              edits=(("        nn.utils.clip_grad_norm_(model.parameters(), clip)\n", ""),
                     ("        optimizer.step()\n",
                      "        optimizer.step()\n"
                      "        nn.utils.clip_grad_norm_(model.parameters(), clip)\n"))),
        Wrong("clip_value", "Every number of the gradient is clipped by itself: that changes "
              "its direction.", "What is the *norm* of a gradient?",
              edits=(("clip_grad_norm_", "clip_grad_value_"),)),
        Wrong("clip_each", "Each parameter's gradient is clipped by itself, not all together.",
              "Whose norm is at most `clip`?",
              edits=(("        nn.utils.clip_grad_norm_(model.parameters(), clip)\n",
                      "        for parameter in model.parameters():\n"
                      "            nn.utils.clip_grad_norm_(parameter, clip)\n"),)),
        Wrong("clip_fixed", "Gradients are clipped to norm 1, whatever is asked for.",
              "Where is your argument used?",
              edits=(("(model.parameters(), clip)", "(model.parameters(), 1.0)"),)),
        Wrong("no_scheduler", "The scheduler never steps: the learning rate stays as it is.",
              "Who changes the learning rate?", edits=(("        scheduler.step()\n", ""),)),
        Wrong("scheduler_first", "The scheduler steps before the optimizer: the first rate is "
              "skipped.", "In which order does PyTorch want the two?",
              edits=(("        optimizer.step()\n        scheduler.step()\n",
                      "        scheduler.step()\n        optimizer.step()\n"),)),
        Wrong("scheduler_per_epoch", "The scheduler steps once an epoch, not once a batch.",
              "How many steps does the schedule have?",
              edits=(("        scheduler.step()\n", ""),
                     ("    return total / count", "    scheduler.step()\n    return total / count"))),
        Wrong("no_step", "The optimizer never steps: the weights stay as they are.",
              "Which line changes the weights?", edits=(("        optimizer.step()\n", ""),)),
        Wrong("in_eval_mode", "The model is not put into training mode: no dropout.",
              "In which mode was the model after the last evaluation?",
              edits=(("    model.train()\n", ""),)),
        Wrong("mean_of_batches", "The mean is taken over batches: a batch with two tokens "
              "counts as much as one with two hundred.", "What is the mean *per token*?",
              edits=(("total + loss.item() * tokens, count + tokens",
                      "total + loss.item(), count + 1"),)),
        Wrong("sum_of_batches", "The losses are added up, not averaged.",
              "By what is the sum to be divided?", edits=(("return total / count", "return total"),)),
        Wrong("padding_in_mean", "Padding counts in the mean: the weights of the batches are "
              "those of all places.", "Which places does the loss function average over?",
              edits=(("int((target_out != PAD).sum())", "target_out.numel()"),)),
        Wrong("sentences_in_mean", "Batches are weighted with their sentences, not their "
              "tokens.", "What does the loss function average over?",
              edits=(("int((target_out != PAD).sum())", "len(target_out)"),)),
        Wrong("last_loss", "The loss of the last batch comes back.",
              "What about all the batches before?",
              edits=(("return total / count", "return loss.item()"),)),
        Wrong("reads_the_answer", "The model is given `target_out`: it reads what it should "
              "say.", "What does the decoder read in teacher forcing?",
              edits=(("model(source, target_in), target_out)", "model(source, target_out), target_out)"),)),
        Wrong("swapped_arguments", "Source and target are exchanged.",
              "In which order does the model take them?",
              edits=(("model(source, target_in), target_out)",
                      "model(target_in, source[:, :1].expand_as(target_in)), target_out)"),)),
        Wrong("loss_on_input", "The loss compares with `target_in`: the model learns to repeat "
              "what it reads.", "Which of the two targets should be said?",
              edits=(("target_in), target_out)", "target_in), target_in)"),)),
        Wrong("one_batch", "Only the first batch is used.", "Where does your loop end?",
              edits=(("    return total / count", "        break\n    return total / count"),)),
    ),
    right=(
        Right("set_to_none_by_hand", edits=(("        optimizer.zero_grad()\n",
              "        optimizer.zero_grad(set_to_none=False)\n"),)),
        Right("zero_at_the_end", "def train_epoch(model, batches, loss_function, optimizer, scheduler, clip=1.0):\n"
              "    model.train(True)\n"
              "    losses, tokens = [], []\n"
              "    optimizer.zero_grad()\n"
              "    for s, i, o in batches:\n"
              "        loss = loss_function(model(s, i), o)\n"
              "        loss.backward()\n"
              "        torch.nn.utils.clip_grad_norm_(list(model.parameters()), max_norm=clip)\n"
              "        optimizer.step()\n"
              "        scheduler.step()\n"
              "        optimizer.zero_grad()\n"
              "        losses.append(loss.detach()); tokens.append((o != PAD).sum())\n"
              "    n = torch.stack(tokens)\n"
              "    return float((torch.stack(losses) * n).sum() / n.sum())\n"),
        Right("clip_by_hand", edits=(("        nn.utils.clip_grad_norm_(model.parameters(), clip)\n",
              "        grads = [p.grad for p in model.parameters() if p.grad is not None]\n"
              "        norm = torch.sqrt(sum((g**2).sum() for g in grads))\n"
              "        if norm > clip:\n"
              "            for g in grads:\n                g.mul_(clip / (norm + 1e-6))\n"),)),
    ),
)  # fmt: skip


def _evaluation(draw: Draw, sizes: Sequence[tuple[int, int]], training: bool) -> Inputs:
    return _batches(draw, sizes, 8) | {"training": torch.tensor(training)}


EVALUATE = Task(
    name="text_recovery/evaluate",
    title="The loss on dev",
    target="evaluate",
    settings=(
        Setting("training", "a model in training mode",
                lambda draw: _evaluation(draw, [(3, 5), (1, 2), (4, 3)], True),
                "Evaluate without dropout, and give the model back in training mode."),
        Setting("evaluation", "a model in evaluation mode",
                lambda draw: _evaluation(draw, [(2, 6), (5, 2)], False),
                "A model that came in evaluation mode stays in it."),
        Setting("unequal", "batches of very different sizes",
                lambda draw: _evaluation(draw, [(7, 6), (1, 1), (1, 2), (2, 9)], True),
                "The mean is over tokens: it does not depend on how batches are cut."),
        Setting("other", "other batches",
                lambda draw: _evaluation(draw, [(2, 3), (4, 8), (1, 5)], False),
                "The same for other batches.", hidden_only=True),
    ),
    wrong=(
        Wrong("in_training_mode", "The model is asked in training mode: dropout blurs what you "
              "measure.", "Which method switches dropout off?",
              edits=(("    model.eval()\n", ""),)),
        Wrong("left_in_eval", "The model stays in evaluation mode: from here on it trains "
              "without dropout.", "In which mode did it come?",
              edits=(("    model.train(before)\n", ""),)),
        Wrong("always_training", "The model always goes back to training mode, also when it "
              "came in evaluation mode.", "How could you know how it came?",
              edits=(("    model.train(before)\n", "    model.train()\n"),)),
        Wrong("with_gradients", "Gradients are recorded: it costs memory and time for nothing.",
              "What does `torch.no_grad()` do?",
              edits=(("    with torch.no_grad():\n", "    if True:\n"),)),
        Wrong("mean_of_batches", "The mean is taken over batches, not over tokens.",
              "Would the same sentences in other batches give the same number?",
              edits=(("total + loss.item() * tokens, count + tokens",
                      "total + loss.item(), count + 1"),)),
        Wrong("padding_in_mean", "Padding counts in the mean.",
              "Which places does the loss function average over?",
              edits=(("int((target_out != PAD).sum())", "target_out.numel()"),)),
        Wrong("sentences_in_mean", "Batches are weighted with their sentences, not their "
              "tokens.", "What does the loss function average over?",
              edits=(("int((target_out != PAD).sum())", "len(target_out)"),)),
        Wrong("sum", "The sum comes back, not the mean.", "By what is it to be divided?",
              edits=(("return total / count", "return total"),)),
        Wrong("last_batch", "The loss of the last batch comes back.",
              "What about all the others?", edits=(("return total / count", "return loss.item()"),)),
        Wrong("learns", "The model learns while it is evaluated: its weights have changed.",
              "What is dev for?",
              edits=(("    with torch.no_grad():\n", "    if True:\n"),
                     ("            tokens = int(", "            loss.backward()\n"
                      "            for p in model.parameters():\n"
                      "                p.data -= 0.1 * p.grad\n"
                      "            tokens = int("))),
        Wrong("reads_the_answer", "The model is given `target_out`: it reads what it should "
              "say.", "What does the decoder read in teacher forcing?",
              edits=(("model(source, target_in)", "model(source, target_out)"),)),
        Wrong("one_batch", "Only the first batch is used.", "Where does your loop end?",
              edits=(("count = total + loss.item() * tokens, count + tokens\n",
                      "count = total + loss.item() * tokens, count + tokens\n            break\n"),)),
    ),
    right=(
        Right("decorated", "@torch.no_grad()\n"
              "def evaluate(model, batches, loss_function):\n"
              "    mode = model.training\n"
              "    model.train(False)\n"
              "    pairs = [(loss_function(model(s, i), o), (o != PAD).sum()) for s, i, o in batches]\n"
              "    if mode:\n        model.train()\n"
              "    return float(sum(l * n for l, n in pairs) / sum(n for _, n in pairs))\n"),
        Right("inference_mode", edits=(("with torch.no_grad():", "with torch.inference_mode():"),)),
        Right("try_finally", "def evaluate(model, batches, loss_function):\n"
              "    was_training = model.training\n"
              "    model.eval()\n"
              "    total = n = 0\n"
              "    try:\n"
              "        for source, a, b in batches:\n"
              "            with torch.no_grad():\n"
              "                k = (b != 0).sum().item()\n"
              "                total += k * loss_function(model(source, a), b).item()\n"
              "                n += k\n"
              "    finally:\n        model.train(was_training)\n"
              "    return total / n\n"),
    ),
)  # fmt: skip


# --- 6.13 clipped_matches ---------------------------------------------------------------


def _small_texts(draw: Draw, rows: int, references: int, words: str) -> Inputs:
    """Texts of few different words, so that repetitions matter."""
    pool = words.split()

    def text(low: int, high: int) -> list[str]:
        length = int(draw.ids(low, high, 1))
        return [pool[int(i)] for i in draw.ids(0, len(pool), length)]

    made = [
        [text(3, 12), [text(3, 12) for _ in range(references)]] for _ in range(rows)
    ]
    return {"rows": json.dumps([*made, [["the"] * 7, [text(4, 8)] * references]])}


def _short_texts(draw: Draw) -> Inputs:
    pool = ["a", "b", "c"]

    def text(length: int) -> list[str]:
        return [pool[int(i)] for i in draw.ids(0, 3, length)]

    rows = [[text(n), [text(m)]] for n, m in ((0, 3), (1, 1), (2, 5), (3, 2), (4, 4))]
    return {"rows": json.dumps([*rows, [text(6), [text(0)]]])}


CLIPPED_MATCHES = Task(
    name="text_recovery/clipped_matches",
    title="Clipped n-gram matches",
    target="clipped_matches",
    precise=False,
    settings=(
        Setting("one", "one reference",
                lambda draw: _small_texts(draw, 8, 1, "the cat sat on mat"),
                "An n-gram counts at most as often as it occurs in the reference."),
        Setting("three", "three references",
                lambda draw: _small_texts(draw, 8, 3, "the dog dog saw a cat"),
                "With several references the one that has an n-gram most often decides."),
        Setting("short", "texts shorter than n", _short_texts,
                "A text of three words has no 4-gram: 0 of 0."),
        Setting("two", "two references, other words",
                lambda draw: _small_texts(draw, 12, 2, "the b the c d"),
                "The same for other texts.", hidden_only=True),
    ),
    wrong=(
        Wrong("no_clipping", "Matches are not clipped: `the the the` matches a reference with "
              "one `the` three times.", "How often may an n-gram count?",
              edits=(("(own & allowed).total()",
                      "sum(c for gram, c in own.items() if gram in allowed)"),)),
        Wrong("sets", "Each different n-gram counts once.",
              "What does a set not know?",
              source="def clipped_matches(hypothesis, references, n):\n"
              "    def grams(t):\n        return {tuple(t[i:i + n]) for i in range(len(t) - n + 1)}\n"
              "    own = grams(hypothesis)\n"
              "    return len(own & set().union(*map(grams, references))), len(own)\n"),
        Wrong("sets_total", "Matches are counted with sets: each n-gram counts once.",
              "How often may an n-gram count that stands twice on both sides?",
              edits=(("(own & allowed).total()", "len(own & allowed)"),)),
        Wrong("added_up", "The counts of several references are added up: each may match.",
              "Which reference decides how often an n-gram may count?",
              edits=(("allowed |= ngrams(reference)", "allowed += ngrams(reference)"),)),
        Wrong("smallest", "An n-gram must occur in *all* references.",
              "Which of the references has it most often?",
              source="def clipped_matches(hypothesis, references, n):\n"
              "    def grams(t):\n"
              "        return Counter(tuple(t[i:i + n]) for i in range(len(t) - n + 1))\n"
              "    own = grams(hypothesis)\n"
              "    left = own\n"
              "    for r in references:\n        left = left & grams(r)\n"
              "    return left.total(), own.total()\n"),
        Wrong("first_reference", "Only the first reference is looked at.",
              "Where are the others?", edits=(("for reference in references:",
                                              "for reference in references[:1]:"),)),
        Wrong("best_reference", "The best single reference decides for the whole sentence; it "
              "should be chosen for each n-gram.",
              "Two n-grams, each found in another reference: how many match?",
              source="def clipped_matches(hypothesis, references, n):\n"
              "    def grams(t):\n"
              "        return Counter(tuple(t[i:i + n]) for i in range(len(t) - n + 1))\n"
              "    own = grams(hypothesis)\n"
              "    return max((own & grams(r)).total() for r in references), own.total()\n"),
        Wrong("total_of_reference", "The total counts the n-grams of the reference: that is "
              "recall, not precision.", "Which text's n-grams are asked to match?",
              edits=(("own.total()", "allowed.total()"),)),
        Wrong("last_ngram_lost", "The last n-gram is missing.",
              "How many n-grams does a text of L tokens have?",
              edits=(("len(tokens) - n + 1", "len(tokens) - n"),)),
        Wrong("short_tails", "Tails that are shorter than n count as n-grams.",
              "How many n-grams does a text of L tokens have?",
              edits=(("range(len(tokens) - n + 1)", "range(len(tokens))"),)),
        Wrong("non_overlapping", "N-grams do not overlap: every token is used once.",
              "How many pairs does `a b c` have?",
              edits=(("range(len(tokens) - n + 1)", "range(0, len(tokens) - n + 1, n)"),)),
        Wrong("unordered", "The order inside an n-gram is lost.",
              "Is `a b` the same as `b a`?",
              edits=(("tuple(tokens[i : i + n])", "tuple(sorted(tokens[i : i + n]))"),)),
        Wrong("characters", "N-grams are made of characters, not of tokens.",
              "What do you get when you walk through a text, and what through a list of tokens?",
              edits=(("Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))",
                      "(lambda s: Counter(s[i : i + n] for i in range(len(s) - n + 1)))(' '.join(tokens))"),)),
        Wrong("exactly_n_missing", "All orders up to n are counted together.",
              "Is a unigram a bigram?",
              edits=(("Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))",
                      "Counter(tuple(tokens[i : i + m]) for m in range(1, n + 1) for i in range(len(tokens) - m + 1))"),)),
    ),
    right=(
        Right("dicts", "def clipped_matches(hypothesis, references, n):\n"
              "    def count(tokens):\n"
              "        table = {}\n"
              "        for i in range(len(tokens) - n + 1):\n"
              "            gram = ' '.join(tokens[i:i + n])\n"
              "            table[gram] = table.get(gram, 0) + 1\n"
              "        return table\n"
              "    own, others = count(hypothesis), [count(r) for r in references]\n"
              "    good = sum(min(c, max(o.get(g, 0) for o in others)) for g, c in own.items())\n"
              "    return good, sum(own.values())\n"),
        Right("zip_ngrams", "def clipped_matches(hypothesis, references, n):\n"
              "    grams = lambda t: Counter(zip(*(t[i:] for i in range(n))))\n"
              "    own = grams(hypothesis)\n"
              "    most = Counter()\n"
              "    for reference in map(grams, references):\n"
              "        for g in reference:\n            most[g] = max(most[g], reference[g])\n"
              "    return sum((own & most).values()), max(len(hypothesis) - n + 1, 0)\n"),
    ),
)  # fmt: skip


# --- 6.14 corpus_bleu -------------------------------------------------------------------


def _blurred(draw: Draw, text: str, share: float) -> str:
    """The text with some words dropped, doubled or exchanged."""
    words = text.split()
    for i in range(len(words)):
        if bool(draw.flags(1, chance=share)):
            word = words[i]
            kinds = ("", f"{word} {word}", "the", word.lower(), word.strip('.,!?"'))
            words[i] = kinds[int(draw.ids(0, len(kinds), 1))]
    return " ".join(" ".join(words).split())


_ALL = [
    f"{tokens}, {smooth}, {order}"
    for tokens in ("13a", "none")
    for smooth in ("exp", "none")
    for order in ("all orders", "effective order")
]


def _corpus(draw: Draw, count: int, references: int, share: float) -> Inputs:
    originals = _sentences(draw, count)
    hypotheses = [_blurred(draw, text, share) for text in originals]
    for i in range(0, count, 2):
        hypotheses[i] = " ".join(hypotheses[i].split()[:-2])
    others = [
        [text, *(_blurred(draw, text, 0.3) for _ in range(references - 1))]
        for text in originals
    ]
    for row in others:  # a very short reference that is never the closest
        row[2:] = [" ".join(text.split()[:2]) for text in row[2:]]
    return {
        "hypotheses": json.dumps(hypotheses), "references": json.dumps(others),
        "switches": json.dumps(_ALL),
    }  # fmt: skip


def _wordy(draw: Draw) -> Inputs:
    """Hypotheses that are longer than their references: no brevity penalty."""
    originals = _sentences(draw, 9)
    longer = [f"{_blurred(draw, text, 0.1)} And so on and on." for text in originals]
    return {
        "hypotheses": json.dumps(longer),
        "references": json.dumps([[text] for text in originals]),
        "switches": json.dumps(_ALL[:3]),
    }


def _brief(draw: Draw) -> Inputs:
    """Hypotheses of up to three words, so that orders are missing; one is empty."""
    originals = _sentences(draw, 6)
    starts = [" ".join(text.split()[: 1 + i % 3]) for i, text in enumerate(originals)]
    starts[1], starts[2] = starts[1].replace(" ", " so "), ""
    return {
        "hypotheses": json.dumps(starts),
        "references": json.dumps([[text] for text in originals]),
        "switches": json.dumps(_ALL[4:]),
    }


def _no_match(draw: Draw) -> Inputs:
    """Some orders without a match: no common four-gram, or no common word at all."""
    originals = _sentences(draw, 4)
    jumbled = [" ".join(_shuffled(draw, text.split())) for text in originals]
    return {
        "hypotheses": json.dumps(jumbled),
        "references": json.dumps([[text] for text in originals]),
        "switches": json.dumps(_ALL),
    }


def _lengths(draw: Draw) -> Inputs:
    """Two references, one shorter and one longer by the same number of tokens."""
    rows = [text.rstrip(".?!\"'") for text in _sentences(draw, 5)]
    others = [
        [" ".join([*t.split(), "so", "it", "is"]), " ".join(t.split()[:-3])]
        for t in rows
    ]
    return {
        "hypotheses": json.dumps(rows), "references": json.dumps(others),
        "switches": json.dumps(["none, exp, all orders"]),
    }  # fmt: skip


_LOGS = """    logs, share = 0.0, 1.0
    for found, total in zip(matches[:orders], totals, strict=False):
        if found == 0 and smooth == "none":
            return 0.0
        if found == 0:
            share /= 2
        logs += math.log((found or share) / total)
    return 100 * min(1.0, math.exp(1 - r / h)) * math.exp(logs / orders)"""
_CLOSEST = "min(map(len, wanted), key=lambda size: (abs(size - len(tokens)), size))"
_BP = "min(1.0, math.exp(1 - r / h))"

CORPUS_BLEU = Task(
    name="text_recovery/corpus_bleu",
    title="BLEU of a corpus",
    target="corpus_bleu",
    settings=(
        Setting("good", "good outputs, one reference",
                lambda draw: _corpus(draw, 12, 1, 0.1),
                "Counts are added up over all sentences; then, once, everything else."),
        Setting("references", "poorer outputs, three references",
                lambda draw: _corpus(draw, 10, 3, 0.35),
                "With several references the length closest to the hypothesis counts."),
        Setting("wordy", "outputs that are too long", _wordy,
                "The brevity penalty is never larger than 1."),
        Setting("brief", "outputs of three words at most", _brief,
                "Without any 4-gram, `effective_order` decides."),
        Setting("jumbled", "shuffled outputs", _no_match,
                "Orders without a match: `smooth` decides."),
        Setting("lengths", "two references, equally far in length", _lengths,
                "Of two equally close references the shorter one counts."),
        Setting("more", "other outputs, two references",
                lambda draw: _corpus(draw, 25, 2, 0.2),
                "The same for other texts.", hidden_only=True),
    ),
    wrong=(
        Wrong("mean_of_sentences", "This is the mean of the sentences' BLEUs. BLEU adds up "
              "counts over the corpus first.",
              "What does a perfect sentence of three words add to the mean, and what to the "
              "counts?",
              source="def corpus_bleu(hypotheses, references, tokenize=tokenize_13a, smooth='exp', effective_order=False):\n"
              "    def one(text, originals):\n"
              "        tokens, wanted = tokenize(text), [tokenize(o) for o in originals]\n"
              "        pairs = [clipped_matches(tokens, wanted, n) for n in range(1, 5)]\n"
              "        orders = sum(t > 0 for _, t in pairs) if effective_order else 4\n"
              "        if not any(m for m, _ in pairs) or any(t == 0 for _, t in pairs[:orders]):\n            return 0.0\n"
              "        logs, share = 0.0, 1.0\n"
              "        for m, t in pairs[:orders]:\n"
              "            if m == 0 and smooth == 'none':\n                return 0.0\n"
              "            if m == 0:\n                share /= 2\n"
              "            logs += math.log((m or share) / t)\n"
              "        r = min(map(len, wanted), key=lambda n: (abs(n - len(tokens)), n))\n"
              "        return 100 * min(1.0, math.exp(1 - r / len(tokens))) * math.exp(logs / orders)\n"
              "    scores = [one(*row) for row in zip(hypotheses, references)]\n"
              "    return sum(scores) / len(scores)\n"),
        Wrong("unigrams_only", "Only single words are counted: a shuffled sentence would be "
              "perfect.", "Which orders does BLEU-4 count?",
              edits=(("orders = sum(total > 0 for total in totals) if effective_order else 4",
                      "orders = 1"),)),
        Wrong("no_brevity_penalty", "There is no brevity penalty: who says nothing wrong by "
              "saying little wins.", "What would the single word `The` score?",
              edits=((_BP + " * ", ""),)),
        Wrong("penalty_inverted", "The brevity penalty hits long outputs and spares short ones.",
              "Is it r / h or h / r?", edits=((_BP, "min(1.0, math.exp(1 - h / r))"),)),
        Wrong("penalty_ratio", "The brevity penalty is h / r, not an exponential.",
              "What does the formula say?", edits=((_BP, "min(1.0, h / r)"),)),
        Wrong("penalty_rewards", "Long outputs are rewarded: the penalty can be larger than 1.",
              "What is the largest value of BP?", edits=((_BP, "math.exp(1 - r / h)"),)),
        Wrong("penalty_per_sentence", "The brevity penalty is computed for each sentence and "
              "averaged.", "Whose lengths are h and r?",
              edits=(("h, r = [0] * 4, [0] * 4, 0, 0", "h, r, parts = [0] * 4, [0] * 4, 0, 0, []"),
                     ("        h += len(tokens)\n",
                      "        near = min(map(len, wanted), key=lambda n: (abs(n - len(tokens)), n))\n"
                      "        parts.append(min(1.0, math.exp(1 - near / len(tokens))) if tokens else 0.0)\n"
                      "        h += len(tokens)\n"),
                     (_BP, "sum(parts) / len(parts)"))),
        Wrong("arithmetic_mean", "The precisions are averaged by adding them up; BLEU takes "
              "the geometric mean.", "What is the fourth root of a product?",
              edits=((_LOGS, """    share, precisions = 1.0, []
    for found, total in zip(matches[:orders], totals, strict=False):
        if found == 0 and smooth == "none":
            return 0.0
        if found == 0:
            share /= 2
        precisions.append((found or share) / total)
    return 100 * min(1.0, math.exp(1 - r / h)) * sum(precisions) / orders"""),)),
        Wrong("halving_weights", "The orders weigh 1/2, 1/4, 1/8, 1/16 instead of a quarter each.",
              "Which weights has BLEU-4?",
              edits=(("    logs, share = 0.0, 1.0\n", "    logs, share, weight = 0.0, 1.0, 1.0\n"),
                     ("        logs += math.log((found or share) / total)",
                      "        weight /= 2\n        logs += orders * weight * math.log((found or share) / total)"))),
        Wrong("three_orders", "Only n-grams up to 3 are counted.", "What is the 4 in BLEU-4?",
              edits=(("orders = sum(total > 0 for total in totals) if effective_order else 4",
                      "orders = min(3, sum(total > 0 for total in totals)) if effective_order else 3"),)),
        Wrong("zero_to_one", "The result lies between 0 and 1.", "What does 100 mean in BLEU?",
              edits=(("return 100 * min", "return min"),)),
        Wrong("lower_cased", "The texts are lower-cased: nobody sees whether case was recovered.",
              "Which half of the task is to recover case?",
              edits=(("tokens, wanted = tokenize(text), [tokenize(original) for",
                      "tokens, wanted = tokenize(text.lower()), [tokenize(original.lower()) for"),)),
        Wrong("signs_stripped", "Signs are stripped before counting: nobody sees whether they "
              "were recovered.", "Do commas count?",
              edits=(("tokens, wanted = tokenize(text), [tokenize(original) for",
                      "strip = lambda t: re.sub(r'[^\\w\\s]', '', t)\n"
                      "        tokens, wanted = tokenize(strip(text)), [tokenize(strip(original)) for"),)),
        Wrong("split_always", "Texts are cut at spaces, whatever `tokenize` says.",
              "What is `key.` after `split`, and after 13a?",
              edits=(("tokens, wanted = tokenize(text), [tokenize(original) for",
                      "tokens, wanted = text.split(), [original.split() for"),)),
        Wrong("characters", "The n-grams are made of characters: a text was counted, not its "
              "tokens.", "What does `tokenize` return, and did you use it?",
              edits=(("tokens, wanted = tokenize(text), [tokenize(original) for",
                      "tokens, wanted = list(text), [list(original) for"),)),
        Wrong("swapped", "Hypotheses and references are exchanged: precision has become recall.",
              "Whose n-grams are asked to match?",
              source="def corpus_bleu(hypotheses, references, tokenize=tokenize_13a, smooth='exp', effective_order=False):\n"
              "    matches, totals, h, r = [0] * 4, [0] * 4, 0, 0\n"
              "    for text, originals in zip(hypotheses, references):\n"
              "        tokens, wanted = tokenize(originals[0]), [tokenize(text)]\n"
              "        for n in range(4):\n"
              "            m, t = clipped_matches(tokens, wanted, n + 1)\n"
              "            matches[n] += m; totals[n] += t\n"
              "        h += len(tokens); r += len(wanted[0])\n"
              "    orders = sum(t > 0 for t in totals) if effective_order else 4\n"
              "    if not any(matches) or 0 in totals[:orders]:\n        return 0.0\n"
              "    logs, share = 0.0, 1.0\n"
              "    for m, t in zip(matches[:orders], totals):\n"
              "        if m == 0 and smooth == 'none':\n            return 0.0\n"
              "        if m == 0:\n            share /= 2\n"
              "        logs += math.log((m or share) / t)\n"
              "    return 100 * min(1.0, math.exp(1 - r / h)) * math.exp(logs / orders)\n"),
        Wrong("first_reference", "Only the first reference is used.", "Where are the others?",
              edits=(("[tokenize(original) for original in originals]",
                      "[tokenize(original) for original in originals[:1]]"),)),
        Wrong("references_as_characters", "Each reference was taken apart into characters: one "
              "level of lists is missing, or one too many.",
              "What is `references[0]`, and what is `references[0][0]`?",
              edits=(("for original in originals]", "for original in originals[0]]"),)),
        Wrong("one_sentence", "Only one sentence was scored: `zip` stopped there without a word.",
              "Which of the two lists was shorter, and why?",
              edits=(("in zip(hypotheses, references, strict=True)",
                      "in list(zip(hypotheses, references))[:1]"),)),
        Wrong("joined_corpus", "The sentences were joined into one text: n-grams cross the borders "
              "of sentences.", "Is the end of one sentence and the beginning of the next an n-gram?",
              edits=(("    for text, originals in zip(hypotheses, references, strict=True):\n",
                      "    hypotheses = [' '.join(hypotheses)]\n"
                      "    references = [[' '.join(o[min(i, len(o) - 1)] for o in references) for i in range(max(map(len, references)))]]\n"
                      "    for text, originals in zip(hypotheses, references, strict=True):\n"),)),
        Wrong("shortest_reference", "The shortest reference counts for the length, not the "
              "closest one.", "Which reference would a fair judge compare your length with?",
              edits=((_CLOSEST, "min(map(len, wanted))"),)),
        Wrong("longest_reference", "The longest reference counts for the length.",
              "Which reference would a fair judge compare your length with?",
              edits=((_CLOSEST, "max(map(len, wanted))"),)),
        Wrong("mean_length", "The references' mean length counts.",
              "Which reference is closest in length?",
              edits=((_CLOSEST, "sum(map(len, wanted)) / len(wanted)"),)),
        Wrong("all_lengths", "The lengths of all references are added up.",
              "How many references should count for the length?",
              edits=((_CLOSEST, "sum(map(len, wanted))"),)),
        Wrong("tie_to_longer", "Of two equally close references the longer one counts.",
              "Which of the two does the text above choose?",
              edits=(("(abs(size - len(tokens)), size)", "(abs(size - len(tokens)), -size)"),)),
        Wrong("smoothing_missing", "`smooth=\"exp\"` does nothing: one order without a match makes "
              "everything 0.", "What becomes of the first order without a match?",
              edits=(('if found == 0 and smooth == "none":', "if found == 0:"),)),
        Wrong("smoothing_always", "`smooth=\"none\"` smooths as well.",
              "What should one order without a match do to the product?",
              edits=(('        if found == 0 and smooth == "none":\n            return 0.0\n', ""),)),
        Wrong("smoothing_constant", "Every order without a match gets the same share; it should "
              "be halved each time.", "What does the second one become?",
              edits=(("            share /= 2\n", "            share = 1 / 2\n"),)),
        Wrong("smoothing_one", "An order without a match counts as one match.",
              "What is half of one match?", edits=(("            share /= 2\n", "            share = 1.0\n"),)),
        Wrong("zeros_skipped", "Orders without a match are left out: silence counts as success.",
              "What should a precision of 0 do to a product?",
              edits=(("            share /= 2\n", "            continue\n"),)),
        Wrong("effective_always", "Missing orders are always left out, also without "
              "`effective_order`.", "What does the switch decide?",
              edits=(("if effective_order else 4", "or 1"),)),
        Wrong("effective_never", "`effective_order` does nothing.",
              "Which orders exist in texts of three words?",
              edits=(("orders = sum(total > 0 for total in totals) if effective_order else 4",
                      "orders = 4"),)),
        Wrong("fourth_root_always", "With fewer orders the fourth root is still taken.",
              "Of how many precisions is it the mean?",
              edits=(("math.exp(logs / orders)", "math.exp(logs / 4)"),)),
    ),
    right=(
        Right("numbers_first", "def corpus_bleu(hypotheses, references, tokenize=tokenize_13a, smooth='exp', effective_order=False):\n"
              "    hyps = [tokenize(t) for t in hypotheses]\n"
              "    refs = [[tokenize(t) for t in row] for row in references]\n"
              "    h = sum(map(len, hyps))\n"
              "    r = sum(sorted((abs(len(w) - len(t)), len(w)) for w in ws)[0][1] for t, ws in zip(hyps, refs))\n"
              "    stats = []\n"
              "    for n in (1, 2, 3, 4):\n"
              "        pairs = [clipped_matches(t, ws, n) for t, ws in zip(hyps, refs)]\n"
              "        stats.append((sum(m for m, _ in pairs), sum(t for _, t in pairs)))\n"
              "    if effective_order:\n        stats = [s for s in stats if s[1]]\n"
              "    if not stats or stats[0][0] == 0 or any(t == 0 for _, t in stats):\n        return 0.0\n"
              "    product, power = 1.0, 2\n"
              "    for m, t in stats:\n"
              "        if not m:\n"
              "            if smooth == 'none':\n                return 0.0\n"
              "            product *= 1 / (power * t); power *= 2\n"
              "        else:\n            product *= m / t\n"
              "    bp = 1.0 if h >= r else math.exp(1 - r / h)\n"
              "    return 100.0 * bp * product ** (1 / len(stats))\n"),
        Right("sacrebleu", "def corpus_bleu(hypotheses, references, tokenize=tokenize_13a, smooth='exp', effective_order=False):\n"
              "    import sacrebleu\n"
              "    most = max(map(len, references))\n"
              "    streams = [[row[i] if i < len(row) else None for row in references] for i in range(most)]\n"
              "    metric = sacrebleu.BLEU(tokenize='none' if tokenize is str.split else '13a',\n"
              "                            smooth_method=smooth, effective_order=effective_order)\n"
              "    return metric.corpus_score(hypotheses, streams).score\n"),
    ),
)  # fmt: skip


# --- 6.15 greedy_decode and 6.16 beam_search --------------------------------------------


def _fine(draw: Draw, *shape: int, scale: float) -> torch.Tensor:
    """Numbers on a grid so fine that two of them hardly ever tie."""
    return draw.tensor(*shape, scale=scale) + draw.tensor(*shape, scale=0.5) / 64


def _script(
    draw: Draw, stops: Sequence[int | None], batch: Sequence[int], vocab: int = 11
) -> Inputs:
    """A script for each sentence: it says EOS at place ``stops[s]``, or never."""
    length = max((stop or 0) for stop in stops) + 6
    places = _fine(draw, len(stops), length, vocab, scale=3.0)
    places[..., [PAD, BOS, UNK]] = -40.0
    places[..., EOS] = -30.0
    for s, stop in enumerate(stops):
        if stop is not None:
            places[s, stop, EOS] = 50.0
    source = draw.ids(4, vocab, len(batch), 6)
    source[:, 0] = 4 + torch.tensor(batch)
    source[0, 4:] = PAD
    return {
        "places": places,
        "habits": _fine(draw, vocab, vocab, scale=2.0),
        "source": source,
    }


def _script_until(
    draw: Draw, stops: Sequence[int | None], batch: Sequence[int], max_len: int
) -> Inputs:
    return _script(draw, stops, batch) | {"max_len": torch.tensor(max_len)}


GREEDY_DECODE = Task(
    name="text_recovery/greedy_decode",
    title="Greedy decoding",
    target="greedy_decode",
    settings=(
        Setting("together", "three sentences of one length",
                lambda draw: _script(draw, [4, 4, 4], [2, 0, 1]),
                "Each token depends on the whole prefix; the search stops after EOS."),
        Setting("apart", "sentences that end early and late",
                lambda draw: _script(draw, [2, 7, 5, 0], [1, 0, 3, 2, 1]),
                "A row that has said EOS goes on with PAD until all rows are finished."),
        Setting("cut", "a sentence that never ends, max_len = 6",
                lambda draw: _script_until(draw, [3, None, 8], [0, 1, 2, 1], 6),
                "After max_len tokens the search stops, with or without EOS."),
        Setting("one", "a single sentence", lambda draw: _script(draw, [5], [0]),
                "A batch of one is a batch, too."),
        Setting("last", "EOS at the very last step",
                lambda draw: _script_until(draw, [5, 1], [1, 0, 0], 6),
                "max_len counts EOS.", hidden_only=True),
    ),
    wrong=(
        Wrong("first_place", "The scores of the first place are used, not those of the last.",
              "Which place of the logits tells what comes after the whole prefix?",
              edits=(("[:, -1].argmax(dim=-1)", "[:, 0].argmax(dim=-1)"),)),
        Wrong("wrong_axis", "The argmax runs over the wrong dimension.",
              "Along which dimension does the vocabulary lie?",
              edits=(("[:, -1].argmax(dim=-1)", "[:, -1].argmax(dim=0)[: len(ids)]"),)),
        Wrong("lowest", "The least probable token is taken.", "Which score is the best?",
              edits=(("[:, -1].argmax(dim=-1)", "[:, -1].argmin(dim=-1)"),)),
        Wrong("no_stop", "The search does not stop when all rows are finished.",
              "What is left to do when every row has said EOS?",
              edits=(("        if finished.all():\n            break\n", ""),)),
        Wrong("first_eos_stops_all", "The first EOS of any row ends the whole batch.",
              "Are the other rows finished, too?",
              edits=(("finished.all()", "finished.any()"),)),
        Wrong("goes_on_after_eos", "Rows that have said EOS go on talking.",
              "What should be appended to a finished row?",
              edits=(("        token = token.masked_fill(finished, PAD)\n", ""),)),
        Wrong("filled_with_eos", "Finished rows are filled up with EOS.",
              "Which token fills up rows?",
              edits=(("token.masked_fill(finished, PAD)", "token.masked_fill(finished, EOS)"),)),
        Wrong("eos_removed", "EOS is missing in the result.",
              "What should a finished row end with?",
              edits=(("    return ids[:, 1:]", "    return ids[:, 1:].masked_fill(ids[:, 1:] == EOS, PAD)"),)),
        Wrong("bos_returned", "BOS is part of the result.", "Where does the answer begin?",
              edits=(("    return ids[:, 1:]", "    return ids"),)),
        Wrong("one_too_few", "The search stops one step too early: BOS was counted in max_len.",
              "How many tokens without BOS may there be?",
              edits=(("for _ in range(max_len):", "for _ in range(max_len - 1):"),)),
        Wrong("one_too_many", "There is one token more than max_len.",
              "How often does the loop run?",
              edits=(("for _ in range(max_len):", "for _ in range(max_len + 1):"),)),
        Wrong("last_token_only", "The decoder is given only the last token: it has forgotten the "
              "prefix.", "What does each step need to know?",
              edits=(("model.decode(ids, memory, source)", "model.decode(ids[:, -1:], memory, source)"),)),
        Wrong("training_mode", "The model is asked in training mode.",
              "What does dropout do to an argmax?", edits=(("    model.eval()\n", ""),)),
        Wrong("starts_with_pad", "The prefix begins with PAD, not with BOS.",
              "Which token did the decoder always read first in training?",
              edits=(("torch.full_like(source[:, :1], BOS)", "torch.full_like(source[:, :1], PAD)"),)),
        Wrong("starts_with_source", "The prefix begins with the first token of the source.",
              "Which token did the decoder always read first in training?",
              edits=(("torch.full_like(source[:, :1], BOS)", "source[:, :1].clone()"),)),
        Wrong("first_row_for_all", "All rows get the token of the first one.",
              "How many tokens does a step choose?",
              edits=(("[:, -1].argmax(dim=-1)", "[:, -1].argmax(dim=-1)[:1].expand(len(ids))"),)),
        Wrong("finished_forgotten", "Only the newest token decides whether a row is finished: a "
              "finished row wakes up again.", "Was the row finished before?",
              edits=(("        finished |= token == EOS\n", "        finished = token == EOS\n"),)),
    ),
    right=(
        Right("sentence_by_sentence", "@torch.no_grad()\n"
              "def greedy_decode(model, source, max_len=60):\n"
              "    model.eval()\n"
              "    rows = []\n"
              "    for i in range(len(source)):\n"
              "        one, ids = source[i:i + 1], [BOS]\n"
              "        memory = model.encode(one)\n"
              "        while len(ids) <= max_len and ids[-1] != EOS:\n"
              "            logits = model.decode(torch.tensor([ids]), memory, one)\n"
              "            ids.append(int(logits[0, -1].argmax()))\n"
              "        rows.append(ids[1:])\n"
              "    return padded(rows)\n"),
        Right("whole_model", "def greedy_decode(model, source, max_len=60):\n"
              "    model.eval()\n"
              "    with torch.no_grad():\n"
              "        out = torch.full((source.shape[0], 1), BOS, dtype=torch.long)\n"
              "        for _ in range(max_len):\n"
              "            step = model(source, out)[:, -1, :].softmax(-1).max(-1).indices\n"
              "            done = (out == EOS).any(dim=1)\n"
              "            step = torch.where(done, torch.tensor(PAD), step)\n"
              "            out = torch.cat((out, step.unsqueeze(1)), 1)\n"
              "            if bool((out == EOS).any(1).all()):\n                break\n"
              "    return out[:, 1:]\n"),
        Right("filled_table", "@torch.no_grad()\n"
              "def greedy_decode(model, source, max_len=60):\n"
              "    model.train(False)\n"
              "    memory = model.encode(source)\n"
              "    ids = source.new_zeros(len(source), max_len + 1)\n"
              "    ids[:, 0] = BOS\n"
              "    alive = torch.ones(len(source), dtype=torch.bool)\n"
              "    for t in range(max_len):\n"
              "        best = model.decode(ids[:, :t + 1], memory, source)[:, t].argmax(-1)\n"
              "        ids[:, t + 1] = best * alive\n"
              "        alive &= best != EOS\n"
              "        if not alive.any():\n            break\n"
              "    return ids[:, 1:t + 2]\n"),
    ),
)  # fmt: skip


def _soft_script(
    draw: Draw, batch: Sequence[int], sizes: Sequence[int], alpha: float, max_len: int,
    eos: float = 0.0, vocab: int = 9, scale: float = 2.0,
) -> Inputs:  # fmt: skip
    """Scores that leave several ways open; EOS becomes likelier from place to place."""
    count, length = max(batch) + 1, max_len + 1
    places = _fine(draw, count, length, vocab, scale=scale)
    places[..., [PAD, BOS]] = -40.0
    rise = torch.arange(length) * 0.75 - 2.0 + eos
    places[..., EOS] = places[..., EOS] / 2 + rise
    source = draw.ids(4, vocab, len(batch), 5)
    source[:, 0] = 4 + torch.tensor(batch)
    source[-1, 3:] = PAD
    return {
        "places": places, "habits": _fine(draw, vocab, vocab, scale=1.0),
        "source": source, "beam_sizes": json.dumps(list(sizes)),
        "alpha": torch.tensor(alpha), "max_len": torch.tensor(max_len),
    }  # fmt: skip


_TOTAL = "total = scores[..., None] + log_p"

BEAM_SEARCH = Task(
    name="text_recovery/beam_search",
    title="Beam search",
    target="beam_search",
    settings=(
        Setting("small", "two sentences, k = 1 and 2",
                lambda draw: _soft_script(draw, [1, 0], [1, 2], 1.0, 7),
                "The k best continuations of all prefixes together stay live."),
        Setting("wide", "three sentences, k = 3 and 5",
                lambda draw: _soft_script(draw, [2, 0, 1], [3, 5], 1.0, 8),
                "Ended hypotheses are compared by score / length^alpha."),
        Setting("no_norm", "alpha = 0: raw scores",
                lambda draw: _soft_script(draw, [0, 1, 0], [2, 4], 0.0, 7),
                "With alpha 0 the lengths do not count."),
        Setting("half", "alpha = 0.5, EOS unlikely, max_len = 5",
                lambda draw: _soft_script(draw, [1, 0], [3], 0.5, 5, eos=-6.0),
                "After max_len steps the best ended hypothesis counts; else the best live one."),
        Setting("exhaustive", "k as large as the number of prefixes",
                lambda draw: _soft_script(draw, [0, 1], [400], 1.0, 3, vocab=7),
                "With a beam that wide nothing is ever dropped."),
        Setting("other", "four sentences, k = 4",
                lambda draw: _soft_script(draw, [1, 3, 0, 2], [4], 0.75, 9),
                "The same for other sentences.", hidden_only=True),
        Setting("endless", "nothing ever ends",
                lambda draw: _soft_script(draw, [1, 0, 2], [3], 1.0, 4, eos=-60.0),
                "If nothing ended, the best live hypothesis is the answer.",
                hidden_only=True),
    ),
    wrong=(
        Wrong("greedy", "This is greedy decoding: only one prefix stays live.",
              "How many prefixes does `beam_size` ask for?",
              edits=(("k, answers = beam_size,", "k, answers = 1,"),)),
        Wrong("per_prefix", "Every prefix keeps its own best continuation; they should compete "
              "with each other.", "Of how many continuations are the k best chosen?",
              edits=(("scores, places = total.flatten(1).topk(wide)  # (b, k)",
                      "each, tokens = total.topk(min(k if live == 1 else 1, total.size(-1)), dim=-1)\n"
                      "        scores = each.flatten(1)\n"
                      "        places = (tokens + torch.arange(live)[:, None] * total.size(-1)).flatten(1)\n"
                      "        scores, order = scores.sort(dim=1, descending=True)\n"
                      "        places = places.gather(1, order)"),)),
        Wrong("probabilities", "Probabilities are added up, not their logarithms.",
              "What is the probability of two things in a row?",
              edits=(("log_softmax(-1)", "softmax(-1)"),)),
        Wrong("logits", "Logits are added up. They are no logarithms of probabilities: prefixes "
              "cannot be compared by them.",
              "What makes the scores of different prefixes comparable?",
              edits=(("[:, -1].log_softmax(-1).unflatten", "[:, -1].unflatten"),)),
        Wrong("scores_forgotten", "Only the newest token's score counts: the prefix's own score "
              "is forgotten.", "What is the score of a continuation made of?",
              edits=((_TOTAL, "total = log_p.clone()"),)),
        Wrong("divided_by_k", "The place in the flat list is divided by k, not by the size of "
              "the vocabulary.", "How many columns does the table have?",
              edits=(("places // total.size(-1)", "(places // k) % live"),)),
        Wrong("no_parent", "The new tokens are appended to the wrong prefixes: the prefixes stay "
              "where they were.", "Which prefix does each of the k best continue?",
              edits=(("places // total.size(-1)",
                      "torch.arange(places.size(1)).expand_as(places) % live"),)),
        Wrong("not_normalised", "Ended hypotheses are compared by their raw scores, whatever "
              "alpha is.", "Where does `alpha` stand in your code?",
              edits=(("(total[..., EOS] / length**alpha)", "(total[..., EOS] / 1)"),
                     ("best[rows] < scores[:, 0] / length**alpha", "best[rows] < scores[:, 0]"))),
        Wrong("always_by_length", "Scores are divided by the length, whatever alpha is.",
              "What is length to the power of alpha for alpha = 0?",
              edits=(("(total[..., EOS] / length**alpha)", "(total[..., EOS] / length)"),
                     ("best[rows] < scores[:, 0] / length**alpha",
                      "best[rows] < scores[:, 0] / length"))),
        Wrong("length_off_by_one", "The length is off by one: BOS counts, or EOS does not.",
              "How long is the hypothesis that is only EOS?",
              edits=(("(total[..., EOS] / length**alpha)", "(total[..., EOS] / (length + 1)**alpha)"),
                     ("best[rows] < scores[:, 0] / length**alpha",
                      "best[rows] < scores[:, 0] / (length + 1)**alpha"))),
        Wrong("normalised_on_the_way", "Live scores are divided by the length in every step: the "
              "division adds up.", "When do lengths have to be compared?",
              edits=(("        going = best", "        scores = scores / length**alpha\n        going = best"),)),
        Wrong("ended_stay_live", "Continuations by EOS stay among the live prefixes and go on "
              "growing.", "What should become of a hypothesis that has ended?",
              edits=(("        total[..., EOS] = -math.inf\n", ""),)),
        Wrong("first_end_wins", "The search stops as soon as the best continuation is EOS.",
              "Could a live hypothesis still become better?",
              edits=(("        total[..., EOS] = -math.inf\n",
                      "        over = total.flatten(1).argmax(1) % total.size(-1) == EOS\n"
                      "        total[..., EOS] = -math.inf\n"),
                     ("going = best[rows] < scores[:, 0] / length**alpha", "going = ~over"))),
        Wrong("last_end_wins", "The ended hypothesis that came last is taken, not the best one.",
              "What was remembered, and was it better?",
              edits=(("(ended > best[rows]).nonzero()", "(ended > -math.inf).nonzero()"),)),
        Wrong("live_wins", "The best live hypothesis is returned, although others have ended.",
              "What is the answer when the search is over?",
              edits=(("answers[row] or prefixes[i, 0, 1:].tolist()", "prefixes[i, 0, 1:].tolist()"),)),
        Wrong("never_stops", "The search always runs for max_len steps.",
              "When can no live hypothesis win any more?",
              edits=(("going = best[rows] < scores[:, 0] / length**alpha",
                      "going = best[rows] < math.inf"),)),
        Wrong("stops_by_raw_score", "The stop rule compares a normalised with a raw score.",
              "Are both divided by their length?",
              edits=(("best[rows] < scores[:, 0] / length**alpha", "best[rows] < scores[:, 0]"),)),
        Wrong("eos_lost", "EOS is missing at the end of the answers.",
              "What should an ended row end with?",
              edits=(("[*prefixes[i, winner[i], 1:].tolist(), EOS]",
                      "prefixes[i, winner[i], 1:].tolist()"),)),
        Wrong("bos_returned", "BOS is part of the answers.", "Where does the answer begin?",
              edits=(("[*prefixes[i, winner[i], 1:].tolist(), EOS]",
                      "[*prefixes[i, winner[i]].tolist(), EOS]"),
                     ("prefixes[i, 0, 1:].tolist()", "prefixes[i, 0].tolist()"))),
        Wrong("training_mode", "The model is asked in training mode.",
              "What does dropout do to a search?", edits=(("    model.eval()\n", ""),)),
        Wrong("memory_of_others", "The prefixes look at the memory of other sentences: it was "
              "repeated in the wrong order.",
              "Three sentences, two prefixes each: is it 0 0 1 1 2 2 or 0 1 2 0 1 2?",
              edits=(("asked = rows.repeat_interleave(live)", "asked = rows.repeat(live)"),)),
        Wrong("one_step_short", "The search ends one step too early.",
              "How many tokens may an answer have, EOS included?",
              edits=(("range(1, max_len + 1)", "range(1, max_len)"),)),
        Wrong("worst", "The k worst continuations stay live.", "Which end of the list is best?",
              edits=((".topk(wide)", ".topk(wide, largest=False)"),)),
    ),
    right=(
        Right("one_by_one", "@torch.no_grad()\n"
              "def beam_search(model, source, beam_size=4, max_len=60, alpha=1.0):\n"
              "    model.eval()\n"
              "    answers = []\n"
              "    for one in source:\n"
              "        one = one[None]\n"
              "        memory = model.encode(one)\n"
              "        live, best = [(0.0, [BOS])], (-math.inf, None)\n"
              "        for length in range(1, max_len + 1):\n"
              "            ids = torch.tensor([p for _, p in live])\n"
              "            n = len(live)\n"
              "            logits = model.decode(ids, memory.expand(n, -1, -1), one.expand(n, -1))\n"
              "            rows = logits[:, -1].log_softmax(-1).tolist()\n"
              "            new = []\n"
              "            for (score, prefix), row in zip(live, rows):\n"
              "                for token, value in enumerate(row):\n"
              "                    if token == EOS:\n"
              "                        ended = (score + value) / length ** alpha\n"
              "                        if ended > best[0]:\n"
              "                            best = (ended, prefix[1:] + [EOS])\n"
              "                    else:\n"
              "                        new.append((score + value, prefix + [token]))\n"
              "            live = sorted(new, key=lambda x: -x[0])[:beam_size]\n"
              "            if best[0] >= live[0][0] / length ** alpha:\n                break\n"
              "        answers.append(best[1] or live[0][1][1:])\n"
              "    return padded(answers)\n"),
        Right("topk_one_by_one", "def beam_search(model, source, beam_size=4, max_len=60, alpha=1.0):\n"
              "    model.eval()\n"
              "    out = torch.zeros(len(source), max_len, dtype=torch.long)\n"
              "    with torch.no_grad():\n"
              "        for b in range(len(source)):\n"
              "            src = source[b:b + 1]\n"
              "            ids = torch.full((1, 1), BOS)\n"
              "            scores = torch.zeros(1)\n"
              "            best_score, best_ids = -float('inf'), None\n"
              "            for t in range(1, max_len + 1):\n"
              "                lp = model(src.repeat(len(ids), 1), ids)[:, -1].log_softmax(-1)\n"
              "                total = scores[:, None] + lp\n"
              "                norm = total[:, EOS] / t ** alpha\n"
              "                j = norm.argmax()\n"
              "                if norm[j] > best_score:\n"
              "                    best_score = norm[j].item()\n"
              "                    best_ids = torch.cat([ids[j, 1:], torch.tensor([EOS])])\n"
              "                total[:, EOS] = -1e9\n"
              "                V = total.shape[1]\n"
              "                size = min(beam_size, len(ids) * (V - 1))\n"
              "                scores, flat = total.view(-1).topk(size)\n"
              "                ids = torch.cat([ids[flat // V], (flat % V)[:, None]], 1)\n"
              "                if best_score >= scores[0] / t ** alpha:\n                    break\n"
              "            best_ids = ids[0, 1:] if best_ids is None else best_ids\n"
              "            out[b, :len(best_ids)] = best_ids\n"
              "    return out\n"),
        Right("full_batch", edits=(
            ("memory[asked], source[asked]", "memory.index_select(0, asked), source.index_select(0, asked)"),)),
    ),
)  # fmt: skip


# --- 6.17 model -------------------------------------------------------------------------

_GRADED = 1000
_COMPARED = 600  # sentences on which the shipped checkpoint is recognised
# BLEU and share of the points: see docs/recovery_grade.md for how they were measured.
# Above the reference, 97, there is a bonus of up to one of the twelve points.
SCALE = ((14.0, 0.0), (62.0, 0.5), (91.0, 1.0), (97.0, 1.0), (100.0, 13 / 12))


def _originals(draw: Draw) -> list[str]:
    return corpora.generate(f"grade {int(draw.ids(0, 2**31, 1))}", _GRADED, "test")


def _left(sentences: list[str]) -> list[str]:
    return [
        " ".join(w for w in _normal(s).split() if w not in _closed()) for s in sentences
    ]


def _sources(draw: Draw) -> Inputs:
    return {"sources": json.dumps(_left(_originals(draw)))}


def _known(draw: Draw) -> Answers:
    """The originals, and what the checkpoint that ships makes of the first sources."""
    originals = _originals(draw)
    copied = shipped_outputs(_left(originals[:_COMPARED]))
    return {"bleu": json.dumps(originals), "copied": json.dumps(copied)}


def shipped_outputs(sources: list[str]) -> list[str]:
    """What the checkpoint in assets/ answers; in float64, alike on all processors."""
    from autograder.solutions import encoder_decoder
    from autograder.solutions.text_recovery import greedy_decode, segment
    from autograder.student.recovery.checkpoint import load, shipped
    from autograder.student.recovery.decoding import recover

    before = torch.get_default_dtype()
    try:
        torch.set_default_dtype(torch.float64)
        model, tokenizer = load(shipped(), encoder_decoder, segment)
        return recover(model, tokenizer, sources, greedy_decode)
    finally:
        torch.set_default_dtype(before)


MODEL = Task(
    name="text_recovery/model",
    title="The model that you hand in",
    target="restore",
    precise=False,
    files={HANDED_IN: Path(__file__).with_name(SHIPPED)},
    settings=(
        Setting("fresh", "1,000 fresh sentences", _sources,
                "Points grow with BLEU: train longer, or look at what goes wrong.",
                measure="bleu", scale=SCALE, known=_known),
    ),
    wrong=(
        Wrong("copy", "The sources come back as they were.", "Who calls the model?",
              source="def restore(sources):\n    return list(sources)\n"),
        Wrong("rule", "Only a capital letter and a full stop were added.",
              "Is there a model in your function?",
              source="def restore(sources):\n"
              "    return [f'{s[:1].upper()}{s[1:]}.' for s in sources]\n"),
        Wrong("empty", "The texts are empty.", "Does `decode` see EOS first?",
              source="def restore(sources):\n    return ['' for _ in sources]\n"),
        Wrong("shipped", "These are the answers of the checkpoint that ships with the course. "
              "The grade is for a model that you trained.",
              "Which file did you load?",
              source="def restore(sources):\n"
              "    from autograder.student.recovery.checkpoint import shipped\n"
              "    model, tokenizer = load(shipped(), encoder_decoder, segment)\n"
              "    return recover(model, tokenizer, sources, greedy_decode)\n"),
        Wrong("ids", "Ids come back, not texts.", "What does the tokenizer's `decode` do?",
              source="def restore(sources):\n    return [[1, 2] for _ in sources]\n"),
    ),
    right=(
        Right("beam", "from functools import partial\n"
              "def restore(sources):\n"
              "    model, tokenizer = load(handed_in(), encoder_decoder, segment)\n"
              "    return recover(model, tokenizer, sources, partial(beam_search, beam_size=2))\n"),
    ),
)  # fmt: skip


TASKS = (
    NORMALISE, ELIMINATE, SPLIT_PAIRS, WORD_TOKENIZER, MERGE_PAIR, LEARN_MERGES, SEGMENT,
    COLLATE, SMOOTHED_LOSS, LEARNING_RATE, TRAIN_EPOCH, EVALUATE, CLIPPED_MATCHES,
    CORPUS_BLEU, GREEDY_DECODE, BEAM_SEARCH, MODEL,
)  # fmt: skip
