"""A unit of one exercise and one question, as an author writes it."""

from __future__ import annotations

import shutil
from pathlib import Path

from autograder.course import ROOT, Unit

GOOD = '''\
# %% [markdown]
# # 9 · Tiny

# %%
import math
import matplotlib.pyplot as plt
from autograder import check

# %% exercise="tiny/double"
def double(x):
    """Twice x."""
    ### BEGIN SOLUTION
    doubled_number = math.fsum([x, x])
    return doubled_number
    ### END SOLUTION

# %% check="tiny/double" points=95
check("tiny/double", double)

# %% [markdown] written="tiny/why" points=5
# *Your answer here*
'''


def tiny(tmp_path: Path, text: str = GOOD) -> Unit:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    (tmp_path / "notebooks").mkdir(exist_ok=True)
    unit = Unit("99", "tiny", tmp_path)
    unit.text.write_text(text, encoding="utf-8")
    return unit
