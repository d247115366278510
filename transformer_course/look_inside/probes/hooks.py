"""Probes of hooks that edit outputs, of a silenced head, and of activation patching."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import Inputs, Seen, describe, probe, tensor
from autograder.checks.probes.weights import load_weights
from transformer_course.look_inside.probes.stand_in import (
    Attention,
    StandIn,
    StandInError,
    count_hooks,
)

Edit = Callable[[torch.Tensor], torch.Tensor]


def _add_to_second(output: torch.Tensor) -> torch.Tensor:
    """An edit of a module's output (B, L, d): add 1.5 at the second position."""
    output[:, 1] += 1.5  # in place, as many edits work
    return output


# The edits that cases refer to by name; each returns the new output of a module.
EDITS: dict[str, Edit] = {
    "halve": lambda output: output / 2,
    "negate": lambda output: -output,
    "swap": lambda output: output.flip(0),
    "add": _add_to_second,
    "zero": torch.zeros_like,
}


@probe(
    "look_inside/run_edited",
    results="logits; logits of a second run",
    calls="ids afterwards; logits of a later run *; times that *; "
    "hooks *; after an error*",
)
def run_edited(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report the logits of a run with edits, and whether the run changes the model.

    ``inputs["edits"]`` names an edit for each module, such as "blocks.1: halve". In
    a case with "fails", the model also raises an error during a run.
    """
    model = StandIn(inputs)
    names = str(inputs["edits"]).split(", ")
    edits = {
        module: EDITS[edit] for module, edit in (name.split(": ") for name in names)
    }
    heard: list[str] = []
    for module in edits:  # the caller's hooks must keep working
        part = model.get_submodule(module)
        part.register_forward_hook(lambda *_: heard.append("once"))
    before, ids = count_hooks(model), inputs["ids"]
    observations: Seen = {"logits": _read_logits(function(model, ids, edits))}
    observations["times that the model was called"] = str(model.calls)
    observations["times that a hook of the caller ran"] = str(len(heard))
    observations["hooks that are left behind"] = str(count_hooks(model) - before)
    # Other ids and fewer edits: nothing of the first run may remain.
    observations["logits of a second run"] = _read_logits(
        function(model, ids.flip(1), dict(list(edits.items())[:1]))
    )
    if "fails" in inputs:
        model.fails = True
        try:
            function(model, ids, edits)
            observations["after an error"] = "the error is gone"
        except StandInError:
            observations["after an error"] = "the caller sees it"
        model.fails = False
        remaining = count_hooks(model) - before
        observations["after an error, hooks that are left behind"] = str(remaining)
    with torch.no_grad():
        observations["logits of a later run without edits"] = model(ids)
    return observations | {"ids afterwards": ids}


@probe(
    "look_inside/silence_head",
    results="output; output with two silent heads",
    calls="x afterwards; heads before w_o in a later run; "
    "output after removal; hooks *",
)
def silence_head(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report a layer's output with one silent head, with two, and without the hooks.

    The student's function maps a layer and a head to the handle of a hook.
    """
    layer = Attention(inputs["x"].size(-1), *inputs["heads"].tolist())
    load_weights(layer, inputs)
    first, second = inputs["silent"].tolist()
    with torch.no_grad():
        before, x = count_hooks(layer), inputs["x"]
        handles = [_read_handle(function(layer, first))]
        observations: Seen = {"output": tensor(layer(x), "the output")}
        observations["heads before w_o in a later run"] = layer.merged
        handles.append(_read_handle(function(layer, second)))
        observations["output with two silent heads"] = layer(x)
        for handle in handles:
            handle.remove()
        observations["output after removal"] = layer(x)
        remaining = count_hooks(layer) - before
        observations["hooks that are left after removal"] = str(remaining)
    return observations | {"x afterwards": x}


@probe(
    "look_inside/patching_map",
    results="the map",
    calls="* afterwards; logits of a later run; hooks *",
)
def patching_map(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report the map of activation patching, and whether making it changes the model.

    "answers" are the ids of two tokens, whose difference in logits is mapped.
    """
    model = StandIn(inputs)
    ids, other = inputs["ids"], inputs["other"]
    answer, other_answer = inputs["answers"].tolist()
    result = function(model, ids, other, answer, other_answer)
    observations: Seen = {"the map": tensor(result, "the map").detach()}
    observations["hooks that are left behind"] = str(count_hooks(model))
    with torch.no_grad():
        observations["logits of a later run"] = model(ids)
    return observations | {"ids afterwards": ids, "other_ids afterwards": other}


def _read_logits(result: object) -> torch.Tensor:
    """Check that a result is a tensor, and detach it."""
    return tensor(result, "the logits").detach()


def _read_handle(result: object) -> Any:
    """Check that the result of a function is the handle of a hook, and return it."""
    if not callable(getattr(result, "remove", None)):
        raise WrongAnswerError(
            f"expected the handle of a hook, with `remove()`, got {describe(result)}"
        )
    return result
