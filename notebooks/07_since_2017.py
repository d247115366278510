# %% [markdown]
# # 7 · Since 2017
#
# *An optional unit, after the six.* You have built the Transformer of 2017. Open the
# code of a language model of today, and you will find about the same machine, with most
# of its screws replaced. This unit replaces them, one by one. At the end you have built
# such a model, and a test shows that it computes what the `transformers` library
# computes for a Llama with the same weights, to five digits.
#
# **You will learn**
# - the parts that changed: RMSNorm, rotary positions, SwiGLU, grouped-query attention;
# - what a cache of keys and values is, what it saves and what it costs in memory;
# - how a token is chosen from logits: repetition penalty, temperature, min-p;
# - to measure a language model: perplexity with a sliding window, bits per byte;
# - AdamW and gradient clipping by hand, equal to PyTorch's;
# - what each part buys at this size, measured, also where it buys nothing;
# - to write a test for cached decoding, where bugs hide best.
#
# *About 8 hours · short path about 3: exercises 7.1, 7.2, 7.3, 7.6, 7.7, 7.8, 7.9,
# 7.10, 7.11*
#
# *26 exercises and one question in words · 100 points; the whole notebook runs in about
# five minutes on one core, half of it the training near the end.* The short path
# carries the story: read the rest, and come back to it.
#
# **Recap.** Unit 2 gave `attention.causal_mask(L)`: True where a query may look. Unit 3
# gave `mha.split_heads(x, h)`, from `(B, L, h * d_k)` to `(B, h, L, d_k)`, and
# `mha.merge_heads`, the way back. Unit 5 gave
# `reversal.rate_factor(step, warmup, steps)`: warm-up, then cosine. We use them as they
# are.
#
# **Conventions of this unit**
#
# | name | meaning |
# |---|---|
# | `B`, `L` | texts in a batch, positions in a text |
# | `d_model`, `d_k` | size of a vector at a position, and of one head's queries and keys |
# | `h`, `g` (in code `num_heads`, `num_kv_heads`) | heads of queries; heads of keys and values |
# | `V` | size of the vocabulary |
# | mask | boolean, **`True` = may attend**, broadcastable to `(B, h, Lq, Lk)` |
# | layers | pre-norm, without biases, without dropout; matrices start at random, and PyTorch's own start values will do |
#
# **2017 and today**, as one table. Most of its rows are exercises.
#
# | part | Vaswani et al. 2017 | today | who proposed it |
# |---|---|---|---|
# | place of the norm | after the sum | before the branch | Xiong et al. 2020 explain why |
# | norm | LayerNorm | RMSNorm | Zhang and Sennrich 2019 |
# | positions | sines, added to the input | rotations of queries and keys | Su et al. 2021 |
# | feed-forward | ReLU between two matrices | SwiGLU, three matrices | Shazeer 2020 |
# | heads of keys and values | as many as of queries | a few | Shazeer 2019; Ainslie et al. 2023 |
# | biases | everywhere | nowhere | Chowdhery et al. 2022 (PaLM) |
# | family | encoder and decoder | decoder only | Radford et al. 2018 |
# | choosing a token | beam search | sampling: top-p, min-p | Holtzman et al. 2020; Nguyen et al. 2024 |
# | optimizer | Adam | AdamW, with clipping | Loshchilov and Hutter 2019 |
# | all of it together | | LLaMA | Touvron et al. 2023 |

# %%
import math
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_model, save_model
from torch import Tensor, nn
from tqdm.auto import tqdm

from autograder import check, demo, drawing, earlier
from autograder.library import corpora, likeness
from autograder.library.published import available
from autograder.units.since_2017.library import pictures, trials

# False: what earlier units built comes from the course, right for sure. True: from your
# own notebooks, if they lie beside this one. Grading always uses the course's.
USE_MY_OWN = False
attention = earlier("02_attention", mine=USE_MY_OWN)
mha = earlier("03_multi_head_attention", mine=USE_MY_OWN)
reversal = earlier("05_sequence_reversal", mine=USE_MY_OWN)

torch.set_num_threads(1)  # for tensors this small, more threads only get in the way
torch.set_printoptions(precision=4, sci_mode=False)

# %%
drawing("three_ages", "7.1", "A layer of 2017, of LLaMA and of today.")

# %% [markdown]
# ## 1. A norm with less to do
#
# LayerNorm takes away the mean of a vector, divides by its standard deviation, scales
# and shifts. Which of these does the work? Zhang and Sennrich 2019 left out the mean
# and the shift, and lost nothing. What is left divides by the **root mean square**:
#
# $$\operatorname{RMSNorm}(x) =
# \frac{x}{\sqrt{\frac{1}{d}\sum_i x_i^2 + \varepsilon}} \odot w$$
#
# **Predict first.** Layers run in half precision today. The largest number of `float16`
# is 65,504. A vector holds the number 300. What is its square there? And what is
# $x / \infty$?
#
# ### Exercise 7.1 - RMSNorm
#
# *time ~12 min · difficulty 2/5 · 5 points*
#
# **Why it matters.** It stands twice in every layer. And it is one of the few places in
# a model where half precision is not enough.
#
# **What to do.** Write the module: one parameter `weight`, which starts as ones, and no
# bias. Inputs of half precision (`float16`, `bfloat16`) are normalised in `float32`,
# others in their own dtype. The result has the dtype of `x`. Do not use `nn.RMSNorm` or
# `F.rms_norm`; you will be compared with them.
#
# <details><summary>Hint 1: a question</summary>
#
# Is ε added to the mean of the squares, or to its root? Look at the formula, and think
# of a vector of zeros: what would its gradient be in the other case?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# x              (..., d_model)     float16, say
# as float32     (..., d_model)
# mean square    (..., 1)           one number a vector: keep the dimension
# result         (..., d_model)     float16 again
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


# %% check="since_2017/rms_norm" points=5
# Looks at values, gradients, small and large vectors, and at half precision.
check("since_2017/rms_norm", RMSNorm)


# %%
@demo
def what_half_precision_does():
    x = torch.tensor([300.0, -200.0, 100.0, 50.0]).half()
    naive = x / (x * x).mean(-1, keepdim=True).sqrt()
    print(f"300 squared in half precision: {(x[0] * x[0]).item()}")
    theirs = nn.RMSNorm(4, eps=1e-6)(x.float())
    for name, normed in (
        ("normalised in half precision:", naive),
        ("normalised in float32:", RMSNorm(4)(x)),
        ("PyTorch's, in float32:", theirs),
    ):
        print(f"{name:<30} {[round(v, 2) for v in normed.tolist()]}")


# %% [markdown]
# 90,000 is more than `float16` can hold. The square is infinite, and what is
# divided by infinity is zero: no error, no NaN, only a layer that says nothing.
#
# ## 2. Positions that turn
#
# In unit 1 you *added* a vector to each embedding to say where it stands. And you found
# that moving by $k$ places is a **rotation** of the sinusoid, the same one everywhere.
# Su et al. 2021 take this seriously: do not add anything. *Rotate* queries and keys, by
# an angle that grows with the place.
#
# Take two of a query's numbers as a point in the plane. At place $m$ it is turned by
# $m\theta$. A key at place $n$ is turned by $n\theta$. Their dot product depends on the
# angle between them, and that is $(m - n)\theta$: **only the distance counts.** A head
# has $d_k$ numbers, so $d_k / 2$ such points. Each has its own speed, from one radian a
# place down to almost nothing:
#
# $$\theta_i = \text{base}^{-2i / d_k}, \qquad i = 0, \dots, d_k/2 - 1$$
#
# ### Exercise 7.2 - the angles
#
# *time ~8 min · difficulty 1/5 · 3 points*
#
# **Why it matters.** The offset looks harmless. In section 6 it is what half of all
# bugs are about.
#
# **What to do.** Return the angle of each place and each pair: row `i` belongs to place
# `offset + i`, column `j` to the speed $\theta_j$.
#
# <details><summary>Hint 1: a question</summary>
#
# `torch.arange(0, d_k, 2)` gives 0, 2, 4, ... Is that $i$ or $2i$?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# speeds      (d_k / 2,)          1 first, then smaller and smaller
# places      (length,)           offset, offset + 1, ...
# angles      (length, d_k / 2)   each place times each speed
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# speeds = base to the power of -(0, 2, 4, ..., d_k - 2) / d_k
# angle[i, j] = (offset + i) * speeds[j]
# ```
#
# </details>


# %% exercise="since_2017/rotary_angles"
def rotary_angles(
    length: int, d_k: int, offset: int = 0, base: float = 10_000.0
) -> Tensor:
    """By how much each pair of numbers is turned at each place (Su et al. 2021).

    Args:
        length: number of places.
        d_k: size of a query or key; even.
        offset: the first place.
        base: larger means that the slow pairs turn more slowly.

    Returns:
        Angles in radians, shape `(length, d_k / 2)`, float32; new ones in each call.
    """
    ### BEGIN SOLUTION
    speeds = base ** -(torch.arange(0, d_k, 2) / d_k)  # (d_k / 2,)
    places = torch.arange(offset, offset + length)  # (length,)
    return places[:, None] * speeds  # (length, d_k / 2)
    ### END SOLUTION


# %% check="since_2017/rotary_angles" points=3
# Looks at several lengths, sizes, offsets and bases.
check("since_2017/rotary_angles", rotary_angles)

# %% [markdown]
# ### Exercise 7.3 - turn
#
# *time ~15 min · difficulty 3/5 · 6 points*
#
# **Why it matters.** Which two numbers form a point? The paper takes neighbours: 0 and
# 1, 2 and 3. LLaMA's code in most libraries takes **halves**: 0 and $d_k/2$, 1 and
# $d_k/2 + 1$. Both are right, and a model trained with one is nonsense with the other.
#
# **What to do.** Turn each vector, in halves: number `j` of the first half and number
# `j` of the second half are the point that is turned by `angles[..., j]`:
#
# $$a' = a\cos\varphi - b\sin\varphi, \qquad b' = a\sin\varphi + b\cos\varphi$$
#
# The result has the dtype of `x`, and `x` stays as it was. Cosine and sine are taken of
# the angles as they come, in their own dtype: half precision knows no difference
# between 2048 and 2049 radians.
#
# <details><summary>Hint 1: a question</summary>
#
# If you write the new first half into `x` before you compute the second one: which $a$
# does the second formula see?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# x                 (..., L, d_k)
# angles            (L, d_k / 2)         broadcasts over all dimensions in front
# a, b              (..., L, d_k / 2)    the two halves of x
# result            (..., L, d_k)        the new halves, one behind the other
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# a, b = first half and second half of the last dimension
# new a, new b = by the two formulas
# put new a before new b; back to the dtype of x
# ```
#
# </details>


