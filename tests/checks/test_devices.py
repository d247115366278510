"""Checks hold whatever device a notebook works on.

References are computed in float64; a device is one more way to round float32. CUDA and
MPS are tried where they are; what "elsewhere" does is tried on the CPU everywhere.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator

import pytest
import torch
from torch import nn

from autograder.authoring.catalogue import specification, specifications
from autograder.authoring.specification import Specification
from autograder.authoring.variants import build_object
from autograder.checks import check, references
from autograder.checks.compare import compare
from autograder.checks.exercise import RAISED, Answers, Case
from autograder.checks.observe import observe
from autograder.checks.probes import find
from tests.conftest import mostly_slow
from transformer_course.library.model import device
from transformer_course.solutions import encoder_decoder

ACCELERATORS = [
    pytest.param(
        name,
        marks=pytest.mark.skipif(not is_available, reason=f"there is no {device_name}"),
    )
    for name, is_available, device_name in (
        ("cuda", torch.cuda.is_available(), "CUDA device"),
        ("mps", torch.backends.mps.is_available(), "Apple GPU"),
    )
]
# How much of a case's tolerance rounding may use up, so that the rest is for others.
MOST = 0.25


def cases(exercise: Specification) -> Iterator[Case]:
    """The cases of an exercise that compare numbers, public and hidden."""
    name = exercise.name
    for visibility in ("public", "hidden"):
        stored = references.load(exercise.unit, visibility, name)[name]
        yield from (case for case in stored.cases if not case.measure)


def tolerance_share(case: Case, answers: Answers) -> float:
    """The largest share of the tolerance that an answer's difference takes."""
    worst = 0.0
    for name, expected in case.expected.items():
        if isinstance(expected, torch.Tensor) and expected.is_floating_point():
            allowed = case.atol + case.rtol * expected.double().abs()
            gap = (answers[name].double() - expected.double()).abs() / allowed
            worst = max(worst, gap.nan_to_num().max().item() if gap.numel() else 0.0)
    return worst


def elsewhere(answer: object, device: str) -> object:
    """An answer that does its work on a device, and leaves its results there."""

    def to_device(value: object) -> object:
        if isinstance(value, nn.Module):
            tensors = [*value.parameters(), *value.buffers()]
        else:
            tensors = [value] if isinstance(value, torch.Tensor) else []
        # What a probe has moved to "meta" holds nothing that could be moved back.
        is_movable = not any(tensor.is_meta for tensor in tensors)
        return value.to(device) if tensors and is_movable else value

    if isinstance(answer, tuple):
        return tuple(elsewhere(part, device) for part in answer)
    if inspect.isclass(answer) and issubclass(answer, nn.Module):

        class Elsewhere(answer):
            def forward(self, *arguments, **options):
                to_device(self)
                options = {name: to_device(value) for name, value in options.items()}
                return super().forward(*map(to_device, arguments), **options)

        return Elsewhere
    if isinstance(answer, nn.Module):
        return answer.to(device)

    @functools.wraps(answer)
    def function(*arguments, **options):
        options = {name: to_device(value) for name, value in options.items()}
        return answer(*map(to_device, arguments), **options)

    return function


@pytest.fixture
def other_default():
    """A notebook that has called ``torch.set_default_device``."""
    torch.set_default_device("meta")
    yield
    torch.set_default_device(None)


@pytest.mark.parametrize("device", ["cpu", *ACCELERATORS])
@pytest.mark.parametrize("unit", mostly_slow(number="02"))
def test_answers_are_right_on_each_device_and_rounding_takes_little(unit, device):
    with torch.random.fork_rng():
        for exercise in specifications(unit.name):
            solution = elsewhere(build_object(exercise), device)
            for case in cases(exercise):
                if case.name == "moves":  # it is about devices itself
                    continue
                answers = observe(find(exercise.name), solution, case.inputs)
                assert RAISED not in answers, f"{exercise.name}: {answers[RAISED]}"
                result = compare(case, answers)
                assert result.passed, (exercise.name, case.name, result.findings)
                if device == "cpu":
                    share = tolerance_share(case, answers)
                    assert share <= MOST, f"{exercise.name}, {case.name}: {share:.2f}"


def test_a_default_device_of_the_notebook_changes_no_verdict(other_default):
    assert torch.zeros(1).device.type == "meta"
    for exercise in specifications("attention"):
        verdict = check.Check()(exercise.name, build_object(exercise))
        assert verdict.passed, f"{exercise.name}: {verdict}"
    assert torch.zeros(1).device.type == "meta", "the notebook's choice stays"


def test_a_wrong_answer_is_told_and_drawn_as_ever(other_default):
    exercise = specification("attention/softmax")
    for mutant in exercise.mutants:
        answer = build_object(exercise, mutant.variants[0])
        verdict = check.Check()(exercise.name, answer)
        assert not verdict.passed and verdict.mistake.name == mutant.name
        assert "<div" in verdict._repr_html_()


@pytest.mark.parametrize(
    ("kind", "options", "sequences"),
    [
        (encoder_decoder.Transformer, {"src_vocab": 11, "tgt_vocab": 9}, 2),
        (encoder_decoder.LanguageModel, {"vocab": 11, "causal": True}, 1),
    ],
)
def test_a_whole_model_works_where_it_is_moved_to(kind, options, sequences):
    model = kind(**options, d_model=8, num_heads=2, num_layers=2, d_ff=16)
    token_ids = [torch.ones(2, 5, dtype=torch.int64)] * sequences
    expected = model(*token_ids).shape
    # "meta" refuses, as a GPU does, what was left on the CPU.
    logits = model.to("meta")(*(ids.to("meta") for ids in token_ids))
    assert logits.shape == expected and logits.is_meta
    with pytest.raises(RuntimeError, match="device"):
        model(*token_ids)


@pytest.mark.parametrize(
    ("cuda", "mps", "chosen"),
    [(True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")],
)
def test_the_project_chooses_its_device(monkeypatch, cuda, mps, chosen):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    assert device().type == chosen
