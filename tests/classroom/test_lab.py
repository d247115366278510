"""`autograder lab` lays out a student's desk, and takes nothing off it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from jupyter_core.paths import jupyter_config_path
from jupyter_server.extension.config import ExtensionConfigManager
from jupyterlab_server.config import get_page_config

from autograder.classroom import lab
from autograder.course import find_unit

UNIT = find_unit("attention")
TOOLS = ("formgrader", "course-list", "create-assignment")
HANDLERS = ("formgrader", "course_list")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("demo")
    lab.prepare([UNIT], root)
    return root


def test_it_releases_a_unit_and_copies_it(root):
    copy = root / "student" / UNIT.label / UNIT.release.name
    (released,) = root.glob(f"exchange/*/outbound/*/{UNIT.release.name}")
    assert copy.read_bytes() == released.read_bytes() == UNIT.release.read_bytes()
    assert (root / "exchange").stat().st_mode & 0o777 == 0o777


def test_a_students_work_stays_and_nothing_is_released_twice(root, monkeypatch):
    copy = root / "student" / UNIT.label / UNIT.release.name
    copy.write_text("my answers")
    monkeypatch.setattr(lab.subprocess, "run", lambda *_, **__: pytest.fail("again"))
    assert lab.prepare([UNIT], root) == root / "student"
    assert copy.read_text() == "my answers"


def test_in_a_terminal_there_nbgrader_knows_the_course(root):
    """``nbgrader submit``, as docs/ta.md says, without naming course or exchange."""
    program = Path(sys.executable).with_name("nbgrader")
    process = subprocess.run(
        [program, "submit", UNIT.label],
        cwd=root / "student",
        check=False,
        text=True,
        capture_output=True,
        env={"HOME": str(root), "PATH": ""},
    )
    assert process.returncode == 0, process.stderr
    assert "transformer" in process.stderr
    assert list((root / "exchange" / "transformer" / "inbound").iterdir())


@pytest.mark.parametrize(("account", "options"), [(0, ["--allow-root"]), (1000, [])])
def test_jupyter_starts_in_containers_too(root, monkeypatch, account, options):
    started = []

    def run(command, **_):
        started.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(lab.subprocess, "run", run)
    monkeypatch.setattr(lab.os, "geteuid", lambda: account)
    assert lab.run(root) == 0 and started == [["jupyter", "lab", *options]]


def test_the_tools_of_instructors_are_off(root, monkeypatch):
    monkeypatch.setenv(
        "JUPYTER_CONFIG_PATH", lab.environment(root)["JUPYTER_CONFIG_PATH"]
    )
    extensions = Path(sys.prefix) / "share" / "jupyter" / "labextensions"
    page = get_page_config([str(extensions)], logger=None)
    off = set(page["disabledExtensions"])
    assert {f"@jupyter/nbgrader:{tool}" for tool in TOOLS} <= off
    assert "@jupyter/nbgrader:assignment-list" not in off
    manager = ExtensionConfigManager(read_config_path=jupyter_config_path())
    handlers = manager.get_jpserver_extensions()
    assert not any(handlers[f"nbgrader.server_extensions.{name}"] for name in HANDLERS)
    assert handlers["nbgrader.server_extensions.assignment_list"]


def test_the_same_files_switch_them_off_for_a_whole_environment(tmp_path):
    """In ``<environment>/etc/jupyter``, they win over what nbgrader put there."""
    installed = Path(sys.prefix) / "etc" / "jupyter" / "jupyter_server_config.d"
    folder = tmp_path / installed.name
    folder.mkdir()
    shutil.copy(installed / "nbgrader.json", folder)
    before = ExtensionConfigManager(read_config_path=[str(tmp_path)])
    assert all(before.get_jpserver_extensions().values())
    shutil.copytree(lab.STUDENT_JUPYTER, tmp_path, dirs_exist_ok=True)
    handlers = ExtensionConfigManager(
        read_config_path=[str(tmp_path)]
    ).get_jpserver_extensions()
    assert not any(handlers[f"nbgrader.server_extensions.{name}"] for name in HANDLERS)


def test_the_tools_have_the_names_that_nbgrader_gives_them():
    installed = Path(sys.prefix) / "share" / "jupyter" / "labextensions"
    code = "".join(
        path.read_text(encoding="utf-8")
        for path in (installed / "@jupyter" / "nbgrader").rglob("*.js")
    )
    settings = lab.STUDENT_JUPYTER / "labconfig" / "page_config.json"
    for name in json.loads(settings.read_text())["disabledExtensions"]:
        assert not name.startswith("@jupyter/nbgrader") or f'"{name}"' in code, name


def test_what_jupyter_reads_already_stays_readable(root, monkeypatch):
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "/site/settings")
    paths = lab.environment(root)["JUPYTER_CONFIG_PATH"].split(os.pathsep)
    assert paths == [str(root / "jupyter"), str(lab.STUDENT_JUPYTER), "/site/settings"]
