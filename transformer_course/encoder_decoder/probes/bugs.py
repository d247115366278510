"""The bugs that a decoder layer in the bug clinic may have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

Step = Callable[[torch.Tensor], torch.Tensor]


def triangle(rows: int, columns: int, ahead: int = 0) -> torch.Tensor:
    """A mask in which row i allows the columns up to i + ahead."""
    return torch.ones(rows, columns, dtype=torch.bool).tril(ahead)


def _causal(x: torch.Tensor, ahead: int = 0) -> torch.Tensor:
    """A causal mask (Lt, Lt) for x, with `ahead` positions of the future allowed."""
    return triangle(x.size(-2), x.size(-2), ahead)  # (Lt, Lt)


def _unchanged(x: torch.Tensor) -> torch.Tensor:
    return x


def _looks(
    attention: nn.Module, x: torch.Tensor, mask: torch.Tensor | None
) -> torch.Tensor:
    """Correct self-attention."""
    context: torch.Tensor = attention.forward(x, x, mask)
    return context


@dataclass(frozen=True)
class LayerBug:
    """The steps of a decoder layer: correct by default; a bug replaces one of them.

    x is (..., B, Lt, d_model), memory (..., B, Ls, d_model). A mask is Boolean, true at
    allowed pairs of positions, or it is added to the scores.
    """

    reads: Step = _unchanged  # changes x when it enters the layer
    mask: Callable[[torch.Tensor], torch.Tensor | None] = _causal  # of self-attention
    looks: Callable[..., torch.Tensor] = _looks  # self-attention
    shares: Step = _unchanged  # changes the output of self-attention
    remembers: Step = _unchanged  # changes the memory when it enters the layer
    memory_mask: Callable[[int, int], torch.Tensor | None] = lambda Lt, Ls: None
    asks: Step = _unchanged  # changes the output of cross-attention
    returns: Step = _unchanged  # changes the output of the layer for one batch


def _last_unread(x: torch.Tensor) -> torch.Tensor:
    """Replace the last position by the one before it."""
    if x.size(-2) == 1:
        return x
    return torch.cat((x[..., :-1, :], x[..., -2:-1, :]), dim=-2)


def _first_unseen(x: torch.Tensor) -> torch.Tensor:
    """A causal mask in which only position 0 may attend to position 0."""
    mask = _causal(x)
    mask[1:, 0] = False
    return mask


def _mask_of_the_first_two(x: torch.Tensor) -> torch.Tensor:
    """A causal mask for the first two sentences; the others have none."""
    later = torch.arange(x.size(-3)) > 1
    return _causal(x) | later[:, None, None, None]


def _first_of_a_pair(context: torch.Tensor) -> torch.Tensor:
    """The first of two sentences; fails for any other batch size."""
    first, _ = context.unbind(-3)
    return first.unsqueeze(-3)


def _first_if_a_pair(context: torch.Tensor) -> torch.Tensor:
    """The first sentence for both if there are two; else all unchanged."""
    return _first_of_a_pair(context) if context.size(-3) == 2 else context


def _only_the_last(context: torch.Tensor) -> torch.Tensor:
    """Zeros, except at the last position."""
    target = context.size(-2)
    return context * (torch.arange(target) == target - 1)[:, None]


# Sorted by the first rule that each of them violates; cases refer to them by name.
BUGS = {
    "": LayerBug(),
    # 1: shapes, lengths and batch sizes.
    "squeezes": LayerBug(returns=torch.squeeze),
    "narrow": LayerBug(returns=lambda x: x[..., :1]),
    "unpacks": LayerBug(shares=_first_of_a_pair),
    "square of the target": LayerBug(
        memory_mask=lambda Lt, Ls: triangle(Lt, Lt, Lt)[:, :Ls]
    ),
    "square of the memory": LayerBug(
        memory_mask=lambda Lt, Ls: triangle(Ls, Ls, Ls)[:Lt]
    ),
    # 2: the target positions that each target position may attend to.
    "no mask": LayerBug(mask=lambda x: None),
    "one ahead": LayerBug(mask=lambda x: _causal(x, 1)),
    "soft mask": LayerBug(
        mask=lambda x: torch.where(_causal(x), 0.0, -6.0).to(x.dtype)
    ),
    "mask of the first two": LayerBug(mask=_mask_of_the_first_two),
    "first unseen": LayerBug(mask=_first_unseen),
    "short sight": LayerBug(mask=lambda x: _causal(x).triu(-1)),
    "no past": LayerBug(
        looks=lambda attention, x, mask: attention.maps[3](attention.maps[2](x))
    ),
    "shifts": LayerBug(reads=lambda x: F.pad(x[..., :-1, :], (0, 0, 1, 0))),
    "last unread": LayerBug(reads=_last_unread),
    # 3: every output depends on the whole memory.
    "causal memory": LayerBug(memory_mask=triangle),
    "last asks": LayerBug(asks=_only_the_last),
    "short memory": LayerBug(remembers=lambda memory: memory[..., :-1, :]),
    "late memory": LayerBug(remembers=lambda memory: memory[..., 1:, :]),
    # 4: sentences do not influence each other.
    "unpacks pairs": LayerBug(shares=_first_if_a_pair),
    "mixes the batch": LayerBug(shares=lambda context: context.mean(-3, keepdim=True)),
    "mixes memories": LayerBug(
        remembers=lambda memory: memory.mean(-3, keepdim=True).expand_as(memory)
    ),
    "last leaks": LayerBug(remembers=lambda memory: memory + memory[..., -1:, :, :]),
    "first leaks": LayerBug(remembers=lambda memory: memory + memory[..., :1, :, :]),
}
