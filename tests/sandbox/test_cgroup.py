"""Control groups: where they may be made, what they limit, and what they leave behind.

Made of plain files in a folder, which behave as the system's in what is asked of them;
the last test uses the machine's own, where it has some to give.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.sandbox.cgroup import Group, Hierarchy
from autograder.sandbox.confine import MB, Policy
from tests.sandbox.conftest import linux

pytestmark = linux

POLICY = Policy(memory_mb=400, disk_mb=100, processes=30)


class Machine:
    """A hierarchy of files, and the process that looks at it."""

    def __init__(self, folder: Path, group: str) -> None:
        self.top = folder / "cgroup"
        self.own = self.top / group.strip("/")
        self.own.mkdir(parents=True)
        self.files = Hierarchy(folder / "mountinfo", folder / "membership")
        self.files.mounts.write_text(
            "30 20 0:26 / /proc rw - proc proc rw\n"
            f"31 20 0:27 / {self.top} rw,nosuid - cgroup2 cgroup2 rw\n"
        )
        self.files.membership.write_text(f"1:name=systemd:/elsewhere\n0::{group}\n")

    def furnish(self, group: Path, offered: str, *, top: bool = False) -> None:
        group.mkdir(parents=True, exist_ok=True)
        (group / "cgroup.controllers").write_text(offered)
        (group / "cgroup.subtree_control").write_text("")
        (group / "cgroup.procs").write_text(f"{os.getpid()}\n4711\n")
        if not top:
            (group / "cgroup.type").write_text("domain")


ALL = "cpuset cpu io memory pids"


def as_user(monkeypatch: pytest.MonkeyPatch, uid: int) -> None:
    monkeypatch.setattr(os, "getuid", lambda: uid)


def controllers_of(group: Path) -> set[str]:
    return set((group / "cgroup.subtree_control").read_text().split())


def test_root_makes_groups_at_the_top_of_a_machine(tmp_path, monkeypatch):
    machine = Machine(tmp_path, "/user.slice/session-3.scope")
    machine.furnish(machine.top, ALL, top=True)
    machine.furnish(machine.own, "memory pids")
    as_user(monkeypatch, 0)
    assert machine.files.place() == machine.top
    assert controllers_of(machine.top) == {"+cpu", "+memory", "+pids"}
    assert not (machine.own / "graders").exists()


def test_root_of_a_container_makes_them_where_it_is(tmp_path, monkeypatch):
    machine = Machine(tmp_path, "/")
    machine.furnish(machine.top, "memory pids")
    as_user(monkeypatch, 0)
    assert machine.files.place() == machine.top
    assert controllers_of(machine.top) == {"+memory", "+pids"}


def delegated(folder: Path) -> None:
    try:
        os.setxattr(folder, "user.delegate", b"1")
    except OSError:
        pytest.skip("files have no attributes here")


def test_an_ordinary_user_makes_them_in_what_is_delegated(tmp_path, monkeypatch):
    machine = Machine(tmp_path, "/user.slice/run-1.scope")
    machine.furnish(machine.top, ALL, top=True)
    machine.furnish(machine.own, ALL)
    as_user(monkeypatch, 1000)
    assert machine.files.place() is None
    delegated(machine.own)
    assert machine.files.place() == machine.own


def test_what_holds_groups_holds_no_process(tmp_path, monkeypatch):
    """The system refuses to give controllers down while there is one."""
    machine = Machine(tmp_path, "/run-1.scope")
    machine.furnish(machine.own, ALL)
    delegated(machine.own)
    as_user(monkeypatch, 1000)
    write = Path.write_text

    def strict(path: Path, text: str, *args: object, **options: object) -> int:
        moved = (machine.own / "graders").exists()
        if path.name == "cgroup.subtree_control" and not moved:
            raise OSError(16, "busy")
        return write(path, text, *args, **options)

    monkeypatch.setattr(Path, "write_text", strict)
    assert machine.files.place() == machine.own
    assert (machine.own / "graders" / "cgroup.procs").read_text() == "4711"
    # The next one is started from there.
    machine.files.membership.write_text("0::/run-1.scope/graders\n")
    assert machine.files.place() == machine.own


@pytest.mark.parametrize("offered", ["", "cpu hugetlb", "memory"])
def test_without_the_controllers_there_are_no_groups(tmp_path, monkeypatch, offered):
    machine = Machine(tmp_path, "/")
    machine.furnish(machine.top, offered, top=True)
    as_user(monkeypatch, 0)
    assert machine.files.place() is None


def test_a_machine_of_version_one_has_none(tmp_path):
    machine = Machine(tmp_path, "/")
    machine.files.mounts.write_text("30 20 0:26 / /proc rw - proc proc rw\n")
    assert machine.files.place() is None


def test_a_read_only_hierarchy_has_none(tmp_path, monkeypatch):
    machine = Machine(tmp_path, "/")
    machine.furnish(machine.top, ALL, top=True)
    as_user(monkeypatch, 0)

    def refuses(*args: object, **options: object) -> int:
        raise OSError(30, "read-only")

    monkeypatch.setattr(Path, "write_text", refuses)
    assert machine.files.place() is None


def test_groups_of_the_dead_are_removed(tmp_path, monkeypatch):
    machine = Machine(tmp_path, "/")
    machine.furnish(machine.top, ALL, top=True)
    as_user(monkeypatch, 0)
    old, alive, young = (machine.top / f"autograder-sandbox-{n}" for n in "abc")
    for group in (old, alive, young):
        group.mkdir()
    (alive / "cgroup.procs").write_text("1")  # rmdir fails on it
    for group in (old, alive):
        os.utime(group, (0, 0))
    machine.files.place()
    assert [group.exists() for group in (old, alive, young)] == [False, True, True]


def limits(group: Group) -> dict[str, str]:
    return {file.name: file.read_text() for file in group.folder.iterdir()}


def test_a_group_limits_memory_and_processes(tmp_path):
    group = Group(tmp_path, "a1", POLICY)
    assert limits(group) == {
        "memory.max": str((500 + 100) * MB),  # a spare quarter, and the disk
        "memory.oom.group": "1",
        "pids.max": "30",
    }
    group.enter()
    assert (group.folder / "cgroup.procs").read_text() == "0"


def test_swap_and_weight_are_limited_where_they_are(tmp_path, monkeypatch):
    mkdir = Path.mkdir

    def with_files(path):
        mkdir(path)
        (path / "memory.swap.max").write_text("max")
        (path / "cpu.weight").write_text("?")

    monkeypatch.setattr(Path, "mkdir", with_files)
    limits_set = limits(Group(tmp_path, "a1", POLICY))
    assert (limits_set["memory.swap.max"], limits_set["cpu.weight"]) == ("0", "100")


@pytest.mark.parametrize(("kills", "is_too_large"), [(0, False), (3, True)])
def test_it_tells_whether_the_system_has_ended_it(tmp_path, kills, is_too_large):
    group = Group(tmp_path, "a1", POLICY)
    assert not group.was_too_large()
    events = f"low 0\nhigh 0\nmax 9\noom {kills}\noom_kill {kills}\n"
    (group.folder / "memory.events").write_text(events)
    assert group.was_too_large() == is_too_large


HOG = """
import os, sys
open(sys.argv[1], "w").write("0")
kept = []
while True: kept.append(bytearray(os.urandom(1 << 20)))
"""


def test_on_this_machine_a_group_ends_who_takes_too_much():
    place = Hierarchy().place()
    if place is None:
        pytest.skip("this machine gives no control groups of version 2")
    group = Group(place, "test", Policy(memory_mb=80, disk_mb=20))
    try:
        entry = str(group.folder / "cgroup.procs")
        process = subprocess.run([sys.executable, "-c", HOG, entry], timeout=120)
        assert process.returncode == -signal.SIGKILL
        assert group.was_too_large()
    finally:
        group.remove()
    assert not group.folder.exists()
