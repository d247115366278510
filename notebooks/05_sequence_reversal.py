# %% [markdown]
# # 5 · Sequence reversal
#
# Read a sequence, write it backwards: `3 1 4 1 5` becomes `5 1 4 1 3`. A child can do
# it. For a Transformer it is a fine first job. It needs everything you have built: an
# encoder that reads, a decoder that writes, attention that finds the right place,
# positions that say where that is. And you can see at a glance whether the answer is
# right.
#
# It is also a warning. The reversal demo that is often shown *memorises* its training
# data and fails on almost everything else. Yours will not.
#
# **You will learn**
# - to make batches with BOS, EOS and padding, and what teacher forcing shifts by one;
# - a loss that ignores padding, one training step, and the whole training loop;
# - warm-up and cosine decay of the learning rate;
# - greedy decoding that stops for each sequence on its own;
# - to measure what counts: exact match on sequences that were never seen;
# - to look inside: the attention map of a reversal is an *anti-diagonal*;
# - where it all ends: length generalisation is a cliff;
# - why attention was invented, measured on two networks that have none;
# - a model that *writes*: sampling with temperature, top-k and top-p, and perplexity.
#
# *About 5 hours · short path about 2½: exercises 5.1, 5.2, 5.3, 5.4, 5.5, 5.6, 5.7,
# 5.10*
#
# *15 exercises and two questions in words · 100 points; the whole notebook runs in
# about a minute and a half on one core.* The short path carries the story: read the
# rest, and come back to it.
#
# **Recap.** Unit 4 ended with
# `Transformer(src_vocab, tgt_vocab, d_model, num_heads, num_layers, d_ff, ...)`. Called
# with source ids `(B, Ls)` and the decoder's input `(B, Lt)`, it returns logits
# `(B, Lt, V)`. Position `t` of the logits is the model's opinion on the token that
# comes *after* position `t`. Its own masks hide padding (id 0) everywhere and the
# future in the decoder. All its layers here are **pre-norm** (`norm_first=True`) with
# ReLU.
#
# **Conventions of this course**
#
# | name | meaning |
# |---|---|
# | `B`, `Ls`, `Lt` | sequences in a batch, length of source rows, length of target rows |
# | `V` | size of the vocabulary |
# | `PAD, BOS, EOS, UNK` | ids 0, 1, 2, 3, which no symbol has; UNK: an unknown word |
# | `FIRST` | 4, the id of the first real symbol: digit `d` has the id `d + 4` |
# | mask | boolean, **`True` = may attend** |
# | `model(source, decoder_input)` | logits, shape `(B, Lt, V)` |

# %%
import math
import os
import random
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_model, save_model
from torch import Tensor, nn
from torch.nn.utils.parametrize import register_parametrization
from tqdm.auto import tqdm

from autograder import check, demo, drawing, earlier
from autograder.library import corpora
from autograder.library.text import glue, pieces
from autograder.units.sequence_reversal.library import pictures

# False: what earlier units built comes from the course, right for sure. True: from your
# own notebooks, if they lie beside this one. Grading always uses the course's.
USE_MY_OWN = False
attention = earlier("02_attention", mine=USE_MY_OWN)
encoder_decoder = earlier("04_encoder_decoder", mine=USE_MY_OWN)

torch.set_num_threads(1)  # for tensors this small, more threads only get in the way

# %% [markdown]
# ## 1. The data decide what can be learnt
#
# We need sequences. Where from? Say we take `1 2 3 4`, `2 3 4 5`, `3 4 5 6` and so on:
# easy to write, easy to read. A model that sees only those may well learn the rule
# "count downwards". Nothing in the data contradicts it.
#
# So we draw **at random**: each length equally often, each symbol equally often, at
# each place. The only rule that fits such data is the one that we mean.
#
# ### Exercise 5.1 - random sequences
#
# *time ~8 min · difficulty 1/5 · 4 points*
#
# **Why it matters.** A model learns the regularities of its data, the accidental ones
# too.
#
# **What to do.** Return `count` sequences as lists of ids. Each length from 1 to
# `longest` is equally likely. Each of the `symbols` ids from `FIRST` on is equally
# likely at each place, and may occur several times. Draw everything from `rng`, a
# `random.Random`, and from nothing else: then the same seed gives the same data.
#
# <details><summary>Hint 1: a question</summary>
#
# `rng.randint(1, 6)` throws a die: is 6 among its results? And is `6` among the numbers
# of `range(1, 6)`?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# count = 3, longest = 4    ->    [[9, 4], [13, 13, 5, 8], [7]]
# ```
#
# A list of lists of Python integers. No tensors yet, since the lengths differ.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# count times:
#     draw a length, from 1 to longest
#     draw that many ids, each from FIRST to FIRST + symbols - 1
# ```
#
# `rng.choices` and `rng.sample` look alike. Which of the two can draw a symbol twice?
#
# </details>


# %% exercise="sequence_reversal/random_sequences"
PAD, BOS, EOS, UNK, FIRST = 0, 1, 2, 3, 4


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
    ### BEGIN SOLUTION
    ids = range(FIRST, FIRST + symbols)
    return [rng.choices(ids, k=rng.randint(1, longest)) for _ in range(count)]
    ### END SOLUTION


# %% check="sequence_reversal/random_sequences" points=4
# Looks at lengths, ids, neighbours, and at what one seed gives twice.
check("sequence_reversal/random_sequences", random_sequences)

# %% [markdown]
# ### Exercise 5.2 - a batch
#
# *time ~12 min · difficulty 2/5 · 6 points*
#
# **Why it matters.** Three special tokens do three different jobs. A classic demo used
# one number for two of them. Its model could not know what was meant.
#
# - **EOS** ends a sequence: the reader knows where it stops, the writer says that it is
#   done.
# - **BOS** starts the decoder: something must stand there before the first word.
# - **PAD** fills up short rows, at the end, so that a batch is a rectangle. It means
#   nothing.
#
# **What to do.** Turn a list of sequences into two int64 tensors. A source row is the
# sequence and EOS. A target row is BOS, the sequence *backwards*, and EOS. If `targets`
# are given (unit 6 has sentences to write), target row `i` is BOS, `targets[i]` as it
# is, and EOS; some of them may be empty, or all. Each of the two tensors is filled with
# PAD at the end, up to its own longest row. Leave the sequences, and the targets, as
# they were.
#
# ```text
# sequences   [[7, 5, 9], [6]]
#
# source      7  5  9  EOS          target   BOS  9  5  7  EOS
#             6 EOS PAD PAD                  BOS  6 EOS PAD PAD
# ```
#
# <details><summary>Hint 1: a question</summary>
#
# What do you get if you flip a row that is padded already? Reverse first, or pad first?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# longest sequence      n
# longest target        m             the same as n, if nobody gives targets
# source                (B, n + 1)    int64
# target                (B, m + 2)    int64
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# targets, if there are none: each sequence in reverse order (a new list!)
# for each sequence and its target:
#     source row = its ids, then EOS
#     target row = BOS, the ids of the target, then EOS
# fill all source rows with PAD to the length of the longest; the same for target rows
# make a tensor of each list of rows
# ```
#
# </details>


# %% exercise="sequence_reversal/make_batch"
def make_batch(
    sequences: Sequence[list[int]], targets: Sequence[list[int]] | None = None
) -> tuple[Tensor, Tensor]:
    """Source and target rows of a batch, with special tokens and padding.

    Args:
        sequences: B lists of ids, none of them empty.
        targets: what is to be written for each, B lists; None: the sequences backwards.

    Returns:
        The source `(B, n + 1)` and the target `(B, m + 2)`, int64, in this order, where
        n is the length of the longest sequence and m that of the longest target.
    """
    ### BEGIN SOLUTION
    targets = [ids[::-1] for ids in sequences] if targets is None else targets
    source = [[*ids, EOS] for ids in sequences]
    target = [[BOS, *ids, EOS] for ids in targets]
    longest, widest = max(map(len, source)), max(map(len, target))
    return (
        torch.tensor([row + [PAD] * (longest - len(row)) for row in source]),
        torch.tensor([row + [PAD] * (widest - len(row)) for row in target]),
    )  # (B, n + 1), (B, m + 2)
    ### END SOLUTION


# %% check="sequence_reversal/make_batch" points=6
# Looks at both tensors for several lengths, and at the sequences afterwards.
check("sequence_reversal/make_batch", make_batch)

# %% [markdown]
# A look at what the model will see:


# %%
def spelled(ids: Sequence[int]) -> str:
    """Ids as a person reads them: digits, and names for the special tokens."""
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
# The decoder writes one token at a time. In training we know the right answer, so we
# need not wait for the model to write it. We feed the *right* tokens so far, and ask at
# every position for the next one, all in one go. That is **teacher forcing** (Williams
# and Zipser 1989).

