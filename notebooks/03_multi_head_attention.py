# %% [markdown]
# # 3 · Multi-head attention
#
# One attention map can hold one opinion about who matters to whom. Language needs
# several at once: which adjective belongs to this noun, who does what, where does the
# clause end? So we run several attentions side by side, each in a small space of its
# own:
#
# $$\operatorname{MultiHead}(Q, K, V) =
# \operatorname{Concat}(\mathrm{head}_1, \dots, \mathrm{head}_h)\, W^O, \qquad
# \mathrm{head}_i = \operatorname{Attention}(Q W_i^Q,\; K W_i^K,\; V W_i^V)$$
#
# (Vaswani et al. 2017, section 3.2.2.)
#
# **You will learn**
# - why one head is not enough, by a picture and by a measurement;
# - the plain view: a list of heads, side by side;
# - the fast view: one projection, split into heads and merged again;
# - that the two views are equal, and how weights move from one to the other;
# - masks that reach every head, and dropout on the attention weights;
# - what it costs: the number of parameters;
# - to prove that *your* layer is PyTorch's `nn.MultiheadAttention`.
#
# *About 3 hours · short path about 1½: exercises 3.2, 3.3, 3.5, 3.6*
#
# *10 exercises and one question in words · 100 points.* The short path carries the
# story: read the rest, and come back to it.
#
# **Recap.** Unit 2 ended with `scaled_dot_product_attention(q, k, v, mask)`. It returns
# the output and the weights, treats any number of leading dimensions, and takes masks
# in which `True` means "may attend". You also built `SelfAttention`: three linear
# layers `w_q`, `w_k`, `w_v`, and attention of a sequence to itself. Both are used here.
#
# **Conventions of this course**
#
# | name | meaning |
# |---|---|
# | `B`, `L` | sentences in a batch, positions in a sentence; the batch comes first |
# | `Lq`, `Lk` | number of queries, number of keys |
# | `d_model` | size of the vector at each position |
# | `h` (in code `num_heads`) | number of heads |
# | `d_k`, `d_v` | size of one head's queries and keys, and of its values |
# | `(B, h, L, d_k)` | the shape of heads: batch, head, position, feature |
# | mask | boolean, **`True` = may attend**, broadcastable to `(B, h, Lq, Lk)` |
# | attention | returns the pair `(output, weights)`, in this order |
# | what is given | stays as it was: no function changes its arguments |
# | gradients | flow back through what you compute, unless the text says otherwise |

# %%
import copy
import functools
import math
import time
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder import check, demo, drawing, earlier
from autograder.library.attention_maps import maps_of
from autograder.units.multi_head_attention.library import pictures

# False: what unit 2 built comes from the course, right for sure. True: from your own
# notebook of unit 2, if it lies beside this one. Grading always uses the course's.
USE_MY_OWN = False
attention = earlier("02_attention", mine=USE_MY_OWN)

torch.set_printoptions(precision=3, sci_mode=False)


# %% [markdown]
# ## 1. One head, one mixture
#
# Take the sentence *the red cat saw the blue bird*. Each noun has two questions:
# - **which word stands just before me?** (there is my colour)
# - **which word is the verb?** (there is what happens)
#
# Below, the scores are set by hand: 6 for a hit, 0 otherwise. Head A asks the first
# question, head B the second. A single head that wants both can only *add* the scores.
#
# **Predict first.** What do the rows of "cat" and "bird" look like in the third map?


# %%
@demo
def one_head_or_two():
    words = ["the", "red", "cat", "saw", "the", "blue", "bird"]
    before = torch.diag(torch.full((6,), 6.0), diagonal=-1)  # (7, 7): the word before
    verb = torch.zeros(7, 7)
    verb[:, words.index("saw")] = 6.0

    maps = {
        "head A: the word before": before.softmax(-1),
        "head B: the verb": verb.softmax(-1),
        "one head for both": (before + verb).softmax(-1),
    }
    pictures.one_head_or_two(maps, words)


# %% [markdown]
# The single head gives "cat" one half of *red* and one half of *saw*. Both are there,
# but **in one sum**. Which half answered which question is lost. Swap the two answers
# and the sum stays the same.
#
# Two heads keep the answers apart. Each writes into features of its own, side by side.
# That is all there is to "multi-head": not one mixture of size `d_model`, but `h`
# mixtures of size `d_model / h`.
#
# ## 2. The plain view: a list of heads

# %%
drawing("list_of_heads", "3.2", "Heads in a list: concatenated, then projected.")

# %% [markdown]
# Every head is a complete `SelfAttention` from unit 2 with weights of its own. Every
# head sees the whole input. The last linear layer, `w_o`, lets the heads' answers talk
# to each other.
#
# ### Exercise 3.1 - a list of heads
#
# *time ~20 min · difficulty 2/5 · 14 points*
#
# **Why it matters.** It is the definition, word for word. When you doubt a clever
# version later, you compare it with this one.
#
# **What to do.** Keep `num_heads` modules of the class
# `attention.SelfAttention(d_model, d_k, d_v)` in `self.heads`, and one `nn.Linear`
# (with bias) in `self.w_o`. In `forward`, run all heads on `x`, put their outputs side
# by side along the *features*, head 0 first, and apply `w_o`. Return the weights of all
# heads in one tensor `(B, h, L, L)`, too.
#
# <details><summary>Hint 1: a question</summary>
#
# An optimiser only trains what `parameters()` lists. Does a module find the parameters
# of layers in an ordinary Python list? Which container of `nn` is made for this?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# output of one head       (B, L, d_v)
# all of them, joined      (B, L, h * d_v)     an existing dimension grows
# after w_o                (B, L, d_out)
# weights of one head      (B, L, L)
# all of them, together    (B, h, L, L)        a new dimension appears: where?
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# init:     a registered list of num_heads heads
#           a linear layer from h * d_v to d_out
# forward:  run each head on x with the mask; collect outputs and weights
#           join the outputs along the last dimension
#           stack the weights along a new dimension after the batch
#           return the projection of the joined outputs, and the stacked weights
# ```
#
# </details>


