# %% [markdown]
# # 2 · Attention
#
# One small formula carries the whole Transformer:
#
# $$\operatorname{Attention}(Q, K, V) =
# \operatorname{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right) V$$
#
# In this unit you build it piece by piece. At the end no symbol in it is a secret.
#
# **You will learn**
# - to read queries, keys and values as a *soft search*;
# - why the scores are divided by $\sqrt{d_k}$, by argument and by measurement;
# - to write a softmax that survives large numbers;
# - to build padding and causal masks, and to combine them;
# - to wrap it all up as self-attention and as cross-attention;
# - to *test* a layer: who can see whom, and does the order matter?
#
# *About 3 hours · short path about 1½: exercises 2.4, 2.5, 2.6, 2.7, 2.8*
#
# *11 exercises and one question in words · 100 points.* The short path carries the
# story: read the rest, and come back to it.
#
# **Recap.** Unit 1 ended with a tensor of shape `(B, L, d_model)`: `B` sentences, `L`
# positions, and for each position a vector that knows its word and its place. It knows
# nothing yet about its neighbours. That changes now.
#
# **Conventions of this course**
#
# | name | meaning |
# |---|---|
# | `B` | sentences in a batch; the batch comes first |
# | `Lq`, `Lk` | number of queries, number of keys |
# | `d_k` | size of one query and of one key |
# | `d_v` | size of one value |
# | `(..., Lq, d_k)` | any number of leading dimensions, also none |
# | mask | boolean, **`True` = may attend**, broadcastable to the scores |
# | attention | returns the pair `(output, weights)`, in this order |
# | what is given | stays as it was: no function changes its arguments |
# | gradients | flow back through what you compute, unless the text says otherwise |

# %%
import math
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder import check, demo, drawing
from autograder.library.attention_maps import maps_of
from autograder.units.attention.library import pictures

torch.set_printoptions(precision=3, sci_mode=False)


# %% [markdown]
# ## 1. A search that never says "not found"
#
# A Python dictionary is a strict librarian. You bring a **query**. It must equal one of
# the **keys**, letter by letter. Then you get the **value**, all of it. Otherwise you
# get nothing.
#
# Attention is a kind librarian. Every key is compared with your query, and each gets a
# *score*. The scores become *shares* that sum to one. You get a mixture of all values:
# much from the keys that fit well, little from the others.
#
# | | dictionary | attention |
# |---|---|---|
# | query and key are | equal, or not | similar, more or less |
# | the result is | one value | a weighted sum of all values |
# | a small change of the query | may lose everything | changes the result a little |
# | has a gradient | no | **yes, so it can be learnt** |
#
# The last row is the reason why we want it.
#
# Here is a tiny ice-cream parlour. Each *key* describes a dish by three numbers: sweet,
# cold, fruity. The *value* is what we want to know: price and calories. The *query*
# says what we fancy.

# %%
dishes = ["sorbet", "chocolate ice", "apple pie", "soup"]
keys = torch.tensor(
    [
        [0.6, 1.0, 1.0],  # sorbet: somewhat sweet, cold, fruity
        [1.0, 1.0, -0.6],  # chocolate ice
        [0.7, -0.5, 0.8],  # apple pie
        [-1.0, -1.0, -0.8],  # soup
    ]
)
values = torch.tensor([[3.0, 120.0], [3.5, 260.0], [4.0, 310.0], [5.0, 180.0]])
fancy = torch.tensor([0.5, 2.0, 2.0])  # a little sweet, please; cold and fruity!

for name, key in zip(dishes, keys, strict=True):
    score = sum(float(a) * float(b) for a, b in zip(fancy, key, strict=True))
    print(f"{name:>14}: score {score:5.2f}")

# %% [markdown]
# **Predict first.** Which dish gets the largest share? Is soup's share exactly zero?
#
# The next cell turns the scores into shares and mixes the values.

# %%
shares = F.softmax(torch.tensor([4.3, 1.3, 0.95, -4.1]), dim=0)
price, calories = sum(s * value for s, value in zip(shares, values, strict=True))
pictures.attention_weights(dishes, shares)
print(f"expected price {float(price):.2f}, calories {float(calories):.0f}")

# %% [markdown]
# Soup gets a very small share, but never zero. Softmax gives nobody exactly nothing.
# (Keep this in mind for the section on masks.)
#
# ### Many queries at once
#
# A sentence asks many questions at once: each word sends out one query. We stack the
# queries as rows of a matrix `q`, and the keys as rows of a matrix `k`.
#
# Each query meets each key, and each meeting gives one score.

# %%
drawing("one_score", "2.2", "One entry of the scores: a row of q meets a row of k.")

# %% [markdown]
# By hand, one entry at a time, this is `8` products and a sum:

# %%
torch.manual_seed(1)
q = torch.randn(4, 8)  # 4 queries of size d_k = 8
k = torch.randn(4, 8)  # 4 keys of the same size

one_score = 0.0
for a, b in zip(q[1].tolist(), k[2].tolist(), strict=True):
    one_score += a * b
print(f"how well key 2 fits query 1: {one_score:.3f}")

# %% [markdown]
# ### Exercise 2.1 - scores
#
# *time ~5 min · difficulty 1/5 · 5 points*
#
# **Why it matters.** This table of scores is the only place in a Transformer where two
# positions are ever compared.
#
# **What to do.** Return all dot products of `Lq` queries with `Lk` keys: entry `[i, j]`
# belongs to query `i` and key `j`. The numbers of queries and keys may differ. Loops
# are welcome; one line is enough.
#
# <details><summary>Hint 1: a question</summary>
#
# In a matrix product, a row of the left matrix meets a *column* of the right one. Where
# are the keys in `k`: in its rows or in its columns?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# `(Lq, d_k)` and `(Lk, d_k)` are to become `(Lq, Lk)`. The size that disappears is the
# one that is summed over.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# for each query i:
#     for each key j:
#         table[i, j] = sum over c of  q[i, c] * k[j, c]
# ```
#
# </details>


# %% exercise="attention/scores"
def dot_product_scores(q: Tensor, k: Tensor) -> Tensor:
    """How well each key fits each query: all dot products, nothing else.

    Args:
        q: queries, shape `(Lq, d_k)`.
        k: keys, shape `(Lk, d_k)`.

    Returns:
        The scores, shape `(Lq, Lk)`; rows are queries, columns are keys.
    """
    ### BEGIN SOLUTION
    return q @ k.T  # (Lq, Lk)
    ### END SOLUTION


