# %% [markdown]
# # 5 · Sequence reversal
#
# Read a sequence and write it backwards: `3 1 4 1 5` becomes `5 1 4 1 3`. A child can
# do it, and yet it takes everything that you have built: an encoder that reads, a
# decoder that writes, attention that finds the right symbol, and positions that say
# where it is. Since anyone can check the answer at a glance, it is a good first job.
#
# *About 4 hours · short path about 2: exercises 5.1, 5.2, 5.3, 5.4, 5.5, 5.8*
#
# *Eleven exercises and two written questions · 100 points; while a model trains, you
# can go on reading.* The short path covers the essentials: for now, just read the other
# sections, and come back to their exercises later.

# %% folded=true
# @title The whole machine
from autograder import drawing

drawing(
    "machine_decoding",
    "",
    "The blue part of the chat model is what you build today; the number beside a part "
    "is the unit in which you build it.",
)

# %% [markdown]
# **Questions of this unit**
# - What does the decoder see in training, and what does it see when it writes on its
#   own?
# - Why does the learning rate rise before it falls?
# - What does a small loss prove?
# - How far can you trust a model that is right every time?
# - Where does the decoder look for each symbol that it writes?
# - How does a model write when there is no single correct answer?
#
# <details><summary>What you need from unit 4, and conventions</summary>
#
# Unit 4 built `Transformer(src_vocab, tgt_vocab, d_model, num_heads, num_layers, d_ff,
# ...)`. Given source ids `(B, Ls)` and the decoder's input `(B, Lt)`, it returns logits
# `(B, Lt, V)`. Position `t` of the logits predicts the token that comes *after*
# position `t`. The model builds its own masks: they hide padding (id 0) everywhere and
# the future in the decoder. In this unit all of its layers are **pre-norm**
# (`norm_first=True`) with ReLU.
#
# | name | meaning |
# |---|---|
# | `B`, `Ls`, `Lt` | sequences in a batch, length of source rows, length of target rows |
# | `V` | size of the vocabulary |
# | `PAD, BOS, EOS, UNK` | ids 0, 1, 2, 3, used by no symbol; UNK: an unknown word |
# | `FIRST` | 4, the id of the first real symbol: digit `d` has the id `d + 4` |
# | mask | boolean, **`True` = may attend** |
# | `model(source, decoder_input)` | logits, shape `(B, Lt, V)` |
#
# </details>

# %%
import functools
import math
import os
import random
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from safetensors.torch import load_model, save_model
from torch import Tensor, nn
from torch.nn.utils.parametrize import register_parametrization
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from tqdm.auto import tqdm

from autograder import check, demo, earlier
from transformer_course.library import chat, corpora
from transformer_course.library.text import BOS, EOS, FIRST, PAD, UNK, glue, pieces
from transformer_course.sequence_reversal.library import measuring, pictures

# False: what earlier units built comes from the course, and is correct. True: from your
# own notebooks, if they are beside this one. Grading always uses the course's.
USE_MY_OWN = False
encoder_decoder = earlier("04_encoder_decoder", mine=USE_MY_OWN)

torch.set_num_threads(1)  # for tensors this small, more threads only get in the way

# %% [markdown]
# ## 1. The data decide what can be learnt
#
# A model may learn any regularity in its data, whether or not we intended it, so it
# matters how we choose the sequences. We sample them **at random**: every length is
# equally likely, and so is every symbol at every position, which leaves reversal as the
# only rule that fits.
#
# `random_sequences` makes `count` such sequences, and since all of its randomness comes
# from `rng`, the same seed gives the same data.


# %%
def random_sequences(
    count: int, rng: random.Random, longest: int = 10, symbols: int = 10
) -> list[list[int]]:
    """Sequences of random length with random content.

    Args:
        count: how many sequences.
        rng: the source of all randomness.
        longest: lengths are 1, ..., longest, each equally likely.
        symbols: ids are FIRST, ..., FIRST + symbols - 1, each equally likely.

    Returns:
        A list of `count` lists of ids.
    """
    ids = range(FIRST, FIRST + symbols)
    return [rng.choices(ids, k=rng.randint(1, longest)) for _ in range(count)]


# %% [markdown]
# Three special tokens do three different jobs: **EOS** ends a sequence, **BOS** gives
# the decoder something to start from, and **PAD** fills short rows so that a batch is a
# rectangle.
#
# ### Exercise 5.1 - A batch of sources and targets
#
# *time ~10 min · difficulty 2/5 · 7 points*
#
# **Task.** Turn a list of sequences into two int64 tensors: source rows (the sequence,
# EOS) and target rows (BOS, the sequence *backwards*, EOS), padded at the end.
#
# **Example.**
#
# ```text
# sequences   [[7, 5, 9], [6]]
#
# source      7  5  9  EOS          target   BOS  9  5  7  EOS
#             6 EOS PAD PAD                  BOS  6 EOS PAD PAD
# ```
#
# <details><summary>Contract</summary>
#
# - PAD appears only at the end of a row, to fill it up to the length of the longest.
# - The sequences may be given as a list or a tuple, and are not modified.
# - The course's own `make_batch`, in `transformer_course.library`, is not allowed.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# What do you get if you flip a row that is already padded? Should you reverse first, or
# pad first?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# longest sequence      n
# source                (B, n + 1)    int64
# target                (B, n + 2)    int64
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# for each sequence:
#     source row = its ids, then EOS
#     target row = BOS, its ids in reverse order (a new list!), then EOS
# pad all source rows with PAD to the length of the longest; the same for target rows
# make a tensor of each list of rows
# ```
#
# </details>


# %% exercise="sequence_reversal/make_batch"
def make_batch(
    sequences: Sequence[list[int]],
) -> tuple[Int[Tensor, "B n+1"], Int[Tensor, "B n+2"]]:
    """Source and target rows of a batch, with special tokens and padding.

    Args:
        sequences: B lists of ids, none of them empty.

    Returns:
        The source and the target, int64, in this order; n is the length of the longest
        sequence.
    """
    ### BEGIN SOLUTION
    sources = [torch.tensor([*ids, EOS]) for ids in sequences]
    targets = [torch.tensor([BOS, *ids[::-1], EOS]) for ids in sequences]
    pad = functools.partial(pad_sequence, batch_first=True, padding_value=PAD)
    return pad(sources), pad(targets)  # (B, n + 1), (B, n + 2)
    ### END SOLUTION


# %% check="sequence_reversal/make_batch" points=7
# Checks both tensors for several lengths, and the sequences afterwards.
check("sequence_reversal/make_batch", make_batch)

# %% [markdown]
# Each of these tokens has an id of its own, so the model can tell them apart:


# %%
def spelled(ids: Sequence[int]) -> str:
    """Ids in readable form: digits, and names for the special tokens."""
    names = {PAD: "·", BOS: "BOS", EOS: "EOS", UNK: "UNK"}
    return " ".join(names.get(int(i), str(int(i) - FIRST)) for i in ids)


@demo
def a_look_at_a_batch():
    source, target = make_batch(random_sequences(4, random.Random(3), longest=6))
    for reads, writes in zip(source, target, strict=True):
        print(f"reads {spelled(reads):<20} writes {spelled(writes)}")


# %% [markdown]
# ## 2. Teacher forcing: shifted by one
#
# The decoder writes one token at a time, but during training we know the correct answer
# and need not wait for it. We feed in the *correct* tokens and ask for the next one at
# every position, all in a single pass, while the causal mask keeps each position from
# looking ahead. This is the **teacher forcing** of unit 4 (Williams and Zipser 1989).

# %%
drawing(
    "teacher_forcing", "5.1",
    "In training the decoder reads the correct tokens; in use it reads its own.",
)  # fmt: skip

# %% [markdown]
# Section 6 is about the right half of the drawing. In the left half, the labels run one
# position ahead of the decoder's input:
#
# ```text
# target          BOS   9    5    7   EOS
# decoder input   BOS   9    5    7             what the decoder is shown
#                  ↓    ↓    ↓    ↓
# labels           9    5    7   EOS            what it should say there
# ```
#
# Forget the shift, and the model is asked to repeat the token that it is looking at:
# the loss falls to zero, although nothing has been learnt. In unit 4, `shifted` made
# this pair for a language model; here, two slices of the target are enough. The input
# is `target[:, :-1]`, all columns but the last, and the labels are `target[:, 1:]`, all
# columns but the first, in which PAD still marks the padding.
#
# ## 3. A loss that ignores padding
#
# At each position the model returns `V` logits, which softmax turns into probabilities.
# The cross-entropy is minus the logarithm of the probability given to the correct
# token, $-\log p(\text{label})$. We want its mean **per real token**: PAD only fills up
# the row, so a model should be neither rewarded nor punished for it.
#
# **Predict first.** Suppose that 2 of a row's 10 labels are real and 8 are PAD. At
# first the model has a loss of about $\log 14 = 2.64$ on each, but it soon learns to
# say PAD after EOS. If padding counted, to what value would the mean fall before the
# model had learnt anything about reversal?

# %%
my_guess = "?"  # write yours here

# %% [markdown]
# ### Exercise 5.2 - A loss that ignores padding
#
# *time ~10 min · difficulty 2/5 · 9 points*
#
# **Task.** Return the mean cross-entropy (natural logarithm) over all labels that are
# not PAD, using whatever PyTorch offers.
#
# **Example.** If all logits are zero and `V = 14`, the loss is $\log 14 \approx 2.64$,
# however much padding there is.
#
# <details><summary>Contract</summary>
#
# - The loss is a tensor of shape `()`, and gradients flow through it to the logits.
# - Every real token in the batch has the same weight, whether its row is short or long.
# - A row may contain no real tokens, but the batch contains at least one.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# `F.cross_entropy` expects the classes in dimension **1**. Which dimension holds them
# in your logits? What does its argument `ignore_index` do, and what is its default?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# logits     (B, L, V)   ->   (B * L, V)     one row per position
# labels     (B, L)      ->   (B * L,)
# ```
#
# By hand: compute log-probabilities `(B, L, V)`, pick those of the labels `(B, L)`, and
# average over the positions that have a label.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# cost[b, t] = - log_softmax(logits[b, t])[label of b, t]
# loss = sum of cost over real labels / number of real labels
# ```
#
# </details>


# %% exercise="sequence_reversal/masked_loss"
def masked_loss(
    logits: Float[Tensor, "B L V"], labels: Int[Tensor, "B L"]
) -> Float[Tensor, ""]:
    """Mean cross-entropy over the real tokens.

    Args:
        logits: unnormalised scores.
        labels: the correct ids, int64; PAD where there is none.

    Returns:
        The loss.
    """
    ### BEGIN SOLUTION
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD)
    ### END SOLUTION


