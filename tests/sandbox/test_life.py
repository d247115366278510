"""From start to end of a kernel: interrupts, limits on time and memory, two at once."""

import asyncio
import dataclasses
import os
import resource
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError

from autograder.sandbox import client, confine, sandboxed
from autograder.sandbox.confine import Policy
from autograder.sandbox.ending import EndReason
from autograder.sandbox.slot import remove_tree
from tests.attacks.seams import PARTS
from tests.conftest import start_kernels_with
from tests.sandbox.conftest import linux
from tests.sandbox.drive import run, start_kernel, text

pytestmark = linux

ENDLESS = "while True: pass"
LARGE = "display({'text/plain': 'x' * (9 << 20)}, raw=True)"


@pytest.fixture(autouse=True)
def boxed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels of these tests come from a sandbox; skip where there is none."""
    start_kernels_with(monkeypatch, "autograder-sandbox")


@pytest.fixture
def policy(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Set the limits of the kernels to come."""

    def use(**limits: Any) -> None:
        text = dataclasses.replace(Policy(), **limits).to_json()
        monkeypatch.setenv("AUTOGRADER_SANDBOX_POLICY", text)

    return use


def with_kernel(
    folder: Path, body: Callable[[Any, Any], Awaitable[None]]
) -> dict[str, Any]:
    """Run `body(manager, client)` beside a kernel; returns what the kernel used."""

    async def run_body() -> dict[str, Any]:
        manager, kernel = await start_kernel(folder)
        try:
            await body(manager, kernel)
        finally:
            await manager.shutdown_kernel(now=True)
            kernel.stop_channels()
        return manager.provisioner.usage

    return asyncio.run(run_body())


async def ended(manager: Any) -> None:
    async with asyncio.timeout(20):
        while await manager.is_alive():
            await asyncio.sleep(0.05)


def usage_after(folder: Path, code: str) -> dict[str, Any]:
    """What a kernel has used that this code ends."""

    async def body(manager, kernel):
        kernel.execute(code)
        await ended(manager)

    return with_kernel(folder, body)


KEYS = """
import ctypes, re
found = set()
for line in open("/proc/self/maps"):
    place, modes, _, _, _, *name = line.split(maxsplit=5)
    first, last = (int(end, 16) for end in place.split("-"))
    if modes.startswith("rw") and not name or name == ["[heap]\\n"]:
        held = ctypes.string_at(first, last - first)
        found |= set(re.findall(rb'"ke' + rb'y": "([-0-9a-f]{20,})"', held))
print(*(key.decode() for key in found))
"""


def test_a_sandbox_finds_nothing_of_those_before_it_in_its_memory(tmp_path):
    keys = []

    async def body(manager, kernel):
        keys.append(manager.session.key.decode())
        keys_found = set(text(await run(kernel, KEYS)).split())
        assert keys_found == {keys[-1]}

    for length in (90, 5, 40, 20, 60):  # what is as long takes the place of the other
        folder = tmp_path / ("x" * length)
        folder.mkdir()
        with_kernel(folder, body)


def test_an_interrupt_reaches_the_cell_and_its_subprocess(tmp_path):
    async def body(manager, kernel):
        for endless in (ENDLESS, "import subprocess; subprocess.run(['sleep', '99'])"):
            cell = asyncio.create_task(run(kernel, f"print('on')\n{endless}"))
            await asyncio.sleep(0.3)
            await manager.interrupt_kernel()
            assert "KeyboardInterrupt" in text(await cell)
        assert "still here" in text(await run(kernel, "print('still here')"))

    with_kernel(tmp_path, body)


def test_what_all_processes_compute_is_bounded_and_sleep_is_not(tmp_path, policy):
    policy(notebook_seconds=2.0)
    child = "import subprocess; subprocess.run(['sh', '-c', 'while :; do :; done'])"

    async def body(manager, kernel):
        assert "awake" in text(await run(kernel, "!sleep 2.5\nprint('awake')"))
        kernel.execute(child)
        await ended(manager)

    assert with_kernel(tmp_path, body)["ended"] is EndReason.CPU_TIME


def test_many_processes_together_stay_within_the_memory(tmp_path, policy):
    policy(memory_mb=300)
    hog = "b = bytearray(200 << 20); import time; time.sleep(60)"
    greedy = f"""
import subprocess, sys
[subprocess.Popen([sys.executable, "-c", {hog!r}]) for _ in range(6)]
while True: pass
"""
    assert usage_after(tmp_path, greedy)["ended"] is EndReason.MEMORY


