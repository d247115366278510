"""Memory counts wherever it is kept, and many processes weigh as much as one."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from autograder.sandbox import memory_accounting
from autograder.sandbox.processes import cpu_seconds
from tests.sandbox.conftest import linux

pytestmark = linux

LET_GO = """
import mmap
m = mmap.mmap(-1, 300 << 20)
for i in range(0, len(m), 4096): m[i] = 1
m.madvise(mmap.MADV_DONTNEED)
"""
PAGE_TABLES = """
import mmap
m = mmap.mmap(-1, 40 << 30, flags=mmap.MAP_PRIVATE | 0x4000,
              prot=mmap.PROT_READ)
for i in range(0, len(m), 2 << 20): m[i]
"""
SOCKETS = """
import resource, socket
resource.setrlimit(resource.RLIMIT_NOFILE, (500, 500))
pairs = [socket.socketpair() for _ in range(200)]
"""


LOOPBACK = """
import fcntl, socket, struct
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as anything:
    fcntl.ioctl(anything, 0x8914, struct.pack("16sH14x", b"lo", 0x41))
"""
CONNECTIONS = """
import socket
server, kept = socket.create_server(("127.0.0.1", 0)), []
for _ in range(20):
    one = socket.create_connection(server.getsockname())
    kept += [one, server.accept()[0]]
    one.setblocking(False)
    try:
        while True: one.send(bytes(1 << 20))
    except BlockingIOError: pass
"""


@contextlib.contextmanager
def process(code: str, *before: str) -> Iterator[int]:
    """A process that has run some code, and waits."""
    command = [*before, sys.executable, "-c", f"{code}\nprint(1, flush=True)\ninput()"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as child:
        try:
            assert child.stdout.readline() == b"1\n"
            yield child.pid
        finally:
            child.kill()


@pytest.fixture(scope="module")
def warm_mb() -> float:
    with process("") as pid:
        return memory_accounting.mapped_mb([pid])


def test_an_ordinary_process_holds_what_is_resident(warm_mb):
    with process("x = b'x' * (100 << 20)") as pid:
        assert 100 < memory_accounting.total_mb([pid], 1000, warm_mb) < 160


@pytest.mark.parametrize("name", [b"\xff) R 1 1\xfe", b"\x0cVmPTE: -999999"])
def test_no_name_of_a_process_hides_what_it_uses(name, warm_mb):
    code = f"import ctypes\nctypes.CDLL(None).prctl(15, {name!r})"
    with process(f"{code}\nx = b'x' * (100 << 20)") as pid:
        assert 100 < memory_accounting.total_mb([pid], 1000, warm_mb) < 160
        assert sum(cpu_seconds([pid])) > 0


def test_shared_memory_that_was_let_go_of_still_counts(warm_mb):
    with process(LET_GO) as pid:
        assert memory_accounting.shared_anonymous_mb([pid]) == 300
        assert memory_accounting.total_mb([pid], 250, warm_mb) > 300


def test_page_tables_count(warm_mb):
    with process(PAGE_TABLES) as pid:
        assert memory_accounting.page_tables_mb([pid]) > 70
        assert memory_accounting.total_mb([pid], 60, warm_mb) > 60


def test_sockets_count_beyond_an_ordinary_number(warm_mb):
    with process("") as pid:
        assert memory_accounting.sockets_mb([pid]) == 0
    with process(SOCKETS) as pid:
        assert memory_accounting.sockets_mb([pid]) > 100
        assert memory_accounting.total_mb([pid], 10_000, warm_mb) > 100


def has_networks() -> bool:
    if not shutil.which("unshare"):
        return False
    return (
        subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode == 0
    )


@pytest.mark.skipif(
    not has_networks(), reason="this machine gives no network of one's own"
)
def test_what_waits_in_connections_counts_on_a_network_of_the_sandbox_s_own(warm_mb):
    with process(LOOPBACK + CONNECTIONS, "unshare", "-rn") as pid:
        waiting = memory_accounting.queues_mb([pid])
        assert waiting > 20  # whatever a connection may hold here
        assert memory_accounting.total_mb([pid], 10_000, warm_mb) > waiting
    with process(CONNECTIONS) as pid:
        assert (
            memory_accounting.queues_mb([pid]) == 0
        )  # others' connections stand there, too


@pytest.mark.skipif(
    not has_networks(), reason="this machine gives no network of one's own"
)
def test_no_list_of_sockets_is_read_where_only_the_kernels_own_listens():
    serve = "import socket\nserver = socket.create_server(('127.0.0.1', 0))"
    with process(LOOPBACK + serve, "unshare", "-rn") as pid:
        assert memory_accounting._find_kinds_in_use(pid) == []
    with process(LOOPBACK + CONNECTIONS, "unshare", "-rn") as pid:
        assert memory_accounting._find_kinds_in_use(pid) == ["tcp"]


def test_a_process_that_has_ended_holds_nothing():
    with process("") as pid:
        pass
    assert memory_accounting.total_mb([pid], 100, 0.0) == 0


def spinning(count: int) -> list[subprocess.Popen]:
    code = "while True: pass"
    return [subprocess.Popen([sys.executable, "-c", code]) for _ in range(count)]


def test_many_busy_processes_weigh_as_much_as_one():
    children = spinning(10)
    try:
        nice = 0
        while nice < 8:  # pytest's own limit ends what never comes
            memory_accounting.share_fairly([child.pid for child in children])
            nice = max(os.getpriority(os.PRIO_PROCESS, c.pid) for c in children)
        # Whoever runs alone keeps its weight.
        before = os.getpriority(os.PRIO_PROCESS, 0)
        memory_accounting.share_fairly([os.getpid()])
        assert os.getpriority(os.PRIO_PROCESS, 0) == before
    finally:
        for child in children:
            os.kill(child.pid, signal.SIGKILL)
            child.wait()
