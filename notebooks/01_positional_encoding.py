# %% [markdown]
# # 1 · Positional encoding
#
# *Dog bites man* and *man bites dog* contain the same words, and only their order tells
# you who should see a doctor. A Transformer looks at all words at once and, left to
# itself, is blind to their order. In this notebook you find out why, and you build the
# part that restores the order, the positional encoding.
#
# *About 3 hours · short path about 1½: exercises 1.1, 1.2, 1.3, 1.4*
#
# *8 exercises and one written question · 100 points.* The short path covers the
# essentials: for now, just read the other sections, and come back to their exercises
# later.

# %% folded=true
# @title The whole machine
from autograder import drawing

drawing(
    "machine_embed",
    "",
    "The blue part of the chat model is what you build today; the number beside a part "
    "is the unit in which you build it.",
)

# %% [markdown]
# **Questions of this unit**
#
# - How does a token id become a vector, and what must not happen to padding?
# - How do you test whether a function can see order?
# - What does the paper's table of positions contain, and how do you compute the table
#   without loops?
# - Why is that table neither a parameter nor a plain attribute?
# - What does moving along the sentence do to an encoding?
# - How do you test a table that looks right?
#
# **You need** Python and a little PyTorch (indexing, broadcasting, `nn.Module`).
#
# <details><summary>How exercises, checks and demonstrations work</summary>
#
# Each exercise has a stub. Replace the line that raises `NotImplementedError`, then run
# the check below it, which tells you at once what is correct and often names your
# mistake. Run it as often as you like. Below each task you can unfold its *contract*,
# the details that the check also tests, and three hints that lead from a question to
# pseudocode. Hints cost nothing. A function marked `@demo` runs at once; if it needs an
# exercise that you have not solved yet, it tells you which one.
#
# Where the text says **Predict first**, replace the question marks in `my_guess` before
# you run the cell.
#
# </details>
#
# <details><summary>Conventions, here and in all later units</summary>
#
# | symbol | meaning |
# |---|---|
# | `B`, `L` | sentences in a batch, positions in a sentence (batch first, always) |
# | `d_model` | length of the vector of one token |
# | `(B, L, d_model)` | the shape of a batch of embedded sentences |
# | `pos` | a position; the first token has `pos = 0` |
# | ids | `PAD = 0`, `BOS = 1`, `EOS = 2`, `UNK = 3`; real words start at 4 |
# | arguments | are never modified in place, unless a task asks for it |
# | floats | may have any dtype and be views of other tensors; results keep the dtype |
# | gradients | flow back through what you compute, unless the text says otherwise |
#
# </details>
#
# The paper, which we cite by section, is Vaswani et al., *Attention is all you need*,
# 2017 ([arXiv:1706.03762](https://arxiv.org/abs/1706.03762)).

# %%
import math
import time
from collections.abc import Callable

import torch
from jaxtyping import Float, Int, Real
from torch import Tensor, nn

from autograder import check, demo
from transformer_course.library import chat
from transformer_course.positional_encoding.library import pictures

# %% [markdown]
# ## The whole machine
#
# Before you build any part of a Transformer, watch a whole one at work. The next cell
# puts a question, which you may change, to SmolLM2-135M-Instruct ([Allal et al.
# 2025](https://arxiv.org/abs/2502.02737)), a small published chat model. If the model
# is not installed, you see an answer that we recorded.


# %%
@demo
def the_whole_machine():
    chat.ask("What is the capital of France?", {"SmolLM2": {}})


# %% [markdown]
# A handful of functions did most of the work between question and answer, and in this
# course you write them one by one. Your `embed` turns the ids of tokens (unit 6) into
# vectors. Attention (unit 2), split into several heads (unit 3), moves information
# between them; residual connections (unit 4) hold each of the 30 blocks together; and a
# loop (unit 5) generates one token at a time. Units 1 to 6 each end with your functions
# running inside this very model.
#
# ## 1. From ids to vectors
#
# A network computes with vectors, but text reaches it as ids. An **embedding table**
# maps ids to vectors: it has one row for each token of the vocabulary, and to embed a
# token is to look up its row. PyTorch keeps such a table in the layer `nn.Embedding`.

# %%
torch.manual_seed(0)
words = nn.Embedding(num_embeddings=6, embedding_dim=4, padding_idx=0)
sentences = torch.tensor([[4, 5, 4], [5, 0, 0]])  # (B, L) = (2, 3), 0 is padding
print("table", tuple(words.weight.shape), " ids", tuple(sentences.shape))
print("vectors", tuple(words(sentences).shape))
print(words(sentences).detach().round(decimals=2))

# %% [markdown]
# Token 4 occurs at positions 0 and 2 of the first sentence, and its two vectors are
# identical. Remember that, because it is the problem that this whole notebook solves.
#
# Since sentences in a batch differ in length, the shorter ones are filled out with a
# **padding** token. It means nothing, so its vector should be zero, and training should
# never change it. Setting `padding_idx` ensures both: the layer sets the padding row to
# zero when it is created, and lets no gradient reach it. Even so, the vector does not
# *stay* zero, because section 6 adds a position to it, as it does to every vector; what
# really excludes padding is the mask of unit 2.
#
# ### Exercise 1.1 - Embedding lookup with padding
# *time ~10 min · difficulty 1/5 · 8 points*
#
# **Task.** Look up the vectors of `ids` in `table`, but return zeros wherever `ids`
# equals `padding_idx`.
#
# **Example.** For the table `[[9, 9], [1, 2], [3, 4]]`, `ids = [[2, 0]]` gives `[[[3,
# 4], [0, 0]]]` with `padding_idx=0`.
#
# <details><summary>What the annotations in a stub mean</summary>
#
# `Float[Tensor, "B L"]` is a floating-point tensor with two dimensions, named `B` and
# `L`, and `Int[Tensor, "B L"]` is an integer tensor of the same shape. These
# annotations are not checked when the code runs.
#
# </details>
#
# <details><summary>Contract</summary>
#
# - `nn.functional.embedding` is allowed.
# - Padding gives zeros whatever its row holds, even NaN, and that row receives no
#   gradient.
# - All other rows receive gradients as usual.
# - With `padding_idx=None`, token 0 is a token like any other.
# - `ids` and `table` are not modified.
# - The result has the dtype of `table`.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# `table[7]` is one row. What does PyTorch return when you index a table with a whole
# tensor of row indices?
#
# </details>
# <details><summary>Hint 2: shapes</summary>
#
# `ids` is `(B, L)`, and the vectors are `(B, L, d_model)`. A boolean mask `(B, L)` says
# where the padding is. The mask needs a third dimension of size 1 before it can
# broadcast over `d_model`.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# vectors <- the rows of the table that ids select
# if there is a padding token (remember that 0 may be one):
#     wherever ids equals it, replace the vector by zeros, in a new tensor
# return vectors
# ```
#
# </details>


