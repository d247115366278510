"""The same notebook of attacks and honest work at each level, as root and as nobody."""

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import psutil
import pytest

from autograder.sandbox.ending import EndReason
from tests.sandbox.conftest import NOBODY, drive, environment, linux, run_json

pytestmark = linux

ME = os.getuid()
OTHER = NOBODY if ME == 0 else ME
WARM = [
    pytest.param(0, "namespaces", id="root-namespaces"),
    pytest.param(OTHER, "user-namespaces", id="user-namespaces"),
    pytest.param(OTHER, "landlock", id="user-landlock"),
]
OTHERS = [
    pytest.param(0, "landlock", id="root-landlock"),
    pytest.param(OTHER, "bwrap", id="user-bwrap"),
]


@pytest.mark.parametrize(("user", "level"), WARM)
def test_every_attack_is_denied_and_all_honest_work_is_done(warm_levels, user, level):
    if (user, level) not in warm_levels:
        pytest.skip("only root can run as somebody else")
    look_at(warm_levels[user, level], level)


@pytest.mark.slow
@pytest.mark.parametrize(("user", "level"), OTHERS)
def test_the_rarer_levels_deny_as_much(course, user, level):
    if level == "bwrap" and not shutil.which("bwrap"):
        pytest.skip("needs bubblewrap: apt-get install bubblewrap")
    look_at(run_json(drive("attack", user, course, level), 180)[level], level)


def look_at(report: dict[str, Any], level: str) -> None:
    """Assert each denial, each permission, and that nothing leaked out."""
    printed = "".join(report["printed"].values())
    if report["level"] == "none":
        pytest.skip(f"{level} does not work on this machine")
    assert report["level"] == level
    assert "Traceback" not in printed, printed
    assert [name for name, good in report["seen"].items() if not good] == []
    assert len(report["seen"]) > 35
    assert report["bird"], "a process outside was killed"
    assert report["submission"] == ["notes.txt", "pipe", "stolen.txt"]
    assert report["answer"] == "answer"
    assert report["pictures"] == 1
    assert "from the shell" in report["printed"]["shell"]
    assert report["usage"]["ended"] == EndReason.KILLED
    assert report["usage"]["utime"] > 0 and report["usage"]["maxrss_mb"] > 10
    assert not report["slot left"]
    assert report["shared left"] == []


@pytest.mark.parametrize(
    ("user", "level"),
    [(ME, ""), pytest.param(OTHER, "landlock", marks=pytest.mark.slow)],
    ids=["strongest", "landlock"],
)
def test_nothing_outlives_a_killed_client(course, user, level):
    command = drive("hang", user, course, level)
    client = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment())
    line = client.stdout.readline()
    run = Path(json.loads(line)["run"])
    family = psutil.Process(client.pid).children(recursive=True)
    assert len(family) >= 5  # server, supervisor, kernel, its child and grandchild
    os.kill(client.pid, signal.SIGKILL)
    client.wait()
    client.stdout.close()
    _, alive = psutil.wait_procs(family, timeout=10)
    assert alive == []
    assert not run.exists()
