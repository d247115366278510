"""The forms of sentences of the embedded corpus: clauses turned into one sentence."""

from __future__ import annotations

from collections.abc import Callable

from autograder.student.recovery import grammar
from autograder.student.recovery.grammar import (
    ME,
    YOU,
    Deed,
    Person,
    Unsaid,
    Writer,
    by,
    the,
)
from autograder.student.recovery.words import (
    BODY,
    CITIES,
    DAYS,
    KIN,
    MORE,
    NUMBERS,
    OWN,
    Noun,
    Topic,
    article,
)

PAST = ("yesterday", "last night", "last week", "last summer", "this morning",
        "a week ago", "two days ago", "three weeks ago", "five years ago",
        *(f"on {day}" for day in DAYS))  # fmt: skip
HABIT = ("every day", "every morning", "every evening", "every winter", "once a week",
         "twice a year", *(f"on {day}s" for day in DAYS))  # fmt: skip
FUTURE = ("tomorrow", "tomorrow morning", "next week", "next month", "soon",
          *(f"next {day}" for day in DAYS))  # fmt: skip
NOW = ("at the moment", "right now")
OFTEN = ("always", "often", "sometimes", "rarely", "never", "usually")
STATES = ("tired", "ill", "nervous", "late", "hungry", "cold", "unhappy", "busy")
EVENTS = ("the telephone rang", "the lights went out", "the rain started",
          "the bell rang", "a dog barked", "the sun set", "the guests arrived",
          "an old friend called", "the clock struck ten",
          "it began to snow")  # fmt: skip
# What may be said of a thing for a while only, and so with a time.
PASSING = ("still warm", "too hot", "almost cold", "clean", "dirty", "empty", "hungry",
           "wet", "asleep", "too wet", "out of order", "very noisy", "out of tune",
           "sold out", "closed", "open", "half an hour late", "still muddy", "swollen",
           "badly torn", "very painful", "hard to find")  # fmt: skip
CHARACTERS = ("brave", "careful", "clever", "clumsy", "polite", "proud", "lazy", "shy")
SPEECH = ("said", "whispered", "shouted", "explained")
HOPES = ("hoped", "wanted", "decided", "tried", "refused")
REPORTS = ("said", "promised", "announced", "remembered", "claimed")
EVENINGS = ("went to bed", "left the house", "fell asleep", "went to work",
            "had breakfast", "said goodbye")  # fmt: skip
OPINIONS = ("thinks", "believes", "knows", "says", "hopes")
RELATED = ("neighbour", "best friend", "cousin", "boss", "teacher")
VEHICLES = ("train", "bus", "car", "plane", "ship")
TENS = ("ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty")

Form = Callable[[Writer], str]


def _ending(w: Writer, deed: Deed, share: float = 0.6) -> str:
    """How or where a deed is done, or nothing."""
    if not w.chance(share):
        return ""
    if deed.verb.manner and w.chance(0.5):
        return f" {deed.verb.manner}"
    return "" if deed.verb.placeless else f" {w.pick(deed.topic.places)}"


def _timed(w: Writer, clause: str, time: str) -> str:
    """The clause with its time before or behind it."""
    return f"{time}, {clause}." if w.chance(0.35) else f"{clause} {time}."


def _clause(
    w: Writer, deed: Deed, verb: str, ending: float = 0.6, definite: bool = False
) -> str:
    thing = f" {w.object(deed, definite)}" if deed.noun else ""
    return f"{deed.who.text} {verb}{thing}{_ending(w, deed, ending)}"


def _any(w: Writer, meant: bool = False) -> Deed:
    return w.deed(meant=meant) if w.chance(0.75) else w.act()


# --- one clause ----------------------------------------------------------------------


def in_the_past(w: Writer) -> str:
    deed = _any(w)
    return _timed(w, _clause(w, deed, grammar.past(deed)), w.pick(PAST))


def not_done(w: Writer) -> str:
    deed = w.deed(meant=True)
    if w.chance(0.6):
        clause = f"{deed.who.text} {grammar.not_past(deed)} {w.none(deed)}"
        return _timed(w, clause, w.pick(PAST))
    clause = f"{deed.who.text} {grammar.not_present(deed)} {w.none(deed)}"
    return _timed(w, clause, w.pick(HABIT))


def told(w: Writer) -> str:
    deed = w.deed()
    return _clause(w, deed, grammar.past(deed), ending=1.0) + "."


def as_a_habit(w: Writer) -> str:
    deed = _any(w)
    if w.chance(0.5):
        return _clause(w, deed, grammar.present(deed, w.pick(OFTEN))) + "."
    return _timed(w, _clause(w, deed, grammar.present(deed), 0.3), w.pick(HABIT))


def just_now(w: Writer) -> str:
    deed = _any(w, meant=True)
    clause = _clause(w, deed, grammar.progressive(deed), definite=True)
    return _timed(w, clause, w.pick(NOW))