# %%
drawing("teacher_forcing", "5.1", "Training: the right tokens. Use: its own.")

# %% [markdown]
# The right half comes in section 6. For the left half, one column must be shifted
# against the other:
#
# ```text
# target          BOS   9    5    7   EOS
# decoder input   BOS   9    5    7             what the decoder is shown
#                  ↓    ↓    ↓    ↓
# labels           9    5    7   EOS            what it should say there
# ```
#
# ### Exercise 5.3 - the shift
#
# *time ~5 min · difficulty 1/5 · 3 points*
#
# **Why it matters.** Forget the shift, and the model is asked to repeat the token that
# it is looking at. The loss falls to zero, and nothing has been learnt. This bug has
# been published more than once.
#
# **What to do.** Split the target into the decoder's input and its labels. Each is one
# column shorter than the target. Leave the target as it was.
#
# <details><summary>Hint 1: a question</summary>
#
# BOS is never predicted. The last column is never needed as input. Which end does each
# of the two lose?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# target           (B, L)
# decoder input    (B, L - 1)
# labels           (B, L - 1)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# input  = all rows, all columns but the last
# labels = all rows, all columns but the first
# ```
#
# </details>


# %% exercise="sequence_reversal/shift"
def shift(target: Tensor) -> tuple[Tensor, Tensor]:
    """What the decoder is shown, and what it should say.

    Args:
        target: rows BOS ... EOS PAD ..., shape `(B, L)`.

    Returns:
        The decoder's input and the labels, each `(B, L - 1)`, in this order.
    """
    ### BEGIN SOLUTION
    return target[:, :-1], target[:, 1:]
    ### END SOLUTION


# %% check="sequence_reversal/shift" points=3
# Looks at the labels, and at the input wherever there is a label.
check("sequence_reversal/shift", shift)

# %% [markdown]
# ## 3. A loss that ignores padding
#
# At each position the model gives `V` logits. Cross-entropy is the price for the
# probability that it gave to the right token: $-\log p(\text{label})$. We want the mean
# price **per real token**. Padding is not a token. A model should neither be praised
# nor blamed for it.
#
# **Predict first.** A row has 2 real labels and 8 times padding. A model can learn to
# say PAD after EOS perfectly, within a few steps. If padding counts, how small can the
# loss become before anything about reversal is learnt?
#
# ### Exercise 5.4 - the masked loss
#
# *time ~12 min · difficulty 2/5 · 7 points*
#
# **Why it matters.** It is the one number that training listens to.
#
# **What to do.** Return the mean cross-entropy (natural logarithm) over all labels that
# are not PAD, as a tensor of shape `()` with a gradient. All real tokens of the batch
# weigh the same, in short rows and in long ones. There is at least one in the batch; a
# row may have none.
#
# **What is allowed.** All of PyTorch.
#
# <details><summary>Hint 1: a question</summary>
#
# `F.cross_entropy` wants the classes in dimension **1**. In which dimension do your
# logits have them? What does its argument `ignore_index` do, and what is its default?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# logits     (B, L, V)   ->   (B * L, V)     one row per position
# labels     (B, L)      ->   (B * L,)
# ```
#
# By hand: log-probabilities `(B, L, V)`, those of the labels `(B, L)`, then a mean over
# the places where there is a label.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# price[b, t] = - log_softmax(logits[b, t])[label of b, t]
# loss = sum of the prices of real labels / number of real labels
# ```
#
# </details>


# %% exercise="sequence_reversal/masked_loss"
def masked_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Mean cross-entropy over the real tokens.

    Args:
        logits: unnormalised scores, shape `(B, L, V)`.
        labels: the right ids, shape `(B, L)`, int64; PAD where there is none.

    Returns:
        The loss, shape `()`.
    """
    ### BEGIN SOLUTION
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD)
    ### END SOLUTION


# %% check="sequence_reversal/masked_loss" points=7
# Looks at the loss and its gradient, for rows of very different lengths.
check("sequence_reversal/masked_loss", masked_loss)

# %% [markdown]
# Before any training, what should the loss be? A model that knows nothing gives each of
# `V` tokens the same probability, so the loss is $\log V$. For `V = 14` that is 2.64. A
# loss far above it at the start means confident nonsense; far below it means that the
# model has seen the answer. (And the prediction above? With padding counted, the loss
# would fall to 2 / 10 of that, to 0.53, while the model has learnt nothing but
# padding.)
#
# ## 4. Warm-up and cosine
#
# At first the weights are random, and so is the direction of each step. A large step is
# dangerous then. Later, large steps are what makes training fast. Near the end, small
# ones let it settle. So the learning rate should rise, stay high, and fall. In this
# unit it is `peak × factor(step)`:
#
# $$\operatorname{factor}(s) = \begin{cases}
# \dfrac{s + 1}{w} & s < w \quad\text{(warm-up)}\\[2ex]
# f + (1 - f)\,\dfrac{1 + \cos(\pi p)}{2},
# \quad p = \min\!\left(1, \dfrac{s - w}{n - w}\right)
# & s \ge w
# \end{cases}$$
#
# with $w$ warm-up steps, $n$ steps in all, and a small floor $f$. Steps count from 0,
# so the very first step already has a rate above zero. The cosine is the one of
# Loshchilov and Hutter 2017, *SGDR*, without restarts.
#
# ### Exercise 5.5 - the learning rate
#
# *time ~12 min · difficulty 2/5 · 7 points*
#
# **Why it matters.** After a warm-up and then a constant rate, the model of this unit
# ends its training somewhere between 69 and 91 % of right sequences (four seeds), and
# the number jumps from step to step. With the cosine it ends at 99.7 to 100 % (twenty).
#
# **What to do.** Return the factor above, as a number and not as a tensor. The steps of
# a training are `0 ... n - 1`, so the floor is reached one step after the last one, at
# `n`. It stays there.
#
# <details><summary>Hint 1: a question</summary>
#
# What are the factors of steps $0$, $w - 1$, $w$ and $n$ (the first step that is not
# taken any more)? Write down all four before you type.
#
# </details>
# <details><summary>Hint 2: the course of the numbers</summary>
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
#     squeeze the wave, so that it falls from 1 to the floor
# ```
#
# </details>


# %% exercise="sequence_reversal/learning_rate"
def rate_factor(step: int, warmup: int, steps: int, floor: float = 0.02) -> float:
    """The share of the peak learning rate at one step: warm-up, then cosine decay.

    Args:
        step: the number of the step, from 0 on; may be beyond the last one, steps - 1.
        warmup: steps of the linear warm-up, at least 1.
        steps: how many steps the training has, more than warmup.
        floor: the share that is left from step ``steps`` on.

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
# Looks at the whole curve, at its corners and beyond its end.
check("sequence_reversal/learning_rate", rate_factor)


# %%
@demo
def the_schedule():
    shares = [rate_factor(s, 50, 600) for s in range(700)]
    pictures.schedule(shares, warmup=50, steps=600)


# %% [markdown]
# ## 5. One training step, and many

# %%
drawing("training_step", "5.3", "One training step.")

# %% [markdown]
# Gradients *add up* in PyTorch until somebody clears them. And now and then one batch
# has a gradient that is far too large. **Clipping** shortens the gradient of all
# parameters together to a maximal length, and keeps its direction (Pascanu et al.
# 2013).
#
# ### Exercise 5.6 - one training step
#
# *time ~20 min · difficulty 3/5 · 8 points*
#
# **Why it matters.** Six short lines whose order matters. Most of the wrong orders
# still run.
#
# **What to do.** Put the model into training mode; it may stay there. Compute the loss
# with teacher forcing. Replace old gradients by new ones, shorten their common norm to
# at most `max_norm`, let the optimizer take one step. Return the loss as a Python
# float: the loss *before* the step. The loss comes from `loss_function(logits,
# labels)`, which is your `masked_loss` unless somebody gives another one (unit 6 will).
#
# <details><summary>Hint 1: a question</summary>
#
# When must the old gradients be gone: before or after `backward`? And at which moment
# do the gradients exist, but are not used yet, so that you can shorten them?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# source           (B, Ls)
# target           (B, L)     ->   decoder input and labels, (B, L - 1) each
# logits           (B, L - 1, V)
# loss             ()         ->   a float, which holds no graph in memory
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# training mode
# decoder input, labels = the shifted target
# loss = loss function of the model's logits and the labels
# clear the gradients, compute new ones, clip their norm
# one step of the optimizer
# the loss as a plain number
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
    source: Tensor,
    target: Tensor,
    max_norm: float = 1.0,
    loss_function: Callable[[Tensor, Tensor], Tensor] | None = None,
) -> float:
    """One step of training with teacher forcing.

    Args:
        model: called as `model(source, decoder_input)`, gives logits `(B, L - 1, V)`.
        optimizer: of the model's parameters.
        source: source rows, shape `(B, Ls)`.
        target: target rows with BOS and EOS, shape `(B, L)`.
        max_norm: the largest norm that the gradient of all parameters may have.
        loss_function: from logits `(B, L - 1, V)` and labels `(B, L - 1)` to the loss;
            None: masked_loss.

    Returns:
        The loss on this batch, before the step.
    """
    ### BEGIN SOLUTION
    model.train()
    decoder_input, labels = shift(target)
    loss = (loss_function or masked_loss)(model(source, decoder_input), labels)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item()
    ### END SOLUTION