# %% check="sequence_reversal/masked_loss" points=9
# Checks the loss and its gradient, for rows of very different lengths.
check("sequence_reversal/masked_loss", masked_loss)

# %% [markdown]
# If padding counted, the mean would fall to a fifth of its initial value, from 2.64 to
# 0.53, before the model had learnt anything but padding. The initial value is worth
# remembering: a model that knows nothing gives each of `V` tokens the same probability,
# so its loss is $\log V$. An untrained model whose loss is far above that is confident
# about nonsense; one whose loss is far below it can probably see the answer.
#
# ## 4. Warm-up and cosine
#
# In this unit the learning rate is `peak × factor(step)`, where the factor rises and
# then falls, slowly at first. Large steps in the middle make training fast, and small
# ones at the end let the model settle. Unit 4 showed why the rate should start small:
# the first gradients are sound, but Adam turns them into steps that are too large. Our
# optimizer is **AdamW** (Loshchilov and Hutter 2019), and one of its steps fits into
# ten lines of code:

# %%
def adamw_step(
    weight: Tensor,
    gradient: Tensor,
    moments: dict[str, Tensor],
    step: int,
    rate: float,
    betas: tuple[float, float] = (0.9, 0.98),
    decay: float = 0.01,
) -> None:
    """Update a weight and its two moments in place; steps count from 1."""
    mean, square = moments["mean"], moments["square"]
    mean.lerp_(gradient, 1 - betas[0])  # running mean of the gradients
    square.lerp_(gradient**2, 1 - betas[1])  # and of their squares
    unbiased_mean = mean / (1 - betas[0] ** step)  # both start at 0, which this undoes
    unbiased_square = square / (1 - betas[1] ** step)
    weight.mul_(1 - rate * decay)  # the W: weight decay, apart from the gradient
    weight.sub_(rate * unbiased_mean / (unbiased_square.sqrt() + 1e-8))


@demo
def the_first_steps():
    size = torch.tensor([0.1, 1e-6, 0.1])
    weight, ours = nn.Parameter(torch.zeros(3)), torch.zeros(3)
    adamw = torch.optim.AdamW([weight], 0.01, (0.9, 0.98))
    moments = {"mean": torch.zeros(3), "square": torch.zeros(3)}
    print("moves by  gradient 0.1   gradient 0.000001   gradient 0.1, -0.1, 0.1 ...")
    for step in range(1, 6):
        before = ours.clone()
        weight.grad = size * torch.tensor([1.0, 1.0, (-1) ** (step + 1)])
        adamw.step()
        adamw_step(ours, weight.grad, moments, step, 0.01)
        moves = (ours - before).tolist()
        print(f"step {step}  {moves[0]:13.4f} {moves[1]:19.4f} {moves[2]:25.4f}")
    print(f"largest difference from PyTorch: {(ours - weight).abs().max():.0e}")


# %% [markdown]
# Adam divides the mean of a parameter's gradients by their magnitude. After one step it
# has seen a single gradient, so the quotient is about ±1, and *every* parameter moves
# by the full learning rate, whether its gradient is 0.1 or 0.000001. The third gradient
# keeps changing sign, which suggests noise, yet the first step it causes is as long as
# the others'; only from the second step on does the mean shrink, and with it the steps.
# The rate should therefore stay low until the two running means are reliable (Liu et
# al. 2020).
#
# $$\operatorname{factor}(s) = \begin{cases}
# \dfrac{s + 1}{w} & s < w \quad\text{(warm-up)}\\
# f + (1 - f)\,\dfrac{1 + \cos(\pi p)}{2},
# \quad p = \min\!\left(1, \dfrac{s - w}{n - w}\right)
# & s \ge w
# \end{cases}$$
#
# Here $w$ is the number of warm-up steps, $n$ the total number of steps, and $f$ a
# small floor. Steps are counted from 0, and the $+1$ gives even the first one a rate
# above zero. The cosine comes from Loshchilov and Hutter (2017), *SGDR*, but without
# the restarts.
#
# What does the decay buy? With cosine decay, the model of this unit gets 99 to 100 % of
# all sequences right at the end of training. With a constant rate after the warm-up, it
# gets 42 to 79 %, and that figure jumps around from step to step (five seeds each).
#
# ### Exercise 5.3 - Warm-up and cosine
#
# *time ~10 min · difficulty 2/5 · 7 points*
#
# **Task.** Return the factor above as a Python number for the steps `0 ... n - 1` of a
# training run.
#
# **Example.** With `warmup=4, steps=12, floor=0`, step 0 gives 0.25, steps 3 and 4 give
# 1, step 8 gives 0.5, and step 12 gives 0.
#
# <details><summary>Contract</summary>
#
# - The factor reaches the floor at step $n$, one past the last step, and stays there.
# - The result is a float, not a tensor.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# What are the factors at steps $0$, $w - 1$, $w$ and $n$ (the first step that is not
# taken)? Write down all four before you type.
#
# </details>
# <details><summary>Hint 2: the values along the way</summary>
#
# ```text
# step       0     ...    w-1     w     ...   halfway to n     ...    n   and later
# p          -             -      0              0.5                  1
# cos(πp)    -             -      1               0                  -1
# factor    1/w            1      1          (1 + f) / 2              f
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# if we are still warming up:  a straight line that reaches 1 at its last step
# otherwise:
#     progress = steps since the warm-up / steps that follow the warm-up, at most 1
#     wave     = (1 + cos(π progress)) / 2       falls from 1 to 0
#     squeeze the wave so that it falls from 1 to the floor
# ```
#
# </details>


# %% exercise="sequence_reversal/learning_rate"
def rate_factor(step: int, warmup: int, steps: int, floor: float = 0.02) -> float:
    """The fraction of the peak learning rate at one step: warm-up, then cosine.

    Args:
        step: counted from 0; may be beyond the last one, steps - 1.
        warmup: steps of the linear warm-up, at least 1.
        steps: how many steps the training run has, more than warmup.
        floor: the fraction that is left from step ``steps`` on.

    Returns:
        A number between 0 and 1.
    """
    ### BEGIN SOLUTION
    if step < warmup:
        return (step + 1) / warmup
    progress = min(1.0, (step - warmup) / (steps - warmup))
    return floor + (1 - floor) * (1 + math.cos(math.pi * progress)) / 2
    ### END SOLUTION


# %% check="sequence_reversal/learning_rate" points=7
# Checks the whole curve, its corners, and what follows its end.
check("sequence_reversal/learning_rate", rate_factor)


# %%
@demo
def the_schedule():
    factors = [rate_factor(s, 50, 600) for s in range(700)]
    pictures.schedule(factors, warmup=50, steps=600)


# %% [markdown]
# ## 5. One training step, and many

# %%
drawing(
    "training_step", "5.3",
    "A step leads from a batch to new weights; each part needs the one before.",
)  # fmt: skip

# %% [markdown]
# In PyTorch, gradients *add up* until they are cleared. Since some batches produce a
# gradient that is far too large, we use **clipping**, which scales down the gradients
# of all parameters together to a maximum norm, without changing their direction
# (Pascanu et al. 2013). A training step takes six short lines, and their order matters,
# although most wrong orders raise no error.
#
# ### Exercise 5.4 - One training step
#
# *time ~15 min · difficulty 3/5 · 12 points*
#
# **Task.** Take one training step with teacher forcing: compute the loss and fresh
# gradients, clip their total norm to `max_norm`, and take one step of the optimizer.
# Return the loss that the model had before the step, as a float.
#
# **Example.** `training_step(model, optimizer, *make_batch([[7, 5, 9], [6]]))` returns
# about 2.6 for an untrained model.
#
# <details><summary>Contract</summary>
#
# - The model is put into training mode and may stay in it.
# - The loss is computed by `loss_function(logits, labels)`, by default `masked_loss`.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Must the old gradients be cleared before or after `backward`? And at which point do
# the new gradients exist but have not yet been used, so that you can clip them?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# source           (B, Ls)
# target           (B, L)     ->   decoder input and labels, (B, L - 1) each
# logits           (B, L - 1, V)
# loss             ()         ->   a float, which keeps no graph in memory
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# training mode
# decoder input, labels = the target without its last column, and without its first
# loss = loss function of the model's logits and the labels
# clear the gradients, compute new ones, clip their norm
# one step of the optimizer
# the loss as a Python float
# ```
#
# `nn.utils.clip_grad_norm_` has a cousin, `clip_grad_value_`. Which of the two keeps
# the direction?
#
# </details>


# %% exercise="sequence_reversal/training_step"
def training_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    source: Int[Tensor, "B Ls"],
    target: Int[Tensor, "B L"],
    max_norm: float = 1.0,
    loss_function: Callable[[Tensor, Tensor], Tensor] | None = None,
) -> float:
    """One step of training with teacher forcing.

    Args:
        model: called as `model(source, decoder_input)`, gives logits `(B, L - 1, V)`.
        optimizer: of the model's parameters.
        source: source rows.
        target: target rows with BOS and EOS.
        max_norm: the largest norm of all gradients together.
        loss_function: maps logits `(B, L - 1, V)` and labels `(B, L - 1)` to the loss;
            None: masked_loss.

    Returns:
        The loss before the step.
    """
    ### BEGIN SOLUTION
    model.train()
    decoder_input, labels = target[:, :-1], target[:, 1:]  # (B, L - 1) each
    loss = (loss_function or masked_loss)(model(source, decoder_input), labels)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item()
    ### END SOLUTION


# %% check="sequence_reversal/training_step" points=12
# Trains a scripted model: checks its inputs, its losses, and its weights afterwards.
check("sequence_reversal/training_step", training_step)

