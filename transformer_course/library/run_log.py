"""The log of a project, ``runs.jsonl``: what was tried, why, and what came of it.

One JSON object a line. It is read as a stranger's file: sizes are bounded before
anything is parsed, each field is looked at, and what cannot be read is named and left
out. It stays in the file: writing changes one line, or adds one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

FILE = "runs.jsonl"
MOST_BYTES, MOST_LINES, LONGEST = 8 << 20, 20_000, 1 << 16
_NAMED = 5  # lines that are named, of those that cannot be read
_TEXT, _NAME, _FIELDS, _POINTS = 2000, 60, 40, 100


@dataclass(frozen=True)
class LoggedRun:
    """One run of a project.

    Args:
        kind: "training", or "decoding" of a model that was trained before.
        against: the run that it is compared with, "" for none.
        changed: by setting, what it was there and what it is here, as text.
        tokens: target tokens that it has seen.
        seconds: of CPU time.
        curve: (target tokens, BLEU on dev) along the way.
        bleu: BLEU on dev and the ends of its 95% interval.
        difference: that to ``against``, and the ends of its 95% interval.
        inserter: BLEU of inserting the commonest, on the same sentences.
        too_short: that BLEU is not clearly above the inserter's.
        stopped: what ended it before its time, "" for nothing.
        next_step: what follows from it.
    """

    name: str
    kind: str = "training"
    hypothesis: str = ""
    against: str = ""
    changed: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    corpus: str = "embedded"
    level: int = 2
    tokens: int = 0
    seconds: float = 0.0
    parameters: int = 0
    curve: tuple[tuple[float, float], ...] = ()
    bleu: tuple[float, float, float] | None = None
    difference: tuple[float, float, float] | None = None
    inserter: float | None = None
    too_short: bool = False
    stopped: str = ""
    next_step: str = ""

    @property
    def task(self) -> str:
        """What it is trained for: only runs of one task can be compared."""
        return f"{self.corpus}, level {self.level}"


@dataclass(frozen=True)
class RunLog:
    """The runs of a log in their order, and remarks on what could not be read."""

    runs: tuple[LoggedRun, ...] = ()
    remarks: tuple[str, ...] = ()

    def get(self, name: str) -> LoggedRun | None:
        """The run with a name; None if there is none."""
        return next((run for run in self.runs if run.name == name), None)

    @property
    def tokens(self) -> int:
        """Target tokens that all runs have seen."""
        return sum(run.tokens for run in self.runs)

    def between_seeds(self, name: str) -> float | None:
        """The largest change of a run's BLEU by another seed; None if unknown."""
        differences = (
            abs(run.difference[0]) for run in self.runs
            if run.difference and run.against == name and run.changed.keys() == {"seed"}
        )  # fmt: skip
        return max(differences, default=None)


def read(path: str | Path) -> RunLog:
    """The log in a file; an empty one if there is no file.

    Raises:
        OSError: the file is closed to us.
    """
    path = Path(path)
    if not path.is_file():
        return RunLog()
    with path.open("rb") as file:
        return parse(file.read(MOST_BYTES + 1))


def parse(data: bytes) -> RunLog:
    """The log in some bytes, whatever they are."""
    remarks, runs = [], dict[str, LoggedRun]()
    if len(data) > MOST_BYTES:
        data = data[:MOST_BYTES].rpartition(b"\n")[0]
        remarks.append(f"{FILE} is larger than {MOST_BYTES >> 20} MB: rest left out")
    lines = data.split(b"\n")
    if len(lines) > MOST_LINES + 1:
        remarks.append(f"{FILE} has more than {MOST_LINES:,} lines: rest left out")
    unread = []
    for number, line in enumerate(lines[:MOST_LINES], 1):
        if not line.strip():
            continue
        try:
            run = _parse_run(line)
            if run.name in runs:
                raise ValueError(f"{run.name!r} again; the first one counts")
            runs[run.name] = run
        except ValueError as reason:
            unread.append(f"{FILE}, line {number}: {reason}")
    surplus = len(unread) - _NAMED
    if surplus > 0:
        unread[_NAMED:] = [f"{FILE}: {surplus:,} more lines like these"]
    return RunLog(tuple(runs.values()), (*remarks, *unread))


def add(path: str | Path, run: LoggedRun) -> None:
    """Add a run to a log, behind whatever is in it."""
    path = Path(path)
    before = path.read_bytes() if path.is_file() else b""
    if before and not before.endswith(b"\n"):
        before += b"\n"
    _write(path, before + _line(_entry(run)) + b"\n")


