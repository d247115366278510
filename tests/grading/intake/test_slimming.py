"""A large notebook loses its outputs in a process that has limits."""

from __future__ import annotations

import json

import pytest

from autograder.grading.intake import RefusedError
from autograder.grading.intake.reading import read
from autograder.grading.intake.slimming import slimmed


def test_a_large_notebook_is_slimmed_within_limits():
    text = {"cell_type": "code", "source": "größe = '😀'", "outputs": []}
    small = json.dumps({"cells": [text]}, ensure_ascii=False).encode()
    for letters in ("a" * 30, "😀" + "a" * 26):
        kept = small.replace(b"[]", b'["%s"]' % (letters.encode() * (1 << 20)))
        slim = slimmed(kept)
        assert read(slim) == read(small) and len(slim) < 200
    assert slimmed(b"no notebook") == b"no notebook"


def test_one_of_millions_of_parts_is_refused_before_it_is_read():
    with pytest.raises(RefusedError, match="too many parts"):
        slimmed(b'{"cells":[' + b"[]," * (30 << 20) + b"1]}")
