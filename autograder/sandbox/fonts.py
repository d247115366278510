"""Copying of matplotlib's list of installed fonts to a sandbox server, and back.

The list takes a long time to make, and each server has a new cache folder.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

FOLDER = "matplotlib"  # of a server's settings
_LISTS = "fontlist-*.json"  # one for each format of the list


def create_folder(folder: Path) -> None:
    """Create a server's `folder` for matplotlib, with this account's font lists."""
    folder.mkdir()
    with contextlib.suppress(OSError, RuntimeError):
        for font_list in _cache().glob(_LISTS):
            shutil.copyfile(font_list, folder / font_list.name)


def save_new_lists(folder: Path) -> None:
    """Copy the font list that a server has made in `folder` to matplotlib's cache.

    If this account cannot write there, the next server makes the list again.
    """
    with contextlib.suppress(OSError, RuntimeError):
        cache = _cache()
        for font_list in folder.glob(_LISTS):
            target = cache / font_list.name
            if not (target.exists() and target.read_bytes() == font_list.read_bytes()):
                cache.mkdir(parents=True, exist_ok=True)
                with tempfile.TemporaryDirectory(dir=cache) as staging:
                    copy = shutil.copyfile(font_list, Path(staging) / font_list.name)
                    copy.replace(target)


def _cache() -> Path:
    """The folder of matplotlib's cache. Raises RuntimeError if there is no home."""
    if configured := os.environ.get("MPLCONFIGDIR"):
        return Path(configured)
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches) / "matplotlib"
