"""The reasons why a sandbox, a cell, a check or a notebook has ended."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class EndReason(StrEnum):
    """The reason why a sandbox, cell, check or notebook ended, in words."""

    # A sandbox
    EXITED = "exited"
    SIGNAL = "signal"
    KILLED = "killed"  # at our request
    CPU_TIME = "CPU time"  # also a cell, an answer
    MEMORY = "memory"
    DISK = "disk"  # more than it may write
    MESSAGES = "messages"  # more than it may send, or none that a kernel sends
    HOST_DISK = "the host's disk is full"
    SERVER_GONE = "server gone"
    LOST = "supervisor lost"  # so the cause is unknown
    FAULT = "supervisor failed"
    # A cell, or an answer to a check
    TIME = "time"  # on its clock
    DECIDED = "its check is decided"
    TOO_MANY_QUESTIONS = "your code asked more than a check answers"
    # A notebook: no cell after that one runs
    NOTEBOOK_TIME = "the notebook has used up its time"
    TOO_MANY_SANDBOXES = "too many of its cells had to be ended"
    NONSENSE = "its messages made no sense"
    # A check
    STUB = "not solved yet"

    @property
    def is_ours(self) -> bool:
        """Whether the student's code cannot be the cause."""
        return self in (EndReason.LOST, EndReason.SERVER_GONE, EndReason.HOST_DISK)

    @property
    def is_time(self) -> bool:
        """Whether something took longer than it may."""
        return self in (EndReason.CPU_TIME, EndReason.TIME, EndReason.NOTEBOOK_TIME)

    @property
    def stops_notebook(self) -> bool:
        """Whether no further cell of the notebook runs after such an end."""
        return self in (
            EndReason.NOTEBOOK_TIME,
            EndReason.TOO_MANY_SANDBOXES,
            EndReason.NONSENSE,
        )


class Ended(NamedTuple):
    """Why something has ended, and the sentence that a student reads."""

    reason: EndReason
    explanation: str
