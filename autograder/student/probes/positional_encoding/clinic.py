"""The clinic: what a student's test says of tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from autograder.student.exercise import Answers, WrongAnswer
from autograder.student.otherside import Ask, Mixture
from autograder.student.probes import Inputs, Seen, describe, probe


class _Tables(Mixture):
    """Tables that are right or wrong; which one is which, nobody says."""

    def things(self) -> list[str]:
        return [f"the {name}" for name in self.inputs]

    def shown(self) -> Answers:
        return {
            str(number): self.inputs[name.removeprefix("the ")]
            for number, name in enumerate(self.names)
        }


@probe("positional_encoding/bug_clinic", other=_Tables)
def bug_clinic(test: Any, inputs: Inputs, ask: Ask) -> Seen:
    """What the student's test says of each table."""
    return {number: _judged(test, table) for number, table in inputs.items()}


def _judged(test: Callable[..., Any], table: torch.Tensor) -> str:
    try:
        result = test(table)
    except AssertionError:
        return "rejected"
    if result is not None:
        raise WrongAnswer(
            f"expected the test to raise AssertionError or to return nothing, "
            f"got {describe(result)}"
        )
    return "accepted"
