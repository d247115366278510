"""Whose turn it is while a check's cell runs, and for how long."""

from __future__ import annotations

import select
import socket
import time

from autograder.grading.faults import GradingInfrastructureError
from autograder.grading.judge.exchange import Exchange
from autograder.sandbox.ending import EndReason
from autograder.sandbox.meter import Budget, Span

_AFTERWARDS = Budget(cpu=5.0, clock=10.0)  # for a cell to end once it is decided


class CheckDeadline:
    """Looks at a check while its cell runs: whose turn it is, and for how long.

    Before the sandbox begins to answer and once all is decided, the cell's own clock
    runs. In between the judge measures each answer, and the sandbox may have to wait
    for it; so it has while it has said something that the judge has not read.

    Args:
        patience: seconds for which the judge may say nothing while its turn may be.
            What the sandbox does is no sign of the judge: it may always do a little.
    """

    def __init__(self, exchange: Exchange, channel: socket.socket, patience: float):
        self._exchange, self._patience = exchange, patience
        self._channel = select.poll()
        self._channel.register(channel, select.POLLIN)
        self._afterwards: Span | None = None
        self._since = time.monotonic()

    def look(self, span: Span) -> EndReason | None:
        """Why the cell is to be ended, if it is.

        Raises:
            GradingInfrastructureError: the judge was lost.
        """
        self._exchange.look()
        if self._exchange.verdict:
            whole = self._exchange.complete
            return self._late(span) if whole else EndReason.DECIDED
        if self._exchange.ready or self._channel.poll(0):
            span.pause()
            self._refuse_silence()
        return span.over()

    def _late(self, span: Span) -> EndReason | None:
        self._afterwards = self._afterwards or span.next(_AFTERWARDS)
        return self._afterwards.over()

    def _refuse_silence(self) -> None:
        heard = max(self._since, self._exchange.heard)
        if time.monotonic() > heard + self._patience:
            raise GradingInfrastructureError("the judge was lost: it does not answer")
