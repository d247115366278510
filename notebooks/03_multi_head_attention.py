# %% [markdown]
# # 3 · Multi-head attention
#
# One attention map can hold only one opinion about which words matter to which, but
# language needs several at once: which adjective belongs to this noun, who does what,
# where the clause ends. So we run attention several times in parallel, each time in a
# small space of its own, and let a final layer combine the answers (Vaswani et al.
# 2017, section 3.2.2):
#
# $$
# \operatorname{MultiHead}(Q, K, V) =
# \operatorname{Concat}(\mathrm{head}_1, \dots, \mathrm{head}_h)\, W^O, \qquad
# \mathrm{head}_i = \operatorname{Attention}(Q W_i^Q,\; K W_i^K,\; V W_i^V)
# $$

# %% folded=true
# @title The whole machine
from autograder import drawing

drawing(
    "machine_heads",
    "",
    "The blue part of the chat model is what you build today; the number beside a part "
    "is the unit in which you build it.",
)

# %% [markdown]
# **Questions of this unit**
# - When is one head not enough?
# - How do many small heads become one large projection, and how do you prove that
#   nothing has changed?
# - How does one mask serve all heads?
# - What do heads learn if nobody assigns them a task, and what does each one cost?
# - Is *your* layer equivalent to PyTorch's `nn.MultiheadAttention`?
#
# *About 2½ hours · short path about 1½: exercises 3.2, 3.3, 3.5, 3.6*
#
# *7 exercises and one written question · 100 points.* The short path covers the
# essentials: for now, just read the other sections, and come back to their exercises
# later.
#
# <details><summary>What this unit uses from unit 2</summary>
#
# `scaled_dot_product_attention(q, k, v, mask)` returns the output and the attention
# weights for any number of leading dimensions, and in its masks `True` means "may
# attend". Your `CrossAttention` was also the basis of `SelfAttention`: three linear
# layers `w_q`, `w_k` and `w_v`, followed by the attention of a sequence to itself.
#
# </details>
#
# <details><summary>Conventions of this course</summary>
#
# | name | meaning |
# |---|---|
# | `B`, `L` | sentences in a batch, positions in a sentence; the batch comes first |
# | `Lq`, `Lk` | number of queries, number of keys |
# | `d_model` | size of the vector at each position |
# | `h` (in code `num_heads`) | number of heads |
# | `d_k`, `d_v` | size of the queries and keys of one head, and of its values |
# | `(B, h, L, d_k)` | the shape of heads: batch, head, position, feature |
# | mask | boolean, **`True` = may attend**, broadcastable to `(B, h, Lq, Lk)` |
# | attention | returns the pair `(output, weights)`, in this order |
# | arguments | are never modified in place |
# | floats | may have any dtype and be views of other tensors; results keep the dtype |
# | gradients | flow back through what you compute, unless the text says otherwise |
#
# </details>

# %%
import copy
import functools
import math
import time
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from autograder import check, demo, earlier
from transformer_course.library import chat
from transformer_course.library.attention_maps import maps_of
from transformer_course.multi_head_attention.library import pictures

# False: use the course's own, correct solutions of unit 2. True: use your own notebook
# of unit 2, if it is in the same folder. Grading always uses the course's solutions.
USE_MY_OWN = False
attention = earlier("02_attention", mine=USE_MY_OWN)

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## 1. Who bites whom?
#
# In *dog bites man*, the verb asks two questions: **who bites**, answered by the word
# before it, and **who is bitten**, answered by the word after it. In the maps below we
# set the scores by hand, 6 for a match and 0 otherwise, so that head A asks the first
# question and head B the second. A single head has only one score for each pair of
# words, so if it wants both answers, the best it can do is to add the two scores.
#
# Does *bites* notice if the dog and the man swap places? As in unit 1, each word's
# vector is the sum of its embedding and a position vector.
#
# **Predict first.** How much does the swap change the vector that *bites* receives from
# head A, and from the single head: not at all, a little, or about as much as *dog*
# differs from *man*?


# %%
my_guess = "?"  # write yours here, then run the cell


@demo
def who_bites_whom():
    words = ["dog", "bites", "man"]
    before = torch.diag(torch.full((2,), 6.0), diagonal=-1)  # (3, 3): the word before
    after = before.T  # (3, 3): the word after
    maps = {
        "head A: the word before": before.softmax(-1),
        "head B: the word after": after.softmax(-1),
        "one head for both": (before + after).softmax(-1),
    }
    pictures.one_head_or_two(maps, words)

    torch.manual_seed(0)
    dog, bites, man, *positions = torch.randn(6, 8)
    dog_first = torch.stack([dog, bites, man]) + torch.stack(positions)  # (L, d)
    man_first = torch.stack([man, bites, dog]) + torch.stack(positions)
    print("By how much what 'bites' receives changes, at most:")
    for name, weights in maps.items():
        change = (weights[1] @ dog_first - weights[1] @ man_first).abs().max()
        print(f"{name:>24}: {float(change):.1e}")


