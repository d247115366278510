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
# Temporary states of a thing, which a sentence may put into the past.
PASSING = ("still warm", "too hot", "almost cold", "clean", "dirty", "empty", "hungry",
           "wet", "asleep", "too wet", "out of order", "very noisy", "out of tune",
           "sold out", "closed", "open", "half an hour late", "still muddy", "swollen",
           "badly torn", "very painful", "hard to find")  # fmt: skip
VEHICLES = ("train", "bus", "car", "plane", "ship")
TENS = ("ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty")


def in_the_past(w: Writer) -> str:
    """A sentence such as "Anna baked a cake in the kitchen yesterday."."""
    deed = any_deed(w)
    return timed(w, in_words(w, deed, tenses.past(deed)), w.pick(PAST))


def not_done(w: Writer) -> str:
    """A negated sentence, such as "She did not buy any apples yesterday."."""
    deed = w.deed(intended=True)
    tense, times = tenses.not_present, HABIT
    if w.chance(0.6):
        tense, times = tenses.not_past, PAST
    clause = f"{deed.subject.text} {tense(deed)} {w.none(deed)}"
    return timed(w, clause, w.pick(times))


def statement(w: Writer) -> str:
    """A sentence such as "Anna baked a cake with great care."."""
    deed = w.deed()
    return in_words(w, deed, tenses.past(deed), ending=1.0) + "."


def as_a_habit(w: Writer) -> str:
    """A habit: "Anna often bakes a cake." or "Anna bakes a cake every day."."""
    deed = any_deed(w)
    if w.chance(0.5):
        return in_words(w, deed, tenses.present(deed, w.pick(OFTEN))) + "."
    return timed(w, in_words(w, deed, tenses.present(deed), 0.3), w.pick(HABIT))


def just_now(w: Writer) -> str:
    """A sentence such as "Anna is baking the cake right now."."""
    deed = any_deed(w, intended=True)
    clause = in_words(w, deed, tenses.progressive(deed), definite=True)
    return timed(w, clause, w.pick(NOW))


def in_the_future(w: Writer) -> str:
    """A sentence like: Anna will bake the cake tomorrow."""
    deed = any_deed(w, intended=True)
    clause = in_words(w, deed, tenses.future(deed), definite=True)
    return timed(w, clause, w.pick(FUTURE))


def already_done(w: Writer) -> str:
    """A sentence such as "Anna has already baked the cake."."""
    deed = w.deed()
    adverb = w.pick(("already", "just", "never"))
    verb = tenses.perfect(deed, adverb)
    return in_words(w, deed, verb, 0.3, definite=adverb != "never") + "."


def able(w: Writer) -> str:
    """A sentence such as "Anna can bake a cake easily."."""
    deed = w.deed(plain=True, intended=True)
    verb, adverb = ("can", "easily") if w.chance(0.5) else ("must", "immediately")
    act = f"{tenses.infinitive(deed)} {w.object(deed)}"
    return f"{deed.subject.text} {verb} {act} {adverb}."


def remarked(w: Writer) -> str:
    """A remark: "The cake is delicious." or "The cake was still warm yesterday."."""
    noun, remark, _ = w.remark()
    subject = w.definite_singular(noun) if remark.startswith("a ") else w.definite(noun)
    if remark in PASSING and w.chance(0.5):
        return f"{subject.text} {subject.be(past=True)} {remark} {w.pick(PAST)}."
    return f"{subject.text} {subject.be()} {remark}."


def there_is(w: Writer) -> str:
    """A sentence such as "There are two cakes on the table."."""

    def draw() -> tuple[Noun, str]:
        nouns, places = w.topic().scenes
        return w.pick(nouns), w.pick(places)

    # This triple decides to which split, such as train, the sentence belongs.
    noun, place = w.draw_in_split(draw, lambda d: (d[0].word, "there", d[1]))
    kind = f"{w.pick(noun.adjectives)} " if w.chance(0.6) else ""
    if w.chance(0.4):
        return f"there are {w.pick(NUMBERS)} {kind}{noun.plural} {place}."
    return f"there is {article(kind + noun.word)} {kind}{noun.word} {place}."


