"""Cases, wrong variants and right styles of unit 04, encoder and decoder.

All sizes in one setting differ. Sentences of a batch differ, and so does their padding:
equal ones let wrong axes pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from autograder.bank.vocabulary import Draw, Right, Setting, Task, Wrong
from autograder.student.exercise import Value

Inputs = dict[str, Value]
Shapes = dict[str, tuple[int, ...]]


# --- inputs ---------------------------------------------------------------------------


def _linear(name: str, rows: int, columns: int) -> Shapes:
    return {f"{name}.weight": (rows, columns), f"{name}.bias": (rows,)}


def _norm(name: str, size: int) -> Shapes:
    return {f"{name}.weight": (size,), f"{name}.bias": (size,)}


def _attention(name: str, size: int) -> Shapes:
    shapes: Shapes = {}
    for letter in "qkvo":
        shapes |= _linear(f"{name}.w_{letter}", size, size)
    return shapes


def _feed_forward(name: str, size: int, hidden: int) -> Shapes:
    return _linear(f"{name}linear1", hidden, size) | _linear(
        f"{name}linear2", size, hidden
    )


def _layer(prefix: str, attentions: Sequence[str], size: int, hidden: int) -> Shapes:
    shapes: Shapes = {}
    for name in attentions:
        shapes |= _attention(f"{prefix}{name}", size)
    shapes |= _feed_forward(f"{prefix}feed_forward.", size, hidden)
    for number in range(1, len(attentions) + 2):
        shapes |= _norm(f"{prefix}norm{number}", size)
    return shapes


ENCODER, DECODER = ("attention",), ("self_attention", "cross_attention")


def _stack(prefix: str, kind: Sequence[str], depth: int, size: int, hidden: int,
           norm: bool) -> Shapes:  # fmt: skip
    shapes: Shapes = {}
    for index in range(depth):
        shapes |= _layer(f"{prefix}layers.{index}.", kind, size, hidden)
    return shapes | (_norm(f"{prefix}norm", size) if norm else {})


def _weights(draw: Draw, shapes: Shapes) -> Inputs:
    """Small weights, so that no softmax is so sure that a change moves nothing.

    No weight of a norm is zero, or a feature would not count.
    """
    made = draw.weights(**shapes)
    for name, weight in made.items():
        if "norm" in name:
            made[name] = weight + 0.75 * (weight >= 0) - 0.75 * (weight < 0)
        else:
            made[name] = weight / 2
    return made


def _network(*lead: int, d_model: int, d_ff: int, activation: str = "",
             rate: float | None = None, pull: bool = False):  # fmt: skip
    def inputs(draw: Draw) -> Inputs:
        made: Inputs = {"x": draw.tensor(*lead, d_model)}
        made |= draw.weights(**_feed_forward("", d_model, d_ff))
        made |= {"activation": activation} if activation else {}
        made |= {"rate": torch.tensor(rate)} if rate is not None else {}
        return made | ({"pull": draw.tensor(*lead, d_model)} if pull else {})

    return inputs


def _branch(batch: int, length: int, size: int, norm_first: bool, pull: bool = False):
    def inputs(draw: Draw) -> Inputs:
        made: Inputs = {
            "x": draw.tensor(batch, length, size),
            "table": draw.tensor(length, length, scale=1.0),
            "norm_first": torch.tensor(norm_first),
        }
        made |= draw.weights(**_norm("", size))
        made = {k.replace("weights..", "weights."): v for k, v in made.items()}
        return made | ({"pull": draw.tensor(batch, length, size)} if pull else {})

    return inputs


def _causal(length: int) -> torch.Tensor:
    return torch.ones(length, length, dtype=torch.bool).tril()


def _keep(draw: Draw, batch: int, length: int) -> torch.Tensor:
    """(B, L): each sentence keeps its first places, each one another number of them."""
    lengths = length - (torch.arange(batch) + int(draw.ids(0, batch))) % batch
    return torch.arange(length) < lengths.clamp(min=1)[:, None]


def _mask(draw: Draw, kind: str, batch: int, lq: int, lk: int) -> torch.Tensor:
    keep = _keep(draw, batch, lk)
    masks: dict[str, Callable[[], torch.Tensor]] = {
        "causal": lambda: _causal(lq),
        "padding": lambda: keep[:, None],
        "padding, 4-D": lambda: keep[:, None, None],
        "both": lambda: keep[:, None] & _causal(lq),
    }
    return masks[kind]()


def _layer_inputs(
    kind: Sequence[str], batch: int, lt: int, d_model: int, heads: int, d_ff: int,
    ls: int = 0, norm_first: bool | None = None, activation: str = "relu",
    rate: float | None = None, masks: dict[str, str] | None = None, pull: bool = False,
):  # fmt: skip
    def inputs(draw: Draw) -> Inputs:
        made: Inputs = {"x": draw.tensor(batch, lt, d_model)}
        made |= {"memory": draw.tensor(batch, ls, d_model)} if ls else {}
        made |= _weights(draw, _layer("", kind, d_model, d_ff))
        made["num_heads"] = torch.tensor(heads)
        if norm_first is not None:
            made |= {"norm_first": torch.tensor(norm_first), "activation": activation}
        made |= {"rate": torch.tensor(rate)} if rate is not None else {}
        for name, what in (masks or {}).items():
            keys = ls if name == "memory_mask" else lt
            made[name] = _mask(draw, what, batch, lt, keys)
        return made | ({"pull": draw.tensor(batch, lt, d_model)} if pull else {})

    return inputs


def _stack_inputs(
    depth: int, batch: int, lt: int, size: int, ls: int = 0, norm: bool = False,
    masks: dict[str, str] | None = None, pull: bool = False,
):  # fmt: skip
    def inputs(draw: Draw) -> Inputs:
        made: Inputs = {"x": draw.tensor(batch, lt, size, scale=1.0)}
        made |= {"memory": draw.tensor(batch, ls, size, scale=1.0)} if ls else {}
        shapes: Shapes = {f"layers.{i}.matrix": (size, size) for i in range(depth)}
        made |= draw.weights(**shapes | (_norm("norm", size) if norm else {}))
        for name, what in (masks or {}).items():
            keys = ls if name == "memory_mask" else lt
            made[name] = _mask(draw, what, batch, lt, keys)
        return made | ({"pull": draw.tensor(batch, lt, size)} if pull else {})

    return inputs


def _ids(draw: Draw, batch: int, length: int, vocab: int, pad_id: int) -> torch.Tensor:
    """Ids of sentences with different numbers of padding at the end."""
    real = (pad_id + draw.ids(1, vocab, batch, length)) % vocab  # anything but pad_id
    return torch.where(_keep(draw, batch, length), real, pad_id)


def _two_languages(batch: int, ls: int, lt: int, pad_id: int | None):
    def inputs(draw: Draw) -> Inputs:
        made: Inputs = {
            "src": _ids(draw, batch, ls, 19, pad_id or 0),
            "tgt": _ids(draw, batch, lt, 17, pad_id or 0),
        }
        return made | ({} if pad_id is None else {"pad_id": torch.tensor(pad_id)})

    return inputs


def _model_inputs(
    src_vocab: int, tgt_vocab: int, d_model: int, heads: int, depth: int, d_ff: int,
    batch: int, ls: int, lt: int, norm_first: bool = False, activation: str = "relu",
    shared: bool = False, pad_id: int = 0, pull: bool = False, second: bool = False,
    max_len: int = 0,
):  # fmt: skip
    def inputs(draw: Draw) -> Inputs:
        options = {
            "src_vocab": src_vocab, "tgt_vocab": tgt_vocab, "d_model": d_model,
            "num_heads": heads, "num_layers": depth, "d_ff": d_ff,
        }  # fmt: skip
        options |= {"norm_first": True, "activation": activation} if norm_first else {}
        options |= {"shared_embedding": True} if shared else {}
        options |= {"pad_id": pad_id} if pad_id else {}
        options |= {"max_len": max_len} if max_len else {}
        shapes: Shapes = {"source.embedding.weight": (src_vocab, d_model)}
        if not shared:
            shapes["target.embedding.weight"] = (tgt_vocab, d_model)
            shapes["output.weight"] = (tgt_vocab, d_model)
        shapes |= {"output.bias": (tgt_vocab,)}
        shapes |= _stack("encoder.", ENCODER, depth, d_model, d_ff, norm_first)
        shapes |= _stack("decoder.", DECODER, depth, d_model, d_ff, norm_first)
        made = _as_options(options) | _weights(draw, shapes)
        made["src"] = _ids(draw, batch, ls, src_vocab, pad_id)
        made["tgt"] = _ids(draw, batch, lt, tgt_vocab, pad_id)
        if second:
            made["second src"] = _ids(draw, batch + 1, ls - 1, src_vocab, pad_id)
            made["second tgt"] = _ids(draw, batch + 1, lt + 1, tgt_vocab, pad_id)
        if pull:
            made["pull"] = draw.tensor(batch, lt, tgt_vocab, scale=0.5)
        return made

    return inputs


def _as_options(options: dict) -> Inputs:
    return {
        f"option.{name}": value if isinstance(value, str) else torch.tensor(value)
        for name, value in options.items()
    }


def _language_model_inputs(
    vocab: int, d_model: int, heads: int, depth: int, d_ff: int, causal: bool,
    batch: int, length: int, norm_first: bool = True, activation: str = "gelu",
    pad_id: int = 0, second: bool = False,
):  # fmt: skip
    def inputs(draw: Draw) -> Inputs:
        options = {
            "vocab": vocab, "d_model": d_model, "num_heads": heads,
            "num_layers": depth, "d_ff": d_ff, "causal": causal,
        }  # fmt: skip
        if not norm_first:
            options |= {"norm_first": False, "activation": activation}
        options |= {"pad_id": pad_id} if pad_id else {}
        shapes: Shapes = {"input.embedding.weight": (vocab, d_model)}
        shapes |= _stack("encoder.", ENCODER, depth, d_model, d_ff, norm_first)
        shapes |= _linear("output", vocab, d_model)
        made = _as_options(options) | _weights(draw, shapes)
        made["ids"] = _ids(draw, batch, length, vocab, pad_id)
        if second:
            made["second ids"] = _ids(draw, batch + 1, length + 2, vocab, pad_id)
        return made

    return inputs


def _state(shapes: Shapes):
    def inputs(draw: Draw) -> Inputs:
        return {f"state.{name}": draw.tensor(*shape) for name, shape in shapes.items()}

    return inputs


def _hidden(batch: int, length: int, *special: int):
    """``special``: mask_id, then pad_id and ignore if they are given."""

    def inputs(draw: Draw) -> Inputs:
        pad_id = special[1] if len(special) > 1 else 0
        keep = _keep(draw, batch, length)
        ids = torch.where(keep, 30 + draw.ids(0, 40, batch, length), pad_id)
        chosen = draw.flags(batch, length, chance=0.4)
        # Each of the four kinds of places occurs, whatever is drawn.
        chosen[:, 0] = torch.arange(batch) % 2 == 0
        chosen[:, -1] |= ~keep[:, -1]
        return {"ids": ids, "chosen": chosen, "special": torch.tensor(special)}

    return inputs


def _sentences(batch: int, length: int, *special: int):
    """Rows of BOS (1), words, EOS (2) and padding; ``special``: pad_id and ignore."""

    def inputs(draw: Draw) -> Inputs:
        pad_id = special[0] if special else 0
        keep = _keep(draw, batch, length)
        ids = torch.where(keep, 10 + draw.ids(0, 40, batch, length), pad_id)
        ids[:, 0] = 1
        ids[torch.arange(batch), keep.sum(1) - 1] = 2
        return {"ids": ids, "special": torch.tensor(special, dtype=torch.int64)}

    return inputs


def _patients(other: str, right: str = "post relu"):
    """A right decoder layer and another one; sizes and weights vary with the draw."""

    def inputs(draw: Draw) -> Inputs:
        heads = 2 + int(draw.ids(0, 2))
        sizes = [heads * (3 + int(draw.ids(0, 2))), heads, 13 + int(draw.ids(0, 4))]
        return {
            "right": right, "other": other, "sizes": torch.tensor(sizes),
            "seed": draw.ids(0, 10**6, 1)[0],
        }  # fmt: skip

    return inputs


# --- 4.1 feed-forward -----------------------------------------------------------------

FEED_FORWARD = Task(
    name="encoder_decoder/feed_forward",
    title="The position-wise feed-forward network",
    target="FeedForward",
    settings=(
        Setting(
            "relu", "ReLU, 3 sentences of 4 positions",
            _network(3, 4, d_model=5, d_ff=7, pull=True),
            "Widen, bend, narrow: does each step happen once, and in this order?",
        ),
        Setting(
            "gelu", "GELU, where one is asked for",
            _network(2, 3, d_model=6, d_ff=4, activation="gelu", pull=True),
            "Does your code look at `activation`?",
        ),
        Setting(
            "dropout", "everything dropped in training, nothing in eval mode",
            _network(2, 5, d_model=4, d_ff=6, rate=1.0),
            "Where does dropout stand, and does it know whether the module trains?",
        ),
        Setting(
            "heads", "more leading dimensions",
            _network(2, 3, 4, d_model=6, d_ff=9, activation="relu"),
            "Does your code count dimensions from the end?", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "no_activation",
            says="There is no activation between the two linear layers, so together they "
            "are one linear layer.",
            asks="What can two matrices in a row do that one cannot?",
            edits=(("self.activation(self.linear1(x))", "self.linear1(x)"),),
        ),
        Wrong(
            "always_relu",
            says="Your network uses ReLU whatever `activation` says.",
            asks="Where in your code does the word `activation` decide something?",
            edits=(('{"relu": F.relu, "gelu": F.gelu}[activation]', "F.relu"),),
        ),
        Wrong(
            "always_gelu",
            says="Your network uses GELU where ReLU was asked for (and is the default).",
            asks="What does your code do with `activation`?",
            edits=(('{"relu": F.relu, "gelu": F.gelu}[activation]', "F.gelu"),),
        ),
        Wrong(
            "swapped_activations",
            says="ReLU and GELU have changed places.",
            asks="Which of the two gets `\"gelu\"`?",
            edits=(('"relu": F.relu, "gelu": F.gelu', '"relu": F.gelu, "gelu": F.relu'),),
        ),
        Wrong(
            "tanh_gelu",
            says="Your GELU is the approximation with tanh. It is close, but the exact one "
            "was asked for.",
            asks="Which argument of PyTorch's GELU chooses between the two?",
            edits=(('"gelu": F.gelu', '"gelu": nn.GELU(approximate="tanh")'),),
        ),
        Wrong(
            "activation_last",
            says="The activation comes after the second layer, so no output can be "
            "negative, and nothing bends in between.",
            asks="Between which two layers does the formula put the max?",
            edits=(
                ("self.activation(self.linear1(x))", "self.linear1(x)"),
                ("self.linear2(self.dropout(hidden))",
                 "self.activation(self.linear2(self.dropout(hidden)))"),
            ),
        ),
        Wrong(
            "activation_twice",
            says="The activation stands after both layers; after the second one there is "
            "none.",
            asks="May the result be negative?",
            edits=(
                ("self.linear2(self.dropout(hidden))",
                 "self.activation(self.linear2(self.dropout(hidden)))"),
            ),
        ),
        Wrong(
            "activation_first",
            says="The activation is applied to `x`, before the first layer.",
            asks="What is the formula's max taken of?",
            edits=(("self.activation(self.linear1(x))", "self.linear1(self.activation(x))"),),
        ),
        Wrong(
            "d_ff_ignored",
            says="The hidden vectors have size `d_model`: `d_ff` is not used.",
            asks="What are the two sizes of `linear1`?",
            edits=(
                ("nn.Linear(d_model, d_ff)", "nn.Linear(d_model, d_model)"),
                ("nn.Linear(d_ff, d_model)", "nn.Linear(d_model, d_model)"),
            ),
        ),
        Wrong(
            "sizes_swapped",
            says="`linear1` goes from `d_ff` to `d_model`: its sizes are exchanged.",
            asks="In `nn.Linear(a, b)`, which one is the size of what comes in?",
            edits=(
                ("nn.Linear(d_model, d_ff)", "nn.Linear(d_ff, d_model)"),
                ("self.linear2 = nn.Linear(d_ff, d_model)",
                 "self.linear2 = nn.Linear(d_model, d_ff)"),
            ),
        ),
        Wrong(
            "no_bias",
            says="The linear layers have no bias.",
            asks="Which letters of the formula are vectors?",
            edits=(
                ("nn.Linear(d_model, d_ff)", "nn.Linear(d_model, d_ff, bias=False)"),
                ("nn.Linear(d_ff, d_model)", "nn.Linear(d_ff, d_model, bias=False)"),
            ),
        ),
        Wrong(
            "other_names",
            says="The layers have other names than `linear1` and `linear2`.",
            asks="Which names does the docstring give?",
            source=(
                "class FeedForward(nn.Module):\n"
                "    def __init__(self, d_model, d_ff, dropout=0.0, activation='relu'):\n"
                "        super().__init__()\n"
                "        bend = {'relu': nn.ReLU(), 'gelu': nn.GELU()}[activation]\n"
                "        self.net = nn.Sequential(nn.Linear(d_model, d_ff), bend,\n"
                "            nn.Dropout(dropout), nn.Linear(d_ff, d_model))\n"
                "    def forward(self, x):\n"
                "        return self.net(x)\n"
            ),
        ),
        Wrong(
            "residual_inside",
            says="`x` is added already. The residual belongs to add & norm, which comes "
            "next.",
            asks="What does the formula of FFN add to the second product?",
            edits=(("return self.linear2", "return x + self.linear2"),),
        ),
        Wrong(
            "no_dropout",
            says="In training nothing is dropped.",
            asks="You were given a rate. Is the dropout layer used in `forward`?",
            edits=(("self.linear2(self.dropout(hidden))", "self.linear2(hidden)"),),
        ),
        Wrong(
            "dropout_discarded", like="no_dropout",
            edits=(
                ("return self.linear2(self.dropout(hidden))",
                 "self.dropout(hidden)\n        return self.linear2(hidden)"),
            ),
        ),
        Wrong(
            "dropout_last",
            says="Dropout stands after `linear2`, so it drops the bias as well. It belongs "
            "to the hidden vectors.",
            asks="With everything dropped: what would be left of the formula?",
            edits=(
                ("self.linear2(self.dropout(hidden))", "self.dropout(self.linear2(hidden))"),
            ),
        ),
        Wrong(
            "dropout_always",
            says="Dropout is active in eval mode, too.",
            asks="`F.dropout` does not know the module's mode. Who could tell it?",
            edits=(("self.dropout(hidden)", "F.dropout(hidden, self.dropout.p)"),),
        ),
        Wrong(
            "flattened",
            says="Positions are mixed: changing one moves others. Each is to be treated "
            "alone.",
            asks="Along which dimension does your code add up or average?",
            edits=(("return self.linear2", "hidden = hidden.mean(-2, True) + hidden\n"
                                           "        return self.linear2"),),
        ),
        Wrong(
            "softmax_bend",
            says="Between the layers stands a softmax, not the activation.",
            asks="Should the hidden numbers sum to one?",
            edits=(("self.activation(self.linear1(x))", "self.linear1(x).softmax(-1)"),),
        ),
        Wrong(
            "in_place",
            says="`x` is not what it was before: your code writes into it.",
            asks="Which operation ends with an underscore, or has `inplace=True`?",
            edits=(
                ("hidden = self.activation(self.linear1(x))",
                 "hidden = self.activation(self.linear1(x.mul_(1)))\n"
                 "        x.data.relu_()"),
            ),
        ),
        Wrong(
            "detached",
            says="The values are right, but no gradient flows back to `x`.",
            asks="Is there a `detach()`, `.data`, `no_grad` or numpy on the way?",
            edits=(("self.linear1(x)", "self.linear1(x.detach())"),),
        ),
        Wrong(
            "one_layer",
            says="Only the first linear layer is applied, so the result has size `d_ff`.",
            asks="What brings the vector back to `d_model`?",
            edits=(("self.linear2(self.dropout(hidden))", "self.dropout(hidden)"),),
        ),
    ),
    right=(
        Right("in_steps", source=(
            "class FeedForward(nn.Module):\n"
            "    def __init__(self, d_model, d_ff, dropout=0.0, activation='relu'):\n"
            "        super().__init__()\n"
            "        self.drop = nn.Dropout(p=dropout)\n"
            "        self.linear2 = nn.Linear(d_ff, d_model)\n"
            "        self.linear1 = nn.Linear(d_model, d_ff)\n"
            "        self.act = nn.ReLU() if activation == 'relu' else nn.GELU()\n"
            "        nn.init.xavier_uniform_(self.linear1.weight)\n"
            "    def forward(self, x):\n"
            "        x = self.linear1(x)\n"
            "        x = self.act(x)\n"
            "        x = self.drop(x)\n"
            "        x = self.linear2(x)\n"
            "        return x\n")),
        Right("own_tensor_in_place", edits=(
            ("self.activation(self.linear1(x))",
             "self.linear1(x).relu_() if self.activation is F.relu "
             "else F.gelu(self.linear1(x))"),)),
        Right("dropout_before_relu", edits=(
            ("hidden = self.activation(self.linear1(x))",
             "hidden = self.activation(self.dropout(self.linear1(x)))"),
            ("self.linear2(self.dropout(hidden))", "self.linear2(hidden)"))),
        Right("functional", edits=(
            ("hidden = self.activation(self.linear1(x))",
             "hidden = self.activation(F.linear(x, self.linear1.weight, "
             "self.linear1.bias))"),
            ("self.dropout(hidden)",
             "F.dropout(hidden, self.dropout.p, training=self.training)"))),
        Right("getattr", edits=(
            ('{"relu": F.relu, "gelu": F.gelu}[activation]', "getattr(F, activation)"),)),
        Right("flat_rows", edits=(
            ("return self.linear2(self.dropout(hidden))",
             "rows = hidden.reshape(-1, hidden.size(-1))\n"
             "        return self.linear2(self.dropout(rows)).reshape(x.shape)"),)),
    ),
)  # fmt: skip


# --- 4.2 add & norm -------------------------------------------------------------------

ADD_AND_NORM = Task(
    name="encoder_decoder/add_and_norm",
    title="Residual, norm and dropout around a sublayer",
    target="add_and_norm",
    settings=(
        Setting(
            "post", "post-norm", _branch(3, 4, 6, False, pull=True),
            "Post-norm: sublayer, dropout, sum, norm. Write the steps one a line.",
        ),
        Setting(
            "pre", "pre-norm", _branch(2, 5, 4, True, pull=True),
            "Pre-norm: the norm is the first thing in the branch, and `x` itself is added.",
        ),
        Setting(
            "long_post", "post-norm, a longer sentence", _branch(2, 7, 3, False),
            "Does it depend on the sizes?", hidden_only=True,
        ),
        Setting(
            "long_pre", "pre-norm, a longer sentence", _branch(4, 6, 5, True),
            "Does it depend on the sizes?", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "swapped",
            says="The two placements are exchanged: you do pre-norm where post-norm is "
            "asked for, and the other way round.",
            asks="`norm_first`: first before what?",
            edits=(("if norm_first:", "if not norm_first:"),),
        ),
        Wrong(
            "always_post",
            says="You do post-norm in both cases.",
            asks="Where does your code look at `norm_first`?",
            edits=(("if norm_first:", "if False:"),),
        ),
        Wrong(
            "always_pre",
            says="You do pre-norm in both cases.",
            asks="Where does your code look at `norm_first`?",
            edits=(("if norm_first:", "if True:"),),
        ),
        Wrong(
            "residual_from_normed",
            says="In pre-norm you add the *normalised* x. The road must stay free: what is "
            "added is `x` as it came.",
            asks="Did you write `x = norm(x)` and then use `x` twice?",
            edits=(
                ("return x + dropout(sublayer(norm(x)))",
                 "x = norm(x)\n        return x + dropout(sublayer(x))"),
            ),
        ),
        Wrong(
            "no_residual",
            says="Nothing is added: the sublayer's output replaces `x`.",
            asks="If the sublayer returned zero, what should come out?",
            edits=(
                ("x + dropout(sublayer(norm(x)))", "dropout(sublayer(norm(x)))"),
                ("norm(x + dropout(sublayer(x)))", "norm(dropout(sublayer(x)))"),
            ),
        ),
        Wrong(
            "no_residual_pre",
            says="In pre-norm nothing is added; post-norm is right.",
            asks="Where does the road go, in the picture of pre-norm?",
            edits=(("x + dropout(sublayer(norm(x)))", "dropout(sublayer(norm(x)))"),),
        ),
        Wrong(
            "norm_x_plus",
            says="In post-norm you normalise `x` and then add. The norm belongs around the "
            "sum.",
            asks="In the picture of post-norm, does the norm stand before or after the +?",
            edits=(
                ("norm(x + dropout(sublayer(x)))", "norm(x) + dropout(sublayer(x))"),
            ),
        ),
        Wrong(
            "norm_of_branch",
            says="In post-norm you normalise the branch and then add `x`.",
            asks="Is the road outside the norm, in the picture of post-norm?",
            edits=(
                ("norm(x + dropout(sublayer(x)))", "x + norm(dropout(sublayer(x)))"),
            ),
        ),
        Wrong(
            "norm_after_sublayer_pre",
            says="In pre-norm you normalise what the sublayer returns, not what it gets.",
            asks="What is the first thing that happens in the branch?",
            edits=(("sublayer(norm(x))", "norm(sublayer(x))"),),
        ),
        Wrong(
            "dropout_of_sum",
            says="Dropout is applied to the sum, so it cuts holes into the road.",
            asks="Which numbers may be dropped: those of `x`, or those of the branch?",
            edits=(
                ("x + dropout(sublayer(norm(x)))", "dropout(x + sublayer(norm(x)))"),
                ("norm(x + dropout(sublayer(x)))", "norm(dropout(x + sublayer(x)))"),
            ),
        ),
        Wrong(
            "dropout_of_result",
            says="Dropout comes last, after everything else.",
            asks="What is dropped, according to the formula?",
            edits=(
                ("x + dropout(sublayer(norm(x)))", "dropout(x + sublayer(norm(x)))"),
                ("norm(x + dropout(sublayer(x)))", "dropout(norm(x + sublayer(x)))"),
            ),
        ),
        Wrong(
            "dropout_of_input",
            says="Dropout is applied to what goes into the sublayer, not to what comes out.",
            asks="In the formula, which one is inside the other?",
            edits=(
                ("dropout(sublayer(norm(x)))", "sublayer(dropout(norm(x)))"),
                ("dropout(sublayer(x))", "sublayer(dropout(x))"),
            ),
        ),
        Wrong(
            "no_dropout",
            says="The dropout that you were given is not used.",
            asks="Which of the five arguments does not occur in your code?",
            edits=(
                ("dropout(sublayer(norm(x)))", "sublayer(norm(x))"),
                ("dropout(sublayer(x))", "sublayer(x)"),
            ),
        ),
        Wrong(
            "no_norm",
            says="The norm is missing.",
            asks="Which of the five arguments does not occur in your code?",
            edits=(
                ("sublayer(norm(x))", "sublayer(x)"),
                ("return norm(x + dropout(sublayer(x)))", "return x + dropout(sublayer(x))"),
            ),
        ),
        Wrong(
            "own_norm",
            says="You normalise by yourself, without the learnt scale and shift of `norm`.",
            asks="What else does `norm` hold, besides the formula?",
            edits=(
                ("sublayer(norm(x))", "sublayer(nn.functional.layer_norm(x, x.shape[-1:]))"),
                ("return norm(x + dropout(sublayer(x)))",
                 "return nn.functional.layer_norm(x + dropout(sublayer(x)), x.shape[-1:])"),
            ),
        ),
        Wrong(
            "both_norms",
            says="In pre-norm you normalise twice: before the sublayer and after the sum.",
            asks="What would stand on the road then?",
            edits=(
                ("x + dropout(sublayer(norm(x)))", "norm(x + dropout(sublayer(norm(x))))"),
            ),
        ),
        Wrong(
            "sublayer_twice",
            says="The sublayer is called twice.",
            asks="It may hold dropout of its own. Would both calls return the same then?",
            edits=(
                ("return norm(x + dropout(sublayer(x)))",
                 "sublayer(x)\n    return norm(x + dropout(sublayer(x)))"),
            ),
        ),
        Wrong(
            "in_place",
            says="`x` is not what it was before: `+=` writes into the caller's tensor.",
            asks="What is the difference between `x = x + y` and `x += y`?",
            edits=(
                ("return x + dropout(sublayer(norm(x)))",
                 "x += dropout(sublayer(norm(x)))\n        return x"),
                ("return norm(x + dropout(sublayer(x)))",
                 "x += dropout(sublayer(x))\n    return norm(x)"),
            ),
        ),
        Wrong(
            "detached_road",
            says="The values are right, but the gradient of the road is lost.",
            asks="Is there a `detach()`, `.data` or `no_grad` on the way?",
            edits=(
                ("x + dropout(sublayer(norm(x)))", "x.detach() + dropout(sublayer(norm(x)))"),
                ("norm(x + dropout(sublayer(x)))", "norm(x.detach() + dropout(sublayer(x)))"),
            ),
        ),
        Wrong(
            "minus",
            says="The branch is subtracted.",
            asks="Which sign does the residual connection have?",
            edits=(
                ("x + dropout(sublayer(norm(x)))", "x - dropout(sublayer(norm(x)))"),
                ("norm(x + dropout(sublayer(x)))", "norm(x - dropout(sublayer(x)))"),
            ),
        ),
    ),
    right=(
        Right("in_steps", source=(
            "def add_and_norm(x, sublayer, norm, dropout, norm_first):\n"
            "    branch = norm(x) if norm_first else x\n"
            "    branch = sublayer(branch)\n"
            "    branch = dropout(branch)\n"
            "    total = x + branch\n"
            "    return total if norm_first else norm(total)\n")),
        Right("torch_add", edits=(
            ("x + dropout(sublayer(norm(x)))",
             "torch.add(dropout(sublayer(norm(x))), x)"),
            ("norm(x + dropout(sublayer(x)))", "norm(dropout(sublayer(x)).add(x))"))),
        Right("residual_name", source=(
            "def add_and_norm(x, sublayer, norm, dropout, norm_first):\n"
            "    residual = x\n"
            "    if norm_first:\n"
            "        x = norm(x)\n"
            "    x = dropout(sublayer(x))\n"
            "    x = residual + x\n"
            "    if not norm_first:\n"
            "        x = norm(x)\n"
            "    return x\n")),
        Right("identity", source=(
            "def add_and_norm(x, sublayer, norm, dropout, norm_first):\n"
            "    before, after = norm, nn.Identity()\n"
            "    if not norm_first:\n"
            "        before, after = after, before\n"
            "    return after(dropout(sublayer(before(x))) + x)\n")),
    ),
)  # fmt: skip


# --- 4.3 encoder layer ----------------------------------------------------------------

_NORM_LINES_2 = (
    "self.norm1 = nn.LayerNorm(d_model)\n        self.norm2 = nn.LayerNorm(d_model)\n"
)

ENCODER_LAYER = Task(
    name="encoder_decoder/encoder_layer",
    title="The encoder layer",
    target="EncoderLayer",
    settings=(
        Setting(
            "post_relu", "post-norm, ReLU, no mask",
            _layer_inputs(ENCODER, 3, 5, 6, 2, 7, pull=True),
            "Follow the data line by line: attention, add & norm 1, network, add & norm 2.",
        ),
        Setting(
            "pre_gelu", "pre-norm, GELU, a padding mask",
            _layer_inputs(ENCODER, 3, 4, 6, 3, 5, norm_first=True, activation="gelu",
                          masks={"mask": "padding"}),
            "In pre-norm the attention sees the normalised x only: three times the same.",
        ),
        Setting(
            "post_padding", "post-norm, a padding mask with a dimension for heads",
            _layer_inputs(ENCODER, 2, 5, 8, 4, 3, norm_first=False,
                          masks={"mask": "padding, 4-D"}),
            "Does the mask reach the attention?",
        ),
        Setting(
            "pre_causal", "pre-norm, a causal mask, with a gradient",
            _layer_inputs(ENCODER, 2, 6, 4, 2, 5, norm_first=True,
                          masks={"mask": "causal"}, pull=True),
            "Does the mask reach the attention?",
        ),
        Setting(
            "dropout", "both branches dropped in training",
            _layer_inputs(ENCODER, 2, 3, 6, 2, 5, norm_first=True, rate=1.0),
            "If each branch is dropped, the road alone is left. What comes out then?",
        ),
        Setting(
            "dropout_post", "both branches dropped in training, post-norm",
            _layer_inputs(ENCODER, 3, 2, 6, 3, 4, norm_first=False, rate=1.0),
            "If each branch is dropped, two norms of the road are left.", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "placement_swapped",
            says="Pre-norm and post-norm are exchanged.",
            asks="Do you hand on `norm_first`, or its opposite?",
            edits=(("self.norm_first = norm_first", "self.norm_first = not norm_first"),),
        ),
        Wrong(
            "always_post",
            says="Your layer is post-norm, even if `norm_first` is True.",
            asks="Who tells `add_and_norm` about `norm_first`?",
            edits=(("self.norm_first = norm_first", "self.norm_first = False"),),
        ),
        Wrong(
            "always_pre",
            says="Your layer is pre-norm, even if `norm_first` is False (the default).",
            asks="Who tells `add_and_norm` about `norm_first`?",
            edits=(("self.norm_first = norm_first", "self.norm_first = True"),),
        ),
        Wrong(
            "keys_not_normed",
            says="In pre-norm only the query is normalised; key and value are the layer's "
            "raw input.",
            asks="Inside your little function, do all three come from its *argument*?",
            edits=(
                ("def attend(x: Tensor) -> Tensor:\n            return self.attention(x, x, x, mask)[0]",
                 "def attend(y: Tensor) -> Tensor:\n            return self.attention(y, x, x, mask)[0]"),
                ("x = add_and_norm(x, attend,", "z = add_and_norm(x, attend,"),
                ("            x, self.feed_forward", "            z, self.feed_forward"),
            ),
        ),
        Wrong(
            "mask_ignored",
            says="The mask does not reach the attention: masked positions move outputs.",
            asks="Which argument of the attention is missing?",
            edits=(("(x, x, x, mask)", "(x, x, x)"),),
        ),
        Wrong(
            "mask_inverted",
            says="The mask is turned round: exactly the forbidden positions are seen.",
            asks="In this course, does True mean \"may\" or \"may not\"?",
            edits=(("(x, x, x, mask)", "(x, x, x, None if mask is None else ~mask)"),),
        ),
        Wrong(
            "no_feed_forward",
            says="The feed-forward network is not used.",
            asks="How many sublayers has an encoder layer?",
            edits=(
                ("return add_and_norm(\n            x, self.feed_forward, self.norm2, self.dropout, self.norm_first\n        )",
                 "return x"),
            ),
        ),
        Wrong(
            "no_attention",
            says="The attention is not used: no position listens to another one.",
            asks="How many sublayers has an encoder layer?",
            edits=(
                ("        x = add_and_norm(x, attend, self.norm1, self.dropout, self.norm_first)\n", ""),
            ),
        ),
        Wrong(
            "feed_forward_first",
            says="The feed-forward network comes before the attention.",
            asks="First listen, then think: which is which?",
            edits=(
                ("x = add_and_norm(x, attend, self.norm1,",
                 "x = add_and_norm(x, self.feed_forward, self.norm2,"),
                ("            x, self.feed_forward, self.norm2,",
                 "            x, attend, self.norm1,"),
            ),
        ),
        Wrong(
            "parallel",
            says="Both sublayers start from the layer's input. The network should get what "
            "the attention has made of it.",
            asks="Which `x` do you hand to the second `add_and_norm`?",
            edits=(
                ("x = add_and_norm(x, attend,", "y = add_and_norm(x, attend,"),
                ("return add_and_norm(", "return y - x + add_and_norm("),
            ),
        ),
        Wrong(
            "first_lost",
            says="The result of the first sublayer is thrown away.",
            asks="What do you assign it to, and what goes into the second one?",
            edits=(("x = add_and_norm(x, attend,", "_ = add_and_norm(x, attend,"),),
            like="no_attention",
        ),
        Wrong(
            "one_norm",
            says="There is one norm for both sublayers; each needs its own.",
            asks="How many LayerNorms are among the layer's names?",
            edits=(
                ("self.norm2 = nn.LayerNorm(d_model)", "self.norm2 = self.norm1"),
            ),
        ),
        Wrong(
            "norms_swapped",
            says="`norm1` and `norm2` are exchanged.",
            asks="Which one belongs to the attention?",
            edits=(
                ("attend, self.norm1", "attend, self.norm2"),
                ("self.feed_forward, self.norm2", "self.feed_forward, self.norm1"),
            ),
        ),
        Wrong(
            "norm1_twice",
            says="`norm1` is used for both sublayers, and `norm2` for none.",
            asks="Which norm belongs to the feed-forward network?",
            edits=(("self.feed_forward, self.norm2", "self.feed_forward, self.norm1"),),
        ),
        Wrong(
            "batch_norm",
            says="The norm is not a `LayerNorm` over the features of one position.",
            asks="Over which numbers is the mean to be taken?",
            source=(
                "class EncoderLayer(EncoderLayer):\n"
                "    def __init__(self, *args, **kwargs):\n"
                "        super().__init__(*args, **kwargs)\n"
                "        for norm in (self.norm1, self.norm2):\n"
                "            norm.forward = lambda x, n=norm: (x - x.mean((0, 1))) / (\n"
                "                x.var((0, 1), False) + 1e-5) ** 0.5 * n.weight + n.bias\n"
            ),
        ),
        Wrong(
            "norm_over_sentence",
            says="Your norm takes its mean over the whole sentence, so positions move each "
            "other.",
            asks="`nn.LayerNorm(d_model)` works on the last dimension. Does yours?",
            source=(
                "class EncoderLayer(EncoderLayer):\n"
                "    def __init__(self, *args, **kwargs):\n"
                "        super().__init__(*args, **kwargs)\n"
                "        for norm in (self.norm1, self.norm2):\n"
                "            norm.forward = lambda x, n=norm: n.weight * torch.nn.functional"
                ".layer_norm(x, x.shape[1:]) + n.bias\n"
            ),
        ),
        Wrong(
            "unbiased_std",
            says="Your own LayerNorm divides by the unbiased standard deviation; the "
            "formula's divides by the number of features.",
            asks="What is the default of `torch.std`?",
            source=(
                "class EncoderLayer(EncoderLayer):\n"
                "    def __init__(self, *args, **kwargs):\n"
                "        super().__init__(*args, **kwargs)\n"
                "        for norm in (self.norm1, self.norm2):\n"
                "            norm.forward = lambda x, n=norm: n.bias + n.weight * (\n"
                "                x - x.mean(-1, True)) / (x.std(-1, keepdim=True) + 1e-6)\n"
            ),
        ),
        Wrong(
            "activation_ignored",
            says="`activation` does not reach the feed-forward network.",
            asks="Which arguments does `FeedForward` take?",
            edits=(("FeedForward(d_model, d_ff, dropout, activation)",
                    "FeedForward(d_model, d_ff, dropout)"),),
        ),
        Wrong(
            "one_head",
            says="The number of heads does not reach the attention: there is one head.",
            asks="What do you hand to `MultiHeadAttention`?",
            edits=(("            d_model, num_heads, dropout\n", "            d_model, 1, dropout\n"),),
        ),
        Wrong(
            "returns_tuple",
            says="Your layer returns a tuple. The next layer of the stack wants a tensor.",
            asks="Attention returns two things. Which one goes on?",
            edits=(
                ("return add_and_norm(\n            x, self.feed_forward, self.norm2, self.dropout, self.norm_first\n        )",
                 "return add_and_norm(\n            x, self.feed_forward, self.norm2, self.dropout, self.norm_first\n        ), None"),
            ),
        ),
        Wrong(
            "unpacks_wrongly",
            says="You add the pair that the attention returns; only its first part is a "
            "vector for each position.",
            asks="What does `MultiHeadAttention` return?",
            edits=(("(x, x, x, mask)[0]", "(x, x, x, mask)"),),
        ),
        Wrong(
            "residual_missing_1",
            says="The residual connection around the attention is missing.",
            asks="If the attention returned zero, what should come out of it?",
            edits=(
                ("x = add_and_norm(x, attend, self.norm1, self.dropout, self.norm_first)",
                 "y = self.norm1(x) if self.norm_first else x\n"
                 "        y = self.dropout(attend(y))\n"
                 "        x = y if self.norm_first else self.norm1(y)"),
            ),
        ),
        Wrong(
            "residual_missing_2",
            says="The residual connection around the feed-forward network is missing.",
            asks="If the network returned zero, what should come out of it?",
            edits=(
                ("return add_and_norm(\n            x, self.feed_forward, self.norm2, self.dropout, self.norm_first\n        )",
                 "y = self.norm2(x) if self.norm_first else x\n"
                 "        y = self.dropout(self.feed_forward(y))\n"
                 "        return y if self.norm_first else self.norm2(y)"),
            ),
        ),
        Wrong(
            "no_branch_dropout",
            says="In training, the branches are not dropped.",
            asks="Three places get dropout. Which ones does your code reach?",
            edits=(("self.dropout = nn.Dropout(dropout)", "self.dropout = nn.Identity()"),),
        ),
        Wrong(
            "dropout_outside",
            says="Dropout stands on the road: with everything dropped, even `x` is lost.",
            asks="What is dropped: the branch, or the sum?",
            edits=(
                ("x = add_and_norm(x, attend, self.norm1, self.dropout, self.norm_first)",
                 "x = self.dropout(add_and_norm(x, attend, self.norm1, nn.Identity(), "
                 "self.norm_first))"),
                ("return add_and_norm(\n            x, self.feed_forward, self.norm2, self.dropout, self.norm_first\n        )",
                 "return self.dropout(add_and_norm(\n            x, self.feed_forward, "
                 "self.norm2, nn.Identity(), self.norm_first))"),
            ),
        ),
        Wrong(
            "final_norm",
            says="There is one norm too many, at the end of the layer.",
            asks="The final norm belongs to the stack. How many has a layer?",
            edits=(
                ("return add_and_norm(\n            x, self.feed_forward, self.norm2, self.dropout, self.norm_first\n        )",
                 "return self.norm2(add_and_norm(\n            x, self.feed_forward, "
                 "self.norm2, self.dropout, self.norm_first))"),
            ),
        ),
        Wrong(
            "detached",
            says="The values are right, but no gradient flows back through your layer.",
            asks="Is there a `detach()`, `.data` or `no_grad` on the way?",
            edits=(("def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:",
                    "@torch.no_grad()\n    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:"),),
        ),
    ),
    right=(
        Right("spelt_out", source=(
            "class EncoderLayer(nn.Module):\n"
            "    def __init__(self, d_model, num_heads, d_ff, dropout=0.0,\n"
            "                 norm_first=False, activation='relu'):\n"
            "        super().__init__()\n"
            "        self.norm2, self.norm1 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)\n"
            "        self.feed_forward = FeedForward(d_model, d_ff, dropout, activation)\n"
            "        self.attention = multi_head_attention.MultiHeadAttention(\n"
            "            d_model, num_heads, dropout)\n"
            "        self.drop1, self.drop2 = nn.Dropout(dropout), nn.Dropout(dropout)\n"
            "        self.pre = norm_first\n"
            "    def forward(self, x, mask=None):\n"
            "        if self.pre:\n"
            "            y = self.norm1(x)\n"
            "            attended, weights = self.attention(y, y, y, mask)\n"
            "            x = x + self.drop1(attended)\n"
            "            return x + self.drop2(self.feed_forward(self.norm2(x)))\n"
            "        attended, weights = self.attention(x, x, x, mask=mask)\n"
            "        x = self.norm1(x + self.drop1(attended))\n"
            "        return self.norm2(x + self.drop2(self.feed_forward(x)))\n")),
        Right("lambda", edits=(
            ("        def attend(x: Tensor) -> Tensor:\n            return self.attention(x, x, x, mask)[0]",
             "        attend = lambda y: self.attention(y, y, y, mask)[0]"),)),
        Right("keywords", edits=(
            ("self.attention(x, x, x, mask)",
             "self.attention(query=x, key=x, value=x, mask=mask)"),)),
        Right("method", edits=(
            ("\n        def attend(x: Tensor) -> Tensor:\n            return self.attention(x, x, x, mask)[0]  # (B, L, d_model)\n",
             "\n        from functools import partial\n        attend = partial(self._attend, mask=mask)\n"),
            ("    def forward(", "    def _attend(self, x, mask):\n"
             "        return self.attention(x, x, x, mask)[0]\n\n    def forward("))),
        Right("in_place_on_own", source=(
            "class EncoderLayer(EncoderLayer):\n"
            "    def forward(self, x, mask=None):\n"
            "        for norm, f in ((self.norm1, lambda y: self.attention(y, y, y, mask)[0]),\n"
            "                        (self.norm2, self.feed_forward)):\n"
            "            y = norm(x) if self.norm_first else x\n"
            "            x = self.dropout(f(y)) + x\n"
            "            x = x if self.norm_first else norm(x)\n"
            "        return x\n")),
    ),
)  # fmt: skip


# --- 4.4 and 4.6 stacks ---------------------------------------------------------------


def _stack_wrongs(arguments: str) -> tuple[Wrong, ...]:
    """Mistakes of both stacks; ``arguments`` is what a layer is called with."""
    call = f"layer({arguments})"
    return (
        Wrong(
            "plain_list",
            says="The layers lie in a plain Python list, so PyTorch does not know them: they have "
            "no parameters to train, save or move.",
            asks="Which list does `nn.Module` look into?",
            edits=(
                (
                    "nn.ModuleList(make_layer() for _ in range(num_layers))",
                    "[make_layer() for _ in range(num_layers)]",
                ),
            ),
        ),
        Wrong(
            "tuple_of_layers",
            like="plain_list",
            edits=(
                (
                    "nn.ModuleList(make_layer() for _ in range(num_layers))",
                    "tuple(make_layer() for _ in range(num_layers))",
                ),
            ),
        ),
        Wrong(
            "same_layer",
            says="All entries are one and the same layer: the stack has the weights of a "
            "single one.",
            asks="In `[layer] * n`, how many layers were made?",
            edits=(
                (
                    "nn.ModuleList(make_layer() for _ in range(num_layers))",
                    "nn.ModuleList([make_layer()] * num_layers)",
                ),
            ),
        ),
        Wrong(
            "copied",
            says="You made one layer and copied it, so all layers start with the same "
            "weights.",
            asks="How often is `make_layer` to be called?",
            edits=(
                (
                    "nn.ModuleList(make_layer() for _ in range(num_layers))",
                    "nn.ModuleList(copy.deepcopy(layer) for layer in [make_layer()] "
                    "* num_layers)",
                ),
                ("super().__init__()", "super().__init__()\n        import copy"),
            ),
        ),
        Wrong(
            "one_too_few",
            says="One layer is missing.",
            asks="How many numbers does your `range` run through?",
            edits=(("range(num_layers)", "range(num_layers - 1)"),),
        ),
        Wrong(
            "one_too_many",
            says="There is one layer too many.",
            asks="How many numbers does your `range` run through?",
            edits=(("range(num_layers)", "range(num_layers + 1)"),),
        ),
        Wrong(
            "last_skipped",
            says="The last layer exists, but is not used.",
            asks="Over which layers does your loop run?",
            edits=(("in self.layers:", "in self.layers[:-1]:"),),
        ),
        Wrong(
            "reversed",
            says="The layers are used from the last to the first.",
            asks="Which one gets the input?",
            edits=(("in self.layers:", "in reversed(self.layers):"),),
        ),
        Wrong(
            "first_only",
            says="Only the first layer is used, again and again.",
            asks="In your loop, which layer is called in the second round?",
            edits=((call, f"self.layers[0]({arguments})"),),
        ),
        Wrong(
            "no_chain",
            says="Every layer gets the original input, so only the last one counts.",
            asks="What is the input of layer 2?",
            edits=(
                (
                    "for layer in self.layers:",
                    "start = x\n        for layer in self.layers:",
                ),
                (call, call.replace("(x", "(start")),
            ),
        ),
        Wrong(
            "no_final_norm",
            says="The final norm is not applied.",
            asks="What happens to `norm` in your `forward`?",
            edits=(("return self.norm(x)", "return x"),),
        ),
        Wrong(
            "norm_every_layer",
            says="The final norm is applied after each layer, not once at the end.",
            asks="Does the norm stand in the loop, or after it?",
            edits=(
                ("  # (B", "; x = self.norm(x)  # (B"),
                ("return self.norm(x)", "return x"),
            ),
        ),
        Wrong(
            "norm_at_start",
            says="The norm is applied to the input, before the first layer.",
            asks="Where does a pre-norm stack need its norm?",
            edits=(
                (
                    "for layer in self.layers:",
                    "x = self.norm(x)\n        for layer in self.layers:",
                ),
                ("return self.norm(x)", "return x"),
            ),
        ),
        Wrong(
            "own_final_norm",
            says="There is a norm at the end although none was given.",
            asks="What should the stack do if `norm` is None?",
            edits=(
                (
                    "return self.norm(x)",
                    "return torch.nn.functional.layer_norm(x, x.shape[-1:]) "
                    "if isinstance(self.norm, nn.Identity) else self.norm(x)",
                ),
            ),
        ),
        Wrong(
            "norm_unnamed",
            says="The final norm is kept under another name than `norm`, or PyTorch does not "
            "know it.",
            asks="Which names does the docstring give?",
            edits=(
                (
                    "self.norm = nn.Identity() if norm is None else norm",
                    "self.final = nn.Identity() if norm is None else norm",
                ),
                ("self.norm(x)", "self.final(x)"),
            ),
        ),
        Wrong(
            "returns_all",
            says="Your stack returns a list of all layers' outputs; only the last one is "
            "asked for.",
            asks="What does `forward` promise to return?",
            edits=(("return self.norm(x)", "return [x, self.norm(x)]"),),
        ),
        Wrong(
            "returns_early",
            says="The `return` stands in the loop, so the first layer is also the last one.",
            asks="How far is your `return` indented?",
            edits=(("        return self.norm(x)", "            return self.norm(x)"),),
        ),
    )


ENCODER_TASK = Task(
    name="encoder_decoder/encoder",
    title="The encoder stack",
    target="Encoder",
    settings=(
        Setting(
            "three", "three layers with a norm at the end",
            _stack_inputs(3, 2, 4, 5, norm=True, pull=True),
            "Each layer gets what the one before it returned.",
        ),
        Setting(
            "two_padding", "two layers, a padding mask, no norm at the end",
            _stack_inputs(2, 3, 5, 4, masks={"mask": "padding"}),
            "Does each layer get the mask?",
        ),
        Setting(
            "four_causal", "four layers and a causal mask",
            _stack_inputs(4, 2, 5, 3, norm=True, masks={"mask": "causal"}),
            "Does each layer get the mask?",
        ),
        Setting(
            "five", "five layers", _stack_inputs(5, 2, 3, 4),
            "Does the number of layers matter?", hidden_only=True,
        ),
    ),
    wrong=(
        *_stack_wrongs("x, mask"),
        Wrong(
            "mask_lost",
            says="The layers do not get the mask.",
            asks="What is each layer called with?",
            edits=(("layer(x, mask)", "layer(x)"),),
        ),
        Wrong(
            "mask_first_only",
            says="Only the first layer gets the mask; later ones let the padding in.",
            asks="What does the second layer see of padded positions?",
            edits=(("x = layer(x, mask)", "x, mask = layer(x, mask), None"),),
        ),
        Wrong(
            "mask_last_only",
            says="Only the last layer gets the mask.",
            asks="What does the first layer see of padded positions?",
            edits=(("layer(x, mask)", "layer(x, mask if layer is self.layers[-1] else None)"),),
        ),
        Wrong(
            "residual_around",
            says="You add the input of each layer once more; the layer has done that itself.",
            asks="Where are the residual connections?",
            edits=(("x = layer(x, mask)", "x = x + layer(x, mask)"),),
        ),
        Wrong(
            "detached",
            says="The values are right, but no gradient flows back to the input.",
            asks="Is there a `detach()`, `.data` or `no_grad` on the way?",
            edits=(("layer(x, mask)", "layer(x.detach(), mask)"),),
        ),
    ),
    right=(
        Right("append", source=(
            "class Encoder(nn.Module):\n"
            "    def __init__(self, make_layer, num_layers, norm=None):\n"
            "        super().__init__()\n"
            "        self.norm = norm\n"
            "        self.layers = nn.ModuleList()\n"
            "        for _ in range(num_layers):\n"
            "            self.layers.append(make_layer())\n"
            "    def forward(self, x, mask=None):\n"
            "        for i in range(len(self.layers)):\n"
            "            x = self.layers[i](x, mask=mask)\n"
            "        if self.norm is not None:\n"
            "            x = self.norm(x)\n"
            "        return x\n")),
        Right("reduce", edits=(
            ("        for layer in self.layers:\n            x = layer(x, mask)  # (B, L, d_model)\n        return self.norm(x)",
             "        import functools\n"
             "        out = functools.reduce(lambda y, f: f(y, mask), self.layers, x)\n"
             "        return self.norm(out)"),)),
        Right("list_inside", edits=(
            ("nn.ModuleList(make_layer() for _ in range(num_layers))",
             "nn.ModuleList([make_layer() for i in range(num_layers)])"),)),
    ),
)  # fmt: skip


DECODER_TASK = Task(
    name="encoder_decoder/decoder",
    title="The decoder stack",
    target="Decoder",
    settings=(
        Setting(
            "three", "three layers with a norm at the end",
            _stack_inputs(3, 2, 4, 5, ls=3, norm=True, pull=True),
            "Each layer gets what the one before it returned, and the same memory.",
        ),
        Setting(
            "two_masks", "two layers and both masks",
            _stack_inputs(2, 3, 4, 6, ls=5,
                          masks={"tgt_mask": "causal", "memory_mask": "padding"}),
            "Does each layer get both masks, and each in its place?",
        ),
        Setting(
            "square", "as many target positions as source positions",
            _stack_inputs(3, 2, 4, 3, ls=4, norm=True,
                          masks={"tgt_mask": "causal", "memory_mask": "padding"}),
            "With equal lengths, exchanged masks do not even raise an error.",
        ),
        Setting(
            "padded_target", "padding in both sequences",
            _stack_inputs(4, 3, 5, 4, ls=6,
                          masks={"tgt_mask": "both", "memory_mask": "padding"}),
            "Does each layer get both masks?", hidden_only=True,
        ),
    ),
    wrong=(
        *_stack_wrongs("x, memory, tgt_mask, memory_mask"),
        Wrong(
            "masks_lost",
            says="The layers get no mask at all.",
            asks="Which four arguments does a layer take?",
            edits=(("layer(x, memory, tgt_mask, memory_mask)", "layer(x, memory)"),),
        ),
        Wrong(
            "memory_mask_lost",
            says="The mask of the memory does not reach the layers: source padding is seen.",
            asks="Which four arguments does a layer take?",
            edits=(("tgt_mask, memory_mask)  #", "tgt_mask)  #"),),
        ),
        Wrong(
            "tgt_mask_lost",
            says="The target mask does not reach the layers: the future is seen.",
            asks="Which four arguments does a layer take?",
            edits=(("layer(x, memory, tgt_mask, memory_mask)",
                    "layer(x, memory, None, memory_mask)"),),
        ),
        Wrong(
            "masks_swapped",
            says="The two masks are exchanged.",
            asks="In which order does a layer take them?",
            edits=(("layer(x, memory, tgt_mask, memory_mask)",
                    "layer(x, memory, memory_mask, tgt_mask)"),),
        ),
        Wrong(
            "masks_first_only",
            says="Only the first layer gets the masks.",
            asks="What can the second layer see of the future?",
            edits=(("x = layer(x, memory, tgt_mask, memory_mask)",
                    "x, tgt_mask, memory_mask = layer(x, memory, tgt_mask, memory_mask), "
                    "None, None"),),
        ),
        Wrong(
            "memory_is_x",
            says="The layers look at the target itself in place of the memory.",
            asks="Which argument holds the encoder's output?",
            edits=(("layer(x, memory, tgt_mask", "layer(x, x, tgt_mask"),),
        ),
        Wrong(
            "memory_and_x_swapped",
            says="Target and memory are exchanged: the memory goes through the layers.",
            asks="Which of the two changes from layer to layer?",
            edits=(("x = layer(x, memory, tgt_mask", "x = layer(memory, x, tgt_mask"),),
        ),
        Wrong(
            "memory_changes",
            says="Each layer's output becomes the memory of the next one.",
            asks="Which memory does the last layer look at?",
            edits=(("x = layer(x, memory, tgt_mask, memory_mask)",
                    "x = memory = layer(x, memory, tgt_mask, memory_mask)"),),
        ),
        Wrong(
            "memory_normed",
            says="The final norm is applied to the memory as well.",
            asks="Whose output is the final norm for?",
            edits=(("for layer in self.layers:",
                    "memory = self.norm(memory)\n        for layer in self.layers:"),),
        ),
    ),
    right=(
        Right("keywords", source=(
            "class Decoder(nn.Module):\n"
            "    def __init__(self, make_layer, num_layers, norm=None):\n"
            "        super().__init__()\n"
            "        self.layers = nn.ModuleList([make_layer() for _ in range(num_layers)])\n"
            "        self.norm = norm\n"
            "    def forward(self, x, memory, tgt_mask=None, memory_mask=None):\n"
            "        out = x\n"
            "        for layer in self.layers:\n"
            "            out = layer(out, memory, tgt_mask=tgt_mask, memory_mask=memory_mask)\n"
            "        return out if self.norm is None else self.norm(out)\n")),
        Right("of_encoder", source=(
            "class Decoder(Encoder):\n"
            "    def forward(self, x, memory, tgt_mask=None, memory_mask=None):\n"
            "        for layer in self.layers:\n"
            "            x = layer(x, memory, tgt_mask, memory_mask)\n"
            "        return self.norm(x)\n")),
        Right("recursion", edits=(
            ("        for layer in self.layers:\n            x = layer(x, memory, tgt_mask, memory_mask)  # (B, Lt, d_model)\n        return self.norm(x)",
             "        def run(n):\n"
             "            if n == 0:\n"
             "                return x\n"
             "            return self.layers[n - 1](run(n - 1), memory, tgt_mask, memory_mask)\n"
             "        return self.norm(run(len(self.layers)))"),)),
    ),
)  # fmt: skip


# --- 4.5 decoder layer ----------------------------------------------------------------

_LOOK_UP = "self.cross_attention(x, memory, memory, memory_mask)"
_LINE_1 = (
    "        x = add_and_norm(x, attend, self.norm1, self.dropout, self.norm_first)\n"
)
_LINE_2 = (
    "        x = add_and_norm(x, look_up, self.norm2, self.dropout, self.norm_first)\n"
)
_BOTH = {"tgt_mask": "causal", "memory_mask": "padding"}

DECODER_LAYER = Task(
    name="encoder_decoder/decoder_layer",
    title="The decoder layer",
    target="DecoderLayer",
    settings=(
        Setting(
            "post_relu", "post-norm, ReLU, no masks",
            _layer_inputs(DECODER, 3, 4, 6, 2, 7, ls=5, pull=True),
            "Follow the data: self-attention, cross-attention, network, each with its norm.",
        ),
        Setting(
            "pre_both", "pre-norm, GELU, causal mask and source padding",
            _layer_inputs(DECODER, 3, 5, 6, 3, 4, ls=7, norm_first=True,
                          activation="gelu", masks=_BOTH),
            "Which mask belongs to which attention?",
        ),
        Setting(
            "post_both", "post-norm, causal mask, source padding with a dimension for heads",
            _layer_inputs(DECODER, 2, 6, 8, 4, 5, ls=3, norm_first=False,
                          masks={"tgt_mask": "causal", "memory_mask": "padding, 4-D"}),
            "Which mask belongs to which attention?",
        ),
        Setting(
            "square", "pre-norm, as many target positions as source positions",
            _layer_inputs(DECODER, 3, 4, 6, 2, 5, ls=4, norm_first=True,
                          masks={"tgt_mask": "both", "memory_mask": "padding"}, pull=True),
            "With equal lengths, exchanged masks or sequences raise no error.",
        ),
        Setting(
            "dropout", "all branches dropped in training",
            _layer_inputs(DECODER, 2, 3, 6, 2, 5, ls=4, norm_first=True, rate=1.0),
            "If each branch is dropped, the road alone is left. What comes out then?",
        ),
        Setting(
            "one_token", "a target of one token, post-norm",
            _layer_inputs(DECODER, 4, 1, 6, 3, 5, ls=7, norm_first=False,
                          activation="gelu", masks={"memory_mask": "padding"}),
            "Does your layer need a target mask?", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "no_causal_mask",
            says="The target mask does not reach the self-attention: each position sees its "
            "future.",
            asks="Which argument of the self-attention is missing?",
            edits=(("(x, x, x, tgt_mask)", "(x, x, x)"),),
        ),
        Wrong(
            "memory_mask_ignored",
            says="The mask of the memory is not used: source padding moves the output.",
            asks="Which argument of the cross-attention is missing?",
            edits=((_LOOK_UP, "self.cross_attention(x, memory, memory)"),),
        ),
        Wrong(
            "masks_swapped",
            says="The two masks are exchanged.",
            asks="Which one has a column for each position of the *source*?",
            edits=(("(x, x, x, tgt_mask)", "(x, x, x, memory_mask)"),
                   ("memory, memory, memory_mask)", "memory, memory, tgt_mask)")),
        ),
        Wrong(
            "causal_on_memory",
            says="The target mask is used on the memory, too. The source is known as a whole.",
            asks="May the first target word look at the last source word?",
            edits=(("memory, memory, memory_mask)", "memory, memory, tgt_mask)"),),
        ),
        Wrong(
            "tgt_mask_from_memory",
            says="The self-attention gets the mask of the memory.",
            asks="Which of the two masks has a column for each position of the *target*?",
            edits=(("(x, x, x, tgt_mask)", "(x, x, x, memory_mask)"),),
        ),
        Wrong(
            "memory_asks",
            says="In cross-attention the memory asks and the target answers. It should be "
            "the other way round.",
            asks="For whom is one vector to come out: for each source position, or for each "
            "target position?",
            edits=((_LOOK_UP, "self.cross_attention(memory, x, x, None if memory_mask is "
                    "None else memory_mask.transpose(-2, -1))"),),
        ),
        Wrong(
            "values_from_target",
            says="In cross-attention the keys come from the memory, but the values from the "
            "target.",
            asks="What should a target position receive, if not something of the source?",
            edits=((_LOOK_UP, "self.cross_attention(x, memory, x, memory_mask)"),),
        ),
        Wrong(
            "keys_from_target",
            says="In cross-attention the values come from the memory, but the keys from the "
            "target.",
            asks="With what are the queries to be compared?",
            edits=((_LOOK_UP, "self.cross_attention(x, x, memory, memory_mask)"),),
        ),
        Wrong(
            "cross_on_itself",
            says="The cross-attention looks at the target, so the memory has no influence.",
            asks="Where does `memory` occur in your code?",
            edits=((_LOOK_UP, "self.cross_attention(x, x, x, tgt_mask)"),),
        ),
        Wrong(
            "cross_skipped",
            says="The cross-attention is not used, so the memory has no influence.",
            asks="How many sublayers has a decoder layer?",
            edits=((_LINE_2, ""),),
        ),
        Wrong(
            "self_skipped",
            says="The self-attention is not used: a target position knows nothing of earlier "
            "ones.",
            asks="How many sublayers has a decoder layer?",
            edits=((_LINE_1, ""),),
        ),
        Wrong(
            "self_on_memory",
            says="Both attentions look at the memory; none looks at the target.",
            asks="Who listens to the words that were written so far?",
            edits=(("(x, x, x, tgt_mask)", "(x, memory, memory, memory_mask)"),),
        ),
        Wrong(
            "cross_first",
            says="Cross-attention comes before self-attention.",
            asks="In which order do the three sublayers stand?",
            edits=((_LINE_1 + _LINE_2, _LINE_2.replace("norm2", "norm1")
                    + _LINE_1.replace("norm1", "norm2")),),
        ),
        Wrong(
            "cross_first_own_norms",
            says="Cross-attention comes before self-attention (each with its right norm).",
            asks="In which order do the three sublayers stand?",
            edits=((_LINE_1 + _LINE_2, _LINE_2 + _LINE_1),),
        ),
        Wrong(
            "feed_forward_between",
            says="The feed-forward network comes before the cross-attention.",
            asks="In which order do the three sublayers stand?",
            edits=(
                (_LINE_2, _LINE_2.replace("look_up", "self.feed_forward").replace("norm2", "norm3")),
                ("            x, self.feed_forward, self.norm3,", "            x, look_up, self.norm2,"),
            ),
        ),
        Wrong(
            "no_feed_forward",
            says="The feed-forward network is not used.",
            asks="How many sublayers has a decoder layer?",
            edits=(
                ("return add_and_norm(\n            x, self.feed_forward, self.norm3, self.dropout, self.norm_first\n        )",
                 "return x"),
            ),
        ),
        Wrong(
            "attentions_swapped",
            says="The two attentions are exchanged: `cross_attention` looks at the target, "
            "`self_attention` at the memory.",
            asks="Which name is called in which of your little functions?",
            edits=(
                ("return self.self_attention(x, x, x, tgt_mask)", "return self.cross_attention(x, x, x, tgt_mask)"),
                ("return " + _LOOK_UP, "return self.self_attention(x, memory, memory, memory_mask)"),
            ),
        ),
        Wrong(
            "one_attention",
            says="One attention does both jobs; each needs its own weights.",
            asks="How many attentions did you create?",
            edits=(("self.cross_attention = attention_class(d_model, num_heads, dropout)",
                    "self.cross_attention = self.self_attention"),),
        ),
        Wrong(
            "second_cross",
            says="There are more weights than there should be: a second cross-attention, or "
            "another extra module.",
            asks="Which of your modules is not among the names in the docstring?",
            edits=(
                ("self.norm_first = norm_first",
                 "self.norm_first = norm_first\n"
                 "        self.again = attention_class(d_model, num_heads, dropout)"),
                (_LINE_2, _LINE_2 + "        x = add_and_norm(x, lambda y: self.again(y, "
                 "memory, memory, memory_mask)[0], self.norm2, self.dropout, self.norm_first)\n"),
            ),
        ),
        Wrong(
            "two_norms",
            says="There are two norms for three sublayers.",
            asks="Does each sublayer have a norm of its own?",
            edits=(("        self.norm3 = nn.LayerNorm(d_model)\n", ""),
                   ("self.feed_forward, self.norm3", "self.feed_forward, self.norm2")),
        ),
        Wrong(
            "norm2_twice",
            says="`norm2` is used twice and `norm3` never.",
            asks="Which norm belongs to the feed-forward network?",
            edits=(("self.feed_forward, self.norm3", "self.feed_forward, self.norm2"),),
        ),
        Wrong(
            "norm1_twice",
            says="`norm1` is used for both attentions.",
            asks="Which norm belongs to the cross-attention?",
            edits=(("look_up, self.norm2", "look_up, self.norm1"),),
        ),
        Wrong(
            "residual_from_start",
            says="Around the cross-attention you add the layer's *input*, not what the "
            "self-attention has made of it.",
            asks="Which `x` is added in the second add & norm?",
            edits=(
                (_LINE_1, "        start = x\n" + _LINE_1),
                (_LINE_2,
                 "        y = self.dropout(look_up(self.norm2(x) if self.norm_first else x))\n"
                 "        x = start + y if self.norm_first else self.norm2(start + y)\n"),
            ),
        ),
        Wrong(
            "query_not_normed",
            says="In pre-norm the cross-attention's query is not normalised.",
            asks="Inside your little function, does the query come from its *argument*?",
            edits=(
                ("def look_up(x: Tensor) -> Tensor:\n            return " + _LOOK_UP,
                 "def look_up(y: Tensor) -> Tensor:\n            return " + _LOOK_UP),
            ),
        ),
        Wrong(
            "memory_normed",
            says="The memory is normalised again, by the target's norm.",
            asks="Who has normalised the memory already?",
            edits=((_LOOK_UP, "self.cross_attention(x, self.norm2(memory), self.norm2(memory), "
                    "memory_mask)"),),
        ),
        Wrong(
            "placement_swapped",
            says="Pre-norm and post-norm are exchanged.",
            asks="Do you hand on `norm_first`, or its opposite?",
            edits=(("self.norm_first = norm_first", "self.norm_first = not norm_first"),),
        ),
        Wrong(
            "always_post",
            says="Your layer is post-norm, even if `norm_first` is True.",
            asks="Who tells `add_and_norm` about `norm_first`?",
            edits=(("self.norm_first = norm_first", "self.norm_first = False"),),
        ),
        Wrong(
            "tgt_mask_inverted",
            says="The target mask is turned round: exactly the forbidden positions are seen.",
            asks="In this course, does True mean \"may\" or \"may not\"?",
            edits=(("(x, x, x, tgt_mask)", "(x, x, x, None if tgt_mask is None else ~tgt_mask)"),),
        ),
        Wrong(
            "own_causal_mask",
            says="Your layer masks the future although no mask was given.",
            asks="What does `tgt_mask=None` mean in the docstring?",
            edits=(("(x, x, x, tgt_mask)",
                    "(x, x, x, torch.ones(x.size(1), x.size(1), dtype=torch.bool).tril() if "
                    "tgt_mask is None else tgt_mask)"),
                   ("super().__init__()", "super().__init__()")),
        ),
        Wrong(
            "activation_ignored",
            says="`activation` does not reach the feed-forward network.",
            asks="Which arguments does `FeedForward` take?",
            edits=(("FeedForward(d_model, d_ff, dropout, activation)",
                    "FeedForward(d_model, d_ff, dropout)"),),
        ),
        Wrong(
            "tuple_added",
            says="You add the pair that an attention returns; only its first part is a "
            "vector for each position.",
            asks="What does `MultiHeadAttention` return?",
            edits=((_LOOK_UP + "[0]", _LOOK_UP),),
        ),
        Wrong(
            "tensor_unpacked",
            says="You unpack a tensor as if it were a pair. That takes the batch apart: "
            "`out, _ = ...` works for a batch of 2 only, and then it is wrong.",
            asks="What is the length of the first dimension?",
            edits=(("return self.self_attention(x, x, x, tgt_mask)[0]",
                    "out, _ = self.self_attention(x, x, x, tgt_mask)[0]; return out"),),
        ),
        Wrong(
            "weights_taken",
            says="You take the second thing that the attention returns: its weights.",
            asks="In which order does `MultiHeadAttention` return its two results?",
            edits=((_LOOK_UP + "[0]", _LOOK_UP + "[1]"),),
        ),
        Wrong(
            "no_branch_dropout",
            says="In training, the branches are not dropped.",
            asks="Three places get dropout. Which ones does your code reach?",
            edits=(("self.dropout = nn.Dropout(dropout)", "self.dropout = nn.Identity()"),),
        ),
        Wrong(
            "memory_detached",
            says="The values are right, but no gradient flows back into the memory, so the "
            "encoder could not learn.",
            asks="Is there a `detach()`, `.data` or `no_grad` around the memory?",
            edits=((_LOOK_UP, "self.cross_attention(x, memory.detach(), memory.detach(), memory_mask)"),),
        ),
    ),
    right=(
        Right("spelt_out", source=(
            "class DecoderLayer(nn.Module):\n"
            "    def __init__(self, d_model, num_heads, d_ff, dropout=0.0,\n"
            "                 norm_first=False, activation='relu'):\n"
            "        super().__init__()\n"
            "        for name in ('cross_attention', 'self_attention'):\n"
            "            setattr(self, name, multi_head_attention.MultiHeadAttention(\n"
            "                d_model, num_heads, dropout))\n"
            "        for i in (1, 2, 3):\n"
            "            setattr(self, f'norm{i}', nn.LayerNorm(d_model))\n"
            "        self.feed_forward = FeedForward(d_model, d_ff, dropout, activation)\n"
            "        self.drop = nn.Dropout(dropout)\n"
            "        self.pre = norm_first\n"
            "    def forward(self, x, memory, tgt_mask=None, memory_mask=None):\n"
            "        if self.pre:\n"
            "            y = self.norm1(x)\n"
            "            y, _ = self.self_attention(y, y, y, tgt_mask)\n"
            "            x = x + self.drop(y)\n"
            "            y, _ = self.cross_attention(self.norm2(x), memory, memory, memory_mask)\n"
            "            x = x + self.drop(y)\n"
            "            return x + self.drop(self.feed_forward(self.norm3(x)))\n"
            "        y, _ = self.self_attention(x, x, x, tgt_mask)\n"
            "        x = self.norm1(x + self.drop(y))\n"
            "        y, _ = self.cross_attention(x, memory, memory, memory_mask)\n"
            "        x = self.norm2(x + self.drop(y))\n"
            "        return self.norm3(x + self.drop(self.feed_forward(x)))\n")),
        Right("loop", source=(
            "class DecoderLayer(DecoderLayer):\n"
            "    def forward(self, x, memory, tgt_mask=None, memory_mask=None):\n"
            "        sublayers = [\n"
            "            lambda y: self.self_attention(y, y, y, tgt_mask)[0],\n"
            "            lambda y: self.cross_attention(y, memory, memory, memory_mask)[0],\n"
            "            self.feed_forward,\n"
            "        ]\n"
            "        norms = [self.norm1, self.norm2, self.norm3]\n"
            "        for f, norm in zip(sublayers, norms):\n"
            "            x = add_and_norm(x, f, norm, self.dropout, self.norm_first)\n"
            "        return x\n")),
        Right("keywords", edits=(
            ("(x, x, x, tgt_mask)", "(query=x, key=x, value=x, mask=tgt_mask)"),
            (_LOOK_UP, "self.cross_attention(x, key=memory, value=memory, mask=memory_mask)"))),
        Right("of_encoder_layer", source=(
            "class DecoderLayer(nn.Module):\n"
            "    def __init__(self, *args, **kwargs):\n"
            "        super().__init__()\n"
            "        a = EncoderLayer(*args, **kwargs)\n"
            "        b = EncoderLayer(*args, **kwargs)\n"
            "        self.self_attention, self.cross_attention = a.attention, b.attention\n"
            "        self.feed_forward = a.feed_forward\n"
            "        self.norm1, self.norm2, self.norm3 = a.norm1, a.norm2, b.norm1\n"
            "        self.dropout, self.norm_first = a.dropout, a.norm_first\n"
            "    def forward(self, x, memory, tgt_mask=None, memory_mask=None):\n"
            "        def wrap(x, f, norm):\n"
            "            return add_and_norm(x, f, norm, self.dropout, self.norm_first)\n"
            "        x = wrap(x, lambda y: self.self_attention(y, y, y, tgt_mask)[0], self.norm1)\n"
            "        x = wrap(x, lambda y: self.cross_attention(y, memory, memory, memory_mask)[0], self.norm2)\n"
            "        return wrap(x, self.feed_forward, self.norm3)\n")),
    ),
)  # fmt: skip


# --- 4.7 masks ------------------------------------------------------------------------

_SRC = "attention.padding_mask(src, pad_id),  # (B, 1, Ls)"
_TGT = "attention.combine_masks(padding, causal),  # (B, Lt, Lt)"

MAKE_MASKS = Task(
    name="encoder_decoder/make_masks",
    title="Two masks for three attentions",
    target="make_masks",
    settings=(
        Setting(
            "longer_source", "a source that is longer than the target",
            _two_languages(3, 6, 4, 0),
            "Draw both masks for one sentence on paper.",
        ),
        Setting(
            "longer_target", "a target that is longer than the source, another pad_id",
            _two_languages(2, 3, 5, 7),
            "Is the id of padding always 0?",
        ),
        Setting(
            "default", "pad_id left out, equal lengths", _two_languages(4, 5, 5, None),
            "With equal lengths, exchanged masks do not even raise an error.",
        ),
        Setting(
            "large", "longer sentences", _two_languages(5, 9, 12, 3),
            "Does it depend on the sizes?", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "swapped",
            says="The two masks are returned in the other order.",
            asks="Which one comes first, by the docstring?",
            edits=((_SRC, "attention.combine_masks(padding, causal),"),
                   (_TGT, "attention.padding_mask(src, pad_id),")),
        ),
        Wrong(
            "no_causal",
            says="The target mask hides padding but not the future.",
            asks="Which words may position 2 of the target see?",
            edits=(("attention.combine_masks(padding, causal)", "padding.expand(-1, tgt.size(1), -1)"),),
        ),
        Wrong(
            "no_target_padding",
            says="The target mask hides the future but not padding.",
            asks="What is `combine_masks` for?",
            edits=(("attention.combine_masks(padding, causal)", "causal.expand(len(tgt), -1, -1)"),),
        ),
        Wrong(
            "pad_id_ignored",
            says="Your masks take 0 for padding, whatever `pad_id` says.",
            asks="Where does `pad_id` occur in your code?",
            edits=(("attention.padding_mask(tgt, pad_id)", "attention.padding_mask(tgt)"),
                   ("attention.padding_mask(src, pad_id)", "attention.padding_mask(src)")),
        ),
        Wrong(
            "pad_id_src_only",
            says="`pad_id` is used for the source, but not for the target.",
            asks="How many calls need it?",
            edits=(("attention.padding_mask(tgt, pad_id)", "attention.padding_mask(tgt)"),),
        ),
        Wrong(
            "inverted",
            says="Both masks are turned round: True stands where one may *not* attend.",
            asks="In this course, what does True mean?",
            edits=((_SRC, "~attention.padding_mask(src, pad_id),"),
                   (_TGT, "~attention.combine_masks(padding, causal),")),
        ),
        Wrong(
            "or_for_and",
            says="Padding and causal mask are joined by \"or\": each opens what the other had "
            "closed.",
            asks="Two guards must both say yes. Which logical word is that?",
            edits=(("attention.combine_masks(padding, causal)", "padding | causal"),),
        ),
        Wrong(
            "source_causal",
            says="The source mask is causal, too. The source is known as a whole.",
            asks="May the first source word look at the last one?",
            edits=(("attention.padding_mask(src, pad_id),  #",
                    "attention.padding_mask(src, pad_id) & attention.causal_mask(src.size(1)),  #"),),
        ),
        Wrong(
            "padding_of_queries",
            says="The padding masks close *rows* (those who ask) instead of columns (those "
            "who are asked).",
            asks="Which dimension belongs to the keys?",
            edits=(("attention.padding_mask(tgt, pad_id)", "attention.padding_mask(tgt, pad_id).transpose(1, 2)"),
                   (_SRC, "attention.padding_mask(src, pad_id).transpose(1, 2).expand(-1, -1, src.size(1)),")),
        ),
        Wrong(
            "source_without_padding",
            says="The source mask hides nothing.",
            asks="Who hides the source's padding from the decoder?",
            edits=((_SRC, "torch.ones_like(src, dtype=torch.bool).unsqueeze(1),"),),
        ),
        Wrong(
            "target_for_both",
            says="The source mask is made from the target's padding.",
            asks="When the decoder looks at the memory, whose padding must it not see?",
            edits=((_SRC, "padding,"),),
        ),
        Wrong(
            "source_padding_in_target",
            says="The target mask is made from the source's padding.",
            asks="Whose words are the keys of the decoder's self-attention?",
            edits=(("padding = attention.padding_mask(tgt, pad_id)",
                    "padding = attention.padding_mask(src, pad_id)"),),
        ),
        Wrong(
            "causal_of_source_length",
            says="The causal mask has the length of the source.",
            asks="How many rows and columns does the target mask have?",
            edits=(("attention.causal_mask(tgt.size(1))", "attention.causal_mask(src.size(1))"),),
        ),
        Wrong(
            "two_dimensions",
            says="The source mask has two dimensions. Against scores (B, h, Lq, Lk), its first "
            "one would be taken for the queries.",
            asks="Where does the dimension of size 1 belong?",
            edits=((_SRC, "src != pad_id,"),),
        ),
        Wrong(
            "integers",
            says="The masks are numbers. `~1` is not `0`, so they must be boolean.",
            asks="Which dtype do comparisons have?",
            edits=((_SRC, "attention.padding_mask(src, pad_id).long(),"),
                   (_TGT, "attention.combine_masks(padding, causal).long(),")),
        ),
        Wrong(
            "additive",
            says="Your masks hold 0 and minus infinity: PyTorch's additive form. Here a mask is "
            "boolean.",
            asks="What does `MultiHeadAttention` of unit 3 expect?",
            edits=((_SRC, "torch.zeros(1).where(attention.padding_mask(src, pad_id), -float('inf')),"),
                   (_TGT, "torch.zeros(1).where(attention.combine_masks(padding, causal), -float('inf')),")),
        ),
        Wrong(
            "strict",
            says="The target mask hides the diagonal: a position may not see itself.",
            asks="What does the first row of your target mask look like?",
            edits=(("attention.causal_mask(tgt.size(1))", "attention.causal_mask(tgt.size(1)).tril(-1)"),),
        ),
        Wrong(
            "upper",
            says="The target mask is the wrong triangle: it shows the future and hides the "
            "past.",
            asks="What does the last row of your target mask look like?",
            edits=(("attention.causal_mask(tgt.size(1))", "attention.causal_mask(tgt.size(1)).T"),),
        ),
        Wrong(
            "one_only",
            says="Only one mask is returned.",
            asks="Two are asked for. In which order?",
            edits=(("        " + _SRC + "\n", ""),),
        ),
        Wrong(
            "first_sentence",
            says="The padding of the first sentence is used for all.",
            asks="Where does the batch dimension of your masks come from?",
            edits=((_SRC, "attention.padding_mask(src, pad_id)[:1].expand(len(src), -1, -1),"),
                   ("attention.padding_mask(tgt, pad_id)", "attention.padding_mask(tgt, pad_id)[:1]"),
                   (_TGT, "attention.combine_masks(padding, causal).expand(len(tgt), -1, -1),")),
        ),
    ),
    right=(
        Right("by_hand", source=(
            "def make_masks(src, tgt, pad_id=0):\n"
            "    length = tgt.shape[1]\n"
            "    i = torch.arange(length)\n"
            "    return (src != pad_id)[:, None], (tgt != pad_id)[:, None] & (i[:, None] >= i)\n")),
        Right("four_dimensions", source=(
            "def make_masks(src, tgt, pad_id=0):\n"
            "    src_mask = (src != pad_id).unsqueeze(1).unsqueeze(2)\n"
            "    future = torch.triu(torch.ones(tgt.size(1), tgt.size(1)), diagonal=1)\n"
            "    return src_mask, (tgt != pad_id)[:, None, None, :] & (future == 0)\n")),
        Right("full_size", source=(
            "def make_masks(src, tgt, pad_id=0):\n"
            "    causal = torch.tril(torch.ones(1, 1, tgt.size(1), tgt.size(1))).bool()\n"
            "    tgt_mask = torch.logical_and(tgt.ne(pad_id)[:, None, None], causal)\n"
            "    return src.ne(pad_id)[:, None, None], tgt_mask\n")),
        Right("a_list", edits=(("    return (\n", "    return [\n"), ("(B, Lt, Lt)\n    )", "(B, Lt, Lt)\n    ]"))),
    ),
    precise=False,
)  # fmt: skip


# --- 4.8 transformer ------------------------------------------------------------------

TRANSFORMER = Task(
    name="encoder_decoder/transformer",
    title="The Transformer",
    target="Transformer",
    settings=(
        Setting(
            "post", "post-norm, two vocabularies",
            _model_inputs(9, 7, 6, 2, 2, 5, batch=3, ls=5, lt=4, second=True),
            "Follow a batch by hand: source, encoder, memory; target, decoder, output.",
        ),
        Setting(
            "pre_gelu", "pre-norm, GELU, a long source",
            _model_inputs(8, 11, 4, 2, 2, 6, batch=2, ls=7, lt=3, norm_first=True,
                          activation="gelu"),
            "A pre-norm stack ends with a norm; encoder and decoder each have one.",
        ),
        Setting(
            "shared", "one table for source, target and output",
            _model_inputs(8, 8, 6, 3, 1, 7, batch=2, ls=4, lt=5, shared=True),
            "Shared means: the same parameter, not an equal one.",
        ),
        Setting(
            "gradients", "what padding learns, with another pad_id",
            _model_inputs(7, 9, 4, 2, 1, 5, batch=3, ls=5, lt=6, pad_id=2, pull=True),
            "Does each part that has to do with padding know `pad_id`?",
        ),
        Setting(
            "three_layers", "three layers each, pre-norm, a short table of positions",
            _model_inputs(6, 10, 4, 2, 3, 3, batch=2, ls=4, lt=5, norm_first=True,
                          activation="relu", max_len=9, second=True),
            "Does each argument arrive where it belongs?", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "softmax",
            says="There is a softmax at the end. `F.cross_entropy` has its own, and two of "
            "them flatten everything.",
            asks="Do logits sum to one?",
            edits=(("return self.output(x)", "return self.output(x).softmax(-1)"),),
        ),
        Wrong(
            "log_softmax",
            says="There is a log-softmax at the end. Logits were asked for.",
            asks="Which loss will follow, and what does it do first?",
            edits=(("return self.output(x)", "return self.output(x).log_softmax(-1)"),),
        ),
        Wrong(
            "embeddings_swapped",
            says="Source and target embeddings are exchanged.",
            asks="Which ids go through `source`?",
            edits=(("self.source(src)", "self.target(src)"),
                   ("self.target(tgt)", "self.source(tgt)")),
        ),
        Wrong(
            "source_for_target",
            says="The target ids go through the source embedding.",
            asks="In `decode`, which input layer reads `tgt`?",
            edits=(("self.target(tgt)", "self.source(tgt)"),),
        ),
        Wrong(
            "always_shared",
            says="Source and target share one embedding although separate ones were asked "
            "for.",
            asks="Where does your code look at `shared_embedding`?",
            edits=(("self.source if shared_embedding else embedding(tgt_vocab)", "self.source"),),
        ),
        Wrong(
            "never_shared",
            says="`shared_embedding` has no effect: there are three separate tables.",
            asks="Where does your code look at `shared_embedding`?",
            edits=(("self.source if shared_embedding else embedding(tgt_vocab)", "embedding(tgt_vocab)"),
                   ("            self.output.weight = self.source.embedding.weight\n", "            pass\n")),
        ),
        Wrong(
            "output_not_tied",
            says="Source and target share their table, but the output layer has a weight of "
            "its own.",
            asks="How often is the shared table to serve?",
            edits=(("            self.output.weight = self.source.embedding.weight\n", "            pass\n"),),
        ),
        Wrong(
            "tied_by_copy",
            says="The output weight is a *copy* of the embedding: equal today, different after "
            "the first step of training.",
            asks="Do both names lead to one and the same `nn.Parameter`?",
            edits=(("self.output.weight = self.source.embedding.weight",
                    "self.output.weight.data.copy_(self.source.embedding.weight.data)"),),
        ),
        Wrong(
            "tied_by_clone", like="tied_by_copy",
            edits=(("self.output.weight = self.source.embedding.weight",
                    "self.output.weight = nn.Parameter(self.source.embedding.weight.detach().clone())"),),
        ),
        Wrong(
            "target_not_tied",
            says="Source and output share one table, but the target has its own.",
            asks="How often is the shared table to serve?",
            edits=(("self.source if shared_embedding else embedding(tgt_vocab)", "embedding(tgt_vocab)"),),
        ),
        Wrong(
            "sizes_not_refused",
            says="Shared embeddings of two sizes are not refused.",
            asks="Can one table have 8 rows and 11 rows? Which error says so?",
            edits=(("if shared_embedding and src_vocab != tgt_vocab:", "if False:"),),
        ),
        Wrong(
            "output_of_source_size",
            says="The output layer scores the words of the *source* vocabulary.",
            asks="In which language does the model write?",
            edits=(("self.output = nn.Linear(d_model, tgt_vocab)",
                    "self.output = nn.Linear(d_model, src_vocab)"),),
        ),
        Wrong(
            "vocabularies_swapped",
            says="The sizes of the two embeddings are exchanged.",
            asks="Which vocabulary does `source` read?",
            edits=(("embedding(src_vocab)", "embedding(tgt_vocab)"),
                   ("else embedding(tgt_vocab)", "else embedding(src_vocab)")),
        ),
        Wrong(
            "output_d_model",
            says="The output layer goes from `d_model` to `d_model`: there is no score for "
            "each word.",
            asks="How many words can the model choose from?",
            edits=(("self.output = nn.Linear(d_model, tgt_vocab)",
                    "self.output = nn.Linear(d_model, d_model)"),),
        ),
        Wrong(
            "output_no_bias",
            says="The output layer has no bias.",
            asks="What is the default of `nn.Linear`?",
            edits=(("nn.Linear(d_model, tgt_vocab)", "nn.Linear(d_model, tgt_vocab, bias=False)"),),
        ),
        Wrong(
            "no_output",
            says="The output layer is not applied: `decode` returns vectors, not scores.",
            asks="What is the last arrow of the picture?",
            edits=(("return self.output(x)", "return x"),),
        ),
        Wrong(
            "encoder_on_target",
            says="The decoder looks at the encoded *target*, so the source has no influence.",
            asks="What does `forward` hand to `decode` as memory?",
            edits=(("self.decode(tgt, self.encode(src), src)", "self.decode(tgt, self.encode(tgt), tgt)"),),
        ),
        Wrong(
            "memory_not_encoded",
            says="`encode` stops before the encoder: the memory is the bare embedding.",
            asks="Through which two modules does the source go?",
            edits=(("self.encoder(self.source(src), mask)", "self.source(src)"),),
        ),
        Wrong(
            "encode_no_mask",
            says="The encoder gets no mask: source padding is listened to.",
            asks="What is the second argument of your encoder?",
            edits=(("self.encoder(self.source(src), mask)", "self.encoder(self.source(src))"),),
        ),
        Wrong(
            "decode_no_memory_mask",
            says="The decoder gets no mask for the memory: source padding is listened to.",
            asks="For what does `decode` need `src`?",
            edits=(("memory, tgt_mask, src_mask)", "memory, tgt_mask)"),),
        ),
        Wrong(
            "decode_no_target_mask",
            says="The decoder gets no target mask: it sees the future.",
            asks="What is the third argument of your decoder?",
            edits=(("memory, tgt_mask, src_mask)", "memory, None, src_mask)"),),
        ),
        Wrong(
            "decoder_masks_swapped",
            says="The decoder gets its two masks in the wrong order.",
            asks="Which comes first, `tgt_mask` or `memory_mask`?",
            edits=(("memory, tgt_mask, src_mask)", "memory, src_mask, tgt_mask)"),),
        ),
        Wrong(
            "pad_id_ignored_in_masks",
            says="The masks take 0 for padding, whatever `pad_id` says.",
            asks="Who tells the mask functions about `pad_id`?",
            edits=(("self.pad_id = pad_id", "self.pad_id = 0"),),
        ),
        Wrong(
            "pad_id_ignored_in_embedding",
            says="The embeddings do not know `pad_id`, so padding's vector is trained (or "
            "that of a real word is not).",
            asks="What is the last argument of `InputLayer`?",
            edits=(("vocab, d_model, positions, dropout, pad_id", "vocab, d_model, positions, dropout"),),
        ),
        Wrong(
            "no_positions",
            says="There are no positions: the model cannot know the order of the words.",
            asks="What do you do if `positions` is None?",
            edits=(("positions = positional_encoding.PositionalEncoding(table)", "positions = nn.Identity()"),),
        ),
        Wrong(
            "positions_twice",
            says="Positions are added twice.",
            asks="What does `InputLayer` do by itself already?",
            edits=(("self.encoder(self.source(src), mask)", "self.encoder(self.source.positions(self.source(src)), mask)"),
                   ("self.decoder(self.target(tgt), ", "self.decoder(self.target.positions(self.target(tgt)), ")),
        ),
        Wrong(
            "scaled_twice",
            says="The embeddings are scaled by the root of `d_model` twice.",
            asks="What does `InputLayer` do by itself already?",
            edits=(("self.encoder(self.source(src), mask)", "self.encoder(self.source(src) * self.source.scale, mask)"),
                   ("self.decoder(self.target(tgt), ", "self.decoder(self.target(tgt) * self.target.scale, ")),
        ),
        Wrong(
            "no_final_norm",
            says="The pre-norm stacks have no norm at the end.",
            asks="What does a pre-norm stack need that a post-norm stack does not?",
            edits=(("nn.LayerNorm(d_model) if norm_first else None", "None"),),
        ),
        Wrong(
            "always_final_norm",
            says="The post-norm stacks have a norm at the end, too. (So has `nn.Transformer`; "
            "the paper has not.)",
            asks="What has a post-norm stack just done when its last layer is through?",
            edits=(("nn.LayerNorm(d_model) if norm_first else None", "nn.LayerNorm(d_model)"),),
        ),
        Wrong(
            "one_final_norm",
            says="Encoder and decoder share one final norm; each has its own.",
            asks="How often is your `nn.LayerNorm(...)` created?",
            edits=(("        def stack(kind: type", "        final = nn.LayerNorm(d_model) if norm_first else None\n\n        def stack(kind: type"),
                   ("            norm = nn.LayerNorm(d_model) if norm_first else None\n", "            norm = final\n")),
        ),
        Wrong(
            "norm_first_ignored",
            says="The layers are post-norm, even if `norm_first` is True.",
            asks="Which arguments do your layers get?",
            edits=(("d_ff, dropout, norm_first, activation)\n            norm", "d_ff, dropout, False, activation)\n            norm"),),
        ),
        Wrong(
            "activation_ignored",
            says="`activation` does not reach the layers.",
            asks="Which arguments do your layers get?",
            edits=(("d_ff, dropout, norm_first, activation)\n            norm", "d_ff, dropout, norm_first)\n            norm"),),
        ),
        Wrong(
            "one_layer",
            says="The stacks have one layer, whatever `num_layers` says.",
            asks="Where does `num_layers` go?",
            edits=(("layer(*sizes), num_layers, norm)", "layer(*sizes), 1, norm)"),),
        ),
        Wrong(
            "sizes_swapped",
            says="`d_ff` and the number of heads have changed places.",
            asks="In which order does `EncoderLayer` take its sizes?",
            edits=(("sizes = (d_model, num_heads, d_ff,", "sizes = (d_model, d_ff, num_heads,"),),
        ),
        Wrong(
            "masks_of_first_batch",
            says="The masks of the first batch are kept and used for later ones.",
            asks="When are your masks made: once, or for each batch?",
            edits=(("src_mask, tgt_mask = make_masks(src, tgt, self.pad_id)",
                    "self.kept = getattr(self, 'kept', None) or make_masks(src, tgt, self.pad_id)\n"
                    "        src_mask, tgt_mask = self.kept"),),
        ),
        Wrong(
            "last_only",
            says="Only the last position gets logits.",
            asks="How many next words are predicted at once in training?",
            edits=(("return self.output(x)", "return self.output(x[:, -1])"),),
        ),
        Wrong(
            "encode_returns_pair",
            says="`encode` returns more than the memory.",
            asks="What does its docstring promise?",
            edits=(("return self.encoder(self.source(src), mask)", "return self.encoder(self.source(src), mask), mask"),
                   ("self.encode(src), src", "self.encode(src)[0], src")),
        ),
    ),
    right=(
        Right("spelt_out", source=(
            "class Transformer(nn.Module):\n"
            "    def __init__(self, src_vocab, tgt_vocab, d_model, num_heads, num_layers, d_ff,\n"
            "                 dropout=0.0, norm_first=False, activation='relu',\n"
            "                 shared_embedding=False, pad_id=0, max_len=512, positions=None):\n"
            "        super().__init__()\n"
            "        self.pad = pad_id\n"
            "        pe = positional_encoding\n"
            "        if positions is None:\n"
            "            positions = pe.PositionalEncoding(pe.sinusoid(torch.arange(max_len), d_model))\n"
            "        self.output = nn.Linear(d_model, tgt_vocab)\n"
            "        self.source = pe.InputLayer(src_vocab, d_model, positions, dropout, pad_id)\n"
            "        if shared_embedding:\n"
            "            assert src_vocab == tgt_vocab, 'one table, one vocabulary'\n"
            "            self.target = self.source\n"
            "            self.output.weight = self.source.embedding.weight\n"
            "        else:\n"
            "            self.target = pe.InputLayer(tgt_vocab, d_model, positions, dropout, pad_id)\n"
            "        enc_norm = nn.LayerNorm(d_model) if norm_first else None\n"
            "        dec_norm = nn.LayerNorm(d_model) if norm_first else None\n"
            "        self.decoder = Decoder(lambda: DecoderLayer(d_model, num_heads, d_ff, dropout,\n"
            "            norm_first, activation), num_layers, dec_norm)\n"
            "        self.encoder = Encoder(lambda: EncoderLayer(d_model, num_heads, d_ff, dropout,\n"
            "            norm_first, activation), num_layers, enc_norm)\n"
            "    def encode(self, src):\n"
            "        return self.encoder(self.source(src), (src != self.pad)[:, None, None])\n"
            "    def decode(self, tgt, memory, src):\n"
            "        src_mask, tgt_mask = make_masks(src, tgt, self.pad)\n"
            "        return self.output(self.decoder(self.target(tgt), memory, tgt_mask, src_mask))\n"
            "    def forward(self, src, tgt):\n"
            "        memory = self.encode(src)\n"
            "        return self.decode(tgt, memory, src)\n")),
        Right("positions_each", edits=(
            ("        if positions is None:\n", "        import copy\n        if positions is None:\n"),
            ("vocab, d_model, positions, dropout, pad_id", "vocab, d_model, copy.deepcopy(positions), dropout, pad_id"))),
        Right("tied_the_other_way", edits=(
            ("self.output.weight = self.source.embedding.weight", "self.source.embedding.weight = self.output.weight"),)),
        Right("xavier", edits=(
            ("self.pad_id = pad_id", "self.pad_id = pad_id\n        for p in self.parameters():\n"
             "            if p.dim() > 1:\n                nn.init.xavier_uniform_(p)"),)),
        Right("keywords", edits=(
            ("memory, tgt_mask, src_mask)", "memory=memory, memory_mask=src_mask, tgt_mask=tgt_mask)"),
            ("self.decode(tgt, self.encode(src), src)", "self.decode(tgt=tgt, memory=self.encode(src), src=src)"))),
    ),
)  # fmt: skip


# --- 4.9 to PyTorch -------------------------------------------------------------------

TO_PYTORCH = Task(
    name="encoder_decoder/to_pytorch",
    title="Your parameters under PyTorch's names",
    target="to_pytorch",
    settings=(
        Setting(
            "encoder_layer", "an encoder layer", _state(_layer("", ENCODER, 4, 3)),
            "Write both lists of names side by side.",
        ),
        Setting(
            "decoder_layer", "a decoder layer", _state(_layer("", DECODER, 3, 5)),
            "`attention` is a part of `self_attention` and `cross_attention`, too.",
        ),
        Setting(
            "both_stacks", "encoder and decoder with final norms",
            _state(_stack("encoder.", ENCODER, 2, 2, 3, True)
                   | _stack("decoder.", DECODER, 1, 2, 3, True)),
            "Does your code work under any prefix?",
        ),
        Setting(
            "deep", "a deep stack under a long prefix",
            _state(_stack("model.body.decoder.", DECODER, 3, 2, 5, False)),
            "Does your code work under any prefix?", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "order_kqv",
            says="The three projections are joined in another order than query, key, value.",
            asks="How does PyTorch's documentation order the rows of `in_proj_weight`?",
            edits=(('for letter in "qkv"', 'for letter in "kqv"'),),
        ),
        Wrong(
            "order_qvk",
            says="Key and value are exchanged in `in_proj_weight`.",
            asks="Which comes second?",
            edits=(('for letter in "qkv"', 'for letter in "qvk"'),),
        ),
        Wrong(
            "joined_as_columns",
            says="The projections are joined side by side, as columns. They belong one below "
            "the other.",
            asks="What shape has the joined weight to have?",
            edits=(("torch.cat(thirds)", "torch.cat(thirds, dim=-1)"),),
        ),
        Wrong(
            "transposed",
            says="The weights are transposed. `nn.Linear` and `nn.MultiheadAttention` store "
            "them the same way.",
            asks="What is the shape of `nn.Linear(a, b).weight`?",
            edits=(("torch.cat(thirds)", "torch.cat([third.T for third in thirds])"),),
        ),
        Wrong(
            "stacked",
            says="The projections are stacked along a new dimension.",
            asks="Which function joins along a dimension that exists?",
            edits=(("torch.cat(thirds)", "torch.stack(thirds)"),),
        ),
        Wrong(
            "query_only",
            says="`in_proj_weight` holds the query projection only.",
            asks="Three tensors become one. Where are the other two?",
            edits=(("torch.cat(thirds)  #", "thirds[0]  #"),),
        ),
        Wrong(
            "one_for_all",
            says="The query projection is used three times.",
            asks="Which letters does your loop run through?",
            edits=(("torch.cat(thirds)", "torch.cat([thirds[0]] * 3)"),),
        ),
        Wrong(
            "wk_kept",
            says="Keys and values are still there under their old names.",
            asks="What should become of a `w_k` when it has been joined?",
            edits=(("            continue\n", "            theirs[name] = tensor\n            continue\n"),),
        ),
        Wrong(
            "nothing_joined",
            says="The projections are renamed, but not joined.",
            asks="What does PyTorch have in place of three linear layers?",
            edits=(('        if ".w_k." in name or ".w_v." in name:\n            continue\n', ""),
                   ("tensor = torch.cat(thirds)", "tensor = tensor")),
        ),
        Wrong(
            "dot_kept",
            says="The joined parameters are called `in_proj.weight` instead of `in_proj_weight`.",
            asks="Is `in_proj_weight` a module with a weight, or a parameter?",
            edits=(('"w_q.": "in_proj_"', '"w_q.": "in_proj."'),),
        ),
        Wrong(
            "out_proj_forgotten",
            says="`w_o` keeps its name; PyTorch calls it `out_proj`.",
            asks="Which line of the table is missing in your code?",
            edits=(('        "w_o.": "out_proj.",\n', ""),),
        ),
        Wrong(
            "feed_forward_kept",
            says="`feed_forward.` is still in the names; in PyTorch's layer `linear1` stands by "
            "itself.",
            asks="Which line of the table is missing in your code?",
            edits=(('        "feed_forward.": "",\n', ""),),
        ),
        Wrong(
            "cross_forgotten",
            says="The cross-attention has become `cross_self_attn`: the short name was replaced "
            "inside the long one.",
            asks="Which replacement must come first?",
            edits=(('        "cross_attention.": "multihead_attn.",\n', ""),),
        ),
        Wrong(
            "order_of_names",
            says="`self_attention` has become `self_self_attn`, and `cross_attention` "
            "`cross_self_attn`: the short name was replaced inside the long ones.",
            asks="Which replacement must come last?",
            edits=(('        "cross_attention.": "multihead_attn.",\n        "self_attention.": "self_attn.",\n        "attention.": "self_attn.",\n',
                    '        "attention.": "self_attn.",\n        "cross_attention.": "multihead_attn.",\n        "self_attention.": "self_attn.",\n'),),
        ),
        Wrong(
            "self_forgotten",
            says="`self_attention` has become `self_self_attn`.",
            asks="Which replacement must come before `attention` alone?",
            edits=(('        "self_attention.": "self_attn.",\n', ""),),
        ),
        Wrong(
            "attentions_swapped",
            says="The decoder's two attentions are exchanged.",
            asks="Which of yours is PyTorch's `multihead_attn`?",
            edits=(('"cross_attention.": "multihead_attn."', '"cross_attention.": "self_attn."'),
                   ('"self_attention.": "self_attn."', '"self_attention.": "multihead_attn."')),
        ),
        Wrong(
            "encoder_forgotten",
            says="The encoder's `attention` keeps its name; PyTorch calls it `self_attn`.",
            asks="Which line of the table is missing in your code?",
            edits=(('        "attention.": "self_attn.",\n', ""),),
        ),
        Wrong(
            "biases_lost",
            says="The biases of the projections are lost.",
            asks="Which of `weight` and `bias` does your code join?",
            edits=(("        if \".w_q.\" in name:\n", "        if \".w_q.bias\" in name:\n            continue\n        if \".w_q.\" in name:\n"),),
        ),
        Wrong(
            "norms_lost",
            says="The norms are missing.",
            asks="What does your code do with names that are not in the table?",
            edits=(("        theirs[name] = tensor\n", '        if "norm" not in name:\n            theirs[name] = tensor\n'),),
        ),
        Wrong(
            "changes_given",
            says="The given dictionary is changed: entries are missing from it afterwards.",
            asks="Do you `pop` from the dictionary that you were given?",
            edits=(("for name, tensor in state.items():", "for name in list(state):\n        tensor = state[name]"),
                   ("            continue\n", "            continue\n        old = name\n"),
                   ("        theirs[name] = tensor\n", "        theirs[name] = tensor\n        if not old.endswith('_q.weight'):\n            state.pop(old)\n")),
        ),
        Wrong(
            "no_prefix",
            says="Your code works for a single layer, but not for names with a prefix.",
            asks="What comes before `attention` in `encoder.layers.0.attention.w_q.weight`?",
            edits=(("            name = name.replace(mine, new)\n",
                    "            if name.startswith(mine) or '.layers.' not in '.' + name:\n"
                    "                name = name.replace(mine, new)\n"),),
        ),
    ),
    right=(
        Right("by_prefix", source=(
            "def to_pytorch(state):\n"
            "    out = {}\n"
            "    for key in state:\n"
            "        *path, module, kind = key.split('.')\n"
            "        path = ['multihead_attn' if p == 'cross_attention' else p for p in path]\n"
            "        path = ['self_attn' if p in ('attention', 'self_attention') else p for p in path]\n"
            "        path = [p for p in path if p != 'feed_forward']\n"
            "        if module in ('w_k', 'w_v'):\n"
            "            continue\n"
            "        if module == 'w_q':\n"
            "            head = key[: -len(f'w_q.{kind}')]\n"
            "            parts = [state[f'{head}{m}.{kind}'] for m in ('w_q', 'w_k', 'w_v')]\n"
            "            out['.'.join([*path, f'in_proj_{kind}'])] = torch.cat(parts, dim=0)\n"
            "            continue\n"
            "        module = 'out_proj' if module == 'w_o' else module\n"
            "        out['.'.join([*path, module, kind])] = state[key].clone()\n"
            "    return out\n")),
        Right("regular_expressions", source=(
            "def to_pytorch(state):\n"
            "    import re\n"
            "    def new(name):\n"
            "        name = name.replace('cross_attention', 'multihead_attn')\n"
            "        name = re.sub(r'\\b(self_)?attention\\b', 'self_attn', name)\n"
            "        return name.replace('feed_forward.', '').replace('w_o', 'out_proj')\n"
            "    found = {new(n): t for n, t in state.items()}\n"
            "    for name in [n for n in found if '.w_q.' in n]:\n"
            "        q, k, v = (found.pop(name.replace('w_q', w)) for w in ('w_q', 'w_k', 'w_v'))\n"
            "        found[name.replace('w_q.', 'in_proj_')] = torch.vstack((q, k, v)) if q.dim() == 2 else torch.hstack((q, k, v))\n"
            "    return found\n")),
        Right("an_ordered_dict", edits=(
            ("    theirs = {}\n", "    from collections import OrderedDict\n    theirs = OrderedDict()\n"),)),
    ),
)  # fmt: skip


# --- 4.10 language model --------------------------------------------------------------

LANGUAGE_MODEL = Task(
    name="encoder_decoder/language_model",
    title="One class for two families",
    target="LanguageModel",
    settings=(
        Setting(
            "both_sides", "encoder-only: both sides are seen",
            _language_model_inputs(9, 6, 2, 2, 5, False, batch=3, length=5, second=True),
            "Which mask does the encoder get if the model is not causal?",
        ),
        Setting(
            "causal", "decoder-only: the left side is seen",
            _language_model_inputs(7, 4, 2, 2, 3, True, batch=2, length=6, second=True),
            "Which mask does the encoder get if the model is causal?",
        ),
        Setting(
            "post", "causal, post-norm, ReLU, another pad_id",
            _language_model_inputs(8, 6, 3, 1, 7, True, batch=3, length=5,
                                   norm_first=False, activation="relu", pad_id=2),
            "Does each argument arrive where it belongs?",
        ),
        Setting(
            "deep", "three layers, another pad_id",
            _language_model_inputs(11, 4, 2, 3, 6, False, batch=2, length=7, pad_id=3),
            "Does each argument arrive where it belongs?", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "never_causal",
            says="The model sees the future, even if it is to be causal.",
            asks="Where does your code look at `causal`?",
            edits=(("if self.causal:", "if False:"),),
        ),
        Wrong(
            "always_causal",
            says="The model is causal in both cases.",
            asks="Where does your code look at `causal`?",
            edits=(("if self.causal:", "if True:"),),
        ),
        Wrong(
            "causal_inverted",
            says="It is causal exactly when it should not be.",
            asks="What does your `if` ask?",
            edits=(("if self.causal:", "if not self.causal:"),),
        ),
        Wrong(
            "causal_in_training_only",
            says="The causal mask is used in training only, so in evaluation the model sees "
            "the future.",
            asks="Your validation loss would be wonderful. Why?",
            edits=(("if self.causal:", "if self.causal and self.training:"),),
            like="never_causal",
        ),
        Wrong(
            "causal_without_padding",
            says="With the causal mask, the padding mask is lost.",
            asks="What is `combine_masks` for?",
            edits=(("mask = attention.combine_masks(mask, causal)", "mask = causal"),),
        ),
        Wrong(
            "no_mask",
            says="The encoder gets no mask at all.",
            asks="What is the second argument of your encoder?",
            edits=(("self.input(ids), mask)", "self.input(ids))"),),
        ),
        Wrong(
            "no_padding_mask",
            says="Padding is listened to.",
            asks="Which mask depends on the ids?",
            edits=(("mask = attention.padding_mask(ids, self.pad_id)", "mask = None"),),
        ),
        Wrong(
            "or_for_and",
            says="Padding and causal mask are joined by \"or\": each opens what the other had "
            "closed.",
            asks="Two guards must both say yes. Which logical word is that?",
            edits=(("attention.combine_masks(mask, causal)", "mask | causal"),),
        ),
        Wrong(
            "pad_id_ignored",
            says="The masks take 0 for padding, whatever `pad_id` says.",
            asks="Who tells the mask function about `pad_id`?",
            edits=(("self.pad_id = pad_id", "self.pad_id = 0"),),
        ),
        Wrong(
            "no_positions",
            says="There are no positions.",
            asks="Which module do you hand to `InputLayer`?",
            edits=(("positions = positional_encoding.PositionalEncoding(table)", "positions = nn.Identity()"),),
        ),
        Wrong(
            "no_final_norm",
            says="The pre-norm stack has no norm at the end.",
            asks="What does a pre-norm stack need that a post-norm stack does not?",
            edits=(("nn.LayerNorm(d_model) if norm_first else None", "None"),),
        ),
        Wrong(
            "always_final_norm",
            says="The post-norm stack has a norm at the end, too.",
            asks="What has a post-norm stack just done when its last layer is through?",
            edits=(("nn.LayerNorm(d_model) if norm_first else None", "nn.LayerNorm(d_model)"),),
        ),
        Wrong(
            "norm_first_ignored",
            says="The layers are post-norm, whatever `norm_first` says.",
            asks="Which arguments do your layers get? (Their own default is another one.)",
            edits=(("dropout, norm_first, activation)", "dropout, False, activation)"),),
        ),
        Wrong(
            "activation_ignored",
            says="The layers bend with ReLU, their own default, whatever `activation` says.",
            asks="Which arguments do your layers get?",
            edits=(("dropout, norm_first, activation)", "dropout, norm_first)"),),
        ),
        Wrong(
            "softmax",
            says="There is a softmax at the end. Logits were asked for.",
            asks="Which loss will follow, and what does it do first?",
            edits=(("return self.output(self.encoder(self.input(ids), mask))",
                    "return self.output(self.encoder(self.input(ids), mask)).softmax(-1)"),),
        ),
        Wrong(
            "no_output",
            says="The output layer is not applied.",
            asks="How many scores should each position get?",
            edits=(("self.output(self.encoder(self.input(ids), mask))", "self.encoder(self.input(ids), mask)"),),
        ),
        Wrong(
            "one_layer",
            says="The stack has one layer, whatever `num_layers` says.",
            asks="Where does `num_layers` go?",
            edits=(("num_layers, norm)", "1, norm)"),),
        ),
        Wrong(
            "masks_of_first_batch",
            says="The mask of the first batch is kept and used for later ones.",
            asks="When is your mask made: once, or for each batch?",
            edits=(("return self.output", "self.kept = mask = getattr(self, 'kept', mask)\n        return self.output"),),
        ),
        Wrong(
            "decoder_used",
            says="There are more weights than there should be: layers with a cross-attention. "
            "Without a memory there is nothing to look at.",
            asks="What is left of a decoder layer without cross-attention?",
            edits=(("Encoder(lambda: EncoderLayer(*sizes), num_layers, norm)", "Decoder(lambda: DecoderLayer(*sizes), num_layers, norm)"),
                   ("self.encoder(self.input(ids), mask)", "self.encoder(self.input(ids), self.input(ids), mask, mask)")),
        ),
    ),
    right=(
        Right("by_hand", source=(
            "class LanguageModel(nn.Module):\n"
            "    def __init__(self, vocab, d_model, num_heads, num_layers, d_ff, causal,\n"
            "                 dropout=0.0, norm_first=True, activation='gelu', pad_id=0,\n"
            "                 max_len=512):\n"
            "        super().__init__()\n"
            "        pe = positional_encoding\n"
            "        self.output = nn.Linear(d_model, vocab)\n"
            "        self.encoder = Encoder(\n"
            "            lambda: EncoderLayer(d_model, num_heads, d_ff, dropout=dropout,\n"
            "                                 norm_first=norm_first, activation=activation),\n"
            "            num_layers, norm=nn.LayerNorm(d_model) if norm_first else None)\n"
            "        places = pe.PositionalEncoding(pe.sinusoid(torch.arange(max_len), d_model))\n"
            "        self.input = pe.InputLayer(vocab, d_model, places, dropout, pad_id)\n"
            "        self.is_causal, self.pad = causal, pad_id\n"
            "    def forward(self, ids):\n"
            "        length = ids.shape[1]\n"
            "        mask = (ids != self.pad)[:, None, None, :]\n"
            "        if self.is_causal:\n"
            "            mask = mask & torch.ones(length, length, dtype=torch.bool).tril()\n"
            "        return self.output(self.encoder(self.input(ids), mask))\n")),
        Right("make_masks", edits=(
            ("mask = attention.padding_mask(ids, self.pad_id)", "mask, both = make_masks(ids, ids, self.pad_id)"),
            ("            causal = attention.causal_mask(ids.size(1)).to(ids.device)\n            mask = attention.combine_masks(mask, causal)", "            mask = both"))),
        Right("causal_or_none", edits=(
            ("        if self.causal:\n            causal = attention.causal_mask(ids.size(1)).to(ids.device)\n            mask = attention.combine_masks(mask, causal)",
             "        causal = attention.causal_mask(ids.size(1)) if self.causal else None\n        mask = attention.combine_masks(mask, causal)"),)),
    ),
)  # fmt: skip


# --- 4.11 masked tokens ---------------------------------------------------------------

MASKED_TOKENS = Task(
    name="encoder_decoder/masked_tokens",
    title="Inputs and targets for hidden tokens",
    target="masked_tokens",
    settings=(
        Setting(
            "default", "padding 0, ignored -100", _hidden(3, 6, 4),
            "Three kinds of places: chosen and real, real only, padding.",
        ),
        Setting(
            "other_pad", "another pad_id", _hidden(4, 5, 4, 7),
            "Is the id of padding always 0?",
        ),
        Setting(
            "other_ignore", "another ignored target", _hidden(2, 7, 9, 3, -1),
            "Does your code use all five arguments?",
        ),
        Setting(
            "long", "longer sentences", _hidden(5, 11, 8, 1, -7),
            "Does it depend on the sizes?", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "padding_hidden",
            says="Padding is hidden and asked for where `chosen` falls on it.",
            asks="When is a token really hidden? There are two conditions.",
            edits=(("chosen & (ids != pad_id)", "chosen"),),
        ),
        Wrong(
            "padding_asked",
            says="Padding is not hidden, but it is asked for.",
            asks="Do inputs and targets use the same condition?",
            edits=(("ids.masked_fill(~hidden, ignore)", "ids.masked_fill(~chosen, ignore)"),),
        ),
        Wrong(
            "padding_replaced",
            says="Padding is not asked for, but it is replaced by the mask token.",
            asks="Do inputs and targets use the same condition?",
            edits=(("ids.masked_fill(hidden, mask_id)", "ids.masked_fill(chosen, mask_id)"),),
        ),
        Wrong(
            "all_targets",
            says="Every place is asked for, also where the answer stands in the input.",
            asks="Which places should count in the loss?",
            edits=(("ids.masked_fill(~hidden, ignore)", "ids"),),
        ),
        Wrong(
            "all_but_padding",
            says="All real tokens are asked for, also where the answer stands in the input.",
            asks="Which places should count in the loss?",
            edits=(("ids.masked_fill(~hidden, ignore)", "ids.masked_fill(ids == pad_id, ignore)"),),
        ),
        Wrong(
            "targets_inverted",
            says="The targets ask for exactly the tokens that were *not* hidden.",
            asks="Does `masked_fill` fill where its mask is True, or where it is False?",
            edits=(("~hidden", "hidden"),),
        ),
        Wrong(
            "inputs_inverted",
            says="The inputs hide exactly the tokens that were not chosen.",
            asks="Does `masked_fill` fill where its mask is True, or where it is False?",
            edits=(("ids.masked_fill(hidden, mask_id)", "ids.masked_fill(~hidden, mask_id)"),),
        ),
        Wrong(
            "inputs_not_hidden",
            says="Nothing is hidden: the inputs are the ids, so the model can copy.",
            asks="What stands in the inputs where a token is asked for?",
            edits=(("ids.masked_fill(hidden, mask_id)", "ids"),),
        ),
        Wrong(
            "targets_of_inputs",
            says="The targets ask for the mask token itself, not for what it hides.",
            asks="From which tensor do you take the targets?",
            edits=(("return ids.masked_fill(hidden, mask_id), ids.masked_fill(~hidden, ignore)",
                    "inputs = ids.masked_fill(hidden, mask_id)\n    return inputs, inputs.masked_fill(~hidden, ignore)"),),
        ),
        Wrong(
            "ignore_is_pad",
            says="Places that do not count get the padding id as their target; `ignore` was "
            "asked for.",
            asks="Which target does `F.cross_entropy` leave out by default?",
            edits=(("ids.masked_fill(~hidden, ignore)", "ids.masked_fill(~hidden, pad_id)"),),
        ),
        Wrong(
            "ignore_fixed",
            says="You wrote -100 by hand; `ignore` may be another number.",
            asks="Which argument does not occur in your code?",
            edits=(("ids.masked_fill(~hidden, ignore)", "ids.masked_fill(~hidden, -100)"),),
        ),
        Wrong(
            "pad_fixed",
            says="You take 0 for padding, whatever `pad_id` says.",
            asks="Which argument does not occur in your code?",
            edits=(("(ids != pad_id)", "(ids != 0)"),),
        ),
        Wrong(
            "swapped",
            says="Inputs and targets are returned in the other order.",
            asks="Which comes first, by the docstring?",
            edits=(("return ids.masked_fill(hidden, mask_id), ids.masked_fill(~hidden, ignore)",
                    "return ids.masked_fill(~hidden, ignore), ids.masked_fill(hidden, mask_id)"),),
        ),
        Wrong(
            "in_place",
            says="`ids` are not what they were before, and the targets have lost the hidden tokens.",
            asks="Which operation ends with an underscore? What do your targets read?",
            edits=(("ids.masked_fill(hidden, mask_id)", "ids.masked_fill_(hidden, mask_id)"),),
        ),
        Wrong(
            "in_place_late",
            says="The results are right, but the given `ids` were changed.",
            asks="Did you work on a copy?",
            edits=(("return ids.masked_fill(hidden, mask_id), ids.masked_fill(~hidden, ignore)",
                    "targets = ids.masked_fill(~hidden, ignore)\n    ids[hidden] = mask_id\n    return ids, targets"),),
        ),
        Wrong(
            "only_targets_asked",
            says="The targets are a list of the hidden tokens only; they must have the shape "
            "of the ids.",
            asks="How would the loss know to which place a target belongs?",
            edits=(("ids.masked_fill(~hidden, ignore)", "ids[hidden]"),),
        ),
        Wrong(
            "floats",
            says="The results are floating-point numbers; ids are whole numbers.",
            asks="Which operation turned them into floats?",
            edits=(("ids.masked_fill(hidden, mask_id), ids.masked_fill(~hidden, ignore)",
                    "ids.float().masked_fill(hidden, mask_id), ids.float().masked_fill(~hidden, ignore)"),),
        ),
    ),
    right=(
        Right("where", source=(
            "def masked_tokens(ids, chosen, mask_id, pad_id=0, ignore=-100):\n"
            "    real = ids.ne(pad_id)\n"
            "    hide = torch.logical_and(chosen, real)\n"
            "    return torch.where(hide, mask_id, ids), torch.where(hide, ids, ignore)\n")),
        Right("index", source=(
            "def masked_tokens(ids, chosen, mask_id, pad_id=0, ignore=-100):\n"
            "    hide = chosen & ~(ids == pad_id)\n"
            "    inputs = ids.clone()\n"
            "    inputs[hide] = mask_id\n"
            "    targets = torch.full_like(ids, ignore)\n"
            "    targets[hide] = ids[hide]\n"
            "    return inputs, targets\n")),
        Right("loops", source=(
            "def masked_tokens(ids, chosen, mask_id, pad_id=0, ignore=-100):\n"
            "    inputs, targets = ids.clone(), ids.clone()\n"
            "    for b in range(ids.shape[0]):\n"
            "        for i in range(ids.shape[1]):\n"
            "            if chosen[b, i] and ids[b, i] != pad_id:\n"
            "                inputs[b, i] = mask_id\n"
            "            else:\n"
            "                targets[b, i] = ignore\n"
            "    return inputs, targets\n")),
    ),
    precise=False,
)  # fmt: skip


# --- 4.12 shifted ---------------------------------------------------------------------

_FILL = "following.masked_fill(following == pad_id, ignore)"

SHIFTED = Task(
    name="encoder_decoder/shifted",
    title="Inputs and targets for the next token",
    target="shifted",
    settings=(
        Setting(
            "default", "padding 0, ignored -100", _sentences(3, 7),
            "Write one row by hand, as in the picture.",
        ),
        Setting(
            "other_pad", "another pad_id", _sentences(4, 6, 7),
            "Is the id of padding always 0?",
        ),
        Setting(
            "other_ignore", "another ignored target", _sentences(2, 5, 3, -1),
            "Does your code use all three arguments?",
        ),
        Setting(
            "long", "longer sentences", _sentences(5, 12, 4, -7),
            "Does it depend on the sizes?", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "no_shift",
            says="Inputs and targets stand at the same places: the model would learn to copy.",
            asks="At BOS, which token should be named?",
            edits=(("ids[:, 1:]", "ids[:, :-1]"),),
        ),
        Wrong(
            "no_shift_full",
            says="Inputs and targets are the whole rows: nothing is shifted, and the model "
            "would learn to copy.",
            asks="How many pairs (token, next token) are there in a row of L tokens?",
            edits=(("ids[:, 1:]", "ids"), ("ids[:, :-1]", "ids")),
        ),
        Wrong(
            "wrong_way",
            says="The shift goes the wrong way: the model would name the *previous* token.",
            asks="Is the first token ever a target? Is the last one ever an input?",
            edits=(("ids[:, 1:]  #", "ids[:, :-1]  #"), ("return ids[:, :-1]", "return ids[:, 1:]")),
        ),
        Wrong(
            "swapped",
            says="Inputs and targets are returned in the other order.",
            asks="Which comes first, by the docstring?",
            edits=(("return ids[:, :-1], " + _FILL, "return " + _FILL + ", ids[:, :-1]"),),
        ),
        Wrong(
            "inputs_whole",
            says="The inputs are one token too long.",
            asks="Is there a next token after the last one?",
            edits=(("return ids[:, :-1]", "return ids"),),
        ),
        Wrong(
            "bos_dropped",
            says="The inputs start after BOS, so nothing is asked about the first word.",
            asks="What does the model read before it names the first word?",
            edits=(("return ids[:, :-1]", "return ids[:, 1:-1]"), (_FILL, _FILL + "[:, 1:]")),
        ),
        Wrong(
            "eos_dropped",
            says="The last column is missing: in the longest rows the model is never asked for "
            "EOS, so it does not learn to stop.",
            asks="What is the last target of the longest row?",
            edits=(("ids[:, 1:]", "ids[:, 1:-1]"), ("return ids[:, :-1]", "return ids[:, :-2]")),
        ),
        Wrong(
            "eos_ignored",
            says="EOS is never a target, so the model does not learn to stop.",
            asks="Which tokens are to be ignored: padding, or also EOS?",
            edits=(("following == pad_id", "(following == pad_id) | (following == 2)"),),
        ),
        Wrong(
            "padding_asked",
            says="Padding is a target: the model would be asked to name it.",
            asks="What is `ignore` for?",
            edits=((_FILL, "following"),),
        ),
        Wrong(
            "ignored_by_input",
            says="The target is ignored where the *input* is padding. So the first padding "
            "after EOS still counts.",
            asks="Whose padding matters: that of the input, or that of the target?",
            edits=(("following == pad_id", "ids[:, :-1] == pad_id"),),
        ),
        Wrong(
            "ignore_fixed",
            says="You wrote -100 by hand; `ignore` may be another number.",
            asks="Which argument does not occur in your code?",
            edits=(("following == pad_id, ignore)", "following == pad_id, -100)"),),
        ),
        Wrong(
            "pad_fixed",
            says="You take 0 for padding, whatever `pad_id` says.",
            asks="Which argument does not occur in your code?",
            edits=(("following == pad_id", "following == 0"),),
        ),
        Wrong(
            "ignore_in_inputs",
            says="`ignore` stands in the inputs, too. It is no token: an embedding has no row -100.",
            asks="In which of the two tensors is padding replaced?",
            edits=(("return ids[:, :-1]", "return ids[:, :-1].masked_fill(ids[:, :-1] == pad_id, ignore)"),),
        ),
        Wrong(
            "batch_axis",
            says="The shift goes along the batch: whole sentences are cut off.",
            asks="Which dimension holds the positions?",
            edits=(("ids[:, 1:]", "ids[1:]"), ("ids[:, :-1]", "ids[:-1]")),
        ),
        Wrong(
            "rolled",
            says="The targets are rolled, so BOS comes back as the target of the last place.",
            asks="What does `roll` do with what falls off the edge?",
            edits=(("ids[:, 1:]", "ids.roll(-1, dims=1)"), ("return ids[:, :-1]", "return ids")),
        ),
        Wrong(
            "in_place",
            says="The given `ids` were changed, and with them the inputs.",
            asks="A slice is a view. What does an operation with an underscore do to it?",
            edits=((_FILL, "following.masked_fill_(following == pad_id, ignore)"),),
        ),
        Wrong(
            "two_steps",
            says="The targets are shifted by two.",
            asks="How far is the next token away?",
            edits=(("ids[:, 1:]", "ids[:, 2:]"), ("return ids[:, :-1]", "return ids[:, :-2]")),
        ),
    ),
    right=(
        Right("where", source=(
            "def shifted(ids, pad_id=0, ignore=-100):\n"
            "    inputs = ids[..., :-1].clone()\n"
            "    targets = torch.where(ids[..., 1:] == pad_id, ignore, ids[..., 1:])\n"
            "    return inputs, targets\n")),
        Right("narrow", source=(
            "def shifted(ids, pad_id=0, ignore=-100):\n"
            "    length = ids.size(1)\n"
            "    targets = ids.narrow(1, 1, length - 1).clone()\n"
            "    targets[targets == pad_id] = ignore\n"
            "    return ids.narrow(1, 0, length - 1), targets\n")),
        Right("by_rows", source=(
            "def shifted(ids, pad_id=0, ignore=-100):\n"
            "    inputs = [row[:-1] for row in ids.tolist()]\n"
            "    targets = [[ignore if t == pad_id else t for t in row[1:]] for row in ids.tolist()]\n"
            "    return torch.tensor(inputs), torch.tensor(targets)\n")),
    ),
    precise=False,
)  # fmt: skip


# --- 4.13 bug clinic ------------------------------------------------------------------


def _test(*lines: str) -> str:
    """A test of the given lines, which see x, memory, and the layer's output y."""
    body = "\n".join(f"    {line}" for line in lines)
    return (
        "def assert_decoder_layer(layer, d_model, d_ff):\n"
        "    torch.manual_seed(0)\n"
        "    layer.requires_grad_(False)\n"
        "    x, memory = torch.randn(3, 5, d_model), torch.randn(3, 4, d_model)\n"
        "    push = torch.linspace(-1, 1, d_model)\n"
        "    def moves(x2, memory2):\n"
        "        return ((layer(x2, memory2) - layer(x, memory)).abs() > 1e-5).any(-1)\n"
        "    def nudged(z, b, j):\n"
        "        z = z.clone()\n"
        "        z[b, j] += push\n"
        "        return z\n"
        f"{body}\n"
    )


