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


def deed(person: Person, verb: Verb) -> Deed:
    return Deed(person, verb, None, Topic("life"))


@pytest.mark.parametrize(
    ("person", "verb", "forms_expected"),
    [
        (ANNA, LOOK, "is looking for, often looks for, does not look for"),
        (THEY, WRITE, "are writing, often write, do not write"),
        (ME, WRITE, "am writing, often write, do not write"),
    ],
)
def test_the_present_agrees_with_who_acts(person, verb, forms_expected):
    action = deed(person, verb)
    forms_written = (
        tenses.progressive(action),
        tenses.present(action, "often"),
        tenses.not_present(action),
    )
    assert ", ".join(forms_written) == forms_expected


@pytest.mark.parametrize(
    ("person", "forms_expected"),
    [
        (ANNA, "was writing, has just written"),
        (THEY, "were writing, have just written"),
    ],
)
def test_what_is_over_agrees_with_who_acted(person, forms_expected):
    action = deed(person, WRITE)
    forms_written = (
        tenses.progressive(action, before=True),
        tenses.perfect(action, "just"),
    )
    assert ", ".join(forms_written) == forms_expected


def test_the_other_tenses_are_the_same_for_everybody():
    for person in (ANNA, THEY, ME):
        action = deed(person, WRITE)
        assert (
            tenses.past(action) == "wrote"
            and tenses.not_past(action) == "did not write"
        )
        assert tenses.past_perfect(action) == "had written"
        assert tenses.future(action) == "will write"
        assert (
            tenses.infinitive(action) == "write" and tenses.gerund(action) == "writing"
        )


def test_a_particle_follows_its_verb_in_every_tense():
    action = deed(ANNA, LOOK)
    forms = (tenses.past, tenses.not_past, tenses.future, tenses.gerund)
    assert all(form(action).endswith(" for") for form in forms)
