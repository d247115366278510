# %% [markdown]
# # 4 · Encoder and decoder
#
# You have positions, attention and heads. In this unit the pieces become a machine: the
# whole Transformer of Vaswani et al. 2017, in about a hundred lines of your own code.
#
# **You will learn**
# - what happens between two attentions: the position-wise feed-forward network;
# - how *add & norm* holds a deep network together, and where the norm should stand;
# - to build the encoder layer, the decoder layer, their stacks and the full model;
# - to prove from outside, by changing one input, that no information leaks;
# - to look inside, at the attention weights of every layer;
# - to load your weights into PyTorch's own `nn.Transformer` and get equal outputs;
# - the three families (encoder-only, decoder-only, encoder-decoder), and to train each
#   in seconds;
# - to write a test that exposes a published decoder with three bugs.
#
# *About 5½ hours · short path about 2½: exercises 4.1, 4.2, 4.3, 4.4, 4.5, 4.6,
# 4.7, 4.8*
#
# *14 exercises and one question in words · 100 points.* The short path carries the
# story: read the rest, and come back to it.
#
# **Recap.** Unit 1 gave `InputLayer`: scaled embeddings plus positions. Unit 2 gave
# `padding_mask`, `causal_mask` and `combine_masks`. Unit 3 gave `MultiHeadAttention`:
# it takes query, key, value and a mask, and returns the pair (output, weights).
#
# **Conventions of this course**
#
# | name | meaning |
# |---|---|
# | `B` | sentences in a batch; the batch comes first |
# | `Ls`, `Lt` | positions of the source and of the target; `L` if there is only one |
# | `d_model` | size of the vector at each position, the same through the whole model |
# | `d_ff` | size of the hidden layer in the feed-forward network |
# | `h` (in code `num_heads`) | number of heads |
# | mask | boolean, **`True` = may attend**, broadcastable to `(B, h, Lq, Lk)` |
# | `norm_first` | `False`: post-norm, as in the paper; `True`: pre-norm |
# | ids | `PAD=0, BOS=1, EOS=2, UNK=3`; no real token is one of them |
# | what is given | stays as it was: no function changes its arguments |
# | gradients | flow back through what you compute, unless the text says otherwise |

# %%
import math
from collections.abc import Callable, Iterator, Mapping

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder import check, demo, drawing, earlier
from autograder.library.published import available
from autograder.units.encoder_decoder.library import pictures

# False: what earlier units built comes from the course, right for sure. True: from your
# own notebooks, if they lie beside this one. Grading always uses the course's.
USE_MY_OWN = False
positional_encoding = earlier("01_positional_encoding", mine=USE_MY_OWN)
attention = earlier("02_attention", mine=USE_MY_OWN)
multi_head_attention = earlier("03_multi_head_attention", mine=USE_MY_OWN)

torch.set_printoptions(precision=3, sci_mode=False)


# %% [markdown]
# A helper, the *data-flow probe* that you met in unit 2: change one input, and see
# which outputs move.
#
# It differs from unit 2's in one point. There all features of a position could be
# changed by the same amount. Here we push each feature by another one. Why that matters
# comes in section 2.


# %%
def who_moves(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Which outputs of the first sentence move when a position of x changes.

    Args:
        function: from (B, Lk, d) to (B, Lq, d_out).
        x: (B, Lk, d).

    Returns:
        (Lq, Lk), bool; entry [i, j]: does output i move when input j changes?
    """
    push = torch.linspace(-1, 1, x.size(-1))
    with torch.no_grad():
        before, columns = function(x), []
        for j in range(x.size(1)):
            changed = x.clone()
            changed[:, j] += push
            columns.append(((function(changed) - before)[0].abs() > 1e-5).any(-1))
    return torch.stack(columns, dim=1)  # (Lq, Lk)


# %% [markdown]
# ## 1. A place to think: the feed-forward network
#
# Attention *moves* information between positions. Its output is a weighted sum of
# values, and a sum does not decide anything. Deciding is the job of the second half of
# each layer, a small network that is applied to **each position alone**, with the same
# weights everywhere:
#
# $$\operatorname{FFN}(x) = \max(0,\; x W_1 + b_1)\, W_2 + b_2$$
#
# (Vaswani et al. 2017, section 3.3). First it widens the vector from `d_model` to
# `d_ff`, usually four times as large. Then it bends (ReLU, or GELU in newer models).
# Then it narrows the vector again.

# %%
drawing("talk_and_think", "4.1", "Attention moves information; the network thinks.")

# %% [markdown]
# **Predict first.** The paper's base model has `d_model = 512` and `d_ff = 2048`. Which
# part of an encoder layer has more weights: multi-head attention or the feed-forward
# network?

# %%
d_model, d_ff = 512, 2048
in_attention = 4 * (d_model * d_model + d_model)
in_feed_forward = (d_model * d_ff + d_ff) + (d_ff * d_model + d_model)
print(f"multi-head attention: {in_attention:>9,}")
print(f"feed-forward:         {in_feed_forward:>9,}")

# %% [markdown]
# Two thirds of the layer are feed-forward. Geva et al. (2021) look at it as a memory.
# In $x W_1$, each *column* of $W_1$ recognises a pattern: its product with $x$ says how
# well it fits. The *row* of $W_2$ with the same number says what follows from it.
#
# ### Exercise 4.1 - position-wise feed-forward
#
# *time ~10 min · difficulty 1/5 · 6 points*
#
# **Why it matters.** It is the only part of a layer that bends each vector. Without it,
# a stack of layers could do little more than average.
#
# **What to do.** Two linear layers (with bias) named `linear1` and `linear2`. Between
# them the activation and then dropout. `activation` is `"relu"` or `"gelu"` (the exact
# GELU, PyTorch's default). Leave `x` as it was. Here and in all of this unit, matrices
# start at random and every parameter learns: PyTorch's own start values will do. The
# state dict holds each parameter once, under the name that the text gives (unless it is
# shared): section 6 translates these names.
#
# <details><summary>Hint 1: a question</summary>
#
# `nn.Linear` acts on the last dimension and leaves all others alone. So what do you
# have to do so that each position is treated by itself?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# x                 (..., d_model)
# after linear1     (..., d_ff)
# activation        (..., d_ff)
# dropout           (..., d_ff)
# after linear2     (..., d_model)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# init:     the two linear layers, a dropout layer, and remember the activation
# forward:  widen, bend, drop, narrow
# ```
#
# </details>


# %% exercise="encoder_decoder/feed_forward"
class FeedForward(nn.Module):
    """The position-wise feed-forward network (Vaswani et al. 2017, section 3.3).

    Args:
        d_model: size of the input and output vectors.
        d_ff: size of the hidden vectors.
        dropout: probability of dropping a hidden number in training.
        activation: "relu" or "gelu".

    The linear layers are named `linear1` and `linear2`.
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        dropout: float = 0.0,
        activation: str = "relu",
    ):
        super().__init__()
        ### BEGIN SOLUTION
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)
        self.activation = {"relu": F.relu, "gelu": F.gelu}[activation]
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """From x `(..., d_model)` to the same shape and type, position by position."""
        ### BEGIN SOLUTION
        hidden = self.activation(self.linear1(x))  # (..., d_ff)
        return self.linear2(self.dropout(hidden))  # (..., d_model)
        ### END SOLUTION


# %% check="encoder_decoder/feed_forward" points=6
# Looks at names and sizes of the weights, values, dropout, and who moves whom.
check("encoder_decoder/feed_forward", FeedForward)

# %% [markdown]
# ## 2. Add & norm: what holds it together
#
# A layer has two *sublayers*: attention and feed-forward. Around each of them stand
# three small things.
#
# - **Add.** The input is added to the output of the sublayer: $x + f(x)$. The sublayer
#   only has to learn a *correction*. And there is a road without any obstacle from the
#   loss back to the first layer, for the gradient (He et al. 2016).
# - **Norm.** `nn.LayerNorm` brings each vector to mean 0 and variance 1, then scales
#   and shifts each feature by learnt numbers. It looks at *one position at a time* (Ba
#   et al. 2016).
# - **Dropout.** In training, the sublayer's output is dropped here and there *before*
#   it is added (section 5.4 of the paper). The road itself is never cut.
#
# There are two places for the norm, and both are in use:

# %%
drawing("norm_placements", "4.2", "An encoder layer, post-norm and pre-norm.")

# %% [markdown]
# $$\text{post: } \operatorname{norm}(x + \operatorname{drop}(f(x))) \qquad\qquad
# \text{pre: } x + \operatorname{drop}(f(\operatorname{norm}(x)))$$
#
# Look closely at the road from left to right. In pre-norm nothing stands on it. In
# post-norm every layer puts a norm across it.
#
# **Predict first.** What does LayerNorm make of a vector to which we add 1 everywhere?
# And if we multiply it by 10?

# %%
norm = nn.LayerNorm(4)
vector = torch.tensor([1.0, -2.0, 0.5, 3.0])
for name, changed in (("as is", vector), ("+ 1", vector + 1), ("* 10", 10 * vector)):
    print(f"{name:>6}: {[round(number, 3) for number in norm(changed).tolist()]}")

# %% [markdown]
# LayerNorm forgets what all features have in common: their mean and their scale. That
# is why our probe pushes each feature by *another* amount. A probe that adds 1
# everywhere is blind in front of a norm. (Remember this when you write a test in
# section 8.)
#
# ### Exercise 4.2 - add & norm
#
# *time ~10 min · difficulty 2/5 · 7 points*
#
# **Why it matters.** You will call this function twice in an encoder layer and three
# times in a decoder layer. The two placements are easily confused: in one well-known
# tutorial, the text says post-norm and the code is pre-norm.
#
# **What to do.** Both placements, by the formulas above. The sublayer, the norm and the
# dropout are handed to you; call each of them exactly once. Leave `x` as it was, even
# if the sublayer returns the very tensor that it was given.
#
# <details><summary>Hint 1: a question</summary>
#
# In pre-norm, `x` is used twice: once on the road, once on the way into the sublayer.
# Which of the two is normalised?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# Everything is `(B, L, d_model)`: otherwise one could not add.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# if the norm comes first:
#     branch = the sublayer of the normalised x, dropped
#     the untouched x plus the branch
# otherwise:
#     branch = the sublayer of x, dropped
#     the norm of the sum
# ```
#
# </details>


# %% exercise="encoder_decoder/add_and_norm"
def add_and_norm(
    x: Tensor,
    sublayer: Callable[[Tensor], Tensor],
    norm: nn.Module,
    dropout: nn.Module,
    norm_first: bool,
) -> Tensor:
    """A sublayer with its residual connection, its norm and its dropout.

    Args:
        x: `(B, L, d_model)`.
        sublayer: a function from `(B, L, d_model)` to the same shape.
        norm: a module that normalises each position.
        dropout: a module, applied to what the sublayer returns, before the sum.
        norm_first: False: post-norm, norm of the sum. True: pre-norm, sublayer of the
            norm.

    Returns:
        `(B, L, d_model)`
    """
    ### BEGIN SOLUTION
    if norm_first:
        return x + dropout(sublayer(norm(x)))
    return norm(x + dropout(sublayer(x)))
    ### END SOLUTION


