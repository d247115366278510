"""Questions, requests, and what somebody says."""

from __future__ import annotations

from transformer_course.library import tenses
from transformer_course.library.forms.phrases import FUTURE, PAST, capital, how_or_where
from transformer_course.library.grammar import ME, YOU, Person, Writer, the
from transformer_course.library.words import BODY, OWN, Noun, Topic, article

SPEECH = ("said", "whispered", "shouted", "explained")


def asked(w: Writer) -> str:
    deed = w.deed(meant=True)
    who = deed.who
    act = f"{tenses.infinitive(deed)} {w.object(deed, definite=True)}"
    place = how_or_where(w, deed, 0.4)
    kind = w.pick(range(4))
    if kind == 0:
        return f"did {who.text} {act}{place} {w.pick(PAST)}?"
    if kind == 1:
        return f"will {who.text} {act}{place} {w.pick(FUTURE)}?"
    if kind == 2:
        return f"why did {who.text} {act}{place}?"
    return f"how often {who.do()} {who.text} {act}{place}?"


def asked_where(w: Writer) -> str:
    deed = w.deed(plain=True)
    noun = deed.thing
    if w.chance(0.5):
        own = f"{deed.who.own} " if OWN in noun.mark else the(noun)
        return f"where did {deed.who.text} {deed.verb.base} {own}{noun.word}?"
    if noun.single or BODY in noun.mark:
        return asked_where(w)
    return f"how many {noun.plural} did {deed.who.text} {deed.verb.base}?"


def asked_who(w: Writer) -> str:
    deed = w.deed(who=Person("who", "", ""), plain=True, meant=True)
    thing = w.known(deed.thing).text
    return f"who {deed.verb.past} {thing} {w.pick(PAST)}?"


def exclaimed(w: Writer) -> str:
    def draw() -> tuple[Noun, str]:
        noun = w.pick(w.topic().gifts)
        return noun, w.pick(noun.adjectives)

    noun, kind = w.drawn(draw, lambda d: ("", d[1], d[0].word))
    return f"what {'' if noun.mass else article(kind) + ' '}{kind} {noun.word}!"


def request(w: Writer) -> str:
    deed = w.deed(who=YOU, plain=True, meant=True)
    act = f"{tenses.infinitive(deed)} {the(deed.thing)}{deed.thing.word}"
    kind = w.pick(range(3))
    if kind == 0:
        return f"please {act}{how_or_where(w, deed, 0.5)} immediately."
    if kind == 1:
        return f"don't {act}{how_or_where(w, deed, 0.5)}!"
    return f"could you please {act}{how_or_where(w, deed, 0.5)}?"


def quoted(w: Writer) -> str:
    deed = w.deed(who=ME, meant=True)
    adverb = w.pick(("already", "just", "never", ""))
    thing = w.object(deed, definite=adverb != "never")
    words = f"I {tenses.perfect(deed, adverb)} {thing}"
    if not adverb:
        words = f"I {tenses.future(deed)} {thing} {w.pick(FUTURE)}"
    return _speech(w, deed.topic, words)


def quoted_remark(w: Writer) -> str:
    noun, remark, topic = w.remark()
    return _speech(w, topic, f"this {noun.word} is {remark}")


def _speech(w: Writer, topic: Topic, words: str) -> str:
    speaker, verb = _speaker(w, topic), w.pick(SPEECH)
    if w.chance(0.6):
        return f'"{capital(words)}," {verb} {speaker.text}.'
    return f'{speaker.text} {verb}, "{capital(words)}."'


def _speaker(w: Writer, topic: Topic) -> Person:
    speaker = w.person(topic)
    return _speaker(w, topic) if speaker.plural else speaker


def quoted_question(w: Writer) -> str:
    deed = w.deed(who=YOU)
    words = f"have you {deed.verb.participle} {deed.verb.particle}".strip()
    words += f" {w.object(deed)}"
    if deed.thing.mark == OWN:
        words = f"where is my {deed.thing.word}"
    speaker = _speaker(w, deed.topic)
    if w.chance(0.6):
        return f'"{capital(words)}?" asked {speaker.text}.'
    return f'{speaker.text} asked, "{capital(words)}?"'
