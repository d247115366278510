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
    """A sentence such as "Anna was baking the cake while Peter was singing."."""
    topic = w.topic()
    first, second = w.deed(topic, intended=True), w.act(topic, w.acquaintance())
    if first.subject.lemma == second.subject.lemma:
        return meanwhile(w)
    verb = tenses.progressive(first, before=True)
    clause = in_words(w, first, verb, 0.3, definite=True)
    scene = f"{second.subject.text} {tenses.progressive(second, before=True)}"
    return f"while {clause}, {scene}." if w.chance(0.5) else f"{clause} while {scene}."


def because(w: Writer) -> str:
    """A sentence like: Anna baked a cake because she was hungry."""
    topic = w.topic()
    subject = w.acquaintance()
    deed = w.deed(topic, subject) if w.chance(0.7) else w.act(topic, subject)
    reason = w.pick(topic.because)
    # In the lexicon, S stands for the subject.
    if reason.startswith("S was"):
        reason = reason.replace("S was", f"{subject.pronoun} {subject.be(past=True)}")
    return f"{in_words(w, deed, tenses.past(deed), 0.4)} because {reason}."


def although(w: Writer) -> str:
    """A sentence such as "Although Anna was tired, she baked the cake."."""
    subject = w.acquaintance()
    deed = w.deed(subject=subject)
    state = w.pick(STATES)
    # In the second clause, a pronoun replaces the name.
    deed = by(deed, Person(subject.pronoun, subject.lemma, subject.pronoun))
    main_clause = in_words(w, deed, tenses.past(deed), definite=True)
    clause = f"although {subject.text} {subject.be(past=True)} {state}"
    return f"{clause}, {main_clause}."


def interruption(w: Writer) -> str:
    """A sentence such as "Anna was baking the cake when the bell rang."."""
    deed, event = any_deed(w), w.pick(EVENTS)
    verb = tenses.progressive(deed, before=True)
    clause = in_words(w, deed, verb, 0.4, definite=True)
    return f"when {event}, {clause}." if w.chance(0.5) else f"{clause} when {event}."


def after(w: Writer) -> str:
    """A sentence such as "After baking a cake, Anna washed a plate."."""
    topic, subject = w.topic(), w.acquaintance()
    first, second = w.deed(topic, subject), w.deed(topic, subject)
    if first.object == second.object:
        return after(w)
    start = f"{tenses.gerund(first)} {w.object(first)}"
    return f"after {start}, {in_words(w, second, tenses.past(second), 0.3)}."


def before(w: Writer) -> str:
    """A sentence such as "Anna baked the cake before she went to bed."."""
    subject, habit = w.acquaintance(), w.pick(EVENINGS)
    deed = w.deed(subject=subject, intended=True)
    verb = tenses.past(deed)
    if w.chance(0.5):
        clause = in_words(w, deed, verb, 0.3, definite=True)
        return f"before {subject.pronoun} {habit}, {clause}."
    clause = in_words(w, deed, verb, 0, definite=True)
    return f"{clause} before {subject.pronoun} {habit}."


def reported(w: Writer) -> str:
    """A sentence such as "Anna said that she would bake the cake."."""
    subject = w.acquaintance()
    deed = w.deed(subject=subject, intended=True)
    clause = f"{subject.text} {w.pick(REPORTS)} that {subject.pronoun}"
    if w.chance(0.5):
        return f"{clause} would {tenses.infinitive(deed)} {w.object(deed, True)}."
    verb = tenses.past_perfect(deed)
    return f"{clause} {verb} {w.object(deed, True)} {w.pick(PAST)}."


def persuasion(w: Writer) -> str:
    """A sentence such as "Anna asked Peter to bake the cake."."""
    subject, recipient = w.acquaintance(), w.name()
    deed = w.deed(subject=Person(recipient, recipient, ""), intended=True)
    act = f"{tenses.infinitive(deed)} {w.object(deed, definite=True)}"
    if w.chance(0.4):
        return f"{subject.text} advised {recipient} not to {act}."
    verb = w.pick(("asked", "helped", "persuaded"))
    return f"{subject.text} {verb} {recipient} to {act}."


