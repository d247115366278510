"""The student kit: a folder to publish for students, which grows with the term.

It contains the notebooks up to a unit, and the checks as a wheel without hidden
cases. If the unit builds on earlier ones, it contains their solutions, so it
must not be published before their deadlines.
"""

from __future__ import annotations

import functools
import itertools
import os
import re
import shutil
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from importlib import metadata
from importlib.metadata import PackageMetadata
from pathlib import Path

import nbformat
from packaging.requirements import Requirement

from autograder.authoring import assistants, budget, edition
from autograder.authoring.colab import CHECKS, Repository, published
from autograder.authoring.solutions import builds_on
from autograder.checks.installed import wheel_name
from autograder.classroom import gradebook
from autograder.classroom.publishing import wheel
from autograder.course import Unit, manifest, notebooks, settings, units
from autograder.course.errors import CourseError
from autograder.course.files import replace_folder, write
from autograder.grading import dates
from autograder.root import CONTENT, ENGINE, FILE, PACKAGE, ROOT
from autograder.sandbox.kit import shipped

# Packages that the checks need; a course adds its own (`packages` in course.toml).
_NEEDED = ("torch", "numpy", "safetensors", "matplotlib", "tqdm")
# Further packages of the environment, and packages with a different name in conda.
_BESIDE = ("python=3.12", "pip", "jupyterlab", "ipywidgets", "ipykernel")
_CONDA = {"torch": "pytorch", "matplotlib": "matplotlib-base"}
_TEXTS = ("docs/student.md", "LICENSE", "LICENSE-TEXT")  # included if they exist
_ENVIRONMENT = """\
# conda env create -f environment.yml && conda activate {name}
name: {name}
channels:
  - conda-forge
  - nodefaults
dependencies:
{conda}
  - pip:
{pip}
"""
_STAMPED = "autograder/checks/installed.py"

_README = Path(__file__).parents[1] / "templates" / "student_kit.md"
_MORE = " [student.md](student.md) says more."
_ADDRESS = """\
1. Download this folder (*Code > Download ZIP*, then unpack it) or clone it, and open a
   terminal in it:

   ```
   git clone {address}
   cd {name}
   ```"""
_FOLDER = "1. Unpack this folder, and open a terminal in it."


def first_unit() -> Unit:
    """Return the unit at which a kit ends by default.

    Its kit contains no solutions, so that it can be published at once.

    Raises:
        CourseError: the course has no unit.
    """
    if not (all_units := units()):
        raise CourseError(f"{ROOT} has no unit: write notebooks/01_NAME.py there")
    first, *later = all_units
    return [first, *itertools.takewhile(lambda unit: not builds_on(unit), later)][-1]


def explain_last_unit() -> str:
    """Explain at which unit the kit ends, and why, if the user named none."""
    first, all_units = first_unit(), units()
    later = [unit for unit in all_units if unit.label > first.label]
    if not later:
        number = all_units[0].number
        return f"the whole course; for fewer, name the last: make kit UNIT={number}"
    return (
        f"up to {first.label}, since {later[0].label} and later units bring solutions "
        f"of earlier ones along; once those are due: make kit UNIT={later[0].number}"
    )


def notebook_units(last: Unit) -> list[Unit]:
    """The units whose notebooks are in the kit of unit ``last``."""
    return [unit for unit in units(last.root) if unit.label <= last.label]


def solution_units(last: Unit) -> list[Unit]:
    """The units whose solutions are in the kit of unit ``last``.

    They are all earlier units if ``last`` builds on any, and otherwise none.
    """
    before = [unit for unit in notebook_units(last) if unit.label < last.label]
    return before if builds_on(last) else []


