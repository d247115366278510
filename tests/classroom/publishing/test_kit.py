"""The student kit works alone and holds nothing that a student should not see."""

import datetime
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import PurePath

import nbformat
import pytest
import yaml

from autograder.authoring import assistants, colab, notebook, release
from autograder.authoring.solutions import builds_on
from autograder.classroom.publishing import kit
from autograder.course import Unit, find_unit, units
from autograder.course.errors import CourseError
from autograder.course.notebooks import FINDER
from autograder.grading import dates as due_dates


@pytest.fixture(scope="module", autouse=True)
def one_minute():
    """All kits are made in the same minute: 09:30 UTC on 28 November 2026."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1795858200")
        yield


@pytest.fixture(scope="module")
def built_kit(tmp_path_factory, one_minute):
    folder = tmp_path_factory.mktemp("kit") / "student"
    kit.build(kit.first_unit(), folder)
    return folder


@pytest.fixture(scope="module")
def kit_of_an_owner(tmp_path_factory, one_minute):
    """The same kit, with the addresses of somebody's own account."""
    folder = tmp_path_factory.mktemp("owned") / "student"
    kit.build(kit.first_unit(), folder, colab.published(owner="ada-l"))
    return folder


def wheel_in(folder):
    (wheel,) = folder.glob("*.whl")
    return wheel


def texts(folder):
    """Every file of the kit, those in its wheel too, as text."""
    for path in folder.rglob("*"):
        if path.suffix == ".whl":
            with zipfile.ZipFile(path) as wheel:
                for name in wheel.namelist():
                    yield name, wheel.read(name).decode(errors="replace")
        elif path.is_file():
            yield path.name, path.read_text(encoding="utf-8")


def test_it_holds_all_notebooks_a_wheel_and_a_readme(built_kit):
    names = {path.name for path in built_kit.rglob("*") if path.is_file()}
    notebooks = {f"{unit.label}.ipynb" for unit in kit.notebook_units(kit.first_unit())}
    assert len(notebooks) >= 2
    texts = {"README.md", "student.md", "environment.yml", "LICENSE", "LICENSE-TEXT"}
    rules = {PurePath(name).name for name in assistants.FILES}
    assert names == notebooks | texts | rules | {"checks.txt", wheel_in(built_kit).name}


def test_students_read_when_each_unit_is_due(tmp_path, monkeypatch):
    first = units()[0]
    dates = {first.label: datetime.datetime(2026, 11, 30, 22, 59)}
    monkeypatch.setattr(kit.gradebook, "due_dates", lambda root: dates)
    kit.build(units()[1], tmp_path / "student")
    line = due_dates.describe_due(dates[first.label])
    readme = (tmp_path / "student" / "README.md").read_text(encoding="utf-8")
    assert readme.count(f"| {line} |") == 1 and readme.count("|  |") == 1
    for unit in units()[:2]:
        path = tmp_path / "student" / "notebooks" / unit.release.name
        assert (f"**Due {line}**" in path.read_text("utf-8")) == (unit == first)


def test_its_wheel_states_the_license_that_the_course_states(built_kit):
    (text,) = (text for name, text in texts(built_kit) if name.endswith("/METADATA"))
    assert "License: MIT\n" in text


def test_the_kit_to_start_a_term_with_holds_no_solution(built_kit):
    names = [name for name, _ in texts(built_kit) if "/solutions/" in name]
    assert names == ["transformer_course/solutions/__init__.py"]


def test_it_holds_no_hidden_reference_and_nothing_of_the_instructors(built_kit):
    names = [name for name, _ in texts(built_kit)]
    for word in ("hidden", "exercises", "authoring", "grading", "sandbox", "classroom"):
        assert not [n for n in names if word in n.split("/")], word


