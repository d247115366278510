"""Fingerprints of the bank and the references, to compare before and after a change.

    python tests/golden.py --write before.json [--validity]
    python tests/golden.py --check before.json [--validity]

A row is a name and a SHA-256: of the text of each mutant and accepted solution as it is
run, of what is said about it, of each stored answer, public and hidden. With
``--validity`` (some ten minutes) each exercise has a row of counts, too. Rows come in
the bank's order, since the first mutant that explains an answer names it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path

import torch

from autograder.authoring.catalogue import specifications
from autograder.authoring.specification import Specification
from autograder.authoring.variants import variant_source
from autograder.authoring.verify import measure
from autograder.checks.exercise import Case, Other, Value
from autograder.checks.references import load
from autograder.course import units

Rows = dict[str, str]
ANSWERS = ("inputs", "expected", "mistakes", "doubles")
PLAIN = [field.name for field in fields(Case) if field.name not in ANSWERS]


def rows(validity: bool = False) -> Rows:
    """Every row of the course, or, with ``validity``, those that take minutes, too."""
    checksums: Rows = {}
    for unit in units():
        references_by_kind = {
            name: load(unit.name, name) for name in ("public", "hidden")
        }
        for specification in specifications(unit.name):
            checksums |= dict(variants(specification))
        for visibility, exercises in references_by_kind.items():
            for name, exercise in exercises.items():
                head = (exercise.title, exercise.points, exercise.builds_on)
                checksums[f"exercise {visibility} {name}"] = sha(*head)
                for case in exercise.cases:
                    checksums |= dict(answers(f"{visibility} {name}/{case.name}", case))
        if validity:
            for row in measure(
                specifications(unit.name), list(references_by_kind.values())
            ):
                checksums[f"validity {row.name}"] = str(row)
    return checksums


def variants(exercise: Specification) -> Iterator[tuple[str, str]]:
    """The texts of an exercise: each mutant's ways, what it says, what is accepted."""
    yield f"bank {exercise.name}", sha(exercise.target)
    for mutant in exercise.mutants:
        name = f"{exercise.name}/{mutant.name}"
        yield f"mutant {name}", sha(mutant.says, mutant.asks)
        for variant in mutant.variants:
            yield (
                f"way {name}/{variant.name}",
                sha(text(variant_source(exercise, variant))),
            )
    for right in exercise.accepted:
        code = text(variant_source(exercise, right))
        yield f"accepted {exercise.name}/{right.name}", sha(code)


def text(code: str) -> str:
    """Code whose imports of the course may move: only what they import counts."""
    return re.sub(r"\bautograder(\.\w+)+", "autograder", code)


def answers(name: str, case: Case) -> Iterator[tuple[str, str]]:
    """The stored answers of a case, and what it says."""
    yield f"case {name}", sha(*(getattr(case, field) for field in PLAIN))
    roles = {"inputs": case.inputs, "expected": case.expected}
    for role, role_answers in (roles | dict(case.mistakes)).items():
        for label, value in role_answers.items():
            yield f"answer {name}/{role}/{label}", digest(value)


def digest(value: Value) -> str:
    """A tensor's type, shape and bytes; of anything else, the words."""
    if isinstance(value, torch.Tensor):
        # A copy: what is expanded counts as contiguous, and has no bytes of its own.
        flat = value.reshape(-1).clone(memory_format=torch.contiguous_format)
        content = flat.view(torch.uint8).numpy().tobytes()
        return sha(str(value.dtype), tuple(value.shape), content)
    return sha(value.kind if isinstance(value, Other) else value)


def sha(*parts: object) -> str:
    """The SHA-256 of several values."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def differences(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """What two sets of rows differ in, by name."""
    common = [name for name in new if name in old]
    lines = [f"gone     {name}" for name in old if name not in new]
    lines += [f"new      {name}" for name in new if name not in old]
    lines += [f"changed  {name}" for name in common if old[name] != new[name]]
    before = [name for name in old if name in new]
    moved = [b for a, b in zip(before, common, strict=True) if a != b]
    return lines + [f"moved    {name}" for name in moved[:1]]


def main(arguments: list[str] | None = None) -> int:
    """Write the rows, or compare them with those that were written."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", metavar="FILE", type=Path)
    action.add_argument("--check", metavar="FILE", type=Path)
    parser.add_argument("--validity", action="store_true", help="run every mutant")
    options = parser.parse_args(arguments)
    new = rows(options.validity)
    if options.write:
        options.write.write_text(json.dumps(new, indent=0), encoding="utf-8")
        print(f"{len(new)} rows")
        return 0
    old = json.loads(options.check.read_text(encoding="utf-8"))
    if not options.validity:
        old = {
            name: row for name, row in old.items() if not name.startswith("validity ")
        }
    lines = differences(old, new)
    print(*lines, f"{len(new)} rows, {len(lines)} differences", sep="\n")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
