"""The client's side: which server it takes, and which limits it asks for."""

import fcntl
import os
import signal

import pytest

from autograder.sandbox import client
from autograder.sandbox.confine import ConfinementError, Policy


def test_only_abandoned_servers_are_swept(tmp_path):
    names = [f"ag-{os.getuid()}-{kind}" for kind in ("running", "dead", "new")]
    running, dead, new = (tmp_path / name for name in names)
    for folder in (running, dead, new):
        folder.mkdir()
    (dead / "lock").touch()
    with open(running / "lock", "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        client.remove_abandoned(tmp_path)
    assert [folder.exists() for folder in (running, dead, new)] == [True, False, True]


def test_a_server_that_is_stopped_while_it_starts_is_ended(monkeypatch):
    monkeypatch.delenv(client.SERVER_VARIABLE, raising=False)
    monkeypatch.setattr(client, "START_SECONDS", 0.3)
    client.preload()
    run, server = client._begun[-1]
    server.send_signal(signal.SIGSTOP)
    with pytest.raises(ConfinementError, match="server did not start: it said nothing"):
        client.run_directory()
    assert server.poll() == -signal.SIGKILL and not run.exists()


def test_who_wants_a_server_begun_does_not_wait_for_one_that_starts(monkeypatch):
    monkeypatch.delenv(client.SERVER_VARIABLE, raising=False)
    monkeypatch.setattr(client, "_begin_server", lambda level: pytest.fail("a second"))
    with client._lock:  # as whoever waits for its greeting holds it
        client.preload()
    assert not client._begun


def test_limits_come_from_the_environment_or_are_the_usual_ones(monkeypatch):
    monkeypatch.delenv("AUTOGRADER_SANDBOX_POLICY", raising=False)
    assert client.policy_from_environment() == Policy()
    policy = Policy(memory_mb=321, level="landlock")
    monkeypatch.setenv("AUTOGRADER_SANDBOX_POLICY", policy.to_json())
    assert client.policy_from_environment() == policy
