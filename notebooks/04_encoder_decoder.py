# %% [markdown]
# # 4 · Encoder and decoder
#
# You already have positions, attention and heads, and in this unit you assemble them
# into the whole Transformer of Vaswani et al. (2017), in about a hundred lines of your
# own code. Once its outputs match those of PyTorch's own classes, you turn its parts
# into a small BERT, a small GPT and a translator. At the end, a published model built
# from your classes searches sentences by meaning.
#
# *About 4½ hours · short path about 2½: exercises 4.1, 4.2, 4.3, 4.4, 4.5, 4.9*
#
# *11 exercises and one written question · 100 points.* The short path covers the
# essentials: for now, just read the other sections, and come back to their exercises
# later.

# %% folded=true
# @title The whole machine
from autograder import drawing

drawing(
    "machine_add_and_norm",
    "",
    "The blue parts of the chat model are what you build today; the number beside a "
    "part is the unit in which you build it.",
)

# %% [markdown]
# **Questions of this unit**
#
# - What holds a stack of many layers together, and where should the norm go?
# - What is the feed-forward network for?
# - Which masks does the whole model need, and whose padding does each of them hide?
# - What does a layer cost, in operations and in memory?
# - How much do BERT, GPT and T5 have in common?
# - Can your code run with weights that others have trained?
#
# <details><summary>Recap of units 1 to 3</summary>
#
# Unit 1 gave you `InputLayer`: scaled embeddings plus positions. Unit 2 added
# `padding_mask`, `causal_mask` and `combine_masks`. In unit 3 you built
# `MultiHeadAttention`, which takes query, key, value and a mask, and returns the pair
# (output, weights).
#
# </details>
# <details><summary>Conventions of this course</summary>
#
# | name | meaning |
# |---|---|
# | `B` | sequences in a batch; the batch comes first |
# | `Ls`, `Lt` | length of the source and of the target; `L` if there is only one |
# | `d_model` | size of the vector at each position, the same throughout the model |
# | `d_ff` | size of the hidden layer in the feed-forward network |
# | `h` (in code `num_heads`) | number of heads |
# | mask | boolean, **`True` = may attend**, broadcastable to `(B, h, Lq, Lk)` |
# | `norm_first` | `False`: post-norm, as in the paper; `True`: pre-norm |
# | ids | `PAD=0, BOS=1, EOS=2, UNK=3`; no real token has one of these ids |
# | arguments | are not modified, unless the text says otherwise |
# | gradients | flow back through whatever you compute, unless the text says otherwise |
#
# Throughout this unit, PyTorch's default initialisation is fine, all parameters are
# trainable, and each parameter appears once in the state dict, under the name given in
# the text.
#
# </details>

# %%
import math
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from autograder import check, demo, drawing, earlier, require_solved
from transformer_course.encoder_decoder.library import pictures
from transformer_course.library import chat
from transformer_course.library.published import available

# False: what earlier units built comes from the course, and is correct. True: from your
# own notebooks, if they are beside this one. Grading always uses the course's.
USE_MY_OWN = False
positional_encoding = earlier("01_positional_encoding", mine=USE_MY_OWN)
attention = earlier("02_attention", mine=USE_MY_OWN)
multi_head_attention = earlier("03_multi_head_attention", mine=USE_MY_OWN)

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## 1. Six layers deep
#
# Stack six attention layers with random weights, let each read the output of the one
# before, and every position ends up with nearly the same vector: the cosine similarity
# between any two outputs is 1.00. Each layer averages, and an average of averages loses
# whatever was special about a word (Dong et al. 2021). Since a model cannot learn much
# from words that it cannot tell apart, something in the Transformer must prevent this
# collapse.
#
# One candidate is to *add* the input of a layer to its output, $x + f(x)$ in place of
# $f(x)$. The other is a small network after each attention layer, which is applied to
# every position separately and transforms its vector in a way that no average can.
#
# **Predict first.** The cell below builds the six layers with neither of the two, with
# each one alone, and with both. In which of these four cases does the similarity stay
# well below 1?


# %%
my_guess = "?"  # write yours here, then run the cell


def alike(x: Float[Tensor, "B L d"]) -> float:
    """The mean cosine similarity between different positions of a sequence."""
    unit_vectors = F.normalize(x, dim=-1)
    cosines = unit_vectors @ unit_vectors.mT  # (B, L, L)
    others = ~torch.eye(x.size(1), dtype=torch.bool)
    return float(cosines[:, others].mean())


@torch.no_grad()
def six_random_layers(adds: bool, has_network: bool, seed: int) -> float:
    """How alike the positions of random sequences are after six layers."""
    torch.manual_seed(seed)
    x = torch.randn(8, 12, 64)  # (B, L, d_model)
    for _ in range(6):
        layer = multi_head_attention.MultiHeadAttention(64, 4)
        x = layer(x, x, x)[0] + (x if adds else 0)
        if has_network:
            network = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64))
            x = network(x) + (x if adds else 0)
    return alike(x)


@demo
def neither_either_both():
    print("adds its input   has a network   similarity (five seeds)")
    for adds in (False, True):
        for has_network in (False, True):
            runs = [six_random_layers(adds, has_network, seed) for seed in range(5)]
            parts = ["yes" if part else "no" for part in (adds, has_network)]
            print(
                f"{parts[0]:^14}   {parts[1]:^13}   {min(runs):.2f} to {max(runs):.2f}"
            )


# %% [markdown]
# Only the sum helps. If it is removed, all positions end up alike, whether or not the
# network is there: since the network is applied to each position separately, it maps
# equal vectors to equal results and cannot separate what averaging has merged. With the
# sum, the similarity stays between 0.08 and 0.26; adding the network even raises it a
# little, which must therefore serve a different purpose (section 2).
#
# The sum that runs through all layers is called the **residual stream**. Each layer
# reads it and adds a *correction* (He et al. 2016), and the gradient can flow along it
# to the first layer without passing through the layers in between.

# %%
drawing(
    "residual_stream",
    "4.1",
    "Each part reads the stream and adds to it; nothing in the stream is replaced.",
)

# %% [markdown]
# ### Add & norm
#
# A layer consists of two *sublayers*: attention and the feed-forward network of
# section 2. Each of them is wrapped in three simple operations, of which only the norm
# is new:
#
# - **Add.** The input is added to the output of the sublayer, $x + f(x)$.
# - **Norm.** `nn.LayerNorm` brings each vector to mean 0 and variance 1, then scales
#   and shifts each feature by learnt parameters. It looks at *one position at a time*
#   (Ba et al. 2016).
# - **Dropout.** In training, some components of the sublayer's output are set to zero
#   *before* the sum (section 5.4 of the paper). Dropout is not applied to the residual
#   stream itself.
#
# The norm can go in two places, and both are in use:

# %%
drawing(
    "norm_placements",
    "4.2",
    "In post-norm every sum passes through a norm; in pre-norm the stream meets none.",
)

# %% [markdown]
# $$\text{post: } \operatorname{norm}(x + \operatorname{drop}(f(x))) \qquad\qquad
# \text{pre: } x + \operatorname{drop}(f(\operatorname{norm}(x)))$$
#
# Followed from left to right, the residual stream passes through nothing but sums in
# pre-norm, whereas in post-norm there is a norm after every sum. The next cell shows
# what such a norm does to a vector, and what it does if we first add 1 to every feature
# or multiply the vector by 10.

# %%
norm = nn.LayerNorm(4)
vector = torch.tensor([1.0, -2.0, 0.5, 3.0])
for name, changed in (("as is", vector), ("+ 1", vector + 1), ("* 10", 10 * vector)):
    print(f"{name:>6}: {[round(number, 3) for number in norm(changed).tolist()]}")

# %% [markdown]
# All three results are the same, because LayerNorm discards what the features have in
# common: their mean and their scale. (Hence the warning in unit 2: a test that adds the
# same amount to every feature detects nothing if the layer starts with a norm. Remember
# this when you write a test in section 8.)
#
# ### Exercise 4.1 - Add & norm
#
# *time ~10 min · difficulty 2/5 · 9 points*
#
# **Task.** Implement both placements according to the formulas above. The sublayer, the
# norm and the dropout are passed in as arguments.
#
# **Example.** With `f(x) = 2 * x` and `nn.Identity()` as norm and dropout, both
# placements return `3 * x`.
#
# <details><summary>Contract</summary>
#
# - `sublayer`, `norm` and `dropout` are called exactly once each, in eval mode as well.
# - `x` is not modified, even if the sublayer returns the very tensor that it was given.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# In pre-norm, `x` is used twice: once in the sum, once on the way into the sublayer.
# Which of the two is normalised?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# Everything has the shape `(B, L, d_model)`; otherwise the sum would fail.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# if the norm comes first:
#     branch = the sublayer of the normalised x, dropped
#     the unchanged x plus the branch
# otherwise:
#     branch = the sublayer of x, dropped
#     the norm of the sum
# ```
#
# </details>


# %% exercise="encoder_decoder/add_and_norm"
def add_and_norm(
    x: Float[Tensor, "B L d_model"],
    sublayer: Callable[[Tensor], Tensor],
    norm: nn.Module,
    dropout: nn.Module,
    norm_first: bool,
) -> Float[Tensor, "B L d_model"]:
    """A sublayer with its residual connection, its norm and its dropout.

    Args:
        x: the residual stream.
        sublayer: a function from `(B, L, d_model)` to the same shape.
        norm: a module that normalises each position.
        dropout: a module, applied to what the sublayer returns, before the sum.
        norm_first: False: post-norm, the sum is normalised. True: pre-norm, the
            sublayer's input is.

    Returns:
        The residual stream after the sublayer.
    """
    ### BEGIN SOLUTION
    if norm_first:
        return x + dropout(sublayer(norm(x)))
    return norm(x + dropout(sublayer(x)))
    ### END SOLUTION


# %% check="encoder_decoder/add_and_norm" points=9
# Checks both placements, with a stand-in for dropout whose effect can be seen.
check("encoder_decoder/add_and_norm", add_and_norm)

# %% [markdown]
# ## 2. A place to think: the feed-forward network
#
# Attention *moves* information between positions: each output is a weighted sum of
# vectors that were already there. What it does not do is process what has arrived. That
# is the job of the second half of each layer, a small network that is applied to **each
# position separately**, with the same weights everywhere (Vaswani et al. 2017, section
# 3.3):
#
# $$\operatorname{FFN}(x) = \max(0,\; x W_1 + b_1)\, W_2 + b_2$$
#
# The network widens the vector from `d_model` to `d_ff`, usually four times as large,
# applies a non-linearity (ReLU here, GELU in BERT and GPT-2), and narrows it again.

