"""The metadata that grading stores in a notebook, and how to write and read them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from nbformat import NotebookNode, from_dict

from autograder.course.access import permission_message
from autograder.course.errors import CourseError
from autograder.course.notebooks import remedy
from autograder.grading.intake import Repair, dump_repairs, load_repairs
from autograder.grading.judge.verdict import Verdict

KEY = "autograder"  # of a notebook's metadata; of an output's, if it is a verdict
RUN = "grading_metadata"  # of the resources that stages pass on


@dataclass
class GradingMetadata:
    """What grading finds out about a notebook, stored in its ``metadata.autograder``.

    All stages of a run share one object. Unknown values are None or empty.

    Attributes:
        checks: the verdicts by the check's grade id.
        sandbox: its isolation level and resource usage; None if none was needed.
        digest: of all that the result depends on; "" while anything is undecided.
        scores: the scores in the gradebook, by grade id.
        refused: why it could not be graded, "" if it could.
        repairs: the corrections that were made to the hand-in.
        id: identifies the submission, "" if nothing was decided.
        provenance: the time, the course, the programs and the machine.
    """

    checks: Mapping[str, Verdict] = field(default_factory=dict)
    sandbox: Mapping[str, Any] | None = None
    seconds: float | None = None
    digest: str = ""
    scores: Mapping[str, float | None] | None = None
    refused: str = ""
    repairs: tuple[Repair, ...] = ()
    handed_in: str = ""
    id: str | None = None
    provenance: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, notebook: Mapping[str, Any]) -> GradingMetadata:
        """Read a notebook's grading metadata; it may be nbformat's or plain JSON.

        Raises:
            LookupError, TypeError, AttributeError: it or its metadata are not valid.
        """
        return cls.from_json(notebook["metadata"].get(KEY, {}))

    @classmethod
    def of_run(
        cls, notebook: Mapping[str, Any], resources: dict[str, Any]
    ) -> GradingMetadata:
        """The metadata object of a run, which all of its stages share and change.

        It is created from the metadata in the notebook.
        """
        if RUN not in resources:
            resources[RUN] = cls.of(notebook)
        metadata: GradingMetadata = resources[RUN]
        return metadata

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> GradingMetadata:
        """Read what `to_json` returned; raises what `of` raises."""
        names = [attribute.name for attribute in fields(cls)]
        arguments = {name: stored[name] for name in names if name in stored}
        checks = {
            n: Verdict.from_json(r) for n, r in arguments.pop("checks", {}).items()
        }
        return cls(
            checks=checks,
            repairs=load_repairs(arguments.pop("repairs", ())),
            **arguments,
        )

    def to_json(self) -> dict[str, Any]:
        """The metadata as plain JSON values, without those that are None."""
        checks = {name: r.to_json() for name, r in self.checks.items()}
        attributes = vars(self) | {
            "checks": checks,
            "repairs": dump_repairs(self.repairs),
        }
        return {n: v for n, v in attributes.items() if v is not None}

    def store_in(self, notebook: Mapping[str, Any]) -> None:
        """Store the metadata in a notebook, replacing earlier ones."""
        notebook["metadata"][KEY] = self.to_json()

    @property
    def isolation(self) -> str:
        """How strictly the sandbox was isolated, in words; "" if no code ran."""
        if self.sandbox is None:
            return ""
        level = str(self.sandbox["level"])
        return level if self.is_grouped else f"{level}, no control group"

    @property
    def is_grouped(self) -> bool:
        """Whether a control group measured what the sandboxes used.

        Also true if no code ran, and if nothing was to be measured.
        """
        sandbox = self.sandbox or {"level": "none"}
        return bool(sandbox.get("grouped", True) or sandbox["level"] == "none")


def as_output(points: float, html: str) -> NotebookNode:
    """Return a verdict as the output of its check's cell, marked as a verdict.

    The points become its plain text, and the panel (``html``) its HTML.
    """
    # Not by `new_output`, which would validate its result against the schema.
    output: NotebookNode = from_dict({
        "output_type": "execute_result", "execution_count": None,
        "metadata": {KEY: "verdict"},
        "data": {"text/plain": repr(points), "text/html": html},
    })  # fmt: skip
    return output


def read(path: Path) -> dict[str, Any]:
    """A graded notebook, as plain JSON values.

    Raises:
        CourseError: it cannot be read.
    """
    try:
        notebook: dict[str, Any] = json.loads(path.read_bytes())
        GradingMetadata.of(notebook)
        return notebook
    except PermissionError:
        raise CourseError(permission_message(path)) from None
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        raise CourseError(f"{path} cannot be read; {remedy(path)}") from None
