"""Verdicts of a unit are old when something has changed that they depend on."""

import shutil

import pytest

from autograder.course import ROOT
from autograder.grading import fingerprint as module
from autograder.grading.fingerprint import fingerprint

ROOMS = ("bank", "oracle", "references/public", "solutions", "student")


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy of all that verdicts depend on, to change."""
    for room in ROOMS:
        shutil.copytree(
            ROOT / "autograder" / room,
            tmp_path / "autograder" / room,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
    monkeypatch.setattr(module, "ROOT", tmp_path)
    return tmp_path / "autograder"


@pytest.mark.parametrize(
    ("path", "units"),
    [
        ("bank/attention/scores.py", {"attention"}),
        ("bank/attention/_softmax/maxima.py", {"attention"}),
        ("student/probes/positional_encoding/modules.py", {"positional_encoding"}),
        ("solutions/attention.py", {"attention"}),
        ("student/compare.py", {"attention", "positional_encoding"}),
    ],
)
def test_a_changed_file_makes_verdicts_old_where_it_counts(copy, path, units):
    both = ("attention", "positional_encoding")
    before = {unit: fingerprint(unit) for unit in both}
    file = copy / path
    file.write_bytes(file.read_bytes() + b"\n")
    assert {unit for unit in both if fingerprint(unit) != before[unit]} == units


def test_what_python_has_compiled_does_not_count(copy):
    before = fingerprint("attention")
    (copy / "student" / "compare.cpython.pyc").write_bytes(b"whatever")
    assert fingerprint("attention") == before
