# %% [markdown]
# # 7 · A modern language model
#
# Today's language models have much the same architecture as the Transformer of 2017,
# but most of its components have been replaced. In this optional unit, which follows
# the first six, you replace them one by one. By the end, your logits agree with a
# Llama's to five digits, your model has learnt from real English, and a published chat
# model, running on your own code, answers your questions.

# %% folded=true
# @title The whole machine
from autograder import drawing

drawing(
    "machine_whole",
    "",
    "By the end of this unit, your own layers compute the chat model's logits.",
)

# %% [markdown]
# **You will learn**
# - what has changed: RMSNorm, rotary positions, SwiGLU, grouped-query attention;
# - what a cache of keys and values is, what it saves and what it costs in memory;
# - how a token is chosen from logits, and how a language model is measured;
# - to train a model on real English, and how the choice of tokens affects its loss;
# - to predict a training run's memory and time, and the loss of a larger model;
# - to run a published model on your own code.
#
# *About 4 hours · short path about 2: exercises 7.1, 7.2, 7.3, 7.4, 7.5, 7.6*
#
# *Eleven exercises · 100 points; while a model trains, you can go on reading.* The
# short path covers the essentials: for now, just read the other sections, and come back
# to their exercises later.
#
# <details><summary>Recap, conventions and predictions</summary>
#
# Unit 2 gave `attention.causal_mask(L)`, which is True where a query may attend. Unit 3
# gave `mha.split_heads(x, h)`, which maps `(B, L, h * d_k)` to `(B, h, L, d_k)`, and
# its inverse, `mha.merge_heads`. Unit 5 gave
# `reversal.rate_factor(step, warmup, steps)`, a warm-up followed by a cosine decay;
# unit 6 gave `recovery.learn_merges` and `recovery.segment`. Where the text says
# **Predict first**, replace the question mark in `my_guess` before you run the cell.
#
# | name | meaning |
# |---|---|
# | `B`, `L` | texts in a batch, positions in a text |
# | `d_model`, `d_k` | size of the vector at a position, and of one head's queries and keys |
# | `h`, `g` (in code `num_heads`, `num_kv_heads`) | number of query heads; number of key/value heads |
# | `V` | vocabulary size |
# | mask | boolean, **`True` = may attend**, broadcastable to `(B, h, Lq, Lk)` |
# | layers | pre-norm, without biases or dropout; PyTorch's default initialisation is fine |
#
# </details>

# %%
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from safetensors.torch import load_model, save_model
from torch import Tensor, nn
from tqdm.auto import tqdm

from autograder import check, demo, drawing, earlier, require_solved
from transformer_course.library import corpora, likeness, recipe
from transformer_course.library.published import available
from transformer_course.since_2017.library import english, pictures, training

# False: what earlier units built comes from the course, and is correct. True: from your
# own notebooks, if they are beside this one. Grading always uses the course's.
USE_MY_OWN = False
attention = earlier("02_attention", mine=USE_MY_OWN)
mha = earlier("03_multi_head_attention", mine=USE_MY_OWN)
reversal = earlier("05_sequence_reversal", mine=USE_MY_OWN)
recovery = earlier("06_text_recovery", mine=USE_MY_OWN)

torch.set_num_threads(1)  # for tensors this small, more threads only get in the way
torch.set_printoptions(precision=4, sci_mode=False)

# %%
drawing("three_ages", "7.1", "Most parts of a layer have changed since 2017.")

# %% [markdown]
# ## 1. A norm with less to do
#
# LayerNorm subtracts the mean of a vector, divides by its standard deviation, and then
# scales and shifts the result. To find out which of these steps does the work, Zhang
# and Sennrich 2019 dropped the subtraction and the shift. Their models were about as
# good without them. What remained was a division by the **root mean square**, followed
# by the scale:
#
# $$\operatorname{RMSNorm}(x) =
# \frac{x}{\sqrt{\frac{1}{d}\sum_i x_i^2 + \varepsilon}} \odot w$$
#
# **Predict first.** Today, layers usually compute in `bfloat16`, which has the range of
# float32 but only 8 bits of precision: the next number after 1 is 1.0078. If you add
# 1,024 ones in bfloat16, one after another, what sum do you get?

# %%
my_guess = "?"  # write yours here; the cell below the exercise has the answer

# %% [markdown]
# ### Exercise 7.1 - RMSNorm
#
# *time ~10 min · difficulty 2/5 · 8 points*
#
# **Task.** Implement the formula as a module with one parameter, `weight`. Compute in
# float32 if the input is narrower, and return the dtype of `x`.
#
# **Example.** For `x = [3, -4]` and `eps=0`, the mean square is 12.5, and the result is
# `[0.8485, -1.1314]`.
#
# <details><summary>Contract</summary>
#
# - `weight` is the only parameter and starts as ones; there is no bias.
# - `float16` and `bfloat16` are normalised in float32, all other dtypes in their own.
# - `x`, `weight` and the result have the same dtype.
# - `nn.RMSNorm` and `F.rms_norm` are not allowed; the check compares against them.
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

    def forward(
        self, x: Float[Tensor, "*batch d_model"]
    ) -> Float[Tensor, "*batch d_model"]:
        """Normalise each vector of `x`."""
        ### BEGIN SOLUTION
        wide = x.to(torch.promote_types(x.dtype, torch.float32))  # (..., d_model)
        mean_square = wide.square().mean(dim=-1, keepdim=True)  # (..., 1)
        normed = wide * torch.rsqrt(mean_square + self.eps)
        return (normed * self.weight).to(x.dtype)  # (..., d_model)
        ### END SOLUTION


# %% check="since_2017/rms_norm" points=8
# Looks at values, gradients, small and large vectors, and at half precision.
check("since_2017/rms_norm", RMSNorm)


# %% folded=true
# @title A sum and a norm in half precision
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
# The sum stops at 256: since 257 does not exist in bfloat16, 256 + 1 is rounded down
# again. Any step that adds up many numbers, as a norm does, should therefore do so in
# float32. With `float16`, the older half-precision format, the *range* is also too
# small: 300² is 90,000, but the largest finite number is 65,504, so the mean square
# overflows, and a vector divided by infinity becomes zero. There is no error and no
# NaN, only a layer that returns zeros.
#
# ## 2. Positions that rotate
#
# In unit 1 you *added* a vector to each embedding to mark its position, and found that
# moving $k$ positions along **rotates** the sinusoids by the same angles wherever you
# start. Su et al. 2021 take this literally: instead of adding anything, they *rotate*
# queries and keys by an angle that grows with the position.
#
# Regard two components of a query at position $m$ as a point in the plane, and rotate
# it by $m\theta$; likewise, rotate the same two components of a key at position $n$ by
# $n\theta$. The dot product of the two points depends on the angle between them, which
# changes by $(m - n)\theta$, so **only the distance counts.** A head has $d_k$
# components and therefore $d_k / 2$ such points, each with its own frequency, from one
# radian per position down to almost nothing:
#
# $$\theta_i = \text{base}^{-2i / d_k}, \qquad i = 0, \dots, d_k/2 - 1$$
#
# The function `rotary_angles` returns an angle for each position and each pair: row `i`
# belongs to position `offset + i`, column `j` to the frequency $\theta_j$. For example,
# `rotary_angles(2, 4, offset=3)` is `[[3, 0.03], [4, 0.04]]`. You will need the offset
# in section 6, where leaving it out is a typical cache bug.


