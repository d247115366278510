"""The probe of the bug clinic, where a student's test judges patching tools."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch

from autograder.checks.exercise import Answers, WrongAnswerError
from autograder.checks.interactor import Ask, one_by_one, require_tensor
from autograder.checks.probes import Inputs, Seen, probe, seed
from autograder.checks.probes.clinics import Patients
from transformer_course.library.observing import run_test
from transformer_course.look_inside.probes.patches import PatchingTool, make_model

ROUNDING = 4e-6  # noise between equal runs; smaller than the contract's tolerance


class _Tools(Patients):
    """The interactor of the bug clinic: it runs correct and buggy patching tools.

    A patching tool runs a model on a text, with one hidden state of another text.
    """

    RIGHT = "a correct tool"
    MOST = 12  # the largest number of tokens in a text

    def __init__(self, inputs: Inputs, draw: random.Random):
        super().__init__(inputs, draw)
        self._sizes = [int(size) for size in inputs["sizes"]]
        self._tools = [
            PatchingTool(
                make_model(self.own_seed(), *self._sizes), *self.style_and_bug(name)
            )
            for name in self.names
        ]

    def reveal_inputs(self) -> Answers:
        """Tell the student's side the number of tools to judge and their models' sizes.

        Which tools are correct stays with the judge.
        """
        return {
            "count": torch.tensor(len(self.names)), "sizes": self.inputs["sizes"],
        }  # fmt: skip

    def try_subject(self, number: int, question: Answers) -> Seen:
        """Return the "logits" that tool ``number`` computes, with some rounding noise.

        ``question`` has two texts, "ids" and "other_ids", and the "block" and the
        "position" of the hidden state that is taken from the other text.
        """
        ids, other = (
            require_tensor(question, name, 2, [torch.int64], self.MOST)
            for name in ("ids", "other_ids")
        )
        block, position = (
            int(require_tensor(question, name, 0, [torch.int64], 1))
            for name in ("block", "position")
        )
        blocks, vocab_size = self._sizes
        if ids.shape != other.shape or ids.size(0) != 1 or not ids.numel():
            raise WrongAnswerError("expected two texts (1, L) of the same length")
        both = torch.cat((ids, other))
        if int(both.min()) < 0 or int(both.max()) >= vocab_size:
            raise WrongAnswerError(f"expected ids from 0 to {vocab_size - 1}")
        if not (0 <= block < blocks and 0 <= position < ids.size(1)):
            raise WrongAnswerError(f"there is no block {block} or position {position}")
        logits = self._tools[number](ids, other, block, position)
        # Equal runs differ slightly, so a test must not demand exact equality.
        return {"logits": logits + ROUNDING * torch.rand(logits.shape)}


@probe(
    "look_inside/bug_clinic",
    interactor=_Tools,
    results="a correct tool; the other one; a third one",
)
def bug_clinic(test: Callable[..., Any], inputs: Inputs, ask: Ask) -> Seen:
    """Run the student's test on each patching tool, and send the judge its verdicts.

    The test gets a function that asks the judge for the tool's logits.
    """
    blocks, vocab_size = inputs["sizes"].tolist()

    def judge_tool(number: int) -> str:
        """Return the test's verdict on tool ``number``: "accepted" or "rejected"."""

        def patch(
            ids: torch.Tensor, other_ids: torch.Tensor, block: int, position: int
        ) -> torch.Tensor:
            """Ask the judge for the logits that the patching tool computes."""
            question = {
                "ids": ids, "other_ids": other_ids,
                "block": torch.tensor(int(block)),
                "position": torch.tensor(int(position)),
            }  # fmt: skip
            result: torch.Tensor = ask({"thing": torch.tensor(number), **question})[
                "logits"
            ]
            return result

        seed(0)  # each tool meets the same random inputs
        return run_test(test, patch, blocks, vocab_size)

    return one_by_one(int(inputs["count"]), ask, judge_tool)
