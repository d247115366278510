"""Questions, requests, and direct speech."""

from __future__ import annotations

from transformer_course.library import tenses
from transformer_course.library.forms.phrases import FUTURE, PAST, capital, how_or_where
from transformer_course.library.grammar import ME, YOU, Person, Writer, the
from transformer_course.library.words import BODY, OWN, Noun, Topic, article

SPEECH = ("said", "whispered", "shouted", "explained")


def question(w: Writer) -> str:
    """A question such as "Did Anna bake the cake yesterday?", or why, or how often."""
    deed = w.deed(intended=True)
    subject = deed.subject
    act = f"{tenses.infinitive(deed)} {w.object(deed, definite=True)}"
    place = how_or_where(w, deed, 0.4)
    kind = w.pick(range(4))
    if kind == 0:
        return f"did {subject.text} {act}{place} {w.pick(PAST)}?"
    if kind == 1:
        return f"will {subject.text} {act}{place} {w.pick(FUTURE)}?"
    if kind == 2:
        return f"why did {subject.text} {act}{place}?"
    return f"how often {subject.do()} {subject.text} {act}{place}?"


def question_about_object(w: Writer) -> str:
    """A question: "Where did Anna buy the ring?" or "How many rings did Anna buy?".

    For the second form, draw again if the noun has no plural or is a part of the body.
    """
    deed = w.deed(plain=True)
    noun = deed.object
    if w.chance(0.5):
        determiner = f"{deed.subject.possessive} " if OWN in noun.mark else the(noun)
        return (
            f"where did {deed.subject.text} {deed.verb.base} {determiner}{noun.word}?"
        )
    if noun.single or BODY in noun.mark:
        return question_about_object(w)
    return f"how many {noun.plural} did {deed.subject.text} {deed.verb.base}?"


def question_about_subject(w: Writer) -> str:
    """A question such as "Who baked the cake yesterday?"."""
    deed = w.deed(subject=Person("who", "", ""), plain=True, intended=True)
    object_phrase = w.definite(deed.object).text
    return f"who {deed.verb.past} {object_phrase} {w.pick(PAST)}?"


def exclaimed(w: Writer) -> str:
    """An exclamation such as "What a sweet cake!"."""

    def draw() -> tuple[Noun, str]:
        noun = w.pick(w.topic().gifts)
        return noun, w.pick(noun.adjectives)

    # This triple decides to which split, such as train, the sentence belongs.
    noun, kind = w.draw_in_split(draw, lambda d: ("", d[1], d[0].word))
    return f"what {'' if noun.mass else article(kind) + ' '}{kind} {noun.word}!"


def request(w: Writer) -> str:
    """A request such as "Please bake the cake immediately."."""
    deed = w.deed(subject=YOU, plain=True, intended=True)
    act = f"{tenses.infinitive(deed)} {the(deed.object)}{deed.object.word}"
    kind = w.pick(range(3))
    if kind == 0:
        return f"please {act}{how_or_where(w, deed, 0.5)} immediately."
    if kind == 1:
        return f"don't {act}{how_or_where(w, deed, 0.5)}!"
    return f"could you please {act}{how_or_where(w, deed, 0.5)}?"


def quoted(w: Writer) -> str:
    """Direct speech such as "I have already baked the cake," said Anna."""
    deed = w.deed(subject=ME, intended=True)
    adverb = w.pick(("already", "just", "never", ""))
    object_phrase = w.object(deed, definite=adverb != "never")
    words = f"I {tenses.perfect(deed, adverb)} {object_phrase}"
    if not adverb:
        words = f"I {tenses.future(deed)} {object_phrase} {w.pick(FUTURE)}"
    return _quote(w, deed.topic, words)


def quoted_remark(w: Writer) -> str:
    """Direct speech such as "This cake is delicious," said Anna."""
    noun, remark, topic = w.remark()
    return _quote(w, topic, f"this {noun.word} is {remark}")


def _quote(w: Writer, topic: Topic, words: str) -> str:
    """Direct speech: the quoted words, and a speaker before or after them."""
    speaker, verb = _pick_speaker(w, topic), w.pick(SPEECH)
    if w.chance(0.6):
        return f'"{capital(words)}," {verb} {speaker.text}.'
    return f'{speaker.text} {verb}, "{capital(words)}."'


def _pick_speaker(w: Writer, topic: Topic) -> Person:
    """A random single person."""
    speaker = w.person(topic)
    return _pick_speaker(w, topic) if speaker.takes_plural_verb else speaker


def quoted_question(w: Writer) -> str:
    """Direct speech such as "Have you baked a cake?" asked Anna."""
    deed = w.deed(subject=YOU)
    words = f"have you {deed.verb.participle} {deed.verb.particle}".strip()
    words += f" {w.object(deed)}"
    # Parts of the body have a second mark, so nobody asks where they are.
    if deed.object.mark == OWN:
        words = f"where is my {deed.object.word}"
    speaker = _pick_speaker(w, deed.topic)
    if w.chance(0.6):
        return f'"{capital(words)}?" asked {speaker.text}.'
    return f'{speaker.text} asked, "{capital(words)}?"'
