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


# What belongs to one unit, or to none.
PRIVATE = {
    "attention": f"{COURSE}/attention/exercises/softmax.py",
    "positional_encoding": f"{COURSE}/positional_encoding/probes/modules.py",
    "since_2017": f"{COURSE}/since_2017/modern.safetensors",
    "text_recovery": f"{COURSE}/references/public/text_recovery.safetensors",
    "": f"{COURSE}/leaderboard/tried.py",
}


@pytest.mark.parametrize(
    ("paths", "stale", "compared_units"),
    [
        (
            [f"{COURSE}/solutions/positional_encoding.py"],
            {ALL[0], *ALL[3:]} - {NINTH},
            ALL,
        ),
        (
            [f"{COURSE}/solutions/since_2017.py"],
            {"since_2017", "newer"},
            [*ALL[:2], "since_2017", "newer", NINTH],
        ),
        (PRIVATE.values(), PRIVATE.keys() - {""}, ALL),
        (["autograder/grading/judge/judging.py"], {ALL[0], ALL[-1]}, [ALL[0], ALL[-1]]),
    ],
    ids=["solutions", "later solutions", "private", "engine"],
)
def test_a_changed_file_makes_verdicts_old_where_it_counts(
    copy, before, paths, stale, compared_units
):
    contents = {copy / path: (copy / path).read_bytes() for path in paths}
    for file, content in contents.items():
        file.write_bytes(content + b"\n")
    try:
        changed = {
            unit for unit in compared_units if fingerprint(unit, copy) != before[unit]
        }
        assert changed == stale
    finally:
        for file, content in contents.items():
            file.write_bytes(content)


def test_what_python_has_compiled_does_not_count(copy, before):
    compiled = copy / "autograder" / "checks" / "compare.cpython.pyc"
    compiled.write_bytes(b"whatever")
    assert fingerprint("attention", copy) == before["attention"]
