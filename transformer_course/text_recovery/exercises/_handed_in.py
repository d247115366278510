"""Grade handed-in files in the judge: decode with their weights, without any training.

As the files are untrusted, all of it runs in a fork with limits (`limited_fork.run_in_limited_fork`).
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from autograder.checks.exercise import WrongAnswerError
from transformer_course.authoring.decoding import recover_with_cache
from transformer_course.authoring.tokenizing import Segmenter
from transformer_course.library import bleu, checkpoint
from transformer_course.library.checkpoint import CheckpointError
from transformer_course.library.corpora import CorpusError, Pair
from transformer_course.library.decoding import make_batch
from transformer_course.library.model import Restorer
from transformer_course.library.text import Tokenizer
from transformer_course.measures.recovery import OURS
from transformer_course.solutions import encoder_decoder
from transformer_course.text_recovery.exercises._learnt import Recover, refuse_unlearnt
from transformer_course.text_recovery.exercises._shipped import (
    has_same_errors,
    is_copy,
    is_derived_from_shipped,
    shipped_outputs,
)
from transformer_course.text_recovery.library import measuring, own_corpus, track
from transformer_course.text_recovery.library.measuring import COMPARED
from transformer_course.text_recovery.library.own_corpus import OwnCorpus
from transformer_course.text_recovery.library.track import Track

SAME = 75.0  # BLEU of the student's texts against ours; beams of good models reach 90
LESS = 0.1  # nats per token by which the student's texts may be less probable than ours
_TELLING = 3  # the fewest sentences with different outputs that identify a model
_LARGEST = {
    "vocab_size": 20_000, "d_model": 512, "num_heads": 64, "num_layers": 12,
    "d_ff": 4096, "max_len": 2048,
}  # fmt: skip
_LONGEST = 1000  # characters of a text; an original has 100 to 200
_TOKENS = 80  # tokens of a text whose probability is computed


@dataclass(frozen=True)
class HandIn:
    """The content of handed-in files.

    ``path`` is that of the checkpoint, and ``corpus`` the student's own, if any.
    """

    path: Path | None
    track: Track
    corpus: OwnCorpus | None
    pairs: list[Pair]

    @property
    def sources(self) -> list[str]:
        return [source for source, _ in self.pairs]


def sample(
    files: Mapping[str, bytes], originals: list[str], seed: int, places: Sequence[int]
) -> list[str]:
    """Return the sources at ``places``, on which the student's function is tested.

    Indices too large are skipped. ``originals`` are new sentences of the embedded
    corpus.

    Raises:
        WrongAnswerError: the files cannot be graded.
    """
    with tempfile.TemporaryDirectory() as folder:
        sources = _open_files(files, originals, seed, Path(folder)).sources
        return [sources[i] for i in places if i < len(sources)]


def graded(
    files: Mapping[str, bytes], originals: list[str], seed: int,
    places: Sequence[int], texts: list[str],
) -> str:  # fmt: skip
    """Grade the handed-in files; return the JSON of `measuring.measure`.

    ``texts`` are the student's outputs for the sources that `sample` returned.

    Raises:
        WrongAnswerError: the files cannot be graded, or do not produce the texts.
    """
    if checkpoint.HANDED_IN not in files:
        raise WrongAnswerError(
            f"no model is handed in: {checkpoint.HANDED_IN} is missing"
        )
    with tempfile.TemporaryDirectory() as folder:
        hand_in = _open_files(files, originals, seed, Path(folder))
        try:
            indices = [i for i in places if i < len(hand_in.pairs)]
            return _grade(hand_in, indices, texts, seed)
        except WrongAnswerError:
            raise
        except Exception as error:  # untrusted sizes, weights and tokenizer
            raise WrongAnswerError(_describe_failure(error)) from error


def _describe_failure(error: Exception) -> str:
    """The message about a checkpoint with which decoding has failed."""
    reason = str(error).strip().split("\n")[0][:200] or type(error).__name__
    return (
        f"nothing can be decoded with this file: {reason}; let `project.hand_in` write "
        "it anew"
    )


def _open_files(
    files: Mapping[str, bytes], originals: list[str], seed: int, folder: Path
) -> HandIn:
    """Read the handed-in files, with the checkpoint copied into ``folder``. Raises WrongAnswerError."""
    path, student_track, corpus = None, Track(), None
    try:
        if checkpoint.HANDED_IN in files:
            path = folder / checkpoint.HANDED_IN
            path.write_bytes(files[checkpoint.HANDED_IN])
            student_track = _track_of(path)
        if student_track.corpus == track.OWN and own_corpus.FILE in files:
            corpus = own_corpus.parse(files[own_corpus.FILE])
        pairs = measuring.pairs_of(student_track, originals, corpus, seed)
    except (CheckpointError, CorpusError) as error:
        raise WrongAnswerError(str(error)) from error
    return HandIn(path, student_track, corpus, pairs)


def _track_of(path: Path) -> Track:
    """Read from a checkpoint's notes its corpus, level of damage and way to decode.

    Raises WrongAnswerError.
    """
    try:
        about = checkpoint.describe(path)
        _refuse_oversized(about["sizes"])
        return track.of(about["notes"])
    except (WrongAnswerError, CheckpointError):
        raise
    except Exception as error:  # the file is untrusted
        raise WrongAnswerError(_describe_failure(error)) from error


def _grade(hand_in: HandIn, places: Sequence[int], texts: list[str], seed: int) -> str:
    """Check a hand-in, and measure what its weights decode, as JSON.

    ``texts`` are the student's outputs for the sources at ``places``.

    Raises:
        WrongAnswerError: the weights are copied or have learnt too little, or the
            texts do not come from them.
    """
    assert hand_in.path is not None
    model, tokenizer = checkpoint.load(hand_in.path, encoder_decoder, Segmenter())
    if is_copy(model):
        raise WrongAnswerError(OURS.format("weights"))
    own_texts = [text[:_LONGEST] for text in _decoded(model, tokenizer, hand_in)]
    sources, ours = [hand_in.sources[i] for i in places], [own_texts[i] for i in places]
    if texts != ours:
        if likeness(texts, ours) < SAME:
            _refuse_improbable(model, tokenizer, sources, texts, ours)
        _refuse_shipped_texts(texts, ours, sources)
    _refuse_shipped(model, tokenizer, hand_in, own_texts)
    if hand_in.corpus:
        refuse_unlearnt(
            model, hand_in.corpus, _greedily(tokenizer), encoder_decoder, seed
        )
    marks = measuring.marks_of(hand_in.track, hand_in.corpus, hand_in.pairs)
    return measuring.measure(own_texts, hand_in.pairs, hand_in.track, marks, hand_in.corpus)


def _decoded(model: Restorer, tokenizer: Tokenizer, hand_in: HandIn) -> list[str]:
    """The texts that the model decodes for all sources, with the beam size and alpha of the hand-in's track."""
    return recover_with_cache(
        model.transformer, tokenizer, hand_in.sources, beam=hand_in.track.beam,
        alpha=hand_in.track.alpha,
    )  # fmt: skip


