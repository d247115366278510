"""What a student is told to install is small, licensed, and pinned."""

from __future__ import annotations

import pytest

from autograder.course import ROOT
from transformer_course.library.published import LISTED


@pytest.mark.parametrize("name", LISTED)
def test_a_model_says_how_to_get_it(name):
    listing = LISTED[name]
    assert f"{listing.package}=={listing.version}" in listing.install
    assert "MB, Apache-2.0" in listing.install
    assert all(len(file.sha256) == 64 for file in listing.files)
    assert sum(file.size for file in listing.files) < 100e6


@pytest.mark.parametrize("name", LISTED)
def test_docs_and_makefile_say_the_same(name):
    listing = LISTED[name]
    command, _, _ = listing.install.partition(" (")
    text = (ROOT / "docs" / "student.md").read_text(encoding="utf-8")
    (row,) = (line for line in text.splitlines() if f"`{command}`" in line)
    size = sum(file.size for file in listing.files) / 1e6
    assert f"{listing.title}, {size:.0f} MB, {listing.licence}" in row
    assert f"{listing.memory / 1e9:.1f} GB" in row
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert f"{listing.package}=={listing.version}" in makefile
