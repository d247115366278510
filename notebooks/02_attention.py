# %% [markdown]
# # 2 · Attention
#
# The whole Transformer rests on one small formula:
#
# $$\operatorname{Attention}(Q, K, V) =
# \operatorname{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right) V$$
#
# In this unit you compute it once by hand, build it piece by piece, and finally let a
# published chat model answer a question with your function. By the end, no symbol in
# the formula will be a mystery.

# %% folded=true
# @title The whole machine
from autograder import drawing

drawing(
    "machine_attention",
    "",
    "The blue part of the chat model is what you build today; the number beside a part "
    "is the unit in which you build it.",
)

# %% [markdown]
# **Questions of this unit**
# - How can a search be soft enough to be learnt?
# - Why are the scores divided by $\sqrt{d_k}$, and what happens to the gradients if
#   they are not?
# - Why does a softmax fail on large scores, and what saves it?
# - Who may attend to whom, and how does a mask express it?
# - Can a layer find out where to look when nobody tells it?
# - What does a layer see, and does it know about order? How can you *test* that from
#   the outside?
#
# *About 2½ hours · short path about 1½: exercises 2.3, 2.4, 2.5*
#
# *6 exercises and one written question · 100 points.* The short path covers the
# essentials: for now, just read the other sections, and come back to their exercises
# later.
#
# **Recap.** The `InputLayer` of unit 1 gave each position of a sentence a vector, in a
# tensor of shape `(B, L, d_model)`. The vector encodes the word and its position, but
# nothing yet about neighbouring words.
#
# <details><summary>Conventions of this course</summary>
#
# | name | meaning |
# |---|---|
# | `B` | sentences in a batch; the batch dimension comes first |
# | `Lq`, `Lk` | number of queries, number of keys |
# | `d_k` | length of a query and of a key |
# | `d_v` | length of a value |
# | `(..., Lq, d_k)`, in a signature `"*batch Lq d_k"` | any number of leading dimensions, or none |
# | mask | boolean, **`True` = may attend**, broadcastable to the scores |
# | attention | returns the pair `(output, weights)`, in this order |
# | arguments | are never modified in place |
# | floats | may have any dtype and be views of other tensors; results keep the dtype |
# | gradients | flow back through what you compute, unless the text says otherwise |
#
# </details>

# %%
import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from autograder import check, demo
from transformer_course.attention.library import pictures, recall, timing
from transformer_course.library import chat
from transformer_course.library.attention_maps import maps_of

torch.set_printoptions(precision=3, sci_mode=False)


# %% [markdown]
# ## 1. A search that never says "not found"
#
# A Python dictionary is a strict librarian: if the **query** that you bring matches one
# of the **keys** letter for letter, you get its whole **value**, and otherwise nothing
# at all.
#
# Attention is a kind librarian. She compares your query with every key, gives each key
# a *score*, and turns the scores into **attention weights**, shares that sum to one.
# What you take home is a mixture of the values, in which those with the best-fitting
# keys count most.
#
# | | dictionary | attention |
# |---|---|---|
# | query and key are | equal, or not | more or less similar |
# | the result is | one value | a weighted sum of the values |
# | a small change to the query | may lose everything | changes the result a little |
# | gradient for query and keys | none | **yes, so the matching can be learnt** |
#
# The last row is why we want attention, and section 7 puts it to the test.
#
# The menu of a tiny café will serve as an example. Each *key* describes a dish by four
# features (sweet, cold, fruity, creamy), and its *value* holds what we want to know:
# the price, and the minutes until the dish is served. A *query* says what a guest would
# like: Ann wants something cold and fruity.

# %%
DISHES = ["sorbet", "chocolate ice", "apple pie", "soup"]
KEYS = torch.tensor(
    [
        [1.0, 1.0, 1.0, -1.0],  # sorbet: sweet, cold, fruity, not creamy
        [1.0, 1.0, -1.0, 1.0],  # chocolate ice
        [1.0, -1.0, 1.0, 0.0],  # apple pie
        [-1.0, -1.0, -1.0, 1.0],  # soup
    ]
)
VALUES = torch.tensor([[3.0, 1.0], [4.0, 2.0], [5.0, 9.0], [6.0, 5.0]])
ANN = torch.tensor([0.0, 1.0, 1.0, 0.0])

for name, key in zip(DISHES, KEYS, strict=True):
    score = sum(float(a) * float(b) for a, b in zip(ANN, key, strict=True))
    print(f"{name:>14}: score {score:4.1f}")

# %% [markdown]
# **Predict first.** The next cell turns Ann's scores into weights and mixes the values.
# How much of the weight does the sorbet get: about half, three quarters, or nearly all?
# Is the soup's weight exactly zero?

# %%
my_guess = "sorbet: ?, soup: ?"  # write yours here, then run the cell

weights_of_ann = F.softmax(KEYS @ ANN, dim=0)
price, minutes = weights_of_ann @ VALUES
pictures.attention_weights(DISHES, weights_of_ann)
print(f"expected price {float(price):.2f}, minutes {float(minutes):.1f}")
print("your guess:", my_guess)

# %% [markdown]
# The sorbet gets about three quarters, and the soup a small but non-zero weight: on
# paper, softmax never assigns exactly zero as long as every score is finite. Keep this
# in mind for the section on masks.
#
# ### Many queries at once
#
# So far we have had only one guest, but in a sentence every word sends out its own
# query. We stack the queries as the rows of a matrix `q` and the keys as the rows of a
# matrix `k`, and take the dot product of every row of `q` with every row of `k`.

# %%
drawing(
    "one_score", "2.2", "Each score is the dot product of a row of q and a row of k."
)

# %% [markdown]
# To compute the entry marked in the drawing (query 1, key 2) by hand, we add up eight
# products:

# %%
torch.manual_seed(1)
q = torch.randn(4, 8)  # 4 queries of length d_k = 8
k = torch.randn(4, 8)  # 4 keys of the same length

one_score = 0.0
for a, b in zip(q[1].tolist(), k[2].tolist(), strict=True):
    one_score += a * b
print(f"how well key 2 fits query 1: {one_score:.3f}")

# %% [markdown]
# ## 2. Why divide by $\sqrt{d_k}$?
#
# Suppose that the entries of `q` and `k` are independent, with mean 0 and variance 1.
# Then each product $q_c k_c$ also has mean 0 and variance 1, and because a score is the
# sum of $d_k$ independent products of this kind, their variances add up:
#
# $$\operatorname{Var}(q \cdot k) = \sum_{c=1}^{d_k} \operatorname{Var}(q_c k_c) = d_k
# \qquad\Longrightarrow\qquad \text{standard deviation} = \sqrt{d_k}.$$
#
# So vectors with more components give larger scores for no good reason, and large
# scores do harm: softmax then gives nearly all the weight to one key. Dividing by
# $\sqrt{d_k}$ brings the standard deviation back to 1, whatever $d_k$ is (Vaswani et
# al. 2017, section 3.2.1 and its footnote 4).

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
# From `d_k = 4` to 64, the spread of the scores grows by a factor of
# $\sqrt{64 / 4} = 4$, as the argument predicts. Without scaling, softmax soon gives
# almost all the weight to one of the ten keys: the kind librarian has turned into the
# strict one.
#
# **Predict first.** Training corrects a query through the gradient that reaches it.
# Take 500 queries, each with ten keys of its own, and `d_k = 1024`. Without scaling,
# are the gradients smaller or larger than with it? Compare both their mean and their
# median length.


# %%
def query_gradients(d_k: int, scale: float) -> Float[Tensor, "500"]:
    """The lengths of the gradients that reach 500 queries with ten keys each.

    The output of a query is the weighted sum of ten random numbers.
    """
    queries = torch.randn(500, d_k, requires_grad=True)
    ten_keys, ten_values = torch.randn(500, 10, d_k), torch.randn(500, 10)
    weights = (scale * (queries[:, None] * ten_keys).sum(-1)).softmax(-1)  # (500, 10)
    gradients = torch.autograd.grad((weights * ten_values).sum(), queries)[0]
    return gradients.norm(dim=-1)


my_guess = "?"  # smaller or larger


