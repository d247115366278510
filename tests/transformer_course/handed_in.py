"""What the tests of the hand-in have in common: files, and who answers with them."""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from autograder.authoring.cases import fresh_cases
from autograder.authoring.catalogue import specification
from autograder.checks.exercise import RAISED, Case
from autograder.checks.interactor import concluded, reply
from autograder.course import ROOT
from transformer_course.library import checkpoint
from transformer_course.library.decoding import Decode, recover
from transformer_course.library.pipeline import damage
from transformer_course.solutions import encoder_decoder, text_recovery
from transformer_course.text_recovery.exercises.model import HandedInModel
from transformer_course.text_recovery.library import own_corpus

TASK = specification("text_recovery/model")
OWN = ROOT / "transformer_course" / "text_recovery" / checkpoint.SHIPPED
Restore = Callable[[list[str]], Any]


@functools.cache
def fresh_case() -> Case:
    """Some of the sentences that are graded; all 1,000 take a model too long.

    It takes a second to draw them, so they are not drawn while tests are collected.
    """
    (case,) = fresh_cases(TASK, "a secret of this test")
    texts = json.loads(str(case.inputs["originals"]))[-400:]
    return replace(case, inputs={"originals": json.dumps(texts)})


@functools.cache
def originals() -> list[str]:
    texts: list[str] = json.loads(str(fresh_case().inputs["originals"]))
    return texts


@functools.cache
def sources() -> list[str]:
    return [damage(text, 2) for text in originals()]


def bytes_of(path: Path) -> torch.Tensor:
    return torch.frombuffer(bytearray(path.read_bytes()), dtype=torch.uint8)


def side_of() -> HandedInModel:
    return HandedInModel(fresh_case().inputs, random.Random(0))


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
    original: Path = OWN,
) -> Path:
    """A checkpoint, by default the instructor's, with other weights or description."""
    with safe_open(original, framework="pt") as file:
        note = file.metadata()["about"]
    weights = {name: change(value) for name, value in load_file(original).items()}
    save_file(weights, path, {"about": about(note)})
    return path


def with_track(text: str, **track: object) -> str:
    """The description of a checkpoint for another corpus, level or way to decode."""
    notes = json.loads(text)
    notes["notes"]["track"] = track
    return json.dumps(notes)


def on_track(path: Path, **track: object) -> Path:
    """The instructor's checkpoint with another track."""
    return change_checkpoint(path, about=partial(with_track, **track))
