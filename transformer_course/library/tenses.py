"""Verb phrases of the embedded corpus: the verb of a clause in each of the tenses.

A particle, such as "for" in "look for", follows the verb.
"""

from __future__ import annotations

from transformer_course.library.grammar import Deed


def past(deed: Deed) -> str:
    """The simple past, as in "baked"."""
    return _add_particle(deed, deed.verb.past)


def not_past(deed: Deed) -> str:
    """The negated simple past, as in "did not bake"."""
    return _add_particle(deed, f"did not {deed.verb.base}")


def present(deed: Deed, adverb: str = "") -> str:
    """The simple present, as in "often bakes"."""
    form = deed.verb.base if deed.subject.takes_plural_verb else deed.verb.third
    return _add_particle(deed, f"{adverb} {form}".strip())


def not_present(deed: Deed) -> str:
    """The negated simple present, as in "does not bake"."""
    return _add_particle(deed, f"{deed.subject.do()} not {deed.verb.base}")


def progressive(deed: Deed, before: bool = False) -> str:
    """The present or past progressive, as in "is baking" or "was baking"."""
    return _add_particle(deed, f"{deed.subject.be(before)} {deed.verb.ing}")


def future(deed: Deed) -> str:
    """The future, as in "will bake"."""
    return _add_particle(deed, f"will {deed.verb.base}")


def perfect(deed: Deed, adverb: str) -> str:
    """The present perfect, as in "has already baked"."""
    return _add_particle(deed, f"{deed.subject.have()} {adverb} {deed.verb.participle}")


def past_perfect(deed: Deed) -> str:
    """The past perfect, as in "had baked"."""
    return _add_particle(deed, f"had {deed.verb.participle}")


def infinitive(deed: Deed) -> str:
    """The infinitive, as in "bake"."""
    return _add_particle(deed, deed.verb.base)


def gerund(deed: Deed) -> str:
    """The gerund, as in "baking"."""
    return _add_particle(deed, deed.verb.ing)


def _add_particle(deed: Deed, verb: str) -> str:
    """A form of the verb, followed by its particle if it has one."""
    return f"{verb} {deed.verb.particle}".strip()
