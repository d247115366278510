# %% [markdown]
# # 7 · Since 2017
#
# *An optional unit, after the six.* You have built the Transformer of 2017. A current
# language model has much the same architecture, with most components replaced. This
# unit replaces them one by one, up to a model whose logits agree with those of the
# `transformers` library's Llama, given the same weights, to five digits. Then it asks
# what each replacement is worth, and how a model that continues text becomes one that
# answers.

# %% [markdown]
# **You will learn**
# - the parts that changed: RMSNorm, rotary positions, SwiGLU, grouped-query attention;
# - what a cache of keys and values is, what it saves and what it costs in memory;
# - what open models have added since: QK-norm, sliding windows, mixtures of experts,
#   Muon;
# - how a token is chosen from logits, and what is odd about the usual repetition
#   penalty;
# - to measure a language model: perplexity with a sliding window, bits per byte;
# - what each part buys at this size, by your own measurements, including where it buys
#   nothing;
# - how reinforcement learning turns a base model into one that answers, and how a model
#   games a careless reward;
# - to write a test for cached decoding, where bugs hide best.
#
# *About 7½ hours · short path about 3½: exercises 7.1, 7.2, 7.3, 7.5, 7.6, 7.7, 7.8,
# 7.9, 7.10, 7.20, 7.24*
#
# *24 exercises and one question in words · 100 points; the whole notebook runs in about
# eight minutes on one core, a third of which is the training in section 10.* The short
# path carries the story: read the rest, and do its exercises later.
#
# **Recap.** Unit 2 gave `attention.causal_mask(L)`: True where a query may attend. Unit
# 3 gave `mha.split_heads(x, h)`, from `(B, L, h * d_k)` to `(B, h, L, d_k)`, and its
# inverse, `mha.merge_heads`. Unit 5 gave `reversal.rate_factor(step, warmup, steps)`,
# warm-up and then cosine decay, and a small encoder-decoder, `reversal.new_model()`,
# that learns to reverse digits. We use them as they are.
#
# <details><summary>Conventions of this unit</summary>
#
# | name | meaning |
# |---|---|
# | `B`, `L` | texts in a batch, positions in a text |
# | `d_model`, `d_k` | size of the vector at a position, and of one head's queries and keys |
# | `h`, `g` (in code `num_heads`, `num_kv_heads`) | heads of queries; heads of keys and values |
# | `V` | size of the vocabulary |
# | mask | boolean, **`True` = may attend**, broadcastable to `(B, h, Lq, Lk)` |
# | layers | pre-norm, without biases or dropout; PyTorch's default initialisation is fine |
#
# </details>

# %%
import copy
import math
import random
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_model, save_model
from torch import Tensor, nn
from tqdm.auto import tqdm

from autograder import check, demo, drawing, earlier, require_solved
from transformer_course.library import corpora, likeness
from transformer_course.library.published import available
from transformer_course.since_2017.library import pictures, trials

# False: what earlier units built comes from the course, and is correct. True: from your
# own notebooks, if they are beside this one. Grading always uses the course's.
USE_MY_OWN = False
attention = earlier("02_attention", mine=USE_MY_OWN)
mha = earlier("03_multi_head_attention", mine=USE_MY_OWN)
reversal = earlier("05_sequence_reversal", mine=USE_MY_OWN)

torch.set_num_threads(1)  # for tensors this small, more threads only get in the way
torch.set_printoptions(precision=4, sci_mode=False)

# %%
drawing("three_ages", "7.1", "A layer of 2017, of LLaMA, and of 2025/26.")

# %% [markdown]
# ## 1. A norm with less to do
#
# LayerNorm subtracts the mean of a vector, divides by its standard deviation, scales
# and shifts. Which of these steps does the work? Zhang and Sennrich 2019 dropped the
# mean and the shift, and their models were as good. What remains is a division by the
# **root mean square**:
#
# $$\operatorname{RMSNorm}(x) =
# \frac{x}{\sqrt{\frac{1}{d}\sum_i x_i^2 + \varepsilon}} \odot w$$
#
# **Predict first.** Today, layers usually compute in `bfloat16`. It has the range of
# float32, but only 8 bits of precision: the next number after 1 is 1.0078, and the next
# after 256 is 258. You add 1,024 ones, one after the other, in bfloat16. What sum do
# you get?
#
# ### Exercise 7.1 - RMSNorm
#
# *time ~12 min · difficulty 2/5 · 4 points*
#
# **Task.** Write the module by the formula, with one parameter, `weight`. Compute in
# float32 if the input is narrower, and return the dtype of `x`. Do not use PyTorch's
# own RMSNorm.
#
# **Example.** For `x = [3, -4]` and `eps=0`, the mean square is 12.5, and the result is
# `[0.8485, -1.1314]`.
#
# <details><summary>Contract</summary>
#
# - `weight` is the only parameter and starts as ones; there is no bias.
# - `float16` and `bfloat16` are normalised in float32, all other dtypes in their own.
# - The result has the dtype of `x`.
# - `nn.RMSNorm` and `F.rms_norm` are not allowed; the check compares with them.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Is ε added to the mean of the squares, or to its root? Look at the formula, and think
# of a vector of zeros: what would its gradient be in the other case?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# x              (..., d_model)     bfloat16, say
# as float32     (..., d_model)
# mean square    (..., 1)           one per vector: keep the dimension
# result         (..., d_model)     bfloat16 again
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# wide = x in float32, if x is narrower than that
# divide wide by the root of (its mean square + eps)
# times weight
# back to the dtype of x
# ```
#
# </details>


# %% exercise="since_2017/rms_norm"
class RMSNorm(nn.Module):
    """Divide by the root mean square (Zhang and Sennrich 2019, section 3).

    Args:
        d_model: size of the vectors.
        eps: added to the mean square.
    """

    def __init__(self, d_model: int, eps: float = 1e-6):
        super().__init__()
        ### BEGIN SOLUTION
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """Normalise each vector of `x`, `(..., d_model)`; same shape, same dtype."""
        ### BEGIN SOLUTION
        wide = x.to(torch.promote_types(x.dtype, torch.float32))  # (..., d_model)
        mean_square = wide.square().mean(dim=-1, keepdim=True)  # (..., 1)
        normed = wide * torch.rsqrt(mean_square + self.eps)
        return (normed * self.weight).to(x.dtype)  # (..., d_model)
        ### END SOLUTION


# %% check="since_2017/rms_norm" points=4
# Looks at values, gradients, small and large vectors, and at half precision.
check("since_2017/rms_norm", RMSNorm)


# %%
@demo
def what_half_precision_does():
    total = torch.tensor(0.0, dtype=torch.bfloat16)
    for _ in range(1024):
        total = total + 1
    print(f"1,024 ones, added one by one in bfloat16: {total.item():.0f}")
    x = torch.tensor([300.0, -200.0, 100.0, 50.0])
    theirs = nn.RMSNorm(4, eps=1e-6)(x)
    print(f"{'PyTorch, in float32':<34} {[round(v, 3) for v in theirs.tolist()]}")
    for dtype in (torch.bfloat16, torch.float16):
        narrow = x.to(dtype)
        naive = narrow / (narrow * narrow).mean(-1, keepdim=True).sqrt()
        for name, normed in (
            ("all of it in", naive),
            ("yours, given", RMSNorm(4)(narrow)),
        ):
            label = f"{name} {str(dtype).removeprefix('torch.')}"
            print(f"{label:<34} {[round(v, 3) for v in normed.tolist()]}")


# %% [markdown]
# The sum stops at 256, because 257 does not exist in bfloat16 and 256 + 1 is rounded
# back to 256. So any step that adds up many numbers, as a norm does, should do so in
# float32. With `float16`, the older half precision, the *range* is also too small: 300²
# is 90,000, the largest finite number is 65,504, and a vector divided by infinity is
# zero. No error, no NaN, only a layer that says nothing.
#
# ## 2. Positions that rotate
#
# In unit 1 you *added* a vector to each embedding to say where it is, and found that a
# step of $k$ positions **rotates** the sinusoids, by the same angles everywhere. Su et
# al. 2021 take this seriously: they add nothing, but *rotate* queries and keys by an
# angle that grows with the position.
#
# Regard two components of a query as a point in the plane. At position $m$ it is
# rotated by $m\theta$, and a key at position $n$ by $n\theta$. Their dot product
# depends on the angle between them, which changes by $(m - n)\theta$: **only the
# distance counts.** A head has $d_k$ components, so it has $d_k / 2$ such points. Each
# has its own frequency, from one radian per position down to almost nothing:
#
# $$\theta_i = \text{base}^{-2i / d_k}, \qquad i = 0, \dots, d_k/2 - 1$$
#
# ### Exercise 7.2 - The angles
#
# *time ~8 min · difficulty 1/5 · 3 points*
#
# **Task.** Return the angle of each position and each pair: row `i` belongs to position
# `offset + i`, column `j` to the frequency $\theta_j$. Section 6 needs the offset,
# where many cache bugs begin.
#
# **Example.** `rotary_angles(2, 4, offset=3)` is `[[3, 0.03], [4, 0.04]]`.
#
# <details><summary>Contract</summary>
#
# - Each call returns a new tensor, in radians, not reduced to a single turn.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# `torch.arange(0, d_k, 2)` gives 0, 2, 4, ... Is that $i$ or $2i$?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# frequencies   (d_k / 2,)          1 first, then smaller and smaller
# positions     (length,)           offset, offset + 1, ...
# angles        (length, d_k / 2)   each position times each frequency
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# frequencies = base to the power of -(0, 2, 4, ..., d_k - 2) / d_k
# angle[i, j] = (offset + i) * frequencies[j]
# ```
#
# </details>


# %% exercise="since_2017/rotary_angles"
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
    ### BEGIN SOLUTION
    frequencies = base ** -(torch.arange(0, d_k, 2) / d_k)  # (d_k / 2,)
    positions = torch.arange(offset, offset + length)  # (length,)
    return positions[:, None] * frequencies  # (length, d_k / 2)
    ### END SOLUTION


# %% check="since_2017/rotary_angles" points=3
# Looks at several lengths, sizes, offsets and bases.
check("since_2017/rotary_angles", rotary_angles)

# %% [markdown]
# ### Exercise 7.3 - Rotate
#
# *time ~15 min · difficulty 3/5 · 6 points*
#
# **Task.** Rotate each vector in **halves**: component `j` of the first half and
# component `j` of the second half are a point $(a, b)$, rotated by `angles[..., j]`.
#
# $$a' = a\cos\varphi - b\sin\varphi, \qquad b' = a\sin\varphi + b\cos\varphi$$
#
# **Example.** With all angles at $\pi / 2$, `[1, 2, 3, 4]` becomes `[-3, -4, 1, 2]`.
#
# The paper pairs neighbours instead, 0 with 1 and 2 with 3. Most libraries pair halves,
# as here. Both work, but a model that was trained with one writes nonsense with the
# other.
#
# <details><summary>Contract</summary>
#
# - The result has the dtype of `x`, and `x` is not modified.
# - Cosine and sine are computed in the dtype of the angles: half precision cannot
#   distinguish 2048 from 2049.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# If you write the new first half into `x` before you compute the second one, which $a$
# does the second formula see?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# x                 (..., L, d_k)
# angles            (L, d_k / 2)         broadcasts over all leading dimensions
# a, b              (..., L, d_k / 2)    the two halves of x
# result            (..., L, d_k)        the new halves, concatenated
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# a, b = first half and second half of the last dimension
# new a, new b = by the two formulas
# concatenate new a and new b; back to the dtype of x
# ```
#
# </details>


# %% exercise="since_2017/rotate"
def rotate(x: Tensor, angles: Tensor) -> Tensor:
    """Rotate each pair of components, in halves, by its angle.

    Args:
        x: queries or keys, shape `(..., L, d_k)`.
        angles: in radians, shape `(L, d_k / 2)`.

    Returns:
        The rotated vectors, shape `(..., L, d_k)`, in the dtype of `x`.
    """
    ### BEGIN SOLUTION
    a, b = x.chunk(2, dim=-1)  # (..., L, d_k / 2) each
    cos, sin = angles.cos(), angles.sin()
    rotated = torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1)
    return rotated.to(x.dtype)  # (..., L, d_k)
    ### END SOLUTION


# %% check="since_2017/rotate" points=6
# Looks at values, lengths, gradients, any leading dimensions, half precision.
check("since_2017/rotate", rotate)


# %%
@demo
def rotary_clocks():
    d_k, length = 8, 33
    start = torch.tensor([1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0])  # (1, 0), four times
    turned = rotate(start.expand(length, d_k), rotary_angles(length, d_k))
    scores = turned @ turned[0]  # (L,): with the same vector at position 0
    pictures.clocks(turned, scores, stops=(0, 1, 2, 3, 4, 6, 8, 12, 24))


# %% [markdown]
# Pair 0 tells neighbours apart. The last pair hardly moves in twelve positions: in a
# long text, it is a slow clock; in a short one, its two components carry almost no
# positional information.
#
# ### Exercise 7.4 - A probe for the distance
#
# *time ~10 min · difficulty 2/5 · 3 points*
#
# **Task.** "Only the distance counts" is a claim about code, and you can measure it.
# Rotate `q` and `k` with `turn`, once from position 0 and once from `shift`. Return the
# largest absolute change of any score $q_i \cdot k_j$.
#
# **Example.** For your `rotate`, the result is near 0 whatever `shift` is.
#
# <details><summary>Contract</summary>
#
# - `turn` need not be a rotation: it is any function that encodes positions in `x`,
#   whose row `i` is at position `offset + i`.
# - The result is a Python float.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Which must stay the same: the rotated queries, or their dot products with the rotated
# keys?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# q, k              (B, Lq, d_k), (B, Lk, d_k)
# scores            (B, Lq, Lk)      twice: from position 0, from position `shift`
# result            a float
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# scores(offset) = turn(q, offset) @ turn(k, offset), the latter transposed
# the largest absolute value of scores(shift) - scores(0)
# ```
#
# </details>


# %% exercise="since_2017/relative_gap"
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
    ### BEGIN SOLUTION
    still, moved = (
        turn(q, offset) @ turn(k, offset).transpose(-2, -1) for offset in (0, shift)
    )  # (B, Lq, Lk) each
    return (moved - still).abs().max().item()
    ### END SOLUTION


# %% check="since_2017/relative_gap" points=3
# Gives your probe ways to encode positions, relative ones and others.
check("since_2017/relative_gap", relative_gap)


# %%
@demo
def is_it_relative():
    def rotary(x: Tensor, offset: int) -> Tensor:
        return rotate(x, rotary_angles(x.size(-2), x.size(-1), offset))

    def added(x: Tensor, offset: int) -> Tensor:
        angles = rotary_angles(x.size(-2), x.size(-1), offset)
        return x + torch.cat((angles.sin(), angles.cos()), dim=-1)

    torch.manual_seed(2)
    q, k = torch.randn(2, 3, 7, 16)
    for name, turn in (("rotary", rotary), ("sines, added", added)):
        gaps = [relative_gap(turn, q, k, shift) for shift in (1, 10, 100)]
        listed = "   ".join(f"{gap:.6f}" for gap in gaps)
        print(f"{name:<14} largest change after 1, 10, 100 positions:   {listed}")


# %% [markdown]
# For the rotation, only rounding errors remain. The added sines do contain the distance
# (unit 1), but a score also contains products of content with position, and those
# change.
#
# ### Exercise 7.5 - From pairs to halves
#
# *time ~12 min · difficulty 3/5 · 3 points*
#
# Weights that were trained with neighbours as pairs can be used with halves, if the
# **rows of the projection** are permuted: then each component of a query ends up where
# the other convention expects it. Scores do not change, since queries and keys are
# permuted alike. The script that converts LLaMA's weights does exactly this.
#
# **Task.** The given projection was trained with *neighbours* as pairs: in each head, 0
# and 1 are a pair, 2 and 3, and so on. Permute its rows so that `rotate` rotates the
# same pairs by the same angles.
#
# **Example.** For one head of six components, the rows 0 1 2 3 4 5 become 0 2 4 1 3 5.
#
# <details><summary>Contract</summary>
#
# - The rows of head `i` are the `i`-th block of `d_k` rows, before and after.
# - The result is a new tensor with the dtype of `weight`, which is not modified.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Take a head with `d_k = 6`. In the new order, which old components are in the first
# half?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# weight          (h * d_k, d_model)          a row per component, `x @ weight.T`
# seen as         (h, d_k / 2, 2, d_model)    head, pair, which of the two, input
# wanted          (h, 2, d_k / 2, d_model)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# old rows of one head:    0  1  2  3  4  5
# new rows of that head:   0  2  4  1  3  5      then the next head
# ```
#
# </details>


# %% exercise="since_2017/pairs_to_halves"
def pairs_to_halves(weight: Tensor, num_heads: int) -> Tensor:
    """Reorder a projection for rotary pairs that are halves instead of neighbours.

    Args:
        weight: of a linear layer, shape `(h * d_k, d_model)`.
        num_heads: number of heads, h.

    Returns:
        The same rows in a different order, shape `(h * d_k, d_model)`.
    """
    ### BEGIN SOLUTION
    by_pair = weight.unflatten(0, (num_heads, -1, 2))  # (h, d_k / 2, 2, d_model)
    return by_pair.transpose(1, 2).flatten(0, 2)  # (h * d_k, d_model)
    ### END SOLUTION


# %% check="since_2017/pairs_to_halves" points=3
# Looks at one head and at several, and at the weight afterwards.
check("since_2017/pairs_to_halves", pairs_to_halves)


