"""Who runs the kernels of these tests: the user of pytest, and as root also nobody."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.root import ENGINE

HERE = Path(__file__).parent
NOBODY = 65534

linux = pytest.mark.skipif(sys.platform != "linux", reason="sandboxes need Linux")


def find_closed_ancestor(path: str) -> str:
    """The outermost directory above `path` that other users cannot pass, or ""."""
    for folder in reversed(Path(path).parents):
        if not folder.stat().st_mode & 0o001:
            return str(folder)
    return ""


def command_as(user: int, command: list[str]) -> list[str]:
    """`command` run by `user`. Skips where this machine does not let us."""
    if user == os.getuid() != 0:
        return command
    if os.getuid() != 0 or not (shutil.which("setpriv") and shutil.which("unshare")):
        pytest.skip("running as another user needs root, setpriv and unshare")
    if find_closed_ancestor(str(ENGINE)) or find_closed_ancestor(sys.prefix):
        pytest.skip("other users cannot read this checkout or its environment")
    closed = find_closed_ancestor(sys.base_prefix)
    script = [str(HERE / "ordinary.sh"), str(user), closed, sys.base_prefix]
    return ["unshare", "-m", "sh", *script, *command]


def environment() -> dict[str, str]:
    """Of a grading process; a secret in it must not come into a sandbox."""
    host_variables = {
        k: v for k, v in os.environ.items() if not k.startswith("AUTOGRADER")
    }
    home = {"HOME": "/nonexistent", "TEST_SECRET": "canary-4711"}
    return {**host_variables, **home, "PYTHONWARNINGS": "ignore", "TMPDIR": "/tmp"}


def drive(action: str, user: int, course: Path, *levels: str) -> list[str]:
    """The command that does something at some levels as a user."""
    script = [
        sys.executable,
        str(HERE / "drive.py"),
        action,
        str(course / "submission"),
    ]
    return command_as(user, [*script, *levels])


@pytest.fixture(scope="session")
def course() -> Iterator[Path]:
    """A folder that anybody can read, with one submission and what is not its."""
    with tempfile.TemporaryDirectory(prefix="course-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        for file in ("other.txt", "gradebook.db"):
            (folder / file).write_text("secret")
            (folder / file).chmod(0o666)
        submission = folder / "submission"
        submission.mkdir(mode=0o755)
        (submission / "notes.txt").write_text("mine")
        (submission / "stolen.txt").symlink_to(folder / "other.txt")
        os.mkfifo(submission / "pipe")
        yield folder


@pytest.fixture(scope="session")
def warm_levels(course: Path) -> dict[tuple[int, str], dict[str, Any]]:
    """What the attacks came to at the warm levels, one server per user."""
    reports = {}
    second_user = NOBODY if os.getuid() == 0 else os.getuid()
    levels_by_user = {0: ["namespaces"], second_user: ["user-namespaces", "landlock"]}
    for user, levels in levels_by_user.items():
        if user == os.getuid() or os.getuid() == 0:
            reports_by_level = run_json(drive("attack", user, course, *levels), 180)
            reports |= {(user, level): reports_by_level[level] for level in levels}
    return reports


def run_json(command: list[str], seconds: float) -> dict[str, Any]:
    """The JSON that a command prints; its errors become the test's."""
    process = subprocess.run(
        command, capture_output=True, text=True, timeout=seconds, env=environment()
    )
    assert process.returncode == 0, process.stderr
    assert process.stderr == ""
    return json.loads(process.stdout)
