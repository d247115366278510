"""An object is called in many ways; what is wrong in one of them is seen and said."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder.authoring.cases import _shared_fields
from autograder.authoring.contract import OF_MODULES, Contract, special_sizes
from autograder.authoring.draw import Draw
from autograder.authoring.properties import forms, kinds
from autograder.authoring.specification import CaseKind
from autograder.checks.compare import compare, judge
from autograder.checks.diagnostics.symptoms import SEEN
from autograder.checks.exercise import Case, CheckResult, Exercise
from autograder.checks.observe import observe
from autograder.checks.panel import as_text
from autograder.checks.probes.weights import load_weights, report_initialisation
from autograder.checks.properties import _watched


class Mixer(nn.Module):
    """A right module: each position gets the mean of those that its mask allows."""

    def __init__(self, d: int, dropout: float = 0.0):
        super().__init__()
        self.map = nn.Linear(d, d)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = self.dropout(F.relu(self.map(x)))
        if mask is None:
            mask = torch.ones(x.size(1), x.size(1), dtype=torch.bool)
        weights = mask.to(x.dtype) / mask.sum(-1, keepdim=True)
        return weights @ x


def probe(module_class: Callable, inputs: dict) -> dict:
    rate = float(inputs.get("rate", 0.0))
    module = load_weights(module_class(len(inputs["weights.map.bias"]), rate), inputs)
    options = {"mask": inputs["mask"]} if "mask" in inputs else {}
    return {"output": module(inputs["x"], *options.values())}


def draw_inputs_of(
    batch: int, length: int, d: int, mask: tuple[int, ...] = ()
) -> Callable:
    def inputs(draw: Draw) -> dict:
        inputs_drawn = {"x": draw.tensor(batch, length, d)}
        inputs_drawn |= draw.weights(**{"map.weight": (d, d), "map.bias": (d,)})
        if mask:
            inputs_drawn["mask"] = torch.ones(mask, dtype=torch.bool).tril()
        return inputs_drawn

    return inputs


OWN = [
    CaseKind(name="plain", title="no mask", inputs=draw_inputs_of(3, 4, 5), hint=""),
    CaseKind("masked", "a mask", inputs=draw_inputs_of(2, 3, 4, (2, 3, 3)), hint=""),
]
PROMISE = Contract(
    arguments="x: B L d; mask?: L L | B L L",
    results="output: B L d",
    on=("plain", "masked"),
    ways=OF_MODULES,
    module=True,
    dropout=(("plain",), {"rate": 0.375}),
    sizes=special_sizes(one_sentence=draw_inputs_of(1, 2, 3)),
)
EXERCISE = Exercise("tiny/mixer", "A mixer", 10.0, ())


def draw_case(kind: CaseKind, right: Callable = Mixer, probe: Callable = probe):
    """A drawing of a kind, with what a right object answers."""
    inputs = dict(kind.inputs(Draw(kind.name)))
    expected = observe(probe, right, inputs)
    return Case(
        kind.name, kind.title, kind.hint, inputs, expected, **_shared_fields(kind)
    )


@functools.cache  # an observation copies its inputs
def cases() -> list[Case]:
    return [draw_case(kind) for kind in (*OWN, *kinds(PROMISE, OWN))]


def name_symptom(module_class: Callable) -> str:
    """What the check says of a module that is right in the ordinary cases."""
    verdict = judge(
        EXERCISE, cases(), lambda case: observe(probe, module_class, case.inputs)
    )
    assert not verdict.passed and verdict.mistake is not None and verdict.sure
    assert 0 < verdict.points < verdict.max_points
    return verdict.mistake.says


class WithoutBias(Mixer):
    def __init__(self, d: int, dropout: float = 0.0):
        super().__init__(d, dropout)
        self.map = nn.Linear(d, d, bias=False)


@pytest.mark.parametrize("right", [Mixer, WithoutBias])
def test_a_right_module_passes_in_all_ways_even_if_a_bias_was_left_out(right):
    for case in cases():
        verdict = compare(case, observe(probe, right, case.inputs))
        assert verdict.passed, (case.name, verdict.findings)


class Remembers(Mixer):
    """Keeps the first mask for calls without one."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        if mask is not None:
            self.kept = mask
        elif hasattr(self, "kept") and self.kept.size(-1) == x.size(1):
            mask = self.kept
        return super().forward(x, mask)


class Noisy(Mixer):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        return super().forward(x + 0.1 * self.training, mask)


class DropsInputs(Mixer):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        dropout, self.dropout = self.dropout, nn.Identity()
        output = super().forward(dropout(x), mask)
        self.dropout = dropout
        return output


class Detached(Mixer):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        return super().forward(x.detach(), mask)


class Viewing(Mixer):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        return super().forward(x.view(-1).view(x.shape), mask)


class Squeezing(Mixer):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        return super().forward(x, mask).squeeze(0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (Remembers, "Right in one call, but not in another: with one example"),
        (Noisy, "Right in eval mode, wrong in training mode"),
        (DropsInputs, "in training dropout is applied to the wrong entries"),
        (Detached, "gradient of x"),
        (Viewing, "In some calls your code stops"),
        (Squeezing, "Right in one call, but not in another: with one example"),
    ],
)
def test_what_was_seen_is_said(wrong, message):
    assert message in name_symptom(wrong)


def test_dropout_by_hand_is_not_judged_by_its_place():
    class ByHandError(Mixer):
        def __init__(self, d: int, dropout: float = 0.0):
            super().__init__(d)
            self.rate = dropout

        def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
            keep = torch.rand_like(x) >= self.rate * self.training
            return super().forward(x, mask) * keep / (1 - self.rate * self.training)

    (case,) = [c for c in cases() if c.name == "property_dropout"]
    result = compare(case, observe(probe, ByHandError, case.inputs))
    assert result.passed
    text = as_text(CheckResult("a/b", "A title", 1.0, 1.0, (result,)))
    assert "dropout: made by hand, so its place was not looked at" in text
    plain = next(c for c in cases() if c.name == "plain")
    assert not compare(plain, {"chance": "by hand"}).passed, "no way round other cases"


