"""Built from notebooks/02_attention.py by `make build`; do not edit."""

from collections.abc import Callable
from torch import Tensor, nn
import math
import torch
import torch.nn.functional as F


def attend(
    query: list[float],
    keys: list[list[float]],
    values: list[list[float]],
    allowed: list[bool],
) -> tuple[list[float], list[float]]:
    """The attention of one query, number by number.

    Args:
        query: d_k numbers.
        keys: a list of d_k numbers for each key.
        values: a list of d_v numbers for each key.
        allowed: for each key, whether the query may attend to it.

    Returns:
        The output, d_v numbers, and the attention weights, one for each key.
    """
    powers = []
    for key, may in zip(keys, allowed, strict=True):
        products = [a * b for a, b in zip(query, key, strict=True)]
        score = sum(products) / math.sqrt(len(query))
        powers.append(math.exp(score) if may else 0.0)
    weights = [power / sum(powers) for power in powers]
    output = [
        sum(w * value[c] for w, value in zip(weights, values, strict=True))
        for c in range(len(values[0]))
    ]
    return output, weights


def stable_softmax(x: Tensor) -> Tensor:
    """Softmax over the last dimension, safe for scores of any magnitude.

    Args:
        x: scores, shape `(..., L)`; some may be `-inf`, but not a whole row.

    Returns:
        The weights, with the shape and dtype of x: not negative, and each row sums to
        1. A gradient can flow through them back to x.
    """
    powers = (x - x.amax(dim=-1, keepdim=True)).exp()  # (..., L), each at most 1
    return powers / powers.sum(dim=-1, keepdim=True)


def padding_mask(ids: Tensor, pad_id: int = 0) -> Tensor:
    """Which keys are real tokens.

    Args:
        ids: token ids, shape `(B, L)`, int64.
        pad_id: the id of the padding token.

    Returns:
        A boolean mask, shape `(B, 1, L)`: True = may attend.
    """
    return (ids != pad_id).unsqueeze(1)  # (B, 1, L)


def causal_mask(length: int) -> Tensor:
    """Which key each query may attend to if none may look ahead.

    Args:
        length: the number of positions, L.

    Returns:
        A boolean mask, shape `(L, L)`; entry [i, j]: may query i attend to key j?
    """
    return torch.ones(length, length, dtype=torch.bool).tril()  # (L, L)


def combine_masks(first: Tensor | None, second: Tensor | None) -> Tensor | None:
    """The mask that allows what both masks allow; None restricts nothing.

    Args:
        first: a boolean mask such as `(B, 1, L)`, or None.
        second: a boolean mask that broadcasts with it, such as `(L, L)`, or None.

    Returns:
        A boolean mask such as `(B, L, L)`; None if both are None.
    """
    if first is None:
        return second
    if second is None:
        return first
    return first & second


def scaled_dot_product_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Scaled dot-product attention (Vaswani et al. 2017, section 3.2.1).

    Args:
        q: queries, shape `(..., Lq, d_k)`.
        k: keys, shape `(..., Lk, d_k)`.
        v: values, shape `(..., Lk, d_v)`.
        mask: None, or boolean and broadcastable to `(..., Lq, Lk)`: True = may attend.

    Returns:
        The output `(..., Lq, d_v)` and the weights `(..., Lq, Lk)`, in this order and
        with the dtype of q, k and v.
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # (..., Lq, Lk)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = F.softmax(scores, dim=-1)  # (..., Lq, Lk)
    return weights @ v, weights  # (..., Lq, d_v), (..., Lq, Lk)


class CrossAttention(nn.Module):
    """Attention of one sequence to a different one, its memory.

    Args:
        d_model: length of the vectors of the attending sequence.
        d_memory: length of the vectors of the memory.
        d_k: length of queries and keys.
        d_v: length of values, and of the output vectors.

    The linear layers are named `w_q`, `w_k` and `w_v`, each with a bias; the state dict
    holds no other names.
    """

    def __init__(self, d_model: int, d_memory: int, d_k: int, d_v: int):
        super().__init__()
        self.w_q = nn.Linear(d_model, d_k)
        self.w_k = nn.Linear(d_memory, d_k)
        self.w_v = nn.Linear(d_memory, d_v)

    def forward(
        self, x: Tensor, memory: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Attend from x `(B, Lq, d_model)` to the memory `(B, Lk, d_memory)`.

        Args:
            mask: None, or boolean and broadcastable to `(B, Lq, Lk)`: True = may
                attend.

        Returns:
            The output `(B, Lq, d_v)` and the weights `(B, Lq, Lk)`.
        """
        q = self.w_q(x)  # (B, Lq, d_k)
        k, v = self.w_k(memory), self.w_v(memory)  # (B, Lk, d_k), (B, Lk, d_v)
        return scaled_dot_product_attention(q, k, v, mask)


def who_sees_whom(layer: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Which outputs move when an input is changed.

    Args:
        layer: a function from `(L, d)` to `(L, d_out)`.
        x: an input of shape `(L, d)`.

    Returns:
        A boolean matrix `(L, L)`; entry [i, j]: does output i move when input j
        changes?
    """
    before, push = layer(x), torch.linspace(0.5, 1, x.size(-1))  # (L, d_out), (d,)
    columns = []
    for j in range(len(x)):
        changed = x.clone()
        changed[j] += push
        columns.append(((layer(changed) - before).abs() > 1e-6).any(dim=-1))  # (L,)
    return torch.stack(columns, dim=1)  # (L, L)


class SelfAttention(CrossAttention):
    """Attention of a sequence to itself, with learnt queries, keys and values.

    Args:
        d_model: length of the input vectors.
        d_k: length of queries and keys.
        d_v: length of values, and of the output vectors.
    """

    def __init__(self, d_model: int, d_k: int, d_v: int):
        super().__init__(d_model, d_model, d_k, d_v)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Attend from each position of x `(B, L, d_model)` to all positions of x.

        Args:
            mask: None, or boolean and broadcastable to `(B, L, L)`: True = may attend.

        Returns:
            The output `(B, L, d_v)` and the weights `(B, L, L)`.
        """
        return super().forward(x, x, mask)
