"""Built from notebooks/07_since_2017.py by `make build`; do not edit."""

from transformer_course.library import corpora, likeness
from transformer_course.solutions import attention as attention
from transformer_course.solutions import multi_head_attention as mha
from transformer_course.solutions import sequence_reversal as reversal
from collections.abc import Callable, Iterable, Mapping, Sequence
from safetensors.torch import load_model, save_model
from torch import Tensor, nn
from tqdm.auto import tqdm
import math
import torch
import torch.nn.functional as F


class RMSNorm(nn.Module):
    """Divide by the root mean square (Zhang and Sennrich 2019, section 3).

    Args:
        d_model: size of the vectors.
        eps: added to the mean square.
    """

    def __init__(self, d_model: int, eps: float = 1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Normalise each vector of `x`, `(..., d_model)`; same shape, same dtype."""
        wide = x.to(torch.promote_types(x.dtype, torch.float32))  # (..., d_model)
        mean_square = wide.square().mean(dim=-1, keepdim=True)  # (..., 1)
        normed = wide * torch.rsqrt(mean_square + self.eps)
        return (normed * self.weight).to(x.dtype)  # (..., d_model)


def rotary_angles(
    length: int, d_k: int, offset: int = 0, base: float = 10_000.0
) -> Tensor:
    """The angle of each pair at each position (Su et al. 2021).

    Args:
        length: number of positions.
        d_k: size of a query or key; even.
        offset: the first position.
        base: a larger one gives the slow pairs lower frequencies.

    Returns:
        Angles in radians, shape `(length, d_k / 2)`, float32; new ones in each call.
    """
    frequencies = base ** -(torch.arange(0, d_k, 2) / d_k)  # (d_k / 2,)
    positions = torch.arange(offset, offset + length)  # (length,)
    return positions[:, None] * frequencies  # (length, d_k / 2)


def rotate(x: Tensor, angles: Tensor) -> Tensor:
    """Rotate each pair of components, in halves, by its angle.

    Args:
        x: queries or keys, shape `(..., L, d_k)`.
        angles: in radians, shape `(L, d_k / 2)`.

    Returns:
        The rotated vectors, shape `(..., L, d_k)`, in the dtype of `x`.
    """
    a, b = x.chunk(2, dim=-1)  # (..., L, d_k / 2) each
    cos, sin = angles.cos(), angles.sin()
    rotated = torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1)
    return rotated.to(x.dtype)  # (..., L, d_k)


def relative_gap(
    turn: Callable[[Tensor, int], Tensor], q: Tensor, k: Tensor, shift: int
) -> float:
    """How much scores change if a whole text moves by `shift` positions.

    Args:
        turn: called as `turn(x, offset)`, returns a tensor of the shape of `x`.
        q, k: queries `(B, Lq, d_k)` and keys `(B, Lk, d_k)`.
        shift: by how many positions the text moves.

    Returns:
        The largest absolute difference between two scores of the same pair.
    """
    still, moved = (
        turn(q, offset) @ turn(k, offset).transpose(-2, -1) for offset in (0, shift)
    )  # (B, Lq, Lk) each
    return (moved - still).abs().max().item()


def pairs_to_halves(weight: Tensor, num_heads: int) -> Tensor:
    """Reorder a projection for rotary pairs that are halves instead of neighbours.

    Args:
        weight: of a linear layer, shape `(h * d_k, d_model)`.
        num_heads: number of heads, h.

    Returns:
        The same rows in a different order, shape `(h * d_k, d_model)`.
    """
    by_pair = weight.unflatten(0, (num_heads, -1, 2))  # (h, d_k / 2, 2, d_model)
    return by_pair.transpose(1, 2).flatten(0, 2)  # (h * d_k, d_model)


class SwiGLU(nn.Module):
    """A gated feed-forward network (Shazeer 2020), no larger than the one it replaces.

    Args:
        d_model: size of the vectors.
        d_ff: width of the hidden layer of the ReLU network that it replaces.
    """

    def __init__(self, d_model: int, d_ff: int):
        super().__init__()
        width = 2 * d_ff // 3
        self.w_gate = nn.Linear(d_model, width, bias=False)
        self.w_up = nn.Linear(d_model, width, bias=False)
        self.w_down = nn.Linear(width, d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """From `(..., d_model)` to `(..., d_model)`, each position on its own."""
        gate = F.silu(self.w_gate(x))  # (..., width)
        return self.w_down(gate * self.w_up(x))  # (..., d_model)


def grouped_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Attention in which neighbouring query heads share keys and values.

    Args:
        q: queries, shape `(B, h, Lq, d_k)`.
        k: keys, shape `(B, g, Lk, d_k)`; g divides h.
        v: values, shape `(B, g, Lk, d_v)`.
        mask: boolean, True = may attend, broadcastable to `(B, h, Lq, Lk)`.

    Returns:
        Output `(B, h, Lq, d_v)` and weights `(B, h, Lq, Lk)`, in this order.

    Raises:
        ValueError: g does not divide h.
    """
    heads, groups = q.size(1), k.size(1)
    if heads % groups:
        raise ValueError(f"{heads} query heads do not divide into {groups} groups")
    by_group = q.unflatten(1, (groups, -1))  # (B, g, h / g, Lq, d_k)
    scores = by_group @ k.unsqueeze(2).transpose(-2, -1) / math.sqrt(q.size(-1))
    scores = scores.flatten(1, 2)  # (B, h, Lq, Lk)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.softmax(dim=-1)  # (B, h, Lq, Lk)
    output = weights.unflatten(1, (groups, -1)) @ v.unsqueeze(2)
    return output.flatten(1, 2), weights  # (B, h, Lq, d_v), (B, h, Lq, Lk)


class CausalAttention(nn.Module):
    """Causal self-attention with rotary positions and grouped heads.

    Args:
        d_model: size of the vectors.
        num_heads: heads of queries, h; divides d_model.
        num_kv_heads: heads of keys and values, g; divides h.
        base: of the rotary angles.
    """

    def __init__(
        self, d_model: int, num_heads: int, num_kv_heads: int, base: float = 10_000.0
    ):
        super().__init__()
        d_k = d_model // num_heads
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.base = base
        self.w_q = nn.Linear(d_model, num_heads * d_k, bias=False)
        self.w_k = nn.Linear(d_model, num_kv_heads * d_k, bias=False)
        self.w_v = nn.Linear(d_model, num_kv_heads * d_k, bias=False)
        self.w_o = nn.Linear(num_heads * d_k, d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """From `(B, L, d_model)` to the same shape, without attending to the future."""
        q = mha.split_heads(self.w_q(x), self.num_heads)  # (B, h, L, d_k)
        k = mha.split_heads(self.w_k(x), self.num_kv_heads)  # (B, g, L, d_k)
        v = mha.split_heads(self.w_v(x), self.num_kv_heads)  # (B, g, L, d_k)
        angles = rotary_angles(x.size(1), q.size(-1), base=self.base)  # (L, d_k / 2)
        q, k = rotate(q, angles), rotate(k, angles)
        heads, _ = grouped_attention(q, k, v, attention.causal_mask(x.size(1)))
        return self.w_o(mha.merge_heads(heads))  # (B, L, d_model)


class Block(nn.Module):
    """One layer of the decoder, pre-norm.

    Args:
        d_model, num_heads, num_kv_heads: see CausalAttention.
        d_ff: see SwiGLU.
        base: of the rotary angles.
        eps: of both norms.
    """

    def __init__(
        self, d_model: int, num_heads: int, num_kv_heads: int, d_ff: int,
        base: float = 10_000.0, eps: float = 1e-6,
    ):  # fmt: skip
        super().__init__()
        self.norm1 = RMSNorm(d_model, eps)
        self.attention = CausalAttention(d_model, num_heads, num_kv_heads, base)
        self.norm2 = RMSNorm(d_model, eps)
        self.feed_forward = SwiGLU(d_model, d_ff)

    def forward(self, x: Tensor) -> Tensor:
        """From `(B, L, d_model)` to `(B, L, d_model)`."""
        x = x + self.attention(self.norm1(x))  # (B, L, d_model)
        return x + self.feed_forward(self.norm2(x))  # (B, L, d_model)


class LanguageModel(nn.Module):
    """A decoder-only model (Touvron et al. 2023) with tied embeddings.

    Args:
        vocab_size: number of tokens, V.
        d_model, num_heads, num_kv_heads, d_ff: see Block.
        num_layers: number of blocks.
        base: of the rotary angles.
        eps: of all norms.
    """

    def __init__(
        self, vocab_size: int, d_model: int, num_heads: int, num_kv_heads: int,
        num_layers: int, d_ff: int, base: float = 10_000.0, eps: float = 1e-6,
    ):  # fmt: skip
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList(
            Block(d_model, num_heads, num_kv_heads, d_ff, base, eps)
            for _ in range(num_layers)
        )
        self.norm = RMSNorm(d_model, eps)

    def forward(self, ids: Tensor) -> Tensor:
        """Logits `(B, L, V)` for the token after each position of ids `(B, L)`."""
        x = self.embedding(ids)  # (B, L, d_model)
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), self.embedding.weight)  # (B, L, V)