# %% check="encoder_decoder/add_and_norm" points=7
# Looks at both placements, with a stand-in for dropout whose place can be seen.
check("encoder_decoder/add_and_norm", add_and_norm)

# %% [markdown]
# ## 3. The encoder
#
# An encoder layer is self-attention and feed-forward, each in its add & norm:
#
# ```text
# x ─▶ add & norm 1 ( self-attention ) ─▶ add & norm 2 ( feed-forward ) ─▶
# ```
#
# ### Exercise 4.3 - the encoder layer
#
# *time ~20 min · difficulty 3/5 · 9 points*
#
# **Why it matters.** BERT is this layer, twelve times.
#
# **What to do.** Create `attention` (a `MultiHeadAttention` of unit 3), `feed_forward`,
# and two `nn.LayerNorm(d_model)`: `norm1` for the attention and `norm2` for the
# feed-forward. Hand on what you are given: `num_heads` to the attention, `d_ff` and
# `activation` to the feed-forward network. The same `dropout` goes into the attention,
# into the feed-forward network, and onto each of the two branches. Return the new
# vectors only, not the weights.
#
# <details><summary>Hint 1: a question</summary>
#
# `add_and_norm` wants a *function of one tensor*. Attention takes three tensors and a
# mask, and returns two. How do you make a function of one tensor from it? (With
# pre-norm, that tensor is the normalised one. It must be all three: query, key and
# value.)
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# x                               (B, L, d_model)
# attention of it to itself       (B, L, d_model), (B, h, L, L)   the first is needed
# after add & norm 1              (B, L, d_model)
# after add & norm 2              (B, L, d_model)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# init:     attention, feed_forward, norm1, norm2, a dropout; remember norm_first
# forward:  define a little function: attention of its argument to itself, with the
#               mask; it returns the first result
#           x = add & norm of that function, with norm1
#           return add & norm of the feed-forward network, with norm2
# ```
#
# </details>


# %% exercise="encoder_decoder/encoder_layer"
class EncoderLayer(nn.Module):
    """Self-attention and feed-forward, each with residual, norm and dropout.

    Args:
        d_model: size of the vectors.
        num_heads: number of heads of the attention.
        d_ff: size of the hidden layer of the feed-forward network.
        dropout: in the attention, in the feed-forward network, and on both branches.
        norm_first: False: post-norm. True: pre-norm.
        activation: "relu" or "gelu", for the feed-forward network.

    Its modules are named `attention`, `feed_forward`, `norm1` (of the attention) and
    `norm2` (of the feed-forward network).
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float = 0.0,
        norm_first: bool = False,
        activation: str = "relu",
    ):
        super().__init__()
        ### BEGIN SOLUTION
        self.attention = multi_head_attention.MultiHeadAttention(
            d_model, num_heads, dropout
        )
        self.feed_forward = FeedForward(d_model, d_ff, dropout, activation)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first
        ### END SOLUTION

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """From x `(B, L, d_model)` to a tensor of the same shape.

        Args:
            mask: None, or boolean `(L, L)`, `(B, L, L)` or `(B, h, L, L)`, where B, h
                and the first L may be 1: True = may attend.
        """
        ### BEGIN SOLUTION

        def attend(x: Tensor) -> Tensor:
            return self.attention(x, x, x, mask)[0]  # (B, L, d_model)

        x = add_and_norm(x, attend, self.norm1, self.dropout, self.norm_first)
        return add_and_norm(
            x, self.feed_forward, self.norm2, self.dropout, self.norm_first
        )
        ### END SOLUTION


# %% check="encoder_decoder/encoder_layer" points=9
# Looks at the weights' names, values in both placements, masks, dropout and gradients.
check("encoder_decoder/encoder_layer", EncoderLayer)

# %% [markdown]
# ### The stack
#
# One layer can combine what it sees directly. To combine *what others have found*,
# stack layers. The output of one is the input of the next; nothing else changes.
#
# With pre-norm, the road is never normalised, and its vectors grow from layer to layer.
# So a pre-norm stack ends with **one more norm**. A post-norm stack has just had one,
# and needs no other. (PyTorch's `nn.Transformer` puts a final norm in both cases. The
# paper does not.)
#
# ### Exercise 4.4 - the encoder stack
#
# *time ~10 min · difficulty 2/5 · 6 points*
#
# **Why it matters.** Two lines, three classic bugs: layers that PyTorch cannot see,
# layers that are all the same one, and a mask that only the first layer gets.
#
# **What to do.** The stack is not told what a layer looks like. It is given a function
# `make_layer` that returns a new one. Call it `num_layers` times. Keep the layers in
# `layers`, and the final norm, if there is one, in `norm`. Each layer gets `x` and the
# mask. Call the layer itself, as `layer(x, mask)`: its `forward` would leave out hooks,
# with which exercise 4.13 listens.
#
# <details><summary>Hint 1: a question</summary>
#
# How does PyTorch find the parameters of a module that lies in a plain Python list?
# Which kind of list does it look into?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# `(B, L, d_model)` all the way.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# init:     a list that PyTorch knows, with num_layers fresh layers; remember the norm
# forward:  for each layer: x becomes what it makes of x and the mask
#           if there is a final norm, apply it
# ```
#
# </details>


# %% exercise="encoder_decoder/encoder"
class Encoder(nn.Module):
    """A stack of layers, with a norm at the end if one is given.

    Args:
        make_layer: called without arguments, returns a new layer each time.
        num_layers: how many layers.
        norm: a module for the end of the stack, or None.

    Its modules are named `layers` and, if there is one, `norm`.
    """

    def __init__(
        self,
        make_layer: Callable[[], nn.Module],
        num_layers: int,
        norm: nn.Module | None = None,
    ):
        super().__init__()
        ### BEGIN SOLUTION
        self.layers = nn.ModuleList(make_layer() for _ in range(num_layers))
        self.norm = nn.Identity() if norm is None else norm
        ### END SOLUTION

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Send x `(B, L, d_model)` through all layers, each with the same mask."""
        ### BEGIN SOLUTION
        for layer in self.layers:
            x = layer(x, mask)  # (B, L, d_model)
        return self.norm(x)
        ### END SOLUTION


# %% check="encoder_decoder/encoder" points=6
# Uses layers of its own, so that only the stack is judged.
check("encoder_decoder/encoder", Encoder)

# %% [markdown]
# ### Where should the norm stand? A measurement
#
# Two encoders of eight layers. Same sizes, same data, same learning rate. The only
# difference is `norm_first`. The task: at each of eight positions, name the letter that
# stands at the *mirrored* position. There are 12 letters, so guessing costs
# $\log 12 \approx 2.48$.
#
# **Predict first.** Which of the two learns faster? Which has the larger gradients in
# the last layer, and which one in the first?


# %% folded=true
# @title A deep encoder that mirrors eight letters, and how it is trained
class Mirror(nn.Module):
    """Ids (B, 8) to logits (B, 8, 17), through a deep encoder."""

    def __init__(self, norm_first: bool, depth: int = 8, width: int = 32):
        super().__init__()
        places = positional_encoding.sinusoid(torch.arange(8), width)
        self.words = positional_encoding.InputLayer(
            17, width, positional_encoding.PositionalEncoding(places), dropout=0.0
        )
        self.stack = Encoder(
            lambda: EncoderLayer(width, 4, 2 * width, norm_first=norm_first),
            depth,
            nn.LayerNorm(width) if norm_first else None,
        )
        self.logits = nn.Linear(width, 17)

    def forward(self, ids: Tensor) -> Tensor:
        return self.logits(self.stack(self.words(ids)))


def initialise(model: nn.Module) -> nn.Module:
    """Xavier's uniform numbers for every matrix; padding's vector stays zero."""
    for parameter in model.parameters():
        if parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter)
    for table in model.modules():
        if isinstance(table, nn.Embedding):
            with torch.no_grad():
                table.weight[table.padding_idx] = 0
    return model


def train_mirror(
    norm_first: bool, seed: int, steps: int = 120, warmup: int = 1
) -> tuple[list, list]:
    """The losses of all steps, and each layer's gradient norm before the first one."""
    torch.manual_seed(seed)
    model = initialise(Mirror(norm_first))
    optimizer = torch.optim.Adam(model.parameters())
    losses, sizes = [], []
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = 5e-3 * min(1, (step + 1) / warmup)
        ids = torch.randint(5, 17, (32, 8))
        loss = F.cross_entropy(model(ids).flatten(0, 1), ids.flip(1).flatten())
        optimizer.zero_grad()
        loss.backward()
        sizes = sizes or [_gradient_norm(layer) for layer in model.stack.layers]
        optimizer.step()
        losses.append(loss.item())
    return losses, sizes


def _gradient_norm(module: nn.Module) -> float:
    return math.sqrt(sum(float(p.grad.square().sum()) for p in module.parameters()))


# %%
@demo
def before_or_after():
    runs = {}
    for norm_first, name in ((False, "post-norm"), (True, "pre-norm")):
        runs[name] = [train_mirror(norm_first, seed) for seed in range(2)]
        for seed, (losses, _) in enumerate(runs[name]):
            print(f"{name:>9}, seed {seed}: loss after 120 steps {losses[-1]:.2f}")
    pictures.placements(runs)


# %% [markdown]
# With the same settings, pre-norm learns and post-norm still guesses. And the
# gradients? Post-norm's are the larger ones at both ends: by a factor of 1.4 to 1.7 in
# the first layer, and of 2.4 to 3 in the last. (Two seeds; how a curve runs in between
# is another story in each of them.)
#
# Post-norm *can* be trained: with a smaller learning rate, and with a warm-up that
# starts with tiny steps (the paper took 4000 of them). Xiong et al. (2020) show why: at
# the start, post-norm's gradients near the output are large, and Adam's first steps are
# then far too bold. With pre-norm the warm-up can be dropped.
#
# **Predict first.** The same post-norm encoder, the same rate of 0.005, 300 steps,
# twice: once as above, and once with a rate that rises to 0.005 over the first 100
# steps. Is that enough?


# %%
@demo
def post_norm_with_warmup():
    curves = {}
    for warmup in (1, 100):
        losses, _ = train_mirror(False, seed=0, steps=300, warmup=warmup)
        name = f"warm-up of {warmup} steps" if warmup > 1 else "no warm-up"
        curves[name] = losses
        print(f"post-norm, {name}: loss {sum(losses[-10:]) / 10:.2f}")
    pictures.warmups(curves)


# %% [markdown]
# It is: 2.36 without and 1.78 with warm-up after 300 steps (2.35 and 1.78 with another
# seed). By then the rate is the same in both. A few bold steps at the very start have
# put the first model into a place from which it hardly finds out again.
#
# That is not the end of the story. A well-trained post-norm model is often as good or
# better. Here we only claim: pre-norm is *easier to train*.
#
# *Question in words (4 points).* Follow the road from the input of layer 1 to the
# output of layer 8, once in each placement. Write down what a vector meets on it, if
# every sublayer returned zero. Then say in three to five sentences: what does the
# gradient meet on the way back, why does a pre-norm stack need one more norm at its
# end, and which line of `add_and_norm` would you look at if someone's deep model
# refused to learn?
#
# *What a full answer has: both roads (2), the gradient (1), the final norm (1).*

