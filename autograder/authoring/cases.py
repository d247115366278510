"""Draw an exercise's cases, with right and wrong answers."""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any

from autograder.authoring import properties
from autograder.authoring.answers import (
    expected_answers,
    mistaken_answers,
    mistaken_objects,
    ways_named,
)
from autograder.authoring.catalogue import file_of
from autograder.authoring.draw import Draw
from autograder.authoring.second_order import with_doubles
from autograder.authoring.specification import CaseKind, Inputs, Specification
from autograder.authoring.variants import build_object, namespace, solution_source
from autograder.checks.compare import compare
from autograder.checks.exercise import Answers, Case, Exercise, Mistake, Value
from autograder.checks.interactor import Interactor
from autograder.checks.naming import pattern
from autograder.checks.points import RESULTS, WEIGHTS
from autograder.checks.probes import OWN, find
from autograder.course import ROOT
from autograder.course.errors import CourseError

_DRAWINGS = 200  # of one case, until it tells what it has to


class _Told(dict[str, Value]):
    """Inputs with the right answers, which it took to see what they tell."""

    def __init__(self, inputs: Inputs, expected: Answers):
        super().__init__(inputs)
        self.expected = expected


def drawings(
    specification: Specification, seed: str, hidden: bool
) -> Iterable[tuple[CaseKind, Answers]]:
    """The kinds of cases that a seed draws, with their inputs."""
    kinds = all_kinds(specification)
    shown = (kind for kind in kinds if hidden or not kind.hidden_only)
    return _drawn(specification, shown, seed)


def _drawn(
    specification: Specification, kinds: Iterable[CaseKind], seed: str
) -> Iterator[tuple[CaseKind, Answers]]:
    for kind in kinds:
        yield kind, copy.copy(kind.inputs(_draw(specification, kind, seed)))


def all_kinds(specification: Specification) -> tuple[CaseKind, ...]:
    """An exercise's own kinds of cases and those of its general properties."""
    own = [_telling(specification, kind) for kind in specification.cases]
    contract = specification.contract
    if specification.side is not Interactor:  # we would have to play several of them
        return tuple(own)
    answer = specification.answer_in(namespace(specification))
    forms = {} if isinstance(answer, tuple) else properties.forms(answer)
    if contract is None:
        return (*own, *properties.sequence(own, forms))
    try:
        return (*own, *properties.kinds(contract, own, forms))
    except CourseError as error:
        file = file_of(specification.name).relative_to(ROOT)
        raise CourseError(f"{file}: {error}") from None


def _telling(specification: Specification, kind: CaseKind) -> CaseKind:
    """The kind, drawn again until it tells all that it has to."""
    if not kind.tells:
        return kind

    def inputs(draw: Draw) -> Inputs:
        reference = build_object(specification)
        wrong = list(ways_named(specification, kind.tells).items())
        for _ in range(_DRAWINGS):
            made = kind.inputs(draw)
            case = _case(specification, kind, "", reference, made, {}, True)
            for at, (name, one) in enumerate(wrong):
                given = mistaken_answers(specification, {name: one}, made)[name]
                if compare(case, given).passed:
                    wrong.insert(0, wrong.pop(at))  # first the next time: it is hard
                    break
            else:
                return _Told(made, case.expected)
        raise CourseError(
            f"{specification.name}, case {kind.name}: none of {_DRAWINGS} draws "
            f"tells all of these from the solution: {', '.join(kind.tells)}"
        )

    return replace(kind, inputs=inputs)


def exercise(
    specification: Specification,
    points: float,
    seed: str,
    hidden: bool,
    unit: Sequence[Specification] = (),
) -> Exercise:
    """One drawing of all cases of an exercise, with right and wrong answers.

    A hidden drawing knows the mistakes where no visible one can: mistakes are named by
    the visible cases, which every check runs, too. Cases of general properties, whose
    answers are many, keep those of mistakes that only they can see; of others, which
    ones are wrong. ``unit`` are the exercises among which this one may build on others.

    Raises:
        CourseError: the reference solution fails on its own cases.
    """
    objects = mistaken_objects(specification)
    reference = build_object(specification)
    drawn = list(drawings(specification, seed, hidden))

    def case(kind: CaseKind, inputs: Answers, known: bool) -> Case:
        given = mistaken_answers(specification, objects, inputs) if known else {}
        return _case(specification, kind, seed, reference, inputs, given, hidden)

    made = {
        kind.name: case(kind, inputs, kind.hidden_only or not hidden)
        for kind, inputs in drawn
        if not kind.says
    }
    unseen = {name for name in objects if _is_right(name, made.values())}
    for kind, inputs in drawn:
        if kind.says:
            made[kind.name] = _shortened(case(kind, inputs, not hidden), unseen)
    cases = tuple(_steady(specification, made[kind.name]) for kind, _ in drawn)
    if not hidden:
        cases = with_doubles(specification, cases)
    mistakes = {m.name: Mistake(m.name, m.says, m.asks) for m in specification.mutants}
    return Exercise(
        specification.name,
        specification.title,
        points,
        cases,
        mistakes,
        builds_on(specification, unit),
        specification.aspects,
        tuple(specification.ready_made),
    )


