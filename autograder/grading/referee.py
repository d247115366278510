"""Whose turn it is while a check's cell runs, and for how long."""

from __future__ import annotations

import select
import socket
import time

from autograder.grading.faults import Undecided
from autograder.grading.judge import Exchange
from autograder.kernel.meter import Budget, Span

_AFTERWARDS = Budget(cpu=5.0, clock=10.0)  # for a cell to end once it is decided


class Referee:
    """Looks at a check while its cell runs: whose turn it is, and for how long.

    Before the box begins to answer and once all is decided, the cell's own clock runs.
    In between the judge measures each answer, and the box may have to wait for it; so
    it has while it has said something that the judge has not read.

    Args:
        patience: seconds for which neither side may do anything.
    """

    def __init__(self, exchange: Exchange, channel: socket.socket, patience: float):
        self._exchange, self._patience = exchange, patience
        self._channel = select.poll()
        self._channel.register(channel, select.POLLIN)
        self._afterwards: Span | None = None
        self._cpu, self._since = 0.0, time.monotonic()

    def look(self, span: Span) -> str:
        """Why the cell is to be ended, or "".

        Raises:
            Undecided: the judge was lost.
        """
        self._exchange.look()
        if decision := self._exchange.decision:
            return self._late(span) if decision.complete else "its check is decided"
        if self._exchange.ready or self._channel.poll(0):
            span.pause()
            self._refuse_silence(span)
        return span.over()

    def _late(self, span: Span) -> str:
        self._afterwards = self._afterwards or span.next(_AFTERWARDS)
        return self._afterwards.over()

    def _refuse_silence(self, span: Span) -> None:
        if span.cpu > self._cpu + 0.01:
            self._cpu, self._since = span.cpu, time.monotonic()
        if time.monotonic() > self._since + self._patience:
            raise Undecided("the judge was lost: it does not answer")