# %% [markdown] written="encoder_decoder/norm_placement" points=4
# *Your answer here*
#
# ### BEGIN SOLUTION
# Pre-norm: the vector meets nothing; the output of layer 8 is the input of layer 1.
# Post-norm: it passes a LayerNorm twice per layer, sixteen in all. Backwards, the
# gradient reaches layer 1 unchanged along the pre-norm road, plus what the branches
# add; with post-norm it is multiplied by sixteen Jacobians of LayerNorm, which rescale
# it each time. On the pre-norm road every layer adds something and nobody normalises
# the sum, so its size grows with depth; the norm at the end brings it back before the
# output layer. I would look at whether the norm stands around the sum or inside the
# branch.
# ### END SOLUTION

# %% [markdown]
# ## 4. The decoder
#
# The decoder writes the target, one token after the other. Its layer has *three*
# sublayers:

# %%
drawing("decoder_layer", "4.5", "The three sublayers of a decoder layer.")

# %% [markdown]
# 1. **Masked self-attention**: what has been written so far? The mask hides the future.
# 2. **Cross-attention**: what does the source say about it? The queries come from the
#    decoder. Keys and values come from the *memory*, the output of the encoder's last
#    layer.
# 3. **Feed-forward**, as before.
#
# The source is known as a whole. So cross-attention has *no* causal mask, only the
# padding mask of the source.
#
# ### Exercise 4.5 - the decoder layer
#
# *time ~25 min · difficulty 3/5 · 11 points*
#
# **Why it matters.** Everything that translates, summarises or corrects with an
# encoder-decoder stands on this layer. It has two masks, two sequences of different
# lengths, and many ways to mix them up without an error message.
#
# **What to do.** Create `self_attention`, `cross_attention`, `feed_forward`, and norms
# like those of 4.3, `norm1`, `norm2`, `norm3` in the order of the sublayers. Dropout
# goes where it went in 4.3: into both attentions, into the feed-forward network, and
# onto each of the three branches. The memory is *not* normalised here: the encoder has
# done that.
#
# <details><summary>Hint 1: a question</summary>
#
# One vector must come out for each *target* position. Who therefore asks in
# cross-attention, and who answers?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# x                      (B, Lt, d_model)
# memory                 (B, Ls, d_model)
# weights, self          (B, h, Lt, Lt)      tgt_mask broadcasts to it
# weights, cross         (B, h, Lt, Ls)      memory_mask broadcasts to it
# result                 (B, Lt, d_model)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# forward:  x = add & norm 1 of: argument attends to itself, with tgt_mask
#           x = add & norm 2 of: argument attends to the memory, with memory_mask
#           return add & norm 3 of the feed-forward network
# ```
#
# </details>


