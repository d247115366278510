"""The catalogue of honest accidents: solved submissions that something befell.

Each entry changes a submission that solves everything, in a way that tools and people
change notebooks, and expects every point. What waits for a reader still waits.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from tests.attacks.attack import cells_named
from tests.attacks.course import (
    INSIDE,
    MASK,
    NOTEBOOK,
    SCORES,
    SOLUTIONS,
    answered,
    grade_id,
    write_submission,
)


@dataclass(frozen=True)
class Accident:
    """Something that happened to a solved submission.

    Attributes:
        answers: what replaces the plain solutions.
        file: the notebook's name.
        before, after, change, data, files, folder: see `Submission`.
    """

    name: str
    before: str = ""
    after: str = ""
    answers: Mapping[str, str] = field(default_factory=dict)
    change: Callable[[NotebookNode], None] | None = None
    data: Callable[[bytes], bytes] | None = None
    file: str = NOTEBOOK
    files: Mapping[str, bytes] = field(default_factory=dict)
    folder: Callable[[Path], None] | None = None

    @property
    def student(self) -> str:
        return "h-" + "-".join(self.name.split())

    def hand_in(self, release: NotebookNode, folder: Path) -> None:
        """Write the submission's files."""
        notebook = answered(release, {**SOLUTIONS, **self.answers})
        write_submission(self, notebook, folder / self.file)


def noisily(lines: str) -> dict[str, str]:
    """All answers with some lines in front of each return."""
    indented = "".join(f"    {line}\n" for line in lines.splitlines())
    return {
        name: SOLUTIONS[name].replace("    return", f"{indented}    return")
        for name in (SCORES, MASK, INSIDE)
    }


def _copied(*names: str, blank: bool = False) -> Callable[[NotebookNode], None]:
    """Copies of cells behind them, with all their metadata, as JupyterLab copies."""

    def change(nb: NotebookNode) -> None:
        for cell in cells_named(nb, *names):
            twin = copy.deepcopy(cell)
            twin.id = f"copy-{grade_id(cell)}"[:60]
            twin.source = "" if blank else twin.source
            nb.cells.insert(nb.cells.index(cell) + 1, twin)

    return change


def _pictures(megabytes: int) -> Callable[[NotebookNode], None]:
    """So many megabytes of pictures among the outputs."""

    def change(nb: NotebookNode) -> None:
        cell = cells_named(nb, f"{INSIDE}-answer")[0]
        data = {"image/png": "iVBORw0KGgo" + "A" * (1 << 20)}
        cell.outputs = [new_output("display_data", data) for _ in range(megabytes)]

    return change


# A progress bar, as Colab saves it: without the level "state" that the format asks for.
_WIDGETS = {
    "application/vnd.jupyter.widget-state+json": {
        "5f0c": {
            "model_module": "@jupyter-widgets/controls",
            "model_name": "HBoxModel",
            "model_module_version": "1.5.0",
            "state": {"children": ["IPY_MODEL_8d1a"]},
        }
    }
}


def _colab(data: bytes, minor: int, ids: bool) -> bytes:
    """As Colab saves it: its metadata, a badge, a name in every cell that was run."""
    notebook = json.loads(data)
    for number, cell in enumerate(notebook["cells"]):
        identifier = cell.pop("id", "")
        cell["metadata"]["id"] = identifier if ids else f"colab{number:07d}"
        if ids:
            cell["id"] = identifier
        if cell["cell_type"] == "code":
            cell["metadata"]["outputId"] = "a1b2"
            cell["metadata"]["colab"] = {"base_uri": "https://localhost:8080/"}
            cell["metadata"]["executionInfo"] = {
                "elapsed": 12,
                "status": "ok",
                "user": {"displayName": "Ada L", "userId": "0123456789"},
            }
    badge = '<a href="https://colab.research.google.com/github/x/y.ipynb">Open</a>'
    notebook["cells"].insert(
        0,
        {
            "cell_type": "markdown",
            "metadata": {"id": "view-in-github", "colab_type": "text"},
            "source": badge,
        },
    )
    notebook.update(
        nbformat_minor=minor,
        metadata={
            "colab": {"provenance": []},
            "accelerator": "GPU",
            "widgets": _WIDGETS,
            "kernelspec": {"name": "python3", "display_name": "Python 3"},
        },
    )
    return json.dumps(notebook).encode()


def _lost(*keys: str) -> Callable[[NotebookNode], None]:
    def change(nb: NotebookNode) -> None:
        for cell in nb.cells:
            for key in keys:
                cell.metadata.pop(key, None)
            if "id" in keys:
                cell.pop("id", None)

    return change


