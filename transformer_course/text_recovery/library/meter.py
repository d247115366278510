"""The budget of a training run: the number of target tokens to train on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator

from torch import Tensor

from transformer_course.library.text import BOS, PAD

Batch = tuple[Tensor, Tensor]  # source ids (B, Ls), target ids (B, Lt) with BOS


class TokenMeter:
    """A filter for batches, which ends when a budget of target tokens is used up.

    ``look`` is called up to ``looks`` times with the number of tokens so far. PAD
    and BOS do not count.

    Attributes:
        seen: the number of target tokens so far.
        seconds: the CPU time of training, without that of ``look``.
    """

    def __init__(
        self, tokens: int, look: Callable[[int], object] | None = None, looks: int = 3
    ):
        if tokens < 1:
            raise ValueError(f"a run needs at least one target token, not {tokens:,}")
        self.tokens, self.seen, self.seconds = tokens, 0, 0.0
        self._look = look
        # Token counts at which ``look`` is called: evenly spaced, without the end.
        self._marks = [tokens * n // (looks + 1) for n in range(1, looks + 1)]

    @property
    def progress(self) -> float:
        """The fraction of the budget that is used up, from 0 to 1."""
        return self.seen / self.tokens

    def __call__(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Yield batches until one no longer fits into the budget.

        In between, measure the time of training, and call ``look`` at each mark.
        """
        started = time.process_time()
        for source, target in batches:
            count = int(((target != PAD) & (target != BOS)).sum())
            if self.seen + count > self.tokens:
                break
            self.seen += count
            yield source, target
            # The caller has trained on this batch; ``look`` is called if it has passed
            # a mark, outside the measured time.
            if self._marks and self.seen >= self._marks[0]:
                self._marks = [mark for mark in self._marks if mark > self.seen]
                self.seconds += time.process_time() - started
                if self._look:
                    self._look(self.seen)
                started = time.process_time()
        self.seconds += time.process_time() - started
