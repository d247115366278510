"""The student kit works alone and holds nothing that a student should not see."""

import subprocess
import sys
import zipfile
from pathlib import PurePath

import nbformat
import pytest

from autograder.authoring import notebook, release
from autograder.course import ROOT, find_unit, units
from autograder.publishing import kit


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kit") / "student"
    kit.build(kit.first_unit(), folder)
    return folder


def texts(folder):
    """Every file of the kit, those in its wheel too, as text."""
    for path in folder.rglob("*"):
        if path.suffix == ".whl":
            with zipfile.ZipFile(path) as wheel:
                for name in wheel.namelist():
                    yield name, wheel.read(name).decode(errors="replace")
        elif path.is_file():
            yield path.name, path.read_text(encoding="utf-8")


def test_it_holds_all_notebooks_a_wheel_and_a_readme(built):
    names = {path.name for path in built.rglob("*") if path.is_file()}
    notebooks = {f"{unit.label}.ipynb" for unit in kit.shown_units(kit.first_unit())}
    assert len(notebooks) >= 2
    texts = {"README.md", "student.md", "environment.yml", "LICENSE", "LICENSE-TEXT"}
    assert names == notebooks | texts | {notebook.wheel_name()}


def test_the_kit_to_start_a_term_with_holds_no_solution(built):
    names = [name for name, _ in texts(built) if "/solutions/" in name]
    assert names == ["autograder/solutions/__init__.py"]


def test_it_holds_no_hidden_reference_and_nothing_of_the_instructors(built):
    names = [name for name, _ in texts(built)]
    for word in ("hidden", "bank", "build", "grading", "kernel", "classroom"):
        assert not [n for n in names if word in n.split("/")], word


@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_the_kit_of_a_unit_holds_the_solutions_of_those_before_and_no_other(unit):
    files = [PurePath(name) for name in kit.contents(unit)]
    found = {f.stem for f in files if f.parts[0] == "solutions"} - {"__init__"}
    before = {u.name for u in units() if u.label < unit.label}
    assert found == (before if kit.needs_solutions(unit) else set())


@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_the_kit_of_a_unit_holds_nothing_of_later_ones(unit):
    """Nor their probes, which a unit may have in a folder: some compute answers."""
    files = [PurePath(name) for name in kit.contents(unit)]
    later = {u.name for u in units() if u.label > unit.label}
    assert not [f for f in files if later & {f.stem, *f.parts}]
    own = [f for f in files if unit.name in {f.stem, *f.parts}]
    assert {f.parts[1] for f in own} >= {"probes", "public"}


@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_the_kit_of_a_unit_shows_no_line_of_its_solutions(unit):
    package = ROOT / "autograder"
    # Solutions of earlier units may share a line; they are meant to be inside.
    names = [n for n in kit.contents(unit) if not n.startswith("solutions/")]
    shipped = [(package / name).read_bytes() for name in names]
    everything = b"\n".join([*shipped, unit.release.read_bytes()]).decode(
        errors="replace"
    )
    for cell in notebook.read(unit):
        for line in release.solution_lines(cell):
            # A short line, like the making of a generator, is anybody's code.
            assert len(line) < 32 or line not in everything, line


def test_students_do_not_get_the_instructors_tools(built):
    for name in ("README.md", "environment.yml"):
        text = (built / name).read_text(encoding="utf-8")
        assert "jupyterlab" in text and "nbgrader" not in text


def test_it_works_alone(built, tmp_path):
    """Installed from its wheel, a check finds its references and names a mistake."""
    target = tmp_path / "site"
    wheel = built / notebook.wheel_name()
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--target", target, wheel], check=True, stdout=sys.stderr)
    code = (
        f"import sys; sys.path.insert(0, {str(target)!r})\n"
        "import autograder; assert autograder.__file__.startswith(sys.path[0])\n"
        "autograder.check('attention/causal_mask', lambda n: None)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert "0 of" in done.stdout, done.stdout + done.stderr


def test_the_kit_of_the_project_holds_its_words_and_the_checkpoint_that_ships(tmp_path):
    kit.build(find_unit("text_recovery"), tmp_path / "student")
    site, wheel = tmp_path / "site", tmp_path / "student" / notebook.wheel_name()
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--target", site, wheel], check=True, stdout=sys.stderr)
    models = sorted(
        str(p.relative_to(site)) for p in site.rglob("recovery.safetensors")
    )
    assert models == ["autograder/assets/recovery.safetensors"]
    code = (
        f"import sys; sys.path.insert(0, {str(site)!r})\n"
        "from autograder.solutions import encoder_decoder\n"
        "from autograder.student.recovery import checkpoint, corpora\n"
        "assert corpora.__file__.startswith(sys.path[0])\n"
        "model, tokenizer = checkpoint.load(\n"
        "    checkpoint.shipped(), encoder_decoder, lambda word, merges: list(word))\n"
        "print(len(corpora.generate('a', 3)), checkpoint.handed_in())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout == "3 my_recovery.safetensors\n", done.stderr


def test_release_notebooks_start_with_badge_and_kit_cell(built):
    for unit in kit.shown_units(kit.first_unit()):
        book = nbformat.read(built / "notebooks" / f"{unit.label}.ipynb", as_version=4)
        assert book.cells[0].source == notebook.badge(unit)
        assert '"google.colab" in sys.modules' in book.cells[1].source
        assert notebook.wheel_name() in book.cells[1].source
