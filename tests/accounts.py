"""Real Unix accounts, for tests of what several people share. Needs root."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from autograder.course import ROOT
from tests.sandbox.conftest import find_closed_ancestor

_NAMESPACE = ROOT / "tests" / "sandbox" / "ordinary.sh"
_NEEDED = ("useradd", "userdel", "groupdel", "runuser", "unshare")

needs_accounts = pytest.mark.skipif(
    not sys.platform.startswith("linux")
    or os.geteuid() != 0
    or not all(map(shutil.which, _NEEDED))
    or bool(find_closed_ancestor(sys.prefix)),
    reason="making accounts needs root, useradd and an environment others can read",
)


@dataclass(frozen=True)
class Accounts:
    """Accounts by the names that a test gives them; on the machine they are unique."""

    suffix: str
    home: Path

    def __getitem__(self, name: str) -> str:
        return f"{name}{self.suffix}"


@contextlib.contextmanager
def accounts(names: Sequence[str], home: Path) -> Iterator[Accounts]:
    """Accounts with homes below ``home``, removed with their group afterwards."""
    users = Accounts(f"-{secrets.token_hex(3)}", home)
    home.mkdir()
    home.chmod(0o755)
    try:
        for name in names:
            subprocess.run(
                [
                    "useradd",
                    "--create-home",
                    "--home-dir",
                    home / users[name],
                    "--shell",
                    "/bin/sh",
                    "--user-group",
                    users[name],
                ],
                check=True,
                capture_output=True,
            )
        yield users
    finally:
        for name in names:
            command = ["userdel", "--force", "--remove", users[name]]
            subprocess.run(command, check=False, capture_output=True)
        command = ["groupdel", users["graders"]]
        subprocess.run(command, check=False, capture_output=True)


def as_root(command: Sequence[object]) -> list[object]:
    """A command in a namespace where others can reach the interpreter, too."""
    closed = find_closed_ancestor(sys.base_prefix)
    return ["unshare", "-m", "sh", _NAMESPACE, "0", closed, sys.base_prefix, *command]
