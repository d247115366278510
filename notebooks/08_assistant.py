# %% [markdown]
# # 8 · From base model to assistant
#
# *An optional unit, which needs unit 7.* A model that was trained on text continues
# text, so it may answer your question with three more questions. In this unit you
# prepare the conversations from which an assistant learns, teach a published chat model
# to talk like a pirate by training new weights that amount to a third of a percent of
# its own, and find out what preferences and rewards can teach a model and what they
# cannot.

# %% [markdown]
# **You will learn**
# - how a conversation becomes one sequence of tokens, and which of these the loss
#   counts;
# - LoRA, which tunes a large model by training two thin matrices per layer;
# - how DPO learns from pairs of answers, and GRPO from rewards;
# - how a model games a careless reward, and what a KL term does about it;
# - how to test a training step for a bug that no loss curve reveals;
# - what storing weights in four bits costs, and how a cheap model's guesses make a
#   large one faster without changing its text;
# - how benchmarks score choices, and how a small model answers from your own notes.
#
# *About 3½ hours · short path about 1½: exercises 8.1, 8.2, 8.7, 8.11*
#
# *Eleven exercises · 100 points; while a model trains, you can go on reading.* The
# short path covers the essentials: for now, just read the other sections, and come back
# to their exercises later; the demonstrations that depend on them are described in the
# text.
#
# **Recap.** Unit 5 provided a small encoder-decoder, `reversal.new_model()`, that
# learns to reverse digits, with `reversal.make_batch(sequences)`, the training loop
# `reversal.fit`, and `reversal.rate_factor(step, warmup, steps)`, a warm-up followed by
# a cosine decay. It also provided `reversal.greedy_decode` and `reversal.evaluating`,
# which makes a function decode in evaluation mode without gradients. Unit 7 gave
# `modern.LanguageModel`, a byte-level model trained on `modern.text_ids`, and
# `modern.published_tensor`, which finds a parameter in the chat model's file. The
# encoder that runs MiniLM in section 9 comes from unit 4.
#
# <details><summary>Conventions of this unit</summary>
#
# | name | meaning |
# |---|---|
# | `B`, `L`, `V` | conversations in a batch, tokens in each, vocabulary size |
# | `r` (in code `rank`) | rank of a LoRA update |
# | `P`, `S` | prompts in a batch, answers to each of them (a *group*) |
# | `N`, `T` | answers or pairs of answers in a batch, tokens in an answer |
#
# </details>

# %%
import copy
import math
import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from autograder import check, demo, earlier, require_solved
from transformer_course.assistant.library import pictures, recorded, tuning
from transformer_course.assistant.library.assistant import load_assistant
from transformer_course.assistant.library.letters import encode_letters
from transformer_course.assistant.library.reader import load_reader
from transformer_course.assistant.library.texts import (
    BITS,
    CHOICES,
    ESSAY,
    FRANCE,
    HARD,
    SHOWN,
)

# False: what earlier units built comes from the course, and is correct. True: from your
# own notebooks, if they are beside this one. Grading always uses the course's.
USE_MY_OWN = False
encoder_decoder = earlier("04_encoder_decoder", mine=USE_MY_OWN)
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
# To train on such text, we have to decide which tokens the loss counts. The model will
# never have to write the user's question, so the loss leaves the question out. What it
# does have to write is the answer, and also the `<|im_end|>` after it, its only way to
# say that it has finished. PyTorch's `F.cross_entropy` skips each position whose label
# is -100, so a list of labels is all that we need. Ouyang et al. 2022 (*InstructGPT*)
# call this step **supervised fine-tuning**.
#
# ### Exercise 8.1 - A conversation and its labels
#
# *time ~15 min · difficulty 2/5 · 10 points*
#
# **Task.** Return the ids of a conversation and its labels. A label repeats the token's
# id if the assistant has to write that token, including its `<|im_end|>`; otherwise it
# is `IGNORE`.
#
# **Example.** In the conversation above, every label before `Arr` is `IGNORE`, as is
# that of the last newline. The part that counts in the loss runs from `Arr` to the last
# `<|im_end|>`.
#
# <details><summary>Contract</summary>
#
# - Each turn is `<|im_start|>`, its role, a newline, its text, `<|im_end|>`, a newline.
# - Every turn with the role `"assistant"` is learnt, not only the last.
# - Neither the role's line nor the newline after `<|im_end|>` is learnt.
# - Labels are not shifted: `labels[t]` belongs to `ids[t]`.
# - You may encode a turn in parts or as a whole. A newline may become several ids.
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


# %% check="assistant/chat_example" points=10
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
# Of a short conversation like this one, less than a fifth of the tokens counts in the
# loss. The marker at the end of each answer deserves a second look, because a
# well-known bug drops it from the loss: SmolLM2 uses `<|im_end|>` for padding as well,
# so code that gives every padding token the label -100 also hides the end of every
# answer. The loss falls as it should and the answers look fine, but the tuned model
# never stops talking (*trl*, issue 1623 and pull request 6357). The labels still need
# to be shifted, as in unit 7, since the logits at position `t` predict token `t + 1`:


# %%
def answer_loss(
    logits: Float[Tensor, "L V"], labels: Int[Tensor, "L"]
) -> Float[Tensor, ""]:
    """The mean cross-entropy of the labelled tokens, each predicted by those before."""
    return F.cross_entropy(logits[:-1], labels[1:], ignore_index=IGNORE)


# %% [markdown]
# ## 2. LoRA: tune a model with two thin matrices
#
# SmolLM2-135M-Instruct has 134.5 million parameters. For each of them, training with
# AdamW stores a gradient and two moment estimates, which takes three times the memory
# of the model itself. Hu et al. 2021 (section 4.1) hypothesise that the *update* that
# fine-tuning makes to a matrix has a low rank, so they freeze the matrix $W$ and learn
# only its update, as the product of two thin matrices:
#
# $$y = W x + \frac{\alpha}{r} B A x, \qquad A: r \times d_\text{in},
# \quad B: d_\text{out} \times r$$
#
# With $r = 8$, a matrix of 576 × 576 gets 9,216 new parameters alongside its 331,776
# old ones. $A$ starts with random entries and $B$ with zeros, so before the first step
# the model is exactly what it was. After the last step, $W + \frac{\alpha}{r} B A$ can
# be stored as an ordinary matrix again: **the tuned model is as fast as before.**
#
# **Predict first.** If *both* matrices started at zero, the model would also start out
# unchanged. What would the first gradients of $A$ and of $B$ be, and what would the
# model learn?

# %% [markdown]
# > *Your prediction (double-click here to write it down):*

