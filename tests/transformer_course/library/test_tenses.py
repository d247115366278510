"""A deed's verb in every tense, with the auxiliary that its subject takes."""

from __future__ import annotations

import pytest

from transformer_course.library import tenses
from transformer_course.library.grammar import ME, Deed, Person
from transformer_course.library.words import Topic, Verb

ANNA = Person("Anna", "Anna", "she")
THEY = Person("Anna and Peter", "Anna Peter", "they")
LOOK = Verb("look", "looked", "looked", "for")
WRITE = Verb("write", "wrote", "written")


def deed(who: Person, verb: Verb) -> Deed:
    return Deed(who, verb, None, Topic("life"))


@pytest.mark.parametrize(
    ("who", "verb", "said"),
    [
        (ANNA, LOOK, "is looking for, often looks for, does not look for"),
        (THEY, WRITE, "are writing, often write, do not write"),
        (ME, WRITE, "am writing, often write, do not write"),
    ],
)
def test_the_present_agrees_with_who_acts(who, verb, said):
    one = deed(who, verb)
    found = (
        tenses.progressive(one),
        tenses.present(one, "often"),
        tenses.not_present(one),
    )
    assert ", ".join(found) == said


@pytest.mark.parametrize(
    ("who", "said"),
    [
        (ANNA, "was writing, has just written"),
        (THEY, "were writing, have just written"),
    ],
)
def test_what_is_over_agrees_with_who_acted(who, said):
    one = deed(who, WRITE)
    found = tenses.progressive(one, before=True), tenses.perfect(one, "just")
    assert ", ".join(found) == said


def test_the_other_tenses_are_the_same_for_everybody():
    for who in (ANNA, THEY, ME):
        one = deed(who, WRITE)
        assert tenses.past(one) == "wrote" and tenses.not_past(one) == "did not write"
        assert tenses.past_perfect(one) == "had written"
        assert tenses.future(one) == "will write"
        assert tenses.infinitive(one) == "write" and tenses.gerund(one) == "writing"


def test_a_particle_follows_its_verb_in_every_tense():
    one = deed(ANNA, LOOK)
    forms = (tenses.past, tenses.not_past, tenses.future, tenses.gerund)
    assert all(form(one).endswith(" for") for form in forms)
