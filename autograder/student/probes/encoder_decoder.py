"""Probes of unit 04, encoder and decoder."""

from __future__ import annotations

import copy
import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import nn

from autograder.student.exercise import Answers, WrongAnswer
from autograder.student.otherside import Ask, Mixture, given
from autograder.student.probes import (
    Inputs,
    Seen,
    beginning,
    describe,
    gradients,
    load_weights,
    outcome,
    probe,
    returned,
    seed,
    tensor,
)


@probe("encoder_decoder/feed_forward")
def feed_forward(module_class: Any, inputs: Inputs) -> Seen:
    """Parameters, output, who moves whom, x afterwards, a gradient; or dropout."""
    d_ff, d_model = inputs["weights.linear1.weight"].shape
    options = {"dropout": float(inputs["rate"])} if "rate" in inputs else {}
    if "activation" in inputs:
        options["activation"] = inputs["activation"]
    made = module_class(d_model, d_ff, **options)
    seen = beginning(made)
    return seen | _observe(load_weights(made, inputs), ["x"], [], inputs)


@probe("encoder_decoder/add_and_norm")
def add_and_norm(function: Any, inputs: Inputs) -> Seen:
    """The output, how often each part was called, x afterwards and its gradient."""
    x, norm_first = inputs["x"], bool(inputs["norm_first"])
    parts: dict[str, nn.Module] = {
        "sublayer": _Sublayer(inputs["table"]),
        "norm": load_weights(nn.LayerNorm(x.size(-1)), inputs),
        "dropout": _Shrink(),
    }
    if "parts" in inputs:  # each hands on the very tensor that it was given
        parts = {name: nn.Identity() for name in parts}
    calls = dict.fromkeys(parts, 0)
    for name, part in parts.items():
        part.register_forward_hook(lambda *_, name=name: _count(calls, name))

    def call(x: torch.Tensor) -> torch.Tensor:
        found = function(x, *parts.values(), norm_first)
        return tensor(found, "the result")

    seen: Seen = {"output": call(x)}
    seen["calls"] = ", ".join(f"{name} {n}" for name, n in calls.items())
    for part in parts.values():
        part.train()  # in which a gradient is needed
    return seen | {"x afterwards": x} | gradients(call, [x], ["x"], inputs)


def _count(calls: dict[str, int], name: str) -> None:
    calls[name] += 1


class _Sublayer(nn.Module):
    """Mixes positions, and bends."""

    def __init__(self, table: torch.Tensor):
        super().__init__()
        self.table = table  # (L, L)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.table @ x)


class _Shrink(nn.Module):
    """Stands in for dropout: without chance, so that its place can be seen."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return 0.25 * x + 0.5


@probe("encoder_decoder/encoder_layer")
def encoder_layer(module_class: Any, inputs: Inputs) -> Seen:
    """Parameters, output, who moves whom, x afterwards, a gradient; or dropout."""
    made = module_class(*_sizes(inputs, "attention"))
    seen = beginning(made)
    return seen | _observe(load_weights(made, inputs), ["x"], ["mask"], inputs)


@probe("encoder_decoder/decoder_layer")
def decoder_layer(module_class: Any, inputs: Inputs) -> Seen:
    """As for the encoder layer; who moves whom in the target and in the memory."""
    made = module_class(*_sizes(inputs, "self_attention"))
    seen, masks = beginning(made), ["tgt_mask", "memory_mask"]
    return seen | _observe(load_weights(made, inputs), ["x", "memory"], masks, inputs)


def _sizes(inputs: Inputs, attention: str) -> tuple[Any, ...]:
    """A layer's arguments, as far as the inputs name them, in their order."""
    d_model = len(inputs[f"weights.{attention}.w_q.bias"])
    d_ff = len(inputs["weights.feed_forward.linear1.bias"])
    sizes = (d_model, int(inputs["num_heads"]), d_ff)
    if "norm_first" not in inputs:
        return sizes
    rate = float(inputs.get("rate", 0.0))
    return (*sizes, rate, bool(inputs["norm_first"]), inputs["activation"])


