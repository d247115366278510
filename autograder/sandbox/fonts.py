"""matplotlib's list of a machine's fonts: made once, not at every start of a server.

To make it, matplotlib opens each font that is installed. A server has settings of its
own (nothing in an account's may show in a picture), so it would find no list there.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

FOLDER = "matplotlib"  # of a server's settings
_LISTS = "fontlist-*.json"  # one for each edition of matplotlib's


def bring(folder: Path) -> None:
    """Put the lists that this account has into a server's settings."""
    folder.mkdir()
    with contextlib.suppress(OSError, RuntimeError):
        for kept in _cache().glob(_LISTS):
            shutil.copyfile(kept, folder / kept.name)


def keep(folder: Path) -> None:
    """Keep a list that a server had to make where matplotlib itself looks for it.

    Where this account can keep nothing, the next server makes it again.
    """
    with contextlib.suppress(OSError, RuntimeError):
        cache = _cache()
        for made in folder.glob(_LISTS):
            kept = cache / made.name
            if not (kept.exists() and kept.read_bytes() == made.read_bytes()):
                cache.mkdir(parents=True, exist_ok=True)
                with tempfile.TemporaryDirectory(dir=cache) as whole:
                    copy = shutil.copyfile(made, Path(whole) / made.name)
                    copy.replace(kept)


def _cache() -> Path:
    """Raises RuntimeError: this account has no home."""
    if own := os.environ.get("MPLCONFIGDIR"):
        return Path(own)
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches) / "matplotlib"
