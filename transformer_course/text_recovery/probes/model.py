"""The probe of the model that a student hands in, and of its corpus."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.interactor import Ask, Interactor
from autograder.checks.probes import Inputs, Seen, describe, probe
from transformer_course.library import checkpoint
from transformer_course.library.checkpoint import CheckpointError
from transformer_course.library.corpora import CorpusError
from transformer_course.measures.recovery import errors
from transformer_course.text_recovery.library import measuring, own_corpus
from transformer_course.text_recovery.probes.observing import read_text

LIMITS = {  # bytes
    checkpoint.HANDED_IN: checkpoint.LARGEST, own_corpus.FILE: own_corpus.LIMIT,
}  # fmt: skip


class Measured(Interactor):
    """The judge's side: receives the files, and selects the sources to recover.

    The class that does the work is part of grading, and not given to students.
    """


def _recover(function: Callable[..., Any], sources: list[str]) -> list[str]:
    """Call the student's function, and check that it returns one text per source."""
    texts = function(list(sources))
    if not isinstance(texts, Iterable) or isinstance(texts, str):
        raise WrongAnswerError(f"expected a list of texts, got {describe(texts)}")
    texts = [read_text(t, "each of them") for t in texts]
    if len(texts) != len(sources):
        raise WrongAnswerError(f"expected {len(sources)} texts, got {len(texts)}")
    return texts


def _measure_here(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """Measure the texts recovered from the visible case, in the notebook's process.

    Errors may also be reported, to detect a copy of the shipped checkpoint.
    """
    try:
        student_track, corpus = measuring.read_track()
        pairs = measuring.pairs_of(
            student_track, json.loads(inputs["originals"]), corpus, 0
        )
    except (CheckpointError, CorpusError) as error:
        raise WrongAnswerError(str(error)) from error
    texts = _recover(function, [source for source, _ in pairs])
    marks = measuring.marks_of(student_track, corpus, pairs)
    observations = {
        "recovery": measuring.measure(texts, pairs, student_track, marks, corpus)
    }
    if student_track.is_as_shipped:
        first = [target for _, target in pairs[: measuring.COMPARED]]
        observations["errors"] = json.dumps(errors(texts, first), ensure_ascii=False)
    return observations


@probe(
    "text_recovery/model",
    interactor=Measured,
    in_notebook=_measure_here,
    results="recovery; errors; copied",
)
def model(function: Callable[..., Any], inputs: Inputs, ask: Ask) -> Seen:
    """Report the texts that the student's function recovers for a sample of sources.

    They should be those that the judge decodes with the weights in the file.
    """
    sources = json.loads(ask(_read_files())["sample"])
    texts = _recover(function, sources)
    return {"texts": json.dumps(texts, ensure_ascii=False)}


def _read_files() -> dict[str, torch.Tensor]:
    """Read the handed-in files (a checkpoint, perhaps a corpus), as bytes by name.

    One that is too large is cut one byte past its limit, for the judge to refuse
    it; missing or empty ones are left out.
    """
    files = {}
    for path in (checkpoint.handed_in(), Path(own_corpus.FILE)):
        name = checkpoint.HANDED_IN if path.suffix == ".safetensors" else path.name
        if path.is_file() and path.stat().st_size:
            with path.open("rb") as file:
                data = bytearray(file.read(LIMITS[name] + 1))
            files[name] = torch.frombuffer(data, dtype=torch.uint8)
    return files