# %% [markdown]
# Training means repeating this step, and nearly every experiment below calls the loop
# that does so.
#
# ### Exercise 5.5 - The training loop
#
# *time ~15 min · difficulty 2/5 · 8 points*
#
# **Task.** Take `steps` training steps, each on a fresh batch from `next_batch()` at
# the rate `peak * rate_factor(step, warmup, steps)`, and return the losses, one float
# per step.
#
# **Example.** `fit(model, optimizer, next_batch, steps=350, warmup=70)` returns 350
# floats.
#
# <details><summary>Contract</summary>
#
# - Before each step, call `next_batch()` once and set the rate of all parameter groups,
#   in either order.
# - The peak is the rate in `optimizer.param_groups` when `fit` is called; all groups
#   share it.
# - `loss_function` is passed on to `training_step`.
# - `torch.optim.lr_scheduler.LambdaLR` is allowed, and so is a progress bar with
#   `tqdm`; `watched(steps)` is True when someone is there to see it.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# `optimizer.param_groups` is a list of dictionaries; you set `group["lr"]` in each
# step. Where do you find the peak in the *second* step, if you have overwritten it in
# the first?
#
# </details>
# <details><summary>Hint 2: what happens in a step</summary>
#
# ```text
# step s:   rate(s) is set   ->   next_batch()   ->   training_step   ->   losses[s]
# ```
#
# The rate of step `s` must be set *before* the optimizer takes step `s`.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# remember the peak
# for each step, with a progress bar:
#     in each parameter group: rate = peak * factor of this step
#     source, target = a fresh batch
#     take a training step and keep its loss
# ```
#
# </details>


# %% exercise="sequence_reversal/fit"
def watched(steps: int) -> bool:
    """Whether somebody may be waiting: not in grading, nor for a few steps."""
    in_notebook = "ipykernel" in sys.modules
    return steps > 50 and in_notebook and "NBGRADER_EXECUTION" not in os.environ


def fit(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    next_batch: Callable[[], tuple[Tensor, Tensor]],
    steps: int,
    warmup: int,
    loss_function: Callable[[Tensor, Tensor], Tensor] | None = None,
) -> list[float]:
    """Train a model with warm-up and cosine decay.

    Args:
        model: see training_step.
        optimizer: its learning rate is the peak of the schedule.
        next_batch: returns a new source and target with each call.
        steps: number of training steps.
        warmup: how many of them are warm-up.
        loss_function: see training_step.

    Returns:
        The loss of each step.
    """
    ### BEGIN SOLUTION
    peak = optimizer.param_groups[0]["lr"]
    losses = []
    for step in tqdm(range(steps), disable=not watched(steps), delay=1, leave=False):
        for group in optimizer.param_groups:
            group["lr"] = peak * rate_factor(step, warmup, steps)
        source, target = next_batch()
        loss = training_step(
            model, optimizer, source, target, loss_function=loss_function
        )
        losses.append(loss)
    return losses
    ### END SOLUTION


# %% check="sequence_reversal/fit" points=8
# Logs every batch, every learning rate that is used, and the losses.
check("sequence_reversal/fit", fit)

# %% [markdown]
# ## 6. Writing without a teacher: greedy decoding
#
# At inference time there is no correct answer to feed in, so the decoder starts with
# BOS, writes a token, gets it back as input, and goes on until it writes EOS. Taking
# the most probable token each time is called **greedy** decoding. It shows what a model
# can do on its own, whereas the loss only measures how well it continues *correct*
# answers.
#
# ### Exercise 5.6 - Greedy decoding of one sequence
#
# *time ~10 min · difficulty 2/5 · 6 points*
#
# **Task.** Starting with BOS, call `model(source, tokens)` with all tokens so far and
# append the most probable token after the **last** position, again and again, until
# that token is EOS or `max_len` tokens have been written.
#
# **Example.** For the source `7 5 9 EOS`, a trained model gives `[9, 5, 7, EOS]`.
#
# <details><summary>Contract</summary>
#
# - `max_len` counts EOS but not BOS.
# - Only EOS ends a sequence; PAD and BOS before it are tokens like any other.
# - Decode in evaluation mode and without gradients, and restore both afterwards:
#   `@evaluating` does this, so keep it.
# - The library's `measuring.write` is not allowed.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# The logits have shape `(1, T, V)`. Which position predicts the next token? And which
# dimension do you take the argmax over?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# source      (1, Ls)
# tokens      a list: [BOS], then [BOS, 9], then [BOS, 9, 5]
# as input    (1, T)         torch.tensor([tokens])
# logits      (1, T, V)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# tokens = BOS alone
# as long as the newest token is not EOS, and fewer than max_len have been written:
#     ask the model about source and tokens
#     append the argmax over the vocabulary, at the last position
# all tokens but the first
# ```
#
# </details>


# %% exercise="sequence_reversal/greedy_sequence"
def evaluating(decode: Callable) -> Callable:
    """Decode in evaluation mode without gradients, and restore both afterwards."""

    @functools.wraps(decode)
    def wrapped(model: nn.Module, *arguments: object, **named: object):
        was_training = model.training
        model.eval()
        try:
            with torch.no_grad():
                return decode(model, *arguments, **named)
        finally:
            model.train(was_training)

    return wrapped


@evaluating
def greedy_sequence(
    model: nn.Module, source: Int[Tensor, "1 Ls"], max_len: int
) -> list[int]:
    """The most probable token again and again, until EOS.

    Args:
        model: called as `model(source, tokens)`, gives logits `(1, T, V)`.
        source: one source row.
        max_len: the largest number of tokens to write, EOS included.

    Returns:
        The ids that were written, without BOS, with EOS.
    """
    ### BEGIN SOLUTION
    tokens = [BOS]
    while tokens[-1] != EOS and len(tokens) <= max_len:
        logits = model(source, source.new_tensor([tokens]))  # (1, T, V)
        tokens.append(int(logits[0, -1].argmax()))
    return tokens[1:]
    ### END SOLUTION


# %% check="sequence_reversal/greedy_sequence" points=6
# A scripted model knows what it will say, and logs what it is asked.
check("sequence_reversal/greedy_sequence", greedy_sequence)

# %% [markdown]
# Decoding many sequences together is much faster. Since they end at different steps, a
# row that has written EOS is done and gets PAD while the others go on:
#
# ```text
#           step 1   2    3    4    5
# row 0          9   5    7   EOS  PAD
# row 1          6  EOS  PAD  PAD  PAD          stops here, all by itself
# row 2          8   8    4    9   EOS          the last one: now the loop may end
# ```
#
# ### Exercise 5.7 - Greedy decoding of a batch
#
# *time ~20 min · difficulty 3/5 · 9 points*
#
# **Task.** Decode all rows of a batch greedily, as in the picture, until every row has
# written EOS or has `max_len` tokens. Return the tokens `(B, T)` without BOS.
#
# **Example.** The rows above are returned as a tensor of shape `(3, 5)`.
#
# <details><summary>Contract</summary>
#
# - T is as small as possible: there are no columns after the one in which the longest
#   row ends.
# - After its EOS, a row gets PAD.
# - Only EOS ends a row; PAD and BOS before it are tokens like any other.
# - You may decode the rows one by one. As before, `@evaluating` takes care of the mode
#   and of gradients.
# - The library's `measuring.write` is not allowed.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# What must a row remember about its past? And what do you do with the token that the
# model proposes for a row that is done?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# tokens      (B, 1)  ->  (B, 2)  ->  ...    starts as a column of BOS
# logits      (B, T, V)
# chosen      (B,)        one token per row
# done        (B,)        bool: which rows have written EOS, now or earlier
# returned    (B, T)      T is at most max_len
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# tokens = a column of BOS; done = no row
# at most max_len times:
#     chosen = argmax over the vocabulary, at the last position
#     rows that are done get PAD instead
#     append chosen as a column
#     mark the rows that have just written EOS; leave the loop if all are done
# all columns but the first
# ```
#
# </details>


# %% exercise="sequence_reversal/greedy_decode"
@evaluating
def greedy_decode(
    model: nn.Module, source: Int[Tensor, "B Ls"], max_len: int
) -> Int[Tensor, "B T"]:
    """The most probable token again and again, until each row has EOS.

    Args:
        model: called as `model(source, tokens)`, gives logits `(B, T, V)`.
        source: source rows.
        max_len: the largest number of tokens to write, EOS included.

    Returns:
        The tokens that were written, int64: without BOS, with EOS, and PAD after it. T
        is at most max_len.
    """
    ### BEGIN SOLUTION
    tokens = source.new_full((source.size(0), 1), BOS)  # (B, 1)
    done = torch.zeros_like(tokens[:, 0], dtype=torch.bool)  # (B,)
    for _ in range(max_len):
        chosen = model(source, tokens)[:, -1].argmax(dim=-1)  # (B,)
        chosen = chosen.masked_fill(done, PAD)
        tokens = torch.cat((tokens, chosen.unsqueeze(1)), dim=1)  # (B, T + 1)
        done |= chosen == EOS
        if done.all():
            break
    return tokens[:, 1:]
    ### END SOLUTION


# %% check="sequence_reversal/greedy_decode" points=9
# A scripted model knows what it will say, and logs what it is asked.
check("sequence_reversal/greedy_decode", greedy_decode)

# %% [markdown]
# If 90 % of the tokens are right and errors are independent, only about one in three
# sequences of ten tokens is right throughout ($0.9^{10} \approx 0.35$). That is why the
# rest of the notebook counts rows that are right **as a whole**. The library's
# `measuring.write` decodes like your function from 5.7 but encodes each source only
# once; it works even if you have skipped this section.


# %%
def exact_match(
    model: nn.Module, source: Int[Tensor, "B Ls"], target: Int[Tensor, "B L"]
) -> float:
    """The fraction of rows that a model writes correctly from the first token to EOS.

    Args:
        model: has the methods `encode` and `decode` of unit 4's Transformer.
        source: source rows.
        target: the correct rows with BOS and EOS.

    Returns:
        A float between 0 and 1.
    """
    labels = target[:, 1:]  # (B, L - 1)
    written = measuring.write(model, source, max_len=labels.size(1))  # (B, L - 1)
    return (written == labels).all(dim=1).double().mean().item()


# %% [markdown]
# ## 7. It learns
#
# Everything is ready to train a small model, with 32 features, 2 heads, one encoder
# layer, one decoder layer and about 23 thousand parameters. In `new_model`, two
# decisions deserve a closer look.
#
# - **Pre-norm** (`norm_first=True`) is easier to train than post-norm, as unit 4
#   showed.
# - **Small embeddings**, as in unit 1, section 6. The model multiplies its embeddings
#   by $\sqrt{d_{model}}$, which would raise PyTorch's default standard deviation from 1
#   to 5.7, enough to drown out the positions, whose entries are between -1 and 1. With
#   a standard deviation of $1/\sqrt{d_{model}}$, token and position vectors have about
#   the same magnitude. In a task that is all about *positions*, this is decisive: with
#   the default, the model trained below gets 20 to 36 % of the sequences right (six
#   seeds); with small embeddings, nearly 100 %.


