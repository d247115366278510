"""The clinic's questions, asked early; layers that several batches go through."""

from __future__ import annotations

import random

import pytest
import torch

from autograder.bank import specification
from autograder.oracle.cases import fresh_cases
from autograder.student import references
from autograder.student.exercise import RAISED, WrongAnswer
from autograder.student.otherside import reply
from autograder.student.probes import find
from autograder.student.probes.encoder_decoder.ahead import Ahead, Follows
from autograder.student.probes.encoder_decoder.patients import DecoderLayer

LAYERS = "encoder_decoder/bug_clinic"


class Layer:
    """Adds up what it is given, and counts how often it is asked."""

    def __init__(self, refuses: int = 0):
        self.asked, self.refuses = 0, refuses

    def __call__(self, **values):
        self.asked += 1
        if values["x"].size(0) == self.refuses:
            raise WrongAnswer("not this batch")
        found = {}
        for name, x in values.items():
            if name.startswith("x"):
                if x.size(0) == self.refuses:
                    break
                ending = name.removeprefix("x")
                found[f"output{ending}"] = x + values[f"memory{ending}"].sum()
        return found


def questions(seed: int = 0) -> list[tuple[torch.Tensor, torch.Tensor]]:
    torch.manual_seed(seed)
    return [
        (torch.randn(batch, 3, 4), torch.randn(batch, 2, 4))
        for batch in (1, 1, 1, 2, 2, 2, 3, 3, 3, 3)
    ]


def outputs(layer: Layer, follows: Follows, asked) -> list[torch.Tensor]:
    ahead = Ahead(follows, layer)
    return [ahead(*pair) for pair in asked]


def test_a_second_layer_is_asked_a_few_times_and_answers_the_same():
    first, second, follows = Layer(), Layer(), Follows()
    alone = outputs(first, follows, questions())
    early = outputs(second, follows, questions())
    assert first.asked == 10 and second.asked == 2
    assert all(map(torch.equal, alone, early))
    assert all(
        torch.equal(out, x + memory.sum())
        for out, (x, memory) in zip(early, questions(), strict=True)
    )


def test_what_nobody_expected_is_asked_for_when_it_is_wanted():
    first, second, follows = Layer(), Layer(), Follows()
    outputs(first, follows, questions())
    other = [*questions()[:2], *questions(1), questions()[-1]]
    found = outputs(second, follows, other)
    expected = [x + memory.sum() for x, memory in other]
    assert all(map(torch.equal, found, expected))


def test_a_question_that_comes_again_is_answered_from_memory_by_a_copy():
    layer = Layer()
    ahead, pair = Ahead(Follows(), layer), questions()[0]
    before = ahead(*pair)
    kept = before.clone()
    before.add_(1)
    assert torch.equal(ahead(*pair), kept) and layer.asked == 1


def test_questions_in_turn_with_the_same_one_are_expected_too():
    start, *others = questions()[6:]
    asked = [pair for other in others for pair in (start, other)]
    first, second, follows = Layer(), Layer(), Follows()
    outputs(first, follows, asked)
    outputs(second, follows, asked)
    assert first.asked == 4 and second.asked == 1


def test_a_layer_that_refuses_a_batch_does_so_when_it_gets_it():
    follows = Follows()
    outputs(Layer(), follows, questions())
    refusing = Layer(refuses=2)
    ahead = Ahead(follows, refusing)
    for pair in questions()[:3]:
        ahead(*pair)
    assert refusing.asked == 1
    with pytest.raises(WrongAnswer):
        ahead(*questions()[3])


@pytest.mark.parametrize("odd", [None, "text", torch.zeros(1, 2, 3).long()])
def test_what_is_no_sequence_is_passed_on_as_it_is(odd):
    told = []

    def call(**values):
        told.append(values["x"])
        raise WrongAnswer("no")

    with pytest.raises(WrongAnswer):
        Ahead(Follows(), call)(odd, torch.zeros(1, 2, 3))
    assert told[0] is odd


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
                    layer.together([*x], [*memory])
                continue
            together = layer.together([*x], [*memory])
            for one, other in zip(alone, together, strict=True):
                assert one.shape == other.shape, kind
                assert layer.rounding or torch.allclose(one, other, atol=1e-12), kind


def side():
    case = references.load("encoder_decoder")[LAYERS].cases[0]
    return find(LAYERS).other(case.inputs, random.Random(1))


def test_what_is_asked_for_early_is_the_same_output_to_the_last_digit():
    one, other = side(), side()
    number = torch.tensor(one.names.index("a right decoder layer"))
    width = int(one.inputs["sizes"][0])
    torch.manual_seed(5)
    pairs = [(torch.randn(2, 3, width), torch.randn(2, 4, width)) for _ in range(5)]
    pairs[3] = (torch.randn(1, 3, width), torch.randn(1, 4, width))
    asked = {"layer": number, "x": pairs[0][0], "memory": pairs[0][1]}
    for place, (x, memory) in enumerate(pairs[1:]):
        asked |= {f"x.{place}": x, f"memory.{place}": memory}
    found = reply(one, asked)
    assert len(found) == 5
    for name, (x, memory) in zip(found, pairs, strict=True):
        alone = reply(other, {"layer": number, "x": x, "memory": memory})
        assert torch.equal(found[name], alone["output"]), name


def test_early_questions_are_answered_up_to_the_first_that_is_nonsense():
    judge = side()
    width = int(judge.inputs["sizes"][0])
    number = torch.tensor(judge.names.index("a right decoder layer"))
    fit = torch.zeros(1, 2, width)
    asked = {"layer": number, "x": fit, "memory": fit}
    asked |= {"x.0": fit + 1, "memory.0": fit, "x.1": "no", "memory.1": fit}
    assert set(reply(judge, asked)) == {"output", "output.0"}
    asked |= {"x.1": torch.zeros(1, 2, width + 1)}
    assert set(reply(judge, asked)) == {"output", "output.0"}
    long = torch.zeros(1, 600 // width, width)  # computed beside 31 others, it adds up
    asked |= {"x.1": long, "x": long}
    assert set(reply(judge, asked)) == {"output", "output.0"}
    assert RAISED in reply(judge, asked | {"x": fit.double()})


def test_early_questions_have_an_end():
    judge = side()
    width = int(judge.inputs["sizes"][0])
    number = torch.tensor(judge.names.index("a right decoder layer"))
    fit, answered = torch.zeros(1, 2, width), 0
    for turn in range(40):
        asked = {"layer": number, "x": fit, "memory": fit}
        for place in range(32):
            asked |= {f"x.{place}": fit + turn + place / 64, f"memory.{place}": fit}
        answered += len(reply(judge, asked)) - 1
    assert answered == judge.MOST_EARLY