# %%
@demo
def the_same_scores():
    torch.manual_seed(3)
    x, w_q, w_k = torch.randn(5, 12), torch.randn(8, 12), torch.randn(8, 12)
    angles = rotary_angles(5, 8)

    def neighbours(x: Tensor) -> Tensor:
        """The paper's way: as complex numbers, one per pair."""
        points = torch.view_as_complex(x.unflatten(-1, (-1, 2)))  # (L, d_k / 2)
        turned = points * torch.polar(torch.ones_like(angles), angles)
        return torch.view_as_real(turned).flatten(-2)

    paper = neighbours(x @ w_q.T) @ neighbours(x @ w_k.T).T
    ours = [rotate(x @ pairs_to_halves(w, 1).T, angles) for w in (w_q, w_k)]
    mixed = rotate(x @ w_q.T, angles) @ rotate(x @ w_k.T, angles).T
    print(f"neighbours against halves, rows reordered: largest difference "
          f"{(paper - ours[0] @ ours[1].T).abs().max():.6f}")  # fmt: skip
    print(f"the same weights without reordering:       largest difference "
          f"{(paper - mixed).abs().max():.6f}")  # fmt: skip


# %% [markdown]
# ## 3. A feed-forward network with a gate
#
# $$\operatorname{SwiGLU}(x) =
# W_{down}\big(\operatorname{silu}(W_{gate}\,x) \odot W_{up}\,x\big),
# \qquad \operatorname{silu}(z) = z \cdot \sigma(z)$$
#
# One matrix computes values, and a second one decides how much of each value passes.
# Shazeer 2020 tried several such gates, found them all better than ReLU, and concluded:
# "We offer no explanation as to why these architectures seem to work; we attribute
# their success, as all else, to divine benevolence."
#
# A fair comparison needs an equal number of parameters. The old network has two
# matrices of `d_model × d_ff`, and the new one has three.
#
# **Predict first.** How wide can the new hidden layer be if the number of parameters is
# to stay the same?
#
# ### Exercise 7.6 - SwiGLU
#
# *time ~12 min · difficulty 2/5 · 4 points*
#
# **Task.** Write the module with three linear layers. `d_ff` is the hidden width of the
# *old* network: choose the largest width that needs no more parameters than its two
# matrices.
#
# **Example.** `SwiGLU(8, 32)` has a hidden width of 21: 3 · 8 · 21 = 504 parameters
# instead of 2 · 8 · 32 = 512.
#
# <details><summary>Contract</summary>
#
# - Submodules: `w_gate`, `w_up` and `w_down`, each `nn.Linear` without bias.
# - `silu` is applied to the gate only.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# `2 * d_model * d_ff` parameters on one side, `3 * d_model * width` on the other. What
# if `d_ff` is not divisible by 3?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# x                     (..., d_model)
# gate, up              (..., width)       silu on the gate only
# gate times up         (..., width)       component by component
# result                (..., d_model)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# width = two thirds of d_ff, rounded down
# result = w_down( silu(w_gate(x)) * w_up(x) )
# ```
#
# </details>


# %% exercise="since_2017/swiglu"
class SwiGLU(nn.Module):
    """A gated feed-forward network (Shazeer 2020), no larger than the one it replaces.

    Args:
        d_model: size of the vectors.
        d_ff: width of the hidden layer of the ReLU network that it replaces.
    """

    def __init__(self, d_model: int, d_ff: int):
        super().__init__()
        ### BEGIN SOLUTION
        width = 2 * d_ff // 3
        self.w_gate = nn.Linear(d_model, width, bias=False)
        self.w_up = nn.Linear(d_model, width, bias=False)
        self.w_down = nn.Linear(width, d_model, bias=False)
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """From `(..., d_model)` to `(..., d_model)`, each position on its own."""
        ### BEGIN SOLUTION
        gate = F.silu(self.w_gate(x))  # (..., width)
        return self.w_down(gate * self.w_up(x))  # (..., d_model)
        ### END SOLUTION


# %% check="since_2017/swiglu" points=4
# Looks at the sizes of the three matrices, values and gradients.
check("since_2017/swiglu", SwiGLU)

# %% [markdown]
# Two thirds of the old width: three matrices of two-thirds width have as many
# parameters as two of full width. In most models without experts, about two thirds of
# all parameters are in these layers.
#
# ## 4. Fewer keys and values
#
# While a model writes, it keeps the keys and values of all earlier positions in memory.
# With long texts and many users, memory rather than arithmetic becomes the limit. So
# let several heads of queries **share** one head of keys and values (Ainslie et al.
# 2023):

# %%
drawing("shared_keys", "7.3", "Four heads of queries, and how many of keys.")

# %% [markdown]
# Heads that share are **neighbours**: with 4 heads of queries and 2 of keys, query
# heads 0 and 1 belong to key head 0. Multi-head attention (`g = h`) and multi-query
# attention (`g = 1`) are the two extremes.
#
# ### Exercise 7.7 - Grouped-query attention
#
# *time ~20 min · difficulty 4/5 · 7 points*
#
# **Task.** Compute scaled dot-product attention as in unit 2, but `k` and `v` have only
# `g` heads. Return output and weights. Raise a `ValueError` if `g` does not divide `h`.
#
# **Example.** From `q (2, 6, 5, 8)`, `k (2, 3, 7, 8)` and `v (2, 3, 7, 4)`: output `(2,
# 6, 5, 4)` and weights `(2, 6, 5, 7)`.
#
# <details><summary>Contract</summary>
#
# - Query head `i` uses key and value head `i // (h / g)`.
# - Copying keys and values with `repeat_interleave` is allowed, though the point is not
#   to need `h` copies.
# - `F.scaled_dot_product_attention` is not allowed here; from Exercise 7.8 on, it is.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# `@` broadcasts over leading dimensions. Can you give the queries a dimension for
# groups, so that each meets *its* keys without a copy?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# q            (B, h, Lq, d_k)    ->   (B, g, h / g, Lq, d_k)
# k            (B, g, Lk, d_k)    ->   (B, g, 1, Lk, d_k)
# v            (B, g, Lk, d_v)    ->   (B, g, 1, Lk, d_v)
# scores       (B, g, h / g, Lq, Lk)   ->   (B, h, Lq, Lk), where the mask fits
# output       (B, h, Lq, d_v)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# refuse heads that the groups do not divide
# queries: by group; keys and values: one more dimension of size 1
# scores = queries times keys, over the root of d_k; flat again over the heads
# -inf where the mask forbids; softmax over the keys
# weights by group, times values; flat again over the heads
# ```
#
# </details>


# %% exercise="since_2017/grouped_attention"
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
    ### BEGIN SOLUTION
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
    ### END SOLUTION


# %% check="since_2017/grouped_attention" points=7
# Looks at both extremes and between them, at masks of several shapes, and at the error.
check("since_2017/grouped_attention", grouped_attention)


# %%
@demo
def against_pytorch():
    torch.manual_seed(4)
    q = torch.randn(2, 6, 5, 8)
    for groups in (6, 3, 2, 1):
        k, v = torch.randn(2, 2, groups, 7, 8)
        theirs = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
        gap = (grouped_attention(q, k, v)[0] - theirs).abs().max()
        print(
            f"6 query heads, {groups} of keys and values: largest difference {gap:.7f}"
        )


# %% [markdown]
# ## 5. The model

# %%
drawing("block", "7.4", "The model: its blocks repeat, and the ends share a table.")

# %% [markdown]
# ### Exercise 7.8 - The attention layer
#
# *time ~20 min · difficulty 3/5 · 7 points*
#
# **Task.** Write causal self-attention with rotary positions and grouped heads. Rotate
# queries and keys, but **not values**, from position 0 on.
#
# **Example.** `CausalAttention(24, 6, 2)` maps `(B, L, 24)` to `(B, L, 24)`; its
# `w_q.weight` is `(24, 24)`, its `w_k.weight` `(8, 24)`.
#
# <details><summary>Contract</summary>
#
# - Submodules: `w_q`, `w_k`, `w_v` and `w_o`, each `nn.Linear` without bias; `d_k =
#   d_model / h`.
# - Head `i` is the `i`-th block of `d_k` features.
# - `num_heads`, `num_kv_heads` and `base` are kept as attributes, which section 6
#   reads.
# - The state dict contains the named weights and nothing else, here and in the next
#   exercises.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# `rotate` pairs component `j` with component `j + d_k / 2`. Which components become
# pairs if you rotate before the split into heads, and which if you rotate after it?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# x                   (B, L, d_model)
# q                   (B, L, h * d_k)   ->   (B, h, L, d_k)    rotated
# k                   (B, L, g * d_k)   ->   (B, g, L, d_k)    rotated
# v                   (B, L, g * d_k)   ->   (B, g, L, d_k)
# heads, merged       (B, L, h * d_k)   ->   w_o
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# project x three times, split each into its heads
# angles for L positions, d_k components and the layer's base; rotate q and k
# grouped attention with a causal mask
# merge the heads, project with w_o
# ```
#
# </details>


# %% exercise="since_2017/attention_layer"
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
        ### BEGIN SOLUTION
        d_k = d_model // num_heads
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.base = base
        self.w_q = nn.Linear(d_model, num_heads * d_k, bias=False)
        self.w_k = nn.Linear(d_model, num_kv_heads * d_k, bias=False)
        self.w_v = nn.Linear(d_model, num_kv_heads * d_k, bias=False)
        self.w_o = nn.Linear(num_heads * d_k, d_model, bias=False)
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """From `(B, L, d_model)` to the same shape, without attending to the future."""
        ### BEGIN SOLUTION
        q = mha.split_heads(self.w_q(x), self.num_heads)  # (B, h, L, d_k)
        k = mha.split_heads(self.w_k(x), self.num_kv_heads)  # (B, g, L, d_k)
        v = mha.split_heads(self.w_v(x), self.num_kv_heads)  # (B, g, L, d_k)
        angles = rotary_angles(x.size(1), q.size(-1), base=self.base)  # (L, d_k / 2)
        q, k = rotate(q, angles), rotate(k, angles)
        heads, _ = grouped_attention(q, k, v, attention.causal_mask(x.size(1)))
        return self.w_o(mha.merge_heads(heads))  # (B, L, d_model)
        ### END SOLUTION


# %% check="since_2017/attention_layer" points=7
# Looks at parameters, at who attends to whom, at values and gradients.
check("since_2017/attention_layer", CausalAttention)

# %% [markdown]
# ### Exercise 7.9 - The block
#
# *time ~8 min · difficulty 2/5 · 3 points*
#
# This block is what a model stacks: 32 times in LLaMA 7B.
#
# **Task.** Write a pre-norm layer as in unit 4: normalise `x`, apply attention and add
# the result to `x`; then do the same with the feed-forward network.
#
# **Example.** `Block(24, 6, 2, d_ff=48)` maps `(B, L, 24)` to `(B, L, 24)`.
#
# <details><summary>Contract</summary>
#
# - Submodules: `norm1`, `attention`, `norm2` and `feed_forward`.
# - Both norms are `RMSNorm(d_model, eps)`; the attention gets `base`.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Which vectors does `norm2` normalise: the block's input, or the sum after the
# attention?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# everywhere     (B, L, d_model)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# x = x + attention(norm1(x))
# x = x + feed_forward(norm2(x))
# ```
#
# </details>


# %% exercise="since_2017/block"
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
        ### BEGIN SOLUTION
        self.norm1 = RMSNorm(d_model, eps)
        self.attention = CausalAttention(d_model, num_heads, num_kv_heads, base)
        self.norm2 = RMSNorm(d_model, eps)
        self.feed_forward = SwiGLU(d_model, d_ff)
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """From `(B, L, d_model)` to `(B, L, d_model)`."""
        ### BEGIN SOLUTION
        x = x + self.attention(self.norm1(x))  # (B, L, d_model)
        return x + self.feed_forward(self.norm2(x))  # (B, L, d_model)
        ### END SOLUTION


# %% check="since_2017/block" points=3
# Looks at parameters, at who attends to whom, at values and gradients.
check("since_2017/block", Block)

# %% [markdown]
# ### Exercise 7.10 - The language model
#
# *time ~12 min · difficulty 2/5 · 5 points*
#
# **Task.** Assemble embedding, blocks, a last norm and logits. There is **no** output
# matrix: the logits are dot products with the *embedding's own* vectors (*tied
# embeddings*, Press and Wolf 2017).
#
# **Example.** `LanguageModel(50, 24, 6, 2, num_layers=3, d_ff=48)` maps ids `(B, L)` to
# logits `(B, L, 50)`.
#
# <details><summary>Contract</summary>
#
# - Submodules: `embedding`, `blocks` (an `nn.ModuleList` or `nn.Sequential`) and
#   `norm`.
# - `base` and `eps` are passed on to the blocks; the last norm has the same `eps`.
# - Embeddings and logits are not scaled by $\sqrt{d_{model}}$.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# A logit says how well a token fits. Which vector of size `d_model` does every token
# already have?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# ids                   (B, L)
# embedded, blocks      (B, L, d_model)
# norm                  (B, L, d_model)
# embedding.weight      (V, d_model)
# logits                (B, L, V)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# x = embedding of the ids
# for each block: x = block(x)
# logits = norm(x) times each row of the embedding's weight
# ```
#
# </details>


# %% exercise="since_2017/language_model"
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
        ### BEGIN SOLUTION
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList(
            Block(d_model, num_heads, num_kv_heads, d_ff, base, eps)
            for _ in range(num_layers)
        )
        self.norm = RMSNorm(d_model, eps)
        ### END SOLUTION

    def forward(self, ids: Tensor) -> Tensor:
        """Logits `(B, L, V)` for the token after each position of ids `(B, L)`."""
        ### BEGIN SOLUTION
        x = self.embedding(ids)  # (B, L, d_model)
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), self.embedding.weight)  # (B, L, V)
        ### END SOLUTION


# %% check="since_2017/language_model" points=5
# Looks at parameters, at which position affects which, at logits and gradients.
check("since_2017/language_model", LanguageModel)

# %% [markdown]
# | your name | the name in a published Llama |
# |---|---|
# | `embedding.weight` | `model.embed_tokens.weight` |
# | `blocks.0.norm1.weight` | `model.layers.0.input_layernorm.weight` |
# | `blocks.0.attention.w_q.weight` | `model.layers.0.self_attn.q_proj.weight` |
# | `blocks.0.attention.w_k.weight` | `model.layers.0.self_attn.k_proj.weight` |
# | `blocks.0.attention.w_v.weight` | `model.layers.0.self_attn.v_proj.weight` |
# | `blocks.0.attention.w_o.weight` | `model.layers.0.self_attn.o_proj.weight` |
# | `blocks.0.norm2.weight` | `model.layers.0.post_attention_layernorm.weight` |
# | `blocks.0.feed_forward.w_gate.weight` | `model.layers.0.mlp.gate_proj.weight` |
# | `blocks.0.feed_forward.w_up.weight` | `model.layers.0.mlp.up_proj.weight` |
# | `blocks.0.feed_forward.w_down.weight` | `model.layers.0.mlp.down_proj.weight` |
# | `norm.weight` | `model.norm.weight` |
#
# The course comes with a small Llama: random weights, chosen so that attention is far
# from uniform, and the logits that the `transformers` library computes from them. The
# next cell loads the weights into your model by the names in the table. If the library
# is installed (`pip install transformers`), it also computes the logits afresh.
#
# A small difference proves something only if mistakes make a large one. So the cell
# also changes the weights in such a way that correct code gives the same logits as
# three popular mistakes.


# %%
def llama_name(name: str) -> str:
    """The name that a published Llama gives to one of our parameters."""
    renamed = {
        "embedding": "model.embed_tokens", "norm": "model.norm",
        "blocks": "model.layers", "attention": "self_attn", "feed_forward": "mlp",
        "norm1": "input_layernorm", "norm2": "post_attention_layernorm",
        "router": "gate",  # of a mixture of experts
    }  # fmt: skip
    parts = [renamed.get(part, part) for part in name.split(".")]
    return ".".join(re.sub("^w_(.*)", r"\1_proj", part) for part in parts)


def compare(kind: str, model: nn.Module, mistakes: Mapping[str, nn.Module]) -> None:
    """Print how far logits are from those of transformers, also after mistakes."""
    theirs = likeness.stored(kind)

    def logits(model: nn.Module, weights: Mapping[str, Tensor]) -> Tensor:
        named = {name: weights[llama_name(name)] for name in model.state_dict()}
        model.load_state_dict(named)
        with torch.no_grad():
            return model(theirs.ids)

    def tell(who: str, found: Tensor) -> None:
        print(f"    {who:<40} {theirs.gap(found):9.5f}")

    print(f"transformers' {likeness.KINDS[kind][0]}, logits up to "
          f"{theirs.logits.abs().max():.1f}; largest difference:")  # fmt: skip
    tell("your model", logits(model, theirs.weights))
    if (live := likeness.live(kind)) is not None:
        tell("transformers, computed just now", live)
    for mistake, weights in likeness.mistaken(theirs.weights).items():
        tell(mistake, logits(model, weights))
    for mistake, other in mistakes.items():
        tell(mistake, logits(other, theirs.weights))


@demo
def against_a_llama():
    other = LanguageModel(**likeness.SIZES, base=1e6)
    compare("llama", LanguageModel(**likeness.SIZES), {"base 1,000,000": other})


