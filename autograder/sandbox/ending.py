"""Why something of a student's has ended: a sandbox, a cell, a check, a notebook."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class EndReason(StrEnum):
    """The reason; its value is what to say of it where there is nothing better.

    Decisions compare members. The text beside one (`Ended.explanation`,
    `Usage.reason`) is for people.
    """

    # A sandbox
    EXITED = "exited"
    SIGNAL = "signal"
    KILLED = "killed"  # as we told it to be
    CPU_TIME = "CPU time"  # also a cell, an answer
    MEMORY = "memory"
    DISK = "disk"  # more than it may write
    MESSAGES = "messages"  # more than it may send, or none that a kernel sends
    HOST_DISK = "the host's disk is full"
    SERVER_GONE = "server gone"
    LOST = "supervisor lost"  # nobody was left to tell
    FAULT = "supervisor failed"
    # A cell, or an answer to a check
    TIME = "time"  # on its clock
    DECIDED = "its check is decided"
    TOO_MANY_QUESTIONS = "your code asked more than a check answers"
    # A notebook: nothing behind that cell runs
    NOTEBOOK_TIME = "the notebook has used up its time"
    TOO_MANY_SANDBOXES = "too many of its cells had to be ended"
    NONSENSE = "its messages made no sense"
    # A check
    STUB = "not solved yet"

    @property
    def is_ours(self) -> bool:
        """Whether the student's code has no part in it."""
        return self in (EndReason.LOST, EndReason.SERVER_GONE, EndReason.HOST_DISK)

    @property
    def is_time(self) -> bool:
        """Whether something took longer than it may."""
        return self in (EndReason.CPU_TIME, EndReason.TIME, EndReason.NOTEBOOK_TIME)

    @property
    def stops_notebook(self) -> bool:
        """Whether no cell after it has run."""
        return self in (
            EndReason.NOTEBOOK_TIME,
            EndReason.TOO_MANY_SANDBOXES,
            EndReason.NONSENSE,
        )


class Ended(NamedTuple):
    """Why something has ended, and the sentence that a student reads."""

    reason: EndReason
    explanation: str
