# %% [markdown]
# # 1 · Positional encoding
#
# *Dog bites man* and *man bites dog* hold the same words. Only the order tells who
# should see a doctor. A Transformer looks at all words at once, and by itself it
# cannot see their order. In this notebook you find out why, and you build what
# gives order back: the positional encoding.
#
# **You will learn to**
# - turn token ids into vectors, and keep padding out of it;
# - measure whether a function can see order at all;
# - build the sinusoid table of the Transformer paper: by loops, then at once;
# - wrap it in a module that moves to another device and dtype without surprises;
# - explain its hidden gift: moving along the sentence is a rotation;
# - write a test that finds the bugs of two tables that were really published.
#
# *About 3½ hours · short path about 2: exercises 1.2, 1.3, 1.4, 1.5, 1.6, 1.8*
#
# *10 exercises and one question in words · 100 points.* **You need** Python and a
# little PyTorch (indexing, broadcasting, `nn.Module`). The short path carries the
# story: read the rest, and come back to it.
#
# **How it works.** Each exercise has a stub. Replace the line that raises
# `NotImplementedError`, then run the check below it. The check tells at once what is
# right, and often which mistake it sees. Run it as often as you like. The three hints
# under an exercise go from a question to pseudocode. They cost nothing.
#
# **Conventions**, here and in all later units
#
# | symbol | meaning |
# |---|---|
# | `B`, `L` | sentences in a batch, positions in a sentence (batch first, always) |
# | `d_model` | length of the vector of one token |
# | `(B, L, d_model)` | the shape of a batch of embedded sentences |
# | `pos` | a position; the first token has `pos = 0` |
# | ids | `PAD = 0`, `BOS = 1`, `EOS = 2`, `UNK = 3`; real words start at 4 |
# | what is given | stays as it was: no function changes its arguments |
# | gradients | flow back through what you compute, unless the text says otherwise |
#
# The paper is Vaswani et al., *Attention is all you need*, 2017
# ([arXiv:1706.03762](https://arxiv.org/abs/1706.03762)). We cite it by section.

# %%
import math
import time
from collections.abc import Sequence

import torch
from torch import nn

from autograder import check, demo, show
from autograder.units.positional_encoding.library import pictures

# %% [markdown]
# ## 1.1 From ids to vectors
#
# A network works on vectors, a text comes as ids. An **embedding table** lies between
# them: one row for each token of the vocabulary. To embed a token is to look up its
# row. Nothing is multiplied and nothing is added. PyTorch has a layer that owns such a
# table.

# %%
torch.manual_seed(0)
words = nn.Embedding(num_embeddings=6, embedding_dim=4, padding_idx=0)
sentences = torch.tensor([[4, 5, 4], [5, 0, 0]])  # (B, L) = (2, 3), 0 is padding
print("table", tuple(words.weight.shape), " ids", tuple(sentences.shape))
print("vectors", tuple(words(sentences).shape))
print(words(sentences).detach().round(decimals=2))

# %% [markdown]
# Sentences in a batch have different lengths, so short ones are filled up with the
# **padding** token. Padding means nothing. So its vector should be zero, and training
# should never change it. `padding_idx` asks for both: the layer sets that row to zero
# when it is made, and lets no gradient reach it.
#
# Token 4 occurs twice above, at different places. Compare its two vectors. Remember
# what you see: it is the problem that this whole notebook solves.
#
# ### Exercise 1.1 - Look it up
# *time ~10 min · difficulty 1/5 · 10 points*
#
# **Why it matters.** Every model of language begins with this line. And a padding
# vector that is not zero leaks into each sum and mean that comes after it.
#
# **What to do.** Write the lookup yourself, on a table that you are given. Your version
# is a little stricter than PyTorch's: padding gives the zero vector whatever its row
# happens to hold, NaN too, and no gradient reaches that row. It reaches all others.
# Everything in PyTorch is allowed, `F.embedding` too.
#
# | | shape |
# |---|---|
# | `ids` | `(B, L)` |
# | `table` | `(vocab_size, d_model)` |
# | result | `(B, L, d_model)` |
#
# <details><summary>Hint 1: a question</summary>
#
# `table[7]` is one row. What does PyTorch return when you index a table with a whole
# tensor of row numbers?
#
# </details>
# <details><summary>Hint 2: shapes</summary>
#
# `ids` is `(B, L)`, and the looked-up vectors are `(B, L, d_model)`. Where padding
# stands is a boolean `(B, L)`. It needs a third dimension of size 1 before it can be
# spread over `d_model`.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# vectors <- the rows of the table that ids name
# if there is a padding token (0 is a token like any other):
#     wherever ids equals it, replace the vector by zeros, in a new tensor
# return vectors
# ```
#
# </details>


# %% exercise="positional_encoding/embed"
def embed(
    ids: torch.Tensor, table: torch.Tensor, padding_idx: int | None = None
) -> torch.Tensor:
    """Look up the vectors of tokens.

    Args:
        ids: (B, L), int64, row numbers of the table.
        table: (vocab_size, d_model). It must not be changed.
        padding_idx: the token whose vector is zero, whatever its row holds; no gradient
            may reach that row. None: there is no such token.

    Returns:
        (B, L, d_model), of the table's type.
    """
    ### BEGIN SOLUTION
    vectors = table[ids]  # (B, L, d_model)
    if padding_idx is None:
        return vectors
    is_padding = (ids == padding_idx).unsqueeze(-1)  # (B, L, 1)
    return vectors.masked_fill(is_padding, 0.0)
    ### END SOLUTION


# %% check="positional_encoding/embed" points=10
# Vectors, gradients of the table, and padding tokens other than 0.
check("positional_encoding/embed", embed)

