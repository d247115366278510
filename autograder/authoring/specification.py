"""The specification of an exercise: its cases, its mutants, its accepted solutions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

from autograder.authoring.contract import Contract
from autograder.authoring.contract import (
    Inputs as Inputs,  # named tensors, or named text
)
from autograder.authoring.contract import Maker as Maker
from autograder.authoring.draw import Draw
from autograder.checks.exercise import Answers
from autograder.checks.interactor import Interactor
from autograder.checks.probes import find


@dataclass(frozen=True)
class InputSizes:
    """Sizes of dimensions, from which `autograder.authoring.sizes` draws the inputs.

    Args:
        values: a dimension's size by its name. An argument's name may map to its
            value, the shape to draw (``"B 1 Lk"``), or a function of a Draw and the
            values that its other parameters name; "weights" maps to the largest
            weight of a module, by default 1.
        below: integers are drawn from 0 up to this number, which is excluded.
        scale: floats are drawn between -scale and scale.
        dtype: the dtype of weights and arguments, in place of float32. If stated,
            no gradients are compared.
    """

    values: Mapping[str, Any]
    below: int = 0
    scale: float = 2.0
    dtype: str = ""


@dataclass(frozen=True)
class CaseKind:
    """A kind of inputs; drawing them once gives one Case.

    Args:
        name: identifier, unique in the exercise.
        title: what is tried, as the student reads it ("a causal mask").
        inputs: their sizes, or a function from a Draw to named tensors or text.
        hint: what a wrong answer usually means, if no mistake is recognised.
        hidden_only: whether students never see any case of this kind.
        picture: how wrong results are drawn: "auto", or "curves" for quantities
            that change from row to row.
        measure, scale: for answers that are not just right or wrong: the measure's
            name (see measures/), and rising pairs (value, share of the points).
        expected: a function from a Draw, seeded as for the inputs, to the expected
            answers, if the inputs are generated from these.
        aspect: what the answers are about, which decides what a wrong one costs;
            "limits" is for unusual inputs.
        says, asks: for a general property, the message and the question, in which
            ``{label}`` describes the calls that went wrong.
        open: whether the correct answer is the same for all random inputs, or can
            be read in the sandbox. It then counts only if a case that is not open
            is answered correctly as well.
        undivided: whether parts of the results earn no points separately, because
            the answer to some part is open in this sense.
        tests: words quoted from the requirement that the case tests.
    """

    name: str
    title: str
    inputs: Any  # a Maker, or InputSizes until `autograder.authoring.sizes.complete`
    hint: str
    _: KW_ONLY
    hidden_only: bool = False
    atol: float = 1e-5
    rtol: float = 1e-4
    picture: str = "auto"
    measure: str = ""
    scale: tuple[tuple[float, float], ...] = ()
    expected: Callable[[Draw], Answers] | None = None
    aspect: str = "values"
    says: str = ""
    asks: str = ""
    open: bool = False
    undivided: bool = False
    tests: str = ""


@dataclass(frozen=True)
class Edit:
    """One change to the solution's text; ``old`` must occur exactly once in it.

    Text of several lines may be indented to any depth.
    """

    old: str
    new: str


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A mistake or other solution: edits of the notebook's solution, or new code.

    Args:
        name: by default, a mutant's variants are named after the mutant.
        source: full code in place of edits, with the unit's imports and names.
        confined: whether a student wrote the code, so that it runs in a sandbox.
        tests: words quoted from the requirement that allows an accepted solution.
    """

    name: str = ""
    edits: Sequence[Edit] = ()
    source: str = ""
    confined: bool = False
    tests: str = ""


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A named mistake: the message, a question that helps, and variants that make it.

    A check recognises it in answers like those of any variant. ``tests`` quotes
    words of the requirement that the mistake breaks.
    """

    name: str
    says: str
    asks: str
    variants: Sequence[Variant]
    tests: str = ""

    def __post_init__(self) -> None:
        """Name variants without a name after the mistake: x, x_2, x_3."""
        named = tuple(
            variant
            if variant.name
            else replace(variant, name=f"{self.name}_{n}" if n > 1 else self.name)
            for n, variant in enumerate(self.variants, 1)
        )
        object.__setattr__(self, "variants", named)


@dataclass(frozen=True, kw_only=True)
class Specification:
    """What the author of an exercise specifies outside the notebook.

    Args:
        cases, mutants: kinds of inputs, and typical wrong solutions.
        accepted: correct solutions in other styles, which must get every point.
        precise: whether to compute the expected answers in float64.
        reference: the object that gives the expected answers, if it is not the
            notebook's solution, for instance because that trains a model.
        contract: properties of every call, from which more cases follow.
        parts: the names of results that earn points separately, joined by ", ".
        separate: why each case or part is a separate task; a wrong result then
            costs only the share of its case or part.
        interactor: the judge's side of the probe, if it must know what is secret.
        ready_made: functions that solve the exercise and that its text forbids,
            such as "torch.softmax" or "my_course.library.decoding.make_batch". A
            result that uses one earns no points.
        results: names for the returned values, in words, joined by ", ".
        gradients: whether gradients of the results are compared, where possible.
        numbers: a module's numeric attributes to compare, joined by spaces.
        fixed: dimensions that cannot be 1 or equal another, joined by spaces.
        tells: by case, variants that random inputs rarely expose, joined by spaces.
            Inputs are redrawn until they do.
        tests: words of the requirements that the cases of general properties test.
        name: "unit/exercise", which is derived from the file.
        target: the name that the student's cell defines and passes to the check, or
            several names joined by ", "; by default, the exercise's own.
        is_possible: says whether inputs make sense, when small cases are cut from
            large ones.
        helpers: names of functions that the cell defines before the target, and
            that belong to the solution.
    """

    cases: Sequence[CaseKind]
    mutants: Sequence[Mutant] = ()
    accepted: Sequence[Variant] = ()
    precise: bool = True
    reference: object = None
    contract: Contract | None = None
    parts: str = ""
    separate: str = ""
    interactor: type[Interactor] | None = None
    ready_made: Sequence[str] = ()
    results: str = "the result"
    gradients: bool = True
    numbers: str = ""
    fixed: str = ""
    tells: Mapping[str, str] = field(default_factory=dict)
    tests: str = ""
    name: str = ""
    target: str = ""
    helpers: Sequence[str] = ()
    is_possible: Callable[[Mapping[str, Any]], bool] | None = None

    @property
    def part_names(self) -> list[str]:
        """The names of the results that earn points separately."""
        return self.parts.split(", ") if self.parts else []

    @property
    def targets(self) -> list[str]:
        """The names of the functions and classes to check, in most exercises one."""
        return self.target.split(", ")

    def answer_in(self, names: Mapping[str, Any]) -> Any:
        """Look up the exercise's object, or a tuple of several, in a namespace."""
        objects = tuple(names[name] for name in self.targets)
        return objects if len(objects) > 1 else objects[0]

    @property
    def interactor_class(self) -> type[Interactor]:
        """The interactor's class: the exercise's own, or else that of its probe.

        An interactor answers the probe's questions during a check.
        """
        return self.interactor or find(self.name).interactor

    @property
    def unit(self) -> str:
        """The unit's name, which is the part before the slash."""
        return self.name.split("/")[0]