# %% exercise="multi_head_attention/list_of_heads"
class ListOfHeads(nn.Module):
    """Several self-attentions side by side, then a linear layer.

    Args:
        d_model: size of the input vectors.
        num_heads: number of heads, h.
        d_k: size of each head's queries and keys.
        d_v: size of each head's values, and so of its output.
        d_out: size of the output vectors.

    The heads are `attention.SelfAttention` modules in `heads`; the linear layer is
    `w_o`; the state dict holds no other names.
    """

    def __init__(self, d_model: int, num_heads: int, d_k: int, d_v: int, d_out: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.heads = nn.ModuleList(
            attention.SelfAttention(d_model, d_k, d_v) for _ in range(num_heads)
        )
        self.w_o = nn.Linear(num_heads * d_v, d_out)
        ### END SOLUTION

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Attend from each position of x `(B, L, d_model)` to all positions of x.

        Args:
            mask: None, or boolean and broadcastable to `(B, L, L)`: True = may attend.
                It holds for every head.

        Returns:
            The output `(B, L, d_out)` and the weights `(B, h, L, L)`.
        """
        ### BEGIN SOLUTION
        results = [head(x, mask) for head in self.heads]
        outputs, weights = zip(*results, strict=True)
        joined = torch.cat(outputs, dim=-1)  # (B, L, h * d_v)
        return self.w_o(joined), torch.stack(weights, dim=1)  # ..., (B, h, L, L)
        ### END SOLUTION


# %% check="multi_head_attention/list_of_heads" points=14
# Looks at names and shapes of the weights, both results, masks and gradients.
check("multi_head_attention/list_of_heads", ListOfHeads)

# %% [markdown]
# Nobody has told the heads to differ. **Predict first:** do fresh, untrained heads have
# the same map?


# %%
@demo
def untrained_heads():
    torch.manual_seed(0)
    layer = ListOfHeads(d_model=16, num_heads=4, d_k=8, d_v=5, d_out=6)
    _, weights = layer(2 * torch.randn(1, 6, 16))
    pictures.untrained(weights[0])


# %% [markdown]
# They differ from the start, because their random weights differ. Training then pushes
# each of them to where it helps most.
#
# ## 3. The fast view: one projection, split into heads
#
# A Python loop over heads makes `3·h` small matrix products. A processor prefers few
# large ones. Look at what the heads do with the *same* `x`:
#
# $$q^{(0)} = W^{(0)} x, \qquad q^{(1)} = W^{(1)} x, \qquad \dots
# \qquad\Longrightarrow\qquad
# \begin{pmatrix} q^{(0)} \\ q^{(1)} \\ \vdots \end{pmatrix} =
# \begin{pmatrix} W^{(0)} \\ W^{(1)} \\ \vdots \end{pmatrix} x$$
#
# Stack the small matrices into one tall matrix. One product then gives the queries of
# all heads, one below the other. So the features `0 ... d_k-1` belong to head 0, the
# next `d_k` to head 1, and so on. Nothing is left to do but to *read* them as heads.
#
# Here are 4 positions with 6 features; `21` is position 2, feature 1. Colours are the
# three heads. From left to right: what the projection gives, and what attention needs.

# %%
numbers = 10 * torch.arange(4)[:, None] + torch.arange(6)  # (L, d_model)


@demo
def heads_are_blocks_of_columns():
    pictures.blocks(numbers, num_heads=3)


# %% [markdown]
# ### Three tools for shapes
#
# The first two compute nothing: they say how the same numbers are to be read. The third
# is for masks.
#
# | tool | does | the numbers in memory |
# |---|---|---|
# | [`x.view(...)`](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.view.html) | reads the numbers, in their order, in another shape | stay where they are |
# | [`x.transpose(i, j)`](https://docs.pytorch.org/docs/stable/generated/torch.transpose.html) | swaps two dimensions: element `[a, b]` becomes `[b, a]` | stay where they are; only the way of counting changes |
# | [`x.masked_fill(m, v)`](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.masked_fill_.html) | a copy with `v` wherever the boolean `m` is true; `m` broadcasts | a new tensor |
#
# (`flatten` and `unflatten` are `view` for some dimensions; `reshape` is `view` that
# copies where it must.) **Predict first:** `view(2, 3)` and `transpose` both turn
# `(3, 2)` into `(2, 3)`. Do they give the same?

# %%
x = torch.arange(6).view(3, 2)
print("x               ", x.tolist())
print("x.view(2, 3)    ", x.view(2, 3).tolist())
print("x.transpose(0,1)", x.transpose(0, 1).tolist())
print("x.masked_fill   ", x.masked_fill(torch.tensor([True, False]), -1).tolist())

# %% [markdown]
# ### Exercise 3.2 - split heads
#
# *time ~12 min · difficulty 3/5 · 8 points*
#
# **Why it matters.** This is the most mistyped line of the whole Transformer. The
# classic mistake raises no error, and the model even learns a little.
#
# **What to do.** Turn `(B, L, d_model)` into `(B, h, L, d_k)` with `d_k = d_model / h`.
# Head `i` gets the `i`-th *block of neighbouring features*, of every position. (Other
# courses deal the features out like cards. This trains just as well, but then weights
# cannot be exchanged with PyTorch. Our contract: blocks.)
#
# <details><summary>Hint 1: a question</summary>
#
# `view` keeps all numbers in the order in which they lie in memory: position by
# position, and in each position feature by feature. Into which *two* dimensions can you
# cut the features without moving anything? And what must still move afterwards?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# x                            (B, L, d_model)
# the features, cut in two     (B, L, h, d_k)      which comes first, h or d_k?
# what we want                 (B, h, L, d_k)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# cut the last dimension into (heads, features of a head)
# swap the dimension of positions with that of heads
# ```
#
# </details>


# %% exercise="multi_head_attention/split_heads"
def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """Read the features of each position as heads: equal blocks of neighbours.

    Args:
        x: features, shape `(B, L, d_model)`.
        num_heads: number of heads, h; it divides d_model.

    Returns:
        The heads, of x's type, shape `(B, h, L, d_k)` with `d_k = d_model / h`.
    """
    ### BEGIN SOLUTION
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)  # (B, h, L, d_k)
    ### END SOLUTION


# %% check="multi_head_attention/split_heads" points=8
# Looks at where every single number goes, for several sizes.
check("multi_head_attention/split_heads", split_heads)

# %% [markdown]
# Your split, and beside it the tempting shortcut `x.view(h, L, d_k)`. It has the right
# shape. **Predict first:** what is in its first head?


# %%
@demo
def split_and_shortcut():
    ways = {
        "yours": split_heads(numbers[None], 3)[0],
        "view alone": numbers.view(3, 4, 2),
    }
    pictures.splits(ways)


# %% [markdown]
# The shortcut gives head 0 *all* features of the first positions, chopped into pieces.
# Its "positions" are no positions any more. Attention would then compare pieces of one
# word with each other.
#
# ### Exercise 3.3 - merge heads
#
# *time ~10 min · difficulty 2/5 · 8 points*
#
# **Why it matters.** After attention, each position must find its features again, in
# the order in which `w_o` expects them.
#
# **What to do.** The way back: `(B, h, L, d_k)` to `(B, L, h·d_k)`. It undoes
# `split_heads`.
#
# <details><summary>Hint 1: a question</summary>
#
# To undo two steps, which one do you undo first?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# heads                       (B, h, L, d_k)
# what belongs together       (B, L, h, d_k)
# joined                      (B, L, h * d_k)
# ```
#
# If PyTorch complains that a *view* is not compatible with a *stride*: a transposed
# tensor lies scattered in memory. Some functions copy it into order for you, and `view`
# is not one of them.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# swap the dimension of heads with that of positions
# join the last two dimensions
# ```
#
# </details>


# %% exercise="multi_head_attention/merge_heads"
def merge_heads(x: Tensor) -> Tensor:
    """Put the features of all heads side by side: the inverse of `split_heads`.

    Args:
        x: heads, shape `(B, h, L, d_k)`.

    Returns:
        The features, of x's type, shape `(B, L, h * d_k)`, head 0 first.
    """
    ### BEGIN SOLUTION
    return x.transpose(1, 2).flatten(2)  # (B, L, h * d_k)
    ### END SOLUTION


# %% check="multi_head_attention/merge_heads" points=8
# Looks at where every single number goes, for several sizes.
check("multi_head_attention/merge_heads", merge_heads)


# %%
@demo
def there_and_back():
    x = torch.randn(2, 5, 12)
    heads = split_heads(x, 3)
    print("x", tuple(x.shape), "-> heads", tuple(heads.shape), end=" -> ")
    print("merged", tuple(merge_heads(heads).shape))
    print("the same as before:", torch.equal(merge_heads(heads), x))


# %% [markdown]
# ## 4. The two views are one
#
# If the fast view is right, it must give *the same numbers* as the list of heads. For
# this we need to carry weights over: from `h` small layers into one large layer.
#
# ### Exercise 3.4 - pack the heads
#
# *time ~12 min · difficulty 3/5 · 10 points*
#
# **Why it matters.** "Equal up to how the weights are stored" is how one proves that
# two implementations are the same. You will do this with PyTorch's own layer in
# section 8.
#
# **What to do.** You get a list of heads, each with the linear layers `w_q`, `w_k` and
# `w_v`. Return a dict with the weight and the bias of the three large layers that do
# the work of all heads at once, named as in `state_dict()`: `"w_q.weight"`,
# `"w_q.bias"`, `"w_k.weight"`, `"w_k.bias"`, `"w_v.weight"`, `"w_v.bias"`. Leave the
# heads as they were; what you return may be detached.
#
# <details><summary>Hint 1: a question</summary>
#
# `nn.Linear(d_in, d_out)` stores its weight as `(d_out, d_in)`. Along which of the two
# do the heads' *outputs* lie?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# heads[i].w_q.weight    (d_k, d_model)      heads[i].w_q.bias    (d_k,)
# packed w_q.weight      (h * d_k, d_model)  packed w_q.bias      (h * d_k,)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# for each of the names w_q, w_k, w_v:
#     for each of weight, bias:
#         collect this tensor from all heads, head 0 first
#         put them below each other; store the result under "name.kind"
# ```
#
# (`getattr(head, "w_q")` is `head.w_q`.)
#
# </details>


# %% exercise="multi_head_attention/pack_heads"
def pack_heads(heads: Sequence[nn.Module]) -> dict[str, Tensor]:
    """The weights of three large layers that do the work of all heads.

    Args:
        heads: h modules with linear layers `w_q`, `w_k`, `w_v`, each from d_model to
            d_k.

    Returns:
        The tensors `w_q.weight` `(h * d_k, d_model)` and `w_q.bias` `(h * d_k,)`, and
        the same for `w_k` and `w_v`, of the heads' type. Rows
        `i * d_k ... (i + 1) * d_k - 1` are head i's.
    """
    ### BEGIN SOLUTION
    return {
        f"{name}.{kind}": torch.cat([getattr(getattr(h, name), kind) for h in heads])
        for name in ("w_q", "w_k", "w_v")
        for kind in ("weight", "bias")
    }
    ### END SOLUTION


# %% check="multi_head_attention/pack_heads" points=10
# Looks at names, shapes and rows of the six tensors.
check("multi_head_attention/pack_heads", pack_heads)

# %% [markdown]
# One large product and your split, against one small product per head:


# %%
@demo
def large_layer_beside_small_ones():
    torch.manual_seed(1)
    heads = [attention.SelfAttention(d_model=12, d_k=4, d_v=4) for _ in range(3)]
    x, packed = torch.randn(2, 5, 12), pack_heads(heads)
    at_once = F.linear(x, packed["w_q.weight"], packed["w_q.bias"])  # (B, L, h * d_k)
    for i, head in enumerate(heads):
        gap = (split_heads(at_once, 3)[:, i] - head.w_q(x)).abs().max()
        print(f"queries of head {i}: largest difference {float(gap):.1e}")


# %% [markdown]
# ## 5. One mask for all heads
#
# Scores now have four dimensions, `(B, h, Lq, Lk)`. The masks of unit 2 have two or
# three. Broadcasting lines shapes up *from the right* and fills in ones on the left:
#
# ```text
# scores           (B, h, Lq, Lk)
# causal mask            (L,  L )   ->  (1, 1, L, L)    as we want it
# padding mask        (B, 1,  Lk)   ->  (1, B, 1, Lk)   batch meets HEADS!
# ```
#
# **Predict first.** With `B = 2` and `h = 3`, what happens? And with `B = 3` and
# `h = 3`?

# %%
for batch in (2, 3):
    scores = torch.zeros(batch, 3, 4, 5)  # (B, h, Lq, Lk)
    padding = torch.ones(batch, 1, 5, dtype=torch.bool)  # (B, 1, Lk)
    try:
        scores.masked_fill(~padding, -math.inf)
        print(f"B = {batch}: no error. Sentence i's padding now masks head i.")
    except RuntimeError as error:
        print(f"B = {batch}: {error}")

# %% [markdown]
# The error is the lucky case. With as many sentences as heads, the mask of sentence 1
# silently masks head 1 of *every* sentence. So we give each mask its four dimensions
# ourselves.
#
# **The contract from here on.** A mask may have
#
# | rank | shape | its dimensions mean |
# |---|---|---|
# | 2 | `(Lq, Lk)` | queries, keys: the same for all sentences and heads |
# | 3 | `(B, Lq, Lk)` | sentences, queries, keys: the same for all heads |
# | 4 | `(B, h, Lq, Lk)` | a mask of its own for each head |
#
# Any of `B`, `h`, `Lq` may be 1. A three-dimensional mask is *always* read as one with
# a batch, never as one with heads.
#
# ### Exercise 3.5 - a mask for all heads
#
# *time ~8 min · difficulty 2/5 · 8 points*
#
# **Why it matters.** You have just seen why. `B == h` is not rare: 8 heads, batch of 8.
#
# **What to do.** Return the mask with four dimensions, so that it broadcasts to
# `(B, h, Lq, Lk)` as the table says. `None` stays `None`.
#
# <details><summary>Hint 1: a question</summary>
#
# At which place does a mask of three dimensions lack one? And one of two dimensions?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# (Lq, Lk)         ->  (1, 1, Lq, Lk)
# (B, Lq, Lk)      ->  (B, 1, Lq, Lk)
# (B, h, Lq, Lk)   ->  unchanged
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# no mask: nothing to do
# if the mask has no batch: insert a dimension of size 1 at the front
# if the mask has no heads: insert a dimension of size 1 after the batch
# ```
#
# </details>


# %% exercise="multi_head_attention/mask_for_heads"
def mask_for_heads(mask: Tensor | None) -> Tensor | None:
    """A mask with the four dimensions of the scores of all heads.

    Args:
        mask: None, or boolean of shape `(Lq, Lk)`, `(B, Lq, Lk)` or `(B, h, Lq, Lk)`,
            where B, h and Lq may be 1: True = may attend.

    Returns:
        None, or the mask with exactly four dimensions, broadcastable to
        `(B, h, Lq, Lk)`.
    """
    ### BEGIN SOLUTION
    if mask is None or mask.dim() == 4:
        return mask
    if mask.dim() == 2:
        mask = mask.unsqueeze(0)  # (1, Lq, Lk)
    return mask.unsqueeze(1)  # (B, 1, Lq, Lk)
    ### END SOLUTION


# %% check="multi_head_attention/mask_for_heads" points=8
# Looks at masks of each rank, also where there are as many sentences as heads.
check("multi_head_attention/mask_for_heads", mask_for_heads)

# %% [markdown]
# ## 6. Multi-head attention
#
# One thing is new: **dropout on the attention weights**. In training, each weight is
# set to zero with probability $p$, and the others are divided by $1-p$. A query then
# cannot lean on a single key, since this key may be missing at any moment. (The paper
# says where *it* drops in section 5.4; dropout on the weights is what its published
# code and PyTorch's layer do.)
#
# **Predict first.** Do the rows still sum to one after dropout? If not: what about
# their average over many draws?

# %%
torch.manual_seed(0)
weights = torch.tensor([0.4, 0.3, 0.2, 0.1])
for _ in range(3):
    dropped = F.dropout(weights, p=0.5)
    print(f"{[round(w, 1) for w in dropped.tolist()]}  sum {float(dropped.sum()):.1f}")
many = torch.stack([F.dropout(weights, p=0.5) for _ in range(5000)])
print("average of 5000 draws:", [round(w, 2) for w in many.mean(0).tolist()])

# %% [markdown]
# A single row no longer sums to one; the average does. That is why the rest is divided
# by $1-p$: in evaluation, where nothing is dropped, the layer sees the weights it is
# used to.
#
# Now everything together. Queries, keys and values may come from three different
# tensors. (In cross-attention, `key` and `value` are both the memory. The layer does
# not care.)
#

# %%
drawing("multi_head", "3.6", "The whole layer: project, split, attend, merge, project.")

# %% [markdown]
# Inside each head stands the picture of unit 2: scores, mask, softmax, then dropout on
# the weights `(B, h, Lq, Lk)`, then the weighted sum. All heads run in one go, as a
# batch.
#
# ### Exercise 3.6 - multi-head attention
#
# *time ~35 min · difficulty 4/5 · 24 points*
#
# **Why it matters.** All layers of unit 4 are made of this one. So is every large
# language model.
#
# **What to do.** Four linear layers `w_q`, `w_k`, `w_v`, `w_o`, each from `d_model` to
# `d_model`, with bias. If the features cannot be shared out evenly, raise a
# `ValueError` when the layer is made. `forward` takes masks as in section 5. Dropout
# acts on the weights, in training mode only.
#
# The weights that you return may be those before or after dropout, and may carry no
# gradient: they are there to look at. There is no residual and no normalisation here;
# they come in unit 4.
#
# <details><summary>Hint 1: a question</summary>
#
# `attention.scaled_dot_product_attention` gives you an output and weights. Dropout
# belongs *between* these two. So which of the two can you still use, and what must you
# compute anew?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# w_q(query)               (B, Lq, d_model)
# q, split                 (B, h, Lq, d_k)
# k and v, split           (B, h, Lk, d_k)    from key, and from value
# weights                  (B, h, Lq, Lk)
# weights @ v              (B, h, Lq, d_k)
# merged, then w_o         (B, Lq, d_model)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# init:     does num_heads divide d_model? if not: raise
#           four linear layers; a dropout layer
# forward:  project query, key and value, each with its own layer, and split each
#           give the mask its four dimensions
#           weights of attention, for all heads at once
#           dropout on them
#           mix the values with them, merge, project
#           return output and weights
# ```
#
# </details>


# %% exercise="multi_head_attention/multi_head_attention"
class MultiHeadAttention(nn.Module):
    """Multi-head attention (Vaswani et al. 2017, section 3.2.2).

    Args:
        d_model: size of all input and output vectors.
        num_heads: number of heads, h, at least 1.
        dropout: probability of dropping an attention weight in training.

    The linear layers are named `w_q`, `w_k`, `w_v` and `w_o`, each with a bias; the
    state dict holds no other names.

    Raises:
        ValueError: num_heads does not divide d_model.
    """

    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0):
        super().__init__()
        self.num_heads = num_heads
        ### BEGIN SOLUTION
        if d_model % num_heads != 0:
            raise ValueError(f"{num_heads} heads cannot share {d_model} features")
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)
        ### END SOLUTION

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Attend from each query to all keys, in every head.

        Args:
            query: what looks, shape `(B, Lq, d_model)`.
            key: what is compared with it, shape `(B, Lk, d_model)`.
            value: what is mixed, shape `(B, Lk, d_model)`.
            mask: None, or boolean of shape `(Lq, Lk)`, `(B, Lq, Lk)` or
                `(B, h, Lq, Lk)`, where B, h and Lq may be 1: True = may attend.

        Returns:
            The output `(B, Lq, d_model)` and the weights `(B, h, Lq, Lk)`.
        """
        ### BEGIN SOLUTION
        q = split_heads(self.w_q(query), self.num_heads)  # (B, h, Lq, d_k)
        k = split_heads(self.w_k(key), self.num_heads)  # (B, h, Lk, d_k)
        v = split_heads(self.w_v(value), self.num_heads)  # (B, h, Lk, d_k)
        mask = mask_for_heads(mask)
        _, weights = attention.scaled_dot_product_attention(q, k, v, mask)
        weights = self.dropout(weights)  # (B, h, Lq, Lk)
        return self.w_o(merge_heads(weights @ v)), weights  # (B, Lq, d_model), ...
        ### END SOLUTION


# %% check="multi_head_attention/multi_head_attention" points=24
# Looks at both results, masks of each rank, who can see whom, gradients and dropout.
check("multi_head_attention/multi_head_attention", MultiHeadAttention)

# %% [markdown]
# Now the promise of section 4: the same weights in both layers, the same output. And
# which one is faster?


# %%
def milliseconds(function, *arguments) -> float:
    """The fastest of ten calls."""
    best = math.inf
    for _ in range(10):
        start = time.perf_counter()
        function(*arguments)
        best = min(best, time.perf_counter() - start)
    return 1000 * best


@demo
def list_beside_split():
    torch.manual_seed(2)
    plain = ListOfHeads(d_model=64, num_heads=16, d_k=4, d_v=4, d_out=64)
    fast = MultiHeadAttention(d_model=64, num_heads=16)
    shared = {f"w_o.{name}": value for name, value in plain.w_o.state_dict().items()}
    fast.load_state_dict(pack_heads(plain.heads) | shared)
    x = torch.randn(4, 20, 64)
    with torch.no_grad():
        gap = (plain(x)[0] - fast(x, x, x)[0]).abs().max()
        print(f"largest difference: {float(gap):.1e}")
        print(f"a list of 16 heads: {milliseconds(plain, x):5.2f} ms")
        print(f"split into 16 heads:{milliseconds(fast, x, x, x):5.2f} ms")


# %% [markdown]
# ### Does a second head really help?
#
# Time for the experiment that section 1 called for. Each position must report two
# things: the word *before* it and the *first* word of the sentence, both as vectors, in
# this order. Words are random vectors of 8 numbers; positions are marked by 8 more
# numbers. So `d_model = 16`.
#
# We train your layer with 1, 2 and 4 heads. All three have *exactly the same number of
# parameters*. The loss is the mean squared error; guessing nothing at all costs 1.0.
#
# **Predict first.** One head gets two answers in one sum. How much of the error can it
# remove?


# %% folded=true
# @title The sentences with two questions, and how a layer is trained on them
def two_questions(batch: int, length: int = 8) -> tuple[Tensor, Tensor]:
    """Sentences `(B, L, 16)`, and for each position the word before and the first."""
    tokens = torch.randn(batch, length, 8)
    places = torch.eye(length).expand(batch, length, length)
    first = tokens[:, :1].expand_as(tokens)
    target = torch.cat([tokens.roll(1, dims=1), first], dim=-1)  # (B, L, 16)
    return torch.cat([tokens, 3 * places], dim=-1), target


@functools.cache
def train_heads(num_heads: int, steps: int = 400) -> tuple[nn.Module, list[float]]:
    """A trained layer and its loss at each step; trained once and then remembered."""
    torch.manual_seed(num_heads)
    layer = MultiHeadAttention(d_model=16, num_heads=num_heads)
    optimiser = torch.optim.Adam(layer.parameters(), lr=0.01)
    losses = []
    for _ in range(steps):
        x, target = two_questions(batch=32)
        loss = F.mse_loss(layer(x, x, x)[0], target)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return layer.eval(), losses


# %%
@demo
def one_two_four_heads():
    trained = {count: train_heads(count) for count in (1, 2, 4)}
    losses = {count: losses for count, (_, losses) in trained.items()}
    sizes = {
        count: sum(p.numel() for p in layer.parameters())
        for count, (layer, _) in trained.items()
    }
    pictures.losses(losses, sizes)


# %% [markdown]
# Two heads solve the task. One head cannot, however long it trains: from the sum of two
# random vectors, no linear layer can tell the two apart, and half of the error stays.
# (To be exact, $\tfrac{7}{8} \cdot \tfrac{1}{2} \approx 0.44$: at one of the eight
# positions, position 1, the word before *is* the first word, so one answer is enough.)
#
# What has each of them learnt? **Predict first:** draw the two maps on paper. (For
# position 0, "the word before" is the last word: the sentence is a ring.)


# %%
@demo
def one_map_per_head():
    (single, _), (pair, _) = train_heads(1), train_heads(2)
    x, _ = two_questions(batch=1)
    maps = {"the single head": single(x, x, x)[1][0, 0]}
    maps |= {f"head {i} of 2": w for i, w in enumerate(pair(x, x, x)[1][0])}
    pictures.trained(maps)


# %% [markdown]
# And when did they agree? The same training run, stopped early, on one sentence.
# **Predict first:** does the loss fall first, or do the maps change first?


# %%
@demo
def birth_of_two_heads():
    torch.manual_seed(0)
    x, _ = two_questions(batch=1)
    stops = [0, 20, 40, 60, 100, 400]
    layers = [train_heads(2, steps=stop)[0] for stop in stops]
    maps = [layer(x, x, x)[1][0] for layer in layers]
    pictures.birth(stops, maps, train_heads(2)[1])


# %% [markdown]
# They change together. One head settles on position 0 first: that answer is the same
# for every row, so it is the easier one. The other head then finds the previous
# position, row by row, and with it the loss falls to zero.
#
# Nobody told the heads who is in charge of what. They shared out the work by
# themselves. (Often not quite tidily: a head may look a little where it need not, and
# the other one takes this part away again.) In large models such heads are found, too:
# for the previous word, for the verb of an object, for what "it" refers to (Clark et
# al. 2019). Others can be removed without any harm (Michel et al. 2019).
#
# Each head's part can even be *added up*. Joining heads and then applying `w_o` is the
# same as a sum:
#
# $$W^O \begin{pmatrix} z^{(0)} \\ z^{(1)} \end{pmatrix} + b =
# W^O_{0} z^{(0)} + W^O_{1} z^{(1)} + b,$$
#
# where $W^O_i$ are the columns of $W^O$ that belong to head $i$. So we can ask what
# each head contributes to which feature of the answer:


# %%
@demo
def who_writes_what():
    layer, _ = train_heads(2)
    x, _ = two_questions(batch=200)
    _, weights = layer(x, x, x)
    mixed = weights @ split_heads(layer.w_v(x), 2)  # (B, h, L, d_k)
    blocks = layer.w_o.weight.unflatten(1, (2, -1))  # (d_model, h, d_k)
    parts = torch.einsum("bhlk,ohk->hblo", mixed, blocks)  # a part of each head
    gap = (parts.sum(0) + layer.w_o.bias - layer(x, x, x)[0]).abs().max()
    print(f"sum of the heads' parts, against the layer's output: {float(gap):.1e}")
    spread = parts.flatten(1, 2).std(1)  # (h, d_model)
    names = ["features 0-7: the word before", "features 8-15: the first word"]
    pictures.who_writes_what(spread, names)


# %% [markdown]
# Last, break it. Take the layer with four heads and silence one head at a time: its
# columns of `w_o` become zero, all else stays as trained. **Predict first.** Four heads
# for two questions: is any of them not needed?


# %%
@demo
def one_head_removed():
    layer, _ = train_heads(4)
    x, target = two_questions(batch=500)
    rows = {}
    with torch.no_grad():
        for name in ("none", 0, 1, 2, 3):
            broken = copy.deepcopy(layer)
            if name != "none":
                broken.w_o.weight[:, 4 * name : 4 * name + 4] = 0.0  # d_k = 4
            error = (broken(x, x, x)[0] - target).square().mean((0, 1))  # (16,)
            rows[name] = error[:8].mean(), error[8:].mean()
    print("head removed   error in the word before   error in the first word")
    for name, (before, first) in rows.items():
        print(f"{name!s:>12} {float(before):26.3f} {float(first):25.3f}")


# %% [markdown]
# No head is idle, and the work is shared cleanly: each head serves one question only.
# Without it, that answer has an error of about 0.5, and the other none. Why one half?
# An answer has 8 numbers, and a head can carry 4: so two heads share each question, and
# with one of them gone half of the answer is gone. In large models it is different:
# many heads can be removed and hardly anything is lost (Michel et al. 2019). They have
# room to spare; this layer has none.
#
# ## 7. What does it cost?
#
# Several heads sound expensive. **Predict first:** by what factor does the number of
# parameters grow from 1 head to 8?
#
# ### Exercise 3.7 - count the parameters
#
# *time ~6 min · difficulty 1/5 · 4 points*
#
# **Why it matters.** Whoever can count parameters on paper can check a model's
# description in a minute, and knows where the memory goes.
#
# **What to do.** Return the number of trainable numbers in a `MultiHeadAttention`, as a
# whole number. `bias` says whether the four linear layers have a bias.
#
# <details><summary>Hint 1: a question</summary>
#
# How many numbers does one `nn.Linear(d_in, d_out)` hold? Where in the four layers does
# the number of heads appear?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# weight of one layer    (d_model, d_model)
# bias of one layer      (d_model,)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# one layer = the numbers in its weight, and in its bias if there is one
# times the number of layers
# ```
#
# </details>


# %% exercise="multi_head_attention/parameter_count"
def parameter_count(d_model: int, num_heads: int, bias: bool = True) -> int:
    """How many trainable numbers a `MultiHeadAttention` holds.

    Args:
        d_model: size of all input and output vectors.
        num_heads: number of heads, h; it divides d_model.
        bias: whether the four linear layers have a bias.

    Returns:
        The number of parameters, an int.
    """
    ### BEGIN SOLUTION
    one_layer = d_model * d_model + (d_model if bias else 0)
    return 4 * one_layer
    ### END SOLUTION


# %% check="multi_head_attention/parameter_count" points=4
# Looks at several sizes, with and without biases.
check("multi_head_attention/parameter_count", parameter_count)


# %%
@demo
def count_and_compare():
    for heads in (1, 2, 8):
        layer = MultiHeadAttention(512, heads)
        counted = sum(p.numel() for p in layer.parameters())
        yours = parameter_count(512, heads)
        print(f"h = {heads}: yours {yours:,}, counted {counted:,}")


# %% [markdown]
# *Question in words (4 points).* A colleague works with `d_model = 512` and 8 heads. "I
# will take 64 heads: eight times the capacity!" Say in three to five sentences what
# changes and what does not: the parameters, the size of a head, the number of attention
# maps and the memory for them. What may get better, and what worse?
#
# *What a full answer has: parameters stay (1), the size of a head shrinks to 8 (1),
# eight times as many maps and memory for them (1), a sensible word on the trade-off
# (1).*

# %% [markdown] written="multi_head_attention/more_heads" points=4
# *Your answer here*
#
# ### BEGIN SOLUTION
# The number of parameters stays the same: the four matrices are 512 × 512, whatever the
# number of heads. Each head shrinks from 64 to 8 features. There are 64 maps in place
# of 8, so the memory for the weights, `B · h · Lq · Lk`, grows eightfold. More
# relations can be kept apart. But each head compares words by only 8 numbers, which
# makes its map coarse, and it can carry only 8 numbers from word to word. The paper saw
# this, too: quality drops with a single head and with too many (Vaswani et al. 2017,
# table 3, rows A).
# ### END SOLUTION

# %% [markdown]
# ## 8. Yours is PyTorch's
#
# PyTorch has this layer, too: `nn.MultiheadAttention`. If yours gives the same numbers
# with the same weights, you can trust both. Three things differ:
#
# | | yours | `nn.MultiheadAttention(d_model, h, batch_first=True)` |
# |---|---|---|
# | weights of q, k, v | three layers `w_q`, `w_k`, `w_v` | one tensor `in_proj_weight` `(3·d_model, d_model)`: first the rows of q, then k, then v; and `in_proj_bias` |
# | last layer | `w_o` | `out_proj` |
# | boolean mask | `True` = may attend | `True` = may **not** attend |
#
# Two more habits of PyTorch's layer: without `batch_first=True` it expects the
# positions before the batch, and without `average_attn_weights=False` it returns the
# *mean* of the heads' maps.
#
# ### Exercise 3.8 - to PyTorch
#
# *time ~15 min · difficulty 3/5 · 7 points*
#
# **Why it matters.** Loading weights from one code base into another is everyday work.
# Every port of a published model begins like this.
#
# **What to do.** Make an `nn.MultiheadAttention` (batch first, no dropout, whatever
# dropout `mine` has) with the same number of heads and *copy* the weights of `mine`
# into it. Copies must not be tied: if one layer is trained on, the other must not
# change. Read `d_model` off one of the four layers: they and `num_heads` are all that
# `mine` is sure to have.
#
# <details><summary>Hint 1: a question</summary>
#
# Which rows of `in_proj_weight` does PyTorch use for the keys? And is `out_proj` a
# tensor or a layer?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# w_q.weight, w_k.weight, w_v.weight    (d_model, d_model) each
# in_proj_weight                        (3 * d_model, d_model)
# w_q.bias, w_k.bias, w_v.bias          (d_model,) each
# in_proj_bias                          (3 * d_model,)
# out_proj.weight, out_proj.bias        as in w_o
# ```
#
# If PyTorch complains about *a leaf variable that requires grad*: writing into a
# parameter is nothing to differentiate. Look up `torch.no_grad`, or use
# `load_state_dict`.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# make PyTorch's layer with the same sizes
# without recording gradients:
#     in_proj_weight gets the three weights, one below the other, in the right order
#     in_proj_bias   gets the three biases, in the same order
#     out_proj       gets the weight and the bias of w_o
# ```
#
# </details>


# %% exercise="multi_head_attention/to_pytorch"
def to_pytorch(mine: nn.Module) -> nn.MultiheadAttention:
    """A copy of a `MultiHeadAttention` as PyTorch's own layer.

    Args:
        mine: a module with linear layers `w_q`, `w_k`, `w_v`, `w_o`, each from d_model
            to d_model with a bias, and with the attribute `num_heads`.

    Returns:
        An `nn.MultiheadAttention`, batch first, without dropout, with copies of the
        weights.
    """
    ### BEGIN SOLUTION
    d_model = mine.w_o.out_features
    theirs = nn.MultiheadAttention(d_model, mine.num_heads, batch_first=True)
    layers = (mine.w_q, mine.w_k, mine.w_v)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers]))
        theirs.in_proj_bias.copy_(torch.cat([layer.bias for layer in layers]))
        theirs.out_proj.load_state_dict(mine.w_o.state_dict())
    return theirs
    ### END SOLUTION


