"""Masks and positions, shifted sequences, and tokens that are masked."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import Inputs, Seen, probe, returned, tensor


@probe(
    "encoder_decoder/make_masks",
    results="source attends to source; target attends to source",
    calls="* afterwards",
    parts={"target attends to target": "target attends to target"},
)
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
    if mask.dim() < 3 or mask.size(0) != batch:
        raise WrongAnswerError(
            f"expected a `{name}` of three or four dimensions, the first of them the "
            f"batch ({batch}), got one of shape {tuple(mask.shape)}"
        )
    by_head = mask.unsqueeze(1) if mask.dim() == 3 else mask
    try:
        return by_head.broadcast_to(batch, 2, lq, lk)[:, 0]
    except RuntimeError:
        raise WrongAnswerError(
            f"expected a `{name}` that broadcasts to the scores (B, h, Lq, Lk) = "
            f"({batch}, h, {lq}, {lk}), got one of shape {tuple(mask.shape)}"
        ) from None


@probe(
    "encoder_decoder/left_padding",
    results="rows of real tokens; empty rows",
    calls="* afterwards",
    parts={"positions": "positions of real tokens; positions of padding"},
)
def left_padding(function: Any, inputs: Inputs) -> Seen:
    """Rows and positions of real tokens; of padding, only whether they will do."""
    ids = inputs["ids"]
    options = (int(inputs["pad_id"]),) if "pad_id" in inputs else ()
    real = ids != (options[0] if options else 0)  # (B, L)
    batch, length = ids.shape
    mask, positions = returned(function(ids, *options), "mask", "positions")
    mask = _who_may(mask, "mask", (batch, length, length))
    positions = tensor(positions, "`positions`")
    if positions.shape != ids.shape:
        raise WrongAnswerError(
            f"expected `positions` of shape {tuple(ids.shape)}, got "
            f"{tuple(positions.shape)}"
        )
    outside = (positions < 0) | (positions >= length)  # (B, L)
    return {
        "rows of real tokens": mask.masked_fill(~real[:, :, None], 0),
        "empty rows": (~mask.bool().any(-1)).sum(),
        "positions of real tokens": positions.masked_fill(~real, 0),
        "positions of padding": "some are not in the table"
        if (outside & ~real).any()
        else "all are in the table",
        "ids afterwards": ids,
    }


_of_a_pair = partial(
    probe, results="inputs", calls="* afterwards", parts={"targets": "targets"}
)


@_of_a_pair("encoder_decoder/masked_tokens")
def masked_tokens(function: Any, inputs: Inputs) -> Seen:
    """Both tensors, and what was given afterwards."""
    ids, chosen = inputs["ids"], inputs["chosen"]
    mask_id, *options = inputs["special"].tolist()
    pair = returned(function(ids, chosen, mask_id, *options), "inputs", "targets")
    return _pair(pair) | {"ids afterwards": ids, "chosen afterwards": chosen}


@_of_a_pair("encoder_decoder/shifted")
def shifted(function: Any, inputs: Inputs) -> Seen:
    """Both tensors, and the ids afterwards."""
    ids = inputs["ids"]
    pair = returned(function(ids, *inputs["special"].tolist()), "inputs", "targets")
    return _pair(pair) | {"ids afterwards": ids}


def _pair(pair: tuple[Any, ...]) -> Seen:
    names = ("inputs", "targets")
    return {n: tensor(v, f"the {n}") for n, v in zip(names, pair, strict=True)}