# %% check="attention/scores" points=5
# Looks at all entries, with more keys than queries and the other way round.
check("attention/scores", dot_product_scores)

# %% [markdown]
# ## 2. Why divide by $\sqrt{d_k}$?
#
# Suppose that the numbers in `q` and `k` are independent, with mean 0 and variance 1.
# One product $q_c k_c$ then has mean 0 and variance 1 as well. A score adds up $d_k$ of
# them, and variances of independent terms add:
#
# $$\operatorname{Var}(q \cdot k) = \sum_{c=1}^{d_k} \operatorname{Var}(q_c k_c) = d_k
# \qquad\Longrightarrow\qquad \text{standard deviation} = \sqrt{d_k}.$$
#
# So longer vectors give larger scores, for no good reason. Dividing by $\sqrt{d_k}$
# brings the standard deviation back to 1, whatever the size (Vaswani et al. 2017,
# section 3.2.1 and its footnote 4).
#
# **Predict first.** `d_k` grows from 4 to 64. By which factor do typical scores grow?
# And what does softmax do with ten scores that are that large?

# %%
SIZES = [1, 4, 16, 64, 256, 1024]


@demo
def scores_grow():
    torch.manual_seed(3)
    spread, sharp, sharp_scaled = [], [], []
    for d_k in SIZES:
        queries, ten_keys = torch.randn(500, d_k), torch.randn(500, 10, d_k)
        products = (queries[:, None] * ten_keys).sum(-1)  # (500, 10)
        spread.append(products.std())
        sharp.append(products.softmax(-1).amax(-1).mean())
        sharp_scaled.append((products / math.sqrt(d_k)).softmax(-1).amax(-1).mean())

    pictures.scores_grow(SIZES, spread, sharp, sharp_scaled)


# %% [markdown]
# Without scaling, softmax soon gives everything to one key. The kind librarian has
# turned into the strict one. That is bad for learning: where the softmax is that sure
# of itself, its gradient is almost zero. Look at the size of the derivative of the
# weights with respect to the scores:

# %%
@demo
def slope_of_the_softmax():
    for d_k in SIZES:
        queries, ten_keys = torch.randn(500, d_k), torch.randn(500, 10, d_k)
        products = (queries[:, None] * ten_keys).sum(-1)
        line = f"d_k {d_k:5d}:"
        for name, factor in (("without scaling", 1.0), ("with", 1 / math.sqrt(d_k))):
            weights = (products * factor).softmax(-1)  # (500, 10)
            # The diagonal of softmax's Jacobian.
            slope = (weights * (1 - weights)).mean()
            line += f"   {name} {float(slope):.4f}"
        print(line)


# %% [markdown]
# ### Exercise 2.2 - scaled scores, for any batch
#
# *time ~10 min · difficulty 2/5 · 7 points*
#
# **Why it matters.** Real inputs come in batches `(B, L, d_k)`, and from the next unit
# on with heads `(B, h, L, d_k)`. Code that counts dimensions *from the end* serves all
# of them.
#
# **What to do.** Return $QK^\top / \sqrt{d_k}$ for every matrix in the batch. There may
# be any number of leading dimensions, also none. They are the same for `q` and `k`.
#
# <details><summary>Hint 1: a question</summary>
#
# `k.T` reverses *all* dimensions of `k`. Which two do you want to swap? What are their
# numbers when you count from the end?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# q               (..., Lq, d_k)
# k, turned       (..., d_k, Lk)
# product         (..., Lq, Lk)      d_k is gone: read it off q before
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# size   = last size of q
# turned = k with its last two dimensions swapped
# scores = matrix product of q and turned     (it treats leading dimensions as a batch)
# divide by the root of size
# ```
#
# </details>


# %% exercise="attention/scaled_scores"
def scaled_scores(q: Tensor, k: Tensor) -> Tensor:
    """Dot products of queries and keys, divided by the square root of their size.

    Args:
        q: queries, shape `(..., Lq, d_k)`.
        k: keys, shape `(..., Lk, d_k)`, with the same leading dimensions.

    Returns:
        The scaled scores, shape `(..., Lq, Lk)`.
    """
    ### BEGIN SOLUTION
    scores = q @ k.transpose(-2, -1)  # (..., Lq, Lk)
    return scores / math.sqrt(q.size(-1))
    ### END SOLUTION


# %% check="attention/scaled_scores" points=7
# Looks at matrices, batches and batches with heads; all sizes differ.
check("attention/scaled_scores", scaled_scores)

# %% [markdown]
# ## 3. From scores to shares: softmax
#
# Scores are any numbers. Shares must be positive and sum to one. The exponential makes
# numbers positive, the division makes them sum to one:
#
# $$\operatorname{softmax}(x)_j = \frac{e^{x_j}}{\sum_m e^{x_m}}$$
#
# On paper that is all. On a computer there is a trap. **Predict first:** the three rows
# below differ by a constant only. What are their softmaxes?

# %%
for row in ([1.0, 2.0, 3.0], [81.0, 82.0, 83.0], [101.0, 102.0, 103.0]):
    x = torch.tensor(row)
    print(f"{row!s:>22}: the first power is {float(x[0].exp()):.3g}")
    print(f"{'':>22}  by the formula: {x.exp() / x.exp().sum()}")

