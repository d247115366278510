"""Whether texts are what the weights that were handed in give."""

from __future__ import annotations

import importlib
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import torch
from safetensors import safe_open
from torch import nn

from autograder.student.exercise import Answers, WrongAnswer
from autograder.student.otherside import OtherSide, given
from autograder.student.recovery import checkpoint
from autograder.student.recovery.decoding import recover

SAMPLE = 60  # sentences that are decoded here, too
SAME = 75.0  # BLEU of those texts against ours; a beam of one model gives above 90
COPY = 0.999  # cosine of all weights with those that ship
_LARGEST = {
    "vocab_size": 20_000, "d_model": 512, "num_heads": 64, "num_layers": 12,
    "d_ff": 4096, "max_len": 2048,
}  # fmt: skip
_ABOUT = 1 << 21  # characters of sizes, tokenizer and notes


class HandedIn(OtherSide):
    """Decodes some of the sources itself, with the weights from the student's file.

    Texts made in another way (a rule, somebody else's outputs) are found out, and so is
    the checkpoint that everybody has, changed a little.
    """

    NAME: ClassVar[str] = "checkpoint"

    def conclude(self, answers: Answers) -> Answers:
        if self.NAME not in answers:
            raise WrongAnswer(
                f"no model is handed in: {checkpoint.HANDED_IN} is missing"
            )
        most = checkpoint.LIMIT + 2**20
        data = given(answers, self.NAME, 1, [torch.uint8], most)
        sources = json.loads(str(self.inputs["sources"]))[:SAMPLE]
        texts = _texts(answers)[:SAMPLE]
        model, own = decoded(data.numpy().tobytes(), sources)
        if is_copy(model):
            raise WrongAnswer(
                "these are the weights of the checkpoint that ships with the course; "
                "the grade is for a model that you trained"
            )
        if likeness(texts, own) < SAME:
            raise WrongAnswer(
                f"these texts are not what the weights in {checkpoint.HANDED_IN} give"
            )
        return {"bleu": answers["bleu"]}


def _texts(answers: Answers) -> list[str]:
    try:
        texts = json.loads(str(answers.get("bleu", "")))
    except (ValueError, RecursionError):
        texts = None
    if not isinstance(texts, list) or not all(isinstance(t, str) for t in texts):
        raise WrongAnswer("expected a list of texts")
    return texts


def decoded(data: bytes, sources: list[str]) -> tuple[nn.Module, list[str]]:
    """The course's model with a checkpoint's weights, and what it makes of sources.

    Raises:
        WrongAnswer: it is no checkpoint, or a larger one than can be tried.
    """
    parts = importlib.import_module("autograder.solutions.encoder_decoder")
    unit = importlib.import_module("autograder.solutions.text_recovery")
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, checkpoint.HANDED_IN)
            path.write_bytes(data)
            _refuse_vast(path)
            model, tokenizer = checkpoint.load(path, parts, unit.segment)
        with torch.no_grad():
            return model, recover(model, tokenizer, sources, unit.greedy_decode)
    except WrongAnswer:
        raise
    except Exception as error:  # a stranger's file: sizes, weights, tokenizer
        reason = str(error).strip().split("\n")[0][:200]
        raise WrongAnswer(f"nothing can be decoded with this file: {reason}") from error


def _refuse_vast(path: Path) -> None:
    with safe_open(path, framework="pt") as file:
        about = file.metadata()["about"]
    if len(about) > _ABOUT:
        raise WrongAnswer("the checkpoint's notes are too long")
    sizes: dict[str, Any] = json.loads(about)["sizes"]
    for name, most in _LARGEST.items():
        size = sizes.get(name, 1)
        if type(size) is not int or not 0 < size <= most:
            raise WrongAnswer(
                f"a model of {name} {size!r:.20} is too large to be tried"
            )


def is_copy(model: nn.Module) -> bool:
    """Whether a model's weights are nearly those of the shipped checkpoint."""
    with safe_open(checkpoint.shipped(), framework="pt") as file:
        shipped = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    own = dict(model.named_parameters())
    if {n: p.shape for n, p in own.items()} != {n: t.shape for n, t in shipped.items()}:
        return False
    mine, theirs = (
        torch.cat([values[name].detach().flatten().double() for name in sorted(own)])
        for values in (own, shipped)
    )
    return bool(torch.cosine_similarity(mine, theirs, dim=0) > COPY)


def likeness(texts: list[str], others: list[str]) -> float:
    """BLEU of some texts against others."""
    sacrebleu: Any = importlib.import_module("sacrebleu")
    if len(texts) != len(others):
        return 0.0
    score: Callable[..., Any] = sacrebleu.corpus_bleu
    return float(score(texts, [others], force=True).score)