# %% check="multi_head_attention/to_pytorch" points=7
# Runs PyTorch's layer with your weights; looks at whether they are copies.
check("multi_head_attention/to_pytorch", to_pytorch)

# %% [markdown]
# ### Exercise 3.9 - from PyTorch
#
# *time ~8 min · difficulty 2/5 · 6 points*
#
# **Why it matters.** The other direction is the more frequent one: somebody trained for
# weeks, and you want to look inside with your own, readable code.
#
# **What to do.** Return the eight tensors under the names that your own layer's
# `load_state_dict` expects: `w_q.weight`, `w_q.bias`, and so on for `w_k`, `w_v`,
# `w_o`. Leave `theirs` as it was; what you return may share its memory, and may be
# detached.
#
# <details><summary>Hint 1: a question</summary>
#
# Into how many equal parts must `in_proj_weight` be cut, and along which dimension?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# in_proj_weight    (3 * d_model, d_model)  ->  three of (d_model, d_model)
# in_proj_bias      (3 * d_model,)          ->  three of (d_model,)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# cut weight and bias into three parts each: q, k, v
# store each part under its name
# store weight and bias of out_proj under the names of w_o
# ```
#
# </details>


# %% exercise="multi_head_attention/from_pytorch"
def from_pytorch(theirs: nn.MultiheadAttention) -> dict[str, Tensor]:
    """The weights of PyTorch's layer, named for `MultiHeadAttention.load_state_dict`.

    Args:
        theirs: an `nn.MultiheadAttention` with biases; keys and values have size
            d_model.

    Returns:
        The tensors `w_q.weight`, `w_q.bias`, and the same for `w_k`, `w_v` and `w_o`:
        weights `(d_model, d_model)`, biases `(d_model,)`.
    """
    ### BEGIN SOLUTION
    state = {
        "w_o.weight": theirs.out_proj.weight,
        "w_o.bias": theirs.out_proj.bias,
    }
    weights = theirs.in_proj_weight.chunk(3)  # three of (d_model, d_model)
    biases = theirs.in_proj_bias.chunk(3)  # three of (d_model,)
    for name, weight, bias in zip("qkv", weights, biases, strict=True):
        state |= {f"w_{name}.weight": weight, f"w_{name}.bias": bias}
    return state
    ### END SOLUTION


