# %% [markdown]
# # 8 · From base model to assistant
#
# *An optional unit, which needs unit 7.* A model that was trained on text continues
# text, so when you ask it a question, an answer is only one of the plausible
# continuations, and a second question is another. This unit makes a base model do
# reliably what it could do only some of the time, and then asks how such a model is
# served: several tokens per pass, and few bits per weight.

# %% [markdown]
# **You will learn**
# - how reinforcement learning turns a base model into one that answers, and where it
#   finds nothing to learn from;
# - how a model games a careless reward, and what a KL term does about it;
# - how a cheap model's guesses make a large one faster without changing its text;
# - what a weight of four bits costs.
#
# *About 1 hour · short path about ½: exercises 8.1*
#
# *Two exercises · 100 points; the whole notebook runs in about two minutes on one
# core.* The short path carries the story: read the rest, and do its exercise later;
# four demonstrations of section 1 wait for it, and the text says what they show.
#
# **Recap.** Unit 5 gave a small encoder-decoder, `reversal.new_model()`, that learns to
# reverse digits, with `reversal.make_batch(sequences)`, the training loop
# `reversal.fit`, and `reversal.rate_factor(step, warmup, steps)`, warm-up and then
# cosine decay. It also gave `reversal.greedy_decode`, and `reversal.evaluating`, which
# decodes without gradients. Unit 7 gave `modern.LanguageModel`, the model of bytes that
# was trained there on `modern.text_ids`, and `modern.published_tensor`, which finds a
# parameter in the file of the chat model.
#
# <details><summary>Conventions of this unit</summary>
#
# | name | meaning |
# |---|---|
# | `P`, `S` | prompts in a batch, answers to each of them (a *group*) |
# | `N`, `T` | answers in a batch (`P * S`), tokens in an answer |
# | `V` | size of the vocabulary |
#
# </details>

# %%
import copy
import random
import re
import time
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from autograder import check, demo, earlier, require_solved
from transformer_course.assistant.library import pictures
from transformer_course.library.published import available

# False: what earlier units built comes from the course, and is correct. True: from your
# own notebooks, if they are beside this one. Grading always uses the course's.
USE_MY_OWN = False
reversal = earlier("05_sequence_reversal", mine=USE_MY_OWN)
modern = earlier("07_since_2017", mine=USE_MY_OWN)

torch.set_num_threads(1)  # for tensors this small, more threads only get in the way
torch.set_printoptions(precision=4, sci_mode=False)

# %% [markdown]
# ## 1. From a base model to an answer
#
# How does a **base model**, trained only to continue text, come to do reliably what it
# already *can* do?
#
# One way is to show it correct answers (*supervised fine-tuning*). Where nobody has
# written them, but an answer can be **checked**, there is a second way: let the model
# try several times, and make the attempts that worked more probable. This is how models
# such as DeepSeek-R1 learnt in 2025 to solve problems step by step. The algorithm is
# **GRPO** (Shao et al. 2024, *DeepSeekMath*), and it is simple enough to try on unit
# 5's reversal.
#
# Let a model answer each prompt several times; these answers are a **group**. Each gets
# a reward $R_i$, and its **advantage** says how much better it is than its group:
#
# $$A_i = \frac{R_i - \operatorname{mean}(R)}{\operatorname{std}(R) + \varepsilon}$$
#
# **Predict first.** Four answers to one prompt get the rewards 1, 0, 0 and 0, and four
# answers to a second prompt get 0, 0, 0 and 0. What are their advantages, and what can
# be learnt from each prompt?
#
# ### Exercise 8.1 - Group advantages
#
# *time ~10 min · difficulty 2/5 · 40 points*
#
# **Task.** Subtract from each reward the mean of its group, and divide by the standard
# deviation of the group plus `eps`. A row of `rewards` is a group.
#
# **Example.** Rewards `[[1, 0], [0, 0]]` give about `[[1, -1], [0, 0]]`.
#
# <details><summary>Contract</summary>
#
# - The standard deviation is the root of the mean squared deviation, divided by `S`,
#   not by `S - 1`.
# - A group whose rewards are all equal, or that has a single answer, gets zeros.
# - `rewards` is not modified; the result has its dtype.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Should the answer to a hard prompt compete with the answers to an easy one? So over
# which dimension is the mean taken?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# rewards                  (P, S)      P prompts, S answers to each
# means, deviations        (P, 1)      keep the dimension
# advantages               (P, S)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# centred = rewards - mean of each row
# spread = root of the mean of centred squared, of each row
# centred / (spread + eps)
# ```
#
# `torch.std` divides by `S - 1` unless told otherwise.
#
# </details>


