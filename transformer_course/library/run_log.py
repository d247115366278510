"""The log of a project's runs, ``runs.jsonl``, with one JSON object per line.

The file is untrusted: its size is limited, and every field is validated. Lines
that cannot be read are reported and skipped, but stay in the file.
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
_NAMED = 5  # unreadable lines that get a remark of their own
# The most characters of a text and of a name, items of a mapping, points of a curve.
_TEXT, _NAME, _FIELDS, _POINTS = 2000, 60, 40, 100


@dataclass(frozen=True)
class LoggedRun:
    """One run of a project.

    Args:
        kind: "training", or "decoding" of a model that was trained before.
        against: the run that it is compared with; "" for none.
        changed: for each changed setting, its text in ``against`` and in this run.
        tokens, seconds: the target tokens trained on, and the CPU time.
        curve: (target tokens, BLEU on dev) during training.
        bleu, difference: BLEU on dev, and its difference from that of ``against``;
            each is followed by the ends of its 95% interval.
        inserter: BLEU of the baseline `Insertion` on the same sentences.
        too_short: whether BLEU is not clearly above the inserter's.
        stopped: what ended the run early; "" for nothing.
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
        """The corpus and the level; only runs with the same task can be compared."""
        return f"{self.corpus}, level {self.level}"


@dataclass(frozen=True)
class RunLog:
    """The runs of a log in their order, and remarks on the lines that were skipped."""

    runs: tuple[LoggedRun, ...] = ()
    remarks: tuple[str, ...] = ()

    def get(self, name: str) -> LoggedRun | None:
        """The run with this name; None if there is none."""
        return next((run for run in self.runs if run.name == name), None)

    @property
    def tokens(self) -> int:
        """The number of target tokens that all runs together were trained on."""
        return sum(run.tokens for run in self.runs)

    def between_seeds(self, name: str) -> float | None:
        """Return the most that another seed has changed a run's BLEU, if known."""
        differences = (
            abs(run.difference[0]) for run in self.runs
            if run.difference and run.against == name and run.changed.keys() == {"seed"}
        )  # fmt: skip
        return max(differences, default=None)


def read(path: str | Path) -> RunLog:
    """Read the log in a file; it is empty if there is no file."""
    path = Path(path)
    if not path.is_file():
        return RunLog()
    with path.open("rb") as file:
        return parse(file.read(MOST_BYTES + 1))


def parse(data: bytes) -> RunLog:
    """Parse the bytes of a log; problems become remarks, and never raise an error."""
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
    """Append a run to a log; the lines before it are not changed."""
    path = Path(path)
    before = path.read_bytes() if path.is_file() else b""
    if before and not before.endswith(b"\n"):
        before += b"\n"
    _write(path, before + _write_line(_describe_run(run)) + b"\n")


def store_conclusion(path: str | Path, name: str, text: str) -> None:
    """Store the student's conclusion from a run; other lines are not changed.

    Raises:
        KeyError: the log has no run with this name.
    """
    path = Path(path)
    lines = path.read_bytes().split(b"\n") if path.is_file() else []
    for i, line in enumerate(lines):
        entry = _load_line(line)
        if isinstance(entry, dict) and entry.get("run") == name:
            lines[i] = _write_line(entry | {"next": text})
            _write(path, b"\n".join(lines))
            return
    raise KeyError(name)


def _write(path: Path, data: bytes) -> None:
    """Write the log atomically, so that no interruption can damage it."""
    part = path.with_name(f"{path.name}.part")
    part.write_bytes(data)
    part.replace(path)


def _write_line(entry: Mapping[str, Any]) -> bytes:
    """A JSON object as a line of the log."""
    return json.dumps(entry, ensure_ascii=False).encode("utf-8", "replace")


def _load_line(line: bytes) -> object:
    """A line's JSON value; None if it is invalid, or too long or too deeply nested."""
    try:
        return json.loads(line) if len(line) <= LONGEST else None
    except (ValueError, RecursionError):
        return None


def _describe_run(run: LoggedRun) -> dict[str, Any]:
    """The JSON object of a run, with `name` as "run" and `next_step` as "next"."""
    entry = dict(vars(run))
    return {"run": entry.pop("name"), **entry, "next": entry.pop("next_step")}


