"""The files of a project's runs: the log, weights, output texts and the hand-in."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from types import ModuleType

from torch import Tensor

from transformer_course.library import bleu, checkpoint, run_log
from transformer_course.library.checkpoint import CheckpointError
from transformer_course.library.corpora import Corpus, CorpusError, Pair
from transformer_course.library.model import Restorer
from transformer_course.library.run_log import LoggedRun, RunLog
from transformer_course.library.text import Tokenizer
from transformer_course.text_recovery.library import own_corpus
from transformer_course.text_recovery.library.track import EMBEDDED, OWN, Track


class ProjectError(Exception):
    """A run cannot be made or read; the message says why, and what to do."""


class KeptRuns:
    """The log in a notebook's folder, and the files of its runs in ``runs``.

    Args:
        parts: unit 4's module, with its Transformer.
        segment: cuts a word into subwords; see SubwordTokenizer.
        corpus, level: the notebook's; most methods refuse runs with others.
    """

    def __init__(
        self, folder: Path, parts: ModuleType, segment: Callable[..., list[str]],
        corpus: str, level: int,
    ):  # fmt: skip
        self.path = folder / run_log.FILE
        self._runs, self._parts, self._segment = folder / "runs", parts, segment
        self._task = LoggedRun("", corpus=run_log.plain(corpus, 60), level=level).task

    @property
    def log(self) -> RunLog:
        """The log, read anew from its file."""
        return run_log.read(self.path)

    def find(self, name: str) -> LoggedRun:
        """Return the run with this name; raise ProjectError if there is none."""
        log = self.log
        run = log.get(name)
        if run is None:
            listed = ", ".join(logged.name for logged in log.runs[-10:]) or "none yet"
            raise ProjectError(f"no run is called {name!r}; the log has: {listed}")
        return run

    def find_here(self, name: str) -> LoggedRun:
        """Return the run of this name, corpus and level, or raise ProjectError."""
        run = self.find(name)
        if run.task != self._task:
            raise ProjectError(
                f"{name!r} is a run on {run.task}, and this notebook is set to "
                f"{self._task}: make it anew, under a new name"
            )
        return run

    def model(self, name: str) -> tuple[Restorer, Tokenizer]:
        """Load a run's model and tokenizer; for a decoding run, those that it used."""
        run = self.find_here(name)
        trained = run.against if run.kind == "decoding" else name
        path = self._choose_path(trained, "safetensors")
        try:
            return checkpoint.load(path, self._parts, self._segment)
        except CheckpointError as error:
            raise ProjectError(f"the weights of {name!r}: {error}") from error

    def texts(self, name: str) -> list[str]:
        """Return a run's output texts for the sources of dev."""
        self.find_here(name)
        try:
            texts = json.loads(
                self._choose_path(name, "json").read_text(encoding="utf-8")
            )
            return [str(text) for text in texts]
        except (OSError, ValueError, TypeError):
            raise ProjectError(
                f"runs/{name}.json cannot be read: repeat {name!r} under a new name"
            ) from None

    def counts(self, name: str, pairs: Sequence[Pair]) -> Tensor:
        """Return the BLEU counts `(n, 10)` of a run's texts; see `bleu.counts`.

        Raises:
            ProjectError: there are no texts, or not as many as ``pairs``.
        """
        texts = self.texts(name)
        if len(texts) != len(pairs):
            raise ProjectError(
                f"{name!r} was measured on different sentences: repeat it under a new "
                "name"
            )
        return bleu.counts(texts, [target for _, target in pairs])

    def keep_texts(self, name: str, texts: Sequence[str]) -> None:
        """Store a run's output texts for the sources of dev."""
        self._choose_path(name, "json").write_text(
            json.dumps(list(texts)), encoding="utf-8"
        )

    def keep_model(self, name: str, model: Restorer, tokenizer: Tokenizer) -> str:
        """Store a run's weights; return the reason if that fails, else ""."""
        try:
            checkpoint.save(self._choose_path(name, "safetensors"), model, tokenizer)
        except CheckpointError as error:
            return str(error)
        return ""

    def hand_in(self, name: str, corpus: Corpus, level: int) -> list[Path]:
        """Write a run's weights, and its corpus if custom; return the paths to hand in.

        Raises:
            ProjectError: the run cannot be handed in; the message says why.
        """
        run, folder = self.find_here(name), self.path.parent
        is_own = corpus.name != EMBEDDED
        model, tokenizer = self.model(name)
        paths = [folder / checkpoint.HANDED_IN, self.path]
        try:
            beam, alpha = (run.settings.get(key, "1") for key in ("beam", "alpha"))
            student_track = Track(
                OWN if is_own else EMBEDDED, level, int(beam), float(alpha)
            )
            notes = {"track": asdict(student_track), "run": name, "tokens": run.tokens}
            data = own_corpus.to_bytes(corpus) if is_own else b""
            checkpoint.save(paths[0], model, tokenizer, **notes)
            if is_own:  # once the checkpoint is written: the two belong together
                paths.append(folder / own_corpus.FILE)
                paths[-1].write_bytes(data)
        except (CorpusError, CheckpointError, ValueError) as error:
            raise ProjectError(str(error)) from error
        return paths

    def _choose_path(self, name: str, suffix: str) -> Path:
        """The path of a run's file, whose folder is made if it is missing."""
        self._runs.mkdir(parents=True, exist_ok=True)
        return self._runs / f"{name}.{suffix}"


def refusal(corpus: Corpus) -> str:
    """The reason why grading would refuse a custom corpus; "" if it would accept it."""
    try:
        if corpus.name != EMBEDDED:
            own_corpus.to_bytes(corpus)
    except CorpusError as error:
        return str(error)
    return ""
