"""A host whose disk fills up while a sandbox writes to it: no fault of its code."""

import os
from pathlib import Path

import pytest

from tests.sandbox.conftest import NOBODY, drive, linux, run_json

pytestmark = [
    linux,
    pytest.mark.skipif(os.getuid() != 0, reason="mounting a disk needs root"),
    pytest.mark.timeout(120),
]

# SCRATCH SIZE COMMAND...: with a disk of its own as the temporary folder.
MOUNTED = """
scratch=$1 size=$2; shift 2
mount -t tmpfs -o size=$size,mode=1777 none "$scratch"
exec env TMPDIR="$scratch" "$@"
"""


@pytest.fixture
def ended(course: Path):
    """Why a sandbox ended that wrote 9 MB at landlock, to a disk of some size."""
    scratch = course / "scratch"
    scratch.mkdir(exist_ok=True)

    def run(size: str) -> str:
        disk = ["unshare", "-m", "sh", "-c", MOUNTED, "sh", str(scratch), size]
        command = drive("fill", NOBODY, course, "landlock")
        return run_json([*disk, *command], 100)["landlock"].replace(str(scratch), "D")

    return run


@pytest.mark.slow  # as most of other tests have room
def test_a_sandbox_that_has_room_writes_what_it_may(ended):
    assert ended("60m") == "killed"


@pytest.mark.parametrize("size", ["11m", pytest.param("3m", marks=pytest.mark.slow)])
def test_where_the_disk_is_full_it_is_said_to_be_the_host_s(ended, size):
    """While it writes, or before it begins."""
    assert ended(size).startswith("there is no room in D; make some")
