"""What a box's kernel leaves out is missed by nobody."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from tests.conftest import start_kernels_with
from tests.kernel.conftest import linux

pytestmark = linux

PAST_PYTHON = "import ctypes; ctypes.PyDLL(None).dprintf(1, b'past')"
BY_A_PROGRAM = "import os; os.system('echo by a program >&2') and None"
FORKED = """
import multiprocessing
one = multiprocessing.Process(target=print, args=("forked",))
one.start()
one.join()
"""
AWAITS = "import asyncio\nawait asyncio.sleep(0)\nprint('awaited')"
MAGIC = "%matplotlib inline\nprint(type(get_ipython()).__name__)"
FAILS = "def fail():\n    1 / 0  # here\n\nfail()"


@pytest.fixture(scope="module")
def book(tmp_path_factory: Any) -> Any:
    """A notebook that was run in a box."""
    cells = [PAST_PYTHON, BY_A_PROGRAM] * 15 + [FORKED, AWAITS, AWAITS, MAGIC, FAILS]
    found = new_notebook(cells=[new_code_cell(source) for source in cells])
    folder = str(tmp_path_factory.mktemp("sparing"))
    with pytest.MonkeyPatch.context() as patch:
        start_kernels_with(patch, "autograder-box")
        NotebookClient(
            found, allow_errors=True, resources={"metadata": {"path": folder}}
        ).execute()
    return found


def shown(cell: nbformat.NotebookNode) -> str:
    return "".join(output.get("text", "") for output in cell.outputs)


def test_no_output_is_lost_wherever_it_comes_from(book: Any) -> None:
    texts = [shown(cell) for cell in book.cells]
    assert texts[:30:2] == ["past"] * 15
    assert texts[1:30:2] == ["by a program\n"] * 15
    assert texts[30] == "forked\n"


def test_cells_may_await_and_ask_ipython(book: Any) -> None:
    texts = [shown(cell) for cell in book.cells]
    assert texts[31:33] == ["awaited\n"] * 2
    assert texts[33] == "ZMQInteractiveShell\n"


def test_an_error_shows_the_line_that_it_is_in(book: Any) -> None:
    (error,) = book.cells[-1].outputs
    assert "# here" in "".join(error.traceback)


def test_cells_are_counted_as_ever(book: Any) -> None:
    counts = [cell.execution_count for cell in book.cells]
    assert counts == list(range(1, len(counts) + 1))
