"""The grammar of the embedded corpus: who acts, on what, and in which tense.

A clause begins as a triple (subject, verb, object) of words that go together. A
hash of the triple decides its split, so train, dev and test share none.
"""

from __future__ import annotations

import functools
import hashlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from transformer_course.library.words import (
    FOREIGN,
    KIN,
    MEN,
    MIND,
    MOODS,
    NUMBERS,
    OWN,
    WOMEN,
    Noun,
    Topic,
    Verb,
    article,
    plural_of,
    topics,
)

T = TypeVar("T")


def split_of(*triple: str) -> str:
    """The split that a triple belongs to: one in 20 to test, one in 20 to dev."""
    digest = hashlib.sha256("|".join(triple).encode()).digest()
    number = int.from_bytes(digest[:4], "big") % 20
    return {0: "test", 1: "dev"}.get(number, "train")


@dataclass(frozen=True)
class Person:
    """The subject of a clause, a person or thing: ``text`` names it, as in "my aunt".

    ``lemma`` is its noun or names, as in "aunt"; ``pronoun`` is "" if unknown.
    """

    text: str
    lemma: str
    pronoun: str

    @property
    def takes_plural_verb(self) -> bool:
        return self.pronoun in ("they", "we", "you", "I")

    @property
    def possessive(self) -> str:
        """The possessive determiner, or "the" if the pronoun is unknown."""
        return {"she": "her", "he": "his", "they": "their", "I": "my", "you": "your",
                "we": "our", "it": "its"}.get(self.pronoun, "the")  # fmt: skip

    def be(self, past: bool = False) -> str:
        """The form of "to be" for this subject: am, are, is, was or were."""
        if self.pronoun == "I":
            return "was" if past else "am"
        plural, single = ("were", "was") if past else ("are", "is")
        return plural if self.takes_plural_verb else single

    def have(self) -> str:
        """The form of "to have" for this subject: have or has."""
        return "have" if self.takes_plural_verb else "has"

    def do(self) -> str:
        """The form of "to do" for this subject: do or does."""
        return "do" if self.takes_plural_verb else "does"


class UnsaidError(Exception):
    """The error raised if none of 300 draws belongs to the writer's split."""


ME, YOU = Person("I", "", "I"), Person("you", "", "you")


@dataclass(frozen=True)
class Deed:
    """A clause before it is put into words: a person, a verb and perhaps an object."""

    subject: Person
    verb: Verb
    noun: Noun | None
    topic: Topic

    @property
    def object(self) -> Noun:
        """The object; raises AssertionError if the deed has none."""
        assert self.noun is not None, f"{self.verb.base} has no object"
        return self.noun