def in_the_future(w: Writer) -> str:
    deed = _any(w, meant=True)
    clause = _clause(w, deed, grammar.future(deed), definite=True)
    return _timed(w, clause, w.pick(FUTURE))


def already_done(w: Writer) -> str:
    deed = w.deed()
    adverb = w.pick(("already", "just", "never"))
    verb = grammar.perfect(deed, adverb)
    return _clause(w, deed, verb, 0.3, definite=adverb != "never") + "."


def able(w: Writer) -> str:
    deed = w.deed(plain=True, meant=True)
    if w.chance(0.5):
        return (
            f"{deed.who.text} can {grammar.infinitive(deed)} {w.object(deed)} easily."
        )
    thing = w.object(deed)
    return f"{deed.who.text} must {grammar.infinitive(deed)} {thing} immediately."


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
    return _timed(w, clause, w.pick(PAST))


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
    return _timed(w, f"{who.text} {verbs[verb]} {other} {thing}", w.pick(PAST))


# --- questions, requests, speech -----------------------------------------------------


def asked(w: Writer) -> str:
    deed = w.deed(meant=True)
    who = deed.who
    act = f"{grammar.infinitive(deed)} {w.object(deed, definite=True)}"
    place = _ending(w, deed, 0.4)
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
    act = f"{grammar.infinitive(deed)} {the(deed.thing)}{deed.thing.word}"
    kind = w.pick(range(3))
    if kind == 0:
        return f"please {act}{_ending(w, deed, 0.5)} immediately."
    if kind == 1:
        return f"don't {act}{_ending(w, deed, 0.5)}!"
    return f"could you please {act}{_ending(w, deed, 0.5)}?"


def quoted(w: Writer) -> str:
    deed = w.deed(who=ME, meant=True)
    adverb = w.pick(("already", "just", "never", ""))
    thing = w.object(deed, definite=adverb != "never")
    words = f"I {grammar.perfect(deed, adverb)} {thing}"
    if not adverb:
        words = f"I {grammar.future(deed)} {thing} {w.pick(FUTURE)}"
    return _speech(w, deed.topic, words)


def quoted_remark(w: Writer) -> str:
    noun, remark, topic = w.remark()
    return _speech(w, topic, f"this {noun.word} is {remark}")


def _speech(w: Writer, topic: Topic, words: str) -> str:
    speaker, verb = _speaker(w, topic), w.pick(SPEECH)
    if w.chance(0.6):
        return f'"{_capital(words)}," {verb} {speaker.text}.'
    return f'{speaker.text} {verb}, "{_capital(words)}."'


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
        return f'"{_capital(words)}?" asked {speaker.text}.'
    return f'{speaker.text} asked, "{_capital(words)}?"'


# --- several clauses -----------------------------------------------------------------


def meanwhile(w: Writer) -> str:
    topic = w.topic()
    first, second = w.deed(topic, meant=True), w.act(topic, w.named())
    if first.who.lemma == second.who.lemma:
        return meanwhile(w)
    verb = grammar.progressive(first, before=True)
    here = _clause(w, first, verb, 0.3, definite=True)
    there = f"{second.who.text} {grammar.progressive(second, before=True)}"
    if w.chance(0.5):
        return f"while {here}, {there}."
    return f"{here} while {there}."


def because(w: Writer) -> str:
    topic = w.topic()
    who = w.named()
    deed = w.deed(topic, who) if w.chance(0.7) else w.act(topic, who)
    reason = w.pick(topic.because)
    if reason.startswith("S was"):
        reason = reason.replace("S was", f"{who.pronoun} {who.be(past=True)}")
    return f"{_clause(w, deed, grammar.past(deed), 0.4)} because {reason}."


def although(w: Writer) -> str:
    who = w.named()
    deed = w.deed(who=who)
    state, deed = w.pick(STATES), by(deed, _pronoun(who))
    rest = _clause(w, deed, grammar.past(deed), definite=True)
    clause = f"although {who.text} {who.be(past=True)} {state}"
    return f"{clause}, {rest}."


def _pronoun(who: Person) -> Person:
    return Person(who.pronoun, who.lemma, who.pronoun)


def when(w: Writer) -> str:
    deed, event = _any(w), w.pick(EVENTS)
    verb = grammar.progressive(deed, before=True)
    clause = _clause(w, deed, verb, 0.4, definite=True)
    if w.chance(0.5):
        return f"when {event}, {clause}."
    return f"{clause} when {event}."


def after(w: Writer) -> str:
    topic, who = w.topic(), w.named()
    first, second = w.deed(topic, who), w.deed(topic, who)
    if first.thing == second.thing:
        return after(w)
    start = f"{grammar.gerund(first)} {w.object(first)}"
    return f"after {start}, {_clause(w, second, grammar.past(second), 0.3)}."


