"""Reference files: exercises with their cases, as safetensors (data, never code)."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from autograder.student.exercise import Answers, Case, Exercise, Mistake, Other, Value


class ReferenceFileError(OSError):
    """A reference file cannot be read; the text says which, and what to do."""


_KEY, _FORMAT = "exercises", 2  # of the index in a file
_ANSWERS = ("inputs", "expected", "mistakes")
_PLAIN = [field.name for field in fields(Case) if field.name not in _ANSWERS]
FOLDER = Path(__file__).resolve().parent.parent / "references"


def pack(exercises: Iterable[Exercise]) -> bytes:
    """The exercises as the bytes of one safetensors file, equal for equal exercises.

    Tensors are stored under ``unit/exercise/case/role/name``; everything else is JSON
    under one metadata key (with several, their order in the file would be arbitrary).
    Of a mistake's answers, those that agree with the reference are not stored again.
    """
    tensors: dict[str, torch.Tensor] = {}
    index = [_pack_exercise(exercise, tensors) for exercise in exercises]
    told = {"format": _FORMAT, "exercises": index}
    metadata = {_KEY: json.dumps(told, sort_keys=True)}
    return save(dict(sorted(tensors.items())), metadata)


def _pack_exercise(
    exercise: Exercise, tensors: dict[str, torch.Tensor]
) -> dict[str, Any]:
    cases = []
    for case in exercise.cases:
        packed = {name: getattr(case, name) for name in _PLAIN}
        prefix = f"{exercise.name}/{case.name}/"
        packed["roles"] = {
            role: _pack_answers(answers, case, f"{prefix}{role}/", tensors)
            for role, answers in _roles(case).items()
        }
        cases.append(packed)
    return {
        "name": exercise.name, "title": exercise.title, "points": exercise.points,
        "cases": cases, "mistakes": [asdict(m) for m in exercise.mistakes.values()],
        "builds_on": exercise.builds_on, "aspects": dict(exercise.aspects),
    }  # fmt: skip


def _roles(case: Case) -> dict[str, Answers]:
    roles = {"inputs": case.inputs, "expected": case.expected}
    return roles | {f"mistake:{name}": a for name, a in case.mistakes.items()}


def _pack_answers(
    answers: Answers, case: Case, prefix: str, tensors: dict[str, torch.Tensor]
) -> list[list[str]]:
    """Per answer its name, how it is kept, and its text."""
    packed = []
    for name, value in answers.items():
        if "mistake:" in prefix and _agrees(case.expected.get(name), value, case):
            packed.append([name, "as expected", ""])
        elif isinstance(value, torch.Tensor):
            tensors[prefix + name] = value.detach().contiguous().clone()
            packed.append([name, "tensor", ""])
        elif isinstance(value, str):
            packed.append([name, "text", value])
        else:
            packed.append([name, "other", value.kind])
    return packed


def _agrees(expected: Value | None, value: Value, case: Case) -> bool:
    """Whether two answers agree far within the case's tolerance."""
    if not isinstance(expected, torch.Tensor) or not isinstance(value, torch.Tensor):
        return expected == value
    if expected.shape != value.shape or expected.dtype != value.dtype:
        return False
    if not expected.is_floating_point():
        return torch.equal(expected, value)
    return torch.allclose(expected, value, atol=case.atol / 4, rtol=case.rtol / 4)


def read(path: Path, only: str = "") -> dict[str, Exercise]:
    """The exercises of one reference file by name, or only the named one.

    Raises:
        FileNotFoundError: there is no such file.
        ReferenceFileError: it is damaged, or another version wrote it.
    """
    if not path.is_file():
        raise FileNotFoundError(f"no reference file {path.name} in {path.parent}")
    stamp = path.stat()
    try:
        return dict(_read(path, stamp.st_mtime_ns, stamp.st_size, only))
    except (SafetensorError, KeyError, TypeError, ValueError):
        raise ReferenceFileError(
            f"{path} is damaged, or another version of the course wrote it; rebuild it "
            f"with `make build UNIT={path.stem}`, or install the students' wheel again"
        ) from None


@functools.lru_cache(maxsize=8)  # a notebook asks for the same exercise again and again
def _read(path: Path, changed: int, size: int, only: str) -> dict[str, Exercise]:
    with safe_open(path, framework="pt") as file:
        return {
            entry["name"]: _read_exercise(entry, file)
            for entry in _index(file)
            if only in ("", entry["name"])
        }


def _index(file: safe_open) -> list[dict[str, Any]]:
    """What a file says of its exercises besides tensors.

    Raises:
        ValueError: it is of another version.
    """
    told = json.loads(file.metadata()[_KEY])
    if told["format"] != _FORMAT:
        raise ValueError(f"format {told['format']}")
    exercises: list[dict[str, Any]] = told["exercises"]
    return exercises


def _read_exercise(entry: dict[str, Any], file: safe_open) -> Exercise:
    cases = tuple(
        _read_case(packed, f"{entry['name']}/{packed['name']}/", file)
        for packed in entry["cases"]
    )
    mistakes = {m["name"]: Mistake(**m) for m in entry["mistakes"]}
    return Exercise(
        entry["name"], entry["title"], entry["points"], cases, mistakes,
        tuple(entry["builds_on"]), entry.get("aspects", {}),
    )  # fmt: skip


def _read_case(packed: dict[str, Any], prefix: str, file: safe_open) -> Case:
    plain = {name: packed[name] for name in _PLAIN}
    plain["scale"] = tuple(map(tuple, plain["scale"]))
    roles: dict[str, Answers] = {}
    for role, kept in packed["roles"].items():
        roles[role] = {
            name: _read_answer(name, how, text, f"{prefix}{role}/", roles, file)
            for name, how, text in kept
        }
    inputs, expected = roles.pop("inputs"), roles.pop("expected")
    mistakes = {role.removeprefix("mistake:"): a for role, a in roles.items()}
    return Case(inputs=inputs, expected=expected, mistakes=mistakes, **plain)


def _read_answer(
    name: str,
    how: str,
    text: str,
    prefix: str,
    roles: dict[str, Answers],
    file: safe_open,
) -> Value:
    if how == "as expected":
        return roles["expected"][name]
    if how == "tensor":
        tensor: torch.Tensor = file.get_tensor(prefix + name)
        return tensor
    return text if how == "text" else Other(text)


def titles(unit: str) -> dict[str, str]:
    """The titles of a unit's exercises by name, none for a unit that is not here."""
    path = FOLDER / "public" / f"{unit}.safetensors"
    if not path.is_file():
        return {}
    return dict(_titles(path, path.stat().st_mtime_ns))


@functools.lru_cache
def _titles(path: Path, _changed: int) -> dict[str, str]:
    """Read once: a page asks for them at every cell."""
    with safe_open(path, framework="pt") as file:
        return {entry["name"]: entry["title"] for entry in _index(file)}


def units(visibility: str = "public") -> list[str]:
    """The units that have a reference file here, in alphabetical order."""
    return sorted(p.stem for p in (FOLDER / visibility).glob("*.safetensors"))


def load(unit: str, visibility: str = "public", only: str = "") -> dict[str, Exercise]:
    """The exercises of a unit ("attention") from the public or hidden references."""
    return read(FOLDER / visibility / f"{unit}.safetensors", only)
