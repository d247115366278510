"""What all tests of the checks begin with."""

import pytest

from autograder.checks import installed


@pytest.fixture(autouse=True)
def no_notebook_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """No notebook has said yet which unit it is."""
    monkeypatch.setattr(installed, "asked_for", 0)