# %% [markdown]
# ## 1.2 Order is lost
#
# After the lookup, each token is a vector that knows its word and not its place. The
# next layers of a network **mix** the vectors of a sentence, so that each can learn
# from the others. Call any function from `(B, L, d_model)` to `(B, L, d_model)` a
# mixer.
#
# When does a mixer ignore order? Shuffle the sentence and mix. Or mix and then shuffle
# the result in the same way. If both always agree, then a shuffled sentence gives
# nothing but shuffled results. Every vector comes out as before, wherever it stands.
# The mixer cannot tell *dog bites man* from *man bites dog*.
#
# ### Exercise 1.2 - The shuffle gap
# *time ~10 min · difficulty 2/5 · 10 points*
#
# **Why it matters.** It turns "this network cannot see order" from a saying into a
# number. This is your first *property test*: it needs no expected values, only two ways
# that ought to agree.
#
# **What to do.** Measure how far the two ways are apart, as the largest difference
# (without sign) between any two numbers. Zero means: order is lost.
#
# | | shape |
# |---|---|
# | `x` | `(B, L, d_model)` |
# | `order` | `(L,)` |
# | result | `()`, one number |
#
# <details><summary>Hint 1: a question</summary>
#
# Which of the three dimensions of `x` has one entry for each position?
#
# </details>
# <details><summary>Hint 2: shapes</summary>
#
# Both ways end in a tensor `(B, L, d_model)`. Their difference has that shape too. The
# result has the shape `()`: every number takes part.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# one way     <- take the positions of x in the new order, then mix
# other way   <- mix x, then take the positions of that result in the new order
# return the largest size (without sign) of a difference between the two
# ```
#
# </details>