# %%
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
    return positions[:, None] * frequencies  # (length, d_k / 2)


# %% [markdown]
# ### Exercise 7.2 - Rotate
#
# *time ~15 min · difficulty 3/5 · 9 points*
#
# **Task.** Rotate each vector in **halves**: component `j` of the first half and
# component `j` of the second half form a point $(a, b)$, which is rotated by
# `angles[..., j]`.
#
# $$a' = a\cos\varphi - b\sin\varphi, \qquad b' = a\sin\varphi + b\cos\varphi$$
#
# **Example.** If all angles are $\pi / 2$, `[1, 2, 3, 4]` becomes `[-3, -4, 1, 2]`.
#
# The paper instead pairs neighbours, 0 with 1 and 2 with 3, whereas many libraries pair
# halves, as we do here. Both work, but weights trained with one convention cannot be
# used unchanged with the other.
#
# <details><summary>Contract</summary>
#
# - The result has the dtype of `x`, and `x` is not modified.
# - Cosine and sine are computed in the dtype of the angles: in half precision, the
#   angles 2048 and 2049 would be equal.
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
    ### BEGIN SOLUTION
    a, b = x.chunk(2, dim=-1)  # (..., L, d_k / 2) each
    cos, sin = angles.cos(), angles.sin()
    rotated = torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1)
    return rotated.to(x.dtype)  # (..., L, d_k)
    ### END SOLUTION


# %% check="since_2017/rotate" points=9
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
# Pair 0 distinguishes neighbouring positions, whereas the last pair hardly moves in 24
# positions: in a long text it serves as a slow clock, but in a short one its two
# components carry almost no positional information.
#
# "Only the distance counts" is a claim about code, so it can be tested: we encode the
# positions of the same queries and keys twice, starting once at position 0 and once at
# a later one, and print the largest change in any score.


# %% folded=true
# @title Scores after 1, 10 and 100 positions, rotated and with added sines
def relative_gap(
    turn: Callable[[Tensor, int], Tensor],
    q: Float[Tensor, "B Lq d_k"],
    k: Float[Tensor, "B Lk d_k"],
    shift: int,
) -> float:
    """The largest change in any score if a text moves by `shift` positions.

    Args:
        turn: called as `turn(x, offset)`, encodes positions in `x` from `offset` on.
        q, k: queries and keys.
        shift: by how many positions the text moves.
    """
    still, moved = (turn(q, at) @ turn(k, at).mT for at in (0, shift))  # (B, Lq, Lk)
    return (moved - still).abs().max().item()


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
# With rotation, only rounding errors remain. The added sines also carry the distance
# (unit 1), but they introduce products of content and position into each score, and
# those products do change.
#
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
# For a fair comparison, the number of parameters must stay the same. The new network
# has three matrices where the old one has two of size `d_model × d_ff`, so its hidden
# layer must be narrower.
#
# ### Exercise 7.3 - SwiGLU
#
# *time ~10 min · difficulty 2/5 · 6 points*
#
# **Task.** Write the module with three linear layers. `d_ff` is the hidden width of the
# *old* network; choose the largest new width for which the three matrices have no more
# parameters than the old two.
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
# The old network has `2 * d_model * d_ff` parameters, yours `3 * d_model * width`. What
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

    def forward(
        self, x: Float[Tensor, "*batch d_model"]
    ) -> Float[Tensor, "*batch d_model"]:
        """Transform each position on its own."""
        ### BEGIN SOLUTION
        gate = F.silu(self.w_gate(x))  # (..., width)
        return self.w_down(gate * self.w_up(x))  # (..., d_model)
        ### END SOLUTION


# %% check="since_2017/swiglu" points=6
# Looks at the sizes of the three matrices, values and gradients.
check("since_2017/swiglu", SwiGLU)

# %% [markdown]
# In most models without a mixture of experts, about two thirds of all parameters are in
# these layers.
#
# ## 4. Fewer keys and values
#
# While a model writes, it keeps the keys and values of all earlier positions in memory,
# and with long texts and many users, memory rather than arithmetic becomes the
# bottleneck. The remedy is to let several query heads **share** one key/value head
# (Ainslie et al. 2023):

# %%
drawing(
    "shared_keys",
    "7.3",
    "The fewer the groups, the more query heads share one key head.",
)

# %% [markdown]
# The heads that share keys are **neighbours**: with 4 query heads and 2 key heads,
# query heads 0 and 1 use key head 0. Multi-head attention (`g = h`) and multi-query
# attention (`g = 1`) are the two extremes.
#
# ### Exercise 7.4 - Grouped-query attention
#
# *time ~20 min · difficulty 4/5 · 13 points*
#
# **Task.** Compute scaled dot-product attention as in unit 2, except that `k` and `v`
# have only `g` heads. Return the output and the weights, and raise a `ValueError` if
# `g` does not divide `h`.
#
# **Example.** With `q (2, 6, 5, 8)`, `k (2, 3, 7, 8)` and `v (2, 3, 7, 4)`, the output
# is `(2, 6, 5, 4)` and the weights are `(2, 6, 5, 7)`.
#
# <details><summary>Contract</summary>
#
# - Query head `i` uses key/value head `i // (h / g)`.
# - Copying keys and values with `repeat_interleave` is allowed.
# - `F.scaled_dot_product_attention` is allowed only from Exercise 7.5 on.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# `@` broadcasts over leading dimensions. Can you give the queries a dimension for
# groups, so that each group meets *its* keys without a copy?
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
# raise ValueError if g does not divide h
# queries: by group; keys and values: one more dimension of size 1
# scores = queries times keys / root of d_k; flatten the groups into heads again
# -inf where the mask forbids; softmax over the keys
# weights by group, times values; flatten the groups into heads again
# ```
#
# </details>


# %% exercise="since_2017/grouped_attention"
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


# %% check="since_2017/grouped_attention" points=13
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
drawing(
    "block", "7.4", "The blocks of the model repeat, and its two ends share one table."
)