def _parse_run(line: bytes) -> LoggedRun:
    """Parse a line of the log as a run; a ValueError says what is wrong."""
    entry = _load_line(line)
    if not isinstance(entry, dict):
        raise ValueError("no JSON object")
    if not isinstance(entry.get("run"), str) or not plain(entry["run"], _NAME):
        raise ValueError("no name under `run`")
    fields: dict[str, Any] = {}
    for key, (name, reader) in _READERS.items():
        if entry.get(key) is not None:
            try:
                fields[name] = reader(entry[key])
            except (ValueError, TypeError, AttributeError, LookupError, OverflowError):
                excerpt = plain(repr(entry[key]), 40)
                raise ValueError(f"`{key}` cannot be {excerpt}") from None
    return LoggedRun(**fields)


def plain(text: object, most: int = _TEXT) -> str:
    """Reduce a text to one line of at most ``most`` characters, all printable."""
    if not isinstance(text, str | int | float | bool):
        raise TypeError("expected a text")
    line = " ".join(str(text)[: 4 * most].split())
    return "".join(c for c in line if c.isprintable())[:most]


def _check_number(
    value: object, least: float = -math.inf, most: float = math.inf
) -> float:
    """Check that a value is a finite number between ``least`` and ``most``."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("expected a number")
    if not (math.isfinite(value) and least <= value <= most):
        raise ValueError("expected a number within its bounds")
    return float(value)


_check_seconds = partial(_check_number, least=0.0)
_check_bleu = partial(_check_number, least=0.0, most=100.0001)


def _check_count(value: object) -> int:
    """Check that a value is a whole number, and return it."""
    number = _check_number(value, 0.0, 1e12)
    if number != int(number):
        raise ValueError("expected a count")
    return int(number)


def _check_flag(value: object) -> bool:
    """Check that a value is true or false, and return it."""
    if not isinstance(value, bool):
        raise TypeError("expected true or false")
    return value


def _make_interval_check(
    reader: Callable[[object], float],
) -> Callable[[Any], tuple[float, ...]]:
    """Make a function that checks a value and the ends of its interval.

    ``reader`` checks each of the three numbers.
    """

    def check_interval(values: Any) -> tuple[float, ...]:
        value, low, high = map(reader, values)
        if not low - 1e-6 <= value <= high + 1e-6:
            raise ValueError("expected a value within its interval")
        return value, low, high

    return check_interval


def _check_curve(values: Any) -> tuple[tuple[float, float], ...]:
    """Check the (tokens, BLEU) points of a curve; keep the first `_POINTS` of them."""
    return tuple((_check_count(x), _check_bleu(y)) for x, y in values[:_POINTS])


def _check_changes(value: Any) -> dict[str, tuple[str, str]]:
    """Check changed settings: by name, the texts before and after."""
    return {
        plain(name, _NAME): (plain(before, _NAME), plain(after, _NAME))
        for name, (before, after) in list(value.items())[:_FIELDS]
    }


def _check_settings(value: Any) -> dict[str, str]:
    """Check settings: texts by name."""
    items = list(value.items())[:_FIELDS]
    return {plain(name, _NAME): plain(text, _NAME) for name, text in items}


def _clean_name(value: object) -> str:
    """Make one short line of a value, as `plain` does."""
    return plain(value, _NAME)


# By the key in a JSON object: the name in `LoggedRun`, and what validates the value.
_READERS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "run": ("name", _clean_name), "kind": ("kind", _clean_name),
    "hypothesis": ("hypothesis", plain),
    "against": ("against", _clean_name), "changed": ("changed", _check_changes),
    "settings": ("settings", _check_settings), "seed": ("seed", _check_count),
    "corpus": ("corpus", _clean_name), "level": ("level", _check_count),
    "tokens": ("tokens", _check_count), "seconds": ("seconds", _check_seconds),
    "parameters": ("parameters", _check_count), "curve": ("curve", _check_curve),
    "bleu": ("bleu", _make_interval_check(_check_bleu)),
    "difference": ("difference", _make_interval_check(_check_number)),
    "inserter": ("inserter", _check_bleu), "too_short": ("too_short", _check_flag),
    "stopped": ("stopped", _clean_name), "next": ("next_step", plain),
}  # fmt: skip