# %% exercise="positional_encoding/shuffle_gap"
def shuffle_gap(mix, x: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    """How far "shuffle, then mix" is from "mix, then shuffle".

    Args:
        mix: a function from (B, L, d_model) to (B, L, d_model).
        x: (B, L, d_model), a batch of sentences. It must not be changed.
        order: (L,), int64, a permutation: place n of the shuffled sentence gets the
            vector that stood at place order[n], in every sentence of the batch.

    Returns:
        The largest absolute difference between the two, over all numbers, as a tensor
        of shape () or a plain number.
    """
    ### BEGIN SOLUTION
    shuffled_before = mix(x[:, order])  # (B, L, d_model)
    shuffled_after = mix(x)[:, order]  # (B, L, d_model)
    return (shuffled_before - shuffled_after).abs().max()  # ()
    ### END SOLUTION


# %% check="positional_encoding/shuffle_gap" points=10
# Mixers that see order and mixers that do not.
check("positional_encoding/shuffle_gap", shuffle_gap)

# %% [markdown]
# **Predict first.** Below are four mixers. Which of them can see order?
#
# - *average*: every position gets the average of the sentence.
# - *similarity*: every position gets a weighted average, with more weight on vectors
#   like its own. (This is the attention of unit 2, almost.)
# - *running sum*: every position gets the sum of what came before, as in a recurrent
#   network.
# - *neighbour*: every position gets itself minus its left neighbour, as in a
#   convolution.
#
# Write your guess down. Then run the cell.

# %%
MIXERS = {
    "average": lambda x: x.mean(1, keepdim=True).expand_as(x),
    "similarity": lambda x: (x @ x.mT).softmax(-1) @ x,
    "running sum": lambda x: x.cumsum(1),
    "neighbour": lambda x: x - x.roll(1, dims=1),
}


@demo
def gaps_of_four_mixers():
    torch.manual_seed(1)
    x, order = torch.randn(2, 6, 4), torch.randperm(6)
    gaps = {name: float(shuffle_gap(mix, x, order)) for name, mix in MIXERS.items()}
    pictures.gaps(gaps)


# %% [markdown]
# Averages do not see order, and the attention of unit 2 is an average with clever
# weights. (What is left of its gap is rounding.) Recurrent and convolutional networks
# see order by the way they are built. The Transformer gave that up, to look at all
# positions at once. So it has to be *told* where each vector stands (paper, section
# 3.5).

# %% [markdown]
# ## 1.3 A clock for positions
#
# We want a vector for each position, to be added to the token's vector. What should be
# in it?
#
# - The number `pos` itself? It grows without bound and soon drowns the words.
# - `pos` divided by the length? Then the same number means another distance in
#   every sentence.
# - The binary digits of `pos`? Close! Every position is different, and all numbers
#   stay small. The last digit flips at every step, the one before at every second step,
#   and so on: a row of clocks, from fast to slow. But digits jump.
#
# The paper takes clocks with hands that turn smoothly. Each **pair** of columns is one
# hand, and a hand is given by its sine and cosine:
#
# $$PE_{(pos,\,2i)} = \sin\left(\frac{pos}{10000^{2i/d_\text{model}}}\right)
# \qquad
# PE_{(pos,\,2i+1)} = \cos\left(\frac{pos}{10000^{2i/d_\text{model}}}\right)$$
#
# Here $i = 0, 1, \dots, d_\text{model}/2 - 1$ counts the pairs. Read the two formulas
# aloud, and notice what they share: both members of a pair turn at the *same* speed.
# The first hand turns by 1 radian at each step. The last needs almost
# $2\pi \cdot 10000$ steps for one round.
#
# **Predict first.** What is row 0 of the table? No calculator needed.
#
# ### Exercise 1.3 - The table, by loops
# *time ~15 min · difficulty 2/5 · 10 points*
#
# **Why it matters.** Clear beats fast, the first time. This version is the one that you
# will trust later, when you make it fast.
#
# **What to do.** Write the table as you would fill it in by hand: for every position,
# for every pair, two numbers. Slow is fine.
#
# <details><summary>Hint 1: a question</summary>
#
# For `d_model = 6`, which value does $i$ have in column 4? And in column 5?
#
# </details>
# <details><summary>Hint 2: a trace</summary>
#
# For `d_model = 6` there are three pairs. Their columns are `0, 1`, then `2, 3`, then
# `4, 5`. The exponents are `0`, `2/6` and `4/6`, each used twice.
# The table has the shape `(max_len, 6)`.
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
def table_by_loops(max_len: int, d_model: int) -> torch.Tensor:
    """The sinusoid table of the paper (section 3.5), number by number.

    Args:
        max_len: how many positions; they are 0, 1, ..., max_len - 1.
        d_model: how many columns, an even number.

    Returns:
        (max_len, d_model), float32, new in each call: sines in even columns, cosines
        in odd ones.
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


# %% check="positional_encoding/table_by_loops" points=10
# Tables of different sizes.
check("positional_encoding/table_by_loops", table_by_loops)

# %% [markdown]
# Row 0 is `0, 1, 0, 1, ...`: all hands point up. Was that your prediction?


# %%
@demo
def the_first_rows():
    print(table_by_loops(4, 6).numpy().round(4))


# %% [markdown]
# ## 1.4 The table, at once
#
# Two loops in Python cost a few microseconds for *every number*. A table for 5000
# positions of 512 numbers has 2.5 million. Tensor operations do the same in a moment.
#
# ### Exercise 1.4 - All positions at once
# *time ~15 min · difficulty 3/5 · 12 points*
#
# **Why it matters.** Broadcasting in place of loops is the skill that all later units
# live on.
#
# **What to do.** No loops this time. And be more general: take *any tensor of
# positions*, of any shape, and put `d_model` new numbers behind each. Positions may be
# fractions, or negative. That costs nothing, and you will use it soon. An odd `d_model`
# is a `ValueError`.
#
# | | shape |
# |---|---|
# | `positions` | `(...)` |
# | speed of the hands | `(d_model/2,)` |
# | angles | `(..., d_model/2)` |
# | result | `(..., d_model)` |
#
# <details><summary>Hint 1: a question</summary>
#
# Each position meets each speed. Which sizes must the two tensors have, so that
# broadcasting multiplies every one with every other?
#
# </details>
# <details><summary>Hint 2: shapes</summary>
#
# `(..., 1)` with `(d_model/2,)` gives angles `(..., d_model/2)`. Sine and cosine have
# that shape too. They must be *interleaved*: side by side they form pairs
# `(..., d_model/2, 2)`, and that is a reshape away from `(..., d_model)`. Or make an
# empty result and fill every second column.
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
def sinusoid(positions: torch.Tensor, d_model: int) -> torch.Tensor:
    """The sinusoid encoding of any positions (paper, section 3.5), without loops.

    Args:
        positions: (...), any shape, int64 or float32, also fractions and negative
            numbers. It must not be changed.
        d_model: how many numbers encode one position.

    Returns:
        (..., d_model), float32: sines in even columns, cosines in odd ones.

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


# %% check="positional_encoding/sinusoid" points=12
# Rows, batches, fractions and negative positions; odd sizes are refused.
check("positional_encoding/sinusoid", sinusoid)

# %% [markdown]
# Two independent versions of one formula are worth a lot: each is a test of the other.
#
# **Predict first.** How many times faster is the version without loops, for 500
# positions of 128 numbers? Ten times? A thousand?


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
# ### Look at it
#
# First single columns. **Predict first:** dimensions 1 and 2 are a pair, so they turn
# equally fast. How will dimension 7 differ, and dimension 16?


# %%
@demo
def four_hidden_dimensions():
    pictures.dimensions(sinusoid(torch.arange(64), 64), (1, 2, 7, 16))


# %% [markdown]
# Now the whole table. Every row is the encoding of one position. Read it from left to
# right: from the second hand to the hand that hardly moves in a whole book.


# %%
@demo
def heat_map_of_the_table():
    pictures.whole_table(sinusoid(torch.arange(100), 64))


# %% [markdown]
# Attention compares vectors by dot products. So what does the dot product of two
# positions say? **Predict first:** is position 20 more like 25, or more like 50?


# %%
@demo
def similarity_of_positions():
    table = sinusoid(torch.arange(64), 64)  # (64, 64)
    pictures.similarity(table @ table.T, rows=(20, 40))


# %% [markdown]
# Near positions are alike, far ones less so. And the two peaks have the same form: the
# dot product depends on the *distance* only. That is no accident. The product of two
# hands is $\sin a \sin b + \cos a \cos b = \cos(a - b)$. Section 1.7 makes more of it.

# %% [markdown]
# ## 1.5 The module
#
# A table is not yet a layer. In a network it should be added to `(B, L, d_model)`
# for any `L` up to the length of the table. It should go to the GPU with the model,
# and turn into half precision with the model. And it must *not* be trained.
#
# A tensor in a module can be three things:
#
# | kept as | trained | moves with `.to(...)` | for |
# |---|---|---|---|
# | `nn.Parameter` | yes | yes | weights |
# | a **buffer** (`register_buffer`) | no | yes | constants, statistics |
# | a plain attribute | no | **no** | a bug that waits for the first GPU |
#
# Published courses keep the table as a plain attribute. On their own machine it works.
#
# One more choice: a buffer is *saved* with the weights. A table that can be computed
# again need not be: `register_buffer(name, tensor, persistent=False)` makes a buffer
# that moves with the model and does not stand in its `state_dict()`. Both kinds are
# right here.
#
# ### Exercise 1.5 - PositionalEncoding
# *time ~15 min · difficulty 3/5 · 12 points*
#
# **Why it matters.** Code that works until somebody calls `.to("cuda")` is the most
# common bug of this kind of module.
#
# **What to do.** The module is *given* its table. Then it knows nothing of sines, and
# you can test the two apart. Keep the table as a buffer called `pe`. Add positions, and
# nothing else: no scaling, no dropout. They come next.
#
# | | shape |
# |---|---|
# | `table` | `(max_len, d_model)` |
# | `x` | `(B, L, d_model)`, with `L <= max_len` |
# | result | `(B, L, d_model)` |
#
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
# when made:   register the table as a buffer called "pe"
# when called: take as many rows of the buffer as x has positions
#              return a new tensor: x plus these rows
# ```
#
# </details>


# %% exercise="positional_encoding/module"
class PositionalEncoding(nn.Module):
    """Adds a fixed table of positions to a batch of sentences, and nothing else."""

    def __init__(self, table: torch.Tensor):
        """Keep ``table``, (max_len, d_model), as a buffer called ``pe``.

        The buffer may have the shape (1, max_len, d_model), too.
        """
        super().__init__()
        ### BEGIN SOLUTION
        self.register_buffer("pe", table)  # (max_len, d_model)
        ### END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Add row n of the table to position n of each sentence.

        Args:
            x: (B, L, d_model) with L <= max_len. It must not be changed.

        Returns:
            (B, L, d_model), on the device of the module. ``x`` comes in the dtype of
            the module, and the result has it, too.
        """
        ### BEGIN SOLUTION
        return x + self.pe[: x.size(1)]  # (B, L, d_model)
        ### END SOLUTION


# %% check="positional_encoding/module" points=12
# Short and full length, two calls, nothing to train, other dtypes and devices.
check("positional_encoding/module", PositionalEncoding)

# %% [markdown]
# Saved or not saved: what stands in the file of a model, and what moves with it?


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
# Does it give order back? Take the mixer of unit 2, *similarity*, which cannot see
# order. Add positions first, and measure again.


# %%
@demo
def order_is_back():
    torch.manual_seed(1)
    x, order = torch.randn(2, 6, 4), torch.randperm(6)
    positions = PositionalEncoding(sinusoid(torch.arange(50), 4))
    mix = MIXERS["similarity"]
    print(f"gap without positions  {float(shuffle_gap(mix, x, order)):.4f}")
    with_positions = shuffle_gap(lambda x: mix(positions(x)), x, order)
    print(f"gap with positions     {float(with_positions):.4f}")


# %% [markdown]
# ## 1.6 The input layer
#
# The first layer of a Transformer has three steps: look up, scale, add positions. The
# paper multiplies the embeddings by $\sqrt{d_\text{model}}$ (section 3.4). It does not
# say why, but a look at sizes helps. An encoding always has the length
# $\sqrt{d_\text{model}/2}$, as each of its $d_\text{model}/2$ pairs has
# $\sin^2 + \cos^2 = 1$. Where the same table also serves as the last layer of the
# network, embeddings start small, with a length of about 1.
#
# **Predict first.** For `d_model = 512`, which part of the sum would such an embedding
# be without the scale? And with it?


# %%
@demo
def who_is_louder():
    torch.manual_seed(0)
    d_model = 512
    small = torch.randn(1000, d_model) / math.sqrt(d_model)  # (1000, 512)
    vectors = {
        "embedding": small,
        "position": sinusoid(torch.arange(1000), d_model),
        "embedding · √d_model": small * d_model**0.5,
    }
    lengths = {name: float(v.norm(dim=-1).mean()) for name, v in vectors.items()}
    pictures.lengths(lengths)


# %% [markdown]
# Without the scale, the word is a whisper beside its position. With it, both are heard.
#
# ### Exercise 1.6 - The input layer
# *time ~15 min · difficulty 2/5 · 12 points*
#
# **Why it matters.** All models of units 4, 5 and 6 begin with this layer.
#
# **What to do.** Build the layer. The paper ends it with dropout, applied to the *sum*
# of embedding and position (section 5.4). The module that adds positions is given to
# you as an argument, so this exercise does not depend on your last one. And later you
# can pass another.
#
# <details><summary>Hint 1: a question</summary>
#
# Three steps and dropout: which of them should feel the factor $\sqrt{d_\text{model}}$,
# and which should not?
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
# when made:   an embedding layer that knows its padding token, called embedding
#              keep the module that adds positions, as positions
#              a dropout layer with the given probability
# when called: look up, multiply by the square root of d_model,
#              hand the result to the module that adds positions,
#              and hand that result to dropout
# ```
#
# </details>


# %% exercise="positional_encoding/input_layer"
class InputLayer(nn.Module):
    """The input of a Transformer: scaled embeddings plus positions, then dropout.

    Its parameters, by name: ``embedding.weight`` (vocab_size, d_model). The module that
    adds positions is kept as ``positions``; if it has parameters (learned positions
    do), they are trained, too, and their names start with ``positions.``.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        positions: nn.Module,
        dropout: float = 0.1,
        padding_idx: int = 0,
    ):
        """Make an ``nn.Embedding`` called ``embedding``; keep ``positions`` by its
        name.

        Args:
            vocab_size: how many tokens there are.
            d_model: how many numbers stand for one token.
            positions: maps (B, L, d_model) to x plus positions, (B, L, d_model).
            dropout: the share of numbers that is set to zero in training mode.
            padding_idx: the token that means nothing; its vector starts as zero and is
                not trained.
        """
        super().__init__()
        ### BEGIN SOLUTION
        self.embedding = nn.Embedding(vocab_size, d_model, padding_idx=padding_idx)
        self.positions = positions
        self.dropout = nn.Dropout(dropout)
        self.scale = math.sqrt(d_model)
        ### END SOLUTION

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """From ids (B, L), int64, to vectors (B, L, d_model)."""
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
# Papers often write an embedding as a *product*: a vector that is 1 at the token's
# number and 0 elsewhere (*one-hot*), times the table. Positions can be written in the
# same way. So the input of a Transformer is one matrix product of each kind,
# $E^\top e_\text{token} + P^\top e_\text{pos}$ (the scale left out).
#
# **Predict first.** With `vocab_size` 30,000 and `d_model` 512: how many
# multiplications does the product take for one token? And how many does the lookup
# take?