# %% check="sequence_reversal/training_step" points=8
# Lets a scripted model take steps: what it is shown, its losses, its weights
# afterwards.
check("sequence_reversal/training_step", training_step)

# %% [markdown]
# ### Exercise 5.7 - the loop
#
# *time ~15 min · difficulty 2/5 · 6 points*
#
# **Why it matters.** This is the whole of training. All else in this notebook calls it.
#
# **What to do.** Take `steps` training steps. Before each of them, draw one **fresh**
# batch by calling `next_batch()` once, and set the learning rate to `peak ×
# rate_factor(step, warmup, steps)`; which of the two comes first is up to you. The peak
# is the rate that stands in the optimizer's groups when `fit` is called, the same in
# all of them. Hand `loss_function` on to each step. Return the losses, one float per
# step. You may show progress with `tqdm`; `watched(steps)` below says whether anybody
# looks.
#
# A learning rate stands in `optimizer.param_groups`, a list of dictionaries, under the
# key `"lr"`. You may also use `torch.optim.lr_scheduler.LambdaLR`.
#
# <details><summary>Hint 1: a question</summary>
#
# You set `group["lr"]` in each step. Where do you find the peak in the *second* step,
# if you have overwritten it in the first?
#
# </details>
# <details><summary>Hint 2: the course of a step</summary>
#
# ```text
# step s:   rate(s) is set   ->   next_batch()   ->   training_step   ->   losses[s]
# ```
#
# The rate of step `s` must be in place *before* the optimizer takes step `s`.
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
    """Whether a person may wait: not for a few steps, in grading or in a script."""
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
        next_batch: gives another source and target with each call.
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


# %% check="sequence_reversal/fit" points=6
# Logs every batch that is drawn, every learning rate that is used, and the losses.
check("sequence_reversal/fit", fit)

# %% [markdown]
# ## 6. Writing without a teacher: greedy decoding
#
# In use there is no right answer to feed. The decoder starts with BOS, says a token,
# gets it back as input, says the next one, and so on. Taking the most probable token
# each time is called **greedy** decoding.
#
# Sequences of one batch end at different times. A row that has said EOS is done. From
# then on it gets PAD, while the others write on:
#
# ```text
#           step 1   2    3    4    5
# row 0          9   5    7   EOS  PAD
# row 1          6  EOS  PAD  PAD  PAD          stops here, all by itself
# row 2          8   8    4    9   EOS          the last one: now the loop may end
# ```
#
# ### Exercise 5.8 - greedy decoding
#
# *time ~30 min · difficulty 4/5 · 10 points*
#
# **Why it matters.** A loss says how good the model is at continuing *right* answers.
# Decoding shows what it can do alone. The two can differ as much as 0.001 and 0 %.
#
# **What to do.** Decode all rows of a batch greedily. One after the other is right,
# too; together is faster.
# - Start with BOS. In each step, call `model(source, tokens so far)`, and for each row
#   take the most probable token of the **last** position.
# - After its EOS, a row gets PAD. A PAD that the model says before is a token like any
#   other, and stays. Stop as soon as all rows have said EOS, or after `max_len` tokens.
# - Return the tokens **without BOS**, with EOS and PAD.
# - Decode in evaluation mode and without gradients. Afterwards, leave all as you found
#   it: the mode of the model (the same in all its parts), what of it learns, and
#   whether gradients are recorded.
#
# <details><summary>Hint 1: a question</summary>
#
# The logits have shape `(B, T, V)`. One position holds the opinion about the token that
# is not there yet: which one? And which dimension do you take the argmax over?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# tokens      (B, 1)  ->  (B, 2)  ->  ...    starts as a column of BOS
# logits      (B, T, V)
# chosen      (B,)        one token per row
# done        (B,)        bool: which rows have said EOS, now or earlier
# returned    (B, T)      T is at most max_len
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# remember the mode; evaluation mode; no gradients
# tokens = a column of BOS; done = nobody
# at most max_len times:
#     chosen = argmax over the vocabulary, at the last position
#     rows that are done get PAD instead
#     append chosen as a column
#     note who has just said EOS; leave if everybody has
# back to the old mode; all columns but the first
# ```
#
# </details>


# %% exercise="sequence_reversal/greedy_decode"
def greedy_decode(model: nn.Module, source: Tensor, max_len: int) -> Tensor:
    """The most probable token again and again, until each row has said EOS.

    Args:
        model: called as `model(source, tokens)`, gives logits `(B, T, V)`.
        source: source rows, shape `(B, Ls)`.
        max_len: the largest number of tokens to write, EOS included.

    Returns:
        The tokens written, shape `(B, T)` with T <= max_len, int64: without BOS, with
        EOS, and PAD after it. T is as small as possible.
    """
    ### BEGIN SOLUTION
    was_training = model.training
    model.eval()
    tokens = source.new_full((source.size(0), 1), BOS)  # (B, 1)
    done = torch.zeros_like(tokens[:, 0], dtype=torch.bool)  # (B,)
    with torch.no_grad():
        for _ in range(max_len):
            chosen = model(source, tokens)[:, -1].argmax(dim=-1)  # (B,)
            chosen = chosen.masked_fill(done, PAD)
            tokens = torch.cat((tokens, chosen.unsqueeze(1)), dim=1)  # (B, T + 1)
            done |= chosen == EOS
            if done.all():
                break
    model.train(was_training)
    return tokens[:, 1:]
    ### END SOLUTION


# %% check="sequence_reversal/greedy_decode" points=10
# A scripted model knows what it will say, and logs what it is asked.
check("sequence_reversal/greedy_decode", greedy_decode)

# %% [markdown]
# ### Exercise 5.9 - exact match
#
# *time ~10 min · difficulty 2/5 · 6 points*
#
# **Why it matters.** "90 % of the tokens are right" sounds fine. For sequences of ten
# tokens it means that about one in three is right as a whole ($0.9^{10} \approx 0.35$).
#
# **What to do.** Return the share of rows that are right **as a whole**: the same
# tokens in the same places, the same EOS. Both tensors hold PAD after EOS; before it, a
# PAD is a wrong token, which a model may write like any other. The tensors may differ
# in width: a row decoded in a shorter batch has fewer PADs, and that is no mistake.
#
# <details><summary>Hint 1: a question</summary>
#
# `decoded` has 4 columns and `labels` has 7. A row can be right all the same: what must
# stand in the columns 4, 5 and 6 of its labels?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# decoded (B, T)     labels (B, L)
# both brought to one width        (B, max(T, L))
# equal?                           (B, width)    bool
# right as a whole?                (B,)          bool
# the share                        one float
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# width = the larger of the two widths
# fill both with PAD up to it
# a row is right if all its places agree
# the mean over rows
# ```
#
# </details>


# %% exercise="sequence_reversal/exact_match"
def exact_match(decoded: Tensor, labels: Tensor) -> float:
    """The share of rows that are right from the first token to EOS.

    Args:
        decoded: what was written, shape `(B, T)`: tokens, EOS, PAD.
        labels: what is right, shape `(B, L)`: tokens, EOS, PAD.

    Returns:
        A float between 0 and 1.
    """
    ### BEGIN SOLUTION
    width = max(decoded.size(1), labels.size(1))
    decoded, labels = (
        F.pad(rows, (0, width - rows.size(1)), value=PAD) for rows in (decoded, labels)
    )  # (B, width) each
    return (decoded == labels).all(dim=1).double().mean().item()
    ### END SOLUTION


# %% check="sequence_reversal/exact_match" points=6
# Looks at rows that are almost right, and at tensors of different widths.
check("sequence_reversal/exact_match", exact_match)