# %% exercise="encoder_decoder/decoder_layer"
class DecoderLayer(nn.Module):
    """Masked self-attention, cross-attention and feed-forward, each with add & norm.

    Args:
        d_model, num_heads, d_ff, dropout, norm_first, activation: as in `EncoderLayer`.

    Its modules are named `self_attention`, `cross_attention`, `feed_forward`, and
    `norm1`, `norm2`, `norm3`, in the order of the sublayers.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float = 0.0,
        norm_first: bool = False,
        activation: str = "relu",
    ):
        super().__init__()
        ### BEGIN SOLUTION
        attention_class = multi_head_attention.MultiHeadAttention
        self.self_attention = attention_class(d_model, num_heads, dropout)
        self.cross_attention = attention_class(d_model, num_heads, dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout, activation)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first
        ### END SOLUTION

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
    ) -> Tensor:
        """From x `(B, Lt, d_model)`, memory `(B, Ls, d_model)` to `(B, Lt, d_model)`.

        Args:
            tgt_mask: None, or boolean, 2-D to 4-D, broadcastable to `(B, h, Lt, Lt)`.
            memory_mask: None, or boolean, 2-D to 4-D, broadcastable to
                `(B, h, Lt, Ls)`.
        """
        ### BEGIN SOLUTION

        def attend(x: Tensor) -> Tensor:
            return self.self_attention(x, x, x, tgt_mask)[0]  # (B, Lt, d_model)

        def look_up(x: Tensor) -> Tensor:
            return self.cross_attention(x, memory, memory, memory_mask)[0]

        x = add_and_norm(x, attend, self.norm1, self.dropout, self.norm_first)
        x = add_and_norm(x, look_up, self.norm2, self.dropout, self.norm_first)
        return add_and_norm(
            x, self.feed_forward, self.norm3, self.dropout, self.norm_first
        )
        ### END SOLUTION


# %% check="encoder_decoder/decoder_layer" points=11
# Looks at values in both placements, and at who moves whom, in target and memory.
check("encoder_decoder/decoder_layer", DecoderLayer)

# %% [markdown]
# Look at your layers from outside. **Predict first**, on paper: for an encoder layer
# whose last word is padding, and for a decoder layer, which outputs move when one input
# changes? There is one thing in the first picture that surprises many.


# %%
@demo
def who_moves_whom():
    torch.manual_seed(4)
    x, memory = torch.randn(1, 5, 8), torch.randn(1, 4, 8)
    encoder, decoder = EncoderLayer(8, 2, 16).eval(), DecoderLayer(8, 2, 16).eval()
    target, source = ["t0", "t1", "t2", "t3", "t4"], ["s0", "s1", "s2", "‹pad›"]
    keep = torch.tensor([[[True, True, True, False]]])  # (B, 1, Ls)
    causal = attention.causal_mask(5)
    pictures.who_moves((
        ("encoder layer, source padded", source, source,
         who_moves(lambda s: encoder(s, keep), memory)),
        ("decoder layer: the target", target, target,
         who_moves(lambda t: decoder(t, memory, causal, keep), x)),
        ("decoder layer: the memory", target, source,
         who_moves(lambda m: decoder(x, m, causal, keep), memory)),
    ))  # fmt: skip


# %% [markdown]
# The surprise: padding still moves *itself*. A mask forbids others to look at it. It
# does not remove it. Its own vector goes down the road, and nobody reads it at the end.
#
# ### Exercise 4.6 - the decoder stack
#
# *time ~5 min · difficulty 2/5 · 5 points*
#
# **Why it matters.** *Every* layer of the decoder looks at the same memory: what the
# *last* layer of the encoder returned. (In many drawings the arrows go from layer to
# layer. Those drawings are wrong.)
#
# **What to do.** As in 4.4. Each layer gets four things, as in `layer(x, memory,
# tgt_mask, memory_mask)`.
#
# <details><summary>Hint 1: a question</summary>
#
# Which of the four arguments change from layer to layer?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# `x` stays `(B, Lt, d_model)`, and the memory stays `(B, Ls, d_model)`.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# for each layer: x becomes what it makes of x, the memory and both masks
# at the end the norm, if there is one
# ```
#
# </details>


# %% exercise="encoder_decoder/decoder"
class Decoder(nn.Module):
    """A stack of decoder layers, with a norm at the end if one is given.

    Args:
        make_layer: called without arguments, returns a new layer each time.
        num_layers: how many layers.
        norm: a module for the end of the stack, or None.

    Its modules are named `layers` and, if there is one, `norm`.
    """

    def __init__(
        self,
        make_layer: Callable[[], nn.Module],
        num_layers: int,
        norm: nn.Module | None = None,
    ):
        super().__init__()
        ### BEGIN SOLUTION
        self.layers = nn.ModuleList(make_layer() for _ in range(num_layers))
        self.norm = nn.Identity() if norm is None else norm
        ### END SOLUTION

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
    ) -> Tensor:
        """Send x `(B, Lt, d_model)` through all layers, each with the same memory."""
        ### BEGIN SOLUTION
        for layer in self.layers:
            x = layer(x, memory, tgt_mask, memory_mask)  # (B, Lt, d_model)
        return self.norm(x)
        ### END SOLUTION


# %% check="encoder_decoder/decoder" points=5
# Uses layers of its own, so that only the stack is judged.
check("encoder_decoder/decoder", Decoder)

# %% [markdown]
# ## 5. The Transformer
#
# Three attentions, three masks:
#
# | attention | queries | keys | mask |
# |---|---|---|---|
# | of the encoder | source | source | padding of the **source** |
# | of the decoder to itself | target | target | padding of the **target**, *and* causal |
# | of the decoder to the memory | target | source | padding of the **source** |

# %%
drawing("whole_model", "4.7", "The whole model, each attention with its mask.")

# %% [markdown]
# In the masks, rows are queries and columns are keys; pink may be seen. A padding mask
# always belongs to the *keys*. So two masks are enough for three attentions.
#
# ### Exercise 4.7 - two masks for three attentions
#
# *time ~10 min · difficulty 2/5 · 6 points*
#
# **Why it matters.** With a wrong mask everything runs, the loss goes down, and the
# model is wrong. With equal lengths you do not even get an error about shapes.
#
# **What to do.** Make both masks from the ids. `attention.padding_mask`,
# `attention.causal_mask` and `attention.combine_masks` of unit 2 are there for you.
# Both masks are boolean and have three dimensions, or four if you like.
#
# <details><summary>Hint 1: a question</summary>
#
# Whose padding matters when the decoder looks at the memory: that of the asker, or that
# of the one who is asked?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# src              (B, Ls)         tgt                (B, Lt)
# src_mask         (B, 1, Ls)      padding of tgt     (B, 1, Lt)
#                                  causal                (Lt, Lt)
#                                  tgt_mask           (B, Lt, Lt)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# src_mask = padding mask of src
# tgt_mask = padding mask of tgt, combined with the causal mask of its length
# return both, source first
# ```
#
# </details>


# %% exercise="encoder_decoder/make_masks"
def make_masks(src: Tensor, tgt: Tensor, pad_id: int = 0) -> tuple[Tensor, Tensor]:
    """The masks of an encoder-decoder.

    Args:
        src: ids of the source, `(B, Ls)`, int64.
        tgt: ids that the decoder reads, `(B, Lt)`, int64; rows start with a real one.
        pad_id: the id of the padding token.

    Returns:
        src_mask, `(B, 1, Ls)` or `(B, 1, 1, Ls)`: for the encoder and the
            cross-attention.
        tgt_mask, `(B, Lt, Lt)` or `(B, 1, Lt, Lt)`: for the decoder's self-attention.
    """
    ### BEGIN SOLUTION
    causal = attention.causal_mask(tgt.size(1)).to(tgt.device)  # (Lt, Lt)
    padding = attention.padding_mask(tgt, pad_id)  # (B, 1, Lt)
    return (
        attention.padding_mask(src, pad_id),  # (B, 1, Ls)
        attention.combine_masks(padding, causal),  # (B, Lt, Lt)
    )
    ### END SOLUTION


# %% check="encoder_decoder/make_masks" points=6
# Looks at who may attend to whom in all three attentions.
check("encoder_decoder/make_masks", make_masks)

# %% [markdown]
# Now put everything together.

# %%
drawing("wiring", "4.8", "The modules of the Transformer and what they exchange.")

# %% [markdown]
# `source` and `target` are `InputLayer`s of unit 1: embedding, times
# $\sqrt{d_\text{model}}$, plus positions, dropout. `output` is a linear layer that
# gives each word of the target vocabulary a score, a *logit*. There is no softmax at
# the end: the loss, `F.cross_entropy`, has its own.
#
# **Shared embeddings.** If both languages use one vocabulary, one table can serve three
# times: for the source, for the target and as the weight of the output layer (section
# 3.4 of the paper; Press and Wolf 2017). "Serve" means: *the same* parameter, not a
# copy. A copy would be equal on the first day only.
#
# ### Exercise 4.8 - the Transformer
#
# *time ~35 min · difficulty 4/5 · 11 points*
#
# **Why it matters.** This is the model of the paper, and of units 5 and 6.
#
# **What to do.** Build it from your parts, with these names:
#
# - `source`, `target`: `positional_encoding.InputLayer(vocab, d_model, positions,
#   dropout, padding_idx)`. It keeps its table as `embedding`, and `padding_idx` is the
#   token whose vector is zero and stays zero: your `pad_id` (if you fill the weights
#   with numbers of your own, padding's vector must be set to zero again);
# - `encoder`, `decoder`: your stacks, whose layers get `dropout`, `norm_first` and
#   `activation`; both get a final `nn.LayerNorm(d_model)` of their own if `norm_first`,
#   otherwise none;
# - `output`: `nn.Linear` from `d_model` to the target vocabulary, with bias.
#
# `positions` is a module that adds positions. Source and target share it: both input
# layers get the *same* module, not two copies. If it is None, take the sinusoids:
# `positional_encoding.PositionalEncoding(table)` with the table
# `positional_encoding.sinusoid(torch.arange(max_len), d_model)`.
#
# If `shared_embedding`: `target` is the very module `source`, and `output.weight` is
# the parameter `source.embedding.weight`, with its zero vector for padding. Different
# vocabulary sizes are then a `ValueError`. (Through the output layer, training does
# reach that row. Thanks to the masks, nobody looks at it.)
#
# <details><summary>Hint 1: a question</summary>
#
# At use, the source is read once, but the decoder runs once per written word. What
# should `encode` return so that it need not be called again? Which masks can `decode`
# make from the ids?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# encode   src (B, Ls)                    -> memory (B, Ls, d_model)
# decode   tgt (B, Lt), memory, src       -> logits (B, Lt, tgt_vocab)
# forward  src, tgt                       -> logits (B, Lt, tgt_vocab)
# nn.Linear(a, b).weight   (b, a)            nn.Embedding(b, a).weight   (b, a)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# init:     refuse shared embeddings of different sizes
#           positions, if none were given: one module for both sides
#           source; target: the same module, or one of its own
#           encoder: a stack of num_layers encoder layers, with a norm if norm_first
#           decoder: the same with decoder layers (and a norm of its own)
#           output; if shared, replace its weight by the embedding's
# encode:   source, then the encoder with the padding mask of src
# decode:   both masks; target, then the decoder, then the output layer
# forward:  decode what encode returns
# ```
#
# </details>


# %% exercise="encoder_decoder/transformer"
class Transformer(nn.Module):
    """The encoder-decoder of Vaswani et al. 2017.

    Args:
        src_vocab, tgt_vocab: sizes of the vocabularies.
        d_model, num_heads, d_ff, dropout, norm_first, activation: as in `EncoderLayer`.
        num_layers: layers of the encoder, and of the decoder.
        shared_embedding: one table for source, target and output.
        pad_id: the token that nobody attends to.
        max_len: positions of the sinusoid table.
        positions: a module that adds positions to `(B, L, d_model)`; None: sinusoids.

    Its modules are named `source`, `target`, `encoder`, `decoder` and `output`.

    Raises:
        ValueError: shared_embedding with vocabularies of different sizes.
    """

    def __init__(
        self,
        src_vocab: int,
        tgt_vocab: int,
        d_model: int,
        num_heads: int,
        num_layers: int,
        d_ff: int,
        dropout: float = 0.0,
        norm_first: bool = False,
        activation: str = "relu",
        shared_embedding: bool = False,
        pad_id: int = 0,
        max_len: int = 512,
        positions: nn.Module | None = None,
    ):
        super().__init__()
        ### BEGIN SOLUTION
        if shared_embedding and src_vocab != tgt_vocab:
            raise ValueError(f"one table cannot hold {src_vocab} and {tgt_vocab} words")
        if positions is None:
            table = positional_encoding.sinusoid(torch.arange(max_len), d_model)
            positions = positional_encoding.PositionalEncoding(table)

        def embedding(vocab: int) -> nn.Module:
            return positional_encoding.InputLayer(
                vocab, d_model, positions, dropout, pad_id
            )

        def stack(kind: type, layer: type) -> nn.Module:
            sizes = (d_model, num_heads, d_ff, dropout, norm_first, activation)
            norm = nn.LayerNorm(d_model) if norm_first else None
            return kind(lambda: layer(*sizes), num_layers, norm)

        self.source = embedding(src_vocab)
        self.target = self.source if shared_embedding else embedding(tgt_vocab)
        self.encoder = stack(Encoder, EncoderLayer)
        self.decoder = stack(Decoder, DecoderLayer)
        self.output = nn.Linear(d_model, tgt_vocab)
        if shared_embedding:
            self.output.weight = self.source.embedding.weight
        self.pad_id = pad_id
        ### END SOLUTION

    def encode(self, src: Tensor) -> Tensor:
        """From ids `(B, Ls)` to the memory `(B, Ls, d_model)`."""
        ### BEGIN SOLUTION
        mask = attention.padding_mask(src, self.pad_id)  # (B, 1, Ls)
        return self.encoder(self.source(src), mask)
        ### END SOLUTION

    def decode(self, tgt: Tensor, memory: Tensor, src: Tensor) -> Tensor:
        """Logits `(B, Lt, tgt_vocab)` for what follows each prefix of `tgt (B, Lt)`.

        Args:
            memory: what `encode(src)` returned, `(B, Ls, d_model)`.
            src: `(B, Ls)`, only to know where the memory is padding.
        """
        ### BEGIN SOLUTION
        src_mask, tgt_mask = make_masks(src, tgt, self.pad_id)
        x = self.decoder(self.target(tgt), memory, tgt_mask, src_mask)
        return self.output(x)  # (B, Lt, tgt_vocab)
        ### END SOLUTION

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """From `src (B, Ls)` and `tgt (B, Lt)` to logits `(B, Lt, tgt_vocab)`."""
        ### BEGIN SOLUTION
        return self.decode(tgt, self.encode(src), src)
        ### END SOLUTION


# %% check="encoder_decoder/transformer" points=11
# Looks at the weights' names, logits, both placements, padding, sharing, who moves.
check("encoder_decoder/transformer", Transformer)

# %% [markdown]
# **Predict first.** The paper's base model: 6 + 6 layers, `d_model` 512, 8 heads,
# `d_ff` 2048, and a shared vocabulary of 37,000. How many parameters? And without
# sharing?


# %%
@demo
def how_large():
    with torch.device("meta"):  # shapes only: no memory is used
        for shared in (True, False):
            model = Transformer(37_000, 37_000, 512, 8, 6, 2048,
                                shared_embedding=shared)  # fmt: skip
            count = sum(parameter.numel() for parameter in model.parameters())
            print(f"shared embedding {shared!s:>5}: {count / 1e6:5.1f} million")


# %% [markdown]
# The paper's Table 3 says 65 million for the base model, rounded, with its vocabulary.
#
# ## 6. Yours is PyTorch's
#
# PyTorch has `nn.TransformerEncoderLayer`, `nn.TransformerDecoderLayer` and
# `nn.Transformer`. If yours is right, there must be weights for which both compute the
# same. There are: *your own*. Only the names differ.
#
# | yours | PyTorch's |
# |---|---|
# | `attention` and `self_attention` | `self_attn` |
# | `cross_attention` | `multihead_attn` |
# | `w_q`, `w_k`, `w_v` | one after the other, as rows, in `in_proj_weight` and `in_proj_bias` |
# | `w_o` | `out_proj` |
# | `feed_forward.linear1`, `feed_forward.linear2` | `linear1`, `linear2` |
# | `norm1` and so on, `layers.0` and so on | the same |
#
# The next cell rewrites the names and joins the three projections, one below the other.
# Read it: it is the border crossing of unit 3, for whole models.


# %%
def to_pytorch(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Your parameters under the names of PyTorch's Transformer modules.

    Args:
        state: the state dict of encoder or decoder layers, under any prefixes.

    Returns:
        A state dict for the module of `torch.nn`; other names are kept as they are.
    """
    new_names = {
        "cross_attention.w_": "multihead_attn.w_",
        "self_attention.w_": "self_attn.w_",
        "attention.w_": "self_attn.w_",
        "feed_forward.linear": "linear",
        "w_o.": "out_proj.",
        "w_q.": "in_proj_",
    }
    theirs = {}
    for name, tensor in state.items():
        if ".w_k." in name or ".w_v." in name:
            continue
        if ".w_q." in name:
            thirds = [state[name.replace("w_q", f"w_{letter}")] for letter in "qkv"]
            tensor = torch.cat(thirds)  # (3 * d_model, d_model) or (3 * d_model,)
        for mine, new in new_names.items():
            name = name.replace(mine, new)
        theirs[name] = tensor
    return theirs


# %% [markdown]
# Now the proof. Random weights, both placements, ReLU and GELU, causal and padding
# masks. Two traps are in this cell: PyTorch's masks mean the opposite of ours (unit 2),
# and its post-norm Transformer has two final norms, which we take out.


# %%
@demo
def same_as_pytorch():
    torch.manual_seed(6)
    src, tgt = torch.randn(3, 7, 12), torch.randn(3, 5, 12)
    keep = torch.arange(7) < torch.tensor([[7], [4], [5]])  # (B, Ls)
    causal = attention.causal_mask(5)
    for norm_first in (False, True):
        for activation in ("relu", "gelu"):
            mine = Transformer(9, 9, 12, 3, 2, 20, 0.0, norm_first, activation).eval()
            theirs = nn.Transformer(12, 3, 2, 2, 20, 0.0, activation, batch_first=True,
                                    norm_first=norm_first).eval()  # fmt: skip
            if not norm_first:
                theirs.encoder.norm = theirs.decoder.norm = None
            state = {n: t for n, t in mine.state_dict().items() if "coder." in n}
            theirs.load_state_dict(to_pytorch(state))
            own = mine.decoder(tgt, mine.encoder(src, keep[:, None]), causal,
                               keep[:, None])  # fmt: skip
            other = theirs(src, tgt, tgt_mask=~causal, src_key_padding_mask=~keep,
                           memory_key_padding_mask=~keep)  # fmt: skip
            gap = float((own - other).abs().max())
            print(f"norm_first {norm_first!s:>5}, {activation}: gap {gap:.1e}")


