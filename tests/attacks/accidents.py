"""The catalogue of honest accidents: solved submissions that something befell.

Each entry changes a submission that solves everything, in a way that tools and people
change notebooks, and expects every point. What waits for a reader still waits.
"""

from __future__ import annotations

import copy
import json

from nbformat.v4 import new_code_cell, new_markdown_cell

from tests.attacks.accident import (
    Accident,
    colab,
    copied,
    lost,
    move_answers,
    noisily,
    old_format,
    outputs_kept,
    pictures,
)
from tests.attacks.attack import cells_named
from tests.attacks.material import INSIDE, NOTEBOOK, SEES, SOFTMAX, SOLUTIONS, grade_id

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
    Accident("a copied answer", change=copied(f"{SOFTMAX}-answer")),
    Accident("an empty copied answer", change=copied(f"{SEES}-answer", blank=True)),
    Accident("copied checks", change=copied(SOFTMAX, SEES, INSIDE)),
    Accident(
        "everything copied", change=lambda nb: nb.cells.extend(copy.deepcopy(nb.cells))
    ),
    Accident("a copied notebook", file=f"Copy of {NOTEBOOK}"),
    Accident("a second download", file=NOTEBOOK.replace(".", " (1).")),
    Accident("a name of its own", file="Meine Lösung final2.ipynb"),
    Accident("a capital ending", file=NOTEBOOK.upper()),
    Accident("no ending", file="notebook.json"),
    Accident("saved by Colab as 4.0", data=lambda d: colab(d, 0, ids=False)),
    Accident("saved by Colab as 4.5", data=lambda d: colab(d, 5, ids=True)),
    Accident(
        "saved by Colab on one line",
        data=lambda d: json.dumps(
            json.loads(colab(d, 0, ids=False)), separators=(",", ":")
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
            cells=[c for c in nb.cells if grade_id(c) not in (SOFTMAX, SEES, INSIDE)]
        ),
    ),
    Accident(
        "tests edited",
        change=lambda nb: [
            cell.update(source="# check(...) later\nprint('ok')")
            for cell in cells_named(nb, SOFTMAX, SEES, INSIDE)
        ],
    ),
    Accident("metadata lost", change=lost("nbgrader")),
    Accident("metadata and ids lost", change=lost("nbgrader", "id")),
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
            for cell in cells_named(nb, f"{SOFTMAX}-answer")
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
    Accident("answers in cells of its own", change=move_answers),
    Accident(
        "helper cells",
        change=lambda nb: [
            nb.cells.insert(n, new_code_cell(f"helper_{n} = torch.eye({n})"))
            for n in (3, 5, 7)
        ],
        answers={
            SOFTMAX: "def stable_softmax(x):\n"
            "    powers = (x - x.amax(-1, keepdim=True)).exp() * helper_3[0, 0].to(x)\n"
            "    return powers / powers.sum(-1, keepdim=True)"
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
            name: SOLUTIONS[name].replace("    ", "\t") for name in (SOFTMAX, SEES)
        },
    ),
    Accident(
        "other letters",
        answers=noisily("größe = 'Ω ≈ 😀'"),
        after="print('ä', '日本語', '😀'[0])",
    ),
    Accident("half a character printed", after="print('\\ud83d')"),
    Accident("an older format", data=old_format),
    Accident("outputs kept", change=outputs_kept),
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
    Accident("many pictures saved with it", change=pictures(25)),
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
