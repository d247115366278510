"""Unit 01, positional encoding: inputs, wrong variants, right styles."""

from __future__ import annotations

import torch

from autograder.bank.vocabulary import Draw, Right, Setting, Task, Wrong
from autograder.student.probes.positional_encoding import MIXERS, Mixer

Inputs = dict[str, torch.Tensor | str]


# --- 1.1 embed ------------------------------------------------------------------------


def _lookup(draw: Draw, b: int, length: int, padding_idx: int | None = None) -> Inputs:
    """Ids with padding in the middle and at the end, differently in each sentence."""
    vocab_size, d_model = 9, 4
    ids = draw.ids(0, vocab_size, b, length)
    inputs = {"table": draw.tensor(vocab_size, d_model)}
    if padding_idx is None:
        ids[0, 1] = 0
    else:
        ids[ids == padding_idx] = (padding_idx + 1) % vocab_size
        ids[0, -2:] = padding_idx
        ids[1, 1] = padding_idx
        ids[-1, -1] = (padding_idx + 4) % vocab_size
        inputs["padding_idx"] = torch.tensor(padding_idx)
    return {**inputs, "ids": ids, "pull": draw.tensor(b, length, d_model)}


EMBED = Task(
    name="positional_encoding/embed",
    title="Embedding lookup with padding",
    target="embed",
    settings=(
        Setting(
            "no_padding", "no padding token", lambda draw: _lookup(draw, 3, 5),
            "Without a padding token every id is a plain row number, 0 as well.",
        ),
        Setting(
            "padding_is_0", "padding is token 0", lambda draw: _lookup(draw, 3, 5, 0),
            "Where `ids` equals `padding_idx`, the vector is zero and no gradient flows "
            "into that row.",
        ),
        Setting(
            "padding_is_3", "padding is token 3", lambda draw: _lookup(draw, 2, 6, 3),
            "The padding token is the one named by `padding_idx`, not always 0.",
        ),
        Setting(
            "padding_is_last", "padding is the last token of the vocabulary",
            lambda draw: _lookup(draw, 4, 7, 8),
            "The padding token is the one named by `padding_idx`, whatever its number.",
            hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "padding_ignored",
            "Padding is looked up like any other token: its vector is not zero.",
            "What does your function do with `padding_idx`?",
            source="def embed(ids, table, padding_idx=None):\n    return table[ids]\n",
        ),
        Wrong(
            "padding_only_frozen",
            "No gradient reaches the padding row, but its vector is still what stands in "
            "the table. That is all `F.embedding` does with `padding_idx`.",
            "Here the row of the padding token is not zero. Which vector comes out?",
            source="import torch.nn.functional as F\n"
            "def embed(ids, table, padding_idx=None):\n"
            "    return F.embedding(ids, table, padding_idx)\n",
        ),
        Wrong(
            "zero_is_false",
            "Token 0 is taken for \"no padding\", because Python holds 0 to be false.",
            "What is `bool(0)`, and what should decide whether there is a padding token?",
            edits=(("if padding_idx is None:", "if not padding_idx:"),),
        ),
        Wrong(
            "zero_is_false_inline", like="zero_is_false",
            source="def embed(ids, table, padding_idx=None):\n"
            "    padding_idx = padding_idx or -1\n"
            "    return table[ids] * (ids != padding_idx).unsqueeze(-1)\n",
        ),
        Wrong(
            "padding_always_0",
            "Token 0 is taken for padding, whatever `padding_idx` says.",
            "Where does your code use the value of `padding_idx`?",
            edits=(("ids == padding_idx", "ids == 0"),),
        ),
        Wrong(
            "zero_without_padding",
            "Token 0 becomes a zero vector even where there is no padding token.",
            "What should happen to token 0 when `padding_idx` is None?",
            edits=(
                ("if padding_idx is None:\n        return vectors",
                 "if padding_idx is None:\n        padding_idx = 0"),
            ),
        ),
        Wrong(
            "mask_inverted",
            "Only padding keeps its vector; all real words became zero.",
            "Is your mask True where the padding is, or where the words are?",
            edits=(("ids == padding_idx", "ids != padding_idx"),),
        ),
        Wrong(
            "mask_multiplied_inverted", like="mask_inverted",
            edits=(("vectors.masked_fill(is_padding, 0.0)", "vectors * is_padding"),),
        ),
        Wrong(
            "mask_without_dimension",
            "The mask `(B, L)` does not fit the vectors `(B, L, d_model)`: it lacks a "
            "last dimension.",
            "Which shape spreads one flag over all numbers of a vector?",
            edits=((".unsqueeze(-1)", ""),),
        ),
        Wrong(
            "mask_multiplied_without_dimension",
            "The mask `(B, L)` does not fit the vectors `(B, L, d_model)`: it lacks a "
            "last dimension.",
            "Which shape spreads one flag over all numbers of a vector?",
            edits=((".unsqueeze(-1)", ""),
                   ("vectors.masked_fill(is_padding, 0.0)", "vectors * ~is_padding")),
        ),
        Wrong(
            "row_overwritten",
            "Your function writes zeros into the table that it was given.",
            "Who else uses this table after your function returns?",
            source="def embed(ids, table, padding_idx=None):\n"
            "    if padding_idx is not None:\n"
            "        table.data[padding_idx] = 0\n"
            "    return table[ids]\n",
        ),
        Wrong(
            "row_overwritten_no_grad", like="row_overwritten",
            source="def embed(ids, table, padding_idx=None):\n"
            "    if padding_idx is not None:\n"
            "        with torch.no_grad():\n"
            "            table[padding_idx] = 0\n"
            "    return table[ids]\n",
        ),
        Wrong(
            "leaf_overwritten",
            "Your function writes into the table itself; autograd refuses that.",
            "How could you zero the vectors that come out, and not the table?",
            source="def embed(ids, table, padding_idx=None):\n"
            "    if padding_idx is not None:\n"
            "        table[padding_idx] = 0\n"
            "    return table[ids]\n",
        ),
        Wrong(
            "smaller_ids_too",
            "All ids up to `padding_idx` became zero, not only the padding token.",
            "Is a smaller id padding as well?",
            edits=(("ids == padding_idx", "ids <= padding_idx"),),
        ),
        Wrong(
            "first_sentence_decides",
            "All sentences are padded where the first one is.",
            "Does each sentence of the batch have its own length?",
            edits=(("ids == padding_idx", "ids[:1] == padding_idx"),),
        ),
        Wrong(
            "only_trailing_padding",
            "Only the end of each sentence is treated as padding, but here padding also "
            "stands in the middle.",
            "Does your code ask each id whether it is padding?",
            edits=(("ids == padding_idx",
                    "(ids == padding_idx).flip(1).cumprod(1).flip(1).bool()"),),
        ),
        Wrong(
            "detached",
            "No gradient flows into the table, so it could never be trained.",
            "Does `.detach()`, `.data`, numpy or `no_grad` cut the graph somewhere?",
            edits=(("vectors = table[ids]", "vectors = table.detach()[ids]"),),
        ),
        Wrong(
            "through_numpy", like="detached",
            edits=(("vectors = table[ids]",
                    "vectors = torch.tensor(table.detach().numpy()[ids.numpy()])"),),
        ),
        Wrong(
            "nan_for_padding",
            "Padding became NaN. One NaN spreads through a whole network.",
            "Which vector adds nothing?",
            edits=(("(is_padding, 0.0)", "(is_padding, float('nan'))"),),
        ),
        Wrong(
            "ones_for_padding",
            "Padding became a vector of ones.",
            "Which vector adds nothing?",
            edits=(("(is_padding, 0.0)", "(is_padding, 1.0)"),),
        ),
        Wrong(
            "gradient_kept",
            "The vectors are right, but padding still sends a gradient into its row.",
            "Does your zero depend on the table, as far as autograd can tell?",
            source="def embed(ids, table, padding_idx=None):\n"
            "    vectors = table[ids]\n"
            "    if padding_idx is None:\n"
            "        return vectors\n"
            "    out = vectors.clone()\n"
            "    out.data[ids == padding_idx] = 0\n"
            "    return out\n",
        ),
        Wrong(
            "sentences_as_columns",
            "Batch and position are swapped: the result is `(L, B, d_model)`.",
            "Which dimension of `ids` is the batch?",
            edits=(("vectors = table[ids]", "vectors = table[ids.T]"),
                   ("ids == padding_idx", "ids.T == padding_idx")),
        ),
        Wrong(
            "features_before_positions",
            "The last two dimensions are swapped: the result is `(B, d_model, L)`.",
            "Which shape does the docstring promise?",
            edits=(("return vectors\n", "return vectors.mT\n"),
                   ("return vectors.masked_fill(is_padding, 0.0)",
                    "return vectors.masked_fill(is_padding, 0.0).mT")),
        ),
        Wrong(
            "positions_averaged",
            "The vectors of a sentence were averaged into one.",
            "How many vectors should come out for a sentence of `L` tokens?",
            source="def embed(ids, table, padding_idx=None):\n"
            "    return table[ids].mean(1)\n",
        ),
        Wrong(
            "batch_flattened",
            "The sentences of the batch were joined into one long list.",
            "How does the shape `(B, L)` come back after a flat lookup?",
            source="def embed(ids, table, padding_idx=None):\n"
            "    vectors = table.index_select(0, ids.flatten())\n"
            "    if padding_idx is None:\n"
            "        return vectors\n"
            "    return vectors * (ids.flatten() != padding_idx).unsqueeze(-1)\n",
        ),
        Wrong(
            "ids_for_vectors",
            "The vectors are multiplied by the ids themselves.",
            "Is an id a number to calculate with, or a name?",
            source="def embed(ids, table, padding_idx=None):\n"
            "    return table[ids] * ids.unsqueeze(-1)\n",
        ),
    ),
    right=(
        Right("where", edits=((
            "vectors.masked_fill(is_padding, 0.0)",
            "torch.where(is_padding, torch.zeros(()).to(vectors), vectors)"),)),
        Right("keep_mask", edits=((
            "vectors.masked_fill(is_padding, 0.0)", "vectors * ~is_padding"),)),
        Right("float_mask", source=(
            "def embed(ids, table, padding_idx=None):\n"
            "    keep = torch.ones(len(table), 1)\n"
            "    if padding_idx is not None:\n"
            "        keep[padding_idx] = 0\n"
            "    return table[ids] * keep[ids]\n")),
        Right("zeroed_copy", source=(
            "def embed(ids, table, padding_idx=None):\n"
            "    if padding_idx is not None:\n"
            "        table = table.clone()\n"
            "        table[padding_idx] = 0\n"
            "    return nn.functional.embedding(ids, table)\n")),
        Right("one_hot", source=(
            "import torch.nn.functional as F\n"
            "def embed(ids, table, padding_idx=None):\n"
            "    hot = F.one_hot(ids, len(table)).to(table.dtype)\n"
            "    if padding_idx is not None:\n"
            "        hot[..., padding_idx] = 0\n"
            "    return torch.einsum('blv,vd->bld', hot, table)\n")),
        Right("index_select", source=(
            "def embed(ids, table, padding_idx=None):\n"
            "    rows = table.index_select(0, ids.reshape(-1))\n"
            "    out = rows.reshape(*ids.shape, table.shape[1]).clone()\n"
            "    if padding_idx is not None:\n"
            "        out[ids == padding_idx] = 0.0\n"
            "    return out\n")),
        Right("loops", source=(
            "def embed(ids, table, padding_idx=None):\n"
            "    sentences = []\n"
            "    for sentence in ids.tolist():\n"
            "        rows = [table[t] if t != padding_idx else torch.zeros_like(table[0])\n"
            "                for t in sentence]\n"
            "        sentences.append(torch.stack(rows))\n"
            "    return torch.stack(sentences)\n")),
    ),
)  # fmt: skip


# --- 1.2 shuffle_gap ------------------------------------------------------------------


_SEE_ORDER = {"the running sum", "the step from the neighbour", "the last vector"}


def _shuffle(draw: Draw, mixers: str, b: int, length: int, d_model: int) -> Inputs:
    while True:
        order = draw.tensor(length).argsort(stable=True)
        x = draw.tensor(b, length, d_model)
        names = _SEE_ORDER.intersection(mixers.split(", "))
        if all(_tells(MIXERS[name], x, order) for name in names):
            return {"mixers": mixers, "x": x, "order": order}


def _tells(mix: Mixer, x: torch.Tensor, order: torch.Tensor) -> bool:
    """Whether every shortcut gives another gap, so that none passes by luck.

    The order moves every position to another one than its inverse does, and no first
    part of the sentence onto itself. The gap's largest difference is negative, in the
    last sentence, neither first nor last in it, and no other shuffle leads to its size.
    """
    places, back = torch.arange(len(order)), order.argsort()
    mixed = order.cummax(0).values[:-1] > places[:-1]
    if (order == back).any() or (order == places).any() or not mixed.all():
        return False
    gap = mix(x[:, order]) - mix(x)[:, order]
    largest = -gap[-1, 1:-1].amin()
    below = [gap.amax(), *gap[:-1].abs().amax((1, 2))]
    if largest < 1 or largest < gap.abs().max() or max(below) > 0.95 * largest:
        return False
    if mix is MIXERS["the last vector"]:  # the same at every position
        return True
    after = mix(x)[:, order]
    shortcuts = (
        gap[:, :1],
        gap[:, -1:],
        mix(x) - after,
        mix(x[:, order]) - mix(x),
        mix(x[:, back]) - after,
        mix(x[:, order]) - mix(x)[:, back],
        mix(x[:, back]) - mix(x)[:, back],
        mix(x.flip(1)) - mix(x).flip(1),
    )
    return all((s.abs().max() - largest).abs() > 0.05 * largest for s in shortcuts)


_BOTH = (
    "shuffled_before = mix(x[:, order])  # (B, L, d_model)",
    "shuffled_after = mix(x)[:, order]  # (B, L, d_model)",
)