# %% exercise="assistant/group_advantages"
def group_advantages(
    rewards: Float[Tensor, "P S"], eps: float = 1e-4
) -> Float[Tensor, "P S"]:
    """How much better each answer is than its group (Shao et al. 2024, section 4.1).

    Args:
        rewards: of S answers to each of P prompts.
        eps: added to the standard deviation.

    Returns:
        The advantage of each answer.
    """
    ### BEGIN SOLUTION
    centred = rewards - rewards.mean(dim=-1, keepdim=True)  # (P, S)
    spread = centred.square().mean(dim=-1, keepdim=True).sqrt()  # (P, 1)
    return centred / (spread + eps)
    ### END SOLUTION


# %% check="assistant/group_advantages" points=40
# Looks at groups of several sizes, groups without spread, and the rewards afterwards.
check("assistant/group_advantages", group_advantages)


# %%
@demo
def two_groups():
    rewards = torch.tensor([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    for row, advantages in zip(rewards, group_advantages(rewards), strict=True):
        print(f"rewards {row.tolist()}   advantages "
              + "  ".join(f"{a:5.2f}" for a in advantages.tolist()))  # fmt: skip


# %% [markdown]
# The single success gets 1.73 and each failure -0.58: the rarer a success, the more it
# counts. The second group gets zeros. Where no answer is better than another, there is
# **nothing to learn**, and this will matter.
#
# The loss makes answers with a positive advantage more probable and those with a
# negative one less probable. For $N$ answers, of which answer $i$ has $T_i$ tokens,
#
# $$L = -\frac{1}{N} \sum_{i=1}^{N} \frac{A_i}{T_i}
# \sum_{t=1}^{T_i} \log p(x_{i,t} \mid x_{i,<t}).$$
#
# (The paper has the ratio of new to old probability in place of $\log p$, and clips it,
# to allow several steps per batch of answers. We take only one. Then the ratio is 1, it
# is never clipped, and its gradient is that of $\log p$.)
#
# ### Exercise 8.2 - The loss of an answer
#
# *time ~15 min · difficulty 3/5 · 60 points*
#
# **Task.** Compute the loss by the formula. Position `t` of the logits predicts token
# `t` of the answer; PAD after its end does not count.
#
# **Example.** If all logits are zero and the advantages are 1 and -1, the loss is 0:
# both answers have the same mean log-probability.
#
# <details><summary>Contract</summary>
#
# - All tokens but PAD count, including EOS; every answer has at least one.
# - Each answer counts equally, however long it is.
# - Gradients flow to `logits`, and no argument is modified.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Unit 5's `masked_loss` took one mean over all tokens of a batch. How much more does a
# long answer count there than a short one? And here?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# log-probabilities       (N, T, V)
# of what was written     (N, T)        `gather` along the last dimension
# real                    (N, T)        bool: not PAD
# means                   (N,)          over the real tokens of each answer
# loss                    ()
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# log_p = log_softmax of the logits, at the ids that were written
# means = sum of log_p over real tokens / number of real tokens, per answer
# loss = - mean of (advantages * means)
# ```
#
# </details>


# %% exercise="assistant/grpo_loss"
def grpo_loss(
    logits: Float[Tensor, "N T V"],
    written: Int[Tensor, "N T"],
    advantages: Float[Tensor, "N"],
) -> Float[Tensor, ""]:
    """The loss of sampled answers, weighted with their advantages (Shao et al. 2024).

    Args:
        logits: for each token of the answers.
        written: the answers, int64; `reversal.PAD` after the end.
        advantages: one per answer.

    Returns:
        The loss.
    """
    ### BEGIN SOLUTION
    real = written != reversal.PAD  # (N, T)
    log_p = logits.log_softmax(-1).gather(-1, written.unsqueeze(-1)).squeeze(-1)
    means = (log_p * real).sum(dim=1) / real.sum(dim=1)  # (N,)
    return -(advantages * means).mean()
    ### END SOLUTION


# %% check="assistant/grpo_loss" points=60
# Looks at answers of several lengths, at the loss and at its gradient.
check("assistant/grpo_loss", grpo_loss)

# %% [markdown]
# ### Choose what you can do
#
# Our base model is unit 5's, trained on a mixed diet: half of its targets are reversed
# sequences, the other half are *copies*. Nothing in a prompt says which of the two is
# wanted, so the model learns both and does each about equally often.
#
# The rest of the machinery comes from unit 5, with sampling instead of argmax and one
# step per batch of answers:


# %%
def sequences(rng: random.Random, count: int, lengths: tuple[int, int]) -> list:
    """Random sequences of digits, with lengths from `lengths[0]` to `lengths[1]`."""
    digits = range(reversal.FIRST, reversal.FIRST + 10)
    return [rng.choices(digits, k=rng.randint(*lengths)) for _ in range(count)]


@reversal.evaluating
def sample(
    model: nn.Module,
    source: Int[Tensor, "N Ls"],
    max_len: int,
    generator: torch.Generator,
) -> Int[Tensor, "N T"]:
    """An answer to each source, sampled at temperature 1; T <= max_len."""
    tokens = source.new_full((source.size(0), 1), reversal.BOS)  # (N, 1)
    done = torch.zeros_like(tokens[:, 0], dtype=torch.bool)  # (N,)
    for _ in range(max_len):
        probabilities = model(source, tokens)[:, -1].softmax(-1)  # (N, V)
        new = torch.multinomial(probabilities, 1, generator=generator).squeeze(1)
        new = new.masked_fill(done, reversal.PAD)
        tokens = torch.cat((tokens, new.unsqueeze(1)), dim=1)
        done |= new == reversal.EOS
        if done.all():
            break
    return tokens[:, 1:]


def exact(
    written: Int[Tensor, "N T"], labels: Int[Tensor, "N L"]
) -> Float[Tensor, "N"]:
    """1 for each answer that is correct from its first token to EOS, else 0."""
    written = F.pad(written, (0, labels.size(1) - written.size(1)), value=reversal.PAD)
    return (written == labels).all(dim=1).float()


def reinforce(
    model: nn.Module, reward: Callable[[Tensor, Tensor], Tensor],
    lengths: tuple[int, int], steps: int, seed: int = 0, rate: float = 2e-3,
    prompts: int = 32, beta: float = 0.0,
) -> list[float]:  # fmt: skip
    """GRPO: 8 answers to each prompt, one step per batch; returns each mean reward."""
    rng, generator = random.Random(seed), torch.Generator().manual_seed(seed)
    start = copy.deepcopy(model)  # for the KL term, which comes later
    adam = torch.optim.Adam(model.parameters(), rate, (0.9, 0.98), fused=True)
    log = []
    for step in range(steps):
        adam.param_groups[0]["lr"] = rate * reversal.rate_factor(step, 10, steps)
        source, target = reversal.make_batch(sequences(rng, prompts, lengths))
        source, labels = (x.repeat_interleave(8, 0) for x in (source, target[:, 1:]))
        written = sample(model, source, labels.size(1), generator)  # (N, T)
        rewards = reward(written, labels)  # (N,)
        advantages = group_advantages(rewards.view(prompts, 8)).flatten()
        shown = F.pad(written, (1, 0), value=reversal.BOS)[:, :-1]  # (N, T)
        logits = model(source, shown)
        loss = grpo_loss(logits, written, advantages)
        if beta:  # the KL term; `distance` comes with it, under "A careless reward"
            loss = loss + beta * distance(logits, start(source, shown), written)
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        adam.step()
        log.append(rewards.mean().item())
    return log


# %% folded=true
# @title The base models, and how they are measured
def supervised(next_batch: Callable, steps: int, seed: int = 0) -> nn.Module:
    """Unit 5's model, trained for some steps with teacher forcing."""
    torch.manual_seed(seed)
    model, rng = reversal.new_model(), random.Random(seed)
    adamw = torch.optim.AdamW(model.parameters(), 2e-2, (0.9, 0.98), fused=True)
    reversal.fit(model, adamw, lambda: next_batch(rng), steps, steps // 5)
    return model


def reversed_only(rng: random.Random) -> tuple[Tensor, Tensor]:
    """32 sequences of up to 10 digits, and their reversals."""
    return reversal.make_batch(sequences(rng, 32, (1, 10)))


def reversed_or_copied(rng: random.Random) -> tuple[Tensor, Tensor]:
    """32 sequences of up to 8 digits; half of the targets are copies."""
    source, target = reversal.make_batch(sequences(rng, 32, (1, 8)))
    copied = torch.tensor([rng.random() < 0.5 for _ in range(32)])
    target[copied, 1:] = source[copied]
    return source, target


def asked(
    lengths: tuple[int, int], count: int = 500
) -> tuple[Int[Tensor, "count Ls"], Int[Tensor, "count L"]]:
    """Fresh random sequences: source and labels."""
    source, target = reversal.make_batch(
        sequences(random.Random("new"), count, lengths)
    )
    return source, target[:, 1:]


def sampled(model: nn.Module, lengths: tuple[int, int]) -> tuple[float, float]:
    """The shares of sampled answers that are reversals, and that are copies."""
    source, labels = asked(lengths)
    written = sample(model, source, labels.size(1), torch.Generator().manual_seed(1))
    return exact(written, labels).mean().item(), exact(written, source).mean().item()


def greedy(model: nn.Module, lengths: tuple[int, int]) -> float:
    """The share of greedy answers that are exactly correct."""
    source, labels = asked(lengths)
    written = reversal.greedy_decode(model, source, labels.size(1))
    return exact(written, labels).mean().item()


def written_for(model: nn.Module, digits: str, count: int = 6) -> str:
    """Some sampled answers to one sequence."""
    ids = [int(digit) + reversal.FIRST for digit in digits]
    source = torch.tensor([[*ids, reversal.EOS]]).expand(count, -1)
    answers = sample(model, source, 14, torch.Generator().manual_seed(2))
    return "  ".join(
        "".join(str(i - reversal.FIRST) for i in row if i >= reversal.FIRST) or "-"
        for row in answers.tolist()
    )


# %% [markdown]
# **Predict first.** The reward is 1 for an exact reversal and 0 for everything else.
# After 60 steps of GRPO, what share of the sampled answers are reversals, and what
# share are copies? And for which sequences is a copy still correct?


# %%
@demo
def choose_what_you_can_do():
    require_solved(group_advantages, grpo_loss)
    model = supervised(reversed_or_copied, steps=1000)
    for name in ("base model", "after GRPO"):
        backwards, copied = sampled(model, (1, 8))
        print(f"{name}: reversed {backwards:.0%}, copied {copied:.0%}; "
              f"asked for 14592: {written_for(model, '14592')}")  # fmt: skip
        if name == "base model":
            started = time.process_time()
            log = reinforce(model, exact, (1, 8), steps=60, rate=1e-3)
            print(f"({time.process_time() - started:.1f} CPU seconds of GRPO)")
    pictures.rewards(log)


# %% [markdown]
# Sixty steps raise the share of reversals from less than half to eight or nine in ten,
# depending on the seed. Most of the remaining "copies" are sequences that read the same
# in both directions, such as those with a single digit. The model was shown no answers,
# and it needed no new skill: it could already reverse, and now it chooses to. Here, as
# often, fine-tuning by reward *sharpens* what the base model does some of the time.
#
# ### Nothing to learn from
#
# **Predict first.** A base model that was trained on lengths 1 to 10 has an exact match
# near 0 at length 12 (unit 5's cliff). We reward exact reversals of length 12 for 60
# steps. How far does the model get?


# %%
@demo
def nothing_to_learn_from():
    require_solved(group_advantages, grpo_loss)
    model = supervised(reversed_only, steps=350)
    before = nn.utils.parameters_to_vector(model.parameters()).detach().clone()
    log = reinforce(model, exact, (12, 12), steps=60)
    after = nn.utils.parameters_to_vector(model.parameters()).detach()
    print(f"length 12: {sum(log) * 32 * 8:.0f} of {len(log) * 32 * 8:,} answers are "
          f"correct; largest change {(after - before).abs().max():.1f}")  # fmt: skip


# %% [markdown]
# Nowhere. Not one of 15,360 answers is right, so no group has any spread, every
# advantage is zero, and no parameter moves. A reward can teach only what already
# succeeds sometimes.
#
# ### Reach further
#
# So soften the cliff first. If the positions of each training batch begin at 0, 1 or 2
# at random, the model meets the rows of its table that belong to positions 11 and 12,
# and gets some longer sequences right. GRPO can start from there.
#
# **Predict first.** We reward exact reversals of lengths 1 to 12. What happens to the
# exact match at lengths 11 and 12, and at 13? And what happens to the short sequences
# if *only* lengths 11 and 12 are rewarded? For comparison, we also train on the correct
# answers for lengths 1 to 12.

# %%
REINFORCE_LONG = False  # True: both runs of GRPO below, which take some minutes


def soft_cliff(seed: int = 0) -> nn.Module:
    """A base model whose positions begin at 0, 1 or 2, at random, during training."""
    torch.manual_seed(seed)
    model, rng = reversal.new_model(), random.Random(seed)
    table = model.source.positions.pe  # the target's, too: both share one module

    def next_batch() -> tuple[Tensor, Tensor]:
        model.source.positions.pe = table[rng.randrange(3) :]
        return reversed_only(rng)

    adamw = torch.optim.AdamW(model.parameters(), 2e-2, (0.9, 0.98), fused=True)
    reversal.fit(model, adamw, next_batch, steps=500, warmup=100)
    model.source.positions.pe = table
    return model


def by_length(model: nn.Module) -> str:
    return "  ".join(f"{n}: {greedy(model, (n, n)):4.0%}" for n in (8, 10, 11, 12, 13))


def taught(model: nn.Module, seed: int = 0) -> nn.Module:
    """200 supervised steps with the correct answers for lengths 1 to 12."""
    rng = random.Random(seed)
    adamw = torch.optim.AdamW(model.parameters(), 1e-2, (0.9, 0.98), fused=True)

    def batch() -> tuple[Tensor, Tensor]:
        return reversal.make_batch(sequences(rng, 32, (1, 12)))

    reversal.fit(model, adamw, batch, steps=200, warmup=40)
    return model


@demo
def reach_further():
    base = soft_cliff()
    print(f"{'base model':<26} {by_length(base)}")
    started = time.process_time()
    model = taught(copy.deepcopy(base))
    seconds = time.process_time() - started
    print(f"{'correct answers, 200 steps':<26} {by_length(model)}   {seconds:.1f} s")
    if REINFORCE_LONG:
        require_solved(group_advantages, grpo_loss)
        for lengths, steps in (((1, 12), 300), ((11, 12), 200)):
            model, started = copy.deepcopy(base), time.process_time()
            reinforce(model, exact, lengths, steps, prompts=64)
            seconds = time.process_time() - started
            name = f"GRPO on lengths {lengths[0]} to {lengths[1]}"
            print(f"{name:<26} {by_length(model)}   {seconds:.1f} s")


# %% [markdown]
# The runs with rewards need minutes, so the cell leaves them out unless you set
# `REINFORCE_LONG = True`. This is what we measured with five seeds:
#
# | exact match at length | 1 to 10 | 11 | 12 | 13 | answers |
# |---|---|---|---|---|---|
# | base model | 0.99 to 1.00 | 0.84 to 1.00 | 0.45 to 0.79 | at most 0.02 | |
# | GRPO on lengths 1 to 12 | 1.00 | 0.99 to 1.00 | 0.91 to 1.00 | 0.03 to 0.19 | 153,600 sampled |
# | GRPO on lengths 11 and 12 | 0.55 to 0.91 | 1.00 | 1.00 | | 102,400 sampled |
# | correct answers, 1 to 12 | 1.00 | 0.99 to 1.00 | 0.95 to 1.00 | 0.01 to 0.35 | 6,400 written |
#
# - **The cliff moves to where answers were rewarded, and hardly further.** Length 13
#   was never rewarded, and at most a fifth of its sequences come out right.
# - **What is not rewarded is forgotten.** When only lengths 11 and 12 are rewarded, the
#   model loses a tenth to nearly half of what it could do at lengths 1 to 10.
# - **The yardstick is sobering.** With correct answers at hand, 200 supervised steps do
#   about as well, with one answer for every 24 that GRPO samples and in a small
#   fraction of the time. Rewards are for problems whose answers we can check but do not
#   know.
#
# ### A careless reward
#
# Exact match is hard to game. Here is a reward that sounds reasonable and gives partial
# credit: the share of the *written* digits that are correct.
#
# **Predict first.** After 80 steps this reward is near 1. What does the model write?


# %%
def precision(
    written: Int[Tensor, "N T"], labels: Int[Tensor, "N L"]
) -> Float[Tensor, "N"]:
    """The share of the written digits that are correct."""
    written = F.pad(written, (0, labels.size(1) - written.size(1)), value=reversal.PAD)
    digits = written >= reversal.FIRST
    right = (digits & (written == labels)).sum(dim=1)
    return right / digits.sum(dim=1).clamp(min=1)


@demo
def a_careless_reward():
    require_solved(group_advantages, grpo_loss)
    model = supervised(reversed_only, steps=200)
    print(f"before: exact {greedy(model, (1, 10)):.2f}; "
          f"asked for 0979776: {written_for(model, '0979776', 3)}")  # fmt: skip
    log = reinforce(model, precision, (1, 10), steps=80)
    print(f"reward from {log[0]:.2f} to {log[-1]:.2f}")
    print(f"after:  exact {greedy(model, (1, 10)):.2f}; "
          f"asked for 0979776: {written_for(model, '0979776', 3)}")  # fmt: skip


# %% [markdown]
# It writes a digit or two and stops. A single correct digit earns the full reward, and
# each further digit can only lower it, so the exact match falls to about the share of
# sequences that *have* a single digit, one in ten. Meanwhile, the reward kept rising.
# **A model optimises what you measure, not what you mean**, which is known as *reward
# hacking* (Amodei et al. 2016; Skalse et al. 2022).
#
# The usual leash is a **KL term**: a penalty for answers that the starting model would
# hardly have written. DeepSeekMath adds it to the loss with a weight $\beta$.
#
# **Predict first.** With $\beta = 0.2$, does the hack disappear? And does the model
# become better than it was at the start?


# %%
def distance(
    logits: Float[Tensor, "N T V"],
    start: Float[Tensor, "N T V"],
    written: Int[Tensor, "N T"],
) -> Float[Tensor, ""]:
    """How far the model has moved from its start: the KL divergence, estimated.

    Schulman 2020's estimate for each token, `r - log r - 1` with the ratio r of old to
    new probability, which is never negative; PAD does not count.
    """
    ids, real = written.unsqueeze(-1), written != reversal.PAD  # (N, T, 1), (N, T)
    old, new = (
        scores.log_softmax(-1).gather(-1, ids).squeeze(-1)
        for scores in (start.detach(), logits)
    )  # (N, T) each
    each = (old - new).exp() - (old - new) - 1
    return ((each * real).sum(dim=1) / real.sum(dim=1)).mean()


@demo
def on_a_leash():
    require_solved(group_advantages, grpo_loss)
    model = supervised(reversed_only, steps=200)
    print(f"before: exact {greedy(model, (1, 10)):.2f}")
    log = reinforce(model, precision, (1, 10), steps=80, beta=0.2)
    print(f"reward from {log[0]:.2f} to {log[-1]:.2f}, exact "
          f"{greedy(model, (1, 10)):.2f}; "
          f"asked for 0979776: {written_for(model, '0979776', 3)}")  # fmt: skip


# %% [markdown]
# The hack is gone: the model still writes full answers. But its exact match is no
# better than it was at the start, and with most seeds a little worse. The KL term
# cannot tell a clever shortcut from a better answer, since both are far from the start.
# The real cure is a better reward.
#
# In practice, the steps usually come in this order: pre-training; supervised
# fine-tuning on instructions with written answers; training on preferences between
# answers, through a reward model (Ouyang et al. 2022) or directly (Rafailov et al.
# 2023, DPO); and reinforcement learning with rewards that can be checked, for
# mathematics, code and the like. SmolLM2-135M-Instruct, the chat model of unit 7, went
# through the first three.

# %% [markdown]
# ## 2. Two tokens for the price of one
#
# A large model is slow because it writes one token at a time, not because it cannot
# read many at once. So let a **cheap model guess** the next few tokens, and let the
# large one judge all guesses in a single pass (Leviathan et al. 2023; Chen et al.
# 2023). A guess $x$, sampled from the cheap distribution $q$, is kept with probability
# $\min(1, p(x) / q(x))$. At the first guess that is not kept, sample instead from the
# excess of $p$ over $q$, $\max(0, p - q)$, rescaled to sum to 1.
#
# **Predict first.** The cheap model is often wrong. Does the text get worse?


# %%
def kept_or_replaced(
    p: Float[Tensor, "V"], q: Float[Tensor, "V"]
) -> Float[Tensor, "V"]:
    """The resulting distribution if q guesses and p judges."""
    kept = torch.minimum(p, q)  # q times the probability of being kept
    more = (p - q).clamp(min=0)
    return kept + (1 - kept.sum()) * more / more.sum()


@demo
def nothing_changes():
    torch.manual_seed(8)
    for sharpness in (0.5, 2.0, 8.0):
        p, q = (sharpness * torch.randn(2, 1000, dtype=torch.double)).softmax(-1)
        gap = (kept_or_replaced(p, q) - p).abs().max()
        share = torch.minimum(p, q).sum()
        print(f"guesses kept: {share:.1%}, the result differs from p by {gap:.1e}")


# %% [markdown]
# Now at work. A table of trigrams of bytes guesses, and unit 7's model of bytes judges;
# if its file is neither here nor in its folder, a smaller run trains one. The cell
# counts bytes per pass, and compares the next two bytes of many texts with the model's
# own probabilities.

# %% folded=true
# @title A table of trigrams guesses, and the model judges
def byte_trigrams(text: Tensor) -> Tensor:
    """A cheap model: `table[a, b]` is the distribution after the bytes a, b."""
    counts = torch.full((128, 128, 128), 1e-3)
    ones = torch.ones(len(text) - 2)
    counts.index_put_((text[:-2], text[1:-1], text[2:]), ones, accumulate=True)
    return counts / counts.sum(-1, keepdim=True)


def speculate(
    model: nn.Module, table: Tensor, ids: Int[Tensor, "1 T"], count: int, ahead: int,
    generator: torch.Generator,
) -> tuple[Int[Tensor, "1 L"], int]:  # fmt: skip
    """Write `count` tokens or a few more after ids; count the passes."""
    passes, wanted = 0, ids.size(1) + count

    def uniform() -> float:
        return torch.rand(1, generator=generator).item()

    while ids.size(1) < wanted:
        known, guess, cheap = ids.size(1), ids, []
        for _ in range(ahead):
            cheap.append(table[guess[0, -2], guess[0, -1]])  # (V,)
            sampled = torch.multinomial(cheap[-1], 1, generator=generator)
            guess = torch.cat((guess, sampled[None]), dim=1)
        right = model(guess)[0, -ahead - 1 :].softmax(-1)  # (ahead + 1, V): one pass
        passes += 1
        last = right[-1]  # if all are kept: one more token, for free
        for i, (p, q) in enumerate(zip(right, cheap, strict=False)):
            token = guess[0, known + i]
            if uniform() >= p[token] / q[token]:
                guess, last = guess[:, : known + i], (p - q).clamp(min=0)
                break
        ids = torch.cat(
            (guess, torch.multinomial(last, 1, generator=generator)[None]), dim=1
        )
    return ids, passes


def pairs_of_bytes(model: nn.Module, table: Tensor, prompt: Tensor) -> tuple:
    """How often two bytes come next in 4,000 texts, and how often they should."""
    first = model(prompt)[0, -1].softmax(-1)  # (V,)
    both = torch.cat((prompt.expand(128, -1), torch.arange(128)[:, None]), dim=1)
    exact = first[:, None] * model(both)[:, -1].softmax(-1)  # (V, V)
    generator, counts = torch.Generator().manual_seed(4), torch.zeros(128, 128)
    for _ in range(4000):
        ids, _ = speculate(model, table, prompt, 2, 2, generator)
        a, b = ids[0, prompt.size(1) : prompt.size(1) + 2]
        counts[a, b] += 1
    return counts / 4000, exact


# %%
def bytes_model() -> nn.Module:
    """Your model of unit 7 if its file is here or in its folder, else a new one."""
    for folder in (Path(), Path("../07_since_2017")):
        if (file := folder / "modern.safetensors").is_file():
            return modern.trained_model(str(file)).eval()
    return modern.train_model(steps=400).eval()


@demo
def guesses_at_work():
    model, table = bytes_model(), byte_trigrams(modern.text_ids(0, 20_000))
    prompt = torch.tensor([list(b"Yesterday, ")])
    with torch.no_grad():
        for ahead in (1, 2, 4, 8):
            made = passes = 0
            for seed in range(10):  # ten texts, none longer than those of training
                generator = torch.Generator().manual_seed(seed)
                ids, taken = speculate(model, table, prompt, 80, ahead, generator)
                made, passes = made + ids.size(1) - prompt.size(1), passes + taken
            print(f"{ahead} guesses ahead: {made / passes:.2f} bytes per pass")
        counted, exact = pairs_of_bytes(model, table, prompt)
    print(f"the next two bytes, 4,000 times: total variation from model probabilities "
          f"{(counted - exact).abs().sum() / 2:.3f}")  # fmt: skip
    noise = torch.multinomial(
        exact.flatten(),
        4000,
        replacement=True,
        generator=torch.Generator().manual_seed(3),
    )
    sampled = torch.bincount(noise, minlength=exact.numel()) / 4000
    print(f"4,000 samples of the model itself:                                       "
          f"{(sampled - exact.flatten()).abs().sum() / 2:.3f}")  # fmt: skip


# %% [markdown]
# The distribution does not change, and this is algebra, not luck: the kept guesses and
# the replacements add up to $p$ exactly, however bad the guesses are. The sampled pairs
# differ from the model's own probabilities about as much as 4,000 plain samples do,
# which is sampling noise. A bad guesser only costs time. Guessing further ahead helps
# less and less, since one rejected guess ends a pass.
#
# A server keeps a cache, too, and has to cut it back after a rejected guess; unit 7's
# clinic was about what can go wrong there.

# %% [markdown]
# ## 3. Four bits per weight
#
# The file of unit 7's chat model, SmolLM2, stores each weight in four bits: one of
# sixteen values per block of 32 weights. **Predict first.** How much did that cost, in
# percent of the perplexity?
#
# The weights before this rounding are not in the file. But the next cell can round
# *once more*: the matrices of ten of the thirty blocks, in blocks of 48, which do not
# coincide with the file's. It needs the file (98 MB, Apache-2.0), and says in one line
# how to get it; the text below says what you would see.


# %%
TEXT = (
    "The Transformer is a neural network that was published in 2017. It reads all "
    "words of a sentence at once, and each word looks at all others to find out what "
    "it means here. Since then, nearly every large language model has been built from "
    "it."
)


def rounded(weight: Tensor, bits: int, size: int) -> Tensor:
    """Round each block of `size` weights to `2**bits` values between its extremes."""
    blocks = weight.reshape(-1, size)
    least = blocks.amin(dim=1, keepdim=True)
    step = (blocks.amax(dim=1, keepdim=True) - least) / (2**bits - 1)
    return (((blocks - least) / step).round() * step + least).view_as(weight)


@torch.no_grad()
def perplexity(chat: nn.Module, ids: Int[Tensor, "L"]) -> float:
    """Perplexity per token of a text, in a single window."""
    return F.cross_entropy(chat(ids[None, :-1])[0], ids[1:]).exp().item()


@demo
def fewer_bits():
    smollm = available("smollm2")
    if smollm is None:
        return
    chat = modern.LanguageModel(49_152, 576, 9, 3, 30, 2304, base=100_000.0, eps=1e-5)
    ids = torch.tensor(smollm.encode(TEXT))

    @torch.no_grad()
    def fill(block: str, change: Callable[[Tensor], Tensor]) -> None:
        """Put the file's tensors whose names match into the model, matrices changed."""
        for name, parameter in chat.named_parameters():
            if re.match(block, name):
                stored = modern.published_tensor(name, smollm.weights, 9, 3)
                parameter.copy_(change(stored) if stored.dim() == 2 else stored)

    fill("", lambda stored: stored)
    print(f"as in the file:              perplexity {perplexity(chat, ids):.2f}")
    for bits, size in ((4, 32), (8, 48), (4, 48), (3, 48)):
        fill(r"blocks\.1\d\.", lambda w, b=bits, s=size: rounded(w, b, s))
        print(f"{bits} bits in blocks of {size} again: "
              f"perplexity {perplexity(chat, ids):.2f}")  # fmt: skip


# %% [markdown]
# Four bits in the file's own blocks of 32 change nothing: the weights are on that grid
# already. Eight bits hardly matter either (23.5). Four bits on a *different* grid raise
# the perplexity from 23.5 to 24.3 when a third of the blocks are rounded; rounding all
# thirty gives 27. So the first rounding, whose original we do not have here, probably
# cost about as much: some ten to fifteen percent, for a file less than a fifth of the
# size. Three bits break the model (70). This is why four bits became a popular choice.

# %% [markdown]
# ## What you built, and what you saw
#
# - built: the core of GRPO, and with it a look at what rewards can and cannot do;
# - seen: the rule by which a model keeps or replaces a cheap model's guesses;
# - seen: a measurement of what a few bits per weight cost.
#
# ## Go further
#
# - Shao et al. 2024, *DeepSeekMath*; DeepSeek-AI 2025, *DeepSeek-R1*; Liu et al. 2025,
#   *Understanding R1-Zero-Like Training*: whether to divide by the length and by the
#   standard deviation at all.
# - Try it: in section 1, leave out the division by the standard deviation. Does
#   anything change?

# %% [markdown]
# ## Where you stand
#
# Your points so far, and what to do next. Run this cell again after each exercise.

# %%
check.summary()
