# %% [markdown]
# # 9 · Look inside
#
# *An optional unit, which needs unit 7.* A chat model completes "The capital of France
# is" with "Paris". Which of its 270 heads brought France to the last position, and how
# would you notice if your explanation were wrong? In this unit you open a model while
# it runs, write into it, and find individual heads whose job can be named. Claims come
# with experiments that could refute them, and two published claims do not survive here.

# %% [markdown]
# **You will learn**
# - to read and to change the output of any part of a model, with hooks;
# - how two layers continue a repetition that one layer cannot, and which heads do it;
# - to divide a logit among the parts that wrote it;
# - to find the block and the head through which a fact travels;
# - which control each of these experiments needs.
#
# *About 3 hours · short path about 1: exercises 9.1, 9.2, 9.3*
#
# *Seven exercises and one written question · 100 points; while a model trains, you can
# go on reading.* The short path covers sections 1 and 2: for now, just read the others,
# and come back to their exercises later.
#
# **Recap.** Unit 4 read attention weights with forward hooks. Unit 7 provided
# `modern.CausalAttention`, `modern.Block` and `modern.LanguageModel`, which runs a
# published chat model and whose parts have names such as `blocks.3.attention.w_o`. A
# block adds the outputs of its attention and its feed-forward network to the **residual
# stream**, the vector at each position that runs from the embedding to the logits.
#
# <details><summary>Conventions of this unit</summary>
#
# | name | meaning |
# |---|---|
# | `B`, `L` | texts in a batch, positions in a text |
# | `d_model`, `d_k` | size of the residual stream, and of one head's values |
# | `h` (in code `num_heads`) | query heads |
# | `(23, 4)` | head 4 of block 23; both are counted from 0 |
# | to silence a head | to replace its output by zeros |
#
# </details>

# %%
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from autograder import check, demo, drawing, earlier, require_solved
from transformer_course.library.chat_in_classes import fill, new_network
from transformer_course.library.published import available
from transformer_course.look_inside.library import pictures, repeats, results

# False: what earlier units built comes from the course, and is correct. True: from your
# own notebooks, if they are beside this one. Grading always uses the course's.
USE_MY_OWN = False
attention = earlier("02_attention", mine=USE_MY_OWN)
mha = earlier("03_multi_head_attention", mine=USE_MY_OWN)
modern = earlier("07_since_2017", mine=USE_MY_OWN)

torch.set_num_threads(1)  # for tensors this small, more threads only get in the way
torch.set_printoptions(precision=2, sci_mode=False)

# %%
drawing("residual_stream", "9.1", "What each part writes is added to one bus.")

# %% [markdown]
# The next cell loads the chat model, SmolLM2-135M-Instruct (98 MB), into unit 7's
# classes. If it is not installed, the cell says how to get it, and the demonstrations
# below show what we recorded; no exercise needs the model.

# %% folded=true
# @title The chat model in unit 7's classes
chat = smollm = None  # stay None where it is not installed
TEXTS = (
    "The Transformer is a neural network that was published in 2017. It reads all "
    "words of a sentence at once, and each word looks at all others to find out what "
    "it means here. Since then, nearly every large language model has been built from "
    "it.",
    "When the rain stopped, the children ran out into the garden. The grass was still "
    "wet, and a small frog sat under the apple tree. Their mother called them back for "
    "dinner, but nobody wanted to leave before the frog had jumped into the pond.",
    "A river begins as a small stream in the mountains. On its way to the sea it is "
    "joined by many others, and it carries sand and stones with it. Where the land is "
    "flat, the water becomes slow, and the river drops what it has carried.",
)


@demo
def load_the_chat_model():
    global chat, smollm
    smollm = available("smollm2")
    if smollm is None:
        return
    chat = fill(new_network(modern), modern, smollm.weights)
    print("filled: 30 blocks with 9 heads each")


def ids_of(text: str) -> Int[Tensor, "1 L"]:
    """The ids of a text, as the chat model reads it."""
    return torch.tensor([smollm.encode(text)])


def token_id(word: str) -> int:
    """The id of a word in the middle of a text."""
    return smollm.encode(f" {word}")[0]


def word_of(index: int) -> str:
    """A token as text; a leading space is left out."""
    return smollm.decode([index]).strip() or "(space)"


def next_word(logits: Float[Tensor, "1 L V"]) -> str:
    """The most probable next word after the last position."""
    return word_of(int(logits[0, -1].argmax()))


def perplexity(logits: Float[Tensor, "1 L V"], ids: Int[Tensor, "1 L"]) -> float:
    """The perplexity per token of a text, from the model's logits for it."""
    return F.cross_entropy(logits[0, :-1], ids[0, 1:]).exp().item()


# %% [markdown]
# ## 1. Hooks that write
#
# A **forward hook** is a function that PyTorch calls after a module has run, with the
# module, its arguments and its output. `record` below uses one to *read*: it keeps the
# input and the output of each module that you name. A hook can also *write*, because
# whatever it returns takes the place of the module's output, and the rest of the model
# continues from there. Reading shows only what happens to be correlated with an answer;
# writing shows what the answer depends on.


# %%
@torch.no_grad()
def record(
    model: nn.Module, ids: Int[Tensor, "B L"], names: Sequence[str]
) -> dict[str, tuple[Tensor, Tensor]]:
    """Run a model, and return the input and the output of each named module."""
    recorded: dict[str, tuple[Tensor, Tensor]] = {}

    def read(name: str) -> Callable:
        def hook(module: nn.Module, arguments: tuple, output: Tensor) -> None:
            recorded[name] = arguments[0].clone(), output.clone()

        return hook

    handles = [
        model.get_submodule(name).register_forward_hook(read(name)) for name in names
    ]
    try:
        model(ids)
    finally:
        for handle in handles:
            handle.remove()
    return recorded


# %% [markdown]
# ### Exercise 9.1 - A run with edits
#
# *time ~20 min · difficulty 3/5 · 16 points*
#
# **Task.** Run the model once, replacing the output of each module named in `edits` by
# that module's `edit(output)`. Return the logits, and remove your hooks.
#
# **Example.** `run_edited(model, ids, {"blocks.2.attention": torch.zeros_like})` gives
# the logits of a model whose block 2 does not attend.
#
# An edit receives the module's output and may change it in place.
#
# <details><summary>Contract</summary>
#
# - The model runs once.
# - Afterwards the model is unchanged: the caller's hooks remain, and yours are gone.
# - If the model raises an error, your hooks are removed and the error reaches the
#   caller.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# A function that is written in a loop looks up the loop's variables when it *runs*. By
# then, which edit does `edit` refer to? `record` has a way around this.
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# edits      {"blocks.0": function, "blocks.2.attention": function}
# hook       (module, arguments, output) -> the new output, of the same shape
# result     (B, L, V)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# for each name and edit: register a hook that returns edit(output); keep its handle
# try: return the model's output for ids
# finally: remove all handles
# ```
#
# </details>


# %% exercise="look_inside/run_edited"
@torch.no_grad()
def run_edited(
    model: nn.Module, ids: Int[Tensor, "B L"], edits: Mapping[str, Callable]
) -> Float[Tensor, "B L V"]:
    """Run a model in which the outputs of some modules are edited.

    Args:
        model: any module that takes ids.
        ids: texts.
        edits: functions from a module's output to its replacement, by module.

    Returns:
        The logits of the edited run.
    """

    ### BEGIN SOLUTION
    def write(edit: Callable) -> Callable:
        return lambda module, arguments, output: edit(output)

    handles = []
    try:
        for name, edit in edits.items():
            handles.append(model.get_submodule(name).register_forward_hook(write(edit)))
        return model(ids)
    finally:
        for handle in handles:
            handle.remove()
    ### END SOLUTION