# %% [markdown]
# Heads A and B tell the two sentences apart. (In head A, the row of *dog* is uniform,
# because no word precedes it.) The single head gives *bites* half of *dog* and half of
# *man* in both sentences, so the difference is only a rounding error. Even the
# positions do not help, because they are mixed along with the words. Swap the two
# answers and the sum stays the same, so no later layer can find out from it who bit
# whom. (In unit 2, *bites* did notice the swap, because there the weights themselves
# changed with the words. If a head prefers one of the neighbours, the other answer
# becomes fainter.)
#
# Two heads keep the answers apart, because each writes into its own features. That is
# all "multi-head" means: instead of one large mixture we compute `h` smaller ones in
# parallel, usually of size `d_model / h`, and a final linear layer combines them.
#
# ## 2. The plain version: a list of heads

# %%
drawing(
    "list_of_heads",
    "3.2",
    "Every head reads all of x; their outputs are concatenated, and w_o mixes them.",
)

# %% [markdown]
# Each head is a complete `SelfAttention` from unit 2, with its own weights, and sees
# the whole input. The outputs are concatenated, and the linear layer `w_o` mixes them,
# which is the only step in which one head's answer can meet another's. This version
# follows the definition to the letter, so whenever you doubt a cleverer one, check it
# against this.
#
# ### Exercise 3.1 - A list of heads
#
# *time ~20 min · difficulty 3/5 · 14 points*
#
# **Task.** Build `ListOfHeads`: run every head on `x`, concatenate their outputs along
# the features, and apply `w_o`. Return the result and the attention weights of all
# heads, stacked into shape `(B, h, L, L)`.
#
# **Example.** `ListOfHeads(7, num_heads=3, d_k=4, d_v=6, d_out=8)` maps `x` of shape
# `(2, 5, 7)` to an output `(2, 5, 8)` and weights `(2, 3, 5, 5)`.
#
# <details><summary>Contract</summary>
#
# - `heads` contains `num_heads` registered modules
#   `attention.SelfAttention(d_model, d_k, d_v)`.
# - Each head starts with random weights of its own.
# - `w_o` is an `nn.Linear` with bias; the state dict contains no other names.
# - The features of head 0 come first.
# - The mask, if there is one, applies to every head.
# - Gradients flow back from the output and from the returned weights.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# An optimiser trains only what `parameters()` lists. Does a module find the parameters
# of layers that are kept in an ordinary Python list? Which container in `nn` is made
# for this?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# output of one head           (B, L, d_v)
# all outputs, concatenated    (B, L, h * d_v)     an existing dimension grows
# after w_o                    (B, L, d_out)
# weights of one head          (B, L, L)
# weights of all heads         (B, h, L, L)        a new dimension appears: where?
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# init:     a registered list of num_heads heads
#           a linear layer from h * d_v to d_out
# forward:  run each head on x with the mask; collect outputs and weights
#           concatenate the outputs along the last dimension
#           stack the weights along a new dimension after the batch
#           return the projected outputs and the stacked weights
# ```
#
# </details>


# %% exercise="multi_head_attention/list_of_heads"
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
        ### BEGIN SOLUTION
        self.heads = nn.ModuleList(
            attention.SelfAttention(d_model, d_k, d_v) for _ in range(num_heads)
        )
        self.w_o = nn.Linear(num_heads * d_v, d_out)
        ### END SOLUTION

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
        ### BEGIN SOLUTION
        results = [head(x, mask) for head in self.heads]
        outputs, weights = zip(*results, strict=True)
        joined = torch.cat(outputs, dim=-1)  # (B, L, h * d_v)
        return self.w_o(joined), torch.stack(weights, dim=1)  # ..., (B, h, L, L)
        ### END SOLUTION


# %% check="multi_head_attention/list_of_heads" points=14
# Parameters, output and weights, masks, and gradients.
check("multi_head_attention/list_of_heads", ListOfHeads)

# %% [markdown]
# Nothing in this code tells the heads to differ, and nothing needs to: because each
# starts with different random weights, training moves them in different directions from
# the first step.
#
# ## 3. The fast version: one projection, split into heads
#
# A Python loop over the heads multiplies `3·h` small matrices, whereas hardware prefers
# a few large ones. But all heads multiply the *same* `x`:
#
# $$
# q^{(0)} = W^{(0)} x, \qquad q^{(1)} = W^{(1)} x, \qquad \dots
# \qquad\Longrightarrow\qquad
# \begin{pmatrix} q^{(0)} \\ q^{(1)} \\ \vdots \end{pmatrix} =
# \begin{pmatrix} W^{(0)} \\ W^{(1)} \\ \vdots \end{pmatrix} x
# $$
#
# If we stack the small matrices into one tall matrix, a single product gives the
# queries of all heads: features `0 ... d_k-1` belong to head 0, the next `d_k` to head
# 1, and so on. All that remains is to *read* these features as heads. On the left, the
# figure shows what the projection returns, and on the right, what attention needs; the
# colours mark the three heads.

# %%
numbers = 10 * torch.arange(4)[:, None] + torch.arange(6)  # (L, d_model)


@demo
def heads_are_blocks_of_columns():
    pictures.blocks(numbers, num_heads=3)


