"""Cases, wrong variants and right styles of unit 03, multi-head attention.

All sizes in one setting differ, but for one setting in which there are as many sentences
as heads: there, and only there, a mask without heads is misread in silence.
"""

from __future__ import annotations

import torch

from autograder.bank.vocabulary import Draw, Right, Setting, Task, Wrong
from autograder.student.exercise import Value

Inputs = dict[str, Value]


# --- inputs ---------------------------------------------------------------------------


def _open(draw: Draw, *shape: int) -> torch.Tensor:
    """A mask in which every row has an open and a closed entry, not at a fixed place."""
    keep = draw.flags(*shape, chance=0.5)
    turn = draw.ids(0, shape[-1], *shape[:-1], 1)
    keep = keep.scatter(-1, turn, True)
    return keep.scatter(-1, (turn + 1) % shape[-1], False)


def _causal(length: int) -> torch.Tensor:
    return torch.ones(length, length, dtype=torch.bool).tril()


def _parameters(draw: Draw, scale: float, **shapes: tuple[int, ...]) -> Inputs:
    """Weights and biases of linear layers: ``w_q=(6, 5)`` is from 5 to 6 features."""
    made: Inputs = {}
    for name, shape in shapes.items():
        made[f"weights.{name}.weight"] = draw.tensor(*shape, scale=scale)
        made[f"weights.{name}.bias"] = draw.tensor(shape[0], scale=1.0)
    return made


def _head_parameters(
    draw: Draw, h: int, d_model: int, d_k: int, d_v: int, scale: float
) -> Inputs:
    made: Inputs = {}
    for i in range(h):
        sizes = {"w_q": (d_k, d_model), "w_k": (d_k, d_model), "w_v": (d_v, d_model)}
        named = {f"heads.{i}.{name}": shape for name, shape in sizes.items()}
        made |= _parameters(draw, scale, **named)
    return made


def _list(
    batch: int, length: int, h: int, d_model: int, d_k: int, d_v: int, d_out: int,
    mask: str = "", pull: bool = False,
):  # fmt: skip
    """An input and the weights for a list of heads; mask is "causal" or "padding"."""

    def inputs(draw: Draw) -> Inputs:
        made = {"x": draw.tensor(batch, length, d_model)}
        made |= _head_parameters(draw, h, d_model, d_k, d_v, scale=0.5)
        made |= _parameters(draw, 1.0, w_o=(d_out, h * d_v))
        if mask == "causal":
            made["mask"] = _causal(length)
        elif mask == "padding":
            made["mask"] = _open(draw, batch, 1, length)
        return made | ({"pull": draw.tensor(batch, length, d_out)} if pull else {})

    return inputs


def _features(batch: int, length: int, h: int, d_k: int, pull: bool = False):
    def inputs(draw: Draw) -> Inputs:
        made = {
            "x": draw.tensor(batch, length, h * d_k),
            "num_heads": torch.tensor(h),
        }
        return made | ({"pull": draw.tensor(batch, h, length, d_k)} if pull else {})

    return inputs


def _heads(batch: int, length: int, h: int, d_k: int, pull: bool = False):
    def inputs(draw: Draw) -> Inputs:
        made = {"x": draw.tensor(batch, h, length, d_k)}
        return made | ({"pull": draw.tensor(batch, length, h * d_k)} if pull else {})

    return inputs


def _to_pack(h: int, d_model: int, d_k: int, d_v: int):
    def inputs(draw: Draw) -> Inputs:
        made = _head_parameters(draw, h, d_model, d_k, d_v, scale=1.0)
        return made | {"num_heads": torch.tensor(h)}

    return inputs


def _masks(batch: int, h: int, lq: int, lk: int, **shapes: tuple[int, ...]):
    """Masks of the given shapes, named ``two``, ``three`` and ``four`` by their rank."""

    def inputs(draw: Draw) -> Inputs:
        names = {"two": "2-D", "three": "3-D", "four": "4-D"}
        made = {names[name]: _open(draw, *shape) for name, shape in shapes.items()}
        while (
            "4-D" in made and (made["4-D"][:, :1] == made["4-D"][:, 1:]).all(-1).any()
        ):
            made["4-D"] = _open(draw, *shapes["four"])  # no head is like the first
        return made | {"shape": torch.tensor([batch, h, lq, lk])}

    return inputs


def _multi_head(
    batch: int, h: int, d_k: int, lq: int, lk: int, mask: tuple[int, ...] = (),
    pull: bool = False, scale: float = 0.5, refuse: bool = False,
):  # fmt: skip
    """Three sequences and the weights; a mask, a pull, sizes that cannot be shared."""

    def inputs(draw: Draw) -> Inputs:
        d_model = h * d_k
        made: Inputs = {
            "query": draw.tensor(batch, lq, d_model),
            "key": draw.tensor(batch, lk, d_model),
            "value": draw.tensor(batch, lk, d_model),
            "num_heads": torch.tensor(h),
        }
        square = (d_model, d_model)
        made |= _parameters(draw, scale, w_q=square, w_k=square, w_v=square, w_o=square)
        made |= {"mask": _open(draw, *mask)} if mask else {}
        made |= {"pull": draw.tensor(batch, lq, d_model)} if pull else {}
        return made | ({"refuse": _uneven(draw)} if refuse else {})

    return inputs


def _uneven(draw: Draw) -> torch.Tensor:
    """Pairs (d_model, number of heads) that leave a remainder."""
    heads = 3 + int(draw.ids(0, 4))
    return torch.tensor([[heads * 3 + 1, heads], [heads - 1, heads]])


def _weights_made_visible(draw: Draw) -> Inputs:
    """Values such that each head's output is its weights, twice over (see the probe)."""
    batch, h, lq, lk = 2, 3, 4, 5
    d_model = h * 2 * lk
    square = (d_model, d_model)
    made = _parameters(draw, 0.125, w_q=square, w_k=square, w_v=square, w_o=square)
    for name in ("w_v", "w_o"):
        made[f"weights.{name}.weight"] = torch.eye(d_model)
        made[f"weights.{name}.bias"] = torch.zeros(d_model)
    rates = torch.tensor([0.25, 0.375, 0.5])
    return made | {
        "query": draw.tensor(batch, lq, d_model, scale=1.0),
        "key": draw.tensor(batch, lk, d_model, scale=1.0),
        "value": torch.eye(lk).repeat(1, 2 * h).expand(batch, -1, -1).clone(),
        "num_heads": torch.tensor(h),
        "rate": rates[int(draw.ids(0, 3))],
    }


def _sizes(bias: bool, *fixed: tuple[int, int]):
    """Pairs (d_model, h): the fixed ones and two drawn ones."""

    def inputs(draw: Draw) -> Inputs:
        drawn = [[h * int(draw.ids(3, 30)), h] for h in draw.ids(2, 9, 2).tolist()]
        pairs = [*map(list, fixed), *drawn]
        # Twice the same pair would make two answers of one name.
        unique = [pair for i, pair in enumerate(pairs) if pair not in pairs[:i]]
        return {"sizes": torch.tensor(unique), "bias": torch.tensor(bias)}

    return inputs


def _for_pytorch(batch: int, h: int, d_k: int, lq: int, lk: int):
    return _multi_head(batch, h, d_k, lq, lk)


def _from_pytorch(d_model: int, h: int):
    def inputs(draw: Draw) -> Inputs:
        return {
            "in_proj_weight": draw.tensor(3 * d_model, d_model),
            "in_proj_bias": draw.tensor(3 * d_model),
            "out_proj.weight": draw.tensor(d_model, d_model),
            "out_proj.bias": draw.tensor(d_model),
            "num_heads": torch.tensor(h),
        }

    return inputs


def _mask_for_pytorch(batch: int, h: int, lq: int, lk: int, mask: tuple[int, ...]):
    def inputs(draw: Draw) -> Inputs:
        return {
            "mask": _open(draw, *mask),
            "size": torch.tensor([batch, h, lq, lk]),
            "query": draw.tensor(batch, lq, 2 * h, scale=1.0),
            "key": draw.tensor(batch, lk, 2 * h, scale=1.0),
        }

    return inputs


# --- 3.1 a list of heads --------------------------------------------------------------

_RESULTS = "results = [head(x, mask) for head in self.heads]"
_JOINED = "joined = torch.cat(outputs, dim=-1)"
_LIST_RETURN = "return self.w_o(joined), torch.stack(weights, dim=1)"

LIST_OF_HEADS = Task(
    name="multi_head_attention/list_of_heads",
    title="A list of heads",
    target="ListOfHeads",
    settings=(
        Setting(
            "plain",
            "three heads, no mask",
            _list(2, 5, h=3, d_model=7, d_k=4, d_v=6, d_out=8),
            "Follow one head's output: where do its features stand after joining?",
        ),
        Setting(
            "causal",
            "a causal mask (L, L)",
            _list(3, 4, h=2, d_model=6, d_k=5, d_v=3, d_out=7, mask="causal"),
            "Every head must be given the mask.",
        ),
        Setting(
            "padding",
            "a padding mask (B, 1, L), and the gradient",
            _list(
                2, 6, h=4, d_model=5, d_k=3, d_v=2, d_out=9, mask="padding", pull=True
            ),
            "Does every head respect the mask, and does the gradient reach x?",
        ),
        Setting(
            "single",
            "a single head",
            _list(3, 5, h=1, d_model=4, d_k=6, d_v=7, d_out=2, mask="padding"),
            "One head is a list of length one; nothing else changes.",
            hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "python_list",
            "The heads seem to be in an ordinary Python list, so the module does not know "
            "their parameters and no optimiser would train them.",
            "Which container of `nn` registers the modules that it holds?",
            edits=(("nn.ModuleList(", "list("),),
        ),
        Wrong(
            "same_head_repeated",
            "All heads are one and the same object, listed `num_heads` times: they share "
            "their weights and can never differ.",
            "How often does your code call `SelfAttention(...)`?",
            edits=(
                (
                    "attention.SelfAttention(d_model, d_k, d_v) for _ in range(num_heads)",
                    "[attention.SelfAttention(d_model, d_k, d_v)] * num_heads",
                ),
            ),
        ),
        Wrong(
            "heads_not_joined",
            "`w_o` takes the features of one head only, so the heads are probably averaged "
            "or summed instead of put side by side.",
            "If each head gives `d_v` features and none is thrown away, how many come in?",
            edits=(
                ("nn.Linear(num_heads * d_v, d_out)", "nn.Linear(d_v, d_out)"),
                (_JOINED, "joined = torch.stack(outputs).mean(dim=0)"),
            ),
        ),
        Wrong(
            "heads_summed",
            like="heads_not_joined",
            edits=(
                ("nn.Linear(num_heads * d_v, d_out)", "nn.Linear(d_v, d_out)"),
                (_JOINED, "joined = sum(outputs)"),
            ),
        ),
        Wrong(
            "averaged_and_repeated",
            "Every head's block of features holds the same average of all heads.",
            "What is the use of several heads if their answers are averaged at once?",
            edits=(
                (
                    _JOINED,
                    "joined = torch.cat([sum(outputs) / len(outputs)] * len(outputs), -1)",
                ),
            ),
        ),
        Wrong(
            "only_first_head",
            "All blocks come from head 0: the loop seems to call the same head each time.",
            "Does the variable of your loop appear inside the loop?",
            edits=(
                (_RESULTS, "results = [self.heads[0](x, mask) for _ in self.heads]"),
            ),
        ),
        Wrong(
            "joined_along_positions",
            "The outputs are joined along another dimension than the features, so `w_o` "
            "does not fit.",
            "Which of the three dimensions of `(B, L, d_v)` shall grow?",
            edits=((_JOINED, "joined = torch.cat(outputs, dim=1)"),),
        ),
        Wrong(
            "joined_along_batch",
            like="joined_along_positions",
            edits=((_JOINED, "joined = torch.cat(outputs)"),),
        ),
        Wrong(
            "no_output_projection",
            "The joined heads come back as they are: `w_o` is made but not used.",
            "Which line lets the answers of different heads meet?",
            edits=((_LIST_RETURN, "return joined, torch.stack(weights, dim=1)"),),
        ),
        Wrong(
            "features_interleaved",
            "The features are dealt out in turn (head 0, head 1, ..., head 0 again) "
            "instead of block after block; `stack` and `flatten` on the last dimension do "
            "this.",
            "After `stack(..., dim=-1)`, which index runs fastest: head or feature?",
            edits=((_JOINED, "joined = torch.stack(outputs, dim=-1).flatten(-2)"),),
        ),
        Wrong(
            "heads_reversed",
            "The heads are joined in reverse order.",
            "Which head's features shall come first?",
            edits=((_JOINED, "joined = torch.cat(outputs[::-1], dim=-1)"),),
        ),
        Wrong(
            "activation_added",
            "There is a ReLU between the heads and `w_o`; the definition has none.",
            "What does the formula at the top of this unit put between Concat and W^O?",
            edits=(
                (
                    _LIST_RETURN,
                    "return self.w_o(joined.relu()), torch.stack(weights, 1)",
                ),
            ),
        ),
        Wrong(
            "bias_once_per_head",
            "The bias of `w_o` is added once for every head.",
            "If you apply `w_o` in pieces, how often may its bias take part?",
            edits=(
                (
                    _LIST_RETURN,
                    "return self.w_o(joined) + (len(outputs) - 1) * self.w_o.bias, "
                    "torch.stack(weights, dim=1)",
                ),
            ),
        ),
        Wrong(
            "weights_averaged",
            "The weights are averaged over the heads; each head's map is asked for.",
            "How many maps does a sentence have if there are `h` heads?",
            edits=(
                (_LIST_RETURN, "return self.w_o(joined), torch.stack(weights).mean(0)"),
            ),
        ),
        Wrong(
            "weights_of_last_head",
            "Only the last head's weights come back; in a loop, each round probably "
            "overwrites those of the round before.",
            "Where do you collect the weights of each round?",
            edits=((_LIST_RETURN, "return self.w_o(joined), weights[-1]"),),
        ),
        Wrong(
            "weights_heads_first",
            "The weights have shape `(h, B, L, L)`: the new dimension stands before the "
            "batch.",
            "Which `dim` does `stack` use if you do not say?",
            edits=((_LIST_RETURN, "return self.w_o(joined), torch.stack(weights)"),),
        ),
        Wrong(
            "weights_concatenated",
            "The maps are glued to one long map; a new dimension is wanted instead.",
            "What is the difference between `cat` and `stack`?",
            edits=(
                (_LIST_RETURN, "return self.w_o(joined), torch.cat(weights, dim=1)"),
            ),
        ),
        Wrong(
            "weights_concatenated_along_keys",
            "The maps are glued side by side along the keys; a new dimension is wanted "
            "instead.",
            "What is the difference between `cat` and `stack`?",
            edits=(
                (_LIST_RETURN, "return self.w_o(joined), torch.cat(weights, dim=-1)"),
            ),
        ),
        Wrong(
            "weights_in_a_tuple",
            "The weights come back as a tuple of maps; one tensor is asked for.",
            "Which function makes one tensor, with a new dimension, out of several?",
            edits=((_LIST_RETURN, "return self.w_o(joined), weights"),),
        ),
        Wrong(
            "weights_in_a_list",
            "The weights come back as a list of maps; one tensor is asked for.",
            "Which function makes one tensor, with a new dimension, out of several?",
            edits=((_LIST_RETURN, "return self.w_o(joined), list(weights)"),),
        ),
        Wrong(
            "only_output",
            "Only the output comes back; the weights are asked for, too.",
            "What does the docstring list under Returns?",
            edits=((_LIST_RETURN, "return self.w_o(joined)"),),
        ),
        Wrong(
            "results_swapped",
            "Output and weights come back in the wrong order.",
            "Which of the two comes first, by the conventions of this course?",
            edits=(
                (_LIST_RETURN, "return torch.stack(weights, dim=1), self.w_o(joined)"),
            ),
        ),
        Wrong(
            "mask_forgotten",
            "The mask does not arrive: the heads attend to forbidden positions.",
            "Which arguments does `SelfAttention.forward` take?",
            edits=((_RESULTS, "results = [head(x) for head in self.heads]"),),
        ),
        Wrong(
            "mask_for_first_head_only",
            "Only head 0 respects the mask; through the other heads, forbidden positions "
            "still move the output.",
            "What is `mask` in the second round of your loop?",
            edits=(
                (
                    _RESULTS,
                    "results = [h(x, None if i else mask) for i, h in enumerate(self.heads)]",
                ),
            ),
        ),
        Wrong(
            "mask_inverted",
            "The mask works the wrong way round: what may be seen is hidden.",
            "What does `True` mean in the masks of this course?",
            edits=(
                (
                    _RESULTS,
                    "results = [head(x, None if mask is None else ~mask) "
                    "for head in self.heads]",
                ),
            ),
        ),
        Wrong(
            "heads_in_a_chain",
            "Each head gets the output of the head before it; all of them should see `x`.",
            "Is the name of your input still that of the input after the first round?",
            edits=(
                (
                    _RESULTS,
                    "results = []\n        for head in self.heads:\n"
                    "            results.append(head(x, mask))\n"
                    "            x = results[-1][0]",
                ),
            ),
        ),
        Wrong(
            "no_gradient",
            "The output is cut off from the gradient: there is a `no_grad`, a `detach` or "
            "a `.data` on the way.",
            "Would training reach the weights of your heads?",
            edits=((_JOINED, "joined = torch.cat(outputs, dim=-1).detach()"),),
        ),
        Wrong(
            "projection_without_bias",
            "`w_o` has no bias.",
            "Which argument of `nn.Linear` did you set?",
            edits=(
                (
                    "nn.Linear(num_heads * d_v, d_out)",
                    "nn.Linear(num_heads * d_v, d_out, bias=False)",
                ),
            ),
        ),
        Wrong(
            "sizes_swapped",
            "`d_k` and `d_v` have changed places in the heads.",
            "In which order does `SelfAttention` take its sizes?",
            edits=(
                (
                    "SelfAttention(d_model, d_k, d_v)",
                    "SelfAttention(d_model, d_v, d_k)",
                ),
            ),
        ),
        Wrong(
            "heads_of_a_slice",
            "Each head is made for a part of the features only. In this view every head "
            "sees the whole `x`.",
            "In the drawing above, what arrows go into `heads[1]`?",
            edits=(
                (
                    "SelfAttention(d_model, d_k, d_v)",
                    "SelfAttention(d_model // num_heads, d_k, d_v)",
                ),
            ),
        ),
    ),
    right=(
        Right(
            "plain_loop",
            edits=(
                (
                    _RESULTS,
                    "results = []\n        for head in self.heads:\n"
                    "            results.append(head(x, mask=mask))",
                ),
            ),
        ),
        Right(
            "append_and_unsqueeze",
            source="""
class ListOfHeads(nn.Module):
    def __init__(self, d_model, num_heads, d_k, d_v, d_out):
        super().__init__()
        self.w_o = nn.Linear(d_v * num_heads, d_out)
        self.heads = nn.ModuleList()
        for _ in range(num_heads):
            self.heads.append(attention.SelfAttention(d_model, d_k, d_v))

    def forward(self, x, mask=None):
        outs, maps = [], []
        for head in self.heads:
            o, w = head(x, mask)
            outs.append(o)
            maps.append(w.unsqueeze(1))
        return self.w_o(torch.cat(outs, -1)), torch.cat(maps, 1)
""",
        ),
        Right(
            "stack_then_flatten",
            edits=((_JOINED, "joined = torch.stack(outputs, dim=2).flatten(2)"),),
        ),
        Right(
            "sum_of_blocks",
            edits=(
                (
                    _LIST_RETURN,
                    "blocks = self.w_o.weight.chunk(len(outputs), dim=1)\n"
                    "        out = sum(o @ b.T for o, b in zip(outputs, blocks))\n"
                    "        return out + self.w_o.bias, torch.stack(weights, dim=1)",
                ),
            ),
        ),
        Right(
            "sequential_container_and_list_result",
            edits=(
                (
                    "nn.ModuleList(\n"
                    "            attention.SelfAttention(d_model, d_k, d_v) "
                    "for _ in range(num_heads)\n        )",
                    "nn.Sequential(*[attention.SelfAttention(d_model, d_k, d_v) "
                    "for _ in range(num_heads)])",
                ),
                (
                    _LIST_RETURN,
                    "return [self.w_o(joined), torch.stack(weights, dim=1)]",
                ),
            ),
        ),
        Right(
            "filled_in_place",
            source="""
class ListOfHeads(nn.Module):
    def __init__(self, d_model, num_heads, d_k, d_v, d_out):
        super().__init__()
        self.heads = nn.ModuleList(
            [attention.SelfAttention(d_model=d_model, d_k=d_k, d_v=d_v)
             for _ in range(num_heads)])
        self.w_o = nn.Linear(in_features=num_heads * d_v, out_features=d_out)
        self.d_v = d_v

    def forward(self, x, mask=None):
        B, L, _ = x.shape
        joined = x.new_zeros(B, L, self.w_o.in_features)
        maps = x.new_zeros(B, len(self.heads), L, L)
        for i, head in enumerate(self.heads):
            output, maps[:, i] = head(x, mask)
            joined[..., i * self.d_v : (i + 1) * self.d_v] = output
        return self.w_o(joined), maps
""",
        ),
    ),
)