# %% [markdown]
# For your model, the difference is only rounding. Each mistake changes some logit by
# more than half of the largest one, so none of them could hide.
#
# ## 6. Never compute anything twice
#
# Greedy decoding, as you wrote it in unit 5, feeds *all* tokens so far in each step.
# But under a causal mask the keys and values of old positions never change. Compute
# them once, keep them in a **cache**, and feed only the newest token: `T` positions in
# all, instead of $1 + 2 + \dots + T$. Three things need care: positions are rotated, so
# new ones need an **offset**; there are fewer heads of keys and values than of queries;
# and a whole **chunk** of new positions may come at once. (A prompt is such a chunk:
# the model reads it in one pass, then writes token by token.)
#
# ```text
# in the cache            new chunk x            position of x[0] is T, not 0
# k0 k1 … k(T-1)          kT  k(T+1)             new position i may attend to
# v0 v1 … v(T-1)          vT  v(T+1)             0 … T-1, and T … T+i
# ```
#
# ### Exercise 7.11 - Attention with a cache
#
# *time ~25 min · difficulty 4/5 · 8 points*
#
# A cache decides whether a model answers or keeps you waiting. And its bugs are silent,
# because text still comes out.
#
# **Task.** Compute the output of `layer` for the new positions `x` only. `cache` is
# `None` at first, then what your last call returned; its form is up to you.
#
# **Example.** After a prompt of 5, `attend_with_cache(layer, x, cache)` with `x (B, 1,
# d_model)` returns what `layer` gives at position 5 of the whole text, `(B, 1,
# d_model)`.
#
# <details><summary>Contract</summary>
#
# - `layer` has the attributes of your `CausalAttention`, both submodules and numbers.
# - Project each position once; keep rotated keys and plain values, with `g` heads.
# - The old cache is not modified: the caller may go back to it.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# There are `T` old positions and `n` new ones. How many rows and how many columns does
# the mask have? And which of its entries are False if `n = 1`?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# x                  (B, n, d_model)
# q, new k, new v    (B, h, n, d_k), (B, g, n, d_k) twice    rotated from position T
# k, v with old      (B, g, T + n, d_k)
# mask               (n, T + n)         the last n rows of a causal mask of T + n
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# T = how many positions are in the cache, 0 if there is none
# q, k, v of the new positions; rotate q and k by the angles of positions T, T + 1, ...
# if there is a cache: old keys before new ones; old values before new ones
# grouped attention with the last n rows of the causal mask of T + n
# merge, w_o; return the output, and keys and values as the new cache
# ```
#
# </details>


# %% exercise="since_2017/attend_with_cache"
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
    ### BEGIN SOLUTION
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
    ### END SOLUTION


# %% check="since_2017/attend_with_cache" points=8
# Feeds chunks of several lengths, goes back to an old cache, counts what is projected.
check("since_2017/attend_with_cache", attend_with_cache)

# %% [markdown]
# The rest of the model treats each position separately, so the whole model with a cache
# is a short loop:


# %%
def cached_logits(
    model: nn.Module, ids: Tensor, caches: list | None = None
) -> tuple[Tensor, list]:
    """Logits `(B, n, V)` of new ids `(B, n)`, and the caches of all blocks."""
    x, after = model.embedding(ids), []
    for block, cache in zip(
        model.blocks, caches or [None] * len(model.blocks), strict=True
    ):
        seen, cache = attend_with_cache(block.attention, block.norm1(x), cache)
        x = x + seen
        x = x + block.feed_forward(block.norm2(x))
        after.append(cache)
    return F.linear(model.norm(x), model.embedding.weight), after


# %%
@demo
def computed_or_looked_up():
    torch.manual_seed(6)
    layer, x = CausalAttention(16, 4, 2), torch.randn(1, 6, 16)
    rows: list[int] = []  # positions whose keys the layer projects, call by call
    layer.w_k.register_forward_hook(lambda _, given, out: rows.append(out.size(1)))
    cache = None
    for n in range(6):
        _, cache = attend_with_cache(layer, x[:, n : n + 1], cache)
    for n in range(6):
        attend_with_cache(layer, x[:, : n + 1], None)
    pictures.cache(without=rows[6:], cached=rows[:6])


# %% [markdown]
# **Predict first.** We feed 512 tokens one by one and measure the time for each.
# Without a cache, the whole text is computed again for each token. What do the two
# curves look like?


# %% folded=true
# @title The shortest of three runs, in milliseconds
def milliseconds(work: Callable) -> float:
    runs = []
    for _ in range(3):
        started = time.perf_counter()
        work()
        runs.append(1000 * (time.perf_counter() - started))
    return min(runs)


# %%
@demo
def cost_per_token():
    torch.manual_seed(6)
    model = LanguageModel(128, 64, 8, 2, 2, 192).eval()
    ids, asked = torch.randint(128, (1, 512)), range(32, 513, 32)
    without, cached, gap = [], [], 0.0
    with torch.no_grad():
        whole = model(ids)
        for n in asked:
            before, new = ids[:, : n - 1], ids[:, n - 1 : n]
            without.append(milliseconds(lambda n=n: model(ids[:, :n])))
            _, c = cached_logits(model, before)
            cached.append(milliseconds(lambda i=new, c=c: cached_logits(model, i, c)))
            logits, _ = cached_logits(model, new, c)
            gap = max(gap, (logits[:, 0] - whole[:, n - 1]).abs().max().item())
    pictures.cost(asked, {"without a cache": without, "with a cache": cached})
    print(f"largest difference between logits with and without a cache: {gap:.1e}")


# %% [markdown]
# Without a cache, a token costs more the longer the text is, because every earlier
# position is computed again. With one, the curve is nearly flat: what still grows is
# the attention to the cached keys, which at this size is little.
#
# What does the cache cost in memory? **Predict first** for a model the size of LLaMA
# 7B, with 32 layers and 32 heads of 128 components, at 4,096 tokens with two bytes per
# number: megabytes or gigabytes?


# %%
@demo
def bytes_of_the_cache():
    """The cache of a model the size of LLaMA 7B for one text of 4,096 tokens."""
    layers, d_k, length, bytes_each = 32, 128, 4096, 2
    for name, groups in (("MHA", 32), ("GQA", 8), ("MQA", 1)):
        size = 2 * layers * groups * d_k * length * bytes_each  # keys and values
        print(f"{name}: {groups:2d} heads of keys and values: {size / 2**20:7,.0f} MiB")


# %% [markdown]
# Two gigabytes for *one* text with multi-head attention, half a gigabyte with eight
# heads of keys and values, and 64 megabytes with one. This is what the groups are for.

# %% [markdown]
# ## 7. 2025/26
#
# Most of today's open models descend from LLaMA's design, but they have moved on. Many
# of them share four changes: norms for queries and keys, layers that see only a window,
# experts in place of one feed-forward network, and an optimizer made for matrices. You
# build each of them in a few lines, check the layers against independent
# implementations, and measure what each change buys for the same number of steps.

# %% folded=true
# @title Small models with new parts, and one seed for all that follows
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
    return trials.quiet_start(exchanged(LanguageModel(**SMALL), **parts), SEED)


# %% [markdown]
# ### A norm for queries and keys
#
# Nothing limits the size of a score. If queries and keys both double during training,
# their dot products become four times as large, and a softmax over large scores puts
# all its weight on one key and passes on almost no gradient. When Dehghani et al. 2023
# (section 2) scaled a vision Transformer to 8 billion parameters, training diverged for
# this reason. The cure goes back to Henry et al. 2020: **normalise the queries and keys
# of each head** before they are compared. Qwen3 (Yang et al. 2025, section 2) and Gemma
# 3 do so with an RMSNorm; OLMo 2 normalises all heads of a position together.
#
# **Predict first.** RMSNorm gives a vector of $d_k$ components the length $\sqrt{d_k}$,
# as long as its weights are ones. With $d_k = 16$, how large can a score
# $q \cdot k / \sqrt{d_k}$ become?
#
# ### Exercise 7.12 - Attention with QK-norm
#
# *time ~12 min · difficulty 2/5 · 3 points*
#
# **Task.** Write `QKNormAttention`: your `CausalAttention`, with each head's queries
# and keys normalised before they are rotated. All heads share two `RMSNorm`s of size
# `d_k`: one for queries, one for keys.
#
# **Example.** `QKNormAttention(16, 4, 2)` has two more parameters than
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


# %% exercise="since_2017/qk_norm"
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
        ### BEGIN SOLUTION
        super().__init__(d_model, num_heads, num_kv_heads, base)
        d_k = d_model // num_heads
        self.q_norm, self.k_norm = RMSNorm(d_k, eps), RMSNorm(d_k, eps)
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """From `(B, L, d_model)` to `(B, L, d_model)`; no position sees a later one."""
        ### BEGIN SOLUTION
        q = mha.split_heads(self.w_q(x), self.num_heads)  # (B, h, L, d_k)
        k = mha.split_heads(self.w_k(x), self.num_kv_heads)  # (B, g, L, d_k)
        v = mha.split_heads(self.w_v(x), self.num_kv_heads)  # (B, g, L, d_k)
        q, k = self.q_norm(q), self.k_norm(k)
        angles = rotary_angles(x.size(1), q.size(-1), base=self.base)  # (L, d_k / 2)
        q, k = rotate(q, angles), rotate(k, angles)
        heads, _ = grouped_attention(q, k, v, attention.causal_mask(x.size(1)))
        return self.w_o(mha.merge_heads(heads))  # (B, L, d_model)
        ### END SOLUTION


# %% check="since_2017/qk_norm" points=3
# Checks parameters, which position sees which, values and gradients.
check("since_2017/qk_norm", QKNormAttention)

# %% [markdown]
# The next cell puts your layer into the model of exercise 7.10 and compares it with a
# miniature Qwen3.


# %%
@demo
def against_a_qwen3():
    def model(layer: type[nn.Module], base: float) -> nn.Module:
        made = LanguageModel(**likeness.SIZES)
        return exchanged(made, attention=lambda: layer(32, 4, 2, base=base))

    compare("qwen3", model(QKNormAttention, 1e6), {
        "without the two norms": model(CausalAttention, 1e6),
        "with LLaMA's base, 10,000": model(QKNormAttention, 1e4),
    })  # fmt: skip


# %% [markdown]
# The prediction: two vectors of length $\sqrt{d_k}$ have a dot product of at most
# $d_k$, so no score exceeds $\sqrt{d_k} = 4$ while the norms' weights are ones. The
# weights are trained, so larger scores remain possible. But now they can come only from
# $2 d_k$ parameters per layer; they are no longer a side effect of training all the
# others.
#
# What does it buy? Two small models start from the same matrices and see the same
# batches, at a rather high learning rate (0.03). The figure follows the largest score
# on text that neither model was trained on.


# %% folded=true
# @title The largest score in a model
def compared(layer: nn.Module, x: Tensor) -> list[Tensor]:
    """Queries `(B, h, L, d_k)` and keys `(B, g, L, d_k)` as a layer compares them."""
    ready = []
    for kind, heads in (("q", layer.num_heads), ("k", layer.num_kv_heads)):
        part = mha.split_heads(getattr(layer, f"w_{kind}")(x), heads)
        if isinstance(layer, QKNormAttention):
            part = getattr(layer, f"{kind}_norm")(part)
        turns = rotary_angles(x.size(1), part.size(-1), base=layer.base)
        ready.append(rotate(part, turns))
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
    require_solved(largest_score, QKNormAttention)
    ids = trials.new_windows(32)[:32]

    def curve(name: str, layer: type[nn.Module]) -> list[float]:
        model = small_model(attention=lambda: layer(32, 4, 2, base=1e4))
        run = trials.train(
            model, 200, SEED, optimizers=[trials.adamw(model.parameters(), 0.03)],
            watch=lambda: largest_score(model, ids),
        )  # fmt: skip
        print(f"{name:<13} largest score {run.watched[-1]:4.1f}; {run}")
        return run.watched

    pictures.largest_scores({
        "without": curve("without", CausalAttention),
        "with QK-norm": curve("with QK-norm", QKNormAttention),
    })  # fmt: skip


# %% [markdown]
# With the norms, the largest score stays about three to six times smaller for each of
# the five seeds that we tried. The loss is another matter: the norms lower it for some
# seeds and raise it for others, because a model of this size does not diverge even
# without them. QK-norm is a safety measure for large models, and it costs two vectors
# of weights per layer.
#
# ### A window on the past
#
# The cache of section 6 grows with the text, in every layer. Most heads attend to
# nearby positions most of the time, so a **sliding window** is enough for most layers:
# each position sees itself and the $w - 1$ positions before it (Beltagy et al. 2020;
# Jiang et al. 2023, section 2, Mistral 7B with $w$ = 4,096). A layer with a window
# keeps the keys and values of the last $w$ positions and forgets older ones.
# Information can still travel further, by up to $w - 1$ positions per layer. Gemma 3
# (Gemma Team 2025, section 2) places five such *local* layers before each *global* one,
# with $w$ = 1,024.
#
# ### Exercise 7.13 - The mask of a window
#
# *time ~6 min · difficulty 1/5 · 2 points*
#
# **Task.** Return the causal mask in which each query sees at most `window` positions,
# itself included. Without a window, return the plain causal mask.
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


# %% exercise="since_2017/window_mask"
def window_mask(length: int, window: int | None = None) -> Tensor:
    """The mask of causal attention with a sliding window (Beltagy et al. 2020).

    Args:
        length: number of positions, L.
        window: how many positions a query sees, itself included; None: all so far.

    Returns:
        A boolean mask `(L, L)`, a row for each query.
    """
    ### BEGIN SOLUTION
    positions = torch.arange(length)
    distance = positions[:, None] - positions  # (L, L)
    allowed = distance >= 0
    return allowed if window is None else allowed & (distance < window)
    ### END SOLUTION


# %% check="since_2017/window_mask" points=2
# Checks windows of several widths, wider ones than the text, and none.
check("since_2017/window_mask", window_mask)

# %% [markdown]
# ### Exercise 7.14 - The bytes of a cache
#
# *time ~6 min · difficulty 1/5 · 2 points*
#
# **Task.** Return how many bytes the cache of one text takes. `windows` has an entry
# for each layer: its window, or `None` for a global layer.
#
# **Example.** `cache_bytes([None, 4], length=10, num_kv_heads=2, d_k=8)` is 896: the
# first layer keeps 10 positions, the second one 4, each with 2 keys and 2 values of 8
# components, 2 bytes each.
#
# <details><summary>Contract</summary>
#
# - The result is a Python integer.
# - A layer never keeps more positions than the text has.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# A window of 1,024 and a text of 300 tokens: how many positions are kept?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# keys of one layer      (g, positions kept, d_k)
# values of one layer    (g, positions kept, d_k)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# positions kept, summed over the layers: the length, or the window if that is smaller
# times 2 (keys and values), heads, components and bytes
# ```
#
# </details>


# %% exercise="since_2017/cache_bytes"
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
    ### BEGIN SOLUTION
    kept = sum(length if window is None else min(window, length) for window in windows)
    return 2 * kept * num_kv_heads * d_k * bytes_per_entry  # keys and values
    ### END SOLUTION


# %% check="since_2017/cache_bytes" points=2
# Checks layers of both kinds, texts longer and shorter than a window, and the bytes.
check("since_2017/cache_bytes", cache_bytes)


# %% [markdown]
# **Predict first.** Gemma 3 27B has 62 layers, of which every sixth is global, and 16
# heads of keys and values with 128 components each. For a text of 131,072 tokens, how
# large is its cache, compared with 62 global layers: about 1/2, 1/6 or 1/60?


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
# Close to 1/6: for a long text, the local layers hardly count. For a short one, they
# save nothing. Here is the layer, which is `CausalAttention` with a different mask:


# %%
class WindowAttention(CausalAttention):
    """Causal attention in which each position sees at most `window` positions."""

    window: int | None = None  # None: all so far

    def forward(self, x: Tensor) -> Tensor:
        q, k = compared(self, x)  # rotated
        values = mha.split_heads(self.w_v(x), self.num_kv_heads)  # (B, g, L, d_k)
        mask = window_mask(x.size(1), self.window)
        seen, _ = grouped_attention(q, k, values, mask)
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
        made = LanguageModel(**likeness.SIZES)
        return exchanged(made, attention=with_window(window))

    compare("mistral", model(4), {
        "a window that is larger by one": model(5), "no window": model(None),
    })  # fmt: skip


# %% [markdown]
# **Predict first.** Two models are trained on texts of 32 bytes. One has global layers;
# in the other, each position sees only 8. What happens to their losses when they read
# 64 or 128 bytes at a time?


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
# Without a window, the loss rises with the length: rotary positions alone do not carry
# over to distances that never occurred in training. With a window, no such distance
# exists, so the loss even *falls*, because a smaller share of a longer text has little
# or no past. At the training length, the two are close. This holds for a small model
# and short sentences; one that has to look up a name 10,000 tokens back needs its
# global layers. Nor does a mask save any computing time: only a cache that forgets
# saves time and memory.
#
# ### Experts
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
# ### Exercise 7.15 - Routing
#
# *time ~8 min · difficulty 2/5 · 2 points*
#
# **Task.** Return the weight of each expert: a softmax over the `top_k` largest logits
# of each token, and 0 for all other experts.
#
# **Example.** `route(torch.tensor([1.0, 3.0, 0.0, 3.0]), 2)` is `[0, 0.5, 0, 0.5]`.
#
# <details><summary>Contract</summary>
#
# - Any number of leading dimensions; `logits` is not modified.
# - Exactly `top_k` experts are chosen; if logits are equal, it does not matter which.
# - Gradients flow to the logits that were chosen.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Which weight does softmax give to a logit of `-inf`?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# logits               (..., E)
# largest, indices     (..., k)     torch.topk gives both
# result               (..., E)     rows that sum to 1
# ```
#
# `Tensor.scatter` writes values at given indices.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# values, indices = the top_k largest logits
# weights = softmax of the values
# zeros like the logits, with the weights at the indices
# ```
#
# </details>