def test_chance_in_place_of_every_answer_earns_nothing():
    class Dice(Mixer):
        def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
            return torch.rand_like(super().forward(x, mask))

    tried = cases()
    exercise = Exercise("a/b", "A title", 10.0, tuple(tried))
    verdict = judge(exercise, tried, lambda case: observe(probe, Dice, case.inputs))
    result = next(r for r in verdict.results if r.case.name == "property_dropout")
    assert not result.looked_at and verdict.points == 0


def test_dropping_whole_rows_is_seen():
    class WholeRows(Mixer):
        def __init__(self, d: int, dropout: float = 0.0):
            super().__init__(d)
            self.dropout = nn.Dropout1d(dropout)

    assert "dropout is applied to the wrong entries" in name_symptom(WholeRows)


def test_a_module_that_is_wrong_at_first_gets_no_such_sentence():
    class Wrong(Noisy):
        def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
            return 2 * super().forward(x, mask)

    verdict = judge(EXERCISE, cases(), lambda case: observe(probe, Wrong, case.inputs))
    assert verdict.mistake is None or verdict.mistake.name == SEEN


def test_pytorchs_dropout_is_itself_again_after_a_case():
    before = (torch.dropout, F.dropout, F.dropout1d)
    for case in cases():
        observe(probe, Viewing, case.inputs)
    assert (torch.dropout, F.dropout, F.dropout1d) == before


def test_how_a_module_starts_is_not_looked_at_where_its_call_alone_is_awaited():
    module = nn.Linear(2, 3)
    assert report_initialisation(module, {})
    assert report_initialisation(_watched(module), {}) == {}


class Remade(Mixer):
    """A module whose option has another name."""

    def __init__(self, d: int, chance: float = 0.0):
        super().__init__(d, chance)


class TwoNames(Mixer):
    def __init__(self, d: int, dropout: float = 0.0):
        super().__init__(d, dropout)
        self.all = nn.ModuleList([self.map])


class AsksForAGradient(Mixer):
    def __init__(self, d: int, dropout: float = 0.0):
        super().__init__(d, dropout)
        self.register_buffer("one", torch.ones(1).requires_grad_())


class OtherMask(Mixer):
    def forward(self, x: Tensor, keep: Tensor | None = None) -> Tensor:
        return super().forward(x, keep)


def failed(module_class: Callable, promise: Contract = PROMISE) -> set[str]:
    """The properties that a module lacks, if the text's is `Mixer`."""
    lacking = set()
    for case in map(draw_case, kinds(promise, OWN, forms(Mixer))):
        if not compare(case, observe(probe, module_class, case.inputs)).passed:
            lacking.add(case.name.removeprefix("property_"))
    return lacking


def test_options_have_their_names_and_their_places():
    assert failed(Mixer) == set()
    assert failed(Remade) == {"start"}
    assert failed(OtherMask) == {"steady"}


def test_a_buffer_asks_for_no_gradient():
    assert failed(AsksForAGradient) == {"loaded"}


def test_parameters_have_the_texts_names_only_where_it_says_so():
    assert failed(TwoNames) == set()
    assert failed(TwoNames, replace(PROMISE, named=True)) == {"loaded"}
    assert failed(TwoNames, replace(PROMISE, alone=True)) == {"loaded"}
    assert failed(Mixer, replace(PROMISE, alone=True)) == set()


def product(q: Tensor, k: Tensor, factor: float = 1.0) -> Tensor:
    return factor * q @ k.mT


def products(function: Callable, inputs: dict) -> dict:
    return {"scores": function(inputs["q"], inputs["k"], 1.0)}


def lacking(function: Callable) -> list[str]:
    """What is wrong with products of vectors, in the first property."""

    def inputs(draw: Draw) -> dict:
        return {"q": draw.tensor(2, 3, 4), "k": draw.tensor(2, 5, 4)}

    promise = Contract(
        arguments="q: B Lq d; k: B Lk d; factor: _", results="scores: B Lq Lk",
        on=("plain",), ways=("steady",),
    )  # fmt: skip
    kinds_of_case = [CaseKind("plain", "plain", inputs, "")]
    kind, *_ = kinds(promise, kinds_of_case, forms(product))
    case = draw_case(kind, product, products)
    result = compare(case, observe(products, function, case.inputs))
    return [finding.name for finding in result.findings if finding.problem]


def test_one_tensor_may_be_several_arguments():
    def confuse_same_tensors(q: Tensor, k: Tensor, factor: float = 1.0) -> Tensor:
        return 0 * q @ k.mT if q is k else product(q, k, factor)

    assert lacking(product) == []
    (name,) = lacking(confuse_same_tensors)
    assert name == "scores · with one tensor for several arguments"


def test_an_option_that_is_left_out_has_the_texts_default():
    def two(q: Tensor, k: Tensor, factor: float = 2.0) -> Tensor:
        return product(q, k, factor)

    assert lacking(two) == ["scores · with nothing but what must be given"]


def test_what_a_function_has_returned_is_not_changed_by_a_later_call():
    buffers: dict[torch.Size, Tensor] = {}

    def refilled(q: Tensor, k: Tensor, factor: float = 1.0) -> Tensor:
        scores = product(q, k, factor)
        return buffers.setdefault(scores.shape, scores).copy_(scores)

    assert "results that later calls have changed" in lacking(refilled)