# --- 3.2 split heads ------------------------------------------------------------------

_SPLIT = "return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)"
_CUT = "x.unflatten(-1, (num_heads, -1))"


def _split(
    name: str, code: str, says: str = "", asks: str = "", like: str = ""
) -> Wrong:
    return Wrong(name, says, asks, edits=((_SPLIT, f"return {code}"),), like=like)


SPLIT_HEADS = Task(
    name="multi_head_attention/split_heads",
    title="Split heads",
    target="split_heads",
    settings=(
        Setting(
            "plain",
            "two sentences, three heads",
            _features(2, 5, h=3, d_k=4),
            "Write down where x[0, 1, 0] must go, and where yours sends it.",
        ),
        Setting(
            "gradient",
            "more heads than features in a head, and the gradient",
            _features(3, 4, h=5, d_k=2, pull=True),
            "Does the gradient find its way back through your reshaping?",
        ),
        Setting(
            "many_heads",
            "heads of a single feature",
            _features(2, 3, h=6, d_k=1),
            "Nothing changes in principle when d_k is 1.",
        ),
        Setting(
            "single_head",
            "a single head",
            _features(4, 3, h=1, d_k=5),
            "One head still has a dimension of its own, of size 1.",
            hidden_only=True,
        ),
    ),
    wrong=(
        _split(
            "view_only",
            "x.reshape(x.size(0), num_heads, x.size(1), -1)",
            "The shape is right, but each head holds whole chopped-up positions: you reshaped "
            "straight to `(B, h, L, d_k)` and nothing was moved.",
            "In memory, what follows after the last feature of position 0?",
        ),
        _split(
            "cut_then_viewed",
            f"{_CUT}.reshape(x.size(0), num_heads, x.size(1), -1)",
            like="view_only",
        ),
        _split(
            "interleaved",
            "x.unflatten(-1, (-1, num_heads)).permute(0, 3, 1, 2)",
            "Each head got every h-th feature. Our contract is blocks of neighbours.",
            "When you cut the features in two dimensions, which one changes slowly?",
        ),
        _split(
            "strided_slices",
            "torch.stack([x[..., i::num_heads] for i in range(num_heads)], dim=1)",
            like="interleaved",
        ),
        _split(
            "not_transposed",
            _CUT,
            "The features are cut correctly, but heads still stand after positions: "
            "`(B, L, h, d_k)`.",
            "Attention treats all but the last two dimensions as a batch. Which two must "
            "these be?",
        ),
        _split(
            "heads_first",
            f"{_CUT}.permute(2, 0, 1, 3)",
            "The heads stand before the batch: `(h, B, L, d_k)`.",
            "Which dimension comes first in this course, always?",
        ),
        _split(
            "stacked_in_front",
            "torch.stack(x.chunk(num_heads, dim=-1))",
            like="heads_first",
        ),
        _split(
            "positions_last",
            f"{_CUT}.permute(0, 2, 3, 1)",
            "Positions and features of a head have changed places: `(B, h, d_k, L)`.",
            "Which two of the four dimensions need to swap, and which do not?",
        ),
        _split(
            "folded_into_batch",
            f"{_CUT}.transpose(1, 2).flatten(0, 1)",
            "Batch and heads are folded into one dimension. That works for some products, but "
            "our masks need both.",
            "How many dimensions does `(B, h, L, d_k)` have?",
        ),
        _split(
            "a_tuple_of_heads",
            "x.chunk(num_heads, dim=-1)",
            "The heads come as a tuple of tensors; one tensor with a dimension of heads is "
            "asked for.",
            "Which function makes one tensor, with a new dimension, out of several?",
        ),
        _split(
            "numbers_swapped",
            "x.unflatten(-1, (-1, num_heads)).transpose(1, 2)",
            "You made `d_k` heads of size `h`: the two numbers have changed places.",
            "Which of the two is the size that you read off `num_heads`?",
        ),
        _split(
            "positions_cut",
            "x.unflatten(1, (num_heads, -1))",
            "You are cutting the positions, not the features.",
            "Which dimension of `(B, L, d_model)` is shared out among the heads?",
        ),
        _split(
            "batch_mixed",
            "x.reshape(num_heads, x.size(0), x.size(1), -1).transpose(0, 1)",
            "Numbers of different sentences got mixed: you reshaped to a shape that begins "
            "with the heads.",
            "Does `view` ever move a number? Then what lies in your first block?",
        ),
        _split(
            "block_scrambled",
            "x.transpose(1, 2).reshape(x.size(0), num_heads, x.size(1), -1)",
            "Each head got the right numbers in the wrong order: you swapped positions and "
            "features *before* cutting.",
            "Which dimension must be the last one at the moment when you cut it?",
        ),
        _split(
            "first_head_repeated",
            f"{_CUT}.transpose(1, 2)[:, :1].expand(-1, num_heads, -1, -1)",
            "All heads hold the features of head 0.",
            "Which features belong to head 1?",
        ),
        _split(
            "heads_reversed",
            f"{_CUT}.transpose(1, 2).flip(1)",
            "The heads are in reverse order.",
            "Which block of features is head 0's?",
        ),
        _split(
            "first_sentence_only",
            f"{_CUT}.transpose(1, 2)[:1].expand(len(x), -1, -1, -1)",
            "All sentences have become copies of the first one.",
            "Does an index `0` or `[:1]` stand in your code where it should not?",
        ),
        _split(
            "detached",
            f"{_CUT}.transpose(1, 2).detach()",
            "The values are right, but the gradient does not come back: there is a "
            "`detach`, a `.data` or a new tensor on the way.",
            "How would training reach `w_q` through your heads?",
        ),
        _split(
            "copied_data",
            f"torch.tensor({_CUT}.transpose(1, 2).tolist())",
            like="detached",
        ),
        _split(
            "through_numpy",
            "torch.from_numpy("
            "x.numpy().reshape(*x.shape[:2], num_heads, -1).swapaxes(1, 2))",
            "On the way through NumPy the gradient is lost.",
            "Which functions of PyTorch do the same reshaping?",
        ),
        _split(
            "d_k_of_64",
            "x.view(x.size(0), x.size(1), num_heads, 64).transpose(1, 2)",
            "The size of a head is fixed to 64, the paper's number.",
            "What is `d_k` for other sizes of `d_model` and `num_heads`?",
        ),
    ),
    right=(
        Right(
            "view_and_transpose",
            edits=(
                (
                    _SPLIT,
                    "B, L, d = x.shape\n"
                    "    return x.view(B, L, num_heads, d // num_heads).transpose(1, 2)",
                ),
            ),
        ),
        Right(
            "reshape_and_permute",
            edits=(
                (
                    _SPLIT,
                    "return x.reshape(*x.shape[:-1], num_heads, -1)"
                    ".permute(0, 2, 1, 3).contiguous()",
                ),
            ),
        ),
        Right(
            "chunk_and_stack",
            edits=((_SPLIT, "return torch.stack(x.chunk(num_heads, dim=-1), dim=1)"),),
        ),
        Right(
            "einsum", edits=((_SPLIT, f'return torch.einsum("blhd->bhld", {_CUT})'),)
        ),
        Right(
            "unfold",
            edits=(
                (
                    _SPLIT,
                    "d_k = x.size(-1) // num_heads\n"
                    "    return x.unfold(-1, d_k, d_k).movedim(2, 1)",
                ),
            ),
        ),
        Right(
            "loops",
            source="""
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    d_k = d_model // num_heads
    out = x.new_empty(B, num_heads, L, d_k)
    for head in range(num_heads):
        for c in range(d_k):
            out[:, head, :, c] = x[:, :, head * d_k + c]
    return out
""",
        ),
    ),
)

# --- 3.3 merge heads ------------------------------------------------------------------

_MERGE = "return x.transpose(1, 2).flatten(2)"


def _merge(
    name: str, code: str, says: str = "", asks: str = "", like: str = ""
) -> Wrong:
    return Wrong(name, says, asks, edits=((_MERGE, f"return {code}"),), like=like)