# %% exercise="since_2017/route"
def route(logits: Tensor, top_k: int) -> Tensor:
    """The weights of the experts for each token (Jiang et al. 2024, section 2.1).

    Args:
        logits: of the router, shape `(..., E)`.
        top_k: how many experts each token is sent to.

    Returns:
        Weights, shape `(..., E)`: `top_k` of them positive, the others 0.
    """
    ### BEGIN SOLUTION
    values, indices = logits.topk(top_k, dim=-1)  # (..., k)
    return torch.zeros_like(logits).scatter(-1, indices, values.softmax(dim=-1))
    ### END SOLUTION


# %% check="since_2017/route" points=2
# Checks one token and many, one expert and several, large logits and gradients.
check("since_2017/route", route)

# %% [markdown]
# ### Exercise 7.16 - A mixture of experts
#
# *time ~15 min · difficulty 3/5 · 3 points*
#
# **Task.** Write a module with a router and `SwiGLU` networks as experts. For each
# vector, return the weighted sum of its experts' outputs.
#
# **Example.** `MixtureOfExperts(8, 12, num_experts=4)` maps `(2, 5, 8)` to `(2, 5, 8)`.
# For these 10 vectors, the experts compute 20 in all, not 40.
#
# <details><summary>Contract</summary>
#
# - Submodules `router` (`nn.Linear` without bias) and `experts` (an `nn.ModuleList` of
#   `SwiGLU(d_model, d_ff)`).
# - An expert computes only the vectors that are routed to it; there may be none.
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
# weights = route(router(x))
# output = zeros like x
# for each expert i:
#     chosen = where weights[..., i] is positive
#     output[chosen] += weight of the chosen ones * expert(x[chosen])
# ```
#
# </details>


# %% exercise="since_2017/mixture"
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
        self.experts = nn.ModuleList(SwiGLU(d_model, d_ff) for _ in range(num_experts))
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """From `(..., d_model)` to `(..., d_model)`, each position on its own."""
        ### BEGIN SOLUTION
        weights = route(self.router(x), self.top_k)  # (..., E)
        output = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            chosen = weights[..., i] > 0  # (...)
            output[chosen] += weights[..., i][chosen].unsqueeze(-1) * expert(x[chosen])
        return output  # (..., d_model)
        ### END SOLUTION


# %% check="since_2017/mixture" points=3
# Checks parameters, values, gradients, and how many vectors the experts compute.
check("since_2017/mixture", MixtureOfExperts)


# %%
@demo
def against_a_mixtral():
    def model(top_k: int) -> nn.Module:
        made = LanguageModel(**likeness.SIZES, base=1e6)
        return exchanged(made, feed_forward=lambda: MixtureOfExperts(32, 48, 4, top_k))

    compare("mixtral", model(2), {
        "one expert per token": model(1), "three experts per token": model(3),
    })  # fmt: skip


# %% [markdown]
# An expert that gets few tokens learns little, so it gets even fewer. The usual remedy
# is a loss that favours using all experts equally (Fedus et al. 2022, equations 4 to
# 6). Let $f_i$ be the share of tokens that are sent to expert $i$, and $P_i$ the mean
# probability that a softmax over *all* logits gives to it. Then
#
# $$\mathcal{L}_\text{balance} = E \sum_{i=1}^{E} f_i \, P_i$$
#
# The shares $f_i$ come from counting, so no gradient flows through them. The gradient
# flows through the $P_i$, and it pushes down most strongly the experts that are used
# most.
#
# ### Exercise 7.17 - The load-balancing loss
#
# *time ~8 min · difficulty 2/5 · 2 points*
#
# **Task.** Return $\mathcal{L}_\text{balance}$ of all tokens of a batch. A token counts
# for each of its `top_k` experts.
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
# f = mean over the tokens of (route(logits) is positive)
# P = mean over the tokens of the softmax over all experts
# E * sum of f * P
# ```
#
# </details>


# %% exercise="since_2017/load_balance"
def load_balance(logits: Tensor, top_k: int) -> Tensor:
    """The load-balancing loss of a router (Fedus et al. 2022, equations 4 to 6).

    Args:
        logits: of the router, shape `(..., E)`.
        top_k: how many experts each token is sent to.

    Returns:
        The loss, shape `()`: `top_k` if all experts are used alike.
    """
    ### BEGIN SOLUTION
    rows = logits.flatten(0, -2)  # (N, E)
    shares = (route(rows, top_k) > 0).to(rows.dtype).mean(dim=0)  # (E,)
    probabilities = rows.softmax(dim=-1).mean(dim=0)  # (E,)
    return rows.size(-1) * (shares * probabilities).sum()
    ### END SOLUTION


# %% check="since_2017/load_balance" points=2
# Checks even and uneven loads, one and several experts per token, and the gradient.
check("since_2017/load_balance", load_balance)

# %% [markdown]
# Now compare three models with the same amount of computation per token. The
# feed-forward network of the first one has 64 hidden components; the others have four
# experts of 32, of which each token uses two. The third one also minimises 0.01 times
# the balancing loss.
#
# **Predict first.** Without that loss, does one expert get everything?


# %% folded=true
# @title How much each expert is used while a mixture is trained
def routers_of(model: nn.Module) -> list[Tensor]:
    """A list that holds each router's logits `(B, L, E)` of the model's last call."""
    kept = []
    for number, block in enumerate(model.blocks):
        kept.append(torch.zeros(1, 1, 4))
        block.feed_forward.router.register_forward_hook(
            lambda _, given, logits, number=number: kept.__setitem__(number, logits)
        )
    return kept


def load_of(logits: Tensor) -> Tensor:
    """Each expert's share of all slots, `(E,)`."""
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
    require_solved(route, MixtureOfExperts, load_balance)
    dense = small_model()
    print(f"{'dense':<15} {trials.train(dense, STEPS_OF_EXPERTS, SEED)}")
    pictures.loads({
        "without": mixture_trained("without", 0.0),
        "with balancing": mixture_trained("with balancing", 0.01),
    })  # fmt: skip


# %% [markdown]
# Not quite. Without the balancing loss, the load is uneven: at some point in training,
# one expert of a block gets only a few percent of the tokens. Which one it is, and
# whether it recovers, depends on the seed. With the balancing loss, each expert soon
# gets about a quarter.
#
# And what do experts buy? After 300 steps, hardly anything: the three losses are close,
# their order depends on the seed, and the dense network takes less time. Each expert
# sees about half of the tokens, so it has had half as many chances to learn. After
# 1,000 steps, both mixtures were ahead for each seed that we tried, by 0.01 to 0.1
# nats; set `STEPS_OF_EXPERTS` to see this. A dense network with as many parameters as
# all experts together is better still, and on one CPU it is also faster. Experts pay
# off where the limit is computation, not memory.
#
# ### An optimizer for matrices
#
# Adam treats a matrix as a list of numbers. But a layer multiplies by this matrix, so
# the singular values of an update decide how far each direction moves. The updates of
# most layers have nearly low rank: a few directions get almost the whole step, and the
# others hardly move. **Muon** (Jordan et al. 2024) takes the momentum of the gradient,
# $M = U S V^\top$, and replaces it by $U V^\top$: the same directions, each with the
# same length of step. Kimi K2 was trained by a variant of it (Kimi Team 2025, section
# 2.1).
#
# A singular value decomposition in each step would be slow. A polynomial does nearly
# the same job. For $X = U S V^\top$,
#
# $$a X + b\,(X X^\top) X + c\,(X X^\top)^2 X = U\,(aS + bS^3 + cS^5)\,V^\top,$$
#
# so it leaves the directions alone and maps each singular value $s$ to $as+bs^3+cs^5$.
# Repeated five times with $a = 3.4445$, $b = -4.7750$, $c = 2.0315$, it brings all but
# the smallest ones close to 1. This is a **Newton-Schulz iteration** with coefficients
# that were tuned for speed; it does not converge to 1, nor does it need to.
#
# **Predict first.** Start from $s = 0.01$. Is it above or below 0.5 after five steps?
#
# ### Exercise 7.18 - Orthogonalise
#
# *time ~12 min · difficulty 2/5 · 3 points*
#
# **Task.** Divide `update` by its Frobenius norm plus `eps`, then apply the polynomial
# `steps` times.
#
# **Example.** For the matrix `[[2.0, 0.0]]`, the singular value is 1 after the
# division. With `steps=1` the result is `[[0.7010, 0.0]]`.
#
# <details><summary>Contract</summary>
#
# - The result has the shape and the dtype of `update`, which is not modified.
# - Matrices may be wide or tall; a matrix of zeros stays zero.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# $X X^\top$ appears twice in the polynomial. How often do you have to compute it?
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


# %% exercise="since_2017/orthogonalise"
def orthogonalise(update: Tensor, steps: int = 5, eps: float = 1e-7) -> Tensor:
    """Bring the singular values of a matrix close to 1 (Jordan et al. 2024, Muon).

    Args:
        update: a matrix `(m, n)`.
        steps: of the Newton-Schulz iteration.
        eps: added to the Frobenius norm.

    Returns:
        A matrix `(m, n)` with the singular vectors of `update`.
    """
    ### BEGIN SOLUTION
    a, b, c = 3.4445, -4.7750, 2.0315
    x = update / (update.norm() + eps)
    for _ in range(steps):
        gram = x @ x.T  # (m, m)
        x = a * x + (b * gram + c * gram @ gram) @ x  # (m, n)
    return x
    ### END SOLUTION


# %% check="since_2017/orthogonalise" points=3
# Checks wide and tall matrices, numbers of steps, small and large entries, and zeros.
check("since_2017/orthogonalise", orthogonalise)


# %%
@demo
def singular_values():
    before = torch.tensor([1.0, 0.3, 0.1, 0.03, 0.01, 0.001])
    before = before / before.norm()  # as `orthogonalise` does first
    for steps in range(6):
        after = orthogonalise(torch.diag(before), steps).diagonal()
        print(f"{steps} steps:", "  ".join(f"{value:6.3f}" for value in after))


# %% [markdown]
# Each column follows one singular value. The fifth one begins near 0.01 and is
# **above** 0.5 after five steps. The first five columns end between 0.68 and 1.10, and
# only the last one, which began a thousand times smaller than the first, is still on
# its way. None of them settles at 1. The coefficients were chosen to raise small values
# fast, since it hardly matters whether a direction gets 0.7 or 1.1 of a step.
#
# The optimizer around this function is short: a running mean of the gradients, as in
# Adam, is mixed with the newest gradient (Nesterov momentum), and the result is
# orthogonalised. Only matrices *inside* the blocks are treated like this. Embeddings
# and norms stay with AdamW: a norm's weight is not a matrix, and each row of an
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
    return [Muon(matrices, rate), trials.adamw(others, 0.01)]


# %%
@demo
def muon_beside_adamw():
    require_solved(orthogonalise)
    plain, other = small_model(), small_model()
    adamw = [trials.adamw(plain.parameters(), 0.02)]
    runs = {
        "AdamW": trials.train(plain, 200, SEED, optimizers=adamw),
        "Muon": trials.train(other, 200, SEED, optimizers=muon_and_adamw(other, 0.05)),
    }
    for name, run in runs.items():
        print(f"{name:<6} {run}")
    pictures.optimizers({name: run.losses for name, run in runs.items()})


# %% [markdown]
# Both learning rates are the best of a small sweep. Muon ends with a lower loss for
# every seed that we tried, by more than the seeds differ from each other. Its lead
# shrinks when both train longer, and each of its steps takes a little more time because
# of the extra matrix products. How much remains in large models is disputed: Liu et al.
# 2025 (Moonlight) report that AdamW needs about twice the computation for the same
# loss, while Wen et al. 2025, who tuned both with equal care, find 1.4 times for small
# models and 1.1 times for one with 1.2 billion parameters.

# %% [markdown]
# ## 8. Which token now?
#
# The model gives logits, and we have to choose a token. Beam search, the choice of
# 2017, looks for the most probable text. For open-ended writing, that text is dull: it
# repeats itself (Holtzman et al. 2020). So we **sample**, usually from a distribution
# that was reshaped first. You know temperature, top-k and top-p from unit 5. Two more
# methods are common.
#
# - **Min-p** (Nguyen et al. 2024): probabilities below `min_p` *times the largest one*
#   become zero, and the rest is rescaled. When the model is certain, few tokens are
#   left; when it is not, many. Whether min-p is better than top-p is disputed:
#   Schaeffer et al. 2025 tuned all samplers equally and found no advantage.
# - **Repetition penalty** $r$ (Keskar et al. 2019): a token that already occurs in the
#   text becomes less probable. The paper divides its logit by $r$. For a negative logit
#   that would be a *reward*, so libraries multiply negative logits by $r$ instead.
#
# **Predict first.** Add 5 to all logits. The softmax does not change, because it
# depends only on differences. Does it change if there is a repetition penalty?


# %%
def published_penalty(logits: Tensor, written: Tensor, penalty: float) -> Tensor:
    """As in libraries: divide positive logits, multiply negative ones."""
    old = logits.gather(1, written)  # (B, T): the logits of tokens in the text
    new = torch.where(old > 0, old / penalty, old * penalty)
    return logits.scatter(1, written, new)


def percent(logits: Tensor) -> str:
    return "  ".join(f"{p:6.1%}" for p in logits.softmax(-1)[0].tolist())


@demo
def add_five_to_all_logits():
    logits, written = torch.tensor([[2.0, 1.0, 0.0, -1.0]]), torch.tensor([[0, 3]])
    print(f"no penalty                      {percent(logits)}")
    for shift in (0, 5, -5):
        shifted = published_penalty(logits + shift, written, 1.5)
        print(f"penalty 1.5, logits shifted {shift:+d}  {percent(shifted)}")


# %% [markdown]
# With the published penalty, it does. Tokens 0 and 3 have occurred, and how much
# probability they lose depends on where the logits happen to have their zero. Nothing
# in training fixes that zero, so the same model, stored with a different constant,
# would write different texts.
#
# ### Exercise 7.19 - A repetition penalty without a zero
#
# *time ~12 min · difficulty 2/5 · 4 points*
#
# Log-probabilities have no such freedom. They are never positive, so one rule is
# enough.
#
# **Task.** Return new logits: multiply the log-probability of each token that occurs in
# the row's text by `penalty`, and keep all others.
#
# **Example.** With probabilities 0.5, 0.25 and 0.25, token 0 written and a penalty of
# 2, the new probabilities are proportional to 0.25, 0.25 and 0.25.
#
# <details><summary>Contract</summary>
#
# - A token that occurs five times is penalised as much as one that occurs once.
# - Row `i` of `written` belongs to row `i` of `logits`, and to no other.
# - A constant added to all logits of a row changes no probability, neither before nor
#   after.
# - `logits` and `written` are not modified; the results may differ by a constant per
#   row.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# A probability of 0.01 has the logarithm -4.6. If you double the logarithm, to which
# probability does it belong?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# logits, log-probabilities     (B, V)
# written                       (B, T)      ids
# occurs                        (B, V)      bool: is this token among the row's ids?
# result                        (B, V)
# ```
#
# `Tensor.scatter` writes values at the indices given by ids.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# log_p = log_softmax of the logits, over the vocabulary
# where a token occurs: penalty * log_p, elsewhere log_p
# ```
#
# </details>


# %% exercise="since_2017/repetition_penalty"
def repetition_penalty(logits: Tensor, written: Tensor, penalty: float) -> Tensor:
    """Make tokens that already occur less probable, wherever logits have their zero.

    Args:
        logits: of the next token, shape `(B, V)`.
        written: the ids so far, shape `(B, T)`, int64.
        penalty: at least 1; 1 changes nothing.

    Returns:
        New logits, shape `(B, V)`.
    """
    ### BEGIN SOLUTION
    log_p = logits.log_softmax(dim=-1)  # (B, V)
    occurs = torch.zeros_like(logits, dtype=torch.bool).scatter(1, written, True)
    return torch.where(occurs, penalty * log_p, log_p)  # (B, V)
    ### END SOLUTION


# %% check="since_2017/repetition_penalty" points=4
# Looks at logits of any height, at each text's own tokens, and at both inputs.
check("since_2017/repetition_penalty", repetition_penalty)


# %%
@demo
def add_five_again():
    logits, written = torch.tensor([[2.0, 1.0, 0.0, -1.0]]), torch.tensor([[0, 3]])
    for shift in (0, 5, -5):
        shifted = repetition_penalty(logits + shift, written, 1.5)
        print(f"penalty 1.5, logits shifted {shift:+d}  {percent(shifted)}")


# %% [markdown]
# Now the three rows agree. Multiplying a logarithm by 1.5 raises its probability to the
# power 1.5; the softmax then rescales all probabilities.
#
# The rest is given. `generate` samples from an **explicit generator**, which makes a
# text repeatable whatever else uses random numbers. A global seed does not: one more
# call of dropout somewhere, and every later token may differ.


# %%
def next_distribution(
    logits: Tensor, written: Tensor, penalty: float = 1.0, temperature: float = 1.0,
    min_p: float = 0.0,
) -> Tensor:  # fmt: skip
    """The probabilities `(B, V)` that the next token is sampled from."""
    if penalty != 1:
        logits = repetition_penalty(logits, written, penalty)
    probabilities = (logits / temperature).softmax(dim=-1)  # (B, V)
    least = min_p * probabilities.amax(dim=-1, keepdim=True)  # (B, 1)
    kept = probabilities.masked_fill(probabilities < least, 0.0)
    return kept / kept.sum(dim=-1, keepdim=True)


@torch.no_grad()
def generate(
    next_logits: Callable[[Tensor], Tensor], prompt: Tensor, count: int,
    generator: torch.Generator, **options: float,
) -> Tensor:  # fmt: skip
    """Write `count` tokens after a prompt `(B, T)`: ids `(B, T + count)`."""
    ids = prompt
    for _ in range(count):
        probabilities = next_distribution(next_logits(ids), ids, **options)  # (B, V)
        sampled = torch.multinomial(probabilities, 1, generator=generator)  # (B, 1)
        ids = torch.cat((ids, sampled), dim=1)
    return ids


