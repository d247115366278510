"""Sentences of two clauses."""

from __future__ import annotations

from transformer_course.library import tenses
from transformer_course.library.forms.phrases import (
    PAST,
    any_deed,
    how_or_where,
    in_words,
)
from transformer_course.library.grammar import Person, Writer, by
from transformer_course.library.words import CITIES, DAYS, KIN, article

STATES = ("tired", "ill", "nervous", "late", "hungry", "cold", "unhappy", "busy")
EVENTS = ("the telephone rang", "the lights went out", "the rain started",
          "the bell rang", "a dog barked", "the sun set", "the guests arrived",
          "an old friend called", "the clock struck ten",
          "it began to snow")  # fmt: skip
CHARACTERS = ("brave", "careful", "clever", "clumsy", "polite", "proud", "lazy", "shy")
HOPES = ("hoped", "wanted", "decided", "tried", "refused")
REPORTS = ("said", "promised", "announced", "remembered", "claimed")
EVENINGS = ("went to bed", "left the house", "fell asleep", "went to work",
            "had breakfast", "said goodbye")  # fmt: skip
OPINIONS = ("thinks", "believes", "knows", "says", "hopes")
RELATED = ("neighbour", "best friend", "cousin", "boss", "teacher")


def meanwhile(w: Writer) -> str:
    topic = w.topic()
    first, second = w.deed(topic, meant=True), w.act(topic, w.named())
    if first.who.lemma == second.who.lemma:
        return meanwhile(w)
    verb = tenses.progressive(first, before=True)
    here = in_words(w, first, verb, 0.3, definite=True)
    there = f"{second.who.text} {tenses.progressive(second, before=True)}"
    return f"while {here}, {there}." if w.chance(0.5) else f"{here} while {there}."


def because(w: Writer) -> str:
    topic = w.topic()
    who = w.named()
    deed = w.deed(topic, who) if w.chance(0.7) else w.act(topic, who)
    reason = w.pick(topic.because)
    if reason.startswith("S was"):
        reason = reason.replace("S was", f"{who.pronoun} {who.be(past=True)}")
    return f"{in_words(w, deed, tenses.past(deed), 0.4)} because {reason}."


def although(w: Writer) -> str:
    who = w.named()
    deed = w.deed(who=who)
    state = w.pick(STATES)
    deed = by(deed, Person(who.pronoun, who.lemma, who.pronoun))
    rest = in_words(w, deed, tenses.past(deed), definite=True)
    clause = f"although {who.text} {who.be(past=True)} {state}"
    return f"{clause}, {rest}."


def when(w: Writer) -> str:
    deed, event = any_deed(w), w.pick(EVENTS)
    verb = tenses.progressive(deed, before=True)
    clause = in_words(w, deed, verb, 0.4, definite=True)
    return f"when {event}, {clause}." if w.chance(0.5) else f"{clause} when {event}."


def after(w: Writer) -> str:
    topic, who = w.topic(), w.named()
    first, second = w.deed(topic, who), w.deed(topic, who)
    if first.thing == second.thing:
        return after(w)
    start = f"{tenses.gerund(first)} {w.object(first)}"
    return f"after {start}, {in_words(w, second, tenses.past(second), 0.3)}."


def before(w: Writer) -> str:
    who, habit = w.named(), w.pick(EVENINGS)
    deed = w.deed(who=who, meant=True)
    verb = tenses.past(deed)
    if w.chance(0.5):
        clause = in_words(w, deed, verb, 0.3, definite=True)
        return f"before {who.pronoun} {habit}, {clause}."
    return f"{in_words(w, deed, verb, 0, definite=True)} before {who.pronoun} {habit}."


def reported(w: Writer) -> str:
    who = w.named()
    deed = w.deed(who=who, meant=True)
    clause = f"{who.text} {w.pick(REPORTS)} that {who.pronoun}"
    if w.chance(0.5):
        return f"{clause} would {tenses.infinitive(deed)} {w.object(deed, True)}."
    verb = tenses.past_perfect(deed)
    return f"{clause} {verb} {w.object(deed, True)} {w.pick(PAST)}."


def asked_to(w: Writer) -> str:
    who, other = w.named(), w.name()
    deed = w.deed(who=Person(other, other, ""), meant=True)
    act = f"{tenses.infinitive(deed)} {w.object(deed, definite=True)}"
    if w.chance(0.4):
        return f"{who.text} advised {other} not to {act}."
    return f"{who.text} {w.pick(('asked', 'helped', 'persuaded'))} {other} to {act}."


def handed_on(w: Writer) -> str:
    deed = w.deed(who=w.named(), plain=True, meant=True)
    if deed.thing.mark:
        return handed_on(w)
    thing, verb = w.object(deed), w.pick(("gave", "showed", "sold", "brought"))
    it = "it" if thing.startswith(("a ", "an ")) else "them"
    return f"{deed.who.text} {tenses.past(deed)} {thing} and {verb} {it} to {w.name()}."


def wanted(w: Writer) -> str:
    who = w.named()
    deed = w.deed(who=who, meant=True)
    clause = f"{who.text} {w.pick(HOPES)} to {tenses.infinitive(deed)}"
    return f"{clause} {w.object(deed)}{how_or_where(w, deed)}."


def two_things(w: Writer) -> str:
    topic, who = w.topic(), w.named()
    first, second = w.deed(topic, who), w.deed(topic, who)
    if first.thing == second.thing:
        return two_things(w)
    here = f"{who.text} {tenses.past(first)} {w.object(first)}"
    return f"{here} and {tenses.past(second)} {w.object(second)}."


def whose(w: Writer) -> str:
    topic = w.topic()
    deed = w.deed(topic, Person("who", w.pick(topic.people), ""))
    city, thing = w.pick(CITIES), w.object(deed)
    rest = f"lives in {city}" if w.chance(0.5) else f"is my {w.pick(RELATED)}"
    return f"the {deed.who.lemma} who {tenses.past(deed)} {thing} {rest}."


def which(w: Writer) -> str:
    deed = w.deed(who=w.named(), plain=True)
    thing = w.thing(deed.thing)
    remarks = [r for r in deed.thing.remarks if not r.startswith("a ")]
    clause = f"{thing.text} that {deed.who.text} {deed.verb.past}"
    return f"{clause} {w.pick(PAST)} was {w.pick(remarks)}."


def opinion(w: Writer) -> str:
    noun, remark, _ = w.remark()
    who, thing = w.named(), w.known(noun)
    if who.plural or remark.startswith("a "):
        return opinion(w)
    return f"{who.text} {w.pick(OPINIONS)} that {thing.text} {thing.be()} {remark}."


def condition(w: Writer) -> str:
    deed = w.deed(who=w.named(), meant=True)
    times = ("tomorrow", "next week", "next month", *(f"next {day}" for day in DAYS))
    weather = w.pick(("it rains", "the weather is good", "it snows", "it is cold"))
    clause = in_words(w, deed, tenses.future(deed), 0.4, definite=True)
    return f"if {weather} {w.pick(times)}, {clause}."


def described(w: Writer) -> str:
    """A mood and a deed: "My uncle, a proud man, ..." """
    pronoun = w.pick(("she", "he"))
    kin = w.pick(KIN[pronoun])
    deed = w.deed(who=Person(f"my {kin}", kin, pronoun))
    phrase = f"{w.pick(CHARACTERS)} {'woman' if pronoun == 'she' else 'man'}"
    clause = f"my {kin}, {article(phrase)} {phrase}, {tenses.past(deed)}"
    return f"{clause} {w.object(deed)}{how_or_where(w, deed, 0.4)}."