@demo
def gradient_of_a_query():
    torch.manual_seed(3)
    print("          without scaling      with scaling")
    print("  d_k       mean   median      mean   median")
    for d_k in SIZES:
        without, scaled = query_gradients(d_k, 1.0), query_gradients(d_k, d_k**-0.5)
        line = f"{d_k:5d}   {without.mean():8.3f} {without.median():8.5f}  "
        print(f"{line}{scaled.mean():8.3f} {scaled.median():8.5f}")
    print("your guess:", my_guess)


# %% [markdown]
# Both: the mean is larger, the median smaller, and that is the trouble. At
# `d_k = 1024`, the *mean* gradient without scaling is about four times as large as with
# it (3.8 to 4.6 times across five seeds), whereas the *median* is practically zero.
# Most queries receive hardly any gradient, because one key has taken all the weight,
# while a few are torn between two keys and receive a huge one. With scaling, the mean
# and the median stay close together, so every query can learn.
#
# For all queries at once, the scaled scores form the matrix $QK^\top / \sqrt{d_k}$,
# whose entry in row $i$ and column $j$ belongs to query $i$ and key $j$. This table of
# scores is the only place in a Transformer where two positions are ever compared.
#
# ## 3. One attention, by hand
#
# Before you write the general version, work through a small example with pencil and
# paper. Three guests sit down in the café: Ann wants something cold and fruity, Ben
# nothing sweet or cold, and Cy only something creamy. But the soup is **sold out**, so
# it is masked, and nobody can have it.
#
# | queries | sweet | cold | fruity | creamy |
# |---|---|---|---|---|
# | Ann | 0 | 1 | 1 | 0 |
# | Ben | -1 | -1 | 0 | 0 |
# | Cy | 0 | 0 | 0 | 2 |
#
# | keys | sweet | cold | fruity | creamy | *values:* price | minutes |
# |---|---|---|---|---|---|---|
# | sorbet | 1 | 1 | 1 | -1 | 3 | 1 |
# | chocolate ice | 1 | 1 | -1 | 1 | 4 | 2 |
# | apple pie | 1 | -1 | 1 | 0 | 5 | 9 |
# | soup (sold out) | -1 | -1 | -1 | 1 | 6 | 5 |
#
# Ann goes first.
# 1. **Scores.** For sorbet, $0 \cdot 1 + 1 \cdot 1 + 1 \cdot 1 + 0 \cdot (-1) = 2$, and
#    for the other dishes 0, 0 and -2.
# 2. **Scale.** $d_k = 4$, so divide by $\sqrt 4 = 2$ (which we skipped in section 1):
#    the scores are 1, 0, 0 and -1.
# 3. **Mask.** The soup's score becomes $-\infty$.
# 4. **Softmax.** The powers $e^1, e^0, e^0, e^{-\infty}$ are 2.72, 1, 1 and 0. Divided
#    by their sum, 4.72, they become the weights 0.58, 0.21, 0.21 and 0.
# 5. **Mix.** The price is $0.58 \cdot 3 + 0.21 \cdot 4 + 0.21 \cdot 5 = 3.63$, and the
#    minutes are $0.58 \cdot 1 + 0.21 \cdot 2 + 0.21 \cdot 9 = 2.89$. (If the weights
#    are not rounded first, the results are 3.64 and 2.91.)
#
# **With a pencil.** Work out the weights for Ben and Cy to two decimal places, and
# write them in place of the zeros below; you need only $e^{-1} = 0.37$, $e^0 = 1$ and
# $e^1 = 2.72$. Which dish would Ben mostly get if the soup were not sold out?

# %%
GUESTS = {
    "Ann": [0.0, 1.0, 1.0, 0.0],
    "Ben": [-1.0, -1.0, 0.0, 0.0],
    "Cy": [0.0, 0.0, 0.0, 2.0],
}
PENCIL = {
    "Ann": [0.58, 0.21, 0.21, 0.00],
    "Ben": [0.00, 0.00, 0.00, 0.00],
    "Cy": [0.00, 0.00, 0.00, 0.00],
}

# %% [markdown]
# ### Exercise 2.1 - One attention by hand
#
# *time ~15 min · difficulty 2/5 · 10 points*
#
# **Task.** Write the five steps (scores, scale, mask, softmax, mix) as a function for a
# single query. Use lists, loops and `math.exp`, so that you see every number.
#
# **Example.** For Ann, the function returns the output `[3.64, 2.91]` and the weights
# `[0.58, 0.21, 0.21, 0.00]`, shown here to two decimal places. Do not round in your
# code.
#
# <details><summary>Contract</summary>
#
# - The lists may have any lengths; `d_k` is the length of the query.
# - `allowed[j]` is `False` if key `j` is masked; at least one key is allowed.
# - The results are the output and the weights, in this order; they may also be tensors.
# - The inputs are not modified.
# - `F.scaled_dot_product_attention` is not allowed here.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# What does a power of e become when the exponent is minus infinity? So what can you
# write in place of `math.exp(score)` for a masked key?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# query     d_k numbers
# scores    one number per key, like the powers and weights
# output    one number per component of a value
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# for each key:
#     score = sum of query[c] * key[c] over c, divided by the root of d_k
#     power = e to the score, but 0 if the key is masked
# weights = each power divided by the sum of all powers
# for each component c of the values:
#     output[c] = sum of weight * value[c] over all values
# ```
#
# </details>


# %% exercise="attention/by_hand"
def attend(
    query: list[float],
    keys: list[list[float]],
    values: list[list[float]],
    allowed: list[bool],
) -> tuple[list[float], list[float]]:
    """The attention of one query, number by number.

    Args:
        query: d_k numbers.
        keys: a list of d_k numbers for each key.
        values: a list of d_v numbers for each key.
        allowed: for each key, whether the query may attend to it.

    Returns:
        The output, d_v numbers, and the attention weights, one for each key.
    """
    ### BEGIN SOLUTION
    powers = []
    for key, may in zip(keys, allowed, strict=True):
        products = [a * b for a, b in zip(query, key, strict=True)]
        score = sum(products) / math.sqrt(len(query))
        powers.append(math.exp(score) if may else 0.0)
    weights = [power / sum(powers) for power in powers]
    output = [
        sum(w * value[c] for w, value in zip(weights, values, strict=True))
        for c in range(len(values[0]))
    ]
    return output, weights
    ### END SOLUTION


# %% check="attention/by_hand" points=10
# Both results, with and without a mask, for lists of different lengths.
check("attention/by_hand", attend)


# %%
@demo
def pencil_and_function():
    menu = KEYS.tolist(), VALUES.tolist(), [True, True, True, False]
    rows = [attend(query, *menu) for query in GUESTS.values()]
    output, weights = (torch.tensor(part) for part in zip(*rows, strict=True))
    pictures.by_hand(list(GUESTS), DISHES, weights, output, sold_out=3)
    for (name, mine), row in zip(PENCIL.items(), weights, strict=True):
        off = float((torch.tensor(mine) - row).abs().max())
        print(f"{name}: your weights are off by up to {off:.2f}")


# %% [markdown]
# Ben gets mostly apple pie, with a weight of 0.58, and Cy mostly chocolate ice, with
# 0.67. Without the mask, Ben would have got mostly soup, whose score is the highest of
# all and whose weight would have been 0.61. Notice that no guest's result depended on
# another guest's row, because each query is answered on its own. What remains is to
# write these steps for all queries at once, and to make them safe.
#
# ## 4. From scores to weights: a safe softmax
#
# A score can be any number, whereas weights must be positive and sum to one. The
# exponential makes them positive, and the division makes them sum to one:
#
# $$\operatorname{softmax}(x)_j = \frac{e^{x_j}}{\sum_m e^{x_m}}$$
#
# On paper, that is all, but on a computer there is a trap. The three rows below differ
# only by a constant, which cancels in the fraction, so all of them *should* give the
# same weights:
#
# $$\frac{e^{x_j + c}}{\sum_m e^{x_m + c}} = \frac{e^c\,e^{x_j}}{e^c \sum_m e^{x_m}}
# = \frac{e^{x_j}}{\sum_m e^{x_m}}$$

# %%
for row in ([1.0, 2.0, 3.0], [81.0, 82.0, 83.0], [101.0, 102.0, 103.0]):
    x = torch.tensor(row)
    print(f"{row!s:>22}: the first power is {float(x[0].exp()):.3g}")
    print(f"{'':>22}  by the formula: {x.exp() / x.exp().sum()}")

