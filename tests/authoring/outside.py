"""What each exercise's probe reveals: answers that need no solution.

``make docs`` writes docs/outside.md (tests/derived.py).
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch

from autograder.authoring.cases import fresh_cases
from autograder.authoring.catalogue import specifications
from autograder.authoring.specification import Specification
from autograder.checks import points, references
from autograder.checks.exercise import AFTERWARDS, Answers, Case, Value
from autograder.checks.interactor import Interactor
from autograder.checks.probes.weights import WEIGHTS
from autograder.course import ROOT, units

_STATES = ("True", "False")
DOCUMENT = ROOT / "docs" / "outside.md"


@dataclass
class Exposure:
    """An exercise: what its sandbox is given and what stays with the judge.

    Attributes:
        given: names of what the sandbox gets; ``kept``: of what it does not.
        played: the judge answers the sandbox, or concludes from its report.
        answers: the answers that are compared, by case and name.
        fixed: those that are the same in all drawings, so that they can be known.
        revealed: those that are equal to something that is in the sandbox.
        declared: the cases that are said to be open, which earn nothing alone.
        groups: the answers that count together, apart from others, by case and aspect.
    """

    name: str
    given: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)
    played: bool = False
    answers: set[tuple[str, str]] = field(default_factory=set)
    fixed: set[tuple[str, str]] = field(default_factory=set)
    revealed: set[tuple[str, str]] = field(default_factory=set)
    declared: set[str] = field(default_factory=set)
    groups: dict[tuple[str, str], set[str]] = field(default_factory=dict)

    @property
    def open(self) -> set[str]:
        """The cases whose answers a sandbox could all give without a solution."""
        if self.played:
            return set()
        cases = {case for case, _ in self.answers}
        return cases - {case for case, _ in self.answers - self.fixed - self.revealed}

    @property
    def open_parts(self) -> set[tuple[str, str]]:
        """The parts, by case, that a sandbox could give without solving anything."""
        if self.played:
            return set()
        undecided = self.answers - self.fixed - self.revealed
        return {
            (case, part)
            for (case, part), answers in self.groups.items()
            if not any((case, answer) in undecided for answer in answers)
        }


def rows() -> Iterator[Exposure]:
    """A row for each exercise, in the course's order."""
    for unit in units():
        for specification in specifications(unit.name):
            yield row(specification, draw_cases(unit.name, specification))


def draw_cases(unit: str, specification: Specification) -> Iterator[Case]:
    """Several drawings of each case; stored ones of what takes long."""
    if any(kind.measure for kind in specification.cases):
        for visibility in ("public", "hidden"):
            exercises = references.load(unit, visibility, specification.name)
            yield from exercises[specification.name].cases
        return
    for seed in ("public", "one", "two", "three", "four"):
        yield from fresh_cases(specification, seed)


def row(specification: Specification, cases: Iterable[Case]) -> Exposure:
    """What the probe of an exercise does with some drawings of its cases."""
    played = specification.interactor_class
    exposure = Exposure(specification.name, played=played is not Interactor)
    values_by_answer: dict[tuple[str, str], list[Value]] = {}
    drawings: Counter[str] = Counter()
    for case in cases:
        exposure.declared |= {case.name} if case.open else set()
        revealed = played(case.inputs, random.Random(1)).reveal_inputs()
        exposure.given |= {_kind(n) for n in revealed}
        exposure.kept |= {_kind(n) for n in case.inputs if n not in revealed}
        drawings[case.name] += 1
        parts = specification.part_names
        for answer, value in case.expected.items():
            group = case.name, case.aspect_of(answer)
            if parts and group[1] in (*parts, *points.RESULTS):
                exposure.groups.setdefault(group, set()).add(answer)
            if not _is_echo(answer, value, case):
                values_by_answer.setdefault((case.name, answer), []).append(value)
                if _lies_in(value, revealed):
                    exposure.revealed.add((case.name, answer))
    exposure.answers = set(values_by_answer)
    # An answer whose very name is drawn stands in one drawing only; if a case has but
    # one text for an answer, its name is of no use.
    exposure.fixed = {
        place
        for place, values in values_by_answer.items()
        if len(values) == drawings[place[0]] and not _differ(values)
    } | {
        place for place in values_by_answer if _has_one_text(place[0], values_by_answer)
    }
    return exposure


def _has_one_text(
    case: str, values_by_answer: dict[tuple[str, str], list[Value]]
) -> bool:
    values = [
        value
        for place, drawn_values in values_by_answer.items()
        if place[0] == case
        for value in drawn_values
    ]
    return isinstance(values[0], str) and not _differ(values)


