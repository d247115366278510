"""The probe of the bug clinic, where a student's test judges training steps."""

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
    """The judge's side of the bug clinic: training steps with and without a bug."""

    RIGHT = "a correct step"
    MOST_LOGITS, MOST_IDS = 4 * 32 * 16, 4 * 32

    def reveal_inputs(self) -> Answers:
        """How many steps there are to judge, as the input "count"."""
        return {"count": torch.tensor(len(self.names))}

    def try_subject(self, number: int, question: Answers) -> Seen:
        """Compute the loss and the gradient of a batch with step ``number``."""
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
    """Report whether the student's test accepts or rejects each training step.

    The test gets a function that asks the judge for the step's loss and gradient.
    """

    def judge_step(number: int) -> str:
        """The verdict of the test on the step with this number."""

        def step(
            logits: torch.Tensor, ids: torch.Tensor, answers: torch.Tensor
        ) -> tuple[torch.Tensor, torch.Tensor]:
            question = {"logits": logits.detach(), "ids": ids, "answers": answers}
            result = ask({"thing": torch.tensor(number), **question})
            return result["loss"], result["gradient"]

        return run_test(test, step)

    return one_by_one(int(inputs["count"]), ask, judge_step)