# %% [markdown]
# ## 7. It learns
#
# All parts are there. The model is small: 32 features, 2 heads, one layer on each side,
# about 23 thousand numbers. Two decisions in `new_model` are worth a look.
#
# - **Pre-norm** (`norm_first=True`): from unit 4 you know that it trains more easily.
# - **Small embeddings.** The model multiplies embeddings by $\sqrt{d_{model}}$. PyTorch
#   draws them with standard deviation 1, so after scaling they would be 5.7 and drown
#   the positions, which lie between -1 and 1. We draw them with $1/\sqrt{d_{model}}$
#   instead. Then word and place speak equally loudly. For a task that is all about
#   *places*, this decides: with the loud embeddings, the training below ends near 60 %;
#   with the small ones at 100 %.
#
# ### Exercise 5.10 - the trained model
#
# *time ~20 min, 10 seconds of them for the computer · difficulty 3/5 · 12 points*
#
# **Why it matters.** This is the test of everything above: random sequences that your
# model has never seen, drawn anew when your work is graded.
#
# **What to do.** Return a model that reverses sequences of length 1 to 10 over the ten
# digits. Train it: `new_model()`, an AdamW optimizer, your `fit` on fresh random
# batches. Make it **reproducible**: the same `seed` gives the same model.
#
# The cell below saves the weights in `reversal.safetensors`. If that file lies beside
# the notebook, load it instead of training (`load_model` is imported from
# `safetensors`): this saves you time, and has no points.
#
# A recipe that works: batches of 32, 350 steps, 70 of them warm-up, peak rate 0.02,
# `betas=(0.9, 0.98)`. AdamW with `fused=True` is faster on models this small.
#
# **How it is graded.** The check takes the weights out of your model, puts them into a
# `new_model()` of its own, decodes greedily and counts exact matches on three kinds of
# random sequences. Full points from 98 % on (88 % where only two or three symbols
# occur), a part of them from 30 % on. So keep the sizes of `new_model`; what counts is
# what the weights have learnt.
#
# <details><summary>Hint 1: a question</summary>
#
# Two things are random here: the first weights and the data. Which two generators must
# be seeded, and *before* which lines?
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
# if the file is there:  load it, return the model
# a random.Random of its own, with the same seed
# the optimizer, with the peak rate
# fit: each batch made of 32 new random sequences
# ```
#
# If exact match stays low, look at the loss first: it should fall below 0.01.
#
# </details>


# %% exercise="sequence_reversal/trained_model"
def new_model(vocab_size: int = 14) -> nn.Module:
    """An untrained Transformer for this unit: small, pre-norm, quiet embeddings."""
    d_model = 32
    model = encoder_decoder.Transformer(
        vocab_size, vocab_size, d_model, num_heads=2, num_layers=1, d_ff=64,
        norm_first=True,
    )  # fmt: skip
    for module in model.modules():
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=d_model**-0.5)
    return model


def trained_model(seed: int = 0, weights: str = "reversal.safetensors") -> nn.Module:
    """A model that reverses sequences of digits: loaded from a file, or else trained.

    Args:
        seed: of the first weights and of the training data.
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
# Train it now. The weights are saved beside the notebook, so nobody has to wait twice.
# Hand in the file `reversal.safetensors` with your notebook, and it is graded as it is;
# without the file, your function trains once more in grading. **After you have changed
# something,** set `TRAIN_ANEW = True` or delete the file: else you will go on looking
# at the old model.

# %%
TRAIN_ANEW = False
WEIGHTS = Path("reversal.safetensors")


def held_out(count: int, longest: int = 10) -> tuple[Tensor, Tensor]:
    """Fresh random sequences from a seed that no training uses."""
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
    decoded = greedy_decode(model, source, max_len=11)
    score = exact_match(decoded, target[:, 1:])
    print(f"weights {origin}, {seconds:.1f} CPU seconds")
    print(f"exact match on 500 new sequences: {score:.2%}")
    for reads, writes in zip(source[:4], decoded, strict=False):
        print(f"  {spelled(reads):<26} → {spelled(writes)}")


# %% check="sequence_reversal/trained_model" points=12
# Decodes random sequences with your model, and counts those that are right as a whole.
check("sequence_reversal/trained_model", trained_model)

# %% [markdown]
# How did it get there? We train once more, and keep a diary. `fit` asks for a new batch
# in every step, so the function that makes the batches can also look at the clock.
#
# **Predict first.** Three curves: the loss; the share of right *tokens* when the model
# is fed the right beginning; the share of right *sequences* when it writes alone. Which
# of the two shares rises first?


# %% folded=true
# @title A training run with a diary: step, token accuracy, exact match
DIARY: list[tuple[int, float, float]] = []
KEPT: dict[int, dict[str, Tensor]] = {}  # the weights at each entry of the diary


def train(
    model: nn.Module, sequences: Callable, steps: int, every: int = 0
) -> tuple[list[float], list[tuple]]:
    """Losses, and a diary (step, token accuracy, exact match), of a training run."""
    source, target = held_out(200)
    diary, count = [], 0

    def next_batch() -> tuple[Tensor, Tensor]:
        nonlocal count
        if every and count % every == 0:
            diary.append((count, token_accuracy(model, source, target),
                          reversal_score(model, source, target)))  # fmt: skip
            KEPT[count] = {n: v.clone() for n, v in model.state_dict().items()}
        count += 1
        return make_batch(sequences())

    adamw = torch.optim.AdamW(model.parameters(), 1e-2, (0.9, 0.98), fused=True)
    return fit(model, adamw, next_batch, steps, warmup=steps // 10), diary


def token_accuracy(model: nn.Module, source: Tensor, target: Tensor) -> float:
    """The share of right next tokens if all tokens before are given, and right."""
    given, labels = shift(target)
    with torch.no_grad():
        best = model.eval()(source, given).argmax(dim=-1)  # (B, L - 1)
    real = labels != PAD
    return (best == labels)[real].double().mean().item()


def reversal_score(model: nn.Module, source: Tensor, target: Tensor) -> float:
    """Exact match of greedy decoding."""
    labels = shift(target)[1]
    return exact_match(greedy_decode(model, source, labels.size(1)), labels)


# %%
@demo
def the_diary():
    rng = random.Random(1)
    torch.manual_seed(1)
    model = new_model()
    losses, diary = train(model, lambda: random_sequences(64, rng), 400, every=20)
    DIARY[:] = diary
    pictures.diary(losses, diary)


# %% [markdown]
# Tokens first, whole sequences later: while one token in ten is wrong, only about half
# of the sequences are right. And the model had a teacher for the first curve, and none
# for the second.
#
# ## 8. The demo that fools everybody
#
# Same model, same code, nearly as many steps. Only the data change: now each sequence
# is a **run** of consecutive numbers below 100, like `17 18 19 20`, of length 1 to 10.
# There are 107 different ones in the training data. This is, in essence, a reversal
# demo that has been shown in lectures.
#
# **Predict first**, and write the four numbers down:
# 1. the loss at the end;
# 2. exact match on the training sequences;
# 3. exact match on *other* runs, which were not in the training data;
# 4. exact match on random numbers from the same range.


# %%
def runs(count: int, rng: random.Random) -> list[list[int]]:
    """Different runs of consecutive ids of length 1 to 10, below 100 symbols."""
    every = [
        list(range(FIRST + start, FIRST + start + length))
        for length in range(1, 11)
        for start in range(101 - length)
    ]
    return rng.sample(every, count)


@demo
def memorised_or_learnt():
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
        print(f"{name:<38} {reversal_score(model, *make_batch(rows)):.1%}")
    reads, _ = make_batch([[30, 71, 12, 55]])
    print("for example", spelled(reads[0]), "→",
          spelled(greedy_decode(model, reads, 11)[0]))  # fmt: skip


# %% [markdown]
# The loss says "perfect". The training data say "perfect". But the model has learnt a
# list, and from it "count downwards", not "reverse". Whoever tests on the training
# data, or prints one lucky example, will never notice. Three habits protect you:
#
# - test on data from a **different draw**, and on data that only the right rule
#   explains;
# - count **whole** sequences that the model wrote **alone**;
# - count how many *different* examples there are. A thousand rows may be 107.
#
# *Question in words (3 points).* A friend trains a reversal model. The loss is 0.001.
# She decodes ten training sequences, and all are right. On random sequences the model
# scores 0 %. She says: "I need more epochs." In three to four sentences: what has the
# model learnt, why can neither the loss nor more epochs show or cure it, and which
# single change would you make?
#
# *What a full answer has: what was learnt (1), why the loss is blind to it (1), a
# change of the data (1).*

# %% [markdown] written="sequence_reversal/memorised" points=3
# *Your answer here*
#
# ### BEGIN SOLUTION
# The model has learnt its training sequences (or an accidental rule that fits them,
# such as counting down), not to reverse. The loss is measured on those very sequences,
# so for it a list learnt by heart is as good as the rule; it is almost zero already,
# and more epochs can only polish the list. I would draw fresh random sequences for each
# batch, so that no list can help, and judge by exact match on sequences that were held
# out.
# ### END SOLUTION

# %% [markdown]
# ## 9. Take something away
#
# A part is best understood by its absence. Here are three switches. Each takes one
# thing away from the *same* model, for training and for decoding alike, by a **hook**.
# In unit 4 hooks only listened. But what a hook returns takes the place of what went in
# (a *pre-hook*) or came out.
#
# **Predict first.** For each switch: will the loss be small? Will exact match be high?
#
# | switch | small loss? | high exact match? |
# |---|---|---|
# | no positions | | |
# | no causal mask | | |
# | no scaling by $\sqrt{d_k}$ | | |


# %%
def layers_named(model: nn.Module, ending: str) -> list[nn.Module]:
    """The parts of a model whose name ends so."""
    return [layer for name, layer in model.named_modules() if name.endswith(ending)]


def without_positions(model: nn.Module) -> None:
    """All tables of positions are zero."""
    for name, table in model.named_buffers():
        if name.endswith("pe"):
            table.zero_()


def without_causal_mask(model: nn.Module) -> None:
    """The decoder's self-attention sees all positions, future ones too."""
    def without_mask(layer, given, named):
        return given[:3], {n: value for n, value in named.items() if n != "mask"}

    for layer in layers_named(model, "self_attention"):
        layer.register_forward_pre_hook(without_mask, with_kwargs=True)


