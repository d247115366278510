"""A sandbox sees the interpreter and what ships to students, and nothing twice."""

import sys
from pathlib import Path

from autograder.root import CONTENT, ENGINE, ROOT
from autograder.sandbox import kit


def test_what_ships_is_the_students_part_and_no_answer():
    paths = [Path(path) for path in kit.kit_paths()]
    assert {ENGINE / "checks", CONTENT / "references" / "public"} <= {*paths}
    inner = {part for path in paths for part in path.relative_to(ROOT).parts}
    assert not inner & {"authoring", "grading", "solutions", "hidden", "exercises"}
    of_units = {path.name for path in paths if (path.parent / "unit.toml").is_file()}
    assert of_units == {"library", "probes"}


def test_what_is_not_there_is_left_out(monkeypatch):
    monkeypatch.setattr(kit, "KIT", {ENGINE: ("checks", "no_such_folder")})
    assert kit.kit_paths() == (str(ENGINE / "checks"), str(ROOT / "course.toml"))


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