# %% [markdown]
# ### Exercise 8.2 - A linear layer with LoRA
#
# *time ~20 min · difficulty 3/5 · 12 points*
#
# **Task.** Write `LoRALinear`, which freezes a linear layer and adds
# $\frac{\alpha}{r} B A x$ to its output. `merged` returns one plain layer with the same
# output.
#
# **Example.** `LoRALinear(nn.Linear(6, 4), rank=2)` has 20 trainable parameters: `a` of
# shape `(2, 6)` and `b` of shape `(4, 2)`.
#
# <details><summary>Contract</summary>
#
# - `base` is the layer itself, not a copy; its parameters do not require gradients.
# - The parameters `a`, `(rank, d_in)`, and `b`, `(d_out, rank)`, are trainable.
# - `a` starts with random entries, `b` with zeros.
# - The update is multiplied by `alpha / rank`.
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
    """A frozen linear layer plus a trainable update of low rank (Hu et al. 2021).

    Args:
        base: the layer to tune, from d_in to d_out features.
        rank: of the update.
        alpha: the update is multiplied by alpha / rank.
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
        """The layer's output plus the low-rank update."""
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


# %% check="assistant/lora_linear" points=12
# Looks at the start, at what is trainable, at results, gradients and the merged layer.
check("assistant/lora_linear", LoRALinear)

# %% [markdown]
# The gradient of $B$ contains the factor $A x$, and the gradient of $A$ the factor $B$.
# With both matrices at zero, both gradients are zero too, at the first and every later
# step, so the model would learn nothing at all.
#
# Now for the chat model: the query and value projections of all 30 blocks get a rank-8
# update, and the only training data are twelve conversations such as *What colour is
# the sky? - Arr, it be blue, matey!* Each of the thirty steps uses one of them, chosen
# at random.
#
# **Predict first.** After thirty steps, how does the model answer *What is the capital
# of France?*, which is not among the twelve? And by how much does its perplexity rise
# on a plain English paragraph about baking bread?

# %% [markdown]
# > *Your prediction (double-click here to write it down):*


# %%
def add_lora(chat: nn.Module, rank: int = 8) -> nn.Module:
    """Freeze a model; give each block's query and value projections a LoRA update."""
    chat.requires_grad_(False)
    for block in chat.blocks:
        layer = block.attention
        layer.w_q, layer.w_v = LoRALinear(layer.w_q, rank), LoRALinear(layer.w_v, rank)
    return chat


@demo
def talk_like_a_pirate():
    require_solved(chat_example, LoRALinear)
    assistant = load_assistant(modern)
    if assistant is None:
        print(f"This is what it printed for us:\n\n{tuning.RECORDED}")
        return
    system, encode = ("system", tuning.SYSTEM), assistant.published.encode
    examples = [
        chat_example([system, ("user", question), ("assistant", text)], encode)
        for question, text in tuning.PIRATE
    ]

    def report(name: str) -> None:
        print(f"{name}: perplexity {assistant.perplexity(tuning.PLAIN):.1f}")
        for question in tuning.UNSEEN:
            print(f"  {question:<32} {assistant.answer(question, max_len=20)}")

    report("before")
    torch.manual_seed(0)
    chat = add_lora(assistant.network)
    trained = sum(p.numel() for p in chat.parameters() if p.requires_grad)
    started = time.process_time()
    losses = tuning.tune(chat, examples, answer_loss, steps=30)
    seconds = time.process_time() - started
    print(f"\n{trained:,} parameters are trained; loss of the first ten steps "
          f"{sum(losses[:10]) / 10:.2f}, of the last ten {sum(losses[-10:]) / 10:.2f} "
          f"({seconds:.0f} CPU seconds)\n")  # fmt: skip
    report("after")


# %% [markdown]
# Thirty steps are enough for the new style, which carries over to questions that it
# never saw in training: with each of the five seeds that we tried, nearly every answer
# begins with *Arr* and ends with *matey*, and Paris and Berlin are still the capitals.
#
# The style has its price: the perplexity of a paragraph that has nothing to do with
# pirates rises from 26 to between 70 and 95, so the model now seems to choose among
# about three times as many tokens; and the answer to *Who wrote Hamlet?*, which used to
# name Shakespeare, is now *Arr, it be Hamlet, matey!* Twelve short answers say nothing
# about the rest of what the model knows, and nothing in the loss asks it to preserve
# that knowledge. Biderman et al. 2024 (*LoRA Learns Less and Forgets Less*) find that
# full fine-tuning on programming and mathematics forgets even more, and learns more as
# well. With LoRA, at least, nothing is lost for good: the old matrices were frozen, and
# without $A$ and $B$ the model is again exactly what it was.
#
# ## 3. Preferences: learn from pairs of answers
#
# Written answers are expensive, and for many questions it is easier to say which of two
# answers is better than to write a good one. Ouyang et al. 2022 train a *reward model*
# on such comparisons and then optimise the language model, the *policy*, against it
# with reinforcement learning. Rafailov et al. 2023 show that neither step is needed: if
# the policy $\pi$ may move away from a reference $\pi_\text{ref}$ only at a cost set by
# $\beta$, its own log-probabilities already contain a reward, and the pairs can be
# fitted directly. For a chosen answer $y_w$ and a rejected one $y_l$ to the prompt $x$,
# the loss of **DPO** (their equation 7) is
#
# $$L = -\log \sigma\!\left(
# \beta \log \frac{\pi(y_w \mid x)}{\pi_\text{ref}(y_w \mid x)} -
# \beta \log \frac{\pi(y_l \mid x)}{\pi_\text{ref}(y_l \mid x)}\right).$$
#
# The two logarithms say how much more probable each answer has become, so for a model
# that has not moved yet the loss is $\log 2$, whatever the pair.
#
# ### Exercise 8.3 - The loss of DPO
#
# *time ~15 min · difficulty 3/5 · 11 points*
#
# **Task.** Compute this loss as the mean over `N` pairs. The arguments are
# log-probabilities of whole answers, under the model and under the reference.
#
# **Example.** If model and reference are equal, the loss is 0.6931. If `chosen` is then
# raised by 10, with $\beta = 0.1$, it falls to 0.3133.
#
# <details><summary>Contract</summary>
#
# - The result is a single value, the mean over the pairs.
# - The loss is finite and exact for margins of any size, for example 1,000.
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


# %% check="assistant/dpo_loss" points=11
# Looks at pairs with small and with huge margins, at the loss and at its gradients.
check("assistant/dpo_loss", dpo_loss)