class FourTimes(nn.Module):
    """What others see of a weight."""

    def forward(self, weight: Tensor) -> Tensor:
        return 4.0 * weight


def without_scaling(model: nn.Module) -> None:
    """Scores are not divided by the root of d_k: its factor is put into the queries."""
    for projection in layers_named(model, "w_q"):
        for name in ("weight", "bias"):
            register_parametrization(projection, name, FourTimes())


SWITCHES = {
    "everything": lambda model: None,
    "no positions": without_positions,
    "no causal mask": without_causal_mask,
    "no scaling": without_scaling,
}


# %%
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
        scores[name] = reversal_score(model, source, target)
        final[name] = sum(losses[-20:]) / 20
    pictures.ablations(final, scores)


# %% [markdown]
# - **No positions.** The encoder sees a *bag* of symbols. It may know which symbols
#   there are, but not their order. Only very short sequences can be right.
# - **No causal mask.** The best loss of all, and nothing works. In training, the label
#   of position `t` stands in the input, at position `t + 1`. The model learns to copy
#   it from there. When it has to write alone, there is nothing to copy.
# - **No scaling.** It hardly matters here: each head has only $d_k = 16$, and training
#   adapts. Honest experiments also show what does *not* matter. Try it with one head
#   of 512.
#
# ## 10. How far does it reach?
#
# The model has been trained on lengths 1 to 10, and is right every time. It has surely
# understood reversal?
#
# **Predict first.** Draw a curve: exact match for lengths 1 to 14.


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
        scores.append(reversal_score(model, source, target))
    pictures.cliff(lengths, scores, longest=10)


# %% [markdown]
# A cliff. Position 11 has never had a symbol in training, so the vector of that place
# is noise to the model. It has learnt reversal *of lengths 1 to 10*, not reversal. More
# layers or more steps do not help; training on longer sequences does, or positions that
# count from the end, or relative ones (Press et al. 2022; Kazemnejad et al. 2023).
# Nothing in the held-out score above would have told you: it was drawn from the same
# lengths. **A test shows what it tests.**
#
# ## 11. Look inside: the anti-diagonal
#
# To write the first token, the decoder should look at the last symbol; for the second,
# at the last but one. In the map of the cross-attention, with decoder positions down
# and source positions across, that is a line from top right to bottom left. Is it
# there?


# %%
def cross_attention_map(
    model: nn.Module, source: Tensor, decoder_input: Tensor
) -> Tensor:
    """The weights of the last decoder layer's cross-attention, `(B, h, Lt, Ls)`."""
    last = layers_named(model, "cross_attention")[-1:]
    return encoder_decoder.attention_weights(
        model.eval(), last, source, decoder_input
    )[0]


# %%
@demo
def the_map():
    model = trained_model()
    source, target = make_batch([[FIRST + d for d in (3, 1, 4, 1, 5, 9, 2, 6)]])
    given, labels = shift(target)
    maps = cross_attention_map(model, source, given)[0]  # (h, Lt, Ls)
    reads, writes = spelled(source[0]).split(), spelled(labels[0]).split()
    pictures.cross_attention(maps, reads, writes)


# %% [markdown]
# Watch it write. The upper sequence has length 8; the lower one has length 11, beyond
# the cliff. **Predict first:** at which token does the lower one go wrong, the first or
# the last?


# %%
@demo
def token_by_token():
    model, trials = trained_model(), []
    for digits in ("31415926", "31415926535"):
        source, target = make_batch([[FIRST + int(d) for d in digits]])
        wrote = greedy_decode(model, source, max_len=len(digits) + 1)
        given = torch.cat([target[:, :1], wrote[:, :-1]], dim=1)  # its own tokens
        weights = cross_attention_map(model, source, given)[0].amax(0)  # of any head
        rows = (source[0], target[0, 1:], wrote[0])
        trials.append((*(spelled(row).split() for row in rows), weights))
    pictures.token_by_token(trials)


# %% [markdown]
# At length 8 the brightest symbol moves from right to left, one index per token. At
# length 11 it moves as well, but it loses its place: from some token on (the third, on
# our machine) it attends to a neighbour of the symbol that it needs, skips or repeats
# one, and ends at the wrong moment.
#


# %% [markdown]
# ### Exercise 5.11 - from a picture to a number
#
# *time ~12 min · difficulty 3/5 · 4 points*
#
# **Why it matters.** One pretty map proves nothing. A number over many sequences does.
#
# **What to do.** Given the weights of one head, return the share of steps whose
# *largest* weight lies on the anti-diagonal. For a sequence of `n` symbols, step `t`
# (from 0 to `n - 1`) should look at symbol `n - 1 - t`. Count the steps of real symbols
# only: neither that of EOS nor padding. All steps of the batch weigh the same.
#
# <details><summary>Hint 1: a question</summary>
#
# Where is the last symbol in a row of `Ls` places, of which EOS and padding take the
# last few? Is that place the same in each row of the batch?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# weights            (B, Lt, Ls)
# largest, where     (B, Lt)        a place in the source
# wanted             (B, Lt)        n - 1 - t, with another n in each row
# counts             (B, Lt)        bool: t < n
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# for each row b, for each step t below lengths[b]:
#     hit if the largest of weights[b, t] stands at lengths[b] - 1 - t
# hits / steps
# ```
#
# </details>


# %% exercise="sequence_reversal/antidiagonal_share"
def antidiagonal_share(weights: Tensor, lengths: Tensor) -> float:
    """How often the largest weight lies on the anti-diagonal.

    Args:
        weights: cross-attention weights of one head, shape `(B, Lt, Ls)`.
        lengths: the number of symbols in each source row, shape `(B,)`, int64: without
            EOS and padding; less than Lt and Ls.

    Returns:
        The share of the steps t < lengths[b], over the whole batch, with the largest
        weight at lengths[b] - 1 - t.
    """
    ### BEGIN SOLUTION
    steps = torch.arange(weights.size(1))  # (Lt,)
    wanted = lengths.unsqueeze(1) - 1 - steps  # (B, Lt), negative after the last symbol
    hits = (weights.argmax(dim=-1) == wanted)[wanted >= 0]
    return hits.double().mean().item()
    ### END SOLUTION


# %% check="sequence_reversal/antidiagonal_share" points=4
# Looks at maps whose share is known, with rows of different lengths.
check("sequence_reversal/antidiagonal_share", antidiagonal_share)


# %%
@demo
def the_share():
    model = trained_model()
    source, target = held_out(500)
    lengths = (source != PAD).sum(dim=1) - 1  # EOS is no symbol
    maps = cross_attention_map(model, source, shift(target)[0])  # (B, h, Lt, Ls)
    for head in range(maps.size(1)):
        share = antidiagonal_share(maps[:, head], lengths)
        print(f"head {head}: {share:.1%} of all steps look at the right place")


# %% [markdown]
# How did that line come about? Here are the maps of the training run from section 7, at
# some of the steps in its diary.


# %%
@demo
def birth_of_the_antidiagonal():
    source, target = make_batch([[FIRST + d for d in (3, 1, 4, 1, 5, 9, 2, 6)]])
    given, labels = shift(target)
    model, lengths, maps, shares = new_model(), torch.tensor([8]), {}, {}
    for step in list(KEPT)[::3]:
        model.load_state_dict(KEPT[step])
        maps[step] = cross_attention_map(model, source, given)[0]  # (h, Lt, Ls)
        shares[step] = [antidiagonal_share(m[None], lengths) for m in maps[step]]
    reads, writes = spelled(source[0]).split(), spelled(labels[0]).split()
    pictures.birth(maps, shares, DIARY, reads, writes)