# %% exercise="since_2017/rotate"
def rotate(x: Tensor, angles: Tensor) -> Tensor:
    """Turn each pair of numbers, in halves, by its angle.

    Args:
        x: queries or keys, shape `(..., L, d_k)`.
        angles: in radians, shape `(L, d_k / 2)`.

    Returns:
        The turned vectors, shape `(..., L, d_k)`, in the dtype of `x`.
    """
    ### BEGIN SOLUTION
    a, b = x.chunk(2, dim=-1)  # (..., L, d_k / 2) each
    cos, sin = angles.cos(), angles.sin()
    turned = torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1)
    return turned.to(x.dtype)  # (..., L, d_k)
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
# Pair 0 tells neighbours apart. The last pair hardly moves in twelve places: it is a
# slow clock for long texts, or, for short ones, two numbers that know nothing of places
# at all.
#
# ### Exercise 7.4 - a probe for the distance
#
# *time ~10 min · difficulty 2/5 · 3 points*
#
# **Why it matters.** "Only the distance counts" is a claim about code. Claims about
# code can be measured.
#
# **What to do.** `turn(x, offset)` is *somebody's* way to put places into queries or
# keys: row `i` of `x` stands at place `offset + i`. Turn `q` and `k` once from place 0
# on, and once from place `shift` on. Return the **largest change, in absolute value,**
# of any score $q_i \cdot k_j$ as a Python float.
#
# <details><summary>Hint 1: a question</summary>
#
# Which numbers must not change: the turned queries, or their dot products with the
# turned keys?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# q, k              (B, Lq, d_k), (B, Lk, d_k)
# scores            (B, Lq, Lk)      twice: from place 0, from place `shift`
# result            a float
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# scores(offset) = turn(q, offset) @ turn(k, offset), the last one transposed
# the largest absolute value of scores(shift) - scores(0)
# ```
#
# </details>


# %% exercise="since_2017/relative_gap"
def relative_gap(
    turn: Callable[[Tensor, int], Tensor], q: Tensor, k: Tensor, shift: int
) -> float:
    """How much scores change if a whole text moves by `shift` places.

    Args:
        turn: called as `turn(x, offset)`, gives a tensor of the shape of `x`.
        q, k: queries `(B, Lq, d_k)` and keys `(B, Lk, d_k)`.
        shift: by how many places the text moves.

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
# Gives your probe ways to place vectors that are relative, and some that are not.
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
        print(f"{name:<14} largest change after 1, 10, 100 places:   {listed}")


# %% [markdown]
# For the rotation nothing is left but rounding. The added sines do contain the distance
# (unit 1), but scores also hold products of content and place, and those change.
#
# ### Exercise 7.5 - from pairs to halves
#
# *time ~12 min · difficulty 3/5 · 3 points*
#
# **Why it matters.** The paper's pairs are neighbours, our halves are not. Weights that
# were trained with one convention can be used with the other, if the **rows of the
# projection** change places: then each number of a query finds itself where the other
# convention looks for it. Scores do not notice, since queries and keys change alike.
# This very function stands in the script that converts LLaMA's published weights.
#
# **What to do.** Given the weight of a projection that feeds rotary *neighbours* (head
# after head; in each head the numbers 0 and 1 are a point, 2 and 3, ...), return the
# weight that feeds rotary *halves*, so that `rotate` turns the same points by the same
# angles.
#
# <details><summary>Hint 1: a question</summary>
#
# A head with `d_k = 6`. In the new order, which old numbers stand in the first half,
# and which in the second?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# weight          (h * d_k, d_model)          rows are numbers of heads, `x @ weight.T`
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
        The same rows in another order, shape `(h * d_k, d_model)`.
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
        """The paper's way: as complex numbers, one a pair."""
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
# One matrix computes values, another one decides for each of them how much of it
# passes. Shazeer 2020 tried several such gates, found them all better than ReLU, and
# closed: "We offer no explanation as to why these architectures seem to work; we
# attribute their success, as all else, to divine benevolence."
#
# A fair comparison needs equal weights. The old network has two matrices of
# `d_model × d_ff`. The new one has three.
#
# **Predict first.** How wide may the new hidden layer be, if the number of weights is
# to stay the same?
#
# ### Exercise 7.6 - SwiGLU
#
# *time ~12 min · difficulty 2/5 · 5 points*
#
# **Why it matters.** About two thirds of a model's weights stand in these layers.
#
# **What to do.** Write the module with three linear layers `w_gate`, `w_up`, `w_down`,
# all without bias. `d_ff` is the width of the *old* network. Make the hidden layer here
# as wide as it can be with **no more** weights than the two matrices of the old one.
#
# <details><summary>Hint 1: a question</summary>
#
# `2 * d_model * d_ff` weights on one side, `3 * d_model * width` on the other. What if
# `d_ff` is not divisible by 3?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# x                     (..., d_model)
# gate, up              (..., width)       silu on the gate only
# gate times up         (..., width)       number by number
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
    """A gated feed-forward network (Shazeer 2020), with as many weights as the old one.

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


# %% check="since_2017/swiglu" points=5
# Looks at the sizes of the three matrices, values and gradients.
check("since_2017/swiglu", SwiGLU)

# %% [markdown]
# ## 4. Fewer keys and values
#
# While a model writes, it keeps the keys and values of all earlier positions in memory.
# With long texts and many readers this memory, not arithmetic, is the limit. So let
# several heads of queries **share** one head of keys and values (Ainslie et al. 2023):

# %%
drawing("shared_keys", "7.3", "Four heads of queries, and how many of keys.")

# %% [markdown]
# Heads that share are **neighbours**: with 4 heads of queries and 2 of keys, query
# heads 0 and 1 belong to key head 0.
#
# ### Exercise 7.7 - grouped-query attention
#
# *time ~20 min · difficulty 4/5 · 8 points*
#
# **Why it matters.** Multi-head attention (`g = h`) and multi-query attention (`g = 1`)
# are its two ends. One function for all three.
#
# **What to do.** As `scaled_dot_product_attention` of unit 2, but `k` and `v` have only
# `g` heads. Return output and weights. If the heads do not divide evenly into groups,
# raise a `ValueError` that says so. You may copy keys and values (`repeat_interleave`),
# but the point is *not* to have them `h` times: try it without.
#
# <details><summary>Hint 1: a question</summary>
#
# `@` broadcasts over leading dimensions. Can you give the queries a dimension of
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


# %% check="since_2017/grouped_attention" points=8
# Looks at both ends and between them, at masks of several shapes, and at the error.
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
# ### Exercise 7.8 - the attention layer
#
# *time ~20 min · difficulty 3/5 · 7 points*
#
# **Why it matters.** Three of your parts meet here. The order matters: what is turned,
# and when?
#
# **What to do.** Write causal self-attention with rotary positions and grouped heads.
# - Four linear layers without bias: `w_q` (to `h * d_k`), `w_k` and `w_v` (to
#   `g * d_k`), `w_o` (back to `d_model`), where `d_k = d_model / h`. Head `i` owns the
#   `i`-th block of numbers.
# - Queries and keys are turned, **values are not**. The first position has place 0.
#   (Any other would do: why?)
# - Keep `num_heads`, `num_kv_heads` and `base`, that of the angles, as attributes:
#   section 6 asks for them. The `state_dict()` holds nothing but the four weights; in
#   the exercises that follow, nothing but the weights that are named.
#
# <details><summary>Hint 1: a question</summary>
#
# `rotate` pairs number `j` with number `j + d_k / 2`. Which `d_k` is meant if you turn
# before you split into heads, and which if you turn afterwards?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# x                   (B, L, d_model)
# q                   (B, L, h * d_k)   ->   (B, h, L, d_k)    turned
# k                   (B, L, g * d_k)   ->   (B, g, L, d_k)    turned
# v                   (B, L, g * d_k)   ->   (B, g, L, d_k)
# heads, merged       (B, L, h * d_k)   ->   w_o
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# project x three times, split each into its heads
# angles for L places, d_k numbers and the layer's base; turn q and k
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
        """From `(B, L, d_model)` to `(B, L, d_model)`; no position sees a later one."""
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
# Looks at parameters, at who sees whom, at values and gradients.
check("since_2017/attention_layer", CausalAttention)

# %% [markdown]
# ### Exercise 7.9 - the block
#
# *time ~8 min · difficulty 2/5 · 4 points*
#
# **Why it matters.** This is what is stacked: 32 times in LLaMA 7B.
#
# **What to do.** Pre-norm, as in unit 4: `x` plus the attention of its norm, then that
# plus the feed-forward network of *its* norm. The parts are called `norm1`,
# `attention`, `norm2`, `feed_forward`. Both norms are `RMSNorm(d_model, eps)`, and the
# attention gets the `base`.
#
# <details><summary>Hint 1: a question</summary>
#
# Of what does `norm2` take the norm: of the block's input, or of what the attention has
# made of it?
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


# %% check="since_2017/block" points=4
# Looks at parameters, at who sees whom, at values and gradients.
check("since_2017/block", Block)

# %% [markdown]
# ### Exercise 7.10 - the language model
#
# *time ~12 min · difficulty 2/5 · 5 points*
#
# **Why it matters.** It is whole. And it is somebody else's, too: below are the names
# under which every one of its weights stands in a published Llama.
#
# **What to do.** Embedding, blocks, a last norm like theirs, logits. `base` and `eps`
# are handed on to the blocks, and the last norm has the same `eps`. The parts are
# called `embedding`, `blocks` (an `nn.ModuleList`, say) and `norm`. There is **no**
# output matrix: the logits are the products with the *embedding's own* vectors (*tied*,
# Press and Wolf 2017). No scaling by $\sqrt{d_{model}}$.
#
# <details><summary>Hint 1: a question</summary>
#
# A logit says how well a token fits. Which vector of size `d_model` does every token
# have already?
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
    """A decoder-only model as they are built today (Touvron et al. 2023).

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
# Looks at parameters, at who moves whom, at logits of several batches, at gradients.
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
# The course ships a small Llama as numbers: random weights with which attention is far
# from flat, and the logits that the `transformers` library computes from them. The next
# cell loads the weights into your model by the names of the table. Where the library is
# installed (`pip install transformers`), it computes its logits once more.
#
# A small difference proves something only if mistakes make a large one. So the cell
# also changes the weights in such a way that correct code gives the logits of three
# popular mistakes.


