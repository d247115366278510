"""What the warm server imports: for everybody, and for who asks for it."""

import asyncio
import subprocess
import sys

import pytest

from autograder.sandbox import client
from autograder.sandbox.confine import Policy
from autograder.sandbox.inside import ALIKE
from autograder.sandbox.warm import ON_DEMAND, WARM, select_on_demand
from tests.conftest import start_kernels_with
from tests.sandbox.conftest import linux
from tests.sandbox.drive import run, start_kernel, text


def test_a_notebooks_words_tell_what_it_needs():
    cells = ["import seaborn as sns", "torch.optim.AdamW(model.parameters())"]
    assert select_on_demand(cells) == [
        "torch._dynamo", "pandas", "pandas.io.formats.html", "seaborn"
    ]  # fmt: skip


@pytest.mark.slow  # as only another version of PyTorch changes it
def test_pytorchs_own_attention_finds_its_imports_done():
    """Which these are is PyTorch's own affair, and may change with its version."""
    code = (
        "import sys, torch\n"
        "from autograder.sandbox.warm import select_on_demand\n"
        "from autograder.sandbox.fork_server import import_all\n"
        "import_all(select_on_demand(['nn.MultiheadAttention(4, 1)']))\n"
        "before = set(sys.modules)\n"
        "attention = torch.nn.MultiheadAttention(4, 1, batch_first=True)\n"
        "x, closed = torch.ones(1, 2, 4), torch.tensor([[False, True]])\n"
        "attention(x, x, x, key_padding_mask=closed)\n"
        "print(*sorted(set(sys.modules) - before))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "sympy" not in run.stdout.split()


def test_a_word_within_another_asks_for_nothing():
    assert select_on_demand(["optimum = 3  # of all", "pandas_of_our_own()"]) == []


def test_nothing_is_imported_for_everybody_that_some_ask_for():
    modules_on_demand = {name for modules in ON_DEMAND.values() for name in modules}
    assert not modules_on_demand & set(WARM)


LOOK = """
import sys; modules = sorted(sys.modules)
import warnings, matplotlib.pyplot
print(hash("word"), warnings.filters, len(matplotlib.pyplot.colormaps()), modules)
"""


@linux
def test_what_a_sandbox_finds_no_sandbox_before_it_has_a_say_in(tmp_path, monkeypatch):
    """Nor chance: not even the order in which a set holds its words."""
    start_kernels_with(monkeypatch, "autograder-sandbox")
    monkeypatch.delenv(client.SERVER_VARIABLE, raising=False)  # a server of its own

    async def look() -> str:
        manager, kernel = await start_kernel(tmp_path)
        try:
            return text(await run(kernel, LOOK))
        finally:
            await manager.shutdown_kernel(now=True)
            kernel.stop_channels()

    outputs = []
    for imports in ((), ("pandas", "seaborn"), ()):  # from the second on, warmer
        monkeypatch.setenv(
            "AUTOGRADER_SANDBOX_POLICY", Policy(imports=imports).to_json()
        )
        outputs.append(asyncio.run(look()))
    plain, with_seaborn, last = outputs
    assert last == plain and "'seaborn'" in with_seaborn
    command = [sys.executable, "-c", "print(hash('word'))"]
    alike = subprocess.run(command, env=ALIKE, capture_output=True, text=True)
    assert plain.split()[0] == alike.stdout.strip()
