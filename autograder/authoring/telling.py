"""Draw the inputs of a case until they expose certain mistakes.

Inputs expose (*tell*) a mistake if it gives wrong answers to them. Random
inputs may expose a mistake only by chance, which would then decide a student's
points. The build records these mistakes, and inputs are redrawn to expose them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from autograder.authoring.answers import (
    expected_answers,
    mistaken_answers,
    mistaken_objects,
)
from autograder.authoring.confined import ConfinedProgram
from autograder.authoring.draw import Draw
from autograder.authoring.points_by_aspect import answer_aspects
from autograder.authoring.specification import CaseKind, Inputs, Specification
from autograder.authoring.variants import build_object
from autograder.checks.compare import compare
from autograder.checks.exercise import Answers, Case, Predictions, Value
from autograder.checks.interactor import Interactor
from autograder.checks.observe import observe
from autograder.checks.points import credits
from autograder.checks.prices import PRICES
from autograder.checks.probes import find
from autograder.checks.values import same_answer

MOST_DRAWS = 2000  # tries to find inputs that expose all required mistakes
_FEWEST, _SAMPLE = 3, 24  # the least and most samples of a case
_TRIES = 60  # one of so many draws must expose all that is required
# Tries to find stable inputs, and the part of the tolerance that rounding may use.
_STABLE_DRAWS, _MARGIN = 20, 0.2
_RUNS = 1500  # of variants, about as many as may be needed to sample an exercise

# By case: the variants that its inputs must expose, with a slash and the aspect of the
# answers that must be wrong, unless it is the case's own: "signed", "in_place/calls".
Tells = Mapping[str, Sequence[str]]
EMPTY: Mapping[str, Any] = {}


class InputsWithAnswers(dict[str, Value]):
    """Inputs with their expected answers, so that these are computed only once."""

    def __init__(self, inputs: Answers, expected: Answers):
        super().__init__(inputs)
        self.expected = expected


def sample(specification: Specification) -> dict[str, tuple[str, ...]]:
    """Map each case to the variants of mistakes that only some of its inputs expose."""
    # Each run would need its own interactor.
    if specification.interactor_class is not Interactor:
        return {}
    kinds = [k for k in specification.cases if not (k.measure or k.expected)]
    variants = sum(len(mutant.variants) for mutant in specification.mutants)
    size = min(_SAMPLE, _RUNS // max(variants * len(kinds), 1))
    names_by_case = {kind.name: _vary(specification, kind, size) for kind in kinds}
    return {case: names for case, names in names_by_case.items() if names}


def _vary(specification: Specification, kind: CaseKind, size: int) -> tuple[str, ...]:
    """Find the variants that the best of some samples exposes, but not all samples do.

    Those that inputs would too rarely expose together are left out.

    Args:
        size: about how many samples of the inputs to draw.
    """
    sampler, names_by_draw = _Sampler(specification, kind), list[set[str]]()
    for n in range(max(size, _FEWEST)):
        case = sampler.draw_case(Draw(f"{specification.name}/{kind.name}/sample {n}"))
        names_by_draw.append(sampler.find_tells(case))
        # Random floats mostly expose the same mistakes: a few samples will do.
        if n + 1 == _FEWEST and not _is_discrete(case.inputs):
            break
    always = names_by_draw[0].intersection(*names_by_draw)
    names = max(names_by_draw, key=len) - always
    return tuple(sorted(_leave_out_rare(specification, kind, names)))


def _leave_out_rare(
    specification: Specification, kind: CaseKind, names: set[str]
) -> set[str]:
    """Leave out variants until random inputs often expose all that remain.

    Otherwise grading would spend seconds on redrawing a case's inputs, because
    chance rarely exposes many variants together.
    """
    required = names.union(specification.tells.get(kind.name, "").split())
    sampler, exposed_by_draw = _Sampler(specification, kind, required), list[set[str]]()
    for n in range(_TRIES if names else 0):
        case = sampler.draw_case(Draw(f"{specification.name}/{kind.name}/try {n}"))
        exposed_by_draw.append(sampler.find_exposed(case, required))
        if exposed_by_draw[-1] == required:
            return names
    while names and not any(required <= exposed for exposed in exposed_by_draw):
        rarest = min(sorted(names), key=lambda n: sum(n in e for e in exposed_by_draw))
        names, required = names - {rarest}, required - {rarest}
    return names


def _is_discrete(inputs: Answers) -> bool:
    """Whether some input can take few values only, so that chance matters more."""
    tensors = [v for v in inputs.values() if isinstance(v, torch.Tensor) and v.dim()]
    return any(not value.is_floating_point() for value in tensors) or not tensors


class _Sampler:
    """Compares an exercise's mistakes with its solution on random inputs of a case."""

    def __init__(
        self,
        specification: Specification,
        kind: CaseKind,
        tells: Collection[str] | None = None,
    ):
        self._specification, self._kind = specification, kind
        self._reference = build_object(specification)
        names = None if tells is None else {_split(tell)[0] for tell in tells}
        self.objects = mistaken_objects(specification, names)

    def draw_case(self, draw: Draw) -> Case:
        """Draw a case: its inputs, and the solution's answers."""
        inputs = self._kind.inputs(draw)
        expected = expected_answers(self._specification, self._reference, inputs)
        case = _plain_case(self._kind, inputs, expected)
        aspects = answer_aspects(self._specification, self._kind, expected)
        return replace(case, aspect=self._kind.aspect, aspects=aspects)

    def find_tells(self, case: Case) -> set[str]:
        """List the variants that a case exposes, written as in `Tells`."""
        tells = set[str]()
        for name in self.objects:
            lost = self._find_lost(case, name)
            if case.aspect in lost:
                tells.add(name)
                # Beside a wrong result, only its other parts keep their points.
                lost -= {case.aspect, *PRICES}
            tells |= {f"{name}/{aspect}" for aspect in lost}
        return tells

    def find_exposed(self, case: Case, tells: Collection[str]) -> set[str]:
        """Return those of ``tells`` (wrong programs) for which a case's inputs give
        errors.
        """
        split = {tell: _split(tell) for tell in tells}
        lost = {name: self._find_lost(case, name) for name, _ in split.values()}
        return {
            tell
            for tell, (name, aspect) in split.items()
            if (aspect or self._kind.aspect) in lost[name]
        }

    def _find_lost(self, case: Case, name: str) -> set[str]:
        """The aspects in which a variant's answers to a case earn nothing."""
        variant = {name: self.objects[name]}
        answers = mistaken_answers(self._specification, variant, case.inputs)
        case_shares = credits([compare(case, answers[name])])
        return {
            aspect for aspect, by_case in case_shares.items() if not by_case[case.name]
        }

    def draw(self, draw: Draw, tells: Sequence[str]) -> InputsWithAnswers | None:
        """Draw inputs that expose all of ``tells``; None after too many tries."""
        required = dict[str, set[str]]()  # by variant: aspects that it must lose
        for name, aspect in map(_split, tells):
            required.setdefault(name, set()).add(aspect or self._kind.aspect)
        hardest_first = list(required)
        for _ in range(MOST_DRAWS):
            case = self.draw_case(draw)
            missed = next(
                (n for n in hardest_first if required[n] - self._find_lost(case, n)),
                None,
            )
            if missed is None:
                return InputsWithAnswers(case.inputs, case.expected)
            hardest_first.remove(missed)
            hardest_first.insert(0, missed)
        return None


