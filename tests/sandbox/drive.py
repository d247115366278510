"""Runs kernels as whoever starts it and prints one line of JSON: what happened.

``python drive.py attack FOLDER LEVEL...`` runs the notebook of attacks at each level;
``python drive.py fill FOLDER LEVEL`` writes 9 MB, gives up what cannot be written, and
says why the sandbox has ended; ``python drive.py hang FOLDER LEVEL`` starts a kernel
that never ends and waits.
"""

import asyncio
import contextlib
import dataclasses
import json
import os
import queue
import select
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from jupyter_client.manager import AsyncKernelManager

from autograder.root import CONTENT, ENGINE
from autograder.sandbox.confine import ConfinementError, Policy
from tests.sandbox import notebook

SMALL = Policy(
    memory_mb=700, processes=40, open_files=128, file_mb=4, disk_mb=24, files=400
)
HOLD = """
import os, subprocess
subprocess.Popen(["sh", "-c", "(setsid sleep 1000 &) ; sleep 1000"])
print("READY", flush=True)
while True: pass
"""


FILL = """
try:
    for number in range(3):
        open(f"{number}.bin", "wb").write(bytes(3 << 20))
except OSError:
    pass
"""


async def start_kernel(folder: Path) -> tuple[Any, Any]:
    """A kernel in a sandbox and a client that is connected to it."""
    manager = AsyncKernelManager()
    await manager.start_kernel(cwd=str(folder))
    client = manager.client()
    client.start_channels()
    await client.wait_for_ready(timeout=60)
    return manager, client


async def run(client: Any, code: str, seconds: float = 60) -> list[dict[str, Any]]:
    """The messages that a cell publishes."""
    messages: list[dict[str, Any]] = []
    await client.execute_interactive(
        code, timeout=seconds, output_hook=messages.append, allow_stdin=False
    )
    return messages


def text(messages: list[dict[str, Any]]) -> str:
    """What a cell printed, errors included."""
    parts = [m["content"] for m in messages]
    return "".join(
        p.get("text", "") or "\n".join(p.get("traceback", [])) for p in parts
    )


def outside(folder: Path, canaries: dict[str, Any]) -> dict[str, Any]:
    """Everything a student could hope to reach, with its address."""
    files = {
        "another submission": str(folder.parent / "other.txt"),
        "gradebook": str(folder.parent / "gradebook.db"),
        "shadow": "/etc/shadow",
        "grader": str(ENGINE / "sandbox" / "client.py"),
    }
    folders = {
        "submissions": str(folder.parent),
        "hidden": str(CONTENT / "references" / "hidden"),
        "exercises": str(CONTENT / "attention" / "exercises"),
    }
    limits = {name: getattr(SMALL, name) for name in vars(SMALL)}
    return {**limits, "files": files, "folders": folders, **canaries}


async def attack(folder: Path, level: str) -> dict[str, Any]:
    """Run every cell; returns what was seen from inside and from outside."""
    quiet = subprocess.DEVNULL  # or whoever reads our output waits for its end too
    bird = subprocess.Popen(["/bin/sleep", "1000"], stdout=quiet, stderr=quiet)
    tcp = socket.create_server(("127.0.0.1", 0))
    abstract = socket.socket(socket.AF_UNIX)
    abstract.bind(f"\0drive-{os.getpid()}")
    abstract.listen()
    manager, client = await start_kernel(folder)
    shared = Path(f"/dev/shm/drive-{os.getpid()}")
    shared.write_text("another sandbox's")
    shared.chmod(0o666)
    before = set(os.listdir("/dev/shm"))
    canaries = {
        "shm": shared.name,
        "port": tcp.getsockname()[1],
        "abstract": f"drive-{os.getpid()}",
        "server": os.environ["AUTOGRADER_SANDBOX_SERVER"] + "/requests",
        "pid": bird.pid,
        "secret": os.environ["TEST_SECRET"],
        "home": os.environ["HOME"],
        "many": SMALL.files + 600,
    }
    outside_paths = json.dumps(outside(folder, canaries))
    cells = {
        "setup": notebook.SETUP % outside_paths,
        **notebook.ATTACKS,
        **notebook.HONEST,
    }
    if level in ("landlock", "bwrap"):
        del cells["disk"]  # watched rather than refused, or without a count of files
    outputs = {name: await run(client, code) for name, code in cells.items()}
    report = text(await run(client, notebook.REPORT))
    channel = manager.provisioner.judge_socket
    answered = bool(select.select([channel], [], [], 2)[0])
    answer = channel.recv(100).decode() if answered else ""
    slot = Path(manager.connection_file).parent
    await manager.shutdown_kernel(now=True)
    client.stop_channels()
    new = set(os.listdir("/dev/shm")) - before
    leftovers = sorted(
        name for name in new if not name.startswith("drive-")
    )  # of others
    shared.unlink()
    alive = bird.poll() is None
    bird.kill()
    return {
        "level": manager.provisioner.level,
        "usage": manager.provisioner.usage,
        "printed": {name: text(messages) for name, messages in outputs.items()},
        "pictures": sum(
            "image/png" in m["content"].get("data", {}) for m in outputs["picture"]
        ),
        "seen": json.loads(report.partition("SEEN")[2] or "{}"),
        "answer": answer,
        "bird": alive,
        "submission": sorted(os.listdir(folder)),
        "slot left": slot.exists(),
        "shared left": leftovers,
    }


async def hang(folder: Path) -> None:
    """Say where the server and its processes are, then wait to be killed."""
    _, client = await start_kernel(folder)
    client.execute(HOLD)
    while True:
        message = await client.get_iopub_msg(timeout=30)
        if "READY" in message["content"].get("text", ""):
            break
    print(json.dumps({"run": os.environ["AUTOGRADER_SANDBOX_SERVER"]}), flush=True)
    await asyncio.Event().wait()


async def fill(folder: Path) -> str:
    """Write to the sandbox's disk; why the sandbox has ended, or was not to be had."""
    try:
        manager, client = await start_kernel(folder)
    except ConfinementError as error:
        return str(error)
    client.execute(FILL)
    with contextlib.suppress(queue.Empty):  # it has ended
        await client.get_shell_msg(timeout=2)
    await manager.shutdown_kernel(now=True)
    client.stop_channels()
    return manager.provisioner.usage["reason"]


def set_level(level: str) -> None:
    os.environ["AUTOGRADER_SANDBOX_POLICY"] = dataclasses.replace(
        SMALL, level=level
    ).to_json()


def main(action: str, folder: Path, *levels: str) -> None:
    os.environ["JUPYTER_DEFAULT_PROVISIONER_NAME"] = "autograder-sandbox"
    reports = {}
    for level in levels:
        set_level(level)
        if action == "hang":
            asyncio.run(hang(folder))
        report = fill(folder) if action == "fill" else attack(folder, level)
        reports[level] = asyncio.run(report)
    print(json.dumps(reports))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