# %% [markdown]
# The last row fails because the largest `float32` is about $3.4 \cdot 10^{38}$ and
# $e^{89}$ is beyond it: the powers are infinite, and `inf / inf` is `nan`. In a
# network, a single `nan` in the loss spreads to every parameter in one step. The cure
# is in the equation itself: **you may choose $c$ freely for each row.**
#
# ### Exercise 2.2 - A stable softmax
#
# *time ~15 min · difficulty 3/5 · 14 points*
#
# **Task.** Compute the softmax over the last dimension with `exp` and `sum`, choosing
# $c$ so that nothing overflows.
#
# **Example.** `[101, 102, 103]` gives `[0.090, 0.245, 0.665]`, and so does
# `[1, 2, 3]`.
#
# <details><summary>Contract</summary>
#
# - PyTorch's own softmax is not allowed here in any form (`torch.softmax`,
#   `F.log_softmax`, attention); from Exercise 2.4 on, it is.
# - An entry of `-inf` gets weight 0. Each row has at least one finite entry.
# - Scores that are far apart, in one row or in different rows, are handled correctly.
# - The result has the dtype of `x`.
# - `x` is not modified, and the gradient flows: no `.item()`, `.data` or NumPy.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# What could you subtract from a row so that no exponent is positive and at least one is
# zero? What does the zero guarantee for the sum?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# x                        (..., L)
# one shift per row        (..., 1)    keep the dimension, so that it broadcasts
# exponentials             (..., L)
# their sum per row        (..., 1)
# ```
#
# Two rows of the same tensor may have very different magnitudes, so one shift for the
# whole tensor is not enough.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# shift  = the largest entry of each row, dimension kept
# powers = exp(x - shift)
# divide each row of powers by its own sum
# ```
#
# </details>


# %% exercise="attention/softmax"
def stable_softmax(x: Float[Tensor, "*batch L"]) -> Float[Tensor, "*batch L"]:
    """Softmax over the last dimension, safe for scores of any magnitude.

    Args:
        x: scores; some may be `-inf`, but not a whole row.

    Returns:
        The weights, with the dtype of x: not negative, and each row sums to 1. A
        gradient can flow through them back to x.
    """
    ### BEGIN SOLUTION
    powers = (x - x.amax(dim=-1, keepdim=True)).exp()  # (..., L), each at most 1
    return powers / powers.sum(dim=-1, keepdim=True)
    ### END SOLUTION


# %% check="attention/softmax" points=14
# Small, huge and far-apart scores, -inf, gradients, and x afterwards.
check("attention/softmax", stable_softmax)

# %% [markdown]
# The next figure shows the weights of four keys as their scores, 1.0, 0.6, 0.2 and
# -0.4, are multiplied by a growing factor.


# %%
@demo
def softmax_under_rising_scores():
    scores, factors = torch.tensor([1.0, 0.6, 0.2, -0.4]), [0, 1, 2, 4, 8, 32]
    rows = [F.softmax(factor * scores, dim=0) for factor in factors]
    pictures.rising_scores(factors, rows)


# %% [markdown]
# Step through the figure with the mouse or the arrow keys. The order of the weights
# never changes, but the first key takes over, until at factor 32 it has practically all
# the weight. By then, the weights hardly respond to the scores any more, because the
# derivative has all but vanished, and with it the gradient that could correct a wrong
# choice.
#
# On paper, no weight ever becomes zero. In `float32`, however, a score that is 104
# below the largest one gets a weight of exactly zero, because $e^{-104}$ is smaller
# than the smallest positive number in that format.
#
# ## 5. Masks: who may attend to whom
#
# There are two classic reasons why a query must not attend to some of the keys.
#
# - **Padding.** The sentences of a batch are padded to a common length with a dummy
#   token, which no word should attend to. Otherwise, the result for a sentence would
#   depend on how long its neighbours in the batch happen to be.
# - **Causality.** A model that predicts the next word must not peek at it, so position
#   `i` may see positions `0 ... i`, and no later one.
#
# A mask answers one question for each pair: *may query `i` attend to key `j`?* In this
# course, **`True` means yes**. Where the answer is no, we set the score to $-\infty$
# *before* the softmax, as you did for the soup. Since $e^{-\infty} = 0$, the weight is
# then exactly zero, while the other weights still sum to one.
#
# The scores of a batch have shape `(B, Lq, Lk)`. A mask need not have this full shape,
# as long as it *broadcasts* to it:
#
# | mask | shape | what it says |
# |---|---|---|
# | padding | `(B, 1, Lk)` | the masked keys depend on the sentence, not on the query |
# | causal | `(L, L)` | the masked keys depend on the query, not on the sentence |
# | both | `(B, L, L)` | the masked keys depend on both |
#
# ### Exercise 2.3 - Masks
#
# *time ~15 min · difficulty 2/5 · 16 points*
#
# If its causal mask has one diagonal too many, a language model sees the very token
# that it is supposed to predict. A decoder must respect padding as well, and if the two
# masks are joined by the wrong logical operator, each undoes the other.
#
# **Task.** Write three functions: the padding mask for a batch of token ids, the causal
# mask for a given length, and the combination of two masks, in which a pair is allowed
# only if *both* masks allow it.
#
# **Example.** The padding mask of `[[7, 8, 0]]` is `[[[True, True, False]]]`,
# `causal_mask(2)` is `[[True, False], [True, True]]`, and `[[True, False]]` combined
# with `[[True, True]]` is `[[True, False]]`.
#
# <details><summary>Contract</summary>
#
# - All masks are boolean. The padding mask is `(B, 1, L)`, the causal mask `(L, L)`.
# - `pad_id` may be any id, not only 0, and padding may be anywhere in a row.
# - `length` may be any positive number, and each call returns a new tensor.
# - Masks that are combined may differ in shape, as long as they broadcast.
# - If one mask is `None`, the result is the other one; if both are, it is `None`.
# - The inputs are not modified.
#
# </details>
# <details><summary>Hint 1: three questions</summary>
#
# A padding mask restricts *keys*, which are the columns of the scores `(B, Lq, Lk)`.
# Where does the dimension of size 1 belong, so that all *queries* share one row?
#
# Draw the causal mask for length 4 on paper. What does its first row look like, and
# what does the last?
#
# `True` means "may attend" here. Two guards stand at a door, and you need a yes from
# each of them. Which logical operator is that? (And which would it be if `True` meant
# "is masked"?)
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# ids                 (B, L)       int64
# real or not         (B, L)       bool
# padding mask        (B, 1, L)    bool
#
# query positions     (L, 1)
# key positions       (1, L)
# their comparison    (L, L)       bool
#
# padding and causal  (B, L, L)    by broadcasting, without a loop
# ```
#
# Alternatively, look for a function that cuts a triangle out of a square.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# padding:  compare every id with pad_id     (True for what we want to keep)
#           insert a dimension of size 1 between batch and keys
#
# causal:   for each query position i, for each key position j:
#               mask[i, j] = (j is not later than i)
#
# combined: if there is no first mask:  the second one (which may also be None)
#           if there is no second mask: the first one
#           otherwise: combine them element by element
# ```
#
# </details>


# %% exercise="attention/masks"
def padding_mask(ids: Int[Tensor, "B L"], pad_id: int = 0) -> Bool[Tensor, "B 1 L"]:
    """Which keys are real tokens.

    Args:
        ids: token ids, int64.
        pad_id: the id of the padding token.

    Returns:
        A mask: True = may attend.
    """
    ### BEGIN SOLUTION
    return (ids != pad_id).unsqueeze(1)  # (B, 1, L)
    ### END SOLUTION


def causal_mask(length: int) -> Bool[Tensor, "length length"]:
    """Which key each query may attend to if none may look ahead.

    Args:
        length: the number of positions.

    Returns:
        A mask; entry [i, j]: may query i attend to key j?
    """
    ### BEGIN SOLUTION
    return torch.ones(length, length, dtype=torch.bool).tril()  # (L, L)
    ### END SOLUTION


