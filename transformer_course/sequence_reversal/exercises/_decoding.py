"""Mistakes of both greedy decoders."""

from __future__ import annotations

from autograder.authoring.notation import edit, wrong
from autograder.authoring.specification import Mutant


def unevaluated(first: str) -> list[Mutant]:
    """Decoding in the wrong mode, or with gradients; ``first`` is the line where it begins."""
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