# %% [markdown]
# ### Exercise 7.5 - The attention layer
#
# *time ~20 min · difficulty 3/5 · 12 points*
#
# **Task.** Write causal self-attention with rotary positions and grouped heads. Rotate
# queries and keys, but **not values**, starting at position 0.
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

    def forward(self, x: Float[Tensor, "B L d_model"]) -> Float[Tensor, "B L d_model"]:
        """Attend to each position and those before it."""
        ### BEGIN SOLUTION
        q = mha.split_heads(self.w_q(x), self.num_heads)  # (B, h, L, d_k)
        k = mha.split_heads(self.w_k(x), self.num_kv_heads)  # (B, g, L, d_k)
        v = mha.split_heads(self.w_v(x), self.num_kv_heads)  # (B, g, L, d_k)
        angles = rotary_angles(x.size(1), q.size(-1), base=self.base)  # (L, d_k / 2)
        q, k = rotate(q, angles), rotate(k, angles)
        heads, _ = grouped_attention(q, k, v, attention.causal_mask(x.size(1)))
        return self.w_o(mha.merge_heads(heads))  # (B, L, d_model)
        ### END SOLUTION


# %% check="since_2017/attention_layer" points=12
# Looks at parameters, at values and gradients, and at the numbers that are kept.
check("since_2017/attention_layer", CausalAttention)

# %% [markdown]
# The block is a pre-norm layer as in unit 4: it normalises, applies attention and adds
# the result to `x`, and then does the same with the feed-forward network. LLaMA 7B
# stacks 32 of these blocks.


# %%
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
        return x + self.feed_forward(self.norm2(x))  # (B, L, d_model)


# %% [markdown]
# ### Exercise 7.6 - The language model
#
# *time ~15 min · difficulty 2/5 · 8 points*
#
# **Task.** Assemble the embedding, the blocks, a final norm and the logits. There is
# **no** separate output matrix: the logits are dot products with the *embedding's own*
# vectors (*tied embeddings*, Press and Wolf 2017).
#
# **Example.** `LanguageModel(50, 24, 6, 2, num_layers=3, d_ff=48)` maps ids `(B, L)` to
# logits `(B, L, 50)`.
#
# <details><summary>Contract</summary>
#
# - Submodules: `embedding`, `blocks` (an `nn.ModuleList` or `nn.Sequential`) and
#   `norm`.
# - `base` and `eps` are passed on to the blocks; the final norm has the same `eps`.
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
        ### BEGIN SOLUTION
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList(
            Block(d_model, num_heads, num_kv_heads, d_ff, base, eps)
            for _ in range(num_layers)
        )
        self.norm = RMSNorm(d_model, eps)
        ### END SOLUTION

    def forward(self, ids: Int[Tensor, "B L"]) -> Float[Tensor, "B L vocab_size"]:
        """Logits for the token after each position."""
        ### BEGIN SOLUTION
        x = self.embedding(ids)  # (B, L, d_model)
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), self.embedding.weight)  # (B, L, V)
        ### END SOLUTION


# %% check="since_2017/language_model" points=8
# Looks at parameters, logits and gradients.
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
# from uniform, together with the logits that the `transformers` library computes from
# them. The next cell loads the weights into your model using the names in the table
# and, if the library is installed (`pip install transformers`), also computes the
# logits afresh.
#
# A small difference proves something only if a mistake would make it large. The cell
# therefore also imitates three common mistakes, by changing the weights so that correct
# code gives the logits that the mistake would, and tries a model with the wrong base.


# %%
@demo
def against_a_llama():
    other = LanguageModel(**likeness.SIZES, base=1e6)
    likeness.compare(
        "llama", LanguageModel(**likeness.SIZES), {"base 1,000,000": other}
    )


# %% [markdown]
# For your model, the difference is no more than rounding error. Each mistake, however,
# changes some logit by more than half the magnitude of the largest logit, so none of
# them could go unnoticed.
#
# ## 6. Never compute anything twice
#
# Greedy decoding, as you wrote it in unit 5, feeds the model *all* tokens so far at
# each step, although under a causal mask the keys and values of old positions never
# change. Compute them once, keep them in a **cache**, and feed only the newest token,
# which makes `T` positions in all instead of $1 + 2 + \dots + T$. Three things need
# care: the rotation depends on the position, so new positions need an **offset**; there
# are fewer key/value heads than query heads; and a whole **chunk** of new positions may
# arrive at once, because the model reads a prompt in one pass before it writes token by
# token.
#
# ```text
# in the cache            new chunk x            position of x[0] is T, not 0
# k0 k1 … k(T-1)          kT  k(T+1)             new position i may attend to
# v0 v1 … v(T-1)          vT  v(T+1)             0 … T-1, and T … T+i
# ```
#
# ### Exercise 7.7 - Attention with a cache
#
# *time ~25 min · difficulty 4/5 · 14 points*
#
# A cache decides whether a model answers or keeps you waiting, and its bugs are silent,
# because text still comes out.
#
# **Task.** Return the output of `layer` for the new positions `x` only, and the new
# cache. On the first call, `cache` is `None`; afterwards it is what the previous call
# returned, in any form you like.
#
# **Example.** After a prompt of 5, `attend_with_cache(layer, x, cache)` with `x (B, 1,
# d_model)` returns what `layer` gives at position 5 of the whole text, `(B, 1,
# d_model)`.
#
# <details><summary>Contract</summary>
#
# - `layer` has the attributes of your `CausalAttention`, both submodules and numbers.
# - Project each position once; keep rotated keys and unrotated values, with `g` heads.
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
# T = number of positions in the cache, 0 if there is none
# q, k, v of the new positions; rotate q and k by the angles of positions T, T + 1, ...
# if there is a cache: old keys before new ones; old values before new ones
# grouped attention with the last n rows of the causal mask of T + n
# merge, w_o; return the output, and keys and values as the new cache
# ```
#
# </details>


# %% exercise="since_2017/attend_with_cache"
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


# %% check="since_2017/attend_with_cache" points=14
# Feeds chunks of several lengths, goes back to an old cache, counts what is projected.
check("since_2017/attend_with_cache", attend_with_cache)

# %% [markdown]
# The rest of the model treats each position separately, so the whole model with a cache
# is a short loop:


# %%
def cached_logits(
    model: nn.Module, ids: Int[Tensor, "B n"], caches: list | None = None
) -> tuple[Float[Tensor, "B n V"], list]:
    """Logits of new ids, and the caches of all blocks."""
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
# To see how much this saves, we measure the time for one more token after 31, 63, … up
# to 511 others, first without a cache, where each token costs a pass over the whole
# text, and then with one.