SHUFFLE_GAP = Task(
    name="positional_encoding/shuffle_gap",
    title="The shuffle gap",
    target="shuffle_gap",
    settings=(
        Setting(
            "average_and_sum", "an average, and a running sum",
            lambda draw: _shuffle(draw, "the average, the running sum", 3, 5, 7),
            "The average does not see order, so its gap is 0; the running sum does.",
        ),
        Setting(
            "similarity_and_step", "a mix by similarity, and a step from the neighbour",
            lambda draw: _shuffle(
                draw, "a mix by similarity, the step from the neighbour", 2, 6, 8),
            "Every position gets another vector here. Are both results in one order "
            "when you compare them?",
        ),
        Setting(
            "alone_and_last", "each vector by itself, and the last vector for all",
            lambda draw: _shuffle(
                draw, "each vector by itself, the last vector", 4, 5, 6),
            "A function that treats each vector by itself has no gap.",
        ),
        Setting(
            "one_sentence", "a single long sentence",
            lambda draw: _shuffle(draw, "the running sum, the average", 1, 9, 11),
            "Does it work for a batch of one?", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "not_shuffled_after",
            "The mixed sentence is compared with the mixed shuffle as it is, so a vector "
            "that only moved counts as a change.",
            "Which position of `mix(x)` belongs to position 0 of the shuffled sentence?",
            edits=((_BOTH[1], "shuffled_after = mix(x)"),),
        ),
        Wrong(
            "not_shuffled_before",
            "The sentence is mixed twice without a shuffle first.",
            "Which of the two ways shuffles *before* it mixes?",
            edits=((_BOTH[0], "shuffled_before = mix(x)"),),
        ),
        Wrong(
            "never_shuffled",
            "Both ways are the same, so the gap is always 0.",
            "Where does `order` come in?",
            edits=((_BOTH[0], "shuffled_before = mix(x)"),
                   (_BOTH[1], "shuffled_after = mix(x)")),
        ),
        Wrong(
            "shuffled_before_both", like="never_shuffled",
            edits=((_BOTH[1], "shuffled_after = mix(x[:, order])"),),
        ),
        Wrong(
            "inverse_after",
            "The second way shuffles back instead of shuffling alike.",
            "Do both ways put the vector of place `order[n]` at place `n`?",
            edits=((_BOTH[1], "shuffled_after = mix(x)[:, order.argsort()]"),),
        ),
        Wrong(
            "inverse_before",
            "The first way shuffles back instead of shuffling alike.",
            "Do both ways put the vector of place `order[n]` at place `n`?",
            source="def shuffle_gap(mix, x, order):\n"
            "    shuffled_before = mix(x[:, order.argsort()])\n"
            "    return (shuffled_before - mix(x)[:, order]).abs().max()\n",
        ),
        Wrong(
            "inverse_order",
            "Your shuffle is the inverse of `order`: it sends place n *to* `order[n]`.",
            "Which vector should stand at place 0 of the shuffled sentence?",
            source="def shuffle_gap(mix, x, order):\n"
            "    back = order.argsort()\n"
            "    return (mix(x[:, back]) - mix(x)[:, back]).abs().max()\n",
        ),
        Wrong(
            "scattered", like="inverse_order",
            source="def shuffle_gap(mix, x, order):\n"
            "    shuffled, after = torch.empty_like(x), torch.empty_like(x)\n"
            "    shuffled[:, order] = x\n"
            "    after[:, order] = mix(x)\n"
            "    return (mix(shuffled) - after).abs().max()\n",
        ),
        Wrong(
            "features_shuffled",
            "The numbers inside the vectors are shuffled, not the positions.",
            "Which of the three dimensions of `x` is the position?",
            edits=(("mix(x[:, order])", "mix(x[..., order])"),
                   ("mix(x)[:, order]", "mix(x)[..., order]")),
        ),
        Wrong(
            "batch_shuffled",
            "The sentences of the batch are shuffled, not their positions.",
            "Which of the three dimensions of `x` is the position?",
            edits=(("mix(x[:, order])", "mix(x[order])"),
                   ("mix(x)[:, order]", "mix(x)[order]")),
        ),
        Wrong(
            "flipped",
            "The sentence is reversed, whatever `order` says.",
            "Where does `order` come in?",
            edits=(("mix(x[:, order])", "mix(x.flip(1))"),
                   ("mix(x)[:, order]", "mix(x).flip(1)")),
        ),
        Wrong(
            "average_gap",
            "You return the average of the differences, not the largest.",
            "Could one wrong position hide in an average?",
            edits=((".abs().max()", ".abs().mean()"),),
        ),
        Wrong(
            "summed_gap",
            "You return the sum of the differences, not the largest.",
            "What does the docstring say the result is?",
            edits=((".abs().max()", ".abs().sum()"),),
        ),
        Wrong(
            "distance",
            "You return the length of the difference (its norm), not its largest number.",
            "What does the docstring say the result is?",
            edits=((".abs().max()", ".norm()"),),
        ),
        Wrong(
            "squared",
            "You return the largest *squared* difference.",
            "In which unit should a gap be: that of `x`, or its square?",
            edits=((".abs().max()", ".square().max()"),),
        ),
        Wrong(
            "signed",
            "Signs are kept, so a large negative difference goes unseen.",
            "Is a difference of -3 smaller than one of 1?",
            edits=((".abs().max()", ".max()"),),
        ),
        Wrong(
            "abs_too_late", like="signed",
            edits=((".abs().max()", ".max().abs()"),),
        ),
        Wrong(
            "smallest",
            "You return the smallest difference, which is nearly always about 0.",
            "Could a large gap hide behind one number that happens to agree?",
            edits=((".abs().max()", ".abs().min()"),),
        ),
        Wrong(
            "first_sentence",
            "Only the first sentence of the batch is compared.",
            "What if only the second sentence has a gap?",
            edits=(("(shuffled_before - shuffled_after)",
                    "(shuffled_before - shuffled_after)[0]"),),
        ),
        Wrong(
            "first_position",
            "Only the first position is compared.",
            "What if only the second position has a gap?",
            edits=(("(shuffled_before - shuffled_after)",
                    "(shuffled_before - shuffled_after)[:, 0]"),),
        ),
        Wrong(
            "gap_per_sentence",
            "You return one gap for each sentence instead of one for all.",
            "Which shape does the docstring promise?",
            edits=((".abs().max()", ".abs().amax((1, 2))"),),
        ),
        Wrong(
            "yes_or_no",
            "You return whether there is a gap. Asked for is how large it is.",
            "What does a yes say about a gap of 0.0000001?",
            edits=((".abs().max()", ".abs().max() > 1e-6"),),
        ),
        Wrong(
            "relative",
            "The gap is divided by the size of the vectors.",
            "What does the docstring say the result is?",
            edits=((".abs().max()", ".abs().max() / x.abs().max()"),),
        ),
        Wrong(
            "without_the_mixer",
            "The sentence is compared with its own shuffle, and the mixer is never used.",
            "Whose behaviour do you want to measure?",
            source="def shuffle_gap(mix, x, order):\n"
            "    return (x[:, order] - x).abs().max()\n",
        ),
        Wrong(
            "shuffled_in_place",
            "Your function shuffles the `x` that it was given, so the caller's sentence "
            "is changed and both ways see it shuffled.",
            "Does `x[:] = ...` make a new tensor?",
            source="def shuffle_gap(mix, x, order):\n"
            "    x[:] = x[:, order]\n"
            "    return (mix(x) - mix(x)[:, order]).abs().max()\n",
        ),
    ),
    right=(
        Right("index_select", edits=(
            ("mix(x[:, order])", "mix(x.index_select(1, order))"),
            ("mix(x)[:, order]", "mix(x).index_select(1, order)"))),
        Right("shuffle_back", source=(
            "def shuffle_gap(mix, x, order):\n"
            "    back = mix(x[:, order])[:, torch.argsort(order)]\n"
            "    return torch.max(torch.abs(back - mix(x)))\n")),
        Right("infinity_norm", edits=((
            ".abs().max()", ".flatten().norm(p=float('inf'))"),)),
        Right("python_float", source=(
            "def shuffle_gap(mix, x, order):\n"
            "    return (mix(x[:, order]) - mix(x)[:, order]).abs().max().item()\n")),
        Right("permutation_matrix", source=(
            "def shuffle_gap(mix, x, order):\n"
            "    shuffle = torch.eye(len(order))[order].to(x.dtype)\n"
            "    gap = mix(shuffle @ x) - shuffle @ mix(x)\n"
            "    return gap.abs().amax()\n")),
        Right("loops", source=(
            "def shuffle_gap(mix, x, order):\n"
            "    shuffled = torch.stack([x[:, int(n)] for n in order], dim=1)\n"
            "    before, after = mix(shuffled), mix(x)\n"
            "    gap = torch.zeros(())\n"
            "    for n, m in enumerate(order.tolist()):\n"
            "        gap = torch.maximum(gap, (before[:, n] - after[:, m]).abs().max())\n"
            "    return gap\n")),
    ),
)  # fmt: skip


# --- 1.3 table_by_loops ---------------------------------------------------------------


def _size(draw: Draw, max_len: tuple[int, int], pairs: tuple[int, int]) -> Inputs:
    """An odd max_len and an even d_model, so that the two always differ."""
    return {
        "max_len": 2 * draw.ids(*max_len) + 1,
        "d_model": 2 * draw.ids(*pairs),
    }


_ANGLE = "angle = pos / 10000 ** (2 * i / d_model)"
_SINE = "table[pos, 2 * i] = math.sin(angle)"
_COSINE = "table[pos, 2 * i + 1] = math.cos(angle)"

TABLE_BY_LOOPS = Task(
    name="positional_encoding/table_by_loops",
    title="The sinusoid table, by loops",
    target="table_by_loops",
    settings=(
        Setting(
            "small", "a small table", lambda draw: _size(draw, (3, 6), (3, 5)),
            "Compare row 1 with the formula, number by number.", picture="curves",
        ),
        Setting(
            "wide", "more columns than positions",
            lambda draw: _size(draw, (2, 5), (8, 12)),
            "Which number of positions, which number of columns?", picture="curves",
        ),
        Setting(
            "long", "many positions", lambda draw: _size(draw, (20, 30), (5, 9)),
            "Are the slow columns right as well as the fast ones?", picture="curves",
        ),
        Setting(
            "one_pair", "a single pair of columns",
            lambda draw: _size(draw, (4, 9), (1, 2)),
            "With d_model = 2 there is one hand, and it turns by 1 radian a step.",
            hidden_only=True, picture="curves",
        ),
    ),
    wrong=(
        Wrong(
            "cosine_exponent",
            "The cosine of a pair turns slower than its sine: its exponent is probably "
            "that of its own column, `(2 * i + 1) / d_model`.",
            "In the formula, which exponent stands under the cosine?",
            edits=((_COSINE, "table[pos, 2 * i + 1] = math.cos("
                             "pos / 10000 ** ((2 * i + 1) / d_model))"),),
        ),
        Wrong(
            "own_column_exponent", like="cosine_exponent",
            source="def table_by_loops(max_len, d_model):\n"
            "    table = torch.zeros(max_len, d_model)\n"
            "    for pos in range(max_len):\n"
            "        for j in range(d_model):\n"
            "            angle = pos / 10000 ** (j / d_model)\n"
            "            table[pos, j] = math.cos(angle) if j % 2 else math.sin(angle)\n"
            "    return table\n",
        ),
        Wrong(
            "exponent_doubled",
            "The speeds fall twice as fast as they should: the 2 of `2i` seems to be in "
            "the exponent twice.",
            "If your loop variable already runs over even columns, is it `i` or `2i`?",
            edits=(("(2 * i / d_model)", "(4 * i / d_model)"),),
        ),
        Wrong(
            "exponent_doubled_even_columns", like="exponent_doubled",
            source="def table_by_loops(max_len, d_model):\n"
            "    table = torch.zeros(max_len, d_model)\n"
            "    for pos in range(max_len):\n"
            "        for i in range(0, d_model, 2):\n"
            "            table[pos, i] = math.sin(pos / 10000 ** (2 * i / d_model))\n"
            "            table[pos, i + 1] = math.cos(pos / 10000 ** (2 * i / d_model))\n"
            "    return table\n",
        ),
        Wrong(
            "exponent_doubled_half_size", like="exponent_doubled",
            edits=(("(2 * i / d_model)", "(2 * i / (d_model // 2))"),),
        ),
        Wrong(
            "doubled_and_cosine_exponent",
            "Two slips at once: the 2 of `2i` is in the exponents twice, and the cosine "
            "has another exponent than its sine.",
            "Which exponents have columns 2 and 3, by the formula?",
            source="def table_by_loops(max_len, d_model):\n"
            "    table = torch.zeros(max_len, d_model)\n"
            "    for pos in range(max_len):\n"
            "        for i in range(0, d_model, 2):\n"
            "            table[pos, i] = math.sin(pos / 10000 ** (2 * i / d_model))\n"
            "            table[pos, i + 1] = math.cos(\n"
            "                pos / 10000 ** (2 * (i + 1) / d_model))\n"
            "    return table\n",
        ),
        Wrong(
            "exponent_halved",
            "The speeds fall half as fast as they should: the 2 of `2i` is missing in "
            "the exponent.",
            "Which exponent should the last pair have: nearly 1, or nearly 1/2?",
            edits=(("(2 * i / d_model)", "(i / d_model)"),),
        ),
        Wrong(
            "exponent_constant",
            "All hands turn equally fast: the exponent does not depend on the pair.",
            "Where is `i` in your exponent?",
            edits=(("(2 * i / d_model)", "(2 / d_model)"),),
        ),
        Wrong(
            "exponent_floored",
            "The exponent was rounded down to 0, so all hands turn equally fast.",
            "What is `2 * i // d_model` for `i = 1`?",
            edits=(("(2 * i / d_model)", "(2 * i // d_model)"),),
        ),
        Wrong(
            "exponent_negative",
            "The hands get faster from left to right: the position is *multiplied* by "
            "the power.",
            "Is the power of 10000 above or below the line?",
            edits=((_ANGLE, "angle = pos * 10000 ** (2 * i / d_model)"),),
        ),
        Wrong(
            "exponent_from_one",
            "The pairs are counted from 1, so even the first hand turns too slowly.",
            "Which value has `i` in columns 0 and 1?",
            edits=(("(2 * i / d_model)", "(2 * (i + 1) / d_model)"),),
        ),
        Wrong(
            "divided_by_d_minus_2",
            "The exponents run from 0 to exactly 1: they are divided by `d_model - 2`.",
            "What does the formula divide by?",
            edits=(("(2 * i / d_model)", "(2 * i / max(d_model - 2, 1))"),),
        ),
        Wrong(
            "exponent_times_d",
            "The exponent is multiplied by `d_model` where it should be divided.",
            "Which exponent does the last pair have?",
            edits=(("(2 * i / d_model)", "(2 * i * d_model)"),),
        ),
        Wrong(
            "precedence",
            "Without brackets, Python takes the power before the division: the angle is "
            "divided by `10000 ** (2i)` and by `d_model` apart.",
            "Which does Python do first, `**` or `/`?",
            edits=(("(2 * i / d_model)", "(2 * i) / d_model"),),
        ),
        Wrong(
            "no_power",
            "The angle has a product in place of a power of 10000.",
            "Is the exponent in the formula an exponent in your code?",
            edits=((_ANGLE, "angle = pos / (10000 * max(2 * i, 1) / d_model)"),),
        ),
        Wrong(
            "base_1000",
            "The base of the powers is 1000, not 10000.",
            "How many zeros has the base in the formula?",
            edits=(("10000 ** (2", "1000 ** (2"),),
        ),
        Wrong(
            "base_100000",
            "The base of the powers is 100000, not 10000.",
            "How many zeros has the base in the formula?",
            edits=(("10000 ** (2", "100000 ** (2"),),
        ),
        Wrong(
            "base_e",
            "The speeds fall by powers of e where they should be powers of 10000.",
            "Which logarithm belongs in front of the exponent?",
            edits=((_ANGLE, "angle = pos * math.exp(-2 * i / d_model)"),),
        ),
        Wrong(
            "log10",
            "The speeds come from `exp` together with a base-10 logarithm.",
            "Which logarithm undoes `exp`?",
            edits=((_ANGLE, "angle = pos * math.exp(-math.log10(10000) * 2*i / d_model)"),),
        ),
        Wrong(
            "log2",
            "The speeds come from `exp` together with a base-2 logarithm.",
            "Which logarithm undoes `exp`?",
            edits=((_ANGLE, "angle = pos * math.exp(-math.log2(10000) * 2*i / d_model)"),),
        ),
        Wrong(
            "positive_log", like="exponent_negative",
            edits=((_ANGLE, "angle = pos * math.exp(math.log(10000) * 2 * i / d_model)"),),
        ),
        Wrong(
            "swapped",
            "Sine and cosine are swapped: the cosines stand in the even columns.",
            "Which function does the formula give to column 0?",
            edits=(("math.sin", "math.cosine"), ("math.cos(", "math.sin("),
                   ("math.cosine", "math.cos")),
        ),
        Wrong(
            "columns_swapped", like="swapped",
            edits=(("table[pos, 2 * i] =", "table[pos, 2*i + 1] ="),
                   ("table[pos, 2 * i + 1] =", "table[pos, 2 * i] =")),
        ),
        Wrong(
            "sine_everywhere",
            "All columns are sines.",
            "Which function does the formula give to column 1?",
            edits=(("math.cos", "math.sin"),),
        ),
        Wrong(
            "cosine_everywhere",
            "All columns are cosines.",
            "Which function does the formula give to column 0?",
            edits=(("math.sin", "math.cos"),),
        ),
        Wrong(
            "sines_only",
            "The odd columns were never filled in.",
            "How many numbers does each pair have?",
            edits=((_COSINE, "pass"),),
        ),
        Wrong(
            "cosines_only",
            "The even columns were never filled in.",
            "How many numbers does each pair have?",
            edits=((_SINE, "pass"),),
        ),
        Wrong(
            "halves",
            "All sines stand in the left half and all cosines in the right half.",
            "In which two columns does pair 0 belong?",
            edits=(("table[pos, 2 * i] =", "table[pos, i] ="),
                   ("table[pos, 2 * i + 1] =", "table[pos, d_model // 2 + i] =")),
        ),
        Wrong(
            "from_one",
            "The positions are counted from 1: your first row belongs in the second.",
            "What is row 0 of the table, by the formula?",
            edits=((_ANGLE, "angle = (pos + 1) / 10000 ** (2 * i / d_model)"),),
        ),
        Wrong(
            "first_row_left_out",
            "Row 0 was never filled in.",
            "Does the sine and cosine of position 0 need no place?",
            edits=(("range(max_len)", "range(1, max_len)"),),
        ),
        Wrong(
            "last_row_left_out",
            "The last row was never filled in.",
            "Where does your loop over positions end?",
            edits=(("range(max_len)", "range(max_len - 1)"),),
        ),
        Wrong(
            "last_pair_left_out",
            "The last pair of columns was never filled in.",
            "Where does your loop over pairs end?",
            edits=(("range(d_model // 2)", "range(d_model // 2 - 1)"),),
        ),
        Wrong(
            "divided_by_length",
            "The positions are divided by the length of the table.",
            "Does the formula know how long the sentence is?",
            edits=(("angle = pos /", "angle = pos / max_len /"),),
        ),
        Wrong(
            "degrees",
            "The angles are taken for degrees.",
            "Does `math.sin` expect degrees or radians, and which does the formula use?",
            edits=((_ANGLE, "angle = math.radians(pos / 10000 ** (2 * i / d_model))"),),
        ),
        Wrong(
            "angle_times_two_pi",
            "The angles are multiplied by 2 pi.",
            "Is there a pi in the formula?",
            edits=((_ANGLE, "angle = math.tau * pos / 10000 ** (2 * i / d_model)"),),
        ),
        Wrong(
            "angle_floored",
            "The angles were rounded down to whole numbers.",
            "Where does `//` or `int` cut off the fraction?",
            edits=(("angle = pos / 10000", "angle = pos // 10000"),),
        ),
        Wrong(
            "integer_table",
            "The table holds whole numbers, so every sine and cosine was cut off.",
            "Which dtype has your empty table?",
            edits=(("torch.zeros(max_len, d_model)",
                    "torch.zeros(max_len, d_model, dtype=torch.int64)"),),
        ),
        Wrong(
            "double_table",
            "The numbers are right, but in float64. The rest of the network is float32.",
            "Which dtype has your empty table?",
            edits=(("torch.zeros(max_len, d_model)",
                    "torch.zeros(max_len, d_model, dtype=torch.float64)"),),
        ),
        Wrong(
            "transposed",
            "Rows and columns are swapped: the table is `(d_model, max_len)`.",
            "Which of the two does a row stand for: a position, or a column of numbers?",
            edits=(("return table", "return table.T"),),
        ),
        Wrong(
            "batch_dimension",
            "The table has a batch dimension in front.",
            "Which shape does the docstring promise?",
            edits=(("return table", "return table.unsqueeze(0)"),),
        ),
        Wrong(
            "returned_too_early",
            "The table is returned after its first row: the `return` is inside the loop.",
            "How far is your `return` indented?",
            edits=(("    return table", "        return table"),),
        ),
        Wrong(
            "positions_and_pairs_swapped",
            "Position and pair have changed places in the angle.",
            "Which of your two loop variables is the position?",
            edits=((_ANGLE, "angle = i / 10000 ** (2 * pos / d_model)"),),
        ),
        Wrong(
            "not_returned",
            "Nothing comes back: the function ends without `return`.",
            "What does a Python function without `return` give back?",
            edits=(("    return table", "    table"),),
        ),
    ),
    right=(
        Right("by_columns", source=(
            "def table_by_loops(max_len, d_model):\n"
            "    table = torch.empty(max_len, d_model)\n"
            "    for pos in range(max_len):\n"
            "        for j in range(d_model):\n"
            "            angle = pos / 10000 ** ((j - j % 2) / d_model)\n"
            "            table[pos, j] = math.cos(angle) if j % 2 else math.sin(angle)\n"
            "    return table\n")),
        Right("even_columns", source=(
            "def table_by_loops(max_len, d_model):\n"
            "    table = torch.zeros((max_len, d_model))\n"
            "    for j in range(0, d_model, 2):\n"
            "        for pos in range(max_len):\n"
            "            table[pos, j] = math.sin(pos * 10000 ** (-j / d_model))\n"
            "            table[pos, j + 1] = math.cos(pos * 10000 ** (-j / d_model))\n"
            "    return table\n")),
        Right("lists", source=(
            "def table_by_loops(max_len, d_model):\n"
            "    rows = []\n"
            "    for pos in range(max_len):\n"
            "        row = []\n"
            "        for i in range(d_model // 2):\n"
            "            angle = pos * math.exp(-math.log(10000) * 2 * i / d_model)\n"
            "            row += [math.sin(angle), math.cos(angle)]\n"
            "        rows.append(row)\n"
            "    return torch.tensor(rows)\n")),
        Right("rotating", source=(
            "import cmath\n"
            "def table_by_loops(max_len, d_model):\n"
            "    table = torch.zeros(max_len, d_model)\n"
            "    for i in range(d_model // 2):\n"
            "        hand, step = 1, cmath.exp(1j / 10000 ** (2 * i / d_model))\n"
            "        for pos in range(max_len):\n"
            "            table[pos, 2 * i : 2 * i + 2] = torch.tensor(\n"
            "                [hand.imag, hand.real])\n"
            "            hand *= step\n"
            "    return table\n")),
        Right("numpy", source=(
            "import numpy as np\n"
            "def table_by_loops(max_len, d_model):\n"
            "    table = np.zeros((max_len, d_model))\n"
            "    for pos in range(max_len):\n"
            "        for i in range(d_model // 2):\n"
            "            angle = pos / np.power(10000, 2 * i / d_model)\n"
            "            table[pos, 2 * i] = np.sin(angle)\n"
            "            table[pos, 2 * i + 1] = np.cos(angle)\n"
            "    return torch.from_numpy(table).to(torch.get_default_dtype())\n")),
    ),
)  # fmt: skip


