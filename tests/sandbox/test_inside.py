"""A kernel's environment is its own, and nothing of the host's."""

import json
import os
import random
from multiprocessing import context
from pathlib import Path

import numpy
import torch

from autograder.sandbox import inside

HOME = Path("/student")


def test_nothing_of_the_hosts_environment_is_in_it(monkeypatch):
    monkeypatch.setenv("TEST_SECRET", "canary-4711")
    variables = inside.environment(HOME, 7, {})
    assert "TEST_SECRET" not in variables
    assert variables["HOME"] == "/student" and variables[inside.CHANNEL_VARIABLE] == "7"


def test_all_that_is_written_goes_into_the_home():
    variables = inside.environment(HOME, 7, {})
    places = ("TMPDIR", "IPYTHONDIR", "MPLCONFIGDIR", "XDG_CACHE_HOME")
    assert all(Path(variables[name]).is_relative_to(HOME) for name in places)
    assert len({variables[name] for name in places}) == len(places)


def test_more_can_be_said_but_nothing_of_its_own_replaced():
    extra = {"SAID": "x", "HOME": "/root", "OMP_NUM_THREADS": "64"}
    variables = inside.environment(HOME, 7, extra)
    assert variables["SAID"] == "x"
    assert variables["HOME"] == "/student" and variables["OMP_NUM_THREADS"] == "1"


def test_below_bubblewrap_dice_roll_alike_once_all_is_imported(monkeypatch):
    dice = []

    def roll(*_):
        dice.append((random.random(), numpy.random.rand(), torch.rand(1).item()))

    monkeypatch.setattr(inside.confine, "enter", lambda *_: None)
    monkeypatch.setattr(inside, "prepare", roll)  # whatever chance does there
    monkeypatch.setattr(inside, "run", roll)
    monkeypatch.setenv("IPYTHONDIR", "/student/ipython")
    for seed in ("one", "one", "other"):
        channel = os.dup(0)
        monkeypatch.setenv(inside.CHANNEL_VARIABLE, str(channel))
        request = {
            "policy": {"seed": seed}, "connection": {}, "arguments": [],
            "listeners": [], "status": os.open(os.devnull, os.O_WRONLY),
        }  # fmt: skip
        monkeypatch.setenv("AUTOGRADER_COLD", json.dumps(request))
        inside._cold()
        os.close(channel)
    assert dice[1] == dice[3] and not set(dice[1]) & set(dice[5])


def test_processes_are_forked_by_default_whatever_python_chooses(monkeypatch):
    contexts = context._concrete_contexts
    default = context.DefaultContext(contexts["forkserver"])
    monkeypatch.setattr(context, "_default_context", default)
    inside.fork_by_default()
    assert default.get_start_method(allow_none=True) is None, "nobody has chosen yet"
    default.set_start_method("spawn")
    assert default.get_start_method() == "spawn"
    monkeypatch.setattr(default, "_actual_context", None)
    assert default.get_start_method() == "fork"
