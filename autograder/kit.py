"""The student kit: a repository to publish, without a solution or hidden reference."""

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
from autograder.build.notebook import badge, wheel_name, write
from autograder.course import ROOT, Unit, units
from autograder.errors import CourseError

# Relative to the package: what ships. Solutions of earlier units come on top.
SHIPPED = ("__init__.py", "student", "references/public", "solutions/__init__.py")

_PYPROJECT = f"""\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "autograder"
version = "{__version__}"
description = "The checks of a course on the Transformer"
requires-python = ">=3.11"
dependencies = [DEPENDENCIES]

[tool.setuptools.packages.find]
include = ["autograder*"]

[tool.setuptools.package-data]
"*" = ["*.safetensors", "*.txt", "*.json"]
"""
_NEEDED = ("torch", "numpy", "safetensors", "matplotlib", "seaborn", "tqdm")

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
"""


def build(chosen: Sequence[Unit], folder: Path) -> list[Path]:
    """Make the student repository for the chosen units; replaces ``folder`` whole.

    The solutions of the units before the last chosen one ship, for later notebooks to
    build on; those of the chosen last one and after do not.

    Raises:
        CourseError: the wheel cannot be built.
    """
    last = max(unit.label for unit in chosen)
    earlier = [unit for unit in units() if unit.label < last]
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    for unit in chosen:
        copy = part / "notebooks" / unit.release.name
        write(copy, unit.release.read_bytes())
    (part / wheel_name()).write_bytes(_wheel(earlier, chosen))
    write(part / "README.md", _readme(chosen))
    write(part / "environment.yml", _environment())
    shutil.rmtree(folder, ignore_errors=True)
    part.replace(folder)
    return sorted(path for path in folder.rglob("*") if path.is_file())


def contents(earlier: Sequence[Unit], chosen: Sequence[Unit]) -> list[str]:
    """The files of the package that ship, relative to it."""
    package = ROOT / "autograder"
    names = [*SHIPPED, *(f"solutions/{unit.name}.py" for unit in earlier)]
    found = []
    for name in names:
        path = package / name
        found += sorted(path.rglob("*")) if path.is_dir() else [path]
    shown = {unit.name for unit in (*earlier, *chosen)}
    return [
        str(path.relative_to(package))
        for path in found
        if path.is_file()
        and "__pycache__" not in path.parts
        and (path.suffix != ".safetensors" or path.stem in shown)
    ]


def _wheel(earlier: Sequence[Unit], chosen: Sequence[Unit]) -> bytes:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in contents(earlier, chosen):
            write(
                folder / "autograder" / file, (ROOT / "autograder" / file).read_bytes()
            )
        listed = ", ".join(f'"{d}"' for d in _dependencies())
        write(folder / "pyproject.toml", _PYPROJECT.replace("DEPENDENCIES", listed))
        done = subprocess.run(
            [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation",
             "--quiet", "--wheel-dir", name, name],
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
