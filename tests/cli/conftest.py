"""A course folder that knows of one assignment, of which nothing is graded."""

from pathlib import Path

import pytest

from tests import tiny_course as tiny
from tests.classroom.conftest import graded, graded_once

__all__ = ["course", "graded", "graded_once"]


@pytest.fixture
def course(tmp_path) -> Path:
    source = tmp_path / "source" / "06_text_recovery" / "06_text_recovery.ipynb"
    source.parent.mkdir(parents=True)
    source.write_bytes(tiny.data(tiny.source_notebook()))
    return tmp_path