# %% [markdown]
# Heads may divide the work, and another seed divides it differently. A head with a low
# share is not idle: it may look one place beside, and the layers after it can use that
# as well.
#
# ## 12. Why attention at all?
#
# Before 2015, sequences became sequences by two *recurrent* networks (Sutskever et al.
# 2014; Cho et al. 2014). One reads symbol by symbol and updates a state. The other
# starts from the **last** state and writes. Between the two passes one vector of fixed
# length, and nothing else.

# %%
drawing("bottleneck", "5.10", "One vector for everything, and a look back at all.")

# %% [markdown]
# Here is such a pair, made of PyTorch's `nn.GRU`, with a few more parameters than our
# Transformer. Your `fit` trains it by the same recipe, on the same kind of data.
#
# **Predict first.** Draw its exact match over the lengths 1 to 10 into the same axes as
# the Transformer's. Where do the two part?


# %%
class WithoutAttention(nn.Module):
    """An encoder-decoder of two recurrent networks, called like our Transformer."""

    def __init__(self, vocab_size: int = 14, d_model: int = 32, width: int = 48):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model, padding_idx=PAD)
        self.encoder = nn.GRU(d_model, width, batch_first=True)
        self.decoder = nn.GRU(d_model, width, batch_first=True)
        self.output = nn.Linear(width, vocab_size)

    def forward(self, source: Tensor, decoder_input: Tensor) -> Tensor:
        read = nn.utils.rnn.pack_padded_sequence(
            self.embedding(source), (source != PAD).sum(1),
            batch_first=True, enforce_sorted=False,
        )  # fmt: skip
        _, state = self.encoder(read)  # (1, B, width): all that the decoder gets
        states, _ = self.decoder(self.embedding(decoder_input), state)
        return self.output(states)  # (B, Lt, V)


# %%
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
        scores[label] = [reversal_score(model, *row) for row in rows]
    pictures.with_and_without(lengths, scores)


# %% [markdown]
# For three seeds we measured at least 0.99 up to length 3, about 0.9 at length 5, 0.65
# at 6, 0.2 at 8, and 0.03 at 10, where the Transformer stays at 0.99 or 1.00. It is not
# that the vector *could* not hold ten digits: with three times the steps, the GRUs get
# to 0.5 at length 10. But everything has to be packed into it and taken out again, and
# the longer the input, the harder that is to learn.
#
# Bahdanau, Cho and Bengio (2015) saw that translations by such pairs got worse with the
# length of the sentence, and blamed the one vector. They let the decoder look back in
# each step at *all* states of the encoder, with weights from a small network that
# compares its own state with each of them: attention, trained along with the rest. Long
# sentences came out about as well as short ones, and the weights drew, for every
# translation, a map of which word came from where. (Two years later the Transformer
# kept the attention and dropped the recurrence: that is its title.)
#
# *Question in words (3 points).* "You need no attention," says a friend, "you need a
# larger vector." Say in three to four sentences: what must the vector do as sequences
# get longer, how does attention get around that, and what does attention pay for it?
#
# *What a full answer has: one fixed size for any length (1), with attention what is
# kept grows with the source (1), the price in comparisons or memory (1).*

# %% [markdown] written="sequence_reversal/bottleneck" points=3
# *Your answer here*
#
# ### BEGIN SOLUTION
# The vector has the same size for two symbols and for a thousand, so ever more must be
# packed into it and taken out again in the right order; a larger vector moves the limit
# and does not remove it. With attention the encoder keeps one vector for each position:
# what is kept grows with the source, and each step of the decoder takes from it what it
# needs. The price: all these vectors stay in memory, and each of Lt steps is compared
# with each of Ls positions, Lt · Ls scores (and L · L in self-attention).
# ### END SOLUTION

# %% [markdown]
# ## 13. Words
#
# To the model, a symbol is a number. So it can reverse sentences word by word, once
# words have numbers.
#
# ### Exercise 5.12 - numbers for words
#
# *time ~8 min · difficulty 1/5 · 4 points*
#
# **Why it matters.** Every language model begins with such a table. Unit 6 builds a
# better one.
#
# **What to do.** Split each sentence at white space. Give each *different* word one id,
# from `FIRST` on, without gaps, in the order in which the words first appear. Upper and
# lower case differ, and a comma belongs to the word that it follows.
#
# <details><summary>Hint 1: a question</summary>
#
# A word comes for the second time. What should happen to the counter?
#
# </details>
# <details><summary>Hint 2: an example</summary>
#
# ```text
# ["the cat sees", "the dog"]   ->   {"the": 4, "cat": 5, "sees": 6, "dog": 7}
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# an empty dictionary
# for each sentence, for each of its words:
#     if it is new: its id is FIRST + how many words we know so far
# ```
#
# </details>


# %% exercise="sequence_reversal/word_ids"
def word_ids(sentences: Sequence[str]) -> dict[str, int]:
    """An id for each word, in the order of first appearance.

    Args:
        sentences: texts whose words are separated by white space.

    Returns:
        From words to FIRST, FIRST + 1, ...
    """
    ### BEGIN SOLUTION
    ids: dict[str, int] = {}
    for sentence in sentences:
        for word in sentence.split():
            ids.setdefault(word, FIRST + len(ids))
    return ids
    ### END SOLUTION


# %% check="sequence_reversal/word_ids" points=4
# Looks at repeated words, capital letters, punctuation and odd spaces.
check("sequence_reversal/word_ids", word_ids)

# %% [markdown]
# **Write your own sentences** of up to ten words into the next cell, in any language.
#
# And now mind the lesson of section 8. We do *not* train on these sentences. We train
# on random strings of their words. Your sentences are the test.

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
    decoded = greedy_decode(model, make_batch(mine)[0], max_len=11)
    for text, row in zip(MY_SENTENCES, decoded.tolist(), strict=True):
        written = " ".join(words.get(i, "") for i in row).strip()
        mark = "✓" if written.split() == text.split()[::-1] else "✗"
        print(f"{mark} {text}\n    → {written}")


# %% [markdown]
# ## 14. A model that writes
#
# So far there was one right answer. A **language model** has none: it continues a text,
# and many continuations are good. Unit 4 gave the model, `LanguageModel(...,
# causal=True)`: one stack, no source, a causal mask. It is asked the question that you
# know, *what comes next?*, and your `shift`, `masked_loss` and `fit` train it as they
# are. What is new is how to *choose* the next token.
#
# Always the most probable one? The result is one text, and a dull one: it loves what is
# frequent, and it repeats itself (Holtzman et al. 2020). So we **draw** the next token
# from the model's distribution, and three dials say how boldly.
#
# - **Temperature** $T$: the logits are divided by it before the softmax. Below 1, the
#   likely gets likelier; above 1, all get more alike.
# - **Top-k**: only the $k$ most probable tokens stay.
# - **Top-p** (*nucleus*): only the smallest set of most probable tokens stays whose
#   probabilities sum to at least $p$. When the model is sure, that is one token; when
#   it is not, it is many.
#
# What is cut off gets probability zero, and the rest is scaled up until it sums to 1
# again.
#
# **Predict first.** Probabilities 0.5, 0.3, 0.15, 0.05. What is left with $k = 3$? With
# $p = 0.79$? With $p = 0.81$? And what becomes of them as $T$ goes to 0?
#
# ### Exercise 5.13 - from logits to chances
#
# *time ~20 min · difficulty 3/5 · 9 points*
#
# **Why it matters.** These three dials stand beside every large language model. Two
# models with the same weights can sound like a clerk and like a poet.
#
# **What to do.** Return the probabilities from which the next token is to be drawn.
# First divide by the temperature. Then, if `top_k` is given, keep the `top_k` most
# probable tokens (all, if there are fewer). Then, if `top_p` is given, keep the
# smallest set of most probable ones that has at least the share `top_p` of what the
# step before left. At least one token always stays. Each row is treated by itself;
# nothing is drawn here. No two logits of a row are equal, except `-inf`: such a token
# is forbidden, and stays at zero.
#
# <details><summary>Hint 1: a question</summary>
#
# Sort a row, the most probable first. A token stays if the sum of those *before* it is
# still below `top_p`. Which token does that rule always keep? And where in the row did
# each token stand before you sorted?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# logits            (..., V)
# sorted, places    (..., V)     torch.sort gives both
# sum before        (..., V)     cumsum, minus the token's own share
# stays             (..., V)     bool, in sorted order: scatter or gather brings it back
# probabilities     (..., V)
# ```
#
# A logit of `-inf` is a probability of exactly 0.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# refuse a temperature that is not above 0
# scores = logits / temperature
# if top_k: scores below the k-th largest of their row become -inf
# if top_p: p = softmax of the scores, sorted, the largest first
#           drop a token if the sum before it has reached top_p
#           bring "drop" back into the old order; those scores become -inf
# softmax of what is left
# ```
#
# </details>


