"""Second-order mutants: two mistakes made in one solution, and sketches of both.

Two mutants can be made together if the edits of one still find their text in the code
of the other. Nothing is written for them: they follow from what the bank holds.
"""

from __future__ import annotations

import contextlib
import io
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch

from autograder.authoring.specification import Mutant, Specification, Way
from autograder.authoring.variants import (
    clean,
    edited,
    namespace,
    run_source,
    solution_source,
)
from autograder.checks.compare import compare
from autograder.checks.exercise import RAISED, Answers, Case
from autograder.checks.global_state import pristine
from autograder.checks.interactor import Interactor
from autograder.checks.observe import observe
from autograder.checks.probes import find
from autograder.checks.second_order import SKETCH, WHICH, sketch
from autograder.checks.time_limit import TooLongError, limit
from autograder.course.errors import CourseError

_RUNS = 5_000  # of pairs on cases: where there are many pairs, on few cases
_CASES = 3  # of an exercise at least, if it has so many
_SECONDS = 2.0  # of CPU time: two mistakes together may never end
_ENDLESS: Answers = {RAISED: "it does not end"}


def with_doubles(
    specification: Specification, cases: Sequence[Case]
) -> tuple[Case, ...]:
    """The cases, the first ordinary ones with sketches of pairs of mistakes."""
    ordinary = [c for c in cases if c.mistakes and not c.says and not c.measure]
    if specification.side is not Interactor or any(case.measure for case in cases):
        return tuple(cases)  # long ones
    doubles = _sketches(specification, ordinary)
    return tuple(
        replace(case, doubles=doubles[case.name]) if case.name in doubles else case
        for case in cases
    )


def _sketches(
    specification: Specification, cases: Sequence[Case]
) -> dict[str, Answers]:
    found: list[tuple[tuple[int, int], list[torch.Tensor]]] = []
    probe = find(specification.name)
    doubles = list(_doubles(specification, cases))
    cases = cases[: max(_CASES, _RUNS // max(len(doubles), 1))]
    with contextlib.redirect_stdout(io.StringIO()), pristine():
        for places, code in doubles:
            try:
                names = run_source(code, namespace(specification), "<two mistakes>")
            except Exception:  # where a class is made, one line is in another's way
                continue
            answer, own = specification.answer_in(names), []
            for case in cases:
                try:
                    with limit(_SECONDS):
                        given = observe(probe, answer, case.inputs)
                except TooLongError:
                    own.append(sketch(_ENDLESS, case.expected))
                    break
                own.append(sketch(given, case.expected))
            if len(own) == len(cases) and not all(s.isnan().any() for s in own):
                found.append((places, own))
    if not found:
        return {}
    which = torch.tensor([places for places, _ in found], dtype=torch.int16)
    return {
        case.name: {WHICH: which, SKETCH: torch.stack([own[i] for _, own in found])}
        for i, case in enumerate(cases)
    }


def _doubles(
    specification: Specification, cases: Sequence[Case]
) -> Iterator[tuple[tuple[int, int], str]]:
    """Places of two mutants, and the code that makes the mistakes of both.

    Of those that some case sees, and that no rounding decides.
    """
    seen = [
        (place, mutant)
        for place, mutant in enumerate(specification.mutants)
        if not mutant.unsteady
        and any(not compare(c, c.mistakes[mutant.name]).passed for c in cases)
    ]
    for (i, one), (j, other) in itertools.combinations(seen, 2):
        if code := together(specification, one, other):
            yield (i, j), code


def together(specification: Specification, one: Mutant, other: Mutant) -> str:
    """Code with the mistakes of two mutants, in any of their ways; "" if there is none.

    Edits that overlap are one mistake or the other, not both. A student's program is
    combined with nothing.
    """
    for a, b in itertools.product(one.ways, other.ways):
        if a.confined or b.confined:  # a student's program, which is not executed here
            continue
        for first, second in ((a, b), (b, a)):
            with contextlib.suppress(CourseError):
                return _with_both(specification, first, second)
    return ""


def _with_both(specification: Specification, first: Way, second: Way) -> str:
    if second.source:
        raise CourseError(f"{second.name} is whole code, and edits nothing")
    code = clean(first.source) if first.source else solution_source(specification)
    for edit in (*first.edits, *second.edits):
        code = edited(code, edit)
    return code