# %% check="look_inside/run_edited" points=16
# Edits several modules, and looks at what is left in the model.
check("look_inside/run_edited", run_edited)

# %% [markdown]
# **Predict first.** We silence the whole attention of one of the 30 blocks, all nine
# heads, and ask for the word after "The capital of France is", for each block in turn.
# For how many of them does the model still say "Paris"?

# %% [markdown]
# > *Your prediction (double-click here to write it down):*


# %%
@demo
def without_one_attention():
    require_solved(run_edited)
    if chat is None:
        whole, rows = results.load("without one attention")
    else:
        ids, text = ids_of("The capital of France is"), ids_of(TEXTS[0])
        whole, rows = perplexity(run_edited(chat, text, {}), text), []
        for i in range(30):
            silent = {f"blocks.{i}.attention": torch.zeros_like}
            word = next_word(run_edited(chat, ids, silent))
            rows.append([word, perplexity(run_edited(chat, text, silent), text)])
        results.note("without one attention", [whole, rows])
    lost = {i: word for i, (word, _) in enumerate(rows) if word != "Paris"}
    print(f"Paris for {30 - len(lost)} of 30; other words: {lost}")
    costs = [silenced / whole - 1 for _, silenced in rows]
    others = [cost for i, cost in enumerate(costs) if i not in lost]
    print("perplexity of a text: " + ", ".join(f"{i}: {costs[i]:+.0%}" for i in lost))
    print(f"without one of the others: {min(others):+.0%} to {max(others):+.0%}")


# %% [markdown]
# It still says "Paris" for 26 of the 30, because the residual stream makes the loss of
# a branch survivable: every later block still reads all that the others wrote. A lost
# answer can mean that the whole model is broken or that only *Paris* is lost, and the
# perplexity of an ordinary text tells the two apart. Without the attention of block 0
# or 1 it is 4 or 21 times as high: the whole model is broken. Without that of block 2
# or 23 it rises by a quarter at most, about as much as for some of the 26, so these two
# matter for *Paris*. Why a block so late should matter is the question of section 4.
#
# ## 2. The head that completes a repetition
#
# Take a text of random tokens that starts again after some period, `7 3 9 5 7 3 9 ...`.
# Nothing in its first period can be predicted, but everything after the second `7` can,
# by a rule that needs no knowledge at all: *find the previous occurrence of the current
# token and copy what followed it.* Olsson et al. 2022 call a head that does this an
# **induction head**, and find that such heads appear early and suddenly in training.
#
# A query can find the same token earlier in the text, but what it wants is the token
# after that one, and nothing there says what came before. A head in the layer below,
# which looks one token back, has to write this into the stream. Elhage et al. 2021
# conclude that attention needs **two layers** for this rule.
#
# We train two models without feed-forward networks, one with a single layer of
# attention and one with two. Every text repeats with a random period of 6 to 18 tokens.
#
# We count only the *known* tokens, which are those that this rule can predict.
#
# **Predict first.** If Elhage et al. are right, two layers will learn the rule. After
# 400 steps, what share of the known tokens will a *single* layer predict? A random
# guess among the 64 tokens of the vocabulary is right 2 % of the time.

# %% [markdown]
# > *Your prediction (double-click here to write it down):*


