"""Calls of ready-made answers are noted, and nothing else is."""

from __future__ import annotations

import random
import sys
import threading
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from autograder.checks.compare import collect_answers, judge
from autograder.checks.exercise import CALLED, RAISED, Case, Exercise, WrongAnswerError
from autograder.checks.interactor import Interactor, concluded
from autograder.checks.observe import observe
from autograder.checks.points import earned
from autograder.checks.ready_made import (
    describe_unnoticed,
    listing,
    noting_calls,
    report,
    split,
)
from transformer_course.library import decoding

X = torch.arange(6.0).reshape(2, 3)
Q = torch.ones(1, 2, 3, 4)
MAKE_BATCH = "transformer_course.library.decoding.make_batch"


def softmax(x):
    powers = x.exp()
    return powers / powers.sum(-1, keepdim=True)


def note_calls(function, *names: str) -> set[str]:
    with noting_calls(names) as notes:
        function()
    return notes


@pytest.mark.parametrize(
    "function",
    [
        lambda: torch.softmax(X, -1),
        lambda: X.softmax(-1),
        lambda: F.log_softmax(X, -1),
        lambda: nn.Softmax(-1)(X),
        lambda: F.cross_entropy(X, torch.tensor([0, 1])),
        lambda: torch.ops.aten._softmax(X, -1, False),
        lambda: next(map(torch.softmax, [X], [-1])),
        lambda: nn.MultiheadAttention(4, 2)(Q[0], Q[0], Q[0]),
    ],
)
def test_a_function_is_noticed_by_whatever_way_it_runs(function):
    assert note_calls(function, "torch.softmax", "F.rms_norm") == {"torch.softmax"}


def test_a_fused_operator_is_noticed_by_its_words():
    name = "F.scaled_dot_product_attention"
    fused = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    assert note_calls(lambda: fused(Q, Q, Q), name) == {name}


def test_a_class_of_pytorch_s_is_noticed_and_not_its_neighbour():
    layer = nn.TransformerEncoderLayer(4, 2).eval()
    names = "nn.TransformerEncoderLayer", "nn.TransformerEncoder", "nn.Transformer"
    assert note_calls(lambda: layer(Q[0]), *names) == {"nn.TransformerEncoderLayer"}


def test_the_course_s_code_is_noticed_whatever_it_is_called():
    theirs = decoding.make_batch
    assert note_calls(lambda: theirs([[4]], [[4]]), MAKE_BATCH) == {MAKE_BATCH}
    assert note_calls(lambda: decoding.padded([[4]]), MAKE_BATCH) == set()
    package = "transformer_course.library.decoding"
    assert note_calls(lambda: decoding.padded([[4]]), package) == {package}


def test_a_thread_hides_nothing():
    def in_a_thread():
        thread = threading.Thread(target=torch.softmax, args=(X, -1))
        thread.start()
        thread.join()

    assert note_calls(in_a_thread, "torch.softmax") == {"torch.softmax"}


@pytest.mark.parametrize(
    "end",
    [
        lambda: sys.setprofile(None),
        torch._C._pop_torch_function_stack,
        lambda: torch._C._pop_torch_dispatch_stack(None),
    ],
)
def test_who_ends_the_watch_has_called_all_there_is(end):
    names = {"torch.softmax", MAKE_BATCH}
    assert note_calls(end, *names) == names
    assert not note_calls(lambda: softmax(X), *names)


def test_gradients_and_own_functions_are_no_calls():
    def learn():
        x = X.clone().requires_grad_()
        softmax(x).sum().backward()

    assert note_calls(learn, "torch.softmax") == set()
    x = X.clone().requires_grad_()
    before = x.softmax(-1).sum()
    assert note_calls(before.backward, "torch.softmax") == set()


def test_a_watch_leaves_nothing_behind_and_changes_no_result():
    before = sys.getprofile()
    with noting_calls(["torch.softmax"]):
        watched = softmax(X)
    assert watched.equal(softmax(X)) and type(watched) is torch.Tensor
    assert sys.getprofile() is before and threading.getprofile() is None
    assert not torch.overrides._get_current_function_mode_stack()
    with pytest.raises(ZeroDivisionError), noting_calls(["torch.softmax"]):
        raise ZeroDivisionError
    assert sys.getprofile() is before


def probe(function, inputs):
    return {"y": function(inputs["x"])}


