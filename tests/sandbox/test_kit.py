"""A sandbox sees the interpreter and what ships to students, and nothing twice."""

import sys
from pathlib import Path

from autograder.sandbox import kit


def test_what_ships_is_the_students_part_and_no_answer():
    paths = [Path(path).relative_to(kit.PACKAGE) for path in kit.kit_paths()]
    assert Path("checks") in paths and Path("references/public") in paths
    inner = {path.parts[0] for path in paths}
    assert not inner & {"authoring", "grading", "solutions"}
    assert not any({"hidden", "exercises"} & {*path.parts} for path in paths)
    assert {path.name for path in paths if path.parts[0] == "units"} == {
        "library", "probes",
    }  # fmt: skip


def test_what_is_not_there_is_left_out(monkeypatch):
    monkeypatch.setattr(kit, "KIT", ("checks", "no_such_folder"))
    assert kit.kit_paths() == (str(kit.PACKAGE / "checks"),)


def test_the_running_interpreter_and_its_packages_can_be_seen():
    seen = [Path(path) for path in kit.interpreter_paths()]
    for needed in (sys.executable, sys.prefix, __import__("torch").__file__):
        for path in (Path(needed).absolute(), Path(needed).resolve()):
            assert any(path.is_relative_to(place) for place in seen), path


def test_no_path_lies_below_another_and_each_is_there():
    seen = [Path(path) for path in kit.interpreter_paths()]
    for path in seen:
        assert path.exists() or path.is_symlink()
        assert not any(path.is_relative_to(other) for other in seen if other != path)
