"""Why something has ended is a member, not a sentence, on its whole way."""

import json

import pytest

from autograder.sandbox.ending import EndReason
from autograder.sandbox.sandboxed import SandboxedProcess


class Answering:
    """A supervisor's socket that has something to say."""

    def __init__(self, **words):
        self.words = words

    def recv(self, *_):
        return json.dumps(self.words).encode() if self.words else b""

    def close(self):
        pass


def usage_of(**words):
    sandbox = SandboxedProcess(
        Answering(**words), {"slot": "a", "level": "none", "pid": 1}
    )
    sandbox.poll()
    return sandbox.usage


@pytest.mark.parametrize("reason", list(EndReason))
def test_a_reason_is_the_same_after_its_way_from_the_supervisor(reason):
    """Whatever the words beside it say: a message that begins like a reason is none."""
    reason_text = "supervisor lost, says a sandbox"
    used = usage_of(slot="a", exit=0, ended=reason, reason=reason_text)
    assert used["ended"] is reason


@pytest.mark.parametrize("words", [{}, {"slot": "b", "ended": "exited", "exit": 0}])
def test_who_says_nothing_or_speaks_of_another_sandbox_is_lost(words):
    used = usage_of(**words)
    assert used["ended"] is EndReason.LOST and used["exit"] == -9


def test_a_supervisor_that_fails_says_how_and_what_it_is():
    used = usage_of(slot="a", error="it broke", ended=EndReason.FAULT)
    assert used["ended"] is EndReason.FAULT and used["reason"] == "it broke"


def test_no_reason_is_both_ours_and_the_notebook_s():
    ours = {reason for reason in EndReason if reason.is_ours}
    stops = {reason for reason in EndReason if reason.stops_notebook}
    assert ours and stops and not ours & stops
