"""Inputs, contract and special sizes follow from sizes and the stub's signature."""

from __future__ import annotations

import json

import pytest
import torch

from autograder.authoring import cases
from autograder.authoring.contract import OF_MODULES, USUAL, Contract
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, sizes
from autograder.authoring.sizes import shapes_of_results
from autograder.checks.probes.default import CALL
from autograder.course.errors import CourseError
from tests.signed import NORM, SCALE, sign


def plain(**values):
    return case("plain", "a small one", sizes(**values), "How much is twice?")


def draw_first(exercise):
    return exercise.cases[0].inputs(Draw("a seed"))


def test_every_annotated_tensor_is_drawn_in_its_sizes(monkeypatch):
    exercise = sign(monkeypatch, SCALE, "scale", cases=[plain(B=2, L=3, d=5, factor=4)])
    inputs = draw_first(exercise)
    assert inputs["x"].shape == (2, 3, 5) and int(inputs["factor"]) == 4
    assert "mask" not in inputs  # it is optional, and nobody asked for one
    call = json.loads(inputs[CALL])
    assert call["order"] == ["x", "factor", "mask"] and call["gradients"]


def test_an_argument_has_the_value_function_or_shape_that_the_case_says(monkeypatch):
    kinds = [
        plain(B=2, L=3, d=5, factor=4, mask="B 1"),
        plain(B=2, L=3, d=5, factor=4, x=lambda draw: draw.tensor(7)),
    ]
    exercise = sign(monkeypatch, SCALE, "scale", cases=kinds)
    masked, explicit = (kind.inputs(Draw("a seed")) for kind in exercise.cases)
    assert masked["mask"].shape == (2, 1) and masked["mask"].dtype == torch.bool
    assert explicit["x"].shape == (7,)


def test_what_the_sizes_lack_is_said_with_the_case(monkeypatch):
    exercise = sign(monkeypatch, SCALE, "scale", cases=[plain(B=2, L=3, d=5)])
    with pytest.raises(CourseError, match=r"case plain: sizes.* lacks factor"):
        draw_first(exercise)
    exercise = sign(monkeypatch, SCALE, "scale", cases=[plain(B=2, d=5, factor=1)])
    with pytest.raises(CourseError, match=r"case plain: sizes.* lacks L"):
        draw_first(exercise)


def test_what_no_argument_reads_is_refused_with_the_case(monkeypatch):
    mistyped = plain(B=2, L=3, d=5, factor=4, maks="B L")
    with pytest.raises(CourseError, match=r"case plain: sizes.* has maks"):
        sign(monkeypatch, SCALE, "scale", cases=[mistyped])


def test_results_need_annotations(monkeypatch):
    code = SCALE.replace(' -> Float[Tensor, "B L d"]', "")
    with pytest.raises(CourseError, match="names 1, but the signature states 0"):
        sign(monkeypatch, code, "scale", cases=[plain(B=2, L=3, d=5, factor=4)])


def test_a_modules_options_and_weights_follow_from_the_same_names(monkeypatch):
    exercise = sign(monkeypatch, NORM, "Norm", cases=[plain(B=2, L=3, d_model=5)])
    inputs = draw_first(exercise)
    assert int(inputs["make.d_model"]) == 5 and inputs["weights.weight"].shape == (5,)
    assert exercise.contract.ways == OF_MODULES and exercise.contract.module


def test_the_contract_says_what_the_signature_says(monkeypatch):
    kinds = [plain(B=2, L=3, d=5, factor=4)]
    exercise = sign(monkeypatch, SCALE, "scale", cases=kinds, results="the product")
    contract = exercise.contract
    assert contract.arguments == "x: B L d; factor: _; mask?: B L"
    assert contract.results == "the product: B L d"
    assert contract.on == ("plain",) and contract.ways == USUAL and contract.typed


def test_what_a_contract_says_itself_stays(monkeypatch):
    contract = Contract(ways=("steady",), typed=False)
    kinds = [plain(B=2, L=3, d=5, factor=4)]
    exercise = sign(monkeypatch, SCALE, "scale", cases=kinds, contract=contract)
    assert exercise.contract.ways == ("steady",) and exercise.contract.typed is False
    assert exercise.contract.arguments


def test_each_size_is_tried_as_1_and_all_of_them_as_equal(monkeypatch):
    kinds = [plain(B=2, L=3, d=5, factor=4)]
    exercise = sign(monkeypatch, SCALE, "scale", cases=kinds, fixed="d")
    special = exercise.contract.sizes(Draw("a seed"))
    shapes = {label: tuple(inputs["x"].shape) for label, inputs in special.items()}
    assert shapes == {"B = 1": (1, 3, 5), "L = 1": (2, 1, 5), "equal sizes": (3, 3, 5)}


def test_an_exercise_needs_nothing_but_two_cases(monkeypatch):
    kinds = [plain(B=2, L=3, d=5, factor=4), plain(B=1, L=2, d=3, factor=2)]
    exercise = sign(monkeypatch, SCALE, "scale", cases=kinds[:1])
    drawing = cases.exercise(exercise, 10.0, "public", hidden=False)
    first, *_ = drawing.cases
    assert torch.allclose(first.expected["the result"], 4 * first.inputs["x"])
    assert first.shapes == {"the result": "B, L, d"}
    assert shapes_of_results(exercise) == {"the result": "B, L, d"}


def test_a_function_gets_the_values_that_its_arguments_are_named_after(monkeypatch):
    drawn = plain(B=2, L=3, d=5, factor=4, x=lambda draw, B, d: draw.tensor(B, 7, d))
    exercise = sign(monkeypatch, SCALE, "scale", cases=[drawn])
    assert draw_first(exercise)["x"].shape == (2, 7, 5)


def test_a_contract_changes_the_first_case_by_what_is_special(monkeypatch):
    contract = Contract(sizes={"a long text": {"L": 70, "weights": 1 / 16}})
    kinds = [plain(B=2, L=3, d_model=5)]
    exercise = sign(monkeypatch, NORM, "Norm", cases=kinds, contract=contract)
    special = exercise.contract.sizes(Draw("a seed"))
    long = special["a long text"]
    assert long["x"].shape == (2, 70, 5) and special["L = 1"]["x"].shape == (2, 1, 5)
    assert 0 < long["weights.weight"].abs().max() <= 1 / 16
