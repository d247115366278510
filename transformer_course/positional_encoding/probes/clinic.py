"""The probe of the bug clinic, where a student's test judges tables of sinusoids."""

from __future__ import annotations

from typing import Any

import torch

from autograder.checks.exercise import Answers
from autograder.checks.interactor import Ask, BlindTrial, one_by_one
from autograder.checks.probes import Inputs, Seen, probe
from autograder.checks.values import differing
from transformer_course.library.observing import run_test


class _Tables(BlindTrial):
    """The judge's side of the bug clinic: correct and incorrect tables."""

    def list_subjects(self) -> list[str]:
        return [f"the {name}" for name in self.inputs]

    def reveal_inputs(self) -> Answers:
        """The number of tables to judge."""
        return {"count": torch.tensor(len(self.names))}

    def conclude(self, answers: Answers) -> dict[str, object]:
        """Report the test's verdict on each table, and whether it modified any table.

        The test modified a table if the verdict on it ends in `_CHANGED`.
        """
        changed = any(word.endswith(_CHANGED) for word in self._words)
        self._words = [word.removesuffix(_CHANGED) for word in self._words]
        changes = "some" if changed else "none"
        return {
            **super().conclude(answers),
            "tables that are others afterwards": changes,
        }

    def try_subject(self, number: int, question: Answers) -> Answers:
        """Return the table with this number."""
        return {"table": self.inputs[self.names[number].removeprefix("the ")]}


@probe(
    "positional_encoding/bug_clinic",
    interactor=_Tables,
    results="the * table; the table *; the right table of *",
    calls="* afterwards",
)
def bug_clinic(test: Any, inputs: Inputs, ask: Ask) -> Seen:
    """Report the verdict of the student's test on each table of sinusoids.

    The judge sends one table at a time, and never says which are correct.
    """

    def judge_table(number: int) -> str:
        """The verdict on the table with this number, and whether it was modified."""
        table = ask({"thing": torch.tensor(number)})["table"]
        before = table.clone()
        word = run_test(test, table)
        is_same = (
            table.shape == before.shape and not differing(before, table, 0, 0).any()
        )
        return word if is_same else word + _CHANGED

    return one_by_one(int(inputs["count"]), ask, judge_table)


_CHANGED = "; the table is another one"  # suffix of a verdict: the table was modified