def handed_on(w: Writer) -> str:
    """A sentence such as "Anna baked a cake and gave it to Peter."."""
    deed = w.deed(subject=w.acquaintance(), plain=True, intended=True)
    if deed.object.mark:  # such as a mass noun or a part of the body
        return handed_on(w)
    object_phrase, verb = w.object(deed), w.pick(("gave", "showed", "sold", "brought"))
    pronoun = "it" if object_phrase.startswith(("a ", "an ")) else "them"
    clause = f"{deed.subject.text} {tenses.past(deed)} {object_phrase}"
    return f"{clause} and {verb} {pronoun} to {w.name()}."


def wish(w: Writer) -> str:
    """A sentence such as "Anna wanted to bake a cake in the kitchen."."""
    subject = w.acquaintance()
    deed = w.deed(subject=subject, intended=True)
    clause = f"{subject.text} {w.pick(HOPES)} to {tenses.infinitive(deed)}"
    return f"{clause} {w.object(deed)}{how_or_where(w, deed)}."


def two_things(w: Writer) -> str:
    """A sentence such as "Anna baked a cake and washed a plate."."""
    topic, subject = w.topic(), w.acquaintance()
    first, second = w.deed(topic, subject), w.deed(topic, subject)
    if first.object == second.object:
        return two_things(w)
    clause = f"{subject.text} {tenses.past(first)} {w.object(first)}"
    return f"{clause} and {tenses.past(second)} {w.object(second)}."


def whose(w: Writer) -> str:
    """A sentence such as "The cook who baked a cake lives in Rome."."""
    topic = w.topic()
    deed = w.deed(topic, Person("who", w.pick(topic.people), ""))
    city, object_phrase = w.pick(CITIES), w.object(deed)
    predicate = f"lives in {city}" if w.chance(0.5) else f"is my {w.pick(RELATED)}"
    return (
        f"the {deed.subject.lemma} who {tenses.past(deed)} {object_phrase} {predicate}."
    )


def relative_clause(w: Writer) -> str:
    """A sentence such as "The cake that Anna baked yesterday was delicious."."""
    deed = w.deed(subject=w.acquaintance(), plain=True)
    subject = w.definite_singular(deed.object)
    remarks = [r for r in deed.object.remarks if not r.startswith("a ")]
    clause = f"{subject.text} that {deed.subject.text} {deed.verb.past}"
    return f"{clause} {w.pick(PAST)} was {w.pick(remarks)}."


def opinion(w: Writer) -> str:
    """Return a sentence such as "Anna thinks that the cake is delicious."."""
    noun, remark, _ = w.remark()
    thinker, subject = w.acquaintance(), w.definite(noun)
    # OPINIONS are singular, and "a fake" does not fit a plural such as "the rings".
    if thinker.takes_plural_verb or remark.startswith("a "):
        return opinion(w)
    clause = f"{subject.text} {subject.be()} {remark}"
    return f"{thinker.text} {w.pick(OPINIONS)} that {clause}."


def condition(w: Writer) -> str:
    """A sentence such as "If it rains tomorrow, Anna will bake the cake."."""
    deed = w.deed(subject=w.acquaintance(), intended=True)
    times = ("tomorrow", "next week", "next month", *(f"next {day}" for day in DAYS))
    weather = w.pick(("it rains", "the weather is good", "it snows", "it is cold"))
    clause = in_words(w, deed, tenses.future(deed), 0.4, definite=True)
    return f"if {weather} {w.pick(times)}, {clause}."


def described(w: Writer) -> str:
    """A sentence with an apposition, such as "My uncle, a proud man, baked a cake."."""
    pronoun = w.pick(("she", "he"))
    kin = w.pick(KIN[pronoun])
    deed = w.deed(subject=Person(f"my {kin}", kin, pronoun))
    phrase = f"{w.pick(CHARACTERS)} {'woman' if pronoun == 'she' else 'man'}"
    clause = f"my {kin}, {article(phrase)} {phrase}, {tenses.past(deed)}"
    return f"{clause} {w.object(deed)}{how_or_where(w, deed, 0.4)}."