def attend_with_cache(
    layer: nn.Module, x: Tensor, cache: object = None
) -> tuple[Tensor, object]:
    """Causal attention of new positions, with the past in a cache.

    Args:
        layer: a module like CausalAttention.
        x: the new positions, shape `(B, n, d_model)`.
        cache: None at the beginning, else what the last call returned.

    Returns:
        The output `(B, n, d_model)` and the new cache, in this order.
    """
    q = mha.split_heads(layer.w_q(x), layer.num_heads)  # (B, h, n, d_k)
    k = mha.split_heads(layer.w_k(x), layer.num_kv_heads)  # (B, g, n, d_k)
    v = mha.split_heads(layer.w_v(x), layer.num_kv_heads)  # (B, g, n, d_k)
    past = 0 if cache is None else cache[0].size(2)
    angles = rotary_angles(x.size(1), q.size(-1), past, layer.base)  # (n, d_k / 2)
    q, k = rotate(q, angles), rotate(k, angles)
    if cache is not None:
        k = torch.cat((cache[0], k), dim=2)  # (B, g, T + n, d_k)
        v = torch.cat((cache[1], v), dim=2)
    mask = attention.causal_mask(past + x.size(1))[past:]  # (n, T + n)
    heads, _ = grouped_attention(q, k, v, mask)
    return layer.w_o(mha.merge_heads(heads)), (k, v)