# %%
def llama_name(name: str) -> str:
    """The name in a published Llama of one of our parameters."""
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
          f"{theirs.logits.abs().max():.1f}; largest difference to them:")  # fmt: skip
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
# What is left for your model is rounding. Each of the mistakes moves the logits by more
# than half of the largest one, so none of them could hide.
#
# ## 6. Never compute anything twice
#
# Unit 5 ended with a cache. Three things are new: positions are turned, so that new
# ones need an **offset**; keys and values have fewer heads; and a whole **chunk** of
# new positions may come at once. (A prompt does: it is read in one go, then the model
# writes token by token.)
#
# ```text
# in the cache            new chunk x            place of x[0] is T, not 0
# k0 k1 … k(T-1)          kT  k(T+1)             new position i may see
# v0 v1 … v(T-1)          vT  v(T+1)             0 … T-1, and T … T+i
# ```
#
# ### Exercise 7.11 - attention with a cache
#
# *time ~25 min · difficulty 4/5 · 9 points*
#
# **Why it matters.** It makes the difference between a model that answers and one that
# keeps you waiting. And its bugs are silent: text still comes out.
#
# **What to do.** Given a `layer` like yours
# (`w_q, w_k, w_v, w_o, num_heads, num_kv_heads, base`), compute its output for the new
# positions only. `cache` is `None` at first. Later it is whatever you returned the last
# time: its form is up to you. Project each position **once**; keys are kept after they
# are turned, keys and values with `g` heads. Do not change the old cache: somebody may
# want to go back to it.
#
# <details><summary>Hint 1: a question</summary>
#
# There are `T` old positions and `n` new ones. How many rows and how many columns has
# the mask? And which of its entries are False, if `n = 1`?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# x                  (B, n, d_model)
# q, new k, new v    (B, h, n, d_k), (B, g, n, d_k) twice       turned from place T on
# k, v with old      (B, g, T + n, d_k)
# mask               (n, T + n)         the last n rows of a causal mask of T + n
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# T = how many positions are in the cache, 0 if there is none
# q, k, v of the new positions; turn q and k by the angles of the places T, T + 1, ...
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


# %% check="since_2017/attend_with_cache" points=9
# Feeds chunks of several lengths, goes back to an old cache, counts what is projected.
check("since_2017/attend_with_cache", attend_with_cache)

# %% [markdown]
# The rest of a model treats each position on its own. So the whole model with a cache
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
# **Predict first.** We feed 512 tokens, one by one, and look at the time of each.
# Without a cache the whole text is computed anew for each token. What do the two curves
# look like?


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
    print(f"largest difference of the logits, with and without: {gap:.1e}")


# %%
@demo
def bytes_of_the_cache():
    """What a model of the size of LLaMA 7B keeps for one text of 4,096 tokens."""
    layers, d_k, length, bytes_a_number = 32, 128, 4096, 2
    for name, groups in (("MHA", 32), ("GQA", 8), ("MQA", 1)):
        size = 2 * layers * groups * d_k * length * bytes_a_number  # keys and values
        print(f"{name}: {groups:2d} heads of keys and values: {size / 2**20:7,.0f} MiB")


# %% [markdown]
# Two gigabytes for *one* reader with multi-head attention, half a gigabyte with eight
# heads of keys and values, 64 megabytes with one. This is what the groups are for.


# %% [markdown]
# ## 2025/26
#
# LLaMA is the common ancestor of today's open models, and its descendants have moved
# on. Four changes are found in many of them: norms for queries and keys, layers that
# see only a window, experts in place of one feed-forward network, and an optimizer that
# is made for matrices. You build each of them in a few lines, compare it with code that
# nobody here wrote, and measure what it buys at an equal number of steps.

# %% folded=true
# @title Small models with new parts, and one seed for all that follows
SEED = 0  # of the first weights and of the batches: the sentences below hold for others
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
# Nothing limits a score. Queries and keys grow while a model learns, their products
# grow with the square, and a softmax over large scores puts all its weight on one key
# and passes almost no gradient on. When Dehghani et al. 2023 (section 2) scaled a
# vision Transformer to 8 billion parameters, training diverged because of it. The cure
# goes back to Henry et al. 2020: **normalise the queries and keys of each head** before
# they are compared. Qwen3 (Yang et al. 2025, section 2), Olmo 2 and Gemma 3 do so with
# the RMSNorm that you have built.
#
# **Predict first.** RMSNorm gives a vector of $d_k$ components the length $\sqrt{d_k}$,
# as long as its weights are ones. With $d_k = 16$, how large can a score
# $q \cdot k / \sqrt{d_k}$ become?
#
# ### Exercise 7.20 - attention with QK-norm
#
# *time ~12 min · difficulty 2/5 · 3 points*
#
# **Task.** Write `QKNormAttention`: your `CausalAttention` with one RMSNorm for the
# queries and one for the keys of each head, applied before the rotation.
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
# Checks parameters, who sees whom, values and gradients.
check("since_2017/qk_norm", QKNormAttention)

# %% [markdown]
# The next cell puts your layer into the model of exercise 7.10 and compares it with a
# Qwen3 in small.


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
# weights are trained, so larger scores remain possible. But now a model has to ask for
# them in $2 d_k$ parameters, and they are no longer a side effect of all the others.
#
# What does it buy? Two small models start from the same matrices and see the same
# batches, at three times the learning rate that we use elsewhere. The figure follows
# the largest score on text that neither of them trains on.


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
# With the norms the largest score stays about three to six times smaller, with each of
# the five seeds that we tried. The loss is another matter: it is lower with the norms
# for some seeds and higher for others, because a model of this size does not diverge
# without them either. QK-norm is a safety measure for large models, and it costs two
# vectors of weights per layer.
#
# ### A window on the past
#
# The cache of section 6 grows with the text, in every layer. Most heads look nearby
# most of the time, so most layers can do with a **sliding window**: each position sees
# itself and the $w - 1$ positions before it (Beltagy et al. 2020; Jiang et al. 2023,
# section 2, Mistral 7B with $w$ = 4,096). A layer with a window keeps the keys and
# values of $w$ positions and forgets older ones. Information still travels further:
# each layer passes it on by up to $w - 1$ positions. Gemma 3 (Gemma Team 2025, section
# 2) places five such *local* layers before each *global* one, with $w$ = 1,024.
#
# ### Exercise 7.21 - the mask of a window
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
# Query `i` sees key `j`. Which values may `i - j` have?
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
# ### Exercise 7.22 - the bytes of a cache
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
# **Predict first.** Gemma 3 27B has 62 layers, every sixth of them global, 16 heads of
# keys and values with 128 components. For a text of 131,072 tokens, what share of the
# cache is left, compared with global layers only: about 1/2, 1/6 or 1/60?


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
# Close to 1/6: in a long text the local layers hardly count. In a short one, they save
# nothing. Here is the layer, which is `CausalAttention` with another mask:


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
    """What makes an attention layer of the small models, with a window."""

    def make() -> nn.Module:
        layer = WindowAttention(32, 4, 2)
        layer.window = window
        return layer

    return make


@demo
def against_a_mistral():
    def model(window: int | None) -> nn.Module:
        made = LanguageModel(**likeness.SIZES)
        return exchanged(made, attention=with_window(window))

    compare("mistral", model(4), {
        "a window that is larger by one": model(5), "no window": model(None),
    })  # fmt: skip


# %% [markdown]
# **Predict first.** Two models are trained on windows of 32 bytes, one with global
# layers, one with layers that see 8 positions. What happens to their losses when they
# read 64 or 128 bytes at a time?


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
# over to distances that training never showed. With a window no such
# distance exists, so the loss even *falls*, since longer texts have fewer bytes without
# any past. At the training length the two are close. That is at this size and on
# sentences that are short; a model that has to look up a name 10,000 tokens back needs
# its global layers. A mask saves no computing time either. What saves time and memory
# is a cache that forgets.
#
# ### Experts
#
# A feed-forward network that is twice as wide knows more, and costs twice as much for
# every token. A **mixture of experts** has several networks and a *router*, which picks
# a few of them for each token (Shazeer et al. 2017). The parameters grow with the
# number of experts, while the computing per token grows with the number of experts that
# are *picked*. Mixtral (Jiang et al. 2024, section 2.1) picks 2 of 8; DeepSeek-V3 picks
# 8 of 256, and one more that is always on.
#
# The router is a linear layer with one logit per expert. The $k$ largest logits of a
# token win, and a softmax over *these* gives the weights of the experts' outputs:
#
# $$y = \sum_{i \in \text{top-}k} w_i \, E_i(x), \qquad
# w = \operatorname{softmax}(\text{the } k \text{ largest logits})$$
#
# ### Exercise 7.23 - routing
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
# - Gradients flow to the logits that were chosen.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# What is the softmax of a logit that is `-inf`?
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
# ### Exercise 7.24 - a mixture of experts
#
# *time ~15 min · difficulty 3/5 · 3 points*
#
# **Task.** Write the module: a router, experts that are `SwiGLU` networks, and for each
# vector the weighted sum of the outputs of its experts.
#
# **Example.** `MixtureOfExperts(8, 12, num_experts=4)` maps `(2, 5, 8)` to `(2, 5, 8)`.
# Its 10 vectors cause 20 calls of an expert, not 40.
#
# <details><summary>Contract</summary>
#
# - Submodules `router` (`nn.Linear` without bias) and `experts` (an `nn.ModuleList` of
#   `SwiGLU(d_model, d_ff)`).
# - An expert computes only the vectors that are routed to it; there may be none.
# - One or more leading dimensions.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# `x[chosen]`, with a boolean mask `chosen` of shape `(B, L)`: which shape does it have?
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
# An expert that gets few tokens learns little, so it gets fewer still. Therefore one
# adds a loss that is smallest when all experts are used alike (Fedus et al. 2022,
# equations 4 to 6). With $f_i$ the share of tokens that are sent to expert $i$, and
# $P_i$ the mean probability that a softmax over *all* logits gives to it:
#
# $$\mathcal{L}_\text{balance} = E \sum_{i=1}^{E} f_i \, P_i$$
#
# The shares $f_i$ come from counting, so no gradient flows through them. It flows
# through the $P_i$, and lowers the probability of those experts most that are used
# most.
#
# ### Exercise 7.25 - the load-balancing loss
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
# Now three models, with equal computing per token: the feed-forward network of the
# first one has 64 hidden components, the others have four experts of 32, two of which
# are used. The third one also minimises a hundredth of the balancing loss.
#
# **Predict first.** Without that loss, does one expert get everything?


