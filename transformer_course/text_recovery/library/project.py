"""A project's runner: one budget for all training runs, and a log of each of them.

The student writes the functions that build and train a model; see `Project`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from transformer_course.library import baselines, bleu, intervals, run_log
from transformer_course.library.corpora import Corpus, Pair
from transformer_course.library.decoding import Decode, recover
from transformer_course.library.intervals import Interval
from transformer_course.library.model import Restorer, parameters
from transformer_course.library.run_log import LoggedRun, RunLog
from transformer_course.library.text import Tokenizer
from transformer_course.text_recovery.library import log_view, review
from transformer_course.text_recovery.library.kept import (
    KeptRuns,
    ProjectError,
    refusal,
)
from transformer_course.text_recovery.library.meter import TokenMeter

BUDGET = 6_000_000  # target tokens: 10 to 15 minutes on two cores, default sizes
RUN = 400_000  # the default number of target tokens in a run
DEV, PEEK = 1000, 100  # sentences of dev: at the end of a run, and during training
_REASON = 10  # the fewest characters of a hypothesis or a next step
# The log joins successive spaces, and would not find such a name again.
_NAME = re.compile(r"(?!.*  )[\w.-]([\w ,.-]{0,38}[\w.-])?")

Settings = Mapping[str, Any]
Build = Callable[[dict[str, Any], Corpus, int], tuple[Restorer, Tokenizer]]
Train = Callable[[Restorer, Tokenizer, Corpus, TokenMeter, dict[str, Any], int], object]


class Project:
    """A series of runs that share a budget of training tokens and a log.

    Args:
        build: maps settings, corpus and seed to an untrained model and tokenizer.
        train: trains the model; it must take its batches through a `TokenMeter`.
        decode: maps a model and source ids to target ids.
        settings: the settings that a run may change, with their default values.
        parts: unit 4's module, with its Transformer.
        segment: cuts a word into subwords; see SubwordTokenizer.
        level: how strongly the sources are damaged, 1 to 3.
        budget: the number of target tokens for all training runs together.
    """

    def __init__(
        self, build: Build, train: Train, decode: Decode, corpus: Corpus,
        settings: Settings, *, parts: ModuleType, segment: Callable[..., list[str]],
        level: int = 2, folder: str | Path = ".", budget: int = BUDGET,
    ):  # fmt: skip
        self._build, self._train, self._decode = build, train, decode
        self.corpus, self.settings, self.level = corpus, dict(settings), level
        self.folder, self.budget = Path(folder), budget
        self._kept = KeptRuns(self.folder, parts, segment, corpus.name, level)
        self.dev = corpus.dev[:DEV]
        self._inserter: float | None = None
        if reason := refusal(corpus):
            print(f"Before you spend the budget: {reason}")

    @property
    def log(self) -> RunLog:
        """The log, read anew from its file."""
        return self._kept.log

    @property
    def inserter(self) -> float:
        """BLEU on dev of the baseline `Insertion`, computed once.

        It inserts between two words what was most often between them in training.
        """
        if self._inserter is None:
            system = baselines.Insertion(self.corpus.train)
            sources, targets = zip(*self.dev, strict=True)
            self._inserter = bleu.corpus([system(s) for s in sources], targets)
        return self._inserter

    def run(
        self, name: str, hypothesis: str, against: str = "", tokens: int = RUN,
        seed: int = 0, **changes: Any,
    ) -> LoggedRun:  # fmt: skip
        """Train a model, measure it on dev, and log it; a logged run is not repeated.

        Args:
            hypothesis: the result that the student expects, and why.
            against: the run to compare with.
            tokens: target tokens of the run, which count towards the budget.
            changes: settings that differ from the project's.

        Raises:
            ProjectError: an argument is invalid, or the budget is exceeded.
        """
        settings = self._merge_settings(changes)
        planned = {"tokens": tokens, "seed": seed, **settings}
        if logged := self._find_logged(name, planned):
            return logged
        run = self._plan(name, "training", hypothesis, against, planned, seed)
        tokens_left = self.budget - self.log.tokens
        if tokens > tokens_left:
            raise ProjectError(
                f"{max(tokens_left, 0):,} of {self.budget:,} target tokens are left, "
                f"but this run asks for {tokens:,}: give it fewer, or compare the runs "
                "you have"
            )
        return self._train_and_log(run, settings, tokens)

    def decode(
        self, name: str, of: str, hypothesis: str, decode: Decode, **options: Any
    ) -> LoggedRun:
        """Decode a trained run's model differently, and log it; this costs no tokens.

        Args:
            of: the training run that provides the model, and the run to compare with.
            options: settings to log; a hand-in also uses ``beam`` and ``alpha``.
        """
        trained = self._kept.find_here(of)
        planned = {**trained.settings, **options}
        if logged := self._find_logged(name, planned):
            return logged
        run = self._plan(name, "decoding", hypothesis, of, planned, trained.seed)
        model, tokenizer = self.model(of)
        started = time.process_time()
        texts = self._recover(model, tokenizer, self.dev, decode)
        seconds = time.process_time() - started
        run = replace(run, parameters=parameters(model))
        return self._measure_and_log(run, texts, seconds)

    def next_step(self, name: str, text: str) -> None:
        """Record the student's conclusion from a run, in a sentence."""
        self._kept.find(name)
        if len(text.strip()) < _REASON:
            raise ProjectError(f"say what follows from {name!r}, in a sentence")
        run_log.store_conclusion(self._kept.path, name, text.strip())

    def model(self, name: str) -> tuple[Restorer, Tokenizer]:
        """The trained model of a run, and its tokenizer; see `KeptRuns.model`."""
        return self._kept.model(name)

    def texts(self, name: str) -> list[str]:
        """A run's output texts for the sources of `dev`; see `KeptRuns.texts`."""
        return self._kept.texts(name)

    def table(self) -> None:
        """Show all runs in a table."""
        from IPython.display import HTML, display

        display(HTML(log_view.as_html(self.log)))

    def curves(self, *names: str, number: str = "") -> None:
        """Show BLEU on dev over target tokens; without names, of all training runs."""
        selected = names or [run.name for run in self.log.runs if run.curve]
        runs = [self._kept.find_here(name) for name in selected]
        log_view.curves(runs, self.inserter, (PEEK, len(self.dev)), number)

    def compare(self, first: str, *names: str, number: str = "") -> None:
        """Draw the difference in BLEU between each named run and the first one."""
        base_counts = self._kept.counts(first, self.dev)
        gains = [
            (
                self._kept.find(name),
                intervals.difference(self._kept.counts(name, self.dev), base_counts),
            )
            for name in names
        ]
        base = self._kept.find(first)
        log_view.differences(base, gains, len(self.dev), self.log, number)

    def missing(self) -> list[str]:
        """Print and return what the log still lacks."""
        gaps = list(review.missing(self.log))
        print(*(gaps or ["The log is complete."]), sep="\n")
        return gaps

    def hand_in(self, name: str) -> list[Path]:
        """Write the files to hand in with the notebook: a run's weights, its corpus.

        Raises:
            ProjectError: grading would refuse them; the message says why.
        """
        paths = self._kept.hand_in(name, self.corpus, self.level)
        print("Hand in with the notebook:", *(path.name for path in paths), sep="\n  ")
        return paths

    def _train_and_log(
        self, run: LoggedRun, settings: Settings, tokens: int
    ) -> LoggedRun:
        """Build a model, train it on ``tokens`` target tokens, measure and log it.

        A run that is interrupted or fails is logged with its tokens so far.
        """
        torch.manual_seed(run.seed)
        model, tokenizer = self._build(dict(settings), self.corpus, run.seed)
        curve: list[tuple[int, float]] = []

        def look(tokens_seen: int) -> None:
            """Add BLEU on a few sentences of dev to the curve, during training."""
            pairs = self.dev[:PEEK]
            texts = self._recover(model, tokenizer, pairs, self._decode)
            curve.append(
                (tokens_seen, bleu.corpus(texts, [target for _, target in pairs]))
            )

        meter, started = TokenMeter(tokens, look), time.monotonic()
        run = replace(run, parameters=parameters(model))
        try:
            self._train(model, tokenizer, self.corpus, meter, dict(settings), run.seed)
        except BaseException as error:
            run = replace(run, tokens=meter.seen, curve=tuple(curve))
            self._log_stop(run, type(error).__name__)
            raise
        if not meter.seen:
            raise ProjectError(
                "`train` took no batch through the meter: loop over `meter(batches)`"
            )
        clock = time.monotonic() - started
        texts = self._recover(model, tokenizer, self.dev, self._decode)
        curve.append((meter.seen, bleu.corpus(texts, [t for _, t in self.dev])))
        if reason := self._kept.keep_model(run.name, model, tokenizer):
            print(f"({run.name} cannot be handed in: {reason})")
        run = replace(run, tokens=meter.seen, curve=tuple(curve))
        logged = self._measure_and_log(run, texts, meter.seconds)
        tokens_left = self.budget - self.log.tokens
        print(
            f"  {meter.seen:,} target tokens in {meter.seconds:.0f} s of CPU, "
            f"{clock:.0f} s by the clock; {tokens_left:,} of {self.budget:,} are left"
        )
        return logged

    def _log_stop(self, run: LoggedRun, reason: str) -> None:
        """Log the tokens of a stopped run; its name stays free for another try."""
        if run.tokens:
            times = sum(bool(logged.stopped) for logged in self.log.runs) + 1
            name = f"{run.name}, stopped {times}"
            run_log.add(self._kept.path, replace(run, name=name, stopped=reason))

    def _measure_and_log(
        self, run: LoggedRun, texts: Sequence[str], seconds: float
    ) -> LoggedRun:
        """Store and measure a run's texts, and log the run."""
        self._kept.keep_texts(run.name, texts)
        counts = bleu.counts(texts, [target for _, target in self.dev])
        score, gain = intervals.bleu(counts), None
        if run.against:
            before = self._kept.counts(run.against, self.dev)
            gain = _round_interval(intervals.difference(counts, before))
        logged = replace(
            run, seconds=round(seconds, 1), bleu=_round_interval(score),
            difference=gain, inserter=round(self.inserter, 2),
            too_short=not score.low > self.inserter,
        )  # fmt: skip
        run_log.add(self._kept.path, logged)
        print(log_view.line(logged, len(self.dev), self.log))
        return logged

    def _recover(
        self, model: Restorer, tokenizer: Tokenizer, pairs: Sequence[Pair],
        decode: Decode,
    ) -> list[str]:  # fmt: skip
        """The texts that a model recovers from the sources of some pairs."""
        model.eval()
        with torch.no_grad():
            return recover(model, tokenizer, [source for source, _ in pairs], decode)

    def _merge_settings(self, changes: Settings) -> dict[str, Any]:
        """All settings of a run with these changes. Raises ProjectError."""
        for name in changes:
            if name not in self.settings:
                listed = ", ".join(self.settings)
                raise ProjectError(f"unknown setting {name!r}; there are {listed}")
        return {**self.settings, **changes}

    def _find_logged(self, name: str, planned: Settings) -> LoggedRun | None:
        """Return and print the logged run with this name; refuse different settings."""
        run = self.log.get(name)
        if run is None:
            return None
        self._kept.find_here(name)  # raises if its corpus or level is different
        if run.settings != _write_settings(planned):
            raise ProjectError(
                f"{name!r} is in {run_log.FILE} with different settings: use a new name"
            )
        line = log_view.line(run, len(self.dev), self.log)
        print(f"(in the log, not repeated) {line}")
        return run

    def _plan(
        self, name: str, kind: str, hypothesis: str, against: str, planned: Settings,
        seed: int,
    ) -> LoggedRun:  # fmt: skip
        """Validate a planned run and return its log entry.

        Raises:
            ProjectError: the name, the hypothesis or the run ``against`` is invalid.
        """
        if not _NAME.fullmatch(name):
            raise ProjectError(
                f"a run cannot be called {name!r:.60}: use letters, digits, spaces "
                "and , . _ -, and never two spaces in a row"
            )
        if len(hypothesis.strip()) < _REASON:
            raise ProjectError(f"say what you expect of {name!r}, and why")
        if against:
            # This raises ProjectError if the runs cannot be compared.
            self._kept.counts(against, self.dev)
        base, settings = self.log.get(against), _write_settings(planned)
        before = base.settings if base else settings
        changed = {
            setting: (before.get(setting, "-"), value)
            for setting, value in settings.items()
            if before.get(setting) != value
        }
        return LoggedRun(
            name, kind, hypothesis.strip(), against, changed, settings, seed,
            self.corpus.name, self.level,
        )  # fmt: skip


def _write_settings(settings: Settings) -> dict[str, str]:
    return {name: run_log.plain(str(value), 60) for name, value in settings.items()}


def _round_interval(interval: Interval) -> tuple[float, float, float]:
    return round(interval.value, 2), round(interval.low, 2), round(interval.high, 2)
