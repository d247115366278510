"""The student kit: a repository to publish, for the term as far as it has come.

The kit of a unit holds the notebooks up to it. Where that unit builds on earlier ones,
the reference solutions of those ship, too, so that no mistake is punished twice: hand
it out once their deadlines have passed. Nothing hidden is ever inside.
"""

from __future__ import annotations

import hashlib
import itertools
import shutil
import tomllib
from pathlib import Path
from typing import Any

import nbformat

from autograder.authoring import assistants
from autograder.authoring.colab import CHECKS, DISTRIBUTION, Repository, published
from autograder.authoring.solutions import builds_on
from autograder.classroom.publishing import wheel
from autograder.course import ROOT, Unit, manifest, notebooks, units
from autograder.course.errors import CourseError
from autograder.course.files import replace_folder, write
from autograder.sandbox.kit import KIT

# What students need of the course's dependencies: in the wheel, and to work with it.
_NEEDED = ("torch", "numpy", "safetensors", "matplotlib", "seaborn", "tqdm",
           "sacrebleu", "simplemma")  # fmt: skip
_BESIDE = ("python=3.12", "pip", "jupyterlab", "ipywidgets", "ipykernel")
_CONDA = {"torch": "pytorch", "matplotlib": "matplotlib-base"}
_STAMPED = "autograder/checks/installed.py"
_NO_VERSION = 'VERSION = ""'

_README = """\
# The Transformer from scratch: student repository

{badges}

In Colab: click a badge and run the first cell.

On your own computer, with Python {pythons}:

```
pip install {wheel} jupyterlab ipywidgets
jupyter lab notebooks
```

or, with conda, `conda env create -f environment.yml`.

Fill in the cells that say `raise NotImplementedError`, and run the check below each.
[student.md](student.md) says more.

After each update of this repository, run the first of these lines again. If you forget
it, a notebook's first cell says so.
"""


def first_unit() -> Unit:
    """The last unit that can be handed out before any solution is."""
    return list(itertools.takewhile(lambda unit: not builds_on(unit), units()))[-1]


def why_first() -> str:
    """Why the kit ends where it does, if no unit was named."""
    first, known = first_unit(), units()
    later = [unit for unit in known if unit.label > first.label]
    if not later:
        number = known[0].number
        return f"the whole course; for fewer, name the last: make kit UNIT={number}"
    return (
        f"up to {first.label}, since {later[0].label} and later units bring solutions "
        f"of earlier ones along; once those are due: make kit UNIT={later[0].number}"
    )


def shown_units(last: Unit) -> list[Unit]:
    """The units whose notebooks are in the kit of unit ``last``."""
    return [unit for unit in units(last.root) if unit.label <= last.label]


def solved_units(last: Unit) -> list[Unit]:
    """The units whose solutions are in the kit of unit ``last``: those it builds on."""
    before = [unit for unit in shown_units(last) if unit.label < last.label]
    return before if builds_on(last) else []


def build(last: Unit, folder: Path, where: Repository | None = None) -> list[Path]:
    """Make the student repository up to a unit; replaces ``folder`` whole.

    Args:
        where: where it will be published; the default is what pyproject.toml says.

    Raises:
        CourseError: a notebook is damaged, or is none of this course's.
    """
    where = where or published(last.root)
    name, data = _wheel(last)
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    for unit in shown_units(last):
        write(part / "notebooks" / unit.release.name, _notebook(unit, where))
    write(part / name, data)
    write(part / CHECKS, f"{DISTRIBUTION} @ {where.file(name)}\n")
    badges = (f"- {unit.label}: {where.badge(unit)}" for unit in shown_units(last))
    readme = _README.format(badges="\n".join(badges), wheel=name, pythons=pythons())
    write(part / "README.md", readme)
    write(part / "student.md", (ROOT / "docs" / "student.md").read_bytes())
    for text in ("LICENSE", "LICENSE-TEXT"):
        write(part / text, (ROOT / text).read_bytes())
    write(part / "environment.yml", _environment(name))
    for rules in assistants.FILES:
        write(part / rules, assistants.policy(last.root).rules.encode())
    replace_folder(folder, part)
    return sorted(path for path in folder.rglob("*") if path.is_file())