# %%
drawing(
    "talk_and_think",
    "4.3",
    "Attention moves information between positions; the feed-forward network "
    "transforms each position on its own.",
)

# %% [markdown]
# In the paper's base model, with `d_model = 512` and `d_ff = 2048`, the network has 2.1
# million parameters per layer and attention half as many. What are so many parameters
# for? One answer is that they act as a memory (Geva et al. 2021). In $x W_1$, each
# *column* of $W_1$ recognises a pattern, and its product with $x$ says how well the
# pattern fits; the *row* of $W_2$ with the same index is what the network adds to its
# output if the pattern fits. You will test this reading below.
#
# ### Exercise 4.2 - The position-wise feed-forward network
#
# *time ~10 min · difficulty 1/5 · 6 points*
#
# **Task.** Build the network from two `nn.Linear` layers with the activation and
# dropout between them. `activation` is `"relu"` or `"gelu"`.
#
# **Example.** `FeedForward(8, 32)` maps `(3, 5, 8)` to `(3, 5, 8)`. Change position 2
# of the input, and only position 2 of the output changes.
#
# <details><summary>Contract</summary>
#
# - Submodules `linear1` and `linear2` are `nn.Linear` with bias.
# - The order is `linear1`, activation, dropout, `linear2`.
# - `"gelu"` is the exact GELU, PyTorch's default.
# - `x` is not modified.
# - All weight matrices are randomly initialised, and all parameters are trainable.
# - No parameter appears twice in the state dict.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# `nn.Linear` acts on the last dimension and leaves all others alone. What do you need
# to add so that each position is processed on its own?
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
# forward:  widen, activate, drop, narrow
# ```
#
# </details>


# %% exercise="encoder_decoder/feed_forward"
class FeedForward(nn.Module):
    """The position-wise feed-forward network (Vaswani et al. 2017, section 3.3).

    Args:
        d_model: size of the input and output vectors.
        d_ff: size of the hidden vectors.
        dropout: probability of dropping a hidden component in training.
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

    def forward(
        self, x: Float[Tensor, "*batch d_model"]
    ) -> Float[Tensor, "*batch d_model"]:
        """Transform each position by itself; the result has the dtype of x."""
        ### BEGIN SOLUTION
        hidden = self.activation(self.linear1(x))  # (..., d_ff)
        return self.linear2(self.dropout(hidden))  # (..., d_model)
        ### END SOLUTION


# %% check="encoder_decoder/feed_forward" points=6
# Checks parameter names and sizes, values, dropout, and which outputs change.
check("encoder_decoder/feed_forward", FeedForward)

# %% [markdown]
# ### A thousand facts
#
# If the network is a memory, it should be good at storing facts that cannot be inferred
# from anything else. We give every ordered pair of 32 names a random answer, which
# makes 1,024 facts of the form *f(a, b) = c*, and have three small models learn them by
# heart: one attention layer, the same layer followed by your `FeedForward`, and three
# attention layers, which together have about as many parameters as the second model.
# Your `add_and_norm` connects the parts within each model.
#
# **Predict first.** After 500 steps, what percentage of the facts does each of the
# three models know? (Guessing would get 3 % of them right.)


# %% folded=true
# @title Models of one position that learn facts by heart
class Facts(nn.Module):
    """Ids (N, 3), two names and a question mark, to logits (N, 32)."""

    def __init__(self, attentions: int, has_network: bool, width: int = 32):
        super().__init__()
        self.words = nn.Embedding(33, width)
        self.positions = nn.Parameter(0.3 * torch.randn(3, width))
        self.attentions = nn.ModuleList(
            multi_head_attention.MultiHeadAttention(width, 4) for _ in range(attentions)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(attentions + 2))
        self.network = FeedForward(width, 4 * width) if has_network else None
        self.output = nn.Linear(width, 32)

    def forward(self, ids: Int[Tensor, "N 3"]) -> Float[Tensor, "N 32"]:
        x, no_dropout = self.words(ids) + self.positions, nn.Identity()
        for layer, norm in zip(self.attentions, self.norms, strict=False):
            attend = partial(_attend, layer)
            x = add_and_norm(x, attend, norm, no_dropout, norm_first=True)
        if self.network is not None:
            x = add_and_norm(x, self.network, self.norms[-2], no_dropout, True)
        return self.output(self.norms[-1](x[:, -1]))  # the question mark answers


def _attend(layer: nn.Module, x: Tensor) -> Tensor:
    return layer(x, x, x)[0]


def learn_facts(
    attentions: int, has_network: bool, seed: int, steps: int = 500
) -> float:
    """The proportion of 1,024 random facts that a model knows after training."""
    torch.manual_seed(seed)
    pairs = torch.cartesian_prod(torch.arange(32), torch.arange(32))
    ids = F.pad(pairs, (0, 1), value=32)  # (1024, 3)
    answers = torch.randint(32, (1024,))
    model = Facts(attentions, has_network)
    optimizer = torch.optim.Adam(model.parameters())
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = 5e-3 * (1 - step / steps)
        loss = F.cross_entropy(model(ids), answers)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        return float((model(ids).argmax(-1) == answers).float().mean())


# %%
my_guess = "?"  # write yours here, then run the cell


@demo
def a_thousand_facts():
    for name, attentions, has_network in (
        ("one attention layer", 1, False),
        ("attention and network", 1, True),
        ("three attention layers", 3, False),
    ):
        start = time.process_time()
        proportion = learn_facts(attentions, has_network, seed=0)
        seconds = time.process_time() - start
        print(f"{name:<23} {proportion:4.0%} of the facts, {seconds:4.1f} CPU seconds")


# %% [markdown]
# Alone, one attention layer learns 51 to 58 % of the facts (five seeds); followed by
# the network, it learns 98 to 100 %. Three attention layers also reach 100 %, so
# attention can store facts as well. But with about the same number of parameters, they
# took almost twice as long on our machine, because they carry out many more operations.
# The network is the *cheap* place to store facts.
#
# ## 3. The encoder
#
# BERT's base model stacks the same layer twelve times, each time with separate weights:
# self-attention and a feed-forward network, each wrapped in add & norm. Now that you
# have all the parts, you only need to assemble them:
#
# $$x \;\to\; \text{add \& norm}_1(\text{self-attention}) \;\to\;
# \text{add \& norm}_2(\text{feed-forward}) \;\to$$
#
# ### Exercise 4.3 - The encoder layer
#
# *time ~20 min · difficulty 3/5 · 12 points*
#
# **Task.** Assemble the layer from `MultiHeadAttention` (unit 3), your `FeedForward`,
# two norms and your `add_and_norm`. Return only the new vectors, not the attention
# weights.
#
# **Example.** `EncoderLayer(12, num_heads=3, d_ff=20)` maps `(2, 5, 12)` to `(2, 5,
# 12)`.
#
# <details><summary>Contract</summary>
#
# - Submodules: `attention`, `feed_forward`, and two `nn.LayerNorm(d_model)`, `norm1`
#   for the attention and `norm2` for the feed-forward network.
# - The same `dropout` is used in the attention, in the feed-forward network, and on
#   each of the two branches.
# - `nn.TransformerEncoderLayer` is not allowed.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# `add_and_norm` expects a *function of one tensor*. Attention takes three tensors and a
# mask, and returns two. How do you turn it into a function of one tensor? (With
# pre-norm, that tensor is the normalised one. It must serve as query, key and value.)
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# x                               (B, L, d_model)
# attention of x to itself        (B, L, d_model), (B, h, L, L)   the first is needed
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

    def forward(
        self,
        x: Float[Tensor, "B L d_model"],
        mask: Bool[Tensor, "L L"]
        | Bool[Tensor, "B L L"]
        | Bool[Tensor, "B num_heads L L"]
        | None = None,
    ) -> Float[Tensor, "B L d_model"]:
        """Apply both sublayers to x.

        Args:
            mask: True = may attend. Any dimension but the last may be 1, as in a
                padding mask `(B, 1, L)`.
        """
        ### BEGIN SOLUTION

        def attend(x: Tensor) -> Tensor:
            return self.attention(x, x, x, mask)[0]  # (B, L, d_model)

        x = add_and_norm(x, attend, self.norm1, self.dropout, self.norm_first)
        return add_and_norm(
            x, self.feed_forward, self.norm2, self.dropout, self.norm_first
        )
        ### END SOLUTION


# %% check="encoder_decoder/encoder_layer" points=12
# Checks parameter names, values in both placements, masks, dropout and gradients.
check("encoder_decoder/encoder_layer", EncoderLayer)

# %% [markdown]
# ### The stack
#
# One layer can only combine what each position sees directly. To combine *what other
# positions have found out*, stack layers: the output of one becomes the input of the
# next, and nothing else changes. That takes two lines of code and leaves room for three
# classic bugs: layers that PyTorch cannot see, layers that are all the same object, and
# a mask that reaches only the first layer.
#
# With pre-norm the residual stream is never normalised, so its vectors tend to grow
# from layer to layer, and the stack needs **one more norm** at its end; a post-norm
# stack already ends in one. (PyTorch's `nn.Transformer` adds a final norm in both
# cases; the paper does not.)
#
# ### Exercise 4.4 - The stack
#
# *time ~10 min · difficulty 2/5 · 8 points*
#
# **Task.** Build a stack for any kind of layer. Pass the same `*context` to every
# layer, then apply the final norm.
#
# **Example.** `Stack(lambda: EncoderLayer(12, 3, 20), num_layers=6)` is the encoder of
# a small BERT.
#
# <details><summary>Contract</summary>
#
# - Submodules: `layers` and, if a norm is given, `norm`.
# - `make_layer` is called exactly `num_layers` times.
# - Every layer is called as `layer(x, *context)`, with the same context;
#   `layer.forward(...)` would bypass hooks.
# - `nn.TransformerEncoder` and `nn.TransformerDecoder` are not allowed.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Does PyTorch find the parameters of modules that are stored in a plain Python list?
# Which kind of list does it search?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# `x` stays `(B, L, d_model)`. `*context` collects any further arguments in a tuple, and
# a star in a call unpacks it again:
#
# ```text
# encoder:  stack(x, mask)                           context = (mask,)
# decoder:  stack(x, memory, tgt_mask, memory_mask)  context = the other three
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# init:     a list that PyTorch knows, with num_layers fresh layers; remember the norm
# forward:  for each layer: x becomes its result for x and the context
#           if there is a final norm, apply it
# ```
#
# </details>


# %% exercise="encoder_decoder/stack"
class Stack(nn.Module):
    """A stack of layers, with a norm at the end if one is given.

    Args:
        make_layer: called without arguments, returns a new layer each time.
        num_layers: number of layers.
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
        self, x: Float[Tensor, "B L d_model"], *context: Tensor | None
    ) -> Float[Tensor, "B L d_model"]:
        """Send x through all layers.

        Args:
            context: further arguments for every layer: an encoder layer's mask, or a
                decoder layer's memory and masks; may be empty.
        """
        ### BEGIN SOLUTION
        for layer in self.layers:
            x = layer(x, *context)  # (B, L, d_model)
        return self.norm(x)
        ### END SOLUTION