# %% check="multi_head_attention/from_pytorch" points=6
# Looks at names, shapes and values of the eight tensors.
check("multi_head_attention/from_pytorch", from_pytorch)

# %% [markdown]
# ### The mask at the border
#
# What is left is the mask. `nn.MultiheadAttention` takes it as `attn_mask`. If each
# sentence or head is to have its own, it must have **three** dimensions,
# `(B·h, Lq, Lk)`. The heads of sentence 0 come first, then those of sentence 1, and so
# on. And its `True` means the opposite of ours.
#
# ### Exercise 3.10 - a mask for PyTorch
#
# *time ~10 min · difficulty 3/5 · 7 points*
#
# **Why it matters.** A mask of the wrong polarity raises no error. The model listens to
# the padding and is deaf to the words. In public code this has happened many times.
#
# **What to do.** Turn one of our masks, broadcastable to `size = (B, h, Lq, Lk)`, into
# the boolean mask `(B·h, Lq, Lk)` that `nn.MultiheadAttention` wants.
#
# <details><summary>Hint 1: a question</summary>
#
# Two dimensions are to become one, and the sentence number shall change slowly, the
# head number quickly. Is that the order in which `(B, h, ...)` already lies in memory?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# mask            e.g. (B, 1, 1, Lk)
# at full size    (B, h, Lq, Lk)
# for PyTorch     (B * h, Lq, Lk)     bool, with the opposite meaning
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# turn "may" into "may not"
# repeat the mask up to the full size
# join the first two dimensions
# ```
#
# </details>


