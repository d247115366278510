"""A process of ours imports what we can, speaks over its socket, and has its limits."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from autograder.course import child

TELL = (
    "import os, socket, sys;"
    "end = socket.socket(fileno=int(sys.argv[1]));"
    "end.sendall(f'{os.environ.get(\"COLOUR\")} {sys.path[-1]}'.encode())"
)


def test_it_has_our_path_its_own_variables_and_the_other_end(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path, "/a/folder"])
    process, ours = child.start([sys.executable, "-S", "-c", TELL], {"COLOUR": "blue"})
    with ours:
        colour, path = ours.makefile().read().split()
    assert process.wait(60) == 0 and colour == "blue"
    assert "/a/folder" in child.environment()["PYTHONPATH"].split(os.pathsep)
    assert path


def test_where_the_folder_at_hand_is_imported_from_it_still_is(monkeypatch):
    monkeypatch.setattr(sys, "path", ["", "/a/folder"])
    search_path = child.environment()["PYTHONPATH"]
    assert search_path == os.pathsep.join([os.getcwd(), "/a/folder"])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends it")
def test_the_memory_that_it_may_use_is_limited():
    script = (
        "from autograder.course import child\n"
        "child.limit(300 << 20)\n"
        "try:\n    bytearray(1 << 30)\n"
        "except MemoryError:\n    print('limited')\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", script], env=child.environment(),
        capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert process.stdout == b"limited\n", process.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends it")
def test_it_ends_with_its_parent():
    """A parent is killed while its child sleeps: the pipe of both comes to its end."""
    script = (
        "import os, signal, time\n"
        "from autograder.course import child\n"
        "if os.fork():\n    os.wait()\n"
        "child.end_with_parent()\n"
        "print('ready', flush=True)\n"
        "time.sleep(600)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script], env=child.environment(), stdout=subprocess.PIPE
    )
    assert parent.stdout
    with parent.stdout as pipe:
        assert pipe.readline() == b"ready\n"
        parent.kill()
        assert pipe.read() == b""
    parent.wait()