# %% check="encoder_decoder/stack" points=8
# Uses its own layers, of both kinds, so that only your stack is judged.
check("encoder_decoder/stack", Stack)

# %% [markdown]
# ### Where should the norm go? A measurement
#
# We compare two encoders of eight layers that have the same sizes, data and learning
# rate, and differ only in `norm_first`. At each of eight positions they have to name
# the letter at the *mirrored* position; since there are 12 letters, guessing gives a
# loss of $\log 12 \approx 2.48$.
#
# **Predict first.** Which of the two has the lower loss after 120 steps? And before the
# first step, which one, if either, has the larger gradients in the last layer, and
# which in the first?


# %% folded=true
# @title A deep encoder that mirrors eight letters, and how it is trained
class Mirror(nn.Module):
    """Ids (B, 8) to logits (B, 8, 17), through a deep encoder."""

    def __init__(self, norm_first: bool, depth: int = 8, width: int = 32):
        super().__init__()
        table = positional_encoding.sinusoid(torch.arange(8), width)
        self.words = positional_encoding.InputLayer(
            17, width, positional_encoding.PositionalEncoding(table), dropout=0.0
        )
        self.stack = Stack(
            lambda: EncoderLayer(width, 4, 2 * width, norm_first=norm_first),
            depth,
            nn.LayerNorm(width) if norm_first else None,
        )
        self.logits = nn.Linear(width, 17)

    def forward(self, ids: Tensor) -> Tensor:
        return self.logits(self.stack(self.words(ids)))


def initialise(model: nn.Module) -> nn.Module:
    """Draw every matrix from Xavier's uniform distribution; padding stays zero."""
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
    """The loss of each step, and each layer's gradient norm before the first one."""
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
my_guess = "?"  # write yours here, then run the cell


@demo
def before_or_after():
    runs = {}
    for norm_first, name in ((False, "post-norm"), (True, "pre-norm")):
        runs[name] = [train_mirror(norm_first, seed) for seed in range(2)]
        for seed, (losses, _) in enumerate(runs[name]):
            print(f"{name:>9}, seed {seed}: loss after 120 steps {losses[-1]:.2f}")
    pictures.placements(runs)


# %% [markdown]
# With the same settings, pre-norm learns, while post-norm is still guessing. In the
# last layer, the gradients of post-norm are two to four times as large as those of
# pre-norm; in the first layer the difference is smaller and can go either way,
# depending on the seed.
#
# The first gradients are not to blame, since even with random weights they point in a
# perfectly good direction. It is the optimizer that does the damage: Adam divides each
# component of the gradient by an estimate of its usual magnitude, and in the first step
# that estimate is based on this one value alone. Nearly every parameter therefore moves
# by the full learning rate (99 % of them in this model, although their gradients span
# more than four orders of magnitude), and post-norm copes badly with this (Liu et al.
# 2020a; Xiong et al. 2020).
#
# The paper's remedy is a **warm-up**, in which the learning rate rises from almost zero
# over the first 4,000 steps. The cell below trains the same post-norm encoder for 300
# steps, once without a warm-up and once with a warm-up of 100 steps.


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
# After 300 steps, the loss is between 2.2 and 2.5 without warm-up but at most 1.8 with
# it (five seeds), although both runs use the same rate for the last 200 steps: a few
# early steps that were too large have left the first model in a region from which it
# rarely escapes.
#
# So pre-norm is *easier to train*, often without any warm-up, but not necessarily the
# better model: where both train well, post-norm has been found to end up ahead (Liu et
# al. 2020b).
#
# *Written question (4 points).* Follow the residual stream from the input of layer 1
# to the output of layer 8, once for each placement, and write down which operations a
# vector passes through if every sublayer returns zero. Then answer in three to five
# sentences: what does the gradient pass through on the way back, why does a pre-norm
# stack need one more norm at its end, and which line of `add_and_norm` would you check
# if someone's deep model refused to learn?
#
# *Points: both placements (2), the gradient (1), the final norm (1).*

# %% [markdown] written="encoder_decoder/norm_placement" points=4
# *Your answer here*
#
# ### BEGIN SOLUTION
# Pre-norm: the vector passes through unchanged; the output of layer 8 is the input of
# layer 1. Post-norm: it passes through a LayerNorm twice per layer, sixteen times in
# all. (At initialisation, with silent sublayers, these sixteen are equivalent to a
# single one, because normalising a normalised vector changes nothing; an answer that
# notices this is a good one.) Backwards, the gradient reaches layer 1 unchanged along
# the pre-norm stream, plus what the branches add; with post-norm it is multiplied by
# sixteen Jacobians of LayerNorm, which rescale it each time. In pre-norm every layer
# adds something and the sum is never normalised, so its magnitude grows with depth; the
# norm at the end brings it back before the output layer. I would check whether the norm
# is applied to the sum or inside the branch.
# ### END SOLUTION

# %% [markdown]
# ## 4. The decoder
#
# The encoder reads a sentence that is complete from the start, whereas the decoder
# *writes* one, token by token. For each token it asks two questions: what have I
# written so far, and what in the source matters now? Together with the feed-forward
# network, that gives each of its layers *three* sublayers:

# %%
drawing(
    "decoder_layer",
    "4.6",
    "A decoder layer has three sublayers, and only the second reads the memory.",
)

