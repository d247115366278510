"""Whatever is deleted of the extras, everything else works."""

from __future__ import annotations

import importlib
import shutil
from pathlib import Path

import pytest

from autograder.root import ENGINE
from tests.clone import checkout, run

EXTRAS = sorted(path.parent.name for path in ENGINE.glob("extras/*/__init__.py"))
FAST = ("pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow")


def builds_on(extra: str) -> tuple[str, ...]:
    module = importlib.import_module(f"autograder.extras.{extra}")
    return getattr(module, "BUILDS_ON", ())


@pytest.fixture(scope="module")
def clone(tmp_path_factory) -> Path:
    """A clone of the course, from which tests take extras away."""
    return checkout(tmp_path_factory.mktemp("clone"))


@pytest.mark.slow
@pytest.mark.long(seconds=300.0)
def test_without_any_the_core_s_tests_pass(clone, tmp_path):
    shutil.move(clone / "autograder" / "extras", tmp_path)
    try:
        tests = ("tests/cli", "tests/classroom", "tests/grading/run")
        run(clone, *FAST, *tests, "tests/test_seams.py")
    finally:
        shutil.move(tmp_path / "extras", clone / "autograder")


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("extra", EXTRAS)
def test_without_one_and_what_builds_on_it_the_commands_work(clone, tmp_path, extra):
    folder = clone / "autograder" / "extras"
    removed = [
        candidate
        for candidate in EXTRAS
        if candidate == extra or extra in builds_on(candidate)
    ]
    for name in removed:
        shutil.move(folder / name, tmp_path)
    try:
        assert "\n  build " in run(clone, "autograder", "--help")
        run(clone, *FAST, "tests/cli")
    finally:
        for name in removed:
            shutil.move(tmp_path / name, folder)


def test_what_an_extra_builds_on_is_an_extra():
    for extra in EXTRAS:
        assert {*builds_on(extra)} <= {*EXTRAS} - {extra}