# %% [markdown]
# ### Three tools for shapes
#
# The first two tools compute nothing and only change how the same entries are read,
# while the third will apply a mask in section 5.
#
# | tool | what it does | the entries in memory |
# |---|---|---|
# | [`x.view(...)`](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.view.html) | reads the entries, in their order, as a different shape | stay where they are |
# | [`x.transpose(i, j)`](https://docs.pytorch.org/docs/stable/generated/torch.transpose.html) | swaps two dimensions: element `[a, b]` becomes `[b, a]` | stay where they are; only the strides change |
# | [`x.masked_fill(m, v)`](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.masked_fill.html) | returns a copy with `v` wherever the boolean `m` is true; `m` broadcasts | are copied |
#
# (`unflatten` is a `view` of a single dimension, `reshape` is a `view` that copies if
# it has to, and `flatten` is a `reshape` that merges dimensions.)
#
# Both `view(2, 3)` and `transpose` turn a `(3, 2)` tensor into a `(2, 3)` tensor, but
# not into the same one:

# %%
x = torch.arange(6).view(3, 2)
print("x               ", x.tolist())
print("x.view(2, 3)    ", x.view(2, 3).tolist())
print("x.transpose(0,1)", x.transpose(0, 1).tolist())
print("x.masked_fill   ", x.masked_fill(torch.tensor([True, False]), -1).tolist())

# %% [markdown]
# `view` reads `0, 1, 2, 3, 4, 5` in the old order, three to a row, while `transpose`
# turns the old columns into rows, `0, 2, 4` and `1, 3, 5`. The shape alone does not
# tell you which of the two has happened, and since the wrong choice raises no error,
# the next exercise is easy to get wrong.
#
# Our heads are contiguous blocks of features, as in PyTorch. Some implementations
# interleave them instead, so that feature $i$ goes to head $i \bmod h$. The resulting
# layer is equivalent, but its weights have to be permuted to match PyTorch's.
#
# ### Exercise 3.2 - Split heads
#
# *time ~10 min · difficulty 2/5 · 10 points*
#
# **Task.** Turn features `(B, L, d_model)` into heads `(B, h, L, d_k)`, where
# `d_k = d_model / h`. Each head gets one block of adjacent features at every position.
#
# **Example.** With two heads, `x = [[[1, 2, 3, 4], [5, 6, 7, 8]]]` becomes
# `[[[[1, 2], [5, 6]], [[3, 4], [7, 8]]]]`.
#
# <details><summary>Contract</summary>
#
# - Head `i` gets features `i * d_k` to `(i + 1) * d_k - 1` of every position.
# - The result has the dtype of `x`.
# - The result may share its memory with `x`.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# `view` keeps all entries in the order in which they are stored: position by position,
# and feature by feature within each position. Into which *two* dimensions can you split
# the features without moving anything? And what still has to move afterwards?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# x                            (B, L, d_model)
# the features, split in two   (B, L, h, d_k)      which comes first, h or d_k?
# what we want                 (B, h, L, d_k)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# split the last dimension into (heads, features of a head)
# swap the dimension of positions with that of heads
# ```
#
# </details>


# %% exercise="multi_head_attention/split_heads"
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
    ### BEGIN SOLUTION
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)  # (B, h, L, d_k)
    ### END SOLUTION


# %% check="multi_head_attention/split_heads" points=10
# Where every single entry goes, for several sizes.
check("multi_head_attention/split_heads", split_heads)

# %% [markdown]
# The next figure shows your split and, below it, a tempting shortcut,
# `x.view(h, L, d_k)`, whose result has the same shape:


# %%
@demo
def split_and_shortcut():
    ways = {
        "yours": split_heads(numbers[None], 3)[0],
        "view alone": numbers.view(3, 4, 2),
    }
    pictures.splits(ways)


# %% [markdown]
# The shortcut fills head 0 with *all* features of position 0 and a few of position 1,
# chopped into pairs. The "positions" of a head no longer correspond to positions in the
# sentence, so attention would compare one piece of a word with another piece of the
# same word.
#
# ### Merge them again
#
# After attention, the features of each position have to be brought back together, in
# the order in which `w_o` expects them.
#
# ### Exercise 3.3 - Merge heads
#
# *time ~5 min · difficulty 1/5 · 8 points*
#
# **Task.** Undo `split_heads`: turn heads `(B, h, L, d_k)` back into features
# `(B, L, h * d_k)`.
#
# **Example.** `[[[[1, 2], [5, 6]], [[3, 4], [7, 8]]]]` becomes
# `[[[1, 2, 3, 4], [5, 6, 7, 8]]]`.
#
# <details><summary>Contract</summary>
#
# - `merge_heads(split_heads(x, h))` equals `x`, so the features of head 0 come first.
# - The result has the dtype of `x`.
#
# </details>
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
# merged                      (B, L, h * d_k)
# ```
#
# If PyTorch complains that the *view size is not compatible with the stride*, that is
# because the entries of a transposed tensor are no longer stored in the order in which
# you read them. Some functions copy them into that order for you, but `view` never
# does.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# swap the dimension of heads with that of positions
# merge the last two dimensions
# ```
#
# </details>


# %% exercise="multi_head_attention/merge_heads"
def merge_heads(x: Float[Tensor, "B h L d_k"]) -> Float[Tensor, "B L h*d_k"]:
    """Concatenate the features of all heads: the inverse of `split_heads`.

    Args:
        x: the heads.

    Returns:
        The features of all heads, head 0 first, with the dtype of x.
    """
    ### BEGIN SOLUTION
    return x.transpose(1, 2).flatten(2)  # (B, L, h * d_k)
    ### END SOLUTION


