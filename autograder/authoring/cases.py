"""Draw an exercise's random cases, with the answers of its solution and its mutants."""

from __future__ import annotations

import ast
import contextlib
import copy
import functools
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
)
from autograder.authoring.draw import Draw
from autograder.authoring.points_by_aspect import answer_aspects
from autograder.authoring.second_order import add_pair_sketches
from autograder.authoring.sizes import shapes_of_results
from autograder.authoring.smallest import small_cases
from autograder.authoring.specification import CaseKind, Specification
from autograder.authoring.telling import (
    EMPTY,
    InputsWithAnswers,
    Tells,
    draw_stably,
    draw_until_telling,
    find_unsteady,
)
from autograder.authoring.variants import (
    argument_names,
    build_object,
    namespace,
    solution_source,
)
from autograder.checks import references
from autograder.checks.compare import compare
from autograder.checks.exercise import Answers, Case, Exercise, Mistake
from autograder.checks.interactor import Interactor
from autograder.checks.naming import pattern
from autograder.checks.stored_answers import select_whole, sketch_mistakes


def drawings(
    specification: Specification, seed: str, hidden: bool, tells: Tells = EMPTY
) -> Iterable[tuple[CaseKind, Answers]]:
    """Yield each kind of case, with inputs drawn from a seed.

    Args:
        hidden: whether to include kinds that students never see.
        tells: by kind, the wrong programs that its inputs must expose.
    """
    kinds = all_kinds(specification, tells)
    included = (kind for kind in kinds if hidden or not kind.hidden_only)
    return _draw_inputs(specification, included, seed)


def _draw_inputs(
    specification: Specification, kinds: Iterable[CaseKind], seed: str
) -> Iterator[tuple[CaseKind, Answers]]:
    """Yield each kind of case with its inputs, which depend only on kind and seed."""
    for kind in kinds:
        draw = _draw(specification, kind, seed)
        yield kind, copy.copy(draw_stably(specification, kind, draw))


def all_kinds(
    specification: Specification, tells: Tells = EMPTY
) -> tuple[CaseKind, ...]:
    """List an exercise's own kinds of cases, then those that test general properties.

    A general property holds for any correct solution, for instance that a second
    call gives the same result.

    Args:
        tells: by kind, further wrong programs that its inputs must expose.
    """

    def redraw(kind: CaseKind) -> CaseKind:
        stated = specification.tells.get(kind.name, "").split()
        return draw_until_telling(
            specification, kind, {*stated, *tells.get(kind.name, ())}
        )

    own_kinds = [redraw(kind) for kind in specification.cases]
    contract = specification.contract
    # General properties take several calls, each with an interactor of its own.
    if specification.interactor_class is not Interactor:
        return tuple(own_kinds)
    answer = specification.answer_in(namespace(specification))
    forms = {} if isinstance(answer, tuple) else properties.forms(answer)
    if contract is None:
        property_kinds = properties.sequence(own_kinds, forms)
    else:
        property_kinds = properties.kinds(contract, own_kinds, forms)
    return (*own_kinds, *map(redraw, property_kinds))


def exercise(
    specification: Specification,
    points: float,
    seed: str,
    hidden: bool,
    unit: Sequence[Specification] = (),
    tells: Tells = EMPTY,
) -> Exercise:
    """Draw all cases of an exercise once, with the answers of solution and mutants.

    Args:
        hidden: whether to draw hidden cases rather than visible ones.
        unit: the unit's exercises, on some of which this one may build.
        tells: by kind of case, the wrong programs that its inputs must expose.
    """
    objects = mistaken_objects(specification)
    reference = build_object(specification)
    kind_inputs = list(drawings(specification, seed, hidden, tells))
    unsteady_by_kind = dict[str, set[str]]()

    def case(kind: CaseKind, inputs: Answers, with_mistakes: bool) -> Case:
        """Make a case; if it is ordinary, note whose answers depend on rounding."""
        mistakes = {}
        if with_mistakes:
            mistakes = mistaken_answers(specification, objects, inputs)
        case = _case(specification, kind, seed, reference, inputs, mistakes, hidden)
        if not (kind.says or kind.measure):
            unsteady_by_kind[kind.name] = find_unsteady(specification, objects, case)
        return case

    # Mistakes are recognised in visible cases. Hidden ones store them only for kinds
    # that students never see.
    cases_by_kind = {
        kind.name: case(kind, inputs, kind.hidden_only or not hidden)
        for kind, inputs in kind_inputs
        if not kind.says
    }
    # Variants that no ordinary case shows to be wrong.
    unseen = {name for name in objects if _is_right(name, cases_by_kind.values())}
    for kind, inputs in kind_inputs:
        if kind.says:
            # Its full answers are needed only for mistakes that nothing else shows.
            property_case = case(kind, inputs, not hidden)
            cases_by_kind[kind.name] = _shorten_answers(property_case, unseen)
    unsteady = set[str]().union(*unsteady_by_kind.values())
    # Answers that depend on rounding cannot be compared: store which are wrong.
    cases = tuple(
        _shorten_answers(case, case.mistakes.keys() - unsteady_by_kind.get(name, ()))
        for name, case in ((k.name, cases_by_kind[k.name]) for k, _ in kind_inputs)
    )
    if hidden:
        cases = tuple(replace(c, tells=tuple(tells.get(c.name, ()))) for c in cases)
    else:
        cases = add_pair_sketches(specification, cases, unsteady)
    cases = tuple(map(sketch_mistakes, cases))
    return Exercise(
        specification.name,
        specification.target,  # until the build reads the title above its check
        points, cases, describe_mistakes(specification), builds_on(specification, unit),
        specification.separate, tuple(specification.ready_made),
        argument_names(specification),
        small=() if hidden else small_cases(specification, cases),
    )  # fmt: skip


