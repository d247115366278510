"""The clinic's questions, asked early; layers that several batches go through."""

from __future__ import annotations

import random

import pytest
import torch

from autograder.authoring.cases import fresh_cases
from autograder.authoring.catalogue import specification
from autograder.checks import references
from autograder.checks.exercise import RAISED, WrongAnswerError
from autograder.checks.interactor import reply
from autograder.checks.probes import find
from transformer_course.encoder_decoder.probes.ahead import (
    MOST_AHEAD,
    OutputPrefetcher,
    Successors,
)
from transformer_course.encoder_decoder.probes.patients import DecoderLayer

LAYERS = "encoder_decoder/bug_clinic"


class Layer:
    """Adds up what it is given, and counts how often it is asked."""

    def __init__(self, refuses: int = 0):
        self.asked, self.refuses = 0, refuses

    def __call__(self, **values):
        self.asked += 1
        if values["x"].size(0) == self.refuses:
            raise WrongAnswerError("not this batch")
        outputs = {"output": values["x"] + values["memory"].sum()}
        for name, stack in values.items():
            if name.startswith("x."):
                if stack.size(1) == self.refuses:
                    break
                ending = name.removeprefix("x")
                sums = values[f"memory{ending}"].sum(dim=(1, 2, 3), keepdim=True)
                outputs[f"output{ending}"] = stack + sums
        return outputs


def questions(seed: int = 0) -> list[tuple[torch.Tensor, torch.Tensor]]:
    torch.manual_seed(seed)
    return [
        (torch.randn(batch, 3, 4), torch.randn(batch, 2, 4))
        for batch in (1, 1, 1, 2, 2, 2, 3, 3, 3, 3)
    ]


def outputs(layer: Layer, follows: Successors, pairs) -> list[torch.Tensor]:
    ahead = OutputPrefetcher(follows, layer)
    return [ahead(*pair) for pair in pairs]


def test_a_second_layer_is_asked_a_few_times_and_answers_the_same():
    first, second, follows = Layer(), Layer(), Successors()
    alone = outputs(first, follows, questions())
    early = outputs(second, follows, questions())
    assert first.asked == 10 and second.asked == 2
    assert all(map(torch.allclose, alone, early))
    assert all(
        torch.allclose(out, x + memory.sum())
        for out, (x, memory) in zip(early, questions(), strict=True)
    )


def test_what_nobody_expected_is_asked_for_when_it_is_wanted():
    first, second, follows = Layer(), Layer(), Successors()
    outputs(first, follows, questions())
    unexpected = [*questions()[:2], *questions(1), questions()[-1]]
    actual = outputs(second, follows, unexpected)
    expected = [x + memory.sum() for x, memory in unexpected]
    assert all(map(torch.allclose, actual, expected))


def test_a_question_that_comes_again_is_answered_from_memory_by_a_copy():
    layer = Layer()
    ahead, pair = OutputPrefetcher(Successors(), layer), questions()[0]
    before = ahead(*pair)
    input_before = before.clone()
    before.add_(1)
    assert torch.equal(ahead(*pair), input_before) and layer.asked == 1


def test_questions_in_turn_with_the_same_one_are_expected_too():
    start, *later = questions()[6:]
    pairs = [pair for later_question in later for pair in (start, later_question)]
    first, second, follows = Layer(), Layer(), Successors()
    outputs(first, follows, pairs)
    outputs(second, follows, pairs)
    assert first.asked == 4 and second.asked == 1


def test_a_layer_that_refuses_a_batch_does_so_when_it_gets_it():
    follows = Successors()
    outputs(Layer(), follows, questions())
    refusing = Layer(refuses=2)
    ahead = OutputPrefetcher(follows, refusing)
    for pair in questions()[:3]:
        ahead(*pair)
    assert refusing.asked == 1
    with pytest.raises(WrongAnswerError):
        ahead(*questions()[3])


@pytest.mark.parametrize("odd", [None, "text", torch.zeros(1, 2, 3).long()])
def test_what_is_no_sequence_is_passed_on_as_it_is(odd):
    inputs_asked = []

    def call(**values):
        inputs_asked.append(values["x"])
        raise WrongAnswerError("no")

    with pytest.raises(WrongAnswerError):
        OutputPrefetcher(Successors(), call)(odd, torch.zeros(1, 2, 3))
    assert inputs_asked[0] is odd


def kinds() -> list[str]:
    """All kinds of layers that the clinic has."""
    cases = fresh_cases(specification(LAYERS), "kinds")
    return sorted(
        {str(c.inputs[name]) for c in cases for name in ("right", "other", "third")}
    )