class Writer:
    """Draws random words and clauses of one split, reproducibly from one seed."""

    def __init__(self, seed: int | str, split: str):
        self._random, self.split = random.Random(str(seed)), split

    # Only Random.random() is guaranteed to return the same in all Python versions.
    def chance(self, share: float) -> bool:
        """True with the given probability."""
        return self._random.random() < share

    def pick(self, options: Sequence[T]) -> T:
        """One of the options at random."""
        return options[int(self._random.random() * len(options))]

    def draw_in_split(
        self, draw: Callable[[], T], triple: Callable[[T], tuple[str, str, str]]
    ) -> T:
        """Draw candidates until one belongs to the writer's split.

        ``triple`` maps a candidate to what decides its split, such as (subject, verb,
        object). Raises UnsaidError if none of 300 candidates belongs to it.
        """
        for _ in range(300):
            candidate = draw()
            if split_of(*triple(candidate)) == self.split:
                return candidate
        raise UnsaidError

    # --- who --------------------------------------------------------------------------

    def topic(self) -> Topic:
        """A random topic."""
        return self.pick(topics())

    def acquaintance(self) -> Person:
        """A person whose pronoun is known: "Anna", "my uncle" or "Anna and Peter"."""
        if self.chance(0.15):
            return self.pair()
        pronoun = self.pick(("she", "he"))
        if self.chance(0.25):
            kin = self.pick(KIN[pronoun])
            return Person(f"my {kin}", kin, pronoun)
        name = self.pick(WOMEN if pronoun == "she" else MEN)
        return Person(name, name, pronoun)

    def name(self) -> str:
        """A first name."""
        return self.pick(WOMEN + MEN)

    def pair(self) -> Person:
        """Two people by name."""
        first, second = self.name(), self.name()
        if first == second:
            return self.pair()
        return Person(f"{first} and {second}", f"{first} {second}", "they")

    def worker(self, topic: Topic) -> Person:
        """People known by trade: "the baker", "a happy baker" or "two bakers"."""
        trade = self.pick(topic.people)
        kind = self._random.random()
        if kind < 0.25:
            many = self.pick((*NUMBERS[:6], "several", "many"))
            return Person(f"{many} {plural_of(trade)}", trade, "they")
        if kind < 0.55:
            phrase = f"{self.pick(MOODS)} {trade}"
            return Person(f"{article(phrase)} {phrase}", trade, "")
        return Person(f"the {trade}", trade, "")

    def person(self, topic: Topic) -> Person:
        """Someone by name or by trade."""
        return self.acquaintance() if self.chance(0.6) else self.worker(topic)

    # --- what -------------------------------------------------------------------------

    def deed(
        self,
        topic: Topic | None = None,
        subject: Person | None = None,
        plain: bool = False,
        intended: bool = False,
    ) -> Deed:
        """Return a random deed with an object.

        Args:
            topic, subject: random if None.
            plain: whether to use only verbs without a particle.
            intended: whether to leave out mishaps.

        Raises:
            UnsaidError: none of 300 draws belongs to the writer's split.
        """

        def draw() -> Deed:
            about = topic or self.topic()
            verbs = _select_verbs(about.name, plain, intended, subject is not None)
            verb = self.pick(verbs)
            # Drawn even if a subject is given: otherwise all later draws would change.
            doer = self.worker(about) if verb.kind == "pro" else self.person(about)
            return Deed(subject or doer, verb, self.pick(verb.objects), about)

        return self.draw_in_split(draw, _list_triple)

    def act(self, topic: Topic | None = None, subject: Person | None = None) -> Deed:
        """A random deed without an object."""

        def draw() -> Deed:
            about = topic or self.topic()
            doer = subject or self.person(about)
            return Deed(doer, self.pick(about.acts), None, about)

        return self.draw_in_split(draw, _list_triple)

    def remark(self, topic: Topic | None = None) -> tuple[Noun, str, Topic]:
        """A random noun, a remark that fits it, and their topic."""

        def draw() -> tuple[Noun, str, Topic]:
            about = topic or self.topic()
            noun = self.pick(about.all_nouns)
            return noun, self.pick(noun.remarks), about

        # The triple (noun, "be", remark): such a sentence is in one split only, too.
        return self.draw_in_split(draw, lambda d: (d[0].word, "be", d[1]))

    # --- noun phrases -----------------------------------------------------------------

    def object(self, deed: Deed, definite: bool = False) -> str:
        """Return the object of a deed as a noun phrase, with a determiner if needed.

        Things that people own usually get a possessive, others "the" if ``definite``.
        """
        noun, many = deed.object, deed.subject.pronoun == "they"
        kind = f"{self.pick(noun.adjectives)} " if self.chance(0.45) else ""
        # Verbs in FOREIGN, such as "steal", act on things of others.
        if OWN in noun.mark and deed.verb.base not in FOREIGN:
            return (
                f"{deed.subject.possessive} {kind}{noun.plural if many else noun.word}"
            )
        if definite:
            several = not noun.single and self.chance(0.3)
            return f"{the(noun)}{kind}{noun.plural if several else noun.word}"
        if noun.mass:
            bare = kind or MIND in noun.mark
            return f"{kind}{noun.word}" if bare else f"some {noun.word}"
        if not noun.single and kind and self.chance(0.35):
            return f"{kind}{noun.plural}"
        if not noun.single and self.chance(0.12):
            return f"{self.pick(NUMBERS[:4])} {kind}{noun.plural}"
        return f"{article(kind + noun.word)} {kind}{noun.word}"

    def none(self, deed: Deed) -> str:
        """The object in a negated sentence, such as "any apples"."""
        if deed.object.mark in ("", "*"):
            noun = deed.object
            return f"any {noun.word if noun.mass else noun.plural}"
        return self.object(deed, definite=True)

    def definite(self, noun: Noun) -> Person:
        """A subject with a definite article: "the ring" or "the rings"."""
        if not noun.single and self.chance(0.25):
            return Person(f"the {noun.plural}", noun.word, "they")
        return self.definite_singular(noun)

    @staticmethod
    def definite_singular(noun: Noun) -> Person:
        """A definite singular noun phrase as a subject: "the ring", but "history"."""
        return Person(f"{the(noun)}{noun.word}", noun.word, "it")


@functools.cache
def _select_verbs(
    topic: str, plain: bool, intended: bool, has_subject: bool
) -> list[Verb]:
    """Select a topic's verbs for a deed, with the options of `Writer.deed`.

    If a subject is already chosen, verbs for professionals are left out, since it
    may have no trade.
    """
    (about,) = (candidate for candidate in topics() if candidate.name == topic)
    return [
        verb
        for verb in about.verbs
        if not (plain and verb.particle)
        and not (intended and verb.kind == "mis")
        and not (has_subject and verb.kind == "pro")
    ]


def the(noun: Noun) -> str:
    """The definite article and a space; "" for abstract uncountable nouns."""
    return "" if MIND in noun.mark else "the "


def _list_triple(deed: Deed) -> tuple[str, str, str]:
    """Return a deed's (subject, verb, object) as lemmas; "" for no object."""
    return deed.subject.lemma, deed.verb.base, deed.noun.word if deed.noun else ""


def by(deed: Deed, subject: Person) -> Deed:
    """A copy of the deed with a different subject."""
    return replace(deed, subject=subject)