# %%
@demo
def one_hot_view():
    torch.manual_seed(0)
    vocab_size, d_model, length = 9, 6, 5
    E, P = torch.randn(vocab_size, d_model), sinusoid(torch.arange(length), d_model)
    ids = torch.tensor([4, 7, 4, 5, 8])  # (L,)
    tokens = nn.functional.one_hot(ids, vocab_size).float().T  # (vocab_size, L)
    places = nn.functional.one_hot(torch.arange(length), length).float().T  # (L, L)
    product = E.T @ tokens + P.T @ places  # (d_model, L): a column for each position
    lookup = E[ids] + P  # (L, d_model): a row for each position
    print(f"largest difference: {float((product.T - lookup).abs().max()):.1e}")


# %% [markdown]
# The product takes 15 million multiplications, all but 512 of them by zero. The lookup
# takes none. The view is still worth having: it shows that an embedding is a linear
# layer without bias, which is why it can be trained like one, and why unit 4 can use
# the same table again as the last layer.
#
# *Question in words (4 points).* A friend wants to save parameters: "I add the position
# to the embedding, so the model gets a sum of two vectors. From a sum nobody can tell
# the parts. I had better put them side by side, `(B, L, 2 * d_model)`." Say in three to
# five sentences: when can a model tell the parts of a sum, what would side by side
# cost, and what does the next linear layer make of the two ways?
#
# *What a full answer has: parts can be told if they use different directions, which
# training can arrange (2), the cost (1), the linear layer's view: a sum of two products
# either way (1).*

