"""The record of what a unit was last built from, ``source/NN_unit.built``.

Line 1 is the fingerprint of the source notebook, and line 2 a digest of the
reference files. Each exercise has a further line: a digest of what its
references depend on, its name, its points, and a digest of its texts. A build
keeps the references whose digests have not changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.authoring import numbers
from autograder.authoring.contract_lines import read_contracts
from autograder.authoring.fingerprints import Fingerprints
from autograder.authoring.notebook import Cell, target
from autograder.course import Unit


@dataclass(frozen=True)
class Build:
    """Digests of what a build was made from, and of what it wrote.

    Args:
        source: the fingerprint of the source notebook, as a line of text.
        references: a digest of the reference files.
        exercises: by name, each exercise's line in the record, in notebook order.
    """

    source: str = ""
    references: str = ""
    exercises: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = (f"{self.references} references", *self.exercises.values())
        return "".join([self.source, *(f"{line}\n" for line in lines)])

    def has_references_of(self, last: Build) -> bool:
        """Whether an earlier build's references can be kept for all exercises."""
        same_order = list(self.exercises.items()) == list(last.exercises.items())
        return same_order and self.references == last.references

    def unchanged_since(self, last: Build) -> set[str]:
        """The exercises for which an earlier build's references can be kept."""
        if self.references != last.references:  # the files have changed since then
            return set()
        digests = {line.split()[0] for line in last.exercises.values()}
        return {n for n, line in self.exercises.items() if line.split()[0] in digests}


def record(unit: Unit) -> Path:
    """The path of the file that records a unit's last build."""
    return unit.source.parent.with_suffix(".built")


def read(unit: Unit) -> Build:
    """Return the record of a unit's last build; an empty one if there is none."""
    path = record(unit)
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    source, *lines = text.splitlines(keepends=True) or [""]
    words = [line.split() for line in lines]
    return Build(
        source,
        words[0][0] if words else "",
        {line[1]: " ".join(line) for line in words[1:]},
    )


def describe_exercises(
    unit: Unit, cells: Sequence[Cell], stubs: Mapping[str, str], seed: str
) -> dict[str, str]:
    """Map each exercise of a unit to its line in the record, as in `Build.exercises`.

    Args:
        stubs: the code that students complete in the release, by the exercise's name.
        seed: this term's seed, from which hidden cases are drawn.
    """
    checks = {cell.name: cell for cell in cells if cell.role == "check"}
    targets = {name: target(cell) for name, cell in checks.items()}
    fingerprints = Fingerprints(unit, targets)
    titles, contracts = numbers.titles(cells), read_contracts(cells)
    lines = {}
    for name, cell in checks.items():
        stub, contract = stubs.get(name, ""), contracts[name][1]
        # The first digest decides whether cases are drawn anew; texts can be replaced.
        digest, messages = fingerprints.of_exercise(name, stub, seed)
        texts = _digest(titles[name], *contract, messages)
        lines[name] = f"{digest} {name} {cell.points:g} {texts}"
    return lines


def _digest(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def digest_files(files: Mapping[Path, bytes]) -> str:
    """A digest of the contents of files."""
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(hashlib.sha256(files[path]).digest())
    return digest.hexdigest()
