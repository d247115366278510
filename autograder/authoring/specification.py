"""The specification of an exercise: its cases, its mutants, its accepted solutions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
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
        values: by name. The value of a dimension is its size. That of an argument is
            the argument itself, the shape to draw (``"B 1 Lk"``), or a function, which
            is called with a Draw and with those values that its further parameters are
            named after. That of "weights" is the largest weight of a module, by default
            1.
        below: integers are drawn from 0 up to this number, which is excluded.
        scale: floats are drawn between -scale and scale.
        dtype: a dtype other than float32 for the weights and arguments that would be
            drawn in it; no gradients are compared then.
    """

    values: Mapping[str, Any]
    below: int = 0
    scale: float = 2.0
    dtype: str = ""


@dataclass(frozen=True)
class CaseKind:
    """A kind of inputs; each drawing of it gives one Case.

    Args:
        name: identifier, unique in the exercise.
        title: what is tried, as the student reads it ("a causal mask").
        inputs: from a Draw to named inputs (tensors or text), or their sizes.
        hint: what it usually means when this fails, shown if no mistake is recognised.
        hidden_only: never shown to students, not even its drawing.
        picture: "auto", or "curves" for quantities that run along rows.
        measure, scale: for answers that are better or worse (see measures/): the
            measure's name, and (value, share of the points) in rising order.
        aspect: the part of the exercise's points that it earns, and what damage here
            costs (see prices.PRICES): "limits" for inputs that are unusual.
        says, asks: what to say if this alone fails and no mistake is recognised, with
            ``{label}`` for the first answer that is wrong.
        expected: from an equal Draw to the expected answers, if the inputs are made
            from these, so that no solution has to compute them.
        open: the right answer is the same in every drawing, or lies in the sandbox: it
            counts only if the answer to some case that is not open is right, too.
        undivided: no part of the results counts for itself, since the right answer of
            some part is the same in every drawing, or lies in the sandbox.
        tests: the line of the contract that it tests, by some of its words.
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
    """One change of the solution's text; ``old`` must occur exactly once in it.

    A text of several lines is written between triple quotes, indented like code at any
    depth: it is found, and put, at the depth of the solution.
    """

    old: str
    new: str


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A mistake or alternative solution: edits of the notebook's, or new code.

    Args:
        name: identifier; the first variant of a mutant takes the mutant's by default.
        edits: changes of the solution, one after the other.
        source: full code in place of edits; sees the unit's imports and names.
        confined: a student wrote the code, so that only a sandbox executes it.
        tests: of a solution, the line of the contract that allows what it does.
    """

    name: str = ""
    edits: Sequence[Edit] = ()
    source: str = ""
    confined: bool = False
    tests: str = ""


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A named mistake: what happened, a question that helps, and variants that make it.

    Variants may give different answers: those of each name the mistake in a student's
    check. A single variant has the mistake's name. ``tests``: the line of the contract
    that it breaks, by some of its words.
    """

    name: str
    says: str
    asks: str
    variants: Sequence[Variant]
    tests: str = ""

    def __post_init__(self) -> None:
        named = tuple(
            variant
            if variant.name
            else replace(variant, name=f"{self.name}_{n}" if n > 1 else self.name)
            for n, variant in enumerate(self.variants, 1)
        )
        object.__setattr__(self, "variants", named)


@dataclass(frozen=True, kw_only=True)
class Specification:
    """An exercise as its author writes it: what the notebook does not say of it.

    Args:
        cases, mutants: kinds of inputs, and classic wrong solutions.
        accepted: correct solutions in another style, which must get every point.
        precise: compute the reference in float64 (off where inputs are not numbers).
        reference: the object that gives the expected answers, if it is not the
            notebook's solution (a trained model is neither exact nor portable; to draw
            a picture takes longer than to know what stands in it).
        contract: what is true of every call, from which more cases follow.
        parts: the results that count for themselves, in words, with ", " between
            several: those of these names, and what a probe declares for them.
        separate: why a wrong result costs only the share of its case, where each case
            or part is a task of its own; the usual prices hold if omitted.
        interactor: what the judge plays where it knows more than ships with the probe.
        ready_made: functions that do what is asked, and that the text forbids: of
            PyTorch ("torch.softmax", "F.rms_norm", "nn.Transformer"), or by their
            module or package ("my_course.library.decoding.make_batch"). Results count
            for nothing where one of them is called.
        results: what is returned, in words, with ", " between several.
        gradients: whether those of the results are compared, where a tensor of floats
            is an argument and no probe is written.
        numbers: attributes of a module that its text promises, as numbers.
        fixed: names of dimensions that cannot be 1, or equal to another one.
        tests: lines of the contract that the cases of general properties test.
        name: "unit/exercise", also the grade id and the key of its references; the
            catalogue knows it from the file.
        target: the name that the student's cell defines and the check is given; of
            several, all names, with ", " between them. The exercise's own, if omitted.
        is_possible: whether inputs can occur, where not all that the solutions accept
            make sense: small cases are cut from large ones.
        helpers: names of functions that the cell defines in front of it, which belong
            to the solution as well.
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
    tests: str = ""
    name: str = ""
    target: str = ""
    helpers: Sequence[str] = ()
    is_possible: Callable[[Mapping[str, Any]], bool] | None = None

    @property
    def part_names(self) -> list[str]:
        """The results that count for themselves."""
        return self.parts.split(", ") if self.parts else []

    @property
    def targets(self) -> list[str]:
        """The names of the exercise's functions and classes, mostly only one."""
        return self.target.split(", ")

    def answer_in(self, names: Mapping[str, Any]) -> Any:
        """What a check is given of a cell's names: an object, or a tuple of several."""
        objects = tuple(names[name] for name in self.targets)
        return objects if len(objects) > 1 else objects[0]

    @property
    def side(self) -> type[Interactor]:
        """The interactor that the judge plays while a student's object is tried."""
        return self.interactor or find(self.name).interactor

    @property
    def unit(self) -> str:
        """The unit's name, which is the part before the slash."""
        return self.name.split("/")[0]