# %% [markdown] written="positional_encoding/sum_or_pair" points=4
# *Your answer here*
#
# ### BEGIN SOLUTION
# In many dimensions two vectors can be told from their sum if they lie in different
# directions: sines fill mostly the first columns with quick changes, and training can
# move the words to where the positions say little. Side by side doubles the width of
# everything that comes after, about four times the weights of each layer. A linear
# layer makes W1 e + W2 p of the pair, and W (e + p) = W e + W p of the sum: the same
# form, only that the sum must share one W. So side by side can do all that the sum can,
# and more, at a price; the paper's sum turned out to be enough.
# ### END SOLUTION

# %% [markdown]
# ## 1.7 A step is a rotation
#
# Why sine *and* cosine? One of them would do to tell positions apart. The paper gives
# the reason in one sentence of section 3.5: for any fixed $k$, the encoding of
# $pos + k$ is a *linear function* of the encoding of $pos$.
#
# With the clock it is plain. $k$ steps turn a hand by a fixed angle $k\,\omega_i$, with
# $\omega_i = 10000^{-2i/d_\text{model}}$, wherever it started. To turn is to rotate,
# and a rotation is a matrix:
#
# $$PE_{pos+k} = M_k\, PE_{pos} \quad\text{for every } pos, \qquad
# M_k = \begin{pmatrix} R_0 & & \\ & R_1 & \\ & & \ddots \end{pmatrix}$$
#
# $M_k$ has one small $2 \times 2$ rotation for each pair of columns, and zeros
# elsewhere. It does not contain $pos$. So one matrix, learned once, can say "three
# words to the left", anywhere in a sentence.
#
# ### Exercise 1.7 - The shift matrix
# *time ~25 min · difficulty 4/5 · 10 points*
#
# **Why it matters.** It is the reason for sines *and* cosines, and the seed of the
# positions (RoPE) that today's large models use.
#
# **What to do.** Build $M_k$. Take paper and pencil first: write $\sin(a + b)$ and
# $\cos(a + b)$ in terms of $\sin a$, $\cos a$, $\sin b$ and $\cos b$, and read the four
# numbers of $R_i$ off. Careful: our pairs are (sine, cosine), in this order. The
# rotation in your textbook is for (cosine, sine).
#
# <details><summary>Hint 1: a question</summary>
#
# A pair holds $\sin a$ above $\cos a$. Which two numbers must multiply them, and be
# added, to give $\sin(a + b)$? Which is the angle $b$ for pair $i$?
#
# </details>
# <details><summary>Hint 2: shapes</summary>
#
# `d_model = 6` has three angles and three blocks of shape `(2, 2)`. They stand on the
# diagonal of a matrix `(6, 6)`: rows and columns `0, 1`, then `2, 3`, then `4, 5`.
# `torch.block_diag` puts them there. A loop does too.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# for each pair i:
#     b <- k times the speed of hand i
#     first row of the block:  what multiplies (sin a, cos a) to give sin(a + b)
#     second row of the block: what multiplies (sin a, cos a) to give cos(a + b)
# put the blocks on the diagonal of a matrix of zeros
# ```
#
# To try it: your matrix times `sinusoid(pos)` should be `sinusoid(pos + k)`.
#
# </details>


# %% exercise="positional_encoding/shift_matrix"
def shift_matrix(k: int, d_model: int) -> torch.Tensor:
    """The matrix that moves the encoding of any position by k steps.

    Args:
        k: steps to move, also zero or negative.
        d_model: how many numbers encode a position, an even number.

    Returns:
        (d_model, d_model), float32, new in each call: M with M @ PE(pos) = PE(pos + k)
        for every pos, where PE(pos) is a column of sines and cosines in turn (see
        ``sinusoid``).
    """
    ### BEGIN SOLUTION
    angles = k / 10000 ** (torch.arange(0, d_model, 2) / d_model)  # (d_model/2,)
    sin, cos = angles.sin(), angles.cos()
    blocks = torch.stack((cos, sin, -sin, cos), dim=-1)  # (d_model/2, 4)
    return torch.block_diag(*blocks.view(-1, 2, 2))  # (d_model, d_model)
    ### END SOLUTION