# %% check="multi_head_attention/merge_heads" points=8
# Where every single entry goes, for several sizes.
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
# Merging undoes splitting exactly, because neither of them computes anything.
#
# ## 4. Both versions are the same
#
# If the fast version is correct, it must give *the same numbers* as the list of heads.
# To check that, we have to move weights from `h` small layers into one large layer,
# much as you will do for PyTorch's own layer in section 8.
#
# ### Exercise 3.4 - Pack the heads
#
# *time ~15 min · difficulty 3/5 · 13 points*
#
# **Task.** Stack the weights and biases of a list of heads to form three large layers
# that do the work of all heads at once. Return the stacked tensors as a dict with
# `state_dict()` keys.
#
# **Example.** For 3 heads with `d_k = 4` and `d_model = 12`, `"w_q.weight"` has the
# shape `(12, 12)`.
#
# <details><summary>Contract</summary>
#
# - The keys are `w_q.weight`, `w_q.bias`, `w_k.weight`, `w_k.bias`, `w_v.weight` and
#   `w_v.bias`.
# - Rows `i * d_k` to `(i + 1) * d_k - 1` come from head `i`.
# - The tensors have the dtype of the heads; they may be detached.
# - Each call reads the current weights of the heads, and does not modify them.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# `nn.Linear(d_in, d_out)` stores its weight as `(d_out, d_in)`. Which of these two
# dimensions belongs to the *outputs* of a head?
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
#         concatenate along the outputs; store the result under "name.kind"
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
        the same for `w_k` and `w_v`, with the dtype of the heads. Rows
        `i * d_k ... (i + 1) * d_k - 1` come from head i.
    """
    ### BEGIN SOLUTION
    return {
        f"{name}.{kind}": torch.cat([getattr(getattr(h, name), kind) for h in heads])
        for name in ("w_q", "w_k", "w_v")
        for kind in ("weight", "bias")
    }
    ### END SOLUTION


# %% check="multi_head_attention/pack_heads" points=13
# Names, shapes and rows of the six tensors.
check("multi_head_attention/pack_heads", pack_heads)

# %% [markdown]
# Compare one large product, followed by your split, with one small product per head:


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
# The differences are either zero or rounding errors, since a large product may add up
# its terms in a different order. The same holds for keys and values; section 6 compares
# the complete layers.
#
# ## 5. One mask for all heads
#
# Scores now have four dimensions, `(B, h, Lq, Lk)`, while the masks of unit 2 have two
# or three. Broadcasting aligns shapes *from the right* and fills in missing dimensions
# on the left with ones, so a causal mask `(L, L)` is read as `(1, 1, L, L)`, which is
# just what we want. A padding mask, however, has shape `(B, 1, Lk)`.
#
# **Predict first.** Which of these settings raises an error, and what is the shape of
# the masked scores in the others: `B = 2` and `h = 3`, `B = 3` and `h = 3`, `B = 3` and
# a single head?

# %%
my_guess = "?"  # write yours here, then run the cell
for batch, heads in ((2, 3), (3, 3), (3, 1)):
    scores = torch.zeros(batch, heads, 4, 5)  # (B, h, Lq, Lk)
    padding = torch.ones(batch, 1, 5, dtype=torch.bool)  # (B, 1, Lk)
    try:
        masked = scores.masked_fill(~padding, -math.inf)
        print(f"B = {batch}, h = {heads}: no error, scores {tuple(masked.shape)}")
    except RuntimeError as error:
        print(f"B = {batch}, h = {heads}: {error}")

# %% [markdown]
# The padding mask is read as `(1, B, 1, Lk)`, so its sentences are aligned with the
# *heads*. The error is the lucky case, because with as many sentences as heads nothing
# fails, and the mask of sentence 1 is silently applied to head 1 of *every* sentence.
# With a single head, a common setting for debugging, the scores of three sentences
# silently turn into nine maps instead of three.
#
# We avoid all of this by giving each mask its four dimensions ourselves. **From here
# on, a mask may have**
#
# | rank | shape | which means |
# |---|---|---|
# | 2 | `(Lq, Lk)` | the same mask for all sentences and heads |
# | 3 | `(B, Lq, Lk)` | one mask per sentence, the same for all its heads |
# | 4 | `(B, h, Lq, Lk)` | one mask per sentence and head |
#
# ### Exercise 3.5 - A mask for all heads
#
# *time ~10 min · difficulty 2/5 · 11 points*
#
# **Task.** Return the mask with four dimensions, so that it broadcasts to
# `(B, h, Lq, Lk)` as the table says.
#
# **Example.** A padding mask `(4, 1, 9)` becomes `(4, 1, 1, 9)`, and a causal mask
# `(9, 9)` becomes `(1, 1, 9, 9)`.
#
# <details><summary>Contract</summary>
#
# - A 3-D mask always means `(B, Lq, Lk)`, even if `B` equals `h`.
# - `B`, `h` and `Lq` may be 1.
# - `None` stays `None`.
# - The mask is not modified; the result may share its memory.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Which dimension is missing from a 3-D mask, and where? And from a 2-D mask?
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
    ### BEGIN SOLUTION
    if mask is None or mask.dim() == 4:
        return mask
    if mask.dim() == 2:
        mask = mask.unsqueeze(0)  # (1, Lq, Lk)
    return mask.unsqueeze(1)  # (B, 1, Lq, Lk)
    ### END SOLUTION


# %% check="multi_head_attention/mask_for_heads" points=11
# Masks of each rank, also with as many sentences as heads.
check("multi_head_attention/mask_for_heads", mask_for_heads)

# %% [markdown]
# ## 6. Multi-head attention
#
# One ingredient is new: **dropout on the attention weights**. During training, a weight
# is set to zero with probability $p$, and the remaining weights are divided by $1-p$.
# Since any key may be missing at any moment, a query learns not to rely on any single
# key. (Section 5.4 of the paper does not list the attention weights among the things
# that are dropped, but PyTorch's layer can drop them, and so can tensor2tensor, the
# authors' own code.)

# %%
torch.manual_seed(0)
weights = torch.tensor([0.4, 0.3, 0.2, 0.1])
for _ in range(3):
    dropped = F.dropout(weights, p=0.5)
    print(f"{[round(w, 1) for w in dropped.tolist()]}  sum {float(dropped.sum()):.1f}")
many = torch.stack([F.dropout(weights, p=0.5) for _ in range(5000)])
print("average of 5000 samples:", [round(w, 2) for w in many.mean(0).tolist()])

# %% [markdown]
# A single row no longer sums to one, but over 5,000 samples the four weights average
# out at about 0.4, 0.3, 0.2 and 0.1 again, which is why we divide by $1-p$. In
# evaluation mode nothing is dropped, and the weights are as large as they were on
# average in training.
#
# In the whole layer, queries, keys and values may come from three different tensors. In
# cross-attention, for example, `key` and `value` are both the memory, but the layer
# itself need not know that.

# %%
drawing(
    "multi_head",
    "3.5",
    "The layer projects its inputs, splits them into heads, attends in every head, "
    "merges the results and projects them once more.",
)

# %% [markdown]
# Each head does what you did in unit 2, with one extra step: scores, scale, mask,
# softmax, dropout on the weights `(B, h, Lq, Lk)`, and the weighted sum. All heads run
# at once, because they simply form one more batch dimension. Every layer of unit 4 is
# built around this module, and so, with variations, is nearly every large language
# model.
#
# ### Exercise 3.6 - Multi-head attention
#
# *time ~25 min · difficulty 4/5 · 30 points*
#
# **Task.** Build `MultiHeadAttention` from your parts: project `query`, `key` and
# `value`, split, attend with dropout on the weights, merge, and apply `w_o`. Return the
# output and the attention weights.
#
# **Example.** `MultiHeadAttention(12, num_heads=3)` maps a query `(2, 5, 12)` and a
# memory `(2, 7, 12)` to an output `(2, 5, 12)` and weights `(2, 3, 5, 7)`.
#
# <details><summary>Contract</summary>
#
# - `w_q`, `w_k`, `w_v` and `w_o` are `nn.Linear(d_model, d_model)` with bias; PyTorch's
#   initialisation is fine.
# - The state dict contains no other names.
# - If `num_heads` does not divide `d_model`, `__init__` raises a `ValueError`.
# - Masks have the shapes of section 5, or are `None`.
# - Dropout acts on the attention weights, in training mode only.
# - The returned weights may be those before or after dropout, and may be detached.
# - There is no residual connection and no normalisation.
# - `nn.MultiheadAttention` and `F.multi_head_attention_forward` are not allowed here.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# `attention.scaled_dot_product_attention` returns an output and weights, but dropout
# belongs *between* the two. Which of them can you still use, and which must you compute
# yourself?
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
# init:     if num_heads does not divide d_model: raise an error
#           four linear layers; a dropout layer
# forward:  project query, key and value, each with its own layer, and split each
#           give the mask its four dimensions
#           attention weights, for all heads at once
#           dropout on the weights
#           weighted sum of the values, merge, project
#           return the output and the weights
# ```
#
# </details>


# %% exercise="multi_head_attention/multi_head_attention"
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
        ### BEGIN SOLUTION
        q = split_heads(self.w_q(query), self.num_heads)  # (B, h, Lq, d_k)
        k = split_heads(self.w_k(key), self.num_heads)  # (B, h, Lk, d_k)
        v = split_heads(self.w_v(value), self.num_heads)  # (B, h, Lk, d_k)
        mask = mask_for_heads(mask)
        _, weights = attention.scaled_dot_product_attention(q, k, v, mask)
        weights = self.dropout(weights)  # (B, h, Lq, Lk)
        return self.w_o(merge_heads(weights @ v)), weights  # (B, Lq, d_model), ...
        ### END SOLUTION


# %% check="multi_head_attention/multi_head_attention" points=30
# Output and weights, masks of each rank, what attends to what, gradients and dropout.
check("multi_head_attention/multi_head_attention", MultiHeadAttention)

# %% [markdown]
# Now we can keep the promise made in section 4 and give the same weights to both
# layers:


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
# The outputs agree up to rounding, and the split layer is several times faster. It does
# the same arithmetic, but applies its weights in four large products instead of 49
# small ones, and needs one softmax instead of 16.
#
# ### Does a second head really help?
#
# In section 1 we set the scores by hand, so it remains to be seen what a trained layer
# makes of two questions. Each position must report two vectors, the word *before* it
# and the *first* word of the sentence, in this order. Words are random vectors with 8
# components, and 8 more components mark the position, so `d_model = 16`. We train your
# layer with 1, 2 and 4 heads and measure the mean squared error, which is 1.0 for a
# layer that always predicts zero.
#
# **Predict first.** How far does the loss fall with one head, and how far with two?


# %% folded=true
# @title Sentences with two questions, and how a layer is trained on them
def two_questions(
    batch: int, length: int = 8
) -> tuple[Float[Tensor, "batch length 16"], Float[Tensor, "batch length 16"]]:
    """Sentences, and for each position the word before and the first."""
    tokens = torch.randn(batch, length, 8)
    places = torch.eye(length).expand(batch, length, length)
    first = tokens[:, :1].expand_as(tokens)
    target = torch.cat([tokens.roll(1, dims=1), first], dim=-1)  # (B, L, 16)
    return torch.cat([tokens, 3 * places], dim=-1), target


@functools.cache
def train_heads(num_heads: int, steps: int = 400) -> tuple[nn.Module, list[float]]:
    """A trained layer and its loss at each step; trained once, then cached."""
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
my_guess = "?"  # write yours here, then run the cell


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
# In each of five runs with different seeds, two heads solve the task, whereas with a
# single head a loss of about 0.44 remains, because no linear layer can take the sum of
# two random vectors apart. (To be exact, $\tfrac{7}{8} \cdot \tfrac{1}{2} \approx 0.44$
# remains: at one of the eight positions, position 1, the word before *is* the first
# word, so a single answer is enough.)
#
# The maps show what each head has learnt. (For position 0, "the word before" is the
# last word, as if the sentence were a ring.)


# %%
@demo
def one_map_per_head():
    (single, _), (pair, _) = train_heads(1), train_heads(2)
    x, _ = two_questions(batch=1)
    maps = {"the single head": single(x, x, x)[1][0, 0]}
    maps |= {f"head {i} of 2": w for i, w in enumerate(pair(x, x, x)[1][0])}
    pictures.trained(maps)


# %% [markdown]
# The single head does what we did by hand in section 1, and splits each row between the
# two answers. In the layer with two heads, one attends to the previous word and the
# other to the first word, whatever the position.
#
# To see when the heads divided the work, look at six steps of the same training run:


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
# One head settles on position 0 first, because that answer is the same for every row
# and therefore easier to learn; the other head then finds the previous position, row by
# row, and as it does so, the loss falls to zero. The order was the same in all five
# runs that we tried: the error in the first word was halved 10 to 25 steps earlier than
# the error in the previous word.
#
# Nobody told the heads what to do, and yet they divided the work between them. But the
# head for the previous word still gives 12% of its attention to position 0, and whether
# that is a mistake depends on what each head *writes*.
#
# Concatenating the heads and then applying `w_o` is the same as adding up one
# contribution per head,
#
# $$
# W^O \begin{pmatrix} z^{(0)} \\ z^{(1)} \end{pmatrix} + b =
# W^O_{0} z^{(0)} + W^O_{1} z^{(1)} + b,
# $$
#
# where $W^O_i$ are the columns of $W^O$ that belong to head $i$. So we can measure how
# much each head contributes to each feature of the answer. Features 0 to 7 hold the
# previous word, and features 8 to 15 the first word:


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
# The head for the first word writes mostly to features 8 to 15, as expected, but also a
# little to the other half, and that explains the 12%: the other head mixes a bit of the
# first word into its answer, and the head for the first word cancels it out. BERT also
# has heads with clear tasks: one attends to the previous token, another links an object
# to its verb, a third links a pronoun to what it refers to (Clark et al. 2019).
#
# Finally, we break the layer with four heads by silencing one head at a time: we set
# its columns of `w_o` to zero and leave everything else as trained.
#
# **Predict first.** Four heads share two questions. When one of the heads is removed,
# what is the error in the previous word, and what is the error in the first word?


# %%
my_guess = "?"  # write yours here, then run the cell


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
# In this run, each head works on a single question: without it, the error in that
# answer rises to about 0.5, while the other answer is unaffected. An answer has 8
# components, but a head can carry only 4, so each question takes two heads, and losing
# one of them means losing half of the answer. In four further runs, each question was
# again handled by two heads, but removing one of them raised the error in its answer to
# as much as 0.91, and in the other answer by up to 0.09. In large models, which have
# capacity to spare, many heads can be removed with hardly any loss (Michel et al.
# 2019).
#
# ## 7. What do more heads cost?
#
# Although running several heads sounds expensive, it adds hardly any work. Eight heads
# compute eight times as many scores as one, yet each score is a sum over only an eighth
# of the features, and the four projections do not depend on the number of heads.
#
# *Written question (4 points).* A colleague with `d_model = 512` uses 64 heads instead
# of 8: "eight times the capacity!" In three to five sentences, say what happens to the
# parameters, the size of a head, the attention maps and the memory they take, and what
# might get better or worse.
#
# *Points: the number of parameters stays the same (1), the size of a head shrinks to 8
# (1), eight times as many maps, taking eight times the memory (1), a sensible remark on
# the trade-off (1).*

# %% [markdown] written="multi_head_attention/more_heads" points=4
# *Your answer here*
#
# ### BEGIN SOLUTION
# The number of parameters stays the same: the four matrices are 512 × 512, whatever the
# number of heads. Each head shrinks from 64 to 8 features. There are 64 maps instead of
# 8, so the memory for the weights, `B · h · Lq · Lk`, grows eightfold. More relations
# can be kept apart. But each head compares words by only 8 components, which makes its
# map coarse, and it can carry only 8 components from word to word. The paper observed
# the same: quality drops with a single head, and also with too many (Vaswani et al.
# 2017, table 3, rows A).
# ### END SOLUTION

# %% [markdown]
# ## 8. Yours is PyTorch's
#
# PyTorch has a layer for this, `nn.MultiheadAttention`, and if yours gives the same
# results with the same weights, you have good reason to trust it. Three things differ:
#
# | | yours | `nn.MultiheadAttention(d_model, h, batch_first=True)` |
# |---|---|---|
# | weights of q, k, v | three layers `w_q`, `w_k`, `w_v` | one tensor `in_proj_weight` `(3·d_model, d_model)`: first the rows of q, then those of k, then those of v; likewise `in_proj_bias` |
# | last layer | `w_o` | `out_proj` |
# | boolean mask | `True` = may attend | `True` = may **not** attend |
#
# PyTorch's layer has two more peculiarities: without `batch_first=True` it expects the
# positions before the batch, and without `average_attn_weights=False` it returns the
# maps averaged over the heads. Moving weights between two such layers is also the first
# step in porting a published model.
#
# ### Exercise 3.7 - To PyTorch
#
# *time ~15 min · difficulty 3/5 · 10 points*
#
# **Task.** Create an `nn.MultiheadAttention` with `batch_first=True` and as many heads
# as `mine`. Copy the weights and biases of `mine` into it.
#
# **Example.** For `mine = MultiHeadAttention(12, 3)`, `to_pytorch(mine)(x, x, x)[0]`
# equals `mine(x, x, x)[0]`.
#
# <details><summary>Contract</summary>
#
# - The copies share no memory with `mine`: training one layer further does not change
#   the other.
# - The new layer has no dropout, even if `mine` has, and all its parameters are
#   trainable.
# - `mine` is not modified.
# - Do not rely on any attribute of `mine` other than its four layers and `num_heads`;
#   infer `d_model` from a layer.
#
# </details>
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
# If PyTorch complains about *a leaf variable that requires grad*: copying into a
# parameter is not a step that autograd should record. Look up `torch.no_grad`, or use
# `load_state_dict`.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# create PyTorch's layer with the same sizes
# without recording gradients:
#     in_proj_weight gets the three weights, concatenated in the correct order
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


# %% check="multi_head_attention/to_pytorch" points=10
# PyTorch's layer with your weights, and whether they are copies.
check("multi_head_attention/to_pytorch", to_pytorch)

# %% [markdown]
# The opposite direction is more common: a published model may have taken weeks to
# train, and you want to look inside it with your own, readable code. Since this is
# exercise 3.7 in reverse, the function is given; it splits what you concatenate there.


# %%
def from_pytorch(theirs: nn.MultiheadAttention) -> dict[str, Tensor]:
    """The weights of PyTorch's layer, named for `MultiHeadAttention.load_state_dict`.

    The tensors share their memory with `theirs`, which must have biases.
    """
    state = {"w_o.weight": theirs.out_proj.weight, "w_o.bias": theirs.out_proj.bias}
    weights = theirs.in_proj_weight.chunk(3)  # three of (d_model, d_model)
    biases = theirs.in_proj_bias.chunk(3)  # three of (d_model,)
    for name, weight, bias in zip("qkv", weights, biases, strict=True):
        state |= {f"w_{name}.weight": weight, f"w_{name}.bias": bias}
    return state


# %% [markdown]
# ### Converting the mask
#
# That leaves the mask, which `nn.MultiheadAttention` takes as `attn_mask`. If it
# differs between sentences or heads, it must have **three** dimensions there,
# `(B * h, Lq, Lk)`: first all heads of sentence 0, then those of sentence 1, and so on.
# Its `True` also means the opposite of ours, and if you forget that, you often get no
# error, as you saw in unit 2: the only symptom is a loss that could be lower.
#
# `pytorch_mask` inverts one of our masks, expands it to its full size and merges the
# first two dimensions.


# %%
def pytorch_mask(
    mask: Bool[Tensor, "B h Lq Lk"], size: tuple[int, int, int, int]
) -> Bool[Tensor, "B*h Lq Lk"]:
    """One of our masks in the form of `nn.MultiheadAttention`'s `attn_mask`.

    Args:
        mask: True = may attend. Any of its dimensions may be 1.
        size: `(B, h, Lq, Lk)`.

    Returns:
        A mask: True = may NOT attend. Entry `b * h + i` is for head i of sentence b.
    """
    return (~mask).expand(size).flatten(0, 1)  # (B * h, Lq, Lk)


# %% [markdown]
# Now for the proof: your layer takes over PyTorch's weights, and both layers run
# without a mask, with a mask, and with a mask that somebody forgot to invert.


# %%
@demo
def yours_is_pytorchs():
    torch.manual_seed(3)
    theirs = nn.MultiheadAttention(12, num_heads=3, batch_first=True).eval()
    mine = MultiHeadAttention(d_model=12, num_heads=3).eval()
    mine.load_state_dict(from_pytorch(theirs))
    query, memory = torch.randn(2, 4, 12), torch.randn(2, 5, 12)
    mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])[:, None]  # (B, 1, Lk)
    inverted = pytorch_mask(mask_for_heads(mask), size=(2, 3, 4, 5))

    def gap(mask, attn_mask) -> float:
        own = mine(query, memory, memory, mask)
        other = theirs(
            query, memory, memory, attn_mask=attn_mask, average_attn_weights=False
        )
        return max(float((a - b).abs().max()) for a, b in zip(own, other, strict=True))

    print(f"no mask:                 largest difference {gap(None, None):.1e}")
    print(f"the mask, inverted:      largest difference {gap(mask, inverted):.1e}")
    print(f"the mask, NOT inverted:  largest difference {gap(mask, ~inverted):.1e}")


# %% [markdown]
# The third line says `nan`, because the first sentence has no padding, and with
# inverted polarity all of its keys are masked. That is the lucky case again: if neither
# the mask nor its inverse masks a whole row, you silently get wrong numbers. The first
# two differences are rounding errors at most, so your layer *is* PyTorch's.
#
# ## 9. Seventy-two heads of a real model
#
# What do heads learn if nobody tells them what to learn? MiniLM, whose maps you met in
# unit 2, has 6 layers with 12 heads each. Two kinds of head are easy to search for:
# those that attend to the **previous** token, whatever it is, and those that attend to
# the **next** one.
#
# **Predict first.** How much weight does the best previous-token head put on that
# token, averaged over all positions of a sentence: a third, a half, or nearly all of
# it?


# %%
my_guess = "?"  # write yours here, then run the cell


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
# Nearly all of it: in head 2 of layer 0 the average is **0.9999**, and it is at least
# 0.9997 in each of the ten sentences, as if the head went by positions and hardly
# looked at the words. The best head for the *next* token, head 8 of layer 1, reaches
# about 0.6, and most of the other heads are less clear-cut. Voita et al. (2019), who
# pruned the heads of a translation model, found positional heads among the few that
# survived.

# %% [markdown]
# ## 10. Your heads in the machine
#
# SmolLM2, the chat model that opened unit 1, has 30 blocks with nine heads each. Here
# your two functions split and merge all these heads, first unchanged, and then with the
# shortcut of section 3 in place of your split. All shapes remain correct.
#
# **Predict first.** What does the model answer with the shortcut: Paris, a different
# city, fluent nonsense, or no language at all?


# %%
my_guess = "?"  # write yours here, then run the cell


@demo
def your_heads_in_a_chat_model():
    def shortcut(x, num_heads):
        return x.reshape(len(x), num_heads, x.size(1), -1)  # (B, h, L, d_k)

    slots = chat.filled("01_positional_encoding", "02_attention")
    slots |= {"split_heads": split_heads, "merge_heads": merge_heads}
    chat.ask(
        "What is the capital of France?",
        {
            "with your heads": slots,
            "split by the shortcut": slots | {"split_heads": shortcut},
        },
    )


# %% [markdown]
# With your functions the answer is correct, and your code was called 30 times for each
# token. With the shortcut, no error is raised, and yet the output is not even language:
# each "head" now holds all the features of a few neighbouring tokens instead of a few
# features of all tokens, and none of the model's weights were trained for that.
#
# ## What you built
#
# - `ListOfHeads`: the definition, word for word.
# - `split_heads` and `merge_heads`: two lines that are easy to get wrong and hard to
#   debug.
# - `pack_heads`: the proof that both versions compute the same thing.
# - `mask_for_heads`: batch and heads, kept apart.
# - `MultiHeadAttention`: with dropout on its weights, and equal to PyTorch's own layer.
# - `to_pytorch`: your weights in PyTorch's own layer. `from_pytorch` converts in the
#   other direction, and `pytorch_mask` converts the mask.
#
# **Next:** unit 4 surrounds this layer with normalisation, residual connections and a
# small network, and the result is the Transformer.
#
# ## Go further
#
# - Vaswani et al. 2017, *Attention Is All You Need*, section 3.2.2, and table 3, rows
#   A: how many heads are best?
# - Clark et al. 2019, *What Does BERT Look At?*: what single heads do in a trained
#   model.
# - Michel, Levy and Neubig 2019, *Are Sixteen Heads Really Better than One?*: many
#   heads can be removed after training.
# - Elhage et al. 2021, *A Mathematical Framework for Transformer Circuits*: heads as
#   independent parts that add up, as in `who_writes_what`.
# - Shazeer 2019, *Fast Transformer Decoding: One Write-Head is All You Need*, and
#   Ainslie et al. 2023, *GQA*: heads that share their keys and values to save memory.
#   Where in your code would that change a shape?
# - **Play.** Extend `two_questions` to three questions, and train a layer with two
#   heads on them. What do the maps look like?

# %% [markdown]
# ## Where you stand
#
# Your points so far, and what to do next. Run this cell again whenever you have solved
# something.

# %%
check.summary()
