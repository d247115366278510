"""The request for a sandbox, and its usage: plain values, which are sent as JSON."""

from __future__ import annotations

from typing import Any, TypedDict

from autograder.sandbox.ending import EndReason


class Request(TypedDict):
    """A request to start a kernel.

    `policy` holds the fields of a `confine.Policy`; `slot` is the sandbox's own
    folder on the host; `connection` is the content of a connection file;
    `environment` are variables of the client that the kernel may see.
    """

    policy: dict[str, Any]
    slot: str
    submission: str | None
    connection: dict[str, Any]
    arguments: list[str]
    environment: dict[str, str]


class Usage(TypedDict):
    """What a sandbox has used, and how it has ended.

    Attributes:
        exit: its exit status; negative for the number of the signal that ended it.
        ended: why it ended.
        reason: the same in words, for people.
        utime: user seconds of CPU time.
        stime: system seconds of CPU time.
        maxrss_mb: about the peak memory of its largest process, in MB.
        grouped: whether a control group limited its memory.
    """

    exit: int
    ended: EndReason
    reason: str
    utime: float
    stime: float
    maxrss_mb: float
    grouped: bool