# %%
def new_model(vocab_size: int = 14) -> nn.Module:
    """An untrained Transformer for this unit: small, pre-norm, small embeddings."""
    d_model = 32
    model = encoder_decoder.Transformer(
        vocab_size, vocab_size, d_model, num_heads=2, num_layers=1, d_ff=64,
        norm_first=True,
    )  # fmt: skip
    for module in model.modules():
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=d_model**-0.5)
    return model


# %% [markdown]
# ### Overfit one batch first
#
# Before you spend minutes on a training run, spend a moment training on **one** batch
# of eight sequences, over and over. If a model cannot learn eight sequences by heart,
# it has a bug, and you have found that out cheaply.


# %%
@demo
def overfit_one_batch():
    eight = make_batch(random_sequences(8, random.Random(8)))
    torch.manual_seed(8)
    model = new_model()
    adamw = torch.optim.AdamW(model.parameters(), 1e-2, (0.9, 0.98), fused=True)
    steps, score = 0, 0.0
    while score < 1 and steps < 200:
        for _ in range(5):
            loss = training_step(model, adamw, *eight)
        steps += 5
        score = exact_match(model, *eight)
    print(f"after {steps} steps: loss {loss:.2f}, exact match {score:.0%}")
    others = random_sequences(200, random.Random("new"))
    new = exact_match(model, *make_batch(others))
    print(f"exact match on 200 new sequences: {new:.1%}")


# %% [markdown]
# A few dozen steps are enough. Hardly any new sequence comes out right, but the model
# was only meant to learn eight answers. If those eight do *not* come out right, check
# the mask, the shift and the loss before you touch the learning rate.
#
# Now comes the real test, on new random sequences, which are sampled when your work is
# graded.
#
# ### Exercise 5.8 - A model that reverses
#
# *time ~20 min, 10 seconds of them for the computer · difficulty 3/5 · 14 points*
#
# **Task.** Train `new_model()` with AdamW and your `fit` on fresh random batches, and
# return it. If the file `weights` exists, load it with `load_model` instead of
# training.
#
# **Example.** A recipe that works: batches of 32, 350 steps, 70 of them warm-up, peak
# rate 0.02, `betas=(0.9, 0.98)`, `fused=True`.
#
# <details><summary>Contract</summary>
#
# - The same `seed` gives the same model.
# - All sizes are as in `new_model`.
#
# </details>
# <details><summary>How it is graded</summary>
#
# The check puts your weights into a `new_model()` of its own, decodes greedily and
# counts exact matches on three kinds of random sequences. You get full points from 98 %
# upwards (88 % where only two or three symbols occur) and partial points from 30 %.
# Loading a file saves time, but earns no extra points.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Two things are random here: the initial weights and the data. Which two generators
# must be seeded, and *before* which lines?
#
# </details>
# <details><summary>Hint 2: who calls whom</summary>
#
# ```text
# trained_model calls
#     new_model      its weights come from torch's generator
#     fit            which calls, in each step,
#         next_batch       make_batch(random_sequences(32, rng))
#         training_step
# ```
#
# `next_batch` is a function without arguments. A `lambda` will do.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# seed torch; a new model
# if the file exists:  load it, return the model
# a random.Random of its own, with the same seed
# the optimizer, with the peak rate
# fit: each batch made of 32 new random sequences
# ```
#
# If exact match stays low, look at the loss first: it should fall below 0.01.
#
# </details>


# %% exercise="sequence_reversal/trained_model"
def trained_model(seed: int = 0, weights: str = "reversal.safetensors") -> nn.Module:
    """A model that reverses sequences of digits, loaded from a file or trained.

    Args:
        seed: of the initial weights and of the training data.
        weights: the file with trained weights; it need not exist.

    Returns:
        A module called as `model(source, decoder_input)`, which gives logits
        `(B, Lt, 14)`.
    """
    ### BEGIN SOLUTION
    torch.manual_seed(seed)
    model = new_model()
    if Path(weights).is_file():
        load_model(model, weights)
        return model
    rng = random.Random(seed)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=2e-2, betas=(0.9, 0.98), fused=True
    )
    fit(
        model, optimizer, lambda: make_batch(random_sequences(32, rng)),
        steps=350, warmup=70,
    )  # fmt: skip
    return model
    ### END SOLUTION


# %% [markdown]
# Now train your model; its weights are saved next to the notebook, so that you need not
# wait a second time. If you hand in the file `reversal.safetensors` with your notebook,
# these weights are graded; without the file, your function trains again during grading.
# **If you change anything,** set `TRAIN_ANEW = True` or delete the file; otherwise you
# will still be looking at the old model.

# %%
TRAIN_ANEW = False
WEIGHTS = Path("reversal.safetensors")


def held_out(count: int, longest: int = 10) -> tuple[Tensor, Tensor]:
    """Fresh random sequences from a seed that no training run uses."""
    return make_batch(random_sequences(count, random.Random("held out"), longest))


@demo
def train_and_save():
    if TRAIN_ANEW:
        WEIGHTS.unlink(missing_ok=True)
    origin = f"loaded from {WEIGHTS}" if WEIGHTS.is_file() else "trained here"
    started = time.process_time()
    model = trained_model()
    seconds = time.process_time() - started
    save_model(model, WEIGHTS)
    source, target = held_out(500)
    decoded = measuring.write(model, source, max_len=11)
    score = exact_match(model, source, target)
    print(f"weights {origin}, {seconds:.1f} CPU seconds")
    print(f"exact match on 500 new sequences: {score:.2%}")
    for reads, writes in zip(source[:4], decoded, strict=False):
        print(f"  {spelled(reads):<26} → {spelled(writes)}")


# %% check="sequence_reversal/trained_model" points=14
# Decodes random sequences with your model, and counts those that are right as a whole.
check("sequence_reversal/trained_model", trained_model)

# %% [markdown]
# To see how the model got there, we train once more and keep a log. Besides the loss,
# it records the fraction of correct *tokens* when the model is fed the correct earlier
# ones, and the fraction of correct *sequences* when the model writes on its own.

# %% folded=true
# @title A training run with a log: step, token accuracy, exact match
LOG: list[tuple[int, float, float]] = []
KEPT: dict[int, dict[str, Tensor]] = {}  # the weights at each logged step


