"""The Jupyter kernel that runs in a box: an ordinary ipykernel on sockets given to it.

The five sockets are bound by the supervisor and inherited, so that the box shares no
directory with the host. Below bubblewrap this file is run by its path, in a fresh
interpreter; else `run` is called in a process forked from the warm server.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

CHANNELS = ("shell", "iopub", "stdin", "hb", "control")
BACKEND = "module://matplotlib_inline.backend_inline"
# More threads than that cost 12 to 16 times on small tensors when kernels share cores.
THREADS = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OMP_WAIT_POLICY": "PASSIVE",
}
CHANNEL_VARIABLE = "AUTOGRADER_CHANNEL_FD"


def environment(home: Path, channel: int, extra: dict[str, str]) -> dict[str, str]:
    """The whole environment of a kernel, as the student may see it."""
    bins = (f"{sys.prefix}/bin", "/usr/local/bin", "/usr/bin", "/bin")
    return {
        **extra,
        **THREADS,
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


def run(
    connection: dict[str, Any], listeners: list[int], arguments: list[str], level: str
) -> None:
    """Serve the kernel until it is told to stop.

    `listeners` are bound sockets in the order of `CHANNELS`; `connection` is what a
    connection file holds; `arguments` are extra arguments of ipykernel.
    """
    import zmq
    from ipykernel.heartbeat import Heartbeat
    from ipykernel.iostream import IOPubThread
    from ipykernel.kernelapp import IPKernelApp

    ports = [connection[f"{name}_port"] for name in CHANNELS]
    sockets = dict(zip(ports, listeners, strict=True))

    class BoundHeartbeat(Heartbeat):
        def _try_bind_socket(self) -> None:
            self.socket.setsockopt(zmq.USE_FD, sockets[self.port])
            super()._try_bind_socket()

    class BoxedKernelApp(IPKernelApp):
        def init_connection_file(self) -> None:
            self.load_connection_info(connection)

        def write_connection_file(self, **_: Any) -> None:
            """The client has it; the box has no need of it."""

        def _try_bind_socket(self, s: zmq.Socket, port: int) -> int:
            s.setsockopt(zmq.USE_FD, sockets[port])
            return super()._try_bind_socket(s, port)

        def init_heartbeat(self) -> None:
            address = (self.transport, self.ip, self.hb_port)
            self.heartbeat = BoundHeartbeat(zmq.Context(), address)
            self.heartbeat.start()

        def init_control(self, context: zmq.Context) -> None:
            """The debugger reaches the shell by its path, which is not in the box."""
            shell, self.shell_socket = self.shell_socket, _NoEndpoint()
            super().init_control(context)
            self.shell_socket = shell

    if level == "landlock":
        IOPubThread._setup_pipe_in = _no_pipe
        _tensors_by_value()
    app = BoxedKernelApp.instance()
    app.initialize(["--IPKernelApp.connection_file=/none", *arguments])
    if level == "landlock":
        app.shell.system = functools.partial(_system_by_pipe, app.shell)
    app.start()


class _NoEndpoint:
    """Stands for a socket that has no address to connect to."""

    def getsockopt(self, _: int) -> bytes:
        return b""


def _no_pipe(thread: Any) -> None:
    """A box without sockets has no pipe for prints of forked processes."""
    thread._pipe_flag = False


def _system_by_pipe(shell: Any, command: str) -> None:
    """``!command`` in a box without terminals."""
    line = shell.var_expand(command, depth=1)
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(line, shell=True, text=True, errors="replace", **output) as p:
        for text in p.stdout:
            print(text, end="", flush=True)
    shell.user_ns["_exit_code"] = p.returncode


def _tensors_by_value() -> None:
    """Let DataLoader workers send tensors through their pipe.

    PyTorch passes file descriptors through a socket, which this box does not have.
    """
    from multiprocessing.reduction import ForkingPickler

    import torch.multiprocessing  # noqa: F401 - registers its own ways first

    ways = ForkingPickler._extra_reducers
    for kind in [kind for kind in ways if kind.__module__.startswith("torch")]:
        del ways[kind]


def _cold() -> None:
    """Below bubblewrap: read what the supervisor wrote, close the inner walls, run."""
    import confine

    request = json.loads(os.environ.pop("AUTOGRADER_COLD"))
    sys.path.remove(os.path.dirname(os.path.abspath(__file__)))
    policy = confine.Policy(**request["policy"])
    room = confine.Room(Path("/"), Path("/submission"), (), (), (), os.getuid())
    confine.enter("bwrap", policy, room)
    for fd in (*request["listeners"], int(os.environ[CHANNEL_VARIABLE])):
        os.set_inheritable(fd, False)
    os.write(request["status"], b"ok")
    os.close(request["status"])
    run(request["connection"], request["listeners"], request["arguments"], "bwrap")


if __name__ == "__main__":
    _cold()