def build(last: Unit, folder: Path, repository: Repository | None = None) -> list[Path]:
    """Write the student kit up to a unit, and return the paths of its files.

    The kit replaces everything in ``folder``.

    Args:
        repository: where it will be published; by default, as in course.toml.

    Raises:
        CourseError: a notebook cannot be used.
    """
    repository = repository or published(last.root)
    version, data = _wheel(last, repository, folder)
    name, due = wheel_name(version), gradebook.due_dates(last.root)
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    for unit in notebook_units(last):
        text = _notebook(unit, repository, version, due.get(unit.label))
        write(part / "notebooks" / unit.release.name, text)
    write(part / name, data)
    distribution = settings(last.root)["distribution"]
    write(part / CHECKS, f"{distribution} @ {repository.file(name)}\n")
    write(part / "README.md", _readme(last, repository, name, due))
    for path in filter(Path.is_file, (last.root / name for name in _TEXTS)):
        write(part / path.name, path.read_bytes())
    write(part / "environment.yml", _environment(last, name))
    for rules in assistants.FILES:
        write(part / rules, assistants.policy(last.root).rules.encode())
    replace_folder(folder, part)
    return sorted(path for path in folder.rglob("*") if path.is_file())


def contents(last: Unit) -> dict[str, Path]:
    """The files that ship with unit ``last``, by their paths in the wheel."""
    solved = ["__init__", *(unit.name for unit in solution_units(last))]
    paths = shipped()
    paths += [(CONTENT, CONTENT / "solutions" / f"{name}.py") for name in solved]
    later = {unit.name for unit in units(last.root) if unit.label > last.label}
    unwanted = later | {"__pycache__"}
    files = {f"{ENGINE.name}/{FILE}": ROOT / FILE}
    for package, path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            inner = file.relative_to(package)
            if file.is_file() and unwanted.isdisjoint({inner.stem, *inner.parts}):
                files[f"{package.name}/{inner.as_posix()}"] = file
    return files


def _readme(
    last: Unit, repository: Repository, wheel: str, due: Mapping[str, datetime]
) -> str:
    """The kit's README, with a table of the notebooks."""
    is_dated = not due.keys().isdisjoint(u.label for u in notebook_units(last))
    rows = ["| notebook | takes | due | |", "|---|---|---|---|"]
    if not is_dated:
        rows = ["| notebook | takes | |", "|---|---|---|"]
    for unit in notebook_units(last):
        cells = edition.read(unit)
        title = cells[0].text.splitlines()[0].lstrip("# ")
        link = f"[{title}](notebooks/{unit.release.name})"
        time, badge = budget.stated_time(cells), repository.badge(unit)
        date = dates.describe_due(due[unit.label]) if unit.label in due else ""
        dated = f" {date} |" if is_dated else ""
        rows.append(f"| {link} | {time} |{dated} {badge} |")
    download = _FOLDER
    if repository.is_public:
        name = repository.repository
        download = _ADDRESS.format(address=repository.address, name=name)
    about = settings(last.root)
    return _README.read_text(encoding="utf-8").format(
        title=about["title"],
        about=about["about"].strip(),
        table="\n".join(rows),
        download=download,
        wheel=wheel,
        pythons=pythons(),
        more=_MORE if (last.root / _TEXTS[0]).is_file() else "",
    )


def _notebook(
    unit: Unit, repository: Repository, version: str, due: datetime | None = None
) -> str:
    """Return a release notebook's text for the kit, with badge, checks and deadline.

    Raises:
        CourseError: the release has no cells for the badge and the checks.
    """
    book = notebooks.read(unit.release)
    generated = repository.generated_cells(unit, version)
    cells = {cell.get("id"): cell for cell in book.cells}
    if not generated.keys() <= cells.keys():
        raise CourseError(
            f"{unit.release} has no badge and no cell that finds the checks below its "
            f"title; run make build UNIT={unit.number}"
        )
    for identifier, source in generated.items():
        cells[identifier].source = source
    if due:
        dates.add_due_line(book, due)
    return f"{nbformat.writes(book)}\n"