MERGE_HEADS = Task(
    name="multi_head_attention/merge_heads",
    title="Merge heads",
    target="merge_heads",
    settings=(
        Setting(
            "plain",
            "two sentences, three heads",
            _heads(2, 5, h=3, d_k=4),
            "Write down where x[0, 1, 0, 0] must go, and where yours sends it.",
        ),
        Setting(
            "gradient",
            "more heads than features in a head, and the gradient",
            _heads(3, 4, h=5, d_k=2, pull=True),
            "Does the gradient find its way back through your reshaping?",
        ),
        Setting(
            "long",
            "more positions than features",
            _heads(2, 7, h=4, d_k=3),
            "Each position must get back its own features, and no others.",
        ),
        Setting(
            "tiny_heads",
            "heads of a single feature",
            _heads(4, 3, h=5, d_k=1),
            "Nothing changes in principle when d_k is 1.",
            hidden_only=True,
        ),
    ),
    wrong=(
        _merge(
            "no_transpose",
            "x.reshape(x.size(0), x.size(2), -1)",
            "The shape is right, but positions got mixed: you reshaped without first swapping "
            "heads and positions back.",
            "Which two dimensions must be neighbours, in which order, before you join them?",
        ),
        _merge(
            "contiguous_is_no_transpose",
            "x.contiguous().view(x.size(0), x.size(2), -1)",
            like="no_transpose",
        ),
        _merge(
            "batch_mixed",
            "x.permute(2, 0, 1, 3).reshape(x.size(0), x.size(2), -1)",
            "Sentences got mixed: the order of dimensions before the reshape does not begin "
            "with the batch.",
            "Which dimension must stand first, before you reshape to `(B, L, ...)`?",
        ),
        _merge(
            "heads_mixed_into_batch",
            "x.transpose(0, 1).reshape(x.size(0), x.size(2), -1)",
            "Batch and heads have changed places before the reshape; positions of different "
            "sentences got mixed.",
            "Which dimension shall the heads swap with?",
        ),
        _merge(
            "interleaved",
            "x.permute(0, 2, 3, 1).flatten(2)",
            "The features are dealt out in turn, one of each head. They should stand block by "
            "block, head 0 first.",
            "Of the two dimensions that you join, which one must change slowly?",
        ),
        _merge(
            "view_of_transposed",
            "x.transpose(1, 2).view(x.size(0), x.size(2), -1)",
            "The idea is right. But a transposed tensor lies scattered in memory, and `view` "
            "never copies.",
            "Which other function reshapes, and copies where it must?",
        ),
        _merge(
            "mean_of_heads",
            "x.mean(dim=1)",
            "The heads are averaged; all their features are to be kept side by side.",
            "How many features has a position after merging `h` heads of size `d_k`?",
        ),
        _merge(
            "sum_of_heads",
            "x.sum(dim=1)",
            "The heads are summed; all their features are to be kept side by side.",
            "How many features has a position after merging `h` heads of size `d_k`?",
        ),
        _merge(
            "first_head_only",
            "x[:, 0]",
            "Only head 0 is left.",
            "Where do the features of the other heads go?",
        ),
        _merge(
            "still_four_dimensions",
            "x.transpose(1, 2)",
            "Heads and positions are swapped back, but heads and features are not joined yet.",
            "How many dimensions does `(B, L, h * d_k)` have?",
        ),
        _merge(
            "positions_joined",
            "x.flatten(2)",
            "You joined positions and features, `(B, h, L * d_k)`, since nothing was swapped "
            "before.",
            "Which two dimensions must stand last before you join?",
        ),
        _merge(
            "joined_along_positions",
            "torch.cat(x.unbind(1), dim=1)",
            "The heads stand below each other, `(B, h * L, d_k)`, not side by side.",
            "Which dimension shall grow: positions or features?",
        ),
        _merge(
            "heads_and_positions_joined",
            "x.flatten(1, 2)",
            like="joined_along_positions",
        ),
        _merge(
            "features_before_positions",
            "x.transpose(2, 3).flatten(1, 2)",
            "Features stand before positions: `(B, h * d_k, L)`.",
            "In which order does the contract name positions and features?",
        ),
        _merge(
            "wrong_pair_swapped",
            "x.transpose(1, 3).reshape(x.size(0), x.size(2), -1)",
            "You swapped the heads with the *features*, then reshaped; positions got mixed.",
            "With which dimension did `split_heads` swap the heads?",
        ),
        _merge(
            "inner_pair_swapped",
            "x.transpose(2, 3).reshape(x.size(0), x.size(2), -1)",
            "You swapped positions with *features*, then reshaped; positions got mixed.",
            "Which two dimensions did `split_heads` swap?",
        ),
        _merge(
            "features_moved_forward",
            "x.permute(0, 3, 1, 2).reshape(x.size(0), x.size(2), -1)",
            "You moved the features before heads and positions, then reshaped; positions got "
            "mixed.",
            "Which two dimensions did `split_heads` swap?",
        ),
        _merge(
            "heads_reversed",
            "x.flip(1).transpose(1, 2).flatten(2)",
            "The heads are in reverse order.",
            "Which head's features come first?",
        ),
        _merge(
            "detached",
            "x.transpose(1, 2).flatten(2).detach()",
            "The values are right, but the gradient does not come back: there is a "
            "`detach`, a `.data` or a new tensor on the way.",
            "How would training reach the heads through your result?",
        ),
        _merge(
            "through_numpy",
            "torch.from_numpy(x.numpy().swapaxes(1, 2).reshape(x.size(0), x.size(2), -1))",
            "On the way through NumPy the gradient is lost.",
            "Which functions of PyTorch do the same reshaping?",
        ),
        _merge(
            "first_sentence_only",
            "x[:1].transpose(1, 2).flatten(2).expand(len(x), -1, -1)",
            "All sentences have become copies of the first one.",
            "Does an index `0` or `[:1]` stand in your code where it should not?",
        ),
    ),
    right=(
        Right(
            "contiguous_view",
            edits=(
                (
                    _MERGE,
                    "B, h, L, d = x.shape\n"
                    "    return x.transpose(1, 2).contiguous().view(B, L, h * d)",
                ),
            ),
        ),
        Right(
            "permute_reshape",
            edits=(
                (
                    _MERGE,
                    "return x.permute(0, 2, 1, 3).reshape(x.size(0), x.size(2), -1)",
                ),
            ),
        ),
        Right(
            "unbind_and_cat", edits=((_MERGE, "return torch.cat(x.unbind(1), dim=-1)"),)
        ),
        Right(
            "the_long_way_round",
            edits=((_MERGE, "return x.transpose(2, 3).flatten(1, 2).transpose(1, 2)"),),
        ),
        Right(
            "loop",
            source="""
def merge_heads(x):
    heads = []
    for i in range(x.shape[1]):
        heads.append(x[:, i, :, :])
    return torch.concat(heads, 2)
""",
        ),
    ),
)

# --- 3.4 pack the heads ---------------------------------------------------------------

_CAT = "torch.cat([getattr(getattr(h, name), kind) for h in heads])"
_PACK = f"""return {{
        f"{{name}}.{{kind}}": {_CAT}
        for name in ("w_q", "w_k", "w_v")
        for kind in ("weight", "bias")
    }}"""


def _pack(
    name: str, code: str, says: str = "", asks: str = "", like: str = ""
) -> Wrong:
    return Wrong(name, says, asks, edits=((_CAT, code),), like=like)


PACK_HEADS = Task(
    name="multi_head_attention/pack_heads",
    title="Pack the heads",
    target="pack_heads",
    settings=(
        Setting(
            "plain",
            "three heads",
            _to_pack(h=3, d_model=7, d_k=4, d_v=4),
            "Which rows of the large weight make the features of head 1?",
        ),
        Setting(
            "values_differ",
            "values of another size than keys",
            _to_pack(h=2, d_model=5, d_k=3, d_v=6),
            "Take all sizes from the heads' own tensors.",
        ),
        Setting(
            "many",
            "five heads",
            _to_pack(h=5, d_model=4, d_k=2, d_v=3),
            "The order of the heads must stay.",
            hidden_only=True,
        ),
    ),
    wrong=(
        _pack(
            "side_by_side",
            "torch.cat([getattr(getattr(h, name), kind) for h in heads], dim=-1)",
            "The weights stand side by side, along the inputs. The heads' *outputs* are to be "
            "stacked.",
            "`nn.Linear` stores its weight as `(d_out, d_in)`. Which of the two grows?",
        ),
        _pack(
            "side_by_side_raises",
            "torch.cat([getattr(getattr(h, name), kind) for h in heads], dim=1)",
            "You join along dimension 1. A bias has none, and for the weights this would be the "
            "inputs.",
            "`nn.Linear` stores its weight as `(d_out, d_in)`. Which of the two grows?",
        ),
        _pack(
            "stacked",
            "torch.stack([getattr(getattr(h, name), kind) for h in heads])",
            "There is a new dimension of heads; one large layer has a plain matrix.",
            "What is the difference between `cat` and `stack`?",
        ),
        _pack(
            "transposed",
            "torch.cat([getattr(getattr(h, name), kind).T for h in heads], dim=-1)",
            "The weights are transposed: `(d_model, h * d_k)`.",
            "Which comes first in the weight of an `nn.Linear`: outputs or inputs?",
        ),
        _pack(
            "heads_reversed",
            "torch.cat([getattr(getattr(h, name), kind) for h in heads[::-1]])",
            "The heads are in reverse order.",
            "Whose rows come first?",
        ),
        _pack(
            "rows_interleaved",
            "torch.stack([getattr(getattr(h, name), kind) for h in heads], 1).flatten(0, 1)",
            "The rows are dealt out in turn, one of each head. They should stand block by block.",
            "Which features does your `split_heads` give to head 0?",
        ),
        _pack(
            "biases_summed",
            "torch.cat([getattr(getattr(h, name), kind) for h in heads]) "
            "if kind == 'weight' else sum(getattr(h, name).bias for h in heads)",
            "The biases are summed; each head needs its own.",
            "How many numbers does the bias of a layer with `h * d_k` outputs hold?",
        ),
        _pack(
            "bias_of_first_head",
            "torch.cat([getattr(getattr(h, name), kind) for h in heads]) "
            "if kind == 'weight' else heads[0].get_submodule(name).bias",
            "The bias is that of head 0 alone.",
            "How many numbers does the bias of a layer with `h * d_k` outputs hold?",
        ),
        _pack(
            "first_head_only",
            "torch.cat([getattr(getattr(h, name), kind) for h in heads[:1]])",
            "Only head 0 is packed.",
            "How many rows has the weight of a layer for all heads?",
        ),
        _pack(
            "first_head_repeated",
            "torch.cat([getattr(getattr(heads[0], name), kind) for h in heads])",
            "Head 0 is packed again and again.",
            "Does the variable of your loop appear inside the loop?",
        ),
        _pack(
            "averaged",
            "sum(getattr(getattr(h, name), kind) for h in heads) / len(heads)",
            "The heads are averaged. A mean head is none of them.",
            "How many rows has the weight of a layer for all heads?",
        ),
        Wrong(
            "biases_forgotten",
            "The biases are missing.",
            "Which two tensors does an `nn.Linear` hold?",
            edits=(('for kind in ("weight", "bias")', 'for kind in ("weight",)'),),
        ),
        _pack(
            "biases_zero",
            f"{_CAT} * (kind == 'weight')",
            "The biases are all zero.",
            "Where do the biases of the heads go?",
        ),
        Wrong(
            "names_without_kind",
            "The names lack the kind: `load_state_dict` looks for `w_q.weight` and `w_q.bias`.",
            "Which keys does `nn.Linear(2, 3).state_dict()` have?",
            source="""
def pack_heads(heads):
    return {name: torch.cat([getattr(h, name).weight for h in heads])
            for name in ("w_q", "w_k", "w_v")}
""",
        ),
        Wrong(
            "names_of_heads",
            "Each head still has names of its own, like `0.w_q.weight`: nothing is packed yet.",
            "How many tensors shall the dict hold, whatever the number of heads?",
            source="""
def pack_heads(heads):
    return nn.ModuleList(heads).state_dict()
""",
        ),
        Wrong(
            "a_list_of_tensors",
            "A list came back. A dict with names is asked for, so that `load_state_dict` can use "
            "it.",
            "How would `load_state_dict` know which tensor is which?",
            source="""
def pack_heads(heads):
    return [torch.cat([getattr(h, n).weight for h in heads]) for n in ("w_q", "w_k", "w_v")]
""",
        ),
        Wrong(
            "a_tuple_of_tensors",
            "A tuple came back. A dict with names is asked for, so that `load_state_dict` can use "
            "it.",
            "How would `load_state_dict` know which tensor is which?",
            source="""
def pack_heads(heads):
    w_q, w_k, w_v = (torch.cat([getattr(h, n).weight for h in heads])
                     for n in ("w_q", "w_k", "w_v"))
    return w_q, w_k, w_v
""",
        ),
        Wrong(
            "nothing_returned",
            "Nothing came back.",
            "Is there a `return` in your function, and is it outside the loop?",
            edits=(("return {", "packed = {"),),
        ),
        Wrong(
            "queries_and_keys_swapped",
            "The queries' weights are stored under the keys' name, and the other way round.",
            "Do the name that you read and the name that you write agree?",
            edits=(
                (
                    'f"{name}.{kind}"',
                    "f\"{dict(w_q='w_k', w_k='w_q').get(name, name)}.{kind}\"",
                ),
            ),
        ),
        Wrong(
            "queries_everywhere",
            "Keys and values have the weights of the queries.",
            "Where in your loop do you use the name?",
            edits=(("getattr(h, name)", "h.w_q"),),
        ),
        Wrong(
            "keys_for_values",
            "The values have the weights of the keys.",
            "Is the third line of a copied block still the same as the second?",
            edits=(
                ("getattr(h, name)", 'getattr(h, "w_k" if name == "w_v" else name)'),
            ),
        ),
        Wrong(
            "returned_too_early",
            "Only the first of the three layers is there; the `return` may stand inside the "
            "loop.",
            "How far is your `return` indented?",
            edits=(('in ("w_q", "w_k", "w_v")', 'in ("w_q",)'),),
        ),
        Wrong(
            "packed_into_first_head",
            "The result is right, but the first head was changed on the way.",
            "Which of your lines writes into a tensor that belongs to somebody else?",
            edits=(
                (
                    "return {",
                    "packed = {",
                ),
                (
                    '        for kind in ("weight", "bias")\n    }',
                    '        for kind in ("weight", "bias")\n    }\n'
                    '    heads[0].w_q.weight.data = packed["w_q.weight"]\n'
                    "    return packed",
                ),
            ),
        ),
    ),
    right=(
        Right(
            "written_out",
            source="""
def pack_heads(heads):
    return {
        "w_q.weight": torch.cat([h.w_q.weight for h in heads], dim=0),
        "w_k.weight": torch.cat([h.w_k.weight for h in heads], dim=0),
        "w_v.weight": torch.cat([h.w_v.weight for h in heads], dim=0),
        "w_q.bias": torch.cat([h.w_q.bias for h in heads], dim=0),
        "w_k.bias": torch.cat([h.w_k.bias for h in heads], dim=0),
        "w_v.bias": torch.cat([h.w_v.bias for h in heads], dim=0),
    }
""",
        ),
        Right(
            "stack_and_flatten",
            edits=(
                (
                    _CAT,
                    "torch.stack([getattr(getattr(h, name), kind) for h in heads])"
                    ".flatten(0, 1).detach()",
                ),
            ),
        ),
        Right(
            "from_state_dicts",
            source="""
from collections import OrderedDict

def pack_heads(heads):
    states = [head.state_dict() for head in heads]
    packed = OrderedDict()
    for name in states[0]:
        packed[name] = torch.cat([state[name] for state in states])
    return packed
""",
        ),
        Right(
            "growing_tensor",
            source="""
def pack_heads(heads):
    packed = {}
    for name in ("w_q", "w_k", "w_v"):
        first = getattr(heads[0], name)
        weight, bias = first.weight, first.bias
        for head in list(heads)[1:]:
            layer = getattr(head, name)
            weight = torch.vstack((weight, layer.weight))
            bias = torch.hstack((bias, layer.bias))
        packed[name + ".weight"] = nn.Parameter(weight)
        packed[name + ".bias"] = nn.Parameter(bias)
    return packed
""",
        ),
    ),
)

# --- 3.5 a mask for all heads ---------------------------------------------------------

_FOUR = "if mask is None or mask.dim() == 4:\n        return mask"
_TWO = "if mask.dim() == 2:\n        mask = mask.unsqueeze(0)  # (1, Lq, Lk)"
_THREE = "return mask.unsqueeze(1)"

