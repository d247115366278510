# %% [markdown]
# # 8 · From base model to assistant
#
# *An optional unit, which needs unit 7.* A model that was trained on text continues
# text, so it may answer your question with three more questions. In this unit you write
# the conversations from which an assistant learns, retrain a third of a percent of a
# published chat model until it talks like a pirate, and find out what preferences and
# rewards can teach a model and what they cannot.

# %% [markdown]
# **You will learn**
# - how a conversation becomes one sequence of tokens, and which of them the loss
#   counts;
# - LoRA, which tunes a large model by training two thin matrices per layer;
# - how DPO learns from pairs of answers, and GRPO from rewards;
# - how a model games a careless reward, and what a KL term does about it;
# - how to test a training step for the bug that nobody sees in a loss curve.
#
# *About 2½ hours · short path about 1: exercises 8.1, 8.2*
#
# *Six exercises · 100 points; the whole notebook runs in about four minutes on one
# core.* The short path carries the story: read the rest, and do its exercises later;
# the demonstrations of section 4 wait for them, and the text says what they show.
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
# | `B`, `L`, `V` | conversations in a batch, tokens in each, size of the vocabulary |
# | `r` (in code `rank`) | rank of a LoRA update |
# | `P`, `S` | prompts in a batch, answers to each of them (a *group*) |
# | `N`, `T` | answers or pairs of answers in a batch, tokens in an answer |
#
# </details>

# %%
import copy
import math
import random
import re
import time
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from autograder import check, demo, earlier, require_solved
from transformer_course.assistant.library import pictures, tuning
from transformer_course.assistant.library.letters import encode_letters
from transformer_course.library.published import available

# False: what earlier units built comes from the course, and is correct. True: from your
# own notebooks, if they are beside this one. Grading always uses the course's.
USE_MY_OWN = False
reversal = earlier("05_sequence_reversal", mine=USE_MY_OWN)
modern = earlier("07_since_2017", mine=USE_MY_OWN)

torch.set_num_threads(1)  # for tensors this small, more threads only get in the way
torch.set_printoptions(precision=4, sci_mode=False)

# %% [markdown]
# ## 1. A conversation is one long text
#
# A chat window shows speech bubbles, but the model behind it reads a single sequence of
# tokens, in which markers say who is speaking. In SmolLM2's **chat template** (Ben
# Allal et al. 2025), a conversation looks like this:
#
# ```text
# <|im_start|>user
# What is 2 + 2?<|im_end|>
# <|im_start|>assistant
# Arr, it be 4, matey!<|im_end|>
# ```
#
# To train on such a text, we have to decide which tokens the loss counts. The model
# will never have to write the user's question, so every bit of gradient spent on it is
# taken from the answer; it does have to write the answer, and also the `<|im_end|>`
# behind it, which is the only way in which it can say that it is finished. PyTorch's
# `F.cross_entropy` skips each position whose label is -100, so a list of labels is all
# that we need. Ouyang et al. 2022 (*InstructGPT*) call this step **supervised
# fine-tuning**.
#
# ### Exercise 8.1 - A conversation and its labels
#
# *time ~15 min · difficulty 2/5 · 18 points*
#
# **Task.** Return the ids of a conversation and its labels. A label repeats the id if
# the assistant has to write the token, its `<|im_end|>` included; elsewhere it is
# `IGNORE`.
#
# **Example.** In the conversation above, the labels begin with `Arr` and end with the
# last `<|im_end|>`.
#
# <details><summary>Contract</summary>
#
# - Each turn is `<|im_start|>`, its role, a newline, its text, `<|im_end|>`, a newline.
# - Every turn of the role `"assistant"` is learnt, not only the last.
# - Neither the role's line nor the newline after `<|im_end|>` is learnt.
# - Labels are not shifted: `labels[t]` belongs to `ids[t]`.
# - You may encode a turn in parts or as a whole.
# - Both tensors are int64, of shape `(L,)`.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Into which three parts must a turn be cut, so that each part is either learnt as a
# whole or not at all?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# header      <|im_start|>ROLE\n     never learnt
# body        TEXT<|im_end|>         learnt if the role is assistant
# newline     \n                     never learnt
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# for each turn: encode the three parts, append them to ids
#     labels: IGNORE for each id of header and newline; body's ids, or IGNORE for each
# ```
#
# </details>


# %% exercise="assistant/chat_example"
IGNORE = -100  # the label that F.cross_entropy leaves out


