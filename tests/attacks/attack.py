"""What an attack is: a hostile submission that has solved nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nbformat import NotebookNode

from tests.attacks.material import (
    NOTEBOOK,
    SEES,
    SOFTMAX,
    answered,
    grade_id,
    write_submission,
)

REWRITING = "rewriting what runs"
COMPARING = "patching what compares"
STEALING = "stealing the answer"
FORGING = "forging the record"
HARMING = "harming others"
LEAKING = "leaking"
ANSWERS = "hostile answers"
MALFORMED = "malformed submissions"
DESIGN = "against this design"


@dataclass(frozen=True)
class Attack:
    """One hostile submission.

    Attributes:
        answers: what stands in the answer cells, by the exercise's grade id.
        before, after, change, data, files, folder: see `Submission`.
        harms: why it is not tried without a sandbox ("" if it can be).
    """

    group: str
    name: str
    before: str = ""
    answers: Mapping[str, str] = field(default_factory=dict)
    after: str = ""
    change: Callable[[NotebookNode], None] | None = None
    data: Callable[[bytes], bytes] | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    folder: Callable[[Path], None] | None = None
    harms: str = ""

    @property
    def student(self) -> str:
        """Who hands it in; between the companions in the alphabet."""
        return "m-" + "-".join(self.name.split())

    def hand_in(self, release: NotebookNode, folder: Path) -> None:
        """Write the submission's files."""
        write_submission(self, answered(release, self.answers), folder / NOTEBOOK)


def answer_both(code: str) -> dict[str, str]:
    """The same code as the answer to both judged exercises."""
    return {SOFTMAX: code, SEES: code}


def cells_named(notebook: NotebookNode, *names: str) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if grade_id(cell) in names]


MACHINE = "would harm the machine that measures"
HOST = "would signal processes of the machine that measures"

# The judge's channel, in the hands of a submission.
CHANNEL = """
import json, os, socket, time
channel = socket.socket(fileno=os.dup(int(os.environ.get("AUTOGRADER_CHANNEL_FD", 0))))
def send(kind, values=(), data=b"", size=None):
    header = json.dumps({"kind": kind, "values": list(values)}).encode()
    size = len(header) if size is None else size
    channel.sendall(size.to_bytes(4, "big") + header + data)
"""