# %% folded=true
# @title The shortest of three runs, in milliseconds
def milliseconds(work: Callable) -> float:
    runs = []
    for _ in range(3):
        started = time.perf_counter()
        work()
        runs.append(1000 * (time.perf_counter() - started))
    return min(runs)


# %% folded=true
# @title The 32nd to the 512th token, timed with and without a cache
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
# position is recomputed. With a cache, the curve is nearly flat: only the cost of
# attending to the cached keys still grows, and at this size it is small.
#
# **Predict first.** A model the size of LLaMA 7B has 32 layers and 32 heads of 128
# components. At 4,096 tokens, with two bytes per number, does its cache take megabytes
# or gigabytes?

# %%
my_guess = "?"  # write yours here, then run the cell


# %% folded=true
# @title The cache of a model the size of LLaMA 7B
@demo
def bytes_of_the_cache():
    """The cache of a model the size of LLaMA 7B for one text of 4,096 tokens."""
    layers, d_k, length, bytes_each = 32, 128, 4096, 2
    for name, groups in (("MHA", 32), ("GQA", 8), ("MQA", 1)):
        size = 2 * layers * groups * d_k * length * bytes_each  # keys and values
        print(f"{name}: {groups:2d} heads of keys and values: {size / 2**20:7,.0f} MiB")


# %% [markdown]
# This is what the groups are for: the cache for *one* text takes two gigabytes with
# multi-head attention, half a gigabyte with eight key/value heads, and 64 megabytes
# with one.

# %% [markdown]
# ## 7. Which token now?
#
# The model gives logits, and we have to choose a token. Beam search, the usual method
# in 2017, looks for the most probable text, but in open-ended writing that text is dull
# and repeats itself (Holtzman et al. 2020). So we **sample**, usually from a
# distribution that has been reshaped first. You know temperature, top-k and top-p from
# unit 5. Nguyen et al. 2024 added **min-p**: probabilities below `min_p` *times the
# largest one* become zero and the rest are rescaled, so few tokens are left when the
# model is certain, and many when it is not. Whether min-p is better than top-p is
# disputed: Schaeffer et al. 2025 tuned all samplers equally and found no advantage.
#
# `generate` samples with an **explicit generator**, which makes a text reproducible
# whatever else uses random numbers. A global seed cannot guarantee that, since one
# extra call to dropout somewhere may change every later token.


# %%
def next_distribution(
    logits: Float[Tensor, "B V"], temperature: float = 1.0, min_p: float = 0.0
) -> Float[Tensor, "B V"]:
    """The probabilities that the next token is sampled from."""
    probabilities = (logits / temperature).softmax(dim=-1)  # (B, V)
    least = min_p * probabilities.amax(dim=-1, keepdim=True)  # (B, 1)
    kept = probabilities.masked_fill(probabilities < least, 0.0)
    return kept / kept.sum(dim=-1, keepdim=True)


@torch.no_grad()
def generate(
    next_logits: Callable[[Tensor], Tensor], prompt: Int[Tensor, "B T"], count: int,
    generator: torch.Generator, **options: float,
) -> Int[Tensor, "B T+count"]:  # fmt: skip
    """Write `count` tokens after a prompt."""
    ids = prompt
    for _ in range(count):
        probabilities = next_distribution(next_logits(ids), **options)  # (B, V)
        sampled = torch.multinomial(probabilities, 1, generator=generator)  # (B, 1)
        ids = torch.cat((ids, sampled), dim=1)
    return ids


# %% [markdown]
# ## 8. How good is it?
#
# A language model is judged by the probability that it assigns to text it has not seen.
# From the mean negative log-probability of a token, $\ell = -\frac{1}{n}\sum_t \log
# p(x_t \mid x_{<t})$, we get unit 5's **perplexity** $e^\ell$: the number of equally
# likely tokens among which the model seems to choose.
#
# Models differ, however, in what they call a token. If tokens are long, a text has few
# of them and the perplexity is large; if they are single bytes, it has many and the
# perplexity is small. What can be compared is **bits per byte**: the sum of all
# negative log-probabilities, in bits, divided by the number of bytes in the text.
#
# It also matters how much context $x_{<t}$ contains if the model sees at most `window`
# tokens: when a text is simply cut into pieces, the first tokens of each piece have
# little or none. We therefore let windows **overlap**: each starts `stride` tokens
# after the previous one, and we count only those of its tokens that no earlier window
# has counted.
#
# ```text
# window 6, stride 4      x = not counted again, n = counted
# text        0  1  2  3  4  5  6  7  8  9 10
# 1st         .  n  n  n  n  n                        token 0 is never predicted
# 2nd                     x  x  n  n  n  n
# 3rd                                 x  x  n         reaches the end: the last one
# ```
#
# On the same text, WikiText-2, GPT-2 (large) has a perplexity of 19.4 if the windows do
# not overlap, but of 16.4 if they overlap by half (Hugging Face's documentation,
# *Perplexity of fixed-length models*).