def chat_example(
    turns: list[tuple[str, str]], encode: Callable[[str], list[int]]
) -> tuple[Int[Tensor, "L"], Int[Tensor, "L"]]:
    """A conversation as SmolLM2 reads it, and what is learnt from it.

    Args:
        turns: pairs of a role ("system", "user" or "assistant") and its text.
        encode: from a text to a list of ids; each marker becomes one id.

    Returns:
        ids, labels: int64; a label of `IGNORE` is not learnt.
    """
    ### BEGIN SOLUTION
    ids, labels = [], []
    for role, text in turns:
        header = encode(f"<|im_start|>{role}\n")
        body = encode(f"{text}<|im_end|>")
        newline = encode("\n")
        learnt = body if role == "assistant" else [IGNORE] * len(body)
        ids += header + body + newline
        labels += [IGNORE] * len(header) + learnt + [IGNORE] * len(newline)
    return torch.tensor(ids), torch.tensor(labels)
    ### END SOLUTION


# %% check="assistant/chat_example" points=18
# Looks at conversations of one turn and of several, with and without answers.
check("assistant/chat_example", chat_example)


# %%
@demo
def what_is_learnt():
    turns = [("user", "2 + 2?"), ("assistant", "Four."), ("user", "So?"),
             ("assistant", "Arr!")]  # fmt: skip
    ids, labels = chat_example(turns, encode_letters)
    pictures.learnt(ids.tolist(), (labels != IGNORE).tolist())


# %% [markdown]
# Of a short conversation like this one, less than a fifth is learnt. The marker at the
# end of each answer deserves a second look, because a well-known bug hides it: SmolLM2
# uses `<|im_end|>` for padding as well, and code that gives every padding token the
# label -100 then also hides the end of every answer. The loss falls as it should, the
# answers look fine, and the tuned model never stops talking (*trl*, issue 1623 and pull
# request 6357). The labels still need to be shifted, as in unit 7, since the logits at
# position `t` predict token `t + 1`:


# %%
def answer_loss(
    logits: Float[Tensor, "L V"], labels: Int[Tensor, "L"]
) -> Float[Tensor, ""]:
    """The mean cross-entropy of the labelled tokens, each predicted by those before."""
    return F.cross_entropy(logits[:-1], labels[1:], ignore_index=IGNORE)


# %% [markdown]
# ## 2. LoRA: tune a model by two thin matrices
#
# SmolLM2-135M-Instruct has 134.5 million parameters, and AdamW needs a gradient and two
# moment estimates for each of them, three times the memory of the model itself. Hu et
# al. 2021 (section 4.1) suppose that the *change* which fine-tuning makes to a matrix
# has a low rank, so they freeze the matrix $W$ and learn only its change, as the
# product of two thin matrices:
#
# $$y = W x + \frac{\alpha}{r} B A x, \qquad A: r \times d_\text{in},
# \quad B: d_\text{out} \times r$$
#
# With $r = 8$, a matrix of 576 × 576 gets 9,216 new parameters beside its 331,776 old
# ones. $A$ starts at random and $B$ at zero, so that before the first step the model is
# exactly what it was, and after the last one $W + \frac{\alpha}{r} B A$ is an ordinary
# matrix again: **the tuned model is as fast as before.**
#
# **Predict first.** If *both* matrices started at zero, the model would also be what it
# was. What would the first gradients of $A$ and of $B$ be, and what would the model
# learn?

# %% [markdown]
# > *Your prediction (double-click here to write it down):*

# %% [markdown]
# ### Exercise 8.2 - A linear layer with LoRA
#
# *time ~25 min · difficulty 3/5 · 22 points*
#
# **Task.** Write `LoRALinear`, which freezes a linear layer and adds the scaled product
# of `b` and `a` to what it computes. `merged` returns one plain layer that computes the
# same.
#
# **Example.** `LoRALinear(nn.Linear(6, 4), rank=2)` has 20 trainable parameters: `a` of
# shape `(2, 6)` and `b` of shape `(4, 2)`.
#
# <details><summary>Contract</summary>
#
# - `base` is the layer itself, not a copy; its parameters do not require gradients.
# - The parameters `a`, `(rank, d_in)`, and `b`, `(d_out, rank)`, are trainable.
# - `a` starts with random entries, `b` with zeros.
# - The change is multiplied by `alpha / rank`.
# - Inputs have any number of leading dimensions, and are not modified.
# - `merged` returns a new `nn.Linear`, with a bias if `base` has one.
# - `merged` leaves `base` as it is.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# `nn.Linear` computes `x @ weight.T`. What are the shapes of `x @ a.T`, and of that
# times `b.T`?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# x                       (..., d_in)
# x @ a.T                 (..., rank)
# x @ a.T @ b.T           (..., d_out)
# b @ a                   (d_out, d_in), like the weight
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# __init__: keep base, without gradients; a = random; b = zeros; scale = alpha / rank
# forward:  base(x) + scale * (x through a, then through b)
# merged:   a new layer of the same sizes; its weight = base's + scale * b @ a
# ```
#
# `copy.deepcopy` copies a layer.
#
# </details>