MASK_FOR_HEADS = Task(
    name="multi_head_attention/mask_for_heads",
    title="A mask for all heads",
    target="mask_for_heads",
    settings=(
        Setting(
            "padding",
            "a padding mask (B, 1, Lk), and a mask (Lq, Lk)",
            _masks(2, 3, 4, 5, two=(4, 5), three=(2, 1, 5)),
            "Where must the dimension of heads stand?",
        ),
        Setting(
            "full",
            "a mask (B, Lq, Lk), and one for each head",
            _masks(2, 4, 5, 3, three=(2, 5, 3), four=(2, 4, 5, 3)),
            "A mask of four dimensions is already what we want.",
        ),
        Setting(
            "as_many_sentences_as_heads",
            "as many sentences as heads",
            _masks(3, 3, 4, 5, two=(4, 5), three=(3, 4, 5), four=(3, 1, 1, 5)),
            "Three dimensions always mean sentences, queries, keys.",
        ),
        Setting(
            "one_query",
            "a single query",
            _masks(4, 2, 1, 6, two=(1, 6), three=(4, 1, 6), four=(1, 2, 1, 6)),
            "Dimensions of size 1 are dimensions, too.",
            hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "unchanged",
            "The mask comes back as it was, so a mask of three dimensions meets the heads with "
            "its batch.",
            "Which shape has a padding mask after broadcasting fills in ones from the left?",
            source="def mask_for_heads(mask):\n    return mask\n",
        ),
        Wrong(
            "two_dimensional_forgotten",
            "A mask of two dimensions does not get its four.",
            "What does your function do with a causal mask `(L, L)`?",
            edits=((_TWO, "if mask.dim() == 2:\n        return mask"),),
        ),
        Wrong(
            "one_dimension_only",
            "Every mask gets one dimension more, after its first one. That suits three "
            "dimensions only.",
            "What does your function do with a causal mask `(L, L)`?",
            edits=((_TWO, ""),),
        ),
        Wrong(
            "two_dimensions_as_padding",
            "A mask of two dimensions is read as `(B, Lk)`. In our contract it is `(Lq, Lk)`.",
            "What do the two dimensions of a causal mask mean?",
            edits=((_TWO, "if mask.dim() == 2:\n        mask = mask.unsqueeze(1)"),),
        ),
        Wrong(
            "batch_read_as_heads",
            "A mask of three dimensions was given its new one in front: its batch now stands "
            "where the heads should.",
            "Which dimension is missing in `(B, Lq, Lk)`, and where?",
            edits=((_THREE, "return mask.unsqueeze(0)"),),
        ),
        Wrong(
            "indexed_none_in_front",
            like="batch_read_as_heads",
            source="""
def mask_for_heads(mask):
    if mask is None:
        return None
    while mask.dim() < 4:
        mask = mask[None]
    return mask
""",
        ),
        Wrong(
            "heads_after_queries",
            "The new dimension stands between queries and keys.",
            "In `(B, h, Lq, Lk)`, which dimension follows the batch?",
            edits=((_THREE, "return mask.unsqueeze(2)"),),
        ),
        Wrong(
            "heads_at_the_end",
            "The new dimension stands at the end, after the keys.",
            "In `(B, h, Lq, Lk)`, which dimension follows the batch?",
            edits=((_THREE, "return mask.unsqueeze(-1)"),),
        ),
        Wrong(
            "five_dimensions",
            "A mask of four dimensions is given a fifth.",
            "What must happen with a mask that already has its heads?",
            edits=((_FOUR, "if mask is None:\n        return None"),),
        ),
        Wrong(
            "none_not_treated",
            "`None` means that there is no mask; your function asks it for its dimensions.",
            "What shall come back if there is no mask?",
            edits=((_FOUR, "if mask.dim() == 4:\n        return mask"),),
        ),
        Wrong(
            "none_gives_a_mask",
            "Without a mask a tensor came back; `None` stays `None`.",
            "How would you know the sizes of a mask that is not there?",
            edits=(
                (
                    _FOUR,
                    "if mask is None:\n        return torch.ones(1, 1, 1, 1).bool()\n"
                    "    if mask.dim() == 4:\n        return mask",
                ),
            ),
        ),
        Wrong(
            "inverted",
            "The mask came back turned around.",
            "Does this function change what `True` means?",
            edits=(
                (
                    _FOUR,
                    "if mask is None:\n        return mask\n    mask = ~mask\n"
                    "    if mask.dim() == 4:\n        return mask",
                ),
            ),
        ),
        Wrong(
            "first_query_only",
            "All queries got the mask of the first one.",
            "Which masks do have more than one row?",
            edits=((_THREE, "return mask.unsqueeze(1)[:, :, :1]"),),
        ),
        Wrong(
            "first_sentence_only",
            "All sentences got the mask of the first one.",
            "Does an index `0` or `[:1]` stand in your code where it should not?",
            edits=((_THREE, "return mask.unsqueeze(1)[:1]"),),
        ),
        Wrong(
            "heads_made_alike",
            "A mask with heads of its own has lost them: all heads have the same now.",
            "What must happen with a mask that already has its heads?",
            edits=(
                (
                    _FOUR,
                    "if mask is None:\n        return mask\n"
                    "    if mask.dim() == 4:\n        return mask[:, :1]",
                ),
            ),
        ),
        Wrong(
            "heads_joined_by_or",
            "A mask with heads of its own has lost them: they were joined to one by `any`.",
            "What must happen with a mask that already has its heads?",
            edits=(
                (
                    _FOUR,
                    "if mask is None:\n        return mask\n"
                    "    if mask.dim() == 4:\n        return mask.any(1, keepdim=True)",
                ),
            ),
        ),
        Wrong(
            "numbers",
            "The mask came back as numbers; it should stay boolean.",
            "Which `dtype` did the mask have before?",
            edits=(
                (
                    _FOUR,
                    "if mask is None:\n        return mask\n    mask = mask.float()\n"
                    "    if mask.dim() == 4:\n        return mask",
                ),
            ),
        ),
        Wrong(
            "in_place",
            "The result is right, but the caller's own mask has changed its shape.",
            "What does the underscore at the end of `unsqueeze_` mean?",
            source="""
def mask_for_heads(mask):
    if mask is not None and mask.dim() == 2:
        mask.unsqueeze_(0)
    if mask is not None and mask.dim() == 3:
        mask.unsqueeze_(1)
    return mask
""",
        ),
        Wrong(
            "turned",
            "Queries and keys have changed places in the mask.",
            "What are the rows of a mask, and what are its columns?",
            edits=((_THREE, "return mask.unsqueeze(1).transpose(-2, -1)"),),
        ),
    ),
    right=(
        Right(
            "while_loop",
            source="""
def mask_for_heads(mask):
    if mask is None:
        return None
    while mask.dim() < 4:
        mask = mask.unsqueeze(-3)
    return mask
""",
        ),
        Right(
            "indexing",
            source="""
def mask_for_heads(mask):
    if mask is None:
        return None
    if mask.ndim == 2:
        return mask[None, None]
    return mask[:, None] if mask.ndim == 3 else mask
""",
        ),
        Right(
            "reshape_and_copy",
            source="""
def mask_for_heads(mask):
    if mask is not None:
        *lead, lq, lk = mask.shape
        if len(lead) == 0:
            lead = [1, 1]
        elif len(lead) == 1:
            lead = [lead[0], 1]
        mask = mask.clone().reshape(*lead, lq, lk)
    return mask
""",
        ),
        Right(
            "match_statement",
            source="""
def mask_for_heads(mask):
    match getattr(mask, "shape", ()):
        case (lq, lk):
            return mask.view(1, 1, lq, lk)
        case (b, lq, lk):
            return mask.view(b, 1, lq, lk)
    return mask
""",
        ),
    ),
)

# --- 3.6 multi-head attention ---------------------------------------------------------

_Q = "q = split_heads(self.w_q(query), self.num_heads)"
_K = "k = split_heads(self.w_k(key), self.num_heads)"
_V = "v = split_heads(self.w_v(value), self.num_heads)"
_MASK = "mask = mask_for_heads(mask)"
_SDPA = "_, weights = attention.scaled_dot_product_attention(q, k, v, mask)"
_DROP = "weights = self.dropout(weights)"
_RETURN = "return self.w_o(merge_heads(weights @ v)), weights"
_EVEN = "if d_model % num_heads != 0:"


def _mha(name: str, *edits: tuple[str, str], says="", asks="", like="") -> Wrong:
    return Wrong(name, says, asks, edits=edits, like=like)


def _scores(*lines: str) -> str:
    """The call of attention taken apart, for variants that change its inside."""
    steps = (
        "scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5",
        *lines,
    )
    return "\n        ".join(steps)


_FILL = 'scores = scores if mask is None else scores.masked_fill(~mask, float("-inf"))'


def _scaled(factor: str) -> tuple[str, str]:
    return (_SDPA, _SDPA.replace("(q,", f"(q * {factor},"))


def _split_by(code: str) -> tuple[tuple[str, str], ...]:
    """All three splits done otherwise; ``code`` works on ``y`` and ``h``."""
    lines = {_Q: ("q", "query"), _K: ("k", "key"), _V: ("v", "value")}
    return tuple(
        (old, f"y, h = self.w_{x}({name}), self.num_heads; {x} = {code}")
        for old, (x, name) in lines.items()
    )


def _merge_by(code: str) -> tuple[str, str]:
    return (_RETURN, f"z = weights @ v\n        return self.w_o({code}), weights")


_LAYERS = """
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)"""


def _whole(init: str, forward: str, imports: str = "") -> str:
    """A class of its own style with the usual layers."""
    return f"""{imports}
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model must be a multiple of num_heads")
        self.num_heads = num_heads
        self.h, self.d_k, self.p = num_heads, d_model // num_heads, dropout{_LAYERS}
        {init}

    def forward(self, query, key, value, mask=None):
        {forward.strip()}
"""


