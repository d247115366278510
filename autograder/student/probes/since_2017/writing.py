"""Probes of the distribution, of generation and of perplexity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from autograder.student.exercise import WrongAnswer
from autograder.student.probes import Inputs, Seen, kind, probe, returned, tensor
from autograder.student.probes.since_2017.observing import number, options, whole


@probe("since_2017/next_distribution")
def next_distribution(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The probabilities, those of one row alone, and both inputs afterwards."""
    logits, written, given = inputs["logits"], inputs["written"], options(inputs)

    alone, own = logits[1:2].clone(), written[1:2].clone()
    views = {}

    def call(logits: torch.Tensor, written: torch.Tensor) -> torch.Tensor:
        return tensor(function(logits, written, **given), "the distribution")

    if "views" in inputs:
        turned = [given.mT.contiguous().mT for given in (logits, written)]
        views = {"probabilities for views": call(*turned)}
    return {
        "probabilities": call(logits, written),
        "probabilities of one row alone": call(alone, own),
        **views,
        "logits afterwards": logits,
        "written afterwards": written,
    }


_FEW = 200  # rows that show whether two texts were written with the same dice


class _Table:
    """A model of one table, (V, V), which logs what it is shown."""

    def __init__(self, table: torch.Tensor):
        self.table, self.shown = table, list[torch.Tensor]()
        self.recorded = False

    def __call__(self, ids: torch.Tensor) -> torch.Tensor:
        self.shown.append(ids.clone())
        self.recorded |= torch.is_grad_enabled()
        return self.table[ids[:, -1]]  # (B, V)


@probe("since_2017/generate")
def generate(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """How often each token is drawn, what the model is shown, whose dice are used."""
    prompt, (count, seed) = inputs["prompt"], whole(inputs, "count", "seed")
    rows = prompt.expand(whole(inputs, "rows")[0], -1).clone()  # all alike, many
    few = rows[:_FEW].clone()

    def write(
        seed: int, model: _Table, rows: torch.Tensor, count: int, used: int = 0
    ) -> torch.Tensor:
        dice = torch.Generator().manual_seed(seed)
        torch.rand(used, generator=dice)
        state = dice.get_state()
        recording = not moved  # later, somebody has switched it off
        try:
            torch.set_grad_enabled(recording)
            found = function(model, rows, count, dice, **options(inputs))
            left.append(torch.is_grad_enabled())
        finally:
            torch.set_grad_enabled(True)
        moved.append(not torch.equal(dice.get_state(), state))
        return tensor(found, "the ids")

    def same(seed: int, used: int = 0) -> torch.Tensor:
        return torch.tensor(torch.equal(begin(seed, used), first))

    def begin(seed: int, used: int = 0) -> torch.Tensor:
        return write(seed, _Table(inputs["table"]), few, min(count, 2), used)

    moved, left = list[bool](), list[bool]()
    model = _Table(inputs["table"])
    before = torch.random.get_rng_state()
    ids = write(seed, model, rows, count)
    others = torch.equal(torch.random.get_rng_state(), before)
    wanted = (len(rows), prompt.size(1) + count)
    if ids.shape != wanted:
        raise WrongAnswer(f"expected ids of shape {wanted}, got {tuple(ids.shape)}")
    dtype = str(ids.dtype)
    if not ids.is_floating_point():
        ids = ids.long()  # which whole numbers they are, is said once
    drawn = ids[:, prompt.size(1) :]  # (rows, count)
    tokens = torch.arange(len(model.table))
    often = (drawn[..., None] == tokens).to(torch.get_default_dtype()).mean(0)
    written = ids[:, prompt.size(1) - 1 :]  # and what is before it
    repeats = (written[:, 1:] == written[:, :-1]).to(often.dtype).mean(0)  # (count,)
    shown = [seen.size(1) for seen in model.shown]
    last = model.shown[-1] if model.shown else rows[:, :0]
    alike = (drawn == drawn[:1]).all()
    first = begin(seed)
    alone = {}
    if "single" in inputs:
        ids_of_one = write(seed, _Table(inputs["table"]), rows[:1].clone(), 2)
        alone = {
            "shape for one prompt": str(tuple(ids_of_one.shape)),
            "text if no token is asked for": write(
                seed, _Table(inputs["table"]), rows[:2].clone(), 0
            ),
        }
    return {
        **alone,
        "how often each token is drawn": often,
        "how often it is the one before": repeats,
        "kind of the ids": dtype,
        "the prompt": ids[0, : prompt.size(1)],
        "lengths that the model is shown": torch.tensor(shown),
        "the model is shown its own tokens": torch.tensor(
            torch.equal(last, ids[:, : last.size(1)])
        ),
        "all rows alike": alike,
        "the same from the same seed": same(seed),
        "the same from a generator that was used before": same(seed, used=77),
        "the same from another seed": same(seed + 1),
        "the given generator has moved on": torch.tensor(moved[0]),
        "other generators untouched": torch.tensor(others),
        "gradients recorded": torch.tensor(model.recorded),
        "recorded afterwards, if before": torch.tensor(left[0]),
        "recorded afterwards, if not before": torch.tensor(any(left[1:])),
        "prompt afterwards": rows[0],
    }


class _Window:
    """A model whose logits depend on everything in its window; logs the windows."""

    def __init__(self, table: torch.Tensor):
        self.table, self.windows = table, list[str]()

    def __call__(self, ids: torch.Tensor) -> torch.Tensor:
        shape = tuple(ids.shape)
        if len(shape) != 2 or shape[0] != 1:
            raise WrongAnswer(f"expected the model called with (1, n) ids, got {shape}")
        self.windows.append(" ".join(map(str, ids[0].tolist())))
        counts = torch.arange(1, shape[1] + 1)[:, None]
        past = self.table[ids[0]].cumsum(0) / counts  # (n, V)
        return (self.table[ids[0]] + 2 * past)[None]


@probe("since_2017/sliding_perplexity")
def sliding_perplexity(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """Both numbers, their kinds, and the windows that the model was shown."""
    model, ids = _Window(inputs["table"]), inputs["ids"]
    sizes = whole(inputs, "window", "stride", "num_bytes")
    result = returned(function(model, ids, *sizes), "perplexity", "bits per byte")
    return {
        "windows": "; ".join(model.windows),
        "perplexity": number(result[0], "the perplexity"),
        "bits per byte": number(result[1], "the bits per byte"),
        "kind of both numbers": ", ".join(kind(part, float) for part in result[:2]),
        "ids afterwards": ids,
    }
