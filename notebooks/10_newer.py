# %% [markdown]
# # 10 · Newer and faster
#
# *This optional unit needs unit 7.* Most open models of 2025/26 descend from LLaMA's
# design, but they have moved on: norms for queries and keys, layers that see only a
# window, experts in place of one feed-forward network, an optimizer made for matrices,
# sixteen-bit weights with a precise copy, and caches in pages. You build each of them
# in a few lines, check the layers against independent implementations, and measure what
# each change buys for the same number of steps.

# %% [markdown]
# **You will learn**
# - how attention's scores can grow without limit, and how QK-norm bounds them;
# - what windows, experts and pages cost and save;
# - how Muon takes a step, and why sixteen-bit weights need copies in thirty-two;
# - what breaks on texts longer than those in training, and what each change buys at
#   this size, including where it buys nothing.
#
# *About 3 hours · short path about 1: exercises 10.1, 10.2, 10.8, 10.9*
#
# *Ten exercises and one written question · 100 points; while a model trains, you can go
# on reading.* The short path covers the essentials: for now, just read the other
# sections, and come back to their exercises later.
#
# <details><summary>What earlier units gave, and conventions of this one</summary>
#
# Unit 7 gave `CausalAttention` with rotary positions and grouped heads, and a
# `LanguageModel` built from it, `RMSNorm` and `SwiGLU`. We use them as
# `modern.CausalAttention`, `modern.RMSNorm` and so on, together with the functions
# `modern.rotary_angles`, `modern.rotate` and `modern.grouped_attention`. Unit 2 gave
# `attention.causal_mask(L)`, unit 3 `mha.split_heads` and `mha.merge_heads`, and unit 5
# `reversal.rate_factor`.
#
# | name | meaning |
# |---|---|
# | `B`, `L` | texts in a batch, positions in a text |
# | `d_model`, `d_k` | size of the vector at a position, and of one head's queries and keys |
# | `h`, `g` (in code `num_heads`, `num_kv_heads`) | query heads; KV heads |
# | `E` | number of experts |
# | mask | boolean, **`True` = may attend**, broadcastable to `(B, h, Lq, Lk)` |
# | layers | pre-norm, without biases or dropout; PyTorch's default initialisation is fine |
#
# </details>

# %%
import math
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from autograder import check, demo, earlier, require_solved
from transformer_course.library import likeness, recipe
from transformer_course.newer.library import pictures, trials

# False: what earlier units built comes from the course, and is correct. True: from your
# own notebooks, if they are beside this one. Grading always uses the course's.
USE_MY_OWN = False
attention = earlier("02_attention", mine=USE_MY_OWN)
mha = earlier("03_multi_head_attention", mine=USE_MY_OWN)
reversal = earlier("05_sequence_reversal", mine=USE_MY_OWN)
modern = earlier("07_since_2017", mine=USE_MY_OWN)

torch.set_num_threads(1)  # for tensors this small, more threads only get in the way
torch.set_printoptions(precision=4, sci_mode=False)

# %% folded=true
# @title Small models with new parts, and one seed for them
SEED = 0  # for initial weights and batches; what we say below also holds for others
SMALL = {"vocab_size": 128, "d_model": 32, "num_heads": 4, "num_kv_heads": 2,
         "num_layers": 2, "d_ff": 96}  # fmt: skip


def exchanged(model: nn.Module, **parts: Callable[[], nn.Module]) -> nn.Module:
    """The model with a new part in each of its blocks: `attention=...`, for example."""
    for block in model.blocks:
        for name, make in parts.items():
            setattr(block, name, make())
    return model


def small_model(**parts: Callable[[], nn.Module]) -> nn.Module:
    """A small model with new parts, ready to be trained."""
    model = exchanged(modern.LanguageModel(**SMALL), **parts)
    return recipe.start_small(model, SEED, std=0.1)


# %% [markdown]
# ## 1. A norm for queries and keys
#
# Nothing limits the magnitude of a score: if queries and keys both double during
# training, their dot products become four times as large. A softmax over large scores
# puts nearly all its weight on one key and passes back almost no gradient. When
# Dehghani et al. 2023 (section 2) scaled a vision Transformer to 8 billion parameters,
# training diverged for this reason. The cure goes back to Henry et al. 2020:
# **normalise the queries and keys of each head** before they are compared. Qwen3 (Yang
# et al. 2025, section 2) and Gemma 3 do so with an RMSNorm; OLMo 2 normalises all heads
# of a position together.
#
# **Predict first:** if RMSNorm gives a vector of $d_k$ components the length
# $\sqrt{d_k}$, as it does while its weights are ones, how large can a score $q \cdot k
# / \sqrt{d_k}$ become for $d_k = 16$?
#
# *Your prediction:* ……
#
# ### Exercise 10.1 - Attention with QK-norm
#
# *time ~15 min · difficulty 2/5 · 12 points*
#
# **Task.** Write `QKNormAttention`: unit 7's `CausalAttention`, with each head's
# queries and keys normalised before they are rotated. All heads share two
# `modern.RMSNorm`s of size `d_k`: one for queries, one for keys.
#
# **Example.** `QKNormAttention(16, 4, 2)` has two more parameter tensors than
# `CausalAttention(16, 4, 2)`: `q_norm.weight` and `k_norm.weight`, each of shape
# `(4,)`.
#
# <details><summary>Contract</summary>
#
# - Submodules `w_q`, `w_k`, `w_v`, `w_o`, `q_norm`, `k_norm`.
# - Attributes `num_heads`, `num_kv_heads` and `base`, as in `CausalAttention`.
# - All heads share one norm for queries and one for keys, each of size `d_k`.
# - Values are neither normalised nor rotated.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# A norm of size `d_k` needs `d_k` components in the last dimension. Is that the case
# before the split into heads, or after it?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# q            (B, h, L, d_k)    split, then normalised, then rotated
# k            (B, g, L, d_k)    split, then normalised, then rotated
# v            (B, g, L, d_k)    split
# result       (B, L, d_model)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# in __init__: all of CausalAttention; two norms of size d_k with the given eps
# in forward:  as in CausalAttention, but between the split and the rotation
#     q = q_norm(q); k = k_norm(k)
# ```
#
# </details>


# %% exercise="newer/qk_norm"
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
        ### BEGIN SOLUTION
        super().__init__(d_model, num_heads, num_kv_heads, base)
        d_k = d_model // num_heads
        self.q_norm, self.k_norm = modern.RMSNorm(d_k, eps), modern.RMSNorm(d_k, eps)
        ### END SOLUTION

    def forward(self, x: Float[Tensor, "B L d_model"]) -> Float[Tensor, "B L d_model"]:
        """Attend to each position and those before it."""
        ### BEGIN SOLUTION
        q = mha.split_heads(self.w_q(x), self.num_heads)  # (B, h, L, d_k)
        k = mha.split_heads(self.w_k(x), self.num_kv_heads)  # (B, g, L, d_k)
        v = mha.split_heads(self.w_v(x), self.num_kv_heads)  # (B, g, L, d_k)
        q, k = self.q_norm(q), self.k_norm(k)
        angles = modern.rotary_angles(x.size(1), q.size(-1), base=self.base)
        q, k = modern.rotate(q, angles), modern.rotate(k, angles)
        heads, _ = modern.grouped_attention(q, k, v, attention.causal_mask(x.size(1)))
        return self.w_o(mha.merge_heads(heads))  # (B, L, d_model)
        ### END SOLUTION


# %% check="newer/qk_norm" points=12
# Checks parameters, which position sees which, values and gradients.
check("newer/qk_norm", QKNormAttention)

# %% [markdown]
# The course comes with miniatures of published models: random weights, chosen so that
# attention is far from uniform, and the logits that the `transformers` library computes
# from them. The next cell puts your layer into unit 7's `LanguageModel` and compares it
# with a miniature Qwen3, first as it is and then with mistakes that ought to change the
# logits.


# %%
@demo
def against_a_qwen3():
    def model(layer: type[nn.Module], base: float) -> nn.Module:
        made = modern.LanguageModel(**likeness.SIZES)
        return exchanged(made, attention=lambda: layer(32, 4, 2, base=base))

    likeness.compare("qwen3", model(QKNormAttention, 1e6), {
        "without the two norms": model(modern.CausalAttention, 1e6),
        "with LLaMA's base, 10,000": model(QKNormAttention, 1e4),
    })  # fmt: skip


# %% [markdown]
# Two vectors of length $\sqrt{d_k}$ have a dot product of at most $d_k$, so no score
# exceeds $\sqrt{d_k} = 4$ while the norms' weights are ones. Since those weights are
# trained, larger scores remain possible, but now they can come only from $2 d_k$
# parameters per layer; they are no longer a side effect of training all the others.
#
# To see what that buys, we train two small models from the same matrices on the same
# batches, at a rather high learning rate (0.03). The figure follows the largest score
# on text that neither model was trained on.


