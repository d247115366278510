"""Find the files of a published model: installed, in a given location, or on the Hub.

Only files whose SHA-256 is the listed one are read.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import urllib.request
import zipfile
import zlib
from collections.abc import Iterator
from http.client import HTTPException
from importlib import metadata
from pathlib import Path
from typing import IO
from urllib.error import HTTPError, URLError

from tqdm.auto import tqdm

from transformer_course.library.published.catalogue import (
    Listing,
    PublishedFile,
    PublishedModelError,
)

HUB = "https://huggingface.co"
_CHUNK = 2**20
_SECONDS = 5.0  # until a host that does not answer counts as unreachable


def find(listing: Listing, location: str | Path | None = None) -> Path:
    """Find the folder or zip file with a model's files; download them if necessary.

    The files are not checked; use `verify` for that.

    Args:
        location: a folder, a zip file or the file of weights, for a model that is
            not installed.

    Raises:
        PublishedModelError: the model can be neither found nor downloaded.
    """
    if (installed := _find_installed(listing)) is not None:
        return installed
    if location is not None:
        return _resolve_location(listing, Path(location))
    cache = _name_cache(listing)
    try:
        if os.environ.get("HF_HUB_OFFLINE", "0") not in ("", "0"):  # its own switch
            raise URLError("switched off")
        for file in listing.files:
            if not (cache / file.name).is_file():
                _download(listing, file, cache)
    except (OSError, HTTPException) as error:
        if isinstance(error, URLError) and not isinstance(error, HTTPError):
            raise PublishedModelError(
                f"{listing.title} is not here, and {HUB} cannot be reached. Install it "
                f"and run this again: {listing.install}"
            ) from None
        # A full disk, a connection that broke, or an error that the Hub reports.
        raise PublishedModelError(
            f"{listing.title} was not downloaded to {cache}: {error}. Run this again; "
            "if the disk is full, make room or set XDG_CACHE_HOME to another folder"
        ) from None
    return cache


def verify(place: Path, file: PublishedFile) -> bytes | Path:
    """Check a file's SHA-256, and return its path, or its bytes if it is in a zip file.

    Raises:
        PublishedModelError: the file is missing, truncated, or not the published one.
    """
    digest, content = hashlib.sha256(), bytearray()
    zipped = place.is_file()
    try:
        with _open_stream(place, file.name) as stream:
            for chunk in _read_chunks(stream, file, f"checking {file.name}"):
                digest.update(chunk)
                if zipped:
                    content += chunk
    except (OSError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise PublishedModelError(
            f"{file.name} cannot be read from {place}: {error}. Install or copy it anew"
        ) from None
    if digest.hexdigest() != file.sha256:
        raise PublishedModelError(
            f"{file.name} in {place} is not the published file (its SHA-256 is "
            f"{digest.hexdigest()[:12]}..., not {file.sha256[:12]}...). It was not "
            "read; delete it, and install or copy it anew"
        )
    return bytes(content) if zipped else place / file.name


def _find_installed(listing: Listing) -> Path | None:
    """Find the folder or zip file of an installed distribution; None without one."""
    try:
        files = metadata.files(listing.package) or []
    except metadata.PackageNotFoundError:
        return None
    wanted = listing.archive or listing.weights.name
    for path in files:
        if path.name == wanted:
            place = Path(str(path.locate()))
            return place if listing.archive else place.parent
    return None


def _resolve_location(listing: Listing, path: Path) -> Path:
    """Return a folder or zip file as it is, and for a file of weights its folder."""
    if path.suffix == ".zip" or path.is_dir():
        return path
    if path.name == listing.weights.name:
        return path.parent
    raise PublishedModelError(
        f"{path} is neither a folder nor a zip file, and not called "
        f"{listing.weights.name}; give one of them"
    )


def _name_cache(listing: Listing) -> Path:
    """The folder for a model's downloads, which the hash of its weights identifies."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "transformer-course" / listing.weights.sha256[:12]


def _download(listing: Listing, file: PublishedFile, folder: Path) -> None:
    """Download one file, which gets its name only once it is complete and verified."""
    repository, revision = listing.hub
    url = f"{HUB}/{repository}/resolve/{revision}/{file.name}"
    part = folder / f"{file.name}.part"
    with urllib.request.urlopen(url, timeout=_SECONDS) as stream:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with part.open("wb") as out:
                for chunk in _read_chunks(stream, file, f"downloading {file.name}"):
                    out.write(chunk)
            verify(folder, PublishedFile(part.name, file.sha256, file.size))
            part.replace(folder / file.name)
        finally:
            part.unlink(missing_ok=True)


@contextlib.contextmanager
def _open_stream(place: Path, name: str) -> Iterator[IO[bytes]]:
    """Open a file in a folder or in a zip file."""
    if place.is_dir():
        with (place / name).open("rb") as stream:
            yield stream
    else:
        with zipfile.ZipFile(place) as archive, archive.open(name) as stream:
            yield stream


def _read_chunks(stream: IO[bytes], file: PublishedFile, label: str) -> Iterator[bytes]:
    """Read a file in chunks with a progress bar.

    At most one byte too many is read, which is enough to fail the file's check.
    """
    remaining = file.size + 1
    with tqdm(
        total=file.size, desc=label, unit="B", unit_scale=True, leave=False
    ) as bar:
        while remaining > 0 and (chunk := stream.read(min(_CHUNK, remaining))):
            remaining -= len(chunk)
            bar.update(len(chunk))
            yield chunk
