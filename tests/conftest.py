"""Shared fixtures: a tiny unit, so that tests need not depend on the course."""

from __future__ import annotations

import functools
import gc
import os
import re
import sys
from collections.abc import Collection
from pathlib import Path
from types import ModuleType

import pytest
import torch
from jupyter_client.provisioning import KernelProvisionerFactory

from autograder.authoring.new_course import find_affected
from autograder.authoring.notation import case, edit, right, wrong
from autograder.authoring.specification import Specification
from autograder.authoring.variants import run_source
from autograder.checks.exercise import Case, Exercise, Mistake
from autograder.checks.probes import probe, tensor
from autograder.course import ROOT, Unit, units
from autograder.grading.gradebook import book
from autograder.root import PACKAGE, read_settings

# nbgrader starts `alembic` by name, which lies beside the interpreter.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
os.environ["HF_HUB_OFFLINE"] = "1"  # no notebook that runs here downloads a model
gc.disable()  # until all tests are imported: it would take half of the time for that
book.install()  # as the course's settings do


_REPOSITORY = Path(__file__).parents[1]
_SLOW_SECONDS = 3600  # after which a slow test counts as hanging
_SOME = Path(__file__).with_name("left_out.txt")  # written by autograder new-course


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """In another course, leave out the tests that rest on this one.

    ``AUTOGRADER_COURSE=FOLDER pytest`` tries the engine with the course of a folder.
    """
    if ROOT == _REPOSITORY:
        return None
    is_folder = collection_path.is_dir()
    path = collection_path / "conftest.py" if is_folder else collection_path
    name = path.relative_to(_REPOSITORY).as_posix()
    return name in _list_tests_of_this_course() or None


@functools.cache
def _list_tests_of_this_course() -> set[str]:
    """The tests that name its package or units, or read its own files."""
    paths = (_REPOSITORY / "tests").rglob("*.py")
    texts = {p.relative_to(_REPOSITORY).as_posix(): p.read_text() for p in paths}
    package = read_settings(_REPOSITORY)["package"]
    reading = {
        name
        for name, text in texts.items()
        if name.startswith(f"tests/{package}/")
        or re.search(r"\bROOT /|authoring\.common import", text)
    }
    names = [package, *(unit.name for unit in units(_REPOSITORY))]
    return reading | find_affected(_REPOSITORY, texts, names)


@pytest.hookimpl(tryfirst=True)  # before groups are looked at
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give slow tests more time before they count as hanging; begin with long ones.

    In a course of some units, or in another one, tests about all of ours are skipped.

    Who shares what a module makes is run by one process, where tests are handed out
    one by one (``make test-slow``).
    """
    items.sort(key=_length, reverse=True)
    is_partial = _SOME.is_file() or ROOT != _REPOSITORY
    for item in items:
        if is_partial and item.get_closest_marker("whole_course"):
            item.add_marker(pytest.mark.skip("this is not the whole course"))
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(_SLOW_SECONDS))
        if _shares(item):
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


def _length(item: pytest.Item) -> float:
    """Seconds that a long test takes, about; 0 if it is none."""
    marker = item.get_closest_marker("long")
    return marker.kwargs.get("seconds", 30.0) if marker else 0.0


def _shares(item: pytest.Item) -> bool:
    """Whether a test uses what is made once for its module."""
    fixtures = item._fixtureinfo.name2fixturedefs
    return any(definitions[-1].scope == "module" for definitions in fixtures.values())


def pytest_collection_finish() -> None:
    """Leave alone what has been imported, from here on."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)  # by default it takes a twentieth of the time
    gc.enable()


def mostly_slow(always: Collection[Unit] = (), number: str = "") -> list:
    """All units; marked slow but for one of a number, and what a change touches."""
    return [
        pytest.param(
            unit,
            id=unit.label,
            marks=[pytest.mark.slow] * (unit.number != number and unit not in always)
            + [pytest.mark.long] * (unit.number >= "04"),
        )
        for unit in units()
    ]


def row(*numbers: float) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.float32)


def start_kernels_with(monkeypatch: pytest.MonkeyPatch, provisioner: str) -> None:
    """Have this test's kernels, also in other processes, come from a provisioner."""
    # The factory reads the environment only once, at its first use in a process.
    factory = KernelProvisionerFactory.instance()
    monkeypatch.setattr(factory, "default_provisioner_name", provisioner)
    monkeypatch.setenv(factory.default_provisioner_name_env, provisioner)


@pytest.fixture
def doubling() -> Exercise:
    """An exercise of two cases, "double each number", with one named mistake."""
    cases = tuple(
        Case(
            name,
            name,
            "Is each number twice as large?",
            {"x": x},
            {"twice": 2 * x},
            {"tripled": {"twice": 3 * x}},
            hidden=name == "secret",
        )
        for name, x in (("plain", row(1, 2, 3)), ("secret", row(-4, 5, 6)))
    )
    mistake = Mistake("tripled", "You tripled with `3 * x`.", "How many are two?")
    return Exercise("tiny/double", "Doubling", 10.0, cases, {"tripled": mistake})


@pytest.fixture
def tiny_exercise(monkeypatch) -> Specification:
    """The exercise "double each number", with all that a unit of its own would have."""
    solutions = ModuleType(f"{PACKAGE}.solutions.tiny")
    source = "def double(x):\n    return 2 * x\n"
    run_source(source, vars(solutions), "<solutions of tiny>")
    monkeypatch.setitem(sys.modules, solutions.__name__, solutions)
    monkeypatch.setitem(sys.modules, f"{PACKAGE}.tiny.probes", ModuleType("probes"))

    @probe("tiny/double", results="twice")
    def double(function, inputs):
        return {"twice": tensor(function(inputs["x"]), "twice")}

    specification = Specification(
        name="tiny/double",
        target="double",
        cases=[case("plain", "a vector", lambda draw: {"x": draw.tensor(3)}, "Twice?")],
        mutants=[wrong("tripled", "You tripled.", "How many?", edit("2 *", "3 *"))],
        accepted=[right("added", edit("2 * x", "x + x"))],
    )
    exercise = ModuleType(f"{PACKAGE}.tiny.exercises.double")
    exercise.EXERCISE = specification
    monkeypatch.setitem(sys.modules, exercise.__name__, exercise)
    return specification