# --- 1.4 sinusoid ---------------------------------------------------------------------


def _positions(positions: torch.Tensor, d_model: int, odd: int = 0) -> Inputs:
    inputs = {"positions": positions, "d_model": torch.tensor(d_model)}
    return inputs | ({"odd d_model": torch.tensor(odd)} if odd else {})


_EXPONENTS = "exponents = torch.arange(0, d_model, 2) / d_model"
_ANGLES = "angles = positions.unsqueeze(-1) / 10000**exponents"
_PAIRS = "pairs = torch.stack((angles.sin(), angles.cos()), dim=-1)"
_SINES_AND_COSINES = "(angles.sin(), angles.cos())"


def _sinusoid(angles: str, exponents: str = _EXPONENTS, last: str = "") -> str:
    """A solution in the usual style, with other angles."""
    last = last or "torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)"
    return (
        "def sinusoid(positions, d_model):\n"
        "    if d_model % 2:\n"
        "        raise ValueError('odd')\n"
        f"    {exponents}\n"
        f"    {angles}\n"
        f"    return {last}\n"
    )


# The table that is filled column by column, as most tutorials have it.
_FILLED = """\
    speeds = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    table = torch.zeros({shape}, d_model)
    table[{new} 0::2] = torch.sin(positions[{new} None] * speeds)
    table[{new} 1::2] = torch.cos(positions[{new} None] * speeds)
    return table
"""