# %% [markdown]
# Nothing but rounding. From now on you know what is inside `nn.Transformer`, because
# you could have written it.
#
# ### Somebody else's weights
#
# An equal output proves that two models are the same function. So a file of weights
# that somebody else has trained for months can run in *your* classes, if you know which
# of its tensors belongs where. BERT (Devlin et al. 2019) and the many models that
# descend from it store an encoder layer under these names, for layer 3:
#
# ```text
# encoder.layer.3.attention.self.query          encoder.layer.3.intermediate.dense
# encoder.layer.3.attention.self.key            encoder.layer.3.output.dense
# encoder.layer.3.attention.self.value          encoder.layer.3.output.LayerNorm
# encoder.layer.3.attention.output.dense
# encoder.layer.3.attention.output.LayerNorm    each with a .weight and a .bias
# ```
#
# **Predict first.** Some are called by what they *are*, others by where they *come*.
# Which two of your parts are called `output.dense` and `attention.output.dense`? Both
# are linear layers at the end of something.
#
# ### Exercise 4.9 - BERT's names
#
# *time ~20 min · difficulty 2/5 · 6 points*
#
# **Task.** Fill in the table: for each part of BERT's layer, its name in your
# `EncoderLayer`. The loop below the table is given; in section 9 it loads a published
# model.
#
# **Example.** `encoder.layer.3.attention.self.query.bias` becomes
# `layers.3.attention.w_q.bias`.
#
# <details><summary>Contract</summary>
#
# - BERT is post-norm: each norm follows the sum that its sublayer is added to.
# - Layers have any number of digits, and names any prefix, such as `bert.`.
# - What is in no layer (embeddings, pooler) is left out.
# - Tensors keep their values, shapes and dtypes.
# - The given mapping is not modified.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# In which order does a post-norm encoder layer call its eight parts? BERT's list above
# is in the same order, column by column.
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# attention.self.query and three more     (d_model, d_model)
# intermediate.dense                      (d_ff, d_model)
# output.dense                            (d_model, d_ff)
# the two LayerNorms                      (d_model,)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# the three projections into heads, and the one behind them
# the norm of the attention
# the two layers of the feed-forward network: the wide one comes first
# the norm of the feed-forward network
# ```
#
# </details>


