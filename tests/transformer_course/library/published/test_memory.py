"""A model that has no room is refused before it is read."""

from __future__ import annotations

import pytest

from tests.transformer_course.library.published import drawn
from transformer_course.library.published import (
    PublishedModelError,
    fetch,
    memory,
    reading,
)


def test_too_little_memory_is_one_line_that_says_how_much(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 400_000_000)
    with pytest.raises(PublishedModelError, match=r"0\.\d GB of memory.*0\.4 GB is"):
        fetch("smollm2", tmp_path)


def test_so_is_memory_that_ends_while_reading(tmp_path, monkeypatch):
    def read(*arguments):
        raise MemoryError

    listing = drawn.safetensors(tmp_path)
    monkeypatch.setattr(reading, "read", read)
    with pytest.raises(PublishedModelError, match="close other notebooks"):
        fetch(listing, tmp_path)


def test_a_containers_limit_counts(tmp_path, monkeypatch):
    (tmp_path / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable: 5000 kB\n")
    monkeypatch.setattr(memory, "_SYSTEM", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "_GROUP", tmp_path)
    assert memory.available() == 5000 * 1024
    (tmp_path / "memory.current").write_text("1000\n")
    for limit, expected in {"max\n": 5000 * 1024, "4000\n": 3000}.items():
        (tmp_path / "memory.max").write_text(limit)
        assert memory.available() == expected


def test_where_nothing_tells_nothing_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "_SYSTEM", tmp_path / "none")
    monkeypatch.setattr(memory, "_GROUP", tmp_path / "none")
    assert memory.available() is None
    assert len(fetch(drawn.safetensors(tmp_path), tmp_path).weights) == 2
