"""Where a check runs: in a notebook that a person looks at, or elsewhere."""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import Any

from autograder.checks.words import ALL_SOLVED, CHANNEL, LEFT_OUT


def is_grading() -> bool:
    """Return whether the notebook is graded, without demonstrations and figures."""
    return os.environ.get(LEFT_OUT) == "1"


def is_all_solved() -> bool:
    """Return whether the notebook runs with the course's own solutions."""
    return os.environ.get(ALL_SOLVED) == "1"


def is_validating() -> bool:
    """Whether nbgrader's Validate runs the notebook."""
    return os.environ.get("NBGRADER_VALIDATING") == "1"


def find_shell() -> Any:
    """Find the shell of a notebook's kernel, which shows HTML; None elsewhere."""
    try:
        from IPython import get_ipython
    except ImportError:
        return None
    shell = get_ipython()
    return shell if hasattr(shell, "kernel") else None


def notebook_name() -> str:
    """The running notebook's file name, as Jupyter's server gives it; "" if unknown."""
    path = PurePath(os.environ.get("JPY_SESSION_NAME", ""))
    return path.name if path.suffix == ".ipynb" else ""


def is_attended() -> bool:
    """Return whether a person runs this notebook, rather than a program or grading.

    JupyterLab, VS Code and Colab say so with ``allow_stdin`` in each request.
    """
    if is_grading() or is_validating() or CHANNEL in os.environ:
        return False
    if (shell := find_shell()) is None:
        return False
    request = shell.kernel.get_parent("shell") or {}
    return bool(request.get("content", {}).get("allow_stdin"))