class QKNormAttention(CausalAttention):
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
        self.q_norm, self.k_norm = RMSNorm(d_k, eps), RMSNorm(d_k, eps)

    def forward(self, x: Tensor) -> Tensor:
        """From `(B, L, d_model)` to `(B, L, d_model)`; no position sees a later one."""
        q = mha.split_heads(self.w_q(x), self.num_heads)  # (B, h, L, d_k)
        k = mha.split_heads(self.w_k(x), self.num_kv_heads)  # (B, g, L, d_k)
        v = mha.split_heads(self.w_v(x), self.num_kv_heads)  # (B, g, L, d_k)
        q, k = self.q_norm(q), self.k_norm(k)
        angles = rotary_angles(x.size(1), q.size(-1), base=self.base)  # (L, d_k / 2)
        q, k = rotate(q, angles), rotate(k, angles)
        heads, _ = grouped_attention(q, k, v, attention.causal_mask(x.size(1)))
        return self.w_o(mha.merge_heads(heads))  # (B, L, d_model)


def window_mask(length: int, window: int | None = None) -> Tensor:
    """The mask of causal attention with a sliding window (Beltagy et al. 2020).

    Args:
        length: number of positions, L.
        window: how many positions a query sees, itself included; None: all so far.

    Returns:
        A boolean mask `(L, L)`, a row for each query.
    """
    positions = torch.arange(length)
    distance = positions[:, None] - positions  # (L, L)
    allowed = distance >= 0
    return allowed if window is None else allowed & (distance < window)


def cache_bytes(
    windows: Sequence[int | None], length: int, num_kv_heads: int, d_k: int,
    bytes_per_entry: int = 2,
) -> int:  # fmt: skip
    """The size of the keys and values that a model keeps for one text.

    Args:
        windows: the window of each layer; None for a layer that sees everything.
        length: of the text, in tokens.
        num_kv_heads: heads of keys and values, g, of each layer.
        d_k: size of a key and of a value.
        bytes_per_entry: 2 for half precision, 4 for float32.
    """
    kept = sum(length if window is None else min(window, length) for window in windows)
    return 2 * kept * num_kv_heads * d_k * bytes_per_entry  # keys and values