HIDDEN = {
    "shared memory that was let go of": """
import mmap, time
kept = []
while True:
    m = mmap.mmap(-1, 50 << 20)
    for i in range(0, len(m), 4096): m[i] = 1
    m.madvise(mmap.MADV_DONTNEED)
    kept.append(m)
""",
    "page tables": """
import mmap, time
kept = []
while True:
    m = mmap.mmap(-1, 8 << 30, flags=mmap.MAP_PRIVATE | 0x4000, prot=mmap.PROT_READ)
    for i in range(0, len(m), 2 << 20): m[i]
    kept.append(m)
""",
    "buffers of sockets": """
import os, socket, time
for _ in range(20):
    if os.fork() == 0:
        kept = [socket.socketpair() for _ in range(200)]
        for ours, _ in kept:
            ours.setblocking(False)
            try:
                while True: ours.send(bytes(1 << 16))
            except OSError: pass
        time.sleep(600)
while True: time.sleep(1)
""",
}


@pytest.mark.parametrize("name", HIDDEN)
def test_memory_that_no_process_shows_counts(tmp_path, policy, name):
    policy(memory_mb=300)
    assert usage_after(tmp_path, HIDDEN[name])["ended"] is EndReason.MEMORY


PARTS_WITHOUT_END = {
    "large ones": "send_all(part(15 << 20) + bytes(15 << 20), again=True)",
    "empty ones": 'send_all(b"\\1\\0" * (1 << 16), again=True)',
}


@pytest.mark.parametrize("name", PARTS_WITHOUT_END)
def test_a_message_without_end_does_not_grow_its_reader(tmp_path, policy, name):
    policy(messages_mb=300)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    used = usage_after(tmp_path, f"{PARTS}\n{PARTS_WITHOUT_END[name]}")
    assert used["ended"] is EndReason.MESSAGES
    assert used["reason"].startswith("it sent")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 100 << 10  # in kB; a whole message would be more


def test_what_is_too_large_to_show_is_left_out_and_the_kernel_goes_on(tmp_path):
    async def body(_, kernel):
        output = text(await run(kernel, f"{LARGE}\nprint('behind it')"))
        assert len(output) < 5 << 20
        assert "still here" in text(await run(kernel, "print('still here')"))

    with_kernel(tmp_path, body)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import os; os._exit(3)", EndReason.EXITED),
        ("import os; os.abort()", EndReason.SIGNAL),
    ],
)
def test_a_kernel_that_ends_itself_says_how(tmp_path, code, reason):
    used = usage_after(tmp_path, code)
    assert used["ended"] is reason
    assert used["exit"] == 3 or used["exit"] < 0


def test_a_supervisor_that_does_not_obey_is_waited_for_no_longer(tmp_path, monkeypatch):
    slots: list[Path] = []

    async def body(manager, kernel):
        slots.append(Path(manager.ip).parent)
        os.kill(manager.provisioner.supervisor, signal.SIGSTOP)

    monkeypatch.setattr(sandboxed, "OBEY_SECONDS", 0.5)
    assert with_kernel(tmp_path, body)["ended"] is EndReason.LOST
    remove_tree(slots[0])  # else the server does, at its end


def test_two_kernels_do_not_see_each_other(tmp_path):
    leave = """
import socket, os, subprocess
server = socket.create_server(("127.0.0.1", 45454))
unix = socket.socket(socket.AF_UNIX); unix.bind("\\0shared"); unix.listen()
for place in ("/tmp/note", "/dev/shm/note", os.path.expanduser("~/note")):
    open(place, "w").write("solution")
sleeper = subprocess.Popen(["sleep", "99"])
print(os.getuid(), "left")
"""
    look = """
import socket, os
found = []
for family, address in ((2, ("127.0.0.1", 45454)), (1, "\\0shared")):
    with socket.socket(family) as s:
        found += [address] * (s.connect_ex(address) == 0)
for place in ("/tmp/note", "/dev/shm/note", os.path.expanduser("~/note")):
    found += [place] * os.path.exists(place)
for pid in filter(str.isdigit, os.listdir("/proc")):
    found += [pid] * (b"sleep" in open(f"/proc/{pid}/cmdline", "rb").read())
print(os.getuid(), "found", found)
"""

    async def body(_, first):
        manager, second = await start_kernel(tmp_path)
        mine = text(await run(first, leave))
        output = text(await run(second, look))
        await manager.shutdown_kernel(now=True)
        second.stop_channels()
        assert "left" in mine and "found []" in output
        if os.getuid() == 0:
            assert mine.split()[0] != output.split()[0]

    with_kernel(tmp_path, body)