# %%
@torch.no_grad()
def sliding_perplexity(
    model: Callable[[Tensor], Tensor], ids: Int[Tensor, "L"], window: int, stride: int,
    num_bytes: int,
) -> tuple[float, float]:  # fmt: skip
    """Perplexity per token and bits per byte of a text, with windows.

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
# ## 9. Train it
#
# Two things in the recipe below deserve a look before you use them. The **W** in AdamW
# stands for weight decay. With Adam, it used to be added to the gradient and then
# divided, like everything else, by the root of the second moment, so weights with large
# gradients hardly decayed. Loshchilov and Hutter 2019 *decoupled* it from the gradient,
# so that all weights shrink by the same factor. You know **clipping** from unit 5; it
# matters because a single bad batch can have a gradient a hundred times longer than
# usual, which then dominates the moment estimates for many steps.
#
# You hand in the model of this section, and grading needs text that it cannot have
# seen. The model is therefore trained on sentences that the course's own grammar
# generates afresh, split so that no statement (who does what) occurs in both training
# and test text. Tokens are **bytes**: there is no tokenizer and no unknown word, the
# vocabulary has 128 entries, and bits per byte are simply the loss divided by $\log 2$.


# %%
@demo
def the_text():
    text = "\n".join(corpora.generate("a look", 5))
    print(text)
    print(f"{len(text)} bytes; the first ten are {list(text[:10].encode())}")


# %% [markdown]
# ### Exercise 7.8 - The trained model
#
# *time ~20 min, a few of them for the computer · difficulty 2/5 · 8 points*
#
# **Task.** Write `train_model`: train a `new_model()` on the text from `text_ids`, and
# return it. You hand in its weights as `modern.safetensors`.
#
# **Example.** `train_model(3200)` returns a model that assigns the next byte of unseen
# text a probability of about 43 % on average.
#
# A recipe that works: batches of 32 windows that start at random positions in a text of
# 60,000 sentences; the mean loss over all next bytes; `torch.optim.AdamW` with
# `betas=(0.9, 0.95)` and `weight_decay=0.1`; clipping gradients at norm 1; a learning
# rate of 0.01 times `rate_factor`, with 5 % of the steps for warm-up. If all randomness
# derives from `seed`, the run is reproducible.
#
# <details><summary>Contract</summary>
#
# - A model that sees the future earns no points.
#
# </details>
# <details><summary>How it is graded</summary>
#
# Grading does not train: it loads your file into a model of these sizes and measures it
# on unseen text. What counts is the geometric mean of the probabilities of the correct
# bytes (1 over the perplexity). The points grow continuously with this mean:
#
# | probability | perplexity | share of the points | what reaches it |
# |---|---|---|---|
# | 10 % | 10 | 0 | a table of which byte follows which |
# | 30 % | 3.3 | 50 % | |
# | 37 % | 2.7 | 80 % | the recipe, 800 steps |
# | 41.5 % | 2.4 | 100 % | |
# | 43 % | 2.3 | 100 % | the recipe, 3,200 steps |
# | 46 % | 2.2 | 100 % | more steps; from here on there is a bonus |
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
# If the loss falls almost to 0: does each position predict the *next* byte, or itself?
#
# </details>

# %% exercise="since_2017/trained_model"
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
# Train the model now, for 3,200 steps; a progress bar shows the time left. The weights
# are saved beside the notebook, and you hand in both. **If you change something
# afterwards,** set `TRAIN_ANEW = True` or delete the file.

# %%
TRAIN_ANEW = False
STEPS = 3200
WEIGHTS = Path("modern.safetensors")


@demo
def train_and_save():
    require_solved(train_model)
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


# %% check="since_2017/trained_model" points=8
# Measures your model on text that it has not seen.
check("since_2017/trained_model", trained_model)

# %% [markdown]
# Without any model, a byte costs 7 bits, since there are 128 possible values. Knowing
# how often each one occurs brings this down to 4.5 bits, and knowing which byte follows
# which, to 3.3; the recipe reaches about 1.1. Most of the remaining loss comes from the
# choice of the next *word*, which no model could predict. (The check measures a little
# more, because its windows do not overlap.)


# %% folded=true
# @title Four ways to sample from the trained model
@demo
def it_writes():
    require_solved(train_model)
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
# Most words and some sentences are correct, but few sentences make sense: this is what
# 48 thousand parameters can do. At a low temperature the text is safe, and at a high
# one min-p keeps it readable, because it cuts off the long tail of bytes that do not
# continue any word.

# %% [markdown]
# ## 10. It reads English
#
# So far, our sentences have come from a grammar, but every Python installation includes
# a large text written by people for people: the parts of the language reference that
# `help()` shows, and the docstrings of the standard library. Together they come to 1.6
# or 1.7 million characters, of which we hold out every twentieth document. (The text
# varies with the version of Python, so your numbers may differ a little from those
# below.)


# %%
@demo
def what_the_manual_says():
    global MANUAL, UNSEEN
    # A text of your own: english.split(Path("my_text.txt").read_text().split("\n\n"))
    MANUAL, UNSEEN = english.split(english.manual())
    print(f"{len(MANUAL):,} characters to learn from, {len(UNSEEN):,} held out\n")
    print(UNSEEN[:400])


# %% [markdown]
# We compare two kinds of tokens, single bytes and merged ones. Your `learn_merges` and
# `segment` from unit 6 work here unchanged, because each byte can be written as a
# single character. As in GPT-2 (Radford et al. 2019, section 2.2), the text is first
# cut into **pieces**, which merges never cross: words with the space before them,
# numbers, punctuation and white space. Without this step, many merges would be wasted
# on variants such as `dog.`, `dog!` and `dog?`.


# %%
PIECES = re.compile(r" ?[^\W\d_]+| ?\d+| ?[^\s\w]+|_+|\s+(?!\S)|\s+")


def learn_byte_pairs(text: str, num_merges: int) -> english.BytePairs:
    """Byte-pair encoding on bytes, within the pieces of a text."""
    pieces = Counter(PIECES.findall(text))
    counts = {word.encode().decode("latin-1"): n for word, n in pieces.items()}
    merges = recovery.learn_merges(counts, num_merges)
    return english.BytePairs(merges, recovery.segment, PIECES.findall)


@demo
def tokens_of_a_sentence():
    global pairs
    pairs = learn_byte_pairs(MANUAL, 768)
    for text in ("The function returns a new dictionary.", "Glühwein is unhashable."):
        ids = pairs.encode(text).tolist()
        print("|".join(pairs.decode([i]) for i in ids))
        print(f"    {len(text.encode())} bytes, {len(ids)} tokens")
    count = len(pairs.encode(UNSEEN))
    print(f"{pairs.vocab_size} tokens; {len(UNSEEN.encode()) / count:.2f} bytes per "
          "token of the held-out text")  # fmt: skip


# %% [markdown]
# Frequent words become single tokens, rare words are split into parts, and no text is
# unknown: a letter such as ü is two bytes, neither of which is a character by itself.
#
# **Predict first.** Two models with the same three blocks are trained for 1,200 steps
# on windows of 96 tokens, one on bytes and one on merged pairs. Which of the two has
# the lower loss per *token* on unseen text, and which the lower loss per *byte*?

# %%
my_guess = "per token ?, per byte ?"  # write yours here, then run the cell


# %% folded=true
# @title Train a model on the manual; print its loss and a sample at four moments
SAMPLED = 240  # bytes


def read_manual(
    tokens: english.Bytes | english.BytePairs, steps: int = 1200
) -> dict[int, float]:
    """Train a model; its bits per byte of unseen text at four checkpoints."""
    text, bits = UNSEEN[:60_000], {}
    moments = [steps * part // 60 for part in (5, 15, 24, 60)]
    unseen = tokens.encode(text)
    bytes_per_token = len(text.encode()) / len(unseen)
    model = LanguageModel(tokens.vocab_size, 96, 4, 2, 3, 288)
    recipe.start_small(model, seed=0, std=0.05)

    def watch(step: int) -> None:
        if step not in moments:
            return
        nats = training.nats_per_token(model, unseen)
        bits[step] = nats / math.log(2) / bytes_per_token
        ids = generate(
            lambda ids: model(ids[:, -96:])[:, -1], tokens.encode("The class ")[None],
            round(SAMPLED / bytes_per_token), torch.Generator().manual_seed(0),
            temperature=0.7,
        )  # fmt: skip
        print(f"\n--- {step} steps: {nats:.3f} nats per token, "
              f"{bits[step]:.3f} bits per byte")  # fmt: skip
        print(tokens.decode(ids[0].tolist()))

    started = time.process_time()
    training.train(model, tokens.encode(MANUAL), steps, seed=0, watch=watch)
    print(f"\n({time.process_time() - started:.0f} CPU seconds)")
    return bits


# %%
@demo
def it_reads_english():
    curves = {}
    for name, tokens in (("bytes", english.Bytes()), ("pairs of bytes", pairs)):
        print(f"\n=== {name}")
        curves[name] = read_manual(tokens)
    pictures.reading(curves)


# %% [markdown]
# Per token, the bytes win by about two nats, but this comparison is meaningless,
# because a token of the second model is two and a half bytes long on average. Per byte,
# the pairs win by over a fifth of a bit. Even that is not quite fair: in the same
# number of steps, the model trained on pairs has read two and a half times as much
# text, and its larger embedding table gives it a quarter more parameters. After 480
# steps, when it has read as many bytes as the other model in all of its 1,200, the two
# are about level. What merges buy is reading speed, together with a longer context in
# the same 96 tokens.
#
# The byte model writes letters and spaces after 100 steps, short words after 300, and
# after 1,200 something that, from a distance, looks like a manual: phrases of several
# words are correct, whole sentences hardly ever are, and the text means nothing.
#
# ## 11. What a training run needs
#
# Three questions decide whether a long run is worth starting: does it fit into memory,
# how long will it take, and what will come out? The first two need nothing but
# arithmetic, and are the subject of this section.
#
# Training keeps four tensors in memory, each the size of the model: the **parameters**,
# their **gradients**, and AdamW's two **moment estimates**. It also keeps
# **activations**, the intermediate results that the backward pass needs, and these grow
# with the batch.
#
# **Predict first.** The model trained on pairs above has 348 thousand parameters, which
# take 1.4 megabytes in float32. How many megabytes does one of its training steps need,
# with 8 windows of 96 tokens?

# %%
my_guess = "? MB"  # write yours here; the cell below the exercise has the answer

# %% [markdown]
# ### Exercise 7.9 - The memory of a training step
#
# *time ~20 min · difficulty 4/5 · 9 points*
#
# **Task.** For a `LanguageModel` of the given sizes, return how many bytes its training
# state (the four tensors) and its activations take, all in float32, using the counts in
# the contract.
#
# **Example.** For `LanguageModel(50, 24, 6, 2, num_layers=3,
# d_ff=48)` and 4 texts of 10 tokens, the result is `(206208, 224960)`.
#
# <details><summary>Contract</summary>
#
# - Embeddings are tied, so the table is counted once; `num_kv_heads` and the width of
#   SwiGLU are as in your modules.
# - For each token, a block keeps 10 vectors of size `d_model`, 4 of SwiGLU's width, and
#   one row of `length` attention weights per query head.
# - For each token, 3 vectors of size `d_model` and one row of logits are kept after the
#   last block.
# - Smaller tensors, such as masks, angles and one root mean square per norm, are left
#   out.
# - The results are integers.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Print the names and shapes of the parameters of a small `LanguageModel`. Which of them
# occur once, and which once per block?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# w_q, w_o              (d_model, d_model) each
# w_k, w_v              (g * d_k, d_model) each
# w_gate, w_up, w_down  3 * width * d_model,  width = two thirds of d_ff, rounded down
# attention weights     (batch, h, length, length) in each block
# logits                (batch, length, V)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# parameters = table + blocks * (attention + feed-forward + 2 norms) + last norm
# per token  = blocks * (10 d_model + 4 width + h * length) + 3 d_model + V
# state = 4 tensors * 4 bytes * parameters
# activations = 4 bytes * tokens of the batch * per token
# ```
#
# </details>


# %% exercise="since_2017/training_bytes"
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
    ### BEGIN SOLUTION
    d_k, width = d_model // num_heads, 2 * d_ff // 3
    attention = 2 * d_model**2 + 2 * d_model * num_kv_heads * d_k
    block = attention + 3 * d_model * width + 2 * d_model
    parameters = vocab_size * d_model + num_layers * block + d_model
    token = num_layers * (10 * d_model + 4 * width + num_heads * length)
    token += 3 * d_model + vocab_size
    return 4 * 4 * parameters, 4 * batch * length * token
    ### END SOLUTION


# %% check="since_2017/training_bytes" points=9
# Compares both counts for models of several shapes.
check("since_2017/training_bytes", training_bytes)

# %% [markdown]
# A measurement shows whether the counts are right: the next cell runs one training step
# and adds up the sizes of all tensors that PyTorch keeps for it. It also computes how
# many texts of 2,048 tokens fit into 16 GB for SmolLM2-135M, the chat model of the
# finale.


# %%
@demo
def predicted_and_measured():
    require_solved(training_bytes)
    for sizes, batch, length in (
        ((1024, 96, 4, 2, 3, 288), 8, 96), ((256, 64, 8, 2, 4, 192), 4, 256)
    ):  # fmt: skip
        predicted = sum(training_bytes(*sizes, batch, length))
        model = LanguageModel(*sizes)
        measured = sum(training.measure_step(model, sizes[0], batch, length))
        print(f"{sizes}: predicted {predicted / 1e6:.1f} MB, measured "
              f"{measured / 1e6:.1f} MB, {predicted / measured - 1:+.1%}")  # fmt: skip
    state, text = training_bytes(49_152, 576, 9, 3, 30, 2304, 1, 2048)
    texts = (16 * 10**9 - state) // text
    print(f"135 million parameters: state {state / 1e9:.2f} GB, each text of 2,048 "
          f"tokens {text / 1e9:.2f} GB; in 16 GB: {texts} text")  # fmt: skip


# %% [markdown]
# A step of the small model takes 29 megabytes, 21 times as much as its parameters,
# and most of that is activations. For 135 million parameters, the state alone is 2.15
# GB, and since each text adds 7.9 GB, no more than **one** text fits into 16 GB. More
# than half of a text's activations are attention weights, which grow in number with the
# square of the length and which tiled attention (unit 2) never stores.
#
# Time is estimated by counting floating-point operations. A forward pass takes two of
# them for each parameter and token, one multiplication and one addition, and the
# backward pass takes twice as many, so a run with $N$ parameters and $D$ tokens needs
# about $6ND$ (Kaplan et al. 2020, section 2.1). How long would *your* machine take for
# 135 million parameters?


# %%
@demo
def days_of_a_run():
    model = LanguageModel(1024, 256, 4, 2, 4, 768)
    count = sum(parameter.numel() for parameter in model.parameters())
    started = time.perf_counter()
    training.train(model, torch.randint(1024, (5000,)), 10, seed=0)
    speed = 6 * count * 10 * 8 * 96 / (time.perf_counter() - started)
    print(f"this machine, one thread: {speed / 1e9:.0f} billion operations per second")
    for name, tokens in (("20 per parameter", 2.7e9), ("as SmolLM2", 2e12)):
        days = 6 * 135e6 * tokens / speed / 86_400
        print(f"{tokens:,.0f} tokens ({name}): {days:,.0f} days")


# %% [markdown]
# Hoffmann et al. 2022 found that about twenty tokens per parameter are best for a given
# amount of computation. The published model read 2 trillion tokens (Ben Allal et al.
# 2025), more than seven hundred times as many as this rule suggests, because a small
# model that will be used often is worth training for longer.
#
# ## 12. A scaling law
#
# The third question was what will come out. Kaplan et al. 2020 found that the loss of
# language models follows a **power law** in their size, $L(N) = a N^{-b}$, over several
# orders of magnitude. If this holds, small and cheap models predict a large and
# expensive one, because on logarithmic axes a power law is a straight line,
# $\log L = \log a - b \log N$.
#
# ### Exercise 7.10 - Fit a power law
#
# *time ~10 min · difficulty 2/5 · 7 points*
#
# **Task.** Fit $L = a N^{-b}$ to measured losses: find the least-squares line through
# the points $(\log N, \log L)$, and return `a` and `b`.
#
# **Example.** For the sizes `[100, 10000]` and the losses `[4.0, 2.0]`, the result is
# `a = 8.0` and `b = 0.1505`.
#
# <details><summary>Contract</summary>
#
# - Both results are numbers, and both are positive if the loss falls with the size.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# A line through points $(x, y)$ has a slope and an intercept. Which of them gives `a`,
# and which gives `b`?
#
# </details>
# <details><summary>Hint 2: the formula</summary>
#
# ```text
# slope = sum of (x - mean of x) * (y - mean of y)
#         over sum of (x - mean of x) squared
# intercept = mean of y - slope * mean of x
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# x, y = logarithms of sizes and losses
# slope and intercept of the line
# a is the exponential of the intercept; b is the negated slope
# ```
#
# </details>


# %% exercise="since_2017/fit_power_law"
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
    ### BEGIN SOLUTION
    x, y = model_sizes.log(), losses.log()  # (n,) each
    slope = ((x - x.mean()) * (y - y.mean())).sum() / (x - x.mean()).square().sum()
    return (y.mean() - slope * x.mean()).exp().item(), -slope.item()
    ### END SOLUTION


# %% check="since_2017/fit_power_law" points=7
# Looks at points on a power law and near one.
check("since_2017/fit_power_law", fit_power_law)

# %% [markdown]
# **Predict first.** The next cell trains four models on the bytes of the manual for 400
# steps each, fits the power law to them, and only then trains a fifth, which is two and
# a half times as large as the fourth. By what percentage will the line miss its loss?

# %%
my_guess = "? %"  # write yours here, then run the cell


# %% folded=true
# @title Train a model of some width on the manual, as bytes
def train_width(d_model: int, times: int = 1, steps: int = 400) -> tuple[int, float]:
    """The parameters in the blocks of a model, and its loss on unseen text."""
    tokens, model = english.Bytes(), LanguageModel(256, d_model, 4, 2, 2, 3 * d_model)
    recipe.start_small(model, seed=0, std=0.1)
    training.train(
        model, tokens.encode(MANUAL), times * steps, seed=0, rate=0.01, batch=16,
        context=64,
    )  # fmt: skip
    count = sum(parameter.numel() for parameter in model.blocks.parameters())
    return count, training.nats_per_token(model, tokens.encode(UNSEEN[:40_000]), 64)


# %%
@demo
def predict_the_fifth():
    require_solved(fit_power_law)
    started = time.process_time()
    runs = [train_width(d_model) for d_model in (8, 16, 24, 40)]
    for count, loss in runs:
        print(f"{count:6,} parameters in the blocks: loss {loss:.3f}")
    model_sizes, losses = torch.tensor(runs).T
    a, b = fit_power_law(model_sizes, losses)
    runs.append(train_width(64))
    print(f"{runs[-1][0]:6,}: predicted {a * runs[-1][0] ** -b:.3f}, measured "
          f"{runs[-1][1]:.3f}; after 800 steps "
          f"{train_width(64, 2)[1]:.3f}")  # fmt: skip
    print(f"({time.process_time() - started:.0f} CPU seconds)")
    pictures.scaling(*zip(*runs, strict=True), a, b)


# %% [markdown]
# The line comes close: over five seeds and three versions of Python, the fifth model
# was between 1 % better and 5 % worse than predicted, although it is sixty times as
# large as the first. Three things contribute to the error. First, the points scatter:
# between two seeds, the loss of a model with 29 thousand parameters differs by up to
# 4 %, which tilts the line. Second, every model was stopped after 400 steps; with 800,
# the fifth model falls well below the line, so the line describes a *budget*, not what
# a model of a given size can reach. Third, a power law falls towards zero, but no model
# can predict what is random in a text, so Hoffmann et al. 2022 (section 3.3) add a
# constant for this floor.
#
# ## 13. Finale: a chat model in your code
#
# SmolLM2-135M-Instruct (Ben Allal et al. 2025) is a chat model with Llama's
# architecture: 30 blocks, `d_model` 576, 9 query heads and 3 key/value heads, a SwiGLU
# of width 1536, and tied embeddings of 49,152 tokens. Your `LanguageModel` has all of
# these parts, and only two settings differ from your defaults: the rotary base is
# 100,000, and the norms' epsilon is 1e-5.
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
# The file stores query and key projections whose rotary pairs are **neighbours**,
# whereas your `rotate` pairs **halves**. Permuting their rows puts each component where
# the other convention expects it, and since queries and keys are permuted alike, no
# score changes. `pairs_to_halves` treats each head separately: in a head of six
# components, it reorders rows 0 1 2 3 4 5 as 0 2 4 1 3 5.


# %%
def pairs_to_halves(
    weight: Float[Tensor, "num_heads*d_k d_model"], num_heads: int
) -> Float[Tensor, "num_heads*d_k d_model"]:
    """Reorder a projection for rotary pairs that are halves instead of neighbours."""
    by_pair = weight.unflatten(0, (num_heads, -1, 2))  # (h, d_k / 2, 2, d_model)
    return by_pair.transpose(1, 2).flatten(0, 2)  # (h * d_k, d_model)


# %% [markdown]
# ### Exercise 7.11 - A parameter from the file
#
# *time ~15 min · difficulty 2/5 · 6 points*
#
# **Task.** Given the name of one of your model's parameters, return its tensor from the
# file: look it up under the name used there, and convert the query and key projections.
#
# **Example.** For `"blocks.3.attention.w_o.weight"`, the tensor is
# `published["blk.3.attn_output.weight"]`, unchanged. `w_q` of the same block goes
# through `pairs_to_halves` with `num_heads`.
#
# <details><summary>Contract</summary>
#
# - The model may have any number of blocks.
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
# a table from the last word of each of your names ("norm1", "w_q", ...) to the file's
# name in the file: "blk.", block number and "." if there is a block; then the table's
# look the tensor up
# for w_q and w_k: pairs_to_halves, with the number of heads of that projection
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


# %% check="since_2017/published_tensor" points=6
# Looks at each parameter of models of several depths, and at what is looked up.
check("since_2017/published_tensor", published_tensor)

# %% [markdown]
# The cell after the folded one looks for the model's own file; if that is missing, the
# cell tells you in one line how to get it (98 MB, Apache-2.0), and the text below
# describes what you would see. The model is filled one parameter at a time, because its
# 135 million parameters take 0.54 GB in float32, and all tensors and all parameters
# together would take twice as much.


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


def answer(
    next_logits: Callable, ids: Int[Tensor, "1 T"], most: int, **options: float
) -> Int[Tensor, "1 T+n"]:
    """The ids of a prompt and its answer, up to the end of the turn."""
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
    require_solved(published_tensor)  # before it looks for 98 MB
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
# the same answer, whereas `ask("...", temperature=0.7, min_p=0.1)` samples, so its
# answer depends on the seed, which `answer` above sets to 0.
#
# A model of 135 million parameters writes fluent English and knows the capital of
# France, but it cannot be relied on for facts, fails at most sums, jokes, rhymes and
# languages other than English, and will not tell you when it does not know.

# %%
QUESTIONS = ["What is the capital of France?", 'Reverse the word "cat".']


def ask(question: str, most: int = 60, **options: float) -> str:
    """The model's answer; without options, of the most probable tokens.

    It is written with your cache or, while Exercise 7.7 is not solved, without one.
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
# This answer, **"The capital of France is Paris."**, went through your RMSNorm, your
# rotations, your gates and grouped heads and, once you have written it, your cache.
#
# **Predict first.** Suppose we used the query and key projections as they are stored,
# without `pairs_to_halves`, so that every weight is the same and only the order of some
# rows differs. Will the answer be slightly worse, plain wrong, or not English at all?