# %% exercise="multi_head_attention/pytorch_mask"
def pytorch_mask(mask: Tensor, size: tuple[int, int, int, int]) -> Tensor:
    """One of our masks in the form of `nn.MultiheadAttention`'s `attn_mask`.

    Args:
        mask: boolean, four dimensions, broadcastable to `size`: True = may attend.
        size: `(B, h, Lq, Lk)`.

    Returns:
        A boolean mask `(B * h, Lq, Lk)`: True = may NOT attend. Entry `b * h + i` is
        for head i of sentence b.
    """
    ### BEGIN SOLUTION
    return (~mask).expand(size).flatten(0, 1)  # (B * h, Lq, Lk)
    ### END SOLUTION


# %% check="multi_head_attention/pytorch_mask" points=7
# Looks at the mask and at what PyTorch's layer makes of it.
check("multi_head_attention/pytorch_mask", pytorch_mask)

# %% [markdown]
# The proof. Your layer and PyTorch's, with the same weights, there and back, with a
# mask. And, as a warning, what happens if somebody forgets to turn the mask around.


# %%
@demo
def yours_is_pytorchs():
    torch.manual_seed(3)
    mine = MultiHeadAttention(d_model=12, num_heads=3).eval()
    theirs = to_pytorch(mine).eval()
    query, memory = torch.randn(2, 4, 12), torch.randn(2, 5, 12)
    mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])[:, None]  # (B, 1, Lk)
    size = (2, 3, 4, 5)
    turned = pytorch_mask(mask_for_heads(mask), size)

    def gap(mask, attn_mask) -> float:
        own = mine(query, memory, memory, mask)
        other = theirs(
            query, memory, memory, attn_mask=attn_mask, average_attn_weights=False
        )
        return max(float((a - b).abs().max()) for a, b in zip(own, other, strict=True))

    print(f"no mask:                     largest difference {gap(None, None):.1e}")
    print(f"the mask, turned around:     largest difference {gap(mask, turned):.1e}")
    print(f"the mask, NOT turned around: largest difference {gap(mask, ~turned):.1e}")

    back = MultiHeadAttention(d_model=12, num_heads=3).eval()
    back.load_state_dict(from_pytorch(theirs))
    change = back(query, memory, memory)[0] - mine(query, memory, memory)[0]
    change = change.abs().max()
    print(f"to PyTorch and back:         largest difference {float(change):.1e}")