# %% [markdown]
# A comparison in the next section shows what this loss does to a model: DPO and a
# second method start from the same base model.
#
# ## 4. Rewards: learn from your own attempts
#
# Where nobody has written answers or compared them, but an answer can be **checked**,
# there is a third way: let the model try several times, and make the attempts that
# worked more probable. This is how models such as DeepSeek-R1 (2025) learnt to solve
# problems step by step. The algorithm is **GRPO** (Shao et al. 2024, *DeepSeekMath*),
# and it is simple enough to try on unit 5's reversal.
#
# The attempts at one prompt form a **group**. Each gets a reward $R_i$, and its
# **advantage** says how much better it is than the average of its group:
#
# $$A_i = \frac{R_i - \operatorname{mean}(R)}{\operatorname{std}(R) + \varepsilon}$$
#
# ### Exercise 8.4 - Group advantages
#
# *time ~10 min · difficulty 2/5 · 6 points*
#
# **Task.** Subtract from each reward the mean of its group, which is a row of
# `rewards`, and divide by the group's standard deviation plus `eps`.
#
# **Example.** Rewards `[[1, 0], [0, 0]]` give about `[[1, -1], [0, 0]]`.
#
# <details><summary>Contract</summary>
#
# - The standard deviation is the root of the mean squared deviation: the sum is divided
#   by `S`, not by `S - 1`.
# - A group whose rewards are all equal, or that has a single answer, gets zeros.
# - `rewards` is not modified; the result has its dtype.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Should an answer to a hard prompt compete with answers to an easy one? Over which
# dimension should the mean be taken?
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


# %% check="assistant/group_advantages" points=6
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
# counts. The second group gets zeros: where no answer is better than another, there is
# **nothing to learn**, which will matter below.
#
# The loss makes answers with a positive advantage more probable and those with a
# negative one less probable. For $N$ answers, where answer $i$ has $T_i$ tokens,
#
# $$L = -\frac{1}{N} \sum_{i=1}^{N} \frac{A_i}{T_i}
# \sum_{t=1}^{T_i} \log p(x_{i,t} \mid x_{i,<t}).$$
#
# (In place of $\log p$, the paper has the ratio of new to old probability, clipped so
# that several steps per batch of answers are possible. With a single step, as here, the
# ratio is 1 and is never clipped, and its gradient is that of $\log p$.)
#
# ### Exercise 8.5 - The loss of an answer
#
# *time ~15 min · difficulty 3/5 · 8 points*
#
# **Task.** Compute this loss: position `t` of the logits predicts token `t` of the
# answer, and PAD after the end of an answer does not count.
#
# **Example.** If all logits are zero and the advantages are 1 and -1, the loss is 0:
# both answers have the same mean log-probability.
#
# <details><summary>Contract</summary>
#
# - All tokens except PAD count, including EOS; every answer has at least one.
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


# %% check="assistant/grpo_loss" points=8
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
# optimiser step per batch of answers:


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
# One method discourages and the other encourages. Across five seeds, DPO cuts the
# copies to less than a seventh of the answers (a sequence that reads the same in both
# directions counts as both), but reversals make up anything from a quarter to two
# thirds. The loss only asks for a *difference*, and pushing down the rejected answer is
# an easy way to get one, so probability shifts to strings that are neither the chosen
# nor the rejected answer, such as `25541` or `2954`. With most seeds, even the chosen
# answer becomes less probable; Pal et al. 2024 (*Smaug*) describe this failure and add
# a term to prevent it (*DPO-Positive*). GRPO raises the share of reversals from less
# than half to eight or nine in ten, because it samples what the model writes *now* and
# rewards what works.
#
# Neither method taught a new skill. The base model could already reverse a sequence,
# and after GRPO it usually does: fine-tuning by reward *sharpens* what a model does
# some of the time. Where it never succeeds, there is nothing to sharpen. A model that
# was trained on lengths 1 to 10 reverses none of the sequences of length 12 (unit 5's
# cliff), so at that length the rewards in every group are all equal:


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
# Not one of 15,360 answers is correct, every advantage is zero, and no parameter moves.
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
# The model almost always stops after a digit or two, because a single correct digit
# earns the full reward, and each further digit can only lower it. The exact match falls
# to about one in ten, the share of sequences that *have* a single digit, while the
# reward keeps rising. **A model optimises what you measure, not what you mean**: this
# is known as *reward hacking* (Amodei et al. 2016; Skalse et al. 2022).
#
# The usual leash is a **KL term**: a penalty for answers that the starting model would
# have been unlikely to write. DeepSeekMath adds it to the loss with a weight $\beta$,
# here 0.2:


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
# The hack is gone, and most answers still have their full length, but the exact match
# hardly rises with any seed and falls with most. The KL term cannot tell a clever
# shortcut from a better answer, since both are far from the starting model, so the real
# cure is a better reward.
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
# the answers improve, and only someone who knows what to look for sees that much of the
# training was spent on the questions. Such loops have been published, some of them
# deliberately. The trainer of *trl* counts every token of a conversation unless you set
# `assistant_only_loss=True`, and Raschka 2024 (*Build a Large Language Model From
# Scratch*, section 7.3) masks only the padding and leaves the questions as an exercise.
# Here is such a step, which ignores its mask:


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
# Your test sees a step only from the outside: it chooses a batch, calls the step, and
# checks whether the loss and the gradient are those of the answers. Here are four bugs
# to begin with: the questions are learnt, the end of each answer is not, logits and
# labels are not shifted, and the sum over the answers is divided by the number of *all*
# tokens, so a long question makes the step small.
#
# ### Exercise 8.6 - A test for the training step
#
# *time ~20 min · difficulty 3/5 · 8 points*
#
# **Task.** Write a test for *any* step with the signature of `published_step`. Return
# normally if the step learns the answers and nothing else; otherwise raise
# `AssertionError`.
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
# above and others. Each correct step comes with two faulty ones, and you get the points
# for the three if the correct step passes *and* the faulty ones do not.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# A batch with one answer per row cannot show every bug, and neither can one whose
# answers are all equally long. What would your batch have to look like?
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


# %% check="assistant/bug_clinic" points=8
# Runs your test on correct steps and on faulty ones.
check("assistant/bug_clinic", assert_learns_answers)

# %% [markdown]
# Learning the questions as well is not always wrong: Shi et al. 2024 (*Instruction
# Tuning With Loss Over Instructions*) find that it helps most where long instructions
# have short answers, or where there are few examples. You may write a loop that does
# this deliberately, but it must not happen unnoticed.

