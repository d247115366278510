"""Measures of a handed-in model's texts: BLEU, and the points for it.

A notebook and the judge use the same functions, but on different sentences.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

from autograder.checks.measures import credit
from transformer_course.library import abilities, bleu, checkpoint, intervals
from transformer_course.library.checkpoint import CheckpointError
from transformer_course.library.corpora import CorpusError, Pair
from transformer_course.library.pipeline import damage
from transformer_course.text_recovery.library import own_corpus, scale, track
from transformer_course.text_recovery.library.own_corpus import OwnCorpus
from transformer_course.text_recovery.library.scale import Marks
from transformer_course.text_recovery.library.track import Track

COMPARED = 600  # sentences compared, to recognise the shipped checkpoint


def pairs_of(
    student_track: Track, originals: Sequence[str], corpus: OwnCorpus | None, seed: int
) -> list[Pair]:
    """Return the (source, target) pairs on which a hand-in is measured.

    They are drawn from the student's ``corpus``, or made from ``originals``, which
    are sentences of the embedded corpus.

    Raises:
        CorpusError: the student's corpus is needed but missing.
    """
    if student_track.corpus == track.EMBEDDED:
        pairs = ((damage(text, student_track.level), text) for text in originals)
        return [(source, target) for source, target in pairs if source]
    if corpus is None:
        raise CorpusError(
            f"the model is for a corpus of your own, but {own_corpus.FILE} is missing"
        )
    return corpus.draw_pairs(seed)


def marks_of(
    student_track: Track, corpus: OwnCorpus | None, pairs: Sequence[Pair]
) -> Marks:
    """Return the scale: which BLEU on these pairs earns which share of the points."""
    if corpus is None:
        return scale.EMBEDDED[student_track.level]
    return scale.marks_of_own_corpus(corpus.train, pairs)


def measure(
    texts: Sequence[str], pairs: Sequence[Pair], student_track: Track, marks: Marks,
    corpus: OwnCorpus | None,
) -> str:  # fmt: skip
    """Measure a model's texts; return numbers, and a sentence about them, as JSON.

    The numbers are the percentage of the points ("recovery"), BLEU with its
    interval, the baselines' BLEU, the level, a number that identifies the student's
    corpus (or 0), and the recall of abilities such as restoring punctuation.
    """
    sources, targets = zip(*pairs, strict=True)
    score = intervals.bleu(bleu.counts(texts, targets))
    share = credit(score.value, marks.scale())
    shares = abilities.recall(sources, targets, texts)
    corpus_name = f"the embedded corpus, level {student_track.level}"
    if corpus:
        corpus_name = f"your corpus {corpus.name}"
    remark = (
        f"BLEU {score} on {len(pairs):,} sentences of {corpus_name}: {share:.0%} of "
        f"the points. {_describe_marks(marks)} {abilities.remark(targets, texts)}"
    )
    numbers = {
        "recovery": 100 * share, "bleu": score.value, "bleu low": score.low,
        "bleu high": score.high, "level": student_track.level,
        # The better one of the two simplest baselines.
        "rule": max(marks.rule, marks.copy),
        "inserter": marks.inserter, "corpus": corpus.key if corpus else 0,
        **{name: value for name, value in shares.items() if not math.isnan(value)},
    }  # fmt: skip
    rounded = {name: round(value, 3) for name, value in numbers.items()}
    return json.dumps({**rounded, "says": remark.strip()})


def _describe_marks(marks: Marks) -> str:
    """Describe the share of the points that is reached at each BLEU."""
    (low, _), *beyond = marks.scale()
    steps = ", ".join(f"{share:.0%} at {bleu:.1f}" for bleu, share in beyond)
    return (
        f"The inserter has {marks.inserter:.1f}; points begin above {low:.1f}: {steps}."
    )


def read_track(folder: str | Path = ".") -> tuple[Track, OwnCorpus | None]:
    """Return the track of the model in a folder, and the student's corpus if needed.

    Without a model's file, this is the default track.

    Raises:
        CheckpointError: the model's file cannot be used.
        CorpusError: the corpus is missing or cannot be used.
    """
    path = checkpoint.handed_in(folder)
    if not path.is_file():
        return Track(), None
    try:
        student_track = track.of(checkpoint.notes(path))
    except CheckpointError:
        raise
    except Exception as error:  # whatever is in the file
        raise CheckpointError(f"{path.name} is not a checkpoint: {error}") from error
    if student_track.corpus == track.EMBEDDED:
        return student_track, None
    file = Path(folder, own_corpus.FILE)
    if not file.is_file():
        raise CorpusError(
            f"{own_corpus.FILE} is missing: let `project.hand_in` write it"
        )
    with file.open("rb") as opened:
        return student_track, own_corpus.parse(opened.read(own_corpus.LIMIT + 1))
