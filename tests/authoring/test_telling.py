"""What some drawings tell, all of them tell."""

from dataclasses import replace

import torch

from autograder.authoring import cases, telling
from autograder.authoring.draw import Draw
from autograder.authoring.telling import sample


def _flip_a_coin(exercise):
    """The tiny exercise; its case draws 0 or 1, of which only 1 tells anything."""
    (kind,) = exercise.cases
    return replace(
        exercise, cases=[replace(kind, inputs=lambda draw: {"x": draw.ids(0, 2, 1)})]
    )


def test_a_case_is_drawn_again_until_it_tells_what_some_drawings_tell(tiny_exercise):
    exercise = _flip_a_coin(tiny_exercise)
    tells = sample(exercise)
    assert tells == {"plain": ("tripled",)}

    def draw_numbers(tells):
        seeds = map(str, range(20))
        drawn = (cases.exercise(exercise, 1.0, s, True, (), tells) for s in seeds)
        return {int(drawing.cases[0].inputs["x"]) for drawing in drawn}

    assert draw_numbers({}) == {0, 1}
    assert draw_numbers(tells) == {1}


def test_what_no_drawing_or_each_one_tells_asks_for_nothing(tiny_exercise):
    (kind,) = tiny_exercise.cases
    blind = replace(kind, inputs=lambda draw: {"x": draw.ids(0, 1, 1)})
    assert sample(replace(tiny_exercise, cases=[blind])) == {}
    assert sample(tiny_exercise) == {}


def test_a_mistake_that_inputs_rarely_expose_is_not_required(tiny_exercise):
    (kind,) = tiny_exercise.cases
    numbers = torch.tensor([0.0] * 999 + [1.0])

    rare = replace(kind, inputs=lambda draw: {"x": numbers[draw.ids(0, 1000, 1)]})
    assert telling._leave_out_rare(tiny_exercise, rare, {"tripled"}) == set()
    numbers[:100] = 1.0
    assert telling._leave_out_rare(tiny_exercise, rare, {"tripled"}) == {"tripled"}


def test_inputs_that_amplify_rounding_are_drawn_again(tiny_exercise, monkeypatch):
    (kind,) = tiny_exercise.cases
    rounded = []

    def observe_rounded(_probe, _solution, inputs):
        rounded.append(inputs["x"])
        return {"twice": 2 * inputs["x"] + (len(rounded) < 3) * 1e-3}

    monkeypatch.setattr(telling, "observe", observe_rounded)
    inputs = telling.draw_stably(tiny_exercise, kind, Draw(0))
    assert len(rounded) == 3 and inputs["x"] is rounded[-1]


def test_what_the_specification_states_is_told_as_well(tiny_exercise):
    exercise = replace(_flip_a_coin(tiny_exercise), tells={"plain": "tripled"})
    seeds = map(str, range(20))
    drawings = [cases.exercise(exercise, 1.0, seed, True) for seed in seeds]
    assert {int(drawing.cases[0].inputs["x"]) for drawing in drawings} == {1}


def test_a_variant_is_told_by_its_name_and_an_aspect_that_is_not_the_case_s_own(
    tiny_exercise, monkeypatch
):
    (kind,) = tiny_exercise.cases
    trial = telling._Sampler(tiny_exercise, kind)
    case = trial.draw_case(Draw(0))
    assert trial.find_tells(case) == set(trial.objects)
    lost = {"values": {case.name: 1.0}, "gradients": {case.name: 0.0}}
    monkeypatch.setattr(telling, "credits", lambda results: lost)
    assert trial.find_tells(case) == {f"{name}/gradients" for name in trial.objects}