@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_the_kit_of_a_unit_holds_the_solutions_of_those_before_and_no_other(unit):
    files = [PurePath(name) for name in kit.contents(unit)]
    solutions = {f.stem for f in files if f.parts[1] == "solutions"} - {"__init__"}
    before = {u.name for u in units() if u.label < unit.label}
    assert solutions == (before if builds_on(unit) else set())


@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_the_kit_of_a_unit_holds_nothing_of_later_ones(unit):
    """Nor their probes, which a unit may have in a folder: some compute answers."""
    files = [PurePath(name) for name in kit.contents(unit)]
    later = {u.name for u in units() if u.label > unit.label}
    assert not [f for f in files if later & {f.stem, *f.parts}]
    unit_files = [f for f in files if unit.name in {f.stem, *f.parts}]
    assert {"probes", "public"} <= {part for f in unit_files for part in f.parts}


@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_the_kit_of_a_unit_shows_no_line_of_its_solutions(unit):
    # Solutions of earlier units may share a line; they are meant to be inside.
    paths = [p for n, p in kit.contents(unit).items() if "/solutions/" not in n]
    shipped = [path.read_bytes() for path in paths]
    everything = b"\n".join([*shipped, unit.release.read_bytes()])
    for cell in notebook.read(unit):
        for line in release.solution_lines(cell):
            # A short line, like the making of a generator, is anybody's code.
            assert len(line) < 32 or line.encode() not in everything, line


def test_students_get_what_they_need_and_not_the_instructors_tools(built_kit):
    listed = yaml.safe_load((built_kit / "environment.yml").read_text())["dependencies"]
    *conda, by_pip = listed
    assert {entry.split()[0] for entry in conda} == {
        "python=3.12", "pip", "pytorch", "numpy", "safetensors", "matplotlib-base",
        "seaborn", "tqdm", "sacrebleu", "jaxtyping", "jupyterlab", "ipywidgets",
        "ipykernel",
    }  # fmt: skip
    lemmas, wheel = by_pip["pip"]
    assert lemmas.split()[0] == "simplemma" and wheel == f"./{wheel_in(built_kit).name}"
    readme = (built_kit / "README.md").read_text(encoding="utf-8")
    assert f"pip install {wheel_in(built_kit).name} jupyterlab ipywidgets\n" in readme
    for text in (readme, "\n".join([*conda, *by_pip["pip"]])):
        assert "nbgrader" not in text and "<" not in text


def test_its_readme_names_the_pythons_that_the_course_was_tried_with(built_kit):
    readme = (built_kit / "README.md").read_text(encoding="utf-8")
    assert "Python 3.11 to 3.14, " in readme and kit.pythons() == "3.11 to 3.14"


def test_its_readme_leads_from_the_download_to_the_first_notebook(
    built_kit, kit_of_an_owner
):
    readme = (built_kit / "README.md").read_text(encoding="utf-8")
    steps = (
        "Unpack this folder", "python -m venv .venv", "source .venv/bin/activate",
        "pip install torch --index-url https://download.pytorch.org/whl/cpu",
        f"pip install {wheel_in(built_kit).name}", "jupyter lab notebooks",
    )  # fmt: skip
    places = [readme.index(step) for step in steps]
    assert places == sorted(places)
    assert "1.5 GB" in readme and "ten minutes" in readme and "git clone" not in readme
    row = "| [2 · Attention](notebooks/02_attention.ipynb) | about 2½ hours | "
    assert row in readme
    published = (kit_of_an_owner / "README.md").read_text(encoding="utf-8")
    assert "git clone https://github.com/ada-l/student\n   cd student\n" in published


def test_nothing_tells_a_student_to_install_a_stranger_s_package(built_kit):
    for name, text in texts(built_kit):
        assert not re.search(r"pip install [^`\n]*\bautograder\b", text), name


