"""The vocabulary of the course's generated corpus, and rules to inflect its words.

lexicon.txt has nouns and verbs by topic; lists.txt has names, cities and more.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field, replace
from pathlib import Path

LEXICON = Path(__file__).with_name("lexicon.txt")


def lists(file: str) -> dict[str, list[str]]:
    """Read a file in this folder, and map the name of each word list to its words.

    A line is one list, such as "days: Monday Tuesday", or a comment with "#".
    """
    lines = LEXICON.with_name(file).read_text(encoding="utf-8").splitlines()
    pairs = (line.split(": ") for line in lines if not line.startswith("#"))
    return {name: words.split() for name, words in pairs}


LISTS = lists("lists.txt")
WOMEN, MEN, CITIES, DAYS = (LISTS[name] for name in ("women", "men", "cities", "days"))
NUMBERS, MOODS, FOREIGN = (LISTS[name] for name in ("numbers", "moods", "foreign"))
KIN = {pronoun: LISTS[pronoun] for pronoun in ("she", "he")}

MASS, MIND, ONE, OWN, BODY = "*=!~^"  # the marks of lexicon.txt
MARKS = MASS + MIND + ONE + OWN + BODY
_WITHOUT_MARKS = str.maketrans("", "", MARKS)

# Comparatives, for the adjectives that have one; others have not ("more wooden").
MORE = {word: f"more {word}" for word in LISTS["long"]}
MORE |= dict(pair.split("/") for pair in LISTS["short"])


@dataclass(frozen=True)
class Noun:
    """A noun, with the adjectives and remarks (such as "too sweet") that fit it.

    ``mark`` has a character for each property, such as "*" for "uncountable".
    """

    word: str
    plural: str
    mark: str
    adjectives: tuple[str, ...]
    remarks: tuple[str, ...]

    @property
    def mass(self) -> bool:
        """Whether the noun is uncountable: it has no plural and never gets "a"."""
        return bool({MASS, MIND} & set(self.mark))

    @property
    def single(self) -> bool:
        """Whether the noun is used in the singular only."""
        return self.mass or ONE in self.mark


@dataclass(frozen=True)
class Verb:
    """A verb's forms, and what may follow it in a generated sentence.

    ``particle`` is "for" in "look for"; ``manner`` is a phrase like "with a smile".
    ``kind`` is "do", "pro" (done only by people of the topic, such as a cook) or
    "mis" (a mishap). A ``placeless`` verb gets none of the topic's places.
    """

    base: str
    past: str
    participle: str
    particle: str = ""
    objects: tuple[Noun, ...] = ()
    manner: str = ""
    kind: str = "do"
    placeless: bool = False

    @property
    def third(self) -> str:
        """The third person singular: "bakes"."""
        return plural_of(self.base)

    @property
    def ing(self) -> str:
        """The present participle; a letter doubles as in the past: "cancelling"."""
        doubled = self.base + self.base[-1]
        if self.past == f"{doubled}ed":
            return f"{doubled}ing"
        return ing_of(self.base)


@dataclass
class Topic:
    """An area of life, such as a kitchen, with its people, places, things and actions.

    ``nouns`` maps the name of a group, such as "pastry", to its nouns. ``because``
    are reasons, ``acts`` verbs without an object, ``gifts`` nouns that can be given
    or sold, and ``scenes`` things and places for "there is" sentences.
    """

    name: str
    people: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    because: tuple[str, ...] = ()
    nouns: dict[str, tuple[Noun, ...]] = field(default_factory=dict)
    verbs: list[Verb] = field(default_factory=list)
    acts: tuple[Verb, ...] = ()
    gifts: tuple[Noun, ...] = ()
    scenes: tuple[tuple[Noun, ...], tuple[str, ...]] = ((), ())

    @property
    def all_nouns(self) -> tuple[Noun, ...]:
        """All nouns of the topic."""
        return tuple(noun for nouns in self.nouns.values() for noun in nouns)


@functools.cache
def topics() -> tuple[Topic, ...]:
    """The topics of lexicon.txt, in its order."""
    parsed: list[Topic] = []
    for line in LEXICON.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            parsed.append(Topic(line.strip("[]")))
        elif line and not line.startswith("#"):
            head, _, text = line.partition(":")
            kind, _, name = head.partition(" ")
            _read_line(parsed[-1], kind, name, text.strip())
    return tuple(parsed)


def _read_line(topic: Topic, kind: str, name: str, text: str) -> None:
    """Add the contents of a line in lexicon.txt, "kind name: text", to a topic.

    The comments at the start of that file define each kind, such as "mis" (a mishap).
    """
    match kind:
        case "people":
            topic.people = tuple(text.split(", "))
        case "places":
            topic.places = tuple(text.split("; "))
        case "because":
            topic.because = tuple(text.split("; "))
        case "noun":
            topic.nouns[name] = _parse_nouns(text)
        case "do" | "pro" | "mis":
            topic.verbs.append(_parse_verb(topic, name, text, kind))
        case "act":
            topic.acts = tuple(_parse_forms(act) for act in text.split(", "))
        case "give":
            topic.gifts = _find_nouns(topic, text.split())
        case "there":
            nouns, _, places = text.partition(" | ")
            topic.scenes = _find_nouns(topic, nouns.split()), tuple(places.split("; "))
        case _:
            raise ValueError(f"lexicon.txt: {kind!r} in [{topic.name}]")


def _parse_nouns(text: str) -> tuple[Noun, ...]:
    """Parse "nouns | adjectives | remarks", where all nouns share the other two."""
    words, adjectives_text, remarks_text = (part.strip() for part in text.split("|"))
    adjectives = tuple(adjectives_text.split(", "))
    remarks = tuple(remarks_text.split("; "))
    return tuple(_parse_noun(word, adjectives, remarks) for word in words.split(", "))


def _parse_noun(
    text: str, adjectives: tuple[str, ...], remarks: tuple[str, ...]
) -> Noun:
    """Parse a noun with its marks, and with its plural if that is irregular."""
    mark = "".join(c for c in text if c in MARKS)
    word, _, plural = text.translate(_WITHOUT_MARKS).partition("/")
    return Noun(word, plural or plural_of(word), mark, adjectives, remarks)


def _parse_verb(topic: Topic, forms: str, text: str, kind: str) -> Verb:
    """Parse a verb of lexicon.txt: its forms, and the text "objects | manner".

    A manner that starts with "!" makes the verb placeless (see `Verb`).
    """
    objects, _, manner = (part.strip() for part in text.partition("|"))
    return replace(
        _parse_forms(forms), objects=_find_nouns(topic, objects.split()),
        manner=manner.strip("! "), kind=kind, placeless=manner[:1] == "!",
    )  # fmt: skip


def _parse_forms(text: str) -> Verb:
    """Parse "base/past/participle particle", of which only the base is required."""
    forms, _, particle = text.partition(" ")
    base, past, participle = (*forms.split("/"), "", "")[:3]
    past = past or past_of(base)
    return Verb(base, past, participle or past, particle)


def _find_nouns(topic: Topic, names: list[str]) -> tuple[Noun, ...]:
    """Return the topic's nouns for these names, each of a group or of one noun.

    For example, "pastry" stands for all nouns of this group, and "goat" for itself.
    """
    single = {noun.word: (noun,) for noun in topic.all_nouns}
    return tuple(
        noun for name in names for noun in topic.nouns.get(name) or single[name]
    )


def plural_of(word: str) -> str:
    """The regular plural of a noun; also the third person of a verb."""
    if word.endswith("man"):
        return f"{word[:-3]}men"
    if re.search(r"(s|x|z|ch|sh)$", word):
        return word + "es"
    if re.search(r"[^aeiou]y$", word):
        return word[:-1] + "ies"
    return word + ("es" if word in ("go", "do", "echo") else "s")


def past_of(verb: str) -> str:
    """The regular past of a verb."""
    if verb.endswith("e"):
        return verb + "d"
    if re.search(r"[^aeiou]y$", verb):
        return verb[:-1] + "ied"
    return verb + "ed"


def ing_of(verb: str) -> str:
    """The present participle; short verbs double their last letter ("running")."""
    is_short = len(re.findall(r"[aeiou]+", verb)) == 1
    doubles = is_short and re.search(r"[^aeiouy][aeiou][bdgmnprt]$", verb)
    if doubles or verb in ("forget", "begin", "admit"):
        return verb + verb[-1] + "ing"
    return (verb[:-1] if re.search(r"[^eo]e$", verb) else verb) + "ing"


def article(phrase: str) -> str:
    """The indefinite article of a phrase, "a" or "an", by its first sound."""
    if re.match(r"(uni|use|eu|one\b)", phrase):
        return "a"
    return "an" if re.match(r"([aeiou]|hour|honest)", phrase) else "a"
