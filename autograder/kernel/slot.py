"""A box's folder on the disk: how large it is, and its end."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path


def tree_size(folder: Path) -> tuple[int, int]:
    """Bytes on disk and number of entries below `folder`.

    Raises PermissionError for a folder that was closed to hide its size.
    """
    size = count = 0
    for path, folders, files in os.walk(folder, onerror=_raise_if_closed):
        for name in (*folders, *files):
            with contextlib.suppress(OSError):
                size += os.lstat(os.path.join(path, name)).st_blocks * 512
        count += len(folders) + len(files)
    return size, count


def _raise_if_closed(error: OSError) -> None:
    if isinstance(error, PermissionError):
        raise error


def remove_tree(folder: Path) -> None:
    """Remove a folder whatever modes its content was given."""

    def again(function: Callable[[str], None], path: str, _: object) -> None:
        with contextlib.suppress(OSError):
            for place in (os.path.dirname(path), path):
                if not os.path.islink(place):
                    os.chmod(place, 0o700)
            function(path)

    shutil.rmtree(folder, onerror=again)
    shutil.rmtree(folder, ignore_errors=True)  # what was closed at the first look