def test_it_works_alone(built_kit, tmp_path):
    """From its wheel alone, a check finds its references and names a mistake."""
    target = tmp_path / "site"
    shutil.unpack_archive(wheel_in(built_kit), target, "zip")
    code = (
        f"import sys; sys.path.insert(0, {str(target)!r})\n"
        "import autograder; assert autograder.__file__.startswith(sys.path[0])\n"
        "autograder.check('attention/softmax', lambda x: None)\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert "0 of" in process.stdout, process.stdout + process.stderr


def test_the_kit_of_the_project_holds_its_words_and_the_checkpoint_that_ships(tmp_path):
    kit.build(find_unit("text_recovery"), tmp_path / "student")
    site = tmp_path / "site"
    shutil.unpack_archive(wheel_in(tmp_path / "student"), site, "zip")
    models = sorted(
        str(p.relative_to(site)) for p in site.rglob("recovery.safetensors")
    )
    assert models == ["transformer_course/assets/recovery.safetensors"]
    code = (
        f"import sys; sys.path.insert(0, {str(site)!r})\n"
        "from transformer_course.solutions import encoder_decoder\n"
        "from transformer_course.library import checkpoint, corpora\n"
        "assert corpora.__file__.startswith(sys.path[0])\n"
        "model, tokenizer = checkpoint.load(\n"
        "    checkpoint.shipped(), encoder_decoder, lambda word, merges: list(word))\n"
        "print(len(corpora.generate('a', 3)), checkpoint.handed_in())\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert process.stdout == "3 my_recovery.safetensors\n", process.stderr


def test_its_notebooks_are_the_released_ones_and_ask_for_its_checks(built_kit):
    for unit in kit.notebook_units(kit.first_unit()):
        book = nbformat.read(built_kit / "notebooks" / unit.release.name, as_version=4)
        release = nbformat.read(unit.release, as_version=4)
        for cell, released in zip(book.cells, release.cells, strict=True):
            if cell.id == FINDER:
                requirement = f'require_checks({int(unit.number)}, "2.261128.930")'
                assert requirement in cell.source
                assert "require_checks" in released.source
                released.source = cell.source
            assert cell == released


def test_an_owner_is_in_every_badge_and_in_every_line_that_installs(
    built_kit, kit_of_an_owner
):
    texts_of_owner = dict(texts(kit_of_an_owner))
    changed = {name for name, text in texts(built_kit) if texts_of_owner[name] != text}
    notebooks = {f"{unit.label}.ipynb" for unit in kit.notebook_units(kit.first_unit())}
    stamped = "autograder/checks/installed.py"
    (record,) = (name for name in changed if name.endswith("/RECORD"))
    assert changed == {"README.md", "checks.txt", stamped, record, *notebooks}
    for name in changed - {record}:
        assert "ada-l/student/" in texts_of_owner[name]
        assert "transformer-course/student/" not in texts_of_owner[name]


def test_the_kit_of_a_course_ends_where_solutions_are_needed(monkeypatch):
    one, two, three = (Unit(f"0{n}", "a", PurePath()) for n in (1, 2, 3))
    monkeypatch.setattr(kit, "builds_on", lambda unit: unit in (one, three))
    monkeypatch.setattr(kit, "units", lambda: [one, two, three])
    assert kit.first_unit() == two, "no unit is earlier than the first"
    monkeypatch.setattr(kit, "units", list)
    with pytest.raises(CourseError, match="has no unit: write notebooks/01_NAME"):
        kit.first_unit()


def test_a_release_without_its_first_cells_says_how_to_build_it(tmp_path):
    unit = Unit("01", "positional_encoding", tmp_path)
    unit.release.parent.mkdir(parents=True)
    cells = [nbformat.v4.new_markdown_cell("# 1 · A title")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), unit.release)
    with pytest.raises(CourseError, match="run make build UNIT=01"):
        kit._notebook(unit, colab.published(), "1.261128.930")


def test_assistants_find_the_course_s_policy_wherever_they_look(built_kit):
    texts = {(built_kit / name).read_text("utf-8") for name in assistants.FILES}
    assert texts == {assistants.policy().rules}