def compared(w: Writer) -> str:
    """Return a sentence such as "The cake is sweeter than the pie."."""

    def draw() -> tuple[Noun, Noun, str]:
        topic = w.topic()
        nouns = w.pick(list(topic.nouns.values()))
        return w.pick(nouns), w.pick(nouns), w.pick(nouns[0].adjectives)

    # This triple decides to which split, such as train, the sentence belongs.
    first, second, adjective = w.draw_in_split(
        draw, lambda d: (d[0].word, d[2], d[1].word)
    )
    if first == second or adjective not in MORE:
        return compared(w)
    subject, standard = w.definite_singular(first), w.definite_singular(second)
    return f"{subject.text} is {MORE[adjective]} than {standard.text}."


def priced(w: Writer) -> str:
    """A sentence such as "The old clock costs twenty dollars."."""

    def draw() -> tuple[Noun, str]:
        topic = w.topic()
        nouns = [n for n in topic.gifts if not n.mass]
        return w.pick(nouns), w.pick((*NUMBERS, *TENS))

    # This triple decides to which split, such as train, the sentence belongs.
    noun, number = w.draw_in_split(draw, lambda d: (d[0].word, "cost", d[1]))
    kind = f"{w.pick(noun.adjectives)} " if w.chance(0.7) else ""
    verb = w.pick(("costs", "cost"))
    time = " last year" if verb == "cost" else ""
    return f"the {kind}{noun.word} {verb} {number} dollars{time}."


def journey(w: Writer) -> str:
    """A sentence such as "Anna travelled from Paris to Rome by train last week."."""

    def draw() -> tuple[Person, str, str]:
        return w.acquaintance(), w.pick(CITIES), w.pick(CITIES)

    # This triple decides to which split, such as train, the sentence belongs.
    subject, start, goal = w.draw_in_split(draw, lambda d: (d[0].lemma, d[1], d[2]))
    if start == goal:
        return journey(w)
    clause = f"{subject.text} travelled from {start} to {goal} by {w.pick(VEHICLES)}"
    return timed(w, clause, w.pick(PAST))


def life(w: Writer) -> str:
    """A sentence on a life, such as "Anna was born in Rome in 1963."."""

    def draw() -> tuple[Person, str, str]:
        return w.acquaintance(), w.pick(CITIES), str(1951 + 3 * w.pick(range(20)))

    # This triple decides to which split, such as train, the sentence belongs.
    subject, city, year = w.draw_in_split(draw, lambda d: (d[0].lemma, d[1], d[2]))
    kind = w.pick(range(3))
    if kind == 0:
        return f"{subject.text} {subject.be(past=True)} born in {city} in {year}."
    if kind == 1:
        return f"{subject.text} moved to {city} in {year}."
    verb = "live" if subject.takes_plural_verb else "lives"
    return f"{subject.text} {verb} in {city} with {w.pick(NUMBERS)} cats."


def passive(w: Writer) -> str:
    """A sentence such as "The cake was baked by Anna yesterday."."""
    deed = w.deed(plain=True, intended=True)
    patient = w.definite(deed.object)
    clause = f"{patient.text} {patient.be(past=True)} {deed.verb.participle}"
    return f"{clause} by {deed.subject.text} {w.pick(PAST)}."


def gift(w: Writer) -> str:
    """A sentence such as "Anna gave Peter a cake yesterday."."""
    verbs = {"give": "gave", "show": "showed", "lend": "lent", "offer": "offered",
             "send": "sent", "bring": "brought"}  # fmt: skip

    def draw() -> tuple[Person, str, Noun, Topic]:
        topic = w.topic()
        return w.person(topic), w.pick(list(verbs)), w.pick(topic.gifts), topic

    # This triple decides to which split, such as train, the sentence belongs.
    subject, verb, noun, topic = w.draw_in_split(
        draw, lambda d: (d[0].lemma, d[1], d[2].word)
    )
    recipient = w.name() if w.chance(0.6) else f"the {w.pick(topic.people)}"
    kind = f"{w.pick(noun.adjectives)} " if w.chance(0.5) else ""
    object_phrase = f"{article(kind + noun.word)} {kind}{noun.word}"
    if noun.mass:
        object_phrase = f"{kind}{noun.word}" if kind else f"some {noun.word}"
    clause = f"{subject.text} {verbs[verb]} {recipient} {object_phrase}"
    return timed(w, clause, w.pick(PAST))