# %% folded=true
# @title The largest score in a model
def compared(
    layer: nn.Module, x: Float[Tensor, "B L d_model"]
) -> list[Float[Tensor, "B heads L d_k"]]:
    """Queries of h heads and keys of g heads, as a layer compares them."""
    ready = []
    for kind, heads in (("q", layer.num_heads), ("k", layer.num_kv_heads)):
        part = mha.split_heads(getattr(layer, f"w_{kind}")(x), heads)
        if isinstance(layer, QKNormAttention):
            part = getattr(layer, f"{kind}_norm")(part)
        turns = modern.rotary_angles(x.size(1), part.size(-1), base=layer.base)
        ready.append(modern.rotate(part, turns))
    return ready


@torch.no_grad()
def largest_score(model: nn.Module, ids: Tensor) -> float:
    """The largest absolute score between a query and a key in any block."""
    x, largest = model.embedding(ids), 0.0
    for block in model.blocks:
        q, k = compared(block.attention, block.norm1(x))
        k = k.repeat_interleave(q.size(1) // k.size(1), dim=1)  # (B, h, L, d_k)
        scores = (q @ k.mT).tril() / math.sqrt(q.size(-1))  # (B, h, L, L)
        largest = max(largest, scores.abs().max().item())
        x = block(x)
    return largest


# %%
@demo
def the_largest_score():
    require_solved(QKNormAttention)
    ids = trials.new_windows(32)[:32]

    def curve(name: str, layer: type[nn.Module]) -> list[float]:
        model = small_model(attention=lambda: layer(32, 4, 2, base=1e4))
        run = trials.train(
            model, 200, SEED, optimizers=[recipe.adamw(model.parameters(), 0.03)],
            watch=lambda: largest_score(model, ids),
        )  # fmt: skip
        print(f"{name:<13} largest score {run.watched[-1]:4.1f}; {run}")
        return run.watched

    pictures.largest_scores({
        "without": curve("without", modern.CausalAttention),
        "with QK-norm": curve("with QK-norm", QKNormAttention),
    })  # fmt: skip


# %% [markdown]
# With the norms, the largest score stays about three to six times smaller for each of
# the five seeds that we tried. The loss is another matter: a model of this size does
# not diverge even without the norms, which lower its loss for some seeds and raise it
# for others. QK-norm is a safety measure for large models, and it costs two vectors of
# weights per layer.
#
# ## 2. A window on the past
#
# Unit 7's cache grows with the text in every layer. Where heads attend mostly to nearby
# positions, a **sliding window** can be enough, even in most layers: each position sees
# itself and the $w - 1$ positions before it (Beltagy et al. 2020; Jiang et al. 2023,
# section 2, Mistral 7B with $w$ = 4,096). A layer with a window keeps the keys and
# values of the last $w$ positions and forgets older ones. Information can still travel
# further, by up to $w - 1$ positions per layer. Gemma 3 (Gemma Team 2025, section 2)
# places five such *local* layers before each *global* one, with $w$ = 1,024.
#
# ### Exercise 10.2 - The mask of a window
#
# *time ~10 min · difficulty 1/5 · 7 points*
#
# **Task.** Return the causal mask in which each query sees only the last `window`
# positions, its own included. Without a window, return the plain causal mask.
#
# **Example.** `window_mask(4, 2)` is
#
# ```text
# True   False  False  False
# True   True   False  False
# False  True   True   False
# False  False  True   True
# ```
#
# <details><summary>Contract</summary>
#
# - The result is boolean; `True` means that the query may attend to the key.
# - `window` is at least 1, and may be larger than `length`.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# If query `i` sees key `j`, which values can `i - j` have?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# distance[i, j] = i - j     (L, L), negative for keys in the future
# mask                       (L, L), bool
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# allowed where the distance is at least 0
# with a window: and where it is less than window
# ```
#
# </details>


# %% exercise="newer/window_mask"
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
    ### BEGIN SOLUTION
    positions = torch.arange(length)
    distance = positions[:, None] - positions  # (L, L)
    allowed = distance >= 0
    return allowed if window is None else allowed & (distance < window)
    ### END SOLUTION


# %% check="newer/window_mask" points=7
# Checks windows of several widths, wider ones than the text, and none.
check("newer/window_mask", window_mask)

# %% [markdown]
# To see how much memory that saves, remember that each layer's cache holds a key and a
# value for every position that it keeps; the next cell adds up their bytes over all
# layers. `windows` has an entry for each layer: its window, or `None` for a global
# layer, which keeps the whole text.


# %%
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
    entries = sum(length if w is None else min(w, length) for w in windows)
    return 2 * entries * num_kv_heads * d_k * bytes_per_entry  # keys and values


# %% [markdown]
# **Predict first:** Gemma 3 27B has 62 layers, of which every sixth is global, and 16
# KV heads with 128 components each. How large is its cache, compared with that of 62
# global layers, for texts of 1,024, 8,192 and 131,072 tokens?
#
# *Your prediction:* ……


# %%
@demo
def five_to_one():
    mixed = [None if layer % 6 == 5 else 1024 for layer in range(62)]
    for length in (1024, 8192, 131_072):
        sizes = [cache_bytes(w, length, 16, 128) for w in ([None] * 62, mixed)]
        print(
            f"{length:>7,} tokens: all global {sizes[0] / 2**30:5.2f} GiB, "
            f"5 to 1 {sizes[1] / 2**30:5.2f} GiB ({sizes[1] / sizes[0]:.0%})"
        )


# %% [markdown]
# For the longest texts, the cache shrinks to about a sixth, because the local layers
# hardly count, while for short texts they save nothing. Here is the layer, which is
# `CausalAttention` with a different mask (`compared`, from section 1, returns its
# rotated queries and keys):


# %%
class WindowAttention(modern.CausalAttention):
    """Causal attention in which each position sees at most `window` positions."""

    window: int | None = None  # None: all so far

    def forward(self, x: Tensor) -> Tensor:
        q, k = compared(self, x)  # rotated
        values = mha.split_heads(self.w_v(x), self.num_kv_heads)  # (B, g, L, d_k)
        mask = window_mask(x.size(1), self.window)
        seen, _ = modern.grouped_attention(q, k, values, mask)
        return self.w_o(mha.merge_heads(seen))


def with_window(window: int | None) -> Callable[[], nn.Module]:
    """A function that makes a small model's attention layer, with a window."""

    def make() -> nn.Module:
        layer = WindowAttention(32, 4, 2)
        layer.window = window
        return layer

    return make


@demo
def against_a_mistral():
    require_solved(window_mask)

    def model(window: int | None) -> nn.Module:
        made = modern.LanguageModel(**likeness.SIZES)
        return exchanged(made, attention=with_window(window))

    likeness.compare("mistral", model(4), {
        "a window that is larger by one": model(5), "no window": model(None),
    })  # fmt: skip


# %% [markdown]
# Gemma 3 has both a window and norms for queries and keys, so its attention layer can
# inherit from the two that you have seen. Its block adds a norm *after* each branch,
# its gate uses GELU in place of SiLU, its embedding is multiplied by
# $\sqrt{d_\text{model}}$, and the base is 10,000 in its local layers and 1,000,000 in
# its global ones. The miniature has one layer of each kind.


# %% folded=true
# @title Gemma 3 from these parts
class GemmaAttention(WindowAttention, QKNormAttention):
    """Attention with a window whose queries and keys are normalised."""


class GeGLU(modern.SwiGLU):
    """A gate with GELU, as in Gemma 3."""

    def forward(self, x: Tensor) -> Tensor:
        gate = F.gelu(self.w_gate(x), approximate="tanh")
        return self.w_down(gate * self.w_up(x))


class GemmaBlock(modern.Block):
    """A block of Gemma 3, with a norm before and after each branch."""

    def __init__(self, window: int | None, base: float):
        super().__init__(32, 4, 2, 48)
        self.attention, self.feed_forward = (
            GemmaAttention(32, 4, 2, base),
            GeGLU(32, 48),
        )
        self.attention.window = window
        self.after_attention = modern.RMSNorm(32)
        self.after_feed_forward = modern.RMSNorm(32)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.after_attention(self.attention(self.norm1(x)))
        return x + self.after_feed_forward(self.feed_forward(self.norm2(x)))


class Gemma(modern.LanguageModel):
    """One local and one global layer; the embedding is scaled."""

    def __init__(
        self, window: int | None = 4, base: float = 1e4, scale: float = 32**0.5
    ):
        super().__init__(**likeness.SIZES)
        self.blocks = nn.ModuleList([GemmaBlock(window, base), GemmaBlock(None, 1e6)])
        self.scale = scale

    def forward(self, ids: Tensor) -> Tensor:
        x = self.scale * self.embedding(ids)
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), self.embedding.weight)


# %%
@demo
def against_a_gemma():
    require_solved(QKNormAttention, window_mask)
    likeness.compare("gemma3", Gemma(), {
        "two global layers": Gemma(window=None), "one base for both": Gemma(base=1e6),
        "the embedding as it is": Gemma(scale=1.0),
    })  # fmt: skip


# %% [markdown]
# A window may also help with texts that are longer than those in training. We train two
# models on texts of 32 bytes, one with global layers and one in which each position
# sees only 8; both then read 64 or 128 bytes at a time.


# %%
@demo
def longer_texts():
    lengths, losses = (32, 64, 128), {}
    for name, window in (("global", None), ("window of 8", 8)):
        model = small_model(attention=with_window(window))
        run = trials.train(model, 300, SEED)
        losses[name] = [trials.loss_on_new_text(model, n) for n in lengths]
        print(f"{name:<12} {run}")
    pictures.windows(lengths, losses)