def _outputs_kept(nb: NotebookNode) -> None:
    """Pictures and texts of the student's own session, large but legal."""
    for cell in nb.cells:
        if cell.cell_type == "code":
            cell.execution_count = 7
            cell.outputs = [
                new_output("stream", text="step\n" * 40_000),
                new_output("display_data", {"image/png": "QUJD" * 100_000}),
            ]


def _moved(nb: NotebookNode) -> None:
    """The answers in new cells of the student's own; the stubs are still there."""
    for name in (SCORES, MASK):
        (answer,) = cells_named(nb, f"{name}-answer")
        place = nb.cells.index(answer) + 1
        nb.cells.insert(place, new_code_cell(answer.source))
        answer.source = "raise NotImplementedError  # your code here"


def _old_format(data: bytes) -> bytes:
    notebook = json.loads(data)
    cells = [
        {**cell, "input": cell["source"], "language": "python"}
        for cell in notebook["cells"]
    ]
    return json.dumps(
        {
            "nbformat": 3,
            "nbformat_minor": 0,
            "metadata": {"name": ""},
            "worksheets": [{"cells": cells}],
        }
    ).encode()


ACCIDENTS: list[Accident] = [
    Accident("nothing happened"),
    Accident(
        "warnings",
        before="import warnings",
        answers=noisily("warnings.warn('this is deprecated')"),
    ),
    Accident(
        "progress bars",
        before="from tqdm import tqdm",
        answers=noisily("for _ in tqdm(range(3)): pass"),
    ),
    Accident(
        "progress bars for notebooks",
        before="""
from tqdm.notebook import tqdm
for _ in tqdm(range(3)): pass
""",
    ),
    Accident(
        "prints on stderr",
        before="import sys, logging",
        answers=noisily(
            "print('working', file=sys.stderr)\nlogging.warning('working')"
        ),
    ),
    Accident("prints in every call", answers=noisily("print('called', end=' ')")),
    Accident("print flood below the cap", before="print('x' * 900_000)"),
    Accident(
        "print flood above the cap", before="for _ in range(3000): print('x' * 1000)"
    ),
    Accident("a copied answer", change=_copied(f"{SCORES}-answer")),
    Accident("an empty copied answer", change=_copied(f"{MASK}-answer", blank=True)),
    Accident("copied checks", change=_copied(SCORES, MASK, INSIDE)),
    Accident(
        "everything copied", change=lambda nb: nb.cells.extend(copy.deepcopy(nb.cells))
    ),
    Accident("a copied notebook", file=f"Copy of {NOTEBOOK}"),
    Accident("a second download", file=NOTEBOOK.replace(".", " (1).")),
    Accident("a name of its own", file="Meine Lösung final2.ipynb"),
    Accident("a capital ending", file=NOTEBOOK.upper()),
    Accident("no ending", file="notebook.json"),
    Accident("saved by Colab as 4.0", data=lambda d: _colab(d, 0, ids=False)),
    Accident("saved by Colab as 4.5", data=lambda d: _colab(d, 5, ids=True)),
    Accident(
        "saved by Colab on one line",
        data=lambda d: json.dumps(
            json.loads(_colab(d, 0, ids=False)), separators=(",", ":")
        ).encode(),
    ),
    Accident(
        "drive mounted",
        before="from google.colab import drive\n"
        "drive.mount('/content/drive')\n%cd /content/drive/MyDrive",
    ),
    Accident(
        "packages installed",
        before="!pip install -q torch torchvision\n%pip install einops\nimport math",
    ),
    Accident(
        "tests deleted",
        change=lambda nb: nb.update(
            cells=[c for c in nb.cells if grade_id(c) not in (SCORES, MASK, INSIDE)]
        ),
    ),
    Accident(
        "tests edited",
        change=lambda nb: [
            cell.update(source="# check(...) later\nprint('ok')")
            for cell in cells_named(nb, SCORES, MASK, INSIDE)
        ],
    ),
    Accident("metadata lost", change=_lost("nbgrader")),
    Accident("metadata and ids lost", change=_lost("nbgrader", "id")),
    Accident(
        "old schema",
        change=lambda nb: [
            cell.metadata.nbgrader.update(schema_version=1)
            for cell in nb.cells
            if grade_id(cell)
        ],
    ),
    Accident(
        "answer as text",
        change=lambda nb: [
            cell.update(cell_type="markdown")
            for cell in cells_named(nb, f"{SCORES}-answer")
        ],
    ),
    Accident(
        "another kernel",
        change=lambda nb: nb.metadata.update(
            kernelspec={
                "name": "conda-env-dl-py",
                "display_name": "Python [dl]",
                "language": "python",
            }
        ),
    ),
    Accident("answers in cells of its own", change=_moved),
    Accident(
        "helper cells",
        change=lambda nb: [
            nb.cells.insert(n, new_code_cell(f"helper_{n} = torch.eye({n})"))
            for n in (3, 5, 7)
        ],
        answers={
            SCORES: "def dot_product_scores(q, k):\n    return q @ helper_3.new_tensor("
            "k.tolist()).T"
        },
    ),
    Accident(
        "figures",
        before="""
import matplotlib.pyplot as plt
plt.plot([1, 2, 3]); plt.show()
fig, axes = plt.subplots(2, 2); axes[0, 0].imshow([[1, 2], [3, 4]])
""",
    ),
    Accident(
        "figures in windows",
        before="%matplotlib tk\n"
        "import matplotlib.pyplot as plt\nplt.plot([1]); plt.show()",
    ),
    Accident("check redefined", before="def check(*answers): print('my check')"),
    Accident(
        "names reused",
        answers={
            INSIDE: "q = k = length = x = torch = 5\ndef double(x):\n    return 2 * x"
        },
        change=lambda nb: nb.cells.append(new_code_cell("import torch")),
    ),
    Accident("an error in a cell of its own", before="undefined_name + 1"),
    Accident("a syntax error in a cell of its own", before="def broken(:"),
    Accident("a cell that takes too long", before="import time\ntime.sleep(90)"),
    Accident("input asked for", before="name = input('Name? ')"),
    Accident(
        "windows line ends",
        data=lambda d: (
            json.dumps(json.loads(d.replace(b"\\n", b"\\r\\n")), indent=1)
            .replace("\n", "\r\n")
            .encode()
        ),
    ),
    Accident("a byte order mark", data=lambda d: b"\xef\xbb\xbf" + d),
    Accident("sixteen bits", data=lambda d: d.decode().encode("utf-16")),
    Accident(
        "tabs",
        answers={
            name: SOLUTIONS[name].replace("    ", "\t") for name in (SCORES, MASK)
        },
    ),
    Accident(
        "other letters",
        answers=noisily("größe = 'Ω ≈ 😀'"),
        after="print('ä', '日本語', '😀'[0])",
    ),
    Accident("half a character printed", after="print('\\ud83d')"),
    Accident("an older format", data=_old_format),
    Accident("outputs kept", change=_outputs_kept),
    Accident(
        "checkpoints beside",
        files={
            f".ipynb_checkpoints/{NOTEBOOK.replace('.', '-checkpoint.')}": b"{}",
            ".DS_Store": b"\0" * 100,
            "__MACOSX/._x.ipynb": b"\0\5\x16\7",
            "Thumbs.db": b"",
            "notes.docx": b"PK",
        },
    ),
    Accident(
        "an older attempt beside",
        files={"old/02_attention.ipynb": b"not json", "try.ipynb": b'{"cells": []}'},
    ),
    Accident(
        "data beside",
        files={"data/table.csv": b"a,b\n1,2\n"},
        before="assert open('data/table.csv').read().startswith('a')",
    ),
    Accident(
        "files written",
        before="torch.save(torch.eye(3), 'mine.pt')\n"
        "torch.load('mine.pt')\nopen('log.txt', 'w').write('x' * 1000)",
    ),
    Accident(
        "many files beside",
        folder=lambda folder: [
            (folder / f"picture{n}.txt").write_text("x") for n in range(700)
        ],
    ),
    Accident(
        "exercises in another order",
        change=lambda nb: nb.cells.append(
            nb.cells.pop(nb.cells.index(cells_named(nb, f"{INSIDE}-answer")[0]))
        ),
    ),
    Accident(
        "random seeds and threads set",
        before="""
import random
torch.manual_seed(0); random.seed(0)
torch.use_deterministic_algorithms(True); torch.set_num_threads(2)
torch.set_grad_enabled(False)
""",
    ),
    Accident(
        "worker processes",
        before="""
from torch.utils.data import DataLoader
print(sum(len(b) for b in DataLoader(list(range(8)), 2, num_workers=2)))
""",
    ),
    Accident("a shell command", before="!ls -la\n!nvidia-smi\n%timeit -n1 -r1 1 + 1"),
    Accident(
        "a long text",
        change=lambda nb: nb.cells.append(new_markdown_cell("My thoughts. " * 8000)),
    ),
    Accident("the time by hand", files={"timestamp.txt": b"2025-02-03 04:05:06 CET"}),
    Accident("many pictures saved with it", change=_pictures(25)),
    *(
        Accident(f"left set: {line.split('(')[0].split('.')[-1]}", before=line)
        for line in (
            "torch.set_default_dtype(torch.float64)",
            "torch.autograd.set_grad_enabled(False)",
            'torch.set_default_device("meta")',
            "torch.set_printoptions(precision=1, sci_mode=True)",
            "torch.set_num_threads(3)",
            'torch.set_deterministic_debug_mode("error")',
        )
    ),
]
