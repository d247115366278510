"""The names of the modules that the warm server imports before it forks kernels.

`WARM` are for all notebooks, `ON_DEMAND` for those that seem to need them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# What the first cells of a notebook import, and what these modules import later. Not
# matplotlib_inline, which looks for a kernel when it is imported.
WARM = (
    *("numpy", "tqdm", "jaxtyping"),
    *("torch", "torch.utils.data", "torch.testing"),
    *("torch.multiprocessing", "multiprocessing.queues", "sqlite3"),
    *("matplotlib.pyplot", "matplotlib.font_manager"),
    *("matplotlib.backends.backend_agg", "encodings.utf_16_be"),
    *("PIL.PngImagePlugin", "PIL.BmpImagePlugin", "PIL.GifImagePlugin"),
    *("PIL.JpegImagePlugin", "PIL.PpmImagePlugin", "IPython.core.pylabtools"),
    *("ipykernel.kernelapp", "tornado.platform.asyncio"),
    *("IPython", "IPython.core.completerlib", "IPython.core.debugger"),
    *("IPython.core.logger", "IPython.core.oinspect", "IPython.utils.timing"),
    *("IPython.core.magics.execution", "IPython.core.magics.ast_mod"),
    *("IPython.extensions.storemagic", "IPython.utils.wildcard", "asttokens"),
    *("executing", "executing.executing", "pexpect", "pdb", "faulthandler"),
    *("stack_data", "pygments.lexers.python", "pygments.styles", "pygments.console"),
    *("pygments.formatters.html", "pygments.formatters.terminal256"),
    "autograder.sandbox.app",
)
# Slow modules, by the word in a notebook's code that needs them. An optimiser's first
# step imports torch._dynamo: more than a second. PyTorch's own attention asks at its
# first mask whether a size is a symbol, and imports SymPy for it: a third of a second.
ON_DEMAND = {
    "optim": ("torch._dynamo",),
    "MultiheadAttention": ("torch.fx.experimental.symbolic_shapes",),
    "pandas": ("pandas", "pandas.io.formats.html"),
    "seaborn": ("pandas", "pandas.io.formats.html", "seaborn"),
    "ipywidgets": ("ipywidgets",),
}


def select_on_demand(cells: Iterable[str]) -> list[str]:
    """List the slow modules that the code of a notebook's cells seems to need."""
    words = {word for cell in cells for word in re.findall(r"\w+", cell)}
    names = [m for word, modules in ON_DEMAND.items() if word in words for m in modules]
    return list(dict.fromkeys(names))