# %% [markdown]
# Without a window, the loss rises with the length, because rotary positions alone do
# not carry over to distances that never occurred in training. With a window, no such
# distance arises, and the loss even *falls*, because a smaller share of a longer text
# has little or no past. At the training length, the two models are close to each other.
# All this holds for a small model and short sentences; a model that has to look up a
# name 10,000 tokens back needs its global layers. Nor does a mask save any computation:
# only a cache that forgets saves time and memory.
#
# ## 3. Experts
#
# A feed-forward network that is twice as wide can store more, but it costs twice as
# much for every token. A **mixture of experts** has several networks and a *router*,
# which picks a few of them for each token (Shazeer et al. 2017). The number of
# parameters grows with the number of experts, but the computation per token grows only
# with the number of experts that are *picked*. Mixtral (Jiang et al. 2024, section 2.1)
# picks 2 of 8; DeepSeek-V3 picks 8 of 256 and adds one that is always on.
#
# The router is a linear layer that computes one logit per expert. The $k$ largest
# logits of a token win, and a softmax over *these* gives the weights of the experts'
# outputs:
#
# $$y = \sum_{i \in \text{top-}k} w_i \, E_i(x), \qquad
# w = \operatorname{softmax}(\text{the } k \text{ largest logits})$$
#
# The function `route` computes these weights, with 0 for all experts that are not
# chosen: for the logits `[1, 3, 0, 3]` and two experts, it returns `[0, 0.5, 0, 0.5]`.


# %%
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


# %% [markdown]
# ### Exercise 10.3 - A mixture of experts
#
# *time ~20 min · difficulty 3/5 · 14 points*
#
# **Task.** Write a module with a router and `SwiGLU` networks as experts. For each
# vector, return the weighted sum of its experts' outputs.
#
# **Example.** `MixtureOfExperts(8, 12, num_experts=4)` maps `(2, 5, 8)` to `(2, 5, 8)`.
# For these 10 vectors, the experts compute 20 outputs in all, not 40.
#
# <details><summary>Contract</summary>
#
# - Submodules `router` (`nn.Linear` without bias) and `experts` (an `nn.ModuleList` of
#   `modern.SwiGLU(d_model, d_ff)`).
# - An expert processes only the vectors that are routed to it; there may be none.
# - One or more leading dimensions.
# - Everything is computed in the dtype of `x`.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# For a boolean mask `chosen` of shape `(B, L)`, which shape does `x[chosen]` have?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# x                     (..., d_model)
# weights               (..., E)
# chosen by expert i    (...)             bool
# x[chosen]             (n, d_model)      n vectors
# expert(x[chosen])     (n, d_model)
# its weights           (n, 1)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# weights = route(router(x), top_k)
# output = zeros like x
# for each expert i:
#     chosen = where weights[..., i] is positive
#     output[chosen] += weight of the chosen ones * expert(x[chosen])
# ```
#
# </details>


# %% exercise="newer/mixture"
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
        ### BEGIN SOLUTION
        self.top_k = top_k
        self.router = nn.Linear(d_model, num_experts, bias=False)
        experts = (modern.SwiGLU(d_model, d_ff) for _ in range(num_experts))
        self.experts = nn.ModuleList(experts)
        ### END SOLUTION

    def forward(
        self, x: Float[Tensor, "*batch d_model"]
    ) -> Float[Tensor, "*batch d_model"]:
        """Transform each position on its own."""
        ### BEGIN SOLUTION
        weights = route(self.router(x), self.top_k)  # (..., E)
        output = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            chosen = weights[..., i] > 0  # (...)
            output[chosen] += weights[..., i][chosen].unsqueeze(-1) * expert(x[chosen])
        return output  # (..., d_model)
        ### END SOLUTION


# %% check="newer/mixture" points=14
# Checks parameters, values, gradients, and how many vectors the experts compute.
check("newer/mixture", MixtureOfExperts)


# %%
@demo
def against_a_mixtral():
    def model(top_k: int) -> nn.Module:
        made = modern.LanguageModel(**likeness.SIZES, base=1e6)
        return exchanged(made, feed_forward=lambda: MixtureOfExperts(32, 48, 4, top_k))

    likeness.compare("mixtral", model(2), {
        "one expert per token": model(1), "three experts per token": model(3),
    })  # fmt: skip


# %% [markdown]
# An expert that gets few tokens learns little, so it may get even fewer. The usual
# remedy is a loss that favours using all experts equally (Fedus et al. 2022, equations
# 4 to 6). Let $f_i$ be the share of tokens that are sent to expert $i$, and $P_i$ the
# mean probability that a softmax over *all* logits assigns to it. Then
#
# $$\mathcal{L}_\text{balance} = E \sum_{i=1}^{E} f_i \, P_i$$
#
# The shares $f_i$ come from counting, so no gradient flows through them; it flows
# through the $P_i$ instead, and pushes down hardest on the experts that are used most.
#
# ### Exercise 10.4 - The load-balancing loss
#
# *time ~10 min · difficulty 2/5 · 9 points*
#
# **Task.** Return $\mathcal{L}_\text{balance}$ over all tokens of a batch, counting
# each token once for each of its `top_k` experts.
#
# **Example.** If the experts are used evenly, the loss is `top_k`, whatever $E$ is. If
# all tokens choose the same `top_k` experts with certainty, it is larger.
#
# <details><summary>Contract</summary>
#
# - The loss is a tensor of shape `()`; its gradient reaches the logits.
# - The mean is taken over all leading dimensions.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Each token is sent to `top_k` experts. What is the sum of all $f_i$?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# logits           (..., E)   ->   (N, E)       one row per token
# used             (N, E)          1 where an expert is chosen, else 0
# f                (E,)
# P                (E,)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# f = mean over the tokens of (route(logits, top_k) is positive)
# P = mean over the tokens of the softmax over all experts
# E * sum of f * P
# ```
#
# </details>


# %% exercise="newer/load_balance"
def load_balance(logits: Float[Tensor, "*batch E"], top_k: int) -> Float[Tensor, ""]:
    """The load-balancing loss of a router (Fedus et al. 2022, equations 4 to 6).

    Args:
        logits: of the router.
        top_k: how many experts each token is sent to.

    Returns:
        The loss: `top_k` if all experts are used alike.
    """
    ### BEGIN SOLUTION
    rows = logits.flatten(0, -2)  # (N, E)
    shares = (route(rows, top_k) > 0).to(rows.dtype).mean(dim=0)  # (E,)
    probabilities = rows.softmax(dim=-1).mean(dim=0)  # (E,)
    return rows.size(-1) * (shares * probabilities).sum()
    ### END SOLUTION


# %% check="newer/load_balance" points=9
# Checks even and uneven loads, one and several experts per token, and the gradient.
check("newer/load_balance", load_balance)

# %% [markdown]
# We now compare three models with the same amount of computation per token. The
# feed-forward network of the first one has 64 hidden components; the others have four
# experts of 32, of which each token uses two. The third one adds 0.01 times the
# balancing loss to its own.
#


# %% folded=true
# @title How much each expert is used while a mixture is trained
def routers_of(model: nn.Module) -> list[Float[Tensor, "B L E"]]:
    """A list that holds each router's logits of the model's last call."""
    kept = []
    for number, block in enumerate(model.blocks):
        kept.append(torch.zeros(1, 1, 4))
        block.feed_forward.router.register_forward_hook(
            lambda _, given, logits, number=number: kept.__setitem__(number, logits)
        )
    return kept


def load_of(logits: Float[Tensor, "*batch E"]) -> Float[Tensor, "E"]:
    """Each expert's share of all slots."""
    return (route(logits.flatten(0, -2), 2) > 0).float().mean(dim=0) / 2


def mixture_trained(name: str, factor: float) -> list[float]:
    """The share of the least used expert during training; prints the other results."""
    model = small_model(feed_forward=lambda: MixtureOfExperts(32, 48, 4))
    logits = routers_of(model)
    run = trials.train(
        model, STEPS_OF_EXPERTS, SEED,
        extra=lambda: factor * sum(load_balance(each, 2) for each in logits),
        watch=lambda: min(load_of(each).min().item() for each in logits),
    )  # fmt: skip
    print(f"{name:<15} {run}")
    for number, load in enumerate(map(load_of, logits)):
        shares = ", ".join(f"{share:.0%}" for share in load)
        print(f"    block {number}: the four experts' shares are {shares}")
    return run.watched


# %%
STEPS_OF_EXPERTS = 300


@demo
def experts_compared():
    require_solved(MixtureOfExperts, load_balance)
    dense = small_model()
    print(f"{'dense':<15} {trials.train(dense, STEPS_OF_EXPERTS, SEED)}")
    pictures.loads({
        "without": mixture_trained("without", 0.0),
        "with balancing": mixture_trained("with balancing", 0.01),
    })  # fmt: skip