def _is_right(mistake: str, cases: Iterable[Case]) -> bool:
    return all(
        compare(case, case.mistakes[mistake]).passed for case in cases if case.mistakes
    )


def _shortened(case: Case, whole: Collection[str]) -> Case:
    """A case that keeps whole answers of those mistakes only."""
    kept = {
        name: given if name in whole else pattern(compare(case, given))
        for name, given in case.mistakes.items()
    }
    return replace(case, mistakes=kept)


def _steady(specification: Specification, case: Case) -> Case:
    """A case without those answers of mistakes that rounding decides."""
    unsteady = {m.name for m in specification.mutants if case.name in m.unsteady}
    return _shortened(case, case.mistakes.keys() - unsteady)


def fresh_cases(
    specification: Specification, seed: str, only_hidden: bool = False
) -> list[Case]:
    """A drawing that nobody has seen, with the right answers only.

    Args:
        only_hidden: of kinds alone that have no visible drawing.
    """
    reference = build_object(specification)
    kinds = [
        kind for kind in all_kinds(specification) if kind.hidden_only or not only_hidden
    ]
    return [
        _case(specification, kind, seed, reference, inputs, {}, True)
        for kind, inputs in _drawn(specification, kinds, seed)
    ]


def builds_on(
    specification: Specification, unit: Sequence[Specification]
) -> tuple[str, ...]:
    """The exercises of a unit whose objects an exercise's solution uses.

    Also through what the notebook gives: functions and classes that are no exercise's.
    """
    if not unit:
        return ()
    targets = {other.target for other in unit}
    names = namespace(specification)
    used: set[str] = set()
    waiting = [solution_source(specification)]
    while waiting:
        found = _names(waiting.pop()) - used
        used |= found
        given = (names.get(name) for name in found - targets)
        waiting += [
            inspect.getsource(one)
            for one in given
            if getattr(one, "__module__", "") == names["__name__"]
            and isinstance(one, FunctionType | type)
        ]
    return tuple(
        other.name
        for other in unit
        if used.intersection(other.targets) and other.name != specification.name
    )


def _names(source: str) -> set[str]:
    """The names that code reads or sets."""
    nodes = ast.walk(ast.parse(source))
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def _case(
    specification: Specification,
    kind: CaseKind,
    seed: str,
    reference: object,
    inputs: Answers,
    mistakes: dict[str, Answers],
    hidden: bool,
) -> Case:
    if isinstance(inputs, _Told):
        expected = inputs.expected
    elif kind.known:
        expected = kind.known(_draw(specification, kind, seed))
    else:
        expected = expected_answers(specification, reference, inputs)
    return Case(
        kind.name, kind.title, kind.hint, inputs, expected, mistakes, hidden,
        aspects=aspects(specification, kind, expected), **_like(kind),
    )  # fmt: skip


def aspects(
    specification: Specification, kind: CaseKind, names: Iterable[str]
) -> dict[str, str]:
    """The aspects that answers count for, where it is not the case's own.

    Of cases of values and of masks only: others count as a whole, as do those of
    general properties. Parts of the results count in a case of values, if not `whole`.

    Raises:
        CourseError: the probe does not declare an answer once, or for an aspect that
            has no weight.
    """
    if kind.says:  # the answers are those of several ways to call
        return {}
    declared = {name: _declared(specification, name) for name in names}
    if kind.aspect not in RESULTS:
        return {}
    divided = kind.aspect == "values" and not kind.whole
    return {
        name: aspect
        for name, aspect in declared.items()
        if aspect in WEIGHTS or (divided and aspect != OWN)
    }


def _declared(specification: Specification, name: str) -> str:
    try:
        aspect = find(specification.name).aspect(name)
    except LookupError as error:
        raise CourseError(f"{specification.name}: {error} beside its @probe") from None
    if aspect not in (OWN, *WEIGHTS, *specification.aspects):
        raise CourseError(
            f"{specification.name}: its @probe declares {name!r} as part {aspect!r}; "
            "give that a weight in the aspects of its Specification"
        )
    return aspect


def _draw(specification: Specification, kind: CaseKind, seed: str) -> Draw:
    return Draw(f"{specification.name}/{kind.name}/{seed}")


def _like(kind: CaseKind) -> dict[str, Any]:
    names = "atol rtol picture measure scale aspect says asks open"
    return {name: getattr(kind, name) for name in names.split()}
