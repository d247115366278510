"""The data types of a check: Exercise, Case, Mistake, Finding, CheckResult. No I/O."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch

from autograder.checks.sketches import Sketch

LONGEST_KIND = 80  # letters of the name of a type


@dataclass(frozen=True)
class Other:
    """A value that is neither tensor nor text; only the name of its type is known."""

    kind: str

    def __post_init__(self) -> None:
        if len(self.kind) > LONGEST_KIND:
            object.__setattr__(self, "kind", f"{self.kind[:LONGEST_KIND]} ...")


# What a probe reports and what a reference holds: named tensors, or named text.
Value = torch.Tensor | str | Other
Answers = Mapping[str, Value]
# What is stored of a mistake's answers: large tensors as sketches.
Predictions = Mapping[str, Value | Sketch]


class WrongAnswerError(Exception):
    """A probe cannot examine the student's object or its result; the text says why."""


def plain(value: object) -> Value:
    """Convert a value for comparison: to a plain CPU tensor, a text, or an `Other`."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Other):
        return value
    if not isinstance(value, torch.Tensor):
        return Other(type(value).__name__)
    if value.layout != torch.strided or value.is_quantized:
        return Other(f"{value.layout} tensor")
    value = value.detach()  # one step at a time, since most tensors need none
    if type(value) is not torch.Tensor:
        value = value.as_subclass(torch.Tensor)  # fails for a sparse one
    if not value.is_cpu:
        value = value.to("cpu")
    if value.is_conj() or value.is_neg():
        value = value.resolve_conj().resolve_neg()
    return value.clone(memory_format=torch.contiguous_format)


# The key of the answers of an object that raised or returned something unusable.
RAISED = "raised"
STUB = "stub"  # beside that one: the error comes from the unsolved exercise itself
# Beside results: the names of ready-made answers that an object has called.
CALLED = "ready-made answers that were called"
RENAMED = "an argument of another name"  # beside results: it was passed by position
AFTERWARDS = " afterwards"  # suffix to an input's name: its content after the call


def is_stub(answers: Answers) -> bool:
    """Return whether the answers come from an exercise whose stub is still in place."""
    return RAISED in answers and STUB in answers


@dataclass(frozen=True)
class Mistake:
    """A known wrong solution, with what a good teaching assistant would say about it.

    ``says`` describes it, and ``asks`` is a question that helps to find it. Each of
    its ``variants`` is a way to make it, with stored answers of its own; by
    default, the only one has the mistake's name.
    """

    name: str
    says: str
    asks: str
    variants: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "variants", tuple(self.variants) or (self.name,))


@dataclass(frozen=True, eq=False)  # compared by identity, as tensors have no plain ==
class Case:
    """Inputs of an exercise, with the correct answers and those of known mistakes.

    Inputs and answers are tensors or texts, by name. Cases with the same name are
    one case with different random inputs.

    Args:
        title: what students see; ``name`` identifies the case.
        hint: a sentence that helps if the case fails.
        mistakes: the answers that each variant of a known mistake gives.
        hidden: whether students see neither its inputs nor its answers.
        picture: "curves" to draw columns of a wrong tensor as curves, else "auto".
        measure, scale: if answers are measured, the name of the measure, and pairs
            of a value and its share of the points.
        aspect: what the answers count for, like "values" or "masks".
        says, asks: in a case of a general property, what to tell the student if
            only such cases fail; otherwise "".
        open: whether anybody can answer it without solving the exercise; it then
            counts only if a case that is not open is right as well.
        aspects: exceptions from ``aspect``, by name of the answer.
        doubles: for pairs of mistakes made together, the indices of the two, and
            two numbers by which their answers are recognised (second_order.py).
        shipped: aspects whose right answers can be read in a visible case; they
            count like those of an open case.
        tells: variants that only some inputs distinguish from the solution.
        shapes: the shape of each result in the signature, like ``"B, L, h*d_k"``.
    """

    name: str
    title: str
    hint: str
    inputs: Answers
    expected: Answers
    mistakes: Mapping[str, Predictions] = field(default_factory=dict)
    hidden: bool = False
    atol: float = 1e-5
    rtol: float = 1e-4
    picture: str = "auto"
    measure: str = ""
    scale: tuple[tuple[float, float], ...] = ()
    aspect: str = "values"
    says: str = ""
    asks: str = ""
    open: bool = False
    aspects: Mapping[str, str] = field(default_factory=dict)
    doubles: Answers = field(default_factory=dict)
    shipped: frozenset[str] = frozenset()
    tells: tuple[str, ...] = ()
    shapes: Mapping[str, str] = field(default_factory=dict)

    def aspect_of(self, name: str) -> str:
        """Return the aspect, like "gradients", for which an answer counts."""
        return self.aspects.get(name, self.aspect)


@dataclass(frozen=True)
class Exercise:
    """A graded exercise.

    Args:
        points: the points for a right answer; 0 if the solution is given away.
        mistakes: known wrong solutions, by name.
        builds_on: exercises of the same unit whose answers this one uses.
        separate: why each case is a task of its own; "" if they belong together.
        ready_made: functions that already do what students have to write.
        arguments: the task's names of arguments in order, by function or
            ``Class.method``.
        small: small cases in rising order; the first that fails is shown. They earn
            nothing.
    """

    name: str
    title: str
    points: float
    cases: tuple[Case, ...]
    mistakes: Mapping[str, Mistake] = field(default_factory=dict)
    builds_on: tuple[str, ...] = ()
    separate: str = ""
    ready_made: tuple[str, ...] = ()
    arguments: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    small: tuple[Case, ...] = ()


@dataclass(frozen=True)
class Finding:
    """How one of a student's answers to a case compares with the expected answer.

    ``problem`` is "" if they agree. Otherwise, it is the first that applies of
    "raised", "missing", "type", "shape", "dtype", "finite" and "values". Three
    further constants stand for a ready-made function, a renamed argument and
    partial credit. ``wording`` is the message, or a function that composes it.
    """

    name: str
    problem: str
    wording: str | Callable[[], str] = ""
    expected: Value | None = None
    actual: Value | None = None

    @functools.cached_property
    def message(self) -> str:
        """The message about this finding, composed on first use."""
        return self.wording if isinstance(self.wording, str) else self.wording()

    @property
    def tensors(self) -> tuple[torch.Tensor, torch.Tensor] | None:
        """The expected and the actual value if both are tensors; else None."""
        a, b = self.expected, self.actual
        if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
            return a, b
        return None


@dataclass(frozen=True)
class CaseResult:
    """The answers given to a case, the findings on them, and the share of the points.

    ``credit`` is that share: 0 to 1, or more with a bonus. ``looked_at`` is False if
    the case cannot be tried at all on this answer.
    """

    case: Case
    answers: Answers
    findings: tuple[Finding, ...]
    credit: float
    looked_at: bool = True

    @property
    def passed(self) -> bool:
        return self.credit >= 1.0

    @property
    def is_partial(self) -> bool:
        """Whether a measured answer earns some of the points, which is no failure."""
        return bool(self.case.measure) and 0.0 < self.credit < 1.0


@dataclass(frozen=True)
class CheckResult:
    """The verdict of a check; its ``repr`` gives the points, as nbgrader expects.

    Args:
        points: may include a bonus, which the ``repr`` leaves out.
        sure: whether the mistake explains every answer.
        note: replaces the list of cases if nothing could be run.
        unsolved: whether the answer is still a stub.
        aspects: the points earned and possible, by what they are for.
        smallest: the smallest case that fails, of those tried.
    """

    exercise: str
    title: str
    points: float
    max_points: float
    results: tuple[CaseResult, ...] = ()
    mistake: Mistake | None = None
    sure: bool = False
    note: str = ""
    unsolved: bool = False
    aspects: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    smallest: CaseResult | None = None

    @property
    def passed(self) -> bool:
        return bool(self.results) and all(result.passed for result in self.results)

    @property
    def is_partial(self) -> bool:
        """Whether nothing is wrong, but a measured answer could earn more."""
        fine = (result.passed or result.is_partial for result in self.results)
        return bool(self.results) and not self.passed and all(fine)

    def __repr__(self) -> str:
        return repr(float(min(self.points, self.max_points)))