# %% exercise="encoder_decoder/from_bert"
def from_bert(published: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights of a published BERT, under the names of your `Encoder`.

    Args:
        published: tensors by BERT's names, under any prefix.

    Returns:
        The state dict of an `Encoder` of as many post-norm `EncoderLayer`s.
    """
    ### BEGIN SOLUTION
    names = {
        "attention.self.query": "attention.w_q",
        "attention.self.key": "attention.w_k",
        "attention.self.value": "attention.w_v",
        "attention.output.dense": "attention.w_o",
        "attention.output.LayerNorm": "norm1",
        "intermediate.dense": "feed_forward.linear1",
        "output.dense": "feed_forward.linear2",
        "output.LayerNorm": "norm2",
    }
    ### END SOLUTION
    state = {}
    for name, tensor in published.items():
        _, inside, rest = name.partition("encoder.layer.")
        if inside:  # "3.attention.self.query.weight"
            number, part = rest.split(".", 1)
            part, kind = part.rsplit(".", 1)
            state[f"layers.{number}.{names[part]}.{kind}"] = tensor
    return state


# %% check="encoder_decoder/from_bert" points=6
# Looks at names and tensors, for models of several depths and prefixes.
check("encoder_decoder/from_bert", from_bert)

# %% [markdown]
# `attention.output.dense` is the projection behind the heads, your `w_o`, and
# `output.dense` the second layer of the feed-forward network. Nothing in the file says
# so: the *order of the calls* does, and you know it because you wrote it.
#
# ## 7. Three families
#
# The parts can be used in three ways. What differs is *who may see whom*, and what is
# asked in training.
#
# | family | parts | sees | is asked | known examples |
# |---|---|---|---|---|
# | encoder-only | encoder | both sides | which tokens were hidden? | BERT |
# | decoder-only | encoder with a causal mask | the left side | what comes next? | GPT |
# | encoder-decoder | both | all of the source, the left side of the target | what comes next, given the source? | T5, BART, the paper |
#
# A "decoder-only" model has no cross-attention, as there is no memory to look at. What
# is left of a decoder layer then? *An encoder layer with a causal mask.* So one class
# serves the first two families.
#
# ### Exercise 4.10 - one class for two families
#
# *time ~15 min · difficulty 3/5 · 7 points*
#
# **Why it matters.** The difference between BERT and GPT is one mask (and the question
# they are asked).
#
# **What to do.** Build it from `InputLayer`, `Encoder` and a linear layer, with the
# names `input`, `encoder` and `output`. Positions are the sinusoids, as in 4.8, and
# `pad_id` is again the `padding_idx` of the input layer, whose vector is zero. Dropout
# goes into the input layer and into all layers of the encoder, which ends with a norm
# if `norm_first`. Padding is never attended to. If `causal`, neither is the future.
#
# <details><summary>Hint 1: a question</summary>
#
# Which of the masks depends on the ids, and which one only on their number?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# ids       (B, L)
# vectors   (B, L, d_model)
# mask      (B, 1, L), or (B, L, L) if causal
# logits    (B, L, vocab)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# mask = padding mask of the ids
# if causal: combine it with the causal mask of their length
# input layer, encoder with the mask, output layer
# ```
#
# </details>


# %% exercise="encoder_decoder/language_model"
class LanguageModel(nn.Module):
    """An encoder-only model or, if causal, a decoder-only model.

    Args:
        vocab: size of the vocabulary.
        d_model, num_heads, d_ff, dropout, norm_first, activation: as in `EncoderLayer`.
        num_layers: how many layers.
        causal: whether each position may see only itself and earlier ones.
        pad_id: the token that nobody attends to.
        max_len: positions of the sinusoid table.

    Its modules are named `input`, `encoder` and `output`.
    """

    def __init__(
        self,
        vocab: int,
        d_model: int,
        num_heads: int,
        num_layers: int,
        d_ff: int,
        causal: bool,
        dropout: float = 0.0,
        norm_first: bool = True,
        activation: str = "gelu",
        pad_id: int = 0,
        max_len: int = 512,
    ):
        super().__init__()
        ### BEGIN SOLUTION
        table = positional_encoding.sinusoid(torch.arange(max_len), d_model)
        positions = positional_encoding.PositionalEncoding(table)
        self.input = positional_encoding.InputLayer(
            vocab, d_model, positions, dropout, pad_id
        )
        sizes = (d_model, num_heads, d_ff, dropout, norm_first, activation)
        norm = nn.LayerNorm(d_model) if norm_first else None
        self.encoder = Encoder(lambda: EncoderLayer(*sizes), num_layers, norm)
        self.output = nn.Linear(d_model, vocab)
        self.causal = causal
        self.pad_id = pad_id
        ### END SOLUTION

    def forward(self, ids: Tensor) -> Tensor:
        """From ids `(B, L)` to logits `(B, L, vocab)`."""
        ### BEGIN SOLUTION
        mask = attention.padding_mask(ids, self.pad_id)  # (B, 1, L)
        if self.causal:
            causal = attention.causal_mask(ids.size(1)).to(ids.device)
            mask = attention.combine_masks(mask, causal)  # (B, L, L)
        return self.output(self.encoder(self.input(ids), mask))  # (B, L, vocab)
        ### END SOLUTION


# %% check="encoder_decoder/language_model" points=7
# Looks at logits of both kinds, and at who moves whom.
check("encoder_decoder/language_model", LanguageModel)

# %% [markdown]
# ### The masks of BERT, of GPT, and of libraries
#
# In the libraries that most people use, a tokenizer returns `attention_mask` with the
# ids: `(B, L)`, 1 for a real token, 0 for padding. It has no row for the query, since
# it only says which *keys* are real. The causal part is not in it: a GPT-like model
# adds it inside, a BERT-like model does not.
#
# | who | form | opens |
# |---|---|---|
# | this course, `F.scaled_dot_product_attention` | boolean, up to `(B, h, Lq, Lk)` | `True` |
# | `attention_mask` of *transformers* | `(B, L)`, integers; keys only | 1 |
# | `nn.MultiheadAttention`, `nn.Transformer` | boolean | `False` |
# | a mask of numbers, in many places | added to the scores | 0 (closed: `-inf`) |
#
# **Predict first**, on paper: the masks of both families for the ids below, `(L, L)`,
# made from the same `attention_mask`. (The padding stands on the left here, as
# libraries do it for generation.)


# %%
@demo
def one_attention_mask_two_families():
    attention_mask = torch.tensor([[0, 0, 1, 1, 1]])  # (B, L), as a tokenizer gives it
    keys = attention_mask.bool()[:, None]  # (B, 1, L), ours
    causal = attention.causal_mask(5)
    masks = {
        "BERT-like: (B, 1, L)": keys.expand(1, 5, 5)[0],
        "GPT-like: (B, L, L)": attention.combine_masks(keys, causal)[0],
    }
    added = torch.zeros(5, 5).masked_fill(~masks["GPT-like: (B, L, L)"], -math.inf)
    pictures.masks(masks, ["‹pad›", "‹pad›", "the", "cat", "sat"])
    print("the GPT-like mask as numbers to add, last row:", added[-1].tolist())


# %% [markdown]
# Look at the first two rows on the right: with padding on the *left*, a causal mask
# leaves padding queries with no key at all. That is the row of unit 2 that gives `nan`.
# Libraries open such rows again or overwrite their result. We pad on the right, where
# every row sees at least BOS.
#
# ### Family one: fill in what was hidden
#
# Some tokens of a sentence are replaced by a special token `MASK`. The model must name
# the *original* ones. Only the hidden places count in the loss: elsewhere the answer
# stands in the input. Places that do not count get the target `-100`, which
# `F.cross_entropy` ignores by default.
#
# (BERT leaves some of the chosen tokens as they are and replaces some by random ones,
# so that the model cannot rely on `MASK`: Devlin et al. 2019, section 3.1. We keep it
# simple.)
#
# ### Exercise 4.11 - masked tokens
#
# *time ~10 min · difficulty 2/5 · 5 points*
#
# **Why it matters.** A training goal is a pair of tensors: what goes in, and what
# should come out. Get one of them wrong, and the best model learns the wrong thing.
#
# **What to do.** Somebody has drawn at random where to hide: `chosen`. It may fall on
# padding, too; there nothing is hidden and nothing is asked. Leave `ids` and `chosen`
# as they were.
#
# <details><summary>Hint 1: a question</summary>
#
# There are three kinds of places: chosen and real, real only, padding. What stands at
# each in the inputs, and what in the targets?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# ids       (B, L)   int64
# chosen    (B, L)   bool
# inputs    (B, L)   int64
# targets   (B, L)   int64
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# hidden  = chosen, and not padding
# inputs  = ids, with mask_id where hidden
# targets = ids where hidden, ignore everywhere else
# ```
#
# </details>


# %% exercise="encoder_decoder/masked_tokens"
def masked_tokens(
    ids: Tensor, chosen: Tensor, mask_id: int, pad_id: int = 0, ignore: int = -100
) -> tuple[Tensor, Tensor]:
    """Inputs and targets for a model that fills in hidden tokens.

    Args:
        ids: `(B, L)`, int64.
        chosen: `(B, L)`, bool: which tokens to hide; padding is never hidden.
        mask_id: the token that stands in their place.
        pad_id: the id of the padding token, which may stand anywhere.
        ignore: the target of all other places.

    Returns:
        inputs `(B, L)` and targets `(B, L)`, int64.
    """
    ### BEGIN SOLUTION
    hidden = chosen & (ids != pad_id)  # (B, L)
    return ids.masked_fill(hidden, mask_id), ids.masked_fill(~hidden, ignore)
    ### END SOLUTION


# %% check="encoder_decoder/masked_tokens" points=5
# Looks at both tensors, for other special ids too, and at what was given afterwards.
check("encoder_decoder/masked_tokens", masked_tokens)

# %% [markdown]
# ### Families two and three: what comes next?
#
# The other two families are asked for the *next* token, at all positions at once. The
# model reads the first `L - 1` tokens. At each of them it should name the one after it:
#
# ```text
# ids       BOS  the  cat  sat  EOS  PAD
# inputs    BOS  the  cat  sat  EOS
# targets   the  cat  sat  EOS   -
# ```
#
# The model reads the *right* earlier tokens, even if it would have written others. That
# is called **teacher forcing**. It makes training parallel. The causal mask keeps it
# honest: without it, position `i` could read its answer at position `i + 1`.
#
# ### Exercise 4.12 - shifted by one
#
# *time ~8 min · difficulty 2/5 · 5 points*
#
# **Why it matters.** Shift by nothing, and the model learns to copy its input. Forget
# the end, and it never learns to stop.
#
# **What to do.** Inputs and targets for next-token prediction, as in the picture.
# Padding is never a target. (It may be an input: nobody attends to it.)
#
# <details><summary>Hint 1: a question</summary>
#
# How many pairs (token, next token) are there in a row of `L` tokens? Which one is
# never an input, and which one is never a target?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# ids       (B, L)
# inputs    (B, L - 1)
# targets   (B, L - 1)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# inputs  = all tokens but the last
# targets = all tokens but the first, with ignore in place of padding
# ```
#
# </details>


# %% exercise="encoder_decoder/shifted"
def shifted(ids: Tensor, pad_id: int = 0, ignore: int = -100) -> tuple[Tensor, Tensor]:
    """Inputs and targets for a model that names the next token.

    Args:
        ids: `(B, L)`, int64; rows start with BOS and end with EOS and padding.
        pad_id: the id of the padding token.
        ignore: the target where the next token is padding.

    Returns:
        inputs `(B, L - 1)` and targets `(B, L - 1)`, int64.
    """
    ### BEGIN SOLUTION
    following = ids[:, 1:]  # (B, L - 1)
    return ids[:, :-1], following.masked_fill(following == pad_id, ignore)
    ### END SOLUTION


# %% check="encoder_decoder/shifted" points=5
# Looks at both tensors, with rows of several lengths.
check("encoder_decoder/shifted", shifted)

# %% [markdown]
# ### Three trainings
#
# The loop is given here; in unit 5 you write your own. It asks for a batch, computes
# the loss where the target is not `-100`, and takes a step. The learning rate rises for
# 40 steps and then falls to zero along a cosine.

# %%
PAD, BOS, EOS, UNK, MASK = range(5)
FIRST, LETTERS = 5, 12  # letters have the ids 5 to 16
VOCAB = FIRST + LETTERS


def train(
    model: nn.Module,
    batches: Iterator[tuple[tuple[Tensor, ...], Tensor]],
    steps: int,
    rate: float,
) -> list[float]:
    """Train a model on batches of (its inputs, targets); the losses of all steps."""
    initialise(model).train()
    optimizer = torch.optim.Adam(model.parameters(), rate, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda s: min(1, (s + 1) / 40) * 0.5 * (1 + math.cos(math.pi * s / steps)),
    )
    losses = []
    for _ in range(steps):
        inputs, targets = next(batches)
        loss = F.cross_entropy(model(*inputs).flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    model.eval()
    return losses


def palindromes(count: int) -> Tensor:
    """Random words that read the same backwards, `(count, 10)`."""
    half = torch.randint(FIRST, VOCAB, (count, 5))
    return torch.cat((half, half.flip(1)), dim=1)


# %% [markdown]
# The data of the first two: **palindromes** of ten letters, such as `g c a h k k h a c
# g`. The first five letters are random. The last five mirror them.
#
# **Predict first.** Three letters of each palindrome are hidden, never a letter and its
# mirror image. How many of them can a model that sees *both* sides fill in? How many
# can a *causal* one? And what can a causal model say about the next letter, in the
# first half and in the second?


# %% folded=true
# @title Batches of palindromes, and how the two families are trained on them
def hidden_letters(count: int) -> tuple[tuple[Tensor, ...], Tensor]:
    """Palindromes with three hidden letters, from three different pairs."""
    pairs = torch.rand(count, 5).argsort(dim=1)[:, :3]  # (count, 3), three of five
    places = torch.where(torch.rand(count, 3) < 0.5, pairs, 9 - pairs)
    chosen = torch.zeros(count, 10, dtype=torch.bool).scatter(1, places, True)
    inputs, targets = masked_tokens(palindromes(count), chosen, MASK)
    return (inputs,), targets


def next_letters(count: int) -> tuple[tuple[Tensor, ...], Tensor]:
    """Palindromes between BOS and EOS, for next-letter prediction."""
    ends = torch.full((count, 1), BOS), torch.full((count, 1), EOS)
    inputs, targets = shifted(torch.cat((ends[0], palindromes(count), ends[1]), dim=1))
    return (inputs,), targets


def endless(make: Callable[[int], tuple], size: int = 64) -> Iterator[tuple]:
    """Fresh batches for ever."""
    while True:
        yield make(size)


def train_encoder_only(seed: int, causal: bool = False) -> tuple[nn.Module, list]:
    """A model that fills in hidden letters, and its losses."""
    torch.manual_seed(seed)
    model = LanguageModel(VOCAB, 32, 4, 1, 64, causal=causal)
    return model, train(model, endless(hidden_letters), steps=500, rate=1e-2)


def train_decoder_only(seed: int) -> tuple[nn.Module, list]:
    """A model that names the next letter, and its losses."""
    torch.manual_seed(seed)
    model = LanguageModel(VOCAB, 32, 4, 1, 64, causal=True)
    return model, train(model, endless(next_letters), steps=250, rate=1e-2)


@torch.no_grad()
def accuracy(model: nn.Module, batch: tuple) -> Tensor:
    """The share of right answers by position, `(L,)`; NaN where nothing was asked."""
    (ids,), targets = batch
    asked = targets != -100
    right = (model(ids).argmax(-1) == targets) & asked
    return right.sum(0) / asked.sum(0)


# %%
@demo
def two_families():
    global reader
    found = {}
    for causal, name in ((False, "both sides"), (True, "causal")):
        model, _ = train_encoder_only(seed=0, causal=causal)
        reader = model if not causal else reader
        found[name] = accuracy(model, hidden_letters(2000)).tolist()
        print(f"hidden letters, {name}: {sum(found[name]) / 10:.1%} right")
    model, _ = train_decoder_only(seed=0)
    following = accuracy(model, next_letters(2000)).tolist()
    pictures.families(found, following, LETTERS)
    first, second = sum(following[:5]) / 5, sum(following[5:]) / 6
    print(f"next letter: first half {first:.1%}, second half and EOS {second:.1%}")


# %% [markdown]
# The model that sees both sides fills in (almost) everything: **at least 98 %**. With a
# causal mask the very same model can only guess in the first half: the mirror image
# lies in the future. The decoder-only model is asked something else. It guesses five
# letters, as anybody must, and then names **at least 98 %** of the rest. It has found
# the rule, and counts to ten for the EOS.
#
# ### What does it look at?
#
# Attention weights would tell, but our layers return vectors only. PyTorch lets us
# listen in, without a change to the model. A **forward hook** is a function that a
# module calls each time it is done:
#
# ```python
# hook = module.register_forward_hook(function)  # calls function(module, given, result)
# hook.remove()  # from now on, it calls it no more
# ```
#
# `given` is the tuple of what the module was called with, `result` what it returns. If
# the function returns anything but `None`, that *replaces* the result.
#
# ### Exercise 4.13 - the weights of all layers
#
# *time ~12 min · difficulty 3/5 · 4 points*
#
# **Why it matters.** This is how one looks into a model that somebody else has written:
# weights, vectors, gradients, at any place, and the code stays as it is.
#
# **What to do.** Call the model once, and return the weights of each of the given
# attentions: a list, in the order in which they were given. (That need not be the order
# in which the model calls them.) Leave the model as it was: no hook stays, and its mode
# is not yours to change, not even for the call. The weights are for looking: `detach()`
# them, or they hold on to all that a backward pass would need.
#
# <details><summary>Hint 1: a question</summary>
#
# All attentions may call the same function. How does it know which of them has called?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# an attention returns    (B, Lq, d_model), (B, h, Lq, Lk)    the second is wanted
# with three attentions   [(B, h, Lq, Lk), (B, h, Lq, Lk), (B, h, Lq, Lk)]
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# kept = an empty dictionary
# define a function of module, given, result: keep the weights under the module
# hook it to each attention, and remember the hooks
# call the model
# remove the hooks
# return what was kept, attention by attention
# ```
#
# </details>


# %% exercise="encoder_decoder/attention_weights"
def attention_weights(
    model: nn.Module, attentions: list[nn.Module], *inputs: Tensor
) -> list[Tensor]:
    """What some attentions of a model look at, while it reads the inputs.

    Args:
        model: called once, with the inputs; afterwards, it is as it was.
        attentions: parts of the model; each returns the pair (output, weights).
        inputs: what the model is called with.

    Returns:
        The weights `(B, h, Lq, Lk)` of each of the attentions, in the order in which
        these are given, detached.
    """
    ### BEGIN SOLUTION
    kept = {}

    def keep(attention: nn.Module, given: tuple, result: tuple) -> None:
        kept[attention] = result[1].detach()  # (B, h, Lq, Lk)

    hooks = [attention.register_forward_hook(keep) for attention in attentions]
    model(*inputs)
    for hook in hooks:
        hook.remove()
    return [kept[attention] for attention in attentions]
    ### END SOLUTION


# %% check="encoder_decoder/attention_weights" points=4
# Uses a model of its own; looks at the weights, and at the model afterwards.
check("encoder_decoder/attention_weights", attention_weights)

# %% [markdown]
# **Predict first.** The model that sees both sides has four heads. When it fills in a
# hidden letter, where do they look? Below is the mean over 500 palindromes, with a row
# for each place where a letter was hidden.


# %%
@demo
def where_the_reader_looks():
    torch.manual_seed(3)
    (ids,), _ = hidden_letters(500)
    layers = [layer.attention for layer in reader.encoder.layers]
    weights = attention_weights(reader, layers, ids)[0]  # (500, h, 10, 10)
    hidden = (ids == MASK).float()  # (500, 10)
    maps = torch.einsum("bhqk, bq -> hqk", weights, hidden / hidden.sum(0))
    mirror = maps.flip(2).diagonal(dim1=1, dim2=2).mean(-1)  # (h,)
    pictures.mirror(maps, mirror.tolist())


# %% [markdown]
# One head has become the mirror: it alone puts more than 80 % of its weight there.
# Nobody told it. The others help less clearly, as heads often do.
#
# Now the third family. We translate a tiny language into Spanish: sentences are one to
# three phrases, and a phrase is a noun, often with an adjective. English says *red
# cat*, Spanish says *gato rojo*: the words change places. The model has never seen the
# test sentences.

# %% folded=true
# @title The two languages, and how a model is trained to translate
NOUNS = {"cat": "gato", "dog": "perro", "book": "libro", "tree": "árbol",
         "car": "coche",
         "garden": "jardín", "boat": "barco", "horse": "caballo"}  # fmt: skip
ADJECTIVES = {"red": "rojo", "black": "negro", "white": "blanco", "old": "viejo",
              "fast": "rápido", "small": "pequeño", "new": "nuevo",
              "long": "largo"}  # fmt: skip
SPECIAL = ["‹pad›", "‹bos›", "‹eos›", "‹unk›"]
ENGLISH = [*SPECIAL, *NOUNS, *ADJECTIVES]
SPANISH = [*SPECIAL, *NOUNS.values(), *ADJECTIVES.values()]


def sentence_pair() -> tuple[list[int], list[int]]:
    """A random sentence in English, and in Spanish between BOS and EOS."""
    english, spanish = [], [BOS]
    for _ in range(int(torch.randint(1, 4, ()))):
        noun, adjective = (
            4 + torch.randint(0, 8, (2,)) + torch.tensor([0, 8])
        ).tolist()
        has_adjective = torch.rand(()) < 0.6
        english += [adjective, noun] if has_adjective else [noun]
        spanish += [noun, adjective] if has_adjective else [noun]
    return english, [*spanish, EOS]


def sentence_pairs(count: int, held_out: bool) -> tuple[Tensor, Tensor]:
    """Different sentences `(count, 6)` and translations `(count, 8)`, padded.

    Whether a sentence is held out for the test is a property of the sentence, so that
    no sentence can be on both sides.
    """
    found = {}
    while len(found) < count:
        english, spanish = sentence_pair()
        if (sum(i * word for i, word in enumerate(english, 1)) % 7 == 0) == held_out:
            found[tuple(english)] = spanish
    src, tgt = torch.zeros(count, 6, dtype=torch.int64), torch.zeros(count, 8).long()
    for row, (english, spanish) in enumerate(found.items()):
        src[row, : len(english)] = torch.tensor(english)
        tgt[row, : len(spanish)] = torch.tensor(spanish)
    return src, tgt


def translations(src: Tensor, tgt: Tensor) -> Iterator[tuple]:
    """Random batches of 64 for teacher forcing, each length as often as the others."""
    lengths = (src != PAD).sum(1)  # (count,)
    chance = 1 / lengths.bincount()[lengths]  # (count,)
    while True:
        rows = torch.multinomial(chance, 64, replacement=True)
        # Not `shifted`: here the model may learn what comes after EOS, too.
        yield (src[rows], tgt[rows, :-1]), tgt[rows, 1:]


def train_encoder_decoder(seed: int) -> tuple[nn.Module, list]:
    """A model that translates, and its losses."""
    torch.manual_seed(seed)
    model = Transformer(20, 20, 32, 4, 1, 64, norm_first=True)
    data = sentence_pairs(8000, held_out=False)
    return model, train(model, translations(*data), steps=450, rate=6e-3)


@torch.no_grad()
def translate(model: nn.Module, src: Tensor, length: int = 8) -> Tensor:
    """The most probable word, `length` times over; unit 5 knows when to stop."""
    memory, written = model.encode(src), torch.full((len(src), 1), BOS)
    for _ in range(length - 1):
        best = model.decode(written, memory, src)[:, -1:].argmax(-1)  # (B, 1)
        written = torch.cat((written, best), dim=1)
    return written


def exact_match(written: Tensor, tgt: Tensor) -> float:
    """The share of sentences that are right in every word up to EOS."""
    return float(((written == tgt) | (tgt == PAD)).all(dim=1).float().mean())


def words(ids: Tensor, vocabulary: list[str]) -> list[str]:
    """The words of one sentence: from BOS, if it has one, to its first EOS."""
    row = ids.tolist()
    row = row[: row.index(EOS)] if EOS in row else row
    return [vocabulary[i] for i in row if i not in (PAD, BOS)]


# %%
@demo
def translation():
    global translator
    translator, losses = train_encoder_decoder(seed=0)
    src, tgt = sentence_pairs(1000, held_out=True)
    written = translate(translator, src)
    print(f"last loss {losses[-1]:.3f}; exact match on 1000 sentences, held out: "
          f"{exact_match(written, tgt):.1%}\n")  # fmt: skip
    for row in range(4):
        answer, right = words(written[row], SPANISH), words(tgt[row], SPANISH)
        mark = "✓" if answer == right else "✗"
        print(mark, " ".join(words(src[row], ENGLISH)), "->", " ".join(answer))


# %% [markdown]
# At least **97 %** of the held-out sentences are translated without a mistake. And
# nobody told the model about nouns and adjectives. Where does it look when it writes a
# word?


# %%
@demo
def where_the_translator_looks():
    torch.manual_seed(0)
    src, tgt = sentence_pairs(100, held_out=True)
    long = int((src != PAD).sum(1).argmax())
    layers = [layer.cross_attention for layer in translator.decoder.layers]
    weights = attention_weights(
        translator, layers, src[long : long + 1], tgt[long : long + 1, :-1]
    )
    cross = weights[0][0].mean(0)  # (Lt, Ls), of layer 0
    to_write = [*words(tgt[long], SPANISH), "‹eos›"]
    pictures.crossing(cross[: len(to_write)], to_write, words(src[long], ENGLISH))


# %% [markdown]
# Look for the little crosses: there two words change places.
#
# One line of `translations` is worth a second look. Of 8,000 *different* sentences only
# 7 have a single word, since there are but 8 nouns. Drawn as they come, the model would
# see one of them in every 18th batch and get `tree` wrong. So each *length* is drawn
# equally often. What is rare in the data is badly learnt: look for what is rare in
# yours.
#
# ## 8. Bug clinic: write the test
#
# This decoder layer follows one that was published as teaching material. It runs. It
# trains. It has three bugs. **Find them before you read on.**


# %%
class OneTensorAttention(nn.Module):
    """Multi-head attention that returns the output only, not the weights."""

    def __init__(self, d_model: int, num_heads: int):
        super().__init__()
        self.inner = multi_head_attention.MultiHeadAttention(d_model, num_heads)

    def forward(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return self.inner(query, key, value)[0]  # (B, Lq, d_model)


class PublishedLayer(nn.Module):
    """A decoder layer with three bugs."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int):
        super().__init__()
        self.own = OneTensorAttention(d_model, num_heads)
        self.cross_a = OneTensorAttention(d_model, num_heads)
        self.cross_b = OneTensorAttention(d_model, num_heads)
        self.thinking = FeedForward(d_model, d_ff)
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(4))

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        seen, _ = self.own(x, x, x)
        x = self.norms[0](x + seen)
        x = self.norms[1](x + self.cross_a(x, memory, memory))
        x = self.norms[2](x + self.cross_b(x, memory, memory))
        return self.norms[3](x + self.thinking(x))