def combine_masks(
    first: Bool[Tensor, "*first"] | None, second: Bool[Tensor, "*second"] | None
) -> Bool[Tensor, "*both"] | None:
    """The mask that allows what both masks allow; None restricts nothing.

    Args:
        first: a mask of any shape, such as `(B, 1, L)`.
        second: a mask that broadcasts with it, such as `(L, L)`.

    Returns:
        A mask of the common shape, such as `(B, L, L)`; None if both are None.
    """
    ### BEGIN SOLUTION
    if first is None:
        return second
    if second is None:
        return first
    return first & second
    ### END SOLUTION


# %% check="attention/masks" points=16
# Shapes, dtypes and entries of all three, None, and the arguments afterwards.
check("attention/masks", padding_mask, causal_mask, combine_masks)

# %% [markdown]
# Here are your three functions applied to a sentence that ends with two padding tokens.
# Look at the *last row* of the rightmost mask, which belongs to a padding token.


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
# In that row, the three real words are allowed, because a padding *query* may still
# attend to them. This is harmless, since the output of such a row is never read, and
# every row keeps at least one key.
#
# ### Two libraries, two meanings
#
# In PyTorch itself, the same boolean mask means opposite things in two functions, so
# check the polarity whenever you pass a mask to a different library:
#
# | function | `True` means |
# |---|---|
# | `F.scaled_dot_product_attention(..., attn_mask)` and this course | may attend |
# | `nn.MultiheadAttention(..., attn_mask, key_padding_mask)` | **may not** attend |
#
# The next cell passes a mask and its negation to `nn.MultiheadAttention`, for three
# keys, the last of which (key 2) is padding.


# %%
@demo
def the_same_mask_twice():
    torch.manual_seed(4)
    words = torch.randn(1, 3, 4)  # (B, L, d_model)
    keep = torch.tensor([[True, True, False]])  # (B, L): key 2 is padding
    layer = nn.MultiheadAttention(4, num_heads=1, batch_first=True)
    for name, given in (("keep", keep), ("~keep", ~keep)):
        _, weights = layer(words, words, words, key_padding_mask=given)
        mask = f"key_padding_mask={name}"
        print(f"nn.MultiheadAttention({mask}): {weights[0, 0].detach()}")


# %% [markdown]
# Only the second call masks the padding. The first one masks the two real words instead
# and attends to nothing but padding, without raising any error.
#
# ### A row with no key left
#
# What if *every* key of a row is masked? "The weights sum to one" and "no key gets any
# weight" cannot both be true, and different implementations resolve the conflict
# differently.
#
# **Predict first.** What does each of the three versions below return for such a row?

# %%
my_guesses = {"filled with -inf": "?", "filled with -1e9": "?", "PyTorch's own": "?"}

scores = torch.tensor([[0.5, 1.0, 2.0]])
none_allowed = torch.tensor([[False, False, False]])
with_infinity = scores.masked_fill(~none_allowed, -math.inf).softmax(-1)
with_large_number = scores.masked_fill(~none_allowed, -1e9).softmax(-1)
of_pytorch = F.scaled_dot_product_attention(
    scores[:, None, :1], torch.ones(1, 3, 1), torch.eye(3)[None], attn_mask=none_allowed
)
print("filled with -inf:", with_infinity[0])
print("filled with -1e9:", with_large_number[0])
print("PyTorch's own:   ", of_pytorch[0, 0])
print("your guesses:    ", my_guesses)

# %% [markdown]
# The three answers are an alarm (`nan`), a quiet lie (all keys get the same weight,
# even the masked ones) and silence (zeros, in this release of PyTorch). None of them is
# correct, because the question has no correct answer. **In this course, every query may
# attend to at least one key, and fully masked rows are never graded.** Your data
# pipeline must guarantee that there are none. Padding on the *left* breaks this
# guarantee as soon as you add a causal mask, since the first query may then attend only
# to itself, which is padding (unit 4).
#
# *Written question (4 points).* A colleague replaces `-inf` by `-1e9` "because `nan`
# is ugly". One day, a batch contains a sentence that consists of padding only. In three
# to five sentences: what does each version return for it, which one would you notice in
# training and why, and what would you do about such a sentence?
#
# *Points: both results (2), which one is noticed and why (1), a remedy
# in the right place (1).*

# %% [markdown] written="attention/empty_row" points=4
# **Your answer**
#
# ### BEGIN SOLUTION
# With `-inf`, softmax divides 0 by 0: the weights and the output of this sentence are
# `nan`. With `-1e9`, all scores are equal, so each padding token gets the same weight,
# and the output is the mean of their values: finite, and meaningless. The `nan` is
# noticed at once, since it spreads to the loss and, through the gradient, to every
# parameter. The uniform weights go unnoticed, and the model trains on noise. Remedy:
# remove empty sentences when the batch is made (or give them one real token), and leave
# the alarm switched on.
# ### END SOLUTION

# %% [markdown]
# ## 6. All together
#
# Scores, scaling, mask, softmax, weighted sum: you have done all five for one query,
# and the drawing shows them for several queries at once.

# %%
drawing(
    "scaled_dot_product",
    "2.7",
    "Attention from three queries to four keys, with every matrix written out in full.",
)

# %% [markdown]
# On its way from matrix to matrix, the outlined row never meets any other row. Without
# the mask, key 3 would have had the largest weight in that row; here its weight is
# crossed out, because it is exactly zero, not just small.
#
# ### Exercise 2.4 - Scaled dot-product attention
#
# *time ~15 min · difficulty 3/5 · 28 points*
#
# **Task.** Compute the scores $QK^\top / \sqrt{d_k}$, mask them, and return the output
# *and* the attention weights. Allow any leading dimensions and an optional mask.
#
# **Example.** For the queries of the three guests, `KEYS`, `VALUES` and the mask
# `[True, True, True, False]`, the results are those of section 3.
#
# <details><summary>Contract</summary>
#
# - Any number of leading dimensions, or none; `Lq` and `Lk` may differ.
# - `mask` is boolean (`True` = may attend) and broadcasts to the scores; `None` allows
#   everything.
# - Every row of a mask allows at least one key.
# - All of PyTorch is allowed, and so are your own functions. Even
#   `F.scaled_dot_product_attention` is allowed, but it returns no weights.
# - The inputs are not modified, and the gradient flows.
#
# </details>
# <details><summary>Hint 1: two questions</summary>
#
# In a matrix product, a row of the left matrix meets a *column* of the right one, but
# keys are rows. Which two dimensions of `k` must you swap, counted from the end?
# (`k.T` reverses *all* of them.)
#
# Where does the mask belong: before or after the softmax? If it comes after, do the
# weights still sum to one?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# k.mT      (..., d_k, Lk)    its last two dimensions are swapped
# scores    (..., Lq, Lk)     d_k is gone: read it off q
# mask      broadcasts to it, e.g. (B, 1, Lk) or (Lq, Lk)
# weights   (..., Lq, Lk)     each row sums to 1: which dimension is that?
# output    (..., Lq, d_v)    row i mixes the rows of v with the weights of query i
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# scores  = all dot products of queries and keys, over the square root of d_k
# if there is a mask: put minus infinity wherever it says "may not"
#                     (as in "A row with no key left", section 5)
# weights = softmax of each row
# output  = matrix product of weights and values
# return both, output first
# ```
#
# </details>


# %% exercise="attention/scaled_dot_product"
def scaled_dot_product_attention(
    q: Float[Tensor, "*batch Lq d_k"],
    k: Float[Tensor, "*batch Lk d_k"],
    v: Float[Tensor, "*batch Lk d_v"],
    mask: Bool[Tensor, "Lq Lk"] | Bool[Tensor, "*batch Lq Lk"] | None = None,
) -> tuple[Float[Tensor, "*batch Lq d_v"], Float[Tensor, "*batch Lq Lk"]]:
    """Scaled dot-product attention (Vaswani et al. 2017, section 3.2.1).

    Args:
        q: queries.
        k: keys.
        v: values.
        mask: True = may attend; any shape that broadcasts to the weights will do.

    Returns:
        The output and the weights, in this order and with the dtype of q, k and v.
    """
    ### BEGIN SOLUTION
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # (..., Lq, Lk)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = F.softmax(scores, dim=-1)  # (..., Lq, Lk)
    return weights @ v, weights  # (..., Lq, d_v), (..., Lq, Lk)
    ### END SOLUTION


