"""Trained models as safetensors files: half-precision weights, sizes and tokenizer."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor
from torch.nn import Parameter

from transformer_course.library.model import Restorer, Sizes
from transformer_course.library.text import Tokenizer, tokenizer_from_json

HANDED_IN = "my_recovery.safetensors"
SHIPPED = "recovery.safetensors"
LIMIT = 16 * 2**20  # bytes of the weights in a checkpoint that is handed in
LARGEST = LIMIT + 2**20  # bytes of the file, including its description
_LONGEST = 1 << 21  # characters of a description
_PACKAGE = Path(__file__).resolve().parents[1]


class CheckpointError(Exception):
    """A checkpoint that cannot be used; the message says why."""


def save(
    path: str | Path, model: Restorer, tokenizer: Tokenizer, **notes: object
) -> Path:
    """Write a checkpoint. ``notes`` (curve, seed, BLEU, ...) are stored as JSON.

    Raises CheckpointError if the weights take more than 16 MB.
    """
    tensors = {
        name: value.detach().half().cpu().contiguous()
        for name, value in model.named_parameters()  # shared ones once; no buffers
    }
    size = sum(t.numel() * 2 for t in tensors.values())
    if size > LIMIT:
        raise CheckpointError(f"{size / 2**20:.1f} MB; at most {LIMIT >> 20} MB")
    sizes = asdict(model.sizes)
    about = {"sizes": sizes, "tokenizer": tokenizer.to_json(), "notes": notes}
    save_file(tensors, str(path), {"about": json.dumps(about, sort_keys=True)})
    return Path(path)


def load(
    path: str | Path, parts: ModuleType, segment: Callable[..., list[str]]
) -> tuple[Restorer, Tokenizer]:
    """Return the model (in eval mode) and the tokenizer of a checkpoint.

    Args:
        parts: the module with unit 4's `Transformer`.
        segment: cuts a piece into symbols; see SubwordTokenizer.

    Raises:
        CheckpointError: the file is missing, too large, or not a checkpoint.
    """
    path = Path(path)
    if not path.is_file():
        raise CheckpointError(
            f"there is no checkpoint {path.name}: train a model first"
        )
    try:
        about = describe(path)
        with safe_open(path, framework="pt") as file:
            weights = {n: file.get_tensor(n) for n in file.keys()}  # noqa: SIM118
        model = Restorer(Sizes(**about["sizes"]), parts)
        parameters = dict(model.named_parameters())
        _refuse_others(path, parameters, weights)
        with torch.no_grad():
            for name, value in weights.items():
                parameters[name].copy_(value)
        return model.eval(), tokenizer_from_json(about["tokenizer"], segment)
    except (SafetensorError, KeyError, ValueError, TypeError, RuntimeError) as error:
        raise CheckpointError(f"{path.name} is not a checkpoint: {error}") from error


def _refuse_others(
    path: Path, parameters: dict[str, Parameter], weights: dict[str, Tensor]
) -> None:
    """Raise a CheckpointError naming the first weight that does not fit the model."""
    for name in sorted(parameters.keys() | weights.keys()):
        expected, actual = (
            tuple(tensors[name].shape) if name in tensors else "missing"
            for tensors in (parameters, weights)
        )
        if expected != actual:
            raise CheckpointError(
                f"{path.name} does not hold a Restorer of the sizes that it states: "
                f"{name:.60} is {actual} in the file, and {expected} in such a model"
            )


def describe(path: str | Path) -> dict[str, Any]:
    """Return the description in a checkpoint: "sizes", "tokenizer" and "notes".

    Raises CheckpointError or SafetensorError if the file is not a valid checkpoint.
    """
    path = Path(path)
    if path.stat().st_size > LARGEST:
        raise CheckpointError(f"{path.name} is larger than {LIMIT >> 20} MB")
    with safe_open(path, framework="pt") as file:
        text = (file.metadata() or {}).get("about", "")
    if len(text) > _LONGEST:
        raise CheckpointError(f"{path.name} has too long a description")
    try:
        about = json.loads(text)
    except (ValueError, RecursionError):
        about = None
    if not isinstance(about, dict) or about.keys() != {"sizes", "tokenizer", "notes"}:
        raise CheckpointError(
            f"{path.name} has no description of its model: let `save` write it"
        )
    return about


def notes(path: str | Path) -> dict[str, Any]:
    """The notes that `save` stored in a checkpoint: its curve, seed and scores."""
    saved_notes: dict[str, Any] = describe(path)["notes"]
    return saved_notes


def handed_in(folder: str | Path = ".") -> Path:
    """Return the path of the checkpoint to hand in, `HANDED_IN` in ``folder``.

    If only the instructor's checkpoint exists, return the path of that.
    """
    path = Path(folder) / HANDED_IN
    spare = _PACKAGE / "text_recovery" / SHIPPED
    return spare if spare.is_file() and not path.is_file() else path


def shipped() -> Path:
    """Return the path of the trained checkpoint that comes with the course.

    Raises CheckpointError if it is in none of the "assets" folders.
    """
    nearby = [Path(parent) / "assets" for parent in (".", "..", "../..")]
    for folder in (*nearby, _PACKAGE / "assets", _PACKAGE.parent / "assets"):
        if (folder / SHIPPED).is_file():
            return folder / SHIPPED
    raise CheckpointError(f"put assets/{SHIPPED} of the course beside this notebook")
