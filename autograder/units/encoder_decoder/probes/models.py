"""The whole model, its tables, a language model, and a state dict in BERT's names."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import (
    Inputs,
    Seen,
    describe,
    listed,
    options,
    outcome,
    probe,
    tensor,
    under,
)
from autograder.checks.probes.weights import (
    BEGINNING,
    beginning,
    is_awaited,
    load_weights,
    starting_as_zero,
)
from autograder.units.encoder_decoder.probes.observing import extras, who_moves

ENDS = ("weight", "bias")


@probe(
    "encoder_decoder/transformer",
    results="logits; logits of *; logits once the weights have changed; "
    "output moves with *; modules that add positions; "
    "source and target share positions",
    learning=f"{BEGINNING}; other parameters; vectors that start as zero; "
    "gradient of *",
    parts={"memory": "memory"},
)
def transformer(module_class: Any, inputs: Inputs) -> Seen:
    """What the methods return, a second batch, gradients; who moves whom.

    The last of these takes a call for each position, so some cases ask for it.
    """
    given = options(inputs)
    if "positions" in inputs:
        given["positions"] = _AddRows(inputs["positions"])
    made = module_class(**given)
    start = _beginning(made, inputs)
    model: Any = _load(made, inputs)
    pad_id = given.get("pad_id", 0)
    ids = {name: inputs[name] for name in ("src", "tgt")}
    src, tgt = ids.values()
    logits = tensor(model(src, tgt), "the logits")
    memory = tensor(model.encode(src), "what `encode` returns")
    seen: Seen = {"other parameters": extras(model, inputs)} | start
    if "positions" in given:
        seen["modules that add positions"] = _adding(model, given["positions"])
    if "look" in inputs:
        seen |= _moving(model, ids, pad_id)
    seen |= {"memory": memory, "logits": logits} | _decoded(model, src, tgt, memory)
    if "second src" in inputs:
        seen["logits of a second batch"] = tensor(
            model(inputs["second src"], inputs["second tgt"]), "the logits"
        )
    if "pull" in inputs:
        added = [getattr(m, "positions", None) for m in (model.source, model.target)]
        seen["source and target share positions"] = str(added[0] is added[1])
        seen |= _gradients(model, logits, inputs)
    with torch.no_grad():  # as a step of training would
        for parameter in model.parameters():
            parameter.mul_(0.75)
    seen["logits once the weights have changed"] = tensor(model(src, tgt), "the logits")
    return seen


def _adding(model: nn.Module, positions: nn.Module) -> str:
    """How many modules add positions, and how many of them are the given one."""
    adding = [part for part in model.modules() if isinstance(part, _AddRows)]
    given = sum(part is positions for part in adding)
    return f"{given} given, {len(adding)} in all"


def _moving(model: Any, ids: dict[str, torch.Tensor], pad_id: int) -> Seen:
    """Which logits move with each position of source and target."""
    with torch.no_grad():
        return {
            f"output moves with {name}": who_moves(
                lambda **changed: model(**(ids | changed)), ids, name, pad_id
            )
            for name in ids
        }


def _decoded(
    model: Any, src: torch.Tensor, tgt: torch.Tensor, memory: torch.Tensor
) -> Seen:
    """What `decode` makes of this memory, of another, after others, and of less."""

    def logits(tgt: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
        return tensor(model.decode(tgt, memory, src), "the logits")

    seen = {
        "logits of decode": logits(tgt, memory),
        "logits of decode with another memory": logits(tgt, -memory.flip(-1)),
    }
    model.encode(src.flip(0))
    seen["logits of decode after another encode"] = logits(tgt, memory)
    seen["logits of decode for the first token"] = logits(tgt[:, :1], memory)
    return seen


class _AddRows(nn.Module):
    """Positions of another kind than sinusoids."""

    rows: torch.Tensor

    def __init__(self, rows: torch.Tensor):
        super().__init__()
        self.register_buffer("rows", rows)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.rows[: x.size(1)]


def _beginning(model: object, inputs: Inputs) -> Seen:
    """How a new model starts, and which words' vectors are zero: padding's."""
    if is_awaited(model):
        return {}
    return beginning(model, inputs) | {
        "vectors that start as zero": starting_as_zero(model)
    }


def _load(module: object, inputs: Inputs) -> nn.Module:
    """Load weights by any name of a parameter, since one may have several."""
    if not isinstance(module, nn.Module):
        raise WrongAnswerError(f"expected an nn.Module, got {describe(module)}")
    first: dict[int, str] = {}
    renamed = {
        f"weights.{name}": f"weights.{first.setdefault(id(parameter), name)}"
        for name, parameter in module.named_parameters(remove_duplicate=False)
    }
    return load_weights(module, {renamed.get(k, k): v for k, v in inputs.items()})


def _gradients(model: nn.Module, logits: torch.Tensor, inputs: Inputs) -> Seen:
    """What the vectors of both vocabularies learn; padding's, nothing."""
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