def _wheel(last: Unit, repository: Repository, folder: Path) -> tuple[str, bytes]:
    """Build the wheel of the checks; return its version and its bytes."""
    files = {name: path.read_bytes() for name, path in contents(last).items()}
    for unit in notebook_units(last):
        for path in manifest.read(unit).ships:  # trained models
            name = path.relative_to(unit.root).as_posix()
            files[f"{PACKAGE}/{name}"] = path.read_bytes()
    if (license := last.root / "LICENSE").is_file():
        files["LICENSE"] = license.read_bytes()
    requires = [f"{name}{bound}" for name, bound in _requirements(last).items()]
    about = settings(last.root)
    terms = {"License": about["license"]} if "license" in about else {}

    def build_wheel(version: str) -> bytes:
        """Build the wheel; write its version and the kit's address into the checks."""
        latest = repository.file(CHECKS) if repository.is_public else ""
        stamped = files[_STAMPED].replace(
            b'VERSION = ""\nLATEST = ""',
            f'VERSION = "{version}"\nLATEST = "{latest}"'.encode(),
        )
        return wheel.write(
            about["distribution"], version, {**files, _STAMPED: stamped}, requires,
            Summary=f"The checks of the course: {about['title']}", **terms,
            Requires_Python=_engine()["Requires-Python"],
        )  # fmt: skip

    version = _version(last, folder, build_wheel)
    return version, build_wheel(version)


def _version(last: Unit, folder: Path, build_wheel: Callable[[str], bytes]) -> str:
    """Choose the wheel's version, "UNIT.DAY.TIME", such as "3.261128.2043".

    It is later than those in ``folder``, or the same if the wheel has not changed.
    """
    before: dict[tuple[int, int, int], Path] = {}
    for path in folder.glob(wheel_name("*")):
        if match := re.search(r"-(\d+)\.(\d+)\.(\d+)-", path.name):
            before[int(match[1]), int(match[2]), int(match[3])] = path
    for (unit, day, minute), path in before.items():
        version = f"{unit}.{day}.{minute}"
        if unit == int(last.number) and path.read_bytes() == build_wheel(version):
            return version
    epoch = os.environ.get("SOURCE_DATE_EPOCH")  # of reproducible builds, in seconds
    moment = datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now(UTC)
    stamps = [(day, minute + 1) for _, day, minute in before]
    day, minute = max([(int(f"{moment:%y%m%d}"), int(f"{moment:%H%M}")), *stamps])
    return f"{int(last.number)}.{day}.{minute}"


@functools.cache
def _engine() -> PackageMetadata:
    """The metadata of the distribution from which this engine was installed."""
    return metadata.metadata(metadata.packages_distributions()[ENGINE.name][0])


def _requirements(last: Unit) -> dict[str, str]:
    """Map the packages that students install to lower bounds such as ">=2.6", or "".

    Upper bounds would downgrade packages that other courses need.
    """
    listed = map(Requirement, _engine().get_all("Requires-Dist") or ())
    bounds = {
        required.name: "".join(str(s) for s in required.specifier if s.operator == ">=")
        for required in listed
    }
    needed = (*_NEEDED, *settings(last.root).get("packages", ()))
    return {name: bounds.get(name, "") for name in needed}


def pythons() -> str:
    """The versions of Python with which the engine is tested, like "3.11 to 3.14"."""
    tried = [
        line.split(" :: ")[-1]
        for line in _engine().get_all("Classifier") or ()
        if line.startswith("Programming Language :: Python ::")
    ]
    return f"{tried[0]} to {tried[-1]}"


def _environment(last: Unit, wheel: str) -> str:
    """An environment.yml for conda, with students' packages and the checks' wheel."""
    about = settings(last.root)
    only_pip = about.get("not_on_conda", ())
    requirements = _requirements(last)
    conda = [
        f"{_CONDA.get(name, name)} {bound}".rstrip()
        for name, bound in requirements.items()
        if name not in only_pip
    ]
    pip = [f"{name} {requirements[name]}".rstrip() for name in only_pip]
    return _ENVIRONMENT.format(
        name=about["distribution"],
        conda="\n".join(f"  - {line}" for line in (*_BESIDE, *conda)),
        pip="\n".join(f"      - {line}" for line in (*pip, f"./{wheel}")),
    )