# %% [markdown]
# ## 6. Smaller and faster
#
# In float32, SmolLM2's 135 million parameters take 0.54 GB, and a larger assistant's 8
# billion would take 32 GB, which is more than most graphics cards hold. Since every
# parameter is read again for each token that is written, fewer bits per parameter also
# mean less waiting. **Quantisation** therefore stores each weight as a small integer,
# its *code* $c$, and lets many weights share one *scale* $s$:
#
# $$w \approx s \cdot c, \qquad s = \frac{\max |w|}{2^{b-1} - 1}, \qquad
# c = \operatorname{round}\!\left(\frac{w}{s}\right)$$
#
# for $b$ bits (*absmax* quantisation; Dettmers et al. 2022, *LLM.int8()*, section 2).
# Take the weights 0.3, -1 and 0.6 with 4 bits, for which the largest code is 7. The
# scale is 1/7, so the codes are 2, -7 and 4, which decode to 0.29, -1 and 0.57. If the
# same three weights had to share their scale with a weight of 10, however, their codes
# would be 0, -1 and 0, and two of the three would be lost. Each row of a matrix, which
# produces one output *channel*, should therefore have a scale of its own.
#
# ### Exercise 8.7 - Quantise each channel
#
# *time ~10 min · difficulty 2/5 · 9 points*
#
# **Task.** Quantise a matrix as in the formula, with one scale for each row, and return
# the codes and the scales.
#
# **Example.** `quantize_per_channel(torch.tensor([[0.3, -1.0, 0.6]]), bits=4)` returns
# the codes `[[2, -7, 4]]` and the scales `[[0.1429]]`.
#
# <details><summary>Contract</summary>
#
# - Codes are of type int8 for any `bits` from 2 to 8.
# - A row of zeros has the scale 1.
# - `weight` is not modified.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Eight bits can represent 256 values. Which one do you leave out, so that the codes of
# $w$ and $-w$ differ only in sign?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# weight               (d_out, d_in)
# peaks, scales        (d_out, 1)        keep the dimension
# codes                (d_out, d_in)     int8
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# peaks = largest absolute value of each row
# scales = peaks / (2 ** (bits - 1) - 1), or 1 where the peak is 0
# codes = weight / scales, rounded, as int8
# ```
#
# </details>


# %% exercise="assistant/quantize_per_channel"
def quantize_per_channel(
    weight: Float[Tensor, "d_out d_in"], bits: int = 8
) -> tuple[Int[Tensor, "d_out d_in"], Float[Tensor, "d_out 1"]]:
    """Quantise each row by its largest absolute value (Dettmers et al. 2022).

    Args:
        weight: the matrix of a linear layer.
        bits: for each code, from 2 to 8.

    Returns:
        The codes, and the scale of each row: `codes * scales` is close to `weight`.
    """
    ### BEGIN SOLUTION
    largest = 2 ** (bits - 1) - 1
    peaks = weight.abs().amax(dim=1, keepdim=True)  # (d_out, 1)
    scales = torch.where(peaks > 0, peaks / largest, 1.0)  # (d_out, 1)
    codes = (weight / scales).round().to(torch.int8)  # (d_out, d_in)
    return codes, scales
    ### END SOLUTION


# %% check="assistant/quantize_per_channel" points=9
# Looks at several bits, at rows of very different sizes, and at a row of zeros.
check("assistant/quantize_per_channel", quantize_per_channel)

# %% [markdown]
# To see what fewer bits cost the chat model, we measure its perplexity on a text
# written for this course, which it cannot have learnt by heart. Your function quantises
# all matrices of the model's thirty blocks in three ways: with one scale for a whole
# matrix, with one for each row, and with one for every 32 weights of a row, which takes
# no more than reshaping the matrix. (In the file, each weight of these matrices already
# takes one of only sixteen values within its block of 32, so the price below comes on
# top of one that has already been paid.)
#
# The next cell looks for the model, and if it is missing, says in one line how to get
# it (98 MB, Apache-2.0). In that case, the later cells show what they printed for us.

# %%
chat = None  # stays None where SmolLM2 is not installed


@demo
def a_chat_model_to_work_on():
    global chat
    chat = load_assistant(modern)
    if chat is not None:
        print(f"perplexity on a new text, as published: {chat.perplexity(ESSAY):.2f}")


# %%
def restored(weight: Float[Tensor, "d_out d_in"], bits: int, width: int) -> Tensor:
    """A matrix after quantisation, with one scale for every `width` weights."""
    codes, scales = quantize_per_channel(weight.reshape(-1, width), bits)
    return (codes * scales).view_as(weight)


# %%
@demo
def the_price_of_bits():
    require_solved(quantize_per_channel)
    if chat is None:
        return recorded.show("the price of bits")
    ways = {"matrix": Tensor.numel, "row": lambda w: w.size(1), "block": lambda w: 32}
    prices = {name: [] for name in ways}
    for name, width in ways.items():
        for bits in BITS:
            chat.fill(lambda w, b=bits, width=width: restored(w, b, width(w)))
            prices[name].append(chat.perplexity(ESSAY))
            print(f"{bits} bits, a scale per {name:<6}  perplexity "
                  f"{prices[name][-1]:8.2f}   {chat.answer(FRANCE, 12)}")  # fmt: skip
    pictures.prices(BITS, prices)
    chat.fill(lambda weight: weight)  # as published, for what follows


# %% [markdown]
# With eight bits, any of the three is good enough: a scale per row raises the
# perplexity only from 31.1 to 31.2. With six, the three begin to differ: a scale per
# row gives 31.7, and one for the whole matrix 51. At four bits, one for every 32
# weights still gives 38, whereas a scale per row doubles the perplexity, and one for
# the whole matrix destroys the model, which then answers with punctuation. The few
# large weights of a matrix make the difference, since they set the scale for all
# weights that share it. Every block of 32 needs its own 16-bit scale, however, which
# adds half a bit to each weight: nothing is free, but this is cheap.
#
# ## 7. Two tokens for the price of one
#
# A large model is slow because it writes one token at a time, although it could read
# many at once at almost the same cost. So let a **cheap model guess** the next few
# tokens, and let the large one judge all of them in a single pass (Leviathan et al.
# 2023; Chen et al. 2023, *speculative decoding*). If the cheap model samples from $q$
# and the large one would have sampled from $p$, a guess $x$ is accepted with
# probability $\min(1, p(x) / q(x))$. A rejected guess is replaced by a sample from the
# **residual**, $\max(0, p - q)$ rescaled to sum to 1.
#
# Take two tokens with $p = (0.2, 0.8)$ and $q = (0.5, 0.5)$, and follow the first. It
# is guessed half the time and then accepted in two cases out of five, so it is written
# with probability 0.2, exactly as often as the large model wants. All rejections become
# the second token, to which $q$ gave too little probability.
#
# ### Exercise 8.8 - Accept or replace
#
# *time ~10 min · difficulty 2/5 · 9 points*
#
# **Task.** Return the acceptance probability of each token of the vocabulary, and the
# residual distribution.
#
# **Example.** For `p = [0.6, 0.3, 0.1]` and `q = [0.2, 0.2, 0.6]`, the acceptance
# probabilities are `[1, 1, 0.1667]`, and the residual is `[0.8, 0.2, 0]`.
#
# <details><summary>Contract</summary>
#
# - Both arguments may have any number of leading dimensions.
# - A token that q never guesses has the acceptance probability 1; any other token that
#   p rules out (p = 0) has 0.
# - Where the rows of p and q are equal, the residual is p.
# - Neither argument is modified.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Which tokens does $q$ guess more often than $p$ wants, and which ones less often?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# accept               (..., V)
# excess               (..., V)      max(0, p - q)
# its sum              (..., 1)      keep the dimension
# residual             (..., V)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# accept = p / q where q is positive, else 1; at most 1
# excess = p - q where that is positive, else 0
# residual = excess / its sum where the sum is positive, else p
# ```
#
# </details>