# %% [markdown]
# 1. **Masked self-attention**: what has been written so far? The mask hides the future.
# 2. **Cross-attention**: what in the source matters now? The queries come from the
#    decoder, the keys and values from the *memory*, which is the output of the
#    encoder's last layer.
# 3. **Feed-forward**, as before.
#
# Because the source is complete, cross-attention has *no* causal mask, only the padding
# mask of the source. With two masks and two sequences, there are many ways to mix them
# up that raise no error.
#
# ### Exercise 4.5 - The decoder layer
#
# *time ~25 min · difficulty 3/5 · 14 points*
#
# **Task.** Assemble the layer as in 4.3, with three sublayers in the order above.
# `tgt_mask` is for the self-attention and `memory_mask` for the cross-attention.
#
# **Example.** `DecoderLayer(12, 3, 20)` maps `x (2, 5, 12)` and `memory (2, 7, 12)` to
# `(2, 5, 12)`.
#
# <details><summary>Contract</summary>
#
# - Submodules: `self_attention`, `cross_attention`, `feed_forward`, and `norm1`,
#   `norm2`, `norm3` in the order of the sublayers.
# - Dropout is used in both attentions, in the feed-forward network, and on each of the
#   three branches.
# - The memory is not normalised again: the encoder has already done that.
# - `nn.TransformerDecoderLayer` is not allowed.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Cross-attention returns one vector per *target* position. So which sequence provides
# the queries, and which one the keys and values?
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
# forward:  x = add & norm 1 of: self-attention of the argument, with tgt_mask
#           x = add & norm 2 of: cross-attention to the memory, with memory_mask
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
        x: Float[Tensor, "B Lt d_model"],
        memory: Float[Tensor, "B Ls d_model"],
        tgt_mask: Bool[Tensor, "Lt Lt"]
        | Bool[Tensor, "B Lt Lt"]
        | Bool[Tensor, "B num_heads Lt Lt"]
        | None = None,
        memory_mask: Bool[Tensor, "Lt Ls"]
        | Bool[Tensor, "B Lt Ls"]
        | Bool[Tensor, "B num_heads Lt Ls"]
        | None = None,
    ) -> Float[Tensor, "B Lt d_model"]:
        """Apply the three sublayers to x.

        Args:
            tgt_mask: for the self-attention.
            memory_mask: for the cross-attention. Any dimension of either mask but the
                last may be 1.
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


# %% check="encoder_decoder/decoder_layer" points=14
# Checks values in both placements, and which positions of target and memory count.
check("encoder_decoder/decoder_layer", DecoderLayer)

# %% [markdown]
# Now look at your layers from the outside, with a *data-flow probe*: like
# `who_sees_whom` from unit 2, it changes one input position and reports which outputs
# change. It adds a different amount to each feature, so that no norm can hide the
# change.
#
# **Predict first**, on paper. Take an encoder layer whose input ends in padding, and a
# decoder layer. For each input position, which outputs change when you change it?


# %%
def who_moves(
    function: Callable[[Tensor], Tensor], x: Float[Tensor, "B Lk d"]
) -> Bool[Tensor, "Lq Lk"]:
    """Which outputs of the first sequence change when a position of x changes.

    Args:
        function: from (B, Lk, d) to (B, Lq, d_out).
        x: what the function is called with.

    Returns:
        A matrix; entry [i, j]: does output i change when input j changes?
    """
    push = torch.linspace(-1, 1, x.size(-1))
    with torch.no_grad():
        before, columns = function(x), []
        for j in range(x.size(1)):
            changed = x.clone()
            changed[:, j] += push
            columns.append(((function(changed) - before)[0].abs() > 1e-5).any(-1))
    return torch.stack(columns, dim=1)  # (Lq, Lk)


# %%
my_guess = "?"  # write yours here, then run the cell


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
# The surprise is in the lower right corner of the first picture, where padding still
# changes *its own* output. The mask keeps every position from attending to padding, but
# it does not remove the padding, whose vector travels along the residual stream and is
# ignored at the end. In the decoder, an output depends on its own position and all
# earlier ones (the triangle), and on everything in the memory but padding.
#
# ## 5. The Transformer
#
# The model uses attention in three places, each of which needs a mask:
#
# | attention | queries | keys | mask |
# |---|---|---|---|
# | of the encoder | source | source | padding of the **source** |
# | of the decoder to itself | target | target | padding of the **target**, *and* causal |
# | of the decoder to the memory | target | source | padding of the **source** |

# %%
drawing(
    "whole_model",
    "4.8",
    "Each of the three attentions has a mask whose columns are the keys.",
)

# %% [markdown]
# In the drawing, the rows of a mask are queries, its columns are keys, and pink means
# allowed. Since a padding mask always belongs to the *keys*, two masks are enough for
# all three places. A wrong mask is easy to miss: if source and target have the same
# length, the shapes fit, everything runs, and the loss still goes down.
#
# The function below makes both masks from the ids, with `padding_mask`, `causal_mask`
# and `combine_masks` from unit 2.


# %%
def make_masks(
    src: Int[Tensor, "B Ls"], tgt: Int[Tensor, "B Lt"], pad_id: int = 0
) -> tuple[Bool[Tensor, "B 1 Ls"], Bool[Tensor, "B Lt Lt"]]:
    """The masks of an encoder-decoder.

    Args:
        src: ids of the source, int64.
        tgt: ids that the decoder reads, int64; the first id of a row is never padding.
        pad_id: the id of the padding token.

    Returns:
        src_mask: for the encoder and the cross-attention.
        tgt_mask: for the decoder's self-attention.
    """
    causal = attention.causal_mask(tgt.size(1)).to(tgt.device)  # (Lt, Lt)
    padding = attention.padding_mask(tgt, pad_id)  # (B, 1, Lt)
    return (
        attention.padding_mask(src, pad_id),  # (B, 1, Ls)
        attention.combine_masks(padding, causal),  # (B, Lt, Lt)
    )


# %% [markdown]
# Now the parts can be assembled into the model of the paper, which units 5 and 6 use as
# well.

# %%
drawing(
    "wiring",
    "4.9",
    "The source is read once; every layer of the decoder attends to the memory.",
)

# %% [markdown]
# `source` and `target` are `InputLayer`s from unit 1: embedding, times
# $\sqrt{d_\text{model}}$, plus positions, then dropout. `output` is a linear layer that
# gives each word of the target vocabulary a score, a *logit*. No softmax follows,
# because the loss, `F.cross_entropy`, applies its own.
#
# `encode` and `decode` are separate methods, because a source is read once, while the
# decoder runs again for every word that it writes. (This is not yet a *key-value
# cache*, since every call to `decode` recomputes the keys and values of the whole
# prefix.)
#
# ### Exercise 4.6 - The Transformer
#
# *time ~30 min · difficulty 4/5 · 15 points*
#
# **Task.** Assemble the model from two input layers, two stacks and a final
# `nn.Linear`, with the masks from `make_masks`. `encode` reads the source, `decode`
# turns target ids and memory into logits, and `forward` calls both.
#
# **Example.** `Transformer(12, 9, d_model=16, num_heads=2, num_layers=2, d_ff=32)` maps
# source ids `(3, 7)` and target ids `(3, 5)` to logits `(3, 5, 9)`.
#
# <details><summary>Contract</summary>
#
# - Submodules `source` and `target`: `positional_encoding.InputLayer(vocab, d_model,
#   positions, dropout, padding_idx)`.
# - The two input layers share one `positions` module. The default is
#   `positional_encoding.PositionalEncoding(table)` with the sinusoids of positions 0 to
#   `max_len - 1`.
# - `pad_id` is the `padding_idx` of both embeddings: its vector starts at zero and is
#   never trained.
# - Submodules `encoder` and `decoder`: a `Stack` of `num_layers` layers each. With
#   `norm_first`, each ends in its own `nn.LayerNorm(d_model)`; otherwise there is no
#   final norm.
# - Submodule `output`: an `nn.Linear` with bias.
# - `decode` depends on its arguments alone, not on what `encode` was called with.
# - `nn.Transformer` is not allowed.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Which masks can `encode` and `decode` make from the ids that they are given? And why
# does `decode` need `src` when it already has the memory?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# encode   src (B, Ls)                    -> memory (B, Ls, d_model)
# decode   tgt (B, Lt), memory, src       -> logits (B, Lt, tgt_vocab)
# forward  src, tgt                       -> logits (B, Lt, tgt_vocab)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# init:     positions, if none were given: one module for both sides
#           source; target
#           encoder: a stack of num_layers encoder layers, with a norm if norm_first
#           decoder: the same with decoder layers (and a norm of its own)
#           output
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
        num_layers: number of layers in the encoder, and in the decoder.
        pad_id: the padding token, which is masked as a key.
        max_len: number of positions in the sinusoid table.
        positions: a module that adds positions to `(B, L, d_model)`; None: sinusoids.

    Its modules are named `source`, `target`, `encoder`, `decoder` and `output`.
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
        pad_id: int = 0,
        max_len: int = 512,
        positions: nn.Module | None = None,
    ):
        super().__init__()
        ### BEGIN SOLUTION
        if positions is None:
            table = positional_encoding.sinusoid(torch.arange(max_len), d_model)
            positions = positional_encoding.PositionalEncoding(table)

        def embedding(vocab: int) -> nn.Module:
            return positional_encoding.InputLayer(
                vocab, d_model, positions, dropout, pad_id
            )

        def stack(layer: type) -> nn.Module:
            sizes = (d_model, num_heads, d_ff, dropout, norm_first, activation)
            norm = nn.LayerNorm(d_model) if norm_first else None
            return Stack(lambda: layer(*sizes), num_layers, norm)

        self.source = embedding(src_vocab)
        self.target = embedding(tgt_vocab)
        self.encoder = stack(EncoderLayer)
        self.decoder = stack(DecoderLayer)
        self.output = nn.Linear(d_model, tgt_vocab)
        self.pad_id = pad_id
        ### END SOLUTION

    def encode(self, src: Int[Tensor, "B Ls"]) -> Float[Tensor, "B Ls d_model"]:
        """From ids to the memory."""
        ### BEGIN SOLUTION
        mask = attention.padding_mask(src, self.pad_id)  # (B, 1, Ls)
        return self.encoder(self.source(src), mask)
        ### END SOLUTION

    def decode(
        self,
        tgt: Int[Tensor, "B Lt"],
        memory: Float[Tensor, "B Ls d_model"],
        src: Int[Tensor, "B Ls"],
    ) -> Float[Tensor, "B Lt tgt_vocab"]:
        """Logits for what follows each prefix of `tgt`.

        Args:
            memory: what `encode(src)` returned.
            src: needed only to know where the memory is padding.
        """
        ### BEGIN SOLUTION
        src_mask, tgt_mask = make_masks(src, tgt, self.pad_id)
        x = self.decoder(self.target(tgt), memory, tgt_mask, src_mask)
        return self.output(x)  # (B, Lt, tgt_vocab)
        ### END SOLUTION

    def forward(
        self, src: Int[Tensor, "B Ls"], tgt: Int[Tensor, "B Lt"]
    ) -> Float[Tensor, "B Lt tgt_vocab"]:
        """Encode the source, and return the logits of the target."""
        ### BEGIN SOLUTION
        return self.decode(tgt, self.encode(src), src)
        ### END SOLUTION


# %% check="encoder_decoder/transformer" points=15
# Checks parameter names, logits, both placements, padding, and which ids count.
check("encoder_decoder/transformer", Transformer)

# %% [markdown]
# *Every* layer of the decoder attends to the same memory, the output of the encoder's
# *last* layer. A drawing that connects the first encoder layer to the first decoder
# layer, and so on, shows a different model.
#
# ## 6. Yours is PyTorch's
#
# If your modules are correct, there must be weights for which they compute the same
# outputs as PyTorch's `nn.TransformerEncoderLayer`, `nn.TransformerDecoderLayer` and
# `nn.Transformer`. The obvious candidates are *your own*, because only the names and
# the packing differ:
#
# | yours | PyTorch's |
# |---|---|
# | `attention` and `self_attention` | `self_attn` |
# | `cross_attention` | `multihead_attn` |
# | `w_q`, `w_k`, `w_v` | stacked, as rows, in `in_proj_weight` and `in_proj_bias` |
# | `w_o` | `out_proj` |
# | `feed_forward.linear1`, `feed_forward.linear2` | `linear1`, `linear2` |
# | `norm1` and so on, `layers.0` and so on | the same |


# %% folded=true
# @title Your parameters under PyTorch's names, the three projections in one
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
# The next cell compares your stacks with PyTorch's for random weights, in both
# placements, with both activations and both kinds of mask. It avoids two traps: in
# PyTorch's masks, `True` means the opposite of ours (unit 2), and PyTorch's post-norm
# Transformer has two final norms, which we remove.


# %%
@demo
def same_as_pytorch():
    torch.manual_seed(6)
    src, tgt = torch.randn(3, 7, 12), torch.randn(3, 5, 12)
    keep = torch.arange(7) < torch.tensor([[7], [4], [5]])  # (B, Ls)
    causal = attention.causal_mask(5)
    for norm_first in (False, True):
        for activation in ("relu", "gelu"):
            theirs = nn.Transformer(12, 3, 2, 2, 20, 0.0, activation, batch_first=True,
                                    norm_first=norm_first).eval()  # fmt: skip
            if not norm_first:
                theirs.encoder.norm = theirs.decoder.norm = None
            encoder, decoder = (
                Stack(partial(layer, 12, 3, 20, 0.0, norm_first, activation), 2,
                      nn.LayerNorm(12) if norm_first else None)
                for layer in (EncoderLayer, DecoderLayer)
            )  # fmt: skip
            theirs.encoder.load_state_dict(to_pytorch(encoder.state_dict()))
            theirs.decoder.load_state_dict(to_pytorch(decoder.state_dict()))
            own = decoder(tgt, encoder(src, keep[:, None]), causal, keep[:, None])
            other = theirs(src, tgt, tgt_mask=~causal, src_key_padding_mask=~keep,
                           memory_key_padding_mask=~keep)  # fmt: skip
            gap = float((own - other).abs().max())
            print(f"norm_first {norm_first!s:>5}, {activation}: gap {gap:.1e}")


# %% [markdown]
# The gaps are no more than rounding error, so now you know what is inside
# `nn.Transformer`: you could have written it.
#
# ## 7. What does it cost?
#
# The number of parameters does not depend on the length of the text, but the work does,
# and so does the memory that training needs. We count both for one encoder layer and
# one sequence of length $L$. Multiplying an $(m \times k)$ by a $(k \times n)$ matrix
# takes $2mkn$ floating-point operations (FLOPs), $k$ multiplications and $k$ additions
# per entry.
#
# For the backward pass, training has to keep intermediate results. Two of the largest
# are the attention weights of all heads and the hidden vectors of the feed-forward
# network.
#
# ### Exercise 4.7 - FLOPs and memory of a layer
#
# *time ~10 min · difficulty 2/5 · 5 points*
#
# **Task.** Count, for one sequence: FLOPs of multi-head attention, FLOPs of the
# feed-forward network, entries of the attention weights, and entries of the hidden
# vectors.
#
# **Example.** `layer_cost(10, d_model=4, num_heads=2, d_ff=16)` is `(2880, 2560, 200,
# 160)`.
#
# <details><summary>Contract</summary>
#
# - Only matrix products count, each with $2mkn$ FLOPs; biases, softmax, activation and
#   scaling are left out.
# - Attention includes its four projections.
# - The results are integers.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Multi-head attention has six matrix products: four projections, the scores and the
# weighted sum. Does the number of heads change the cost of any of them? In which of
# them does $L$ appear twice?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# one projection       (L, d_model) times (d_model, d_model)
# scores, each head    (L, d_k) times (d_k, L)
# sum, each head       (L, L) times (L, d_k)
# feed-forward         (L, d_model) times (d_model, d_ff), and back again
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# attention    = 4 projections + (scores + weighted sum) of all heads
# feed-forward = its two products
# weights      = one entry for each head, query and key
# hidden       = one entry for each position and hidden component
# ```
#
# </details>


# %% exercise="encoder_decoder/layer_cost"
def layer_cost(
    length: int, d_model: int, num_heads: int, d_ff: int
) -> tuple[int, int, int, int]:
    """What an encoder layer computes and keeps for one sequence.

    Args:
        length: number of positions.
        d_model: size of the vectors.
        num_heads: number of heads; it divides d_model.
        d_ff: size of the hidden vectors of the feed-forward network.

    Returns:
        FLOPs of multi-head attention, FLOPs of the feed-forward network, entries of the
        attention weights, and entries of the hidden vectors.
    """
    ### BEGIN SOLUTION
    projections = 4 * 2 * length * d_model * d_model
    scores_and_sum = 2 * 2 * length * length * d_model  # d_model = h * d_k
    feed_forward = 2 * 2 * length * d_model * d_ff
    weights = num_heads * length * length
    return projections + scores_and_sum, feed_forward, weights, length * d_ff
    ### END SOLUTION


# %% check="encoder_decoder/layer_cost" points=5
# Compares your four counts for several sizes.
check("encoder_decoder/layer_cost", layer_cost)


# %%
@demo
def when_attention_overtakes():
    lengths = [2**n for n in range(5, 15)]
    costs = [layer_cost(length, 512, 8, 2048) for length in lengths]
    pictures.costs(lengths, costs)


# %% [markdown]
# Attention takes the lead in memory first: with the paper's sizes, its weights overtake
# the hidden vectors at $L = d_\text{ff} / h = 256$, while attention needs more FLOPs
# than the network only beyond $L = d_\text{ff} - 2\,d_\text{model} = 1024$. Below this
# second length, the feed-forward network does more of the work, which limits how much
# *time* faster attention can save; but from a few hundred tokens on, attention
# dominates the *memory*, unless the weights are never stored. FlashAttention (Dao et
# al. 2022), which works block by block, avoids storing them.
#
# ### Tied embeddings
#
# The paper's base model has 6 + 6 layers and a vocabulary of 37,000 tokens that both
# languages share. That makes three tables of 37,000 rows and 512 columns: one for the
# source, one for the target, and one as the weight of the output layer. Since each of
# them has one row per token, one table can serve as all three (section 3.4 of the
# paper; Press and Wolf 2017), provided that it is *the same* parameter and not a copy,
# which would differ after the first training step. So the code assigns the parameter,
# not its values:


# %%
def tie_embeddings(model: nn.Module) -> nn.Module:
    """Let one table serve as source embedding, target embedding and output weight.

    Args:
        model: a `Transformer` whose two vocabularies are one; changed in place.

    Returns:
        The same model.
    """
    table = model.source.embedding.weight  # (vocab, d_model)
    model.target.embedding.weight = model.output.weight = table
    return model


# %%
@demo
def how_large():
    with torch.device("meta"):  # shapes only: no memory is used
        stacks = (
            Stack(partial(layer, 512, 8, 2048), 6)
            for layer in (EncoderLayer, DecoderLayer)
        )
        layers = sum(p.numel() for stack in stacks for p in stack.parameters())
    for tables in (3, 1):
        embeddings = tables * 37_000 * 512
        count = layers + embeddings + 37_000  # and the biases of the output layer
        print(f"{tables} table(s): {count / 1e6:5.1f} million parameters, "
              f"{embeddings / 1e6:4.1f} of them in tables")  # fmt: skip


# %% [markdown]
# Sharing one table shrinks the model from 101 million parameters to 63 million. (Table
# 3 of the paper says 65 million for its base model.) The output layer now also trains
# the padding token's row, which an `nn.Embedding` with a `padding_idx` never does; this
# is harmless, because the masks hide padding, whatever its vector is.
#
# ## 8. Bug clinic: write the test
#
# The decoder layer below runs and trains, but it has three bugs. **Find them before you
# read on.**


# %%
class OneTensorAttention(nn.Module):
    """Multi-head attention that returns the output only, not the weights."""

    def __init__(self, d_model: int, num_heads: int):
        super().__init__()
        self.inner = multi_head_attention.MultiHeadAttention(d_model, num_heads)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
    ) -> Tensor:
        return self.inner(query, key, value, mask)[0]  # (B, Lq, d_model)


class FaultyLayer(nn.Module):
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
    layer = FaultyLayer(8, 2, 16)
    for batch in (1, 2, 3):
        try:
            out = layer(torch.randn(batch, 5, 8), torch.randn(batch, 4, 8))
            print(f"batch of {batch}: {tuple(out.shape)}, no error")
        except ValueError as error:
            print(f"batch of {batch}: {error}")


# %% [markdown]
# 1. **A tensor is unpacked as if it were a pair.** `seen, _ = ...` splits along the
#    first dimension, which is the batch. With a batch of 2 this *works*: `seen` is the
#    attention output of sentence 0, and it is added to both sentences. Any other batch
#    size crashes, so anyone who tries only batches of 2 never notices.
# 2. **There is no causal mask.** Each position attends to the future.
# 3. **There are two cross-attentions.** This is a different architecture, with more
#    parameters than it should have.
#
# All shapes are correct and the loss goes down, so only a careful reader or a test will
# catch such bugs. Units 5 and 6 rely on decoder layers, so these deserve a test, which
# must accept the correct layer below. The rule that catches the third bug is given:
# `assert_parameters` compares the number of parameters with the expected one.


# %%
class WithCausalMask(nn.Module):
    """A decoder layer that makes its causal mask by itself."""

    def __init__(self, inner: nn.Module):
        super().__init__()
        self.inner = inner  # a DecoderLayer

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        return self.inner(x, memory, attention.causal_mask(x.size(1)))


def assert_parameters(layer: nn.Module, d_model: int, d_ff: int) -> None:
    """Return quietly if a decoder layer has as many parameters as it should.

    Args:
        layer: should have two multi-head attentions, one feed-forward network and
            three norms, and nothing else.
        d_model: size of its vectors.
        d_ff: size of the hidden layer of its feed-forward network.

    Raises:
        AssertionError: the layer has more or fewer parameters.
    """
    attentions = 2 * 4 * (d_model * d_model + d_model)
    network = 2 * d_model * d_ff + d_ff + d_model
    norms = 3 * 2 * d_model
    count = sum(parameter.numel() for parameter in layer.parameters())
    expected = attentions + network + norms
    assert count == expected, f"{count} parameters, not {expected}"


# %% [markdown]
# ### Exercise 4.8 - A test for decoder layers
#
# *time ~30 min · difficulty 4/5 · 9 points*
#
# **Task.** Write a test for any decoder layer in eval mode, called as `layer(x,
# memory)`. Return nothing if the layer follows the four rules in the contract, and
# raise `AssertionError` if it breaks one. The last line, which counts parameters, is
# given.
#
# **Example.** A `WithCausalMask(DecoderLayer(8, 2, 16))` passes, and a `FaultyLayer(8,
# 2, 16)` does not.
#
# <details><summary>Contract</summary>
#
# - Rule 1: any batch size and any two lengths work; the output has the shape of `x`.
# - Rule 2: output `i` depends on every target position `0 ... i`, and on no later one.
# - Rule 3: each output depends on every position of the memory.
# - Rule 4: the sequences of a batch are independent.
# - Pre-norm, GELU and any names are allowed; a change below 1e-5 is rounding, as in
#   `who_moves`.
# - A faulty layer that crashes in your test counts as rejected.
# - Each correct layer is paired with two faulty ones; you score if your test accepts
#   the correct one and rejects both faulty ones.
# - Your test is given stand-ins, which behave like the layers and have the same number
#   of parameters, but with different values.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# You have a probe for rules 2 and 3. Does it notice what happens in a batch of 3? Which
# change to a position is invisible to a layer that starts with a norm?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# x (B, Lt, d_model), memory (B, Ls, d_model), with B = 1, 2 and 3, Lt < Ls and Lt > Ls
# moved, for one change     (B, Lt)    bool: does output i of sequence b change?
# expected, for target j of sequence b:   True at [b, j:], False elsewhere
# expected, for memory j of sequence b:   True at [b, :],  False elsewhere
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# for each batch size 1, 2, 3, with lengths of its own:
#     random x and memory; before = the layer's output; assert its shape
#     for each sequence b and each target position j:
#         push position j of sequence b, unevenly
#         assert that exactly the expected outputs change (by more than rounding)
#     the same for each position of the memory
# ```
#
# </details>


# %% exercise="encoder_decoder/bug_clinic"
def assert_decoder_layer(layer: nn.Module, d_model: int, d_ff: int) -> None:
    """Return quietly if a decoder layer follows the rules above.

    Args:
        layer: called as `layer(x, memory)`, with x `(B, Lt, d_model)` and memory
            `(B, Ls, d_model)`; it masks the future by itself.
        d_model: size of its vectors.
        d_ff: size of the hidden layer of its feed-forward network.

    Raises:
        AssertionError: the layer breaks a rule.
    """
    ### BEGIN SOLUTION
    push = torch.linspace(-1, 1, d_model)  # uneven: a norm cannot remove it

    def assert_moves(expected: Tensor, x: Tensor, memory: Tensor, says: str) -> None:
        moved = ((layer(x, memory) - before).abs() > 1e-5).any(dim=-1)  # (B, Lt)
        assert torch.equal(moved, expected), f"wrong outputs depend on {says}"

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
                    later = own & (torch.arange(target) >= j)  # (B, Lt)
                    assert_moves(later, other, memory, f"target position {j}")
                for j in range(source):
                    other = memory.clone()
                    other[b, j] += push
                    whole = own.expand(batch, target)
                    assert_moves(whole, x, other, f"memory position {j}")
    ### END SOLUTION
    assert_parameters(layer, d_model, d_ff)


# %% check="encoder_decoder/bug_clinic" points=9
# Runs your test on correct layers and on faulty ones.
check("encoder_decoder/bug_clinic", assert_decoder_layer)

# %% [markdown]
# The next cell puts your test to work: it repairs the bugs of the faulty layer one by
# one and runs the test after each repair.


# %%
class Repaired(FaultyLayer):
    """The faulty layer with its first 0, 1, 2 or all 3 bugs repaired."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, repairs: int):
        super().__init__(d_model, num_heads, d_ff)
        self.repairs = repairs
        if repairs == 3:
            del self.cross_b, self.norms[2]

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        if self.repairs == 0:
            return super().forward(x, memory)
        mask = attention.causal_mask(x.size(1)) if self.repairs >= 2 else None
        x = self.norms[0](x + self.own(x, x, x, mask))
        x = self.norms[1](x + self.cross_a(x, memory, memory))
        if self.repairs < 3:
            x = self.norms[2](x + self.cross_b(x, memory, memory))
        return self.norms[-1](x + self.thinking(x))


