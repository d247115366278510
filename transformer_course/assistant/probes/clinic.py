"""The probe of the bug clinic, where a student's test judges training steps.

The judge, a trusted process, computes them: student code cannot see the bugs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from autograder.checks.exercise import Answers
from autograder.checks.interactor import Ask, one_by_one, require_tensor
from autograder.checks.probes import Inputs, Seen, probe
from autograder.checks.probes.clinics import Patients
from transformer_course.assistant.probes.steps import take_step
from transformer_course.library.observing import run_test


class _Steps(Patients):
    """The judge's side of the bug clinic, which takes training steps, some with a bug.

    The student's test sees only the loss and the gradient of each step.
    """

    RIGHT = "a correct step"
    MOST_LOGITS, MOST_IDS = 4 * 32 * 16, 4 * 32

    def reveal_inputs(self) -> Answers:
        """Return what the student's side may know: the number of steps, as "count"."""
        return {"count": torch.tensor(len(self.names))}

    def try_subject(self, number: int, question: Answers) -> Seen:
        """Return a step's "loss", and its "gradient" with respect to the logits.

        The question has "logits" `(B, L, V)`, "ids" `(B, L)` and "answers" `(B, L)`.
        """
        style, bug = self.style_and_bug(self.names[number])
        logits = require_tensor(
            question, "logits", 3, [torch.float32], self.MOST_LOGITS
        )
        ids = require_tensor(question, "ids", 2, [torch.int64], self.MOST_IDS)
        answers = require_tensor(question, "answers", 2, [torch.bool], self.MOST_IDS)
        loss, gradient = take_step(style, bug, logits, ids, answers)
        return {"loss": loss, "gradient": gradient}


@probe(
    "assistant/bug_clinic",
    interactor=_Steps,
    results="a correct step; the other one; a third one",
)
def bug_clinic(test: Callable[..., Any], inputs: Inputs, ask: Ask) -> Seen:
    """Run the student's test on each training step, and send the judge its verdicts.

    The test gets a function that asks the judge for the step's loss and gradient.
    """

    def judge_step(number: int) -> str:
        """Return the test's verdict on step ``number``: "accepted" or "rejected"."""

        def step(
            logits: torch.Tensor, ids: torch.Tensor, answers: torch.Tensor
        ) -> tuple[torch.Tensor, torch.Tensor]:
            question = {"logits": logits.detach(), "ids": ids, "answers": answers}
            result = ask({"thing": torch.tensor(number), **question})
            return result["loss"], result["gradient"]

        return run_test(test, step)

    return one_by_one(int(inputs["count"]), ask, judge_step)