SINUSOID = Task(
    name="positional_encoding/sinusoid",
    title="The sinusoid encoding, at once",
    target="sinusoid",
    settings=(
        Setting(
            "row", "the positions 0, 1, 2, ...; an odd d_model is refused",
            lambda draw: _positions(torch.arange(2 * int(draw.ids(3, 8)) + 1), 8, 7),
            "Compare with your table by loops. And what happens for d_model = 7?",
            picture="curves",
        ),
        Setting(
            "fractions", "fractions and negative positions",
            lambda draw: _positions(draw.tensor(7, scale=9.0), 10),
            "The formula makes sense for any real number.", picture="curves",
        ),
        Setting(
            "batch", "other positions in each sentence, (B, L)",
            lambda draw: _positions(draw.ids(0, 40, 3, 5), 12),
            "d_model numbers stand behind each position: the shape is (B, L, d_model).",
            picture="curves",
        ),
        Setting(
            "scalar_and_far", "one far position, without any dimension",
            lambda draw: _positions(draw.ids(100, 400), 6, 9),
            "The positions have the shape (), so the result has the shape (d_model,).",
            hidden_only=True, atol=1e-4, picture="curves",
        ),
        Setting(
            "three_dimensions", "positions with three dimensions",
            lambda draw: _positions(draw.tensor(2, 3, 5, scale=20.0), 4),
            "Is there an assumption on the number of dimensions?",
            hidden_only=True, picture="curves",
        ),
    ),
    wrong=(
        Wrong(
            "cosine_exponent",
            "The cosine of a pair turns slower than its sine: its exponent is probably "
            "that of its own column.",
            "In the formula, which exponent stands under the cosine?",
            edits=(("angles.cos()", "(positions.unsqueeze(-1) / "
                    "10000 ** (exponents + 1 / d_model)).cos()"),),
        ),
        Wrong(
            "all_columns_exponent", like="cosine_exponent",
            source="def sinusoid(positions, d_model):\n"
            "    if d_model % 2:\n"
            "        raise ValueError('odd')\n"
            "    exponents = torch.arange(d_model) / d_model\n"
            "    angles = positions.unsqueeze(-1) / 10000**exponents\n"
            "    table = angles.clone()\n"
            "    table[..., 0::2] = angles[..., 0::2].sin()\n"
            "    table[..., 1::2] = angles[..., 1::2].cos()\n"
            "    return table\n",
        ),
        Wrong(
            "exponent_doubled",
            "The speeds fall twice as fast as they should: the 2 of `2i` seems to be in "
            "the exponent twice.",
            "Does your `arange` count pairs, or does it already step by 2?",
            edits=((_EXPONENTS, "exponents = 2 * torch.arange(0, d_model, 2) / d_model"),),
        ),
        Wrong(
            "exponent_doubled_half_size", like="exponent_doubled",
            edits=((_EXPONENTS,
                    "exponents = torch.arange(d_model // 2) / (d_model // 4 or 1)"
                    " if d_model % 4 == 0 else torch.arange(d_model // 2) * 4 / d_model"),),
        ),
        Wrong(
            "exponent_halved",
            "The speeds fall half as fast as they should: the 2 of `2i` is missing in "
            "the exponent.",
            "Does your `arange` count pairs, or does it step by 2?",
            edits=((_EXPONENTS, "exponents = torch.arange(d_model // 2) / d_model"),),
        ),
        Wrong(
            "exponent_floored",
            "The exponents were all rounded down to 0, so all hands turn equally fast.",
            "What is `torch.arange(0, 8, 2) // 8`?",
            edits=((_EXPONENTS, "exponents = torch.arange(0, d_model, 2) // d_model"),),
        ),
        Wrong(
            "exponent_spread",
            "The exponents run from 0 to exactly 1, as `linspace` does.",
            "Which exponent should the last pair have?",
            edits=((_EXPONENTS, "exponents = torch.linspace(0, 1, d_model // 2)"),),
        ),
        Wrong(
            "exponent_from_one",
            "The pairs are counted from 1, so even the first hand turns too slowly.",
            "Which exponent should columns 0 and 1 have?",
            edits=((_EXPONENTS, "exponents = torch.arange(2, d_model + 2, 2) / d_model"),),
        ),
        Wrong(
            "exponent_reversed",
            "The slow hands come first and the fast ones last.",
            "Is the exponent of columns 0 and 1 the smallest or the largest?",
            edits=((_EXPONENTS, "exponents = torch.arange(0, d_model, 2).flip(0) / d_model"),),
        ),
        Wrong(
            "exponent_negative",
            "The hands get faster from left to right: the position is *multiplied* by "
            "the power, or a minus is missing in the exponent.",
            "Is the power of 10000 above or below the line?",
            edits=(("/ 10000**exponents", "* 10000**exponents"),),
        ),
        Wrong(
            "positive_log",
            "The hands get faster from left to right: a minus is missing before the "
            "logarithm.",
            "Should `exp(...)` be larger or smaller than 1?",
            source=_sinusoid("angles = positions.unsqueeze(-1) * "
                             "(exponents * math.log(10000)).exp()"),
        ),
        Wrong(
            "log10",
            "The speeds come from `exp` together with a base-10 logarithm.",
            "Which logarithm undoes `exp`?",
            source=_sinusoid("angles = positions.unsqueeze(-1) * "
                             "(-exponents * math.log10(10000)).exp()"),
        ),
        Wrong(
            "log2",
            "The speeds come from `exp` together with a base-2 logarithm.",
            "Which logarithm undoes `exp`?",
            source=_sinusoid("angles = positions.unsqueeze(-1) * "
                             "(-exponents * math.log2(10000)).exp()"),
        ),
        Wrong(
            "base_1000",
            "The base of the powers is 1000, not 10000.",
            "How many zeros has the base in the formula?",
            edits=(("10000**", "1000**"),),
        ),
        Wrong(
            "base_100000",
            "The base of the powers is 100000, not 10000.",
            "How many zeros has the base in the formula?",
            edits=(("10000**", "100000**"),),
        ),
        Wrong(
            "halves",
            "All sines stand in the left half and all cosines in the right half.",
            "Does joining with `cat` put a sine beside its cosine?",
            edits=((_PAIRS, "return torch.cat((angles.sin(), angles.cos()), dim=-1)"),),
        ),
        Wrong(
            "stacked_before", like="halves",
            edits=((", dim=-1)  # (..., d_model/2, 2)", ", dim=-2)"),),
        ),
        Wrong(
            "swapped",
            "Sine and cosine are swapped: the cosines stand in the even columns.",
            "Which function does the formula give to column 0?",
            edits=((_SINES_AND_COSINES, "(angles.cos(), angles.sin())"),),
        ),
        Wrong(
            "sine_everywhere",
            "All columns are sines.",
            "Which function does the formula give to column 1?",
            edits=(("angles.cos()", "angles.sin()*1"),),
        ),
        Wrong(
            "cosine_everywhere",
            "All columns are cosines.",
            "Which function does the formula give to column 0?",
            edits=(("angles.sin()", "angles.cos()*1"),),
        ),
        Wrong(
            "from_one",
            "Every position is taken for the next one: a 1 was added.",
            "What does the formula give for position 0?",
            edits=((_ANGLES, "angles = (positions + 1).unsqueeze(-1) / 10000**exponents"),),
        ),
        Wrong(
            "counts_itself",
            "The values of `positions` are not used: you count 0, 1, 2, ... yourself.",
            "What if the positions are 5, 2 and 2.5?",
            edits=((_ANGLES, "angles = torch.arange(positions.numel()).view("
                             "positions.shape).unsqueeze(-1) / 10000**exponents"),),
        ),
        Wrong(
            "length_only", like="counts_itself",
            edits=((_ANGLES, "angles = torch.ones_like(positions, dtype=exponents.dtype)"
                             ".flatten().cumsum(0).sub(1).view(positions.shape)"
                             ".unsqueeze(-1) / 10000**exponents"),),
        ),
        Wrong(
            "truncated",
            "Fractions of positions are cut off: they were turned into whole numbers.",
            "Where does `.long()`, `.int()` or `//` come in?",
            edits=(("positions.unsqueeze(-1)", "positions.long().unsqueeze(-1)"),),
        ),
        Wrong(
            "rounded",
            "Positions are rounded to whole numbers.",
            "What is the encoding half way between two words?",
            edits=(("positions.unsqueeze(-1)", "positions.round().unsqueeze(-1)"),),
        ),
        Wrong(
            "angles_floored",
            "The angles were rounded down to whole numbers.",
            "Where does `//` cut off the fraction?",
            edits=(("/ 10000**exponents", "// 10000**exponents"),),
        ),
        Wrong(
            "sign_lost",
            "Negative positions are treated like positive ones.",
            "Is the sine of a negative angle that of the positive one?",
            edits=(("positions.unsqueeze(-1)", "positions.abs().unsqueeze(-1)"),),
        ),
        Wrong(
            "negative_clamped",
            "Negative positions are treated like position 0.",
            "Does the formula need positions to be positive?",
            edits=(("positions.unsqueeze(-1)", "positions.clamp(min=0).unsqueeze(-1)"),),
        ),
        Wrong(
            "normalised",
            "The positions are divided by the largest of them.",
            "Does the formula know how long the sentence is?",
            edits=(("positions.unsqueeze(-1)",
                    "(positions / positions.abs().max()).unsqueeze(-1)"),),
        ),
        Wrong(
            "degrees",
            "The angles are taken for degrees.",
            "Does `sin` expect degrees or radians, and which does the formula use?",
            edits=((_PAIRS, "angles = torch.deg2rad(angles)\n    " + _PAIRS),),
        ),
        Wrong(
            "angle_times_two_pi",
            "The angles are multiplied by 2 pi.",
            "Is there a pi in the formula?",
            edits=((_PAIRS, "angles = math.tau * angles\n    " + _PAIRS),),
        ),
        Wrong(
            "one_dimension_only",
            "It works for a single row of positions, not for other shapes.",
            "Which function in your code insists on one dimension? "
            "Could broadcasting do its work?",
            edits=((_ANGLES, "angles = torch.outer(positions.to(exponents), "
                             "10000**-exponents)"),),
        ),
        Wrong(
            "one_dimension_by_einsum",
            "It works for a single row of positions, not for other shapes: your "
            "`einsum` names exactly one dimension of the positions.",
            "How does `einsum` write \"any dimensions before this one\"?",
            edits=((_ANGLES, "angles = torch.einsum('i,j->ij', "
                             "positions.to(exponents), 10000**-exponents)"),),
        ),
        Wrong(
            "flattened",
            "All positions came out as one long row.",
            "Where does the shape of `positions` come back?",
            edits=(("positions.unsqueeze(-1)", "positions.reshape(-1, 1)"),),
        ),
        Wrong(
            "row_of_positions",
            "The new dimension is in front of the positions, so they meet the speeds in "
            "the wrong place.",
            "Which shape has `positions.unsqueeze(0)`, and which one do you need?",
            edits=(("positions.unsqueeze(-1)", "positions.unsqueeze(0)"),),
        ),
        Wrong(
            "no_new_dimension",
            "Positions and speeds meet one by one, without a new dimension.",
            "Which shape makes every position meet every speed?",
            edits=(("positions.unsqueeze(-1)", "positions"),),
        ),
        Wrong(
            "pairs_left_apart",
            "The pairs were not merged: the result ends in `(d_model/2, 2)`.",
            "Which shape does the docstring promise?",
            edits=(("pairs.flatten(-2)", "pairs"),),
        ),
        Wrong(
            "batch_dimension",
            "The result has an extra dimension in front.",
            "Which shape does the docstring promise?",
            edits=(("pairs.flatten(-2)", "pairs.flatten(-2).unsqueeze(0)"),),
        ),
        Wrong(
            "all_merged",
            "All dimensions were merged into one.",
            "Where should `flatten` begin?",
            edits=(("pairs.flatten(-2)", "pairs.flatten()"),),
        ),
        Wrong(
            "columns_first",
            "Positions and columns are swapped in the result.",
            "Which dimension should come last?",
            edits=(("pairs.flatten(-2)", "pairs.flatten(-2).transpose(0, -1)"),),
        ),
        Wrong(
            "odd_accepted",
            "The numbers are right, but an odd `d_model` is not refused as the docstring "
            "says.",
            "What does your function do for `d_model = 7`?",
            edits=(("if d_model % 2:", "if False:"),),
        ),
        Wrong(
            "odd_crashes",
            "The numbers are right. But an odd `d_model` fails somewhere inside, with "
            "another error than the docstring says.",
            "Could your function look at `d_model` before it does anything else?",
            source="def sinusoid(positions, d_model):\n" + _FILLED.format(
                shape="*positions.shape", new="...,"),
        ),
        Wrong(
            "odd_crashes_in_one_dimension",
            "It works for a single row of positions only, and an odd `d_model` is not "
            "refused with the error that the docstring says.",
            "How many dimensions does `table[:, 0::2]` have, and how many may "
            "`positions` have?",
            source="def sinusoid(positions, d_model):\n" + _FILLED.format(
                shape="len(positions)", new=":,"),
        ),
        Wrong(
            "filled_in_one_dimension",
            "It works for a single row of positions, not for other shapes.",
            "How many dimensions does `table[:, 0::2]` have, and how many may "
            "`positions` have?",
            source="def sinusoid(positions, d_model):\n"
            "    if d_model % 2:\n"
            "        raise ValueError('odd')\n" + _FILLED.format(
                shape="len(positions)", new=":,"),
        ),
        Wrong(
            "odd_asserted",
            "An odd `d_model` raises another error than the docstring says.",
            "Which error does the docstring name, and which one do you raise?",
            edits=(("if d_model % 2:\n        raise ValueError(",
                    "if d_model % 2:\n        raise AssertionError("),),
        ),
        Wrong(
            "odd_by_assert", like="odd_asserted",
            source="def sinusoid(positions, d_model):\n"
            "    assert d_model % 2 == 0\n"
            "    exponents = torch.arange(0, d_model, 2) / d_model\n"
            "    angles = positions.unsqueeze(-1) / 10000**exponents\n"
            "    return torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)\n",
        ),
        Wrong(
            "odd_printed", like="odd_accepted",
            edits=(("raise ValueError(", "str("),),
        ),
        Wrong(
            "even_refused",
            "You refuse even sizes and accept odd ones.",
            "What is `8 % 2`, and is it true or false?",
            edits=(("if d_model % 2:", "if not d_model % 2:"),),
        ),
        Wrong(
            "double",
            "The numbers are right, but in float64. The rest of the network is float32.",
            "Which tensor in your code is float64?",
            edits=(("pairs.flatten(-2)", "pairs.flatten(-2).double()"),),
        ),
        Wrong(
            "dtype_of_positions",
            "The result has the dtype of the positions: whole numbers, where positions "
            "are whole.",
            "Which dtype has `torch.empty_like(positions)`, or `.to(positions.dtype)`?",
            edits=(("pairs.flatten(-2)", "pairs.flatten(-2).to(positions.dtype)"),),
        ),
        Wrong(
            "positions_changed",
            "The tensor of positions that was handed in is changed.",
            "Which of your operations works in place?",
            edits=((_ANGLES, _ANGLES + "\n    positions += 1"),),
        ),
    ),
    right=(
        Right("filled", source=(
            "def sinusoid(positions, d_model):\n"
            "    if d_model % 2 != 0:\n"
            "        raise ValueError('d_model must be even')\n"
            "    speeds = torch.exp(torch.arange(0, d_model, 2)\n"
            "                       * -(math.log(10000.0) / d_model))\n"
            "    angles = positions[..., None] * speeds\n"
            "    table = torch.zeros(*positions.shape, d_model)\n"
            "    table[..., 0::2] = torch.sin(angles)\n"
            "    table[..., 1::2] = torch.cos(angles)\n"
            "    return table\n")),
        Right("outer_and_view", source=(
            "def sinusoid(positions, d_model):\n"
            "    if d_model % 2:\n"
            "        raise ValueError('odd')\n"
            "    speeds = 10000 ** (-torch.arange(0, d_model, 2) / d_model)\n"
            "    angles = torch.outer(positions.flatten().to(speeds), speeds)\n"
            "    table = torch.stack((torch.sin(angles), torch.cos(angles)), 2)\n"
            "    return table.reshape(positions.shape + (d_model,))\n")),
        Right("einsum", edits=((_ANGLES, (
            "angles = torch.einsum('...,f->...f', positions.to(exponents), "
            "10000**-exponents)")),)),
        Right("complex", source=(
            "def sinusoid(positions, d_model):\n"
            "    if d_model % 2:\n"
            "        raise ValueError('odd')\n"
            "    speeds = 1 / 10000 ** (torch.arange(0, d_model, 2) / d_model)\n"
            "    angles = positions.unsqueeze(-1) * speeds\n"
            "    hands = torch.polar(torch.ones_like(angles), angles)\n"
            "    return torch.view_as_real(hands).flip(-1).flatten(-2)\n")),
        Right("phase", source=(
            "def sinusoid(positions, d_model):\n"
            "    if d_model % 2:\n"
            "        raise ValueError('odd')\n"
            "    column = torch.arange(d_model)\n"
            "    angles = positions[..., None] / 10000 ** (column // 2 * 2 / d_model)\n"
            "    return torch.sin(angles + column % 2 * math.pi / 2)\n")),
        Right("where", source=(
            "def sinusoid(positions, d_model):\n"
            "    if d_model % 2:\n"
            "        raise ValueError('odd')\n"
            "    column = torch.arange(d_model)\n"
            "    angles = positions[..., None] / 10000 ** ((column - column % 2) / d_model)\n"
            "    return torch.where(column % 2 == 0, angles.sin(), angles.cos())\n")),
        Right("repeat_interleave", source=(
            "def sinusoid(positions, d_model):\n"
            "    if d_model % 2:\n"
            "        raise ValueError('odd')\n"
            "    speeds = torch.pow(10000.0, -torch.arange(0, d_model, 2) / d_model)\n"
            "    angles = positions.unsqueeze(-1) * speeds.repeat_interleave(2)\n"
            "    angles[..., 0::2].sin_()\n"
            "    angles[..., 1::2].cos_()\n"
            "    return angles\n")),
        Right("in_double", source=(
            "def sinusoid(positions, d_model):\n"
            "    if d_model % 2:\n"
            "        raise ValueError('odd')\n"
            "    i = torch.arange(d_model // 2, dtype=torch.float64)\n"
            "    angles = positions.double()[..., None] / 10000 ** (2 * i / d_model)\n"
            "    table = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)\n"
            "    return table.to(torch.get_default_dtype())\n")),
        Right("numpy", source=(
            "import numpy as np\n"
            "def sinusoid(positions, d_model):\n"
            "    if d_model % 2:\n"
            "        raise ValueError('odd')\n"
            "    angles = positions.numpy()[..., None] / np.power(\n"
            "        10000, np.arange(0, d_model, 2) / d_model)\n"
            "    table = np.zeros(tuple(positions.shape) + (d_model,))\n"
            "    table[..., 0::2], table[..., 1::2] = np.sin(angles), np.cos(angles)\n"
            "    return torch.tensor(table, dtype=torch.get_default_dtype())\n")),
        Right("by_columns", source=(
            "def sinusoid(positions, d_model):\n"
            "    if d_model % 2:\n"
            "        raise ValueError('odd')\n"
            "    columns = []\n"
            "    for i in range(0, d_model, 2):\n"
            "        angle = positions / 10000 ** (i / d_model)\n"
            "        columns += [torch.sin(angle), torch.cos(angle)]\n"
            "    return torch.stack(columns, dim=-1)\n")),
    ),
)  # fmt: skip


# --- 1.5 module -----------------------------------------------------------------------


def _sentences(draw: Draw, b: int, length: int, max_len: int, d_model: int) -> Inputs:
    return {
        "table": draw.tensor(max_len, d_model),
        "x": draw.tensor(b, length, d_model),
    }


def _two_lengths(draw: Draw) -> Inputs:
    return {**_sentences(draw, 2, 3, 11, 6), "longer x": draw.tensor(4, 7, 6)}


def _pulled(draw: Draw) -> Inputs:
    return {**_sentences(draw, 3, 7, 7, 4), "pull": draw.tensor(3, 7, 4)}


def _moved(draw: Draw) -> Inputs:
    return {**_sentences(draw, 3, 4, 9, 6), "move": torch.tensor(1)}


_REGISTER = 'self.register_buffer("pe", table)  # (max_len, d_model)'
_ADD = "return x + self.pe[: x.size(1)]"

