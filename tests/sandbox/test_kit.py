"""A sandbox sees the interpreter and what ships to students, and nothing twice."""

import sys
from pathlib import Path

import pytest

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
    monkeypatch.setattr(kit, "find_courses", dict)
    monkeypatch.setattr(kit, "KIT", {ENGINE: ("checks", "no_such_folder")})
    assert kit.kit_paths() == (str(ENGINE / "checks"), str(ROOT / "course.toml"))


def test_the_running_interpreter_and_its_packages_can_be_seen():
    paths = [Path(path) for path in kit.interpreter_paths()]
    for needed in (sys.executable, sys.prefix, __import__("torch").__file__):
        for path in (Path(needed).absolute(), Path(needed).resolve()):
            assert any(path.is_relative_to(place) for place in paths), path


def test_no_path_lies_below_another_and_each_is_there():
    paths = [Path(path) for path in kit.interpreter_paths()]
    for path in paths:
        assert path.exists() or path.is_symlink()
        assert not any(
            path.is_relative_to(second) for second in paths if second != path
        )


@pytest.fixture
def prefix(tmp_path, monkeypatch) -> Path:
    """An interpreter's folder; nothing is looked up that is remembered of another."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "prefix"))
    for name in ("find_courses", "interpreter_paths"):
        monkeypatch.setattr(kit, name, getattr(kit, name).__wrapped__)
    return tmp_path / "prefix"


def put(site: Path, *names: str) -> Path:
    """Make empty files below a folder of packages."""
    for name in names:
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).touch()
    return site


def test_every_installed_course_is_hidden_but_for_what_ships(
    prefix, tmp_path, monkeypatch
):
    parts = ("unit.toml", "exercises/a.py", "probes/__init__.py", "library/b.py")
    names = [f"algebra/rings/{part}" for part in parts]
    names += ["algebra/__init__.py", "algebra/solutions/rings.py", "numpy/lib/c.py"]
    environment = put(prefix / "lib" / "python3.11" / "site-packages", *names)
    inner = put(prefix / "envs" / "x" / "lib" / "python3" / "site-packages", names[0])
    copies = [f"{CONTENT.name}/solutions/d.py", f"{ENGINE.name}/checks/e.py"]
    user = put(tmp_path / "user" / "site-packages", *copies)
    monkeypatch.setattr(sys, "path", [*sys.path, str(user)])

    hidden = {environment / "algebra", inner / "algebra"}
    hidden |= {user / CONTENT.name, user / ENGINE.name}
    assert {ENGINE, CONTENT, *hidden} <= {*map(Path, kit.list_hidden())}
    visible = {Path(path) for path in kit.kit_paths()}
    shipped = {path for path in visible if path.is_relative_to(tmp_path)}
    algebra = environment / "algebra"
    rooms = {algebra / "rings" / room for room in ("probes", "library")}
    engine = user / ENGINE.name / "checks"
    assert shipped == {algebra / "__init__.py", engine, *rooms}
    assert environment / "numpy" not in map(Path, kit.list_hidden())


def test_a_course_is_hidden_by_where_it_really_is(prefix, tmp_path, monkeypatch):
    names = ("algebra/rings/unit.toml",)
    site = put(tmp_path / "real" / "lib" / "python3.11" / "site-packages", *names)
    prefix.symlink_to("real")
    assert site / "algebra" in map(Path, kit.list_hidden())
    assert site / "algebra" in kit.packages()


def test_a_course_whose_units_have_no_manifest_is_hidden_as_well(prefix):
    """As `autograder init` starts it; a package that merely has exercises is none."""
    names = ("signals/first/exercises/a.py", "signals/solutions/first.py")
    site = prefix / "lib" / "python3.11" / "site-packages"
    put(site, *names, "gym/legs/exercises/b.py")
    hidden = {*map(Path, kit.list_hidden())}
    assert site / "signals" in hidden and site / "gym" not in hidden


@pytest.mark.parametrize("root", ["share/course", "."])
def test_an_environment_in_a_hidden_course_can_be_seen(prefix, monkeypatch, root):
    """As a virtual environment in a course's folder that is below another prefix."""
    course = prefix / root
    site = put(course / "venv" / "lib" / "python3.11" / "site-packages", "torch.py")
    monkeypatch.setattr(kit, "ROOT", course)
    monkeypatch.setattr(sys, "path", [str(site)])
    assert str(course) == kit.list_hidden()[0]
    assert str(site) in kit.interpreter_paths()
