"""What the judge makes of the weights of a model that was trained to reverse."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from autograder.oracle.decoding import greedy
from autograder.student.probes.sequence_reversal.trained import Reverser


class Judged(Reverser):
    """The examination of the notebook, with keys and values kept while decoding.

    A model of fixed sizes cannot take long, so it needs no process of its own.
    """

    def decode(self, model: nn.Module, source: torch.Tensor) -> torch.Tensor:
        """(N, Ls): what a model writes greedily; PAD after EOS."""
        found = greedy(model, source, max_len=source.size(1))  # (N, up to Ls)
        return F.pad(found, (0, source.size(1) - found.size(1)))