# %% check="positional_encoding/shift_matrix" points=10
# Steps forward and backward, for several sizes.
check("positional_encoding/shift_matrix", shift_matrix)

# %% [markdown]
# Here are four hands at position 3, and after *your* matrix has moved them by 5. The
# dot is where `sinusoid` says that position 8 should be.


# %%
@demo
def hands_of_the_clock():
    d_model, pos, k = 16, 3, 5
    start = sinusoid(torch.tensor(pos), d_model)  # (16,)
    moved = shift_matrix(k, d_model) @ start  # (16,)
    wanted = sinusoid(torch.tensor(pos + k), d_model)  # (16,)
    pictures.clocks(start, moved, wanted, pos, k)


# %% [markdown]
# Rotations also add up: two steps and then three are five steps. Is
# $M_3 M_2 = M_5$ for yours? And which matrix undoes $M_k$? Try it here.


# %%
@demo
def rotations_add_up():
    gap = shift_matrix(3, 8) @ shift_matrix(2, 8) - shift_matrix(5, 8)
    print(f"largest number of M3 M2 - M5: {float(gap.abs().max()):.1e}")


# %% [markdown]
# ## 1.8 Learned positions
#
# There is a simple other way: give every position a vector of *parameters*, and let
# training fill them. BERT and GPT-2 do that. The paper tried it as well, and found
# nearly the same quality (section 3.5; table 3, row E).
#
# | | sinusoids | learned |
# |---|---|---|
# | numbers to train | 0 | `max_len * d_model` |
# | longer than `max_len` | make a longer table | impossible |
# | near positions are alike | from the start | if training finds it |
#
# ### Exercise 1.8 - LearnedPositions
# *time ~10 min · difficulty 2/5 · 8 points*
#
# **Why it matters.** An error that says what happened saves an hour; a table that
# silently wraps around costs a week.
#
# **What to do.** Build it. The table starts as small random numbers, some hundredths in
# size, other ones in each module. It has nothing to say about a position that it never
# had, so refuse longer sentences with a `ValueError`.
#
# <details><summary>Hint 1: a question</summary>
#
# What did you write in Exercise 1.5 to keep the table *out* of training? What is its
# opposite?
#
# </details>
# <details><summary>Hint 2: shapes</summary>
#
# The parameter is `(max_len, d_model)`, and the rows for one sentence are
# `(L, d_model)`.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# when made:   a parameter called table, of small random numbers
# when called: if x has more positions than the table has rows: raise a ValueError
#              return x plus the first L rows
# ```
#
# </details>


# %% exercise="positional_encoding/learned"
class LearnedPositions(nn.Module):
    """Adds a trained vector for each position.

    Its parameter is called ``table``, and stands in the state dict under no other name.
    """

    def __init__(self, d_model: int, max_len: int):
        """Make the ``nn.Parameter`` ``table``, (max_len, d_model), small at random."""
        super().__init__()
        ### BEGIN SOLUTION
        self.table = nn.Parameter(0.02 * torch.randn(max_len, d_model))
        ### END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Add row n of the table to position n of each sentence.

        Args:
            x: (B, L, d_model). It must not be changed.

        Returns:
            (B, L, d_model)

        Raises:
            ValueError: L is larger than max_len.
        """
        ### BEGIN SOLUTION
        length, max_len = x.size(1), self.table.size(0)
        if length > max_len:
            raise ValueError(f"{length} positions, but the table has {max_len}")
        return x + self.table[:length]  # (B, L, d_model)
        ### END SOLUTION


# %% check="positional_encoding/learned" points=8
# Values, gradients of the table, and sentences that are too long.
check("positional_encoding/learned", LearnedPositions)

# %% [markdown]
# ### Does it matter? Train and see
#
# A toy task: each sentence has 8 random tokens. Among them are one `A` and one `B`.
# Which of the two comes first? A small network looks at each vector by itself,
# averages, and decides. We train it three times: without positions, with sinusoids,
# with learned positions. Then we test it on new sentences, also on sentences twice as
# long.
#
# **Predict first.** Six numbers, please: the accuracy of each of the three, at
# length 8 and at length 16. A coin gets 50%.


# %% folded=true
# @title Sentences with an A and a B, and how a model is trained on them
def a_before_b(count: int, length: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Sentences (count, length) with one A (4) and one B (5); whether A comes first."""
    ids = torch.randint(6, 20, (count, length))
    places = torch.rand(count, length).argsort(-1)[:, :2]  # (count, 2)
    ids.scatter_(1, places, torch.tensor([4, 5]).expand(count, 2))
    return ids, (places[:, 0] < places[:, 1]).float()


def accuracies(positions: nn.Module, d_model: int) -> list[float]:
    """Train on sentences of 8 tokens; the accuracy on new ones of 8 and of 16."""
    torch.manual_seed(0)
    layers = (nn.Linear(d_model, 64), nn.ReLU(), nn.Linear(64, 1))
    model = nn.Sequential(InputLayer(20, d_model, positions, dropout=0.0), *layers)
    with torch.no_grad():  # shorter vectors; that of padding stays zero
        model[0].embedding.weight.mul_(d_model**-0.5)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for _ in range(300):
        ids, first = a_before_b(128, 8)
        logits = model(ids).mean((1, 2))  # (128,)
        loss = nn.functional.binary_cross_entropy_with_logits(logits, first)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    tests = (a_before_b(10_000, length) for length in (8, 16))
    return [
        ((model(ids).mean((1, 2)) > 0) == first.bool()).float().mean().item()
        for ids, first in tests
    ]