@probe("encoder_decoder/encoder")
def encoder(module_class: Any, inputs: Inputs) -> Seen:
    """What a stack of layers of our own does; layers as many as there are weights."""
    return _stack(module_class, ["x"], ["mask"], inputs)


@probe("encoder_decoder/decoder")
def decoder(module_class: Any, inputs: Inputs) -> Seen:
    """What a stack of layers of our own does with a target and a memory."""
    return _stack(module_class, ["x", "memory"], ["tgt_mask", "memory_mask"], inputs)


def _stack(
    module_class: Callable[..., Any],
    names: Sequence[Any],
    masks: Sequence[Any],
    inputs: Inputs,
) -> Seen:
    """One stack is judged while another one, made alike, exists beside it."""
    d_model, made = inputs["x"].size(-1), []
    kind = _EncoderStandIn if len(names) == 1 else _DecoderStandIn

    def make_layer() -> nn.Module:
        made.append(kind(d_model))
        return made[-1]

    depth = sum(name.endswith("matrix") for name in inputs)
    norm = nn.LayerNorm(d_model) if "weights.norm.bias" in inputs else None
    stack = module_class(make_layer, depth, *([norm] if norm else []))
    count = len(made)
    seen = {"layers made": torch.tensor(count)}
    return seen | _observe(load_weights(stack, inputs), names, masks, inputs)


