"""The supervisor of one sandbox: starts the kernel, watches its limits, cleans up.

It is forked from the warm server and holds the client's connection. It ends the
sandbox on request, at a limit, or when the client or the server is gone.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import socket
from collections.abc import Mapping
from pathlib import Path

from autograder.sandbox import confine, kit, logs
from autograder.sandbox.cgroup import Group
from autograder.sandbox.confine import MB, ON_HOSTS_DISK, Policy, Room
from autograder.sandbox.ending import EndReason
from autograder.sandbox.processes import end_all_children
from autograder.sandbox.relay import Relay
from autograder.sandbox.request import Request
from autograder.sandbox.slot import (
    NoRoomError,
    full_disk_message,
    lacks_room,
    remove_tree,
)
from autograder.sandbox.start import Plan, start
from autograder.sandbox.watch import Watchdog

log = logging.getLogger(__name__)


def supervise(
    request: Request, client: socket.socket, channel: int, lifeline: int, level: str,
    groups: Path | None,
) -> None:  # fmt: skip
    """Run one kernel from start to end; errors are sent to the client.

    Args:
        client: sends signals, and is told when the kernel has started or ended, in
            JSON with the name of the sandbox's slot, and its usage or an error.
        channel: the descriptor of the kernel's socket to the judge.
        lifeline: a descriptor that is readable once the server is gone.
        groups: the control group below which the sandbox gets one; None for none.
    """
    slot = Path(request["slot"])
    logs.name_process("supervisor")
    group: Group | None = None
    last_words: Mapping[str, object]
    try:
        policy = Policy(**request["policy"])
        room = room_for(policy, slot, request["submission"])
        if level in ON_HOSTS_DISK and lacks_room(slot, policy.file_mb * MB):
            raise NoRoomError(full_disk_message(slot))
        if groups:
            group = Group(groups, slot.name, policy)
        plan = Plan(request, policy, room, level, group)
        relay = Relay(plan.doors(), policy)
        sandbox = start(plan, channel)
        _tell(client, {"slot": slot.name, "level": level, "pid": os.getpid()})
        message = "%s: sandbox is process %d in %s"
        log.debug(message, request["submission"], sandbox, slot)
        last_words = Watchdog(sandbox, plan, relay).watch_until_end(client, lifeline)
    except Exception as error:
        full = isinstance(error, NoRoomError)
        last_words = {
            "error": str(error) or type(error).__name__,
            "ended": EndReason.HOST_DISK if full else EndReason.FAULT,
        }
    log.debug("%s: sandbox ended: %s", request["submission"], last_words)
    if group:
        group.remove()
    end_all_children()
    remove_tree(slot)
    _tell(client, {"slot": slot.name, **last_words})


def room_for(policy: Policy, slot: Path, submission: str | Path | None) -> Room:
    """Return the paths that a sandbox sees, and its user id.

    To be called in its supervisor, because that process determines the user id.
    """
    visible = (*kit.interpreter_paths(), *policy.readable)
    hidden = (*kit.list_hidden(), *policy.hidden)
    uid = confine.slot_uid(os.getpid())
    place = None if submission is None else Path(submission)
    return Room(slot, place, visible, hidden, kit.kit_paths(), uid)


def _tell(client: socket.socket, message: Mapping[str, object]) -> None:
    with contextlib.suppress(OSError):  # the client is gone
        client.send(json.dumps(message).encode())
