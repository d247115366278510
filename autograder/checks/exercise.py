"""The vocabulary of a check: Exercise, Case, Mistake, Finding, CheckResult. No I/O."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch

from autograder.checks.sketches import Sketch

LONGEST_KIND = 80  # letters of the name of a type


@dataclass(frozen=True)
class Other:
    """Something that is neither tensor nor text; only the name of its type is known.

    A long name is cut, because code in a sandbox may give its types names of any
    length.
    """

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
    """The student's object cannot be observed; the text says what was expected."""


def plain(value: object) -> Value:
    """A tensor as an ordinary, contiguous CPU tensor; of other things only the kind."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Other):
        return value
    if not isinstance(value, torch.Tensor):
        return Other(type(value).__name__)
    if value.layout != torch.strided or value.is_quantized:
        return Other(f"{value.layout} tensor")
    value = value.detach()  # step by step: most need none of these
    if type(value) is not torch.Tensor:
        value = value.as_subclass(torch.Tensor)  # fails for a sparse one
    if not value.is_cpu:
        value = value.to("cpu")
    if value.is_conj() or value.is_neg():
        value = value.resolve_conj().resolve_neg()
    return value.clone(memory_format=torch.contiguous_format)


# The key of the answers of an object that raised or returned something unusable.
RAISED = "raised"
STUB = "stub"  # beside that one: what raised is an exercise that nobody has solved
# Beside results: the ready-made answers to its exercise that an object has called.
CALLED = "ready-made answers that were called"
RENAMED = "an argument of another name"  # beside results: it was passed by position
AFTERWARDS = " afterwards"  # after the name of an input: what it holds in the end


def is_stub(answers: Answers) -> bool:
    """Whether an exercise is not solved yet, rather than wrong."""
    return RAISED in answers and STUB in answers


@dataclass(frozen=True)
class Mistake:
    """A classic wrong solution, and what a good teaching assistant says about it.

    ``variants`` names the ways to make it, under which cases hold its answers; a single
    one has the mistake's own name.
    """

    name: str
    says: str
    asks: str
    variants: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "variants", tuple(self.variants) or (self.name,))


@dataclass(frozen=True, eq=False)  # each is itself: tensors are not equal in a word
class Case:
    """One drawing of inputs with the answers that are right and those that are wrong.

    ``mistakes`` maps a variant of a mistake to the answers that its code gives here.
    ``hidden`` cases are never described beyond their title. A case with a ``measure``
    earns a share of its points by ``scale`` (see measures/) instead of all or none.
    ``says`` and ``asks`` tell what was seen if all cases without them are right. An
    ``open`` case has a right answer that anybody can give without solving the exercise:
    it counts only if the answer to some case that is not open is right, too.
    ``aspects`` holds the aspects of answers that count for another one than the case's
    own ``aspect``, as their probe declares them. ``doubles``: what pairs of mistakes
    answer, as sketches (second_order.py). ``shipped`` names the aspects of a fresh case
    whose right answers stand in a visible one: they count like those of an open case.
    ``tells`` are variants that some drawings tell and others do not; inputs are drawn
    until they do. It is stored with hidden cases only. ``shapes`` are those of results
    in the words of the signature: ``"B, L, h*d_k"``.
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
        """The aspect that an answer counts for."""
        return self.aspects.get(name, self.aspect)


@dataclass(frozen=True)
class Exercise:
    """A graded piece of work, whose ``points`` are divided over aspects.

    ``separate`` says why a wrong result costs only the share of its case (prices.py):
    each is a task of its own. ``builds_on`` names exercises of the same unit whose
    answers this one uses. One that is given in this edition of the unit has no points.
    ``ready_made`` names functions that do what it asks one to write (ready_made.py),
    ``arguments`` those of its functions, in the order of the text (renamed.py).
    ``small`` are small cases in rising order, to be shown where an answer fails
    (smallest.py); they earn nothing.
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
    """How one named answer compares with the reference.

    ``problem`` is "" when they agree, else the first of raised, missing, type, shape,
    dtype, finite, values in which they differ, that a ready-made answer was called or
    an argument renamed, or `PARTLY`. ``wording`` is what to say of it, or a function
    that makes it.
    """

    name: str
    problem: str
    wording: str | Callable[[], str] = ""
    expected: Value | None = None
    actual: Value | None = None

    @functools.cached_property
    def message(self) -> str:
        """The message about this finding, composed only when somebody asks for it."""
        return self.wording if isinstance(self.wording, str) else self.wording()


@dataclass(frozen=True)
class CaseResult:
    """A case with the answers that were given, what was found, and the share earned.

    ``looked_at`` is False if this answer does not allow the case to be tried at all.
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
        """Whether a measured answer earns some of the points: progress, no failure."""
        return bool(self.case.measure) and 0.0 < self.credit < 1.0


@dataclass(frozen=True)
class CheckResult:
    """What a check concludes. Its ``repr`` is nbgrader's partial credit: the points.

    ``points`` may hold a bonus; nbgrader's own grading stops at a credit above the
    points of a cell, so the ``repr`` leaves it out. ``note`` replaces the list of
    cases when nothing could be run; ``unsolved`` says that it is a stub still. ``sure``
    says that the mistake explains every answer, not only some of them. ``aspects`` are
    the points earned and possible, by aspect. ``smallest`` is the smallest of the small
    cases on which a wrong answer fails.
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