# %% [markdown]
# A constant cancels in the fraction, so all three rows *should* give the same shares:
#
# $$\frac{e^{x_j + c}}{\sum_m e^{x_m + c}} = \frac{e^c\,e^{x_j}}{e^c \sum_m e^{x_m}}
# = \frac{e^{x_j}}{\sum_m e^{x_m}}$$
#
# But `float32` ends at about $3.4 \cdot 10^{38}$, and $e^{89}$ lies beyond. `inf / inf`
# is `nan`. The cure is in the equation itself: **you are free to choose $c$, for each
# row.**
#
# ### Exercise 2.3 - a softmax that survives
#
# *time ~15 min · difficulty 2/5 · 10 points*
#
# **Why it matters.** A single `nan` in a loss spreads to every weight of a network in
# one step. This is one of its favourite birthplaces.
#
# **What to do.** Write softmax over the last dimension with `exp`, `sum` and a good
# choice of $c$. (`torch.softmax` and `log_softmax` exist, and do just this. Here you
# open the box; from Exercise 2.7 on you may use them.) Leave the input as it was, and
# keep the gradient alive: training runs through this function, so no `.item()`, no
# `.data`, no NumPy. Some entries may be `-inf`: they must get weight 0. Each row has at
# least one finite number.
#
# <details><summary>Hint 1: a question</summary>
#
# Which number could you subtract from a row such that no exponent is positive, and at
# least one is zero? What does the zero guarantee for the sum?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# x                        (..., L)
# one number per row       (..., 1)    keep the dimension: it must line up with x
# exponentials             (..., L)
# their sum per row        (..., 1)
# ```
#
# Two rows of one tensor can lie far apart. One number for the whole tensor is not
# enough.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# shift  = the largest number of each row, dimension kept
# powers = exp(x - shift)
# divide each row of powers by its own sum
# ```
#
# </details>


# %% exercise="attention/softmax"
def stable_softmax(x: Tensor) -> Tensor:
    """Softmax over the last dimension, safe for numbers of any size.

    Args:
        x: scores, shape `(..., L)`; some may be `-inf`, but not a whole row.

    Returns:
        The weights, same shape and type: not negative, and each row sums to 1. A
        gradient can flow through them back to x.
    """
    ### BEGIN SOLUTION
    powers = (x - x.amax(dim=-1, keepdim=True)).exp()  # (..., L), each at most 1
    return powers / powers.sum(dim=-1, keepdim=True)
    ### END SOLUTION


# %% check="attention/softmax" points=10
# Looks at small, huge and far-apart numbers, at -inf, at gradients, and at x
# afterwards.
check("attention/softmax", stable_softmax)

# %% [markdown]
# Your softmax at work. **Predict first:** the scores of four keys are 1.0, 0.6, 0.2 and
# -0.4. What happens to the four weights when all scores are multiplied by 2, 4, ... 32?


# %%
@demo
def softmax_under_rising_scores():
    scores, factors = torch.tensor([1.0, 0.6, 0.2, -0.4]), [0, 1, 2, 4, 8, 32]
    rows = [stable_softmax(factor * scores) for factor in factors]
    pictures.rising_scores(factors, rows)


# %% [markdown]
# Move through the steps with the mouse or the arrow keys. At 0 all keys share equally.
# Then the order of the four never changes, but the first key takes over, and at 32 it
# has everything. There the weights hardly react to the scores any more: the derivative
# has vanished, and with it the gradient that could correct a wrong choice.
#
# ## 4. Masks: who may see whom
#
# Some keys must not be looked at. There are two classic reasons.
#
# - **Padding.** Sentences in a batch are filled up to one length with a dummy token.
#   Nobody should listen to it.
# - **Causality.** A model that predicts the next word must not peek at it. Position `i`
#   may see positions `0 ... i` and no later one.
#
# A mask answers one question for each pair: *may query `i` attend to key `j`?* In this
# course **`True` means yes**. For a forbidden pair we set the score to $-\infty$
# *before* the softmax. Since $e^{-\infty} = 0$, its weight becomes exactly zero, and
# the other weights still sum to one.
#
# The scores of a batch have shape `(B, Lq, Lk)`. A mask need not have that full shape;
# it is enough that it *broadcasts* to it:
#
# | mask | shape | says |
# |---|---|---|
# | padding | `(B, 1, Lk)` | each sentence has its own forbidden keys, the same for all queries |
# | causal | `(L, L)` | each query has its own forbidden keys, the same for all sentences |
# | both | `(B, L, L)` | all of it |
#
# (With heads, from unit 3 on, scores are `(B, h, Lq, Lk)`. A padding mask then gets one
# more dimension of size 1, between the batch and the queries.)
#
# ### Exercise 2.4 - the padding mask
#
# *time ~8 min · difficulty 2/5 · 6 points*
#
# **Why it matters.** Without it, the meaning of a sentence depends on how long its
# neighbours in the batch happen to be.
#
# **What to do.** From a batch of token ids, make the boolean mask with `True` where a
# key is a real token. `pad_id` is not always 0. Padding may stand at the end, at the
# beginning, or anywhere.
#
# <details><summary>Hint 1: a question</summary>
#
# The mask forbids *keys*, and keys are the columns of the scores `(B, Lq, Lk)`. At
# which place must the dimension of size 1 stand, so that all *queries* share the row?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# ids            (B, L)       int64
# real or not    (B, L)       bool
# mask           (B, 1, L)    bool
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# compare every id with pad_id        (True for what we want to keep)
# insert a dimension of size 1 between batch and keys
# ```
#
# </details>


# %% exercise="attention/padding_mask"
def padding_mask(ids: Tensor, pad_id: int = 0) -> Tensor:
    """Which keys are real tokens.

    Args:
        ids: token ids, shape `(B, L)`, int64.
        pad_id: the id of the padding token.

    Returns:
        A boolean mask, shape `(B, 1, L)`: True = may attend.
    """
    ### BEGIN SOLUTION
    return (ids != pad_id).unsqueeze(1)  # (B, 1, L)
    ### END SOLUTION


# %% check="attention/padding_mask" points=6
# Looks at shape, type and truth, for padding at both ends and another pad_id.
check("attention/padding_mask", padding_mask)

# %% [markdown]
# ### Exercise 2.5 - the causal mask
#
# *time ~8 min · difficulty 2/5 · 6 points*
#
# **Why it matters.** One diagonal too many, and a language model copies the answer from
# its own input. The training loss looks wonderful. The model has learnt nothing.
#
# **What to do.** Return the square mask in which position `i` may attend to itself and
# to everything before it.
#
# <details><summary>Hint 1: a question</summary>
#
# What does the first row look like? And the last? Draw the mask for length 4 on paper
# before you type.
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# query positions   (L, 1)
# key positions     (1, L)
# their comparison  (L, L)    bool
# ```
#
# A function that cuts a triangle out of a square is another way.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# for each query position i, for each key position j:
#     mask[i, j] = (j is not later than i)
# ```
#
# </details>


# %% exercise="attention/causal_mask"
def causal_mask(length: int) -> Tensor:
    """Who may look at whom if nobody may look ahead.

    Args:
        length: the number of positions, L.

    Returns:
        A boolean mask, shape `(L, L)`, a new one in each call; entry [i, j]: may query
        i attend to key j?
    """
    ### BEGIN SOLUTION
    return torch.ones(length, length, dtype=torch.bool).tril()  # (L, L)
    ### END SOLUTION


