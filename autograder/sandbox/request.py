"""What a sandbox is asked for with, and what it used: plain values, sent as JSON."""

from __future__ import annotations

from typing import Any, TypedDict

from autograder.sandbox.ending import EndReason


class Request(TypedDict):
    """A kernel to be started.

    `policy` holds the fields of a `confine.Policy`; `slot` is a folder on the host that
    is the sandbox's alone; `connection` is what a connection file holds; `arguments`
    are ipykernel's; `environment` are variables of the client that the kernel may see.
    """

    policy: dict[str, Any]
    slot: str
    submission: str | None
    connection: dict[str, Any]
    arguments: list[str]
    environment: dict[str, str]


class Usage(TypedDict):
    """What a sandbox that has ended has used, and how it ended.

    These are its exit status; why it has ended, and the words for that; seconds of CPU;
    MB at the peak of its first process, warm pages included; whether a control group
    limited it, or a count of its processes.
    """

    exit: int
    ended: EndReason
    reason: str
    utime: float
    stime: float
    maxrss_mb: float
    grouped: bool
