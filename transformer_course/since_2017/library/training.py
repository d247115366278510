"""Train a language model on a sequence of tokens, and measure it on unseen text."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_course.library import recipe


def train(
    model: nn.Module,
    ids: Tensor,
    steps: int,
    seed: int,
    *,
    rate: float = 3e-3,
    batch: int = 8,
    context: int = 96,
    watch: Callable[[int], None] | None = None,
) -> nn.Module:
    """Train a next-token model with AdamW, warm-up and cosine decay, and return it.

    Args:
        ids: the training text, `(n,)`.
        batch, context: windows per step, and tokens per window.
        watch: called after each step with the number of steps so far.
    """
    generator = torch.Generator().manual_seed(seed)
    optimizer = recipe.adamw(model.parameters(), rate)
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = rate * recipe.rate_factor(step, steps)
        starts = torch.randint(len(ids) - context, (batch, 1), generator=generator)
        windows = ids[starts + torch.arange(context + 1)]  # (batch, context + 1)
        logits = model(windows[:, :-1])  # (batch, context, V)
        targets = windows[:, 1:].flatten()
        loss = F.cross_entropy(logits.flatten(0, 1), targets)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(list(model.parameters()), max_norm=1.0)
        optimizer.step()
        if watch:
            watch(step + 1)
    return model


@torch.no_grad()
def nats_per_token(model: nn.Module, ids: Tensor, context: int = 96) -> float:
    """Compute the mean loss per token on a text `(n,)`, in windows of ``context``.

    Tokens after the last full window are left out.
    """
    size = context + 1
    windows = ids[: len(ids) // size * size].view(-1, size)
    total = 0.0
    for part in windows.split(64):
        logits = model(part[:, :-1]).flatten(0, 1)
        total += F.cross_entropy(logits, part[:, 1:].flatten(), reduction="sum").item()
    return total / (windows.size(0) * context)


def measure_step(
    model: nn.Module, vocab_size: int, batch: int, length: int
) -> tuple[int, int]:
    """Measure the bytes of state and of activations in a training step with AdamW.

    The state is parameters, gradients and moments; the activations are the tensors
    that the forward pass saves for the backward pass.
    """
    optimizer = torch.optim.AdamW(model.parameters())
    parameters = list(model.parameters())
    held = {p.untyped_storage().data_ptr() for p in parameters}
    saved: dict[int, Tensor] = {}  # by address; kept alive so that no address is reused

    def save(tensor: Tensor) -> Tensor:
        """A hook that notes what the forward pass saves, except for parameters."""
        address = tensor.untyped_storage().data_ptr()
        if address not in held:
            saved[address] = tensor
        return tensor

    ids = torch.randint(vocab_size, (batch, length + 1))
    with torch.autograd.graph.saved_tensors_hooks(save, lambda tensor: tensor):
        logits = model(ids[:, :-1]).flatten(0, 1)
        loss = F.cross_entropy(logits, ids[:, 1:].flatten())
    activations = sum(t.untyped_storage().nbytes() for t in saved.values())
    loss.backward()
    optimizer.step()
    tensors = [*parameters, *(p.grad for p in parameters if p.grad is not None)]
    for moments in optimizer.state.values():
        # Without step counters, which have no dimensions.
        tensors += [tensor for tensor in moments.values() if tensor.dim()]
    return sum(int(t.nbytes) for t in tensors), activations