def test_several_batches_go_through_each_layer_as_one_does():
    for kind in kinds():
        style, _, bug = kind.partition(", ")
        torch.manual_seed(3)
        layer = DecoderLayer(6, 2, 5, style, bug).double().eval()
        for batch, target, source in ((1, 4, 3), (2, 3, 4), (3, 1, 2), (2, 5, 5)):
            x = torch.randn(4, batch, target, 6, dtype=torch.float64)
            memory = torch.randn(4, batch, source, 6, dtype=torch.float64)
            try:
                alone = [layer(*pair) for pair in zip(x, memory, strict=True)]
            except (RuntimeError, ValueError) as error:
                with pytest.raises(type(error)):
                    layer.compute_batches([*x], [*memory])
                continue
            together = layer.compute_batches([*x], [*memory])
            for single, batched in zip(alone, together, strict=True):
                assert single.shape == batched.shape, kind
                is_close = torch.allclose(single, batched, atol=1e-12)
                assert layer.rounding or is_close, kind


def side():
    case = references.load("encoder_decoder")[LAYERS].cases[0]
    return find(LAYERS).interactor(case.inputs, random.Random(1))


def brought_to(name: str, judge) -> torch.Tensor:
    """Have a word said on all before the first thing of a name; its number."""
    number = judge.names.index(name)
    for before in range(number):
        reply(judge, {"thing": torch.tensor(before), "word": "accepted"})
    return torch.tensor(number)


def stacked(*groups) -> dict[str, torch.Tensor]:
    """Groups of pairs, as they are asked for early."""
    return {
        f"{name}.{place}": torch.stack(list(tensors))
        for place, pairs in enumerate(groups)
        for name, tensors in zip(("x", "memory"), zip(*pairs, strict=True), strict=True)
    }


def test_what_is_asked_for_early_is_the_same_output_to_the_last_digit():
    for first in (1, 2):  # of another form than the first group, or of its form
        first_side, second_side = side(), side()
        number = brought_to("a right decoder layer", first_side)
        brought_to("a right decoder layer", second_side)
        width = int(first_side.inputs["sizes"][0])
        torch.manual_seed(5)
        groups = [
            [(torch.randn(b, 3, width), torch.randn(b, 4, width)) for _ in range(3)]
            for b in (first, 2, 1)
        ]
        (pair, *groups[0]) = groups[0]
        question = {"thing": number, "x": pair[0], "memory": pair[1]}
        early_answers = reply(first_side, question | stacked(*groups))
        outputs = [
            early_answers.pop("output"),
            *(out for batch in early_answers.values() for out in batch),
        ]
        pairs = [pair, *(pair for group in groups for pair in group)]
        for output, (x, memory) in zip(outputs, pairs, strict=True):
            alone = reply(second_side, {"thing": number, "x": x, "memory": memory})
            assert torch.equal(output, alone["output"])


def test_a_form_that_a_layer_refuses_leaves_the_question_itself_answered():
    case = references.load("encoder_decoder")[LAYERS].cases[0]
    judge = find(LAYERS).interactor(case.inputs, random.Random(1))
    width = int(case.inputs["sizes"][0])
    unpacks = brought_to("the other one", judge)
    refused, accepted = torch.zeros(3, 2, width), torch.zeros(2, 2, width)
    question = {"thing": unpacks, "x": accepted, "memory": accepted}
    early = stacked(
        [(accepted + 1, accepted)], [(refused, refused)], [(accepted, accepted + 1)]
    )
    assert set(reply(judge, question | early)) == {"output", "output.0"}
    assert RAISED in reply(judge, question | {"x": refused, "memory": refused} | early)


def test_early_questions_are_answered_up_to_the_first_that_is_nonsense():
    judge = side()
    width = int(judge.inputs["sizes"][0])
    number = brought_to("a right decoder layer", judge)
    fit = torch.zeros(1, 2, width)
    question = {"thing": number, "x": fit, "memory": fit}
    question |= stacked([(fit + 1, fit)], [(fit + 2, fit)])
    assert set(reply(judge, question)) == {"output", "output.0", "output.1"}
    long = torch.zeros(1, 600 // width, width)  # computed beside 31 others, it adds up
    for nonsense in (
        "no", fit, torch.zeros(1, 1, 2, width + 1), torch.zeros(2, 1, 2, width),
        torch.zeros(0, 1, 2, width), torch.zeros(33, 1, 2, width), long[None],
        torch.zeros(1, 1 << 20, 0, width),
    ):  # fmt: skip
        answers = reply(judge, question | {"x.1": nonsense})
        assert set(answers) == {"output", "output.0"}, nonsense
    assert set(reply(judge, question | {"x": long})) == {
        "output",
        "output.0",
        "output.1",
    }
    assert RAISED in reply(judge, question | {"x": fit.double()})


def test_early_questions_have_an_end():
    judge = side()
    width = int(judge.inputs["sizes"][0])
    number = brought_to("a right decoder layer", judge)
    fit, answered = torch.zeros(1, 2, width), 0
    for turn in range(40):
        groups = [
            [(fit + turn + (g * 8 + n) / 64, fit) for n in range(8)] for g in range(5)
        ]
        question = {"thing": number, "x": fit, "memory": fit} | stacked(*groups)
        answers = reply(judge, question)
        early = sum(len(answers[name]) for name in answers if name != "output")
        assert early <= MOST_AHEAD
        answered += early
    assert answered == judge.MOST_EARLY
