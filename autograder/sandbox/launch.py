"""A launcher for slow imports: ``python -m autograder.sandbox.launch MODULE``.

Garbage collection, which would take a third of the time, is disabled until
``MODULE.main`` calls `imported`. The process exits without cleaning up.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys

from autograder.sandbox import logs

# What to do about a process that does not start.
AGAIN = "run the same command again when the machine is calmer"


def main() -> None:
    """Import the module named on the command line, and run its ``main``."""
    gc.disable()
    debug = sys.argv[1] == logs.OPTION
    del sys.argv[1 : 1 + debug]
    logs.begin(sys.argv[1], debug)
    importlib.import_module(sys.argv.pop(1)).main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def command(module: str) -> list[str]:
    """The command that runs a module through this launcher; append its arguments."""
    options = [logs.OPTION] if logs.shows_debug() else []
    return [sys.executable, "-m", __name__, *options, module]


def imported() -> None:
    """Enable garbage collection after all imports, but not of what exists by now."""
    gc.freeze()
    gc.enable()


if __name__ == "__main__":
    main()
