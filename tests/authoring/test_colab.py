"""Below a notebook's title, a folded cell finds the checks, or installs them."""

import types

import nbformat
import pytest

from autograder.authoring import notebook
from autograder.authoring.colab import published
from autograder.checks.installed import wheel_name
from autograder.classroom.publishing import wheel
from autograder.course import ROOT, find_unit, settings, units
from autograder.course.errors import CourseError
from autograder.course.notebooks import BADGE, FINDER
from tests.throwaway import Student

UNIT, OWN, NEEDED = find_unit("multi_head_attention"), "3.261128.930", "3.261129.15"
LATEST = "https://raw.githubusercontent.com/ada-l/student/main/checks.txt"
# A notebook's shell, as far as the cell uses it: what it would install is printed.
SHELL = """
class Shell:
    def run_line_magic(self, magic, line):
        print(magic, line)

get_ipython = Shell
"""


def cell(version="", owner=""):
    return published(owner=owner).generated_cells(UNIT, version)[FINDER]


def checks(version, latest=""):
    """The part of a kit's wheel that the cell asks."""
    names = (
        *("__init__.py", "aliases.py", "root.py"),
        *("checks/__init__.py", "checks/language.py"),
        *("checks/words.py", "checks/frontend.py", "checks/installed.py"),
    )
    files = {f"autograder/{n}": (ROOT / "autograder" / n).read_bytes() for n in names}
    files["autograder/course.toml"] = (ROOT / "course.toml").read_bytes()
    for name, value in (("VERSION", version), ("LATEST", latest)):
        files[f"autograder/{names[-1]}"] = files[f"autograder/{names[-1]}"].replace(
            f'{name} = ""'.encode(), f'{name} = "{value}"'.encode()
        )
    return files


def make(folder, version, latest=""):
    path = folder / wheel_name(version)
    path.write_bytes(
        wheel.write(settings()["distribution"], version, checks(version, latest))
    )
    return path


def install_own(folder):
    """A student whose environment has the wheel of an unpublished kit."""
    student = Student(folder)
    student.install(make(folder, OWN))
    return student


@pytest.fixture
def student(tmp_path):
    return install_own(tmp_path)


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """A student who installs nothing else."""
    return install_own(tmp_path_factory.mktemp("reader"))


@pytest.fixture
def place(tmp_path):
    """The folder of the notebooks, in that of the course."""
    place = tmp_path / "the course, übung" / "notebooks"
    place.mkdir(parents=True)
    return place


@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_a_notebook_opens_with_its_title_and_folds_what_finds_the_checks(unit):
    """The title and its first sentences fill less than a screen of 900 pixels."""
    text = notebook.to_source(unit, notebook.read(unit))
    title, badge, finder, *_ = nbformat.reads(text, as_version=4).cells
    assert title.source.startswith(f"# {int(unit.number)} · ")
    assert 40 <= len(title.source.split()) <= 130
    assert (badge.id, finder.id) == (BADGE, FINDER)
    assert len(badge.source.splitlines()) == 1
    assert len(finder.source.splitlines()) <= 4
    assert finder.metadata["jupyter"]["source_hidden"]
    assert finder.metadata["cellView"] == "form"


def test_it_accepts_checks_that_are_new_enough(reader, place):
    for version in ("", "3.261127.2359", OWN, "2.261231.0"):
        assert reader.says(cell(version), at=place) == ""


def test_it_names_the_wheel_in_the_course_s_folder(student, place):
    newer = make(place.parent, NEEDED)
    message = student.fails(cell(NEEDED), at=place)
    assert message == (
        f"ImportError: This notebook needs version {NEEDED} of the checks, but version "
        f"{OWN} is installed. Run `%pip install ../{newer.name}` in a new cell, then "
        "restart the kernel."
    )
    student.told(message, at=place)
    assert student.says(cell(NEEDED), at=place) == ""


def test_a_notebook_alone_notices_old_checks_and_names_where_newer_are(student, place):
    message = student.fails(cell(NEEDED), at=place)
    assert f"Ask your teachers for the file {wheel_name(NEEDED)}" in message
    student.install("--force-reinstall", make(student.folder, OWN, LATEST))
    assert f"`%pip install -r {LATEST}`" in student.fails(cell(NEEDED), at=place)


def test_checks_of_an_earlier_unit_are_too_old_whatever_their_day(reader, place):
    later = published().generated_cells(find_unit("encoder_decoder"))[FINDER]
    message = reader.fails(later, at=place)
    assert "The installed checks go up to unit 3, and this is unit 4" in message


@pytest.mark.parametrize(
    ("owner", "source"),
    [("ada-l", f"-r {LATEST}"), ("", f"../{wheel_name(NEEDED)}")],
)
def test_where_none_are_installed_it_installs_them(tmp_path, owner, source):
    """The published ones; of a kit that is not published, the wheel beside it."""
    student = Student(tmp_path)
    code = f"{SHELL}\ntry:\n" + "\n".join(
        f"    {line}" for line in cell(NEEDED, owner).splitlines()
    )
    output = student.says(f"{code}\nexcept ImportError as error:\n    print(error)")
    assert output.splitlines() == [
        f"pip install -q {source}", "No module named 'autograder'",
    ]  # fmt: skip


def test_what_to_do_after_a_failure_is_in_the_line_that_fails(tmp_path):
    assert "fails? Restart the kernel" in cell(NEEDED).splitlines()[-1]
    stranger = types.ModuleType("autograder")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(__import__("sys").modules, "autograder", stranger)
        names = {}
        exec(SHELL, names)
        with pytest.raises(ImportError, match="cannot import name 'require_checks'"):
            exec(cell(NEEDED), names)


def test_in_the_course_s_own_folder_it_says_nothing_and_leaves_one_name(capsys):
    names = {}
    exec(cell(), names)
    assert names.keys() - {"__builtins__"} == {"require_checks"}
    assert capsys.readouterr().out == ""


def test_an_owner_is_in_all_addresses():
    badge, code = published(owner="ada-l").generated_cells(UNIT).values()
    assert "/github/ada-l/student/blob/main/notebooks/03_multi_head" in badge
    assert "github.com/ada-l/student/blob/main/student.md#ai-assistants" in badge
    assert "githubusercontent.com/ada-l/student/main/checks.txt" in code
    assert "transformer-course/" not in badge + code


def test_what_a_notebook_links_to_is_a_heading_of_the_students_guide():
    text = (ROOT / "docs" / "student.md").read_text(encoding="utf-8")
    assert "\n## AI assistants\n" in text
    assert "](../student.md#ai-assistants)" in published().generated_cells(UNIT)[BADGE]


@pytest.mark.parametrize("owner", ["ada l", "ada/student", "-ada", "a" * 40, "ada\n"])
def test_what_cannot_be_an_account_is_refused(owner):
    with pytest.raises(CourseError, match="not a GitHub account"):
        published(owner=owner)
