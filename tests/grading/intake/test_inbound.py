"""What lies in the exchange is read within limits, and tells when it was changed."""

import datetime
import os
import time

import pytest

from autograder.grading.intake import SizeLimits, slimming
from autograder.grading.intake.files import take
from autograder.grading.intake.inbound import copy, last_change


@pytest.fixture
def folder(tmp_path):
    inbound = tmp_path / "inbound" / "eve"
    inbound.mkdir(parents=True)
    (inbound / "a.ipynb").write_text("notebook")
    return inbound


def after(moment: float, time_found: datetime.datetime) -> float:
    return time_found.replace(tzinfo=datetime.UTC).timestamp() - moment


def test_what_is_copied_tells_when_it_was_changed(folder, tmp_path):
    (folder / "x.pyc").write_text("ignored")
    time.sleep(0.1)
    moment = time.time()
    (folder / "x.pyc").write_text("changed later")
    for stamp in (
        last_change(folder, ["*.pyc"]),
        copy(folder, tmp_path, ["*.pyc"], None)[1],
    ):
        assert after(moment, stamp) < 0
    assert after(moment, last_change(folder, [])) > -0.05
    assert (tmp_path / "a.ipynb").read_text() == "notebook"
    assert not (tmp_path / "x.pyc").exists()


def test_what_is_copied_keeps_the_times_by_which_the_newest_is_found(folder, tmp_path):
    (folder / "b.ipynb").write_text("older, but copied later")
    os.utime(folder / "b.ipynb", (1_000_000_000, 1_000_000_000))
    copy(folder, tmp_path / "copy", [], None)
    files = take(tmp_path / "copy").files
    assert files["b.ipynb"].time == 1_000_000_000 < files["a.ipynb"].time


def test_a_large_notebook_is_copied_without_its_outputs(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(slimming, "_MOST_STEPS", 1 << 16)
    large = b'{"outputs": ["%s"], "cells": []}' % (b"x" * (SizeLimits.notebook + 1))
    (folder / "b.ipynb").write_bytes(large)
    (folder / "c.ipynb").write_bytes(b"[" * (SizeLimits.notebook + 1))
    left_out, _ = copy(folder, tmp_path, [], None)
    assert (tmp_path / "b.ipynb").read_bytes() == b'{"outputs":[], "cells": []}'
    assert left_out[0] == ("b.ipynb", "its outputs only, of 24 MB")
    ((name, reason),) = left_out[1:]
    assert name == "c.ipynb" and "Clear Outputs" in reason


def test_nothing_below_a_link_or_too_deep_is_read(folder, tmp_path):
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "solution.txt").write_text("no")
    (folder / "linked").symlink_to(secret)
    deep = folder / "/".join("d" * 20)
    deep.mkdir(parents=True)
    (deep / "hidden.txt").write_text("no")
    target = tmp_path / "target"
    left_out, _ = copy(folder, target, [], None)
    assert left_out == [("linked", "it is a link")]
    assert [path.name for path in target.rglob("*.*")] == ["a.ipynb"]


def test_no_more_than_five_hundred_files_are_looked_at(folder, tmp_path):
    for n in range(1500):
        os.link(folder / "a.ipynb", folder / f"{n}.txt")
    copy(folder, tmp_path / "target", [], None)
    copied = os.listdir(tmp_path / "target")
    assert len(copied) == 500 and "a.ipynb" in copied
