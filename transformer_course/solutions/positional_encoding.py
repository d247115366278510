"""Built from notebooks/01_positional_encoding.py by `make build`; do not edit."""

from collections.abc import Callable
from jaxtyping import Float, Int, Real
from torch import Tensor, nn
import math
import torch


def embed(
    ids: Int[Tensor, "B L"],
    table: Float[Tensor, "vocab_size d_model"],
    padding_idx: int | None = None,
) -> Float[Tensor, "B L d_model"]:
    """Look up the vectors of tokens in a table.

    Args:
        ids: row indices of the table, int64.
        table: a vector for each token; not modified.
        padding_idx: the token whose vector is zero, whatever its row holds; no gradient
            may reach that row. None means that there is no such token.

    Returns:
        The vectors, with the dtype of the table.
    """
    vectors = table[ids]  # (B, L, d_model)
    if padding_idx is None:
        return vectors
    is_padding = (ids == padding_idx).unsqueeze(-1)  # (B, L, 1)
    return vectors.masked_fill(is_padding, 0.0)


def shuffle_gap(
    mix: Callable[[Tensor], Tensor],
    x: Float[Tensor, "B L d_model"],
    order: Int[Tensor, "L"],
) -> Float[Tensor, ""] | float:
    """The gap between "shuffle, then mix" and "mix, then shuffle".

    Args:
        mix: a function from (B, L, d_model) to (B, L, d_model).
        x: a batch of sentences; not modified.
        order: a permutation, int64: position n of the shuffled sentence gets the vector
            from position order[n], in every sentence of the batch.

    Returns:
        The largest absolute difference between the two, over all entries.
    """
    shuffled_before = mix(x[:, order])  # (B, L, d_model)
    shuffled_after = mix(x)[:, order]  # (B, L, d_model)
    return (shuffled_before - shuffled_after).abs().max()  # ()


def table_by_loops(max_len: int, d_model: int) -> Float[Tensor, "max_len d_model"]:
    """The sinusoid table of the paper (section 3.5), entry by entry.

    Args:
        max_len: the number of positions, which are 0, 1, ..., max_len - 1.
        d_model: the number of columns, which is even.

    Returns:
        float32: sines in even columns, cosines in odd ones.
    """
    table = torch.zeros(max_len, d_model)
    for pos in range(max_len):
        for i in range(d_model // 2):
            angle = pos / 10000 ** (2 * i / d_model)
            table[pos, 2 * i] = math.sin(angle)
            table[pos, 2 * i + 1] = math.cos(angle)
    return table


def sinusoid(
    positions: Real[Tensor, "*shape"], d_model: int
) -> Float[Tensor, "*shape d_model"]:
    """The sinusoid encoding of any positions (paper, section 3.5), without loops.

    Args:
        positions: in any shape, int64 or float32; possibly fractional or negative; not
            modified.
        d_model: the number of components that encode one position.

    Returns:
        float32: sines in even columns, cosines in odd ones.

    Raises:
        ValueError: d_model is odd.
    """
    if d_model % 2:
        raise ValueError(f"d_model must be even, not {d_model}")
    exponents = torch.arange(0, d_model, 2) / d_model  # (d_model/2,)
    angles = positions.unsqueeze(-1) / 10000**exponents  # (..., d_model/2)
    pairs = torch.stack((angles.sin(), angles.cos()), dim=-1)  # (..., d_model/2, 2)
    return pairs.flatten(-2)  # (..., d_model)


class PositionalEncoding(nn.Module):
    """Adds a fixed table of positions to a batch of sentences, and nothing else."""

    def __init__(self, table: Float[Tensor, "max_len d_model"]):
        """Keep ``table`` as a buffer called ``pe``.

        The buffer may also have the shape (1, max_len, d_model).
        """
        super().__init__()
        self.register_buffer("pe", table)  # (max_len, d_model)

    def forward(self, x: Float[Tensor, "B L d_model"]) -> Float[Tensor, "B L d_model"]:
        """Add row n of the table to position n of each sentence.

        Args:
            x: L <= max_len, with the module's dtype; not modified.

        Returns:
            The sums, with the dtype and on the device of the module.
        """
        return x + self.pe[: x.size(1)]  # (B, L, d_model)


class InputLayer(nn.Module):
    """The input of a Transformer: scaled embeddings plus positions, then dropout.

    Its own parameter is ``embedding.weight``, (vocab_size, d_model). The module that
    adds positions is kept as ``positions``; if it has parameters, as learned positions
    do, they are trained as well, and their names start with ``positions.``.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        positions: nn.Module,
        dropout: float = 0.1,
        padding_idx: int = 0,
    ):
        """Create an ``nn.Embedding`` called ``embedding``; keep ``positions``.

        Args:
            vocab_size: the number of tokens.
            d_model: the number of components of a vector.
            positions: maps x, (B, L, d_model), to x plus positions.
            dropout: the probability of zeroing an entry in training mode.
            padding_idx: the token whose vector starts as zero and is not trained.
        """
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model, padding_idx=padding_idx)
        self.positions = positions
        self.dropout = nn.Dropout(dropout)
        self.scale = math.sqrt(d_model)

    def forward(self, ids: Int[Tensor, "B L"]) -> Float[Tensor, "B L d_model"]:
        """From int64 ids to vectors."""
        x = self.embedding(ids) * self.scale  # (B, L, d_model)
        return self.dropout(self.positions(x))  # (B, L, d_model)


def shift_matrix(k: int, d_model: int) -> Float[Tensor, "d_model d_model"]:
    """The matrix that shifts the encoding of any position by k steps.

    Args:
        k: the number of steps; it may be zero or negative.
        d_model: the number of components of an encoding, which is even.

    Returns:
        float32, new in each call: M with M @ PE(pos) = PE(pos + k) for every pos, where
        PE(pos) is a column vector that alternates sines and cosines (see ``sinusoid``).
    """
    angles = k / 10000 ** (torch.arange(0, d_model, 2) / d_model)  # (d_model/2,)
    sin, cos = angles.sin(), angles.cos()
    blocks = torch.stack((cos, sin, -sin, cos), dim=-1)  # (d_model/2, 4)
    return torch.block_diag(*blocks.view(-1, 2, 2))  # (d_model, d_model)


def assert_sinusoidal(table: Float[Tensor, "max_len d_model"]) -> None:
    """Return quietly if a table is the sinusoid table of its size.

    Args:
        table: float32; max_len at least 2, d_model even. The rows are the positions 0,
            1, ..., max_len - 1.

    Raises:
        AssertionError: some entry is off by more than 0.01, or is NaN. There must be no
            error if all entries are correct to 0.0001; in between, either is fine.
    """
    max_len, d_model = table.shape
    sines, cosines = table.double().view(max_len, -1, 2).unbind(-1)
    hands = torch.complex(cosines, sines)  # (max_len, d_model/2)
    speeds = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)  # (d_model/2,)
    angles = torch.arange(max_len).unsqueeze(1) * speeds  # (max_len, d_model/2)
    turned_back = hands * torch.polar(torch.ones_like(angles), -angles)
    assert ((turned_back - 1).abs() < 1e-3).all(), "a hand is not where it should be"