# %%
@demo
def does_it_matter():
    d_model = 32
    ways = {
        "no positions": nn.Identity(),
        "sinusoids": PositionalEncoding(sinusoid(torch.arange(16), d_model)),
        "learned": LearnedPositions(d_model, 16),
    }
    results = {name: accuracies(way, d_model) for name, way in ways.items()}
    pictures.accuracies(results, sizes=(8, 16))


# %% [markdown]
# Without positions, the network is a coin. No training can change that: both answers
# have the same bag of vectors. With either kind of positions it learns the task. And at
# twice the length both fall far. The learned table never trained its rows 8 to 15. The
# sinusoids *have* values there, but the network never saw them. Values for longer
# sentences are not yet skill with longer sentences. We come back to that cliff in
# unit 5.

# %% [markdown]
# ## 1.9 Bug clinic
#
# The formula is two lines long. Still, wrong tables have been published, by teachers,
# in solutions and lectures. Two of them:
#
# - **Table A**, from the solution of a university assignment. Its loop variable $j$
#   runs over the even columns, $j = 0, 2, 4, \dots$ It computes
#   $\sin(pos / 10000^{\,j/d_\text{model}})$ and
#   $\cos(pos / 10000^{\,(j+1)/d_\text{model}})$.
# - **Table B**, from a public lecture. Its $j$ runs over the even columns as well. It
#   computes $\sin(pos / 10000^{\,2j/d_\text{model}})$ and
#   $\cos(pos / 10000^{\,2j/d_\text{model}})$.
#
# What is wrong with each? Compare with the formula in section 1.3 before you read on.
#
# Why did nobody notice? Because nothing crashes. A network still trains with such a
# table, just a little worse. In the assignment even a printed number gave the bug away.
# It showed 1.0078 where the formula gives 0.9929, but no program compared the two.
#
# Here are both beside the right table. Would *you* have noticed, by eye?


# %%
def table_a(max_len: int, d_model: int) -> torch.Tensor:
    """Table A: the cosines turn too slowly, as if positions lay closer together."""
    positions = torch.arange(max_len)
    table = sinusoid(positions, d_model)
    closer = sinusoid(positions * 10000 ** (-1 / d_model), d_model)
    table[:, 1::2] = closer[:, 1::2]
    return table


