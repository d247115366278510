"""A task that attention can learn and an average cannot: look up digits by name.

A phone book is random, and has `PAIRS` entries of a name and a digit.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

NAMES = (
    "Ada", "Bo", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hal",
    "Ida", "Joy", "Kim", "Lea", "Max", "Nell", "Oli", "Pia",
)  # fmt: skip
DIGITS, PAIRS = 10, 6
# Arguments for a cross-attention layer whose inputs and outputs are one-hot vectors.
SIZES = {"d_model": len(NAMES), "d_memory": len(NAMES) + DIGITS, "d_v": DIGITS}


def draw(size: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Draw random phone books, and questions that have their names in random order.

    Returns:
        Names, `(size, PAIRS, names)`, and books, `(size, PAIRS, names + digits)`,
        both one-hot; the correct digits, `(size, PAIRS)`, int64.
    """
    # The order of random numbers is a random permutation.
    names = torch.rand(size, len(NAMES), generator=generator).argsort(-1)[:, :PAIRS]
    digits = torch.randint(DIGITS, (size, PAIRS), generator=generator)
    order = torch.rand(size, PAIRS, generator=generator).argsort(-1)
    entries = F.one_hot(names, len(NAMES)), F.one_hot(digits, DIGITS)
    questions = F.one_hot(names.gather(1, order), len(NAMES))
    return questions.float(), torch.cat(entries, -1).float(), digits.gather(1, order)


def train(layer: nn.Module, steps: int, seed: int = 0) -> None:
    """Train a layer to return the digits of names, on 64 new phone books per step.

    The layer maps ``(names, book)`` to ``(logits, weights)``.
    """
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.03)
    for _ in range(steps):
        questions, books, digits = draw(64, generator)
        loss = F.cross_entropy(
            layer(questions, books)[0].flatten(0, 1), digits.flatten()
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def without_queries(layer: nn.Module) -> nn.Module:
    """Fix the layer's `w_q` at zero, which makes its attention weights uniform."""
    for parameter in layer.get_submodule("w_q").parameters():
        nn.init.zeros_(parameter.requires_grad_(False))
    return layer


@torch.no_grad()
def accuracy(layer: nn.Module) -> float:
    """The fraction of correct digits in 500 held-out books."""
    questions, books, digits = draw(500, torch.Generator().manual_seed(12345))
    return float((layer(questions, books)[0].argmax(-1) == digits).float().mean())
