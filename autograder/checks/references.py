"""Reference files: the cases of a unit's exercises, as data and never as code.

``UNIT.safetensors`` holds what is compared: inputs, correct answers and those of
mistakes. ``UNIT.json`` beside it holds what is shown: titles, points, hints, messages.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import json
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, Field, asdict, fields
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from autograder.checks import stored_answers
from autograder.checks.exercise import Case, Exercise, Mistake
from autograder.root import REFERENCES


class ReferenceFileError(OSError):
    """A reference file cannot be read; the text says which, and what to do."""


_FORMAT = 3
_ANSWERS = ("inputs", "expected", "mistakes", "doubles")
_TEXT_FIELDS = [field for field in fields(Case) if field.name not in _ANSWERS]
FOLDER = REFERENCES
TENSORS, TEXT = ".safetensors", ".json"


def pack(exercises: Iterable[Exercise]) -> dict[str, bytes]:
    """Serialise exercises as two files: map each one's suffix to its content.

    Tensors are stored under ``unit/exercise/case/role/name``, other answers as JSON
    under one metadata key. Equal exercises give equal bytes.
    """
    exercises, tensors = list(exercises), dict[str, torch.Tensor]()
    answers = {e.name: _pack_cases(e, tensors) for e in exercises}
    metadata = {"answers": json.dumps(answers)}
    described = [_describe_exercise(exercise) for exercise in exercises]
    document = {"format": _FORMAT, "exercises": described}
    text = json.dumps(document, indent=1, ensure_ascii=False)
    return {
        TENSORS: save(dict(sorted(tensors.items())), metadata),
        TEXT: f"{text}\n".encode(),
    }


def _describe_mistake(mistake: Mistake) -> dict[str, Any]:
    """The fields of a mistake by name, without ``variants`` if it is the default."""
    fields_by_name = asdict(mistake)
    if mistake.variants == (mistake.name,):
        del fields_by_name["variants"]
    return fields_by_name


def _describe_exercise(exercise: Exercise) -> dict[str, Any]:
    """The fields of an exercise and of its cases, apart from answers."""
    plain = (
        "name", "title", "points", "builds_on", "separate", "ready_made", "arguments",
    )  # fmt: skip
    return {
        **{name: getattr(exercise, name) for name in plain},
        "mistakes": [_describe_mistake(m) for m in exercise.mistakes.values()],
        "cases": list(map(_describe_case, exercise.cases)),
        "small": list(map(_describe_case, exercise.small)),
    }


def _describe_case(case: Case) -> dict[str, Any]:
    """The fields of a case apart from its answers, unless they have default values."""
    return {
        field.name: value
        for field in _TEXT_FIELDS
        if (value := getattr(case, field.name)) != _usual(field)
    }


def _usual(field: Field[Any]) -> object:
    """The default value of a field."""
    factory = field.default_factory
    return field.default if factory is MISSING else factory()


def _pack_cases(exercise: Exercise, tensors: dict[str, torch.Tensor]) -> dict[str, Any]:
    """Describe stored answers by case and by role; add the tensors to ``tensors``.

    The roles are fields of `Case`, like "inputs" and "expected".
    """
    return {
        case.name: stored_answers.pack(case, f"{exercise.name}/{case.name}/", tensors)
        for case in (*exercise.cases, *exercise.small)
    }


def read(path: Path, name: str = "") -> dict[str, Exercise]:
    """The exercises of one reference file by name, or only the named one.

    Raises:
        FileNotFoundError: there is no such file.
        ReferenceFileError: it is damaged, or another version wrote it.
    """
    if not path.is_file():
        raise FileNotFoundError(f"no reference file {path.name} in {path.parent}")
    try:
        return dict(_read(path, name, *map(_stamp, (path, path.with_suffix(TEXT)))))
    except (OSError, SafetensorError, LookupError, TypeError, ValueError):
        raise ReferenceFileError(
            f"{path}, or {TEXT[1:]} beside it, is damaged or of another version of the "
            f"course; rebuild both with `make build UNIT={path.stem}`, or install the "
            "students' wheel again"
        ) from None


def _stamp(path: Path) -> tuple[int, int]:
    """A file's time and size, by which a change is noticed."""
    stat = path.stat()
    return stat.st_mtime_ns, stat.st_size


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Switch Python's garbage collector off for a while, as it slows down reading."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@functools.lru_cache(maxsize=8)  # a notebook asks for the same exercise again and again
@_uncollected()
def _read(path: Path, name: str, *_changed: tuple[int, int]) -> dict[str, Exercise]:
    """Read all exercises of a reference file by name, or only the named one.

    The result is cached until one of the stamps, ``_changed``, is a different one.
    """
    document = json.loads(path.with_suffix(TEXT).read_text(encoding="utf-8"))
    if document["format"] != _FORMAT:
        raise ValueError(f"format {document['format']}")
    with safe_open(path, framework="pt") as file:
        answers = json.loads(file.metadata()["answers"])
        return {
            entry["name"]: _read_exercise(entry, answers[entry["name"]], file)
            for entry in document["exercises"]
            if name in ("", entry["name"])
        }