# %% [markdown]
# ## 9. How good is it?
#
# A language model is judged by the probability that it gives to text it has not seen.
# The mean negative log-probability of a token, $\ell = -\frac{1}{n}\sum_t \log p(x_t
# \mid x_{<t})$, becomes the **perplexity** $e^\ell$: the number of equally likely
# tokens among which the model seems to choose.
#
# But what is a token? If tokens are long, a text has few of them and the perplexity is
# large; if they are bytes, it has many and the perplexity is small. The two are not
# comparable. **Bits per byte** are: the sum of all negative log-probabilities, in bits,
# over the number of bytes of the text.
#
# And what is $x_{<t}$ if the model sees at most `window` tokens? If you cut the text
# into pieces, the first tokens of each piece have no past. So let windows **overlap**:
# each starts `stride` tokens after the previous one, and counts only tokens that no
# earlier window has counted.
#
# ```text
# window 6, stride 4      x = not counted again, n = counted
# text        0  1  2  3  4  5  6  7  8  9 10
# 1st         .  n  n  n  n  n                        token 0 is never predicted
# 2nd                     x  x  n  n  n  n
# 3rd                                 x  x  n         reaches the end: the last one
# ```
#
# The overlap matters. GPT-2 (large) has a perplexity of 19.4 on WikiText-2 if the
# windows do not overlap, and of 16.4 if they overlap by half (Hugging Face's
# documentation, *Perplexity of fixed-length models*). One model, one text.


# %%
@torch.no_grad()
def sliding_perplexity(
    model: Callable[[Tensor], Tensor], ids: Tensor, window: int, stride: int,
    num_bytes: int,
) -> tuple[float, float]:  # fmt: skip
    """Perplexity per token and bits per byte of a text `(L,)`, with windows.

    The model maps ids `(1, n)` to logits `(1, n, V)`; `num_bytes` is the length of the
    text that is predicted.
    """
    total, scored = 0.0, 1
    for begin in range(0, len(ids), stride):
        end = min(begin + window, len(ids))
        seen = ids[begin:end]  # (n,)
        logits = model(seen.unsqueeze(0))[0]  # (n, V)
        nats = F.cross_entropy(logits[:-1], seen[1:], reduction="none")  # (n - 1,)
        total += nats[-(end - scored) :].sum().item()
        scored = end
        if end == len(ids):
            break
    return math.exp(total / (len(ids) - 1)), total / math.log(2) / num_bytes


# %% [markdown]
# ## 10. Train it
#
# Two things in the recipe below deserve a look before you use them.
#
# **AdamW** keeps two moment estimates per parameter: a running mean $m$ of the
# gradients (which direction?) and a running mean $v$ of their squares (how large are
# they usually?). Both start at zero and are too small at first, which $1 - \beta^t$
# corrects. With step $t = 1, 2, \dots$, rate $\eta$ and gradient $g$:
#
# $$m \leftarrow \beta_1 m + (1 - \beta_1) g, \qquad
# v \leftarrow \beta_2 v + (1 - \beta_2) g^2, \qquad
# \theta \leftarrow (1 - \eta\lambda)\,\theta
# - \eta\,\frac{m / (1 - \beta_1^t)}{\sqrt{v / (1 - \beta_2^t)} + \varepsilon}$$
#
# The **W** is $\lambda$, the weight decay. Adam added the decay to the gradient, where
# it was divided by $\sqrt v$ like everything else, so weights with large gradients
# hardly decayed. Loshchilov and Hutter 2019 took it out (*decoupled*): all weights
# shrink by the same factor.
#
# **Clipping** takes the gradients of all parameters as one long vector, and shortens it
# to `max_norm` if it is longer (Pascanu et al. 2013). One bad batch in a thousand can
# have a gradient a hundred times longer than usual, and one such step can undo a day of
# training.
#
# **Predict first.** Two parameters have gradients of 0.001 and 1000. How far does each
# of them move in the very first step of AdamW?


# %%
@demo
def the_first_step():
    parameter = nn.Parameter(torch.zeros(2))
    parameter.grad = torch.tensor([0.001, 1000.0])
    norm = nn.utils.clip_grad_norm_([parameter], max_norm=1e6)
    torch.optim.AdamW([parameter], lr=0.01, weight_decay=0.0).step()
    moved = [f"{m:.4f}" for m in parameter.detach().abs().tolist()]
    print(f"norm of the gradient {norm:.1f}; both move by {' and '.join(moved)}")


# %% [markdown]
# Both move by the learning rate: in the first step $m / (1 - \beta_1) = g$ and $\sqrt{v
# / (1 - \beta_2)} = |g|$, so the magnitude of the gradient cancels. This is why Adam's
# first steps are bold, and one reason why the learning rate is warmed up.
#
# The text is the course's own: sentences from a grammar, split so that no statement
# (who does what) occurs in both training and test text. Tokens are **bytes**: there is
# no tokenizer and no unknown word, the vocabulary has 128 entries, and bits per byte
# are simply the loss divided by $\log 2$.


# %%
@demo
def the_text():
    text = "\n".join(corpora.generate("a look", 5))
    print(text)
    print(f"{len(text)} bytes; the first ten are {list(text[:10].encode())}")


# %% [markdown]
# ### Exercise 7.20 - The trained model
#
# *time ~25 min, a few of them for the computer · difficulty 3/5 · 7 points*
#
# **Task.** Write `train_model`: train a `new_model()` on the text from `text_ids`, and
# return it. You hand in its weights as `modern.safetensors`.
#
# **Example.** `train_model(3200)` returns a model that gives the next byte of unseen
# text a probability of about 43 %.
#
# A recipe that works: batches of 32 windows that start at random positions of a text of
# 60,000 sentences; the mean loss of every next byte; `torch.optim.AdamW` with
# `betas=(0.9, 0.95)` and `weight_decay=0.1`; clipping at 1; a learning rate of 0.01
# times `rate_factor`, with 5 % of the steps for warm-up. If all randomness derives from
# `seed`, the run is reproducible.
#
# <details><summary>Contract</summary>
#
# - A model that sees the future earns nothing.
#
# </details>
# <details><summary>How it is graded</summary>
#
# Grading never trains: it loads the file into a model of these sizes and measures it on
# unseen text. What counts is the geometric mean of the probabilities of the correct
# bytes (1 over the perplexity). The points grow continuously with this mean:
#
# | probability | perplexity | share of the points | what reaches it |
# |---|---|---|---|
# | 10 % | 10 | 0 | a table of which byte follows which |
# | 30 % | 3.3 | 50 % | |
# | 37 % | 2.7 | 80 % | the recipe, 800 steps |
# | 41.5 % | 2.4 | 100 % | |
# | 43 % | 2.3 | 100 % | the recipe, 3,200 steps |
# | 46 % | 2.2 | 100 % | more steps; from here on a bonus grows |
# | 52 % | 1.9 | 112.5 % | many more, or better ideas |
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# In a window of `WINDOW + 1` bytes, which are shown to the model, and which should it
# predict?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# text                      (n,)                one long row of bytes
# starts                    (32, 1)             random positions
# positions                 (32, WINDOW + 1)    starts + 0, 1, 2, …
# shown, wanted             (32, WINDOW) each
# logits                    (32, WINDOW, 128)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# seed torch; a new model; its optimizer; the text of this seed
# for each step:
#     set the rate of this step in the optimizer's groups
#     a batch: shown bytes, wanted bytes
#     loss = cross-entropy of the logits and the wanted bytes
#     clear the gradients, compute new ones, clip, step
# ```
#
# If the loss stays above 2: does each position predict the *next* byte, or itself?
#
# </details>

# %% exercise="since_2017/trained_model"
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
    ### BEGIN SOLUTION
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
    ### END SOLUTION


def trained_model(weights: str = "modern.safetensors") -> nn.Module:
    """The model that is handed in with the notebook."""
    model = new_model()
    load_model(model, weights)
    return model


# %% [markdown]
# Train the model now, for 3,200 steps, which takes a few minutes. The weights are saved
# beside the notebook, and you hand in both. **After you have changed something,** set
# `TRAIN_ANEW = True` or delete the file.

# %%
TRAIN_ANEW = False
STEPS = 3200
WEIGHTS = Path("modern.safetensors")


@demo
def train_and_save():
    if TRAIN_ANEW or not WEIGHTS.is_file():
        started = time.process_time()
        save_model(train_model(STEPS), str(WEIGHTS))
        print(f"trained in {time.process_time() - started:.0f} CPU seconds")
    model, text = trained_model(), text_ids("held out", 60, "test")
    perplexity, bits = sliding_perplexity(
        model, text, WINDOW, WINDOW // 2, len(text) - 1
    )
    print(f"on {len(text):,} bytes that it has not seen: perplexity {perplexity:.3f} "
          f"a byte, {bits:.3f} bits per byte")  # fmt: skip


# %% check="since_2017/trained_model" points=7
# Measures your model on text that it has not seen.
check("since_2017/trained_model", trained_model)

# %% [markdown]
# How good is that? Without any model, a byte costs 7 bits, since there are 128 possible
# ones. Knowing how often each one occurs brings this down to 4.5 bits, and knowing
# which follows which to 3.3. The recipe reaches about 1.1 bits. Most of the remaining
# loss is the choice of the next *word*, which no model can know. (The check measures a
# little more: its windows do not overlap.)


# %%
@demo
def it_writes():
    model = trained_model().eval()
    prompt = torch.tensor([list(b"Yesterday, ")])
    for name, options in (
        ("temperature 0.5", {"temperature": 0.5}),
        ("temperature 1", {}),
        ("temperature 1, min-p 0.1", {"min_p": 0.1}),
        ("temperature 1.5, min-p 0.1", {"temperature": 1.5, "min_p": 0.1}),
    ):
        generator = torch.Generator().manual_seed(1)
        ids = generate(lambda ids: model(ids)[:, -1], prompt, 130, generator, **options)
        text = bytes(ids[0].tolist()).decode()
        print(f"\n--- {name}\n" + text.rsplit("\n", 1)[0])


# %% [markdown]
# Most words are correct, some sentences are, and few make sense: this is what 48
# thousand parameters can do. At a low temperature, the text is safe. At a high one,
# min-p keeps it readable, because it cuts off the long tail of bytes that do not form a
# word.
#
# ### Two tokens for the price of one
#
# A large model is slow because it writes one token at a time, not because it cannot
# read many at once. So let a **cheap model guess** the next few tokens, and let the
# large one judge all guesses in a single pass (Leviathan et al. 2023; Chen et al.
# 2023). A guess $x$, sampled from the cheap distribution $q$, is kept with probability
# $\min(1, p(x) / q(x))$. At the first guess that is not kept, sample instead from the
# excess of $p$ over $q$, $\max(0, p - q)$, rescaled to sum to 1.
#
# **Predict first.** The cheap model is often wrong. Does the text get worse?


# %%
def kept_or_replaced(p: Tensor, q: Tensor) -> Tensor:
    """The resulting distribution if q guesses and p judges; all `(V,)`."""
    kept = torch.minimum(p, q)  # q times the probability of being kept
    more = (p - q).clamp(min=0)
    return kept + (1 - kept.sum()) * more / more.sum()


@demo
def nothing_changes():
    torch.manual_seed(8)
    for sharpness in (0.5, 2.0, 8.0):
        p, q = (sharpness * torch.randn(2, 1000, dtype=torch.double)).softmax(-1)
        gap = (kept_or_replaced(p, q) - p).abs().max()
        share = torch.minimum(p, q).sum()
        print(f"guesses kept: {share:.1%}, the result differs from p by {gap:.1e}")


# %% folded=true
# @title A table of trigrams guesses, and the model judges
def byte_trigrams(text: Tensor) -> Tensor:
    """A cheap model: `table[a, b]` is the distribution after the bytes a, b."""
    counts = torch.full((128, 128, 128), 1e-3)
    ones = torch.ones(len(text) - 2)
    counts.index_put_((text[:-2], text[1:-1], text[2:]), ones, accumulate=True)
    return counts / counts.sum(-1, keepdim=True)


def speculate(
    model: nn.Module, table: Tensor, ids: Tensor, count: int, ahead: int,
    generator: torch.Generator,
) -> tuple[Tensor, int]:  # fmt: skip
    """Write `count` tokens or a few more after ids `(1, T)`; count the passes."""
    caches, fed, passes, wanted = None, 0, 0, ids.size(1) + count

    def uniform() -> float:
        return torch.rand(1, generator=generator).item()

    while ids.size(1) < wanted:
        known, guess, cheap = ids.size(1), ids, []
        for _ in range(ahead):
            cheap.append(table[guess[0, -2], guess[0, -1]])  # (V,)
            sampled = torch.multinomial(cheap[-1], 1, generator=generator)
            guess = torch.cat((guess, sampled[None]), dim=1)
        logits, new_caches = cached_logits(model, guess[:, fed:], caches)
        passes += 1
        right = logits[0, -ahead - 1 :].softmax(-1)  # (ahead + 1, V)
        last = right[-1]  # if all are kept: one more token, for free
        for i, (p, q) in enumerate(zip(right, cheap, strict=False)):
            token = guess[0, known + i]
            if uniform() >= p[token] / q[token]:
                guess, last = guess[:, : known + i], (p - q).clamp(min=0)
                break
        else:  # only now do all fed tokens belong to the text
            caches, fed = new_caches, guess.size(1)
        ids = torch.cat(
            (guess, torch.multinomial(last, 1, generator=generator)[None]), dim=1
        )
    return ids, passes


def pairs_of_bytes(model: nn.Module, table: Tensor, prompt: Tensor) -> tuple:
    """How often two bytes come next in 4,000 texts, and how often they should."""
    first = model(prompt)[0, -1].softmax(-1)  # (V,)
    both = torch.cat((prompt.expand(128, -1), torch.arange(128)[:, None]), dim=1)
    exact = first[:, None] * model(both)[:, -1].softmax(-1)  # (V, V)
    generator, counts = torch.Generator().manual_seed(4), torch.zeros(128, 128)
    for _ in range(4000):
        ids, _ = speculate(model, table, prompt, 2, 2, generator)
        a, b = ids[0, prompt.size(1) : prompt.size(1) + 2]
        counts[a, b] += 1
    return counts / 4000, exact


# %%
@demo
def guesses_at_work():
    model, table = trained_model().eval(), byte_trigrams(text_ids(0, 20_000))
    prompt = torch.tensor([list(b"Yesterday, ")])
    with torch.no_grad():
        for ahead in (1, 2, 4, 8):
            made = passes = 0
            for seed in range(10):  # ten texts, none longer than those of training
                generator = torch.Generator().manual_seed(seed)
                ids, taken = speculate(model, table, prompt, 80, ahead, generator)
                made, passes = made + ids.size(1) - prompt.size(1), passes + taken
            print(f"{ahead} guesses ahead: {made / passes:.2f} bytes per pass")
        counted, exact = pairs_of_bytes(model, table, prompt)
    print(f"the next two bytes, 4,000 times: total variation from model probabilities "
          f"{(counted - exact).abs().sum() / 2:.3f}")  # fmt: skip
    noise = torch.multinomial(
        exact.flatten(),
        4000,
        replacement=True,
        generator=torch.Generator().manual_seed(3),
    )
    sampled = torch.bincount(noise, minlength=exact.numel()) / 4000
    print(f"4,000 samples of the model itself:                                       "
          f"{(sampled - exact.flatten()).abs().sum() / 2:.3f}")  # fmt: skip


# %% [markdown]
# The distribution does not change, and this is algebra, not luck: the kept guesses and
# the replacements add up to $p$ exactly, however bad the guesses are. The sampled pairs
# differ from the model's own probabilities about as much as 4,000 plain samples do,
# which is sampling noise. A bad guesser only costs time. Guessing further ahead helps
# less and less, since one rejected guess ends a pass.
#
# ### Where do heads look when they have nothing to say?
#
# Attention weights sum to 1, so a head must attend *somewhere*. Large models put the
# leftover weight on the first token, whatever that token is (an **attention sink**,
# Xiao et al. 2024). Does ours?