@demo
def does_it_run():
    torch.manual_seed(8)
    layer = PublishedLayer(8, 2, 16)
    for batch in (1, 2, 3):
        try:
            out = layer(torch.randn(batch, 5, 8), torch.randn(batch, 4, 8))
            print(f"batch of {batch}: {tuple(out.shape)}, no error")
        except ValueError as error:
            print(f"batch of {batch}: {error}")


# %% [markdown]
# 1. **A tensor is unpacked as if it were a pair.** `seen, _ = ...` splits along the
#    first dimension, which is the batch. With a batch of 2 this *works*: `seen` is what
#    sentence 0 attended to, and it is added to both sentences. Any other batch crashes.
#    The author had tried a batch of 2.
# 2. **There is no causal mask.** Each position sees the future.
# 3. **There are two cross-attentions.** It is another architecture, with more weights
#    than it says.
#
# Shapes are right and the loss goes down. What was missing is a test.
#
# ### Exercise 4.14 - the test that was missing
#
# *time ~60 min · difficulty 4/5 · 8 points*
#
# **Why it matters.** From unit 5 on you trust your layers. A test is how trust is
# earned.
#
# **What to do.** Write a function that gets *somebody's* decoder layer, as a module in
# eval mode. It must return quietly if the layer is right, and raise `AssertionError` if
# it is not. (If a wrong layer itself crashes in your test, that counts as rejected,
# too.) You call it as `layer(x, memory)`; it makes its own causal mask. It is right if
#
# 1. it takes any batch size and any two lengths, whichever is longer, and returns the
#    shape of `x`;
# 2. output `i` moves with target positions `0 ... i`, with each of them, and with no
#    later one;
# 3. each output moves with each position of the memory;
# 4. a sentence moves only its own outputs, never those of other sentences of the batch;
# 5. it has the parameters of two multi-head attentions (with their four linear layers),
#    one feed-forward network and three norms, and no more.
#
# It may be post-norm or pre-norm, ReLU or GELU; its modules may have any names, its
# weights may be frozen, and it may round in its own way: what moves by less than 1e-5,
# as in `who_moves`, has not moved. What you get is a stand-in: it
# answers calls like the layer and has as many weights, but holds other numbers in them.
# We grade your test by running it on right layers and on wrong ones, each with one bug:
# the three above and others.
# Each right one comes with two wrong ones: you get the points if the right one passes
# *and* the wrong ones do not.
#
# <details><summary>Hint 1: a question</summary>
#
# You have a probe for rules 2 and 3. Does it see a batch of 3? Which change of a
# position is invisible to a layer that starts with a norm?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# x (B, Lt, d_model), memory (B, Ls, d_model), with B = 1, 2 and 3, Lt < Ls and Lt > Ls
# moved, for one change     (B, Lt)    bool: does output i of sentence b move?
# expected, for target j of sentence b:   True at [b, j:], False elsewhere
# expected, for memory j of sentence b:   True at [b, :],  False elsewhere
# ```
#
# Parameters: one attention has `4 * (d_model * d_model + d_model)`, one norm has
# `2 * d_model`. The feed-forward network you can count.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# assert that the number of parameters is as counted
# for each batch size 1, 2, 3, with lengths of its own:
#     random x and memory; before = the layer's output; assert its shape
#     for each sentence b and each target position j:
#         push position j of sentence b, unevenly
#         assert that exactly the expected outputs move (by more than rounding)
#     the same for each position of the memory
# ```
#
# </details>


