"""What a student is told to install is small, licensed, and pinned."""

from __future__ import annotations

import pytest

from autograder.library.published import LISTED


@pytest.mark.parametrize("name", LISTED)
def test_a_model_says_how_to_get_it(name):
    listing = LISTED[name]
    assert f"{listing.package}=={listing.version}" in listing.install
    assert "MB, Apache-2.0" in listing.install
    assert all(len(file.sha256) == 64 for file in listing.files)
    assert sum(file.size for file in listing.files) < 100e6