def test_a_case_reports_calls_beside_its_results_only_where_it_is_asked_to():
    inputs = {"x": X}
    watched = inputs | listing(["torch.softmax"])
    assert split(watched) == (inputs, ("torch.softmax",))
    assert set(observe(probe, lambda x: x.softmax(-1), inputs)) == {"y"}
    answers = observe(probe, lambda x: x.softmax(-1), watched)
    assert answers[CALLED] == "torch.softmax" and answers["y"].equal(X.softmax(-1))
    assert set(observe(probe, softmax, watched)) == {"y"}


def test_calls_are_reported_beside_an_error():
    def raising(x):
        raise ValueError(x.softmax(-1).sum())

    answers = observe(probe, raising, {"x": X} | listing(["torch.softmax"]))
    assert answers[CALLED] == "torch.softmax" and RAISED in answers


def test_what_the_judge_concludes_keeps_the_calls():
    class Side(Interactor):
        def conclude(self, answers):
            if "y" not in answers:
                raise WrongAnswerError("nothing came")
            return {"names": " ".join(answers)}

    side = Side({}, random.Random(0))
    noted = report(["a", "b"])
    assert concluded(side, {"y": X} | noted) == {"names": "y"} | noted
    assert concluded(side, noted) == {RAISED: "nothing came"} | noted


def case(name: str, x: torch.Tensor, **fields) -> Case:
    return Case(name, name, "", {"x": x}, {"y": x.softmax(-1)}, **fields)


CASES = (
    case("large", torch.zeros(9, 9)),
    case("small", X),
    case("open", torch.ones(1), open=True),
    case("calls", torch.ones(2), aspect="calls"),
)
EXERCISE = Exercise("u/e", "E", 7.5, CASES, ready_made=("torch.softmax",))


def watched_cases(function) -> list[str]:
    """The names of the cases that are watched, in the order in which they are asked."""
    names = []

    def ask(case):
        if split(case.inputs)[1]:
            names.append(case.name)
        return observe(probe, function, case.inputs)

    answers = collect_answers(EXERCISE, CASES, ask)
    assert list(answers) == list(CASES)
    return names


def test_one_small_case_is_watched():
    assert watched_cases(softmax) == ["small"]
    assert watched_cases(lambda x: x.softmax(-1)) == ["small"]


def test_code_that_is_wrong_while_it_is_watched_is_watched_again():
    def hiding(x):
        watched = torch.overrides._get_current_function_mode_stack()
        return x if watched else x.softmax(-1)

    assert watched_cases(hiding) == ["small", "large"]


def points(function, *names: str) -> dict[str, float]:
    exercise = replace(EXERCISE, ready_made=names)
    verdict = judge(exercise, CASES, lambda c: observe(probe, function, c.inputs))
    return {aspect: points for aspect, (points, _) in verdict.aspects.items()}


def test_of_pytorch_s_answer_the_results_count_for_nothing():
    assert points(softmax, "torch.softmax") == {"values": 6.0, "calls": 1.5}
    tally = points(lambda x: x.softmax(-1), "torch.softmax")
    assert tally == {"values": 0.0, "calls": 1.5}


def test_of_the_course_s_answer_nothing_counts():
    def theirs(x):
        decoding.padded([[4]])
        return softmax(x)

    name = "transformer_course.library.decoding.padded"
    assert points(theirs, name) == {"values": 0.0, "calls": 0.0}


def test_a_sandbox_cannot_name_what_is_not_listed():
    def ask(case):
        return {"y": case.expected["y"], CALLED: "<script>; F.rms_norm"}

    verdict = judge(EXERCISE, CASES, ask)
    assert verdict.passed and not any(r.answers.get(CALLED) for r in verdict.results)
    assert earned(EXERCISE, verdict.results)["values"] == (6.0, 6.0)


def test_the_page_says_it_in_a_sentence():
    verdict = judge(
        EXERCISE, CASES, lambda c: observe(probe, lambda x: x.softmax(-1), c.inputs)
    )
    assert not verdict.passed and verdict.mistake and verdict.sure
    assert verdict.mistake.says == (
        "`torch.softmax` is what this exercise asks you to write: "
        "what it computes does not count."
    )


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("torch.softmax", ""),
        ("numpy.fft", ""),
        ("a_package.that_some_have", ""),
        (MAKE_BATCH, ""),
        ("numpy.fft.fft", "calls are noticed as numpy.fft._"),
        ("numpy.ftt", "no such"),
        ("numpy.dot", "not written in Python"),
    ],
)
def test_a_listed_name_whose_calls_nothing_notices_has_a_fault(name, fault):
    description = describe_unnoticed(name)
    assert fault in description and bool(description) == bool(fault)