@demo
def your_test_at_work():
    torch.manual_seed(9)
    layers = {
        "yours, post-norm": WithCausalMask(DecoderLayer(8, 2, 16)),
        "yours, pre-norm": WithCausalMask(DecoderLayer(8, 2, 16, norm_first=True)),
        "the faulty one": Repaired(8, 2, 16, repairs=0),
        "  no unpacking": Repaired(8, 2, 16, repairs=1),
        "  + causal mask": Repaired(8, 2, 16, repairs=2),
        "  + one cross-attention": Repaired(8, 2, 16, repairs=3),
    }
    for name, layer in layers.items():
        try:
            assert_decoder_layer(layer.eval(), 8, 16)
            print(f"{name:<24} accepted")
        except (AssertionError, ValueError) as error:
            print(f"{name:<24} rejected: {error}")


# %% [markdown]
# Each repair reveals the next bug, and the faulty layer is accepted only once all three
# are repaired. An author who had fixed nothing but the crash would have been left with
# two bugs, neither of which ever raises an error.
#
# ## 9. Three families
#
# The parts can be used in three ways, which differ in *who may attend to whom* and in
# what the model is trained to do, its **objective**.
#
# | family | parts | each position attends to | is asked | examples |
# |---|---|---|---|---|
# | encoder-only | encoder | both sides | which tokens were masked? | BERT |
# | decoder-only | encoder with a causal mask | the left side | what comes next? | GPT |
# | encoder-decoder | both | all of the source, the left side of the target | what comes next, given the source? | T5, BART, the paper |
#
# A "decoder-only" model has no cross-attention, as there is no memory to attend to.
# What then remains of a decoder layer is *an encoder layer with a causal mask*, so the
# essential differences between BERT and GPT are one mask and the objective.
#
# ### Exercise 4.9 - One class for two families
#
# *time ~20 min · difficulty 3/5 · 8 points*
#
# **Task.** Build a language model from an `InputLayer`, a `Stack` of encoder layers and
# a linear layer. No position attends to padding or, if `causal`, to the future.
#
# **Example.** `LanguageModel(20, 16, 2, 3, 32, causal=True)` maps ids `(4, 7)` to
# logits `(4, 7, 20)`.
#
# <details><summary>Contract</summary>
#
# - Submodules: `input`, `positional_encoding.InputLayer(vocab, d_model, positions,
#   dropout, padding_idx)`; `encoder`, a `Stack`; `output`, an `nn.Linear`.
# - `input` adds the sinusoids of `max_len` positions, and its `padding_idx` is
#   `pad_id`.
# - Dropout is used in the input layer and in all encoder layers.
# - With `norm_first`, the stack ends in an `nn.LayerNorm(d_model)`; otherwise there is
#   no final norm.
# - Padding is never attended to.
# - `nn.TransformerEncoder` is not allowed.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Which of the masks depends on the ids, and which one only on the length?
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
        num_layers: number of layers.
        causal: whether each position attends only to itself and earlier ones.
        pad_id: the padding token, which is masked as a key.
        max_len: number of positions in the sinusoid table.

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
        self.encoder = Stack(lambda: EncoderLayer(*sizes), num_layers, norm)
        self.output = nn.Linear(d_model, vocab)
        self.causal = causal
        self.pad_id = pad_id
        ### END SOLUTION

    def forward(self, ids: Int[Tensor, "B L"]) -> Float[Tensor, "B L vocab"]:
        """From ids to logits."""
        ### BEGIN SOLUTION
        mask = attention.padding_mask(ids, self.pad_id)  # (B, 1, L)
        if self.causal:
            causal = attention.causal_mask(ids.size(1)).to(ids.device)
            mask = attention.combine_masks(mask, causal)  # (B, L, L)
        return self.output(self.encoder(self.input(ids), mask))  # (B, L, vocab)
        ### END SOLUTION