class _EncoderStandIn(nn.Module):
    """A layer in which each position listens to those that its mask allows."""

    def __init__(self, d_model: int):
        super().__init__()
        self.matrix = nn.Parameter(torch.zeros(d_model, d_model))

    def forward(
        self, x: torch.Tensor, mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        return x + torch.tanh(_listen(x, x, mask) @ self.matrix)


class _DecoderStandIn(_EncoderStandIn):
    """The same, and each position listens to the memory, too."""

    def forward(  # type: ignore[override]
        self,
        x: torch.Tensor,
        memory: torch.Tensor,
        tgt_mask: torch.Tensor | None = None,
        memory_mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        x = x + torch.tanh(_listen(x, x, tgt_mask) @ self.matrix)
        return x - torch.tanh(_listen(x, memory, memory_mask) @ self.matrix.T)


def _listen(
    x: torch.Tensor, source: torch.Tensor, mask: torch.Tensor | None
) -> torch.Tensor:
    return F.scaled_dot_product_attention(x, source, source, attn_mask=mask)


@probe("encoder_decoder/make_masks")
def make_masks(function: Any, inputs: Inputs) -> Seen:
    """Who may attend to whom in the three attentions; the ids afterwards."""
    src, tgt = inputs["src"], inputs["tgt"]
    options = (int(inputs["pad_id"]),) if "pad_id" in inputs else ()
    src_mask, tgt_mask = returned(function(src, tgt, *options), "src_mask", "tgt_mask")
    (batch, ls), lt = src.shape, tgt.size(1)
    asked = {
        "source attends to source": (src_mask, "src_mask", (batch, ls, ls)),
        "target attends to target": (tgt_mask, "tgt_mask", (batch, lt, lt)),
        "target attends to source": (src_mask, "src_mask", (batch, lt, ls)),
    }
    seen = {key: _who_may(*what) for key, what in asked.items()}
    return seen | {"src afterwards": src, "tgt afterwards": tgt}


def _who_may(mask: object, name: str, shape: tuple[int, int, int]) -> torch.Tensor:
    """The mask for one head, (B, Lq, Lk)."""
    batch, lq, lk = shape
    mask = tensor(mask, f"`{name}`")
    by_head = mask.unsqueeze(1) if mask.dim() == 3 else mask
    try:
        return by_head.broadcast_to(batch, 2, lq, lk)[:, 0]
    except RuntimeError:
        raise WrongAnswer(
            f"expected a `{name}` that broadcasts to the scores (B, h, Lq, Lk) = "
            f"({batch}, h, {lq}, {lk}), got one of shape {tuple(mask.shape)}"
        ) from None


@probe("encoder_decoder/transformer")
def transformer(module_class: Any, inputs: Inputs) -> Seen:
    """Who moves whom, what the methods return, a second batch, gradients, sharing."""
    options = _options(inputs)
    if "positions" in inputs:
        options["positions"] = _AddRows(inputs["positions"])
    if options.get("shared_embedding") and options["src_vocab"] != options["tgt_vocab"]:
        refused = outcome(lambda: module_class(**options), ValueError)
        return {"two vocabularies in one table": refused}
    made = module_class(**options)
    start = beginning(made)
    model: Any = _load(made, inputs)
    pad_id = options.get("pad_id", 0)
    ids = {name: inputs[name] for name in ("src", "tgt")}
    src, tgt = ids.values()
    memory = tensor(model.encode(src), "what `encode` returns")
    logits = tensor(model(src, tgt), "the logits")
    seen: Seen = {"other parameters": _extras(model, inputs)} | start
    if "positions" in options:
        adding = [part is options["positions"] for part in model.modules()
                  if isinstance(part, _AddRows)]  # fmt: skip
        count = f"{sum(adding)} given, {len(adding)} in all"
        seen["modules that add positions"] = count
    if not options.get("shared_embedding"):
        with torch.no_grad():
            for name in ids:
                seen[f"output moves with {name}"] = _who_moves(
                    lambda **changed: model(**(ids | changed)), ids, name, pad_id
                )
    seen |= {"memory": memory, "logits": logits}
    seen["logits of decode"] = tensor(model.decode(tgt, memory, src), "the logits")
    foreign = tensor(model.decode(tgt, -memory.flip(-1), src), "the logits")
    seen["logits of decode with another memory"] = foreign
    model.encode(src.flip(0))
    later = tensor(model.decode(tgt, memory, src), "the logits")
    seen["logits of decode after another encode"] = later
    first = tensor(model.decode(tgt[:, :1], memory, src), "the logits")
    seen["logits of decode for the first token"] = first
    if "second src" in inputs:
        seen["logits of a second batch"] = tensor(
            model(inputs["second src"], inputs["second tgt"]), "the logits"
        )
    if "pull" in inputs:
        seen |= _padding_gradients(model, logits, pad_id, inputs)
    if options.get("shared_embedding"):
        seen |= _sharing(model)
    with torch.no_grad():  # as a step of training would
        for parameter in model.parameters():
            parameter.mul_(0.75)
    seen["logits once the weights have changed"] = tensor(model(src, tgt), "the logits")
    return seen


class _AddRows(nn.Module):
    """Positions of another kind than sinusoids."""

    rows: torch.Tensor

    def __init__(self, rows: torch.Tensor):
        super().__init__()
        self.register_buffer("rows", rows)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.rows[: x.size(1)]


def _options(inputs: Inputs) -> Seen:
    """The keyword arguments of the inputs named ``option.<name>``."""
    found = {
        name.removeprefix("option."): value
        for name, value in inputs.items()
        if name.startswith("option.")
    }
    return {k: v if isinstance(v, str) else v.item() for k, v in found.items()}


def _load(module: object, inputs: Inputs) -> nn.Module:
    """Load weights by any name of a parameter, since a shared one has several."""
    if not isinstance(module, nn.Module):
        raise WrongAnswer(f"expected an nn.Module, got {describe(module)}")
    first = {id(p): name for name, p in module.named_parameters()}
    all_names = dict(module.named_parameters(remove_duplicate=False))
    renamed = {
        f"weights.{name}": f"weights.{first[id(parameter)]}"
        for name, parameter in all_names.items()
    }
    return load_weights(module, {renamed.get(k, k): v for k, v in inputs.items()})


def _padding_gradients(
    model: nn.Module, logits: torch.Tensor, pad_id: int, inputs: Inputs
) -> Seen:
    """What padding's own vectors learn: nothing."""
    if logits.shape != inputs["pull"].shape:
        return {}
    model.zero_grad()
    (logits * inputs["pull"]).sum().backward()
    seen = {}
    for name in ("source", "target"):
        table = dict(model.named_parameters())[f"{name}.embedding.weight"]
        found = torch.zeros_like(table) if table.grad is None else table.grad
        seen[f"gradient of {name}'s embedding"] = found
    return seen


def _sharing(model: nn.Module) -> Seen:
    """Whether one table serves three times."""
    tables = dict(model.named_parameters(remove_duplicate=False))
    first = tables.get("source.embedding.weight")
    same = [
        name
        for name in ("target.embedding.weight", "output.weight")
        if tables.get(name) is first
    ]
    return {
        "the same parameter as source.embedding.weight": ", ".join(same) or "none",
    }


@probe("encoder_decoder/language_model")
def language_model(module_class: Any, inputs: Inputs) -> Seen:
    """Other parameters, who moves whom, logits, and those of a second batch."""
    options = _options(inputs)
    made = module_class(**options)
    start = beginning(made)
    model = _load(made, inputs)
    ids = {"ids": inputs["ids"]}
    seen: Seen = {"other parameters": _extras(model, inputs)} | start
    with torch.no_grad():
        seen["output moves with ids"] = _who_moves(
            lambda ids: model(ids), ids, "ids", options.get("pad_id", 0)
        )
    seen["logits"] = tensor(model(**ids), "the logits")
    if "second ids" in inputs:
        second = tensor(model(inputs["second ids"]), "the logits")
        seen["logits of a second batch"] = second
    return seen


@probe("encoder_decoder/to_pytorch")
def to_pytorch(function: Any, inputs: Inputs) -> Seen:
    """Names and tensors of the result, and the names of the given one afterwards."""
    state = {
        name.removeprefix("state."): value
        for name, value in inputs.items()
        if name.startswith("state.")
    }
    given = dict(state)
    found = function(state)
    if not isinstance(found, Mapping):
        raise WrongAnswer(f"expected a dict of tensors, got {describe(found)}")
    names = sorted(map(str, found))
    seen: Seen = {name: tensor(found.get(name), f"`{name}`") for name in names}
    seen["names"] = ", ".join(names)
    replaced = [name for name, value in given.items() if state.get(name) is not value]
    seen["entries of the given dict that were replaced"] = ", ".join(replaced) or "none"
    return seen | {"names of the given dict afterwards": ", ".join(state)}


@probe("encoder_decoder/masked_tokens")
def masked_tokens(function: Any, inputs: Inputs) -> Seen:
    """Both tensors, and what was given afterwards."""
    ids, chosen = inputs["ids"], inputs["chosen"]
    mask_id, *options = inputs["special"].tolist()
    pair = returned(function(ids, chosen, mask_id, *options), "inputs", "targets")
    return _pair(pair) | {"ids afterwards": ids, "chosen afterwards": chosen}


@probe("encoder_decoder/shifted")
def shifted(function: Any, inputs: Inputs) -> Seen:
    """Both tensors, and the ids afterwards."""
    ids = inputs["ids"]
    pair = returned(function(ids, *inputs["special"].tolist()), "inputs", "targets")
    return _pair(pair) | {"ids afterwards": ids}


def _pair(pair: tuple[Any, ...]) -> Seen:
    names = ("inputs", "targets")
    return {n: tensor(v, f"the {n}") for n, v in zip(names, pair, strict=True)}


class _Patients(Mixture):
    """Decoder layers that are right or ill; they are called from afar."""

    KINDS: ClassVar = {
        "a right decoder layer": "right",
        "the other one": "other",
        "a third one": "third",
    }
    MOST_TIMES = 2  # since each costs many calls
    MOST = 1 << 12  # numbers of a sequence that a layer takes

    def __init__(self, inputs: Inputs, draw: random.Random):
        super().__init__(inputs, draw)
        d_model, num_heads, d_ff = inputs["sizes"].tolist()
        self._layers = []
        for name in self.names:
            seed(int(inputs["seed"]))
            style, _, bug = str(inputs[self.KINDS[name]]).partition(", ")
            layer = _DecoderLayer(d_model, num_heads, d_ff, style, bug)
            self._layers.append(layer.eval())

    def things(self) -> list[str]:
        return list(self.KINDS)

    def shown(self) -> Answers:
        """The sizes, and the weights of each layer, without their names."""
        d_model, _, d_ff = self.inputs["sizes"].tolist()
        weights = {
            f"{number}.{place}": weight.detach()
            for number, layer in enumerate(self._layers)
            for place, weight in enumerate(layer.parameters())
        }
        sizes = torch.tensor([d_model, d_ff, len(self._layers)])
        return {"sizes": sizes, **weights}

    def answer(self, question: Answers) -> Mapping[str, object]:
        """The output of a layer, and gradients of its weighted sum if it is pulled."""
        floats = (torch.float32, torch.float64)
        number = int(given(question, "layer", 0, [torch.int64], 1))
        layer = self._layers[number]
        leaves = [
            given(question, name, 3, floats, self.MOST).requires_grad_()
            for name in ("x", "memory")
        ]
        if leaves[0].dtype == torch.float64:  # of a test that has called `double`
            layer = copy.deepcopy(layer).double()
        if "pull" not in question:
            return {"output": layer(*leaves)}
        pull = given(question, "pull", 3, floats, self.MOST)
        weights = list(layer.parameters())
        with torch.enable_grad():  # the caller's mode is not ours
            pulled = (layer(*leaves) * pull).sum()
        grads = torch.autograd.grad(pulled, [*leaves, *weights], allow_unused=True)
        return {
            str(place): torch.zeros_like(leaf) if grad is None else grad
            for place, (leaf, grad) in enumerate(
                zip([*leaves, *weights], grads, strict=True)
            )
        }


class _Patient(nn.Module):
    """A decoder layer of which nobody here knows more than its weights."""

    def __init__(self, number: int, weights: Sequence[torch.Tensor], ask: Ask):
        super().__init__()
        self.weights = nn.ParameterList(nn.Parameter(w.clone()) for w in weights)
        self._number, self._ask = torch.tensor(number), ask

    def forward(self, x: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
        output: torch.Tensor = _Call.apply(self._call, x, memory, *self.weights)  # type: ignore[no-untyped-call]
        return output

    def _call(self, **values: torch.Tensor) -> Inputs:
        return self._ask({"layer": self._number, **values})


class _Call(torch.autograd.Function):
    """A layer's output and gradients, both from the other side."""

    @staticmethod
    def forward(
        ctx: Any, call: Callable[..., Inputs], x: torch.Tensor, memory: torch.Tensor,
        *weights: torch.Tensor,
    ) -> Any:  # fmt: skip
        ctx.save_for_backward(x, memory)
        ctx.call = call
        return call(x=x, memory=memory)["output"]

    @staticmethod
    def backward(ctx: Any, pull: torch.Tensor) -> Any:
        x, memory = ctx.saved_tensors
        found = ctx.call(x=x, memory=memory, pull=pull)
        return None, *(found[str(place)] for place in range(len(found)))


@probe("encoder_decoder/bug_clinic", other=_Patients)
def bug_clinic(test: Any, inputs: Inputs, ask: Ask) -> Seen:
    """What the student's test says of each decoder layer."""
    d_model, d_ff, count = inputs["sizes"].tolist()
    found = {}
    for number in range(count):
        places = itertools.takewhile(
            inputs.__contains__, (f"{number}.{n}" for n in itertools.count())
        )
        layer = _Patient(number, [inputs[place] for place in places], ask)
        found[str(number)] = _verdict(test, layer.eval(), d_model, d_ff)
    return found


def _verdict(
    test: Callable[..., Any], layer: nn.Module, d_model: int, d_ff: int
) -> str:
    try:
        result = test(layer, d_model, d_ff)
    except NotImplementedError:
        raise
    except Exception:
        return "rejected"
    if result is not None:
        raise WrongAnswer(
            "expected the test to raise AssertionError or to return nothing, "
            f"got {describe(result)}"
        )
    return "accepted"


class _Attention(nn.Module):
    """Multi-head attention; a mask may also be numbers that are added to the scores."""

    def __init__(self, d_model: int, num_heads: int):
        super().__init__()
        self.num_heads = num_heads
        self.maps = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))

    def forward(
        self, x: torch.Tensor, source: torch.Tensor, mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        *into, out = self.maps
        q, k, v = (
            layer(y).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for layer, y in zip(into, (x, source, source), strict=True)
        )
        heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        result: torch.Tensor = out(heads.transpose(1, 2).flatten(2))
        return result


class _DecoderLayer(nn.Module):
    """A decoder layer, "post relu" or "pre gelu", with at most one bug."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, style: str, bug: str):
        super().__init__()
        first, activation = style.split()
        bends = {"relu": nn.ReLU, "gelu": nn.GELU}[activation]()
        width = d_ff + 1 if bug == "wider" else d_ff
        self.thinking = nn.Sequential(
            nn.Linear(d_model, width), bends, nn.Linear(width, d_model)
        )
        counts = {"two memories": 3, "one attention": 1}
        self.seeing = nn.ModuleList(
            _Attention(d_model, num_heads) for _ in range(counts.get(bug, 2))
        )
        self.norms = nn.ModuleList(
            nn.LayerNorm(d_model) for _ in range(2 if bug == "two norms" else 3)
        )
        self.first, self.bug = first, bug

    def forward(self, x: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
        branches: list[Callable[..., Any]] = [
            self._own(memory), self._memory(memory), self.thinking
        ]  # fmt: skip
        if self.bug == "two memories":
            branches.insert(1, lambda x: self.seeing[2](x, memory))
        if self.bug == "no memory":
            del branches[1]
        for index, branch in enumerate(branches):
            norm = self.norms[min(index, len(self.norms) - 1)]
            x = x + branch(norm(x)) if self.first == "pre" else norm(x + branch(x))
        ends: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
            "flips the batch": lambda x: x.flip(0),
            "squeezes": torch.squeeze,
            "side by side": lambda x: torch.cat((x, x), dim=-1),
        }
        return ends[self.bug](x) if self.bug in ends else x

    def _own(self, memory: torch.Tensor) -> Callable[..., Any]:
        attend: Any = self.seeing[0]

        def branch(x: torch.Tensor) -> Any:
            if self.bug == "memory twice":
                return attend(x, memory)
            seen = attend(x, x, self._own_mask(len(x), x.size(1), x.dtype))
            if self.bug == "unpacks":
                seen, _ = seen
            if self.bug == "mixes the batch":
                return seen.mean(0, keepdim=True)
            if self.bug == "no past":
                return attend.maps[3](attend.maps[2](x))
            return seen

        return branch

    def _own_mask(
        self, batch: int, length: int, dtype: torch.dtype
    ) -> torch.Tensor | None:
        """Causal, as far as the bug lets it be."""
        mask = _triangle(length, length, 1 if self.bug == "one ahead" else 0)
        match self.bug:
            case "no mask":
                return None
            case "first unseen":
                mask[1:, 0] = False
            case "short sight":
                mask = mask.triu(-1)
            case "soft mask":
                return torch.where(mask, 0.0, -6.0).to(dtype)
            case "mask of the first":
                later = torch.arange(batch) > 0
                return mask | later[:, None, None, None]
        return mask

    def _memory(self, memory: torch.Tensor) -> Callable[..., Any]:
        def branch(x: torch.Tensor) -> Any:
            cross = self.seeing[-1]
            if self.bug == "causal memory":
                return cross(x, memory, _triangle(x.size(1), memory.size(1)))
            if self.bug == "equal lengths":
                return cross(x, memory, _triangle(x.size(1), x.size(1), x.size(1)))
            if self.bug == "last asks":
                last = torch.arange(x.size(1)) == x.size(1) - 1
                return cross(x, memory) * last[:, None]
            if self.bug == "mixes memories":
                return cross(x, memory.mean(0, keepdim=True).expand_as(memory))
            if self.bug == "last leaks":
                return cross(x, memory + memory[-1:])
            if self.bug == "short memory":
                return cross(x, memory[:, :-1])
            if self.bug == "first memory":
                return cross(x, memory[:1].expand_as(memory))
            if self.bug == "summed":
                return cross(x, memory).sum(1, keepdim=True)
            return cross(x, memory)

        return branch


def _triangle(rows: int, columns: int, ahead: int = 0) -> torch.Tensor:
    """Each row sees the columns up to its own number, and some ahead."""
    return torch.ones(rows, columns, dtype=torch.bool).tril(ahead)


def _observe(
    module: nn.Module, names: Sequence[str], masks: Sequence[str], inputs: Inputs
) -> Seen:
    """What a module makes of its sequences and masks, called without masks if none."""
    given = [inputs.get(name) for name in masks]
    while given and given[-1] is None:
        given.pop()

    def call(*sequences: torch.Tensor) -> torch.Tensor:
        return tensor(module(*sequences, *given), "the output")

    sequences = [inputs[name] for name in names]
    by_name = dict(zip(names, sequences, strict=True))
    seen: Seen = {"other parameters": _extras(module, inputs)}
    # Before the output: the panel draws the first thing that is wrong.
    with torch.no_grad():
        for name in names:
            seen[f"output moves with {name}"] = _who_moves(
                lambda **changed: call(*(by_name | changed).values()), by_name, name
            )
    seen["output"] = call(*sequences)
    if "rate" in inputs:
        module.train()
        seen["output in training"] = call(*sequences)
        module.eval()
    afterwards = [*names, *(name for name in masks if name in inputs)]
    seen |= {f"{name} afterwards": inputs[name] for name in afterwards}
    return seen | gradients(call, sequences, names, inputs)


def _extras(module: nn.Module, inputs: Inputs) -> str:
    """The parameters beyond those that were loaded; a shared one has several names."""
    loaded = {
        id(parameter)
        for name, parameter in module.named_parameters(remove_duplicate=False)
        if f"weights.{name}" in inputs
    }
    extras = [n for n, p in module.named_parameters() if id(p) not in loaded]
    return ", ".join(sorted(extras)) or "none"


def _who_moves(
    function: Callable[..., Any],
    given: Mapping[str, torch.Tensor],
    name: str,
    pad_id: int = 0,
) -> torch.Tensor:
    """(B, Lq, Lk): does output i move when position j of the named input changes?

    Vectors are pushed unevenly, since a norm removes an even push; an id becomes a
    neighbouring one, unless it is padding.
    """
    asked, columns = given[name], []
    before = function(**given)
    for j in range(asked.size(1)):
        changed = asked.clone()
        if asked.is_floating_point():
            changed[:, j] += torch.linspace(-1, 1, asked.size(-1), dtype=asked.dtype)
        else:
            changed[:, j] = _another(asked[:, j], pad_id)
        moved = function(**{name: changed}) - before
        columns.append((moved.abs() > 1e-6).flatten(2).any(-1))
    return torch.stack(columns, dim=-1)


def _another(ids: torch.Tensor, pad_id: int) -> torch.Tensor:
    """Neighbouring ids; padding stays padding, and nothing becomes padding."""
    down = (ids > 0) & (ids - 1 != pad_id)
    up = torch.where(ids + 1 == pad_id, ids + 2, ids + 1)
    return torch.where(ids == pad_id, ids, torch.where(down, ids - 1, up))
