"""pyproject.toml, environment.yml and constraints.txt agree."""

import tomllib

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from autograder.course import ROOT

CONDA_NAMES = {"torch": "pytorch", "matplotlib": "matplotlib-base"}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
REQUIRED = [Requirement(line) for line in PROJECT["dependencies"]]
EXTRA = [
    Requirement(line)
    for lines in PROJECT["optional-dependencies"].values()
    for line in lines
]


def conda() -> dict[str, str]:
    entries = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    plain = [entry for entry in entries if isinstance(entry, str)]
    by_pip = next(entry["pip"] for entry in entries if isinstance(entry, dict))
    plain += [entry for entry in by_pip if not entry.startswith("--")]
    pairs = (entry.partition(" ") for entry in plain)
    return {name: version for name, _, version in pairs}


def pinned() -> dict[str, Version]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pairs = (line.split("==") for line in lines if "==" in line)
    return {name.lower().replace("_", "-"): Version(version) for name, version in pairs}


@pytest.mark.parametrize("required", REQUIRED, ids=str)
def test_conda_asks_for_the_same_ranges(required):
    name = CONDA_NAMES.get(required.name, required.name)
    assert SpecifierSet(conda()[name]) == required.specifier


def test_conda_asks_for_nothing_else():
    known = {CONDA_NAMES.get(r.name, r.name) for r in REQUIRED}
    assert set(conda()) - known == {"python=3.12", "pip"}


@pytest.mark.parametrize("required", REQUIRED + EXTRA, ids=str)
def test_the_pinned_versions_are_in_range(required):
    assert pinned()[required.name.lower()] in required.specifier


def test_conda_python_is_one_that_the_project_accepts():
    assert Version("3.12") in SpecifierSet(PROJECT["requires-python"])