def before(w: Writer) -> str:
    who, habit = w.named(), w.pick(EVENINGS)
    deed = w.deed(who=who, meant=True)
    verb = grammar.past(deed)
    if w.chance(0.5):
        clause = _clause(w, deed, verb, 0.3, definite=True)
        return f"before {who.pronoun} {habit}, {clause}."
    return f"{_clause(w, deed, verb, 0, definite=True)} before {who.pronoun} {habit}."


def reported(w: Writer) -> str:
    who = w.named()
    deed = w.deed(who=who, meant=True)
    clause = f"{who.text} {w.pick(REPORTS)} that {who.pronoun}"
    if w.chance(0.5):
        return f"{clause} would {grammar.infinitive(deed)} {w.object(deed, True)}."
    verb = grammar.past_perfect(deed)
    return f"{clause} {verb} {w.object(deed, True)} {w.pick(PAST)}."


def asked_to(w: Writer) -> str:
    who, other = w.named(), w.name()
    deed = w.deed(who=Person(other, other, ""), meant=True)
    act = f"{grammar.infinitive(deed)} {w.object(deed, definite=True)}"
    if w.chance(0.4):
        return f"{who.text} advised {other} not to {act}."
    return f"{who.text} {w.pick(('asked', 'helped', 'persuaded'))} {other} to {act}."


def handed_on(w: Writer) -> str:
    deed = w.deed(who=w.named(), plain=True, meant=True)
    if deed.thing.mark:
        return handed_on(w)
    thing, verb = w.object(deed), w.pick(("gave", "showed", "sold", "brought"))
    it = "it" if thing.startswith(("a ", "an ")) else "them"
    return (
        f"{deed.who.text} {grammar.past(deed)} {thing} and {verb} {it} to {w.name()}."
    )


def wanted(w: Writer) -> str:
    who = w.named()
    deed = w.deed(who=who, meant=True)
    clause = f"{who.text} {w.pick(HOPES)} to {grammar.infinitive(deed)}"
    return f"{clause} {w.object(deed)}{_ending(w, deed)}."


def two_things(w: Writer) -> str:
    topic, who = w.topic(), w.named()
    first, second = w.deed(topic, who), w.deed(topic, who)
    if first.thing == second.thing:
        return two_things(w)
    here = f"{who.text} {grammar.past(first)} {w.object(first)}"
    return f"{here} and {grammar.past(second)} {w.object(second)}."


def whose(w: Writer) -> str:
    topic = w.topic()
    deed = w.deed(topic, Person("who", w.pick(topic.people), ""))
    city = w.pick(CITIES)
    thing = w.object(deed)
    rest = f"lives in {city}" if w.chance(0.5) else f"is my {w.pick(RELATED)}"
    return f"the {deed.who.lemma} who {grammar.past(deed)} {thing} {rest}."


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
    clause = _clause(w, deed, grammar.future(deed), 0.4, definite=True)
    return f"if {weather} {w.pick(times)}, {clause}."


def described(w: Writer) -> str:
    """A mood and a deed: "My uncle, a proud man, ..." """
    pronoun = w.pick(("she", "he"))
    kin = w.pick(KIN[pronoun])
    deed = w.deed(who=Person(f"my {kin}", kin, pronoun))
    phrase = f"{w.pick(CHARACTERS)} {'woman' if pronoun == 'she' else 'man'}"
    clause = f"my {kin}, {article(phrase)} {phrase}, {grammar.past(deed)}"
    return f"{clause} {w.object(deed)}{_ending(w, deed, 0.4)}."


FORMS: tuple[tuple[Form, int], ...] = (
    (in_the_past, 6), (not_done, 4), (told, 3), (as_a_habit, 6), (just_now, 5),
    (in_the_future, 5), (already_done, 4), (able, 2), (remarked, 4), (there_is, 3),
    (compared, 2), (priced, 2), (journey, 2), (life, 2), (passive, 4), (gift, 3),
    (asked, 8), (asked_where, 3), (asked_who, 2), (request, 3), (exclaimed, 1),
    (quoted, 5), (quoted_remark, 3), (quoted_question, 3), (meanwhile, 4),
    (because, 5), (although, 5), (when, 4), (before, 5), (after, 4), (reported, 6),
    (asked_to, 4), (handed_on, 4), (wanted, 3), (two_things, 3), (whose, 3), (which, 4),
    (opinion, 3), (condition, 3), (described, 2),
)  # fmt: skip
_DEALT = tuple(form for form, weight in FORMS for _ in range(weight))


def _capital(text: str) -> str:
    """The first letter in upper case."""
    return text[:1].upper() + text[1:]


def sentence(w: Writer) -> str:
    """One sentence of any form."""
    try:
        text = w.pick(_DEALT)(w)
    except Unsaid:
        return sentence(w)
    return text if text.startswith('"') else _capital(text)
