"""ipykernel's application in two steps: preparing a kernel, then connecting it.

Preparing is slow and the same for every sandbox, so it is done once, before
they are forked. Connecting creates what forks must not share, such as sockets.
"""

from __future__ import annotations

import os
import sys
import threading
import uuid
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import zmq
from ipykernel.kernelapp import IPKernelApp
from IPython.core.application import BaseIPythonApplication
from jupyter_client.connect import KernelConnectionInfo
from traitlets import Any as AnyTrait
from traitlets import DottedObjectName, Type
from zmq.eventloop.zmqstream import ZMQStream

from autograder.sandbox.eager_io import PromptPublisher, PromptStream
from autograder.sandbox.lean_kernel import (
    SparingKernel,
    SparingStream,
    reduce_cell_overhead,
)

# The history stays in memory, as it is of no use once a notebook has run.
ARGUMENTS = ("--HistoryManager.hist_file=:memory:",)


class _MainThread(NamedTuple):
    """A stand-in for ipykernel's thread that reads messages from the shell's socket.

    A sandbox has a single client, so the main thread can read that socket itself.
    """

    parent_thread: threading.Thread

    def __bool__(self) -> bool:
        """Always false, as there is no such thread."""
        return False


class SandboxedKernelApp(IPKernelApp):
    """ipykernel's application, first prepared, and connected to sockets later."""

    kernel_class = Type(SparingKernel)
    outstream_class = DottedObjectName(f"{SparingStream.__module__}.SparingStream")
    sockets: Mapping[int, int] = AnyTrait()  # type: ignore[assignment]  # by port

    def _configure_logging(self) -> None:
        """Do nothing, because nobody reads the log of a sandbox."""

    def prepare(self, folder: Path) -> None:
        """Create a kernel without connecting it; IPython's files are in `folder`."""
        folder.mkdir(exist_ok=True)
        self.ipython_dir = str(folder)
        arguments = ["--IPKernelApp.connection_file=/none", *ARGUMENTS]
        BaseIPythonApplication.initialize(self, arguments)
        self.init_pdb()  # type: ignore[no-untyped-call]
        self.kernel = self.kernel_class.instance(
            parent=self, session=self.session, log=self.log,
            profile_dir=self.profile_dir, user_ns=self.user_ns,
        )  # fmt: skip
        # The steps of ipykernel's `initialize` that need no socket.
        self.init_path()  # type: ignore[no-untyped-call]
        self.init_shell()  # type: ignore[no-untyped-call]
        self.init_gui_pylab()  # type: ignore[no-untyped-call]
        self.init_extensions()  # type: ignore[no-untyped-call]
        self.init_code()  # type: ignore[no-untyped-call]
        reduce_cell_overhead(self)

    def rehearse_error(self) -> None:
        """Produce a traceback now, so that the first one of a student is fast."""
        import torch

        try:
            torch.nn.Linear(1, 1)(None)
        except TypeError:
            shell = self.kernel.shell
            shell.InteractiveTB.structured_traceback(*sys.exc_info())
            shell.InteractiveTB.tb = None

    def connect(
        self, connection: Mapping[str, Any], sockets: Mapping[int, int],
        arguments: Sequence[str],
    ) -> None:  # fmt: skip
        """Connect the prepared kernel to sockets, under a new identity.

        Args:
            connection: the content of a Jupyter connection file.
            sockets: maps the ports in this file to descriptors of bound sockets.
            arguments: extra command-line arguments for ipykernel.
        """
        if options := [argument for argument in arguments if argument not in ARGUMENTS]:
            self.parse_command_line(options)
        self._become_another()
        self.sockets = sockets
        self.load_connection_info(cast(KernelConnectionInfo, connection))
        self.init_sockets()  # type: ignore[no-untyped-call]
        self.init_io()  # type: ignore[no-untyped-call]
        self.init_signal()  # type: ignore[no-untyped-call]
        self._connect_kernel()

    def _become_another(self) -> None:
        """Take an identity and a folder that no other kernel has."""
        self.session.pid, self.session.session = os.getpid(), str(uuid.uuid4())
        self.kernel.ident = str(uuid.uuid4())
        shell = self.kernel.shell
        shell.displayhook.topic = self.kernel._topic("execute_result")
        shell.init_environment()
        if self.ipython_dir != (folder := os.environ["IPYTHONDIR"]):
            self.ipython_dir, self.profile_dir = folder, None
            self.init_profile_dir()  # type: ignore[no-untyped-call]
            shell.ipython_dir = folder
            shell.profile_dir = self.kernel.profile_dir = self.profile_dir

    def _connect_kernel(self) -> None:
        """Give the kernel its sockets; a `PromptStream` reads the shell's messages."""
        kernel, shell = self.kernel, self.kernel.shell
        kernel.iopub_thread, kernel.iopub_socket = self.iopub_thread, self.iopub_socket
        kernel.stdin_socket = self.stdin_socket
        kernel.shell_stream = PromptStream(
            self.shell_socket, partial(kernel.shell_main, None), kernel.takes_more
        )
        kernel.control_stream = ZMQStream(self.control_socket)
        kernel.shell_channel_thread = _MainThread(threading.main_thread())
        shell.displayhook.pub_socket = shell.display_pub.pub_socket = self.iopub_socket
        self.displayhook.get_execution_count = lambda: kernel.execution_count

    def _try_bind_socket(self, s: zmq.Socket[bytes], port: int) -> int:
        """Bind a socket to a port, by using the descriptor that is already bound."""
        s.setsockopt(zmq.USE_FD, self.sockets[port])
        return int(super()._try_bind_socket(s, port))  # type: ignore[no-untyped-call]

    def init_control(self, context: zmq.Context[zmq.Socket[bytes]]) -> None:
        """Create the control socket; like the shell's, it is read between cells."""
        self.control_socket = context.socket(zmq.ROUTER)
        self._bind_socket(self.control_socket, self.control_port)  # type: ignore[no-untyped-call]

    def init_iopub(self, context: zmq.Context[zmq.Socket[bytes]]) -> None:
        """Create the iopub socket as ipykernel does, but with our own thread."""
        socket = context.socket(zmq.XPUB)
        socket.setsockopt(zmq.XPUB_NODROP, 1)  # it waits for a client that is late
        self._bind_socket(socket, self.iopub_port)  # type: ignore[no-untyped-call]
        self.configure_tornado_logger()  # type: ignore[no-untyped-call]
        self.iopub_thread = PromptPublisher(socket, pipe=True, session=self.session)  # type: ignore[no-untyped-call]
        self.iopub_thread.start()  # type: ignore[no-untyped-call]
        self.iopub_socket = self.iopub_thread.background_socket