_COUNT = (
    "n = 8 * (d_model * d_model + d_model) + 2 * d_model * d_ff + d_ff + 7 * d_model",
    "assert sum(p.numel() for p in layer.parameters()) == n",
)
_SHAPE = (
    "for batch in (1, 2, 3):",
    "    z = torch.randn(batch, 5, d_model)",
    "    assert layer(z, torch.randn(batch, 4, d_model)).shape == z.shape",
)
_FUTURE = (
    "for j in range(1, 5):",
    "    assert not moves(nudged(x, 1, j), memory)[1, :j].any()",
)
_PAST = (
    "for j in range(5):",
    "    assert moves(nudged(x, 1, j), memory)[1, j:].all()",
)
_MEMORY = (
    "for j in range(4):",
    "    assert moves(x, nudged(memory, 1, j))[1].all()",
)
_OTHERS = (
    "others = torch.tensor([0, 2])",
    "for j in range(5):",
    "    assert not moves(nudged(x, 1, j), memory)[others].any()",
    "for j in range(4):",
    "    assert not moves(x, nudged(memory, 1, j))[others].any()",
    "    assert not moves(x, nudged(memory, 0, j))[1:].any()",
)
_ALL = (*_COUNT, *_SHAPE, *_FUTURE, *_PAST, *_MEMORY, *_OTHERS)


