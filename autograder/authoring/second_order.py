"""Second-order mutants: programs that make two of an exercise's mistakes at once.

They are made from the exercise's mutants. Some cases store a sketch of their
answers, by which a check can recognise a pair of mistakes.
"""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

import torch

from autograder.authoring.specification import Specification, Variant
from autograder.authoring.telling import move_inputs
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
from autograder.checks.naming import PATTERN
from autograder.checks.observe import observe
from autograder.checks.probes import find
from autograder.checks.second_order import SKETCH, WHICH, are_close, sketch
from autograder.checks.stored_answers import select_whole
from autograder.checks.time_limit import TooLongError, limit
from autograder.course.errors import CourseError

_RUNS = 1_500  # of pairs on cases: many pairs are run on few cases
_CASES = 3  # the least number of cases, if the exercise has so many
_SECONDS = 2.0  # of CPU time: two mistakes together may never end
_ENDLESS: Answers = {RAISED: "it does not end"}


def add_pair_sketches(
    specification: Specification, cases: Sequence[Case], unsteady: Collection[str] = ()
) -> tuple[Case, ...]:
    """Add sketches of the results of pairs of mistakes to a few of the cases.

    A sketch is two numbers, by which a check recognises both mistakes at once.

    Args:
        unsteady: variants whose results depend on rounding.
    """
    ordinary = [c for c in cases if c.mistakes and not c.says and not c.measure]
    if specification.interactor_class is not Interactor or any(
        case.measure for case in cases
    ):
        return tuple(cases)  # these take too long
    doubles = _sketches(specification, ordinary, frozenset(unsteady))
    return tuple(
        replace(case, doubles=doubles[case.name]) if case.name in doubles else case
        for case in cases
    )