# %% folded=true
# @title How much each expert is used while a mixture is trained
def routers_of(model: nn.Module) -> list[Tensor]:
    """A list with the logits `(B, L, E)` of each router when the model is called."""
    kept = []
    for number, block in enumerate(model.blocks):
        kept.append(torch.zeros(1, 1, 4))
        block.feed_forward.router.register_forward_hook(
            lambda _, given, logits, number=number: kept.__setitem__(number, logits)
        )
    return kept


def load_of(logits: Tensor) -> Tensor:
    """The share of all slots that each expert has, `(E,)`."""
    return (route(logits.flatten(0, -2), 2) > 0).float().mean(dim=0) / 2


def mixture_trained(name: str, factor: float) -> list[float]:
    """The share of the least used expert during training; prints what else is known."""
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
    dense = small_model()
    print(f"{'dense':<15} {trials.train(dense, STEPS_OF_EXPERTS, SEED)}")
    pictures.loads({
        "without": mixture_trained("without", 0.0),
        "with balancing": mixture_trained("with balancing", 0.01),
    })  # fmt: skip


# %% [markdown]
# Not quite. Without the balancing loss the load is uneven: at some time in training,
# one expert of a block gets only a few percent of the tokens. Which one it is, and
# whether it recovers, depends on the seed. With the loss, each of them soon gets about
# a quarter.
#
# And what do experts buy? After 300 steps, hardly anything: the three losses are close,
# their order depends on the seed, and the dense network takes less time. Each expert
# sees about half of the tokens, so it has had half as many chances to learn. After
# 1,000 steps both mixtures were ahead with each seed that we tried, by 0.01 to 0.1
# nats; set `STEPS_OF_EXPERTS` to see it. A dense network with as many parameters
# as all experts together is better still, and on one CPU it is also faster. Experts pay
# where computing is the limit and memory is not.
#
# ### An optimizer for matrices
#
# Adam treats a matrix as a list of numbers. But a layer multiplies by it, and what
# matters there are its singular values. The updates of most layers are nearly of low
# rank: a few directions get all of the step, and the others hardly move. **Muon**
# (Jordan et al. 2024) takes the momentum of the gradient, $M = U S V^\top$, and
# replaces it by $U V^\top$: the same directions, each with the same length of step.
# Kimi K2 was trained by a variant of it (Kimi Team 2025, section 2.1).
#
# A singular value decomposition in each step would be slow. A polynomial does almost
# the same. For $X = U S V^\top$,
#
# $$a X + b\,(X X^\top) X + c\,(X X^\top)^2 X = U\,(aS + bS^3 + cS^5)\,V^\top,$$
#
# so it leaves the directions alone and moves each singular value by the polynomial $as
# + bs^3 + cs^5$. Repeated five times with $a = 3.4445$, $b = -4.7750$, $c = 2.0315$, it
# brings all but the smallest ones close to 1. This is a **Newton-Schulz iteration**
# with coefficients that were tuned for speed; it does not converge to 1, and need not.
#
# **Predict first.** Start from $s = 0.01$. Is it above or below 0.5 after five steps?
#
# ### Exercise 7.26 - orthogonalise
#
# *time ~12 min · difficulty 2/5 · 3 points*
#
# **Task.** Divide the matrix by its Frobenius norm plus `eps`, then apply the
# polynomial `steps` times.
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
    before = before / before.norm()  # what the division by the norm makes of them
    for steps in range(6):
        after = orthogonalise(torch.diag(before), steps).diagonal()
        print(f"{steps} steps:", "  ".join(f"{value:6.3f}" for value in after))


# %% [markdown]
# Each column follows one singular value, and the fifth one begins at 0.01: after five
# steps it is **above** 0.5. The first five columns end between 0.68 and 1.10, and only
# the last one, which began a thousand times smaller than the first, is still on its
# way. None of them settles at 1. The coefficients were chosen to lift small values
# fast, since it hardly matters whether a direction gets 0.7 or 1.1 of a step.
#
# The optimizer around it is short: a running mean of the gradients, as in Adam, is
# mixed with the newest one (Nesterov's momentum), and the result is orthogonalised.
# Only matrices *inside* the blocks are treated like this. Embeddings and norms stay
# with AdamW: a row of an embedding is the vector of one token and no part of a linear
# map.


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
# Both learning rates are the best of a small sweep. Muon ends lower with every seed
# that we tried, by more than the seeds differ from each other. Its lead shrinks when
# both train longer, and each of its steps takes a little more time, for the additional
# matrix products. How much is left in large models is disputed: Liu et al. 2025
# (Moonlight) report that AdamW needs about twice the computing for the same loss, while
# Wen et al. 2025, who tuned both with equal care, find 1.4 times for small models and
# 1.1 times for one of 1.2 billion parameters.


# %% [markdown]
# ## 7. Which token now?
#
# The model gives logits. Somebody has to choose. Beam search, the choice of 2017, finds
# the most probable text, and for open-ended writing that is a dull one: it repeats
# itself (Holtzman et al. 2020). So one **draws**, from a distribution that was pushed
# into shape first. Three pushes, in this order:
#
# 1. **Repetition penalty** $r$ (Keskar et al. 2019): a token that was written already
#    loses. A positive logit is divided by $r$, a negative one is *multiplied*.
# 2. **Temperature** $\tau$: all logits are divided by it. Small: sharper. Large:
#    flatter.
# 3. **Min-p** (Nguyen et al. 2024): of the probabilities, those below `min_p` *times
#    the largest one* become zero, and the rest is scaled to sum to 1. When the model is
#    sure, little is left; when it is not, much.
#
# **Predict first.** Why is a negative logit not divided as well?
#
# ### Exercise 7.12 - the distribution
#
# *time ~15 min · difficulty 3/5 · 1 point*
#
# **Why it matters.** Every knob of a chat model's interface is a line of this function.
#
# **What to do.** Return the probabilities after the three pushes. Each row of `written`
# holds the tokens of *its* text; one that occurs five times is penalised as much as one
# that occurs once. Leave the logits as they were.
#
# <details><summary>Hint 1: a question</summary>
#
# A logit of -2, divided by 1.3: did the token lose or win?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# logits        (B, V)
# written       (B, T)      ids
# occurs        (B, V)      bool: is this token among the row's ids?
# largest       (B, 1)      of the probabilities of each row
# result        (B, V)      rows that sum to 1
# ```
#
# `Tensor.scatter` writes values to places that are given by ids.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# where a token occurs:  logit / penalty if it is positive, logit * penalty if not
# probabilities = softmax(logits / temperature)
# zero where a probability is below min_p * the largest of its row
# each row, divided by its sum
# ```
#
# </details>


# %% exercise="since_2017/next_distribution"
def next_distribution(
    logits: Tensor,
    written: Tensor,
    penalty: float = 1.0,
    temperature: float = 1.0,
    min_p: float = 0.0,
) -> Tensor:
    """The distribution that the next token is drawn from.

    Args:
        logits: of the next token, shape `(B, V)`.
        written: the ids so far, shape `(B, T)`.
        penalty: for tokens that occur in `written`, at least 1; 1 means none.
        temperature: greater than 0.
        min_p: tokens below this share of the largest probability are out.

    Returns:
        Probabilities, shape `(B, V)`.
    """
    ### BEGIN SOLUTION
    occurs = torch.zeros_like(logits).scatter(1, written, 1.0).bool()  # (B, V)
    penalised = torch.where(logits > 0, logits / penalty, logits * penalty)
    logits = torch.where(occurs, penalised, logits)  # (B, V)
    chances = (logits / temperature).softmax(dim=-1)  # (B, V)
    least = min_p * chances.amax(dim=-1, keepdim=True)  # (B, 1)
    chances = chances.masked_fill(chances < least, 0.0)
    return chances / chances.sum(dim=-1, keepdim=True)
    ### END SOLUTION


# %% check="since_2017/next_distribution" points=1
# Looks at each push alone and at all three, at logits of both signs, row by row.
check("since_2017/next_distribution", next_distribution)

# %% [markdown]
# ### Exercise 7.13 - generate
#
# *time ~12 min · difficulty 2/5 · 1 point*
#
# **Why it matters.** An **explicit generator** makes a text repeatable, whatever else
# draws random numbers. A global seed does not: one more dropout somewhere, and every
# later token is a different one.
#
# **What to do.** Write `count` tokens behind a prompt. In each step, call
# `next_logits(ids so far)`, which gives logits `(B, V)`; make the distribution of
# exercise 7.12 from it, with the `options` handed on; draw one token for each row, from
# the given generator and from nothing else. How you draw is up to you. Nothing is
# learnt: record no gradients, and leave their recording as you found it, on or off.
#
# <details><summary>Hint 1: a question</summary>
#
# `torch.multinomial` draws for each row. From which generator does it draw if nobody
# tells?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# prompt              (B, T)
# logits              (B, V)
# drawn               (B, 1)
# ids afterwards      (B, T + 1)  …  (B, T + count)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# ids = prompt
# count times, without gradients:
#     chances = next_distribution of next_logits(ids), given what is written
#     draw one token a row, put it behind the ids
# return all ids, the prompt too
# ```
#
# </details>


# %% exercise="since_2017/generate"
def generate(
    next_logits: Callable[[Tensor], Tensor],
    prompt: Tensor,
    count: int,
    generator: torch.Generator,
    **options: float,
) -> Tensor:
    """Write tokens behind a prompt.

    Args:
        next_logits: from ids so far `(B, T)` to logits `(B, V)` of the next token.
        prompt: ids, shape `(B, T)`.
        count: how many tokens to write, 0 or more.
        generator: the source of all randomness.
        options: `penalty`, `temperature` and `min_p` of `next_distribution`.

    Returns:
        The prompt and the new tokens, shape `(B, T + count)`, int64.
    """
    ### BEGIN SOLUTION
    ids = prompt
    with torch.no_grad():
        for _ in range(count):
            chances = next_distribution(next_logits(ids), ids, **options)  # (B, V)
            drawn = torch.multinomial(chances, 1, generator=generator)  # (B, 1)
            ids = torch.cat((ids, drawn), dim=1)
    return ids
    ### END SOLUTION


# %% check="since_2017/generate" points=1
# Counts what is drawn, logs what a scripted model is shown, draws twice from one seed.
check("since_2017/generate", generate)