# %%
def attention_maps(model: nn.Module, ids: Tensor) -> Tensor:
    """Weights of all blocks and heads for ids `(B, L)`: `(blocks, B, h, L, L)`."""
    x, maps = model.embedding(ids), []
    for block in model.blocks:
        layer, normed = block.attention, block.norm1(x)
        angles = rotary_angles(ids.size(1), x.size(-1) // layer.num_heads)
        turned = (
            rotate(mha.split_heads(part(normed), size), angles)
            for part, size in (
                (layer.w_q, layer.num_heads), (layer.w_k, layer.num_kv_heads),
            )
        )  # fmt: skip
        values = mha.split_heads(layer.w_v(normed), layer.num_kv_heads)
        mask = attention.causal_mask(ids.size(1))
        maps.append(grouped_attention(*turned, values, mask)[1])
        x = block(x)
    return torch.stack(maps)


# %%
@demo
def sinks():
    model, text = trained_model().eval(), text_ids("sinks", 300, "test")
    windows = text[: len(text) // 64 * 64].view(-1, 64)[:100]  # anywhere in a sentence
    with torch.no_grad():
        maps = attention_maps(model, windows)  # (blocks, B, h, L, L)
    pictures.sinks(maps.mean(1))  # (blocks, h, L, L)


# %% [markdown]
# It does not: all heads attend nearby, and the first byte gets one percent or less.
# Random starts of windows are not the reason: every window has a *first* position, and
# sinks form there with or without a start token (Gu et al. 2025, in models with tens of
# millions of parameters). More likely, this model is too small and too briefly trained,
# and its task is too easy and local. An effect that fails to appear is also a result.

# %% [markdown]
# ## 11. What does each part buy?
#
# Papers compare models with billions of parameters. How much of the difference is left
# at twenty thousand? We replace **one** part of a small model at a time by its ancestor
# of 2017. All models have the same number of parameters (within one percent: LayerNorm
# has a few more), see the same batches, and are trained for the same number of
# **steps**; the CPU seconds are printed next to the loss.
#
# **Predict first.** Four replacements: RMSNorm → LayerNorm, SwiGLU → ReLU, rotary →
# added sines, grouped → multi-head. Which of them make the loss worse? Rank them.


# %% folded=true
# @title Models with one part of 2017, and how they are trained
class NotRotated(CausalAttention):
    """The attention layer without rotations."""

    def forward(self, x: Tensor) -> Tensor:
        sizes = (self.num_heads, self.num_kv_heads, self.num_kv_heads)
        every = zip((self.w_q, self.w_k, self.w_v), sizes, strict=True)
        q, k, v = (mha.split_heads(layer(x), size) for layer, size in every)
        output, _ = grouped_attention(q, k, v, attention.causal_mask(x.size(1)))
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
    angles = rotary_angles(length, d_model)
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
    model = LanguageModel(128, d_model, heads, groups, 2, d_ff)
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


def mean_loss(model: nn.Module, windows: Tensor) -> Tensor:
    """The mean loss of all bytes but the first of each window, `()`."""
    return F.cross_entropy(model(windows[:, :-1]).transpose(1, 2), windows[:, 1:])


def train_for(
    model: nn.Module, steps: int, seed: int, length: int = 64
) -> tuple[list[float], float]:
    """Train for some steps; return each step's loss and the total CPU seconds."""
    text = text_ids(seed, 20_000)
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
    text = text_ids("fresh", 800, "test")
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
# What we saw with three seeds:
#
# - **Rotary positions make the difference.** Without them the loss is higher by 0.4 to
#   0.5 nats per byte. Section 12 asks whether this is a lasting gain or only faster
#   learning.
# - **The other three replacements hardly matter.** Each changes the loss by 0.1 at
#   most, not much more than a different seed does, and LayerNorm and ReLU lower it for
#   every seed.
# - **Grouped heads** save memory while writing, which training does not measure.
#   **RMSNorm** saves a pass over the vectors, which counts where memory traffic is the
#   limit: on large models with fused kernels, not here. Nor does this refute what
#   Shazeer measured for **SwiGLU** at 220 million parameters, after half a million
#   steps.
#
# So only one of these four changes pays off at this size and after so few steps. A
# change can be right for a large model and worth nothing for yours. Measure.
#
# ## 12. Longer than anything seen
#
# Now replace the positions again, with four kinds of them and a question that training
# never asked: what if the text is twice, or four times, as long?
#
# **Predict first.** Four models are trained on 64 bytes at a time: without any
# positions, with learned ones, with added sines, and with rotations. Which of them cope
# with 128 bytes? Which with 256?

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
# rows 64 to 255 of their table were never trained. The added sines are hardly better
# than no positions at all. So are rotary positions worth half a nat per byte, and do
# they carry over to longer texts?
#
# **Predict first.** We train the same four models ten times as long. What happens to
# the lead of rotary positions at 64 bytes? And at 256?

# %%
TRAIN_LONG = False  # True: 3,000 steps for each, which takes some minutes


@demo
def positions_after_more_steps():
    if not TRAIN_LONG:
        return print("(for TRAIN_LONG = True; the table below has what we measured)")
    losses_by_length(steps=3000)


# %% [markdown]
# Loss on fresh text with this code (three seeds after 300 steps, two after 3,000):
#
# | positions | 300 steps: 64 bytes | 128 | 256 | 3,000 steps: 64 bytes | 128 | 256 |
# |---|---|---|---|---|---|---|
# | rotary | 1.77, 1.73, 1.79 | 1.81, 1.77, 1.82 | 1.88, 1.87, 1.86 | 1.02, 1.03 | 1.30, 1.22 | 2.30, 1.89 |
# | learned | 2.04, 2.14, 2.04 | 2.40, 2.35, 2.44 | 2.55, 2.44, 2.61 | 1.08, 1.09 | 3.01, 2.90 | 3.98, 3.88 |
# | sines, added | 2.22, 2.22, 2.26 | 2.31, 2.32, 2.33 | 2.37, 2.36, 2.38 | 1.22, 1.23 | 2.65, 2.58 | 3.44, 3.46 |
# | none | 2.24, 2.24, 2.26 | 2.28, 2.28, 2.29 | 2.31, 2.31, 2.32 | 1.75, 1.78 | 2.01, 1.93 | 2.25, 2.12 |
#
# - **Learning faster is not learning better.** Over learned positions, rotary's lead at
#   64 bytes shrinks from 0.2 to 0.4 nats to less than 0.1; over the sines, from 0.4 to
#   0.5 nats to 0.2. Most of what the short comparison showed is that rotary positions
#   are learnt sooner.
# - **Longer training makes the cliff steeper.** From 64 to 256 bytes, the loss of each
#   model rises more after 3,000 steps than after 300: by about 1 nat with rotary
#   positions, by more than 2 with learned ones or sines. Without positions it rises
#   least, and at 256 bytes it ends up near that of rotary ones: higher with one seed,
#   lower with the other. Kazemnejad et al. 2023 go further: in their tasks, decoders
#   without positions carried over to longer texts better than those with rotary ones.
#
# How does your own model of section 10 fare, which was trained on 96 bytes?


# %%
@demo
def trained_longer():
    model = trained_model().eval()
    for length in (48, WINDOW, 128, 192, 256):
        loss = loss_on_fresh_text(model, length)
        print(f"{length:>3} bytes in a window: loss on fresh text {loss:.2f}")


# %% [markdown]
# Up to 96 bytes, more context helps. Beyond that, the loss rises, and at 256 bytes it
# is far higher than at 48.
#
# *Question in words (3 points, time ~10 min).* A friend looks at figure 7.13 and says:
# "Rotary positions generalise to any length." Explain in three to five sentences what
# longer training shows, why a distance larger than any in training is a problem even
# for rotations, and why the model that was trained *longer* suffers *more*. What would
# you measure next?
#
# *What a full answer has: the longer runs contradict the claim (1); a reason that names
# unseen distances or angles, and what the longer-trained model relies on (1); a
# measurement that could decide (1).*

# %% [markdown] written="since_2017/positions" points=3
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
# ## 13. Bug clinic: a test for cached decoding
#
# A cache must change nothing but the time. If it does change something, text still
# comes out, and it looks fine for the first ten tokens. Here are four bugs that look
# like correct code:
#
# 1. **the offset is forgotten**: new positions are rotated as if the text began with
#    them;
# 2. **the cache is not cut**: after guesses were rejected, their keys and values are
#    still there;
# 3. **the wrong group**: query head `i` uses key head `i % g` instead of the one that
#    it shares with its neighbours;
# 4. **the norm runs in half precision**: the numbers are nearly right.
#
# The fourth one is invisible to the eye. A test of twenty lines finds all four. Here is
# a correct decoder, so that you can see what your test will be given:


# %%
class Decoder:
    """A language model with a cache, such as your test will receive."""

    def __init__(self, model: nn.Module):
        self.model, self.vocab_size = model, model.embedding.num_embeddings
        self.start()

    def full(self, ids: Tensor) -> Tensor:
        """Logits `(B, L, V)` of ids `(B, L)`, computed without the cache."""
        return self.model(ids)

    def start(self) -> None:
        """Forget all that was fed; a different batch may follow."""
        self.ids: Tensor | None = None
        self.caches: list | None = None

    def feed(self, ids: Tensor) -> Tensor:
        """Logits `(B, n, V)` of new ids `(B, n)`, after those that were fed before."""
        logits, self.caches = cached_logits(self.model, ids, self.caches)
        self.ids = ids if self.ids is None else torch.cat((self.ids, ids), dim=1)
        return logits

    def cut(self, length: int) -> None:
        """Forget all but the first `length` positions; here, by reading them again."""
        kept = self.ids[:, :length]
        self.start()
        if length:
            self.feed(kept)


# %% [markdown]
# ### Exercise 7.21 - A test for cached decoding
#
# *time ~25 min · difficulty 4/5 · 4 points*
#
# **Task.** Write a test for *any* decoder. Return quietly if `feed` gives the logits
# that `full` gives at the same positions, and raise `AssertionError` if not. You may
# trust `full`.
#
# **Example.** `assert_cached_decoding(Decoder(model))` passes. With a forgotten offset
# in `feed`, it raises.
#
# <details><summary>Contract</summary>
#
# - A decoder is correct if `feed` equals `full` in any chunks, after any `cut`, after a
#   second `start`, and for each row of a batch.
# - `cut(0)` to `cut(length so far)` are allowed, and different tokens may follow.
# - Call `start()` before the first `feed`; you may call it again.
# - Correct decoders differ from `full` by less than 1e-5, and your test accepts them.
# - Faulty ones differ by more than 1e-4 somewhere, and your test rejects them.
# - Texts have at most 32 positions.
# - A faulty decoder may crash in your test; this counts as rejected. Raise no other
#   error of your own.
#
# </details>
# <details><summary>How it is graded</summary>
#
# Your test runs on correct decoders, written in two styles, and on faulty ones: the
# four above and others. Each correct one comes with two faulty ones, and you get its
# points if the correct one passes *and* the faulty ones do not.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# A chunk of one token cannot show every bug, and neither can a single large chunk.
# Which bug needs which?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# ids                        (B, L), different in each row, sampled at random
# expected = full(ids)       (B, L, V)
# chunks of 5, 1, 1, 4       feed(ids[:, 0:5]), feed(ids[:, 5:6]), …
# concatenated               (B, L, V), to be compared entry by entry
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# for each of two texts:
#     start; feed it in chunks of different lengths; each is near its part of full(ids)
#     feed some wrong tokens, cut them away, feed the correct ones: near again
# ```
#
# How near is near? Between 1e-5 and 1e-4.
#
# </details>


# %% exercise="since_2017/bug_clinic"
def assert_cached_decoding(decoder: object) -> None:
    """Pass quietly if a decoder gives the same logits with and without its cache.

    Args:
        decoder: has `vocab_size`, `full`, `start`, `feed`, `cut`, like `Decoder`.

    Raises:
        AssertionError: it does not.
    """
    ### BEGIN SOLUTION
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
    ### END SOLUTION


# %% check="since_2017/bug_clinic" points=4
# Runs your test on correct decoders and on faulty ones.
check("since_2017/bug_clinic", assert_cached_decoding)

# %% [markdown]
# ## 14. From a base model to an answer
#
# A model that was trained on text continues text. Ask it a question, and an answer is
# only one plausible continuation; a second question is another. Such a **base model**
# often *can* do what you want, but does so only some of the time. How does it become a
# model that does so reliably?
#
# One way is to show it correct answers (*supervised fine-tuning*). Where nobody has
# written them, but an answer can be **checked**, there is a second way: let the model
# try several times, and make the attempts that worked more probable. This is how models
# such as DeepSeek-R1 learnt in 2025 to solve problems step by step. The algorithm is
# **GRPO** (Shao et al. 2024, *DeepSeekMath*), and it is simple enough to try on unit
# 5's reversal.
#
# Let a model answer each prompt several times; these answers are a **group**. Each gets
# a reward $R_i$, and its **advantage** says how much better it is than its group:
#
# $$A_i = \frac{R_i - \operatorname{mean}(R)}{\operatorname{std}(R) + \varepsilon}$$
#
# **Predict first.** Four answers to one prompt get the rewards 1, 0, 0 and 0, and four
# answers to a second prompt get 0, 0, 0 and 0. What are their advantages, and what can
# be learnt from each prompt?
#
# ### Exercise 7.22 - Group advantages
#
# *time ~10 min · difficulty 2/5 · 3 points*
#
# **Task.** Subtract from each reward the mean of its group, and divide by the standard
# deviation of the group plus `eps`. A row of `rewards` is a group.
#
# **Example.** Rewards `[[1, 0], [0, 0]]` give about `[[1, -1], [0, 0]]`.
#
# <details><summary>Contract</summary>
#
# - The standard deviation is the root of the mean squared deviation, divided by `S`,
#   not by `S - 1`.
# - A group whose rewards are all equal, or that has a single answer, gets zeros.
# - `rewards` is not modified; the result has its dtype.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Should the answer to a hard prompt compete with the answers to an easy one? So over
# which dimension is the mean taken?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# rewards                  (P, S)      P prompts, S answers to each
# means, deviations        (P, 1)      keep the dimension
# advantages               (P, S)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# centred = rewards - mean of each row
# spread = root of the mean of centred squared, of each row
# centred / (spread + eps)
# ```
#
# `torch.std` divides by `S - 1` unless told otherwise.
#
# </details>


# %% exercise="since_2017/group_advantages"
def group_advantages(rewards: Tensor, eps: float = 1e-4) -> Tensor:
    """How much better each answer is than its group (Shao et al. 2024, section 4.1).

    Args:
        rewards: of S answers to each of P prompts, shape `(P, S)`, floating point.
        eps: added to the standard deviation.

    Returns:
        The advantages, shape `(P, S)`.
    """
    ### BEGIN SOLUTION
    centred = rewards - rewards.mean(dim=-1, keepdim=True)  # (P, S)
    spread = centred.square().mean(dim=-1, keepdim=True).sqrt()  # (P, 1)
    return centred / (spread + eps)
    ### END SOLUTION


# %% check="since_2017/group_advantages" points=3
# Looks at groups of several sizes, groups without spread, and the rewards afterwards.
check("since_2017/group_advantages", group_advantages)


# %%
@demo
def two_groups():
    rewards = torch.tensor([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    for row, advantages in zip(rewards, group_advantages(rewards), strict=True):
        print(f"rewards {row.tolist()}   advantages "
              + "  ".join(f"{a:5.2f}" for a in advantages.tolist()))  # fmt: skip


# %% [markdown]
# The single success gets 1.73 and each failure -0.58: the rarer a success, the more it
# counts. The second group gets zeros. Where no answer is better than another, there is
# **nothing to learn**, and this will matter.
#
# The loss makes answers with a positive advantage more probable and those with a
# negative one less probable. For $N$ answers, of which answer $i$ has $T_i$ tokens,
#
# $$L = -\frac{1}{N} \sum_{i=1}^{N} \frac{A_i}{T_i}
# \sum_{t=1}^{T_i} \log p(x_{i,t} \mid x_{i,<t}).$$
#
# (The paper has the ratio of new to old probability in place of $\log p$, and clips it,
# to allow several steps per batch of answers. We take only one. Then the ratio is 1, it
# is never clipped, and its gradient is that of $\log p$.)
#
# ### Exercise 7.23 - The loss of an answer
#
# *time ~15 min · difficulty 3/5 · 5 points*
#
# **Task.** Compute the loss by the formula. Position `t` of the logits predicts token
# `t` of the answer; PAD after its end does not count.
#
# **Example.** If all logits are zero and the advantages are 1 and -1, the loss is 0:
# both answers have the same mean log-probability.
#
# <details><summary>Contract</summary>
#
# - All tokens but PAD count, including EOS; every answer has at least one.
# - Each answer counts equally, however long it is.
# - Gradients flow to `logits`, and no argument is modified.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Unit 5's `masked_loss` took one mean over all tokens of a batch. How much more does a
# long answer count there than a short one? And here?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# log-probabilities       (N, T, V)
# of what was written     (N, T)        `gather` along the last dimension
# real                    (N, T)        bool: not PAD
# means                   (N,)          over the real tokens of each answer
# loss                    ()
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# log_p = log_softmax of the logits, at the ids that were written
# means = sum of log_p over real tokens / number of real tokens, per answer
# loss = - mean of (advantages * means)
# ```
#
# </details>


# %% exercise="since_2017/grpo_loss"
def grpo_loss(logits: Tensor, written: Tensor, advantages: Tensor) -> Tensor:
    """The loss of sampled answers, weighted with their advantages (Shao et al. 2024).

    Args:
        logits: for each token of the answers, shape `(N, T, V)`.
        written: the answers, shape `(N, T)`, int64; `reversal.PAD` after the end.
        advantages: one per answer, shape `(N,)`.

    Returns:
        The loss, shape `()`.
    """
    ### BEGIN SOLUTION
    real = written != reversal.PAD  # (N, T)
    log_p = logits.log_softmax(-1).gather(-1, written.unsqueeze(-1)).squeeze(-1)
    means = (log_p * real).sum(dim=1) / real.sum(dim=1)  # (N,)
    return -(advantages * means).mean()
    ### END SOLUTION


# %% check="since_2017/grpo_loss" points=5
# Looks at answers of several lengths, at the loss and at its gradient.
check("since_2017/grpo_loss", grpo_loss)

# %% [markdown]
# ### Choose what you can do
#
# Our base model is unit 5's, trained on a mixed diet: half of its targets are reversed
# sequences, the other half are *copies*. Nothing in a prompt says which of the two is
# wanted, so the model learns both and does each about equally often.
#
# The rest of the machinery comes from unit 5, with sampling instead of argmax and one
# step per batch of answers:


# %%
def sequences(rng: random.Random, count: int, lengths: tuple[int, int]) -> list:
    """Random sequences of digits, with lengths from `lengths[0]` to `lengths[1]`."""
    digits = range(reversal.FIRST, reversal.FIRST + 10)
    return [rng.choices(digits, k=rng.randint(*lengths)) for _ in range(count)]


@reversal.evaluating
def sample(
    model: nn.Module, source: Tensor, max_len: int, generator: torch.Generator
) -> Tensor:
    """An answer to each source, sampled at temperature 1: `(N, T)`, T <= max_len."""
    tokens = source.new_full((source.size(0), 1), reversal.BOS)  # (N, 1)
    done = torch.zeros_like(tokens[:, 0], dtype=torch.bool)  # (N,)
    for _ in range(max_len):
        probabilities = model(source, tokens)[:, -1].softmax(-1)  # (N, V)
        new = torch.multinomial(probabilities, 1, generator=generator).squeeze(1)
        new = new.masked_fill(done, reversal.PAD)
        tokens = torch.cat((tokens, new.unsqueeze(1)), dim=1)
        done |= new == reversal.EOS
        if done.all():
            break
    return tokens[:, 1:]


def exact(written: Tensor, labels: Tensor) -> Tensor:
    """1 for each answer that is correct from its first token to EOS, else 0: `(N,)`."""
    written = F.pad(written, (0, labels.size(1) - written.size(1)), value=reversal.PAD)
    return (written == labels).all(dim=1).float()


def reinforce(
    model: nn.Module, reward: Callable[[Tensor, Tensor], Tensor],
    lengths: tuple[int, int], steps: int, seed: int = 0, rate: float = 2e-3,
    prompts: int = 32, beta: float = 0.0,
) -> list[float]:  # fmt: skip
    """GRPO: 8 answers to each prompt, one step per batch; returns each mean reward."""
    rng, generator = random.Random(seed), torch.Generator().manual_seed(seed)
    start = copy.deepcopy(model)  # for the KL term, which comes later
    adam = torch.optim.Adam(model.parameters(), rate, (0.9, 0.98), fused=True)
    log = []
    for step in range(steps):
        adam.param_groups[0]["lr"] = rate * reversal.rate_factor(step, 10, steps)
        source, target = reversal.make_batch(sequences(rng, prompts, lengths))
        source, labels = (x.repeat_interleave(8, 0) for x in (source, target[:, 1:]))
        written = sample(model, source, labels.size(1), generator)  # (N, T)
        rewards = reward(written, labels)  # (N,)
        advantages = group_advantages(rewards.view(prompts, 8)).flatten()
        shown = F.pad(written, (1, 0), value=reversal.BOS)[:, :-1]  # (N, T)
        logits = model(source, shown)
        loss = grpo_loss(logits, written, advantages)
        if beta:
            loss = loss + beta * distance(logits, start(source, shown), written)
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        adam.step()
        log.append(rewards.mean().item())
    return log


# %% folded=true
# @title The base models, and how they are measured
def supervised(next_batch: Callable, steps: int, seed: int = 0) -> nn.Module:
    """Unit 5's model, trained for some steps with teacher forcing."""
    torch.manual_seed(seed)
    model, rng = reversal.new_model(), random.Random(seed)
    adamw = torch.optim.AdamW(model.parameters(), 2e-2, (0.9, 0.98), fused=True)
    reversal.fit(model, adamw, lambda: next_batch(rng), steps, steps // 5)
    return model


def reversed_only(rng: random.Random) -> tuple[Tensor, Tensor]:
    """32 sequences of up to 10 digits, and their reversals."""
    return reversal.make_batch(sequences(rng, 32, (1, 10)))


def reversed_or_copied(rng: random.Random) -> tuple[Tensor, Tensor]:
    """32 sequences of up to 8 digits; half of the targets are copies."""
    source, target = reversal.make_batch(sequences(rng, 32, (1, 8)))
    copied = torch.tensor([rng.random() < 0.5 for _ in range(32)])
    target[copied, 1:] = source[copied]
    return source, target


def asked(lengths: tuple[int, int], count: int = 500) -> tuple[Tensor, Tensor]:
    """Fresh random sequences: source `(N, Ls)`, labels `(N, T)`."""
    source, target = reversal.make_batch(
        sequences(random.Random("new"), count, lengths)
    )
    return source, target[:, 1:]


def sampled(model: nn.Module, lengths: tuple[int, int]) -> tuple[float, float]:
    """The shares of sampled answers that are reversals, and that are copies."""
    source, labels = asked(lengths)
    written = sample(model, source, labels.size(1), torch.Generator().manual_seed(1))
    return exact(written, labels).mean().item(), exact(written, source).mean().item()


def greedy(model: nn.Module, lengths: tuple[int, int]) -> float:
    """The share of greedy answers that are exactly correct."""
    source, labels = asked(lengths)
    written = reversal.greedy_decode(model, source, labels.size(1))
    return exact(written, labels).mean().item()


def written_for(model: nn.Module, digits: str, count: int = 6) -> str:
    """Some sampled answers to one sequence."""
    ids = [int(digit) + reversal.FIRST for digit in digits]
    source = torch.tensor([[*ids, reversal.EOS]]).expand(count, -1)
    answers = sample(model, source, 14, torch.Generator().manual_seed(2))
    return "  ".join(
        "".join(str(i - reversal.FIRST) for i in row if i >= reversal.FIRST) or "-"
        for row in answers.tolist()
    )


# %% [markdown]
# **Predict first.** The reward is 1 for an exact reversal and 0 for everything else.
# After 60 steps of GRPO, what share of the sampled answers are reversals, and what
# share are copies? And for which sequences is a copy still correct?


# %%
@demo
def choose_what_you_can_do():
    require_solved(group_advantages, grpo_loss)
    model = supervised(reversed_or_copied, steps=1000)
    for name in ("base model", "after GRPO"):
        backwards, copied = sampled(model, (1, 8))
        print(f"{name}: reversed {backwards:.0%}, copied {copied:.0%}; "
              f"asked for 14592: {written_for(model, '14592')}")  # fmt: skip
        if name == "base model":
            started = time.process_time()
            log = reinforce(model, exact, (1, 8), steps=60, rate=1e-3)
            print(f"({time.process_time() - started:.1f} CPU seconds of GRPO)")
    pictures.rewards(log)


# %% [markdown]
# Sixty steps raise the share of reversals from less than half to eight or nine in ten,
# depending on the seed. Most of the remaining "copies" are sequences that read the same
# in both directions, such as those with a single digit. The model was shown no answers,
# and it needed no new skill: it could already reverse, and now it chooses to. Here, as
# often, fine-tuning by reward *sharpens* what the base model does some of the time.
#
# ### Nothing to learn from
#
# **Predict first.** A base model that was trained on lengths 1 to 10 has an exact match
# near 0 at length 12 (unit 5's cliff). We reward exact reversals of length 12 for 60
# steps. How far does the model get?


# %%
@demo
def nothing_to_learn_from():
    require_solved(group_advantages, grpo_loss)
    model = supervised(reversed_only, steps=350)
    before = nn.utils.parameters_to_vector(model.parameters()).detach().clone()
    log = reinforce(model, exact, (12, 12), steps=60)
    after = nn.utils.parameters_to_vector(model.parameters()).detach()
    print(f"length 12: {sum(log) * 32 * 8:.0f} of {len(log) * 32 * 8:,} answers are "
          f"correct; largest change {(after - before).abs().max():.1f}")  # fmt: skip


# %% [markdown]
# Nowhere. Not one of 15,360 answers is right, so no group has any spread, every
# advantage is zero, and no parameter moves. A reward can teach only what already
# succeeds sometimes.
#
# ### Reach further
#
# So soften the cliff first. If the positions of each training batch begin at 0, 1 or 2
# at random, the model meets the rows of its table that belong to positions 11 and 12,
# and gets some longer sequences right. GRPO can start from there.
#
# **Predict first.** We reward exact reversals of lengths 1 to 12. What happens to the
# exact match at lengths 11 and 12, and at 13? And what happens to the short sequences
# if *only* lengths 11 and 12 are rewarded? For comparison, we also train on the correct
# answers for lengths 1 to 12.

# %%
REINFORCE_LONG = False  # True: both runs of GRPO below, which take some minutes


def soft_cliff(seed: int = 0) -> nn.Module:
    """A base model whose positions begin at 0, 1 or 2, at random, during training."""
    torch.manual_seed(seed)
    model, rng = reversal.new_model(), random.Random(seed)
    table = model.source.positions.pe  # the target's, too: both share one module

    def next_batch() -> tuple[Tensor, Tensor]:
        model.source.positions.pe = table[rng.randrange(3) :]
        return reversed_only(rng)

    adamw = torch.optim.AdamW(model.parameters(), 2e-2, (0.9, 0.98), fused=True)
    reversal.fit(model, adamw, next_batch, steps=500, warmup=100)
    model.source.positions.pe = table
    return model


def by_length(model: nn.Module) -> str:
    return "  ".join(f"{n}: {greedy(model, (n, n)):4.0%}" for n in (8, 10, 11, 12, 13))


def taught(model: nn.Module, seed: int = 0) -> nn.Module:
    """200 supervised steps with the correct answers for lengths 1 to 12."""
    rng = random.Random(seed)
    adamw = torch.optim.AdamW(model.parameters(), 1e-2, (0.9, 0.98), fused=True)

    def batch() -> tuple[Tensor, Tensor]:
        return reversal.make_batch(sequences(rng, 32, (1, 12)))

    reversal.fit(model, adamw, batch, steps=200, warmup=40)
    return model


@demo
def reach_further():
    base = soft_cliff()
    print(f"{'base model':<26} {by_length(base)}")
    started = time.process_time()
    model = taught(copy.deepcopy(base))
    seconds = time.process_time() - started
    print(f"{'correct answers, 200 steps':<26} {by_length(model)}   {seconds:.1f} s")
    if REINFORCE_LONG:
        for lengths, steps in (((1, 12), 300), ((11, 12), 200)):
            model, started = copy.deepcopy(base), time.process_time()
            reinforce(model, exact, lengths, steps, prompts=64)
            seconds = time.process_time() - started
            name = f"GRPO on lengths {lengths[0]} to {lengths[1]}"
            print(f"{name:<26} {by_length(model)}   {seconds:.1f} s")


# %% [markdown]
# The runs with rewards need minutes, so the cell leaves them out unless you set
# `REINFORCE_LONG = True`. This is what we measured with five seeds:
#
# | exact match at length | 1 to 10 | 11 | 12 | 13 | answers |
# |---|---|---|---|---|---|
# | base model | 0.99 to 1.00 | 0.84 to 1.00 | 0.45 to 0.79 | at most 0.02 | |
# | GRPO on lengths 1 to 12 | 1.00 | 0.99 to 1.00 | 0.91 to 1.00 | 0.03 to 0.19 | 153,600 sampled |
# | GRPO on lengths 11 and 12 | 0.55 to 0.91 | 1.00 | 1.00 | | 102,400 sampled |
# | correct answers, 1 to 12 | 1.00 | 0.99 to 1.00 | 0.95 to 1.00 | 0.01 to 0.35 | 6,400 written |
#
# - **The cliff moves to where answers were rewarded, and hardly further.** Length 13
#   was never rewarded, and at most a fifth of its sequences come out right.
# - **What is not rewarded is forgotten.** When only lengths 11 and 12 are rewarded, the
#   model loses a tenth to nearly half of what it could do at lengths 1 to 10.
# - **The yardstick is sobering.** With correct answers at hand, 200 supervised steps do
#   about as well, with one answer for every 24 that GRPO samples and in a small
#   fraction of the time. Rewards are for problems whose answers we can check but do not
#   know.
#
# ### A careless reward
#
# Exact match is hard to game. Here is a reward that sounds reasonable and gives partial
# credit: the share of the *written* digits that are correct.
#
# **Predict first.** After 80 steps this reward is near 1. What does the model write?


# %%
def precision(written: Tensor, labels: Tensor) -> Tensor:
    """The share of the written digits that are correct: `(N,)`."""
    written = F.pad(written, (0, labels.size(1) - written.size(1)), value=reversal.PAD)
    digits = written >= reversal.FIRST
    right = (digits & (written == labels)).sum(dim=1)
    return right / digits.sum(dim=1).clamp(min=1)


@demo
def a_careless_reward():
    require_solved(group_advantages, grpo_loss)
    model = supervised(reversed_only, steps=200)
    print(f"before: exact {greedy(model, (1, 10)):.2f}; "
          f"asked for 0979776: {written_for(model, '0979776', 3)}")  # fmt: skip
    log = reinforce(model, precision, (1, 10), steps=80)
    print(f"reward from {log[0]:.2f} to {log[-1]:.2f}")
    print(f"after:  exact {greedy(model, (1, 10)):.2f}; "
          f"asked for 0979776: {written_for(model, '0979776', 3)}")  # fmt: skip


# %% [markdown]
# It writes a digit or two and stops. A single correct digit earns the full reward, and
# each further digit can only lower it, so the exact match falls to about the share of
# sequences that *have* a single digit, one in ten. Meanwhile, the reward kept rising.
# **A model optimises what you measure, not what you mean**, which is known as *reward
# hacking* (Amodei et al. 2016; Skalse et al. 2022).
#
# The usual leash is a **KL term**: a penalty for answers that the starting model would
# hardly have written. DeepSeekMath adds it to the loss with a weight $\beta$.
#
# **Predict first.** With $\beta = 0.2$, does the hack disappear? And does the model
# become better than it was at the start?


# %%
def distance(logits: Tensor, start: Tensor, written: Tensor) -> Tensor:
    """How far the model has moved from its start: the KL divergence, estimated, `()`.

    Schulman 2020's estimate for each token, `r - log r - 1` with the ratio r of old to
    new probability, which is never negative; PAD does not count.
    """
    ids, real = written.unsqueeze(-1), written != reversal.PAD  # (N, T, 1), (N, T)
    old, new = (
        scores.log_softmax(-1).gather(-1, ids).squeeze(-1)
        for scores in (start.detach(), logits)
    )  # (N, T) each
    each = (old - new).exp() - (old - new) - 1
    return ((each * real).sum(dim=1) / real.sum(dim=1)).mean()


@demo
def on_a_leash():
    require_solved(group_advantages, grpo_loss)
    model = supervised(reversed_only, steps=200)
    print(f"before: exact {greedy(model, (1, 10)):.2f}")
    log = reinforce(model, precision, (1, 10), steps=80, beta=0.2)
    print(f"reward from {log[0]:.2f} to {log[-1]:.2f}, exact "
          f"{greedy(model, (1, 10)):.2f}; "
          f"asked for 0979776: {written_for(model, '0979776', 3)}")  # fmt: skip


# %% [markdown]
# The hack is gone: the model still writes full answers. But its exact match is no
# better than it was at the start, and with most seeds a little worse. The KL term
# cannot tell a clever shortcut from a better answer, since both are far from the start.
# The real cure is a better reward.
#
# In practice, the steps usually come in this order: pre-training; supervised
# fine-tuning on instructions with written answers; training on preferences between
# answers, through a reward model (Ouyang et al. 2022) or directly (Rafailov et al.
# 2023, DPO); and reinforcement learning with rewards that can be checked, for
# mathematics, code and the like. SmolLM2-135M-Instruct, which comes next, went through
# the first three.

# %% [markdown]
# ## 15. Finale: a chat model in your code
#
# SmolLM2-135M-Instruct (Ben Allal et al. 2025) is a chat model with Llama's
# architecture: 30 blocks, `d_model` 576, 9 heads and 3 of keys and values, a SwiGLU of
# width 1536, tied embeddings of 49,152 tokens. Your `LanguageModel` has all of it. Only
# two settings differ from your defaults: the rotary base is 100,000, and the norms'
# epsilon is 1e-5.
#
# Its weights come as a GGUF file, the format of llama.cpp, under these names:
#
# ```text
# token_embd.weight     blk.3.attn_norm.weight     blk.3.ffn_norm.weight
# output_norm.weight    blk.3.attn_q.weight        blk.3.ffn_gate.weight
#                       blk.3.attn_k.weight        blk.3.ffn_up.weight
#                       blk.3.attn_v.weight        blk.3.ffn_down.weight
#                       blk.3.attn_output.weight   ... for each of the blocks
# ```
#
# The file stores query and key projections for rotary **neighbours**. Your `rotate`
# rotates **halves**, so both need your `pairs_to_halves`, each with its own number of
# heads.
#
# ### Exercise 7.24 - A parameter from the file
#
# *time ~12 min · difficulty 2/5 · 4 points*
#
# **Task.** Given the name of one of your model's parameters, return its tensor from the
# file: find its name there, and convert the query and key projections.
#
# **Example.** For `"blocks.3.attention.w_o.weight"`, the tensor is
# `published["blk.3.attn_output.weight"]`, unchanged. `w_q` of the same block goes
# through `pairs_to_halves` with `num_heads`.
#
# <details><summary>Contract</summary>
#
# - Any number of blocks.
# - Look up one tensor per call: the file builds each tensor only when you ask for it.
# - `published` and its tensors are not modified; dtypes are kept.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Which of the projections feed a rotation, and how many heads does each of them have?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# attn_q                    (h * d_k, d_model)
# attn_k, attn_v            (g * d_k, d_model)
# ffn_gate, ffn_up          (width, d_model)
# ffn_down                  (d_model, width)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# a table from the last words of your names ("norm1", "w_q", ...) to theirs
# the name there: "blk.", the block's number and "." if there is one; then the table's
# look it up
# for w_q and w_k: pairs_to_halves, with the number of heads that it has
# ```
#
# </details>


# %% exercise="since_2017/published_tensor"
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
    ### BEGIN SOLUTION
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
    ### END SOLUTION


# %% check="since_2017/published_tensor" points=4
# Looks at each parameter of models of several depths, and at what is looked up.
check("since_2017/published_tensor", published_tensor)

# %% [markdown]
# Now the model itself. The next cell looks for its file; if it is missing, the cell
# says in one line how to get it (98 MB, Apache-2.0), and the text below says what you
# would see. Its 135 million parameters take 0.54 GB in float32, so the model is filled
# one parameter at a time: all tensors and all parameters together would take twice as
# much.


# %% folded=true
# @title Fill the model, write a prompt, and feed it to the model token by token
@torch.no_grad()
def fill(model: nn.Module, published: Mapping[str, Tensor]) -> nn.Module:
    """Copy a published model into yours, one parameter at a time."""
    layer = model.blocks[0].attention
    for name, parameter in model.named_parameters():
        heads = layer.num_heads, layer.num_kv_heads
        parameter.copy_(published_tensor(name, published, *heads))
    return model.eval()


def prompt(question: str) -> str:
    """A question as the model was trained to read it: roles between special tokens."""
    system = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
    turns = (("system", system), ("user", question), ("assistant", ""))
    text = "".join(f"<|im_start|>{who}\n{what}<|im_end|>\n" for who, what in turns)
    return text.removesuffix("<|im_end|>\n")


class NextLogits:
    """The function that `generate` calls, with a cache: it feeds only new ids."""

    def __init__(self, model: nn.Module):
        self.model, self.caches, self.fed = model, None, 0

    def __call__(self, ids: Tensor) -> Tensor:
        new, self.fed = ids[:, self.fed :], ids.size(1)
        logits, self.caches = cached_logits(self.model, new, self.caches)
        return logits[:, -1]  # (B, V)


def answer(next_logits: Callable, ids: Tensor, most: int, **options: float) -> Tensor:
    """The ids `(1, T + n)` of a prompt and its answer, up to the end of the turn."""
    end, generator = smollm.encode("<|im_end|>")[0], torch.Generator().manual_seed(0)
    for _ in range(most):
        ids = generate(next_logits, ids, 1, generator, **options)
        if ids[0, -1] == end:
            break
    return ids


# %%
smollm = None  # stays None where it is not installed


@demo
def a_chat_model_in_your_classes():
    global smollm, chat
    require_solved(pairs_to_halves, published_tensor)  # before it looks for 98 MB
    smollm = available("smollm2")
    if smollm is None:
        return
    started = time.perf_counter()
    chat = LanguageModel(49_152, 576, 9, 3, 30, 2304, base=100_000.0, eps=1e-5)
    fill(chat, smollm.weights)
    numbers = sum(parameter.numel() for parameter in chat.parameters())
    print(f"{numbers / 1e6:.1f} million parameters, {numbers * 4 / 1e9:.2f} GB, "
          f"filled in {time.perf_counter() - started:.1f} s")  # fmt: skip


# %% [markdown]
# Ask it something. `ask("...")` always takes the most probable token, so everybody gets
# the same answer; `ask("...", temperature=0.7, min_p=0.1)` samples, and its answer
# depends on the seed.
#
# Do not expect too much. A model of 135 million parameters writes fluent English and
# knows the capital of France, but it cannot be relied on for facts, fails at most sums,
# jokes, rhymes and languages other than English, and never says that it does not know.

# %%
QUESTIONS = ["What is the capital of France?", 'Reverse the word "cat".']


def ask(question: str, most: int = 60, **options: float) -> str:
    """The model's answer; without options, of the most probable tokens.

    It is written with your cache or, while Exercise 7.11 is not solved, without one.
    """
    ids = torch.tensor([smollm.encode(prompt(question))])
    options = options or {"min_p": 1.0}
    try:
        written = answer(NextLogits(chat), ids, most, **options)
    except NotImplementedError:
        written = answer(lambda ids: chat(ids)[:, -1], ids, most, **options)
    return smollm.decode(written[0, ids.size(1) :])


@demo
def chatting():
    if smollm is None:
        return print("(needs SmolLM2, see above)")
    for question in QUESTIONS:
        print(f"{question}\n    {ask(question)}")
    print(f"{QUESTIONS[0]}\n    {ask(QUESTIONS[0], temperature=0.7, min_p=0.1)}")


# %% [markdown]
# **"The capital of France is Paris."** This answer went through your RMSNorm, your
# rotations, your gates and grouped heads and, once you have written it, your cache.
#
# **Predict first.** What if we used the query and key projections as they are stored,
# without `pairs_to_halves`? Every weight is the same; only some rows are in a different
# order. Will the answer be slightly worse, plain wrong, or not English at all?

# %%
TEXT = (
    "The Transformer is a neural network that was published in 2017. It reads all "
    "words of a sentence at once, and each word looks at all others to find out what "
    "it means here. Since then, nearly every large language model has been built from "
    "it."
)
PERPLEXITY = 23.54  # of this text, with the published weights


def perplexity_of_text(model: nn.Module) -> float:
    """Perplexity per token of TEXT, in a single window."""
    ids = torch.tensor(smollm.encode(TEXT))
    return sliding_perplexity(model, ids, len(ids), 1, len(TEXT.encode()))[0]


@torch.no_grad()
def set_queries_and_keys(convert: Callable[[Tensor, int], Tensor]) -> None:
    """Put the file's queries and keys into the chat model, converted in some way."""
    for number, block in enumerate(chat.blocks):
        layer = block.attention
        for kind, part, heads in (
            ("q", layer.w_q, layer.num_heads), ("k", layer.w_k, layer.num_kv_heads),
        ):  # fmt: skip
            stored = smollm.weights[f"blk.{number}.attn_{kind}.weight"]
            part.weight.copy_(convert(stored, heads))


@demo
def without_the_conversion():
    if smollm is None:
        return print("(needs SmolLM2, see above)")
    found = perplexity_of_text(chat)
    verdict = "equal" if abs(found / PERPLEXITY - 1) < 0.005 else "NOT equal"
    print(f"perplexity {found:.2f}: {verdict} to the course's {PERPLEXITY}")
    try:
        set_queries_and_keys(lambda stored, heads: stored)
        print(f"without the conversion {perplexity_of_text(chat):,.0f}:\n    "
              + ask(QUESTIONS[0], 40, temperature=0.7, min_p=0.1))  # fmt: skip
    finally:
        set_queries_and_keys(pairs_to_halves)


# %% [markdown]
# With the conversion, the perplexity is **23.5**; without it, 71. The answer to the
# question about France is then something like *"You are a man with the love to help me,
# I can be a man"*. It is still English, and this is the instructive part: the
# feed-forward networks, the embeddings and the values are intact, so words still follow
# words. What is lost is *which word is where*: components that were trained as a pair
# no longer rotate together. No shape is wrong and no error is raised, so no test of
# shapes would notice.
#
# **Predict first.** How many bytes does the cache take per token? (As in section 6:
# keys and values of 3 heads with 64 components, in 30 blocks, 4 bytes each.) And how
# many times faster is writing with it?


# %%
@demo
def what_the_cache_buys():
    require_solved(attend_with_cache)
    if smollm is None:
        return print("(needs SmolLM2, see above)")
    ids = torch.tensor([smollm.encode(prompt("Tell me about the ocean."))])
    cached = NextLogits(chat)
    started = time.perf_counter()
    cached(ids)  # the prompt, in one chunk
    print(f"reading a prompt of {ids.size(1)} tokens: "
          f"{time.perf_counter() - started:.2f} s")  # fmt: skip
    for name, next_logits in (
        ("with a cache", cached), ("without", lambda ids: chat(ids)[:, -1])
    ):  # fmt: skip
        started = time.perf_counter()
        written = answer(next_logits, torch.cat((ids, ids[:, -1:]), dim=1), 24)
        seconds = time.perf_counter() - started
        print(f"{name:<13} {(written.size(1) - ids.size(1) - 1) / seconds:5.1f} "
              "tokens per second")  # fmt: skip
    keys_and_values = [t for cache in cached.caches for t in cache]
    taken = sum(t.numel() * t.element_size() for t in keys_and_values)
    computed = 2 * 30 * 3 * 64 * 4
    print(f"cache: {taken / cached.fed:,.0f} bytes per token; computed: {computed:,}")


# %% [markdown]
# The cache takes 46,080 bytes per token, as computed: 1.7 MB for the prompt, 0.38 GB
# for the 8,192 tokens that this model may read. On two otherwise idle cores, we saw 24
# to 27 tokens per second with the cache. Without it, there were 7 to 10 at this length,
# and fewer with each further token.
#
# **Two questions for you.** First: asked to reverse "cat", 135 million parameters
# answer that it "is a word that has a similar sound to 'cat' but with a different
# spelling". Unit 5's model reverses sequences with less than a thousandth of those
# parameters. Why? Second: each weight in the file has only four bits, one of sixteen
# values per block of 32 weights. What did that cost? Write down your answers before you
# go on. For the second question, the next cell makes a measurement: it rounds the
# matrices of ten of the thirty blocks *once more*, in blocks of 48, which do not
# coincide with the file's.


# %%
def rounded(weight: Tensor, bits: int, size: int) -> Tensor:
    """Round each block of `size` weights to `2**bits` values between its extremes."""
    blocks = weight.reshape(-1, size)
    least = blocks.amin(dim=1, keepdim=True)
    step = (blocks.amax(dim=1, keepdim=True) - least) / (2**bits - 1)
    return (((blocks - least) / step).round() * step + least).view_as(weight)


@demo
def fewer_bits():
    if smollm is None:
        return print("(needs SmolLM2, see above)")
    matrices = [
        (name, parameter) for name, parameter in chat.named_parameters()
        if parameter.dim() == 2 and name.split(".")[1] in map(str, range(10, 20))
    ]  # fmt: skip
    print(f"as in the file:              perplexity {perplexity_of_text(chat):.2f}")
    with torch.no_grad():
        for bits, size in ((4, 32), (8, 48), (4, 48), (3, 48), (None, 0)):
            for name, parameter in matrices:
                stored = published_tensor(name, smollm.weights, 9, 3)
                parameter.copy_(rounded(stored, bits, size) if bits else stored)
            if bits:
                print(f"{bits} bits in blocks of {size} again: "
                      f"perplexity {perplexity_of_text(chat):.2f}")  # fmt: skip


# %% [markdown]
# *The second question.* Four bits in the file's own blocks of 32 change nothing: the
# weights are on that grid already. Eight bits hardly matter either (23.5). Four bits on
# a *different* grid raise the perplexity from 23.5 to 24.3 when a third of the blocks
# are rounded; rounding all thirty gives 27. So the first rounding, whose original we do
# not have here, probably cost about as much: some ten to fifteen percent, for a file
# less than a fifth of the size. Three bits break the model (70). This is why four bits
# became a popular choice.
#
# *The first question.* The reason is not size. "cat" is **one token** of 49,152: the
# model never sees its letters, and what it knows of spelling comes from texts that
# spell words out. It was also trained to continue texts, in which words are hardly ever
# reversed. Unit 5's model sees one symbol per position, and nothing but reversals in
# training; attention along the anti-diagonal is all it takes. What a model can do is
# decided by its data, its tokens and its objective before the number of its parameters.

# %% [markdown]
# ## Three ages of one machine
#
# Most rows of this table were exercises of this unit. The last column often has several
# entries, because the open models of 2025 and 2026 disagree. Where they agree, a
# question is settled for now; the rest is still being tried.
#
# | part | 2017 | LLaMA, 2023 | 2025/26 |
# |---|---|---|---|
# | family | encoder and decoder | decoder only | decoder only |
# | place of the norm | after the sum | before the branch | before the branch (Qwen3); before and after it (Gemma 3); after it, inside the residual (OLMo 2) |
# | norm | LayerNorm | RMSNorm | RMSNorm, in these three also on queries and keys |
# | positions | sines, added to the input | rotary, base 10,000 | rotary, base 1,000,000 (Qwen3); 10,000 in local layers and 1,000,000 in global ones (Gemma 3) |
# | who attends to whom | every position; in the decoder all earlier ones | all earlier ones | all earlier ones (Qwen3); 5 layers with a window of 1,024 per global layer (Gemma 3); 3 with 4,096 per global layer (Olmo 3) |
# | heads of keys and values | as many as of queries | as many as of queries | a few (Qwen3, Gemma 3); as many (OLMo 2 7B); one compressed vector instead (DeepSeek-V3) |
# | feed-forward | ReLU, two matrices | SwiGLU, three matrices | SwiGLU (OLMo 2); GeGLU (Gemma 3); a mixture: 8 of 128 experts (Qwen3-235B), 8 of 256 and a shared one (DeepSeek-V3) |
# | biases | in the feed-forward network | none | none (Gemma 3, OLMo 2; Qwen3, which dropped those of Qwen2) |
# | output matrix | tied to the embedding | its own | tied up to 4B parameters, its own above (Qwen3); tied (Gemma 3) |
# | optimizer | Adam | AdamW, clipping at 1 | AdamW (DeepSeek-V3, OLMo 2); Muon for the matrices (Kimi K2) |
# | choosing a token | beam search | sampling | sampling at a temperature, with top-p and top-k |
# | after pre-training | nothing: trained for its task | nothing: base models were released | instructions, preferences, rewards that can be checked (DeepSeek-R1, Qwen3, Olmo 3) |
#
# *Sources, the models' own reports:* Vaswani et al. 2017; Touvron et al. 2023 (LLaMA);
# DeepSeek-AI 2024 (*DeepSeek-V3*) and 2025 (*DeepSeek-R1*); Team OLMo 2024 (*2 OLMo 2
# Furious*) and 2025 (*Olmo 3*); Gemma Team 2025 (*Gemma 3*); Yang et al. 2025
# (*Qwen3*); Kimi Team 2025 (*Kimi K2*). *Who proposed the parts:* Xiong et al. 2020
# (why the norm moved); Zhang and Sennrich 2019 (RMSNorm); Su et al. 2021 (rotary);
# Shazeer 2019 and Ainslie et al. 2023 (shared keys and values); Shazeer 2020 (SwiGLU);
# Press and Wolf 2017 (tied embeddings); Loshchilov and Hutter 2019 (AdamW); Jordan et
# al. 2024 (Muon).

# %% [markdown]
# ## What this unit leaves out
#
# You will meet five more ideas in the models and servers of 2025/26. You can now read
# up on each.
#
# - **Latent attention** (DeepSeek-V2 and V3, Kimi K2). The cache keeps one compressed
#   vector per position, from which the keys and values of *all* heads are projected
#   again. In DeepSeek-V2, this vector has 512 components, plus 64 for a rotary key that
#   all heads share; keys and values for its 128 heads of 128 would need 32,768.
#   Pointer: DeepSeek-AI 2024, *DeepSeek-V2*, section 2.1.
# - **Linear and hybrid attention** (Qwen3-Next, Kimi Linear). Without the softmax,
#   attention can be written as a matrix of fixed size that each token updates, so the
#   cache does not grow at all. The weak spot is looking up one exact detail far back,
#   so these models keep one layer of full attention for every three linear ones.
#   Pointers: Katharopoulos et al. 2020, *Transformers are RNNs*; Yang et al. 2024,
#   *Gated Delta Networks*.
# - **FlashAttention.** It computes the same result as your attention, but tile by tile
#   in the GPU's fast memory, without ever storing the `L × L` scores. It changes no
#   model and makes long texts affordable in training; you met it in unit 2 as a backend
#   of PyTorch's function. Pointer: Dao et al. 2022.
# - **Quantised and paged caches.** A server with hundreds of conversations stores their
#   caches in pages, as an operating system manages memory, and with fewer bits per
#   entry. Pointers: Kwon et al. 2023, *PagedAttention* (vLLM); Liu et al. 2024, *KIVI*
#   (two bits).
# - **Multi-token prediction** (DeepSeek-V3). A small extra module also learns to
#   predict the token after the next one. This gives training more signal per text, and
#   at inference time it is the cheap guesser of section 10. Pointer: Gloeckle et al.
#   2024, *Better & Faster Large Language Models via Multi-token Prediction*.
#
# ## What you built
#
# - RMSNorm, rotary positions, SwiGLU and grouped-query attention, each equal to an
#   implementation that you did not write;
# - a decoder-only model that matches a Llama 3.2-style model with tied embeddings,
#   weight by weight, and runs a published chat model;
# - QK-norm, windows, a mixture of experts and Muon, and what each buys for the same
#   number of steps;
# - a cache that makes the model fast, and the test that keeps the cache honest;
# - a trained model, and your own measurement of what the new parts are worth at this
#   size;
# - the core of GRPO, and a look at what rewards can and cannot do.
#
# Take with you: *the machine of 2017 is still there. What changed are its parts, and
# each change can be measured.*
#
# ## Go further
#
# - Press et al. 2022, *Train Short, Test Long*; Chen et al. 2023, *Extending Context
#   Window of Large Language Models via Positional Interpolation*; Peng et al. 2023,
#   *YaRN*: how to go beyond the training length. Kazemnejad et al. 2023, *The Impact of
#   Positional Encoding on Length Generalization*.
# - Xiao et al. 2024, *Efficient Streaming Language Models with Attention Sinks*; Gu et
#   al. 2025, *When Attention Sink Emerges in Language Models*.
# - Narang et al. 2021, *Do Transformer Modifications Transfer Across Implementations
#   and Applications?* Mostly not, the authors find. Compare with your own table.
# - Schaeffer et al. 2025, *Min-p, Max Exaggeration*: how a comparison of samplers can
#   mislead.
# - Shao et al. 2024, *DeepSeekMath*; DeepSeek-AI 2025, *DeepSeek-R1*; Liu et al. 2025,
#   *Understanding R1-Zero-Like Training*: whether to divide by the length and by the
#   standard deviation at all.
# - Try it: divide all angles by 4 when the text is four times as long (interpolation).
#   Does the loss at 256 bytes come down?
# - Try it: in section 14, leave out the division by the standard deviation. Does
#   anything change?

# %% [markdown]
# ## Where you stand
#
# Your points so far, and what to do next. Run this cell again after each exercise.

# %%
check.summary()
