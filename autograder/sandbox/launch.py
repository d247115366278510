"""A process that imports much, soon: ``python -m autograder.sandbox.launch MODULE``.

While modules are imported, Python's garbage collector goes through all that there is
again and again, to find next to nothing: a third of the time that PyTorch and a kernel
take. Here it rests until ``MODULE.main`` has imported all, and says so. At the end
nothing is taken apart: the process just ends.
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
    """Import the module that is named, and run its ``main``."""
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
    """After all imports: spare what is there from collection, in forks also."""
    gc.freeze()
    gc.enable()


if __name__ == "__main__":
    main()
