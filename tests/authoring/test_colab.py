"""A notebook's first cell finds the checks, or says which command installs them."""

import sys
import types

import pytest

from autograder.authoring.colab import DISTRIBUTION, published
from autograder.classroom.publishing import wheel
from autograder.course import ROOT, find_unit
from autograder.course.errors import CourseError
from tests.throwaway import Student

UNIT = find_unit("multi_head_attention")
CELL = published().first_cells(UNIT)[1]
LATEST = "https://raw.githubusercontent.com/transformer-course/student/main/checks.txt"
FOREIGN = {"autograder/__init__.py": b"grade = print\n"}


def checks(version):
    """The part of a kit's wheel that the first cell asks."""
    names = (
        *("__init__.py", "checks/__init__.py", "checks/language.py"),
        *("checks/words.py", "checks/installed.py"),
    )
    files = {f"autograder/{n}": (ROOT / "autograder" / n).read_bytes() for n in names}
    stamp = f'VERSION = "{version}"'.encode()
    name = f"autograder/{names[-1]}"
    files[name] = files[name].replace(b'VERSION = ""', stamp)
    return files


def make(folder, name, version, files):
    path = folder / wheel.file_name(name, version)
    path.write_bytes(wheel.write(name, version, files))
    return path


@pytest.fixture
def course(tmp_path):
    """A student's copy of the course, with a notebook's folder and unit 3's wheel."""
    folder = tmp_path / "the course, übung"
    (folder / "notebooks").mkdir(parents=True)
    path = make(folder, DISTRIBUTION, "3.14", checks("3.14"))
    (folder / "checks.txt").write_text(f"{DISTRIBUTION} @ https://x.org/{path.name}\n")
    return folder


@pytest.fixture
def student(tmp_path):
    return Student(tmp_path)


def test_it_names_the_wheel_in_the_course_s_folder(course, student):
    at = course / "notebooks"
    says = student.fails(CELL, at=at)
    assert says == (
        "ImportError: No module named 'autograder'. Run `%pip install "
        "../transformer_course_student-3.14-py3-none-any.whl` in a new cell, "
        "then restart the kernel."
    )
    student.told(says, at=at)
    assert student.fails(CELL, at=at) == ""


def test_elsewhere_or_in_an_older_folder_it_names_the_published_one(course, student):
    assert f"`%pip install -r {LATEST}`" in student.fails(CELL)
    next_unit = published().first_cells(find_unit("encoder_decoder"))[1]
    assert f"`%pip install -r {LATEST}`" in student.fails(
        next_unit, at=course / "notebooks"
    )


def test_another_package_of_that_name_is_noticed_before_and_after(course, student):
    """A stranger's, or what the kit's wheel was called in an earlier term."""
    at = course / "notebooks"
    other = make(course, "autograder", "1.0.0", FOREIGN)
    student.install(other)
    says = student.fails(CELL, at=at)
    assert "cannot import name 'needs' from 'autograder' (" in says
    student.told(says, at=at)
    assert student.fails(CELL, at=at) == ""
    student.install("--force-reinstall", other)
    says = student.fails(CELL, at=at)
    assert "`%pip install --force-reinstall --no-deps ../transf" in says
    student.told(says, at=at)
    assert student.fails(CELL, at=at) == ""


@pytest.mark.parametrize(
    "line",
    [
        b"\xff\xfe\x00 no UTF-8", b"x @ https://x.org/transformer_course_student-\x1b[2J",
        f"x @ https://x.org/transformer_course_student-{'9' * 5_000}.1-x.whl".encode(),
    ],
)  # fmt: skip
def test_a_damaged_list_of_checks_is_as_good_as_none(tmp_path, monkeypatch, line):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "checks.txt").write_bytes(line)
    monkeypatch.chdir(tmp_path / "notebooks")
    exec(CELL, {})
    monkeypatch.setitem(sys.modules, "autograder", None)  # nothing of that name
    with pytest.raises(ImportError, match=f"install -r {LATEST}`"):
        exec(CELL, {})


class Shell:
    """Colab's, whose %pip does not get anything."""

    def __init__(self):
        self.asked = []

    def run_line_magic(self, *arguments):
        self.asked.append(arguments)


def test_in_colab_a_download_that_failed_is_an_error_that_says_so(monkeypatch):
    shell = Shell()
    monkeypatch.setitem(sys.modules, "google.colab", types.ModuleType("google.colab"))
    monkeypatch.setitem(sys.modules, "autograder", None)  # nothing of that name
    with pytest.raises(ImportError, match=f"tell your teachers: {LATEST} cannot"):
        exec(CELL, {"get_ipython": lambda: shell})
    assert shell.asked == [("pip", f"install -q -r {LATEST}")]


def test_in_the_course_s_own_folder_it_says_nothing_and_leaves_one_name():
    names = {}
    exec(CELL, names)
    assert names.keys() - {"__builtins__"} == {"find_checks"}


def test_an_owner_is_in_all_addresses():
    there = published(owner="ada-l")
    badge, code = there.first_cells(UNIT)
    assert "/github/ada-l/student/blob/main/notebooks/03_multi_head" in badge
    assert "githubusercontent.com/ada-l/student/main/checks.txt" in code
    assert "transformer-course/" not in badge + code


@pytest.mark.parametrize("owner", ["ada l", "ada/student", "-ada", "a" * 40, "ada\n"])
def test_what_cannot_be_an_account_is_refused(owner):
    with pytest.raises(CourseError, match="not a GitHub account"):
        published(owner=owner)
