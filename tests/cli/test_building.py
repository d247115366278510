"""Units are built at once, and say what they would say one after the other."""

from __future__ import annotations

import os
import signal
import threading
from argparse import Namespace

import pytest

from autograder.cli import building
from autograder.cli.building import Outcome
from autograder.course import Unit
from autograder.course.errors import CourseError


@pytest.fixture
def make_units(tmp_path, monkeypatch):
    """Units whose build is ``build``; the one named "changed" has new solutions."""
    monkeypatch.setattr(
        "autograder.authoring.course.changes_solutions", lambda u: u.name == "changed"
    )

    def make_units(build, *names: str) -> list[Unit]:
        monkeypatch.setattr(building, "_build", build)
        return [Unit(f"{n:02}", name, tmp_path) for n, name in enumerate(names, 1)]

    return make_units


def list_built(unit: Unit, *_: str) -> Outcome:
    """Pretend a build that prints which units have been built before."""
    earlier = sorted(path.name for path in unit.root.iterdir())
    (unit.root / unit.label).touch()
    faults = [f"{unit.label}: broken"] if unit.name == "broken" else []
    return [f"{unit.label} after {earlier}"], [f"{unit.label} warns"], faults


def die(*_) -> Outcome:
    os._exit(1)


def interrupt(unit: Unit, *_: str) -> Outcome:
    if unit.name == "one":
        os.kill(os.getppid(), signal.SIGINT)
    threading.Event().wait()  # for ever
    raise AssertionError


def test_units_are_built_after_those_whose_solutions_change(make_units, capsys):
    units = make_units(list_built, "changed", "broken", "last")
    options = Namespace(jobs=2, edition="", given="")
    with pytest.raises(CourseError, match=r"^02_broken: broken$"):
        building.build_units(units[::-1], options)
    output, errors = map(str.splitlines, capsys.readouterr())
    assert [line[:2] for line in output] == ["03", "02", "01"]  # as they were named
    assert all("after ['01_changed'" in line for line in output[:2])
    assert len(errors) == 3


def test_a_process_that_dies_is_a_fault(make_units):
    options = Namespace(jobs=2, edition="", given="")
    with pytest.raises(CourseError, match=r"^a process that built units died; "):
        building.build_units(make_units(die, "one", "two"), options)


def test_an_interrupted_build_ends_its_processes(make_units):
    options = Namespace(jobs=2, edition="", given="")
    # A process of pytest-xdist ignores Ctrl-C.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            building.build_units(make_units(interrupt, "one", "two"), options)
    finally:
        signal.signal(signal.SIGINT, handler)