def contents(last: Unit) -> list[str]:
    """The files of the package that ship with unit ``last``, relative to it."""
    package = ROOT / "autograder"
    solved = ["__init__", *(unit.name for unit in solved_units(last))]
    names = [*KIT, *(f"solutions/{name}.py" for name in solved)]
    found = []
    for name in names:
        path = package / name
        found += sorted(path.rglob("*")) if path.is_dir() else [path]
    later = {unit.name for unit in units(last.root) if unit.label > last.label}
    unwanted = later | {"__pycache__"}
    its = [path.relative_to(package) for path in found if path.is_file()]
    return [str(own) for own in its if unwanted.isdisjoint({own.stem, *own.parts})]


def _notebook(unit: Unit, where: Repository) -> str:
    """The release, whose first cells name the place where it will be published."""
    book = notebooks.read(unit.release)
    cells = where.first_cells(unit)
    if [cell.cell_type for cell in book.cells[: len(cells)]] != ["markdown", "code"]:
        raise CourseError(
            f"{unit.release} does not begin with a badge and the cell that finds the "
            f"checks; run make build UNIT={unit.number}"
        )
    for cell, source in zip(book.cells, cells, strict=False):
        cell.source = source
    return f"{nbformat.writes(book)}\n"


def _wheel(last: Unit) -> tuple[str, bytes]:
    """The name and the bytes of the wheel; its version follows from its content."""
    files = {
        f"autograder/{name}": (ROOT / "autograder" / name).read_bytes()
        for name in contents(last)
    }
    for unit in shown_units(last):
        for path in manifest.read(unit).ships:  # trained models
            name = path.relative_to(unit.root).as_posix()
            files[f"autograder/{name}"] = path.read_bytes()
    files["LICENSE"] = (ROOT / "LICENSE").read_bytes()
    project = _project()
    # Where students work, other courses do: nothing there is to be made older.
    lines = [line.split(",")[0] for line in project["dependencies"]]
    requires = [line for line in lines if line.partition(">=")[0] in _NEEDED]
    digest = hashlib.sha256(repr([requires, sorted(files.items())]).encode())
    content = int.from_bytes(digest.digest()[:6])
    version = f"{int(last.number)}.{content}"
    stamped = files[_STAMPED].decode().replace(_NO_VERSION, f'VERSION = "{version}"')
    files[_STAMPED] = stamped.encode()
    data = wheel.write(
        DISTRIBUTION, version, files, requires,
        Summary="The checks of a course on the Transformer", License="MIT",
        Requires_Python=project["requires-python"],
    )  # fmt: skip
    return wheel.file_name(DISTRIBUTION, version), data


def _project() -> dict[str, Any]:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    table: dict[str, Any] = tomllib.loads(text)["project"]
    return table


def pythons() -> str:
    """The versions of Python that the course was tried with, like "3.11 to 3.14"."""
    known = [line.split(" :: ")[-1] for line in _project()["classifiers"]]
    return f"{known[0]} to {known[-1]}"


def _environment(name: str) -> str:
    """The course's environment.yml without what only those who teach need."""
    kept = {_CONDA.get(name, name) for name in _NEEDED} | {*_BESIDE}
    lines = []
    for line in (ROOT / "environment.yml").read_text(encoding="utf-8").splitlines():
        entry = line.strip().removeprefix("- ")
        listed = line.startswith("  - ") and " " in entry
        if not listed or entry.split()[0] in kept:
            lines.append(line.split(",")[0] if ">=" in entry else line)
    return "\n".join(lines).replace("--editable .", f"./{name}") + "\n"