@probe(
    "encoder_decoder/tied_embeddings",
    results="the same parameter as *; shared table; bias; logits; parameters; "
    "what is returned; vocabularies of different sizes",
    calls="* afterwards",
    learning="gradient of *",
)
def tied_embeddings(function: Any, inputs: Inputs) -> Seen:
    """What becomes of a small model's tables; or how different sizes are refused."""
    model = _Tables(inputs)
    before = dict(model.named_parameters())
    if len(model.source.embedding.weight) != len(model.output.weight):
        refused = outcome(lambda: function(model), ValueError)
        after = dict(model.named_parameters(remove_duplicate=False))
        same = before.keys() == after.keys() and all(
            after[name] is value for name, value in before.items()
        )
        return {
            "vocabularies of different sizes": refused,
            "the model afterwards": "not changed" if same else "changed",
        }
    found = function(model)
    logits = tensor(model(inputs["src"], inputs["tgt"]), "the logits")
    (logits * inputs["pull"]).sum().backward()
    tables = dict(model.named_parameters(remove_duplicate=False))
    table = model.source.embedding.weight
    others = ("target.embedding.weight", "output.weight")
    same_one = [name for name in others if tables.get(name) is table]
    grad = torch.zeros_like(table) if table.grad is None else table.grad
    return {
        "the same parameter as source.embedding.weight": listed(same_one),
        "parameters": torch.tensor(sum(p.numel() for p in model.parameters())),
        "what is returned": "the model" if found is model else describe(found),
        "shared table": table.detach().clone(),
        "bias": tensor(tables.get("output.bias"), "`output.bias`").detach(),
        "logits": logits,
        "gradient of source.embedding.weight": grad,
    }


class _Table(nn.Module):
    """What is left of an input layer: its embedding."""

    def __init__(self, weight: torch.Tensor, pad_id: int):
        super().__init__()
        rows, columns = weight.shape
        self.embedding = nn.Embedding(rows, columns, padding_idx=pad_id)
        self.embedding.weight = nn.Parameter(weight.clone())

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.embedding(ids)
        return found


class _Tables(nn.Module):
    """Three tables, as a Transformer has them, with hardly anything between."""

    def __init__(self, inputs: Inputs):
        super().__init__()
        weights, pad_id = under(inputs, "weights."), int(inputs["pad_id"])
        self.source = _Table(weights["source.embedding.weight"], pad_id)
        self.target = _Table(weights["target.embedding.weight"], pad_id)
        rows, columns = weights["output.weight"].shape
        self.output = nn.Linear(columns, rows)
        self.output.weight = nn.Parameter(weights["output.weight"].clone())
        self.output.bias = nn.Parameter(weights["output.bias"].clone())

    def forward(self, src: torch.Tensor, tgt: torch.Tensor) -> torch.Tensor:
        x = torch.tanh(self.target(tgt) + self.source(src).mean(1, keepdim=True))
        found: torch.Tensor = self.output(x)  # (B, Lt, V)
        return found


@probe(
    "encoder_decoder/language_model",
    results="logits; logits of a second batch; output moves with ids",
    learning=f"{BEGINNING}; other parameters; vectors that start as zero",
)
def language_model(module_class: Any, inputs: Inputs) -> Seen:
    """Other parameters, who moves whom, logits, and those of a second batch."""
    given = options(inputs)
    made = module_class(**given)
    start = _beginning(made, inputs)
    model = _load(made, inputs)
    ids = {"ids": inputs["ids"]}
    seen: Seen = {"other parameters": extras(model, inputs)} | start
    with torch.no_grad():
        seen["output moves with ids"] = who_moves(
            lambda ids: model(ids), ids, "ids", given.get("pad_id", 0)
        )
    seen["logits"] = tensor(model(**ids), "the logits")
    if "second ids" in inputs:
        second = tensor(model(inputs["second ids"]), "the logits")
        seen["logits of a second batch"] = second
    return seen


@probe(
    "encoder_decoder/from_bert",
    results="*weight; *bias; names in the layers; other names; "
    "output of an encoder with these weights",
    calls="* afterwards",
)
def from_bert(function: Any, inputs: Inputs) -> Seen:
    """Names and tensors, what an encoder makes of them, and the given ones."""
    given = under(inputs, "published.")
    kept = {name: value.clone() for name, value in given.items()}
    found = function(given)
    if not isinstance(found, Mapping):
        raise WrongAnswerError(f"expected a dict of tensors, got {describe(found)}")
    names = sorted(map(str, found))
    seen: Seen = {name: tensor(found.get(name), f"`{name}`") for name in names}
    # None where names or shapes are other ones, which is reported anyway.
    with contextlib.suppress(LookupError, RuntimeError, ValueError):
        output = _encoded(inputs["x"], seen)
        seen["output of an encoder with these weights"] = output
    written = [
        name for name, value in kept.items()
        if name in given and not torch.equal(given[name], value)
    ]  # fmt: skip
    inside = [name for name in names if name.startswith("layers.")]
    return seen | {
        "names in the layers": listed(inside),
        "other names": listed(sorted({*names} - {*inside})),
        "given names that are missing afterwards": listed(sorted(kept - given.keys())),
        "given tensors with different values afterwards": listed(written),
    }


def _encoded(x: torch.Tensor, state: Seen) -> torch.Tensor:
    """What post-norm layers of one head, with GELU, make of x: `(B, L, d_model)`."""

    def linear(x: torch.Tensor, name: str) -> torch.Tensor:
        return F.linear(x, *(state[f"{name}.{end}"].to(x) for end in ENDS))

    def norm(x: torch.Tensor, name: str) -> torch.Tensor:
        ends = (state[f"{name}.{end}"].to(x) for end in ENDS)
        return F.layer_norm(x, x.shape[-1:], *ends)

    for number in sorted({int(name.split(".")[1]) for name in state}):
        layer = f"layers.{number}"
        q, k, v = (linear(x, f"{layer}.attention.w_{letter}") for letter in "qkv")
        looked = F.scaled_dot_product_attention(q, k, v)
        x = norm(x + linear(looked, f"{layer}.attention.w_o"), f"{layer}.norm1")
        wide = F.gelu(linear(x, f"{layer}.feed_forward.linear1"))
        x = norm(x + linear(wide, f"{layer}.feed_forward.linear2"), f"{layer}.norm2")
    return x