# %% exercise="encoder_decoder/bug_clinic"
def assert_decoder_layer(layer: nn.Module, d_model: int, d_ff: int) -> None:
    """Pass quietly if a decoder layer keeps the five rules above.

    Args:
        layer: called as `layer(x, memory)`, with x `(B, Lt, d_model)` and memory
            `(B, Ls, d_model)`; it masks the future by itself.
        d_model: size of its vectors.
        d_ff: size of the hidden layer of its feed-forward network.

    Raises:
        AssertionError: it breaks a rule.
    """
    ### BEGIN SOLUTION
    attentions = 2 * 4 * (d_model * d_model + d_model)
    network = 2 * d_model * d_ff + d_ff + d_model
    count = sum(parameter.numel() for parameter in layer.parameters())
    assert count == attentions + network + 3 * 2 * d_model, "wrong number of weights"

    def assert_moves(expected: Tensor, x: Tensor, memory: Tensor) -> None:
        moved = ((layer(x, memory) - before).abs() > 1e-5).any(dim=-1)  # (B, Lt)
        assert torch.equal(moved, expected), "somebody moves who should not"

    push = torch.linspace(-1, 1, d_model)  # uneven: a norm cannot remove it
    for batch, target, source in ((1, 5, 4), (2, 3, 5), (3, 4, 4)):
        x = torch.randn(batch, target, d_model)
        memory = torch.randn(batch, source, d_model)
        with torch.no_grad():
            before = layer(x, memory)
            assert before.shape == x.shape, "wrong shape"
            for b in range(batch):
                own = (torch.arange(batch) == b)[:, None]  # (B, 1)
                for j in range(target):
                    other = x.clone()
                    other[b, j] += push
                    assert_moves(own & (torch.arange(target) >= j), other, memory)
                for j in range(source):
                    other = memory.clone()
                    other[b, j] += push
                    assert_moves(own.expand(batch, target), x, other)
    ### END SOLUTION


# %% check="encoder_decoder/bug_clinic" points=8
# Runs your test on right layers and on wrong ones.
check("encoder_decoder/bug_clinic", assert_decoder_layer)

# %% [markdown]
# Your test in action: on the published layer, and on your own.


# %%
class WithCausalMask(nn.Module):
    """A DecoderLayer that makes its causal mask by itself."""

    def __init__(self, inner: nn.Module):
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        return self.inner(x, memory, attention.causal_mask(x.size(1)))


@demo
def your_test_at_work():
    torch.manual_seed(9)
    layers = {
        "yours, post-norm": WithCausalMask(DecoderLayer(8, 2, 16)),
        "yours, pre-norm": WithCausalMask(DecoderLayer(8, 2, 16, norm_first=True)),
        "the published one": PublishedLayer(8, 2, 16),
    }
    for name, layer in layers.items():
        try:
            assert_decoder_layer(layer.eval(), 8, 16)
            print(f"{name:<20} accepted")
        except (AssertionError, ValueError) as error:
            print(f"{name:<20} rejected: {error}")


# %% [markdown]
# ## 9. Finale: a published model in your code
#
# MiniLM (Wang et al. 2020; fine-tuned on a billion pairs of sentences by the authors of
# Sentence-BERT, Reimers and Gurevych 2019) is an encoder with BERT's architecture: 6
# layers, `d_model` 384, 12 heads, `d_ff` 1536, GELU, post-norm. Everything but its
# input layer is yours: `Encoder`, `EncoderLayer`, unit 3's attention.
#
# The first cell looks for its file. If it is not here, the cell says in one line how to
# get it (91 MB, Apache-2.0), and the text says what you would see. Nothing is graded.


# %%
class SentenceEncoder(nn.Module):
    """MiniLM: BERT's input layer, your encoder, and the mean of its vectors.

    Args:
        published: tensors by BERT's names.
        num_heads: of each layer; all other sizes follow from the tensors.
    """

    def __init__(self, published: Mapping[str, Tensor], num_heads: int = 12):
        super().__init__()
        state = from_bert(published)
        d_ff, d_model = state["layers.0.feed_forward.linear1.weight"].shape
        depth = sum(name.endswith("norm2.bias") for name in state)
        self.encoder = Encoder(
            lambda: EncoderLayer(d_model, num_heads, d_ff, activation="gelu"), depth
        )
        self.encoder.load_state_dict(state)
        tables = (f"{name}_embeddings" for name in ("word", "position", "token_type"))
        self.word, self.position, self.kind = (
            nn.Embedding.from_pretrained(published[f"embeddings.{table}.weight"])
            for table in tables
        )
        self.norm = nn.LayerNorm(d_model, eps=1e-12)
        for end in ("weight", "bias"):
            getattr(self.norm, end).data = published[f"embeddings.LayerNorm.{end}"]

    def forward(self, ids: Tensor) -> Tensor:
        """From ids `(B, L)`, none of them padding, to vectors `(B, L, d_model)`."""
        positions = torch.arange(ids.size(1))
        kind = torch.zeros_like(ids)  # the first of two texts
        x = self.word(ids) + self.position(positions) + self.kind(kind)
        return self.encoder(self.norm(x))


def sentence_vector(reader: nn.Module, ids: list[int]) -> Tensor:
    """The mean over all positions, of length 1: `(d_model,)`."""
    with torch.no_grad():
        return F.normalize(reader(torch.tensor([ids]))[0].mean(0), dim=0)


minilm = None  # stays None where it is not installed


@demo
def a_published_model_in_your_encoder():
    global minilm, sentences_reader
    from_bert({})  # unsolved, it waits before it looks for 91 MB
    minilm = available("minilm")
    if minilm is not None:
        sentences_reader = SentenceEncoder(minilm.weights).eval()
        count = sum(p.numel() for p in sentences_reader.parameters())
        print(f"{count:,} parameters in your classes")


# %% [markdown]
# **Predict first.** Which of the sentences below is nearest to *"a feline rests"*, with
# which it shares no word? Change the sentences and the questions, and run the cell
# again.

# %%
SENTENCES = [
    "How do I reset my password?", "Stock markets fell sharply on Monday.",
    "The cat is sleeping on the sofa.", "A kitten naps on the couch.",
    "He plays the violin in an orchestra.", "The train to Berlin is delayed.",
]  # fmt: skip
QUESTIONS = ["my login does not work", "shares lost value", "a feline rests"]


@demo
def search_by_meaning():
    if minilm is None:
        return print("(needs MiniLM, see above)")
    vectors = torch.stack(
        [sentence_vector(sentences_reader, minilm.encode(s)) for s in SENTENCES]
    )  # (sentences, d_model)
    for question in QUESTIONS:
        asked = sentence_vector(sentences_reader, minilm.encode(question))
        scores, found = (vectors @ asked).sort(descending=True)  # cosines
        print(question)
        for score, index in list(zip(scores, found, strict=True))[:2]:
            print(f"    {score:.2f}  {SENTENCES[index]}")


# %% [markdown]
# *"my login does not work"* finds the password (0.55; the next has 0.06), *"shares lost
# value"* the stock markets (0.45; 0.09), *"a feline rests"* the kitten (0.44) before
# the cat (0.31). A search engine that counts words would have found nothing. The whole
# search is one matrix product of the vectors that your encoder made.
#
# **Predict first.** Its 72 heads are open to your `attention_weights`. On "The cat
# didn't climb the tree because it was too scared.", is there a head that looks at the
# *previous* token wherever it stands? And one in which "it" looks at "cat"?


# %%
@demo
def heads_of_a_published_model():
    if minilm is None:
        return print("(needs MiniLM, see above)")
    layers = [layer.attention for layer in sentences_reader.encoder.layers]
    for why in ("scared", "tall"):
        text = f"The cat didn't climb the tree because it was too {why}."
        ids = minilm.encode(text)
        tokens = [minilm.token(i) for i in ids]
        with torch.no_grad():
            found = attention_weights(
                sentences_reader, layers, torch.tensor([ids])
            )
        maps = torch.cat(found)  # (layers, h, L, L)
        it, cat = tokens.index("it"), tokens.index("cat")
        for what, score in (
            ("the previous token", maps.diagonal(-1, 2, 3).mean(-1)),
            ("the next token", maps.diagonal(1, 2, 3).mean(-1)),
            ('from "it" to "cat"', maps[:, :, it, cat]),
        ):
            layer, head = divmod(int(score.argmax()), score.size(1))
            print(f"{why:>6}: {what:<18} layer {layer}, head {head:2d}, "
                  f"weight {score.max():.4f}")  # fmt: skip


# %% [markdown]
# Head 2 of layer 0 looks at the previous token with weight **0.9999**: it has
# learnt this by training alone. In head 11 of layer 5, "it"
# looks at "cat" with 0.62. In a famous picture (Uszkoreit 2017), "it" in "The animal
# didn't cross the street because it was too tired" moves from "animal" to "street" when
# "tired" becomes "wide". Here nothing moves: with "tall", the same head still looks at
# "cat", with 0.62. A small model does not resolve every pronoun, and a large weight
# says where a layer looked, not what it understood. Units 2 and 3 have the maps of ten
# such sentences, without any download.
#
# ## What you built
#
# - `FeedForward` and `add_and_norm`, in both placements, and a measurement that tells
#   them apart;
# - `EncoderLayer`, `DecoderLayer` and their stacks;
# - `Transformer`, with separate or shared embeddings, equal to `nn.Transformer` up to
#   rounding;
# - `LanguageModel`, which is BERT's skeleton or GPT's, by one switch;
# - the training goals of three families, each trained in seconds;
# - `attention_weights`, which listens to all layers of a model as it is;
# - a test that a published layer does not survive;
# - `from_bert`: a published encoder runs in your classes, and searches by meaning.
#
# **Next:** unit 5 trains your Transformer properly, and lets it write until it stops by
# itself.
#
# ## Go further
#
# - Vaswani et al. 2017, sections 3.1 to 3.4 and 5.4: read them again. You now know
#   every line.
# - Xiong et al. 2020, *On Layer Normalization in the Transformer Architecture*: why
#   pre-norm needs no warm-up.
# - Geva et al. 2021, *Transformer Feed-Forward Layers Are Key-Value Memories*.
# - Press and Wolf 2017, *Using the Output Embedding to Improve Language Models*:
#   sharing.
# - Devlin et al. 2019 (BERT), Radford et al. 2019 (GPT-2), Raffel et al. 2020 (T5): the
#   three families. T5 compares them side by side.
# - Try it: `Mirror` takes a `depth`. With the warm-up of section 3, how deep can a
#   post-norm model get? And a pre-norm one?

# %% [markdown]
# ## Where you stand
#
# Your points so far, and what to do next. Run it again whenever you have solved
# something.

# %%
check.summary()
