"""Built from notebooks/02_attention.py by `make build`; do not edit."""

from collections.abc import Callable
from jaxtyping import Bool, Float, Int
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


def stable_softmax(x: Float[Tensor, "*batch L"]) -> Float[Tensor, "*batch L"]:
    """Softmax over the last dimension, safe for scores of any magnitude.

    Args:
        x: scores; some may be `-inf`, but not a whole row.

    Returns:
        The weights, with the dtype of x: not negative, and each row sums to 1. A
        gradient can flow through them back to x.
    """
    powers = (x - x.amax(dim=-1, keepdim=True)).exp()  # (..., L), each at most 1
    return powers / powers.sum(dim=-1, keepdim=True)


def padding_mask(ids: Int[Tensor, "B L"], pad_id: int = 0) -> Bool[Tensor, "B 1 L"]:
    """Which keys are real tokens.

    Args:
        ids: token ids, int64.
        pad_id: the id of the padding token.

    Returns:
        A mask: True = may attend.
    """
    return (ids != pad_id).unsqueeze(1)  # (B, 1, L)


def causal_mask(length: int) -> Bool[Tensor, "length length"]:
    """Which key each query may attend to if none may look ahead.

    Args:
        length: the number of positions.

    Returns:
        A mask; entry [i, j]: may query i attend to key j?
    """
    return torch.ones(length, length, dtype=torch.bool).tril()  # (L, L)


def combine_masks(
    first: Bool[Tensor, "*first"] | None, second: Bool[Tensor, "*second"] | None
) -> Bool[Tensor, "*both"] | None:
    """The mask that allows what both masks allow; None restricts nothing.

    Args:
        first: a mask of any shape, such as `(B, 1, L)`.
        second: a mask that broadcasts with it, such as `(L, L)`.

    Returns:
        A mask of the common shape, such as `(B, L, L)`; None if both are None.
    """
    if first is None:
        return second
    if second is None:
        return first
    return first & second


def scaled_dot_product_attention(
    q: Float[Tensor, "*batch Lq d_k"],
    k: Float[Tensor, "*batch Lk d_k"],
    v: Float[Tensor, "*batch Lk d_v"],
    mask: Bool[Tensor, "Lq Lk"] | Bool[Tensor, "*batch Lq Lk"] | None = None,
) -> tuple[Float[Tensor, "*batch Lq d_v"], Float[Tensor, "*batch Lq Lk"]]:
    """Scaled dot-product attention (Vaswani et al. 2017, section 3.2.1).

    Args:
        q: queries.
        k: keys.
        v: values.
        mask: True = may attend; any shape that broadcasts to the weights will do.

    Returns:
        The output and the weights, in this order and with the dtype of q, k and v.
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
        self,
        x: Float[Tensor, "B Lq d_model"],
        memory: Float[Tensor, "B Lk d_memory"],
        mask: Bool[Tensor, "Lq Lk"] | Bool[Tensor, "B Lq Lk"] | None = None,
    ) -> tuple[Float[Tensor, "B Lq d_v"], Float[Tensor, "B Lq Lk"]]:
        """Attend from x to the memory.

        Args:
            mask: True = may attend; any shape that broadcasts to the weights will do.

        Returns:
            The output and the weights.
        """
        q = self.w_q(x)  # (B, Lq, d_k)
        k, v = self.w_k(memory), self.w_v(memory)  # (B, Lk, d_k), (B, Lk, d_v)
        return scaled_dot_product_attention(q, k, v, mask)


def who_sees_whom(
    layer: Callable[[Tensor], Tensor], x: Float[Tensor, "L d"]
) -> Bool[Tensor, "L L"]:
    """Which outputs move when an input is changed.

    Args:
        layer: a function from `(L, d)` to `(L, d_out)`.
        x: an input of the layer.

    Returns:
        A matrix; entry [i, j]: does output i move when input j changes?
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

    def forward(
        self,
        x: Float[Tensor, "B L d_model"],
        mask: Bool[Tensor, "L L"] | Bool[Tensor, "B L L"] | None = None,
    ) -> tuple[Float[Tensor, "B L d_v"], Float[Tensor, "B L L"]]:
        """Attend from each position of x to all positions of x.

        Args:
            mask: True = may attend; any shape that broadcasts to the weights will do.

        Returns:
            The output and the weights.
        """
        return super().forward(x, x, mask)
