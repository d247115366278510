"""Without walls each attack succeeds, so that its failure means something."""

import os
from pathlib import Path

from autograder.sandbox import confine, selftest
from tests.sandbox.conftest import linux


@linux
def test_the_self_test_sees_every_open_door():
    failures = selftest.failures("none", whole_machine)
    expected = {
        "killed a process outside", "read a file outside", "wrote a file outside",
        "listed a folder outside", "connected by TCP", "connected to a socket outside",
        "changed the mode of a file outside", "sent a datagram", "left its session",
        "called ptrace",
    }  # fmt: skip
    assert expected <= set(failures)


def whole_machine(slot: Path, submission: Path) -> confine.Room:
    return confine.Room(slot, submission, ("/",), (), (), os.getuid())