# %% [markdown]
# The third line says `nan`: the first sentence has no padding, so with the meaning
# turned around it may attend to nobody. That is the lucky case again. A mask that
# leaves something open on both sides gives plain, wrong numbers.
#
# ## 9. Seventy-two heads of a real model
#
# What do heads learn if nobody tells them what to learn? MiniLM (Wang et al. 2020), an
# encoder like BERT, has 6 layers of 12 heads. The course has their maps for ten
# sentences. Two kinds of heads are easy to search for: those that look at the
# **previous** token, whatever it is, and those that look at the **next** one.
#
# **Predict first.** How much weight does the best previous-token head put there, on
# average over all positions of a sentence: a third, a half, or nearly all?


# %%
@demo
def heads_that_look_at_neighbours():
    found = maps_of("The keys to the old house are on the table.")
    pictures.all_heads(found)
    best = {}
    for name, offset in {"previous": -1, "next": 1}.items():
        means = found.weights.diagonal(offset, 2, 3).mean(-1)  # (layers, h)
        layer, head = divmod(int(means.argmax()), means.size(1))
        best[f"{name}: layer {layer}, head {head}"] = found.weights[layer, head]
        print(f"{name}: layer {layer}, head {head}, on average {means.max():.4f}")
    pictures.neighbours(best, found.tokens)