# %% folded=true
# @title Models of attention alone
class Nothing(nn.Module):
    """Takes the place of a feed-forward network, and adds zero to the stream."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.zeros_like(x)


class AttentionOnly(nn.Module):
    """Blocks with two heads and nothing else, between an embedding and a norm."""

    def __init__(self, num_layers: int):
        super().__init__()
        self.embedding = nn.Embedding(repeats.VOCABULARY, 64)
        self.blocks = nn.ModuleList(
            modern.Block(64, 2, 2, 96) for _ in range(num_layers)
        )
        for block in self.blocks:
            block.feed_forward = Nothing()
        self.norm = modern.RMSNorm(64)
        self.output = nn.Linear(64, repeats.VOCABULARY, bias=False)

    def forward(self, ids: Int[Tensor, "B L"]) -> Float[Tensor, "B L V"]:
        """Logits for the token after each position."""
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x)
        return self.output(self.norm(x))


def train(num_layers: int, period: int | None = None) -> tuple[nn.Module, list[float]]:
    """A model that was trained on repeating texts, and the loss of each step."""
    torch.manual_seed(SEED)
    model = AttentionOnly(num_layers)
    return model, repeats.train(model, SEED, period=period)


@torch.no_grad()
def score(model: Callable, period: int | None = None) -> float:
    """The share of known tokens that a model predicts in 200 fresh texts."""
    ids, periods = repeats.draw(torch.Generator().manual_seed(99), 200, period)
    return repeats.measure(model, ids, periods)[1]


# %%
SEED = 0  # of weights and texts; what we say below also holds for others
one_layer = two_layers = None


@demo
def one_layer_and_two():
    global one_layer, two_layers
    one_layer, losses = train(1)
    two_layers, more_losses = train(2)
    for name, model in (("one layer", one_layer), ("two layers", two_layers)):
        print(f"{name:<11} {score(model):.0%} of the known tokens correct")
    pictures.cliff({"one layer": losses, "two layers": more_losses})


# %% [markdown]
# Two layers predict 98 or 99 % with each of five seeds, and one layer 18 to 20 %. The
# two-layer curve has a cliff: after 90 steps it is still near 3, yet by step 200 it has
# fallen to about 0.3 or less. What appeared there?
#
# To find out, we look for the two kinds of heads by their **stripes**. In the attention
# map of a head that looks one token back, all the weight is just below the diagonal. In
# a text with period `p`, an induction head looks from position `i` to `i - p + 1`, the
# token after the previous occurrence, which gives a second stripe, farther from the
# diagonal.
#
# ### Exercise 9.2 - The stripe of induction
#
# *time ~10 min · difficulty 2/5 · 14 points*
#
# **Task.** Over all queries at positions `i` from `period` on, return the mean weight
# that they give to the key at `i - period + 1`.
#
# **Example.** A map of 4 positions with period 2 has two such entries, `weights[2, 1]`
# and `weights[3, 2]`; the score is their mean.
#
# <details><summary>Contract</summary>
#
# - Any number of leading dimensions.
# - Only queries from position `period` on count.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# In the text `7 3 9 7 3 9`, the period is 3. At which position does `7` occur again,
# and at which position is the `3` that it should look at?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# weights              (..., L, L)
# the stripe           (..., L - period)
# result               (...)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# the diagonal that is period - 1 below the main one; it begins at query period - 1
# leave out that first entry; take the mean over the rest
# ```
#
# </details>


# %% exercise="look_inside/induction_score"
def induction_score(
    weights: Float[Tensor, "*batch L L"], period: int
) -> Float[Tensor, "*batch"]:
    """The mean weight on the token that followed the last time.

    Args:
        weights: attention weights, queries by keys.
        period: the number of tokens after which the text repeats.

    Returns:
        A score between 0 and 1 for each map.
    """
    ### BEGIN SOLUTION
    stripe = weights.diagonal(1 - period, dim1=-2, dim2=-1)  # (..., L - period + 1)
    return stripe[..., 1:].mean(dim=-1)
    ### END SOLUTION


# %% check="look_inside/induction_score" points=14
# Tries single maps and batches, with periods from 2 to 7.
check("look_inside/induction_score", induction_score)


# %% folded=true
# @title Attention weights of all heads, and the scores of the two kinds of heads
def attend(
    layer: nn.Module, x: Float[Tensor, "B L d_model"], mask: Bool[Tensor, "L L"]
) -> tuple[Float[Tensor, "B L d_model"], Float[Tensor, "B h L L"]]:
    """Output and weights of a layer with a mask of your own."""
    q = mha.split_heads(layer.w_q(x), layer.num_heads)
    k = mha.split_heads(layer.w_k(x), layer.num_kv_heads)
    v = mha.split_heads(layer.w_v(x), layer.num_kv_heads)
    angles = modern.rotary_angles(x.size(1), q.size(-1), base=layer.base)
    q, k = modern.rotate(q, angles), modern.rotate(k, angles)
    heads, weights = modern.grouped_attention(q, k, v, mask)
    return layer.w_o(mha.merge_heads(heads)), weights


@torch.no_grad()
def attention_maps(
    model: nn.Module, ids: Int[Tensor, "B L"]
) -> Float[Tensor, "B blocks h L L"]:
    """The weights of all heads, from what each attention layer read."""
    names = [f"blocks.{i}.attention" for i in range(len(model.blocks))]
    mask = attention.causal_mask(ids.size(1))
    read = record(model, ids, names)
    return torch.stack(
        [attend(model.get_submodule(n), read[n][0], mask)[1] for n in names], dim=1
    )


def previous_score(weights: Float[Tensor, "*batch L L"]) -> Float[Tensor, "*batch"]:
    """The mean weight on the previous token."""
    return weights.diagonal(-1, dim1=-2, dim2=-1).mean(dim=-1)


# %%
@demo
def two_kinds_of_stripes():
    require_solved(induction_score)
    ids, _ = repeats.draw(torch.Generator().manual_seed(99), 100, period=12)
    weights = attention_maps(two_layers, ids)  # (B, blocks, h, L, L)
    previous = previous_score(weights).mean(0).flatten().tolist()
    induction = induction_score(weights, 12).mean(0).flatten().tolist()
    heads = [(block, head) for block in range(2) for head in range(2)]
    rows = list(zip(heads, previous, induction, strict=True))
    for head, one, other in rows:
        print(f"head {head}: previous token {one:.2f}, induction {other:.2f}")
    titles = [f"{head}: {max(one, other):.2f}" for head, one, other in rows]
    pictures.stripes(weights[0].flatten(0, 1), 12, titles)


# %% [markdown]
# Both heads of layer 0 have the first stripe, and both of layer 1 have the second one.
# But this is only a picture, and a picture can mislead: a head may look at a token and
# pass nothing on. A test that could refute our story **silences** heads: if silencing
# those of layer 0 changes nothing, the story is wrong.
#
# ### Exercise 9.3 - Silence a head
#
# *time ~15 min · difficulty 3/5 · 13 points*
#
# **Task.** Register a forward *pre*-hook on `layer.w_o` that replaces one head's
# components by zeros, and return its handle. A pre-hook is given the module and its
# arguments, and returns new arguments.
#
# **Example.** After `handle = silence_head(layer, 1)`, every call of `layer` leaves out
# head 1, until you call `handle.remove()`.
#
# Like `CausalAttention`, `layer` has `num_heads`, `num_kv_heads`, `w_v` and `w_o`.
#
# <details><summary>Contract</summary>
#
# - Calls for several heads of a layer add up.
# - `handle.remove()` restores the layer; its weights never change.
# - The hook works on a copy of what `w_o` was given.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# `merge_heads` concatenates the heads. Which components of the vector that `w_o` reads
# come from head 1?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# arguments[0]         (B, L, h * d_k), heads one after the other
# head n               components n * d_k to (n + 1) * d_k
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# d_k = what w_o reads, divided by num_heads
# hook: copy the argument; zero the head's components; return the copy
# return the handle of the pre-hook
# ```
#
# </details>


# %% exercise="look_inside/silence_head"
def silence_head(layer: nn.Module, head: int) -> RemovableHandle:
    """Make a head of an attention layer contribute nothing.

    Args:
        layer: an attention layer.
        head: its index.

    Returns:
        A handle whose `remove()` makes the head speak again.
    """
    ### BEGIN SOLUTION
    d_k = layer.w_o.in_features // layer.num_heads

    def hook(module: nn.Module, arguments: tuple[Tensor]) -> tuple[Tensor]:
        merged = arguments[0].clone()  # (B, L, h * d_k)
        merged[..., head * d_k : (head + 1) * d_k] = 0
        return (merged,)

    return layer.w_o.register_forward_pre_hook(hook)
    ### END SOLUTION


# %% check="look_inside/silence_head" points=13
# Silences one and two heads, also such that share values, and removes the hooks.
check("look_inside/silence_head", silence_head)


# %%
@contextmanager
def silence_heads(model: nn.Module, heads: Sequence[tuple[int, int]]) -> Iterator[None]:
    """Silence some heads, each a pair (block, head), within a `with` statement."""
    handles = [silence_head(model.blocks[i].attention, head) for i, head in heads]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


# %% [markdown]
# **Predict first.** The whole model predicts 98 % of the known tokens. What remains if
# one head of layer 1 is silent, and what if both are?

# %% [markdown]
# > *Your prediction (double-click here to write it down):*


# %%
@demo
def silence_each():
    require_solved(silence_head)
    print(f"nothing silent      {score(two_layers):.0%}")
    for heads in (
        [(0, 0)],
        [(0, 1)],
        [(1, 0)],
        [(1, 1)],
        [(0, 0), (0, 1)],
        [(1, 0), (1, 1)],
    ):
        with silence_heads(two_layers, heads):
            print(f"{str(heads)[1:-1]:<18}  {score(two_layers):.0%}")


# %% [markdown]
# Silencing one head of layer 1 costs only a few percent (94 to 97 % remain, for each of
# five seeds), because the other one does the same work. With both silent, only 1 or 2 %
# of the tokens are still predicted, and with both heads of layer 0 silent 12 or 13 %,
# which is less than a single layer achieves. Had we silenced heads only one at a time,
# we would have concluded that layer 1 does not matter: **a part that can be spared is
# not a part that does nothing.** For pairs of heads, the story survives its test.
#
# The story also says where layer 1 reads what layer 0 wrote: in its *keys*, which must
# tell a query what came before them. To test this, we compute its queries, its keys or
# its values from the embedding alone; only with such keys should the rule collapse.


# %%
def score_without_layer_0(part: str) -> float:
    """The score if one projection of layer 1 reads the embedding alone."""
    name = f"blocks.1.attention.{part}"
    norm, projection = two_layers.blocks[1].norm1, two_layers.get_submodule(name)

    def predict(ids: Int[Tensor, "B L"]) -> Float[Tensor, "B L V"]:
        alone = projection(norm(two_layers.embedding(ids)))  # (B, L, h * d_k)
        return run_edited(two_layers, ids, {name: lambda output: alone})

    return score(predict)


@demo
def where_layer_1_reads_layer_0():
    require_solved(run_edited)
    for name, part in (("queries", "w_q"), ("keys", "w_k"), ("values", "w_v")):
        print(f"{name:<7} from the embedding alone: {score_without_layer_0(part):.0%}")


# %% [markdown]
# With keys from the embedding alone, the model predicts 13 to 17 % of the known tokens
# (five seeds), hardly more than without the heads of layer 0; such queries leave 93 %,
# and such values 98 or 99 %. Elhage et al. 2021 call such reading through the keys
# **K-composition**.
#
# Now suppose that we had been careless and trained on texts that all have the *same*
# period, 12.
#
# **Predict first.** How well does a *single* layer do then?

# %% [markdown]
# > *Your prediction (double-click here to write it down):*


# %%
@demo
def a_fixed_period():
    careless, _ = train(1, period=12)
    print(f"texts of period 12:      {score(careless, 12):.0%}")
    print(f"texts of random periods: {score(careless):.0%}")


# %% [markdown]
# The single layer is perfect, yet it has learnt nothing about repetition: it looks
# eleven positions back, whatever the tokens are. On random periods it does even worse
# than the first one. If all texts share one *period*, in training and in the test, this
# rule passes too, so the period has to vary in training.
#
# ### The same heads in a chat model
#
# Does a real model have such heads too? Olsson et al. 2022 define induction heads by
# their behaviour on repeated **random tokens**, which no memory of English can explain.
# We do the same: we repeat 25 random tokens once, and let your function score each of
# the 270 heads. (One period is enough here, since the model was not trained on these
# texts.) The **control** silences the same number of heads in the same blocks, namely
# those with the lowest scores.


# %% folded=true
# @title Induction heads of the chat model
def losses_of_halves(model: nn.Module, ids: Int[Tensor, "B 50"]) -> list[float]:
    """The mean loss of the first 24 predictions, and of those in the repetition."""
    with torch.no_grad():
        logits = model(ids)[:, :-1].transpose(1, 2)  # (B, V, L - 1)
    losses = F.cross_entropy(logits, ids[:, 1:], reduction="none")
    return [losses[:, :24].mean().item(), losses[:, 25:].mean().item()]


def measure_induction() -> dict[str, Any]:
    """The heads with the largest scores, and losses with some of them silent."""
    once = torch.randint(
        1000, 40_000, (4, 25), generator=torch.Generator().manual_seed(0)
    )
    ids = torch.cat((once, once), dim=1)
    scores = induction_score(attention_maps(chat, ids), 25).mean(0)  # (30, 9)
    best = [divmod(index, 9) for index in scores.flatten().topk(4).indices.tolist()]
    control = list[tuple[int, int]]()
    for block, _ in best:
        order = [(block, head) for head in scores[block].argsort().tolist()]
        control.append(next(head for head in order if head not in control))
    rows = {
        "nothing silent": [],
        "the four best": best,
        "four of the same blocks": control,
    }
    losses = {}
    for name, heads in rows.items():
        with silence_heads(chat, heads):
            losses[name] = losses_of_halves(chat, ids)
    return {
        "heads": [[*head, scores[head].item()] for head in best],
        "losses": losses,
        "above 0.3": int((scores > 0.3).sum()),
    }


# %%
@demo
def induction_in_a_chat_model():
    require_solved(induction_score, silence_head)
    if chat is None:
        measurements = results.load("induction")
    else:
        measurements = results.note("induction", measure_induction())
    listed = ", ".join(
        f"({b}, {h}) {score:.2f}" for b, h, score in measurements["heads"]
    )
    print(
        f"largest scores: {listed}; above 0.3: {measurements['above 0.3']} of 270 heads"
    )
    print("mean loss:                 first time   repetition")
    for name, (first, second) in measurements["losses"].items():
        print(f"{name:<25} {first:9.1f} {second:12.1f}")


# %% [markdown]
# It does: in each of six random draws of the tokens, the same four heads come first,
# three of them in block 17 and one in block 18. Silencing these four of 270 raises the
# loss in the repetition from between 3 and 4 to between 7 and 9. The control adds less
# than 0.5, and the loss on the first occurrence moves by 0.2 at most. The claim that
# real models have induction heads, and that their copying depends on them, holds here.
# What we did not check is the paper's larger claim, that such heads may be the
# mechanism behind most *in-context learning*; for larger models, the authors themselves
# call their evidence correlational.
#
# ## 3. The parts that wrote a logit
#
# Silencing asks what happens without a part, and needs one run for each part, whereas a
# second question, which part wrote the answer, needs no extra run. The final stream is
# the **sum** of what the embedding, each head and each feed-forward network wrote, and
# a token's logit is the dot product of this sum, once normalised, and one row of the
# output matrix. So the logit can be divided among the parts, once we know what each
# head wrote. A layer's output is `w_o` times the concatenated heads, and a product with
# a concatenation is a sum of products.
#
# ### Exercise 9.4 - What each head writes
#
# *time ~10 min · difficulty 2/5 · 11 points*
#
# **Task.** You get `merged`, the concatenated heads that `w_o` reads, and the weight of
# `w_o`. Return, for each head, the vector that it adds to the stream.
#
# **Example.** With 2 heads of 3 components, head 0 is `merged[..., :3]`, which meets
# only the first three columns of `w_o`.
#
# <details><summary>Contract</summary>
#
# - The sum over the heads is `F.linear(merged, w_o)`.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Which columns of `w_o` are multiplied by the components of head 0?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# heads            (B, h, L, d_k)
# blocks of w_o    (h, d_model, d_k)
# result           (B, h, L, d_model)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# split merged into heads; split the columns of w_o into as many blocks
# multiply each head by its block, transposed
# ```
#
# `mha.split_heads` expects three dimensions, and `w_o` has two.
#
# </details>


# %% exercise="look_inside/head_outputs"
def head_outputs(
    merged: Float[Tensor, "B L h*d_k"],
    w_o: Float[Tensor, "d_model h*d_k"],
    num_heads: int,
) -> Float[Tensor, "B h L d_model"]:
    """What each head of a layer adds to the residual stream.

    Args:
        merged: the concatenated heads, which the output projection reads.
        w_o: the weight of the output projection.
        num_heads: number of heads.
    """
    ### BEGIN SOLUTION
    heads = mha.split_heads(merged, num_heads)  # (B, h, L, d_k)
    blocks = w_o.unflatten(1, (num_heads, -1)).transpose(0, 1)  # (h, d_model, d_k)
    return heads @ blocks.mT
    ### END SOLUTION


# %% check="look_inside/head_outputs" points=11
# Compares each head's vectors, for 1 to 5 heads.
check("look_inside/head_outputs", head_outputs)

# %% [markdown]
# The final norm comes next. It divides the *sum* by its root mean square, so all parts
# share one scale, and once this scale is known, the logit is linear in the parts.
# Dividing it among them is called **direct logit attribution** (Elhage et al. 2021).
#
# ### Exercise 9.5 - Divide a logit among the parts
#
# *time ~15 min · difficulty 3/5 · 13 points*
#
# **Task.** The stream is the sum of `parts`; RMSNorm with weight `gain` follows, then
# the product with `direction`. Return what each part contributes to the result.
#
# **Example.** For parts `[[1, 0], [1, 2]]`, the stream is `[2, 2]`, whose root mean
# square is 2. If `gain` and `direction` are all ones, the contributions are `[0.5,
# 1.5]`.
#
# <details><summary>Contract</summary>
#
# - The contributions sum to the logit, up to rounding.
# - `eps` is added to the mean square, as in unit 7's `RMSNorm`.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# How often does the model normalise at the end: once per part, or once in all?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# the stream      (d_model,)
# its scale       one number
# result          (n,)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# add up the parts; scale = 1 / sqrt(mean square of the sum + eps)
# multiply each part by the scale and the gain; take its product with the direction
# ```
#
# </details>


# %% exercise="look_inside/attribute_logit"
def attribute_logit(
    parts: Float[Tensor, "n d_model"],
    gain: Float[Tensor, "d_model"],
    direction: Float[Tensor, "d_model"],
    eps: float = 1e-6,
) -> Float[Tensor, "n"]:
    """What each part of the residual stream contributes to a logit.

    Args:
        parts: vectors whose sum is the stream at one position.
        gain: the weight of the final RMSNorm.
        direction: a row of the output matrix, or a difference of two rows.
        eps: of the final norm.
    """
    ### BEGIN SOLUTION
    stream = parts.sum(dim=0)  # (d_model,)
    scale = torch.rsqrt(stream.square().mean() + eps)
    return parts * scale * gain @ direction  # (n,)
    ### END SOLUTION


# %% check="look_inside/attribute_logit" points=13
# Compares contributions of 1 to 9 parts, large and small.
check("look_inside/attribute_logit", attribute_logit)


# %% folded=true
# @title All parts of the stream at the last position
def split_stream(model: nn.Module, ids: Int[Tensor, "1 L"]) -> dict[str, Tensor]:
    """What each part wrote into the stream at the last position, by its name."""
    blocks = range(len(model.blocks))
    names = ["embedding"]
    for i in blocks:
        names += [f"blocks.{i}.attention.w_o", f"blocks.{i}.feed_forward"]
    recorded = record(model, ids, names)
    parts = {"embedding": recorded["embedding"][1][0, -1]}
    for i in blocks:
        layer = model.blocks[i].attention
        merged = recorded[f"blocks.{i}.attention.w_o"][0][:, -1:]  # (1, 1, h * d_k)
        vectors = head_outputs(merged, layer.w_o.weight, layer.num_heads)[0, :, 0]
        parts |= {f"({i}, {head})": vector for head, vector in enumerate(vectors)}
        parts[f"ffn {i}"] = recorded[f"blocks.{i}.feed_forward"][1][0, -1]
    return {name: part for name, part in parts.items() if part.any()}


@torch.no_grad()
def attribute(
    model: nn.Module, ids: Int[Tensor, "1 L"], direction: Float[Tensor, "d_model"]
) -> dict[str, float]:
    """The contribution of each part to a logit at the last position."""
    parts = split_stream(model, ids)
    stacked, norm = torch.stack([*parts.values()]), model.norm
    values = attribute_logit(stacked, norm.weight, direction, norm.eps).tolist()
    return dict(zip(parts, values, strict=True))


def measure_attribution() -> dict[str, dict[str, float]]:
    """The contributions to two differences of logits in the chat model."""
    ids, rows = ids_of("The capital of France is"), chat.embedding.weight.detach()
    pairs = (("Paris", "Rome"), ("Rome", "Berlin"))
    return {
        f"{one} or {other}": attribute(
            chat, ids, rows[token_id(one)] - rows[token_id(other)]
        )
        for one, other in pairs
    }


# %%
@demo
def a_logit_in_steps():
    require_solved(head_outputs, attribute_logit)
    texts, _ = repeats.draw(torch.Generator().manual_seed(1), 50, period=12)
    for name, length in (("in the repetition", 20), ("control, the first time", 8)):
        rows = []
        for ids in texts.split(1):
            token = ids[0, length]  # the next one
            row = two_layers.output.weight[token]
            rows.append(attribute(two_layers, ids[:, :length], row))
        means = {part: sum(row[part] for row in rows) / 50 for part in rows[0]}
        print(f"{name}: " + ", ".join(f"{k} {v:+.1f}" for k, v in means.items()))
        if name == "in the repetition":
            pictures.bus(rows[0], f"token {int(texts[0, length])}")


# %% [markdown]
# In the repetition, the two induction heads write nearly all of the logit, as the story
# says. In the control, at positions where nothing can be known, the contributions
# nearly cancel out over fifty texts. Note what is missing: the heads of layer 0,
# without which the rule collapses, contribute next to nothing. Attribution shows
# only the **direct** path, and what layer 0 writes reaches the logits through layer 1.
#
# We now turn to the chat model and "The capital of France is". The logit of *Paris*
# alone is a poor measure, because much of it says only that *some* capital, or some
# name, should follow. The **difference** between the logits of *Paris* and *Rome* is a
# better one: whatever helps all capitals alike drops out. The control asks about *Rome*
# and *Berlin*, whose countries are not in the text.


# %%
@demo
def a_logit_of_the_chat_model():
    require_solved(head_outputs, attribute_logit)
    if chat is None:
        measurements = results.load("attribution")
    else:
        measurements = results.note("attribution", measure_attribution())
    for name, values in measurements.items():
        print(f"{name}: difference {sum(values.values()):+.1f}, "
              f"of which head (23, 4) writes {values['(23, 4)']:+.1f}")  # fmt: skip
    values = measurements["Paris or Rome"]
    top = sorted(values, key=lambda name: -abs(values[name]))[:10]
    pictures.contributions({name: values[name] for name in top})


# %% [markdown]
# Of all parts, head (23, 4) contributes most, +3.0, and it belongs to the very block
# whose attention the model needed for Paris; in the control it contributes only +0.3.
# (The next two parts, both from the last block, cancel each other out.)
#
# A popular shortcut skips the parts: the **logit lens** (nostalgebraist 2020) applies
# the final norm and the output matrix to the stream after every block. Its author
# observed that GPT-2's guess takes shape long before the last block. Is that so here?


# %%
@torch.no_grad()
def read_early(ids: Int[Tensor, "1 L"]) -> Float[Tensor, "blocks+1 V"]:
    """The lens at the last position, after the embedding and after each block."""
    names = ["embedding", *(f"blocks.{i}" for i in range(30))]
    streams = [stream[0, -1] for _, stream in record(chat, ids, names).values()]
    return F.linear(chat.norm(torch.stack(streams)), chat.embedding.weight)


@demo
def the_logit_lens():
    if chat is None:
        measurements = results.load("lens")
    else:
        paris, measurements = token_id("Paris"), []
        for logits in read_early(ids_of("The capital of France is")):
            rank = 1 + int((logits > logits[paris]).sum())
            measurements.append([word_of(int(logits.argmax())), rank])
        results.note("lens", measurements)
    print("after block   best guess   rank of Paris")
    for i in (0, 6, 12, 18, 21, 22, 23, 24, 25, 26, 27, 28, 29):
        word, rank = measurements[i + 1]
        print(f"{i:>8}      {word:<12} {rank:>6,}")


# %% [markdown]
# No: *Paris* comes first only after the last block. Up to block 22 its rank is in the
# thousands, and the stream reads mostly as a space or a full stop; from block 23 on,
# the rank improves. But a rank compares *Paris* with all words, including those that
# fit any text. So if the lens shows no answer, that proves nothing.
#
# ## 4. Where does a fact travel?
#
# "The capital of *France* is" and "The capital of *Italy* is" differ in one token and,
# at the end, in the answer. In between, the difference must be somewhere, at some
# position of some block. **Activation patching** (Meng et al. 2022; Wang et al. 2022)
# finds it: run the first text, but replace the state at *one* position between two
# blocks by that from the run of the second, and see how far the answer moves from
# *Paris* to *Rome*. Doing so for every position and every block gives a map.
#
# ### Exercise 9.6 - The map of an effect
#
# *time ~25 min · difficulty 4/5 · 15 points*
#
# **Task.** Return a map with a row for each block `i` and a column for each position
# `p`. For each entry, run `ids`, but copy the state that enters block `i` at position
# `p` from the run of `other_ids`.
#
# The entry is a share: how far did the copy move `logit[other_answer] - logit[answer]`,
# at the last position, from its value for `ids` to its value for `other_ids`?
#
# **Example.** If the difference is -4 for `ids` and 6 for `other_ids`, a copy that
# makes it 1 has a share of 0.5, and one that has no effect a share of 0.
#
# The output of `model.embedding` enters block 0, and the output of each block enters
# the next.
#
# <details><summary>Contract</summary>
#
# - Each run copies one state; no hooks remain afterwards.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# `record` gives you all states of the second text in one run. Which module's output
# enters block `i`?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# state that enters a block     (1, L, d_model)
# result                        (number of blocks, L)
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# names: the embedding and all blocks but the last
# start, end = the difference of the logits for ids and for other_ids
# states = record the names for other_ids
# for each name and position: an edit that copies this position; run_edited with it
#     share = (difference - start) / (end - start)
# ```
#
# </details>


# %% exercise="look_inside/patching_map"
def patching_map(
    model: nn.Module,
    ids: Int[Tensor, "1 L"],
    other_ids: Int[Tensor, "1 L"],
    answer: int,
    other_answer: int,
) -> Float[Tensor, "blocks L"]:
    """The share of an effect that each state carries.

    Args:
        model: a language model with `embedding` and `blocks`.
        ids: the text that the model reads.
        other_ids: the text whose states are copied, of the same length.
        answer, other_answer: the tokens that the two texts call for.
    """
    ### BEGIN SOLUTION
    names = ["embedding"] + [f"blocks.{i}" for i in range(len(model.blocks) - 1)]

    def difference(logits: Tensor) -> float:
        return (logits[0, -1, other_answer] - logits[0, -1, answer]).item()

    start = difference(run_edited(model, ids, {}))
    end = difference(run_edited(model, other_ids, {}))
    states = record(model, other_ids, names)
    effects = torch.zeros(len(names), ids.size(1))
    for row, name in enumerate(names):
        new = states[name][1]  # (1, L, d_model)
        for position in range(ids.size(1)):

            def replace(
                output: Tensor, position: int = position, new: Tensor = new
            ) -> Tensor:
                output[:, position] = new[:, position]
                return output

            patched = run_edited(model, ids, {name: replace})
            effects[row, position] = (difference(patched) - start) / (end - start)
    return effects
    ### END SOLUTION


# %% check="look_inside/patching_map" points=15
# Compares maps of small models, for texts that differ at different positions.
check("look_inside/patching_map", patching_map)

# %% [markdown]
# **Predict first.** The answer is given at *is*, one position after *France*, where the
# difference starts. Section 1 made block 23 a suspect. Does this block move the whole
# difference, or does part of the difference move in other blocks, or stay at *France*?

# %% [markdown]
# > *Your prediction (double-click here to write it down):*


# %%
@demo
def where_the_fact_is():
    require_solved(run_edited, patching_map)
    if chat is None:
        effects, leads = results.load("map"), results.load("leads")
    else:
        france, italy = (ids_of(f"The capital of {c} is") for c in ("France", "Italy"))
        effects = results.note("map", patching_map(
            chat, france, italy, token_id("Paris"), token_id("Rome")
        ).tolist())  # fmt: skip
        logits = read_early(france)
        leads = (logits[:, token_id("Paris")] - logits[:, token_id("Rome")]).tolist()
        results.note("leads", leads)
    pictures.patching(effects, ["The", "capital", "of", "France", "is"])
    before, after = leads[23:25]
    print(f"Paris - Rome in the lens: {before:+.1f}, and {after:+.1f} after block 23")


# %% [markdown]
# The difference moves all at once. Up to the state that enters block 23, the whole
# effect is at the noun, and from block 24 on at the last position; no other state
# carries more than a few percent. In the first row that had to be so, because only the
# noun differs. What the map adds is that for 23 blocks hardly anything moves, and that
# block 23 moves nearly everything. The same holds for 17 other pairs of countries: the
# noun carries 82 to 106 % before block 23, and the last position 95 to 113 % after it
# (a copy can overshoot). Geva et al. 2023 describe such a late step in larger models.
#
# The lens agrees, once it is asked the better question: its lead of *Paris* over *Rome*
# is 1.6 before block 23 and 9.2 after it, although a full stop still comes first.
#
# The map leaves nine candidates, the heads of that block, among which attribution
# pointed at (23, 4). For each head, the next cell prints how strongly it attends from
# *is* to *France*, what silencing it costs (nothing, if it only *looks*), and what
# share of the effect appears when its output alone is taken from the run about a
# different country.


# %% folded=true
# @title Silence or patch each head of block 23, then ask for twelve capitals
CAPITALS = {
    "France": "Paris", "Italy": "Rome", "Germany": "Berlin", "Japan": "Tokyo",
    "Spain": "Madrid", "Greece": "Athens", "China": "Beijing", "Russia": "Moscow",
    "Austria": "Vienna", "Portugal": "Lisbon", "Egypt": "Cairo", "Poland": "Warsaw",
}  # fmt: skip


@torch.no_grad()
def logit_of_paris(heads: Sequence[tuple[int, int]]) -> float:
    """The logit of Paris with some heads silent."""
    with silence_heads(chat, heads):
        return chat(ids_of("The capital of France is"))[0, -1, token_id("Paris")].item()


def measure_heads() -> list[list[float]]:
    """For each head of block 23: its weight on the noun, and what its silence costs."""
    looks = attention_maps(chat, ids_of("The capital of France is"))[0, 23, :, -1, 3]
    whole = logit_of_paris([])
    return [
        [look, whole - logit_of_paris([(23, head)])]
        for head, look in enumerate(looks.tolist())
    ]


@torch.no_grad()
def patch_heads(other: str) -> list[float]:
    """The share of the effect if one head's output at *is* comes from the other run.

    A head's output is a part of the input of `w_o`, and meets only its own columns.
    """
    name = "blocks.23.attention.w_o"
    texts = [ids_of(f"The capital of {country} is") for country in ("France", other)]
    old, new = (record(chat, ids, [name])[name][0][0, -1] for ids in texts)
    change = (new - old).unflatten(0, (9, -1))  # (h, d_k)
    answer = token_id(CAPITALS[other])
    columns = chat.get_submodule(name).weight.unflatten(1, (9, -1))  # (d_model, h, d_k)

    def lead(ids: Tensor, added: Tensor | float = 0.0) -> float:
        def edit(output: Tensor) -> Tensor:
            output[:, -1] += added
            return output

        logits = run_edited(chat, ids, {name: edit})[0, -1]
        return (logits[answer] - logits[token_id("Paris")]).item()

    start, end = map(lead, texts)
    leads = [lead(texts[0], columns[:, i] @ change[i]) for i in range(9)]
    return [(moved - start) / (end - start) for moved in leads]


@torch.no_grad()
def measure_capitals() -> dict[str, list[str]]:
    """The next word for each country: nothing silent, head (23, 4), head (23, 3)."""
    words = {}
    for country in CAPITALS:
        words[country] = []
        for heads in ([], [(23, 4)], [(23, 3)]):
            with silence_heads(chat, heads):
                words[country] += [
                    next_word(chat(ids_of(f"The capital of {country} is")))
                ]
    return words


# %%
@demo
def the_head_that_carries_it():
    require_solved(run_edited, silence_head)
    if chat is None:
        rows, words = results.load("heads"), results.load("capitals")
        shares = results.load("patches")
    else:
        rows = results.note("heads", measure_heads())
        others = list(CAPITALS)[1:10]  # whose capitals the model knows
        shares = results.note("patches", {c: patch_heads(c) for c in others})
        words = results.note("capitals", measure_capitals())
    print("head of block 23:     " + "".join(f"{head:>7}" for head in range(9)))
    print("weight on the noun    " + "".join(f"{look:7.2f}" for look, _ in rows))
    print("logit of Paris lost   " + "".join(f"{loss:+7.2f}" for _, loss in rows))
    for country, values in shares.items():
        name = f"share, {country}"
        print(f"{name:<22}" + "".join(f"{share:7.2f}" for share in values))
    print("\nThe capital of ...    whole      without (23, 4)   without (23, 3)")
    for country, (whole, without, control) in words.items():
        print(f"{country:<21} {whole:<10} {without:<17} {control}")


# %% [markdown]
# Head (23, 4) looks at the noun with a weight of 0.90, and silencing it lowers
# *Paris*'s logit of 17.4 by 4.1; none of the other eight costs more than 0.3, although
# head 0 looks there with a weight of 0.31. Its output from a run about one of nine
# other countries produces 82 to 96 % of the effect, and that of no other head more than
# 16 %: *a single head carries most of the fact.* Without it, the capitals of Italy,
# China, Russia and Portugal are lost, whereas those of France, Germany, Japan, Spain,
# Greece and Austria stay first. That may be a second path or a habit of naming them,
# which silence cannot tell apart. Cairo and Warsaw are missed even by the whole model,
# at least after these words, and silencing the control, a neighbouring head that also
# looks at the noun, changes no answer.

# %% [markdown]
# ## 5. Bug clinic: a map that is wrong
#
# A faulty patching tool draws a map as convincing as yours. Such tools invite four
# bugs: a **hook stays** in the model and edits all later runs; a patch is **one
# position late**, because the tokenizer put a token in front of the text; a state is
# **edited in place** where it is cached, so that the next run starts from it; and a
# closure keeps the **states of the wrong text**.
#
# None of them raises an error, and the logits of your model are of no use as a
# reference, since the tool belongs to a different model. But for some patches you know
# in advance what must come out, whatever the model is. These patches are the controls,
# and you can apply them without reading the tool's code.
#
# ### Exercise 9.7 - A test for patching tools
#
# *time ~25 min · difficulty 4/5 · 8 points*
#
# **Task.** Write a test for *any* tool `patch(ids, other_ids, block, position)`. Return
# quietly if it does what the contract says, and raise `AssertionError` if not.
#
# **Example.** A tool whose `patch(ids, ids, 1, 2)` differs from its `patch(ids, ids, 0,
# 0)` is faulty: a text's own state must not change its logits.
#
# <details><summary>Contract</summary>
#
# - A correct tool returns the logits, `(1, L, vocab_size)`, of a run of `ids` in which
#   this one state, the one that enters `block` at `position`, is that of `other_ids`.
# - A call patches no other position, and leaves nothing behind in the model.
# - The model is causal. The embedding of a token is the same at each position; a state
#   that enters a later block also depends on the earlier tokens.
# - A correct tool is exact to within 1e-5; for random texts, a faulty one is off by
#   more than 1e-3 somewhere.
# - Both texts are `(1, L)`, with at most 12 tokens and ids below `vocab_size`.
#
# </details>
# <details><summary>How it is graded</summary>
#
# Your test runs on correct tools and on faulty ones, which have the four bugs above or
# others. Each correct one comes with two faulty ones, and you get its points if the
# correct one passes *and* the faulty ones do not.
#
# </details>
# <details><summary>Hint 1: three questions</summary>
#
# What must come out if both texts are equal? Before the first block, what does a state
# know about the other tokens of its text? Which logits can a patch at `position` not
# reach?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# ids, other_ids      (1, 5), different at every position
# plain               patch(ids, ids, 0, 0): the logits of an unpatched run
# swapped             ids, but with the other text's token at one position
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# two random texts, which differ at every position; plain = the logits of the first
# for each position:
#     block 0: the patched logits are those of swapped
#     each block: a patch with the text's own state gives plain again
# in later blocks: the last position's patch differs from the one in block 0
# ```
#
# </details>


# %% exercise="look_inside/bug_clinic"
def assert_patches(
    patch: Callable[..., Float[Tensor, "1 L V"]], num_blocks: int, vocab_size: int
) -> None:
    """Pass quietly if a tool patches one state, or else fail an assertion.

    Args:
        patch: from ids, other ids, a block and a position to logits.
        num_blocks: number of blocks of the tool's model.
        vocab_size: number of tokens of its vocabulary.

    Raises:
        AssertionError: the tool does something else.
    """
    ### BEGIN SOLUTION

    def close(logits: Tensor, expected: Tensor) -> bool:
        return torch.allclose(logits, expected, rtol=0, atol=1e-4)

    ids = torch.randint(vocab_size, (1, 5))
    other = (ids + torch.randint(1, vocab_size, (1, 5))) % vocab_size
    plain = patch(ids, ids, 0, 0)
    for position in range(5):
        swapped = torch.where(torch.arange(5) == position, other, ids)
        expected = patch(swapped, swapped, 0, 0)
        assert close(patch(ids, other, 0, position), expected), "not like the token"
        for block in range(num_blocks):
            unchanged = patch(ids, ids, block, position)
            assert close(unchanged, plain), "a text's own state changes it"
    for block in range(1, num_blocks):
        late, early = (patch(ids, other, at, 4) for at in (block, 0))
        assert not close(late, early), "a later state has no context"
    ### END SOLUTION


# %% check="look_inside/bug_clinic" points=8
# Runs your test on correct tools and on faulty ones.
check("look_inside/bug_clinic", assert_patches)

# %% [markdown]
# Before you believe a map drawn by somebody else's tool, try the same patches on that
# tool: a text into itself, and a single token before block 0.
#
# ## 6. Attention sinks: does anyone read them?
#
# Large models give much of their attention to the **first token**, whatever it is. Xiao
# et al. 2024 call it an *attention sink*: since weights must sum to 1, a head that has
# nothing to look for puts its weight there. Gu et al. 2025 (abstract) go further: the
# sink stores extra attention scores, "which could be non-informative and not contribute
# to the value computation". If so, three predictions follow: the first token gets much
# weight; if it is masked, a different token takes its place; and if its *values* are
# replaced by zeros, hardly anything changes.
#
# **Predict first.** A text has a perplexity of 23.5. What does it become if no later
# position may attend to the first token, and what if all of them may, but read zeros
# there?

# %% [markdown]
# > *Your prediction (double-click here to write it down):*


# %% folded=true
# @title Perplexities without the weight or the values of one position
FIRST_WORDS = ("Snow", "Once", "My", "In", "Please", "Water")  # of other texts


def without_position(
    layer: nn.Module, position: int, values: Tensor | None = None
) -> RemovableHandle:
    """Mask a position for later ones, or let them read other values there."""

    def hook(module: nn.Module, arguments: tuple[Tensor], output: Tensor) -> Tensor:
        x = arguments[0]  # (B, L, d_model)
        mask = attention.causal_mask(x.size(1)).clone()
        later = torch.arange(x.size(1)) > position
        if values is None:
            mask[later, position] = False
            return attend(module, x, mask)[0]
        at_position = (torch.arange(x.size(1)) == position)[:, None]
        handle = module.w_v.register_forward_hook(
            lambda part, given, computed: torch.where(at_position, values, computed)
        )
        changed = attend(module, x, mask)[0]
        handle.remove()
        return torch.where(later[:, None], changed, output)

    return layer.register_forward_hook(hook)


@torch.no_grad()
def perplexity_with(
    ids: Int[Tensor, "1 L"], position: int = 0, values: Sequence[Tensor | None] = ()
) -> float:
    """Perplexity of a text with other values at a position; None masks it."""
    handles = [
        without_position(block.attention, position, new)
        for block, new in zip(chat.blocks, values, strict=False)
    ]
    try:
        return perplexity(chat(ids), ids)
    finally:
        for handle in handles:
            handle.remove()


def mean_weights(ids: Int[Tensor, "1 L"], position: int, masked: bool) -> list[float]:
    """The mean weight of one position by block; masked: if the first token is."""
    layers = [block.attention for block in chat.blocks]
    handles = [without_position(layer, 0) for layer in layers if masked]
    read = record(chat, ids, [f"blocks.{i}.attention" for i in range(30)])
    for handle in handles:
        handle.remove()
    mask = attention.causal_mask(ids.size(1)).clone()
    mask[1:, 0] = not masked
    with torch.no_grad():
        return [
            attend(layer, x, mask)[1][0, :, 3:, position].mean().item()
            for layer, (x, _) in zip(layers, read.values(), strict=True)
        ]


def measure_sinks() -> dict[str, Any]:
    """Mean weights by block, and perplexities of the texts."""
    ids, names = ids_of(TEXTS[0]), [f"blocks.{i}.attention.w_v" for i in range(30)]
    foreign = [record(chat, ids_of(word), names).values() for word in FIRST_WORDS]
    changes = {"masked": [None] * 30, "zeros": [torch.zeros(1)] * 30}
    rows = []
    for text in map(ids_of, TEXTS):
        row = {"whole": perplexity_with(text)}
        for name, values in changes.items():
            row[name] = perplexity_with(text, 0, values)
            others = range(5, text.size(1) - 5, 12)  # the control
            row[f"{name}, others"] = max(
                perplexity_with(text, i, values) for i in others
            )
        changed = [
            perplexity_with(text, 0, [output[0, 0] for _, output in values])
            for values in foreign
        ]
        row |= {"foreign, lowest": min(changed), "foreign, highest": max(changed)}
        rows.append(row)
    return {"first": mean_weights(ids, 0, False), "second": mean_weights(ids, 1, True),
            "perplexities": rows}  # fmt: skip


# %%
@demo
def sinks():
    if chat is None:
        measurements = results.load("sinks")
    else:
        measurements = results.note("sinks", measure_sinks())
    pictures.sinks(measurements["first"], measurements["second"])
    rows = measurements["perplexities"]
    print("perplexity of    " + " ".join(f"{f'text {n}':>8}" for n in (1, 2, 3)))
    for name in rows[0]:
        print(f"{name:<17}" + " ".join(f"{row[name]:8.1f}" for row in rows))


# %% [markdown]
# The first prediction holds: the first token of text 1 gets 47 % of all the weight,
# averaged over blocks. So does the second: once the first token is masked, the one
# after it gets 41 to 46 % in each of the three texts. The sink moves, and the
# perplexity rises by 15 to 49 %, whereas masking the most important of a few other
# positions costs 8 to 20 %. The third prediction fails: with zeros for the sink's
# values, the perplexity is two to four times as high; with zeros at one of these other
# positions, it rises by a quarter at most.
#
# The last two rows show whether the sink holds information. With the values of the
# first token of a *different* text, of which we try six, the perplexity changes by -5
# to +40 %, and mostly by less than 10 %, as when an ordinary word is silenced. So the
# values are **almost uninformative, but needed**: they are much the same in every text,
# and half of all the weight on a constant vector amounts to a bias that every later
# layer was trained with. "Non-informative" just about survives here, but "not
# contribute" does not, at least in this model. Had we tried nothing but zeros, we would
# have taken the sink for the most informative word in the text, although zeros are also
# something that no layer has ever seen.
#
# *Written question (10 points, time ~10 min).* A blog post shows that head (11, 1) of
# a chat model gives most of its weight to the name in a sentence, and concludes: "This
# head stores who the sentence is about." In three to five sentences, describe an
# experiment that could refute the claim, the control that it needs, and one result that
# would leave the question open.
#
# *Points: an intervention on this head, silencing or patching, and what
# the claim predicts for it (4); a control of equal size (3); a result that decides
# nothing, with the reason (3).*

# %% [markdown] written="look_inside/claim" points=10
# *Your answer here*
#
# ### BEGIN SOLUTION
# If the head carries the name, then patching its output from a run with a different
# name should move the answer to "Who is this about?" towards that name, and silencing
# it should lower the logit of the name compared with that of a different name, in many
# sentences. The control does the same with a head of the same block, and with sentences
# in which no name is asked for; both should change little. If silencing changes
# nothing, the question is still open, because a second head may do the same work, as
# in our model of repetitions, so I would silence both.
# ### END SOLUTION

# %% [markdown]
# ## What you built
#
# - hooks that write, a head that can be silenced, and a map of where an effect is;
# - two stripes, and the pair of layers without which no repetition is completed;
# - a logit divided among the parts that wrote it;
# - the path of one fact through a published model, and the countries for which it
#   fails;
# - a test that tells a faulty patching tool from a correct one without reading it.
#
# One thing to remember: *a map shows where to look, but only an intervention with a
# control says what a part is for.*
#
# ## Go further
#
# - Elhage et al. 2021, *A Mathematical Framework for Transformer Circuits*; Olsson et
#   al. 2022, *In-context Learning and Induction Heads*.
# - Meng et al. 2022, *Locating and Editing Factual Associations in GPT*; Wang et al.
#   2022, *Interpretability in the Wild*; Geva et al. 2023, *Dissecting Recall of
#   Factual Associations*.
# - Xiao et al. 2024, *Efficient Streaming Language Models with Attention Sinks*; Gu et
#   al. 2025, *When Attention Sink Emerges in Language Models*.
# - Libraries that do this for larger models: TransformerLens, nnsight.

# %% [markdown]
# ## Where you stand
#
# Your points so far, and what to do next. Run this cell again after each exercise.

# %%
check.summary()