# %% exercise="assistant/lora_linear"
class LoRALinear(nn.Module):
    """A frozen linear layer plus a trainable change of low rank (Hu et al. 2021).

    Args:
        base: the layer to tune, from d_in to d_out features.
        rank: of the change.
        alpha: the change is multiplied by alpha / rank.
    """

    def __init__(self, base: nn.Linear, rank: int = 8, alpha: float = 16.0):
        super().__init__()
        ### BEGIN SOLUTION
        d_out, d_in = base.weight.shape
        self.base = base.requires_grad_(False)
        self.a = nn.Parameter(torch.randn(rank, d_in) / math.sqrt(d_in))
        self.b = nn.Parameter(torch.zeros(d_out, rank))
        self.scale = alpha / rank
        ### END SOLUTION

    def forward(self, x: Float[Tensor, "*batch d_in"]) -> Float[Tensor, "*batch d_out"]:
        """What the layer computes, and its change."""
        ### BEGIN SOLUTION
        change = x @ self.a.T @ self.b.T  # (..., d_out)
        return self.base(x) + self.scale * change
        ### END SOLUTION

    def merged(self) -> nn.Linear:
        """One plain layer that computes the same."""
        ### BEGIN SOLUTION
        layer = copy.deepcopy(self.base)
        with torch.no_grad():
            layer.weight += self.scale * self.b @ self.a  # (d_out, d_in)
        return layer
        ### END SOLUTION


# %% check="assistant/lora_linear" points=22
# Looks at the start, at what is trainable, at results, gradients and the merged layer.
check("assistant/lora_linear", LoRALinear)

# %% [markdown]
# The prediction: the gradient of $B$ is a product with $A x$, and that of $A$ a product
# with $B$, so with both at zero both gradients are zero as well, and since they stay
# zero at every later step, the model would learn nothing at all.
#
# The chat model is next: queries and values of all 30 blocks get a change of rank 8,
# and twelve conversations such as *What colour is the sky? - Arr, it be blue, matey!*
# are all that it is shown, one for each of thirty steps.
#
# **Predict first.** After thirty steps, how does the model answer *What is the capital
# of France?*, which is not among the twelve? And by how much does its perplexity rise
# on a plain English paragraph about baking bread?

# %% [markdown]
# > *Your prediction (double-click here to write it down):*


# %%
def add_lora(chat: nn.Module, rank: int = 8) -> nn.Module:
    """Freeze a model, and give the queries and values of each block a LoRA change."""
    chat.requires_grad_(False)
    for block in chat.blocks:
        layer = block.attention
        layer.w_q, layer.w_v = LoRALinear(layer.w_q, rank), LoRALinear(layer.w_v, rank)
    return chat


@demo
def talk_like_a_pirate():
    require_solved(chat_example, LoRALinear)
    smollm = available("smollm2")
    if smollm is None:
        print(f"This is what it printed for us:\n\n{tuning.RECORDED}")
        return
    system = ("system", tuning.SYSTEM)
    examples = [
        chat_example([system, ("user", question), ("assistant", text)], smollm.encode)
        for question, text in tuning.PIRATE
    ]
    chat = tuning.load(smollm, modern)

    def report(name: str) -> None:
        print(f"{name}: perplexity {tuning.perplexity(chat, smollm):.1f}")
        for question in tuning.UNSEEN:
            print(f"  {question:<32} {tuning.ask(chat, smollm, modern, question)}")

    report("before")
    torch.manual_seed(0)
    add_lora(chat)
    trained = sum(p.numel() for p in chat.parameters() if p.requires_grad)
    started = time.process_time()
    losses = tuning.tune(chat, examples, answer_loss, steps=30)
    seconds = time.process_time() - started
    print(f"\n{trained:,} parameters are trained; loss of the first ten steps "
          f"{sum(losses[:10]) / 10:.2f}, of the last ten {sum(losses[-10:]) / 10:.2f} "
          f"({seconds:.0f} CPU seconds)\n")  # fmt: skip
    report("after")