MULTI_HEAD_ATTENTION = Task(
    name="multi_head_attention/multi_head_attention",
    title="Multi-head attention",
    target="MultiHeadAttention",
    settings=(
        Setting(
            "plain",
            "three different inputs, no mask; sizes that cannot be shared out",
            _multi_head(2, 3, 4, lq=5, lk=7, refuse=True),
            "Print the shape after each step and compare with hint 2.",
        ),
        Setting(
            "padding",
            "a padding mask (B, 1, Lk), and gradients",
            _multi_head(3, 2, 3, lq=4, lk=5, mask=(3, 1, 5), pull=True),
            "Every head must respect the mask, and every input needs its gradient.",
        ),
        Setting(
            "queries_and_keys",
            "a mask (Lq, Lk), and large scores",
            _multi_head(2, 4, 3, lq=6, lk=5, mask=(6, 5), scale=1.5),
            "A mask of two dimensions holds for all sentences and heads.",
        ),
        Setting(
            "a_mask_per_head",
            "a mask for each head (B, h, Lq, Lk)",
            _multi_head(2, 3, 5, lq=4, lk=6, mask=(2, 3, 4, 6)),
            "Each head has its own mask here.",
        ),
        Setting(
            "as_many_sentences_as_heads",
            "a mask (B, Lq, Lk), with as many sentences as heads",
            _multi_head(3, 3, 2, lq=5, lk=4, mask=(3, 5, 4)),
            "A mask of three dimensions holds for all heads, and differs by sentence.",
        ),
        Setting(
            "dropout",
            "dropout in training, and none in evaluation",
            _weights_made_visible,
            "Dropout belongs on the attention weights, after the softmax, with the "
            "probability that was given.",
        ),
        Setting(
            "single_head",
            "a single head, one sentence",
            _multi_head(1, 1, 6, lq=3, lk=4, mask=(1, 3, 4)),
            "Nothing changes in principle with one head.",
            hidden_only=True,
        ),
    ),
    wrong=(
        # Splitting and merging.
        _mha(
            "split_by_view_only",
            *_split_by("y.reshape(y.size(0), h, y.size(1), -1)"),
            says="The heads hold chopped-up positions: the split reshapes straight to `(B, h, L, "
            "d_k)` and moves nothing.",
            asks="What did Exercise 3.2 do after cutting the features in two?",
        ),
        _mha(
            "merge_by_view_only",
            _merge_by("z.reshape(z.size(0), z.size(2), -1)"),
            says="Heads and positions are not swapped back before merging, so positions are "
            "mixed.",
            asks="What does Exercise 3.3 do before it joins two dimensions?",
        ),
        _mha(
            "merge_by_contiguous_view",
            _merge_by("z.contiguous().view(z.size(0), z.size(2), -1)"),
            like="merge_by_view_only",
        ),
        _mha(
            "merge_mixes_batch",
            _merge_by("z.permute(2, 0, 1, 3).reshape(z.size(0), z.size(2), -1)"),
            says="Sentences are mixed: before the merge the batch does not stand first.",
            asks="What happens to sentence 0 if you change sentence 1? What should happen?",
        ),
        _mha(
            "heads_interleaved",
            *_split_by("y.unflatten(-1, (-1, h)).permute(0, 3, 1, 2)"),
            _merge_by("z.permute(0, 2, 3, 1).flatten(2)"),
            says="Heads are made of every h-th feature, in split and merge alike. Such a model "
            "trains well, but it is another layer than PyTorch's: our contract is blocks.",
            asks="Which features did head 0 get in Exercise 3.2?",
        ),
        _mha(
            "only_split_interleaved",
            *_split_by("y.unflatten(-1, (-1, h)).permute(0, 3, 1, 2)"),
            says="The split deals out every h-th feature, the merge joins blocks: they do not fit.",
            asks="Does merging undo your splitting? Try it on a small tensor.",
        ),
        _mha(
            "only_merge_interleaved",
            _merge_by("z.permute(0, 2, 3, 1).flatten(2)"),
            says="The merge deals the features out in turn, while the split made blocks.",
            asks="Does merging undo your splitting? Try it on a small tensor.",
        ),
        _mha(
            "heads_merged_in_reverse",
            _merge_by("merge_heads(z.flip(1))"),
            says="The heads are merged in reverse order.",
            asks="Which columns of `w_o` belong to head 0?",
        ),
        _mha(
            "view_of_transposed",
            _merge_by("z.transpose(1, 2).view(z.size(0), z.size(2), -1)"),
            says="The merge is right, but a transposed tensor lies scattered in memory, and `view` "
            "never copies.",
            asks="Which other function reshapes, and copies where it must?",
        ),
        _mha(
            "single_head",
            *_split_by("split_heads(y, 1)"),
            says="The features are not shared out: there is only one head, of size d_model.",
            asks="Where in `forward` do you use `self.num_heads`?",
        ),
        _mha(
            "heads_and_size_swapped",
            *_split_by("split_heads(y, y.size(-1) // h)"),
            says="There are `d_k` heads of size `h`: the two numbers have changed places.",
            asks="Which of the two is the number of heads?",
        ),
        _mha(
            "eight_heads_always",
            *_split_by("split_heads(y, 8)"),
            says="The number of heads is fixed to 8, the paper's number.",
            asks="Which number was given when the layer was made?",
        ),
        _mha(
            "first_head_everywhere",
            *_split_by("split_heads(y, h)[:, :1].expand(-1, h, -1, -1)"),
            says="All heads are copies of head 0.",
            asks="Which features belong to head 1?",
        ),
        _mha(
            "heads_averaged",
            _merge_by("merge_heads(z.mean(1, keepdim=True).expand_as(z))"),
            says="Every head's block holds the same average of all heads.",
            asks="What is the use of several heads if their answers are averaged at once?",
        ),
        _mha(
            "key_length_from_query",
            (
                _K,
                "k = self.w_k(key).view(query.size(0), query.size(1), self.num_heads, -1)"
                ".transpose(1, 2)",
            ),
            says="The keys are reshaped with the length of the *query*.",
            asks="In cross-attention, how many keys are there?",
        ),
        _mha(
            "value_length_from_query",
            (
                _V,
                "v = self.w_v(value).view(query.size(0), query.size(1), self.num_heads, -1)"
                ".transpose(1, 2)",
            ),
            says="The values are reshaped with the length of the *query*.",
            asks="In cross-attention, how many values are there?",
        ),
        # Scaling and softmax.
        _mha(
            "scaled_by_d_model",
            _scaled("self.num_heads ** -0.5"),
            says="The scores are divided by the root of d_model. But what is compared are vectors "
            "of one head.",
            asks="How many products does one score add up?",
        ),
        _mha(
            "scaled_by_heads",
            _scaled("(k.size(-1) / self.num_heads) ** 0.5"),
            says="The scores are divided by the root of the number of heads.",
            asks="How many products does one score add up?",
        ),
        _mha(
            "not_scaled",
            _scaled("k.size(-1) ** 0.5"),
            says="The scores are not scaled.",
            asks="What happens to the spread of the scores as `d_k` grows?",
        ),
        _mha(
            "scaled_twice",
            _scaled("k.size(-1) ** -0.5"),
            says="The scores are scaled twice: by you, and once more inside the function of unit 2.",
            asks="What does `scaled_dot_product_attention` do with its queries already?",
        ),
        _mha(
            "softmax_over_heads",
            (_SDPA, _scores(_FILL, "weights = scores.softmax(1).nan_to_num()")),
            says="The softmax runs over the heads.",
            asks="Of what do the shares of one query sum to one: of heads or of keys?",
        ),
        _mha(
            "softmax_over_queries",
            (_SDPA, _scores(_FILL, "weights = scores.softmax(2).nan_to_num()")),
            says="The softmax runs over the queries.",
            asks="For one query, which numbers must sum to one?",
        ),
        _mha(
            "softmax_twice",
            (_DROP, "weights = self.dropout(weights.softmax(-1))"),
            says="The weights went through a softmax twice.",
            asks="Are what `scaled_dot_product_attention` returns scores or weights?",
        ),
        # Projections.
        _mha(
            "no_output_projection",
            (_RETURN, "return merge_heads(weights @ v), weights"),
            says="The merged heads come back as they are: `w_o` is not used.",
            asks="Which line lets the answers of different heads meet?",
        ),
        _mha(
            "output_projection_twice",
            (_RETURN, "return self.w_o(self.w_o(merge_heads(weights @ v))), weights"),
            says="`w_o` is applied twice.",
            asks="How many arrows go through `w_o` in the drawing?",
        ),
        _mha(
            "projections_of_query_and_key_swapped",
            (_Q, _Q.replace("w_q", "w_k")),
            (_K, _K.replace("w_k", "w_q")),
            says="`w_q` and `w_k` have changed places.",
            asks="Which layer makes the queries?",
        ),
        _mha(
            "projections_of_key_and_value_swapped",
            (_K, _K.replace("w_k", "w_v")),
            (_V, _V.replace("w_v", "w_k")),
            says="`w_k` and `w_v` have changed places.",
            asks="Which layer makes what is mixed, and which one what is compared?",
        ),
        _mha(
            "keys_projection_for_values",
            (_V, _V.replace("w_v", "w_k")),
            says="The values go through `w_k`.",
            asks="Is the third line of a copied block still the same as the second?",
        ),
        _mha(
            "query_projection_for_keys",
            (_K, _K.replace("w_k", "w_q")),
            says="The keys go through `w_q`.",
            asks="Is the second line of a copied block still the same as the first?",
        ),
        _mha(
            "one_projection_for_all",
            (_K, _K.replace("w_k", "w_q")),
            (_V, _V.replace("w_v", "w_q")),
            says="Queries, keys and values all go through `w_q`.",
            asks="What are the other two layers for?",
        ),
        _mha(
            "shared_layer",
            ("self.w_v = nn.Linear(d_model, d_model)", "self.w_v = self.w_k"),
            says="`w_v` and `w_k` are one and the same layer.",
            asks="How many layers does your `__init__` really make?",
        ),
        _mha(
            "values_not_projected",
            (_V, "v = split_heads(value, self.num_heads)"),
            says="The values are not projected: `w_v` is not used.",
            asks="What happens to `value` in the drawing before it is split?",
        ),
        _mha(
            "layers_without_bias",
            *(
                (
                    f"self.w_{x} = nn.Linear(d_model, d_model)",
                    f"self.w_{x} = nn.Linear(d_model, d_model, bias=False)",
                )
                for x in "qkvo"
            ),
            says="The layers have no bias.",
            asks="Which argument of `nn.Linear` did you set?",
        ),
        _mha(
            "full_size_heads",
            *(
                (
                    f"self.w_{x} = nn.Linear(d_model, d_model)",
                    f"self.w_{x} = nn.Linear(d_model, num_heads * d_model)",
                )
                for x in "qkv"
            ),
            says="Each head got the full size d_model; the heads are to *share* the features.",
            asks="Which size has one head if all together have d_model?",
        ),
        _mha(
            "one_head_sized_layers",
            *(
                (
                    f"self.w_{x} = nn.Linear(d_model, d_model)",
                    f"self.w_{x} = nn.Linear(d_model, d_model // num_heads)",
                )
                for x in "qkv"
            ),
            says="The layers make the features of one head only.",
            asks="How many features must come out, if each of `h` heads gets `d_k` of them?",
        ),
        _mha(
            "projections_in_a_list",
            (
                "self.w_o = nn.Linear(d_model, d_model)",
                "self.w_o = [nn.Linear(d_model, d_model)][0]; self.layers = "
                "[self.w_q, self.w_k, self.w_v]; del self.w_q, self.w_k, self.w_v",
            ),
            says="`w_q` is not known as a parameter of the module: an ordinary list hides its "
            "layers.",
            asks="Which names does `dict(layer.named_parameters())` show?",
        ),
        # The three inputs.
        _mha(
            "self_attention_only",
            (_K, _K.replace("(key)", "(query)")),
            (_V, _V.replace("(value)", "(query)")),
            says="Keys and values are made from `query`: that is self-attention, whatever the "
            "caller asks for.",
            asks="Which argument does each of the three layers read?",
        ),
        _mha(
            "values_from_key",
            (_V, _V.replace("(value)", "(key)")),
            says="The values are made from `key`; the argument `value` is not used.",
            asks="Is the third line of a copied block still the same as the second?",
        ),
        _mha(
            "keys_from_value",
            (_K, _K.replace("(key)", "(value)")),
            says="The keys are made from `value`; the argument `key` is not used.",
            asks="Which argument is compared with the query?",
        ),
        _mha(
            "keys_from_query",
            (_K, _K.replace("(key)", "(query)")),
            says="The keys are made from `query`.",
            asks="Which argument does `w_k` read?",
        ),
        _mha(
            "residual_added",
            (_RETURN, "return query + self.w_o(merge_heads(weights @ v)), weights"),
            says="The query is added to the output. This residual comes in unit 4, outside this "
            "layer.",
            asks="What is the last step in the drawing?",
        ),
        _mha(
            "norm_added",
            (
                _RETURN,
                "out = self.w_o(merge_heads(weights @ v))\n"
                "        return nn.functional.layer_norm(out, out.shape[-1:]), weights",
            ),
            says="The output is normalised. This comes in unit 4, outside this layer.",
            asks="What is the last step in the drawing?",
        ),
        _mha(
            "residual_and_norm_added",
            (
                _RETURN,
                "out = query + self.w_o(merge_heads(weights @ v))\n"
                "        return nn.functional.layer_norm(out, out.shape[-1:]), weights",
            ),
            says="There are a residual and a normalisation. Both come in unit 4, outside this "
            "layer.",
            asks="What is the last step in the drawing?",
        ),
        _mha(
            "activation_added",
            (_RETURN, "return self.w_o(merge_heads(weights @ v).relu()), weights"),
            says="There is a ReLU before `w_o`; the definition has none.",
            asks="What does the formula at the top of this unit put between Concat and W^O?",
        ),
        # Masks.
        _mha(
            "mask_ignored",
            (_SDPA, _SDPA.replace(", mask)", ")")),
            says="The mask is not used.",
            asks="Which arguments does `scaled_dot_product_attention` take?",
        ),
        _mha(
            "mask_inverted",
            (_MASK, "mask = None if mask is None else ~mask_for_heads(mask)"),
            says="The mask works the wrong way round: what may be seen is hidden.",
            asks="What does `True` mean in the masks of this course? And in PyTorch's layer?",
        ),
        _mha(
            "mask_without_heads",
            (_MASK, ""),
            says="The mask is passed on as it came: one of three dimensions then meets the heads "
            "with its batch.",
            asks="What was Exercise 3.5 for?",
        ),
        _mha(
            "mask_dimension_in_front",
            (
                _MASK,
                "mask = mask if mask is None else mask[(None,) * (4 - mask.dim())]",
            ),
            like="mask_without_heads",
        ),
        _mha(
            "mask_always_unsqueezed",
            (_MASK, "mask = mask if mask is None else mask.unsqueeze(1)"),
            says="Every mask gets a dimension more after its first one. That suits three "
            "dimensions only.",
            asks="What does your code do with a mask `(Lq, Lk)`, and with `(B, h, Lq, Lk)`?",
        ),
        _mha(
            "mask_unsqueezed_unless_flat",
            (
                _MASK,
                "mask = mask if mask is None or mask.dim() == 2 else mask.unsqueeze(1)",
            ),
            says="A mask that already has its heads is given a fifth dimension.",
            asks="What does your code do with a mask `(B, h, Lq, Lk)`?",
        ),
        _mha(
            "mask_of_first_head",
            (_MASK, "mask = mask if mask is None else mask_for_heads(mask)[:, :1]"),
            says="All heads got the mask of head 0.",
            asks="What if the mask says something else for each head?",
        ),
        _mha(
            "mask_on_first_head_only",
            (
                _MASK,
                "if mask is not None:\n"
                "            first = torch.arange(self.num_heads)[:, None, None] == 0\n"
                "            mask = mask_for_heads(mask) | ~first",
            ),
            says="Only head 0 respects the mask; through the others, forbidden positions still move "
            "the output.",
            asks="For which heads does the mask hold?",
        ),
        _mha(
            "mask_of_first_sentence",
            (_MASK, "mask = mask if mask is None else mask_for_heads(mask)[:1]"),
            says="All sentences got the mask of the first one.",
            asks="Does an index `0` or `[:1]` stand in your code where it should not?",
        ),
        _mha(
            "mask_of_first_query",
            (_MASK, "mask = mask if mask is None else mask_for_heads(mask)[:, :, :1]"),
            says="All queries got the mask of the first one.",
            asks="Which masks have more than one row?",
        ),
        _mha(
            "mask_after_softmax",
            (
                _SDPA,
                "_, weights = attention.scaled_dot_product_attention(q, k, v)\n"
                "        weights = weights if mask is None else weights * mask",
            ),
            says="The mask comes after the softmax, so the weights of a query no longer sum to "
            "one.",
            asks="Where must forbidden scores be taken out so that the rest still sums to one?",
        ),
        _mha(
            "masked_scores_zero",
            (
                _SDPA,
                _scores(
                    "scores = scores if mask is None else scores.masked_fill(~mask, 0)",
                    "weights = scores.softmax(-1)",
                ),
            ),
            says="Forbidden scores are set to 0, which is a score like any other.",
            asks="Which score gives a share of zero after the softmax?",
        ),
        _mha(
            "masked_scores_tiny",
            (
                _SDPA,
                _scores(
                    "scores = scores if mask is None else scores.masked_fill(~mask, 1e-9)",
                    "weights = scores.softmax(-1)",
                ),
            ),
            like="masked_scores_zero",
        ),
        _mha(
            "masked_scores_minus_ten",
            (
                _SDPA,
                _scores(
                    "scores = scores if mask is None else scores.masked_fill(~mask, -10)",
                    "weights = scores.softmax(-1)",
                ),
            ),
            says="Forbidden scores are set to a number that is small, but not small enough.",
            asks="Is the share of a forbidden key exactly zero, even if all scores are low?",
        ),
        _mha(
            "mask_forgotten_for_output",
            (
                _RETURN,
                "free, _ = attention.scaled_dot_product_attention(q, k, v)\n"
                "        return self.w_o(merge_heads(free)), weights",
            ),
            says="The weights are masked, but the output was made without the mask.",
            asks="From which weights is your output mixed?",
        ),
        _mha(
            "mask_changed",
            (
                _MASK,
                "if mask is not None and mask.dim() == 3:\n"
                "            mask.unsqueeze_(1)",
            ),
            says="The results are right, but the caller's own mask has changed its shape.",
            asks="What does the underscore at the end of a method's name mean?",
        ),
        # What comes back.
        _mha(
            "weights_averaged",
            (_RETURN, "return self.w_o(merge_heads(weights @ v)), weights.mean(1)"),
            says="The weights are averaged over the heads; each head's map is asked for.",
            asks="What does `(B, h, Lq, Lk)` say about the number of maps?",
        ),
        _mha(
            "weights_heads_first",
            (
                _RETURN,
                "return self.w_o(merge_heads(weights @ v)), weights.transpose(0, 1)",
            ),
            says="The weights have shape `(h, B, Lq, Lk)`: the heads stand before the batch.",
            asks="Which dimension comes first in this course, always?",
        ),
        _mha(
            "weights_folded",
            (
                _RETURN,
                "return self.w_o(merge_heads(weights @ v)), weights.flatten(0, 1)",
            ),
            says="The weights have batch and heads in one dimension.",
            asks="How many dimensions does `(B, h, Lq, Lk)` have?",
        ),
        _mha(
            "scores_returned",
            (
                _RETURN,
                "return self.w_o(merge_heads(weights @ v)), "
                "q @ k.transpose(-2, -1) / q.size(-1) ** 0.5",
            ),
            says="The scores come back in place of the weights.",
            asks="What do the rows of the weights sum to?",
        ),
        _mha(
            "unmasked_weights_returned",
            (
                _RETURN,
                "_, free = attention.scaled_dot_product_attention(q, k, v)\n"
                "        return self.w_o(merge_heads(weights @ v)), free",
            ),
            says="The output respects the mask, but the weights that come back do not.",
            asks="Are the weights that you return those that made the output?",
        ),
        _mha(
            "only_output",
            (_RETURN, "return self.w_o(merge_heads(weights @ v))"),
            says="Only the output comes back; the weights are asked for, too.",
            asks="What does the docstring list under Returns?",
        ),
        _mha(
            "results_swapped",
            (_RETURN, "return weights, self.w_o(merge_heads(weights @ v))"),
            says="Output and weights come back in the wrong order.",
            asks="Which of the two comes first, by the conventions of this course?",
        ),
        _mha(
            "no_gradient",
            (_DROP, "weights = self.dropout(weights.detach())"),
            says="The gradient does not pass through the weights: there is a `detach`, a "
            "`no_grad` or a `.data` on the way.",
            asks="How would training reach `w_q` and `w_k`?",
        ),
        _mha(
            "output_detached",
            (_RETURN, "return self.w_o(merge_heads(weights @ v)).detach(), weights"),
            says="The output is cut off from the gradient.",
            asks="Would training reach any weight of this layer?",
        ),
        _mha(
            "first_sentence_for_all",
            (_DROP, "weights = self.dropout(weights[:1].expand_as(weights))"),
            says="All sentences use the weights of the first one.",
            asks="Does an index `0` or `[:1]` stand in your code where it should not?",
        ),
        # The number of heads.
        _mha(
            "uneven_accepted",
            (_EVEN, "if False:"),
            says="A number of heads that does not divide d_model is accepted.",
            asks="How large would each of 3 heads be if there are 10 features?",
        ),
        _mha(
            "only_too_many_refused",
            (_EVEN, "if num_heads > d_model:"),
            says="Only more heads than features are refused; 3 heads cannot share 10 features "
            "either.",
            asks="Which remainder must the division leave?",
        ),
        # Dropout.
        _mha(
            "dropout_missing",
            (_DROP, ""),
            says="There is no dropout on the weights in training.",
            asks="Where in `forward` do you call your dropout layer? Do you use what it returns?",
        ),
        _mha(
            "dropout_discarded",
            (_DROP, "self.dropout(weights)"),
            like="dropout_missing",
        ),
        _mha(
            "dropout_always",
            (_DROP, "weights = nn.functional.dropout(weights, self.dropout.p)"),
            says="Dropout stays on in evaluation: `F.dropout` does not know the mode of your "
            "module.",
            asks="Which argument of `F.dropout` says whether we are training?",
        ),
        _mha(
            "dropout_on_output",
            (_DROP, ""),
            (
                _RETURN,
                "return self.dropout(self.w_o(merge_heads(weights @ v))), weights",
            ),
            says="Dropout acts on the output, not on the weights.",
            asks="If the weight of a key is dropped, which features of its value are missing?",
        ),
        _mha(
            "dropout_on_heads",
            (_DROP, ""),
            (
                _RETURN,
                "return self.w_o(self.dropout(merge_heads(weights @ v))), weights",
            ),
            like="dropout_on_output",
        ),
        _mha(
            "dropout_on_both",
            (
                _RETURN,
                "return self.dropout(self.w_o(merge_heads(weights @ v))), weights",
            ),
            says="Dropout acts twice: on the weights and on the output.",
            asks="Where in the drawing does the word dropout stand?",
        ),
        _mha(
            "dropout_on_values",
            (_DROP, "v = self.dropout(v)"),
            says="Dropout acts on the values, not on the weights.",
            asks="If the weight of a key is dropped for one query, do the others still see it?",
        ),
        _mha(
            "dropout_on_queries",
            (_DROP, ""),
            (_SDPA, _SDPA.replace("(q,", "(self.dropout(q),")),
            says="Dropout acts before the softmax, on the queries.",
            asks="After dropout, which weights can be exactly zero?",
        ),
        _mha(
            "dropout_on_scores",
            (_DROP, ""),
            (
                _SDPA,
                _scores(
                    "scores = self.dropout(scores)",
                    _FILL,
                    "weights = scores.softmax(-1)",
                ),
            ),
            says="Dropout acts on the scores, before the softmax. A score of zero is no weight of "
            "zero.",
            asks="What is the share of a key whose score is 0?",
        ),
        _mha(
            "dropout_rate_fixed",
            ("nn.Dropout(dropout)", "nn.Dropout(0.1)"),
            says="The probability of dropping is fixed to 0.1.",
            asks="Which number was given when the layer was made?",
        ),
        _mha(
            "dropout_rate_of_keeping",
            ("nn.Dropout(dropout)", "nn.Dropout(1 - dropout)"),
            says="The probability of dropping is `1 - dropout`: dropping and keeping are mixed up.",
            asks="Does `nn.Dropout(p)` drop or keep with probability `p`?",
        ),
        _mha(
            "dropout_not_rescaled",
            (
                _DROP,
                "if self.training:\n"
                "            weights = weights * (torch.rand_like(weights) >= self.dropout.p)",
            ),
            says="Weights are dropped, but those that stay are not made larger in return.",
            asks="Is the average of many draws equal to the weights of evaluation?",
        ),
        _mha(
            "dropout_of_whole_maps",
            ("nn.Dropout(dropout)", "nn.Dropout2d(dropout)"),
            says="Whole heads are dropped at once, not single weights.",
            asks="What is different between `nn.Dropout` and `nn.Dropout2d`?",
        ),
        _mha(
            "dropout_alike_for_queries",
            (
                _DROP,
                "weights = weights * self.dropout(torch.ones_like(weights[:, :, :1]))",
            ),
            says="A key is dropped for all queries at once; each weight should have its own fate.",
            asks="How many random decisions are needed for a map of `Lq` times `Lk`?",
        ),
        _mha(
            "dropout_of_whole_queries",
            (
                _DROP,
                "weights = weights * self.dropout(torch.ones_like(weights[..., :1]))",
            ),
            says="A query loses all its keys at once, or none; each weight should have its own "
            "fate.",
            asks="How many random decisions are needed for a map of `Lq` times `Lk`?",
        ),
        _mha(
            "dropout_alike_for_heads",
            (
                _DROP,
                "weights = weights * self.dropout(torch.ones_like(weights[:, :1]))",
            ),
            says="The same weights are dropped in all heads; each weight should have its own fate.",
            asks="How many random decisions are needed for `h` maps?",
        ),
        _mha(
            "dropout_alike_for_sentences",
            (_DROP, "weights = weights * self.dropout(torch.ones_like(weights[:1]))"),
            says="The same weights are dropped in all sentences; each weight should have its own "
            "fate.",
            asks="How many random decisions are needed for a batch of `B` sentences?",
        ),
        _mha(
            "dropout_renormalised",
            (
                _DROP,
                "weights = self.dropout(weights)\n"
                "        weights = weights / weights.sum(-1, keepdim=True)",
            ),
            says="After dropout the weights are made to sum to one again; a row that lost all its "
            "weights becomes `nan`.",
            asks="Does the demonstration above say that rows sum to one in training?",
        ),
        _mha(
            "same_weights_dropped_every_time",
            (_DROP, "torch.manual_seed(0)\n        weights = self.dropout(weights)"),
            says="Training drops the same weights in every call: something resets the random "
            "numbers inside `forward`.",
            asks="What does a fixed seed do to a layer that should be random?",
        ),
    ),
    right=(
        Right(
            "view_transpose_by_hand",
            source=_whole(
                "self.drop = nn.Dropout(dropout)",
                """
        B, Lq, D = query.shape
        Lk = key.shape[1]
        q = self.w_q(query).view(B, Lq, self.h, self.d_k).transpose(1, 2)
        k = self.w_k(key).view(B, Lk, self.h, self.d_k).transpose(1, 2)
        v = self.w_v(value).view(B, Lk, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(self.d_k)
        if mask is not None:
            if mask.dim() == 3:
                mask = mask.unsqueeze(1)
            scores = scores.masked_fill(mask == 0, float("-inf"))
        attn = torch.softmax(scores, dim=-1)
        out = torch.matmul(self.drop(attn), v)
        out = out.transpose(1, 2).contiguous().view(B, Lq, D)
        return self.w_o(out), attn
""",
                "import math",
            ),
        ),
        Right(
            "einsum_and_minus_1e9",
            source=_whole(
                "pass",
                """
        q = self.w_q(query).unflatten(2, (self.h, self.d_k))
        k = self.w_k(key).unflatten(2, (self.h, self.d_k))
        v = self.w_v(value).unflatten(2, (self.h, self.d_k))
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) * self.d_k ** -0.5
        mask = mask_for_heads(mask)
        if mask is not None:
            scores = torch.where(mask, scores, -1e9)
        weights = F.dropout(scores.softmax(-1), self.p, self.training)
        out = torch.einsum("bhqk,bkhd->bqhd", weights, v)
        return self.w_o(out.flatten(2)), weights
""",
                "import torch.nn.functional as F",
            ),
        ),
        Right(
            "loop_over_heads",
            source=_whole(
                "self.drop = nn.Dropout(p=dropout)",
                """
        outs, maps = [], []
        full = None if mask is None else mask_for_heads(mask).expand(-1, self.h, -1, -1)
        q, k, v = self.w_q(query), self.w_k(key), self.w_v(value)
        for i in range(self.h):
            part = slice(i * self.d_k, (i + 1) * self.d_k)
            m = None if full is None else full[:, i]
            _, w = attention.scaled_dot_product_attention(
                q[..., part], k[..., part], v[..., part], m)
            w = self.drop(w)
            outs.append(w @ v[..., part])
            maps.append(w)
        return self.w_o(torch.cat(outs, dim=-1)), torch.stack(maps, dim=1)
""",
            ),
        ),
        Right(
            "fused_kernel_for_the_output",
            source=_whole(
                "pass",
                """
        q, k, v = (split_heads(w(x), self.h) for w, x in
                   ((self.w_q, query), (self.w_k, key), (self.w_v, value)))
        mask = mask_for_heads(mask)
        p = self.p if self.training else 0.0
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=p)
        with torch.no_grad():
            weights = attention.scaled_dot_product_attention(q, k, v, mask)[1]
        return self.w_o(merge_heads(out)), weights
""",
                "import torch.nn.functional as F",
            ),
        ),
        Right(
            "bmm_with_folded_batch",
            source=_whole(
                "self.drop = nn.Dropout(dropout)",
                """
        B, Lq, Lk = query.size(0), query.size(1), key.size(1)
        def fold(y):
            return y.view(B, -1, self.h, self.d_k).transpose(1, 2).reshape(
                B * self.h, -1, self.d_k)
        q, k, v = fold(self.w_q(query)), fold(self.w_k(key)), fold(self.w_v(value))
        scores = torch.bmm(q / self.d_k ** 0.5, k.transpose(1, 2))
        if mask is not None:
            m = mask_for_heads(mask).expand(B, self.h, Lq, Lk).reshape(-1, Lq, Lk)
            bias = torch.zeros_like(scores).masked_fill_(~m, float("-inf"))
            scores = scores + bias
        weights = self.drop(nn.Softmax(dim=-1)(scores))
        out = torch.bmm(weights, v).view(B, self.h, Lq, self.d_k)
        out = out.permute(0, 2, 1, 3).reshape(B, Lq, -1)
        return (self.w_o(out), weights.view(B, self.h, Lq, Lk))
""",
            ),
        ),
        Right(
            "pytorchs_own_function",
            source=_whole(
                "pass",
                """
        B, Lq, D = query.shape
        Lk = key.size(1)
        blocked = None
        if mask is not None:
            blocked = (~mask_for_heads(mask)).expand(B, self.h, Lq, Lk).flatten(0, 1)
        ws = torch.cat([self.w_q.weight, self.w_k.weight, self.w_v.weight])
        bs = torch.cat([self.w_q.bias, self.w_k.bias, self.w_v.bias])
        out, weights = F.multi_head_attention_forward(
            query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1),
            D, self.h, ws, bs, None, None, False, self.p,
            self.w_o.weight, self.w_o.bias, training=self.training,
            attn_mask=blocked, average_attn_weights=False)
        return out.transpose(0, 1), weights
""",
                "import torch.nn.functional as F",
            ),
        ),
        Right(
            "other_order_other_initialisation",
            source="""
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        assert d_model % num_heads == 0, "d_model must be divisible by num_heads"
        self.d_k = d_model // num_heads
        self.h = num_heads
        self.attn_drop = nn.Dropout(dropout)
        for name in ("w_o", "w_v", "w_k", "w_q"):
            layer = nn.Linear(d_model, d_model)
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)
            setattr(self, name, layer)

    def forward(self, query, key, value, mask=None):
        q = torch.stack(self.w_q(query).split(self.d_k, dim=-1), dim=1)
        k = torch.stack(self.w_k(key).split(self.d_k, dim=-1), dim=1)
        v = torch.stack(self.w_v(value).split(self.d_k, dim=-1), dim=1)
        q = q * self.d_k ** -0.25
        k = k * self.d_k ** -0.25
        scores = q @ k.mT
        if mask is not None:
            while mask.dim() < 4:
                mask = mask.unsqueeze(-3)
            scores.masked_fill_(mask.logical_not(), torch.finfo(scores.dtype).min)
        scores = scores - scores.max(dim=-1, keepdim=True).values
        weights = scores.exp() / scores.exp().sum(dim=-1, keepdim=True)
        heads = self.attn_drop(weights) @ v
        return self.w_o(torch.cat(list(heads.unbind(1)), dim=-1)), weights
""",
        ),
        Right(
            "three_inputs_in_one_product",
            source=_whole(
                "self.dropout = nn.Dropout(dropout)",
                """
        shapes = (query, "w_q"), (key, "w_k"), (value, "w_v")
        heads = []
        for x, name in shapes:
            layer = getattr(self, name)
            w = layer.weight.view(self.h, self.d_k, -1)
            b = layer.bias.view(self.h, 1, self.d_k)
            heads.append(torch.einsum("bld,hkd->bhlk", x, w) + b)
        q, k, v = heads
        _, weights = attention.scaled_dot_product_attention(q, k, v, mask_for_heads(mask))
        weights = self.dropout(weights)
        w_o = self.w_o.weight.view(-1, self.h, self.d_k)
        return torch.einsum("bhqk,ohk->bqo", weights @ v, w_o) + self.w_o.bias, weights
""",
            ),
        ),
        Right(
            "dropout_by_hand",
            edits=(
                (
                    _DROP,
                    "p = self.dropout.p\n"
                    "        if self.training and p > 0:\n"
                    "            keep = torch.rand_like(weights) >= p\n"
                    "            weights = weights * keep / (1 - p)",
                ),
            ),
        ),
    ),
)