# %% exercise="assistant/accept_rule"
def accept_rule(
    p: Float[Tensor, "*batch V"], q: Float[Tensor, "*batch V"]
) -> tuple[Float[Tensor, "*batch V"], Float[Tensor, "*batch V"]]:
    """Accept guesses so that the large model's distribution is kept.

    Leviathan et al. 2023, *Fast Inference from Transformers via Speculative Decoding*,
    section 2.3.

    Args:
        p: distributions of the large model.
        q: distributions from which the cheap model samples its guesses.

    Returns:
        The acceptance probability of each token, and the residual distribution.
    """
    ### BEGIN SOLUTION
    accept = torch.where(q > 0, p / q, 1.0).clamp(max=1)  # (*batch, V)
    excess = (p - q).clamp(min=0)  # (*batch, V)
    total = excess.sum(dim=-1, keepdim=True)  # (*batch, 1)
    return accept, torch.where(total > 0, excess / total, p)
    ### END SOLUTION


# %% check="assistant/accept_rule" points=9
# Looks at several shapes, at tokens of probability zero, and at equal distributions.
check("assistant/accept_rule", accept_rule)

# %% [markdown]
# Why does this keep the distribution, however bad the guesses are? A token $x$ is
# written if it is guessed and accepted, which has probability
# $q(x) \min(1, p(x)/q(x)) = \min(p(x), q(x))$, or if a guess was rejected and $x$ is
# its replacement. A guess is rejected with probability $1 - \sum_y \min(p(y), q(y))$,
# which equals $\sum_y \max(0, p(y) - q(y))$, the sum by which the residual was divided.
# The second way therefore contributes $\max(0, p(x) - q(x))$, and since
# $\min(p, q) + \max(0, p - q)$ is $p$, the two ways add up to what the large model
# wants, whatever $q$ may be. The next cell adds them up with your function:


# %%
@demo
def the_distribution_is_kept():
    torch.manual_seed(8)
    for sharpness in (0.5, 2.0, 8.0):
        p, q = (sharpness * torch.randn(2, 1000, dtype=torch.double)).softmax(-1)
        accept, residual = accept_rule(p, q)
        written = q * accept + (1 - (q * accept).sum()) * residual
        print(f"guesses accepted: {(q * accept).sum():5.1%}   largest difference "
              f"from p: {(written - p).abs().max():.0e}")  # fmt: skip


# %% [markdown]
# The share of guesses that are accepted falls from over 70 % to almost zero, yet the
# resulting distribution differs from $p$ only by rounding errors. A bad guesser costs
# time, but never quality.
#
# For several guesses in a row, the rule is applied from left to right. The first
# rejected guess ends the pass, because what follows it was guessed for a text that no
# longer exists. If all $k$ guesses are accepted, the same pass has also computed the
# distribution after the last of them, which gives one more token for free.
#
# ### Exercise 8.9 - Judge a row of guesses
#
# *time ~15 min · difficulty 3/5 · 10 points*
#
# **Task.** Return how many guesses are kept, and the distribution from which the next
# token is to be sampled. Accept guess `i` if `uniforms[i]`, a random number between 0
# and 1, is below its acceptance probability.
#
# **Example.** If the second of four guesses is the first to be rejected, return 1 and
# the residual at index 1; if none is rejected, return 4 and `p[4]`.
#
# <details><summary>Contract</summary>
#
# - Row `i` of `p` judges guess `i`; the last row comes after all guesses.
# - No guess after a rejected one is kept.
# - The number may be a Python integer.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# `accept_rule` gives an acceptance probability for every token of the vocabulary. Which
# entry of each row do you need?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# p                        (k + 1, V)
# q, accept, residual      (k, V)
# of the guesses           (k,)         `gather` along the last dimension
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# accept, residual = accept_rule(all rows of p but the last, q)
# for each guess i, from the first:
#     if uniforms[i] >= accept[i, guess]: return i and residual[i]
# return k and the last row of p
# ```
#
# </details>


# %% exercise="assistant/judge_guesses"
def judge_guesses(
    p: Float[Tensor, "k+1 V"],
    q: Float[Tensor, "k V"],
    guesses: Int[Tensor, "k"],
    uniforms: Float[Tensor, "k"],
) -> tuple[Int[Tensor, ""], Float[Tensor, "V"]]:
    """Keep guesses up to the first that is rejected (Leviathan et al. 2023).

    Args:
        p: distributions of the large model, before each guess and after the last.
        q: distributions from which the guesses were sampled.
        guesses: the tokens that the cheap model guessed, int64.
        uniforms: random numbers from 0 to 1, one for each guess.

    Returns:
        How many guesses are kept, and the distribution of the next token.
    """
    ### BEGIN SOLUTION
    accept, residual = accept_rule(p[:-1], q)
    chances = accept.gather(-1, guesses[:, None])[:, 0]  # (k,)
    rejected = (uniforms >= chances).nonzero()[:, 0]  # positions
    if len(rejected) == 0:
        return torch.tensor(len(guesses)), p[-1]
    return rejected[0], residual[rejected[0]]
    ### END SOLUTION


# %% check="assistant/judge_guesses" points=10
# Looks at rejections at the start, later and never, and at what comes after them.
check("assistant/judge_guesses", judge_guesses)

# %% [markdown]
# Now both functions go to work: a table of byte trigrams guesses, and unit 7's byte
# model judges. If that model's file is neither here nor in the folder of unit 7, a
# shorter training run takes its place.


# %% folded=true
# @title A table of trigrams guesses, and the model judges
def byte_trigrams(text: Tensor) -> Tensor:
    """A cheap model: `table[a, b]` is the distribution after the bytes a, b."""
    counts = torch.full((128, 128, 128), 1e-3)
    ones = torch.ones(len(text) - 2)
    counts.index_put_((text[:-2], text[1:-1], text[2:]), ones, accumulate=True)
    return counts / counts.sum(-1, keepdim=True)


