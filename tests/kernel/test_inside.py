"""A kernel's environment is its own, and nothing of the host's."""

from __future__ import annotations

from multiprocessing import context
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


def test_processes_are_forked_by_default_whatever_python_chooses(monkeypatch):
    ways = context._concrete_contexts
    default = context.DefaultContext(ways["forkserver"])
    monkeypatch.setattr(context, "_default_context", default)
    inside.fork_by_default()
    assert default.get_start_method(allow_none=True) is None, "nobody has chosen yet"
    default.set_start_method("spawn")
    assert default.get_start_method() == "spawn"
    monkeypatch.setattr(default, "_actual_context", None)
    assert default.get_start_method() == "fork"
