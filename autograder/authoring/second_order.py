"""Second-order mutants: two mistakes made in one solution, and sketches of both.

Two mutants can be combined if the edits of one still find their text in the code of the
other. Nobody writes these pairs: they follow from the mutants of the exercise.
"""

from __future__ import annotations

import contextlib
import io
import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import torch

from autograder.authoring.specification import Specification, Variant
from autograder.authoring.variants import (
    apply_edit,
    clean,
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
from autograder.checks.stored_answers import select_whole
from autograder.checks.time_limit import TooLongError, limit
from autograder.course.errors import CourseError

_RUNS = 1_500  # of pairs on cases: many pairs are run on few cases
_CASES = 3  # the least number of cases, if the exercise has so many
_SECONDS = 2.0  # of CPU time: two mistakes together may never end
_ENDLESS: Answers = {RAISED: "it does not end"}


def with_doubles(
    specification: Specification, cases: Sequence[Case], unsteady: Collection[str] = ()
) -> tuple[Case, ...]:
    """Add to the first ordinary cases sketches of results with two mistakes at once.

    A sketch is two numbers that tell results apart.

    Args:
        unsteady: variants whose results depend on rounding; no pair includes them.
    """
    ordinary = [c for c in cases if c.mistakes and not c.says and not c.measure]
    if specification.side is not Interactor or any(case.measure for case in cases):
        return tuple(cases)  # these take too long
    doubles = _sketches(specification, ordinary, unsteady)
    return tuple(
        replace(case, doubles=doubles[case.name]) if case.name in doubles else case
        for case in cases
    )


def _sketches(
    specification: Specification, cases: Sequence[Case], unsteady: Collection[str]
) -> dict[str, Answers]:
    sketched: list[tuple[tuple[int, int], list[torch.Tensor]]] = []
    probe = find(specification.name)
    doubles = list(_doubles(specification, cases, unsteady))
    cases = cases[: max(_CASES, _RUNS // max(len(doubles), 1))]
    with contextlib.redirect_stdout(io.StringIO()), pristine():
        for places, code in doubles:
            try:
                names = run_source(code, namespace(specification), "<two mistakes>")
            except Exception:  # the lines of two mistakes may conflict
                continue
            answer, sketches = specification.answer_in(names), []
            for case in cases:
                try:
                    with limit(_SECONDS):
                        answers = observe(probe, answer, case.inputs)
                except TooLongError:
                    sketches.append(sketch(_ENDLESS, case.expected))
                    break
                sketches.append(sketch(answers, case.expected))
            has_answer = not all(vector.isnan().any() for vector in sketches)
            if len(sketches) == len(cases) and has_answer:
                sketched.append((places, sketches))
    if not sketched:
        return {}
    pairs = torch.tensor([places for places, _ in sketched], dtype=torch.int16)
    return {
        case.name: {
            WHICH: pairs,
            SKETCH: torch.stack([sketches[i] for _, sketches in sketched]),
        }
        for i, case in enumerate(cases)
    }


def _doubles(
    specification: Specification, cases: Sequence[Case], unsteady: Collection[str]
) -> Iterator[tuple[tuple[int, int], str]]:
    """The places of two mutants, and the code that makes the mistakes of both.

    Only mutants that some case sees, and that rounding does not decide, are combined.
    """
    visible = [
        (place, variant)
        for place, mutant in enumerate(specification.mutants)
        for variant in mutant.variants
        if variant.name not in unsteady
        and not all(_is_right(c, variant) for c in cases)
    ]
    for (i, first), (j, second) in itertools.combinations(visible, 2):
        if i != j and (code := combine_variants(specification, first, second)):
            yield (i, j), code


def _is_right(case: Case, variant: Variant) -> bool:
    return compare(case, select_whole(case.mistakes[variant.name])).passed


def combine_variants(
    specification: Specification, first: Variant, second: Variant
) -> str:
    """Combine two mistakes in one code; "" if they do not combine.

    Edits that overlap are one mistake or the other, not both. A student's program is
    combined with nothing: it is not executed here.
    """
    if first.confined or second.confined:
        return ""
    for earlier, later in ((first, second), (second, first)):
        with contextlib.suppress(CourseError):
            return _with_both(specification, earlier, later)
    return ""


def _with_both(specification: Specification, first: Variant, second: Variant) -> str:
    if second.source:
        raise CourseError(f"{second.name} is whole code, and edits nothing")
    code = clean(first.source) if first.source else solution_source(specification)
    for edit in (*first.edits, *second.edits):
        code = apply_edit(code, edit)
    return code
