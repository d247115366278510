"""Generated mutants: how many there are, how many are caught, and which survive.

A survivor is either equivalent to the solution, and stands with the reason in
``survivors.json``, or it shows what no case asks for.
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
# A mutant that takes so many times as long as the solution, and so many seconds of CPU
# time, never ends, and counts as caught.
TIMES, SECONDS = 20, 0.5


@dataclass
class Count:
    """What the cases of one exercise make of its generated mutants."""

    name: str
    made: int = 0
    caught: int = 0
    explained: int = 0
    survivors: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.name:<44} generated {self.made:>4} · caught {self.caught:>4} · "
            f"equivalent {self.explained:>3} · survivors {len(self.survivors):>3}"
        )


def count(specification: Specification) -> Count:
    """Try every generated mutant of an exercise's solution on two drawings."""
    cases = [c for seed in "ab" for c in fresh_cases(specification, seed)]
    # Ordinary cases first: most mutants fail the first one.
    cases = sorted((c for c in cases if not c.measure), key=lambda c: bool(c.says))
    found, reasons = Count(specification.name), explained().get(specification.name, {})
    started = time.process_time()
    _fails(specification, build_object(specification), cases)
    seconds = max(SECONDS, TIMES * (time.process_time() - started))
    for mutation in mutations(solution_source(specification)):
        found.made += 1
        if caught(specification, mutation, cases, seconds):
            found.caught += 1
        elif any(fnmatchcase(describe(mutation), known) for known in reasons):
            found.explained += 1
        else:
            found.survivors.append(describe(mutation))
    return found


def describe(mutation: Mutation) -> str:
    """A mutation in a line: the operator, what it changed, and into what."""
    text = mutation.change
    if len(text) > 160:  # of a whole function only what is new
        old, _, new = text.partition(" -> ")
        pairs = enumerate(zip(old, new, strict=False))
        same = next((i for i, (a, b) in pairs if a != b), min(len(old), len(new)))
        text = f"... {new[max(same - 20, 0) : same + 120]}"
    return f"{mutation.operator}: {text}"


def explained() -> dict[str, dict[str, str]]:
    """By exercise, the mutants that are equivalent (* for anything), and why."""
    return json.loads(REASONS.read_text()) if REASONS.is_file() else {}


def caught(
    specification: Specification,
    mutation: Mutation,
    cases: Iterable[Case],
    seconds: float = SECONDS,
) -> bool:
    """Whether a mutant fails a case, has no object to try at all, or never ends."""
    try:
        with limit(seconds):
            return _fails(specification, _object(specification, mutation), cases)
    except (Exception, TooLongError):
        return True


def _fails(specification: Specification, made: object, cases: Iterable[Case]) -> bool:
    probe = find(specification.name)
    return any(
        not compare(case, observe(probe, made, dict(case.inputs))).passed
        for case in cases
    )


def _object(specification: Specification, mutation: Mutation) -> object:
    names = namespace(specification)
    run_source(HELPERS, names, "<helpers>")
    run_source(mutation.source, names, "<generated>")
    return specification.answer_in(names)
