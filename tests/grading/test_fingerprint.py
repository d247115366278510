"""Verdicts of a unit are old when something has changed that they depend on."""

import shutil

import pytest

from autograder.course import ROOT, units
from autograder.grading.fingerprint import fingerprint

ALL = [unit.name for unit in units()]


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of all that verdicts depend on, to change."""
    root = tmp_path_factory.mktemp("course")
    ignored = shutil.ignore_patterns("__pycache__", "hidden")
    for folder in ("autograder", "transformer_course", "notebooks", "assets"):
        shutil.copytree(ROOT / folder, root / folder, ignore=ignored)
    return root


@pytest.fixture(scope="module")
def before(copy):
    return {unit: fingerprint(unit, copy) for unit in ALL}


COURSE = "transformer_course"


NINTH = "look_inside"  # does not build on unit 1


@pytest.mark.parametrize(
    ("path", "stale"),
    [
        (f"{COURSE}/solutions/positional_encoding.py", {ALL[0], *ALL[3:]} - {NINTH}),
        (f"{COURSE}/solutions/attention.py", set(ALL[1:])),
        (f"{COURSE}/solutions/since_2017.py", {"since_2017", "newer"}),
        (f"{COURSE}/attention/exercises/softmax.py", {"attention"}),
        (f"{COURSE}/since_2017/modern.safetensors", {"since_2017"}),
        (
            "transformer_course/references/public/text_recovery.safetensors",
            {"text_recovery"},
        ),
        (
            "transformer_course/positional_encoding/probes/modules.py",
            {"positional_encoding"},
        ),
        ("autograder/grading/judge/judging.py", set(ALL)),
        (f"{COURSE}/leaderboard/tried.py", set()),
    ],
)
def test_a_changed_file_makes_verdicts_old_where_it_counts(copy, before, path, stale):
    file = copy / path
    content = file.read_bytes()
    file.write_bytes(content + b"\n")
    try:
        changed = {unit for unit in ALL if fingerprint(unit, copy) != before[unit]}
        assert changed == stale
    finally:
        file.write_bytes(content)


def test_what_python_has_compiled_does_not_count(copy, before):
    compiled = copy / "autograder" / "checks" / "compare.cpython.pyc"
    compiled.write_bytes(b"whatever")
    assert fingerprint("attention", copy) == before["attention"]
