"""What is known of a sandbox before it is there."""

from pathlib import Path

import pytest

from autograder.sandbox import inside
from autograder.sandbox.confine import ConfinementError, Policy, Room
from autograder.sandbox.start import Plan, start

PORTS = {f"{name}_port": n for n, name in enumerate(inside.CHANNELS, 1)}
REQUEST = {"connection": {"ip": "/run/kernel", **PORTS}, "environment": {}}


def plan(level: str, **limits) -> Plan:
    room = Room(Path("/slot"), None, (), (), (), 7)
    return Plan(REQUEST, Policy(**limits), room, level, None)


def test_each_channel_has_a_door_and_only_what_is_shown_may_be_left_out():
    doors = plan("landlock").doors()
    assert [door.outer for door in doors] == [f"/run/kernel-{n}" for n in range(1, 6)]
    assert [door.inner for door in doors] == [f"/slot/k-{n}" for n in range(1, 6)]
    assert [door.drops for door in doors] == [n == "iopub" for n in inside.CHANNELS]


def test_without_walls_nothing_starts_that_was_not_asked_for():
    with pytest.raises(ConfinementError, match="only allow_unconfined"):
        start(plan("none"), channel=-1)
