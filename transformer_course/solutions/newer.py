"""Built from notebooks/10_newer.py by `make build`; do not edit."""

from collections.abc import Callable, Iterable, Sequence
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformer_course.solutions import attention as attention
from transformer_course.solutions import multi_head_attention as mha
from transformer_course.solutions import since_2017 as modern
import math
import torch
import torch.nn.functional as F


def route(logits: Float[Tensor, "*batch E"], top_k: int) -> Float[Tensor, "*batch E"]:
    """The weights of the experts for each token (Jiang et al. 2024, section 2.1).

    Args:
        logits: of the router.
        top_k: how many experts each token is sent to.

    Returns:
        Weights: `top_k` of them positive, the others 0.
    """
    values, indices = logits.topk(top_k, dim=-1)  # (..., k)
    return torch.zeros_like(logits).scatter(-1, indices, values.softmax(dim=-1))


class QKNormAttention(modern.CausalAttention):
    """Causal attention that normalises each head's queries and keys, as in Qwen3.

    Args:
        d_model, num_heads, num_kv_heads: see CausalAttention.
        base: of the rotary angles.
        eps: of both norms.
    """

    def __init__(
        self, d_model: int, num_heads: int, num_kv_heads: int,
        base: float = 1_000_000.0, eps: float = 1e-6,
    ):  # fmt: skip
        super().__init__(d_model, num_heads, num_kv_heads, base)
        d_k = d_model // num_heads
        self.q_norm, self.k_norm = modern.RMSNorm(d_k, eps), modern.RMSNorm(d_k, eps)

    def forward(self, x: Float[Tensor, "B L d_model"]) -> Float[Tensor, "B L d_model"]:
        """Attend to each position and those before it."""
        q = mha.split_heads(self.w_q(x), self.num_heads)  # (B, h, L, d_k)
        k = mha.split_heads(self.w_k(x), self.num_kv_heads)  # (B, g, L, d_k)
        v = mha.split_heads(self.w_v(x), self.num_kv_heads)  # (B, g, L, d_k)
        q, k = self.q_norm(q), self.k_norm(k)
        angles = modern.rotary_angles(x.size(1), q.size(-1), base=self.base)
        q, k = modern.rotate(q, angles), modern.rotate(k, angles)
        heads, _ = modern.grouped_attention(q, k, v, attention.causal_mask(x.size(1)))
        return self.w_o(mha.merge_heads(heads))  # (B, L, d_model)


def window_mask(
    length: int, window: int | None = None
) -> Bool[Tensor, "length length"]:
    """The mask of causal attention with a sliding window (Beltagy et al. 2020).

    Args:
        length: number of positions.
        window: how many positions a query sees, itself included; None: all so far.

    Returns:
        A mask, with a row for each query.
    """
    positions = torch.arange(length)
    distance = positions[:, None] - positions  # (L, L)
    allowed = distance >= 0
    return allowed if window is None else allowed & (distance < window)


class MixtureOfExperts(nn.Module):
    """Several feed-forward networks, of which each vector is sent to a few.

    Args:
        d_model: size of the vectors.
        d_ff: see SwiGLU; of each expert.
        num_experts: how many there are, E.
        top_k: how many of them each vector is sent to.
    """

    def __init__(self, d_model: int, d_ff: int, num_experts: int, top_k: int = 2):
        super().__init__()
        self.top_k = top_k
        self.router = nn.Linear(d_model, num_experts, bias=False)
        experts = (modern.SwiGLU(d_model, d_ff) for _ in range(num_experts))
        self.experts = nn.ModuleList(experts)

    def forward(
        self, x: Float[Tensor, "*batch d_model"]
    ) -> Float[Tensor, "*batch d_model"]:
        """Transform each position on its own."""
        weights = route(self.router(x), self.top_k)  # (..., E)
        output = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            chosen = weights[..., i] > 0  # (...)
            output[chosen] += weights[..., i][chosen].unsqueeze(-1) * expert(x[chosen])
        return output  # (..., d_model)


def load_balance(logits: Float[Tensor, "*batch E"], top_k: int) -> Float[Tensor, ""]:
    """The load-balancing loss of a router (Fedus et al. 2022, equations 4 to 6).

    Args:
        logits: of the router.
        top_k: how many experts each token is sent to.

    Returns:
        The loss: `top_k` if all experts are used alike.
    """
    rows = logits.flatten(0, -2)  # (N, E)
    shares = (route(rows, top_k) > 0).to(rows.dtype).mean(dim=0)  # (E,)
    probabilities = rows.softmax(dim=-1).mean(dim=0)  # (E,)
    return rows.size(-1) * (shares * probabilities).sum()