# --- 3.7 count the parameters ---------------------------------------------------------

_ONE_LAYER = "one_layer = d_model * d_model + (d_model if bias else 0)"
_FOUR_LAYERS = "return 4 * one_layer"


def _count(name: str, one: str, total: str, says: str, asks: str) -> Wrong:
    return Wrong(
        name,
        says,
        asks,
        edits=((_ONE_LAYER, f"one_layer = {one}"), (_FOUR_LAYERS, total)),
    )


_RIGHT_LAYER = _ONE_LAYER.removeprefix("one_layer = ")

PARAMETER_COUNT = Task(
    name="multi_head_attention/parameter_count",
    title="Count the parameters",
    target="parameter_count",
    precise=False,
    settings=(
        Setting(
            "with_bias",
            "layers with a bias",
            _sizes(True, (12, 3), (512, 8)),
            "Count for d_model = 2 with pencil and paper.",
        ),
        Setting(
            "without_bias",
            "layers without a bias",
            _sizes(False, (12, 4), (256, 8)),
            "Count for d_model = 2 with pencil and paper.",
        ),
        Setting(
            "many_heads",
            "as many heads as features",
            _sizes(True, (6, 6), (10, 1)),
            "What does the number of heads change about the four layers?",
            hidden_only=True,
        ),
    ),
    wrong=(
        _count(
            "times_heads",
            _RIGHT_LAYER,
            "return 4 * one_layer * num_heads",
            "Your count grows with the number of heads; the heads share the features out.",
            "What are the shapes of the four weights if there are 8 heads?",
        ),
        _count(
            "projections_times_heads",
            _RIGHT_LAYER,
            "return (3 * num_heads + 1) * one_layer",
            "You count three full layers for each head; the heads share the features out.",
            "What are the shapes of the four weights if there are 8 heads?",
        ),
        _count(
            "three_layers",
            _RIGHT_LAYER,
            "return 3 * one_layer",
            "You count three layers.",
            "Which layer comes after the merge?",
        ),
        _count(
            "no_biases",
            "d_model * d_model",
            "return 4 * one_layer",
            "The biases are not counted.",
            "Which two tensors does an `nn.Linear` hold?",
        ),
        _count(
            "biases_always",
            "d_model * d_model + d_model",
            "return 4 * one_layer",
            "Biases are counted even if there are none.",
            "Where do you use the argument `bias`?",
        ),
        _count(
            "bias_turned_around",
            "d_model * d_model + (0 if bias else d_model)",
            "return 4 * one_layer",
            "Biases are counted when there are none, and not when there are some.",
            "What does `bias=True` mean?",
        ),
        _count(
            "one_number_as_bias",
            "d_model * d_model + (1 if bias else 0)",
            "return 4 * one_layer",
            "Each bias is counted as a single number.",
            "Is the bias of `nn.Linear` one number, or one for each output?",
        ),
        _count(
            "one_bias_for_all",
            "d_model * d_model",
            "return 4 * one_layer + (d_model if bias else 0)",
            "Only one of the four biases is counted.",
            "How many of the four layers have a bias?",
        ),
        _count(
            "one_head_only",
            "d_model * (d_model // num_heads) + (d_model // num_heads if bias else 0)",
            "return 4 * one_layer",
            "You count layers of one head's size.",
            "How many features does `w_q` make for all heads together?",
        ),
        _count(
            "one_head_and_output",
            "d_model * (d_model // num_heads) + (d_model // num_heads if bias else 0)",
            "return 3 * one_layer + d_model * d_model + (d_model if bias else 0)",
            "For queries, keys and values you count one head only.",
            "How many features does `w_q` make for all heads together?",
        ),
        _count(
            "biases_of_one_head",
            "d_model * d_model + (d_model // num_heads if bias else 0)",
            "return 4 * one_layer",
            "The biases are counted with the size of one head.",
            "How many outputs does each of the four layers have?",
        ),
        _count(
            "sides_added",
            "2 * d_model + (d_model if bias else 0)",
            "return 4 * one_layer",
            "You added the sides of the weight; its numbers are as many as rows times columns.",
            "How many numbers does a 3 by 3 matrix hold?",
        ),
        _count(
            "one_layer_only",
            _RIGHT_LAYER,
            "return one_layer",
            "You count one layer.",
            "How many layers does `__init__` make?",
        ),
        _count(
            "heads_added",
            _RIGHT_LAYER,
            "return 4 * one_layer + num_heads",
            "The number of heads was added; it is no parameter that is trained.",
            "Which of your summands belongs to no layer?",
        ),
        _count(
            "layers_not_tensors",
            "d_model * d_model",
            "return 8 if bias else 4",
            "You count tensors, not the numbers in them.",
            "What does `p.numel()` say of a parameter `p`?",
        ),
        _count(
            "not_whole",
            _RIGHT_LAYER,
            "return 4.0 * one_layer",
            "The count is not a whole number but a `float`.",
            "Which operator or factor made it one: `/`, or a number with a point?",
        ),
    ),
    right=(
        Right(
            "one_formula",
            edits=((_FOUR_LAYERS, "return 4 * d_model * (d_model + bool(bias))"),),
        ),
        Right(
            "really_made",
            source="""
def parameter_count(d_model, num_heads, bias=True):
    layers = [nn.Linear(d_model, d_model, bias=bias) for _ in range(4)]
    return sum(p.numel() for layer in layers for p in layer.parameters())
""",
        ),
        Right(
            "head_by_head",
            source="""
def parameter_count(d_model, num_heads, bias=True):
    d_k = d_model // num_heads
    count = 0
    for _ in range(num_heads):
        count += 3 * d_model * d_k
        if bias:
            count += 3 * d_k
    count += d_model ** 2
    if bias:
        count += d_model
    return int(count)
""",
        ),
        Right(
            "pytorchs_layer_counted",
            source="""
def parameter_count(d_model, num_heads, bias=True):
    layer = nn.MultiheadAttention(d_model, num_heads, bias=bias)
    return sum(p.numel() for p in layer.parameters())
""",
        ),
    ),
)