def _patient(name: str, title: str, bug: str, hint: str, hidden: bool = False,
             right: str = "post relu", style: str = "") -> Setting:  # fmt: skip
    other = f"{style or right}, {bug}"
    answers = {"a right decoder layer": "accepted", "the other one": "rejected"}
    return Setting(name, title, _patients(other, right), hint, hidden_only=hidden,
                   known=lambda draw: answers)  # fmt: skip


BUG_CLINIC = Task(
    name="encoder_decoder/bug_clinic",
    title="A test for decoder layers",
    target="assert_decoder_layer",
    precise=False,
    settings=(
        _patient(
            "unpacked", "a tensor unpacked as a pair", "unpacks",
            "Rule 1: which batch sizes do you try?",
        ),
        _patient(
            "no_mask", "no causal mask (pre-norm)", "no mask",
            "Rule 2: does anything before position j move when j changes?",
            right="pre gelu",
        ),
        _patient(
            "two_crosses", "two cross-attentions", "two memories",
            "Rule 5: from outside this bug moves nothing that should stay. Count weights.",
        ),
        _patient(
            "one_ahead", "one position of the future is seen", "one ahead",
            "Rule 2: do you try each position, or only the last one?",
        ),
        _patient(
            "no_memory", "the memory is not looked at (pre-norm)", "no memory",
            "Rule 3: does each output move when the memory changes?", right="pre gelu",
        ),
        _patient(
            "causal_memory", "a causal mask on the memory", "causal memory",
            "Rule 3: does the *first* output move with the *last* position of the memory?",
        ),
        _patient(
            "batch", "sentences move each other (pre-norm)", "mixes the batch",
            "Rule 4: which sentences may move if one changes?", right="pre gelu",
        ),
        _patient(
            "no_past", "the past is not seen", "no past",
            "Rule 2: do later outputs move when an earlier position changes?",
        ),
        _patient(
            "short_memory", "the last position of the memory is left out", "short memory",
            "Rule 3: do you try each position of the memory?", hidden=True,
            right="pre gelu",
        ),
        _patient(
            "two_norms", "one norm too few", "two norms",
            "Rule 5: count the weights.", hidden=True,
        ),
        _patient(
            "first_memory", "all look at the first sentence's memory", "first memory",
            "Rules 3 and 4: does a sentence move with *its own* memory?", hidden=True,
        ),
        _patient(
            "memory_twice", "self-attention looks at the memory (pre-norm)", "memory twice",
            "Rule 2: do later outputs move when an earlier position changes?", hidden=True,
            right="pre gelu",
        ),
    ),
    wrong=(
        Wrong(
            "accepts_all",
            says="Your test accepts every layer, wrong ones as well.",
            asks="Is there an `assert` that can fail?",
            source=_test("assert layer is not None"),
        ),
        Wrong(
            "prints_only", like="only_shape",
            source=_test("print(bool(moves(nudged(x, 1, 4), memory)[1, :4].any()))"),
        ),
        Wrong(
            "asserts_a_tuple", like="accepts_all",
            source=_test("leak = moves(nudged(x, 1, 4), memory)[1, :4].any()",
                         "assert (not leak, 'sees the future')").replace(
                "(3, 5, d_model), torch.randn(3, 4", "(2, 5, d_model), torch.randn(2, 4"),
        ),
        Wrong(
            "swallows", like="accepts_all",
            source=_test("try:", *(f"    {line}" for line in _ALL),
                         "except Exception as error:", "    print(error)"),
        ),
        Wrong(
            "rejects_all",
            says="Your test rejects every layer, right ones as well.",
            asks="Did you run it on your own `DecoderLayer`?",
            source=_test("assert not layer(x, memory).isfinite().all()"),
        ),
        Wrong(
            "always_fails", like="rejects_all",
            source=_test("raise AssertionError('untested')"),
        ),
        Wrong(
            "memory_causal_expected", like="rejects_all",
            source=_test(*_ALL, "assert not moves(x, nudged(memory, 1, 3))[1, :3].any()"),
        ),
        Wrong(
            "itself_forbidden", like="rejects_all",
            source=_test(*_ALL, "assert not moves(nudged(x, 1, 2), memory)[1, 2]"),
        ),
        Wrong(
            "wrong_count", like="rejects_all",
            source=_test(*_ALL, "assert sum(p.numel() for p in layer.parameters()) == "
                         "8 * d_model * d_model + 2 * d_model * d_ff + 6 * d_model"),
        ),
        Wrong(
            "calls_with_masks", like="rejects_all",
            source=_test(*_ALL, "layer(x, memory, attention.causal_mask(5))"),
        ),
        Wrong(
            "inverted",
            says="Your test rejects right layers and accepts wrong ones.",
            asks="An `assert` passes when its condition is true. Is yours true for a right "
            "layer?",
            source=_test("def right():", *(f"    {line}" for line in _ALL),
                         "try:", "    right()", "except Exception:", "    return",
                         "assert False"),
        ),
        Wrong(
            "returns_bool",
            says="Your test returns its verdict instead of raising `AssertionError`.",
            asks="Who looks at the return value of a test?",
            source=_test("return not moves(nudged(x, 1, 4), memory)[1, :4].any()").replace(
                "(3, 5, d_model), torch.randn(3, 4", "(2, 5, d_model), torch.randn(2, 4"),
        ),
        Wrong(
            "even_push",
            says="Your test refuses right pre-norm layers: it adds the same number to all "
            "features, and a norm takes that away again.",
            asks="What did LayerNorm make of `vector + 1` in section 2?",
            source=_test(*_ALL).replace("torch.linspace(-1, 1, d_model)", "1.0"),
        ),
        Wrong(
            "only_shape",
            says="Your test notices a layer that crashes, and nothing else: it runs the "
            "layer or looks at shapes only.",
            asks="Which of the three published bugs changes a shape?",
            source=_test(*_SHAPE),
        ),
        Wrong(
            "only_count",
            says="Your test counts weights and looks at nothing else.",
            asks="Does a missing mask change the number of weights?",
            source=_test(*_COUNT).replace(
                "(3, 5, d_model), torch.randn(3, 4", "(2, 5, d_model), torch.randn(2, 4"),
        ),
        Wrong(
            "only_causal",
            says="Your test looks at the future only (rule 2, and not all of it).",
            asks="Which rules are there besides, and which bug breaks which rule?",
            source=_test(*_FUTURE),
        ),
        Wrong(
            "only_memory",
            says="Your test looks at the memory only (rule 3).",
            asks="Which rules are there besides, and which bug breaks which rule?",
            source=_test(*_MEMORY),
        ),
        Wrong(
            "no_count",
            says="Your test does not count the weights (rule 5).",
            asks="How could you notice a second cross-attention from outside?",
            source=_test(*_SHAPE, *_FUTURE, *_PAST, *_MEMORY, *_OTHERS),
        ),
        Wrong(
            "no_memory_rule",
            says="Your test does not ask whether the outputs move with the memory (rule 3).",
            asks="Which rule would a layer break that never looks at the source?",
            source=_test(*_COUNT, *_SHAPE, *_FUTURE, *_PAST, *_OTHERS),
        ),
        Wrong(
            "no_future",
            says="Your test does not ask whether the future is hidden (rule 2).",
            asks="Which outputs may *not* move when position j changes?",
            source=_test(*_COUNT, *_SHAPE, *_PAST, *_MEMORY, *_OTHERS),
        ),
        Wrong(
            "no_past",
            says="Your test asks that the future is hidden, but not that the past is seen "
            "(rule 2).",
            asks="Which outputs *must* move when position j changes?",
            source=_test(*_COUNT, *_SHAPE, *_FUTURE, *_MEMORY, *_OTHERS),
        ),
        Wrong(
            "no_others",
            says="Your test does not ask whether sentences leave each other alone (rule 4).",
            asks="You change sentence 1. What should happen to sentences 0 and 2?",
            source=_test(*_COUNT, *_SHAPE, *_FUTURE, *_PAST, *_MEMORY),
        ),
        Wrong(
            "batch_of_one",
            says="Your test tries a single sentence only, so it cannot see sentences that "
            "move each other.",
            asks="Which rules need more than one sentence?",
            source=_test(*_COUNT,
                         "x, memory = x[:1], memory[:1]",
                         "for j in range(5):",
                         "    moved = moves(nudged(x, 0, j), memory)[0]",
                         "    assert moved[j:].all() and not moved[:j].any()",
                         "for j in range(4):",
                         "    assert moves(x, nudged(memory, 0, j))[0].all()"),
        ),
        Wrong(
            "batch_of_two",
            says="Your test tries a batch of 2 and nothing of rule 4. That is the size for which "
            "the published bug stays silent.",
            asks="Which batch sizes did the author forget?",
            source=_test(*_COUNT,
                         "x, memory = x[:2], memory[:2]",
                         "for j in range(5):",
                         "    moved = moves(nudged(x, 0, j), memory)[0]",
                         "    assert moved[j:].all() and not moved[:j].any()",
                         "for j in range(4):",
                         "    assert moves(x, nudged(memory, 0, j))[0].all()"),
        ),
        Wrong(
            "last_position_only",
            says="Your test changes the last target position only, and looks at the first "
            "output only.",
            asks="Would you notice a mask that is too wide by one position?",
            source=_test(*_COUNT, *_SHAPE, *_PAST, *_MEMORY, *_OTHERS,
                         "assert not moves(nudged(x, 1, 4), memory)[1, 0]"),
        ),
        Wrong(
            "first_memory_only",
            says="Your test changes the first position of the memory only.",
            asks="May a layer leave out the last word of the source?",
            source=_test(*_COUNT, *_SHAPE, *_FUTURE, *_PAST, *_OTHERS,
                         "assert moves(x, nudged(memory, 1, 0))[1].all()"),
        ),
        Wrong(
            "some_memory",
            says="Your test is content if *some* output moves with the memory.",
            asks="Is it `any` or `all`?",
            source=_test(*_COUNT, *_SHAPE, *_FUTURE, *_PAST, *_OTHERS,
                         "for j in range(4):",
                         "    assert moves(x, nudged(memory, 1, j)).any()"),
        ),
        Wrong(
            "by_name",
            says="Your test looks for modules of certain names. They may have any.",
            asks="How can you learn what a layer does without knowing how it is written?",
            source=_test("assert hasattr(layer, 'self_attention')",
                         "assert hasattr(layer, 'cross_attention')", *_ALL),
            like="rejects_all",
        ),
        Wrong(
            "against_own_with_copied_names", like="rejects_all",
            source=_test("mine = DecoderLayer(d_model, 2, d_ff)",
                         "mine.load_state_dict(layer.state_dict())",
                         "assert torch.allclose(mine(x, memory, attention.causal_mask(5)), "
                         "layer(x, memory))"),
        ),
    ),
    right=(
        Right("rule_by_rule", source=_test(*_ALL)),
        Right("one_matrix", source=(
            "def assert_decoder_layer(layer, d_model, d_ff):\n"
            "    sizes = [p.numel() for p in layer.parameters()]\n"
            "    attention_size = 4 * d_model * (d_model + 1)\n"
            "    network = nn.Sequential(nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))\n"
            "    network_size = sum(p.numel() for p in network.parameters())\n"
            "    assert sum(sizes) == 2 * attention_size + network_size + 6 * d_model\n"
            "    with torch.no_grad():\n"
            "        for B, Lt, Ls in ((1, 4, 6), (2, 3, 5), (3, 5, 4)):\n"
            "            x, memory = torch.randn(B, Lt, d_model), torch.randn(B, Ls, d_model)\n"
            "            y = layer(x, memory)\n"
            "            assert y.shape == (B, Lt, d_model)\n"
            "            own = torch.eye(B, dtype=torch.bool)\n"
            "            for b in range(B):\n"
            "                for j in range(Lt):\n"
            "                    x2 = x.clone()\n"
            "                    x2[b, j] = torch.randn(d_model)\n"
            "                    moved = (layer(x2, memory) - y).abs().amax(-1) > 1e-5\n"
            "                    later = torch.arange(Lt) >= j\n"
            "                    assert (moved == (own[b][:, None] & later)).all()\n"
            "                for j in range(Ls):\n"
            "                    m2 = memory.clone()\n"
            "                    m2[b, j] = -3 * memory[b, j].flip(0)\n"
            "                    moved = (layer(x, m2) - y).abs().amax(-1) > 1e-5\n"
            "                    assert (moved == own[b][:, None].expand(-1, Lt)).all()\n")),
        Right("by_gradients", source=(
            "def assert_decoder_layer(layer, d_model, d_ff):\n"
            "    count = sum(p.numel() for p in layer.parameters())\n"
            "    wanted = 8 * d_model**2 + 8 * d_model + 2 * d_model * d_ff + d_ff + 7 * d_model\n"
            "    if count != wanted:\n"
            "        raise AssertionError(f'{count} weights, not {wanted}')\n"
            "    for B in (3, 1, 2):\n"
            "        x = torch.randn(B, 4, d_model, requires_grad=True)\n"
            "        memory = torch.randn(B, 6, d_model, requires_grad=True)\n"
            "        y = layer(x, memory)\n"
            "        assert y.shape == x.shape\n"
            "        for b in range(B):\n"
            "            for i in range(4):\n"
            "                pull = torch.randn(d_model)\n"
            "                gx, gm = torch.autograd.grad((y[b, i] * pull).sum(), (x, memory),\n"
            "                    retain_graph=True, allow_unused=True)\n"
            "                assert gx is not None and gm is not None\n"
            "                sx, sm = gx.abs().sum(-1) > 1e-7, gm.abs().sum(-1) > 1e-7\n"
            "                assert sx[b, :i + 1].all() and not sx[b, i + 1:].any()\n"
            "                assert sm[b].all()\n"
            "                rest = torch.arange(B) != b\n"
            "                assert not sx[rest].any() and not sm[rest].any()\n")),
        Right("catches_and_raises", source=_test(
            "try:", *(f"    {line}" for line in _ALL),
            "except (ValueError, RuntimeError) as error:",
            "    raise AssertionError('it crashes') from error")),
    ),
)  # fmt: skip


TASKS: tuple[Task, ...] = (
    FEED_FORWARD,
    ADD_AND_NORM,
    ENCODER_LAYER,
    ENCODER_TASK,
    DECODER_LAYER,
    DECODER_TASK,
    MAKE_MASKS,
    TRANSFORMER,
    TO_PYTORCH,
    LANGUAGE_MODEL,
    MASKED_TOKENS,
    SHIFTED,
    BUG_CLINIC,
)