def orthogonalise(
    update: Float[Tensor, "m n"], steps: int = 5, eps: float = 1e-7
) -> Float[Tensor, "m n"]:
    """Bring the singular values of a matrix close to 1 (Jordan et al. 2024, Muon).

    Args:
        update: the change that an optimiser would make to a matrix.
        steps: of the Newton-Schulz iteration.
        eps: added to the Frobenius norm.

    Returns:
        A matrix with the singular vectors of `update`.
    """
    a, b, c = 3.4445, -4.7750, 2.0315
    x = update / (update.norm() + eps)
    for _ in range(steps):
        gram = x @ x.T  # (m, m)
        x = a * x + (b * gram + c * gram @ gram) @ x  # (m, n)
    return x


def master_step(
    parameters: Sequence[nn.Parameter],
    masters: Sequence[nn.Parameter],
    optimizer: torch.optim.Optimizer,
) -> None:
    """Update bfloat16 parameters by way of their float32 copies.

    Args:
        parameters: of the model, with their gradients, in bfloat16.
        masters: their float32 copies, in the same order.
        optimizer: of the copies.
    """
    for parameter, master in zip(parameters, masters, strict=True):
        master.grad = None if parameter.grad is None else parameter.grad.float()
    optimizer.step()
    with torch.no_grad():
        for parameter, master in zip(parameters, masters, strict=True):
            parameter.copy_(master)


def scale_frequencies(
    frequencies: Float[Tensor, "n"], factor: float, trained: int,
    low: float = 1.0, high: float = 4.0,
) -> Float[Tensor, "n"]:  # fmt: skip
    """Slow down the rotary pairs that turn rarely (`apply_scaling` of Llama 3.1).

    Args:
        frequencies: of the pairs, in radians per position.
        factor: how many times longer the new texts are.
        trained: number of positions in training.
        low: a pair with at most so many turns in training is slowed by the factor.
        high: a pair with at least so many turns keeps its frequency.
    """
    turns = trained * frequencies / (2 * math.pi)  # (n,)
    share = ((turns - low) / (high - low)).clamp(0, 1)  # (n,)
    return frequencies * (share + (1 - share) / factor)


def slots(
    table: Int[Tensor, "m"], positions: Int[Tensor, "n"], page_size: int
) -> Int[Tensor, "n"]:
    """The places of a text's positions in a pool of pages (Kwon et al. 2023).

    Args:
        table: the text's pages, in the order of its positions.
        positions: those that are asked for.
        page_size: positions in a page.
    """
    return table[positions // page_size] * page_size + positions % page_size


def paged_attention(
    q: Float[Tensor, "B h d_k"],
    k_pages: Float[Tensor, "pages size g d_k"],
    v_pages: Float[Tensor, "pages size g d_k"],
    tables: Int[Tensor, "B m"],
    lengths: Int[Tensor, "B"],
) -> Float[Tensor, "B h d_k"]:
    """Attention of each text's newest position to its keys and values in pages.

    Args:
        q: a query for each text and head, rotated.
        k_pages: the pool of keys.
        v_pages: the pool of values.
        tables: the pages of each text.
        lengths: positions of each text, the newest included.
    """
    k, v = (pages[tables].flatten(1, 2).transpose(1, 2) for pages in (k_pages, v_pages))
    mask = torch.arange(k.size(2)) < lengths[:, None]  # (B, m * size)
    heads, _ = modern.grouped_attention(q.unsqueeze(2), k, v, mask[:, None, None])
    return heads.squeeze(2)  # (B, h, d_k)


def assert_pool(
    tables: Int[Tensor, "B m"], lengths: Int[Tensor, "B"], free: Int[Tensor, "n"],
    pages: int, page_size: int,
) -> None:  # fmt: skip
    """Pass quietly if a pool's bookkeeping is correct, or else fail an assertion.

    Args:
        tables: the pages of each text.
        lengths: positions of each text.
        free: the pages that no text owns.
        pages: number of pages in the pool.
        page_size: positions in a page.
    """
    needed = -(-lengths // page_size)  # (B,), rounded up
    used = torch.arange(tables.size(1)) < needed[:, None]  # (B, m)
    assert (tables[~used] == -1).all(), "an entry that no position needs"
    owned = torch.cat((tables[used], free))
    assert torch.equal(owned.sort().values, torch.arange(pages)), "not each once"