# %% [markdown]
# Nearly all: in head 2 of layer 0 it is **0.9999**, in every one of the ten sentences
# at least 0.9997. So exact a head can only live on positions; the words hardly matter
# to it. The best head for the *next* token, head 8 of layer 1, has about 0.6. The other
# seventy are less tidy. Clark et al. (2019) found the same kinds in BERT, and Voita et
# al. (2019) that they are the ones that stay when most heads are pruned away.
#
# ## What you built
#
# - `ListOfHeads`, the definition word for word;
# - `split_heads` and `merge_heads`, the two lines everybody mistypes once;
# - `pack_heads`, the proof that both views are one;
# - `mask_for_heads`, which keeps batch and heads apart;
# - `MultiHeadAttention`, with dropout on its weights, equal to PyTorch's own layer;
# - `to_pytorch`, `from_pytorch` and `pytorch_mask`: the border crossing, both ways.
#
# **Next:** unit 4 puts this layer between normalisation, residuals and a small network.
# The result is the Transformer.
#
# ## Go further
#
# - Vaswani et al. 2017, *Attention Is All You Need*, section 3.2.2, and table 3, rows
#   A: how many heads are best?
# - Clark et al. 2019, *What Does BERT Look At?*: what single heads do in a trained
#   model.
# - Michel, Levy and Neubig 2019, *Are Sixteen Heads Really Better than One?*: most
#   heads can be removed after training.
# - Elhage et al. 2021, *A Mathematical Framework for Transformer Circuits*: heads as
#   independent parts that add up, as in `who_writes_what`.
# - Shazeer 2019, *Fast Transformer Decoding: One Write-Head is All You Need*, and
#   Ainslie et al. 2023, *GQA*: heads that share their keys and values, and so save
#   memory. Where in your code would that change a shape?
# - Try it: train `two_questions` with three questions and two heads. What do the maps
#   look like?

# %% [markdown]
# ## Where you stand
#
# Your points so far, and what to do next. Run it again whenever you have solved
# something.

# %%
check.summary()
