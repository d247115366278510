"""A kernel's environment is its own, and nothing of the host's."""

from __future__ import annotations

from pathlib import Path

from autograder.kernel import inside

HOME = Path("/student")


def test_nothing_of_the_hosts_environment_is_in_it(monkeypatch):
    monkeypatch.setenv("TEST_SECRET", "canary-4711")
    found = inside.environment(HOME, 7, {})
    assert "TEST_SECRET" not in found
    assert found["HOME"] == "/student" and found[inside.CHANNEL_VARIABLE] == "7"


def test_all_that_is_written_goes_into_the_home():
    found = inside.environment(HOME, 7, {})
    places = ("TMPDIR", "IPYTHONDIR", "MPLCONFIGDIR", "XDG_CACHE_HOME")
    assert all(Path(found[name]).is_relative_to(HOME) for name in places)
    assert len({found[name] for name in places}) == len(places)


def test_more_can_be_said_but_nothing_of_its_own_replaced():
    extra = {"SAID": "x", "HOME": "/root", "OMP_NUM_THREADS": "64"}
    found = inside.environment(HOME, 7, extra)
    assert found["SAID"] == "x"
    assert found["HOME"] == "/student" and found["OMP_NUM_THREADS"] == "1"