# %% check="encoder_decoder/language_model" points=8
# Checks the logits of both kinds, and which ids they depend on.
check("encoder_decoder/language_model", LanguageModel)

# %% [markdown]
# ### The masks of BERT, of GPT, and of libraries
#
# In most libraries, a tokenizer returns an `attention_mask` along with the ids: `(B,
# L)`, 1 for a real token, 0 for padding. It has no dimension for queries, since it only
# says which *keys* are real, and it does not contain the causal mask, which a GPT-like
# model adds internally and a BERT-like model does not need.
#
# | used by | form | allowed |
# |---|---|---|
# | this course, `F.scaled_dot_product_attention` | boolean, up to `(B, h, Lq, Lk)` | `True` |
# | `attention_mask` of *transformers* | `(B, L)`, integers; keys only | 1 |
# | `nn.MultiheadAttention`, `nn.Transformer` | boolean | `False` |
# | additive masks, in many places | floats, added to the scores | 0 (masked: `-inf`) |
#
# The next cell draws the `(L, L)` masks that the two families build from the
# `attention_mask` `[0, 0, 1, 1, 1]`, whose padding is on the left, where libraries put
# it for generation.


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
    print("the GPT-like mask in additive form, last row:", added[-1].tolist())


# %% [markdown]
# In the BERT-like mask, all five rows are alike, because every query may attend to the
# three real tokens. The GPT-like mask adds the triangle, and its first two rows are
# *empty*: a padding query on the left has nothing but padding before it. In unit 2, the
# softmax of such a row was `nan`, which is why this course pads on the right, so that
# every row can attend to its first token.
#
# ### Family one: fill in what was masked
#
# In **masked language modelling**, some tokens of a sentence are replaced by a special
# token `MASK`, and the model must name the *original* ones. Only these positions count
# in the loss, because everywhere else the answer can be copied from the input; all
# other positions get the target `-100`, which `F.cross_entropy` ignores by default.
# (BERT's own recipe is a little more involved: Devlin et al. 2019, section 3.1.)
#
# `masked_tokens` makes inputs and targets from a random choice of tokens. The choice
# may include padding, but padding is never masked and never a target.


# %%
def masked_tokens(
    ids: Int[Tensor, "B L"],
    chosen: Bool[Tensor, "B L"],
    mask_id: int,
    pad_id: int = 0,
    ignore: int = -100,
) -> tuple[Int[Tensor, "B L"], Int[Tensor, "B L"]]:
    """Inputs and targets for a model that fills in masked tokens.

    Args:
        ids: token ids, int64.
        chosen: which tokens to mask; padding is never masked.
        mask_id: the token that replaces them.
        pad_id: the id of the padding token, which may appear anywhere.
        ignore: the target of all other positions.

    Returns:
        inputs and targets, int64.
    """
    masked = chosen & (ids != pad_id)  # (B, L)
    return ids.masked_fill(masked, mask_id), ids.masked_fill(~masked, ignore)


# %% [markdown]
# ### Families two and three: what comes next?
#
# The other two families are asked for the *next* token at every position. The model
# reads the first `L - 1` tokens, and at each of them it should name the one that
# follows:
#
# ```text
# ids       BOS  the  cat  sat  EOS  PAD
# inputs    BOS  the  cat  sat  EOS
# targets   the  cat  sat  EOS   -
# ```
#
# In training, the model reads the *correct* earlier tokens, even where it would have
# written different ones. This is **teacher forcing**, and it allows all positions to be
# trained in parallel. The causal mask keeps the model honest: without it, position `i`
# could read its answer at position `i + 1`.
#
# ### Exercise 4.10 - Inputs and targets for the next token
#
# *time ~10 min · difficulty 2/5 · 5 points*
#
# **Task.** Return inputs and targets for next-token prediction, as in the table above.
#
# **Example.** From `[[1, 7, 5, 2, 0]]`: inputs `[[1, 7, 5, 2]]`, targets `[[7, 5, 2,
# -100]]`.
#
# <details><summary>Contract</summary>
#
# - EOS is a target. Padding may be an input; as a target it is replaced by `ignore`.
# - `ids` is not modified.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# How many pairs (token, next token) are there in a row of `L` tokens? Which token is
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
def shifted(
    ids: Int[Tensor, "B L"], pad_id: int = 0, ignore: int = -100
) -> tuple[Int[Tensor, "B L-1"], Int[Tensor, "B L-1"]]:
    """Inputs and targets for a model that names the next token.

    Args:
        ids: int64; rows start with BOS and end with EOS and padding.
        pad_id: the id of the padding token.
        ignore: the target where the next token is padding.

    Returns:
        inputs and targets, int64.
    """
    ### BEGIN SOLUTION
    following = ids[:, 1:]  # (B, L - 1)
    return ids[:, :-1], following.masked_fill(following == pad_id, ignore)
    ### END SOLUTION