def bytes_model() -> nn.Module:
    """Your model of unit 7 if its file is here or in its folder, else a new one."""
    for folder in (Path(), Path("../07_since_2017")):
        if (file := folder / "modern.safetensors").is_file():
            return modern.trained_model(str(file)).eval()
    return modern.train_model(steps=400).eval()


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


def sampling_noise(exact: Tensor) -> float:
    """How far 4,000 plain samples of a distribution are from it (total variation)."""
    generator = torch.Generator().manual_seed(3)
    ids = torch.multinomial(exact.flatten(), 4000, True, generator=generator)
    frequencies = torch.bincount(ids, minlength=exact.numel()) / 4000
    return (frequencies - exact.flatten()).abs().sum().item() / 2


# %%
def speculate(
    model: nn.Module, table: Tensor, ids: Int[Tensor, "1 T"], count: int, ahead: int,
    generator: torch.Generator,
) -> tuple[Int[Tensor, "1 L"], int]:  # fmt: skip
    """Write `count` tokens or a few more after ids; count the passes."""
    passes, wanted = 0, ids.size(1) + count
    while ids.size(1) < wanted:
        text, q = ids, table[:0, 0]  # (0, V): nothing is guessed yet
        for _ in range(ahead):
            q = torch.cat((q, table[text[0, -2], text[0, -1]][None]))
            guess = torch.multinomial(q[-1], 1, generator=generator)
            text = torch.cat((text, guess[None]), dim=1)
        p = model(text)[0, -ahead - 1 :].softmax(-1)  # (ahead + 1, V): a single pass
        passes += 1
        uniforms = torch.rand(ahead, generator=generator)
        kept, rest = judge_guesses(p, q, text[0, ids.size(1) :], uniforms)
        token = torch.multinomial(rest, 1, generator=generator)
        ids = torch.cat((text[:, : ids.size(1) + kept], token[None]), dim=1)
    return ids, passes


# %% folded=true
# @title Ten texts with each number of guesses
@torch.no_grad()
def bytes_per_pass(model: nn.Module, table: Tensor, ahead: int) -> float:
    """How many bytes a pass writes, in ten texts; prints the time."""
    written, passes, started = 0, 0, time.perf_counter()
    for seed in range(10):  # none longer than those of training
        generator = torch.Generator().manual_seed(seed)
        ids, count = speculate(model, table, YESTERDAY, 80, ahead, generator)
        written, passes = written + ids.size(1) - YESTERDAY.size(1), passes + count
    seconds = time.perf_counter() - started
    print(f"{ahead} guesses ahead: {written / passes:.2f} bytes per pass, "
          f"{1000 * seconds / written:.1f} ms per byte")  # fmt: skip
    return written / passes


# %%
YESTERDAY = torch.tensor([list(b"Yesterday, ")])


@demo
def guesses_at_work():
    require_solved(accept_rule, judge_guesses)  # before a model is trained
    model, table = bytes_model(), byte_trigrams(modern.text_ids(0, 20_000))
    pictures.passes({n: bytes_per_pass(model, table, n) for n in (0, 1, 2, 4, 8)})
    with torch.no_grad():
        frequencies, exact = pairs_of_bytes(model, table, YESTERDAY)
    print("the next two bytes of 4,000 texts, total variation from the model's own "
          f"probabilities: {(frequencies - exact).abs().sum() / 2:.3f}\n"
          f"4,000 plain samples of these probabilities: {sampling_noise(exact):.3f}"
          )  # fmt: skip


# %% [markdown]
# With four guesses, the model writes roughly two bytes in each pass, so it has to run
# about half as often. Guessing further ahead helps less and less, because the first
# rejected guess ends a pass and makes all later ones worthless. The frequencies of the
# sampled pairs of bytes differ from the model's own probabilities about as much as
# plain samples do, that is, by no more than sampling noise.
#
# How much time this saves depends on the machine, and above all on the cost of a long
# pass compared with a short one, which is why the cell prints milliseconds and the text
# makes no promises. A server also keeps a cache of keys and values (unit 7), from which
# it has to remove what it computed for rejected guesses.
#
# ## 8. Which answer is more probable?
#
# Many benchmarks never read what a model writes. They show it a question, compute the
# probability of each of four given answers, and count how often the correct one comes
# out on top. This way, nothing has to be parsed, and even a base model that cannot chat
# can be tested. What exactly is compared matters, however: the log-probability of a
# choice is a sum over its tokens, and the choices differ in length, so some benchmarks
# take the mean per token instead.
#
# **Predict first.** "What do plants need to grow?" The choices are *light and water*,
# *salt*, *a good night's sleep* and *noise*. Which has the largest sum after this
# question, and which the largest mean?

# %% [markdown]
# > *Your prediction (double-click here to write it down):*

# %% [markdown]
# A third way asks how much the **question** has added: the log-probability of the
# choice after the question, minus its log-probability without the question (Brown et
# al. 2020, *Language Models are Few-Shot Learners*, section 2.4).
#
# ### Exercise 8.10 - Score the choices
#
# *time ~10 min · difficulty 2/5 · 9 points*
#
# **Task.** Return three scores for each choice: the sum of its log-probabilities, their
# mean, and the gain over the sum without the question. `real` says which positions hold
# tokens.
#
# **Example.** A choice with the log-probabilities `[-1, -3]` after the question and
# `[-2, -4]` without it has the scores -4, -2 and 2.
#
# <details><summary>Contract</summary>
#
# - Padding may hold anything, even infinity or NaN.
# - No argument is modified.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# What is zero times infinity, and which function replaces entries instead of
# multiplying them?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# log_p, alone, real       (N, T)
# sums, means, gains       (N,)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# put 0 where real is False, in log_p and in alone
# sums = sum of each row of log_p
# means = sums / number of real tokens of each row
# gains = sums - sum of each row of alone
# ```
#
# </details>


# %% exercise="assistant/choice_scores"
def choice_scores(
    log_p: Float[Tensor, "N T"],
    alone: Float[Tensor, "N T"],
    real: Bool[Tensor, "N T"],
) -> tuple[Float[Tensor, "N"], Float[Tensor, "N"], Float[Tensor, "N"]]:
    """Score the choices of a question in three ways (Brown et al. 2020, section 2.4).

    Args:
        log_p: log-probability of each token of a choice after the question.
        alone: the same tokens' log-probabilities without the question.
        real: False for padding after the end of a choice.

    Returns:
        Sums, means per token, and gains.
    """
    ### BEGIN SOLUTION
    log_p, alone = (x.masked_fill(~real, 0) for x in (log_p, alone))  # (N, T)
    sums = log_p.sum(dim=1)  # (N,)
    return sums, sums / real.sum(dim=1), sums - alone.sum(dim=1)
    ### END SOLUTION


