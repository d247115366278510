"""Generated mutants: how many there are, how many are caught, and which survive.

A survivor is either equivalent to the solution, and listed with the reason in
``survivors.json``, or it reveals a gap in the cases.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from autograder.authoring.cases import fresh_cases
from autograder.authoring.expression_operators import HELPERS
from autograder.authoring.mutations import Mutation, mutations
from autograder.authoring.specification import Specification
from autograder.authoring.variants import (
    build_object,
    namespace,
    run_source,
    solution_source,
)
from autograder.checks.compare import compare
from autograder.checks.exercise import Case
from autograder.checks.observe import observe
from autograder.checks.probes import find
from autograder.checks.time_limit import TooLongError, limit
from autograder.root import CONTENT

REASONS = CONTENT / "authoring" / "survivors.json"
# A mutant that takes TIMES as long as the solution, and at least SECONDS of CPU time,
# counts as caught, because it probably never ends.
TIMES, SECONDS = 20, 0.5


@dataclass
class Count:
    """How many generated mutants of an exercise its cases catch.

    Of the others, ``explained`` are known to be equivalent to the solution, and
    ``survivors`` describes the rest.
    """

    name: str
    generated: int = 0
    caught: int = 0
    explained: int = 0
    survivors: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.name:<44} generated {self.generated:>4} · "
            f"caught {self.caught:>4} · equivalent {self.explained:>3} · "
            f"survivors {len(self.survivors):>3}"
        )


def count(specification: Specification) -> Count:
    """Test every generated mutant of a solution on cases drawn from two seeds.

    Survivors that ``survivors.json`` lists as equivalent count as explained.
    """
    cases = [c for seed in "ab" for c in fresh_cases(specification, seed)]
    # Ordinary cases first: most mutants fail the first one.
    cases = sorted((c for c in cases if not c.measure), key=lambda c: bool(c.says))
    counts = Count(specification.name)
    patterns = read_reasons().get(specification.name, {})
    # How long the solution takes, which limits the time of its mutants.
    started = time.process_time()
    _fails(specification, build_object(specification), cases)
    seconds = max(SECONDS, TIMES * (time.process_time() - started))
    for mutation in mutations(solution_source(specification)):
        counts.generated += 1
        if is_caught(specification, mutation, cases, seconds):
            counts.caught += 1
        elif any(fnmatchcase(describe(mutation), pattern) for pattern in patterns):
            counts.explained += 1
        else:
            counts.survivors.append(describe(mutation))
    return counts


def describe(mutation: Mutation) -> str:
    """Describe a mutation in a line: the operator, the old code and the new code."""
    text = mutation.change
    if len(text) > 160:  # show only the part that changes
        old, _, new = text.partition(" -> ")
        pairs = enumerate(zip(old, new, strict=False))
        start = next((i for i, (a, b) in pairs if a != b), min(len(old), len(new)))
        text = f"... {new[max(start - 20, 0) : start + 120]}"
    return f"{mutation.operator}: {text}"


def read_reasons() -> dict[str, dict[str, str]]:
    """Read why surviving mutants are equivalent to their solutions.

    Returns:
        The reasons, by exercise and by a wildcard pattern for the text of `describe`.
    """
    return json.loads(REASONS.read_text()) if REASONS.is_file() else {}


def is_caught(
    specification: Specification,
    mutation: Mutation,
    cases: Iterable[Case],
    seconds: float = SECONDS,
) -> bool:
    """Return whether a mutant fails a case, cannot be built, or does not end.

    Args:
        seconds: the CPU time after which the mutant is stopped.
    """
    try:
        with limit(seconds):
            names = namespace(specification)
            run_source(HELPERS, names, "<helpers>")
            run_source(mutation.source, names, "<generated>")
            return _fails(specification, specification.answer_in(names), cases)
    except (Exception, TooLongError):
        return True


def _fails(specification: Specification, answer: object, cases: Iterable[Case]) -> bool:
    """Whether an object gives a wrong answer in one of the cases."""
    probe = find(specification.name)
    return any(
        not compare(case, observe(probe, answer, dict(case.inputs))).passed
        for case in cases
    )