# %% exercise="positional_encoding/embed"
def embed(
    ids: Int[Tensor, "B L"],
    table: Float[Tensor, "vocab_size d_model"],
    padding_idx: int | None = None,
) -> Float[Tensor, "B L d_model"]:
    """Look up the vectors of tokens in a table.

    Args:
        ids: row indices of the table, int64.
        table: a vector for each token; not modified.
        padding_idx: the token whose vector is zero, whatever its row holds; no gradient
            may reach that row. None means that there is no such token.

    Returns:
        The vectors, with the dtype of the table.
    """
    ### BEGIN SOLUTION
    vectors = table[ids]  # (B, L, d_model)
    if padding_idx is None:
        return vectors
    is_padding = (ids == padding_idx).unsqueeze(-1)  # (B, L, 1)
    return vectors.masked_fill(is_padding, 0.0)
    ### END SOLUTION


# %% check="positional_encoding/embed" points=8
# Vectors, gradients of the table, and padding tokens other than 0.
check("positional_encoding/embed", embed)

# %% [markdown]
# ## 2. Order is lost
#
# After the lookup, each vector knows its word but not its position. The next layers
# **mix** the vectors of a sentence, so that each takes in information from the others.
# We call any function from `(B, L, d_model)` to `(B, L, d_model)` a mixer.
#
# How can we tell whether a mixer ignores order? There are two routes: shuffle the
# sentence and then mix it, or mix it first and then shuffle the result in the same way.
# If both routes always end in the same place, shuffling the words merely shuffles the
# outputs, and each word gets the vector that it would have got anywhere else in the
# sentence. Such a mixer cannot tell *dog bites man* from *man bites dog*.
#
# The largest difference between the two results turns the claim "this network cannot
# see order" into a number. Such a comparison is a *property test*: it needs no expected
# values, only two computations that must agree if the property holds. A gap on a single
# example refutes the claim, whereas a zero on one example only supports it.
#
# ### Exercise 1.2 - The shuffle gap
# *time ~10 min · difficulty 2/5 · 12 points*
#
# **Task.** Shuffle the positions of `x` and then mix; separately, mix `x` and then
# shuffle the result. Return the largest absolute difference between corresponding
# entries of the two.
#
# **Example.** Take `1, 2, 4`, the order `[2, 0, 1]`, and a mixer that multiplies each
# entry by its position, counted from 0. Shuffling before mixing gives `0, 1, 4`,
# whereas shuffling afterwards gives `8, 0, 2`, so the largest difference is 8.
#
# <details><summary>Contract</summary>
#
# - Position `n` of a shuffled sentence holds the vector that was at `order[n]`.
# - All sentences of the batch are shuffled in the same way.
# - The result is one tensor of shape `()`, or a plain number, for the whole batch.
# - `x` is not modified.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Which of the three dimensions of `x` has one entry for each position?
#
# </details>
# <details><summary>Hint 2: shapes</summary>
#
# Both computations end in a tensor `(B, L, d_model)`, and so does their difference. The
# result has shape `()`, because the maximum is taken over all entries.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# one way     <- take the positions of x in the new order, then mix
# other way   <- mix x, then take the positions of that result in the new order
# return the largest absolute value of their difference
# ```
#
# </details>


# %% exercise="positional_encoding/shuffle_gap"
def shuffle_gap(
    mix: Callable[[Tensor], Tensor],
    x: Float[Tensor, "B L d_model"],
    order: Int[Tensor, "L"],
) -> Float[Tensor, ""] | float:
    """The gap between "shuffle, then mix" and "mix, then shuffle".

    Args:
        mix: a function from (B, L, d_model) to (B, L, d_model).
        x: a batch of sentences; not modified.
        order: a permutation, int64: position n of the shuffled sentence gets the vector
            from position order[n], in every sentence of the batch.

    Returns:
        The largest absolute difference between the two, over all entries.
    """
    ### BEGIN SOLUTION
    shuffled_before = mix(x[:, order])  # (B, L, d_model)
    shuffled_after = mix(x)[:, order]  # (B, L, d_model)
    return (shuffled_before - shuffled_after).abs().max()  # ()
    ### END SOLUTION


# %% check="positional_encoding/shuffle_gap" points=12
# Mixers that can see order and mixers that cannot.
check("positional_encoding/shuffle_gap", shuffle_gap)

# %% [markdown]
# **Predict first.** Which of these four mixers can see order?
#
# - *average*: every position gets the average of the sentence.
# - *similarity*: every position gets a weighted average, with more weight on vectors
#   like its own.
# - *running sum*: every position gets the sum of all vectors up to and including its
#   own, as in a recurrent network.
# - *neighbour*: every position gets its own vector minus its left neighbour's, as in a
#   convolution. (`roll` wraps around: the first position's neighbour is the last.)

# %%
MIXERS = {
    "average": lambda x: x.mean(1, keepdim=True).expand_as(x),
    "similarity": lambda x: (x @ x.mT).softmax(-1) @ x,
    "running sum": lambda x: x.cumsum(1),
    "neighbour": lambda x: x - x.roll(1, dims=1),
}

my_guess = "average ?, similarity ?, running sum ?, neighbour ?"  # yours


@demo
def gaps_of_four_mixers():
    torch.manual_seed(1)
    x, order = torch.randn(2, 6, 4), torch.randperm(6)
    gaps = {name: float(shuffle_gap(mix, x, order)) for name, mix in MIXERS.items()}
    pictures.gaps(gaps)
    print("your guess:", my_guess)


# %% [markdown]
# The running sum and the neighbour see order, while the average and the similarity do
# not; their tiny gaps are rounding errors. The attention of unit 2 is a weighted
# average as well, and since its weights depend only on what the vectors contain, never
# on where they are, it is blind in the same way.
#
# Recurrent and convolutional networks see order by construction, but a signal needs
# many steps or layers to travel from the first word to the last. In a Transformer any
# two positions are one step apart (paper, section 4, table 1), and the price is that
# each vector has to be *told* its position (section 3.5).

# %% [markdown]
# ## 3. A clock for positions
#
# We want one vector for each position, to be added to the token's vector, but what
# should it contain?
#
# - The number `pos` itself grows without bound and soon drowns out the words.
# - If `pos` is divided by the length, one step has a different size in every sentence.
# - The binary digits of `pos` come close: every position is different, and all entries
#   stay small. The last digit flips at every step, the one before it at every second
#   step, and so on, like a row of clocks from fast to slow. But digits jump.
#
# The paper uses clocks whose hands move smoothly: each **pair** of columns is one hand,
# given by the sine and the cosine of its angle:
#
# $$PE_{(pos,\,2i)} = \sin\left(\frac{pos}{10000^{2i/d_\text{model}}}\right)
# \qquad
# PE_{(pos,\,2i+1)} = \cos\left(\frac{pos}{10000^{2i/d_\text{model}}}\right)$$
#
# Here $i = 0, 1, \dots, d_\text{model}/2 - 1$ counts the pairs. Read the two formulas
# aloud, and you will notice that both columns of a pair have the *same* **frequency**,
# $10000^{-2i/d_\text{model}}$. The first pair rotates by 1 radian per position, so its
# wavelength is $2\pi$, whereas the last pair, with `d_model = 512`, needs more than
# 60,000 positions for one full turn.
#
# Begin with a version that is clear rather than fast, because in the next section you
# will use it to test a fast one.
#
# ### Exercise 1.3 - The sinusoid table, by loops
# *time ~15 min · difficulty 2/5 · 8 points*
#
# **Task.** Fill the table as you would by hand, with one sine and one cosine for every
# position and every pair.
#
# **Example.** Row 1 of `table_by_loops(4, 6)` is `0.8415, 0.5403, 0.0464, 0.9989,
# 0.0022, 1.0000`.
#
# <details><summary>Contract</summary>
#
# - Row `n` encodes position `n`; positions start at 0.
# - Even columns hold sines, odd columns cosines.
# - The dtype is float32.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# For `d_model = 6`, what is the value of $i$ in column 4? And in column 5?
#
# </details>
# <details><summary>Hint 2: a trace</summary>
#
# For `d_model = 6` there are three pairs. Their columns are `0, 1`, then `2, 3`, then
# `4, 5`. The exponents are `0`, `2/6` and `4/6`, each used twice, and the table has
# shape `(max_len, 6)`.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# start with a table of zeros
# for each position:
#     for each pair i:
#         angle <- position over 10000 to the power of the pair's exponent
#         the even column of the pair <- sine of the angle
#         the odd column of the pair  <- cosine of the same angle
# ```
#
# </details>