# %% [markdown]
# ## 8. How good is it?
#
# A language model is judged by the probability that it gives to text it has not seen.
# The mean price of a token, $\ell = -\frac{1}{n}\sum_t \log p(x_t \mid x_{<t})$,
# becomes the **perplexity** $e^\ell$: among how many equally likely tokens the model
# seems to choose.
#
# But what is a token? A model with long tokens has few of them, and a large perplexity;
# one of bytes has many, and a small one. The two cannot be compared. **Bits per byte**
# can be: the whole price, in bits, over the number of bytes of the text.
#
# And what is $x_{<t}$, if the model sees at most `window` tokens? Cut the text into
# pieces, and the first tokens of each piece have no past. So let windows **overlap**:
# each starts `stride` tokens after the one before, and only the tokens that no earlier
# window counted are counted.
#
# ```text
# window 6, stride 4      x = not counted again, n = counted
# text        0  1  2  3  4  5  6  7  8  9 10
# 1st         .  n  n  n  n  n                        token 0 is never predicted
# 2nd                     x  x  n  n  n  n
# 3rd                                 x  x  n         reaches the end: the last one
# ```
#
# ### Exercise 7.14 - perplexity
#
# *time ~20 min · difficulty 3/5 · 1 point*
#
# **Why it matters.** GPT-2 (large) on WikiText-2 has a perplexity of 19.4 with windows
# that do not overlap, and of 16.4 if they overlap by half (Hugging Face's
# documentation, *Perplexity of fixed-length models*). One model, one text.
#
# **What to do.** Return the perplexity per token and the bits per byte. Windows start
# at 0, `stride`, `2 * stride`, ... and end with the first one that reaches the end of
# the text. `stride` is less than `window`. The model is called with `(1, n)` ids and
# gives logits `(1, n, V)`.
#
# <details><summary>Hint 1: a question</summary>
#
# A window of `n` tokens gives the prices of `n - 1` of them. Of those, how many are
# new, if everything before place `scored` has been counted?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# ids                 (L,)
# window              (n,)          n = `window`, or fewer at the end
# logits              (1, n, V)     the last one predicts a token behind the window
# prices              (n - 1,)      of the window's tokens 1, …, n - 1
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# scored = 1, total = 0
# for begin in 0, stride, 2 * stride, ...:
#     end = begin + window, or the end of the text
#     prices of the window's tokens
#     total += the last (end - scored) of them;  scored = end
#     stop if this was the end
# perplexity = exp(total / number of predicted tokens)
# bits per byte = total / log(2) / number of bytes
# ```
#
# </details>


# %% exercise="since_2017/sliding_perplexity"
def sliding_perplexity(
    model: Callable[[Tensor], Tensor],
    ids: Tensor,
    window: int,
    stride: int,
    num_bytes: int,
) -> tuple[float, float]:
    """Perplexity per token and bits per byte of a text, with overlapping windows.

    Args:
        model: from ids `(1, n)` to logits `(1, n, V)`, where n is at most `window`.
        ids: the text, shape `(L,)`; token 0 is never predicted.
        window: how many tokens the model sees at most.
        stride: by how many tokens a window starts after the one before it, < window.
        num_bytes: the number of bytes of the text that is predicted.

    Returns:
        The perplexity and the bits per byte, as floats, in this order.
    """
    ### BEGIN SOLUTION
    total, scored = 0.0, 1
    for begin in range(0, len(ids), stride):
        end = min(begin + window, len(ids))
        seen = ids[begin:end]  # (n,)
        with torch.no_grad():
            logits = model(seen.unsqueeze(0))[0]  # (n, V)
        prices = F.cross_entropy(logits[:-1], seen[1:], reduction="none")  # (n - 1,)
        total += prices[-(end - scored) :].sum().item()
        scored = end
        if end == len(ids):
            break
    return math.exp(total / (len(ids) - 1)), total / math.log(2) / num_bytes
    ### END SOLUTION


# %% check="since_2017/sliding_perplexity" points=1
# Logs the windows that a scripted model is shown, and looks at both numbers.
check("since_2017/sliding_perplexity", sliding_perplexity)

# %% [markdown]
# ## 9. AdamW, by hand
#
# Gradient descent with two memories: a running mean $m$ of the gradients (which
# direction?) and a running mean $v$ of their squares (how large are they usually?). A
# step goes in direction $m$, measured in units of $\sqrt v$. Both memories start at
# zero and are too small at first; $1 - \beta^t$ makes up for it. With step
# $t = 1, 2, \dots$, rate $\eta$ and gradient $g$:
#
# $$m \leftarrow \beta_1 m + (1 - \beta_1) g, \qquad
# v \leftarrow \beta_2 v + (1 - \beta_2) g^2, \qquad
# \theta \leftarrow (1 - \eta\lambda)\,\theta
# - \eta\,\frac{m / (1 - \beta_1^t)}{\sqrt{v / (1 - \beta_2^t)} + \varepsilon}$$
#
# The **W** is $\lambda$, the weight decay. Adam put it into the gradient, where it was
# divided by $\sqrt v$ like everything else: weights with large gradients hardly
# decayed. Loshchilov and Hutter 2019 took it out: *decoupled*, each weight shrinks by
# the same share.
#
# **Predict first.** In the very first step, $m = (1 - \beta_1) g$ and
# $v = (1 - \beta_2) g^2$. After both corrections, how long is the step of a weight
# whose gradient is 0.001, and of one whose gradient is 1000?
#
# ### Exercise 7.15 - AdamW
#
# *time ~20 min · difficulty 3/5 · 1 point*
#
# **Why it matters.** Nearly every model of today was trained by these few lines.
#
# **What to do.** Fill in the class. `step()` changes the parameters in place. One whose
# gradient is `None` stays as it is. `lr` is read in every step, so that a schedule can
# set it. Do not use `torch.optim`.
#
# <details><summary>Hint 1: a question</summary>
#
# The memories belong to parameters. Where do they live between two steps, and how many
# of them are there?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# parameter, gradient, m, v     all the same shape, one set for each parameter
# t                             one number: how many steps were taken, this one included
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# t = t + 1
# for each parameter that has a gradient, without recording:
#     m = beta1 * m + (1 - beta1) * gradient
#     v = beta2 * v + (1 - beta2) * gradient squared
#     shrink the parameter by the factor 1 - lr * weight_decay
#     subtract lr * (m corrected) / (root of (v corrected) + eps)
# ```
#
# </details>


# %% exercise="since_2017/adamw"
class AdamW:
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019, algorithm 2).

    Args:
        parameters: what is to be trained.
        lr: the learning rate; may be changed between steps.
        betas: how much of the two memories stays in each step.
        eps: added to the root.
        weight_decay: times `lr`, the share that each weight loses in each step.
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ):
        self.parameters = list(parameters)
        self.lr, self.betas, self.eps = lr, betas, eps
        self.weight_decay = weight_decay
        ### BEGIN SOLUTION
        self.steps = 0
        self.means = [torch.zeros_like(p) for p in self.parameters]
        self.squares = [torch.zeros_like(p) for p in self.parameters]
        ### END SOLUTION

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Change all parameters that have a gradient, in place."""
        ### BEGIN SOLUTION
        self.steps += 1
        beta1, beta2 = self.betas
        for p, mean, square in zip(
            self.parameters, self.means, self.squares, strict=True
        ):
            if p.grad is None:
                continue
            mean.mul_(beta1).add_(p.grad, alpha=1 - beta1)
            square.mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
            unbiased = mean / (1 - beta1**self.steps)
            root = (square / (1 - beta2**self.steps)).sqrt()
            p.mul_(1 - self.lr * self.weight_decay)
            p.sub_(self.lr * unbiased / (root + self.eps))
        ### END SOLUTION


# %% check="since_2017/adamw" points=1
# Takes steps with given gradients, large and small, and looks at all parameters.
check("since_2017/adamw", AdamW)


# %%
@demo
def fifty_steps_beside_pytorch():
    torch.manual_seed(7)
    start = torch.randn(5, 3)
    mine, theirs = (nn.Parameter(start.clone()) for _ in range(2))
    settings = {"lr": 0.05, "betas": (0.9, 0.95), "weight_decay": 0.1}
    pairs = ((mine, AdamW([mine], **settings)),
             (theirs, torch.optim.AdamW([theirs], **settings)))  # fmt: skip
    target = torch.randn(5, 3)
    for _ in range(50):
        for parameter, optimizer in pairs:
            optimizer.zero_grad()
            (parameter - target).pow(4).sum().backward()
            optimizer.step()
    print(f"after 50 steps, largest difference: {(mine - theirs).abs().max():.1e}")


# %% [markdown]
# And the very first step? There, $m / (1 - \beta_1) = g$ and
# $\sqrt{v / (1 - \beta_2)} = |g|$, so both weights move by the learning rate. Whether a
# gradient is 0.001 or 1000 makes no difference.
#
# ### Exercise 7.16 - clip
#
# *time ~10 min · difficulty 2/5 · 1 point*
#
# **Why it matters.** One bad batch in a thousand has a gradient a hundred times too
# long. One such step can undo a day of training.
#
# **What to do.** Take all gradients of all parameters as **one** long vector. If it is
# longer than `max_norm`, shorten all gradients, in place, by the same factor, to that
# length (with a relative error of 1e-5 at most). Return the length *before* as a Python
# float. Parameters without a gradient are passed over.
#
# <details><summary>Hint 1: a question</summary>
#
# Two gradients of lengths 3 and 4. How long is the vector of both?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# gradients      of any shapes
# their norms    (number of gradients,)
# the norm       one number: the root of the sum of the squares
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# norm = root of the sum of all squares of all gradients
# if norm > max_norm: each gradient times max_norm / norm, in place
# return the norm
# ```
#
# </details>


# %% exercise="since_2017/clip_gradients"
def clip_gradients(parameters: Iterable[nn.Parameter], max_norm: float) -> float:
    """Shorten the gradient of all parameters together (Pascanu et al. 2013).

    Args:
        parameters: whose gradients are meant.
        max_norm: the greatest length, greater than 0.

    Returns:
        The length before.
    """
    ### BEGIN SOLUTION
    gradients = [p.grad for p in parameters if p.grad is not None]
    norm = torch.tensor([gradient.norm() for gradient in gradients]).norm().item()
    if norm > max_norm:
        for gradient in gradients:
            gradient.mul_(max_norm / norm)
    return norm
    ### END SOLUTION


# %% check="since_2017/clip_gradients" points=1
# Looks at long and short gradients, parameters without one, and the returned length.
check("since_2017/clip_gradients", clip_gradients)


# %% [markdown]
# ## 10. Train it
#
# The text is the course's own: sentences from a grammar, different ones for training
# and for testing, with no statement (who does what) in both. Tokens are **bytes**: no
# tokenizer, no unknown word, a vocabulary of 128, and bits per byte are simply the loss
# over $\log 2$.


# %%
@demo
def the_text():
    text = "\n".join(corpora.generate("a look", 5))
    print(text)
    print(f"{len(text)} bytes; the first ten are {list(text[:10].encode())}")


# %% [markdown]
# ### Exercise 7.17 - the trained model
#
# *time ~25 min, two to three of them for the computer · difficulty 3/5 · 8 points*
#
# **Why it matters.** Everything above runs in it: your model, your optimizer, your
# clipping.
#
# **What to do.** Train a `new_model()`, whose sizes are the same for everybody, on the
# text that `text_ids` gives. How you do it is up to you.
#
# A recipe that works: batches of 32 windows that start at random places of the text;
# the loss of every next byte; your `AdamW` and `clip_gradients`; the rate from
# `rate_factor`, `lr` 0.01 at its peak, 5 % of the steps for warm-up,
# `betas=(0.9, 0.95)`, `weight_decay=0.1`, gradients no longer than 1, 60,000 sentences.
# If all chance comes from `seed`, you can repeat it.
#
# **How it is graded.** You hand in the file `modern.safetensors`. Grading loads it into
# a model of these sizes and measures it on text that nobody has seen. It never trains.
# What counts is the probability that it gives to the right byte (100 % divided by the
# perplexity); your points grow with it, without steps:
#
# | probability | perplexity | share of the 8 points | what reaches it |
# |---|---|---|---|
# | 10 % | 10 | 0 | a table of which byte follows which |
# | 30 % | 3.3 | 50 % | |
# | 37 % | 2.7 | 80 % | the recipe, 800 steps: half a minute |
# | 41.5 % | 2.4 | 100 % | |
# | 43 % | 2.3 | 100 % | the recipe, 3,200 steps: 140 CPU seconds on our machine |
# | 46 % | 2.2 | 100 % | more steps; from here on a bonus grows |
# | 52 % | 1.9 | 112.5 %: a bonus point | many more, or better ideas |
#
# A model that sees the future earns nothing.
#
# <details><summary>Hint 1: a question</summary>
#
# A window of `WINDOW + 1` bytes: which of them are shown, and which are to be
# predicted?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# text                      (n,)                one long row of bytes
# starts                    (32, 1)             random places
# places                    (32, WINDOW + 1)    starts + 0, 1, 2, …
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
#     the rate of this step
#     a batch: shown bytes, wanted bytes
#     loss = cross-entropy of the logits and the wanted bytes
#     forget old gradients, compute new ones, clip, step
# ```
#
# If the loss stays above 2: does each position predict the *next* byte, or itself?
#
# </details>


# %% exercise="since_2017/trained_model"
WINDOW = 96  # bytes that the model sees in training


def text_ids(seed: int | str, sentences: int, split: str = "train") -> Tensor:
    """Sentences of the course's grammar, one a line, as bytes: `(number of bytes,)`."""
    text = "\n".join(corpora.generate(seed, sentences, split)) + "\n"
    return torch.tensor(list(text.encode()))