# %% [markdown]
# Thirty steps are enough for the new style, and it carries over to questions that the
# model never saw: with each of the five seeds that we tried, nearly every answer begins
# with *Arr* and ends with *matey*, and Paris and Berlin are still the capitals. The
# price is that the perplexity of a paragraph that has nothing to do with pirates rises
# from 26 to between 70 and 95, so the model now finds plain English three times as
# surprising; and *Who wrote Hamlet?*, which mentioned Shakespeare before, is answered
# by *Arr, it be Hamlet, matey!* Twelve short answers say nothing about everything else
# that the model knows, and nothing in the loss asks it to keep that. Biderman et al.
# 2024 (*LoRA Learns Less and Forgets Less*) find that full fine-tuning forgets even
# more. With LoRA, at least, nothing is lost for good: the old matrices were frozen, and
# without $A$ and $B$ the model is again exactly what it was.
#
# ## 3. Preferences: learn from pairs of answers
#
# Written answers are expensive, and for many questions it is easier to say which of two
# answers is better than to write a good one. Ouyang et al. 2022 train a *reward model*
# on such pairs and then optimise it with reinforcement learning. Rafailov et al. 2023
# show that neither is needed: if the policy $\pi$ may move away from a reference
# $\pi_\text{ref}$ only at a price $\beta$, its own log-probabilities already contain a
# reward, and the pairs can be fitted directly. For a chosen answer $y_w$ and a rejected
# one $y_l$ to the prompt $x$, the loss of **DPO** (their equation 7) is
#
# $$L = -\log \sigma\!\left(
# \beta \log \frac{\pi(y_w \mid x)}{\pi_\text{ref}(y_w \mid x)} -
# \beta \log \frac{\pi(y_l \mid x)}{\pi_\text{ref}(y_l \mid x)}\right).$$
#
# The two logarithms say how much more probable each answer has become, so a model that
# has not moved yet has the loss $\log 2$, whatever the pair.
#
# ### Exercise 8.3 - The loss of DPO
#
# *time ~15 min · difficulty 3/5 · 20 points*
#
# **Task.** Compute the loss by the formula, as the mean over `N` pairs. The arguments
# are log-probabilities of whole answers, by the model and by the reference.
#
# **Example.** For equal model and reference, the loss is 0.6931. If `chosen` is then
# raised by 10, it is 0.3133, with $\beta = 0.1$.
#
# <details><summary>Contract</summary>
#
# - The result is a single value, the mean over the pairs.
# - The loss is finite and exact for margins of any size, 1,000 for example.
# - Gradients flow to `chosen` and `rejected`.
# - No argument is modified.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# In which direction do the two ratios of a pair have to move so that the loss falls?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# log-ratio of the chosen answers       (N,)
# log-ratio of the rejected answers     (N,)
# margin                                (N,)
# loss                                  ()
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# a log of a quotient is a difference of logs
# margin = log-ratio of chosen - log-ratio of rejected
# loss = - mean of log sigmoid(beta * margin)
# ```
#
# What is `sigmoid(-200)` in float32, and what is its logarithm? See
# `torch.nn.functional`.
#
# </details>


# %% exercise="assistant/dpo_loss"
def dpo_loss(
    chosen: Float[Tensor, "N"],
    rejected: Float[Tensor, "N"],
    reference_chosen: Float[Tensor, "N"],
    reference_rejected: Float[Tensor, "N"],
    beta: float = 0.1,
) -> Float[Tensor, ""]:
    """The loss of direct preference optimisation (Rafailov et al. 2023, equation 7).

    Args:
        chosen, rejected: the model's log-probabilities of the answers of each pair.
        reference_chosen, reference_rejected: those of the reference.
        beta: the price of moving away from the reference.

    Returns:
        The loss.
    """
    ### BEGIN SOLUTION
    better = chosen - reference_chosen  # (N,)
    worse = rejected - reference_rejected  # (N,)
    return -F.logsigmoid(beta * (better - worse)).mean()
    ### END SOLUTION


