"""Large pages change nothing but what a fork costs."""

import subprocess
import sys
from pathlib import Path

from autograder.sandbox import hugepages
from tests.sandbox.conftest import linux

MAPS = """\
1000-3000 rw-p 00000000 00:00 0
3000-5000 r--p 00000000 00:00 0
5000-6000 rw-p 00000000 00:00 0          [heap]
6000-7000 rw-p 00000000 08:01 42         /usr/lib/a library.so
7000-8000 rw-s 00000000 00:01 43         /dev/zero (deleted)
8000-9000 rw-p 00000000 00:00 0          [stack]
"""


def test_only_memory_of_the_process_itself_is_moved():
    assert list(hugepages._find_private_areas(MAPS)) == [
        (0x1000, 0x3000),
        (0x5000, 0x6000),
    ]


@linux
def test_what_is_in_memory_stays_as_it_was_in_forks_too():
    """In a process of its own: that of the tests has threads and much to move."""
    code = (
        "import os\n"
        "from autograder.sandbox import hugepages\n"
        "held = [bytes([n]) * (1 << 20) for n in range(64)]\n"
        "hugepages.collapse()\n"
        "def whole():\n"
        "    return all(b == bytes([n]) * (1 << 20) for n, b in enumerate(held))\n"
        "assert whole()\n"
        "if not os.fork():\n"
        "    os._exit(not whole())\n"
        "assert os.wait()[1] == 0 and whole()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_system_without_large_pages_is_left_alone(monkeypatch):
    monkeypatch.setattr(hugepages, "_SIZE", Path("/no/such/file"))
    hugepages.collapse()