MODULE = Task(
    name="positional_encoding/module",
    title="PositionalEncoding",
    target="PositionalEncoding",
    settings=(
        Setting(
            "short", "sentences shorter than the table",
            lambda draw: _sentences(draw, 3, 5, 12, 8),
            "Only the first L rows of the table are added, the same in each sentence.",
        ),
        Setting(
            "two_lengths", "a short batch, then a longer and larger one",
            _two_lengths,
            "Nothing of the first call may be left in the second.",
        ),
        Setting(
            "moves", "moved to bfloat16, then to another device", _moved,
            "What is registered as a buffer moves with the module.",
        ),
        Setting(
            "full_length", "as long as the table, with a gradient", _pulled,
            "A sentence of exactly max_len positions fits.",
        ),
        Setting(
            "one_sentence", "a batch of one", lambda draw: _sentences(draw, 1, 6, 13, 10),
            "Which dimension of `x` tells the number of positions?", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "parameter",
            "The table is an `nn.Parameter`: an optimizer would change it.",
            "Which of the three ways to keep a tensor moves with the module but is not "
            "trained?",
            edits=((_REGISTER, "self.pe = nn.Parameter(table)"),),
        ),
        Wrong(
            "frozen_parameter", like="parameter",
            edits=((_REGISTER, "self.pe = nn.Parameter(table, requires_grad=False)"),),
        ),
        Wrong(
            "embedding_layer", like="parameter",
            edits=((_REGISTER, "self.table = nn.Embedding.from_pretrained(table)"),
                   (_ADD, "return x + self.table.weight[: x.size(1)]")),
        ),
        Wrong(
            "plain_attribute",
            "The table is a plain attribute: it stays behind when the module moves to "
            "another dtype or device.",
            "Which method tells a module that a tensor belongs to it?",
            edits=((_REGISTER, "self.pe = table"),),
        ),
        Wrong(
            "in_a_list", like="plain_attribute",
            edits=((_REGISTER, "self.pe = list(table)"),
                   (_ADD, "return x + torch.stack(self.pe)[: x.size(1)]")),
        ),
        Wrong(
            "dtype_only",
            "The table takes the dtype of `x` but not its device.",
            "On which device is a plain attribute after `model.to(device)`?",
            edits=((_REGISTER, "self.pe = table"),
                   (_ADD, "return x + self.pe[: x.size(1)].to(x.dtype)")),
        ),
        Wrong(
            "result_float32",
            "The result is always float32, whatever the module was moved to.",
            "Where does your code name a dtype?",
            edits=((_ADD, "return (x + self.pe[: x.size(1)]).float()"),),
        ),
        Wrong(
            "position_only",
            "Only the positions come back; the words are lost.",
            "What should the table be added to?",
            edits=((_ADD, "return self.pe[: x.size(1)].expand_as(x)"),),
        ),
        Wrong(
            "rows_only",
            "Only the rows of the table come back, and the words are lost.",
            "What should the rows be added to?",
            edits=((_ADD, "return self.pe[: x.size(1)]"),),
        ),
        Wrong(
            "nothing_added",
            "The input comes back as it went in.",
            "Where is the table added?",
            edits=((_ADD, "return x.clone()"),),
        ),
        Wrong(
            "multiplied",
            "The words are multiplied by the positions.",
            "Does the paper add or multiply?",
            edits=((_ADD, "return x * self.pe[: x.size(1)]"),),
        ),
        Wrong(
            "subtracted",
            "The positions are subtracted.",
            "What is the sign of the table in the sum?",
            edits=((_ADD, "return x - self.pe[: x.size(1)]"),),
        ),
        Wrong(
            "concatenated",
            "Words and positions stand side by side: the vectors are twice as long.",
            "Which shape does the docstring promise?",
            edits=((_ADD, "return torch.cat((x, self.pe[: x.size(1)].expand_as(x)), -1)"),),
        ),
        Wrong(
            "whole_table",
            "The whole table is added, so only sentences of full length fit.",
            "How many rows does a sentence of `L` vectors need?",
            edits=((_ADD, "return x + self.pe"),),
        ),
        Wrong(
            "batch_for_length",
            "The number of *sentences* decides how many rows are taken.",
            "Which dimension of `x` is the position?",
            edits=((_ADD, "return x + self.pe[: x.size(0)]"),),
        ),
        Wrong(
            "len_of_x", like="batch_for_length",
            edits=((_ADD, "return x + self.pe[: len(x)]"),),
        ),
        Wrong(
            "width_for_length",
            "`d_model` decides how many rows are taken.",
            "Which dimension of `x` is the position?",
            edits=((_ADD, "return x + self.pe[: x.size(-1)]"),),
        ),
        Wrong(
            "batch_dimension_cut", like="whole_table",
            edits=((_REGISTER, 'self.register_buffer("pe", table.unsqueeze(0))'),
                   (_ADD, "return x + self.pe[:, :][: x.size(1)]")),
        ),
        Wrong(
            "position_of_the_sentence",
            "Each sentence gets one row, the same for all of its words.",
            "Does a row belong to a sentence or to a place in it?",
            edits=((_ADD, "return x + self.pe[: x.size(0)].unsqueeze(1)"),),
        ),
        Wrong(
            "one_row_for_all",
            "All positions get the same row of the table.",
            "Which row belongs to position 3?",
            edits=((_ADD, "return x + self.pe[x.size(1) - 1]"),),
        ),
        Wrong(
            "row_of_the_length",
            "All positions get the row after the sentence.",
            "Is a colon missing in the index of the table?",
            edits=((_ADD, "return x + self.pe[min(x.size(1), len(self.pe) - 1)]"),),
        ),
        Wrong(
            "first_row_for_all",
            "All positions get row 0 of the table.",
            "Which row belongs to position 3?",
            edits=((_ADD, "return x + self.pe[0]"),),
        ),
        Wrong(
            "last_rows",
            "The *last* rows of the table are added.",
            "Which row belongs to position 0?",
            edits=((_ADD, "return x + self.pe[-x.size(1) :]"),),
        ),
        Wrong(
            "from_one",
            "Position 0 gets row 1 of the table.",
            "Which row belongs to position 0?",
            edits=((_ADD, "return x + self.pe[1 : x.size(1) + 1]"),),
        ),
        Wrong(
            "reversed",
            "The rows are added in reverse order.",
            "Which row belongs to position 0?",
            edits=((_ADD, "return x + self.pe[: x.size(1)].flip(0)"),),
        ),
        Wrong(
            "first_sentence_only",
            "Only the first sentence of the batch gets positions.",
            "How does broadcasting reach all sentences?",
            edits=((_ADD, "x = x.clone()\n        x[0] = x[0] + self.pe[: x.size(1)]\n"
                          "        return x"),),
        ),
        Wrong(
            "in_place",
            "The `x` that was handed in is changed.",
            "Does `x += ...` make a new tensor?",
            edits=((_ADD, "x += self.pe[: x.size(1)]\n        return x"),),
        ),
        Wrong(
            "add_underscore", like="in_place",
            edits=((_ADD, "return x.add_(self.pe[: x.size(1)])"),),
        ),
        Wrong(
            "in_place_data",
            "The `x` that was handed in is changed, behind autograd's back.",
            "Who else uses `x` after your module?",
            edits=((_ADD, "x.data += self.pe[: x.size(1)]\n        return x"),),
        ),
        Wrong(
            "scaled",
            "The words are multiplied by the square root of `d_model` here. That belongs "
            "in the input layer.",
            "What does the exercise ask to add, and what to leave out?",
            edits=((_ADD, "return x * x.size(-1) ** 0.5 + self.pe[: x.size(1)]"),),
        ),
        Wrong(
            "table_scaled",
            "The *table* is multiplied by the square root of `d_model`.",
            "What does the exercise ask to add, and what to leave out?",
            edits=((_ADD, "return x + self.pe[: x.size(1)] * x.size(-1) ** 0.5"),),
        ),
        Wrong(
            "normalised",
            "The sum is normalised afterwards.",
            "What does the exercise ask to add, and what to leave out?",
            edits=((_ADD, "x = x + self.pe[: x.size(1)]\n"
                          "        return nn.functional.layer_norm(x, x.shape[-1:])"),),
        ),
        Wrong(
            "dropped",
            "Some numbers are zero and the others are larger: dropout is at work.",
            "What does the exercise ask to add, and what to leave out?",
            edits=((_ADD, "return nn.functional.dropout(x + self.pe[: x.size(1)], 0.1)"),),
        ),
        Wrong(
            "dropped_module", like="dropped",
            edits=((_ADD, "return nn.Dropout(0.1)(x + self.pe[: x.size(1)])"),),
        ),
        Wrong(
            "detached",
            "No gradient flows back to the words, so the embeddings could never learn.",
            "Does `.detach()`, `.data` or `no_grad` cut the graph somewhere?",
            edits=((_ADD, "return x.detach() + self.pe[: x.size(1)]"),),
        ),
        Wrong(
            "no_grad", like="detached",
            edits=((_ADD, "with torch.no_grad():\n"
                          "            return x + self.pe[: x.size(1)]"),),
        ),
        Wrong(
            "table_cut",
            "The first call cuts the table for good, so a longer sentence no longer fits.",
            "Does `forward` change something of the module?",
            edits=((_ADD, "self.pe = self.pe[: x.size(1)]\n        return x + self.pe"),),
        ),
        Wrong(
            "table_grows",
            "Each call changes the table.",
            "Does `forward` change something of the module?",
            edits=((_ADD, "self.pe *= 2\n        return x + self.pe[: x.size(1)] / 2"),),
        ),
        Wrong(
            "no_super",
            "`nn.Module` was not set up before the buffer was registered.",
            "Which line must every `__init__` of a module begin with?",
            edits=(("super().__init__()\n", "\n"),),
        ),
    ),
    right=(
        Right("batch_dimension", edits=(
            (_REGISTER, 'self.register_buffer("pe", table.unsqueeze(0))'),
            (_ADD, "return x + self.pe[:, : x.shape[1], :]"))),
        Right("not_persistent", edits=((
            _REGISTER, 'self.register_buffer("pe", table, persistent=False)'),)),
        Right("detached_copy", edits=((
            _REGISTER, 'self.register_buffer("pe", table.detach().clone())'),)),
        Right("sequence_first_inside", edits=(
            (_REGISTER, 'self.register_buffer("pe", table[:, None])'),
            (_ADD, "return (x.transpose(0, 1) + self.pe[: x.size(1)]).transpose(0, 1)"))),
        Right("narrow", edits=((
            _ADD, "return torch.add(x, self.pe.narrow(0, 0, x.size(-2)))"),)),
        Right("own_copy_in_place", edits=((
            _ADD, "x = x.clone()\n        x += self.pe[: x.size(1)]\n        return x"),)),
        Right("lookup", edits=((
            _ADD, "positions = torch.arange(x.size(1), device=x.device)\n"
                  "        return x + nn.functional.embedding(positions, self.pe)"),)),
        Right("sentence_by_sentence", edits=((
            _ADD, "rows = self.pe[: x.size(1)]\n"
                  "        return torch.stack([sentence + rows for sentence in x])"),)),
        Right("unpacked_shape", edits=((
            _ADD, "b, length, d_model = x.shape\n"
                  "        return x + self.pe[:length].expand(b, -1, -1).detach()"),)),
    ),
)  # fmt: skip


# --- 1.6 input_layer ------------------------------------------------------------------


def _tokens(draw: Draw, b: int, length: int, d_model: int, padding_idx: int) -> Inputs:
    """Ids with padding, and weights whose padding row is zero as a layer makes it."""
    vocab_size = 11
    ids = draw.ids(0, vocab_size, b, length)
    ids[0, -2:] = padding_idx
    weights = draw.weights(**{"embedding.weight": (vocab_size, d_model)})
    weights["weights.embedding.weight"][padding_idx] = 0
    return {
        **weights,
        "ids": ids,
        # Without zeros, so that every zero in training mode comes from dropout.
        "positions": draw.tensor(length, d_model) + 1 / 128,
        "vocab_size": torch.tensor(vocab_size),
        "padding_idx": torch.tensor(padding_idx),
        "pull": draw.tensor(b, length, d_model),
    }


_EMBEDDING = (
    "self.embedding = nn.Embedding(vocab_size, d_model, padding_idx=padding_idx)"
)
_SCALED = "x = self.embedding(ids) * self.scale"
_DROP = "return self.dropout(self.positions(x))"
_SCALE = "self.scale = math.sqrt(d_model)"