def route(logits: Tensor, top_k: int) -> Tensor:
    """The weights of the experts for each token (Jiang et al. 2024, section 2.1).

    Args:
        logits: of the router, shape `(..., E)`.
        top_k: how many experts each token is sent to.

    Returns:
        Weights, shape `(..., E)`: `top_k` of them positive, the others 0.
    """
    values, indices = logits.topk(top_k, dim=-1)  # (..., k)
    return torch.zeros_like(logits).scatter(-1, indices, values.softmax(dim=-1))


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
        self.experts = nn.ModuleList(SwiGLU(d_model, d_ff) for _ in range(num_experts))

    def forward(self, x: Tensor) -> Tensor:
        """From `(..., d_model)` to `(..., d_model)`, each position on its own."""
        weights = route(self.router(x), self.top_k)  # (..., E)
        output = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            chosen = weights[..., i] > 0  # (...)
            output[chosen] += weights[..., i][chosen].unsqueeze(-1) * expert(x[chosen])
        return output  # (..., d_model)


def load_balance(logits: Tensor, top_k: int) -> Tensor:
    """The load-balancing loss of a router (Fedus et al. 2022, equations 4 to 6).

    Args:
        logits: of the router, shape `(..., E)`.
        top_k: how many experts each token is sent to.

    Returns:
        The loss, shape `()`: `top_k` if all experts are used alike.
    """
    rows = logits.flatten(0, -2)  # (N, E)
    shares = (route(rows, top_k) > 0).to(rows.dtype).mean(dim=0)  # (E,)
    probabilities = rows.softmax(dim=-1).mean(dim=0)  # (E,)
    return rows.size(-1) * (shares * probabilities).sum()


def orthogonalise(update: Tensor, steps: int = 5, eps: float = 1e-7) -> Tensor:
    """Bring the singular values of a matrix close to 1 (Jordan et al. 2024, Muon).

    Args:
        update: a matrix `(m, n)`.
        steps: of the Newton-Schulz iteration.
        eps: added to the Frobenius norm.

    Returns:
        A matrix `(m, n)` with the singular vectors of `update`.
    """
    a, b, c = 3.4445, -4.7750, 2.0315
    x = update / (update.norm() + eps)
    for _ in range(steps):
        gram = x @ x.T  # (m, m)
        x = a * x + (b * gram + c * gram @ gram) @ x  # (m, n)
    return x


def repetition_penalty(logits: Tensor, written: Tensor, penalty: float) -> Tensor:
    """Make tokens that already occur less probable, wherever logits have their zero.

    Args:
        logits: of the next token, shape `(B, V)`.
        written: the ids so far, shape `(B, T)`, int64.
        penalty: at least 1; 1 changes nothing.

    Returns:
        New logits, shape `(B, V)`.
    """
    log_p = logits.log_softmax(dim=-1)  # (B, V)
    occurs = torch.zeros_like(logits, dtype=torch.bool).scatter(1, written, True)
    return torch.where(occurs, penalty * log_p, log_p)  # (B, V)


WINDOW = 96  # bytes that the model sees in training


def text_ids(seed: int | str, sentences: int, split: str = "train") -> Tensor:
    """Sentences of the course's grammar, one per line, as bytes, shape `(n,)`."""
    text = "\n".join(corpora.generate(seed, sentences, split)) + "\n"
    return torch.tensor(list(text.encode()))


def new_model() -> nn.Module:
    """An untrained model of the sizes that all submissions share."""
    model = LanguageModel(
        vocab_size=128, d_model=48, num_heads=4, num_kv_heads=2, num_layers=2, d_ff=144
    )
    for parameter in model.parameters():
        if parameter.dim() == 2:  # small matrices; norms stay at 1
            nn.init.normal_(parameter, std=0.1)
    return model


