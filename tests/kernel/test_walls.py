"""The same notebook of attacks and honest work at each level, as root and as nobody."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import psutil
import pytest

from autograder.kernel import confine, selftest
from tests.kernel.conftest import NOBODY, drive, environment, linux, run_json

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
def test_every_attack_is_denied_and_all_honest_work_is_done(
    warm_levels: dict[tuple[int, str], dict[str, Any]], user: int, level: str
) -> None:
    if (user, level) not in warm_levels:
        pytest.skip("only root can run as somebody else")
    look_at(warm_levels[user, level], level)


@pytest.mark.slow
@pytest.mark.parametrize(("user", "level"), OTHERS)
def test_the_rarer_levels_deny_as_much(course: Path, user: int, level: str) -> None:
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
    assert report["usage"]["reason"] == "killed"
    assert report["usage"]["utime"] > 0 and report["usage"]["maxrss_mb"] > 10
    assert not report["slot left"]
    assert report["shared left"] == []


@pytest.mark.parametrize(
    ("user", "level"),
    [(ME, ""), pytest.param(OTHER, "landlock", marks=pytest.mark.slow)],
    ids=["strongest", "landlock"],
)
def test_nothing_outlives_a_killed_client(course: Path, user: int, level: str) -> None:
    command = drive("hang", user, course, level)
    client = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment())
    said = client.stdout.readline()
    run = Path(json.loads(said)["run"])
    family = psutil.Process(client.pid).children(recursive=True)
    assert len(family) >= 5  # server, supervisor, kernel, its child and grandchild
    os.kill(client.pid, signal.SIGKILL)
    client.wait()
    client.stdout.close()
    _, alive = psutil.wait_procs(family, timeout=10)
    assert alive == []
    assert not run.exists()


def test_the_self_test_sees_every_open_door() -> None:
    """Without walls each attack succeeds, so that its failure means something."""
    found = selftest.failures("none", whole_machine)
    expected = {
        "killed a process outside",
        "read a file outside",
        "wrote a file outside",
        "listed a folder outside",
        "connected by TCP",
        "connected to a socket outside",
        "changed the mode of a file outside",
        "sent a datagram",
        "called ptrace",
    }
    assert expected <= set(found)


def whole_machine(slot: Path, submission: Path) -> confine.Room:
    return confine.Room(slot, submission, ("/",), (), (), os.getuid())


@pytest.mark.parametrize(
    "bad",
    [{"memory_mb": 0}, {"level": "castle"}, {"notebook_seconds": -1.0}, {"files": 0}],
)
def test_a_policy_that_is_no_limit_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        confine.Policy(**bad)


def test_a_policy_survives_its_environment_variable() -> None:
    policy = confine.Policy(memory_mb=321, hidden=("/a", "/b"), notebook_seconds=1.5)
    assert confine.Policy.from_json(policy.to_json()) == policy


def test_a_submission_over_its_share_of_the_disk_is_refused(tmp_path: Path) -> None:
    (tmp_path / "big.bin").write_bytes(bytes(3 * confine.MB))
    policy = confine.Policy(disk_mb=4)
    target = tmp_path.parent / "copy"
    with pytest.raises(confine.ConfinementError, match="too large"):
        confine.copy_submission(tmp_path, target, policy)


def test_a_device_or_a_link_to_a_folder_is_not_copied(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    (source / "deep").mkdir(parents=True)
    (source / "deep" / "a.txt").write_text("a")
    (source / "etc").symlink_to("/etc")
    confine.copy_submission(source, target, confine.Policy())
    names = sorted(str(p.relative_to(target)) for p in target.rglob("*"))
    assert names == ["deep", "deep/a.txt"]