# --- 3.8 to PyTorch -------------------------------------------------------------------

_MADE = "theirs = nn.MultiheadAttention(d_model, mine.num_heads, batch_first=True)"
_LAYERS_IN_ORDER = "layers = (mine.w_q, mine.w_k, mine.w_v)"
_COPY_WEIGHTS = (
    "theirs.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers]))"
)
_COPY_BIASES = "theirs.in_proj_bias.copy_(torch.cat([layer.bias for layer in layers]))"
_COPY_OUT = "theirs.out_proj.load_state_dict(mine.w_o.state_dict())"


def _to(name: str, *edits: tuple[str, str], says="", asks="", like="") -> Wrong:
    return Wrong(name, says, asks, edits=edits, like=like)


TO_PYTORCH = Task(
    name="multi_head_attention/to_pytorch",
    title="To PyTorch",
    target="to_pytorch",
    settings=(
        Setting(
            "plain",
            "three heads",
            _for_pytorch(2, 3, 4, lq=5, lk=7),
            "Compare `in_proj_weight` with your three weights, row by row.",
        ),
        Setting(
            "others",
            "other sizes",
            _for_pytorch(3, 2, 3, lq=4, lk=5),
            "Compare `in_proj_weight` with your three weights, row by row.",
        ),
        Setting(
            "many",
            "more heads than features in a head",
            _for_pytorch(4, 5, 2, lq=3, lk=6),
            "Does PyTorch's layer have as many heads as yours?",
            hidden_only=True,
        ),
    ),
    wrong=(
        *(
            _to(
                f"order_{order}",
                (
                    _LAYERS_IN_ORDER,
                    "layers = ({})".format(", ".join(f"mine.w_{x}" for x in order)),
                ),
                says=f"The rows of `in_proj_weight` seem to be in the order {', '.join(order)}.",
                asks="In which order does PyTorch expect queries, keys and values?",
            )
            for order in ("kqv", "vkq", "qvk", "kvq", "vqk")
        ),
        _to(
            "transposed",
            (_COPY_WEIGHTS, _COPY_WEIGHTS.replace("layer.weight", "layer.weight.T")),
            says="The weights were transposed on the way.",
            asks="Do `nn.Linear` and `in_proj_weight` store outputs and inputs in the same order?",
        ),
        _to(
            "transposed_as_a_whole",
            (
                _COPY_WEIGHTS,
                "theirs.in_proj_weight.copy_("
                "torch.cat([layer.weight for layer in layers], dim=1).T)",
            ),
            like="transposed",
        ),
        _to(
            "output_transposed",
            (
                _COPY_OUT,
                "theirs.out_proj.weight.copy_(mine.w_o.weight.T); "
                "theirs.out_proj.bias.copy_(mine.w_o.bias)",
            ),
            says="The weight of `w_o` was transposed on the way.",
            asks="Is `out_proj` not simply an `nn.Linear`, too?",
        ),
        _to(
            "rows_interleaved",
            (
                _COPY_WEIGHTS,
                "theirs.in_proj_weight.copy_("
                "torch.stack([layer.weight for layer in layers], 1).flatten(0, 1))",
            ),
            says="The rows of q, k and v take turns; they should stand block by block.",
            asks="Which rows of `in_proj_weight` are PyTorch's keys?",
        ),
        _to(
            "queries_three_times",
            (_LAYERS_IN_ORDER, "layers = (mine.w_q,) * 3"),
            says="Keys and values have the weights of the queries.",
            asks="Which three layers belong into `in_proj_weight`?",
        ),
        _to(
            "biases_forgotten",
            (_COPY_BIASES, "pass"),
            says="`in_proj_bias` is not copied.",
            asks="Which parameters does `theirs.named_parameters()` list?",
        ),
        _to(
            "output_forgotten",
            (_COPY_OUT, "pass"),
            says="The last layer, `out_proj`, is not copied.",
            asks="Which parameters does `theirs.named_parameters()` list?",
        ),
        _to(
            "output_bias_forgotten",
            (_COPY_OUT, "theirs.out_proj.weight.copy_(mine.w_o.weight)"),
            says="The bias of `out_proj` is not copied.",
            asks="Which parameters does `theirs.named_parameters()` list?",
        ),
        _to(
            "all_biases_forgotten",
            (_COPY_BIASES, "pass"),
            (_COPY_OUT, "theirs.out_proj.weight.copy_(mine.w_o.weight)"),
            says="No bias is copied, neither `in_proj_bias` nor that of `out_proj`.",
            asks="Which parameters does `theirs.named_parameters()` list?",
        ),
        _to(
            "inputs_forgotten",
            (_COPY_WEIGHTS, "pass"),
            says="`in_proj_weight` is not copied.",
            asks="Which parameters does `theirs.named_parameters()` list?",
        ),
        _to(
            "nothing_copied",
            (_COPY_WEIGHTS, "pass"),
            (_COPY_BIASES, "pass"),
            (_COPY_OUT, "pass"),
            says="The new layer has fresh, random weights: nothing is copied.",
            asks="Do your lines change the new layer, or only names for it?",
        ),
        _to(
            "names_rebound",
            (
                _COPY_WEIGHTS,
                "weight = theirs.in_proj_weight; "
                "weight = torch.cat([layer.weight for layer in layers])",
            ),
            (
                _COPY_BIASES,
                "bias = theirs.in_proj_bias; "
                "bias = torch.cat([layer.bias for layer in layers])",
            ),
            (_COPY_OUT, "out = theirs.out_proj; out = mine.w_o"),
            like="nothing_copied",
        ),
        _to(
            "positions_first",
            (_MADE, _MADE.replace(", batch_first=True", "")),
            says="The new layer expects positions before the batch, PyTorch's old habit.",
            asks="Which argument puts the batch first?",
        ),
        _to(
            "one_head",
            (_MADE, _MADE.replace("mine.num_heads", "1")),
            says="The new layer has a single head.",
            asks="Where does the number of your heads go in?",
        ),
        _to(
            "size_of_head_for_heads",
            (_MADE, _MADE.replace("mine.num_heads", "d_model // mine.num_heads")),
            says="The new layer has `d_k` heads: their number and their size have changed "
            "places.",
            asks="What is the second argument of `nn.MultiheadAttention`?",
        ),
        _to(
            "output_tied",
            (_COPY_OUT, "theirs.out_proj = mine.w_o"),
            says="`out_proj` *is* your `w_o`, not a copy: training one layer changes the other.",
            asks="Does `=` copy a layer, or give it a second name?",
        ),
        _to(
            "output_weight_tied",
            (
                _COPY_OUT,
                "theirs.out_proj.weight.data = mine.w_o.weight.data; "
                "theirs.out_proj.bias.copy_(mine.w_o.bias)",
            ),
            says="`out_proj.weight` shares its memory with your `w_o.weight`: training one layer "
            "changes the other.",
            asks="Does `.data = ...` copy numbers, or point to them?",
        ),
        _to(
            "output_memory_tied",
            (
                _COPY_OUT,
                "theirs.out_proj.weight = nn.Parameter(mine.w_o.weight); "
                "theirs.out_proj.bias = nn.Parameter(mine.w_o.bias)",
            ),
            like="output_tied",
        ),
        _to(
            "wrong_direction",
            (
                _COPY_WEIGHTS,
                "[layer.weight.copy_(part) for layer, part in "
                "zip(layers, theirs.in_proj_weight.chunk(3))]",
            ),
            (
                _COPY_BIASES,
                "[layer.bias.copy_(part) for layer, part in "
                "zip(layers, theirs.in_proj_bias.chunk(3))]",
            ),
            (_COPY_OUT, "mine.w_o.load_state_dict(theirs.out_proj.state_dict())"),
            says="The copy runs in the wrong direction: *your* layer has changed.",
            asks="In `a.copy_(b)`, which of the two is written to?",
        ),
        _to(
            "gradients_recorded",
            ("with torch.no_grad():", "if True:"),
            says="PyTorch refuses to write into a parameter while it records gradients.",
            asks="How do you tell PyTorch that copying is nothing to differentiate?",
        ),
        _to(
            "a_state_dict",
            ("return theirs", "return theirs.state_dict()"),
            says="The weights came back; the layer itself is asked for.",
            asks="What is the type after the arrow in the function's first line?",
        ),
        _to(
            "nothing_returned",
            ("return theirs", "pass"),
            says="Nothing came back.",
            asks="Is there a `return` in your function?",
        ),
    ),
    right=(
        Right(
            "slices",
            source="""
def to_pytorch(mine):
    d = mine.w_q.weight.shape[0]
    theirs = nn.MultiheadAttention(d, mine.num_heads, dropout=0.0, batch_first=True)
    with torch.no_grad():
        theirs.in_proj_weight[:d] = mine.w_q.weight
        theirs.in_proj_weight[d : 2 * d] = mine.w_k.weight
        theirs.in_proj_weight[2 * d :] = mine.w_v.weight
        theirs.in_proj_bias[:d] = mine.w_q.bias
        theirs.in_proj_bias[d : 2 * d] = mine.w_k.bias
        theirs.in_proj_bias[2 * d :] = mine.w_v.bias
        theirs.out_proj.weight.copy_(mine.w_o.weight)
        theirs.out_proj.bias.copy_(mine.w_o.bias)
    return theirs
""",
        ),
        Right(
            "load_state_dict",
            source="""
def to_pytorch(mine):
    theirs = nn.MultiheadAttention(
        mine.w_o.in_features, num_heads=mine.num_heads, batch_first=True)
    theirs.load_state_dict({
        "in_proj_weight": torch.cat((mine.w_q.weight, mine.w_k.weight, mine.w_v.weight)),
        "in_proj_bias": torch.cat((mine.w_q.bias, mine.w_k.bias, mine.w_v.bias)),
        "out_proj.weight": mine.w_o.weight,
        "out_proj.bias": mine.w_o.bias,
    })
    return theirs
""",
        ),
        Right(
            "data_and_clone",
            source="""
def to_pytorch(mine):
    theirs = nn.MultiheadAttention(len(mine.w_o.bias), mine.num_heads, batch_first=True)
    qkv = [mine.w_q, mine.w_k, mine.w_v]
    theirs.in_proj_weight.data = torch.vstack([l.weight.data for l in qkv])
    theirs.in_proj_bias.data = torch.hstack([l.bias.data for l in qkv])
    theirs.out_proj.weight.data = mine.w_o.weight.data.clone()
    theirs.out_proj.bias.data = mine.w_o.bias.data.clone()
    return theirs
""",
        ),
        Right(
            "new_parameters",
            source="""
import copy

def to_pytorch(mine):
    d = mine.w_q.in_features
    theirs = nn.MultiheadAttention(d, mine.num_heads, batch_first=True).eval()
    layers = mine.w_q, mine.w_k, mine.w_v
    theirs.in_proj_weight = nn.Parameter(torch.cat([l.weight for l in layers]).detach())
    theirs.in_proj_bias = nn.Parameter(torch.cat([l.bias for l in layers]).detach())
    theirs.out_proj.weight = nn.Parameter(mine.w_o.weight.detach().clone())
    theirs.out_proj.bias = copy.deepcopy(mine.w_o.bias)
    return theirs
""",
        ),
    ),
)

# --- 3.9 from PyTorch -----------------------------------------------------------------

_CHUNK_W = "weights = theirs.in_proj_weight.chunk(3)"
_CHUNK_B = "biases = theirs.in_proj_bias.chunk(3)"
_STATE = 'state |= {f"w_{name}.weight": weight, f"w_{name}.bias": bias}'
_OUT_WEIGHT = '"w_o.weight": theirs.out_proj.weight,'
_OUT_BIAS = '"w_o.bias": theirs.out_proj.bias,'


def _from(name: str, *edits: tuple[str, str], says="", asks="", like="") -> Wrong:
    return Wrong(name, says, asks, edits=edits, like=like)