# %% [markdown]
# Each share is a fraction of all choices, two for each token, so 50 % means every
# token. Without the balancing loss, the load is uneven: at some point during training,
# one of a block's experts receives next to nothing. Which one it is, and whether it
# recovers, depends on the seed. With the balancing loss, each expert soon gets about a
# quarter.
#
# After 300 steps, experts buy hardly anything: the three losses are close, that of the
# dense network is usually the lowest, and it takes less time. With an even load, each
# expert sees half the tokens and has half as many chances to learn. After 1,000 steps,
# both mixtures were ahead for each seed that we tried, by 0.01 to 0.1 nats; set
# `STEPS_OF_EXPERTS = 1000` to see this. A dense network with as many parameters as all
# experts together is better still, and on one CPU it is also faster. Experts pay off
# where the limit is computation, not memory.
#
# ## 4. An optimizer for matrices
#
# Adam treats a matrix as a list of numbers, although a layer multiplies by it, so that
# the singular values of an update decide how far each direction moves. Jordan et al.
# 2024 observe that updates are often nearly low-rank: a few directions get almost the
# whole step, and the others hardly move. Their **Muon** takes the momentum of the
# gradient, $M = U S V^\top$, and replaces it by $U V^\top$: the same directions, each
# with a step of the same length. Kimi K2 was trained with a variant of it (Kimi Team
# 2025, section 2.1).
#
# A singular value decomposition in each step would be slow, but a polynomial does
# nearly the same job. For $X = U S V^\top$,
#
# $$a X + b\,(X X^\top) X + c\,(X X^\top)^2 X = U\,(aS + bS^3 + cS^5)\,V^\top,$$
#
# so it leaves the directions alone and maps each singular value $s$ to $as+bs^3+cs^5$.
# Repeated five times with $a = 3.4445$, $b = -4.7750$, $c = 2.0315$, it brings all but
# the smallest ones close to 1. This is a **Newton-Schulz iteration** with coefficients
# that were tuned for speed; it does not converge to 1, nor does it need to.
#
# ### Exercise 10.5 - Orthogonalise
#
# *time ~10 min · difficulty 2/5 · 10 points*
#
# **Task.** Divide `update` by its Frobenius norm plus `eps`, then apply the polynomial
# `steps` times.
#
# **Example.** For the matrix `[[2.0, 0.0]]`, the singular value after the division is
# 1, so that `steps=1` gives `[[0.7010, 0.0]]`.
#
# <details><summary>Contract</summary>
#
# - The result has the shape and the dtype of `update`, which is not modified.
# - Matrices may be wide or tall; a matrix of zeros stays zero.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# $X X^\top$ appears twice in the polynomial. How many times do you have to compute it?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# X              (m, n)
# X @ X.T        (m, m)      small if m < n; of a tall matrix, use the transpose
# result         (m, n)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# X = update / (its Frobenius norm + eps)
# steps times:
#     A = X @ X.T
#     X = a * X + (b * A + c * A @ A) @ X
# ```
#
# </details>


# %% exercise="newer/orthogonalise"
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
    ### BEGIN SOLUTION
    a, b, c = 3.4445, -4.7750, 2.0315
    x = update / (update.norm() + eps)
    for _ in range(steps):
        gram = x @ x.T  # (m, m)
        x = a * x + (b * gram + c * gram @ gram) @ x  # (m, n)
    return x
    ### END SOLUTION


# %% check="newer/orthogonalise" points=10
# Checks wide and tall matrices, numbers of steps, small and large entries, and zeros.
check("newer/orthogonalise", orthogonalise)


# %%
@demo
def singular_values():
    before = torch.tensor([1.0, 0.3, 0.1, 0.03, 0.01, 0.001])
    before = before / before.norm()  # as `orthogonalise` does first
    for steps in range(6):
        after = orthogonalise(torch.diag(before), steps).diagonal()
        print(f"{steps} steps:", "  ".join(f"{value:6.3f}" for value in after))


# %% [markdown]
# Each column follows one singular value through the steps. The fifth begins near 0.01
# and reaches 1.07 after four steps; the first five columns end between 0.68 and 1.10,
# and only the last one, which began a thousand times smaller than the first, is still
# on its way. None of them settles, but it hardly matters whether a direction gets 0.7
# or 1.1 of a step.
#
# The optimizer around this function is short: a running mean of the gradients, as in
# Adam, is mixed with the newest gradient (Nesterov momentum), and the result is
# orthogonalised. Only matrices *inside* the blocks are treated like this; embeddings
# and norms stay with AdamW, because a norm's weight is not a matrix, and each row of an
# embedding belongs to a single token.


# %%
class Muon(torch.optim.Optimizer):
    """Momentum, orthogonalised (Jordan et al. 2024); for matrices of hidden layers."""

    def __init__(
        self, parameters: Iterable[nn.Parameter], lr: float, momentum: float = 0.95
    ):
        super().__init__(parameters, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self) -> None:
        for group in self.param_groups:
            for p in group["params"]:
                mean = self.state[p].setdefault("mean", torch.zeros_like(p))
                mean.lerp_(p.grad, 1 - group["momentum"])
                update = orthogonalise(p.grad.lerp(mean, group["momentum"]))
                longer = max(1.0, p.size(0) / p.size(1)) ** 0.5  # for tall matrices
                p.sub_(group["lr"] * longer * update)