def train(
    model: nn.Module, sequences: Callable, steps: int, every: int = 0
) -> tuple[list[float], list[tuple]]:
    """Losses of a training run, and its log (step, token accuracy, exact match)."""
    source, target = held_out(200)
    log, count = [], 0

    def next_batch() -> tuple[Tensor, Tensor]:
        nonlocal count
        if every and count % every == 0:
            log.append((count, token_accuracy(model, source, target),
                          exact_match(model, source, target)))  # fmt: skip
            KEPT[count] = {n: v.clone() for n, v in model.state_dict().items()}
        count += 1
        return make_batch(sequences())

    adamw = torch.optim.AdamW(model.parameters(), 1e-2, (0.9, 0.98), fused=True)
    return fit(model, adamw, next_batch, steps, warmup=steps // 10), log


def token_accuracy(model: nn.Module, source: Tensor, target: Tensor) -> float:
    """The fraction of correct next tokens, given the correct ones before."""
    given, labels = target[:, :-1], target[:, 1:]
    with torch.no_grad():
        best = model.eval()(source, given).argmax(dim=-1)  # (B, L - 1)
    real = labels != PAD
    return (best == labels)[real].double().mean().item()


# %%
@demo
def the_log():
    rng = random.Random(1)
    torch.manual_seed(1)
    model = new_model()
    losses, log = train(model, lambda: random_sequences(64, rng), 400, every=20)
    LOG[:] = log
    pictures.log(losses, log)


# %% [markdown]
# Single tokens come out right first, whole sequences later: while one token in ten is
# still wrong, only about half of the sequences are right. And only the token curve was
# measured with a teacher's help.
#
# ### Which learning rate?
#
# To see how much the recipe's rate of 0.02 matters, we train for the same 350 steps
# with peaks a factor of ten apart. Then we train with plain SGD at a rate of 3, for up
# to 150 steps and with different bounds on the gradient's norm.
#
# **Predict first.** What exact match does AdamW reach with peaks of 0.001, 0.01, 0.1
# and 1, and which of all these runs, if any, end in `nan`?

# %%
my_guess = "?"  # write yours here


# %%
def started_anew() -> tuple[nn.Module, Callable]:
    """The same untrained model, and the same batches, in each call."""
    rng = random.Random(3)
    torch.manual_seed(3)
    return new_model(), lambda: make_batch(random_sequences(32, rng))


@demo
def learning_rates():
    source, target = held_out(300)
    for rate in (0.001, 0.01, 0.1, 1.0):
        model, next_batch = started_anew()
        adamw = torch.optim.AdamW(model.parameters(), rate, (0.9, 0.98), fused=True)
        losses = fit(model, adamw, next_batch, 350, warmup=70)
        loss, score = sum(losses[-20:]) / 20, exact_match(model, source, target)
        print(f"AdamW, peak {rate:<5}  loss {loss:.3f}, exact match {score:6.1%}")
    for max_norm in (math.inf, 1.0, 0.1):
        model, next_batch = started_anew()
        sgd = torch.optim.SGD(model.parameters(), 3.0)
        losses = [0.0]
        while len(losses) <= 150 and math.isfinite(losses[-1]):
            losses.append(training_step(model, sgd, *next_batch(), max_norm))
        print(f"SGD at 3, norm clipped to {max_norm}: loss {losses[-1]:.2f} "
              f"after {len(losses) - 1} steps")  # fmt: skip


# %% [markdown]
# The peak of 0.01 wins, close to the recipe's 0.02: over five seeds, its exact match
# was 97 to 100 %. With 0.001 the model is not there yet, at 18 to 26 %. With 0.1 the
# outcome is a matter of luck, since the same seeds gave anything from 35 to 90 %. And
# with 1 the loss gets stuck near 2.3, which is $\log 10$, the loss of a model that
# guesses among the ten digits. None of these runs explodes, because AdamW's steps are
# never much longer than the rate; the last run looks calm, but it is dead.
#
# SGD's steps are proportional to the gradient, so a single steep spot can ruin the run:
# after about a dozen steps the loss is `nan`, and so is every parameter from then on.
# At the same learning rate, clipping keeps the run alive, but only the bound of 0.1,
# which makes all steps short, also lets the model learn.
#
# ## 8. The same model on different data
#
# We keep the model, the code and nearly the same number of steps, and change nothing
# but the data. Each sequence is now a **run** of one to ten consecutive numbers below
# 100, such as `17 18 19 20`, and the training set holds 107 different runs.
#
# **Predict first.** What will you measure at the end of training?
#
# 1. the loss;
# 2. exact match on the training sequences;
# 3. exact match on *other* runs, which were not in the training data;
# 4. exact match on random numbers from the same range.

# %%
my_guess = "1. ?, 2. ?, 3. ?, 4. ?"  # write yours here, then run the next cell


# %%
def runs(count: int, rng: random.Random) -> list[list[int]]:
    """Different runs of consecutive numbers below 100, of length 1 to 10."""
    every = [
        list(range(FIRST + start, FIRST + start + length))
        for length in range(1, 11)
        for start in range(101 - length)
    ]
    return rng.sample(every, count)


@demo
def trained_on_runs():
    rng = random.Random(5)
    shuffled = runs(955, rng)
    seen, unseen = shuffled[:107], shuffled[107:607]
    random_ones = random_sequences(500, rng, symbols=100)
    torch.manual_seed(5)
    model = new_model(vocab_size=104)
    losses, _ = train(model, lambda: rng.sample(seen, 64), 300)
    print(f"1. loss at the end                     {losses[-1]:.4f}")
    for name, rows in (
        ("2. exact match, training sequences", seen),
        ("3. exact match, other runs", unseen),
        ("4. exact match, random numbers", random_ones),
    ):
        print(f"{name:<38} {exact_match(model, *make_batch(rows)):.1%}")
    reads, _ = make_batch([[30, 71, 12, 55]])
    print("for example", spelled(reads[0]), "→",
          spelled(measuring.write(model, reads, 11)[0]))  # fmt: skip


# %% [markdown]
# The loss has fallen to about 0.001 and every training sequence comes out right, but
# only about one in eight of the *other* runs (8 to 14 % over five seeds) and one in
# fifty of the random sequences do. The example shows what has happened: the model
# starts near the last number and counts down.
#
# Instead of reversal it has learnt a list, together with the rule "count downwards",
# which happens to fit that list perfectly; and since the loss is measured on the same
# list, it cannot tell the two rules apart. Nor can you, as long as you test on the
# training data or print a single lucky example. Three habits protect you:
#
# - test on data from a **different source**, which only the intended rule can explain;
# - score **whole** sequences that the model has written **on its own**;
# - count how many examples are really *different*, because a thousand rows may contain
#   only 107 distinct ones.
#
# *Written question (3 points).* A friend trains a reversal model down to a loss of
# 0.001. The ten training sequences that she decodes all come out correct, but the model
# scores 0 % on random sequences, so she decides to train for longer. In three to four
# sentences: what has the model learnt, why can neither the loss reveal it nor more
# epochs cure it, and which single change would you make?
#
# *Points: what was learnt (1), why the loss is blind to it (1), and how
# to change the data (1).*

# %% [markdown] written="sequence_reversal/memorised" points=3
# *Your answer here*
#
# ### BEGIN SOLUTION
# The model has learnt its training sequences (or an accidental rule that fits them,
# such as counting down), not to reverse. The loss is measured on those very sequences,
# so a list learnt by heart is as good as the rule; the loss is almost zero already, and
# more epochs can only polish the list. I would sample fresh random sequences for each
# batch, so that no list can help, and evaluate by exact match on sequences that were
# held out.
# ### END SOLUTION

# %% [markdown]
# ## 9. Take something away
#
# You understand a part best when it is missing, so here are three switches, each of
# which removes one thing from the *same* model, during training and decoding alike. The
# first sets the position tables to zero. The second removes the causal mask with a
# **pre-hook**: unlike the hooks of unit 4, it is called *before* the layer, and its
# result replaces the layer's arguments. The third undoes the division of the scores by
# $\sqrt{d_k} = 4$: it uses `register_parametrization` to make every query four times as
# large.


# %%
def layers_named(model: nn.Module, ending: str) -> list[nn.Module]:
    """The layers of a model whose name has this ending."""
    return [layer for name, layer in model.named_modules() if name.endswith(ending)]


def without_positions(model: nn.Module) -> None:
    """Set all position tables to zero."""
    for name, table in model.named_buffers():
        if name.endswith("pe"):
            table.zero_()


def without_causal_mask(model: nn.Module) -> None:
    """Let the decoder's self-attention see all positions, including future ones."""
    def without_mask(layer, given, named):
        return given[:3], {n: value for n, value in named.items() if n != "mask"}

    for layer in layers_named(model, "self_attention"):
        layer.register_forward_pre_hook(without_mask, with_kwargs=True)


class FourTimes(nn.Module):
    """Four times a parameter, in place of the parameter."""

    def forward(self, weight: Tensor) -> Tensor:
        return 4.0 * weight


def without_scaling(model: nn.Module) -> None:
    """Undo the division of scores by the root of d_k, in the queries."""
    for projection in layers_named(model, "w_q"):
        for name in ("weight", "bias"):
            register_parametrization(projection, name, FourTimes())


SWITCHES = {
    "everything": lambda model: None,
    "no positions": without_positions,
    "no causal mask": without_causal_mask,
    "no scaling": without_scaling,
}


# %% folded=true
# @title Train with each switch, and compare
@demo
def ablations():
    source, target = held_out(500)
    scores, final = {}, {}
    for name, switch in SWITCHES.items():
        rng = random.Random(2)
        torch.manual_seed(2)
        model = new_model()
        switch(model)
        losses, _ = train(model, lambda rng=rng: random_sequences(64, rng), 300)
        scores[name] = exact_match(model, source, target)
        final[name] = sum(losses[-20:]) / 20
    pictures.ablations(final, scores)


# %% [markdown]
# - **No positions: a large loss, and one match in five.** The encoder sees a *bag* of
#   symbols: it may know which ones occur, but not their order, so, luck aside, only
#   very short sequences come out right.
# - **No causal mask: the smallest loss of all, and no match.** During training, the
#   label of position `t` is part of the input, at position `t + 1`, and the model
#   learns to copy it from there. When it has to write alone, there is nothing to copy.
# - **No scaling: a small loss, and hardly a miss.** The division hardly matters here,
#   probably because each head has only $d_k = 16$ and training adapts. Over five seeds,
#   the model without scaling ended at 98 to 99 %, and the complete one at 96 to 100 %.
#   An honest experiment also shows what does *not* matter.
#
# ## 10. How far does it reach?
#
# The model has been trained on lengths 1 to 10 and is right nearly every time, so it
# seems to have understood reversal. Let us try it on lengths up to 14.


# %%
def of_length(length: int, count: int, seed: int = 0) -> list[list[int]]:
    """Random digit sequences of one length."""
    dice = random.Random(seed)
    return [dice.choices(range(FIRST, FIRST + 10), k=length) for _ in range(count)]


# %%
@demo
def the_cliff():
    model = trained_model()
    lengths = list(range(1, 15))
    scores = []
    for length in lengths:
        source, target = make_batch(of_length(length, 200))
        scores.append(exact_match(model, source, target))
    pictures.cliff(lengths, scores, longest=10)


# %% [markdown]
# The curve ends in a cliff, although the new positions are not noise to the model:
# sinusoids continue smoothly, so encoding 11 is as similar to encoding 10 as encoding
# 10 is to encoding 9 (cosine 0.96). But the query and key projections were trained only
# on the positions that occurred, and nothing constrains what they do with any others.
# The model has learnt reversal *of lengths 1 to 10*, not reversal.
#
# More layers or more steps hardly help, and training on lengths up to 14 merely moves
# the cliff to 15 (two seeds). Relative positions are no easy way out, because in a
# reversal the distance between the symbol being written and the one being read changes
# with every step and every length. In a comparison on several tasks, ALiBi and rotary
# positions extrapolated poorly, and a decoder without any positional encoding did best
# (Kazemnejad et al. 2023). The held-out score could not have warned you, because it was
# measured on sequences of the same lengths as the training data: **a test shows only
# what it tests.**
#
# ## 11. Look inside: the anti-diagonal
#
# To write the first token, the decoder should attend to the last symbol; to write the
# second, to the last but one, and so on. In a map of the cross-attention, with decoder
# positions as rows and source positions as columns, that makes a line from top right to
# bottom left, the *anti-diagonal*. We obtain this map with unit 4's
# `attention_weights`.
#
# **Predict first.** In about one step in five, the largest weight of a head is *not* on
# this line. Is it then mostly to the right (on the symbol that was written last),
# mostly to the left (on the one that the next step will need), or equally often on both
# sides?

# %%
my_guess = "?"  # write yours here


# %%
def cross_attention_map(
    model: nn.Module, source: Int[Tensor, "B Ls"], decoder_input: Int[Tensor, "B Lt"]
) -> Float[Tensor, "B h Lt Ls"]:
    """The weights of the last decoder layer's cross-attention."""
    last = layers_named(model, "cross_attention")[-1:]
    return encoder_decoder.attention_weights(
        model.eval(), last, source, decoder_input
    )[0]


# %%
@demo
def the_map():
    model = trained_model()
    source, target = make_batch([[FIRST + d for d in (3, 1, 4, 1, 5, 9, 2, 6)]])
    given, labels = target[:, :-1], target[:, 1:]
    maps = cross_attention_map(model, source, given)[0]  # (h, Lt, Ls)
    reads, writes = spelled(source[0]).split(), spelled(labels[0]).split()
    pictures.cross_attention(maps, reads, writes)


# %% [markdown]
# The line is there, in both heads. Now watch the model write two sequences, one token
# at a time: the upper one has length 8, and the lower one has length 11, beyond the
# cliff.


# %% folded=true
# @title Write two sequences, and see where each token looks
@demo
def token_by_token():
    model, trials = trained_model(), []
    for digits in ("31415926", "31415926535"):
        source, target = make_batch([[FIRST + int(d) for d in digits]])
        wrote = measuring.write(model, source, max_len=len(digits) + 1)
        given = torch.cat([target[:, :1], wrote[:, :-1]], dim=1)  # its own tokens
        weights = cross_attention_map(model, source, given)[0].amax(0)  # of any head
        rows = (source[0], target[0, 1:], wrote[0])
        trials.append((*(spelled(row).split() for row in rows), weights))
    pictures.token_by_token(trials)


# %% [markdown]
# At length 8 the brightest spot moves from right to left, one position per token. At
# length 11 it also moves, but from some token on (on our machine, the third) the model
# loses track: it attends to a neighbour of the symbol that it needs, skips or repeats
# symbols, and stops at the wrong moment.
#
# One pretty map proves nothing, so let us measure over many sequences how often the
# *largest* weight is on the line.
#
# ### Exercise 5.9 - The share of the anti-diagonal
#
# *time ~15 min · difficulty 3/5 · 5 points*
#
# **Task.** Return the fraction of decoding steps in which a head's *largest* weight is
# on the anti-diagonal: for `n` symbols, step `t` should attend to symbol `n - 1 - t`.
#
# **Example.** For one sequence of 3 symbols, largest weights at symbols 2, 0 and 0 give
# 2/3.
#
# <details><summary>Contract</summary>
#
# - Only the steps `t < n` count, not the ones for EOS and padding.
# - Every step in the batch has the same weight, whether its sequence is short or long.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Where is the last symbol in a row of length `Ls` that ends in EOS and padding? Is its
# index the same in each row of the batch?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# weights               (B, Lt, Ls)
# index of the largest  (B, Lt)
# wanted                (B, Lt)        n - 1 - t, with a different n in each row
# counts                (B, Lt)        bool: t < n
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# for each row b, for each step t below lengths[b]:
#     hit if the largest of weights[b, t] is at lengths[b] - 1 - t
# hits / steps
# ```
#
# </details>


# %% exercise="sequence_reversal/antidiagonal_share"
def antidiagonal_share(
    weights: Float[Tensor, "B Lt Ls"], lengths: Int[Tensor, "B"]
) -> float:
    """How often the largest weight is on the anti-diagonal.

    Args:
        weights: cross-attention weights of one head.
        lengths: the number of symbols in each source row, int64: without EOS and
            padding; less than Lt and Ls.

    Returns:
        The fraction of the steps t < lengths[b], over the whole batch, whose largest
        weight is at lengths[b] - 1 - t.
    """
    ### BEGIN SOLUTION
    steps = torch.arange(weights.size(1))  # (Lt,)
    wanted = lengths.unsqueeze(1) - 1 - steps  # (B, Lt), negative after the last symbol
    hits = (weights.argmax(dim=-1) == wanted)[wanted >= 0]
    return hits.double().mean().item()
    ### END SOLUTION


# %% check="sequence_reversal/antidiagonal_share" points=5
# Checks maps whose fraction is known, with rows of different lengths.
check("sequence_reversal/antidiagonal_share", antidiagonal_share)


# %%
@demo
def the_share():
    model = trained_model()
    source, target = held_out(500)
    lengths = (source != PAD).sum(dim=1) - 1  # EOS is no symbol
    maps = cross_attention_map(model, source, target[:, :-1])  # (B, h, Lt, Ls)
    for head in range(maps.size(1)):
        share = antidiagonal_share(maps[:, head], lengths)
        print(f"head {head}: {share:.1%} of all steps hit the anti-diagonal")


# %% [markdown]
# Each head hits the line in only about four out of five steps, and yet nearly *all*
# sequences are right. Where do the heads look in the other steps? We count how often
# each distance from the line occurs, for this model and for one that is trained
# **blindfolded**: its decoder is shown nothing but BOS in place of the tokens written
# so far, so it has to find every symbol by position alone.


# %% folded=true
# @title Count by how much the largest weights miss the line
class Blindfolded(nn.Module):
    """A model whose decoder is shown BOS instead of the tokens written so far."""

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model

    def forward(self, source: Tensor, decoder_input: Tensor) -> Tensor:
        return self.model(source, torch.full_like(decoder_input, BOS))


def misses(maps: Float[Tensor, "B h Lt Ls"], source: Tensor) -> Int[Tensor, "h N"]:
    """By how much each head's largest weights miss the line, to the right if > 0."""
    steps = torch.arange(maps.size(2))
    wanted = (source != PAD).sum(dim=1, keepdim=True) - 2 - steps  # (B, Lt)
    missed = (maps.argmax(dim=-1) - wanted[:, None]).transpose(0, 1)  # (h, B, Lt)
    return missed[:, wanted >= 0]  # without the steps of EOS and padding


@demo
def beside_the_line():
    model = trained_model()
    rng = random.Random(1)
    torch.manual_seed(1)
    blindfolded = new_model()
    adamw = torch.optim.AdamW(blindfolded.parameters(), 2e-2, (0.9, 0.98), fused=True)
    fit(
        Blindfolded(blindfolded), adamw, lambda: make_batch(random_sequences(32, rng)),
        steps=350, warmup=70,
    )  # fmt: skip
    source, target = held_out(500)
    given = target[:, :-1]
    ours = misses(cross_attention_map(model, source, given), source)
    only_bos = torch.full_like(given, BOS)
    theirs = misses(cross_attention_map(blindfolded, source, only_bos), source)
    encodings = model.source.positions.pe
    print("distance from the line   cosine of encodings   our model   blindfolded")
    for offset in range(-3, 4):
        cosine = F.cosine_similarity(encodings[5], encodings[5 + offset], dim=0)
        shares = [(m == offset).double().mean() for m in (ours, theirs)]
        print(f"{offset:+14d} {cosine:24.2f} {shares[0]:15.1%} {shares[1]:12.1%}")


# %% [markdown]
# Nearly all the misses are at +1, on the symbol that was written last. Neighbouring
# encodings are almost the same vector (cosine 0.96), so a query that fits one of them
# nearly fits the next; but since this holds on both sides, it cannot explain why the
# misses fall only on the neighbour to the right. The blindfolded model suggests an
# answer: it hits the line in 98 to 100 % of its steps, and misses as rarely on the
# right as on the left (five seeds). A decoder that sees what it wrote last can
# recognise that symbol and discount it, so a miss on the right does little harm,
# whereas the symbol on the left could be mistaken for the one that is wanted. Our model
# does rely on what it sees: if it is shown random digits in place of its own, it looks
# to the right in 42 to 46 % of the steps, and finds only 53 to 61 % of the symbols.
#
# To see how the line emerged, look at the maps from the training run of section 7, at
# some of the logged steps.


# %% folded=true
# @title The maps of the logged steps
@demo
def birth_of_the_antidiagonal():
    source, target = make_batch([[FIRST + d for d in (3, 1, 4, 1, 5, 9, 2, 6)]])
    given, labels = target[:, :-1], target[:, 1:]
    model, maps = new_model(), {}
    for step in list(KEPT)[::3]:
        model.load_state_dict(KEPT[step])
        maps[step] = cross_attention_map(model, source, given)[0]  # (h, Lt, Ls)
    reads, writes = spelled(source[0]).split(), spelled(labels[0]).split()
    pictures.birth(maps, LOG, reads, writes)


# %% [markdown]
# ## 12. Why attention at all?
#
# Before 2015, neural models usually turned one sequence into another with a pair of
# *recurrent* networks (Sutskever et al. 2014; Cho et al. 2014). One reads symbol by
# symbol and updates a state; the other starts from the **last** state and writes. All
# that passes between them is one vector of fixed length.

# %%
drawing(
    "bottleneck", "5.10",
    "Without attention one vector carries everything; with it, each step looks back.",
)  # fmt: skip

# %% [markdown]
# Here is such a pair, built from PyTorch's `nn.GRU`, with slightly more parameters than
# our Transformer. Your `fit` trains it for 400 steps with batches of 64, as in the
# logged run of section 7.
#
# **Predict first.** The Transformer stays at 98 to 100 % for all lengths from 1 to 10.
# Up to what length does the pair get at least half of the sequences right?

# %%
my_guess = "?"  # write yours here


# %%
class WithoutAttention(nn.Module):
    """An encoder-decoder of two recurrent networks, called like our Transformer."""

    def __init__(self, vocab_size: int = 14, d_model: int = 32, width: int = 48):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model, padding_idx=PAD)
        self.encoder = nn.GRU(d_model, width, batch_first=True)
        self.decoder = nn.GRU(d_model, width, batch_first=True)
        self.output = nn.Linear(width, vocab_size)

    def encode(self, source: Tensor) -> Tensor:
        read = pack_padded_sequence(
            self.embedding(source), (source != PAD).sum(1),
            batch_first=True, enforce_sorted=False,
        )  # fmt: skip
        return self.encoder(read)[1]  # (1, B, width): all that the decoder gets

    def decode(self, decoder_input: Tensor, state: Tensor, source: Tensor) -> Tensor:
        states, _ = self.decoder(self.embedding(decoder_input), state)
        return self.output(states)  # (B, Lt, V)

    def forward(self, source: Tensor, decoder_input: Tensor) -> Tensor:
        return self.decode(decoder_input, self.encode(source), source)


