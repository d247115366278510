"""What /proc tells of processes is true of those below us, and of nobody gone."""

import os
import signal
import subprocess
from collections.abc import Iterator

import pytest

from autograder.sandbox import processes
from tests.sandbox.conftest import linux

pytestmark = linux


@pytest.fixture
def shell() -> Iterator[subprocess.Popen[bytes]]:
    """A process with a child of its own, which waits for its input to end."""
    code = "cat & echo $!; wait"
    with subprocess.Popen(
        ["sh", "-c", f"exec 3<&0; {code.replace('cat', 'cat <&3')}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        yield process
        process.stdin.close()


def test_descendants_are_children_and_theirs(shell):
    child = int(shell.stdout.readline())
    assert set(processes.descendants(shell.pid)) == {child}
    assert {shell.pid, child} <= set(processes.descendants(os.getpid()))


def test_who_is_stopped_is_told_from_who_waits(shell):
    shell.stdout.readline()
    assert not processes.is_stopped(shell.pid)
    os.kill(shell.pid, signal.SIGSTOP)
    os.waitid(os.P_PID, shell.pid, os.WSTOPPED)
    assert processes.is_stopped(shell.pid)
    os.kill(shell.pid, signal.SIGCONT)


def test_cpu_time_counts_collected_children_too():
    before = processes.collected_seconds(os.getpid())
    subprocess.run(["sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"])
    gained = processes.collected_seconds(os.getpid()) - before
    assert gained > 0 and sum(processes.cpu_seconds([os.getpid()])) >= gained


def test_memory_that_is_written_is_resident():
    before = processes.resident_mb([os.getpid()])
    written = bytearray(b"x" * (64 << 20))
    assert processes.resident_mb([os.getpid()]) - before > 32
    assert processes.proportional_mb([os.getpid()]) > 32 and written


def test_who_has_gone_has_nothing():
    process = subprocess.Popen(["true"])
    process.wait()
    assert list(processes.descendants(process.pid)) == []
    assert processes.cpu_seconds([process.pid]) == (0.0, 0.0)
    assert processes.waiting_seconds([process.pid]) == {} and not processes.is_stopped(
        process.pid
    )
    assert processes.resident_mb([process.pid]) == 0
