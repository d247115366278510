"""A trained model as one safetensors file: half-precision weights, sizes, tokenizer."""

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
LIMIT = 16 * 2**20  # bytes; a hand-in of four million weights
LARGEST = LIMIT + 2**20  # bytes of a file, with what it says of itself
_LONGEST = 1 << 21  # characters of a description
_PACKAGE = Path(__file__).resolve().parents[1]


class CheckpointError(Exception):
    """A checkpoint that cannot be used; the text says why."""


def save(
    path: str | Path, model: Restorer, tokenizer: Tokenizer, **notes: object
) -> Path:
    """Write a checkpoint. ``notes`` (curve, seed, BLEU, ...) are kept as JSON.

    Raises:
        CheckpointError: it would be larger than a hand-in may be.
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
    """The model (in eval mode) and the tokenizer of a checkpoint.

    Args:
        path: a file that `save` wrote.
        parts: the module with unit 4's `Transformer`.
        segment: cuts pieces into symbols; see SubwordTokenizer.

    Raises:
        CheckpointError: missing, too large, or not a checkpoint.
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
    """Refuse the weights of another architecture, and say which one does not fit."""
    for name in sorted(parameters.keys() | weights.keys()):
        expected, actual = (
            tuple(tensors[name].shape) if name in tensors else "missing"
            for tensors in (parameters, weights)
        )
        if expected != actual:
            raise CheckpointError(
                f"{path.name} holds another architecture than a Restorer of the sizes "
                f"that it names: {name:.60} is {actual} in the file, and {expected} in "
                "such a model"
            )


def describe(path: str | Path) -> dict[str, Any]:
    """The description in a checkpoint: "sizes", "tokenizer" and "notes".

    Raises:
        CheckpointError: it has none, or is larger than a hand-in may be.
        SafetensorError: it is no safetensors file.
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
    """What was noted when a checkpoint was written: its curve, seed and scores."""
    saved_notes: dict[str, Any] = describe(path)["notes"]
    return saved_notes


def handed_in(folder: str | Path = ".") -> Path:
    """The checkpoint to hand in, my_recovery.safetensors in the notebook's folder.

    If it is missing, the instructor's own checkpoint, if there is one.
    """
    path = Path(folder) / HANDED_IN
    spare = _PACKAGE / "text_recovery" / SHIPPED
    return spare if spare.is_file() and not path.is_file() else path


def shipped() -> Path:
    """The trained checkpoint that comes with the course.

    Raises:
        CheckpointError: it is not where the course puts it.
    """
    nearby = [Path(place) / "assets" for place in (".", "..", "../..")]
    for folder in (*nearby, _PACKAGE / "assets", _PACKAGE.parent / "assets"):
        if (folder / SHIPPED).is_file():
            return folder / SHIPPED
    raise CheckpointError(f"put assets/{SHIPPED} of the course beside this notebook")