def table_b(max_len: int, d_model: int) -> torch.Tensor:
    """Table B: half the columns use up all wavelengths; the rest hardly moves."""
    positions = torch.arange(max_len)
    halves = (sinusoid(positions / stretch, d_model // 2) for stretch in (1, 10000))
    return torch.cat(tuple(halves), dim=-1)


# %%
@demo
def three_tables():
    tables = {
        "right": sinusoid(torch.arange(60), 64),
        "table A": table_a(60, 64),
        "table B": table_b(60, 64),
    }
    pictures.tables(tables)


# %% [markdown]
# ### Exercise 1.9 - Write the test
# *time ~35 min · difficulty 4/5 · 8 points*
#
# **Why it matters.** Eyes miss bugs. Tests do not.
#
# **What to do.** Write the test that these authors did not have. It gets a table and
# raises `AssertionError` if the table is not the sinusoid table. We grade it as one
# grades a test: we run it on right tables and on wrong ones, A and B and others. It
# must accept the right ones and reject all others.
#
# - Accept what is right to about four decimals: a right table may have been computed in
#   another way, or rounded. Its numbers are off by less than 0.0001.
# - Reject every table with a number that is off by more than 0.01, or is no number at
#   all.
#
# You may compare with a table of your own. But a test that copies the code copies its
# bugs. It is more fun to test *properties*: where do the hands start? How long are
# they? How far do they turn in the first step? How far in each next one? Small errors
# add up, though: a hand that turns 0.05 % too far in each step is off by 0.03 at
# position 60 and by 0.1 at position 200. So check how far each hand has turned since
# row 0, not only since the row before.
#
# <details><summary>Hint 1: a question</summary>
#
# Of two properties, "every pair has $\sin^2 + \cos^2 = 1$" and "row 0 is
# `0, 1, 0, 1, ...`": which finds bug A? Does either find bug B?
#
# </details>
# <details><summary>Hint 2: shapes</summary>
#
# The table `(max_len, d_model)` tells you both sizes. The sines are
# `(max_len, d_model/2)`, and the cosines as well. The speeds are `(d_model/2,)`, and
# the angle of every hand at every position is `(max_len, d_model/2)`.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# read the sizes off the table
# work out what each number should be (from the angles), or what follows from it
# assert that ALL numbers are closer than a tolerance between 0.0001 and 0.01
#     ask for "all are close", not "none is far": a NaN is neither close nor far
# return nothing
# ```
#
# </details>


# %% exercise="positional_encoding/bug_clinic"
def assert_sinusoidal(table: torch.Tensor) -> None:
    """Pass quietly if a table is the sinusoid table of its size.

    Args:
        table: (max_len, d_model), float32; max_len at least 2, d_model even. The rows
            are the positions 0, 1, ..., max_len - 1.

    Raises:
        AssertionError: some number is off by more than 0.01, or is NaN. Where all are
            right to 0.0001 there must be none; in between either will do.
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


# %% check="positional_encoding/bug_clinic" points=8
# Your test, run on right tables and on wrong ones.
check("positional_encoding/bug_clinic", assert_sinusoidal)

# %% [markdown]
# Run your test on everything that we have met, your own two tables included.


# %%
@demo
def your_test_at_work():
    tables = {
        "your loops": table_by_loops(12, 8),
        "your table at once": sinusoid(torch.arange(12), 8),
        "table A (cosine)": table_a(12, 8),
        "table B (exponent)": table_b(12, 8),
        "positions from 1": sinusoid(torch.arange(1, 13), 8),
        "learned": LearnedPositions(8, 12).table.detach(),
    }
    for name, table in tables.items():
        try:
            assert_sinusoidal(table)
            print(f"{name:<20} accepted")
        except AssertionError as error:
            print(f"{name:<20} rejected: {error}")


# %% [markdown]
# ## 1.10 A picture of your own
#
# So far, the pictures were ours. A good one is quickly made, and says more than a
# table: where the hands start, how fast each of them turns, which two belong together.
# And somebody else must be able to read it: what runs along each axis, and which curve
# is which?
#
# ### Exercise 1.10 - Draw some dimensions
# *time ~15 min · difficulty 2/5 · 4 points*
#
# **Why it matters.** You will draw curves in every unit and in every project. An axis
# without a name is the most common mistake of all.
#
# **What to do.** Draw some columns of a table over its first positions into **one**
# picture, one curve for each column, with matplotlib or with
# [seaborn](https://seaborn.pydata.org/generated/seaborn.lineplot.html). People count
# dimensions from 1: dimension 1 is column 0. Name both axes, and give a legend in which
# each curve is named by its dimension's number, as in `dimension 7`. (Of a longer name,
# the number after `dimension` is read, or else the last number.) Return the `Axes`. It
# is checked what stands on them; colours and markers are yours. The x axis shows all
# positions that were asked for, and each call makes a picture of its own.
#
# <details><summary>Hint 1: a question</summary>
#
# Which column is dimension 16? And what are the positions of the first `length` rows:
# do they begin at 0 or at 1?
#
# </details>
# <details><summary>Hint 2: the parts</summary>
#
# ```text
# _, ax = plt.subplots()                 an empty picture
# ax.plot(x, y, label=...)        one curve; or sns.lineplot(x=x, y=y, label=..., ax=ax)
# ax.set(xlabel=..., ylabel=...)  ax.legend()
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# an empty picture
# for each dimension:
#     draw the first numbers of its column over the positions 0, 1, ..., with its name
# name both axes, show the legend
# return the axes
# ```
#
# </details>


# %% exercise="positional_encoding/draw_dimensions"
def draw_dimensions(table: torch.Tensor, dimensions: Sequence[int], length: int):
    """Curves of some dimensions over the first positions, in one picture.

    Args:
        table: (max_len, d_model), the encoding of position n in row n.
        dimensions: which ones, counted from 1; each different.
        length: how many positions to draw, from position 0 on.

    Returns:
        The matplotlib ``Axes``: a curve for each dimension, both axes named, and a
        legend that names each curve by its dimension's number.
    """
    ### BEGIN SOLUTION
    import seaborn as sns
    from matplotlib import pyplot as plt

    _, ax = plt.subplots(figsize=(8, 3))
    for number in dimensions:
        values = table[:length, number - 1].tolist()
        name = f"dimension {number}"
        sns.lineplot(x=list(range(length)), y=values, label=name, marker="o", ax=ax)
    ax.set(xlabel="position", ylabel="value")
    return ax
    ### END SOLUTION


# %% check="positional_encoding/draw_dimensions" points=4
# Looks at curves, positions, names of the axes, and the legend.
check("positional_encoding/draw_dimensions", draw_dimensions)

# %% [markdown]
# **Predict first**, for dimensions 1, 2, 7 and 16 of 64: which two curves are the same
# but for a shift? Which one has hardly gone down after 16 positions?


# %%
@demo
def four_curves_of_yours():
    ax = draw_dimensions(sinusoid(torch.arange(64), 64), (1, 2, 7, 16), 16)
    show(
        ax.figure,
        number="1.9",
        caption="Four dimensions, in your own drawing.",
        alt="Your curves over positions 0 to 15. Dimensions 1 and 2 are a sine and a "
        "cosine of the same wave, about 6 positions long; dimension 7 is a sine of "
        "about 15; dimension 16 a cosine that falls slowly.",
    )


# %% [markdown]
# ## What you built
#
# - `embed`: ids to vectors, and padding to zero.
# - `shuffle_gap`: a property test that tells whether a function can see order.
# - `table_by_loops` and `sinusoid`: one formula, twice, each a test of the other.
# - `PositionalEncoding`: the table as a buffer that goes where the model goes.
# - `InputLayer`: scaled embeddings plus positions, then dropout. Unit 4 starts from it.
# - `shift_matrix`: a step along the sentence is a rotation.
# - `LearnedPositions`: the other way, trained and bounded.
# - `assert_sinusoidal`: the test that would have caught two published bugs.
# - `draw_dimensions`: a picture that somebody else can read.
#
# ## Go further
#
# - **Rotate instead of adding.** If a step is a rotation, why not rotate the vectors
#   themselves? That is RoPE, and most large language models use it today: Su et al.,
#   2021 ([arXiv:2104.09864](https://arxiv.org/abs/2104.09864)). Your `shift_matrix` is
#   its heart.
# - **Bias the attention.** ALiBi adds no positions at all. It makes far tokens count
#   less: Press et al., 2021 ([arXiv:2108.12409](https://arxiv.org/abs/2108.12409)).
# - **No positions.** A decoder with a causal mask can work out order by itself:
#   Haviv et al., 2022 ([arXiv:2203.16634](https://arxiv.org/abs/2203.16634)). After
#   unit 2, use `shuffle_gap` to see why.
# - **Play.** Replace 10000 by 10 or by 1000000 in your `sinusoid`, and draw the
#   pictures again. Which positions become hard to tell apart?

# %% [markdown]
# ## Where you stand
#
# Your points so far, and what to do next. Run it again whenever you have solved
# something.

# %%
check.summary()
