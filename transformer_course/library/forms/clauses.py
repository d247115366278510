"""Sentences of one clause."""

from __future__ import annotations

from transformer_course.library import tenses
from transformer_course.library.forms.phrases import (
    FUTURE,
    PAST,
    any_deed,
    in_words,
    timed,
)
from transformer_course.library.grammar import Person, Writer
from transformer_course.library.words import (
    CITIES,
    DAYS,
    MORE,
    NUMBERS,
    Noun,
    Topic,
    article,
)

HABIT = ("every day", "every morning", "every evening", "every winter", "once a week",
         "twice a year", *(f"on {day}s" for day in DAYS))  # fmt: skip
NOW = ("at the moment", "right now")
OFTEN = ("always", "often", "sometimes", "rarely", "never", "usually")
# Passing states of a thing: sentences with them name a time.
PASSING = ("still warm", "too hot", "almost cold", "clean", "dirty", "empty", "hungry",
           "wet", "asleep", "too wet", "out of order", "very noisy", "out of tune",
           "sold out", "closed", "open", "half an hour late", "still muddy", "swollen",
           "badly torn", "very painful", "hard to find")  # fmt: skip
VEHICLES = ("train", "bus", "car", "plane", "ship")
TENS = ("ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty")


def in_the_past(w: Writer) -> str:
    deed = any_deed(w)
    return timed(w, in_words(w, deed, tenses.past(deed)), w.pick(PAST))


def not_done(w: Writer) -> str:
    deed = w.deed(meant=True)
    tense, times = tenses.not_present, HABIT
    if w.chance(0.6):
        tense, times = tenses.not_past, PAST
    clause = f"{deed.who.text} {tense(deed)} {w.none(deed)}"
    return timed(w, clause, w.pick(times))


def told(w: Writer) -> str:
    deed = w.deed()
    return in_words(w, deed, tenses.past(deed), ending=1.0) + "."


def as_a_habit(w: Writer) -> str:
    deed = any_deed(w)
    if w.chance(0.5):
        return in_words(w, deed, tenses.present(deed, w.pick(OFTEN))) + "."
    return timed(w, in_words(w, deed, tenses.present(deed), 0.3), w.pick(HABIT))


def just_now(w: Writer) -> str:
    deed = any_deed(w, meant=True)
    clause = in_words(w, deed, tenses.progressive(deed), definite=True)
    return timed(w, clause, w.pick(NOW))


def in_the_future(w: Writer) -> str:
    deed = any_deed(w, meant=True)
    clause = in_words(w, deed, tenses.future(deed), definite=True)
    return timed(w, clause, w.pick(FUTURE))


def already_done(w: Writer) -> str:
    deed = w.deed()
    adverb = w.pick(("already", "just", "never"))
    verb = tenses.perfect(deed, adverb)
    return in_words(w, deed, verb, 0.3, definite=adverb != "never") + "."


def able(w: Writer) -> str:
    deed = w.deed(plain=True, meant=True)
    verb, how = ("can", "easily") if w.chance(0.5) else ("must", "immediately")
    return f"{deed.who.text} {verb} {tenses.infinitive(deed)} {w.object(deed)} {how}."


def remarked(w: Writer) -> str:
    noun, remark, _ = w.remark()
    thing = w.thing(noun) if remark.startswith("a ") else w.known(noun)
    if remark in PASSING and w.chance(0.5):
        return f"{thing.text} {thing.be(past=True)} {remark} {w.pick(PAST)}."
    return f"{thing.text} {thing.be()} {remark}."


def there_is(w: Writer) -> str:
    def draw() -> tuple[Noun, str]:
        nouns, places = w.topic().there
        return w.pick(nouns), w.pick(places)

    noun, place = w.drawn(draw, lambda d: (d[0].word, "there", d[1]))
    kind = f"{w.pick(noun.adjectives)} " if w.chance(0.6) else ""
    if w.chance(0.4):
        return f"there are {w.pick(NUMBERS)} {kind}{noun.plural} {place}."
    return f"there is {article(kind + noun.word)} {kind}{noun.word} {place}."


def compared(w: Writer) -> str:
    def draw() -> tuple[Noun, Noun, str]:
        topic = w.topic()
        nouns = w.pick(list(topic.nouns.values()))
        return w.pick(nouns), w.pick(nouns), w.pick(nouns[0].adjectives)

    first, second, adjective = w.drawn(draw, lambda d: (d[0].word, d[2], d[1].word))
    if first == second or adjective not in MORE:
        return compared(w)
    here, there = w.thing(first).text, w.thing(second).text
    return f"{here} is {MORE[adjective]} than {there}."


def priced(w: Writer) -> str:
    def draw() -> tuple[Noun, str]:
        topic = w.topic()
        things = [n for n in topic.gifts if not n.mass]
        return w.pick(things), w.pick((*NUMBERS, *TENS))

    noun, number = w.drawn(draw, lambda d: (d[0].word, "cost", d[1]))
    kind = f"{w.pick(noun.adjectives)} " if w.chance(0.7) else ""
    verb = w.pick(("costs", "cost"))
    time = " last year" if verb == "cost" else ""
    return f"the {kind}{noun.word} {verb} {number} dollars{time}."


def journey(w: Writer) -> str:
    def draw() -> tuple[Person, str, str]:
        return w.named(), w.pick(CITIES), w.pick(CITIES)

    who, here, there = w.drawn(draw, lambda d: (d[0].lemma, d[1], d[2]))
    if here == there:
        return journey(w)
    clause = f"{who.text} travelled from {here} to {there} by {w.pick(VEHICLES)}"
    return timed(w, clause, w.pick(PAST))


def life(w: Writer) -> str:
    def draw() -> tuple[Person, str, str]:
        return w.named(), w.pick(CITIES), str(1951 + 3 * w.pick(range(20)))

    who, city, year = w.drawn(draw, lambda d: (d[0].lemma, d[1], d[2]))
    kind = w.pick(range(3))
    if kind == 0:
        return f"{who.text} {who.be(past=True)} born in {city} in {year}."
    if kind == 1:
        return f"{who.text} moved to {city} in {year}."
    verb = "live" if who.plural else "lives"
    return f"{who.text} {verb} in {city} with {w.pick(NUMBERS)} cats."


def passive(w: Writer) -> str:
    deed = w.deed(plain=True, meant=True)
    thing = w.known(deed.thing)
    clause = f"{thing.text} {thing.be(past=True)} {deed.verb.participle}"
    return f"{clause} by {deed.who.text} {w.pick(PAST)}."


def gift(w: Writer) -> str:
    verbs = {"give": "gave", "show": "showed", "lend": "lent", "offer": "offered",
             "send": "sent", "bring": "brought"}  # fmt: skip

    def draw() -> tuple[Person, str, Noun, Topic]:
        topic = w.topic()
        return w.person(topic), w.pick(list(verbs)), w.pick(topic.gifts), topic

    who, verb, noun, topic = w.drawn(draw, lambda d: (d[0].lemma, d[1], d[2].word))
    other = w.name() if w.chance(0.6) else f"the {w.pick(topic.people)}"
    kind = f"{w.pick(noun.adjectives)} " if w.chance(0.5) else ""
    thing = f"{article(kind + noun.word)} {kind}{noun.word}"
    if noun.mass:
        thing = f"{kind}{noun.word}" if kind else f"some {noun.word}"
    return timed(w, f"{who.text} {verbs[verb]} {other} {thing}", w.pick(PAST))