# %% check="assistant/dpo_loss" points=20
# Looks at pairs with small and with huge margins, at the loss and at its gradients.
check("assistant/dpo_loss", dpo_loss)

# %% [markdown]
# What this loss does to a model is the subject of a comparison below, in which DPO and
# a second method start from the same base model.
#
# ## 4. Rewards: learn from your own attempts
#
# Where nobody has written answers or compared them, but an answer can be **checked**,
# there is a third way: let the model try several times, and make the attempts that
# worked more probable. This is how models such as DeepSeek-R1 learnt in 2025 to solve
# problems step by step. The algorithm is **GRPO** (Shao et al. 2024, *DeepSeekMath*),
# and it is simple enough to try on unit 5's reversal.
#
# Let a model answer each prompt several times; these answers are a **group**. Each gets
# a reward $R_i$, and its **advantage** says how much better it is than its group:
#
# $$A_i = \frac{R_i - \operatorname{mean}(R)}{\operatorname{std}(R) + \varepsilon}$$
#
# ### Exercise 8.4 - Group advantages
#
# *time ~10 min · difficulty 2/5 · 11 points*
#
# **Task.** Subtract from each reward the mean of its group, which is a row of
# `rewards`, and divide by the standard deviation of the group plus `eps`.
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


# %% check="assistant/group_advantages" points=11
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
# counts. The second group gets zeros, since where no answer is better than another,
# there is **nothing to learn**, and this will matter.
#
# The loss makes answers with a positive advantage more probable and those with a
# negative one less probable. For $N$ answers, of which answer $i$ has $T_i$ tokens,
#
# $$L = -\frac{1}{N} \sum_{i=1}^{N} \frac{A_i}{T_i}
# \sum_{t=1}^{T_i} \log p(x_{i,t} \mid x_{i,<t}).$$
#
# (The paper has the ratio of new to old probability in place of $\log p$, and clips it,
# to allow several steps per batch of answers. With a single step, as we take it, the
# ratio is 1 and never clipped, and its gradient is that of $\log p$.)
#
# ### Exercise 8.5 - The loss of an answer
#
# *time ~15 min · difficulty 3/5 · 14 points*
#
# **Task.** Compute the loss by the formula, where position `t` of the logits predicts
# token `t` of the answer and PAD after its end does not count.
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


# %% check="assistant/grpo_loss" points=14
# Looks at answers of several lengths, at the loss and at its gradient.
check("assistant/grpo_loss", grpo_loss)

# %% [markdown]
# ### One base model, two ways
#
# The base model for both methods is unit 5's, trained on a mixed diet: half of its
# targets are reversed sequences, the other half are *copies*. Nothing in a prompt says
# which of the two is wanted, so the model learns both and does each about equally
# often.
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
# **Predict first.** Both methods get 60 steps: DPO sees pairs in which the reversal is
# chosen and the copy is rejected, while GRPO gets a reward of 1 for an exact reversal
# and 0 for everything else. What share of the sampled answers will be reversals and
# what share copies, after each of the two?

# %% [markdown]
# > *Your prediction (double-click here to write it down):*


# %%
def log_probability(
    model: nn.Module, source: Int[Tensor, "N Ls"], target: Int[Tensor, "N L"]
) -> Float[Tensor, "N"]:
    """The log-probability of each whole answer; target begins with BOS."""
    labels = target[:, 1:]
    log_p = model(source, target[:, :-1]).log_softmax(-1)  # (N, T, V)
    log_p = log_p.gather(-1, labels.unsqueeze(-1)).squeeze(-1)  # (N, T)
    return (log_p * (labels != reversal.PAD)).sum(dim=1)


def prefer(
    model: nn.Module, steps: int, seed: int = 0, beta: float = 0.1
) -> tuple[list[float], list[float]]:
    """DPO: prefer reversals to copies; the mean log-probability of both, per step."""
    rng, reference = random.Random(seed), copy.deepcopy(model)
    adam = torch.optim.Adam(model.parameters(), 1e-3, (0.9, 0.98), fused=True)
    log: tuple[list[float], list[float]] = [], []
    for _ in range(steps):
        source, target = reversal.make_batch(sequences(rng, 32, (1, 8)))
        copied = torch.cat((target[:, :1], source), dim=1)  # BOS, then the source
        pairs = [log_probability(model, source, answer) for answer in (target, copied)]
        with torch.no_grad():
            before = [
                log_probability(reference, source, answer)
                for answer in (target, copied)
            ]
        loss = dpo_loss(*pairs, *before, beta=beta)
        adam.zero_grad()
        loss.backward()
        adam.step()
        for values, answers in zip(log, pairs, strict=True):
            values.append(answers.mean().item())
    return log


