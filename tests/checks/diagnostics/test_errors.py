"""Plain-language messages for errors, if all wrong cases raise the same kind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from torch import nn

from autograder.checks.compare import compare
from autograder.checks.diagnostics.crashes import CRASHES
from autograder.checks.diagnostics.symptoms import of_all
from autograder.checks.exercise import RAISED, Case, CaseResult
from autograder.checks.observe import observe

X = torch.arange(12.0).reshape(3, 4)
WHOLE = torch.tensor([1, 2])
WEIGHT = nn.Parameter(X.clone())


class Named(nn.Module):
    def __init__(self, ready: bool = True):
        if ready:
            super().__init__()
        self.inner = nn.Linear(4, 4)


def result(answer) -> CaseResult:
    """A case in which an object is called, as a probe would."""
    case = Case("c", "c", "", {"x": X}, {"y": X})
    answers = observe(lambda f, given: {"y": f(given["x"])}, answer, case.inputs)
    return compare(case, answers)


def name_symptom(*answers) -> str:
    symptom = of_all([result(answer) for answer in answers])
    return symptom.says if symptom else ""


def recurse(x):
    return recurse(x)


def in_place(x):
    y = x.clone().requires_grad_()
    z = y.exp()
    z += 1
    z.sum().backward()
    return z


TOLD = [
    (lambda x: X if x else x, "one truth value"),
    (lambda x: x and None, "one truth value"),
    (lambda x: shuffled(x), "uses `shuffled`"),  # noqa: F821
    (lambda x: exp(x), "without the module"),  # noqa: F821
    (lambda x: 2.0 ^ 3, "compares bits"),
    (lambda x: x ^ 2, "compares bits"),
    (lambda x: torch.zeros(2).sum(dims=0), "passes different arguments"),
    (lambda x: recurse(x, x), "passes different arguments"),
    (lambda x: nn.Linear(3, 4, biased=False)(x), "passes different arguments"),
    (lambda x: nn.Module()(x), "no method `forward`"),
    (lambda x: Named(ready=False)(x), "was not initialised"),
    (lambda x: x + None, "gets `None`"),
    (lambda x: None.shape, "gets `None`"),
    (lambda x: x.max(0) + x, "uses a tuple as if"),
    (lambda x: x.max(0).exp(), "uses a tuple as if"),
    (lambda x: (x, x).exp(), "uses a tuple as if"),
    (lambda x: nn.functional.linear((x, x), x), "uses a tuple as if"),
    (lambda x: (x, x).copy(), "calls `.copy`, which a list has"),
    (lambda x: (x is None).unsqueeze(0), "uses `.unsqueeze` on a plain `bool`"),
    (lambda x: Named().outer(x), "asks for `.outer`"),
    (lambda x: torch.sofmax(x, -1), "asks for `.sofmax`"),
    (lambda x: {"a": x}["w.b"], "looks up `w.b`"),
    (lambda x: x(x), "before them here is not"),
    (lambda x: nn.ModuleList([nn.Linear])(x), "is not a module"),
    (lambda x: next(iter(3)), "has no parts"),
    (lambda x: len(3), "has no parts"),
    (lambda x: torch.tensor([[1], [1, 2]]), "is rectangular"),
    (lambda x: torch.cos(3.0), "gets a plain number"),
    (recurse, "keeps calling itself"),
    (lambda x: torch.zeros(10**7, 10**6), "more memory than there is"),
    (lambda x: [0] * 10**15, "more memory than there is"),
    (lambda x: [0 for a, b, c in [x.shape]], "more or fewer names"),
    (lambda x: x.T.view(12), "`view` never copies"),
    (lambda x: nn.Linear(2.5, 3), "yours is a `float`"),
    (lambda x: x.unflatten(1, (3, -1)), "different number of entries"),
    (lambda x: x.view(5, 2), "different number of entries"),
    (lambda x: x[torch.ones(3, 1).bool()], "nothing is broadcast"),
    (lambda x: x @ x, "do not fit together"),
    (lambda x: torch.cat([x, x[1:]], 1), "do not fit together"),
    (lambda x: x + x.T, "do not broadcast"),
    (lambda x: x.expand(2, 3, 5), "do not broadcast"),
    (lambda x: x.clone().add_(torch.ones(2, 3, 4)), "into the tensor it is written to"),
    (lambda x: torch.stack([x, x[1:]]), "have the same shape"),
    (lambda x: x.transpose(1, 2), "does not have"),
    (lambda x: x[0, 0, 0], "does not have"),
    (lambda x: x[:, 4], "is out of range"),
    (lambda x: nn.functional.embedding(WHOLE + 2, x), "is out of range"),
    (lambda x: x.masked_fill(x, 0.0), "A mask says"),
    (lambda x: ~x, "A mask says"),
    (lambda x: x[x], "does not hold integers"),
    (lambda x: nn.functional.embedding(x, x), "does not hold integers"),
    (lambda x: x @ x.T.double(), "different dtypes"),
    (lambda x: x.view(12 / 1), "yours is a `float`"),
    (lambda x: [0 for _ in range(2.0)], "yours is a `float`"),
    (lambda x: WEIGHT.add_(1), "PyTorch refuses"),
    (in_place, "were overwritten"),
    (lambda x: WEIGHT.numpy(), "records gradients"),
    (lambda x: torch.arange(3, 1), "A range ends"),
    (lambda x: Path("own.pt").read_text(), "opens a file that is not there"),
]


@pytest.mark.parametrize(("answer", "message"), TOLD)
def test_an_error_is_told_in_plain_words(answer, message):
    assert message in name_symptom(answer, answer)


def test_every_kind_of_error_is_tried_here_or_needs_another_machine():
    # What probes raise begins with "expected": below, and in test_crashes.py.
    elsewhere = {"CUDA", "^expected ", "shared with another"}
    messages = [name_symptom(answer) for answer, _ in TOLD]
    for crash in CRASHES:
        pattern = re.compile(re.sub(r"\\{\w+\\}", r"[\\w.]+", re.escape(crash.message)))
        tried = any(map(pattern.fullmatch, messages)) or crash.in_student_code is False
        assert tried or any(word in crash.line for word in elsewhere), crash.line


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("expected a parameter `w.weight`, found `v.weight`",
         "no parameter called `w.weight`; the nearest name is `v.weight`"),
        ("expected a parameter `b.weight`, found `a.weight`; `b.weight`: shared "
         "with another name", "`b.weight` is not a parameter of its own"),
        (f"expected a parameter `b.weight`, found {'`a.weight`, ' * 99}; "
         "`b.weight`: shared with another name",
         "`b.weight` is not a parameter of its own"),
        ("TypeError: f() takes 1 positional argument but 2 were given",
         "takes different ones"),
        ("TypeError: f() got an unexpected keyword argument 'k'",
         "argument called `k`"),
        ("TypeError: PositionalEncoding() takes no arguments", "takes different ones"),
        ("expected y to be a tensor, got a ndarray", "returns a `ndarray`, not"),
        ("expected y to be a tensor, got a list of 4",
         "returns several values, but only one"),
        ("expected the Axes of one figure, got a tuple of 2",
         "returns several values, but only one"),
    ],
)  # fmt: skip
def test_what_is_no_fault_of_a_line_is_told(message, expected):
    case = Case("c", "c", "", {}, {"y": X})
    assert expected in of_all([compare(case, {RAISED: message})]).says


def test_a_tuple_is_not_blamed_where_one_is_asked_for():
    case = Case("c", "c", "", {}, {"y": X})
    message = "expected a tuple (output, cache), got a tuple of 3"
    symptom = of_all([compare(case, {RAISED: message})])
    assert symptom is None or "several values" not in symptom.says


def test_different_errors_are_not_told_as_one():
    def too_far(x):
        return x[:, 4]

    assert name_symptom(too_far, lambda x: x + x.T) == name_symptom(too_far, too_far)
    assert "`" not in name_symptom(lambda x: x + one, lambda x: x + other)  # noqa: F821


def test_an_error_of_another_kind_is_told_where_nothing_else_happens():
    def stops(x):
        raise ValueError("as it happens")

    assert "In every case" in name_symptom(stops, stops)
    assert "refuses an input" in name_symptom(stops, lambda x: x)  # see test_promises


@pytest.mark.timeout(20)  # read whole, it would take minutes
def test_an_endless_error_costs_no_time():
    def stops(x):
        raise ValueError("shape '" * 60_000)

    assert name_symptom(stops, stops) == ""