def _sketches(
    specification: Specification, cases: Sequence[Case], unsteady: frozenset[str]
) -> dict[str, Answers]:
    """Map each chosen case to its sketches of pairs, in the form of `Case.doubles`."""
    sketched: list[tuple[tuple[int, int], list[torch.Tensor]]] = []
    variants = [v for mutant in specification.mutants for v in mutant.variants]
    failing = {c: {v.name for v in variants if not _is_right(c, v)} for c in cases}
    doubles = list(_doubles(specification, set().union(*failing.values())))
    cases = _choose(failing, max(_CASES, _RUNS // max(len(doubles), 1)))
    with contextlib.redirect_stdout(io.StringIO()), pristine():
        for places, names, code in doubles:
            is_unsteady = not unsteady.isdisjoint(names)
            sketches = _sketch_double(specification, cases, code, is_unsteady)
            # A pair that answers like one of its mistakes is taken for that one.
            if sketches and not any(_is_one(cases, sketches, name) for name in names):
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


def _choose(failing: Mapping[Case, set[str]], count: int) -> list[Case]:
    """Choose at most ``count`` cases that together expose many variants.

    Args:
        failing: by case, the names of the variants that fail it.
    """
    chosen, covered = list[Case](), set[str]()
    while len(chosen) < min(count, len(failing)):
        remaining = [case for case in failing if case not in chosen]
        chosen.append(max(remaining, key=lambda case: len(failing[case] - covered)))
        covered |= failing[chosen[-1]]
    return [case for case in failing if case in chosen]


def _sketch_double(
    specification: Specification, cases: Sequence[Case], code: str, is_unsteady: bool
) -> list[torch.Tensor]:
    """Reduce the answers of code with two mistakes to two numbers for each case.

    The result is [] if the code fails, or its answers are of no use.

    Args:
        is_unsteady: whether to test that the answers do not depend on rounding.
    """
    try:
        names = run_source(code, namespace(specification), "<two mistakes>")
    except Exception:  # the lines of two mistakes may conflict
        return []
    probe, answer = find(specification.name), specification.answer_in(names)
    sketches = list[torch.Tensor]()

    def ask(case: Case, inputs: Answers) -> torch.Tensor:
        with limit(_SECONDS):
            return sketch(observe(probe, answer, inputs), case.expected)

    for case in cases:
        try:
            sketched = ask(case, case.inputs)
            if is_unsteady:
                moved = ask(case, move_inputs(case.inputs))
                if not are_close(sketched, moved, case, equal_nan=True):
                    return []
        except TooLongError:
            # Other cases would take as long: unless this is the last, drop the pair.
            sketches.append(sketch(_ENDLESS, case.expected))
            break
        sketches.append(sketched)
    # NaN stands for an error; a pair that gives nothing else cannot be recognised.
    has_answer = not all(vector.isnan().any() for vector in sketches)
    return sketches if len(sketches) == len(cases) and has_answer else []


def _is_one(
    cases: Sequence[Case], sketches: Sequence[torch.Tensor], variant: str
) -> bool:
    """Return whether two mistakes together give the same answers as ``variant`` alone.

    Args:
        sketches: for each case, the sketch of the answers of both mistakes.
    """
    if any(PATTERN in case.mistakes[variant] for case in cases):
        return False  # its answers depend on rounding, those of both do not
    return all(
        are_close(both, _sketch_one(case, variant), case, equal_nan=True)
        for case, both in zip(cases, sketches, strict=True)
    )


@functools.lru_cache(maxsize=1024)  # a mistake is in many pairs
def _sketch_one(case: Case, variant: str) -> torch.Tensor:
    return sketch(select_whole(case.mistakes[variant]), case.expected)


def _doubles(
    specification: Specification, names: Collection[str]
) -> Iterator[tuple[tuple[int, int], set[str], str]]:
    """Yield the pairs of variants that can be combined in one program.

    Each has the indices of two mutants, the names of two variants, and the code.
    """
    visible = [
        (index, variant)
        for index, mutant in enumerate(specification.mutants)
        for variant in mutant.variants
        if variant.name in names
    ]
    for (i, first), (j, second) in itertools.combinations(visible, 2):
        if i != j and (code := combine_variants(specification, first, second)):
            yield (i, j), {first.name, second.name}, code


def _is_right(case: Case, variant: Variant) -> bool:
    prediction = case.mistakes[variant.name]
    if PATTERN in prediction:
        return not prediction[PATTERN]
    return compare(case, select_whole(prediction)).passed


def combine_variants(
    specification: Specification, first: Variant, second: Variant
) -> str:
    """Write code that makes two mistakes at once; "" if they cannot be combined."""
    if first.confined or second.confined:
        return ""
    for earlier, later in ((first, second), (second, first)):
        with contextlib.suppress(CourseError):
            return _with_both(specification, earlier, later)
    if not (first.source and second.source):
        return ""
    # Whole programs can be merged if both change the same accepted solution.
    bases = [
        clean(accepted.source)
        for accepted in specification.accepted
        if accepted.source and not accepted.confined
    ]
    merged = (_merge(base, clean(first.source), clean(second.source)) for base in bases)
    return next(filter(None, merged), "")


def _merge(base: str, first: str, second: str) -> str:
    """Merge the changes from ``base`` to two texts.

    Return "" if they change the same line, or lines next to each other.
    """
    lines = base.splitlines()
    changes = sorted(
        (start, end, text.splitlines()[i:j])
        for text in (first, second)
        for kind, start, end, i, j in SequenceMatcher(
            None, lines, text.splitlines(), autojunk=False
        ).get_opcodes()
        if kind != "equal"
    )
    for (_, end, _), (start, _, _) in itertools.pairwise(changes):
        if start <= end:
            return ""
    for start, end, replacement in reversed(changes):
        lines[start:end] = replacement
    return "\n".join(lines)


def _with_both(specification: Specification, first: Variant, second: Variant) -> str:
    if second.source:
        raise CourseError(f"{second.name} is whole code, and edits nothing")
    code = clean(first.source) if first.source else solution_source(specification)
    for edit in (*first.edits, *second.edits):
        code = apply_edit(code, edit)
    return code