# %% check="encoder_decoder/shifted" points=5
# Checks both tensors, with rows of several lengths.
check("encoder_decoder/shifted", shifted)

# %% [markdown]
# ### Training the three families
#
# The training loop is given, because you will write your own in unit 5. It initialises
# the weights anew with `initialise` from section 3 and, in each step, computes the loss
# of a new batch wherever the target is not `-100`. The learning rate rises for 40 steps
# and then falls to zero along a cosine.

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
    """Train a model on batches of (its inputs, targets) and return all losses."""
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


# %% [markdown]
# The first two families are trained on **palindromes** of ten letters, such as `g c a h
# k k h a c g`, whose first five letters are random and whose last five mirror them.
#
# **Predict first.** Three letters of each palindrome are masked, but never both a
# letter and its mirror image. What percentage of them can a model that sees *both*
# sides fill in, and what percentage a *causal* one? And how well can a causal model
# predict the next letter, in the first half and in the second?


# %% folded=true
# @title Batches of palindromes, and how the two families are trained on them
def palindromes(count: int) -> Int[Tensor, "count 10"]:
    """Random words that read the same backwards."""
    half = torch.randint(FIRST, VOCAB, (count, 5))
    return torch.cat((half, half.flip(1)), dim=1)


def masked_letters(count: int) -> tuple[tuple[Tensor, ...], Tensor]:
    """Palindromes with three masked letters, from three different pairs."""
    pairs = torch.rand(count, 5).argsort(dim=1)[:, :3]  # (count, 3), three of five
    where = torch.where(torch.rand(count, 3) < 0.5, pairs, 9 - pairs)
    chosen = torch.zeros(count, 10, dtype=torch.bool).scatter(1, where, True)
    inputs, targets = masked_tokens(palindromes(count), chosen, MASK)
    return (inputs,), targets


def next_letters(count: int) -> tuple[tuple[Tensor, ...], Tensor]:
    """Palindromes between BOS and EOS, for next-letter prediction."""
    ends = torch.full((count, 1), BOS), torch.full((count, 1), EOS)
    ids = torch.cat((ends[0], palindromes(count), ends[1]), dim=1)  # (count, 12)
    return (ids[:, :-1],), ids[:, 1:]  # there is no padding to ignore


def endless(make: Callable[[int], tuple], size: int = 64) -> Iterator[tuple]:
    """Fresh batches for ever."""
    while True:
        yield make(size)


def train_encoder_only(seed: int, causal: bool = False) -> tuple[nn.Module, list]:
    """Train a model that fills in masked letters; return it and its losses."""
    torch.manual_seed(seed)
    model = LanguageModel(VOCAB, 32, 4, 1, 64, causal=causal)
    return model, train(model, endless(masked_letters), steps=500, rate=1e-2)


def train_decoder_only(seed: int) -> tuple[nn.Module, list]:
    """Train a model that names the next letter; return it and its losses."""
    torch.manual_seed(seed)
    model = LanguageModel(VOCAB, 32, 4, 1, 64, causal=True)
    return model, train(model, endless(next_letters), steps=250, rate=1e-2)


@torch.no_grad()
def accuracy(model: nn.Module, batch: tuple) -> Float[Tensor, "L"]:
    """The accuracy at each position; NaN where nothing was asked."""
    (ids,), targets = batch
    asked = targets != -100
    right = (model(ids).argmax(-1) == targets) & asked
    return right.sum(0) / asked.sum(0)


# %%
my_guess = "?"  # write yours here, then run the cell


@demo
def two_families():
    global reader
    require_solved(LanguageModel)  # before it trains
    found = {}
    for causal, name in ((False, "both sides"), (True, "causal")):
        model, _ = train_encoder_only(seed=0, causal=causal)
        reader = model if not causal else reader
        found[name] = accuracy(model, masked_letters(2000)).tolist()
        print(f"masked letters, {name}: {sum(found[name]) / 10:.1%} correct")
    model, _ = train_decoder_only(seed=0)
    following = accuracy(model, next_letters(2000)).tolist()
    pictures.families(found, following, LETTERS)
    first, second = sum(following[:5]) / 5, sum(following[5:]) / 6
    print(f"next letter: first half {first:.1%}, second half and EOS {second:.1%}")


# %% [markdown]
# The model that sees both sides fills in almost everything, **at least 98 %**, whereas
# the same architecture with a causal mask reaches about 54 %: in the second half it
# knows the mirror image, but in the first half that image is in the future, and a guess
# is right one time in twelve. The decoder-only model has a different objective: it has
# to guess the first five letters, which are random, but then it names **at least 98 %**
# of the rest. It has found the rule, and even counts to ten to place the EOS.
#
# ### What does it look at?
#
# The attention weights would tell us, but our layers return only vectors. For a
# one-layer model, we can repeat its steps by hand. The picture below shows where the
# four heads look when a letter is masked, averaged over 500 palindromes, with one row
# per masked position.


# %%
@demo
def where_the_reader_looks():
    torch.manual_seed(3)
    (ids,), _ = masked_letters(500)
    layer = reader.encoder.layers[0]
    with torch.no_grad():
        x = layer.norm1(reader.input(ids))  # (500, 10, d_model)
        weights = layer.attention(x, x, x)[1]  # (500, h, 10, 10)
    masked = (ids == MASK).float()  # (500, 10)
    maps = torch.einsum("bhqk, bq -> hqk", weights, masked / masked.sum(0))
    mirror = maps.flip(2).diagonal(dim1=1, dim2=2).mean(-1)  # (h,)
    pictures.mirror(maps, mirror.tolist())


# %% [markdown]
# One head has become the mirror: this head alone puts more than 80 % of its weight on
# the mirror image, although it was never told to. What the other heads contribute is
# less clear.
#
# Repeating the steps of many layers by hand would be tedious, and if someone else wrote
# the model, you may not even know them. PyTorch lets us listen in without changing the
# model: a **forward hook** is a function that a module calls each time its `forward`
# has finished.
#
# ```python
# hook = module.register_forward_hook(function)  # calls function(module, given, result)
# hook.remove()  # from now on, the function is no longer called
# ```
#
# `given` is a tuple with the arguments of the call, and `result` is what the module
# returned. If the hook returns anything but `None`, that value *replaces* the result.
#
# ### Exercise 4.11 - The weights of all layers
#
# *time ~15 min · difficulty 3/5 · 5 points*
#
# **Task.** Call the model once, and return the attention weights of each of the given
# modules, in the order of the list.
#
# **Example.** `attention_weights(model, [layer.attention for layer in
# model.encoder.layers], ids)` returns one tensor `(B, h, L, L)` per layer.
#
# <details><summary>Contract</summary>
#
# - The modules may be called in a different order from the list.
# - The model is not changed: no hook remains, and its mode and gradients stay the same.
# - The weights are detached; otherwise they keep the whole autograd graph alive.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# All attention modules may call the same function. How does it know which module called
# it?
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
# define a function of module, given, result: keep the weights, with the module as key
# register it as a hook of each attention, and remember the hooks
# call the model
# remove the hooks
# return the kept weights, in the order of the list
# ```
#
# </details>


# %% exercise="encoder_decoder/attention_weights"
def attention_weights(
    model: nn.Module, attentions: list[nn.Module], *inputs: Tensor
) -> list[Float[Tensor, "B h Lq Lk"]]:
    """The weights of some attention modules of a model, while it reads the inputs.

    Args:
        model: called once, with the inputs; left unchanged.
        attentions: modules of the model; each returns the pair (output, weights).
        inputs: what the model is called with.

    Returns:
        The weights of each module, in the order of `attentions`, detached.
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


# %% check="encoder_decoder/attention_weights" points=5
# Uses a model of its own; checks the weights, and that the model is unchanged.
check("encoder_decoder/attention_weights", attention_weights)

# %% [markdown]
# ### Family three: a small translator
#
# For the third family, we translate a tiny part of English into Spanish. A sentence
# consists of one to three phrases, each of which is a noun, often with an adjective.
# Where English says *red cat*, Spanish says *gato rojo*, so the two words change
# places. The model never sees the test sentences in training.

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


def sentence_pairs(
    count: int, held_out: bool
) -> tuple[Int[Tensor, "count 6"], Int[Tensor, "count 8"]]:
    """Distinct sentences and translations, padded.

    Whether a sentence is held out for the test is a property of the sentence, so that
    no sentence can be in both sets.
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
    """Random batches of 64 for teacher forcing, with all lengths equally frequent."""
    lengths = (src != PAD).sum(1)  # (count,)
    chance = 1 / lengths.bincount()[lengths]  # (count,)
    while True:
        rows = torch.multinomial(chance, 64, replacement=True)
        inputs, targets = shifted(tgt[rows])
        yield (src[rows], inputs), targets


def train_encoder_decoder(seed: int) -> tuple[nn.Module, list]:
    """Train a model that translates; return it and its losses."""
    torch.manual_seed(seed)
    model = Transformer(20, 20, 32, 4, 1, 64, norm_first=True)
    data = sentence_pairs(8000, held_out=False)
    return model, train(model, translations(*data), steps=450, rate=6e-3)


@torch.no_grad()
def translate(model: nn.Module, src: Tensor, length: int = 8) -> Tensor:
    """Append the most probable word up to `length`; unit 5 knows when to stop."""
    memory, written = model.encode(src), torch.full((len(src), 1), BOS)
    for _ in range(length - 1):
        best = model.decode(written, memory, src)[:, -1:].argmax(-1)  # (B, 1)
        written = torch.cat((written, best), dim=1)
    return written


def exact_match(written: Tensor, tgt: Tensor) -> float:
    """The proportion of sentences that are correct in every word up to EOS."""
    return float(((written == tgt) | (tgt == PAD)).all(dim=1).float().mean())


