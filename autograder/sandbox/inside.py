"""The Jupyter kernel in a sandbox: an ordinary ipykernel on sockets given to it.

Usually, `run` is called in a process forked from the warm server. In
bubblewrap, this module is run in a fresh interpreter.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import random
import sys
from pathlib import Path
from typing import Any

from autograder.sandbox import confine, landlock_shims

CHANNELS = ("shell", "iopub", "stdin", "hb", "control")
BACKEND = "module://matplotlib_inline.backend_inline"
# With more threads, small tensors take 12 to 16 times as long if kernels share cores.
THREADS = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OMP_WAIT_POLICY": "PASSIVE",
}
# The environment of all Python processes that grade. Without a hash seed, the order of
# the strings in a set would be random, and different in each run.
ALIKE = {**THREADS, "PYTHONHASHSEED": "0"}
CHANNEL_VARIABLE = "AUTOGRADER_CHANNEL_FD"


def environment(home: Path, channel: int, extra: dict[str, str]) -> dict[str, str]:
    """All environment variables of a kernel, which the student's code can read.

    `channel` is the descriptor of its socket to the judge; `extra` are more variables.
    """
    bins = (f"{sys.prefix}/bin", "/usr/local/bin", "/usr/bin", "/bin")
    return {
        **extra,
        **ALIKE,
        "PATH": ":".join(bins),
        "LANG": "C.UTF-8",
        "USER": "student",
        "LOGNAME": "student",
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        "IPYTHONDIR": str(home / "ipython"),
        "MPLCONFIGDIR": str(home / "matplotlib"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "MPLBACKEND": BACKEND,
        "PYTHONDONTWRITEBYTECODE": "1",
        CHANNEL_VARIABLE: str(channel),
    }


def prepare(folder: Path) -> None:
    """Create the kernel without connecting it; IPython's files will be in `folder`.

    In bubblewrap, this happens in the sandbox, otherwise once in the server.
    """
    from autograder.sandbox.app import SandboxedKernelApp

    fork_by_default()
    SandboxedKernelApp.instance().prepare(folder)


def rehearse() -> None:
    """Produce a traceback in the prepared kernel, as the first one is slow."""
    from autograder.sandbox.app import SandboxedKernelApp

    SandboxedKernelApp.instance().rehearse_error()


def seed_generators(seed: str) -> None:
    """Seed all random number generators of the process; "" seeds them at random."""
    dice = random.Random(seed) if seed else random.SystemRandom()
    random.seed(dice.getrandbits(128))
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed([dice.getrandbits(32) for _ in range(4)])
    if torch := sys.modules.get("torch"):
        # The CPU's only: those of other devices are seeded at their first use.
        torch.default_generator.manual_seed(dice.getrandbits(56))


def run(
    connection: dict[str, Any], listeners: list[int], arguments: list[str], level: str
) -> None:
    """Connect the prepared kernel, and serve its client until it is told to stop.

    `connection` is the content of a Jupyter connection file; `listeners` are the
    descriptors of bound sockets in the order of `CHANNELS`.
    """
    from autograder.sandbox.app import SandboxedKernelApp

    if level == "landlock":
        landlock_shims.install(Path(os.environ["TMPDIR"]))
    ports = [connection[f"{name}_port"] for name in CHANNELS]
    app = SandboxedKernelApp.instance()
    app.connect(connection, dict(zip(ports, listeners, strict=True)), arguments)
    if level == "landlock":
        landlock_shims.run_commands_by_pipe(app.shell)
    app.start()  # type: ignore[no-untyped-call]


def fork_by_default() -> None:
    """Let `multiprocessing` fork, as it does on Linux before Python 3.14.

    The newer default cannot find classes that a notebook defines.
    """
    from multiprocessing import context

    chosen = context._concrete_contexts["fork"]  # type: ignore[attr-defined]
    context._default_context._default_context = chosen  # type: ignore[attr-defined]


def _cold() -> None:
    """Start a kernel in bubblewrap as the supervisor requests, and confine it first."""
    request = json.loads(os.environ.pop("AUTOGRADER_COLD"))
    policy = confine.Policy(**request["policy"])
    # No visible paths are listed, as bubblewrap has mounted them already.
    room = confine.Room(Path("/"), Path("/submission"), (), (), (), os.getuid())
    confine.enter("bwrap", policy, room)
    for fd in (*request["listeners"], int(os.environ[CHANNEL_VARIABLE])):
        os.set_inheritable(fd, False)
    os.write(request["status"], b"ok")
    os.close(request["status"])
    prepare(Path(os.environ["IPYTHONDIR"]))
    for name in ("numpy", "torch"):  # their generators must exist before seeding
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    seed_generators(policy.seed)
    run(request["connection"], request["listeners"], request["arguments"], "bwrap")


if __name__ == "__main__":
    _cold()