def new_model() -> nn.Module:
    """An untrained model with the sizes that everybody has."""
    model = LanguageModel(
        vocab_size=128, d_model=48, num_heads=4, num_kv_heads=2, num_layers=2, d_ff=144
    )
    for parameter in model.parameters():
        if parameter.dim() == 2:  # quiet starts: matrices, not norms
            nn.init.normal_(parameter, std=0.1)
    return model


def train_model(steps: int, seed: int = 0) -> nn.Module:
    """A model that was trained on the course's text.

    Args:
        steps: number of batches.
        seed: of the first weights, of the text and of the batches.

    Returns:
        The trained model.
    """
    ### BEGIN SOLUTION
    torch.manual_seed(seed)
    model, text = new_model(), text_ids(seed, 60_000)
    optimizer = AdamW(model.parameters(), betas=(0.9, 0.95), weight_decay=0.1)
    for step in tqdm(range(steps), disable=not reversal.watched(steps), leave=False):
        optimizer.lr = 0.01 * reversal.rate_factor(step, max(1, steps // 20), steps)
        starts = torch.randint(len(text) - WINDOW, (32, 1))
        windows = text[starts + torch.arange(WINDOW + 1)]  # (32, WINDOW + 1)
        logits = model(windows[:, :-1])  # (32, WINDOW, 128)
        loss = F.cross_entropy(logits.flatten(0, 1), windows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        clip_gradients(model.parameters(), 1.0)
        optimizer.step()
    return model
    ### END SOLUTION


def trained_model(weights: str = "modern.safetensors") -> nn.Module:
    """The model that is handed in beside the notebook."""
    model = new_model()
    load_model(model, weights)
    return model


# %% [markdown]
# Train it now; it takes two to three minutes. The weights are saved beside the
# notebook: hand them in with it. **After you have changed something,** set
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


# %% check="since_2017/trained_model" points=8
# Measures your model on text that it has not seen.
check("since_2017/trained_model", trained_model)

# %% [markdown]
# How much is that? Without any model a byte costs 7 bits (there are 128 of them). How
# often each one occurs brings it down to 4.5 bits, which one follows which to 3.3. Our
# model came to 1.1 bits. Most of what is left is the choice of the next *word*, and no
# model can know that. (The check comes to a little more: its windows do not overlap.)


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
# Words are mostly right, sentences often, sense rarely: this is what 48 thousand
# weights and two minutes can do. Cold text is safe text. And min-p keeps a hot one
# readable: what it cuts is the long tail of bytes that do not make a word.


# %% [markdown]
# ### Two tokens for the price of one
#
# A large model is slow because it writes one token at a time, not because it cannot
# read many at once. So let a **cheap model guess** the next few, and let the large one
# judge all guesses in a single pass (Leviathan et al. 2023; Chen et al. 2023). A guess
# $x$, drawn from the cheap distribution $q$, is kept with probability
# $\min(1, p(x) / q(x))$. At the first one that is not kept, draw from what $p$ has more
# than $q$, $\max(0, p - q)$, scaled to sum to 1.
#
# **Predict first.** The cheap model is often wrong. Does the text get worse?


# %%
def kept_or_replaced(p: Tensor, q: Tensor) -> Tensor:
    """The distribution that comes out, if q guesses and p judges; all `(V,)`."""
    kept = torch.minimum(p, q)  # q times the chance to be kept
    more = (p - q).clamp(min=0)
    return kept + (1 - kept.sum()) * more / more.sum()


@demo
def nothing_changes():
    torch.manual_seed(8)
    for sharpness in (0.5, 2.0, 8.0):
        p, q = (sharpness * torch.randn(2, 1000, dtype=torch.double)).softmax(-1)
        gap = (kept_or_replaced(p, q) - p).abs().max()
        share = torch.minimum(p, q).sum()
        print(f"guesses kept: {share:.1%}, what comes out differs from p by {gap:.1e}")


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
    """Write `count` tokens or a few more behind ids `(1, T)`; and the passes taken."""
    caches, fed, passes, wanted = None, 0, 0, ids.size(1) + count

    def chance() -> float:
        return torch.rand(1, generator=generator).item()

    while ids.size(1) < wanted:
        known, guess, cheap = ids.size(1), ids, []
        for _ in range(ahead):
            cheap.append(table[guess[0, -2], guess[0, -1]])  # (V,)
            drawn = torch.multinomial(cheap[-1], 1, generator=generator)
            guess = torch.cat((guess, drawn[None]), dim=1)
        logits, new_caches = cached_logits(model, guess[:, fed:], caches)
        passes += 1
        right = logits[0, -ahead - 1 :].softmax(-1)  # (ahead + 1, V)
        last = right[-1]  # all kept: one more token, for nothing
        for i, (p, q) in enumerate(zip(right, cheap, strict=False)):
            token = guess[0, known + i]
            if chance() >= p[token] / q[token]:
                guess, last = guess[:, : known + i], (p - q).clamp(min=0)
                break
        else:  # only now is everything that was fed part of the text
            caches, fed = new_caches, guess.size(1)
        ids = torch.cat(
            (guess, torch.multinomial(last, 1, generator=generator)[None]), dim=1
        )
    return ids, passes


def pairs_of_bytes(model: nn.Module, table: Tensor, prompt: Tensor) -> tuple:
    """How often two bytes come next: in 4,000 texts, and as the model says."""
    first = model(prompt)[0, -1].softmax(-1)  # (V,)
    both = torch.cat((prompt.expand(128, -1), torch.arange(128)[:, None]), dim=1)
    exact = first[:, None] * model(both)[:, -1].softmax(-1)  # (V, V)
    generator, counts = torch.Generator().manual_seed(4), torch.zeros(128, 128)
    for _ in range(4000):
        ids, _ = speculate(model, table, prompt, 2, 2, generator)
        a, b = ids[0, prompt.size(1) : prompt.size(1) + 2]
        counts[a, b] += 1
    return counts / 4000, exact


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
            print(f"{ahead} guesses ahead: {made / passes:.2f} bytes a pass")
        counted, exact = pairs_of_bytes(model, table, prompt)
    print(f"the next two bytes, 4,000 times: total variation from what the model says "
          f"{(counted - exact).abs().sum() / 2:.3f}")  # fmt: skip
    noise = torch.multinomial(
        exact.flatten(),
        4000,
        replacement=True,
        generator=torch.Generator().manual_seed(3),
    )
    drawn = torch.bincount(noise, minlength=exact.numel()) / 4000
    print(f"4,000 draws from the model itself:                                       "
          f"{(drawn - exact.flatten()).abs().sum() / 2:.3f}")  # fmt: skip


# %% [markdown]
# The distribution does not change, and that is algebra, not luck: what is kept and what
# is added make up $p$ exactly, however bad the guesses are. The counts differ from the
# model's own probabilities no more than 4,000 plain draws do (both by 0.06 on our
# machine). What a bad guesser costs is time: with one, two, four and eight guesses of a
# table of trigrams, a pass of the large model made 1.5, 1.7, 2.0 and 2.1 bytes. Looking
# further ahead than four gains hardly anything, since one wrong guess ends a pass.
#
# ### Where do heads look when they have nothing to say?
#
# Softmax weights sum to 1, so a head must look *somewhere*. Large models put what is
# left on the first token, whatever it is (an **attention sink**, Xiao et al. 2024).
# Does ours?


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
# It does not: all heads look nearby, and the first byte gets less than half a percent.
# Windows that begin anywhere in a sentence have no first token to hold on to, and two
# layers that were trained for two minutes have not found out that they need one. Sinks
# were seen in models a hundred thousand times as large. **A result that fails to appear
# is a result,** too.
#
# ## 11. What does each part buy?
#
# Papers compare at billions of weights. What is left of it at twenty thousand? We
# exchange **one** part of a small model at a time for its ancestor of 2017. All have
# the same number of weights (within one percent: LayerNorm has a few more), and the
# same **CPU time**, not the same number of steps: what costs time must pay for it.
#
# **Predict first.** Four exchanges: RMSNorm → LayerNorm, SwiGLU → ReLU, rotary → added
# sines, grouped → multi-head. Which of them makes the loss worse? Order them.


# %% folded=true
# @title Models with one part of 2017, and how they are trained for some seconds
class NotTurned(CausalAttention):
    """The attention layer without rotations."""

    def forward(self, x: Tensor) -> Tensor:
        sizes = (self.num_heads, self.num_kv_heads, self.num_kv_heads)
        every = zip((self.w_q, self.w_k, self.w_v), sizes, strict=True)
        q, k, v = (mha.split_heads(layer(x), size) for layer, size in every)
        output, _ = grouped_attention(q, k, v, attention.causal_mask(x.size(1)))
        return self.w_o(mha.merge_heads(output))


class WithTable(nn.Embedding):
    """An embedding that adds row i of a table to the token at place i."""

    def __init__(self, count: int, table: Tensor):
        super().__init__(count, table.size(1))
        self.table = table

    def forward(self, ids: Tensor) -> Tensor:
        return super().forward(ids) + self.table[: ids.size(-1)]


def table_of(positions: str, length: int, d_model: int) -> Tensor:
    """Sines as in unit 1, or as many learned numbers of the same size."""
    angles = rotary_angles(length, d_model)
    sines = 0.1 * torch.cat((angles.sin(), angles.cos()), dim=-1)  # (length, d_model)
    if positions == "sinusoidal":
        return sines
    return nn.Parameter(sines.std() * torch.randn(length, d_model))


def with_parts(
    norm: str = "RMSNorm", feed_forward: str = "SwiGLU", positions: str = "rotary",
    groups: int = 2, longest: int = 256,
) -> nn.Module:  # fmt: skip
    """A small model with some parts of another age."""
    d_model, heads, d_ff = 32, 4, 96
    if groups == heads:  # more weights for keys and values, fewer elsewhere
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
            block.attention = NotTurned(d_model, heads, groups)
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


def price_of_a_byte(model: nn.Module, windows: Tensor) -> Tensor:
    """The mean price of all bytes but the first of each window, `()`."""
    return F.cross_entropy(model(windows[:, :-1]).transpose(1, 2), windows[:, 1:])


def train_for(
    model: nn.Module, seconds: float, seed: int, length: int = 64
) -> list[tuple[float, float]]:
    """Train for some CPU seconds; (seconds, loss) of each step."""
    text = text_ids(seed, 20_000)
    random = torch.Generator().manual_seed(seed)
    adamw = torch.optim.AdamW(
        model.parameters(), 0.01, (0.9, 0.95), weight_decay=0.1, fused=True
    )
    diary, started = [], time.process_time()
    while (used := time.process_time() - started) < seconds:
        adamw.param_groups[0]["lr"] = 0.01 * reversal.rate_factor(
            int(1000 * used / seconds), 50, 1000
        )
        starts = torch.randint(len(text) - length, (32, 1), generator=random)
        windows = text[starts + torch.arange(length + 1)]
        loss = price_of_a_byte(model, windows)
        adamw.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adamw.step()
        diary.append((used, loss.item()))
    return diary


def loss_on_fresh_text(model: nn.Module, length: int = 64) -> float:
    """The mean price of a byte, in windows of one length."""
    text = text_ids("fresh", 800, "test")
    windows = text[: len(text) // (length + 1) * (length + 1)].view(-1, length + 1)
    with torch.no_grad():
        return price_of_a_byte(model, windows).item()


# %%
SEEDS = 1  # 3 for the whole picture, as in the text below: three times as long
SECONDS = 6.0  # for each training


EXCHANGES = {
    "as today": {}, "LayerNorm": {"norm": "LayerNorm"},
    "ReLU": {"feed_forward": "ReLU"}, "sines": {"positions": "sinusoidal"},
    "multi-head": {"groups": 4},
}  # fmt: skip


# %%
@demo
def one_part_at_a_time():
    curves = {}
    for name, parts in EXCHANGES.items():
        found, steps = [], []
        for seed in range(SEEDS):
            torch.manual_seed(seed)
            model = with_parts(**parts)
            diary = train_for(model, SECONDS, seed)
            found.append(f"{loss_on_fresh_text(model):.3f}")
            steps.append(len(diary))
        smooth = torch.tensor(diary).unfold(0, 25, 5).mean(-1)  # (n, 2)
        curves[name] = smooth[:, 0].tolist(), smooth[:, 1].tolist()
        print(f"{name:<11} {sum(steps) / SEEDS:4.0f} steps, loss {', '.join(found)}")
    pictures.exchanges(curves)


# %% [markdown]
# With three seeds each, on our machine (loss on fresh text; lower is better), and the
# same seeds in a second run. CPU time is not exact: the same 6 seconds held between 258
# and 335 steps, and one seed came out up to 0.1 apart. So your one seed may put the
# four that lie close together in another order.
#
# | model | weights | steps | three seeds | steps | once more |
# |---|---|---|---|---|---|
# | as today | 22,688 | 275 | 1.84, 1.77, 1.84 | 291 | 1.75, 1.73, 1.89 |
# | RMSNorm → LayerNorm | 22,848 | 288 | 1.82, 1.71, 1.79 | 291 | 1.75, 1.72, 1.76 |
# | SwiGLU → ReLU | 22,688 | 292 | 1.75, 1.75, 1.69 | 306 | 1.70, 1.71, 1.73 |
# | rotary → added sines | 22,688 | 335 | 2.21, 2.19, 2.24 | 308 | 2.20, 2.22, 2.27 |
# | grouped → multi-head | 22,624 | 282 | 1.81, 1.79, 1.84 | 271 | 1.84, 1.82, 1.84 |
#
# - **Rotary positions buy a lot**: 0.4 nats a byte, although the rotations cost up to a
#   fifth of the steps.
# - **Grouped heads cost nothing here, and buy nothing**: what they save is memory while
#   writing, which nobody measures in training.
# - **RMSNorm buys nothing.** LayerNorm came out a little lower in five of six pairs, by
#   0.04 on average, which is less than a seed may differ from itself. PyTorch's
#   LayerNorm is one compiled call, our RMSNorm is six; the time that the paper saves is
#   lost again in Python.
# - **SwiGLU loses**, by about 0.08, in all six pairs. Its hidden layer is narrower by
#   a third, and it is one more matrix to call. In 6 seconds at 22 thousand weights this
#   counts; what Shazeer saw at 220 million after half a million steps, it does not
#   refute.
#
# So of four changes that all of today's models made, one pays at this size. A change
# can be right for them and worth nothing for you. Measure.
#
# ## 12. Longer than anything seen
#
# The exchange of positions again, now with four kinds of them, and with a question that
# training never asked: what if the text is twice, or four times, as long?
#
# **Predict first**, before you run the cell. Four models, trained on 64 bytes at a
# time: without any positions, with learned ones, with sines, with rotations. Which of
# them copes with 128 bytes? Which with 256?


# %%
@demo
def positions_compared():
    lengths, means = (64, 128, 256), {}
    for name in ("none", "learned", "sinusoidal", "rotary"):
        rows = []
        for seed in range(SEEDS):
            torch.manual_seed(seed)
            model = with_parts(positions=name)
            train_for(model, SECONDS, seed)
            rows.append([loss_on_fresh_text(model, length) for length in lengths])
        means[name] = torch.tensor(rows).mean(0).tolist()
        print(f"{name:<12}", "  ".join(f"{mean:.2f}" for mean in means[name]))
    pictures.positions(lengths, means)


# %% [markdown]
# With three seeds each, on our machine (loss on fresh text, mean over whole windows).
# The same seeds in a second run came out within 0.05 of it.
#
# | positions | 64 bytes, as in training | 128 | 256 |
# |---|---|---|---|
# | none | 2.23, 2.23, 2.25 | 2.27, 2.27, 2.28 | 2.30, 2.30, 2.31 |
# | learned | 2.01, 2.04, 2.05 | 2.43, 2.40, 2.42 | 2.63, 2.57, 2.58 |
# | sines, added | 2.22, 2.20, 2.25 | 2.31, 2.28, 2.32 | 2.37, 2.34, 2.39 |
# | rotary | 1.82, 1.76, 1.83 | 1.85, 1.79, 1.86 | 1.89, 1.90, 1.92 |
#
# Learned positions fall off a cliff: rows 64 to 255 of their table have never been
# trained. In six seconds, sines help no more than no positions at all, and they get
# only a little worse when the text grows. Rotary positions win everywhere, and hardly
# notice the length.
#
# Is that a law, "rotary positions carry over to longer texts"? Look at the model of
# section 10, with the *same* rotary positions, trained on 96 bytes for 3,200 steps
# instead of about 300:


# %%
@demo
def trained_longer():
    model = trained_model().eval()
    for length in (48, WINDOW, 128, 192, 256):
        loss = loss_on_fresh_text(model, length)
        print(f"{length:>3} bytes in a window: loss on fresh text {loss:.2f}")


# %% [markdown]
# On our machine, trained twice:
#
# | bytes in a window | 48 | 96, as in training | 128 | 192 | 256 |
# |---|---|---|---|---|---|
# | one model | 0.89 | 0.83 | 1.14 | 2.03 | 2.52 |
# | another | 0.89 | 0.83 | 1.20 | 2.13 | 2.63 |
#
# *Question in words (3 points).* A friend looks at the first table and says: "Rotary
# positions generalise to any length." Say in three to five sentences what the second
# table shows, why a distance that is larger than any in training is a problem even for
# rotations, and why the model that was trained *longer* suffers *more*. Which
# measurement would you make next?
#
# *What a full answer has: the second table contradicts (1), a reason that names unseen
# distances or angles, and what longer training learns to rely on (1), a measurement
# that could decide (1).*

# %% [markdown] written="since_2017/positions" points=3
# *Your answer here*
#
# ### BEGIN SOLUTION
# The second table contradicts her: at twice the length the loss is more than twice as
# high, though the positions are the same. Only distances enter the scores, but
# distances of more than 95 bring angles of the slow pairs that no training has shown,
# and the heads have never learnt what to do with them; added up over many unseen keys,
# their weights are noise. The model of six seconds looks at its nearest neighbours
# only, so far keys hardly matter to it; the well-trained one has learnt to use the
# whole window, and relies on what breaks. I would measure the loss over the number of
# training steps at 64 and at 256 with everything else equal (when does the second curve
# turn up?), or divide the angles by 4 at 256 (interpolation) and see whether the loss
# comes back.
# ### END SOLUTION

# %% [markdown]
# ## 13. Bug clinic: a test for cached decoding
#
# A cache must change nothing but the time. When it does change something, text still
# comes out, and it looks fine for the first ten tokens. Four bugs that look like right
# code:
#
# 1. **the offset is forgotten**: new positions are turned as if the text began with
#    them;
# 2. **the cache is not cut**: after guesses were thrown away, their keys and values are
#    still there;
# 3. **the wrong group**: query head `i` meets key head `i % g` instead of the one of
#    its neighbours;
# 4. **the norm runs in half precision**: the numbers are nearly right.
#
# ### Exercise 7.18 - the test
#
# *time ~25 min · difficulty 4/5 · 5 points*
#
# **Why it matters.** No eye finds the fourth one. A test of twenty lines finds all of
# them.
#
# **What to do.** Write a function that gets *somebody's* decoder. It must return
# quietly if the decoder is right, and raise `AssertionError` if it is not. (If a wrong
# decoder itself crashes in your test, that counts as rejected, too; another error of
# your own does not.) A decoder has
#
# - `decoder.vocab_size`: ids are 0, …, vocab_size - 1;
# - `decoder.full(ids)`: logits `(B, L, V)` of ids `(B, L)`, computed without a cache.
#   You may trust it;
# - `decoder.start()`: forgets all that was fed; another batch may follow. To be called
#   before the first `feed`;
# - `decoder.feed(ids)`: logits `(B, n, V)` of new ids `(B, n)`, behind those that were
#   fed before;
# - `decoder.cut(length)`: forgets all but the first `length` positions that were fed,
#   0 to all of them.
#
# It is right if `feed` gives the logits that `full` gives at the same places, up to
# rounding: in any chunks, after any `cut` (one to 0, too; other tokens may follow),
# after a second `start`, for each row of a batch. Right ones differ from `full` by less
# than 1e-5, since sums are computed in another order. Wrong ones differ by more than
# 1e-4 somewhere. Texts have at most 32 positions. We grade your test by running it on
# right decoders, written in two styles, and on wrong ones, the four above and others.
# Each right one comes with two wrong ones: you get the points if the right one passes
# *and* the wrong ones do not.
#
# <details><summary>Hint 1: a question</summary>
#
# A chunk of one token cannot show every bug, and a single large chunk cannot, either.
# Which bug needs which?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# ids                        (B, L), different in each row, drawn at random
# expected = full(ids)       (B, L, V)
# chunks of 5, 1, 1, 4       feed(ids[:, 0:5]), feed(ids[:, 5:6]), …
# together                   (B, L, V), to be compared number by number
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# for each of two texts:
#     start; feed it in chunks of different lengths; each is near its part of full(ids)
#     feed some wrong tokens, cut them away, feed the right ones: near again
# ```
#
# How near is near? Between 1e-5 and 1e-4.
#
# </details>


# %% exercise="since_2017/bug_clinic"
def assert_cached_decoding(decoder: object) -> None:
    """Pass quietly if a decoder with a cache computes what it computes without one.

    Args:
        decoder: with `vocab_size`, `full`, `start`, `feed` and `cut`, see above.

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


# %% check="since_2017/bug_clinic" points=5
# Runs your test on right decoders and on wrong ones.
check("since_2017/bug_clinic", assert_cached_decoding)

# %% [markdown]
# ## 14. Finale: a chat model in your code
#
# SmolLM2-135M-Instruct (Ben Allal et al. 2025) is a chat model with Llama's
# architecture: 30 blocks, `d_model` 576, 9 heads and 3 of keys and values, a SwiGLU of
# width 1536, tied embeddings of 49,152 tokens. Your `LanguageModel` has all of it. Only
# two numbers are not your defaults: the rotary base is 100,000 and the norms' epsilon
# 1e-5.
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
# And it keeps queries and keys for rotary **neighbours**. Your `rotate` turns
# **halves**, so both need your `pairs_to_halves`: each with its own number of heads.
#
# ### Exercise 7.19 - a parameter from the file
#
# *time ~12 min · difficulty 2/5 · 4 points*
#
# **Task.** Given the name of one of your model's parameters, return its tensor from the
# file: find the name that it has there, and convert queries and keys.
#
# **Example.** For `"blocks.3.attention.w_o.weight"`, the tensor is
# `published["blk.3.attn_output.weight"]` as it is. `w_q` of the same block goes through
# `pairs_to_halves` with `num_heads`.
#
# <details><summary>Contract</summary>
#
# - Any number of blocks.
# - Look up one tensor per call: the file makes a tensor when it is asked for.
# - `published` and its tensors are not modified; dtypes are kept.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Which of the projections feed a rotation, and how many heads has each of them?
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
# Now the model itself. The next cell looks for its file; if it is not here, the cell
# says in one line how to get it (98 MB, Apache-2.0), and the text below says what you
# would see. Its 135 million parameters take 0.54 GB in float32, so the model is filled
# one parameter at a time: all tensors and all parameters together would take twice as
# much.


# %%
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
    """What `generate` calls, with a cache: it feeds only the ids that are new."""

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


smollm = None  # stays None where it is not installed


@demo
def a_chat_model_in_your_classes():
    global smollm, chat
    # Unsolved, these wait before anything looks for 98 MB.
    pairs_to_halves(torch.zeros(2, 1), 1)
    published_tensor("norm.weight", {"output_norm.weight": torch.zeros(1)}, 1, 1)
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
# Ask it something. `min_p=1` leaves only the most probable token, so that everybody
# gets the same answers; with 0.1 and a temperature, the answers change whenever you
# change the seed.

# %%
QUESTIONS = ["What is the capital of France?", 'Reverse the word "cat".']


def ask(question: str, most: int = 60, **options: float) -> str:
    """The model's answer, written with your cache and your sampling."""
    ids = torch.tensor([smollm.encode(prompt(question))])
    written = answer(NextLogits(chat), ids, most, **options)
    return smollm.decode(written[0, ids.size(1) :])


@demo
def chatting():
    if smollm is None:
        return print("(needs SmolLM2, see above)")
    for question in QUESTIONS:
        print(f"{question}\n    {ask(question, min_p=1.0)}")
    print(f"{QUESTIONS[0]}\n    {ask(QUESTIONS[0], temperature=0.7, min_p=0.1)}")


# %% [markdown]
# **"The capital of France is Paris."** This answer went through your RMSNorm, your
# rotations, your gates and grouped heads, your cache and your sampling.
#
# **Predict first.** What if the queries and keys were used as they are stored, without
# `pairs_to_halves`? Every weight is the same, only some rows are elsewhere. Will the
# answer be slightly worse, plain wrong, or not English at all?

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
# With the conversion the perplexity is **23.5**; without it, 71. And the question about
# France gets an answer like *"You are a man with the love to help me, I can be a man"*.
# It is still English, and this is the instructive part: the feed-forward networks, the
# embeddings and the values are intact, so words still follow words. What is lost is
# *which word stands where*: each pair of components turns at the speed of another one.
# No shape is wrong, no error is raised, no test of shapes would notice.
#
# **Predict first.** How many bytes does the cache take per token? (As in section 6:
# keys and values, of 3 heads with 64 components, in 30 blocks, 4 bytes each.) And how
# much does it save, at an answer of 40 tokens?


# %%
@demo
def what_the_cache_buys():
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
# for the 8,192 tokens that this model may read. On two quiet cores we saw 24 tokens per
# second with it. Without it there were 7 at this length, and fewer with each further
# token.
#
# **Two questions to you.** First: asked to reverse "cat", 135 million parameters answer
# that it "is a word that has a similar sound to 'cat' but with a different spelling".
# Unit 5's model reverses any sequence with a thousandth of them. Why? Second: each
# weight in the file has only four bits, one of sixteen values per block of 32 weights.
# What did that cost? Write your answers down before you go on; for the second one, the
# next cell measures. It rounds the matrices of ten of the thirty blocks *once more*, in
# blocks of 48, which do not coincide with the file's.


# %%
def rounded(weight: Tensor, bits: int, size: int) -> Tensor:
    """Each block of `size` weights on `2**bits` values between its extremes."""
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
# a grid that they are *not* on raise the perplexity from 23.5 to 24.3, for a third of
# the blocks; rounding all thirty gives 27. So the first rounding, whose original we do
# not have here, probably cost about as much: some ten to fifteen per cent, for a file
# of less than a fifth of the size. Three bits break the model (70). That is why four
# bits became the habit.
#
# *The first question.* It is not a matter of size. "cat" is **one token** of 49,152:
# the model never sees its letters, and what it knows of spelling it has picked up from
# texts that spell. And it was trained to continue texts, in which hardly anybody
# reverses words. Unit 5's model sees one symbol per position, and nothing but reversals
# in training; attention along the anti-diagonal is all it takes. What a model can do is
# decided by its data, its tokens and its objective before the number of its parameters.

# %% [markdown]
# ## What you built
#
# - RMSNorm, rotary positions, SwiGLU and grouped-query attention, each equal to an
#   implementation that you did not write;
# - a decoder-only model that *is* a Llama, weight by weight: a published chat model
#   answers in it;
# - a cache that makes it fast, and the test that keeps it honest;
# - a sampler, a generator, perplexity and bits per byte; AdamW and clipping;
# - a trained model, and your own measurement of what the new parts are worth at this
#   size.
#
# Take with you: *the machine of 2017 is still there. What changed is the screws, and
# each change can be measured.*
#
# ## Go further
#
# - Zhang and Sennrich 2019, *Root Mean Square Layer Normalization*. Su et al. 2021,
#   *RoFormer*. Shazeer 2020, *GLU Variants Improve Transformer*. Ainslie et al. 2023,
#   *GQA*. Touvron et al. 2023, *LLaMA*.
# - Xiong et al. 2020, *On Layer Normalization in the Transformer Architecture*: why the
#   norm moved.
# - Press et al. 2022, *Train Short, Test Long*; Chen et al. 2023, *Extending Context
#   Window of Large Language Models via Positional Interpolation*; Peng et al. 2023,
#   *YaRN*: beyond the length of training.
# - Leviathan et al. 2023, *Fast Inference from Transformers via Speculative Decoding*.
# - Xiao et al. 2024, *Efficient Streaming Language Models with Attention Sinks*.
# - Narang et al. 2021, *Do Transformer Modifications Transfer Across Implementations
#   and Applications?* Mostly not, they find. Compare with your own table.
# - Try it: divide all angles by 4 when the text is four times as long (interpolation).
#   Does the loss at 256 come down?

# %% [markdown]
# ## Where you stand
#
# Your points so far, and what to do next. Run it again whenever you have solved
# something.

# %%
check.summary()