def say_next(path: str | Path, name: str, text: str) -> None:
    """Write down what follows from a run; all else in the file stays as it is.

    Raises:
        KeyError: the log has no such run.
    """
    path = Path(path)
    lines = path.read_bytes().split(b"\n") if path.is_file() else []
    for i, line in enumerate(lines):
        entry = _loaded(line)
        if isinstance(entry, dict) and entry.get("run") == name:
            lines[i] = _line(entry | {"next": text})
            _write(path, b"\n".join(lines))
            return
    raise KeyError(name)


def _write(path: Path, data: bytes) -> None:
    """Write the log as a whole or not at all, so that no interruption can damage it."""
    part = path.with_name(f"{path.name}.part")
    part.write_bytes(data)
    part.replace(path)


def _line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry, ensure_ascii=False).encode("utf-8", "replace")


def _loaded(line: bytes) -> object:
    """A line's JSON; None if it is none, or so long or deep that nobody reads it."""
    try:
        return json.loads(line) if len(line) <= LONGEST else None
    except (ValueError, RecursionError):
        return None


def _entry(run: LoggedRun) -> dict[str, Any]:
    entry = dict(vars(run))
    return {"run": entry.pop("name"), **entry, "next": entry.pop("next_step")}


def _parse_run(line: bytes) -> LoggedRun:
    """Parse a line as a run.

    Raises:
        ValueError: it is none; the text says what is wrong.
    """
    entry = _loaded(line)
    if not isinstance(entry, dict):
        raise ValueError("no JSON object")
    if not isinstance(entry.get("run"), str) or not plain(entry["run"], _NAME):
        raise ValueError("no name under `run`")
    fields: dict[str, Any] = {}
    for key, (name, reads) in _READERS.items():
        if entry.get(key) is not None:
            try:
                fields[name] = reads(entry[key])
            except (ValueError, TypeError, AttributeError, LookupError, OverflowError):
                excerpt = plain(repr(entry[key]), 40)
                raise ValueError(f"`{key}` cannot be {excerpt}") from None
    return LoggedRun(**fields)


def plain(text: object, most: int = _TEXT) -> str:
    """A text as one line of at most so many characters, all of them printable."""
    if not isinstance(text, str | int | float | bool):
        raise TypeError("expected a text")
    line = " ".join(str(text)[: 4 * most].split())
    return "".join(c for c in line if c.isprintable())[:most]


def _number(value: object, least: float = -math.inf, most: float = math.inf) -> float:
    """A finite number within its bounds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("expected a number")
    if not (math.isfinite(value) and least <= value <= most):
        raise ValueError("expected a number within its bounds")
    return float(value)


_seconds = partial(_number, least=0.0)
_bleu = partial(_number, least=0.0, most=100.0001)


def _count(value: object) -> int:
    number = _number(value, 0.0, 1e12)
    if number != int(number):
        raise ValueError("expected a count")
    return int(number)


def _yes(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError("expected true or false")
    return value


def _three(reads: Callable[[object], float]) -> Callable[[Any], tuple[float, ...]]:
    def triple(values: Any) -> tuple[float, ...]:
        value, low, high = map(reads, values)
        if not low - 1e-6 <= value <= high + 1e-6:
            raise ValueError("expected a value within its interval")
        return value, low, high

    return triple


def _curve(values: Any) -> tuple[tuple[float, float], ...]:
    return tuple((_count(x), _bleu(y)) for x, y in values[:_POINTS])


def _changes(value: Any) -> dict[str, tuple[str, str]]:
    return {
        plain(name, _NAME): (plain(before, _NAME), plain(after, _NAME))
        for name, (before, after) in list(value.items())[:_FIELDS]
    }


def _settings(value: Any) -> dict[str, str]:
    items = list(value.items())[:_FIELDS]
    return {plain(name, _NAME): plain(text, _NAME) for name, text in items}


def _name(value: object) -> str:
    return plain(value, _NAME)


_READERS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "run": ("name", _name), "kind": ("kind", _name),
    "hypothesis": ("hypothesis", plain),
    "against": ("against", _name), "changed": ("changed", _changes),
    "settings": ("settings", _settings), "seed": ("seed", _count),
    "corpus": ("corpus", _name), "level": ("level", _count),
    "tokens": ("tokens", _count), "seconds": ("seconds", _seconds),
    "parameters": ("parameters", _count), "curve": ("curve", _curve),
    "bleu": ("bleu", _three(_bleu)), "difference": ("difference", _three(_number)),
    "inserter": ("inserter", _bleu), "too_short": ("too_short", _yes),
    "stopped": ("stopped", _name), "next": ("next_step", plain),
}  # fmt: skip
