"""Inputs and mistakes that the two exercises on greedy decoding share."""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import edit, wrong
from autograder.authoring.specification import Inputs, Maker, Mutant
from transformer_course.sequence_reversal.exercises._inputs import BOS, EOS, FIRST, PAD


def draw_lines(*ends: int, max_len: int, vocabulary: int, training: bool = True, pads: bool = False) -> Maker:
    """Make a function that draws sources, and a "line" of tokens to decode for each.

    Args:
        ends: the index of each line's first EOS; too large an index means none.
        vocabulary: the number of tokens; the last id is in no source or line.
        training: whether the model starts in training mode.
        pads: whether lines may also contain PAD and BOS before their end.
    """

    def make_inputs(draw: Draw) -> Inputs:
        width = max_len + 3
        source = draw.ids(FIRST, vocabulary - 1, len(ends), 4)
        source[:, 0] = FIRST + torch.arange(len(ends))  # a unique source for each row
        lines = draw.ids(FIRST, vocabulary - 1, len(ends), width)
        for row, end in zip(lines, ends, strict=True):
            if end < width:
                row[end] = EOS
                row[end + 2 :: 3] = EOS
            if pads and end >= width:
                row[max_len - 2 : max_len] = PAD
            elif pads and end > 1:
                row[end - 2] = PAD
                row[end - 3 : end - 2] = BOS
        return {
            "source": source,
            "lines": lines,
            "max_len": torch.tensor(max_len),
            "noise": draw.tensor(width + 2, vocabulary, scale=1.0),
            "training": torch.tensor(training),
        }

    return make_inputs


def write_mode_mistakes(first: str) -> list[Mutant]:
    """Return the mistakes of decoding in the wrong mode or with gradients.

    ``first`` is the first line in the body of the solution.
    """
    return [
        wrong("training_mode",
              "You decode in whatever mode the model arrives; in training mode, dropout makes the result random.",
              "What did `@evaluating` do for you?",
              edit("@evaluating", "@torch.no_grad()")),
        wrong("left_in_eval",
              "You leave the model in evaluation mode, so a training loop around your function would go on without "
              "dropout.",
              "In which mode did you find the model?",
              edit("@evaluating", "@torch.no_grad()", first, f"""
                  model.eval()
                  {first}"""), tests="`@evaluating`"),
        wrong("gradients",
              "You decode with gradients on, so every step keeps its whole graph in memory, for nothing.",
              "Will anyone ever call `backward` on a decoded token?",
              edit("@evaluating", """
                  @evaluating
                  @torch.enable_grad()
                  """)),
    ]
