"""Kits' wheels replace each other, and touch nothing else that students have."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from autograder.classroom.publishing import kit, wheel
from autograder.course import find_unit, settings
from autograder.course.files import write
from autograder.course.notebooks import FINDER
from tests.throwaway import PIP, Student

NINE_THIRTY = 1_795_858_200  # UTC on 28 November 2026, in seconds
SECOND, THIRD = find_unit("attention"), find_unit("multi_head_attention")
NEWER = {
    "torch": "99.1", "numpy": "98.2", "safetensors": "97.3", "matplotlib": "96.4",
    "seaborn": "95.5", "tqdm": "94.6", "sacrebleu": "93.7", "simplemma": "2.0.0",
    "jaxtyping": "92.8",
}  # fmt: skip


def wheel_in(folder: Path) -> Path:
    (wheel,) = folder.glob("*.whl")
    return wheel


def version_of(folder: Path) -> Version:
    return Version(wheel_in(folder).name.split("-")[1])


@pytest.fixture(scope="module")
def kits(tmp_path_factory):
    """Of unit 2, of unit 3, and of unit 3 after one byte of a check was mended."""
    course = tmp_path_factory.mktemp("course")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", str(NINE_THIRTY))
        yield from build_kits(course)


def build_kits(course):
    two, three, mended = (course / name for name in ("two", "three", "mended"))
    kit.build(SECOND, two)
    kit.build(THIRD, three)
    for path in (
        "docs",
        "LICENSE",
        "LICENSE-TEXT",
        "environment.yml",
        "pyproject.toml",
    ):
        (course / path).symlink_to(kit.ROOT / path)
    copies = {name: course / name for name in kit.contents(THIRD)}
    for name, path in kit.contents(THIRD).items():
        copies[name].parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copies[name])
    with (course / "autograder" / "checks" / "check.py").open("a") as file:
        file.write("#")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kit, "ROOT", course)
        patch.setattr(kit, "contents", lambda last: copies)
        patch.setenv("SOURCE_DATE_EPOCH", str(NINE_THIRTY + 60))
        kit.build(THIRD, mended)
    yield two, three, mended


def test_what_has_not_changed_keeps_its_version_and_its_bytes(
    kits, tmp_path, monkeypatch
):
    three = wheel_in(kits[1])
    kit.build(THIRD, tmp_path / "again")  # in the same minute
    rebuilt = wheel_in(tmp_path / "again")
    assert rebuilt.name == three.name and rebuilt.read_bytes() == three.read_bytes()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(NINE_THIRTY + 86_400))
    kit.build(THIRD, tmp_path / "again")
    assert wheel_in(tmp_path / "again").name == three.name


@pytest.mark.parametrize("seconds", [-86_400, 86_400])
def test_what_has_changed_has_a_later_version_whatever_the_clock_says(
    kits, tmp_path, monkeypatch, seconds
):
    old = tmp_path / "kit" / wheel_in(kits[1]).name
    write(old, wheel_in(kits[2]).read_bytes())
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(NINE_THIRTY + seconds))
    kit.build(THIRD, tmp_path / "kit")
    later = {86_400: "3.261129.930"}.get(seconds, "3.261128.931")
    assert version_of(tmp_path / "kit") == Version(later)


def test_a_version_goes_up_is_short_and_the_same_wherever_it_is_said(kits):
    versions = list(map(version_of, kits))
    assert list(map(str, versions)) == ["2.261128.930", "3.261128.930", "3.261128.931"]
    for folder, version in zip(kits, versions, strict=True):
        with zipfile.ZipFile(wheel_in(folder)) as file:
            info = f"transformer_course_student-{version}.dist-info"
            metadata = file.read(f"{info}/METADATA").decode()
            stamped = file.read("autograder/checks/installed.py").decode()
        assert f"\nVersion: {version}\n" in metadata
        assert f'\nVERSION = "{version}"\n' in stamped
        assert wheel_in(folder).name in (folder / "README.md").read_text()
        assert f"/{wheel_in(folder).name}\n" in (folder / "checks.txt").read_text()


def install_in_turn(student: Student, kits: list[Path]) -> None:
    """The first by hand, the others as the notebooks of unit 3 say."""
    ask = (
        "import importlib.util as find, autograder\n"
        "print(bool(find.find_spec('transformer_course.solutions.attention')))\n"
        "print(open(autograder.__path__[0] + '/checks/check.py').read()[-1] == '#')"
    )
    shows = ["False\nFalse", "True\nFalse", "True\nTrue"]
    for folder, unit, expected in zip(kits, (SECOND, THIRD, THIRD), shows, strict=True):
        place = folder / "notebooks"
        book = nbformat.read(place / f"{unit.label}.ipynb", as_version=4)
        (cell,) = (cell.source for cell in book.cells if cell.id == FINDER)
        message = student.fails(cell, at=place)
        if folder is kits[0]:  # nothing is installed, and this is no notebook
            assert message == "NameError: name 'get_ipython' is not defined"
            student.install("--no-deps", f"../{wheel_in(folder).name}", at=place)
        else:
            assert message.startswith("ImportError: ")
            assert wheel_in(folder).name in message
            student.told(message, at=place)
        assert student.fails(cell, at=place) == ""
        assert student.says(ask) == expected


def test_pip_replaces_one_kit_by_the_next(kits, tmp_path):
    install_in_turn(Student(tmp_path), kits)


@pytest.mark.slow
@pytest.mark.parametrize("requirement", ["pip==23.*", "pip"])
def test_so_do_pip_23_and_the_newest(kits, tmp_path, requirement):
    command = [
        *PIP,
        "download",
        "--quiet",
        "--no-deps",
        "--dest",
        tmp_path,
        requirement,
    ]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip(f"cannot download {requirement}")
    (path,) = tmp_path.glob("pip-*.whl")
    student = Student(tmp_path / "student", (sys.executable, str(path / "pip")))
    install_in_turn(student, kits)


def test_it_asks_for_no_newest_version_of_anything(kits):
    with zipfile.ZipFile(wheel_in(kits[1])) as file:
        (name,) = (n for n in file.namelist() if n.endswith("/METADATA"))
        lines = file.read(name).decode().splitlines()
    key = "Requires-Dist: "
    asks = [Requirement(x.removeprefix(key)) for x in lines if x.startswith(key)]
    assert {required.name for required in asks} == NEWER.keys()
    for required in asks:
        assert {specifier.operator for specifier in required.specifier} == {">="}


def test_beside_newer_packages_it_is_all_that_pip_installs(kits, tmp_path):
    student = Student(tmp_path)
    for name, version in NEWER.items():
        path = tmp_path / f"{name}-{version}-py3-none-any.whl"
        path.write_bytes(wheel.write(name, version, {f"{name}.py": b""}))
    student.install(*sorted(tmp_path.glob("*.whl")))
    report = student.install("-q", "--dry-run", "--report", "-", wheel_in(kits[1]))
    installs = [
        installation["metadata"]["name"]
        for installation in json.loads(report)["install"]
    ]
    assert installs == [settings()["distribution"]]