def _greedily(tokenizer: Tokenizer) -> Recover:
    """Make a function that recovers texts with a model and greedy decoding."""

    def recover(model: Restorer, sources: list[str]) -> list[str]:
        texts = recover_with_cache(model.transformer, tokenizer, sources)
        return [text[:_LONGEST] for text in texts]

    return recover


def _refuse_improbable(
    model: Restorer, tokenizer: Tokenizer, sources: list[str], texts: list[str],
    own_texts: list[str],
) -> None:  # fmt: skip
    """Refuse texts that are too improbable as the output of the handed-in weights.

    With these weights, a beam search's texts are hardly less probable than the
    judge's ``own_texts``, but other texts clearly are (docs/recovery_grade.md).
    """
    if len(texts) == len(own_texts):
        theirs, ours = (
            _log_probability(model, tokenizer, sources, of) for of in (texts, own_texts)
        )
        if theirs >= ours - LESS:
            return
    raise WrongAnswerError(
        f"these texts are not what the weights in {checkpoint.HANDED_IN} give"
    )


@torch.no_grad()
def _log_probability(
    model: Restorer, tokenizer: Tokenizer, sources: list[str], texts: list[str]
) -> float:
    """Compute the mean log-probability of the texts' tokens, given their sources.

    Of each text, at most the first `_TOKENS` tokens and EOS count.
    """
    log_probabilities = []
    for source, text in zip(sources, texts, strict=True):
        ids = tokenizer.encode(source), tokenizer.encode(text)[:_TOKENS]
        source_ids, target = make_batch([ids[0]], [ids[1]])
        log_p = model(source_ids, target[:, :-1]).log_softmax(-1)  # (1, Lt, V)
        log_probabilities.append(log_p.gather(-1, target[:, 1:, None]).flatten())
    return float(torch.cat(log_probabilities).mean())


def _refuse_shipped_texts(texts: list[str], own_texts: list[str], sources: list[str]) -> None:
    """Refuse the student's texts if they are the output of the shipped checkpoint.

    They should be ``own_texts``, the output of the handed-in weights.
    """
    rows = zip(texts, own_texts, shipped_outputs(sources), strict=True)
    matches = [text == shipped for text, ours, shipped in rows if ours != shipped]
    if len(matches) >= _TELLING and all(matches):
        raise WrongAnswerError(OURS.format("answers"))


def _refuse_shipped(
    model: Restorer, tokenizer: Tokenizer, hand_in: HandIn, own_texts: list[str]
) -> None:
    """Refuse weights made from the shipped checkpoint, even if they were altered.

    They share most of its errors, or have similar embeddings.
    """
    sources, targets = (
        list(side)[:COMPARED] for side in zip(*hand_in.pairs, strict=True)
    )
    if has_same_errors(targets, own_texts, shipped_outputs(sources)):
        raise WrongAnswerError(OURS.format("errors"))
    if is_derived_from_shipped(model, tokenizer, sources):
        raise WrongAnswerError(
            "these weights started from the checkpoint that ships with the course; the "
            "grade is for a model that you trained from random weights"
        )


def _refuse_oversized(sizes: Mapping[str, Any]) -> None:
    """Refuse a model with a size that is invalid or above its limit."""
    for name, most in _LARGEST.items():
        size = sizes.get(name, 1)
        if type(size) is not int or not 0 < size <= most:
            raise WrongAnswerError(
                f"a model of {name} {size!r:.20} is too large to be tried"
            )


def likeness(texts: list[str], references: list[str]) -> float:
    """Compute the BLEU of texts against references; 0 if the counts differ."""
    if len(texts) != len(references):
        return 0.0
    return bleu.corpus(texts, references)