def _kind(name: str) -> str:
    """A name without what numbers it; the weights of a module are one."""
    name = re.sub(r" \d+$", "", name)
    name = re.sub(r"^\d+/", "", name)  # of a property: the same, several times
    head, dot, _ = name.partition(".")
    if head.isdigit():
        return "things without names"
    return head if dot else name


def _is_echo(answer: str, value: Value, case: Case) -> bool:
    """Whether an answer only tells that inputs were left as they were.

    One of them, all weights one after the other, or what the sandbox has set itself.
    """
    if not answer.endswith(AFTERWARDS):
        return False
    weights = [v for n, v in case.inputs.items() if n.startswith(WEIGHTS)]
    flat = [v.flatten() for v in weights if isinstance(v, torch.Tensor)]
    inputs = [*case.inputs.values(), *([torch.cat(flat)] if flat else [])]
    return (isinstance(value, str) and value in _STATES) or any(
        _equal(value, input_value) for input_value in inputs
    )


def _lies_in(value: Value, revealed: Answers) -> bool:
    if isinstance(value, torch.Tensor):
        # A single number or an empty tensor is like another one by chance.
        return value.numel() > 1 and any(
            _equal(value, revealed_value) for revealed_value in revealed.values()
        )
    return isinstance(value, str) and len(value) > 1 and value in revealed.values()


def _equal(value: Value, second: Value) -> bool:
    if isinstance(value, torch.Tensor) and isinstance(second, torch.Tensor):
        return value.shape == second.shape and bool((value == second).all())
    return type(value) is type(second) and value == second


def _differ(values: list[Value]) -> bool:
    return any(not _equal(values[0], later) for later in values[1:])


def document(exposures: Iterable[Exposure]) -> str:
    """The table, and what it means."""
    exposures = list(exposures)
    head = Path(__file__).with_suffix(".md").read_text(encoding="utf-8").rstrip("\n")
    return "\n".join([head, *map(line, exposures), *_explain_open(exposures)]) + "\n"


def line(row: Exposure) -> str:
    """An exercise's line of the table."""
    decided = row.fixed | row.revealed
    return (
        f"| {row.name} | {_join_names(row.given)} | {_join_names(row.kept)} | "
        f"{len(row.answers - decided)} of {len(row.answers)} | {_decided(row)} |"
    )


def _explain_open(exposures: Sequence[Exposure]) -> Iterator[str]:
    """What is open, and why it is."""
    yield "\n## What is open, and why\n"
    yield (
        "An open case has no answer that must be found out, and the judge could not "
        "hide one by playing along. So such a case earns nothing alone: it counts once "
        "an answer of the same exercise that had to be found out is correct in every "
        "drawing.\n"
    )
    names = {name for row in exposures for name in row.open}
    for cases, reason in REASONS.items():
        if cases_here := [f"`{name}`" for name in cases if name in names]:
            yield f"- {', '.join(cases_here)}: {reason}"


# The open cases of the same kind, and why they are.
REASONS = {
    ("property_start", "start"): "any good initialisation is accepted, so filling the "
    "weights at random is what is asked.",
    ("property_gradient",): "a function that only passes entries on returns the "
    "incoming gradient, which must be present where the gradient is computed.",
    (
        "too_long", "too_long_for_one", "refuse", "refused", "refused_again",
        "larger_source", "larger_target", "odd",
    ): "impossible input is refused in every drawing.",
    ("nothing", "zeros", "no_match", "no_advantage"): "what must be 0 is 0 in every "
    "drawing.",
    ("no_mask",): "no mask stays no mask.",
    ("one_per_head",): "a mask for each head is returned as it is.",
    ("no_positions",): "no position has an empty encoding.",
    ("unmoved", "certain"): "a model equal to its reference has the loss log 2, and "
    "pairs that are certain have the loss 0.",
    ("even",): "an even load has the same loss in every drawing.",
    ("one",): "a single head is packed unchanged.",
    ("no_step",): "no step changes nothing, so that the identity is right.",
    ("wide",): "the layer attends by a mask, which the sandbox holds.",
    ("one_number",): "any mask combined with one that allows nothing allows nothing.",
    ("both_open",): "two masks that allow everything combine to one that does.",
    ("no_padding", "full", "one_row"): "with no padding, or a fixed amount of it, "
    "masks depend on the sizes alone.",
    ("nothing_chosen",): "no position is chosen, so every label is ignored.",
    ("no_excess",): "two equal distributions have no residual of their own.",
    ("equal",): "the sentence ends at once, in every drawing.",
}  # fmt: skip


def _decided(row: Exposure) -> str:
    if row.open:
        return f"outside, and beside it what is **open**: {_join_names(row.open)}"
    return "outside; the judge plays along" if row.played else "outside"


def _join_names(names: set[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names)) or "nothing"
