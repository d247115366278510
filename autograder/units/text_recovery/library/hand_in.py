"""The files that are handed in beside the notebook."""

from __future__ import annotations

from pathlib import Path

from autograder.library import checkpoint
from autograder.library.checkpoint import CheckpointError
from autograder.library.corpora import Corpus, CorpusError
from autograder.units.text_recovery.library import own_corpus
from autograder.units.text_recovery.library.kept import KeptRuns, ProjectError
from autograder.units.text_recovery.library.track import EMBEDDED, OWN, Track


def write(kept: KeptRuns, name: str, corpus: Corpus, level: int) -> list[Path]:
    """Write a run's weights, and the corpus if it is one's own; all files to hand in.

    Raises:
        ProjectError: grading would refuse them; the text says why.
    """
    run, own, folder = kept.here(name), corpus.name != EMBEDDED, kept.path.parent
    model, tokenizer = kept.model(name)
    paths = [folder / checkpoint.HANDED_IN, kept.path]
    try:
        beam, alpha = (run.settings.get(key, "1") for key in ("beam", "alpha"))
        found = Track(OWN if own else EMBEDDED, level, int(beam), float(alpha))
        notes = {"track": found.to_json(), "run": name, "tokens": run.tokens}
        if own:
            data = own_corpus.to_bytes(corpus)
            paths.append(folder / own_corpus.FILE)
            paths[-1].write_bytes(data)
        checkpoint.save(paths[0], model, tokenizer, **notes)
    except (CorpusError, CheckpointError, ValueError) as error:
        raise ProjectError(str(error)) from error
    return paths


def refusal(corpus: Corpus) -> str:
    """Why grading would refuse a corpus of one's own; "" if it would not."""
    try:
        if corpus.name != EMBEDDED:
            own_corpus.to_bytes(corpus)
    except CorpusError as error:
        return str(error)
    return ""