# %%
my_guess = "?"  # write yours here, then run the cells below

# %%
TEXT = (
    "The Transformer is a neural network that was published in 2017. It reads all "
    "words of a sentence at once, and each word looks at all others to find out what "
    "it means here. Since then, nearly every large language model has been built from "
    "it."
)
PERPLEXITY = 23.54  # of this text, with the published weights


# %% folded=true
# @title Its perplexity, and its queries and keys from the file
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


# %%
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
# Without the conversion, the perplexity rises from **23.5** to 71, and the answer to
# the question about France is something like *"You are a man with the love to help me,
# I can be a man"*. It is instructive that this is still English. The feed-forward
# networks, the embeddings and the value projections are intact, so one word still
# suggests the next; but components that were trained as a pair no longer rotate
# together, and what is lost is *which word is where*. No shape is wrong and no error is
# raised, so no test of shapes would catch it.
#
# Finally, we look at the cache in use. Per token, it holds the keys and values of 3
# heads of 64 components in 30 blocks, at 4 bytes each: 46,080 bytes.


# %% folded=true
# @title The cache of the chat model: seconds and bytes
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
# The cache takes as much memory as we computed: 1.7 MB for the prompt, and 0.38 GB for
# the 8,192 tokens that this model can read. With it, the model computes one position
# per token instead of reprocessing the whole text.
#
# **A question for you.** Asked to reverse "cat", a model of 135 million parameters
# answers that it "is a word that has a similar sound to 'cat' but with a different
# spelling", although unit 5's model reverses sequences with less than a thousandth as
# many. Write down why you think that is before you read on.
#
# *An answer* that does not blame the size: "cat" is **one token** out of 49,152, so the
# model never sees its letters, and what it knows of spelling comes from texts that
# spell words out. It was also trained to continue texts, in which words are hardly ever
# reversed, while unit 5's model sees one symbol per position, and saw nothing but
# reversals in training. What a model can do depends on its data, its tokens and its
# objective before it depends on its size.