# %% folded=true
# @title Train the pair, and compare by length
@demo
def one_vector_for_everything():
    rng = random.Random(4)
    torch.manual_seed(4)
    recurrent = WithoutAttention()
    train(recurrent, lambda: random_sequences(64, rng), 400)
    models = {"two GRUs, one vector": recurrent, "Transformer": trained_model()}
    lengths, scores = list(range(1, 11)), {}
    rows = [make_batch(of_length(length, 200)) for length in lengths]
    for name, model in models.items():
        size = sum(p.numel() for p in model.parameters())
        label = f"{name}: {size:,} parameters"
        scores[label] = [exact_match(model, *row) for row in rows]
    pictures.with_and_without(lengths, scores)


# %% [markdown]
# Up to length 6: over five seeds, the pair got at least 99 % right up to length 3, 60
# to 73 % at length 6, 37 to 47 % at 7, and at most 4 % at 10. The vector *could* hold
# ten digits, since with three times as many steps the GRUs reach 0.4 to 0.5 at
# length 10. But everything has to be packed into it and unpacked again, which becomes
# harder to learn as the input grows longer.
#
# ### Read it backwards
#
# A remedy proposed by Sutskever, Vinyals and Le (2014) sounds like a joke: they fed
# each source sentence to the network **backwards**, and translations improved from 25.9
# to 30.6 BLEU. To see why, we let the pair *copy* sequences, once from the source as it
# is and once from its reverse.


# %%
def copying(rows: list[list[int]], order: int) -> tuple[Tensor, Tensor]:
    """A batch whose targets are the rows; so are its sources, read in this order."""
    target = make_batch([row[::-1] for row in rows])[1]
    return make_batch([row[::order] for row in rows])[0], target


@demo
def read_it_backwards():
    held = random_sequences(500, random.Random("copy"))
    for name, order in (("as it is", 1), ("reversed", -1)):
        rng = random.Random(4)
        torch.manual_seed(4)
        pair = WithoutAttention()
        adamw = torch.optim.AdamW(pair.parameters(), 1e-2, (0.9, 0.98), fused=True)
        fit(
            pair, adamw,
            lambda rng=rng, order=order: copying(random_sequences(64, rng), order),
            steps=800, warmup=80,
        )  # fmt: skip
        score = exact_match(pair, *copying(held, order))
        print(f"copying, source {name}: exact match {score:.1%}")