# %% check="attention/causal_mask" points=6
# Looks at the triangle, its diagonal and its type, for several lengths.
check("attention/causal_mask", causal_mask)

# %% [markdown]
# ### Exercise 2.6 - both at once
#
# *time ~8 min · difficulty 2/5 · 7 points*
#
# **Why it matters.** A decoder must respect both masks. With the wrong logical word
# between them, each one opens what the other had closed.
#
# **What to do.** Combine two masks: a pair is allowed only if *both* allow it. Either
# may be `None`, which means "no restriction". The shapes may differ; they broadcast.
# Leave both inputs as they were.
#
# <details><summary>Hint 1: a question</summary>
#
# `True` means "may attend" here. Two guards stand at a door and you need a yes of each.
# Which logical word is that? (And which would it be, if `True` meant "is forbidden"?)
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# padding    (B, 1, L)
# causal        (L, L)
# combined   (B, L, L)    broadcasting does it, without a loop
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# if there is no first mask:  the second one is the answer (it may be None, too)
# if there is no second mask: the first one is the answer
# otherwise: the elementwise logical combination
# ```
#
# </details>


# %% exercise="attention/combine_masks"
def combine_masks(first: Tensor | None, second: Tensor | None) -> Tensor | None:
    """The mask that allows what both masks allow; None restricts nothing.

    Args:
        first: a boolean mask such as `(B, 1, L)`, or None.
        second: a boolean mask that broadcasts with it, such as `(L, L)`, or None.

    Returns:
        A boolean mask such as `(B, L, L)`; None if both are None.
    """
    ### BEGIN SOLUTION
    if first is None:
        return second
    if second is None:
        return first
    return first & second
    ### END SOLUTION


# %% check="attention/combine_masks" points=7
# Looks at truth, shapes and None, and at both masks afterwards.
check("attention/combine_masks", combine_masks)

# %% [markdown]
# Your three functions at work: two sentences, the second one with two padding tokens.
# **Predict first:** what does the *last row* of the right-most picture look like?


# %%
@demo
def three_masks():
    ids = torch.tensor([[11, 12, 13, 14, 15], [21, 22, 23, 0, 0]])
    causal, padding = causal_mask(5), padding_mask(ids, pad_id=0)
    both = combine_masks(padding, causal)
    words = ["one", "two", "three", "‹pad›", "‹pad›"]
    named = {"padding": padding[1].expand(5, 5), "causal": causal, "both": both[1]}
    pictures.masks(named, words)


# %% [markdown]
# The rows of padding *queries* are not empty. Nobody reads their output, so it does no
# harm, and no row is left without any key.
#
# ### Two libraries, two meanings
#
# In PyTorch itself, the same boolean mask means opposite things in two places:
#
# | function | `True` means |
# |---|---|
# | `F.scaled_dot_product_attention(..., attn_mask)` and this course | may attend |
# | `nn.MultiheadAttention(..., attn_mask, key_padding_mask)` | **may not** attend |
#
# So whenever a mask crosses a border, ask for its polarity. Here one key of three is
# masked. Which of the two calls hides key 2?

# %%
@demo
def the_same_mask_twice():
    torch.manual_seed(4)
    words = torch.randn(1, 3, 4)  # (B, L, d_model)
    keep = torch.tensor([[True, True, False]])  # (B, L): key 2 may not be seen
    layer = nn.MultiheadAttention(4, num_heads=1, batch_first=True)
    for name, given in (("keep", keep), ("~keep", ~keep)):
        _, weights = layer(words, words, words, key_padding_mask=given)
        mask = f"key_padding_mask={name}"
        print(f"nn.MultiheadAttention({mask}): {weights[0, 0].detach()}")


# %% [markdown]
# ### The row that may see nobody
#
# What if *every* key of a row is forbidden? "The shares sum to one" and "nobody gets a
# share" cannot both hold. Different code answers differently. **Predict first**, then
# run.

# %%
scores = torch.tensor([[0.5, 1.0, 2.0]])
nobody = torch.tensor([[False, False, False]])
with_infinity = scores.masked_fill(~nobody, -math.inf).softmax(-1)
with_large_number = scores.masked_fill(~nobody, -1e9).softmax(-1)
of_pytorch = F.scaled_dot_product_attention(
    scores[:, None, :1], torch.ones(1, 3, 1), torch.eye(3)[None], attn_mask=nobody
)
print("filled with -inf:", with_infinity[0])
print("filled with -1e9:", with_large_number[0])
print("PyTorch's own:   ", of_pytorch[0, 0])

# %% [markdown]
# Three answers: an alarm (`nan`), a quiet lie (all keys share equally, the forbidden
# ones too), and silence (zeros). None of them is right, because the question has no
# right answer. **In this course every query may see at least one key, and rows without
# any are never graded.** It is your data's job to keep that promise.
#
# *Question in words (4 points).* A colleague replaces `-inf` by `-1e9` "because `nan`
# is ugly". One day a batch contains a sentence that consists of padding only. Say in
# three to five sentences: what does each version return for it, which one would you
# notice in training and why, and what would you do about such a sentence?
#
# *What a full answer has: both results (2), which one is noticed and why (1), a remedy
# at the right place (1).*

# %% [markdown] written="attention/empty_row" points=4
# **Your answer**
#
# ### BEGIN SOLUTION
# With `-inf`, softmax divides 0 by 0: the weights and the output of this sentence are
# `nan`. With `-1e9`, all scores are equal, so each padding token gets the same share,
# and the output is the mean of their values: finite, and meaningless. The `nan` is
# noticed at once, since it spreads to the loss and, by the gradient, to every weight.
# The uniform weights go unnoticed, and the model trains on noise. Remedy: remove empty
# sentences when the batch is made (or give them one real token), and leave the alarm
# switched on.
# ### END SOLUTION

# %% [markdown]
# ## 5. All together
#
# Scores, scaling, mask, softmax, weighted sum. You have written four of the five.
#

# %%
drawing("scaled_dot_product", "2.6", "One attention with all its numbers.")