# %% check="assistant/choice_scores" points=9
# Looks at choices of several lengths, and at padding of several kinds.
check("assistant/choice_scores", choice_scores)


# %%
def scores_of(question: str, choices: list[str]) -> tuple[Tensor, ...]:
    """Your three scores of each choice after a question."""
    after, alone = (
        [chat.log_probabilities(text, f" {choice}") for choice in choices]
        for text in (f"Question: {question}\nAnswer:", "Answer:")
    )
    real = [torch.ones_like(row, dtype=torch.bool) for row in after]
    return choice_scores(
        *(pad_sequence(rows, batch_first=True) for rows in (after, alone, real))
    )


# %%
@demo
def twenty_questions_with_choices():
    require_solved(choice_scores)
    if chat is None:
        return recorded.show("twenty questions with choices")
    correct, words = Counter(sum=0, mean=0, gain=0), Counter()
    for question, *choices in CHOICES:
        for name, scores in zip(correct, scores_of(question, choices), strict=True):
            choice = choices[scores.argmax()]
            correct[name] += choice == choices[0]
            words[name] += len(choice.split()) / len(CHOICES)
            if question in SHOWN:
                print(f"{question} {name}: {choice}")
    pictures.scores(correct)
    for name, count in correct.items():
        print(f"{name:<5} {count:2} of {len(CHOICES)} correct; {words[name]:.1f} words")


# %% [markdown]
# After this question, *salt* has the largest sum, since it is a single token, and *a
# good night's sleep* has the largest mean, because each of its words is easy to guess
# from the one before. Only the gain prefers *light and water*: that choice is
# improbable in general, and the question is what makes it probable. Over all twenty
# questions, the gain is right in 17 cases, whereas the sum picks short choices, the
# mean picks long ones, and both fail more often than not. The model has not changed,
# only the way in which we read its log-probabilities.
#
# Our answers differ in length to make this visible; where they are about equally long,
# the three scores are closer together. Still,  two reports on the same model and the
# same benchmark may differ by several points for no other reason, so a number without
# its scoring rule says little (Holtzman et al. 2021 explain how the probability of an
# answer is split among all the ways of saying it).
#
# ## 9. Ask your own notes
#
# When does the library of Karlsbach open? No model can know, since we invented that
# library, and no amount of fine-tuning on other texts would help. What the model *can*
# do is read, so the way out is to **find** the sentence with the answer and put it into
# the prompt (Lewis et al. 2020, *Retrieval-Augmented Generation*). MiniLM, running in
# your encoder from unit 4, does the finding: it gives each passage a vector, with
# similar directions for similar meanings; SmolLM2 does the reading.
#
# ### Exercise 8.11 - Find the passages
#
# *time ~10 min · difficulty 2/5 · 8 points*
#
# **Task.** Return the `k` largest cosines between the question's vector and the
# passages' vectors, and the indices of those passages, best first.
#
# **Example.** For the question `[2, 0]` and the passages `[0, 3]`, `[5, 5]` and
# `[1, 0]`, the best two are 2 and 1, with the cosines 1 and 0.7071.
#
# <details><summary>Contract</summary>
#
# - Vectors may have any norm except zero.
# - No argument is modified.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# The dot product of two vectors grows with their lengths. What do you divide it by?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# question                 (d_model,)
# passages                 (N, d_model)
# cosines of all           (N,)
# both results             (k,)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# divide each vector by its length
# cosines = passages @ question
# the k largest of them, in decreasing order, and their indices
# ```
#
# </details>


# %% exercise="assistant/top_passages"
def top_passages(
    question: Float[Tensor, "d_model"], passages: Float[Tensor, "N d_model"], k: int
) -> tuple[Float[Tensor, "k"], Int[Tensor, "k"]]:
    """The passages whose vectors are nearest to a question's, by their cosine.

    Args:
        question: its vector.
        passages: their vectors.
        k: how many to return, at most N.

    Returns:
        The largest cosines in falling order, and the indices of their passages.
    """
    ### BEGIN SOLUTION
    passages = F.normalize(passages, dim=-1)  # (N, d_model)
    cosines = passages @ F.normalize(question, dim=-1)  # (N,)
    best = cosines.argsort(descending=True)[:k]
    return cosines[best], best
    ### END SOLUTION


# %% check="assistant/top_passages" points=8
# Looks at vectors of several lengths, and at one, some and all of the passages.
check("assistant/top_passages", top_passages)

# %% [markdown]
# Here are twenty notes, each with a question about it and a word that the answer must
# contain. Later, replace them with your own: lecture notes, a diary, the rules of a
# game. Each note should be a sentence or two that makes sense on its own.

# %% folded=true
# @title Twenty notes, and a question to each: replace them with your own
NOTES = """\
The library of Karlsbach opens at 9:15 on Tuesdays and is closed on Mondays.
Professor Okafor's office is in room 417, on the fourth floor.
The cafeteria serves soup for 2 euros 40 on Fridays.
Late submissions lose ten points for each day.
The course in botany has eleven units, and it ends with a walk in the forest.
Anna's dog is called Bruno and is seven years old.
The train to Lindau leaves from platform 6 at noon.
The password of the guest network is written on the yellow card.
Mr Tanaka plays the cello in the city orchestra.
The botany exam takes place on 14 March in the old gym.
The river Ouse flooded the village in 1987.
The new printer is called Gutenberg and is next to the kitchen.
Keys to the darkroom are kept by Ms Lindqvist at the front desk.
The bicycle workshop repairs brakes for free on Wednesdays.
Our telescope was built in 1932 by two students from Porto.
The chess club meets in the basement, below the music room.
Dr Moreau studies bats that live in the tower of the church.
The swimming pool is closed for repairs until October.
The choir is looking for a tenor for its concert in June.
Parking behind the theatre is allowed after six in the evening.""".splitlines()

QUESTIONS = {
    "When does the library of Karlsbach open on Tuesdays?": "9:15",
    "In which room is Professor Okafor's office?": "417",
    "How much does the soup in the cafeteria cost?": "40",
    "How many points do late submissions lose per day?": "ten",
    "How many units does the course in botany have?": "eleven",
    "What is Anna's dog called?": "Bruno",
    "From which platform does the train to Lindau leave?": "6",
    "Where is the password of the guest network written?": "yellow",
    "Which instrument does Mr Tanaka play?": "cello",
    "Where does the botany exam take place?": "gym",
    "In which year did the river Ouse flood the village?": "1987",
    "Where is the new printer?": "kitchen",
    "Who keeps the keys to the darkroom?": "Lindqvist",
    "On which day does the bicycle workshop repair brakes for free?": "Wednesday",
    "Who built our telescope?": "Porto",
    "Where does the chess club meet?": "basement",
    "Which animals does Dr Moreau study?": "bats",
    "Until when is the swimming pool closed?": "October",
    "Which voice is the choir looking for?": "tenor",
    "When is parking behind the theatre allowed?": "six",
}

