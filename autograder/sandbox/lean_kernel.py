"""An IPython kernel without work that a sandbox's only client does not need.

That work would be half of the cost of a correct submission.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import os
import select
import sys
import threading
import zlib
from collections.abc import Iterator
from typing import Any, ClassVar, cast

from ipykernel import compiler, zmqshell
from ipykernel.iostream import OutStream
from ipykernel.ipkernel import IPythonKernel
from IPython.core.inputtransformer2 import TransformerManager
from traitlets import Instance, Type

_PIPE = 1 << 16  # bytes that a pipe holds
_PART = 1 << 16  # characters of a message; a sandbox may not send a few MB in one


class SparingStream(OutStream):
    """Standard output or error, whose `flush` does not wait if nothing is to be sent.

    Output of programs that a cell has started comes before the cell's next output.
    Long texts are sent in parts, because a sandbox may not send a large message.
    """

    _all: ClassVar[list[SparingStream]] = []
    _order = threading.RLock()  # guards the order in which all streams send
    _writing: ClassVar[SparingStream | None] = None  # the one where something may wait

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._fetching, self._waiting = threading.RLock(), 0
        super().__init__(*arguments, **options)  # type: ignore[no-untyped-call]
        self._all.append(self)

    def flush(self) -> None:
        """Hand everything that has been written to the thread that sends it."""
        if self._in_fork():  # nothing waits, and a held lock may have been copied
            return
        self._fetch()
        if getattr(self, "_buffers", True):  # its name in recent versions
            super().flush()  # type: ignore[no-untyped-call]

    def write(self, string: str) -> int | None:  # type: ignore[override]
        """Send a text soon, after everything that was written before."""
        if not isinstance(string, str):
            return super().write(string)
        # A fork has no thread that sends, so it prints as other programs do.
        if self._in_fork():
            with open(self._original_stdstream_fd, "wb", closefd=False) as program:
                program.write(string.encode(errors="replace"))
            return len(string)
        for stream in self._all:
            stream._fetch()
        self._write_parts(string)
        return len(string)

    def _write_parts(self, text: str) -> None:
        """Write a text in parts, after what waits in another stream."""
        with self._order:
            before, SparingStream._writing = SparingStream._writing, self
            if before not in (None, self):
                before._flush()
            for start in range(0, max(len(text), 1), _PART):
                super().write(text[start : start + _PART])
                self._waiting += _PART if len(text) > _PART else len(text)
                if self._waiting >= _PART:
                    self._flush()

    def _flush(self) -> None:
        """Send what waits in this stream."""
        with self._order:  # nothing later overtakes what is taken here
            self._waiting = 0
            super()._flush()  # type: ignore[no-untyped-call]

    def _in_fork(self) -> bool:
        """Whether this process is a fork of the one that has the stream."""
        return os.getpid() != self._master_pid

    def _watch_pipe_fd(self) -> None:
        """Fetch what is written to the standard descriptor, as long as it is open."""
        while self._should_watch:
            self._pipe().poll()
            self._fetch()

    def _pipe(self) -> select.poll:
        """A poll object that waits for text from programs."""
        pipe = select.poll()
        pipe.register(cast(int, self._fid), select.POLLIN)
        return pipe

    def _fetch(self) -> None:
        """Read what programs have written, at most as much as a pipe holds."""
        with self._fetching:
            if not self._should_watch or not self._pipe().poll(0):
                return
            text = os.read(cast(int, self._fid), _PIPE).decode(errors="replace")
            self._should_watch = bool(text)  # no text: all writers have closed it
            self._write_parts(text)


class PlainTransformer(TransformerManager):
    """Applies IPython's transformations of tokens only to code that is not Python."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._usual = list(self.token_transformers)

    def do_token_transforms(self, lines: list[str]) -> list[str]:
        """Transform lines of IPython's syntax to Python; leave Python as it is."""
        # Parsing warns of invalid escapes, which must not happen twice.
        if self.token_transformers == self._usual and "\\" not in "".join(lines):
            with contextlib.suppress(
                SyntaxError, ValueError, RecursionError, MemoryError
            ):
                ast.parse("".join(lines))
                return lines
        transformed: list[str] = super().do_token_transforms(lines)  # type: ignore[no-untyped-call]
        return transformed