def test_kernels_draw_different_random_numbers_but_those_of_one_seed(
    tmp_path, monkeypatch
):
    draw = """
import random, numpy, torch
print(random.random(), numpy.random.rand(), torch.rand(1).item())
"""
    numbers: list[str] = []

    async def body(_, kernel):
        for _ in numbers:  # a client asks again while it has no answer
            await kernel.kernel_info(reply=True)
        numbers.append(text(await run(kernel, draw)))

    for seed in ("", "", "other", "one", "one"):
        monkeypatch.setenv("AUTOGRADER_SANDBOX_POLICY", Policy(seed=seed).to_json())
        with_kernel(tmp_path, body)
    assert numbers[3] == numbers[4]
    assert (
        len(
            {
                number
                for numbers_of_kernel in numbers[:4]
                for number in numbers_of_kernel.split()
            }
        )
        == 12
    )


def test_nbclient_runs_a_notebook_in_the_sandbox(tmp_path):
    cells = [
        "import torch\nx = torch.ones(2)",
        "x * 2",
        "1 / 0",
        "import os; os.getcwd()",
    ]
    v4 = nbformat.v4
    book = v4.new_notebook(cells=[v4.new_code_cell(source) for source in cells])
    NotebookClient(
        book, allow_errors=True, resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    kinds = [cell.outputs[0].output_type for cell in book.cells[1:]]
    assert kinds == ["execute_result", "error", "execute_result"]
    assert str(tmp_path) not in book.cells[3].outputs[0].data["text/plain"]


def test_a_dead_kernel_is_noticed_by_nbclient(tmp_path):
    v4 = nbformat.v4
    book = v4.new_notebook(cells=[v4.new_code_cell("import os; os._exit(1)")])
    runner = NotebookClient(book, resources={"metadata": {"path": str(tmp_path)}})
    with pytest.raises(DeadKernelError):
        runner.execute()


def test_a_kernel_restarts_where_its_client_finds_it(tmp_path):
    async def body(manager, kernel):
        await run(kernel, "x = 1")
        await manager.restart_kernel(now=True)
        await kernel.wait_for_ready(timeout=30)
        assert "NameError" in text(await run(kernel, "x"))

    with_kernel(tmp_path, body)


def test_a_submission_that_is_too_large_has_no_kernel(tmp_path, policy):
    policy(disk_mb=2)
    (tmp_path / "big.bin").write_bytes(bytes(3 << 20))
    with pytest.raises(confine.ConfinementError, match="too large"):
        asyncio.run(start_kernel(tmp_path))


def test_an_unconfined_kernel_needs_to_be_asked_for(tmp_path, policy):
    policy(level="none")
    with pytest.raises(confine.ConfinementError, match="allow_unconfined"):
        asyncio.run(start_kernel(tmp_path))
    policy(level="none", allow_unconfined=True)

    async def body(manager, kernel):
        assert manager.provisioner.level == "none"
        assert "42" in text(await run(kernel, "print(6 * 7)"))
        # A container's root can read hidden references, so a student may not be root.
        assert "False" in text(await run(kernel, "import os; print(os.getuid() == 0)"))

    assert with_kernel(tmp_path, body)["ended"] is EndReason.KILLED


def test_slots_are_gone_when_their_kernels_are(tmp_path):
    def slots() -> set[Path]:
        return {p for p in client.run_directory().iterdir() if len(p.name) == 16}

    before, during = slots(), set[Path]()  # another test's may be on its way out

    async def body(*_):
        during.update(slots() - before)

    with_kernel(tmp_path, body)
    assert len(during) == 1
    assert not during & slots()


def test_the_server_imports_what_is_asked_for_and_nothing_else(tmp_path, policy):
    async def body(manager, kernel):
        source = (
            "import sys; print('pandas' in sys.modules, 'antigravity' in sys.modules)"
        )
        assert "True False" in text(await run(kernel, source))

    policy(imports=("pandas", "this"))
    with_kernel(tmp_path, body)