# %% [markdown]
# Copying is easier when the source is read backwards, for each of the five seeds that
# we tried (78 to 82 % against 69 to 73 %). The authors suspected that what counts is
# how recently the *first* symbol to be written was read: in a reversed source it comes
# last, just before the writing begins. Translation mostly keeps the order of the
# source, so it benefits; our reversal would not, since reversing the source turns it
# into plain copying.
#
# Bahdanau, Cho and Bengio (2015) found that translations by such pairs got worse as
# sentences got longer, and blamed the single vector. At each step, their decoder looks
# back at *all* states of the encoder, with weights from a small network that compares
# the decoder's state with each of them. This is attention, and it is trained along with
# the rest. Long sentences then came out about as well as short ones, and for every
# translation the weights gave a map of which word came from where. Two years later the
# Transformer dropped the recurrence and kept the attention, hence the title of its
# paper.
#
# *Written question (3 points).* "You need no attention," says a friend, "you need a
# larger vector." In three to four sentences: what must the vector do as sequences get
# longer, how does attention get around that, and what does attention cost?
#
# *Points: that the vector has one fixed size for any length (1), that attention keeps
# more as the source grows (1), and what this costs in comparisons or memory (1).*

# %% [markdown] written="sequence_reversal/bottleneck" points=3
# *Your answer here*
#
# ### BEGIN SOLUTION
# The vector has the same size for two symbols and for a thousand, so ever more must be
# packed into it and taken out again in the correct order; a larger vector moves the
# limit but does not remove it. With attention the encoder keeps one vector per
# position: what is kept grows with the source, and each step of the decoder takes from
# it what it needs. The cost: all these vectors stay in memory, and each of Lt steps is
# compared with each of Ls positions, which makes Lt · Ls scores (and L · L in
# self-attention).
# ### END SOLUTION

# %% [markdown]
# ## 13. Words
#
# To the model a symbol is just an id, so it can reverse sentences word by word as soon
# as words have ids. The simplest tokenizer is a dictionary that gives each *new* word
# the next free id.


# %%
def word_ids(sentences: Sequence[str]) -> dict[str, int]:
    """An id for each word, in the order of first appearance.

    Args:
        sentences: texts whose words are separated by white space.

    Returns:
        A dictionary from words to FIRST, FIRST + 1, ...
    """
    ids: dict[str, int] = {}
    for sentence in sentences:
        for word in sentence.split():
            ids.setdefault(word, FIRST + len(ids))
    return ids


# %% [markdown]
# **Write your own sentences** of up to ten words into the next cell, in any language.
#
# Given the lesson of section 8, we do *not* train on these sentences but on random
# sequences of their words, which makes your sentences the test set.

# %%
MY_SENTENCES = [
    "the cat did not climb the tree",
    "because it was too scared",
    "attention is all you need",
    "a model that has learnt to reverse can reverse anything",
    "never test on what you have trained on",
]


@demo
def words_backwards():
    ids = word_ids(MY_SENTENCES)
    words = {number: word for word, number in ids.items()}
    rng = random.Random(6)
    torch.manual_seed(6)
    model = new_model(vocab_size=FIRST + len(ids))
    train(model, lambda: random_sequences(64, rng, symbols=len(ids)), 500)
    mine = [[ids[word] for word in text.split()] for text in MY_SENTENCES]
    decoded = measuring.write(model, make_batch(mine)[0], max_len=11)
    for text, row in zip(MY_SENTENCES, decoded.tolist(), strict=True):
        written = " ".join(words.get(i, "") for i in row).strip()
        mark = "✓" if written.split() == text.split()[::-1] else "✗"
        print(f"{mark} {text}\n    → {written}")


# %% [markdown]
# ## 14. A model that writes
#
# So far, each source has had one correct answer. For a **language model** there is no
# such answer, because a text has many good continuations. Unit 4's `LanguageModel(...,
# causal=True)` is a single stack with a causal mask and no source, and since it
# predicts the next token, `masked_loss` and `fit` work unchanged. What is new is how to
# *choose* that token.
#
# Taking the most probable one each time always gives the same text, and usually a dull
# one, full of frequent words and repetition (Holtzman et al. 2020). So we **sample**
# the next token from the model's distribution, and three parameters, which many
# language models offer, control how boldly we do so.
#
# - **Temperature** $T$: the logits are divided by it before the softmax. Below 1,
#   likely tokens become likelier; above 1, the probabilities become more alike.
# - **Top-k**: only the $k$ most probable tokens are kept.
# - **Top-p** (*nucleus*): only the smallest set of most probable tokens whose
#   probabilities sum to at least $p$ is kept. When the model is sure, this may be a
#   single token; when it is unsure, many.
#
# A token that is cut off gets probability zero, and the others are rescaled to sum to 1
# again.
#
# ### Exercise 5.10 - From logits to probabilities
#
# *time ~20 min · difficulty 3/5 · 12 points*
#
# **Task.** Write the three filters that `sampling_distribution` applies in turn. A
# token that is cut off gets the score `-inf`.
#
# **Example.** `keep_top_k(scores, 1)` of `[2, 5, 3]` is `[-inf, 5, -inf]`.
#
# <details><summary>Contract</summary>
#
# - A temperature of 0 or below raises `ValueError` (code given).
# - `top_k` may exceed V; then all tokens stay.
# - `top_p` applies to the probabilities that are left after `top_k`.
# - At least one token always stays.
# - A logit of `-inf` keeps probability 0. Otherwise, no two logits of a row are equal.
# - The logits are not modified, and nothing is sampled yet.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Sort a row with the most probable token first. A token stays if the probabilities
# *before* it sum to less than `top_p`. Which token does that rule always keep? And
# which index did each token have before you sorted?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# scores            (..., V)
# sorted, indices   (..., V)     torch.sort gives both
# sum before        (..., V)     cumsum includes the token itself: subtract it
# stays             (..., V)     bool, in sorted order: scatter or gather brings it back
# ```
#
# A score of `-inf` is a probability of exactly 0.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# temperature:  logits / temperature
# top_k:        scores below the k-th largest of their row become -inf
# top_p:        p = softmax of the scores, sorted, the largest first
#               drop a token if the sum before it has reached top_p
#               bring "drop" back into the old order; those scores become -inf
# ```
#
# </details>


# %% exercise="sequence_reversal/sampling_distribution"
def with_temperature(
    logits: Float[Tensor, "*batch V"], temperature: float
) -> Float[Tensor, "*batch V"]:
    """The logits, divided by a temperature above 0."""
    if temperature <= 0:
        raise ValueError(f"the temperature must be above 0, not {temperature}")
    ### BEGIN SOLUTION
    return logits / temperature
    ### END SOLUTION


def keep_top_k(
    scores: Float[Tensor, "*batch V"], top_k: int
) -> Float[Tensor, "*batch V"]:
    """The `top_k` largest scores of each row; all others are -inf."""
    ### BEGIN SOLUTION
    least = scores.topk(min(top_k, scores.size(-1)), dim=-1).values[..., -1:]
    return scores.masked_fill(scores < least, -math.inf)
    ### END SOLUTION


def keep_top_p(
    scores: Float[Tensor, "*batch V"], top_p: float
) -> Float[Tensor, "*batch V"]:
    """The largest scores that together have probability `top_p`; all others -inf."""
    ### BEGIN SOLUTION
    probabilities, indices = scores.softmax(dim=-1).sort(dim=-1, descending=True)
    before = probabilities.cumsum(dim=-1) - probabilities  # (..., V), ranked higher
    dropped = torch.zeros_like(before, dtype=torch.bool)
    dropped = dropped.scatter(-1, indices, before >= top_p)
    return scores.masked_fill(dropped, -math.inf)
    ### END SOLUTION