# %% [markdown]
# ## Three ages of one machine
#
# You built the column *LLaMA, 2023*, but with shared keys and values and a tied output
# matrix; unit 10 builds parts of the last column. That column often has several
# entries, because the open models of 2025 and 2026 disagree. Where they agree, the
# question is settled for now; everything else is still being tried out.
#
# | part | 2017 | LLaMA, 2023 | 2025/26 |
# |---|---|---|---|
# | family | encoder and decoder | decoder only | decoder only |
# | position of the norm | after the sum | before the branch | before the branch (Qwen3); before and after it (Gemma 3); after it, inside the residual (OLMo 2) |
# | norm | LayerNorm | RMSNorm | RMSNorm, in these three also on queries and keys |
# | positions | sines, added to the input | rotary, base 10,000 | rotary, base 1,000,000 (Qwen3); 10,000 in local layers and 1,000,000 in global ones (Gemma 3) |
# | who attends to whom | every position; in the decoder all earlier ones | all earlier ones | all earlier ones (Qwen3); 5 layers with a window of 1,024 per global layer (Gemma 3); 3 with 4,096 per global layer (Olmo 3) |
# | key/value heads | as many as query heads | as many as query heads | a few (Qwen3, Gemma 3); as many (OLMo 2 7B); one compressed vector instead (DeepSeek-V3) |
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
# ## What you built
#
# - RMSNorm, rotary positions, SwiGLU and grouped-query attention, each matching an
#   implementation that you did not write;
# - a decoder-only model that matches a Llama 3.2-style model with tied embeddings,
#   weight by weight, and runs a published chat model;
# - a cache that makes the model faster;
# - models that learnt from real English, as bytes and as merged pairs of bytes;
# - a forecast of a training run's memory and time, and a scaling law that predicts its
#   loss.
#
# Take this with you: *the machine of 2017 is still there; what has changed is its
# parts, and each change can be measured.*
#
# ## Go further
#
# - Schaeffer et al. 2025, *Min-p, Max Exaggeration*: how a comparison of samplers can
#   mislead.
# - Unit 8, *From base model to assistant*, makes a base model do reliably what it does
#   only some of the time. Unit 9, *Look inside*, finds the heads that do a particular
#   job. Unit 10, *Newer and faster*, builds what later models added, and measures what
#   each part buys. All three need this unit, but none of them needs the other two.

# %% [markdown]
# ## Where you stand
#
# Your points so far, and what to do next. Run this cell again after each exercise.

# %%
check.summary()
