"""The student kit: a repository to publish, for the term as far as it has come.

The kit of a unit holds the notebooks up to it. Where that unit builds on earlier ones,
the reference solutions of those ship, too, so that no mistake is punished twice: hand
it out once their deadlines have passed. Nothing hidden is ever inside.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Sequence
from pathlib import Path

from autograder import __version__
from autograder.authoring.notebook import badge, wheel_name
from autograder.course import ROOT, Unit, manifest, notebooks, units
from autograder.course.errors import CourseError
from autograder.course.files import write
from autograder.kernel.kit import KIT

_PYPROJECT = f"""\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "autograder"
version = "{__version__}"
description = "The checks of a course on the Transformer"
license = "MIT"
requires-python = ">=3.11"
dependencies = [DEPENDENCIES]

[tool.setuptools.packages.find]
include = ["autograder*"]

[tool.setuptools.package-data]
"*" = ["*.safetensors", "*.txt", "*.json"]
"""
_NEEDED = ("torch", "numpy", "safetensors", "matplotlib", "seaborn", "tqdm",
           "sacrebleu", "simplemma")  # fmt: skip

_README = """\
# The Transformer from scratch: student repository

{badges}

In Colab: click a badge and run the first cell.

On your own computer, with Python 3.11 to 3.13:

```
pip install {wheel} jupyterlab
jupyter lab notebooks
```

or, with conda, `conda env create -f environment.yml`.

Fill in the cells that say `raise NotImplementedError`, and run the check below each.
[student.md](student.md) says more.
"""


def needs_solutions(unit: Unit) -> bool:
    """Whether a unit's notebook builds on the reference solutions of earlier units."""
    return "earlier(" in unit.text.read_text(encoding="utf-8")


def first_unit(root: Path = ROOT) -> Unit:
    """The last unit that can be handed out before any solution is."""
    known = units(root)
    position = next(
        (i for i, unit in enumerate(known) if needs_solutions(unit)), len(known)
    )
    return known[position - 1]


def shown_units(last: Unit) -> list[Unit]:
    """The units whose notebooks are in the kit of unit ``last``."""
    return [unit for unit in units(last.root) if unit.label <= last.label]


def solved_units(last: Unit) -> list[Unit]:
    """The units whose solutions are in the kit of unit ``last``: those it builds on."""
    before = [unit for unit in shown_units(last) if unit.label < last.label]
    return before if needs_solutions(last) else []


def build(last: Unit, folder: Path) -> list[Path]:
    """Make the student repository up to a unit; replaces ``folder`` whole.

    Raises:
        CourseError: the wheel cannot be built, or a notebook is damaged.
    """
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    for unit in shown_units(last):
        text = notebooks.whole(unit.release)
        write(part / "notebooks" / unit.release.name, text)
    write(part / wheel_name(), _wheel(last))
    write(part / "README.md", _readme(shown_units(last)))
    write(part / "student.md", (ROOT / "docs" / "student.md").read_bytes())
    for name in ("LICENSE", "LICENSE-TEXT"):
        write(part / name, (ROOT / name).read_bytes())
    write(part / "environment.yml", _environment())
    shutil.rmtree(folder, ignore_errors=True)
    part.replace(folder)
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
    its = {path: path.relative_to(package) for path in found if path.is_file()}
    return [
        str(own)
        for path, own in its.items()
        if "__pycache__" not in own.parts and later.isdisjoint({path.stem, *own.parts})
    ]


def _wheel(last: Unit) -> bytes:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for file in contents(last):
            write(
                folder / "autograder" / file, (ROOT / "autograder" / file).read_bytes()
            )
        for unit in shown_units(last):
            for path in manifest.read(unit).ships:  # trained models
                name = path.relative_to(unit.root)
                write(folder / "autograder" / name, path.read_bytes())
        write(folder / "LICENSE", (ROOT / "LICENSE").read_bytes())
        listed = ", ".join(f'"{d}"' for d in _dependencies())
        write(folder / "pyproject.toml", _PYPROJECT.replace("DEPENDENCIES", listed))
        done = subprocess.run(
            [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation",
             "--quiet", "--wheel-dir", made, made],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise CourseError(f"cannot build the student kit's wheel: {done.stderr}")
        return _timeless(folder / wheel_name())


def _timeless(wheel: Path) -> bytes:
    """The wheel with fixed times, so that equal content is equal bytes."""
    out = wheel.with_suffix(".timeless")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            info.external_attr, info.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
            new.writestr(info, old.read(name))
    return out.read_bytes()


def _dependencies() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [
        line
        for line in project["dependencies"]
        if line.split(">")[0].split("<")[0] in _NEEDED
    ]


def _readme(chosen: Sequence[Unit]) -> str:
    badges = "\n".join(f"- {unit.label}: {badge(unit)}" for unit in chosen)
    return _README.format(badges=badges, wheel=wheel_name())


def _environment() -> str:
    text = (ROOT / "environment.yml").read_text(encoding="utf-8")
    kept = [line for line in text.splitlines() if "nbgrader" not in line]
    return "\n".join(kept).replace("--editable .", f"./{wheel_name()}") + "\n"