# %% check="attention/scaled_dot_product" points=28
# Both results with and without masks, huge scores, gradients, and the inputs
# afterwards.
check("attention/scaled_dot_product", scaled_dot_product_attention)

# %% [markdown]
# Here is your function applied to the numbers in Figure 2.7. Point at a row of the
# output to see its query, its weights and the values it drew from.


# %%
@demo
def rows_of_the_output():
    q = torch.tensor([[-1.0, -1, 1, 1], [2, 1, -1, 2], [-1, -1, 2, -1]])
    k = torch.tensor([[1.0, 0, 0, 1], [1, -1, 0, 1], [2, 0, 1, -1], [2, 1, 2, 1]])
    v = torch.tensor([[1.0, 0, 2], [0, 2, 1], [3, 1, 0], [5, 5, 5]])
    mask = torch.tensor([True, True, True, False])  # key 3 is padding
    output, weights = scaled_dot_product_attention(q, k, v, mask)
    pictures.follow_rows(q, k, v, weights, output)


# %% [markdown]
# Two witnesses can vouch for your function. The first is your own version with plain
# loops:


# %%
@demo
def loops_and_matrices():
    torch.manual_seed(4)
    q, k, v = torch.randn(3, 8), torch.randn(5, 8), torch.randn(5, 2)
    mask = torch.tensor([True, True, False, True, True])
    output, weights = scaled_dot_product_attention(q, k, v, mask)
    lists = k.tolist(), v.tolist(), mask.tolist()
    rows = [attend(query, *lists) for query in q.tolist()]
    by_hand = [torch.tensor(part) for part in zip(*rows, strict=True)]
    print(f"outputs differ by {float((output - by_hand[0]).abs().max()):.1e}")
    print(f"weights differ by {float((weights - by_hand[1]).abs().max()):.1e}")


# %% [markdown]
# The differences are only rounding errors, so each version confirms the other. The
# second witness is PyTorch's own function:


# %%
@demo
def yours_beside_pytorch():
    torch.manual_seed(5)
    q, k, v = torch.randn(2, 3, 4, 6), torch.randn(2, 3, 5, 6), torch.randn(2, 3, 5, 7)
    mask = torch.rand(2, 1, 4, 5) < 0.7
    mask[..., 0] = True  # every query may attend to at least one key
    mine, weights = scaled_dot_product_attention(q, k, v, mask)
    theirs = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    print("largest difference:", f"{float((mine - theirs).abs().max()):.1e}")
    print("rows sum to:       ", weights.sum(-1).flatten()[:4], "...")


# %% [markdown]
# ### What does it cost?
#
# Every query is compared with every key, so a sequence of length $L$ has $L^2$ scores
# and just as many weights. Your function stores them all, and so does PyTorch's plain
# *backend* (`MATH`). The fused one (`FLASH_ATTENTION`) processes the keys in blocks and
# never holds the whole matrix (Dao et al. 2022). All three give the same output up to
# rounding. What do the blocks save?


# %%
@demo
def cost_over_length():
    from torch.nn.attention import SDPBackend, sdpa_kernel

    print("milliseconds of CPU time, one thread, d_k = 64")
    print("length      weights      yours       MATH      FLASH")
    for length in (256, 512, 1024, 2048):
        q, k, v = torch.randn(3, 1, 1, length, 64)
        line = f"{length:6d} {4 * length**2 / 2**20:8.2f} MiB"
        line += f" {timing.fastest(scaled_dot_product_attention, q, k, v):10.2f}"
        for backend in (SDPBackend.MATH, SDPBackend.FLASH_ATTENTION):
            with sdpa_kernel(backend):
                milliseconds = timing.fastest(F.scaled_dot_product_attention, q, k, v)
            line += f" {milliseconds:10.2f}"
        print(line)


# %% [markdown]
# Doubling the length makes each version about four times as slow, because the quadratic
# cost is inherent in the computation; even the fused backend only lowers the constant.
# The two plain versions may show one larger jump, where the matrix of weights outgrows
# the processor's cache.
#
# The memory for the weights also grows by a factor of 4. This is what the blocks save,
# together with the time needed to move the matrix to and from memory. The blocks are
# also why the fused backend cannot return the weights.
#
# ### Attention in tiles
#
# How can a softmax be computed block by block when its denominator needs every score?
# By correcting the sum as larger scores arrive (Milakov and Gimelshein 2018). Suppose
# that the scores are 1, 2 and 3, and that the first tile holds 1 and 2: relative to the
# largest score so far, its exponentials sum to $e^{-1} + e^0 = 1.37$. When the second
# tile brings the 3, this sum is multiplied by $e^{2-3} = 0.37$ before the new power
# $e^0 = 1$ is added, and the result, $e^{-1} \cdot 1.37 + 1 = 1.50$, is exactly
# $e^{-2} + e^{-1} + e^0$. The mixture of the values is corrected by the same factor,
# and the division waits until the end.


# %%
def attend_in_tiles(
    q: Float[Tensor, "Lq d_k"],
    k: Float[Tensor, "Lk d_k"],
    v: Float[Tensor, "Lk d_v"],
    width: int,
) -> Float[Tensor, "Lq d_v"]:
    """The output of attention, with the scores of `width` keys at a time."""
    largest = torch.full((len(q), 1), -math.inf)  # the largest score so far
    total, mixture = torch.zeros(len(q), 1), torch.zeros(len(q), v.size(1))
    for k_tile, v_tile in zip(k.split(width), v.split(width), strict=True):
        scores = q @ k_tile.T / math.sqrt(q.size(1))  # (Lq, width)
        new_largest = torch.maximum(largest, scores.amax(1, keepdim=True))
        shrink, powers = (largest - new_largest).exp(), (scores - new_largest).exp()
        total = shrink * total + powers.sum(1, keepdim=True)
        mixture = shrink * mixture + powers @ v_tile
        largest = new_largest
    return mixture / total


@demo
def tiles_of_any_width():
    torch.manual_seed(8)
    q, k, v = torch.randn(3, 200, 64)
    whole, weights = scaled_dot_product_attention(q, k, v)
    print(f"all at once: {weights.numel():6d} scores held")
    for width in (1, 16, 128):
        gap = float((attend_in_tiles(q, k, v, width) - whole).abs().max())
        print(f"width {width:3d}:   {len(q) * width:6d}, output off by {gap:.0e}")


# %% [markdown]
# Whatever the width, the output matches your own function's up to rounding, although
# only one tile of scores exists at a time. FlashAttention does the same on a GPU, with
# tiles that fit into its small but fast on-chip memory.
#
# ### Reading a map: who is "it"?
#
# *The cat didn't climb the tree because **it** was too scared.* You know at once that
# "it" is the cat, because trees are not scared. How could attention find out?
#
# **To be honest,** nothing here is trained: we set small embeddings by hand, so that
# each feature has a meaning and you can follow the computation. The features that a
# trained network finds are rarely as tidy.
#
# Each word has five features, and we apply attention twice:
# 1. "it" looks for a *property*. It finds "scared" and copies the ability that being
#    scared requires, the ability to *feel*.
# 2. Now "it" looks for a *noun* with that ability. (So does "scared" itself.)
#
# And if "scared" becomes "tall", where does "it" look in step 2?

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


def embed(sentence: str) -> tuple[list[str], Float[Tensor, "1 L 5"]]:
    """The words of a sentence and their hand-set features."""
    words = sentence.split()
    rows = [MEANING.get(word, [0] * 5) for word in words]
    return words, torch.tensor([rows], dtype=torch.float32)


