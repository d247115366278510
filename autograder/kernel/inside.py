"""The Jupyter kernel that runs in a box: an ordinary ipykernel on sockets given to it.

The five sockets are bound by the supervisor and inherited, so that the box shares no
directory with the host. Below bubblewrap this module is run in a fresh interpreter;
else `run` is called in a process forked from the warm server.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, cast

from autograder.kernel import confine, without

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
    from ipykernel.kernelapp import IPKernelApp
    from jupyter_client.connect import KernelConnectionInfo
    from traitlets import DottedObjectName, Type

    from autograder.kernel.sparing import SparingKernel, SparingStream, spare

    ports = [connection[f"{name}_port"] for name in CHANNELS]
    sockets = dict(zip(ports, listeners, strict=True))

    class BoundHeartbeat(Heartbeat):
        def _try_bind_socket(self) -> None:
            self.socket.setsockopt(zmq.USE_FD, sockets[self.port])
            super()._try_bind_socket()  # type: ignore[no-untyped-call]

    class BoxedKernelApp(IPKernelApp):
        kernel_class = Type(SparingKernel)
        outstream_class = DottedObjectName(f"{SparingStream.__module__}.SparingStream")

        def _configure_logging(self) -> None:
            """A box's log has no reader."""

        def init_connection_file(self) -> None:
            self.load_connection_info(cast(KernelConnectionInfo, connection))

        def write_connection_file(self, **_: Any) -> None:
            """The client has it; the box has no need of it."""

        def _try_bind_socket(self, s: zmq.Socket[bytes], port: int) -> int:
            s.setsockopt(zmq.USE_FD, sockets[port])
            bound = super()._try_bind_socket(s, port)  # type: ignore[no-untyped-call]
            return int(bound)

        def init_heartbeat(self) -> None:
            address = (self.transport, self.ip, self.hb_port)
            heart = BoundHeartbeat(zmq.Context(), address)  # type: ignore[no-untyped-call]
            self.heartbeat = heart
            self.heartbeat.start()

        def init_control(self, context: zmq.Context[zmq.Socket[bytes]]) -> None:
            """The debugger reaches the shell by its path, which is not in the box."""
            shell, self.shell_socket = self.shell_socket, _NoEndpoint()
            super().init_control(context)  # type: ignore[no-untyped-call]
            self.shell_socket = shell

    fork_by_default()
    if level == "landlock":
        without.do_without(Path(os.environ["TMPDIR"]))
    app: Any = BoxedKernelApp.instance()
    app.initialize(["--IPKernelApp.connection_file=/none", *arguments])
    spare(app)
    if level == "landlock":
        without.run_commands_by_pipe(app.shell)
    app.start()


def fork_by_default() -> None:
    """Let `multiprocessing` fork, as it does on Linux before Python 3.14.

    What it does since needs sockets, which a box may lack, and cannot find a class that
    a notebook defines. A notebook may still choose another way.
    """
    from multiprocessing import context

    chosen = context._concrete_contexts["fork"]  # type: ignore[attr-defined]
    context._default_context._default_context = chosen  # type: ignore[attr-defined]


class _NoEndpoint:
    """Stands for a socket that has no address to connect to."""

    def getsockopt(self, _: int) -> bytes:
        return b""


def _cold() -> None:
    """Below bubblewrap: read what the supervisor wrote, close the inner walls, run."""
    request = json.loads(os.environ.pop("AUTOGRADER_COLD"))
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