def _split(tell: str) -> tuple[str, str]:
    """Split an entry of `Tells` into variant and aspect; "" for the case's aspect."""
    name, _, aspect = tell.partition("/")
    return name, aspect


def draw_until_telling(
    specification: Specification, kind: CaseKind, tells: Collection[str]
) -> CaseKind:
    """Return a kind of case that redraws its inputs until they expose ``tells``.

    It gives up after many tries, and takes the next inputs.
    """
    if not tells:
        return kind

    def inputs(draw: Draw) -> Inputs:
        sampler = _Sampler(specification, kind, tells)
        return sampler.draw(draw, sorted(tells)) or kind.inputs(draw)

    return replace(kind, inputs=inputs)


def draw_stably(specification: Specification, kind: CaseKind, draw: Draw) -> Inputs:
    """Try to draw inputs for which the solution's float32 rounding errors are small.

    Otherwise, a correct answer might be refused by chance.
    """
    inputs: Inputs = kind.inputs(draw)
    is_interactive = specification.interactor_class is not Interactor
    # What is expected is not the solution's own answer, or it cannot be run alone.
    if kind.measure or kind.expected or specification.reference or is_interactive:
        return inputs
    probe, reference = find(specification.name), build_object(specification)
    for _ in range(_STABLE_DRAWS):
        expected = (
            inputs.expected
            if isinstance(inputs, InputsWithAnswers)
            else expected_answers(specification, reference, inputs)
        )
        case = _plain_case(kind, inputs, expected, _MARGIN)
        if compare(case, observe(probe, reference, inputs)).passed:
            return InputsWithAnswers(inputs, expected)
        inputs = kind.inputs(draw)
    return inputs


def find_unsteady(
    specification: Specification, objects: Mapping[str, object], case: Case
) -> set[str]:
    """Find the variants whose answers to a case depend on rounding.

    Tiny changes of the inputs change their answers, but not the solution's.
    """
    moved = move_inputs(case.inputs)
    objects = {
        name: answer
        for name, answer in objects.items()
        if name in case.mistakes and not isinstance(answer, ConfinedProgram)
    }
    # Without floats, nothing has moved.
    if not objects or all(moved[name] is value for name, value in case.inputs.items()):
        return set()
    answers_by_name = mistaken_answers(specification, objects, moved)
    unsteady = {
        name
        for name, answers in answers_by_name.items()
        if not _is_same(case.mistakes[name], answers, case)
    }
    if not unsteady:
        return set()
    reference = build_object(specification)
    answers = expected_answers(specification, reference, moved)
    return unsteady if _is_same(case.expected, answers, case) else set()


def _is_same(before: Predictions, after: Answers, case: Case) -> bool:
    """Whether all answers agree within the tolerance of the case."""
    return before.keys() == after.keys() and all(
        same_answer(before[name], answer, case) for name, answer in after.items()
    )


def move_inputs(inputs: Answers) -> dict[str, Value]:
    """Change the entries of float tensors by less than a millionth."""
    return {name: _move(value) for name, value in inputs.items()}


def _move(value: Value) -> Value:
    if isinstance(value, torch.Tensor) and value.is_floating_point() and value.dim():
        return value * (1 + 2.0**-21)
    return value


def _plain_case(
    kind: CaseKind, inputs: Inputs, expected: Answers, margin: float = 1.0
) -> Case:
    """Make a case from inputs and expected answers, without any mistakes.

    Args:
        margin: a factor for the kind's tolerance, below 1 for a stricter case.
    """
    return Case(
        kind.name, kind.title, kind.hint, inputs, expected,
        atol=margin * kind.atol, rtol=margin * kind.rtol,
    )  # fmt: skip