def muon_and_adamw(model: nn.Module, rate: float) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the blocks, AdamW at 0.01 for all other parameters."""
    matrices = [p for p in model.blocks.parameters() if p.dim() == 2]
    inside = set(matrices)
    others = [p for p in model.parameters() if p not in inside]
    return [Muon(matrices, rate), recipe.adamw(others, 0.01)]


# %%
@demo
def muon_beside_adamw():
    require_solved(orthogonalise)
    plain, other = small_model(), small_model()
    adamw = [recipe.adamw(plain.parameters(), 0.02)]
    runs = {
        "AdamW": trials.train(plain, 200, SEED, optimizers=adamw),
        "Muon": trials.train(other, 200, SEED, optimizers=muon_and_adamw(other, 0.05)),
    }
    for name, run in runs.items():
        print(f"{name:<6} {run}")
    pictures.optimizers({name: run.losses for name, run in runs.items()})


# %% [markdown]
# Both learning rates are the best of a small sweep. Muon ends with a lower loss for
# each of the five seeds that we tried, and the gap is larger than the differences
# between seeds. But after 1,000 steps with the same settings nothing of this lead is
# left: the two losses are within 0.02 nats of each other for all five, and each step of
# Muon takes a little more time because of the extra matrix products. How much of the
# lead remains in large models is disputed: Liu et al. 2025 (Moonlight) report that
# AdamW needs about twice the computation for the same loss, while Wen et al. 2025, who
# tuned both with equal care, find 1.4 times for small models and 1.1 times for one with
# 1.2 billion parameters.

# %% [markdown]
# ## 5. Sixteen bits and a memory
#
# Large models compute in **bfloat16**, which has the exponent range of float32 but
# keeps only eight significant bits: near 1, its numbers are $2^{-7}$ apart. That is
# enough for a forward pass, in which errors average out, but not for a sum of many
# small changes, and training is such a sum.
#
# **Predict first:** if you start from 1 and add $2^{-9}$ to it 512 times, rounding to
# bfloat16 after each addition, which number do you get in place of the exact sum, 2?
#
# *Your prediction:* ……


# %%
@demo
def lost_updates():
    narrow, wide = torch.tensor(1.0, dtype=torch.bfloat16), torch.tensor(1.0)
    for _ in range(512):
        narrow += 2.0**-9
        wide += 2.0**-9
    print(f"bfloat16: {narrow.item()}, float32: {wide.item()}")
    print(f"the number after 1: {1 + torch.finfo(torch.bfloat16).eps}")


# %% [markdown]
# You get 1: the sum $1 + 2^{-9}$ is nearer to 1 than to the next number, so each of the
# 512 additions is rounded away, and no number of further ones would help. An update to
# a weight suffers the same fate as soon as it is smaller than about one part in 500 of
# that weight, and late in training many updates are.
#
# The usual remedy (Micikevicius et al. 2018, section 3.1) is a second copy of each
# weight in float32, the **master copy**. Gradients come from the bfloat16 weights, the
# optimizer updates the copies, and the model receives them rounded. Updates that are
# too small to show immediately accumulate in the copy until they do.
#
# ### Exercise 10.6 - A step with master copies
#
# *time ~15 min · difficulty 2/5 · 9 points*
#
# The optimizer sees only the copies, so any optimizer will do.
#
# **Task.** Pass each parameter's gradient to its master copy, let the optimizer take
# one step, and copy the results back into the parameters.
#
# **Example.** If each step adds $2^{-9}$, a parameter of 1 is still 1 after two calls,
# while its copy has grown; after the third call the parameter is 1.0078125.
#
# <details><summary>Contract</summary>
#
# - After each call, a parameter is its master copy, rounded to bfloat16.
# - Master copies are float32, and are never rounded.
# - A parameter without a gradient leaves its copy without one.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# A tensor's `grad` must have the tensor's own dtype. Which conversion does a master
# copy need?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# parameter, parameter.grad    bfloat16, of equal shape
# master, master.grad          float32, of the same shape
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# for each pair: the master's gradient is the parameter's, in float32, or None
# one step of the optimizer
# for each pair: copy the master into the parameter, in place and without gradients
# ```
#
# </details>


# %% exercise="newer/master_step"
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
    ### BEGIN SOLUTION
    for parameter, master in zip(parameters, masters, strict=True):
        master.grad = None if parameter.grad is None else parameter.grad.float()
    optimizer.step()
    with torch.no_grad():
        for parameter, master in zip(parameters, masters, strict=True):
            parameter.copy_(master)
    ### END SOLUTION


# %% check="newer/master_step" points=9
# Checks small and large steps, momentum, and a parameter without a gradient.
check("newer/master_step", master_step)

# %% [markdown]
# To see what lost updates cost, we train three small models from the same weights on
# the same batches, at a tenth of the usual learning rate, because it is the small
# updates that are lost. The first keeps its weights in float32, the other two in
# bfloat16, and only the last one has master copies. (All compute in float32, since most
# CPUs are slow in bfloat16.)


# %% folded=true
# @title Weights that are stored in bfloat16
class StoredInBfloat16:
    """AdamW for a model with weights in bfloat16, with or without master copies."""

    def __init__(self, model: nn.Module, rate: float, with_masters: bool):
        self.weights = list(model.parameters())
        self.stored = [nn.Parameter(p.detach().bfloat16()) for p in self.weights]
        self.masters = [nn.Parameter(p.detach().float()) for p in self.stored]
        self.with_masters = with_masters
        trained = self.masters if with_masters else self.stored
        self.adamw = recipe.adamw(trained, rate)
        self.param_groups = self.adamw.param_groups

    @torch.no_grad()
    def step(self) -> None:
        """Update what is stored, and show it to the model."""
        for weight, stored in zip(self.weights, self.stored, strict=True):
            stored.grad = weight.grad.bfloat16()
        if self.with_masters:
            master_step(self.stored, self.masters, self.adamw)
        else:
            self.adamw.step()
        for weight, stored in zip(self.weights, self.stored, strict=True):
            weight.copy_(stored)


# %%
@demo
def what_lost_updates_cost():
    require_solved(master_step)
    for name in ("float32", "bfloat16 alone", "with master copies"):
        model = small_model()
        if name == "float32":
            optimizer = recipe.adamw(model.parameters(), 0.001)
        else:
            optimizer = StoredInBfloat16(model, 0.001, name == "with master copies")
        print(f"{name:<18} {trials.train(model, 200, SEED, optimizers=[optimizer])}")


# %% [markdown]
# With master copies, the loss agrees with that of float32 to within 0.01 for each of
# the five seeds that we tried, although every weight that the model computes with has
# only eight significant bits. Without them, the same 200 steps end about 0.1 nats
# higher, since part of each update was rounded away. The gap opens where steps become
# small, that is, towards the end of a long run.

# %% [markdown]
# ## 6. What does each part buy?
#
# Papers compare models with billions of parameters, and one may ask how much of the
# difference is left at twenty thousand. We replace **one** part of a small model at a
# time by its ancestor from 2017. All models have the same number of parameters (within
# one percent: LayerNorm has a few more), see the same batches, and are trained for the
# same number of **steps**, now on 64 bytes at a time instead of 32; the CPU seconds are
# printed next to the loss.
#
# **Predict first:** of these four replacements, RMSNorm → LayerNorm, SwiGLU → ReLU,
# rotary → added sines, and grouped → multi-head, which make the loss worse, and in
# which order?
#
# *Your prediction:* ……


# %% folded=true
# @title Models with one part of 2017, and how they are trained
class NotRotated(modern.CausalAttention):
    """The attention layer without rotations."""

    def forward(self, x: Tensor) -> Tensor:
        sizes = (self.num_heads, self.num_kv_heads, self.num_kv_heads)
        every = zip((self.w_q, self.w_k, self.w_v), sizes, strict=True)
        q, k, v = (mha.split_heads(layer(x), size) for layer, size in every)
        output, _ = modern.grouped_attention(q, k, v, attention.causal_mask(x.size(1)))
        return self.w_o(mha.merge_heads(output))


class WithTable(nn.Embedding):
    """An embedding that adds row i of a table to the token at position i."""

    def __init__(self, count: int, table: Tensor):
        super().__init__(count, table.size(1))
        self.table = table

    def forward(self, ids: Tensor) -> Tensor:
        return super().forward(ids) + self.table[: ids.size(-1)]


def table_of(positions: str, length: int, d_model: int) -> Tensor:
    """Sines as in unit 1, or a learned table of the same magnitude."""
    angles = modern.rotary_angles(length, d_model)
    sines = 0.1 * torch.cat((angles.sin(), angles.cos()), dim=-1)  # (length, d_model)
    if positions == "sinusoidal":
        return sines
    return nn.Parameter(sines.std() * torch.randn(length, d_model))


def with_parts(
    norm: str = "RMSNorm", feed_forward: str = "SwiGLU", positions: str = "rotary",
    groups: int = 2, longest: int = 256,
) -> nn.Module:  # fmt: skip
    """A small model with some parts of 2017."""
    d_model, heads, d_ff = 32, 4, 96
    if groups == heads:  # more parameters for keys and values, fewer elsewhere
        d_ff -= d_model // 2
    model = modern.LanguageModel(128, d_model, heads, groups, 2, d_ff)
    for block in model.blocks:
        if norm == "LayerNorm":
            block.norm1, block.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        if feed_forward == "ReLU":
            block.feed_forward = nn.Sequential(
                nn.Linear(d_model, d_ff, bias=False), nn.ReLU(),
                nn.Linear(d_ff, d_model, bias=False),
            )  # fmt: skip
        if positions != "rotary":
            block.attention = NotRotated(d_model, heads, groups)
    if norm == "LayerNorm":
        model.norm = nn.LayerNorm(d_model)
    for parameter in model.parameters():
        if parameter.dim() == 2:
            nn.init.normal_(parameter, std=0.1)
    if positions in ("sinusoidal", "learned"):
        weight = model.embedding.weight
        model.embedding = WithTable(128, table_of(positions, longest, d_model))
        model.embedding.weight = weight
    return model


def mean_loss(model: nn.Module, windows: Int[Tensor, "B L"]) -> Float[Tensor, ""]:
    """The mean loss of all bytes but the first of each window."""
    return F.cross_entropy(model(windows[:, :-1]).transpose(1, 2), windows[:, 1:])


def train_for(
    model: nn.Module, steps: int, seed: int, length: int = 64
) -> tuple[list[float], float]:
    """Train for some steps; return each step's loss and the total CPU seconds."""
    text = modern.text_ids(seed, 20_000)
    rng = torch.Generator().manual_seed(seed)
    adamw = torch.optim.AdamW(
        model.parameters(), lr=0.01, betas=(0.9, 0.95), weight_decay=0.1, fused=True
    )
    losses, warmup, started = [], max(1, steps // 20), time.process_time()
    for step in range(steps):
        factor = reversal.rate_factor(step, warmup, steps)
        adamw.param_groups[0]["lr"] = 0.01 * factor
        starts = torch.randint(len(text) - length, (32, 1), generator=rng)
        loss = mean_loss(model, text[starts + torch.arange(length + 1)])
        adamw.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        adamw.step()
        losses.append(loss.item())
    return losses, time.process_time() - started


def loss_on_fresh_text(model: nn.Module, length: int = 64) -> float:
    """The mean loss per byte, in windows of one length."""
    text = modern.text_ids("fresh", 800, "test")
    windows = text[: len(text) // (length + 1) * (length + 1)].view(-1, length + 1)
    with torch.no_grad():
        return mean_loss(model, windows).item()


# %%
SEEDS = 1  # 3 shows how much a seed matters: three times as long

EXCHANGES = {
    "none": {}, "LayerNorm": {"norm": "LayerNorm"},
    "ReLU": {"feed_forward": "ReLU"}, "sines": {"positions": "sinusoidal"},
    "multi-head": {"groups": 4},
}  # fmt: skip


# %%
@demo
def one_part_at_a_time():
    curves = {}
    for name, parts in EXCHANGES.items():
        found, spent = [], 0.0
        for seed in range(SEEDS):
            torch.manual_seed(seed)
            model = with_parts(**parts)
            losses, seconds = train_for(model, steps=300, seed=seed)
            found.append(f"{loss_on_fresh_text(model):.3f}")
            spent += seconds / SEEDS
        curves[name] = losses
        print(f"{name:<11} loss {', '.join(found)}   ({spent:.1f} CPU seconds)")
    pictures.exchanges(curves)


# %% [markdown]
# What we saw with five seeds:
#
# - **Rotary positions make the difference.** Without them the loss is higher by 0.3 to
#   0.5 nats per byte. Section 7 asks whether this is a lasting gain or only faster
#   learning.
# - **The other three replacements hardly matter.** Each changes the loss by 0.1 at
#   most, not much more than a different seed does, and LayerNorm and ReLU lower it for
#   every seed.
# - **Grouped heads** save memory during generation, which training does not measure.
#   **RMSNorm** saves a pass over the vectors, which counts where memory traffic is the
#   limit: in large models with fused kernels, not here. Nor do these losses refute what
#   Shazeer 2020 (unit 7) measured for **SwiGLU** at 220 million parameters, after half
#   a million steps.
#
# So only one of these four changes pays off at this size and after so few steps. A
# change that is right for a large model may do nothing for yours, which is why
# you measure.
#
# ## 7. Longer than anything seen
#
# In section 2, a model with rotary positions got worse on texts longer than those in
# training. To see whether other kinds of positions fare better, we train four models on
# 64 bytes at a time (without any positions, with learned ones, with added sines, and
# with rotations) and let them read texts that are twice and four times as long.
#

# %% folded=true
# @title Four kinds of positions, at three lengths
LENGTHS = (64, 128, 256)  # bytes in a window; training has windows of 64


def losses_by_length(steps: int) -> dict[str, list[float]]:
    """Mean loss on fresh text, for each kind of positions and each length."""
    found = {}
    for name in ("none", "learned", "sinusoidal", "rotary"):
        rows = []
        for seed in range(SEEDS):
            torch.manual_seed(seed)
            model = with_parts(positions=name)
            train_for(model, steps, seed)
            rows.append([loss_on_fresh_text(model, length) for length in LENGTHS])
        found[name] = torch.tensor(rows).mean(0).tolist()
        print(f"{name:<12}", "  ".join(f"{mean:.2f}" for mean in found[name]))
    return found


# %%
@demo
def positions_compared():
    pictures.positions(LENGTHS, losses_by_length(steps=300))


# %% [markdown]
# After 300 steps, rotary positions are best at all three lengths, and four times the
# length costs them less than 0.2 nats. Learned positions get worse beyond 64, because
# rows 64 to 255 of their table were never trained. At 64 bytes, the added sines are
# hardly better than no positions at all, and on longer texts they are worse. So are
# rotary positions worth half a nat per byte, and will they stay as good on longer
# texts?
#
# **Predict first:** if we train the same four models ten times as long, what happens to
# the lead of rotary positions at 64 bytes, and at 256?
#
# *Your prediction:* ……

# %%
TRAIN_LONG = False  # True: 3,000 steps for each, which takes some minutes


@demo
def positions_after_more_steps():
    if not TRAIN_LONG:
        return print("(for TRAIN_LONG = True; the table below has what we measured)")
    losses_by_length(steps=3000)


# %% [markdown]
# Loss on fresh text with this code, from the lowest to the highest of five seeds:
#
# | positions | 300 steps: 64 bytes | 128 | 256 | 3,000 steps: 64 bytes | 128 | 256 |
# |---|---|---|---|---|---|---|
# | rotary | 1.73–1.85 | 1.77–1.89 | 1.86–1.96 | 1.02–1.03 | 1.22–1.38 | 1.89–2.43 |
# | learned | 2.04–2.21 | 2.35–2.44 | 2.41–2.61 | 1.08–1.12 | 2.90–3.01 | 3.88–4.04 |
# | sines, added | 2.18–2.26 | 2.28–2.33 | 2.36–2.41 | 1.22–1.27 | 2.32–2.75 | 3.27–3.60 |
# | none | 2.23–2.26 | 2.27–2.30 | 2.30–2.32 | 1.75–1.83 | 1.93–2.01 | 2.12–2.25 |
#
# - **Learning faster is not learning better.** At 64 bytes, the lead of rotary
#   positions over learned ones was between 0.2 and 0.5 nats, and is now at most 0.1;
#   their lead over the sines was between 0.3 and 0.5, and is now 0.2. Most of what the
#   short comparison showed is that rotary positions are learnt sooner.
# - **Longer training makes the rise steeper.** From 64 to 256 bytes, the loss of each
#   model rises more after 3,000 steps than after 300: by about 1 nat with rotary
#   positions, by 2 to 3 with learned ones or sines. Without positions it rises least,
#   by half a nat at most, and at 256 bytes it even ends lower than with rotary ones for
#   four of the five seeds. Kazemnejad et al. 2023 go further: in their tasks, decoders
#   without positions generalised to longer texts better than those with rotary ones.
#
# How does your own model from unit 7, trained on 96 bytes at a time, fare here? The
# next cell looks for its file beside this notebook and beside that of unit 7.


# %%
def own_model() -> nn.Module | None:
    """The model that you trained in unit 7; None if its file is not here."""
    for folder in (Path(), Path("../07_since_2017")):
        if (file := folder / "modern.safetensors").is_file():
            return modern.trained_model(str(file)).eval()
    return None


@demo
def trained_longer():
    model = own_model()
    if model is None:
        return print("(needs modern.safetensors, which you train in unit 7)")
    for length in (48, 96, 128, 192, 256):
        loss = loss_on_fresh_text(model, length)
        print(f"{length:>3} bytes in a window: loss on fresh text {loss:.2f}")


# %% [markdown]
# Up to 96 bytes, more context helps; beyond that, the loss rises, and at 256 bytes it
# is far higher than at 48.
#
# *Written question (5 points, time ~10 min).* A friend looks at figure 10.6 and says:
# "Rotary positions generalise to any length." Explain in three to five sentences what
# longer training shows, why a distance larger than any in training is a problem even
# for rotations, and why the model that was trained *longer* suffers *more*. What would
# you measure next?
#
# *Points: the longer runs contradict the claim (1); a reason that names
# unseen distances or angles, and what the longer-trained model relies on (2); a
# measurement that could decide (2).*

# %% [markdown] written="newer/positions" points=5
# *Your answer here*
#
# ### BEGIN SOLUTION
# The longer runs contradict the friend: after ten times as many steps, the loss at four
# times the training length is about as high as without any positions, though the
# rotations are the same. Only distances enter the scores, but distances beyond those of
# training bring angles of the slow pairs that the model has never seen, and its heads
# have not learnt what to do with them; added up over many unseen keys, their weights
# are noise. After 300 steps a model looks at its nearest neighbours only, so distant
# keys hardly matter to it. The well-trained one has learnt to use the whole window, and
# relies on what breaks. I would measure the loss at 64 and at 256 bytes over the number
# of training steps (when does the second curve turn up?), or divide the angles by 4 at
# 256 bytes (interpolation) and see whether the loss comes down.
# ### END SOLUTION

# %% [markdown]
# A trained model can be stretched. **Position interpolation** (Chen et al. 2023)
# divides all frequencies by the factor $s$ by which the text is longer, so that no
# angle exceeds those met in training. But if $s$ is 4, the fastest pair, which tells
# neighbours apart, moves by only a quarter of its usual step. Llama 3.1 therefore
# decides for each pair separately. If $n$ is the number of full turns that a pair with
# frequency $\theta$ makes within the training length, then
#
# $$\theta' = \Big(k + \frac{1 - k}{s}\Big)\,\theta, \qquad
# k = \frac{n - n_\text{low}}{n_\text{high} - n_\text{low}}
# \text{ limited to } [0, 1].$$
#
# A pair that has made many full turns has been at every angle and keeps its frequency
# ($k = 1$), while one that has not even completed a turn is slowed down by the full
# factor.
#
# ### Exercise 10.7 - Frequencies for longer texts
#
# *time ~10 min · difficulty 2/5 · 8 points*
#
# A model's `config.json` calls this rule `rope_type: llama3`, and Llama 3.1 sets
# $n_\text{low} = 1$ and $n_\text{high} = 4$.
#
# **Task.** Return the frequencies $\theta'$, in radians per position. A model that was
# trained on `trained` positions ($n$ counts turns within these) is to read texts
# `factor` ($s$) times as long; `low` and `high` are the two bounds of $n$.
#
# **Example.** For `trained=64` and `factor=4`, a frequency of 1 makes about ten turns
# and stays 1; one of 0.01 makes a tenth of a turn and becomes 0.0025.
#
# <details><summary>Contract</summary>
#
# - `low` is smaller than `high`; both count full turns.
# - The frequencies may come in any order; do not modify them.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# By how many radians does a pair rotate in `trained` positions, and how many are a full
# turn?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# turns, share, result    (n,), one for each frequency; share is between 0 and 1
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# turns = trained positions * frequency / one full turn
# share = (turns - low) / (high - low), clamped
# a weighted mean of the frequency and the frequency divided by the factor
# ```
#
# </details>


# %% exercise="newer/scale_frequencies"
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
    ### BEGIN SOLUTION
    turns = trained * frequencies / (2 * math.pi)  # (n,)
    share = ((turns - low) / (high - low)).clamp(0, 1)  # (n,)
    return frequencies * (share + (1 - share) / factor)
    ### END SOLUTION


# %% check="newer/scale_frequencies" points=8
# Checks fast and slow pairs, other bounds, other lengths and other factors.
check("newer/scale_frequencies", scale_frequencies)

# %% [markdown]
# A model trained on 64 bytes at a time for 1,000 steps now reads 128 or 256 bytes in
# four ways: with its own frequencies; with all of them divided by $s$ (interpolation);
# with those of your function; and with a larger base, $10{,}000 \cdot s^{d_k/(d_k-2)}$,
# which slows the slowest pair by $s$ and leaves the fastest alone ("NTK-aware" scaling,
# bloc97 2023). None of them involves any further training.
#
# **Predict first:** which of the four ways has the lowest loss at 256 bytes, and which
# the highest?
#
# *Your prediction:* ……


# %% folded=true
# @title A model whose frequencies can be changed
class StretchedAttention(modern.CausalAttention):
    """Causal attention with any frequencies of its rotary pairs."""

    frequencies: Tensor

    def forward(self, x: Tensor) -> Tensor:
        sizes = (self.num_heads, self.num_kv_heads, self.num_kv_heads)
        every = zip((self.w_q, self.w_k, self.w_v), sizes, strict=True)
        q, k, v = (mha.split_heads(layer(x), size) for layer, size in every)
        angles = torch.arange(x.size(1))[:, None] * self.frequencies  # (L, d_k / 2)
        turned = (modern.rotate(part, angles) for part in (q, k))
        mask = attention.causal_mask(x.size(1))
        seen, _ = modern.grouped_attention(*turned, v, mask)
        return self.w_o(mha.merge_heads(seen))


def stretched(model: nn.Module, frequencies: Tensor) -> nn.Module:
    """The model, with these frequencies in each of its blocks."""
    for block in model.blocks:
        block.attention.frequencies = frequencies
    return model


def frequencies_of(base: float = 1e4) -> Float[Tensor, "4"]:
    """The frequencies of the small model's pairs."""
    return modern.rotary_angles(2, 8, base=base)[1]  # of position 1


# %% folded=true
# @title The loss on longer texts, with stretched frequencies
@demo
def stretching():
    require_solved(scale_frequencies)
    model = small_model(attention=lambda: StretchedAttention(32, 4, 2))
    plain = frequencies_of()
    stretched(model, plain)
    print(trials.train(model, 1000, SEED, length=64))
    ways = {
        "unchanged": lambda s: plain, "all divided": lambda s: plain / s,
        "by turns": lambda s: scale_frequencies(plain, s, 64),
        "larger base": lambda s: frequencies_of(1e4 * s ** (8 / 6)),
    }  # fmt: skip
    losses = {
        name: [
            trials.loss_on_new_text(stretched(model, f(s)), 64 * s) for s in (1, 2, 4)
        ]
        for name, f in ways.items()
    }
    pictures.stretched((64, 128, 256), losses)


# %% [markdown]
# At both lengths the larger base is best and dividing all frequencies is worst, for
# each of the five seeds that we tried. At 256 bytes the larger base lowers the loss by
# 0.2 to 0.6 nats, while interpolation raises it above 3.6, and scaling by turns does
# worse than leaving the model unchanged.
#
# The fastest pair accounts for most of this: when we divided only its frequency by 4,
# the loss rose about three quarters as much as when we divided them all, whereas
# dividing only the slowest changed next to nothing. This model relies on each token's
# nearest neighbours, and interpolation places them at distances of a quarter, which
# never occurred in training. Scaling by turns leaves the fastest pair alone, but it
# slows the second and the third by the full factor, or nearly so, and the model needs
# both as they are; the larger base slows them less. Chen et al. 2023 (section 3) and
# Llama 3.1 train their models further after the change, for a thousand steps or more.
# Without further training, a method must at least leave the neighbours where they are.

# %% [markdown]
# ## 8. A cache in pages
#
# A server answers many texts at once and does not know how long each will become. If it
# reserves the longest possible cache for every text, most of its memory stays empty:
# Kwon et al. 2023 (section 1) measured that only 20 to 38 % of it held keys or values.
# Their cure, *PagedAttention* in vLLM, manages the cache as an operating system manages
# memory. The cache is one pool of small **pages**, each with room for a few positions.
# Each text has a **table**, which lists its pages, and it receives another page only
# when the last one is full.
#
# With pages of 4, the table `[7, 2]` says that positions 0 to 3 are in page 7, and
# positions 4 to 7 in page 2. If all places of the pool are numbered consecutively,
# position 5 is in **slot** $2 \cdot 4 + 1 = 9$.
#
# ### Exercise 10.8 - Where is position 5?
#
# *time ~5 min · difficulty 1/5 · 5 points*
#
# To write a key, all you need is the number of its slot.
#
# **Task.** Return the slot of each position of a text.
#
# **Example.** `slots(tensor([7, 2]), tensor([0, 5]), page_size=4)` is `[28, 9]`.
#
# <details><summary>Contract</summary>
#
# - Positions may come in any order; the table has a page for each of them.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# How many full pages come before a position, and how many positions of its own page?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# table        (pages of the text,)
# positions    (n,)
# slots        (n,)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# which page of the table: quotient of position and page size
# which place in the page: remainder
# ```
#
# </details>


# %% exercise="newer/slots"
def slots(
    table: Int[Tensor, "m"], positions: Int[Tensor, "n"], page_size: int
) -> Int[Tensor, "n"]:
    """The places of a text's positions in a pool of pages (Kwon et al. 2023).

    Args:
        table: the text's pages, in the order of its positions.
        positions: those that are asked for.
        page_size: positions in a page.
    """
    ### BEGIN SOLUTION
    return table[positions // page_size] * page_size + positions % page_size
    ### END SOLUTION


# %% check="newer/slots" points=5
# Checks several page sizes and orders.
check("newer/slots", slots)

# %% [markdown]
# When the pages are read, attention itself changes. Each text's newest token has one
# query, which has to see the keys of that text and of no other, although they are
# scattered over the pool among those of other texts.
#
# ### Exercise 10.9 - Attention over pages
#
# *time ~15 min · difficulty 3/5 · 11 points*
#
# The last page of a text is rarely full, and its empty slots hold leftovers from a text
# that has ended.
#
# **Task.** Gather each text's keys and values from the pool, using the text's row of
# `tables`. Then let its query attend to the text's first `lengths[i]` positions, and to
# nothing else, with `modern.grouped_attention`.
#
# **Example.** With pages of 4, a text of 6 positions reads two pages and ignores the
# last two slots of the second one.
#
# <details><summary>Contract</summary>
#
# - Unused entries of a table are -1, and follow the used ones.
# - Empty slots hold arbitrary finite numbers.
# - Keys are already rotated.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# What is the shape of `k_pages[tables]`, and which two of its dimensions together count
# positions?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# k_pages[tables]    (B, m, size, g, d_k)
# k, v               (B, g, m * size, d_k)
# mask               (B, 1, 1, m * size)
# q                  (B, h, 1, d_k)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# gather pages, join page and place into one dimension, move the heads before it
# mask: the index of a slot is less than the text's length
# grouped attention with a query of length 1; drop that length from the result
# ```
#
# </details>


# %% exercise="newer/paged_attention"
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
    ### BEGIN SOLUTION
    k, v = (pages[tables].flatten(1, 2).transpose(1, 2) for pages in (k_pages, v_pages))
    mask = torch.arange(k.size(2)) < lengths[:, None]  # (B, m * size)
    heads, _ = modern.grouped_attention(q.unsqueeze(2), k, v, mask[:, None, None])
    return heads.squeeze(2)  # (B, h, d_k)
    ### END SOLUTION


# %% check="newer/paged_attention" points=11
# Checks texts of different lengths, full and half-full pages, heads and groups.
check("newer/paged_attention", paged_attention)

# %% [markdown]
# In the next cell, three texts of different lengths grow together in one pool, each by
# one token per step. Each output is compared with that of unit 7's cache, which holds
# one text in one piece, and the last line counts the slots that each kind of cache
# needs.


# %% folded=true
# @title Three texts in one pool
class Pool:
    """Keys and values of several texts in pages, for one attention layer."""

    def __init__(self, pages: int, page_size: int, heads: int, d_k: int):
        self.page_size, self.free = page_size, list(range(pages))
        self.keys = torch.randn(pages, page_size, heads, d_k)  # left over from others
        self.values = torch.randn(pages, page_size, heads, d_k)
        self.tables: dict[int, list[int]] = {}
        self.lengths: dict[int, int] = {}

    def append(self, text: int, k: Tensor, v: Tensor) -> None:
        """Store a position's key and value, `(g, d_k)`, on a new page if need be."""
        table = self.tables.setdefault(text, [])
        position = self.lengths.get(text, 0)
        if position == len(table) * self.page_size:
            table.append(self.free.pop())
        slot = slots(torch.tensor(table), torch.tensor([position]), self.page_size)
        self.keys.flatten(0, 1)[slot], self.values.flatten(0, 1)[slot] = k, v
        self.lengths[text] = position + 1

    def padded_tables(self, texts: Sequence[int]) -> Int[Tensor, "B m"]:
        """The tables of some texts, filled up with -1."""
        tables = [torch.tensor(self.tables[text]) for text in texts]
        return nn.utils.rnn.pad_sequence(tables, batch_first=True, padding_value=-1)


def step_in_pages(
    layer: nn.Module, pool: Pool, new: dict[int, Tensor]
) -> dict[int, Tensor]:
    """The layer's output for the next position of each text."""
    queries = []
    for text, x in new.items():
        q, k, v = (
            mha.split_heads(part(x), heads)
            for part, heads in (
                (layer.w_q, layer.num_heads), (layer.w_k, layer.num_kv_heads),
                (layer.w_v, layer.num_kv_heads),
            )
        )  # fmt: skip
        angles = modern.rotary_angles(1, q.size(-1), pool.lengths.get(text, 0))
        pool.append(text, modern.rotate(k, angles)[0, :, 0], v[0, :, 0])
        queries.append(modern.rotate(q, angles)[0, :, 0])
    lengths = torch.tensor([pool.lengths[text] for text in new])
    heads = paged_attention(
        torch.stack(queries),
        pool.keys,
        pool.values,
        pool.padded_tables([*new]),
        lengths,
    )
    outputs = layer.w_o(heads.flatten(1))  # (B, d_model)
    return dict(zip(new, outputs, strict=True))


# %%
@demo
@torch.no_grad()
def in_pages_and_in_one_piece():
    require_solved(slots, paged_attention)
    torch.manual_seed(0)
    layer, pool = modern.CausalAttention(32, 4, 2), Pool(16, 4, 2, 8)
    texts = {number: torch.randn(1, n, 32) for number, n in enumerate((21, 6, 13))}
    caches, largest = dict.fromkeys(texts), 0.0
    for t in range(21):
        new = {text: x[:, t : t + 1] for text, x in texts.items() if t < x.size(1)}
        outputs = step_in_pages(layer, pool, new)
        for text, x in new.items():
            plain, caches[text] = modern.attend_with_cache(layer, x, caches[text])
            largest = max(largest, (outputs[text] - plain).abs().max().item())
    used = sum(map(len, pool.tables.values()))
    print(f"largest difference to a plain cache: {largest:.7f}")
    print("tables:", pool.tables)
    print(f"slots: {4 * used} in pages, {3 * 21} if each text reserves the longest")


# %% [markdown]
# The outputs agree up to rounding, although the tables show that the pages of a text
# are scattered over the pool. With pages, at most three slots per text are empty,
# whatever its length; reserving the longest length for every text wastes the difference
# for each shorter one. Pages can do more: two answers to the same question can share
# the question's pages, since a table may name any page.

# %% [markdown]
# ## 9. Bug clinic: who owns this page?
#
# When a pool's bookkeeping is wrong, nothing crashes: two texts write into one page,
# and each reads what the other wrote. Nobody notices until a user is shown the answer
# to a stranger's question. Such bookkeeping invites four bugs:
#
# 1. **shared**: one page is handed out to two texts;
# 2. **freed too early**, or twice: a page is listed as free while a text still reads
#    it, or is listed twice;
# 3. **lost**: a text ends, and one of its pages is neither free nor owned;
# 4. **stale**: a table keeps the number of a page that it has given back.
#
# All four are visible in the bookkeeping itself, before a single key is read.
#
# ### Exercise 10.10 - A test for a pool
#
# *time ~15 min · difficulty 3/5 · 10 points*
#
# In a server's debug mode, a test like this one can run after every step.
#
# **Task.** Write a test of a pool's bookkeeping: raise `AssertionError` if it is
# faulty, and return quietly if it is correct.
#
# **Example.** For 4 pages of 4 positions, the tables `[[3, 0], [1, -1]]`, the lengths
# `[6, 2]` and the free pages `[2]` are correct. With `[1]` in place of `[2]`, they are
# not.
#
# <details><summary>Contract</summary>
#
# - The first entries of a text's row are its pages, no more than its length needs; the
#   others are -1.
# - Each page from 0 to `pages - 1` is free or owned by one text, exactly once.
# - Pages may be owned, and listed as free, in any order.
# - `pages` and `page_size` may have any value.
# - Your test raises no error other than `AssertionError`, and none for correct pools.
#
# </details>
# <details><summary>How it is graded</summary>
#
# Your test runs on correct pools and on faulty ones, which have the four bugs above or
# others. Each correct one comes with two faulty ones, and you get its points if the
# correct one passes *and* the faulty ones do not.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# How many entries of a row are in use if the text has 8 positions, and how many if it
# has 9?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# needed           (B,)       pages of each text
# used             (B, m)     bool: the first entries of each row
# tables[used]     (sum of needed,)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# needed: lengths divided by the page size, rounded up
# the entries that are not in use are all -1
# the used entries and the free pages, sorted, are 0, 1, ..., pages - 1
# ```
#
# </details>


# %% exercise="newer/bug_clinic"
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
    ### BEGIN SOLUTION
    needed = -(-lengths // page_size)  # (B,), rounded up
    used = torch.arange(tables.size(1)) < needed[:, None]  # (B, m)
    assert (tables[~used] == -1).all(), "an entry that no position needs"
    owned = torch.cat((tables[used], free))
    assert torch.equal(owned.sort().values, torch.arange(pages)), "not each once"
    ### END SOLUTION


# %% check="newer/bug_clinic" points=10
# Runs your test on correct pools and on faulty ones.
check("newer/bug_clinic", assert_pool)

# %% [markdown]
# ## What this course leaves out
#
# You will meet five more ideas in the models and servers of 2025/26, and you can now
# read up on each.
#
# - **Latent attention** (DeepSeek-V2 and V3, Kimi K2). The cache keeps one compressed
#   vector per position, from which the keys and values of *all* heads are projected
#   when needed. In DeepSeek-V2, this vector has 512 components, plus 64 for a rotary
#   key that all heads share; keys and values for its 128 heads of size 128 would need
#   32,768. Pointer: DeepSeek-AI 2024, *DeepSeek-V2*, section 2.1.
# - **Linear and hybrid attention** (Qwen3-Next, Kimi Linear). Without the softmax,
#   attention can be written as a matrix of fixed size that each token updates, so the
#   cache does not grow at all. Their weak spot is looking up one exact detail far back,
#   so these models keep one layer of full attention for every three linear ones.
#   Pointers: Katharopoulos et al. 2020, *Transformers are RNNs*; Yang et al. 2024,
#   *Gated Delta Networks*.
# - **FlashAttention.** It computes the same result as your attention, but tile by tile
#   in the GPU's fast memory, without ever storing the `L × L` scores. It leaves the
#   model unchanged and makes long texts affordable in training. Unit 2 showed the idea
#   (*Attention in tiles*); what is left out is the GPU code. Pointer: Dao et al. 2022.
# - **Quantised caches.** Keys and values can be stored with two to eight bits per
#   entry, so that a server holds several times as many texts. Pointer: Liu et al. 2024,
#   *KIVI* (two bits).
# - **Multi-token prediction** (DeepSeek-V3). A small extra module also learns to
#   predict the token after the next one. This gives training more signal per text, and
#   at inference time the module serves as the cheap guesser of unit 8. Pointer:
#   Gloeckle et al. 2024, *Better & Faster Large Language Models via Multi-token
#   Prediction*.
#
# ## Three ages, the parts of this unit
#
# The table at the end of unit 7 compares whole models; this one follows the parts that
# you built here.
#
# | part | 2017 | LLaMA, 2023 | 2025/26 |
# |---|---|---|---|
# | queries and keys | as projected | as projected | normalised per head (Qwen3, Gemma 3) or per position (OLMo 2) |
# | who attends to whom | every position; in the decoder all earlier ones | all earlier ones | all earlier ones (Qwen3); 5 layers with a window of 1,024 per global layer (Gemma 3); 3 with 4,096 per global layer (Olmo 3) |
# | feed-forward | one network | one network | one network (Gemma 3, OLMo 2); 8 of 128 experts (Qwen3-235B); 8 of 256 and a shared one (DeepSeek-V3) |
# | even loads | - | - | a balancing loss (Qwen3); a bias per expert, and only a very small loss (DeepSeek-V3) |
# | optimizer | Adam | AdamW | AdamW (DeepSeek-V3, OLMo 2); Muon for the matrices (Kimi K2) |
# | texts longer than in training | not tried | not tried | slow pairs slowed down (Llama 3.1); a base of 1,000,000, then YaRN (Qwen3); frequencies of global layers divided by 8 (Gemma 3) |
#
# *Sources, the models' own reports:* Vaswani et al. 2017; Touvron et al. 2023 (LLaMA);
# DeepSeek-AI 2024 (*DeepSeek-V3*); Team OLMo 2024 (*2 OLMo 2 Furious*) and 2025 (*Olmo
# 3*); Gemma Team 2025 (*Gemma 3*); Yang et al. 2025 (*Qwen3*); Kimi Team 2025 (*Kimi
# K2*); and for Llama 3.1 its code (`apply_scaling` in `meta-llama/llama-models`).
#
# ## What you built
#
# - QK-norm, windows, a mixture of experts and Muon, and what each buys for the same
#   number of steps;
# - layers that match the logits of `transformers`' Qwen3, Mistral, Gemma 3 and Mixtral;
# - an optimizer step that loses no small update, frequencies for longer texts, and a
#   cache in pages that equals a plain one, with a test for its bookkeeping.
#
# ## Go further
#
# - Press et al. 2022, *Train Short, Test Long*; Chen et al. 2023, *Extending Context
#   Window of Large Language Models via Positional Interpolation*; Peng et al. 2023,
#   *YaRN*: how to go beyond the training length. Kazemnejad et al. 2023, *The Impact of
#   Positional Encoding on Length Generalization*.
# - Narang et al. 2021, *Do Transformer Modifications Transfer Across Implementations
#   and Applications?* Mostly not, the authors find. Compare with your own table.

# %% [markdown]
# ## Where you stand
#
# Your points so far, and what to do next. Run this cell again after each exercise.

# %%
check.summary()