# %% exercise="sequence_reversal/sampling_distribution"
def sampling_distribution(
    logits: Tensor,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Tensor:
    """The probabilities from which the next token is drawn.

    Args:
        logits: scores of the vocabulary, shape `(..., V)`; must not be changed.
        temperature: above 0; the logits are divided by it.
        top_k: how many tokens stay, at least 1; None: all.
        top_p: what share of probability must stay, above 0 and at most 1; None: all.

    Returns:
        Probabilities of the same shape; each row sums to 1, what is cut off has 0.

    Raises:
        ValueError: the temperature is 0 or negative.
    """
    ### BEGIN SOLUTION
    if temperature <= 0:
        raise ValueError(f"the temperature must be above 0, not {temperature}")
    scores = logits / temperature  # (..., V)
    if top_k is not None:
        least = scores.topk(min(top_k, scores.size(-1)), dim=-1).values[..., -1:]
        scores = scores.masked_fill(scores < least, -math.inf)
    if top_p is not None:
        shares, places = scores.softmax(dim=-1).sort(dim=-1, descending=True)
        before = shares.cumsum(dim=-1) - shares  # (..., V), of all more probable ones
        dropped = torch.zeros_like(before, dtype=torch.bool)
        dropped = dropped.scatter(-1, places, before >= top_p)
        scores = scores.masked_fill(dropped, -math.inf)
    return scores.softmax(dim=-1)
    ### END SOLUTION


# %% check="sequence_reversal/sampling_distribution" points=9
# Looks at each dial alone, at all of them together, at batches, and at the logits
# afterwards.
check("sequence_reversal/sampling_distribution", sampling_distribution)

# %% [markdown]
# Was your prediction right? (With $p = 0.79$ the first two are enough; 0.81 needs the
# third.)


# %%
@demo
def three_dials():
    logits = torch.tensor([0.5, 0.3, 0.15, 0.05]).log()
    for dials in (
        {}, {"top_k": 3}, {"top_p": 0.79}, {"top_p": 0.81},
        {"temperature": 0.5}, {"temperature": 0.1}, {"temperature": 10.0},
    ):  # fmt: skip
        shares = sampling_distribution(logits, **dials)
        name = ", ".join(f"{k} = {v}" for k, v in dials.items()) or "as it is"
        print(f"{name:<18}", " ".join(f"{share:.3f}" for share in shares.tolist()))


# %% [markdown]
# ### How good is a text that nobody can mark?
#
# Show the model a text that it has never seen, and look at the price per token, $-\log
# p$, that your loss measures. Averaged over all real tokens of the text, that is its
# *cross-entropy* in **nats** (the unit that belongs to the natural logarithm). Its
# exponential is the **perplexity**:
#
# $$\operatorname{perplexity} = \exp\Big(-\frac1N \sum_{n=1}^{N} \log p_n\Big)$$
#
# Read it as a number of tokens: a perplexity of 13 means that the model is on average
# as unsure as if it threw a die with 13 sides.
#
# **Predict first.** What is the perplexity of a model that knows nothing, with $V$
# tokens? What is the smallest that there can be?
#
# ### Exercise 5.14 - perplexity
#
# *time ~12 min · difficulty 2/5 · 4 points*
#
# **Why it matters.** It is the number by which language models have been compared for
# fifty years. It depends on what counts as a token, and on what is averaged over.
#
# **What to do.** You get the logits and labels of several batches, of different sizes.
# Return the mean price per real token, in nats, and its exponential. **All real tokens
# of all batches weigh the same**; PAD does not count. Go through the batches once: they
# may come from a generator.
#
# <details><summary>Hint 1: a question</summary>
#
# One batch has 3 real tokens that cost 4 nats each, the other has 97 that cost 1. What
# is the mean price? And is the exponential of a mean the mean of the exponentials?
#
# </details>
# <details><summary>Hint 2: the parts</summary>
#
# ```text
# masked_loss(logits, labels)      the mean price in ONE batch
# (labels != PAD).sum()            how many tokens that mean stands for
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# total, count = 0, 0
# for each batch:
#     total grows by the sum of the prices, count by the number of real tokens
# nats = total / count
# return nats and e to the nats
# ```
#
# </details>


# %% exercise="sequence_reversal/perplexity"
def perplexity(batches: Iterable[tuple[Tensor, Tensor]]) -> tuple[float, float]:
    """How unsure a model is about a text, per real token.

    Args:
        batches: pairs of logits `(B, L, V)` and labels `(B, L)`, int64, PAD where there
            is none; B and L differ from batch to batch. A batch may hold no real
            label at all, but not all of them.

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


# %% check="sequence_reversal/perplexity" points=4
# Looks at both numbers, for batches of very different sizes and prices.
check("sequence_reversal/perplexity", perplexity)

# %% [markdown]
# Now a text. The course has a grammar of its own that writes English sentences (unit 6
# lives on it). 20,000 of them are our training data; words and signs are numbered by
# your `word_ids`. (`▁` stands for the space in front of a piece.) The sentences that
# measure the perplexity were never in training: not their words in this order, and not
# who does what in them.


# %%
def numbered(sentences: Sequence[str], ids: dict[str, int]) -> list[list[int]]:
    """Sentences as ids; a piece that has none is unknown."""
    return [[ids.get(piece, UNK) for piece in pieces(text)] for text in sentences]


def rows_of(sequences: Sequence[list[int]]) -> Tensor:
    """BOS, the ids, EOS, and padding: `(B, n + 2)`."""
    rows = [torch.tensor([BOS, *ids, EOS]) for ids in sequences]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)


class Writer(nn.Module):
    """A decoder-only model, called like the others: it looks at no source."""

    def __init__(self, vocab_size: int, d_model: int = 64):
        super().__init__()
        self.model = encoder_decoder.LanguageModel(
            vocab_size, d_model, num_heads=4, num_layers=2, d_ff=128, causal=True
        )
        nn.init.normal_(self.model.input.embedding.weight, std=d_model**-0.5)

    def forward(self, source: object, decoder_input: Tensor) -> Tensor:
        return self.model(decoder_input)  # (B, Lt, V)


def write(
    model: nn.Module, count: int, generator: torch.Generator, longest: int = 30, **dials
) -> Tensor:
    """Drawn texts `(count, T)`: without BOS, with EOS where there is one, then PAD."""
    tokens = torch.full((count, 1), BOS)
    done = torch.zeros(count, dtype=torch.bool)
    with torch.no_grad():
        while tokens.size(1) <= longest and not done.all():
            chances = sampling_distribution(model(None, tokens)[:, -1], **dials)
            drawn = torch.multinomial(chances, 1, generator=generator)[:, 0]  # (B,)
            drawn = drawn.masked_fill(done, PAD)
            tokens = torch.cat((tokens, drawn[:, None]), dim=1)
            done |= drawn == EOS
    return tokens[:, 1:]


@demo
def a_model_that_writes():
    texts = corpora.generate("writer", 20_000)
    ids = word_ids([" ".join(pieces(text)) for text in texts])
    rows = numbered(corpora.generate("writer", 20_000), ids)
    unseen = rows_of(numbered(corpora.generate("reader", 500, "test"), ids))
    rng = random.Random(7)
    torch.manual_seed(7)
    model = Writer(FIRST + len(ids))
    given, labels = shift(unseen)

    def measure() -> str:
        with torch.no_grad():
            nats, perplexed = perplexity([(model.eval()(None, given), labels)])
        return f"{nats:.2f} nats a token, perplexity {perplexed:,.1f}"

    print(f"before training: {measure()}")
    adamw = torch.optim.AdamW(model.parameters(), 5e-3, (0.9, 0.98), fused=True)
    fit(model, adamw, lambda: [rows_of(rng.sample(rows, 48))] * 2, 800, warmup=80)
    print(f"after training:  {measure()}")
    names = {number: piece for piece, number in ids.items()}
    for dials in ({"temperature": 0.3}, {"temperature": 1.0}, {"temperature": 1.6},
                  {"temperature": 1.6, "top_p": 0.8}):  # fmt: skip
        print("\n" + ", ".join(f"{name} {value}" for name, value in dials.items()))
        generator = torch.Generator().manual_seed(3)
        for row in write(model, 4, generator, **dials).tolist():
            print("   ", glue([names.get(i, "") for i in row]))


# %% [markdown]
# At a low temperature the sentences are right and alike; at 1 they are as varied as the
# text that the model has read; well above 1 grammar gives way, and top-p takes the
# worst of it back. Run the cell again with another seed for the generator: the same
# model, other texts. With the *same* seed you get the same text, word by word. That is
# why `write` is handed its generator, and uses no other chance.
#
# A perplexity before training near $V$, and about 9 at the end: the grammar chooses
# among many words at most places, so no model can reach 1. And a number of one
# tokenizer says nothing beside that of another: with syllables for tokens it would be
# smaller, and the text no better.

# %% [markdown]
# ## 15. A stretch: do not compute anything twice
#
# Greedy decoding, as you wrote it, feeds *all* tokens so far in each step. But under a
# causal mask the keys and values of old positions never change. Compute them once, keep
# them in a **cache**, and feed only the newest token: `T` positions in all, instead of
# $1 + 2 + \dots + T$.
#
# ```text
# step 3, without cache: q k v of BOS, 9, 5, 7  then only the last output is used
# step 3, with cache:    q k v of            7  k and v of BOS, 9, 5 come from the cache
# ```
#
# No causal mask is needed: the newest position may see everything that is in the cache.
#
# ### Exercise 5.15 - attention with a cache
#
# *time ~25 min · difficulty 4/5 · 4 points · a stretch*
#
# **Why it matters.** No chat model could answer without it.
#
# **What to do.** Given a `MultiHeadAttention` of unit 3 (with `w_q, w_k, w_v, w_o` and
# `num_heads`), compute its output for the newest position only. `cache` is `None` at
# first. Later it is whatever you returned the last time. In which form you keep things
# there is up to you, but keys and values it must be: `w_k` and `w_v` may see each
# position **once**, when it is the newest. (A cache of inputs would project the whole
# past again in every step.) Do not change the old cache; somebody may want to go back
# to it. (Beam search will.)
#
# <details><summary>Hint 1: a question</summary>
#
# One query, `T + 1` keys. Which of `q`, `k`, `v` of the newest token will later tokens
# need again?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# x                     (B, 1, d_model)
# q                     (B, 1, d_model)     ->  (B, h, 1, d_k)
# k, v: old and new     (B, T + 1, d_model) ->  (B, h, T + 1, d_k)
# heads, merged         (B, 1, d_model)     ->  w_o
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# q, k, v of the newest position, by the layer's own projections
# if there is a cache: old keys, then the new one; old values, then the new one
# split all three into heads; attention without a mask; merge; w_o
# return the output, and keys and values as the new cache
# ```
#
# </details>


# %% exercise="sequence_reversal/attend_with_cache"
def attend_with_cache(
    layer: nn.Module, x: Tensor, cache: object = None
) -> tuple[Tensor, object]:
    """Causal self-attention of the newest position, with the past in a cache.

    Args:
        layer: multi-head attention with linear layers `w_q, w_k, w_v, w_o` (d_model to
            d_model) and `num_heads`; head i owns the i-th block of features.
        x: the newest position, shape `(B, 1, d_model)`.
        cache: None for the first position, else what the last call returned.

    Returns:
        The output `(B, 1, d_model)` and the new cache, in this order. Keys and values
        of old positions come from the cache; they are not computed again.
    """
    ### BEGIN SOLUTION
    keys, values = layer.w_k(x), layer.w_v(x)  # (B, 1, d_model)
    if cache is not None:
        keys = torch.cat((cache[0], keys), dim=1)  # (B, T + 1, d_model)
        values = torch.cat((cache[1], values), dim=1)
    q, k, v = (
        rows.unflatten(-1, (layer.num_heads, -1)).transpose(1, 2)
        for rows in (layer.w_q(x), keys, values)
    )  # (B, h, 1, d_k), (B, h, T + 1, d_k), (B, h, T + 1, d_k)
    heads, _ = attention.scaled_dot_product_attention(q, k, v)  # (B, h, 1, d_k)
    return layer.w_o(heads.transpose(1, 2).flatten(2)), (keys, values)
    ### END SOLUTION


# %% check="sequence_reversal/attend_with_cache" points=4
# Feeds one position after the other, and goes back to an old cache once.
check("sequence_reversal/attend_with_cache", attend_with_cache)

# %% [markdown]
# The rest of the decoder treats each position on its own, or looks at the source, which
# does not change. So a whole decoder with a cache takes one more loop. Both ways must
# write the same tokens, one by one. **Predict first:** how much faster is the cache,
# for 10 tokens, and for 60?


# %%
def next_logits(model: nn.Module, token: Tensor, place: int, memory, mask, caches):
    """Logits `(B, V)` after the newest token `(B,)`, and the caches of all layers."""
    x = model.target.embedding(token).unsqueeze(1)  # (B, 1, d_model)
    x = x * math.sqrt(x.size(-1)) + model.target.positions.pe[place]
    after = []
    for layer, cache in zip(model.decoder.layers, caches, strict=True):
        seen, cache = attend_with_cache(layer.self_attention, layer.norm1(x), cache)
        x = x + seen
        x = x + layer.cross_attention(layer.norm2(x), memory, memory, mask)[0]
        x = x + layer.feed_forward(layer.norm3(x))
        after.append(cache)
    return model.output(model.decoder.norm(x))[:, 0], after


def cached_decode(model: nn.Module, source: Tensor, max_len: int) -> Tensor:
    """As greedy_decode, with a cache."""
    model.eval()
    with torch.no_grad():
        memory, mask = model.encode(source), attention.padding_mask(source, PAD)
        token = torch.full((source.size(0),), BOS)  # (B,)
        done, written = token == EOS, []
        caches = [None] * len(model.decoder.layers)
        for place in range(max_len):
            logits, caches = next_logits(model, token, place, memory, mask, caches)
            token = logits.argmax(dim=-1).masked_fill(done, PAD)
            written.append(token)
            done = done | (token == EOS)
            if done.all():
                break
    return torch.stack(written, dim=1)


def seconds(function: Callable, *arguments: object) -> float:
    """The shortest of three runs, in seconds."""
    runs = []
    for _ in range(3):
        started = time.perf_counter()
        function(*arguments)
        runs.append(time.perf_counter() - started)
    return min(runs)


@demo
def with_and_without_cache():
    model = trained_model()
    source, _ = held_out(500)
    plain, cached = (f(model, source, 11) for f in (greedy_decode, cached_decode))
    print(f"the same tokens in all {len(source)} rows: {torch.equal(plain, cached)}")
    with torch.no_grad():  # a model that never ends, to see long sequences
        model.output.bias[EOS] = -1e9
    for rows in (1, 64):
        for length in (10, 60):
            given = (model, source[:rows], length)
            slow, fast = seconds(greedy_decode, *given), seconds(cached_decode, *given)
            print(
                f"{rows:3d} rows, {length} tokens: {1000 * slow:6.0f} ms without, "
                f"{1000 * fast:5.0f} ms with cache: {slow / fast:.1f} times faster"
            )


# %% [markdown]
# The gain grows with the length, as it should: without a cache the work grows with the
# *square* of the length. (And it grows with the batch: for a single row, most of the
# time goes into calling functions, not into arithmetic.)
#
# ## What you built
#
# - data with BOS, EOS and padding, and the shift of teacher forcing;
# - a loss that ignores padding, a training step, a loop with warm-up and cosine decay;
# - greedy decoding that stops for each row, and exact match as its judge;
# - **a Transformer that really reverses**, and the proof: held-out sequences, an
#   anti-diagonal, an honest cliff at length 11;
# - a small language model, with the dials of every large one: temperature, top-k,
#   top-p; and perplexity as its measure;
# - a cache that makes it fast.
#
# Take with you: *the data decide what is learnt, and the test decides what you know
# about it.*
#
# **Next:** unit 6 takes your batches, your loop with its schedule, greedy decoding and
# the dials of sampling as they are, and replaces ten digits by a language.
#
# ## Go further
#
# - Williams and Zipser 1989, *A Learning Algorithm for Continually Running Fully
#   Recurrent Neural Networks*: teacher forcing.
# - Loshchilov and Hutter 2017, *SGDR*: cosine decay. Vaswani et al. 2017, section 5.3,
#   for another schedule with warm-up.
# - Bengio et al. 2015, *Scheduled Sampling*: what if the decoder should get used to its
#   own mistakes?
# - Bahdanau, Cho and Bengio 2015, *Neural Machine Translation by Jointly Learning to
#   Align and Translate*, figures 2 and 3: the bottleneck, and the first attention maps.
# - Holtzman et al. 2020, *The Curious Case of Neural Text Degeneration*: why the most
#   probable text is dull, and top-p.
# - Press et al. 2022, *Train Short, Test Long*, and Kazemnejad et al. 2023, *The Impact
#   of Positional Encoding on Length Generalization*: beyond the cliff.
# - Zhou et al. 2023, *What Algorithms can Transformers Learn?*: which tasks generalise
#   in length, and why reversal is a hard one.
# - Try it: train on lengths 1 to 10, but let each sequence start at a random place of
#   the position table. Where is the cliff now?

# %% [markdown]
# ## Where you stand
#
# Your points so far, and what to do next. Run it again whenever you have solved
# something.

# %%
check.summary()
