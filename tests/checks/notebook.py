"""A notebook that somebody runs, as far as a check can see it."""

from __future__ import annotations

from types import SimpleNamespace

import IPython
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from autograder.checks.cells import Cells


class Notebook:
    """IPython's own shell, with a kernel that has received a request."""

    def __init__(self, monkeypatch, attended: bool = True) -> None:
        config = Config({"HistoryManager": {"enabled": False}})
        self.shell = InteractiveShell(config=config, colors="nocolor")
        request = {"content": {"allow_stdin": attended}}
        self.shell.kernel = SimpleNamespace(get_parent=lambda channel: request)
        monkeypatch.setattr(IPython, "get_ipython", lambda: self.shell)
        for name in ("AUTOGRADER_CHANNEL_FD", "NBGRADER_VALIDATING"):
            monkeypatch.delenv(name, raising=False)
        self.cells = Cells()
        monkeypatch.setattr("autograder.checks.check.cells", self.cells)
        self.cells.follow()

    def run(self, text: str) -> object:
        """Run a cell; what its last line gives."""
        return self.shell.run_cell(text).result

    def get(self, name: str) -> object:
        return self.shell.user_ns.get(name)