# %% exercise="positional_encoding/table_by_loops"
def table_by_loops(max_len: int, d_model: int) -> Float[Tensor, "max_len d_model"]:
    """The sinusoid table of the paper (section 3.5), entry by entry.

    Args:
        max_len: the number of positions, which are 0, 1, ..., max_len - 1.
        d_model: the number of columns, which is even.

    Returns:
        float32: sines in even columns, cosines in odd ones.
    """
    ### BEGIN SOLUTION
    table = torch.zeros(max_len, d_model)
    for pos in range(max_len):
        for i in range(d_model // 2):
            angle = pos / 10000 ** (2 * i / d_model)
            table[pos, 2 * i] = math.sin(angle)
            table[pos, 2 * i + 1] = math.cos(angle)
    return table
    ### END SOLUTION


# %% check="positional_encoding/table_by_loops" points=8
# Tables of different sizes.
check("positional_encoding/table_by_loops", table_by_loops)

# %% [markdown]
# Row 0 is `0, 1, 0, 1, ...`, because every angle is zero there and all hands point up.


# %%
@demo
def the_first_rows():
    print(table_by_loops(4, 6).numpy().round(4))


# %% [markdown]
# ## 4. The table, at once
#
# Two nested Python loops cost a few microseconds for *every entry*, and a table of
# 5,000 positions with 512 components each has more than 2.5 million entries.
# Broadcasting, on which every later unit relies, does the same work in a moment. Since
# the formula also works for fractional and negative positions, we can allow them at no
# extra cost, in a tensor of any shape; section 9 uses fractional ones.
#
# ### Exercise 1.4 - The sinusoid encoding, at once
# *time ~15 min · difficulty 3/5 · 14 points*
#
# **Task.** Encode a tensor of positions, which may have any shape, without looping over
# them; the result gains a last dimension of size `d_model`.
#
# **Example.** `sinusoid(torch.tensor([[0, 7, 2]]), 6)` has shape `(1, 3, 6)`, and its
# first row is `0, 1, 0, 1, 0, 1`.
#
# <details><summary>Contract</summary>
#
# - `positions` may have any shape, including `()`.
# - Positions may be fractional or negative.
# - The number of operations does not grow with the number of positions.
# - The result is float32, even for `int64` positions.
# - `positions` is not modified.
# - An odd `d_model` raises a `ValueError`.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Each position is paired with each frequency. Which shapes must the two tensors have
# for broadcasting to multiply every position by every frequency?
#
# </details>
# <details><summary>Hint 2: shapes</summary>
#
# Broadcasting `(..., 1)` with `(d_model/2,)` gives angles `(..., d_model/2)`. Sine and
# cosine have that shape too. They must be *interleaved*: stacked in a new last
# dimension, they form pairs `(..., d_model/2, 2)`, which a reshape turns into
# `(..., d_model)`. Alternatively, create an empty result and fill every second column
# with sines, then the rest with cosines.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# refuse an odd d_model with a ValueError
# exponents <- 0, 2, 4, ..., d_model - 2, over d_model
# angles    <- positions with one new last dimension, over 10000 to these powers
# pairs     <- sine and cosine of the angles, stacked in a new last dimension
# return the pairs with their last two dimensions merged
# ```
#
# </details>


# %% exercise="positional_encoding/sinusoid"
def sinusoid(
    positions: Real[Tensor, "*shape"], d_model: int
) -> Float[Tensor, "*shape d_model"]:
    """The sinusoid encoding of any positions (paper, section 3.5), without loops.

    Args:
        positions: in any shape, int64 or float32; possibly fractional or negative; not
            modified.
        d_model: the number of components that encode one position.

    Returns:
        float32: sines in even columns, cosines in odd ones.

    Raises:
        ValueError: d_model is odd.
    """
    ### BEGIN SOLUTION
    if d_model % 2:
        raise ValueError(f"d_model must be even, not {d_model}")
    exponents = torch.arange(0, d_model, 2) / d_model  # (d_model/2,)
    angles = positions.unsqueeze(-1) / 10000**exponents  # (..., d_model/2)
    pairs = torch.stack((angles.sin(), angles.cos()), dim=-1)  # (..., d_model/2, 2)
    return pairs.flatten(-2)  # (..., d_model)
    ### END SOLUTION


# %% check="positional_encoding/sinusoid" points=14
# Rows, batches, fractions and negative positions; odd sizes are rejected.
check("positional_encoding/sinusoid", sinusoid)

# %% [markdown]
# Two independent versions of one formula are valuable, because each is a test of the
# other. The next cell compares their results and their speed.


# %%
@demo
def race():
    start = time.perf_counter()
    slow = table_by_loops(500, 128)
    middle = time.perf_counter()
    fast = sinusoid(torch.arange(500), 128)
    end = time.perf_counter()
    print(f"largest difference  {float((slow - fast).abs().max()):.1e}")
    print(f"loops               {1000 * (middle - start):8.2f} ms")
    print(f"at once             {1000 * (end - middle):8.2f} ms")


# %% [markdown]
# The second version is faster, because PyTorch needed only a handful of operations
# where Python went through its inner loop 32,000 times; how much faster depends on your
# machine.
#
# The numerical difference is more interesting: the two tables differ by up to 0.00003,
# although rounding a sine to float32 changes it by at most 0.00000003. The reason is
# that the *angle* was rounded as well, and near 499 radians, neighbouring float32
# numbers are 0.00003 apart. At 5,000 positions the error grows to 0.0004, so compute
# the angles of very long tables in float64.
#
# ### Look at it
#
# The figure below plots four columns against position, and shows what a table of
# numbers hides: where each curve starts, how long its wave is, and which two belong
# together. It counts dimensions from 1, so dimension 1 is column 0.


# %%
@demo
def four_curves():
    table = sinusoid(torch.arange(16), 64)  # (16, 64)
    pictures.dimensions(table, numbers=(1, 2, 7, 16))


# %% [markdown]
# Dimensions 1 and 2 are a pair: a sine and a cosine of the same frequency, a quarter of
# a wave apart, which repeat after 6.3 positions. The other two are longer waves of the
# same kind. Dimension 7 repeats after 14.9 positions, while dimension 16 needs 47.1, so
# within these 16 positions it completes only about a third of a wave, falling from
# 1 to -0.42.
#
# The whole table comes next. Read it from left to right, from a hand that completes a
# turn every 6.3 positions to one that hardly moves over all 100.


# %%
@demo
def heat_map_of_the_table():
    pictures.whole_table(sinusoid(torch.arange(100), 64))


# %% [markdown]
# Attention compares vectors by their dot products, so it matters what the dot product
# of two encodings tells us. (For position 20 with itself, it is 32.)
#
# **Predict first.** Which of the positions 25, 42 and 45 has the largest dot product
# with position 20, and which the smallest?

# %%
my_guess = "largest ?, smallest ?"  # write yours here, then run the cell


@demo
def similarity_of_positions():
    table = sinusoid(torch.arange(64), 64)  # (64, 64)
    products = table @ table.T  # (64, 64)
    pictures.similarity(products, rows=(20, 40))
    for pos in (25, 42, 45):
        print(f"positions 20 and {pos}: {float(products[20, pos]):.1f}")
    print("your guess:", my_guess)


# %% [markdown]
# Position 25 comes first with 23.5, as one would expect of the nearest, but then comes
# 45 with 20.1, and 42 is last with 17.6, although it is closer than 45. Nearby
# positions are more alike than distant ones, but only on average, because a sum of
# cosines ripples. The two peaks in the figure have the same shape, because the dot
# product depends on nothing but the *distance*: one pair contributes $\sin a \sin b +
# \cos a \cos b = \cos(a - b)$. Section 7 builds on this property.
#
# This pure dependence on distance does not survive in a trained network, where
# positions are added to words and both are multiplied by learnt matrices. That is one
# reason why later models build the distance into the attention itself (see *Go
# further*).
#
# Do these encodings bring order back? To find out, take the *similarity* mixer, which
# cannot see order, add positions to its input, and measure again.


# %%
@demo
def order_is_back():
    torch.manual_seed(1)
    x, order = torch.randn(2, 6, 4), torch.randperm(6)
    positions = sinusoid(torch.arange(6), 4)  # (6, 4)
    mix = MIXERS["similarity"]
    print(f"gap without positions  {float(shuffle_gap(mix, x, order)):.4f}")
    with_positions = shuffle_gap(lambda x: mix(x + positions), x, order)
    print(f"gap with positions     {float(with_positions):.4f}")


# %% [markdown]
# They do: without positions the gap is zero up to rounding, and with them the same
# mixer sees order.

# %% [markdown]
# ## 5. The module
#
# A table is not yet a layer. In a network, it should be added to inputs
# `(B, L, d_model)` for any `L` up to the length of the table, and it should move to the
# GPU and change dtype together with the model, but it must *not* be trained. PyTorch
# offers three ways of keeping a tensor in a module:
#
# | kept as | trained | moves with `.to(...)` | for |
# |---|---|---|---|
# | `nn.Parameter` | yes | yes | weights |
# | a **buffer** (`register_buffer`) | no | yes | constants, statistics |
# | a plain attribute | no | **no** | a bug that waits for the first GPU |
#
# The last is a common bug, which goes unnoticed until the first `.to("cuda")`.
#
# A buffer is also *saved* with the weights, although a table that can be recomputed
# need not be: `register_buffer(name, tensor, persistent=False)` gives a buffer that
# moves with the model but is not part of its `state_dict()`.
#
# Our module is *given* its table and knows nothing about sines, so you can test the
# module and the table separately.
#
# ### Exercise 1.5 - PositionalEncoding
# *time ~15 min · difficulty 3/5 · 12 points*
#
# **Task.** Keep `table` as a buffer called `pe`. In `forward`, add its row `n` to
# position `n` of every sentence, and do nothing else.
#
# **Example.** With a table `(50, 8)`, the module maps `x` of shape `(3, 5, 8)` to `x +
# table[:5]`.
#
# <details><summary>Contract</summary>
#
# - `pe` is a buffer, not a parameter, and holds the given table; `persistent` may be
#   `True` or `False`.
# - There is no scaling and no dropout.
# - Sentences may be shorter than the table, and their length may differ from call to
#   call.
# - After `.to(...)`, the result has the module's dtype and device.
# - `x` is not modified.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Which rows of the table belong to a sentence of `L` vectors? And which dimension of
# `x` tells you `L`?
#
# </details>
# <details><summary>Hint 2: shapes</summary>
#
# `(B, L, d_model)` plus `(L, d_model)` broadcasts by itself: the rows are added to each
# sentence of the batch.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# in __init__: register the table as a buffer called "pe"
# in forward:  take as many rows of the buffer as x has positions
#              return a new tensor: x plus these rows
# ```
#
# </details>


# %% exercise="positional_encoding/module"
class PositionalEncoding(nn.Module):
    """Adds a fixed table of positions to a batch of sentences, and nothing else."""

    def __init__(self, table: Float[Tensor, "max_len d_model"]):
        """Keep ``table`` as a buffer called ``pe``.

        The buffer may also have the shape (1, max_len, d_model).
        """
        super().__init__()
        ### BEGIN SOLUTION
        self.register_buffer("pe", table)  # (max_len, d_model)
        ### END SOLUTION

    def forward(self, x: Float[Tensor, "B L d_model"]) -> Float[Tensor, "B L d_model"]:
        """Add row n of the table to position n of each sentence.

        Args:
            x: L <= max_len, with the module's dtype; not modified.

        Returns:
            The sums, with the dtype and on the device of the module.
        """
        ### BEGIN SOLUTION
        return x + self.pe[: x.size(1)]  # (B, L, d_model)
        ### END SOLUTION


# %% check="positional_encoding/module" points=12
# Short and full length, two calls, nothing to train, other dtypes and devices.
check("positional_encoding/module", PositionalEncoding)

# %% [markdown]
# The next cell shows, for both kinds of buffer, what is saved to the model's file and
# what moves with the model.


# %%
@demo
def saved_or_not():
    table = sinusoid(torch.arange(5), 4)
    for persistent in (True, False):
        module = nn.Module()
        module.register_buffer("pe", table, persistent=persistent)
        saved = list(module.state_dict())
        print(
            f"persistent={persistent!s:<6} saved: {saved!s:<8} "
            f"after .half(): {module.half().pe.dtype}"
        )


# %% [markdown]
# Both buffers follow the module to half precision, but only the persistent one is
# saved.

# %% [markdown]
# ## 6. The input layer
#
# The first layer of a Transformer looks up its tokens, scales their vectors, and adds
# positions. The paper multiplies the embeddings by $\sqrt{d_\text{model}}$ (section
# 3.4) and does not say why, but the lengths of the vectors give a hint. An encoding
# always has length $\sqrt{d_\text{model}/2}$, which is 16 for `d_model = 512`, since
# each of its $d_\text{model}/2$ pairs adds $\sin^2 + \cos^2 = 1$ to the squared length.
#
# The length of an embedding depends on how its table is initialised. If the same table
# also serves as the last layer of the network, as in the paper, its entries usually
# start with a standard deviation of about $1/\sqrt{d_\text{model}}$, whereas
# `nn.Embedding` by itself starts with a standard deviation of 1.
#
# **Predict first.** How long is the vector of a word for `d_model = 512`? Answer for
# both initialisations, with and without scaling.

# %%
my_guess = "small start: ?, scaled ?; default start: ?, scaled ?"  # yours


@demo
def lengths_of_words_and_positions():
    torch.manual_seed(0)
    d_model = 512
    small = torch.randn(1000, d_model) / math.sqrt(d_model)  # (1000, 512)
    default = nn.Embedding(1000, d_model).weight.detach()  # (1000, 512)
    vectors = {
        "position": sinusoid(torch.arange(1000), d_model),
        "small start": small,
        "small start · √d_model": small * d_model**0.5,
        "default start": default,
        "default start · √d_model": default * d_model**0.5,
    }
    lengths = {name: float(v.norm(dim=-1).mean()) for name, v in vectors.items()}
    pictures.lengths(lengths)
    print("your guess:", my_guess)


# %% [markdown]
# With small initial values and no scaling, the word is a whisper beside its position: 1
# against 16. With scaling, both are heard, at 22.6 against 16, and this is the
# combination that the authors' [own code](https://github.com/tensorflow/tensor2tensor)
# uses.
#
# With PyTorch's default initialisation, a word has length 22.6 even before scaling.
# Scaled, it reaches 512, and although nothing crashes, the *position* is now the
# whisper, at 16 against 512. So if you scale, start small: multiply the entries of a
# new embedding by $1/\sqrt{d_\text{model}}$ once, before training. Section 8 shows the
# line that does so.
#
# ### Exercise 1.6 - The input layer
# *time ~15 min · difficulty 2/5 · 12 points*
#
# **Task.** Look up the ids, multiply by `sqrt(d_model)`, let the module `positions` add
# positions, and apply dropout to the sum (paper, section 5.4).
#
# **Example.** `InputLayer(9, 8, PositionalEncoding(table))` maps ids `(3, 5)` to
# vectors `(3, 5, 8)`.
#
# <details><summary>Contract</summary>
#
# - The factor `sqrt(d_model)` scales the embeddings, but not the positions.
# - Dropout acts on the sum of embedding and position, in training mode only.
# - `embedding` is an `nn.Embedding`; the row of `padding_idx` starts at zero and stays
#   zero.
# - Its other rows may start with any values.
# - Padding receives its position like any other token.
# - `positions` is the module that was passed, not a copy.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# There are three steps, followed by dropout. Which of them should be affected by the
# factor $\sqrt{d_\text{model}}$, and which should not?
#
# </details>
# <details><summary>Hint 2: shapes</summary>
#
# `ids (B, L)` -> embedding `(B, L, d_model)` -> scaled `(B, L, d_model)` -> positions
# `(B, L, d_model)` -> dropout `(B, L, d_model)`.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# in __init__: an embedding layer that knows its padding token, called embedding
#              keep the module that adds positions, as positions
#              a dropout layer with the given probability
# in forward:  look up, multiply by the square root of d_model,
#              pass the result to the module that adds positions,
#              and pass that result to dropout
# ```
#
# </details>


# %% exercise="positional_encoding/input_layer"
class InputLayer(nn.Module):
    """The input of a Transformer: scaled embeddings plus positions, then dropout.

    Its own parameter is ``embedding.weight``, (vocab_size, d_model). The module that
    adds positions is kept as ``positions``; if it has parameters, as learned positions
    do, they are trained as well, and their names start with ``positions.``.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        positions: nn.Module,
        dropout: float = 0.1,
        padding_idx: int = 0,
    ):
        """Create an ``nn.Embedding`` called ``embedding``; keep ``positions``.

        Args:
            vocab_size: the number of tokens.
            d_model: the number of components of a vector.
            positions: maps x, (B, L, d_model), to x plus positions.
            dropout: the probability of zeroing an entry in training mode.
            padding_idx: the token whose vector starts as zero and is not trained.
        """
        super().__init__()
        ### BEGIN SOLUTION
        self.embedding = nn.Embedding(vocab_size, d_model, padding_idx=padding_idx)
        self.positions = positions
        self.dropout = nn.Dropout(dropout)
        self.scale = math.sqrt(d_model)
        ### END SOLUTION

    def forward(self, ids: Int[Tensor, "B L"]) -> Float[Tensor, "B L d_model"]:
        """From int64 ids to vectors."""
        ### BEGIN SOLUTION
        x = self.embedding(ids) * self.scale  # (B, L, d_model)
        return self.dropout(self.positions(x))  # (B, L, d_model)
        ### END SOLUTION


# %% check="positional_encoding/input_layer" points=12
# Values, the gradient of the embedding table, and dropout in training mode only.
check("positional_encoding/input_layer", InputLayer)

# %% [markdown]
# ### Another view: two one-hot vectors
#
# Papers often write an embedding as the *product* of the table and a *one-hot* vector,
# which is 1 at the token's index and 0 elsewhere. Positions can be written in the same
# way, which makes the input of a Transformer the sum of two matrix products, $E^\top
# e_\text{token} + P^\top e_\text{pos}$ (apart from the scaling).


# %%
@demo
def one_hot_view():
    torch.manual_seed(0)
    vocab_size, d_model, length = 9, 6, 5
    E, P = torch.randn(vocab_size, d_model), sinusoid(torch.arange(length), d_model)
    ids = torch.tensor([4, 7, 4, 5, 8])  # (L,)
    tokens = nn.functional.one_hot(ids, vocab_size).float().T  # (vocab_size, L)
    positions = nn.functional.one_hot(torch.arange(length), length).float().T  # (L, L)
    product = E.T @ tokens + P.T @ positions  # (d_model, L): one column per position
    lookup = E[ids] + P  # (L, d_model): one row per position
    print(f"largest difference: {float((product.T - lookup).abs().max()):.1e}")


# %% [markdown]
# With a vocabulary of 30,000 and `d_model = 512`, the product takes 15 million
# multiplications for one token, all but 512 of them by zero, while the lookup takes
# none. But the product shows that an embedding is a linear layer without bias. It can
# therefore be trained like one, and unit 4 can use the same table again as the last
# layer.
#
# *Written question (4 points).* A friend says: "Adding the position to the embedding
# leaves one sum, from which nobody can recover the parts, so I concatenate them, `(B,
# L, 2 * d_model)`." Answer in three to five sentences: when can a model tell the parts
# apart, what would concatenating cost, and what does the next linear layer compute in
# either case?
#
# *Points: that the parts can be told apart if they use different directions,
# which training can arrange (2), what concatenating costs (1), and that a linear layer
# computes a sum of two products either way (1).*

# %% [markdown] written="positional_encoding/sum_or_pair" points=4
# *Your answer here*
#
# ### BEGIN SOLUTION
# In many dimensions, the parts of a sum can be told apart if they use different
# directions. The sinusoids vary mostly in the first columns, and training can move the
# words into directions in which the positions hardly vary. Concatenating doubles the
# width of everything that comes after, and so takes about four times the parameters in
# each layer. (With half the width for each part nothing grows, but both have less
# room.) A linear layer turns the sum into W (e + p) = W e + W p, and the concatenation
# into W1 e + W2 p. The form is the same, except that in the sum both parts must share
# one W. So concatenation can do everything that the sum can, and more, at a price. When
# attention then compares two sums, it computes four terms: word with word, word with
# position, position with word, and position with position.
# ### END SOLUTION

# %% [markdown]
# ## 7. A step is a rotation
#
# Why both sine *and* cosine, if sines alone would be enough to tell positions apart?
# The paper gives the reason in one sentence of section 3.5: for any fixed $k$, the
# encoding of $pos + k$ is a *linear function* of the encoding of $pos$.
#
# The clock shows why: wherever pair $i$ starts, it turns through the angle
# $k\,\omega_i$ in $k$ steps, where $\omega_i = 10000^{-2i/d_\text{model}}$ is its
# frequency, and a rotation is a matrix:
#
# $$PE_{pos+k} = M_k\, PE_{pos} \quad\text{for every } pos, \qquad
# M_k = \begin{pmatrix} R_0 & & \\ & R_1 & \\ & & \ddots \end{pmatrix}$$
#
# $M_k$ has one small $2 \times 2$ rotation for each pair of columns, and zeros
# elsewhere. Since it does not depend on $pos$, one matrix, learnt once, can say "three
# words to the left" anywhere in a sentence. Rotary position embeddings (RoPE), used by
# models such as Llama and SmolLM2, build on the same matrix.
#
# Take paper and pencil first: write $\sin(a + b)$ and $\cos(a + b)$ in terms of $\sin
# a$, $\cos a$, $\sin b$ and $\cos b$, and read off the four entries of $R_i$. Be
# careful, because our pairs are (sine, cosine), in this order, while the rotation in
# your textbook is for (cosine, sine).
#
# ### Exercise 1.7 - The shift matrix
# *time ~20 min · difficulty 4/5 · 16 points*
#
# **Task.** Return $M_k$, the matrix that maps the encoding of any position to the
# encoding of the position `k` steps later.
#
# **Example.** `shift_matrix(1, 2)` is `[[0.54, 0.84], [-0.84, 0.54]]`, rounded.
#
# <details><summary>Contract</summary>
#
# - Pairs are (sine, cosine), in this order.
# - `k` may be zero or negative.
# - Each call returns a new matrix.
# - The dtype is float32.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# A pair holds $\sin a$ above $\cos a$. By which two factors must they be multiplied for
# the products to add up to $\sin(a + b)$? What is the angle $b$ for pair $i$?
#
# </details>
# <details><summary>Hint 2: shapes</summary>
#
# For `d_model = 6` there are three angles and three blocks of shape `(2, 2)`. The
# blocks are on the diagonal of a `(6, 6)` matrix: rows and columns `0, 1`, then `2, 3`,
# then `4, 5`. `torch.block_diag` puts them there, but a loop would do just as well.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# for each pair i:
#     b <- k times the frequency of pair i
#     first row of the block:  what multiplies (sin a, cos a) to give sin(a + b)
#     second row of the block: what multiplies (sin a, cos a) to give cos(a + b)
# put the blocks on the diagonal of a matrix of zeros
# ```
#
# To try it, with `pos = torch.tensor(3)`: your matrix times `sinusoid(pos, d_model)`
# should be `sinusoid(pos + k, d_model)`.
#
# </details>


# %% exercise="positional_encoding/shift_matrix"
def shift_matrix(k: int, d_model: int) -> Float[Tensor, "d_model d_model"]:
    """The matrix that shifts the encoding of any position by k steps.

    Args:
        k: the number of steps; it may be zero or negative.
        d_model: the number of components of an encoding, which is even.

    Returns:
        float32, new in each call: M with M @ PE(pos) = PE(pos + k) for every pos, where
        PE(pos) is a column vector that alternates sines and cosines (see ``sinusoid``).
    """
    ### BEGIN SOLUTION
    angles = k / 10000 ** (torch.arange(0, d_model, 2) / d_model)  # (d_model/2,)
    sin, cos = angles.sin(), angles.cos()
    blocks = torch.stack((cos, sin, -sin, cos), dim=-1)  # (d_model/2, 4)
    return torch.block_diag(*blocks.view(-1, 2, 2))  # (d_model, d_model)
    ### END SOLUTION


# %% check="positional_encoding/shift_matrix" points=16
# Steps forward and backward, for several sizes.
check("positional_encoding/shift_matrix", shift_matrix)

# %% [markdown]
# The next figure shows four pairs at position 3, and again after *your* matrix has
# moved them by 5 positions, with a dot where `sinusoid` says that position 8 should be.


# %%
@demo
def hands_of_the_clock():
    d_model, pos, k = 16, 3, 5
    start = sinusoid(torch.tensor(pos), d_model)  # (16,)
    moved = shift_matrix(k, d_model) @ start  # (16,)
    wanted = sinusoid(torch.tensor(pos + k), d_model)  # (16,)
    pictures.clocks(start, moved, wanted, pos, k)


# %% [markdown]
# Rotations can also be combined, and each can be undone. The next cell compares $M_3
# M_2$ with $M_5$, and the transpose of $M_3$ with $M_{-3}$.


# %%
@demo
def rotations_add_up():
    gap = shift_matrix(3, 8) @ shift_matrix(2, 8) - shift_matrix(5, 8)
    print(f"M3 M2 and M5 differ by at most          {float(gap.abs().max()):.1e}")
    gap = shift_matrix(3, 8).T - shift_matrix(-3, 8)
    print(f"M3 transposed and M-3 differ by at most {float(gap.abs().max()):.1e}")


# %% [markdown]
# Two steps and then three make five, up to rounding, and the matrix that undoes $M_k$
# is its transpose, so you never have to compute an inverse.

# %% [markdown]
# ## 8. Learnt positions
#
# There is a simple alternative: give every position a vector of *parameters*, and let
# training determine them, as BERT and GPT-2 do. The paper also tried this, with nearly
# identical results (section 3.5; table 3, row E).
#
# | | sinusoids | learnt |
# |---|---|---|
# | trainable parameters | 0 | `max_len * d_model` |
# | longer than `max_len` | make a longer table | impossible |
# | nearby positions are alike | from the start | if training makes them so |
#
# The module below keeps such a table. Its rows start with small random values, so that
# positions differ but do not drown out the words. A sentence that is longer than the
# table raises an error; be glad of it, because a table that silently wraps around can
# cost you a week.


# %%
class LearnedPositions(nn.Module):
    """Adds a trained vector for each position."""

    def __init__(self, d_model: int, max_len: int):
        """Create the parameter ``table``, (max_len, d_model), small and random."""
        super().__init__()
        self.table = nn.Parameter(0.02 * torch.randn(max_len, d_model))

    def forward(self, x: Float[Tensor, "B L d_model"]) -> Float[Tensor, "B L d_model"]:
        """Add row n of the table to position n of each sentence; do not modify x.

        Raises:
            ValueError: L is greater than max_len.
        """
        length, max_len = x.size(1), self.table.size(0)
        if length > max_len:
            raise ValueError(f"{length} positions, but the table has {max_len}")
        return x + self.table[:length]  # (B, L, d_model)


# %% [markdown]
# ### Does it matter? Train and see
#
# In this toy task, each sentence has 8 random tokens, among them one `A` and one `B`,
# and the question is which of the two comes first. A small network processes each
# vector by itself and averages the results to decide. We train it without positions,
# with sinusoids, and with learnt positions; a fourth model repeats the second, except
# that its embeddings keep the default initialisation of `nn.Embedding` (section 6). All
# four are tested on new sentences, of length 8 and of length 16.
#
# **Predict first.** What percentage of the answers will each of the four models get
# right at length 8, and what will the best of them reach at length 16? (Flipping a coin
# gives 50%.)


# %% folded=true
# @title Sentences with an A and a B, and how a model is trained on them
def a_before_b(
    count: int, length: int
) -> tuple[Int[Tensor, "count length"], Float[Tensor, "count"]]:
    """Sentences with one A (4) and one B (5); whether A comes first."""
    ids = torch.randint(6, 20, (count, length))
    where = torch.rand(count, length).argsort(-1)[:, :2]  # (count, 2)
    ids.scatter_(1, where, torch.tensor([4, 5]).expand(count, 2))
    return ids, (where[:, 0] < where[:, 1]).float()


def accuracies(
    positions: Callable[[Tensor], Tensor], d_model: int, std: float, seed: int = 0
) -> list[float]:
    """Train on sentences of 8 tokens; the accuracy on new ones of 8 and of 16.

    ``std``: the standard deviation with which the embeddings start.
    """
    torch.manual_seed(seed)
    embedding = nn.Embedding(20, d_model, padding_idx=0)
    with torch.no_grad():  # it starts with 1; the padding row stays zero
        embedding.weight.mul_(std)
    layers = nn.Sequential(nn.Linear(d_model, 64), nn.ReLU(), nn.Linear(64, 1))
    modules = nn.ModuleList((embedding, layers))
    if isinstance(positions, nn.Module):  # they may learn
        modules.append(positions)

    def model(ids: Int[Tensor, "B L"]) -> Float[Tensor, "B"]:
        x = positions(embedding(ids) * d_model**0.5)  # (B, L, d_model)
        return layers(x).mean((1, 2))

    optimizer = torch.optim.Adam(modules.parameters(), lr=5e-3)
    for _ in range(300):
        ids, first = a_before_b(128, 8)
        loss = nn.functional.binary_cross_entropy_with_logits(model(ids), first)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    tests = (a_before_b(10_000, length) for length in (8, 16))
    return [
        ((model(ids) > 0) == first.bool()).float().mean().item() for ids, first in tests
    ]


# %%
my_guess = "none ?, sinusoids ?, learnt ?, default start ?; best at 16: ?"  # yours


@demo
def does_it_matter():
    table, small = sinusoid(torch.arange(16), 32), 32**-0.5

    def add_table(x):
        return x + table[: x.size(1)]

    results = {
        "no positions": accuracies(nn.Identity(), 32, small),
        "sinusoids": accuracies(add_table, 32, small),
        "learnt": accuracies(LearnedPositions(32, 16), 32, small),
        "sinusoids, default start": accuracies(add_table, 32, 1.0),
    }
    pictures.accuracies(results, sizes=(8, 16))
    print("your guess:", my_guess)


# %% [markdown]
# Without positions, the network does no better than a coin flip, and no training can
# change that, because the bag of vectors is the same for both answers. With either kind
# of positional encoding, it learns the task almost perfectly: in five training runs
# with different seeds, it gets at least 98% of the new sentences right.
#
# The fourth model has the same sinusoids and the same 300 steps, but its positions are
# a whisper beside its words, and it got only 85 to 91% right in five such runs.
#
# At twice the length, no model got more than 69% right in these runs. Rows 8 to 15 of
# the learnt table were never updated. The sinusoids *have* values there, but the
# network never saw them and so has not learnt what to do with them, a problem to which
# unit 5 returns.

# %% [markdown]
# ## 9. Bug clinic
#
# Although the formula is only two lines long, incorrect tables have been published, and
# here are two of them:
#
# - **Table A** is from the solution to assignment 7 of Purdue's ECE 47300; a library on
#   GitHub had the same exponents [until
#   2023](https://github.com/maxjcohen/transformer/issues/62). In table A, the loop
#   variable $j$ runs over the even columns, $j = 0, 2, 4, \dots$ The code computes
#   $\sin(pos / 10000^{\,j/d_\text{model}})$ and $\cos(pos /
#   10000^{\,(j+1)/d_\text{model}})$.
# - **Table B** is from a textbook (Rothman, *Transformers for Natural Language
#   Processing and Computer Vision*, Packt 2024, chapter 2). Here, too, $j$ runs over
#   the even columns, but the code computes $\sin(pos / 10000^{\,2j/d_\text{model}})$
#   and $\cos(pos / 10000^{\,2j/d_\text{model}})$.
#
# **Predict first.** What is wrong with each? Compare with the formula in section 3, and
# then look at both beside the correct table: would *you* have noticed, by eye?


# %% folded=true
# @title Tables A and B, made from your `sinusoid`
def table_a(max_len: int, d_model: int) -> Float[Tensor, "max_len d_model"]:
    """Table A: positions 0 to max_len - 1."""
    positions = torch.arange(max_len)
    table = sinusoid(positions, d_model)
    closer = sinusoid(positions * 10000 ** (-1 / d_model), d_model)
    table[:, 1::2] = closer[:, 1::2]
    return table


def table_b(max_len: int, d_model: int) -> Float[Tensor, "max_len d_model"]:
    """Table B: positions 0 to max_len - 1."""
    positions = torch.arange(max_len)
    halves = (sinusoid(positions / stretch, d_model // 2) for stretch in (1, 10000))
    return torch.cat(tuple(halves), dim=-1)


# %%
my_guess = "A: ?, B: ?"  # write yours here, then run the cell


@demo
def three_tables():
    tables = {
        "correct": sinusoid(torch.arange(60), 64),
        "table A": table_a(60, 64),
        "table B": table_b(60, 64),
    }
    pictures.tables(tables)
    print("your guess:", my_guess)


# %% [markdown]
# In table A, the cosine has an exponent of its own, so the two columns of a pair no
# longer have the same frequency. In table B, $j$ is already $2i$ and is doubled once
# more, so half the columns use up all the wavelengths, and the rest hardly change.
#
# Such an error can go unnoticed because nothing crashes and the network still trains:
# on the toy task of section 8, five runs with either table got at least 98% right. In
# the assignment, a printed entry (embedding plus position) even gave the bug away: it
# is 1.0078, whereas the formula gives 0.9929. But no program compared the two.
#
# So write the test that these authors did not have. You may compare with a table of
# your own, but a test that copies the code copies its bugs, so it is safer to test
# *properties*: at which angle does each pair start, what is its length, and how far
# does it rotate in one step? Small errors add up, though. A pair that rotates 0.05% too
# far in each step is off by 0.03 at position 60 and by 0.1 at position 200, so check
# how far each pair has rotated since row 0, not only since the previous row.
#
# ### Exercise 1.8 - A test for sinusoid tables
# *time ~20 min · difficulty 4/5 · 14 points*
#
# **Task.** Raise `AssertionError` unless `table` is the correct sinusoid table for its
# size. We grade your test by running it on correct tables, on A and B, and on other
# incorrect ones.
#
# **Example.**
#
# | largest error | your test |
# |---|---|
# | below 0.0001 | accepts |
# | above 0.01, or NaN | rejects |
#
# <details><summary>Contract</summary>
#
# - The test raises `AssertionError` if the table is wrong; otherwise it returns
#   quietly.
# - It accepts errors below 0.0001: the table may be rounded or computed differently.
# - It rejects any single entry that is off by more than 0.01 or is NaN.
# - It works for tables of any size, and checks every entry.
# - Comparing with a table of your own is allowed.
# - `table` is not modified.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Take two properties, "every pair has $\sin^2 + \cos^2 = 1$" and "row 0 is
# `0, 1, 0, 1, ...`". Which of them finds bug A, and does either find bug B?
#
# </details>
# <details><summary>Hint 2: shapes</summary>
#
# The table `(max_len, d_model)` tells you both sizes. The sines have
# shape `(max_len, d_model/2)`, and so do the cosines. The frequencies have shape
# `(d_model/2,)`, and the angles of all pairs at all positions `(max_len, d_model/2)`.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# read the sizes off the table
# work out what each entry should be (from the angles), or what follows from it
# assert that ALL entries are closer than a tolerance between 0.0001 and 0.01
#     ask for "all are close", not "none is far": a NaN is neither close nor far
# return nothing
# ```
#
# </details>


# %% exercise="positional_encoding/bug_clinic"
def assert_sinusoidal(table: Float[Tensor, "max_len d_model"]) -> None:
    """Return quietly if a table is the sinusoid table of its size.

    Args:
        table: float32; max_len at least 2, d_model even. The rows are the positions 0,
            1, ..., max_len - 1.

    Raises:
        AssertionError: some entry is off by more than 0.01, or is NaN. There must be no
            error if all entries are correct to 0.0001; in between, either is fine.
    """
    ### BEGIN SOLUTION
    max_len, d_model = table.shape
    sines, cosines = table.double().view(max_len, -1, 2).unbind(-1)
    hands = torch.complex(cosines, sines)  # (max_len, d_model/2)
    speeds = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)  # (d_model/2,)
    angles = torch.arange(max_len).unsqueeze(1) * speeds  # (max_len, d_model/2)
    turned_back = hands * torch.polar(torch.ones_like(angles), -angles)
    assert ((turned_back - 1).abs() < 1e-3).all(), "a hand is not where it should be"
    ### END SOLUTION


# %% check="positional_encoding/bug_clinic" points=14
# Your test, run on correct tables and on wrong ones.
check("positional_encoding/bug_clinic", assert_sinusoidal)

# %% [markdown]
# Run your test on your own two tables, and on four that it should reject: A and B, a
# table that starts at position 1, and learnt positions.


# %%
@demo
def your_test_at_work():
    tables = {
        "your loops": table_by_loops(12, 8),
        "your table at once": sinusoid(torch.arange(12), 8),
        "table A (cosine)": table_a(12, 8),
        "table B (exponent)": table_b(12, 8),
        "positions from 1": sinusoid(torch.arange(1, 13), 8),
        "learnt": LearnedPositions(8, 12).table.detach(),
    }
    for name, table in tables.items():
        try:
            assert_sinusoidal(table)
            print(f"{name:<20} accepted")
        except AssertionError as error:
            print(f"{name:<20} rejected: {error}")


# %% [markdown]
# A property that catches one bug may be blind to the other. "Every pair has length 1"
# finds A, whose sine and cosine belong to different angles, whereas row 0 finds
# neither. Even together, the two properties still miss B, because its pairs have length
# 1 and start at the correct angle; only the frequencies give it away.

# %% [markdown]
# ## 10. Your embedding in the machine
#
# Put your `embed` into the chat model, whose table has 49,152 rows and 576 columns.
# This model adds no positions; in each of its 30 blocks it rotates queries and keys by
# matrices like those of section 7. A second run leaves these rotations out and puts
# nothing in their place.
#
# **Predict first.** What will the model say without positions: the same sentence, the
# same words in a jumbled order, gibberish, or something else?

# %%
my_guess = "?"  # write yours here, then run the cell


@demo
def my_embed_in_the_machine():
    runs = {
        "with your embed": {"embed": embed},
        "without positions": {"embed": embed, "rotate": chat.keep},
    }
    chat.ask("What is the capital of France?", runs)
    print("your guess:", my_guess)


# %% [markdown]
# With your `embed` the model gives the same answer as before. Without positions it says
# nothing: its first token is `<|im_end|>`, which ends a turn, with a probability of
# 0.38, and the next candidate is `<|im_start|>`, which begins one, with 0.20. Both
# occur in the prompt, but without positions the model can probably no longer tell that
# its own turn has just begun.

# %% [markdown]
# ## What you built
#
# - `embed`: from ids to vectors, and from padding to zeros.
# - `shuffle_gap`: a property test that tells whether a function can see order.
# - `table_by_loops` and `sinusoid`: one formula in two versions, each a test of the
#   other.
# - `PositionalEncoding`: the table as a buffer that goes where the model goes.
# - `InputLayer`: scaled embeddings plus positions, then dropout. Unit 4's models begin
#   with it.
# - `shift_matrix`: a step along the sentence is a rotation.
# - `assert_sinusoidal`: the test that would have caught both published bugs.
#
# ## Go further
#
# - **Rotate instead of adding.** If a step is a rotation, why not rotate the vectors
#   themselves? That is RoPE, which Llama, Qwen and SmolLM2 use: Su et al., 2021
#   ([arXiv:2104.09864](https://arxiv.org/abs/2104.09864)). Your `shift_matrix` is at
#   its heart.
# - **Bias the attention.** ALiBi adds no positions at all. Instead, it makes distant
#   tokens count less: Press et al., 2021
#   ([arXiv:2108.12409](https://arxiv.org/abs/2108.12409)).
# - **No positions.** Some models are trained without any, and do well:
#   Haviv et al., 2022 ([arXiv:2203.16634](https://arxiv.org/abs/2203.16634)). After
#   unit 2, use `shuffle_gap` to see why.
# - **Play.** Replace 10000 by 10 or by 1000000 in your `sinusoid`, and draw the
#   figures again. Which positions become hard to tell apart?

# %% [markdown]
# ## Where you stand
#
# Run this cell whenever you have solved something: it shows your points so far and what
# to do next.

# %%
check.summary()
