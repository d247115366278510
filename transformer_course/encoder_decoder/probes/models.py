"""The whole model, and a language model."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import (
    Inputs,
    Seen,
    describe,
    options,
    probe,
    tensor,
)
from autograder.checks.probes.weights import (
    BEGINNING,
    beginning,
    is_awaited,
    load_weights,
    starting_as_zero,
)
from transformer_course.encoder_decoder.probes.observing import extras, who_moves


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
    """Report what the methods return, a second batch, gradients, and who moves whom.

    Who moves whom takes a call for each position, so only some cases ask for it.
    """
    settings = options(inputs)
    if "positions" in inputs:
        settings["positions"] = _AddRows(inputs["positions"])
    module = module_class(**settings)
    start = _beginning(module, inputs)
    model: Any = _load(module, inputs)
    pad_id = settings.get("pad_id", 0)
    ids = {name: inputs[name] for name in ("src", "tgt")}
    src, tgt = ids.values()
    logits = tensor(model(src, tgt), "the logits")
    memory = tensor(model.encode(src), "what `encode` returns")
    observations: Seen = {"other parameters": extras(model, inputs)} | start
    if "positions" in settings:
        observations["modules that add positions"] = _adding(
            model, settings["positions"]
        )
    if "look" in inputs:
        observations |= _moving(model, ids, pad_id)
    observations |= {"memory": memory, "logits": logits} | _decoded(
        model, src, tgt, memory
    )
    if "second src" in inputs:
        observations["logits of a second batch"] = tensor(
            model(inputs["second src"], inputs["second tgt"]), "the logits"
        )
    if "pull" in inputs:
        added = [getattr(m, "positions", None) for m in (model.source, model.target)]
        observations["source and target share positions"] = str(added[0] is added[1])
        observations |= _gradients(model, logits, inputs)
    with torch.no_grad():  # as a step of training would
        for parameter in model.parameters():
            parameter.mul_(0.75)
    observations["logits once the weights have changed"] = tensor(
        model(src, tgt), "the logits"
    )
    return observations


def _adding(model: nn.Module, positions: nn.Module) -> str:
    """Count the modules that add positions, and how many of these are the given one."""
    adding = [part for part in model.modules() if isinstance(part, _AddRows)]
    given = sum(part is positions for part in adding)
    return f"{given} given, {len(adding)} in all"


def _moving(model: Any, ids: dict[str, torch.Tensor], pad_id: int) -> Seen:
    """Report which logits move with each position of source and target."""
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
    """Report what `decode` returns for several memories, and for one token only."""

    def logits(tgt: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
        return tensor(model.decode(tgt, memory, src), "the logits")

    observations = {
        "logits of decode": logits(tgt, memory),
        "logits of decode with another memory": logits(tgt, -memory.flip(-1)),
    }
    model.encode(src.flip(0))
    observations["logits of decode after another encode"] = logits(tgt, memory)
    observations["logits of decode for the first token"] = logits(tgt[:, :1], memory)
    return observations


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
    """Report the gradients of both embeddings; the padding vector has none."""
    if logits.shape != inputs["pull"].shape:
        return {}
    model.zero_grad()
    (logits * inputs["pull"]).sum().backward()
    observations = {}
    for name in ("source", "target"):
        table = dict(model.named_parameters())[f"{name}.embedding.weight"]
        gradient = torch.zeros_like(table) if table.grad is None else table.grad
        observations[f"gradient of {name}'s embedding"] = gradient
    return observations


@probe(
    "encoder_decoder/language_model",
    results="logits; logits of a second batch; output moves with ids",
    learning=f"{BEGINNING}; other parameters; vectors that start as zero",
)
def language_model(module_class: Any, inputs: Inputs) -> Seen:
    """Report other parameters, who moves whom, and the logits of two batches."""
    settings = options(inputs)
    module = module_class(**settings)
    start = _beginning(module, inputs)
    model = _load(module, inputs)
    ids = {"ids": inputs["ids"]}
    observations: Seen = {"other parameters": extras(model, inputs)} | start
    with torch.no_grad():
        observations["output moves with ids"] = who_moves(
            lambda ids: model(ids), ids, "ids", settings.get("pad_id", 0)
        )
    observations["logits"] = tensor(model(**ids), "the logits")
    if "second ids" in inputs:
        second = tensor(model(inputs["second ids"]), "the logits")
        observations["logits of a second batch"] = second
    return observations
