"""Code shared by bug clinics, exercises in which a student's test must find bugs."""

from __future__ import annotations

from typing import ClassVar

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.interactor import BlindTrial
from autograder.checks.probes import describe


class Patients(BlindTrial):
    """Presents a correct object and two faulty ones, with one bug each, to a test.

    In grading, each object has its own weights, so equal numbers give nothing away.
    """

    RIGHT: ClassVar[str]  # the name of the correct subject in answers

    def list_subjects(self) -> list[str]:
        return [self.RIGHT, "the other one", "a third one"]

    def style_and_bug(self, name: str) -> tuple[str, str]:
        """Return the text on how a subject is built, and the name of its bug.

        The name is "" for the correct one.
        """
        keys = dict(zip(self.list_subjects(), ("right", "other", "third"), strict=True))
        style, _, bug = str(self.inputs[keys[name]]).partition(", ")
        return style, bug


def accepts(result: object) -> str:
    """Return "accepted", the verdict of a test that has raised nothing.

    Raises:
        WrongAnswerError: the test has returned something, perhaps meant as a verdict.
    """
    if result is not None:
        raise WrongAnswerError(
            "expected the test to raise AssertionError or to return nothing, "
            f"got {describe(result)}"
        )
    return "accepted"
