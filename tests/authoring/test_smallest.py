"""Small cases are cut from large ones as long as a mistake fails on them."""

from dataclasses import replace

import pytest
import torch

from autograder.authoring.answers import mistaken_objects
from autograder.authoring.catalogue import specification
from autograder.authoring.notation import edit, wrong
from autograder.authoring.smallest import MOST, small_cases
from autograder.authoring.variants import build_object
from autograder.checks import references
from autograder.checks.compare import compare
from autograder.checks.exercise import Case
from autograder.checks.observe import observe
from autograder.checks.probes import find
from autograder.checks.side_by_side import is_shown, named_text


def visible(name):
    return references.load(name.partition("/")[0], "public", name)[name].cases


def fails(exercise, answer, case):
    answers = observe(find(exercise.name), answer, case.inputs)
    return not compare(case, answers).passed


@pytest.mark.parametrize("name", ["attention/masks", "text_recovery/merge_pair"])
def test_each_mistake_in_a_result_fails_on_a_small_case_and_no_solution_does(name):
    exercise = specification(name)
    small = small_cases(exercise, visible(name))
    sizes = [len(named_text(case.inputs)) for case in small]
    assert 6 <= len(small) <= MOST and max(sizes) <= 240
    assert [case.name for case in small] == [
        f"small {n + 1}" for n in range(len(small))
    ]
    assert all(is_shown(value) for case in small for value in case.expected.values())
    solutions = [build_object(exercise, v) for v in (None, *exercise.accepted)]
    assert not any(fails(exercise, s, case) for s in solutions for case in small)
    objects = mistaken_objects(exercise)
    failing = [
        n for n, o in objects.items() if any(fails(exercise, o, c) for c in small)
    ]
    assert len(failing) > 0.6 * len(objects)


def test_the_same_cases_are_found_again():
    name = "text_recovery/merge_pair"
    first, second = (small_cases(specification(name), visible(name)) for _ in "ab")
    assert [named_text(c.inputs) for c in first] == [
        named_text(c.inputs) for c in second
    ]


def test_floats_modules_clinics_and_measured_exercises_have_none(tiny_exercise):
    x = torch.tensor([1.0, 2.0, 3.0])
    case = Case("c", "c", "", {"x": x}, {"twice": 2 * x})
    assert small_cases(tiny_exercise, [case]) == ()
    for name in (
        "multi_head_attention/list_of_heads", "positional_encoding/bug_clinic",
        "attention/by_hand",
    ):  # fmt: skip
        assert small_cases(specification(name), visible(name)) == ()


def test_integers_are_cut_to_one_and_impossible_inputs_are_left_out(tiny_exercise):
    x = torch.tensor([40, 7, 2])
    case = Case("c", "c", "Twice?", {"x": x}, {"twice": 2 * x})
    smallest = small_cases(tiny_exercise, [case])[0]
    assert smallest.inputs["x"].tolist() == [1] and smallest.expected["twice"] == 2
    assert not (smallest.hint or smallest.title)
    longer = replace(tiny_exercise, is_possible=lambda inputs: len(inputs["x"]) > 1)
    smallest = small_cases(longer, [case])[0]
    assert smallest.inputs["x"].tolist() == [1, 1]


def test_code_that_never_ends_is_ended(tiny_exercise, monkeypatch):
    monkeypatch.setattr("autograder.authoring.smallest._SECONDS", 0.2)
    endless = wrong(
        "endless", "Endless.", "Ends?", edit("return", "while True: x = x; ")
    )
    x = torch.tensor([3])
    case = Case("c", "c", "", {"x": x}, {"twice": 2 * x})
    exercise = replace(tiny_exercise, mutants=[endless])
    assert [c.inputs["x"].tolist() for c in small_cases(exercise, [case])] == [[1], [3]]