def _read_exercise(
    entry: dict[str, Any], answers: dict[str, Any], file: safe_open
) -> Exercise:
    """Restore an exercise from its texts, its stored answers and its tensors."""
    name = entry["name"]
    cases, small = (
        tuple(
            _read_case(case, answers[case["name"]], f"{name}/{case['name']}/", file)
            for case in entry.get(part, ())  # older files have no small ones
        )
        for part in ("cases", "small")
    )
    mistakes = {m["name"]: Mistake(**m) for m in entry["mistakes"]}
    return Exercise(
        name, entry["title"], entry["points"], cases, mistakes,
        tuple(entry["builds_on"]), entry.get("separate", ""),
        tuple(entry.get("ready_made", ())), entry.get("arguments", {}), small,
    )  # fmt: skip


def _read_case(
    description: dict[str, Any], packed: dict[str, Any], prefix: str, file: safe_open
) -> Case:
    """Restore a case; its tensors are in ``file``, under names with the prefix."""
    answers = stored_answers.unpack(packed, prefix, file.get_tensor)
    scale = tuple(map(tuple, description.get("scale", ())))
    return Case(**{**description, **answers, "scale": scale})


def titles(unit: str) -> dict[str, str]:
    """Map a unit's exercises to their titles; {} for a unit that is not available."""
    return {name: title for name, (title, _) in _heads(unit).items()}


def points(unit: str) -> dict[str, float]:
    """Map a unit's exercises to their points; {} for a unit that is not available."""
    return {name: worth for name, (_, worth) in _heads(unit).items()}


def _heads(unit: str) -> dict[str, tuple[str, float]]:
    """Map each exercise of a unit to its title and its points."""
    path = FOLDER / "public" / f"{unit}{TEXT}"
    return _read_heads(path, _stamp(path)) if path.is_file() else {}


@functools.lru_cache
def _read_heads(path: Path, _changed: tuple[int, int]) -> dict[str, tuple[str, float]]:
    """Read each exercise's title and points, once for each version of the file."""
    document = json.loads(path.read_text(encoding="utf-8"))
    return {
        entry["name"]: (entry["title"], entry["points"])
        for entry in document["exercises"]
    }


def units(visibility: str = "public") -> list[str]:
    """The units that have a reference file here, in alphabetical order."""
    return sorted(p.stem for p in (FOLDER / visibility).glob(f"*{TENSORS}"))


def load(unit: str, visibility: str = "public", name: str = "") -> dict[str, Exercise]:
    """The exercises of a unit by name, from the "public" or "hidden" references.

    With ``name``, only the exercise of that name ("attention/softmax").
    """
    return read(FOLDER / visibility / f"{unit}{TENSORS}", name)