def queries_and_keys(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """What words look for and offer, in step 1 and in step 2; each `(1, L, 5)`."""
    noun, prop = torch.eye(5)[:2]
    is_noun, has_property, is_pronoun = x[..., :1] > 0.5, x[..., 1:2] > 0.5, x[..., 4:]
    looks_1 = 12 * is_pronoun * prop  # a pronoun looks for a property
    offers_1 = x
    required = x * torch.tensor([0.0, 0, 1, 1, 0])  # what the property requires
    looks_2 = has_property * (9 * required + 3 * noun)
    offers_2 = x * is_noun  # only nouns offer something
    return looks_1, offers_1, looks_2, offers_2


def read(
    sentence: str,
) -> tuple[list[str], Float[Tensor, "L L"], Float[Tensor, "L L"]]:
    """The words of a sentence, and the weights of step 1 and of step 2."""
    words, x = embed(sentence)
    looks, offers, _, _ = queries_and_keys(x)
    copied, first = scaled_dot_product_attention(looks, offers, x)
    is_it = x[..., 4:]  # only "it" keeps what it has copied
    _, _, looks, offers = queries_and_keys(x + is_it * copied)
    _, second = scaled_dot_product_attention(looks, offers, x)
    return words, first[0], second[0]


# %%
@demo
def who_is_it():
    story = "The cat didn't climb the tree because it was too "
    scared, first, of_scared = read(story + "scared")
    tall, _, of_tall = read(story + "tall")
    pictures.who_is_it([scared, tall], [of_scared, of_tall])
    weight = float(first[7, scared.index("scared")])
    print(f"step 1: 'it' looks at 'scared' {weight:.2f}")
    for last, weights in (("scared", of_scared), ("tall", of_tall)):
        cat, tree = float(weights[7, 1]), float(weights[7, 5])
        print(
            f"... too {last}: 'it' looks at the cat {cat:.2f}, at the tree {tree:.2f}"
        )


# %% [markdown]
# Now "it" attends to the tree: a single word at the end of the sentence shifts the
# attention of "it" from the cat to the tree. Two layers were needed, because "it" first
# had to find out what to look for, which is one reason why Transformers stack layers.
#
# ## 7. Two modules, and what training makes of them
#
# So far, queries, keys and values have come from nowhere. In a network, three *learnt*
# linear layers compute them from the input.
#
# **Cross-attention** lets one sequence search a different one, just as the words of a
# translation look at the words of the original. The queries come from the sequence that
# attends, whereas keys *and* values come from the sequence that is attended to, the
# *memory*. The two sequences may differ in length, and so may their vectors. In unit 4,
# this layer is the bridge from encoder to decoder.

# %%
drawing(
    "cross_attention",
    "2.9",
    "In cross-attention, x provides the queries; keys and values come from the memory.",
)

# %% [markdown]
# ### Exercise 2.5 - Cross-attention
#
# *time ~15 min · difficulty 3/5 · 20 points*
#
# **Task.** Create three `nn.Linear` layers named `w_q`, `w_k` and `w_v`. In `forward`,
# apply each of them to the correct input, and pass the results to your
# `scaled_dot_product_attention`.
#
# **Example.** `CrossAttention(6, 8, 4, 3)` maps `x` of shape `(2, 5, 6)` and a memory
# `(2, 7, 8)` to an output `(2, 5, 3)` and weights `(2, 5, 7)`.
#
# <details><summary>Contract</summary>
#
# - The three layers have these names, and each has a bias; the state dict contains
#   nothing else.
# - There is no output projection, dropout or residual connection: these come in units 3
#   and 4.
# - `x` and `memory` may differ in length and in the length of their vectors.
# - The mask broadcasts to `(B, Lq, Lk)`, and applies in training and evaluation alike.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# There is one output per *attending* position. So which sequence provides the queries,
# and which one the keys and values? Queries and keys are compared, so they must have
# the same length. Are values compared with anything?
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
    """Attention of one sequence to a different one, its memory.

    Args:
        d_model: length of the vectors of the attending sequence.
        d_memory: length of the vectors of the memory.
        d_k: length of queries and keys.
        d_v: length of values, and of the output vectors.

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
        self,
        x: Float[Tensor, "B Lq d_model"],
        memory: Float[Tensor, "B Lk d_memory"],
        mask: Bool[Tensor, "Lq Lk"] | Bool[Tensor, "B Lq Lk"] | None = None,
    ) -> tuple[Float[Tensor, "B Lq d_v"], Float[Tensor, "B Lq Lk"]]:
        """Attend from x to the memory.

        Args:
            mask: True = may attend; any shape that broadcasts to the weights will do.

        Returns:
            The output and the weights.
        """
        ### BEGIN SOLUTION
        q = self.w_q(x)  # (B, Lq, d_k)
        k, v = self.w_k(memory), self.w_v(memory)  # (B, Lk, d_k), (B, Lk, d_v)
        return scaled_dot_product_attention(q, k, v, mask)
        ### END SOLUTION


# %% check="attention/cross_attention" points=20
# Both results for two lengths and two sizes, and who sees whom.
check("attention/cross_attention", CrossAttention)

# %% [markdown]
# **Self-attention** takes queries, keys and values from the same sequence: it is
# cross-attention with `x` as its own memory, so a sentence searches itself.

# %%
drawing(
    "self_attention",
    "2.10",
    "In self-attention, queries, keys and values are all computed from one sequence.",
)


# %%
class SelfAttention(CrossAttention):
    """Attention of a sequence to itself, with learnt queries, keys and values.

    Args:
        d_model: length of the input vectors.
        d_k: length of queries and keys.
        d_v: length of values, and of the output vectors.
    """

    def __init__(self, d_model: int, d_k: int, d_v: int):
        super().__init__(d_model, d_model, d_k, d_v)

    def forward(
        self,
        x: Float[Tensor, "B L d_model"],
        mask: Bool[Tensor, "L L"] | Bool[Tensor, "B L L"] | None = None,
    ) -> tuple[Float[Tensor, "B L d_v"], Float[Tensor, "B L L"]]:
        """Attend from each position of x to all positions of x.

        Args:
            mask: True = may attend; any shape that broadcasts to the weights will do.

        Returns:
            The output and the weights.
        """
        return super().forward(x, x, mask)


# %% [markdown]
# ### A phone book that is always new
#
# The table in section 1 claimed that attention can be learnt because it has a gradient,
# and this experiment puts the claim to the test. The memory is a phone book of six
# entries, each of which pairs a name with a digit; the queries are the same six names
# in a different order, and the correct answer to each is its digit. Since every batch
# brings new random phone books, memorising one is useless, and the only way to reduce
# the loss is to *look things up*. The network is your `CrossAttention` and nothing
# else: names and digits enter as one-hot vectors, and a query's ten outputs are the
# logits of the ten digits.
#
# For comparison, we train a second layer whose `w_q` is fixed at zero: all its scores
# are equal, so it sees only the average of all entries, whichever name is asked for.
#
# **Predict first.** Guessing would be correct one time in ten; how often is each of the
# two layers correct after 300 steps?

# %%
my_guess = "yours: ?, with uniform weights: ?"


@demo
def look_it_up():
    torch.manual_seed(0)
    layer, uniform = (CrossAttention(**recall.SIZES, d_k=16) for _ in range(2))
    asked, book, _ = recall.draw(1, torch.Generator().manual_seed(7))
    maps = {"before training": layer(asked, book)[1][0]}
    print(f"before training:      {recall.accuracy(layer):.1%} correct")
    recall.train(layer, steps=300)
    recall.train(recall.without_queries(uniform), steps=300)
    maps["after 300 steps"] = layer(asked, book)[1][0]
    print(f"after training:       {recall.accuracy(layer):.1%}")
    print(f"with uniform weights: {recall.accuracy(uniform):.1%}")
    print(f"your guess:           {my_guess}")
    pictures.recall(maps, asked[0], book[0])


# %% [markdown]
# From each of the five random starts that we tried, the first layer learns to answer
# every question. Before training, a name attends to all entries nearly equally;
# afterwards it attends to its own, although nobody ever pointed that entry out. The
# loss alone was enough, because it always fell slightly when a little weight moved to
# the correct entry. No dictionary could have learnt that.
#
# The second layer sees which digits are in the book, but not which of them belongs to
# the name. The best it can do is to answer with the most frequent digit, which is
# correct about one time in three.
#
# ## 8. Bug clinic: test a layer without reading it
#
# The worst bugs in attention raise no error: the shapes are correct and the loss goes
# down, while somewhere a word sees its own future. You can find such a leak from the
# outside: **change one input, and watch which outputs move.** The checks in this course
# test your layers in the same way.
#
# How should you change the input? Adding 1 to every feature seems the obvious choice,
# but a layer that begins with a LayerNorm (unit 4) subtracts the mean of the features,
# and your 1 with it: nothing moves, and a leaky layer passes your test. Change each
# feature by a different amount instead, and keep in mind what the test can tell you:
# movement proves a link, but lack of movement proves nothing.
#
# ### Exercise 2.6 - Who sees whom
#
# *time ~15 min · difficulty 3/5 · 8 points*
#
# **Task.** For each input position `j`, copy `x`, change the features of position `j`
# by different amounts, run the layer, and record which output positions `i` move.
#
# **Example.** A running sum over two positions gives `[[True, False], [True, True]]`:
# output 0 depends on input 0 only.
#
# <details><summary>Contract</summary>
#
# - Every feature of position `j` changes, each by a different amount between 0.1 and 1.
# - An output moves if *any* of its features changes by more than `1e-6`.
# - The layer may have any number of output features.
# - The matrix is boolean.
# - `x` is not modified, not even while the layer runs.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# One run of the layer tells you about one changed input. Is that a row or a column of
# the matrix that you return?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# x                          (L, d)
# the change                 (d,)         e.g. torch.linspace
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
#     changed = a copy of x, with a different amount added to each feature of row j
#     compare layer(changed) with before, position by position
#     write the answer into column j
# ```
#
# </details>


# %% exercise="attention/who_sees_whom"
def who_sees_whom(
    layer: Callable[[Tensor], Tensor], x: Float[Tensor, "L d"]
) -> Bool[Tensor, "L L"]:
    """Which outputs move when an input is changed.

    Args:
        layer: a function from `(L, d)` to `(L, d_out)`.
        x: an input of the layer.

    Returns:
        A matrix; entry [i, j]: does output i move when input j changes?
    """
    ### BEGIN SOLUTION
    before, push = layer(x), torch.linspace(0.5, 1, x.size(-1))  # (L, d_out), (d,)
    columns = []
    for j in range(len(x)):
        changed = x.clone()
        changed[j] += push
        columns.append(((layer(changed) - before).abs() > 1e-6).any(dim=-1))  # (L,)
    return torch.stack(columns, dim=1)  # (L, L)
    ### END SOLUTION


# %% check="attention/who_sees_whom" points=8
# Runs your test on layers that we know from inside.
check("attention/who_sees_whom", who_sees_whom)

# %% [markdown]
# Here are three patients, each of which claims to be causal: output `i` should depend
# on inputs `0 ... i` only. All return outputs of the correct shape, and all of them can
# be trained. Read the three functions first, and then let your test judge them.

# %%
torch.manual_seed(6)
SIZE = 5
TO_Q, TO_K, TO_V = (torch.randn(SIZE, SIZE) / SIZE**0.5 for _ in range(3))
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
    """Attention, in training or in evaluation."""
    mask = CAUSAL if training else None
    q, k, v = x @ TO_Q, x @ TO_K, x @ TO_V
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def patient_b(x: Tensor) -> Tensor:
    """Attention, with the same mask in training and in evaluation."""
    q, k, v = x @ TO_Q, x @ TO_K, x @ TO_V
    return F.scaled_dot_product_attention(q, k, v, attn_mask=CAUSAL.T)


def weights_of_c(x: Tensor) -> Tensor:
    """The attention weights, with the mask applied before the softmax."""
    scores = (x @ TO_Q) @ (x @ TO_K).T / SIZE**0.5
    return scores.masked_fill(CAUSAL.logical_not(), -math.inf).softmax(dim=-2)


def patient_c(x: Tensor) -> Tensor:
    """Attention that was written without PyTorch's function."""
    return weights_of_c(x) @ (x @ TO_V)


# %%
@demo
def bug_clinic():
    x = torch.randn(SIZE, SIZE)
    seen = {"healthy": CAUSAL}
    for patient in (patient_a, patient_b, patient_c):
        seen[patient.__name__] = who_sees_whom(patient, x)
    pictures.clinic(seen)
    print("row sums of patient c's weights:", weights_of_c(x).sum(-1))


# %% [markdown]
# All three leak. Patient a uses its mask in training only, so it sees everything in
# evaluation. Patient b, whose mask has keys as rows and queries as columns, lets each
# position see *only* the future (and itself). Patient c is the sly one: all its weights
# above the diagonal are exactly zero, so the pattern of zeros reveals nothing. But its
# softmax runs over the *queries*, so later queries enter the denominator, and through
# it the future leaks into the past. Your test sees that at once, and the row sums,
# which should be 1, give it away as well.
#
# ## 9. What does a layer know about order?
#
# In unit 1 we asked which mixers can see order, and shuffled a sentence to find out.
# Now we can be more precise. For a permutation $P$ of the positions, a layer $f$ is
#
# - **equivariant** if shuffling the input shuffles the output in the same way:
#   $f(Px) = P f(x)$;
# - **invariant** if shuffling the input changes nothing at all: $f(Px) = f(x)$.
#
# The identity is equivariant, and the maximum over all positions is invariant.
#
# **Predict first.** Here are five layers, each a function of one sequence `x`. Which of
# them are equivariant, which are invariant, and which are neither?
#
# | name | the layer |
# |---|---|
# | `bare` | self-attention of `x` |
# | `positions` | self-attention of `x + positions`, with a fixed table of positions |
# | `causal` | self-attention of `x` with a causal mask |
# | `asking` | cross-attention: `x` asks, the memory is fixed |
# | `asked` | cross-attention: `x` is the memory, the queries are fixed |

# %%
# Replace each "?" by "equivariant", "invariant" or "neither".
PREDICTED = {"bare": "?", "positions": "?", "causal": "?", "asking": "?", "asked": "?"}

# %% [markdown]
# For attention, reasoning is enough; for other layers, you may have to measure.
# `symmetry` runs a layer on `x` and on the shuffled `x`, and compares the two outputs.


# %%
def symmetry(
    layer: Callable[[Tensor], Tensor],
    x: Float[Tensor, "L d"],
    order: Int[Tensor, "L"],
) -> str:
    """How a layer responds to a permutation of the positions.

    Args:
        layer: a function from `(L, d)` to `(L, d_out)`.
        x: an input of the layer.
        order: a permutation of 0 ... L-1, int64.

    Returns:
        "equivariant", "invariant" or "neither".
    """
    before, after = layer(x), layer(x[order])  # (L, d_out) each
    if torch.allclose(after, before[order], rtol=0, atol=1e-5):
        return "equivariant"
    invariant = torch.allclose(after, before, rtol=0, atol=1e-5)
    return "invariant" if invariant else "neither"


# %%
def five_layers(other: Float[Tensor, "L 6"]) -> dict[str, Callable[[Tensor], Tensor]]:
    """The five layers; `other` is the table, the memory or the queries."""
    own = SelfAttention(d_model=6, d_k=4, d_v=3).eval()
    cross = CrossAttention(d_model=6, d_memory=6, d_k=4, d_v=3).eval()
    return {
        "bare": lambda x: own(x)[0],
        "positions": lambda x: own(x + other)[0],
        "causal": lambda x: own(x, causal_mask(len(x)))[0],
        "asking": lambda x: cross(x, other)[0],
        "asked": lambda x: cross(other, x)[0],
    }


@demo
def predicted_and_measured():
    torch.manual_seed(7)
    x, other = torch.randn(2, 5, 6)
    for name, layer in five_layers(other).items():
        measured = symmetry(layer, x, torch.tensor([3, 0, 4, 1, 2]))
        print(f"{name:>9}: {measured:11s} (you predicted: {PREDICTED[name]})")


# %% [markdown]
# Bare self-attention treats a sentence as a *set*, and a query to a fixed memory is
# answered without regard to its neighbours, so `bare` and `asking` are equivariant. The
# memory is a set as well, so shuffling *it* changes nothing, and `asked` is invariant.
# Positions break the symmetry, which is what they are for. Curiously, a causal mask
# alone also breaks it, because the first word can attend only to itself and the last
# one to all words.
#
# Now follow the outputs of three words. In *dog bites man*, the dog and the man swap
# positions, and the figure shows which outputs this changes in each of three layers.


# %%
@demo
def dog_bites_man():
    torch.manual_seed(7)
    attention = SelfAttention(d_model=6, d_k=4, d_v=3).eval()
    x, positions = 3 * torch.randn(3, 6), 3 * torch.randn(3, 6)
    order = [2, 1, 0]
    layers = {
        "Bare self-attention": lambda x: attention(x)[0],
        "With positions": lambda x: attention(x + positions)[0],
        "With a causal mask": lambda x: attention(x, causal_mask(3))[0],
    }
    with torch.no_grad():
        outputs = {name: (run(x), run(x[order])) for name, run in layers.items()}
    pictures.shuffled(["dog", "bites", "man"], order, outputs)


# %% [markdown]
# In bare self-attention, no word's output changes: this layer cannot tell "dog bites
# man" from "man bites dog". With positions, all three words get different outputs. The
# same is true with a causal mask: even "bites", which stays where it is, now comes
# after "man" instead of "dog".
#
# ## 10. The maps of a real model
#
# Here is your formula at work in a published model, MiniLM (Wang et al. 2020), a
# BERT-like encoder that runs attention 12 times in parallel in each of its 6 layers and
# was fine-tuned to find sentences with the same meaning. Its attention weights for ten
# sentences come with the course, and in unit 4 you run the whole model with your own
# classes. Does "it" attend to the cat here as well, and does it turn to the tree when
# "scared" becomes "tall"?


# %%
@demo
def maps_of_a_real_model():
    layer, head = 5, 11  # counted from 0; try others, and others of the ten sentences
    story = "The cat didn't climb the tree because it was too "
    by_word = {last: maps_of(f"{story}{last}.") for last in ("scared", "tall")}
    pictures.it_in_a_real_model(by_word, layer, head)
    for last, maps in by_word.items():
        it = maps.weights[layer, head, maps.tokens.index("it")]
        cat, tree = (float(it[maps.tokens.index(word)]) for word in ("cat", "tree"))
        print(f'too {last}: "it" looks at "cat" {cat:.2f}, at "tree" {tree:.2f}')


# %% [markdown]
# "it" gives "cat" a weight of 0.62, and "tree" 0.17. With "tall", you read the sentence
# differently, but this head does not: 0.62 and 0.17 again. In a famous picture of a
# different model (Uszkoreit 2017), "it" in "The animal didn't cross the street because
# it was too tired" attends to "animal", but to "street" when "tired" becomes "wide". In
# the head shown here, its weight on "animal" goes from 0.67 to 0.56 and its weight on
# "street" from 0.02 to 0.04, so it leans without flipping. A beautiful picture shows
# only what *one* head of *one* model did with *one* sentence.
#
# Be careful with conclusions, because a large weight says where a layer *looked*, not
# why it decided as it did (Jain and Wallace 2019 and, in reply, Wiegreffe and Pinter
# 2019).
#
# ## 11. What attention buys
#
# Why did attention replace recurrence and convolution? The paper answers with a single
# table (Vaswani et al. 2017, table 1). For a sequence of length $n$ with vectors of
# length $d$, it lists what a layer costs, how many operations have to run one after the
# other, and how many steps a signal needs between the two most distant positions:
#
# | layer | complexity per layer | sequential operations | maximum path length |
# |---|---|---|---|
# | self-attention | $O(n^2 \cdot d)$ | $O(1)$ | $O(1)$ |
# | recurrent | $O(n \cdot d^2)$ | $O(n)$ | $O(n)$ |
# | convolution, width $k$, dilated | $O(k \cdot n \cdot d^2)$ | $O(1)$ | $O(\log_k n)$ |
# | self-attention to $r$ neighbours | $O(r \cdot n \cdot d)$ | $O(1)$ | $O(n / r)$ |
#
# The first column leaves out the linear layers of attention and all constant factors.
# If we count every multiplication, attention with its four projections (unit 3 adds the
# fourth) needs $4nd^2 + 2n^2d$. A plain RNN needs $2nd^2$, and its gated variants
# several times as many: $6nd^2$ for a GRU, $8nd^2$ for an LSTM.

# %%
d = 512
print("millions of multiplications per layer, d = 512")
print("      n   attention   plain RNN         GRU        LSTM")
for n in (50, 512, 1_024, 5_000, 100_000):
    products = (4 * n * d**2 + 2 * n**2 * d, *(c * n * d**2 for c in (2, 6, 8)))
    print(f"{n:7,d}" + "".join(f"{count / 1e6:12,.0f}" for count in products))

# %% [markdown]
# So at 50 words, attention costs twice as much as a plain RNN, but only about half as
# much as an LSTM, the layer that it replaced in translation. The quadratic term makes
# itself felt only in longer sequences:
#
# | compared with | multiplications | attention costs more |
# |---|---|---|
# | a plain RNN | $2nd^2$ | at every length |
# | a GRU | $6nd^2$ | beyond $n = d = 512$ |
# | an LSTM | $8nd^2$ | beyond $n = 2d = 1024$ |
# | a feed-forward network (unit 4), $d_\text{ff} = 4d$ | $8nd^2$ | beyond $n = 2d = 1024$ |
#
# At $n = 2d$, the quadratic term costs as much as the four projections. The other
# columns of the paper's table show what attention gains at every length: all positions
# are computed in parallel, and every word is one step away from every other. The
# quadratic term is the price of that path of length one. It hurts in contexts of
# 100,000 tokens, which is why unit 10 returns to the table's last row, attention that
# sees only a window.
#
# ## 12. Your attention in the machine
#
# In each of its 30 blocks, the chat model of unit 1 calls a function with the same
# arguments as your `scaled_dot_product_attention`, so yours can take its place
# unchanged. The next cell also runs three copies of your function, each with one part
# broken: the scores are not divided by $\sqrt{d_k}$, every key gets the same weight, or
# the causal mask is missing.
#
# **Predict first.** With which of the broken copies, if any, does the model still write
# English?
# %%
my_guess = "not divided: ?, same weights: ?, no mask: ?"


@demo
def the_chat_model_answers():
    def not_divided(q, k, v, mask):
        return scaled_dot_product_attention(q * math.sqrt(q.size(-1)), k, v, mask)

    def same_weights(q, k, v, mask):
        return scaled_dot_product_attention(0 * q, k, v, mask)

    def without_mask(q, k, v, mask):
        return scaled_dot_product_attention(q, k, v)

    embedded = chat.filled("01_positional_encoding")
    versions = {
        "your attention": scaled_dot_product_attention,
        "not divided": not_divided,
        "same weights": same_weights,
        "no causal mask": without_mask,
    }
    chat.ask(
        "What is the capital of France?",
        {
            name: embedded | {"scaled_dot_product_attention": attention}
            for name, attention in versions.items()
        },
    )
    print("your guess:", my_guess)


# %% [markdown]
# The answer, "The capital of France is Paris", was computed with your attention.
# Without the mask, the model still writes English ("The capital of France is France is
# France ..."), but every word of the prompt now also attends to later words, which
# never happened in training. Without the division, the scores are $\sqrt{64} = 8$ times
# too large, softmax gives nearly all the weight to one key, and out comes "Lion, the
# andreau toland, thegensre". With the same weight for every key, only an average of the
# words so far is left, and the model writes nothing but commas.
#
# ## What you built
#
# - one attention by hand, and a softmax that survives large scores;
# - padding and causal masks, and the correct way to combine them;
# - `scaled_dot_product_attention`, equal to PyTorch's own;
# - `CrossAttention`, which learns what to look for, even within a single sequence;
# - `who_sees_whom`, a test that judges any layer from the outside.
#
# **Next:** one map can hold only one kind of relation, so unit 3 runs several of them
# in parallel.
#
# ## Go further
#
# - Vaswani et al. 2017, *Attention Is All You Need*, sections 3.2.1, 3.2.3 and 4: the
#   source.
# - Bahdanau, Cho and Bengio 2015, *Neural Machine Translation by Jointly Learning to
#   Align and Translate*: attention before the Transformer, with a small network in
#   place of the dot product.
# - Milakov and Gimelshein 2018, *Online normalizer calculation for softmax*: the sum
#   that is corrected tile by tile. It is the seed of FlashAttention (Dao et al. 2022).
# - Zaheer et al. 2017, *Deep Sets*: what a layer that treats its input as a set must
#   look like.
# - Try it: train the layer on phone books with 12 entries (`recall.PAIRS = 12`), or
#   without the division by $\sqrt{d_k}$ and with `d_k = 256`. What do you expect?

# %% [markdown]
# ## Where you stand
#
# Your points so far, and what to do next. Run the cell again whenever you have solved
# something.

# %%
check.summary()