def sampling_distribution(
    logits: Float[Tensor, "*batch V"],
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Float[Tensor, "*batch V"]:
    """The probabilities from which the next token is sampled.

    Args:
        logits: scores of the vocabulary; not modified.
        temperature: above 0; the logits are divided by it.
        top_k: how many tokens stay, at least 1; None: all.
        top_p: how much probability must stay, above 0 and at most 1; None: all of it.

    Returns:
        Probabilities; each row sums to 1, dropped tokens have 0.

    Raises:
        ValueError: the temperature is 0 or negative.
    """
    scores = with_temperature(logits, temperature)
    if top_k is not None:
        scores = keep_top_k(scores, top_k)
    if top_p is not None:
        scores = keep_top_p(scores, top_p)
    return scores.softmax(dim=-1)


# %% check="sequence_reversal/sampling_distribution" points=12
# Checks each filter alone and all of them together, on batches, and the logits
# afterwards.
check("sequence_reversal/sampling_distribution", sampling_distribution)

# %%
@demo
def three_filters():
    logits = torch.tensor([0.5, 0.3, 0.15, 0.05]).log()
    for filters in (
        {}, {"top_k": 3}, {"top_p": 0.79}, {"top_p": 0.81},
        {"temperature": 0.5}, {"temperature": 0.1}, {"temperature": 10.0},
    ):  # fmt: skip
        probabilities = sampling_distribution(logits, **filters)
        name = ", ".join(f"{k} = {v}" for k, v in filters.items()) or "as it is"
        print(f"{name:<18}", " ".join(f"{p:.3f}" for p in probabilities.tolist()))


# %% [markdown]
# With $k = 3$ and with $p = 0.81$ the first three tokens stay, because 0.5 + 0.3 falls
# short of 0.81, whereas for $p = 0.79$ the first two are enough. As $T$ goes to 0, all
# probability moves to the most probable token, which is greedy decoding again.
#
# ### How do you judge a text when there is no correct answer?
#
# Show the model a text that it has never seen, and look at $-\log p$ of each token,
# which is what your loss measures. Its average over all real tokens is the text's
# *cross-entropy* in **nats** (the unit that goes with the natural logarithm), and the
# exponential of that is the **perplexity**:
#
# $$\operatorname{perplexity} = \exp\left(-\frac1N \sum_{n=1}^{N} \log p_n\right)$$
#
# Language models are commonly compared by this number, which you can read as a number
# of tokens: a perplexity of 13 means that the model is on average as unsure as if it
# were rolling a 13-sided die. A model that knows nothing has a perplexity of $V$, and
# one that is certain of every token, and right, has a perplexity of 1.
#
# ### Exercise 5.11 - Perplexity
#
# *time ~15 min · difficulty 2/5 · 5 points*
#
# **Task.** Given the logits and labels of several batches, return the mean
# cross-entropy per real token, in nats, and its exponential, as two floats.
#
# **Example.** With 3 tokens at 4 nats in one batch and 97 at 1 nat in another, the
# average is 1.09 nats, which gives a perplexity of 2.97.
#
# <details><summary>Contract</summary>
#
# - Every real token in every batch has the same weight; PAD does not count.
# - `batches` may be a generator: iterate over it once.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# The example has two batches, with mean losses of 4 and 1. Why is the answer not 2.5?
# And is the exponential of a mean the mean of the exponentials?
#
# </details>
# <details><summary>Hint 2: the parts</summary>
#
# ```text
# masked_loss(logits, labels)      the mean in ONE batch
# (labels != PAD).sum()            how many tokens that mean stands for
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# total, count = 0, 0
# for each batch:
#     add the sum of its tokens' nats to total, and the number of real tokens to count
# nats = total / count
# return nats and e to the nats
# ```
#
# </details>


# %% exercise="sequence_reversal/perplexity"
def perplexity(
    batches: Iterable[tuple[Float[Tensor, "B L V"], Int[Tensor, "B L"]]],
) -> tuple[float, float]:
    """How unsure a model is about a text, per real token.

    Args:
        batches: pairs of logits and labels, int64, PAD where there is none; B and L
            differ from batch to batch. Some batches may have no real label at all.

    Returns:
        The mean of -log p over all real tokens, in nats, and its exponential; floats.
    """
    ### BEGIN SOLUTION
    total, count = 0.0, 0
    for logits, labels in batches:
        real = int((labels != PAD).sum())
        if real:
            total += float(masked_loss(logits, labels)) * real
        count += real
    return total / count, math.exp(total / count)
    ### END SOLUTION


# %% check="sequence_reversal/perplexity" points=5
# Checks both results, for batches of very different sizes and losses.
check("sequence_reversal/perplexity", perplexity)

# %% [markdown]
# Our text comes from the course's own grammar, which unit 6 also uses: 20,000 of the
# English sentences that it generates are the training data. `pieces` cuts them into
# words and punctuation marks, with `▁` for the space in front of a piece, `word_ids`
# numbers the pieces, and `glue` joins them back into a text. The sentences on which we
# measure the perplexity are new: neither their wording nor their combination of who
# does what occurs in training. `Writer` wraps the `LanguageModel` so that it can be
# called like our Transformer, and `write` samples texts from it.


# %%
class Writer(nn.Module):
    """A decoder-only model, called like the others; it ignores the source."""

    def __init__(self, vocab_size: int, d_model: int = 64):
        super().__init__()
        self.model = encoder_decoder.LanguageModel(
            vocab_size, d_model, num_heads=4, num_layers=2, d_ff=128, causal=True
        )
        nn.init.normal_(self.model.input.embedding.weight, std=d_model**-0.5)

    def forward(self, source: object, decoder_input: Tensor) -> Tensor:
        return self.model(decoder_input)  # (B, Lt, V)


def write(
    model: nn.Module,
    count: int,
    generator: torch.Generator,
    longest: int = 30,
    **filters,
) -> Int[Tensor, "count T"]:
    """Sampled texts: no BOS, then tokens, EOS where there is one, PAD."""
    tokens = torch.full((count, 1), BOS)
    done = torch.zeros(count, dtype=torch.bool)
    with torch.no_grad():
        while tokens.size(1) <= longest and not done.all():
            logits = model(None, tokens)[:, -1]  # (B, V)
            probabilities = sampling_distribution(logits, **filters)
            newest = torch.multinomial(probabilities, 1, generator=generator)  # (B, 1)
            newest = newest.masked_fill(done[:, None], PAD)
            tokens = torch.cat((tokens, newest), dim=1)
            done |= newest[:, 0] == EOS
    return tokens[:, 1:]


# %% folded=true
# @title Train the writer, measure it, and let it write
def numbered(sentences: Sequence[str], ids: dict[str, int]) -> list[list[int]]:
    """Sentences as ids; pieces without an id become UNK."""
    return [[ids.get(piece, UNK) for piece in pieces(text)] for text in sentences]


def rows_of(sequences: Sequence[list[int]]) -> Int[Tensor, "B n+2"]:
    """BOS, the ids, EOS, and padding."""
    rows = [torch.tensor([BOS, *ids, EOS]) for ids in sequences]
    return pad_sequence(rows, batch_first=True, padding_value=PAD)


@demo
def a_model_that_writes():
    texts = corpora.generate("writer", 20_000)
    ids = word_ids([" ".join(pieces(text)) for text in texts])
    rows = numbered(corpora.generate("writer", 20_000), ids)
    unseen = rows_of(numbered(corpora.generate("reader", 500, "test"), ids))
    rng = random.Random(7)
    torch.manual_seed(7)
    model = Writer(FIRST + len(ids))
    given, labels = unseen[:, :-1], unseen[:, 1:]

    def next_batch() -> tuple[Tensor, Tensor]:
        batch = rows_of(rng.sample(rows, 48))
        return batch, batch  # the source is ignored

    def measure() -> str:
        with torch.no_grad():
            nats, perplexed = perplexity([(model.eval()(None, given), labels)])
        return f"{nats:.2f} nats per token, perplexity {perplexed:,.1f}"

    print(f"before training: {measure()}")
    adamw = torch.optim.AdamW(model.parameters(), 5e-3, (0.9, 0.98), fused=True)
    fit(model, adamw, next_batch, 800, warmup=80)
    print(f"after training:  {measure()}")
    names = {number: piece for piece, number in ids.items()}
    for filters in ({"temperature": 0.3}, {"temperature": 1.0}, {"temperature": 1.6},
                  {"temperature": 1.6, "top_p": 0.8}):  # fmt: skip
        print("\n" + ", ".join(f"{name} {value}" for name, value in filters.items()))
        generator = torch.Generator().manual_seed(3)
        for row in write(model, 4, generator, **filters).tolist():
            print("   ", glue([names.get(i, "") for i in row]))


# %% [markdown]
# At a low temperature the sentences are correct but much alike; at 1 they are about as
# varied as the training text; well above 1 the grammar breaks down, although top-p
# prevents the worst. With a different seed for the generator the same model writes
# different texts, and with the *same* seed it repeats them word for word.
#
# The perplexity is near $V$ before training and about 9 at the end. It cannot reach 1,
# because at most positions the grammar has many words to choose from. Nor can it be
# used to compare models with different tokenizers: with syllables as tokens it would be
# smaller, although the text would be no better.
#
# ## 15. Your decoding in the machine
#
# The chat model of unit 1 predicts one token at a time, as your Transformer does, and
# its `<|im_start|>` and `<|im_end|>` have the same ids as our BOS and EOS, 1 and 2. It
# can therefore write with your `greedy_sequence`, using the parts that you have already
# built. The second run is broken on purpose: without the test for EOS, it always writes
# 25 tokens.
#
# **Predict first.** What comes after the answer?

# %%
my_guess = "?"  # write yours here


# %%
@demo
def the_machine_writes():
    parts = chat.filled(
        "01_positional_encoding",
        "02_attention",
        "03_multi_head_attention",
        "04_encoder_decoder",
    )

    def writes_on(model: nn.Module, source: Tensor, max_len: int) -> list[int]:
        tokens = torch.tensor([[BOS]])
        while tokens.size(1) <= max_len:
            newest = model(source, tokens)[:, -1:].argmax(dim=-1)  # (1, 1)
            tokens = torch.cat((tokens, newest), dim=1)
        return tokens[0, 1:].tolist()

    chat.ask(
        "What is the capital of France?",
        {
            "with your decoding": parts | {"greedy_sequence": greedy_sequence},
            "no stop at EOS": parts | {"greedy_sequence": writes_on},
        },
    )


# %% [markdown]
# The model plays your part as well: after "The capital of France is Paris." come an
# empty system turn and then a user turn, "I'm planning to launch a new ...". A model
# only continues a transcript; what turns it into an assistant that waits for you is the
# line in your loop that stops at EOS.

# %% [markdown]
# ## What you built
#
# - data with BOS, EOS and padding, and the shift of teacher forcing;
# - a loss that ignores padding, a training step, a loop with warm-up and cosine decay;
# - greedy decoding that stops row by row, and exact match to judge it;
# - **a Transformer that really reverses**, and the evidence: held-out sequences, an
#   anti-diagonal and, in all honesty, a cliff at length 11;
# - a small language model with the sampling parameters of the large ones (temperature,
#   top-k, top-p), and perplexity to measure it.
#
# Take this with you: *the data decide what is learnt, and the test decides what you
# know about it.*
#
# **Next:** unit 6 takes your loss, your training step, your schedule and your greedy
# decoding as they are, and replaces the ten digits with a language.
#
# ## Go further
#
# - Williams and Zipser 1989, *A Learning Algorithm for Continually Running Fully
#   Recurrent Neural Networks*: teacher forcing.
# - Loshchilov and Hutter 2017, *SGDR*: cosine decay. Vaswani et al. 2017, section 5.3,
#   for a different schedule with warm-up.
# - Liu et al. 2020, *On the Variance of the Adaptive Learning Rate and Beyond*: why
#   Adam needs a warm-up.
# - Bengio et al. 2015, *Scheduled Sampling*: how to get a decoder used to its own
#   mistakes.
# - Sutskever, Vinyals and Le 2014, *Sequence to Sequence Learning with Neural
#   Networks*, section 3.3: reading the source backwards.
# - Bahdanau, Cho and Bengio 2015, *Neural Machine Translation by Jointly Learning to
#   Align and Translate*, figures 2 and 3: the bottleneck, and the first attention maps.
# - Holtzman et al. 2020, *The Curious Case of Neural Text Degeneration*: why the most
#   probable text is dull, and top-p.
# - Press et al. 2022, *Train Short, Test Long*, and Kazemnejad et al. 2023, *The Impact
#   of Positional Encoding on Length Generalization*: beyond the cliff.
# - Zhou et al. 2023, *What Algorithms can Transformers Learn?*: on which tasks
#   Transformers generalise to longer inputs, and on which they do not.
# - Try it: train on lengths 1 to 10, but let each sequence start at a random row of the
#   position table. Where is the cliff now?

# %% [markdown]
# ## Where you stand
#
# Your points so far, and what to do next. Run the cell again whenever you have solved
# an exercise.

# %%
check.summary()