# By its usual name, which libraries look for to know whether they are in a notebook.
class ZMQInteractiveShell(zmqshell.ZMQInteractiveShell):
    """A shell that transforms a cell once, although ipykernel and IPython both ask."""

    input_transformer_manager = Instance(PlainTransformer, ())
    _transformed: tuple[str, str] | None = None

    def transform_cell(self, raw_cell: str) -> str:
        """Transform a cell to Python; the last result is reused for the same cell."""
        cached, self._transformed = self._transformed, None
        if cached and cached[0] == raw_cell:
            return cached[1]
        cell = str(super().transform_cell(raw_cell))  # type: ignore[no-untyped-call]
        self._transformed = raw_cell, cell
        return cell

    def should_run_async(
        self, raw_cell: str, *, transformed_cell: str | None = None, **options: Any
    ) -> bool:
        """Whether a cell awaits something: never without "await" or "async"."""
        if transformed_cell is not None and not any(
            word in transformed_cell for word in ("await", "async")
        ):
            return False
        return super().should_run_async(
            raw_cell, transformed_cell=transformed_cell, **options
        )

    def _format_exception_for_storage(
        self, exception: BaseException, *arguments: Any, **options: Any
    ) -> dict[str, Any]:
        """Return the error as it was just shown, so that it is not formatted twice."""
        if traceback := self._last_traceback:
            name, value = type(exception).__name__, str(exception)
            return {"ename": name, "evalue": value, "traceback": traceback}
        content = super()._format_exception_for_storage(
            exception, *arguments, **options
        )  # type: ignore[no-untyped-call]
        return cast(dict[str, Any], content)


class SparingCompiler(compiler.XCachingCompiler):
    """A compiler that registers each cell's file name as belonging to no module.

    Otherwise, a traceback searches 2,000 modules for the file, four times per frame.
    """

    def get_code_name(self, raw_code: str, code: str, number: int) -> str:
        """Name the file of a cell, and register it; arguments as in ipykernel."""
        name = str(super().get_code_name(raw_code, code, number))  # type: ignore[no-untyped-call]
        inspect.modulesbyfile[name] = ""
        return name


class SparingKernel(IPythonKernel):
    """A kernel that publishes neither the status "busy" nor the input of cells."""

    shell_class = Type(ZMQInteractiveShell)
    compiler_class = Type(SparingCompiler)
    debugger_class = Type(object)  # ipykernel looks at it before it loads a debugger
    _supports_kernel_subshells = False  # its messages come one after the other

    def __init__(self, **options: Any) -> None:
        """Create it without a debugger, which is unused and imports 100 modules."""
        with _as_if_not_installed("debugpy"):
            super().__init__(**options)  # type: ignore[no-untyped-call]

    @property
    def banner(self) -> str:  # type: ignore[override]
        """Return no banner: IPython's would use up the submission's random numbers."""
        return ""

    def takes_more(self) -> bool:
        """Return whether the next message may be handled at once.

        It must wait while the kernel skips the messages that were sent before an error.
        """
        return not self._aborting

    def _publish_execute_input(self, *_: object) -> None:
        """Do nothing, since the reply also has the cell's number."""

    def _publish_status(self, status: str, *arguments: Any, **options: Any) -> None:
        """Publish a status, unless it is "busy"."""
        if status != "busy":
            super()._publish_status(status, *arguments, **options)  # type: ignore[no-untyped-call]


@contextlib.contextmanager
def _as_if_not_installed(name: str) -> Iterator[None]:
    """Make imports of a module fail in a ``with`` block, unless already imported."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[name]


def reduce_cell_overhead(app: Any) -> None:
    """Change a prepared app so that each cell takes less time."""
    # ipykernel waits half a millisecond for outputs on their way to a client; ours
    # waits for the message that none is left.
    app.kernel._execute_sleep = 0.0
    # The hash in a cell's file name; ipykernel's is written in Python, so it is slow.
    compiler.murmur2_x86 = _checksum


def _checksum(text: str, _: int) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))
