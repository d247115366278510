"""Probes of the distribution, of generation and of perplexity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import (
    Inputs,
    Seen,
    kind,
    options,
    probe,
    returned,
    tensor,
)
from autograder.units.since_2017.probes.observing import number, whole


@probe(
    "since_2017/next_distribution",
    results="probabilities; probabilities of one row alone; probabilities for views",
    calls="* afterwards",
)
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


class _Writer:
    """A student's function on a table, and what its calls have left behind.

    Attributes:
        moved: of each call, whether its own generator has moved on.
        left: of each call, whether gradients are recorded before and afterwards.
    """

    def __init__(self, function: Callable[..., Any], inputs: Inputs):
        self._function, self._inputs = function, inputs
        self.moved, self.left = list[bool](), list[tuple[bool, bool]]()

    def __call__(
        self, seed: int, rows: torch.Tensor, count: int, used: int = 0,
        model: _Table | None = None,
    ) -> torch.Tensor:  # fmt: skip
        """The ids for some prompts, with dice of which some numbers are used up."""
        model = model or _Table(self._inputs["table"])
        dice = torch.Generator().manual_seed(seed)
        torch.rand(used, generator=dice)
        state = dice.get_state()
        # Later, somebody has switched it off, but where nothing is to be done.
        recording = not self.moved or count == 0
        try:
            torch.set_grad_enabled(recording)
            given = options(self._inputs)
            found = self._function(model, rows, count, dice, **given)
            self.left.append((recording, torch.is_grad_enabled()))
        finally:
            torch.set_grad_enabled(True)
        self.moved.append(not torch.equal(dice.get_state(), state))
        return tensor(found, "the ids")


@probe(
    "since_2017/generate",
    results="how often *; the prompt; lengths that the model is shown; "
    "the model is shown its own tokens; all rows alike; the same from *; "
    "the given generator has moved on; other generators untouched; "
    "shape for one prompt; text if no token is asked for",
    calls="kind of the ids; prompt afterwards; recorded afterwards, if *",
    learning="gradients recorded",
)
def generate(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """How often each token is drawn, what the model is shown, whose dice are used."""
    prompt, (count, seed) = inputs["prompt"], whole(inputs, "count", "seed")
    rows = prompt.expand(whole(inputs, "rows")[0], -1).clone()  # all alike, many
    few = rows[:_FEW].clone()
    write, model = _Writer(function, inputs), _Table(inputs["table"])
    before = torch.random.get_rng_state()
    ids = write(seed, rows, count, model=model)
    others = torch.equal(torch.random.get_rng_state(), before)
    wanted = (len(rows), prompt.size(1) + count)
    if ids.shape != wanted:
        raise WrongAnswerError(
            f"expected ids of shape {wanted}, got {tuple(ids.shape)}"
        )
    dtype = str(ids.dtype)
    if not ids.is_floating_point():
        ids = ids.long()  # which whole numbers they are, is said once
    drawn = _drawn(ids, prompt.size(1), len(model.table))
    shown = _shown(model, ids)

    def short(seed: int, used: int = 0) -> torch.Tensor:
        return write(seed, few, min(count, 2), used)

    def same(seed: int, used: int = 0) -> torch.Tensor:
        return torch.tensor(torch.equal(short(seed, used), first))

    first = short(seed)
    return {
        **(_little(write, seed, rows) if "single" in inputs else {}),
        **drawn,
        "kind of the ids": dtype,
        "the prompt": ids[0, : prompt.size(1)],
        **shown,
        "all rows alike": (ids == ids[:1])[:, prompt.size(1) :].all(),
        "the same from the same seed": same(seed),
        "the same from a generator that was used before": same(seed, used=77),
        "the same from another seed": same(seed + 1),
        "the given generator has moved on": torch.tensor(write.moved[0]),
        "other generators untouched": torch.tensor(others),
        "gradients recorded": torch.tensor(model.recorded),
        "recorded afterwards, if before": torch.tensor(
            all(after for before, after in write.left if before)
        ),
        "recorded afterwards, if not before": torch.tensor(
            any(after for before, after in write.left if not before)
        ),
        "prompt afterwards": rows[0],
    }


def _drawn(ids: torch.Tensor, begin: int, vocab_size: int) -> Seen:
    """How often each token is drawn at each place from ``begin`` on, and repeated."""
    hits = ids[:, begin:, None] == torch.arange(vocab_size)  # (rows, count, V)
    repeats = ids[:, begin:] == ids[:, begin - 1 : -1]  # (rows, count)
    dtype = torch.get_default_dtype()
    return {
        "how often each token is drawn": hits.to(dtype).mean(0),  # (count, V)
        "how often it is the one before": repeats.to(dtype).mean(0),  # (count,)
    }


def _shown(model: _Table, ids: torch.Tensor) -> Seen:
    """How long the texts are that a model is shown, and whether they are its own."""
    last = model.shown[-1] if model.shown else ids[:, :0]
    return {
        "lengths that the model is shown": torch.tensor(
            [seen.size(1) for seen in model.shown]
        ),
        "the model is shown its own tokens": torch.tensor(
            torch.equal(last, ids[:, : last.size(1)])
        ),
    }


def _little(write: _Writer, seed: int, rows: torch.Tensor) -> Seen:
    """What is written for one prompt, and where nothing is to be written."""
    one = write(seed, rows[:1].clone(), 2)
    return {
        "shape for one prompt": str(tuple(one.shape)),
        "text if no token is asked for": write(seed, rows[:2].clone(), 0),
    }


class _Window:
    """A model whose logits depend on everything in its window; logs the windows."""

    def __init__(self, table: torch.Tensor):
        self.table, self.windows = table, list[str]()

    def __call__(self, ids: torch.Tensor) -> torch.Tensor:
        shape = tuple(ids.shape)
        if len(shape) != 2 or shape[0] != 1:
            raise WrongAnswerError(
                f"expected the model called with (1, n) ids, got {shape}"
            )
        self.windows.append(" ".join(map(str, ids[0].tolist())))
        counts = torch.arange(1, shape[1] + 1)[:, None]
        past = self.table[ids[0]].cumsum(0) / counts  # (n, V)
        return (self.table[ids[0]] + 2 * past)[None]


@probe(
    "since_2017/sliding_perplexity",
    results="perplexity",
    calls="kind of both numbers; * afterwards",
    parts={"windows": "windows", "bits per byte": "bits per byte"},
)
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