# %% [markdown]
# Here three queries meet four keys. Follow the outlined row from matrix to matrix: it
# never meets another row. Without the mask, key 3 would have won it. (All of it may
# happen once for each sentence and head: those are the `...` in front.)
#
# ### Exercise 2.7 - scaled dot-product attention
#
# *time ~25 min · difficulty 3/5 · 18 points*
#
# **Why it matters.** Everything in the units to come calls this function.
#
# **What to do.** Return the output *and* the weights. Treat any number of leading
# dimensions. `mask` is boolean (`True` = may attend) and broadcasts to the scores;
# `None` allows everything. Every row of the mask allows at least one key. Leave the
# inputs as they were, and keep the gradient alive.
#
# **What is allowed.** Everything in PyTorch, your own functions from above too. That
# includes `F.scaled_dot_product_attention`. But it gives you no weights, so the work
# remains yours.
#
# <details><summary>Hint 1: a question</summary>
#
# Where does the mask go: before or after the softmax? If after, do the weights still
# sum to one?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# scores    (..., Lq, Lk)
# mask      broadcasts to it, e.g. (B, 1, Lk) or (Lq, Lk)
# weights   (..., Lq, Lk)     each row sums to 1: which dimension is that?
# output    (..., Lq, d_v)    row i mixes the rows of v with the weights of query i
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# scores  = all dot products of queries and keys, over the root of d_k
# if there is a mask: put minus infinity wherever it says "may not"
#                     (is that where it is True, or where it is False?)
# weights = softmax of each row
# output  = matrix product of weights and values
# return both, output first
# ```
#
# </details>


# %% exercise="attention/scaled_dot_product"
def scaled_dot_product_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Scaled dot-product attention (Vaswani et al. 2017, section 3.2.1).

    Args:
        q: queries, shape `(..., Lq, d_k)`.
        k: keys, shape `(..., Lk, d_k)`.
        v: values, shape `(..., Lk, d_v)`.
        mask: None, or boolean and broadcastable to `(..., Lq, Lk)`: True = may attend.

    Returns:
        The output `(..., Lq, d_v)` and the weights `(..., Lq, Lk)`, in this order and
        of the type of q, k and v.
    """
    ### BEGIN SOLUTION
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # (..., Lq, Lk)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = F.softmax(scores, dim=-1)  # (..., Lq, Lk)
    return weights @ v, weights  # (..., Lq, d_v), (..., Lq, Lk)
    ### END SOLUTION


# %% check="attention/scaled_dot_product" points=18
# Looks at both results with and without masks, huge scores, gradients, and the inputs
# afterwards.
check("attention/scaled_dot_product", scaled_dot_product_attention)

# %% [markdown]
# Does yours agree with the function that millions of programs use?


# %%
@demo
def yours_beside_pytorch():
    torch.manual_seed(5)
    q, k, v = torch.randn(2, 3, 4, 6), torch.randn(2, 3, 5, 6), torch.randn(2, 3, 5, 7)
    mask = torch.rand(2, 1, 4, 5) < 0.7
    mask[..., 0] = True  # nobody is left without a key
    mine, weights = scaled_dot_product_attention(q, k, v, mask)
    theirs = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    print("largest difference:", f"{float((mine - theirs).abs().max()):.1e}")
    print("rows sum to:       ", weights.sum(-1).flatten()[:4], "...")


# %% [markdown]
# ### What does it cost?
#
# Every query meets every key: for a sequence of length $L$ that is $L^2$ scores, and as
# many weights. Yours writes them all down. PyTorch's function has several *backends*;
# the plain one (`MATH`) does the same as you, the other one (`FLASH_ATTENTION`) goes
# through the keys in blocks and never holds the whole matrix (Dao et al. 2022). All
# give the same numbers.
#
# **Predict first.** The length doubles. By which factor does the time grow, and by
# which the memory for the weights? Does the clever backend change the *growth* of the
# time, or only its size?


# %%
@demo
def cost_over_length():
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def fastest(function: Callable, *arguments: Tensor) -> float:
        times = []
        for _ in range(3):
            start = time.perf_counter()
            function(*arguments)
            times.append(time.perf_counter() - start)
        return 1000 * min(times)

    print(
        "length    weights      yours       MATH      FLASH   (milliseconds, d_k = 64)"
    )
    for length in (256, 512, 1024, 2048):
        q, k, v = torch.randn(3, 1, 1, length, 64)
        line = f"{length:6d} {4 * length**2 / 2**20:7.2f} MiB"
        line += f" {fastest(scaled_dot_product_attention, q, k, v):10.2f}"
        for backend in (SDPBackend.MATH, SDPBackend.FLASH_ATTENTION):
            with sdpa_kernel(backend):
                line += f" {fastest(F.scaled_dot_product_attention, q, k, v):10.2f}"
        print(line)


# %% [markdown]
# Twice the length, about four times the time, whoever computes it: the square is in the
# task. What the blocks save is memory, and with it the time to move it: the matrix of
# weights grows with the square, the blocks do not. That is also why the fast function
# cannot return the weights.
#
# ### Reading a map: who is "it"?
#
# *The cat didn't climb the tree because **it** was too scared.* You know at once that
# "it" is the cat. Trees are not scared. How could attention find out?
#
# **To be honest:** nothing here is trained. We set small embeddings by hand, so that
# each number has a meaning and you can follow it. A trained network finds features of
# its own, and they are rarely as tidy.
#
# Each word has five features. We use attention twice:
# 1. "it" looks for a *property*. It finds "scared", and collects what a bearer of this
#    property needs: it must be able to *feel*.
# 2. Now "it" looks for a *noun* that has what was collected. (So does "scared" itself.)

# %% folded=true
# @title The features, and what words look for and offer in each step
FEATURES = ["noun", "property", "can feel", "has height", "pronoun"]
MEANING = {
    "cat": [1, 0, 1, 0, 0],
    "tree": [1, 0, 0, 1, 0],
    "it": [0, 0, 0, 0, 1],
    "scared": [0, 1, 1, 0, 0],
    "tall": [0, 1, 0, 1, 0],
}


def embed(sentence: str) -> tuple[list[str], Tensor]:
    """The words of a sentence and their hand-set features, `(1, L, 5)`."""
    words = sentence.split()
    rows = [MEANING.get(word, [0] * 5) for word in words]
    return words, torch.tensor([rows], dtype=torch.float32)


def queries_and_keys(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """What words look for and offer, in step 1 and in step 2; each `(1, L, 5)`."""
    noun, prop = torch.eye(5)[:2]
    is_noun, has_property, is_pronoun = x[..., :1] > 0.5, x[..., 1:2] > 0.5, x[..., 4:]
    looks_1 = 12 * is_pronoun * prop  # a pronoun looks for a property
    offers_1 = x
    bearer = x * torch.tensor([0.0, 0, 1, 1, 0])  # the property's needs
    looks_2 = has_property * (9 * bearer + 3 * noun)
    offers_2 = x * is_noun  # only nouns offer something
    return looks_1, offers_1, looks_2, offers_2


def read(sentence: str) -> tuple[list[str], Tensor, Tensor]:
    """The words of a sentence, and the weights of step 1 and of step 2, `(L, L)`."""
    words, x = embed(sentence)
    looks, offers, _, _ = queries_and_keys(x)
    found, first = scaled_dot_product_attention(looks, offers, x)
    is_it = x[..., 4:]  # only "it" keeps what it found
    _, _, looks, offers = queries_and_keys(x + is_it * found)
    _, second = scaled_dot_product_attention(looks, offers, x)
    return words, first[0], second[0]


# %%
@demo
def who_is_it():
    story = "The cat didn't climb the tree because it was too "
    scared, first, of_scared = read(story + "scared")
    tall, _, of_tall = read(story + "tall")
    pictures.who_is_it([scared, tall], [of_scared, of_tall])
    found = float(first[7, scared.index("scared")])
    print(f"step 1: 'it' looks at 'scared' {found:.2f}")
    for last, weights in (("scared", of_scared), ("tall", of_tall)):
        cat, tree = float(weights[7, 1]), float(weights[7, 5])
        print(
            f"... too {last}: 'it' looks at the cat {cat:.2f}, at the tree {tree:.2f}"
        )


# %% [markdown]
# Change one word at the end of the sentence, and "it" turns from the cat to the tree.
# Two layers were needed, because what "it" must look for was itself
# to be found first. That is one reason why Transformers stack layers.
#
# ## 6. Two modules
#
# So far, queries, keys and values fell from the sky. In a network they are *learnt*:
# three linear layers make them from the input.

# %%
drawing("self_attention", "2.8", "Self-attention: one sequence, three layers.")

# %% [markdown]
# **Self-attention** takes all three from the same sequence: a sentence searches itself.
#
# ### Exercise 2.8 - self-attention
#
# *time ~15 min · difficulty 2/5 · 14 points*
#
# **Why it matters.** This is the first layer in the course in which words listen to
# each other.
#
# **What to do.** Create three `nn.Linear` layers (with bias, PyTorch's default) named
# `w_q`, `w_k` and `w_v`. In `forward`, apply them and call your
# `scaled_dot_product_attention`. There is no output projection, no dropout and no
# residual here; they come in units 3 and 4.
#
# <details><summary>Hint 1: a question</summary>
#
# Queries and keys are compared, so their sizes must be equal. Are values compared with
# anything? Which size do they have?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# x          (B, L, d_model)
# w_q(x)     (B, L, d_k)
# w_k(x)     (B, L, d_k)
# w_v(x)     (B, L, d_v)
# output     (B, L, d_v)
# weights    (B, L, L)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# init:     three linear layers, each from d_model to its own size
# forward:  send x through each of them
#           hand the three results, in the right order, and the mask to attention
#           return what it returns
# ```
#
# </details>


# %% exercise="attention/self_attention"
class SelfAttention(nn.Module):
    """Attention of a sequence to itself, with learnt queries, keys and values.

    Args:
        d_model: size of the input vectors.
        d_k: size of queries and keys.
        d_v: size of values, and of the output vectors.

    The linear layers are named `w_q`, `w_k` and `w_v`, each with a bias; the state dict
    holds no other names.
    """

    def __init__(self, d_model: int, d_k: int, d_v: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.w_q = nn.Linear(d_model, d_k)
        self.w_k = nn.Linear(d_model, d_k)
        self.w_v = nn.Linear(d_model, d_v)
        ### END SOLUTION

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Attend from each position of x `(B, L, d_model)` to all positions of x.

        Args:
            mask: None, or boolean and broadcastable to `(B, L, L)`: True = may attend.

        Returns:
            The output `(B, L, d_v)` and the weights `(B, L, L)`.
        """
        ### BEGIN SOLUTION
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)  # (B, L, d_k), ..., (B, L, d_v)
        return scaled_dot_product_attention(q, k, v, mask)
        ### END SOLUTION


