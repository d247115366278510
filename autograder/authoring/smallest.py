"""Make small cases, on which students can see by eye how their answer fails.

For each mistake, the smallest case that shows it is cut further, as long as the
mistake still gives another result than the solution (delta debugging).
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch

from autograder.authoring.answers import expected_answers, mistaken_objects
from autograder.authoring.confined import ConfinedProgram
from autograder.authoring.shrinking import smaller_inputs
from autograder.authoring.specification import Specification
from autograder.authoring.variants import build_object
from autograder.checks.compare import compare
from autograder.checks.exercise import RAISED, Answers, Case, Value
from autograder.checks.global_state import pristine
from autograder.checks.interactor import Interactor
from autograder.checks.observe import observe
from autograder.checks.probes import OWN, find
from autograder.checks.probes.default import CALL, MAKE
from autograder.checks.probes.weights import WEIGHTS
from autograder.checks.side_by_side import is_shown, named_text
from autograder.checks.time_limit import TooLongError, limit
from autograder.course.errors import CourseError

MOST = 12  # small cases of an exercise
_LONGEST = 240  # characters of what is shown of their inputs
_INPUTS = 6  # of a case, more of which nobody reads
_LARGEST = 3000  # characters of inputs from which it is worth to begin
_TRIES = 250  # of smaller inputs, for each mistake
_STARTS = 2  # cases from which the search for a mistake begins, if the first is vain
_SECONDS = 2.0  # of CPU time: a mistake may never end


def small_cases(
    specification: Specification, cases: Sequence[Case]
) -> tuple[Case, ...]:
    """Find small cases on which the mistakes of an exercise fail, the smallest first.

    Cases that a person could not follow by eye are left out.
    """
    if specification.interactor_class is not Interactor or any(
        case.measure for case in cases
    ):
        return ()
    ordinary = [case for case in cases if not (case.says or case.open)]
    starts = [
        case
        for case in (_with_results_only(specification, c) for c in ordinary)
        if _is_readable(case) and len(named_text(case.inputs)) <= _LARGEST
    ]
    if not starts:
        return ()
    with contextlib.redirect_stdout(io.StringIO()), pristine():
        return _Search(specification, starts).choose()


def _with_results_only(specification: Specification, case: Case) -> Case:
    """Copy a case, keeping only results among its expected answers."""
    probe, parts = find(specification.name), specification.part_names
    expected = {
        name: value
        for name, value in case.expected.items()
        if (name in parts or probe.aspect(name) in (OWN, *parts))
    }
    return Case(
        case.name, "", "", case.inputs, expected, atol=case.atol, rtol=case.rtol
    )


def _is_readable(case: Case) -> bool:
    """Return whether a case is simple enough for a person to follow by eye."""
    is_module = any(name.startswith((MAKE, WEIGHTS)) for name in case.inputs)
    are_few = len(case.inputs.keys() - {CALL}) <= _INPUTS
    if not case.expected or is_module or not are_few:
        return False
    result = next(iter(case.expected.values()))
    inputs = [
        v for v in case.inputs.values() if isinstance(v, torch.Tensor) and v.dim()
    ]
    # Nobody follows by eye how floats become other floats.
    return not _holds_floats(result) or not any(map(_holds_floats, inputs))


def _holds_floats(value: Value) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


@dataclass(frozen=True, eq=False)
class _SmallCase:
    """A small case, and the names of the mistakes that fail on it."""

    case: Case
    tells: frozenset[str]

    @property
    def size(self) -> tuple[int, str]:
        """A sort key: how much there is to read in the case, and its inputs as text."""
        text = named_text(self.case.inputs)
        results = sum(
            value.numel() if isinstance(value, torch.Tensor) else len(str(value))
            for value in self.case.expected.values()
        )
        return len(text) + results, text


class _Search:
    """The search for the small cases of one exercise."""

    def __init__(self, specification: Specification, starts: Sequence[Case]):
        self._specification, self._starts = specification, starts
        self._probe = find(specification.name)
        self._reference = build_object(specification)
        self._accepted = [
            build_object(specification, variant)
            for variant in specification.accepted
            if not variant.confined
        ]
        self._mistaken = {
            name: answer
            for name, answer in mistaken_objects(specification).items()
            if not isinstance(answer, ConfinedProgram)
        }
        self._completed: dict[str, Case | None] = {}  # cases by their inputs
        self._verdicts: dict[tuple[int, Case], bool] = {}  # by an answer's id

    def choose(self) -> tuple[Case, ...]:
        """Find small cases for all mistakes, a dozen at most, the smallest first."""
        inputs = {
            named_text(case.inputs): case
            for name in self._mistaken
            for case in self._shrink(name)
        }
        candidates = [
            _SmallCase(
                case, frozenset(n for n in self._mistaken if self._fails(n, case))
            )
            for case in inputs.values()
        ]
        chosen = list(_cover(sorted(candidates, key=lambda candidate: candidate.size)))
        chosen.sort(key=lambda candidate: candidate.size)
        return tuple(
            replace(candidate.case, name=f"small {number}")
            for number, candidate in enumerate(chosen, start=1)
        )

    def _shrink(self, name: str) -> Iterator[Case]:
        """Shrink a case that shows a mistake; yield its first and last readable form.

        Args:
            name: the variant that makes the mistake.
        """
        failing = (case for case in self._starts if self._fails(name, case))
        by_size = sorted(failing, key=lambda case: len(named_text(case.inputs)))
        for case in by_size[:_STARTS]:
            readable = [c for c in self._descend(name, case) if _can_be_shown(c)]
            if readable:
                yield from (readable[0], readable[-1])
                return

    def _descend(self, name: str, case: Case) -> Iterator[Case]:
        """Yield a case and ever smaller ones, on all of which a variant fails."""
        tried, is_smaller = set[str](), True
        while is_smaller:
            yield case
            is_smaller = False
            for inputs in smaller_inputs(case.inputs):
                key = named_text(inputs)
                if key in tried:
                    continue
                if len(tried) == _TRIES:
                    return
                tried.add(key)
                smaller = self._complete(replace(case, inputs=inputs))
                if smaller and self._fails(name, smaller) and self._is_agreed(smaller):
                    case, is_smaller = smaller, True
                    break

    def _complete(self, case: Case) -> Case | None:
        """Copy a case with the solution's results; None if its inputs make no sense."""
        key = named_text(case.inputs)
        is_possible = self._specification.is_possible
        if is_possible and not is_possible(case.inputs):
            return None
        if key not in self._completed:
            try:
                with limit(_SECONDS):
                    answers = expected_answers(
                        self._specification, self._reference, case.inputs
                    )
            except (CourseError, TooLongError):
                answers = {}
            expected = {n: answers[n] for n in case.expected if n in answers}
            complete = replace(case, expected=expected)
            self._completed[key] = complete if expected else None
        return self._completed[key]

    def _is_agreed(self, case: Case) -> bool:
        """Whether all correct solutions pass a case, so that its inputs make sense."""
        answers = (self._reference, *self._accepted)
        return all(not self._is_wrong(answer, case) for answer in answers)

    def _fails(self, name: str, case: Case) -> bool:
        return self._is_wrong(self._mistaken[name], case)

    def _is_wrong(self, answer: object, case: Case) -> bool:
        """Return whether an object fails a case; each pair is tried only once.

        An object that takes too long fails.
        """
        key = id(answer), case
        if key not in self._verdicts:
            try:
                with limit(_SECONDS):
                    answers: Answers = observe(self._probe, answer, case.inputs)
            except TooLongError:
                answers = {RAISED: "it does not end"}
            self._verdicts[key] = not compare(case, answers).passed
        return self._verdicts[key]


def _can_be_shown(case: Case) -> bool:
    inputs = [value for name, value in case.inputs.items() if name != CALL]
    is_short = len(named_text(case.inputs)) <= _LONGEST
    return is_short and all(map(is_shown, (*inputs, *case.expected.values())))


def _cover(candidates: Sequence[_SmallCase]) -> Iterator[_SmallCase]:
    """Choose a dozen small cases at most, which together show many mistakes.

    The smallest case of each mistake comes first; the largest others fill up the rest.

    Args:
        candidates: the cases to choose from, the smallest first.
    """
    smallest: dict[_SmallCase, int] = {}
    for name in sorted({name for candidate in candidates for name in candidate.tells}):
        candidate = next(
            candidate for candidate in candidates if name in candidate.tells
        )
        smallest[candidate] = smallest.get(candidate, 0) + 1
    ordered = sorted(smallest, key=lambda candidate: -smallest[candidate])
    further = [
        candidate for candidate in reversed(candidates) if candidate not in smallest
    ]
    yield from [*ordered, *further][:MOST]
