"""Built from notebooks/03_multi_head_attention.py by `make build`; do not edit."""

from collections.abc import Sequence
from jaxtyping import Bool, Float
from torch import Tensor, nn
from transformer_course.solutions import attention as attention
import torch
import torch.nn.functional as F


class ListOfHeads(nn.Module):
    """Several self-attentions in parallel, then a linear layer.

    Args:
        d_model: size of the input vectors.
        num_heads: number of heads.
        d_k: size of the queries and keys of each head.
        d_v: size of the values of each head, and so of its output.
        d_out: size of the output vectors.

    The heads are `attention.SelfAttention` modules, stored in `heads`; the linear
    layer is `w_o`; the state dict contains no other names.
    """

    def __init__(self, d_model: int, num_heads: int, d_k: int, d_v: int, d_out: int):
        super().__init__()
        self.heads = nn.ModuleList(
            attention.SelfAttention(d_model, d_k, d_v) for _ in range(num_heads)
        )
        self.w_o = nn.Linear(num_heads * d_v, d_out)

    def forward(
        self,
        x: Float[Tensor, "B L d_model"],
        mask: Bool[Tensor, "L L"] | Bool[Tensor, "B L L"] | None = None,
    ) -> tuple[Float[Tensor, "B L d_out"], Float[Tensor, "B num_heads L L"]]:
        """Attend from each position of x to all positions of x.

        Args:
            mask: True = may attend, in every head; any shape that broadcasts to
                `(B, L, L)` is allowed.

        Returns:
            The output and the weights.
        """
        results = [head(x, mask) for head in self.heads]
        outputs, weights = zip(*results, strict=True)
        joined = torch.cat(outputs, dim=-1)  # (B, L, h * d_v)
        return self.w_o(joined), torch.stack(weights, dim=1)  # ..., (B, h, L, L)


def split_heads(
    x: Float[Tensor, "B L d_model"], num_heads: int
) -> Float[Tensor, "B num_heads L d_model//num_heads"]:
    """Split the features of each position into heads: equal, contiguous blocks.

    Args:
        x: the features of all heads.
        num_heads: number of heads; it divides d_model.

    Returns:
        The heads, with the dtype of x.
    """
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)  # (B, h, L, d_k)


def merge_heads(x: Float[Tensor, "B h L d_k"]) -> Float[Tensor, "B L h*d_k"]:
    """Concatenate the features of all heads: the inverse of `split_heads`.

    Args:
        x: the heads.

    Returns:
        The features of all heads, head 0 first, with the dtype of x.
    """
    return x.transpose(1, 2).flatten(2)  # (B, L, h * d_k)


def pack_heads(heads: Sequence[nn.Module]) -> dict[str, Tensor]:
    """The weights of three large layers that do the work of all heads.

    Args:
        heads: h modules with linear layers `w_q`, `w_k`, `w_v`, each from d_model to
            d_k.

    Returns:
        The tensors `w_q.weight` `(h * d_k, d_model)` and `w_q.bias` `(h * d_k,)`, and
        the same for `w_k` and `w_v`, with the dtype of the heads. Rows
        `i * d_k ... (i + 1) * d_k - 1` come from head i.
    """
    return {
        f"{name}.{kind}": torch.cat([getattr(getattr(h, name), kind) for h in heads])
        for name in ("w_q", "w_k", "w_v")
        for kind in ("weight", "bias")
    }


def mask_for_heads(
    mask: Bool[Tensor, "Lq Lk"]
    | Bool[Tensor, "B Lq Lk"]
    | Bool[Tensor, "B h Lq Lk"]
    | None,
) -> Bool[Tensor, "B h Lq Lk"] | None:
    """A mask with the four dimensions of the scores of all heads.

    Args:
        mask: True = may attend. Any of B, h and Lq may be 1.

    Returns:
        The mask with exactly four dimensions, any of which but the last may be 1; None
        for None.
    """
    if mask is None or mask.dim() == 4:
        return mask
    if mask.dim() == 2:
        mask = mask.unsqueeze(0)  # (1, Lq, Lk)
    return mask.unsqueeze(1)  # (B, 1, Lq, Lk)


class MultiHeadAttention(nn.Module):
    """Multi-head attention (Vaswani et al. 2017, section 3.2.2).

    Args:
        d_model: size of all input and output vectors.
        num_heads: number of heads, at least 1.
        dropout: probability of dropping an attention weight in training.

    The linear layers are named `w_q`, `w_k`, `w_v` and `w_o`, each with a bias; the
    state dict contains no other names.

    Raises:
        ValueError: num_heads does not divide d_model.
    """

    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0):
        super().__init__()
        self.num_heads = num_heads
        if d_model % num_heads != 0:
            raise ValueError(f"{num_heads} heads cannot share {d_model} features")
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        query: Float[Tensor, "B Lq d_model"],
        key: Float[Tensor, "B Lk d_model"],
        value: Float[Tensor, "B Lk d_model"],
        mask: Bool[Tensor, "Lq Lk"]
        | Bool[Tensor, "B Lq Lk"]
        | Bool[Tensor, "B num_heads Lq Lk"]
        | None = None,
    ) -> tuple[Float[Tensor, "B Lq d_model"], Float[Tensor, "B num_heads Lq Lk"]]:
        """Attend from each query to all keys, in every head.

        Args:
            query: the sequence that attends.
            key: what it is compared with.
            value: what is averaged.
            mask: True = may attend. Any of its dimensions but the last may be 1.

        Returns:
            The output and the weights.
        """
        q = split_heads(self.w_q(query), self.num_heads)  # (B, h, Lq, d_k)
        k = split_heads(self.w_k(key), self.num_heads)  # (B, h, Lk, d_k)
        v = split_heads(self.w_v(value), self.num_heads)  # (B, h, Lk, d_k)
        mask = mask_for_heads(mask)
        _, weights = attention.scaled_dot_product_attention(q, k, v, mask)
        weights = self.dropout(weights)  # (B, h, Lq, Lk)
        return self.w_o(merge_heads(weights @ v)), weights  # (B, Lq, d_model), ...


def to_pytorch(mine: nn.Module) -> nn.MultiheadAttention:
    """A copy of a `MultiHeadAttention` as PyTorch's own layer.

    Args:
        mine: a module with linear layers `w_q`, `w_k`, `w_v`, `w_o`, each from d_model
            to d_model with a bias, and with the attribute `num_heads`.

    Returns:
        An `nn.MultiheadAttention`, batch first, without dropout, with copies of the
        weights.
    """
    d_model = mine.w_o.out_features
    theirs = nn.MultiheadAttention(d_model, mine.num_heads, batch_first=True)
    layers = (mine.w_q, mine.w_k, mine.w_v)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers]))
        theirs.in_proj_bias.copy_(torch.cat([layer.bias for layer in layers]))
        theirs.out_proj.load_state_dict(mine.w_o.state_dict())
    return theirs