def train_model(steps: int, seed: int = 0) -> nn.Module:
    """A model that was trained on the course's text.

    Args:
        steps: number of batches.
        seed: for the initial weights, the text and the batches.

    Returns:
        The trained model.
    """
    torch.manual_seed(seed)
    model, text = new_model(), text_ids(seed, 60_000)
    optimizer = torch.optim.AdamW(
        model.parameters(), 0.01, (0.9, 0.95), weight_decay=0.1, fused=True
    )
    for step in tqdm(range(steps), disable=not reversal.watched(steps), leave=False):
        factor = reversal.rate_factor(step, max(1, steps // 20), steps)
        optimizer.param_groups[0]["lr"] = 0.01 * factor
        starts = torch.randint(len(text) - WINDOW, (32, 1))
        windows = text[starts + torch.arange(WINDOW + 1)]  # (32, WINDOW + 1)
        logits = model(windows[:, :-1])  # (32, WINDOW, 128)
        loss = F.cross_entropy(logits.flatten(0, 1), windows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model


def trained_model(weights: str = "modern.safetensors") -> nn.Module:
    """The model that is handed in with the notebook."""
    model = new_model()
    load_model(model, weights)
    return model


def assert_cached_decoding(decoder: object) -> None:
    """Pass quietly if a decoder gives the same logits with and without its cache.

    Args:
        decoder: has `vocab_size`, `full`, `start`, `feed`, `cut`, like `Decoder`.

    Raises:
        AssertionError: it does not.
    """
    for rows, chunks in ((3, (5, 1, 1, 4)), (2, (1, 3, 6, 1, 1))):
        length = sum(chunks)
        ids = torch.randint(decoder.vocab_size, (rows, length))
        others = torch.randint(decoder.vocab_size, (rows, length))
        expected = decoder.full(ids)  # (B, L, V)

        def near(
            given: Tensor, begin: int, end: int, wanted: Tensor = expected
        ) -> bool:
            there = wanted[:, begin:end]
            return given.shape == there.shape and (given - there).abs().max() < 5e-5

        decoder.start()
        begin = 0
        for size in chunks:
            end = begin + size
            assert near(decoder.feed(ids[:, begin:end]), begin, end), "a chunk differs"
            decoder.feed(others[:, :2])  # guesses that were wrong
            decoder.cut(end - 1)
            assert near(decoder.feed(ids[:, end - 1 : end]), end - 1, end), (
                "after a cut"
            )
            begin = end


def group_advantages(rewards: Tensor, eps: float = 1e-4) -> Tensor:
    """How much better each answer is than its group (Shao et al. 2024, section 4.1).

    Args:
        rewards: of S answers to each of P prompts, shape `(P, S)`, floating point.
        eps: added to the standard deviation.

    Returns:
        The advantages, shape `(P, S)`.
    """
    centred = rewards - rewards.mean(dim=-1, keepdim=True)  # (P, S)
    spread = centred.square().mean(dim=-1, keepdim=True).sqrt()  # (P, 1)
    return centred / (spread + eps)


def grpo_loss(logits: Tensor, written: Tensor, advantages: Tensor) -> Tensor:
    """The loss of sampled answers, weighted with their advantages (Shao et al. 2024).

    Args:
        logits: for each token of the answers, shape `(N, T, V)`.
        written: the answers, shape `(N, T)`, int64; `reversal.PAD` after the end.
        advantages: one per answer, shape `(N,)`.

    Returns:
        The loss, shape `()`.
    """
    real = written != reversal.PAD  # (N, T)
    log_p = logits.log_softmax(-1).gather(-1, written.unsqueeze(-1)).squeeze(-1)
    means = (log_p * real).sum(dim=1) / real.sum(dim=1)  # (N,)
    return -(advantages * means).mean()


def published_tensor(
    name: str, published: Mapping[str, Tensor], num_heads: int, num_kv_heads: int
) -> Tensor:
    """The tensor of a published chat model for one parameter of `LanguageModel`.

    Args:
        name: of the parameter, such as `blocks.3.norm1.weight`.
        published: tensors by the names of llama.cpp, queries and keys for neighbours.
        num_heads: heads of queries, h.
        num_kv_heads: heads of keys and values, g.

    Returns:
        A tensor of the parameter's shape, queries and keys for halves.
    """
    names = {
        "embedding": "token_embd", "norm": "output_norm",
        "norm1": "attn_norm", "norm2": "ffn_norm",
        "w_q": "attn_q", "w_k": "attn_k", "w_v": "attn_v", "w_o": "attn_output",
        "w_gate": "ffn_gate", "w_up": "ffn_up", "w_down": "ffn_down",
    }  # fmt: skip
    *block, part, _ = name.split(".")  # ["blocks", "3", "attention"], "w_q"
    before = f"blk.{block[1]}." if block else ""
    tensor = published[f"{before}{names[part]}.weight"]
    heads = {"w_q": num_heads, "w_k": num_kv_heads}.get(part)
    return pairs_to_halves(tensor, heads) if heads else tensor