# %% check="attention/self_attention" points=14
# Looks at names and shapes of the weights, at both results, and at who can see whom.
check("attention/self_attention", SelfAttention)

# %% [markdown]
# **Cross-attention** lets one sequence search another: the words of a translation look
# at the words of the original. The queries come from the one that asks. The keys *and*
# the values come from the one that is asked, its *memory*. The two may have different
# lengths, and vectors of different sizes.

# %%
drawing("cross_attention", "2.9", "Cross-attention: x asks, the memory is asked.")

# %% [markdown]
# ### Exercise 2.9 - cross-attention
#
# *time ~15 min · difficulty 3/5 · 12 points*
#
# **Why it matters.** This is the bridge between encoder and decoder in unit 4.
#
# **What to do.** As before, but with two inputs. Mind which layer reads which.
#
# <details><summary>Hint 1: a question</summary>
#
# One output comes out for each *asker*. So who sends the queries? And who holds the
# answers?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# w_q    d_model  -> d_k
# w_k    d_memory -> d_k
# w_v    d_memory -> d_v
# weights (B, Lq, Lk): a row for each position of x, a column for each of memory
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# init:     three linear layers with the sizes of hint 2
# forward:  the queries from x; the keys and the values from memory
#           attention of these three, with the mask
# ```
#
# </details>