# %% [markdown]
# **Predict first.** Without the notes, the model cannot know the answers. What will it
# say instead? And how many of the twenty questions does it answer correctly when it is
# given the passage that your function finds?

# %% [markdown]
# > *Your prediction (double-click here to write it down):*

# %%
PROMPT = 'Answer the question, using only this text: "{}"\n\nQuestion: {}'
reader = None  # stays None where MiniLM is not installed


def find_passages(question: str, k: int = 1) -> tuple[float, str]:
    """The largest cosine, and the best k of the notes as one text."""
    passages = torch.stack([reader.vector(note) for note in NOTES])  # (N, d_model)
    cosines, indices = top_passages(reader.vector(question), passages, k)
    return cosines[0].item(), " ".join(NOTES[index] for index in indices)


@demo
def twenty_questions_about_notes():
    global reader
    require_solved(top_passages)
    reader = load_reader(encoder_decoder)
    if chat is None or reader is None:
        return recorded.show("twenty questions about notes")
    correct = {"alone": 0, "read": 0}
    for question, word in QUESTIONS.items():
        cosine, passage = find_passages(question)
        print(f"{question}   (cosine {cosine:.2f})")
        for way, text in (
            ("alone", question),
            ("read", PROMPT.format(passage, question)),
        ):
            answer = chat.answer(text)
            correct[way] += word in answer
            print(f"    {way:<5}  {answer}")
    print(f"correct of {len(QUESTIONS)}: alone {correct['alone']}, with the passage "
          f"{correct['read']}")  # fmt: skip


# %% [markdown]
# On its own, the model answers **none** of the twenty correctly, and it never says that
# it does not know: the password of the guest network is "Ghost", and Professor Okafor's
# office is in the "Mirror of the Ancients". With the passage it answers **19**
# correctly, because MiniLM found the right note for each question, with cosines from
# 0.6 to 0.9, even where question and note share only a few words. The single failure is
# instructive too: the model reads that the library is open on Tuesdays and closed on
# Mondays, and concludes that Tuesday is a Monday.
#
# Our count looks for one word only, so read the answers yourself. The new printer is
# said to be *in the kitchen*, although the note says *next to the kitchen*, and the
# train leaves from a station that does not exist. Finding a passage supplies what the
# model does not know, but it does not make the model read carefully.
#
# What happens if the notes do not contain the answer? Try it, and then ask a question
# about notes of your own.


# %%
@demo
def a_question_of_your_own():
    require_solved(top_passages)
    question = "What colour is the door of the cafeteria?"  # change it
    if chat is None or reader is None:
        return recorded.show("a question of your own")
    cosine, passage = find_passages(question)
    print(f"{question}\n    found (cosine {cosine:.2f}): {passage}\n    answer: "
          + chat.answer(PROMPT.format(passage, question)))  # fmt: skip


# %% [markdown]
# The model describes a door of white marble, although the retrieved passage is about
# an office on the fourth floor. The cosine would have warned you: it is 0.34
# here, whereas it was never below 0.6 for the twenty questions above. A system that has
# to be honest therefore needs a threshold on the similarity, because the model will not
# refuse by itself.
#
# ## 10. What 135 million parameters cannot do
#
# You can now teach this model a style, shrink it and give it a library. It is only fair
# to see where all this stops working, so here are eight questions of the kind that
# people ask an assistant every day.


# %%
@demo
def what_it_cannot_do():
    if chat is None:
        return recorded.show("what it cannot do")
    for question in HARD:
        print(f"{question}\n    {chat.answer(question)}")


# %% [markdown]
# It is fluent, and nearly everything it says is false. Read its answers as a list of
# what size buys, and what it does not.
#
# - **Facts.** The capital of France must have occurred in its training texts far more
#   often than the winner of a literature prize. A model of this size stores the first
#   kind of fact and invents the second, in the same confident tone.
#   Retrieval is the cure, as long as there is a text to retrieve.
# - **Arithmetic.** It has seen many sums and learnt how their solutions are phrased,
#   but here it has forgotten to carry the one. Larger models write out the steps, and
#   commercial products hand the sum to a calculator.
# - **Letters.** A word is one or two tokens, so the input does not show how many
#   letters the word has, or whether one of them is an e: each of these is one more fact
#   to remember.
# - **Other languages.** Nearly all of its training text was English, so its French
#   keeps the sound of French and loses the meaning.
# - **Reasoning.** It correctly names the shortest of three people, but that proves
#   little, because the last name in the question is a good guess. With one more person
#   or a different order it may fail, and only many variations would show whether it
#   reasons or guesses.
# - **Not knowing.** The model was trained to answer, and so it invents a film for a
#   king who never existed. Asked about your breakfast, it begins with an apology, and
#   what it then says about itself is text like any other.
#
# Nothing in this list can be repaired by quantising less, sampling better or scoring
# differently, and only some of it by fine-tuning. Larger models, built from the same
# kind of blocks, know more facts and add longer numbers (Brown et al. 2020, sections
# 3.2 and 3.9.1). They fail at harder questions in the same way: fluently.

# %% [markdown]
# ## What you built
#
# - the labels of a conversation, LoRA, and the losses of DPO and GRPO, which showed
#   what pairs and rewards can teach a model and what they cannot;
# - a test for a training step that learns the wrong tokens;
# - quantisation per channel, and its price in perplexity on a chat model;
# - the rule by which a cheap model's guesses are accepted or replaced, with a proof
#   that it changes nothing but the time;
# - three scores for multiple choice, which disagree;
# - a search that gives a small model the sentence it needs.
#
# ## Go further
#
# - Shao et al. 2024, *DeepSeekMath*; DeepSeek-AI 2025, *DeepSeek-R1*; Liu et al. 2025,
#   *Understanding R1-Zero-Like Training*: whether to divide by the length and by the
#   standard deviation at all.
# - Frantar et al. 2023, *GPTQ*; Lin et al. 2024, *AWQ*: how to choose the codes so that
#   the layer's outputs change least. Holtzman et al. 2021, *Surface Form Competition*:
#   why the probability of a choice is not the probability of an answer.
# - Try it: in section 4, leave out the division by the standard deviation. Does
#   anything change? In section 9, give the model the three best passages instead of
#   one. Which answers change?

# %% [markdown]
# ## Where you stand
#
# Your points so far, and what to do next. Run this cell again after each exercise.

# %%
check.summary()
