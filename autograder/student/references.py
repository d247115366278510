"""Reference files: exercises with their cases, as safetensors (data, never code)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save

from autograder.student.exercise import Answers, Case, Exercise, Mistake

FOLDER = Path(__file__).resolve().parent.parent / "references"


def pack(exercises: Iterable[Exercise]) -> bytes:
    """The exercises as the bytes of one safetensors file, equal for equal exercises.

    Tensors are stored under ``unit/exercise/case/role/name``; everything else is JSON
    under one metadata key (with several, their order in the file would be arbitrary).
    """
    tensors: dict[str, torch.Tensor] = {}
    index = [_pack_exercise(exercise, tensors) for exercise in exercises]
    metadata = {"exercises": json.dumps(index, sort_keys=True)}
    return save(dict(sorted(tensors.items())), metadata)


def _pack_exercise(exercise: Exercise, tensors: dict[str, torch.Tensor]) -> dict:
    cases = []
    for case in exercise.cases:
        roles = {"inputs": case.inputs, "expected": case.expected}
        roles |= {f"mistake:{name}": a for name, a in case.mistakes.items()}
        texts: dict[str, dict[str, str]] = {}
        for role, answers in roles.items():
            texts[role] = {k: v for k, v in answers.items() if isinstance(v, str)}
            for name, value in answers.items():
                if isinstance(value, torch.Tensor):
                    key = f"{exercise.name}/{case.name}/{role}/{name}"
                    tensors[key] = value.detach().contiguous().clone()
        cases.append(
            {
                "name": case.name, "title": case.title, "hint": case.hint,
                "hidden": case.hidden, "atol": case.atol, "rtol": case.rtol,
                "picture": case.picture, "measure": case.measure,
                "scale": case.scale, "texts": texts,
                "order": {role: list(a) for role, a in roles.items()},
            }
        )  # fmt: skip
    return {
        "name": exercise.name, "title": exercise.title, "points": exercise.points,
        "cases": cases, "mistakes": [asdict(m) for m in exercise.mistakes.values()],
    }  # fmt: skip


def read(path: Path) -> dict[str, Exercise]:
    """The exercises of one reference file by name.

    Raises:
        FileNotFoundError: there is no such file.
    """
    if not path.is_file():
        raise FileNotFoundError(f"no reference file {path.name} in {path.parent}")
    with safe_open(path, framework="pt") as file:
        index = json.loads(file.metadata()["exercises"])
        return {entry["name"]: _read_exercise(entry, file) for entry in index}


def _read_exercise(entry: dict, file: safe_open) -> Exercise:
    def answers(case: dict, role: str) -> Answers:
        texts = case["texts"][role]
        prefix = f"{entry['name']}/{case['name']}/{role}/"
        return {
            name: texts[name] if name in texts else file.get_tensor(prefix + name)
            for name in case["order"][role]
        }

    cases = tuple(
        Case(
            **{k: case[k] for k in ("name", "title", "hint", "hidden", "atol", "rtol",
                                    "picture", "measure")},
            scale=tuple(map(tuple, case["scale"])),
            inputs=answers(case, "inputs"),
            expected=answers(case, "expected"),
            mistakes={
                role.removeprefix("mistake:"): answers(case, role)
                for role in case["order"] if role.startswith("mistake:")
            },
        )
        for case in entry["cases"]
    )  # fmt: skip
    mistakes = {m["name"]: Mistake(**m) for m in entry["mistakes"]}
    return Exercise(entry["name"], entry["title"], entry["points"], cases, mistakes)


def units(visibility: str = "public") -> list[str]:
    """The units that have a reference file here, in alphabetical order."""
    return sorted(p.stem for p in (FOLDER / visibility).glob("*.safetensors"))


def load(unit: str, visibility: str = "public") -> dict[str, Exercise]:
    """The exercises of a unit ("attention") from the public or hidden references."""
    return read(FOLDER / visibility / f"{unit}.safetensors")
