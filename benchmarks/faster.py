"""Training in less time on a CPU: dropout from a pool, products in bfloat16."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

POOL = 1 << 22  # numbers: 64 sentences of 60 positions with 1,024 each fit


class PooledDropout(nn.Module):
    """Dropout that cuts its masks out of a pool of numbers, at random places.

    A CPU takes longer to draw a random number than for all that is done with it after.
    So the pool is drawn once, and only the place anew with each call. What does not
    fit, or is not on the CPU, is dropped as by `nn.Dropout`.

    Args:
        p: probability of dropping a number in training.
        pools: the masks `(POOL,)` by type: 0, or 1 / (1 - p) where a number is kept. It
            is filled as types come, and may be shared.
    """

    def __init__(self, p: float, pools: dict[torch.dtype, Tensor]):
        super().__init__()
        self.p, self.pools = p, pools

    def forward(self, x: Tensor) -> Tensor:
        """x, of any shape; in training with its mask."""
        count = x.numel()
        if not self.training or x.device.type != "cpu" or count >= POOL:
            return F.dropout(x, self.p, self.training)
        if x.dtype not in self.pools:
            kept = torch.empty(POOL).bernoulli_(1 - self.p)
            self.pools[x.dtype] = (kept / (1 - self.p)).to(x.dtype)
        place = int(torch.randint(POOL - count, ()))
        return x * self.pools[x.dtype][place : place + count].view(x.shape)


def pooled_dropout(model: nn.Module) -> None:
    """Let all dropout modules of a model that drop anything share pools."""
    pools: dict[float, dict[torch.dtype, Tensor]] = {}
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, nn.Dropout) and 0 < child.p < 1:
                shared = pools.setdefault(child.p, {})
                setattr(module, name, PooledDropout(child.p, shared))


def mixed_precision(model: nn.Module) -> None:
    """Let a model compute its products in bfloat16 while it is trained.

    Weights, logits and what an optimizer keeps stay in single precision, and so does
    all that the model computes in evaluation mode. It pays on processors that multiply
    in bfloat16 (`avx512_bf16` or `amx_bf16` in /proc/cpuinfo); others take longer.

    Args:
        model: called as `model(source, target)`, gives logits.
    """
    plain = model.forward

    def forward(source: Tensor, target: Tensor) -> Tensor:
        kind = source.device.type
        with torch.autocast(kind, torch.bfloat16, enabled=model.training):
            logits: Tensor = plain(source, target)
        return logits.float()

    model.forward = forward
