"""The command line of bubblewrap shows what a sandbox may see, outer places first."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.sandbox import bwrap
from autograder.sandbox.confine import ConfinementError, Policy, Room


@pytest.fixture
def ordinary(tmp_path, monkeypatch):  # pytest makes its folder as who it is
    """An ordinary user of a machine that has bubblewrap."""
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(os, "getuid", lambda: 1000)


def room(tmp_path: Path, submission: Path | None = None) -> Room:
    course, package = tmp_path / "course", tmp_path / "course" / "package"
    kit = package / "checks"
    kit.mkdir(parents=True)
    (tmp_path / "link").symlink_to("course")
    hidden = (str(package), "/elsewhere")
    visible = (str(course), str(tmp_path / "link"))
    return Room(tmp_path / "slot", submission, visible, hidden, (str(kit),), 7)


def test_what_is_hidden_is_masked_after_what_holds_it_and_before_what_it_holds(
    ordinary, tmp_path
):
    command = bwrap.command(Policy(), room(tmp_path), "inside")
    course = str(tmp_path / "course")
    position = command.index("--ro-bind-try")
    assert command[position + 1 : position + 3] == [course, course]
    masked = command.index(f"{course}/package")
    assert command[masked - 1] == "--tmpfs" and masked > position
    assert command.index(f"{course}/package/checks") > masked
    assert "/elsewhere" not in command  # nobody sees it anyway


def test_a_link_stays_one(ordinary, tmp_path):
    command = bwrap.command(Policy(), room(tmp_path), "inside")
    place = command.index("--symlink")
    assert command[place + 1 : place + 3] == ["course", str(tmp_path / "link")]


def test_a_submission_is_read_only_and_may_be_missing(ordinary, tmp_path):
    without = bwrap.command(Policy(), room(tmp_path / "a"), "inside")
    assert "/submission" not in without
    command = bwrap.command(Policy(), room(tmp_path / "b", Path("/ada")), "inside")
    place = command.index("/submission")
    assert command[place - 2 : place] == ["--ro-bind", "/ada"]


def test_the_module_runs_in_a_fresh_interpreter_on_a_disk_of_its_size(
    ordinary, tmp_path
):
    command = bwrap.command(Policy(disk_mb=3), room(tmp_path), "inside")
    assert command[0] == "/usr/bin/bwrap" and "--unshare-all" in command
    assert command[-2:] == ["-m", "autograder.sandbox.inside"]
    tmp = command.index("/tmp")
    assert command[tmp - 3 : tmp] == ["--size", str(3 << 20), "--tmpfs"]


@pytest.mark.parametrize("module", ["inside", "selftest"])
def test_all_that_a_module_imports_of_ours_is_shown(ordinary, tmp_path, module):
    paths = map(Path, bwrap.command(Policy(), room(tmp_path), module))
    visible = {path for path in paths if path.is_relative_to(bwrap.HERE)}
    package = tmp_path / "alone" / "autograder"
    package.mkdir(parents=True)
    shutil.copy(bwrap.HERE.parent / "__init__.py", package)
    for path in visible:
        target = package / "sandbox" / path.name
        copy = shutil.copytree if path.is_dir() else shutil.copyfile
        target.parent.mkdir(exist_ok=True)
        copy(path, target)
    code = f"import autograder.sandbox.app, autograder.sandbox.{module}"
    alone = {**os.environ, "PYTHONPATH": str(package.parent)}
    subprocess.run([sys.executable, "-P", "-c", code], env=alone, check=True)


@pytest.mark.parametrize(("program", "user"), [(None, 1000), ("/usr/bin/bwrap", 0)])
def test_without_bubblewrap_or_as_root_there_is_none(
    monkeypatch, tmp_path, program, user
):
    monkeypatch.setattr(shutil, "which", lambda name: program)
    monkeypatch.setattr(os, "getuid", lambda: user)
    with pytest.raises(ConfinementError, match="bubblewrap"):
        bwrap.command(Policy(), room(tmp_path), "inside")