FROM_PYTORCH = Task(
    name="multi_head_attention/from_pytorch",
    title="From PyTorch",
    target="from_pytorch",
    settings=(
        Setting(
            "plain",
            "12 features, three heads",
            _from_pytorch(12, 3),
            "Which rows of `in_proj_weight` are the keys'?",
        ),
        Setting(
            "others",
            "10 features, two heads",
            _from_pytorch(10, 2),
            "Take all sizes from the tensors.",
        ),
        Setting(
            "odd",
            "an odd number of features",
            _from_pytorch(7, 1),
            "Take all sizes from the tensors.",
            hidden_only=True,
        ),
    ),
    wrong=(
        *(
            _from(
                f"order_{order}",
                ('zip("qkv"', f'zip("{order}"'),
                says=f"You read `in_proj_weight` as {', '.join(order)}, from top to bottom.",
                asks="In which order does PyTorch store queries, keys and values?",
            )
            for order in ("kqv", "vkq", "qvk", "kvq", "vqk")
        ),
        _from(
            "transposed",
            (_STATE, _STATE.replace("weight,", "weight.T,")),
            says="The weights were transposed on the way.",
            asks="Do `nn.Linear` and `in_proj_weight` store outputs and inputs in the same order?",
        ),
        _from(
            "output_transposed",
            (_OUT_WEIGHT, _OUT_WEIGHT.replace("weight,", "weight.T,")),
            says="The weight of `w_o` was transposed on the way.",
            asks="Is `out_proj` not simply an `nn.Linear`, too?",
        ),
        _from(
            "all_transposed",
            (_STATE, _STATE.replace("weight,", "weight.T,")),
            (_OUT_WEIGHT, _OUT_WEIGHT.replace("weight,", "weight.T,")),
            says="All weights were transposed on the way.",
            asks="In which order does `nn.Linear` store outputs and inputs?",
        ),
        _from(
            "every_third_row",
            (_CHUNK_W, "weights = [theirs.in_proj_weight[i::3] for i in range(3)]"),
            (_CHUNK_B, "biases = [theirs.in_proj_bias[i::3] for i in range(3)]"),
            says="You took every third row; q, k and v stand block by block.",
            asks="Which rows of `in_proj_weight` are PyTorch's keys?",
        ),
        _from(
            "cut_along_inputs",
            (_CHUNK_W, "weights = theirs.in_proj_weight.chunk(3, dim=1)"),
            says="You cut `in_proj_weight` along its inputs, not along its outputs.",
            asks="Which of the two dimensions is three times as large?",
        ),
        _from(
            "cut_along_inputs_of_transposed",
            (_CHUNK_W, "weights = theirs.in_proj_weight.T.chunk(3, dim=1)"),
            like="transposed",
        ),
        _from(
            "output_forgotten",
            (_OUT_WEIGHT, ""),
            (_OUT_BIAS, ""),
            says="`w_o` is missing.",
            asks="What is PyTorch's name for the last layer?",
        ),
        _from(
            "output_bias_forgotten",
            (_OUT_BIAS, ""),
            says="`w_o.bias` is missing.",
            asks="Which two tensors does an `nn.Linear` hold?",
        ),
        _from(
            "biases_forgotten",
            (_STATE, 'state |= {f"w_{name}.weight": weight}'),
            says="The biases of q, k and v are missing.",
            asks="What is in `in_proj_bias`?",
        ),
        _from(
            "all_biases_forgotten",
            (_STATE, 'state |= {f"w_{name}.weight": weight}'),
            (_OUT_BIAS, ""),
            says="All biases are missing.",
            asks="Which two tensors does an `nn.Linear` hold?",
        ),
        _from(
            "biases_uncut",
            (_CHUNK_B, "biases = [theirs.in_proj_bias] * 3"),
            says="Each layer got the whole `in_proj_bias`.",
            asks="How many numbers does the bias of `w_q` hold?",
        ),
        _from(
            "biases_zero",
            (_STATE, _STATE.replace(": bias", ": torch.zeros_like(bias)")),
            says="The biases of q, k and v are zero.",
            asks="What is in `in_proj_bias`?",
        ),
        _from(
            "same_weight_everywhere",
            (
                _STATE,
                _STATE.replace(": weight", ": weights[0]").replace(
                    ": bias", ": biases[0]"
                ),
            ),
            says="q, k and v all got the first third.",
            asks="Does the variable of your loop appear inside the loop?",
        ),
        _from(
            "one_head_only",
            (_CHUNK_W, "weights = theirs.in_proj_weight.split(theirs.head_dim)[:3]"),
            (_CHUNK_B, "biases = theirs.in_proj_bias.split(theirs.head_dim)[:3]"),
            says="You cut pieces of one head's size.",
            asks="How many rows has the weight of `w_q`, for all heads together?",
        ),
        _from(
            "output_from_inputs",
            (_OUT_WEIGHT, '"w_o.weight": theirs.in_proj_weight[-theirs.embed_dim:],'),
            says="`w_o` got rows of `in_proj_weight`.",
            asks="In which part of PyTorch's layer is the last projection?",
        ),
        _from(
            "names_of_pytorch",
            ("return state", "return dict(theirs.state_dict())"),
            says="The tensors still have PyTorch's names and shape; nothing is cut.",
            asks="Which keys does the `state_dict` of your own layer have?",
        ),
        _from(
            "names_without_kind",
            (_STATE, 'state |= {f"w_{name}": weight}'),
            says="The names lack the kind: `load_state_dict` looks for `w_q.weight` and "
            "`w_q.bias`.",
            asks="Which keys does `nn.Linear(2, 3).state_dict()` have?",
        ),
        _from(
            "names_with_underscore",
            (_STATE, 'state |= {f"w_{name}_weight": weight, f"w_{name}_bias": bias}'),
            says="In the names, layer and kind are joined by another sign than a point.",
            asks="Which keys does the `state_dict` of your own layer have?",
        ),
        _from(
            "nothing_returned",
            ("return state", "pass"),
            says="Nothing came back.",
            asks="Is there a `return` in your function, and is it outside the loop?",
        ),
        _from(
            "returned_too_early",
            (_STATE, _STATE + "\n        break"),
            says="Keys and values are missing; the `return` may stand inside the loop.",
            asks="How far is your `return` indented?",
        ),
        _from(
            "a_list",
            ("return state", "return list(state.values())"),
            says="A list came back. A dict with names is asked for.",
            asks="How would `load_state_dict` know which tensor is which?",
        ),
        _from(
            "a_module",
            ("return state", "return nn.Linear(1, 1)"),
            says="A layer came back; a dict of tensors is asked for.",
            asks="What is the type after the arrow in the function's first line?",
        ),
        _from(
            "theirs_changed",
            (
                "return state",
                "state = {n: v.detach().clone() for n, v in state.items()}\n"
                "    theirs.out_proj.weight.data.zero_()\n    return state",
            ),
            says="The result is right, but PyTorch's layer has changed.",
            asks="Which of your lines writes into a tensor that belongs to somebody else?",
        ),
    ),
    right=(
        Right(
            "slices",
            source="""
def from_pytorch(theirs):
    d = theirs.embed_dim
    w, b = theirs.in_proj_weight, theirs.in_proj_bias
    return {
        "w_q.weight": w[:d], "w_k.weight": w[d : 2 * d], "w_v.weight": w[2 * d :],
        "w_q.bias": b[:d], "w_k.bias": b[d : 2 * d], "w_v.bias": b[2 * d :],
        "w_o.weight": theirs.out_proj.weight, "w_o.bias": theirs.out_proj.bias,
    }
""",
        ),
        Right(
            "copies_from_state_dict",
            source="""
def from_pytorch(theirs):
    old = theirs.state_dict()
    new = {}
    for kind in ("weight", "bias"):
        q, k, v = torch.tensor_split(old["in_proj_" + kind].clone(), 3)
        new.update({f"w_q.{kind}": q, f"w_k.{kind}": k, f"w_v.{kind}": v})
        new["w_o." + kind] = old["out_proj." + kind].clone()
    return new
""",
        ),
        Right(
            "through_a_module",
            source="""
def from_pytorch(theirs):
    d = theirs.out_proj.in_features
    mine = MultiHeadAttention(d, theirs.num_heads)
    with torch.no_grad():
        for i, layer in enumerate((mine.w_q, mine.w_k, mine.w_v)):
            layer.weight.copy_(theirs.in_proj_weight.view(3, d, d)[i])
            layer.bias.copy_(theirs.in_proj_bias.view(3, d)[i])
    mine.w_o.load_state_dict(theirs.out_proj.state_dict())
    return mine.state_dict()
""",
        ),
        Right(
            "unbind",
            source="""
def from_pytorch(theirs):
    d = theirs.in_proj_weight.shape[1]
    ws = theirs.in_proj_weight.detach().reshape(3, d, d).unbind()
    bs = theirs.in_proj_bias.detach().split(d)
    names = ["w_q", "w_k", "w_v", "w_o"]
    ws = [*ws, theirs.out_proj.weight.detach()]
    bs = [*bs, theirs.out_proj.bias.detach()]
    return ({f"{n}.weight": w for n, w in zip(names, ws)}
            | {f"{n}.bias": b for n, b in zip(names, bs)})
""",
        ),
    ),
)

# --- 3.10 a mask for PyTorch ----------------------------------------------------------

_TURN = "return (~mask).expand(size).flatten(0, 1)"


def _turn(
    name: str, code: str, says: str = "", asks: str = "", like: str = ""
) -> Wrong:
    return Wrong(name, says, asks, edits=((_TURN, code),), like=like)


PYTORCH_MASK = Task(
    name="multi_head_attention/pytorch_mask",
    title="A mask for PyTorch",
    target="pytorch_mask",
    settings=(
        Setting(
            "padding",
            "a padding mask (B, 1, 1, Lk)",
            _mask_for_pytorch(2, 3, 4, 5, mask=(2, 1, 1, 5)),
            "Whose mask stands at entry 1: head 1 of sentence 0, or head 0 of sentence 1?",
        ),
        Setting(
            "full",
            "a mask for each head (B, h, Lq, Lk)",
            _mask_for_pytorch(3, 2, 5, 4, mask=(3, 2, 5, 4)),
            "Whose mask stands at entry 1: head 1 of sentence 0, or head 0 of sentence 1?",
        ),
        Setting(
            "queries_and_keys",
            "a mask (1, 1, Lq, Lk)",
            _mask_for_pytorch(2, 4, 3, 6, mask=(1, 1, 3, 6)),
            "What does True mean on the other side?",
        ),
        Setting(
            "as_many_sentences_as_heads",
            "as many sentences as heads",
            _mask_for_pytorch(3, 3, 2, 5, mask=(3, 1, 2, 5)),
            "Whose mask stands at entry 1: head 1 of sentence 0, or head 0 of sentence 1?",
            hidden_only=True,
        ),
    ),
    wrong=(
        _turn(
            "not_turned",
            "return mask.expand(size).flatten(0, 1)",
            "The mask has kept our meaning. PyTorch's layer will attend to all that it should not.",
            "What does `True` mean for `nn.MultiheadAttention`?",
        ),
        _turn(
            "turned_twice",
            "return (~~mask).expand(size).flatten(0, 1)",
            like="not_turned",
        ),
        _turn(
            "heads_slow",
            "return (~mask).expand(size).transpose(0, 1).flatten(0, 1)",
            "The heads change slowly and the sentences quickly; PyTorch wants it the other way "
            "round.",
            "Whose mask stands at entry 1: head 1 of sentence 0, or head 0 of sentence 1?",
        ),
        _turn(
            "repeated_as_a_whole",
            "return torch.cat([(~mask).expand(size)[:, i] for i in range(size[1])])",
            like="heads_slow",
        ),
        _turn(
            "heads_slow_not_turned",
            "return mask.expand(size).transpose(0, 1).flatten(0, 1)",
            "The mask has kept our meaning, and its heads change slowly where they should change "
            "quickly.",
            "What does `True` mean for `nn.MultiheadAttention`, and whose mask is entry 1?",
        ),
        _turn(
            "additive",
            "return torch.zeros(size).masked_fill(~mask, float('-inf')).flatten(0, 1)",
            "You made a mask of numbers to be added. PyTorch takes this, too, but a boolean mask "
            "is asked for.",
            "Which type has a mask that says only yes or no?",
        ),
        _turn(
            "additive_large",
            "return torch.zeros(size).masked_fill(~mask, -1e9).flatten(0, 1)",
            "You made a mask of large numbers to be added; a boolean mask is asked for.",
            "Which type has a mask that says only yes or no?",
        ),
        _turn(
            "zeros_and_ones",
            "return (1 - mask.int()).expand(size).flatten(0, 1)",
            "The mask holds whole numbers; PyTorch's layer wants booleans.",
            "Which operator turns a boolean tensor around and leaves it boolean?",
        ),
        _turn(
            "zeros_and_ones_as_floats",
            "return (1 - mask.float()).expand(size).flatten(0, 1)",
            "The mask holds the numbers 0 and 1. PyTorch's layer would *add* them to the scores: it "
            "runs, and hides nothing.",
            "What does PyTorch do with a mask of floating-point numbers?",
        ),
        _turn(
            "minus_a_boolean",
            "return (1 - mask).expand(size).flatten(0, 1)",
            "PyTorch refuses to subtract booleans.",
            "Which operator turns a boolean tensor around?",
        ),
        _turn(
            "four_dimensions",
            "return (~mask).expand(size)",
            "The mask still has four dimensions.",
            "Into which one dimension does PyTorch want batch and heads?",
        ),
        _turn(
            "not_expanded",
            "return (~mask).flatten(0, 1)",
            "The mask still has its sizes of 1; `attn_mask` is not broadcast over sentences and "
            "heads.",
            "How many entries must the first dimension have?",
        ),
        _turn(
            "batch_only",
            "return (~mask).expand(size)[:, 0]",
            "There is one mask for each sentence; PyTorch wants one for each head of each "
            "sentence.",
            "How many entries must the first dimension have?",
        ),
        _turn(
            "first_sentence_only",
            "return (~mask)[:1].expand(size).flatten(0, 1)",
            "All sentences got the mask of the first one.",
            "Does an index `0` or `[:1]` stand in your code where it should not?",
        ),
        _turn(
            "first_head_only",
            "return (~mask)[:, :1].expand(size).flatten(0, 1)",
            "All heads got the mask of head 0.",
            "What if the mask says something else for each head?",
        ),
        _turn(
            "first_query_only",
            "return (~mask)[:, :, :1].expand(size).flatten(0, 1)",
            "All queries got the mask of the first one.",
            "What if the mask says something else for each query?",
        ),
        _turn(
            "heads_joined",
            "return (~mask).any(1, keepdim=True).expand(size).flatten(0, 1)",
            "The masks of the heads were joined to one.",
            "What if the mask says something else for each head?",
        ),
        _turn(
            "queries_and_keys_swapped",
            "return (~mask).expand(size).flatten(0, 1).transpose(1, 2)",
            "Queries and keys have changed places.",
            "What are the rows of a mask, and what are its columns?",
        ),
        _turn(
            "sizes_misread",
            "b, h, lq, lk = size; return (~mask).expand(size).reshape(b * h, lk, lq)",
            like="queries_and_keys_swapped",
        ),
        _turn(
            "turned_in_place",
            "return mask.logical_not_().expand(size).flatten(0, 1)",
            "The result is right, but the caller's own mask was turned around, too.",
            "What does the underscore at the end of a method's name mean?",
        ),
        _turn(
            "nothing_hidden",
            "return torch.zeros(size, dtype=torch.bool).flatten(0, 1)",
            "The new mask hides nothing at all.",
            "Where does the given mask enter your answer?",
        ),
    ),
    right=(
        Right(
            "expand_first", edits=((_TURN, "return ~mask.expand(*size).flatten(0, 1)"),)
        ),
        Right(
            "repeat_interleave",
            source="""
def pytorch_mask(mask, size):
    b, h, lq, lk = size
    if mask.size(1) == 1:
        m = mask[:, 0].expand(b, lq, lk).repeat_interleave(h, dim=0)
    else:
        m = mask.expand(b, h, lq, lk).reshape(b * h, lq, lk)
    return m.logical_not()
""",
        ),
        Right(
            "loops",
            source="""
def pytorch_mask(mask, size):
    full = torch.broadcast_to(mask, size)
    rows = []
    for sentence in full:
        for head in sentence:
            rows.append(head == False)
    return torch.stack(rows)
""",
        ),
        Right(
            "or_with_zeros",
            source="""
def pytorch_mask(mask, size):
    blocked = torch.zeros(size, dtype=torch.bool) | ~mask
    return blocked.view(-1, *size[2:])
""",
        ),
        Right(
            "xor_and_filled",
            source="""
def pytorch_mask(mask, size):
    b, h, lq, lk = size
    out = torch.ones(b * h, lq, lk).bool()
    full = mask.expand(size)
    for i in range(b):
        for j in range(h):
            out[i * h + j] = out[i * h + j] ^ full[i, j]
    return out
""",
        ),
    ),
)

TASKS = (
    LIST_OF_HEADS,
    SPLIT_HEADS,
    MERGE_HEADS,
    PACK_HEADS,
    MASK_FOR_HEADS,
    MULTI_HEAD_ATTENTION,
    PARAMETER_COUNT,
    TO_PYTORCH,
    FROM_PYTORCH,
    PYTORCH_MASK,
)
