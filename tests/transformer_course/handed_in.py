"""What the tests of the hand-in have in common: files, and who answers with them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from autograder.authoring.cases import fresh_cases
from autograder.authoring.catalogue import specification
from autograder.checks.exercise import RAISED
from autograder.checks.interactor import concluded, reply
from autograder.course import ROOT
from transformer_course.library import checkpoint
from transformer_course.library.decoding import Decode, recover
from transformer_course.solutions import encoder_decoder, text_recovery
from transformer_course.text_recovery.exercises.model import HandedInModel
from transformer_course.text_recovery.library import own_corpus

TASK = specification("text_recovery/model")
OWN = ROOT / "transformer_course" / "text_recovery" / checkpoint.SHIPPED
(CASE,) = fresh_cases(TASK, "a secret of this test")
Restore = Callable[[list[str]], Any]


def bytes_of(path: Path) -> torch.Tensor:
    return torch.frombuffer(bytearray(path.read_bytes()), dtype=torch.uint8)


def side_of() -> HandedInModel:
    return HandedInModel(CASE.inputs, random.Random(0))


def weights_of(path: Path, decode: Decode = text_recovery.greedy) -> Restore:
    """What a student's own function gives with the weights of a file."""

    def restore(sources: list[str]) -> list[str]:
        model, tokenizer = checkpoint.load(path, encoder_decoder, text_recovery.segment)
        with torch.no_grad():
            return recover(model, tokenizer, sources, decode)

    return restore


def verdict(
    path: Path | None, restore: Restore | None = None, corpus: Path | None = None
) -> dict[str, str]:
    """What is concluded of some files, and of a function's texts."""
    side, files = side_of(), {checkpoint.HANDED_IN: path, own_corpus.FILE: corpus}
    replies = reply(
        side, {name: bytes_of(file) for name, file in files.items() if file}
    )
    if RAISED in replies:
        return {RAISED: str(replies[RAISED])}
    texts = (restore or weights_of(path or OWN))(json.loads(str(replies["sample"])))
    answers = {"texts": texts if isinstance(texts, str) else json.dumps(texts)}
    return {name: str(value) for name, value in concluded(side, answers).items()}


def numbers(report: dict[str, str]) -> dict[str, Any]:
    """The numbers of a verdict that has some."""
    assert RAISED not in report, report
    read: dict[str, Any] = json.loads(report["recovery"])
    return read


def change_checkpoint(
    path: Path,
    change: Callable[[torch.Tensor], torch.Tensor] = lambda weights: weights,
    about: Callable[[str], str] = lambda text: text,
) -> Path:
    """The instructor's checkpoint with other weights or another description."""
    with safe_open(OWN, framework="pt") as file:
        note = file.metadata()["about"]
    weights = {name: change(value) for name, value in load_file(OWN).items()}
    save_file(weights, path, {"about": about(note)})
    return path


def on_track(path: Path, **track: object) -> Path:
    """The instructor's checkpoint for another corpus, level or way to decode."""

    def about(text: str) -> str:
        notes = json.loads(text)
        notes["notes"]["track"] = track
        return json.dumps(notes)

    return change_checkpoint(path, about=about)