def describe_mistakes(specification: Specification) -> dict[str, Mistake]:
    """Map each mistake's name to what a check says and asks about it."""
    return {
        m.name: Mistake(m.name, m.says, m.asks, tuple(v.name for v in m.variants))
        for m in specification.mutants
    }


def _is_right(variant: str, cases: Iterable[Case]) -> bool:
    """Return whether a wrong program passes all cases that store its answers."""
    return all(
        compare(case, select_whole(case.mistakes[variant])).passed
        for case in cases
        if case.mistakes
    )


def _shorten_answers(case: Case, complete: Collection[str]) -> Case:
    """Copy a case, with full answers only for the wrong programs in ``complete``.

    For the others, the copy stores just which of their answers are wrong.
    """
    mistakes = {
        name: answers
        if name in complete
        else pattern(compare(case, select_whole(answers)))
        for name, answers in case.mistakes.items()
    }
    return replace(case, mistakes=mistakes)


def fresh_cases(
    specification: Specification, seed: str, only_hidden: bool = False
) -> list[Case]:
    """Draw hidden cases from a seed, with the solution's answers but no mutant's.

    They test an object on inputs that nobody has seen before.

    Args:
        only_hidden: omit kinds of cases that students can see.
    """
    reference = build_object(specification)
    kinds = [
        kind
        for kind in all_kinds(specification, load_tells(specification.name))
        if kind.hidden_only or not only_hidden
    ]
    return [
        _case(specification, kind, seed, reference, inputs, {}, True)
        for kind, inputs in _draw_inputs(specification, kinds, seed)
    ]


@functools.lru_cache(maxsize=64)
def load_tells(name: str) -> Tells:
    """Load the wrong programs that the inputs of each case must expose, by case.

    They come from the hidden references; without these, the result is empty.

    Args:
        name: the exercise, "unit/name".
    """
    with contextlib.suppress(FileNotFoundError, references.ReferenceFileError):
        stored = references.load(name.partition("/")[0], "hidden", name).get(name)
        return {case.name: case.tells for case in stored.cases} if stored else EMPTY
    return EMPTY


def builds_on(
    specification: Specification, unit: Sequence[Specification]
) -> tuple[str, ...]:
    """List the other exercises of a unit that an exercise's solution uses.

    A wrong answer to one of them may explain why this exercise fails.
    """
    if not unit:
        return ()
    targets = {candidate.target for candidate in unit}
    names = namespace(specification)
    used: set[str] = set()
    waiting = [solution_source(specification)]  # code whose names are still to be read
    while waiting:
        new_names = _names(waiting.pop()) - used
        used |= new_names
        # Helpers of the unit are followed; other exercises are what is looked for.
        definitions = (names.get(name) for name in new_names - targets)
        waiting += [
            inspect.getsource(definition)
            for definition in definitions
            if getattr(definition, "__module__", "") == names["__name__"]
            and isinstance(definition, FunctionType | type)
        ]
    return tuple(
        candidate.name
        for candidate in unit
        if used.intersection(candidate.targets) and candidate.name != specification.name
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
    """Make a case of a kind, with the expected answers to its inputs.

    Args:
        reference: the object that gives the expected answers, if needed.
        mistakes: the answers of wrong programs, by their names.
    """
    if isinstance(inputs, InputsWithAnswers):
        expected = inputs.expected
    elif kind.expected:
        # From the same seed as the inputs, which are made from these answers.
        expected = kind.expected(_draw(specification, kind, seed))
    else:
        expected = expected_answers(specification, reference, inputs)
    shapes = shapes_of_results(specification)
    return Case(
        kind.name, kind.title, kind.hint, inputs, expected, mistakes, hidden,
        aspects=answer_aspects(specification, kind, expected),
        shapes={name: shapes[name] for name in expected if name in shapes},
        **_shared_fields(kind),
    )  # fmt: skip


def _draw(specification: Specification, kind: CaseKind, seed: str) -> Draw:
    return Draw(f"{specification.name}/{kind.name}/{seed}")


def _shared_fields(kind: CaseKind) -> dict[str, Any]:
    """The fields that a Case copies unchanged from its kind."""
    names = "atol rtol picture measure scale aspect says asks open"
    return {name: getattr(kind, name) for name in names.split()}