INPUT_LAYER = Task(
    name="positional_encoding/input_layer",
    title="The input layer",
    target="InputLayer",
    settings=(
        Setting(
            "padding_is_0", "padding is token 0",
            lambda draw: _tokens(draw, 3, 5, 8, 0),
            "Look up, scale, add positions, drop: in this order.",
        ),
        Setting(
            "padding_is_3", "padding is token 3",
            lambda draw: _tokens(draw, 2, 7, 12, 3),
            "The embedding layer needs to know which token is padding.",
        ),
        Setting(
            "narrow", "short vectors", lambda draw: _tokens(draw, 5, 9, 6, 1),
            "The factor is the square root of d_model, whatever its size.",
        ),
        Setting(
            "one_sentence", "a single sentence", lambda draw: _tokens(draw, 1, 17, 10, 10),
            "Does it work for a batch of one?", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "not_scaled",
            "The embeddings are not scaled.",
            "By which factor should they be multiplied, and when?",
            edits=((_SCALED, "x = self.embedding(ids)"),),
        ),
        Wrong(
            "scale_discarded", like="not_scaled",
            edits=((_SCALED, "x = self.embedding(ids)\n        x * self.scale"),),
        ),
        Wrong(
            "scaled_weights_at_the_start", like="not_scaled",
            edits=((_SCALE, "self.embedding.weight.data *= math.sqrt(d_model)"),
                   (_SCALED, "x = self.embedding(ids)")),
        ),
        Wrong(
            "divided",
            "The embeddings are divided by the square root of `d_model`.",
            "Should the words get louder or quieter?",
            edits=((_SCALED, "x = self.embedding(ids) / self.scale"),),
        ),
        Wrong(
            "scaled_by_d",
            "The embeddings are multiplied by `d_model` itself: the square root is "
            "missing, or was applied twice.",
            "How often does the factor appear on the way from ids to result?",
            edits=((_SCALE, "self.scale = d_model"),),
        ),
        Wrong(
            "scaled_by_vocabulary",
            "The factor is the square root of the size of the vocabulary.",
            "Which of the two sizes is the length of a vector?",
            edits=((_SCALE, "self.scale = math.sqrt(vocab_size)"),),
        ),
        Wrong(
            "scaled_by_length",
            "The factor is the square root of the number of positions.",
            "Which size of the tensor is `d_model`?",
            edits=((_SCALED, "x = self.embedding(ids) * math.sqrt(ids.size(1))"),),
        ),
        Wrong(
            "scaled_by_batch",
            "The factor is the square root of the number of sentences.",
            "Which size of the tensor is `d_model`?",
            edits=((_SCALED, "x = self.embedding(ids) * math.sqrt(len(ids))"),),
        ),
        Wrong(
            "scale_fixed",
            "The factor is that of `d_model = 512`, whatever the size is.",
            "Where does `d_model` come into your factor?",
            edits=((_SCALE, "self.scale = math.sqrt(512)"),),
        ),
        Wrong(
            "scaled_twice", like="scaled_by_d",
            edits=((_SCALED, "x = self.embedding(ids) * self.scale * self.scale*1.0"),),
        ),
        Wrong(
            "scaled_after",
            "The factor is applied after the positions were added, so it scales them too.",
            "Which part of the sum should get louder, and which should not?",
            edits=((_SCALED, "x = self.embedding(ids)"),
                   (_DROP, "return self.dropout(self.positions(x) * self.scale)")),
        ),
        Wrong(
            "positions_first",
            "The positions are scaled, and the words are not.",
            "Which part of the sum should get louder, and which should not?",
            edits=((_SCALED, "x = self.embedding(ids)"),
                   (_DROP, "rows = self.positions(torch.zeros_like(x)) * self.scale\n"
                           "        return self.dropout(x + rows)")),
        ),
        Wrong(
            "no_positions",
            "The positions are missing.",
            "Where does the module `positions` come in?",
            edits=((_DROP, "return self.dropout(x)"),),
        ),
        Wrong(
            "positions_twice",
            "The positions are added twice.",
            "Does the module `positions` return the rows, or the sum with `x`?",
            edits=((_DROP, "return self.dropout(self.positions(self.positions(x)))"),),
        ),
        Wrong(
            "words_twice",
            "The words are added twice: `positions(x)` is already the sum.",
            "Does the module `positions` return the rows, or the sum with `x`?",
            edits=((_DROP, "return self.dropout(x + self.positions(x))"),),
        ),
        Wrong(
            "positions_only",
            "Only positions come out; the words are lost.",
            "What is handed to the module `positions`?",
            edits=((_DROP, "return self.dropout(self.positions(torch.zeros_like(x)))"),),
        ),
        Wrong(
            "no_dropout",
            "Nothing is dropped in training mode.",
            "Is the result of dropout used?",
            edits=((_DROP, "return self.positions(x)"),),
        ),
        Wrong(
            "dropout_discarded", like="no_dropout",
            edits=((_DROP, "x = self.positions(x)\n        self.dropout(x)\n"
                           "        return x"),),
        ),
        Wrong(
            "dropout_before_positions",
            "Dropout comes before the positions, so these are never dropped.",
            "The paper applies dropout to the sum. Which sum?",
            edits=((_DROP, "return self.positions(self.dropout(x))"),),
        ),
        Wrong(
            "dropout_before_scale", like="dropout_before_positions",
            edits=((_SCALED, "x = self.dropout(self.embedding(ids)) * self.scale"),
                   (_DROP, "return self.positions(x)")),
        ),
        Wrong(
            "dropout_twice",
            "Dropout is applied twice, before and after the positions.",
            "How often does the paper drop, between ids and the first layer?",
            edits=((_DROP, "return self.dropout(self.positions(self.dropout(x)))"),),
        ),
        Wrong(
            "dropout_always",
            "Numbers are dropped in eval mode as well.",
            "How does `F.dropout` know whether the module is in training mode?",
            edits=((_DROP, "return nn.functional.dropout("
                           "self.positions(x), self.dropout.p)"),),
        ),
        Wrong(
            "dropout_made_anew", like="dropout_always",
            edits=((_DROP, "return nn.Dropout(self.dropout.p)(self.positions(x))"),),
        ),
        Wrong(
            "share_kept",
            "The share that should be dropped is kept instead.",
            "In PyTorch, is `p` the share that is dropped or the share that is kept?",
            edits=(("nn.Dropout(dropout)", "nn.Dropout(1 - dropout)"),),
        ),
        Wrong(
            "share_ignored",
            "The dropout has its standard share, not the one that was asked for.",
            "What is `dropout` in `__init__` used for?",
            edits=(("nn.Dropout(dropout)", "nn.Dropout()"),),
        ),
        Wrong(
            "share_fixed",
            "The dropout always has the share 0.1, not the one that was asked for.",
            "What is `dropout` in `__init__` used for?",
            edits=(("nn.Dropout(dropout)", "nn.Dropout(0.1)"),),
        ),
        Wrong(
            "not_rescaled",
            "Numbers are dropped, but those that are kept are not made larger, so the "
            "sums change between training and evaluation.",
            "What does `nn.Dropout` do to the numbers that it keeps?",
            edits=((_DROP, "x = self.positions(x)\n"
                           "        if self.training:\n"
                           "            x = x * (torch.rand_like(x) > self.dropout.p)\n"
                           "        return x"),),
        ),
        Wrong(
            "padding_trained",
            "The row of the padding token gets a gradient: the embedding layer does not "
            "know which token is padding.",
            "Which argument of `nn.Embedding` tells it?",
            edits=((", padding_idx=padding_idx)", ")"),),
        ),
        Wrong(
            "padding_always_0",
            "The embedding layer thinks that token 0 is padding, whatever was asked for.",
            "Where does your code use the value of `padding_idx`?",
            edits=(("padding_idx=padding_idx)", "padding_idx=0)"),),
        ),
        Wrong(
            "padding_cut_out",
            "At padding the whole sum is zero, and its position is lost.",
            "Which part of the sum is zero at padding?",
            edits=((_DROP, "keep = (ids != self.embedding.padding_idx).unsqueeze(-1)\n"
                           "        return self.dropout(self.positions(x) * keep)"),),
        ),
        Wrong(
            "scale_trained",
            "The factor is a parameter: training would change it.",
            "Is the square root of `d_model` something to learn?",
            edits=((_SCALE, "self.scale = nn.Parameter(torch.tensor(d_model**0.5))"),),
        ),
        Wrong(
            "weights_grow",
            "The table of the embedding is scaled in place, so it grows with every call.",
            "Does `forward` change something of the module?",
            edits=((_SCALED, "with torch.no_grad():\n"
                             "            self.embedding.weight *= self.scale\n"
                             "        x = self.embedding(ids)"),),
        ),
        Wrong(
            "detached",
            "No gradient reaches the table of the embedding, so it could never learn.",
            "Does `.detach()`, `.data` or `no_grad` cut the graph somewhere?",
            edits=((_SCALED, "x = self.embedding(ids).detach() * self.scale"),),
        ),
        Wrong(
            "frozen", like="detached",
            edits=((_SCALE, "self.scale = math.sqrt(d_model)\n"
                            "        self.embedding.weight.requires_grad = False"),),
        ),
        Wrong(
            "other_name",
            "The embedding layer has another name than the docstring says, so its weights "
            "cannot be found.",
            "What is the layer called in `__init__`?",
            edits=((_EMBEDDING, "self.embed = nn.Embedding("
                                "vocab_size, d_model, padding_idx=padding_idx)"),
                   ("self.embedding(ids)", "self.embed(ids)")),
        ),
        Wrong(
            "sizes_swapped",
            "The table of the embedding has its two sizes swapped.",
            "Which comes first in `nn.Embedding`: how many vectors, or how long they are?",
            edits=(("nn.Embedding(vocab_size, d_model,",
                    "nn.Embedding(d_model, vocab_size,"),),
        ),
        Wrong(
            "activated",
            "Negative numbers became zero: there is an activation that nobody asked for.",
            "Which steps does the exercise list?",
            edits=((_DROP, "return self.dropout(self.positions(x).relu())"),),
        ),
        Wrong(
            "normalised",
            "The result is normalised, which nobody asked for.",
            "Which steps does the exercise list?",
            edits=((_DROP, "x = self.positions(x)\n"
                           "        return self.dropout("
                           "nn.functional.layer_norm(x, x.shape[-1:]))"),),
        ),
    ),
    right=(
        Right("one_line", edits=((
            _SCALED, "x = self.embedding(ids).mul(self.embedding.embedding_dim**0.5)"),)),
        Right("functional_dropout", edits=((
            _DROP, "return nn.functional.dropout(\n"
                   "            self.positions(x), self.dropout.p, self.training)"),)),
        Right("sequential", edits=(
            ("self.dropout = nn.Dropout(dropout)",
             "self.rest = nn.Sequential(positions, nn.Dropout(dropout))"),
            (_DROP, "return self.rest(x)"))),
        Right("scale_from_shape", edits=((
            _SCALED, "x = self.embedding(ids)\n        x = x * x.shape[-1] ** 0.5"),)),
        Right("scale_as_buffer", edits=((
            _SCALE, 'self.register_buffer("scale", torch.tensor(float(d_model)).sqrt())'),)),
        Right("functional_embedding", edits=((
            _SCALED, "x = self.scale * nn.functional.embedding(ids, "
                     "self.embedding.weight, self.embedding.padding_idx)"),)),
        Right("xavier_start", edits=((
            _SCALE, "self.scale = math.sqrt(d_model)\n"
                    "        nn.init.xavier_uniform_(self.embedding.weight)"),)),
        Right("dropout_by_hand", edits=((
            _DROP, "x = self.positions(x)\n"
                   "        if self.training:\n"
                   "            keep = torch.rand_like(x) >= self.dropout.p\n"
                   "            x = x * keep / (1 - self.dropout.p)\n"
                   "        return x"),)),
    ),
)  # fmt: skip


# --- 1.7 shift_matrix -----------------------------------------------------------------


def _shifts(k: torch.Tensor, other: torch.Tensor, d_model: int) -> Inputs:
    return {"k": k, "other k": other, "d_model": torch.tensor(d_model)}


_SHIFT_ANGLES = "angles = k / 10000 ** (torch.arange(0, d_model, 2) / d_model)"
_BLOCKS = "torch.stack((cos, sin, -sin, cos), dim=-1)"
_DIAGONAL = "torch.block_diag(*blocks.view(-1, 2, 2))"

SHIFT_MATRIX = Task(
    name="positional_encoding/shift_matrix",
    title="The shift matrix",
    target="shift_matrix",
    settings=(
        Setting(
            "forward", "one step, and several",
            lambda draw: _shifts(torch.tensor(1), draw.ids(2, 9), 6),
            "Multiply your matrix by `sinusoid(pos)`: is it `sinusoid(pos + k)`?",
        ),
        Setting(
            "backward", "steps backward, and none at all",
            lambda draw: _shifts(-draw.ids(1, 9), torch.tensor(0), 8),
            "To go back by k undoes to go forward by k. And 0 steps change nothing.",
        ),
        Setting(
            "far", "far steps, wide vectors",
            lambda draw: _shifts(draw.ids(20, 60), -draw.ids(20, 60), 10),
            "Does each pair turn by its own angle?", atol=3e-5,
        ),
        Setting(
            "one_pair", "a single pair",
            lambda draw: _shifts(draw.ids(2, 9), -draw.ids(2, 9), 2),
            "With d_model = 2 the matrix is one rotation, by k radians.",
            hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "backwards",
            "Your matrix turns the hands backward: its minus stands in the other corner, "
            "as in the textbook rotation of (cosine, sine).",
            "What multiplies `cos(a)` in `sin(a + b)`: plus or minus `sin(b)`?",
            edits=((_BLOCKS, "torch.stack((cos, -sin, sin, cos), dim=-1)"),),
        ),
        Wrong(
            "transposed", like="backwards",
            edits=((_DIAGONAL, "torch.block_diag(*blocks.view(-1, 2, 2)).T"),),
        ),
        Wrong(
            "k_negated", like="backwards",
            edits=((_SHIFT_ANGLES,
                    "angles = -k / 10000 ** (torch.arange(0, d_model, 2) / d_model)"),),
        ),
        Wrong(
            "no_minus",
            "Your blocks have no minus, so they are no rotations: hands change length.",
            "What is `cos(a + b)` in terms of sines and cosines of `a` and `b`?",
            edits=((_BLOCKS, "torch.stack((cos, sin, sin, cos), dim=-1)"),),
        ),
        Wrong(
            "two_minuses",
            "Your blocks have two minuses, so they are no rotations: hands change length.",
            "What is `sin(a + b)` in terms of sines and cosines of `a` and `b`?",
            edits=((_BLOCKS, "torch.stack((cos, -sin, -sin, cos), dim=-1)"),),
        ),
        Wrong(
            "minus_on_diagonal",
            "Your blocks are reflections: the minus stands on the diagonal.",
            "What is `cos(a + b)` in terms of sines and cosines of `a` and `b`?",
            edits=((_BLOCKS, "torch.stack((cos, sin, sin, -cos), dim=-1)"),),
        ),
        Wrong(
            "sine_and_cosine_swapped",
            "Sine and cosine are swapped in your blocks: no step at all would turn the "
            "hands by a quarter.",
            "Which block changes nothing, and which `sin` and `cos` has angle 0?",
            edits=((_BLOCKS, "torch.stack((sin, cos, -cos, sin), dim=-1)"),),
        ),
        Wrong(
            "sine_and_cosine_swapped_backwards", like="sine_and_cosine_swapped",
            edits=(("sin, cos = angles.sin(), angles.cos()",
                    "cos, sin = angles.sin(), angles.cos()"),),
        ),
        Wrong(
            "rows_swapped",
            "The two rows of each block are swapped.",
            "Which row of a block gives the new sine?",
            edits=((_BLOCKS, "torch.stack((-sin, cos, cos, sin), dim=-1)"),),
        ),
        Wrong(
            "one_speed",
            "All hands turn by the same angle.",
            "How fast is hand i?",
            edits=((_SHIFT_ANGLES, "angles = k * torch.ones(d_model // 2)"),),
        ),
        Wrong(
            "cosine_speed",
            "The exponents are those of the odd columns, (2i + 1) / d_model.",
            "Which exponent do both members of pair 0 have?",
            edits=(("torch.arange(0, d_model, 2)", "torch.arange(1, d_model, 2)"),),
        ),
        Wrong(
            "exponent_doubled",
            "The 2 of `2i` seems to be in the exponents twice.",
            "Does your `arange` count pairs, or does it step by 2?",
            edits=(("(torch.arange(0, d_model, 2)", "(2 * torch.arange(0, d_model, 2)"),),
        ),
        Wrong(
            "exponent_halved",
            "The 2 of `2i` is missing in the exponents.",
            "Does your `arange` count pairs, or does it step by 2?",
            edits=(("torch.arange(0, d_model, 2)", "torch.arange(d_model // 2)"),),
        ),
        Wrong(
            "exponent_negative",
            "The hands get faster along the diagonal: k is multiplied by the powers.",
            "Is the power of 10000 above or below the line?",
            edits=(("angles = k / 10000", "angles = k * 10000"),),
        ),
        Wrong(
            "speeds_reversed",
            "The slow hands come first and the fast ones last.",
            "Which pair should turn by `k` radians?",
            edits=(("angles.sin(), angles.cos()", "angles.flip(0).sin(), "
                    "angles.flip(0).cos()"),),
        ),
        Wrong(
            "base_1000",
            "The base of the powers is 1000, not 10000.",
            "How many zeros has the base in the formula?",
            edits=(("10000", "1000"),),
        ),
        Wrong(
            "degrees",
            "The angles are taken for degrees.",
            "Does the position count degrees or radians?",
            edits=((_SHIFT_ANGLES, _SHIFT_ANGLES + "\n    angles = angles.deg2rad()"),),
        ),
        Wrong(
            "angle_times_two_pi",
            "The angles are multiplied by 2 pi.",
            "Is there a pi in the formula of the encoding?",
            edits=((_SHIFT_ANGLES, _SHIFT_ANGLES + "\n    angles = angles * math.tau"),),
        ),
        Wrong(
            "single_step",
            "Your matrix moves by one step, whatever `k` is.",
            "Where does `k` come into your angles?",
            edits=(("angles = k /", "angles = 1 /"),),
        ),
        Wrong(
            "sign_of_k_lost",
            "Steps backward are treated like steps forward.",
            "What should `k = -3` do?",
            edits=(("angles = k /", "angles = abs(k) /"),),
        ),
        Wrong(
            "halves",
            "The matrix is right for a table with all sines left and all cosines right, "
            "but ours has them in turn.",
            "Where are the two members of pair 0 in one of our vectors?",
            edits=((_DIAGONAL, "torch.cat((torch.cat((cos.diag(), sin.diag()), 1), "
                               "torch.cat((-sin.diag(), cos.diag()), 1)))"),),
        ),
        Wrong(
            "columns_rolled",
            "Your matrix moves the *numbers of a vector* along by k places.",
            "Does a step along the sentence change the order of columns?",
            edits=((_DIAGONAL, "torch.eye(d_model).roll(k, 0)"),),
        ),
        Wrong(
            "blocks_only",
            "You return the blocks `(d_model/2, 2, 2)`; they were not put in one matrix.",
            "Which shape does the docstring promise?",
            edits=((_DIAGONAL, "blocks.view(-1, 2, 2)"),),
        ),
        Wrong(
            "cosines_only",
            "Only the diagonal is filled in, so nothing turns: hands only shrink.",
            "Which numbers stand beside the diagonal of a rotation?",
            edits=((_DIAGONAL, "cos.repeat_interleave(2).diag()"),),
        ),
        Wrong(
            "identity",
            "The identity matrix moves nothing.",
            "Where does `k` come in?",
            edits=((_DIAGONAL, "torch.eye(d_model)"),),
        ),
        Wrong(
            "first_block_only",
            "Only the first pair turns; the others stay where they are.",
            "How many hands are there?",
            edits=((_DIAGONAL, "torch.block_diag(blocks[0].view(2, 2), "
                               "torch.eye(d_model - 2))"),),
        ),
        Wrong(
            "double",
            "The numbers are right, but in float64. The rest of the network is float32.",
            "Which tensor in your code is float64?",
            edits=((_DIAGONAL, "torch.block_diag(*blocks.view(-1, 2, 2)).double()"),),
        ),
        Wrong(
            "encoding_of_k",
            "You return the encoding of position k, which is a vector.",
            "Which shape does a matrix have that turns a vector into another one?",
            edits=((_DIAGONAL, "torch.stack((sin, cos), -1).flatten()"),),
        ),
    ),
    right=(
        Right("loops", source=(
            "def shift_matrix(k, d_model):\n"
            "    matrix = torch.zeros(d_model, d_model)\n"
            "    for j in range(0, d_model, 2):\n"
            "        angle = k / 10000 ** (j / d_model)\n"
            "        matrix[j, j] = matrix[j + 1, j + 1] = math.cos(angle)\n"
            "        matrix[j, j + 1] = math.sin(angle)\n"
            "        matrix[j + 1, j] = -math.sin(angle)\n"
            "    return matrix\n")),
        Right("diagonals", source=(
            "def shift_matrix(k, d_model):\n"
            "    speeds = 10000 ** (-torch.arange(0, d_model, 2) / d_model)\n"
            "    cos, sin = torch.cos(k * speeds), torch.sin(k * speeds)\n"
            "    beside = torch.stack((sin, torch.zeros_like(sin)), 1).flatten()[:-1]\n"
            "    return (cos.repeat_interleave(2).diag() + beside.diag(1)\n"
            "            - beside.diag(-1))\n")),
        Right("list_of_blocks", source=(
            "def shift_matrix(k, d_model):\n"
            "    blocks = []\n"
            "    for i in range(d_model // 2):\n"
            "        a = k * math.exp(-math.log(10000) * 2 * i / d_model)\n"
            "        blocks.append(torch.tensor(\n"
            "            [[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]]))\n"
            "    return torch.block_diag(*blocks)\n")),
        Right("exponential", source=(
            "def shift_matrix(k, d_model):\n"
            "    speeds = 10000 ** (-torch.arange(0, d_model, 2).double() / d_model)\n"
            "    turn = torch.tensor([[0.0, 1.0], [-1.0, 0.0]]).double()\n"
            "    generator = torch.kron(speeds.diag(), turn)\n"
            "    matrix = torch.matrix_exp(k * generator)\n"
            "    return matrix.to(torch.get_default_dtype())\n")),
        Right("power_of_one_step", source=(
            "def shift_matrix(k, d_model):\n"
            "    angles = [10000 ** (-2 * i / d_model) for i in range(d_model // 2)]\n"
            "    step = torch.block_diag(*(\n"
            "        torch.tensor([[math.cos(a), math.sin(a)],\n"
            "                      [-math.sin(a), math.cos(a)]]).double()\n"
            "        for a in angles))\n"
            "    matrix = torch.linalg.matrix_power(step, k)\n"
            "    return matrix.to(torch.get_default_dtype())\n")),
        Right("slices", source=(
            "def shift_matrix(k, d_model):\n"
            "    a = k / torch.pow(10000.0, torch.arange(0, d_model, 2) / d_model)\n"
            "    matrix = torch.zeros(d_model, d_model)\n"
            "    even = torch.arange(0, d_model, 2)\n"
            "    matrix[even, even], matrix[even + 1, even + 1] = a.cos(), a.cos()\n"
            "    matrix[even, even + 1], matrix[even + 1, even] = a.sin(), -a.sin()\n"
            "    return matrix\n")),
    ),
)  # fmt: skip


