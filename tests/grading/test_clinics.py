"""A clinic's things are looked at one by one, and none tells of another one."""

import random
import statistics

import pytest
import torch

from autograder.authoring.cases import fresh_cases
from autograder.authoring.catalogue import specification
from autograder.checks import references
from autograder.checks.exercise import RAISED
from autograder.checks.interactor import concluded, reply
from autograder.checks.probes import find
from autograder.grading.judge.preparing import prepare_check
from transformer_course.encoder_decoder.probes import bugs as layers

TABLES = "positional_encoding/bug_clinic"
LAYERS = "encoder_decoder/bug_clinic"


def word_on(number: int, word: str = "accepted"):
    return {"thing": torch.tensor(number), "word": word}


def looks(name: str, side, number: int):
    """What the other side of a clinic answers to a look at one of its things."""
    question = {"thing": torch.tensor(number)}
    if name == LAYERS:
        width = int(side.inputs["sizes"][0])
        question |= {
            "x": torch.ones(2, 3, width).cumsum(1),
            "memory": torch.ones(2, 2, width),
        }
    return reply(side, question)


def test_each_bug_of_a_clinic_is_met_in_a_case():
    cases = fresh_cases(specification(LAYERS), "bugs")
    subjects = [
        case.inputs[subject] for case in cases for subject in ("other", "third")
    ]
    met = {"", *(str(subject).partition(", ")[2] for subject in subjects)}
    assert met == set(layers.BUGS)


@pytest.mark.parametrize("name", [TABLES, LAYERS])
def test_what_is_said_of_a_thing_is_final_before_the_next_one_is_seen(name):
    inputs = references.load(name.split("/")[0])[name].cases[0].inputs
    side = find(name).interactor(inputs, random.Random(3))
    last = len(side.names) - 1
    words = {
        subject: "accepted"
        if "right" in subject and "other" not in subject
        else "rejected"
        for subject in side.list_subjects()
    }
    for number in range(last + 1):
        for neighbour in {0, number - 1, number + 1, last, last + 1, -1} - {number}:
            assert RAISED in looks(name, side, neighbour), (number, neighbour)
            assert RAISED in reply(side, word_on(neighbour))
        assert RAISED not in looks(name, side, number)
        assert RAISED in concluded(side, {})
        assert reply(side, word_on(number, words[side.names[number]])) == {}
    for late in (looks(name, side, last), reply(side, word_on(last + 1))):
        assert RAISED in late
    if name == TABLES:
        words["tables that are others afterwards"] = "none"
    assert concluded(side, {str(n): "accepted" for n in range(last + 1)}) == words


def test_two_that_are_ill_in_the_same_way_give_other_numbers():
    inputs = references.load("encoder_decoder")[LAYERS].cases[0].inputs
    for start in range(40):
        side = find(LAYERS).interactor.in_grading(inputs, random.Random(start))
        twice = {subject for subject in side.names if side.names.count(subject) > 1}
        if not twice:
            continue
        subject, outputs = twice.pop(), []
        for number, name_at in enumerate(side.names):
            if name_at == subject:
                (value,) = looks(LAYERS, side, number).values()
                outputs.append(value)
            reply(side, word_on(number))
        assert outputs[0].shape == outputs[1].shape and not outputs[0].allclose(
            outputs[1]
        )
        return
    raise AssertionError("nothing comes twice")


def test_in_grading_a_visible_case_has_weights_that_nobody_has_seen():
    case, outputs = references.load("encoder_decoder")[LAYERS].cases[0], []
    for seed in ("one", "one", "two"):
        side = prepare_check(LAYERS, seed).side(case)
        for number in range(side.names.index(side.list_subjects()[0])):
            reply(side, word_on(number))
        number = side.names.index(side.list_subjects()[0])
        (value,) = looks(LAYERS, side, number).values()
        outputs.append(value)
    assert outputs[0].equal(outputs[1]) and not outputs[0].allclose(outputs[2])


def test_who_knows_how_many_are_right_does_not_know_which():
    inputs = references.load("encoder_decoder")[LAYERS].cases[0].inputs
    sides = [find(LAYERS).interactor(inputs, random.Random(n)) for n in range(400)]
    right = sides[0].list_subjects()[0]
    drawings = [tuple(drawing == right for drawing in side.names) for side in sides]
    # The best that can be said of so many things, whatever else is known.
    best = {
        len(d): statistics.mode(o for o in drawings if len(o) == len(d))
        for d in drawings
    }
    assert statistics.fmean(best[len(drawing)] == drawing for drawing in drawings) < 0.3
