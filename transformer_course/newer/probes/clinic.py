"""The probe of the bug clinic, where a student's test judges pools of pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from autograder.checks.exercise import Answers
from autograder.checks.interactor import Ask, BlindTrial, one_by_one
from autograder.checks.probes import Inputs, Seen, probe
from transformer_course.library.observing import run_test

_SUBJECTS = {"a right pool": "right", "the other one": "other", "a third one": "third"}
_PARTS = ("tables", "lengths", "free")


class _Pools(BlindTrial):
    """The judge's side of the bug clinic: pools of pages with and without a bug."""

    def list_subjects(self) -> list[str]:
        return [*_SUBJECTS]

    def reveal_inputs(self) -> Answers:
        """Tell the student's side how many pools there are, and their common sizes.

        The answers are "count", "pages" (in a pool) and "page_size" (in positions).
        """
        sizes = {name: self.inputs[name] for name in ("pages", "page_size")}
        return {"count": torch.tensor(len(self.names)), **sizes}

    def try_subject(self, number: int, question: Answers) -> Answers:
        """Return the tables, lengths and free pages of the pool with this number."""
        subject = _SUBJECTS[self.names[number]]
        return {part: self.inputs[f"{subject} {part}"] for part in _PARTS}


@probe("newer/bug_clinic", interactor=_Pools, results=f"{'; '.join(_SUBJECTS)}")
def bug_clinic(test: Callable[..., Any], inputs: Inputs, ask: Ask) -> Seen:
    """Run the student's test on each pool, and send the judge its verdicts.

    The judge sends one pool at a time, and never says which of them are correct.
    """

    def judge_pool(number: int) -> str:
        """The verdict of the test on the pool with this number."""
        pool = ask({"thing": torch.tensor(number)})
        sizes = (int(inputs["pages"]), int(inputs["page_size"]))
        return run_test(test, *(pool[part] for part in _PARTS), *sizes)

    return one_by_one(int(inputs["count"]), ask, judge_pool)