# --- 1.8 learned ----------------------------------------------------------------------


def _learned(draw: Draw, b: int, length: int, max_len: int, d_model: int) -> Inputs:
    return {
        **draw.weights(table=(max_len, d_model)),
        "x": draw.tensor(b, length, d_model),
        "pull": draw.tensor(b, length, d_model),
    }


_TABLE = "self.table = nn.Parameter(0.02 * torch.randn(max_len, d_model))"
_ADD_ROWS = "return x + self.table[:length]"
_REFUSE = "if length > max_len:"

LEARNED = Task(
    name="positional_encoding/learned",
    title="LearnedPositions",
    target="LearnedPositions",
    settings=(
        Setting(
            "short", "sentences shorter than the table",
            lambda draw: _learned(draw, 3, 5, 8, 6),
            "Only the first L rows are added, and only they get a gradient.",
        ),
        Setting(
            "full_length", "as long as the table",
            lambda draw: _learned(draw, 2, 7, 7, 4),
            "A sentence of exactly max_len positions fits.",
        ),
        Setting(
            "one_sentence", "a batch of one, and a large table",
            lambda draw: _learned(draw, 1, 4, 13, 10),
            "Which dimension of `x` tells the number of positions?",
        ),
        Setting(
            "one_word", "sentences of one word", lambda draw: _learned(draw, 5, 1, 3, 8),
            "A sentence of one word needs row 0 of the table.", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "buffer",
            "The table is a buffer, so no optimizer will train it.",
            "Which class makes a tensor of a module trainable?",
            edits=((_TABLE, 'self.register_buffer("table", '
                            "0.02 * torch.randn(max_len, d_model))"),),
        ),
        Wrong(
            "plain_tensor", like="buffer",
            edits=((_TABLE, "self.table = torch.randn(max_len, d_model, "
                            "requires_grad=True)"),),
        ),
        Wrong(
            "frozen",
            "The table is a parameter, but it gets no gradient.",
            "Does `requires_grad=False`, `.data`, `.detach()` or `no_grad` stand somewhere?",
            edits=((_TABLE, "self.table = nn.Parameter("
                            "torch.randn(max_len, d_model), requires_grad=False)"),),
        ),
        Wrong(
            "detached", like="frozen",
            edits=((_ADD_ROWS, "return x + self.table[:length].detach()"),),
        ),
        Wrong(
            "through_data", like="frozen",
            edits=((_ADD_ROWS, "return x + self.table.data[:length]"),),
        ),
        Wrong(
            "sizes_swapped",
            "The table has its two sizes swapped.",
            "Which size is first in `(max_len, d_model)`?",
            edits=(("torch.randn(max_len, d_model)", "torch.randn(d_model, max_len)"),),
        ),
        Wrong(
            "other_name",
            "The parameter has another name than the docstring says, so it cannot be "
            "found.",
            "What is the parameter called in `__init__`?",
            edits=((_TABLE, "self.pe = nn.Parameter("
                            "0.02 * torch.randn(max_len, d_model))"),
                   ("self.table.size(0)", "self.pe.size(0)"),
                   (_ADD_ROWS, "return x + self.pe[:length]")),
        ),
        Wrong(
            "embedding_layer",
            "The table is inside an `nn.Embedding`, so the parameter is called "
            "`table.weight`. The docstring asks for a parameter called `table`.",
            "Which class makes a single tensor trainable?",
            edits=((_TABLE, "self.table = nn.Embedding(max_len, d_model)"),
                   ("self.table.size(0)", "self.table.num_embeddings"),
                   (_ADD_ROWS, "return x + self.table(torch.arange(length))")),
        ),
        Wrong(
            "too_long_accepted",
            "A sentence that is too long gets no `ValueError`.",
            "What does your module do with `max_len + 1` positions?",
            edits=((_REFUSE, "if False:"),),
        ),
        Wrong(
            "too_long_asserted",
            "A sentence that is too long raises another error than the docstring says.",
            "Which error does the docstring name, and which one does `assert` raise?",
            edits=((_REFUSE, "assert length <= max_len\n        if False:"),),
        ),
        Wrong(
            "too_long_index_error",
            "A sentence that is too long raises another error than the docstring says.",
            "Which error does the docstring name, and which one comes from your code?",
            edits=(("raise ValueError(", "raise IndexError("),),
        ),
        Wrong(
            "too_long_cut",
            "A sentence that is too long loses its end, silently.",
            "What does the docstring say for `max_len + 1` positions?",
            edits=((_REFUSE, "if False:"),
                   (_ADD_ROWS, "return x[:, :max_len] + self.table[:length]")),
        ),
        Wrong(
            "too_long_repeats", like="too_long_cut",
            edits=((_REFUSE, "if False:"),
                   (_ADD_ROWS, "return x + self.table["
                               "torch.arange(length).clamp(max=max_len - 1)]")),
        ),
        Wrong(
            "full_length_refused",
            "A sentence of exactly `max_len` positions is refused, though it fits.",
            "Is it `>` or `>=`?",
            edits=((_REFUSE, "if length >= max_len:"),),
        ),
        Wrong(
            "batch_for_length",
            "The number of *sentences* decides how many rows are taken.",
            "Which dimension of `x` is the position?",
            edits=(("length, max_len = x.size(1)", "length, max_len = x.size(0)"),),
        ),
        Wrong(
            "width_for_length",
            "`d_model` decides how many rows are taken.",
            "Which dimension of `x` is the position?",
            edits=(("length, max_len = x.size(1)", "length, max_len = x.size(2)"),),
        ),
        Wrong(
            "whole_table",
            "The whole table is added, so only sentences of full length fit.",
            "How many rows does a sentence of `L` vectors need?",
            edits=((_ADD_ROWS, "return x + self.table"),),
        ),
        Wrong(
            "one_row_for_all",
            "All positions get the same row of the table.",
            "Is a colon missing in the index of the table?",
            edits=((_ADD_ROWS, "return x + self.table[length - 1]"),),
        ),
        Wrong(
            "first_row_for_all",
            "All positions get row 0 of the table.",
            "Which row belongs to position 3?",
            edits=((_ADD_ROWS, "return x + self.table[0]"),),
        ),
        Wrong(
            "last_rows",
            "The *last* rows of the table are added.",
            "Which row belongs to position 0?",
            edits=((_ADD_ROWS, "return x + self.table[-length:]"),),
        ),
        Wrong(
            "reversed",
            "The rows are added in reverse order.",
            "Which row belongs to position 0?",
            edits=((_ADD_ROWS, "return x + self.table[:length].flip(0)"),),
        ),
        Wrong(
            "position_only",
            "Only the positions come back; the words are lost.",
            "What should the table be added to?",
            edits=((_ADD_ROWS, "return self.table[:length].expand_as(x)"),),
        ),
        Wrong(
            "multiplied",
            "The words are multiplied by the positions.",
            "What should happen to the words?",
            edits=((_ADD_ROWS, "return x * self.table[:length]"),),
        ),
        Wrong(
            "scaled",
            "The words are multiplied by the square root of `d_model` here.",
            "What does the exercise ask to add?",
            edits=((_ADD_ROWS, "return x * x.size(-1) ** 0.5 + self.table[:length]"),),
        ),
        Wrong(
            "in_place",
            "The `x` that was handed in is changed.",
            "Does `x += ...` make a new tensor?",
            edits=((_ADD_ROWS, "x += self.table[:length]\n        return x"),),
        ),
        Wrong(
            "sinusoids_added",
            "There is more in the sum than words and learned rows.",
            "Does the learned table replace the sinusoids, or join them?",
            edits=((_ADD_ROWS, "return x + self.table[:length] + sinusoid("
                               "torch.arange(length), x.size(-1))"),),
        ),
        Wrong(
            "row_per_word_of_batch",
            "Each sentence gets one row, the same for all of its words.",
            "Does a row belong to a sentence or to a place in it?",
            edits=((_ADD_ROWS, "return x + self.table[torch.arange(len(x)) % max_len]"
                               ".unsqueeze(1)"),),
        ),
    ),
    right=(
        Right("filled_later", edits=((
            _TABLE, "self.table = nn.Parameter(torch.empty(max_len, d_model))\n"
                    "        nn.init.normal_(self.table, std=0.02)"),)),
        Right("from_zeros", edits=((
            _TABLE, "self.table = nn.Parameter(torch.zeros(max_len, d_model))"),)),
        Right("lookup", edits=((
            _ADD_ROWS, "positions = torch.arange(length, device=x.device)\n"
                       "        return nn.functional.embedding(positions, self.table) + x"),)),
        Right("refuse_late", source=(
            "class LearnedPositions(nn.Module):\n"
            "    def __init__(self, d_model, max_len):\n"
            "        super().__init__()\n"
            "        self.register_parameter(\n"
            "            'table', nn.Parameter(torch.rand(max_len, d_model) / 50))\n"
            "    def forward(self, x):\n"
            "        b, length, _ = x.shape\n"
            "        rows = self.table[:length]\n"
            "        if len(rows) < length:\n"
            "            raise ValueError('too long')\n"
            "        return x + rows.unsqueeze(0).repeat(b, 1, 1)\n")),
        Right("narrow_raised", source=(
            "class LearnedPositions(nn.Module):\n"
            "    def __init__(self, d_model, max_len):\n"
            "        super().__init__()\n"
            "        self.max_len = max_len\n"
            "        self.table = nn.Parameter(torch.randn(max_len, d_model) * 0.1)\n"
            "    def forward(self, x):\n"
            "        if not x.shape[1] <= self.max_len:\n"
            "            raise ValueError('too long')\n"
            "        return torch.add(x, self.table.narrow(0, 0, x.shape[1]))\n")),
    ),
)  # fmt: skip


# --- 1.9 bug_clinic -------------------------------------------------------------------