# %% exercise="attention/cross_attention"
class CrossAttention(nn.Module):
    """Attention of one sequence to another, its memory.

    Args:
        d_model: size of the vectors of the sequence that asks.
        d_memory: size of the vectors of the memory.
        d_k: size of queries and keys.
        d_v: size of values, and of the output vectors.

    The linear layers are named `w_q`, `w_k` and `w_v`, each with a bias; the state dict
    holds no other names.
    """

    def __init__(self, d_model: int, d_memory: int, d_k: int, d_v: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.w_q = nn.Linear(d_model, d_k)
        self.w_k = nn.Linear(d_memory, d_k)
        self.w_v = nn.Linear(d_memory, d_v)
        ### END SOLUTION

    def forward(
        self, x: Tensor, memory: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Attend from x `(B, Lq, d_model)` to the memory `(B, Lk, d_memory)`.

        Args:
            mask: None, or boolean and broadcastable to `(B, Lq, Lk)`: True = may
                attend.

        Returns:
            The output `(B, Lq, d_v)` and the weights `(B, Lq, Lk)`.
        """
        ### BEGIN SOLUTION
        q = self.w_q(x)  # (B, Lq, d_k)
        k, v = self.w_k(memory), self.w_v(memory)  # (B, Lk, d_k), (B, Lk, d_v)
        return scaled_dot_product_attention(q, k, v, mask)
        ### END SOLUTION


# %% check="attention/cross_attention" points=12
# Looks at both results for two lengths and two sizes, and at who can see whom.
check("attention/cross_attention", CrossAttention)

# %% [markdown]
# ## 7. Bug clinic: test a layer without reading it
#
# The worst bugs in attention raise no error. Shapes are right, the loss goes down, and
# somewhere a word sees its own future. You can find such a leak from outside: **change
# one input and watch which outputs move.**
#
# ### Exercise 2.10 - who sees whom
#
# *time ~15 min · difficulty 3/5 · 6 points*
#
# **Why it matters.** This is how the checks of this course look into your layers. It
# works for any layer, however it is written.
#
# **What to do.** For each input position `j`, change *all* features of that position,
# run the layer, and note which output positions `i` moved (in *any* feature, by more
# than `1e-6`). Add 1 or so, on a copy. Leave `x` as it was.
#
# <details><summary>Hint 1: a question</summary>
#
# One run of the layer tells you about one changed input. Is that a row or a column of
# the matrix you return?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# x                          (L, d)
# layer(x)                   (L, d_out)
# moved, for one j           (L,)         bool, over outputs i
# all of them                (L, L)       bool, entry [i, j]
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# before = layer(x)
# for each input position j:
#     other = a copy of x, with row j changed
#     compare layer(other) with before, position by position
#     write the answer into column j
# ```
#
# </details>


# %% exercise="attention/who_sees_whom"
def who_sees_whom(layer: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Which outputs move when an input is changed.

    Args:
        layer: a function from `(L, d)` to `(L, d_out)`.
        x: an input of shape `(L, d)`.

    Returns:
        A boolean matrix `(L, L)`; entry [i, j]: does output i move when input j
        changes?
    """
    ### BEGIN SOLUTION
    before = layer(x)  # (L, d_out)
    columns = []
    for j in range(len(x)):
        changed = x.clone()
        changed[j] += 1.0
        columns.append(((layer(changed) - before).abs() > 1e-6).any(dim=-1))  # (L,)
    return torch.stack(columns, dim=1)  # (L, L)
    ### END SOLUTION


# %% check="attention/who_sees_whom" points=6
# Runs your probe on layers of which the right answer is known.
check("attention/who_sees_whom", who_sees_whom)

# %% [markdown]
# Three patients. All claim to be causal: output `i` depends on inputs `0 ... i` only.
# All have the right shapes, and all of them can be trained.
#
# **Predict first.** Read the three functions. Which patient leaks the future, and how?

# %%
torch.manual_seed(6)
SIZE = 5
to_q, to_k, to_v = (torch.randn(SIZE, SIZE) / SIZE**0.5 for _ in range(3))
CAUSAL = torch.tensor(
    [
        [1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0],
        [1, 1, 1, 1, 0],
        [1, 1, 1, 1, 1],
    ]
).bool()


def patient_a(x: Tensor, training: bool = False) -> Tensor:
    """The mask is used in training only: "in evaluation nothing can be learnt"."""
    mask = CAUSAL if training else None
    q, k, v = x @ to_q, x @ to_k, x @ to_v
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def patient_b(x: Tensor) -> Tensor:
    """The mask was drawn with the keys down and the queries across."""
    q, k, v = x @ to_q, x @ to_k, x @ to_v
    return F.scaled_dot_product_attention(q, k, v, attn_mask=CAUSAL.T)


def patient_c(x: Tensor) -> Tensor:
    """Each future score is minus infinity, and yet ..."""
    scores = (x @ to_q) @ (x @ to_k).T / SIZE**0.5
    weights = scores.masked_fill(CAUSAL.logical_not(), -math.inf).softmax(dim=-2)
    return weights @ (x @ to_v)


# %%
@demo
def bug_clinic():
    x = torch.randn(SIZE, SIZE)
    seen = {"healthy": CAUSAL}
    for patient in (patient_a, patient_b, patient_c):
        seen[patient.__name__] = who_sees_whom(patient, x)
    pictures.clinic(seen)


# %% [markdown]
# <details><summary>The diagnosis (look at your pictures first)</summary>
#
# Patient c is the sly one. Its weights above the diagonal are all exactly zero, so a
# look at the weights finds nothing. But its softmax runs over the *queries*. Later
# queries enter the denominator, and through it the future leaks into the past. Only the
# probe sees it.
#
# </details>
#
# ## 8. Order does not matter - yet
#
# **Predict first.** You shuffle the words of a sentence and send it through
# self-attention, without positions. What happens to the outputs?
#
# The answer has a name. A layer $f$ is **permutation equivariant** if shuffling its
# input merely shuffles its output in the same way, $f(Px) = P f(x)$ for every
# permutation $P$.
#
# ### Exercise 2.11 - the equivariance gap
#
# *time ~10 min · difficulty 2/5 · 5 points*
#
# **Why it matters.** It is the precise form of "attention knows no order", and the
# reason why unit 1 came first.
#
# **What to do.** Measure how far a layer is from being equivariant: the largest
# absolute difference between $f(Px)$ and $Pf(x)$. For an equivariant layer that is
# zero, up to rounding. The permutation comes as `order`: position `i` of the shuffled
# sequence holds the old position `order[i]`.
#
# <details><summary>Hint 1: a question</summary>
#
# There are two ways from `x` to a shuffled output: shuffle first, or shuffle last. What
# must you compare?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# x               (L, d)         order  (L,)
# x, shuffled     (L, d)         positions move, features stay
# both outputs    (L, d_out)
# the gap         ()             one number
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# one   = the layer, applied to the shuffled x
# other = the output for x, shuffled in the same way
# the largest of all |one - other|
# ```
#
# </details>


# %% exercise="attention/equivariance_gap"
def equivariance_gap(
    layer: Callable[[Tensor], Tensor], x: Tensor, order: Tensor
) -> Tensor:
    """How far a layer is from commuting with a permutation of the positions.

    Args:
        layer: a function from `(L, d)` to `(L, d_out)`.
        x: an input of shape `(L, d)`.
        order: a permutation of 0 ... L-1, shape `(L,)`, int64; new row i is old row
            order[i].

    Returns:
        The largest absolute difference, as a tensor of shape `()` or a plain number.
    """
    ### BEGIN SOLUTION
    return (layer(x[order]) - layer(x)[order]).abs().max()
    ### END SOLUTION


# %% check="attention/equivariance_gap" points=5
# Measures layers that are equivariant and layers that are not.
check("attention/equivariance_gap", equivariance_gap)

# %% [markdown]
# Now for your own self-attention: bare, with positions, and with a causal mask.


# %%
@demo
def does_order_matter():
    torch.manual_seed(7)
    attention = SelfAttention(d_model=6, d_k=4, d_v=3).eval()
    x, order = torch.randn(5, 6), torch.tensor([3, 0, 4, 1, 2])
    places = torch.randn(5, 6)
    layers = {
        "bare": lambda x: attention(x)[0],
        "x + positions": lambda x: attention(x + places)[0],
        "causal mask": lambda x: attention(x, causal_mask(5))[0],
    }
    with torch.no_grad():
        for name, layer in layers.items():
            gap = float(equivariance_gap(layer, x, order))
            print(f"{name:>14}: gap {gap:.1e}  {'equivariant' if gap < 1e-5 else ''}")


# %% [markdown]
# The same with three words, whose outputs you can follow. **Predict first:** the dog
# and the man change places. Which outputs change, in each of the three layers?


# %%
@demo
def dog_bites_man():
    torch.manual_seed(7)
    attention = SelfAttention(d_model=6, d_k=4, d_v=3).eval()
    x, places = 3 * torch.randn(3, 6), 3 * torch.randn(3, 6)
    order = [2, 1, 0]
    layers = {
        "Bare self-attention": lambda x: attention(x)[0],
        "With positions": lambda x: attention(x + places)[0],
        "With a causal mask": lambda x: attention(x, causal_mask(3))[0],
    }
    with torch.no_grad():
        outputs = {name: (run(x), run(x[order])) for name, run in layers.items()}
    pictures.shuffled(["dog", "bites", "man"], order, outputs)


# %% [markdown]
# Bare self-attention treats a sentence as a *set*: "dog bites man" and "man bites dog"
# get the same vectors. Positions cure that. Curiously, a causal mask alone breaks the
# symmetry, too: the first word sees one word, the last one sees all.
#
# ## 9. The maps of a real model
#
# Your formula at work, in a model that somebody trained for use: MiniLM (Wang et al.
# 2020), an encoder like BERT with 6 layers of 12 attentions each, fine-tuned to find
# sentences that mean the same. Its weights for ten sentences come with the course. (In
# unit 4, the whole model runs in your own classes.)
#
# **Predict first.** In "The cat didn't climb the tree because it was too scared.",
# which word does "it" look at? And if "scared" becomes "tall"?


# %%
@demo
def maps_of_a_real_model():
    layer, head = 5, 11  # counted from 0; try others
    story = "The cat didn't climb the tree because it was too "
    found = {last: maps_of(f"{story}{last}.") for last in ("scared", "tall")}
    pictures.it_in_a_real_model(found, layer, head)
    for last, maps in found.items():
        it = maps.weights[layer, head, maps.tokens.index("it")]
        cat, tree = (float(it[maps.tokens.index(word)]) for word in ("cat", "tree"))
        print(f'too {last}: "it" looks at "cat" {cat:.2f}, at "tree" {tree:.2f}')


# %% [markdown]
# "it" looks at "cat" with 0.62, and at "tree" with 0.17. With "tall" you read the
# sentence differently, but this head does not: 0.62 and 0.17 again. In a famous picture
# of another model (Uszkoreit 2017), "it" in "The animal didn't cross the street because
# it was too tired" moves from "animal" to "street" when "tired" becomes "wide". Here it
# goes from 0.67 to 0.56 on "animal", and from 0.02 to 0.04 on "street": it leans, and
# does not flip. A beautiful picture shows what *one* head of *one* model did with *one*
# sentence.
#
# Look further: `maps_of(sentence)` gives the tokens and the weights, `(layers, heads,
# L, L)`, of ten sentences; asked for any other, it lists them. Be careful with
# conclusions: a large weight says where a layer *looked*, not why it decided as it did
# (Jain and Wallace 2019 and, in reply, Wiegreffe and Pinter 2019).
#
# ## What you built
#
# - scores, scaling and a softmax that survives: the inside of attention;
# - padding and causal masks, and the right way to join them;
# - `scaled_dot_product_attention`, equal to PyTorch's own;
# - `SelfAttention` and `CrossAttention`, which learn what to look for;
# - two tests, `who_sees_whom` and `equivariance_gap`, that judge any layer from
#   outside.
#
# **Next:** one map sees one kind of relation. Unit 3 runs several side by side.
#
# ## Go further
#
# - Vaswani et al. 2017, *Attention Is All You Need*, sections 3.2.1 and 3.2.3: the
#   source.
# - Bahdanau, Cho and Bengio 2015, *Neural Machine Translation by Jointly Learning to
#   Align and Translate*: attention before the Transformer, with a small network in
#   place of the dot product.
# - Milakov and Gimelshein 2018, *Online normalizer calculation for softmax*: your
#   stable softmax in a single pass. It is the seed of FlashAttention (Dao et al. 2022).
# - Zaheer et al. 2017, *Deep Sets*: what a layer that treats its input as a set must
#   look like.
# - Try it: remove the scaling in `SelfAttention` with `d_k = 256` and look at the
#   weights at initialisation. What do you expect to see?

# %% [markdown]
# ## Where you stand
#
# Your points so far, and what to do next. Run it again whenever you have solved
# something.

# %%
check.summary()
