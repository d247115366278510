"""Built from notebooks/07_since_2017.py by `make build`; do not edit."""

from collections.abc import Callable, Mapping
from jaxtyping import Bool, Float, Int
from safetensors.torch import load_model, save_model
from torch import Tensor, nn
from tqdm.auto import tqdm
from transformer_course.library import corpora, likeness, recipe
from transformer_course.solutions import attention as attention
from transformer_course.solutions import multi_head_attention as mha
from transformer_course.solutions import sequence_reversal as reversal
import math
import torch
import torch.nn.functional as F


def rotary_angles(
    length: int, d_k: int, offset: int = 0, base: float = 10_000.0
) -> Float[Tensor, "length d_k//2"]:
    """The angle of each pair at each position (Su et al. 2021).

    Args:
        length: number of positions.
        d_k: size of a query or key; even.
        offset: the first position.
        base: a larger one gives the slow pairs lower frequencies.

    Returns:
        Angles in radians, float32.
    """
    frequencies = base ** -(torch.arange(0, d_k, 2) / d_k)  # (d_k / 2,)
    positions = torch.arange(offset, offset + length)  # (length,)
    return positions[:, None] * frequencies


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

    def forward(self, x: Float[Tensor, "B L d_model"]) -> Float[Tensor, "B L d_model"]:
        """Apply both sublayers to x."""
        x = x + self.attention(self.norm1(x))  # (B, L, d_model)
        return x + self.feed_forward(self.norm2(x))


def pairs_to_halves(
    weight: Float[Tensor, "num_heads*d_k d_model"], num_heads: int
) -> Float[Tensor, "num_heads*d_k d_model"]:
    """Reorder a projection for rotary pairs that are halves instead of neighbours."""
    by_pair = weight.unflatten(0, (num_heads, -1, 2))  # (h, d_k / 2, 2, d_model)
    return by_pair.transpose(1, 2).flatten(0, 2)


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

    def forward(
        self, x: Float[Tensor, "*batch d_model"]
    ) -> Float[Tensor, "*batch d_model"]:
        """Normalise each vector of `x`."""
        wide = x.to(torch.promote_types(x.dtype, torch.float32))  # (..., d_model)
        mean_square = wide.square().mean(dim=-1, keepdim=True)  # (..., 1)
        normed = wide * torch.rsqrt(mean_square + self.eps)
        return (normed * self.weight).to(x.dtype)  # (..., d_model)


def rotate(
    x: Float[Tensor, "*batch L d_k"], angles: Float[Tensor, "L d_k//2"]
) -> Float[Tensor, "*batch L d_k"]:
    """Rotate each pair of components, in halves, by its angle.

    Args:
        x: queries or keys.
        angles: in radians.

    Returns:
        The rotated vectors, in the dtype of `x`.
    """
    a, b = x.chunk(2, dim=-1)  # (..., L, d_k / 2) each
    cos, sin = angles.cos(), angles.sin()
    rotated = torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1)
    return rotated.to(x.dtype)  # (..., L, d_k)


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

    def forward(
        self, x: Float[Tensor, "*batch d_model"]
    ) -> Float[Tensor, "*batch d_model"]:
        """Transform each position on its own."""
        gate = F.silu(self.w_gate(x))  # (..., width)
        return self.w_down(gate * self.w_up(x))  # (..., d_model)


def grouped_attention(
    q: Float[Tensor, "B h Lq d_k"],
    k: Float[Tensor, "B g Lk d_k"],
    v: Float[Tensor, "B g Lk d_v"],
    mask: Bool[Tensor, "Lq Lk"]
    | Bool[Tensor, "h Lq Lk"]
    | Bool[Tensor, "B h Lq Lk"]
    | None = None,
) -> tuple[Float[Tensor, "B h Lq d_v"], Float[Tensor, "B h Lq Lk"]]:
    """Attention in which neighbouring query heads share keys and values.

    Args:
        q: queries.
        k: keys; g divides h.
        v: values.
        mask: True = may attend; broadcasts to the weights.

    Returns:
        The output and the weights.

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

    def forward(self, x: Float[Tensor, "B L d_model"]) -> Float[Tensor, "B L d_model"]:
        """Attend to each position and those before it."""
        q = mha.split_heads(self.w_q(x), self.num_heads)  # (B, h, L, d_k)
        k = mha.split_heads(self.w_k(x), self.num_kv_heads)  # (B, g, L, d_k)
        v = mha.split_heads(self.w_v(x), self.num_kv_heads)  # (B, g, L, d_k)
        angles = rotary_angles(x.size(1), q.size(-1), base=self.base)  # (L, d_k / 2)
        q, k = rotate(q, angles), rotate(k, angles)
        heads, _ = grouped_attention(q, k, v, attention.causal_mask(x.size(1)))
        return self.w_o(mha.merge_heads(heads))  # (B, L, d_model)


class LanguageModel(nn.Module):
    """A decoder-only model (Touvron et al. 2023) with tied embeddings.

    Args:
        vocab_size: number of tokens.
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

    def forward(self, ids: Int[Tensor, "B L"]) -> Float[Tensor, "B L vocab_size"]:
        """Logits for the token after each position."""
        x = self.embedding(ids)  # (B, L, d_model)
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), self.embedding.weight)  # (B, L, V)


def attend_with_cache(
    layer: nn.Module, x: Float[Tensor, "B n d_model"], cache: object = None
) -> tuple[Float[Tensor, "B n d_model"], object]:
    """Causal attention of new positions, with the past in a cache.

    Args:
        layer: a module like CausalAttention.
        x: the new positions.
        cache: None at the beginning, else what the last call returned.

    Returns:
        The output and the new cache, in this order.
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


WINDOW = 96  # bytes that the model sees in training


def text_ids(seed: int | str, sentences: int, split: str = "train") -> Int[Tensor, "n"]:
    """Sentences of the course's grammar, one per line, as bytes."""
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


def training_bytes(
    vocab_size: int, d_model: int, num_heads: int, num_kv_heads: int, num_layers: int,
    d_ff: int, batch: int, length: int,
) -> tuple[int, int]:  # fmt: skip
    """What one training step of a `LanguageModel` keeps in memory, in float32.

    Args:
        vocab_size, d_model, num_heads, num_kv_heads, num_layers, d_ff: of the model.
        batch: texts.
        length: tokens in each text.

    Returns:
        The bytes of the state, and the bytes of the activations.
    """
    d_k, width = d_model // num_heads, 2 * d_ff // 3
    attention = 2 * d_model**2 + 2 * d_model * num_kv_heads * d_k
    block = attention + 3 * d_model * width + 2 * d_model
    parameters = vocab_size * d_model + num_layers * block + d_model
    token = num_layers * (10 * d_model + 4 * width + num_heads * length)
    token += 3 * d_model + vocab_size
    return 4 * 4 * parameters, 4 * batch * length * token


def fit_power_law(
    model_sizes: Float[Tensor, "n"], losses: Float[Tensor, "n"]
) -> tuple[float, float]:
    """The power law that fits measured losses best, in logarithms.

    Args:
        model_sizes: numbers of parameters.
        losses: of the models of these sizes, all positive.

    Returns:
        The factor a, and the exponent b.
    """
    x, y = model_sizes.log(), losses.log()  # (n,) each
    slope = ((x - x.mean()) * (y - y.mean())).sum() / (x - x.mean()).square().sum()
    return (y.mean() - slope * x.mean()).exp().item(), -slope.item()


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