def _angles(max_len: int, d_model: int, first: int = 0) -> torch.Tensor:
    columns = torch.arange(d_model, dtype=torch.float64)
    positions = torch.arange(first, first + max_len, dtype=torch.float64)
    return positions.unsqueeze(1) / 10000 ** (columns // 2 * 2 / d_model)


def _waves(angles: torch.Tensor) -> torch.Tensor:
    """Sines in even columns, cosines in odd ones, of angles (max_len, d_model)."""
    table = angles.sin()
    table[:, 1::2] = angles[:, 1::2].cos()
    return table


def _rounded(table: torch.Tensor) -> torch.Tensor:
    """To multiples of 2**-14: right to four decimals, and equal on every platform."""
    return ((table * 2**14).round() / 2**14).float()


def _cosine_bug(draw: Draw, max_len: int, d_model: int) -> torch.Tensor:
    columns = torch.arange(d_model, dtype=torch.float64)
    positions = torch.arange(max_len, dtype=torch.float64)
    return _waves(positions.unsqueeze(1) / 10000 ** (columns / d_model))


def _exponent_bug(draw: Draw, max_len: int, d_model: int) -> torch.Tensor:
    columns = torch.arange(d_model, dtype=torch.float64)
    positions = torch.arange(max_len, dtype=torch.float64)
    return _waves(positions.unsqueeze(1) / 10000 ** (columns // 2 * 4 / d_model))


def _swapped_bug(draw: Draw, max_len: int, d_model: int) -> torch.Tensor:
    right = _waves(_angles(max_len, d_model))
    return right.view(max_len, -1, 2).flip(-1).flatten(1)


def _from_one_bug(draw: Draw, max_len: int, d_model: int) -> torch.Tensor:
    return _waves(_angles(max_len, d_model, first=1))


def _one_number_bug(
    draw: Draw, max_len: int, d_model: int, odd: int = 0, change: float = 0.3
) -> torch.Tensor:
    """One number off, which stays a sine or cosine of something, and not in a corner."""
    table = _waves(_angles(max_len, d_model))
    while True:
        row, pair = int(draw.ids(2, max_len - 1)), int(draw.ids(1, d_model // 2))
        if abs(table[row, 2 * pair + odd] + change) < 1:
            table[row, 2 * pair + odd] += change
            return table


def _nan_bug(draw: Draw, max_len: int, d_model: int) -> torch.Tensor:
    table = _waves(_angles(max_len, d_model))
    table[int(draw.ids(2, max_len - 1)), 2 * int(draw.ids(1, d_model // 2))] = torch.nan
    return table


def _halves_bug(draw: Draw, max_len: int, d_model: int) -> torch.Tensor:
    right = _waves(_angles(max_len, d_model))
    return torch.cat((right[:, 0::2], right[:, 1::2]), dim=1)


def _base_bug(draw: Draw, max_len: int, d_model: int) -> torch.Tensor:
    columns = torch.arange(d_model, dtype=torch.float64)
    positions = torch.arange(max_len, dtype=torch.float64)
    return _waves(positions.unsqueeze(1) / 1000 ** (columns // 2 * 2 / d_model))


def _clinic(draw: Draw, bug, visible: float = 0.25) -> Inputs:
    """A right table and, of the same size, one with the bug, off by more than a bit."""
    while True:
        max_len, d_model = 2 * int(draw.ids(4, 8)) + 1, 2 * int(draw.ids(3, 6))
        right = _waves(_angles(max_len, d_model))
        wrong = bug(draw, max_len, d_model)
        if not (wrong - right).abs().max() <= visible:  # also for NaN
            break
    return {"right table": _rounded(right), "wrong table": _rounded(wrong)}


def _one_number(draw: Draw) -> Inputs:
    """A sine that is too large; and a table with a cosine that is too small."""
    inputs = _clinic(draw, _one_number_bug)
    lower = _one_number_bug(draw, *inputs["right table"].shape, odd=1, change=-0.3)
    return {**inputs, "other wrong table": _rounded(lower)}


def _tester(*lines: str) -> str:
    """A test that first makes the right table, as ``right``."""
    body = "".join(f"    {line}\n" for line in lines)
    return (
        "def assert_sinusoidal(table):\n"
        "    max_len, d_model = table.shape\n"
        "    right = sinusoid(torch.arange(max_len), d_model)\n"
        f"{body}"
    )


BUG_CLINIC = Task(
    name="positional_encoding/bug_clinic",
    title="A test for sinusoid tables",
    target="assert_sinusoidal",
    precise=False,
    settings=(
        Setting(
            "table_a", "table A",
            lambda draw: _clinic(draw, _cosine_bug),
            "A right table must pass, table A must not.",
        ),
        Setting(
            "table_b", "table B",
            lambda draw: _clinic(draw, _exponent_bug),
            "In table B all pairs are fine as pairs. What is wrong is their speed.",
        ),
        Setting(
            "swapped", "sine and cosine swapped",
            lambda draw: _clinic(draw, _swapped_bug),
            "Where do the hands start?",
        ),
        Setting(
            "from_one", "positions counted from 1",
            lambda draw: _clinic(draw, _from_one_bug),
            "Where do the hands start?",
        ),
        Setting(
            "one_number", "a single wrong number, too large or too small", _one_number,
            "Does your test look at all rows and all columns?",
        ),
        Setting(
            "not_a_number", "a single NaN", lambda draw: _clinic(draw, _nan_bug),
            "Every comparison with NaN is false: `nan > 0.01` as well as `nan < 0.01`.",
        ),
        Setting(
            "halves", "all sines left, all cosines right",
            lambda draw: _clinic(draw, _halves_bug),
            "Does your test look at single columns?", hidden_only=True,
        ),
        Setting(
            "base", "powers of 1000", lambda draw: _clinic(draw, _base_bug, visible=0.6),
            "Are the speeds tested, or only that there are some?", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "accepts_all",
            "Your test accepts every table.",
            "Is there an `assert` that can fail?",
            source="def assert_sinusoidal(table):\n    assert table.dim() == 2\n",
        ),
        Wrong(
            "only_finite_range", like="accepts_all",
            source="def assert_sinusoidal(table):\n"
            "    assert not (table.abs() > 1.001).any()\n",
        ),
        Wrong(
            "compares_with_itself", like="accepts_all",
            source="def assert_sinusoidal(table):\n"
            "    expected = table\n"
            "    assert torch.allclose(table, expected, equal_nan=True)\n",
        ),
        Wrong(
            "asserts_a_tuple", like="accepts_all",
            source=_tester("close = torch.allclose(table, right, atol=1e-3)",
                           "verdict = (close, 'not the sinusoid table')",
                           "assert verdict"),
        ),
        Wrong(
            "rejects_all",
            "Your test rejects every table, right ones as well. Perhaps it asks for more "
            "than four decimals.",
            "Two right programs differ in the last digits. How far apart may they be?",
            source="def assert_sinusoidal(table):\n"
            "    assert (table == 0).all()\n",
        ),
        Wrong(
            "exact", like="rejects_all",
            source=_tester("assert torch.equal(table, right)"),
        ),
        Wrong(
            "exact_all", like="rejects_all",
            source=_tester("assert (table == right).all()"),
        ),
        Wrong(
            "default_tolerance", like="rejects_all",
            source=_tester("assert torch.allclose(table, right)"),
        ),
        Wrong(
            "inverted",
            "Your test rejects right tables and accepts wrong ones.",
            "An `assert` passes when its condition is true. Is yours true for a right "
            "table?",
            source=_tester("close = torch.allclose(table, right, atol=1e-3)",
                           "assert not close"),
        ),
        Wrong(
            "returns_bool",
            "Your test returns its verdict instead of raising `AssertionError`.",
            "Who looks at the return value of a test?",
            source=_tester("return torch.allclose(table, right, atol=1e-3)"),
        ),
        Wrong(
            "raises_value_error",
            "Wrong tables are found, but your test raises another error than "
            "`AssertionError`.",
            "Which statement raises `AssertionError` by itself?",
            source=_tester("if not torch.allclose(table, right, atol=1e-3):",
                           "    raise ValueError('wrong table')"),
        ),
        Wrong(
            "notes_it_down", like="accepts_all",
            source=_tester("if not torch.allclose(table, right, atol=1e-3):",
                           "    verdict = 'wrong table'"),
        ),
        Wrong(
            "first_row_only",
            "Your test looks at row 0 only.",
            "Which of the bugs can be seen at position 0?",
            source="def assert_sinusoidal(table):\n"
            "    assert torch.allclose(table[0, 0::2], torch.zeros(()), atol=1e-3)\n"
            "    assert torch.allclose(table[0, 1::2], torch.ones(()), atol=1e-3)\n",
        ),
        Wrong(
            "circles_only",
            "Your test asks that sine and cosine of each pair fit together, and nothing "
            "about how far a hand has turned.",
            "Which of the bugs leave every hand at length 1?",
            source="def assert_sinusoidal(table):\n"
            "    length = table[:, 0::2] ** 2 + table[:, 1::2] ** 2\n"
            "    assert torch.allclose(length, torch.ones(()), atol=1e-3)\n",
        ),
        Wrong(
            "circles_by_sum",
            "Your test only asks that each row has the right length as a whole.",
            "Could a bug in one pair hide in the length of the row?",
            source="def assert_sinusoidal(table):\n"
            "    wanted = torch.tensor((table.shape[1] / 2) ** 0.5)\n"
            "    assert torch.allclose(table.norm(dim=1), wanted, atol=1e-3)\n",
        ),
        Wrong(
            "circles_and_first_row",
            "Your test asks for hands of length 1 that start in the right place. It does "
            "not ask how fast they turn.",
            "Which bugs change nothing but speeds?",
            source="def assert_sinusoidal(table):\n"
            "    length = table[:, 0::2] ** 2 + table[:, 1::2] ** 2\n"
            "    assert torch.allclose(length, torch.ones(()), atol=1e-3)\n"
            "    assert torch.allclose(table[0, 0::2], torch.zeros(()), atol=1e-3)\n",
        ),
        Wrong(
            "first_pair_only",
            "Your test looks at the first two columns only.",
            "In which columns does table B go wrong?",
            source=_tester("assert torch.allclose(table[:, :2], right[:, :2], atol=1e-3)"),
        ),
        Wrong(
            "sines_only",
            "Your test looks at the sines only.",
            "In which columns does table A go wrong?",
            source=_tester(
                "assert torch.allclose(table[:, 0::2], right[:, 0::2], atol=1e-3)"),
        ),
        Wrong(
            "cosines_only",
            "Your test looks at the cosines only.",
            "What if only a sine is wrong?",
            source=_tester(
                "assert torch.allclose(table[:, 1::2], right[:, 1::2], atol=1e-3)"),
        ),
        Wrong(
            "some_rows_only",
            "Your test looks at some rows only.",
            "What if the table goes wrong in another row?",
            source=_tester("assert torch.allclose(table[:2], right[:2], atol=1e-3)"),
        ),
        Wrong(
            "last_row_only", like="some_rows_only",
            source=_tester("assert torch.allclose(table[-1], right[-1], atol=1e-3)"),
        ),
        Wrong(
            "average_difference",
            "Your test asks that the numbers are right on average, so a single wrong one "
            "can hide.",
            "Which is safer: the average difference, or the largest?",
            source=_tester("assert (table - right).abs().mean() < 0.01"),
        ),
        Wrong(
            "signed_difference",
            "Your test only sees numbers that are too large: differences keep their sign.",
            "Is a difference of -1 smaller than the tolerance?",
            source=_tester("assert ((table - right) < 0.005).all()"),
        ),
        Wrong(
            "sums_compared",
            "Your test compares sums, in which differences can cancel.",
            "Could two tables have the same sum and still differ?",
            source=_tester("assert (table - right).sum().abs() < 0.01"),
        ),
        Wrong(
            "any_for_all",
            "Your test is content if *some* number is right.",
            "Is it `any` or `all`?",
            source=_tester("assert ((table - right).abs() < 1e-3).any()"),
        ),
        Wrong(
            "nan_slips_through",
            "A NaN slips through: your test looks for numbers that are far off, and no "
            "comparison with NaN is ever true.",
            "What if you ask for \"all are close\" instead of \"none is far\"?",
            source=_tester("assert not ((table - right).abs() > 1e-3).any()"),
        ),
        Wrong(
            "nan_by_if", like="nan_slips_through",
            source=_tester("if ((table - right).abs() > 1e-3).any():",
                           "    raise AssertionError('wrong table')"),
        ),
        Wrong(
            "equal_nan", like="nan_slips_through",
            source=_tester("table = table.nan_to_num(nan=0.0).where("
                           "~table.isnan(), right)",
                           "assert torch.allclose(table, right, atol=1e-3)"),
        ),
        Wrong(
            "too_generous",
            "Your tolerance is so large that wrong numbers pass.",
            "Could a number be off by as much as your tolerance and still be right?",
            source=_tester("assert ((table - right).abs() < 0.5).all()"),
        ),
        Wrong(
            "bug_a_copied",
            "Your test has bug A itself: it accepts table A and rejects right ones.",
            "In the formula, which exponent stands under the cosine?",
            source="def assert_sinusoidal(table):\n"
            "    max_len, d_model = table.shape\n"
            "    exponents = torch.arange(d_model) / d_model\n"
            "    angles = torch.arange(max_len)[:, None] / 10000**exponents\n"
            "    right = angles.sin()\n"
            "    right[:, 1::2] = angles[:, 1::2].cos()\n"
            "    assert torch.allclose(table, right, atol=1e-3)\n",
        ),
        Wrong(
            "bug_b_copied",
            "Your test has bug B itself: it accepts table B and rejects right ones.",
            "Is the 2 of `2i` in your exponent twice?",
            source="def assert_sinusoidal(table):\n"
            "    max_len, d_model = table.shape\n"
            "    exponents = 2 * torch.arange(0, d_model, 2) / d_model\n"
            "    angles = torch.arange(max_len)[:, None] / 10000**exponents\n"
            "    right = torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)\n"
            "    assert torch.allclose(table, right, atol=1e-3)\n",
        ),
        Wrong(
            "swap_copied",
            "Your test has sine and cosine swapped itself.",
            "Which function does the formula give to column 0?",
            source=_tester("right = right.view(max_len, -1, 2).flip(-1).flatten(1)",
                           "assert torch.allclose(table, right, atol=1e-3)"),
        ),
        Wrong(
            "one_size_only",
            "Your test works for one size of table only.",
            "Which two numbers can you read off the table's shape?",
            source="def assert_sinusoidal(table):\n"
            "    right = sinusoid(torch.arange(50), 64)\n"
            "    assert torch.allclose(table, right, atol=1e-3)\n",
        ),
    ),
    right=(
        Right("compare", source=_tester(
            "assert torch.allclose(table, right, rtol=0, atol=1e-3), 'not a sinusoid'")),
        Right("largest_difference", source=_tester(
            "assert (table - right).abs().max() < 2e-3")),
        Right("raises_itself", source=_tester(
            "if not ((table - right).abs() < 1e-3).all():",
            "    raise AssertionError('not the sinusoid table')")),
        Right("torch_testing", source=_tester(
            "torch.testing.assert_close(table, right, rtol=0, atol=1e-3)")),
        Right("numpy_testing", source=(
            "import numpy as np\n"
            "def assert_sinusoidal(table):\n"
            "    max_len, d_model = table.shape\n"
            "    angles = np.arange(max_len)[:, None] / 10000 ** (\n"
            "        np.arange(0, d_model, 2) / d_model)\n"
            "    np.testing.assert_allclose(table[:, 0::2], np.sin(angles), atol=1e-3)\n"
            "    np.testing.assert_allclose(table[:, 1::2], np.cos(angles), atol=1e-3)\n")),
        Right("number_by_number", source=(
            "def assert_sinusoidal(table):\n"
            "    max_len, d_model = table.shape\n"
            "    for pos in range(max_len):\n"
            "        for j in range(d_model):\n"
            "            angle = pos / 10000 ** ((j - j % 2) / d_model)\n"
            "            wanted = math.cos(angle) if j % 2 else math.sin(angle)\n"
            "            assert abs(table[pos, j].item() - wanted) < 1e-3, (pos, j)\n")),
        Right("properties", source=(
            "def assert_sinusoidal(table):\n"
            "    sin, cos = table[:, 0::2].double(), table[:, 1::2].double()\n"
            "    d_model = table.shape[1]\n"
            "    assert ((sin**2 + cos**2 - 1).abs() < 1e-3).all()\n"
            "    assert (sin[0].abs() < 1e-3).all() and (cos[0] > 0).all()\n"
            "    speeds = 10000 ** (-torch.arange(0, d_model, 2) / d_model)\n"
            "    turned_sin = sin[:-1] * speeds.cos() + cos[:-1] * speeds.sin()\n"
            "    turned_cos = cos[:-1] * speeds.cos() - sin[:-1] * speeds.sin()\n"
            "    assert ((turned_sin - sin[1:]).abs() < 1e-3).all()\n"
            "    assert ((turned_cos - cos[1:]).abs() < 1e-3).all()\n")),
        Right("by_rotation", source=(
            "def assert_sinusoidal(table):\n"
            "    max_len, d_model = table.shape\n"
            "    row = torch.tensor([0.0, 1.0]).repeat(d_model // 2)\n"
            "    for found in table:\n"
            "        assert torch.allclose(found, row, atol=1e-3)\n"
            "        row = shift_matrix(1, d_model).to(row) @ row\n")),
    ),
)  # fmt: skip


TASKS = (
    EMBED,
    SHUFFLE_GAP,
    TABLE_BY_LOOPS,
    SINUSOID,
    MODULE,
    INPUT_LAYER,
    SHIFT_MATRIX,
    LEARNED,
    BUG_CLINIC,
)
