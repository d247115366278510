"""What a sandbox's kernel leaves out is missed by nobody."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest
from IPython.core.inputtransformer2 import TokenTransformBase, TransformerManager
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from autograder.sandbox.lean_kernel import PlainTransformer
from tests.conftest import start_kernels_with
from tests.sandbox.conftest import linux

pytestmark = linux

PAST_PYTHON = "import ctypes; ctypes.PyDLL(None).dprintf(1, b'past')"
BY_A_PROGRAM = "import os; os.system('echo by a program >&2') and None"
FORKED = """
import multiprocessing
print("before")
for number in range(20):
    one = multiprocessing.Process(target=print, args=("forked", number))
    one.start()
    one.join()
print("after")
"""
AWAITS = "import asyncio\nawait asyncio.sleep(0)\nprint('awaited')"
MAGIC = "%matplotlib inline\nprint(type(get_ipython()).__name__)"
KEPT = """
kept = get_ipython().history_manager.exceptions
print([(one["ename"], one["evalue"], "# here" in "".join(one["traceback"]))
       for one in kept.values()])
"""
NO_MODULES = """
import inspect
print(inspect.getmodule(inspect.currentframe()), inspect.getmodule(fail).__name__)
print(inspect.getsource(fail))
"""
FAILS = "def fail():\n    1 / 0  # here\n\nfail()"


LATE = """
import os, sys, time
for number in range(3):
    print("out", number)
    print("err", number, file=sys.stderr)
    {wait}
    os.system("echo program")
    {wait}
    print("out again")
    os.write(2, b"past")
    {wait}
print("end")
"""
LARGE = "print('x' * 10 ** 7)"
FLOOD = "for number in range(5000): display(number)"


@pytest.fixture(scope="module")
def book(tmp_path_factory: Any) -> Any:
    """A notebook that was run in a sandbox."""
    cells = [PAST_PYTHON, BY_A_PROGRAM] * 15 + [FORKED, AWAITS, AWAITS, MAGIC, FAILS]
    cells += [KEPT, NO_MODULES]
    cells += [LATE.format(wait=wait) for wait in ("pass", "time.sleep(0.3)")]
    cells += [LARGE, FLOOD]
    notebook = new_notebook(cells=[new_code_cell(source) for source in cells])
    folder = str(tmp_path_factory.mktemp("sparing"))
    with pytest.MonkeyPatch.context() as patch:
        start_kernels_with(patch, "autograder-sandbox")
        NotebookClient(
            notebook,
            allow_errors=True,
            resources={"metadata": {"path": folder}},
            iopub_timeout=300,
        ).execute()
    return notebook


CELLS = (
    "x = 1",
    "",
    "\n\nx = 1\n",
    "    x = 1\n    y = 2",
    "def f(x):\n    return x % 2\n",
    "x = (7\n% 3)",
    "x = 7 \\\n% 3",
    "print('\\d')",
    ">>> x = 1\n... x + 1",
    "x = 1\n...\n",
    'def f():\n    """Doc.\n\n    >>> f()\n    1\n    """\n',
    "In [1]: x = 1\n   ...: x",
    "%matplotlib inline",
    "%%time\nx = 1",
    "x = %pwd",
    "files = !ls",
    "!echo hello",
    "f?",
    "x = 1\nf??",
    "text = '''\n%not magic\n!nor this\n'''",
    "f'{x!r} {y % 2}?'",
    "await g()",
    "async for x in y: pass",
    "return 3",
    "x = (",
    "'''open",
    "ls",
    "/print 1",
    ";print a b",
    "x\x00y",
    "\ud800",
    "(" * 500,
)


@pytest.mark.parametrize("cell", CELLS)
def test_a_cell_becomes_the_same_python(cell):
    def outcome(manager: TransformerManager) -> str:
        try:
            return str(manager.transform_cell(cell))
        except Exception as error:
            return repr(error)

    assert outcome(PlainTransformer()) == outcome(TransformerManager())


def test_a_notebook_may_bring_syntax_of_its_own():
    class Shout(TokenTransformBase):
        @classmethod
        def find(cls, tokens_by_line: Any) -> Shout | None:
            tokens = [token for line in tokens_by_line for token in line]
            return next((cls(t.start) for t in tokens if t.string == "quiet"), None)

        def transform(self, lines: list[str]) -> list[str]:
            return [line.replace("quiet", "loud") for line in lines]

    manager = PlainTransformer()
    manager.token_transformers.append(Shout)
    assert manager.transform_cell("quiet = 1") == "loud = 1\n"


def output_text(cell: nbformat.NotebookNode) -> str:
    return "".join(output.get("text", "") for output in cell.outputs)


def test_no_output_is_lost_wherever_it_comes_from(book):
    texts = [output_text(cell) for cell in book.cells]
    assert texts[:30:2] == ["past"] * 15
    assert texts[1:30:2] == ["by a program\n"] * 15
    forked = "".join(f"forked {number}\n" for number in range(20))
    assert texts[30] == f"before\n{forked}after\n"


def test_the_order_of_what_is_printed_is_that_of_the_program(book):
    """However long it takes: a quarter of a second is when ipykernel sends some."""

    def merge_output(cell: nbformat.NotebookNode) -> list[tuple[str, str]]:
        messages: list[tuple[str, str]] = []
        for output in cell.outputs:
            if messages and messages[-1][0] == output.name:
                messages[-1] = output.name, messages[-1][1] + output.text
            else:
                messages.append((output.name, output.text))
        return messages

    quick, slow = book.cells[-4:-2]
    assert merge_output(quick) == merge_output(slow)
    assert merge_output(quick)[:3] == [
        ("stdout", "out 0\n"),
        ("stderr", "err 0\n"),
        ("stdout", "program\nout again\n"),
    ]


def test_no_output_is_lost_for_its_size_or_number(book):
    """A client may be late, and takes no message of more than some MB."""
    large, flood = book.cells[-2:]
    assert len(output_text(large)) == 10**7 + 1
    assert [output.data["text/plain"] for output in flood.outputs] == [
        str(number) for number in range(5000)
    ]


def test_cells_may_await_and_ask_ipython(book):
    texts = [output_text(cell) for cell in book.cells]
    assert texts[31:33] == ["awaited\n"] * 2
    assert texts[33] == "ZMQInteractiveShell\n"


def test_an_error_shows_the_line_that_it_is_in(book):
    (error,) = book.cells[34].outputs
    assert "# here" in "".join(error.traceback)


def test_an_error_is_kept_as_it_was_shown(book):
    output = output_text(book.cells[35])
    assert output == "[('ZeroDivisionError', 'division by zero', True)]\n"


def test_a_cells_code_is_found_though_no_module_has_it(book):
    output = output_text(book.cells[36])
    assert output.startswith("None __main__\ndef fail():\n    1 / 0  # here\n")


def test_cells_are_counted_as_ever(book):
    counts = [cell.execution_count for cell in book.cells]
    assert counts == list(range(1, len(counts) + 1))
