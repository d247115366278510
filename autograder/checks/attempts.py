"""Record a student's attempts in a file, in courses that want this.

Each check adds a line: the time, the exercise, the share of the points and the
recognised mistake, but no code. The file lies beside the notebook,
and nothing in it counts for points.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from autograder.checks.words import ATTEMPTS

LARGEST = 1_000_000  # bytes that are read or written: some 7,000 attempts
_LONGEST = 80  # characters of a name


@dataclass(frozen=True)
class RecordedAttempt:
    """One check of an answer.

    Attributes:
        time: UTC, in seconds, like "2026-11-02T21:04:09+00:00".
        exercise: like "attention/softmax".
        share: the share of the points that was earned, 0 to 1.
        mistake: the name of the mistake that the check recognised, "" for none.
    """

    time: str
    exercise: str
    share: float
    mistake: str = ""

    @property
    def moment(self) -> datetime.datetime:
        return datetime.datetime.fromisoformat(self.time)


@dataclass(frozen=True)
class AttemptLog:
    """The attempts in a student's record, and how many entries are unreadable."""

    attempts: tuple[RecordedAttempt, ...] = ()
    unreadable: int = 0


def new_attempt(exercise: str, share: float, mistake: str) -> RecordedAttempt:
    """Create an attempt with the current time."""
    moment = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return RecordedAttempt(moment, exercise, round(min(share, 1.0), 3), mistake)


def keep(folder: Path, attempt: RecordedAttempt) -> None:
    """Append an attempt to the attempts file in a folder, unless the file is full.

    Raises:
        OSError: the file cannot be written.
    """
    path = folder / ATTEMPTS
    if path.is_file() and path.stat().st_size > LARGEST:
        return
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(attempt)) + "\n")


def read(folder: Path) -> list[RecordedAttempt]:
    """Read the valid entries of a folder's attempts file; [] if there is no file."""
    try:
        with (folder / ATTEMPTS).open("rb") as file:
            return list(parse(file.read(LARGEST)).attempts)
    except OSError:
        return []


def parse(data: bytes) -> AttemptLog:
    """Parse an attempts file's content, and count the lines that are not attempts."""
    return parse_entries(_decode_lines(data.decode("utf-8", "replace").splitlines()))


def parse_entries(entries: Iterable[object]) -> AttemptLog:
    """Read attempts from decoded JSON values; count those that are not attempts."""
    attempts = [_attempt(entry) for entry in entries]
    readable = tuple(attempt for attempt in attempts if attempt)
    return AttemptLog(readable, len(attempts) - len(readable))


def forget(folder: Path) -> None:
    """Delete the attempts file in a folder, if there is one.

    Raises:
        OSError: the file cannot be deleted.
    """
    (folder / ATTEMPTS).unlink(missing_ok=True)


def _decode_lines(lines: Iterable[str]) -> Iterator[object]:
    """Parse each line as JSON; yield None for a line that is not JSON."""
    for line in filter(str.strip, lines):
        try:
            yield json.loads(line)
        except (ValueError, RecursionError):
            yield None


def _attempt(entry: object) -> RecordedAttempt | None:
    """Convert a decoded JSON value to an attempt; None if it does not describe one."""
    if not isinstance(entry, Mapping):
        return None
    time, exercise = entry.get("time"), entry.get("exercise")
    share, mistake = entry.get("share"), entry.get("mistake", "")
    if not all(map(_is_name, (time, exercise, mistake))):
        return None
    if isinstance(share, bool) or not isinstance(share, int | float):
        return None
    if not 0 <= share <= 1:  # also NaN, and integers too large for a float
        return None
    attempt = RecordedAttempt(str(time), str(exercise), float(share), str(mistake))
    try:
        return attempt if attempt.moment.tzinfo else None
    except ValueError:
        return None


def _is_name(text: object) -> bool:
    """Whether a value is short, printable text: no terminal escapes or surrogates."""
    return isinstance(text, str) and len(text) <= _LONGEST and text.isprintable()
