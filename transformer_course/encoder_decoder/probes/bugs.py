"""The bugs that a decoder layer in the bug clinic may have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

Step = Callable[[torch.Tensor], torch.Tensor]


def make_triangle(rows: int, columns: int, ahead: int = 0) -> torch.Tensor:
    """A mask in which row i allows the columns up to i + ahead."""
    return torch.ones(rows, columns, dtype=torch.bool).tril(ahead)


def _make_causal_mask(x: torch.Tensor, ahead: int = 0) -> torch.Tensor:
    """A causal mask (Lt, Lt) for x, with `ahead` positions of the future allowed."""
    return make_triangle(x.size(-2), x.size(-2), ahead)  # (Lt, Lt)


def _leave_unchanged(x: torch.Tensor) -> torch.Tensor:
    return x


def _attend(
    attention: nn.Module, x: torch.Tensor, mask: torch.Tensor | None
) -> torch.Tensor:
    """Apply self-attention to x, as a correct layer does."""
    context: torch.Tensor = attention.forward(x, x, mask)
    return context


@dataclass(frozen=True)
class LayerBug:
    """The steps of a decoder layer: correct by default; a bug replaces one of them.

    x is (..., B, Lt, d_model), memory (..., B, Ls, d_model). A mask is Boolean,
    true at allowed pairs of positions, or it is added to the scores.
    """

    change_x: Step = _leave_unchanged  # when it enters the layer
    mask: Callable[[torch.Tensor], torch.Tensor | None] = _make_causal_mask
    attend: Callable[..., torch.Tensor] = _attend  # self-attention
    change_context: Step = _leave_unchanged  # the output of self-attention
    change_memory: Step = _leave_unchanged  # when it enters the layer
    memory_mask: Callable[[int, int], torch.Tensor | None] = lambda Lt, Ls: None
    change_cross_context: Step = _leave_unchanged  # the output of cross-attention
    change_output: Step = _leave_unchanged  # the layer's output for one batch


def _overwrite_last(x: torch.Tensor) -> torch.Tensor:
    """Replace the last position by the one before it."""
    if x.size(-2) == 1:
        return x
    return torch.cat((x[..., :-1, :], x[..., -2:-1, :]), dim=-2)


def _mask_first(x: torch.Tensor) -> torch.Tensor:
    """Return a causal mask that hides position 0 from all later positions."""
    mask = _make_causal_mask(x)
    mask[1:, 0] = False
    return mask


def _mask_first_two(x: torch.Tensor) -> torch.Tensor:
    """A causal mask for the first two sentences; the others have none."""
    later = torch.arange(x.size(-3)) > 1
    return _make_causal_mask(x) | later[:, None, None, None]


def _unpack_pair(context: torch.Tensor) -> torch.Tensor:
    """Keep the first of two sentences; fail for any other batch size.

    This imitates code that unpacks a tensor as if it were a pair (output, weights).
    """
    first, _ = context.unbind(-3)
    return first.unsqueeze(-3)


def _unpack_if_pair(context: torch.Tensor) -> torch.Tensor:
    """Replace a batch of two sentences by the first; leave other batches unchanged."""
    return _unpack_pair(context) if context.size(-3) == 2 else context


def _keep_last(context: torch.Tensor) -> torch.Tensor:
    """Replace the context by zeros, except at the last position."""
    target = context.size(-2)
    return context * (torch.arange(target) == target - 1)[:, None]


# Sorted by the first rule that each of them violates; cases refer to them by name.
BUGS = {
    "": LayerBug(),
    # 1: shapes, lengths and batch sizes.
    "squeezes": LayerBug(change_output=torch.squeeze),
    "narrow": LayerBug(change_output=lambda x: x[..., :1]),
    "unpacks": LayerBug(change_context=_unpack_pair),
    "square of the target": LayerBug(
        memory_mask=lambda Lt, Ls: make_triangle(Lt, Lt, Lt)[:, :Ls]
    ),
    "square of the memory": LayerBug(
        memory_mask=lambda Lt, Ls: make_triangle(Ls, Ls, Ls)[:Lt]
    ),
    # 2: the target positions that each target position may attend to.
    "no mask": LayerBug(mask=lambda x: None),
    "one ahead": LayerBug(mask=lambda x: _make_causal_mask(x, 1)),
    "soft mask": LayerBug(
        mask=lambda x: torch.where(_make_causal_mask(x), 0.0, -6.0).to(x.dtype)
    ),
    "mask of the first two": LayerBug(mask=_mask_first_two),
    "first unseen": LayerBug(mask=_mask_first),
    "short sight": LayerBug(mask=lambda x: _make_causal_mask(x).triu(-1)),
    "no past": LayerBug(
        attend=lambda attention, x, mask: attention.maps[3](attention.maps[2](x))
    ),
    "shifts": LayerBug(change_x=lambda x: F.pad(x[..., :-1, :], (0, 0, 1, 0))),
    "last unread": LayerBug(change_x=_overwrite_last),
    # 3: every output depends on the whole memory.
    "causal memory": LayerBug(memory_mask=make_triangle),
    "last asks": LayerBug(change_cross_context=_keep_last),
    "short memory": LayerBug(change_memory=lambda memory: memory[..., :-1, :]),
    "late memory": LayerBug(change_memory=lambda memory: memory[..., 1:, :]),
    # 4: sentences do not influence each other.
    "unpacks pairs": LayerBug(change_context=_unpack_if_pair),
    "mixes the batch": LayerBug(
        change_context=lambda context: context.mean(-3, keepdim=True)
    ),
    "mixes memories": LayerBug(
        change_memory=lambda memory: memory.mean(-3, keepdim=True).expand_as(memory)
    ),
    "last leaks": LayerBug(
        change_memory=lambda memory: memory + memory[..., -1:, :, :]
    ),
    "first leaks": LayerBug(
        change_memory=lambda memory: memory + memory[..., :1, :, :]
    ),
}