# %% folded=true
# @title The shares of reversals and copies, in a table
def report_shares(models: dict[str, nn.Module]) -> None:
    """Print what each model's sampled answers are."""
    for name, model in models.items():
        backwards, copied = sampled(model, (1, 8))
        print(f"{name:<10}: reversed {backwards:.0%}, copied {copied:.0%}; "
              f"asked for 14592: {written_for(model, '14592')}")  # fmt: skip


# %%
@demo
def one_base_model_two_ways():
    require_solved(dpo_loss, group_advantages, grpo_loss)
    base = supervised(reversed_or_copied, steps=1000)
    preferring, rewarded = copy.deepcopy(base), copy.deepcopy(base)
    preferred = prefer(preferring, steps=60)
    log = reinforce(rewarded, exact, (1, 8), steps=60, rate=1e-3)
    models = {"base model": base, "after DPO": preferring, "after GRPO": rewarded}
    report_shares(models)
    pictures.preferences(*preferred)
    pictures.rewards(log)


# %% [markdown]
# One method forbids and the other teaches. With five seeds, DPO cuts the copies to less
# than a seventh (a sequence that reads the same in both directions counts as both), but
# the reversals end anywhere between a quarter and two thirds. The loss only asks for a
# *difference*, and pushing down the rejected answer is the easiest way to get one, so
# the probability goes to strings that are neither, such as `2954`, `25541` or nothing
# at all. With most seeds the chosen answer even becomes a little less probable; Pal et
# al. 2024 (*Smaug*) describe this failure and add a term that prevents it. GRPO raises
# the share of reversals from less than half to eight or nine in ten, because it samples
# what the model writes *now* and rewards what works.
#
# Neither method taught a new skill. The base model could already reverse, and it now
# chooses to: fine-tuning by reward *sharpens* what a model does some of the time. Where
# it never succeeds, there is nothing to sharpen. A model that was trained on lengths 1
# to 10 reverses none of the sequences of length 12 (unit 5's cliff), so rewards for
# that length leave every group without spread:


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
# Not one of 15,360 answers is right, every advantage is zero, and no parameter moves.
#
# ### A careless reward
#
# Exact match is hard to game, but it gives no credit for an answer that is nearly
# right. A reward that sounds more reasonable is the share of the *written* digits that
# are correct.
#
# **Predict first.** After 80 steps this reward is near 1, so nearly every digit that
# the model writes is correct. What do its answers look like?

# %% [markdown]
# > *Your prediction (double-click here to write it down):*


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
# It writes a digit or two and stops, because a single correct digit earns the full
# reward, and each further digit can only lower it, so the exact match falls to about
# the share of sequences that *have* a single digit, one in ten, while the reward kept
# rising. **A model optimises what you measure, not what you mean**, which is known as
# *reward hacking* (Amodei et al. 2016; Skalse et al. 2022).
#
# The usual leash is a **KL term**: a penalty for answers that the starting model would
# hardly have written. DeepSeekMath adds it to the loss with a weight $\beta$.
#
# With $\beta = 0.2$, the model is penalised for leaving its start:


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
# The hack is gone: the model still writes full answers, but its exact match is hardly
# better than at the start, and with most seeds a little worse. The KL term
# cannot tell a clever shortcut from a better answer, since both are far from the start,
# so the real cure is a better reward.
#
# In practice, the steps usually come in this order: pre-training; supervised
# fine-tuning on instructions with written answers; training on preferences between
# answers, through a reward model (Ouyang et al. 2022) or directly (Rafailov et al.
# 2023, DPO); and reinforcement learning with rewards that can be checked, for
# mathematics, code and the like. SmolLM2-135M-Instruct, the chat model of unit 7, went
# through the first three.

# %% [markdown]
# ## 5. Bug clinic: a loop that learns the questions too
#
# A training loop that counts the wrong tokens gives no error message: the loss falls,
# the answers improve, and only somebody who knows what to look for sees that half of
# the training was spent on the questions. Loops like this are published, some of them
# on purpose. The trainer of *trl* counts every token of a conversation unless you set
# `assistant_only_loss=True`, and Raschka 2024 (*Build a Large Language Model From
# Scratch*, section 7.3) masks only the padding, and leaves the questions to an
# exercise. Here is such a step, with the mask ignored:


