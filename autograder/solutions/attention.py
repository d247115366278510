"""Built from notebooks/02_attention.py by `make build`; do not edit."""

from collections.abc import Callable
from torch import Tensor, nn
import math
import torch
import torch.nn.functional as F


def dot_product_scores(q: Tensor, k: Tensor) -> Tensor:
    """How well each key fits each query: all dot products, nothing else.

    Args:
        q: queries, shape `(Lq, d_k)`.
        k: keys, shape `(Lk, d_k)`.

    Returns:
        The scores, shape `(Lq, Lk)`; rows are queries, columns are keys.
    """
    return q @ k.T  # (Lq, Lk)


def scaled_scores(q: Tensor, k: Tensor) -> Tensor:
    """Dot products of queries and keys, divided by the square root of their size.

    Args:
        q: queries, shape `(..., Lq, d_k)`.
        k: keys, shape `(..., Lk, d_k)`, with the same leading dimensions.

    Returns:
        The scaled scores, shape `(..., Lq, Lk)`.
    """
    scores = q @ k.transpose(-2, -1)  # (..., Lq, Lk)
    return scores / math.sqrt(q.size(-1))


def stable_softmax(x: Tensor) -> Tensor:
    """Softmax over the last dimension, safe for numbers of any size.

    Args:
        x: scores, shape `(..., L)`; some may be `-inf`, but not a whole row.

    Returns:
        The weights, same shape and type: not negative, and each row sums to 1. A
        gradient can flow through them back to x.
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
    """Who may look at whom if nobody may look ahead.

    Args:
        length: the number of positions, L.

    Returns:
        A boolean mask, shape `(L, L)`, a new one in each call; entry [i, j]: may query
        i attend to key j?
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
        of the type of q, k and v.
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # (..., Lq, Lk)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = F.softmax(scores, dim=-1)  # (..., Lq, Lk)
    return weights @ v, weights  # (..., Lq, d_v), (..., Lq, Lk)


class SelfAttention(nn.Module):
    """Attention of a sequence to itself, with learnt queries, keys and values.

    Args:
        d_model: size of the input vectors.
        d_k: size of queries and keys.
        d_v: size of values, and of the output vectors.

    The linear layers are named `w_q`, `w_k` and `w_v`, each with a bias; the state dict
    holds no other names.
    """

    def __init__(self, d_model: int, d_k: int, d_v: int):
        super().__init__()
        self.w_q = nn.Linear(d_model, d_k)
        self.w_k = nn.Linear(d_model, d_k)
        self.w_v = nn.Linear(d_model, d_v)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Attend from each position of x `(B, L, d_model)` to all positions of x.

        Args:
            mask: None, or boolean and broadcastable to `(B, L, L)`: True = may attend.

        Returns:
            The output `(B, L, d_v)` and the weights `(B, L, L)`.
        """
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)  # (B, L, d_k), ..., (B, L, d_v)
        return scaled_dot_product_attention(q, k, v, mask)


class CrossAttention(nn.Module):
    """Attention of one sequence to another, its memory.

    Args:
        d_model: size of the vectors of the sequence that asks.
        d_memory: size of the vectors of the memory.
        d_k: size of queries and keys.
        d_v: size of values, and of the output vectors.

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
    before = layer(x)  # (L, d_out)
    columns = []
    for j in range(len(x)):
        changed = x.clone()
        changed[j] += 1.0
        columns.append(((layer(changed) - before).abs() > 1e-6).any(dim=-1))  # (L,)
    return torch.stack(columns, dim=1)  # (L, L)


def equivariance_gap(
    layer: Callable[[Tensor], Tensor], x: Tensor, order: Tensor
) -> Tensor:
    """How far a layer is from commuting with a permutation of the positions.

    Args:
        layer: a function from `(L, d)` to `(L, d_out)`.
        x: an input of shape `(L, d)`.
        order: a permutation of 0 ... L-1, shape `(L,)`, int64; new row i is old row
            order[i].

    Returns:
        The largest absolute difference, as a tensor of shape `()` or a plain number.
    """
    return (layer(x[order]) - layer(x)[order]).abs().max()