def words(ids: Tensor, vocabulary: list[str]) -> list[str]:
    """The words of one sentence: from BOS, if it has one, to its first EOS."""
    row = ids.tolist()
    row = row[: row.index(EOS)] if EOS in row else row
    return [vocabulary[i] for i in row if i not in (PAD, BOS)]


def draw_crossing(model: nn.Module, src: Tensor, tgt: Tensor) -> None:
    """Draw where a model looks while it writes the first of the longest sentences."""
    row = int((src != PAD).sum(1).argmax())
    layers = [layer.cross_attention for layer in model.decoder.layers]
    weights = attention_weights(model, layers, src[[row]], tgt[[row], :-1])
    cross = weights[0][0].mean(0)  # (Lt, Ls), of layer 0
    to_write = [*words(tgt[row], SPANISH), "‹eos›"]
    pictures.crossing(cross[: len(to_write)], to_write, words(src[row], ENGLISH))


# %%
@demo
def translation():
    require_solved(Transformer, shifted, attention_weights)  # before it trains
    model, losses = train_encoder_decoder(seed=0)
    src, tgt = sentence_pairs(1000, held_out=True)
    written = translate(model, src)
    print(f"last loss {losses[-1]:.3f}; exact match on 1000 sentences, held out: "
          f"{exact_match(written, tgt):.1%}\n")  # fmt: skip
    for row in range(4):
        answer, right = words(written[row], SPANISH), words(tgt[row], SPANISH)
        mark = "✓" if answer == right else "✗"
        print(mark, " ".join(words(src[row], ENGLISH)), "->", " ".join(answer))
    draw_crossing(model, src, tgt)


# %% [markdown]
# At least **97 %** of the held-out sentences are translated without a mistake, although
# the model was told nothing about nouns and adjectives. The picture shows where it
# looks as it writes each word; wherever two words are swapped, the weights form a
# little cross.
#
# One line of `translations` is worth a second look. Of the 8,000 *different* sentences,
# only 7 consist of a single word (there are 8 nouns, and one is held out), so the code
# samples each *length* equally often. All seven are then translated correctly in each
# of five runs. If all *sentences* are sampled equally often, no run gets more than five
# of the seven right and two runs get none, although exact match stays above 99 %. Rare
# cases are learnt badly and hide in an average, so look for them in your own data.
#
# ## 10. A published model in your code
#
# Two models with equal outputs for all inputs compute the same function, so weights
# that others have trained at great expense can be loaded into *your* classes, if you
# know which tensor belongs where. BERT (Devlin et al. 2019) and the many models that
# descend from it name the parameters of an encoder layer, here of layer 3, like this:
#
# ```text
# encoder.layer.3.attention.self.query          encoder.layer.3.intermediate.dense
# encoder.layer.3.attention.self.key            encoder.layer.3.output.dense
# encoder.layer.3.attention.self.value          encoder.layer.3.output.LayerNorm
# encoder.layer.3.attention.output.dense
# encoder.layer.3.attention.output.LayerNorm    each with a .weight and a .bias
# ```
#
# Some of these names say what a module *is*, others only where in the layer it is
# *called*: `attention.output.dense` is the projection that follows the heads, your
# `w_o`, and `output.dense` is the second layer of the feed-forward network. The file
# does not say so; only the *order of the calls* does, and you wrote those calls.


# %%
def from_bert(published: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights of a published BERT, under the names of your encoder.

    Args:
        published: tensors by BERT's names, under any prefix.

    Returns:
        The state dict of a `Stack` of as many post-norm `EncoderLayer`s.
    """
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
    state = {}
    for name, tensor in published.items():
        _, inside, rest = name.partition("encoder.layer.")
        if inside:  # "3.attention.self.query.weight"
            number, part = rest.split(".", 1)
            part, kind = part.rsplit(".", 1)
            state[f"layers.{number}.{names[part]}.{kind}"] = tensor
    return state


# %% [markdown]
# MiniLM (Wang et al. 2020; fine-tuned on a billion sentence pairs for the Sentence-BERT
# library, Reimers and Gurevych 2019) is an encoder with BERT's architecture: 6 layers,
# `d_model` 384, 12 heads, `d_ff` 1536, GELU, post-norm. Everything but its input layer
# is yours: `Stack`, `EncoderLayer`, and the attention from unit 3.
#
# The first cell looks for the model's file (91 MB, Apache-2.0) and, if it is missing,
# tells you in one line how to get it. Nothing here is graded.


# %%
class SentenceEncoder(nn.Module):
    """MiniLM: BERT's input layer, your encoder, and the mean of its vectors.

    Args:
        published: tensors by BERT's names.
        num_heads: heads per layer; all other sizes follow from the tensors.
    """

    def __init__(self, published: Mapping[str, Tensor], num_heads: int = 12):
        super().__init__()
        state = from_bert(published)
        d_ff, d_model = state["layers.0.feed_forward.linear1.weight"].shape
        depth = sum(name.endswith("norm2.bias") for name in state)
        self.encoder = Stack(
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

    def forward(self, ids: Int[Tensor, "B L"]) -> Float[Tensor, "B L d_model"]:
        """From ids, none of them padding, to vectors."""
        positions = torch.arange(ids.size(1))
        kind = torch.zeros_like(ids)  # the first of two texts
        x = self.word(ids) + self.position(positions) + self.kind(kind)
        return self.encoder(self.norm(x))


def sentence_vector(reader: nn.Module, ids: list[int]) -> Float[Tensor, "d_model"]:
    """The mean over all positions, normalised to length 1."""
    with torch.no_grad():
        return F.normalize(reader(torch.tensor([ids]))[0].mean(0), dim=0)


minilm = None  # stays None where it is not installed


@demo
def a_published_model_in_your_encoder():
    global minilm, sentences_reader
    require_solved(EncoderLayer, Stack)  # before they look for 91 MB
    minilm = available("minilm")
    if minilm is not None:
        sentences_reader = SentenceEncoder(minilm.weights).eval()
        count = sum(p.numel() for p in sentences_reader.parameters())
        print(f"{count:,} parameters in your classes")


# %% [markdown]
# The next cell finds, for each of three questions, the two sentences nearest to it in
# meaning. Afterwards, change the sentences and the questions, and run it again.

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
# *"a feline rests"* finds the kitten (0.44) ahead of the cat (0.31), *"my login does
# not work"* finds the password (0.55; the next best has 0.06), and *"shares lost
# value"* the stock markets (0.45; 0.09), although no question shares more than one
# short word with its answer. The whole search is one matrix-vector product, and your
# encoder computed both the matrix and the vector.
#
# ## 11. Your add & norm in the machine
#
# The chat model of unit 1 has 30 blocks, each of which calls `add_and_norm` twice, and
# your function fits in as it is. The cell below first asks the model a question, which
# your parts from units 1 to 4 help to answer. Then it moves every norm from the branch
# into the stream (post-norm), and finally it leaves out the residual connection.
#
# **Predict first.** What does the model say in the last two cases: the right city, a
# wrong one, or something else?


# %%
my_guess = "?"  # write yours here, then run the cell


def post_norm(x, sublayer, norm, dropout, norm_first):
    return add_and_norm(x, sublayer, norm, dropout, norm_first=False)


def no_residual(x, sublayer, norm, dropout, norm_first):
    return dropout(sublayer(norm(x)))


@demo
def the_machine_answers():
    slots = chat.filled(
        "01_positional_encoding", "02_attention", "03_multi_head_attention"
    )
    chat.ask(
        "What is the capital of France?",
        {
            "with your add_and_norm": slots | {"add_and_norm": add_and_norm},
            "post-norm": slots | {"add_and_norm": post_norm},
            "no residual": slots | {"add_and_norm": no_residual},
        },
    )


# %% [markdown]
# With your function, the model says "The capital of France is Paris." With post-norm it
# repeats "enthus" to the end, and without the residual connection "igmoid". The model's
# weights are intact, but they were trained for a stream to which 60 sublayers *add*.
# Post-norm rescales that stream 60 times, so the blocks read vectors unlike any that
# they saw in training; without the sum, each sublayer reads only the output of the one
# before it.

# %% [markdown]
# ## What you built
#
# - `add_and_norm`, in both placements, and `FeedForward`, the cheap place to store
#   facts;
# - `EncoderLayer`, `DecoderLayer` and their `Stack`;
# - `Transformer`, whose layers match those of `nn.Transformer` up to rounding;
# - `layer_cost`, which says when attention overtakes the feed-forward network;
# - a test that rejects a decoder layer with any of three bugs;
# - `LanguageModel`, which is BERT's skeleton or GPT's, depending on one argument;
# - models of three families, each trained on its own objective in a few hundred steps;
# - `attention_weights`, which listens in on all layers of a model without changing it;
# - a search by meaning, with a published encoder built from your classes.
#
# **Next:** unit 5 trains your Transformer properly, and lets it write until it stops of
# its own accord.
#
# ## Go further
#
# - Vaswani et al. 2017, sections 3.1 to 3.4 and 5.4: read them again. You now know
#   every line.
# - Xiong et al. 2020, *On Layer Normalization in the Transformer Architecture*, and Liu
#   et al. 2020a, *On the Variance of the Adaptive Learning Rate and Beyond*: why
#   post-norm needs a warm-up, and why Adam does. Liu et al. 2020b, *Understanding the
#   Difficulty of Training Transformers*: what pre-norm costs.
# - Dong et al. 2021, *Attention Is Not All You Need: Pure Attention Loses Rank Doubly
#   Exponentially with Depth*.
# - Geva et al. 2021, *Transformer Feed-Forward Layers Are Key-Value Memories*; Elhage
#   et al. 2021, *A Mathematical Framework for Transformer Circuits*: what models
#   without feed-forward networks can do.
# - Press and Wolf 2017, *Using the Output Embedding to Improve Language Models*: tied
#   embeddings.
# - Huang et al. 2022, *The Annotated Transformer*: the paper, line by line, in PyTorch.
#   (Its text describes post-norm; its code is pre-norm.)
# - Devlin et al. 2019 (BERT), Radford et al. 2019 (GPT-2), Raffel et al. 2020 (T5): the
#   three families. The T5 paper compares all three.
# - Try it: `Mirror` takes a `depth`. With the warm-up of section 3, how deep can a
#   post-norm model get? And a pre-norm one?

# %% [markdown]
# ## Where you stand
#
# Your points so far, and what to do next. Run this cell again whenever you have solved
# an exercise.

# %%
check.summary()
