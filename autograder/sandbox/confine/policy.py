"""What a submission may use, and the paths of its sandbox, as plain values."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

LEVELS = ("namespaces", "user-namespaces", "landlock", "bwrap", "none")
NAMESPACES = LEVELS[:2]
ON_HOSTS_DISK = ("landlock", "none")  # levels at which a sandbox writes to it

# Above every range that systemd gives out (containers end at 0x6fffffff), so that a
# slot's user owns no file. Its id is FIRST_UID + its supervisor's pid: all differ.
FIRST_UID = 0x70000000

HOME = "/student"  # at the root, where no visible checkout is expected
MB = 1 << 20


_NUMBERS = (
    *("memory_mb", "processes", "open_files", "file_mb", "disk_mb", "files"),
    *("message_mb", "messages_mb"),
)


class ConfinementError(RuntimeError):
    """A process could not be confined; no student code may run in it."""


@dataclasses.dataclass(frozen=True)
class Policy:
    """What a submission may use, as plain values that JSON can carry.

    Attributes:
        memory_mb: the memory of each process, and of all of them together.
        processes: processes and threads.
        open_files: open files of each process.
        file_mb: the size of one file.
        disk_mb: the size of everything written.
        files: the number of files and folders, where it can be limited.
        message_mb: the size of one message to the client.
        messages_mb: the size of all messages to the client.
        notebook_seconds: CPU time of all processes together.
        readable: further paths that the sandbox may read.
        hidden: paths below readable ones that the sandbox may not read.
        level: the level of confinement; "" for the strongest that works.
        allow_unconfined: whether the level ``none`` is permitted.
        imports: slow modules to import before the sandbox is forked.
        seed: seeds all random number generators; "" seeds them at random.
    """

    memory_mb: int = 2048
    processes: int = 128
    open_files: int = 512
    file_mb: int = 64
    disk_mb: int = 256
    files: int = 4096
    message_mb: int = 4
    messages_mb: int = 1024
    notebook_seconds: float = 900.0
    readable: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    level: str = ""
    allow_unconfined: bool = False
    imports: tuple[str, ...] = ()
    seed: str = ""

    def __post_init__(self) -> None:
        """Raise ValueError for an impossible limit or level; turn lists into tuples."""
        for name in _NUMBERS:
            if not 0 < getattr(self, name) < 1 << 30:
                raise ValueError(f"{name} must be a positive number")
        if not 0 < self.notebook_seconds < 1e9:
            raise ValueError("notebook_seconds must be a positive number")
        if self.level and self.level not in LEVELS:
            raise ValueError(f"{self.level!r} is not one of {', '.join(LEVELS)}")
        for name in ("readable", "hidden", "imports"):
            object.__setattr__(self, name, tuple(getattr(self, name)))

    @classmethod
    def from_json(cls, text: str) -> Policy:
        """Read what `to_json` wrote. Raises ValueError, TypeError on anything else."""
        return cls(**json.loads(text))

    def to_json(self) -> str:
        """The policy as one line of JSON."""
        return json.dumps(dataclasses.asdict(self))


@dataclasses.dataclass(frozen=True)
class Room:
    """The paths of one sandbox on the host, and the user inside.

    `slot` is its own directory, and `submission` is copied in. `visible` paths can
    be read. `hidden` ones below them cannot, except for what is in `kit`.
    """

    slot: Path
    submission: Path | None
    visible: tuple[str, ...]
    hidden: tuple[str, ...]
    kit: tuple[str, ...]
    uid: int

    def home(self, level: str) -> Path:
        """The student's home directory as the sandbox sees it at `level`."""
        return self.slot / "home" if level in ON_HOSTS_DISK else Path(HOME)