# %%
def published_step(
    logits: Float[Tensor, "B L V"],
    ids: Int[Tensor, "B L"],
    answers: Bool[Tensor, "B L"],
) -> tuple[Float[Tensor, ""], Float[Tensor, "B L V"]]:
    """A training step's loss, and its gradient with respect to the logits.

    Args:
        logits: of a model that has read the ids.
        ids: a batch of conversations.
        answers: True where a token is part of an answer. Nobody looks at it here.
    """
    leaf = logits.detach().clone().requires_grad_()
    loss = F.cross_entropy(leaf[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    loss.backward()
    return loss.detach(), leaf.grad


# %% [markdown]
# Your test sees a step only from outside: it chooses a batch, calls the step, and says
# whether loss and gradient are those of the answers. Four bugs to begin with: the
# questions are learnt, the end of each answer is not, logits and labels are not
# shifted, and the sum over the answers is divided by the number of *all* tokens, so
# that a long question makes the step small.
#
# ### Exercise 8.6 - A test for the training step
#
# *time ~25 min · difficulty 3/5 · 15 points*
#
# **Task.** Write a test for *any* step such as `published_step`. Return quietly if it
# learns the answers and nothing else, and raise `AssertionError` if not.
#
# **Example.** `assert_learns_answers(published_step)` raises.
#
# <details><summary>Contract</summary>
#
# - The loss of a correct step is the mean over all answer tokens of the batch: each
#   counts equally, whichever row it is in.
# - Each token is predicted by the logits before it. Token 0 is never an answer.
# - A row may have several answers, and an answer may end with the row.
# - A correct step differs from this by less than 1e-5 in loss and gradient.
# - A faulty one differs by more than 1e-3 somewhere, for random logits.
# - Batches have at most 4 rows of 32 tokens, and a vocabulary of at most 16.
#
# </details>
# <details><summary>How it is graded</summary>
#
# Your test runs on correct steps, written in two styles, and on faulty ones: the four
# above and others. Each correct one comes with two faulty ones, and you get its points
# if the correct one passes *and* the faulty ones do not.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# A batch with one answer per row cannot show every bug, and neither can one whose
# answers are equally long. What would your batch have to look like?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# logits, ids, answers         (B, L, V), (B, L), (B, L), at random
# learnt = answers[:, 1:]      (B, L - 1)
# logits[:, :-1][learnt]       (tokens, V)
# ids[:, 1:][learnt]           (tokens,)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# a batch of some rows, with answers of different lengths, and two in one row
# compute the loss of the answers yourself, and its gradient with backward()
# call the step; compare both results
# ```
#
# </details>


# %% exercise="assistant/bug_clinic"
def assert_learns_answers(step: Callable[..., tuple[Tensor, Tensor]]) -> None:
    """Pass quietly if a training step learns the answers and nothing else.

    Args:
        step: from logits, ids and answers to loss and gradient, like `published_step`.

    Raises:
        AssertionError: it learns something else.
    """
    ### BEGIN SOLUTION
    logits, ids = torch.randn(3, 12, 7), torch.randint(7, (3, 12))
    answers = torch.zeros(3, 12, dtype=torch.bool)
    for row, begin, end in ((0, 3, 6), (0, 9, 11), (1, 2, 9), (2, 5, 7), (2, 10, 12)):
        answers[row, begin:end] = True
    leaf, learnt = logits.clone().requires_grad_(), answers[:, 1:]
    right = F.cross_entropy(leaf[:, :-1][learnt], ids[:, 1:][learnt])
    right.backward()
    loss, gradient = step(logits, ids, answers)
    assert (loss - right.detach()).abs() < 1e-4, "the loss differs"
    assert (gradient - leaf.grad).abs().max() < 1e-4, "the gradient differs"
    ### END SOLUTION


# %% check="assistant/bug_clinic" points=15
# Runs your test on correct steps and on faulty ones.
check("assistant/bug_clinic", assert_learns_answers)

# %% [markdown]
# Whether it is always wrong to learn the questions too is an open question: Shi et al.
# 2024 (*Instruction Tuning With Loss Over Instructions*) find that it helps where the
# answers are short and the examples few. A loop may do it on purpose, but it should not
# do it unnoticed.

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
